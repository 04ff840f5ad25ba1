// Package play has interactive displays: sliders over a description ([Explore]), a race of
// methods on one problem ([Race]), and a run that can be played back ([Replay]).
package play

import (
	"context"
	"errors"
	"fmt"
	"html"
	"math"
	"os"
	"os/signal"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/controls"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/screen"
	"github.com/svmnb/svmnb/svmnb/living"
)

// Explore shows sliders and choices in the cell's output: for the parameters of the
// description (C, ν, ε, λ or the noise), for the hyperparameters of the kernel, for the
// kernel and for the solver. After each change it trains again and redraws, as long as the
// cell runs. A line of code below the picture makes the current setting; in it ds stands
// for the data. The button Done or the notebook's interrupt ends the cell. The last picture
// and its line stay in the notebook.
//
// If the engine of living figures has the machine (see [Living]), the page shows a living
// figure, in which the reader can also drag, place and delete points. The program answers it.
//
// x is a [svmnb.Classifier], [svmnb.MultiClassifier], [svmnb.Regressor] or gp.Process, or a
// data set. A data set is classified; if it has more than ten different targets without
// names, it is regressed. A slider spans the values from 1/1000 to 1000 times that of the
// description. Explore ignores Optimise and Live, since the reader sets the hyperparameters
// and sees every fit at once.
//
// If no page answers, as without a browser, Explore shows small multiples: the two most
// important parameters at 1/10, 1 and 10 times their values. The cell ends after three
// minutes without a message from a page. The site and exported pages then also have a living
// figure with the same sliders, or say why they have none; see [Living].
//
// The error says what is wrong with x, such as an *[svmnb.ArgumentError]. Explore also
// shows it in the output.
func Explore(x any) error {
	e, err := explore(x)
	switch {
	case err != nil:
	case gonbui.IsNotebook && os.Getenv(protocol.GONB_JUPYTER_KERNEL_ID_ENV) != "":
		err = e.live()
	default:
		err = e.still("")
	}
	if err != nil {
		display.Show(err)
	}
	return err
}

// exploration has the parameters and choices of a description.
type exploration struct {
	base    learn.Explorable
	dials   []learn.Dial // dials of the description, then those of kernel k from own[k] to own[k+1]
	own     []int
	kernels []kernels.Kernel
	ways    []learn.Way

	warm *learn.Warmth // what the fit before hands on to the next
	last string        // kernel and solver of the fit before; Warmth is valid for the same ones only
}

// explore makes an exploration from the argument of Explore.
func explore(x any) (*exploration, error) {
	if ds, ok := x.(*datasets.Dataset); ok {
		if ds == nil {
			return nil, arguments.Wrong("Explore", math.NaN(), "the data set is nil; give one of package datasets or datasets.New(x, y)")
		}
		switch counts := len(ds.Counts()); {
		case ds.Classes == nil && counts > 10:
			x = svmnb.Regress(ds)
		case counts > 2:
			x = svmnb.Classify(ds).OneVsOne()
		default:
			x = svmnb.Classify(ds)
		}
	}
	l, ok := x.(interface{ Learning() learn.Learner })
	if !ok || guard.IsNil(x) {
		return nil, arguments.Wrong("Explore", math.NaN(), "a value of type %T cannot be explored; give a *datasets.Dataset, a Classifier, MultiClassifier, Regressor or Process", x)
	}
	base, ok := l.Learning().(learn.Explorable)
	if !ok {
		return nil, arguments.Wrong("Explore", math.NaN(), "a value of type %T cannot be explored; give the description at its end", x)
	}
	if data := base.Data(); data != nil && data.Sparse != nil {
		return nil, points.NeedsDense("Explore", data)
	}
	base, err := base.Stated()
	if err != nil {
		return nil, err
	}
	e := &exploration{base: base, dials: base.Dials(), ways: base.Ways(), kernels: []kernels.Kernel{base.Usual()}}
	if ofVectors(base.Usual()) {
		for _, k := range base.Family() {
			if reflect.TypeOf(k) != reflect.TypeOf(innermost(base.Usual())) {
				e.kernels = append(e.kernels, rescaled(base.Usual(), k))
			}
		}
	}
	for _, k := range e.kernels {
		e.own = append(e.own, len(e.dials))
		for _, h := range hyperparameters(k) {
			e.dials = append(e.dials, learn.LogDial(h.Name, h.Value))
		}
		if p, ok := k.(kernels.PolynomialKernel); ok {
			e.dials = append(e.dials, learn.EvenDial("degree", float64(p.Degree), 1, 10, 1))
		}
	}
	e.own = append(e.own, len(e.dials))
	return e, nil
}

