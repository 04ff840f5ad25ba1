package svmnb_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
)

// No machine in the interval has a smaller error than the bound of its part.
func TestNoCostIsBetterThanItsBound(t *testing.T) {
	for trial := range problems(2) {
		rng := rand.New(rand.NewPCG(uint64(trial), 81))
		data, held := datasets.Moons(60, 0.2+0.2*rng.Float64(), uint64(trial)), datasets.Moons(100, 0.3, uint64(trial)+500)
		base := svmnb.Classify(data).Kernel(kernels.RBF(math.Pow(10, rng.Float64()-0.5))).Tol(1e-4)
		if trial%3 == 1 {
			base = base.Balanced()
		}
		const within = 0.05
		b, err := base.BestCost(t.Context(), held, 0.1, 10, within, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("error %.3f at C = %.3g; none is better by more than %.3f; %d fits, %d parts", b.Error, b.C, b.Better(), b.Fits, len(b.Spans))
		if b.Fits < 500 && b.Better() > within+1e-9 {
			t.Errorf("after %d fits some C may be better by %g", b.Fits, b.Better())
		}
		end := 0.1
		for _, s := range b.Spans {
			if math.Abs(s.From-end) > 1e-9*end || s.To <= s.From {
				t.Errorf("the part from %g to %g does not follow on %g", s.From, s.To, end)
			}
			end = s.To
		}
		for range 12 {
			s := b.Spans[rng.IntN(len(b.Spans))]
			c := s.From * math.Pow(s.To/s.From, rng.Float64())
			fit, err := base.C(c).Tol(1e-9).Fit(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			accuracy, err := fit.Accuracy(held)
			if err != nil {
				t.Fatal(err)
			}
			values, _ := fit.Values(held)
			close := 0
			for _, v := range values {
				if math.Abs(v) < 1e-6 {
					close++ // the reference may have these wrong
				}
			}
			if wrong := 1 - accuracy; wrong+float64(close)/100 < s.Least-1e-9 {
				t.Errorf("C = %g has the error %g, and the bound from %g to %g is %g", c, wrong, s.From, s.To, s.Least)
			}
		}
	}
}

func TestBestCostRefuses(t *testing.T) {
	moons := datasets.Moons(40, 0.2, 1)
	base := svmnb.Classify(moons).Kernel(kernels.RBF(1))
	for name, of := range map[string]func() (*svmnb.CostBounds, error){
		"2-norm":     func() (*svmnb.CostBounds, error) { return base.TwoNorm().BestCost(t.Context(), moons, 1, 2, 0, 0) },
		"no range":   func() (*svmnb.CostBounds, error) { return base.BestCost(t.Context(), moons, 2, 1, 0, 0) },
		"no data":    func() (*svmnb.CostBounds, error) { return base.BestCost(t.Context(), nil, 1, 2, 0, 0) },
		"within 1":   func() (*svmnb.CostBounds, error) { return base.BestCost(t.Context(), moons, 1, 2, 1, 0) },
		"−1 fits":    func() (*svmnb.CostBounds, error) { return base.BestCost(t.Context(), moons, 1, 2, 0, -1) },
		"no context": func() (*svmnb.CostBounds, error) { return base.BestCost(nil, moons, 1, 2, 0, 0) }, //lint:ignore SA1012 what the test is about
		"classes":    func() (*svmnb.CostBounds, error) { return base.BestCost(t.Context(), datasets.Iris(), 1, 2, 0, 0) },
	} {
		var bad *svmnb.ArgumentError
		if _, err := of(); !errors.As(err, &bad) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
