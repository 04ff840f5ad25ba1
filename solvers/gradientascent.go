package solvers

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/svmnb/svmnb/internal/vec"
)

// GradientAscent climbs the dual of a machine with a fixed bias, one α at a time (CST §7.2).
// Its zero value is CST Table 7.1 with the best learning rate,
//
//	for i = 1 … n:  α_i ← min(C_i, max(0, α_i + ω η_i ∂W/∂α_i)),  η_i = 1/(K_ii + ridge_i),
//	                ∂W/∂α_i = s_i (F_i − b₀) = 1 − y_i (Σ_j α_j y_j K_ij + b₀) for classification,
//
// Each step maximises W over its α_i exactly, and the following steps use the new α_i. In
// optimisation the method is known as Hildreth's, and in machine learning as the
// kernel-Adatron (CST Remark 7.5). With ω ≠ 1 it is successive over-relaxation (Mangasarian
// and Musicant 1999; CST Remark 7.6). It is also SMO without the equality constraint (CST
// Remark 7.16).
//
// It solves every Problem with a fixed bias, in the 1-norm, 2-norm and hard margin form. With
// a free bias it needs Relax. If ω η_i K_ii < 2, W never falls, and W* − W shrinks by a
// constant factor per epoch. Steps that overshoot again and again end the run with
// ErrDiverging.
//
// If Q is badly conditioned, this factor is close to 1 and the run would take millions of
// epochs. Causes are a huge C, features far from the origin, or a hard margin that hardly
// exists. Therefore after 2000 epochs, and after every 50 more, one iteration moves all free α
// at once by conjugate gradients, unless Plain is set; see face.go.
//
// An iteration is an epoch, which has n visits to points. A visit that changes nothing costs
// almost nothing, any other costs one kernel row. Whether the Matrix keeps this row in memory
// or computes it anew does not change the result (CST Remark 7.7).
type GradientAscent struct {
	// Order is the order in which the points are visited.
	Order Order

	// Rate is the learning rate η_i. Nil means 1/(K_ii + ridge_i), and for Batch a safe
	// estimate of 1/λ_max(Q). A point with K_ii + ridge_i = 0 needs no rate: W is linear in
	// its α, which goes at once to the end of its box where W is larger.
	Rate Rate

	// Omega is the factor ω of over-relaxation, in (0, 2); 0 means 1.
	Omega float64

	// Tol is the violation of the KKT conditions, in units of y f, above which Violators and
	// TwoStage change a point; 0 means 1e-3. When a full pass finds no such point and the
	// criterion is not met, Tol is divided by ten.
	Tol float64

	// Relax allows single steps on a problem with a free bias, if its Start is not 0. The
	// relaxed equality |s'α − δ| ≤ ζ_t replaces s'α = δ, where ζ_t is the value of the
	// schedule at epoch t (CST §7.2). As ζ → 0 no single α can move any more. So when an epoch
	// raises W by less than a thousandth, s'α = δ is restored, and steps on pairs of α, chosen
	// as in SMO, finish the run: n pairs per epoch.
	Relax Schedule

	// Plain restricts a long run to single steps, and to pair steps after Relax, exactly as in
	// the book.
	Plain bool

	// Seed is the seed of the permutations of Shuffled.
	Seed uint64
}

// Name returns, for example, "gradient ascent (cyclic)". It includes the settings that differ
// from the default.
func (m GradientAscent) Name() string {
	parts := []string{m.Order.String()}
	if m.Rate != nil {
		parts = append(parts, fmt.Sprintf("η = %v", m.Rate))
	}
	if m.Omega != 0 && m.Omega != 1 {
		parts = append(parts, fmt.Sprintf("ω = %g", m.Omega))
	}
	if m.Relax.Start != 0 {
		parts = append(parts, fmt.Sprintf("ζ = %v", m.Relax))
	}
	if m.Plain {
		parts = append(parts, "plain")
	}
	return "gradient ascent (" + strings.Join(parts, ", ") + ")"
}

// Needs implements Needer. The bias must be fixed unless Relax is set.
func (m GradientAscent) Needs() Needs { return Needs{FixedBias: m.Relax.Start == 0} }

// Start implements Method. It refuses a free bias unless Relax is set.
func (m GradientAscent) Start(p *Problem, alpha []float64) (Stepper, error) {
	if err := m.check(p); err != nil {
		return nil, err
	}
	m.Omega = cmp.Or(m.Omega, 1)
	m.Tol = cmp.Or(m.Tol, 1e-3)
	n := len(alpha)
	s := &ascent{
		pairs: pairsAt(p, alpha, nil), m: m, tol: m.Tol, bias: p.fixed(), relaxed: !p.FixedBias,
		room: math.Inf(1), eta: make([]float64, n), order: vec.Indices[int](n), next: epochsBeforeFaces,
	}
	if m.Plain || s.relaxed {
		s.next = -1
	}
	if m.Order == Shuffled {
		s.rng = rand.New(rand.NewPCG(m.Seed, 0))
	}
	if m.Order == Batch {
		s.from = make([]float64, n)
	}
	s.scale = vec.MaxAbs(s.diag)
	s.look()
	s.best = s.w
	return s, nil
}

