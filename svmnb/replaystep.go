package svmnb

import (
	"fmt"
	"math"

	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
)

// ReplayStep is one step of SMO on two points: their box, the line of the equality
// constraint, the contours of the dual objective, the maximum on the line and where
// the box has cut it off (CST Theorem 7.12), and the four cases that bound it.
//
// The iteration, from 1, and the one before it must be in the trace: the first
// hundred are, and Sample(1) keeps all.
func ReplayStep(fit *Fit, iteration int) Drawing {
	return Drawing{"ReplayStep", func() (*Chart, error) {
		if fit == nil {
			return nil, fmt.Errorf("the fit is nil")
		}
		d, err := fit.step(iteration)
		if err != nil {
			return nil, err
		}
		return figure.Step(d)
	}}
}

func (f *Fit) step(iteration int) (figure.StepData, error) {
	var d figure.StepData
	wrong := func(format string, args ...any) error {
		return arguments.At("ReplayStep", -1, -1, float64(iteration), format, args...)
	}
	if iteration < 1 || iteration > f.Iterations {
		return d, wrong("there is no iteration %d; the run has 1 to %d", iteration, f.Iterations)
	}
	points, k := f.Trace.Points[:f.Trace.Replayable()], 0
	for k < len(points) && points[k].Iteration < iteration {
		k++
	}
	if k == 0 || k == len(points) || points[k].Iteration != iteration || points[k-1].Iteration != iteration-1 {
		return d, wrong("the trace does not have the states before and after iteration %d; take one of the first hundred iterations, or say Sample(1) before the fit", iteration)
	}
	pair := points[k].Working
	p := f.task.problem
	switch {
	case len(pair) != 2:
		return d, wrong("the step of iteration %d worked on %d points; the picture is of two, such as those of SMO", iteration, len(pair))
	case p.FixedBias:
		return d, wrong("the bias is fixed, so no line joins the two points; leave FixedBias and Augment out")
	}
	before, after := f.Trace.AlphaAt(k-1), f.Trace.AlphaAt(k)
	d = figure.StepData{Problem: f.task.words() + " · " + f.Method, Iteration: iteration, Points: [2]int{pair[0], pair[1]}}
	var score [2]float64 // F of the two
	f.task.asking.Lock()
	defer f.task.asking.Unlock()
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
	// Along the line α_i grows by s_i t and α_j shrinks by s_j t.
	d.Unclipped = [2]float64{math.NaN(), math.NaN()}
	if kappa := d.Q[0][0] + d.Q[1][1] - 2*d.S[0]*d.S[1]*d.Q[0][1]; kappa > 0 {
		t := (score[0] - score[1]) / kappa
		d.Unclipped = [2]float64{d.Before[0] + d.S[0]*t, d.Before[1] - d.S[1]*t}
		d.Note = fmt.Sprintf("κ = %.4g", kappa)
	}
	return d, nil
}

// CoordinateAscent is the picture of coordinate ascent on W(α) = p'α − ½ α'Qα with two
// variables: its contours, and the path from start, each step to the top of the line
// parallel to an axis. Q is symmetric and positive definite; a sweep of both variables
// leaves Q₁₂²/(Q₁₁Q₂₂) of the way. The figure of Ng's notes starts at (2, −2):
//
//	svmnb.CoordinateAscent([2][2]float64{{1, -0.6}, {-0.6, 1}}, [2]float64{}, [2]float64{2, -2}).Show()
func CoordinateAscent(q [2][2]float64, p, start [2]float64) Drawing {
	return Drawing{"CoordinateAscent", func() (*Chart, error) {
		d := figure.AscentData{Q: q, Gradient: p, Path: [][2]float64{start}}
		at := start
		for step := range ascentSteps {
			i := step % 2
			next := (p[i] - q[i][1-i]*at[1-i]) / q[i][i]
			moved := math.Abs(next - at[i])
			at[i] = next
			d.Path = append(d.Path, at)
			if step > 0 && !(moved > 1e-3*math.Hypot(start[0]-at[0], start[1]-at[1])) {
				break
			}
		}
		return figure.Ascent(d)
	}}
}

// ascentSteps is the most steps that CoordinateAscent draws.
const ascentSteps = 200
