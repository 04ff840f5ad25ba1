package solvers

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/svmnb/svmnb/internal/simd"
)

// covariance is K of the Gaussian kernel over n points of d features with noise 0.01
// on the diagonal, by rows.
func covariance(n, d int) array[float64] {
	rng := newRand(uint64(n))
	x, norms := make([]float64, n*d), make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	points := rectangle{Data: x, Rows: n, Cols: d, Stride: d}
	for i := range norms {
		norms[i] = simd.Dot(x[i*d:][:d], x[i*d:][:d])
	}
	a := array[float64]{make([]float64, n*n), n}
	var p simd.Panels[float64]
	p.Pack(points.T(), 0)
	simd.Gemm[float64]{Then: func(i, j int, c []float64) { simd.Gaussian(c, norms[i], norms[j:], 0.1) }}.Do(a.block(0, n, 0, n), points, &p)
	for i := range n {
		a.data[i*n+i] += 0.01
	}
	return a
}

func threads(b *testing.B, run func(b *testing.B)) {
	for _, t := range []int{1, 2} {
		b.Run(fmt.Sprintf("threads=%d", t), func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(t))
			run(b)
		})
	}
}

func BenchmarkLower(b *testing.B) {
	for _, n := range []int{1000, 2000, 5000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			a := covariance(n, 8)
			l := array[float64]{make([]float64, n*n), n}
			threads(b, func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					copy(l.data, a.data)
					b.StartTimer()
					if p, err := l.lower(context.Background(), n); p < n || err != nil {
						b.Fatal(p, err)
					}
				}
				b.ReportMetric(float64(n)*float64(n)*float64(n)/3*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		})
	}
}

func BenchmarkInverse(b *testing.B) {
	for _, n := range []int{2000, 5000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			a := covariance(n, 8)
			if p, err := a.lower(context.Background(), n); p < n || err != nil {
				b.Fatal(p, err)
			}
			f := &CholeskyFactor{n: n, l: a}
			threads(b, func(b *testing.B) {
				for b.Loop() {
					if _, err := f.Inverse(context.Background()); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(2*float64(n)*float64(n)*float64(n)/3*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		})
	}
}
