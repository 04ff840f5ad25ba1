package kernels

import (
	"math"
	"slices"
)

// Augmented returns K + τ², the kernel of points with one more feature τ. It gives a machine
// whose bias is fixed at 0 the bias b = τ² Σ_i α_i y_i, and adds τ⁻²b² to its objective (CST
// Remark 7.4). It is the [Sum] of k and a [Constant]; [Radius2] says how large τ² should be.
//
// A term on the diagonal alone, K + σ²[i = j] as in a 2-norm margin or the noise of a measurement,
// is no kernel: it depends on the index of a training point and not on the point itself, so two
// equal points do not share it. Such a term is the Ridge of a solvers.Problem. [White] is the
// kernel σ²[x = z], which equal points share.
func Augmented(k Kernel, tau2 float64) Kernel { return Sum(k, Constant(tau2)) }

// Radius stands for [Radius2] of the data. It can be given as τ² to a function that has the
// data. It is no valid τ²: the Check of Augmented(k, Radius) refuses it.
const Radius = -1

// Radius2 returns R² = max K(x_i, x_i) over the n × d points x: the square of the radius of
// the smallest ball around the origin of feature space that contains all points. As the τ² of
// [Augmented], R² minimises the bound (R² + τ²)(1 + R²/τ²)/γ² (CST Remark 7.4). It is NaN,
// which every kernel refuses, if k is invalid or x is no table of its points.
func Radius2(k Kernel, x [][]float64) float64 {
	if check(k) != nil {
		return math.NaN()
	}
	d, _, err := checkPoints(k, "x", x)
	if err != nil {
		return math.NaN()
	}
	p, r := over(rowerOf, k, x, d)
	diag, err := diagonal(k, "x", r, p, &work{})
	if err != nil {
		return math.NaN()
	}
	return max(0, slices.Max(diag))
}
