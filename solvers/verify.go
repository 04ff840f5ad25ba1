package solvers

import (
	"context"
	"math"
	"time"
)

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
	v, ok := r.st.(Refresher)
	c, completes := r.st.(Completer)
	if completes && it.F == nil && (!it.Single || status == Interrupted) { // in blocks F afresh takes little more
		ctx, cancel := r.soon(status)
		it.F, it.Partial = c.Complete(ctx), false
		cancel()
		if ok && status == Converged { // what was left out may violate: that is seen sooner
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
			r.exact, r.claimed = append([]float64(nil), it.F...), true
		}
		return status
	}
	if r.exact, in = r.afresh(); !in {
		if it.F == nil {
			ctx, cancel := r.soon(Interrupted)
			it.F, it.Partial = c.Complete(ctx), false
			cancel()
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
		v.Refresh(r.exact)
	}
	r.exhausted = false
	return NotTerminated
}

// soon is the context of the last computations of a run. After an interrupt they may take
// so long and no longer; else there is no limit.
func (r *run) soon(status Status) (context.Context, context.CancelFunc) {
	if status != Interrupted {
		return context.Background(), func() {}
	}
	return context.WithTimeout(context.Background(), patience)
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

// auditFrom is the iteration after which, and after twice as many each time, an F in single
// precision is computed afresh: rounding may make W seem to grow while it falls. Of at most
// auditSooner variables that costs little, and happens sooner.
const (
	auditFrom   = 256
	auditSooner = 3000
)

// inspect goes on from such an F. A W that has not grown since the last time ends the run.
func (r *run) inspect() {
	if r.audit += r.audit; !r.it.Single {
		r.audit = math.MaxInt
		return
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

// residual computes F afresh. A method in single precision has asked for K in blocks:
// there are no rows to be had for less.
func (r *run) residual(ctx context.Context) ([]float64, bool) {
	if r.it.Single {
		b, _ := BlocksOf(r.p.K)
		return r.p.residualBy(ctx, b, 0, r.it.Alpha)
	}
	return r.p.residualUntil(ctx, r.it.Alpha)
}

// over reports whether an interrupt has waited long enough for an exact F.
func (r *run) over() bool {
	return r.hurries() && r.interrupted() && time.Since(r.waits) > patience
}

// hurries reports whether an interrupt does not wait for an exact F however long it takes,
// since the method has an F of its own, or can complete one soon.
func (r *run) hurries() bool {
	_, completes := r.st.(Completer)
	return r.it.F != nil || r.it.Single && completes
}

// interrupted reports whether the run is, and notes when it was first seen.
func (r *run) interrupted() bool {
	if r.ctx.Err() == nil {
		return false
	}
	if r.waits.IsZero() {
		r.waits = time.Now()
	}
	return true
}

// afresh is residual until over becomes true.
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
