package kernels

import (
	"container/list"
	"fmt"
	"math"
	"runtime/debug"
	"sync"

	"github.com/svmnb/svmnb/internal/panics"
	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/internal/vec"
)

// DefaultCache is the memory for kernel rows when none is said: 256 MiB, all
// rows of 5,792 points.
const DefaultCache = 256 << 20

// NoCache, given as memory to [NewGram], keeps no rows: each is evaluated anew
// whenever it is asked for.
const NoCache = -1

// Gram is the symmetric n × n matrix of a kernel over n points, computed row by
// row when a solver first asks, and counting what it computes. It is a Matrix
// for package solvers. It is not safe for concurrent use.
//
// However rows are kept, they have the same bits, and K_ij has the bits of K_ji.
type Gram struct {
	n           int
	kernel      Kernel
	numbers     int // that a point takes
	cacheBytes  int64
	p           *points
	rower       rower
	work        work
	diag        []float64
	evaluations int64
	store       interface{ row(i int) []float64 }

	// Points may stand in another order than they were given: point i is at place[i],
	// and at place t is point order[t]. Only the dense store moves points.
	order, place []int32
	x            []float64 // memory for a point whose row is computed

	// What Centred returns; looked says whether it has been called.
	looked  bool
	centred *Gram
	offset  []float64

	blocks *blocks // nil until inBlocks makes it
}

// MemoryError says that a matrix cannot be had within Go's memory limit.
type MemoryError struct {
	N, D        int
	Need, Limit int64 // bytes
}

func (e *MemoryError) Error() string {
	if e.N > math.MaxInt32 {
		return fmt.Sprintf("kernels: a matrix of %d points is more than the %d that fit: train on a part of them", e.N, math.MaxInt32)
	}
	return fmt.Sprintf("kernels: the matrix of %d points of %d features takes at least %d bytes for two rows and a copy of the points, and the memory limit is %d: train on a part of the points, or raise GOMEMLIMIT", e.N, e.D, e.Need, e.Limit)
}

// NewGram returns the matrix of K(x_i, x_j) for the n points of d features in x,
// which it copies, without zeros where these are most of it. Rows may take cacheBytes
// of memory, 0 meaning [DefaultCache]:
//
//   - When all n² entries fit, they are computed once: a row takes from the
//     rows before it what symmetry knows, so all rows together cost n(n+1)/2
//     evaluations.
//   - When they do not, the rows used last are kept, two at least, even if two
//     are more than cacheBytes.
//   - When cacheBytes < 0 ([NoCache]), every call evaluates its row.
//
// The error is a *[ParamError] for the kernel, a *[DataError] that names row
// and column in x, or a *[MemoryError].
func NewGram(k Kernel, x [][]float64, cacheBytes int64) (g *Gram, err error) {
	defer panics.Recover(&err, func() string { return "the kernel " + describe(k) })
	if err := check(k); err != nil {
		return nil, err
	}
	d, start, err := checkPoints(k, "x", x)
	if err != nil {
		return nil, err
	}
	return newGram(k, len(x), d, d, cacheBytes, func() *points { return laidOut(k, x, d, start) })
}

// newGram returns the matrix of n points of d features that take the memory of
// so many numbers each.
func newGram(k Kernel, n, d, numbers int, cacheBytes int64, lay func() *points) (*Gram, error) {
	rows, err := rowsHeld(n, numbers, cacheBytes, debug.SetMemoryLimit(-1))
	if e, ok := err.(*MemoryError); ok {
		e.D = d
		return nil, e
	}
	defer named(nil)
	g := &Gram{n: n, kernel: k, numbers: numbers, cacheBytes: cacheBytes, order: vec.Indices[int32](n), place: vec.Indices[int32](n), x: make([]float64, d)}
	g.p = lay()
	g.rower = rowerOf(k, g.p)
	g.p.settle()
	if g.diag, err = diagonal(k, "x", g.rower, g.p, &g.work); err != nil {
		return nil, err
	}
	g.evaluations = int64(n)
	switch rows {
	case n:
		g.store = &dense{g: g, rows: make([][]float64, n), todo: n, fresh: make([]float64, n)}
	case 0:
		g.store = newReevaluated(g)
	default:
		g.store = recent{g, newLately[float64](n, rows)}
	}
	return g, nil
}

