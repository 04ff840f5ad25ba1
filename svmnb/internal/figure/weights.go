package figure

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
)

//go:embed weights.js
var weightsJS source

// WeightsData is what [Weights] draws: a number for each feature that says how much it matters.
type WeightsData struct {
	Problem  string // what was learned
	Note     string // what the reader should know of the numbers, or ""
	Features []string
	Values   []float64 // finite; the larger in absolute value, the more the feature matters
	SD       []float64 // standard deviation of each value, ≥ 0; nil if the values are exact
	Measure  string    // what the values are: "weight"
	Sides    [2]string // what values below and above 0 do: "towards no", "towards yes"; needed if there are both
}

// mostWeights is the number of bars in the picture.
const mostWeights = 30

// Weights draws a bar for each feature, the largest in absolute value first.
func Weights(d WeightsData) (*Chart, error) {
	c := checks{figure: "Weights"}
	c.refuse(len(d.Features) == 0, "Features", "has no features: give at least one")
	c.refuse(len(d.Values) != len(d.Features), "Values", "has length %d for %s", len(d.Values), count(len(d.Features), "feature", "features"))
	c.refuse(d.Measure == "", "Measure", "is empty: say what the values are")
	c.refuse((d.Sides[0] == "") != (d.Sides[1] == "") || d.Sides[0] != "" && d.Sides[0] == d.Sides[1], "Sides", "are %q: give two names or none", d.Sides)
	for j, v := range d.Values {
		c.refuse(v-v != 0, fmt.Sprintf("Values[%d]", j), "is %v: give finite numbers", v)
	}
	c.refuse(d.SD != nil && len(d.SD) != len(d.Values), "SD", "has length %d for %s", len(d.SD), count(len(d.Values), "value", "values"))
	for j, v := range d.SD {
		c.refuse(!(v >= 0) || math.IsInf(v, 1), fmt.Sprintf("SD[%d]", j), "is %v: give finite numbers ≥ 0", v)
	}
	if c.err != nil {
		return nil, c.err
	}
	order, sum, low, high := upTo(len(d.Values)), 0.0, 0.0, 0.0
	for j, v := range d.Values {
		sd := 0.0
		if d.SD != nil {
			sd = d.SD[j]
		}
		sum, low, high = sum+math.Abs(v), min(low, v-sd), max(high, v+sd)
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch x, y := math.Abs(d.Values[a]), math.Abs(d.Values[b]); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	title := fmt.Sprintf("Every %s is 0", d.Measure)
	share := ""
	if first := order[0]; sum > 0 {
		title = fmt.Sprintf("%s has the largest %s, %s", named(d.Features[first]), d.Measure, number(d.Values[first]))
		most, part := 0, 0.0
		for most < len(order) && part < 0.9*sum*(1-1e-12) {
			part += math.Abs(d.Values[order[most]])
			most++
		}
		if most < len(order) {
			share = fmt.Sprintf("%d of %s have 90 %% of the sum", most, count(len(order), "feature", "features"))
		}
	}
	shown := order[:min(len(order), mostWeights)]
	fewer := ""
	if len(shown) < len(order) {
		fewer = fmt.Sprintf("the largest %d of %s are drawn", len(shown), thousands(int64(len(order))))
	}
	var bars [2]list // below 0 and above
	var names []string
	for k, j := range shown {
		names = append(names, d.Features[j])
		side := 0
		if d.Values[j] >= 0 {
			side = 1
		}
		bar := list{round4(d.Values[j]), k}
		if d.SD != nil {
			bar = append(bar, round4(d.SD[j]))
		}
		bars[side] = append(bars[side], bar)
	}
	room := 0.22 * (high - low) // for the numbers
	if room == 0 {
		room = 1
	}
	if low < 0 {
		low -= room / 8
	}
	high += room
	p := plot{name: "weights", about: fmt.Sprintf("Bars of the %s of %s.", d.Measure, count(len(order), "feature", "features")), tip: weightsJS.cut("tip"),
		grid: object{}, zoom: nil, svm: object{"layout": weightsJS.cut("layout"), "names": names, "measure": d.Measure}}
	p.panel(valueAxis(0, round4(low), round4(high), d.Measure, 28),
		categories("", names).set("inverse", true).label(object{"overflow": "truncate", "interval": 0, "color": "@ink"}))
	for side, color := range []string{"@neg", "@pos"} {
		if len(bars[side]) == 0 {
			continue
		}
		p.add(custom(weightsJS.cut("bar", "color", color), bars[side]).id(color[1:]).name(either(d.Sides[side], d.Measure)).set("encode", object{"x": 0, "y": 1}).fill(color))
		if d.Sides[side] != "" {
			p.key(d.Sides[side], "rect")
		}
	}
	return p.chart(title, sentence(d.Problem, share, fewer, d.Note)), nil
}
