package kernels

import (
	"context"
	"runtime"
	"slices"

	"github.com/svmnb/svmnb/internal/parallel"
	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/internal/vec"
)

// Times sets y[m] to K x[m] for all m, each of n numbers. It computes the values up to the
// diagonal by products of matrices in double precision, each once for all x, and uses them a
// second time for the entries above. It reports false, and does nothing, if K has kept rows,
// fewer than 512 points, or values that products of matrices do not give; a Sweep is then the
// better way. Without vectors it reports what it would do.
//
// The numbers are the same for any number of goroutines, of which it uses GOMAXPROCS. Beside
// the points it takes 256n bytes for each x; 8n·16 if there are eight or more. When ctx ends,
// y has a part of the sums, and the error is context.Cause(ctx).
func (g *Gram) Times(ctx context.Context, y, x [][]float64) (done bool, err error) {
	if !g.sweepsBlocks(leftStrip) {
		return false, nil
	}
	if len(x) == 0 {
		return true, nil
	}
	// The test of GOARCH is there for the size of the module of living pages; see weigh.
	if b := inBlocks(g); runtime.GOARCH == "amd64" && len(x) == 1 && b.exact != nil && b.exact.inRegisters() {
		all := vec.Indices[int](g.n)
		clear(y[0])
		return true, g.AddTo(ctx, y[0], nil, all, all, x[0], true)
	}
	defer named(g.order)
	t := &times{p: rightOf(g), q: len(x), shares: 32}
	if t.q >= timesProducts {
		t.shares = 16
	}
	strips := (g.n + leftStrip - 1) / leftStrip
	t.shares = min(t.shares, strips)
	t.lay(g.n, x)
	each := make([]*timesMemory, workers())
	err = parallel.For(ctx, len(each), t.shares, func(worker, share int) {
		if each[worker] == nil {
			each[worker] = &timesMemory{scratch: newScratch[float64](t.p.f)}
		}
		// Every share has strips of all lengths, so that shares take the same time.
		for s := share; s < strips && ctx.Err() == nil; s += t.shares {
			t.strip(g, each[worker], share, strips-1-s)
		}
	})
	if err != nil {
		return true, err
	}
	t.gather(y, g.n)
	g.evaluations += int64(g.n) * int64(g.n+1) / 2
	return true, nil
}

// timesProducts is the number of vectors from which a product of matrices multiplies a block
// by all of them faster than by one after the other.
const timesProducts = 8

// times is the work of one call of [Gram.Times].
type times struct {
	p      *product[float64] // all points on the right
	q      int
	shares int

	x   [][]float64            // few vectors, one after the other
	all []float64              // many vectors: entry (i, m) is all[i·q+m]
	by  []simd.Panels[float64] // many vectors: the rows of all for each packed strip

	// parts[s] is the sum of share s, in the layout of x or of all.
	parts [][]float64
}

// timesMemory is the memory of one goroutine.
type timesMemory struct {
	*scratch[float64]
	panels simd.Panels[float64]
}

func (t *times) lay(n int, x [][]float64) {
	t.parts = make([][]float64, t.shares)
	for s := range t.parts {
		t.parts[s] = make([]float64, t.q*n)
	}
	if t.x = x; t.q < timesProducts {
		return
	}
	t.all = make([]float64, n*t.q)
	simd.Transpose(t.all, t.q, slices.Concat(x...), n, t.q, n)
	for at := 0; at < n; at += rightStrip {
		var p simd.Panels[float64]
		p.Pack(t.rows(t.all, at, min(at+rightStrip, n)), 1)
		t.by = append(t.by, p)
	}
}

// rows returns the rows of a matrix of q columns with from ≤ row < to.
func (t *times) rows(data []float64, from, to int) simd.Matrix[float64] {
	return simd.Matrix[float64]{Data: data[from*t.q:], Rows: to - from, Cols: t.q, Stride: t.q}
}

// strip adds the part of K x that comes from the strip of rows, up to the diagonal, and from
// the same entries as columns.
func (t *times) strip(g *Gram, d *timesMemory, share, strip int) {
	from := strip * leftStrip
	to := min(from+leftStrip, g.n)
	d.left.lay(t.p.f, g.p, g.order[from:to])
	if t.q >= timesProducts {
		d.panels.Pack(t.rows(t.all, from, to), 1)
	}
	for j := 0; j < to; j += rightStrip {
		c := &t.p.right[j/rightStrip]
		d.multiply(t.p.f, &d.left, c)
		d.rows = d.rows[:0]
		for r := range d.left.n {
			row := d.row(t.p.f, &d.left, r, c)
			if i := from + r; j <= i && i < j+c.n {
				row[i-j] = g.diag[i]
			}
			d.rows = append(d.rows, row)
		}
		t.add(d, share, from, to, j, c.n)
	}
}

// add adds the products of a block, whose rows are those of the strip and whose first column
// is j. Columns left of the square on the diagonal count twice.
func (t *times) add(d *timesMemory, share, from, to, j, columns int) {
	end, twice := min(j+columns, to), min(j+columns, from)
	part := t.parts[share]
	if t.q < timesProducts {
		n := len(part) / t.q
		for m, x := range t.x {
			y := part[m*n:][:n]
			for r, row := range d.rows {
				y[from+r] += simd.Dot(row[:end-j], x[j:end])
			}
			if j < twice {
				simd.AddRows(y[j:twice], x[from:to], d.rows, 0)
			}
		}
		return
	}
	block := simd.Matrix[float64]{Data: d.products[0], Rows: to - from, Cols: columns, Stride: columns}
	by := &t.by[j/rightStrip]
	if end < j+columns { // the square on the diagonal ends inside of the packed strip
		for _, row := range d.rows {
			clear(row[end-j:])
		}
	}
	simd.Gemm[float64]{Add: true, Threads: 1}.Do(t.rows(part, from, to), block, by)
	if j < twice {
		simd.Gemm[float64]{Add: true, Threads: 1}.Do(t.rows(part, j, twice), block.Block(0, to-from, 0, twice-j).T(), &d.panels)
	}
}

// gather adds the parts into y.
func (t *times) gather(y [][]float64, n int) {
	share(threads((n+rowStretch-1)/rowStretch), (n+rowStretch-1)/rowStretch, func(_, task int) {
		for i := task * rowStretch; i < min((task+1)*rowStretch, n); i++ {
			for m := range y {
				at := m*n + i
				if t.q >= timesProducts {
					at = i*t.q + m
				}
				sum := 0.0
				for _, part := range t.parts {
					sum += part[at]
				}
				y[m][i] = sum
			}
		}
	})
}

// rightOf returns all points as packed strips. It is a function and not a method, so that
// cells need not compile the methods of its result (see tier).
func rightOf(g *Gram) *product[float64] {
	p, _ := onTheRight(g, g.n)
	return p
}
