package figure

import (
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"
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
	Unit     string    // of the values, such as "percentage points"; may be empty
	Finding  string    // the title; if empty, it names the largest value
	Sides    [2]string // what values below and above 0 do: "towards no", "towards yes"; needed if there are both
}

// mostWeights is the number of bars in the picture.
const mostWeights = 30

// Weights draws a bar for each feature, the largest in absolute value first. Values with
// standard deviations stand in the order of their sign too, and those within one standard
// deviation of 0 are grey.
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
	size := math.Abs
	if d.SD != nil {
		size = func(v float64) float64 { return v }
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(size(d.Values[b]), size(d.Values[a])) })
	title := fmt.Sprintf("Every %s is 0", d.Measure)
	share := ""
	if first := order[0]; sum > 0 {
		title = either(d.Finding, fmt.Sprintf("%s has the largest %s, %s", named(d.Features[first]), d.Measure, alike(d.Values)(d.Values[first])))
		share = d.share(order, sum)
	}
	shown := order[:min(len(order), mostWeights)]
	fewer := ""
	if len(shown) < len(order) {
		fewer = fmt.Sprintf("the largest %d of %s are drawn", len(shown), thousands(int64(len(order))))
	}
	var bars [3]list // below 0, above, and too near to it
	var names, texts []string
	write := alike(d.Values)
	for k, j := range shown {
		names, texts = append(names, d.Features[j]), append(texts, write(d.Values[j]))
		side := 0
		switch {
		case d.unsure(j):
			side = 2
		case d.Values[j] >= 0:
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
		grid: object{}, zoom: nil, svm: object{"layout": weightsJS.cut("layout"), "names": names, "texts": texts, "measure": d.Measure}}
	p.panel(valueAxis(0, round4(low), round4(high), inUnits(d.Measure, d.Unit), 28).label(object{"showMinLabel": low == 0}),
		categories("", names).set("inverse", true).label(object{"overflow": "truncate", "interval": 0, "color": "@ink"}))
	p.add(custom(weightsJS.cut("zero"), corner(0, 0)).id("zero").still().z(1))
	for side, look := range []struct{ id, name, color string }{{"neg", d.Sides[0], "@neg"}, {"pos", d.Sides[1], "@pos"}, {"unsure", "within one sd of 0", "@soft*0.5"}} {
		if len(bars[side]) == 0 {
			continue
		}
		p.add(custom(weightsJS.cut("bar", "color", look.color), bars[side]).id(look.id).name(either(look.name, d.Measure)).set("encode", object{"x": 0, "y": 1}).fill(look.color))
		if d.Sides[0] != "" || len(bars[2]) > 0 {
			p.key(either(look.name, d.Measure), "rect")
		}
	}
	return p.chart(title, sentence(d.Problem, share, fewer, d.Note)), nil
}

// unsure reports whether value j may be 0: 0 is within one standard deviation.
func (d *WeightsData) unsure(j int) bool {
	return d.SD != nil && d.SD[j] > 0 && math.Abs(d.Values[j]) <= d.SD[j]
}

// share says how many features matter. order is that of the bars, and sum that of their
// absolute values.
func (d *WeightsData) share(order []int, sum float64) string {
	features := count(len(order), "feature", "features")
	most, part := 0, 0.0
	if d.SD != nil {
		for j, v := range d.Values {
			if v > 0 && !d.unsure(j) {
				most++
			}
		}
		return fmt.Sprintf("%d of %s lie above 0 by more than their standard deviation (sd)", most, features)
	}
	name := "the sum of all values"
	for most < len(order) && part < 0.9*sum*(1-1e-12) {
		v := d.Values[order[most]]
		part += math.Abs(v)
		most++
	}
	if most == len(order) {
		return ""
	}
	if slices.Min(d.Values) < 0 {
		name = "the sum of the absolute values"
	}
	return fmt.Sprintf("%d of %s have 90 %% of %s", most, features, name)
}

// alike returns a function that prints values with as many decimals as the largest one needs
// for three digits. A value that would be 0 then is below the last decimal.
func alike(values []float64) func(v float64) string {
	low, high := extent(values)
	most := max(-low, high)
	if !(most >= 1e-3 && most < 1e5) {
		return func(v float64) string { return numberTo(v, 3) }
	}
	decimals := max(0, 2-int(math.Floor(math.Log10(most))))
	least := math.Pow(10, -float64(decimals))
	return func(v float64) string {
		text := strconv.FormatFloat(math.Abs(v), 'f', decimals, 64)
		sign := ""
		if v < 0 {
			sign = "−"
		}
		switch {
		case v == 0:
			return "0"
		case math.Abs(v) < least/2 && v > 0:
			return "< " + strconv.FormatFloat(least, 'f', decimals, 64)
		case math.Abs(v) < least/2:
			return "> −" + strconv.FormatFloat(least, 'f', decimals, 64)
		}
		return sign + text
	}
}

// inUnits returns the name of an axis with its unit, if there is one.
func inUnits(name, unit string) string {
	if unit == "" {
		return name
	}
	return name + " (" + unit + ")"
}
