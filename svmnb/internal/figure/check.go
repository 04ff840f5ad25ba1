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

// checks checks what a figure was given. err is the first mistake.
type checks struct {
	figure string
	part   string // prefix of the names of fields, such as "Paths[3]."
	err    error
}

// refuse records a mistake in a field if bad is true.
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

// allowance says which numbers are allowed besides finite ones ≥ 0.
type allowance int

const (
	optional allowance = 1 << iota // the slice may be nil
	negative                       // numbers below 0
	infinite                       // +Inf
	missing                        // NaN
)

// given returns an argument that may have negative numbers, and what may allows.
func given(name string, values []float64, may ...allowance) argument {
	return amount(name, values, append(may, negative)...)
}

// amount returns an argument that may have only what may allows besides numbers ≥ 0.
func amount(name string, values []float64, may ...allowance) argument {
	a := argument{name: name, values: values}
	for _, m := range may {
		a.may |= m
	}
	return a
}

// utmost is the largest number that is drawn. Differences and sums of such numbers are
// finite.
const utmost = 1e100

// numbers checks that each argument has n values of the allowed kinds. of names in errors
// what has a value, such as "point".
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

// size checks that a number is finite and not negative.
func (c *checks) size(name string, v float64) {
	c.refuse(!finite(v) || v < 0, name, "is %v: give a number ≥ 0", v)
}

// places checks that xs are at least two increasing places of a curve.
func (c *checks) places(name string, xs []float64) {
	c.refuse(len(xs) < 2, name, "has length %d: give at least two places", len(xs))
	c.numbers("place", len(xs), given(name, xs))
	for i := 1; i < len(xs); i++ {
		if xs[i] <= xs[i-1] {
			c.refuse(true, fmt.Sprintf("%s[%d]", name, i), "is %v after %v: give increasing places", xs[i], xs[i-1])
		}
	}
}

// rising checks that the numbers of iterations begin at 0 or more and increase.
func (c *checks) rising(name string, iterations []int) {
	for k, it := range iterations {
		if it < 0 || k > 0 && it <= iterations[k-1] {
			c.refuse(true, fmt.Sprintf(name, k), "is %d: give increasing numbers from 0", it)
		}
	}
}

// trace checks that the points of a run are in order.
func (c *checks) trace(points []solvers.Point) {
	iterations := make([]int, len(points))
	for k, p := range points {
		iterations[k] = p.Iteration
	}
	c.rising("Points[%d].Iteration", iterations)
}

// points checks that the rows of X have this number of features.
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

// span checks the ends of an axis.
func (c *checks) span(name string, ends [2]float64) {
	c.refuse(!finite(ends[1]-ends[0]) || ends[1] <= ends[0], name, "runs from %v to %v: give a finite range, the smaller end first", ends[0], ends[1])
}

// grid checks that z are the values at the nodes of a grid.
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

// plane checks points with two features and a field over their plane.
func (c *checks) plane(x [][]float64, xs, ys [2]float64, z [][]float64) {
	c.points(x, 2)
	c.span("Xs", xs)
	c.span("Ys", ys)
	c.grid(z)
}
