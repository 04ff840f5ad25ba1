package chol

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/internal/toy"
)

// covariance is K of the Gaussian kernel over n points of d features with noise 0.01
// on the diagonal, by rows.
func covariance(n, d int) simd.Matrix[float64] {
	rng := toy.Rand(uint64(n))
	x, norms := make([]float64, n*d), make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	points := simd.Matrix[float64]{Data: x, Rows: n, Cols: d, Stride: d}
	for i := range norms {
		norms[i] = simd.Dot(x[i*d:][:d], x[i*d:][:d])
	}
	a := simd.Matrix[float64]{Data: make([]float64, n*n), Rows: n, Cols: n, Stride: n}
	var p simd.Panels[float64]
	p.Pack(points.T(), 0)
	simd.Gemm[float64]{Then: func(i, j int, c []float64) { simd.Gaussian(c, norms[i], norms[j:], 0.1) }}.Do(a, points, &p)
	for i := range n {
		a.Data[i*n+i] += 0.01
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

func lower[T simd.Float](b *testing.B, a simd.Matrix[float64]) {
	n := a.Rows
	l := New[T](n)
	threads(b, func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			l.Reset(n)
			for i := range n {
				l.SetRow(i, a.Data[i*n:][:n])
			}
			b.StartTimer()
			if p, err := l.Factor(context.Background()); p < n || err != nil {
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
					if _, err := f.Inverse(context.Background()); err != nil {
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
	single := New[float32](n)
	for i := range n {
		single.SetRow(i, a.Data[i*n:][:n])
	}
	if _, err := single.Factor(context.Background()); err != nil {
		b.Fatal(err)
	}
	x := make([][]float64, 100)
	for j := range x {
		x[j] = slices.Repeat([]float64{1}, n)
	}
	b.Run("f64/1", func(b *testing.B) {
		threads(b, func(b *testing.B) {
			for b.Loop() {
				f.Forward(x[0])
				f.Backward(x[0])
			}
		})
	})
	b.Run("f32/1", func(b *testing.B) {
		threads(b, func(b *testing.B) {
			for b.Loop() {
				single.Forward(x[0])
				single.Backward(x[0])
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

// factorOf is the factor of a matrix.
func factorOf(t testing.TB, a simd.Matrix[float64]) *Panels[float64] {
	n := a.Rows
	l := New[float64](n)
	for i := range n {
		l.SetRow(i, a.Data[i*n:][:n])
	}
	if p, err := l.Factor(context.Background()); p < n || err != nil {
		t.Fatal(p, err)
	}
	return l
}
