package figure

import (
	"fmt"
	"math"

	"github.com/svmnb/svmnb/solvers"
)

// InputError says which argument of a figure is wrong and what to do.
type InputError struct {
	Figure string // such as "Margins"
	Field  string // such as "Z[3][7]"
	Reason string
}

func (e *InputError) Error() string {
	return fmt.Sprintf("figure %s: %s %s", e.Figure, e.Field, e.Reason)
}

// wrong returns an error of a figure's field.
func wrong(figure, field, format string, args ...any) error {
	return &InputError{Figure: figure, Field: field, Reason: fmt.Sprintf(format, args...)}
}

// checks looks at what a figure was given. The first mistake stays in err.
type checks struct {
	figure string
	part   string // before the names of fields, such as "Paths[3]."
	err    error
}

// refuse is a mistake in a field where bad is true.
func (c *checks) refuse(bad bool, field, format string, args ...any) {
	if bad && c.err == nil {
		c.err = wrong(c.figure, c.part+field, format, args...)
	}
}

// argument is a slice of numbers that a figure was given.
type argument struct {
	name   string
	values []float64
	may    allowance
}

// allowance is what numbers may be besides finite.
type allowance int

const (
	optional allowance = 1 << iota // nil
	negative                       // below 0
	infinite                       // +Inf
	missing                        // NaN
)

// given are numbers that may be negative, and what else is said.
func given(name string, values []float64, may ...allowance) argument {
	return amount(name, values, append(may, negative)...)
}

// amount are numbers that may be what is said.
func amount(name string, values []float64, may ...allowance) argument {
	a := argument{name: name, values: values}
	for _, m := range may {
		a.may |= m
	}
	return a
}

// utmost is the greatest number that is drawn: ranges of such numbers, and
// twice their sums, are finite.
const utmost = 1e100

// numbers refuses arguments without one value for each of the n points or places or
// whatever it is a value of.
func (c *checks) numbers(of string, n int, arguments ...argument) {
	for _, a := range arguments {
		if c.err != nil || a.values == nil && a.may&optional != 0 {
			continue
		}
		c.refuse(len(a.values) != n, a.name, "has length %d for %s: give one value per %s", len(a.values), count(n, of, of+"s"), of)
		for i, v := range a.values {
			switch {
			case a.may&infinite != 0 && math.IsInf(v, 1) || a.may&missing != 0 && math.IsNaN(v):
			case !(math.Abs(v) <= utmost):
				c.refuse(true, fmt.Sprintf("%s[%d]", a.name, i), "is %v: give numbers up to %v", v, utmost)
			case v < 0 && a.may&negative == 0:
				c.refuse(true, fmt.Sprintf("%s[%d]", a.name, i), "is %v: give numbers ≥ 0", v)
			}
		}
	}
}

// size refuses a number that is not one, or below 0.
func (c *checks) size(name string, v float64) {
	c.refuse(!finite(v) || v < 0, name, "is %v: give a number ≥ 0", v)
}

// places refuses xs unless they are the places of a curve.
func (c *checks) places(name string, xs []float64) {
	c.refuse(len(xs) < 2, name, "has length %d: give at least two places", len(xs))
	c.numbers("place", len(xs), given(name, xs))
	for i := 1; i < len(xs); i++ {
		if xs[i] <= xs[i-1] {
			c.refuse(true, fmt.Sprintf("%s[%d]", name, i), "is %v after %v: give increasing places", xs[i], xs[i-1])
		}
	}
}

// rising refuses numbers of iterations that do not count upwards from 0 or more.
func (c *checks) rising(name string, iterations []int) {
	for k, it := range iterations {
		if it < 0 || k > 0 && it <= iterations[k-1] {
			c.refuse(true, fmt.Sprintf(name, k), "is %d: give increasing numbers from 0", it)
		}
	}
}

// trace refuses points of a run that are not in order.
func (c *checks) trace(points []solvers.Point) {
	iterations := make([]int, len(points))
	for k, p := range points {
		iterations[k] = p.Iteration
	}
	c.rising("Points[%d].Iteration", iterations)
}

// points refuses rows of X without so many features.
func (c *checks) points(x [][]float64, features int) {
	for i, row := range x {
		if len(row) != features {
			c.refuse(true, fmt.Sprintf("X[%d]", i), "has %d features: the picture needs %d", len(row), features)
		}
		for j, v := range row {
			if !finite(v) {
				c.refuse(true, fmt.Sprintf("X[%d][%d]", i, j), "is %v: give finite numbers", v)
			}
		}
	}
}

// span refuses ends of an axis that are not in order.
func (c *checks) span(name string, ends [2]float64) {
	c.refuse(!finite(ends[1]-ends[0]) || ends[1] <= ends[0], name, "runs from %v to %v: give a finite range, the smaller end first", ends[0], ends[1])
}

// grid refuses z unless it is the values at the nodes of a grid.
func (c *checks) grid(z [][]float64) {
	c.refuse(len(z) < 2 || len(z[0]) < 2, "Z", "is smaller than 2 × 2: give values on a finer grid")
	for i, row := range z {
		if len(row) != len(z[0]) {
			c.refuse(true, fmt.Sprintf("Z[%d]", i), "has length %d, Z[0] has %d: give rows of equal length", len(row), len(z[0]))
		}
		for j, v := range row {
			if !finite(v) {
				c.refuse(true, fmt.Sprintf("Z[%d][%d]", i, j), "is %v: the values must be finite on the grid", v)
			}
		}
	}
}

// plane refuses points of two features and a field over them unless they can be drawn.
func (c *checks) plane(x [][]float64, xs, ys [2]float64, z [][]float64) {
	c.points(x, 2)
	c.span("Xs", xs)
	c.span("Ys", ys)
	c.grid(z)
}
