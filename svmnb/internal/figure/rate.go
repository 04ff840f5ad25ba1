package figure

import (
	"fmt"
	"math"
	"strings"

	"github.com/svmnb/svmnb/solvers"
)

// RateData is what [Rate] draws: the trace of a run.
type RateData struct {
	Problem string          // what was solved and how
	Points  []solvers.Point // increasing iterations; NaN where something was not measured
	Unit    string          // what an iteration is; "iteration" when empty
}

// FitRate fits a straight line to the logarithm of the smallest gap so far, over
// the second half of the iterations in which it fell: gap ≈ start · factor^k at
// iteration k. A method that converges linearly has a factor below 1 (CST §7.2:
// ‖α^t − α*‖ ≤ μδ^t). Gaps below 1e-12 of the objective are rounding and are left
// out; fewer than three others give NaN.
func FitRate(points []solvers.Point) (factor, start float64, from int) {
	var x, y []float64
	best := math.Inf(1)
	for _, p := range points {
		if finite(p.Gap) && p.Gap > lastDigits(p) && p.Gap < best {
			best = p.Gap
			x, y = append(x, float64(p.Iteration)), append(y, math.Log(p.Gap))
		}
	}
	for len(x) > 3 && x[0] < x[len(x)-1]/2 {
		x, y = x[1:], y[1:]
	}
	if len(x) < 3 {
		return math.NaN(), math.NaN(), 0
	}
	n, mx, my := float64(len(x)), 0.0, 0.0
	for i := range x {
		mx, my = mx+x[i]/n, my+y[i]/n
	}
	sxx, sxy := 0.0, 0.0
	for i := range x {
		sxx += (x[i] - mx) * (x[i] - mx)
		sxy += (x[i] - mx) * (y[i] - my)
	}
	slope := sxy / sxx
	return math.Exp(slope), math.Exp(my - slope*mx), int(x[0])
}

// lastDigits is the size below which a gap is rounding, and is drawn there.
func lastDigits(p solvers.Point) float64 {
	if !finite(p.Dual) {
		return 0
	}
	return 1e-12 * (1 + math.Abs(p.Dual))
}

// Rate draws the smallest gap so far against iterations, on a log scale where
// linear convergence is a straight line, with the line that fits it.
func Rate(d RateData) (*Chart, error) {
	factor, start, from := FitRate(d.Points)
	if math.IsNaN(factor) {
		return nil, &InputError{Figure: "Rate", Field: "Points", Reason: "has fewer than three points with a positive gap that falls: give the trace of a longer run"}
	}
	var x, gap []float64
	best := math.Inf(1)
	for _, p := range d.Points {
		if finite(p.Gap) && p.Gap > 0 {
			best = min(best, max(p.Gap, lastDigits(p)))
			x, gap = append(x, float64(p.Iteration)), append(gap, best)
		}
	}
	unit := d.Unit
	if unit == "" {
		unit = "iteration"
	}
	title := fmt.Sprintf("The gap falls by a factor of %s per %s: tenfold in %s", numberTo(factor, 4), unit, numberTo(math.Ln10/-math.Log(factor), 3))
	if factor >= 1 {
		title = fmt.Sprintf("The gap does not fall: a factor of %s per %s", numberTo(factor, 4), unit)
	}
	var sub []string
	if d.Problem != "" {
		sub = append(sub, d.Problem)
	}
	end := x[len(x)-1]
	sub = append(sub, fmt.Sprintf("fitted from %s %s on", unit, thousands(int64(from))))
	subtitle := strings.Join(sub, " · ")

	axis := iterations{}
	under := axis.option(0, x[0], max(end, x[0]+1), true)
	under["name"] = unit
	under["splitLine"] = object{"show": true}
	low, high := gap[len(gap)-1], gap[0]
	lo, hi := decades(low, high)
	ys := logValues(0, lo, hi)
	ys["name"], ys["nameLocation"], ys["nameGap"] = "gap (log scale)", "middle", 48
	var gaps list
	for _, k := range sample(x, gapPoints) {
		gaps = append(gaps, list{x[k], roundTo(gap[k], 4)})
	}
	at := func(k float64) list { return list{k, roundTo(start*math.Pow(factor, k), 6)} }
	return newChart(title, subtitle, "The smallest gap so far against iterations, on a log scale. "+title+". "+subtitle+".", object{
		"legend":  object{"data": list{entry("gap, smallest so far", stroke), entry("fitted line", dashes)}},
		"toolbox": toolbox("rate", object{"xAxisIndex": list{0}}),
		"tooltip": object{"trigger": "axis"},
		"grid":    list{object{}},
		"xAxis":   list{under},
		"yAxis":   list{ys},
		"svm":     object{"layout": script(rateLayout)},
		"series": list{
			object{"type": "line", "name": "gap, smallest so far", "showSymbol": false, "data": gaps,
				"itemStyle": object{"color": "@series4"}, "lineStyle": object{"color": "@series4", "width": 2.6}, "emphasis": object{"disabled": true}},
			object{"type": "line", "name": "fitted line", "showSymbol": false, "clip": true, "data": list{at(float64(from)), at(end)},
				"itemStyle": object{"color": "@ink"}, "lineStyle": object{"color": "@ink", "width": 1.6, "type": "dashed"}, "emphasis": object{"disabled": true}},
		},
	}), nil
}

const rateLayout = `function (w, top) {
	var narrow = w < 520, height = narrow ? 220 : 300;
	return { height: top + height + 52, option: { grid: [{ left: narrow ? 60 : 76, right: narrow ? 14 : 26, top: top, height: height }] } };
}`
