package kernels

import (
	"math"
	"math/rand/v2"

	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/internal/vec"
)

// RationalQuadraticKernel is (1 + ‖x − z‖²/2αℓ²)^−α; see [RationalQuadratic].
type RationalQuadraticKernel struct {
	Length float64 // ℓ > 0, in the units of x
	Alpha  float64 // α > 0, no unit
}

func init() {
	register("RationalQuadratic", ofNumbers(2, func(v []float64) Kernel { return RationalQuadratic(v[0], v[1]) }))
}

// RationalQuadratic returns the kernel K(x, z) = (1 + s²/2α)^−α with s = ‖x − z‖/ℓ. It is a
// mixture of Gaussians with many length scales around ℓ, and tends to the single Gaussian
// [SquaredExponential] as α → ∞ (Rasmussen and Williams 2006, eq. 4.19).
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

func (k RationalQuadraticKernel) inner(int) inner {
	return inner{distance: true, of: k.ofSquaredDistances}
}

func (k RationalQuadraticKernel) ofSquaredDistances(v []float64) {
	scale := 1 / k.Length
	for j, r2 := range v {
		s := math.Sqrt(r2) * scale
		v[j] = vec.Log1p(0.5 * s * s / k.Alpha)
	}
	simd.ExpScaled(v, -k.Alpha)
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

// Hyperparameters returns length and alpha.
func (k RationalQuadraticKernel) Hyperparameters() []Hyperparameter {
	return []Hyperparameter{{"length", k.Length}, {"alpha", k.Alpha}}
}

// With returns the kernel with another length and alpha.
func (RationalQuadraticKernel) With(values []float64) Kernel {
	return RationalQuadratic(values[0], values[1])
}

// EvalGradient returns K(x, z) and sets grad to s² B^(−α−1) and K (s²/2B − α ln B),
// with s = ‖x − z‖/ℓ and B = 1 + s²/2α.
func (k RationalQuadraticKernel) EvalGradient(grad, x, z []float64) float64 {
	return gradientOfPair(k, grad, x, z)
}

// EvalGradientRow is EvalGradient for the points in columns.
func (k RationalQuadraticKernel) EvalGradientRow(v, grad, x, columns []float64, stride int) {
	simd.SquaredDistances(v, x, columns, stride)
	m := len(v)
	byLength, byAlpha := grad[:m], grad[m:][:m]
	scale := 1 / k.Length
	for j, r2 := range v {
		s := math.Sqrt(r2) * scale
		b := 0.5 * s * s / k.Alpha
		log := vec.Log1p(b)
		half := float64(k.Alpha * (b / (1 + b))) // s²/2B
		v[j], byLength[j], byAlpha[j] = log, 2*half, half-float64(k.Alpha*log)
	}
	expScaled(v, grad[:2*m], -k.Alpha)
}

// AddFrequency adds a draw from the spectral density: normal with a random variance
// Gamma(α)/αℓ² (Rasmussen and Williams 2006, eq. 4.20).
func (k RationalQuadraticKernel) AddFrequency(rng *rand.Rand, omega []float64) {
	addNormal(omega, math.Sqrt(gamma(rng, k.Alpha)/k.Alpha)/k.Length, rng)
}
