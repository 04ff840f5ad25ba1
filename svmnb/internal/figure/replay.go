package figure

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-echarts/go-echarts/v2/types"

	"github.com/svmnb/svmnb/svmnb/internal/contour"
)

//go:embed replay.js
var replayJS source

// ReplayData is what [Replay] draws: moments of a run, in order. If X is set, one panel
// shows a classifier of two features or a regression of one. The other panel shows the α of
// each point over y·f or the residual, with the lines on which the KKT conditions hold.
type ReplayData struct {
	Problem    string    // what was solved, such as "RBF(0.5), C = 10"
	Method     string    // such as "SMO"
	Regression bool      // Alpha is β = α̂ − α and Margin the residual y − f
	Features   [2]string // names of the axes; "x₁" and "x₂" when empty
	Classes    [2]string // names of y = −1 and y = +1
	Target     string    // name of the target of a regression; "y" when empty

	X     [][]float64 // n × 2, for a regression n × 1; nil omits that panel
	Y     []float64   // n labels ±1, or targets
	Upper []float64   // n upper bounds of |Alpha|; +Inf for none
	Edge  float64     // for a classifier: y·f of a free vector, usually 1
	Ridge float64     // y·f of a free vector is Edge − Ridge·Alpha: 1/C for the 2-norm, λ for ridge regression

	Xs, Ys [2]float64 // first and last node of an even grid; a regression uses Xs only

	Frames []ReplayFrame
}

// ReplayFrame is one moment of the run.
type ReplayFrame struct {
	Iteration    int
	Primal, Dual float64 // NaN if unknown
	KKT          float64 // largest violation
	Working      []int   // indices that the last step worked on
	Alpha        []float64
	Margin       []float64   // y·f, or the residual
	Wrong        []bool      // for a classifier: which points are errors
	Epsilon      float64     // for a regression: half the width of the tube
	Z            [][]float64 // for a classifier with X: Z[i][j] is f at node j of Xs and node i of Ys
	Band         *Band       // where the label could still change; nil omits it
	Curve        []float64   // for a regression with X: f at evenly spaced places of Xs
}

// replayLevels are the edges of the bands of f that a replay draws.
var replayLevels = []float64{-1.5, -1, -0.5, 0, 0.5, 1, 1.5}

// replayWorking is the largest number of indices of a working set that are drawn.
const replayWorking = 64

// replayBytes limits the bytes of all moments. The page needs less than 100 kB for
// everything else.
const replayBytes = 400_000

