package solvers

import (
	"context"
	"fmt"
	"math"
	"sync"
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

func (c *checked) Row(i int) []float64 { return c.check(i, c.Matrix.Row(i)) }

func (c *checked) check(i int, row []float64) []float64 {
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
	var mu sync.Mutex
	bad, failure := n, error(nil)
	err := c.Matrix.(Sweeper).Sweep(ctx, lower, func(i int, row []float64) {
		want := n
		if lower {
			want = i + 1
		}
		if !c.seen[i] {
			if err := checkRow(i, row, want); err != nil {
				mu.Lock()
				if i < bad {
					bad, failure = i, err
				}
				mu.Unlock()
				row = make([]float64, want)
			} else {
				c.seen[i] = !lower
			}
		}
		do(i, row)
	})
	if c.err == nil {
		c.err = failure
	}
	if lower && err == nil && failure == nil { // K is symmetric: nothing is left to look at
		for i := range c.seen {
			c.seen[i] = true
		}
	}
	return err
}

// checkedRows is checked for a Batcher.
type checkedRows struct{ *checked }

func (c checkedRows) Rows(idx []int, dst [][]float64) {
	c.Matrix.(Batcher).Rows(idx, dst)
	for k, i := range idx {
		dst[k] = c.check(i, dst[k])
	}
}

// Evaluations implements Counter; 0 if the matrix does not count.
func (c *checked) Evaluations() int64 { return evaluations(c.Matrix) }

func checkRow(i int, row []float64, n int) error {
	if len(row) != n {
		return &ProblemError{"K", i, float64(len(row)), fmt.Sprintf("is the length of row %d; the kernel matrix has %d rows", i, n)}
	}
	for j, v := range row {
		if !(v <= mostUsable && v >= -mostUsable) { // usable, in half the time
			return &ProblemError{"K", i, v, fmt.Sprintf("row %d, column %d %s", i, j, usableMsg)}
		}
	}
	return nil
}

// usable is what a number of a Problem must be: finite, and small enough for
// products of three to stay so.
func usable(v float64) bool { return math.Abs(v) <= mostUsable }

const mostUsable = 1e100

const usableMsg = "must be a finite number, at most 1e100 in size; look for gaps in the data, or scale the features"
