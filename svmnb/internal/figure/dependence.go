package figure

import (
	"fmt"
	"math"
	"slices"
)

// DependenceData is what [Dependence] draws: how the value of a model depends on one feature.
type DependenceData struct {
	Problem string      // what was learned
	Feature string      // the name of the feature
	Measure string      // of the values, such as "f"
	At      []float64   // g increasing values of the feature
	Each    [][]float64 // m rows of g values: the model for each point with the feature set to At
	Mean    []float64   // g values, their mean
	Seen    []float64   // values of the feature in the data, for the marks along the axis
}

// mostDependence is the largest number of thin lines in the picture.
const mostDependence = 60

// Dependence draws the mean over the points as a thick line, and single points as thin ones.
func Dependence(d DependenceData) (*Chart, error) {
	g, c := len(d.At), checks{figure: "Dependence"}
	c.refuse(g == 0, "At", "has no values: give at least one")
	c.refuse(!slices.IsSorted(d.At), "At", "is not increasing")
	c.refuse(len(d.Each) == 0, "Each", "has no points: give at least one")
	c.numbers("value", g, given("At", d.At), given("Mean", d.Mean))
	for i, row := range d.Each {
		c.numbers("value", g, given(fmt.Sprintf("Each[%d]", i), row))
	}
	if c.err != nil {
		return nil, c.err
	}
	shown := d.Each
	if len(shown) > mostDependence {
		shown = nil
		for k := range mostDependence {
			shown = append(shown, d.Each[k*len(d.Each)/mostDependence])
		}
	}
	x, left, right := lineAxis(d.Feature, false, [2]float64{math.NaN(), math.NaN()}, 28, [][]float64{d.At})
	if left < right { // lines begin and end at the frame
		x.set("min", roundTo(left, 6)).set("max", roundTo(right, 6))
	}
	y, bottom, top := lineAxis(d.Measure, false, [2]float64{math.NaN(), math.NaN()}, 48, append(shown, d.Mean))
	roundX, roundY := rounding(left, right), rounding(bottom, top)
	p := plot{name: "lines", about: fmt.Sprintf("Lines of %s over %s, one for each point, and their mean.", d.Measure, d.Feature),
		tip: linesJS.cut("tip"), along: true, grid: object{}, svm: object{"x": d.Feature}}
	p.panel(x.pointed(), y.set("gridIndex", 0))
	var thin list
	for _, row := range shown {
		for k, v := range row {
			thin = append(thin, list{roundX(d.At[k]), roundY(v)})
		}
		thin = append(thin, list{roundX(d.At[g-1]), nil})
	}
	p.add(line(thin).name("single points").id("each").bare().still().z(2).ink("@soft/0.3", 1, "solid").set("tooltip", object{"show": false}))
	p.key("single points")
	var thick list
	for k, v := range d.Mean {
		thick = append(thick, list{roundX(d.At[k]), roundY(v)})
	}
	p.add(line(thick).name("mean").id("mean").symbols("circle", 6).set("showSymbol", g == 1).ink("@series1", 3, "solid").z(4))
	p.key("mean")
	var marks list
	for _, v := range d.Seen {
		marks = append(marks, list{roundX(v), y["min"]})
	}
	if len(marks) > 0 {
		p.add(scatter(marks).name("data").id("seen").symbols("rect", 8).set("symbolSize", list{1.5, 10}).fill("@ink/0.5").still().z(3).set("tooltip", object{"show": false}))
	}
	low, high := slices.Min(d.Mean), slices.Max(d.Mean)
	title := fmt.Sprintf("On average %s is %s, whatever %s is", d.Measure, number(roundY(low)), d.Feature)
	if high > low {
		from, to := d.At[slices.Index(d.Mean, low)], d.At[slices.Index(d.Mean, high)]
		title = fmt.Sprintf("On average %s is lowest, %s, at %s = %s and highest, %s, at %s", d.Measure, number(roundY(low)), d.Feature, number(roundX(from)), number(roundY(high)), number(roundX(to)))
	}
	return p.chart(title, sentence(d.Problem, fmt.Sprintf("each of %s with %s set to every value", count(len(d.Each), "point", "points"), d.Feature))), nil
}
