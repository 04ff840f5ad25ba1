package solvers

import (
	"context"
	"math"
	"math/rand/v2"
)

// tubeDescent is CoordinateDescent for linear ε-SVR (Ho and Lin 2012). It keeps
// w = Σ β_i x_i and minimises over one β_i = α̂_i − α_i at a time, exactly: with
// G_i = w·x_i + b₀ − y_i + ridge_i β_i and H_i = x_i·x_i + ridge_i,
//
//	β_i ← β_i − (G_i + ε)/H_i  where G_i + ε < H_i β_i,
//	      β_i − (G_i − ε)/H_i  where G_i − ε > H_i β_i,
//	      0                    otherwise,
//
// clipped to [−C, C]; the quadratic loss has the ridge and no C. A zero row has
// H_i = 0: its β goes to the end that G_i points at, or to 0.
type tubeDescent struct {
	m        CoordinateDescent
	p        *Problem // smooth part of the dual, of β
	x        Features // of the n points
	n        int
	both     []float64 // α̂, then α
	beta, w  []float64
	diag     []float64
	active   []int // a permutation; the first size of it are not shrunk
	size     int
	rng      *rand.Rand
	bar      float64 // the largest violation of the pass before
	tol      float64 // violation at which the shrunk points are looked at again
	up, down float64 // m and M of a pass over all points; NaN after any other
	step     float64
	orthant

	wide   face
	passes int
	next   int // the pass before which a face comes, −1 for none
}

// startTube is CoordinateDescent.Start for a Problem of Tube or Tube2.
func (m CoordinateDescent) startTube(p *Problem, x Features, alpha []float64) (Stepper, error) {
	smooth, epsilon, err := p.signed()
	if err != nil {
		return nil, err
	}
	n := len(epsilon)
	s := &tubeDescent{
		m: m, p: smooth, x: x, n: n, both: alpha, beta: Signed(alpha), w: make([]float64, x.Columns()), active: make([]int, n), size: n,
		rng: rand.New(rand.NewPCG(m.Seed, 0)), bar: math.Inf(1), tol: 0.1, up: math.NaN(), down: math.NaN(), step: math.NaN(),
		diag: append([]float64(nil), x.Diag()...), orthant: orthant{epsilon: epsilon}, next: epochsBeforeFaces,
	}
	if m.Plain {
		s.next = -1
	}
	for i := range n {
		s.active[i] = i
		if p.Ridge != nil {
			s.diag[i] += p.Ridge[i]
		}
	}
	s.gather()
	return s, nil
}

// gather computes what follows from β.
func (s *tubeDescent) gather() {
	clear(s.w)
	for i, b := range s.beta {
		if b != 0 {
			s.x.Add(s.w, i, b)
		}
		s.set(i, b)
	}
}

// face moves all β that may move without a change of sign; after it all points
// are looked at again.
func (s *tubeDescent) face(ctx context.Context) (moved bool, err error) {
	w := pairsAt(s.p, s.beta, nil)
	moved, err = s.orthant.climb(ctx, &s.wide, &w)
	if moved {
		s.gather()
		s.step, s.up, s.down = w.last, math.NaN(), math.NaN()
		s.size, s.bar = s.n, math.Inf(1)
	}
	return moved, err
}

func (s *tubeDescent) set(i int, b float64) {
	s.beta[i], s.both[i], s.both[s.n+i] = b, max(b, 0), max(-b, 0)
}

// refresh sums w afresh; F is of no use to it.
func (s *tubeDescent) Refresh([]float64) {
	s.gather()
	s.size, s.bar = s.n, math.Inf(1)
}

// Report implements Stepper.
func (s *tubeDescent) Report(it *Iterate) {
	it.Alpha, it.Step, it.Active = s.both, s.step, 2*s.size
	it.Up, it.Low, it.Sweep = s.up, s.down, 1
}

// Step makes one pass, or now and then moves a face. When the shrunk points have
// nothing left to do, all are taken back.
func (s *tubeDescent) Step(ctx context.Context) (done bool, err error) {
	if s.passes == s.next {
		s.next += epochsPerFace
		if moved, err := s.face(ctx); moved || err != nil {
			return false, err
		}
	}
	s.passes++
	if !s.m.Cyclic {
		s.rng.Shuffle(s.size, func(a, b int) { s.active[a], s.active[b] = s.active[b], s.active[a] })
	}
	whole := s.size == s.n
	rise, fall, moved := 0.0, 0.0, 0.0 // the steepest W for a β that grows, for one that falls
	for k := 0; k < s.size; k++ {
		if k&4095 == 4095 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		i := s.active[k]
		b, e := s.beta[i], s.epsilon[i]
		lower, upper := s.p.Lower[i], s.p.Upper[i]
		g := s.x.Dot(i, s.w) + s.p.Bias + s.p.P[i]
		if s.p.Ridge != nil {
			g += s.p.Ridge[i] * b
		}
		up, down := -g-e, g-e // slopes of W for a β that grows and for one that falls
		if b < 0 {
			up = -g + e
		} else if b > 0 {
			down = g + e
		}
		if b >= upper {
			up = math.Inf(-1)
		}
		if b <= lower {
			down = math.Inf(-1)
		}
		if !s.m.NoShrinking && up < -s.bar && down < -s.bar {
			s.size--
			s.active[k], s.active[s.size] = s.active[s.size], i
			k--
			continue
		}
		rise, fall = max(rise, up), max(fall, down)
		if up <= 0 && down <= 0 {
			continue
		}
		next := 0.0
		switch h := s.diag[i]; {
		case g+e < h*b:
			next = b - (g+e)/h // ±Inf for a zero row
		case g-e > h*b:
			next = b - (g-e)/h
		}
		next = min(max(next, lower), upper)
		if math.IsInf(next, 0) {
			return false, ErrUnbounded
		}
		s.x.Add(s.w, i, next-b)
		s.set(i, next)
		moved += (next - b) * (next - b)
	}
	s.step = math.Sqrt(moved)
	s.up, s.down = math.NaN(), math.NaN()
	if whole && s.size == s.n {
		s.up, s.down = s.p.Bias+rise, s.p.Bias-fall
	}
	if s.bar = max(rise, fall); s.bar <= s.tol {
		if s.size == s.n {
			s.tol /= 10
		}
		s.size, s.bar = s.n, math.Inf(1)
	}
	return moved == 0 && whole, nil
}
