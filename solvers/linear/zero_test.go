package linear

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/internal/toy"
	"github.com/svmnb/svmnb/solvers"
)

// TestZeroValues: nil contexts and zero values of what the package exports give errors, or
// what nothing amounts to, and no panic.
func TestZeroValues(t *testing.T) {
	s, b := randomSystem(1, 5, 1)
	var none context.Context
	refused := func(what string, err error, field string) {
		var bad *solvers.ProblemError
		if !errors.As(err, &bad) || bad.Field != field {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, m := range methods {
		_, err := Solve(none, s, b, m, Settings{})
		refused(m.Name()+" without a context", err, "ctx")
		_, err = Solve(context.Background(), nil, b, m, Settings{})
		refused(m.Name()+" without a system", err, "K")
	}
	_, err := (Cholesky{}).Factor(none, s)
	refused("Factor without a context", err, "ctx")
	_, err = (Cholesky{}).Factor(context.Background(), nil)
	refused("Factor of nothing", err, "K")
	_, err = Probe(none, s, CG{}, 4, 1, Settings{})
	refused("Probe without a context", err, "ctx")
	_, err = Probe(context.Background(), &System{}, CG{}, 4, 1, Settings{})
	refused("Probe of nothing", err, "K")
	_, _, err = LogDet(none, s, 4, 1)
	refused("LogDet without a context", err, "ctx")
	if lo, hi := (&System{}).LogDetBounds(); !math.IsNaN(lo) || !math.IsNaN(hi) {
		t.Errorf("the bounds of nothing are %g and %g", lo, hi)
	}
	var f CholeskyFactor
	if f.N() != 0 || f.Jitter() != 0 || f.LogDet() != 0 || len(f.Solve(nil, nil)) != 0 || len(f.HalfSolve(nil, nil)) != 0 || len(f.Multiply(nil, nil)) != 0 {
		t.Error("a zero factor has rows")
	}
	if err := f.SolveAll(context.Background(), nil); err != nil {
		t.Error(err)
	}
	if rows, err := f.Inverse(context.Background()); len(rows) != 0 || err != nil {
		t.Error(rows, err)
	}
	if _, err := f.InverseLower(context.Background()); err != nil {
		t.Error(err)
	}
	var p Probes
	if v, e := p.Trace(func(dst, v []float64) {}); !math.IsNaN(v) || !math.IsNaN(e) || p.Len() != 0 {
		t.Errorf("no probes have a trace of %g ± %g", v, e)
	}
	if row := p.InverseRow(make([]float64, 3), 0); norm(row) != 0 {
		t.Errorf("no probes have a row %v", row)
	}
}

// TestProbeCount: a count of probes is held against the memory before anything is
// allocated, whatever the method.
func TestProbeCount(t *testing.T) {
	s, _ := randomSystem(1, 50, 1)
	for _, m := range []Method{CG{}, CG{Rank: 5}} {
		for _, count := range []int{1_000_000_000, 1_000_000_000_000, math.MaxInt} {
			var bad *MemoryError
			if _, err := Probe(context.Background(), s, m.(CG), count, 1, Settings{}); !errors.As(err, &bad) {
				t.Errorf("%s, %d probes: %v", m.Name(), count, err)
			}
		}
	}
}

// TestTwofold: a sum of which all digits cancel in working precision is right to the
// last one, and its bound holds.
func TestTwofold(t *testing.T) {
	rng := toy.Rand(3)
	for range 300 {
		n := 1 + rng.IntN(50)
		x, y := make([]float64, 2*n+1), make([]float64, 2*n+1)
		truth := exact(0)
		for i := range n {
			x[i], y[i] = rng.NormFloat64()*math.Pow(10, 8*rng.Float64()), rng.NormFloat64()
			x[2*n-i], y[2*n-i] = -x[i], y[i]*(1+1e-13*rng.Float64())
		}
		x[n], y[n] = 1e-9*rng.NormFloat64(), 1
		for i, v := range x {
			truth.Add(truth, exact(0).Mul(exact(v), exact(y[i])))
		}
		var s twofold
		s.addProducts(x, y)
		v, rounding := s.value(len(x))
		if off := math.Abs(float(exact(0).Sub(truth, exact(v)))); !(off <= rounding) || rounding > 1e-14*math.Abs(v)+1e-18*norm(x)*norm(y) {
			t.Fatalf("%g ± %g, want %g", v, rounding, float(truth))
		}
	}
	var s twofold
	if v, rounding := s.value(10); v != 0 || rounding != 0 {
		t.Errorf("nothing is %g ± %g", v, rounding)
	}
}

// TestNilContext: a factor that is asked to solve without a context refuses.
func TestNilContext(t *testing.T) {
	var none context.Context
	refused := func(what string, err error) {
		var bad *solvers.ProblemError
		if !errors.As(err, &bad) || bad.Field != "ctx" || !strings.Contains(err.Error(), "context.Background()") {
			t.Errorf("%s: %v", what, err)
		}
	}
	var f CholeskyFactor
	refused("SolveAll", f.SolveAll(none, nil))
	refused("HalfSolveAll", f.HalfSolveAll(none, nil))
	_, err := f.Inverse(none)
	refused("Inverse", err)
	_, err = f.InverseLower(none)
	refused("InverseLower", err)
}
