package solvers

import (
	"context"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/svmnb/svmnb/internal/simd"
)

// array is a matrix stored by rows, stride apart.
type array struct {
	data   []float64
	stride int
}

// rectangle is a part of an array, or its transpose.
type rectangle = simd.Matrix[float64]

// block is the part of the array with rows r0 to r1 and columns c0 to c1.
func (t array) block(r0, r1, c0, c1 int) rectangle {
	return rectangle{Data: t.data, Rows: len(t.data) / t.stride, Cols: t.stride, Stride: t.stride}.Block(r0, r1, c0, c1)
}

// row is row i of the array up to column end.
func (t array) row(i, end int) []float64 { return t.data[i*t.stride : i*t.stride+end] }

const (
	// panel is how many rows are made at a time of what is not factored by halves.
	panel = 256
	// cell is the size of the triangles that are not worth halving.
	cell = 64
	// strip is how many rows are divided by such a triangle at a time: with it they
	// are in the first-level cache.
	strip = 64
)

// Parts of a product. They bound the copies that it makes, 20 MB, and the time
// between two looks at ctx, a third of a second in portable Go.
const (
	productSide  = 768
	productDepth = 1536
)

var packs = sync.Pool{New: func() any { return new(simd.Panels[float64]) }}

// multiply computes AB into C as g says: where the direct methods spend their time.
func multiply(ctx context.Context, g simd.Gemm[float64], c, a, b rectangle) error {
	p := packs.Get().(*simd.Panels[float64])
	defer packs.Put(p)
	lower := g.Lower
	for j := 0; j < c.Cols; j += productSide {
		je := min(j+productSide, c.Cols)
		first := 0
		if lower {
			first = j
		}
		part := g
		for k := 0; k < a.Cols; k += productDepth {
			ke := min(k+productDepth, a.Cols)
			p.Pack(b.Block(k, ke, j, je), 0)
			for i := first; i < c.Rows; i += productSide {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				ie := min(i+productSide, c.Rows)
				part.Lower = lower && i == j
				part.Do(c.Block(i, ie, j, je), a.Block(i, ie, k, ke), p)
			}
			part.Add = true
		}
	}
	return nil
}

var minus = simd.Gemm[float64]{Add: true, Minus: true}

// lower replaces the lower triangle of the n × n array by its Cholesky factor, by
// halves (Golub and Van Loan 2013, §4.2.9), so that most of it are products of large
// matrices. What stands above the diagonal is neither read nor written. pivot is n,
// or the row whose pivot is not positive; it stands on the diagonal then.
func (t array) lower(ctx context.Context, n int) (pivot int, err error) {
	return t.factor(ctx, 0, n)
}

// factor factors rows and columns k to e, which know what is left of them.
func (t array) factor(ctx context.Context, k, e int) (pivot int, err error) {
	if e-k <= cell {
		return t.head(k, e), ctx.Err()
	}
	m := k + half(e-k)
	if pivot, err = t.factor(ctx, k, m); pivot < m || err != nil {
		return pivot, err
	}
	below := t.block(m, e, k, m)
	if err := divide(ctx, below, t.block(k, m, k, m)); err != nil {
		return m, err
	}
	square := minus
	square.Lower = true
	if err := multiply(ctx, square, t.block(m, e, m, e), below, below.T()); err != nil {
		return m, err
	}
	return t.factor(ctx, m, e)
}

// half is half of n in whole cells, for n > cell.
func half(n int) int { return (n + cell) / (2 * cell) * cell }

// head factors rows and columns k to e, one after the other.
func (t array) head(k, e int) (pivot int) {
	for i := k; i < e; i++ {
		row := t.row(i, i+1)[k:]
		for j := k; j < i; j++ {
			above := t.row(j, j+1)[k:]
			row[j-k] = (row[j-k] - simd.Dot(row[:j-k], above)) / above[j-k]
		}
		v := row[i-k] - simd.Dot(row[:i-k], row)
		if !(v > 0) || math.IsInf(v, 1) {
			row[i-k] = v
			return i
		}
		row[i-k] = math.Sqrt(v)
	}
	return e
}

