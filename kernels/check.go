package kernels

import (
	"fmt"
	"math"
)

// ParamError says which parameter of a kernel is out of its range.
type ParamError struct {
	Kernel string  // constructor, such as "RBF"
	Param  string  // such as "gamma"; "" if there is no kernel
	Value  float64 // the value that was given
	Msg    string  // which values are valid
}

func (e *ParamError) Error() string {
	if e.Param == "" {
		return "kernels: " + e.Msg
	}
	return fmt.Sprintf("kernels: %s: %s = %v: %s", e.Kernel, e.Param, e.Value, e.Msg)
}

// check returns the error of k's Check, or the error for a nil k.
func check(k Kernel) error {
	if k == nil {
		return &ParamError{Msg: "the kernel is nil: give one such as RBF(0.5)"}
	}
	return k.Check()
}

// positive returns a *ParamError unless 0 < value < ∞ and 1/value < ∞.
func positive(kernel, param string, value float64) error {
	if math.IsInf(1/value, 1) {
		return &ParamError{kernel, param, value, "want a finite number above 0"}
	}
	return above0(kernel, param, value)
}

// above0 returns a *ParamError unless 0 < value < ∞.
func above0(kernel, param string, value float64) error {
	if !(value > 0) || math.IsInf(value, 1) {
		return &ParamError{kernel, param, value, "want a finite number above 0"}
	}
	return nil
}

// atLeast0 returns a *ParamError unless 0 ≤ value < ∞.
func atLeast0(kernel, param string, value float64) error {
	if !(value >= 0) || math.IsInf(value, 1) {
		return &ParamError{kernel, param, value, "want a finite number of at least 0"}
	}
	return nil
}

// DataError says what is wrong with the points of a matrix, and where.
type DataError struct {
	Arg      string  // "x" or "basis"
	Row, Col int     // from 0; −1 if the error is not about one row or column
	Value    float64 // the wrong value or count
	Msg      string
}

func (e *DataError) Error() string {
	at := e.Arg
	if e.Row >= 0 {
		at += fmt.Sprintf("[%d]", e.Row)
	}
	if e.Col >= 0 {
		at += fmt.Sprintf("[%d]", e.Col)
	}
	return "kernels: " + at + ": " + e.Msg
}

// Domain is a kernel for some points only, such as those without negative features. [NewGram],
// [Against] and [Basis.Check] call its CheckPoints.
type Domain interface {
	Kernel
	// CheckPoints returns nil, or a *[DataError] for the first of the n × d finite numbers of
	// x that the kernel excludes.
	CheckPoints(x [][]float64) error
}

// checkPoints returns the number of features d of the points x, and start as features returns
// it. The error is a *DataError unless x has n × d finite numbers in the domain of k.
func checkPoints(k Kernel, arg string, x [][]float64) (d int, start []int, err error) {
	if d, start, err = features(arg, x); err != nil {
		return 0, nil, err
	}
	err = inDomain(k, x)
	if e, ok := err.(*DataError); ok {
		e.Arg = arg
	}
	return d, start, err
}

func inDomain(k Kernel, x [][]float64) error {
	if k, ok := k.(Domain); ok {
		return k.CheckPoints(x)
	}
	return nil
}

// nonNegative is CheckPoints for kernels of features ≥ 0.
func nonNegative(k Kernel, x [][]float64) error {
	for i, row := range x {
		for j, v := range row {
			if v < 0 {
				return &DataError{"x", i, j, v, fmt.Sprintf("%v is negative, and %v is a kernel for features of at least 0: shift the column", v, k)}
			}
		}
	}
	return nil
}

// features returns the number of features d of the points x, and the Start of a [CSR] of the
// same points: start[i] is the number of non-zero numbers in the points before i. The error is
// a *DataError unless x has n × d finite numbers.
func features(arg string, x [][]float64) (d int, start []int, err error) {
	if len(x) == 0 {
		return 0, nil, &DataError{arg, -1, -1, 0, "there are no points: give at least one"}
	}
	if d = len(x[0]); d == 0 {
		return 0, nil, &DataError{arg, 0, -1, 0, "the point has no features: give at least one"}
	}
	start = make([]int, len(x)+1)
	wrong := make([]error, (len(x)+block-1)/block)
	share(threads(len(wrong)), len(wrong), func(_, task int) {
		for i := task * block; i < min((task+1)*block, len(x)) && wrong[task] == nil; i++ {
			start[i+1], wrong[task] = filled(arg, i, x[i], d)
		}
	})
	for _, err := range wrong {
		if err != nil {
			return 0, nil, err
		}
	}
	for i := range x {
		start[i+1] += start[i]
	}
	return d, start, nil
}

// filled returns the number of non-zero numbers in row i. The error is a *DataError unless the
// row has d finite numbers.
func filled(arg string, i int, row []float64, d int) (count int, err error) {
	if len(row) != d {
		return 0, &DataError{arg, i, -1, float64(len(row)), fmt.Sprintf("the point has %s, the first has %d: give every point the same", several(len(row), "feature"), d)}
	}
	for j, v := range row {
		if v != 0 {
			count++
			if v-v != 0 { // v is NaN or ±Inf
				return 0, &DataError{arg, i, j, v, fmt.Sprintf("%v is not a finite number: drop the row or fill in a value", v)}
			}
		}
	}
	return count, nil
}

// describe returns the String of a kernel, or "nil" for a nil kernel.
func describe(k Kernel) string {
	if k == nil {
		return "nil"
	}
	return k.String()
}

// several returns a count and a noun in singular or plural, such as "2 features".
func several(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprint(n, " ", thing)
}
