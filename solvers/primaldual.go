package solvers

import (
	"context"
	"fmt"
	"math"
)

type PrimalDual struct {
	Mu         float64
	Corrector  bool
	Infeasible bool
	Rank       int
	Loss       float64
	Finish     float64
}

func (m PrimalDual) Name() string { return fmt.Sprintf("primal–dual %+v", struct{}{}) }

type primalDual struct {
	interior
	m      PrimalDual
	z, w   []float64
	dz, dw []float64
	tz, tw []float64 // targets of z(α − l) and w(u − α)
	db     float64
	eta    float64
	stuck  int
	best   float64
	last   bool
}

var debug = false

func (m PrimalDual) Start(p *Problem, alpha []float64) (Stepper, error) {
	if m.Mu == 0 {
		m.Mu = 0.1
	}
	if m.Finish == 0 {
		m.Finish = 1e-2
	}
	var q quadratic
	if m.Rank > 0 || m.Loss > 0 {
		q = newLowRank(p, m.Rank, m.Loss)
	} else {
		q = newDense(p)
	}
	s := &primalDual{interior: *newInterior(p, alpha, q), m: m, best: math.Inf(1)}
	s.low = m.Rank > 0 || m.Loss > 0
	if !s.centre(m.Infeasible) {
		s.finished = true
		return s, nil
	}
	for _, v := range []*[]float64{&s.z, &s.w, &s.dz, &s.dw, &s.tz, &s.tw} {
		*v = make([]float64, s.n)
	}
	s.b = p.bestBias(s.shown, s.shownF)
	t := 0.0
	for i, g := range s.grad {
		g += s.b * p.S[i]
		if a, c := s.slack(i); a > 0 && c > 0 {
			if g < 0 && !math.IsInf(c, 1) {
				t -= g * c
			} else {
				t += math.Abs(g) * a
			}
		}
	}
	t /= s.interior.m
	if !(t > 0) {
		t = 1e-3
	}
	for i := range s.z {
		if a, c := s.slack(i); a > 0 && c > 0 {
			s.z[i], s.w[i] = t/a, t/c
		}
	}
	s.eta = s.surrogate()
	return s, nil
}

func (s *interior) slack(i int) (a, c float64) {
	return s.alpha[i] - s.p.Lower[i], s.p.Upper[i] - s.alpha[i]
}

func (s *primalDual) surrogate() float64 {
	eta := 0.0
	for i := range s.z {
		a, c := s.slack(i)
		eta += s.z[i] * a
		if s.w[i] > 0 {
			eta += s.w[i] * c
		}
	}
	return eta
}

func (s *primalDual) Report(it *Iterate) { s.report(it) }

// direction
func (s *primalDual) direction() {
	e := s.p.Delta
	for i, a := range s.alpha {
		e -= s.p.S[i] * a
	}
	for i := range s.r {
		if math.IsInf(s.d[i], 1) {
			s.r[i] = 0
			continue
		}
		a, c := s.slack(i)
		s.r[i] = -(s.grad[i] + s.b*s.p.S[i]) + s.tz[i]/a
		if s.w[i] > 0 {
			s.r[i] -= s.tw[i] / c
		}
	}
	s.db = s.newton(s.dx, s.r, e, 1)
	for i, x := range s.dx {
		if math.IsInf(s.d[i], 1) {
			continue
		}
		a, c := s.slack(i)
		s.dz[i] = s.tz[i]/a - s.z[i] - s.z[i]/a*x
		if s.w[i] > 0 {
			s.dw[i] = s.tw[i]/c - s.w[i] + s.w[i]/c*x
		}
	}
}

func (s *primalDual) longest() float64 {
	t := s.room()
	for i := range s.z {
		if s.dz[i] < 0 {
			t = min(t, -s.z[i]/s.dz[i])
		}
		if s.dw[i] < 0 {
			t = min(t, -s.w[i]/s.dw[i])
		}
	}
	return t
}

