package kernels

import (
	"fmt"
	"slices"
	"sync"
)

// several counts things whose plural ends in s.
func several(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprint(n, " ", thing)
}

// DataError says what is wrong with the points of a matrix, and where.
type DataError struct {
	Arg      string  // "x" or "basis"
	Row, Col int     // from 0; −1 where the error is not about one row or column
	Value    float64 // the offending value or count
	Msg      string
}

func (e *DataError) Error() string {
	at := e.Arg
	if e.Row >= 0 {
		at += fmt.Sprintf("[%d]", e.Row)
	}
	if e.Col >= 0 {
		at += fmt.Sprintf("[%d]", e.Col)
	}
	return "kernels: " + at + ": " + e.Msg
}

// Domain is a kernel for some points only, such as those without negative features.
// [NewGram], [Against] and [Basis.Check] ask it.
type Domain interface {
	Kernel
	// CheckPoints returns nil, or a *[DataError] for the first of the n × d
	// finite numbers x that is outside.
	CheckPoints(x [][]float64) error
}

// checkPoints returns the number of features d of the points x and where each point
// starts when zeros are left out (see features). The error is a *DataError unless x has
// n × d finite numbers that are in the domain of k.
func checkPoints(k Kernel, arg string, x [][]float64) (d int, start []int, err error) {
	if d, start, err = features(arg, x); err != nil {
		return 0, nil, err
	}
	err = inDomain(k, x)
	if e, ok := err.(*DataError); ok {
		e.Arg = arg
	}
	return d, start, err
}

func inDomain(k Kernel, x [][]float64) error {
	if k, ok := k.(Domain); ok {
		return k.CheckPoints(x)
	}
	return nil
}

// nonNegative is CheckPoints for kernels of features ≥ 0.
func nonNegative(k Kernel, x [][]float64) error {
	for i, row := range x {
		for j, v := range row {
			if v < 0 {
				return &DataError{"x", i, j, v, fmt.Sprintf("%v is negative, and %v is a kernel for features of at least 0: shift the column", v, k)}
			}
		}
	}
	return nil
}

// features returns the number of features d of the points x, and the Start of a [CSR] of
// the same points: start[i] is how many numbers of the points before i are not 0. The error
// is a *DataError unless x has n × d finite numbers.
func features(arg string, x [][]float64) (d int, start []int, err error) {
	if len(x) == 0 {
		return 0, nil, &DataError{arg, -1, -1, 0, "there are no points: give at least one"}
	}
	if d = len(x[0]); d == 0 {
		return 0, nil, &DataError{arg, 0, -1, 0, "the point has no features: give at least one"}
	}
	start = make([]int, len(x)+1)
	wrong := make([]error, (len(x)+block-1)/block)
	share(threads(len(wrong)), len(wrong), func(_, task int) {
		for i := task * block; i < min((task+1)*block, len(x)) && wrong[task] == nil; i++ {
			start[i+1], wrong[task] = filled(arg, i, x[i], d)
		}
	})
	for _, err := range wrong {
		if err != nil {
			return 0, nil, err
		}
	}
	for i := range x {
		start[i+1] += start[i]
	}
	return d, start, nil
}

// filled returns how many numbers of row i are not 0. The error is a *DataError unless the
// row has d finite numbers.
func filled(arg string, i int, row []float64, d int) (count int, err error) {
	if len(row) != d {
		return 0, &DataError{arg, i, -1, float64(len(row)), fmt.Sprintf("the point has %s, the first has %d: give every point the same", several(len(row), "feature"), d)}
	}
	for j, v := range row {
		if v != 0 {
			count++
			if v-v != 0 { // NaN or ±Inf
				return 0, &DataError{arg, i, j, v, fmt.Sprintf("%v is not a finite number: drop the row or fill in a value", v)}
			}
		}
	}
	return count, nil
}

// points are n points of d features, in up to two layouts. Dense points are kept by rows,
// sparse ones by compressed rows. Columns are what loops over a whole row of kernel values
// read; they are laid out when somebody first asks for them.
type points struct {
	n, d    int
	rows    [][]float64   // nil where there are sparse points, or columns are enough
	asked   bool          // some rower needs rows, though there are columns
	sparse  *sparsePoints // nil for dense points
	written bool          // sparse has dense points without their zeros: single kernel rows must match the dense result bit for bit

	once    sync.Once
	columns []float64 // feature k of point j at columns[k*n+j]; nil before byColumns
}

// newPoints returns the points x, all of d features. It does not copy them.
func newPoints(x [][]float64, d int) *points {
	return &points{n: len(x), d: d, rows: slices.Clone(x)}
}

// fewPoints is the number of points below which solvers read single rows of a matrix.
const fewPoints = 600

// laidOut returns a copy of the points x in the layout that suits a Gram of k. Single rows
// are computed from columns, so few points are laid out by columns at once. Points that are
// mostly zero lose their zeros if k can be computed from products of sparse points.
func laidOut(k Kernel, x [][]float64, d int, start []int) *points {
	if _, ok := innerOf(k, d); ok && len(x) < fewPoints {
		p := newPoints(x, d)
		p.byColumns()
		p.rows = nil
		return p
	}
	if mostlyZero(len(x), d, start[len(x)]) && formulaOf(k, d) != nil {
		p := newSparsePoints(withoutZeros(table(x), d, start))
		p.written = true
		return p
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

// byColumns returns the points by columns. The first call lays them out; products of
// matrices never need them.
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

// settle drops the rows where columns are enough. It must not run while another goroutine
// reads the points.
func (p *points) settle() {
	if p.columns != nil && !p.asked {
		p.rows = nil
	}
}

// point returns point j: the row in memory, or else a copy in dst.
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

// swap exchanges the points at s and t.
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
