package svmnb

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/panics"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/cells"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// Part is a part of a [Pipeline]: a [Step] or, at its end, a [Learner].
type Part interface{ String() string }

// Step is the immutable description of something that is done to points before they
// are learnt from. What it has to know of the data it learns in Fit, from training
// points alone: a pipeline inside of folds fits it anew without what is held out. An
// interrupt does not wait for Fit, nor for the Apply of the [Transform]: they run to their
// end beside what comes next, and what they return is dropped.
type Step interface {
	Part
	Fit(train *datasets.Dataset) (Transform, error)
}

// Transform is a fitted [Step]. Apply returns m new rows for the m rows of x, each
// of which depends on that row only; it changes neither x nor itself.
type Transform interface {
	Apply(x [][]float64) ([][]float64, error)
}

// SparseStep is a [Step] that sparse points can go through. Fit sees points written
// out, FitSparse those of the data set's Sparse.
type SparseStep interface {
	Step
	FitSparse(train *datasets.Dataset) (SparseTransform, error)
}

// SparseTransform is a fitted [SparseStep]. ApplySparse returns the m new points for
// the m of x, sparse or as rows: one of the two.
type SparseTransform interface {
	Transform
	ApplySparse(x datasets.CSR) (*datasets.CSR, [][]float64, error)
}

// Tunable is a [Step] with parameters that a [Search] may set. With returns the step
// with another value; known is false for a name that it does not have.
type Tunable interface {
	Step
	With(name string, value float64) (step Step, known bool)
}

// Learner is a description that can be learnt from some rows of its data and judged
// by the others: a [Classifier], a [MultiClassifier], a [Regressor], a [Process], or
// a [Pipeline] that ends in one of them.
type Learner interface {
	Part
	source() *datasets.Dataset
	fault() error // what words have said wrong
	// with is the description for other data, whose points have the weights and
	// noise of these rows.
	with(data *datasets.Dataset, rows []int) Learner
	after(p *passage) Learner // the description behind the steps of a pipeline
	// set changes a parameter; known is false for a name that it does not have.
	set(name string, value float64) (l Learner, known bool)
	parameters() string // the names, for whoever mistypes one
	trained(ctx context.Context, w *warmth) (learned, error)
	metric() Metric
	detail() any // what String does not say of the description
}

// learned is a fit of a Learner.
type learned interface {
	heldOut(ctx context.Context, data *datasets.Dataset) (*HeldOut, error)
}

// Pipeline is steps and a learner at their end. It is a value and describes only:
// nothing is computed until Fit, MustFit, CrossValidate or a Search.
type Pipeline struct {
	steps *[]Step // never changed once made
	last  Learner
	err   error
}

// Pipe makes a pipeline: steps in the order in which they are done, then the
// learner, whose data are the raw points.
//
//	svmnb.Pipe(svmnb.Standardise(), svmnb.Classify(data).C(10)).MustFit()
//
// The steps are fitted to training points only, also inside of folds: scaling all
// points first would let what is held out speak in training.
func Pipe(parts ...Part) Pipeline {
	p := Pipeline{steps: new([]Step)}
	for i, part := range parts {
		switch part := part.(type) {
		case Pipeline:
			part = part.made()
			p.err = errors.Join(p.err, part.err)
			*p.steps = append(*p.steps, *part.steps...)
			p.last = part.last
		case Learner:
			p.last = part
		case Step:
			*p.steps = append(*p.steps, part)
			continue
		default:
			p.err = errors.Join(p.err, arguments.Wrong("Pipe", float64(i), "part %d, a %T, is neither a step nor a learner", i+1, part))
			continue
		}
		if i != len(parts)-1 {
			p.err = errors.Join(p.err, arguments.Wrong("Pipe", float64(i), "part %d is a learner with something after it; it ends the pipeline", i+1))
		}
	}
	if p.last == nil {
		p.err = errors.Join(p.err, arguments.Wrong("Pipe", math.NaN(), "there is no learner at the end; give one such as svmnb.Classify(data)"))
		p.last = Classify(&datasets.Dataset{})
	}
	return p
}

// String gives the call back.
func (p Pipeline) String() string {
	p = p.made()
	var parts []string
	for _, s := range *p.steps {
		parts = append(parts, s.String())
	}
	return "Pipe(" + strings.Join(append(parts, p.last.String()), ", ") + ")"
}

// Fit fits the steps one after the other, each to the training points as the steps
// before have left them, and then the learner. Errors and interrupts are those of
// the learner's Fit.
func (p Pipeline) Fit(ctx context.Context) (_ *PipeFit, err error) {
	defer caught(&err)
	if err := arguments.Given(ctx, "Fit"); err != nil {
		return nil, err
	}
	fit, err := p.fit(ctx, nil)
	if fit == nil {
		return nil, err
	}
	return fit, err
}

