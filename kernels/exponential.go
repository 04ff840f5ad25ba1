package kernels

import (
	"math"
	"math/rand/v2"

	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/internal/vec"
)

// ExponentialKernel is exp(−‖x − z‖/ℓ); see [Exponential].
type ExponentialKernel struct {
	Length float64 // ℓ > 0, in the units of x
}

func init() {
	register("Exponential", ofNumbers(1, func(v []float64) Kernel { return Exponential(v[0]) }))
}

// Exponential returns the kernel K(x, z) = exp(−‖x − z‖/ℓ), also called Ornstein–Uhlenbeck or
// Matérn ½. Its functions are continuous and nowhere differentiable. Wang's program K.m
// computes this kernel under the name of the Gaussian, exp(−gm‖x − z‖) with gm = 1/ℓ. The
// Gaussian squares the norm; see [RBF].
//
// With s = ‖x − z‖/ℓ, ∂K/∂ln ℓ = s exp(−s).
func Exponential(length float64) ExponentialKernel { return ExponentialKernel{Length: length} }

// Eval returns exp(−‖x − z‖/ℓ).
func (k ExponentialKernel) Eval(x, z []float64) float64 {
	return k.OfSquaredDistance(vec.SquaredDistance(x, z))
}

// OfSquaredDistance returns exp(−√r2/ℓ).
func (k ExponentialKernel) OfSquaredDistance(r2 float64) float64 {
	v := [1]float64{r2}
	k.ofSquaredDistances(v[:])
	return v[0]
}

func (k ExponentialKernel) inner(int) inner { return inner{distance: true, of: k.ofSquaredDistances} }

func (k ExponentialKernel) ofSquaredDistances(v []float64) {
	for j, r2 := range v {
		v[j] = math.Sqrt(r2)
	}
	simd.ExpScaled(v, -1/k.Length)
}

// Check returns a *[ParamError] unless 0 < length < ∞.
func (k ExponentialKernel) Check() error { return positive("Exponential", "length", k.Length) }

func (k ExponentialKernel) String() string { return call("Exponential", k.Length) }

// Hyperparameters returns length.
func (k ExponentialKernel) Hyperparameters() []Hyperparameter {
	return []Hyperparameter{{"length", k.Length}}
}

// With returns the kernel with another length.
func (ExponentialKernel) With(values []float64) Kernel { return Exponential(values[0]) }

// EvalGradient returns K(x, z) and sets grad to s exp(−s), s = ‖x − z‖/ℓ.
func (k ExponentialKernel) EvalGradient(grad, x, z []float64) float64 {
	return gradientOfPair(k, grad, x, z)
}

// EvalGradientRow is EvalGradient for the points in columns.
func (k ExponentialKernel) EvalGradientRow(v, grad, x, columns []float64, stride int) {
	simd.SquaredDistances(v, x, columns, stride)
	grad = grad[:len(v)]
	scale := 1 / k.Length
	for j, r2 := range v {
		grad[j] = math.Sqrt(r2) * scale
	}
	k.ofSquaredDistances(v)
	timesValue(grad, v)
}

// AddFrequency adds a draw from the spectral density, which is a multivariate Student t
// distribution with 1 degree of freedom.
func (k ExponentialKernel) AddFrequency(rng *rand.Rand, omega []float64) {
	addNormal(omega, math.Sqrt(0.5/gamma(rng, 0.5))/k.Length, rng)
}
