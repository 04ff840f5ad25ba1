package svmnb

import (
	"fmt"
	"math"
	"slices"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/rows"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// Certain is a stopping criterion for [Classifier.Stop]: the run ends when the predicted labels
// of at least this share of m points, in (0, 1], are those of the exact optimum, as [Fit.Certain]
// then confirms. For points that an ordinary tolerance leaves far from the boundary this is long
// before m − M ≤ 1e-3. It may be never if a point lies on the boundary of the optimum, so a share
// below 1, or solvers.Any together with solvers.UpLow, is the rule.
//
// The run looks at the labels each time the gap has halved. A look takes about as long as
// predicting those points whose label is still open; the training data themselves need no
// predictions. With several classes, each machine runs until its own labels are certain.
// CrammerSinger, regressions and machines in a pipeline have no such criterion.
func Certain(x datasets.Points, share float64) solvers.Criterion {
	return &certainty{given: x, x: points.From(x), share: share}
}

// certainty is the criterion of Certain. It is bound to a machine, and begins anew in each run.
type certainty struct {
	given datasets.Points
	x     points.Points
	share float64
	m     *machine
}

// Met is that of a criterion without a run, which knows nothing.
func (c *certainty) Met(*solvers.Point, *solvers.Trace) solvers.Status { return solvers.NotTerminated }

func (c *certainty) String() string {
	return fmt.Sprintf("%s of %s certain", say.Percent(c.share), say.Several(c.x.N(), "label"))
}

// bindCertain gives the kernel and the data to each criterion that needs them. It returns the
// error of such a criterion.
func (m *machine) bindCertain(refusal string) (err error) {
	m.stop = solvers.Replace(m.stop, func(c solvers.Criterion) solvers.Criterion {
		of, ok := c.(*certainty)
		if !ok {
			return c
		}
		switch {
		case !(of.share > 0 && of.share <= 1):
			err = arguments.Wrong("Certain", of.share, "the share is %v; it is a share of the points, in (0, 1]", of.share)
		case of.x.N() == 0:
			err = arguments.Wrong("Certain", 0, "there are no points whose labels could be certain; give some, such as the training data")
		case refusal != "":
			err = arguments.Wrong("Certain", of.share, "%s", refusal)
		case m.behind != nil:
			err = arguments.Wrong("Certain", of.share, "the points would need the steps of the pipeline, which are fitted later; stop by Tol, or transform the points first")
		default:
			e := machines.NewExpansion(m.data, m.kernel, nil, slices.Repeat([]float64{1}, m.data.N()), 0)
			err = e.Check("Certain", "classifier", of.x)
		}
		bound := *of
		bound.m = m
		return &bound
	})
	return err
}

// Begin implements solvers.Beginner.
func (c *certainty) Begin(p *solvers.Problem) (solvers.Criterion, solvers.Observer, error) {
	if c.m == nil {
		return nil, nil, arguments.Wrong("Certain", c.share, "the criterion needs the kernel and the points of a classifier; give it to Stop of one")
	}
	r := &certainRun{certainty: c, p: p, next: math.Inf(1), diag: rows.Largest(p.K), at: -1}
	r.training = c.given == datasets.Points(c.m.data)
	return r, r.look, nil
}

// certainRun is the criterion in one run.
type certainRun struct {
	*certainty
	p        *solvers.Problem
	training bool    // the points are those of the machine
	diag     float64 // the largest |K|
	next     float64 // the gap from which labels are looked at again
	at       int     // the iteration at which enough labels were certain; −1 for none
	known    []bool  // labels that were certain once, and need no look until enough are
	alpha    []float64
	w        []float64 // ⟨w, φ(x)⟩ for this alpha
}

// Met reports whether enough labels were certain at this iteration.
func (r *certainRun) Met(pt *solvers.Point, _ *solvers.Trace) solvers.Status {
	if pt.Iteration == r.at {
		return solvers.Converged
	}
	return solvers.NotTerminated
}

// look observes the run.
func (r *certainRun) look(it *solvers.Iterate, pt *solvers.Point) {
	again := pt.Iteration == r.at // F was computed afresh
	if it.F == nil || it.Rough || !again && !(pt.Gap <= r.next) || !(pt.RelGap <= 0.5) {
		return
	}
	r.at, r.next = -1, pt.Gap/2
	gap := max(0, pt.Gap) + pt.Equality*math.Abs(pt.Bias)
	b := r.m.ball(r.p, it.Alpha, it.F, gap, pt.Bias, roundingOf(it, r.diag))
	values := r.values(it, pt.Bias)
	if r.known == nil {
		r.known = make([]bool, len(values))
	}
	// Labels that were certain once are asked for again only when all together are enough.
	if again || r.ask(b, values) {
		clear(r.known)
		if r.ask(b, values) {
			r.at = pt.Iteration
		}
	}
}

// ask finds out which of the labels that are not known to be certain are so, and reports whether
// enough are.
func (r *certainRun) ask(b *ball, values []float64) (enough bool) {
	var rows []int
	for i, k := range r.known {
		if !k {
			rows = append(rows, i)
		}
	}
	certain, err := b.certain(r.x.Some(rows), pick(values, rows), 0, quick, moderate)
	if err != nil {
		return false
	}
	for k, i := range rows {
		r.known[i] = certain[k]
	}
	return float64(count(r.known)) >= r.share*float64(len(r.known))
}

// moderate is the effort while a run lasts.
var moderate = effort{64, 8}

// values returns f at the points.
func (r *certainRun) values(it *solvers.Iterate, bias float64) []float64 {
	out := make([]float64, r.x.N())
	if r.training { // they follow from F
		for i := range out {
			out[i] = -r.p.S[i]*r.p.P[i] - it.F[i] + bias
			if r.p.Ridge != nil {
				out[i] -= r.p.S[i] * r.p.Ridge[i] * it.Alpha[i]
			}
		}
		return out
	}
	if r.alpha == nil {
		r.alpha, r.w = make([]float64, len(it.Alpha)), make([]float64, len(out))
	}
	var changed []int
	var coef []float64
	for i, a := range it.Alpha {
		if d := a - r.alpha[i]; d != 0 {
			changed, coef = append(changed, i), append(coef, d*r.p.S[i])
		}
	}
	copy(r.alpha, it.Alpha)
	if len(changed) > 0 {
		r.x.AddTimes([][]float64{r.w}, points.Of(r.m.data).Some(changed).Basis(r.m.lifted()), [][]float64{coef})
	}
	for i, v := range r.w {
		out[i] = v + bias
	}
	return out
}
