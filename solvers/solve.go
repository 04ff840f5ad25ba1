package solvers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
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
// ErrUnbounded, steps that overshoot, with ErrDiverging, a method that has left the box,
// with ErrOutside, and an answer that is worse than the start or no number, with
// ErrInaccurate, or ErrBelowStart where a limit has ended the run. ErrInaccurate also
// comes with the answer of a method that rounding has stopped while W may be less than half
// of its maximum. With every other error the result is nil: a *ProblemError for bad
// numbers, of which those in K are found when their row is first used, and ErrUnsupported.
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
	of, offset := p.centred()
	q, k := *of, &checked{Matrix: of.K, seen: make([]bool, len(alpha))}
	if points := doubled(q.K); points != nil {
		k.Matrix = points
	}
	if _, ok := q.K.(Features); !ok { // those were checked when they were made
		twice := doubled(q.K) != nil
		q.K = k
		if _, ok := k.Matrix.(Batcher); ok {
			q.K = checkedRows{k}
		}
		if twice {
			q.K = Double(q.K)
		}
	}
	r = run{
		given: p, p: &q, k: k, offset: offset, began: time.Now(), settings: s, done: ctx.Done(), methods: []Method{m}, highest: -math.MaxFloat64, budget: math.MaxInt,
		start: slices.Clone(alpha), last: make([]float64, len(alpha)), changed: make([]int, 0, len(alpha)), best: answer{dual: math.Inf(-1)},
	}
	r.trace.N = len(alpha)
	if s.Every >= 0 {
		r.trace.Points = make([]Point, 0, 128)
	}
	r.flat2 = q.flatness()
	if c, ok := m.(interface{ choose(*Problem) []Method }); ok {
		r.methods = c.choose(&q)
	}
	if _, ok := r.methods[0].(interface{ keepsClasses() }); p.PerClass && !ok {
		return nil, fmt.Errorf("solvers: %s: %w: it keeps one sum of α, and ν-SVC has one in each class; use SMO", m.Name(), ErrUnsupported)
	}
	err = r.begin(alpha)
	if k.err != nil {
		return nil, k.err
	}
	if err != nil {
		return nil, fmt.Errorf("solvers: %s: %w", r.method.Name(), err)
	}
	status, err := r.loop(ctx)
	if k.err != nil {
		return nil, k.err
	}
	if err != nil {
		return nil, fmt.Errorf("solvers: %s: iteration %d: %w", r.method.Name(), r.it.Iteration, err)
	}
	res := &Result{
		Method: r.name(), Alpha: append([]float64(nil), r.it.Alpha...), Status: status,
		Iterations: r.it.Iteration, Evaluations: evaluations(p.K), Elapsed: time.Since(r.began), Trace: r.trace,
	}
	res.Certificate = q.certify(res.Alpha, r.exact)
	res.Certificate.Claimed = r.claimed
	if offset != nil {
		moved := q.moved(offset, res.Alpha)
		res.Certificate.Bias -= moved
		res.Certificate.Norm2 = max(0, res.Certificate.Norm2+2*p.Delta*moved)
	}
	res.Bias = res.Certificate.Bias
	if i := p.outside(res.Alpha); i >= 0 && res.Alpha[i]-res.Alpha[i] == 0 {
		return res, fmt.Errorf("solvers: %s, after %d iterations: %w: α_%d = %g is not in [%g, %g]", m.Name(), res.Iterations, ErrOutside, i, res.Alpha[i], p.Lower[i], p.Upper[i])
	}
	err = status.Err()
	if status == Interrupted {
		err = fmt.Errorf("solvers: %s stopped after %d iterations: %w", r.method.Name(), res.Iterations, context.Cause(ctx))
	}
	switch {
	case err != nil:
	case r.spoilt(res):
		err = r.inaccurate(res)
	case r.hollowEnd(res):
		err = farOff(res, p.K)
	}
	return res, err
}

// hollowEnd reports whether a method that could go no further has ended with a gap so
// large that W may be far from its maximum. A method can go no further where W has not
// grown for long, or too slowly for the method's budget, or where rounding of α changes F
// by as much as the optimality conditions are off. A method that ends by a rule of its
// own, as the perceptron does, is Exhausted. A hard margin may have an infinite primal.
// Where rounding of F is as large as the objectives, the gap says nothing, however small.
func (r *run) hollowEnd(res *Result) bool {
	c := res.Certificate
	if res.Status != Exhausted || math.IsInf(c.Primal, 0) {
		return false
	}
	total := l1(res.Alpha)
	if hollow(r.settings.Stop, relative(c.Rounding*total, c.Primal)) {
		return true
	}
	return hollow(r.settings.Stop, c.RelGap) && (r.stuck || !(c.MaxKKT > 64*0x1p-52*slices.Max(r.p.K.Diag())*total))
}