func hyperparameters(k kernels.Kernel) []kernels.Hyperparameter {
	if k, ok := k.(kernels.Differentiable); ok {
		return k.Hyperparameters()
	}
	return nil
}

// ofVectors reports whether the kernel compares features, rather than strings or rows of a
// matrix, so that other kernels can replace it.
func ofVectors(k kernels.Kernel) bool {
	return !slices.ContainsFunc([]string{"Spectrum(", "GapWeighted(", "Precomputed("}, func(s string) bool { return strings.Contains(k.String(), s) })
}

// innermost returns the kernel inside names and a ScaleKernel, and rescaled puts another
// kernel there.
func innermost(k kernels.Kernel) kernels.Kernel {
	switch s := k.(type) {
	case kernels.NamedKernel:
		return innermost(s.K)
	case kernels.ScaleKernel:
		return innermost(s.K)
	}
	return k
}

func rescaled(like, k kernels.Kernel) kernels.Kernel {
	switch s := like.(type) {
	case kernels.NamedKernel:
		return kernels.Named(s.Name, rescaled(s.K, k))
	case kernels.ScaleKernel:
		return kernels.ScaleKernel{C: s.C, K: rescaled(s.K, k)}
	}
	return k
}

// panel returns the controls.
func (e *exploration) panel() *controls.Panel {
	p := &controls.Panel{}
	for i, d := range e.dials {
		c := controls.Dial{Name: d.Name, Kernel: -1, At: d.At}
		for k := range e.kernels {
			if i >= e.own[k] && i < e.own[k+1] {
				c.Kernel = k
			}
		}
		for _, v := range d.Values {
			c.Values = append(c.Values, say.Number(v))
		}
		p.Dials = append(p.Dials, c)
	}
	for _, k := range e.kernels {
		name, _, _ := strings.Cut(innermost(k).String(), "(")
		p.Kernels = append(p.Kernels, name)
	}
	for _, w := range e.ways {
		p.Methods = append(p.Methods, w.Name)
	}
	return p
}

// beginning returns the state of the description itself.
func (e *exploration) beginning() controls.State {
	s := controls.State{}
	for _, d := range e.dials {
		s.At = append(s.At, d.At)
	}
	return s
}

// at returns the description in a state.
func (e *exploration) at(s controls.State) learn.Explorable {
	l := e.ways[s.Method].Take(e.base)
	k := e.kernels[s.Kernel]
	var values []float64
	degree := 0
	for i := e.own[s.Kernel]; i < e.own[s.Kernel+1]; i++ {
		if v := e.dials[i].Values[s.At[i]]; e.dials[i].Name == "degree" {
			degree = int(v)
		} else {
			values = append(values, v)
		}
	}
	if len(values) > 0 {
		k = k.(kernels.Differentiable).With(values)
	}
	if p, ok := k.(kernels.PolynomialKernel); ok {
		p.Degree = degree
		k = p
	}
	l = l.WithKernel(k)
	for i, d := range e.dials[:e.own[0]] {
		// Set only what the reader moved, so that other defaults remain defaults.
		if s.At[i] != d.At {
			changed, _ := l.Set(d.Name, d.Values[s.At[i]])
			l = changed.(learn.Explorable)
		}
	}
	return l
}

// fit trains the description in a state.
func (e *exploration) fit(ctx context.Context, s controls.State) (learn.Seen, learn.Explorable, error) {
	l := e.at(s)
	// A fit can only start from one with the same kernel and solver.
	if same := fmt.Sprint(l.Usual(), s.Method); e.warm == nil || same != e.last {
		e.warm, e.last = &learn.Warmth{Bytes: kernels.DefaultCache}, same
	}
	fit, err := l.Train(ctx, e.warm)
	if err != nil || fit == nil {
		e.warm = nil
		return nil, l, err
	}
	return fit.(learn.Seen), l, nil
}

