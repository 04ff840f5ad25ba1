package solvers

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/svmnb/svmnb/internal/panics"
	"github.com/svmnb/svmnb/internal/rows"
)

// Settings say when a run stops, where it starts and what it records. The zero value stops at
// UpLow{1e-3} and samples log-spaced iterations.
type Settings struct {
	Stop          Criterion // nil means UpLow{1e-3}
	Start         []float64 // feasible α of length n; nil means the point of the box nearest to 0, moved until s'α = δ. Interior-point methods begin inside the box instead
	StartF        []float64 // F of Start, n values; nil means that it is not known. Entries of points with s α ≠ 0 are exact, others may come from single precision
	Resume        *Saved    // what an observer has saved of a run that ended too early; it takes the place of Start
	MaxIterations int       // 0 means max(10⁷, 100 n)

	// Every says which iterations the trace samples. 0 means every iteration up to the
	// hundredth, and then iterations whose distance is a hundredth of their number. If such an
	// iteration has F of part of the points only, the next one with F of all is sampled too. k
	// > 0 means every k-th, −1 only the first and the last.
	Every int

	// Observers are called with every sampled point, in order. They must not change it.
	Observers []Observer
}

// Observer is a function that Solve calls with a sampled point and the iterate that it
// measures.
type Observer func(it *Iterate, pt *Point)

// Solve runs m on p until the criterion is met, a limit is reached, ctx ends, or no step can
// improve the objective. Every method runs in this loop: Solve measures, records, stops and
// certifies, and m does the mathematics. m announces what else it can do by the interfaces in
// hooks.go.
//
// A limit is a Status and not an error. The result comes together with an error in these
// cases:
//
//   - an interrupt; the error wraps context.Cause(ctx);
//   - ErrUnbounded: the dual has no maximum;
//   - ErrDiverging: the steps overshoot;
//   - ErrOutside: the method has left the box;
//   - ErrBelowStart: a limit ended the run while the answer was worse than the start;
//   - ErrInaccurate: the answer is worse than the start or NaN, or rounding has stopped the method
//     while W may be less than half of its maximum.
//
// With every other error the result is nil: a *ProblemError for bad numbers (those in K are
// found when their row is first used), and ErrUnsupported.
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
	if m == nil {
		return nil, &ProblemError{"m", -1, math.NaN(), "the method is nil; give one such as SMO{}"}
	}
	if err := given(ctx, &s); err != nil {
		return nil, err
	}
	if err := p.Check(); err != nil {
		return nil, err
	}
	s.MaxIterations = cmp.Or(s.MaxIterations, max(10_000_000, 100*p.K.Dim()))
	if s.Resume != nil {
		s.Start, s.StartF = s.Resume.Alpha, nil
	}
	alpha, err := p.start(s.Start)
	if err != nil {
		return nil, err
	}
	stop, observers, err := begin(s.Stop, p)
	if err != nil {
		return nil, err
	}
	if observers != nil { // otherwise the criterion stays the same value
		s.Stop = stop
	}
	r.prepare(ctx, p, m, s, alpha)
	r.judges = observers
	if s.Start != nil && r.offset == nil {
		r.knows(s.StartF)
		r.resume = s.Resume
	}
	if err := r.begin(alpha); r.k.Err() != nil || err != nil {
		return nil, r.failure("", err)
	}
	status, err := r.loop(ctx)
	if r.k.Err() != nil || err != nil {
		return nil, r.failure(fmt.Sprintf("iteration %d: ", r.it.Iteration), err)
	}
	res := r.result(status)
	return res, r.judge(ctx, res)
}

// given checks the context and the settings, and fills in the default criterion.
func given(ctx context.Context, s *Settings) error {
	if ctx == nil {
		return errNoContext
	}
	for i, o := range s.Observers {
		if o == nil {
			return &ProblemError{"Observers", i, math.NaN(), "the observer is nil; leave it out"}
		}
	}
	if s.MaxIterations < 0 {
		return &ProblemError{"MaxIterations", -1, float64(s.MaxIterations), fmt.Sprintf("is %d; it must be positive, or 0 for the default", s.MaxIterations)}
	}
	if s.Stop == nil {
		s.Stop = UpLow{1e-3}
	}
	return nil
}

