package solvers

import (
	"cmp"
	"context"
	"fmt"
	"math"
)

// Barrier is the log barrier method (the interior-point source; Boyd and Vandenberghe §11.3).
// It replaces the bounds by a term that is infinite on them,
//
//	minimise φ_t(α) = ½α'Qα + p'α − t Σ [ln(α_i − l_i) + ln(u_i − α_i)],  s'α = δ.
//
// Newton's method finds the minimum for one t, which is called the centre. Then t is
// multiplied by Mu, and Newton's method starts again from this centre. One iteration is one
// Newton step with the equality constraint,
//
//	(Q + D) Δα + s b = −∇φ_t,  s'Δα = 0,  D = t diag(1/(α − l)² + 1/(u − α)²),
//
// that is, one Cholesky factorisation and a backtracking line search. At the centre the gap is
// exactly m t with the multipliers t/(α − l) and t/(u − α), where m is the number of finite
// bounds (2n for a soft margin).
//
// Barrier is meant for study: PrimalDual needs a third of the steps. Both solve and refuse the
// same problems, in time O(n³) and with 8n² bytes.
type Barrier struct {
	// Mu is the factor by which t falls, in (0, 1); 0 means 0.1.
	Mu float64

	// PhaseI finds the strictly feasible start by solving a separate problem, as the source
	// does: minimise σ subject to s'α = δ and α_i − l_i ≥ −σ, u_i − α_i ≥ −σ. The same method
	// starts from Settings.Start and stops when σ < 0. PhaseI is a demonstration, since a
	// feasible start is known for these problems (see PrimalDual). Each of its steps is an
	// iteration that leaves the reported α unchanged.
	PhaseI bool

	// Finish is the gap, relative to the dual, at which the run first tries to jump to the
	// exact solution by an active set method; 0 means 1e-2. Smaller values show more of the
	// central path.
	Finish float64
}

// Name is "log barrier" or "log barrier with Phase I".
func (m Barrier) Name() string {
	if m.PhaseI {
		return "log barrier with Phase I"
	}
	return "log barrier"
}

// Start implements Method. It refuses problems of more than 20,000 points.
func (m Barrier) Start(p *Problem, alpha []float64) (Stepper, error) {
	m.Mu = cmp.Or(m.Mu, 0.1)
	m.Finish = cmp.Or(m.Finish, 1e-2)
	switch n := len(alpha); {
	case !(m.Mu > 0 && m.Mu < 1):
		return nil, &ProblemError{"Barrier.Mu", -1, m.Mu, fmt.Sprintf("is %g; it must be between 0 and 1 (0 means 0.1)", m.Mu)}
	case !(m.Finish > 0 && m.Finish < 1):
		return nil, &ProblemError{"Barrier.Finish", -1, m.Finish, fmt.Sprintf("is %g; it must be between 0 and 1 (0 means 1e-2)", m.Finish)}
	case n > mostDense:
		return nil, tooDense(n)
	}
	return &barrier{interior: newInterior(p, alpha, nil), method: m}, nil
}

type barrier struct {
	interior
	method  Barrier
	t       float64
	centred bool // the last step ended at the centre of t
	steps   int  // Newton steps for this t
	one     *phaseI
	qdx     []float64
}

func (s *barrier) Report(it *Iterate) {
	s.report(it)
	if s.t > 0 {
		it.Surrogate = s.m * s.t
	}
}

func (s *barrier) Step(ctx context.Context) (done bool, err error) {
	if s.q == nil {
		if err := s.open(ctx); err != nil {
			return false, err
		}
		s.qdx = make([]float64, len(s.alpha))
		start := append([]float64(nil), s.shown...)
		s.box(math.Inf(1))
		if !s.centre(s.scale(), true) {
			s.finished = true
		} else if s.method.PhaseI {
			s.one = newPhaseI(&s.interior, start, s.scale())
		} else {
			s.begin()
		}
	}
	if s.one != nil {
		if over := s.one.step(s.method.Mu); over {
			s.one = nil
			s.begin()
		}
		return false, nil
	}
	if s.end.round > 0 {
		if made, err := s.onFace(ctx); made || err != nil {
			return false, err
		}
	}
	if s.finished || s.last {
		return true, nil
	}
	if s.steps++; s.centred {
		s.t *= s.method.Mu
		s.steps = 1
	}
	for i, g := range s.grad {
		a, c := s.slack(i)
		if s.r[i], s.d[i] = 0, math.Inf(1); a+c > 0 {
			s.r[i] = s.t/a - s.t/c - g
			s.d[i] = s.t/a/a + s.t/c/c
		}
	}
	if err := s.factor(ctx); err != nil {
		return false, err
	}
	b := s.newton(s.missing(), 1)
	s.q.Mul(s.qdx, s.dx)
	slope, curve, decrement := 0.0, 0.0, 0.0
	for i, x := range s.dx {
		slope -= s.r[i] * x
		curve += s.qdx[i] * x
		if x != 0 {
			decrement += (s.qdx[i] + s.d[i]*x) * x
		}
	}
	long := s.room()
	if long < 1 {
		long *= 0.99
	}
	// decrement is Newton's λ². φ_t/t is self-concordant, so once λ²/t is below 1e-4 a full
	// step leaves about its square or less. No line search is needed then.
	s.centred = long == 1 && decrement <= 1e-4*s.t
	for halved := 0; !s.centred && !(s.change(long, curve) <= 0.01*long*slope); halved++ {
		if halved == 40 {
			long, s.last = 0, true // changes of φ are only rounding now
			break
		}
		long /= 2
	}
	s.advance(long, (b-s.b)/max(long, 0x1p-60))
	if s.recedes(s.alpha) || long < 0.1 && s.recedes(s.dx) {
		return false, ErrUnbounded
	}
	gap, dual := s.m*s.t, math.Abs(s.dual())
	s.last = s.last || s.steps == 200 || s.centred && gap <= 1e-15*dual
	near := s.centred && gap <= s.method.Finish*dual
	switch {
	case !near && s.last && s.widen(), near && s.touches() && s.widen():
		s.begin()
	case s.last || near && s.worth():
		s.approach()
	}
	return false, nil
}

