package kernels

import (
	"math"

	"github.com/svmnb/svmnb/internal/vec"
)

// RationalQuadraticKernel is (1 + ‖x − z‖²/2αℓ²)^−α; see [RationalQuadratic].
type RationalQuadraticKernel struct {
	Length float64 // ℓ > 0, in the units of x
	Alpha  float64 // α > 0, no unit
}

// RationalQuadratic returns the kernel K(x, z) = (1 + s²/2α)^−α with
// s = ‖x − z‖/ℓ: a mixture of Gaussians of many length scales around ℓ, one of
// them only, [SquaredExponential], as α → ∞ (Rasmussen and Williams 2006,
// eq. 4.19).
//
// With B = 1 + s²/2α, ∂K/∂ln ℓ = s² B^(−α−1) and
// ∂K/∂ln α = K (s²/2B − α ln B).
func RationalQuadratic(length, alpha float64) RationalQuadraticKernel {
	return RationalQuadraticKernel{Length: length, Alpha: alpha}
}

// Eval returns (1 + ‖x − z‖²/2αℓ²)^−α.
func (k RationalQuadraticKernel) Eval(x, z []float64) float64 {
	return k.OfSquaredDistance(vec.SquaredDistance(x, z))
}

// OfSquaredDistance returns (1 + r2/2αℓ²)^−α.
func (k RationalQuadraticKernel) OfSquaredDistance(r2 float64) float64 {
	v := [1]float64{r2}
	k.ofSquaredDistances(v[:])
	return v[0]
}

func (k RationalQuadraticKernel) ofSquaredDistances(v []float64) {
	scale := 1 / k.Length
	for j, r2 := range v {
		s := math.Sqrt(r2) * scale
		v[j] = vec.Log1p(0.5 * s * s / k.Alpha)
	}
	vec.ExpScaled(v, -k.Alpha)
}

// Check returns a *[ParamError] unless 0 < length < ∞ and 0 < alpha < ∞.
func (k RationalQuadraticKernel) Check() error {
	if err := positive("RationalQuadratic", "length", k.Length); err != nil {
		return err
	}
	return positive("RationalQuadratic", "alpha", k.Alpha)
}

func (k RationalQuadraticKernel) String() string {
	return call("RationalQuadratic", k.Length, k.Alpha)
}
