package solvers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// tubeMethods are all that shall solve a regression; those that need another kind
// of bias refuse.
var tubeMethods = []struct {
	method Method
	jumps  bool // as in methods
}{
	{method: TubeSMO{}},
	{method: TubeSMO{Step: Quadrants}},
	{method: SMO{}},
	{method: SMO{Selection: WorstPair}},
	{method: SMO{Selection: Platt}},
	{method: SMO{Selection: Simplified}},
	{method: SMO{Selection: Keerthi1}},
	{method: SMO{Selection: Keerthi2}},
	{method: SMO{Shrinking: true}, jumps: true},
	{method: ConjugateSMO{}},
	{method: Chunking{}},
	{method: Decomposition{}},
	{method: PrimalDual{}, jumps: true},
	{method: PrimalDual{Corrector: true}, jumps: true},
	{method: Barrier{}, jumps: true},
	{method: GradientAscent{}},
	{method: GradientAscent{Relax: Schedule{Start: 1, Decay: 0.1}}, jumps: true},
	{method: CoordinateDescent{}},
	{method: CoordinateDescent{Cyclic: true, NoShrinking: true}},
}

// wave draws n points of a sine on [0, 6] with normal noise.
func wave(seed uint64, n int, noise float64) (x [][]float64, y []float64) {
	rng := newRand(seed)
	for range n {
		t := 6 * rng.Float64()
		x, y = append(x, []float64{t}), append(y, math.Sin(t)+noise*rng.NormFloat64())
	}
	return x, y
}

// plane draws n points of 3 features, the last of them all 0, with a linear
// target.
func plane(seed uint64, n int) (x [][]float64, y []float64) {
	rng := newRand(seed)
	for range n {
		row := []float64{rng.NormFloat64(), 2 * rng.NormFloat64(), rng.Float64()}
		x, y = append(x, row), append(y, row[0]-row[1]/2+3+0.3*rng.NormFloat64())
	}
	clear(x[n-1])
	return x, y
}

func waveProblem(n int, c, epsilon float64) *Problem {
	x, y := wave(1, n, 0.2)
	return Tube(newGram(x, rbf(1)), y, fill(n, c), epsilon)
}

// twins has equal points with different targets.
func twins() (k Matrix, y []float64) {
	x, y := wave(2, 30, 0.2)
	for i := range 10 {
		x[i] = x[i+15]
	}
	return newGram(x, rbf(1)), y
}

