package kernels

import (
	"math"
	"math/rand/v2"

	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/internal/vec"
)

// SquaredExponentialKernel is exp(−‖x − z‖²/2ℓ²); see [SquaredExponential].
type SquaredExponentialKernel struct {
	Length float64 // ℓ > 0, in the units of x
	Called string  // "RBFSigma" or "RBFLength" if one of these made the kernel, otherwise ""
}

func init() {
	register("SquaredExponential", ofNumbers(1, func(v []float64) Kernel { return SquaredExponential(v[0]) }))
	register("RBFLength", ofNumbers(1, func(v []float64) Kernel { return RBFLength(v[0]) }))
	register("RBFSigma", ofNumbers(1, func(v []float64) Kernel { return RBFSigma(v[0]) }))
}

// SquaredExponential returns the Gaussian kernel as it is written for Gaussian processes,
// K(x, z) = exp(−‖x − z‖²/2ℓ²) with the length scale ℓ. Its values are those of the RBF kernel
// with γ = 1/2ℓ², bit for bit.
//
// ∂K/∂ln ℓ = (‖x − z‖²/ℓ²) K.
func SquaredExponential(length float64) SquaredExponentialKernel {
	return SquaredExponentialKernel{Length: length}
}

// RBFLength is another name of [SquaredExponential].
func RBFLength(length float64) SquaredExponentialKernel {
	return SquaredExponentialKernel{length, "RBFLength"}
}

// RBFSigma is [SquaredExponential] as statistics write it, exp(−‖x − z‖²/2σ²): the length is
// σ. The "variance" of a Gaussian kernel is σ².
func RBFSigma(sigma float64) SquaredExponentialKernel {
	return SquaredExponentialKernel{sigma, "RBFSigma"}
}

// constructor returns the name of the function that made the kernel.
func (k SquaredExponentialKernel) constructor() string {
	if k.Called == "RBFSigma" || k.Called == "RBFLength" {
		return k.Called
	}
	return "SquaredExponential"
}

// Gamma returns γ = 1/2ℓ², with which the RBF kernel has the same values.
func (k SquaredExponentialKernel) Gamma() float64 {
	return math.Copysign(0.5/k.Length/k.Length, k.Length)
}

// Eval returns exp(−‖x − z‖²/2ℓ²).
func (k SquaredExponentialKernel) Eval(x, z []float64) float64 {
	return k.OfSquaredDistance(vec.SquaredDistance(x, z))
}

// OfSquaredDistance returns exp(−r2/2ℓ²), with a relative error of at most 1e-15·(1 + r2/2ℓ²).
func (k SquaredExponentialKernel) OfSquaredDistance(r2 float64) float64 {
	v := [1]float64{r2}
	k.ofSquaredDistances(v[:])
	return v[0]
}

func (k SquaredExponentialKernel) inner(int) inner {
	return inner{distance: true, gamma: k.Gamma(), of: k.ofSquaredDistances}
}

func (k SquaredExponentialKernel) ofSquaredDistances(v []float64) { simd.ExpScaled(v, -k.Gamma()) }

// Check returns a *[ParamError] unless the length and 1/2ℓ² are in (0, ∞).
func (k SquaredExponentialKernel) Check() error {
	if gamma := k.Gamma(); k.Length > 0 && (gamma == 0 || math.IsInf(gamma, 1)) {
		return &ParamError{k.constructor(), "length", k.Length, "want a number whose square is finite and above 0"}
	}
	return positive(k.constructor(), "length", k.Length)
}

func (k SquaredExponentialKernel) String() string {
	return call(k.constructor(), k.Length)
}

// Hyperparameters returns length.
func (k SquaredExponentialKernel) Hyperparameters() []Hyperparameter {
	return []Hyperparameter{{"length", k.Length}}
}

// With returns the kernel with another length.
func (k SquaredExponentialKernel) With(values []float64) Kernel {
	k.Length = values[0]
	return k
}

// EvalGradient returns K(x, z) and sets grad to (‖x − z‖²/ℓ²) K.
func (k SquaredExponentialKernel) EvalGradient(grad, x, z []float64) float64 {
	return gradientOfPair(k, grad, x, z)
}

// EvalGradientRow is EvalGradient for the points in columns.
func (k SquaredExponentialKernel) EvalGradientRow(v, grad, x, columns []float64, stride int) {
	simd.SquaredDistances(v, x, columns, stride)
	byGamma(v, grad, k.Gamma())
	scaleBy(-2, grad[:len(v)]) // d ln γ = −2 d ln ℓ
}

// AddFrequency adds a draw from the spectral density, normal of variance 1/ℓ².
func (k SquaredExponentialKernel) AddFrequency(rng *rand.Rand, omega []float64) {
	addNormal(omega, math.Sqrt(2*k.Gamma()), rng)
}

// EvalSlopes implements [Smooth].
func (k SquaredExponentialKernel) EvalSlopes(byX, byZ, both, x, z []float64) float64 {
	return gaussianSlopes(nil, k.Gamma())(byX, byZ, both, x, z)
}

func (k SquaredExponentialKernel) multiplies(_ *float64) (func(dst, x, z []float64), bool) {
	return func(dst, x, z []float64) {
		for j := range dst {
			e := (x[j] - z[j]) / k.Length
			dst[j] *= math.Exp(-e * e / 2)
		}
	}, true
}
