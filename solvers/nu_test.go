package solvers

import (
	"errors"
	"math"
	"testing"

	"github.com/svmnb/svmnb/internal/toy"
)

// LIBSVM 3.37's numbers (reference §C).
func TestNuReference(t *testing.T) {
	x, y := heart(t)
	k := toy.NewGram(x, heartRBF)
	for _, sel := range []Selection{SecondOrder, WorstPair} {
		p, err := NuSoftMargin(k, y, 0.5)
		if err != nil {
			t.Fatal(err)
		}
		r := solve(t, p, SMO{Selection: sel}, Settings{Stop: UpLow{1e-9}})
		if got := 1 / r.Certificate.Rho; math.Abs(got-0.465959) > 1e-5 {
			t.Errorf("%v: C = 1/ρ = %.7g, want 0.465959", sel, got)
		}
		if r.Certificate.RelGap > 1e-8 || r.Certificate.MaxKKT > 1e-8 || r.Certificate.Equality > 1e-9 {
			t.Errorf("%v: %+v", sel, r.Certificate)
		}
		// The ν-property, and the equivalence with C = 1/ρ.
		if n := 0.5 * float64(len(y)); float64(r.Certificate.AtUpper) > n || float64(r.Certificate.Free+r.Certificate.AtUpper) < n {
			t.Errorf("%v: %d at the bound, %d free, ν n = %g", sel, r.Certificate.AtUpper, r.Certificate.Free, n)
		}
		rho := r.Certificate.Rho
		scaled := make([]float64, len(y))
		for i, a := range r.Alpha {
			scaled[i] = min(a/rho, 1/rho)
		}
		c := Certify(SoftMargin(k, y, fill(len(y), 1/rho)), scaled)
		if c.RelGap > 1e-7 || c.MaxKKT > 1e-7 || math.Abs(c.Bias-r.Bias/rho) > 1e-7 {
			t.Errorf("%v: as C-SVC with C = %g: %+v; bias %g", sel, 1/rho, c, r.Bias/rho)
		}
	}
	p, err := OneClass(k, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	r := solve(t, p, SMO{}, Settings{Stop: UpLow{1e-9}})
	if got := -r.Certificate.Dual; math.Abs(got-3366.935440) > 1e-6*3367 {
		t.Errorf("one class: objective %.9g, want 3366.935440", got)
	}
	if r.Certificate.RelGap > 1e-8 {
		t.Errorf("one class: %+v", r.Certificate)
	}
}

func TestNuRefusals(t *testing.T) {
	k := toy.NewGram(corners, toy.RBF(1))
	var e *ProblemError
	for _, nu := range []float64{0, -1, 1.5, math.NaN(), 0.9} {
		if _, err := NuSoftMargin(k, []float64{1, 1, 1, -1}, nu); !errors.As(err, &e) || e.Field != "nu" {
			t.Errorf("ν = %g: %v", nu, err)
		}
	}
	if _, err := OneClass(k, 2); !errors.As(err, &e) {
		t.Errorf("one class, ν = 2: %v", err)
	}
	p, err := NuSoftMargin(k, parity, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []Method{ConjugateSMO{}, SMO{Selection: Platt}} {
		if _, err := Solve(t.Context(), p, m, Settings{}); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: %v", m.Name(), err)
		}
	}
}

// The two bounds of the gap and the certificate hold for any feasible α.
func TestNuGapIsABound(t *testing.T) {
	rng := toy.Rand(5)
	x := make([][]float64, 30)
	y := make([]float64, 30)
	for i := range x {
		x[i] = []float64{rng.NormFloat64(), rng.NormFloat64()}
		y[i] = float64(2*(i%2) - 1)
	}
	p, err := NuSoftMargin(toy.NewGram(x, toy.RBF(0.7)), y, 0.4)
	if err != nil {
		t.Fatal(err)
	}
	best := solve(t, p, SMO{}, Settings{Stop: UpLow{1e-10}}).Certificate.Dual
	solve(t, p, SMO{Selection: WorstPair}, Settings{Stop: UpLow{1e-10}, Every: 1, Observers: []Observer{func(it *Iterate, _ *Point) {
		c := Certify(p, it.Alpha)
		if c.Dual > best+1e-9 || c.Primal < best-1e-9 {
			t.Errorf("iteration %d: %g ≤ %g ≤ %g does not hold", it.Iteration, c.Dual, best, c.Primal)
		}
	}}})
}
