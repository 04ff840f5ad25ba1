package solvers

import (
	"cmp"
	"context"
	"fmt"
	"math"
)

// PrimalDual is the primal–dual interior-point method (Boyd and Vandenberghe
// §11.7, as the interior-point source applies it to the SVM dual; LOQO is its
// kin). Newton's method goes for the KKT conditions with complementarity relaxed
// to t, in α, the multipliers z, w ≥ 0 of the bounds and b at once:
//
//	r_dual = Qα + p + b s − z + w,  r_cent = (z(α − l) − t, w(u − α) − t),  r_pri = s'α − δ,
//
// with t = Mu η̂/m, η̂ = z'(α − l) + w'(u − α) the surrogate gap and m the number
// of finite bounds (2n for a soft margin). Elimination of Δz and Δw leaves one
// Cholesky factorisation of Q + diag(z/(α − l) + w/(u − α)) per step:
//
//	(Q + D) Δα + s Δb = −(Qα + p + b s) + t/(α − l) − t/(u − α),  s'Δα = −r_pri,
//	Δz = (t − zα̃ − zΔα)/α̃ with α̃ = α − l,  Δw = (t − wα̂ + wΔα)/α̂ with α̂ = u − α.
//
// The step is 0.99 of the way to the nearest bound of α, z, w, halved until the norm
// of the residuals has fallen by one per cent of the step.
//
// It solves every convex Problem, in ten to fifty steps whatever the kernel and
// C, each O(n³) or, with Rank or Loss, O(n r²). All bounds, any p, δ and ridge, a
// fixed bias; upper bounds at +Inf have no multiplier. A kernel matrix that is not
// positive semi-definite is refused with ErrUnsupported. It starts in the middle
// of the box, wherever Settings.Start is. Its iterates touch no bound; the answer
// does (activeset.go), unless a limit or an interrupt comes first: then every
// point counts as a free support vector.
type PrimalDual struct {
	// Mu is the factor by which t lies below the current gap, in (0, 1); 0 means
	// 0.1. It is not used with Corrector.
	Mu float64

	// Corrector takes the step of Mehrotra's predictor–corrector (1992) instead:
	// the step for t = 0 tells how small t may be, (η̂ after it/η̂)³, and the
	// second-order terms of complementarity that it leaves out. Two solutions
	// with one factor, and about half as many steps.
	Corrector bool

	// Infeasible starts at the middle of the box as the source does, where s'α ≠ δ
	// and the dual may be above the optimum, from which it then comes down.
	Infeasible bool

	// Rank, when positive, replaces K by its incomplete Cholesky factor of at most
	// that many columns, and Loss, when positive, by as many as leave out that
	// share of its trace (both: whichever ends first). Memory falls from 8n² bytes
	// to 24nr, and only r rows of K are needed. The solution is that of the
	// approximate problem. The trace and the certificate are of the true one, for
	// which each sampled point asks for n rows of K (see Settings.Every); so the
	// gap at the end is the price of the approximation, and the run is
	// Exhausted, not Converged, when the criterion asks for less.
	Rank int
	Loss float64

	// Finish is the gap, relative to the dual, from which on the steps of an
	// active set method try to jump to the solution; 0 means 1e-2. Smaller values
	// show more of the central path.
	Finish float64
}

// Name is "primal–dual", "primal–dual with corrector", "primal–dual of rank 50"
// and the like.
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
	tz, tw []float64 // what z(α − l) and w(u − α) shall become
	qdx    []float64
	db     float64
	eta    float64
	slow   int     // short steps in a row
	least  float64 // the smallest eta
	idle   int     // steps since
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

// plain takes the step to t and returns its length. After a short step t is the
// mean itself, which leads back to the centre.
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
			s.last = true // the residuals are rounding
			return 0
		}
		long /= 2
	}
	return long
}

// corrected takes Mehrotra's step and returns its length.
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

// consider looks at where a step of the given length has led.
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

// near reports whether the gap is small enough for the active set method. Where
// there is none, for want of upper bounds, the surrogate gap counts, once the
// residual has vanished that it presumes.
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

// stationary reports whether Qα + p + b s = z − w within a millionth of its terms.
func (s *primalDual) stationary() bool {
	for i, g := range s.grad {
		p := s.linear[i]
		if r := g + s.b*s.p.S[i] - s.z[i] + s.w[i]; s.z[i] > 0 && math.Abs(r) > 1e-6*(math.Abs(g-p)+math.Abs(p)+math.Abs(s.b)) {
			return false
		}
	}
	return true
}

// begin sets the multipliers for which all products with α are equal.
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

// direction solves for the targets tz and tw.
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

// longest is 0.99 of the way to the first bound of α, z or w, at most 1.
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

// residual is the norm of all residuals after a step of the given length.
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
