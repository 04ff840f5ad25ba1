package kernels_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/svmnb/svmnb/internal/toy"
	"github.com/svmnb/svmnb/kernels"
)

// What is summed at once, from rows that are held or from the points, sparse or
// not, for all points or some, is what rows one by one give.
func TestAddTo(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		for _, c := range []struct {
			name  string
			k     kernels.Kernel
			d     int
			cache int64
		}{
			{"computed anew", kernels.RBF(0.2), 5, 0},
			{"a scale", kernels.Scale(3, kernels.RBF(0.2)), 5, 0},
			{"held", kernels.RBF(0.002), 120, 0},
			{"no room", kernels.RBF(0.002), 120, kernels.NoCache},
			{"a sum", kernels.Sum(kernels.Linear(), kernels.RBF(0.3)), 4, 0},
			{"no formula", kernels.Laplacian(0.3), 4, 0},
			{"no formula, no room", kernels.Laplacian(0.3), 4, kernels.NoCache},
		} {
			t.Run(c.name, func(t *testing.T) {
				x := toy.Normal(17, 300, c.d)
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
					g.Among(among, idx, nil, nil)
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
						_ = g.AddTo(context.Background(), dst, nil, on, idx, coef, false)
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

// What is known among points is taken over, and is what it would be anew, to the bit.
func TestAmongKnows(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		for _, c := range []struct {
			name string
			k    kernels.Kernel
			x    [][]float64
			dear bool
		}{
			{"Gaussian", kernels.RBF(0.2), toy.Normal(23, 900, 5), false},
			{"many features", kernels.RBF(0.002), toy.Normal(23, 900, 120), true},
			{"mostly zero", kernels.RBF(0.01), thin(toy.Normal(23, 900, 1000), 0.12), true},
			{"a sum", kernels.Sum(kernels.Polynomial(2, 0.1, 1), kernels.RBF(0.003)), toy.Normal(23, 900, 100), true},
			{"double precision", kernels.RBF(3), toy.Normal(23, 900, 100), true},
			{"no formula", kernels.Laplacian(0.3), toy.Normal(23, 900, 4), false},
		} {
			t.Run(c.name, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(6, 7))
				g := mustGram(t, c.k, c.x, 0)
				var was []float32
				var of []int
				for _, q := range []int{1, 40, 300, 301, 300, 800, 810, 150} {
					idx := rng.Perm(900)[:q]
					for k := range min(q, len(of)) { // about half of them stay, some where they were
						if rng.IntN(2) == 0 && !slices.Contains(idx, of[k]) {
							idx[k] = of[k]
						}
					}
					if q > 200 { // and some are there twice
						copy(idx[q-50:], idx[:50])
					}
					stay, left := 0, slices.Clone(of)
					for _, i := range idx {
						if at := slices.Index(left, i); at >= 0 && c.dear {
							stay, left[at] = stay+1, -1
						}
					}
					before := g.Evaluations()
					dst, anew := make([]float32, q*q), make([]float32, q*q)
					g.Among(dst, idx, was, of)
					if cost := int(g.Evaluations() - before); g.InBlocks() && cost != (q-stay)*q {
						t.Errorf("%d evaluations for %d points, of which %d are known", cost, q, stay)
					}
					g.Among(anew, idx, nil, nil)
					if !slices.Equal(dst, anew) {
						t.Fatalf("%d points, of which %d are known, have other values than anew", q, stay)
					}
					was, of = dst, idx
				}
			})
		}
	})
}

