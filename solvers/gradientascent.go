package solvers

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// GradientAscent climbs the dual of a machine with a fixed bias one α at a time
// (CST §7.2). Its zero value is CST Table 7.1 with the best learning rate,
//
//	for i = 1 … n:  α_i ← min(C_i, max(0, α_i + ω η_i ∂W/∂α_i)),  η_i = 1/(K_ii + ridge_i),
//	                ∂W/∂α_i = s_i (F_i − b₀) = 1 − y_i (Σ_j α_j y_j K_ij + b₀) for classification,
//
// where each step maximises W over its α_i exactly and later points see it at
// once. The same method is known as Hildreth's in optimisation and as the
// kernel-Adatron in machine learning (CST Remark 7.5), with ω ≠ 1 as successive
// over-relaxation (Mangasarian and Musicant 1999; CST Remark 7.6), and as what
// SMO becomes without its equality constraint (CST Remark 7.16).
//
// It solves every Problem with a fixed bias, in the 1-norm, 2-norm and hard
// margin form; with a free bias it needs Relax. It is slow where Q is badly
// conditioned: a huge C, features far from the origin, a hard margin that hardly
// exists take millions of epochs. W never falls while ω η_i K_ii < 2, and W* − W
// shrinks by a constant factor per epoch (CST prints ‖α^t − α*‖ ≤ μδ^t with
// μ < 1; μ may be any number, δ < 1). Steps that overshoot for good end the run
// with ErrDiverging.
//
// An iteration is an epoch: n visits of a point, of which those with nothing to
// do cost next to nothing and the others one kernel row each. Whether that row
// is kept in memory or evaluated anew is the Matrix's business and changes no
// bit of the result (CST Remark 7.7).
type GradientAscent struct {
	// Order is the order in which the points are visited.
	Order Order

	// Rate is the learning rate η_i. Nil takes 1/(K_ii + ridge_i), for Batch a
	// safe estimate of 1/λ_max(Q). A point with K_ii + ridge_i = 0 needs none:
	// W is linear in its α, which goes to the better end of its box at once
	// (CST Table 7.1 would divide by 0).
	Rate Rate

	// Omega is the factor ω of over-relaxation, in (0, 2); 0 means 1.
	Omega float64

	// Tol is the violation of the KKT conditions, in units of y f, above which
	// Violators and TwoStage look at a point; 0 means 1e-3. It shrinks tenfold
	// whenever a full pass finds nothing to do and the run has not been stopped.
	Tol float64

	// Relax, if its Start is not 0, opens a problem with a free bias to single
	// steps: |s'α − δ| ≤ ζ_t takes the place of s'α = δ, with ζ_t the value of the
	// schedule at epoch t (CST §7.2). As ζ → 0 no single α can move any more, so
	// as soon as an epoch raises W by less than a thousandth, s'α = δ is restored
	// and pairs of α, chosen as in SMO, finish the work: n pairs per epoch.
	Relax Schedule

	// Seed starts the permutations of Shuffled.
	Seed uint64
}

// Order is the order in which GradientAscent visits the points. All orders end
// at the same W.
type Order int

const (
	// Cyclic goes through the points as they come, each using the latest α
	// (CST Table 7.1: stochastic gradient ascent).
	Cyclic Order = iota
	// Batch moves all α at once along the gradient: steepest ascent.
	Batch
	// Shuffled goes through a new random permutation in every epoch.
	Shuffled
	// Violators goes through the points and stops only at those that violate the
	// KKT conditions by more than Tol.
	Violators
	// TwoStage goes through the free points until those satisfy the KKT
	// conditions to Tol, and then once through all (CST §7.2).
	TwoStage
	// AscendingAlpha goes through the points with α_i ≠ 0 in ascending order of
	// α_i until W grows no further, and then once through the others (CST
	// Remark 7.8). Their part of K is held in memory meanwhile, which makes this
	// the order for many points with few support vectors.
	AscendingAlpha
)

