package solvers

import (
	"cmp"
	"context"
	"fmt"
	"math"
)

// PrimalDual is the primal–dual interior-point method (Boyd and Vandenberghe §11.7, as the
// interior-point source applies it to the SVM dual; LOQO is a similar method). Newton's method
// solves the KKT conditions with complementarity relaxed to t, in α, the multipliers z, w ≥ 0
// of the bounds, and b at once:
//
//	r_dual = Qα + p + b s − z + w,  r_cent = (z(α − l) − t, w(u − α) − t),  r_pri = s'α − δ,
//
// Here t = Mu η̂/m, η̂ = z'(α − l) + w'(u − α) is the surrogate gap, and m is the number of
// finite bounds (2n for a soft margin). After the elimination of Δz and Δw one Cholesky
// factorisation of Q + diag(z/(α − l) + w/(u − α)) per step is left:
//
//	(Q + D) Δα + s Δb = −(Qα + p + b s) + t/(α − l) − t/(u − α),  s'Δα = −r_pri,
//	Δz = (t − zα̃ − zΔα)/α̃ with α̃ = α − l,  Δw = (t − wα̂ + wΔα)/α̂ with α̂ = u − α.
//
// The step length is 0.99 of the way to the nearest bound of α, z or w. It is halved until the
// norm of the residuals has fallen by one per cent of the step length.
//
// It solves every convex Problem in ten to fifty steps, whatever the kernel and C. A step
// takes O(n³) or, with Rank or Loss, O(n r²) for rank r. It takes all bounds, any p, δ and
// ridge, and a fixed bias; upper bounds at +Inf have no multiplier. A kernel matrix that is
// not positive semi-definite is refused with ErrUnsupported. A run starts in the middle of the
// box and ignores Settings.Start. Its iterates touch no bound, but its answer does
// (activeset.go). If a limit or an interrupt ends the run earlier, every point counts as a
// free support vector.
type PrimalDual struct {
	// Mu is the factor by which t is smaller than the mean of the current gap, in (0, 1); 0
	// means 0.1. Corrector does not use it.
	Mu float64

	// Corrector selects the step of Mehrotra's predictor–corrector (1992). A trial step for t
	// = 0 determines t from (η̂ after the step/η̂)³, and the second-order terms of
	// complementarity that Newton's step omits. This takes two solutions with one factor, and
	// about half as many steps.
	Corrector bool

	// Infeasible starts at the middle of the box even if s'α ≠ δ there, as the source does.
	// The dual may then begin above the optimum and fall to it.
	Infeasible bool

	// Rank, if positive, replaces K by its incomplete Cholesky factor of at most Rank columns.
	// Loss, if positive, stops the factor when it leaves out this share of the trace of K.
	// With both, the one that is reached first counts. Memory falls from 8n² to 24nr bytes,
	// and only r rows of K are computed.
	//
	// The solution is that of the approximate problem. The trace and the certificate are those
	// of the exact problem, so each sampled point costs n rows of K (see Settings.Every). The
	// gap at the end shows the error of the approximation. The run is Exhausted, not
	// Converged, if the criterion asks for a smaller gap.
	Rank int
	Loss float64

	// Finish is the gap, relative to the dual, at which the run first tries to jump to the
	// exact solution by an active set method; 0 means 1e-2. Smaller values show more of the
	// central path.
	Finish float64
}

// Name returns, for example, "primal–dual", "primal–dual with corrector" or "primal–dual of
// rank 50".
func (m PrimalDual) Name() string {
	name := "primal–dual"
	if m.Corrector {
		name += " with corrector"
	}
	if m.Infeasible {
		name += ", infeasible start"
	}
	if m.Rank > 0 {
		name += fmt.Sprintf(", rank %d", m.Rank)
	}
	if m.Loss > 0 {
		name += fmt.Sprintf(", loss %g", m.Loss)
	}
	return name
}

