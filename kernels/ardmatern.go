package kernels

import (
	"math"
	"math/rand/v2"

	"github.com/svmnb/svmnb/internal/vec"
)

// ARDMaternKernel is a Matérn kernel of half-integer smoothness with a length scale for each
// feature; see [ARDMatern32] and [ARDMatern52].
type ARDMaternKernel struct {
	Halves  int    // 2ν: 3 or 5
	Lengths string // ℓ_k > 0, in the units of x_k, for all d features: "1, 0.5"
}

func init() {
	for halves, name := range map[int]string{3: "ARDMatern32", 5: "ARDMatern52"} {
		register(name, func(a arguments) Kernel {
			if len(a.kernels)+len(a.strings) > 0 {
				return nil
			}
			return ARDMaternKernel{halves, digits(a.numbers...)}
		})
	}
}

// ARDMatern32 returns the Matérn kernel of ν = 3/2 with a length scale for each feature,
// K(x, z) = (1 + √3 s) exp(−√3 s) with s² = Σ_k (x_k − z_k)²/ℓ_k². Its functions have one
// derivative, and a feature with a large ℓ_k matters little. Points must have as many features as
// there are lengths; otherwise [NewGram] returns a *[DataError].
//
// ∂K/∂ln ℓ_k = 3 (x_k − z_k)²/ℓ_k² exp(−√3 s).
func ARDMatern32(lengths ...float64) ARDMaternKernel { return ARDMaternKernel{3, digits(lengths...)} }

// ARDMatern52 is [ARDMatern32] for ν = 5/2, K(x, z) = (1 + √5 s + 5s²/3) exp(−√5 s), whose
// functions have two derivatives.
//
// ∂K/∂ln ℓ_k = (5/3) (x_k − z_k)²/ℓ_k² (1 + √5 s) exp(−√5 s).
func ARDMatern52(lengths ...float64) ARDMaternKernel { return ARDMaternKernel{5, digits(lengths...)} }

// Eval returns the value at s² = Σ_k (x_k − z_k)²/ℓ_k².
func (k ARDMaternKernel) Eval(x, z []float64) float64 {
	var v [1]float64
	vec.WeightedSquaredDistances(lengths(k.Lengths).inverse())(v[:], x, z, 1)
	k.of(v[:])
	return v[0]
}

func (k ARDMaternKernel) of(v []float64) {
	if k.Halves == 3 {
		matern32(v, 1)
	} else {
		matern52(v, 1)
	}
}

func (k ARDMaternKernel) inner(int) inner {
	return inner{distance: true, weights: lengths(k.Lengths).inverse(), of: k.of}
}

func (k ARDMaternKernel) name() string {
	if k.Halves == 3 {
		return "ARDMatern32"
	}
	return "ARDMatern52"
}

// CheckPoints returns a *[DataError] unless there are as many features as lengths.
func (k ARDMaternKernel) CheckPoints(x [][]float64) error {
	return lengths(k.Lengths).checkPoints(k, x)
}

// Check returns a *[ParamError] unless there are lengths, all in (0, ∞), and Halves is 3 or 5.
func (k ARDMaternKernel) Check() error {
	if k.Halves != 3 && k.Halves != 5 {
		return &ParamError{"ARDMaternKernel", "Halves", float64(k.Halves), "must be 3 or 5, twice the smoothness: call ARDMatern32 or ARDMatern52"}
	}
	return lengths(k.Lengths).check(k.name())
}

func (k ARDMaternKernel) String() string { return k.name() + "(" + k.Lengths + ")" }

// Hyperparameters returns the lengths, named "lengths[0]", "lengths[1]" and so on.
func (k ARDMaternKernel) Hyperparameters() []Hyperparameter {
	return lengths(k.Lengths).hyperparameters()
}

func (k ARDMaternKernel) parameters(s *scan) []parameter { return lengths(k.Lengths).parameters(s) }

// With returns the kernel with other lengths.
func (k ARDMaternKernel) With(values []float64) Kernel {
	return ARDMaternKernel{k.Halves, digits(values...)}
}

// EvalGradient returns K(x, z) and sets grad to its derivatives by the logarithms of the lengths.
func (k ARDMaternKernel) EvalGradient(grad, x, z []float64) float64 {
	var v [2]float64
	lengths(k.Lengths).gradients(k.slopesAt)(v[:1], grad, x, z, 1, v[1:])
	return v[0]
}

func (k ARDMaternKernel) gradientRower(p *points) gradientRower {
	return newLengthsGradient(p, lengths(k.Lengths), k.slopesAt)
}

// slopesAt is that of [ARDKernel].
func (k ARDMaternKernel) slopesAt(v, slope []float64) {
	decays(v, slope, math.Sqrt(float64(k.Halves)))
	for j, e := range v {
		if t := slope[j]; k.Halves == 3 {
			v[j], slope[j] = (1+t)*e, 3*e
		} else {
			v[j], slope[j] = (1+t+float64(t*t)/3)*e, 5./3*(1+t)*e
		}
	}
}

// The spectral density is a multivariate Student t distribution of 2ν degrees of freedom.
func (k ARDMaternKernel) spectral() ([]spectralTerm, bool) {
	inverse, nu := lengths(k.Lengths).inverse(), float64(k.Halves)/2
	return []spectralTerm{{1, func(rng *rand.Rand, omega []float64) {
		scale := math.Sqrt(nu / gamma(rng, nu))
		for i, v := range inverse {
			omega[i] += float64(scale * v * rng.NormFloat64())
		}
	}}}, true
}

func (k ARDMaternKernel) slopes() (slopes, bool) {
	return maternSlopes(lengths(k.Lengths).inverse(), k.Halves, 1), true
}
