package figure

import (
	_ "embed"
	"fmt"
	"math"
	"slices"

	"github.com/svmnb/svmnb/solvers"
)

//go:embed gap.js
var gapJS source

// GapData is what [Gap] draws: the trace of a run.
type GapData struct {
	Problem string          // what was solved and how, such as "RBF(0.5), C = 10, SMO"
	Points  []solvers.Point // increasing iterations; NaN for what was not measured
	Tol     float64         // gap at which the answer is good enough; 0 omits the line
	TolName string          // label of this line; "tolerance" and its value when empty
	Log     bool            // the axis of iterations is logarithmic
}

// gapPoints is the number of strips of the axis; see thin.
const gapPoints = 700

// Gap draws the primal and the dual objective as they approach each other and, below on a
// logarithmic axis, their difference, the duality gap.
func Gap(d GapData) (*Chart, error) {
	c := checks{figure: "Gap"}
	c.trace(d.Points)
	c.refuse(!measured(d.Points), "Points", "has no measured dual objective: give the trace of a run")
	c.size("Tol", d.Tol)
	if c.err != nil {
		return nil, c.err
	}
	points := slices.DeleteFunc(slices.Clone(d.Points), func(p solvers.Point) bool { return !finite(p.Dual) })
	scale := iterations{log: d.Log}
	var x, its, primal, lowest, dual, gap, bestGap []float64
	best := math.Inf(1)
	for _, p := range points {
		if finite(p.Primal) {
			best = min(best, p.Primal)
		}
		x, its = append(x, scale.place(float64(p.Iteration))), append(its, float64(p.Iteration))
		primal, lowest, dual = append(primal, p.Primal), append(lowest, best), append(dual, p.Dual)
		gap, bestGap = append(gap, positive(p.Primal-p.Dual)), append(bestGap, positive(best-p.Dual))
	}
	keep := thin(x, gapPoints, primal, lowest, dual, gap, bestGap)
	for _, c := range []*[]float64{&x, &its, &primal, &lowest, &dual, &gap, &bestGap} {
		*c = pick(*c, keep)
	}

	end := points[len(points)-1]
	title := fmt.Sprintf("Dual objective %s; no primal was measured", number(end.Dual))
	if g := end.Primal - end.Dual; finite(g) {
		decimals := apart(end.Dual, end.Primal)
		state := "closed to " + numberTo(g, 2)
		switch {
		case g <= 0:
			state = "closed up to rounding"
		case d.Tol > 0 && g > d.Tol:
			state = "still " + numberTo(g, 2)
		}
		title = fmt.Sprintf("The gap is %s: dual %s ≤ optimum ≤ primal %s", state, fixed(end.Dual, decimals), fixed(end.Primal, decimals))
	}
	values, above := "", ""
	if end.Evaluations > 0 {
		values = count(int(end.Evaluations), "kernel value", "kernel values")
	}
	low, ceiling, peak := objectives(dual, primal)
	if peak > ceiling {
		above = fmt.Sprintf("the primal's peak, %s, is above the picture", number(peak))
	}
	subtitle := sentence(d.Problem, count(end.Iteration, "iteration", "iterations"), values, above)

	first, last := float64(points[0].Iteration), float64(end.Iteration)
	if first == last {
		last++
	}
	p := plot{name: "gap", about: "Primal and dual objective and the duality gap against iterations.", tip: gapJS.cut("tip"), along: true, zoom: object{"xAxisIndex": list{0, 1}}, links: "all",
		grid: list{object{}, object{}}}
	add := func(k int, name, data, color string) mark {
		m := curve(k, name, "x", data, color).set("showSymbol", len(x) == 1)
		delete(m, "z")
		p.add(m)
		return m
	}
	faint := func(k int, name, data, color string) {
		add(k, name, data, color).pen(color, 1).in("lineStyle", object{"opacity": 0.55}).z(1)
	}
	p.add(custom(gapJS.cut("between"), corner(x[0], dual[0])).still().clip().z(0))
	add(0, "dual", "dual", "@neg")
	var bx, bl, bu list
	if math.IsInf(best, 1) {
		p.key("dual")
	} else {
		faint(0, "primal of each iterate", "primal", "@pos")
		add(0, "primal, best so far", "best", "@pos")
		faint(1, "gap of each iterate", "gap", "@series4")
		add(1, "gap to the best primal", "bestgap", "@series4")
		p.key("primal, best so far")
		p.key("primal of each iterate")
		p.key("dual")
		p.key("gap to the best primal")
		p.key("gap of each iterate")
		for i := range x {
			if finite(lowest[i]) {
				bx, bl, bu = append(bx, roundTo(x[i], 6)), append(bl, roundTo(dual[i], 6)), append(bu, roundTo(min(lowest[i], 2*ceiling-low), 6))
			}
		}
	}
	if d.Tol > 0 {
		start, end := scale.place(first), scale.place(last)
		limit := tolerance(1, start, end, d.Tol, d.TolName)
		// The label of the tolerance is at the left, unless the gap passes there.
		met := slices.IndexFunc(bestGap, func(g float64) bool { return g <= d.Tol })
		if met >= 0 && x[met] < start+(end-start)/3 {
			limit.set("data", list{list{start, d.Tol}, list{end, d.Tol}}).in("endLabel", object{"align": "right", "offset": list{-8, -9}})
		}
		p.add(limit)
	}
	smallest, greatest := extent(gap, bestGap)
	from, to := gapDecades(smallest, greatest, d.Tol)
	p.panel(scale.option(0, first, last, false).lines().pointed(), axis{"type": "value", "gridIndex": 0, "min": low, "max": ceiling,
		"axisLine": object{"show": true, "onZero": false}, "axisTick": object{"show": true}}.named("objective", 48).
		label(object{"showMinLabel": false, "showMaxLabel": false, "formatter": marksJS.cut("digits", "digits", 6)}))
	p.panel(scale.option(1, first, last, true).lines().pointed(), logValues(1, from, to).named("gap (log scale)", 48))
	p.svm = object{"layout": gapJS.cut("layout"), "x": column(x, 6), "its": its, "primal": column(primal, 6), "best": column(lowest, 6),
		"dual": column(dual, 6), "gap": column(gap, 4), "bestgap": column(bestGap, 4), "bx": bx, "bl": bl, "bu": bu}
	return p.chart(title, subtitle), nil
}

// objectives returns the ends of an axis of objectives, and the highest primal objective.
// The primal often begins at very large values. The axis ends where the rise of the dual is
// still visible.
func objectives(dual, primal []float64) (from, to, peak float64) {
	low, high := extent(dual)
	span := high - low
	if span <= 0 {
		span = max(math.Abs(high), 1) / 10
	}
	_, peak = extent(primal)
	peak = max(peak, high)
	return roundTo(low-0.02*span, 6), roundTo(min(peak, high+span)+0.06*span, 6), peak
}

// positive returns v, or NaN if a logarithmic axis cannot show it.
func positive(v float64) float64 {
	if v > 0 {
		return v
	}
	return math.NaN()
}
