package figure

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
)

//go:embed margins.js
var marginsJS source

// MarginsData is what [Margins] draws: a decision function f of two features,
// and the n points that it was learnt from.
type MarginsData struct {
	Problem  string    // what was solved, such as "RBF(0.5), C = 10"
	Note     string    // one more sentence for the subtitle; may be empty
	Features [2]string // names of the axes; "x₁" and "x₂" when empty
	Classes  [2]string // names of y = −1 and y = +1
	Margin   float64   // 1/‖w‖; NaN when there is none

	X          [][]float64  // n × 2
	Y          []float64    // n labels ±1
	Alpha      []float64    // n, ≥ 0
	Upper      []float64    // n upper bounds of Alpha, +Inf without one
	F          []float64    // n values f(X[i])
	Line       float64      // f from −Line on speaks for y = +1; 0 but for one class
	Edge       float64      // the y·f that a free vector wants: 1, of one class 0
	States     [3][2]string // what a multiplier that is 0, free and at its bound is called, and what it wants
	Violations []float64    // n violations of the KKT conditions in units of y·f; nil leaves them out

	Xs, Ys [2]float64  // first and last node of an even grid, at least two nodes each way
	Z      [][]float64 // Z[i][j] is f at node j of Xs and node i of Ys
}

// Margins draws the field f with its lines f = 0 and f = ±1, the points by
// class, the support vectors free and at their bound, and the errors.
func Margins(d MarginsData) (*Chart, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	n := len(d.X)
	kinds := make([]int, n) // 0 none, 1 free, 2 at the bound
	wrong := make([]bool, n)
	var counts [3]int
	errors := 0
	for i, a := range d.Alpha {
		kinds[i] = support(a, d.Upper[i])
		counts[kinds[i]]++
		if wrong[i] = mistaken(d.Y[i], d.F[i], d.Line); wrong[i] {
			errors++
		}
	}

	title := fmt.Sprintf("%d of %s carry the boundary: %d free, %d at the bound; %s",
		n-counts[0], count(n, "point", "points"), counts[1], counts[2], count(errors, "error", "errors"))
	if counts[0] == n {
		title = fmt.Sprintf("No support vectors: f is constant on %s; %s", count(n, "point", "points"), count(errors, "error", "errors"))
	}
	var sub []string
	for _, s := range []string{d.Problem, d.Note} {
		if s != "" {
			sub = append(sub, s)
		}
	}
	if finite(d.Margin) && d.Margin > 0 {
		sub = append(sub, "margin 1/‖w‖ = "+number(d.Margin))
	}
	shown := d.shown(kinds, wrong)
	if len(shown) < n {
		sub = append(sub, fmt.Sprintf("%s of the points drawn", thousands(int64(len(shown)))))
	}
	subtitle := strings.Join(sub, " · ")
	for i, name := range d.Features {
		if name == "" {
			d.Features[i] = [2]string{"x₁", "x₂"}[i]
		}
	}
	for i, name := range d.Classes {
		if name == "" {
			d.Classes[i] = [2]string{"class −1", "class +1"}[i]
		}
	}

	limit, levels, zero, one := d.field()
	box := object{"x": d.Xs, "y": d.Ys, "n": fineness}
	corner := list{list{d.Xs[0], d.Ys[0]}}
	size := pointSize(len(shown))

	series := list{
		object{"type": "custom", "silent": true, "clip": true, "z": 0, "data": corner, "tooltip": object{"show": false},
			"renderItem": marksJS.cut("areas", "levels", "levels")},
		object{"type": "custom", "name": "f = 0", "silent": true, "clip": true, "z": 2, "data": corner, "itemStyle": object{"color": "@ink"},
			"renderItem": marksJS.cut("lines", "paths", "zero", "style", style("@ink", 2.6))},
		object{"type": "custom", "name": "f = ±1", "silent": true, "clip": true, "z": 2, "data": corner, "itemStyle": object{"color": "@ink"},
			"renderItem": marksJS.cut("lines", "paths", "one", "style", style("@ink", 1.6, 6, 4))},
		object{"type": "custom", "silent": true, "z": 2, "data": corner, "tooltip": object{"show": false}, "renderItem": marginsJS.cut("scale", "least", faintest, "range", stronger)},
	}
	legend := list{}
	ring := 0         // width of a line around the legend's symbol
	sizes := object{} // on a wide page; a narrow one has smaller symbols
	scatter := func(id, name, symbol string, size int, z int, silent bool, style object, in func(i int) bool, full bool) {
		data := list{}
		for _, i := range shown {
			if !in(i) {
				continue
			}
			x, y := place(d.X[i][0], d.X[i][1], d.Xs, d.Ys)
			item := list{x, y}
			if full {
				yf, bad := d.Y[i]*d.F[i], 0
				if wrong[i] {
					bad = 1
				}
				item = append(item, i, kinds[i], round4(d.Alpha[i]), round4(yf), round4(remainder(max(0, d.Edge-yf), 1)), bad)
				if d.Violations != nil {
					item = append(item, roundTo(d.Violations[i], 2))
				}
			}
			data = append(data, item)
		}
		if len(data) == 0 {
			return
		}
		series = append(series, object{"type": "scatter", "id": id, "name": name, "symbol": symbol, "symbolSize": size, "symbolKeepAspect": true, "z": z,
			"silent": silent, "data": data, "itemStyle": style, "emphasis": object{"scale": 1.4}})
		sizes[id] = size
		legend = append(legend, object{"name": name, "itemStyle": object{"borderWidth": ring}})
	}
	scatter("neg", d.Classes[0], "circle", size, 3, false, object{"color": "@neg", "borderColor": "@page", "borderWidth": 1, "opacity": 0.95},
		func(i int) bool { return d.Y[i] < 0 }, true)
	scatter("pos", d.Classes[1], diamond, size+2, 3, false, object{"color": "@pos", "borderColor": "@page", "borderWidth": 1, "opacity": 0.95},
		func(i int) bool { return d.Y[i] > 0 }, true)
	const clear = "rgba(0,0,0,0)"
	ring = 2
	scatter("free", "free support vector", "circle", size+9, 4, true, object{"color": clear, "borderColor": "@ink", "borderWidth": 2.2, "opacity": 1},
		func(i int) bool { return kinds[i] == 1 }, false)
	scatter("bound", "at the bound", "circle", size+9, 4, true, object{"color": clear, "borderColor": "@ink/0.45", "borderWidth": 2.2, "opacity": 1},
		func(i int) bool { return kinds[i] == 2 }, false)
	ring = 0
	scatter("error", "error", cross, size+5, 5, true, object{"color": "@bad", "borderColor": "@page", "borderWidth": 1, "opacity": 1},
		func(i int) bool { return wrong[i] }, false)
	if len(zero) > 0 {
		legend = append(legend, object{"name": "f = 0", "icon": stroke})
	}
	if len(one) > 0 {
		legend = append(legend, object{"name": "f = ±1", "icon": dashes})
	}

	// Equal scales on both axes where the ranges allow: distances in the
	// picture are then those that a radial kernel sees.
	aspect := (d.Ys[1] - d.Ys[0]) / (d.Xs[1] - d.Xs[0])
	if !(aspect >= 1.0/3 && aspect <= 3) {
		aspect = 0.62
	}
	alt := fmt.Sprintf("Decision function over %s and %s. %s. %s.", d.Features[0], d.Features[1], title, subtitle)
	return newChart(title, subtitle, alt, object{
		"series":  series,
		"legend":  object{"data": legend},
		"toolbox": toolbox("margins", object{}),
		"tooltip": object{"trigger": "item", "formatter": marginsJS.cut("tip")},
		"xAxis":   list{valueAxis(0, d.Xs[0], d.Xs[1], d.Features[0], 28)},
		"yAxis":   list{valueAxis(0, d.Ys[0], d.Ys[1], d.Features[1], 36)},
		"svm": object{"box": box, "levels": levels, "sizes": sizes, "zero": zero, "one": one, "limit": limit, "aspect": round4(aspect), "states": d.States,
			"layout": marginsJS.cut("layout")},
	}), nil
}

