package linear

import (
	"context"

	"github.com/svmnb/svmnb/internal/vec"
)

// cgSecond is the second run of Gibbs and MacKay (1997, §3.3): conjugate gradients for AB v =
// Bb with B = A − θI ⪰ 0. For every v,
//
//	2Q*(v) = 2v'Bb − v'ABv ≤ b'BA⁻¹b,  b'b = θ b'A⁻¹b + b'BA⁻¹b,
//
// hence b'A⁻¹b ≤ (b'b − 2Q*(v))/θ. In this form b'b and 2Q* cancel, and if A is nearly
// singular only rounding is left. The run therefore keeps v and computes the same bound as
// (b'b − 2Q*(v))/θ = 2Q(v) + ‖b − Av‖²/θ, which is Skilling's bound at v. The run makes this
// bound as small as it can. A and B commute, so AB is symmetric. The condition number of AB is
// about the square of that of A, so in late iterations this bound is looser than the others.
type cgSecond struct {
	v, rest  []float64 // v and b − Av
	g, h     []float64
	bh, abh  []float64
	gg       float64
	upper    float64
	finished bool
}

func (c *cg) openSecond(ctx context.Context) error {
	n := c.s.K.Dim()
	theta := c.s.theta()
	vector := func() []float64 { return make([]float64, n) }
	err := c.multiply(ctx, func(r *cgRun) {
		r.second = &cgSecond{v: vector(), rest: vector(), g: vector(), h: vector(), bh: vector(), abh: vector()}
		c.x, c.y = append(c.x, r.b), append(c.y, r.second.g)
	})
	for _, r := range c.runs {
		s := r.second
		vec.Axpy(s.g, -theta, r.b)
		copy(s.h, s.g)
		copy(s.rest, r.b)
		s.gg = inner(s.g, s.g)
		s.finished = !(s.gg > tiny)
		c.boundSecond(r)
	}
	return err
}

// boundSecond computes the upper bound from v.
func (c *cg) boundSecond(r *cgRun) {
	s := r.second
	s.upper = inner(r.b, s.v) + inner(s.rest, s.v) + c.s.energy(s.rest)
}

// stepSecond makes an iteration of the second runs that are busy; their bh is A times h.
func (c *cg) stepSecond(ctx context.Context, busy func(j int) bool) error {
	theta := c.s.theta()
	c.x, c.y = c.x[:0], c.y[:0]
	for j, r := range c.runs {
		if s := r.second; busy(j) && !s.finished {
			vec.Axpy(s.bh, -theta, s.h)
			c.x, c.y = append(c.x, s.bh), append(c.y, s.abh)
		}
	}
	if len(c.x) == 0 {
		return nil
	}
	if err := c.s.Times(ctx, c.y, c.x); err != nil {
		return err
	}
	for j, r := range c.runs {
		s := r.second
		if !busy(j) || s.finished {
			continue
		}
		curvature := inner(s.h, s.abh)
		if s.finished = !(curvature > 0); s.finished {
			continue // b is orthogonal to the range of B, or rounding dominates
		}
		lambda := s.gg / curvature
		vec.Axpy(s.v, lambda, s.h)
		vec.Axpy(s.bh, theta, s.h) // bh becomes Ah again
		vec.Axpy(s.rest, -lambda, s.bh)
		c.boundSecond(r)
		vec.Axpy(s.g, -lambda, s.abh)
		before := s.gg
		s.gg = inner(s.g, s.g)
		for i, g := range s.g {
			s.h[i] = g + s.gg/before*s.h[i]
		}
		s.finished = !(s.gg > tiny)
	}
	return nil
}

// Witnesses implements Witness.
func (c *cg) Witnesses() [][]float64 {
	if !c.method.GibbsMacKay || !c.opened {
		return nil
	}
	v := make([][]float64, len(c.runs))
	for j, r := range c.runs {
		v[j] = r.second.v
	}
	return v
}
