package figure

import (
	_ "embed"
	"fmt"
	"math"
)

//go:embed tube.js
var tubeJS source

// TubeData is what [Tube] draws: a regression function f with a tube of half-width ε, and
// the n training points.
type TubeData struct {
	Problem string  // what was solved, such as "sinc · RBF(0.5), C = 10"
	Note    string  // one more sentence for the subtitle; may be empty
	Feature string  // name of the x axis; "x" when empty
	Target  string  // name of the y axis; "y" when empty
	Epsilon float64 // ≥ 0
	Tau     float64 // level of a quantile regression, whose Epsilon is 0; 0 for other regressions
	Huber   bool    // Huber's loss: Epsilon is its δ, and Beta is at its bound beyond

	X     []float64 // n values of the only feature; nil draws predictions over targets, for any number of features
	Y     []float64 // n targets
	F     []float64 // n values f(x_i)
	Beta  []float64 // n coefficients β = α̂ − α
	Upper []float64 // n upper bounds of |Beta|, on the side of Beta; +Inf for none

	Xs   []float64 // m ≥ 2 increasing places; unused when X is nil
	Fs   []float64 // m values of f
	True []float64 // m values of the true function; nil when unknown
}

// The kinds of points of a tube.
const (
	inside    = iota // β = 0
	onEdge           // 0 < |β| < its bound
	atBound          // |β| at its bound
	unbounded        // β ≠ 0 without a bound, so |β| grows with the slack
)

