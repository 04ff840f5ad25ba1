// Package kernels has positive semi-definite functions of two points and the
// matrices that solvers ask for by rows.
package kernels

// Kernel is a symmetric function of two points of equal length d. Any type
// with these three methods is a kernel; those that are functions of x·z or of
// ‖x − z‖² gain fast matrices by implementing [DotProduct] or [Radial].
type Kernel interface {
	// Eval returns K(x, z).
	Eval(x, z []float64) float64
	// Check returns an error that names the offending parameter, or nil.
	Check() error
	// String gives the constructor call back: "RBF(0.5)".
	String() string
}
