package linear

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/svmnb/svmnb/internal/rows"
	"github.com/svmnb/svmnb/solvers"
)

// patience is how long residuals may take to be computed afresh after an interrupt. Jupyter
// waits 5 s before it kills the kernel.
const patience = 300 * time.Millisecond

type run struct {
	s         *System
	st        Stepper
	settings  Settings
	began     time.Time
	b, x      [][]float64
	points    []Point // for each right-hand side, its last point
	settled   []bool  // right-hand sides for which the criterion is met
	iteration int
	trace     []Point
	next      int      // the next iteration to sample
	fresh     bool     // b − Ax has been computed afresh for the current x
	proofs    []*proof // the bounds from the last fresh residuals
	witnesses []*proof // the same for the witnesses of the method
}

func (r *run) loop(ctx context.Context) (solvers.Status, error) {
	exhausted := false
	for {
		r.report()
		if r.iteration >= r.next {
			r.record()
		}
		status := solvers.NotTerminated
		switch {
		case r.met():
			status = solvers.Converged
		case exhausted:
			status = solvers.Exhausted
		case ctx.Err() != nil:
			status = solvers.Interrupted
		case r.iteration >= r.settings.MaxIterations:
			status = solvers.IterationLimit
		}
		if status != solvers.NotTerminated {
			more, err := r.refresh(ctx)
			if err != nil {
				status = solvers.Interrupted
				_, err = r.refresh(ctx)
			}
			if err != nil {
				return r.end(status), nil
			}
			if r.s.failed() != nil {
				return status, nil
			}
			r.report()
			switch met := r.met(); {
			case met:
				return r.end(solvers.Converged), nil
			case status != solvers.Converged && status != solvers.Exhausted:
				return r.end(status), nil
			case !more:
				return r.end(solvers.Exhausted), nil
			case ctx.Err() != nil:
				return r.end(solvers.Interrupted), nil
			case r.iteration >= r.settings.MaxIterations:
				return r.end(solvers.IterationLimit), nil
			}
			r.fresh, exhausted = false, false
		}
		done, err := r.st.Step(ctx, r.settled)
		switch {
		case r.s.failed() != nil:
			return solvers.NotTerminated, nil
		case err != nil && ctx.Err() != nil: // the loop will find that ctx has ended
		case err != nil:
			return solvers.NotTerminated, err
		default:
			r.iteration++
			exhausted = done
		}
	}
}

// report updates the points with what the method knows.
func (r *run) report() {
	nan := math.NaN()
	elapsed, evaluations := time.Since(r.began), rows.Evaluations(r.s.K)
	for j := range r.points {
		r.points[j] = Point{
			Iteration: r.iteration, Elapsed: elapsed, Evaluations: evaluations, Norm: norm(r.b[j]),
			Residual: nan, Lower: nan, Skilling: nan, Radau: nan, GibbsMacKay: nan, Energy: nan,
		}
	}
	r.st.Report(r.points)
	for j := range r.points {
		pt := &r.points[j]
		if r.proofs != nil {
			r.ground(pt, j)
		}
		if gm := pt.GibbsMacKay; gm == gm {
			pt.Energy = min(pt.Energy, max(0, gm-pt.Lower))
		}
	}
}

// ground replaces the method's values by those that follow from x itself. Between two fresh
// residuals it uses the rounding error of the last one. Otherwise the bounds would seem
// tighter than they are, and the run would ask for fresh residuals too early.
func (r *run) ground(pt *Point, j int) {
	p := r.proofs[j]
	lower := pt.Lower - p.rounding
	if r.fresh {
		pt.Residual, lower = norm(p.residual), p.twice-p.rounding
		if !(pt.Energy <= p.energy) { // the bound of the method may be smaller
			pt.Energy = p.energy
		}
		if !(pt.Skilling-pt.Lower <= p.energy) {
			pt.Skilling = pt.Lower + p.energy
		}
	}
	pt.Rounding = 2 * p.rounding
	for _, upper := range []*float64{&pt.Skilling, &pt.Radau} {
		*upper = lower + pt.Rounding + widened(max(0, *upper-pt.Lower), p.hidden)
	}
	pt.Lower, pt.Energy = lower, widened(pt.Energy, p.hidden)
	if r.witnesses != nil && r.fresh {
		pt.GibbsMacKay = r.witnesses[j].upper()
	}
}

func (r *run) met() bool {
	all := true
	for j := range r.points {
		r.settled[j] = r.settings.Stop.Met(&r.points[j])
		all = all && r.settled[j]
	}
	return all
}

// refresh computes b − Ax afresh and gives it to the method; more is the method's answer.
// After an interrupt it gives up if this takes longer than patience.
func (r *run) refresh(ctx context.Context) (more bool, err error) {
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
	}
	q, n := len(r.b), r.s.K.Dim()
	x := slices.Clone(r.x)
	if w, ok := r.st.(Witness); ok {
		x = append(x, w.Witnesses()...)
	}
	residuals, off := make([][]float64, len(x)), make([][]float64, len(x))
	for j := range x {
		residuals[j], off[j] = make([]float64, n), make([]float64, n)
	}
	err = rows.Sweep(ctx, r.s.K, 0, func(i, _ int, rows [][]float64) {
		for j, v := range x {
			residuals[j][i], off[j][i] = r.s.residualRow(i, rows[0], r.b[j%q], v)
		}
	})
	if err != nil {
		return false, err
	}
	proofs := make([]*proof, len(x))
	for j, v := range x {
		proofs[j] = r.s.prove(r.b[j%q], v, residuals[j], off[j])
	}
	r.fresh, r.proofs, r.witnesses = true, proofs[:q], nil
	if len(x) > q {
		r.witnesses = proofs[q:]
	}
	f, ok := r.st.(Refresher)
	return ok && f.Refresh(residuals), nil
}

// record appends the point of the first right-hand side to the trace. If the last point of the
// trace has the same iteration, the new one replaces it.
func (r *run) record() {
	if k := len(r.trace) - 1; k >= 0 && r.trace[k].Iteration == r.iteration {
		r.trace = r.trace[:k]
	}
	r.trace = append(r.trace, r.points[0])
	for _, o := range r.settings.Observers {
		o(r.x, &r.points[0])
	}
	switch every := r.settings.Every; {
	case every < 0:
		r.next = math.MaxInt
	case every > 0:
		r.next = r.iteration + every
	default:
		r.next = r.iteration + max(1, r.iteration/100)
	}
}

func (r *run) end(status solvers.Status) solvers.Status {
	r.record()
	return status
}

// certify makes certificates of the last points.
func (r *run) certify() []Certificate {
	certificates := make([]Certificate, len(r.b))
	for j, pt := range r.points {
		if !r.fresh {
			pt.Energy = widened(pt.Energy, r.s.hidden(r.b[j], r.x[j]))
		}
		if math.IsNaN(pt.Energy) {
			pt.Energy = math.Inf(1)
		}
		if math.IsNaN(pt.Lower) {
			pt.Lower = 0
		}
		certificates[j] = Certificate{pt.Residual, pt.Lower, pt.Upper(), pt.Energy, !r.fresh}
	}
	return certificates
}
