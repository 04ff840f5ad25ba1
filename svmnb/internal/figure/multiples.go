package figure

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
)

//go:embed multiples.js
var multiplesJS source

// MultiplesData is what [Multiples] draws: one problem, solved with rows × columns
// settings. All panels are fields over two features, or all are curves over one feature.
type MultiplesData struct {
	Problem  string    // what all panels have in common
	Note     string    // one more sentence for the subtitle; may be empty
	Features [2]string // names of the two features, or of the only feature and the target
	Classes  [2]string // for fields: names of y = −1 and y = +1
	Rows     []string  // the setting of each row, such as "C = 10"
	Columns  []string  // the setting of each column
	Measure  string    // what Value is, such as "errors"

	X [][]float64 // n × 2 for fields, n × 1 for curves
	Y []float64   // n labels ±1, or n targets

	Xs, Ys [2]float64 // for fields: first and last node of an even grid
	Places []float64  // for curves: m ≥ 2 increasing places

	Panels [][]Panel // rows × columns
}

// Panel is the result of one setting. Without Z and F it shows the points only.
type Panel struct {
	Note         string      // the result in a few words
	Value        float64     // the value of Measure; NaN if unknown
	Z            [][]float64 // Z[i][j] is f at node j of Xs and node i of Ys
	F            []float64   // m values of f
	Lower, Upper []float64   // m values each, the edges of the band around F; nil for no band
}

// mostPanels is the largest number of rows and of columns.
const mostPanels = 5

// Multiples draws one picture for each setting, all with the same axes: fields with the
// lines f = 0 and f = ±1, or curves with their bands, and the points.
func Multiples(d MultiplesData) (*Chart, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	n, fields := len(d.X), d.Places == nil
	d.Features = featureNames(d.Features)
	low, high := math.Inf(1), math.Inf(-1)
	curves := [][]float64{d.Y}
	for _, row := range d.Panels {
		for _, p := range row {
			if finite(p.Value) {
				low, high = min(low, p.Value), max(high, p.Value)
			}
			curves = append(curves, p.F, p.Lower, p.Upper)
		}
	}
	settings := len(d.Rows) * len(d.Columns)
	title := fmt.Sprintf("%s under %s", count(n, "point", "points"), count(settings, "setting", "settings"))
	switch {
	case low == high:
		title += fmt.Sprintf(": %s %s", d.Measure, number(low))
	case low < high:
		title += fmt.Sprintf(": %s from %s to %s", d.Measure, number(low), number(high))
	}
	shown := choose(n, func(int) int { return 0 })
	subtitle := sentence(d.Problem, d.Note, fmt.Sprintf("%s to the right, %s up", d.Features[0], d.Features[1]), fewer(shown, n, "the points"))

	svm := object{"layout": multiplesJS.cut("layout"), "rows": len(d.Rows), "columns": len(d.Columns), "aspect": 0.8}
	xs, ys := d.Xs, d.Ys
	var keep []int
	if fields {
		svm["box"] = box(d.Xs, d.Ys)
		svm["aspect"] = aspect(d.Xs, d.Ys, 0.8)
	} else {
		low, high := extent(column0(d.X), d.Places)
		xs = [2]float64{low, high}
		low, high = extent(curves...)
		low, high = widen(low, high, 0.05)
		ys = [2]float64{low, high}
		keep = thin(d.Places, panelPoints, curves[1:]...)
	}
	roundX, roundY := rounding(xs[0], xs[1]), rounding(ys[0], ys[1])
	if !fields {
		svm["x"] = rounded(d.Places, keep, roundX)
	}
	points := map[float64]list{}
	for _, i := range shown {
		side, y := 0.0, d.Y[i]
		if fields {
			side, y = d.Y[i], d.X[i][1]
		}
		x, y := place(d.X[i][0], y, xs, ys)
		points[side] = append(points[side], list{x, y, i})
	}
	svm["pos"], svm["neg"], svm["data"] = points[1], points[-1], points[0]

	const zero, one, curveName, bandName, target = "f = 0", "f = ±1", "f", "band", "targets"
	p := plot{name: "multiples", tip: multiplesJS.cut("tip"), svm: svm}
	classes, at, size := classNames(d.Classes), corner(xs[0], ys[0]), max(3, pointSize(len(shown))-4)
	kinds := []struct{ name, column, symbol, color string }{{classes[0], "neg", "circle", "@neg"}, {classes[1], "pos", diamond, "@pos"}, {target, "data", "circle", "@ink"}}
	var grids, notes, panels list
	var out []string
	for r, row := range d.Panels {
		for c, q := range row {
			k := r*len(d.Columns) + c
			panel := object{}
			if q.Z != nil {
				_, levels, zeros, ones := field(q.Z)
				panel["levels"], panel["zero"], panel["one"] = levels, zeros, ones
				own := fmt.Sprintf("panels[%d].", k)
				p.add(areas(own+"levels", at).on(k),
					level(own+"zero", at, "@ink", 2).on(k).name(zero).still().fill("@ink"),
					level(own+"one", at, "@ink", 1, 5, 3).on(k).name(one).still().fill("@ink"))
			}
			if q.F != nil {
				f, lower, upper := fmt.Sprintf("f%d", k), fmt.Sprintf("lower%d", k), fmt.Sprintf("upper%d", k)
				svm[f] = rounded(q.F, keep, roundY)
				if q.Lower != nil {
					svm[lower], svm[upper] = rounded(q.Lower, keep, roundY), rounded(q.Upper, keep, roundY)
					p.add(band(k, bandName, "x", lower, upper, "@series1/0.2", ""))
				}
				p.add(curve(k, curveName, "x", f, "@series1").silent().pen("@series1", 2))
			}
			for _, s := range kinds {
				if len(svm[s.column].(list)) > 0 {
					p.add(scatter(marksJS.cut("column", "column", s.column)).name(s.name).on(k).symbols(s.symbol, size).z(3).fill(s.color).opacity(0.9))
				}
			}
			p.add(custom(multiplesJS.cut("note", "panel", k), at).on(k).still().z(5))
			panels, notes = append(panels, panel), append(notes, q.Note)
			out = append(out, sentence(d.Rows[r], d.Columns[c])+": "+q.Note)

			small := func(low, high float64, gap int, name string, outer bool) axis {
				a := valueAxis(k, low, high, "", gap).set("splitNumber", 3).set("nameTextStyle", object{"fontSize": 13, "color": "@ink"})
				if !outer {
					return a.label(object{"show": false})
				}
				return a.set("name", name)
			}
			p.panel(small(xs[0], xs[1], 26, d.Columns[c], r == len(d.Rows)-1), small(ys[0], ys[1], 40, d.Rows[r], c == 0))
			grids = append(grids, object{"show": true, "borderColor": "@axis"})
		}
	}
	svm["panels"], svm["notes"], p.grid = panels, notes, grids
	for _, name := range []string{classes[0], classes[1], target, zero, one, curveName, bandName} {
		if slices.ContainsFunc(p.series, func(m any) bool { return m.(object)["name"] == name }) {
			p.key(name)
		}
	}
	p.about = fmt.Sprintf("Small multiples of %s.", d.Problem)
	chart := p.chart(title, subtitle)
	chart.Alt += " " + strings.Join(out, "; ") + "."
	return chart, nil
}

