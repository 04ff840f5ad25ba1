package kernels

import (
	"fmt"
	"math"
)

// NormalisedKernel is K(x, z)/√(K(x, x) K(z, z)); see [Normalised].
type NormalisedKernel struct{ K Kernel }

// Normalised returns the kernel K(x, z)/√(K(x, x) K(z, z)), the cosine of the
// angle in feature space, and 0 where K(x, x) or K(z, z) is 0. Of a kernel that
// is normalised it is the kernel itself.
//
// With C the quotient, ∂C/C = ∂K(x, z)/K(x, z) − ½∂K(x, x)/K(x, x) −
// ½∂K(z, z)/K(z, z).
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

// cosine returns v/√(a·b), 1 to the last bit for v = a = b > 0.
func cosine(v, a, b float64) float64 {
	switch ab := float64(a * b); {
	case ab >= 0x1p-1022 && ab <= math.MaxFloat64:
		return v / math.Sqrt(ab)
	case a == 0 || b == 0:
		return 0
	}
	return v / (math.Sqrt(a) * math.Sqrt(b))
}

// Check returns what is wrong with K.
func (k NormalisedKernel) Check() error { return check(k.K) }

// CheckPoints returns the error that K has for x, or a *[DataError] for the
// first point with a K(x, x) that is negative or no finite number.
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

type normalisedRower struct {
	k      rower
	selves []float64 // K(z, z) of all points
}

func newNormalisedRower(k rower, p *points) *normalisedRower {
	r := &normalisedRower{k: k, selves: make([]float64, p.n)}
	w := &work{}
	for j, x := range p.all() {
		r.selves[j] = k.self(x, w)
	}
	return r
}

func (r *normalisedRower) row(dst, x []float64, w *work) {
	r.k.row(dst, x, w)
	self := r.k.self(x, w)
	for j, v := range dst {
		dst[j] = cosine(v, self, r.selves[j])
	}
}

func (r *normalisedRower) self(x []float64, w *work) float64 {
	v := r.k.self(x, w)
	return cosine(v, v, v)
}

func (r *normalisedRower) swap(s, t int) {
	r.k.swap(s, t)
	r.selves[s], r.selves[t] = r.selves[t], r.selves[s]
}

// Hyperparameters returns those of K.
func (k NormalisedKernel) Hyperparameters() []Hyperparameter { return hyperparameters(k.K, "") }

// With returns the kernel of other values.
func (k NormalisedKernel) With(values []float64) Kernel {
	return NormalisedKernel{with(k.K, values)}
}

// EvalGradient returns the quotient and sets grad to its derivatives, which are 0
// where it is defined as 0.
func (k NormalisedKernel) EvalGradient(grad, x, z []float64) float64 {
	return evalGradient(k, grad, x, z)
}

type normalisedGradient struct {
	k      gradientRower
	params int
	selves []float64 // K(z, z) of all n points
	rates  []float64 // ½ ∂ln K(z, z), params of each
}

func newNormalisedGradient(k gradientRower, params int, p *points) *normalisedGradient {
	r := &normalisedGradient{k, params, make([]float64, p.n), make([]float64, p.n*params)}
	w := &work{}
	for j, x := range p.all() {
		r.selves[j] = r.rate(r.rates[j*params:][:params], x, w)
	}
	return r
}

// rate returns K(x, x) and sets grad to ½ ∂ln K(x, x), 0 where K is.
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
	clear(grad) // of 1, or of 0
	return cosine(v, v, v)
}
