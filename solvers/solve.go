package solvers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/svmnb/svmnb/internal/panics"
)

// Settings are what a run does besides its mathematics. The zero value stops
// at UpLow{1e-3} and samples log-spaced iterations.
type Settings struct {
	Stop          Criterion // nil means UpLow{1e-3}
	Start         []float64 // feasible α of length n; nil means 0, moved until s'α = δ; interior points begin inside the box instead
	MaxIterations int       // 0 means max(10⁷, 100 n)

	// Every is the sampling of the trace: 0 takes every iteration up to the
	// hundredth and then one in a hundredth of the count, and where that met an
	// iterate of part of the points the next one of all; k > 0 every k-th, −1
	// only the first and the last.
	Every int

	// Observers see every sampled point, in order, and must not change it.
	Observers []Observer
}

// Observer is told of a sampled point and of the iterate that it measures.
type Observer func(it *Iterate, pt *Point)

// verifier is a Stepper that can take over an F computed afresh from α, when
// rounding in the one that it maintains has hidden a violation.
type verifier interface{ refresh(f []float64) }

// concluder is a Stepper whose iterates are not what it would answer: those of an
// interior-point method touch no bound, and which vectors are support vectors is
// seen only on the bounds. conclude is asked when the criterion is met; true
// means that further steps, a few, will bring the answer.
type concluder interface{ conclude() bool }

// warm is a Method that can start where F is known already, which saves a row
// for each non-zero α, and the rounding in them. f belongs to the Stepper then.
type warm interface {
	startAt(p *Problem, alpha, f []float64) (Stepper, error)
}

// completer is a Stepper that keeps F for part of the points only, or in another
// form, and says nil of it then. complete brings it up to date for all.
type completer interface{ complete() []float64 }

// Solve runs m on p until the criterion is met, a limit is hit, ctx ends, or
// nothing can improve. It is the only loop: it measures, records, stops and
// certifies, and m does the mathematics.
//
// A limit is a Status and no error. An interrupt returns what there is, with an
// error that wraps context.Cause(ctx); so do a dual without maximum, with
// ErrUnbounded, steps that overshoot, with ErrDiverging, and a method that has left
// the box, with ErrOutside. With every other error the result is nil: a *ProblemError for bad numbers, of which those in K
// are found when their row is first used, and ErrUnsupported.
//
// A panic in a kernel, the method, the criterion or an observer is a *[PanicError].
func Solve(ctx context.Context, p *Problem, m Method, s Settings) (_ *Result, err error) {
	var r run
	defer panics.Recover(&err, func() string {
		switch r.within {
		case theCriterion:
			return fmt.Sprintf("the criterion %v", s.Stop)
		case anObserver:
			return "an observer of the run"
		}
		return "the method " + m.Name()
	})
	if err := given(ctx, m, s); err != nil {
		return nil, err
	}
	if err := p.Check(); err != nil {
		return nil, err
	}
	if s.MaxIterations < 0 {
		return nil, &ProblemError{"MaxIterations", -1, float64(s.MaxIterations), fmt.Sprintf("is %d; it must be positive, or 0 for the default", s.MaxIterations)}
	}
	alpha, err := p.start(s.Start)
	if err != nil {
		return nil, err
	}
	if s.Stop == nil {
		s.Stop = UpLow{1e-3}
	}
	if s.MaxIterations == 0 {
		s.MaxIterations = max(10_000_000, 100*len(alpha))
	}
	q, k := *p, &checked{Matrix: p.K, seen: make([]bool, len(alpha))}
	if of := doubled(p.K); of != nil {
		k.Matrix = of
	}
	if _, ok := p.K.(Features); !ok { // those were checked when they were made
		q.K = k
		if _, ok := k.Matrix.(Batcher); ok {
			q.K = checkedRows{k}
		}
		if doubled(p.K) != nil {
			q.K = Double(q.K)
		}
	}
	r = run{p: &q, k: k, began: time.Now(), settings: s, done: ctx.Done(), last: make([]float64, len(alpha)), changed: make([]int, 0, len(alpha)), highest: -math.MaxFloat64}
	r.trace.N = len(alpha)
	if s.Every >= 0 {
		r.trace.Points = make([]Point, 0, 128)
	}
	r.flat2 = q.flatness()
	if c, ok := m.(interface{ choose(*Problem) Method }); ok {
		m = c.choose(&q)
	}
	if _, ok := m.(interface{ keepsClasses() }); p.PerClass && !ok {
		return nil, fmt.Errorf("solvers: %s: %w: it keeps one sum of α, and ν-SVC has one in each class; use SMO", m.Name(), ErrUnsupported)
	}
	r.st, err = m.Start(&q, alpha)
	if k.err != nil {
		return nil, k.err
	}
	if err != nil {
		return nil, fmt.Errorf("solvers: %s: %w", m.Name(), err)
	}
	status, err := r.loop(ctx)
	if k.err != nil {
		return nil, k.err
	}
	if err != nil {
		return nil, fmt.Errorf("solvers: %s: iteration %d: %w", m.Name(), r.it.Iteration, err)
	}
	name := m.Name()
	if n, ok := r.st.(interface{ name() string }); ok {
		name = n.name()
	}
	res := &Result{
		Method: name, Alpha: append([]float64(nil), r.it.Alpha...), Status: status,
		Iterations: r.it.Iteration, Evaluations: evaluations(p.K), Elapsed: time.Since(r.began), Trace: r.trace,
	}
	res.Certificate = q.certify(res.Alpha, r.exact)
	res.Certificate.Claimed = r.claimed
	res.Bias = res.Certificate.Bias
	if i := p.outside(res.Alpha); i >= 0 {
		return res, fmt.Errorf("solvers: %s, after %d iterations: %w: α_%d = %g is not in [%g, %g]", m.Name(), res.Iterations, ErrOutside, i, res.Alpha[i], p.Lower[i], p.Upper[i])
	}
	if status == Interrupted {
		return res, fmt.Errorf("solvers: %s stopped after %d iterations: %w", m.Name(), res.Iterations, context.Cause(ctx))
	}
	return res, status.Err()
}

