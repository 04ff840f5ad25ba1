package kernels_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/kernels"
)

// atLevels runs a test with every set of instructions that the machine has.
func atLevels(t *testing.T, test func(t *testing.T)) {
	defer simd.SetLevel(simd.Active())
	for l := range simd.Best() + 1 {
		simd.SetLevel(l)
		t.Run(l.String(), test)
	}
}

// largest is the largest diagonal entry, by which errors are measured.
func largest(g *kernels.Gram) float64 {
	size := 0.0
	for _, v := range g.Diag() {
		size = max(size, math.Abs(v))
	}
	return size
}

// sameRows fails unless Hold gives the rows idx of g, up to tol times the largest
// entry, as exact, a matrix of the same, gives them.
func sameRows(t *testing.T, g, exact *kernels.Gram, idx []int, tol float64) {
	t.Helper()
	dst, size := make([][]float32, len(idx)), largest(exact)
	g.Hold(dst, idx)
	for k, i := range idx {
		for j, want := range exact.Row(i) {
			if !(math.Abs(float64(dst[k][j])-want) <= tol*size) {
				t.Fatalf("K[%d][%d] = %v, want %v", i, j, dst[k][j], want)
			}
		}
		if dst[k][i] != float32(exact.Diag()[i]) {
			t.Fatalf("K[%d][%d] = %v, the diagonal has %v", i, i, dst[k][i], exact.Diag()[i])
		}
	}
}

// sameSums fails unless Times agrees with the rows of exact up to
// tol·Σ|coef|·max K.
func sameSums(t *testing.T, g, exact *kernels.Gram, idx []int, tol float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(len(idx)), 5))
	got, want, coef := make([]float64, g.Dim()), make([]float64, g.Dim()), make([]float64, len(idx))
	for i := range got {
		got[i] = float64(i)
		want[i] = got[i]
	}
	sum := 0.0
	for k, i := range idx {
		coef[k] = rng.NormFloat64()
		sum += math.Abs(coef[k])
		for j, v := range exact.Row(i) {
			want[j] += coef[k] * v
		}
	}
	g.Times(got, idx, coef)
	for j, v := range got {
		if !(math.Abs(v-want[j]) <= tol*sum*largest(exact)+1e-13*float64(j)) {
			t.Fatalf("entry %d is %v, want %v", j, v, want[j])
		}
	}
}

func TestBlocks(t *testing.T) {
	ks := all()
	ks = append(ks,
		anyKernel{kernels.Sum(kernels.RBF(0.3), kernels.Columns(kernels.Linear(), 1), kernels.Constant(2)), nil},
		anyKernel{kernels.Product(kernels.Polynomial(3, 0.5, 1), kernels.Columns(kernels.Matern52(1), 1, 0)), nil},
		anyKernel{kernels.Sum(kernels.Normalised(kernels.Sum(kernels.Normalised(kernels.Polynomial(2, 1, 1)), kernels.Linear())), kernels.Sigmoid(0.1, -1)), nil},
		anyKernel{kernels.Columns(kernels.Columns(kernels.ARD(1, 3), 1, 0), 2, 0), nil},
		anyKernel{kernels.Constant(3), nil})
	atLevels(t, func(t *testing.T) {
		for _, k := range ks {
			t.Run(k.String(), func(t *testing.T) {
				x := normal(7, 40, 3)
				if k.points != nil {
					x = k.points(x)
				}
				x = append(x, x[0]) // a point twice
				g, exact := mustGram(t, k, x, 0), mustGram(t, k, x, 0)
				for i := range x { // as the dense store leaves them, for a kernel that moves with them
					if i%3 == 0 {
						g.Row(i)
					}
				}
				idx := []int{4, 0, len(x) - 1, 1}
				sameRows(t, g, exact, idx, 0x1p-17)
				sameRows(t, g, exact, append(idx, 2, 3), 0x1p-17)
				sameSums(t, g, exact, idx, 0x1p-22)
				for i := range x {
					if !sameBits(g.Row(i), exact.Row(i)) {
						t.Fatalf("row %d has other bits after Hold", i)
					}
				}
			})
		}
	})
}

// Strips, chunks and ends that are not full; rows do not depend on what they are
// computed with.
func TestBlocksOfAnySize(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		for _, n := range []int{1, 2, 127, 129, 767, 769, 1600} {
			for _, d := range []int{1, 5} {
				t.Run(fmt.Sprint(n, "×", d), func(t *testing.T) {
					x := normal(uint64(n), n, d)
					k := kernels.Sum(kernels.RBF(0.5), kernels.Polynomial(2, 0.1, 1))
					for _, k := range []kernels.Kernel{k, kernels.RBF(0.5)} {
						g, alone, exact := mustGram(t, k, x, 0), mustGram(t, k, x, 0), mustGram(t, k, x, 0)
						idx := rand.New(rand.NewPCG(1, 2)).Perm(n)
						idx = idx[:min(n, 300)]
						sameRows(t, g, exact, idx, 0x1p-17)
						sameSums(t, g, exact, idx, 0x1p-22)
						together, one := make([][]float32, len(idx)), make([][]float32, 1)
						g.Hold(together, idx)
						for k, i := range idx[:min(n, 9)] {
							alone.Hold(one, []int{i})
							if !slices.Equal(one[0], together[k]) {
								t.Fatalf("row %d differs when it is computed alone", i)
							}
						}
					}
				})
			}
		}
	})
}

// The store is a model of the rows used last: hits cost nothing, and a row that
// is held has the bits that it had.
func TestHoldProperties(t *testing.T) {
	x := normal(3, 120, 4)
	fresh := mustGram(t, kernels.RBF(0.2), x, 0)
	want := make([][]float32, len(x))
	every := make([]int, len(x))
	for i := range every {
		every[i] = i
	}
	fresh.Hold(want, every)
	rapid.Check(t, func(rt *rapid.T) {
		room := rapid.IntRange(2, 30).Draw(rt, "room")
		g := mustGram(rt, kernels.RBF(0.2), x, int64(room*4*len(x)))
		if g.Room() != room {
			rt.Fatalf("room for %d rows, want %d", g.Room(), room)
		}
		var used []int // the last in front
		for range rapid.IntRange(1, 12).Draw(rt, "calls") {
			idx := rapid.SliceOfNDistinct(rapid.IntRange(0, len(x)-1), 0, room, rapid.ID[int]).Draw(rt, "idx")
			before, missing := g.Evaluations(), 0
			for _, i := range idx {
				if !slices.Contains(used, i) {
					missing++
				}
			}
			dst := make([][]float32, len(idx))
			g.Hold(dst, idx)
			if got := int(g.Evaluations() - before); got != missing*len(x) {
				rt.Fatalf("%d evaluations for %d rows that were missing", got, missing)
			}
			for k, i := range idx {
				if !slices.Equal(dst[k], want[i]) {
					rt.Fatalf("row %d has other values", i)
				}
			}
			// Those that were held move to the front first, then those that were not.
			front := func(held bool) {
				was := slices.Clone(used)
				for _, i := range idx {
					if slices.Contains(was, i) == held {
						used = append([]int{i}, slices.DeleteFunc(used, func(j int) bool { return j == i })...)
					}
				}
			}
			was := slices.Clone(used)
			_ = was
			front(true)
			front(false)
			used = used[:min(len(used), room)]
		}
	})
}
