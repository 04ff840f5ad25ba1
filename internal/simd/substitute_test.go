package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomTriangle has NaN above the diagonal.
func randomTriangle[T Float](rng *rand.Rand, n int) Matrix[T] {
	l := randomMatrix[T](rng, n, n, false)
	for i := range n {
		row := l.Data[i*l.Stride:][:n]
		row[i] = T(2+math.Abs(float64(row[i]))) * T(1+n/8)
		for j := i + 1; j < n; j++ {
			row[j] = T(math.NaN())
		}
	}
	return l
}

// substituted returns x·L⁻ᵀ or, if back, x·L⁻¹, for one row.
func substituted[T Float](x []T, l Matrix[T], back bool) []float64 {
	n := l.Rows
	y := make([]float64, n)
	for step := range n {
		j := step
		if back {
			j = n - 1 - step
		}
		y[j] = float64(x[j])
		for known := range step {
			if back {
				k := n - 1 - known
				y[j] -= l.entry(k, j) * y[k]
			} else {
				y[j] -= l.entry(j, known) * y[known]
			}
		}
		y[j] /= l.entry(j, j)
	}
	return y
}

func testSubstitution[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	for trial := range 300 {
		n, rows, back := 1+rng.IntN(70), rng.IntN(40), trial%2 == 0
		if trial%3 == 0 {
			n = 8 * (1 + rng.IntN(8))
		}
		l, x := randomTriangle[T](rng, n), randomMatrix[T](rng, rows, n, false)
		was, solve := slices.Clone(x.Data), Forward[T]
		if back {
			solve = Backward[T]
		}
		solve(x, l)
		for i := range rows {
			at := i * x.Stride
			want := substituted(was[at:at+n], l, back)
			for j, w := range want {
				if got := float64(x.Data[at+j]); !(math.Abs(got-w) <= 4*unit[T]()*math.Abs(w)+1e-13) {
					t.Fatalf("n = %d, back %v: entry %d, %d of %d rows is %v, want %v", n, back, i, j, rows, got, w)
				}
			}
			if end := at + x.Stride; end <= len(was) && !slices.Equal(x.Data[at+n:end], was[at+n:end]) {
				t.Fatalf("n = %d: row %d was written behind its end", n, i)
			}
			alone := Matrix[T]{Data: slices.Clone(was[at : at+n]), Rows: 1, Cols: n, Stride: n}
			solve(alone, l)
			if !slices.Equal(alone.Data, x.Data[at:at+n]) {
				t.Fatalf("n = %d, back %v: row %d alone is another than among %d", n, back, i, rows)
			}
		}
	}
}

func TestSubstitution(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("f64", testSubstitution[float64])
		t.Run("f32", testSubstitution[float32])
	})
}

// Forward and Backward of 96 rows by a triangle of 64.
func BenchmarkSubstitution(b *testing.B) {
	b.Run("f64", benchSubstitution[float64])
	b.Run("f32", benchSubstitution[float32])
}

func benchSubstitution[T Float](b *testing.B) {
	const rows, n = 96, 64
	rng := rand.New(rand.NewPCG(1, 2))
	l, x := randomTriangle[T](rng, n), randomMatrix[T](rng, rows, n, false)
	was := slices.Clone(x.Data)
	for level := Best(); level >= Portable; level-- {
		for i, solve := range []func(x, l Matrix[T]){Forward[T], Backward[T]} {
			b.Run(fmt.Sprintf("%v/%s", level, []string{"forward", "backward"}[i]), func(b *testing.B) {
				defer SetLevel(SetLevel(level))
				for b.Loop() {
					copy(x.Data, was) // else it ends in zeros
					solve(x, l)
				}
				b.ReportMetric(rows*n*n*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}