// begin sets the first t from the current point.
func (s *barrier) begin() {
	s.start()
	s.t = s.balance()
}

// change is φ_t(α + long dx) − φ_t(α), where curve is dx'Q dx.
func (s *barrier) change(long, curve float64) float64 {
	v := long * long / 2 * curve
	for i, x := range s.dx {
		if x == 0 {
			continue
		}
		a, c := s.slack(i)
		v += long*s.grad[i]*x - s.t*(math.Log1p(long*x/a)+math.Log1p(-long*x/c))
	}
	return v
}

// phaseI looks for a strictly feasible α. Its Newton matrix has the shape of an arrow: a
// diagonal, one row and column for σ, and one for s'α = δ.
type phaseI struct {
	in      *interior
	upper   []float64
	sigma   float64
	t       float64
	falls   int // how often t has fallen
	h, k, g []float64
}

func newPhaseI(in *interior, start []float64, width float64) *phaseI {
	n := len(start)
	o := &phaseI{in: in, upper: make([]float64, n), h: make([]float64, n), k: make([]float64, n), g: make([]float64, n)}
	copy(in.alpha, start)
	for i, a := range start {
		if o.upper[i] = in.p.Upper[i]; math.IsInf(o.upper[i], 1) {
			o.upper[i] = in.p.Lower[i] + max(width, 2*(a-in.p.Lower[i]))
		}
		o.sigma = max(o.sigma, o.upper[i]-in.p.Lower[i])
	}
	o.t = o.sigma / (8 * float64(n))
	return o
}

// step makes a Newton step and reports whether Phase I is over. It ends when α is strictly
// inside the box, or at the centre when rounding prevents this.
func (o *phaseI) step(mu float64) (over bool) {
	in, p := o.in, o.in.p
	gs, hs := 1.0, 0.0
	var kk, ky, yy, kg, yg float64 // sums of products over h
	for i, a := range in.alpha {
		l, u := p.Lower[i], o.upper[i]
		if l == u {
			continue
		}
		lo, hi := 1/(o.sigma+a-l), 1/(o.sigma+u-a)
		o.g[i] = o.t * (hi - lo)
		o.h[i] = o.t * (lo*lo + hi*hi)
		o.k[i] = o.t * (lo*lo - hi*hi)
		gs -= o.t * (lo + hi)
		hs += o.h[i]
		kk += o.k[i] * o.k[i] / o.h[i]
		ky += o.k[i] * p.S[i] / o.h[i]
		yy += 1 / o.h[i]
		kg += o.k[i] * o.g[i] / o.h[i]
		yg += p.S[i] * o.g[i] / o.h[i]
	}
	// Substituting Δ = −(g + k δσ + s ν)/h leaves two equations,
	//	(hs − kk) δσ − ky ν = kg − gs,  −ky δσ − yy ν = e + yg.
	ds, nu := (kg-gs)/(hs-kk), 0.0
	if !p.FixedBias {
		e := in.missing()
		det := (hs-kk)*yy + ky*ky
		ds = ((kg-gs)*yy - ky*(e+yg)) / det
		nu = (-(hs-kk)*(e+yg) - ky*(kg-gs)) / det
	}
	long, slope := 1.0, gs*ds
	for i, a := range in.alpha {
		l, u := p.Lower[i], o.upper[i]
		if in.dx[i] = 0; l == u {
			continue
		}
		d := -(o.g[i] + o.k[i]*ds + p.S[i]*nu) / o.h[i]
		in.dx[i] = d
		slope += o.g[i] * d
		if ds+d < 0 {
			long = min(long, -0.99*(o.sigma+a-l)/(ds+d))
		}
		if ds-d < 0 {
			long = min(long, -0.99*(o.sigma+u-a)/(ds-d))
		}
	}
	for halved := 0; !(o.change(long, ds) <= 0.01*long*slope); halved++ {
		if halved == 40 {
			o.t *= mu
			if o.falls++; o.falls > 20 {
				in.centre(in.scale(), true)
				return true
			}
			return false
		}
		long /= 2
	}
	norm := 0.0
	over = true
	o.sigma += long * ds
	for i, d := range in.dx {
		in.alpha[i] += long * d
		norm += d * d
		l, u := p.Lower[i], o.upper[i]
		over = over && (l == u || in.alpha[i] > l && in.alpha[i] < u)
	}
	in.step = long * math.Sqrt(norm)
	if over {
		in.gradient(in.grad, in.alpha)
	} else if -slope <= 1e-4*o.t {
		o.t *= mu
	}
	return over
}

// change returns by how much a step changes σ − t Σ [ln(σ + α − l) + ln(σ + u − α)].
func (o *phaseI) change(long, ds float64) float64 {
	v := long * ds
	for i, a := range o.in.alpha {
		if l, u := o.in.p.Lower[i], o.upper[i]; l < u {
			d := o.in.dx[i]
			v -= o.t * (math.Log1p(long*(ds+d)/(o.sigma+a-l)) + math.Log1p(long*(ds-d)/(o.sigma+u-a)))
		}
	}
	return v
}
