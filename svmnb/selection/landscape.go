package selection

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// Landscape draws the scores of a [SearchFit] and marks the chosen setting. With one
// parameter of several values it draws a curve. With more it draws a map over two of them,
// C first; each cell shows the best score over all the other parameters. Settings that are no
// grid, such as those of [Random], become dots.
var Landscape = display.FigureOf("Landscape", func(f landscaped) (*display.Chart, error) { return f.drawLandscape() })

// landscaped is implemented by *SearchFit only. It is an interface so that a cell without a
// search does not link SearchFit.
type landscaped interface {
	drawLandscape() (*display.Chart, error)
}

func (f *SearchFit) drawLandscape() (*display.Chart, error) {
	if f.chosen < 0 {
		return nil, errors.New("the figure Landscape: no point has all its folds yet; let the search go on")
	}
	var axes []int // indices of the parameters with several values, that of C first
	places := make([][]float64, len(f.Names))
	for i := range slices.Backward(f.Names) {
		for _, t := range f.Trials {
			places[i] = append(places[i], t.Values[i])
		}
		slices.Sort(places[i])
		if places[i] = slices.Compact(places[i]); len(places[i]) > 1 {
			axes = append(axes, i)
		}
	}
	chosen := f.Trials[f.chosen]
	problem := say.Words(f.Description.learner.String())
	percent := strings.HasSuffix(f.Metric.Name, "accuracy")
	if len(axes) == 0 {
		axes = []int{len(f.Names) - 1}
	}
	x := axes[0]
	if len(axes) == 1 {
		d := figure.CurveData{Problem: problem, Metric: f.Metric.Name, Name: f.Names[x], Xs: places[x], Percent: percent, Chosen: slices.Index(places[x], chosen.Values[x])}
		for _, v := range d.Xs {
			for _, t := range f.Trials {
				if t.Values[x] == v {
					d.Mean, d.SE = append(d.Mean, t.Mean()), append(d.SE, t.StandardError())
					break
				}
			}
		}
		d.Log = logarithmic(d.Xs)
		return figure.Curve(d)
	}
	y := axes[1]
	if 2*len(f.Trials) < len(places[x])*len(places[y]) {
		return f.drawSettings(x, y, axes, places)
	}
	d := figure.SearchData{Problem: problem, Metric: f.Metric.Name, Names: [2]string{f.Names[x], f.Names[y]}, Xs: places[x], Ys: places[y], Lower: f.Metric.Lower, Percent: percent,
		Chosen: [2]int{slices.Index(places[x], chosen.Values[x]), slices.Index(places[y], chosen.Values[y])}, ChosenValues: f.at(chosen)}
	if len(axes) > 2 {
		d.Reduced = fmt.Sprintf("each cell the best over %s", say.Several(len(axes)-2, "further parameter"))
	}
	for range d.Ys {
		d.Z, d.SE = append(d.Z, slices.Repeat([]float64{math.NaN()}, len(d.Xs))), append(d.SE, slices.Repeat([]float64{math.NaN()}, len(d.Xs)))
	}
	for _, t := range f.Trials {
		i, j := slices.Index(d.Ys, t.Values[y]), slices.Index(d.Xs, t.Values[x])
		if m := t.Mean(); f.Metric.better(m, d.Z[i][j]) {
			d.Z[i][j], d.SE[i][j] = m, t.StandardError()
		}
	}
	return figure.Search(d)
}

// drawSettings draws the scores of settings that are no grid over the parameters x and y.
func (f *SearchFit) drawSettings(x, y int, axes []int, places [][]float64) (*display.Chart, error) {
	d := figure.SettingsData{Problem: say.Words(f.Description.learner.String()), Metric: f.Metric.Name, Names: [2]string{f.Names[x], f.Names[y]}, Lower: f.Metric.Lower,
		Percent: strings.HasSuffix(f.Metric.Name, "accuracy"), Log: [2]bool{logarithmic(places[x]), logarithmic(places[y])}, Chosen: f.chosen, ChosenValues: f.at(f.Trials[f.chosen])}
	if len(axes) > 2 {
		d.Reduced = fmt.Sprintf("%s not shown", say.Several(len(axes)-2, "further parameter"))
	}
	for _, t := range f.Trials {
		d.X, d.Y, d.Z, d.SE = append(d.X, t.Values[x]), append(d.Y, t.Values[y]), append(d.Z, t.Mean()), append(d.SE, t.StandardError())
	}
	return figure.Settings(d)
}

// logarithmic reports whether the axis of the increasing values x should be logarithmic.
func logarithmic(x []float64) bool {
	return x[0] > 0 && x[len(x)-1] >= 30*x[0]
}