// bandStep is the width of the field's bands in units of f: the lines f = 0 and
// f = ±1 are edges of bands.
const bandStep = 0.25

// field returns the bands of the field as nested sets, each covering the ones
// before, up to ±limit, beyond which the colour stays, and the lines f = 0 and
// f = ±1.
func (d *MarginsData) field() (limit float64, levels list, zero, one [][]int) {
	ny, nx := len(d.Z), len(d.Z[0])
	low, high := math.Inf(1), math.Inf(-1)
	for _, row := range d.Z {
		low, high = min(low, slices.Min(row)), max(high, slices.Max(row))
	}
	limit = min(max(1, math.Ceil(2*max(-low, high))/2), 2)
	bands := int(limit / bandStep) // on each side of f = 0
	for k := -bands; k < bands; k++ {
		t, next := float64(k)*bandStep, float64(k+1)*bandStep
		if low > next && k+1 < bands {
			continue // the next band covers all of this one
		}
		if len(levels) == 0 {
			t = math.Inf(-1) // the first one drawn is the ground for the others
		}
		if t >= high {
			break
		}
		mid, token := (float64(k)+0.5)/float64(bands), "@pos"
		if mid < 0 {
			token, mid = "@neg", -mid
		}
		levels = append(levels, object{
			"color": fmt.Sprintf("%s*%.3f", token, bandColour(mid)),
			"paths": encodePaths(superlevel(d.Z, t), nx, ny),
		})
	}
	line := func(t float64) [][]int { return encodePaths(isolines(superlevel(d.Z, t), nx, ny), nx, ny) }
	return limit, levels, line(0), append(line(-1), line(1)...)
}

