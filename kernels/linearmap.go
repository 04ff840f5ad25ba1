package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/svmnb/svmnb/internal/vec"
)

// linearMap is K(Lx, Lz), for the kernels that map their points linearly. Each point is mapped once, so
// that the differences of points far from the origin have the rounding of Lx.
type linearMap struct {
	k Kernel
	l [][]float64 // the p rows of L, d numbers each
}

// of sets dst to Lx.
func (m linearMap) of(dst, x []float64) []float64 {
	for i, row := range m.l {
		dst[i] = vec.Dot(row, x)
	}
	return dst
}

// back adds L'u to dst.
func (m linearMap) back(dst, u []float64) {
	for i, row := range m.l {
		for j, v := range row {
			dst[j] += float64(v * u[i])
		}
	}
}

func (m linearMap) all(x [][]float64) [][]float64 {
	out := make([][]float64, len(x))
	for i, row := range x {
		out[i] = m.of(make([]float64, len(m.l)), row)
	}
	return out
}

// over returns the mapped points.
func (m linearMap) over(p *points) [][]float64 {
	out := make([][]float64, p.n)
	for j, x := range p.all() {
		out[j] = m.of(make([]float64, len(m.l)), x)
	}
	return out
}

func (m linearMap) eval(x, z []float64) float64 {
	p := len(m.l)
	return m.k.Eval(m.of(make([]float64, p), x), m.of(make([]float64, p), z))
}

// checkPoints returns a *[DataError] unless points have as many features as L has columns, and
// otherwise the error that K has for Lx. whole is the kernel itself.
func (m linearMap) checkPoints(whole Kernel, x [][]float64) error {
	d := len(m.l[0])
	for i, row := range x {
		if len(row) != d {
			return &DataError{"x", i, -1, float64(len(row)), fmt.Sprintf("the point has %s, and %v takes %d", several(len(row), "feature"), whole, d)}
		}
	}
	to := m.all(x)
	for i, row := range to {
		for _, v := range row {
			if math.IsInf(v, 0) || math.IsNaN(v) {
				return &DataError{"x", i, -1, v, fmt.Sprintf("%v maps the point to %v: scale the features", whole, v)}
			}
		}
	}
	err := inDomain(m.k, to)
	if e, ok := err.(*DataError); ok {
		e.Col = -1 // it is a feature of Lx
	}
	return err
}

type linearRower struct {
	m linearMap
	p *points // the points Lx
	k rower
}

func (m linearMap) rower(p *points) rower {
	to, r := over(rowerOf, m.k, m.over(p), len(m.l))
	return linearRower{m, to, r}
}

func (r linearRower) row(dst, x []float64, w *work) {
	v := w.take(len(r.m.l))
	r.k.row(dst, r.m.of(v, x), w)
	w.give(v)
}

func (r linearRower) self(x []float64, w *work) float64 {
	v := w.take(len(r.m.l))
	defer w.give(v)
	return r.k.self(r.m.of(v, x), w)
}

func (r linearRower) swap(s, t int) {
	r.p.swap(s, t)
	r.k.swap(s, t)
}

// term is that of K over the features that L makes.
func (m linearMap) term(f *formula, cols []int) term {
	if len(cols) != len(m.l[0]) {
		return nil // the points are refused
	}
	return f.term(m.k, f.mapped(m.l, cols))
}

// refill overwrites the first points by Lx.
func (m linearMap) refill(p *points, x [][]float64) {
	for j, row := range x {
		for i, l := range m.l {
			v := vec.Dot(l, row)
			if p.columns != nil {
				p.columns[i*p.n+j] = v
			}
			if p.rows != nil {
				p.rows[j][i] = v
			}
		}
	}
}

type linearGradient struct {
	m linearMap
	p *points // the points Lx
	k gradientRower
}

func (m linearMap) gradientRower(p *points) linearGradient {
	to, r := over(gradientRowerOf, m.k, m.over(p), len(m.l))
	return linearGradient{m, to, r}
}

func (r linearGradient) row(v, grad, x []float64, w *work) {
	u := w.take(len(r.m.l))
	r.k.row(v, grad, r.m.of(u, x), w)
	w.give(u)
}

func (r linearGradient) self(grad, x []float64, w *work) float64 {
	u := w.take(len(r.m.l))
	defer w.give(u)
	return r.k.self(grad, r.m.of(u, x), w)
}

func (m linearMap) offset(x, mean []float64) (h float64, linear, ok bool) {
	p := len(m.l)
	return offset(m.k, m.of(make([]float64, p), x), m.of(make([]float64, p), mean))
}

func (m linearMap) spectral() (terms []spectralTerm, ok bool) {
	inner, ok := spectral(m.k)
	for _, t := range inner {
		terms = append(terms, spectralTerm{t.variance, func(rng *rand.Rand, omega []float64) {
			own := make([]float64, len(m.l))
			t.add(rng, own)
			m.back(omega, own)
		}})
	}
	return terms, ok
}

func (m linearMap) slopes() (slopes, bool) {
	of, ok := slopesOf(m.k)
	p := len(m.l)
	return func(byX, byZ, both, x, z []float64) float64 {
		d := len(x)
		memory := make([]float64, 4*p+p*p+d)
		u, v, byU, byV, square, row := memory[:p], memory[p:2*p], memory[2*p:3*p], memory[3*p:4*p], memory[4*p:4*p+p*p], memory[4*p+p*p:]
		k := of(byU, byV, square, m.of(u, x), m.of(v, z))
		clear(byX)
		clear(byZ)
		clear(both)
		m.back(byX, byU)
		m.back(byZ, byV)
		for a, l := range m.l { // both = L' square L
			clear(row)
			m.back(row, square[a*p:][:p])
			for i, v := range l {
				for j, r := range row {
					both[i*d+j] += float64(v * r)
				}
			}
		}
		return k
	}, ok
}
