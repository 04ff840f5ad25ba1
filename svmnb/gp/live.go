package gp

import (
	"math"
	"slices"

	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/solvers/linear"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/screen"
)

// systemWatch shows a run of an iterative method for the linear system of a process: the
// bounds of y'A⁻¹y.
type systemWatch struct {
	*screen.Screen
	task   *processTask
	points []linear.Point // a picture may be reading these points, so they are only appended
}

func (t *processTask) watch() *systemWatch {
	return &systemWatch{Screen: screen.New(), task: t}
}

// observe is the observer of the run.
func (w *systemWatch) observe(_ [][]float64, pt *linear.Point) {
	w.points = screen.Note(w.points, *pt, func(p *linear.Point) int { return p.Iteration })
	if !w.Ready() {
		return
	}
	points := w.points
	w.Show(func() (*display.Chart, error) { return w.draw(points, solvers.NotTerminated) })
}

// end shows the result, unless it is nil.
func (w *systemWatch) end(sol *linear.Solution) {
	w.Screen.End(func() (*display.Chart, error) {
		if sol == nil {
			return nil, nil
		}
		return w.draw(sol.Trace, sol.Status)
	})
}

func (w *systemWatch) draw(points []linear.Point, status solvers.Status) (*display.Chart, error) {
	// Without a bound there is nothing to draw.
	if !slices.ContainsFunc(points, func(p linear.Point) bool { return p.Lower == p.Lower }) {
		return nil, nil
	}
	last := points[len(points)-1]
	d := w.task.boundsData(points)
	title, progress := screen.Headline(w.task.method.Name(), status, last.Iteration, last.Elapsed, "", func() string { return w.remaining(points) })
	d.Problem = w.task.words() + " · " + title + " · " + progress
	return figure.Bounds(d)
}

// remaining estimates how long the run will take until the bounds are close enough; see
// screen.Until.
func (w *systemWatch) remaining(points []linear.Point) string {
	stop, ok := w.task.criterion().(linear.Bounds)
	if !ok {
		return ""
	}
	last := points[len(points)-1]
	var t, v []float64
	for _, pt := range points {
		if 2*pt.Elapsed > last.Elapsed && pt.Energy > 0 {
			t, v = append(t, pt.Elapsed.Seconds()), append(v, math.Log(pt.Energy))
		}
	}
	return screen.Until(t, v, math.Log(max(stop.Abs, stop.Rel*last.Lower)))
}