// Tube draws f of one feature with its tube, the points, the support vectors (free ones on
// the edge of the tube, those at their bound outside) and the slacks. If X is nil it draws
// predictions over targets, with the tube around the line on which they are equal.
func Tube(d TubeData) (*Chart, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	n := len(d.Y)
	kinds := d.kinds()
	var counts [4]int
	square := 0.0
	for i, kind := range kinds {
		counts[kind]++
		square += (d.Y[i] - d.F[i]) * (d.Y[i] - d.F[i]) / float64(n)
	}
	title := fmt.Sprintf("%d of %s are inside the tube of ± %s; the other %d carry f", counts[inside], count(n, "point", "points"), numberTo(d.Epsilon, 3), n-counts[inside])
	support := fmt.Sprintf("%d free, %d at the bound", counts[onEdge], counts[atBound])
	switch {
	case counts[inside] == n:
		title, support = fmt.Sprintf("No support vectors: f is constant on %s", count(n, "point", "points")), ""
	case counts[unbounded] > 0:
		support = ""
	}
	rmse := "RMSE " + numberTo(math.Sqrt(square), 3)
	tube, slack, names := "f ± ε", "slack ξ", [...]string{"inside the tube", "free: on the edge", "at the bound: outside", "support vector"}
	switch {
	case d.Tau > 0:
		below := 0
		for i, b := range d.Beta {
			if kinds[i] == atBound && b < 0 {
				below++
			}
		}
		title = fmt.Sprintf("%s %% quantile: %d of %s lie below f, %d on it and %d above", numberTo(100*d.Tau, 3), below, count(n, "point", "points"), n-counts[atBound], counts[atBound]-below)
		names[inside], names[onEdge], names[atBound] = "on f", "on f", "below or above f"
		support, rmse = "", ""
	case d.Huber:
		title = fmt.Sprintf("%d of %s are farther than %s from f, where the loss is linear", counts[atBound], count(n, "point", "points"), numberTo(d.Epsilon, 3))
		tube, slack, names[inside], names[onEdge], names[atBound] = "f ± δ", "distance beyond δ", "within δ", "within δ", "farther than δ"
		support = ""
	}
	shown := choose(n, func(i int) int { return -kinds[i] })
	subtitle := sentence(d.Problem, support, rmse, d.Note, fewer(shown, n, "the points"))

	// Over one feature, points are (x, y) and the curve is f(x) ± ε. Otherwise points are
	// (y, f) and the curve is f = y ± ε; slacks are vertical in both.
	target := either(d.Target, "y")
	px, py, xs, fs := d.X, d.Y, d.Xs, d.Fs
	xName, yName, fName := either(d.Feature, "x"), target, "f"
	about := fmt.Sprintf("Regression of %s on %s with its tube.", target, xName)
	if d.X == nil {
		low, high := extent(d.Y, d.F)
		low, high = widen(low, high, 0.04)
		px, py, xs, fs = d.Y, d.F, []float64{low, high}, []float64{low, high}
		xName, yName, fName = target, "prediction of "+target, "f = "+target
		about = fmt.Sprintf("Predictions of %s against its true values, with the tube.", target)
	}
	lower, upper := make([]float64, len(fs)), make([]float64, len(fs))
	for i, f := range fs {
		lower[i], upper[i] = f-d.Epsilon, f+d.Epsilon
	}
	xLow, xHigh := around(px, xs, 0.02)
	yLow, yHigh := extent(py, lower, upper, d.True)
	if d.X == nil {
		yLow, yHigh = xLow, xHigh // both axes have the same ends; those of the tube are clipped
	} else {
		yLow, yHigh = widen(yLow, yHigh, 0.05)
	}
	roundX, roundY := rounding(xLow, xHigh), rounding(yLow, yHigh)
	keep := thin(xs, curvePoints, fs, d.True)

	svm := object{"x": rounded(xs, keep, roundX), "f": rounded(fs, keep, roundY),
		"lower": rounded(lower, keep, roundY), "upper": rounded(upper, keep, roundY), "target": target, "one": d.X != nil}
	p := plot{name: "tube", about: about, tip: tubeJS.cut("tip"), grid: list{object{}}, svm: svm}
	p.panel(valueAxis(0, xLow, xHigh, xName, 28), valueAxis(0, yLow, yHigh, yName, 42).lines())
	const truth = "true function"
	p.key(fName)
	if d.Tau == 0 {
		p.add(band(0, tube, "x", "lower", "upper", "@series1/0.14", style("@series1", 1.3, 6, 4)).edge("@series1", 1.3).in("itemStyle", object{"borderType": list{6, 4}}))
		p.key(tube)
	}
	if d.X != nil {
		p.add(strips(yLow))
	}
	if d.True != nil && d.X != nil {
		svm["true"] = rounded(d.True, keep, roundY)
		p.add(curve(0, truth, "x", "true", "@ink").silent().pen("@ink", 1.6, list{2, 3}))
		p.key(truth)
	}
	p.add(curve(0, fName, "x", "f", "@series1").silent())

	// Lines for visible slacks, from the edge of the tube to the point.
	stems := list{}
	for _, i := range shown {
		if r := d.Y[i] - d.F[i]; d.Tau == 0 && math.Abs(r) > d.Epsilon+0.002*(yHigh-yLow) {
			edge := d.F[i] + math.Copysign(d.Epsilon, r)
			if d.X == nil {
				edge = d.Y[i] - math.Copysign(d.Epsilon, r)
			}
			x := roundX(px[i])
			stems = append(stems, list{x, roundY(edge)}, list{x, roundY(py[i])}, list{x, nil})
		}
	}
	if len(stems) > 0 {
		p.add(line(stems).name(slack).bare().still().z(4).ink("@strong", 1.4))
	}

	size := pointSize(len(shown))
	var sizes list
	for kind, look := range []struct {
		symbol string
		size   int
		style  object
	}{
		inside:    {"circle", size - 2, object{"color": "@soft", "opacity": 0.55}},
		onEdge:    {"circle", size, object{"color": "@page", "borderColor": "@ink", "borderWidth": 2.2}},
		atBound:   {diamond, size + 2, object{"color": "@strong", "borderColor": "@page", "borderWidth": 1}},
		unbounded: {diamond, size + 2, object{"color": "@strong", "borderColor": "@page", "borderWidth": 1}},
	} {
		data := items(shown, func(i int) bool { return kinds[i] == kind }, func(_, i int) list {
			r := d.Y[i] - d.F[i]
			return list{roundX(px[i]), roundY(py[i]), i, round4(d.Y[i]), round4(d.F[i]), round4(d.Beta[i]),
				round4(remainder(r, d.Y[i])), round4(remainder(max(0, math.Abs(r)-d.Epsilon), d.Y[i]))}
		})
		if len(data) == 0 {
			continue
		}
		id := fmt.Sprintf("kind%d", kind)
		p.add(scatter(data).id(id).name(names[kind]).symbols(look.symbol, look.size).set("symbolKeepAspect", true).z(5+kind).in("itemStyle", look.style).swells(1.4))
		sizes = append(sizes, list{id, look.size})
		if kind == onEdge {
			p.key(names[kind])
		} else {
			p.rimmed(names[kind], 0)
		}
	}
	if len(stems) > 0 {
		p.key(slack)
	}
	svm["sizes"] = sizes
	return p.chart(title, subtitle), nil
}

// kinds returns the kind of each point.
func (d *TubeData) kinds() []int {
	kinds := make([]int, len(d.Y))
	for i, b := range d.Beta {
		kinds[i] = [...]int{inside, onEdge, atBound}[support(math.Abs(b), d.Upper[i])]
		if kinds[i] != inside && math.IsInf(d.Upper[i], 1) {
			kinds[i] = unbounded
		}
	}
	return kinds
}

func (d *TubeData) check() error {
	c := checks{figure: "Tube"}
	c.refuse(len(d.Y) == 0, "Y", "has no points: give the targets of the training points")
	c.size("Epsilon", d.Epsilon)
	c.numbers("point", len(d.Y), given("X", d.X, optional), given("Y", d.Y), given("F", d.F), given("Beta", d.Beta), amount("Upper", d.Upper, infinite))
	if d.X != nil {
		c.places("Xs", d.Xs)
		c.numbers("place", len(d.Xs), given("Fs", d.Fs), given("True", d.True, optional))
	}
	return c.err
}