// Replay draws a run that can be played by a slider. The last moment is shown first, and
// where no script runs. If the moments would make the page too large, every second one is
// left out.
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
	place := make([]int, n) // index of a point among those shown; −1 if it is not shown
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
		// Enough digits of the primal to distinguish it from the dual.
		digits := 5
		if gap := f.Primal - f.Dual; gap > 0 && finite(gap) {
			digits = min(max(digits, 3+int(math.Ceil(math.Log10(math.Abs(f.Primal)/gap+1)))), 12)
		}
		o["p"], o["d"], o["g"] = nullable(f.Primal, digits), nullable(f.Dual, digits), nullable(f.Primal-f.Dual, 3)
		var a, m strings.Builder
		for _, i := range shown {
			v := f.Alpha[i] / share[i]
			code := codeOfZero + int(math.Round(codeOfZero*v))
			// Zero and the bounds have codes of their own, which no other value gets.
			if f.Alpha[i] != 0 && math.Abs(v) < 1-1e-8 {
				code = min(max(code, 1), 2*codeOfZero-1)
				if code == codeOfZero {
					code += sign(v)
				}
			}
			digits12(&a, code)
			code = int(math.Round(mostCode * (f.Margin[i] - low) / (high - low)))
			if f.Wrong != nil { // the sign of y·f must still say which points are errors
				if first := int(math.Ceil(mostCode * -low / (high - low))); f.Wrong[i] {
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
				digits12(&c, int(math.Round(mostCode*(v-lowF)/(highF-lowF))))
			}
			o["c"] = c.String()
			sizes[at] = c.Len()
		default:
			bands := list{}
			for _, t := range replayLevels {
				paths := digitPaths(contour.At(f.Z, t).Areas())
				bands = append(bands, paths)
				sizes[at] += len(paths)
			}
			o["b"] = bands
			open := digitPaths(f.Band.open(f.Z))
			o["u"] = open
			sizes[at] += len(open)
		}
		frames = append(frames, o)
		sizes[at] += a.Len() + m.Len() + 12*len(work) + 120
		bytes += sizes[at]
	}

	for bytes > replayBytes && len(frames) > 2 {
		bytes = 0
		kept := list{}
		for k := (len(frames) - 1) % 2; k < len(frames); k += 2 { // begin so that the last one stays
			kept = append(kept, frames[k])
			bytes += sizes[k]
			sizes[len(kept)-1] = sizes[k]
		}
		frames = kept
	}

	after := count(end.Iteration, "iteration", "iterations")
	title := fmt.Sprintf("%s in %s", d.Method, after)
	switch g := end.Primal - end.Dual; {
	case g > 0 && finite(g):
		title = fmt.Sprintf("%s: the gap is %s after %s", d.Method, numberTo(g, 2), after)
	case finite(g):
		title = fmt.Sprintf("%s: the gap is closed up to rounding after %s", d.Method, after)
	}
	subtitle := sentence(d.Problem, fewer(shown, n, "the points"))
	p := plot{name: "replay", about: "A run to be played step by step.", tip: replayJS.cut("tip"),
		svm: object{"layout": replayJS.cut("layout"), "frames": frames, "digits": digitOrder, "now": replayJS.cut("now", "zero", codeOfZero, "most", mostCode), "paths": replayJS.cut("paths", "fineness", contour.Fineness), "rings": replayJS.cut("rings"),
			"low": roundTo(low, 6), "high": roundTo(high, 6), "top": roundTo(top, 6), "edge": d.Edge, "ridge": d.Ridge, "bounded": !math.IsInf(d.Upper[0], 1), "regression": d.Regression,
			"scene": d.X != nil, "points": shown, "aspect": 0, "target": either(d.Target, "y"), "share": d.varied(), "box": object{"x": d.Xs, "y": list{lowF, highF}}}}
	grids := list{}
	if d.X != nil {
		d.drawScene(&p, shown)
		grids = append(grids, object{})
	}
	d.drawSteps(&p, len(grids), shown, low, high, top)
	p.grid = append(grids, object{})
	p.keys = append(p.keys, object{"name": "worked on last", "icon": "circle", "itemStyle": object{"color": clear, "borderColor": "@series4", "borderWidth": 3}})
	p.key(d.wanted())
	p.add(custom(replayJS.cut("numbers"), corner(0, 0)).id("numbers").still().z(9))
	moments := list{}
	for _, f := range frames {
		moments = append(moments, f.(object)["i"])
	}
	p.more = object{"timeline": timeline(moments)}
	return p.chart(title, subtitle), nil
}

// timeline returns the slider over the moments, with its buttons.
func timeline(moments list) object {
	label := func(color string) object { return object{"color": color} }
	return object{"axisType": "category", "data": moments, "currentIndex": len(moments) - 1, "loop": false, "playInterval": 250, "left": 4, "right": 12, "height": 44, "bottom": 2,
		"symbolSize": 6, "tooltip": object{"formatter": replayJS.cut("moment")},
		"label":           object{"interval": "auto", "fontSize": 12, "color": "@soft"},
		"lineStyle":       object{"color": "@axis/0.5", "width": 2},
		"itemStyle":       object{"color": "@axis"},
		"checkpointStyle": object{"color": "@series4", "borderColor": "@page", "borderWidth": 2, "symbolSize": 15, "animation": false},
		"controlStyle":    object{"itemSize": 22, "itemGap": 8, "color": "@soft", "borderColor": "@soft"},
		"progress":        object{"lineStyle": label("@series4"), "itemStyle": label("@series4"), "label": label("@soft")},
		"emphasis":        object{"itemStyle": label("@series4"), "label": label("@ink"), "controlStyle": object{"color": "@ink", "borderColor": "@ink"}}}
}

