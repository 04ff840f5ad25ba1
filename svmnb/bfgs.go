package svmnb

import (
	"context"
	"math"
	"slices"

	"github.com/svmnb/svmnb/solvers"
)

// bfgs minimises a smooth function of a few variables within a box by the method
// of Broyden, Fletcher, Goldfarb and Shanno (Nocedal and Wright 2006, algorithm
// 6.1), with a line search for the weak Wolfe conditions by bisection. A variable
// that a bound holds back is left out of the step (Bertsekas 1982).
//
// It is here, and not gonum's, because every cell would link that package and
// with it gonum/mat, and because an evaluation takes long enough for an interrupt
// to come in the middle of one.
type bfgs struct {
	f            func(grad, x []float64) float64 // fills grad; +Inf where f does not exist
	lower, upper []float64
	tol          float64 // of the largest |∂f/∂x_i| that no bound holds back
	limit        int     // of iterations
	visit        func(x, grad []float64, f float64)
}

// longest is how far a variable may move in one step. The variables are
// logarithms, so this is a factor of e².
const longest = 2.0

// minimise starts at x, which it overwrites with the best point. It calls visit
// for the start and after each iteration.
func (b *bfgs) minimise(ctx context.Context, x []float64) solvers.Status {
	p := len(x)
	g, next, gNext, d, s, y, hy := make([]float64, p), make([]float64, p), make([]float64, p), make([]float64, p), make([]float64, p), make([]float64, p), make([]float64, p)
	b.clamp(x)
	f := b.f(g, x)
	if math.IsInf(f, 1) || math.IsNaN(f) {
		return solvers.Exhausted
	}
	var h [][]float64 // nil stands for the identity
	b.visit(x, g, f)
	for range b.limit {
		if b.slope(x, g) <= b.tol {
			return solvers.Converged
		}
		b.direction(d, h, x, g)
		if dot(d, g) >= 0 {
			h = nil
			b.direction(d, h, x, g)
		}
		scale := longest
		if h == nil {
			scale = 1
		}
		for _, v := range d {
			scale = min(scale, longest/math.Abs(v))
		}
		fNext, ok := b.search(ctx, next, gNext, x, g, d, f, scale)
		if ctx.Err() != nil {
			return solvers.Interrupted
		}
		if !ok {
			if h == nil {
				return solvers.Exhausted
			}
			h = nil
			continue
		}
		for i := range x {
			s[i], y[i] = next[i]-x[i], gNext[i]-g[i]
		}
		copy(x, next)
		copy(g, gNext)
		f = fNext
		b.visit(x, g, f)
		// A step that does not curve upwards says nothing of a minimum.
		if sy := dot(s, y); sy > 1e-10*math.Sqrt(dot(s, s)*dot(y, y)) {
			if h == nil {
				h = make([][]float64, p)
				for i := range h {
					h[i] = make([]float64, p)
					h[i][i] = sy / dot(y, y) // (6.20)
				}
			}
			for i := range hy {
				hy[i] = dot(h[i], y)
			}
			curve := (1 + dot(y, hy)/sy) / sy
			for i := range h { // (6.17)
				for j := range h {
					h[i][j] += curve*s[i]*s[j] - (hy[i]*s[j]+s[i]*hy[j])/sy
				}
			}
		}
	}
	return solvers.IterationLimit
}

// search looks along the projection of x + t d on the box for a point that is
// low enough, and flat enough where no bound cuts the step off.
func (b *bfgs) search(ctx context.Context, next, gNext, x, g, d []float64, f, scale float64) (fNext float64, ok bool) {
	const decrease, curvature = 1e-4, 0.9
	low, high, t := 0.0, math.Inf(1), min(1, scale)
	best := f
	var xBest, gBest []float64
	for range 40 {
		for i := range x {
			next[i] = x[i] + t*d[i]
		}
		cut := b.clamp(next)
		fNext = b.f(gNext, next)
		if ctx.Err() != nil {
			return 0, false
		}
		expected := 0.0
		for i := range x {
			expected += g[i] * (next[i] - x[i])
		}
		switch {
		case !(fNext <= f+decrease*expected) || math.IsInf(fNext, -1):
			high = t
		case !cut && dot(gNext, d) < curvature*dot(g, d) && t < scale:
			low = t
			best, xBest, gBest = fNext, slices.Clone(next), slices.Clone(gNext)
		default:
			return fNext, true
		}
		if math.IsInf(high, 1) {
			t = min(2*t, scale)
		} else {
			t = (low + high) / 2
		}
		if t == low || t == high {
			break
		}
	}
	if xBest == nil {
		return 0, false
	}
	copy(next, xBest)
	copy(gNext, gBest)
	return best, true
}

// direction sets d to −Hg over the variables that are free to move.
func (b *bfgs) direction(d []float64, h [][]float64, x, g []float64) {
	for i := range d {
		d[i] = 0
		if b.held(i, x, g) {
			continue
		}
		if h == nil {
			d[i] = -g[i]
			continue
		}
		for j := range g {
			if !b.held(j, x, g) {
				d[i] -= h[i][j] * g[j]
			}
		}
	}
}

func (b *bfgs) held(i int, x, g []float64) bool {
	return x[i] <= b.lower[i] && g[i] > 0 || x[i] >= b.upper[i] && g[i] < 0
}

// slope is the largest |∂f/∂x_i| that no bound holds back.
func (b *bfgs) slope(x, g []float64) float64 {
	worst := 0.0
	for i, v := range g {
		if !b.held(i, x, g) {
			worst = max(worst, math.Abs(v))
		}
	}
	return worst
}

// clamp moves x into the box and reports whether it was outside.
func (b *bfgs) clamp(x []float64) (cut bool) {
	for i, v := range x {
		x[i] = min(max(v, b.lower[i]), b.upper[i])
		cut = cut || x[i] != v
	}
	return cut
}

func dot(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}
