package kernels_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/svmnb/svmnb/kernels"
)

// The mean over many frequencies is the kernel, of every kernel whose spectral
// density is known and of what is made of them.
func TestFrequencies(t *testing.T) {
	const m = 40_000
	base := []kernels.Kernel{
		kernels.RBF(0.7), kernels.ARD(0.5, 2), kernels.Laplacian(0.8), kernels.Exponential(1.2),
		kernels.Matern32(0.9), kernels.Matern52(1.1), kernels.RationalQuadratic(0.8, 0.4), kernels.RationalQuadratic(1.5, 3),
		kernels.Periodic(1.3, 0.8), kernels.Periodic(1.3, 0.02), kernels.Periodic(2, 50), kernels.Constant(0.3),
	}
	rapid.Check(t, func(t *rapid.T) {
		pick := func() kernels.Kernel {
			k := rapid.SampledFrom(base).Draw(t, "kernel")
			if _, ok := k.(kernels.ARDKernel); !ok && rapid.Bool().Draw(t, "columns") {
				k = kernels.Columns(k, 1)
			}
			return k
		}
		var k kernels.Kernel
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			k = pick()
		case 1:
			k = kernels.Scale(2.5, kernels.Fixed(pick()))
		case 2:
			k = kernels.Sum(pick(), kernels.Scale(0.01, pick()))
		case 3:
			k = kernels.Product(pick(), pick())
		case 4:
			k = kernels.Product(kernels.Sum(pick(), pick()), pick())
		}
		seed := rapid.Uint64().Draw(t, "seed")
		omega, weight, err := kernels.Frequencies(k, 2, m, seed)
		if err != nil {
			t.Fatalf("%v: %v", k, err)
		}
		if len(omega) != len(weight) || len(omega)%m != 0 {
			t.Fatalf("%v: %d frequencies with %d weights", k, len(omega), len(weight))
		}
		coordinate := rapid.Float64Range(-1, 1)
		x, z := []float64{0.3, -0.2}, []float64{coordinate.Draw(t, "z0"), coordinate.Draw(t, "z1")}
		got := 0.0
		for j, w := range omega {
			got += weight[j] * math.Cos(w[0]*(x[0]-z[0])+w[1]*(x[1]-z[1]))
		}
		// Six standard errors, and what a normal for a Skellam number costs.
		if want, scale := k.Eval(x, z), k.Eval(x, x); math.Abs(got-want) > scale*(6/math.Sqrt(m)+1e-3) {
			t.Errorf("%v of %v: %.5f, want %.5f", k, z, got, want)
		}
	})

	// Each term of a sum has frequencies of its own.
	_, weight, _ := kernels.Frequencies(kernels.Sum(kernels.Scale(4, kernels.RBF(1)), kernels.Scale(1e-6, kernels.RBF(100))), 1, 2, 1)
	if want := []float64{2, 2, 5e-7, 5e-7}; !slices.Equal(weight, want) {
		t.Errorf("weights %v, want %v", weight, want)
	}
	one, _, _ := kernels.Frequencies(kernels.Matern52(1), 3, 1, 1)
	same, _, _ := kernels.Frequencies(kernels.Matern52(1), 3, 1, 1)
	other, _, _ := kernels.Frequencies(kernels.Matern52(1), 3, 1, 2)
	if !slices.Equal(one[0], same[0]) || slices.Equal(one[0], other[0]) {
		t.Error("a seed does not draw the same")
	}
}

func TestFrequenciesRefuse(t *testing.T) {
	var param *kernels.ParamError
	var data *kernels.DataError
	for _, k := range []kernels.Kernel{
		nil, kernels.RBF(-1), kernels.Linear(), kernels.GammaExponential(1, 1.5), Multiquadric{1},
		kernels.Sum(kernels.RBF(1), kernels.Linear()), kernels.Product(kernels.Linear(), kernels.RBF(1)),
		kernels.Normalised(kernels.RBF(1)), kernels.Columns(kernels.Polynomial(2, 1, 1), 0),
	} {
		if _, _, err := kernels.Frequencies(k, 2, 1, 1); !errors.As(err, &param) {
			t.Errorf("%v: %v", k, err)
		}
	}
	for _, c := range []struct {
		k    kernels.Kernel
		d, m int
	}{{kernels.ARD(1, 2), 1, 1}, {kernels.Columns(kernels.RBF(1), 3), 2, 1}, {kernels.RBF(1), 0, 1}, {kernels.RBF(1), 1, 0}} {
		if _, _, err := kernels.Frequencies(c.k, c.d, c.m, 1); !errors.As(err, &data) {
			t.Errorf("%v of %d features, %d frequencies: %v", c.k, c.d, c.m, err)
		}
	}
}
