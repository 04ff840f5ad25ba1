package kernels

import (
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"sync"
)

// How large the errors of values may be that come from a product of matrices,
// relative to the largest value; see term.reach. A row in single precision has
// roundings of 2⁻²⁴ anyway, and 2⁻¹⁷ is far below what a solver can tell.
const (
	rowTolerance   = 0x1p-17
	sumTolerance   = 0x1p-32
	sweepTolerance = 0x1p-40 // of what is factored
)

// blocks is what a Gram has for computing many rows together. Rows come from a
// product in single or in double precision or, where neither will do, one by one.
type blocks struct {
	f        *formula // nil: one by one
	unit     float64  // that rows may be rounded to; 0: one by one
	features float64  // that a product takes
	off      float64  // by what share of it rounding moves a value at most, where that is proven; else 0
	rows     *lately[float32]
	single   *packed[float32]
	double   *packed[float64]
	sums     *packed[float64] // for Times; nil: one by one
	sweeps   bool             // Sweep may take products too

	missing []int
	into    [][]float32
	which   []int32
	on      []int32
	alone   []lone // of each goroutine

	// For Among and Accumulate.
	before  []int32 // by point: where it was, from 1; 0 between uses
	twin    []int32 // where the same point was as well
	kept    []kept
	runs    []kept // the same in longer pieces
	fresh   []int32
	few     *packed[float32]
	few64   *packed[float64]
	sheet   *strip[float32] // all points in their order, or nil
	sheet64 *strip[float64] // of compressed points
	some    [][]float32
	whole   [][]float64
}

// Room returns how many rows [Gram.Hold] can hold at once: as many as fit into
// the memory for rows at 4 bytes an entry, but at least two and at most n.
func (g *Gram) Room() int {
	bytes := g.cacheBytes
	if bytes == 0 {
		bytes = DefaultCache
	}
	return int(min(int64(g.n), max(2, bytes/4/int64(g.n))))
}

// Hold sets dst[k] to the n entries of row idx[k] in single precision, for at
// most [Gram.Room] indices; more panic. The rows used last are kept, and those
// that are missing are computed together, on GOMAXPROCS goroutines. The caller
// does not write to rows, which are valid until the next call.
//
// A kernel that is a function of dot products or of distances, a [Sum],
// [Product], [Scale], [Normalised] or [Columns] of such, goes by one product of
// matrices for all rows, of points less their mean: in single precision where
// rounding then moves no entry by more than about 2⁻¹⁷ of the largest, else in
// double precision. Other kernels, and points so far from each other in units of
// the kernel that this is not enough, go row by row as in Row. Entries do not
// depend on which rows are computed together.
//
// Memory for rows belongs to Hold from its first call on, and Row keeps no
// further ones. Beside them there are one or two more copies of the points; where
// Go's memory limit has no room for one, rows go one by one.
func (g *Gram) Hold(dst [][]float32, idx []int) {
	defer named(g.order)
	if room := g.Room(); len(idx) > room {
		panic(fmt.Sprintf("kernels: Hold of %d rows, of which %d have room", len(idx), room))
	}
	b := heldBlocks(g)
	dst = dst[:len(idx)]
	b.missing, b.into = b.missing[:0], b.into[:0]
	for k, i := range idx {
		dst[k] = b.rows.get(i)
	}
	for k, i := range idx {
		if dst[k] == nil {
			if dst[k] = b.rows.get(i); dst[k] != nil { // asked for twice
				continue
			}
			dst[k] = b.rows.put(i)
			b.missing, b.into = append(b.missing, i), append(b.into, dst[k])
		}
	}
	if len(b.missing) == 0 {
		return
	}
	g.evaluations += int64(len(b.missing)) * int64(g.n)
	computed := false
	defer func() {
		if !computed { // a kernel has panicked: no row is to be believed
			b.rows = newLately[float32](g.n, g.Room())
		}
	}()
	switch {
	case b.single != nil:
		b.single.rows(b.into, feedOf(g, b.single, b.sheet, b.missing, &b.which))
	case b.double != nil:
		b.double.rows(b.into, feedOf(g, b.double, b.sheet64, b.missing, &b.which))
	default:
		b.oneByOne(g, b.missing, func(k int, row []float64) {
			for t, v := range row {
				b.into[k][g.order[t]] = float32(v)
			}
		})
	}
	for k, i := range b.missing {
		b.into[k][i] = float32(g.diag[i])
	}
	computed = true
}

