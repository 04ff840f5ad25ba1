package figure

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
)

//go:embed validation.js
var validationJS source

// ValidationData is what [Validation] draws: scores on training points and on held-out
// points, along a parameter or the number of training points.
type ValidationData struct {
	Problem            string
	Metric             string // name of the score
	Name               string // what changes along the axis
	Xs                 []float64
	Train, TrainSE     []float64 // means and standard errors over the folds; NaN for a missing one
	HeldOut, HeldOutSE []float64
	Percent            bool // scores are shares, shown in %
	Lower              bool // lower scores are better
	Log                bool // the axis is logarithmic; Xs must be positive
	Learning           bool // Xs are numbers of training points: the title states the score of the last place, not the best score
}

// Validation draws both scores with bands of one standard error. If the training score is
// much better, the machine overfits. If both scores are bad and close, it underfits.
func Validation(d ValidationData) (*Chart, error) {
	c, known := checks{figure: "Validation"}, nodes(d.HeldOut)
	c.numbers("place", len(d.Xs), given("Xs", d.Xs), given("Train", d.Train, missing), amount("TrainSE", d.TrainSE, missing),
		given("HeldOut", d.HeldOut, missing), amount("HeldOutSE", d.HeldOutSE, missing))
	c.places("Xs", d.Xs)
	c.refuse(d.Log && c.err == nil && !(d.Xs[0] > 0), "Xs[0]", "is not above 0: a log axis needs positive places")
	c.refuse(len(known) == 0, "HeldOut", "has no score: let a place finish its folds")
	if c.err != nil {
		return nil, c.err
	}
	scale, unit, name := percentage(d.Percent, d.Metric)
	at := known[len(known)-1]
	if !d.Learning {
		for _, i := range known {
			if d.Lower && d.HeldOut[i] < d.HeldOut[at] || !d.Lower && d.HeldOut[i] > d.HeldOut[at] {
				at = i
			}
		}
	}
	where := fmt.Sprintf("at %s = %s", d.Name, number(d.Xs[at]))
	if d.Learning {
		where = fmt.Sprintf("with %s training points", thousands(int64(d.Xs[at])))
	}
	se := ""
	if finite(d.HeldOutSE[at]) {
		se = " ± " + numberTo(scale*d.HeldOutSE[at], 2)
	}
	score := func(v float64) string { return shortScore(scale*v, d.Percent) }
	if d.Percent { // all numbers of the title have one decimal
		score = func(v float64) string { return fixed(scale*v, 1) }
		if se != "" {
			se = " ± " + score(d.HeldOutSE[at])
		}
	}
	title := fmt.Sprintf("%s %s%s%s on held-out points %s", capital(d.Metric), score(d.HeldOut[at]), se, unit, where)
	if finite(d.Train[at]) {
		title += fmt.Sprintf(", %s%s on the training points", score(d.Train[at]), unit)
	}
	subtitle := sentence(d.Problem, "bands: one standard error of the folds")

	svm := object{"x": column(d.Xs, 6), "name": d.Name, "metric": d.Metric, "unit": unit}
	p := plot{name: "validation", about: fmt.Sprintf("The %s on training points and on held-out points along %s.", d.Metric, d.Name), tip: validationJS.cut("tip"), grid: object{}, svm: svm}
	var ends [][]float64
	for k, s := range []struct {
		name, color string
		mean, se    []float64
		dash        any
	}{{"training points", "@pos", d.Train, d.TrainSE, list{7, 4}}, {"held out", "@neg", d.HeldOut, d.HeldOutSE, "solid"}} {
		var x, value, lower, upper []float64
		for _, i := range nodes(s.mean) {
			e := 0.0
			if finite(s.se[i]) {
				e = s.se[i]
			}
			x, value = append(x, d.Xs[i]), append(value, scale*s.mean[i])
			lower, upper = append(lower, scale*(s.mean[i]-e)), append(upper, scale*(s.mean[i]+e))
		}
		ends = append(ends, lower, upper)
		key := func(name string) string { return fmt.Sprintf("%s%d", name, k) }
		for name, v := range map[string][]float64{"x": x, "mean": value, "lower": lower, "upper": upper} {
			svm[key(name)] = column(v, 6)
		}
		if len(x) > 0 {
			p.add(band(0, "", key("x"), key("lower"), key("upper"), s.color+"/0.18", ""),
				curve(0, s.name, key("x"), key("mean"), s.color).set("showSymbol", true).set("symbolSize", 7).in("lineStyle", object{"type": s.dash}))
		}
	}
	low, high := extent(ends...)
	low, high = scoreEnds(low, high, d.Percent)
	first, last := d.Xs[0], d.Xs[len(d.Xs)-1]
	left, right := widen(first, last, 0.02)
	x := valueAxis(0, left, right, d.Name, 28)
	if d.Log {
		room := math.Pow(last/first, 0.02)
		x = logBetween(roundTo(first/room, 6), roundTo(last*room, 6), d.Name)
	}
	tried := column(d.Xs, 6) // the ticks are where the scores are
	x.set("axisTick", object{"show": true, "customValues": tried}).label(object{"customValues": tried, "showMinLabel": true, "showMaxLabel": true, "hideOverlap": true})
	if d.Log && powersOfTwo(d.Xs) && first < 0.1 { // such as 2⁻⁷, which is shorter than 0.0078125
		x.label(object{"formatter": validationJS.cut("two")})
	}
	p.panel(x, valueAxis(0, low, high, name, 48).lines())
	p.key("held out")
	if len(nodes(d.Train)) > 0 {
		p.key("training points")
	}
	return p.chart(title, subtitle), nil
}

// powersOfTwo reports whether all values are powers of two.
func powersOfTwo(values []float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { m, _ := math.Frexp(v); return m != 0.5 })
}
