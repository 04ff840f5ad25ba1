package simd

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Matrix is a view of Rows × Cols numbers: entry (i, j) is Data[i·Stride+j], or
// Data[j·Stride+i] in a transpose.
type Matrix[T Float] struct {
	Data               []T
	Rows, Cols, Stride int

	transposed bool
}

// T returns the transpose, a view of the same data.
func (m Matrix[T]) T() Matrix[T] {
	m.Rows, m.Cols, m.transposed = m.Cols, m.Rows, !m.transposed
	return m
}

// Block returns the view of rows i to iEnd and columns j to jEnd.
func (m Matrix[T]) Block(i, iEnd, j, jEnd int) Matrix[T] {
	if i < 0 || i > iEnd || iEnd > m.Rows || j < 0 || j > jEnd || jEnd > m.Cols {
		panic(fmt.Sprintf("simd: block [%d:%d, %d:%d] of %d×%d", i, iEnd, j, jEnd, m.Rows, m.Cols))
	}
	m.Rows, m.Cols = iEnd-i, jEnd-j
	switch {
	case m.Rows == 0 || m.Cols == 0:
		m.Data, m.Stride = nil, m.Cols
		if m.transposed {
			m.Stride = m.Rows
		}
	case m.transposed:
		m.Data = m.Data[j*m.Stride+i:]
	default:
		m.Data = m.Data[i*m.Stride+j:]
	}
	return m
}

// check panics if the view is not within its data.
func (m Matrix[T]) check(name string) {
	rows, cols := m.Rows, m.Cols
	if m.transposed {
		rows, cols = cols, rows
	}
	if rows < 0 || cols < 0 || m.Stride < cols || (rows > 0 && len(m.Data) < (rows-1)*m.Stride+cols) {
		panic(fmt.Sprintf("simd: %s of %d×%d with stride %d over %d numbers", name, rows, cols, m.Stride, len(m.Data)))
	}
}

// depthBlock is the number of products that a tile sums before it writes to memory. One panel
// of B and two of A with this depth fit into the first-level cache. The blocks are added in
// their order.
const depthBlock = 192

// A task of a product is rowsPerTask rows of C by panelsPerTask panels. Its part of A stays in
// the second-level cache while the panels of B are read.
const (
	rowsPerTask   = 192
	panelsPerTask = 16
)

// packed is a matrix cut into panels of width rows. A panel stores one element of each row,
// then the next elements, which is the order in which a tile reads them. Rows that fill up the
// last panel are zero. For each block of the depth, the panels are contiguous.
type packed[T Float] struct {
	width, rows, depth int
	data               []T
}

func (p *packed[T]) panels() int { return (p.rows + p.width - 1) / p.width }
func (p *packed[T]) size() int   { return p.panels() * p.width * p.depth }

// at returns panel i in the block of the depth that begins at k0 and has the given depth.
func (p *packed[T]) at(k0, depth, i int) []T {
	return p.data[(k0*p.panels()+i*depth)*p.width:]
}

// fill packs the panels i of src with from ≤ i < to. src is rows × depth.
func (p *packed[T]) fill(t *table[T], src Matrix[T], from, to int) {
	for i := from; i < to; i++ {
		row := i * p.width
		rows := min(p.width, p.rows-row)
		for k0 := 0; k0 < p.depth; k0 += depthBlock {
			depth := min(depthBlock, p.depth-k0)
			dst := p.at(k0, depth, i)[:depth*p.width]
			if rows < p.width {
				clear(dst)
			}
			if src.transposed {
				for k := range depth {
					copy(dst[k*p.width:], src.Data[(k0+k)*src.Stride+row:][:rows])
				}
			} else {
				t.transposed(dst, p.width, src.Data[row*src.Stride+k0:], src.Stride, rows, depth)
			}
		}
	}
}

// Panels is the right-hand matrix of products, laid out for the loops. The zero value is the
// empty matrix. It stays valid when the level changes.
type Panels[T Float] struct {
	packed[T]
	t *table[T]
}

// Pack copies b, which replaces the previous matrix and reuses its memory. threads is as in
// [Gemm]. For products A·Bᵀ pack b.T().
func (p *Panels[T]) Pack(b Matrix[T], threads int) {
	b.check("right-hand matrix")
	p.t = loops[T]()
	p.packed = packed[T]{width: p.t.columns, rows: b.Cols, depth: b.Rows, data: p.data}
	if n := p.size(); cap(p.data) < n {
		p.data = make([]T, n)
	} else {
		p.data = p.data[:n]
	}
	j := p.t.job()
	j.fill, j.from = p.packed, b.T()
	j.all(packing, (p.panels()+panelsPerTask-1)/panelsPerTask, workers(threads, entryCost*float64(p.size())))
	j.release()
}

