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
	for j, x := range p.source {
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