// divide sets X to XL⁻ᵀ, which is L⁻¹ times each row of X. L is lower triangular, and
// what stands above its diagonal is not read.
func divide(ctx context.Context, x, l rectangle) error {
	n := l.Rows
	if n <= cell {
		return divideCell(ctx, x, l, (*division).forward)
	}
	m := half(n)
	left, right := x.Block(0, x.Rows, 0, m), x.Block(0, x.Rows, m, n)
	if err := divide(ctx, left, l.Block(0, m, 0, m)); err != nil {
		return err
	}
	if err := multiply(ctx, minus, right, left, l.Block(m, n, 0, m).T()); err != nil {
		return err
	}
	return divide(ctx, right, l.Block(m, n, m, n))
}

// divideBack sets X to XL⁻¹, which is L⁻ᵀ times each row of X.
func divideBack(ctx context.Context, x, l rectangle) error {
	n := l.Rows
	if n <= cell {
		return divideCell(ctx, x, l, (*division).backward)
	}
	m := half(n)
	left, right := x.Block(0, x.Rows, 0, m), x.Block(0, x.Rows, m, n)
	if err := divideBack(ctx, right, l.Block(m, n, m, n)); err != nil {
		return err
	}
	if err := multiply(ctx, minus, left, right, l.Block(m, n, 0, m)); err != nil {
		return err
	}
	return divideBack(ctx, left, l.Block(0, m, 0, m))
}

// divideCell is divide or divideBack for an L of one cell, by substitution: some rows
// of X are transposed, so that one column of them is a vector.
func divideCell(ctx context.Context, x, l rectangle, solve func(d *division, l rectangle)) error {
	tasks := (x.Rows + strip - 1) / strip
	parallel(tasks, x.Rows*l.Rows*l.Rows/2, func(task int) {
		d := divisions.Get().(*division)
		defer divisions.Put(d)
		from := task * strip
		rows := min(strip, x.Rows-from)
		at := x.Data[from*x.Stride:]
		simd.Transpose(d.buffer[:], strip, at, x.Stride, rows, l.Rows)
		for k := range l.Rows {
			d.columns[k] = d.buffer[k*strip:][:rows]
		}
		solve(d, l)
		simd.Transpose(at, x.Stride, d.buffer[:], strip, l.Rows, rows)
	})
	return ctx.Err()
}

// division is the memory of one goroutine that divides.
type division struct {
	buffer  [cell * strip]float64
	columns [cell][]float64
	coef    [cell]float64
}

var divisions = sync.Pool{New: func() any { return new(division) }}

func (d *division) forward(l rectangle) {
	for j := range l.Rows {
		row := l.Data[j*l.Stride:][:j+1]
		for k, v := range row[:j] {
			d.coef[k] = -v
		}
		d.one(j, d.columns[:j], d.coef[:j], row[j])
	}
}

func (d *division) backward(l rectangle) {
	for j := l.Rows - 1; j >= 0; j-- {
		for k := j + 1; k < l.Rows; k++ {
			d.coef[k] = -l.Data[k*l.Stride+j]
		}
		d.one(j, d.columns[j+1:l.Rows], d.coef[j+1:l.Rows], l.Data[j*l.Stride+j])
	}
}

// one computes column j from those that are known.
func (d *division) one(j int, known [][]float64, coef []float64, pivot float64) {
	column, inverse := d.columns[j], 1/pivot
	simd.AddRows(column, coef, known, 0)
	for r := range column {
		column[r] *= inverse
	}
}

// forward sets x to L⁻¹x.
func (t array) forward(x []float64) {
	for i := range x {
		row := t.row(i, i+1)
		x[i] = (x[i] - simd.Dot(row[:i], x)) / row[i]
	}
}

// backward sets x to L⁻ᵀx.
func (t array) backward(x []float64) {
	for i := len(x) - 1; i >= 0; i-- {
		row := t.row(i, i+1)
		x[i] /= row[i]
		simd.Axpy(-x[i], row[:i], x)
	}
}

// parallel calls do for every task, on several goroutines where that many
// multiplications are worth it. Which does a task must not matter to its result.
func parallel(tasks, multiplications int, do func(task int)) {
	threads := min(tasks, runtime.GOMAXPROCS(0), multiplications>>18)
	var next atomic.Int64
	work := func() {
		for task := int(next.Add(1)) - 1; task < tasks; task = int(next.Add(1)) - 1 {
			do(task)
		}
	}
	var wait sync.WaitGroup
	for range threads - 1 {
		wait.Go(work)
	}
	work()
	wait.Wait()
}
