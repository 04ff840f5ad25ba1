package kernels

import (
	"errors"
	"math/rand/v2"
	"slices"
)

// ProductKernel is A·B; see [Product].
type ProductKernel struct{ A, B Kernel }

func init() {
	register("Product", ofParts(func(a, b Kernel) Kernel { return ProductKernel{a, b} }))
}

// Product returns the kernel K(x, z) = Π K_t(x, z), whose features are the products of one
// feature from each factor (Schur's theorem). Factors on different [Columns] make a tensor
// product. Products within products are flattened. All [Constant] and [Scale] factors are
// combined into one scale in front. The product of nothing is Constant(1).
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
		ok = ok && constant.Check() == nil // a wrong constant stays, so that Check names it
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

// Check returns the errors of the factors.
func (k ProductKernel) Check() error { return errors.Join(check(k.A), check(k.B)) }

// CheckPoints returns the error of the first factor that has one for x.
func (k ProductKernel) CheckPoints(x [][]float64) error { return inBothDomains(k.A, k.B, x) }

func (k ProductKernel) String() string {
	_, nested := k.A.(ProductKernel) // Product nests all factors but the last in A
	return describeParts("Product", k.A, k.B, nested)
}

// factors returns the factors from left to right, as String writes them.
func (k ProductKernel) factors() []Kernel {
	if a, ok := k.A.(ProductKernel); ok {
		return append(a.factors(), k.B)
	}
	return []Kernel{k.A, k.B}
}

// Hyperparameters returns the hyperparameters of the factors.
func (k ProductKernel) Hyperparameters() []Hyperparameter { return shortened(parametersOf(k, nil)) }

func (k ProductKernel) parameters(s *scan) []parameter { return s.ofAll(k.factors()) }

// With returns the kernel with other values of the hyperparameters of the factors.
func (k ProductKernel) With(values []float64) Kernel {
	a, b := withParts(k.A, k.B, values)
	return ProductKernel{a, b}
}

// EvalGradient returns A(x, z)·B(x, z) and sets grad to B times the derivatives of
// A, then A times those of B.
func (k ProductKernel) EvalGradient(grad, x, z []float64) float64 {
	return evalGradient(k, grad, x, z)
}

func (k ProductKernel) rower(p *points) rower {
	return pairRower{rowerOf(k.A, p), rowerOf(k.B, p), multiply}
}

func (k ProductKernel) gradientRower(p *points) gradientRower {
	return newPairGradient(k.A, k.B, p, func(v, b, grad []float64, cut int) {
		for at := 0; at < len(grad); at += len(v) {
			other := b
			if at >= cut {
				other = v
			}
			multiply(grad[at:], other)
		}
		multiply(v, b)
	})
}

// Each factor gets half of the tolerance, because relative errors of factors add.
func (k ProductKernel) term(f *formula, cols []int) term {
	return newPairTerm(f, cols, k.A, k.B, multiply, 0.5)
}

// The frequencies of a product are the sums of frequencies of its factors, because E cos α E
// cos β = E cos(α + β) for independent α and β with E sin = 0.
func (k ProductKernel) spectral() (terms []spectralTerm, ok bool) {
	a, known := spectral(k.A)
	b, ok := spectral(k.B)
	for _, s := range a {
		for _, t := range b {
			terms = append(terms, spectralTerm{s.variance * t.variance, func(rng *rand.Rand, omega []float64) {
				s.add(rng, omega)
				t.add(rng, omega)
			}})
		}
	}
	return terms, known && ok
}

// ∂(ab)/∂x = b ∂a + a ∂b, and so on for the second derivatives.
func (k ProductKernel) slopes() (slopes, bool) {
	return pairSlopes(k.A, k.B, func(a, b *slopesAt) float64 {
		d := len(a.byX)
		for i := range d {
			for j := range d {
				v, w := &a.both[i*d+j], b.both[i*d+j]
				mixed := float64(a.byX[i]*b.byZ[j]) + float64(a.byZ[j]*b.byX[i])
				*v = float64(*v*b.value) + float64(a.value*w) + mixed
			}
		}
		for i := range d {
			a.byX[i] = float64(a.byX[i]*b.value) + float64(a.value*b.byX[i])
			a.byZ[i] = float64(a.byZ[i]*b.value) + float64(a.value*b.byZ[i])
		}
		return float64(a.value * b.value)
	})
}

func (k ProductKernel) multiplies(scale *float64) (func(dst, x, z []float64), bool) {
	a, okA := factorsOf(k.A, scale)
	b, okB := factorsOf(k.B, scale)
	return func(dst, x, z []float64) { a(dst, x, z); b(dst, x, z) }, okA && okB
}
