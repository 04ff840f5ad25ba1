package kernels

import (
	"fmt"
	"math"
)

// NormalisedKernel is K(x, z)/√(K(x, x) K(z, z)); see [Normalised].
type NormalisedKernel struct{ K Kernel }

func init() {
	register("Normalised", func(a arguments) Kernel {
		if len(a.kernels) != 1 || len(a.numbers)+len(a.strings) > 0 {
			return nil
		}
		return NormalisedKernel{a.kernels[0]}
	})
}

// Normalised returns the kernel K(x, z)/√(K(x, x) K(z, z)), the cosine of the angle in feature
// space. It is 0 if K(x, x) or K(z, z) is 0. A kernel that is normalised already is returned
// as it is.
//
// With C the quotient, ∂C/C = ∂K(x, z)/K(x, z) − ½∂K(x, x)/K(x, x) − ½∂K(z, z)/K(z, z).
func Normalised(k Kernel) Kernel {
	if _, ok := k.(NormalisedKernel); ok {
		return k
	}
	return NormalisedKernel{k}
}

// Eval returns K(x, z)/√(K(x, x) K(z, z)).
func (k NormalisedKernel) Eval(x, z []float64) float64 {
	return cosine(k.K.Eval(x, z), k.K.Eval(x, x), k.K.Eval(z, z))
}

// Check returns the error of K.
func (k NormalisedKernel) Check() error { return check(k.K) }

// CheckPoints returns the error that K has for x, or a *[DataError] for the first point with a
// K(x, x) that is negative or not finite.
func (k NormalisedKernel) CheckPoints(x [][]float64) error {
	if err := inDomain(k.K, x); err != nil {
		return err
	}
	for i, row := range x {
		if v := k.K.Eval(row, row); !(v >= 0) || math.IsInf(v, 1) {
			return &DataError{"x", i, -1, v, fmt.Sprintf("%v of the point with itself is %v, which has no root to divide by: leave the point out, or take a kernel that is positive there", describe(k.K), v)}
		}
	}
	return nil
}

func (k NormalisedKernel) String() string { return "Normalised(" + describe(k.K) + ")" }

// Hyperparameters returns the hyperparameters of K.
func (k NormalisedKernel) Hyperparameters() []Hyperparameter { return shortened(parametersOf(k, nil)) }

func (k NormalisedKernel) parameters(s *scan) []parameter { return s.of(k.K) }

// With returns the kernel with other values of the hyperparameters of K.
func (k NormalisedKernel) With(values []float64) Kernel {
	return NormalisedKernel{with(k.K, values)}
}

// EvalGradient returns the quotient and sets grad to its derivatives. They are 0 for a
// quotient that is defined as 0.
func (k NormalisedKernel) EvalGradient(grad, x, z []float64) float64 {
	return evalGradient(k, grad, x, z)
}

func (k NormalisedKernel) rower(p *points) rower { return newCosineRower(rowerOf(k.K, p), p) }

func (k NormalisedKernel) gradientRower(p *points) gradientRower {
	return newNormalisedGradient(gradientRowerOf(k.K, p), learnable(k), p)
}

type normalisedGradient struct {
	k      gradientRower
	params int
	selves []float64 // K(z, z) of all n points
	rates  []float64 // ½ ∂ln K(z, z), params numbers for each point
}

func newNormalisedGradient(k gradientRower, params int, p *points) *normalisedGradient {
	r := &normalisedGradient{k, params, make([]float64, p.n), make([]float64, p.n*params)}
	w := &work{}
	for j, x := range p.all() {
		r.selves[j] = r.rate(r.rates[j*params:][:params], x, w)
	}
	return r
}

// rate returns K(x, x) and sets grad to ½ ∂ln K(x, x), or to 0 if K(x, x) is 0.
func (r *normalisedGradient) rate(grad, x []float64, w *work) float64 {
	v := r.k.self(grad, x, w)
	for p := range grad {
		if v == 0 {
			grad[p] = 0
		} else {
			grad[p] *= 0.5 / v
		}
	}
	return v
}

func (r *normalisedGradient) row(v, grad, x []float64, w *work) {
	rate := w.take(r.params)
	defer w.give(rate)
	r.k.row(v, grad, x, w)
	self := r.rate(rate, x, w)
	for j, k := range v {
		v[j] = cosine(k, self, r.selves[j])
		for p := range r.params {
			g := &grad[p*len(v)+j]
			*g = cosine(*g, self, r.selves[j]) - float64(v[j]*(rate[p]+r.rates[j*r.params+p]))
		}
	}
}

func (r *normalisedGradient) self(grad, x []float64, w *work) float64 {
	v := r.k.self(grad, x, w)
	clear(grad) // the quotient is constantly 1 or 0
	return cosine(v, v, v)
}

func (k NormalisedKernel) term(f *formula, cols []int) term {
	if t := f.term(k.K, cols); t != nil {
		return normalisedTerm{t}
	}
	return nil
}

type normalisedTerm struct{ k term }

func (t normalisedTerm) values(dst []float64, p *pairs, w *work) {
	t.k.values(dst, p, w)
	if p.self {
		for j, v := range dst {
			dst[j] = cosine(v, v, v)
		}
		return
	}
	selves := w.take(len(dst))
	defer w.give(selves)
	q := p.other
	*q = pairs{right: p.left, from: p.at, self: true}
	t.k.values(selves[:1], q, w)
	self := selves[0]
	*q = pairs{right: p.right, from: p.from, self: true}
	t.k.values(selves, q, w)
	for j, v := range dst {
		dst[j] = cosine(v, self, selves[j])
	}
}

// reach measures errors relative to the smallest K(x, x), because the values are divided by
// it.
func (t normalisedTerm) reach(space int, u, tol float64, self span) float64 {
	return t.k.reach(space, u, tol, span{self.low, self.low})
}