// PanicError is a panic in code that Solve has called.
type PanicError = panics.Error

// code says whose is at work.
type code int

const (
	theMethod code = iota
	theCriterion
	anObserver
)

// given returns an error where something that has to be there is nil.
func given(ctx context.Context, m Method, s Settings) error {
	switch {
	case ctx == nil:
		return errNoContext
	case m == nil:
		return &ProblemError{"m", -1, math.NaN(), "the method is nil; give one such as SMO{}"}
	}
	for i, o := range s.Observers {
		if o == nil {
			return &ProblemError{"Observers", i, math.NaN(), "the observer is nil; leave it out"}
		}
	}
	return nil
}

type run struct {
	p        *Problem
	k        *checked // p.K, where its rows are checked
	st       Stepper
	settings Settings
	began    time.Time
	done     <-chan struct{}
	it       Iterate
	trace    Trace
	last     []float64 // α at the last sampled point
	kept     int       // how many α the deltas of the trace have
	changed  []int     // workspace of record
	indices  slab[int] // of the points of the trace
	values   slab[float64]
	next     int       // the next iteration to sample
	owes     bool      // the last sample had no F of all points
	exact    []float64 // F computed afresh at the end
	waits    time.Time // since when an interrupt does
	claimed  bool      // exact is the method's own F
	flat2    float64   // a hard margin below √flat2 counts as none

	unbounded, diverging, exhausted bool // what the method or look has found
	within                          code // whose is at work

	highest   float64 // the largest dual that look has seen
	still     int     // how often it has not grown since
	refreshed int
}

func (r *run) loop(ctx context.Context) (Status, error) {
	nan := math.NaN()
	unmeasured := Point{Primal: nan, Dual: nan, Gap: nan, RelGap: nan, Equality: nan, Margin: nan, Bias: nan, Surrogate: nan}
	var measured Point
	it := &r.it
	window := max(10_000, r.trace.N)
	elapsed := time.Duration(0)
	for {
		r.report()
		if r.k.err != nil {
			return NotTerminated, r.k.err
		}
		// Of part of the points there is no gap: the next F of all makes good for it.
		sample := it.Iteration >= r.next || r.owes && it.F != nil
		if sample || it.Iteration%64 == 0 {
			elapsed = time.Since(r.began)
		}
		if it.Iteration%window == 0 && it.Iteration > 0 {
			r.look()
		}
		pt := &unmeasured
		if sample {
			pt = &measured
			*pt = r.measure(elapsed)
			r.record(pt)
			r.owes = it.F == nil && r.settings.Every == 0
		} else {
			pt.Iteration, pt.Elapsed, pt.Step = it.Iteration, elapsed, it.Step
			pt.Up, pt.Low, pt.KKT, pt.Surrogate = it.Up, it.Low, r.p.worst(it.Up, it.Low), it.Surrogate
		}
		if status := r.verdict(r.met(pt)); status != NotTerminated && !r.goesOn(status) {
			status = r.verify(status, elapsed)
			if r.k.err != nil {
				return status, r.k.err
			}
			if status != NotTerminated {
				if _, rounded := r.st.(*engine); rounded || !sample {
					it.F, it.Rough = r.exact, false
					last := r.measure(time.Since(r.began))
					r.record(&last)
				}
				return status, nil
			}
		}
		switch done, err := r.st.Step(ctx); {
		case errors.Is(err, ErrUnbounded):
			r.unbounded = true
		case errors.Is(err, ErrDiverging):
			r.diverging = true
		case err != nil && ctx.Err() == nil:
			return NotTerminated, err
		case err == nil && done:
			r.exhausted = true
		case err == nil:
			it.Iteration++
		}
	}
}

