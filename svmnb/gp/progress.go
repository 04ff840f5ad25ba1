package gp

import (
	"fmt"
	"math"
	"time"

	"github.com/svmnb/svmnb/solvers/linear"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/screen"
)

// tell makes a run of an iterative method show its progress: first how far the preparation is,
// then the residual of the last iteration and, once there is a trend, the time that is left.
// The function that is returned shows the end.
func (t *processTask) tell(set *linear.Settings) (end func(sol *linear.Solution)) {
	name, stop, began := t.method.Name(), t.criterion(), time.Now()
	set.Preparing = func(stage string, share float64) {
		t.show(fmt.Sprintf("%s: %s %.0f %%, %s", name, stage, 100*share, seconds(time.Since(began))), false)
	}
	var points []linear.Point
	set.Observers = append(set.Observers, func(_ [][]float64, pt *linear.Point) {
		points = append(points, *pt)
		line := fmt.Sprintf("%s: %s in %s, residual %.2g of ‖y‖", name, say.Iterations(pt.Iteration), seconds(pt.Elapsed), pt.Residual/pt.Norm)
		if left := left(stop, points); left != "" {
			line += ", " + left
		}
		t.show(line, false)
	})
	return func(sol *linear.Solution) {
		if sol != nil {
			t.show(fmt.Sprintf("%s: %v after %s in %s", name, sol.Status, say.Iterations(sol.Iterations), seconds(sol.Elapsed)), true)
		}
	}
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.0f s", d.Seconds()) }

// left forecasts from the second half of a run how much time is left until stop is met.
func left(stop linear.Criterion, points []linear.Point) string {
	last := points[len(points)-1]
	var now func(pt linear.Point) float64
	goal := 0.0
	switch stop := stop.(type) {
	case linear.Bounds:
		now, goal = func(pt linear.Point) float64 { return pt.Energy + pt.Rounding }, max(stop.Abs, stop.Rel*last.Lower)
	case linear.Residual:
		now, goal = func(pt linear.Point) float64 { return pt.Residual }, max(stop.Abs, stop.Rel*last.Norm)
	default:
		return ""
	}
	var at, v []float64
	for _, pt := range points {
		if e := now(pt); 2*pt.Iteration > last.Iteration && e > 0 && !math.IsInf(e, 1) {
			at, v = append(at, pt.Elapsed.Seconds()), append(v, math.Log(e))
		}
	}
	return screen.Until(at, v, math.Log(goal))
}
