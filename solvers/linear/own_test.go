package linear_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/solvers/linear"
)

// steepest goes along the residual (Cauchy 1847), and has every hook.
type steepest struct {
	factor *linear.CholeskyFactor
	run    *descent // the last one
}

func (*steepest) Name() string            { return "steepest descent" }
func (*steepest) Memory(n, q int) float64 { return 8 * float64(n) }

func (m *steepest) Start(s *linear.System, b, x [][]float64) (linear.Stepper, error) {
	m.run = &descent{s: s, b: b[0], x: x[0], r: slices.Clone(b[0]), factor: m.factor}
	return m.run, nil
}

type descent struct {
	s       *linear.System
	b, x, r []float64
	factor  *linear.CholeskyFactor
	allowed float64
	fresh   int // vectors that Refresh has got
}

func (d *descent) Step(context.Context, []bool) (done bool, err error) {
	above, below := 0.0, 0.0
	ar := make([]float64, len(d.r))
	for i, v := range d.r {
		ar[i] = d.s.Noise[i] * v
		for j, k := range d.s.K.Row(i) {
			ar[i] += k * d.r[j]
		}
		above, below = above+v*v, below+v*ar[i]
	}
	if above == 0 {
		return true, nil
	}
	for i, v := range d.r {
		d.x[i] += above / below * v
		d.r[i] -= above / below * ar[i]
	}
	return false, nil
}

func (d *descent) Report(points []linear.Point) {
	size, twice := 0.0, 0.0
	for i, v := range d.r {
		size, twice = size+v*v, twice+(d.b[i]+v)*d.x[i]
	}
	points[0].Residual, points[0].Lower, points[0].Energy = math.Sqrt(size), twice, size/d.s.Noise[0]
}

func (d *descent) Refresh(r [][]float64) (more bool) {
	d.fresh += len(r)
	copy(d.r, r[0])
	return true
}

func (d *descent) Witnesses() [][]float64         { return [][]float64{d.x} }
func (d *descent) Allow(bytes float64)            { d.allowed = bytes }
func (d *descent) Factor() *linear.CholeskyFactor { return d.factor }

// TestMethodFromElsewhere: a method that uses nothing but what is exported has every hook
// of those here, and its answer is certified.
func TestMethodFromElsewhere(t *testing.T) {
	ctx := context.Background()
	s := &linear.System{K: matrix{{1, 0.5, 0.25}, {0.5, 1, 0.5}, {0.25, 0.5, 1}}, Noise: []float64{0.5, 0.5, 0.5}}
	factor, err := linear.Cholesky{}.Factor(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	m, b := &steepest{factor: factor}, []float64{1, 2, 1}
	sol, err := linear.Solve(ctx, s, [][]float64{b}, m, linear.Settings{Memory: 1000, MaxIterations: 100})
	if err != nil {
		t.Fatal(err)
	}
	last := sol.Trace[len(sol.Trace)-1]
	if sol.Method != m.Name() || sol.Status != solvers.Converged || sol.Factor != factor || math.IsNaN(last.GibbsMacKay) {
		t.Errorf("%s: %v with %+v, factor %v", sol.Method, sol.Status, last, sol.Factor)
	}
	if m.run.allowed != 1000-24 || m.run.fresh != 2 { // the residual, and that of the witness
		t.Errorf("%g bytes are allowed, %d residuals are computed afresh", m.run.allowed, m.run.fresh)
	}
	for i, v := range factor.Solve(nil, b) {
		if math.Abs(sol.X[0][i]-v) > sol.Certificates[0].ErrorBound(1) {
			t.Errorf("x_%d is %g, not %g", i, sol.X[0][i], v)
		}
	}
}