func (r *run) report() {
	r.it = Iterate{Iteration: r.it.Iteration, Up: math.NaN(), Low: math.NaN(), Step: math.NaN(), Active: r.trace.N, Bias: math.NaN(), Surrogate: math.NaN()}
	r.st.Report(&r.it)
	r.trace.Sweep = r.it.Sweep
}

// met asks the criterion. A method may leave s'α = δ on its way, but no α outside
// it is an answer.
func (r *run) met(pt *Point) Status {
	r.within = theCriterion
	status := r.settings.Stop.Met(pt, &r.trace)
	r.within = theMethod
	if status == Converged && (!r.p.balanced(r.it.Alpha) || r.p.outside(r.it.Alpha) >= 0) {
		return NotTerminated
	}
	return status
}

// verdict weighs what the criterion says against everything else that ends a run.
func (r *run) verdict(status Status) Status {
	switch {
	case r.unbounded:
		return Unbounded
	case r.diverging:
		return Diverging
	case status != NotTerminated:
		return status
	case r.exhausted:
		return Exhausted
	case r.it.Iteration >= r.settings.MaxIterations:
		return IterationLimit
	}
	select {
	case <-r.done:
		return Interrupted
	default:
		return NotTerminated
	}
}

// goesOn reports whether a run that could end is to bring its answer first.
func (r *run) goesOn(status Status) bool {
	c, ok := r.st.(concluder)
	return ok && status == Converged && !r.exhausted && r.it.Iteration < r.settings.MaxIterations && c.conclude()
}

// patience is how long an interrupt waits for F to be computed afresh, for
// Jupyter waits 5 s before it kills.
const patience = 300 * time.Millisecond

// verify computes F afresh for the certificate. The F that a method maintains
// drifts: a status that rests on it is believed only if the criterion, asked
// with the exact one, agrees; otherwise the method goes on from there. It may do
// so three times, then rounding is the limit. A run that cannot improve between
// two samples has converged if the criterion is met.
func (r *run) verify(status Status, elapsed time.Duration) Status {
	it, in := &r.it, true
	partial := it.F == nil && it.Active < r.trace.N
	v, ok := r.st.(verifier)
	interrupted := time.Now().Add(patience)
	late := func() bool { return time.Now().After(interrupted) }
	e, blocks := r.st.(*engine)
	hurry := func() {
		soon, cancel := context.WithDeadline(context.Background(), interrupted)
		e.catchUp(soon)
		cancel()
		it.F, it.Partial = e.f, false
	}
	switch c, has := r.st.(completer); {
	case !has || it.F != nil:
	case blocks && status == Interrupted:
		hurry()
	case blocks: // F afresh takes little more
	default:
		it.F = c.complete()
		if it.Partial = false; ok && status == Converged { // what was left out may violate: that is seen sooner
			if pt := r.measure(elapsed); r.met(&pt) == NotTerminated {
				v.refresh(it.F)
				return NotTerminated
			}
		}
	}
	if status == Interrupted && it.F != nil {
		if r.exact, in = r.residual(late); !in {
			r.exact, r.claimed = append([]float64(nil), it.F...), true
		}
		return status
	}
	if r.exact, in = r.residual(r.over); !in {
		if it.F == nil {
			interrupted = time.Now().Add(patience)
			hurry()
		}
		r.exact, r.claimed = append([]float64(nil), it.F...), true
		return Interrupted
	}
	it.Partial = false
	if status != Exhausted && (status != Converged || !ok) {
		return status
	}
	it.F, it.Rough = r.exact, false
	pt := r.measure(elapsed)
	if met := r.met(&pt); met != NotTerminated {
		return met
	}
	if !ok {
		return status
	}
	if !partial { // else it was asked of the active points only
		r.refreshed++
	}
	if r.refreshed > 3 {
		return Exhausted
	}
	v.refresh(r.exact)
	r.exhausted = false
	return NotTerminated
}