func (m GradientAscent) check(p *Problem) error {
	bad := func(field string, v float64, format string, args ...any) error {
		return &ProblemError{"GradientAscent." + field, -1, v, fmt.Sprintf(format, args...)}
	}
	switch {
	case !p.FixedBias && m.Relax.Start == 0:
		return fmt.Errorf("%w: gradient ascent moves one α at a time, and the constraint s'α = δ of a free bias lets none move alone; fix the bias (WithFixedBias; of a Classifier FixedBias or Augment), set Relax, or use SMO", ErrUnsupported)
	case p.FixedBias && m.Relax.Start != 0:
		return fmt.Errorf("%w: Relax opens the constraint s'α = δ, and with a fixed bias there is none; leave it empty", ErrUnsupported)
	case m.Order < 0 || int(m.Order) >= len(orderNames):
		return fmt.Errorf("%w: there is no %v", ErrUnsupported, m.Order)
	case m.Order == Batch && m.Relax.Start != 0:
		return fmt.Errorf("%w: |s'α − δ| ≤ ζ is kept by single steps, and Batch moves all α at once; take another Order", ErrUnsupported)
	case !(m.Omega >= 0 && m.Omega < 2):
		return bad("Omega", m.Omega, "the factor is %g; it must lie in (0, 2) (0 means 1)", m.Omega)
	case !(m.Tol >= 0) || math.IsInf(m.Tol, 1):
		return bad("Tol", m.Tol, "the tolerance is %g; it must be ≥ 0 (0 means 1e-3)", m.Tol)
	case !(m.Relax.Start >= 0 && m.Relax.Decay >= 0) || math.IsInf(m.Relax.Start+m.Relax.Decay, 1):
		return bad("Relax", m.Relax.Start, "is %v; Start and Decay must be finite and ≥ 0", m.Relax)
	}
	if r, ok := m.Rate.(perPoint); ok && len(r) != 8*len(p.S) {
		return bad("Rate", 0, "has %v, the problem has %d points", r, len(p.S))
	}
	return nil
}

// ascent is the workspace of one run. α, F and the diagonal of Q are in pairs.
type ascent struct {
	pairs
	m     GradientAscent
	eta   []float64 // ω η_i in this epoch
	order []int     // the points of a full pass, in the order of visits
	from  []float64 // with Batch, α before the step
	rng   *rand.Rand
	tol   float64
	bias  float64 // b₀
	epoch int
	seen  extent // range of F

	// Of the last epoch: the growth of W, the growth that the slopes along its steps promised,
	// and the squared length of its path.
	gain, promise, norm2 float64

	w     float64 // W
	noise float64 // a smaller slope is only rounding
	scale float64 // largest diagonal entry of Q
	best  float64 // largest W so far
	stall int     // epochs since W last grew
	total float64 // Σ ω η_i of the last epoch

	held *holding // the points of the first stage, nil in the second
	busy bool     // since the last full pass, some slope was larger than noise

	wide   face
	next   int  // the epoch of the next face step, −1 for none
	widely bool // the last step was a face step

	over  bool  // the last epoch found nothing more to improve
	fault error // the error of the last epoch

	relaxed  bool    // single steps on a problem with a free bias
	sum      float64 // s'α − δ when relaxed
	room     float64 // ζ_t, +Inf when the bias is fixed
	finisher *greedy // the workspace of the pair steps, nil before them
	paired   bool    // pair steps have been made
}

func (s *ascent) Report(it *Iterate) {
	it.Sweep = 1
	if s.relaxed && !s.paired {
		it.Sweep = math.MaxInt // while s'α ≠ δ, values of W cannot be compared
	}
	if s.finisher != nil {
		s.finisher.Report(it)
		it.Working, it.Step = nil, s.last
		return
	}
	s.report(it)
	it.Up, it.Low = s.seen.up, s.seen.low
	switch {
	case s.widely:
		it.Working = s.wide.free
	case s.held != nil:
		it.Active = len(s.held.of)
	}
}

func (s *ascent) Refresh(f []float64) {
	s.pairs.Refresh(f)
	s.over = false
	s.look()
	if s.finisher != nil {
		s.finisher.scan()
	}
}

