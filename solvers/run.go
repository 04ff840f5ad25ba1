package solvers

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/svmnb/svmnb/internal/rows"
)

// run is one call of Solve.
type run struct {
	given    *Problem
	p        *Problem      // the same about another origin
	offset   []float64     // which it is, or nil
	k        *rows.Checked // p.K, where its rows are checked
	method   Method
	stages   []Stage  // to come
	staged   bool     // there was more than one
	names    []string // of those before
	budget   int      // the iteration at which the method hands over
	start    []float64
	best     answer // of the methods before
	st       Stepper
	settings Settings
	began    time.Time
	ctx      context.Context // whose end interrupts
	it       Iterate
	recorder
	elapsed  time.Duration
	unknown  Point     // of an iteration that is not sampled
	measured Point     // of one that is
	next     int       // the next iteration to sample
	sampled  bool      // this one is
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
	audit     int     // the iteration at which an F in single precision is next computed afresh
	audited   float64 // W then
}

// answer is an α, its F computed afresh, and W.
type answer struct {
	alpha, f []float64
	dual     float64
}

// begin starts the next stage.
func (r *run) begin(alpha []float64) (err error) {
	stage := r.stages[0]
	r.method, r.stages = stage.Method, r.stages[1:]
	if err := accepts(r.method, r.p); err != nil {
		return err
	}
	if r.st, err = r.method.Start(r.p, alpha); err != nil {
		return err
	}
	r.budget = math.MaxInt
	if stage.Iterations > 0 {
		r.budget = r.it.Iteration + stage.Iterations
	}
	r.refreshed, r.still, r.stuck, r.highest = 0, 0, false, -math.MaxFloat64
	r.audit, r.audited = r.it.Iteration+auditFrom, math.Inf(-1)
	if len(alpha) <= auditSooner {
		r.audit = r.it.Iteration + auditFrom/8
	}
	r.unbounded, r.diverging, r.exhausted = false, false, false
	return nil
}

