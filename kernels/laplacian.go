package kernels

import (
	"math"
	"math/rand/v2"

	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/internal/vec"
)

// LaplacianKernel is exp(−γ‖x − z‖₁); see [Laplacian].
type LaplacianKernel struct {
	Gamma float64 // > 0, in units of 1/x
}

func init() { register("Laplacian", ofNumbers(1, func(v []float64) Kernel { return Laplacian(v[0]) })) }

// Laplacian returns the kernel K(x, z) = exp(−γ Σ_k |x_k − z_k|), the product of one
// [Exponential] for each feature. The two kernels are the same in one dimension only.
//
// ∂K/∂ln γ = −γ‖x − z‖₁ K.
func Laplacian(gamma float64) LaplacianKernel { return LaplacianKernel{Gamma: gamma} }

// Eval returns exp(−γ‖x − z‖₁).
func (k LaplacianKernel) Eval(x, z []float64) float64 {
	var v [1]float64
	k.EvalRow(v[:], x, z, 1)
	return v[0]
}

// EvalRow sets dst[j] to K(x, z_j) for the points z_j in columns.
func (k LaplacianKernel) EvalRow(dst, x, columns []float64, stride int) {
	vec.AbsoluteDistances(dst, x, columns, stride)
	simd.ExpScaled(dst, -k.Gamma)
}

// Check returns a *[ParamError] unless 0 < gamma < ∞.
func (k LaplacianKernel) Check() error { return above0("Laplacian", "gamma", k.Gamma) }

func (k LaplacianKernel) String() string { return call("Laplacian", k.Gamma) }

// Hyperparameters returns gamma.
func (k LaplacianKernel) Hyperparameters() []Hyperparameter {
	return []Hyperparameter{{"gamma", k.Gamma}}
}

// With returns the kernel with another gamma.
func (LaplacianKernel) With(values []float64) Kernel { return Laplacian(values[0]) }

// EvalGradient returns K(x, z) and sets grad to −γ‖x − z‖₁ K.
func (k LaplacianKernel) EvalGradient(grad, x, z []float64) float64 {
	return gradientOfPair(k, grad, x, z)
}

// EvalGradientRow is EvalGradient for the points in columns.
func (k LaplacianKernel) EvalGradientRow(v, grad, x, columns []float64, stride int) {
	vec.AbsoluteDistances(v, x, columns, stride)
	byGamma(v, grad, k.Gamma)
}

// AddFrequency adds a draw from the spectral density, a Cauchy density for each feature.
func (k LaplacianKernel) AddFrequency(rng *rand.Rand, omega []float64) {
	for i := range omega {
		omega[i] += float64(k.Gamma * rng.NormFloat64() / rng.NormFloat64())
	}
}

func (k LaplacianKernel) multiplies(_ *float64) (func(dst, x, z []float64), bool) {
	return func(dst, x, z []float64) {
		for j := range dst {
			dst[j] *= math.Exp(-k.Gamma * math.Abs(x[j]-z[j]))
		}
	}, true
}
