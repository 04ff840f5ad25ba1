package kernels

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Sweep calls do with every row of the matrix, once each, in no particular order
// and from GOMAXPROCS goroutines at a time. The row has the bits of [Gram.Row], its
// first i+1 entries where lower is set and all n else; do does not write to it and
// keeps it no longer than the call. It is how a method reads all of the matrix,
// for a factorisation or a product with vectors.
//
// Where all n² entries fit into the memory for rows they are computed once and
// kept. Else nothing is, and each sweep costs n² evaluations, half as many where
// lower is set. When ctx ends the error is context.Cause(ctx).
func (g *Gram) Sweep(ctx context.Context, lower bool, do func(i int, row []float64)) error {
	wanted := func(i int) int {
		if lower {
			return i + 1
		}
		return g.n
	}
	if m, ok := g.store.(*dense); ok {
		if err := m.complete(ctx); err != nil {
			return err
		}
		return inParallel(ctx, workers(), g.n, func(_, i int) { do(i, m.rows[i][:wanted(i)]) })
	}
	if slices.IsSorted(g.order) {
		return g.compute(ctx, g.n, wanted, do)
	}
	return g.compute(ctx, g.n, func(int) int { return g.n }, func(t int, moved []float64) {
		i, row := int(g.order[t]), make([]float64, g.n)
		for s, v := range moved {
			row[g.order[s]] = v
		}
		do(i, row[:wanted(i)])
	})
}

// compute calls do with the kernel values of the point that stands at t and the
// first length(t) points, for t < rows.
func (g *Gram) compute(ctx context.Context, rows int, length func(t int) int, do func(t int, row []float64)) error {
	each := make([]struct {
		row, x      []float64
		work        work
		evaluations int64
	}, workers())
	for w := range each {
		each[w].row, each[w].x = make([]float64, g.n), make([]float64, g.p.d)
	}
	err := inParallel(ctx, len(each), rows, func(worker, task int) {
		w, t := &each[worker], rows-1-task // the longest first
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

// complete computes the rows that are not there yet, each up to the diagonal.
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
	const tile = 64 // of rows and of columns, which stay in the first-level cache
	err = inParallel(ctx, workers(), (todo+tile-1)/tile, func(_, task int) {
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

// inParallel calls do for every task until ctx ends; a worker does one at a time.
func inParallel(ctx context.Context, workers, tasks int, do func(worker, task int)) error {
	var next atomic.Int64
	run := func(worker int) {
		for task := int(next.Add(1)) - 1; task < tasks && ctx.Err() == nil; task = int(next.Add(1)) - 1 {
			do(worker, task)
		}
	}
	var wait sync.WaitGroup
	for worker := 1; worker < min(workers, tasks); worker++ {
		wait.Go(func() { run(worker) })
	}
	run(0)
	wait.Wait()
	return context.Cause(ctx)
}
