package kernels

import (
	"math"
	"slices"

	"github.com/svmnb/svmnb/internal/simd"
)

// dearFeatures is from how many features on a row that is held, or a value that is
// known, is worth more than the memory it takes: with fewer, entries are computed again,
// into the second-level cache and out of it, in about the time in which they come from
// memory.
const dearFeatures = 96

// Among sets dst[k·q+l] to the kernel of the points idx[k] and idx[l], q = len(idx),
// in single precision. A point may be there twice. Values that are dear and known,
// because was has them of the points of, are taken from there, its diagonal left out;
// dst is other memory unless of is empty. Only rows of the other points are computed,
// which is less than to hold whole rows of them: many a point of a working set does not
// move and never needs one.
func (g *Gram) Among(dst []float32, idx []int, was []float32, of []int) {
	defer named(g.order)
	b, q := inBlocks(g), len(idx)
	if b.unit == 0 {
		b.inParts(g, idx, func(from int, held [][]float32) {
			for k, row := range held {
				for l, j := range idx {
					dst[(from+k)*q+l] = row[j]
				}
			}
		})
		return
	}
	if b.features < dearFeatures {
		of = nil
	}
	if b.before == nil {
		b.before = make([]int32, g.n)
	}
	b.twin = sized(b.twin, len(of))
	for k, i := range of {
		b.twin[k], b.before[i] = b.before[i], int32(k)+1
	}
	b.kept, b.runs, b.fresh, b.into, b.missing = b.kept[:0], b.runs[:0], b.fresh[:0], b.into[:0], b.missing[:0]
	for k, i := range idx {
		if at := b.before[i]; at > 0 {
			b.before[i] = b.twin[at-1]
			b.keep(kept{int32(k), at - 1, 1})
		} else {
			b.fresh, b.into, b.missing = append(b.fresh, int32(k)), append(b.into, dst[k*q:][:q]), append(b.missing, i)
		}
	}
	for _, i := range of {
		b.before[i] = 0
	}
	g.evaluations += int64(len(b.fresh)) * int64(q)
	b.anew(g)
	if b.unit == 0x1p-24 {
		b.few.pack(q, feedOf(g, b.few, b.sheet, idx, &b.which))
		b.few.rows(b.into, feedOf(g, b.few, b.sheet, b.missing, &b.which))
	} else {
		b.few64.pack(q, feedOf(g, b.few64, b.sheet64, idx, &b.which))
		b.few64.rows(b.into, feedOf(g, b.few64, b.sheet64, b.missing, &b.which))
	}
	const some = 8 // rows at a time, for a column of them to stay in the first-level cache
	tasks := (len(b.kept) + some - 1) / some
	share(threads(tasks), tasks, func(_, task int) {
		rows := b.kept[task*some : min((task+1)*some, len(b.kept))]
		for _, r := range rows {
			row, before := dst[int(r.to)*q:][:q], was[int(r.from)*len(of):][:len(of)]
			for _, c := range b.runs {
				copy(row[c.to:][:c.n], before[c.from:])
			}
		}
		for _, l := range b.fresh {
			mirror := dst[int(l)*q:][:q]
			for _, r := range rows {
				dst[int(r.to)*q+int(l)] = mirror[r.to]
			}
		}
	})
	for k, i := range idx {
		dst[k*q+k] = float32(g.diag[i])
	}
}

// kept says where a point of a working set is, or some that follow each other, and
// where it was in the one before.
type kept struct{ to, from, n int32 }

func (b *blocks) keep(c kept) {
	b.kept = append(b.kept, c)
	if last := len(b.runs) - 1; last >= 0 && b.runs[last].to+b.runs[last].n == c.to && b.runs[last].from+b.runs[last].n == c.from {
		b.runs[last].n++
	} else {
		b.runs = append(b.runs, c)
	}
}

// Accumulate adds Σ_k coef[k]·K(x_i, x_idx[k]) to dst[r] for the points i = on[r],
// or for all n of them where on is nil, on GOMAXPROCS goroutines. Kernel values
// are those of [Gram.Hold], in single precision, their sum is in double precision.
// Where it costs less than to keep rows, their entries are computed anew each time
// and summed at once; then no memory is needed but for a copy of the points in single
// precision, and only the points on cost time.
func (g *Gram) Accumulate(dst []float64, on, idx []int, coef []float64) {
	m := g.n
	if on != nil {
		m = len(on)
	}
	g.accumulate([][]float64{dst[:m]}, on, idx, [][]float64{coef[:len(idx)]})
}

