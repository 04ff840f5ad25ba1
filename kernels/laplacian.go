package kernels

import (
	"math"

	"github.com/svmnb/svmnb/internal/vec"
)

// LaplacianKernel is exp(−γ‖x − z‖₁); see [Laplacian].
type LaplacianKernel struct {
	Gamma float64 // > 0, in units of 1/x
}

// Laplacian returns the kernel K(x, z) = exp(−γ Σ_k |x_k − z_k|), the product of
// an [Exponential] for each feature and the same as it in one dimension only.
//
// ∂K/∂ln γ = −γ‖x − z‖₁ K.
func Laplacian(gamma float64) LaplacianKernel { return LaplacianKernel{Gamma: gamma} }

// Eval returns exp(−γ‖x − z‖₁).
func (k LaplacianKernel) Eval(x, z []float64) float64 {
	var v [1]float64
	vec.AbsoluteDistances(v[:], x, z, 1)
	k.ofDistances(v[:])
	return v[0]
}

func (k LaplacianKernel) ofDistances(v []float64) { vec.ExpScaled(v, -k.Gamma) }

// Check returns a *[ParamError] unless 0 < gamma < ∞.
func (k LaplacianKernel) Check() error {
	if !(k.Gamma > 0) || math.IsInf(k.Gamma, 1) {
		return &ParamError{"Laplacian", "gamma", k.Gamma, "want a finite number above 0"}
	}
	return nil
}

func (k LaplacianKernel) String() string { return call("Laplacian", k.Gamma) }