// l1 is Σ|aᵢ|.
func l1(a []float64) (total float64) {
	for _, v := range a {
		total += math.Abs(v)
	}
	return total
}

// farOff is the error of a run that has ended far from the optimum, and sets its status.
func farOff(res *Result, k Matrix) error {
	c := res.Certificate
	res.Status = Inaccurate
	return fmt.Errorf("solvers: %s, after %d iterations: W = %g hardly grows any more, but up to %g is not excluded; kernel values are up to %.3g, and α up to %.3g: %w",
		res.Method, res.Iterations, c.Dual, c.Primal+c.Rounding*l1(res.Alpha), slices.Max(k.Diag()), slices.Max(res.Alpha), ErrInaccurate)
}

// spoilt reports whether the answer is none: it is no number, or its objective is below
// that of the start by more than rounding in the two.
func (r *run) spoilt(res *Result) bool {
	if w := res.Certificate.Dual; !(math.Abs(w) <= mostUsable*mostUsable) {
		return true
	}
	from := r.from()
	size := math.Abs(from) + math.Abs(res.Certificate.Dual) + res.Certificate.Norm2
	for i, a := range res.Alpha {
		size += math.Abs(a * r.p.P[i])
	}
	return res.Certificate.Dual < from-1e-9*size
}

// from is the objective of the start: the first point of the trace has it.
func (r *run) from() float64 {
	if points := r.trace.Points; len(points) > 0 && points[0].Iteration == 0 && points[0].Dual-points[0].Dual == 0 {
		return points[0].Dual
	}
	return r.p.summarise(r.start, r.p.residual(r.start)).dual
}

// inaccurate is the error of an answer that is none, and sets its status.
func (r *run) inaccurate(res *Result) error {
	at := fmt.Sprintf("solvers: %s, after %d iterations: W = %g, and %g at the start", res.Method, res.Iterations, res.Certificate.Dual, r.from())
	if res.Status == IterationLimit || res.Status == TimeLimit {
		return fmt.Errorf("%s: %w", at, ErrBelowStart)
	}
	res.Status = Inaccurate
	return fmt.Errorf("%s; kernel values are up to %.3g, and α up to %.3g: %w", at, slices.Max(r.p.K.Diag()), slices.Max(res.Alpha), ErrInaccurate)
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
	given    *Problem
	p        *Problem  // the same about another origin
	offset   []float64 // which it is, or nil
	k        *checked  // p.K, where its rows are checked
	method   Method
	methods  []Method // to hand over to, in this order
	names    []string // of those before
	budget   int      // the iteration at which the method hands over
	start    []float64
	best     answer // of the methods before
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

	stuck     bool    // W has not grown for long, or a method has used up its budget and none takes over
	highest   float64 // the largest dual that look has seen
	still     int     // how often it has not grown since
	refreshed int
	audit     int // the iteration at which F of the engine is next computed afresh
	audited   float64
}

// answer is an α, its F computed afresh, and W.
type answer struct {
	alpha, f []float64
	dual     float64
}

// begin starts the next method.
func (r *run) begin(alpha []float64) (err error) {
	r.method, r.methods = r.methods[0], r.methods[1:]
	if r.st, err = r.method.Start(r.p, alpha); err != nil {
		return err
	}
	if b, ok := r.method.(interface{ budget(n int) int }); ok {
		r.budget = b.budget(len(alpha)) + r.it.Iteration
	} else {
		r.budget = math.MaxInt
	}
	r.refreshed, r.still, r.stuck, r.highest = 0, 0, false, -math.MaxFloat64
	r.audit, r.audited = r.it.Iteration+engineAudit, math.Inf(-1)
	if len(alpha) <= fastDense { // where that costs little
		r.audit = r.it.Iteration + engineAudit/8
	}
	r.unbounded, r.diverging, r.exhausted = false, false, false
	return nil
}

