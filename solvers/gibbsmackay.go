package solvers

import "context"

// cgSecond is the second run of Gibbs and MacKay (1997, §3.3): conjugate gradients for
// AB v = Bb, B = A − θI ⪰ 0, of which only the objective is kept. For every v,
//
//	2Q*(v) = 2v'Bb − v'ABv ≤ b'BA⁻¹b,  b'b = θ b'A⁻¹b + b'BA⁻¹b,
//
// hence b'A⁻¹b ≤ (b'b − 2Q*(v))/θ. A and B commute, so AB is symmetric; its condition
// is that of A squared, which is why the bound ends up behind.
type cgSecond struct {
	g, h     []float64
	bh, abh  []float64
	gg, bb   float64
	twice    float64 // 2Q*
	upper    float64
	finished bool
}

func (c *cg) openSecond(ctx context.Context) error {
	n := c.s.K.Dim()
	theta := c.s.theta()
	err := c.multiply(ctx, func(r *cgRun) {
		r.second = &cgSecond{g: make([]float64, n), h: make([]float64, n), bh: make([]float64, n), abh: make([]float64, n)}
		c.x, c.y = append(c.x, r.b), append(c.y, r.second.g)
	})
	for j := range c.runs {
		r, s := &c.runs[j], c.runs[j].second
		axpy(s.g, -theta, r.b)
		copy(s.h, s.g)
		s.gg, s.bb = inner(s.g, s.g), inner(r.b, r.b)
		s.upper, s.finished = s.bb/theta, !(s.gg > tiny)
	}
	return err
}

// stepSecond makes an iteration for those that are busy, whose bh is Ah.
func (c *cg) stepSecond(ctx context.Context, busy func(j int) bool) error {
	theta := c.s.theta()
	c.x, c.y = c.x[:0], c.y[:0]
	for j := range c.runs {
		if s := c.runs[j].second; busy(j) && !s.finished {
			axpy(s.bh, -theta, s.h)
			c.x, c.y = append(c.x, s.bh), append(c.y, s.abh)
		}
	}
	if len(c.x) == 0 {
		return nil
	}
	if err := c.s.times(ctx, c.y, c.x); err != nil {
		return err
	}
	for j := range c.runs {
		s := c.runs[j].second
		if !busy(j) || s.finished {
			continue
		}
		curvature := inner(s.h, s.abh)
		if s.finished = !(curvature > 0); s.finished {
			continue // b is out of reach of B, or rounding has the word
		}
		lambda := s.gg / curvature
		s.twice += lambda * s.gg
		rounding := float64(len(s.g)) * 0x1p-53 * s.bb // of what cancels
		s.upper = min(s.upper, (s.bb-s.twice+rounding)/theta)
		axpy(s.g, -lambda, s.abh)
		before := s.gg
		s.gg = inner(s.g, s.g)
		for i, g := range s.g {
			s.h[i] = g + s.gg/before*s.h[i]
		}
		s.finished = !(s.gg > tiny)
	}
	return nil
}
