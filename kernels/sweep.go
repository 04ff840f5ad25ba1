package kernels

import (
	"context"
	"runtime"
	"slices"

	"github.com/svmnb/svmnb/internal/parallel"
	"github.com/svmnb/svmnb/internal/vec"
)

// Sweep reads the whole matrix, for a factorisation or a product with vectors. It calls do
// from GOMAXPROCS goroutines at a time and in no particular order. rows[r][c] is K_{i+r, j+c}.
// do must not write to the rows, and must not keep them after the call.
//
//   - With height 0, each call has one whole row.
//   - With height 1, each call has one row up to the diagonal, i + 1 entries.
//   - With a larger height, a call has a block of at most height rows, for a method that does
//     not store the matrix by rows. All rows of a block have the same columns, and the first row
//     of a block with several rows is a multiple of height. Every entry up to the diagonal comes
//     once; some entries above it come too.
//
// From 512 points on, products of matrices in double precision give the values if they can.
// Their rounding differs from that of Row. With fewer points the values have the bits of Row.
//
// If all n² entries fit into the memory for rows, they are computed once and kept. Otherwise
// nothing is kept, and each sweep costs n² evaluations, or half as many if height is not 0.
// When ctx ends, the error is context.Cause(ctx).
func (g *Gram) Sweep(ctx context.Context, height int, do func(i, j int, rows [][]float64)) error {
	defer named(g.order)
	if height > 1 && g.sweepsBlocks(height) {
		return g.sweepBlocks(ctx, height, do)
	}
	wanted := func(i int) int {
		if height > 0 {
			return i + 1
		}
		return g.n
	}
	give := func(i int, row []float64) { do(i, 0, [][]float64{row[:wanted(i)]}) }
	if m, ok := g.store.(*dense); ok {
		if err := m.complete(ctx); err != nil {
			return err
		}
		return parallel.For(ctx, workers(), g.n, func(_, i int) { give(i, m.rows[i]) })
	}
	if slices.IsSorted(g.order) {
		return g.compute(ctx, g.n, wanted, give)
	}
	return g.compute(ctx, g.n, func(int) int { return g.n }, func(t int, moved []float64) {
		row := make([]float64, g.n)
		for s, v := range moved {
			row[g.order[s]] = v
		}
		give(int(g.order[t]), row)
	})
}

// sweptInBlocks is the number of points from which products of matrices are faster.
const sweptInBlocks = 512

// compute calls do, for each place t < rows, with the kernel values of the point at t and the
// points at the first length(t) places. length must not decrease with t.
func (g *Gram) compute(ctx context.Context, rows int, length func(t int) int, do func(t int, row []float64)) error {
	if rows >= sweptInBlocks && inBlocks(g).sweeps {
		return g.computeInBlocks(ctx, rows, length, do)
	}
	each := make([]struct {
		row, x      []float64
		work        work
		evaluations int64
	}, workers())
	for w := range each {
		each[w].row, each[w].x = make([]float64, g.n), make([]float64, g.p.d)
	}
	err := parallel.For(ctx, len(each), rows, func(worker, task int) {
		w, t := &each[worker], rows-1-task // the longest rows first
		defer rowOf(&t)
		row := w.row[:length(t)]
		g.rower.row(row, g.p.point(w.x, t), &w.work)
		w.evaluations += int64(len(row))
		do(t, row)
	})
	for w := range each {
		g.evaluations += each[w].evaluations
	}
	return err
}

// sweptRows is the largest number of entries of the rows that a goroutine computes together.
// They stay in the second-level cache until do reads them.
const sweptRows = 1 << 17

// onTheRight returns the points at the first n places as packed strips, and the list of all
// places. It is a function and not a method, so that cells need not compile the methods of its
// result (see tier).
func onTheRight(g *Gram, n int) (p *product[float64], stands []int32) {
	p = &product[float64]{f: inBlocks(g).f}
	stands = vec.Indices[int32](g.n)
	p.pack(n, p.points(g.p, stands))
	return p, stands
}