// Start implements Method. It refuses problems of more than 20,000 points unless
// Rank or Loss is set.
func (m PrimalDual) Start(p *Problem, alpha []float64) (Stepper, error) {
	m.Mu = cmp.Or(m.Mu, 0.1)
	m.Finish = cmp.Or(m.Finish, 1e-2)
	var low *approximation
	switch n := len(alpha); {
	case !(m.Mu > 0 && m.Mu < 1):
		return nil, &ProblemError{"PrimalDual.Mu", -1, m.Mu, fmt.Sprintf("is %g; it must be between 0 and 1 (0 means 0.1)", m.Mu)}
	case !(m.Finish > 0 && m.Finish < 1):
		return nil, &ProblemError{"PrimalDual.Finish", -1, m.Finish, fmt.Sprintf("is %g; it must be between 0 and 1 (0 means 1e-2)", m.Finish)}
	case m.Rank < 0:
		return nil, &ProblemError{"PrimalDual.Rank", -1, float64(m.Rank), fmt.Sprintf("is %d; it must be positive, or 0 for the whole kernel matrix", m.Rank)}
	case !(m.Loss >= 0 && m.Loss < 1):
		return nil, &ProblemError{"PrimalDual.Loss", -1, m.Loss, fmt.Sprintf("is %g; it must be between 0 and 1", m.Loss)}
	case m.Rank > 0 || m.Loss > 0:
		low = &approximation{rank: m.Rank, loss: m.Loss}
	case n > mostDense:
		return nil, tooDense(n)
	}
	return &primalDual{interior: newInterior(p, alpha, low), method: m, eta: math.NaN()}, nil
}

type primalDual struct {
	interior
	method PrimalDual
	z, w   []float64 // multipliers of the lower and upper bounds
	dz, dw []float64
	tz, tw []float64 // target values of z(α − l) and w(u − α)
	qdx    []float64
	db     float64
	eta    float64
	slow   int     // number of short steps in a row
	least  float64 // the smallest eta so far
	idle   int     // steps since eta last fell by a tenth
}

func (s *primalDual) Report(it *Iterate) {
	s.report(it)
	it.Surrogate = s.eta
}

func (s *primalDual) Step(ctx context.Context) (done bool, err error) {
	if s.q == nil {
		if err := s.open(ctx); err != nil {
			return false, err
		}
		for _, v := range []*[]float64{&s.z, &s.w, &s.dz, &s.dw, &s.tz, &s.tw, &s.qdx} {
			*v = make([]float64, len(s.alpha))
		}
		s.box(math.Inf(1))
		if s.centre(s.scale(), !s.method.Infeasible) {
			s.begin()
		} else {
			s.finished = true
		}
	}
	if s.end.round > 0 {
		if made, err := s.onFace(ctx); made || err != nil {
			return false, err
		}
	}
	if s.finished || s.last {
		return true, nil
	}
	for i := range s.d {
		if s.d[i] = math.Inf(1); s.z[i] > 0 {
			a, c := s.slack(i)
			s.d[i] = s.z[i]/a + s.w[i]/c
		}
	}
	if err := s.factor(ctx); err != nil {
		return false, err
	}
	long := 0.0
	if s.method.Corrector && s.slow == 0 {
		long = s.corrected()
	} else {
		long = s.plain()
	}
	if s.advance(long, s.db) {
		for i := range s.z {
			s.z[i] += long * s.dz[i]
			s.w[i] += long * s.dw[i]
		}
		s.eta = s.surrogate()
	}
	return false, s.consider(long)
}

// plain makes the step for t and returns its length. After a short step t is the mean of the
// surrogate gap itself, which leads back to the central path.
func (s *primalDual) plain() float64 {
	t := s.eta / s.m
	if s.slow == 0 {
		t *= s.method.Mu
	}
	for i := range s.tz {
		s.tz[i], s.tw[i] = t, t
	}
	s.direction()
	long := s.longest()
	s.q.Mul(s.qdx, s.dx)
	before := s.residual(0, t)
	for halved := 0; !(s.residual(long, t) <= (1-0.01*long)*before); halved++ {
		if halved == 30 {
			s.last = true // the residuals are only rounding
			return 0
		}
		long /= 2
	}
	return long
}

// corrected makes Mehrotra's step and returns its length.
func (s *primalDual) corrected() float64 {
	clear(s.tz)
	clear(s.tw)
	s.direction()
	long := s.longest()
	eta := 0.0
	for i, z := range s.z {
		a, c := s.slack(i)
		eta += (z + long*s.dz[i]) * (a + long*s.dx[i])
		if s.w[i] > 0 {
			eta += (s.w[i] + long*s.dw[i]) * (c - long*s.dx[i])
		}
	}
	share := eta / s.eta
	t := share * share * share * s.eta / s.m
	for i, d := range s.dx {
		s.tz[i] = t - d*s.dz[i]
		s.tw[i] = t + d*s.dw[i]
	}
	s.direction()
	return s.longest()
}

