// Package rows reads kernel matrices row by row, and checks them for numbers that are not
// usable in computations.
package rows

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/svmnb/svmnb/internal/simd"
)

// Matrix and Sweeper are the same interfaces as in package solvers.
type (
	Matrix = interface {
		Dim() int
		Diag() []float64
		Row(i int) []float64
	}
	Sweeper interface {
		Sweep(ctx context.Context, height int, do func(i, j int, rows [][]float64)) error
	}
)

// Sweep calls k.Sweep if k is a Sweeper. For any other matrix, it calls do with one row after
// the other.
func Sweep(ctx context.Context, k Matrix, height int, do func(i, j int, rows [][]float64)) error {
	if s, ok := k.(Sweeper); ok {
		return s.Sweep(ctx, height, do)
	}
	return each(ctx, k, height, do)
}

func each(ctx context.Context, k Matrix, height int, do func(i, j int, rows [][]float64)) error {
	one := make([][]float64, 1)
	for i := range k.Dim() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		one[0] = k.Row(i)
		if height > 0 {
			one[0] = one[0][:i+1]
		}
		do(i, 0, one)
	}
	return nil
}

// Largest returns a bound of |K_ij|: what k says, or else the largest entry of the diagonal, which
// is one if k is positive semi-definite.
func Largest(k Matrix) float64 {
	if c, ok := k.(*Checked); ok {
		k = c.Matrix
	}
	if l, ok := k.(interface{ Largest() float64 }); ok {
		return l.Largest()
	}
	most := 0.0
	for _, v := range k.Diag() {
		most = max(most, math.Abs(v))
	}
	return most
}

// Evaluations returns how many kernel values k has computed, or 0 if k does not count them.
func Evaluations(k Matrix) int64 {
	if c, ok := k.(interface{ Evaluations() int64 }); ok {
		return c.Evaluations()
	}
	return 0
}

// Checked is a Matrix that checks each row when it is first read, so that a bad kernel value
// ends a run with an error that names it. A bad row is returned as zeros, so that no method
// fails before the loop calls Err.
type Checked struct {
	Matrix
	seen []bool
	bad  func(i int, v float64, msg string) error
	err  error
}

// Check returns k with checked rows. The function bad makes the error for row i, whose entry v
// cannot be used. If the length of the row is wrong, v is this length.
func Check(k Matrix, bad func(i int, v float64, msg string) error) *Checked {
	return &Checked{Matrix: k, seen: make([]bool, k.Dim()), bad: bad}
}

// Err returns the first error that was found, usually nil.
func (c *Checked) Err() error { return c.err }

// Evaluations returns the count of the Matrix.
func (c *Checked) Evaluations() int64 { return Evaluations(c.Matrix) }

func (c *Checked) Row(i int) []float64 {
	row := c.Matrix.Row(i)
	if !c.seen[i] {
		c.seen[i] = true
		if _, err := c.check(i, 0, row, c.Dim()); err != nil {
			c.seen[i] = false
			if c.err == nil {
				c.err = err
			}
			return make([]float64, c.Dim())
		}
	}
	return row
}

// Sweep implements Sweeper. If a Sweeper has several bad rows, the error names the first.
func (c *Checked) Sweep(ctx context.Context, height int, do func(i, j int, rows [][]float64)) error {
	k, ok := c.Matrix.(Sweeper)
	if !ok {
		return each(ctx, c, height, do)
	}
	var bad first
	err := k.Sweep(ctx, height, func(i, j int, rows [][]float64) {
		for r, row := range rows {
			if c.seen[i+r] {
				continue
			}
			want := len(row) // a row of a block may have any length
			switch height {
			case 0:
				want = c.Dim()
			case 1:
				want = i + 1
			}
			if col, err := c.check(i+r, j, row, want); err != nil {
				bad.add(i+r, col, err)
				rows = slices.Clone(rows)
				rows[r] = make([]float64, want)
			}
		}
		do(i, j, rows)
	})
	if c.err == nil {
		c.err = bad.err
	}
	if err == nil && bad.err == nil { // the whole lower triangle was checked, which is all of K
		for i := range c.seen {
			c.seen[i] = true
		}
	}
	return err
}

// Times sets y[m] to K x[m] for all m, without a row at a time, if the Matrix can do that; see
// kernels.Gram.Times. A product that is not finite has a bad kernel value somewhere, and a
// Sweep then finds its row.
func (c *Checked) Times(ctx context.Context, y, x [][]float64) (done bool, err error) {
	k, ok := c.Matrix.(interface {
		Times(ctx context.Context, y, x [][]float64) (done bool, err error)
	})
	if !ok {
		return false, nil
	}
	if done, err = k.Times(ctx, y, x); !done || err != nil {
		return done, err
	}
	for _, v := range y {
		if s := simd.Dot(v, v); s-s != 0 {
			return true, c.Sweep(ctx, 1, func(int, int, [][]float64) {})
		}
	}
	return true, nil
}

// first keeps the first error in a matrix that is read in any order.
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

// check returns the error of the first entry of row i, from column j on, that cannot be used,
// and its column.
func (c *Checked) check(i, j int, row []float64, n int) (col int, err error) {
	if len(row) != n {
		return j, c.bad(i, float64(len(row)), fmt.Sprintf("is the length of row %d; the kernel matrix has %d rows", i, n))
	}
	if at := unusable(row); at >= 0 {
		return j + at, c.entry(i, j+at, row[at])
	}
	return -1, nil
}

func (c *Checked) entry(i, j int, v float64) error {
	return c.bad(i, v, fmt.Sprintf("row %d, column %d %s", i, j, Unusable))
}

// unusable returns the index of the first number that is not usable, or -1. A small sum of
// squares proves in a tenth of the time that there is none.
func unusable(row []float64) int {
	if simd.Dot(row, row) <= MostUsable*MostUsable {
		return -1
	}
	return slices.IndexFunc(row, func(v float64) bool { return !Usable(v) })
}

// Usable reports whether v can be used in a problem: whether it is finite, and small enough
// that products of three such numbers are finite.
func Usable(v float64) bool { return math.Abs(v) <= MostUsable }

// MostUsable is the size of the largest usable number.
const MostUsable = 1e100

// Unusable is the message for a number that is not Usable.
const Unusable = "must be a finite number, at most 1e100 in size; look for gaps in the data, or scale the features"
