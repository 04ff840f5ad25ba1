package figure

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
)

//go:embed components.js
var componentsJS source

// ComponentsData is what [Components] draws: a Gaussian process whose kernel is
// a sum, taken apart into the processes of its parts, at m places.
type ComponentsData struct {
	Problem string // what was solved, such as "CO₂ · four kernels"
	Note    string // one more sentence for the subtitle; may be empty
	Feature string // name of the x axis; "x" when empty
	Target  string // name of the y axis; "y" when empty

	X []float64 // n values of the feature
	Y []float64 // n observations

	Xs   []float64 // m ≥ 2 increasing places
	Mean []float64 // m means of the sum
	SD   []float64 // m standard deviations of the sum, ≥ 0

	Parts []Component // in the order of their panels, 1 to 8
}

// Component is the process of one part of a kernel.
type Component struct {
	Name string    // such as "trend"
	Mean []float64 // m means
	SD   []float64 // m standard deviations, ≥ 0; nil leaves the band out
}

// Components draws the observations and the sum, and below, on the same x
// axis, each component by itself, with bands of two standard deviations. A bar
// beside each panel is equally long in units of y, so that panels of different
// scales can be compared.
func Components(d ComponentsData) (*Chart, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	n, m := len(d.Y), len(d.Xs)
	xName, target := either(d.Feature, "x"), either(d.Target, "y")
	curves := [][]float64{d.Mean, d.SD}
	for _, c := range d.Parts {
		curves = append(curves, c.Mean, c.SD)
	}
	keep := thin(d.Xs, curvePoints, curves...)
	xLow, xHigh := extent(d.X, d.Xs)
	if low, high := extent(d.X); xLow == low || xHigh == high {
		xLow, xHigh = widen(xLow, xHigh, 0.01)
	}
	roundX := rounding(xLow, xHigh)

	panels := append([]Component{{Name: "sum", Mean: d.Mean, SD: d.SD}}, d.Parts...)
	ranges, lows, highs := make([]float64, len(panels)), make([]float64, len(panels)), make([]float64, len(panels))
	unit := math.Inf(1) // the length of the bars: half of the smallest panel
	for k, c := range panels {
		low, high := extent(c.Mean)
		ranges[k] = high - low
		lower, upper := c.Mean, c.Mean
		if c.SD != nil {
			lower, upper = around2(c.Mean, c.SD)
		}
		low, high = extent(lower, upper)
		if k == 0 && n > 0 {
			low, high = extent(lower, upper, d.Y)
		}
		lows[k], highs[k] = widen(low, high, 0.06)
		unit = min(unit, (highs[k]-lows[k])/2)
	}
	unit = nice(unit)

	order := make([]int, len(d.Parts))
	for k := range order {
		order[k] = k + 1
	}
	slices.SortStableFunc(order, func(a, b int) int { return sign(ranges[b] - ranges[a]) })
	var spans []string
	for _, k := range order {
		spans = append(spans, fmt.Sprintf("%s %s", cut(panels[k].Name, 24), numberTo(ranges[k], 2)))
	}
	if len(spans) > 4 {
		spans = append(spans[:4], "…")
	}
	title := "Range of each component: " + strings.Join(spans, ", ")
	shown := choose(n, func(int) int { return 0 })
	fewer, forecast := "", ""
	if len(shown) < n {
		fewer = thousands(int64(len(shown))) + " of them drawn"
	}
	_, last := extent(d.X)
	ahead := n > 0 && d.Xs[m-1]-last > 0.01*(d.Xs[m-1]-d.Xs[0])
	if ahead {
		forecast = fmt.Sprintf("observed until %s", numberTo(last, 6))
	}
	subtitle := sentence(d.Problem, d.Note, count(n, "observation", "observations"), fewer, forecast, fmt.Sprintf("each bar at the right is %s high", numberTo(unit, 3)))

	svm := object{"layout": componentsJS.cut("layout"), "x": rounded(d.Xs, keep, roundX), "unit": unit}
	const data, mean, wide = "observations", "mean", "± 2 sd"
	var series, grids, xs, ys, names list
	for k, c := range panels {
		round := rounding(lows[k], highs[k])
		key, color := fmt.Sprintf("mean%d", k), "@series1"
		svm[key] = rounded(c.Mean, keep, round)
		names = append(names, c.Name)
		if c.SD != nil {
			lower, upper := around2(c.Mean, c.SD)
			svm[fmt.Sprintf("lower%d", k)], svm[fmt.Sprintf("upper%d", k)], svm[fmt.Sprintf("sd%d", k)] = rounded(lower, keep, round), rounded(upper, keep, round), column(pick(c.SD, keep), 3)
			series = append(series, band(k, wide, "x", fmt.Sprintf("lower%d", k), fmt.Sprintf("upper%d", k), color+"/0.24", ""))
		}
		series = append(series, curve(k, mean, "x", key, color, object{"lineStyle": object{"width": 2}}))
		if ahead {
			series = append(series, object{"type": "line", "xAxisIndex": k, "yAxisIndex": k, "symbol": "none", "silent": true, "z": 2, "tooltip": object{"show": false},
				"data": list{list{roundX(last), lows[k]}, list{roundX(last), highs[k]}}, "lineStyle": object{"type": "dashed", "color": "@soft", "width": 1.2}})
		}
		middle := (lows[k] + highs[k]) / 2
		series = append(series, object{"type": "custom", "xAxisIndex": k, "yAxisIndex": k, "silent": true, "tooltip": object{"show": false}, "data": list{list{xLow, middle}}, "renderItem": componentsJS.cut("bar")})
		x := valueAxis(k, xLow, xHigh, "", 28)
		x["axisPointer"] = object{"show": true, "snap": true, "label": object{"show": false}}
		x["splitLine"] = object{"show": true}
		if k == len(panels)-1 {
			x["name"] = xName
		} else {
			x["axisLabel"].(object)["show"] = false
		}
		name := c.Name
		if k == 0 {
			name = target
		}
		y := valueAxis(k, lows[k], highs[k], name, 6)
		y["nameLocation"], y["nameTextStyle"] = "end", object{"align": "left", "fontSize": 13, "fontWeight": 600, "color": "@ink"}
		y["splitLine"], y["splitNumber"] = object{"show": true}, 3
		grids, xs, ys = append(grids, object{}), append(xs, x), append(ys, y)
	}
	svm["names"] = names
	legend := list{entry(mean, stroke)}
	if slices.ContainsFunc(panels, func(c Component) bool { return c.SD != nil }) {
		legend = append(legend, entry(wide, "rect"))
	}
	if n > 0 {
		points := list{}
		round := rounding(lows[0], highs[0])
		for _, i := range shown {
			points = append(points, list{roundX(d.X[i]), round(d.Y[i]), i})
		}
		size := pointSize(len(shown)) - 3
		series = append(series, object{"type": "scatter", "name": data, "symbol": "circle", "symbolSize": size, "z": 2, "data": points,
			"itemStyle": object{"color": "@ink", "opacity": 0.6}})
		legend = append(legend, object{"name": data, "itemStyle": object{"borderWidth": 0}})
	}
	return newChart(title, subtitle, fmt.Sprintf("Gaussian process of %s over %s, taken apart into its components. %s. %s.", target, xName, title, subtitle), object{
		"legend":      object{"data": legend},
		"toolbox":     toolbox("components", object{"yAxisIndex": false}),
		"tooltip":     object{"trigger": "axis", "formatter": componentsJS.cut("tip")},
		"axisPointer": object{"link": list{object{"xAxisIndex": "all"}}},
		"grid":        grids, "xAxis": xs, "yAxis": ys,
		"svm":    svm,
		"series": series,
	}), nil
}

