package kernels

import (
	"math"
	"math/rand/v2"
)

// ConstantKernel is c; see [Constant].
type ConstantKernel struct {
	C float64 // ≥ 0
}

func init() { register("Constant", ofNumbers(1, func(v []float64) Kernel { return Constant(v[0]) })) }

// Constant returns the kernel K(x, z) = c ≥ 0, which has the single feature √c. In a sum it is
// the bias; see [Augmented]. In a [Product] it becomes a [Scale].
//
// ∂K/∂ln c = c.
func Constant(c float64) ConstantKernel { return ConstantKernel{C: c} }

// Eval returns c.
func (k ConstantKernel) Eval(x, z []float64) float64 { return k.C }

// OfDot returns c.
func (k ConstantKernel) OfDot(float64) float64 { return k.C }

// EvalRow sets dst to c.
func (k ConstantKernel) EvalRow(dst, _, _ []float64, _ int) {
	for j := range dst {
		dst[j] = k.C
	}
}

// Check returns a *[ParamError] unless 0 ≤ c < ∞.
func (k ConstantKernel) Check() error { return atLeast0("Constant", "c", k.C) }

func (k ConstantKernel) String() string { return call("Constant", k.C) }

// Hyperparameters returns c, unless it is 0.
func (k ConstantKernel) Hyperparameters() []Hyperparameter {
	if k.C > 0 {
		return []Hyperparameter{{"c", k.C}}
	}
	return nil
}

// With returns the kernel with another c.
func (ConstantKernel) With(values []float64) Kernel { return Constant(values[0]) }

func (k ConstantKernel) term(*formula, []int) term { return constantTerm(k.C) }

type constantTerm float64

func (t constantTerm) values(dst []float64, _ *pairs, _ *work) {
	for j := range dst {
		dst[j] = float64(t)
	}
}

func (constantTerm) reach(int, float64, float64, span) float64 { return math.Inf(1) }

func (ConstantKernel) offset(_, _ []float64) (h float64, linear, ok bool) { return 0, false, true }

func (k ConstantKernel) spectral() ([]spectralTerm, bool) {
	return []spectralTerm{{k.C, func(*rand.Rand, []float64) {}}}, true
}

// EvalGradient returns c and sets grad to c.
func (k ConstantKernel) EvalGradient(grad, x, z []float64) float64 {
	if k.C > 0 {
		grad[0] = k.C
	}
	return k.C
}

// EvalGradientRow is EvalGradient for the points in columns.
func (k ConstantKernel) EvalGradientRow(v, grad, _, _ []float64, _ int) {
	for j := range v {
		v[j], grad[j] = k.C, k.C
	}
}

// EvalSlopes implements [Smooth].
func (k ConstantKernel) EvalSlopes(byX, byZ, both, _, _ []float64) float64 {
	clear(byX)
	clear(byZ)
	clear(both)
	return k.C
}

func (k ConstantKernel) multiplies(scale *float64) (func(dst, x, z []float64), bool) {
	*scale *= k.C
	return func(_, _, _ []float64) {}, true
}
