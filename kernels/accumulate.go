package kernels

import "github.com/svmnb/svmnb/internal/simd"

// dearFeatures is from how many features on a row that is held is worth more than
// the memory it takes: with fewer, its entries are computed again, into the
// second-level cache and out of it, in about the time in which they come from
// memory.
const dearFeatures = 96

// Among sets dst[k·q+l] to the kernel of the points idx[k] and idx[l], q = len(idx),
// in single precision. A point may be there twice.
func (g *Gram) Among(dst []float32, idx []int) {
	q := len(idx)
	rows := make([][]float32, q)
	for k := range rows {
		rows[k] = dst[k*q:][:q]
	}
	b := g.inBlocks()
	if b.byRows(g, q) {
		b.inParts(g, idx, func(from int, held [][]float32) {
			tasks := (len(held) + leftStrip - 1) / leftStrip
			share(threads(tasks), tasks, func(_, task int) {
				for k := task * leftStrip; k < min((task+1)*leftStrip, len(held)); k++ {
					for l, j := range idx {
						rows[from+k][l] = held[k][j]
					}
				}
			})
		})
		return
	}
	g.evaluations += int64(q) * int64(q)
	which := b.right(g, idx)
	if b.unit == 0x1p-24 {
		b.few.rows(rows, g.p, which)
	} else {
		b.few64.rows(rows, g.p, which)
	}
	for k, i := range idx {
		rows[k][k] = float32(g.diag[i])
	}
}

// Accumulate adds Σ_k coef[k]·K(x_i, x_idx[k]) to dst[r] for the points i = on[r],
// or for all n of them where on is nil, on GOMAXPROCS goroutines. Kernel values
// are those of [Gram.Hold], in single precision, their sum is in double precision.
// Where it costs less than to keep rows, their entries are computed anew each time
// and summed at once; then no memory is needed, and only the points on cost time.
func (g *Gram) Accumulate(dst []float64, on, idx []int, coef []float64) {
	b, m := g.inBlocks(), g.n
	if on != nil {
		m = len(on)
	}
	dst, coef = dst[:m], coef[:len(idx)]
	if !b.byRows(g, 1) {
		g.evaluations += int64(m) * int64(len(idx))
		b.right(g, idx)
		if b.unit == 0x1p-24 {
			b.few.add([][]float64{dst}, g.p, b.stands(g, on), [][]float64{coef}, nil, nil)
		} else {
			b.few64.add([][]float64{dst}, g.p, b.stands(g, on), [][]float64{coef}, nil, nil)
		}
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

// TimesAt is [Gram.Times] for the points on: it adds Σ_k coef[k]·K(x_i, x_idx[k]) to
// dst[r] for i = on[r], or for all points where on is nil.
func (g *Gram) TimesAt(dst []float64, on, idx []int, coef []float64) {
	b := g.inBlocks()
	if on == nil {
		g.Times(dst, idx, coef)
		return
	}
	dst, coef = dst[:len(on)], coef[:len(idx)]
	if b.sums == nil {
		whole := b.all(g, dst, on)
		g.Times(whole, idx, coef)
		for r, i := range on {
			dst[r] += whole[i]
		}
		return
	}
	g.evaluations += int64(len(idx)) * int64(len(on))
	for from := 0; from < len(idx); from += sumBatch {
		to := min(from+sumBatch, len(idx))
		b.missing = b.missing[:0]
		for _, i := range idx[from:to] {
			b.missing = append(b.missing, int32(i))
		}
		b.sums.pack(g.p, b.places(g, b.missing))
		b.sums.add([][]float64{dst}, g.p, b.stands(g, on), [][]float64{coef[from:to]}, nil, nil)
	}
}

// InBlocks reports whether products of matrices give the kernel's values in single
// precision. Where they do not, rows are what to ask for.
func (g *Gram) InBlocks() bool { return g.inBlocks().unit != 0 }

// Holds reports whether Accumulate reads rows that are held, which takes a small
// part of the time that they take to compute.
func (g *Gram) Holds() bool { return g.inBlocks().byRows(g, 1) }

// all returns dst, or zeros for all points where it is for the points on.
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

// stands returns where the points on stand, all of them where it is nil.
func (b *blocks) stands(g *Gram, on []int) []int32 {
	if on == nil {
		return g.place
	}
	b.on = b.on[:0]
	for _, i := range on {
		b.on = append(b.on, g.place[i])
	}
	return b.on
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

// byRows says whether q rows are better held than computed each time: they take
// long, and a good part of all rows has room. What has no formula is held.
func (b *blocks) byRows(g *Gram, q int) bool {
	if b.unit == 0 {
		return true
	}
	features := 0
	for _, s := range b.f.spaces {
		features += len(s.cols)
	}
	if s := g.p.sparse; s != nil {
		features = len(b.f.spaces) * len(s.Value) / g.n
	}
	return features >= dearFeatures && g.Room() >= max(q, g.n/4)
}

// right lays the points idx out on the right and returns where they stand.
func (b *blocks) right(g *Gram, idx []int) []int32 {
	b.missing = b.missing[:0]
	for _, i := range idx {
		b.missing = append(b.missing, int32(i))
	}
	which := b.places(g, b.missing)
	if b.unit == 0x1p-24 {
		b.few.f = b.f
		b.few.pack(g.p, which)
	} else {
		b.few64.f = b.f
		b.few64.pack(g.p, which)
	}
	return which
}
