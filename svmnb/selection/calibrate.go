package selection

import (
	"context"
	"fmt"
	"math"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
)

// Calibrate makes a learner whose fits have probabilities. It calibrates every fit of a
// classifier as [svmnb.Fit.Calibrate] does, on folds of its training points, and its fit is a
// [*svmnb.Calibrated]. Searches can then compare probabilities:
//
//	probable := selection.Calibrate(svmnb.Classify(data), svmnb.Platt{})
//	selection.Search(probable, grid, folds).By(selection.LogLoss).MustFit()
//	selection.Pipe(transform.Standardise(), probable).MustFit()
//
// In a [Pipeline], Calibrate stands around the classifier at its end.
func Calibrate(l Learner, how svmnb.Calibration) Learner {
	c := calibrating{how: how}
	if l == nil {
		c.fault = arguments.Wrong("Calibrate", math.NaN(), "the learner is nil; give one such as svmnb.Classify(data)")
		l = svmnb.Classify(&datasets.Dataset{})
	}
	c.Learner = l.Learning()
	switch c.Learner.Description().(type) {
	case svmnb.Classifier, svmnb.MultiClassifier:
	case Pipeline:
		c.fault = arguments.Wrong("Calibrate", math.NaN(), "a pipeline is calibrated at its end; say Pipe(steps, selection.Calibrate(svmnb.Classify(data), svmnb.Platt{}))")
	default:
		c.fault = arguments.Wrong("Calibrate", math.NaN(), "a %T predicts no classes; give a classifier", c.Learner.Description())
	}
	if how == nil && c.fault == nil {
		c.fault = arguments.Wrong("Calibrate", math.NaN(), "the calibration is nil; give one such as svmnb.Platt{}")
	}
	return calibratedLearner{c}
}

// calibratedLearner is what Calibrate returns.
type calibratedLearner struct{ of calibrating }

func (l calibratedLearner) String() string          { return l.of.String() }
func (l calibratedLearner) Data() *datasets.Dataset { return l.of.Data() }
func (l calibratedLearner) Learning() learn.Learner { return l.of }

// calibrating is the learner of a classifier with a calibration after it.
type calibrating struct {
	learn.Learner
	how   svmnb.Calibration
	fault error
}

func (c calibrating) String() string {
	return fmt.Sprintf("Calibrate(%v, %s)", c.Learner, say.Literal(c.how))
}

func (c calibrating) Description() any { return calibratedLearner{c} }

func (c calibrating) Fault() error {
	if c.fault != nil {
		return c.fault
	}
	return c.Learner.Fault()
}

func (c calibrating) With(data *datasets.Dataset, rows []int) learn.Learner {
	c.Learner = c.Learner.With(data, rows)
	return c
}

func (c calibrating) After(p *steps.Passage) learn.Learner {
	c.Learner = c.Learner.After(p)
	return c
}

func (c calibrating) Set(name string, value float64) (learn.Learner, bool) {
	l, known := c.Learner.Set(name, value)
	c.Learner = l
	return c, known
}

func (c calibrating) Train(ctx context.Context, w *learn.Warmth) (learn.Fit, error) {
	if err := c.Fault(); err != nil {
		return nil, err
	}
	fit, err := c.Learner.Train(ctx, w)
	if err != nil {
		return nil, err // a fit that was interrupted has no time for a calibration
	}
	var made *svmnb.Calibrated
	switch f := fit.Fit().(type) {
	case *svmnb.Fit:
		made, err = f.Calibrate(ctx, c.how)
	case *svmnb.MultiFit:
		made, err = f.Calibrate(ctx, c.how)
	}
	if made == nil {
		return nil, err
	}
	return made.Learnt(), err
}
