package kernels

import (
	"context"
	"fmt"
	"math"
	"testing"
)

// TestBlocksAtEveryScale: the squares of points of 10²⁰ or 10⁻²⁰ have no room in single
// precision. Whatever the units of the points, and of the kernel, blocks are right or not
// there.
func TestBlocksAtEveryScale(t *testing.T) {
	base := [][]float64{{1.2, 2.1, -0.45}, {-1.1, -1.2, 2.2}, {1.4, 1.4, 0.92}, {1, -0.34, 2.7}, {1.2, 2.1, -0.45}}
	idx, coef := []int{0, 1, 2, 3, 4}, []float64{1, 1, 0.18, 0, -0.5}
	n := len(base)
	for _, s := range []float64{1e-60, 1e-40, 1e-27, 1e-20, 1e-18, 1e-10, 1, 1e10, 1e15, 1e18, 1e19, 1e20, 1e27, 1e35, 1e40, 1e60} {
		var x [][]float64
		for _, r := range base {
			x = append(x, []float64{s * r[0], s * r[1], s * r[2]})
		}
		for _, k := range []Kernel{
			RBF(0.18 / s / s), Scale(14.4, RBF(0.18/s/s)), Exponential(s), Matern32(s), Matern52(s), RationalQuadratic(s, 1), Linear(),
			Polynomial(2, 1/s/s, 1), Polynomial(3, 1, 0), ARD(s, 2*s, s), Sum(Linear(), RBF(1/s/s)), Product(RBF(1/s/s), Linear()),
			Normalised(Polynomial(2, 1/s/s, 1)), Scale(1e-60, RBF(1/s/s)), Scale(1e60, RBF(1/s/s)),
		} {
			g, err := NewGram(k, x, 1<<20)
			if err != nil {
				continue // values that are too large for anyone
			}
			exactly, afresh := make([]float64, n), make([]float64, n)
			size := 0.0
			for i := range x {
				for j := range x {
					v := k.Eval(x[i], x[j])
					exactly[i] += coef[j] * v
					size = max(size, math.Abs(v))
				}
			}
			near := func(name string, got, want, tol float64) {
				if !(math.Abs(got-want) <= tol*size) {
					t.Errorf("%g, %v: %s has %g, want %g", s, k, name, got, want)
				}
			}
			_ = g.AddTo(context.Background(), afresh, nil, nil, idx, coef, true)
			for i, v := range afresh {
				near(fmt.Sprintf("exactly[%d]", i), v, exactly[i], 1e-8)
			}
			if !g.InBlocks() {
				if s == 1 && size > 1e-30 && size < 1e30 {
					t.Errorf("%v: no blocks at an ordinary scale", k)
				}
				continue
			}
			among, sums, held := make([]float32, n*n), make([]float64, n), make([][]float32, n)
			g.Among(among, idx, nil, nil)
			_ = g.AddTo(context.Background(), sums, nil, nil, idx, coef, false)
			g.Hold(held, idx)
			for i := range x {
				near(fmt.Sprintf("quickly[%d]", i), sums[i], exactly[i], 1e-4)
				for j := range x {
					v := k.Eval(x[i], x[j])
					near(fmt.Sprintf("Among[%d, %d]", i, j), float64(among[i*n+j]), v, 1e-4)
					near(fmt.Sprintf("Hold[%d, %d]", i, j), float64(held[i][j]), v, 1e-4)
				}
			}
		}
	}
}