// handOver begins the next method from the best α so far, and reports false where there
// is none.
func (r *run) handOver() bool {
	if len(r.methods) == 0 || r.over() {
		return false
	}
	if r.keep(); len(r.methods) == 1 && r.best.alpha != nil && !r.possible(r.best.alpha) {
		return false
	}
	r.names = append(r.names, r.stage())
	for len(r.methods) > 0 {
		alpha := slices.Clone(r.start)
		if r.best.alpha != nil {
			copy(alpha, r.best.alpha)
		}
		before := r.method
		if st := r.st; r.begin(alpha) != nil {
			r.method, r.st = before, st
			continue
		}
		r.report()
		return true
	}
	r.names = r.names[:len(r.names)-1]
	return false
}

// keep makes the α that the method stands at the best, if it is.
func (r *run) keep() {
	alpha := r.it.Alpha
	if r.p.outside(alpha) >= 0 || !r.p.balanced(alpha) {
		return
	}
	f, in := r.residual(r.over)
	if !in {
		return
	}
	if w := r.p.summarise(alpha, f).dual; w > r.best.dual {
		r.best = answer{slices.Clone(alpha), f, w}
	}
}

// returnBest takes the best answer of the methods before where that of the last is worse.
func (r *run) returnBest() {
	if r.best.alpha == nil {
		return
	}
	w := r.p.summarise(r.it.Alpha, r.exact).dual
	if w >= r.best.dual && r.p.outside(r.it.Alpha) < 0 {
		return
	}
	r.it.Alpha, r.exact, r.claimed = r.best.alpha, r.best.f, false
	r.it.Bias, r.it.Working = math.NaN(), nil
	r.it.F, r.it.Partial, r.it.Rough = r.exact, false, false
	last := r.measure(time.Since(r.began))
	r.record(&last)
}

// name is that of the method, and of those that have handed over to it.
func (r *run) name() string {
	return strings.Join(append(slices.Clone(r.names), r.stage()), ", then ")
}

