package solvers

import (
	"math"

	"github.com/svmnb/svmnb/internal/simd"
)

// This file has the one definition of the gap, for every problem of this package.
//
// Let G(b) = diag(s) K diag(s) α + p + b s. The Lagrangian of the equality, minimised over the
// box, bounds the optimum from below. The minimisation goes coordinate by coordinate, since
// ½x'Kx ≥ α'Kx − ½α'Kα for K ⪰ 0. The gap between the
// objective at α and that bound is, for any b and any α with s'α = δ, the sum of
//
//	t_i = max over lower_i ≤ x ≤ upper_i of  G_i (α_i − x) + ½ ridge_i (α_i² − x²)  ≥ 0.
//
// For the 1-norm soft margin t_i = α_i (y_i f_i − 1)₊ + (C − α_i)(1 − y_i f_i)₊
// and the sum is CST (7.3)'s numerator. For the 2-norm the sum is
// ½‖w‖² + ½ Σ c_i (1 − y_i f_i)₊² − W. The b that minimises the sum gives the
// best primal value that the w of this α has; any other is a valid bound too.

// gapTerm returns t_i for g = G_i(b), the gradient without the ridge.
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

// biases are the b of the points with s = −1 and with s = +1. The two differ only for a
// Problem with PerClass, in which each class has its own equality and multiplier.
type biases [2]float64

// class returns the index into biases for point i.
func (p *Problem) class(i int) int {
	if p.S[i] > 0 {
		return 1
	}
	return 0
}

// gapAt returns the sum of the t_i at the bias b. f is −s(Qα + p), the ridge included.
func (p *Problem) gapAt(alpha, f []float64, b biases) float64 {
	gap := 0.0
	if p.Ridge == nil && !p.PerClass {
		return simd.Gap(alpha, f, p.S, p.Lower, p.Upper, b[0])
	}
	for i, a := range alpha {
		ridge := p.ridge(i)
		g := p.S[i]*(b[p.class(i)]-f[i]) - ridge*a
		gap += gapTerm(g, a, p.Lower[i], p.Upper[i], ridge)
	}
	return gap
}

// bestBias returns the b that minimises gapAt. gapAt is a convex function of b whose
// derivative is Σ s_i (α_i − x_i(b)), where x_i is the minimiser in gapTerm. The derivative is
// ≤ 0 left of min F and ≥ 0 right of max F, so bisection finds its root. A fixed bias is
// returned as it is.
func (p *Problem) bestBias(alpha, f []float64) biases {
	switch {
	case p.FixedBias:
		return biases{p.Bias, p.Bias}
	case p.PerClass:
		return biases{p.bisect(alpha, f, -1), p.bisect(alpha, f, 1)}
	}
	b := p.bisect(alpha, f, 0)
	return biases{b, b}
}

// bisect is bestBias for the points with the given s, or for all points when s is 0.
func (p *Problem) bisect(alpha, f []float64, s float64) float64 {
	lo, hi := math.Inf(1), math.Inf(-1)
	open := make([]int, 0, len(f)) // points whose x may differ for biases between lo and hi
	for i, v := range f {
		if s == 0 || s == p.S[i] {
			lo, hi = min(lo, v), max(hi, v)
			open = append(open, i)
		}
	}
	if lo > hi {
		return 0 // there is no such point
	}
	pull := func(i int, b float64) float64 {
		a := alpha[i]
		g, x := p.S[i]*(b-f[i]), a
		switch {
		case p.ridge(i) > 0:
			x = min(max(a-g/p.Ridge[i], p.Lower[i]), p.Upper[i])
		case g > 0:
			x = p.Lower[i]
		case g < 0:
			x = p.Upper[i]
		}
		return p.S[i] * (a - x)
	}
	settled := 0.0 // the sum of pull over the other points
	for range 100 {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			break
		}
		slope := settled
		for _, i := range open {
			slope += pull(i, mid)
		}
		if slope < 0 {
			lo = mid
		} else {
			hi = mid
		}
		left := open[:0]
		for _, i := range open {
			if f[i] >= lo && f[i] <= hi || p.ridge(i) > 0 {
				left = append(left, i)
			} else {
				settled += pull(i, mid)
			}
		}
		open = left
	}
	// The derivative jumps between lo and hi, which are neighbouring numbers, so the smaller
	// of the two gaps is taken. The other class adds the same to both.
	if p.gapAt(alpha, f, biases{lo, lo}) < p.gapAt(alpha, f, biases{hi, hi}) {
		return lo
	}
	return hi
}

