package svmnb

import (
	"errors"
	"math"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
)

// TestFoundByTheHarness has problems on which internal/differential has once seen a status
// that was better than the audit, or a run that ended far off with no error. They are
// solved, or refused with an error that says why.
func TestFoundByTheHarness(t *testing.T) {
	type found struct {
		status  solvers.Status
		audit   *Audit
		gap     float64 // relative
		refused error
	}
	one := func(c Classifier) func() found {
		return func() found {
			f, err := c.Fit(t.Context())
			if f == nil {
				return found{refused: err}
			}
			a, _ := f.Audit(t.Context())
			return found{f.Status, a, f.Certificate.RelGap, err}
		}
	}
	real := func(r Regressor) func() found {
		return func() found {
			f, err := r.Fit(t.Context())
			if f == nil {
				return found{refused: err}
			}
			a, _ := f.Audit(t.Context())
			return found{f.Status, a, f.Certificate.RelGap, err}
		}
	}
	many := func(c MultiClassifier) func() found {
		return func() found {
			f, err := c.Fit(t.Context())
			if f == nil {
				return found{refused: err}
			}
			a, _ := f.Audit(t.Context())
			s := f.Certificate()
			return found{f.Status(), a, s.Gap / (1 + s.Primal), err}
		}
	}
	weighted := Classify(datasets.New([][]float64{{0}, {-0.4670585813419939}, {0}, {0.100262228042304}, {0}, {0}, {0.38318458178683323}, {0}, {0}}, []float64{-1, 1, -1, 1, -1, 1, -1, 1, -1})).
		Kernel(kernels.RBF(0.03301744977304441)).C(900).
		SampleWeights([]float64{20.686933567475045, 0.195414661570109, 0.07510771947036475, 8.774605381399605, 9.560625656724046, 0.014063837218459687, 0.13748959498948685, 1.4995031954157056, 0.029839232974875503})
	two := func(c, tol float64) MultiClassifier {
		return Classify(datasets.New([][]float64{{1}, {-0.1}}, []float64{4, 0})).Kernel(kernels.RBF(1)).C(c).Tol(tol).CrammerSinger()
	}
	four := Classify(datasets.New([][]float64{{1}, {-0.1}, {0.4}, {0.9}}, []float64{0, 1, 2, 1})).Kernel(kernels.RBF(1))
	far := Classify(datasets.New([][]float64{{4711, 4711}, {4712, 4711}, {4711, 4710}, {4711, 4711}, {4711, 4711}, {4711, 4711}}, []float64{-1, 1, -1, 1, -1, 1})).
		Kernel(kernels.Polynomial(4, 0.09, 1))
	tube := Regress(datasets.New([][]float64{{2}, {-0.04}}, []float64{3e-6, 2e-6})).Kernel(kernels.RBF(1))
	for _, c := range []struct {
		name   string
		solve  func() found
		refuse bool
	}{
		// Primal–dual stops short of the bounds with a W that is larger in the last digit;
		// of the two answers it passed for the one that had converged.
		{"an answer inside of the box, unsampled", one(weighted.Augment(1).Sample(-1)), false},
		{"the same, fixed bias", one(weighted.FixedBias(0).Sample(-1)), false},
		{"the same, sampled", one(weighted.Augment(1)), false},
		{"the same, free bias", one(weighted.Sample(-1)), false},
		// Beside a·C nothing was left of what decides between the classes.
		{"Crammer–Singer, C = 5e11", many(two(5e11, 1e-6)), false},
		// From here on rounding of g by itself, times C, is a gap of more than W.
		{"Crammer–Singer, C = 1e18", many(two(1e18, 1e-3)), true},
		{"Crammer–Singer, C = 1e50", many(two(1e50, 1e-3)), true},
		{"Crammer–Singer, C = 1e-12", many(two(1e-12, 1e-3)), false},
		{"Crammer–Singer, C = 1e-60", many(two(1e-60, 1e-3)), false},
		{"Crammer–Singer, three classes, C = 1e9", many(four.C(1e9).CrammerSinger()), false},
		{"Crammer–Singer, three classes, C = 1e-12", many(four.C(1e-12).CrammerSinger()), false},
		// Σ(α + α̂) is Cνn, of which nothing is left for α − α̂.
		{"ν-SVR, C = 1e10", real(tube.C(1e10).Nu(0.3)), true},
		{"ν-SVR, C = 1e18", real(tube.C(1e18).Nu(0.3)), true},
		// Neither SMO nor the method that takes over gets on with kernel values of 10²⁰.
		{"one class, kernel values of 1e20", one(OneClass(datasets.Blobs(40, 2, 2, 1)).Kernel(kernels.Scale(1e20, kernels.Linear())).Nu(0.15).Sample(-1)), true},
		// With a ridge, or in a box, the dual has a maximum, however it looks to a step.
		{"2-norm, a ridge below rounding", one(Classify(datasets.New([][]float64{{-2}, {-2}}, []float64{-1, 1})).Kernel(kernels.Polynomial(4, 25, 0)).C(1e7).TwoNorm()), true},
		{"points at the origin", many(Classify(datasets.New([][]float64{{0}, {0}}, []float64{2, 3})).Kernel(kernels.Linear()).Augment(kernels.Radius).OneVsRest()), false},
		// F has rounding of 10¹¹ here, so that a gap of 0 in it says nothing.
		{"ν-SVC, a polynomial far off", one(far.Nu(0.45).Sample(-1)), true},
		{"ν-SVR, C = 1", real(tube.C(1).Nu(0.3)), false},
	} {
		r := c.solve()
		switch {
		case c.refuse:
			if !errors.Is(r.refused, solvers.ErrInaccurate) {
				t.Errorf("%s: %v, relative gap %g, error %v", c.name, r.status, r.gap, r.refused)
			}
		case r.refused != nil || r.audit == nil:
			t.Errorf("%s: %v", c.name, r.refused)
		case r.status != solvers.Converged || r.audit.UpLow > 1e-3+1e3*r.audit.ViolationRounding || r.gap > 0.5:
			t.Errorf("%s: %v with a relative gap of %g; m − M is %g by the audit", c.name, r.status, r.gap, r.audit.UpLow)
		}
	}
}

// TestUnitsOfDecomposition: it works in single precision, in which the squares of features
// of 10²⁰ have no room.
func TestUnitsOfDecomposition(t *testing.T) {
	d := datasets.Moons(80, 0.2, 3)
	machine := func(s float64) Classifier {
		x := make([][]float64, d.N())
		for i, row := range d.X {
			x[i] = []float64{s * row[0], s * row[1]}
		}
		return Classify(datasets.New(x, d.Y)).Kernel(kernels.Scale(14, kernels.RBF(2/s/s))).C(10)
	}
	want := machine(1).MustFit().Certificate.Dual
	for _, s := range []float64{1e-40, 1e-25, 1e-20, 1e-19, 1e19, 1e20, 1e27, 1e30, 1e50} {
		for _, c := range []Classifier{machine(s), machine(s).Using(solvers.Decomposition{})} {
			f, err := c.Fit(t.Context())
			if err != nil {
				t.Errorf("%g: %v", s, err)
				continue
			}
			a, err := f.Audit(t.Context())
			if err != nil || f.Status != solvers.Converged || math.Abs(a.Dual-want) > 1e-3*want || a.UpLow > 2e-3 || math.Abs(a.Gap-f.Certificate.Gap) > 1e-6*want {
				t.Errorf("%g, %s: %v with W = %g, want %g; certificate %+v, audit %+v, %v", s, f.Method, f.Status, f.Certificate.Dual, want, f.Certificate, a, err)
			}
		}
	}
}