func denseFeatures(t testing.TB, x [][]float64) *DenseFeatures {
	t.Helper()
	f, err := NewDenseFeatures(x, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// sparseFeatures leaves out the features that are 0.
func sparseFeatures(t testing.TB, x [][]float64) *SparseFeatures {
	t.Helper()
	start, index, value := []int{0}, []int32(nil), []float64(nil)
	for _, row := range x {
		for j, v := range row {
			if v != 0 {
				index, value = append(index, int32(j)), append(value, v)
			}
		}
		start = append(start, len(index))
	}
	f, err := NewSparseFeatures(start, index, value, len(x[0]))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// tubeTable are the problems; each optimum is proved by a primal and a dual value
// computed term by term.
var tubeTable = []struct {
	name    string
	problem func(t testing.TB) *Problem
	want    float64 // the largest dual value where somebody else has said it
	none    bool    // β = 0
}{
	{name: "heart", want: 95.509975, problem: func(t testing.TB) *Problem { // LIBSVM 3.37
		x, y := heart(t)
		return Tube(newGram(x, heartRBF), y, fill(len(y), 1), 0.1)
	}},
	{name: "wave, C = 1", problem: func(testing.TB) *Problem { return waveProblem(40, 1, 0.1) }},
	{name: "wave, C = 1e-3", problem: func(testing.TB) *Problem { return waveProblem(40, 1e-3, 0.1) }},
	{name: "wave, C = 1000, narrow", problem: func(testing.TB) *Problem { return waveProblem(40, 1000, 0.01) }},
	{name: "wave, ε = 0", problem: func(testing.TB) *Problem { return waveProblem(40, 1, 0) }},
	{name: "wave, ε as wide as the targets", none: true, problem: func(testing.TB) *Problem { return waveProblem(40, 1, 2) }},
	{name: "wave, quadratic", problem: func(testing.TB) *Problem {
		p := waveProblem(40, 1, 0.1)
		return Tube2(doubled(p.K), targets(p), fill(40, 10), 0.1)
	}},
	{name: "wave, ridge regression", problem: func(testing.TB) *Problem {
		p := waveProblem(40, 1, 0.1)
		return Tube2(doubled(p.K), targets(p), fill(40, 10), 0)
	}},
	{name: "wave, sample weights", problem: func(testing.TB) *Problem {
		p := waveProblem(40, 1, 0.1)
		return Tube(doubled(p.K), targets(p), uneven(40), 0.1)
	}},
	{name: "wave, quadratic, sample weights", problem: func(testing.TB) *Problem {
		p := waveProblem(40, 1, 0.1)
		return Tube2(doubled(p.K), targets(p), uneven(40), 0.1)
	}},
	{name: "wave, upper quartile", problem: func(testing.TB) *Problem { // pinball loss
		p := waveProblem(40, 1, 0)
		for i := range 40 {
			p.Upper[i], p.Upper[40+i] = 0.75, 0.25
		}
		return p
	}},
	{name: "constant targets", none: true, problem: func(testing.TB) *Problem {
		p := waveProblem(20, 1, 0.1)
		return Tube(doubled(p.K), fill(20, 7), fill(20, 1), 0.1)
	}},
	{name: "constant targets, ε = 0", none: true, problem: func(testing.TB) *Problem {
		p := waveProblem(20, 1, 0.1)
		return Tube(doubled(p.K), fill(20, 7), fill(20, 1), 0)
	}},
	{name: "equal points, different targets", problem: func(testing.TB) *Problem {
		k, y := twins()
		return Tube(k, y, fill(len(y), 5), 0.1)
	}},
	{name: "equal points, different targets, quadratic", problem: func(testing.TB) *Problem {
		k, y := twins()
		return Tube2(k, y, fill(len(y), 5), 0.1)
	}},
	{name: "constant kernel", problem: func(testing.TB) *Problem {
		_, y := wave(1, 9, 0.2)
		return Tube(newGram(corners[:1:1], constant(0)).times(9), y, fill(9, 2), 0.1)
	}},
	{name: "one point", none: true, problem: func(testing.TB) *Problem {
		return Tube(newGram(corners[:1], linear), []float64{3}, fill(1, 1), 0.1)
	}},
	{name: "two points", want: 0.5 * 0.9 * 0.9, problem: func(testing.TB) *Problem {
		return Tube(newGram([][]float64{{-1}, {1}}, linear), []float64{-1, 1}, fill(2, 10), 0.1)
	}},
	{name: "targets of size 1000, far from 0", problem: func(testing.TB) *Problem {
		x, y := wave(1, 40, 0.2)
		for i := range y {
			y[i] = 1e5 + 1000*y[i]
		}
		return Tube(newGram(x, rbf(1)), y, fill(40, 1000), 100)
	}},
	{name: "targets of size 1/1000", problem: func(testing.TB) *Problem {
		x, y := wave(1, 40, 0.2)
		for i := range y {
			y[i] /= 1000
		}
		return Tube(newGram(x, rbf(1)), y, fill(40, 1e-3), 1e-4)
	}},
	{name: "plane", problem: func(t testing.TB) *Problem {
		x, y := plane(1, 40)
		return Tube(denseFeatures(t, x), y, fill(40, 1), 0.1)
	}},
	{name: "plane, bias fixed", problem: func(t testing.TB) *Problem {
		x, y := plane(1, 40)
		return Tube(denseFeatures(t, x), y, fill(40, 1), 0.1).WithFixedBias(3)
	}},
	{name: "plane, bias fixed, quadratic", problem: func(t testing.TB) *Problem {
		x, y := plane(1, 40)
		return Tube2(sparseFeatures(t, x), y, uneven(40), 0.1).WithFixedBias(0)
	}},
	{name: "plane, bias fixed, ridge regression", problem: func(t testing.TB) *Problem {
		x, y := plane(1, 40)
		return Tube2(denseFeatures(t, x), y, fill(40, 2), 0).WithFixedBias(1)
	}},
	{name: "wave, bias fixed", problem: func(testing.TB) *Problem { return waveProblem(30, 0.5, 0.1).WithFixedBias(0.3) }},
}

// times is m with its only point n times.
func (m *gram) times(n int) *gram {
	k := make([][]float64, n)
	for i := range k {
		k[i] = fill(n, m.diag[0])
	}
	return matrixOf(k)
}

func uneven(n int) []float64 {
	c := make([]float64, n)
	for i := range c {
		c[i] = 0.2 + float64(i%4)
	}
	return c
}

// targets reads y back from a Problem.
func targets(p *Problem) []float64 {
	n := len(p.P) / 2
	y := make([]float64, n)
	for i := range y {
		y[i] = (p.P[n+i] - p.P[i]) / 2
	}
	return y
}

// tubePrimal is ½‖w‖² + Σ loss at the bias b, term by term.
func tubePrimal(p *Problem, alpha []float64, b float64) float64 {
	beta, k := Signed(alpha), doubled(p.K)
	n, value := len(beta), 0.0
	for i := range beta {
		g := 0.0
		for j, v := range k.Row(i) {
			g += beta[j] * v
		}
		value += beta[i] * g / 2
		for side, sign := range []float64{1, -1} {
			at := side*n + i
			// p = ε ∓ y, so the slack is ± (y − g − b) − ε.
			slack := max(0, -p.P[at]-sign*(g+b))
			if slack == 0 {
				continue
			}
			if p.Ridge != nil {
				value += slack * slack / p.Ridge[at] / 2
			} else {
				value += p.Upper[at] * slack
			}
		}
	}
	return value
}

func TestTubeSuite(t *testing.T) {
	for _, problem := range tubeTable {
		t.Run(problem.name, func(t *testing.T) {
			t.Parallel()
			solved, first := 0, math.NaN()
			for _, m := range tubeMethods {
				t.Run(m.method.Name(), func(t *testing.T) {
					p := problem.problem(t)
					set := Settings{Stop: All(Gap{1e-9}, KKT{1e-6 * max(1, math.Abs(targets(p)[0]))})}
					r, err := Solve(context.Background(), p, m.method, set)
					if errors.Is(err, ErrUnsupported) {
						t.Skip(err)
					}
					if err != nil {
						t.Fatal(err)
					}
					solved++
					c := r.Certificate
					dual := plainDual(p, r.Alpha)
					if !near(dual, c.Dual, 1e-9) && math.Abs(dual-c.Dual) > 1e-9 {
						t.Errorf("the certificate says W = %.15g, term by term it is %.15g", c.Dual, dual)
					}
					if c.RelGap > 1e-6 || r.Status != Converged && r.Status != Exhausted {
						t.Errorf("status %v after %d iterations: %+v", r.Status, r.Iterations, c)
					}
					// The primal value is that of the certificate's bias, not of the best.
					if primal := tubePrimal(p, r.Alpha, c.Bias); !(primal-dual <= 1e-5*(1+primal)) || primal < c.Primal-1e-9*(1+primal) || dual > c.Primal+1e-9*(1+primal) {
						t.Errorf("primal %.15g, dual %.15g; %+v", primal, dual, c)
					}
					if math.IsNaN(first) {
						first = dual
					}
					if math.Abs(dual-first) > 1e-6*math.Abs(first)+1e-9 {
						t.Errorf("W = %.12g, the method before found %.12g", dual, first)
					}
					if problem.want != 0 && !near(dual, problem.want, 1e-6) {
						t.Errorf("W = %.12g, want %.12g", dual, problem.want)
					}
					if beta := Signed(r.Alpha); problem.none && slices.ContainsFunc(beta, func(b float64) bool { return math.Abs(b) > 1e-9 }) {
						t.Errorf("β = %v, want 0", beta)
					}
					checkTrace(t, p, r, m.jumps)
					again, err := Solve(context.Background(), problem.problem(t), m.method, set)
					if err != nil || fingerprint(again) != fingerprint(r) {
						t.Errorf("a second run differs (%v)", err)
					}
				})
			}
			if solved < 3 && !t.Failed() && !t.Skipped() {
				t.Errorf("only %d methods have solved it", solved)
			}
		})
	}
}
