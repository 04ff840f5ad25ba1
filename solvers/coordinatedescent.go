package solvers

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
)

// CoordinateDescent is dual coordinate descent for linear machines without a
// bias (Hsieh, Chang, Lin, Keerthi and Sundararajan 2008, algorithms 2 and 3;
// ST §5). It needs a Problem with a fixed bias whose K is [Features], and keeps
//
//	w = Σ s_i α_i x_i,  G_i = s_i (w·x_i + b₀) + p_i + ridge_i α_i,
//	α_i ← [α_i − G_i / (x_i·x_i + ridge_i)] clipped to its box,
//
// so that a coordinate costs as much as the row has non-zeros. The 1-norm loss
// has the box [0, C], the 2-norm loss the ridge. A bias is a constant
// pseudo-attribute of X. ST's line (7) divides by x_i·x_i, which a zero row does
// not have: its G is constant, and α_i goes to the end of the box that G points
// at. An iteration is a pass over the points that are not shrunk. For the
// problems of [Tube] and [Tube2] it is the descent on β = α̂ − α in tubedescent.go.
//
// On badly conditioned problems passes gain little. So after 2000 of them, and
// after every 50 more, one iteration moves all free α at once by conjugate
// gradients; see face.go.
type CoordinateDescent struct {
	Cyclic      bool   // visit the points in order, not in a new random order each pass
	NoShrinking bool   // visit points at a bound whose G points outwards as often as the others
	Plain       bool   // single coordinates only, however long the run
	Seed        uint64 // of the random order
}

// Name is "dual coordinate descent".
func (CoordinateDescent) Name() string { return "dual coordinate descent" }

// WantsFeatures implements FeatureReader.
func (CoordinateDescent) WantsFeatures(Shape) bool { return true }

// Needs implements Needer.
func (CoordinateDescent) Needs() Needs { return Needs{FixedBias: true, Linear: true} }

// Start implements Method.
func (m CoordinateDescent) Start(p *Problem, alpha []float64) (Stepper, error) {
	x, ok := p.K.(Features)
	switch {
	case !ok:
		return nil, fmt.Errorf("%w: coordinate descent works on the weights of a linear machine and needs the linear kernel's Features; use SMO or GradientAscent for other kernels", ErrUnsupported)
	case !p.FixedBias:
		return nil, fmt.Errorf("%w: single coordinates cannot move along s'α = δ; fix the bias, or append it to X as a pseudo-attribute", ErrUnsupported)
	}
	if points, ok := PointsOf(p.K).(Features); ok {
		return m.startTube(p, points, alpha)
	}
	n := len(alpha)
	s := &descent{
		m: m, p: p, x: x, alpha: alpha, w: make([]float64, x.Columns()), active: make([]int, n),
		diag: append([]float64(nil), p.K.Diag()...), size: n,
		rng: rand.New(rand.NewPCG(m.Seed, 0)), high: math.Inf(1), low: math.Inf(-1),
		up: math.NaN(), down: math.NaN(), step: math.NaN(), tol: 0.1,
		next: epochsBeforeFaces,
	}
	if m.Plain {
		s.next = -1
	}
	for i := range alpha {
		s.active[i] = i
		if p.Ridge != nil {
			s.diag[i] += p.Ridge[i]
		}
	}
	s.normal()
	return s, nil
}

type descent struct {
	m         CoordinateDescent
	p         *Problem
	x         Features
	alpha, w  []float64
	diag      []float64
	active    []int // a permutation; the first size of it are not shrunk
	size      int
	rng       *rand.Rand
	high, low float64 // Hsieh's M̄ and m̄: the projected gradients' range in the pass before
	up, down  float64 // b₀ − m and b₀ − M of a pass over all points; NaN after any other
	tol       float64 // range at which the shrunk points are looked at again
	step      float64

	wide   face
	passes int
	next   int  // the pass before which a face comes, −1 for none
	widely bool // the last step was one
}

