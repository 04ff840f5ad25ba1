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
type array[T simd.Float] struct {
	data   []T
	stride int
}

// rectangle is a part of an array, or its transpose.
type rectangle = simd.Matrix[float64]

// block is the part of the array with rows r0 to r1 and columns c0 to c1.
func (t array[T]) block(r0, r1, c0, c1 int) simd.Matrix[T] {
	return simd.Matrix[T]{Data: t.data, Rows: len(t.data) / t.stride, Cols: t.stride, Stride: t.stride}.Block(r0, r1, c0, c1)
}

// row is row i of the array up to column end.
func (t array[T]) row(i, end int) []T { return t.data[i*t.stride : i*t.stride+end] }

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

var packs, packs32 = sync.Pool{New: func() any { return new(simd.Panels[float64]) }}, sync.Pool{New: func() any { return new(simd.Panels[float32]) }}

// multiply computes AB into C as g says: where the direct methods spend their time.
func multiply[T simd.Float](ctx context.Context, g simd.Gemm[T], c, a, b simd.Matrix[T]) error {
	pool := &packs
	if _, single := any(c.Data).([]float32); single {
		pool = &packs32
	}
	p := pool.Get().(*simd.Panels[T])
	defer pool.Put(p)
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
			p.Pack(b.Block(k, ke, j, je), g.Threads)
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

func minus[T simd.Float](threads int) simd.Gemm[T] {
	return simd.Gemm[T]{Add: true, Minus: true, Threads: threads}
}

// Columns of Cholesky's factor are made a band at a time. What such a band takes from
// those before it is summed up while its entries are in the second-level cache, so
// many rows at a time, from so many columns at a time.
const (
	band      = 192
	bandRows  = 96
	bandDepth = 384
)

// lower replaces the lower triangle of the n × n array by its Cholesky factor, a band
// of columns after the other from all those before it (Golub and Van Loan 2013,
// §4.2.5). The triangle on the diagonal is the first task of a band, and the rows
// below wait for it with the division only, so that no core waits for long. What
// stands above the diagonal is neither read nor written. pivot is n, or the row whose
// pivot is not positive; it stands on the diagonal then.
func (t array[T]) lower(ctx context.Context, n int) (pivot int, err error) {
	var before simd.Panels[T] // rows k to e of what is known
	for k := 0; k < n; k += band {
		e := min(k+band, n)
		before.Pack(t.block(k, e, 0, k).T(), 0)
		update := func(r0, r1 int, lower bool) {
			g := minus[T](1)
			g.Lower = lower
			along(ctx, g, t.block(r0, r1, k, e), t.block(r0, r1, 0, k), &before, 0)
		}
		factored := make(chan struct{})
		parallel(1+(n-e+bandRows-1)/bandRows, (n-k)*(e-k)*e, func(task int) {
			if task == 0 {
				defer close(factored)
				update(k, e, true)
				pivot, err = t.factor(ctx, k, e)
				return
			}
			r0 := e + (task-1)*bandRows
			r1 := min(r0+bandRows, n)
			update(r0, r1, false)
			if <-factored; pivot == e && err == nil {
				_ = divide(ctx, 1, t.block(r0, r1, k, e), t.block(k, e, k, e))
			}
		})
		if err == nil {
			err = ctx.Err()
		}
		if pivot < e || err != nil {
			return pivot, err
		}
	}
	return n, nil
}

// along computes A·B into C as g says, B being rows from on of p, some of the depth at
// a time: those of A are packed where they are in the second-level cache. When ctx ends
// C is not complete.
func along[T simd.Float](ctx context.Context, g simd.Gemm[T], c, a simd.Matrix[T], p *simd.Panels[T], from int) {
	for k := 0; k < a.Cols && ctx.Err() == nil; k += bandDepth {
		e := min(k+bandDepth, a.Cols)
		part := p.Part(from+k, from+e)
		g.Do(c, a.Block(0, a.Rows, k, e), &part)
		g.Add = true
	}
}

// factor factors rows and columns k to e, which know what is left of them, by halves
// (ibid., §4.2.9).
func (t array[T]) factor(ctx context.Context, k, e int) (pivot int, err error) {
	if e-k <= cell {
		return t.head(k, e), ctx.Err()
	}
	m := k + half(e-k)
	if pivot, err = t.factor(ctx, k, m); pivot < m || err != nil {
		return pivot, err
	}
	below := t.block(m, e, k, m)
	if err := divide(ctx, 1, below, t.block(k, m, k, m)); err != nil {
		return m, err
	}
	square := minus[T](1)
	square.Lower = true
	if err := multiply(ctx, square, t.block(m, e, m, e), below, below.T()); err != nil {
		return m, err
	}
	return t.factor(ctx, m, e)
}

// half is half of n in whole cells, for n > cell.
func half(n int) int { return (n + cell) / (2 * cell) * cell }

// head factors rows and columns k to e, one after the other, in double precision.
func (t array[T]) head(k, e int) (pivot int) {
	var buffer [cell * cell]float64
	for i := k; i < e; i++ {
		row := buffer[(i-k)*cell:][:i-k+1]
		copyTo(row, t.row(i, i+1)[k:])
		for j := range i - k {
			above := buffer[j*cell:][:j+1]
			row[j] = (row[j] - simd.Dot(row[:j], above)) / above[j]
		}
		v := row[i-k] - simd.Dot(row[:i-k], row)
		good := v > 0 && !math.IsInf(v, 1)
		if row[i-k] = v; good {
			row[i-k] = math.Sqrt(v)
		}
		copyTo(t.row(i, i+1)[k:], row)
		if !good {
			return i
		}
	}
	return e
}

// copyTo is copy from one precision to another.
func copyTo[A, B simd.Float](dst []A, src []B) {
	dst = dst[:len(src)]
	for i, v := range src {
		dst[i] = A(v)
	}
}

// divide sets X to XL⁻ᵀ, which is L⁻¹ times each row of X. L is lower triangular, and
// what stands above its diagonal is not read.
func divide[T simd.Float](ctx context.Context, threads int, x, l simd.Matrix[T]) error {
	n := l.Rows
	if n <= cell {
		return divideCell(ctx, threads, x, l, (*division[T]).forward)
	}
	m := half(n)
	left, right := x.Block(0, x.Rows, 0, m), x.Block(0, x.Rows, m, n)
	if err := divide(ctx, threads, left, l.Block(0, m, 0, m)); err != nil {
		return err
	}
	if err := multiply(ctx, minus[T](threads), right, left, l.Block(m, n, 0, m).T()); err != nil {
		return err
	}
	return divide(ctx, threads, right, l.Block(m, n, m, n))
}

// divideBack sets X to XL⁻¹, which is L⁻ᵀ times each row of X.
func divideBack[T simd.Float](ctx context.Context, threads int, x, l simd.Matrix[T]) error {
	n := l.Rows
	if n <= cell {
		return divideCell(ctx, threads, x, l, (*division[T]).backward)
	}
	m := half(n)
	left, right := x.Block(0, x.Rows, 0, m), x.Block(0, x.Rows, m, n)
	if err := divideBack(ctx, threads, right, l.Block(m, n, m, n)); err != nil {
		return err
	}
	if err := multiply(ctx, minus[T](threads), left, right, l.Block(m, n, 0, m)); err != nil {
		return err
	}
	return divideBack(ctx, threads, left, l.Block(0, m, 0, m))
}

// divideCell is divide or divideBack for an L of one cell, by substitution: some rows
// of X are transposed, so that one column of them is a vector, of double precision.
func divideCell[T simd.Float](ctx context.Context, threads int, x, l simd.Matrix[T], solve func(d *division[T], l simd.Matrix[T])) error {
	pool := &divisions
	if _, single := any(x.Data).([]float32); single {
		pool = &divisions32
	}
	tasks := (x.Rows + strip - 1) / strip
	work := x.Rows * l.Rows * l.Rows / 2
	if threads == 1 {
		work = 0
	}
	parallel(tasks, work, func(task int) {
		d := pool.Get().(*division[T])
		defer pool.Put(d)
		from := task * strip
		rows := min(strip, x.Rows-from)
		at := x.Data[from*x.Stride:]
		simd.Transpose(d.buffer[:], strip, at, x.Stride, rows, l.Rows)
		for k := range l.Rows {
			d.columns[k] = d.wide[k*strip:][:rows]
			copyTo(d.columns[k], d.buffer[k*strip:][:rows])
		}
		solve(d, l)
		for k := range l.Rows {
			copyTo(d.buffer[k*strip:], d.columns[k])
		}
		simd.Transpose(at, x.Stride, d.buffer[:], strip, l.Rows, rows)
	})
	return ctx.Err()
}

// division is the memory of one goroutine that divides.
type division[T simd.Float] struct {
	buffer  [cell * strip]T
	wide    [cell * strip]float64
	columns [cell][]float64
	coef    [cell]float64
}

var divisions, divisions32 = sync.Pool{New: func() any { return new(division[float64]) }}, sync.Pool{New: func() any { return new(division[float32]) }}

func (d *division[T]) forward(l simd.Matrix[T]) {
	for j := range l.Rows {
		row := l.Data[j*l.Stride:][:j+1]
		for k, v := range row[:j] {
			d.coef[k] = -float64(v)
		}
		d.one(j, d.columns[:j], d.coef[:j], float64(row[j]))
	}
}

func (d *division[T]) backward(l simd.Matrix[T]) {
	for j := l.Rows - 1; j >= 0; j-- {
		for k := j + 1; k < l.Rows; k++ {
			d.coef[k] = -float64(l.Data[k*l.Stride+j])
		}
		d.one(j, d.columns[j+1:l.Rows], d.coef[j+1:l.Rows], float64(l.Data[j*l.Stride+j]))
	}
}

// one computes column j from those that are known.
func (d *division[T]) one(j int, known [][]float64, coef []float64, pivot float64) {
	column, inverse := d.columns[j], 1/pivot
	simd.AddRows(column, coef, known, 0)
	for r := range column {
		column[r] *= inverse
	}
}

// forward sets x to L⁻¹x, a panel at a time.
func (t array[T]) forward(x []float64) {
	for k := 0; k < len(x); k += panel {
		e := min(k+panel, len(x))
		const some = 32 // rows
		parallel((e-k+some-1)/some, (e-k)*k, func(task int) {
			for i := k + task*some; i < min(k+(task+1)*some, e); i++ {
				x[i] -= simd.Dot(t.row(i, k), x)
			}
		})
		for i := k; i < e; i++ {
			row := t.row(i, i+1)
			x[i] = (x[i] - simd.Dot(row[k:i], x[k:])) / float64(row[i])
		}
	}
}

// backward sets x to L⁻ᵀx, a panel at a time.
func (t array[T]) backward(x []float64) {
	var coef [panel]float64
	var rows [panel][]T
	for k := (len(x) - 1) / panel * panel; k >= 0; k -= panel {
		e := min(k+panel, len(x))
		for i := e - 1; i >= k; i-- {
			row := t.row(i, i+1)
			x[i] /= float64(row[i])
			simd.Axpy(-x[i], row[k:i], x[k:])
			coef[i-k], rows[i-k] = -x[i], row
		}
		const some = 1024 // columns
		parallel((k+some-1)/some, (e-k)*k, func(task int) {
			at := task * some
			simd.AddRows(x[at:min(at+some, k)], coef[:e-k], rows[:e-k], at)
		})
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
