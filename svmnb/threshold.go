package svmnb

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"os/signal"
	"slices"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/cells"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/model"
)

// Thresholded is a fit of two classes that predicts by a threshold of its own: a point is of
// the positive class, Classes[1] of its evaluations, if its decision value, or for a
// calibrated fit its probability of that class, is at least Value. A fit without a choice has
// the thresholds 0 and ½.
type Thresholded struct {
	Goal  Goal
	Value float64

	classes []string
	scale   string  // what the threshold is compared with
	usual   float64 // the threshold without a choice
	fit     learn.Scored
	heldOut *Evaluation
	counts  []taken
	chosen  int // index into counts
}

// Threshold chooses the threshold for a goal, such as ForCost(1, 20) or ForRecall(0.9):
//
//	careful, err := fit.Threshold(ctx, svmnb.ForCost(1, 20))
//
// It never uses the decision value of a point for a machine that has learnt from this point:
// it trains the classifier again without each fold of the data in turn, with the same kernel,
// and chooses by the decision values of the held-out points of all folds together. The folds
// are stratified, so every class needs at least two points. The decision values of a fit of
// all data may be larger than those of the folds; for rare classes, more folds (Goal.Folds)
// bring them nearer.
//
// Threshold returns an *ArgumentError if no threshold reaches the goal. When ctx ends early,
// it returns the threshold by the folds so far, or nil if these are not enough, with an error
// that wraps context.Cause(ctx).
func (f *Fit) Threshold(ctx context.Context, goal Goal) (_ *Thresholded, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Threshold")
	}
	if f.task.behind != nil {
		return nil, insidePipeline()
	}
	return ThresholdOf(ctx, goal, classifying{f.Description}, classified{f})
}

func insidePipeline() error {
	return arguments.Wrong("Threshold", math.NaN(), "this fit is the inside of a pipeline, whose steps have seen all points; say Threshold of the pipeline's fit, which holds points out of the steps too")
}

// Threshold chooses the threshold of the probability of the second class for a goal; see
// [Fit.Threshold]. The folds are those of the calibration, and the curve of probabilities for
// a fold is fitted again without it. The folds of a calibrated pipeline share its steps; a
// pipeline that ends in selection.Calibrate holds points out of the steps too. Threshold
// returns an *ArgumentError if there are more than two classes.
func (c *Calibrated) Threshold(ctx context.Context, goal Goal) (_ *Thresholded, err error) {
	defer guard.Caught(&err)
	if err := arguments.Given(ctx, "Threshold"); err != nil {
		return nil, err
	}
	switch {
	case c.none():
		return nil, arguments.NoFit("Threshold")
	case len(c.classes) != 2:
		return nil, arguments.Wrong("Threshold", math.NaN(), "there are %d classes; a threshold is between two", len(c.classes))
	case c.behind != nil:
		return nil, insidePipeline()
	case goal.folds != 0:
		return nil, arguments.Wrong("Threshold", float64(goal.folds), "the folds are those of Calibrate; leave Folds of the goal out")
	}
	e := &Evaluation{Of: c.heldOut.Of, Classes: c.classes}
	for k := range c.folds {
		curves, ok := c.fitCurves(func(i int) bool { return c.fold[i] != k })
		for i, fold := range c.fold {
			if fold != k {
				continue
			}
			if !ok {
				return nil, arguments.Wrong("Threshold", float64(k+1), "without fold %d one class has no points to calibrate by; calibrate with more folds", k+1)
			}
			p := machines.Probabilities(2, c.duels, curves, c.held[i])
			e.Truth, e.Scores, e.Probabilities = append(e.Truth, c.class[i]), append(e.Scores, p[1]), append(e.Probabilities, p)
		}
	}
	return decide(goal, calibrated{c}, e)
}

// MustThreshold is Threshold for a notebook cell. The interrupt button ends it: it then shows
// a warning and returns the threshold by the folds so far. An error is printed and ends the
// cell; outside a notebook it panics.
func (f *Fit) MustThreshold(goal Goal) *Thresholded { return mustThreshold(f.Threshold, goal) }

// MustThreshold is Threshold for a notebook cell; see [Fit.MustThreshold].
func (c *Calibrated) MustThreshold(goal Goal) *Thresholded { return mustThreshold(c.Threshold, goal) }

func mustThreshold(threshold func(context.Context, Goal) (*Thresholded, error), goal Goal) *Thresholded {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	t, err := threshold(ctx, goal)
	switch {
	case t == nil:
		cells.Must(err)
	case err != nil:
		cells.Warn("interrupted; this is the threshold by the folds so far: " + err.Error())
	}
	return t
}

