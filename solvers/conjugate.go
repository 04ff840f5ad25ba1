package solvers

import (
	"context"
	"fmt"
	"math"

	"github.com/svmnb/svmnb/internal/vec"
)

// ConjugateSMO is SMO along conjugate directions (Torres-Barrán, Alaíz and Dorronsoro 2021).
// In the signed coefficients β = s∘α, an SMO step goes along d = e_i − e_j and undoes part of
// what the step before has gained. ConjugateSMO goes along the part of d that is conjugate to
// the last direction, so this gain is kept, as in the method of conjugate gradients:
//
//	p ← d + γ p,  γ = −(q_i − q_j) / p'q,  q = (K + ridge) p,
//	p'q ← κ_ij − (q_i − q_j)² / p'q.
//
// The curvature p'q is smaller than κ_ij = K_ii + K_jj − 2K_ij of the pair, so steps are
// longer. The second-order selection uses p'q too. A step that meets a bound ends there, and
// the next one starts from p = 0. An iteration makes one pass over F more than that of SMO,
// and a run takes between a third and four fifths as many iterations.
type ConjugateSMO struct{}

// Name is "conjugate SMO".
func (ConjugateSMO) Name() string { return "conjugate SMO" }

// Start implements Method. It refuses a fixed bias.
func (m ConjugateSMO) Start(p *Problem, alpha []float64) (Stepper, error) {
	return m.StartAt(p, alpha, nil)
}

func (m ConjugateSMO) StartAt(p *Problem, alpha, f []float64) (Stepper, error) {
	if p.FixedBias {
		return nil, fmt.Errorf("%w: conjugate SMO moves pairs along s'α = δ, and with a fixed bias there is no such constraint; use GradientAscent or PrimalDual", ErrUnsupported)
	}
	n := len(alpha)
	s := &conjugate{pairs: pairsAt(p, alpha, f), p: make([]float64, n), q: make([]float64, n), root: make([]float64, n)}
	for i, d := range s.diag {
		s.root[i] = math.Sqrt(max(d, 0))
	}
	s.choose()
	return s, nil
}

type conjugate struct {
	pairs
	p, q    []float64 // last direction in β and (K + ridge) p; zero after a restart
	root    []float64 // √(K_ii + ridge_i)
	pq      float64   // p'q; 0 after a restart
	drift   float64   // bound on the rounding error of q, relative to √K_ii
	i, j    int       // the pair: i has the largest F, j promises the largest gain with i
	worst   int       // of the points that may fall, the one with the smallest F
	up, low float64
	ki      []float64
}

func (s *conjugate) Report(it *Iterate) {
	s.report(it)
	it.Up, it.Low = s.up, s.low
}

func (s *conjugate) Refresh(f []float64) {
	s.pairs.Refresh(f)
	s.restart()
	s.choose()
}

func (s *conjugate) restart() {
	clear(s.p)
	clear(s.q)
	s.pq, s.drift = 0, 0
}

func (s *conjugate) Step(context.Context) (done bool, err error) {
	if s.i < 0 || s.j < 0 {
		return true, nil
	}
	moved, err := s.along(s.i, s.j, s.ki, s.pairs.p.K.Row(s.j))
	if !moved && err == nil { // the gain was lost to rounding; the worst pair may still move
		s.restart()
		var t float64
		t, err = s.optimise(s.i, s.worst, 0)
		moved = t != 0
	}
	if err != nil || !moved {
		return true, err
	}
	s.choose()
	return false, nil
}

// along moves α along the conjugate direction of the pair, or along the pair itself if the
// conjugate direction leaves no room in the box.
func (s *conjugate) along(i, j int, ki, kj []float64) (moved bool, err error) {
	gamma := 0.0
	if s.pq > 0 {
		gamma = -(s.q[i] - s.q[j]) / s.pq
	}
	slope, room, length := 0.0, math.Inf(1), 0.0
	for k := range s.p {
		pk := gamma * s.p[k]
		if k == i {
			pk++
		} else if k == j {
			pk--
		}
		s.p[k] = pk
		s.q[k] = ki[k] - kj[k] + gamma*s.q[k]
		if pk > 0 {
			room = min(room, s.rise(k)/pk)
		} else if pk < 0 {
			room = min(room, -s.fall(k)/pk)
		}
		slope += pk * s.f[k]
		length += math.Abs(pk) * s.root[k]
	}
	s.q[i] += s.pairs.p.ridge(i)
	s.q[j] -= s.pairs.p.ridge(j)
	s.pq = vec.Dot(s.p, s.q)
	// The recurrence multiplies the rounding error of q by γ each time. If this error could
	// matter for the curvature, a plain pair step follows.
	s.drift = math.Abs(gamma)*s.drift + 0x1p-52*length
	t := min(slope/s.pq, room)
	visible := t == room
	for k, pk := range s.p {
		visible = visible || math.Abs(t*pk) > 0x1p-48*math.Abs(s.alpha[k])
	}
	if !(s.pq > 1e8*s.drift*length && t > 0 && visible) {
		s.restart()
		t, err := s.optimise(i, j, 0)
		return t != 0, err
	}
	norm := 0.0
	for k, pk := range s.p {
		if pk != 0 {
			s.move(k, t*pk)
			norm += pk * pk
		}
		s.f[k] -= t * s.q[k]
	}
	s.working, s.moved, s.last = [2]int{i, j}, true, t*math.Sqrt(norm)
	if t == room {
		s.restart()
	}
	return true, nil
}

// choose selects the pair by the second-order rule, with the curvature of the conjugate
// direction in place of κ.
func (s *conjugate) choose() {
	p := s.pairs.p
	s.i, s.up = -1, math.Inf(-1)
	for k, f := range s.f {
		if f >= s.up && p.CanRise(k, s.alpha[k]) {
			s.i, s.up = k, f
		}
	}
	s.j, s.worst, s.low = -1, -1, math.Inf(1)
	if s.i < 0 {
		return
	}
	i := s.i
	s.ki = p.K.Row(i)
	best := math.Inf(-1)
	for k, f := range s.f {
		if !p.CanFall(k, s.alpha[k]) {
			continue
		}
		if f < s.low {
			s.worst, s.low = k, f
		}
		if d := s.up - f; d > 0 {
			kappa := s.diag[i] + s.diag[k] - 2*s.ki[k]
			if s.pq > 0 {
				e := s.q[i] - s.q[k]
				kappa -= e * e / s.pq
			}
			if kappa <= 0 {
				kappa = 1e-12
			}
			if gain := d * d / kappa; gain >= best {
				s.j, best = k, gain
			}
		}
	}
}
