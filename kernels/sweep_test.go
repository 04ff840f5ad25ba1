package kernels_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/svmnb/svmnb/internal/toy"
	"github.com/svmnb/svmnb/kernels"
)

// TestSweep: every row once, with the bits of Row, whatever was asked before and
// however rows are kept; and where they are kept no pair is evaluated twice.
func TestSweep(t *testing.T) {
	for _, k := range all() {
		sizes := []int{1, 30}
		if k.Kernel == kernels.Kernel(kernels.RBF(1)) {
			sizes = []int{2, 63, 64, 65, 150}
		}
		for _, n := range sizes {
			x := k.points(toy.Normal(uint64(n), n, 3))
			reference := mustGram(t, k, x, kernels.NoCache)
			for _, cache := range []int64{0, int64(8 * n * 3), kernels.NoCache} {
				for _, before := range []int{0, 1, 5, n} {
					for _, lower := range []bool{false, true} {
						g := mustGram(t, k, x, cache)
						for i := range min(before, n) {
							g.Row((7 * i) % n)
						}
						sweep(t, g, reference, lower)
						if got := g.Evaluations(); cache == 0 && got != int64(n*(n+1)/2) {
							t.Errorf("%v, n = %d, %d rows before: %d evaluations", k, n, before, got)
						}
						for i := range n {
							if !sameBits(g.Row(i), reference.Row(i)) {
								t.Fatalf("%v, n = %d, %d rows before: afterwards row %d is another", k, n, before, i)
							}
						}
					}
				}
			}
		}
	}
}

// TestSweepOfMany: from so many points on rows come from products of matrices, and
// agree with Row but for rounding, on the diagonal to the bit; points that are far from
// zero, or too far from each other, change nothing.
func TestSweepOfMany(t *testing.T) {
	for _, n := range []int{600} {
		for _, shift := range []float64{0, 1e3} {
			for _, spread := range []float64{1, 1e6} {
				x := toy.Normal(uint64(n), n, 3)
				for _, p := range x {
					for c := range p {
						p[c] = spread*p[c] + shift
					}
				}
				for _, k := range []kernels.Kernel{kernels.RBF(0.1), kernels.Scale(3, kernels.Matern32(2)), kernels.Sum(kernels.Linear(), kernels.RBF(2)), kernels.Polynomial(1, 1, 2), kernels.Laplacian(0.2), kernels.ARD(1, 2, 3)} {
					reference, err := kernels.NewGram(k, x, kernels.NoCache)
					if err != nil {
						t.Fatal(err)
					}
					for _, cache := range []int64{0, kernels.NoCache} {
						for _, lower := range []bool{false, true} {
							g, err := kernels.NewGram(k, x, cache)
							if err != nil {
								t.Fatal(err)
							}
							g.Row(n / 2)
							if err := g.Sweep(context.Background(), height(lower), func(i, _ int, rows [][]float64) {
								for j, v := range rows[0] {
									// Each of these grows with distance from itself or falls with it.
									size := max(reference.Diag()[i], reference.Diag()[j])
									if want := k.Eval(x[i], x[j]); math.Abs(v-want) > 1e-11*size || i == j && v != reference.Diag()[i] {
										t.Fatalf("%v, n = %d, shift %g, spread %g: K_%d%d = %g, not %g", k, n, shift, spread, i, j, v, want)
									}
								}
							}); err != nil {
								t.Fatal(err)
							}
						}
					}
				}
			}
		}
	}
}

// height is that of a sweep of rows, whole or up to the diagonal.
func height(lower bool) int {
	if lower {
		return 1
	}
	return 0
}

func sweep(t *testing.T, g, reference *kernels.Gram, lower bool) {
	t.Helper()
	var mu sync.Mutex
	rows := make([][]float64, g.Dim())
	if err := g.Sweep(context.Background(), height(lower), func(i, _ int, part [][]float64) {
		mu.Lock()
		defer mu.Unlock()
		if rows[i] != nil {
			t.Errorf("row %d came twice", i)
		}
		rows[i] = append([]float64{}, part[0]...)
	}); err != nil {
		t.Fatal(err)
	}
	for i, row := range rows {
		want := reference.Row(i)
		if lower {
			want = want[:i+1]
		}
		if !sameBits(row, want) {
			t.Fatalf("row %d of %d is %v, of Row %v", i, len(rows), row, want)
		}
	}
}

