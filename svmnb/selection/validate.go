package selection

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/svmnb/svmnb/internal/panics"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/cells"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
	"github.com/svmnb/svmnb/svmnb/metrics"
)

// HeldOut is what a fit predicts for points that were not used in training.
type HeldOut struct {
	Classes *svmnb.Evaluation // of a classifier; otherwise nil

	Truth, Predicted []float64 // of a regression or a process: true and predicted targets
	SD               []float64 // of a process: standard deviations of the targets, noise included; nil otherwise, and after LogTarget

	// LogDensity has, for a process behind transformed targets, the logarithm of the predictive
	// density of each true target, in units of the data; otherwise nil.
	LogDensity []float64
}

// heldOutOf converts h, in which Classes has type any because package learn cannot import
// svmnb.
func heldOutOf(h *learn.HeldOut) *HeldOut {
	if h == nil {
		return nil
	}
	e, _ := h.Classes.(*svmnb.Evaluation)
	return &HeldOut{e, h.Truth, h.Predicted, h.SD, h.LogDensity}
}

// measureOf returns the metric that belongs to the learner's own measure.
func measureOf(l learn.Learner) Metric {
	if s, ok := l.(searching); ok {
		return s.by
	}
	switch m := l.Measure(); m {
	case learn.Accuracy:
		return Accuracy
	case learn.RMSE:
		return RMSE
	case learn.NLPD:
		return NLPD
	default:
		return Pinball(m.Tau)
	}
}

// Metric is a score by which fits are compared.
type Metric struct {
	Name  string
	Lower bool // lower values are better
	Of    func(h *HeldOut) (float64, error)
}

var (
	// Accuracy is the share of points whose class is predicted correctly. It is the default
	// for classifiers.
	Accuracy = byClasses("accuracy", (*metrics.Confusion).Accuracy)

	// BalancedAccuracy is the mean recall of the classes.
	BalancedAccuracy = byClasses("balanced accuracy", (*metrics.Confusion).BalancedAccuracy)

	// F1 is the harmonic mean of precision and recall: of two classes that of Classes[1], the
	// one with the larger target; of more classes the mean over them. It is 0 for a class that
	// is never predicted.
	F1 = byClasses("F1", func(c *metrics.Confusion) float64 {
		f := c.F1()
		if len(f.PerClass) == 2 {
			return f.PerClass[1]
		}
		return f.Macro
	})

	// MCC is the correlation of true and predicted classes, in [−1, 1]; see
	// [metrics.Confusion.MCC].
	MCC = byClasses("MCC", (*metrics.Confusion).MCC)

	// AUC is the area under the ROC curve, by decision values or probabilities. For more than
	// two classes it is the mean of the areas of each class against the rest, by
	// probabilities, for which the learner must be in [Calibrate]. A fold in which a class has
	// no point has no AUC; StratifiedKFold avoids that.
	AUC = byScores("AUC", func(positive []bool, score []float64) (float64, error) {
		r, err := metrics.NewROC(positive, score)
		if err != nil {
			return 0, err
		}
		return r.AUC, nil
	})

	// AveragePrecision is the area below the precision–recall curve; see
	// [metrics.AveragePrecision]. For more than two classes it is the mean, as for AUC.
	AveragePrecision = byScores("average precision", metrics.AveragePrecision)

	// LogLoss is the mean of −ln p of the true class, in nats. The learner must be in
	// [Calibrate].
	LogLoss = byProbabilities("log loss", metrics.LogLoss)

	// Brier is the mean squared distance of the probabilities from 1 for the true class and 0
	// for the others, in [0, 2]; see [metrics.Brier]. The learner must be in [Calibrate].
	Brier = byProbabilities("Brier score", metrics.Brier)

	// RMSE is the root mean squared error, in units of the targets. It is the default for
	// regressions.
	RMSE = byValues("RMSE", metrics.RMSE)

	// MAE is the mean absolute error, in units of the targets.
	MAE = byValues("MAE", metrics.MAE)

	// NLPD is the mean negative log predictive density of the targets, in nats. It is the
	// default for Gaussian processes.
	NLPD = Metric{"NLPD", true, func(h *HeldOut) (float64, error) {
		if h.LogDensity != nil {
			sum := 0.0
			for _, v := range h.LogDensity {
				sum -= v
			}
			return sum / float64(len(h.LogDensity)), nil
		}
		if h.SD == nil {
			return 0, arguments.Wrong("NLPD", math.NaN(), "only a Gaussian process predicts with a standard deviation; take RMSE")
		}
		return metrics.NLPD(h.Truth, h.Predicted, h.SD)
	}}
)

// Pinball returns the mean pinball loss of predictions of the quantile tau, in (0, 1), in units
// of the targets; see [metrics.Pinball]. It is the default for quantile regressions, where tau is
// theirs.
func Pinball(tau float64) Metric {
	return byValues(fmt.Sprintf("pinball loss %s", say.Number(tau)), func(truth, predicted []float64) (float64, error) {
		return metrics.Pinball(truth, predicted, tau)
	})
}

