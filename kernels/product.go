package kernels

import (
	"errors"
	"slices"
	"strings"
)

// ProductKernel is A·B; see [Product].
type ProductKernel struct{ A, B Kernel }

// Product returns the kernel K(x, z) = Π K_t(x, z), whose features are the
// products of one from each factor (Schur's theorem). Factors of different
// [Columns] make a tensor product. Products within products are flattened, each
// [Constant] and [Scale] joins one scale in front, and the product of nothing is
// Constant(1).
//
// ∂K/K is the sum of the ∂K_t/K_t.
func Product(factors ...Kernel) Kernel {
	factors = flatten(nil, factors, func(k Kernel) (a, b Kernel, ok bool) {
		switch k := k.(type) {
		case ProductKernel:
			return k.A, k.B, true
		case ScaleKernel:
			return Constant(k.C), k.K, true
		}
		return nil, nil, false
	})
	c := 1.0
	factors = slices.DeleteFunc(factors, func(k Kernel) bool {
		constant, ok := k.(ConstantKernel)
		ok = ok && constant.Check() == nil // a wrong one stays, for Check to name
		if ok {
			c *= constant.C
		}
		return ok
	})
	if len(factors) == 0 {
		return Constant(c)
	}
	product := factors[0]
	for _, k := range factors[1:] {
		product = ProductKernel{product, k}
	}
	return Scale(c, product)
}

// Eval returns A(x, z)·B(x, z).
func (k ProductKernel) Eval(x, z []float64) float64 {
	return float64(k.A.Eval(x, z) * k.B.Eval(x, z))
}

// Check returns what is wrong with the factors.
func (k ProductKernel) Check() error { return errors.Join(check(k.A), check(k.B)) }

// CheckPoints returns the error of the first factor for which x has one.
func (k ProductKernel) CheckPoints(x [][]float64) error { return SumKernel(k).CheckPoints(x) }

func (k ProductKernel) String() string {
	if a, ok := k.A.(ProductKernel); ok { // as Product makes it
		return strings.TrimSuffix(a.String(), ")") + ", " + describe(k.B) + ")"
	}
	return "Product(" + describe(k.A) + ", " + describe(k.B) + ")"
}

type productRower struct{ a, b rower }

func (r productRower) row(dst, x []float64, w *work) {
	b := w.take(len(dst))
	defer w.give(b)
	r.a.row(dst, x, w)
	r.b.row(b, x, w)
	for j, v := range b {
		dst[j] *= v
	}
}

func (r productRower) self(x []float64, w *work) float64 {
	return float64(r.a.self(x, w) * r.b.self(x, w))
}

func (r productRower) swap(s, t int) { r.a.swap(s, t); r.b.swap(s, t) }

// factors returns the factors from left to right, as String writes them.
func (k ProductKernel) factors() []Kernel {
	if a, ok := k.A.(ProductKernel); ok {
		return append(a.factors(), k.B)
	}
	return []Kernel{k.A, k.B}
}

// Hyperparameters returns those of the factors.
func (k ProductKernel) Hyperparameters() []Hyperparameter { return hyperparametersOf(k.factors()) }

// With returns the kernel of other values.
func (k ProductKernel) With(values []float64) Kernel {
	return ProductKernel(SumKernel(k).With(values).(SumKernel))
}

// EvalGradient returns A(x, z)·B(x, z) and sets grad to B times the derivatives of
// A, then A times those of B.
func (k ProductKernel) EvalGradient(grad, x, z []float64) float64 {
	return evalGradient(k, grad, x, z)
}

type productGradient struct {
	a, b gradientRower
	n    int // hyperparameters of a
}

func (r productGradient) row(v, grad, x []float64, w *work) {
	b := w.take(len(v))
	defer w.give(b)
	m := len(v)
	cut := r.n * m
	r.a.row(v, grad[:cut], x, w)
	r.b.row(b, grad[cut:], x, w)
	for p := 0; p < len(grad); p += m {
		other := b
		if p >= cut {
			other = v
		}
		g := grad[p:][:m]
		for j, k := range other {
			g[j] *= k
		}
	}
	for j, k := range b {
		v[j] *= k
	}
}

func (r productGradient) self(grad, x []float64, w *work) float64 {
	a, b := r.a.self(grad[:r.n], x, w), r.b.self(grad[r.n:], x, w)
	for p := range grad {
		if p < r.n {
			grad[p] *= b
		} else {
			grad[p] *= a
		}
	}
	return float64(a * b)
}
