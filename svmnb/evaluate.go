package svmnb

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
	"github.com/svmnb/svmnb/svmnb/metrics"
)

// Evaluation has the true and the predicted classes of n points. Evaluate makes it for a
// test set; figures make it for the training points of a fit. Package metrics has more
// measures.
type Evaluation struct {
	Of            string // the fit and the points, for a subtitle
	Classes       []string
	Truth         []int       // n indices into Classes
	Predicted     []int       // n indices into Classes
	Scores        []float64   // for two classes n decision values or probabilities, larger ones in favour of Classes[1]; otherwise nil
	Probabilities [][]float64 // n × k for a calibrated classifier; otherwise nil
}

// Evaluate compares the predictions for ds with its classes. It returns the errors of
// Values, and an error for a class that the training data did not have and for data that
// were not scaled as the training data were.
func (f *Fit) Evaluate(ds *datasets.Dataset) (_ *Evaluation, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Evaluate")
	}
	if err := steps.Suits("Evaluate", f.task.behind, f.task.data, ds); err != nil {
		return nil, err
	}
	return f.evaluate(ds)
}

// evaluate is Evaluate for points that the steps of a pipeline have already transformed.
func (f *Fit) evaluate(ds *datasets.Dataset) (*Evaluation, error) {
	e, err := newEvaluation("Evaluate", ds, f.task.words(), f.task.negative, f.task.positive)
	if err != nil {
		return nil, err
	}
	if e.Scores, err = f.expansion.Here("Evaluate", "classifier", points.Of(ds)); err != nil {
		return nil, err
	}
	for _, v := range e.Scores {
		e.Predicted = append(e.Predicted, f.side(v))
	}
	return e, nil
}

// Evaluate compares the predictions for ds with its classes. Errors are those of
// [Fit.Evaluate].
func (f *MultiFit) Evaluate(ds *datasets.Dataset) (_ *Evaluation, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Evaluate")
	}
	if err := steps.Suits("Evaluate", f.task.base.behind, f.task.base.data, ds); err != nil {
		return nil, err
	}
	return f.evaluate("Evaluate", ds)
}

func (f *MultiFit) evaluate(verb string, ds *datasets.Dataset) (*Evaluation, error) {
	e, err := newEvaluation(verb, ds, f.words(), f.task.classes...)
	if err != nil {
		return nil, err
	}
	values, err := f.here(verb, points.Of(ds))
	if err != nil {
		return nil, err
	}
	for _, v := range values {
		e.Predicted = append(e.Predicted, f.winner(v))
	}
	return e, nil
}

func newEvaluation(verb string, ds *datasets.Dataset, words string, classes ...string) (*Evaluation, error) {
	if err := ds.Check(); err != nil {
		return nil, err
	}
	return comparison(verb, ds, words, classes...)
}

// comparison is an Evaluation with the classes of ds, which has been checked.
func comparison(verb string, ds *datasets.Dataset, words string, classes ...string) (*Evaluation, error) {
	e := &Evaluation{Of: words + " · " + ds.Name, Classes: classes}
	for i, y := range ds.Y {
		k := slices.Index(classes, ds.ClassName(y))
		if k < 0 {
			return nil, unknownClass(verb, i, ds, classes)
		}
		e.Truth = append(e.Truth, k)
	}
	return e, nil
}

// oneClasses are the names of the two classes of a one-class machine.
var oneClasses = []string{"outside", "inside"}

// unknownClass is the error of point i, whose class the fit does not know.
func unknownClass(verb string, i int, ds *datasets.Dataset, classes []string) error {
	y := ds.Y[i]
	if slices.Equal(classes, oneClasses) {
		return arguments.At(verb, i, -1, y, "a one-class machine tells inside from outside, and class %q is neither; give the data set targets of −1 for outside and 1 for inside, with Classes: []string{\"outside\", \"inside\"}", ds.ClassName(y))
	}
	return arguments.At(verb, i, -1, y, "class %q was not in the training data, which has %s", ds.ClassName(y), say.Listed(classes))
}

// evaluated is what the figures of an evaluation can draw: an Evaluation, or a fit, of
// which they show the training points.
type evaluated interface{ evaluation() (*Evaluation, error) }

func (e *Evaluation) evaluation() (*Evaluation, error) { return e, nil }

func (f *Fit) evaluation() (*Evaluation, error) {
	t := f.task
	rows, values := f.glance()
	e := &Evaluation{Of: t.words() + " · training points" + glanced(rows, len(t.y)), Classes: []string{t.negative, t.positive}, Scores: values}
	for i, y := range pick(t.y, rows) {
		e.Truth, e.Predicted = append(e.Truth, machines.SideOf(y)), append(e.Predicted, f.side(values[i]))
	}
	return e, nil
}

func (f *MultiFit) evaluation() (*Evaluation, error) {
	rows, values := f.glance()
	e := &Evaluation{Of: f.words() + " · training points" + glanced(rows, len(f.task.class)), Classes: f.task.classes, Truth: pick(f.task.class, rows)}
	for _, v := range values {
		e.Predicted = append(e.Predicted, f.winner(v))
	}
	return e, nil
}

