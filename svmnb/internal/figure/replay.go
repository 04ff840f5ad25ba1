package figure

import (
	_ "embed"
	"fmt"
	"math"
	"strings"

	"github.com/go-echarts/go-echarts/v2/types"
)

//go:embed replay.js
var replayJS source

// ReplayData is what [Replay] draws: moments of a run, in order. With X it draws them
// over the features, a classifier of two or a regression of one; beside that, or
// alone, each point's α against where the conditions of Karush, Kuhn and Tucker want
// it.
type ReplayData struct {
	Problem    string    // what was solved, such as "RBF(0.5), C = 10"
	Method     string    // such as "SMO"
	Regression bool      // Alpha is β = α̂ − α and Margin the residual y − f
	Features   [2]string // names of the axes; "x₁" and "x₂" when empty
	Classes    [2]string // names of y = −1 and y = +1
	Target     string    // of a regression; "y" when empty

	X     [][]float64 // n × 2, of a regression n × 1; nil leaves that panel out
	Y     []float64   // n labels ±1, or targets
	Upper []float64   // n upper bounds of |Alpha|, +Inf without one
	Edge  float64     // of a classifier: the y·f that a free vector wants, 1 as a rule
	Ridge float64     // by how much less it wants for each unit of Alpha: 1/C of the 2-norm, λ of ridge regression

	Xs, Ys [2]float64 // first and last node of an even grid; of a regression Xs only

	Frames []ReplayFrame
}

// ReplayFrame is one moment.
type ReplayFrame struct {
	Iteration    int
	Primal, Dual float64 // NaN where there is none
	KKT          float64 // largest violation
	Working      []int   // what the last step has worked on
	Alpha        []float64
	Margin       []float64   // y·f, or the residual
	Wrong        []bool      // of a classifier: which points are taken for the other class
	Epsilon      float64     // of a regression: half the width of the tube
	Z            [][]float64 // with X, of a classifier: Z[i][j] is f at node j of Xs and node i of Ys
	Curve        []float64   // with X, of a regression: f at even places of Xs
}

// replayLevels are the edges of the bands of f that a replay draws.
var replayLevels = []float64{-1.5, -1, -0.5, 0, 0.5, 1, 1.5}

// replayWorking is the most indices of a working set that are drawn.
const replayWorking = 64

// replayBytes is how much all moments may take; the page needs less than 100 kB for
// the rest.
const replayBytes = 400_000

