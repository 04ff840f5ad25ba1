package solvers

import "math"

// The one definition of the gap, for every problem of this package.
//
// With G(b) = diag(s) K diag(s) α + p + b s, the Lagrangian of the equality
// bounds the optimum from below by minimising over the box coordinate by
// coordinate, since ½x'Kx ≥ α'Kx − ½α'Kα for K ⪰ 0. The gap between the
// objective at α and that bound is, for any b and any α with s'α = δ, the sum of
//
//	t_i = max over lower_i ≤ x ≤ upper_i of  G_i (α_i − x) + ½ ridge_i (α_i² − x²)  ≥ 0.
//
// For the 1-norm soft margin t_i = α_i (y_i f_i − 1)₊ + (C − α_i)(1 − y_i f_i)₊
// and the sum is CST (7.3)'s numerator, for whose terms CST Remark 7.2 leaves
// out b (then single terms can be negative). For the 2-norm the sum is
// ½‖w‖² + ½ Σ c_i (1 − y_i f_i)₊² − W. The b that minimises the sum gives the
// best primal value that the w of this α has; any other is a valid bound too.

// gapTerm returns t_i for the plain gradient g = G_i(b).
func gapTerm(g, a, lower, upper, ridge float64) float64 {
	if ridge > 0 {
		x := min(max(-g/ridge, lower), upper)
		return (a - x) * (g + ridge*(a+x)/2)
	}
	if g > 0 {
		return g * (a - lower)
	}
	if g < 0 {
		return -g * (upper - a)
	}
	return 0
}

// gapAt sums t_i at the bias b. F is −s(Qα + p), the ridge included.
func (p *Problem) gapAt(alpha, f []float64, b float64) float64 {
	gap := 0.0
	for i, a := range alpha {
		g, ridge := p.S[i]*(b-f[i]), 0.0
		if p.Ridge != nil {
			ridge = p.Ridge[i]
			g -= ridge * a
		}
		gap += gapTerm(g, a, p.Lower[i], p.Upper[i], ridge)
	}
	return gap
}

// bestBias returns the b that minimises gapAt, a convex function whose
// derivative is Σ s_i (α_i − x_i(b)) with x_i the minimiser in gapTerm. It is
// ≤ 0 left of min F and ≥ 0 right of max F, so bisection finds the root.
func (p *Problem) bestBias(alpha, f []float64) float64 {
	if p.FixedBias {
		return 0
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range f {
		lo, hi = min(lo, v), max(hi, v)
	}
	for range 100 {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			break
		}
		slope := 0.0
		for i, a := range alpha {
			g, x := p.S[i]*(mid-f[i]), a
			switch {
			case p.Ridge != nil && p.Ridge[i] > 0:
				x = min(max(a-g/p.Ridge[i], p.Lower[i]), p.Upper[i])
			case g > 0:
				x = p.Lower[i]
			case g < 0:
				x = p.Upper[i]
			}
			slope += p.S[i] * (a - x)
		}
		if slope < 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	if p.gapAt(alpha, f, lo) < p.gapAt(alpha, f, hi) {
		return lo
	}
	return hi
}

// isHard reports whether p is a hard margin problem, where the gap above is
// infinite as soon as one point is inside the margin.
func (p *Problem) isHard() bool {
	for i, u := range p.Upper {
		if !math.IsInf(u, 1) || p.Lower[i] != 0 || p.P[i] != -1 || (p.Ridge != nil && p.Ridge[i] > 0) {
			return false
		}
	}
	return p.Delta == 0
}

// hardPrimal returns the primal value of a hard margin: with the smallest
// functional margin γ̂ = min y_i f_i > 0 the scaled w/γ̂ is feasible and costs
// ‖w‖²/2γ̂²; +Inf while γ̂ ≤ 0. The bias is midway between the classes
// (N eq. 11), which makes γ̂ largest for this w.
func (p *Problem) hardPrimal(f []float64, norm2 float64) float64 {
	lowest, highest := math.Inf(1), math.Inf(-1) // of g over +1, over −1
	for i, y := range p.S {
		if g := y - f[i]; y > 0 {
			lowest = min(lowest, g)
		} else {
			highest = max(highest, g)
		}
	}
	margin := (lowest - highest) / 2
	if p.FixedBias {
		margin = min(lowest, -highest)
	}
	if !(margin > 0) {
		return math.Inf(1)
	}
	return norm2 / (2 * margin * margin)
}

// summary is what can be said of an α and its F in O(n).
type summary struct {
	dual, norm2   float64
	up, low, bias float64
	kkt, equality float64
	free, atUpper int
}

func (p *Problem) summarise(alpha, f []float64) summary {
	s := summary{up: math.Inf(-1), low: math.Inf(1), equality: p.equality(alpha)}
	freeSum := 0.0
	for i, a := range alpha {
		g := -p.S[i] * f[i] // (Qα + p)_i
		s.dual -= a * (g + p.P[i]) / 2
		quad := g - p.P[i]
		if p.Ridge != nil {
			quad -= p.Ridge[i] * a
		}
		s.norm2 += a * quad
		if f[i] > s.up && p.canRise(i, a) {
			s.up = f[i]
		}
		if f[i] < s.low && p.canFall(i, a) {
			s.low = f[i]
		}
		if a > p.Lower[i] {
			if a < p.Upper[i] {
				s.free++
				freeSum += f[i]
			} else {
				s.atUpper++
			}
		}
	}
	s.norm2 = max(s.norm2, 0)
	switch {
	case p.FixedBias:
	case s.free > 0:
		s.bias = freeSum / float64(s.free)
	case math.IsInf(s.up, 0) && math.IsInf(s.low, 0): // no point can move
	case math.IsInf(s.up, 0): // one class
		s.bias = s.low
	case math.IsInf(s.low, 0):
		s.bias = s.up
	default:
		s.bias = (s.up + s.low) / 2
	}
	// A point that can rise wants F ≤ b, one that can fall F ≥ b.
	s.kkt = max(0, s.up-s.bias, s.bias-s.low)
	return s
}