// TestSweepByBlocks: every entry up to the diagonal once, with the bits of Sweep, in blocks
// no higher than was asked for and within as many rows.
func TestSweepByBlocks(t *testing.T) {
	for _, n := range []int{1, 30, 600, 800} {
		x := toy.Normal(uint64(n), n, 3)
		for _, k := range []kernels.Kernel{kernels.RBF(0.1), kernels.Sum(kernels.Linear(), kernels.RBF(2)), kernels.Laplacian(0.2)} {
			for _, cache := range []int64{0, kernels.NoCache} {
				for _, high := range []int{4, 24, 48, 200} {
					g, err := kernels.NewGram(k, x, cache)
					if err != nil {
						t.Fatal(err)
					}
					got := make([][]float64, n)
					for i := range got {
						got[i] = make([]float64, i+1)
					}
					var mu sync.Mutex
					if err := g.Sweep(context.Background(), high, func(i, j int, rows [][]float64) {
						mu.Lock()
						defer mu.Unlock()
						if len(rows) > 1 && i/high != (i+len(rows)-1)/high {
							t.Errorf("%v: %d rows from %d on in a block, %d are wanted", k, len(rows), i, high)
						}
						for r, row := range rows {
							if len(row) != len(rows[0]) {
								t.Errorf("%v: rows of %d and %d columns in a block", k, len(row), len(rows[0]))
							}
							for c, v := range row {
								if j+c > i+r {
									continue
								}
								if got[i+r][j+c] != 0 {
									t.Fatalf("%v: K_%d%d came twice", k, i+r, j+c)
								}
								got[i+r][j+c] = v
							}
						}
					}); err != nil {
						t.Fatal(err)
					}
					if got := g.Evaluations(); got != int64(n*(n+1)/2+n) && cache == kernels.NoCache {
						t.Errorf("%v, n = %d: %d evaluations", k, n, g.Evaluations())
					}
					if err := g.Sweep(context.Background(), 1, func(i, _ int, rows [][]float64) {
						if !sameBits(got[i], rows[0]) {
							t.Errorf("%v, n = %d, blocks of %d rows: row %d is another", k, n, high, i)
						}
					}); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(gone)
	g, _ := kernels.NewGram(kernels.RBF(1), toy.Normal(1, 600, 2), kernels.NoCache)
	if err := g.Sweep(ctx, 48, func(int, int, [][]float64) { t.Error("a block after the end") }); err != gone {
		t.Error(err)
	}
}

// TestSweepEnds: a sweep that is interrupted says so, and the next is whole.
func TestSweepEnds(t *testing.T) {
	const n = 300
	x := toy.Normal(1, n, 2)
	for _, cache := range []int64{0, kernels.NoCache} {
		g := mustGram(t, kernels.RBF(1), x, cache)
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(gone)
		if err := g.Sweep(ctx, 0, func(int, int, [][]float64) { t.Error("a row after the end") }); err != gone {
			t.Error(err)
		}
		var mu sync.Mutex
		count := 0
		if err := g.Sweep(context.Background(), 0, func(i, _ int, rows [][]float64) {
			mu.Lock()
			defer mu.Unlock()
			if count++; rows[0][i] != 1 {
				t.Errorf("K_%d,%d is %v", i, i, rows[0][i])
			}
		}); err != nil || count != n {
			t.Error(count, err)
		}
	}
}

func BenchmarkSweep(b *testing.B) {
	for _, n := range []int{2000, 5000} {
		for _, cache := range []int64{0, kernels.NoCache} {
			for _, lower := range []bool{true, false} {
				b.Run(fmt.Sprintf("%d/cache=%d/lower=%v", n, cache, lower), func(b *testing.B) {
					x := toy.Normal(1, n, 8)
					for b.Loop() {
						g := mustGram(b, kernels.RBF(0.1), x, cache)
						if err := g.Sweep(context.Background(), height(lower), func(int, int, [][]float64) {}); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
