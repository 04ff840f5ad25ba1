package kernels

import (
	"errors"
)

// ScaleKernel is C·K; see [Scale].
type ScaleKernel struct {
	C float64 // ≥ 0
	K Kernel
}

func init() {
	register("Scale", func(a arguments) Kernel {
		if len(a.kernels) != 1 || len(a.numbers) != 1 || len(a.strings) > 0 {
			return nil
		}
		return ScaleKernel{a.numbers[0], a.kernels[0]}
	})
}

// Scale returns the kernel c·K(x, z) with c ≥ 0. For a Gaussian process c is the variance of
// the function. For a machine of cost C it has the same effect as the cost c·C. Scale(1, k) is
// k, and a scale of a scale becomes one scale. To learn c with 1 as its first value, write
// ScaleKernel{C: 1, K: k}, because Scale(1, k) has no c.
//
// The derivative of the kernel by ln c is c·K.
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

// Check returns a *[ParamError] unless 0 ≤ c < ∞, and the error of K.
func (k ScaleKernel) Check() error {
	if err := atLeast0("Scale", "c", k.C); err != nil {
		return errors.Join(err, check(k.K))
	}
	return check(k.K)
}

// CheckPoints returns the error that K has for x.
func (k ScaleKernel) CheckPoints(x [][]float64) error { return inDomain(k.K, x) }

func (k ScaleKernel) String() string { return "Scale(" + digits(k.C) + ", " + describe(k.K) + ")" }

func (k ScaleKernel) rower(p *points) rower { return scaleRower{k.C, rowerOf(k.K, p)} }

type scaleRower struct {
	c float64
	k rower
}

func (r scaleRower) row(dst, x []float64, w *work) {
	r.k.row(dst, x, w)
	scaleBy(r.c, dst)
}

func scaleBy(c float64, v []float64) {
	for j := range v {
		v[j] *= c
	}
}

func (r scaleRower) self(x []float64, w *work) float64 { return float64(r.c * r.k.self(x, w)) }
func (r scaleRower) swap(s, t int)                     { r.k.swap(s, t) }

// Hyperparameters returns c, unless it is 0, and the hyperparameters of K.
func (k ScaleKernel) Hyperparameters() []Hyperparameter { return shortened(parametersOf(k, nil)) }

func (k ScaleKernel) parameters(s *scan) []parameter {
	inner := s.of(k.K)
	if k.C > 0 {
		return append([]parameter{own("c", k.C)}, inner...)
	}
	return nil
}

// With returns the kernel with other values of c and the hyperparameters of K.
func (k ScaleKernel) With(values []float64) Kernel {
	return ScaleKernel{values[0], with(k.K, values[1:])}
}

// EvalGradient returns C·K(x, z) and sets grad to this value, followed by C times the
// derivatives of K.
func (k ScaleKernel) EvalGradient(grad, x, z []float64) float64 { return evalGradient(k, grad, x, z) }

func (k ScaleKernel) gradientRower(p *points) gradientRower {
	return scaleGradient{k.C, gradientRowerOf(k.K, p)}
}

type scaleGradient struct {
	c float64
	k gradientRower
}

func (r scaleGradient) row(v, grad, x []float64, w *work) {
	own, inner := grad[:len(v)], grad[len(v):]
	r.k.row(v, inner, x, w)
	scaleBy(r.c, inner)
	scaleBy(r.c, v)
	copy(own, v)
}

func (r scaleGradient) self(grad, x []float64, w *work) float64 {
	v := float64(r.c * r.k.self(grad[1:], x, w))
	grad[0] = v
	scaleBy(r.c, grad[1:])
	return v
}

func (k ScaleKernel) term(f *formula, cols []int) term {
	if t := f.term(k.K, cols); t != nil {
		return scaleTerm{k.C, t}
	}
	return nil
}

type scaleTerm struct {
	c float64
	k term
}

func (t scaleTerm) values(dst []float64, p *pairs, w *work) {
	t.k.values(dst, p, w)
	scaleBy(t.c, dst)
}

func (t scaleTerm) reach(space int, u, tol float64, self span) float64 {
	return t.k.reach(space, u, tol, self)
}

func (k ScaleKernel) offset(x, mean []float64) (h float64, linear, ok bool) {
	h, linear, ok = offset(k.K, x, mean)
	return float64(k.C * h), linear, ok
}

func (k ScaleKernel) spectral() (terms []spectralTerm, ok bool) {
	terms, ok = spectral(k.K)
	for i := range terms {
		terms[i].variance *= k.C
	}
	return terms, ok
}

func (k ScaleKernel) slopes() (slopes, bool) {
	of, ok := slopesOf(k.K)
	return func(byX, byZ, both, x, z []float64) float64 {
		v := of(byX, byZ, both, x, z)
		scaleBy(k.C, byX)
		scaleBy(k.C, byZ)
		scaleBy(k.C, both)
		return float64(k.C * v)
	}, ok
}

func (k ScaleKernel) multiplies(scale *float64) (func(dst, x, z []float64), bool) {
	*scale *= k.C
	return factorsOf(k.K, scale)
}
