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
	p        *Problem      // the same problem after prepare, perhaps with another origin
	offset   []float64     // the h of centred, or nil
	k        *rows.Checked // p.K with a check of its rows
	method   Method
	stages   []Stage  // the stages that follow
	staged   bool     // there is more than one stage
	names    []string // names of the methods that have handed over
	budget   int      // the iteration at which the method must hand over
	start    []float64
	startF   []float64 // its F for the first stage, or nil
	resume   *Saved    // what the first stage goes on from, or nil
	best     answer    // the best answer of the earlier stages
	st       Stepper
	settings Settings
	began    time.Time
	ctx      context.Context // the context of Solve; its end interrupts the run
	it       Iterate
	recorder
	elapsed  time.Duration
	unknown  Point      // point of an iteration that is not sampled
	measured Point      // point of a sampled iteration
	next     int        // the next iteration to sample
	sampled  bool       // the current iteration is sampled
	known    []float64  // the F of the last measurement
	judges   []Observer // those of the criterion
	owes     bool       // the last sample lacked F of some points
	exact    []float64  // F computed afresh at the end
	sums     *sums      // the sums of the last F computed afresh, if they are kept
	waits    time.Time  // when the interrupt was first seen
	claimed  bool       // exact is not computed afresh, but is the F that the method maintained
	outdated bool       // exact is out of date for the points that the method had left out
	flat2    float64    // a hard margin below √flat2 counts as no margin

	unbounded, diverging, exhausted bool // reported by the method or found by look
	within                          code // which code is running, for the message of a panic

	stuck     bool    // W has not grown for a long time, or the last method has used up its iterations
	highest   float64 // the largest dual that look has seen
	still     int     // how many times in a row the dual did not exceed highest
	refreshed int
	audit     int     // the next iteration at which inspect checks an F in single precision
	audited   float64 // W at the last check
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
	f, saved := r.startF, r.resume
	r.startF, r.resume = nil, nil // later stages start from another α
	if m, ok := r.method.(Resumer); ok && saved != nil {
		r.st, err = m.Resume(r.p, alpha, saved)
	} else {
		r.st, err = startAt(r.method, r.p, alpha, f)
	}
	if err != nil {
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

// handOver begins the next stage from the best α so far. It reports false if no stage is left
// or no stage can improve the answer.
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

// keep stores the current α as the best answer, if its W is the largest so far.
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

// returnBest makes the best answer of the earlier stages the result, if it is better than the
// last one.
func (r *run) returnBest() {
	if r.best.alpha == nil || r.outdated {
		return
	}
	w := r.p.summarise(r.it.Alpha, r.exact).dual
	if w >= r.best.dual && r.p.outside(r.it.Alpha) < 0 {
		return
	}
	r.it.Alpha, r.exact, r.claimed, r.outdated = r.best.alpha, r.best.f, false, false
	r.it.Bias, r.it.Working = math.NaN(), nil
	r.it.F, r.it.Partial, r.it.Rough = r.exact, false, false
	last := r.measure(time.Since(r.began))
	r.record(&last)
}

// name returns the name of the method, after those of the methods that have handed over.
func (r *run) name() string {
	return strings.Join(append(slices.Clone(r.names), r.stage()), ", then ")
}

func (r *run) stage() string {
	if n, ok := r.st.(Namer); ok {
		return n.Name()
	}
	return r.method.Name()
}

// loop repeats: observe the method, decide whether the run ends, make a step.
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

// observe asks the method for its iterate. If a sample is due, it measures and records it.
func (r *run) observe() *Point {
	r.report()
	it := &r.it
	if r.k.Err() != nil {
		return nil
	}
	// A sample without F of all points has no gap. The next iterate that has F of all is
	// sampled in its place.
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

// decide returns the status of the run at pt. again reports that another stage has taken over,
// so the loop must observe the new iterate first.
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
	if status != Converged { // only an answer that has met the criterion stands; any other is compared by W with those of earlier stages
		r.returnBest()
	}
}

// step lets the method make one step. If a stage fails, the next one takes over.
func (r *run) step(ctx context.Context) error {
	switch done, err := r.st.Step(ctx); {
	case errors.Is(err, ErrUnbounded) && (r.staged && r.p.Ridge != nil || r.p.hasBox()): // with a bounded dual this is an effect of rounding
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

// met asks the criterion. A method may have s'α ≠ δ during a run, but such an α does not count
// as converged.
func (r *run) met(pt *Point) Status {
	r.within = theCriterion
	status := r.settings.Stop.Met(pt, &r.trace)
	r.within = theMethod
	if status == Converged && (!r.p.balanced(r.it.Alpha) || r.p.outside(r.it.Alpha) >= 0 || r.unproven(pt)) {
		return NotTerminated
	}
	return status
}

// unprovenGap is the relative gap above which no criterion is believed, since W may be half of
// its maximum. With a huge C the KKT conditions hold to 1e-3 long before the gap is small.
const unprovenGap = 0.5

// unproven reports whether the criterion is met at pt with a relative gap above unprovenGap.
func (r *run) unproven(pt *Point) bool {
	gap := pt.RelGap
	if math.IsNaN(gap) && !r.it.Partial && r.it.F != nil && !r.it.Rough {
		gap = r.measure(0).RelGap
	}
	return unproven(r.settings.Stop, gap) && !math.IsNaN(gap)
}

// unproven reports whether a relative gap is NaN or above unprovenGap, so that the criterion
// alone proves nothing. It is false for an [Unclaimed] criterion.
func unproven(stop Criterion, gap float64) bool {
	_, unclaimed := stop.(Unclaimed)
	return !unclaimed && !(gap <= unprovenGap)
}

// verdict combines the answer of the criterion with all other reasons to end a run.
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

// goesOn reports whether a run that has met its criterion needs more steps to reach its
// answer; see Concluder.
func (r *run) goesOn(status Status) bool {
	c, ok := r.st.(Concluder)
	return ok && status == Converged && !r.exhausted && r.it.Iteration < r.settings.MaxIterations && c.Conclude()
}

// look is called once per window of at least 10,000 iterations. In such a window W should
// grow. If it has not grown by a rounding unit in two windows, the run is going round in
// circles because of rounding and ends. look also detects a hard margin problem without
// solution.
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

// flatness returns the square of the margin below which a hard margin counts as no margin: a
// millionth of the distance from the first point to the farthest or, with a fixed bias, of the
// largest distance from the origin. It is 0 for problems that are not hard margins.
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

// inseparable reports whether α proves that the margin of the classes is at most √flat2. For
// each class, the weights α/½Σα give a point in its convex hull, and ‖w‖/½Σα is the distance
// of these two points, which is at least twice the margin. With a fixed bias, weak duality
// along the ray tα gives ‖w*‖ ≥ Σ α_i(1 − y_i b₀) / ‖w‖.
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
