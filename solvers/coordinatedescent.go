package solvers

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/svmnb/svmnb/internal/vec"
)

// CoordinateDescent is dual coordinate descent for linear machines without a bias (Hsieh,
// Chang, Lin, Keerthi and Sundararajan 2008, algorithms 2 and 3; ST §5). It needs a Problem
// with a fixed bias whose K is [Features]. It maintains w and minimises over one α_i at a
// time,
//
//	w = Σ s_i α_i x_i,  G_i = s_i (w·x_i + b₀) + p_i + ridge_i α_i,
//	α_i ← [α_i − G_i / (x_i·x_i + ridge_i)] clipped to its box,
//
// so the cost of a step is the number of non-zeros of x_i. The 1-norm loss has the box [0, C],
// the 2-norm loss the ridge. To learn a bias, append a constant feature to X. ST's line (7)
// divides by x_i·x_i, which is 0 for a zero row; its G is then constant, and α_i goes to the
// end of its box that lowers the objective. An iteration is a pass over the points that are
// not shrunk. For the problems of [Tube] and [Tube2] the method works on β = α̂ − α; see
// tubedescent.go.
//
// On badly conditioned problems passes gain little. After 2000 passes, and then after every
// 50, one iteration therefore moves all free α at once by conjugate gradients; see face.go.
type CoordinateDescent struct {
	Cyclic      bool   // visit the points in the order of the data, not in a new random order each pass
	NoShrinking bool   // visit all points in each pass, also those at a bound whose G points outwards
	Plain       bool   // make only steps on single coordinates, however long the run
	Seed        uint64 // seed of the random order
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
	s := &descent{coordinates: m.coordinates(p, x, alpha), high: math.Inf(1), low: math.Inf(-1)}
	s.normal()
	return s, nil
}

// coordinates is the state of coordinate descent, for classification and for regression.
type coordinates struct {
	m        CoordinateDescent
	p        *Problem
	x        Features
	alpha, w []float64
	diag     []float64
	active   []int // a permutation; its first size entries are the points that are not shrunk
	size     int
	rng      *rand.Rand
	up, down float64 // m and M after a pass over all points, otherwise NaN
	tol      float64 // violation at which the shrunk points are visited again
	step     float64

	wide   face
	passes int
	next   int // the pass before which the next face step comes, −1 for none
}

func (m CoordinateDescent) coordinates(p *Problem, x Features, alpha []float64) coordinates {
	n := len(alpha)
	c := coordinates{
		m: m, p: p, x: x, alpha: alpha, w: make([]float64, x.Columns()), diag: p.diagonal(), active: vec.Indices[int](n), size: n,
		rng: rand.New(rand.NewPCG(m.Seed, 0)), up: math.NaN(), down: math.NaN(), tol: 0.1, step: math.NaN(), next: epochsBeforeFaces,
	}
	if m.Plain {
		c.next = -1
	}
	return c
}

// normal computes w, the normal vector of the plane, from α.
func (c *coordinates) normal() {
	clear(c.w)
	for i, a := range c.alpha {
		if a != 0 {
			c.x.Add(c.w, i, c.p.S[i]*a)
		}
	}
}

// faceIsDue reports whether a face step comes before the next pass.
func (c *coordinates) faceIsDue() bool {
	due := c.passes == c.next
	if due {
		c.next += epochsPerFace
	}
	return due
}

// begin starts a pass.
func (c *coordinates) begin() {
	c.passes++
	if !c.m.Cyclic {
		c.rng.Shuffle(c.size, func(a, b int) { c.active[a], c.active[b] = c.active[b], c.active[a] })
	}
}

// leaveOut shrinks the k-th active point.
func (c *coordinates) leaveOut(k int) {
	c.size--
	c.active[k], c.active[c.size] = c.active[c.size], c.active[k]
}

// gradient returns G_i.
func (c *coordinates) gradient(i int) float64 {
	g := c.p.S[i]*(c.x.Dot(i, c.w)+c.p.Bias) + c.p.P[i]
	return g + c.p.ridge(i)*c.alpha[i]
}

type descent struct {
	coordinates
	high, low float64 // Hsieh's M̄ and m̄: the range of the projected gradients in the pass before
	widely    bool    // the last step was a face step
}

// all makes all points active again.
func (s *descent) all() {
	s.size = len(s.alpha)
	s.high, s.low = math.Inf(1), math.Inf(-1)
}

// face moves all free α at once. If α has moved, all points become active again.
func (s *descent) face(ctx context.Context) (moved bool, err error) {
	w := pairsAt(s.p, s.alpha, nil)
	moved, err = s.wide.climb(ctx, &w)
	if moved {
		s.normal()
		s.step, s.up, s.down = w.last, math.NaN(), math.NaN()
		s.all()
	}
	return moved, err
}

// Refresh computes w afresh from α. It does not need F.
func (s *descent) Refresh([]float64) {
	s.normal()
	s.all()
}

func (s *descent) Report(it *Iterate) {
	it.Alpha, it.Step, it.Active = s.alpha, s.step, s.size
	it.Up, it.Low, it.Sweep = s.up, s.down, 1
	if s.widely {
		it.Working = s.wide.free
	}
}

// Step makes one pass over the active points, or at times a face step. When the active points
// need no more steps, the shrunk points become active again.
func (s *descent) Step(ctx context.Context) (done bool, err error) {
	if s.widely = false; s.faceIsDue() {
		if s.widely, err = s.face(ctx); s.widely || err != nil {
			return false, err
		}
	}
	s.begin()
	whole := s.size == len(s.alpha)
	most, least := math.Inf(-1), math.Inf(1) // range of the projected gradients
	up, down := s.p.Bias, s.p.Bias           // the same range for F = b₀ − s G
	moved := 0.0
	for k := 0; k < s.size; k++ {
		if k&4095 == 4095 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		i := s.active[k]
		y, a, g := s.p.S[i], s.alpha[i], s.gradient(i)
		lower, upper := s.p.Lower[i], s.p.Upper[i]
		projected := g
		if a <= lower && g > 0 || a >= upper && g < 0 {
			if !s.m.NoShrinking && (a <= lower && g > s.high || a >= upper && g < s.low) {
				s.leaveOut(k)
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
		s.all()
	}
	return moved == 0 && whole, nil
}
