package figure

import (
	"fmt"
	"math"

	"github.com/svmnb/svmnb/solvers"
)

// EffortData is what [Effort] draws: the trace of a run.
type EffortData struct {
	Problem string
	N       int             // rows of the kernel matrix
	Points  []solvers.Point // increasing iterations
}

// Effort draws how many kernel values a run had computed at each iteration, how many its
// steps had used (a row for each point of each working set), and how many the whole matrix
// has. Below is the share that came from the cache.
//
// What was computed before the first step, such as the diagonal, was also asked for. The
// trace of a long run has about every hundredth iteration. The steps between two points
// of the trace are counted like the step of the later one.
func Effort(d EffortData) (*Chart, error) {
	c := course{figure: "Effort"}
	if d.N < 1 {
		return nil, wrong("Effort", "N", "is %d: give the number of rows of the kernel matrix", d.N)
	}
	var computed, asked, cached []float64
	sum, known := 0.0, false
	for k, p := range d.Points {
		if p.Evaluations < 0 || k > 0 && p.Evaluations < d.Points[k-1].Evaluations {
			return nil, wrong("Effort", fmt.Sprintf("Points[%d].Evaluations", k), "is %d: give counts that do not fall", p.Evaluations)
		}
		if k == 0 {
			sum = float64(p.Evaluations)
		} else {
			width := d.N
			if p.Active > 0 {
				width = p.Active
			}
			sum += float64(len(p.Working)) * float64(width) * float64(p.Iteration-d.Points[k-1].Iteration)
			known = known || len(p.Working) > 0
		}
		share := math.NaN()
		if sum > 0 {
			share = 100 * max(0, 1-float64(p.Evaluations)/sum)
		}
		c.iterations = append(c.iterations, p.Iteration)
		computed, asked, cached = append(computed, float64(p.Evaluations)), append(asked, sum), append(cached, share)
	}
	// Steps of a method that calls another method use more than the rows of their working
	// set.
	known = known && len(computed) > 0 && sum >= computed[len(computed)-1]
	values := coursePanel{name: "kernel values", whole: true, lines: []courseLine{{name: "computed", color: "@neg", values: computed}}}
	if known {
		values.lines = append(values.lines, courseLine{name: "asked for", color: "@pos", dash: list{7, 4}, values: asked})
	}
	c.panels = []coursePanel{values}
	if err := c.check(); err != nil {
		return nil, err
	}
	end := len(d.Points) - 1
	if d.Points[end].Evaluations == 0 {
		return nil, wrong("Effort", "Points", "count no kernel value: a linear method computes none")
	}
	whole := float64(d.N) * float64(d.N)
	title := fmt.Sprintf("%s computed, %s %% of the whole matrix", count(int(d.Points[end].Evaluations), "kernel value", "kernel values"), numberTo(100*computed[end]/whole, 3))
	if known && asked[end] > 0 {
		title += fmt.Sprintf("; the cache answered %s %%", numberTo(100*max(0, 1-computed[end]/asked[end]), 3))
		c.panels = append(c.panels, coursePanel{name: "from the cache (%)", whole: true, lines: []courseLine{{name: "answered by the cache so far", color: "@series3", values: cached}}})
	}
	most := computed[end]
	if known {
		most = max(most, asked[end])
	}
	if whole <= 1.5*most {
		level := make([]float64, len(computed))
		for k := range level {
			level[k] = whole
		}
		c.panels[0].lines = append(c.panels[0].lines, courseLine{name: "the whole matrix", color: "@soft", dash: list{2, 3}, values: level})
	}
	subtitle := sentence(d.Problem, count(d.Points[end].Iteration, "iteration", "iterations"), fmt.Sprintf("n = %s", thousands(int64(d.N))))
	return c.chart("effort", title, subtitle, "Kernel values against iterations."), nil
}
