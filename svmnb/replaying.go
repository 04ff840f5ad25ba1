package svmnb

import (
	"fmt"
	"math"
	"slices"

	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

const (
	replayFrames = 64         // most moments of a replay
	replayFewest = 10         // fewest moments, for any number of points
	replayWork   = 60_000_000 // kernel values for all fields and margins
	replayNodes  = 1600       // nodes of a field
	replayPlaces = 160        // places of a curve
	replayBytes  = 400_000    // bytes of all moments together
	replayMost   = 5000       // most α of a run, since each moment needs f at all points
)

// moments chooses the points of a trace to show, at logarithmic intervals, including the
// first and the last.
func moments(tr *solvers.Trace, nodes int) ([]int, error) {
	points := tr.Points[:tr.Replayable()]
	if len(points) == 0 {
		return nil, fmt.Errorf("the trace of the run is empty, so there is nothing to replay")
	}
	n := tr.N
	if n > replayMost {
		return nil, arguments.At("Replay", -1, -1, float64(n), "the run has %d α, and each moment needs f at all points; replay one of at most %d, such as that of a sample of the data", n, replayMost)
	}
	most := min(replayFrames, max(replayFewest, replayWork/(n*(n+nodes))), max(replayFewest, replayBytes/(4*min(n, 1200)+4500)))
	end := math.Log1p(float64(points[len(points)-1].Iteration))
	var chosen []int
	next := 0.0
	for k, pt := range points {
		if at := math.Log1p(float64(pt.Iteration)); at >= next || k == len(points)-1 {
			chosen = append(chosen, k)
			// The intervals that remain are spaced again, since early iterations are
			// further apart than the logarithmic spacing.
			next = at + (end-at)/float64(max(most-len(chosen), 1))
		}
	}
	return chosen, nil
}

// replayFrame returns the moment pt of the run r. The end of the run has the numbers of its
// certificate, as in other figures: a trace may measure the gap at a bias that is not the best.
func replayFrame(r *solvers.Result, pt *solvers.Point) figure.ReplayFrame {
	frame := figure.ReplayFrame{Iteration: pt.Iteration, Primal: pt.Primal, Dual: pt.Dual, KKT: pt.KKT, Working: pt.Working}
	if c := r.Certificate; pt.Iteration == r.Iterations {
		frame.Primal, frame.Dual, frame.KKT = c.Primal, c.Dual, c.MaxKKT
	}
	return frame
}

func (f classified) Replay() (figure.ReplayData, error) {
	t := f.fit.task
	d := figure.ReplayData{
		Problem: t.words(), Method: f.fit.Method, Classes: [2]string{say.Class(t.negative), say.Class(t.positive)},
		Y: t.y, Upper: t.problem.Upper, Edge: t.edge(),
	}
	if t.margin == twoNorm {
		d.Ridge = t.problem.Ridge[0]
	}
	scene, nodes := t.plane(), 0
	if scene {
		nodes = min(replayNodes, max(400, replayWork/(len(t.y)*replayFewest)))
		d.X, d.Xs, d.Ys = t.data.X, figure.Around(t.data.X, 0), figure.Around(t.data.X, 1)
		d.Features = [2]string{t.data.FeatureName(0), t.data.FeatureName(1)}
	}
	chosen, err := moments(&f.fit.Trace, nodes)
	if err != nil {
		return d, err
	}
	for _, k := range chosen {
		now := f.fit.when(f.fit.Trace.AlphaAt(k))
		frame := replayFrame(&f.fit.Result, &f.fit.Trace.Points[k])
		frame.Alpha = now.Alpha
		for i, v := range now.training() {
			frame.Margin = append(frame.Margin, t.y[i]*v)
			frame.Wrong = append(frame.Wrong, now.side(v) != machines.SideOf(t.y[i]))
		}
		if scene {
			places := grid(d.Xs, d.Ys, nodes)
			frame.Z = fieldOver(&now.expansion, places)
			frame.Band = now.bandOver(slices.Concat(places...), frame.Z, 0)
		}
		d.Frames = append(d.Frames, frame)
	}
	return d, nil
}

// when returns the fit at the moment when its α was alpha.
func (f *Fit) when(alpha []float64) *Fit {
	f.task.asking.Lock()
	certificate := solvers.Certify(f.task.problem, alpha)
	f.task.asking.Unlock()
	now := f.task.fit(&solvers.Result{Alpha: alpha, Certificate: certificate})
	now.F = now.scores(nil, now.training())
	return now
}

func (f regressed) Replay() (figure.ReplayData, error) {
	t := f.fit.task
	n := len(f.fit.Beta)
	if t.loss == pinballLoss {
		return figure.ReplayData{}, arguments.Wrong("Replay", t.tau, "a quantile has a bound for the points below f and another one for those above, which a replay does not draw; replay Epsilon(0), or show svmnb.KKT and svmnb.Gap")
	}
	d := figure.ReplayData{
		Problem: t.words(), Method: f.fit.Method, Regression: true, Target: t.data.Target, Y: t.data.Y, Upper: t.problem.Upper[:n],
	}
	if t.problem.Ridge != nil {
		d.Ridge = t.problem.Ridge[0]
	}
	scene, nodes := t.line(), 0
	var grid [][]float64
	if scene {
		nodes = replayPlaces
		d.X, d.Xs, d.Features[0] = t.data.X, figure.Around(t.data.X, 0), t.data.FeatureName(0)
		for k := range nodes {
			grid = append(grid, []float64{d.Xs[0] + (d.Xs[1]-d.Xs[0])*float64(k)/float64(nodes-1)})
		}
	}
	chosen, err := moments(&f.fit.Trace, nodes)
	if err != nil {
		return d, err
	}
	for _, k := range chosen {
		alpha := f.fit.Trace.AlphaAt(k)
		t.asking.Lock()
		certificate := solvers.Certify(t.problem, alpha)
		t.asking.Unlock()
		now := t.fit(&solvers.Result{Alpha: alpha, Certificate: certificate})
		frame := replayFrame(&f.fit.Result, &f.fit.Trace.Points[k])
		frame.Alpha, frame.Margin, frame.Epsilon = now.Beta, now.Residuals(), now.Epsilon
		seen := map[int]bool{} // the two multipliers of a point count as one
		frame.Working = nil
		for _, i := range f.fit.Trace.Points[k].Working {
			if i %= n; !seen[i] {
				seen[i] = true
				frame.Working = append(frame.Working, i)
			}
		}
		if scene {
			frame.Curve = now.expansion.Values(points.Rows(grid))
		}
		d.Frames = append(d.Frames, frame)
	}
	return d, nil
}

func (f classified) Step(iteration int) (figure.StepData, error) {
	var d figure.StepData
	of := f.fit
	wrong := func(format string, args ...any) error {
		return arguments.At("ReplayStep", -1, -1, float64(iteration), format, args...)
	}
	if iteration < 1 || iteration > of.Iterations {
		return d, wrong("there is no iteration %d; the run has 1 to %d", iteration, of.Iterations)
	}
	points, k := of.Trace.Points[:of.Trace.Replayable()], 0
	for k < len(points) && points[k].Iteration < iteration {
		k++
	}
	if k == 0 || k == len(points) || points[k].Iteration != iteration || points[k-1].Iteration != iteration-1 {
		return d, wrong("the trace does not have the states before and after iteration %d; take one of the first hundred iterations, or say Sample(1) before the fit", iteration)
	}
	pair := points[k].Working
	p := of.task.problem
	switch {
	case len(pair) != 2:
		return d, wrong("the step of iteration %d worked on %d points; the picture is of two, such as those of SMO", iteration, len(pair))
	case p.FixedBias:
		return d, wrong("the bias is fixed, so no line joins the two points; leave FixedBias and Augment out")
	}
	before, after := of.Trace.AlphaAt(k-1), of.Trace.AlphaAt(k)
	d = figure.StepData{Problem: of.task.words() + " · " + of.Method, Iteration: iteration, Points: [2]int{pair[0], pair[1]}}
	var score [2]float64 // F of the two points
	of.task.asking.Lock()
	defer of.task.asking.Unlock()
	for a, i := range pair {
		d.S[a], d.Upper[a], d.Before[a], d.After[a] = p.S[i], p.Upper[i], before[i], after[i]
		score[a] = -p.S[i] * p.P[i]
		row := p.K.Row(i)
		for j, v := range before {
			score[a] -= p.S[j] * v * row[j]
		}
		for b, j := range pair {
			d.Q[a][b] = p.S[i] * p.S[j] * row[j]
		}
		if p.Ridge != nil {
			score[a] -= p.S[i] * p.Ridge[i] * before[i]
			d.Q[a][a] += p.Ridge[i]
		}
		d.Gradient[a] = p.S[i] * score[a]
	}
	// Along the line, α_i grows by s_i t and α_j falls by s_j t.
	d.Unclipped = [2]float64{math.NaN(), math.NaN()}
	if kappa := d.Q[0][0] + d.Q[1][1] - 2*d.S[0]*d.S[1]*d.Q[0][1]; kappa > 0 {
		t := (score[0] - score[1]) / kappa
		d.Unclipped = [2]float64{d.Before[0] + d.S[0]*t, d.Before[1] - d.S[1]*t}
		d.Note = fmt.Sprintf("curvature along the line κ = %.3g", kappa)
	}
	return d, nil
}