func byClasses(name string, of func(*metrics.Confusion) float64) Metric {
	return byEvaluation(name, false, func(e *svmnb.Evaluation) (float64, error) { return of(e.Confusion()), nil })
}

func byEvaluation(name string, lower bool, of func(*svmnb.Evaluation) (float64, error)) Metric {
	return Metric{name, lower, func(h *HeldOut) (float64, error) {
		if h.Classes == nil {
			return 0, arguments.Wrong("Metric", math.NaN(), "the %s is of classes, and these predictions are real values; take RMSE", name)
		}
		return of(h.Classes)
	}}
}

// byScores returns the metric of two classes by their scores, and its mean over more classes
// by their probabilities, each class against the rest.
func byScores(name string, of func(positive []bool, score []float64) (float64, error)) Metric {
	return byEvaluation(name, false, func(e *svmnb.Evaluation) (float64, error) {
		against := func(class int, score []float64) (float64, error) {
			positive := make([]bool, len(e.Truth))
			for i, k := range e.Truth {
				positive[i] = k == class
			}
			return of(positive, score)
		}
		switch {
		case e.Scores != nil:
			return against(1, e.Scores)
		case e.Probabilities == nil:
			return 0, arguments.Wrong("Metric", math.NaN(), "the %s needs scores of each class, and these predictions have none; put the classifier into selection.Calibrate", name)
		}
		mean := 0.0
		for k := range e.Classes {
			score := make([]float64, len(e.Truth))
			for i, p := range e.Probabilities {
				score[i] = p[k]
			}
			v, err := against(k, score)
			if err != nil {
				return 0, err
			}
			mean += v / float64(len(e.Classes))
		}
		return mean, nil
	})
}

func byProbabilities(name string, of func(truth []int, p [][]float64) (float64, error)) Metric {
	return byEvaluation(name, true, func(e *svmnb.Evaluation) (float64, error) {
		if e.Probabilities == nil {
			return 0, arguments.Wrong("Metric", math.NaN(), "the %s is of probabilities, and these predictions have none; put the classifier into selection.Calibrate", name)
		}
		return of(e.Truth, e.Probabilities)
	})
}

func byValues(name string, of func(truth, predicted []float64) (float64, error)) Metric {
	return Metric{name, true, func(h *HeldOut) (float64, error) {
		if h.Truth == nil {
			return 0, arguments.Wrong("Metric", math.NaN(), "the %s is of real values, and these predictions are classes; take Accuracy", name)
		}
		return of(h.Truth, h.Predicted)
	}}
}

// inPercent reports whether values of the metric are shares, which are printed in %.
func (m Metric) inPercent() bool { return strings.HasSuffix(m.Name, "accuracy") }

// text prints a value of the metric.
func (m Metric) text(v float64) string {
	if m.inPercent() {
		return say.Signed(100*v, 4) + " %"
	}
	return say.Signed(v, 4)
}

// better reports whether a is better than b. Any number is better than NaN.
func (m Metric) better(a, b float64) bool {
	if math.IsNaN(b) {
		return !math.IsNaN(a)
	}
	return m.Lower && a < b || !m.Lower && a > b
}

// Validation is the result of [CrossValidate].
type Validation struct {
	Learner Learner
	Folds   Folds
	Metric  Metric
	Scores  []float64   // one for each fold
	AlsoBy  []Metric    // the other metrics that were asked for
	Also    [][]float64 // scores by these, Also[m][fold]; NaN where the metric is not defined
	Twins   int         // held-out points that are also among the training points of their fold
	Points  int         // points that were held out, in all folds together
}

// Mean returns the mean score of the folds.
func (v *Validation) Mean() float64 { m, _ := v.meanError(); return m }

// StandardError returns sd/√k of the k scores. It tends to be too small, since the training
// sets of the folds overlap (Bengio and Grandvalet 2004).
func (v *Validation) StandardError() float64 { _, se := v.meanError(); return se }

func (v *Validation) meanError() (mean, se float64) {
	if v == nil {
		return math.NaN(), math.NaN()
	}
	return meanError(v.Scores)
}

// meanError returns the mean of the scores and its standard error, which is NaN for fewer
// than two scores.
func meanError(scores []float64) (mean, se float64) {
	n := float64(len(scores))
	for _, s := range scores {
		mean += s / n
	}
	sum := 0.0
	for _, s := range scores {
		sum += (s - mean) * (s - mean)
	}
	if n == 0 {
		mean = math.NaN()
	}
	if n < 2 {
		return mean, math.NaN()
	}
	return mean, math.Sqrt(sum / (n - 1) / n)
}

