package kernels

import (
	"math"
	"slices"
)

// Augmented returns K + τ², the kernel of points with one more feature τ. A
// machine whose bias is fixed at 0 gains one by it, b = τ² Σ_i α_i y_i, at the
// price of τ⁻²b² in what it minimises (CST Remark 7.4). It is [Sum] with a
// [Constant]; [Radius2] says how large τ² should be.
//
// The diagonal alone, K + σ²[i = j] of a 2-norm margin or of white noise, is no
// kernel: it goes by the index of a training point and not by its place, so that
// two equal points do not share it. It is the Ridge of a solvers.Problem.
func Augmented(k Kernel, tau2 float64) Kernel { return Sum(k, Constant(tau2)) }

// Radius, given as τ² to whoever knows the data later, stands for [Radius2] of
// them. It is no τ² itself: Check of Augmented(k, Radius) refuses it.
const Radius = -1

// Radius2 returns R² = max K(x_i, x_i), the square of the radius of the smallest
// ball around the origin of feature space that has all points: the τ² for
// [Augmented] that makes the bound (R² + τ²)(1 + R²/τ²)/γ² smallest (CST Remark
// 7.4). It is NaN, which every kernel refuses, when k is no kernel or x no n × d
// table of its points.
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
