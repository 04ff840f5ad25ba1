package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// cholesky overwrites the lower triangle of a, n × n, with L, L·Lᵀ = a: block by
// block of columns, right-looking, as Golub and Van Loan (2013), Section 4.2.9.
// It is here to show that the products serve for it.
func cholesky(a []float64, n, block int) {
	var panels Panels[float64]
	inverse := make([]float64, block*block)
	view := func(i, j, rows, cols int) Matrix[float64] {
		return Matrix[float64]{Data: a[i*n+j:], Rows: rows, Cols: cols, Stride: n}
	}
	for k := 0; k < n; k += block {
		m := min(block, n-k)
		for i := range m {
			row := a[(k+i)*n+k:][:i+1]
			for j := range i {
				row[j] = (row[j] - Dot(row[:j], a[(k+j)*n+k:][:j])) / a[(k+j)*n+k+j]
			}
			row[i] = math.Sqrt(row[i] - Dot(row[:i], row[:i]))
		}
		rest := n - k - m
		if rest == 0 {
			return
		}
		// The inverse of the diagonal block, transposed, column by column.
		clear(inverse)
		for c := range m {
			x := inverse[c*m:][:m]
			x[c] = 1 / a[(k+c)*n+k+c]
			for i := c + 1; i < m; i++ {
				x[i] = -Dot(a[(k+i)*n+k+c:][:i-c], x[c:i]) / a[(k+i)*n+k+i]
			}
		}
		below := view(k+m, k, rest, m)
		panels.Pack(Matrix[float64]{Data: inverse, Rows: m, Cols: m, Stride: m}, 0)
		Gemm[float64]{}.Do(below, below, &panels)
		panels.Pack(below.T(), 0)
		Gemm[float64]{Add: true, Minus: true, Lower: true}.Do(view(k+m, k+m, rest, rest), below, &panels)
	}
}

// kernelMatrix is that of the Gaussian kernel over n points with noise on the
// diagonal.
func kernelMatrix(rng *rand.Rand, n int) []float64 {
	const d = 8
	x := random[float64](rng, n*d)
	norms := make([]float64, n)
	for i := range norms {
		norms[i] = Dot(x[i*d:][:d], x[i*d:][:d])
	}
	points := Matrix[float64]{Data: x, Rows: n, Cols: d, Stride: d}
	k := Matrix[float64]{Data: make([]float64, n*n), Rows: n, Cols: n, Stride: n}
	var p Panels[float64]
	p.Pack(points.T(), 0)
	Gemm[float64]{Then: func(i, j int, c []float64) { Gaussian(c, norms[i], norms[j:], 0.1) }}.Do(k, points, &p)
	for i := range n {
		k.Data[i*n+i] += 0.01
	}
	return k.Data
}

func TestCholesky(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for _, n := range []int{1, 31, 32, 33, 200, 307} {
			a := kernelMatrix(rand.New(rand.NewPCG(25, 26)), n)
			l := append([]float64(nil), a...)
			cholesky(l, n, 32)
			for i := range n {
				for j := range i + 1 {
					if got := Dot(l[i*n:][:j+1], l[j*n:][:j+1]); !(math.Abs(got-a[i*n+j]) <= 1e-13) {
						t.Fatalf("n = %d: entry %d, %d of L·Lᵀ is %v, want %v", n, i, j, got, a[i*n+j])
					}
				}
				for j := i + 1; j < n; j++ {
					if l[i*n+j] != a[i*n+j] {
						t.Fatalf("n = %d: entry %d, %d above the diagonal was written", n, i, j)
					}
				}
			}
		}
	})
}

func BenchmarkCholesky(b *testing.B) {
	for _, n := range []int{2000, 5000} {
		a := kernelMatrix(rand.New(rand.NewPCG(25, 26)), n)
		l := make([]float64, n*n)
		for _, block := range []int{96, 192} {
			b.Run(fmt.Sprintf("%d/%d", n, block), func(b *testing.B) {
				for b.Loop() {
					copy(l, a)
					cholesky(l, n, block)
				}
				b.ReportMetric(float64(n)*float64(n)*float64(n)/3*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}