// ThresholdOf is [Fit.Threshold] for a fit of the description l. It is for the packages that
// fit.
func ThresholdOf(ctx context.Context, goal Goal, l learn.Learner, fit learn.Scored) (*Thresholded, error) {
	if err := arguments.Given(ctx, "Threshold"); err != nil {
		return nil, err
	}
	if err := goal.check(); err != nil {
		return nil, err
	}
	of := fit.Model().Inside()
	switch {
	case of.Kind == machines.OneClassKind:
		return nil, arguments.Wrong("Threshold", math.NaN(), "a one-class machine has seen one class only, and its ν says how many points are outside; leave Threshold out")
	case len(of.Classes) != 2:
		return nil, arguments.Wrong("Threshold", math.NaN(), "there are %d classes; a threshold is between two", len(of.Classes))
	}
	e, interrupted := heldOut(ctx, goal, l, of.Classes)
	if e == nil {
		return nil, interrupted
	}
	t, err := decide(goal, fit, e)
	if err != nil {
		return nil, err
	}
	return t, interrupted
}

// heldOut trains l without each fold in turn and returns the scores of the held-out points. If
// it is interrupted, it returns those of the folds so far with an error, or nil if one class
// has none yet.
func heldOut(ctx context.Context, goal Goal, l learn.Learner, classes []string) (*Evaluation, error) {
	data := l.Data()
	class := make([]int, data.N())
	for i, y := range data.Y {
		class[i] = slices.Index(classes, data.ClassName(y))
	}
	folds := cmp.Or(goal.folds, 5)
	fold, err := deal("Threshold", classes, class, folds, goal.seed)
	if err != nil {
		return nil, err
	}
	e := &Evaluation{Of: fmt.Sprintf("%s · held out in %d folds", say.Words(fmt.Sprint(l)), folds), Classes: classes}
	for k := range folds {
		var in, out []int
		for i, f := range fold {
			if f == k {
				out = append(out, i)
			} else {
				in = append(in, i)
			}
		}
		if len(out) == 0 {
			continue
		}
		held, err := oneHeldOut(ctx, l, data, in, out)
		if err != nil && ctx.Err() != nil {
			interrupted := fmt.Errorf("svmnb: Threshold: after %d of %d folds: %w", k, folds, err)
			if !slices.Contains(e.Truth, 0) || !slices.Contains(e.Truth, 1) {
				return nil, interrupted
			}
			e.Of = fmt.Sprintf("%s · held out in %d of %d folds", say.Words(fmt.Sprint(l)), k, folds)
			return e, interrupted
		}
		if err != nil {
			return nil, fmt.Errorf("svmnb: Threshold: without fold %d: %w", k+1, err)
		}
		if held.Scores == nil {
			return nil, arguments.Wrong("Threshold", math.NaN(), "the classifier has several machines and so no score that has a threshold; leave OneVsOne, OneVsRest or CrammerSinger out, or calibrate it")
		}
		e.Truth, e.Scores, e.Probabilities = append(e.Truth, held.Truth...), append(e.Scores, held.Scores...), append(e.Probabilities, held.Probabilities...)
	}
	return e, nil
}

func oneHeldOut(ctx context.Context, l learn.Learner, data *datasets.Dataset, in, out []int) (*Evaluation, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	fit, err := l.With(data.Select(in), in).Train(ctx, nil)
	if err != nil {
		return nil, err
	}
	h, err := guard.UnlessDone(ctx, func() (*learn.HeldOut, error) { return fit.HeldOut(ctx, data.Select(out)) })
	if err != nil {
		return nil, err
	}
	e, ok := h.Classes.(*Evaluation)
	if !ok {
		return nil, arguments.Wrong("Threshold", math.NaN(), "real values have no classes; take a classifier")
	}
	return e, nil
}

// decide chooses the threshold by the scores of held-out points.
func decide(goal Goal, fit learn.Scored, e *Evaluation) (*Thresholded, error) {
	if err := goal.check(); err != nil {
		return nil, err
	}
	t := &Thresholded{Goal: goal, classes: e.Classes, scale: "f(x)", fit: fit, heldOut: e}
	if e.Probabilities != nil {
		t.scale, t.usual = "the probability of "+say.Class(e.Classes[1]), 0.5
	}
	var err error
	if t.counts, err = countTaken(e); err != nil {
		return nil, err
	}
	if t.chosen, err = goal.choose(t.counts, t.usual); err != nil {
		return nil, err
	}
	t.Value = t.counts[t.chosen].threshold
	if at(t.counts, t.usual) == t.counts[t.chosen] {
		t.Value = t.usual // it is as good, and nothing else changes
	}
	e.Of += " · " + t.words()
	t.again(e)
	return t, nil
}

// again predicts the points of an evaluation by the threshold.
func (t *Thresholded) again(e *Evaluation) {
	e.Predicted = make([]int, len(e.Scores))
	for i, s := range e.Scores {
		e.Predicted[i] = t.side(s)
	}
}

// side returns the class of a score: 0 for the negative class, 1 for the positive.
func (t *Thresholded) side(score float64) int { return machines.SideFrom(score, t.Value) }