// Times adds Σ_k coef[k]·K(x_i, x_idx[k]) to dst[i] for all n points, on
// GOMAXPROCS goroutines. Everything is in double precision and from the points
// afresh; nothing is kept. It is what an exact residual or a certificate takes,
// at n·d multiplications for each index: who looks at a context calls it with
// some thousand at a time.
func (g *Gram) Times(dst []float64, idx []int, coef []float64) {
	defer named(g.order)
	b := inBlocks(g)
	dst, coef = dst[:g.n], coef[:len(idx)]
	if b.sums != nil {
		g.TimesAt(dst, nil, idx, coef)
		return
	}
	g.evaluations += int64(len(idx)) * int64(g.n)
	b.missing = b.missing[:0]
	for _, i := range idx {
		_ = g.diag[i]
		b.missing = append(b.missing, i)
	}
	b.oneByOne(g, b.missing, func(k int, row []float64) {
		for t, v := range row {
			dst[g.order[t]] += float64(coef[k] * v)
		}
	})
}

// inBlocks returns g.blocks, and makes it first.
func inBlocks(g *Gram) *blocks {
	if b, made := g.blocks.(*blocks); made {
		return b
	}
	b := &blocks{f: formulaOf(g.kernel, g.p.d)}
	g.blocks = b
	if b.f == nil {
		return b
	}
	b.sums = &packed[float64]{f: b.f}
	g.compress()
	for b.f.sparse = g.p.sparse != nil; ; b.f.sparse = false {
		b.f.centre(g.p, g.place)
		b.sheet64 = nil
		strips := func(d *desk[float64], from, to int) *strip[float64] {
			d.left.lay(b.f, g.p, g.place[from:to])
			return &d.left
		}
		if b.f.sparse {
			b.sheet64 = new(strip[float64])
			b.sheet64.layAll(b.f, g.p, g.place)
			strips = func(_ *desk[float64], from, to int) *strip[float64] { return b.sheet64.part(b.f, from, to) }
		}
		norm, self, most := b.sums.extent(g.n, strips)
		single, exact := b.f.within(norm, 0x1p-24, rowTolerance, self), b.f.within(norm, 0x1p-53, sumTolerance, self)
		b.sweeps = b.f.within(norm, 0x1p-53, sweepTolerance, self)
		if b.f.sparse && g.p.written && !(single && exact && b.sweeps) {
			g.p.writeOut() // less their means they may be
			continue
		}
		largest := 0.0
		for _, v := range g.diag {
			largest = max(largest, math.Abs(v))
		}
		switch {
		case !inRange(largest): // rows are in single precision, however they are computed
		case single && all(norm, inRange) && all(self, func(s span) bool { return s.high <= mostSingle }):
			b.unit, b.off = 0x1p-24, b.f.off(norm, most, 0x1p-24)
		case b.f.within(norm, 0x1p-53, rowTolerance, self):
			b.unit = 0x1p-53
		}
		if !exact {
			b.sums = nil
		}
		b.features = 0
		for _, s := range b.f.spaces {
			b.features += float64(len(s.cols))
		}
		if b.f.sparse {
			b.features *= float64(len(g.p.sparse.Value)) / (float64(g.n) * float64(g.p.d))
		}
		return b
	}
}

// mostSingle, and one over it, are how far squares of distances and kernel values may go in
// single precision: 2²⁴ times larger or smaller than these, a number is still one.
const mostSingle = 0x1p100

// inRange reports whether v and what it is made of have room in single precision.
func inRange(v float64) bool { return v == 0 || v >= 1/mostSingle && v <= mostSingle }

func all[T any](list []T, holds func(T) bool) bool {
	return !slices.ContainsFunc(list, func(v T) bool { return !holds(v) })
}

// off bounds the relative error of a Gaussian of points as they are, from products
// rounded to the unit u: with R² the largest ‖x − μ‖², rounding x − μ moves
// ‖x − z‖² by 8uR², the sum of m products 2x·z by 2(m + 1)uR², and norms, their sum,
// the difference and γ by 16uR²; second orders and exp are the rest. A product of
// matrices sums blocks of 192, and then these.
func (f *formula) off(norm []float64, most int, u float64) float64 {
	t, ok := f.root.(innerTerm)
	if !ok || t.gamma == 0 {
		return 0
	}
	m := float64(most)
	if !f.sparse {
		m = min(m, 192) + math.Ceil(m/192)
	}
	off := math.Expm1(t.gamma*float64(float64(2*m)+32)*u*norm[t.space]) + float64(16*u)
	if off > 0.5 {
		return 0
	}
	return off / (1 - off) // of the value as it is rounded
}

// compress keeps points that are mostly zero without zeros, though they are already by
// columns, as few are.
func (g *Gram) compress() {
	if g.p.sparse != nil || g.p.rows != nil {
		return
	}
	start := make([]int, g.n+1)
	for from := 0; from < len(g.p.columns); from += g.n {
		for j, v := range g.p.columns[from : from+g.n] {
			if v != 0 {
				start[g.order[j]+1]++
			}
		}
	}
	for i := range g.n {
		start[i+1] += start[i]
	}
	if mostlyZero(g.n, g.p.d, start[g.n]) {
		g.p.sparse = &sparsePoints{withoutZeros(ordered{g.p, g.place}, g.p.d, start), slices.Clone(g.order)}
		g.p.written = true
	}
}

