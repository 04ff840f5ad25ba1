package simd

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestGaussians: sums that do not store their values against sums of math.Exp, within the bound
// that AddTo states.
func TestGaussians(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("f64", testGaussians[float64])
		t.Run("f32", testGaussians[float32])
	})
}

func testGaussians[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	norms := func(x Matrix[T]) (norm []float64) {
		for i := range x.Rows {
			sum := 0.0
			for _, v := range x.Data[i*x.Stride:][:x.Cols] {
				sum += float64(v) * float64(v)
			}
			norm = append(norm, sum)
		}
		return norm
	}
	u, least := unit[T](), 0x1p-1021
	if u > 0x1p-50 {
		least = 0x1p-125
	}
	for _, size := range []struct{ rows, columns, depth int }{{1, 1, 1}, {7, 47, 3}, {8, 48, 4}, {9, 49, 5}, {128, 768, 20}, {130, 100, 33}, {16, 96, depthBlock}, {16, 96, depthBlock + 1}, {16, 96, 0}} {
		x := Matrix[T]{Data: random[T](rng, size.rows*size.depth), Rows: size.rows, Cols: size.depth, Stride: size.depth}
		z := Matrix[T]{Data: guarded[T](t, size.columns*size.depth, false), Rows: size.columns, Cols: size.depth, Stride: size.depth}
		copy(z.Data, random[T](rng, len(z.Data)))
		copy(z.Data, x.Data[:min(size.depth, len(x.Data))]) // two equal points
		left, right := norms(x), norms(z)
		for _, gamma := range []float64{0, 0.01, 1, 300} {
			for _, large := range []float64{1, 0x1p-1060, 0x1p1000} { // of the weights
				weight, other, sums, rows := random[float64](rng, size.rows), random[float64](rng, size.columns), guarded[float64](t, size.columns, false), guarded[float64](t, size.rows, false)
				for r := range weight {
					weight[r] *= large
				}
				var b Panels[T]
				b.Pack(z.T(), 1)
				var g Gaussians[T]
				ok := g.Set(x, left, weight, gamma)
				if should := loops[T]().gaussianSums != nil && size.depth > 0 && size.depth <= depthBlock; ok != should {
					t.Fatalf("%v: Set reports %t", size, ok)
				} else if !ok {
					continue
				}
				heights := guarded[T](t, size.columns, false)
				copy(heights, g.Heights(nil, right))
				wantSums, wantRows := make([]float64, size.columns), make([]float64, size.rows)
				offSums, offRows := make([]float64, size.columns), make([]float64, size.rows)
				for r := range size.rows {
					for j := range size.columns {
						square := 0.0
						for k, v := range x.Data[r*size.depth:][:size.depth] {
							d := float64(v) - float64(z.Data[j*size.depth+k])
							square += d * d
						}
						v := math.Exp(-gamma * square)
						off := 1.01*v*math.Expm1(15*u+float64(size.depth+8)*u*gamma*(left[r]+right[j])) + 4e-16*v*(1+gamma*square) + least
						wantSums[j] += weight[r] * v
						offSums[j] += large*math.Abs(weight[r]/large)*off + 0x1p-50*math.Abs(weight[r]*v)
						wantRows[r] += other[j] * v
						offRows[r] += math.Abs(other[j])*off + 0x1p-50*math.Abs(other[j]*v)
					}
				}
				check := func(what string, got, want, off []float64, extra float64) {
					t.Helper()
					for j, v := range got {
						if !(math.Abs(v-want[j]) <= off[j]+extra) {
							t.Fatalf("%v, γ = %v, weights %g: %s %d is %v, want %v within %g", size, gamma, large, what, j, v, want[j], off[j])
						}
					}
				}
				clear(sums)
				g.AddTo(sums, &b, heights)
				check("sum", sums, wantSums, offSums, 0x1p-1066)
				if g.HasValues() {
					c := guarded[T](t, size.rows*(size.columns+3)-3, false)
					g.Values(Matrix[T]{Data: c, Rows: size.rows, Cols: size.columns, Stride: size.columns + 3}, &b, heights)
					for r := range size.rows {
						for j := range size.columns {
							square := 0.0
							for k, v := range x.Data[r*size.depth:][:size.depth] {
								d := float64(v) - float64(z.Data[j*size.depth+k])
								square += d * d
							}
							want := math.Exp(-gamma * square)
							off := 1.01*want*math.Expm1(15*u+float64(size.depth+8)*u*gamma*(left[r]+right[j])) + least
							if got := float64(c[r*(size.columns+3)+j]); !(math.Abs(got-want) <= off) {
								t.Fatalf("%v, γ = %v: value %d, %d is %v, want %v within %g", size, gamma, r, j, got, want, off)
							}
						}
						if gap := c[min(len(c), r*(size.columns+3)+size.columns):min(len(c), (r+1)*(size.columns+3))]; slices.ContainsFunc(gap, func(v T) bool { return v != 0 }) {
							t.Fatalf("%v: row %d is too long", size, r)
						}
					}
				}
				if !g.Both() {
					continue
				}
				for j := range sums {
					sums[j] = 0
				}
				clear(rows)
				g.AddBoth(sums, rows, &b, heights, other)
				check("sum with rows", sums, wantSums, offSums, 0x1p-1066)
				check("row", rows, wantRows, offRows, 0)
				before := rows[0]
				g.AddBoth(sums, rows, &b, heights, other)
				if !(math.Abs(rows[0]-2*before) <= 1e-12*math.Abs(before)+0x1p-1000) {
					t.Fatalf("%v: a row is %v, and %v after the second call", size, before, rows[0])
				}
			}
		}
	}
}
