package solvers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/svmnb/svmnb/internal/toy"
)

func benchProblem(n int) *Problem {
	x, y := toy.Points(rand.New(rand.NewPCG(7, 1)), n, 2, 0.7)
	return SoftMargin(toy.NewGram(x, toy.RBF(1)), y, fill(n, 10))
}

// BenchmarkSMO solves 1000 overlapping points with a kernel matrix in memory.
// What it costs to be seen is the difference between the three samplings.
func BenchmarkSMO(b *testing.B) {
	const n = 1000
	p := benchProblem(n)
	for _, sel := range []Selection{SecondOrder, WorstPair, Platt, Simplified} {
		for _, every := range []int{-1, 0, 1} {
			if every == 1 && sel > WorstPair {
				continue
			}
			b.Run(fmt.Sprintf("%v/every=%d", sel, every), func(b *testing.B) {
				b.ReportAllocs()
				iterations := 0
				for b.Loop() {
					r, err := Solve(context.Background(), p, SMO{Selection: sel}, Settings{Every: every})
					if err != nil {
						b.Fatal(err)
					}
					iterations = r.Iterations
				}
				b.ReportMetric(float64(iterations), "iterations")
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(iterations)/n, "ns/iteration/point")
			})
		}
	}
}