// ordered is points in the order in which they were given.
type ordered struct {
	p     *points
	place []int32
}

func (o ordered) point(dst []float64, i int) []float64 { return o.p.point(dst, int(o.place[i])) }

// held is inBlocks with what Hold needs.
func heldBlocks(g *Gram) *blocks {
	b := inBlocks(g)
	if b.rows != nil {
		return b
	}
	b.rows = newLately[float32](g.n, g.Room())
	switch s := g.store.(type) {
	case recent:
		g.store = newReevaluated(g)
	case *dense:
		if s.todo > 0 {
			m := newReevaluated(g)
			m.known, m.moved = s.rows, make([]float64, g.n)
			g.store = m
		}
	}
	switch {
	case b.unit == 0x1p-24 && g.roomForCopy(4):
		b.single = &packed[float32]{f: b.f}
		if g.roomForCopy(8) {
			b.anew(g)
			b.single.packSheet(b.sheet)
		} else {
			b.single.pack(g.n, b.single.points(g.p, g.place))
		}
	case b.unit == 0x1p-53 && g.roomForCopy(8):
		b.double = &packed[float64]{f: b.f}
		b.double.pack(g.n, feedOf(g, b.double, b.sheet64, nil, &b.which))
	}
	return b
}

// roomForCopy says whether a copy of the points, at so many bytes a number, fits
// beside them.
func (g *Gram) roomForCopy(bytes float64) bool {
	left := float64(debug.SetMemoryLimit(-1)) - need(g.n, g.numbers)
	return bytes*float64(g.n)*float64(g.numbers) <= left
}

// centre sets the means of the spaces to those of the points which of p, unless
// they are by compressed rows.
func (f *formula) centre(p *points, which []int32) {
	if f.sparse {
		for _, s := range f.spaces {
			if !slices.Equal(s.cols, firstInts(p.d)) {
				s.to = whither(s.cols)
			}
		}
		return
	}
	for _, s := range f.spaces {
		s.mean, s.to = make([]float64, len(s.cols)), nil
		tasks := (len(s.cols) + meanStrip - 1) / meanStrip
		share(threads(tasks), tasks, func(_, task int) {
			cols := s.cols[task*meanStrip : min((task+1)*meanStrip, len(s.cols))]
			mean := s.mean[task*meanStrip:][:len(cols)]
			for _, j := range which {
				if p.rows == nil {
					for k, c := range cols {
						mean[k] += p.columns[c*p.n+int(j)]
					}
					continue
				}
				x := p.rows[j]
				for k, c := range cols {
					mean[k] += x[c]
				}
			}
			for k := range mean {
				mean[k] /= float64(len(which))
			}
		})
	}
}

// meanStrip is of how many features a goroutine takes the means at a time.
const meanStrip = 32

// extent returns by space the largest ‖x − μ‖² of n points, and between which x·x are,
// and of how many products a sum is at most. strips lays some of them out.
func (p *packed[T]) extent(n int, strips func(d *desk[T], from, to int) *strip[T]) (norm []float64, self []span, most int) {
	norm, self = make([]float64, len(p.f.spaces)), make([]span, len(p.f.spaces))
	for s := range self {
		self[s].low = math.Inf(1)
	}
	var mu sync.Mutex
	p.each((n+rightStrip-1)/rightStrip, func(d *desk[T], task int) {
		from := task * rightStrip
		some := strips(d, from, min(from+rightStrip, n))
		mu.Lock()
		defer mu.Unlock()
		for s := range norm {
			most = max(most, some.longest(p.f, s))
			for r, v := range some.norm[s][:some.n] {
				xx := v + 2*some.shift[s][r]
				norm[s], self[s].low, self[s].high = max(norm[s], v), min(self[s].low, xx), max(self[s].high, xx)
			}
		}
	})
	return norm, self, most
}

// within says whether values come out as exact as that; see term.reach.
func (f *formula) within(norm []float64, u, tol float64, self []span) bool {
	for s, r := range f.reach(u, tol, self) {
		if !(norm[s] <= r) {
			return false
		}
	}
	return true
}

// lone is the memory for a row by itself.
type lone struct {
	row, x []float64
	work   work
}

// oneByOne computes rows of the points idx, some at a time, and calls do with
// each in their order; its entries are in the order in which points stand.
func (b *blocks) oneByOne(g *Gram, idx []int, do func(k int, row []float64)) {
	some := threads(len(idx))
	for from := 0; from < len(idx); from += some {
		part := idx[from:min(from+some, len(idx))]
		for len(b.alone) < len(part) {
			b.alone = append(b.alone, lone{row: make([]float64, g.n), x: make([]float64, g.p.d)})
		}
		share(len(part), len(part), func(_, task int) {
			m, place := &b.alone[task], int(g.place[part[task]])
			defer rowOf(&place)
			g.rower.row(m.row, g.p.point(m.x, place), &m.work)
		})
		for k := range part {
			do(from+k, b.alone[k].row)
		}
	}
}