// computeInBlocks is compute by products of matrices.
func (g *Gram) computeInBlocks(ctx context.Context, rows int, length func(t int) int, do func(t int, row []float64)) error {
	p, stands := onTheRight(g, length(rows-1))
	strip := max(8, min(leftStrip, sweptRows/g.n/8*8))
	each := make([]struct {
		rows        []float64
		evaluations int64
	}, workers())
	err := p.eachUntil(ctx, (rows+strip-1)/strip, func(d *scratch[float64], worker, task int) {
		w := &each[worker]
		if w.rows == nil {
			w.rows = make([]float64, strip*g.n)
		}
		to := rows - task*strip // the longest rows first
		from := max(0, to-strip)
		d.left.lay(p.f, g.p, stands[from:to])
		longest := length(to - 1)
		for at := 0; at*rightStrip < longest; at++ {
			c := &p.right[at]
			d.multiply(p.f, &d.left, c)
			for r := range to - from {
				copy(w.rows[r*g.n+at*rightStrip:], d.row(p.f, &d.left, r, c))
			}
		}
		for r := range to - from {
			t := from + r
			row := w.rows[r*g.n:][:length(t)]
			if t < len(row) {
				row[t] = g.diag[g.order[t]]
			}
			w.evaluations += int64(len(row))
			do(t, row)
		}
	})
	for w := range each {
		g.evaluations += each[w].evaluations
	}
	return err
}

// sweepsBlocks reports whether Sweep computes blocks of height rows: if rows are not kept and
// products of matrices give them. Otherwise each block is one row.
func (g *Gram) sweepsBlocks(height int) bool {
	_, kept := g.store.(*dense)
	return !kept && g.n >= sweptInBlocks && height <= leftStrip && inBlocks(g).sweeps && slices.IsSorted(g.order)
}

// sweepBlocks is Sweep by blocks.
func (g *Gram) sweepBlocks(ctx context.Context, height int, do func(i, j int, rows [][]float64)) error {
	p, stands := onTheRight(g, g.n)
	strip := height * max(1, blockRows/height)
	count := (g.n + strip - 1) / strip
	evaluations := make([]int64, workers())
	err := p.eachUntil(ctx, count, func(d *scratch[float64], worker, task int) {
		from := (count - 1 - task) * strip // the longest rows first
		to := min(from+strip, g.n)
		d.left.lay(p.f, g.p, stands[from:to])
		rows := make([][]float64, to-from)
		for j := 0; j < to; j += rightStrip {
			c := &p.right[j/rightStrip]
			d.multiply(p.f, &d.left, c)
			for r := range rows {
				rows[r] = d.row(p.f, &d.left, r, c)
				i := from + r
				if j <= i && i < j+c.n {
					rows[r][i-j] = g.diag[i]
				}
				evaluations[worker] += int64(max(0, min(c.n, i+1-j)))
			}
			for r := 0; r < len(rows); r += height {
				do(from+r, j, rows[r:min(r+height, len(rows))])
			}
		}
	})
	for _, e := range evaluations {
		g.evaluations += e
	}
	return err
}

// blockRows is about how many rows of blocks a goroutine computes together.
const blockRows = 64

// complete computes the missing rows, each up to the diagonal, and fills in the rest by
// symmetry.
func (m *dense) complete(ctx context.Context) error {
	g, todo := m.g, m.todo
	if todo == 0 {
		return nil
	}
	slab, rows := make([]float64, todo*g.n), make([][]float64, todo)
	for t := range rows {
		rows[t] = slab[t*g.n:][:g.n:g.n]
	}
	err := g.compute(ctx, todo, func(t int) int { return t }, func(t int, fresh []float64) {
		i, row := g.order[t], rows[t]
		for s, v := range fresh {
			row[g.order[s]] = v
		}
		row[i] = g.diag[i]
		for _, j := range g.order[todo:] {
			row[j] = m.rows[j][i]
		}
	})
	if err != nil {
		return err
	}
	const tile = 64 // number of rows and columns, which stay in the first-level cache
	err = parallel.For(ctx, workers(), (todo+tile-1)/tile, func(_, task int) {
		for at := task * tile; at < todo; at += tile {
			for t := task * tile; t < min((task+1)*tile, todo); t++ {
				i, row := g.order[t], rows[t]
				for s := max(at, t+1); s < min(at+tile, todo); s++ {
					row[g.order[s]] = rows[s][i]
				}
			}
		}
	})
	if err != nil {
		return err
	}
	for t, row := range rows {
		m.rows[g.order[t]] = row
	}
	m.todo = 0
	return nil
}

func workers() int { return runtime.GOMAXPROCS(0) }