var orderNames = [...]string{"cyclic", "batch", "shuffled", "violators", "two stages", "ascending α"}

func (o Order) String() string {
	if o < 0 || int(o) >= len(orderNames) {
		return fmt.Sprintf("Order(%d)", int(o))
	}
	return orderNames[o]
}

// Rate is a learning rate that may depend on the point and on time. Eta returns
// η > 0 for a point, 0 ≤ point < n, in an epoch 0, 1, 2, …
type Rate interface {
	Eta(point, epoch int) float64
}

// Schedule is a number that falls with time: Start/(1 + Decay t) at t = 0, 1, …
// Without Decay it is constant. As a Rate it serves all points alike.
type Schedule struct{ Start, Decay float64 }

// At returns the value at time t.
func (s Schedule) At(t int) float64 { return s.Start / (1 + s.Decay*float64(t)) }

// Eta implements Rate.
func (s Schedule) Eta(_, epoch int) float64 { return s.At(epoch) }

// PerPoint is the Rate of Table 7.1: eta has one learning rate per point, for
// all times.
func PerPoint(eta []float64) Rate {
	b := make([]byte, 0, 8*len(eta))
	for _, v := range eta {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return perPoint(b)
}

// perPoint is packed into a string, so that descriptions that hold it can be
// compared.
type perPoint string

func (p perPoint) Eta(point, _ int) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64([]byte(p[8*point : 8*point+8])))
}

func (p perPoint) String() string { return fmt.Sprintf("%d rates", len(p)/8) }

// Name is "gradient ascent (cyclic)" and the like, with what differs from the
// default.
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
	return "gradient ascent (" + strings.Join(parts, ", ") + ")"
}

func (s Schedule) String() string {
	if s.Decay == 0 {
		return fmt.Sprintf("%g", s.Start)
	}
	return fmt.Sprintf("%g/(1 + %g t)", s.Start, s.Decay)
}

