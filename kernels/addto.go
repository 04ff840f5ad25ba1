package kernels

import (
	"context"
	"math"
	"slices"

	"github.com/svmnb/svmnb/internal/simd"
)

// AddTo adds Σ_k coef[k]·K(x_i, x_idx[k]) to dst[r] for the points i = on[r], or for all n
// points if on is nil. It uses GOMAXPROCS goroutines.
//
// Kernel values are in single precision, as those of [Gram.Among]; their sums are in double
// precision. If slack is not nil, AddTo adds to slack[r] a bound of the error of dst[r] by
// rounding to single precision. For a Gaussian kernel the bound is proven (docs/math.md). For
// other kernels it assumes that values are within 2⁻¹⁶ of the largest.
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
	for from := 0; from < len(idx); from += part {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		to := min(from+part, len(idx))
		switch some, c := idx[from:to], coef[from:to]; {
		case exact && len(on) > 0 && len(on) == len(idx) && &on[0] == &idx[0]:
			b.exactly(g, dst[from:to], some, some, c)
			b.mutually(g, dst[from:to], dst[to:], some, idx[to:], c, coef[to:])
		case exact:
			b.exactly(g, dst, on, some, c)
		case slack != nil:
			b.enclose(g, dst, slack[:m], on, some, c)
		default:
			b.quickly(g, [][]float64{dst}, on, some, [][]float64{c})
		}
	}
	return nil
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
			b.quickly(g, [][]float64{dst[from:to]}, stretch, idx[at:end], [][]float64{coef[at:end]})
		}
	}
	return nil
}

// quickly adds one or several sums of values in single precision.
func (b *blocks) quickly(g *Gram, dst [][]float64, on, idx []int, coef [][]float64) {
	if !b.byRows(g) {
		g.evaluations += int64(len(dst[0])) * int64(len(idx))
		b.quick.sum(g, dst, on, idx, coef)
		return
	}
	whole := make([][]float64, len(dst))
	for m := range dst {
		whole[m] = b.all(g, m, dst[m], on)
	}
	b.inParts(g, idx, func(from int, held [][]float32) {
		tasks := (g.n + rowStretch - 1) / rowStretch
		share(threads(tasks), tasks, func(_, task int) {
			at := task * rowStretch
			for m, c := range coef {
				simd.AddRows(whole[m][at:min(at+rowStretch, g.n)], c[from:][:len(held)], held, at)
			}
		})
	})
	for m := range dst {
		for r, i := range on {
			dst[m][r] += whole[m][i]
		}
	}
}

// enclose is quickly for one sum. It also adds bounds of the errors to slack.
func (b *blocks) enclose(g *Gram, dst, slack []float64, on, idx []int, coef []float64) {
	size, total := make([]float64, len(idx)), 0.0
	for k := range size {
		size[k] = math.Abs(coef[k])
		total += size[k]
	}
	if b.off.slope == 0 {
		b.quickly(g, [][]float64{dst}, on, idx, [][]float64{coef})
		most := float64(2 * rowTolerance * total * slices.Max(g.diag))
		for r := range slack {
			slack[r] += most
		}
		return
	}
	far := make([]float64, len(idx))
	for k, i := range idx {
		far[k] = size[k] * b.off.norm[i]
	}
	near, weight := make([]float64, len(dst)), make([]float64, len(dst)) // the sums of |coef|·K, without and with ‖x_j − μ‖²
	b.quickly(g, [][]float64{dst, near, weight}, on, idx, [][]float64{coef, size, far})
	for r, v := range near {
		i := r
		if on != nil {
			i = on[r]
		}
		slack[r] += float64(b.off.unit*v) + float64(b.off.slope*(float64(b.off.norm[i]*v)+weight[r])) + float64(0x1p-100*total) // the last term is for values that underflow to 0
	}
}

// exactly adds a sum of values in double precision.
func (b *blocks) exactly(g *Gram, dst []float64, on, idx []int, coef []float64) {
	if b.exact != nil {
		g.evaluations += int64(len(idx)) * int64(len(dst))
		b.exact.sum(g, [][]float64{dst}, on, idx, [][]float64{coef})
		return
	}
	g.evaluations += int64(len(idx)) * int64(g.n)
	whole := b.all(g, 0, dst, on)
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
// points (on is nil), otherwise a slice of zeros. Several slices may be in use at once, each
// with its own number.
func (b *blocks) all(g *Gram, number int, dst []float64, on []int) []float64 {
	if on == nil {
		return dst
	}
	for len(b.whole) <= number {
		b.whole = append(b.whole, make([]float64, g.n))
	}
	clear(b.whole[number])
	return b.whole[number]
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