// Replay draws a run that can be played: the slider's moments are the frames, the
// last of which is shown first and where no script runs. Where they would take more
// than a page should hold, every second one is left out.
func Replay(d ReplayData) (*Chart, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	n, end := len(d.Y), d.Frames[len(d.Frames)-1]
	shown := choose(n, func(i int) int {
		if end.Alpha[i] != 0 {
			return 0
		}
		return 1
	})
	place := make([]int, n) // of a point among those shown, −1 for the others
	for i := range place {
		place[i] = -1
	}
	for k, i := range shown {
		place[i] = k
	}
	share, top := d.scale()
	low, high := d.reach()
	lowF, highF := d.span()
	frames, sizes, bytes := list{}, make([]int, len(d.Frames)), 0
	for at, f := range d.Frames {
		o := object{"i": f.Iteration, "k": nullable(f.KKT, 4), "e": round4(f.Epsilon)}
		// Of the primal as many digits as tell it from the dual.
		digits := 5
		if gap := f.Primal - f.Dual; gap > 0 && finite(gap) {
			digits = min(max(digits, 3+int(math.Ceil(math.Log10(math.Abs(f.Primal)/gap+1)))), 12)
		}
		o["p"], o["d"], o["g"] = nullable(f.Primal, digits), nullable(f.Dual, digits), nullable(f.Primal-f.Dual, 3)
		var a, m strings.Builder
		for _, i := range shown {
			v := f.Alpha[i] / share[i]
			code := 2047 + int(math.Round(2047*v))
			// Zero and the bounds are exact, and nothing else looks like them.
			if f.Alpha[i] != 0 && math.Abs(v) < 1-1e-8 {
				code = min(max(code, 1), 4093)
				if code == 2047 {
					code += sign(v)
				}
			}
			digits12(&a, code)
			code = int(math.Round(4095 * (f.Margin[i] - low) / (high - low)))
			if f.Wrong != nil { // the sign of y·f says which points are errors
				if first := int(math.Ceil(4095 * -low / (high - low))); f.Wrong[i] {
					code = min(code, first-1)
				} else {
					code = max(code, first)
				}
			}
			digits12(&m, code)
		}
		o["a"], o["m"], o["n"] = a.String(), m.String(), len(f.Working)
		work := list{}
		for _, i := range f.Working[:min(len(f.Working), replayWorking)] {
			work = append(work, list{i, place[i]})
		}
		o["w"] = work
		switch {
		case d.X == nil:
		case d.Regression:
			var c strings.Builder
			for _, v := range f.Curve {
				digits12(&c, int(math.Round(4095*(v-lowF)/(highF-lowF))))
			}
			o["c"] = c.String()
			sizes[at] = c.Len()
		default:
			bands := list{}
			for _, t := range replayLevels {
				paths := digitPaths(encodePaths(superlevel(f.Z, t), len(f.Z[0]), len(f.Z)))
				bands = append(bands, paths)
				sizes[at] += len(paths)
			}
			o["b"] = bands
		}
		frames = append(frames, o)
		sizes[at] += a.Len() + m.Len() + 12*len(work) + 120
		bytes += sizes[at]
	}

	for bytes > replayBytes && len(frames) > 2 {
		bytes = 0
		kept := list{}
		for k := (len(frames) - 1) % 2; k < len(frames); k += 2 { // the last one stays
			kept = append(kept, frames[k])
			bytes += sizes[k]
			sizes[len(kept)-1] = sizes[k]
		}
		frames = kept
	}

	title := fmt.Sprintf("%s in %s", d.Method, count(end.Iteration, "iteration", "iterations"))
	if g := end.Primal - end.Dual; finite(g) {
		title += ": the gap at its end is " + numberTo(g, 3)
	}
	fewer := ""
	if len(shown) < n {
		fewer = thousands(int64(len(shown))) + " of the points drawn"
	}
	subtitle := sentence(d.Problem, fewer)
	svm := object{"layout": replayJS.cut("layout"), "frames": frames, "digits": digitOrder, "now": replayJS.cut("now"), "paths": replayJS.cut("paths", "fineness", fineness), "rings": replayJS.cut("rings"),
		"low": roundTo(low, 6), "high": roundTo(high, 6), "top": roundTo(top, 6), "edge": d.Edge, "ridge": d.Ridge, "bounded": !math.IsInf(d.Upper[0], 1), "regression": d.Regression,
		"scene": d.X != nil, "points": shown, "aspect": 0, "target": either(d.Target, "y"), "share": d.varied(), "box": object{"x": d.Xs, "y": list{lowF, highF}}}
	var series, legend, grids, xs, ys list
	if d.X != nil {
		series, legend = d.drawScene(svm, shown)
		grids = list{object{}}
		if d.Regression {
			xs, ys = list{valueAxis(0, d.Xs[0], d.Xs[1], either(d.Features[0], "x"), 28)}, list{valueAxis(0, lowF, highF, either(d.Target, "y"), 42)}
		} else {
			xs, ys = list{valueAxis(0, d.Xs[0], d.Xs[1], either(d.Features[0], "x₁"), 28)}, list{valueAxis(0, d.Ys[0], d.Ys[1], either(d.Features[1], "x₂"), 36)}
		}
	}
	steps, entries, axes := d.drawSteps(len(grids), shown, low, high, top)
	series, grids, xs, ys = append(series, steps...), append(grids, object{}), append(xs, axes[0]), append(ys, axes[1])
	if d.X == nil {
		legend = entries
	}
	legend = append(legend, object{"name": "worked on last", "icon": "circle", "itemStyle": object{"color": "rgba(0,0,0,0)", "borderColor": "@series4", "borderWidth": 3}}, entry(d.wanted(), dashes))
	series = append(series, object{"type": "custom", "id": "numbers", "silent": true, "z": 9, "data": list{list{0, 0}}, "tooltip": object{"show": false}, "renderItem": replayJS.cut("numbers")})
	labels := list{}
	for _, f := range frames {
		labels = append(labels, f.(object)["i"])
	}
	return newChart(title, subtitle, "A run to be played step by step. "+title+". "+subtitle+".", object{
		"legend": object{"data": legend}, "toolbox": toolbox("replay", object{}),
		"tooltip": object{"trigger": "item", "formatter": replayJS.cut("tip")},
		"grid":    grids, "xAxis": xs, "yAxis": ys, "svm": svm, "series": series,
		"timeline": object{"axisType": "category", "data": labels, "currentIndex": len(labels) - 1, "loop": false, "playInterval": 250, "left": 4, "right": 12, "height": 44, "bottom": 2,
			"symbolSize": 6, "tooltip": object{"formatter": replayJS.cut("moment")},
			"label":           object{"interval": "auto", "fontSize": 12, "color": "@soft"},
			"lineStyle":       object{"color": "@axis/0.5", "width": 2},
			"itemStyle":       object{"color": "@axis"},
			"checkpointStyle": object{"color": "@series4", "borderColor": "@page", "borderWidth": 2, "symbolSize": 15, "animation": false},
			"controlStyle":    object{"itemSize": 22, "itemGap": 8, "color": "@soft", "borderColor": "@soft"},
			"progress":        object{"lineStyle": object{"color": "@series4"}, "itemStyle": object{"color": "@series4"}, "label": object{"color": "@soft"}},
			"emphasis":        object{"itemStyle": object{"color": "@series4"}, "label": object{"color": "@ink"}, "controlStyle": object{"color": "@ink", "borderColor": "@ink"}}},
	}), nil
}