func (s *primalDual) Step(ctx context.Context) (bool, error) {
	if s.finished {
		return true, nil
	}
	if s.round > 0 {
		return s.faceStep(ctx)
	}
	if s.last {
		s.finished = true
		return true, nil
	}
	for i := range s.d {
		a, c := s.slack(i)
		if !(a > 0 && c > 0) {
			s.d[i] = math.Inf(1)
			continue
		}
		s.d[i] = s.z[i] / a
		if s.w[i] > 0 {
			s.d[i] += s.w[i] / c
		}
	}
	ok, err := s.factor(ctx, 0)
	if err != nil {
		return false, err
	}
	if !ok {
		s.finished = true
		return true, nil
	}
	t := s.m.Mu * s.eta / s.interior.m
	if s.m.Corrector {
		clear(s.tz)
		clear(s.tw)
		s.direction()
		l := s.longest()
		eta := 0.0
		for i := range s.z {
			a, c := s.slack(i)
			eta += (s.z[i] + l*s.dz[i]) * (a + l*s.dx[i])
			if s.w[i] > 0 {
				eta += (s.w[i] + l*s.dw[i]) * (c - l*s.dx[i])
			}
		}
		r := eta / s.eta
		t = r * r * r * s.eta / s.interior.m
		for i := range s.tz {
			s.tz[i] = t - s.dx[i]*s.dz[i]
			s.tw[i] = t + s.dx[i]*s.dw[i]
		}
	} else {
		for i := range s.tz {
			s.tz[i], s.tw[i] = t, t
		}
	}
	s.direction()
	l := s.longest()
	if l < 1 {
		l *= 0.99
	}
	if !s.m.Corrector {
		before := s.residual(0, t)
		for s.residual(l, t) > (1-0.01*l)*before && l > 1e-10 {
			l /= 2
		}
	}
	s.advance(l)
	for i := range s.z {
		s.z[i] += l * s.dz[i]
		s.w[i] += l * s.dw[i]
	}
	s.b += l * s.db
	s.eta = s.surrogate()
	s.show()
	if s.recedes() {
		return false, ErrUnbounded
	}
	if debug {
		g, k := s.quality(s.shown, s.shownF)
		rd := 0.0
		for i, v := range s.grad {
			rd = max(rd, math.Abs(v+s.b*s.p.S[i]-s.z[i]+s.w[i]))
		}
		fmt.Printf("   eta %.3g t %.3g step %.3g rd %.3g gap %.3g kkt %.3g rho %.3g eq %.2g b %.6g\n", s.eta, t, l, rd, g, k, s.rho, s.p.equality(s.alpha), s.b)
	}
	if s.eta < 1e-16*math.Abs(s.dual()) || !s.inside() {
		s.last = true
	}
	if s.last || s.eta < s.m.Finish*math.Abs(s.dual()) {
		s.approach()
	}
	return false, nil
}

func (s *interior) dual() float64 {
	w := 0.0
	for i, a := range s.alpha {
		w -= a * (s.grad[i] + s.p.P[i]) / 2
	}
	return w
}

// residual is the norm of r after the step l.
func (s *primalDual) residual(l, t float64) float64 {
	sum, e := 0.0, -s.p.Delta
	for i, g := range s.grad {
		a, c := s.slack(i)
		e += s.p.S[i] * s.alpha[i]
		if math.IsInf(s.d[i], 1) {
			continue
		}
		rd := (1 - l) * (g + s.b*s.p.S[i] - s.z[i] + s.w[i])
		rc := (s.z[i]+l*s.dz[i])*(a+l*s.dx[i]) - t
		sum += rd*rd + rc*rc
		if s.w[i] > 0 {
			rc = (s.w[i]+l*s.dw[i])*(c-l*s.dx[i]) - t
			sum += rc * rc
		}
	}
	e *= 1 - l
	return math.Sqrt(sum + e*e)
}
