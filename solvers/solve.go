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

// Solve runs m on p until the criterion is met, a limit is hit, ctx ends, or
// nothing can improve. It is the only loop: it measures, records, stops and
// certifies, and m does the mathematics. What else m can do it says by the hooks in
// hooks.go.
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
	alpha, err := p.start(s.Start)
	if err != nil {
		return nil, err
	}
	r.prepare(ctx, p, m, s, alpha)
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

// given checks what a run is given besides the problem and the method.
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

// prepare poses the programme as the run sees it: about the middle of the points where they
// lie far from the origin, with a K whose rows are checked.
func (r *run) prepare(ctx context.Context, p *Problem, m Method, s Settings, alpha []float64) {
	of, offset := p.centred()
	q, k := *of, rows.Check(of.K, badRow)
	if points := PointsOf(q.K); points != nil {
		k.Matrix = points
	}
	if _, ok := q.K.(Features); !ok { // those were checked when they were made
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

// failure is the error of a run without an answer: that of a kernel value before that of
// the method.
func (r *run) failure(at string, err error) error {
	if r.k.Err() != nil {
		return r.k.Err()
	}
	return fmt.Errorf("solvers: %s: %s%w", r.method.Name(), at, err)
}

// result certifies where the run has ended.
func (r *run) result(status Status) *Result {
	res := &Result{
		Method: r.name(), Alpha: slices.Clone(r.it.Alpha), Status: status,
		Iterations: r.it.Iteration, Evaluations: rows.Evaluations(r.given.K), Elapsed: time.Since(r.began), Trace: r.trace,
	}
	res.Certificate = r.p.certify(res.Alpha, r.exact)
	res.Certificate.Claimed = r.claimed
	if r.offset != nil {
		moved := r.p.moved(r.offset, res.Alpha)
		res.Certificate.Bias -= moved
		res.Certificate.Norm2 = max(0, res.Certificate.Norm2+2*r.given.Delta*moved)
	}
	res.Bias = res.Certificate.Bias
	return res
}

// judge returns the error that comes with an answer, or nil, and corrects its status.
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

// endsUnproven reports whether a method that could go no further has ended with a gap so
// large that W may be far from its maximum.
//
// Such a method has seen W not grow for long, or too slowly for its budget; or it has taken
// over from another; or rounding of α changes F by as much as the optimality conditions are
// off. Where rounding of F is as large as the objectives, the gap says nothing, however
// small. Two cases are left out: the primal of a hard margin may be infinite, and a method
// may end by a rule of its own, as the perceptron does.
func (r *run) endsUnproven(res *Result) bool {
	c := res.Certificate
	if res.Status != Exhausted || math.IsInf(c.Primal, 0) {
		return false
	}
	total := l1(res.Alpha)
	if unproven(r.settings.Stop, relative(c.Rounding*total, c.Primal)) {
		return true
	}
	return unproven(r.settings.Stop, c.RelGap) && (r.stuck || len(r.names) > 0 || !(c.MaxKKT > 64*0x1p-52*slices.Max(r.p.K.Diag())*total))
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

// from is the objective of the start: the first point of the trace has it.
func (r *run) from() float64 {
	if points := r.trace.Points; len(points) > 0 && points[0].Iteration == 0 && points[0].Dual-points[0].Dual == 0 {
		return points[0].Dual
	}
	return r.p.summarise(r.start, r.p.F(r.start)).dual
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
