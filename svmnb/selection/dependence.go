package selection

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/cells"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/sheet"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
	"github.com/svmnb/svmnb/svmnb/model"
)

// Dependence says how the values of a model depend on one feature.
type Dependence struct {
	Model   *model.Model
	Data    *datasets.Dataset
	Feature string
	Measure string      // what the values are: "f", or the probability of a class
	At      []float64   // g values of the feature, increasing
	Rows    []int       // the m points of the data that were used
	Each    [][]float64 // m × g: the value for each point with the feature set to At[k]
}

// A dependence is computed at most for mostRows points and mostPlaces values of the feature.
const mostRows, mostPlaces = 500, 40

// PartialDependence sets a feature of every point of data to one value after the other and
// computes the model each time. The curve of one point is an individual conditional expectation
// (ICE; Goldstein, Kapelner, Bleich and Pitkin 2015), and their mean is the partial dependence
// (Friedman 2001, section 8.2). Curves that are not parallel show that the feature interacts with
// others. The values are probabilities of the second class if the model of two classes has them,
// and otherwise f.
//
// The feature takes the values that it has in data, or 40 evenly spaced ones if there are more.
// Of more than 500 points a random sample is used. feature is a name of data.Features, "x1" for
// the first without names, or a column of numbers of a table.
//
// Points with a replaced feature may be impossible ones, where features depend on each other. When
// ctx ends early, the error wraps context.Cause(ctx).
func PartialDependence(ctx context.Context, fit model.Modeler, data *datasets.Dataset, feature string) (_ *Dependence, err error) {
	return dependence(ctx, fit, data, feature, nil)
}

// MustPartialDependence is [PartialDependence] for a notebook cell; see [MustImportances].
func MustPartialDependence(fit model.Modeler, data *datasets.Dataset, feature string) *Dependence {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	d, err := dependence(ctx, fit, data, feature, cells.Progress(time.Second))
	if err != nil {
		cells.Must(err)
	}
	return d
}

func dependence(ctx context.Context, fit model.Modeler, data *datasets.Dataset, feature string, show func(line string, last bool)) (_ *Dependence, err error) {
	defer guard.Caught(&err)
	const call = "PartialDependence"
	if err := arguments.Given(ctx, call); err != nil {
		return nil, err
	}
	m := model.Of(fit)
	if m == nil {
		return nil, arguments.NoFit(call)
	}
	if err := steps.CheckMissing(data); err != nil {
		return nil, err
	}
	if data.Sparse != nil {
		return nil, arguments.Wrong(call, math.NaN(), "the points are sparse; give dense ones or a table")
	}
	j := slices.Index(features(data), feature)
	if j < 0 {
		return nil, arguments.Wrong(call, math.NaN(), "the data have no feature %q; they have %s", feature, say.Listed(features(data)))
	}
	d := &Dependence{Model: m, Data: data, Feature: feature, Measure: "f"}
	rows := rand.New(rand.NewPCG(1, 2)).Perm(data.N())
	d.Rows = rows[:min(len(rows), mostRows)]
	slices.Sort(d.Rows)
	if d.At, err = places(data, j); err != nil {
		return nil, err
	}
	part := data.Select(d.Rows)
	value := m.Values
	if classes := m.Classes(); len(classes) == 2 && m.HasProbabilities() {
		d.Measure = "the probability of " + say.Class(classes[1])
		value = func(x datasets.Points) ([]float64, error) {
			p, err := m.Probabilities(x)
			f := make([]float64, len(p))
			for i := range p {
				f[i] = p[i][1]
			}
			return f, err
		}
	}
	d.Each = make([][]float64, part.N())
	for k, v := range d.At {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("svmnb: %s: %w", call, context.Cause(ctx))
		}
		if show != nil {
			show(fmt.Sprintf("%s: value %d of %d", say.Escaped(feature), k+1, len(d.At)), k == len(d.At)-1)
		}
		f, err := value(setTo(part, j, v))
		if err != nil {
			return nil, err
		}
		for i := range d.Each {
			d.Each[i] = append(d.Each[i], f[i])
		}
	}
	return d, nil
}

