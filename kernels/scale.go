package kernels

import (
	"errors"
	"math"
)

// ScaleKernel is C·K; see [Scale].
type ScaleKernel struct {
	C float64 // ≥ 0
	K Kernel
}

// Scale returns the kernel c·K(x, z), c ≥ 0: for a Gaussian process c is the
// variance of the function, for a machine of cost C it is as good as the cost
// c·C. Scale(1, k) is k, and what is scaled twice is scaled once.
//
// ∂/∂ln c is c·K.
func Scale(c float64, k Kernel) Kernel {
	switch k := k.(type) {
	case ScaleKernel:
		if c >= 0 && k.C >= 0 {
			return Scale(c*k.C, k.K)
		}
	case ConstantKernel:
		if c >= 0 && k.C >= 0 {
			return Constant(c * k.C)
		}
	}
	if c == 1 {
		return k
	}
	return ScaleKernel{c, k}
}

// Eval returns C·K(x, z).
func (k ScaleKernel) Eval(x, z []float64) float64 { return float64(k.C * k.K.Eval(x, z)) }

// Check returns a *[ParamError] unless 0 ≤ c < ∞, and what is wrong with K.
func (k ScaleKernel) Check() error {
	if !(k.C >= 0) || math.IsInf(k.C, 1) {
		return errors.Join(&ParamError{"Scale", "c", k.C, "want a finite number of at least 0"}, check(k.K))
	}
	return check(k.K)
}

// CheckPoints returns the error that K has for x.
func (k ScaleKernel) CheckPoints(x [][]float64) error { return inDomain(k.K, x) }

func (k ScaleKernel) String() string { return "Scale(" + digits(k.C) + ", " + describe(k.K) + ")" }

type scaleRower struct {
	c float64
	k rower
}

func (r scaleRower) row(dst, x []float64, w *work) {
	r.k.row(dst, x, w)
	for j := range dst {
		dst[j] *= r.c
	}
}

func (r scaleRower) self(x []float64, w *work) float64 { return float64(r.c * r.k.self(x, w)) }
func (r scaleRower) swap(s, t int)                     { r.k.swap(s, t) }