// rowsHeld returns how many of n rows a matrix keeps: n, 0 for none, or between
// 2 and n−1.
func rowsHeld(n, d int, cacheBytes, limit int64) (int, error) {
	if need := need(n, d); n > math.MaxInt32 || need > float64(limit) {
		return 0, &MemoryError{N: n, D: d, Need: int64(need), Limit: limit}
	}
	switch {
	case cacheBytes < 0:
		return 0, nil
	case cacheBytes == 0:
		cacheBytes = DefaultCache
	}
	if n <= 2 {
		return n, nil
	}
	return int(min(int64(n), max(2, cacheBytes/8/int64(n)))), nil
}

// need returns how many bytes a matrix of n points of so many numbers takes at
// least: for each point its numbers, the diagonal, two places, two rows and a
// pointer.
func need(n, numbers int) float64 { return float64(8 * (float64(numbers) + 5) * float64(n)) }

// Dim returns n.
func (g *Gram) Dim() int { return g.n }

// Diag returns K(x_i, x_i) for all i. The caller does not write to it.
func (g *Gram) Diag() []float64 { return g.diag }

// Row returns K(x_i, x_j) for all j. The caller does not write to it. The two
// rows returned last stay valid; an older one may be overwritten.
func (g *Gram) Row(i int) []float64 {
	defer named(g.order)
	return g.store.row(i)
}

// Evaluations returns how many kernel values have been computed so far, the
// diagonal included.
func (g *Gram) Evaluations() int64 {
	if g.centred != nil {
		return g.evaluations + g.centred.Evaluations()
	}
	return g.evaluations
}

// evaluate sets dst[t] to the kernel value of point i and the point at place t.
func (g *Gram) evaluate(dst []float64, i int) {
	g.evaluations += int64(len(dst))
	place := int(g.place[i])
	defer rowOf(&place)
	g.rower.row(dst, g.p.point(g.x, place), &g.work)
	g.p.settle()
}

// swap exchanges the points at places s and t.
func (g *Gram) swap(s, t int) {
	i, j := g.order[s], g.order[t]
	g.order[s], g.order[t], g.place[i], g.place[j] = j, i, int32(t), int32(s)
	g.p.swap(s, t)
	g.rower.swap(s, t)
}

// dense keeps every row. The points whose rows are still to be computed stand in front, and
// a new row is computed for these only, in one loop. The rest of it is known by symmetry.
type dense struct {
	g     *Gram
	rows  [][]float64 // nil while still to do
	todo  int
	fresh []float64
	slab  []float64   // the rest of the memory taken last
	taken [][]float64 // all memory taken, for Release
}

// slabSize is the number of entries of rows that are allocated together, 1 MiB. Rows
// allocated one by one lie on more pages, and looking these up takes a quarter of the time.
const slabSize = 1 << 17

// slabRows bounds the rows that are allocated together. Of short rows, most may never be
// asked for.
const slabRows = 128

func (m *dense) row(i int) []float64 {
	if m.rows[i] != nil {
		return m.rows[i]
	}
	g, last := m.g, m.todo-1
	g.swap(int(g.place[i]), last)
	fresh := m.fresh[:last]
	g.evaluate(fresh, i) // a kernel that panics leaves the row to do
	m.todo = last
	if len(m.slab) == 0 {
		m.slab = memoryOfRows.take(min(m.todo+1, max(1, slabSize/g.n), slabRows) * g.n)
		m.taken = append(m.taken, m.slab)
	}
	row := m.slab[:g.n:g.n]
	m.slab = m.slab[g.n:]
	for t, v := range fresh {
		row[g.order[t]] = v
	}
	row[i] = g.diag[i]
	for _, j := range g.order[m.todo+1:] {
		row[j] = m.rows[j][i]
	}
	m.rows[i] = row
	return row
}

