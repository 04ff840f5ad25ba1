package figure

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/svmnb/svmnb/solvers"
)

//go:embed race.js
var raceJS source

// RaceData is what [Race] draws: runs of several methods on one problem.
type RaceData struct {
	Problem string    // what was solved, such as "moons · RBF(0.5), C = 10"
	Runs    []RaceRun // in the order of the legend, with different names
	Tol     float64   // gap at which an answer is good enough; 0 omits the line
	TolName string    // label of this line; "tolerance" and its value when empty
	Counts  bool      // omit the panel of time
}

// RaceRun is one run of a race.
type RaceRun struct {
	Name     string
	Points   []solvers.Point // increasing iterations, the last one with the result; empty if the method did not run
	Finished bool            // the run met its criterion
	Note     string          // why there are no points, such as "refused"
}

const (
	raceSteps = 240 // heights of a line that the eye can distinguish
	raceMarks = 4   // symbols on a line besides the one at its end
	raceMost  = 8   // largest number of runs, as there are 8 colours, dashes and symbols
)

// Symbols and dashes of the lines, so that the lines differ without colours too.
var (
	raceSymbols = [raceMost]string{"circle", "rect", "triangle", "diamond",
		"path://M0 0L10 0L5 9Z", "path://M5 0L10 4L8 10L2 10L0 4Z", "path://M3 0H7V3H10V7H7V10H3V7H0V3H3Z", "path://M5 0L6.5 3.5L10 5L6.5 6.5L5 10L3.5 6.5L0 5L3.5 3.5Z"}
	raceDashes = [raceMost]any{"solid", list{8, 4}, list{2, 3}, list{9, 3, 2, 3}, list{14, 4}, list{4, 2}, list{9, 3, 2, 3, 2, 3}, list{1, 4}}
)

// racePanel is a panel of the figure, with one measure of effort.
type racePanel struct {
	key, name string
	of        func(*solvers.Point) float64 // NaN if it was not measured
	place     func(float64) float64
}

var racePanels = []racePanel{
	{"ev", "kernel values", func(p *solvers.Point) float64 { return positive(float64(p.Evaluations)) }, math.Log10},
	{"it", "iterations", func(p *solvers.Point) float64 { return float64(p.Iteration) }, func(it float64) float64 { return math.Log10(max(it, 1)) }},
	{"t", "time", func(p *solvers.Point) float64 { return max(p.Elapsed.Seconds(), 1e-7) }, math.Log10},
}

