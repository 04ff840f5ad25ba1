package solvers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// Settings are what a run does besides its mathematics. The zero value stops
// at UpLow{1e-3} and samples log-spaced iterations.
type Settings struct {
	Stop          Criterion // nil means UpLow{1e-3}
	Start         []float64 // feasible α of length n; nil means 0, moved until s'α = δ
	MaxIterations int       // 0 means max(10⁷, 100 n)

	// Every is the sampling of the trace: 0 takes every iteration up to the
	// hundredth and then one in a hundredth of the count, k > 0 every k-th, −1
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

// Solve runs m on p until the criterion is met, a limit is hit, ctx ends, or
// nothing can improve. It is the only loop: it measures, records, stops and
// certifies, and m does the mathematics.
//
// A result comes with every error except a *ProblemError, ErrUnsupported and
// ErrUnbounded: an interrupt returns what there is, with an error that wraps
// context.Cause(ctx). A limit is a Status and no error.
func Solve(ctx context.Context, p *Problem, m Method, s Settings) (*Result, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	alpha, err := p.start(s.Start)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	st, err := m.Start(p, alpha)
	if err != nil {
		return nil, fmt.Errorf("solvers: %s: %w", m.Name(), err)
	}
	r := run{p: p, st: st, began: began, settings: s, done: ctx.Done(), last: make([]float64, len(alpha))}
	if r.settings.Stop == nil {
		r.settings.Stop = UpLow{1e-3}
	}
	if r.settings.MaxIterations == 0 {
		r.settings.MaxIterations = max(10_000_000, 100*len(alpha))
	}
	r.trace.N = len(alpha)
	r.flat2 = p.flatness()
	status, err := r.loop(ctx)
	if err != nil {
		return nil, fmt.Errorf("solvers: %s: iteration %d: %w", m.Name(), r.it.Iteration, err)
	}
	res := &Result{
		Method: m.Name(), Alpha: append([]float64(nil), r.it.Alpha...), Status: status,
		Iterations: r.it.Iteration, Evaluations: evaluations(p.K), Elapsed: time.Since(began), Trace: r.trace,
	}
	res.Certificate = p.certify(res.Alpha, r.exact)
	res.Bias = res.Certificate.Bias
	if status == Interrupted {
		return res, fmt.Errorf("solvers: %s stopped after %d iterations: %w", m.Name(), res.Iterations, context.Cause(ctx))
	}
	return res, status.Err()
}

type run struct {
	p        *Problem
	st       Stepper
	settings Settings
	began    time.Time
	done     <-chan struct{}
	it       Iterate
	pt       Point // what is known of it; here because a criterion takes its address
	trace    Trace
	last     []float64 // α at the last sampled point
	next     int       // the next iteration to sample
	exact    []float64 // F computed afresh at the end
	flat2    float64   // a hard margin below √flat2 counts as none
}

func (r *run) loop(ctx context.Context) (Status, error) {
	exhausted, unbounded, diverging, refreshed := false, false, false, 0
	elapsed := time.Duration(0)
	for {
		it := &r.it
		iteration := it.Iteration
		*it = Iterate{Iteration: iteration, Up: math.NaN(), Low: math.NaN(), Step: math.NaN(), Active: r.trace.N}
		r.st.Report(it)
		sample := iteration >= r.next
		if sample || iteration%64 == 0 {
			elapsed = time.Since(r.began)
		}
		pt := &r.pt
		if sample {
			*pt = r.measure(elapsed)
			r.record(*pt)
			unbounded = unbounded || r.inseparable(pt)
		} else {
			nan := math.NaN()
			*pt = Point{Iteration: iteration, Elapsed: elapsed, Up: it.Up, Low: it.Low, KKT: r.p.violation(it.Up, it.Low),
				Primal: nan, Dual: nan, Gap: nan, RelGap: nan, Equality: nan, Margin: nan, Bias: nan, Step: it.Step}
		}
		status := r.settings.Stop.Met(pt, &r.trace)
		if status == Converged && !r.p.balanced(it.Alpha) {
			status = NotTerminated
		}
		switch {
		case unbounded:
			status = Unbounded
		case diverging:
			status = Diverging
		case status != NotTerminated:
		case exhausted:
			status = Exhausted
		case iteration >= r.settings.MaxIterations:
			status = IterationLimit
		default:
			select {
			case <-r.done:
				status = Interrupted
			default:
			}
		}
		if status != NotTerminated {
			r.exact = r.p.residual(it.Alpha)
			// A maintained F drifts: ask the criterion again with the exact one
			// before believing it, and go on if it disagrees.
			if v, ok := r.st.(verifier); ok && status == Converged && refreshed < 3 {
				it.F = r.exact
				sum := r.p.summarise(it.Alpha, r.exact)
				it.Up, it.Low = sum.up, sum.low
				again := r.measure(elapsed)
				if r.settings.Stop.Met(&again, &r.trace) == NotTerminated {
					refreshed++
					v.refresh(r.exact)
					status = NotTerminated
				}
			}
		}
		if status != NotTerminated {
			if !sample {
				it.F = r.exact
				r.record(r.measure(time.Since(r.began)))
			}
			return status, nil
		}
		switch done, err := r.st.Step(ctx); {
		case errors.Is(err, ErrUnbounded):
			unbounded = true
		case errors.Is(err, ErrDiverging):
			diverging = true
		case err != nil && ctx.Err() == nil:
			return status, err
		case err == nil && done:
			exhausted = true
		case err == nil:
			it.Iteration++
		}
	}
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
func (r *run) inseparable(pt *Point) bool {
	if r.flat2 == 0 || math.IsNaN(pt.Margin) {
		return false
	}
	sum := 0.0
	for i, a := range r.it.Alpha {
		sum += a * (1 - r.p.fixed()*r.p.S[i])
	}
	norm := 1 / pt.Margin
	return sum > 0 && norm*norm <= r.flat2*sum*sum
}

// record appends a measured point with its replay delta and tells the observers.
func (r *run) record(pt Point) {
	for i, a := range r.it.Alpha {
		if a != r.last[i] {
			pt.Changed = append(pt.Changed, i)
			pt.Alpha = append(pt.Alpha, a)
			r.last[i] = a
		}
	}
	pt.Working = append([]int(nil), r.it.Working...)
	r.trace.Points = append(r.trace.Points, pt)
	for _, o := range r.settings.Observers {
		o(&r.it, &pt)
	}
	switch k := r.it.Iteration; {
	case r.settings.Every < 0:
		r.next = math.MaxInt
	case r.settings.Every > 0:
		r.next = k + r.settings.Every
	default:
		r.next = k + max(1, k/100)
	}
}

// measure fills a point from the iterate in O(n).
func (r *run) measure(elapsed time.Duration) Point {
	it, p := &r.it, r.p
	f := it.F
	if f == nil {
		f = p.residual(it.Alpha)
	}
	s := p.summarise(it.Alpha, f)
	pt := Point{
		Iteration: it.Iteration, Elapsed: elapsed, Dual: s.dual, KKT: s.kkt, Up: s.up, Low: s.low,
		Equality: s.equality, Margin: math.NaN(), Bias: s.bias, Step: it.Step,
		Free: s.free, Bound: s.atUpper, Active: it.Active, Evaluations: evaluations(p.K),
	}
	if !p.FixedBias {
		pt.KKT = max(0, p.violation(s.up, s.low))
	}
	if s.norm2 > 0 {
		pt.Margin = 1 / math.Sqrt(s.norm2)
	}
	if p.isHard() {
		pt.Primal = p.hardPrimal(f, s.norm2)
		pt.Gap = pt.Primal - pt.Dual
	} else {
		pt.Gap = p.gapAt(it.Alpha, f, s.bias)
		pt.Primal = pt.Dual + pt.Gap
	}
	pt.RelGap = relative(pt.Gap, pt.Primal)
	if math.IsInf(pt.Primal, 1) {
		pt.Primal, pt.Gap, pt.RelGap = math.NaN(), math.NaN(), math.NaN()
	}
	return pt
}

// violation is the largest KKT violation that Up and Low amount to: at the fixed
// bias, or at the middle of [M, m], the bias that violates least.
func (p *Problem) violation(up, low float64) float64 {
	if p.FixedBias {
		return max(up-p.Bias, p.Bias-low)
	}
	return (up - low) / 2
}

// balanced reports whether α keeps the equality constraint: a method may leave
// it on its way, but no α outside it is an answer.
func (p *Problem) balanced(alpha []float64) bool {
	scale := math.Abs(p.Delta)
	for _, a := range alpha {
		scale += math.Abs(a)
	}
	return p.equality(alpha) <= 1e-8*scale
}

func evaluations(k Matrix) int64 {
	if c, ok := k.(Counter); ok {
		return c.Evaluations()
	}
	return 0
}
