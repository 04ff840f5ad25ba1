package kernels_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/svmnb/svmnb/kernels"
)

// What is summed at once, from rows that are held or from the points, sparse or
// not, for all points or some, is what rows one by one give.
func TestAccumulate(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		for _, c := range []struct {
			name  string
			k     kernels.Kernel
			d     int
			cache int64
		}{
			{"computed anew", kernels.RBF(0.2), 5, 0},
			{"held", kernels.RBF(0.002), 120, 0},
			{"no room", kernels.RBF(0.002), 120, kernels.NoCache},
			{"a sum", kernels.Sum(kernels.Linear(), kernels.RBF(0.3)), 4, 0},
			{"no formula", kernels.Laplacian(0.3), 4, 0},
			{"no formula, no room", kernels.Laplacian(0.3), 4, kernels.NoCache},
		} {
			t.Run(c.name, func(t *testing.T) {
				x := normal(17, 300, c.d)
				for _, sparse := range []bool{false, true} {
					exact, g := mustGram(t, c.k, x, 0), mustGram(t, c.k, x, c.cache)
					if sparse {
						var err error
						if g, err = kernels.NewSparseGram(c.k, compressed(x), c.cache); err != nil {
							t.Fatal(err)
						}
					}
					size := largest(exact)
					idx := append([]int{7, 299, 0, 7}, rand.New(rand.NewPCG(1, 2)).Perm(300)[:170]...)
					among := make([]float32, len(idx)*len(idx))
					g.Among(among, idx)
					for k, i := range idx {
						for l, j := range idx {
							if got, want := float64(among[k*len(idx)+l]), exact.Row(i)[j]; !(math.Abs(got-want) <= 0x1p-17*size) {
								t.Fatalf("sparse %v: K[%d][%d] = %v, want %v", sparse, i, j, got, want)
							}
						}
					}
					coef, sum := make([]float64, len(idx)), 0.0
					for k := range coef {
						coef[k] = float64(k%7) - 2.5
						sum += math.Abs(coef[k])
					}
					for _, on := range [][]int{nil, {}, {3}, {299, 5, 0, 150, 7}} {
						m := 300
						if on != nil {
							m = len(on)
						}
						dst := make([]float64, m)
						for r := range dst {
							dst[r] = float64(r)
						}
						g.Accumulate(dst, on, idx, coef)
						for r, got := range dst {
							i, want := r, float64(r)
							if on != nil {
								i = on[r]
							}
							for k, j := range idx {
								want += coef[k] * exact.Row(i)[j]
							}
							if !(math.Abs(got-want) <= 0x1p-17*sum*size) {
								t.Fatalf("sparse %v, on %v: the sum at %d is %v, want %v", sparse, on, i, got, want)
							}
						}
					}
				}
			})
		}
	})
}

// Sums do not depend on the number of goroutines, nor on which points are asked.
func TestAccumulateIsDeterministic(t *testing.T) {
	for _, d := range []int{6, 100} {
		t.Run(fmt.Sprint(d), func(t *testing.T) {
			x := normal(18, 700, d)
			idx, coef := rand.New(rand.NewPCG(3, 4)).Perm(700)[:200], make([]float64, 200)
			for k := range coef {
				coef[k] = 1 / float64(k+1)
			}
			sums := func(on []int) []float64 {
				dst := make([]float64, 700)
				if on != nil {
					dst = dst[:len(on)]
				}
				mustGram(t, kernels.RBF(1/float64(d)), x, 0).Accumulate(dst, on, idx, coef)
				return dst
			}
			all := sums(nil)
			before := runtime.GOMAXPROCS(1)
			alone := sums(nil)
			runtime.GOMAXPROCS(before)
			if !slices.Equal(all, alone) {
				t.Error("one goroutine has other bits")
			}
			on := []int{650, 3, 99}
			for r, v := range sums(on) {
				if v != all[on[r]] {
					t.Errorf("the sum at %d is %v among some points, %v among all", on[r], v, all[on[r]])
				}
			}
		})
	}
}