// isHard reports whether p is a hard margin problem. Its gap as defined above is infinite as
// soon as one point is inside the margin.
func (p *Problem) isHard() bool {
	for i, u := range p.Upper {
		if !math.IsInf(u, 1) || p.Lower[i] != 0 || p.P[i] != -1 || p.ridge(i) > 0 {
			return false
		}
	}
	return p.Delta == 0 && !p.PerClass
}

// hardPrimal returns the primal value of a hard margin. If the smallest functional margin γ̂ =
// min y_i f_i is positive, the scaled w/γ̂ is feasible and costs ‖w‖²/2γ̂²; otherwise the
// value is +Inf. The bias is midway between the classes (N eq. 11), which makes γ̂ largest for
// this w. A fixed bias does not scale with w: the shortest tw with t y_i g_i ≥ 1 − y_i b₀ for
// all i costs t²‖w‖²/2.
func (p *Problem) hardPrimal(f []float64, norm2 float64) float64 {
	if p.FixedBias {
		least, most := 0.0, math.Inf(1)
		for i, y := range p.S {
			g, need := 1-y*f[i], 1-y*p.Bias // y_i g_i and the value that it must reach
			switch {
			case g > 0:
				least = max(least, need/g)
			case g < 0:
				most = min(most, need/g)
			case need > 0:
				return math.Inf(1)
			}
		}
		if least > most {
			return math.Inf(1)
		}
		return least * least * norm2 / 2
	}
	lowest, highest := math.Inf(1), math.Inf(-1) // the smallest g of class +1, the largest of class −1
	for i, y := range p.S {
		if g := y - f[i]; y > 0 {
			lowest = min(lowest, g)
		} else {
			highest = max(highest, g)
		}
	}
	margin := (lowest - highest) / 2
	if !(margin > 0) {
		return math.Inf(1)
	}
	return norm2 / (2 * margin * margin)
}

// summary has the figures that follow from α and F in O(n).
type summary struct {
	dual, norm2   float64
	up, low       float64
	bias, rho     float64 // the mean of the two b, and half their difference
	b             biases
	kkt, equality float64
	free, atUpper int
}

func (p *Problem) summarise(alpha, f []float64) summary {
	if p.Ridge == nil && !p.PerClass {
		return p.tally(alpha, f)
	}
	s := summary{equality: p.equality(alpha)}
	b0 := p.fixed()
	var part [2]extent // one for each class with PerClass, otherwise only the first
	part[0], part[1] = p.unseen(), unseen
	twice := PointsOf(p.K) != nil
	for i, a := range alpha {
		g := -p.S[i] * f[i] // (Qα + p)_i
		s.dual -= a * ((g+p.P[i])/2 + b0*p.S[i])
		s.norm2 += a * (g - p.P[i] - p.ridge(i)*a)
		if twice { // ofDifferences computes these sums for a doubled problem
			s.dual, s.norm2 = 0, 0
		}
		of := &part[0]
		if p.PerClass && p.S[i] > 0 {
			of = &part[1]
		}
		if f[i] > of.up && p.CanRise(i, a) {
			of.up = f[i]
		}
		if f[i] < of.low && p.CanFall(i, a) {
			of.low = f[i]
		}
		if a > p.Lower[i] {
			if a < p.Upper[i] {
				of.free++
				of.sum += f[i]
			} else {
				s.atUpper++
			}
		}
	}
	if twice {
		s.dual, s.norm2 = p.ofDifferences(alpha, f)
	}
	s.norm2 = max(s.norm2, 0)
	s.free = part[0].free + part[1].free
	s.up, s.low = part[0].up, part[0].low
	switch {
	case p.FixedBias:
		s.b = biases{b0, b0}
	case p.PerClass:
		s.b = biases{part[0].bias(), part[1].bias()}
		if part[1].up-part[1].low > s.up-s.low || math.IsNaN(s.up-s.low) {
			s.up, s.low = part[1].up, part[1].low
		}
	default:
		b := part[0].bias()
		s.b = biases{b, b}
	}
	s.bias, s.rho = (s.b[0]+s.b[1])/2, (s.b[0]-s.b[1])/2
	s.kkt = max(0, p.worst(part[0].up, part[0].low))
	if p.PerClass {
		s.kkt = max(s.kkt, p.worst(part[1].up, part[1].low))
	}
	return s
}

