package kernels

import (
	"context"
	"math"
	"slices"

	"github.com/svmnb/svmnb/internal/simd"
)

// AddTo adds Σ_k coef[k]·K(x_i, x_idx[k]) to dst[r] for the points i = on[r], or for all n
// of them where on is nil, on GOMAXPROCS goroutines.
//
// Kernel values are in single precision, those of [Gram.Among], and their sums in double
// precision. A slack that is not nil gets, added to slack[r], a bound of how far rounding
// to single precision has moved dst[r]. For a Gaussian kernel the bound is proven
// (docs/math.md); else values are taken to be within 2⁻¹⁶ of the largest.
//
// Where exact is set everything is in double precision and computed from the points, as
// the residual of a certificate wants it, and slack is nil. Where on and idx are the same
// slice too, each K_ij = K_ji is computed once.
//
// When ctx ends AddTo returns context.Cause(ctx), and dst has a part of the sum.
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

// How much AddTo computes between two looks at its context: points of idx where the sum
// is exact or bounded, else kernel values.
const (
	exactPart = 1024
	quickPart = 1 << 25
)

// quickly adds sums of values in single precision, some at once.
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

// enclose is quickly for one sum, and adds the bounds of its errors to slack.
func (b *blocks) enclose(g *Gram, dst, slack []float64, on, idx []int, coef []float64) {
	size, total := make([]float64, len(idx)), 0.0
	for k := range size {
		size[k] = math.Abs(coef[k])
		total += size[k]
	}
	if b.off == 0 {
		b.quickly(g, [][]float64{dst}, on, idx, [][]float64{coef})
		most := float64(2 * rowTolerance * total * slices.Max(g.diag))
		for r := range slack {
			slack[r] += most
		}
		return
	}
	weight := make([]float64, len(dst)) // Σ|coef|·K
	b.quickly(g, [][]float64{dst, weight}, on, idx, [][]float64{coef, size})
	for r, v := range weight {
		slack[r] += float64(b.off*v) + float64(0x1p-100*total) // some values vanish
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

// mutually adds Σ_k coefB[k]·K(x_i, x_j) for j = b[k] to dstA[r], i = a[r], and
// Σ_r coefA[r] of the same values to dstB[k].
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

// all returns dst where it is for all points. Where it is for the points on, it returns
// zeros for all points, memory that has a number since several may be in use at once.
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

// inParts calls do with the rows of idx, as many at a time as are held.
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

// rowStretch is how much of a row a goroutine adds up at a time.
const rowStretch = 2048

// byRows reports whether keeping rows costs less than computing their values again for
// each sum: they take long, and there is room for a good part of all rows. Rows are also
// kept of a kernel that products do not give.
func (b *blocks) byRows(g *Gram) bool {
	return b.quick == nil || b.features >= dearFeatures && 4*g.room() >= g.n
}
