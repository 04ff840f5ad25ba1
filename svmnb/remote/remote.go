// Package remote has searches and fits computed by another program, such as svmnb-beam, which
// computes them on Apache Beam: in its own process, in several, or on a cluster. A cell links
// nothing of Beam, shows the progress, and gets ordinary results:
//
//	found := selection.Search(svmnb.Classify(data), grid, folds).On(remote.Program{}).Keep()
//	fit := remote.Program{Args: []string{"-processes", "4"}}.MustClassify(svmnb.Classify(data).Kernel(kernels.RBF(1)))
//
// The program is installed once:
//
//	go install github.com/svmnb/svmnb/svmnb/beam/svmnb-beam@latest
package remote

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/cells"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
	"github.com/svmnb/svmnb/svmnb/internal/letter"
	"github.com/svmnb/svmnb/svmnb/selection"
)

// Program is a program that computes elsewhere. It is a [selection.Place].
type Program struct {
	Path string   // of the program; "" is svmnb-beam, found as a shell finds it
	Args []string // its flags, such as "-processes", "4", or "-endpoint", "localhost:8099", "-dir", folder

	// Tol is the relative gap that a fit reaches before it comes back; 0 means 1e-3. The fit that
	// comes back is then solved to the end here.
	Tol    float64
	Blocks int // into which the data of a fit are divided; 0 means one for about 2000 points
}

func (p Program) path() string {
	if p.Path == "" {
		return "svmnb-beam"
	}
	return p.Path
}

// Installed reports whether the program is here, so that a cell can compute without it where it
// is not.
func (p Program) Installed() bool {
	_, err := exec.LookPath(p.path())
	return err == nil
}

// Chains implements [selection.Place].
func (p Program) Chains(ctx context.Context, s selection.Searcher, chains []selection.Chain, done func(lines []byte) error) error {
	l, space, folds, metrics := s.Parts()
	w, err := s.Worker()
	if err != nil {
		return err
	}
	req := letter.Request{Data: l.Data(), Learner: letter.Text(l), Folds: folds.String(), Key: w.Key()}
	if req.Names, _, err = space.Settings(); err != nil {
		return err
	}
	for _, m := range metrics {
		req.Metrics = append(req.Metrics, m.Name)
	}
	for _, c := range chains {
		req.Chains = append(req.Chains, letter.Chain{Fold: c.Fold, Points: c.Points, Values: c.Values})
	}
	return p.ask(ctx, req, func(a letter.Answer) error {
		if len(a.Lines) > 0 {
			return done(a.Lines)
		}
		return nil
	})
}

// Progress says how far a fit is.
type Progress struct {
	What      string // such as "blocks" or "certificate of round 1"
	Done, All int    // pieces
}

// Classify fits a classifier of two classes elsewhere, by blocks, until its relative gap against
// the whole problem is at most p.Tol. Then the solver of the description goes on from there to its
// own criterion, here, so the result is an ordinary fit with trace, figures and certificate. The
// description has the 1-norm soft margin and a kernel that is set. watch is told of the progress;
// it may be nil.
func (p Program) Classify(ctx context.Context, c svmnb.Classifier, watch func(Progress)) (*svmnb.Fit, error) {
	fit, err := p.fit(ctx, c.Learning(), watch)
	own, _ := fit.(*svmnb.Fit)
	return own, err
}

// Regress is [Program.Classify] for a regression with the linear loss.
func (p Program) Regress(ctx context.Context, r svmnb.Regressor, watch func(Progress)) (*svmnb.RegressionFit, error) {
	fit, err := p.fit(ctx, r.Learning(), watch)
	own, _ := fit.(*svmnb.RegressionFit)
	return own, err
}

// MustClassify is Classify for a notebook cell: it shows the progress, the interrupt button ends
// it, and an error is printed and ends the cell.
func (p Program) MustClassify(c svmnb.Classifier) *svmnb.Fit {
	return must(func(ctx context.Context, watch func(Progress)) (*svmnb.Fit, error) { return p.Classify(ctx, c, watch) })
}

// MustRegress is Regress for a notebook cell.
func (p Program) MustRegress(r svmnb.Regressor) *svmnb.RegressionFit {
	return must(func(ctx context.Context, watch func(Progress)) (*svmnb.RegressionFit, error) {
		return p.Regress(ctx, r, watch)
	})
}

func must[F any](fit func(context.Context, func(Progress)) (*F, error)) *F {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var watch func(Progress)
	show := cells.Progress(0)
	if show != nil {
		watch = func(p Progress) { show(fmt.Sprintf("%s: %d of %d pieces", p.What, p.Done, p.All), false) }
	}
	f, err := fit(ctx, watch)
	if show != nil {
		show("the fit has come back", true)
	}
	switch {
	case f == nil:
		cells.Must(err)
	case err != nil:
		cells.Warn(err.Error())
	}
	return f
}

