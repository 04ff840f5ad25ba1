package solvers

import (
	"context"
	"fmt"
	"math"

	"github.com/svmnb/svmnb/internal/vec"
)

// TubeSMO is SMO for ε-SVR on the n signed coefficients β of CST (7.2), in place
// of the 2n multipliers that SMO would move. It solves the problems of [Tube]
// and [Tube2] with a free bias, reads β = α̂ − α from them and reports
// α̂ = max(β, 0), α = max(−β, 0).
//
// A step moves β_i up and β_j down by d. With r = y − (K + ridge)β, which is CST's −E up to
// the bias, and κ = K_ii + K_jj − 2K_ij (+ ridges),
//
//	W(d) − W(0) = (r_i − r_j) d − ½κd² − ε(|β_i + d| − |β_i|) − ε(|β_j − d| − |β_j|)
//
// is concave with a kink wherever β_i or β_j crosses zero; [TubeStep] says how it is
// maximised. The pair is chosen as by SMO's SecondOrder: with
//
//	up_i = r_i − ε  for 0 ≤ β_i < C,   r_i + ε  for β_i < 0,
//	low_i = r_i − ε  for β_i > 0,      r_i + ε  for −C < β_i ≤ 0,
//
// i has the largest up and j the largest (up_i − low_j)²/κ. At the optimum max up ≤ min low. C
// and ε may differ from point to point, and C also between the sides of the tube.
type TubeSMO struct {
	Step TubeStep

	// PairsOnly restricts the run to steps on pairs. Otherwise, after every 50 n steps (at
	// least 1000), one step moves all β that are neither 0 nor at a bound; see face.go.
	// Problems with neither a tube nor a bound, such as ridge regression, take only such
	// steps, which is the method of conjugate gradients.
	PairsOnly bool
}

// TubeStep says how TubeSMO maximises W over a pair. Both ways lead to the same result.
type TubeStep int

const (
	// Piecewise goes along d from kink to kink. The slope starts at up_i − low_j. It falls by
	// κ per unit, and by 2ε at the kinks d = −β_i and d = β_j. The maximum is where it is 0.
	Piecewise TubeStep = iota
	// Quadrants is CST Theorem 7.18: in the quadrant of the signs of (β_i, β_j)
	//
	//	d = (r_i − r_j − ε(sgn β_i − sgn β_j)) / κ, clipped to the quadrant and the box.
	//
	// A β that is 0 belongs to the quadrants of both signs. The best quadrant is taken, and
	// the search continues from there until no quadrant gains.
	Quadrants
)

var tubeStepNames = [...]string{"piecewise", "quadrants"}

func (s TubeStep) String() string { return nameOf("TubeStep", tubeStepNames[:], int(s)) }

// Name returns, for example, "tube SMO (piecewise)".
func (m TubeSMO) Name() string { return "tube SMO (" + m.Step.String() + ")" }

// Start implements Method. It refuses all problems other than those of Tube and Tube2 with a
// free bias.
func (m TubeSMO) Start(p *Problem, alpha []float64) (Stepper, error) {
	k := PointsOf(p.K)
	switch {
	case k == nil:
		return nil, fmt.Errorf("%w: tube SMO is for regressions, the problems of Tube and Tube2; use SMO", ErrUnsupported)
	case p.FixedBias:
		return nil, fmt.Errorf("%w: tube SMO moves pairs along Σβ = 0, and with a fixed bias there is no such constraint; use GradientAscent or PrimalDual", ErrUnsupported)
	case m.Step < 0 || int(m.Step) >= len(tubeStepNames):
		return nil, fmt.Errorf("%w: there is no %v", ErrUnsupported, m.Step)
	}
	smooth, epsilon, err := p.signed()
	if err != nil {
		return nil, err
	}
	n := len(epsilon)
	s := &tube{m: m, n: n, both: alpha, f2: make([]float64, 2*n), orthant: orthant{epsilon: epsilon}}
	s.every = 1
	for i, e := range epsilon { // whether there is a kink or a bound
		if e > 0 || !math.IsInf(p.Upper[i], 1) || !math.IsInf(p.Upper[n+i], 1) {
			s.every = max(1000, pairsPerFace*n)
		}
	}
	if m.PairsOnly {
		s.every = 0
	}
	s.pairs, s.second = pairsAt(smooth, Signed(alpha), nil), true
	s.noRise, s.noFall = make([]float64, n), make([]float64, n)
	for i := range n {
		s.sign(i)
	}
	s.scan()
	return s, nil
}

