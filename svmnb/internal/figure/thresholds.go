package figure

import (
	_ "embed"
	"fmt"
)

//go:embed thresholds.js
var thresholdsJS source

// ThresholdsData is what [Thresholds] draws: measures of the predictions over the threshold
// from which a point is positive.
type ThresholdsData struct {
	Problem  string // what was solved and for which points
	Scale    string // what the threshold is compared with, such as "f(x)"
	Finding  string // the title
	At       []float64
	Lines    []ThresholdLine // the first one decides
	Chosen   float64         // the chosen threshold
	Usual    float64         // the threshold without a choice
	Required float64         // value that the first line must keep; NaN if there is none
}

// ThresholdLine is a measure at each threshold.
type ThresholdLine struct {
	Name   string
	Values []float64 // one for each place of At: the value from the place before, exclusive, up to this one
}

// Thresholds draws each measure as steps over the threshold, and marks the chosen one.
func Thresholds(d ThresholdsData) (*Chart, error) {
	c := checks{figure: "Thresholds"}
	c.places("At", d.At)
	c.refuse(len(d.Lines) == 0 || len(d.Lines) > 3, "Lines", "has %s: give one to three", count(len(d.Lines), "line", "lines"))
	for k, l := range d.Lines {
		c.numbers("threshold", len(d.At), given(fmt.Sprintf("Lines[%d].Values", k), l.Values, missing))
	}
	c.numbers("choice", 2, given("Chosen", []float64{d.Chosen, d.Usual}))
	if c.err != nil {
		return nil, c.err
	}
	var ends [][]float64
	for _, l := range d.Lines {
		ends = append(ends, l.Values)
	}
	keep := thin(d.At, rocStrips, ends...)
	p := plot{name: "thresholds", about: "Measures over the threshold.", tip: thresholdsJS.cut("tip"), along: true, grid: object{}, svm: object{"scale": d.Scale}}
	for k, l := range d.Lines {
		var data list
		for _, i := range keep {
			item := list{roundTo(d.At[i], 6), nil}
			if finite(l.Values[i]) {
				item[1] = round4(l.Values[i])
			}
			data = append(data, item)
		}
		color, width, dash := [...]string{"@neg", "@pos", "@series3"}[k], 2.6, any("solid")
		if k > 0 {
			width, dash = 1.8, list{7, 4}
		}
		p.add(line(data).name(l.Name).set("step", "start").symbols("circle", 5).set("showSymbol", false).z(4).ink(color, width, dash).calm())
		p.key(l.Name)
	}
	if finite(d.Required) {
		ends = append(ends, []float64{d.Required})
	}
	low, high := extent(ends...)
	from := min(low, 0)
	low, high = widen(from, max(high, 1e-9), 0.04)
	if from == 0 { // amounts are seen from 0
		low = 0
	}
	left, right := extent(d.At, []float64{d.Chosen, d.Usual})
	left, right = widen(left, right, 0.02)
	if finite(d.Required) {
		p.add(line(list{list{left, d.Required}, list{right, d.Required}}).name("required").bare().still().z(3).ink("@soft", 1.2, list{2, 3}))
		p.key("required")
	}
	across := func(name string, at, width float64, dash any) {
		p.add(line(list{list{roundTo(at, 6), low}, list{roundTo(at, 6), high}}).name(name).bare().still().z(3).ink("@ink", width, dash))
	}
	across("without a choice", d.Usual, 1.2, list{6, 4})
	across("chosen", d.Chosen, 2.2, "solid")
	p.key("chosen")
	p.key("without a choice")
	name := ""
	if len(d.Lines) == 1 {
		name = d.Lines[0].Name
	}
	p.panel(valueAxis(0, left, right, "threshold of "+d.Scale, 28).pointed(), valueAxis(0, low, high, name, 48).lines())
	return p.chart(d.Finding, d.Problem), nil
}
