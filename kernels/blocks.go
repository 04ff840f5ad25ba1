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
	rowTolerance = 0x1p-17
	sumTolerance = 0x1p-32
)

// sumBatch is how many points are on the right of a sum at a time.
const sumBatch = 4096

// blocks is what a Gram has for computing many rows together. Rows come from a
// product in single or in double precision or, where neither will do, one by one.
type blocks struct {
	f      *formula // nil: one by one
	unit   float64  // that rows may be rounded to; 0: one by one
	rows   *lately[float32]
	single *packed[float32]
	double *packed[float64]
	sums   *packed[float64] // for Times; nil: one by one

	missing []int32
	into    [][]float32
	which   []int32
	alone   []lone // of each goroutine

	// For Among, Accumulate and TimesAt.
	few   packed[float32]
	few64 packed[float64]
	on    []int32
	some  [][]float32
	whole []float64
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
// further ones. Beside them there is a second copy of the points; where Go's
// memory limit has no room for it, rows go one by one.
func (g *Gram) Hold(dst [][]float32, idx []int) {
	if room := g.Room(); len(idx) > room {
		panic(fmt.Sprintf("kernels: Hold of %d rows, of which %d have room", len(idx), room))
	}
	b := g.held()
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
			b.missing, b.into = append(b.missing, int32(i)), append(b.into, dst[k])
		}
	}
	if len(b.missing) == 0 {
		return
	}
	g.evaluations += int64(len(b.missing)) * int64(g.n)
	switch {
	case b.single != nil:
		b.single.rows(b.into, g.p, b.places(g, b.missing))
	case b.double != nil:
		b.double.rows(b.into, g.p, b.places(g, b.missing))
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
}

// Times adds Σ_k coef[k]·K(x_i, x_idx[k]) to dst[i] for all n points, on
// GOMAXPROCS goroutines. Everything is in double precision and from the points
// afresh; nothing is kept. It is what an exact residual or a certificate takes,
// at n·d multiplications for each index: who looks at a context calls it with
// some thousand at a time.
func (g *Gram) Times(dst []float64, idx []int, coef []float64) {
	b := g.inBlocks()
	dst, coef = dst[:g.n], coef[:len(idx)]
	g.evaluations += int64(len(idx)) * int64(g.n)
	for from := 0; from < len(idx); from += sumBatch {
		to := min(from+sumBatch, len(idx))
		b.missing = b.missing[:0]
		for _, i := range idx[from:to] {
			_ = g.diag[i]
			b.missing = append(b.missing, int32(i))
		}
		part := coef[from:to]
		if b.sums != nil {
			b.sums.pack(g.p, b.places(g, b.missing))
			b.sums.add([][]float64{dst}, g.p, g.place, [][]float64{part}, nil, nil)
			continue
		}
		b.oneByOne(g, b.missing, func(k int, row []float64) {
			for t, v := range row {
				dst[g.order[t]] += float64(part[k] * v)
			}
		})
	}
}

// places returns where points stand.
func (b *blocks) places(g *Gram, idx []int32) []int32 {
	b.which = b.which[:0]
	for _, i := range idx {
		b.which = append(b.which, g.place[i])
	}
	return b.which
}

// inBlocks returns g.blocks, and makes it first.
func (g *Gram) inBlocks() *blocks {
	if g.blocks != nil {
		return g.blocks
	}
	b := &blocks{f: formulaOf(g.kernel, g.p.d)}
	g.blocks = b
	if b.f == nil {
		return b
	}
	b.f.centre(g.p, g.place)
	b.sums = &packed[float64]{f: b.f}
	norm, self := b.sums.extent(g.p, g.place)
	for _, u := range []float64{0x1p-24, 0x1p-53} {
		if b.unit == 0 && b.f.within(norm, u, rowTolerance, self) {
			b.unit = u
		}
	}
	if !b.f.within(norm, 0x1p-53, sumTolerance, self) {
		b.sums = nil
	}
	return b
}

// held is inBlocks with what Hold needs.
func (g *Gram) held() *blocks {
	b := g.inBlocks()
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
	// The copy of the points has to fit beside them.
	numbers := float64(g.n) * float64(g.numbers)
	left := float64(debug.SetMemoryLimit(-1)) - need(g.n, g.numbers)
	switch {
	case b.unit == 0x1p-24 && 4*numbers <= left:
		b.single = &packed[float32]{f: b.f}
		b.single.pack(g.p, g.place)
	case b.unit == 0x1p-53 && 8*numbers <= left:
		b.double = &packed[float64]{f: b.f}
		b.double.pack(g.p, g.place)
	}
	return b
}

// centre sets the means of the spaces to those of the points which of p, unless
// they are sparse.
func (f *formula) centre(p *points, which []int32) {
	if f.sparse = p.sparse != nil; f.sparse {
		for _, s := range f.spaces {
			if !slices.Equal(s.cols, firstInts(p.d)) {
				s.to = whither(s.cols)
			}
		}
		return
	}
	for _, s := range f.spaces {
		s.mean = make([]float64, len(s.cols))
		share(threads(len(s.cols)), len(s.cols), func(_, k int) {
			var column [rightStrip]float64
			sum := 0.0
			for from := 0; from < len(which); from += rightStrip {
				v := column[:min(rightStrip, len(which)-from)]
				p.feature(v, s.cols[k], which[from:from+len(v)])
				for _, a := range v {
					sum += a
				}
			}
			s.mean[k] = sum / float64(len(which))
		})
	}
}

// extent returns by space the largest ‖x − μ‖² of the points which of src, and
// between which x·x are.
func (p *packed[T]) extent(src source, which []int32) (norm []float64, self []span) {
	norm, self = make([]float64, len(p.f.spaces)), make([]span, len(p.f.spaces))
	for s := range self {
		self[s].low = math.Inf(1)
	}
	var mu sync.Mutex
	p.each((len(which)+rightStrip-1)/rightStrip, func(d *desk[T], task int) {
		from := task * rightStrip
		d.left.lay(p.f, src, which[from:min(from+rightStrip, len(which))])
		mu.Lock()
		defer mu.Unlock()
		for s := range norm {
			for r, v := range d.left.norm[s][:d.left.n] {
				xx := v + 2*d.left.shift[s][r]
				norm[s], self[s].low, self[s].high = max(norm[s], v), min(self[s].low, xx), max(self[s].high, xx)
			}
		}
	})
	return norm, self
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
func (b *blocks) oneByOne(g *Gram, idx []int32, do func(k int, row []float64)) {
	some := threads(len(idx))
	for from := 0; from < len(idx); from += some {
		part := idx[from:min(from+some, len(idx))]
		for len(b.alone) < len(part) {
			b.alone = append(b.alone, lone{row: make([]float64, g.n), x: make([]float64, g.p.d)})
		}
		share(len(part), len(part), func(_, task int) {
			m := &b.alone[task]
			g.rower.row(m.row, g.p.point(m.x, int(g.place[part[task]])), &m.work)
		})
		for k := range part {
			do(from+k, b.alone[k].row)
		}
	}
}