func (p Program) fit(ctx context.Context, l learn.Learner, watch func(Progress)) (any, error) {
	d, ok := l.(learn.Divided)
	if !ok {
		return nil, arguments.Wrong("Program", math.NaN(), "%v cannot be learnt from blocks", l)
	}
	loss, err := d.Divide()
	if err != nil {
		return nil, err
	}
	data := l.Data()
	if err := data.Check(); err != nil {
		return nil, err
	}
	if p.Tol == 0 {
		p.Tol = 1e-3
	}
	if p.Blocks == 0 {
		p.Blocks = max(1, data.N()/2000)
	}
	if p.Blocks < 1 || p.Blocks > data.N() {
		return nil, arguments.Wrong("Blocks", float64(p.Blocks), "%d blocks of %d points; give from 1 block to as many as there are points", p.Blocks, data.N())
	}
	var came *letter.Fit
	req := letter.Request{Data: data, Learner: letter.Text(l), Fit: true, Tol: p.Tol, Blocks: p.Blocks}
	err = p.ask(ctx, req, func(a letter.Answer) error {
		if a.Fit != nil {
			came = a.Fit
		}
		if a.What != "" && watch != nil {
			watch(Progress{a.What, a.Done, a.All})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if came == nil || len(came.Beta) != data.N() {
		return nil, fmt.Errorf("svmnb: Program: %s has ended without a fit of these data", p.path())
	}
	cost, err := costs(data, loss.Real, came.Costs)
	if err != nil {
		return nil, err
	}
	w := &learn.Warmth{Bytes: kernels.DefaultCache}
	w.From(came.Beta, cost, loss.Real)
	fit, err := l.Train(ctx, w)
	if fit == nil {
		return nil, err
	}
	return fit.Fit(), err
}

// costs returns what errors of each point cost.
func costs(data *datasets.Dataset, real bool, c [2]float64) ([]float64, error) {
	cost := slices.Repeat([]float64{c[1]}, data.N())
	if real {
		return cost, nil
	}
	y, _, _, err := data.Binary()
	for i := range y {
		if y[i] < 0 {
			cost[i] = c[0]
		}
	}
	return cost, err
}

// ask starts the program with a request and hands its answers on.
func (p Program) ask(ctx context.Context, req letter.Request, each func(letter.Answer) error) error {
	path, err := exec.LookPath(p.path())
	if err != nil {
		return arguments.Wrong("Program", math.NaN(), "the program %s is not here (%v); install it by go install github.com/svmnb/svmnb/svmnb/beam/svmnb-beam@latest, or give its Path", p.path(), err)
	}
	inner, stop := context.WithCancel(ctx)
	defer stop()
	cmd := exec.CommandContext(inner, path, append(slices.Clone(p.Args), "cell")...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it ends its workers
	cmd.WaitDelay = 3 * time.Second
	var said tail
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("svmnb: Program: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("svmnb: Program: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("svmnb: Program: %w", err)
	}
	sent := make(chan error, 1)
	go func() { sent <- errors.Join(gob.NewEncoder(in).Encode(req), in.Close()) }()
	answers, over := gob.NewDecoder(out), false
	var fault error
	for fault == nil && !over {
		var a letter.Answer
		err := answers.Decode(&a)
		switch {
		case errors.Is(err, io.EOF):
			fault = errors.New("it ended early")
		case err != nil:
			fault = fmt.Errorf("its answer cannot be read, so it may be another program or of another version: %w", err)
		case a.Err != "":
			fault = errors.New(strings.TrimPrefix(a.Err, "svmnb: "))
		case a.Over:
			over = true
		default:
			fault = each(a)
		}
	}
	if fault != nil {
		stop()
	}
	err = cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case fault != nil:
		return fmt.Errorf("svmnb: %s: %w%s", p.path(), fault, said.after())
	case err != nil:
		return fmt.Errorf("svmnb: %s: %w%s", p.path(), err, said.after())
	}
	return <-sent
}

// tail keeps the end of what a program writes to its standard error.
type tail struct {
	sync.Mutex
	text []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.Lock()
	defer t.Unlock()
	t.text = append(t.text, b...)
	if cut := len(t.text) - 2000; cut > 0 {
		t.text = append(t.text[:0], t.text[cut:]...)
	}
	return len(b), nil
}

func (t *tail) after() string {
	t.Lock()
	defer t.Unlock()
	if text := strings.TrimSpace(string(t.text)); text != "" {
		return "; it said: " + text
	}
	return ""
}
