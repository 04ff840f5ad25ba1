package figure

import (
	_ "embed"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
)

//go:embed posterior.js
var posteriorJS source

// PosteriorData is what [Posterior] draws: the posterior of a Gaussian process of one
// feature after n observations, at m places.
type PosteriorData struct {
	Problem  string  // what was solved, such as "motorcycle · RBF(0.5), σ² = 0.1"
	Note     string  // one more sentence for the subtitle, such as why the solver stopped early; may be empty
	Feature  string  // name of the x axis; "x" when empty
	Target   string  // name of the y axis; "y" when empty
	Noise    float64 // noise variance; NaN if it differs from point to point
	Evidence float64 // log marginal likelihood; NaN when unknown

	X []float64 // n values of the feature
	Y []float64 // n observations

	TestX []float64 // k values of the feature of test points; may be empty
	TestY []float64 // k targets of test points

	Inducing     []float64 // places of inducing points; may be empty
	InducingFrom []float64 // where they were before they moved, or empty

	Evenly string // what Mean is, such as "mean count"; "" for the mean of f

	Xs            []float64   // m ≥ 2 increasing places
	Mean          []float64   // m means of f
	SD            []float64   // m standard deviations of f, ≥ 0
	ObservationSD []float64   // m standard deviations of a new observation y, ≥ SD; nil omits its band
	Low, High     []float64   // m ends of an interval of f, in place of Mean ± 2 SD; nil for none
	NewLow        []float64   // m lower ends of an interval of a new observation, in place of Mean ± 2 ObservationSD; nil for none
	NewHigh       []float64   // and the upper ends
	MeanError     []float64   // m bounds of |Mean − exact mean|, ≥ 0; nil if Mean is exact
	Samples       [][]float64 // functions drawn from the posterior, m values each; may be empty
	True          []float64   // m values of the true function; nil when unknown
}

