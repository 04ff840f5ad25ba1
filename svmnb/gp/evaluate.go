package gp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
	"github.com/svmnb/svmnb/svmnb/metrics"
)

// Evaluation has the targets of n points and what a process predicts for them. [Fit.Evaluate]
// makes it for a test set. Package metrics has more measures of Truth, Predicted and SD.
type Evaluation struct {
	Of        string    // the fit and the points, for a subtitle
	Target    string    // name of the targets; may be empty
	Truth     []float64 // n targets
	Predicted []float64 // n posterior means, in units of the targets

	// SD has the n standard deviations of new targets, noise included. It is nil if the
	// noise differs from point to point, since it is not known at other points then.
	SD []float64

	fit  *Fit
	test *datasets.Dataset
}

// Evaluate predicts for the points in ds and keeps the predictions with the targets. It
// costs what [Fit.Posterior] costs, and returns its errors, and an error if ds is not valid
// or was not scaled as the training data were.
func (f *Fit) Evaluate(ds *datasets.Dataset) (_ *Evaluation, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Evaluate")
	}
	e, err := f.task.against(ds, f.words(), f.points, f.posterior)
	if err != nil {
		return nil, err
	}
	e.fit = f
	return e, nil
}

// Evaluate predicts for the points in ds, as [Fit.Evaluate] does. It costs what Posterior costs.
func (f *SparseFit) Evaluate(ds *datasets.Dataset) (_ *Evaluation, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Evaluate")
	}
	return f.task.against(ds, f.words(), f.basis, f.posterior)
}

// Evaluate predicts for the points in ds, as [Fit.Evaluate] does. It costs what Posterior costs.
func (f *NeighbourFit) Evaluate(ds *datasets.Dataset) (_ *Evaluation, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Evaluate")
	}
	return f.task.against(ds, f.words(), f.basis, f.posterior)
}

// against makes the evaluation of a fit to test points.
func (t *processTask) against(ds *datasets.Dataset, words string, of *kernels.Basis, posterior func(ctx context.Context, x [][]float64) (*Belief, error)) (*Evaluation, error) {
	if err := t.suits("Evaluate", ds); err != nil {
		return nil, err
	}
	x, err := points.Dense("Evaluate", ds)
	if err == nil {
		err = t.check("Evaluate", x)
	}
	if err != nil {
		return nil, err
	}
	if err := of.Check(x); err != nil {
		return nil, fmt.Errorf("svmnb: Evaluate: %w", err)
	}
	b, err := posterior(context.Background(), x)
	if err != nil {
		return nil, err
	}
	e := &Evaluation{Of: words + " · " + ds.Name, Target: ds.Target, Truth: ds.Y, Predicted: b.Mean, test: ds}
	if !math.IsNaN(b.Noise) {
		e.SD = deviations(b.Variance, b.Noise)
	}
	return e, nil
}

// suits returns an error unless ds is a data set with targets in the units of the training
// data.
func (t *processTask) suits(call string, ds *datasets.Dataset) error {
	if err := ds.Check(); err != nil {
		return err
	}
	return errors.Join(steps.Suits(call, t.behind, t.data, ds), steps.SameTargets(call, t.data, ds))
}

// RMSE returns the root mean squared error of the means, in units of the targets; see
// [metrics.RMSE].
func (e *Evaluation) RMSE() (float64, error) {
	if e == nil {
		return 0, noEvaluation("RMSE")
	}
	return metrics.RMSE(e.Truth, e.Predicted)
}

// R2 returns the share of the variance of the targets that the means explain. It is at most
// 1, and negative if the mean of the targets would predict better. See [metrics.R2], which
// returns an error if all targets are equal.
func (e *Evaluation) R2() (float64, error) {
	if e == nil {
		return 0, noEvaluation("R2")
	}
	return metrics.R2(e.Truth, e.Predicted)
}

// NLPD returns the mean of −ln p(y), the negative log predictive density of the targets, in
// nats; smaller is better. See [metrics.NLPD]. It returns an *ArgumentError if there is no
// SD.
func (e *Evaluation) NLPD() (float64, error) {
	if err := e.known("NLPD"); err != nil {
		return 0, err
	}
	return metrics.NLPD(e.Truth, e.Predicted, e.SD)
}

