package vec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// Each entry of the column loops equals the plain sum bit for bit, for every
// length and wherever the range of points begins.
func TestColumns(t *testing.T) {
	const n = 23
	rng := rand.New(rand.NewPCG(1, 2))
	for d := 1; d <= 18; d++ {
		x, cols := make([]float64, d), make([]float64, d*n)
		for k := range x {
			x[k] = rng.NormFloat64()
		}
		for k := range cols {
			cols[k] = rng.NormFloat64()
		}
		x[0], cols[3] = -1, 0 // a product that is −0
		for _, span := range [][2]int{{0, n}, {0, 1}, {5, 17}, {n, n}} {
			dots, dist := make([]float64, span[1]-span[0]), make([]float64, span[1]-span[0])
			for i := range dots {
				dots[i], dist[i] = math.NaN(), math.NaN() // what was there must not matter
			}
			Dots(dots, x, cols[span[0]:], n)
			SquaredDistances(dist, x, cols[span[0]:], n)
			for i := range dots {
				z := make([]float64, d)
				for k := range z {
					z[k] = cols[k*n+span[0]+i]
				}
				if a, b := math.Float64bits(dots[i]), math.Float64bits(Dot(x, z)); a != b {
					t.Fatalf("d=%d point %d: Dots %v, Dot %v", d, i, dots[i], Dot(x, z))
				}
				if a, b := math.Float64bits(dist[i]), math.Float64bits(SquaredDistance(x, z)); a != b {
					t.Fatalf("d=%d point %d: SquaredDistances %v, SquaredDistance %v", d, i, dist[i], SquaredDistance(x, z))
				}
			}
		}
	}
	if got := Dot([]float64{1, 2, 3}, []float64{4, 5, 6}); got != 32 {
		t.Errorf("Dot = %v, want 32", got)
	}
	if got := SquaredDistance([]float64{1, 2, 3}, []float64{4, 6, 3}); got != 25 {
		t.Errorf("SquaredDistance = %v, want 25", got)
	}
}

func perEntry(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/entry")
}

func BenchmarkColumns(b *testing.B) {
	const n = 512
	for _, d := range []int{2, 13, 64, 784} {
		cols := make([]float64, n*d)
		rng := rand.New(rand.NewPCG(1, 2))
		for i := range cols {
			cols[i] = rng.NormFloat64()
		}
		dst := make([]float64, n)
		for name, f := range map[string]func(dst, x, cols []float64, stride int){"Dots": Dots, "SquaredDistances": SquaredDistances} {
			b.Run(fmt.Sprintf("%s/d=%d", name, d), func(b *testing.B) {
				for b.Loop() {
					f(dst, cols[:d], cols, n)
				}
				perEntry(b, n)
			})
		}
	}
}