// handOver begins the next stage from the best α so far, and reports false where there
// is none.
func (r *run) handOver() bool {
	if len(r.stages) == 0 || r.over() {
		return false
	}
	if r.keep(); len(r.stages) == 1 && r.best.alpha != nil && !r.possible(r.best.alpha) {
		return false
	}
	r.names = append(r.names, r.stage())
	for len(r.stages) > 0 {
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
	f, in := r.afresh()
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
	if n, ok := r.st.(Namer); ok {
		return n.Name()
	}
	return r.method.Name()
}

// loop looks where the method stands, decides whether that is the end, and steps.
func (r *run) loop(ctx context.Context) (Status, error) {
	nan := math.NaN()
	r.unknown = Point{Primal: nan, Dual: nan, Gap: nan, RelGap: nan, Equality: nan, Margin: nan, Bias: nan, Surrogate: nan}
	for {
		pt := r.observe()
		if r.k.Err() != nil {
			return NotTerminated, r.k.Err()
		}
		status, again := r.decide(pt)
		if r.k.Err() != nil {
			return status, r.k.Err()
		}
		if again {
			continue
		}
		if status != NotTerminated {
			r.conclude(status)
			return status, nil
		}
		if err := r.step(ctx); err != nil {
			return NotTerminated, err
		}
	}
}

// observe asks the method where it stands, and measures and records that where a sample
// is due.
func (r *run) observe() *Point {
	r.report()
	it := &r.it
	if r.k.Err() != nil {
		return nil
	}
	// Of part of the points there is no gap: the next F of all makes good for it.
	r.sampled = it.Iteration >= r.next || r.owes && it.F != nil
	if r.sampled || it.Iteration%64 == 0 {
		r.elapsed = time.Since(r.began)
	}
	if window := max(10_000, r.trace.N); it.Iteration%window == 0 && it.Iteration > 0 {
		r.look()
	}
	if !r.sampled {
		pt := &r.unknown
		pt.Iteration, pt.Elapsed, pt.Step = it.Iteration, r.elapsed, it.Step
		pt.Up, pt.Low, pt.KKT, pt.Surrogate = it.Up, it.Low, r.p.worst(it.Up, it.Low), it.Surrogate
		return pt
	}
	pt := &r.measured
	*pt = r.measure(r.elapsed)
	r.record(pt)
	r.owes = it.F == nil && r.settings.Every == 0
	r.exhausted = r.exhausted || math.IsInf(pt.Dual, 0) || math.IsNaN(pt.Dual) && !it.Partial
	return pt
}

// decide returns the status of the run at pt. again means that another stage has taken
// over, and stands somewhere else.
func (r *run) decide(pt *Point) (status Status, again bool) {
	if r.it.Iteration >= r.audit {
		r.inspect()
	}
	if r.it.Iteration >= r.budget && r.met(pt) == NotTerminated {
		if r.handOver() {
			return NotTerminated, true
		}
		r.exhausted, r.stuck = true, true
	}
	status = r.verdict(r.met(pt))
	if status == NotTerminated || r.goesOn(status) {
		return NotTerminated, false
	}
	status = r.verify(status, r.elapsed)
	again = r.k.Err() == nil && (status == Exhausted || status == Diverging) && r.handOver()
	return status, again
}

// conclude records the end of the run, with F computed afresh.
func (r *run) conclude(status Status) {
	if r.it.Single || !r.sampled {
		r.it.F, r.it.Rough = r.exact, false
		last := r.measure(time.Since(r.began))
		r.record(&last)
	}
	if status != Converged { // an answer before that has not met the criterion is none, however good W
		r.returnBest()
	}
}

// step lets the method step once. A stage that fails hands over to the next.
func (r *run) step(ctx context.Context) error {
	switch done, err := r.st.Step(ctx); {
	case errors.Is(err, ErrUnbounded) && (r.staged && r.p.Ridge != nil || r.p.hasBox()): // rounding may look like it
		if !r.handOver() {
			r.exhausted, r.stuck = true, true
		}
	case errors.Is(err, ErrUnbounded):
		r.unbounded = true
	case errors.Is(err, ErrDiverging):
		r.diverging = true
	case err != nil && ctx.Err() == nil:
		if r.k.Err() != nil || !r.handOver() {
			return err
		}
	case err == nil && done:
		r.exhausted = true
	case err == nil:
		r.it.Iteration++
	}
	return nil
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
	if status == Converged && (!r.p.balanced(r.it.Alpha) || r.p.outside(r.it.Alpha) >= 0 || r.unproven(pt)) {
		return NotTerminated
	}
	return status
}

// unprovenGap is the relative gap from which on no criterion is believed: W may be half of
// what it could be. Where C is huge, the conditions hold to a thousandth long before.
const unprovenGap = 0.5

// unproven reports whether an iterate at which the criterion is met has such a gap.
func (r *run) unproven(pt *Point) bool {
	gap := pt.RelGap
	if math.IsNaN(gap) && !r.it.Partial && r.it.F != nil && !r.it.Rough {
		gap = r.measure(0).RelGap
	}
	return unproven(r.settings.Stop, gap) && !math.IsNaN(gap)
}

// unproven reports whether a relative gap is NaN, or so large that the criterion alone proves
// nothing. A criterion that makes no claim about the gap is exempt.
func unproven(stop Criterion, gap float64) bool {
	_, unclaimed := stop.(Unclaimed)
	return !unclaimed && !(gap <= unprovenGap)
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
	if r.ctx.Err() != nil {
		return Interrupted
	}
	return NotTerminated
}

// goesOn reports whether a run that could end is to bring its answer first.
func (r *run) goesOn(status Status) bool {
	c, ok := r.st.(Concluder)
	return ok && status == Converged && !r.exhausted && r.it.Iteration < r.settings.MaxIterations && c.Conclude()
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
