package kernels

import (
	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/internal/vec"
	"math"
)

// This file has the two kernels of the χ² distance between histograms (Zhang, Marszałek,
// Lazebnik and Schmid 2007; Vedaldi and Zisserman 2012).

// ChiSquaredKernel is Σ_k 2x_k z_k/(x_k + z_k); see [ChiSquared].
type ChiSquaredKernel struct{ stateless }

// ExpChiSquaredKernel is exp(−γ Σ_k (x_k − z_k)²/(x_k + z_k)); see
// [ExpChiSquared].
type ExpChiSquaredKernel struct {
	Gamma float64 // > 0, in units of 1/x
}

func init() {
	register("ChiSquared", ofNumbers(0, func([]float64) Kernel { return ChiSquared() }))
	register("ExpChiSquared", ofNumbers(1, func(v []float64) Kernel { return ExpChiSquared(v[0]) }))
}

// ChiSquared returns the additive χ² kernel of histograms, K(x, z) = Σ_k 2x_k z_k/(x_k + z_k)
// with 0/0 = 0, the sum of the harmonic means. Features must be at least 0; otherwise
// [NewGram] returns a *[DataError].
func ChiSquared() ChiSquaredKernel { return ChiSquaredKernel{} }

// ExpChiSquared returns the exponential χ² kernel of histograms, K(x, z) = exp(−γ Σ_k (x_k −
// z_k)²/(x_k + z_k)) with 0/0 = 0. Features must be at least 0; otherwise [NewGram] returns a
// *[DataError]. The negative sum itself, without exp, is only conditionally positive
// semi-definite.
//
// ∂K/∂ln γ = −γχ² K, where χ² is the sum.
func ExpChiSquared(gamma float64) ExpChiSquaredKernel { return ExpChiSquaredKernel{Gamma: gamma} }

// Eval returns Σ_k 2x_k z_k/(x_k + z_k).
func (k ChiSquaredKernel) Eval(x, z []float64) float64 {
	var v [1]float64
	k.EvalRow(v[:], x, z, 1)
	return v[0]
}

// Eval returns exp(−γ Σ_k (x_k − z_k)²/(x_k + z_k)).
func (k ExpChiSquaredKernel) Eval(x, z []float64) float64 {
	var v [1]float64
	k.EvalRow(v[:], x, z, 1)
	return v[0]
}

// EvalRow sets dst[j] to K(x, z_j) for the points z_j in columns.
func (ChiSquaredKernel) EvalRow(dst, x, columns []float64, stride int) {
	vec.HarmonicMeans(dst, x, columns, stride)
}

// EvalRow sets dst[j] to K(x, z_j) for the points z_j in columns.
func (k ExpChiSquaredKernel) EvalRow(dst, x, columns []float64, stride int) {
	vec.ChiSquaredDistances(dst, x, columns, stride)
	simd.ExpScaled(dst, -k.Gamma)
}

// CheckPoints returns a *[DataError] for the first feature below 0.
func (k ChiSquaredKernel) CheckPoints(x [][]float64) error { return nonNegative(k, x) }

// CheckPoints returns a *[DataError] for the first feature below 0.
func (k ExpChiSquaredKernel) CheckPoints(x [][]float64) error { return nonNegative(k, x) }

// Check returns a *[ParamError] unless 0 < gamma < ∞.
func (k ExpChiSquaredKernel) Check() error { return above0("ExpChiSquared", "gamma", k.Gamma) }

func (ChiSquaredKernel) String() string      { return call("ChiSquared") }
func (k ExpChiSquaredKernel) String() string { return call("ExpChiSquared", k.Gamma) }

// Hyperparameters returns gamma.
func (k ExpChiSquaredKernel) Hyperparameters() []Hyperparameter {
	return []Hyperparameter{{"gamma", k.Gamma}}
}

// With returns the kernel with another gamma.
func (ExpChiSquaredKernel) With(values []float64) Kernel { return ExpChiSquared(values[0]) }

// EvalGradient returns K(x, z) and sets grad to −γχ² K.
func (k ExpChiSquaredKernel) EvalGradient(grad, x, z []float64) float64 {
	return gradientOfPair(k, grad, x, z)
}

// EvalGradientRow is EvalGradient for the points in columns.
func (k ExpChiSquaredKernel) EvalGradientRow(v, grad, x, columns []float64, stride int) {
	vec.ChiSquaredDistances(v, x, columns, stride)
	byGamma(v, grad, k.Gamma)
}

func (k ExpChiSquaredKernel) multiplies(_ *float64) (func(dst, x, z []float64), bool) {
	return func(dst, x, z []float64) {
		for j := range dst {
			if s := x[j] + z[j]; s > 0 {
				dst[j] *= math.Exp(-k.Gamma * (x[j] - z[j]) * (x[j] - z[j]) / s)
			}
		}
	}, true
}
