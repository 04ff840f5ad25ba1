package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestGaussians: sums that do not store their values against Gemm, Gaussian and AddRows.
func TestGaussians(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("f64", testGaussians[float64])
		t.Run("f32", testGaussians[float32])
	})
}

func testGaussians[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	norms := func(x Matrix[T]) (double []float64, single []T) {
		for i := range x.Rows {
			sum := 0.0
			for _, v := range x.Data[i*x.Stride:][:x.Cols] {
				sum += float64(v) * float64(v)
			}
			double, single = append(double, sum), append(single, T(sum))
		}
		return double, single
	}
	for _, size := range []struct{ rows, columns, depth int }{{1, 1, 1}, {7, 47, 3}, {8, 48, 4}, {9, 49, 5}, {128, 768, 20}, {130, 100, 33}, {16, 96, depthBlock}, {16, 96, depthBlock + 1}, {16, 96, 0}} {
		x := Matrix[T]{Data: random[T](rng, size.rows*size.depth), Rows: size.rows, Cols: size.depth, Stride: size.depth}
		z := Matrix[T]{Data: guarded[T](t, size.columns*size.depth, false), Rows: size.columns, Cols: size.depth, Stride: size.depth}
		copy(z.Data, random[T](rng, len(z.Data)))
		norm, left := norms(x)
		_, right := norms(z)
		for _, gamma := range []T{0.01, 1, 300} {
			weight, sums := random[float64](rng, size.rows), guarded[float64](t, size.columns, false)
			copy(sums, random[float64](rng, size.columns))
			var b Panels[T]
			b.Pack(z.T(), 1)
			var g Gaussians[T]
			ok := g.Set(x, norm, weight, gamma)
			if should := loops[T]().gaussianSums != nil && size.depth > 0 && size.depth <= depthBlock; ok != should {
				t.Fatalf("%v: Set reports %t", size, ok)
			} else if !ok {
				continue
			}
			want := append([]float64(nil), sums...)
			values := Matrix[T]{Data: make([]T, size.rows*size.columns), Rows: size.rows, Cols: size.columns, Stride: size.columns}
			Gemm[T]{Threads: 1}.Do(values, x, &b)
			var rows [][]T
			for i := range size.rows {
				row := values.Data[i*size.columns:][:size.columns]
				Gaussian(row, left[i], right, gamma)
				rows = append(rows, row)
			}
			AddRows(want, weight, rows, 0)
			g.AddTo(sums, &b, right)
			for j, v := range sums {
				if math.Float64bits(v) != math.Float64bits(want[j]) {
					t.Fatalf("%v, γ = %v: sum %d is %v, want %v", size, gamma, j, v, want[j])
				}
			}
		}
	}
}