// tube is SMO's second-order selection with another pair step. In the embedded greedy, α is β
// and F is r. noRise and noFall have the −ε or +ε of up and low in place of 0.
type tube struct {
	greedy
	orthant
	m       TubeSMO
	n       int
	both    []float64 // α̂, then α
	f2      []float64 // F of both, when it is asked for
	touched []int     // memory for Iterate.Working
}

// sign updates what depends on the sign of β_k.
func (s *tube) sign(k int) {
	b, e := s.alpha[k], s.epsilon[k]
	s.both[k], s.both[s.n+k] = max(b, 0), max(-b, 0)
	s.noRise[k], s.noFall[k] = -e, e
	if b < 0 {
		s.noRise[k] = e
	} else if b > 0 {
		s.noFall[k] = -e
	}
	s.mask(k)
}

// Report implements Stepper. It leaves F to Complete.
func (s *tube) Report(it *Iterate) {
	it.Alpha, it.Step, it.Up, it.Low = s.both, s.last, s.up, s.low
	touched := s.wide.free
	if !s.widely {
		touched = s.working[:]
	}
	s.touched = s.touched[:0]
	for _, k := range touched {
		if s.alpha[k] < 0 {
			k += s.n
		}
		s.touched = append(s.touched, k)
	}
	if s.moved || s.widely {
		it.Working = s.touched
	}
}

// Complete implements Completer. It computes F of the 2n multipliers, y ∓ ε − Kβ less the
// ridge term of each.
func (s *tube) Complete(context.Context) (f []float64, all bool) {
	for k, r := range s.f {
		e, plain := s.epsilon[k], r+s.p.ridge(k)*s.alpha[k]
		if s.alpha[k] < 0 {
			s.f2[k], s.f2[s.n+k] = plain-e, r+e
		} else {
			s.f2[k], s.f2[s.n+k] = r-e, plain+e
		}
	}
	return s.f2, true
}

func (s *tube) Refresh(f []float64) {
	for k, e := range s.epsilon {
		if s.alpha[k] < 0 {
			s.f[k] = f[s.n+k] - e
		} else {
			s.f[k] = f[k] + e
		}
	}
	s.scan()
}

// Step optimises one pair, or at times makes a face step.
func (s *tube) Step(ctx context.Context) (done bool, err error) { return s.step(ctx, s) }

func (s *tube) climb(ctx context.Context) (moved bool, err error) {
	return s.orthant.climb(ctx, &s.wide, &s.pairs)
}

// best moves β_i up and β_j down by the best d for the pair and returns d. The caller must
// still update r by the kernel rows of i and j.
func (s *tube) best(i, j int, kij float64) (d float64, err error) {
	l := line{
		a: s.alpha[i], b: s.alpha[j], ea: s.epsilon[i], eb: s.epsilon[j], slope: s.f[i] - s.f[j],
		lo: -min(s.fall(i), s.rise(j)), hi: min(s.rise(i), s.fall(j)),
	}
	l.kappa = s.curvature(i, j, kij, l.hi)
	if s.m.Step == Quadrants {
		d = l.quadrants()
	} else {
		d = l.piecewise()
	}
	switch sum := math.Abs(l.a) + math.Abs(l.b); {
	case d == 0:
		return 0, nil
	case math.IsInf(d, 0) || math.IsNaN(d):
		return 0, ErrUnbounded
	case d != l.hi && d != -l.a && d != l.b && sum+d == sum:
		return 0, nil // the step is too small to change the sum
	}
	s.take(i, j, d)
	return d, nil
}

// signed returns the smooth part of a regression's dual as a Problem in β, whose F is r = y −
// (K + ridge)β, and the ε of each point.
func (p *Problem) signed() (smooth *Problem, epsilon []float64, err error) {
	n := p.K.Dim() / 2
	smooth = &Problem{K: PointsOf(p.K), S: fill(n, 1), P: make([]float64, n), Lower: make([]float64, n), Upper: p.Upper[:n], FixedBias: p.FixedBias, Bias: p.Bias}
	epsilon = make([]float64, n)
	for i := range n {
		if p.S[i] != 1 || p.S[n+i] != -1 || p.Lower[i] != 0 || p.Lower[n+i] != 0 || p.ridge(i) != p.ridge(n+i) {
			return nil, nil, fmt.Errorf("%w: the multipliers of point %d are not those of a tube: s = ±1, lower bound 0, one ridge; use a method that takes any problem, such as SMO", ErrUnsupported, i)
		}
		smooth.Lower[i] = -p.Upper[n+i]
		smooth.P[i], epsilon[i] = (p.P[i]-p.P[n+i])/2, (p.P[i]+p.P[n+i])/2
	}
	if p.Ridge != nil {
		smooth.Ridge = p.Ridge[:n]
	}
	return smooth, epsilon, nil
}