// ofDifferences returns W and ‖w‖² of a regression, summed over β = α̂ − α. In a ν-SVR both
// multipliers of a point may be large and nearly equal, and separate sums over them would lose
// the digits of their difference.
func (p *Problem) ofDifferences(alpha, f []float64) (dual, norm2 float64) {
	n := len(alpha) / 2
	for i := range n {
		above, below := alpha[i], alpha[n+i]
		beta, b0 := above-below, p.fixed()
		u := f[i] - p.P[i] - 2*b0
		v := -f[n+i] - p.P[n+i] + 2*b0
		dual += (beta*u + below*(u+v)) / 2
		norm2 += beta * (-f[i] - p.P[i] - p.ridge(i)*above) // adds β_i (Kβ)_i
	}
	return dual, norm2
}

// tally computes the summary in one fast pass, for a problem with one b and no ridge.
func (p *Problem) tally(alpha, f []float64) summary {
	t, b0 := simd.Summarise(alpha, f, p.S, p.P, p.Lower, p.Upper), p.fixed()
	s := summary{
		dual: (t.SF-t.P)/2 - b0*t.S, norm2: max(0, -t.SF-t.P), up: t.Up, low: t.Low,
		bias: b0, b: biases{b0, b0}, free: t.Free, atUpper: t.AtUpper,
	}
	if p.FixedBias {
		s.up, s.low = max(s.up, b0), min(s.low, b0)
	} else {
		e := extent{s.up, s.low, t.Free, t.Sum}
		s.bias = e.bias()
		s.b, s.equality = biases{s.bias, s.bias}, math.Abs(t.S-p.Delta)
	}
	s.kkt = max(0, p.worst(s.up, s.low))
	return s
}

// Violations returns how far each of the n points is from its KKT condition, ≥ 0 and in units
// of y f, in dst or in a new slice if dst is nil. The bias is the fixed one or, if it is free,
// the one that violates least: the middle of [M, m]. The largest value is the KKT violation of
// a [Certificate] and of a [Point] of the trace. If f is nil, F is computed from alpha.
func (p *Problem) Violations(dst, alpha, f []float64) []float64 {
	if f == nil {
		f = p.F(alpha)
	}
	if dst == nil {
		dst = make([]float64, len(alpha))
	}
	part := [2]extent{unseen, unseen}
	of := func(i int) *extent {
		if p.PerClass {
			return &part[p.class(i)]
		}
		return &part[0]
	}
	for i, a := range alpha {
		of(i).see(f[i], p.CanRise(i, a), p.CanFall(i, a))
	}
	for i, a := range alpha {
		b := p.Bias
		if !p.FixedBias {
			b = of(i).bias()
		}
		dst[i] = 0
		if p.CanRise(i, a) {
			dst[i] = max(dst[i], f[i]-b)
		}
		if p.CanFall(i, a) {
			dst[i] = max(dst[i], b-f[i])
		}
	}
	return dst
}

// extent is the range of F over points that share a bias.
type extent struct {
	up, low float64 // m and M
	free    int
	sum     float64 // sum of F over the free points
}

var unseen = extent{up: math.Inf(-1), low: math.Inf(1)}

// unseen returns the extent of no points. With a fixed bias b₀ the conditions are F ≤ b₀ over
// I_up and F ≥ b₀ over I_low, so both ends start at b₀.
func (p *Problem) unseen() extent {
	if p.FixedBias {
		return extent{up: p.Bias, low: p.Bias}
	}
	return unseen
}

func (e *extent) see(f float64, rises, falls bool) {
	if rises {
		e.up = max(e.up, f)
	}
	if falls {
		e.low = min(e.low, f)
	}
}

// bias returns the mean of F over the free points or, without any, the middle of [m, M].
func (e *extent) bias() float64 {
	switch {
	case e.free > 0:
		return e.sum / float64(e.free)
	case math.IsInf(e.up, 0) && math.IsInf(e.low, 0): // no point can move
		return 0
	case math.IsInf(e.up, 0): // only one of m and M is finite
		return e.low
	case math.IsInf(e.low, 0):
		return e.up
	}
	return (e.up + e.low) / 2
}
