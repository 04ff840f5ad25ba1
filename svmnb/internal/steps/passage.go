// Package steps has the fitted steps of a pipeline, and the passage, which applies them to
// points.
package steps

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// Passage is the transformation of raw points before a machine sees them: the scalings that
// a data set has noted, then the steps of a pipeline. It never changes.
type Passage struct {
	Steps []Fitted

	// The first Open steps are the scalings of a data set. A data set notes whether they
	// were applied, but plain points do not. A model with Open > 0 therefore refuses points
	// until the user says which they are (Model.Raw, Model.Transformed).
	Open int

	D int // features of a raw point
}

// Fitted is a step that was fitted to training points. It is the interface
// transform.Transform.
type Fitted interface {
	Apply(x [][]float64) ([][]float64, error)
}

// FittedSparse is a Fitted that can transform sparse points. It is the interface
// transform.SparseTransform.
type FittedSparse interface {
	Fitted
	ApplySparse(x datasets.CSR) (*datasets.CSR, [][]float64, error)
}

// PassageOf returns the passage of a machine: behind if the machine is in a pipeline,
// otherwise the scalings of its data. It returns nil if points are not transformed.
func PassageOf(behind *Passage, data *datasets.Dataset) *Passage {
	if behind != nil || len(data.Scalings) == 0 {
		return behind
	}
	return NewPassage(data, nil)
}

// NewPassage returns the passage of the scalings of raw and of steps that were fitted to
// raw; nil if there are neither.
func NewPassage(raw *datasets.Dataset, steps []Fitted) *Passage {
	p := &Passage{Open: len(raw.Scalings), D: raw.D()}
	for _, s := range raw.Scalings {
		p.Steps = append(p.Steps, Scaled{s})
	}
	if p.Steps = append(p.Steps, steps...); len(p.Steps) == 0 {
		return nil
	}
	return p
}

// String lists the steps.
func (p *Passage) String() string {
	var list []string
	for _, t := range p.Steps {
		list = append(list, Text(t))
	}
	return strings.Join(list, ", ")
}

// Text names a fitted step.
func Text(t Fitted) string {
	if s, ok := t.(fmt.Stringer); ok {
		return s.String()
	}
	return fmt.Sprintf("%T", t)
}

// Apply transforms raw points by all steps. verb and learner name the user's call and the
// kind of fit in errors.
func (p *Passage) Apply(ctx context.Context, verb, learner string, x points.Points) (points.Points, error) {
	for i, row := range x.X {
		if len(row) != p.D {
			return points.Points{}, arguments.At(verb, i, -1, float64(len(row)), "the point has %s, the %s was trained on %d", say.Several(len(row), "feature"), learner, p.D)
		}
	}
	if s := x.Sparse; s != nil && s.N() > 0 && s.D != p.D {
		return points.Points{}, arguments.Wrong(verb, float64(s.D), "the points have %s, the %s was trained on %d; give the reader that number as dims", say.Several(s.D, "feature"), learner, p.D)
	}
	for i, t := range p.Steps {
		n := x.N()
		var err error
		if x, err = Through(ctx, x, t); err == nil && x.N() != n {
			err = arguments.Wrong(verb, float64(x.N()), "it makes %d rows of %d; a step keeps the number of points", x.N(), n)
		}
		if err != nil {
			return points.Points{}, fmt.Errorf("svmnb: %s: step %d, %s: %w", verb, i+1, Text(t), err)
		}
	}
	return x, nil
}

// Inside is the error of a fit inside a pipeline that is given points: it cannot tell
// whether the steps were applied to them.
func (p *Passage) Inside(verb string) error {
	return arguments.Wrong(verb, math.NaN(), "this fit is the inside of a pipeline and knows only points that have gone through %v; give raw points to the fit of the pipeline, or to the Model() of this one, which has the steps", p)
}

// Suits returns an error if data do not have the scalings of the training data. Predictions
// for such data would be wrong.
func Suits(verb string, behind *Passage, own, given *datasets.Dataset) error {
	if behind != nil {
		return behind.Inside(verb)
	}
	return SameScale(verb, own, given)
}

// SameScale returns an error if points were not scaled as the training data were.
func SameScale(verb string, own, given *datasets.Dataset) error {
	if given == nil {
		return nil // Check of the data set reports this
	}
	return sameScalers(verb, "points", own.Scalings, given.Scalings, (*datasets.Scaler).Equal)
}

// SameTargets is SameScale for the targets.
func SameTargets(verb string, own, given *datasets.Dataset) error {
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
	const points = "selection.Pipe(transform.Standardise(), …) with raw data scales by itself"
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