// Posterior draws the mean of a Gaussian process with bands of two standard deviations (of
// f and of new observations), samples and observations. For a solver that stopped early it
// also draws how far the mean may be from the exact one. Points before the first or after
// the last of the places are not drawn.
func Posterior(d PosteriorData) (*Chart, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	n, tests, target := len(d.Y), len(d.TestY), either(d.Target, "y")
	xName := either(d.Feature, "x")
	facts := count(n, "observation", "observations")
	if tests > 0 {
		facts += ", " + count(tests, "test point", "test points")
	}
	if finite(d.Noise) {
		facts += ", noise σ² = " + numberTo(d.Noise, 3)
	}
	if finite(d.Evidence) {
		facts += ", log marginal likelihood " + number(d.Evidence)
	}
	first, last := d.Xs[0], d.Xs[len(d.Xs)-1]
	x, y, numbers := inRange(d.X, d.Y, first, last)
	testX, testY, testNumbers := inRange(d.TestX, d.TestY, first, last)
	shown := choose(len(y), func(int) int { return 0 })
	shownTests := choose(len(testY), func(int) int { return 0 })
	outside := ""
	if k := n + tests - len(y) - len(testY); k > 0 {
		outside = count(k, "point outside the range", "points outside the range")
	}
	within := ""
	if d.MeanError != nil {
		_, most := extent(d.MeanError)
		within = "the mean is within " + numberTo(most, 2) + " of the exact one"
	}
	title := d.finding(x, y, testX, testY)
	subtitle := sentence(d.Problem, facts, d.Note, within, outside, fewer(shown, len(y), "the observations"), fewer(shownTests, len(testY), "the test points"))

	lower, upper := around2(d.Mean, d.SD)
	if d.Low != nil {
		lower, upper = d.Low, d.High
	}
	all := append([][]float64{y, testY, d.True, lower, upper}, d.Samples...)
	columns := map[string][]float64{"mean": d.Mean, "lower": lower, "upper": upper}
	if d.Low == nil {
		columns["sd"] = d.SD
	}
	bandOfNew := d.ObservationSD != nil || d.NewLow != nil
	if bandOfNew {
		l, u := d.NewLow, d.NewHigh
		if l == nil {
			l, u = around2(d.Mean, d.ObservationSD)
		}
		columns["newlower"], columns["newupper"] = l, u
		all = append(all, l, u)
	}
	if d.MeanError != nil {
		l, u := make([]float64, len(d.Mean)), make([]float64, len(d.Mean))
		for i, m := range d.Mean {
			l[i], u[i] = m-d.MeanError[i], m+d.MeanError[i]
		}
		columns["meanlower"], columns["meanupper"], columns["error"] = l, u, d.MeanError // does not affect the range of the axis: a poor bound would make everything else tiny
	}
	if d.True != nil {
		columns["true"] = d.True
	}
	keep := thin(d.Xs, curvePoints, append(slices.Collect(maps.Values(columns)), d.Samples...)...)
	xLow, xHigh := around(append(slices.Clip(x), testX...), d.Xs, 0.02)
	yLow, yHigh := extent(all...)
	yLow, yHigh = widen(yLow, yHigh, 0.05)
	roundX, roundY := rounding(xLow, xHigh), rounding(yLow, yHigh)
	svm := object{"x": rounded(d.Xs, keep, roundX), "target": target}
	for name, values := range columns {
		round := roundY
		if name == "sd" || name == "error" {
			round = round4
		}
		svm[name] = rounded(values, keep, round)
	}

	const sampled, solver, truth, data, test, inducing, before = "samples of f", "mean ± solver's error", "true function", "observations", "test points", "inducing points", "where they began"
	f, fresh, mean := "f ± 2 sd", "new observation ± 2 sd", either(d.Evenly, "mean of f")
	if d.Low != nil {
		f = "95 % of the " + mean
	}
	if d.NewLow != nil {
		fresh = "95 % of new observations"
	}
	svm["names"] = list{mean, f, fresh}
	p := plot{name: "posterior", about: fmt.Sprintf("Gaussian process of %s over %s: mean and bands of two standard deviations.", target, xName), tip: posteriorJS.cut("tip"),
		grid: list{object{}}, svm: svm}
	p.panel(valueAxis(0, xLow, xHigh, xName, 28), valueAxis(0, yLow, yHigh, target, 42).lines())
	p.key(mean)
	p.key(f)
	if bandOfNew {
		p.add(band(0, fresh, "x", "newlower", "newupper", "@series1/0.15", style("@series1", 1, 2, 4)).edge("@series1", 1).in("itemStyle", object{"borderType": list{2, 4}}))
		p.key(fresh)
	}
	p.add(band(0, f, "x", "lower", "upper", "@series1/0.24", ""))
	if d.MeanError != nil {
		p.add(band(0, solver, "x", "meanlower", "meanupper", "@series2/0.2", style("@series2", 1.4)).edge("@series2", 1.4))
		p.key(solver)
	}
	p.add(strips(yLow))
	for k, values := range d.Samples {
		name := fmt.Sprintf("sample%d", k)
		svm[name] = rounded(values, keep, roundY)
		p.add(curve(0, sampled, "x", name, "@series1").silent().pen("@series1", 1).in("lineStyle", object{"opacity": 0.75}))
	}
	if len(d.Samples) > 0 {
		p.key(sampled)
	}
	if d.True != nil {
		p.add(curve(0, truth, "x", "true", "@ink").silent().pen("@ink", 1.6, list{6, 4}))
		p.key(truth)
	}
	p.add(curve(0, mean, "x", "mean", "@series1").silent().z(4).pen("@series1", 3))
	sizes := list{}
	points := func(id, name, symbol, fill, edge string, width float64, shown, number []int, x, y []float64) {
		if len(y) == 0 {
			return
		}
		size := pointSize(len(shown))
		data := items(shown, nil, func(_, i int) list { return list{roundX(x[i]), roundY(y[i]), number[i]} })
		p.add(scatter(data).id(id).name(name).symbols(symbol, size).z(5).fill(fill).edge(edge, width).opacity(0.9).swells(1.4))
		p.rimmed(name, int(width)-1)
		sizes = append(sizes, list{id, size})
	}
	points("data", data, "circle", "@ink", "@page", 1, shown, numbers, x, y)
	marks := func(id, name, symbol, fill string, size, offset int, at []float64) {
		data := list{}
		for _, v := range at {
			if v >= first && v <= last {
				data = append(data, list{roundX(v), roundY(yLow)})
			}
		}
		p.add(scatter(data).id(id).name(name).symbols(symbol, list{3, size}).set("symbolOffset", list{0, offset}).z(6).fill(fill).still())
		p.key(name)
	}
	if len(d.Inducing) > 0 {
		marks("inducing", inducing, "path://M-1,0L-1,-12L1,-12L1,0Z", "@series2", 14, -7, d.Inducing)
	}
	if len(d.InducingFrom) > 0 {
		marks("began", before, "path://M-1,0L-1,-6L1,-6L1,0Z", "@soft", 7, -18, d.InducingFrom)
	}
	points("test", test, diamond, "@page", "@series2", 2, shownTests, testNumbers, testX, testY)
	if len(sizes) > 0 {
		svm["sizes"] = sizes
	}
	return p.chart(title, subtitle), nil
}