// Step makes one epoch, or at times a face step. If an epoch that ends the run has moved α,
// the end is reported by the next call, so that this epoch still counts as an iteration.
func (s *ascent) Step(ctx context.Context) (done bool, err error) {
	if s.over || s.fault != nil {
		return s.over, s.fault
	}
	s.gain, s.promise, s.norm2 = 0, 0, 0
	if s.widely = false; s.epoch == s.next {
		s.next += epochsPerFace
		if s.widely, err = s.wide.climb(ctx, &s.pairs); s.widely || err != nil {
			s.look()
			return false, err
		}
	}
	if s.finisher != nil {
		done, err = s.finish(ctx)
	} else {
		done, err = s.climb(ctx)
	}
	s.last = math.Sqrt(s.norm2)
	if s.norm2 == 0 {
		return done, err
	}
	if ctx.Err() == nil {
		s.over, s.fault = done, err
	}
	return false, nil
}

// climb makes one full pass over the points, or continues the first stage.
func (s *ascent) climb(ctx context.Context) (done bool, err error) {
	if err := s.rates(ctx); err != nil {
		return false, err
	}
	if s.relaxed {
		if err := s.open(ctx); err != nil {
			return false, err
		}
	}
	full := s.held == nil
	err = s.visit(ctx)
	s.epoch++
	s.look()
	switch {
	case err != nil:
		return false, err
	case s.relaxed:
		return false, s.settle(ctx, full)
	case !full:
		return false, s.diverges()
	}
	nothing := !s.busy
	s.busy = false
	if nothing && s.picky() { // nothing violates by more than the tolerance
		s.tol /= 10
		nothing = s.tol < 0x1p-52
	}
	return nothing, s.diverges()
}

// diverges returns ErrDiverging if the steps overshoot: W has not grown for twenty epochs
// although the slopes along the steps promised growth. Near convergence they promise none.
func (s *ascent) diverges() error {
	if s.w > s.best+1e-15*math.Abs(s.best) {
		s.best, s.stall = s.w, 0
		return nil
	}
	s.stall++
	if s.stall >= 20 && s.promise > 1e-9*math.Abs(s.best) {
		return ErrDiverging
	}
	return nil
}

// look computes m, M and W from the current α and F.
func (s *ascent) look() {
	p := s.p
	s.w, s.noise, s.seen = 0, 0, p.unseen()
	for i, f := range s.f {
		a := s.alpha[i]
		s.seen.see(f, p.CanRise(i, a), p.CanFall(i, a))
		s.w += a * (p.S[i]*(f/2-s.bias) - p.P[i]/2)
		s.noise += math.Abs(a)
	}
	s.noise = 0x1p-52 * (1 + s.scale*s.noise)
}

// step moves α_i along its gradient, given F_i, and returns the change of s_iα_i.
func (s *ascent) step(i int, f float64) (float64, error) {
	p, a := s.p, s.alpha[i]
	y, upper, lower := p.S[i], p.Upper[i], p.Lower[i]
	g := y * (f - s.bias)
	hi, lo := upper-a, lower-a
	if s.relaxed {
		hi = max(0, min(hi, s.room-y*s.sum))
		lo = min(0, max(lo, -s.room-y*s.sum))
	}
	var d float64
	if kappa := s.diag[i]; kappa > 0 || kappa < 0 && s.m.Order == Batch {
		d = min(max(s.eta[i]*g, lo), hi)
	} else {
		d = pairStep(g, kappa, lo, hi)
	}
	if d == 0 {
		return 0, nil
	}
	next := a + d
	switch {
	case d >= upper-a:
		next = upper
	case d <= lower-a:
		next = lower
	}
	if !(math.Abs(next) <= 1e100) {
		if s.m.Rate == nil || s.diag[i] <= 0 {
			return 0, ErrUnbounded
		}
		return 0, ErrDiverging
	}
	d = next - a
	s.alpha[i] = next
	s.sum += y * d
	s.promise += d * g
	s.busy = s.busy || math.Abs(g) > s.noise
	s.gain += d * (g - s.diag[i]*d/2)
	s.norm2 += d * d
	return y * d, nil
}

// follow updates F for a change of s_iα_i by t.
func (s *ascent) follow(i int, t float64) {
	vec.Axpy(s.f, -t, s.p.K.Row(i))
	s.f[i] -= t * s.p.ridge(i)
}

// poll returns the error of ctx. It looks only once per 2¹⁶ changed entries of F.
func (s *ascent) poll(ctx context.Context, moves int) error {
	if moves%(1+0xffff/len(s.f)) == 0 {
		return ctx.Err()
	}
	return nil
}

// pass visits every point in order, or with AscendingAlpha those that are not held. Then it
// holds the points of the next first stage.
func (s *ascent) pass(ctx context.Context) error {
	moves := 0
	for _, i := range s.order {
		if s.picky() && !s.violates(i, s.f[i]) {
			continue
		}
		t, err := s.step(i, s.f[i])
		if err != nil {
			return err
		}
		if t == 0 {
			continue
		}
		s.follow(i, t)
		moves++
		if err := s.poll(ctx, moves); err != nil {
			return err
		}
	}
	if s.m.Order == TwoStage || s.m.Order == AscendingAlpha {
		return s.hold(ctx)
	}
	return nil
}
