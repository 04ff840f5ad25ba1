package svmnb

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// passage is what raw points go through before a machine sees them: the scalings that
// a data set has noted, then the steps of a pipeline. It never changes.
type passage struct {
	steps []Transform

	// The first open steps are the scalings of a data set. Of a data set it is known
	// whether they were done, of points it is not: a model with open steps wants to be
	// told.
	open int

	d int // features of a raw point
}

// passageOf is that of a machine that stands behind the steps of a pipeline, or else
// has learnt from data that a scaler may have changed; nil where points are raw.
func passageOf(behind *passage, data *datasets.Dataset) *passage {
	if behind != nil || len(data.Scalings) == 0 {
		return behind
	}
	return newPassage(data, nil)
}

func newPassage(raw *datasets.Dataset, steps []Transform) *passage {
	p := &passage{open: len(raw.Scalings), d: raw.D()}
	for _, s := range raw.Scalings {
		p.steps = append(p.steps, scaled{s})
	}
	if p.steps = append(p.steps, steps...); len(p.steps) == 0 {
		return nil
	}
	return p
}

// String lists the steps.
func (p *passage) String() string {
	var list []string
	for _, t := range p.steps {
		list = append(list, stepText(t))
	}
	return strings.Join(list, ", ")
}

// stepText names a fitted step.
func stepText(t Transform) string {
	if s, ok := t.(fmt.Stringer); ok {
		return s.String()
	}
	return fmt.Sprintf("%T", t)
}

// apply returns raw points as the steps leave them.
func (p *passage) apply(ctx context.Context, verb, learner string, x points) (points, error) {
	for i, row := range x.x {
		if len(row) != p.d {
			return points{}, arguments.At(verb, i, -1, float64(len(row)), "the point has %s, the %s was trained on %d", say.Several(len(row), "feature"), learner, p.d)
		}
	}
	if s := x.sparse; s != nil && s.N() > 0 && s.D != p.d {
		return points{}, arguments.Wrong(verb, float64(s.D), "the points have %s, the %s was trained on %d; give the reader that number as dims", say.Several(s.D, "feature"), learner, p.d)
	}
	for i, t := range p.steps {
		n := x.n()
		var err error
		if x, err = x.through(ctx, t); err == nil && x.n() != n {
			err = arguments.Wrong(verb, float64(x.n()), "it makes %d rows of %d; a step keeps the number of points", x.n(), n)
		}
		if err != nil {
			return points{}, fmt.Errorf("svmnb: %s: step %d, %s: %w", verb, i+1, stepText(t), err)
		}
	}
	return x, nil
}

// inside is the error of a fit inside of a pipeline that is given points: it cannot
// tell whether they have gone through the steps.
func (p *passage) inside(verb string) error {
	return arguments.Wrong(verb, math.NaN(), "this fit is the inside of a pipeline and knows only points that have gone through %v; give raw points to the fit of the pipeline, or to the Model() of this one, which has the steps", p)
}

// suits refuses data whose scalings are not those of the data that were learnt from:
// they would be predicted, and wrong.
func suits(verb string, behind *passage, own, given *datasets.Dataset) error {
	if behind != nil {
		return behind.inside(verb)
	}
	return sameScale(verb, own, given)
}

func sameScale(verb string, own, given *datasets.Dataset) error {
	if given == nil {
		return nil // whose Check says so
	}
	return sameScalers(verb, "points", own.Scalings, given.Scalings, (*datasets.Scaler).Equal)
}

func sameTargets(verb string, own, given *datasets.Dataset) error {
	if given == nil {
		return nil
	}
	return sameScalers(verb, "targets", own.TargetScalings, given.TargetScalings, func(a, b *datasets.TargetScaler) bool { return *a == *b })
}

func sameScalers[S any](verb, what string, own, given []*S, equal func(a, b *S) bool) error {
	same := len(own) == len(given)
	for k := 0; same && k < len(own); k++ {
		same = own[k] != nil && given[k] != nil && equal(own[k], given[k])
	}
	const points = "svmnb.Pipe(svmnb.Standardise(), …) with raw data scales by itself"
	const targets = "apply the TargetScaler of the training data to the test data too"
	advice := points + "; else apply the Scaler of the training data to the test data too"
	if what == "targets" {
		advice = targets
	}
	switch {
	case same:
		return nil
	case len(own) == 0:
		return arguments.Wrong(verb, math.NaN(), "the %s of this data set are scaled, and those of the training data are not; give them as they were measured", what)
	case len(given) == 0:
		return arguments.Wrong(verb, math.NaN(), "the %s of the training data were scaled, and those of this data set are not; %s", what, advice)
	}
	return arguments.Wrong(verb, math.NaN(), "the %s of this data set are scaled by other numbers than those of the training data; %s", what, advice)
}
