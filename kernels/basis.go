package kernels

import (
	"fmt"
	"sync"
)

// Basis evaluates a kernel between any point and n fixed ones: the support
// vectors of a machine that predicts. It is safe for concurrent use.
type Basis struct {
	kernel Kernel
	p      *points
	rower  rower
	work   sync.Pool // of *work
}

// Against returns the Basis of k at n points of d features each, which it
// copies; n may be 0. The points are ones that a machine was trained on, so
// they have been checked: Against panics with what [NewGram] would return as
// its error.
func Against(k Kernel, basis [][]float64) *Basis {
	b := &Basis{kernel: k, p: &points{}}
	b.work.New = func() any { return &work{} }
	if err := check(k); err != nil {
		panic(err)
	}
	if len(basis) == 0 {
		return b
	}
	d, err := checkPoints(k, "basis", basis)
	if err != nil {
		panic(err)
	}
	b.p, b.rower = over(k, basis, d)
	return b
}

// Len returns n, the length of a row.
func (b *Basis) Len() int { return b.p.n }

// Check returns nil, or a *[DataError] that names the first of the points x for
// which Row has no value: another number of features than the basis, a number
// that is not finite, or what the kernel's [Domain] excludes.
func (b *Basis) Check(x [][]float64) error {
	if len(x) == 0 {
		return nil
	}
	for i, row := range x {
		if len(row) != b.p.d && b.p.n > 0 {
			return b.otherWidth(i, len(row))
		}
	}
	_, err := checkPoints(b.kernel, "x", x)
	return err
}

func (b *Basis) otherWidth(i, d int) error {
	return &DataError{"x", i, -1, float64(d), fmt.Sprintf("the point has %d features, the basis has %d", d, b.p.d)}
}

// Row sets dst[j] to K(x, basis[j]) for all n points of the basis and returns
// it; a dst that is shorter than n, such as nil, is replaced. x has the d
// features of the basis: anything else panics with a *[DataError]. The entries
// are the bits that a [Gram] of the same points has.
func (b *Basis) Row(dst, x []float64) []float64 {
	n := b.p.n
	if len(x) != b.p.d && n > 0 {
		panic(b.otherWidth(-1, len(x)))
	}
	if cap(dst) < n {
		dst = make([]float64, n)
	}
	dst = dst[:n]
	if n > 0 {
		w := b.work.Get().(*work)
		b.rower.row(dst, x, w)
		b.work.Put(w)
	}
	return dst
}
