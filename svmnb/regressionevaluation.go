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

	// Quantile is the τ of a quantile regression, in (0, 1): predictions that a share τ of the true
	// values should lie below. It is 0 for predictions of the values themselves.
	Quantile float64
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
	return &RegressionEvaluation{Of: f.task.words() + " · " + ds.Name, Target: ds.Target, Truth: ds.Y, Predicted: values, Quantile: f.task.quantile()}, nil
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
	return &RegressionEvaluation{Of: t.words() + " · training points" + glanced(rows, t.data.N()), Target: t.data.Target, Truth: pick(t.data.Y, rows), Predicted: values, Quantile: t.quantile()}, nil
}

// Markdown returns the RMSE, the mean and the largest absolute error, in units of the
// targets, and R². For a quantile it returns the mean pinball loss, in units of the targets, and the
// share of the true values below the predictions, in [0, 1]. Up to 2000 points it adds 95 % intervals by bootstrap (percentiles of 500
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
	if e.Quantile != 0 {
		row("**pinball loss**", true, func(truth, predicted []float64) (float64, error) {
			return metrics.Pinball(truth, predicted, e.Quantile)
		})
		row(fmt.Sprintf("share below the prediction, for %s", say.Number(e.Quantile)), true, below)
		return s.String()
	}
	row("**RMSE**", true, metrics.RMSE)
	row("mean absolute error", true, metrics.MAE)
	row("largest error", false, metrics.MaxError)
	row("R², share of the variance explained", true, metrics.R2)
	return s.String()
}

// below returns the share of the values that are less than their predictions.
func below(truth, predicted []float64) (float64, error) {
	n := 0
	for i, y := range truth {
		if y < predicted[i] {
			n++
		}
	}
	return float64(n) / float64(len(truth)), nil
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
	d := figure.ResidualsData{Problem: e.Of, Target: e.Target, Truth: e.Truth, Predicted: e.Predicted, R2: math.NaN(), Quantile: e.Quantile}
	if r2, err := metrics.R2(e.Truth, e.Predicted); err == nil {
		d.R2 = r2
	}
	return draw(d)
}
