package figure

import (
	_ "embed"
	"fmt"
	"math"
	"slices"

	"github.com/svmnb/svmnb/solvers"
)

//go:embed live.js
var liveJS source

// LiveData is what [Live] draws: a run so far.
type LiveData struct {
	Title    string // how far it is, such as "SMO is running: about 4 s left"
	Problem  string // what is solved, such as "RBF(0.5), C = 10"
	Progress string // one more sentence for the subtitle, such as "12 300 iterations in 2.3 s"

	Points  []solvers.Point // increasing iterations; NaN where something was not measured
	Tol     float64         // where the run stops, on the axis of gap and violation; 0 leaves the line out
	TolName string          // what the line is called; "tolerance" and its value when empty

	Boundary *Boundary // nil leaves the third panel out
}

// Boundary is where a classifier of two features stands.
type Boundary struct {
	Features [2]string   // names of the axes; "x₁" and "x₂" when empty
	Classes  [2]string   // names of y = −1 and y = +1; "class −1" and "class +1" when empty
	X        [][]float64 // n × 2
	Y        []float64   // n labels ±1
	Alpha    []float64   // n, ≥ 0
	Xs, Ys   [2]float64  // first and last node of an even grid
	Z        [][]float64 // Z[i][j] is f at node j of Xs and node i of Ys
	Unscaled bool        // f is right but for a positive factor: only f = 0 means anything
}

// livePoints is in how many strips of the axis Live draws moments, and liveDots the
// most points.
const (
	livePoints = 240
	liveDots   = 400
)

// Live draws a run while it lasts, small enough to be drawn several times a second:
// the objectives, below them gap and KKT violation on a log axis, and beside them
// the boundary. It has the same series whatever is known, so that each picture can
// take the place of the one before.
func Live(d LiveData) (*Chart, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	axis := iterations{}
	if n := len(d.Points); n > 0 && d.Points[n-1].Iteration > 2000 {
		axis.log = true
	}
	var x, its, primal, dual, gap, kkt []float64
	best := math.Inf(1)
	for _, p := range d.Points {
		if finite(p.Primal) {
			best = min(best, p.Primal)
		}
		x, its = append(x, axis.place(float64(p.Iteration))), append(its, float64(p.Iteration))
		primal, dual = append(primal, best), append(dual, p.Dual)
		gap, kkt = append(gap, positive(best-p.Dual)), append(kkt, positive(p.KKT))
	}
	keep := thin(x, livePoints, primal, dual, gap, kkt)
	for _, c := range []*[]float64{&x, &its, &primal, &dual, &gap, &kkt} {
		*c = pick(*c, keep)
	}
	low, high, _ := objectives(dual, primal)
	first, last := 0.0, 1.0
	if n := len(d.Points); n > 0 {
		first, last = float64(d.Points[0].Iteration), max(float64(d.Points[n-1].Iteration), float64(d.Points[0].Iteration)+1)
	}
	smallest, greatest := extent(gap, kkt)
	if d.Tol > 0 {
		smallest, greatest = min(smallest, d.Tol), max(greatest, d.Tol)
	}
	if !finite(smallest) || greatest <= 0 {
		smallest, greatest = 1e-3, 1
	}
	from, to := decades(max(smallest, greatest*1e-15), greatest)

	over, under := axis.option(0, first, last, false), axis.option(1, first, last, true)
	for _, a := range []object{over, under} {
		a["splitLine"] = object{"show": true}
		a["axisPointer"] = object{"show": true, "snap": true, "label": object{"show": false}}
	}
	top, bottom := valueAxis(0, low, high, "objective", 48), logValues(1, from, to)
	top["splitLine"] = object{"show": true}
	bottom["name"], bottom["nameLocation"], bottom["nameGap"] = "gap, violation (log)", "middle", 48
	line := func(k int, id, name, y, color string, style object) object {
		merge(style, object{"id": id, "showSymbol": lone(map[string][]float64{"primal": primal, "dual": dual, "gap": gap, "kkt": kkt}[y])})
		return curve(k, name, "x", y, color, style)
	}
	series := list{
		line(0, "primal", "primal, best so far", "primal", "@pos", object{}),
		line(0, "dual", "dual", "dual", "@neg", object{}),
		line(1, "gap", "gap to the best primal", "gap", "@series4", object{}),
		line(1, "kkt", "largest KKT violation", "kkt", "@series3", object{"lineStyle": object{"type": list{7, 3}, "width": 2}}),
	}
	if d.Tol > 0 {
		t := tolerance(1, axis.place(first), axis.place(last), d.Tol, d.TolName)
		t["id"] = "tolerance"
		series = append(series, t)
	}
	legend := list{entry("primal, best so far", stroke), entry("dual", stroke), entry("gap to the best primal", stroke), entry("largest KKT violation", dashes)}
	svm := object{"layout": liveJS.cut("layout"), "x": column(x, 6), "its": its, "primal": column(primal, 6), "dual": column(dual, 6),
		"gap": column(gap, 4), "kkt": column(kkt, 4), "aspect": 0}
	grids, xs, ys := list{object{}, object{}}, list{over, under}, list{top, bottom}
	if b := d.Boundary; b != nil {
		marks, entries, ends := b.draw(svm)
		series, legend = append(series, marks...), append(legend, entries...)
		grids, xs, ys = append(grids, object{}), append(xs, ends[0]), append(ys, ends[1])
	}
	subtitle := sentence(d.Problem, d.Progress)
	return newChart(d.Title, subtitle, "A solver at work: objectives, gap and KKT violation against iterations. "+d.Title+". "+subtitle+".", object{
		"legend":      object{"data": legend},
		"toolbox":     toolbox("live", object{}),
		"tooltip":     object{"trigger": "axis", "formatter": liveJS.cut("tip")},
		"axisPointer": object{"link": list{object{"xAxisIndex": list{0, 1}}}},
		"grid":        grids, "xAxis": xs, "yAxis": ys, "svm": svm, "series": series,
	}), nil
}

