package simd

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/svmnb/svmnb/internal/vec"
)

// Every level has the bits of package vec, whatever the length and the numbers,
// and writes nothing beside dst.
func TestColumns(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(31, 32))
		special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 708, -708, 709, 710, -745, -745.2, -746, 5e-324, -1e-300, 1e300}
		draw := func(n int, scale float64, odd bool) []float64 {
			v := make([]float64, n)
			for j := range v {
				v[j] = scale * rng.NormFloat64()
				if odd && rng.IntN(8) == 0 {
					v[j] = special[rng.IntN(len(special))]
				}
			}
			return v
		}
		for trial := range 3000 {
			n, d, odd := rng.IntN(90), 1+rng.IntN(9), trial%3 == 0
			stride := n + rng.IntN(5)
			x, cols := draw(d, 1, odd), draw((d-1)*stride+n, 1, odd)
			for name, f := range map[string][2]func(dst, x, cols []float64, stride int){
				"Dots": {Dots, vec.Dots}, "SquaredDistances": {SquaredDistances, vec.SquaredDistances},
			} {
				got, want := draw(n+1, 1, false), make([]float64, n)
				behind := got[n]
				f[0](got[:n], x, cols, stride)
				f[1](want, x, cols, stride)
				same(t, name, got[:n], want)
				if got[n] != behind {
					t.Fatalf("%s of %d wrote behind the end", name, n)
				}
			}
			got := draw(n+1, []float64{1, 30, 500}[trial%3], trial%2 == 0)
			want, a := append([]float64(nil), got...), []float64{1, -0.3, 1.7}[rng.IntN(3)]
			ExpScaled(got[:n], a)
			vec.ExpScaled(want[:n], a)
			same(t, "ExpScaled", got, want)
		}
	})
}

// same compares bits, of which those of NaN mean nothing.
func same(t *testing.T, name string, got, want []float64) {
	t.Helper()
	for j, v := range want {
		if math.Float64bits(got[j]) != math.Float64bits(v) && !(math.IsNaN(v) && math.IsNaN(got[j])) {
			t.Fatalf("%s: entry %d of %d is %v, want %v", name, j, len(want), got[j], v)
		}
	}
}

func BenchmarkColumns(b *testing.B) {
	const n, d = 512, 16
	rng := rand.New(rand.NewPCG(1, 2))
	dst, x, cols := make([]float64, n), random[float64](rng, d), random[float64](rng, n*d)
	b.Run("distances", func(b *testing.B) {
		for b.Loop() {
			SquaredDistances(dst, x, cols, n)
		}
	})
	b.Run("distances, vec", func(b *testing.B) {
		for b.Loop() {
			vec.SquaredDistances(dst, x, cols, n)
		}
	})
	b.Run("exp", func(b *testing.B) {
		for b.Loop() {
			ExpScaled(dst, 1e-9)
		}
	})
	b.Run("exp, vec", func(b *testing.B) {
		for b.Loop() {
			vec.ExpScaled(dst, 1e-9)
		}
	})
}
