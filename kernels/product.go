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
