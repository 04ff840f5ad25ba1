package solvers

import (
	"context"
	"math"
)

// tubeDescent is CoordinateDescent for linear ε-SVR (Ho and Lin 2012). It keeps w = Σ β_i x_i
// and minimises exactly over one β_i = α̂_i − α_i at a time. With
// G_i = w·x_i + b₀ − y_i + ridge_i β_i and H_i = x_i·x_i + ridge_i,
//
//	β_i ← β_i − (G_i + ε)/H_i  where G_i + ε < H_i β_i,
//	      β_i − (G_i − ε)/H_i  where G_i − ε > H_i β_i,
//	      0                    otherwise,
//
// clipped to [−C, C]. The quadratic loss has the ridge and no C. A zero row has H_i = 0: its β
// goes to 0 or to the end of its box that lowers the objective.
type tubeDescent struct {
	coordinates           // coordinate descent on the smooth part of the dual, with β in place of α
	both        []float64 // α̂, then α
	bar         float64   // the largest violation in the pass before
	orthant
}

// startTube is the Start of CoordinateDescent for the problems of Tube and Tube2.
func (m CoordinateDescent) startTube(p *Problem, x Features, alpha []float64) (Stepper, error) {
	smooth, epsilon, err := p.signed()
	if err != nil {
		return nil, err
	}
	s := &tubeDescent{coordinates: m.coordinates(smooth, x, Signed(alpha)), both: alpha, bar: math.Inf(1), orthant: orthant{epsilon: epsilon}}
	s.gather()
	return s, nil
}

// gather computes w and the multipliers from β.
func (s *tubeDescent) gather() {
	s.normal()
	for i, b := range s.alpha {
		s.set(i, b)
	}
}

// face moves all β that may move without a change of sign. If they have moved, all points
// become active again.
func (s *tubeDescent) face(ctx context.Context) (moved bool, err error) {
	w := pairsAt(s.p, s.alpha, nil)
	moved, err = s.orthant.climb(ctx, &s.wide, &w)
	if moved {
		s.gather()
		s.step, s.up, s.down = w.last, math.NaN(), math.NaN()
		s.all()
	}
	return moved, err
}

// all makes all points active again.
func (s *tubeDescent) all() { s.size, s.bar = len(s.alpha), math.Inf(1) }

func (s *tubeDescent) set(i int, b float64) {
	s.alpha[i], s.both[i], s.both[len(s.alpha)+i] = b, max(b, 0), max(-b, 0)
}

// Refresh computes w afresh from β. It does not need F.
func (s *tubeDescent) Refresh([]float64) {
	s.gather()
	s.all()
}

// Report implements Stepper.
func (s *tubeDescent) Report(it *Iterate) {
	it.Alpha, it.Step, it.Active = s.both, s.step, 2*s.size
	it.Up, it.Low, it.Sweep = s.up, s.down, 1
}

// Step makes one pass over the active points, or at times a face step. When the active points
// need no more steps, the shrunk points become active again.
func (s *tubeDescent) Step(ctx context.Context) (done bool, err error) {
	if s.faceIsDue() {
		if moved, err := s.face(ctx); moved || err != nil {
			return false, err
		}
	}
	s.begin()
	whole := s.size == len(s.alpha)
	rise, fall, moved := 0.0, 0.0, 0.0 // the largest slopes of W for a growing β and for a falling β
	for k := 0; k < s.size; k++ {
		if k&4095 == 4095 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		i := s.active[k]
		b, e, g := s.alpha[i], s.epsilon[i], s.gradient(i)
		lower, upper := s.p.Lower[i], s.p.Upper[i]
		up, down := -g-e, g-e // slopes of W for a growing β and for a falling β
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
			s.leaveOut(k)
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
	if whole && s.size == len(s.alpha) {
		s.up, s.down = s.p.Bias+rise, s.p.Bias-fall
	}
	if s.bar = max(rise, fall); s.bar <= s.tol {
		if s.size == len(s.alpha) {
			s.tol /= 10
		}
		s.all()
	}
	return moved == 0 && whole, nil
}