// consider decides how to go on after a step of the given length.
func (s *primalDual) consider(long float64) error {
	if s.slow++; long > 0.1 {
		s.slow = 0
	}
	if s.idle++; s.eta < 0.9*s.least {
		s.idle, s.least = 0, s.eta
	}
	if s.recedes(s.alpha) || s.slow > 0 && s.recedes(s.dx) {
		return ErrUnbounded
	}
	s.last = s.last || s.slow > 30 || s.idle > 50 || s.eta <= 1e-16*math.Abs(s.dual())
	near := s.near()
	switch {
	case !near && (s.last || s.slow > 4) && s.boxed == 0 && !s.stationary() && s.widen(),
		(near || s.last) && s.touches() && s.widen():
		s.begin()
	case s.last || near && s.worth():
		s.approach()
	}
	return nil
}

// near reports whether the gap is small enough for the active set method. If the gap is
// infinite for lack of upper bounds, the surrogate gap counts, provided that the dual residual
// is zero up to rounding.
func (s *primalDual) near() bool {
	small := s.method.Finish * math.Abs(s.dual())
	switch {
	case !s.p.balanced(s.alpha):
		return false
	case !math.IsInf(s.gap, 1):
		return s.gap <= small
	}
	return s.eta <= small && s.stationary()
}

// stationary reports whether Qα + p + b s = z − w up to a millionth of its terms.
func (s *primalDual) stationary() bool {
	for i, g := range s.grad {
		p := s.linear[i]
		if r := g + s.b*s.p.S[i] - s.z[i] + s.w[i]; s.z[i] > 0 && math.Abs(r) > 1e-6*(math.Abs(g-p)+math.Abs(p)+math.Abs(s.b)) {
			return false
		}
	}
	return true
}

// begin sets the multipliers such that all their products with the distances to the bounds are
// equal.
func (s *primalDual) begin() {
	s.start()
	s.slow = 0
	t := s.balance()
	for i, l := range s.p.Lower {
		if s.p.Upper[i] > l {
			a, c := s.slack(i)
			s.z[i], s.w[i] = t/a, t/c
		}
	}
	s.eta = s.surrogate()
	s.least, s.idle = s.eta, 0
}

func (s *primalDual) surrogate() float64 {
	eta := 0.0
	for i, z := range s.z {
		a, c := s.slack(i)
		eta += z * a
		if s.w[i] > 0 {
			eta += s.w[i] * c
		}
	}
	return eta
}

// direction solves the Newton system for the targets tz and tw.
func (s *primalDual) direction() {
	for i, z := range s.z {
		if s.r[i] = 0; z > 0 {
			a, c := s.slack(i)
			s.r[i] = s.tz[i]/a - s.tw[i]/c - (s.grad[i] + s.b*s.p.S[i])
		}
	}
	s.db = s.newton(s.missing(), 1)
	for i, x := range s.dx {
		if z, w := s.z[i], s.w[i]; z > 0 {
			a, c := s.slack(i)
			s.dz[i] = (s.tz[i] - z*a - z*x) / a
			if w > 0 {
				s.dw[i] = (s.tw[i] - w*c + w*x) / c
			}
		}
	}
}

// longest returns 0.99 of the way to the first bound of α, z or w, at most 1.
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
	if t < 1 {
		t *= 0.99
	}
	return t
}

// residual returns the norm of all residuals after a step of the given length.
func (s *primalDual) residual(long, t float64) float64 {
	sum, e := 0.0, -s.p.Delta
	for i, z := range s.z {
		x := long * s.dx[i]
		e += s.p.S[i] * (s.alpha[i] + x)
		if z == 0 {
			continue
		}
		a, c := s.slack(i)
		z += long * s.dz[i]
		w := s.w[i] + long*s.dw[i]
		dual := s.grad[i] + long*s.qdx[i] + (s.b+long*s.db)*s.p.S[i] - z + w
		cent := z*(a+x) - t
		sum += dual*dual + cent*cent
		if w > 0 {
			cent = w*(c-x) - t
			sum += cent * cent
		}
	}
	if !s.p.FixedBias {
		sum += e * e
	}
	return math.Sqrt(sum)
}