// drawScene returns the series of the panel of the features.
func (d *ReplayData) drawScene(svm object, shown []int) (series, legend list) {
	corner := list{list{d.Xs[0], d.Xs[0]}}
	custom := func(id, name string, render types.FuncStr, z int, style object) object {
		return object{"type": "custom", "id": id, "name": name, "silent": true, "clip": true, "z": z, "data": corner, "tooltip": object{"show": false}, "itemStyle": style, "renderItem": render}
	}
	none := object{}
	size, ys := pointSize(len(shown)), d.Ys
	points := func(id, name, symbol string, size int, style object, in func(i int) bool) {
		data := list{}
		for k, i := range shown {
			if !in(i) {
				continue
			}
			second := d.Y[i]
			if !d.Regression {
				second = d.X[i][1]
			}
			x, y := place(d.X[i][0], second, d.Xs, ys)
			data = append(data, list{x, y, k})
		}
		series = append(series, object{"type": "scatter", "id": id, "name": name, "symbol": symbol, "symbolSize": size, "z": 3, "data": data, "itemStyle": style})
		legend = append(legend, object{"name": name, "itemStyle": object{"borderWidth": 0}})
	}
	svm["size"] = size
	if d.Regression {
		ys[0], ys[1] = d.span()
		series = append(series, custom("tube", "f ± ε", replayJS.cut("tube"), 1, object{"color": "@series1"}))
		points("points", "point", "circle", size-2, object{"color": "@soft", "opacity": 0.7}, func(int) bool { return true })
		legend = append(list{entry("f ± ε", stroke)}, legend...)
	} else {
		aspect := (d.Ys[1] - d.Ys[0]) / (d.Xs[1] - d.Xs[0])
		if !(aspect >= 1.0/3 && aspect <= 3) {
			aspect = 0.8
		}
		svm["aspect"] = round4(aspect)
		svm["box"] = object{"x": d.Xs, "y": d.Ys}
		colors := list{}
		bands := len(replayLevels) + 1
		for k := range bands {
			mid, token := (2*float64(k)+1)/float64(bands)-1, "@pos"
			if mid < 0 {
				mid, token = -mid, "@neg"
			}
			colors = append(colors, fmt.Sprintf("%s*%.3f", token, bandColour(mid)))
		}
		svm["colors"] = colors
		series = append(series, custom("field", "", replayJS.cut("field"), 0, none),
			custom("zero", "f = 0", replayJS.cut("line", "level", 3, "style", style("", 2.6)), 2, object{"color": "@ink"}),
			custom("one", "f = ±1", replayJS.cut("line", "level", 1, "style", style("", 1.6, 6, 4)), 2, object{"color": "@ink"}))
		points("neg", either(d.Classes[0], "class −1"), "circle", size, object{"color": "@neg", "borderColor": "@page", "borderWidth": 1}, func(i int) bool { return d.Y[i] < 0 })
		points("pos", either(d.Classes[1], "class +1"), diamond, size+2, object{"color": "@pos", "borderColor": "@page", "borderWidth": 1}, func(i int) bool { return d.Y[i] > 0 })
	}
	ring := func(id, name string, look object) {
		series = append(series, custom(id, name, replayJS.cut(id, "radius", size/2+4), 4, look))
		legend = append(legend, object{"name": name, "icon": "circle", "itemStyle": object{"color": "rgba(0,0,0,0)", "borderWidth": 2, "borderColor": look["color"]}})
	}
	ring("free", "free support vector", object{"color": "@ink"})
	if svm["bounded"] == true {
		ring("bound", "at the bound", object{"color": "@ink/0.45"})
	}
	if !d.Regression {
		series = append(series, custom("error", "error", replayJS.cut("wrong", "radius", size/2+1), 5, object{"color": "@bad"}))
		legend = append(legend, entry("error", cross), entry("f = 0", stroke), entry("f = ±1", dashes))
	}
	series = append(series, custom("working", "worked on last", replayJS.cut("working", "radius", size/2+7), 6, object{"color": "rgba(0,0,0,0)", "borderColor": "@series4", "borderWidth": 3}))
	return series, legend
}

