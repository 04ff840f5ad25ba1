package gp

import (
	"bytes"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers/linear"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
)

// A line follows each evaluation that has succeeded, and the last one has the result.
func TestOptimiseShowsItsProgress(t *testing.T) {
	var lines []string
	ended := 0
	show := func(line string, last bool) {
		lines = append(lines, line)
		if last {
			ended++
		}
	}
	fit, err := motorcycle().Restarts(2, 1).run(ctx, show)
	if err != nil {
		t.Fatal(err)
	}
	if n := fit.Optimisation.Evaluations; len(lines) != n+1 || ended != 1 {
		t.Errorf("%d lines of %d evaluations, %d of them the last", len(lines), n, ended)
	}
	for at, want := range map[int]string{0: "Optimise: 1 evaluation in 0 s, ascent 1 of 3, ln p(y) = −621.365", len(lines) - 1: ", ascent 3 of 3, ln p(y) = −621.237"} {
		if !strings.Contains(lines[at], want) {
			t.Errorf("line %d is %q, want %q", at, lines[at], want)
		}
	}
	// Who looks on changes nothing.
	if alone := testkit.FitOf(t, motorcycle().Restarts(2, 1)); !slices.Equal(alone.Alpha, fit.Alpha) {
		t.Error("another fit when it is shown")
	}
	lines = nil
	if _, err := motorcycle().LogNormalPrior("noise", 500, 1).Optimise().run(ctx, show); err != nil || strings.Contains(lines[0], "ascent") || !strings.Contains(lines[0], "ln p(y) + ln p(θ) = ") {
		t.Errorf("%q, %v", lines, err)
	}
}

// pressing sends the process an interrupt, as the button of a notebook does, at one of its
// values.
type pressing struct {
	values *atomic.Int64
	at     int64
	self   *os.Process
}

func (k pressing) Eval(x, z []float64) float64 {
	if k.values.Add(1) == k.at {
		_ = k.self.Signal(os.Interrupt)
	}
	return 0
}
func (pressing) Check() error   { return nil }
func (pressing) String() string { return "pressing" }

// The button ends a search for hyperparameters that would take minutes, and the cell goes on
// with the best ones so far.
func TestOptimiseSIGINT(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process of Windows cannot send itself an interrupt")
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	old := os.Stderr
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	os.Stderr = write
	k := kernels.Sum(kernels.Scale(1500, kernels.SquaredExponential(4)), pressing{new(atomic.Int64), 50 * 133 * 133, self})
	fit := Regress(datasets.Motorcycle()).Kernel(k).NoiseVariance(400).Restarts(1000, 1).MustFit()
	os.Stderr = old
	write.Close()
	var said bytes.Buffer
	_, _ = said.ReadFrom(read)
	if !strings.Contains(said.String(), "interrupted after") || !strings.Contains(said.String(), "this is the fit so far") {
		t.Errorf("the cell says %q", said.String())
	}
	o := fit.Optimisation
	if o == nil || len(o.Ascents) == 0 || len(o.Ascents) > 900 || o.End().Evidence < o.Ascents[0].Path[0].Evidence {
		t.Fatalf("%+v", o)
	}
	testkit.Near(t, "evidence", certain(fit.LogMarginalLikelihood(ctx)).Value, o.End().Evidence, 1e-9)
}

// A run of an iterative method shows its preparation, its residuals and how it ends. Who looks
// on changes nothing.
func TestIterationsShowTheirProgress(t *testing.T) {
	var lines []string
	ended := 0
	show := func(line string, last bool) {
		lines = append(lines, line)
		if last {
			ended++
		}
	}
	p := motorcycle().Using(linear.CG{Rank: 3}).Stop(linear.Residual{Rel: 1e-10})
	fit, err := p.run(ctx, show)
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) < 10 || ended != 1 {
		t.Errorf("%d lines, %d of them the last", len(lines), ended)
	}
	for at, want := range map[int]string{1: "CG, rank 3: preconditioner 0 %, 0 s", 4: "CG, rank 3: 1 iteration in 0 s, residual ", len(lines) - 2: "about a second left", len(lines) - 1: "CG, rank 3: converged after "} {
		if !strings.Contains(lines[at], want) {
			t.Errorf("line %d is %q, want %q", at, lines[at], want)
		}
	}
	if alone := testkit.FitOf(t, p); !slices.Equal(alone.Alpha, fit.Alpha) {
		t.Error("another fit when it is shown")
	}
	if _, err := motorcycle().run(ctx, func(line string, _ bool) { t.Errorf("a direct method shows %q", line) }); err != nil {
		t.Error(err)
	}
}
