package figure

import (
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"slices"
)

//go:embed residuals.js
var residualsJS source

// ResidualsData is what [Residuals] and [Predictions] draw: n real values and their
// predictions.
type ResidualsData struct {
	Problem   string    // what was solved and what was predicted
	Target    string    // name and unit of the values; "y" when empty
	Truth     []float64 // n values
	Predicted []float64 // n predictions
	R2        float64   // share of the variance of the values that the predictions explain; NaN if unknown
	Quantile  float64   // the share of the values that should lie below the predictions, in (0, 1); 0 for predictions of the values
}

// share says of predictions of a quantile how many values lie below them.
func (d *ResidualsData) share() string {
	below, loss, n := 0, 0.0, len(d.Truth)
	for i, y := range d.Truth {
		r := y - d.Predicted[i]
		if r < 0 {
			below++
		}
		loss += max(d.Quantile*r, (d.Quantile-1)*r) / float64(n)
	}
	return fmt.Sprintf("%s %% of %s lie below the %s %% quantile; the pinball loss is %s", numberTo(100*float64(below)/float64(n), 3), count(n, "point", "points"), numberTo(100*d.Quantile, 3), numberTo(loss, 3))
}

// residualGroups is the largest number of groups of which Residuals draws the mean.
const residualGroups = 10

// Residuals draws y − f over the prediction f, and the mean of groups of points with
// similar predictions. Where the prediction misses nothing but noise, the means lie near 0.
func Residuals(d ResidualsData) (*Chart, error) {
	if err := d.check("Residuals"); err != nil {
		return nil, err
	}
	n, target := len(d.Truth), either(d.Target, "y")
	residual, mean, square := make([]float64, n), 0.0, 0.0
	for i, y := range d.Truth {
		residual[i] = remainder(y-d.Predicted[i], y)
		mean += residual[i] / float64(n)
	}
	for _, r := range residual {
		square += (r - mean) * (r - mean) / float64(n)
	}
	low, high := extent(d.Predicted)
	low, high = widen(low, high, 0.04)
	below, above := extent(residual, []float64{0})
	below, above = widen(below, above, 0.06)
	groups := min(residualGroups, n/5)
	if groups < 2 || d.Quantile != 0 { // the mean says nothing of a quantile
		groups = 0
	}
	means, whiskers, away := d.means(residual, groups)
	title := fmt.Sprintf("Residuals of %s have the mean %s and the standard deviation %s", count(n, "point", "points"), numberTo(mean, 3), numberTo(math.Sqrt(square), 3))
	switch {
	case d.Quantile != 0:
		title = d.share()
	case groups > 0 && away == 0:
		title = fmt.Sprintf("The 95 %% intervals of all %d mean residuals contain 0; the standard deviation is %s", groups, numberTo(math.Sqrt(square), 3))
	case groups > 0:
		title = fmt.Sprintf("The 95 %% intervals of %d of %d mean residuals do not contain 0; the standard deviation is %s", away, groups, numberTo(math.Sqrt(square), 3))
	}
	p, points, about := d.plot("residuals", "Residuals over predictions.", title, residual, d.Predicted, residual, low, high, below, above)
	p.panel(valueAxis(0, low, high, "prediction of "+target, 28), valueAxis(0, below, above, "residual y − f", 48).lines())
	p.add(line(list{list{low, 0}, list{high, 0}}).name("no error").bare().still().z(3).ink("@ink", 1.4), points)
	p.key("points")
	if groups > 0 {
		p.add(custom(calibrationJS.cut("bar", "color", "@strong"), whiskers).name("95 % interval").still().clip().z(6).fill("@strong").set("encode", object{"x": 0, "y": list{1, 2}}))
		p.add(line(means).name("mean of groups").symbols("circle", 7).z(6).ink("@strong", 2.2))
		p.key("mean of groups")
		p.key("95 % interval", whisker)
		about = sentence(about, fmt.Sprintf("%d groups of equal size in the order of the predictions · mean residual %s", groups, numberTo(mean, 2)))
	}
	return p.chart(title, about), nil
}

