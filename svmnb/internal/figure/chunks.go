package figure

import (
	"fmt"

	"github.com/svmnb/svmnb/solvers"
)

// ChunksData is what [Chunks] draws: the trace of a run.
type ChunksData struct {
	Problem string
	Unit    string          // what the method works on; "point" when empty
	N       int             // number of points, or of Unit
	Points  []solvers.Point // increasing iterations
}

// Chunks draws how many points a method works on at each iteration: the chunk or working
// set, the active set if there is one, and the support vectors, all of which must be in the
// chunk at the end.
func Chunks(d ChunksData) (*Chart, error) {
	c := course{figure: "Chunks"}
	var working, active, support []float64
	shrinks, unit := false, either(d.Unit, "point")
	for k, p := range d.Points {
		if k == 0 && len(p.Working) == 0 && len(d.Points) > 1 {
			continue // before the first step
		}
		size := d.N
		if p.Active > 0 {
			size = p.Active
		}
		shrinks = shrinks || size < d.N && size != len(p.Working)
		c.iterations = append(c.iterations, p.Iteration)
		working, active, support = append(working, float64(len(p.Working))), append(active, float64(size)), append(support, float64(p.Free+p.Bound))
	}
	lines := []courseLine{{name: "working set", color: "@pos", values: working, step: true}, {name: "support vectors", color: "@neg", dash: list{7, 4}, values: support, step: true}}
	if shrinks {
		lines = append(lines, courseLine{name: "active set", color: "@series3", dash: list{2, 3}, values: active, step: true})
	}
	c.panels = []coursePanel{{name: unit + "s", whole: true, lines: lines}}
	if err := c.check(); err != nil {
		return nil, err
	}
	low, high := extent(working)
	if high == 0 {
		return nil, wrong("Chunks", "Points", "name no working set: give the trace of a method that chooses points, such as chunking, decomposition or SMO")
	}
	last := len(working) - 1
	end := d.Points[len(d.Points)-1]
	title := fmt.Sprintf("Working sets of %s of %s", thousands(int64(high)), count(d.N, unit, unit+"s"))
	if low < high {
		title = fmt.Sprintf("Working sets of %s to %s of %s, %s at the end", thousands(int64(low)), thousands(int64(high)), count(d.N, unit, unit+"s"), thousands(int64(working[last])))
	}
	title += fmt.Sprintf("; %s", count(end.Free+end.Bound, "support vector", "support vectors"))
	if shrinks {
		least, _ := extent(active)
		title += fmt.Sprintf("; the active set shrank to %s", thousands(int64(least)))
	}
	return c.chart("chunks", title, sentence(d.Problem, count(end.Iteration, "iteration", "iterations")), "Sizes of working sets against iterations."), nil
}
