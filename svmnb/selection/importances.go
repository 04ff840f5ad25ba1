package selection

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/cells"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/sheet"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
	"github.com/svmnb/svmnb/svmnb/model"
)

// Importance says how much a model needs each feature of its points: by how much the score
// gets worse when the values of the feature are shuffled among the points.
type Importance struct {
	Model    *model.Model
	Data     *datasets.Dataset
	Metric   Metric
	Score    float64     // of the points as they are
	Features []string    // the features, or the columns of a table, that were shuffled so far
	Losses   [][]float64 // Losses[j][k] is by how much the score got worse with shuffle k of feature j; negative where it got better
}

// shuffles is the number of times that each feature is shuffled.
const shuffles = 5

// Importances measures how much a fit, a pipeline or a loaded model needs each feature of
// data, which should be points that it was not trained on. It shuffles the values of one
// feature at a time, five times each and always in the same way, and scores the predictions:
// by accuracy for classes and by RMSE for real values, or by the metric that is given
// (Breiman 2001, section 10; Fisher, Rudin and Dominici 2019). Of a table it shuffles whole
// columns, before any step of a pipeline.
//
// Features that say the same share their importance: with one of them shuffled, the model
// still has the other. Importances says nothing of causes.
//
// When ctx ends early, Importances returns the features so far with an error that wraps
// context.Cause(ctx). A metric that needs more than the model predicts, such as NLPD, is an
// error.
func Importances(ctx context.Context, fit model.Modeler, data *datasets.Dataset, by ...Metric) (_ *Importance, err error) {
	return importances(ctx, fit, data, nil, by)
}

// MustImportances is [Importances] for a notebook cell. A line shows the progress. The
// interrupt button ends it: it then shows a warning and returns the features so far. An error
// is printed and ends the cell; outside a notebook it panics.
func MustImportances(fit model.Modeler, data *datasets.Dataset, by ...Metric) *Importance {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	i, err := importances(ctx, fit, data, cells.Progress(time.Second), by)
	switch {
	case err != nil && (i == nil || ctx.Err() == nil):
		cells.Must(err)
	case err != nil:
		cells.Warn("interrupted; these are the features so far")
	}
	return i
}

func importances(ctx context.Context, fit model.Modeler, data *datasets.Dataset, show func(line string, last bool), by []Metric) (_ *Importance, err error) {
	defer guard.Caught(&err)
	const call = "Importances"
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
	i := &Importance{Model: m, Data: data, Metric: RMSE}
	switch {
	case len(by) > 1:
		return nil, arguments.Wrong(call, float64(len(by)), "there are %d metrics; give one", len(by))
	case len(by) == 1 && by[0].Of == nil:
		return nil, arguments.Wrong(call, math.NaN(), "the metric has no function; give one such as selection.Accuracy")
	case len(by) == 1:
		i.Metric = by[0]
	case m.Classes() != nil:
		i.Metric = Accuracy
	}
	if i.Score, err = i.score(data, data); err != nil {
		return nil, err
	}
	names := features(data)
	for j, name := range names {
		if show != nil {
			show(fmt.Sprintf("importances: feature %d of %d, %s", j+1, len(names), say.Escaped(name)), j == len(names)-1)
		}
		losses := make([]float64, shuffles)
		for k := range losses {
			if ctx.Err() != nil {
				return i, fmt.Errorf("svmnb: %s: %w", call, context.Cause(ctx))
			}
			order := rand.New(rand.NewPCG(uint64(j), uint64(k))).Perm(data.N())
			score, err := i.score(shuffled(data, j, order), data)
			if err != nil {
				return i, fmt.Errorf("svmnb: %s: feature %s: %w", call, name, err)
			}
			losses[k] = score - i.Score
			if !i.Metric.Lower {
				losses[k] = i.Score - score
			}
		}
		i.Features, i.Losses = append(i.Features, name), append(i.Losses, losses)
	}
	return i, nil
}

// score returns the score of the predictions for points x, by the targets of data.
func (i *Importance) score(x datasets.Points, data *datasets.Dataset) (score float64, err error) {
	h := &HeldOut{}
	classes := i.Model.Classes()
	if classes == nil {
		h.Truth = data.Y
		if h.Predicted, err = i.Model.Values(x); err != nil {
			return 0, err
		}
		return i.Metric.Of(h)
	}
	h.Classes = &svmnb.Evaluation{Of: data.Name, Classes: classes}
	for row, y := range data.Y {
		k := slices.Index(classes, data.ClassName(y))
		if k < 0 {
			return 0, arguments.Wrong("Importances", y, "row %d has the class %q, which the model does not know; its classes are %q", row, data.ClassName(y), classes)
		}
		h.Classes.Truth = append(h.Classes.Truth, k)
	}
	predicted, err := i.Model.Predict(x)
	if err != nil {
		return 0, err
	}
	for _, name := range predicted {
		h.Classes.Predicted = append(h.Classes.Predicted, slices.Index(classes, name))
	}
	switch {
	case i.Model.HasProbabilities():
		if h.Classes.Probabilities, err = i.Model.Probabilities(x); err != nil {
			return 0, err
		}
		if len(classes) == 2 {
			for _, p := range h.Classes.Probabilities {
				h.Classes.Scores = append(h.Classes.Scores, p[1])
			}
		}
	case len(classes) == 2:
		if h.Classes.Scores, err = i.Model.Values(x); err != nil {
			return 0, err
		}
	}
	return i.Metric.Of(h)
}

