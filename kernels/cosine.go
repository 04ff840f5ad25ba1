package kernels

import "math"

// cosine returns v/√(a·b). It is exactly 1 for v = a = b > 0.
func cosine(v, a, b float64) float64 {
	switch ab := float64(a * b); {
	case ab >= 0x1p-1022 && ab <= math.MaxFloat64:
		return v / math.Sqrt(ab)
	case a == 0 || b == 0:
		return 0
	}
	return v / (math.Sqrt(a) * math.Sqrt(b))
}

type cosineRower struct {
	k      rower
	selves []float64 // K(z, z) of all n points
}

// newCosineRower returns the rower of K(x, z)/√(K(x, x) K(z, z)) for the rower of K.
func newCosineRower(k rower, p *points) *cosineRower {
	r := &cosineRower{k: k, selves: make([]float64, p.n)}
	w := &work{}
	for j, x := range p.all() {
		r.selves[j] = k.self(x, w)
	}
	return r
}

func (r *cosineRower) row(dst, x []float64, w *work) {
	r.k.row(dst, x, w)
	self := r.k.self(x, w)
	for j, v := range dst {
		dst[j] = cosine(v, self, r.selves[j])
	}
}

func (r *cosineRower) self(x []float64, w *work) float64 {
	v := r.k.self(x, w)
	return cosine(v, v, v)
}

func (r *cosineRower) swap(s, t int) {
	r.k.swap(s, t)
	r.selves[s], r.selves[t] = r.selves[t], r.selves[s]
}
