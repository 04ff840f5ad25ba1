package svmnb

import (
	"context"
	"math"
	"testing"

	"github.com/svmnb/svmnb/solvers"
)

func free(p int) (lower, upper []float64) {
	for range p {
		lower, upper = append(lower, math.Inf(-1)), append(upper, math.Inf(1))
	}
	return lower, upper
}

// The minima are those of Moré, Garbow and Hillstrom (1981).
func TestBFGS(t *testing.T) {
	rosenbrock := func(g, x []float64) float64 {
		a, b := 1-x[0], x[1]-x[0]*x[0]
		g[0], g[1] = -2*a-400*x[0]*b, 200*b
		return a*a + 100*b*b
	}
	wood := func(g, x []float64) float64 {
		a, b, c, d := x[1]-x[0]*x[0], 1-x[0], x[3]-x[2]*x[2], 1-x[2]
		e, h := x[1]+x[3]-2, x[1]-x[3]
		g[0], g[1] = -400*x[0]*a-2*b, 200*a+20*e+0.2*h
		g[2], g[3] = -360*x[2]*c-2*d, 180*c+20*e-0.2*h
		return 100*a*a + b*b + 90*c*c + d*d + 10*e*e + 0.1*h*h
	}
	for _, c := range []struct {
		name     string
		f        func(g, x []float64) float64
		x, want  []float64
		lower    []float64
		mostIter int
	}{
		{"Rosenbrock", rosenbrock, []float64{-1.2, 1}, []float64{1, 1}, nil, 60},
		{"Wood", wood, []float64{-3, -1, -3, -1}, []float64{1, 1, 1, 1}, nil, 120},
		// With x₁ ≥ 1.5 the least value is at the bound, x₂ = x₁².
		{"at a bound", rosenbrock, []float64{3, 1}, []float64{1.5, 2.25}, []float64{1.5, -10}, 60},
		{"no minimum of logarithms", func(g, x []float64) float64 {
			if x[0] <= 0 {
				return math.Inf(1)
			}
			g[0] = 1 - 1/x[0]
			return x[0] - math.Log(x[0])
		}, []float64{0.01}, []float64{1}, nil, 40},
	} {
		t.Run(c.name, func(t *testing.T) {
			lower, upper := free(len(c.x))
			if c.lower != nil {
				lower = c.lower
			}
			iterations, last := -1, math.Inf(1)
			b := bfgs{c.f, lower, upper, 1e-8, 1000, func(_, _ []float64, f float64) {
				iterations++
				if f > last {
					t.Errorf("iteration %d climbs from %g to %g", iterations, last, f)
				}
				last = f
			}}
			if status := b.minimise(context.Background(), c.x); status != solvers.Converged {
				t.Errorf("status %v", status)
			}
			for i := range c.want {
				near(t, "x", c.x[i], c.want[i], 1e-6)
			}
			if iterations > c.mostIter {
				t.Errorf("%d iterations, at most %d expected", iterations, c.mostIter)
			}
		})
	}
}

func TestBFGSStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	lower, upper := free(1)
	slide := bfgs{func(g, x []float64) float64 {
		if calls++; calls == 5 {
			cancel()
		}
		g[0] = 1
		return x[0]
	}, lower, upper, 1e-8, 1000, func(_, _ []float64, _ float64) {}}
	if status := slide.minimise(ctx, []float64{0}); status != solvers.Interrupted || calls != 5 {
		t.Errorf("%v after %d calls, want interrupted after 5", status, calls)
	}
	slide.limit = 7
	if status := slide.minimise(context.Background(), []float64{0}); status != solvers.IterationLimit {
		t.Errorf("%v, want the iteration limit", status)
	}
	// A wrong gradient cannot be followed, and that is said.
	liar := bfgs{func(g, x []float64) float64 { g[0] = -2 * x[0]; return x[0] * x[0] }, lower, upper, 1e-8, 1000, func(_, _ []float64, _ float64) {}}
	if status := liar.minimise(context.Background(), []float64{1}); status != solvers.Exhausted {
		t.Errorf("%v, want exhausted", status)
	}
	nowhere := bfgs{func(g, x []float64) float64 { return math.Inf(1) }, lower, upper, 1e-8, 1000, func(_, _ []float64, _ float64) {}}
	if status := nowhere.minimise(context.Background(), []float64{1}); status != solvers.Exhausted {
		t.Errorf("%v, want exhausted", status)
	}
}
