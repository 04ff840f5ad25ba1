package kernels

import (
	"fmt"
	"math"
	"slices"
)

// A rower computes the kernel values of any point with the n points of a set. The rower of a
// combined kernel uses the rowers of its parts.
type rower interface {
	// row sets dst[j] to K(x, point j) for the first len(dst) points.
	row(dst, x []float64, w *work)
	// self returns K(x, x), with the same bits as row for a point equal to x.
	self(x []float64, w *work) float64
	// swap exchanges the data that the rower keeps for the points at places s and t. The
	// points themselves have been exchanged already.
	swap(s, t int)
}

// work is memory for the calls of rowers, for one call at a time.
type work struct{ free [][]float64 }

func (w *work) take(n int) []float64 {
	if last := len(w.free) - 1; last >= 0 {
		v := w.free[last]
		w.free = w.free[:last]
		if cap(v) >= n {
			return v[:n]
		}
	}
	return make([]float64, n)
}

func (w *work) give(v []float64) { w.free = append(w.free, v) }

// over returns the points x, all of d features, and the rower or gradientRower of k for them.
// It makes this rower by the function of.
func over[R any](of func(Kernel, *points) R, k Kernel, x [][]float64, d int) (*points, R) {
	p := newPoints(x, d)
	r := of(k, p)
	p.settle()
	return p, r
}

// rowerOf returns the rower of k.
func rowerOf(k Kernel, p *points) rower {
	if k, ok := as[interface{ rower(p *points) rower }](k); ok {
		return k.rower(p)
	}
	in, products := innerOf(k, p.d)
	sparse := p.sparse != nil && !p.written
	if products && sparse {
		return newSparseInnerRower(in, p)
	}
	loop := &loopRower{p: p, k: k, distance: in.distance, most: in.most}
	wise, ok := as[Rowwise](k)
	switch {
	case ok:
		loop.sums, loop.of = wise.EvalRow, func([]float64) {}
	case products:
		loop.sums, loop.of = in.sums(), in.of
	default:
		return newEvalRower(k, p)
	}
	if sparse {
		return &sparseLoopRower{*loop}
	}
	if !products { // no other code will use the rows
		p.byColumns()
	}
	return loop
}

// block is the number of entries of a row that are computed at a time. Their sums stay in the
// first-level cache until they are turned into kernel values.
const block = 512

// loopRower is for kernels with a loop over points in columns. The function sums computes a
// part of a row, and the function of turns it into kernel values.
type loopRower struct {
	p        *points
	k        Kernel
	distance bool    // K(x, x) is the same for all x
	most     float64 // see inner
	sums     func(dst, x, columns []float64, stride int)
	of       func(v []float64)
}

func (r *loopRower) row(dst, x []float64, _ *work) {
	columns, from := r.p.byColumns(), 0
	defer pairOf(r.k, nil)
	defer moveOn(&from)
	for ; from < len(dst); from += block {
		part := dst[from:min(from+block, len(dst))]
		r.sums(part, x, columns[from:], r.p.n)
		r.of(part)
	}
}

func (r *loopRower) self(x []float64, w *work) float64 {
	v := w.take(1)
	defer w.give(v)
	defer pairOf(r.k, nil)
	r.sums(v, x, x, 1)
	r.of(v)
	return v[0]
}

func (*loopRower) swap(int, int) {}

// evalRower is for kernels that have only Eval.
type evalRower struct {
	p *points
	k Kernel
}

func newEvalRower(k Kernel, p *points) rower {
	p.asked = true
	return evalRower{p, k}
}

func (r evalRower) row(dst, x []float64, w *work) {
	buffer, j := w.take(r.p.d), 0
	defer w.give(buffer)
	defer pairOf(r.k, &j)
	for ; j < len(dst); j++ {
		z := r.p.point(buffer, j)
		// The arguments have a fixed order, so that K(x, z) and K(z, x) have the same bits
		// even if Eval rounds them differently.
		if slices.Compare(x, z) <= 0 {
			dst[j] = r.k.Eval(x, z)
		} else {
			dst[j] = r.k.Eval(z, x)
		}
	}
}

func (r evalRower) self(x []float64, _ *work) float64 {
	defer pairOf(r.k, nil)
	return r.k.Eval(x, x)
}

func (evalRower) swap(int, int) {}

// selves returns K(x, x) of all points.
func selves(r rower, p *points, w *work) []float64 {
	diag, x, j := make([]float64, p.n), make([]float64, p.d), 0
	defer selfOf(&j)
	if r, ok := r.(*loopRower); ok && r.distance {
		diag[0] = r.self(p.point(x, 0), w)
		for j := range diag {
			diag[j] = diag[0]
		}
		return diag
	}
	for ; j < p.n; j++ {
		diag[j] = r.self(p.point(x, j), w)
	}
	return diag
}

// diagonal returns K(x, x) of all n points, or a *DataError if one is not finite. By Cauchy
// and Schwarz, no other entry is larger.
func diagonal(k Kernel, arg string, r rower, p *points, w *work) ([]float64, error) {
	diag := selves(r, p, w)
	for j, v := range diag {
		if math.IsInf(v, 0) {
			return nil, &DataError{arg, j, -1, v, fmt.Sprintf("%v of the point with itself is %v: scale the features", k, v)}
		}
		if math.IsNaN(v) {
			return nil, &DataError{arg, j, -1, v, fmt.Sprintf("%v of the point with itself is NaN: leave the point out, or scale the features", k)}
		}
	}
	return diag, nil
}
