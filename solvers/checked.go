package solvers

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/svmnb/svmnb/internal/simd"
)

// checked is the Matrix that Solve hands to a method: it looks at each row once,
// when it is first asked for, so that a bad kernel value ends the run with an
// error that names it. Until the loop has seen err the row reads as zeros, for
// no method to stumble over.
type checked struct {
	Matrix
	seen []bool
	err  error
}

func (c *checked) Row(i int) []float64 {
	row := c.Matrix.Row(i)
	if !c.seen[i] {
		c.seen[i] = true
		if err := checkRow(i, row, c.Dim()); err != nil {
			c.seen[i] = false
			if c.err == nil {
				c.err = err
			}
			return make([]float64, c.Dim())
		}
	}
	return row
}

// Sweep implements Sweeper if the Matrix does. Of several bad rows the first is named.
func (c *checked) Sweep(ctx context.Context, lower bool, do func(i int, row []float64)) error {
	n := c.Dim()
	var bad first
	err := c.Matrix.(Sweeper).Sweep(ctx, lower, func(i int, row []float64) {
		want := n
		if lower {
			want = i + 1
		}
		if !c.seen[i] {
			if err := checkRow(i, row, want); err != nil {
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

// SweepBlocks implements BlockSweeper if the Matrix does.
func (c *checked) SweepBlocks(ctx context.Context, high int, do func(i, j int, rows [][]float64)) error {
	var bad first
	err := c.Matrix.(BlockSweeper).SweepBlocks(ctx, high, func(i, j int, rows [][]float64) {
		for r, row := range rows {
			if col := unusable(row); col >= 0 {
				bad.add(i+r, j+col, unusableEntry(i+r, j+col, row[col]))
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
func (c *checked) swept(bad *first, all bool) {
	if c.err == nil {
		c.err = bad.err
	}
	if all && bad.err == nil {
		for i := range c.seen {
			c.seen[i] = true
		}
	}
}

// Evaluations implements Counter; 0 if the matrix does not count.
func (c *checked) Evaluations() int64 { return evaluations(c.Matrix) }

func checkRow(i int, row []float64, n int) error {
	if len(row) != n {
		return &ProblemError{"K", i, float64(len(row)), fmt.Sprintf("is the length of row %d; the kernel matrix has %d rows", i, n)}
	}
	if j := unusable(row); j >= 0 {
		return unusableEntry(i, j, row[j])
	}
	return nil
}

func unusableEntry(i, j int, v float64) error {
	return &ProblemError{"K", i, v, fmt.Sprintf("row %d, column %d %s", i, j, usableMsg)}
}

// unusable returns where the first number is that is not usable, or -1. A small sum of
// squares says in a tenth of the time that there is none.
func unusable(row []float64) int {
	if simd.Dot(row, row) <= mostUsable*mostUsable {
		return -1
	}
	return slices.IndexFunc(row, func(v float64) bool { return !usable(v) })
}

// usable is what a number of a Problem must be: finite, and small enough for
// products of three to stay so.
func usable(v float64) bool { return math.Abs(v) <= mostUsable }

const mostUsable = 1e100

const usableMsg = "must be a finite number, at most 1e100 in size; look for gaps in the data, or scale the features"
