// Package rows reads kernel matrices row by row, and looks for numbers in them that
// nothing can be computed with.
package rows

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/svmnb/svmnb/internal/simd"
)

// Matrix, Sweeper and BlockSweeper are those of package solvers.
type (
	Matrix interface {
		Dim() int
		Diag() []float64
		Row(i int) []float64
	}
	Sweeper interface {
		Sweep(ctx context.Context, lower bool, do func(i int, row []float64)) error
	}
	BlockSweeper interface {
		SweepBlocks(ctx context.Context, high int, do func(i, j int, rows [][]float64)) error
	}
)

// Sweep is that of k where it is a Sweeper. Of any other matrix do gets one row after the
// other, by Row.
func Sweep(ctx context.Context, k Matrix, lower bool, do func(i int, row []float64)) error {
	if s, ok := k.(Sweeper); ok {
		return s.Sweep(ctx, lower, do)
	}
	return each(ctx, k, lower, do)
}

func each(ctx context.Context, k Matrix, lower bool, do func(i int, row []float64)) error {
	for i := range k.Dim() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		row := k.Row(i)
		if lower {
			row = row[:i+1]
		}
		do(i, row)
	}
	return nil
}

// SweepBlocks is that of k where it is a BlockSweeper. Of any other matrix each block is a
// row, by Sweep.
func SweepBlocks(ctx context.Context, k Matrix, high int, do func(i, j int, rows [][]float64)) error {
	if s, ok := k.(BlockSweeper); ok {
		return s.SweepBlocks(ctx, high, do)
	}
	return Sweep(ctx, k, true, single(do))
}

// single gives rows away as blocks.
func single(do func(i, j int, rows [][]float64)) func(i int, row []float64) {
	return func(i int, row []float64) { do(i, 0, [][]float64{row}) }
}

// Evaluations returns how many kernel values k has computed; 0 if it does not count.
func Evaluations(k Matrix) int64 {
	if c, ok := k.(interface{ Evaluations() int64 }); ok {
		return c.Evaluations()
	}
	return 0
}

// Checked is a Matrix that looks at each row once, when it is first asked for, so that a
// bad kernel value ends a run with an error that names it. A bad row reads as zeros, for
// no method to stumble over before the loop asks for Err.
type Checked struct {
	Matrix
	seen []bool
	bad  func(i int, v float64, msg string) error
	err  error
}

// Check returns a k whose rows are looked at. bad makes the error about a number in row i:
// the entry that cannot be used, or the length of the row where that is wrong.
func Check(k Matrix, bad func(i int, v float64, msg string) error) *Checked {
	return &Checked{Matrix: k, seen: make([]bool, k.Dim()), bad: bad}
}

// Err returns what has been found wrong, nil as a rule.
func (c *Checked) Err() error { return c.err }

// Evaluations returns that of the Matrix.
func (c *Checked) Evaluations() int64 { return Evaluations(c.Matrix) }

func (c *Checked) Row(i int) []float64 {
	row := c.Matrix.Row(i)
	if !c.seen[i] {
		c.seen[i] = true
		if err := c.check(i, row, c.Dim()); err != nil {
			c.seen[i] = false
			if c.err == nil {
				c.err = err
			}
			return make([]float64, c.Dim())
		}
	}
	return row
}

// Sweep implements Sweeper. Of several bad rows of a Sweeper the first is named.
func (c *Checked) Sweep(ctx context.Context, lower bool, do func(i int, row []float64)) error {
	k, ok := c.Matrix.(Sweeper)
	if !ok {
		return each(ctx, c, lower, do)
	}
	n := c.Dim()
	var bad first
	err := k.Sweep(ctx, lower, func(i int, row []float64) {
		want := n
		if lower {
			want = i + 1
		}
		if !c.seen[i] {
			if err := c.check(i, row, want); err != nil {
				bad.add(i, 0, err)
				row = make([]float64, want)
			} else {
				c.seen[i] = !lower
			}
		}
		do(i, row)
	})
	c.swept(&bad, lower && err == nil)
	return err
}

// SweepBlocks implements BlockSweeper.
func (c *Checked) SweepBlocks(ctx context.Context, high int, do func(i, j int, rows [][]float64)) error {
	k, ok := c.Matrix.(BlockSweeper)
	if !ok {
		return c.Sweep(ctx, true, single(do))
	}
	var bad first
	err := k.SweepBlocks(ctx, high, func(i, j int, rows [][]float64) {
		for r, row := range rows {
			if col := unusable(row); col >= 0 {
				bad.add(i+r, j+col, c.entry(i+r, j+col, row[col]))
				rows = slices.Clone(rows)
				rows[r] = make([]float64, len(row))
			}
		}
		do(i, j, rows)
	})
	c.swept(&bad, err == nil)
	return err
}

// first is the first error in a matrix that is read in no particular order.
type first struct {
	mu       sync.Mutex
	row, col int
	err      error
}

func (f *first) add(row, col int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil || row < f.row || row == f.row && col < f.col {
		f.row, f.col, f.err = row, col, err
	}
}

// swept takes over what a sweep has found; all says that it has seen all of K, which is
// symmetric.
func (c *Checked) swept(bad *first, all bool) {
	if c.err == nil {
		c.err = bad.err
	}
	if all && bad.err == nil {
		for i := range c.seen {
			c.seen[i] = true
		}
	}
}

func (c *Checked) check(i int, row []float64, n int) error {
	if len(row) != n {
		return c.bad(i, float64(len(row)), fmt.Sprintf("is the length of row %d; the kernel matrix has %d rows", i, n))
	}
	if j := unusable(row); j >= 0 {
		return c.entry(i, j, row[j])
	}
	return nil
}

func (c *Checked) entry(i, j int, v float64) error {
	return c.bad(i, v, fmt.Sprintf("row %d, column %d %s", i, j, Unusable))
}

// unusable returns where the first number is that is not usable, or -1. A small sum of
// squares says in a tenth of the time that there is none.
func unusable(row []float64) int {
	if simd.Dot(row, row) <= MostUsable*MostUsable {
		return -1
	}
	return slices.IndexFunc(row, func(v float64) bool { return !Usable(v) })
}

// Usable is what a number of a problem must be: finite, and small enough for products of
// three to stay so.
func Usable(v float64) bool { return math.Abs(v) <= MostUsable }

// MostUsable is the size of the largest usable number.
const MostUsable = 1e100

// Unusable says what Usable asks for.
const Unusable = "must be a finite number, at most 1e100 in size; look for gaps in the data, or scale the features"
