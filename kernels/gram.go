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

// DefaultCache is the default memory for kernel rows in bytes: 256 MiB, enough for all rows of
// 5,792 points.
const DefaultCache = 256 << 20

// NoCache, given as cacheBytes to [NewGram], keeps no rows: each is computed again whenever it
// is asked for.
const NoCache = -1

// Gram is the symmetric n × n matrix of a kernel over n points. It computes a row when a
// solver first asks for it, and counts the kernel values that it computes. It is a Matrix for
// package solvers. It is not safe for concurrent use.
//
// A row has the same bits whether it is kept or computed again, and K_ij has the bits of K_ji.
type Gram struct {
	n           int
	kernel      Kernel
	numbers     int // how many numbers a point takes
	cacheBytes  int64
	p           *points
	rower       rower
	work        work
	diag        []float64
	evaluations int64
	store       interface{ row(i int) []float64 }

	// Points may be stored in another order than they were given: point i is at place[i], and
	// point order[t] is at place t. Only the dense store reorders points.
	order, place []int32
	x            []float64 // memory for the point whose row is computed

	// The result of Centred; looked is set after its first call.
	looked  bool
	centred *Gram
	offset  []float64

	blocks *blocks // nil until inBlocks makes it
}

// MemoryError says that a matrix does not fit into Go's memory limit.
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

// NewGram returns the matrix of K(x_i, x_j) for the n points of d features in x, which it
// copies; points that are mostly zero are copied without their zeros. Rows may take cacheBytes
// of memory, 0 meaning [DefaultCache]:
//
//   - If all n² entries fit, each is computed once. Symmetry gives the entries of a row
//     that earlier rows have, so all rows together cost n(n+1)/2 evaluations.
//   - If they do not fit, the rows used last are kept, at least two, even if two take
//     more than cacheBytes.
//   - If cacheBytes < 0 ([NoCache]), every call computes its row.
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

// newGram returns the matrix of n points of d features, each of which takes the memory of the
// given count of numbers.
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

// rowsHeld returns how many of n rows a matrix keeps: n, 0, or between 2 and n−1.
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

// need returns how many bytes a matrix of n points takes at least. For each point these are
// its numbers, the diagonal entry, two places, two rows and a pointer.
func need(n, numbers int) float64 { return float64(8 * (float64(numbers) + 5) * float64(n)) }

// Dim returns n, the number of points.
func (g *Gram) Dim() int { return g.n }

// Diag returns K(x_i, x_i) for all i. The caller must not write to it.
func (g *Gram) Diag() []float64 { return g.diag }

// Row returns K(x_i, x_j) for all n points j. The caller must not write to it. The last two
// rows that were returned stay valid; older ones may be overwritten.
func (g *Gram) Row(i int) []float64 {
	defer named(g.order)
	return g.store.row(i)
}

// Evaluations returns how many kernel values have been computed so far, including the
// diagonal.
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

// dense keeps every row. Points whose rows are not computed yet have the first places, so a
// new row is computed for these in one loop. Symmetry gives its other entries.
type dense struct {
	g     *Gram
	rows  [][]float64 // nil for rows that are not computed yet
	todo  int
	fresh []float64
	slab  []float64   // the unused part of the last allocation
	taken [][]float64 // all allocations, for Release
}

// slabSize is the number of entries of rows that are allocated together, 1 MiB. Rows that are
// allocated one by one lie on more memory pages, and finding these took a quarter of the time.
const slabSize = 1 << 17

// slabRows is the largest number of rows that are allocated together. If rows are short, most
// of them may never be needed.
const slabRows = 128

func (m *dense) row(i int) []float64 {
	if m.rows[i] != nil {
		return m.rows[i]
	}
	g, last := m.g, m.todo-1
	g.swap(int(g.place[i]), last)
	fresh := m.fresh[:last]
	g.evaluate(fresh, i) // if the kernel panics, the row stays uncomputed
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

// memory is a pool of memory that matrices have released. Making many small matrices one after
// another is faster in used memory than in fresh pages.
type memory struct{ free sync.Pool }

var memoryOfRows, memoryOfColumns memory

func (m *memory) take(n int) []float64 {
	if v, ok := m.free.Get().(*[]float64); ok && cap(*v) >= n {
		return (*v)[:n]
	}
	return make([]float64, n, (n+4095)&^4095) // rounded up, so that slightly larger requests fit too
}

func (m *memory) give(v []float64) { m.free.Put(&v) }

// Release gives the memory of the points and of the kept rows to later matrices. Neither g nor
// its rows may be used afterwards.
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

// lately keeps the rows that were used last, at most the given number, with n entries each.
type lately[T simd.Float] struct {
	n, most int
	at      []*list.Element // by row index; nil for a row that is not held
	held    list.List       // elements are *heldRow[T], the one used last in front
	slab    []T             // the unused part of the last allocation
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

// put returns the memory for row i, which is not held yet. If there is no room, it takes the
// memory of the row that has not been used for the longest time.
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

// recent keeps the rows used last, at least two.
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
		m.g.evaluate(row, i) // if the kernel panics, the row is not held
		m.rows.at[i] = held
	}
	return row
}

// reevaluated keeps only the last two rows that it returned.
type reevaluated struct {
	g           *Gram
	last, other []float64
	moved       []float64   // memory for a row in the order of places; nil if no point has moved
	known       [][]float64 // rows that were kept by an earlier store
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