// Coverage returns the share of the targets that are inside their intervals, the intervals
// of [Belief.Interval] for the given share. It should be near that share. It returns an
// *ArgumentError for a share that is not between 0 and 1, and if there is no SD.
func (e *Evaluation) Coverage(share float64) (float64, error) {
	if err := e.known("Coverage"); err != nil {
		return 0, err
	}
	if !(share > 0 && share < 1) {
		return 0, arguments.Wrong("Coverage", share, "the share is %v; it must be between 0 and 1, such as 0.95", share)
	}
	b := Belief{Mean: e.Predicted}
	for _, sd := range e.SD {
		b.Variance = append(b.Variance, sd*sd)
	}
	low, high := b.Interval(share)
	return metrics.Coverage(e.Truth, low, high)
}

// known returns an error if there are no standard deviations.
func (e *Evaluation) known(call string) error {
	switch {
	case e == nil:
		return noEvaluation(call)
	case e.SD == nil:
		return arguments.Wrong(call, math.NaN(), "the noise differs from point to point, so that of a new target is not known; fit with NoiseVariance, or give package metrics standard deviations of your own")
	}
	return nil
}

func noEvaluation(call string) error {
	return arguments.Wrong(call, math.NaN(), "%s", arguments.NoneOf("evaluation", "Evaluate"))
}

// at returns the evaluation of the points with these indices.
func (e *Evaluation) at(rows []int) *Evaluation {
	s := &Evaluation{}
	for _, i := range rows {
		s.Truth, s.Predicted = append(s.Truth, e.Truth[i]), append(s.Predicted, e.Predicted[i])
		if len(e.SD) == len(e.Truth) {
			s.SD = append(s.SD, e.SD[i])
		}
	}
	return s
}

const (
	intervalPoints = 2000 // as of svmnb.Evaluation
	usualShare     = 0.95 // share of the interval whose coverage a summary has
)

// Markdown returns the RMSE, R², the NLPD and the coverage of the 95 % interval. Up to 2000
// points it adds 95 % intervals by bootstrap (percentiles of 500 samples, seed 0).
func (e *Evaluation) Markdown() string {
	if e == nil {
		return arguments.NoneOf("evaluation", "Evaluate")
	}
	s := say.NewSummary()
	s.Row("**evaluation**", "%s", e.Of)
	s.Row("points", "%d", len(e.Truth))
	row := func(name string, text func(v float64) string, of func(e *Evaluation) (float64, error)) {
		v, err := of(e)
		if err != nil {
			return // the measure is not defined for these points
		}
		shown := text(v)
		if n := len(e.Truth); n <= intervalPoints {
			i, err := metrics.Bootstrap{Replicates: 500, Percentile: true}.Of(context.Background(), n, func(rows []int) (float64, error) { return of(e.at(rows)) })
			if err == nil {
				shown += fmt.Sprintf(" [%s, %s]", text(i.Low), text(i.High))
			}
		}
		s.Row(name, "%s", say.Markup(shown))
	}
	number := func(v float64) string { return say.Signed(v, 4) }
	row("**RMSE**", number, (*Evaluation).RMSE)
	row("R², share of the variance explained", number, (*Evaluation).R2)
	row("**mean −ln p(y)**", number, (*Evaluation).NLPD)
	row("targets in their "+say.Percent(usualShare)+" interval", say.Percent, func(e *Evaluation) (float64, error) { return e.Coverage(usualShare) })
	return s.String()
}

// Show displays the given figures of the evaluation. Without figures it displays the summary
// and, if there is one feature, the [Posterior] with the test points, otherwise the
// predictions over the targets.
func (e *Evaluation) Show(figures ...display.Figure) {
	usual := Posterior
	if e != nil && (e.fit == nil || e.fit.task.data.D() != 1) {
		usual = display.FigureOf("Predictions", (*Evaluation).drawPredictions)
	}
	display.ShowFit(e, figures, usual)
}

func (e *Evaluation) drawPredictions() (*display.Chart, error) {
	d := figure.ResidualsData{Problem: e.Of, Target: e.Target, Truth: e.Truth, Predicted: e.Predicted, R2: math.NaN()}
	if r2, err := e.R2(); err == nil {
		d.R2 = r2
	}
	return figure.Predictions(d)
}

func (e *Evaluation) drawPosterior(v view) (*display.Chart, error) {
	switch {
	case e == nil || e.test == nil:
		return nil, noEvaluation("Posterior")
	case e.fit == nil:
		return nil, arguments.Wrong("Posterior", math.NaN(), "the evaluation of an approximate process has no such figure; say Show(gp.Posterior) of the fit")
	}
	v.tests = append(slices.Clip(v.tests), e.test)
	return e.fit.drawPosterior(v)
}