// accumulate is Accumulate for some sums at once.
func (g *Gram) accumulate(dst [][]float64, on, idx []int, coef [][]float64) {
	defer named(g.order)
	b, m := inBlocks(g), len(dst[0])
	if !b.byRows(g) {
		g.evaluations += int64(m) * int64(len(idx))
		b.anew(g)
		if b.unit == 0x1p-24 {
			b.few.sum(dst, feedOf(g, b.few, b.sheet, on, &b.on), feedOf(g, b.few, b.sheet, idx, &b.which), coef)
		} else {
			b.few64.sum(dst, feedOf(g, b.few64, b.sheet64, on, &b.on), feedOf(g, b.few64, b.sheet64, idx, &b.which), coef)
		}
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

// Enclose is Accumulate that also adds to slack[r] a bound of what rounding has moved
// dst[r] by. For a Gaussian in single precision it is proven (docs/math.md); else
// values are taken to be within 2⁻¹⁶ of the largest.
func (g *Gram) Enclose(dst, slack []float64, on, idx []int, coef []float64) {
	defer named(g.order)
	b := inBlocks(g)
	size, total := make([]float64, len(idx)), 0.0
	for k := range size {
		size[k] = math.Abs(coef[k])
		total += size[k]
	}
	if b.off == 0 {
		g.Accumulate(dst, on, idx, coef)
		most := float64(2 * rowTolerance * total * slices.Max(g.diag))
		for r := range slack {
			slack[r] += most
		}
		return
	}
	weight := make([]float64, len(dst)) // Σ|coef|·K
	g.accumulate([][]float64{dst, weight}, on, idx, [][]float64{coef, size})
	for r, v := range weight {
		slack[r] += float64(b.off*v) + float64(0x1p-100*total) // some values vanish
	}
}

// TimesAt is [Gram.Times] for the points on: it adds Σ_k coef[k]·K(x_i, x_idx[k]) to
// dst[r] for i = on[r], or for all points where on is nil.
func (g *Gram) TimesAt(dst []float64, on, idx []int, coef []float64) {
	defer named(g.order)
	b, m := inBlocks(g), g.n
	if on != nil {
		m = len(on)
	}
	dst, coef = dst[:m], coef[:len(idx)]
	if b.sums == nil {
		whole := b.all(g, 0, dst, on)
		g.Times(whole, idx, coef)
		for r, i := range on {
			dst[r] += whole[i]
		}
		return
	}
	g.evaluations += int64(len(idx)) * int64(m)
	b.sums.sum([][]float64{dst}, feedOf(g, b.sums, b.sheet64, on, &b.on), feedOf(g, b.sums, b.sheet64, idx, &b.which), [][]float64{coef})
}

// Mutual adds Σ_k coefB[k]·K(x_i, x_j) for j = b[k] to dstA[r], i = a[r], and
// Σ_r coefA[r] of the same values to dstB[k], each computed once, as TimesAt
// computes them.
func (g *Gram) Mutual(dstA, dstB []float64, a, b []int, coefA, coefB []float64) {
	defer named(g.order)
	if len(a) == 0 || len(b) == 0 {
		return
	}
	sums := inBlocks(g).sums
	if sums == nil {
		g.TimesAt(dstA, a, b, coefB)
		g.TimesAt(dstB, b, a, coefA)
		return
	}
	g.evaluations += int64(len(a)) * int64(len(b))
	m, _ := g.blocks.(*blocks)
	sums.mutual(dstA[:len(a)], dstB[:len(b)], feedOf(g, sums, m.sheet64, a, &m.on), feedOf(g, sums, m.sheet64, b, &m.which), coefA[:len(a)], coefB[:len(b)])
}

// InBlocks reports whether products of matrices give the kernel's values in single
// precision. Where they do not, rows are what to ask for.
func (g *Gram) InBlocks() bool { return inBlocks(g).unit != 0 }

// all returns dst, or zeros for all points where it is for the points on; some such
// sums may be in hand, each with a number.
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

// anew makes what values are computed anew with.
func (b *blocks) anew(g *Gram) {
	switch {
	case b.unit == 0x1p-53 && b.few64 == nil:
		b.few64 = &packed[float64]{f: b.f}
	case b.unit == 0x1p-24 && b.few == nil:
		b.few = &packed[float32]{f: b.f}
		if g.roomForCopy(4) {
			b.sheet = new(strip[float32])
			b.sheet.layAll(b.f, g.p, g.place)
		}
	}
}

// feedOf returns the feed of the points idx, of all where that is nil: from the
// sheet where there is one. where is its memory.
func feedOf[T simd.Float](g *Gram, p *packed[T], sheet *strip[T], idx []int, where *[]int32) feed[T] {
	n := g.n
	if idx != nil {
		n = len(idx)
	}
	*where = sized(*where, n)
	which := *where
	for r := range which {
		i := r
		if idx != nil {
			i = idx[r]
		}
		if which[r] = g.place[i]; sheet != nil {
			which[r] = int32(i)
		}
	}
	if sheet == nil {
		return p.points(g.p, which)
	}
	return func(s *strip[T], from, to int) { s.cut(p.f, sheet, which[from:to]) }
}

// inParts calls do with the rows of idx, as many at a time as are held.
func (b *blocks) inParts(g *Gram, idx []int, do func(from int, held [][]float32)) {
	most := min(len(idx), g.Room())
	for len(b.some) < most {
		b.some = append(b.some, nil)
	}
	for from := 0; from < len(idx); from += most {
		part := idx[from:min(from+most, len(idx))]
		g.Hold(b.some, part)
		do(from, b.some[:len(part)])
	}
}

// rowStretch is how much of a row a goroutine adds up at a time.
const rowStretch = 2048

// byRows says whether rows are better held than computed each time: they take long,
// and a good part of all rows has room. What has no formula is held.
func (b *blocks) byRows(g *Gram) bool {
	return b.unit == 0 || b.features >= dearFeatures && 4*g.Room() >= g.n
}
