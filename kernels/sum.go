package kernels

import (
	"errors"
	"slices"
	"strings"
)

// SumKernel is A + B; see [Sum].
type SumKernel struct{ A, B Kernel }

// Sum returns the kernel K(x, z) = Σ K_t(x, z), whose features are those of all
// terms together. Terms of different [Columns] make an additive model. Sums
// within sums are flattened, a [Constant] 0 is left out, and the sum of nothing
// is Constant(0).
//
// ∂K is the sum of the ∂K_t.
func Sum(terms ...Kernel) Kernel {
	terms = flatten(nil, terms, func(k Kernel) (a, b Kernel, ok bool) {
		s, ok := k.(SumKernel)
		return s.A, s.B, ok
	})
	terms = slices.DeleteFunc(terms, func(k Kernel) bool { return k == Kernel(ConstantKernel{}) })
	if len(terms) == 0 {
		return Constant(0)
	}
	sum := terms[0]
	for _, k := range terms[1:] {
		sum = SumKernel{sum, k}
	}
	return sum
}

// flatten appends the parts of ks, from left to right, to parts.
func flatten(parts, ks []Kernel, split func(Kernel) (a, b Kernel, ok bool)) []Kernel {
	for _, k := range ks {
		if a, b, ok := split(k); ok {
			parts = flatten(parts, []Kernel{a, b}, split)
		} else {
			parts = append(parts, k)
		}
	}
	return parts
}

// Eval returns A(x, z) + B(x, z).
func (k SumKernel) Eval(x, z []float64) float64 { return k.A.Eval(x, z) + k.B.Eval(x, z) }

// Check returns what is wrong with the terms.
func (k SumKernel) Check() error { return errors.Join(check(k.A), check(k.B)) }

// CheckPoints returns the error of the first term for which x has one.
func (k SumKernel) CheckPoints(x [][]float64) error {
	if err := inDomain(k.A, x); err != nil {
		return err
	}
	return inDomain(k.B, x)
}

func (k SumKernel) String() string {
	if a, ok := k.A.(SumKernel); ok { // as Sum makes it
		return strings.TrimSuffix(a.String(), ")") + ", " + describe(k.B) + ")"
	}
	return "Sum(" + describe(k.A) + ", " + describe(k.B) + ")"
}

type sumRower struct{ a, b rower }

func (r sumRower) row(dst, x []float64, w *work) {
	b := w.take(len(dst))
	defer w.give(b)
	r.a.row(dst, x, w)
	r.b.row(b, x, w)
	for j, v := range b {
		dst[j] += v
	}
}

func (r sumRower) self(x []float64, w *work) float64 { return r.a.self(x, w) + r.b.self(x, w) }
func (r sumRower) swap(s, t int)                     { r.a.swap(s, t); r.b.swap(s, t) }

// terms returns the terms from left to right, as String writes them.
func (k SumKernel) terms() []Kernel {
	if a, ok := k.A.(SumKernel); ok {
		return append(a.terms(), k.B)
	}
	return []Kernel{k.A, k.B}
}

// Hyperparameters returns those of the terms.
func (k SumKernel) Hyperparameters() []Hyperparameter { return hyperparametersOf(k.terms()) }

// With returns the kernel of other values.
func (k SumKernel) With(values []float64) Kernel {
	n := learnable(k.A)
	return SumKernel{with(k.A, values[:n]), with(k.B, values[n:])}
}

// EvalGradient returns A(x, z) + B(x, z) and sets grad to the derivatives of A,
// then of B.
func (k SumKernel) EvalGradient(grad, x, z []float64) float64 { return evalGradient(k, grad, x, z) }

type sumGradient struct {
	a, b gradientRower
	n    int // hyperparameters of a
}

func (r sumGradient) row(v, grad, x []float64, w *work) {
	b := w.take(len(v))
	defer w.give(b)
	cut := r.n * len(v)
	r.a.row(v, grad[:cut], x, w)
	r.b.row(b, grad[cut:], x, w)
	for j, k := range b {
		v[j] += k
	}
}

func (r sumGradient) self(grad, x []float64, w *work) float64 {
	return r.a.self(grad[:r.n], x, w) + r.b.self(grad[r.n:], x, w)
}
