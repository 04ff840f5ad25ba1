package kernels

import (
	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/internal/vec"
)

// GammaExponentialKernel is exp(−(‖x − z‖/ℓ)^γ); see [GammaExponential].
type GammaExponentialKernel struct {
	Length float64 // ℓ > 0, in the units of x
	Gamma  float64 // the exponent, in (0, 2]
}

func init() {
	register("GammaExponential", ofNumbers(2, func(v []float64) Kernel { return GammaExponential(v[0], v[1]) }))
}

// GammaExponential returns the kernel K(x, z) = exp(−s^γ) with s = ‖x − z‖/ℓ and 0 < γ ≤ 2. It
// is [Exponential] for γ = 1, a Gaussian for γ = 2, and not positive semi-definite for γ > 2
// (Rasmussen and Williams 2006, eq. 4.18). Note that gamma is an exponent only in this kernel.
//
// ∂K/∂ln ℓ = γ s^γ K and ∂K/∂ln γ = −γ s^γ ln s K.
func GammaExponential(length, gamma float64) GammaExponentialKernel {
	return GammaExponentialKernel{Length: length, Gamma: gamma}
}

// Eval returns exp(−(‖x − z‖/ℓ)^γ).
func (k GammaExponentialKernel) Eval(x, z []float64) float64 {
	return k.OfSquaredDistance(vec.SquaredDistance(x, z))
}

// OfSquaredDistance returns exp(−(√r2/ℓ)^γ).
func (k GammaExponentialKernel) OfSquaredDistance(r2 float64) float64 {
	v := [1]float64{r2}
	k.ofSquaredDistances(v[:])
	return v[0]
}

func (k GammaExponentialKernel) inner(int) inner {
	return inner{distance: true, of: k.ofSquaredDistances}
}

func (k GammaExponentialKernel) ofSquaredDistances(v []float64) {
	log := vec.Log(k.Length)
	for j, r2 := range v {
		v[j] = vec.Exp(k.Gamma * (float64(0.5*vec.Log(r2)) - log)) // s^γ, which is 0 for s = 0
	}
	simd.ExpScaled(v, -1)
}

// Check returns a *[ParamError] unless 0 < length < ∞ and 0 < gamma ≤ 2.
func (k GammaExponentialKernel) Check() error {
	if err := positive("GammaExponential", "length", k.Length); err != nil {
		return err
	}
	if !(k.Gamma > 0 && k.Gamma <= 2) {
		return &ParamError{"GammaExponential", "gamma", k.Gamma, "want an exponent above 0 and at most 2; beyond 2 it is not positive semi-definite"}
	}
	return nil
}

func (k GammaExponentialKernel) String() string { return call("GammaExponential", k.Length, k.Gamma) }

// Hyperparameters returns length and gamma.
func (k GammaExponentialKernel) Hyperparameters() []Hyperparameter {
	return []Hyperparameter{{"length", k.Length}, {"gamma", k.Gamma}}
}

// With returns the kernel with another length and gamma.
func (GammaExponentialKernel) With(values []float64) Kernel {
	return GammaExponential(values[0], values[1])
}

// EvalGradient returns K(x, z) and sets grad to γ s^γ K and −γ s^γ ln s K, with
// s = ‖x − z‖/ℓ.
func (k GammaExponentialKernel) EvalGradient(grad, x, z []float64) float64 {
	return gradientOfPair(k, grad, x, z)
}

// EvalGradientRow is EvalGradient for the points in columns.
func (k GammaExponentialKernel) EvalGradientRow(v, grad, x, columns []float64, stride int) {
	simd.SquaredDistances(v, x, columns, stride)
	m := len(v)
	byLength, byGamma := grad[:m], grad[m:][:m]
	log := vec.Log(k.Length)
	for j, r2 := range v {
		t := k.Gamma * (float64(0.5*vec.Log(r2)) - log) // γ ln s
		power := vec.Exp(t)
		v[j], byLength[j], byGamma[j] = power, k.Gamma*power, -power*t
		if power == 0 { // s^γ ln s → 0 as s → 0
			byGamma[j] = 0
		}
	}
	expScaled(v, grad[:2*m], -1)
}
