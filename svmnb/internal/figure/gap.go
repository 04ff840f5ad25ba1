package figure

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/svmnb/svmnb/solvers"
)

//go:embed gap.js
var gapJS source

// GapData is what [Gap] draws: the trace of a run.
type GapData struct {
	Problem string          // what was solved and how, such as "RBF(0.5), C = 10, SMO"
	Points  []solvers.Point // increasing iterations; NaN where something was not measured
	Tol     float64         // gap at which the answer is good enough; 0 leaves the line out
	TolName string          // what the line is called; "tolerance" and its value when empty
	Log     bool            // iterations on a log scale
}

// gapPoints is in how many strips of the axis moments are drawn.
const gapPoints = 700

// Gap draws the primal and the dual objective as they close in on each other,
// and below their difference, the duality gap, on a log scale.
func Gap(d GapData) (*Chart, error) {
	for k, p := range d.Points {
		if k > 0 && p.Iteration <= d.Points[k-1].Iteration || p.Iteration < 0 {
			return nil, &InputError{Figure: "Gap", Field: fmt.Sprintf("Points[%d].Iteration", k), Reason: fmt.Sprintf("is %d: give increasing numbers from 0", p.Iteration)}
		}
	}
	points := slices.DeleteFunc(slices.Clone(d.Points), func(p solvers.Point) bool { return !finite(p.Dual) })
	if len(points) == 0 {
		return nil, &InputError{Figure: "Gap", Field: "Points", Reason: "has no measured dual objective: give the trace of a run"}
	}
	if !finite(d.Tol) || d.Tol < 0 {
		return nil, &InputError{Figure: "Gap", Field: "Tol", Reason: fmt.Sprintf("is %v: give a gap ≥ 0", d.Tol)}
	}
	axis := iterations{log: d.Log}
	var x, its, primal, lowest, dual, gap, bestGap []float64
	best := math.Inf(1)
	for _, p := range points {
		if finite(p.Primal) {
			best = min(best, p.Primal)
		}
		x, its = append(x, axis.place(float64(p.Iteration))), append(its, float64(p.Iteration))
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
		// As many decimals as it takes to tell the two apart.
		decimals := 4
		if g > 0 {
			decimals = min(max(1-int(math.Floor(math.Log10(g))), 0), 12)
		}
		state := "closed to " + numberTo(g, 2)
		switch {
		case g <= 0:
			state = "closed up to rounding"
		case d.Tol > 0 && g > d.Tol:
			state = "still " + numberTo(g, 2)
		}
		title = fmt.Sprintf("The gap is %s: dual %.*f ≤ optimum ≤ primal %.*f", state, decimals, end.Dual, decimals, end.Primal)
		title = strings.ReplaceAll(title, " -", " −")
	}
	var sub []string
	if d.Problem != "" {
		sub = append(sub, d.Problem)
	}
	sub = append(sub, count(end.Iteration, "iteration", "iterations"))
	if end.Evaluations > 0 {
		sub = append(sub, count(int(end.Evaluations), "kernel value", "kernel values"))
	}

	low, ceiling, peak := objectives(dual, primal)
	if peak > ceiling {
		sub = append(sub, fmt.Sprintf("the primal's peak, %s, is above the picture", number(peak)))
	}
	subtitle := strings.Join(sub, " · ")

	first, last := float64(points[0].Iteration), float64(end.Iteration)
	if first == last {
		last++
	}
	under := axis.option(1, first, last, true)
	over := axis.option(0, first, last, false)
	for _, a := range []object{under, over} {
		a["splitLine"] = object{"show": true}
		a["axisPointer"] = object{"show": true, "snap": true, "label": object{"show": false}}
	}
	line := func(name, data, color string, k int, style object) object {
		o := object{"type": "line", "name": name, "xAxisIndex": k, "yAxisIndex": k, "symbol": "circle", "showSymbol": len(x) == 1,
			"data":      marksJS.cut("points", "x", "x", "y", data),
			"itemStyle": object{"color": color}, "lineStyle": object{"color": color, "width": 2.2}, "emphasis": object{"disabled": true}}
		merge(o, style)
		return o
	}
	thin := object{"lineStyle": object{"width": 1, "opacity": 0.55}, "z": 1}
	series := list{
		object{"type": "custom", "silent": true, "clip": true, "z": 0, "data": list{list{x[0], dual[0]}}, "tooltip": object{"show": false},
			"renderItem": gapJS.cut("between")},
		line("dual", "dual", "@neg", 0, object{"lineStyle": object{"width": 2.6}}),
	}
	named := func(name string, width int) object {
		return object{"name": name, "icon": fmt.Sprintf("path://M0 0H24V%dH0Z", width), "itemStyle": object{"borderWidth": 0}}
	}
	legend := list{named("dual", 3)}
	var bx, bl, bu list
	if !math.IsInf(best, 1) {
		series = append(series,
			line("primal of each iterate", "primal", "@pos", 0, thin),
			line("primal, best so far", "best", "@pos", 0, object{"lineStyle": object{"width": 2.6}}),
			line("gap of each iterate", "gap", "@series4", 1, thin),
			line("gap to the best primal", "bestgap", "@series4", 1, object{"lineStyle": object{"width": 2.6}}))
		legend = list{named("primal, best so far", 3), named("primal of each iterate", 1), named("dual", 3),
			named("gap to the best primal", 3), named("gap of each iterate", 1)}
		for i := range x {
			if finite(lowest[i]) {
				bx, bl, bu = append(bx, roundTo(x[i], 6)), append(bl, roundTo(dual[i], 6)), append(bu, roundTo(min(lowest[i], 2*ceiling-low), 6))
			}
		}
	}
	smallest, greatest := math.Inf(1), d.Tol
	for _, v := range append(slices.Clone(gap), bestGap...) {
		if finite(v) {
			smallest, greatest = min(smallest, v), max(greatest, v)
		}
	}
	if d.Tol > 0 {
		smallest = min(smallest, d.Tol)
		limit := tolerance(1, axis.place(first), axis.place(last), d.Tol, d.TolName)
		// Its name is at the left, unless the gap falls through it there.
		met := slices.IndexFunc(bestGap, func(g float64) bool { return g <= d.Tol })
		if met >= 0 && x[met] < axis.place(first)+(axis.place(last)-axis.place(first))/3 {
			limit["data"] = list{list{axis.place(first), d.Tol}, list{axis.place(last), d.Tol}}
			merge(limit, object{"endLabel": object{"align": "right", "offset": list{-8, -9}}})
		}
		series = append(series, limit)
	}
	if !finite(smallest) || greatest <= 0 {
		smallest, greatest = 1e-3, 1
	}
	// The last digits of an objective are its rounding, not its gap.
	from, to := decades(max(smallest, greatest*1e-15), greatest)
	gaps := logValues(1, from, to)
	gaps["name"], gaps["nameLocation"], gaps["nameGap"] = "gap (log scale)", "middle", 48
	return newChart(title, subtitle, "Primal and dual objective and the duality gap against iterations. "+title+". "+subtitle+".", object{
		"legend":      object{"data": legend},
		"toolbox":     toolbox("gap", object{"xAxisIndex": list{0, 1}}),
		"tooltip":     object{"trigger": "axis", "formatter": gapJS.cut("tip")},
		"axisPointer": object{"link": list{object{"xAxisIndex": "all"}}},
		"grid":        list{object{}, object{}},
		"xAxis":       list{over, under},
		"yAxis": list{
			object{"type": "value", "gridIndex": 0, "min": low, "max": ceiling, "name": "objective", "nameLocation": "middle", "nameGap": 48,
				"axisLine": object{"show": true, "onZero": false}, "axisTick": object{"show": true},
				"axisLabel": object{"showMinLabel": false, "showMaxLabel": false, "formatter": marksJS.cut("digits", "digits", 6)}},
			gaps,
		},
		"svm": object{"layout": gapJS.cut("layout"), "x": column(x, 6), "its": its, "primal": column(primal, 6), "best": column(lowest, 6),
			"dual": column(dual, 6), "gap": column(gap, 4), "bestgap": column(bestGap, 4), "bx": bx, "bl": bl, "bu": bu},
		"series": series,
	}), nil
}

// objectives returns the ends of an axis of objectives, and the highest primal. The
// primal often starts far above everything else: the axis ends where the dual's whole
// climb is still legible.
func objectives(dual, primal []float64) (from, to, peak float64) {
	low, high := extent(dual)
	span := high - low
	if span <= 0 {
		span = max(math.Abs(high), 1) / 10
	}
	_, peak = extent(primal)
	peak = max(peak, high)
	return roundTo(low-0.02*span, 6), roundTo(min(peak, high+2*span)+0.06*span, 6), peak
}

// positive returns NaN for what a log axis cannot show.
func positive(v float64) float64 {
	if v > 0 {
		return v
	}
	return math.NaN()
}
