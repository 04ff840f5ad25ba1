package kernels

import (
	"math"
	"math/rand/v2"

	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/internal/vec"
)

// GaussianKernel is exp(−γ‖x − z‖²); see [RBF].
type GaussianKernel struct {
	Gamma float64 // > 0, in units of 1/x²
}

func init() { register("RBF", ofNumbers(1, func(v []float64) Kernel { return RBF(v[0]) })) }

// RBF returns the Gaussian kernel K(x, z) = exp(−γ‖x − z‖²), also called squared exponential.
// 1/gamma is the squared distance at which K has fallen to 1/e; [GammaScale] and [GammaMedian]
// estimate it from data.
//
// [SquaredExponential] is the same kernel with a length scale as its parameter.
//
// ∂K/∂ln γ = −γ‖x − z‖² K.
func RBF(gamma float64) GaussianKernel { return GaussianKernel{Gamma: gamma} }

// Eval returns exp(−γ‖x − z‖²).
func (k GaussianKernel) Eval(x, z []float64) float64 {
	return k.OfSquaredDistance(vec.SquaredDistance(x, z))
}

// OfSquaredDistance returns exp(−γ r2), with a relative error of at most 1e-15·(1 + γ r2).
func (k GaussianKernel) OfSquaredDistance(r2 float64) float64 {
	v := [1]float64{r2}
	k.ofSquaredDistances(v[:])
	return v[0]
}

func (k GaussianKernel) inner(int) inner {
	return inner{distance: true, gamma: k.Gamma, of: k.ofSquaredDistances}
}

func (k GaussianKernel) ofSquaredDistances(v []float64) { simd.ExpScaled(v, -k.Gamma) }

// Check returns a *[ParamError] unless 0 < gamma < ∞.
func (k GaussianKernel) Check() error {
	if !(k.Gamma > 0) || math.IsInf(k.Gamma, 1) {
		return &ParamError{"RBF", "gamma", k.Gamma, "want a finite number above 0; for a length scale or a σ, write SquaredExponential(length) or RBFSigma(sigma)"}
	}
	return nil
}

func (k GaussianKernel) String() string { return call("RBF", k.Gamma) }

// Hyperparameters returns gamma.
func (k GaussianKernel) Hyperparameters() []Hyperparameter {
	return []Hyperparameter{{"gamma", k.Gamma}}
}

// With returns the kernel with another gamma.
func (GaussianKernel) With(values []float64) Kernel { return RBF(values[0]) }

// EvalGradient returns K(x, z) and sets grad to −γ‖x − z‖² K.
func (k GaussianKernel) EvalGradient(grad, x, z []float64) float64 {
	return gradientOfPair(k, grad, x, z)
}

// EvalGradientRow is EvalGradient for the points in columns.
func (k GaussianKernel) EvalGradientRow(v, grad, x, columns []float64, stride int) {
	simd.SquaredDistances(v, x, columns, stride)
	byGamma(v, grad, k.Gamma)
}

// AddFrequency adds a draw from the spectral density, normal of variance 2γ.
func (k GaussianKernel) AddFrequency(rng *rand.Rand, omega []float64) {
	addNormal(omega, math.Sqrt(2*k.Gamma), rng)
}

// EvalSlopes implements [Smooth].
func (k GaussianKernel) EvalSlopes(byX, byZ, both, x, z []float64) float64 {
	return gaussianSlopes(nil, k.Gamma)(byX, byZ, both, x, z)
}

func (k GaussianKernel) multiplies(_ *float64) (func(dst, x, z []float64), bool) {
	return func(dst, x, z []float64) {
		for j := range dst {
			e := x[j] - z[j]
			dst[j] *= math.Exp(-k.Gamma * e * e)
		}
	}, true
}