// Race draws the smallest duality gap so far of each run over the kernel values, the
// iterations and the time that it needed. All axes are logarithmic. The three panels share
// an axis of gaps and a legend. With Counts the panel of time is omitted.
func Race(d RaceData) (*Chart, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	var runs []raceLine
	var missing []string
	lowest, smallest, greatest := math.Inf(1), math.Inf(1), d.Tol
	for i := range d.Runs {
		l := raceLine{RaceRun: &d.Runs[i], look: i}
		l.improve()
		if len(l.points) == 0 {
			missing = append(missing, l.Name+" ("+either(l.Note, "no gap measured")+")")
			continue
		}
		greatest = max(greatest, l.gap[0])
		for _, g := range l.gap {
			lowest = min(lowest, g)
			if g > 0 {
				smallest = min(smallest, g)
			}
		}
		runs = append(runs, l)
	}
	if len(runs) == 0 {
		return nil, wrong("Race", "Runs", "has no measured gap: give at least one run with a finite gap")
	}
	if d.Tol > 0 {
		smallest = min(smallest, d.Tol)
	}
	if lowest <= 0 { // the gap is 0 up to rounding
		smallest = min(smallest, greatest*1e-6)
	}
	if !finite(smallest) || greatest <= 0 {
		smallest, greatest = 1e-3, 1
	}
	// Gaps near the rounding error of the objectives, or far below the tolerance, are not
	// shown, so that the rest of the axis is large enough.
	from, to := decades(max(smallest, greatest*1e-15, d.Tol*1e-5), greatest)
	drop := (math.Log10(to) - math.Log10(from)) / raceSteps

	panels := slices.DeleteFunc(slices.Clone(racePanels), func(p racePanel) bool {
		return d.Counts && p.key == "t" || !slices.ContainsFunc(runs, func(l raceLine) bool { return finite(p.of(&l.points[len(l.points)-1])) })
	})
	var lines, grids, axes list
	measures := make([]string, len(panels))
	p := plot{name: "race", tip: raceJS.cut("tip"), along: true, more: object{"legend": object{"itemWidth": 40, "itemHeight": 9}}}
	for _, l := range runs {
		l.thin(drop, from)
		lines = append(lines, l.data(panels))
		p.keys = append(p.keys, l.Name)
	}
	tolName := either(d.TolName, "tolerance "+numberTo(d.Tol, 2))
	for k, panel := range panels {
		measures[k] = panel.name
		low, high := panel.span(runs)
		grids = append(grids, object{})
		axes = append(axes, object{"key": panel.key, "low": roundTo(low, 5), "high": roundTo(high, 5)})
		y := logValues(k, from, to).set("nameLocation", "middle").set("nameGap", 48)
		y.set("axisTick", object{"show": true, "customValues": y["axisLabel"].(object)["customValues"]}) // lines follow ticks
		p.panel(axis{"type": "value", "gridIndex": k, "min": roundTo(low, 5), "max": roundTo(high, 5),
			"splitLine": object{"show": false}, "axisLine": object{"show": true, "onZero": false}, "axisTick": object{"show": true},
			"axisPointer": object{"show": true, "snap": false, "label": object{"show": false}}}.named(panel.name+" (log scale)", 28).
			label(object{"hideOverlap": true, "formatter": raceJS.cut("label", "key", panel.key)}), y)
		for i, l := range runs {
			if finite(panel.of(&l.points[len(l.points)-1])) {
				p.add(l.mark(k, i, panel.key, roundTo(low, 5)))
			}
		}
		if d.Tol > 0 {
			limit := tolerance(k, low, high, d.Tol, tolName)
			delete(limit, "endLabel") // raceLabels places the label
			p.add(limit)
		}
		p.add(custom(raceJS.cut("panelLabels", "panel", k), corner(low, from)).on(k).still().z(5))
	}

	title := d.finding(runs)
	title = strings.ToUpper(title[:1]) + title[1:]
	below, left := "", ""
	if lowest < from {
		below = "gaps below " + numberTo(from, 2) + " are drawn there"
	}
	if len(missing) > 0 {
		left = "not drawn: " + strings.Join(missing, ", ")
	}
	p.about, p.grid = "Duality gap of several methods against "+inWords(measures)+".", grids
	p.svm = object{"layout": raceJS.cut("layout"), "text": raceJS.cut("text"), "labels": raceJS.cut("labels"), "at": raceJS.cut("at"),
		"runs": lines, "axes": axes, "floor": from, "tol": d.Tol, "tolName": tolName}
	return p.chart(title, sentence(d.Problem, "smallest gap so far of "+count(len(runs), "run", "runs"), below, left)), nil
}

// inWords joins names by commas and "and".
func inWords(list []string) string {
	last := len(list) - 1
	if last == 0 {
		return list[0]
	}
	return strings.Join(list[:last], ", ") + " and " + list[last]
}

// raceLine is a run as a falling line: its points with the smallest gap so far.
type raceLine struct {
	*RaceRun
	look   int // index of its colour, dash and symbol
	points []solvers.Point
	gap    []float64
}

// improve keeps the points at which the gap was smaller than ever before, and the last
// point. It ignores points that violate the equality constraint: the dual of such a point
// bounds nothing.
func (l *raceLine) improve() {
	best := math.Inf(1)
	for k, p := range l.Points {
		better := finite(p.Gap) && p.Gap < best && !(p.Equality*math.Abs(p.Bias) > 0.01*math.Abs(p.Gap)+1e-12*math.Abs(p.Dual))
		if better {
			best = p.Gap
		}
		if better || k == len(l.Points)-1 && len(l.points) > 0 {
			l.points, l.gap = append(l.points, p), append(l.gap, max(best, 0))
		}
	}
}

// thin removes points whose gap is less than drop decades below that of the point before.
// Lines are drawn as steps, so all other points stay exact.
func (l *raceLine) thin(drop, floor float64) {
	n, last := 0, math.Inf(1)
	for k, g := range l.gap {
		if h := math.Log10(max(g, floor)); k == 0 || last-h >= drop || k == len(l.gap)-1 {
			l.points[n], l.gap[n], last = l.points[k], g, h
			n++
		}
	}
	l.points, l.gap = l.points[:n], l.gap[:n]
}

// data returns the line for the script: its gaps, and its places on each axis.
func (l *raceLine) data(panels []racePanel) object {
	o := object{"name": l.Name, "look": l.look, "done": l.Finished, "gap": column(l.gap, 4)}
	for _, p := range panels {
		places := make([]float64, len(l.points))
		for k := range places {
			places[k] = p.place(p.of(&l.points[k]))
		}
		o[p.key] = column(places, 7)
	}
	n, marks := len(l.points), list{}
	for k := 1; k <= raceMarks && n > 2*raceMarks; k++ {
		marks = append(marks, (n-1)*k/(raceMarks+1))
	}
	o["marks"] = marks
	return o
}

