package kernels

import "github.com/svmnb/svmnb/internal/vec"

// IntersectionKernel is Σ_k min(x_k, z_k); see [Intersection].
type IntersectionKernel struct{ stateless }

func init() { register("Intersection", ofNumbers(0, func([]float64) Kernel { return Intersection() })) }

// Intersection returns the kernel of the histogram intersection, K(x, z) = Σ_k min(x_k, z_k)
// (Swain and Ballard 1991). Features must be at least 0; otherwise [NewGram] returns a
// *[DataError].
func Intersection() IntersectionKernel { return IntersectionKernel{} }

// Eval returns Σ_k min(x_k, z_k).
func (k IntersectionKernel) Eval(x, z []float64) float64 {
	var v [1]float64
	k.EvalRow(v[:], x, z, 1)
	return v[0]
}

// EvalRow sets dst[j] to K(x, z_j) for the points z_j in columns.
func (IntersectionKernel) EvalRow(dst, x, columns []float64, stride int) {
	vec.Minima(dst, x, columns, stride)
}

// CheckPoints returns a *[DataError] for the first feature below 0.
func (k IntersectionKernel) CheckPoints(x [][]float64) error { return nonNegative(k, x) }

func (IntersectionKernel) String() string { return call("Intersection") }
