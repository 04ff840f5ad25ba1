package svmnb_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb"
)

// A distance does not change when all points move, but its rounding errors grow with the kernel
// values that it is a difference of, although its own diagonal is 0. Certificates allow for them,
// whether the distance is the kernel or a part of it, for all kinds of machines.
func TestRoundingOfDistances(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const far = 1 << 12
	here, there, y := make([][]float64, 90), make([][]float64, 90), make([]float64, 90)
	for i := range here {
		a, b := float64(rng.IntN(1<<26)-1<<25)/(1<<24), float64(rng.IntN(1<<26)-1<<25)/(1<<24)
		here[i], there[i] = []float64{a, b}, []float64{a + far, b + far} // these sums are exact
		if y[i] = -1; a*b+rng.NormFloat64() > 0 {
			y[i] = 1
		}
	}
	d := kernels.Distance(kernels.Linear())
	for _, k := range []kernels.Kernel{d, kernels.Sum(d, kernels.RBF(1)), kernels.Scale(0.5, d), kernels.Product(kernels.Constant(2), kernels.Sum(kernels.RBF(2), d))} {
		moved, data := datasets.New(there, y), datasets.New(here, y)
		check := func(name string, exact, p *solvers.Problem, r *solvers.Result) {
			f, want, worst := p.F(r.Alpha), exact.F(r.Alpha), 0.0
			for i, v := range f {
				worst = max(worst, math.Abs(v-want[i]))
			}
			if rounding := r.Certificate.Rounding; worst > rounding || worst == 0 || rounding > 1e4*worst {
				t.Errorf("%v, %s: F is off by %g, and by the certificate at most by %g", k, name, worst, rounding)
			}
		}
		c := svmnb.Classify(moved).Kernel(k).C(0.1).MaxIterations(50)
		fit, err := c.Fit(t.Context())
		if fit == nil {
			t.Fatalf("%v: %v", c, err)
		}
		check("two classes", must(svmnb.Classify(data).Kernel(k).C(0.1).MaxIterations(1).Fit(t.Context())).Problem(), fit.Problem(), &fit.Result)
		r, _ := svmnb.Regress(moved).Kernel(k).C(0.1).MaxIterations(50).Fit(t.Context())
		check("regression", must(svmnb.Regress(data).Kernel(k).C(0.1).MaxIterations(1).Fit(t.Context())).Problem(), r.Problem(), &r.Result)
		for _, m := range []svmnb.MultiClassifier{c.OneVsOne(), c.OneVsRest()} {
			many, _ := m.Fit(t.Context())
			for _, of := range many.Machines() {
				if !(of.Certificate.Rounding > 0) {
					t.Errorf("%v, %v: the rounding is %v", k, m, of.Certificate.Rounding)
				}
			}
		}
	}
}
