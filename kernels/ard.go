package kernels

import (
	"fmt"
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
	vec.WeightedSquaredDistances(k.inverse())(v[:], x, z, 1)
	ofWeightedDistances(v[:])
	return v[0]
}

func (k ARDKernel) inner(int) inner {
	return inner{distance: true, weights: k.inverse(), of: ofWeightedDistances}
}

func ofWeightedDistances(v []float64) { simd.ExpScaled(v, -0.5) }

func (k ARDKernel) inverse() []float64 {
	v := numbers(k.Lengths)
	for i, l := range v {
		v[i] = 1 / l
	}
	return v
}

// CheckPoints returns a *[DataError] unless there are as many features as
// lengths.
func (k ARDKernel) CheckPoints(x [][]float64) error {
	if lengths := len(numbers(k.Lengths)); len(x) > 0 && len(x[0]) != lengths {
		return &DataError{"x", 0, -1, float64(len(x[0])), fmt.Sprintf("the point has %s, and %v has %s: give one for each feature", several(len(x[0]), "feature"), k, several(lengths, "length"))}
	}
	return nil
}

// Check returns a *[ParamError] unless there are lengths and all are in (0, ∞).
func (k ARDKernel) Check() error {
	lengths := numbers(k.Lengths)
	if len(lengths) == 0 {
		return &ParamError{"ARD", "len(lengths)", 0, "give one for each feature"}
	}
	for i, l := range lengths {
		if err := positive("ARD", fmt.Sprintf("lengths[%d]", i), l); err != nil {
			return err
		}
	}
	return nil
}

func (k ARDKernel) String() string { return "ARD(" + k.Lengths + ")" }

// Hyperparameters returns the lengths, named "lengths[0]", "lengths[1]" and so on.
func (k ARDKernel) Hyperparameters() []Hyperparameter {
	var list []Hyperparameter
	for i, l := range numbers(k.Lengths) {
		list = append(list, Hyperparameter{fmt.Sprintf("lengths[%d]", i), l})
	}
	return list
}

// parameters names the lengths by the features, where these have names.
func (k ARDKernel) parameters(s *scan) []parameter {
	var list []parameter
	for i, h := range k.Hyperparameters() {
		p := own(h.Name, h.Value)
		if i < len(s.features) {
			p.Name = s.features[i] + ".length"
		}
		list = append(list, p)
	}
	return list
}

// With returns the kernel with other lengths.
func (ARDKernel) With(values []float64) Kernel { return ARD(values...) }

// EvalGradient returns K(x, z) and sets grad[k] to ((x_k − z_k)²/ℓ_k²) K.
func (k ARDKernel) EvalGradient(grad, x, z []float64) float64 {
	var v [1]float64
	k.gradients()(v[:], grad, x, z, 1)
	return v[0]
}

func (k ARDKernel) gradientRower(p *points) gradientRower { return newGradientLoop(p, k.gradients()) }

func (k ARDKernel) gradients() gradientLoop {
	inverse := k.inverse()
	return func(v, grad, x, columns []float64, stride int) {
		clear(v)
		for f, a := range x {
			weight, g, c := inverse[f], grad[f*len(v):][:len(v)], columns[f*stride:][:len(v)]
			for j, s := range v {
				e := (a - c[j]) * weight
				g[j] = float64(e * e)
				v[j] = s + g[j]
			}
		}
		expScaled(v, grad[:len(x)*len(v)], -0.5)
	}
}

func (k ARDKernel) spectral() ([]spectralTerm, bool) {
	inverse := k.inverse()
	return []spectralTerm{{1, func(rng *rand.Rand, omega []float64) {
		for i, v := range inverse {
			omega[i] += float64(v * rng.NormFloat64())
		}
	}}}, true
}
