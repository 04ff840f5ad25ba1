package selection

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/cells"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/sheet"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
)

// ScoreCurve has the scores on training points and on held-out points, along the values of
// a parameter ([ValidationCurve]) or along the number of training points ([LearningCurve]).
type ScoreCurve struct {
	Learner Learner
	Folds   Folds
	Metric  Metric
	Name    string      // of the parameter; "training points" for a learning curve
	Xs      []float64   // values of the parameter, or numbers of points, increasing
	Train   [][]float64 // Train[i][k] is the score at Xs[i] on the training points of fold k; NaN if not computed
	HeldOut [][]float64 // the same on the held-out points of fold k

	learning bool
}

// ValidationCurve trains l with each value of a parameter and without each fold in turn. It
// scores every fit on the training points and on the held-out points. The name is one that
// a [Search] takes, such as "C" or "gamma"; at least two values are needed. When ctx ends
// early, ValidationCurve returns the scores so far with an error that wraps
// context.Cause(ctx).
func ValidationCurve(ctx context.Context, l Learner, folds Folds, name string, values ...float64) (_ *ScoreCurve, err error) {
	defer guard.Caught(&err)
	if err := arguments.Given(ctx, "ValidationCurve"); err != nil {
		return nil, err
	}
	const call = "ValidationCurve"
	splits, err := splitsOf(call, l, folds)
	if err != nil {
		return nil, err
	}
	xs := slices.Compact(slices.Sorted(slices.Values(values)))
	if len(xs) < 2 {
		return nil, arguments.Wrong(call, float64(len(xs)), "a curve needs two or more different values of %s, and %d was given; selection.Log2(-5, 15, 2)... is a choice", name, len(xs))
	}
	c := &ScoreCurve{Learner: l, Folds: folds, Metric: measureOf(l.Learning()), Name: name, Xs: xs}
	learners := make([]learn.Learner, len(xs))
	for i, x := range xs {
		at, known := l.Learning().Set(name, x)
		if !known {
			return nil, arguments.Wrong(call, math.NaN(), "there is no parameter %q; those of the learner are %s", name, l.Learning().Parameters())
		}
		if err := at.Fault(); err != nil {
			return nil, err
		}
		learners[i] = at
	}
	return c, c.measure(ctx, call, splits, func(i, k int) (learn.Learner, Split) { return learners[i], splits[k] })
}

// LearningCurve trains l on more and more of the training points of each fold. It scores
// every fit on the points that it was trained on and on the held-out points. The sizes are
// numbers of training points. Without sizes there are eight, evenly spaced up to the whole
// training side of the smallest split. A smaller set is part of the next larger one, and
// the classes keep their proportions. When ctx ends early, LearningCurve returns the scores
// so far with an error that wraps context.Cause(ctx).
func LearningCurve(ctx context.Context, l Learner, folds Folds, sizes ...int) (_ *ScoreCurve, err error) {
	defer guard.Caught(&err)
	if err := arguments.Given(ctx, "LearningCurve"); err != nil {
		return nil, err
	}
	const call = "LearningCurve"
	splits, err := splitsOf(call, l, folds)
	if err != nil {
		return nil, err
	}
	most := len(splits[0].Train)
	for _, s := range splits {
		most = min(most, len(s.Train))
	}
	if len(sizes) == 0 {
		for k := 1; k <= 8; k++ {
			sizes = append(sizes, max(most*k/8, 1))
		}
	}
	sizes = slices.Compact(slices.Sorted(slices.Values(sizes)))
	if len(sizes) < 2 || sizes[0] < 1 || sizes[len(sizes)-1] > most {
		return nil, arguments.Wrong(call, float64(sizes[len(sizes)-1]), "the sizes are %v; give two or more different ones from 1 to %d, the training points of the smallest split", sizes, most)
	}
	c := &ScoreCurve{Learner: l, Folds: folds, Metric: measureOf(l.Learning()), Name: "training points", learning: true}
	for _, n := range sizes {
		c.Xs = append(c.Xs, float64(n))
	}
	data := l.Learning().Data()
	orders := make([][]int, len(splits))
	for k, s := range splits {
		orders[k] = proportional(data, s.Train, uint64(k))
	}
	return c, c.measure(ctx, call, splits, func(i, k int) (learn.Learner, Split) {
		return l.Learning(), Split{Train: orders[k][:sizes[i]], Test: splits[k].Test}
	})
}

// proportional shuffles rows so that the first m have the classes in proportion, for every
// m.
func proportional(data *datasets.Dataset, rows []int, seed uint64) []int {
	order := slices.Clone(rows)
	r := rand.New(rand.NewPCG(seed, 0x5eed))
	r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	count, seen := map[float64]float64{}, map[float64]float64{}
	for _, i := range order {
		count[data.Y[i]]++
	}
	place := map[int]float64{}
	for _, i := range order {
		y := data.Y[i]
		place[i] = (seen[y] + 0.5) / count[y]
		seen[y]++
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case place[a] < place[b]:
			return -1
		case place[a] > place[b]:
			return 1
		}
		return 0
	})
	return order
}

func splitsOf(call string, l Learner, folds Folds) ([]Split, error) {
	if l == nil {
		return nil, arguments.Wrong(call, math.NaN(), "the learner is nil; give one such as svmnb.Classify(data)")
	}
	if err := l.Learning().Fault(); err != nil {
		return nil, err
	}
	if err := steps.CheckMissing(l.Learning().Data()); err != nil {
		return nil, err
	}
	return split(folds, l.Learning().Data())
}

