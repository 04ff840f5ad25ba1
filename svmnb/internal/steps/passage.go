// Package steps has the fitted steps of a pipeline, and the passage, which applies them to
// points.
package steps

import (
	"context"
	"fmt"
	"math"
	"slices"
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

	Target *TargetMap // of the targets; nil if they are not transformed

	// Columns are the columns of raw points if these have names; otherwise nil.
	Columns []Heading
}

// Heading is the name of a column and the kind of its values.
type Heading struct {
	Name string        `json:"name"`
	Kind datasets.Kind `json:"kind"`
}

// Fitted is a step that was fitted to training points: a [FittedRows], a [FittedSparse] or a
// [FittedTable].
type Fitted any

// FittedRows is the interface transform.Transform.
type FittedRows interface {
	Apply(x [][]float64) ([][]float64, error)
}

// FittedSparse is a Fitted that can transform sparse points. It is the interface
// transform.SparseTransform.
type FittedSparse interface {
	FittedRows
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
	var scalings []Fitted
	for _, s := range raw.Scalings {
		scalings = append(scalings, Scaled{s})
	}
	p := Raw(raw, append(scalings, steps...))
	if p.Open = len(scalings); len(p.Steps) == 0 {
		return nil
	}
	return p
}

// WithTarget returns the passage, which may be nil, with a transformation of the targets of
// raw, which may be nil too.
func (p *Passage) WithTarget(raw *datasets.Dataset, t *TargetMap) *Passage {
	switch {
	case t == nil:
		return p
	case p == nil:
		p = Raw(raw, nil)
	}
	p.Target = t
	return p
}

// WithoutTarget returns the passage of the points alone; nil if it has no steps.
func (p *Passage) WithoutTarget() *Passage {
	if len(p.Steps) == 0 {
		return nil
	}
	own := *p
	own.Target = nil
	return &own
}

// Raw returns the passage of steps that were fitted to the data set raw, ignoring the
// scalings that raw has noted.
func Raw(raw *datasets.Dataset, steps []Fitted) *Passage {
	return &Passage{Steps: steps, D: raw.D(), Columns: headings(raw)}
}

// Alone reports whether every step transforms each feature alone, so that the features behind the
// steps are those before them.
func (p *Passage) Alone() bool {
	for _, s := range p.Steps {
		if _, ok := s.(Scaled); !ok {
			return false
		}
	}
	return p.Target == nil
}