// places returns the values that feature j is set to.
func places(data *datasets.Dataset, j int) ([]float64, error) {
	var all []float64
	if data.Table != nil {
		c := data.Table.Columns[j]
		if c.Kind != datasets.Number {
			return nil, arguments.Wrong("PartialDependence", math.NaN(), "column %q has the kind %v; the feature must have numbers", c.Name, c.Kind)
		}
		for _, v := range c.Values {
			if !math.IsNaN(v) {
				all = append(all, v)
			}
		}
	} else {
		for _, row := range data.X {
			all = append(all, row[j])
		}
	}
	slices.Sort(all)
	if all = slices.Compact(all); len(all) <= mostPlaces {
		if len(all) == 0 {
			return nil, arguments.Wrong("PartialDependence", math.NaN(), "the feature %q has no values", features(data)[j])
		}
		return all, nil
	}
	low, high := all[0], all[len(all)-1]
	at := make([]float64, mostPlaces)
	for k := range at {
		share := float64(k) / (mostPlaces - 1)
		at[k] = low*(1-share) + high*share
	}
	return at, nil
}

// setTo returns the points of data with feature j set to v.
func setTo(data *datasets.Dataset, j int, v float64) datasets.Points {
	if data.Table != nil {
		c := data.Table.Columns[j]
		c.Values = slices.Repeat([]float64{v}, data.N())
		return data.Table.With(c)
	}
	x := make(datasets.Rows, len(data.X))
	for i, row := range data.X {
		x[i] = slices.Clone(row)
		x[i][j] = v
	}
	return x
}

func (d *Dependence) none() bool { return d == nil || d.Model == nil || len(d.Each) == 0 }

// Means returns the partial dependence: the mean over the points, g values.
func (d *Dependence) Means() []float64 {
	if d.none() {
		return nil
	}
	means := make([]float64, len(d.At))
	for _, row := range d.Each {
		for k, v := range row {
			means[k] += v / float64(len(d.Each))
		}
	}
	return means
}

// Chart draws the mean as a thick line and single points as thin ones. Marks along the axis are
// the values of the feature in the data. You can change the chart and then show it by
// [display.Show].
func (d *Dependence) Chart() (_ *display.Chart, err error) {
	defer guard.Caught(&err)
	if d.none() {
		return nil, arguments.NoFit("Chart")
	}
	data := figure.DependenceData{Problem: fmt.Sprintf("%v · %s", d.Model.Kernel(), d.Data.Name), Feature: d.Feature, Measure: d.Measure, At: d.At, Each: d.Each, Mean: d.Means()}
	j := slices.Index(features(d.Data), d.Feature)
	for _, i := range d.Rows[:min(len(d.Rows), 200)] {
		var v float64
		if d.Data.Table != nil {
			v = d.Data.Table.Columns[j].Values[i]
		} else {
			v = d.Data.X[i][j]
		}
		if !math.IsNaN(v) {
			data.Seen = append(data.Seen, v)
		}
	}
	chart, err := figure.Dependence(data)
	if err != nil {
		return nil, fmt.Errorf("svmnb: %w", err)
	}
	return chart, nil
}

// Show displays the chart in the cell's output.
func (d *Dependence) Show() { showChart(d.Chart()) }

// Table lists the values of the feature with the mean, the smallest and the largest value of the
// model; see [display.Table].
func (d *Dependence) Table() *display.Sheet {
	return display.NewSheet(func(t *sheet.Table) error {
		if d.none() {
			return arguments.NoFit("Table")
		}
		t.Name = d.Model.String()
		t.Numbers(d.Feature, d.At)
		t.Numbers("mean of "+d.Measure, d.Means())
		low, high := slices.Clone(d.Each[0]), slices.Clone(d.Each[0])
		for _, row := range d.Each {
			for k, v := range row {
				low[k], high[k] = min(low[k], v), max(high[k], v)
			}
		}
		t.Numbers("smallest", low)
		t.Numbers("largest", high)
		return nil
	})
}