// Part returns rows k ≤ i < kEnd of the matrix as a view. k must be a multiple of 192, and so
// must kEnd unless it is the last row.
func (p *Panels[T]) Part(k, kEnd int) Panels[T] {
	if k < 0 || k > kEnd || kEnd > p.depth || k%depthBlock != 0 || kEnd%depthBlock != 0 && kEnd != p.depth {
		panic(fmt.Sprintf("simd: rows %d to %d of %d", k, kEnd, p.depth))
	}
	part := *p
	part.depth = kEnd - k
	part.data = p.data[k*p.panels()*p.width:][:part.size()]
	return part
}

// Dims returns the numbers of rows and columns of the matrix.
func (p *Panels[T]) Dims() (rows, cols int) { return p.depth, p.rows }

// Gemm is a product of matrices. Its zero value sets C = A·B on GOMAXPROCS
// goroutines.
//
// Each entry is summed along the depth in blocks of 192, in the same way for any shape of the
// product and any number of goroutines.
type Gemm[T Float] struct {
	Add   bool // add to C, rather than replace it
	Minus bool // subtract from C, rather than replace it
	Lower bool // compute only entries (i, j) with j ≤ i; the others keep their values

	// Then, if not nil, is called once for each finished part of C and may change it: c has
	// the entries of row i from column j on. Calls are concurrent.
	Then func(i, j int, c []T)

	Threads int // largest number of goroutines; 0 means GOMAXPROCS
}

// Do computes the product of a, m × k, and b, k × n, into c, m × n, which must not be a
// transpose. a is copied first, so c may overlap it. A product cannot be interrupted, so
// callers multiply some hundred rows at a time.
func (g Gemm[T]) Do(c, a Matrix[T], b *Panels[T]) {
	c.check("product")
	a.check("left-hand matrix")
	if depth, columns := b.Dims(); c.transposed || c.Rows != a.Rows || c.Cols != columns || a.Cols != depth {
		panic(fmt.Sprintf("simd: product of %d×%d and %d×%d into %d×%d", a.Rows, a.Cols, depth, columns, c.Rows, c.Cols))
	}
	if c.Rows == 0 || c.Cols == 0 {
		return
	}
	t := b.t
	j := t.job()
	j.g, j.c, j.b = g, c, b
	j.fill, j.from = packed[T]{width: t.rows, rows: a.Rows, depth: a.Cols}, a
	if a.Rows == 1 && !g.Lower {
		j.fill.width = 1 // row1 and row4 need this layout
	}
	buffer := t.borrow(j.fill.size())
	j.fill.data = *buffer
	threads := workers(g.Threads, float64(a.Rows)*float64(a.Cols+entryCost)*float64(c.Cols))
	j.all(packing, (j.fill.panels()+panelsPerTask-1)/panelsPerTask, min(threads, workers(g.Threads, entryCost*float64(j.fill.size()))))
	j.down = (c.Rows + rowsPerTask - 1) / rowsPerTask
	j.all(multiplying, j.down*((b.panels()+panelsPerTask-1)/panelsPerTask), threads)
	t.give(buffer)
	j.release()
}

// entryCost is the number of products that take about as long as packing one entry, or as
// writing one entry of C and passing it to Then.
const entryCost = 8

// workers returns how many goroutines share work of the given number of products. Each
// goroutine gets at least a million products, which take some ten microseconds.
func workers(threads int, products float64) int {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	return max(1, int(min(float64(threads), products/(1<<20))))
}

// sums says what a tile does with its sums: replace C, add to it or subtract from it.
type sums = uint8

const (
	replace sums = iota
	add
	subtract
)

// job has the data that the goroutines of one call share. It is kept for the next call,
// together with its function run, so that calls do not allocate.
type job[T Float] struct {
	t     *table[T]
	phase phase
	tasks int64
	next  atomic.Int64
	wait  sync.WaitGroup
	run   func()

	fill packed[T] // when packing, fill gets the panels of the matrix from
	from Matrix[T]

	g    Gemm[T] // when multiplying, the settings of the product of fill and b
	c    Matrix[T]
	b    *Panels[T]
	down int // number of tasks in a column of tasks
}

type phase int

const (
	packing phase = iota
	multiplying
)

func (t *table[T]) job() *job[T] {
	j, ok := t.jobs.Get().(*job[T])
	if !ok {
		j = &job[T]{t: t}
		j.run = func() {
			defer j.wait.Done()
			j.work()
		}
	}
	return j
}

func (j *job[T]) release() {
	j.fill, j.from, j.g, j.c, j.b = packed[T]{}, Matrix[T]{}, Gemm[T]{}, Matrix[T]{}, nil
	j.t.jobs.Put(j)
}