// MustFit is Fit for a notebook cell; see [Classifier.MustFit].
func (p Pipeline) MustFit() *PipeFit {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	fit, err := p.Fit(ctx)
	switch {
	case fit == nil:
		cells.Must(err)
	case err != nil:
		cells.Warn("interrupted; this is the fit so far")
	}
	return fit
}

// made is p, or for the zero value, which has an error to tell, Pipe().
func (p Pipeline) made() Pipeline {
	if p.steps == nil {
		return Pipe()
	}
	return p
}

func (p Pipeline) source() *datasets.Dataset { return p.made().last.source() }
func (p Pipeline) fault() error              { p = p.made(); return errors.Join(p.err, p.last.fault()) }
func (p Pipeline) metric() Metric            { return p.made().last.metric() }

func (p Pipeline) detail() any {
	p = p.made()
	return []any{fmt.Sprintf("%#v", *p.steps), p.last.detail()}
}

func (p Pipeline) with(data *datasets.Dataset, rows []int) Learner {
	p.last = p.last.with(data, rows)
	return p
}

// after is of the learner at the end; a Pipeline is taken apart by Pipe.
func (p Pipeline) after(b *passage) Learner { p.last = p.last.after(b); return p }

func (p Pipeline) parameters() string {
	s := p.last.parameters()
	for _, step := range *p.steps {
		if _, ok := step.(Tunable); ok {
			s += ", those of " + step.String()
		}
	}
	return s
}

// set asks the learner first and then the steps; "pca.components" asks only the
// steps of that name.
func (p Pipeline) set(name string, value float64) (Learner, bool) {
	if last, known := p.last.set(name, value); known {
		p.last = last
		return p, true
	}
	of, own, prefixed := strings.Cut(name, ".")
	for i, s := range *p.steps {
		call, _, _ := strings.Cut(s.String(), "(")
		t, ok := s.(Tunable)
		switch {
		case !ok:
			continue
		case prefixed && strings.EqualFold(of, call):
			s, ok = t.With(own, value)
		default:
			s, ok = t.With(name, value)
		}
		if ok {
			steps := slices.Clone(*p.steps)
			steps[i] = s
			p.steps = &steps
			return p, true
		}
	}
	return p, false
}

func (p Pipeline) trained(ctx context.Context, w *warmth) (learned, error) {
	fit, err := p.fit(ctx, w)
	if fit == nil {
		return nil, err
	}
	return fit, err
}

func (p Pipeline) fit(ctx context.Context, w *warmth) (*PipeFit, error) {
	if err := p.fault(); err != nil {
		return nil, err
	}
	raw := p.source()
	if err := missingAllowed(raw); err != nil {
		return nil, err
	}
	if w != nil && w.piped != nil { // the same points and steps as before
		return w.piped.again(ctx, p, w)
	}
	fit := &PipeFit{Description: p, d: raw.D()}
	data := &datasets.Dataset{Name: raw.Name, X: raw.X, Sparse: raw.Sparse, Y: raw.Y, Features: raw.Features, Target: raw.Target, Classes: raw.Classes, TargetScalings: raw.TargetScalings}
	for i, s := range *p.steps {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("svmnb: Pipe: %w", context.Cause(ctx))
		}
		t, err := fitStep(ctx, s, data)
		if err != nil {
			return nil, fmt.Errorf("svmnb: Pipe: step %d, %v: %w", i+1, s, err)
		}
		p, err := pointsOf(data).through(ctx, t)
		if err == nil && p.n() != data.N() {
			err = arguments.Wrong("Pipe", float64(p.n()), "it makes %d rows of %d; a step keeps the number of points", p.n(), data.N())
		}
		if err != nil {
			return nil, fmt.Errorf("svmnb: Pipe: step %d, %v: %w", i+1, s, err)
		}
		next := *data
		next.X, next.Sparse = p.x, (*datasets.CSR)(p.sparse)
		if n, ok := t.(interface{ names(in []string) []string }); ok && next.Features != nil {
			next.Features = n.names(next.Features)
		} else {
			next.Features = nil
		}
		data = &next
		fit.steps = append(fit.steps, t)
	}
	fit.data = data
	if w != nil {
		w.piped = fit
	}
	return fit.again(ctx, p, w)
}

func fitStep(ctx context.Context, s Step, train *datasets.Dataset) (Transform, error) {
	return unlessDone(ctx, func() (_ Transform, err error) {
		defer panics.Recover(&err, func() string { return fmt.Sprintf("the step %v", s) })
		if train.Sparse == nil {
			return s.Fit(train)
		}
		sparse, ok := s.(SparseStep)
		if !ok {
			return nil, arguments.Wrong("Pipe", math.NaN(), "the points are sparse, and the step needs them written out; write them out by Dense() of the data set, or take MaxAbs(), RandomFourier or Nystroem, which take sparse points")
		}
		return sparse.FitSparse(train)
	})
}

