package kernels

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

var blockSizes = []struct{ n, d int }{{10_000, 784}, {20_000, 50}}

func perSecond(b *testing.B, flop float64) {
	b.ReportMetric(flop*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

// Blocks of 512 rows, none of them held.
func BenchmarkHold(b *testing.B) {
	for _, s := range blockSizes {
		x := normal(1, s.n, s.d)
		for _, k := range []Kernel{RBF(0.1 / float64(s.d)), RBF(10), Polynomial(3, 1/float64(s.d), 1), Sum(RBF(0.1/float64(s.d)), Linear())} {
			b.Run(fmt.Sprintf("%dx%d/%v", s.n, s.d, k), func(b *testing.B) {
				const m = 512
				g, err := NewGram(k, x, m*4*int64(s.n))
				if err != nil {
					b.Fatal(err)
				}
				dst, order := make([][]float32, m), rand.New(rand.NewPCG(1, 2)).Perm(s.n)
				g.Hold(dst, order[:m]) // warm
				at := m
				b.ResetTimer()
				for b.Loop() {
					if at+m > s.n {
						at = 0
					}
					g.Hold(dst, order[at:at+m])
					at += m
				}
				perSecond(b, 2*m*float64(s.n)*float64(s.d))
			})
		}
	}
}

func BenchmarkTimes(b *testing.B) {
	const m = 2000
	for _, s := range blockSizes {
		x := normal(1, s.n, s.d)
		b.Run(fmt.Sprintf("%dx%d", s.n, s.d), func(b *testing.B) {
			g, err := NewGram(RBF(0.1/float64(s.d)), x, 0)
			if err != nil {
				b.Fatal(err)
			}
			dst, coef, idx := make([]float64, s.n), make([]float64, m), rand.New(rand.NewPCG(1, 2)).Perm(s.n)[:m]
			for k := range coef {
				coef[k] = 1
			}
			g.Times(dst, idx, coef)
			for b.Loop() {
				g.Times(dst, idx, coef)
			}
			perSecond(b, 2*m*float64(s.n)*float64(s.d))
		})
	}
}