// draw returns the series of the boundary's panel, which is the third, with their
// entries in the legend and the two axes. What the lines are goes to svm.
func (b *Boundary) draw(svm object) (series, legend list, axes [2]object) {
	ny, nx := len(b.Z), len(b.Z[0])
	line := func(t float64) [][]int { return encodePaths(isolines(superlevel(b.Z, t), nx, ny), nx, ny) }
	svm["box"], svm["zero"], svm["one"] = object{"x": b.Xs, "y": b.Ys, "n": fineness}, line(0), [][]int{}
	if !b.Unscaled {
		svm["one"] = append(line(-1), line(1)...)
	}
	aspect := (b.Ys[1] - b.Ys[0]) / (b.Xs[1] - b.Xs[0])
	if !(aspect >= 1.0/3 && aspect <= 3) {
		aspect = 0.8
	}
	svm["aspect"] = round4(aspect)
	corner := list{list{b.Xs[0], b.Ys[0]}}
	panel := func(o object) object {
		merge(o, object{"xAxisIndex": 2, "yAxisIndex": 2, "silent": true, "tooltip": object{"show": false}})
		return o
	}
	series = list{
		panel(object{"type": "custom", "id": "zero", "name": "f = 0", "clip": true, "z": 3, "data": corner, "itemStyle": object{"color": "@ink"},
			"renderItem": marksJS.cut("lines", "paths", "zero", "style", style("@ink", 2.6))}),
		panel(object{"type": "custom", "id": "one", "name": "f = ±1", "clip": true, "z": 3, "data": corner, "itemStyle": object{"color": "@ink"},
			"renderItem": marksJS.cut("lines", "paths", "one", "style", style("@ink", 1.4, 6, 4))}),
	}
	shown := sample(floats(upTo(len(b.X))), liveDots)
	dots := func(id, name, symbol string, size int, z int, style object, in func(i int) bool) {
		data := list{}
		for _, i := range shown {
			if in(i) {
				x, y := place(b.X[i][0], b.X[i][1], b.Xs, b.Ys)
				data = append(data, list{x, y})
			}
		}
		series = append(series, panel(object{"type": "scatter", "id": id, "name": name, "symbol": symbol, "symbolSize": size, "z": z, "data": data, "itemStyle": style}))
	}
	classes := [2]string{either(b.Classes[0], "class −1"), either(b.Classes[1], "class +1")}
	dots("neg", classes[0], "circle", 7, 2, object{"color": "@neg", "opacity": 0.8}, func(i int) bool { return b.Y[i] < 0 })
	dots("pos", classes[1], diamond, 8, 2, object{"color": "@pos", "opacity": 0.8}, func(i int) bool { return b.Y[i] > 0 })
	dots("support", "support vector so far", "circle", 13, 4, object{"color": "rgba(0,0,0,0)", "borderColor": "@ink/0.6", "borderWidth": 1.6}, func(i int) bool { return b.Alpha[i] > 0 })
	legend = list{object{"name": classes[0]}, object{"name": classes[1]}, object{"name": "support vector so far"}, entry("f = 0", stroke)}
	if !b.Unscaled {
		legend = append(legend, entry("f = ±1", dashes))
	}
	axes = [2]object{valueAxis(2, b.Xs[0], b.Xs[1], either(b.Features[0], "x₁"), 28), valueAxis(2, b.Ys[0], b.Ys[1], either(b.Features[1], "x₂"), 36)}
	return series, legend, axes
}

// upTo returns 0 … n−1.
func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func (d *LiveData) check() error {
	for k, p := range d.Points {
		if k > 0 && p.Iteration <= d.Points[k-1].Iteration || p.Iteration < 0 {
			return &InputError{Figure: "Live", Field: fmt.Sprintf("Points[%d].Iteration", k), Reason: fmt.Sprintf("is %d: give increasing numbers from 0", p.Iteration)}
		}
	}
	if !slices.ContainsFunc(d.Points, func(p solvers.Point) bool { return finite(p.Dual) }) {
		return &InputError{Figure: "Live", Field: "Points", Reason: "has no measured dual objective: give the trace of a run"}
	}
	if !finite(d.Tol) || d.Tol < 0 {
		return &InputError{Figure: "Live", Field: "Tol", Reason: fmt.Sprintf("is %v: give a number ≥ 0", d.Tol)}
	}
	if b := d.Boundary; b != nil {
		m := MarginsData{X: b.X, Y: b.Y, Alpha: b.Alpha, Upper: b.Alpha, F: b.Y, Xs: b.Xs, Ys: b.Ys, Z: b.Z}
		if err := m.check(); err != nil {
			e := err.(*InputError)
			return &InputError{Figure: "Live", Field: "Boundary." + e.Field, Reason: e.Reason}
		}
	}
	return nil
}