// Confusion counts the points of each true class by their predicted class.
func (e *Evaluation) Confusion() *metrics.Confusion {
	if e == nil {
		return &metrics.Confusion{}
	}
	c := &metrics.Confusion{Classes: e.Classes, Counts: make([][]int, len(e.Classes))}
	for k := range c.Counts {
		c.Counts[k] = make([]int, len(e.Classes))
	}
	for i, k := range e.Truth {
		c.Counts[k][e.Predicted[i]]++
	}
	return c
}

// ROC returns the ROC curve of two classes, with Classes[1] as the positive one. It returns
// a *metrics.Error if a class has no points, and an *ArgumentError if there are more than
// two classes.
func (e *Evaluation) ROC() (*metrics.ROC, error) {
	positive, err := e.scored("ROC")
	if err != nil {
		return nil, err
	}
	return metrics.NewROC(positive, e.Scores)
}

// PrecisionRecall returns the precision–recall curve of two classes, with Classes[1] as the
// positive one. It returns a *metrics.Error if that class has no points, and an
// *ArgumentError if there are more than two classes.
func (e *Evaluation) PrecisionRecall() (*metrics.PrecisionRecall, error) {
	positive, err := e.scored("PrecisionRecall")
	if err != nil {
		return nil, err
	}
	return metrics.NewPrecisionRecall(positive, e.Scores)
}

// scored returns which points are of the positive class. It returns an error unless there
// are two classes and scores. call names the user's call.
func (e *Evaluation) scored(call string) ([]bool, error) {
	switch {
	case e == nil:
		return nil, arguments.Wrong(call, math.NaN(), "%s", arguments.NoneOf("evaluation", "Evaluate"))
	case len(e.Classes) != 2:
		return nil, arguments.Wrong(call, math.NaN(), "there are %d classes; the curve compares two", len(e.Classes))
	case e.Scores == nil:
		return nil, arguments.Wrong(call, math.NaN(), "there are no scores; evaluate a fit of Classify, or a calibrated one")
	}
	positive := make([]bool, len(e.Truth))
	for i, k := range e.Truth {
		positive[i] = k == 1
	}
	return positive, nil
}

// at returns the evaluation of the points with these indices.
func (e *Evaluation) at(rows []int) *Evaluation {
	s := &Evaluation{Classes: e.Classes}
	for _, i := range rows {
		s.Truth, s.Predicted = append(s.Truth, e.Truth[i]), append(s.Predicted, e.Predicted[i])
		if e.Scores != nil {
			s.Scores = append(s.Scores, e.Scores[i])
		}
		if e.Probabilities != nil {
			s.Probabilities = append(s.Probabilities, e.Probabilities[i])
		}
	}
	return s
}

// intervalPoints is the largest number of points for which a summary computes bootstrap
// intervals, in about half a second.
const intervalPoints = 2000

// Markdown returns the accuracy, the area under the ROC curve, the average precision and the
// log loss. Up to 2000 points it adds 95 % intervals by bootstrap (percentiles of 500
// samples, seed 0).
func (e *Evaluation) Markdown() string {
	if e == nil {
		return arguments.NoneOf("evaluation", "Evaluate")
	}
	s := say.NewSummary()
	s.Row("**evaluation**", "%s", e.Of)
	s.Row("points, classes", "%d, %d", len(e.Truth), len(e.Classes))
	row := func(name string, sure bool, of func(e *Evaluation) (float64, error)) {
		v, err := of(e)
		if err != nil {
			return // the measure is not defined for these points
		}
		text := say.Signed(v, 4)
		if n := len(e.Truth); sure && n <= intervalPoints {
			i, err := metrics.Bootstrap{Replicates: 500, Percentile: true}.Of(context.Background(), n, func(rows []int) (float64, error) { return of(e.at(rows)) })
			if err == nil {
				text += fmt.Sprintf(" [%s, %s]", say.Signed(i.Low, 4), say.Signed(i.High, 4))
			}
		}
		s.Row(name, "%s", say.Markup(text))
	}
	confusion := func(of func(c *metrics.Confusion) float64) func(*Evaluation) (float64, error) {
		return func(e *Evaluation) (float64, error) { return of(e.Confusion()), nil }
	}
	row("**accuracy**", true, confusion((*metrics.Confusion).Accuracy))
	row("balanced accuracy", false, confusion((*metrics.Confusion).BalancedAccuracy))
	row("F1, mean of the classes", false, confusion(func(c *metrics.Confusion) float64 { return c.F1().Macro }))
	row("Matthews correlation", false, confusion((*metrics.Confusion).MCC))
	row("area under the ROC", true, func(e *Evaluation) (float64, error) {
		r, err := e.ROC()
		if err != nil {
			return 0, err
		}
		return r.AUC, nil
	})
	row("average precision", false, func(e *Evaluation) (float64, error) {
		r, err := e.PrecisionRecall()
		if err != nil {
			return 0, err
		}
		return r.AP, nil
	})
	if e.Probabilities != nil {
		row("log loss", true, func(e *Evaluation) (float64, error) { return metrics.LogLoss(e.Truth, e.Probabilities) })
		row("Brier score", false, func(e *Evaluation) (float64, error) { return metrics.Brier(e.Truth, e.Probabilities) })
	}
	return s.String()
}

