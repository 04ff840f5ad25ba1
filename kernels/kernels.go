// Package kernels has positive semi-definite functions of two points, and the
// matrices of them that a solver asks for by rows.
//
// A kernel is a small value: it can be compared with ==, stored, and printed as
// the call that made it. [NewGram] makes the matrix of a training set,
// [Against] the rows by which a trained machine predicts. Both give the same
// bits for the same pair of points, in whatever order, from whatever store and
// on whatever machine.
package kernels

import (
	"fmt"
	"strconv"
	"strings"
)

// Kernel is a symmetric, positive semi-definite function of two points. Any
// type with these three methods is one; package kerneltest tries whether it
// keeps its word. A kernel that is a function of x·z or of ‖x − z‖² gains fast
// rows by implementing [DotProduct] or [Radial].
//
// The methods are safe for concurrent use and change nothing.
type Kernel interface {
	// Eval returns K(x, z) for two points of the same d ≥ 1 features. It
	// neither changes nor keeps them.
	Eval(x, z []float64) float64
	// Check returns nil, or an error that names the parameter for which this
	// is no kernel, such as a *[ParamError].
	Check() error
	// String returns the call that makes the kernel, with all digits of its
	// parameters: "RBF(0.5)". Kernels that differ have different strings.
	String() string
}

// DotProduct is a kernel that is a function of x·z alone.
type DotProduct interface {
	Kernel
	// OfDot returns K(x, z) for x·z = dot. It agrees with Eval: a type that
	// embeds another kernel and has its own Eval needs its own OfDot too.
	OfDot(dot float64) float64
}

// Radial is a kernel that is a function of ‖x − z‖² alone. It wins where a type
// has the methods of DotProduct too.
type Radial interface {
	Kernel
	// OfSquaredDistance returns K(x, z) for ‖x − z‖² = r2 ≥ 0. It agrees with
	// Eval: a type that embeds another kernel and has its own Eval needs its
	// own OfSquaredDistance too.
	OfSquaredDistance(r2 float64) float64
}

// ParamError says which parameter of a kernel is out of its range.
type ParamError struct {
	Kernel string  // constructor, "RBF"
	Param  string  // "gamma"; "" when there is no kernel at all
	Value  float64 // what was given
	Msg    string  // what would be right
}

func (e *ParamError) Error() string {
	if e.Param == "" {
		return "kernels: " + e.Msg
	}
	return fmt.Sprintf("kernels: %s: %s = %v: %s", e.Kernel, e.Param, e.Value, e.Msg)
}

// check is Check for a kernel that may be missing.
func check(k Kernel) error {
	if k == nil {
		return &ParamError{Msg: "the kernel is nil: give one such as RBF(0.5)"}
	}
	return k.Check()
}

// call returns the constructor call with every digit of its arguments.
func call(name string, args ...float64) string {
	s := make([]string, len(args))
	for i, a := range args {
		s[i] = strconv.FormatFloat(a, 'g', -1, 64)
	}
	return name + "(" + strings.Join(s, ", ") + ")"
}