// orthant lets a face step work although W has kinks: while every β keeps its sign, W is its
// smooth part minus the linear term ε Σ β sgn β.
type orthant struct {
	epsilon []float64
	problem Problem   // the box of the current signs
	kink    []float64 // ε sgn β
}

// climb moves all β that may move without a change of sign. It reports whether
// they have moved.
func (q *orthant) climb(ctx context.Context, wide *face, s *pairs) (moved bool, err error) {
	if q.kink == nil {
		n := len(s.alpha)
		q.kink, q.problem.Lower, q.problem.Upper = make([]float64, n), make([]float64, n), make([]float64, n)
	}
	smooth, lower, upper := s.p, q.problem.Lower, q.problem.Upper
	q.problem = *smooth
	q.problem.Lower, q.problem.Upper = lower, upper
	for k, b := range s.alpha {
		lower[k], upper[k], q.kink[k] = smooth.Lower[k], smooth.Upper[k], 0
		if e := q.epsilon[k]; e > 0 {
			if b <= 0 {
				upper[k], q.kink[k] = 0, -e
			}
			if b >= 0 {
				lower[k], q.kink[k] = 0, e
			}
		}
		s.f[k] -= q.kink[k]
	}
	s.p = &q.problem
	moved, err = wide.climb(ctx, s)
	s.p = smooth
	vec.Axpy(s.f, 1, q.kink)
	return moved, err
}

// line is W as a function of d at β_i + d, β_j − d, for lo ≤ d ≤ hi with lo ≤ 0 ≤ hi.
type line struct {
	a, b   float64 // β_i, β_j
	ea, eb float64 // ε_i, ε_j
	slope  float64 // r_i − r_j
	kappa  float64
	lo, hi float64
}

// piecewise returns the d ≥ 0 where W is largest, or 0 if W does not rise. For κ < 0 it is the
// first d where W stops rising.
func (l *line) piecewise() float64 {
	slope := l.slope - l.ea // up_i − low_j
	if l.a < 0 {
		slope = l.slope + l.ea
	}
	if l.b > 0 {
		slope += l.eb
	} else {
		slope -= l.eb
	}
	kinks := [2]struct{ at, drop float64 }{{-l.a, 2 * l.ea}, {l.b, 2 * l.eb}}
	if kinks[1].at < kinks[0].at {
		kinks[0], kinks[1] = kinks[1], kinks[0]
	}
	d := 0.0
	for _, kink := range kinks {
		if kink.at <= 0 || kink.at >= l.hi || !(slope > 0) {
			continue
		}
		if l.kappa > 0 && slope <= l.kappa*(kink.at-d) {
			return min(d+slope/l.kappa, kink.at)
		}
		slope -= l.kappa*(kink.at-d) + kink.drop
		d = kink.at
	}
	switch {
	case !(slope > 0):
		return d
	case l.kappa > 0:
		return min(d+slope/l.kappa, l.hi)
	}
	return l.hi
}

// quadrants returns the d that the rule of CST Theorem 7.18 reaches, one quadrant after
// another.
func (l *line) quadrants() float64 {
	at := *l
	total := 0.0
	for range 5 { // a line meets at most three quadrants, and one more step may be rounding
		best, gain := 0.0, 0.0
		for _, sa := range [2]float64{1, -1} {
			for _, sb := range [2]float64{1, -1} {
				if sa*at.a < 0 || sb*at.b < 0 {
					continue
				}
				lo, hi := at.lo, at.hi
				if sa > 0 {
					lo = max(lo, -at.a)
				} else {
					hi = min(hi, -at.a)
				}
				if sb > 0 {
					hi = min(hi, at.b)
				} else {
					lo = max(lo, at.b)
				}
				slope := at.slope - (l.ea*sa - l.eb*sb)
				d := pairStep(slope, at.kappa, lo, hi)
				if math.IsInf(d, 0) {
					return d
				}
				if g := d * (slope - at.kappa*d/2); g > gain {
					best, gain = d, g
				}
			}
		}
		if best == 0 {
			break
		}
		total += best
		for _, kink := range [2]float64{-l.a, l.b} { // makes the result land exactly on a kink
			if math.Abs(total-kink) <= 4*0x1p-52*(math.Abs(kink)+math.Abs(best)) {
				total = kink
			}
		}
		at.a, at.b, at.slope = l.a+total, l.b-total, l.slope-l.kappa*total
		at.lo, at.hi = min(l.lo-total, 0), max(l.hi-total, 0)
	}
	return total
}
