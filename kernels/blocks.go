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

// blocks is what a Gram has for computing many values together.
type blocks struct {
	f        *formula // nil where the kernel is no function of products
	quick    tier     // for rows in single precision; nil: they are computed one by one
	exact    tier     // for sums in double precision; nil: from rows one by one
	sweeps   bool     // whether Sweep may take products too
	features float64  // how many multiplications a product of two points takes
	off      float64  // bounds the relative rounding error of a value of quick; 0: not known

	// Rows in single precision that are kept: those used last. They come from quick
	// where laid is set.
	held interface {
		get(i int) []float32
		put(i int) []float32
	}
	laid bool

	// Memory of the calls.
	missing []int
	into    [][]float32
	alone   []lone // of each goroutine
	some    [][]float32
	whole   [][]float64
	among
}

// room returns how many rows hold can keep at once: as many as fit into the memory for
// rows at 4 bytes an entry, but at least two and at most n.
func (g *Gram) room() int {
	bytes := g.cacheBytes
	if bytes == 0 {
		bytes = DefaultCache
	}
	return int(min(int64(g.n), max(2, bytes/4/int64(g.n))))
}

// hold sets dst[k] to the n entries of row idx[k] in single precision, for at most
// room indices; more panic. The rows used last are kept, and those that are missing are
// computed together, on GOMAXPROCS goroutines. The caller does not write to rows, which
// are valid until the next call. An entry does not depend on which rows are computed
// together.
//
// Memory for rows belongs to hold from its first call on, and Row keeps no further ones.
func (g *Gram) hold(dst [][]float32, idx []int) {
	if room := g.room(); len(idx) > room {
		panic(fmt.Sprintf("kernels: hold of %d rows, of which %d have room", len(idx), room))
	}
	b := holding(g)
	dst = dst[:len(idx)]
	b.missing, b.into = b.missing[:0], b.into[:0]
	for k, i := range idx {
		dst[k] = b.held.get(i)
	}
	for k, i := range idx {
		if dst[k] == nil {
			if dst[k] = b.held.get(i); dst[k] != nil { // asked for twice
				continue
			}
			dst[k] = b.held.put(i)
			b.missing, b.into = append(b.missing, i), append(b.into, dst[k])
		}
	}
	if len(b.missing) == 0 {
		return
	}
	g.evaluations += int64(len(b.missing)) * int64(g.n)
	computed := false
	defer func() {
		if !computed { // A kernel has panicked, and some of the rows have no values.
			b.held = newLately[float32](g.n, g.room())
		}
	}()
	if b.laid {
		b.quick.rows(g, b.into, b.missing)
	} else {
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

// inBlocks returns g.blocks, and makes it first.
func inBlocks(g *Gram) *blocks {
	if g.blocks != nil {
		return g.blocks
	}
	b := &blocks{f: formulaOf(g.kernel, g.p.d)}
	g.blocks = b
	if b.f == nil {
		return b
	}
	g.compress()
	b.f.sparse = g.p.sparse != nil
	if good := b.choose(g); !good && b.f.sparse && g.p.written {
		// Sparse points keep their means, so their products may round too much. Those of
		// the points written out, less their means, may do.
		g.p.writeOut()
		b.f.sparse = false
		b.choose(g)
	}
	return b
}

// choose chooses the tiers by the points and the kernel. It reports whether products are
// exact enough for all uses.
func (b *blocks) choose(g *Gram) bool {
	b.f.centre(g.p, g.place)
	double := &tierOf[float64]{f: b.f, some: packed[float64]{f: b.f}}
	strips := func(d *desk[float64], from, to int) *strip[float64] {
		d.left.lay(b.f, g.p, g.place[from:to])
		return &d.left
	}
	if b.f.sparse {
		double.sheet = new(strip[float64])
		double.sheet.layAll(b.f, g.p, g.place)
		strips = func(_ *desk[float64], from, to int) *strip[float64] { return double.sheet.part(b.f, from, to) }
	}
	norm, self, most := double.some.extent(g.n, strips)
	single, exact := b.f.within(norm, 0x1p-24, rowTolerance, self), b.f.within(norm, 0x1p-53, sumTolerance, self)
	b.sweeps = b.f.within(norm, 0x1p-53, sweepTolerance, self)
	largest := 0.0
	for _, v := range g.diag {
		largest = max(largest, math.Abs(v))
	}
	b.quick, b.exact, b.off, b.features = nil, nil, 0, 0
	switch {
	case !inRange(largest): // rows are in single precision, however they are computed
	case single && all(norm, inRange) && all(self, func(s span) bool { return s.high <= mostSingle }):
		b.quick = &tierOf[float32]{f: b.f, some: packed[float32]{f: b.f}, copies: true}
		b.off = b.f.off(norm, most, 0x1p-24)
	case b.f.within(norm, 0x1p-53, rowTolerance, self):
		b.quick = double
	}
	if exact {
		b.exact = double
	}
	for _, s := range b.f.spaces {
		b.features += float64(len(s.cols))
	}
	if b.f.sparse {
		b.features *= float64(len(g.p.sparse.Value)) / (float64(g.n) * float64(g.p.d))
	}
	return single && exact && b.sweeps
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

// holding is inBlocks with what hold needs.
func holding(g *Gram) *blocks {
	b := inBlocks(g)
	if b.held != nil {
		return b
	}
	b.held = newLately[float32](g.n, g.room())
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
	b.laid = b.quick != nil && b.quick.layOut(g)
	return b
}

// roomForCopy reports whether a copy of the points, at so many bytes a number, fits
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