// features returns the names of what is shuffled: the columns of a table, or the features.
func features(data *datasets.Dataset) []string {
	if data.Table != nil {
		return data.Table.Names()
	}
	names := make([]string, data.D())
	for j := range names {
		names[j] = data.FeatureName(j)
	}
	return names
}

// shuffled returns the points of data, but point i gets its feature j from point order[i].
func shuffled(data *datasets.Dataset, j int, order []int) datasets.Points {
	switch {
	case data.Table != nil:
		name := data.Table.Columns[j].Name
		return data.Table.With(data.Table.Only(name).Select(order).Columns[0])
	case data.Sparse != nil:
		return shuffledSparse(*data.Sparse, int32(j), order)
	}
	x := make(datasets.Rows, len(data.X))
	for i, row := range data.X {
		x[i] = slices.Clone(row)
		x[i][j] = data.X[order[i]][j]
	}
	return x
}

func shuffledSparse(x datasets.CSR, j int32, order []int) datasets.CSR {
	c := datasets.CSR{Start: make([]int, 1, len(x.Start)), Index: make([]int32, 0, len(x.Index)), Value: make([]float64, 0, len(x.Value)), D: x.D}
	put := func(from, to int) {
		c.Index, c.Value = append(c.Index, x.Index[from:to]...), append(c.Value, x.Value[from:to]...)
	}
	at := func(i int) (p int, found bool) {
		p, found = slices.BinarySearch(x.Index[x.Start[i]:x.Start[i+1]], j)
		return x.Start[i] + p, found
	}
	for i, other := range order {
		p, own := at(i)
		put(x.Start[i], p)
		if q, found := at(other); found {
			put(q, q+1)
		}
		if own {
			p++
		}
		put(p, x.Start[i+1])
		c.Start = append(c.Start, len(c.Index))
	}
	return c
}

func (i *Importance) none() bool { return i == nil || i.Model == nil }

// Means returns the mean loss of each feature over its shuffles.
func (i *Importance) Means() []float64 {
	if i.none() {
		return nil
	}
	means := make([]float64, len(i.Losses))
	for j, losses := range i.Losses {
		means[j], _ = meanError(losses)
	}
	return means
}

// deviations returns the standard deviation of the losses of each feature.
func (i *Importance) deviations() []float64 {
	sd := make([]float64, len(i.Losses))
	for j, losses := range i.Losses {
		_, se := meanError(losses)
		sd[j] = se * math.Sqrt(float64(len(losses)))
	}
	return sd
}

func (i *Importance) measure() string {
	if i.Metric.Lower {
		return "increase of the " + i.Metric.Name
	}
	return "loss of " + i.Metric.Name
}

// Chart draws a bar for each feature, the largest mean loss first. Bars within one standard
// deviation of 0 are grey: the shuffles do not tell whether the model needs the feature. You can
// change the chart and then show it by [display.Show].
func (i *Importance) Chart() (_ *display.Chart, err error) {
	defer guard.Caught(&err)
	if i.none() {
		return nil, arguments.NoFit("Chart")
	}
	d := figure.WeightsData{Problem: fmt.Sprintf("%v · %s", i.Model.Kernel(), i.Data.Name), Features: i.Features, Values: i.Means(), SD: i.deviations(), Measure: i.measure(),
		Note: fmt.Sprintf("bars: %s when the values of a feature are shuffled; lines: ± 1 sd of %d shuffles", i.measure(), shuffles), Finding: i.finding()}
	if i.Metric.inPercent() {
		d.Unit = "percentage points"
		for j := range d.Values {
			d.Values[j], d.SD[j] = 100*d.Values[j], 100*d.SD[j]
		}
	}
	if slices.ContainsFunc(d.Values, func(v float64) bool { return v < 0 }) {
		d.Sides = [2]string{"better when shuffled", "worse when shuffled"}
	}
	chart, err := figure.Weights(d)
	if err != nil {
		return nil, fmt.Errorf("svmnb: %w", err)
	}
	return chart, nil
}

// finding says which feature the model needs most, and what the score is without it.
func (i *Importance) finding() string {
	means := i.Means()
	if len(means) == 0 || !(slices.Max(means) > 0) {
		return "No feature makes the predictions worse when it is shuffled"
	}
	most := slices.Index(means, slices.Max(means))
	changed, score := "lowers", i.Score-means[most]
	if i.Metric.Lower {
		changed, score = "raises", i.Score+means[most]
	}
	return fmt.Sprintf("Shuffling %s %s the %s most, from %s to %s", i.Features[most], changed, i.Metric.Name, i.Metric.text(i.Score), i.Metric.text(score))
}

// Show displays the chart in the cell's output.
func (i *Importance) Show() { showChart(i.Chart()) }

// Table lists the features, the largest mean loss first; see [display.Table].
func (i *Importance) Table() *display.Sheet {
	return display.NewSheet(func(t *sheet.Table) error {
		if i.none() {
			return arguments.NoFit("Table")
		}
		t.Name = i.Model.String()
		means, sd := i.Means(), i.deviations()
		order := make([]int, len(means))
		for j := range order {
			order[j] = j
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(means[b], means[a]) })
		names := make([]string, len(order))
		for place, j := range order {
			names[place] = i.Features[j]
		}
		t.Texts("feature", names)
		t.Numbers(i.measure(), learn.Chosen(means, order))
		t.Numbers("standard deviation", learn.Chosen(sd, order))
		return nil
	})
}

// showChart displays a chart, or the error that it could not be drawn.
func showChart(chart *display.Chart, err error) {
	if err != nil {
		display.Show(err)
		return
	}
	display.Show(chart)
}
