package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func normal(seed uint64, n, d int) [][]float64 {
	rng := rand.New(rand.NewPCG(seed, 0))
	x := make([][]float64, n)
	for i := range x {
		x[i] = make([]float64, d)
		for k := range x[i] {
			x[i][k] = rng.NormFloat64()
		}
	}
	return x
}

func perEntry(b *testing.B, entries int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(entries), "ns/entry")
}

var benchKernels = []Kernel{
	Linear(), Polynomial(3, 1, 1), RBF(0.5), Laplacian(0.5), Exponential(1), Matern52(1), RationalQuadratic(1, 2), Periodic(1, 1),
	ChiSquared(), Sum(RBF(0.5), Linear()), Normalised(Polynomial(3, 1, 1)),
}

// One row evaluated from scratch.
func BenchmarkRow(b *testing.B) {
	const n = 1000
	for _, d := range []int{2, 13, 64} {
		for _, k := range benchKernels {
			b.Run(fmt.Sprintf("d=%d/%v", d, k), func(b *testing.B) {
				x := normal(1, n, d)
				for _, row := range x {
					for j, v := range row {
						row[j] = math.Abs(v) // for χ²
					}
				}
				g, err := NewGram(k, x, NoCache)
				if err != nil {
					b.Fatal(err)
				}
				for i := 0; b.Loop(); i++ {
					g.Row(i % n)
				}
				perEntry(b, n)
			})
		}
	}
}

// The whole matrix, made and filled in a random order.
func BenchmarkGram(b *testing.B) {
	for _, n := range []int{200, 1000, 4000} {
		for _, d := range []int{2, 13, 64} {
			b.Run(fmt.Sprintf("n=%d/d=%d", n, d), func(b *testing.B) {
				x, order := normal(1, n, d), rand.New(rand.NewPCG(1, 1)).Perm(n)
				for b.Loop() {
					g, err := NewGram(RBF(0.5), x, 0)
					if err != nil {
						b.Fatal(err)
					}
					for _, i := range order {
						g.Row(i)
					}
				}
				perEntry(b, n*n)
			})
		}
	}
}

// The decision values of 500 support vectors on a 100 × 100 grid.
func BenchmarkField(b *testing.B) {
	basis := Against(RBF(0.5), normal(1, 500, 2))
	x, row := make([]float64, 2), make([]float64, 500)
	sum := 0.0
	for b.Loop() {
		for s := range 100 {
			for t := range 100 {
				x[0], x[1] = float64(s)/25-2, float64(t)/25-2
				for _, v := range basis.Row(row, x) {
					sum += v
				}
			}
		}
	}
	perEntry(b, 5e6)
}
