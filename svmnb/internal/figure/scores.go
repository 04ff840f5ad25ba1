package figure

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
)

//go:embed scores.js
var scoresJS source

// ScoresData is what [Scores] draws: the decision values of n points with any number of
// features.
type ScoresData struct {
	Problem     string    // what was solved, such as "RBF(0.5), C = 10"
	Classes     [2]string // names of y = −1 and y = +1
	Margin      float64   // 1/‖w‖; NaN if unknown
	OneClass    bool      // Margin is ρ/‖w‖
	Ball        bool      // Margin is the radius R of a ball
	Y           []float64 // n labels ±1
	F           []float64 // n values of f
	Line        float64   // the prediction is y = +1 if f ≥ −Line; 0 except for one class
	Free, Bound int       // numbers of support vectors
}

// mostBins is the largest number of bars of a histogram.
const mostBins = 64

// Scores draws a histogram of f for each class, one upwards and the other downwards, with
// the lines f = 0 and f = ±1 and the errors. It replaces [Margins] if there are not two
// features.
func Scores(d ScoresData) (*Chart, error) {
	n, c := len(d.F), checks{figure: "Scores"}
	c.refuse(n == 0, "F", "has no points: give the decision values of the training points")
	c.numbers("point", n, given("F", d.F), given("Y", d.Y))
	if c.err != nil {
		return nil, c.err
	}
	errors := 0
	values := slices.Clone(d.F)
	for i, f := range d.F {
		if mistaken(d.Y[i], f, d.Line) {
			errors++
		} else if d.Y[i] > 0 {
			values[i] = max(f, 0) // values within the tolerance of 0 count as 0
		}
	}
	d.Classes = classNames(d.Classes)
	low, high := min(slices.Min(values), -1), max(slices.Max(values), 1)
	// −1, 0 and +1 are multiples of the width, unless it is far above 1.
	width := 0.05
	for _, w := range []float64{0.05, 0.1, 0.125, 0.2, 0.25, 0.5, 1} {
		if width = w; (high-low)/w <= mostBins-2 {
			break
		}
	}
	for (high-low)/width > mostBins-2 {
		width *= 2
	}
	first := math.Floor(low / width)
	counts := make([][2]int, int(math.Floor(high/width)-first)+1)
	for i, f := range values {
		k, class := int(math.Floor(f/width)-first), 0
		if d.Y[i] > 0 {
			class = 1
		}
		counts[k][class]++
	}
	bars := [3]list{} // class −1, class +1, errors
	most := [2]int{}
	for k, c := range counts {
		from := roundTo((first+float64(k))*width, 6)
		to := roundTo((first+float64(k)+1)*width, 6)
		for class, v := range c {
			if v == 0 {
				continue
			}
			most[class] = max(most[class], v)
			kind := class
			if (from >= 0) != (class == 1) {
				kind = 2
			}
			bars[kind] = append(bars[kind], list{from, to, v * (2*class - 1)})
		}
	}

	within := 0 // points on the wrong side or inside the margin
	for i, f := range d.F {
		if d.Y[i]*f < 1-1e-9 {
			within++
		}
	}
	title := fmt.Sprintf("%s of %s on the wrong side of the boundary", thousands(int64(errors)), count(n, "point lies", "points lie"))
	if d.Line == 0 {
		title += fmt.Sprintf("; y f(x) < 1 for %s", thousands(int64(within)))
	}
	subtitle := sentence(d.Problem, marginText(d.Margin, d.OneClass, d.Ball), fmt.Sprintf("%s: %d free, %d at the bound", count(d.Free+d.Bound, "support vector", "support vectors"), d.Free, d.Bound), "number of training points by f(x), errors in a colour of their own")

	p := plot{name: "scores", about: "Histogram of the decision values of both classes.", tip: scoresJS.cut("tip"), zoom: object{"yAxisIndex": false},
		svm: object{"layout": scoresJS.cut("layout")}}
	for k, s := range []struct{ name, color string }{{d.Classes[0], "@neg"}, {d.Classes[1], "@pos"}, {"errors", "@bad"}} {
		if len(bars[k]) == 0 {
			continue
		}
		p.add(custom(scoresJS.cut("bar", "color", s.color), bars[k]).name(s.name).clip().z(2).fill(s.color+"/0.85").set("encode", object{"x": list{0, 1}, "y": 2}))
		p.key(s.name)
	}
	across := func(name string, width float64, dash any, at ...float64) {
		var data list
		for _, v := range at {
			data = append(data, list{v, -2 * most[0]}, list{v, 2 * most[1]}, list{v, nil})
		}
		p.add(line(data).name(name).bare().still().z(3).ink("@ink", width, dash))
	}
	across("f = 0", 2.6, "solid", 0)
	across("f = ±1", 1.6, list{6, 4}, -1, 1)
	p.key("f = 0")
	p.key("f = ±1")
	p.panel(
		axis{"type": "value", "min": roundTo(first*width, 6), "max": roundTo((first+float64(len(counts)))*width, 6), "axisLine": object{"show": true, "onZero": true},
			"axisTick": object{"show": false}, "splitLine": object{"show": false}}.named("f(x)", 28).
			label(object{"showMinLabel": false, "showMaxLabel": false, "formatter": marksJS.cut("number")}),
		upDown(-1.05*float64(most[0]), 1.05*float64(most[1])))
	return p.chart(title, subtitle), nil
}

// upDown returns an axis of counts that are positive upwards and downwards from 0.
func upDown(low, high float64) axis {
	return axis{"type": "value", "min": low, "max": high, "minInterval": 1, "axisLine": object{"show": true, "onZero": false}, "axisTick": object{"show": true}}.
		named("points", 42).label(object{"showMinLabel": false, "showMaxLabel": false, "formatter": marksJS.cut("size")})
}
