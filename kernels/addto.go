package kernels

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/internal/vec"
)

// AddTo adds Σ_k coef[k]·K(x_i, x_idx[k]) to dst[r] for the points i = on[r], or for all n
// points if on is nil. It uses GOMAXPROCS goroutines.
//
// Kernel values are in single precision, and up to rounding those of [Gram.Among]. Their sums are
// in double precision, but up to eight values of a Gaussian kernel may be summed in single
// precision before. If slack is not nil, AddTo adds to slack[r] a bound of the error of dst[r] by
// rounding to single precision. For a Gaussian kernel the bound is proven (docs/math.md). For
// other kernels it is not proven: it assumes that the error of each kernel value is at most 2⁻¹⁶
// times the largest value; see [Gram.Largest].
//
// If exact is set, kernel values are computed from the points in double precision, as the
// residual of a certificate needs them; slack must be nil. If on and idx are also the same
// slice, each K_ij = K_ji is computed once.
//
// When ctx ends, AddTo returns context.Cause(ctx), and dst has a part of the sum.
func (g *Gram) AddTo(ctx context.Context, dst, slack []float64, on, idx []int, coef []float64, exact bool) error {
	defer named(g.order)
	b, m := inBlocks(g), g.n
	if on != nil {
		m = len(on)
	}
	dst, coef = dst[:m], coef[:len(idx)]
	part := exactPart
	if !exact && slack == nil {
		part = max(16, quickPart/max(1, m))
		if part < fewest && len(idx) > part && !b.byRows(g) {
			return b.inStretches(ctx, g, dst, on, idx, coef)
		}
	}
	if slack != nil {
		idx, coef = b.bySign(idx, coef)
	}
	for from, to := 0, 0; from < len(idx); from = to {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if to = min(from+part, len(idx)); slack != nil && coef[from] > 0 != (coef[to-1] > 0) {
			to = from + slices.IndexFunc(coef[from:to], func(c float64) bool { return !(c > 0) })
		}
		switch some, c := idx[from:to], coef[from:to]; {
		case exact && len(on) > 0 && len(on) == len(idx) && &on[0] == &idx[0]:
			b.exactly(g, dst[from:to], some, some, c)
			b.mutually(g, dst[from:to], dst[to:], some, idx[to:], c, coef[to:])
		case exact:
			b.exactly(g, dst, on, some, c)
		case slack != nil:
			b.enclose(g, dst, slack[:m], on, some, c)
		default:
			b.quickly(g, dst, on, some, c)
		}
	}
	return nil
}

// bySign returns the points idx with positive coefficients, and then the others. Of each, those
// with the smallest ‖x − μ‖² come first, so that the bounds of enclose are nearly the same for all
// points of a part.
func (b *blocks) bySign(idx []int, coef []float64) ([]int, []float64) {
	order := vec.Indices[int](len(idx))
	slices.SortStableFunc(order, func(k, l int) int {
		switch {
		case coef[k] > 0 != (coef[l] > 0):
			if coef[k] > 0 {
				return -1
			}
			return 1
		case b.off.slope == 0:
			return 0
		}
		return cmp.Compare(b.off.norm[idx[k]], b.off.norm[idx[l]])
	})
	points, weights := make([]int, len(idx)), make([]float64, len(idx))
	for at, k := range order {
		points[at], weights[at] = idx[k], coef[k]
	}
	return points, weights
}

// AddTo looks at its context after each part: after exactPart points of idx for a sum that is
// exact or has bounds, otherwise after quickPart kernel values.
const (
	exactPart = 1024
	quickPart = 1 << 25
	fewest    = 512 // with fewer points of idx in a part, copying the points on costs too much
)

// inStretches does what AddTo does for very many points on, in single precision. It takes a
// stretch of these points at a time.
func (b *blocks) inStretches(ctx context.Context, g *Gram, dst []float64, on, idx []int, coef []float64) error {
	var some []int // memory for a stretch of all points
	for from := 0; from < len(dst); from += quickPart / fewest {
		to := min(from+quickPart/fewest, len(dst))
		stretch := some[:0]
		if on != nil {
			stretch = on[from:to]
		} else {
			for i := from; i < to; i++ {
				stretch = append(stretch, i)
			}
			some = stretch
		}
		for at := 0; at < len(idx); at += fewest {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			end := min(at+fewest, len(idx))
			b.quickly(g, dst[from:to], stretch, idx[at:end], coef[at:end])
		}
	}
	return nil
}

