package solvers

import (
	"context"
	"math"
	"slices"
	"time"
)

// patience is how long F may take to be computed afresh after an interrupt. Jupyter waits 5 s
// before it kills the kernel.
const patience = 300 * time.Millisecond

// verify computes F afresh for the certificate. The F that a method maintains drifts, so a
// status that depends on it is confirmed by asking the criterion again with the exact F. If
// the criterion is not met then, the method goes on from this F. It may do so three times;
// after that rounding is the limit. A run that cannot improve has converged if the criterion
// is met with the exact F.
func (r *run) verify(status Status, elapsed time.Duration) Status {
	it, in, all := &r.it, true, true
	partial := it.F == nil && it.Active < r.trace.N
	v, ok := r.st.(Refresher)
	c, completes := r.st.(Completer)
	if completes && it.F == nil && (!it.Single || status == Interrupted) { // for a method in blocks, F afresh costs little more
		ctx, cancel := r.soon(status)
		it.F, all = c.Complete(ctx)
		it.Partial = false
		cancel()
		if ok && status == Converged { // points that were left out may violate; measuring detects this before F is computed afresh
			if pt := r.measure(elapsed); r.met(&pt) == NotTerminated {
				v.Refresh(it.F)
				return NotTerminated
			}
		}
	}
	if status == Interrupted && it.F != nil {
		ctx, cancel := r.soon(status)
		defer cancel()
		if r.exact, in = r.residual(ctx); !in {
			r.claim(all)
		}
		return status
	}
	if r.exact, in = r.afresh(); !in {
		if it.F == nil {
			ctx, cancel := r.soon(Interrupted)
			it.F, all = c.Complete(ctx)
			it.Partial = false
			cancel()
		}
		r.claim(all)
		return Interrupted
	}
	it.Partial = false
	if status != Exhausted && status != Converged {
		return status
	}
	it.F, it.Rough = r.exact, false
	pt := r.measure(elapsed)
	if len(r.judges) > 0 {
		single := it.Single
		it.Single = false
		r.tell(r.judges, &pt, theCriterion)
		it.Single = single
	}
	if met := r.met(&pt); met == Converged && !r.sure(pt) {
		return Exhausted
	} else if met != NotTerminated {
		return met
	}
	if !partial { // otherwise the criterion had been asked for the active points only
		r.refreshed++
	}
	if r.refreshed > 3 || !ok && status == Exhausted {
		return Exhausted
	}
	if ok {
		v.Refresh(r.exact)
	}
	r.exhausted = false
	return NotTerminated
}

// claim takes the F that the method maintains for the certificate. all says whether F of all points
// is up to date.
func (r *run) claim(all bool) {
	r.exact, r.claimed, r.outdated = slices.Clone(r.it.F), true, !all
}

// soon returns the context of the last computations of a run. After an interrupt it ends after
// patience, otherwise never.
func (r *run) soon(status Status) (context.Context, context.CancelFunc) {
	if status != Interrupted {
		return context.Background(), func() {}
	}
	return context.WithTimeout(context.Background(), patience)
}

// sure reports whether the criterion is met even if rounding of the kernel values has moved F
// in the worst way.
func (r *run) sure(pt Point) bool {
	by := r.p.rounding(r.it.Alpha)
	pt.Up, pt.Low, pt.KKT = pt.Up+by, pt.Low-by, pt.KKT+by
	return r.met(&pt) != NotTerminated
}

// possible reports whether the criterion could be met near alpha in spite of rounding.
func (r *run) possible(alpha []float64) bool {
	by := r.p.rounding(alpha)
	pt := Point{Iteration: r.it.Iteration, Up: by, Low: -by, KKT: by}
	r.within = theCriterion
	status := r.settings.Stop.Met(&pt, &r.trace)
	r.within = theMethod
	return status != NotTerminated
}

// auditFrom is the first iteration at which an F in single precision is checked by inspect;
// each further check comes after twice as many iterations. The check is needed because
// rounding may make W seem to grow while it falls. With at most auditSooner variables it costs
// little, and starts sooner.
const (
	auditFrom   = 256
	auditSooner = 3000
	auditPasses = 4
	auditLooks  = 128 // iterations from one look at a few F to the next; a look takes a thousandth of the time of these

	// F is computed afresh if Drift exceeds violation/mostDrift: Drift looks at a few F, and the
	// largest error of all F is about twice as large as theirs.
	mostDrift = 8
)

// inspect computes F afresh and gives it to the method. If W has not grown since the last
// check, the run ends. F afresh can cost as much as a pass over all points, so the first check
// waits for auditPasses of these. With many points it costs as much as hundreds of steps, so a few F
// are looked at instead, and all are computed afresh only if these have drifted: with a million
// points and a large C, rounding can change F by a tenth.
func (r *run) inspect() {
	if !r.it.Single {
		r.audit = math.MaxInt
		return
	}
	if d, ok := r.st.(Drifter); ok && r.trace.N >= keepsSums {
		r.audit += auditLooks
		if drift, violation := d.Drift(r.ctx); drift <= violation/mostDrift {
			return
		}
	} else {
		if first := auditPasses * r.it.Sweep; r.audit < first {
			r.audit = first
			return
		}
		r.audit += r.audit
	}
	f, in := r.afresh()
	if !in {
		return
	}
	w := r.p.summarise(r.it.Alpha, f).dual
	if s, ok := r.st.(Refresher); ok {
		s.Refresh(f)
	}
	if !(w > r.audited) {
		r.exhausted, r.stuck = true, true
	}
	r.audited = w
	r.report()
}

// residual computes F afresh. It does so in blocks for a method in single precision, since no
// rows are in memory then. For many points it keeps the sums: often few α change until the next
// call, and sums in double precision lose nothing when the changes are added to them.
func (r *run) residual(ctx context.Context) ([]float64, bool) {
	if r.it.Single {
		b, n := BlocksOf(r.p.K)
		f, now, ok := r.p.residualFrom(ctx, b, r.sums, r.it.Alpha)
		if ok && (n >= keepsSums || r.sums != nil) {
			r.sums = now
		}
		return f, ok
	}
	return r.p.residualUntil(ctx, r.it.Alpha)
}

// keepsSums is the number of points from which computing F takes so long that its sums are kept.
const keepsSums = 50_000

// over reports whether, after an interrupt, the run has waited long enough for an exact F.
func (r *run) over() bool {
	return r.hurries() && r.interrupted() && time.Since(r.waits) > patience
}

// hurries reports whether an interrupted run waits only a limited time for an exact F. It does
// so if the method has an F of its own or can soon complete one.
func (r *run) hurries() bool {
	_, completes := r.st.(Completer)
	return r.it.F != nil || r.it.Single && completes
}

// interrupted reports whether ctx has ended, and records the time at which it first does so.
func (r *run) interrupted() bool {
	if r.ctx.Err() == nil {
		return false
	}
	if r.waits.IsZero() {
		r.waits = time.Now()
	}
	return true
}

// afresh does what residual does, but stops when over becomes true.
func (r *run) afresh() ([]float64, bool) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	switch {
	case !r.hurries():
	case r.interrupted():
		ctx, cancel = context.WithDeadline(ctx, r.waits.Add(patience))
		defer cancel()
	default:
		defer context.AfterFunc(r.ctx, func() { time.AfterFunc(patience, cancel) })()
	}
	return r.residual(ctx)
}