// residual computes F afresh; where the method has asked for rows in blocks there
// are no others to be had for less.
func (r *run) residual(over func() bool) ([]float64, bool) {
	if e, ok := r.st.(*engine); ok {
		return e.p.residualBy(e.k, 0, r.it.Alpha, over)
	}
	return r.p.residualUntil(r.it.Alpha, over)
}

// over reports whether an interrupt has waited long enough for an exact F, where
// the method has one of its own, or soon.
func (r *run) over() bool {
	select {
	case <-r.done:
		if r.waits.IsZero() {
			r.waits = time.Now()
		}
		_, blocks := r.st.(*engine)
		return (blocks || r.it.F != nil) && time.Since(r.waits) > patience
	default:
		return false
	}
}

// look is taken once in a window of iterations, too long for the objective not
// to grow in: a run that has not gained a last digit in two of them turns in
// circles of rounding. It also ends a hard margin that cannot be.
func (r *run) look() {
	s := r.p.summarise(r.it.Alpha, r.f())
	r.unbounded = r.unbounded || r.p.inseparable(r.it.Alpha, s.norm2, r.flat2)
	if s.dual > r.highest+4*0x1p-52*math.Abs(r.highest) {
		r.highest, r.still = s.dual, 0
		return
	}
	r.still++
	r.exhausted = r.exhausted || r.still > 1
}

// flatness returns the square of the margin below which a hard margin counts
// as none: a millionth of the distance from the first point to the farthest, or
// with a fixed bias of the largest distance from the origin.
func (p *Problem) flatness() float64 {
	if !p.isHard() {
		return 0
	}
	if p.FixedBias {
		return 1e-12 * slices.Max(p.K.Diag())
	}
	diag, row, far := p.K.Diag(), p.K.Row(0), 0.0
	for i, k := range row {
		far = max(far, diag[0]+diag[i]-2*k)
	}
	return 1e-12 * far
}

// inseparable reports whether α proves that the classes have no margin worth
// the name: α/½Σα weighs a point of each convex hull, ‖w‖/½Σα is the distance
// of these two points and so at least twice the margin. With a fixed bias, by
// weak duality along the ray tα, ‖w*‖ ≥ Σ α_i(1 − y_i b₀) / ‖w‖.
func (p *Problem) inseparable(alpha []float64, norm2, flat2 float64) bool {
	if flat2 == 0 {
		return false
	}
	sum := 0.0
	for i, a := range alpha {
		sum += a * (1 - p.fixed()*p.S[i])
	}
	return sum > 0 && norm2 <= flat2*sum*sum
}

// replay is how many changed α the trace keeps, 16 bytes each.
const replay = 4 << 20

// record appends a measured point with its replay delta and tells the observers.
// A point that is measured again, with F afresh or after a step cut short, takes
// the place of the first measurement.
func (r *run) record(measured *Point) {
	r.changed = r.changed[:0]
	alpha, last := r.it.Alpha, r.last
	for i := 0; i < len(last); {
		if i+4 <= len(last) && [4]float64(alpha[i:]) == [4]float64(last[i:]) { // as most are
			i += 4
			continue
		}
		if alpha[i] != last[i] {
			r.changed, last[i] = append(r.changed, i), alpha[i]
		}
		i++
	}
	if r.kept += len(r.changed); r.kept > replay && r.trace.Cut == 0 && len(r.trace.Points) > 0 {
		r.trace.Cut = len(r.trace.Points)
	}
	k := len(r.trace.Points)
	r.trace.Points = append(r.trace.Points, *measured)
	pt := &r.trace.Points[k]
	if r.trace.Cut == 0 {
		pt.Changed, pt.Alpha = r.indices.copy(r.changed), r.values.take(len(r.changed))
		for k, i := range r.changed {
			pt.Alpha[k] = r.last[i]
		}
	}
	pt.Working = r.indices.copy(r.it.Working)
	if k > 0 && r.trace.Points[k-1].Iteration == pt.Iteration {
		before := &r.trace.Points[k-1]
		pt.Changed, pt.Alpha = append(before.Changed, pt.Changed...), append(before.Alpha, pt.Alpha...)
		*before = *pt
		r.trace.Points, pt = r.trace.Points[:k], before
	}
	r.within = anObserver
	for _, o := range r.settings.Observers {
		o(&r.it, pt)
	}
	r.within = theMethod
	switch k := r.it.Iteration; {
	case r.settings.Every < 0:
		r.next = math.MaxInt
	case r.settings.Every > 0:
		r.next = k + r.settings.Every
	default:
		r.next = k + max(1, k/100)
	}
}