// faintest is how much of its class's colour a band about f = 0 has, and stronger how
// much more one at the limit has.
const faintest, stronger = 0.04, 0.56

// bandColour is how much of its class's colour a band has whose middle is at
// this share of the limit.
func bandColour(share float64) float64 { return faintest + stronger*share }

// shown returns the indices of the points to draw, at most drawn of them, in
// increasing order.
func (d *MarginsData) shown(kinds []int, wrong []bool) []int {
	return choose(len(d.X), func(i int) int {
		switch {
		case kinds[i] == 1:
			return 0
		case wrong[i]:
			return 1
		case kinds[i] == 2:
			return 2
		}
		return 3
	})
}

func (d *MarginsData) check() error {
	bad := func(field, reason string) error { return &InputError{Figure: "Margins", Field: field, Reason: reason} }
	n := len(d.X)
	if n == 0 {
		return bad("X", "has no points: give the training points")
	}
	if err := check("Margins", "point", n, argument{name: "Y", values: d.Y}, argument{name: "Alpha", values: d.Alpha}, argument{name: "Upper", values: d.Upper, infinite: true},
		argument{name: "F", values: d.F}, argument{name: "Violations", values: d.Violations, optional: true}); err != nil {
		return err
	}
	for i, x := range d.X {
		if len(x) != 2 {
			return bad(fmt.Sprintf("X[%d]", i), fmt.Sprintf("has %d features: the picture needs two", len(x)))
		}
		for j, v := range x {
			if !finite(v) {
				return bad(fmt.Sprintf("X[%d][%d]", i, j), fmt.Sprintf("is %v: give finite numbers", v))
			}
		}
	}
	for _, g := range []struct {
		name string
		ends [2]float64
	}{{"Xs", d.Xs}, {"Ys", d.Ys}} {
		if !finite(g.ends[1]-g.ends[0]) || g.ends[1] <= g.ends[0] {
			return bad(g.name, fmt.Sprintf("runs from %v to %v: give a finite range, the smaller end first", g.ends[0], g.ends[1]))
		}
	}
	return checkGrid("Margins", d.Z)
}
