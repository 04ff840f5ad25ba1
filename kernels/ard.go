package kernels

import (
	"math"
	"math/rand/v2"

	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/internal/vec"
)

// ARDKernel is exp(−½ Σ_k (x_k − z_k)²/ℓ_k²); see [ARD].
type ARDKernel struct {
	Lengths string // ℓ_k > 0, in the units of x_k, for all d features: "1, 0.5"
}

func init() {
	register("ARD", func(a arguments) Kernel {
		if len(a.kernels)+len(a.strings) > 0 {
			return nil
		}
		return ARD(a.numbers...)
	})
}

// ARD returns the Gaussian kernel with a length scale for each feature, K(x, z) = exp(−½ Σ_k
// (x_k − z_k)²/ℓ_k²). A feature with a large ℓ_k matters little; learning the ℓ_k is called
// automatic relevance determination (Neal 1996). Points must have as many features as there
// are lengths; otherwise [NewGram] returns a *[DataError].
//
// ∂K/∂ln ℓ_k = ((x_k − z_k)²/ℓ_k²) K.
func ARD(lengths ...float64) ARDKernel { return ARDKernel{Lengths: digits(lengths...)} }

// Eval returns exp(−½ Σ_k (x_k − z_k)²/ℓ_k²).
func (k ARDKernel) Eval(x, z []float64) float64 {
	var v [1]float64
	vec.WeightedSquaredDistances(lengths(k.Lengths).inverse())(v[:], x, z, 1)
	ofWeightedDistances(v[:])
	return v[0]
}

func (k ARDKernel) inner(int) inner {
	return inner{distance: true, weights: lengths(k.Lengths).inverse(), of: ofWeightedDistances}
}

func ofWeightedDistances(v []float64) { simd.ExpScaled(v, -0.5) }

// CheckPoints returns a *[DataError] unless there are as many features as
// lengths.
func (k ARDKernel) CheckPoints(x [][]float64) error { return lengths(k.Lengths).checkPoints(k, x) }

// Check returns a *[ParamError] unless there are lengths and all are in (0, ∞).
func (k ARDKernel) Check() error { return lengths(k.Lengths).check("ARD") }

func (k ARDKernel) String() string { return "ARD(" + k.Lengths + ")" }

// Hyperparameters returns the lengths, named "lengths[0]", "lengths[1]" and so on.
func (k ARDKernel) Hyperparameters() []Hyperparameter { return lengths(k.Lengths).hyperparameters() }

func (k ARDKernel) parameters(s *scan) []parameter { return lengths(k.Lengths).parameters(s) }

// With returns the kernel with other lengths.
func (ARDKernel) With(values []float64) Kernel { return ARD(values...) }

// EvalGradient returns K(x, z) and sets grad[k] to ((x_k − z_k)²/ℓ_k²) K.
func (k ARDKernel) EvalGradient(grad, x, z []float64) float64 {
	var v [2]float64
	lengths(k.Lengths).gradients(k.slopesAt)(v[:1], grad, x, z, 1, v[1:])
	return v[0]
}

func (k ARDKernel) gradientRower(p *points) gradientRower {
	return newLengthsGradient(p, lengths(k.Lengths), k.slopesAt)
}

// slopesAt turns squared distances v into K, and sets slope to the derivative of K by ln ℓ, divided by the
// square of ℓ.
func (ARDKernel) slopesAt(v, slope []float64) {
	simd.ExpScaled(v, -0.5)
	copy(slope, v)
}

func (k ARDKernel) spectral() ([]spectralTerm, bool) {
	inverse := lengths(k.Lengths).inverse()
	return []spectralTerm{{1, func(rng *rand.Rand, omega []float64) {
		for i, v := range inverse {
			omega[i] += float64(v * rng.NormFloat64())
		}
	}}}, true
}

func (k ARDKernel) slopes() (slopes, bool) {
	return gaussianSlopes(lengths(k.Lengths).inverse(), 0.5), true
}

func (k ARDKernel) multiplies(_ *float64) (func(dst, x, z []float64), bool) {
	inverse := lengths(k.Lengths).inverse()
	return func(dst, x, z []float64) {
		for j := range dst {
			e := (x[j] - z[j]) * inverse[j]
			dst[j] *= math.Exp(-e * e / 2)
		}
	}, true
}