// through returns the points as the fitted step leaves them.
func (p points) through(ctx context.Context, t Transform) (points, error) {
	return unlessDone(ctx, func() (_ points, err error) {
		defer panics.Recover(&err, func() string { return fmt.Sprintf("Apply of a step, a %T,", t) })
		if p.sparse == nil {
			x, err := t.Apply(p.x)
			return written(x), err
		}
		sparse, ok := t.(SparseTransform)
		if !ok {
			return points{}, arguments.Wrong("Pipe", math.NaN(), "the points are sparse, and the step needs them written out; write them out by Dense() of the data set")
		}
		to, x, err := sparse.ApplySparse(*p.sparse)
		return points{x, to}, err
	})
}

// again learns from the transformed points once more.
func (f *PipeFit) again(ctx context.Context, p Pipeline, w *warmth) (*PipeFit, error) {
	rows := make([]int, f.data.N())
	for i := range rows {
		rows[i] = i
	}
	behind := newPassage(p.source(), f.steps)
	last, err := p.last.with(f.data, rows).after(behind).trained(ctx, w)
	if last == nil {
		return nil, err
	}
	fit := &PipeFit{Description: p, d: f.d, steps: f.steps, data: f.data, last: last}
	fit.inner = sync.OnceValue(func() *Model { return last.(Modeler).Model().Transformed() })
	return fit, err
}

// missingAllowed is Check for raw data, in which NaN stands for a missing value: a
// step may know what to do with it, and a learner will say that it does not.
func missingAllowed(d *datasets.Dataset) error {
	if d == nil || d.Sparse != nil {
		return d.Check()
	}
	gap := false
	for _, row := range d.X {
		gap = gap || slices.ContainsFunc(row, math.IsNaN)
	}
	if !gap {
		return d.Check()
	}
	full := *d
	full.X = make([][]float64, len(d.X))
	for i, row := range d.X {
		full.X[i] = slices.Clone(row)
		for j, v := range row {
			if math.IsNaN(v) {
				full.X[i][j] = 0
			}
		}
	}
	return full.Check()
}

// PipeFit is a fitted pipeline: it takes raw points.
type PipeFit struct {
	Description Pipeline

	d     int // of raw points
	steps []Transform
	data  *datasets.Dataset // training points as the steps leave them
	last  learned
	inner func() *Model // of last, for points as the steps leave them
}

// Fit returns what the learner became of the transformed points: a [*Fit], a
// [*MultiFit], a [*RegressionFit] or a [*ProcessFit]. Its figures, tables and support
// vectors are of transformed points. It refuses points and data sets of a caller, since
// it cannot see whether they have gone through the steps; its Model has the steps and
// takes raw points.
func (f *PipeFit) Fit() any {
	if f.none() {
		return nil
	}
	return f.last
}

// Model returns what predictions need of the pipeline: its fitted steps and what the
// learner became. It takes raw points, and its predictions are those of the pipeline,
// bit for bit.
func (f *PipeFit) Model() *Model {
	if f == nil || f.last == nil {
		return nil
	}
	return f.last.(Modeler).Model()
}

// Transform returns the m raw points of x as the steps leave them for the learner.
func (f *PipeFit) Transform(x [][]float64) (_ [][]float64, err error) {
	defer caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Transform")
	}
	p, err := f.transform(context.Background(), "Transform", written(x))
	return p.x, err
}

func (f *PipeFit) transform(ctx context.Context, verb string, p points) (points, error) {
	return (&passage{steps: f.steps, d: f.d}).apply(ctx, verb, "pipeline", p)
}

// Predict returns the class names of the m raw points of x. Errors are those of
// Transform and of the fit's Predict, and of a pipeline that ends in a regression,
// which has Values.
func (f *PipeFit) Predict(x [][]float64) (_ []string, err error) {
	defer caught(&err)
	return f.predict("Predict", written(x))
}

// PredictSparse is Predict for sparse points, which stay so as far as the steps
// leave them.
func (f *PipeFit) PredictSparse(x datasets.CSR) (_ []string, err error) {
	defer caught(&err)
	return f.predict("PredictSparse", compressed(x))
}

func (f *PipeFit) predict(verb string, p points) ([]string, error) {
	m, p, err := f.entered(verb, p)
	if err != nil {
		return nil, err
	}
	return m.predict(verb, p)
}