// measure computes the scores. at(i, k) returns the learner and the split for Xs[i] and
// fold k.
func (c *ScoreCurve) measure(ctx context.Context, call string, splits []Split, at func(i, k int) (learn.Learner, Split)) error {
	for range c.Xs {
		c.Train = append(c.Train, slices.Repeat([]float64{math.NaN()}, len(splits)))
		c.HeldOut = append(c.HeldOut, slices.Repeat([]float64{math.NaN()}, len(splits)))
	}
	for k := range splits {
		for i := range c.Xs {
			if ctx.Err() != nil {
				return fmt.Errorf("svmnb: %s: %w", call, context.Cause(ctx))
			}
			l, part := at(i, k)
			train, held, err := bothSides(ctx, l, part, c.Metric)
			if err != nil {
				return fmt.Errorf("svmnb: %s: fold %d at %s = %s: %w", call, k+1, c.Name, say.Signed(c.Xs[i], 4), err)
			}
			c.Train[i][k], c.HeldOut[i][k] = train, held
		}
	}
	return nil
}

// bothSides trains l on one side of a split and returns the scores on both sides; see
// validate.
func bothSides(ctx context.Context, l learn.Learner, s Split, m Metric) (train, held float64, err error) {
	data := l.Data()
	own := data.Select(s.Train)
	fit, err := l.With(own, s.Train).Train(ctx, nil)
	if err != nil {
		return 0, 0, err
	}
	score := func(on *datasets.Dataset) float64 {
		h, e := guard.UnlessDone(ctx, func() (*learn.HeldOut, error) { return fit.HeldOut(ctx, on) })
		if e == nil {
			var v float64
			if v, e = m.Of(heldOutOf(h)); e == nil {
				return v
			}
		}
		err = errors.Join(err, e)
		return math.NaN()
	}
	return score(own), score(data.Select(s.Test)), err
}

// MustValidationCurve is [ValidationCurve] for a notebook cell. The interrupt button ends
// it: it then shows a warning and returns the scores so far. An error is printed and ends
// the cell; outside a notebook it panics.
func MustValidationCurve(l Learner, folds Folds, name string, values ...float64) *ScoreCurve {
	return mustCurve(func(ctx context.Context) (*ScoreCurve, error) { return ValidationCurve(ctx, l, folds, name, values...) })
}

// MustLearningCurve is [LearningCurve] for a notebook cell; see [MustValidationCurve].
func MustLearningCurve(l Learner, folds Folds, sizes ...int) *ScoreCurve {
	return mustCurve(func(ctx context.Context) (*ScoreCurve, error) { return LearningCurve(ctx, l, folds, sizes...) })
}

func mustCurve(of func(ctx context.Context) (*ScoreCurve, error)) *ScoreCurve {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	c, err := of(ctx)
	switch {
	case err != nil && (c == nil || ctx.Err() == nil):
		cells.Must(err)
	case err != nil:
		cells.Warn("interrupted; these are the scores so far")
	}
	return c
}

// over returns, for each place, the mean and the standard error over the folds that were
// computed.
func (c *ScoreCurve) over(scores [][]float64) (mean, se []float64) {
	for _, s := range scores {
		m, e := meanError(slices.DeleteFunc(slices.Clone(s), math.IsNaN))
		mean, se = append(mean, m), append(se, e)
	}
	return mean, se
}

// Chart draws both curves, with bands of one standard error of the folds. You can change
// the chart and then show it by [display.Show].
func (c *ScoreCurve) Chart() (_ *display.Chart, err error) {
	defer guard.Caught(&err)
	if c == nil || c.Learner == nil {
		return nil, arguments.Wrong("Chart", math.NaN(), "the curve is empty; take one from ValidationCurve or LearningCurve")
	}
	d := figure.ValidationData{Problem: say.Words(c.Learner.String()), Metric: c.Metric.Name, Name: c.Name, Xs: c.Xs,
		Percent: strings.HasSuffix(c.Metric.Name, "accuracy"), Lower: c.Metric.Lower, Learning: c.learning}
	d.Log = !c.learning && logarithmic(c.Xs)
	d.Train, d.TrainSE = c.over(c.Train)
	d.HeldOut, d.HeldOutSE = c.over(c.HeldOut)
	chart, err := figure.Validation(d)
	if err != nil {
		return nil, fmt.Errorf("svmnb: %w", err)
	}
	return chart, nil
}

// Show displays the curves in the cell's output.
func (c *ScoreCurve) Show() {
	chart, err := c.Chart()
	if err != nil {
		display.Show(err)
		return
	}
	display.Show(chart)
}

// Table lists the mean scores; see [display.Table].
func (c *ScoreCurve) Table() *display.Sheet {
	return display.NewSheet(func(t *sheet.Table) error {
		if c == nil || c.Learner == nil {
			return arguments.NoFit("Table")
		}
		t.Name = say.Brief(c.Learner.String())
		t.Numbers(c.Name, c.Xs)
		for _, side := range []struct {
			name   string
			scores [][]float64
		}{{"held out", c.HeldOut}, {"training", c.Train}} {
			mean, se := c.over(side.scores)
			t.Numbers(c.Metric.Name+", "+side.name, mean)
			t.Numbers("standard error, "+side.name, se)
		}
		return nil
	})
}
