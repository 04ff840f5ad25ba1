package figure

import (
	"fmt"
	"math"

	"github.com/svmnb/svmnb/solvers"
)

// GrowthData is what [Growth] draws: the trace of a run.
type GrowthData struct {
	Problem string          // what was solved and how
	Points  []solvers.Point // increasing iterations; margins that are NaN, or infinite since w = 0, are left out
}

// Growth draws the margin 1/‖w‖ over the iterations, on a logarithmic axis, and below how
// many support vectors were free and how many at their bound. ‖w‖ grows with α from 0, so
// the margin shrinks until it reaches its optimum.
func Growth(d GrowthData) (*Chart, error) {
	c := course{figure: "Growth"}
	var margin, free, bound []float64
	for _, p := range d.Points {
		m := positive(p.Margin)
		if math.IsInf(m, 1) { // w = 0
			m = math.NaN()
		}
		c.iterations, margin = append(c.iterations, p.Iteration), append(margin, m)
		free, bound = append(free, float64(p.Free)), append(bound, float64(p.Bound))
	}
	c.panels = []coursePanel{
		{name: "margin 1/‖w‖", log: true, lines: []courseLine{{name: "margin", color: "@ink", values: margin}}},
		{name: "support vectors", whole: true, lines: []courseLine{
			{name: "free", color: "@pos", values: free, step: true},
			{name: "at the bound", color: "@neg", values: bound, dash: list{7, 4}, step: true}}},
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	known := nodes(margin)
	if len(known) == 0 {
		return nil, wrong("Growth", "Points", "has no margin: give the trace of a method that measures ‖w‖")
	}
	end := d.Points[len(d.Points)-1]
	first, last := margin[known[0]], margin[known[len(known)-1]]
	near := known[len(known)-1]
	for near > known[0] && !(math.Abs(margin[near]-last) > 0.01*last) {
		near--
	}
	went := "shrank"
	if last > first {
		went = "grew"
	}
	title := fmt.Sprintf("The margin %s from %s to %s; iterations %s to %s changed it by less than 1 %%", went, numberTo(first, 3), numberTo(last, 3),
		thousands(int64(c.iterations[min(near+1, known[len(known)-1])])), thousands(int64(end.Iteration)))
	if numberTo(first, 3) == numberTo(last, 3) {
		title = fmt.Sprintf("The margin began and ended at %s, after %s", numberTo(last, 3), count(end.Iteration, "iteration", "iterations"))
	}
	subtitle := sentence(d.Problem, fmt.Sprintf("at the end %d free, %d at the bound", end.Free, end.Bound))
	return c.chart("margin", title, subtitle, "Margin and support vectors against iterations."), nil
}