// drawScene adds the panel over the features.
func (d *ReplayData) drawScene(p *plot, shown []int) {
	at, size, ys, classes := corner(d.Xs[0], d.Xs[0]), pointSize(len(shown)), d.Ys, classNames(d.Classes)
	scene := func(id, name string, draw types.FuncStr, z int) mark {
		m := custom(draw, at).id(id).name(name).still().clip().z(z).in("itemStyle", object{})
		p.add(m)
		return m
	}
	points := func(id, name, symbol string, size int, in func(i int) bool) mark {
		data := items(shown, in, func(k, i int) list {
			second := d.Y[i]
			if !d.Regression {
				second = d.X[i][1]
			}
			x, y := place(d.X[i][0], second, d.Xs, ys)
			return list{x, y, k}
		})
		m := scatter(data).id(id).name(name).symbols(symbol, size).z(3)
		p.add(m)
		p.rimmed(name, 0)
		return m
	}
	p.svm["size"] = size
	if d.Regression {
		ys[0], ys[1] = d.span()
		p.panel(valueAxis(0, d.Xs[0], d.Xs[1], either(d.Features[0], "x"), 28), valueAxis(0, ys[0], ys[1], either(d.Target, "y"), 42))
		scene("tube", "f ± ε", replayJS.cut("tube"), 1).fill("@series1").pen("@series1", 2.6)
		p.key("f ± ε")
		points("points", "point", "circle", size-2, nil).fill("@soft").opacity(0.7)
	} else {
		features := featureNames(d.Features)
		p.panel(valueAxis(0, d.Xs[0], d.Xs[1], features[0], 28), valueAxis(0, d.Ys[0], d.Ys[1], features[1], 36))
		p.svm["aspect"], p.svm["box"] = aspect(d.Xs, d.Ys, 0.8), object{"x": d.Xs, "y": d.Ys}
		colors := list{}
		bands := len(replayLevels) + 1
		for k := range bands {
			mid, token := (2*float64(k)+1)/float64(bands)-1, "@pos"
			if mid < 0 {
				mid, token = -mid, "@neg"
			}
			colors = append(colors, fmt.Sprintf("%s*%.3f", token, bandColour(mid)))
		}
		p.svm["colors"] = colors
		scene("field", "", replayJS.cut("field"), 0)
		if d.Frames[0].Band != nil {
			scene("open", openName, replayJS.cut("open", "color", openColour), 1).fill(openColour)
		}
		level := func(f float64, style string) types.FuncStr {
			return replayJS.cut("line", "level", slices.Index(replayLevels, f), "middle", len(replayLevels)/2, "last", len(replayLevels)-1, "style", style)
		}
		scene("zero", "f = 0", level(0, style("", 2.6)), 2).fill("@ink").pen("@ink", 2.6)
		scene("one", "f = ±1", level(-1, style("", 1.6, 6, 4)), 2).fill("@ink").pen("@ink", 1.6, list{6, 4})
		points("neg", classes[0], "circle", size, func(i int) bool { return d.Y[i] < 0 }).fill("@neg").edge("@page", 1)
		points("pos", classes[1], diamond, size+2, func(i int) bool { return d.Y[i] > 0 }).fill("@pos").edge("@page", 1)
	}
	ring := func(id, name, color string) {
		scene(id, name, replayJS.cut(id, "radius", size/2+4), 4).fill(color)
		p.keys = append(p.keys, object{"name": name, "icon": "circle", "itemStyle": object{"color": clear, "borderWidth": 2, "borderColor": color}})
	}
	ring("free", "free support vector", "@ink")
	if p.svm["bounded"] == true {
		ring("bound", "at the bound", "@ink/0.45")
	}
	if !d.Regression {
		scene("error", "error", replayJS.cut("wrong", "radius", size/2+1), 5).fill("@bad")
		p.key("error", cross)
		p.key("f = 0")
		p.key("f = ±1")
		if d.Frames[0].Band != nil {
			p.key(openName)
		}
	}
	scene("working", "worked on last", replayJS.cut("working", "radius", size/2+7), 6).fill(clear).edge("@series4", 3)
}