// means returns the mean prediction and the mean residual of groups of equal size, in the
// order of the predictions, the 95 % intervals of the mean residuals, and how many of them do not
// contain 0.
func (d *ResidualsData) means(residual []float64, groups int) (out, whiskers list, away int) {
	n := len(residual)
	order := upTo(n)
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(d.Predicted[i], d.Predicted[j]) })
	for g := range groups {
		part := order[g*n/groups : (g+1)*n/groups]
		x, y := 0.0, 0.0
		for _, i := range part {
			x, y = x+d.Predicted[i]/float64(len(part)), y+residual[i]/float64(len(part))
		}
		square := 0.0
		for _, i := range part {
			square += (residual[i] - y) * (residual[i] - y) / float64(len(part)-1)
		}
		half := student(len(part)-1) * math.Sqrt(square/float64(len(part)))
		if math.Abs(y) > half {
			away++
		}
		out = append(out, list{round4(x), round4(y), len(part)})
		whiskers = append(whiskers, list{round4(x), round4(y - half), round4(y + half)})
	}
	return out, whiskers, away
}

// student returns the 97.5 % quantile of Student's t with so many degrees of freedom, at least 4,
// by the expansion of Cornish and Fisher. Its error is below 0.01.
func student(freedom int) float64 {
	const z = 1.959964
	n, z2 := float64(freedom), z*z
	return z * (1 + (z2+1)/(4*n) + ((5*z2+16)*z2+3)/(96*n*n) + (((3*z2+19)*z2+17)*z2-15)/(384*n*n*n))
}

// Predictions draws the prediction over the true value, and the line on which they are
// equal.
func Predictions(d ResidualsData) (*Chart, error) {
	if err := d.check("Predictions"); err != nil {
		return nil, err
	}
	n, target := len(d.Truth), either(d.Target, "y")
	residual, square := make([]float64, n), 0.0
	for i, y := range d.Truth {
		residual[i] = remainder(y-d.Predicted[i], y)
		square += residual[i] * residual[i] / float64(n)
	}
	low, high := extent(d.Truth, d.Predicted)
	low, high = widen(low, high, 0.04)
	title := fmt.Sprintf("Predictions of %s have the RMSE %s", count(n, "point", "points"), numberTo(math.Sqrt(square), 3))
	switch {
	case d.Quantile != 0:
		title = d.share()
	case finite(d.R2):
		title += fmt.Sprintf("; they explain %s %% of the variance", numberTo(100*d.R2, 3))
	}
	p, points, about := d.plot("predictions", "Predictions over true values.", title, residual, d.Truth, d.Predicted, low, high, low, high)
	p.panel(valueAxis(0, low, high, "true "+target, 28), valueAxis(0, low, high, "prediction of "+target, 42).lines())
	p.add(line(list{list{low, low}, list{high, high}}).name("no error").bare().still().z(3).ink("@ink", 1.4), points)
	p.key("points")
	p.key("no error")
	return p.chart(title, about), nil
}

// plot returns the figure without its axes, and its points at (x, y), in a picture between
// these ends.
func (d *ResidualsData) plot(name, about, title string, residual, x, y []float64, xLow, xHigh, yLow, yHigh float64) (plot, mark, string) {
	n := len(x)
	shown := choose(n, func(int) int { return 0 })
	roundX, roundY := rounding(xLow, xHigh), rounding(yLow, yHigh)
	size := pointSize(len(shown)) - 1
	data := items(shown, nil, func(_, i int) list {
		return list{roundX(x[i]), roundY(y[i]), i, round4(d.Truth[i]), round4(d.Predicted[i]), round4(residual[i])}
	})
	points := scatter(data).id("points").name("points").symbols("circle", size).z(4).fill("@neg").opacity(0.75).swells(1.4)
	p := plot{name: name, about: about, tip: residualsJS.cut("tip"), grid: list{object{}}, svm: object{"sizes": list{list{"points", size}}, "target": either(d.Target, "y")}}
	return p, points, sentence(d.Problem, fewer(shown, n, "the points"))
}

func (d *ResidualsData) check(figure string) error {
	c := checks{figure: figure}
	c.refuse(len(d.Truth) == 0, "Truth", "has no points: give the true values of some")
	c.numbers("point", len(d.Truth), given("Truth", d.Truth), given("Predicted", d.Predicted))
	return c.err
}