// quickly adds a sum of values in single precision.
func (b *blocks) quickly(g *Gram, dst []float64, on, idx []int, coef []float64) {
	if !b.byRows(g) {
		g.evaluations += int64(len(dst)) * int64(len(idx))
		b.quick.sum(g, dst, on, idx, coef)
		return
	}
	whole := b.all(g, dst, on)
	b.inParts(g, idx, func(from int, held [][]float32) {
		tasks := (g.n + rowStretch - 1) / rowStretch
		share(threads(tasks), tasks, func(_, task int) {
			at := task * rowStretch
			simd.AddRows(whole[at:min(at+rowStretch, g.n)], coef[from:][:len(held)], held, at)
		})
	})
	for r, i := range on {
		dst[r] += whole[i]
	}
}

// enclose is quickly with bounds of the errors, which it adds to slack. The coefficients must not
// differ in sign: then the sum itself gives the sum of |coef|·K, on which the bounds depend.
func (b *blocks) enclose(g *Gram, dst, slack []float64, on, idx []int, coef []float64) {
	total, far := 0.0, 0.0 // far is the largest ‖x_j − μ‖² of idx
	for k, i := range idx {
		total += math.Abs(coef[k])
		if b.off.slope != 0 {
			far = max(far, b.off.norm[i])
		}
	}
	if b.off.slope == 0 {
		b.quickly(g, dst, on, idx, coef)
		most := float64(2 * rowTolerance * total * g.Largest())
		for r := range slack {
			slack[r] += most
		}
		return
	}
	b.sums = sized(b.sums, len(dst))
	clear(b.sums)
	b.quickly(g, b.sums, on, idx, coef)
	for r, v := range b.sums {
		i := r
		if on != nil {
			i = on[r]
		}
		dst[r] += v
		near := math.Abs(v)
		slack[r] += float64(b.off.unit*near) + float64(b.off.slope*near*(b.off.norm[i]+far)) + float64(0x1p-100*total) // the last term is for values that underflow to 0
	}
}

// exactly adds a sum of values in double precision.
func (b *blocks) exactly(g *Gram, dst []float64, on, idx []int, coef []float64) {
	if b.exact != nil {
		g.evaluations += int64(len(idx)) * int64(len(dst))
		b.exact.sum(g, dst, on, idx, coef)
		return
	}
	g.evaluations += int64(len(idx)) * int64(g.n)
	whole := b.all(g, dst, on)
	b.oneByOne(g, idx, func(k int, row []float64) {
		for t, v := range row {
			whole[g.order[t]] += float64(coef[k] * v)
		}
	})
	for r, i := range on {
		dst[r] += whole[i]
	}
}

// mutually adds Σ_k coefB[k]·K(x_i, x_j) to dstA[r], where i = left[r] and j = right[k], and
// Σ_r coefA[r]·K(x_i, x_j) to dstB[k]. Both sums use the same kernel values.
func (b *blocks) mutually(g *Gram, dstA, dstB []float64, left, right []int, coefA, coefB []float64) {
	switch {
	case len(right) == 0:
	case b.exact == nil:
		b.exactly(g, dstA, left, right, coefB)
		b.exactly(g, dstB, right, left, coefA)
	default:
		g.evaluations += int64(len(left)) * int64(len(right))
		b.exact.mutual(g, dstA, dstB, left, right, coefA, coefB)
	}
}

// all returns sums at all points, to which rows can be added. This is dst itself if it has all
// points (on is nil), otherwise a slice of zeros.
func (b *blocks) all(g *Gram, dst []float64, on []int) []float64 {
	if on == nil {
		return dst
	}
	if b.whole == nil {
		b.whole = make([]float64, g.n)
	}
	clear(b.whole)
	return b.whole
}

// inParts calls do with the rows of the points idx, in parts of as many rows as can be held at
// a time. In a call, held[r] is the row of idx[from+r].
func (b *blocks) inParts(g *Gram, idx []int, do func(from int, held [][]float32)) {
	most := min(len(idx), g.room())
	for len(b.some) < most {
		b.some = append(b.some, nil)
	}
	for from := 0; from < len(idx); from += most {
		part := idx[from:min(from+most, len(idx))]
		g.hold(b.some, part)
		do(from, b.some[:len(part)])
	}
}

// rowStretch is the number of entries of a row that a goroutine adds at a time.
const rowStretch = 2048

// byRows reports whether sums use held rows. They cost less than computing the values for each
// sum again if kernel values are expensive and at least a quarter of all rows has room. A
// kernel whose values products of matrices do not give always uses held rows.
func (b *blocks) byRows(g *Gram) bool {
	return b.quick == nil || b.features >= dearFeatures && 4*g.room() >= g.n
}
