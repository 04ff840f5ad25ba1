// Package calibrate turns decision values into probabilities: by a sigmoid (Platt) or an
// increasing function (isotonic regression), and for several classes by coupling the
// probabilities of pairs. Callers must check that all numbers are finite.
package calibrate

import "math"

// Sigmoid is P(y = +1 | f) = 1/(1 + exp(A f + B)). A is negative if larger f are more
// probable for the positive class.
type Sigmoid struct{ A, B float64 }

// At returns the probability for the decision value f, without overflow.
func (s Sigmoid) At(f float64) float64 {
	if v := s.A*f + s.B; v >= 0 {
		return math.Exp(-v) / (1 + math.Exp(-v))
	} else {
		return 1 / (1 + math.Exp(v))
	}
}

// Platt fits the sigmoid to n decision values (Platt 2000) by Newton's method with
// backtracking (Lin, Lin and Weng 2007, Algorithm 1). The targets are (N₊ + 1)/(N₊ + 2) and
// 1/(N₋ + 2) instead of 1 and 0, so that A and B stay finite for separable values and for a
// single class. steps is the number of iterations, at most 100; the iteration also ends
// when a step no longer reduces the error.
func Platt(f []float64, positive []bool) (s Sigmoid, steps int) {
	plus, minus := 0.0, 0.0
	for _, p := range positive {
		if p {
			plus++
		} else {
			minus++
		}
	}
	t := make([]float64, len(f))
	for i, p := range positive {
		if t[i] = 1 / (minus + 2); p {
			t[i] = (plus + 1) / (plus + 2)
		}
	}
	s = Sigmoid{0, math.Log((minus + 1) / (plus + 1))}
	loss := crossEntropy(s, f, t)
	for steps = range 100 {
		g, h := derivatives(s, f, t)
		if math.Abs(g[0]) < 1e-5 && math.Abs(g[1]) < 1e-5 {
			break
		}
		const ridge = 1e-12
		h[0], h[2] = h[0]+ridge, h[2]+ridge
		det := h[0]*h[2] - h[1]*h[1]
		da, db := -(h[2]*g[0]-h[1]*g[1])/det, -(h[0]*g[1]-h[1]*g[0])/det
		slope := g[0]*da + g[1]*db
		step := 1.0
		for ; step >= 1e-10; step /= 2 {
			next := Sigmoid{s.A + step*da, s.B + step*db}
			if l := crossEntropy(next, f, t); l < loss+1e-4*step*slope {
				s, loss = next, l
				break
			}
		}
		if step < 1e-10 {
			break
		}
	}
	return s, steps
}

// crossEntropy is −Σ t ln p + (1 − t) ln (1 − p), in a form that avoids overflow and
// cancellation (Lin, Lin and Weng 2007, eqs. 5 and 6).
func crossEntropy(s Sigmoid, f, t []float64) float64 {
	sum := 0.0
	for i, fi := range f {
		if v := s.A*fi + s.B; v >= 0 {
			sum += t[i]*v + math.Log1p(math.Exp(-v))
		} else {
			sum += (t[i]-1)*v + math.Log1p(math.Exp(v))
		}
	}
	return sum
}

// derivatives returns the gradient of crossEntropy with respect to A and B, and its Hessian
// (AA, AB, BB).
func derivatives(s Sigmoid, f, t []float64) (g [2]float64, h [3]float64) {
	for i, fi := range f {
		p := s.At(fi)
		q := Sigmoid{-s.A, -s.B}.At(fi) // 1 − p, accurate even if p rounds to 1
		d := t[i] - p
		g[0] += fi * d
		g[1] += d
		h[0] += fi * fi * p * q
		h[1] += fi * p * q
		h[2] += p * q
	}
	return g, h
}
