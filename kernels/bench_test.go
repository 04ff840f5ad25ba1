package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/svmnb/svmnb/internal/toy"
)

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
				x := toy.Normal(1, n, d)
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
				x, order := toy.Normal(1, n, d), rand.New(rand.NewPCG(1, 1)).Perm(n)
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
	basis := Against(RBF(0.5), toy.Normal(1, 500, 2))
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

// The gradient that learning the eleven parameters of the CO2 example takes once
// for each of some hundred steps (Rasmussen and Williams 2006, section 5.4.3).
func BenchmarkContract(b *testing.B) {
	const n = 468
	x, w := make([][]float64, n), make([]float64, n)
	for i := range x {
		x[i], w[i] = []float64{1958 + float64(i)/12}, math.Sin(float64(i))
	}
	se := SquaredExponential
	for _, k := range []Kernel{
		se(10), Periodic(1, 1.3), RationalQuadratic(1.2, 0.78), Matern52(3),
		Sum(Scale(66*66, se(67)), Scale(2.4*2.4, Product(se(90), Periodic(1, 1.3))), Scale(0.66*0.66, RationalQuadratic(1.2, 0.78)), Scale(0.18*0.18, se(0.13))),
	} {
		b.Run(k.String(), func(b *testing.B) {
			dst := make([]float64, 11)
			for b.Loop() {
				g, err := NewGradient(k, x)
				if err != nil {
					b.Fatal(err)
				}
				dst = g.Contract(dst, func(int) []float64 { return w })
			}
			perEntry(b, n*(n+1)/2)
		})
	}
}
