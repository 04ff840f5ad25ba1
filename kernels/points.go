package kernels

import (
	"slices"
	"sync"
)

// points are n points of d features, in up to two layouts. Dense points are stored by rows,
// sparse ones by compressed rows. A second layout, by columns, serves loops that compute
// whole rows of kernel values; it is made when it is first needed.
type points struct {
	n, d    int
	rows    [][]float64   // nil if there are sparse points, or columns are enough
	asked   bool          // some rower needs rows although there are columns
	sparse  *sparsePoints // nil for dense points
	written bool          // sparse has dense points without their zeros: single kernel rows must match the dense result bit for bit

	once    sync.Once
	columns []float64 // feature k of point j is columns[k*n+j]; nil before byColumns
}

// newPoints returns the points x, all of d features, without copying them.
func newPoints(x [][]float64, d int) *points {
	return &points{n: len(x), d: d, rows: slices.Clone(x)}
}

// fewPoints is the number of points below which solvers read single rows of a matrix.
const fewPoints = 600

// laidOut returns a copy of the points x in the layout that suits a Gram of k. Single rows are
// computed from columns, so few points are laid out by columns at once. Points that are mostly
// zero are stored without zeros if k can be computed from products of sparse points.
func laidOut(k Kernel, x [][]float64, d int, start []int) *points {
	if _, ok := innerOf(k, d); ok && len(x) < fewPoints {
		p := newPoints(x, d)
		p.byColumns()
		p.rows = nil
		return p
	}
	if mostlyZero(len(x), d, start[len(x)]) {
		if f := formulaOf(k, d); f != nil && len(f.maps) == 0 {
			p := newSparsePoints(withoutZeros(table(x), d, start))
			p.written = true
			return p
		}
	}
	return newPoints(copied(x, d), d)
}

// copied returns a copy of the points x, all of d features, in one piece of memory.
func copied(x [][]float64, d int) [][]float64 {
	all, rows := make([]float64, len(x)*d), make([][]float64, len(x))
	tasks := (len(x) + block - 1) / block
	share(threads(tasks), tasks, func(_, task int) {
		for j := task * block; j < min((task+1)*block, len(x)); j++ {
			rows[j] = all[j*d:][:d:d]
			copy(rows[j], x[j])
		}
	})
	return rows
}

// byColumns returns the points by columns. The first call makes this layout, which products of
// matrices never need.
func (p *points) byColumns() []float64 {
	p.once.Do(func() {
		columns := memoryOfColumns.take(p.n * p.d)
		p.columns = columns
		if p.sparse != nil {
			p.sparse.byColumns(columns)
			return
		}
		// Eight features at a time: these numbers of a point share a cache line.
		tasks := (p.d + 7) / 8
		workers := threads(tasks)
		if p.n < fewPoints {
			workers = 1
		}
		share(workers, tasks, func(_, task int) {
			from, to := 8*task, min(8*task+8, p.d)
			for j := range p.n {
				for k, v := range p.rows[j][from:to] {
					columns[(from+k)*p.n+j] = v
				}
			}
		})
	})
	return p.columns
}

// writeOut turns sparse points into dense ones.
func (p *points) writeOut() {
	if p.columns == nil {
		rows := make([][]float64, p.n)
		for j := range rows {
			rows[j] = p.point(nil, j)
		}
		p.rows = rows
	}
	p.sparse, p.written = nil, false
}

// settle drops the rows if columns are enough. It must not run while another goroutine reads
// the points.
func (p *points) settle() {
	if p.columns != nil && !p.asked {
		p.rows = nil
	}
}

// point returns point j: its row in memory if there is one, otherwise a copy in dst.
func (p *points) point(dst []float64, j int) []float64 {
	switch {
	case p.rows != nil:
		return p.rows[j]
	case p.sparse != nil:
		return p.sparse.Point(dst, int(p.sparse.at[j]))
	}
	for k := range dst {
		dst[k] = p.columns[k*p.n+j]
	}
	return dst
}

// swap exchanges the points at places s and t.
func (p *points) swap(s, t int) {
	if p.sparse != nil {
		at := p.sparse.at
		at[s], at[t] = at[t], at[s]
	}
	if p.rows != nil {
		p.rows[s], p.rows[t] = p.rows[t], p.rows[s]
	}
	if p.columns != nil {
		for k := range p.d {
			a, b := &p.columns[k*p.n+s], &p.columns[k*p.n+t]
			*a, *b = *b, *a
		}
	}
}