// mark draws run i in panel k. The symbol at the end of a run that did not finish is
// hollow.
func (l *raceLine) mark(k, i int, key string, low float64) mark {
	color := fmt.Sprintf("@series%d", l.look+1)
	return line(raceJS.cut("points", "run", i, "key", key, "low", low, "color", color)).name(l.Name).on(k).set("step", "end").z(3).
		symbols(raceSymbols[l.look], raceJS.cut("size", "run", i)).set("showSymbol", true).set("showAllSymbol", true).ink(color, 2, raceDashes[l.look]).calm()
}

// span returns the ends of the axis: the first progress of any run and the end of the
// longest run.
func (p racePanel) span(runs []raceLine) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, l := range runs {
		first, last := p.of(&l.points[min(1, len(l.points)-1)]), p.of(&l.points[len(l.points)-1])
		if finite(last) {
			low, high = min(low, p.place(first)), max(high, p.place(last))
		}
	}
	if p.key == "it" {
		low = 0
	}
	if high < low+1 { // at least one decade, so that the axis has ticks
		if p.key != "it" {
			low = (low + high - 1) / 2
		}
		high = low + 1
	}
	return low, high + 0.03*(high-low)
}

// finding says which run won, by the measures that do not change from race to race.
func (d *RaceData) finding(runs []raceLine) string {
	var done []raceLine
	for _, l := range runs {
		if l.Finished {
			done = append(done, l)
		}
	}
	end := func(l raceLine) *solvers.Point { return &l.Points[len(l.Points)-1] }
	if len(done) == 0 {
		nearest := slices.MinFunc(runs, func(a, b raceLine) int { return sign(a.gap[len(a.gap)-1] - b.gap[len(b.gap)-1]) })
		return fmt.Sprintf("No run met its criterion; %s comes nearest, with a gap of %s", nearest.Name, numberTo(nearest.gap[len(nearest.gap)-1], 2))
	}
	least := func(of func(*solvers.Point) float64) (winners []string, value float64) {
		value = math.Inf(1)
		for _, l := range done {
			switch v := of(end(l)); {
			case v < value:
				winners, value = []string{l.Name}, v
			case v == value:
				winners = append(winners, l.Name)
			}
		}
		return winners, value
	}
	kernels, evaluations := least(racePanels[0].of)
	if slices.ContainsFunc(done, func(l raceLine) bool { return !finite(racePanels[0].of(end(l))) }) {
		kernels = nil // one run did not count kernel values, so they cannot be compared
	}
	its, steps := least(racePanels[1].of)
	values := thousands(int64(evaluations)) + " kernel values"
	iterated := thousands(int64(steps)) + " iterations"
	if steps == 1 {
		iterated = "1 iteration"
	}
	both := slices.DeleteFunc(slices.Clone(kernels), func(name string) bool { return !slices.Contains(its, name) })
	switch of := len(done); {
	case of == 1 && len(kernels) == 0:
		return fmt.Sprintf("%s meets its criterion after %s", done[0].Name, iterated)
	case of == 1 && len(d.Runs) == 1:
		return fmt.Sprintf("%s meets its criterion with %s and %s", done[0].Name, values, iterated)
	case of == 1:
		return fmt.Sprintf("Only %s meets its criterion, with %s and %s", done[0].Name, values, iterated)
	case len(both) == 1:
		return fmt.Sprintf("%s wins with %s and %s, the fewest of %d", both[0], values, iterated, of)
	case len(kernels) == 0:
		return fmt.Sprintf("Fewest iterations: %s, %s", among(its), thousands(int64(steps)))
	}
	return fmt.Sprintf("Fewest kernel values: %s, %s; fewest iterations: %s, %s", among(kernels), thousands(int64(evaluations)), among(its), thousands(int64(steps)))
}

// among returns one or two names, or the number of names.
func among(names []string) string {
	if len(names) > 2 {
		return fmt.Sprintf("%d methods", len(names))
	}
	return strings.Join(names, " and ")
}

func (d *RaceData) check() error {
	c := checks{figure: "Race"}
	c.refuse(len(d.Runs) == 0 || len(d.Runs) > raceMost, "Runs", "has %d runs: give 1 to %d, more cannot be told apart", len(d.Runs), raceMost)
	c.size("Tol", d.Tol)
	var names []string
	for i, r := range d.Runs {
		c.part = fmt.Sprintf("Runs[%d].", i)
		c.refuse(r.Name == "" || slices.Contains(names, r.Name), "Name", "is %q: give each run a name of its own", r.Name)
		c.trace(r.Points)
		names = append(names, r.Name)
	}
	return c.err
}
