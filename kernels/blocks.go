package kernels

import (
	"cmp"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/svmnb/svmnb/internal/vec"
)

// These tolerances bound the error of a kernel value from a product of matrices, relative to
// the largest value (see term.reach). If products have larger errors, values come from single
// rows.
const (
	rowTolerance   = 0x1p-17 // for rows in single precision; solvers do not notice an error of this size
	sumTolerance   = 0x1p-32 // for exact sums
	sweepTolerance = 0x1p-40 // for a matrix that is to be factored
)

// blocks is the part of a Gram that computes many values together.
type blocks struct {
	f        *formula // nil if the kernel is no function of dot products
	quick    tier     // computes rows in single precision; nil: they are computed one by one
	exact    tier     // computes sums in double precision; nil: they are made from single rows
	sweeps   bool     // whether Sweep may use products too
	features float64  // number of multiplications in a dot product of two points
	off      bound    // of the rounding error of values of quick

	// The rows in single precision that were used last. If laid is set, quick has a copy of
	// all points to compute them; otherwise they are computed one by one.
	held interface {
		get(i int) []float32
		put(i int) []float32
	}
	laid bool

	// Memory that calls reuse.
	missing []int       // the points whose rows have to be computed
	into    [][]float32 // where to put these rows
	alone   []lone      // for each goroutine
	some    [][]float32 // held rows
	whole   []float64   // sums at all points
	sums    []float64   // memory of enclose
	among
}

// room returns how many rows can be held at once: as many as fit into the memory for rows with
// 4 bytes per entry, but at least two and at most n.
func (g *Gram) room() int {
	bytes := cmp.Or(g.cacheBytes, DefaultCache)
	return int(min(int64(g.n), max(2, bytes/4/int64(g.n))))
}

