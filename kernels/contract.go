package kernels

import (
	"math"
	"sync"

	"github.com/svmnb/svmnb/internal/simd"
)

// A contractor is a gradientRower that can sum derivatives with weights without storing them.
type contractor interface {
	// contract sets v to K(x, point j), and sum[p] to Σ_j w_j times its derivative by parameter p, for
	// the first len(v) points.
	contract(v, sum, x, w []float64, mem *work)
}

// contract does for any gradientRower what a contractor does.
func contract(r gradientRower, v, sum, x, w []float64, mem *work) {
	if c, ok := r.(contractor); ok {
		c.contract(v, sum, x, w, mem)
		return
	}
	contractRow(r, v, sum, x, w, mem)
}

// contractRow computes all derivatives of a row, and then their sums with the weights w.
func contractRow(r gradientRower, v, sum, x, w []float64, mem *work) {
	m := len(v)
	grad := mem.take(len(sum) * m)
	defer mem.give(grad)
	r.row(v, grad, x, mem)
	for p := range sum {
		sum[p] = simd.Dot(grad[p*m:][:m], w[:m])
	}
}

func (r scaleGradient) contract(v, sum, x, w []float64, mem *work) {
	contract(r.k, v, sum[1:], x, w, mem)
	sum[0] = simd.Dot(v, w[:len(v)])
	scaleBy(r.c, sum)
	scaleBy(r.c, v)
}

// sumGradient is the pairGradient of a sum.
type sumGradient struct{ pairGradient }

func (r sumGradient) contract(v, sum, x, w []float64, mem *work) {
	b := mem.take(len(v))
	defer mem.give(b)
	contract(r.a, v, sum[:r.n], x, w, mem)
	contract(r.b, b, sum[r.n:], x, w, mem)
	add(v, b)
}

// lengthsGradient is the gradientRower of a kernel K = k(r²) with r² = Σ_f (x_f − z_f)²/ℓ_f². Its derivatives
// are s(r²) (x_f − z_f)²/ℓ_f², and so with u = x/ℓ and c_j = w_j s(r_j²) a sum of them is
//
//	Σ_j c_j (u_f − u_jf)² = u_f² Σ_j c_j − 2 u_f Σ_j c_j u_jf + Σ_j c_j u_jf².
//
// This takes two products of vectors for each feature. As the terms may cancel, u has its mean taken
// off, and points at which u is still large have no such sums.
type lengthsGradient struct {
	p       *points
	lengths lengths
	slopes  func(v, s []float64) // turns r² in v into k(r²), and sets s to s(r²)
	loop    func(v, grad, x, columns []float64, stride int, s []float64)

	once          *sync.Once
	small         bool // no |u| is large
	inverse, mean []float64
	u, squares    []float64 // u_jf and u_jf², by features
}

// mostCancelled is the largest |u| for which sums may cancel: they lose four of sixteen digits at most.
const mostCancelled = 100

func newLengthsGradient(p *points, l lengths, slopes func(v, s []float64)) gradientRower {
	p.byColumns()
	return &lengthsGradient{p: p, lengths: l, slopes: slopes, loop: l.gradients(slopes), once: new(sync.Once)}
}

func (r *lengthsGradient) row(v, grad, x []float64, mem *work) {
	s := mem.take(len(v))
	defer mem.give(s)
	r.loop(v, grad, x, r.p.columns, r.p.n, s)
}

func (r *lengthsGradient) self(grad, x []float64, mem *work) float64 {
	v := mem.take(2)
	defer mem.give(v)
	r.loop(v[:1], grad, x, x, 1, v[1:])
	return v[0]
}

// prepare computes u.
func (r *lengthsGradient) prepare() {
	n, columns := r.p.n, r.p.columns
	r.small, r.inverse, r.mean = false, r.lengths.inverse(), make([]float64, r.p.d)
	r.u, r.squares = make([]float64, len(columns)), make([]float64, len(columns))
	for f := range r.mean {
		column := columns[f*n:][:n]
		for _, v := range column {
			r.mean[f] += v / float64(n)
		}
		for j, v := range column {
			u := (v - r.mean[f]) * r.inverse[f]
			if !(math.Abs(u) <= mostCancelled) {
				return
			}
			r.u[f*n+j], r.squares[f*n+j] = u, u*u
		}
	}
	r.small = true
}

func (r *lengthsGradient) contract(v, sum, x, w []float64, mem *work) {
	r.once.Do(r.prepare)
	at := mem.take(len(x))
	defer mem.give(at)
	small := r.small
	for f := 0; small && f < len(x); f++ {
		at[f] = (x[f] - r.mean[f]) * r.inverse[f]
		small = math.Abs(at[f]) <= mostCancelled // x may be another point
	}
	if !small {
		contractRow(r, v, sum, x, w, mem)
		return
	}
	clear(sum)
	var s [512]float64
	for from := 0; from < len(v); from += len(s) {
		part := v[from:min(from+len(s), len(v))]
		c := s[:len(part)]
		simd.SquaredDistances(part, at, r.u[from:], r.p.n)
		r.slopes(part, c)
		total := 0.0
		for j, w := range w[from:][:len(c)] {
			c[j] = float64(c[j] * w)
			total += c[j]
		}
		for f, a := range at {
			column := f*r.p.n + from
			sum[f] += float64(a*a*total) - float64(2*a*simd.Dot(r.u[column:][:len(c)], c)) + simd.Dot(r.squares[column:][:len(c)], c)
		}
	}
}