func (t *Thresholded) words() string { return fmt.Sprintf("threshold %s", say.Signed(t.Value, 4)) }

// Predict returns the class names of m points. Errors are those of [Fit.Predict].
func (t *Thresholded) Predict(x datasets.Points) (_ []string, err error) {
	defer guard.Caught(&err)
	if t.none() {
		return nil, arguments.NoFit("Predict")
	}
	scores, err := t.fit.Scores("Predict", x)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(scores))
	for i, s := range scores {
		names[i] = t.classes[t.side(s)]
	}
	return names, nil
}

// Evaluate compares the predictions for ds with its classes. Errors are those of
// [Fit.Evaluate].
func (t *Thresholded) Evaluate(ds *datasets.Dataset) (_ *Evaluation, err error) {
	defer guard.Caught(&err)
	if t.none() {
		return nil, arguments.NoFit("Evaluate")
	}
	of, err := t.fit.Evaluated(ds)
	if err != nil {
		return nil, err
	}
	e := of.(*Evaluation)
	e.Of += " · " + t.words()
	t.again(e)
	return e, nil
}

// HeldOut evaluates the training points, each predicted by a machine that was trained without
// it. The threshold was chosen by these points, so the result is slightly too good.
func (t *Thresholded) HeldOut() *Evaluation {
	if t.none() {
		return nil
	}
	return t.heldOut
}

func (t *Thresholded) evaluation() (*Evaluation, error) { return t.heldOut, nil }

// Model returns what predictions need of the fit, with the threshold. Its predictions are
// those of t. Formats that have no place for a threshold get it as a part of the bias; those
// that have none for a threshold of probabilities refuse the model.
func (t *Thresholded) Model() *model.Model {
	if t.none() {
		return nil
	}
	return t.fit.Model().WithThreshold(t.Value)
}

// Markdown says what was chosen and what it brings, and evaluates the held-out points.
func (t *Thresholded) Markdown() string {
	if t.none() {
		return arguments.NoFit("Markdown").Error()
	}
	s := say.NewSummary()
	s.Row("**threshold**", "%s of %s, in place of %s", say.Markup(say.Signed(t.Value, 4)), t.scale, say.Markup(say.Signed(t.usual, 1)))
	s.Row("chosen by", "%v", t.Goal)
	c, n := t.counts[t.chosen], t.heldOut
	s.Row("false positives, false negatives", "%d of %d, %d of %d", c.wrong, c.negatives, c.positives-c.right, c.positives)
	for _, m := range t.Goal.measures() {
		s.Row(m.name, "%s", say.Markup(say.Signed(m.of(c), 4)))
	}
	return s.String() + "\n" + n.Markdown()
}

// Show displays the given figures of the held-out points. Without figures it displays their
// summary and the Thresholds.
func (t *Thresholded) Show(figures ...display.Figure) {
	display.ShowFit(t, figures, Thresholds)
}

// Thresholds shows for a [Thresholded] fit what the goal counts over the threshold, with the
// chosen one.
var Thresholds = display.FigureOf("Thresholds", func(t deciding) (*display.Chart, error) { return t.drawThresholds() })

// deciding is implemented by *Thresholded only. It is an interface so that a cell without a
// threshold does not link Thresholded.
type deciding interface {
	drawThresholds() (*display.Chart, error)
}

func (t *Thresholded) drawThresholds() (*display.Chart, error) {
	d := figure.ThresholdsData{Problem: t.heldOut.Of, Scale: t.scale, Chosen: t.Value, Usual: t.usual, Required: math.NaN()}
	for _, m := range t.Goal.measures() {
		d.Lines = append(d.Lines, figure.ThresholdLine{Name: m.name})
	}
	for _, c := range slices.Backward(t.counts) {
		d.At = append(d.At, c.lowest)
		for k, m := range t.Goal.measures() {
			d.Lines[k].Values = append(d.Lines[k].Values, m.of(c))
		}
	}
	number := func(v float64) string { return say.Signed(v, 4) }
	first, c := t.Goal.measures()[0], t.counts[t.chosen]
	d.Finding = fmt.Sprintf("The %s is %s at the threshold %s; %s at %s", first.name, number(first.of(c)), number(t.Value), number(first.of(at(t.counts, t.usual))), number(t.usual))
	if t.Value == t.usual {
		d.Finding = fmt.Sprintf("No threshold is better than %s: there the %s is %s", number(t.usual), first.name, number(first.of(c)))
	}
	if t.Goal.bounded() {
		second := t.Goal.measures()[1]
		d.Required = t.Goal.share
		d.Finding = fmt.Sprintf("The %s is %s, with a %s of %s, at the threshold %s", first.name, number(first.of(c)), second.name, number(second.of(c)), number(t.Value))
	}
	d.Problem += " · " + t.Goal.words()
	return figure.Thresholds(d)
}