// prepare builds the problem that the run works on. If the points lie far from the origin, it
// is centred. Rows of its K are checked.
func (r *run) prepare(ctx context.Context, p *Problem, m Method, s Settings, alpha []float64) {
	of, offset := p.centred()
	q, k := *of, rows.Check(of.K, badRow)
	if points := PointsOf(q.K); points != nil {
		k.Matrix = points
	}
	if _, ok := q.K.(Features); !ok { // Features were checked when they were made
		twice := PointsOf(q.K) != nil
		q.K = k
		if twice {
			q.K = Double(q.K)
		}
	}
	*r = run{
		given: p, p: &q, k: k, offset: offset, began: time.Now(), settings: s, ctx: ctx, stages: []Stage{{Method: m}}, highest: -math.MaxFloat64, budget: math.MaxInt,
		start: slices.Clone(alpha), recorder: newRecorder(len(alpha)), best: answer{dual: math.Inf(-1)},
	}
	if s.Every >= 0 {
		r.trace.Points = make([]Point, 0, 128)
	}
	r.flat2 = q.flatness()
	if c, ok := m.(Chooser); ok {
		r.stages = c.Choose(&q)
		r.staged = len(r.stages) > 1
	}
}

// knows takes over the F of the start, so that only changes of α cost kernel values.
func (r *run) knows(f []float64) {
	n := len(r.start)
	if len(f) != n || PointsOf(r.p.K) != nil || !slices.Equal(r.start, r.settings.Start) {
		return
	}
	r.startF = slices.Clone(f)
	s := &sums{make([]float64, n), r.p.withoutK(r.start), make([]float64, n)}
	slack := 0x1p-22 * rows.Largest(r.p.K) * l1(r.start)
	for i, a := range r.start {
		s.coef[i], s.sum[i] = -r.p.S[i]*a, f[i]-s.sum[i]
		if a == 0 {
			s.slack[i] = slack
		}
	}
	r.sums = s
}

// failure returns the error of a run without an answer. A bad kernel value takes precedence
// over the error of the method.
func (r *run) failure(at string, err error) error {
	if r.k.Err() != nil {
		return r.k.Err()
	}
	return fmt.Errorf("solvers: %s: %s%w", r.method.Name(), at, err)
}

// result makes the Result, with its certificate, from the end of the run.
func (r *run) result(status Status) *Result {
	res := &Result{
		Method: r.name(), Alpha: slices.Clone(r.it.Alpha), Status: status,
		Iterations: r.it.Iteration, Evaluations: rows.Evaluations(r.given.K), Elapsed: time.Since(r.began), Trace: r.trace,
	}
	res.Certificate = r.p.certify(res.Alpha, r.exact)
	res.Certificate.Claimed = r.claimed
	if r.outdated {
		res.Certificate.forget()
	}
	if !r.claimed {
		res.F = slices.Clone(r.exact)
	}
	if r.offset != nil {
		moved := r.p.moved(r.offset, res.Alpha)
		for i := range res.F {
			res.F[i] -= moved
		}
		res.Certificate.Bias -= moved
		res.Certificate.Norm2 = max(0, res.Certificate.Norm2+2*r.given.Delta*moved)
	}
	res.Bias = res.Certificate.Bias
	return res
}

// judge returns the error that comes with an answer, or nil. It may correct the status of res.
func (r *run) judge(ctx context.Context, res *Result) error {
	p := r.given
	if i := p.outside(res.Alpha); i >= 0 && res.Alpha[i]-res.Alpha[i] == 0 {
		return fmt.Errorf("solvers: %s, after %d iterations: %w: α_%d = %g is not in [%g, %g]", res.Method, res.Iterations, ErrOutside, i, res.Alpha[i], p.Lower[i], p.Upper[i])
	}
	switch err := res.Status.Err(); {
	case res.Status == Interrupted:
		return fmt.Errorf("solvers: %s stopped after %d iterations: %w", r.method.Name(), res.Iterations, context.Cause(ctx))
	case err != nil:
		return err
	case r.spoilt(res):
		return r.inaccurate(res)
	case r.endsUnproven(res):
		return farOff(res, p.K)
	}
	return nil
}

