package figure

import (
	_ "embed"
	"fmt"
	"math"
)

//go:embed acquisition.js
var acquisitionJS source

// AcquisitionData is what [Acquisition] draws: the process of a function of one parameter, after n
// evaluations, and what is expected of the next one, at m places.
type AcquisitionData struct {
	Problem string  // what was searched, such as "maximise · 8 evaluations"
	Feature string  // name of the parameter; "x" when empty
	Target  string  // name of the function; "f" when empty
	Log     bool    // the parameter has a logarithmic axis
	Minimum bool    // the smallest value is the best
	Best    float64 // the best value; NaN if there is none
	Next    float64 // the place of the next evaluation; NaN if it is not known

	X []float64 // n places of evaluations
	Y []float64 // n values

	Xs          []float64 // m ≥ 2 increasing places, above 0 with Log
	Mean        []float64 // m means
	SD          []float64 // m standard deviations, ≥ 0
	Improvement []float64 // m expected improvements, ≥ 0
}

// Acquisition draws the mean with a band of two standard deviations and the evaluations above the
// expected improvement, whose maximum is the next place.
func Acquisition(d AcquisitionData) (*Chart, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	xName, target := either(d.Feature, "x"), either(d.Target, "f")
	keep := thin(d.Xs, curvePoints, d.Mean, d.SD, d.Improvement)
	first, last := d.Xs[0], d.Xs[len(d.Xs)-1]
	roundX := rounding(first, last)
	if d.Log {
		roundX = func(v float64) float64 { return roundTo(v, 5) }
	}
	lower, upper := around2(d.Mean, d.SD)
	low, high := extent(lower, upper, d.Y)
	low, high = widen(low, high, 0.06)
	_, most := extent(d.Improvement)
	top := 1.1 * most
	if !(top > 0) {
		top = 1
	}
	roundY, roundE := rounding(low, high), rounding(0, top)

	best := "largest"
	if d.Minimum {
		best = "smallest"
	}
	title := fmt.Sprintf("No place is known to try next after %s", count(len(d.Y), "evaluation", "evaluations"))
	if finite(d.Next) {
		title = fmt.Sprintf("The next evaluation is at %s = %s, where an improvement of %s is expected", xName, numberTo(d.Next, 4), numberTo(most, 2))
	}
	known := ""
	if finite(d.Best) {
		known = fmt.Sprintf("the %s value so far is %s", best, numberTo(d.Best, 4))
	}
	p := plot{name: "acquisition", about: fmt.Sprintf("Process of %s over %s above the expected improvement.", target, xName), tip: acquisitionJS.cut("tip"), along: true, links: "all",
		zoom: object{"yAxisIndex": false}, svm: object{"layout": acquisitionJS.cut("layout"), "x": rounded(d.Xs, keep, roundX),
			"mean": rounded(d.Mean, keep, roundY), "lower": rounded(lower, keep, roundY), "upper": rounded(upper, keep, roundY), "sd": column(pick(d.SD, keep), 3), "gain": rounded(d.Improvement, keep, roundE)}}
	const mean, wide, gain, next, seen = "mean", "± 2 sd", "expected improvement", "next", "evaluations"
	p.add(band(0, wide, "x", "lower", "upper", "@series1/0.24", ""),
		curve(0, mean, "x", "mean", "@series1").pen("@series1", 2),
		curve(1, gain, "x", "gain", "@series2").pen("@series2", 2))
	if finite(d.Next) {
		for panel, ends := range [][2]float64{{low, high}, {0, top}} {
			p.add(line(list{list{roundX(d.Next), ends[0]}, list{roundX(d.Next), ends[1]}}).name(next).bare().on(panel).still().z(2).pen("@strong", 1.6, "dashed"))
		}
	}
	p.key(mean)
	p.key(wide)
	if len(d.Y) > 0 {
		shown := choose(len(d.Y), func(int) int { return 0 })
		points := items(shown, nil, func(_, i int) list { return list{roundX(d.X[i]), roundY(d.Y[i]), i} })
		p.add(scatter(points).id(seen).name(seen).symbols("circle", pointSize(len(shown))).z(3).fill("@ink"))
		p.rimmed(seen, 0)
	}
	p.key(gain)
	if finite(d.Next) {
		p.key(next)
	}
	for panel, y := range []struct {
		low, high float64
		name      string
	}{{low, high, target}, {0, top, gain}} {
		x := valueAxis(panel, first, last, "", 28).pointed().lines()
		if d.Log {
			x.set("type", "log")
		}
		if panel == 0 {
			x.label(object{"show": false})
		} else {
			x.set("name", xName)
		}
		p.panel(x, valueAxis(panel, y.low, y.high, y.name, 6).set("nameLocation", "end").set("nameTextStyle", object{"align": "left", "fontSize": 13, "fontWeight": 600, "color": "@ink"}).
			lines().set("splitNumber", 4-2*panel))
	}
	p.grid = list{object{}, object{}}
	return p.chart(title, sentence(d.Problem, known, count(len(d.Y), "evaluation", "evaluations"))), nil
}

func (d *AcquisitionData) check() error {
	c := checks{figure: "Acquisition"}
	c.numbers("evaluation", len(d.Y), given("X", d.X), given("Y", d.Y))
	c.places("Xs", d.Xs)
	c.numbers("place", len(d.Xs), given("Mean", d.Mean), amount("SD", d.SD), amount("Improvement", d.Improvement))
	c.refuse(d.Log && len(d.Xs) > 0 && !(d.Xs[0] > 0), "Xs", "begins at %v: a logarithmic axis needs numbers above 0", first(d.Xs))
	return c.err
}

// first returns the first number, or NaN.
func first(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	return v[0]
}