// CrossValidate trains l without each fold of its data in turn, including the steps of a
// [Pipeline], and scores the predictions for that fold by accuracy (classifiers), RMSE
// (regressions) or NLPD (Gaussian processes), or by the metrics that are given: Scores has the
// first, Also the others. When ctx ends early, CrossValidate returns the scores so far with an error that wraps
// context.Cause(ctx).
func CrossValidate(ctx context.Context, l Learner, folds Folds, by ...Metric) (_ *Validation, err error) {
	defer guard.Caught(&err)
	if err := arguments.Given(ctx, "CrossValidate"); err != nil {
		return nil, err
	}
	if l == nil {
		return nil, arguments.Wrong("CrossValidate", math.NaN(), "the learner is nil; give one such as svmnb.Classify(data)")
	}
	if err := l.Learning().Fault(); err != nil {
		return nil, err
	}
	data := l.Learning().Data()
	if err := steps.CheckMissing(data); err != nil {
		return nil, err
	}
	splits, err := split(folds, data)
	if err != nil {
		return nil, err
	}
	v := &Validation{Learner: l, Folds: folds, Metric: measureOf(l.Learning())}
	for i, m := range by {
		if m.Of == nil {
			return nil, arguments.Wrong("CrossValidate", float64(i), "the metric has no function; give one such as selection.Accuracy")
		}
	}
	if len(by) > 0 {
		v.Metric, v.AlsoBy = by[0], slices.Clone(by[1:])
		v.Also = make([][]float64, len(v.AlsoBy))
	}
	v.Twins, v.Points = twins(splits, data)
	for k, s := range splits {
		scores, err := validate(ctx, l.Learning(), s, v.Metric, v.AlsoBy, nil)
		if err != nil {
			return v, fmt.Errorf("svmnb: CrossValidate: fold %d: %w", k+1, err)
		}
		v.Scores = append(v.Scores, scores[0])
		for m, score := range scores[1:] {
			v.Also[m] = append(v.Also[m], score)
		}
	}
	return v, nil
}

// validate trains l on one side of a split and returns the scores on the other, by m and by
// the metrics also. Where one of the latter is not defined, its score is NaN. The learner gets
// a new data set with the training rows only, so it cannot see a held-out point.
func validate(ctx context.Context, l learn.Learner, s Split, m Metric, also []Metric, w *learn.Warmth) (scores []float64, err error) {
	defer guard.Caught(&err)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	data := l.Data()
	fit, err := l.With(data.Select(s.Train), s.Train).Train(ctx, w)
	if err != nil {
		return nil, err
	}
	held, err := guard.UnlessDone(ctx, func() (*learn.HeldOut, error) { return fit.HeldOut(ctx, data.Select(s.Test)) })
	if err != nil {
		return nil, err
	}
	h := heldOutOf(held)
	for i, m := range append([]Metric{m}, also...) {
		score := math.NaN()
		err := panics.Call(func() string { return "the metric " + m.Name }, func() (err error) {
			score, err = m.Of(h)
			return err
		})
		if err != nil && (i == 0 || errors.As(err, new(*svmnb.PanicError))) {
			return nil, err
		}
		if err != nil {
			score = math.NaN()
		}
		scores = append(scores, score)
	}
	return scores, nil
}

// MustCrossValidate is CrossValidate for a notebook cell. An interrupt shows a warning and
// returns the folds so far; an error is printed and ends the cell.
func MustCrossValidate(l Learner, folds Folds, by ...Metric) *Validation {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	v, err := CrossValidate(ctx, l, folds, by...)
	if err != nil {
		if ctx.Err() == nil || len(v.Scores) == 0 {
			cells.Must(err)
		}
		cells.Warn(fmt.Sprintf("interrupted after %s; these are the scores so far", say.Several(len(v.Scores), "fold")))
	}
	return v
}

// Markdown returns the mean score, its uncertainty and hints.
func (v *Validation) Markdown() string {
	if v == nil {
		return arguments.NoneOf("validation", "CrossValidate")
	}
	s := say.NewSummary()
	mean, se := meanError(v.Scores)
	s.Row("**cross-validation**", "%v", v.Learner)
	s.Row("folds", "%v", v.Folds)
	s.Row(fmt.Sprintf("**%s**", say.Escaped(v.Metric.Name)), "%s ± %s, the standard error of the folds", v.Metric.text(mean), v.Metric.text(se))
	if n := len(v.Scores); n > 0 && n <= 20 {
		var each []string
		for _, x := range v.Scores {
			each = append(each, v.Metric.text(x))
		}
		s.Row("of each fold", "%s", strings.Join(each, ", "))
	}
	for m, metric := range v.AlsoBy {
		mean, se := meanError(v.Also[m])
		s.Row(fmt.Sprint(say.Escaped(metric.Name)), "%s ± %s", metric.text(mean), metric.text(se))
	}
	s.Hints(v.Hints())
	return s.String()
}

// Hints warns of what makes the score look better than it is.
func (v *Validation) Hints() []string {
	if v == nil || v.Twins == 0 {
		return nil
	}
	return []string{twinHint(v.Twins, v.Points)}
}

func twinHint(twin, held int) string {
	return fmt.Sprintf("%d of %d held-out points are among the training points of their fold too, with their target: a machine that learns by heart knows them. Remove repeated points, or keep them in one fold by Folds of your own.", twin, held)
}

// Show displays the score in words.
func (v *Validation) Show() { display.Show(v) }

var _ = []Learner{svmnb.Classifier{}, svmnb.MultiClassifier{}, svmnb.Regressor{}, Pipeline{}}
