package kernels

import (
	"math"

	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/internal/vec"
)

// SigmoidKernel is tanh(γ x·z + c); see [Sigmoid].
type SigmoidKernel struct {
	Gamma float64 // > 0, in units of 1/(x·z)
	Coef0 float64 // any sign, no unit
}

func init() {
	register("Sigmoid", ofNumbers(2, func(v []float64) Kernel { return Sigmoid(v[0], v[1]) }))
}

// Sigmoid returns K(x, z) = tanh(γ x·z + c). The parameters have LIBSVM's names.
//
// It is not positive semi-definite. This holds for all γ and c if all points are allowed, and
// for most γ and c on usual points; package mercer shows by how much. Check allows it because
// it is in use. A method that can handle κ ≤ 0, such as SMO, then ends at a stationary point,
// and the gap and the margin of its certificate mean nothing.
func Sigmoid(gamma, coef0 float64) SigmoidKernel { return SigmoidKernel{Gamma: gamma, Coef0: coef0} }

// Eval returns tanh(γ x·z + c).
func (k SigmoidKernel) Eval(x, z []float64) float64 { return k.OfDot(vec.Dot(x, z)) }

// OfDot returns tanh(γ dot + c).
func (k SigmoidKernel) OfDot(dot float64) float64 {
	v := [1]float64{dot}
	k.ofDots(v[:])
	return v[0]
}

func (k SigmoidKernel) inner(int) inner { return inner{of: k.ofDots, most: 1} }

func (k SigmoidKernel) ofDots(v []float64) {
	for j, dot := range v {
		v[j] = vec.Tanh(float64(k.Gamma*dot) + k.Coef0)
	}
}

// Check returns a *[ParamError] unless 0 < gamma < ∞ and coef0 is finite.
func (k SigmoidKernel) Check() error {
	if err := above0("Sigmoid", "gamma", k.Gamma); err != nil {
		return err
	}
	if math.IsNaN(k.Coef0) || math.IsInf(k.Coef0, 0) {
		return &ParamError{"Sigmoid", "coef0", k.Coef0, "want a finite number"}
	}
	return nil
}

func (k SigmoidKernel) String() string { return call("Sigmoid", k.Gamma, k.Coef0) }

// Hyperparameters returns gamma, and coef0 if it is above 0.
func (k SigmoidKernel) Hyperparameters() []Hyperparameter { return gammaCoef0(k.Gamma, k.Coef0) }

// With returns the kernel with another gamma and, if coef0 is above 0, another coef0.
func (k SigmoidKernel) With(values []float64) Kernel {
	withGammaCoef0(&k.Gamma, &k.Coef0, values)
	return k
}

// EvalGradient returns K(x, z) and sets grad to γ x·z (1 − K²), and to c (1 − K²)
// if c > 0.
func (k SigmoidKernel) EvalGradient(grad, x, z []float64) float64 {
	return gradientOfPair(k, grad, x, z)
}

// EvalGradientRow is EvalGradient for the points in columns.
func (k SigmoidKernel) EvalGradientRow(v, grad, x, columns []float64, stride int) {
	simd.Dots(v, x, columns, stride)
	m := len(v)
	byGamma, byCoef0 := grad[:m], grad[m:]
	copy(byGamma, v)
	k.ofDots(v)
	for j, t := range v {
		slope := (1 - t) * (1 + t)
		byGamma[j] *= k.Gamma * slope
		if k.Coef0 > 0 {
			byCoef0[j] = k.Coef0 * slope
		}
	}
}