// line returns the Go expression of a description.
func line(l learn.Explorable) string {
	s := l.String()
	verb, rest, _ := strings.Cut(s, "("+l.Data().Name+")")
	if k := l.Usual().String(); strings.HasPrefix(rest, ".Kernel("+k+")") {
		rest = ".Kernel(" + constructor.ReplaceAllString(k, "kernels.$0") + ")" + rest[len(".Kernel()")+len(k):]
	}
	if !strings.Contains(verb, ".") {
		verb = "svmnb." + verb
	}
	return verb + "(ds)" + rest
}

// constructor matches the constructors in the text of a kernel.
var constructor = regexp.MustCompile(`[A-Z][A-Za-z0-9]*\(`)

// still shows small multiples or, if they cannot be drawn, the picture of the description.
// why is the reason, for the reader.
func (e *exploration) still(why string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	c, err := e.multiples(ctx)
	if err != nil {
		return err
	}
	text := "```go\n" + line(e.base) + "\n```"
	if why != "" {
		text += "\n\n> " + why
	}
	display.Show(c, text)
	return e.figure()
}

// multiples draws the fits of nine states.
func (e *exploration) multiples(ctx context.Context) (*display.Chart, error) {
	start := e.beginning()
	middle, l, err := e.fit(ctx, start)
	if err != nil {
		return nil, err
	}
	d := figure.MultiplesData{}
	if _, ok, err := middle.Panel(ctx, &d); err != nil {
		return nil, err
	} else if !ok {
		return middle.Look()
	}
	d.Problem = fmt.Sprintf("%s · %s", l.Data().Name, say.Brief(l.Usual().String()))
	rows, columns := e.telling()
	three := func(i int) []int {
		if i < 0 {
			return []int{0}
		}
		return []int{max(0, e.dials[i].At-learn.Decade), e.dials[i].At, min(len(e.dials[i].Values)-1, e.dials[i].At+learn.Decade)}
	}
	said := func(i, at int) string {
		if i < 0 {
			return ""
		}
		return fmt.Sprintf("%s = %s", e.dials[i].Name, say.Number(learn.Digits(e.dials[i].Values[at], 3)))
	}
	for _, r := range three(rows) {
		d.Rows = append(d.Rows, said(rows, r))
		var row []figure.Panel
		for _, c := range three(columns) {
			if len(d.Rows) == 1 {
				d.Columns = append(d.Columns, said(columns, c))
			}
			s := controls.State{At: slices.Clone(start.At)}
			if rows >= 0 {
				s.At[rows] = r
			}
			if columns >= 0 {
				s.At[columns] = c
			}
			p := figure.Panel{Note: "no answer", Value: math.NaN()}
			if fit, _, err := e.fit(ctx, s); err == nil {
				if p, _, err = fit.Panel(ctx, &d); err != nil {
					return nil, err
				}
			}
			if ctx.Err() != nil {
				return nil, fmt.Errorf("svmnb: Explore: %w", context.Cause(ctx))
			}
			row = append(row, p)
		}
		d.Panels = append(d.Panels, row)
	}
	return figure.Multiples(d)
}

// telling returns the dials for the rows and the columns of small multiples; −1 means none.
func (e *exploration) telling() (rows, columns int) {
	rows, columns = -1, -1
	if e.own[0] > 0 {
		rows = 0
	}
	if k := slices.IndexFunc(e.dials[e.own[0]:e.own[1]], func(d learn.Dial) bool {
		return d.Name != "c" && d.Name != "degree" && !strings.HasSuffix(d.Name, ".c")
	}); k >= 0 {
		columns = e.own[0] + k
	} else if e.own[0] > 1 {
		columns = 1
	}
	return rows, columns
}

const (
	exploreGrace = 250 * time.Millisecond // time for a fit to finish after a newer state has arrived
	exploreAlone = controls.Alone         // time without a message from a page after which the cell ends
)

// put shows HTML in a display, in place of what it has shown before.
func put(display, html string) {
	gonbui.SendData(&protocol.DisplayData{DisplayID: display, Data: map[protocol.MIMEType]any{protocol.MIMETextHTML: html}})
}

