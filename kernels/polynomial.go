package kernels

import (
	"fmt"
	"math"

	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/internal/vec"
)

// PolynomialKernel is (γ x·z + c)^degree; see [Polynomial].
type PolynomialKernel struct {
	Degree int     // 1 … 2²⁴
	Gamma  float64 // > 0, in units of 1/(x·z)
	Coef0  float64 // ≥ 0, no unit
}

func init() {
	register("Polynomial", ofWhole(3, func(degree int, v []float64) Kernel { return Polynomial(degree, v[0], v[1]) }))
}

// Polynomial returns the kernel K(x, z) = (γ x·z + c)^degree. The parameters have LIBSVM's
// names. Its features are the monomials of exactly this degree if coef0 = 0, and of all
// degrees up to it if coef0 > 0. With coef0 < 0 it would not be positive semi-definite.
//
// With s = γ x·z, ∂K/∂ln γ = degree·s·(s + c)^(degree−1) and
// ∂K/∂ln c = degree·c·(s + c)^(degree−1).
func Polynomial(degree int, gamma, coef0 float64) PolynomialKernel {
	return PolynomialKernel{Degree: degree, Gamma: gamma, Coef0: coef0}
}

// Eval returns (γ x·z + c)^degree.
func (k PolynomialKernel) Eval(x, z []float64) float64 { return k.OfDot(vec.Dot(x, z)) }

// OfDot returns (γ dot + c)^degree, which is ±Inf if it overflows.
func (k PolynomialKernel) OfDot(dot float64) float64 {
	v := [1]float64{dot}
	k.ofDots(v[:])
	return v[0]
}

func (k PolynomialKernel) inner(int) inner { return inner{of: k.ofDots} }

func (k PolynomialKernel) ofDots(v []float64) {
	for j, dot := range v {
		base := float64(k.Gamma*dot) + k.Coef0
		switch k.Degree {
		case 1:
			v[j] = base
		case 2:
			v[j] = base * base
		case 3:
			v[j] = base * base * base
		default:
			v[j] = power(base, k.Degree)
		}
	}
}

// mostDegree is the largest degree. ONNX stores the degree as float32, which cannot tell odd
// from even numbers beyond it.
const mostDegree = 1 << 24

// Check returns a *[ParamError] unless 1 ≤ degree ≤ 2²⁴, 0 < gamma < ∞ and
// 0 ≤ coef0 < ∞.
func (k PolynomialKernel) Check() error {
	const name = "Polynomial"
	switch {
	case k.Degree < 1 || k.Degree > mostDegree:
		return &ParamError{name, "degree", float64(k.Degree), fmt.Sprintf("want a whole number from 1 to %d", mostDegree)}
	case !(k.Gamma > 0) || math.IsInf(k.Gamma, 1):
		return &ParamError{name, "gamma", k.Gamma, "want a finite number above 0"}
	case !(k.Coef0 >= 0) || math.IsInf(k.Coef0, 1):
		return &ParamError{name, "coef0", k.Coef0, "want a finite number of at least 0; below 0 it is not positive semi-definite"}
	}
	return nil
}

func (k PolynomialKernel) String() string {
	return call("Polynomial", float64(k.Degree), k.Gamma, k.Coef0)
}

// Hyperparameters returns gamma, and coef0 unless it is 0.
func (k PolynomialKernel) Hyperparameters() []Hyperparameter {
	return gammaCoef0(k.Gamma, k.Coef0)
}

// With returns the kernel with another gamma and coef0.
func (k PolynomialKernel) With(values []float64) Kernel {
	withGammaCoef0(&k.Gamma, &k.Coef0, values)
	return k
}

// EvalGradient returns K(x, z) and sets grad to degree·s·(s + c)^(degree−1), with
// s = γ x·z, and to degree·c·(s + c)^(degree−1) if c > 0.
func (k PolynomialKernel) EvalGradient(grad, x, z []float64) float64 {
	return gradientOfPair(k, grad, x, z)
}

// EvalGradientRow is EvalGradient for the points in columns.
func (k PolynomialKernel) EvalGradientRow(v, grad, x, columns []float64, stride int) {
	simd.Dots(v, x, columns, stride)
	m := len(v)
	byGamma, byCoef0 := grad[:m], grad[m:]
	for j, dot := range v {
		s := float64(k.Gamma * dot)
		slope := float64(k.Degree) * power(s+k.Coef0, k.Degree-1)
		byGamma[j] = s * slope
		if k.Coef0 > 0 {
			byCoef0[j] = k.Coef0 * slope
		}
	}
	k.ofDots(v)
}
