package kernels_test

import (
	"slices"
	"testing"

	"github.com/svmnb/svmnb/internal/toy"
	"github.com/svmnb/svmnb/kernels"
)

// A patch has the values and derivatives of the matrix over its points, after whichever points it
// had before.
func TestPatch(t *testing.T) {
	for _, c := range table {
		x := toy.Normal(5, 24, 4)
		if c.points != nil {
			x = c.points(x)
		}
		p, err := kernels.NewPatch(c.k, x, 9)
		if err != nil {
			t.Fatalf("%s: %v", c.call, err)
		}
		other := p.Another()
		for _, part := range [][][]float64{x[:9], x[9:12], x[12:21], x[20:]} {
			want := make([]float64, len(part))
			got, again, grad := slices.Clone(want), slices.Clone(want), make([]float64, p.Params()*len(part))
			basis := kernels.Against(c.k, part)
			p.Lay(part)
			other.Lay(part)
			for _, z := range x[:3] {
				p.Row(got, z)
				other.Row(again, z)
				if want = basis.Row(want, z); !slices.Equal(got, want) || !slices.Equal(again, want) {
					t.Fatalf("%s: the row is %v, want %v", c.call, got, want)
				}
				p.GradientRow(got, grad, z)
				if d, ok := c.k.(kernels.Differentiable); ok {
					each := make([]float64, p.Params())
					for j, at := range part {
						d.EvalGradient(each, z, at)
						for i, v := range each {
							if w := grad[i*len(part)+j]; !(w-v <= 1e-12*(1+max(v, -v)) && v-w <= 1e-12*(1+max(v, -v))) {
								t.Fatalf("%s: derivative %d at point %d is %v, want %v", c.call, i, j, w, v)
							}
						}
					}
				}
			}
		}
	}
}

// A patch allocates nothing once it has its memory.
func TestPatchAllocations(t *testing.T) {
	x := toy.Normal(5, 31, 2)
	for _, k := range []kernels.Kernel{
		kernels.Scale(2, kernels.Sum(kernels.Matern32(1), kernels.Columns(kernels.ARD(1), 1))),
		kernels.Sum(kernels.Mapped(kernels.Matern32(1), []float64{1, 2}), kernels.White()),
	} {
		allocatesNothing(t, k, x)
	}
}

func allocatesNothing(t *testing.T, k kernels.Kernel, x [][]float64) {
	t.Helper()
	p, err := kernels.NewPatch(k, x, 31)
	if err != nil {
		t.Fatal(err)
	}
	v, grad := make([]float64, 31), make([]float64, 31*p.Params())
	once := func() {
		p.Lay(x)
		for j := range x {
			p.Row(v[:j+1], x[j])
			p.GradientRow(v[:j+1], grad[:p.Params()*(j+1)], x[j])
		}
	}
	once()
	if n := testing.AllocsPerRun(20, once); n > 0 {
		t.Errorf("a patch of %v allocates %v times", k, n)
	}
}
