package kernels

import (
	"math"

	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/internal/vec"
)

// CompactKernel is (1 − s)₊^(q+1) ((q + 1)s + 1) with s = ‖x − z‖/ℓ; see
// [Compact].
type CompactKernel struct {
	Length float64 // ℓ > 0, in the units of x: the distance from which K = 0
}

func init() { register("Compact", ofNumbers(1, func(v []float64) Kernel { return Compact(v[0]) })) }

// Compact returns Wendland's kernel of compact support, K(x, z) = (1 − s)₊^(q+1) ((q + 1)s +
// 1) with s = ‖x − z‖/ℓ and q = ⌊d/2⌋ + 2 for points of d features. It is exactly 0 from the
// distance ℓ on, and twice differentiable as a function of ‖x − z‖ (Wendland 1995; Rasmussen
// and Williams 2006, eq. 4.21). q grows with d because a fixed q is positive semi-definite
// only up to some d.
//
// ∂K/∂ln ℓ = (q + 1)(q + 2) s² (1 − s)₊^q.
func Compact(length float64) CompactKernel { return CompactKernel{Length: length} }

// Eval returns (1 − s)₊^(q+1) ((q + 1)s + 1) with s = ‖x − z‖/ℓ.
func (k CompactKernel) Eval(x, z []float64) float64 {
	v := [1]float64{vec.SquaredDistance(x, z)}
	k.ofSquaredDistances(v[:], len(x))
	return v[0]
}

func (k CompactKernel) inner(d int) inner {
	return inner{distance: true, of: func(v []float64) { k.ofSquaredDistances(v, d) }}
}

func (k CompactKernel) ofSquaredDistances(v []float64, d int) {
	scale, q1 := 1/k.Length, d/2+3
	for j, r2 := range v {
		s := min(math.Sqrt(r2)*scale, 1)
		v[j] = power(1-s, q1) * (float64(float64(q1)*s) + 1)
	}
}

// Check returns a *[ParamError] unless 0 < length < ∞.
func (k CompactKernel) Check() error { return positive("Compact", "length", k.Length) }

func (k CompactKernel) String() string { return call("Compact", k.Length) }

// Hyperparameters returns length.
func (k CompactKernel) Hyperparameters() []Hyperparameter {
	return []Hyperparameter{{"length", k.Length}}
}

// With returns the kernel with another length.
func (CompactKernel) With(values []float64) Kernel { return Compact(values[0]) }

// EvalGradient returns K(x, z) and sets grad to (q + 1)(q + 2) s² (1 − s)₊^q, with
// s = ‖x − z‖/ℓ.
func (k CompactKernel) EvalGradient(grad, x, z []float64) float64 {
	return gradientOfPair(k, grad, x, z)
}

// EvalGradientRow is EvalGradient for the points in columns.
func (k CompactKernel) EvalGradientRow(v, grad, x, columns []float64, stride int) {
	simd.SquaredDistances(v, x, columns, stride)
	grad = grad[:len(v)]
	scale, q1 := 1/k.Length, len(x)/2+3
	for j, r2 := range v {
		s := min(math.Sqrt(r2)*scale, 1)
		grad[j] = float64(q1*(q1+1)) * s * s * power(1-s, q1-1)
	}
	k.ofSquaredDistances(v, len(x))
}