// slab is memory for many short slices, which costs less than one by one.
type slab[T any] struct{ free []T }

func (s *slab[T]) take(n int) []T {
	if n == 0 {
		return nil
	}
	if n > len(s.free) {
		s.free = make([]T, max(n, 256))
	}
	taken := s.free[:n:n]
	s.free = s.free[n:]
	return taken
}

func (s *slab[T]) copy(v []T) []T {
	c := s.take(len(v))
	copy(c, v)
	return c
}

// f returns F of all points.
func (r *run) f() []float64 {
	if r.it.F != nil && !r.it.Rough {
		return r.it.F
	}
	if c, ok := r.st.(completer); ok {
		return c.complete()
	}
	return r.p.residual(r.it.Alpha)
}

// measure fills a point from the iterate in O(n).
func (r *run) measure(elapsed time.Duration) Point {
	it, p := &r.it, r.p
	if it.Partial {
		return r.unmeasured(elapsed)
	}
	f := r.f()
	s := p.summarise(it.Alpha, f)
	pt := Point{
		Iteration: it.Iteration, Elapsed: elapsed, Dual: s.dual, KKT: s.kkt, Up: s.up, Low: s.low,
		Equality: s.equality, Margin: math.NaN(), Bias: s.bias, Step: it.Step,
		Free: s.free, Bound: s.atUpper, Active: it.Active, Evaluations: evaluations(p.K), Surrogate: it.Surrogate,
	}
	if s.norm2 > 0 {
		pt.Margin = 1 / math.Sqrt(s.norm2)
	}
	if p.isHard() {
		pt.Primal = p.hardPrimal(f, s.norm2)
		pt.Gap = pt.Primal - pt.Dual
	} else {
		pt.Gap = p.gapAt(it.Alpha, f, s.b)
		if !math.IsNaN(it.Bias) {
			if gap := p.gapAt(it.Alpha, f, biases{it.Bias, it.Bias}); gap < pt.Gap {
				pt.Gap, pt.Bias = gap, it.Bias
			}
		}
		pt.Primal = pt.Dual + pt.Gap
	}
	pt.RelGap = relative(pt.Gap, pt.Primal)
	if math.IsInf(pt.Primal, 1) {
		pt.Primal, pt.Gap, pt.RelGap = math.NaN(), math.NaN(), math.NaN()
	}
	return pt
}

// unmeasured is a point of an iterate whose F is not known for all points.
func (r *run) unmeasured(elapsed time.Duration) Point {
	it, nan := &r.it, math.NaN()
	pt := Point{
		Iteration: it.Iteration, Elapsed: elapsed, Primal: nan, Dual: nan, Gap: nan, RelGap: nan, KKT: r.p.worst(it.Up, it.Low), Up: it.Up, Low: it.Low,
		Equality: r.p.equality(it.Alpha), Margin: nan, Bias: (it.Up + it.Low) / 2, Step: it.Step, Active: it.Active, Evaluations: evaluations(r.p.K), Surrogate: nan,
	}
	for i, a := range it.Alpha {
		if a > r.p.Lower[i] {
			if a < r.p.Upper[i] {
				pt.Free++
			} else {
				pt.Bound++
			}
		}
	}
	return pt
}

// worst is the largest KKT violation that Up and Low amount to: a point that can rise
// wants F ≤ b, one that can fall F ≥ b. The bias is the fixed one, or the middle of
// [M, m], which violates least.
func (p *Problem) worst(up, low float64) float64 {
	if p.FixedBias {
		return max(up-p.Bias, p.Bias-low)
	}
	b := (&extent{up: up, low: low}).bias()
	return max(up-b, b-low)
}

// balanced reports whether α keeps the equality constraint.
func (p *Problem) balanced(alpha []float64) bool {
	scale := math.Abs(p.Delta)
	for _, a := range alpha {
		scale += math.Abs(a)
	}
	return p.equality(alpha) <= 1e-8*scale
}

// outside returns the first variable that is outside its box by more than rounding, or
// −1.
func (p *Problem) outside(alpha []float64) int {
	scale := 0.0
	for _, a := range alpha {
		scale = max(scale, math.Abs(a))
	}
	for i, a := range alpha {
		if a-a != 0 || a < p.Lower[i]-1e-8*scale || a > p.Upper[i]+1e-8*scale {
			return i
		}
	}
	return -1
}

func evaluations(k Matrix) int64 {
	if c, ok := k.(Counter); ok {
		return c.Evaluations()
	}
	return 0
}