// Sums do not depend on the number of goroutines, nor on which points are asked.
func TestAddToIsDeterministic(t *testing.T) {
	for _, c := range []struct{ d, fusedFrom int }{{6, 0}, {6, math.MaxInt}, {100, math.MaxInt}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			defer kernels.SetFusedFrom(kernels.SetFusedFrom(c.fusedFrom))
			d := c.d
			x := toy.Normal(18, 700, d)
			idx, coef := rand.New(rand.NewPCG(3, 4)).Perm(700)[:200], make([]float64, 200)
			for k := range coef {
				coef[k] = 1 / float64(k+1)
			}
			sums := func(on []int) []float64 {
				dst := make([]float64, 700)
				if on != nil {
					dst = dst[:len(on)]
				}
				_ = mustGram(t, kernels.RBF(1/float64(d)), x, 0).AddTo(context.Background(), dst, nil, on, idx, coef, false)
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

func scaledBy(c float64, x [][]float64) [][]float64 {
	for _, row := range x {
		for j := range row {
			row[j] *= c
		}
	}
	return x
}

// No value is beyond Largest, whatever kernels are inside of which, and it is not far beyond the
// largest value.
func TestLargestBoundsValues(t *testing.T) {
	for _, x := range [][][]float64{toy.Normal(5, 40, 4), scaledBy(100, toy.Normal(6, 40, 4)), thin(toy.Normal(7, 700, 4), 0.3)} {
		d := kernels.Distance(kernels.Linear())
		for _, k := range []kernels.Kernel{
			kernels.RBF(0.3), kernels.Linear(), kernels.Laplacian(1), d, kernels.Scale(2, d), kernels.Sum(kernels.RBF(1), d), kernels.Sum(kernels.Linear(), kernels.Scale(0.1, d)),
			kernels.Product(kernels.Linear(), d), kernels.Product(d, d), kernels.Distance(d), kernels.Columns(d, 0, 2), kernels.Sum(kernels.Columns(d, 1), kernels.Columns(kernels.RBF(1), 2)),
			kernels.Centred(kernels.Sum(kernels.RBF(1), d), x), kernels.Normalised(kernels.Sum(kernels.Constant(3), kernels.Scale(0.01, d))), kernels.Sigmoid(0.1, -1), kernels.Sum(kernels.Sigmoid(0.1, -1), kernels.RBF(1)),
			kernels.Named("a", kernels.Sum(d, kernels.RBF(1))), kernels.Fixed(kernels.Sum(d, kernels.RBF(1))),
		} {
			g := mustGram(t, k, x, 0)
			size, most := g.Largest(), 0.0
			for i := range g.Dim() {
				for _, v := range g.Row(i) {
					most = max(most, math.Abs(v))
				}
			}
			if !(most <= size*(1+1e-12)) {
				t.Errorf("%.60v: the largest value is %v, and at most %v by Largest", k, most, size)
			}
			if !(size <= 40*most) {
				t.Errorf("%.60v: the largest value is %v, and Largest is %v", k, most, size)
			}
		}
	}
}

// What rounding moves a sum by is within the bound, wherever the points are, and the
// bound is worth having.
func TestAddToBounds(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		for _, c := range []struct {
			name  string
			k     kernels.Kernel
			x     [][]float64
			cache int64
			loose float64 // of Σ|coef|·max K at most
		}{
			{"computed anew", kernels.RBF(0.2), toy.Normal(19, 300, 5), 0, 1e-5},
			{"moved", kernels.RBF(0.2), moved(toy.Normal(19, 300, 5), 1000), 0, 1e-5},
			{"held", kernels.RBF(0.002), toy.Normal(19, 300, 300), 0, 1e-3},
			{"mostly zero", kernels.RBF(0.01), thin(toy.Normal(19, 300, 200), 0.1), kernels.NoCache, 1e-4},
			{"far apart", kernels.RBF(1), toy.Normal(19, 300, 5), 0, 1e-4},
			{"a product", kernels.Product(kernels.RBF(0.1), kernels.RBF(0.2)), toy.Normal(19, 300, 5), 0, 1e-4},
			{"a diagonal of 0", kernels.Distance(kernels.RBF(0.2)), toy.Normal(19, 300, 5), 0, 1e-4},
			{"a distance in a sum", kernels.Sum(kernels.Distance(kernels.Linear()), kernels.RBF(0.2)), scaledBy(1000, toy.Normal(19, 300, 5)), 0, 1e-4},
			{"a distance in a scale", kernels.Scale(3, kernels.Distance(kernels.RBF(0.2))), toy.Normal(19, 300, 5), 0, 1e-3},
			{"a distance in a product", kernels.Product(kernels.RBF(1e-9), kernels.Distance(kernels.Linear())), scaledBy(1000, toy.Normal(19, 300, 5)), 0, 1e-3},
			{"a distance of columns", kernels.Columns(kernels.Distance(kernels.Linear()), 1, 2), scaledBy(1000, toy.Normal(19, 300, 5)), 0, 1e-3},
			{"a distance of a distance", kernels.Distance(kernels.Sum(kernels.Distance(kernels.Linear()), kernels.RBF(1))), scaledBy(1000, toy.Normal(19, 300, 5)), 0, 1e-3},
			{"a sigmoid with a small diagonal", kernels.Sigmoid(0.3, -3), toy.Normal(19, 300, 5), 0, 1e-3},
			{"no formula", kernels.Laplacian(0.3), toy.Normal(19, 300, 5), 0, 1e-4},
		} {
			t.Run(c.name, func(t *testing.T) {
				g, exact := mustGram(t, c.k, c.x, c.cache), mustGram(t, c.k, c.x, 0)
				idx, coef, sum := make([]int, 200), make([]float64, 200), 0.0
				for k := range idx {
					idx[k], coef[k] = k, float64(k%7)-2.5
					sum += math.Abs(coef[k])
				}
				on := []int{299, 250, 7, 201}
				dst, slack := make([]float64, len(on)), make([]float64, len(on))
				_ = g.AddTo(context.Background(), dst, slack, on, idx, coef, false)
				for r, i := range on {
					want := 0.0
					for k, j := range idx {
						want += coef[k] * exact.Row(i)[j]
					}
					if off := math.Abs(dst[r] - want); !(off <= slack[r]) {
						t.Errorf("the sum at %d is %v, want %v: off by %g, bound %g", i, dst[r], want, off, slack[r])
					}
					if !(slack[r] <= c.loose*sum*largest(exact)) {
						t.Errorf("the bound at %d is %g of %g", i, slack[r], sum)
					}
				}
			})
		}
	})
}

// Where both lists are one, an exact sum takes each pair once, and does not depend on the
// number of goroutines.
func TestAddToTakesPairsOnce(t *testing.T) {
	t.Run("stored", testAddToTakesPairsOnce)
	defer kernels.SetFusedFrom(kernels.SetFusedFrom(0))
	t.Run("fused", testAddToTakesPairsOnce)
}

func testAddToTakesPairsOnce(t *testing.T) {
	const n, part = 1100, 1024
	x := toy.Normal(20, n, 4)
	idx, coef := rand.New(rand.NewPCG(8, 9)).Perm(n), toy.Normal(1, 1, n)[0]
	coefOf := make([]float64, n)
	for k, i := range idx {
		coefOf[i] = coef[k]
	}
	for _, k := range []kernels.Kernel{kernels.RBF(0.2), kernels.Scale(0.5, kernels.RBF(0.2)), kernels.Sum(kernels.RBF(0.2), kernels.Linear()), kernels.Laplacian(1)} {
		g := mustGram(t, k, x, kernels.NoCache)
		sums := func(on []int) (dst []float64, evaluations int64) {
			dst = slices.Clone(coef)
			before := g.Evaluations()
			if err := g.AddTo(t.Context(), dst, nil, on, idx, coef, true); err != nil {
				t.Fatal(err)
			}
			return dst, g.Evaluations() - before
		}
		got, once := sums(idx)
		want, twice := sums(slices.Clone(idx))
		for r := range got {
			rows := coef[r]
			for k, v := range g.Row(idx[r]) {
				rows += coefOf[k] * v
			}
			if !(math.Abs(got[r]-want[r]) <= 1e-10*largest(g)*n && math.Abs(got[r]-rows) <= 1e-10*largest(g)*n) {
				t.Fatalf("%v: the sum at %d is %v, want %v, and %v from rows", k, r, got[r], want[r], rows)
			}
		}
		if g.InBlocks() && (once != part*part+part*(n-part)+(n-part)*(n-part) || twice != n*n) {
			t.Errorf("%v: %d evaluations, each pair twice %d", k, once, twice)
		}
		before := runtime.GOMAXPROCS(1)
		alone, _ := sums(idx)
		runtime.GOMAXPROCS(before)
		if !slices.Equal(alone, got) {
			t.Errorf("%v: one goroutine has other bits", k)
		}
	}
}

// A sum ends with its context.
func TestAddToEnds(t *testing.T) {
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	g := mustGram(t, kernels.RBF(1), toy.Normal(1, 50, 2), 0)
	before := g.Evaluations()
	for _, exact := range []bool{false, true} {
		if err := g.AddTo(ctx, make([]float64, 50), nil, nil, []int{3}, []float64{1}, exact); err != gone || g.Evaluations() != before {
			t.Errorf("exact %v: %v after %d evaluations", exact, err, g.Evaluations()-before)
		}
	}
}

// Very many points are taken in stretches. The sums are those of short lists of points.
func TestAddToInStretches(t *testing.T) {
	const n, vectors = 70_000, 700
	rng := rand.New(rand.NewPCG(3, 4))
	x := make([][]float64, n)
	for i := range x {
		x[i] = []float64{rng.NormFloat64(), rng.NormFloat64()}
	}
	g, err := kernels.NewGram(kernels.RBF(0.5), x, 0)
	if err != nil {
		t.Fatal(err)
	}
	idx, coef, every := make([]int, vectors), make([]float64, vectors), make([]int, n)
	for k := range idx {
		idx[k], coef[k] = k*97, rng.NormFloat64()
	}
	for i := range every {
		every[i] = i
	}
	add := func(on []int, m int) []float64 {
		dst := make([]float64, m)
		if err := g.AddTo(t.Context(), dst, nil, on, idx, coef, false); err != nil {
			t.Fatal(err)
		}
		return dst
	}
	before := g.Evaluations()
	all := add(nil, n)
	if count := g.Evaluations() - before; count != n*vectors {
		t.Errorf("%d kernel values, want %d", count, n*vectors)
	}
	listed := add(every, n)
	parts := append(add(every[:n/3], n/3), add(every[n/3:], n-n/3)...)
	for i, v := range all {
		if listed[i] != v {
			t.Fatalf("point %d: %g in a list of all, %g without", i, listed[i], v)
		}
		if math.Abs(parts[i]-v) > 1e-11 {
			t.Fatalf("point %d: %g in parts, %g", i, parts[i], v)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.AddTo(ended, make([]float64, n), nil, nil, idx, coef, false); !errors.Is(err, context.Canceled) {
		t.Errorf("the error of an ended context is %v", err)
	}
}

// Errors of values in single precision look random. If most of an error were a product of one number for each of
// the two points, for example of their last bits, errors would add up in sums of many values.
func TestErrorsLookRandom(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		for name, k := range map[string]kernels.Kernel{
			"RBF": kernels.RBF(0.4), "scaled": kernels.Scale(3, kernels.RBF(0.4)), "sum": kernels.Sum(kernels.RBF(0.4), kernels.RBF(0.1)),
			"Matérn": kernels.Matern32(2), "rational quadratic": kernels.RationalQuadratic(1, 2),
		} {
			const n, d = 300, 4
			x := toy.Normal(23, 2*n, d)
			for i, p := range x { // two narrow clouds that are far from each other
				for f := range p {
					p[f] = 0.05*p[f] + 0.6*float64(1-2*(i%2))
				}
			}
			idx := make([]int, n)
			for k := range idx {
				idx[k] = 2 * k
			}
			g, among := mustGram(t, k, x, 0), make([]float32, n*n)
			g.Among(among, idx, nil, nil)
			values, sums := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
			for r, i := range idx {
				sum := make([]float64, n)
				if err := g.AddTo(context.Background(), sum, nil, idx, []int{i}, []float64{1}, false); err != nil {
					t.Fatal(err)
				}
				for c, j := range idx {
					want := k.Eval(x[i], x[j])
					values.Set(r, c, float64(among[r*n+c])-want)
					sums.Set(r, c, sum[c]-want)
				}
			}
			for what, e := range map[string]*mat.Dense{"values": values, "sums": sums} {
				// Means of rows and columns come from the norms of single points. They change K like a
				// factor for each point.
				for range 2 {
					for r := range n {
						row := e.RawRowView(r)
						mean := floats.Sum(row) / n
						floats.AddConst(-mean, row)
					}
					e.CloneFrom(e.T())
				}
				var svd mat.SVD
				if !svd.Factorize(e, mat.SVDNone) {
					t.Fatal("no singular values")
				}
				if share := svd.Values(nil)[0] / mat.Norm(e, 2); !(share <= 0.2) {
					t.Errorf("%s, %s: one function of the points makes %.2f of the errors", name, what, share)
				}
			}
		}
	})
}
