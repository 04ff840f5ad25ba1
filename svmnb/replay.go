package svmnb

import (
	"errors"
	"fmt"
	"math"

	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// Drawing is a picture that is ready to be shown.
type Drawing struct {
	name string
	draw func() (*Chart, error)
}

// Chart draws it, as a chart that may be changed and then shown by [Show].
func (d Drawing) Chart() (_ *Chart, err error) {
	defer caught(&err)
	if d.draw == nil {
		return nil, fmt.Errorf("svmnb: Drawing.Chart: the drawing is empty; make one, for example by svmnb.Replay(fit)")
	}
	c, err := d.draw()
	var argument *ArgumentError // says where it is from
	if err != nil && !errors.As(err, &argument) {
		return nil, fmt.Errorf("svmnb: %s: %w", d.name, err)
	}
	return c, err
}

// Show displays it in the cell's output; see the function [Show].
func (d Drawing) Show() {
	c, err := d.Chart()
	if err != nil {
		Show(err)
		return
	}
	Show(c)
}

// Replay is the run of a fit to be played and stepped through, over log-spaced
// iterations of its trace: the decision function of a classifier of two features or
// the tube of a regression of one, the points that each step has worked on, the
// objectives and the gap, and for any number of features each point's α against its
// margin y f, or β against its residual, beside the line where the conditions of
// Karush, Kuhn and Tucker want it. Where no script runs it shows the end.
//
// The fit is a [*Fit] or a [*RegressionFit]. What it has is what its trace has:
// Sample(1) keeps every iteration.
func Replay(fit any) Drawing {
	return Drawing{"Replay", func() (*Chart, error) {
		f, ok := fit.(replayed)
		if !ok || isNil(fit) {
			return nil, fmt.Errorf("a value of type %T has no run to replay; give the *Fit of a classifier or the *RegressionFit of a regression", fit)
		}
		d, err := f.replay()
		if err != nil {
			return nil, err
		}
		return figure.Replay(d)
	}}
}

// replayed is a fit whose run can be replayed.
type replayed interface {
	replay() (figure.ReplayData, error)
}

const (
	replayFrames = 64         // moments at most
	replayFewest = 10         // moments at least, however many points
	replayWork   = 60_000_000 // kernel values of all fields and margins
	replayNodes  = 1600       // of a field
	replayPlaces = 160        // of a curve
	replayBytes  = 400_000    // of what changes
	replayMost   = 5000       // α of a run: f at all points is computed for each moment
)

// moments chooses the points of a trace to show, log-spaced, the first and the last
// among them.
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
			// What was passed over is made up for: early iterations are further apart
			// than the spacing.
			next = at + (end-at)/float64(max(most-len(chosen), 1))
		}
	}
	return chosen, nil
}

func replayFrame(pt *solvers.Point) figure.ReplayFrame {
	return figure.ReplayFrame{Iteration: pt.Iteration, Primal: pt.Primal, Dual: pt.Dual, KKT: pt.KKT, Working: pt.Working}
}

func (f *Fit) replay() (figure.ReplayData, error) {
	t := f.task
	d := figure.ReplayData{
		Problem: t.words(), Method: f.Method, Classes: [2]string{say.Class(t.negative), say.Class(t.positive)},
		Y: t.y, Upper: t.problem.Upper, Edge: t.edge(),
	}
	if t.margin == twoNorm {
		d.Ridge = t.problem.Ridge[0]
	}
	scene, nodes := t.plane(), 0
	if scene {
		nodes = min(replayNodes, max(400, replayWork/(len(t.y)*replayFewest)))
		d.X, d.Xs, d.Ys = t.data.X, around(t.data.X, 0), around(t.data.X, 1)
		d.Features = [2]string{t.data.FeatureName(0), t.data.FeatureName(1)}
	}
	chosen, err := moments(&f.Trace, nodes)
	if err != nil {
		return d, err
	}
	for _, k := range chosen {
		now := f.when(f.Trace.AlphaAt(k))
		frame := replayFrame(&f.Trace.Points[k])
		frame.Alpha = now.Alpha
		for i, v := range now.training() {
			frame.Margin = append(frame.Margin, t.y[i]*v)
			frame.Wrong = append(frame.Wrong, now.side(v) != sideOf(t.y[i]))
		}
		if scene {
			frame.Z = now.field(d.Xs, d.Ys, nodes)
		}
		d.Frames = append(d.Frames, frame)
	}
	return d, nil
}

// when is what the fit was when its α was alpha.
func (f *Fit) when(alpha []float64) *Fit {
	f.task.asking.Lock()
	certificate := solvers.Certify(f.task.problem, alpha)
	f.task.asking.Unlock()
	return f.task.fit(&solvers.Result{Alpha: alpha, Certificate: certificate})
}

func (f *RegressionFit) replay() (figure.ReplayData, error) {
	t := f.task
	n := len(f.Beta)
	d := figure.ReplayData{
		Problem: t.words(), Method: f.Method, Regression: true, Target: t.data.Target, Y: t.data.Y, Upper: t.problem.Upper[:n],
	}
	if t.problem.Ridge != nil {
		d.Ridge = t.problem.Ridge[0]
	}
	scene, nodes := t.line(), 0
	var grid [][]float64
	if scene {
		nodes = replayPlaces
		d.X, d.Xs, d.Features[0] = t.data.X, around(t.data.X, 0), t.data.FeatureName(0)
		for k := range nodes {
			grid = append(grid, []float64{d.Xs[0] + (d.Xs[1]-d.Xs[0])*float64(k)/float64(nodes-1)})
		}
	}
	chosen, err := moments(&f.Trace, nodes)
	if err != nil {
		return d, err
	}
	for _, k := range chosen {
		alpha := f.Trace.AlphaAt(k)
		t.asking.Lock()
		certificate := solvers.Certify(t.problem, alpha)
		t.asking.Unlock()
		now := t.fit(&solvers.Result{Alpha: alpha, Certificate: certificate})
		frame := replayFrame(&f.Trace.Points[k])
		frame.Alpha, frame.Margin, frame.Epsilon = now.Beta, now.Residuals(), now.Epsilon
		seen := map[int]bool{} // both sides of a point's tube are one point
		frame.Working = nil
		for _, i := range f.Trace.Points[k].Working {
			if i %= n; !seen[i] {
				seen[i] = true
				frame.Working = append(frame.Working, i)
			}
		}
		if scene {
			frame.Curve = now.values(written(grid))
		}
		d.Frames = append(d.Frames, frame)
	}
	return d, nil
}