// cut shortens a name, such as a kernel's constructor call, to so many letters.
func cut(name string, letters int) string {
	if r := []rune(name); len(r) > letters {
		return string(r[:letters-1]) + "…"
	}
	return name
}

// nice returns the largest of 1, 2, 5 times a power of ten that is at most v.
func nice(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{5, 2} {
		if m*power <= v {
			return roundTo(m*power, 3)
		}
	}
	return roundTo(power, 3)
}

func (d *ComponentsData) check() error {
	if err := check("Components", "observation", len(d.Y), argument{name: "X", values: d.X}, argument{name: "Y", values: d.Y}); err != nil {
		return err
	}
	if err := checkPlaces("Components", d.Xs); err != nil {
		return err
	}
	if n := len(d.Parts); n == 0 || n > 8 {
		return &InputError{Figure: "Components", Field: "Parts", Reason: fmt.Sprintf("has %d components: give 1 to 8", n)}
	}
	at := []argument{{name: "Mean", values: d.Mean}, {name: "SD", values: d.SD, positive: true}}
	for k, c := range d.Parts {
		field := fmt.Sprintf("Parts[%d].", k)
		if c.Name == "" {
			return &InputError{Figure: "Components", Field: field + "Name", Reason: "is empty: give each component a name"}
		}
		at = append(at, argument{name: field + "Mean", values: c.Mean}, argument{name: field + "SD", values: c.SD, optional: true, positive: true})
	}
	return check("Components", "place", len(d.Xs), at...)
}
