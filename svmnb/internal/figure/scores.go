package figure

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
)

//go:embed scores.js
var scoresJS source

// ScoresData is what [Scores] draws: the decision values of n points of any
// number of features.
type ScoresData struct {
	Problem     string    // what was solved, such as "RBF(0.5), C = 10"
	Classes     [2]string // names of y = −1 and y = +1
	Margin      float64   // 1/‖w‖; NaN when there is none
	Y           []float64 // n labels ±1
	F           []float64 // n values of f
	Line        float64   // f from −Line on speaks for y = +1; 0 but for one class
	Free, Bound int       // support vectors
}

// mostBins is the most bars that a histogram has.
const mostBins = 64

// Scores draws how the classes lie about the margins where there is no plane to
// draw them in: histograms of f, one class upwards, the other downwards, with
// the lines f = 0 and f = ±1 and the errors beyond them.
func Scores(d ScoresData) (*Chart, error) {
	n := len(d.F)
	if n == 0 {
		return nil, &InputError{Figure: "Scores", Field: "F", Reason: "has no points: give the decision values of the training points"}
	}
	if err := check("Scores", "point", n, argument{name: "F", values: d.F}, argument{name: "Y", values: d.Y}); err != nil {
		return nil, err
	}
	errors := 0
	values := slices.Clone(d.F)
	for i, f := range d.F {
		if mistaken(d.Y[i], f, d.Line) {
			errors++
		} else if d.Y[i] > 0 {
			values[i] = max(f, 0) // on the line
		}
	}
	for i, name := range d.Classes {
		if name == "" {
			d.Classes[i] = [2]string{"class −1", "class +1"}[i]
		}
	}
	low, high := min(slices.Min(values), -1), max(slices.Max(values), 1)
	// A width whose multiples meet −1, 0 and +1, or which is far above 1.
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

	title := fmt.Sprintf("%d of %s carry the boundary: %d free, %d at the bound; %s",
		d.Free+d.Bound, count(n, "point", "points"), d.Free, d.Bound, count(errors, "error", "errors"))
	var sub []string
	if d.Problem != "" {
		sub = append(sub, d.Problem)
	}
	if finite(d.Margin) && d.Margin > 0 {
		sub = append(sub, "margin 1/‖w‖ = "+number(d.Margin))
	}
	subtitle := strings.Join(append(sub, "how many training points have which f(x)"), " · ")

	var series, legend list
	for k, s := range []struct{ name, color string }{{d.Classes[0], "@neg"}, {d.Classes[1], "@pos"}, {"errors", "@bad"}} {
		if len(bars[k]) == 0 {
			continue
		}
		series = append(series, object{"type": "custom", "name": s.name, "clip": true, "z": 2, "data": bars[k], "itemStyle": object{"color": s.color},
			"encode": object{"x": list{0, 1}, "y": 2}, "renderItem": scoresJS.cut("bar", "color", s.color)})
		legend = append(legend, object{"name": s.name, "icon": "rect"})
	}
	line := func(name string, width float64, dash any, at ...float64) object {
		var data list
		for _, v := range at {
			data = append(data, list{v, -2 * most[0]}, list{v, 2 * most[1]}, list{v, nil})
		}
		return object{"type": "line", "name": name, "symbol": "none", "silent": true, "z": 3, "data": data, "tooltip": object{"show": false},
			"lineStyle": object{"color": "@ink", "width": width, "type": dash}, "itemStyle": object{"color": "@ink"}}
	}
	series = append(series, line("f = 0", 2.6, "solid", 0), line("f = ±1", 1.6, list{6, 4}, -1, 1))
	legend = append(legend, object{"name": "f = 0", "icon": stroke}, object{"name": "f = ±1", "icon": dashes})
	return newChart(title, subtitle, "Histogram of the decision values of both classes. "+title+". "+subtitle+".", object{
		"series":  series,
		"legend":  object{"data": legend},
		"toolbox": toolbox("scores", object{"yAxisIndex": false}),
		"tooltip": object{"trigger": "item", "formatter": scoresJS.cut("tip")},
		"xAxis": list{object{"type": "value", "min": roundTo(first*width, 6), "max": roundTo((first+float64(len(counts)))*width, 6),
			"name": "f(x)", "nameLocation": "middle", "nameGap": 28, "axisLine": object{"show": true, "onZero": true}, "axisTick": object{"show": false}, "splitLine": object{"show": false},
			"axisLabel": object{"showMinLabel": false, "showMaxLabel": false, "formatter": marksJS.cut("number")}}},
		"yAxis": list{object{"type": "value", "min": -1.05 * float64(most[0]), "max": 1.05 * float64(most[1]), "minInterval": 1, "name": "points", "nameLocation": "middle", "nameGap": 42,
			"axisLine": object{"show": true, "onZero": false}, "axisTick": object{"show": true},
			"axisLabel": object{"showMinLabel": false, "showMaxLabel": false, "formatter": marksJS.cut("size")}}},
		"svm": object{"layout": scoresJS.cut("layout")},
	}), nil
}
