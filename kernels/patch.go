package kernels

import (
	"fmt"
	"sync"
)

// Patch computes the matrix of a kernel among few points, with its derivatives, for one set of
// points after the other. It keeps its memory, so that a million small matrices cost no
// allocations; [Normalised] and kernels for strings are the exception. It is not safe for
// concurrent use; each goroutine takes a [Patch.Another].
type Patch struct {
	k         Kernel
	d, most   int
	params    int
	x         [][]float64 // of the last Lay
	values    laid[rower]
	gradients laid[gradientRower]
	w         work
}

// laid is a rower, or a gradientRower, for points that change.
type laid[R any] struct {
	p     *points
	r     R
	keeps bool // r keeps nothing of the points but p, so that refill suffices
	fresh bool // the points are those of the last Lay
}

// NewPatch returns the Patch of k for sets of at most most of the n points of d features in x.
// The error is a *[ParamError] for the kernel, or a *[DataError] that names row and column in x.
func NewPatch(k Kernel, x [][]float64, most int) (*Patch, error) {
	if err := check(k); err != nil {
		return nil, err
	}
	d, _, err := checkPoints(k, "x", x)
	if err != nil {
		return nil, err
	}
	return &Patch{k: k, d: d, most: most, params: learnable(k)}, nil
}

// Another returns a Patch of the same kernel for another goroutine.
func (p *Patch) Another() *Patch { return &Patch{k: p.k, d: p.d, most: p.most, params: p.params} }

// Params returns the number of [Hyperparameters].
func (p *Patch) Params() int { return p.params }

// Lay makes x the points of the patch, from 1 to most of d features. Their numbers are read by
// the calls of Row and GradientRow that follow. Another number of points panics with a
// *[DataError].
func (p *Patch) Lay(x [][]float64) {
	if len(x) == 0 || len(x) > p.most {
		panic(&DataError{"x", -1, -1, float64(len(x)), fmt.Sprintf("there are %s: give from 1 to %d", several(len(x), "point"), p.most)})
	}
	p.x, p.values.fresh, p.gradients.fresh = x, false, false
}

// Row sets dst[j] to K(x, x_j) for the first len(dst) points of the patch.
func (p *Patch) Row(dst, x []float64) {
	defer named(nil)
	p.values.lay(p, rowerOf)
	p.values.r.row(dst, x, &p.w)
}

// GradientRow sets v[j] to K(x, x_j) for the first len(v) points of the patch, and
// grad[p·len(v)+j] to the derivative by ln θ_p.
func (p *Patch) GradientRow(v, grad, x []float64) {
	defer named(nil)
	p.gradients.lay(p, gradientRowerOf)
	p.gradients.r.row(v, grad, x, &p.w)
}

func (l *laid[R]) lay(p *Patch, of func(Kernel, *points) R) {
	switch {
	case l.fresh:
		return
	case l.p != nil && l.keeps:
		l.p.refill(p.x, nil)
		refill(l.r, p.x)
	default:
		x := make([][]float64, p.most)
		for j := range x {
			x[j] = p.x[min(j, len(p.x)-1)]
		}
		l.p, l.r = over(of, p.k, copied(x, p.d), p.d)
		l.keeps = refill(l.r, p.x)
	}
	l.fresh = true
}

// refill overwrites the first points by x or, unless cols is nil, by these features of x.
func (p *points) refill(x [][]float64, cols []int) {
	for j, row := range x {
		for k := range p.d {
			c := k
			if cols != nil {
				c = cols[k]
			}
			v := row[c]
			if p.columns != nil {
				p.columns[k*p.n+j] = v
			}
			if p.rows != nil {
				p.rows[j][k] = v
			}
		}
	}
}

// refill gives the parts of a rower with points of their own the features of x. It reports false
// for one that keeps something else of its points.
func refill(r any, x [][]float64) bool {
	switch r := r.(type) {
	case *loopRower, evalRower, *gradientLoopRower, evalGradientRower:
		return true
	case fixedRower:
		return refill(r.r, x)
	case *lengthsGradient:
		if r.u != nil {
			r.once, r.u = new(sync.Once), nil
		}
		return true
	case sumGradient:
		return refill(r.pairGradient, x)
	case scaleRower:
		return refill(r.k, x)
	case scaleGradient:
		return refill(r.k, x)
	case pairRower:
		return refill(r.a, x) && refill(r.b, x)
	case pairGradient:
		return refill(r.a, x) && refill(r.b, x)
	case columnsRower:
		r.p.refill(x, r.cols)
		return refillChosen(r.k)
	case columnsGradient:
		r.p.refill(x, r.cols)
		return refillChosen(r.k)
	case linearRower:
		r.m.refill(r.p, x)
		return refillChosen(r.k)
	case linearGradient:
		r.m.refill(r.p, x)
		return refillChosen(r.k)
	case *rotatedGradient: // r.p has the points themselves
		return refill(r.linearGradient, x)
	}
	return false
}

// refillChosen is refill for a part of chosen or mapped features, none of whose parts may choose or
// map again.
func refillChosen(r any) bool {
	switch r := r.(type) {
	case columnsRower, columnsGradient, linearRower, linearGradient, *rotatedGradient:
		return false
	case fixedRower:
		return refillChosen(r.r)
	case scaleRower:
		return refillChosen(r.k)
	case scaleGradient:
		return refillChosen(r.k)
	case pairRower:
		return refillChosen(r.a) && refillChosen(r.b)
	case pairGradient:
		return refillChosen(r.a) && refillChosen(r.b)
	case sumGradient:
		return refillChosen(r.pairGradient)
	}
	return refill(r, nil)
}