// normal sets w to that of α.
func (s *descent) normal() {
	clear(s.w)
	for i, a := range s.alpha {
		if a != 0 {
			s.x.Add(s.w, i, s.p.S[i]*a)
		}
	}
}

// face moves all free α; after it all points are looked at again.
func (s *descent) face(ctx context.Context) (moved bool, err error) {
	w := pairsAt(s.p, s.alpha, nil)
	moved, err = s.wide.climb(ctx, &w)
	if !moved {
		return false, err
	}
	s.normal()
	s.step, s.up, s.down = w.last, math.NaN(), math.NaN()
	s.size = len(s.alpha)
	s.high, s.low = math.Inf(1), math.Inf(-1)
	return true, err
}

// refresh sums w afresh; F is of no use to it.
func (s *descent) Refresh([]float64) {
	s.normal()
	s.size = len(s.alpha)
	s.high, s.low = math.Inf(1), math.Inf(-1)
}

func (s *descent) Report(it *Iterate) {
	it.Alpha, it.Step, it.Active = s.alpha, s.step, s.size
	it.Up, it.Low, it.Sweep = s.up, s.down, 1
	if s.widely {
		it.Working = s.wide.free
	}
}

// Step makes one pass, or now and then moves a face. When the shrunk points have
// nothing left to do, all are taken back.
func (s *descent) Step(ctx context.Context) (done bool, err error) {
	if s.widely = false; s.passes == s.next {
		s.next += epochsPerFace
		if s.widely, err = s.face(ctx); s.widely || err != nil {
			return false, err
		}
	}
	s.passes++
	if !s.m.Cyclic {
		s.rng.Shuffle(s.size, func(a, b int) { s.active[a], s.active[b] = s.active[b], s.active[a] })
	}
	whole := s.size == len(s.alpha)
	most, least := math.Inf(-1), math.Inf(1) // of the projected gradient
	up, down := s.p.Bias, s.p.Bias           // of F = b₀ − s G
	moved := 0.0
	for k := 0; k < s.size; k++ {
		if k&4095 == 4095 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		i := s.active[k]
		y, a := s.p.S[i], s.alpha[i]
		g := y*(s.x.Dot(i, s.w)+s.p.Bias) + s.p.P[i]
		if s.p.Ridge != nil {
			g += s.p.Ridge[i] * a
		}
		lower, upper := s.p.Lower[i], s.p.Upper[i]
		projected := g
		if a <= lower && g > 0 || a >= upper && g < 0 {
			if !s.m.NoShrinking && (a <= lower && g > s.high || a >= upper && g < s.low) {
				s.size--
				s.active[k], s.active[s.size] = s.active[s.size], i
				k--
				continue
			}
			projected = 0
		}
		most, least = max(most, projected), min(least, projected)
		up, down = max(up, s.p.Bias-y*projected), min(down, s.p.Bias-y*projected)
		if projected == 0 {
			continue
		}
		next := min(max(a-g/s.diag[i], lower), upper) // ±Inf for a zero row
		if math.IsInf(next, 0) {
			return false, ErrUnbounded
		}
		s.alpha[i] = next
		s.x.Add(s.w, i, y*(next-a))
		moved += (next - a) * (next - a)
	}
	s.step = math.Sqrt(moved)
	s.up, s.down = math.NaN(), math.NaN()
	if whole && s.size == len(s.alpha) {
		s.up, s.down = s.p.Bias+max(0, -least), s.p.Bias+min(0, -most)
	}
	s.high, s.low = most, least
	if !(most > 0) {
		s.high = math.Inf(1)
	}
	if !(least < 0) {
		s.low = math.Inf(-1)
	}
	if most-least <= s.tol {
		if s.size == len(s.alpha) {
			s.tol /= 10
		}
		s.size = len(s.alpha)
		s.high, s.low = math.Inf(1), math.Inf(-1)
	}
	return moved == 0 && whole, nil
}
