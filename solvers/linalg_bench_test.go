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
func covariance(n, d int) array {
	rng := newRand(uint64(n))
	x, norms := make([]float64, n*d), make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	points := rectangle{Data: x, Rows: n, Cols: d, Stride: d}
	for i := range norms {
		norms[i] = simd.Dot(x[i*d:][:d], x[i*d:][:d])
	}
	a := array{make([]float64, n*n), n}
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
		a := covariance(n, 8)
		b.Run(fmt.Sprintf("f64/%d", n), func(b *testing.B) { lower[float64](b, a) })
		b.Run(fmt.Sprintf("f32/%d", n), func(b *testing.B) { lower[float32](b, a) })
	}
}

func lower[T simd.Float](b *testing.B, a array) {
	n := a.stride
	l := newPanels[T](n)
	threads(b, func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			l.reset(n)
			for i := range n {
				l.setRow(i, a.row(i, n))
			}
			b.StartTimer()
			if p, err := l.lower(context.Background()); p < n || err != nil {
				b.Fatal(p, err)
			}
		}
		b.ReportMetric(float64(n)*float64(n)*float64(n)/3*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
	})
}

func BenchmarkInverse(b *testing.B) {
	for _, n := range []int{2000, 5000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			f := factorOf(b, covariance(n, 8))
			threads(b, func(b *testing.B) {
				for b.Loop() {
					if _, err := f.InverseLower(context.Background()); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(2*float64(n)*float64(n)*float64(n)/3*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		})
	}
}

// BenchmarkSolve: one vector, whose solution reads L twice, and a hundred.
func BenchmarkSolve(b *testing.B) {
	const n = 5000
	a := covariance(n, 8)
	f := factorOf(b, a)
	single := newPanels[float32](n)
	for i := range n {
		single.setRow(i, a.row(i, n))
	}
	if _, err := single.lower(context.Background()); err != nil {
		b.Fatal(err)
	}
	x := make([][]float64, 100)
	for j := range x {
		x[j] = fill(n, 1)
	}
	b.Run("f64/1", func(b *testing.B) {
		threads(b, func(b *testing.B) {
			for b.Loop() {
				f.Solve(x[0], x[0])
			}
		})
	})
	b.Run("f32/1", func(b *testing.B) {
		threads(b, func(b *testing.B) {
			for b.Loop() {
				single.forward(x[0])
				single.backward(x[0])
			}
		})
	})
	b.Run("f64/100", func(b *testing.B) {
		threads(b, func(b *testing.B) {
			for b.Loop() {
				if err := f.SolveAll(context.Background(), x); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
}

// factorOf is the factor of an array.
func factorOf(t testing.TB, a array) *CholeskyFactor {
	n := a.stride
	l := newPanels[float64](n)
	for i := range n {
		l.setRow(i, a.row(i, n))
	}
	if p, err := l.lower(context.Background()); p < n || err != nil {
		t.Fatal(p, err)
	}
	return &CholeskyFactor{n: n, l: l}
}
