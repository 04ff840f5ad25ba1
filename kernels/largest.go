package kernels

import (
	"math"

	"github.com/svmnb/svmnb/internal/vec"
)

// Largest returns a bound of |K(x_i, x_j)| over all pairs of points, by which rounding errors of
// kernel values are measured. For a positive semi-definite kernel it is the largest K(x_i, x_i). A
// [Distance], whose diagonal is 0, and a [Sigmoid], also inside of other kernels, have values
// beyond their diagonal, and then it is computed from the parts of the kernel. For a kernel of your
// own and for [Precomputed] it is taken from the diagonal.
func (g *Gram) Largest() float64 {
	if !indefinite(g.rower) {
		return vec.MaxAbs(g.diag)
	}
	return sizeOf(g.rower, g.p, &g.work)
}

// A sizer is a rower that may be of a kernel whose values exceed its diagonal.
type sizer interface {
	indefinite() bool
	// size returns a bound of |K| for any two points of p, if the kernel is indefinite.
	size(p *points, w *work) float64
}

func indefinite(r rower) bool {
	s, ok := r.(sizer)
	return ok && s.indefinite()
}

// sizeOf returns a bound of |K| for any two points of p.
func sizeOf(r rower, p *points, w *work) float64 {
	if indefinite(r) {
		return r.(sizer).size(p, w)
	}
	return largestSelf(r, p, w)
}

func largestSelf(r rower, p *points, w *work) (most float64) {
	for _, x := range p.all() {
		most = max(most, math.Abs(r.self(x, w)))
	}
	return most
}

func (r *distanceRower) indefinite() bool { return true }

// |K(x, z) − ½K(x, x) − ½K(z, z)| is at most the largest |K(x, z)| and the largest |K(x, x)|.
func (r *distanceRower) size(p *points, w *work) float64 {
	return sizeOf(r.k, p, w) + vec.MaxAbs(r.selves)
}

func (r pairRower) indefinite() bool { return indefinite(r.a) || indefinite(r.b) }

// Sums and products of bounds are bounds of sums and products.
func (r pairRower) size(p *points, w *work) float64 {
	v := []float64{sizeOf(r.a, p, w)}
	r.join(v, []float64{sizeOf(r.b, p, w)})
	return v[0]
}

func (r scaleRower) indefinite() bool                { return indefinite(r.k) }
func (r scaleRower) size(p *points, w *work) float64 { return r.c * sizeOf(r.k, p, w) }

func (r *cosineRower) indefinite() bool { return indefinite(r.k) }

// The quotient is defined as 0 where K(x, x) is 0, so the smallest other one counts.
func (r *cosineRower) size(p *points, w *work) float64 {
	least := math.Inf(1)
	for _, v := range r.selves {
		if v > 0 {
			least = min(least, v)
		}
	}
	return sizeOf(r.k, p, w) / least
}

func (r *centredRower) indefinite() bool { return indefinite(r.k) }

func (r *centredRower) size(p *points, w *work) float64 {
	return sizeOf(r.k, p, w) + 2*vec.MaxAbs(r.m) + math.Abs(r.mean)
}

func (r columnsRower) indefinite() bool                { return indefinite(r.k) }
func (r columnsRower) size(_ *points, w *work) float64 { return sizeOf(r.k, r.p, w) }

func (r *loopRower) indefinite() bool            { return r.most > 0 }
func (r *loopRower) size(*points, *work) float64 { return r.most }
func (in inner) indefinite() bool                { return in.most > 0 }
func (in inner) size(*points, *work) float64     { return in.most }