// all does the tasks of a phase on the given number of goroutines, including the caller's.
func (j *job[T]) all(p phase, tasks, threads int) {
	j.phase, j.tasks = p, int64(tasks)
	j.next.Store(0)
	for range min(threads, tasks) - 1 {
		j.wait.Add(1)
		go j.run()
	}
	j.work()
	j.wait.Wait()
}

func (j *job[T]) work() {
	edge := j.t.borrow(max(j.t.rows, 4) * j.t.columns)
	defer j.t.give(edge)
	for {
		task := int(j.next.Add(1)) - 1
		switch {
		case task >= int(j.tasks):
			return
		case j.phase == packing:
			from := task * panelsPerTask
			j.fill.fill(j.t, j.from, from, min(from+panelsPerTask, j.fill.panels()))
		default:
			j.multiply(task%j.down*rowsPerTask, task/j.down*panelsPerTask, *edge)
		}
	}
}

// multiply computes the part of C that begins at row i0 and panel p0 of B.
func (j *job[T]) multiply(i0, p0 int, edge []T) {
	i1 := min(i0+rowsPerTask, j.c.Rows)
	p1 := min(p0+panelsPerTask, j.b.panels())
	width := j.t.columns
	j0, j1 := p0*width, min(p1*width, j.c.Cols)
	if j.g.Lower && j0 >= i1 {
		return
	}
	depth := j.fill.depth
	for k0 := 0; k0 == 0 || k0 < depth; k0 += depthBlock {
		k := min(depthBlock, depth-k0)
		to := replace
		switch {
		case j.g.Minus:
			to = subtract
		case j.g.Add || k0 > 0:
			to = add
		}
		if j.fill.width == 1 {
			j.row(k0, k, p0, p1, to, edge)
			continue
		}
		for p := p0; p < p1; p++ {
			b := unsafe.SliceData(j.b.at(k0, k, p))
			for i := i0; i < i1; i += j.t.rows {
				j.tile(k0, k, i, p*width, b, to, edge)
			}
		}
	}
	if j.g.Then != nil {
		for i := i0; i < i1; i++ {
			end := j1
			if j.g.Lower {
				end = min(j1, i+1)
			}
			if j0 < end {
				j.g.Then(i, j0, j.c.Data[i*j.c.Stride+j0:i*j.c.Stride+end])
			}
		}
	}
}

// tile computes the tile of C at (i, col). If only a part of the tile is needed, it computes
// the tile in edge and copies the part.
func (j *job[T]) tile(k0, k, i, col int, b *T, to sums, edge []T) {
	height, width := min(j.t.rows, j.c.Rows-i), min(j.t.columns, j.c.Cols-col)
	if j.g.Lower && col >= i+height {
		return
	}
	a := unsafe.SliceData(j.fill.at(k0, k, i/j.t.rows))
	c := j.c.Data[i*j.c.Stride+col:]
	if height == j.t.rows && width == j.t.columns && !(j.g.Lower && col+width > i+1) {
		// The tiles of a panel together prefetch the next panel, each a share of it.
		const share = 64 / 4 // bytes per step
		ahead := k * (j.t.columns*int(unsafe.Sizeof(*b)) + i%rowsPerTask/j.t.rows*share)
		j.t.tile(k, a, b, &c[0], j.c.Stride, to, ahead)
		return
	}
	j.t.tile(k, a, b, &edge[0], j.t.columns, replace, 0)
	for r := range height {
		n := width
		if j.g.Lower {
			n = min(n, i+r+1-col)
		}
		if n > 0 {
			put(c[r*j.c.Stride:][:n], edge[r*j.t.columns:], to)
		}
	}
}

// row computes the columns of C that belong to panels p0 ≤ p < p1, if C has one row.
func (j *job[T]) row(k0, k, p0, p1 int, to sums, edge []T) {
	a, width, stride := unsafe.SliceData(j.fill.at(k0, k, 0)), j.t.columns, k*j.t.columns
	for p := p0; p < p1; {
		product, n := j.t.row1, 1
		if p+4 <= p1 {
			product, n = j.t.row4, 4
		}
		b, c := unsafe.SliceData(j.b.at(k0, k, p)), j.c.Data[p*width:]
		if end := min((p+n)*width, j.c.Cols); end < (p+n)*width {
			product(k, a, b, stride, &edge[0], replace)
			put(c[:end-p*width], edge, to)
		} else {
			product(k, a, b, stride, &c[0], to)
		}
		p += n
	}
}

// put replaces c by the sums s, adds s to c or subtracts s from c, as a tile does.
func put[T Float](c, s []T, to sums) {
	s = s[:len(c)]
	switch to {
	case replace:
		copy(c, s)
	case add:
		for j, v := range s {
			c[j] += v
		}
	case subtract:
		for j, v := range s {
			c[j] -= v
		}
	}
}