// memory is what matrices have released. To make many small matrices one after another is
// faster in memory that has been used than in fresh pages.
type memory struct{ free sync.Pool }

var memoryOfRows, memoryOfColumns memory

func (m *memory) take(n int) []float64 {
	if v, ok := m.free.Get().(*[]float64); ok && cap(*v) >= n {
		return (*v)[:n]
	}
	return make([]float64, n, (n+4095)&^4095) // for those that are about as large
}

func (m *memory) give(v []float64) { m.free.Put(&v) }

// Release gives the memory of the points and of the rows that are kept to matrices
// to come. Neither g nor a row of it may be used afterwards.
func (g *Gram) Release() {
	if g.centred != nil {
		g.centred.Release()
	}
	if m, ok := g.store.(*dense); ok {
		for _, v := range m.taken {
			memoryOfRows.give(v)
		}
	}
	if v := g.p.columns; v != nil {
		memoryOfColumns.give(v)
	}
	*g = Gram{n: g.n, kernel: g.kernel, diag: g.diag, evaluations: g.Evaluations()}
}

// lately keeps rows of n entries, the ones used last.
type lately[T simd.Float] struct {
	n, most int
	at      []*list.Element // by index; nil for a row that is not held
	held    list.List       // of *heldRow[T], the one used last in front
	slab    []T             // what is left of the memory taken last
}

type heldRow[T simd.Float] struct {
	i   int
	row []T
}

func newLately[T simd.Float](n, most int) *lately[T] {
	return &lately[T]{n: n, most: most, at: make([]*list.Element, n)}
}

// get returns row i, or nil when it is not held.
func (m *lately[T]) get(i int) []T {
	e := m.at[i]
	if e == nil {
		return nil
	}
	m.held.MoveToFront(e)
	return e.Value.(*heldRow[T]).row
}

// put returns the memory for row i, which is not held: that of the row that was
// used before all others when there is no more.
func (m *lately[T]) put(i int) []T {
	var e *list.Element
	if count := m.held.Len(); count < m.most {
		if len(m.slab) == 0 {
			m.slab = make([]T, min(m.most-count, max(1, slabSize/m.n))*m.n)
		}
		e = m.held.PushFront(&heldRow[T]{row: m.slab[:m.n:m.n]})
		m.slab = m.slab[m.n:]
	} else {
		e = m.held.Back()
		m.held.MoveToFront(e)
		m.at[e.Value.(*heldRow[T]).i] = nil
	}
	h := e.Value.(*heldRow[T])
	h.i, m.at[i] = i, e
	return h.row
}

// recent keeps the rows used last, two at least.
type recent struct {
	g    *Gram
	rows *lately[float64]
}

func (m recent) row(i int) []float64 {
	row := m.rows.get(i)
	if row == nil {
		row = m.rows.put(i)
		held := m.rows.at[i]
		m.rows.at[i] = nil
		m.g.evaluate(row, i) // a kernel that panics leaves no row
		m.rows.at[i] = held
	}
	return row
}

// reevaluated keeps nothing but the two rows it returned last.
type reevaluated struct {
	g           *Gram
	last, other []float64
	moved       []float64   // memory for a row by places; nil where no point has moved
	known       [][]float64 // rows that were kept before
}

func newReevaluated(g *Gram) *reevaluated {
	return &reevaluated{g: g, last: make([]float64, g.n), other: make([]float64, g.n)}
}

func (m *reevaluated) row(i int) []float64 {
	if m.known != nil && m.known[i] != nil {
		return m.known[i]
	}
	m.last, m.other = m.other, m.last
	if m.moved == nil {
		m.g.evaluate(m.last, i)
		return m.last
	}
	m.g.evaluate(m.moved, i)
	for t, v := range m.moved {
		m.last[m.g.order[t]] = v
	}
	return m.last
}