// String lists the steps.
func (p *Passage) String() string {
	var list []string
	for _, t := range p.Steps {
		list = append(list, Text(t))
	}
	if p.Target != nil {
		list = append(list, p.Target.String())
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

// headings returns the columns of a data set, if it has names for them.
func headings(raw *datasets.Dataset) []Heading {
	var list []Heading
	if raw.Table != nil {
		for _, c := range raw.Table.Columns {
			list = append(list, Heading{c.Name, c.Kind})
		}
		return list
	}
	for _, name := range raw.Features {
		list = append(list, Heading{name, datasets.Number})
	}
	return list
}

// names returns the names of the columns of raw points; nil if there are none.
func (p *Passage) names() []string {
	if p.Columns == nil {
		return nil
	}
	names := make([]string, len(p.Columns))
	for j, c := range p.Columns {
		names[j] = c.Name
	}
	return names
}

// Apply transforms raw points by all steps. verb and learner name the user's call and the
// kind of fit in errors.
func (p *Passage) Apply(ctx context.Context, verb, learner string, x points.Points) (points.Points, error) {
	raw, err := p.raw(verb, learner, x)
	if err != nil {
		return points.Points{}, err
	}
	now := named(raw, p.names())
	for i, t := range p.Steps {
		n := now.N()
		now, err = Through(ctx, now, t)
		if err == nil && now.N() != n {
			err = arguments.Wrong(verb, float64(now.N()), "it makes %d rows of %d; a step keeps the number of points", now.N(), n)
		}
		if err != nil {
			return points.Points{}, fmt.Errorf("svmnb: %s: step %d, %s: %w", verb, i+1, Text(t), err)
		}
	}
	now, err = now.AsNumbers()
	return now.Points, err
}

// together is the number of points that Blocks transforms at a time.
const together = 8192

// Widens reports whether n points are worth transforming some at a time, because the last step
// makes a kernel's features, which take more memory than the points.
func (p *Passage) Widens(n int) bool { return n > together && p.MakesKernel() }

// Blocks is Apply for a passage of which Widens is true. The last step is applied to some points
// at a time: do gets the points from number from on, and must not keep them. An error of a block counts its rows from
// the beginning of the block, so the caller asks Apply for the error.
func (p *Passage) Blocks(ctx context.Context, verb, learner string, x points.Points, do func(from int, p points.Points) error) error {
	first, last := *p, p.Steps[len(p.Steps)-1]
	first.Steps = p.Steps[:len(p.Steps)-1]
	all, err := first.Apply(ctx, verb, learner, x)
	if err != nil {
		return err
	}
	rows := make([]int, 0, together)
	in, dense := last.(interface {
		applyIn(all []float64, x [][]float64) ([][]float64, error)
		width() int
	})
	if dense = dense && all.Sparse == nil; dense {
		memory := make([]float64, together*in.width()) // again for each block, so that nothing waits for the collector
		for from := 0; from < len(all.X); from += together {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			x := all.X[from:min(from+together, len(all.X))]
			made, err := in.applyIn(memory[:len(x)*in.width()], x)
			if err != nil {
				return err
			}
			if err := do(from, points.Rows(made)); err != nil {
				return err
			}
		}
		return nil
	}
	for from := 0; from < all.N(); from += together {
		rows = rows[:0]
		for i := from; i < min(from+together, all.N()); i++ {
			rows = append(rows, i)
		}
		next, err := Through(ctx, Points{Points: all.Some(rows)}, last)
		if err != nil {
			return err
		}
		if err := do(from, next.Points); err != nil {
			return err
		}
	}
	return nil
}

// raw returns a user's points in the form to which the steps were fitted: a table with the
// columns of the training data in their order, or rows or sparse points with the same
// number of features.
func (p *Passage) raw(verb, learner string, x points.Points) (points.Points, error) {
	if x.Table != nil && p.Columns != nil {
		t, err := p.columns(verb, learner, x.Table)
		return points.Points{Table: t}, err
	}
	if x.Table != nil && x.X == nil {
		return x, arguments.Wrong(verb, math.NaN(), "the table has columns that are no numbers, and the %s was trained on %s without names", learner, say.Several(p.D, "number"))
	}
	for _, c := range p.Columns {
		if c.Kind != datasets.Number && x.N() > 0 {
			return x, arguments.Wrong(verb, math.NaN(), "the %s was trained on a table whose column %s is a %v; give a *datasets.Table with the columns %s", learner, c.Name, c.Kind, Quoted(p.names()))
		}
	}
	for i, row := range x.X {
		if len(row) != p.D {
			return points.Points{}, arguments.At(verb, i, -1, float64(len(row)), "the point has %s, the %s was trained on %d", say.Several(len(row), "feature"), learner, p.D)
		}
	}
	if s := x.Sparse; s != nil && s.N() > 0 && s.D != p.D {
		return points.Points{}, arguments.Wrong(verb, float64(s.D), "the points have %s, the %s was trained on %d; give the reader that number as dims", say.Several(s.D, "feature"), learner, p.D)
	}
	return points.Points{X: x.X, Sparse: x.Sparse}, nil
}

// columns returns the columns of a table to which the steps were fitted, with values of the
// same kinds. Conversion may be necessary: a reader that guesses kinds may take codes for
// numbers.
func (p *Passage) columns(verb, learner string, t *datasets.Table) (*datasets.Table, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	var lacking []string
	for _, c := range p.Columns {
		if !slices.Contains(t.Names(), c.Name) {
			lacking = append(lacking, c.Name)
		}
	}
	if len(lacking) > 0 {
		return nil, arguments.Wrong(verb, math.NaN(), "the table has no column %s, which the %s was trained on; its columns are %s", Quoted(lacking), learner, Quoted(t.Names()))
	}
	t = t.Only(p.names()...)
	for _, c := range p.Columns {
		t = t.As(c.Kind, c.Name)
	}
	return t, t.Check()
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

// MakesKernel reports whether the last step makes features whose products are nearly a
// kernel. The machine behind it is linear unless a user says otherwise.
func (p *Passage) MakesKernel() bool {
	if p == nil || len(p.Steps) == 0 {
		return false
	}
	switch p.Steps[len(p.Steps)-1].(type) {
	case NystroemMap, FourierMap:
		return true
	}
	return false
}