// Start implements Method. It refuses a free bias without Relax.
func (m GradientAscent) Start(p *Problem, alpha []float64) (Stepper, error) {
	if err := m.check(p); err != nil {
		return nil, err
	}
	if m.Omega == 0 {
		m.Omega = 1
	}
	if m.Tol == 0 {
		m.Tol = 1e-3
	}
	n := len(alpha)
	s := &ascent{
		pairs: newPairs(p, alpha), m: m, tol: m.Tol, bias: p.fixed(), relaxed: !p.FixedBias,
		room: math.Inf(1), eta: make([]float64, n), order: make([]int, n),
	}
	for i := range s.order {
		s.order[i] = i
	}
	if m.Order == Shuffled {
		s.rng = rand.New(rand.NewPCG(m.Seed, 0))
	}
	if m.Order == Batch {
		s.from = make([]float64, n)
	}
	for _, kappa := range s.diag {
		s.scale = max(s.scale, math.Abs(kappa))
	}
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
		return fmt.Errorf("%w: gradient ascent moves one α at a time, and the constraint s'α = δ of a free bias lets none move alone; fix the bias (WithFixedBias, with K + τ² if one is needed), set Relax, or use SMO", ErrUnsupported)
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

// ascent is the workspace; α, F and the diagonal of Q are in pairs.
type ascent struct {
	pairs
	m       GradientAscent
	eta     []float64 // ω η_i in this epoch
	order   []int     // the points of a pass
	from    []float64 // Batch's old α
	rng     *rand.Rand
	tol     float64
	bias    float64 // b₀
	epoch   int
	up, low float64

	// What an epoch has done: W grew by gain, which its slope along the steps
	// promised to be promise; length² of the path.
	gain, promise, norm2 float64

	w     float64 // W
	noise float64 // a slope below it is rounding
	scale float64 // largest diagonal entry
	best  float64 // largest W so far
	stall int     // epochs since
	total float64 // Σ ω η_i of the last epoch

	held *holding // the points of the first stage, nil in the second
	busy bool     // some slope was not noise since the last full pass

	over  bool  // the last epoch found nothing more to do
	fault error // or failed

	relaxed  bool    // single steps on a problem with a free bias
	sum      float64 // s'α − δ when relaxed
	room     float64 // ζ_t, +Inf when the bias is fixed
	finisher *greedy // the pair steps after them
	paired   bool    // and there have been some
}

func (s *ascent) Report(it *Iterate) {
	it.Sweep = 1
	if s.relaxed && !s.paired {
		it.Sweep = math.MaxInt // W off the equality compares with nothing
	}
	if s.finisher != nil {
		s.finisher.Report(it)
		it.Working, it.Step = nil, s.last
		return
	}
	s.report(it)
	it.Up, it.Low = s.up, s.low
	if s.held != nil {
		it.Active = len(s.held.of)
	}
}

func (s *ascent) refresh(f []float64) {
	s.pairs.refresh(f)
	s.over = false
	s.look()
	if s.finisher != nil {
		s.finisher.scan()
	}
}

// Step is one epoch. An epoch that has moved α counts, and how it ended is told
// by the next one.
func (s *ascent) Step(ctx context.Context) (done bool, err error) {
	if s.over || s.fault != nil {
		return s.over, s.fault
	}
	s.gain, s.promise, s.norm2 = 0, 0, 0
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

// climb goes once through the points, or on with the first stage.
func (s *ascent) climb(ctx context.Context) (done bool, err error) {
	if err := s.rates(ctx); err != nil {
		return false, err
	}
	if s.relaxed {
		s.room = s.m.Relax.At(s.epoch)
		if err := s.level(ctx, s.room); err != nil {
			return false, err
		}
	}
	full := true
	switch {
	case s.m.Order == Batch:
		err = s.batch(ctx)
	case s.held != nil:
		full = false
		err = s.stage(ctx)
	default:
		if s.rng != nil {
			s.rng.Shuffle(len(s.order), func(i, j int) { s.order[i], s.order[j] = s.order[j], s.order[i] })
		}
		err = s.pass(ctx)
	}
	s.epoch++
	s.look()
	if err != nil {
		return false, err
	}
	if s.relaxed {
		if s.gain > 1e-3*math.Abs(s.w) {
			return false, nil
		}
		s.held = nil
		if full {
			if err := s.level(ctx, 0); err != nil {
				return false, err
			}
			s.finisher = newGreedy(s.pairs, SMO{})
		}
		return false, nil
	}
	if !full {
		return false, s.diverges()
	}
	nothing := !s.busy
	s.busy = false
	if nothing && s.picky() { // of what is above the tolerance
		s.tol /= 10
		nothing = s.tol < 0x1p-52
	}
	return nothing, s.diverges()
}

// rates sets ω η_i for this epoch.
func (s *ascent) rates(ctx context.Context) error {
	if s.m.Order == Batch && s.m.Rate == nil {
		l, err := s.curvature(ctx)
		if err != nil {
			return err
		}
		s.m.Rate = Schedule{Start: 1 / max(l, 1e-300)}
	}
	total := 0.0
	for i, kappa := range s.diag {
		eta := min(1/kappa, 1e300)
		if s.m.Rate != nil {
			eta = s.m.Rate.Eta(i, s.epoch)
			if !(eta > 0) || math.IsInf(eta, 1) {
				return &ProblemError{"GradientAscent.Rate", i, eta, fmt.Sprintf("η in epoch %d must be finite and > 0", s.epoch)}
			}
		}
		s.eta[i] = s.m.Omega * eta
		total += s.eta[i]
	}
	if s.m.Rate != nil && total < s.total*(1-1e-6) {
		s.stall = 0 // a falling rate deserves its chance
	}
	s.total = total
	return nil
}

// diverges tells overshooting from convergence: W has not grown for twenty
// epochs although the slope along every step promises that it should.
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

// look measures m, M and W of the current α.
func (s *ascent) look() {
	p := s.p
	s.w, s.noise, s.up, s.low = 0, 0, math.Inf(-1), math.Inf(1)
	if p.FixedBias {
		s.up, s.low = s.bias, s.bias
	}
	for i, f := range s.f {
		a := s.alpha[i]
		if p.canRise(i, a) {
			s.up = max(s.up, f)
		}
		if p.canFall(i, a) {
			s.low = min(s.low, f)
		}
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

// follow makes F follow a change of s_iα_i by t.
func (s *ascent) follow(i int, t float64) {
	axpy(s.f, -t, s.p.K.Row(i))
	if s.p.Ridge != nil {
		s.f[i] -= t * s.p.Ridge[i]
	}
}

func axpy(y []float64, a float64, x []float64) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += a * v
	}
}

// picky reports whether points within the tolerance are left alone.
func (s *ascent) picky() bool { return s.m.Order == Violators || s.m.Order == TwoStage }

// violates is the KKT test of point i with the given F_i.
func (s *ascent) violates(i int, f float64) bool {
	g := s.p.S[i] * (f - s.bias)
	return g > s.tol && s.alpha[i] < s.p.Upper[i] || g < -s.tol && s.alpha[i] > s.p.Lower[i]
}

// poll returns a context's error, looked at once per 2¹⁶ entries of F changed.
func (s *ascent) poll(ctx context.Context, moves int) error {
	if moves%(1+0xffff/len(s.f)) == 0 {
		return ctx.Err()
	}
	return nil
}

// pass visits every point, or for AscendingAlpha those that were not held, in
// order. After it the points of the first stage are held.
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

// batch moves every α by the gradient at the same α.
func (s *ascent) batch(ctx context.Context) error {
	copy(s.from, s.alpha)
	for i, f := range s.f {
		if _, err := s.step(i, f); err != nil {
			copy(s.alpha, s.from)
			return err
		}
	}
	return s.catchUp(ctx, s.order, s.from)
}

// catchUp makes F follow the points of from their α of from. When ctx ends on
// the way the rest go back to it.
func (s *ascent) catchUp(ctx context.Context, of []int, from []float64) (err error) {
	for k, i := range of {
		t := s.p.S[i] * (s.alpha[i] - from[k])
		if t == 0 {
			continue
		}
		if err == nil {
			err = s.poll(ctx, k)
		}
		if err != nil {
			s.alpha[i] = from[k]
			continue
		}
		s.follow(i, t)
	}
	return err
}

// curvature returns min(‖Q‖_∞, ‖Q‖_F) ≥ λ_max(Q).
func (s *ascent) curvature(ctx context.Context) (float64, error) {
	rowSum, squares := 0.0, 0.0
	for i := range s.alpha {
		if err := s.poll(ctx, i); err != nil {
			return 0, err
		}
		sum := 0.0
		for j, k := range s.p.K.Row(i) {
			if j == i {
				k = s.diag[i]
			}
			sum += math.Abs(k)
			squares += k * k
		}
		rowSum = max(rowSum, sum)
	}
	return min(rowSum, math.Sqrt(squares)), nil
}

// holding is the part of the problem that the first stage works on, in memory.
type holding struct {
	of      []int     // its points
	k       []float64 // their part of K, row by row
	f, from []float64 // their F, and their α when F was last right for all points
	order   []int     // positions in of
	gain    float64   // what the stage has gained so far
}

// maxHeld bounds the memory of a holding to 128 MiB.
const maxHeld = 4096

// enough is the part of a stage's gain below which a pass counts as no progress.
const enough = 1e-3

// hold takes the points of the first stage into memory: the free ones, or for
// AscendingAlpha those with α ≠ 0, of which the others wait for the next pass.
func (s *ascent) hold(ctx context.Context) error {
	b := &holding{}
	s.order = s.order[:0]
	for i, a := range s.alpha {
		in := a != 0
		if s.m.Order == TwoStage {
			in = a > s.p.Lower[i] && a < s.p.Upper[i]
		}
		if in = in && len(b.of) < maxHeld; in {
			b.order = append(b.order, len(b.of))
			b.of = append(b.of, i)
		}
		if !in || s.m.Order == TwoStage {
			s.order = append(s.order, i)
		}
	}
	m := len(b.of)
	if m == 0 {
		return nil
	}
	b.k, b.f, b.from = make([]float64, 0, m*m), make([]float64, m), make([]float64, m)
	for k, i := range b.of {
		if err := s.poll(ctx, k); err != nil {
			return err
		}
		row := s.p.K.Row(i)
		for _, j := range b.of {
			b.k = append(b.k, row[j])
		}
	}
	s.held = b
	return nil
}

// stage passes over the held points until the stage ends or n points have been
// visited.
func (s *ascent) stage(ctx context.Context) error {
	b, m, n := s.held, len(s.held.of), len(s.alpha)
	for k, i := range b.of {
		b.f[k], b.from[k] = s.f[i], s.alpha[i]
	}
	ended, moves := false, 0
	var err error
	for visits := 0; visits < n && !ended && err == nil; visits += m {
		if s.m.Order == AscendingAlpha {
			slices.SortFunc(b.order, func(k, l int) int {
				return cmp.Or(cmp.Compare(s.alpha[b.of[k]], s.alpha[b.of[l]]), cmp.Compare(k, l))
			})
		}
		gain, moved := s.gain, false
		for _, k := range b.order {
			i := b.of[k]
			if s.m.Order == AscendingAlpha && s.alpha[i] == 0 || s.m.Order == TwoStage && !s.violates(i, b.f[k]) {
				continue
			}
			var t float64
			if t, err = s.step(i, b.f[k]); err != nil {
				break
			}
			if t == 0 {
				continue
			}
			moved = true
			axpy(b.f, -t, b.k[k*m:(k+1)*m])
			if s.p.Ridge != nil {
				b.f[k] -= t * s.p.Ridge[i]
			}
			moves++
			if err = s.poll(ctx, moves); err != nil {
				break
			}
		}
		gain = s.gain - gain
		b.gain += gain
		ended = !moved || s.m.Order == AscendingAlpha && gain <= enough*b.gain
	}
	if ended {
		s.held = nil
	}
	if late := s.catchUp(ctx, b.of, b.from); err == nil {
		err = late
	}
	return err
}

// level moves α until |s'α − δ| ≤ zeta, always the one that W loses least by.
func (s *ascent) level(ctx context.Context, zeta float64) error {
	p := s.p
	s.sum = -p.Delta
	for i, a := range s.alpha {
		s.sum += p.S[i] * a
	}
	for moves := 0; math.Abs(s.sum) > zeta; moves++ {
		if err := s.poll(ctx, moves); err != nil {
			return err
		}
		up, best := s.sum < 0, -1
		for i, f := range s.f {
			a := s.alpha[i]
			switch {
			case up && p.canRise(i, a) && (best < 0 || f > s.f[best]), !up && p.canFall(i, a) && (best < 0 || f < s.f[best]):
				best = i
			}
		}
		if best < 0 {
			return nil
		}
		t := math.Abs(s.sum) - zeta
		room := s.rise(best)
		if !up {
			room = s.fall(best)
		}
		last := t <= room
		t = min(t, room)
		if !up {
			t = -t
		}
		s.gain += t * (s.f[best] - s.diag[best]*t/2)
		s.move(best, t)
		s.follow(best, t)
		s.norm2 += t * t
		s.sum += t
		if last {
			break // but for rounding
		}
	}
	return nil
}

// finish makes n pair steps.
func (s *ascent) finish(ctx context.Context) (done bool, err error) {
	s.paired = true
	for k := range s.alpha {
		if err := s.poll(ctx, 2*k); err != nil {
			return false, err
		}
		done, err = s.finisher.Step(ctx)
		if done || err != nil {
			break
		}
		s.norm2 += s.finisher.last * s.finisher.last
	}
	return done, err
}