// endsUnproven reports whether a method that could not improve any more has ended with a gap
// so large that W may be far from its maximum.
//
// It is true if the rounding error of F is as large as the objectives, since the gap then
// proves nothing. For a gap above unprovenGap it is true in three cases: W has not grown for a
// long time or the iterations of the method were used up; the method has taken over from
// another; or the remaining violation is only rounding. It is false if the primal of a hard
// margin is infinite, or if a method ends by a rule of its own, as the perceptron does.
func (r *run) endsUnproven(res *Result) bool {
	c := res.Certificate
	if res.Status != Exhausted || math.IsInf(c.Primal, 0) {
		return false
	}
	total := l1(res.Alpha)
	if unproven(r.settings.Stop, relative(c.Rounding*total, c.Primal)) {
		return true
	}
	return unproven(r.settings.Stop, c.RelGap) && (r.stuck || len(r.names) > 0 || !(c.MaxKKT > 64*0x1p-52*rows.Largest(r.p.K)*total))
}

// l1 returns Σ|aᵢ|.
func l1(a []float64) (total float64) {
	for _, v := range a {
		total += math.Abs(v)
	}
	return total
}

// farOff sets the status of a run that has ended far from the optimum, and returns its error.
func farOff(res *Result, k Matrix) error {
	c := res.Certificate
	res.Status = Inaccurate
	return fmt.Errorf("solvers: %s, after %d iterations: W = %g hardly grows any more, but up to %g is not excluded; kernel values are up to %.3g, and α up to %.3g: %w",
		res.Method, res.Iterations, c.Dual, c.Primal+c.Rounding*l1(res.Alpha), rows.Largest(k), slices.Max(res.Alpha), ErrInaccurate)
}

// spoilt reports whether W is NaN or too large to use, or smaller than at the start by more
// than rounding.
func (r *run) spoilt(res *Result) bool {
	if w := res.Certificate.Dual; !(math.Abs(w) <= rows.MostUsable*rows.MostUsable) {
		return true
	}
	from := r.from()
	size := math.Abs(from) + math.Abs(res.Certificate.Dual) + res.Certificate.Norm2
	for i, a := range res.Alpha {
		size += math.Abs(a * r.p.P[i])
	}
	return res.Certificate.Dual < from-1e-9*size
}

// from returns W at the start. Usually it is in the first point of the trace.
func (r *run) from() float64 {
	if r.settings.Resume != nil { // W of its start may not be known
		return -math.MaxFloat64
	}
	if points := r.trace.Points; len(points) > 0 && points[0].Iteration == 0 && points[0].Dual-points[0].Dual == 0 {
		return points[0].Dual
	}
	return r.p.summarise(r.start, r.p.F(r.start)).dual
}

// inaccurate returns the error of a spoilt answer, and sets its status unless a limit ended
// the run.
func (r *run) inaccurate(res *Result) error {
	at := fmt.Sprintf("solvers: %s, after %d iterations: W = %g, and %g at the start", res.Method, res.Iterations, res.Certificate.Dual, r.from())
	if res.Status == IterationLimit || res.Status == TimeLimit {
		return fmt.Errorf("%s: %w", at, ErrBelowStart)
	}
	res.Status = Inaccurate
	return fmt.Errorf("%s; kernel values are up to %.3g, and α up to %.3g: %w", at, rows.Largest(r.p.K), slices.Max(res.Alpha), ErrInaccurate)
}

// PanicError is the error of a panic in code that Solve has called.
type PanicError = panics.Error

// code says whose code is running: that of the method, the criterion or an observer.
type code int

const (
	theMethod code = iota
	theCriterion
	anObserver
)
