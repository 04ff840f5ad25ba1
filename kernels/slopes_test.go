package kernels_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/internal/toy"
	"github.com/svmnb/svmnb/kernels"
)

// Slopes are those by differences of Eval, and at equal points those of the limit.
func TestSlopes(t *testing.T) {
	const d, h = 2, 1e-3
	smooth := 0
	for _, c := range table {
		of, ok := kernels.Slopes(c.k)
		if _, withDerivatives := c.k.(kernels.WithDerivativesKernel); !ok || withDerivatives || c.call == "ARD(0.001, 1000)" || c.call == "ARDMatern32(0.001, 1000)" || c.call == "RBF(12345.678)" {
			continue
		}
		smooth++
		x, d := two(toy.Normal(5, 6, 4)), d
		if strings.Contains(c.call, "0.5, 2), 0.7, 2, 1.1") {
			x, d = three(toy.Normal(5, 6, 4)), 3
		}
		byX, byZ, both := make([]float64, d), make([]float64, d), make([]float64, d*d)
		for _, pair := range [][2]int{{0, 1}, {2, 3}, {4, 5}, {1, 1}} {
			a, b := x[pair[0]], x[pair[1]]
			if v := of(byX, byZ, both, a, b); math.Abs(v-c.k.Eval(a, b)) > 1e-14*(1+math.Abs(v)) {
				t.Errorf("%s: the value is %v, that of Eval %v", c.call, v, c.k.Eval(a, b))
			}
			// moved is K with feature i of x and feature j of z moved by steps of h.
			moved := func(i int, p float64, j int, q float64) float64 {
				u, v := slices.Clone(a), slices.Clone(b)
				if i >= 0 {
					u[i] += p * h
				}
				if j >= 0 {
					v[j] += q * h
				}
				return c.k.Eval(u, v)
			}
			near := func(what string, got, want float64) {
				tol := 1e-4
				if strings.Contains(c.call, "Matern32") { // its differences converge slowly at equal points
					tol = 1e-2
				}
				if math.Abs(got-want) > tol*(1+math.Abs(want)) {
					t.Errorf("%s: %s is %v, by differences %v", c.call, what, got, want)
				}
			}
			for i := range d {
				near("∂K/∂x", byX[i], (moved(i, 1, -1, 0)-moved(i, -1, -1, 0))/(2*h))
				near("∂K/∂z", byZ[i], (moved(-1, 0, i, 1)-moved(-1, 0, i, -1))/(2*h))
				for j := range d {
					near("∂²K/∂x∂z", both[i*d+j], (moved(i, 1, j, 1)-moved(i, 1, j, -1)-moved(i, -1, j, 1)+moved(i, -1, j, -1))/(4*h*h))
				}
			}
		}
	}
	if smooth < 12 {
		t.Errorf("%d kernels of the table are smooth", smooth)
	}
	for _, k := range []kernels.Kernel{kernels.Exponential(1), kernels.Sum(kernels.RBF(1), kernels.Laplacian(1)), kernels.RBF(-1)} {
		if _, ok := kernels.Slopes(k); ok {
			t.Errorf("%v has slopes", k)
		}
	}
	if kernels.WithDerivatives(kernels.Exponential(1)).Check() == nil {
		t.Error("the derivatives of a rough function are no error")
	}
	for _, point := range [][]float64{{1}, {1, 2}, {1, 0.5}, {1, -1}} {
		if _, err := kernels.NewGram(kernels.WithDerivatives(kernels.RBF(1)), [][]float64{point}, 0); err == nil {
			t.Errorf("the point %v is no error", point)
		}
	}
}
