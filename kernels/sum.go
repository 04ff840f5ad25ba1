package kernels

import (
	"errors"
	"slices"
)

// SumKernel is A + B; see [Sum].
type SumKernel struct{ A, B Kernel }

func init() { register("Sum", ofParts(func(a, b Kernel) Kernel { return SumKernel{a, b} })) }

// Sum returns the kernel K(x, z) = Σ K_t(x, z), whose features are those of all terms
// together. Terms on different [Columns] make an additive model. Sums within sums are
// flattened, a [Constant] of 0 is left out, and the sum of nothing is Constant(0).
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

// Eval returns A(x, z) + B(x, z).
func (k SumKernel) Eval(x, z []float64) float64 { return k.A.Eval(x, z) + k.B.Eval(x, z) }

// Check returns the errors of the terms.
func (k SumKernel) Check() error { return errors.Join(check(k.A), check(k.B)) }

// CheckPoints returns the error of the first term that has one for x.
func (k SumKernel) CheckPoints(x [][]float64) error {
	return inBothDomains(k.A, k.B, x)
}

func (k SumKernel) String() string {
	_, nested := k.A.(SumKernel) // Sum nests all terms but the last in A
	return describeParts("Sum", k.A, k.B, nested)
}

// terms returns the terms from left to right, as String writes them.
func (k SumKernel) terms() []Kernel {
	if a, ok := k.A.(SumKernel); ok {
		return append(a.terms(), k.B)
	}
	return []Kernel{k.A, k.B}
}

// Hyperparameters returns the hyperparameters of the terms.
func (k SumKernel) Hyperparameters() []Hyperparameter { return shortened(parametersOf(k, nil)) }

func (k SumKernel) parameters(s *scan) []parameter { return s.ofAll(k.terms()) }

// With returns the kernel with other values of the hyperparameters of the terms.
func (k SumKernel) With(values []float64) Kernel {
	a, b := withParts(k.A, k.B, values)
	return SumKernel{a, b}
}

// EvalGradient returns A(x, z) + B(x, z) and sets grad to the derivatives of A, followed by
// those of B.
func (k SumKernel) EvalGradient(grad, x, z []float64) float64 { return evalGradient(k, grad, x, z) }

func (k SumKernel) rower(p *points) rower {
	return pairRower{rowerOf(k.A, p), rowerOf(k.B, p), add}
}

func (k SumKernel) gradientRower(p *points) gradientRower {
	return sumGradient{newPairGradient(k.A, k.B, p, func(v, b, _ []float64, _ int) { add(v, b) })}
}

func (k SumKernel) term(f *formula, cols []int) term {
	return newPairTerm(f, cols, k.A, k.B, add, 1)
}

func (k SumKernel) offset(x, mean []float64) (h float64, linear, ok bool) {
	a, la, oka := offset(k.A, x, mean)
	b, lb, okb := offset(k.B, x, mean)
	return a + b, la || lb, oka && okb
}

func (k SumKernel) spectral() ([]spectralTerm, bool) {
	a, known := spectral(k.A)
	b, ok := spectral(k.B)
	return append(a, b...), known && ok
}

func (k SumKernel) slopes() (slopes, bool) {
	return pairSlopes(k.A, k.B, func(a, b *slopesAt) float64 {
		add(a.byX, b.byX)
		add(a.byZ, b.byZ)
		add(a.both, b.both)
		return a.value + b.value
	})
}
