package solvers

import (
	"math"
	"testing"

	"github.com/svmnb/svmnb/internal/toy"
)

// TestSupportVectors: free and bound vectors are counted right, whatever the
// criterion. The source's filter 0 − ε < α < C + ε (erratum B4) keeps every point,
// and its bias is the mean over all of them.
func TestSupportVectors(t *testing.T) {
	x, y := iris(t, "virginica", "versicolor")
	setosa, label := iris(t, "setosa", "")
	for _, c := range []struct {
		name        string
		p           *Problem
		free, bound int
		bias        float64
	}{
		{"virginica, linear", SoftMargin(toy.NewGram(x, toy.Dot), y, fill(len(y), 1)), 4, 19, -6.7810612},
		// Two virginica are equal: SMO leaves one of them out and has 7 free
		// vectors, an interior point divides their α.
		{"virginica, RBF", SoftMargin(toy.NewGram(x, toy.RBF(0.25)), y, fill(len(y), 1)), 8, 26, 0.1440565},
		{"setosa, hard", HardMargin(toy.NewGram(setosa, toy.Dot), label), 3, 0, 1.4505610},
		{"XOR, hard", HardMargin(toy.NewGram(corners, toy.Polynomial(1, 1, 2)), parity), 4, 0, 0},
	} {
		for _, m := range []Method{
			PrimalDual{}, PrimalDual{Corrector: true}, PrimalDual{Finish: 1e-9}, PrimalDual{Infeasible: true},
			PrimalDual{Rank: 200}, Barrier{}, Barrier{PhaseI: true},
		} {
			for _, stop := range []Criterion{UpLow{1e-3}, Gap{1e-3}, KKT{1e-2}, Gap{1e-9}} {
				r := solve(t, c.p, m, Settings{Stop: stop})
				if k := r.Certificate; k.Free != c.free || k.AtUpper != c.bound || math.Abs(k.Bias-c.bias) > 1e-4 || r.Status != Converged {
					t.Errorf("%s, %s, %v: %v with %d free, %d bound, b = %g; want %d, %d, %g", c.name, m.Name(), stop, r.Status, k.Free, k.AtUpper, k.Bias, c.free, c.bound, c.bias)
				}
			}
		}
	}
	p := SoftMargin(toy.NewGram(x, toy.Dot), y, fill(len(y), 1))
	s := begun(t, p, PrimalDual{Finish: 1e-9}, 12).(*primalDual)
	kept, mean := 0, 0.0
	for i, a := range s.alpha {
		if a > 0-1e-3 && a < 1+1e-3 {
			kept++
			mean += -p.S[i] * s.grad[i]
		}
	}
	if mean /= float64(kept); kept != len(y) || math.Abs(mean+6.7810612) < 0.1 {
		t.Errorf("the printed filter keeps %d of %d and says b = %g", kept, len(y), mean)
	}
}

// TestNearest: what is clipped stays in the box and on s'α = δ, or is refused.
func TestNearest(t *testing.T) {
	p := generalProblem(toy.Rand(3), 20)
	rng := toy.Rand(5)
	for range 200 {
		alpha := make([]float64, 20)
		for i := range alpha {
			alpha[i] = p.Lower[i] + (p.Upper[i]-p.Lower[i])*(1.4*rng.Float64()-0.2)
		}
		if !p.nearest(alpha) {
			continue
		}
		for i, a := range alpha {
			if !(a >= p.Lower[i] && a <= p.Upper[i]) {
				t.Fatalf("α_%d = %g is outside [%g, %g]", i, a, p.Lower[i], p.Upper[i])
			}
		}
		if e := p.equality(alpha); e > 1e-13 {
			t.Fatalf("|s'α − δ| = %g", e)
		}
	}
	if p.nearest([]float64{math.NaN(), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}) {
		t.Error("NaN is no point of the box")
	}
	corner := SoftMargin(toy.NewGram(corners, toy.Dot), parity, fill(4, 1))
	if corner.nearest([]float64{1, 1, 0, 1}) {
		t.Error("at the corners there is no room for s'α = 0")
	}
}
