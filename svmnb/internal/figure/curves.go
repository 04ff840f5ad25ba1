package figure

import (
	_ "embed"
	"fmt"
)

//go:embed curves.js
var curvesJS source

// CurveData is what [Curve] draws: a score along one parameter.
type CurveData struct {
	Problem string // what was searched
	Metric  string // name of the score
	Name    string // of the parameter
	Xs      []float64
	Mean    []float64 // NaN for a missing score
	SE      []float64 // standard errors; NaN for a missing one
	Percent bool      // scores are shares, shown in %
	Log     bool      // the axis is logarithmic; Xs must be positive
	Chosen  int       // index of the chosen place
}

// Curve draws the mean score with a band of one standard error, and marks the chosen place.
func Curve(d CurveData) (*Chart, error) {
	c, keep := checks{figure: "Curve"}, nodes(d.Mean)
	c.numbers("place", len(d.Xs), given("Xs", d.Xs), given("Mean", d.Mean, missing), amount("SE", d.SE, missing))
	if len(d.Xs) > 1 {
		c.places("Xs", d.Xs)
	}
	c.refuse(d.Log && !(len(d.Xs) > 0 && d.Xs[0] > 0), "Xs", "begins at 0 or has no place: a log axis needs positive places")
	c.refuse(len(keep) == 0, "Mean", "has no score: let the search finish a point")
	c.refuse(d.Chosen < 0 || d.Chosen >= len(d.Mean) || !finite(d.Mean[d.Chosen]), "Chosen", "is place %d of %d, or one without a score", d.Chosen, len(d.Xs))
	if c.err != nil {
		return nil, c.err
	}
	scale, unit, name := percentage(d.Percent, d.Metric)
	var xs, mean, lower, upper []float64
	for _, i := range keep {
		se := d.SE[i]
		if !finite(se) {
			se = 0
		}
		xs, mean = append(xs, d.Xs[i]), append(mean, scale*d.Mean[i])
		lower, upper = append(lower, scale*(d.Mean[i]-se)), append(upper, scale*(d.Mean[i]+se))
	}
	low, high := extent(lower, upper)
	low, high = scoreEnds(low, high, d.Percent)
	title := fmt.Sprintf("%s %s%s at %s = %s", capital(d.Metric), shortScore(scale*d.Mean[d.Chosen], d.Percent), unit, d.Name, number(d.Xs[d.Chosen]))
	if finite(d.SE[d.Chosen]) {
		title += ", standard error " + numberTo(scale*d.SE[d.Chosen], 2)
	}
	subtitle := sentence(d.Problem, "band: one standard error of the folds")
	all := upTo(len(xs))
	round := rounding(low, high)
	p := plot{name: "search", about: fmt.Sprintf("The %s along %s.", d.Metric, d.Name), tip: curvesJS.cut("tip"), grid: object{},
		svm: object{"x": xs, "mean": rounded(mean, all, round), "lower": rounded(lower, all, round), "upper": rounded(upper, all, round),
			"name": d.Name, "metric": d.Metric, "unit": unit}}
	x := axis{"type": "value", "splitLine": object{"show": false}, "scale": true, "axisLine": object{"show": true, "onZero": false}, "axisTick": object{"show": true}}.
		named(d.Name, 28).label(object{"hideOverlap": true, "formatter": marksJS.cut("number")})
	if d.Log {
		x.set("type", "log").set("logBase", 10).set("min", xs[0]).set("max", xs[len(xs)-1])
		if len(xs) == 1 {
			x.set("min", xs[0]/10).set("max", xs[0]*10)
		}
	}
	p.panel(x, valueAxis(0, low, high, name, 48))
	p.add(band(0, "± standard error", "x", "lower", "upper", "@neg/0.18", ""),
		curve(0, "mean of the folds", "x", "mean", "@neg").set("showSymbol", true).set("symbolSize", 7),
		scatter(list{list{d.Xs[d.Chosen], round(scale * d.Mean[d.Chosen])}}).name("chosen").set("symbolSize", 15).z(4).fill("@page").edge("@ink", 3))
	p.key("mean of the folds")
	p.key("± standard error")
	p.key("chosen")
	return p.chart(title, subtitle), nil
}
