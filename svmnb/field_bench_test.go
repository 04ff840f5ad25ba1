package svmnb

import (
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
)

// BenchmarkField is the field of a figure, of a fit with 2000 support vectors; it is to
// take less than 100 ms on two cores.
func BenchmarkField(b *testing.B) {
	data := datasets.Moons(2000, 0.3, 1)
	m := machine{data: data, kernel: kernels.RBF(1)}
	coef := make([]float64, data.N())
	for i := range coef {
		coef[i] = 1 - 2*float64(i%2)
	}
	e := machines.NewExpansion(m.data, m.kernel, nil, coef, 0)
	xs, ys := figure.Around(data.X, 0), figure.Around(data.X, 1)
	for _, nodes := range []struct {
		name string
		n    int
	}{{"as drawn", fieldNodes(len(e.Coef))}, {"finest", 7000}} {
		b.Run(nodes.name, func(b *testing.B) {
			for b.Loop() {
				fieldOver(&e, grid(xs, ys, nodes.n))
			}
		})
	}
}