// finding is the title: how far samples differ, how many points the band contains, or else how
// wide the band is. The points are those in the range.
func (d *PosteriorData) finding(x, y, testX, testY []float64) string {
	name, unit := units(either(d.Target, "y"))
	wide := func(v float64) string { return numberTo(v, 3) + unit }
	low, high := extent(d.SD)
	switch {
	case len(d.Samples) > 1:
		apart, at := d.apart()
		feature, unitX := units(either(d.Feature, "x"))
		return fmt.Sprintf("%d samples of f lie up to %s apart, most at %s = %s", len(d.Samples), wide(apart), feature, numberTo(at, 3)+unitX)
	case len(d.Y) == 0:
		return fmt.Sprintf("0 observations: the prior of f has a band of ± %s", wide(2*high))
	case d.NewLow != nil && len(x) > 0:
		return fmt.Sprintf("%d of %s lie in the interval of 95 %% of new ones", d.within(x, y), count(len(x), "observation", "observations"))
	case d.ObservationSD != nil && len(testX) > 0:
		return fmt.Sprintf("%d of %s lie within ± 2 sd of their prediction", d.within(testX, testY), count(len(testX), "test point", "test points"))
	case d.ObservationSD != nil && len(x) > 0:
		return fmt.Sprintf("%d of %s lie within ± 2 sd of the mean", d.within(x, y), count(len(x), "observation", "observations"))
	case numberTo(low, 3) == numberTo(high, 3):
		return fmt.Sprintf("The mean of %s is known to ± %s (2 sd)", name, wide(2*high))
	}
	return fmt.Sprintf("The mean of %s is known to ± %s in one place and to ± %s in another (2 sd)", name, wide(2*low), wide(2*high))
}

// apart returns the largest distance of two samples at one place, and the place.
func (d *PosteriorData) apart() (most, at float64) {
	most = -1
	for i, x := range d.Xs {
		low, high := math.Inf(1), math.Inf(-1)
		for _, s := range d.Samples {
			low, high = min(low, s[i]), max(high, s[i])
		}
		if high-low > most {
			most, at = high-low, x
		}
	}
	return most, at
}

// within returns how many of the points the band of new observations contains.
func (d *PosteriorData) within(x, y []float64) (inside int) {
	for i, v := range x {
		j := min(max(sort.SearchFloat64s(d.Xs, v), 1), len(d.Xs)-1)
		t := (v - d.Xs[j-1]) / (d.Xs[j] - d.Xs[j-1])
		if d.NewLow != nil {
			if l, h := d.NewLow[j-1]+t*(d.NewLow[j]-d.NewLow[j-1]), d.NewHigh[j-1]+t*(d.NewHigh[j]-d.NewHigh[j-1]); y[i] >= l-1e-9 && y[i] <= h+1e-9 {
				inside++
			}
			continue
		}
		mean, sd := d.Mean[j-1]+t*(d.Mean[j]-d.Mean[j-1]), d.ObservationSD[j-1]+t*(d.ObservationSD[j]-d.ObservationSD[j-1])
		if math.Abs(y[i]-mean) <= 2*sd {
			inside++
		}
	}
	return inside
}

// inRange returns the points whose x is from low to high, and their numbers among all.
func inRange(x, y []float64, low, high float64) (xs, ys []float64, numbers []int) {
	for i, v := range x {
		if v >= low && v <= high {
			xs, ys, numbers = append(xs, v), append(ys, y[i]), append(numbers, i)
		}
	}
	return xs, ys, numbers
}

func (d *PosteriorData) check() error {
	c := checks{figure: "Posterior"}
	c.numbers("observation", len(d.Y), given("X", d.X), given("Y", d.Y))
	c.numbers("test point", len(d.TestY), given("TestX", d.TestX), given("TestY", d.TestY))
	c.places("Xs", d.Xs)
	c.numbers("place", len(d.Xs), given("Mean", d.Mean), amount("SD", d.SD), amount("ObservationSD", d.ObservationSD, optional), amount("MeanError", d.MeanError, optional),
		given("Low", d.Low, optional), given("High", d.High, optional), given("NewLow", d.NewLow, optional), given("NewHigh", d.NewHigh, optional),
		given("True", d.True, optional))
	c.numbers("inducing point", len(d.Inducing), given("Inducing", d.Inducing), given("InducingFrom", d.InducingFrom, optional))
	c.refuse((d.Low == nil) != (d.High == nil) || (d.NewLow == nil) != (d.NewHigh == nil), "Low", "needs High, and NewLow NewHigh")
	for k, s := range d.Samples {
		c.numbers("place", len(d.Xs), given(fmt.Sprintf("Samples[%d]", k), s))
	}
	return c.err
}
