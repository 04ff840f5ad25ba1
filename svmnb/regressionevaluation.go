package svmnb

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
	"github.com/svmnb/svmnb/svmnb/metrics"
)

// RegressionEvaluation has the true and the predicted values of n points, in units of the
// targets. [RegressionFit.Evaluate] makes it for a test set; figures make it for the training
// points of a fit. For predictions from elsewhere, such as those of a pipeline, fill in its
// fields yourself:
//
//	values, err := piped.Values(test)
//	(&svmnb.RegressionEvaluation{Of: "my pipeline", Truth: test.Y, Predicted: values}).Show()
type RegressionEvaluation struct {
	Of        string    // the fit and the points, for a subtitle
	Target    string    // name of the values; may be empty
	Truth     []float64 // n true values
	Predicted []float64 // n predictions
}

// Evaluate compares the predictions for ds with its targets. It returns the errors of
// Predict, and an error if ds is not valid or was not scaled as the training data were.
func (f *RegressionFit) Evaluate(ds *datasets.Dataset) (_ *RegressionEvaluation, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Evaluate")
	}
	if err := ds.Check(); err != nil {
		return nil, err
	}
	if err := errors.Join(steps.Suits("Evaluate", f.task.behind, f.task.data, ds), steps.SameTargets("Evaluate", f.task.data, ds)); err != nil {
		return nil, err
	}
	values, err := f.expansion.At("Evaluate", "regression", points.Of(ds))
	if err != nil {
		return nil, err
	}
	return &RegressionEvaluation{Of: f.task.words() + " · " + ds.Name, Target: ds.Target, Truth: ds.Y, Predicted: values}, nil
}

// valued is what the figures of predicted values can draw: a RegressionEvaluation, or a fit,
// of which they show the training points.
type valued interface {
	valuation() (*RegressionEvaluation, error)
}

func (e *RegressionEvaluation) valuation() (*RegressionEvaluation, error) { return e, nil }

func (f *RegressionFit) valuation() (*RegressionEvaluation, error) {
	t := f.task
	rows, values := f.glance()
	return &RegressionEvaluation{Of: t.words() + " · training points" + glanced(rows, t.data.N()), Target: t.data.Target, Truth: pick(t.data.Y, rows), Predicted: values}, nil
}

// Markdown returns the RMSE, the mean and the largest absolute error, in units of the
// targets, and R². Up to 2000 points it adds 95 % intervals by bootstrap (percentiles of 500
// samples, seed 0).
func (e *RegressionEvaluation) Markdown() string {
	if e == nil {
		return arguments.NoneOf("evaluation", "Evaluate")
	}
	s := say.NewSummary()
	s.Row("**evaluation**", "%s", e.Of)
	s.Row("points", "%d", len(e.Truth))
	row := func(name string, sure bool, of func(truth, predicted []float64) (float64, error)) {
		v, err := of(e.Truth, e.Predicted)
		if err != nil {
			return // the measure is not defined for these points
		}
		text := say.Signed(v, 4)
		if n := len(e.Truth); sure && n <= intervalPoints {
			i, err := metrics.Bootstrap{Replicates: 500, Percentile: true}.Of(context.Background(), n, func(rows []int) (float64, error) { return of(pick(e.Truth, rows), pick(e.Predicted, rows)) })
			if err == nil {
				text += fmt.Sprintf(" [%s, %s]", say.Signed(i.Low, 4), say.Signed(i.High, 4))
			}
		}
		s.Row(name, "%s", say.Markup(text))
	}
	row("**RMSE**", true, metrics.RMSE)
	row("mean absolute error", true, metrics.MAE)
	row("largest error", false, metrics.MaxError)
	row("R², share of the variance explained", true, metrics.R2)
	return s.String()
}

// Show displays the given figures of the evaluation. Without figures it displays the summary
// and the Predictions.
func (e *RegressionEvaluation) Show(figures ...display.Figure) {
	display.ShowFit(e, figures, Predictions)
}

var (
	// Residuals shows y − f over the prediction f, with the mean of groups of points, for a
	// [RegressionEvaluation] or for the training points of a [RegressionFit].
	Residuals = display.FigureOf("Residuals", func(of valued) (*display.Chart, error) { return drawValues(of, figure.Residuals) })

	// Predictions shows the predictions over the true values, for a [RegressionEvaluation] or
	// for the training points of a [RegressionFit].
	Predictions = display.FigureOf("Predictions", func(of valued) (*display.Chart, error) { return drawValues(of, figure.Predictions) })
)

func drawValues(of valued, draw func(figure.ResidualsData) (*figure.Chart, error)) (*display.Chart, error) {
	e, err := of.valuation()
	if err != nil {
		return nil, err
	}
	d := figure.ResidualsData{Problem: e.Of, Target: e.Target, Truth: e.Truth, Predicted: e.Predicted, R2: math.NaN()}
	if r2, err := metrics.R2(e.Truth, e.Predicted); err == nil {
		d.R2 = r2
	}
	return draw(d)
}