// drawSteps adds panel k, of α over y·f or residuals. It has entries in the legend if it is
// the only panel.
func (d *ReplayData) drawSteps(p *plot, k int, shown []int, low, high, top float64) {
	p.add(custom(replayJS.cut("steps"), corner(low, 0)).id("steps").name(d.wanted()).on(k).still().clip().z(1).fill("@ink").pen("@ink", 1.6, list{2, 3}))
	dots := func(id, name, color, symbol, icon string, in func(i int) bool) {
		data := items(shown, in, func(k, _ int) list { return list{low, 0, k} })
		p.add(custom(replayJS.cut("dot", "color", color, "symbol", symbol), data).id(id).name(name).on(k).z(3).fill(color))
		if d.X == nil {
			p.key(name, icon)
		}
	}
	if d.Regression {
		dots("at", "point", "@series1", "circle", "circle", nil)
	} else {
		classes := classNames(d.Classes)
		dots("atneg", classes[0], "@neg", "circle", "circle", func(i int) bool { return d.Y[i] < 0 })
		dots("atpos", classes[1], "@pos", "diamond", diamond, func(i int) bool { return d.Y[i] > 0 })
	}
	p.add(custom(replayJS.cut("atWork"), corner(low, 0)).id("atwork").name("worked on last").on(k).still().z(6).fill(clear).edge("@series4", 3))
	room := 0.06 * top
	name, floor, across := "α", -room, "y·f"
	if d.Regression {
		name, floor, across = "β", -top-room, "residual "+either(d.Target, "y")+" − f"
	}
	if d.varied() {
		name += " as a share of its bound"
	}
	p.panel(valueAxis(k, low, high, across, 28).lines(), valueAxis(k, roundTo(floor, 4), roundTo(top+room, 4), name, 44).lines())
}

// wanted returns the label of the line on which the KKT conditions hold.
func (d *ReplayData) wanted() string {
	if d.Regression {
		return "where β should be"
	}
	return "where α should be"
}

// varied reports whether the bounds differ. α is then shown as a share of its bound.
func (d *ReplayData) varied() bool {
	for _, u := range d.Upper {
		if u != d.Upper[0] {
			return true
		}
	}
	return false
}

// scale returns the divisor of each α, so that all are at most 1, and the value of 1 on the
// axis.
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
		if top *= 1.0001; top == 0 { // a little more than the largest α, so that none is drawn at a bound
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

// reach returns the ends of the axis of y·f or residuals. Values outside are drawn at the
// ends.
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

// nullable returns v rounded for JSON, or nil if it is not finite.
func nullable(v float64, digits int) any {
	if !finite(v) {
		return nil
	}
	return roundTo(v, digits)
}

// digitOrder are the digits of base 64. They are safe in JSON and HTML.
const digitOrder = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+-"

// mostCode is the largest number that two digits can encode. codeOfZero encodes α = 0; the
// codes of both bounds are equally far from it.
const mostCode, codeOfZero = 4095, 2047

// digits12 writes v, limited to 0 … mostCode, as two digits.
func digits12(b *strings.Builder, v int) {
	v = min(max(v, 0), mostCode)
	b.WriteByte(digitOrder[v>>6])
	b.WriteByte(digitOrder[v&63])
}

// digitPaths writes the paths of a contour, four digits for each place, with a space after
// each path.
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
	c := checks{figure: "Replay"}
	n, features := len(d.Y), 2
	if d.Regression {
		features = 1
	}
	c.refuse(n == 0, "Y", "has no points: give the training points")
	c.refuse(len(d.Frames) == 0, "Frames", "is empty: give at least one moment of the run")
	c.refuse(!finite(d.Edge) || !finite(d.Ridge) || d.Ridge < 0, "Ridge", "is %v with Edge %v: give finite numbers, the first ≥ 0", d.Ridge, d.Edge)
	c.refuse(d.X != nil && len(d.X) != n, "X", "has length %d for %s: give one row per point", len(d.X), count(n, "point", "points"))
	c.numbers("point", n, given("Y", d.Y), amount("Upper", d.Upper, infinite))
	c.points(d.X, features)
	if d.X != nil {
		c.span("Xs", d.Xs)
	}
	if d.X != nil && !d.Regression {
		c.span("Ys", d.Ys)
	}
	iterations := make([]int, len(d.Frames))
	for k, f := range d.Frames {
		iterations[k] = f.Iteration
		c.part = fmt.Sprintf("Frames[%d].", k)
		c.numbers("point", n, given("Alpha", f.Alpha), given("Margin", f.Margin))
		for _, i := range f.Working {
			c.refuse(i < 0 || i >= n, "Working", "has the index %d: there are %s", i, count(n, "point", "points"))
		}
		c.size("Epsilon", f.Epsilon)
		switch {
		case d.X == nil:
		case d.Regression:
			c.refuse(len(f.Curve) < 2, "Curve", "has length %d: give at least two places", len(f.Curve))
			c.numbers("place", len(f.Curve), given("Curve", f.Curve))
		default:
			c.grid(f.Z)
		}
	}
	c.part = ""
	c.rising("Frames[%d].Iteration", iterations)
	return c.err
}