// Values returns the predicted targets of the m raw points of x, of a regression or
// a process; of a classifier for two classes its decision values.
func (f *PipeFit) Values(x [][]float64) (_ []float64, err error) {
	defer caught(&err)
	return f.values("Values", written(x))
}

// ValuesSparse is Values for sparse points.
func (f *PipeFit) ValuesSparse(x datasets.CSR) (_ []float64, err error) {
	defer caught(&err)
	return f.values("ValuesSparse", compressed(x))
}

func (f *PipeFit) values(verb string, p points) ([]float64, error) {
	m, p, err := f.entered(verb, p)
	if err != nil {
		return nil, err
	}
	if len(m.classes) > 0 && len(m.machines) != 1 {
		return nil, arguments.Wrong(verb, math.NaN(), "the pipeline ends in a classifier of several machines; say Predict for its classes, or Model().Decisions for the values of all machines")
	}
	return m.value(verb, p)
}

// entered returns the model behind the steps, and raw points as the steps leave them.
func (f *PipeFit) entered(verb string, p points) (*Model, points, error) {
	if f.none() {
		return nil, p, arguments.NoFit(verb)
	}
	p, err := f.transform(context.Background(), verb, p)
	if err != nil {
		return nil, p, err
	}
	return f.inner(), p, nil
}

// Posterior returns mean and variance of f at the m raw points of x, of a pipeline that
// ends in a Gaussian process; see [ProcessFit.Posterior].
func (f *PipeFit) Posterior(ctx context.Context, x [][]float64) (*Belief, error) {
	if err := arguments.Given(ctx, "Posterior"); err != nil {
		return nil, err
	}
	if f.none() {
		return nil, arguments.NoFit("Posterior")
	}
	last, ok := f.last.(interface {
		posterior(ctx context.Context, x [][]float64) (*Belief, error)
	})
	if !ok {
		return nil, arguments.Wrong("Posterior", math.NaN(), "only a Gaussian process has one; end the pipeline in svmnb.GaussianProcess(data)")
	}
	p, err := f.transform(ctx, "Posterior", written(x))
	if err != nil {
		return nil, err
	}
	return last.posterior(ctx, p.x)
}

// Evaluate compares the fit with the classes of raw points; see [Fit.Evaluate].
func (f *PipeFit) Evaluate(ds *datasets.Dataset) (_ *Evaluation, err error) {
	defer caught(&err)
	h, err := f.asked("Evaluate", ds)
	if err != nil {
		return nil, err
	}
	if h.Classes == nil {
		return nil, arguments.Wrong("Evaluate", math.NaN(), "a %T predicts real values, which have no classes to count; measure them by Score", f.last)
	}
	return h.Classes, nil
}

// Score measures the fit on raw points by the learner's own measure: the accuracy of
// a classifier, the RMSE of a regression, the NLPD of a process.
func (f *PipeFit) Score(ds *datasets.Dataset) (_ float64, err error) {
	defer caught(&err)
	h, err := f.asked("Score", ds)
	if err != nil {
		return 0, err
	}
	return f.Description.metric().Of(h)
}

// asked is heldOut of a data set that a caller gives.
func (f *PipeFit) asked(verb string, ds *datasets.Dataset) (*HeldOut, error) {
	if f.none() {
		return nil, arguments.NoFit(verb)
	}
	raw := f.Description.source()
	if err := sameScale(verb, raw, ds); err != nil {
		return nil, err
	}
	h, err := f.heldOut(context.Background(), ds)
	if err == nil && h.Classes == nil {
		err = sameTargets(verb, raw, ds)
	}
	return h, err
}

func (f *PipeFit) heldOut(ctx context.Context, ds *datasets.Dataset) (*HeldOut, error) {
	if err := missingAllowed(ds); err != nil {
		return nil, err
	}
	p, err := f.transform(ctx, "Evaluate", pointsOf(ds))
	if err != nil {
		return nil, err
	}
	return f.last.heldOut(ctx, &datasets.Dataset{Name: ds.Name, X: p.x, Sparse: (*datasets.CSR)(p.sparse), Y: ds.Y, Target: ds.Target, Classes: ds.Classes})
}

// Markdown is the summary of what the learner became.
func (f *PipeFit) Markdown() string {
	if f.none() {
		return arguments.NoFit("Markdown").Error()
	}
	s := say.Code(f.Description.String()) + "\n"
	if m, ok := f.last.(interface{ Markdown() string }); ok {
		s += "\n" + m.Markdown()
	}
	return s
}

// Show displays the figures of what the learner became, over the transformed points;
// without any, its summary in words.
func (f *PipeFit) Show(figures ...Figure) {
	if f.none() {
		Show(arguments.NoFit("Show"))
		return
	}
	if len(figures) == 0 {
		Show(f)
		return
	}
	Show(charts(f.last, figures)...)
}
