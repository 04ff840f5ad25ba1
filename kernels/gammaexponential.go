package kernels

import (
	"github.com/svmnb/svmnb/internal/vec"
)

// GammaExponentialKernel is exp(−(‖x − z‖/ℓ)^γ); see [GammaExponential].
type GammaExponentialKernel struct {
	Length float64 // ℓ > 0, in the units of x
	Gamma  float64 // the exponent, in (0, 2]
}

// GammaExponential returns the kernel K(x, z) = exp(−s^γ) with s = ‖x − z‖/ℓ and
// 0 < γ ≤ 2: [Exponential] for γ = 1, a Gaussian for γ = 2, and nothing positive
// semi-definite beyond (Rasmussen and Williams 2006, eq. 4.18). Only here is
// gamma an exponent.
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

func (k GammaExponentialKernel) ofSquaredDistances(v []float64) {
	log := vec.Log(k.Length)
	for j, r2 := range v {
		v[j] = vec.Exp(k.Gamma * (float64(0.5*vec.Log(r2)) - log)) // s^γ, 0 for s = 0
	}
	vec.ExpScaled(v, -1)
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
