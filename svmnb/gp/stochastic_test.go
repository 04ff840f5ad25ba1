package gp

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/solvers/linear"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
)

// The gradient by probes is that of the factor, up to what eight probes leave of it, whether it
// starts from 0 or from a solution.
func TestGradientByProbes(t *testing.T) {
	p := Regress(spatial(300, 4)).Kernel(kernels.ScaleKernel{C: 1, K: kernels.ARDMatern32(0.3, 0.5)}).NoiseVariance(0.05)
	exact := must(testkit.FitOf(t, p).Gradient(ctx))
	task, err := p.Using(linear.CG{Rank: linear.AutoRank}).prepare()
	if err != nil {
		t.Fatal(err)
	}
	n := len(task.y)
	sides := [][]float64{task.y}
	for i := range n { // n unit vectors times √n are as good as all probes
		z := make([]float64, n)
		z[i] = math.Sqrt(float64(n))
		sides = append(sides, z)
	}
	defer func(c linear.Residual) { forSteps = c }(forSteps)
	forSteps = linear.Residual{Rel: 1e-9}
	grad := make([]float64, len(exact))
	sol, err := task.probed(ctx, sides, nil, grad)
	if err != nil {
		t.Fatal(err)
	}
	again := make([]float64, len(exact))
	second, err := task.probed(ctx, sides, sol.X, again)
	if err != nil {
		t.Fatal(err)
	}
	if second.Iterations > sol.Iterations/4 {
		t.Errorf("%d iterations from the solution, %d from 0", second.Iterations, sol.Iterations)
	}
	for i, e := range exact {
		testkit.Near(t, e.Name, grad[i], e.Gradient.Value, 1e-6)
		testkit.Near(t, e.Name+" from the solution", again[i], e.Gradient.Value, 1e-6)
	}
}

// Where there is no room for factors, an iterative method learns by probes about what the factors
// say, and ends with an interrupt.
func TestOptimiseByProbes(t *testing.T) {
	p := Regress(spatial(500, 4)).Kernel(kernels.ScaleKernel{C: 1, K: kernels.Matern32(0.3)}).NoiseVariance(0.05).Optimise()
	exact := testkit.FitOf(t, p).Optimisation.End()
	small := p.Using(linear.CG{Rank: 20}).Memory(1 << 20)
	f, err := small.Fit(ctx)
	if err != nil {
		t.Fatal(err)
	}
	o := f.Optimisation
	if o.Part == 0 || o.Part >= 500 || len(o.Ascents) != 1 || len(o.Ascents[0].Path) != probeSteps+1 {
		t.Errorf("learned from %d points, then in %d ascents", o.Part, len(o.Ascents))
	}
	task, err := p.prepare()
	if err != nil {
		t.Fatal(err)
	}
	if v, _, err := task.evaluate(ctx, nil, o.End().Values); err != nil || v < exact.Evidence-1 {
		t.Errorf("%v have the evidence %v, %v have %v (%v)", o.End().Values, v, exact.Values, exact.Evidence, err)
	}
	if !strings.Contains(f.Markdown(), "by probes") {
		t.Errorf("the summary does not say how it was learned:\n%s", f.Markdown())
	}
	ended, stop := context.WithCancelCause(ctx)
	why := errors.New("enough")
	f, err = small.run(ended, func(line string, _ bool) {
		if strings.Contains(line, "3 of 9 steps") {
			stop(why)
		}
	})
	if !errors.Is(err, why) || f == nil || f.Optimisation.Ascents[0].Status != solvers.Interrupted || len(f.Optimisation.Ascents[0].Path) != 3 || len(f.Alpha) != 500 {
		t.Errorf("the interrupt gives %v", err)
	}
	if _, err := p.LinearMean().Memory(1000).Fit(ctx); !testkit.IsArgument(err, "Optimise") && !testkit.IsArgument(err, "LinearMean") {
		t.Errorf("%v, want an error that says what to do", err)
	}
}
