package kernels

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The product of the factors is the kernel.
func TestFactors(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, k := range []Kernel{
		RBF(0.7), SquaredExponential(1.3), ARD(0.5, 2, 1), Laplacian(0.4), ExpChiSquared(0.6), Constant(3),
		Scale(2.5, RBF(0.3)), Named("mine", Laplacian(0.1)), Product(RBF(0.2), Scale(4, Laplacian(0.3)), ARD(1, 2, 3)),
		Columns(ARD(0.5, 3), 2, 0), Product(Columns(RBF(1), 1), Columns(Laplacian(2), 0, 1)),
	} {
		into, scale, ok := Factors(k)
		if !ok {
			t.Errorf("%v has no factors", k)
			continue
		}
		for range 50 {
			x, z, f := make([]float64, 3), make([]float64, 3), make([]float64, 3)
			for j := range x {
				x[j], z[j] = rng.Float64()*2, rng.Float64()*2
			}
			into(f, x, z)
			got, want := scale*f[0]*f[1]*f[2], k.Eval(x, z)
			if math.Abs(got-want) > 1e-13*math.Abs(want) {
				t.Fatalf("%v: the product of the factors is %v, the kernel %v", k, got, want)
			}
		}
	}
	for _, k := range []Kernel{Linear(), Polynomial(2, 1, 1), Matern32(1), Sum(RBF(1), RBF(2)), Product(RBF(1), Linear()), Columns(Matern52(1), 0)} {
		if _, _, ok := Factors(k); ok {
			t.Errorf("%v is no product of functions of one feature", k)
		}
	}
}