// hold sets dst[k] to row idx[k] in single precision, n entries, for at most room indices; it
// panics if there are more. The rows used last are kept. Missing rows are computed together,
// on GOMAXPROCS goroutines. An entry does not depend on which rows are computed with it. The
// caller must not write to a row, which is valid until the next call.
//
// From the first call on, hold uses the memory for rows, and Row keeps no more rows.
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
			if dst[k] = b.held.get(i); dst[k] != nil { // the index occurs twice
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

// inBlocks returns g.blocks, and makes it on the first call.
func inBlocks(g *Gram) *blocks {
	if g.blocks != nil {
		return g.blocks
	}
	b := &blocks{f: formulaOf(g.kernel, g.p.d)}
	g.blocks = b
	if b.f == nil {
		return b
	}
	if len(b.f.maps) == 0 {
		g.compress()
	} else if g.p.sparse != nil {
		b.f = nil // a sum of features is not sparse
		return b
	}
	b.f.sparse = g.p.sparse != nil
	if good := b.choose(g); !good && b.f.sparse && g.p.written {
		// The mean is not subtracted from sparse points, so products have larger errors. As
		// dense points, with the mean subtracted, the same points may be good enough.
		g.p.writeOut()
		b.f.sparse = false
		b.choose(g)
	}
	return b
}

// choose chooses the tiers for the points and the kernel. It reports whether products are
// exact enough for all uses.
func (b *blocks) choose(g *Gram) bool {
	b.f.centre(g.p, g.place)
	fuse := g.n >= fusedFrom
	double := &tierOf[float64]{f: b.f, some: product[float64]{f: b.f, fuse: fuse}}
	strips := func(d *scratch[float64], from, to int) *strip[float64] {
		d.left.lay(b.f, g.p, g.place[from:to])
		return &d.left
	}
	if b.f.sparse {
		double.whole = new(strip[float64])
		double.whole.layAll(b.f, g.p, g.place)
		strips = func(_ *scratch[float64], from, to int) *strip[float64] { return double.whole.part(b.f, from, to) }
	}
	norm, each, self, most := double.some.extent(g.n, strips)
	single, exact := b.f.within(norm, 0x1p-24, rowTolerance, self), b.f.within(norm, 0x1p-53, sumTolerance, self)
	b.sweeps = b.f.within(norm, 0x1p-53, sweepTolerance, self)
	b.quick, b.exact, b.off, b.features = nil, nil, bound{}, 0
	switch {
	case !inRange(vec.MaxAbs(g.diag)): // kernel values are out of range for single precision
	case single && all(norm, inRange) && all(self, func(s span) bool { return s.high <= mostSingle }):
		b.quick = &tierOf[float32]{f: b.f, some: product[float32]{f: b.f, fuse: fuse}, copies: true}
		b.off = b.f.off(norm, each, most, 0x1p-24)
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

// fusedFrom is the number of points from which sums use simd.Gaussians. These round differently,
// and with fewer points they save only milliseconds.
var fusedFrom = 4096

// mostSingle and 1/mostSingle bound squared distances and kernel values in single precision.
// Numbers larger or smaller by 2²⁴ still fit.
const mostSingle = 0x1p100

// inRange reports whether v, and the numbers that it is computed from, fit into single
// precision.
func inRange(v float64) bool { return v == 0 || v >= 1/mostSingle && v <= mostSingle }

func all[T any](list []T, holds func(T) bool) bool {
	return !slices.ContainsFunc(list, func(v T) bool { return !holds(v) })
}

// bound bounds the errors of values of a Gaussian kernel. The error of K̃_ij is at most
//
//	(unit + slope (‖x_i − μ‖² + ‖x_j − μ‖²)) K̃_ij.
//
// The slope is 0 if no bound is known.
type bound struct {
	unit, slope float64
	norm        []float64 // ‖x − μ‖² of each point
}

// off returns the bound of the errors of a Gaussian kernel. norm has the largest ‖x − μ‖² of
// each space, R², and each those of all points. Products have the rounding unit u, and m, the
// largest number of products in a sum, is given by most. To first order, with S = ‖x − μ‖² +
// ‖z − μ‖² ≤ 2R², the error of ‖x − z‖² has these parts:
//
//   - 4uS from rounding x − μ,
//   - (m + 1)uS from the sum of m products in 2x·z; a product of matrices sums parts of
//     192 first, and then these,
//   - 9.5uS from norms, their two sums with 2x·z, and γ.
//
// The bound leaves room for second orders, and 16u for exp and for the terms that simd.Gaussians
// sums in single precision.
func (f *formula) off(norm, each []float64, most int, u float64) bound {
	t, ok := f.root.(innerTerm)
	if !ok || t.gamma == 0 {
		return bound{}
	}
	m := float64(most)
	if !f.sparse {
		m = min(m, 192) + math.Ceil(m/192)
	}
	slope := float64(t.gamma * float64(float64(m+16)*u))
	largest := float64(slope * float64(2*norm[t.space]))
	convex := 1.0 // exp(e) − 1 ≤ convex·e for every e up to the largest
	if largest > 0 {
		convex = math.Expm1(largest) / largest
	}
	off := float64(convex*largest) + float64(16*u)
	if off > 0.5 {
		return bound{}
	}
	return bound{unit: 16 * u / (1 - off), slope: convex * slope / (1 - off), norm: each} // relative to the rounded value
}

// compress drops the zeros of points that are mostly zero. Few points are laid out by columns
// before it is known whether products will be used; they keep their columns.
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

// ordered has the points of a Gram in the order of their indices.
type ordered struct {
	p     *points
	place []int32
}

func (o ordered) point(dst []float64, i int) []float64 { return o.p.point(dst, int(o.place[i])) }

// holding returns the blocks of g, prepared for hold.
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

// roomForCopy reports whether a copy of the points, with the given bytes per number, fits into
// memory.
func (g *Gram) roomForCopy(bytes float64) bool {
	left := float64(debug.SetMemoryLimit(-1)) - need(g.n, g.numbers)
	return bytes*float64(g.n)*float64(g.numbers) <= left
}

// centre sets the mean of each space to the mean of the points whose indices are in the list
// which. For sparse points it sets the mean to 0.
func (f *formula) centre(p *points, which []int32) {
	if f.sparse {
		for _, s := range f.spaces {
			if !slices.Equal(s.cols, vec.Indices[int](p.d)) {
				s.to = placesOf(s.cols)
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
			var x []float64
			if len(f.maps) > 0 {
				x = make([]float64, p.d)
			}
			for _, j := range which {
				if x != nil {
					point := p.point(x, int(j))
					for k, c := range cols {
						mean[k] += f.feature(c, point)
					}
					continue
				}
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

// meanStrip is the number of features whose means a goroutine computes at a time.
const meanStrip = 32

// extent returns, for each space, the largest ‖x − μ‖² of n points and the range of x·x. It
// also returns the ‖x − μ‖² of all points in the first space, and the largest number of
// products in a dot product. The function strips returns a strip of the points i with from ≤ i
// < to.
func (p *product[T]) extent(n int, strips func(d *scratch[T], from, to int) *strip[T]) (norm, each []float64, self []span, most int) {
	norm, each, self = make([]float64, len(p.f.spaces)), make([]float64, n), make([]span, len(p.f.spaces))
	for s := range self {
		self[s].low = math.Inf(1)
	}
	var mu sync.Mutex
	p.each((n+rightStrip-1)/rightStrip, func(d *scratch[T], task int) {
		from := task * rightStrip
		some := strips(d, from, min(from+rightStrip, n))
		copy(each[from:], some.norm[0][:some.n])
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
	return norm, each, self, most
}

// within reports whether kernel values from products with the rounding unit u have errors
// below tol; see term.reach.
func (f *formula) within(norm []float64, u, tol float64, self []span) bool {
	for s, r := range f.reach(u, tol, self) {
		if !(norm[s] <= r) {
			return false
		}
	}
	return true
}

// lone is the memory for computing a single row.
type lone struct {
	row, x []float64
	work   work
}

// oneByOne computes the rows of the points idx without products of matrices, several rows at a
// time on as many goroutines. It calls do with row after row, where row k belongs to idx[k].
// Entry t of a row belongs to the point at place t.
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