// drawSteps returns the series of panel k, of α against margins or residuals.
func (d *ReplayData) drawSteps(k int, shown []int, low, high, top float64) (series, legend list, axes [2]object) {
	series = append(series, object{"type": "custom", "id": "steps", "name": d.wanted(), "xAxisIndex": k, "yAxisIndex": k, "silent": true, "clip": true, "z": 1, "data": list{list{low, 0}},
		"itemStyle": object{"color": "@ink"}, "tooltip": object{"show": false}, "renderItem": replayJS.cut("steps")})
	dots := func(id, name, token, symbol string, in func(i int) bool) {
		data := list{}
		for at, i := range shown {
			if in(i) {
				data = append(data, list{low, 0, at})
			}
		}
		series = append(series, object{"type": "custom", "id": id, "name": name, "xAxisIndex": k, "yAxisIndex": k, "z": 3, "data": data, "itemStyle": object{"color": token},
			"renderItem": replayJS.cut("dot", "color", token, "symbol", symbol)})
		legend = append(legend, entry(name, either(map[string]string{"diamond": diamond}[symbol], "circle")))
	}
	if d.Regression {
		dots("at", "point", "@series1", "circle", func(int) bool { return true })
	} else {
		dots("atneg", either(d.Classes[0], "class −1"), "@neg", "circle", func(i int) bool { return d.Y[i] < 0 })
		dots("atpos", either(d.Classes[1], "class +1"), "@pos", "diamond", func(i int) bool { return d.Y[i] > 0 })
	}
	series = append(series, object{"type": "custom", "id": "atwork", "name": "worked on last", "xAxisIndex": k, "yAxisIndex": k, "silent": true, "z": 6, "data": list{list{low, 0}}, "tooltip": object{"show": false},
		"itemStyle":  object{"color": "rgba(0,0,0,0)", "borderColor": "@series4", "borderWidth": 3},
		"renderItem": replayJS.cut("atWork")})
	room := 0.06 * top
	name, floor, across := "α", -room, "y·f"
	if d.Regression {
		name, floor, across = "β", -top-room, "residual "+either(d.Target, "y")+" − f"
	}
	if d.varied() {
		name += " as a share of its bound"
	}
	axes = [2]object{valueAxis(k, low, high, across, 28), valueAxis(k, roundTo(floor, 4), roundTo(top+room, 4), name, 44)}
	for _, a := range axes {
		a["splitLine"] = object{"show": true}
	}
	return series, legend, axes
}

// wanted is what the line of the conditions is called.
func (d *ReplayData) wanted() string {
	if d.Regression {
		return "where β should be"
	}
	return "where α should be"
}

// varied reports whether the bounds differ, so that α are shown as shares of them.
func (d *ReplayData) varied() bool {
	for _, u := range d.Upper {
		if u != d.Upper[0] {
			return true
		}
	}
	return false
}

// scale returns what each α is divided by to be at most 1, and what 1 is on the axis.
func (d *ReplayData) scale() (share []float64, top float64) {
	share, top = make([]float64, len(d.Upper)), d.Upper[0]
	if d.varied() {
		copy(share, d.Upper)
		top = 1
	} else if math.IsInf(top, 1) {
		top = 0
		for _, f := range d.Frames {
			for _, a := range f.Alpha {
				top = max(top, math.Abs(a))
			}
		}
		if top *= 1.0001; top == 0 { // so that none is at a bound
			top = 1
		}
	}
	for i := range share {
		if share[i] == 0 || math.IsInf(share[i], 1) {
			share[i] = top
		}
	}
	return share, top
}

// reach returns the ends of the axis of margins or residuals; what lies beyond is
// drawn there.
func (d *ReplayData) reach() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, f := range d.Frames {
		a, b := extent(f.Margin)
		low, high = min(low, a), max(high, b)
	}
	end := d.Frames[len(d.Frames)-1]
	if d.Regression {
		a, b := extent(end.Margin)
		r := min(max(1.5*max(b, -a), 2*end.Epsilon), 1.02*max(high, -low, end.Epsilon))
		return widen(-r, r, 0.03)
	}
	return widen(max(min(low, d.Edge-1), d.Edge-3), min(max(high, d.Edge+1), d.Edge+3), 0.03)
}

