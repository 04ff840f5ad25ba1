package kernels

import "fmt"

// Basis evaluates a kernel between any point and n fixed ones: the support
// vectors of a machine that predicts. It is safe for concurrent use.
type Basis struct{ p points }

// Against returns the Basis of k at n points of d features each, which it
// copies; n may be 0. The points are ones that a machine was trained on, so
// they have been checked: Against panics with what [NewGram] would return as
// its error.
func Against(k Kernel, basis [][]float64) *Basis {
	if err := check(k); err != nil {
		panic(err)
	}
	if len(basis) == 0 {
		return &Basis{points{kernel: k}}
	}
	d, err := features("basis", basis)
	if err != nil {
		panic(err)
	}
	return &Basis{newPoints(k, basis, d)}
}

// Len returns n, the length of a row.
func (b *Basis) Len() int { return b.p.n }

// Row sets dst[j] to K(x, basis[j]) for all n points of the basis and returns
// it; a dst that is shorter than n, such as nil, is replaced. x has the d
// features of the basis: anything else panics with a *[DataError]. The entries
// are the bits that a [Gram] of the same points has.
func (b *Basis) Row(dst, x []float64) []float64 {
	p := &b.p
	if len(x) != p.d && p.n > 0 {
		panic(&DataError{"x", -1, -1, float64(len(x)), fmt.Sprintf("the point has %d features, the basis has %d", len(x), p.d)})
	}
	if cap(dst) < p.n {
		dst = make([]float64, p.n)
	}
	dst = dst[:p.n]
	if p.sums != nil {
		p.fast(dst, x)
		return dst
	}
	for j := range dst {
		dst[j] = p.kernel.Eval(x, p.get(nil, j))
	}
	return dst
}
