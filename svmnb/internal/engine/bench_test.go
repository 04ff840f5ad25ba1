package engine

import (
	"fmt"
	"math"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
)

// BenchmarkDrag is the engine's part of a picture while a point moves.
func BenchmarkDrag(b *testing.B) {
	for _, n := range []int{200, 500} {
		for _, k := range []kernels.Kernel{kernels.RBF(2), kernels.Laplacian(1)} {
			b.Run(fmt.Sprint(n, " ", k), func(b *testing.B) {
				q := question(Classify, datasets.Moons(n, 0.2, 42), k, 10)
				q.Warm, q.Tol, q.Nx, q.Ny = true, 1e-2, 60, 40
				m, at := &Machine{}, q.X[3]
				for i := 0; b.Loop(); i++ {
					q.X[3] = []float64{at[0] + 0.3*math.Sin(float64(i)/8), at[1] + 0.2*math.Sin(1.7*float64(i)/8)}
					if _, err := m.Answer(b.Context(), q); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkRest is a final picture, with the trace of its run.
func BenchmarkRest(b *testing.B) {
	for _, n := range []int{200, 1000} {
		for _, k := range []kernels.Kernel{kernels.RBF(2), kernels.Polynomial(3, 1, 1)} {
			b.Run(fmt.Sprint(n, " ", k), func(b *testing.B) {
				q := question(Classify, datasets.Moons(n, 0.2, 42), k, 10)
				q.Trace, q.Nx, q.Ny = true, 120, 80
				for b.Loop() {
					if _, err := new(Machine).Answer(b.Context(), q); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