func (r *run) stage() string {
	if n, ok := r.st.(interface{ name() string }); ok {
		return n.name()
	}
	return r.method.Name()
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
			r.exhausted = r.exhausted || math.IsInf(pt.Dual, 0) || math.IsNaN(pt.Dual) && !it.Partial
		} else {
			pt.Iteration, pt.Elapsed, pt.Step = it.Iteration, elapsed, it.Step
			pt.Up, pt.Low, pt.KKT, pt.Surrogate = it.Up, it.Low, r.p.worst(it.Up, it.Low), it.Surrogate
		}
		if it.Iteration >= r.audit {
			r.inspect()
		}
		if it.Iteration >= r.budget && r.met(pt) == NotTerminated {
			if r.handOver() {
				continue
			}
			r.exhausted, r.stuck = true, true
		}
		if status := r.verdict(r.met(pt)); status != NotTerminated && !r.goesOn(status) {
			status = r.verify(status, elapsed)
			if r.k.err != nil {
				return status, r.k.err
			}
			if (status == Exhausted || status == Diverging) && r.handOver() {
				continue
			}
			if status != NotTerminated {
				if status != Converged { // an answer before that has not met the criterion is none, however good W
					defer r.returnBest()
				}
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
			if r.k.err != nil || !r.handOver() {
				return NotTerminated, err
			}
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
	if status == Converged && (!r.p.balanced(r.it.Alpha) || r.p.outside(r.it.Alpha) >= 0 || r.hollow(pt)) {
		return NotTerminated
	}
	return status
}

// hollowGap is the relative gap from which on no criterion is believed: W may be half of
// what it could be. Where C is huge, the conditions hold to a thousandth long before.
const hollowGap = 0.5

// hollow reports whether an iterate at which the criterion is met has such a gap.
func (r *run) hollow(pt *Point) bool {
	gap := pt.RelGap
	if math.IsNaN(gap) && !r.it.Partial && r.it.F != nil && !r.it.Rough {
		gap = r.measure(0).RelGap
	}
	return hollow(r.settings.Stop, gap) && !math.IsNaN(gap)
}

// hollow reports whether a relative gap is NaN, or so large that the criterion alone proves
// nothing. The criterion Growth makes no claim about the gap and is exempt.
func hollow(stop Criterion, gap float64) bool {
	_, growth := stop.(Growth)
	return !growth && !(gap <= hollowGap)
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
	if status != Exhausted && status != Converged {
		return status
	}
	it.F, it.Rough = r.exact, false
	pt := r.measure(elapsed)
	if met := r.met(&pt); met == Converged && !r.sure(pt) {
		return Exhausted
	} else if met != NotTerminated {
		return met
	}
	if !partial { // else it was asked of the active points only
		r.refreshed++
	}
	if r.refreshed > 3 || !ok && status == Exhausted {
		return Exhausted
	}
	if ok {
		v.refresh(r.exact)
	}
	r.exhausted = false
	return NotTerminated
}

// sure reports whether the criterion is met wherever rounding of the kernel values may
// have moved F.
func (r *run) sure(pt Point) bool {
	by := r.p.rounding(r.it.Alpha)
	pt.Up, pt.Low, pt.KKT = pt.Up+by, pt.Low-by, pt.KKT+by
	return r.met(&pt) != NotTerminated
}

// possible reports whether the criterion could be met near α in spite of rounding.
func (r *run) possible(alpha []float64) bool {
	by := r.p.rounding(alpha)
	pt := Point{Iteration: r.it.Iteration, Up: by, Low: -by, KKT: by}
	r.within = theCriterion
	status := r.settings.Stop.Met(&pt, &r.trace)
	r.within = theMethod
	return status != NotTerminated
}

// engineAudit is the working set after which, and after twice as many each time, F of the
// engine is computed afresh: rounding to single precision may make W seem to grow while it
// falls.
const engineAudit = 256

// inspect goes on from an F of the engine computed afresh. A W that has not grown since
// the last time ends the run.
func (r *run) inspect() {
	e, ok := r.st.(*engine)
	if r.audit += r.audit; !ok {
		r.audit = math.MaxInt
		return
	}
	f, in := r.residual(r.over)
	if !in {
		return
	}
	w := r.p.summarise(r.it.Alpha, f).dual
	if e.refresh(f); !(w > r.audited) {
		r.exhausted, r.stuck = true, true
	}
	r.audited = w
	r.report()
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
	r.stuck = r.still > 1
	r.exhausted = r.exhausted || r.stuck
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
	if len(r.settings.Observers) > 0 {
		seen := r.seen()
		for _, o := range r.settings.Observers {
			o(seen, pt)
		}
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

// seen is the iterate as observers see it, about the origin of the programme.
func (r *run) seen() *Iterate {
	if r.offset == nil {
		return &r.it
	}
	it, moved := r.it, r.p.moved(r.offset, r.it.Alpha)
	it.F = slices.Clone(it.F)
	for i := range it.F {
		it.F[i] -= moved
	}
	it.Up, it.Low, it.Bias = it.Up-moved, it.Low-moved, it.Bias-moved
	return &it
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
		Free: s.free, Bound: s.atUpper, Active: it.Active, Evaluations: evaluations(r.given.K), Surrogate: it.Surrogate,
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
	if r.offset != nil {
		r.moveBack(&pt, s.norm2)
	}
	return pt
}

// moveBack gives what depends on the origin the value that it has about that of the
// programme.
func (r *run) moveBack(pt *Point, norm2 float64) {
	alpha := r.it.Alpha
	moved, sum := r.p.moved(r.offset, alpha), r.p.Delta
	pt.Bias, pt.Up, pt.Low = pt.Bias-moved, pt.Up-moved, pt.Low-moved
	if !r.p.balanced(alpha) { // of an iterate on its way the two differ in W too
		sum = 0
		for i, a := range alpha {
			sum += r.p.S[i] * a
		}
		more := (sum - r.p.Delta) * moved
		pt.Dual, pt.Primal = pt.Dual-more, pt.Primal-more
	}
	if norm2 += 2 * sum * moved; norm2 > 0 {
		pt.Margin = 1 / math.Sqrt(norm2)
	}
}

// unmeasured is a point of an iterate whose F is not known for all points.
func (r *run) unmeasured(elapsed time.Duration) Point {
	it, nan := &r.it, math.NaN()
	pt := Point{
		Iteration: it.Iteration, Elapsed: elapsed, Primal: nan, Dual: nan, Gap: nan, RelGap: nan, KKT: r.p.worst(it.Up, it.Low), Up: it.Up, Low: it.Low,
		Equality: r.p.equality(it.Alpha), Margin: nan, Bias: (it.Up + it.Low) / 2, Step: it.Step, Active: it.Active, Evaluations: evaluations(r.given.K), Surrogate: nan,
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
	if r.offset != nil {
		r.moveBack(&pt, nan)
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