// span returns the ends of the axis of targets.
func (d *ReplayData) span() (low, high float64) {
	if !d.Regression || d.X == nil {
		return 0, 1
	}
	end := d.Frames[len(d.Frames)-1]
	low, high = extent(d.Y, end.Curve)
	return widen(low-end.Epsilon, high+end.Epsilon, 0.06)
}

// nullable is v for JSON, nil where it is no number.
func nullable(v float64, digits int) any {
	if !finite(v) {
		return nil
	}
	return roundTo(v, digits)
}

// digitOrder are the digits of base 64, safe in JSON and in a page.
const digitOrder = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+-"

// digits12 writes v, cut to 0 … 4095, in two digits.
func digits12(b *strings.Builder, v int) {
	v = min(max(v, 0), 4095)
	b.WriteByte(digitOrder[v>>6])
	b.WriteByte(digitOrder[v&63])
}

// digitPaths writes what encodePaths has made, each place by itself in four digits,
// with a space after each path.
func digitPaths(paths [][]int) string {
	var b strings.Builder
	for _, p := range paths {
		x, y := 0, 0
		for i := 0; i < len(p); i += 2 {
			x, y = x+p[i], y+p[i+1]
			digits12(&b, x)
			digits12(&b, y)
		}
		b.WriteByte(' ')
	}
	return b.String()
}

func (d *ReplayData) check() error {
	bad := func(field, reason string) error {
		return &InputError{Figure: "Replay", Field: field, Reason: reason}
	}
	n := len(d.Y)
	switch {
	case n == 0:
		return bad("Y", "has no points: give the training points")
	case len(d.Frames) == 0:
		return bad("Frames", "is empty: give at least one moment of the run")
	case !finite(d.Edge) || !finite(d.Ridge) || d.Ridge < 0:
		return bad("Ridge", fmt.Sprintf("is %v with Edge %v: give finite numbers, the first ≥ 0", d.Ridge, d.Edge))
	case d.X != nil && len(d.X) != n:
		return bad("X", fmt.Sprintf("has length %d for %s: give one row per point", len(d.X), count(n, "point", "points")))
	}
	if err := check("Replay", "point", n, argument{name: "Y", values: d.Y}, argument{name: "Upper", values: d.Upper, positive: true, infinite: true}); err != nil {
		return err
	}
	columns := 2
	if d.Regression {
		columns = 1
	}
	for i, x := range d.X {
		if len(x) != columns {
			return bad(fmt.Sprintf("X[%d]", i), fmt.Sprintf("has %d features: give %d", len(x), columns))
		}
		if err := check("Replay", "feature", columns, argument{name: fmt.Sprintf("X[%d]", i), values: x}); err != nil {
			return err
		}
	}
	if d.X != nil && (!finite(d.Xs[1]-d.Xs[0]) || d.Xs[1] <= d.Xs[0] || !d.Regression && (!finite(d.Ys[1]-d.Ys[0]) || d.Ys[1] <= d.Ys[0])) {
		return bad("Xs", fmt.Sprintf("runs from %v to %v and Ys from %v to %v: give finite ranges, the smaller end first", d.Xs[0], d.Xs[1], d.Ys[0], d.Ys[1]))
	}
	for k, f := range d.Frames {
		field := fmt.Sprintf("Frames[%d].", k)
		if f.Iteration < 0 || k > 0 && f.Iteration <= d.Frames[k-1].Iteration {
			return bad(field+"Iteration", fmt.Sprintf("is %d: give increasing numbers from 0", f.Iteration))
		}
		if err := check("Replay", "point", n, argument{name: field + "Alpha", values: f.Alpha}, argument{name: field + "Margin", values: f.Margin}); err != nil {
			return err
		}
		for _, i := range f.Working {
			if i < 0 || i >= n {
				return bad(field+"Working", fmt.Sprintf("has the index %d: there are %s", i, count(n, "point", "points")))
			}
		}
		if !finite(f.Epsilon) || f.Epsilon < 0 {
			return bad(field+"Epsilon", fmt.Sprintf("is %v: give a number ≥ 0", f.Epsilon))
		}
		switch {
		case d.X == nil:
		case d.Regression:
			if len(f.Curve) < 2 {
				return bad(field+"Curve", fmt.Sprintf("has length %d: give at least two places", len(f.Curve)))
			}
			if err := check("Replay", "place", len(f.Curve), argument{name: field + "Curve", values: f.Curve}); err != nil {
				return err
			}
		default:
			if err := checkGrid("Replay", f.Z); err != nil {
				e := err.(*InputError)
				e.Field = field + e.Field
				return e
			}
		}
	}
	return nil
}