// panelPoints is the number of strips of the axis of a curve in a small panel; see thin.
const panelPoints = 120

func column0(x [][]float64) []float64 {
	c := make([]float64, len(x))
	for i, p := range x {
		c[i] = p[0]
	}
	return c
}

func (d *MultiplesData) check() error {
	c := checks{figure: "Multiples"}
	c.refuse(len(d.X) == 0, "X", "has no points: give the training points")
	c.numbers("point", len(d.X), given("Y", d.Y))
	fields := d.Places == nil
	if fields {
		c.points(d.X, 2)
	} else {
		c.places("Places", d.Places)
		c.points(d.X, 1)
	}
	settings := func(name string, k, have int) {
		c.refuse(k == 0 || k > mostPanels, name, "has %d settings: give 1 to %d", k, mostPanels)
		c.refuse(k != have, name, "has %d settings for %d of the panels", k, have)
	}
	settings("Rows", len(d.Rows), len(d.Panels))
	settings("Columns", len(d.Columns), len(slices.Concat(d.Panels...))/max(len(d.Panels), 1))
	for r, row := range d.Panels {
		c.refuse(len(row) != len(d.Columns), fmt.Sprintf("Panels[%d]", r), "has %d panels for %d columns", len(row), len(d.Columns))
		for k, p := range row {
			mixed := p.Z != nil && !fields || p.F != nil && fields || p.F == nil && p.Lower != nil || (p.Lower == nil) != (p.Upper == nil)
			c.refuse(mixed, fmt.Sprintf("Panels[%d][%d]", r, k), "mixes fields and curves, or a band without its curve or its other edge")
			c.part = fmt.Sprintf("Panels[%d][%d].", r, k)
			if p.Z != nil {
				c.span("Xs", d.Xs)
				c.span("Ys", d.Ys)
				c.grid(p.Z)
			}
			if p.F != nil {
				c.numbers("place", len(d.Places), given("F", p.F), given("Lower", p.Lower, optional), given("Upper", p.Upper, optional))
			}
			c.part = ""
		}
	}
	return c.err
}