// Show displays the given figures of the evaluation. Without figures it displays the
// summary and the Confusion.
func (e *Evaluation) Show(figures ...display.Figure) {
	display.ShowFit(e, figures, Confusion)
}

var (
	// Confusion shows how many points of each class were predicted as which class, for an
	// [Evaluation] or for the training points of a fit.
	Confusion = display.FigureOf("Confusion", drawConfusion)

	// ROC shows the receiver operating characteristic of two classes, for an [Evaluation]
	// or for the training points of a fit.
	ROC = display.FigureOf("ROC", drawROC)

	// PrecisionRecall shows precision over recall of two classes, for an [Evaluation] or for
	// the training points of a fit. It suits a rare positive class better than ROC, since it
	// ignores the negative points that were rightly left out.
	PrecisionRecall = display.FigureOf("PrecisionRecall", drawPrecisionRecall)

	// Gain shows the cumulative gain of two classes: which share of the positive points is
	// among the points with the largest scores, for an [Evaluation] or for the training points
	// of a fit.
	Gain = display.FigureOf("Gain", func(of evaluated) (*display.Chart, error) { return drawGain(of, figure.Gain) })

	// Lift shows how many times more frequent the positive class is among the points with the
	// largest scores than among all, for an [Evaluation] or for the training points of a fit.
	Lift = display.FigureOf("Lift", func(of evaluated) (*display.Chart, error) { return drawGain(of, figure.Lift) })

	// Reliability shows whether predicted probabilities agree with observed frequencies,
	// for an [Evaluation] with probabilities or for the held-out points of a [Calibrated]
	// fit. For two classes it shows the probability of the second one, for more that of the
	// predicted class.
	Reliability = display.FigureOf("Reliability", drawReliability)

	// Regions shows the class that a [MultiFit] predicts at each place of two features, the
	// boundaries, and where the predicted class wins by more than the margin.
	Regions = display.FigureOf("Regions", func(f regional) (*display.Chart, error) { return f.drawRegions() })
)

// regional is implemented by *MultiFit only. It is an interface so that a cell without
// several classes does not link MultiFit.
type regional interface {
	drawRegions() (*display.Chart, error)
}

func drawConfusion(of evaluated) (*display.Chart, error) {
	e, err := of.evaluation()
	if err != nil {
		return nil, err
	}
	return figure.Confusion(figure.ConfusionData{Problem: e.Of, Classes: e.Classes, Counts: e.Confusion().Counts})
}

func drawROC(of evaluated) (*display.Chart, error) {
	e, err := of.evaluation()
	if err != nil {
		return nil, err
	}
	r, err := e.ROC()
	if err != nil {
		return nil, err
	}
	return figure.ROC(figure.ROCData{Problem: e.Of, Positive: e.Classes[1], FPR: r.FPR, TPR: r.TPR, Threshold: r.Threshold, AUC: r.AUC})
}

func drawPrecisionRecall(of evaluated) (*display.Chart, error) {
	e, err := of.evaluation()
	if err != nil {
		return nil, err
	}
	r, err := e.PrecisionRecall()
	if err != nil {
		return nil, err
	}
	return figure.PrecisionRecall(figure.PrecisionRecallData{Problem: e.Of, Positive: e.Classes[1], Precision: r.Precision, Recall: r.Recall, Threshold: r.Threshold, AP: r.AP, Share: e.share()})
}

// share returns the share of the points that are of Classes[1].
func (e *Evaluation) share() float64 {
	sum := 0
	for _, k := range e.Truth {
		sum += k
	}
	return float64(sum) / float64(len(e.Truth))
}

// drawGain draws the points in the order of their scores, as the ROC curve has them.
func drawGain(of evaluated, draw func(figure.GainData) (*figure.Chart, error)) (*display.Chart, error) {
	e, err := of.evaluation()
	if err != nil {
		return nil, err
	}
	r, err := e.ROC()
	if err != nil {
		return nil, err
	}
	d := figure.GainData{Problem: e.Of, Positive: e.Classes[1], Share: e.share(), Found: r.TPR}
	for k, found := range r.TPR {
		d.Taken = append(d.Taken, d.Share*found+(1-d.Share)*r.FPR[k])
	}
	return draw(d)
}

func drawReliability(of evaluated) (*display.Chart, error) {
	e, err := of.evaluation()
	if err != nil {
		return nil, err
	}
	if e.Probabilities == nil {
		return nil, arguments.Wrong("Reliability", math.NaN(), "there are no probabilities; give the fit some by Calibrate")
	}
	d := figure.CalibrationData{Problem: e.Of, Event: "the predicted class", P: make([]float64, len(e.Truth)), Happens: make([]bool, len(e.Truth))}
	for i, p := range e.Probabilities {
		k := e.Predicted[i]
		if len(e.Classes) == 2 {
			k, d.Event = 1, say.Class(e.Classes[1])
		}
		d.P[i], d.Happens[i] = p[k], e.Truth[i] == k
	}
	return figure.Calibration(d)
}
