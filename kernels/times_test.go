package kernels

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/svmnb/svmnb/internal/toy"
)

// vectors returns q vectors of n numbers.
func vectors(q, n int) [][]float64 {
	x := make([][]float64, q)
	for m := range x {
		x[m] = make([]float64, n)
		for i := range x[m] {
			x[m][i] = math.Sin(float64(3*i+m)) + 0.1
		}
	}
	return x
}

// TestTimes: Times gives the products with the rows of Row, for all sizes around those of its
// strips, for few vectors and for many, and where values of a Gaussian kernel stay in registers.
func TestTimes(t *testing.T) {
	t.Run("stored", testTimes)
	defer SetFusedFrom(SetFusedFrom(0))
	t.Run("fused", testTimes)
}

func testTimes(t *testing.T) {
	ctx := context.Background()
	for _, k := range []Kernel{RBF(0.3), Matern32(1.5), Matern52(2), Scale(3, Matern32(1)), Scale(0.5, RBF(0.2)), Sum(RBF(0.1), Linear()), ARD(0.2, 0.4, 1)} {
		for _, n := range []int{512, 640, 767, 769, 1000, 1537} {
			points, _ := toy.Points(toy.Rand(uint64(n)), n, 3, 1)
			for _, q := range []int{1, 3, 8, 11} {
				g, err := NewGram(k, points, NoCache)
				if err != nil {
					t.Fatal(err)
				}
				x, y := vectors(q, n), vectors(q, n)
				before := g.Evaluations()
				if done, err := g.Times(ctx, y, x); !done || err != nil {
					t.Fatalf("%v, n = %d, q = %d: %v, %v", k, n, q, done, err)
				}
				most := n * (n + 1) / 2
				if fusedFrom == 0 && q == 1 {
					most += n * exactPart / 2 // of pairs in the squares on the diagonal
				}
				if values := g.Evaluations() - before; values < int64(n*(n+1)/2) || values > int64(most) {
					t.Errorf("%v, n = %d: %d values", k, n, values)
				}
				for _, i := range []int{0, 1, 127, 128, n / 2, n - 1} {
					row := g.Row(i)
					for m := range x {
						want, size := 0.0, 0.0
						for j, v := range row {
							want += v * x[m][j]
							size += math.Abs(v * x[m][j])
						}
						if !(math.Abs(y[m][i]-want) <= 1e-11*size) {
							t.Fatalf("%v, n = %d, q = %d: y_%d,%d = %v, want %v", k, n, q, m, i, y[m][i], want)
						}
					}
				}
			}
		}
	}
}

// TestTimesSame: the bits do not depend on the number of goroutines.
func TestTimesSame(t *testing.T) {
	defer SetFusedFrom(SetFusedFrom(0))
	const n = 1500
	points, _ := toy.Points(toy.Rand(1), n, 4, 1)
	for _, c := range []struct {
		k Kernel
		q int
	}{{RBF(1), 1}, {Matern52(1), 2}, {Matern52(1), 9}} {
		q := c.q
		var all [][][]float64
		for _, procs := range []int{1, 3} {
			old := runtime.GOMAXPROCS(procs)
			g, err := NewGram(c.k, points, NoCache)
			if err != nil {
				t.Fatal(err)
			}
			y := vectors(q, n)
			_, err = g.Times(context.Background(), y, vectors(q, n))
			runtime.GOMAXPROCS(old)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, y)
		}
		for m := range all[0] {
			if !slices.Equal(all[0][m], all[1][m]) {
				t.Errorf("q = %d: other bits on other goroutines", q)
			}
		}
	}
}

// TestTimesNot: Times leaves to Sweep what products of matrices do not give, and ends with its
// context.
func TestTimesNot(t *testing.T) {
	points, _ := toy.Points(toy.Rand(1), 600, 2, 1)
	for name, g := range map[string]func() (*Gram, error){
		"few points":     func() (*Gram, error) { return NewGram(RBF(1), points[:100], NoCache) },
		"rows are kept":  func() (*Gram, error) { return NewGram(RBF(1), points, 0) },
		"no dot product": func() (*Gram, error) { return NewGram(Laplacian(1), points, NoCache) },
	} {
		k, err := g()
		if err != nil {
			t.Fatal(err)
		}
		x := vectors(1, k.Dim())
		if done, err := k.Times(context.Background(), vectors(1, k.Dim()), x); done || err != nil {
			t.Errorf("%s: %v, %v", name, done, err)
		}
		if done, err := k.Times(context.Background(), nil, nil); done || err != nil {
			t.Errorf("%s, no vectors: %v, %v", name, done, err)
		}
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	cancel(why)
	k, err := NewGram(RBF(1), points, NoCache)
	if err != nil {
		t.Fatal(err)
	}
	if done, err := k.Times(ctx, nil, nil); !done || err != nil {
		t.Errorf("no vectors: %v, %v", done, err)
	}
	if _, err := k.Times(ctx, vectors(1, 600), vectors(1, 600)); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
}

func BenchmarkProducts(b *testing.B) {
	const n = 8192
	points, _ := toy.Points(toy.Rand(1), n, 8, 1)
	for _, k := range []Kernel{RBF(0.1), Matern32(2)} {
		for _, q := range []int{1, 16, 96} {
			g, err := NewGram(k, points, NoCache)
			if err != nil {
				b.Fatal(err)
			}
			x, y := vectors(q, n), vectors(q, n)
			b.Run(fmt.Sprintf("%v/%d", k, q), func(b *testing.B) {
				for b.Loop() {
					if _, err := g.Times(context.Background(), y, x); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(n)*n/2*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mvalues/s")
			})
		}
	}
}