// live answers the page until the reader is done.
func (e *exploration) live() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	panel, reply := e.panel(), func(controls.State) string { return "" }
	var f *answerer
	if s, why := e.spec(); why == "" {
		f = &answerer{ctx: ctx}
		panel, reply = &controls.Panel{Figure: s, Script: living.InNotebook()}, f.reply
	}
	id := "svm-explore-" + screen.Unique()
	place, err := panel.HTML(id, os.Getenv(protocol.GONB_JUPYTER_KERNEL_ID_ENV))
	if err != nil {
		return fmt.Errorf("svmnb: Explore: %w", err)
	}
	put(id, place)
	heard := id + "-heard"
	box := controls.NewMailbox(panel, func(s controls.State) { put(heard, controls.Heard(id, s, reply(s))) })
	end := func() { // removes the controls, which are not saved
		box.Close()
		put(id, "")
		put(heard, "")
	}
	box.Listen(id)
	select {
	case <-box.Come:
		box.Again()
	case <-time.After(controls.Patience):
		end()
		return e.still(fmt.Sprintf("**No sliders.** No page has answered within %v: Explore needs this notebook open, trusted and run in Jupyter, by a page that reaches the kernel's channel.", controls.Patience))
	case <-ctx.Done():
		end()
		gonbui.Sync()
		return nil
	}
	s := screen.New()
	if f != nil {
		_ = e.converse(ctx, box, nil) // only show has errors
		box.Close()
		err = e.finish(f.asked, s)
	} else {
		err = e.pictures(ctx, box, id, s)
	}
	end()
	gonbui.Sync()
	return errors.Join(err, gonbui.Error())
}

// pictures shows a picture below the controls, in the screen s, and changes it with them.
func (e *exploration) pictures(ctx context.Context, box *controls.Mailbox, id string, s *screen.Screen) error {
	put(s.ID, `<div `+controls.Seen(id, 0)+`>…</div>`)
	var last answer
	err := e.converse(ctx, box, func(a answer, n int64) error {
		last = a
		s.Below, s.Text = below(controls.Seen(id, n), line(a.said), a.words), line(a.said)
		return s.Send(a.chart, false)
	})
	if last.chart == nil {
		put(s.ID, "")
		return err
	}
	s.Below = below("", s.Text, last.words)
	return errors.Join(err, s.Send(last.chart, true))
}

// answer is the result of a state.
type answer struct {
	chart *display.Chart // nil if the state was abandoned for a newer one, or if there is an error
	said  learn.Explorable
	words string
	err   error
}

// converse shows a picture for each state, or for the latest one if they arrive fast, until
// the reader is done. If a state cannot be trained, the picture before stays. A nil show is for
// a living figure, which has its pictures by reply.
func (e *exploration) converse(ctx context.Context, box *controls.Mailbox, show func(a answer, n int64) error) error {
	alone := time.NewTicker(exploreAlone / 10)
	defer alone.Stop()
	var last *display.Chart
	var answered int64
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-alone.C:
			if time.Since(box.Heard()) > exploreAlone {
				return nil
			}
			continue
		case <-box.Come:
		}
		state := box.Take()
		if state.Done {
			return nil
		}
		if state.N == answered || show == nil {
			continue
		}
		a := e.answer(ctx, box, state)
		switch {
		case a.chart != nil:
			last = a.chart
		case a.err == nil:
			continue
		case last == nil:
			return a.err
		default:
			a.chart, a.words = last, strings.TrimPrefix(a.err.Error(), "svmnb: ")
		}
		answered = state.N
		if err := show(a, state.N); err != nil {
			return err
		}
	}
}

func (e *exploration) answer(ctx context.Context, box *controls.Mailbox, state controls.State) answer {
	now, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-time.After(exploreGrace):
		case <-now.Done():
			return
		}
		select {
		case <-box.Come:
			box.Again()
			cancel()
		case <-now.Done():
		}
	}()
	fit, l, err := e.fit(now, state)
	if now.Err() != nil {
		return answer{}
	}
	if err != nil {
		return answer{said: l, err: err}
	}
	c, err := fit.Look()
	return answer{c, l, fit.Fared(), err}
}

// below returns the line below a picture: the Go expression of the state, and the result in
// words.
func below(mark, line, words string) string {
	return `<div ` + mark + ` style="font-size:14px;padding:.3em 0"><code style="user-select:all;overflow-wrap:anywhere;white-space:pre-wrap">` + html.EscapeString(line) + `</code> ` +
		`<button type="button" style="font:inherit" data-svm-copy>copy</button> ` +
		`<span>` + html.EscapeString(words) + `</span></div>`
}
