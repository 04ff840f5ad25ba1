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
	"sync"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/cells"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
	"github.com/svmnb/svmnb/svmnb/model"
	"github.com/svmnb/svmnb/svmnb/transform"
)

// Learner is a description that can be trained on some rows of its data and measured on the
// others: a [svmnb.Classifier], a [svmnb.MultiClassifier], a [svmnb.Regressor], a
// gp.Process, or a [Pipeline] that ends in one of them.
type Learner interface {
	transform.Part
	Learning() learn.Learner // for packages selection and play
}

// Pipeline is a sequence of steps with a learner at its end. It is a description: nothing
// is computed before Fit, MustFit, CrossValidate or a Search.
type Pipeline struct {
	steps *[]transform.Part // never changed after Pipe; each is a transform.Step or a transform.TableStep
	last  learn.Learner
	err   error
}

// Pipe makes a pipeline from steps, in the order in which they are applied, and a learner,
// whose data are the raw points.
//
//	selection.Pipe(transform.Standardise(), svmnb.Classify(data).C(10)).MustFit()
//
// The steps are fitted to training points only, within folds too. Scaling all points before
// the split would let held-out points influence the training.
func Pipe(parts ...transform.Part) Pipeline {
	p := Pipeline{steps: new([]transform.Part)}
	for i, part := range parts {
		switch part := part.(type) {
		case Pipeline:
			part = part.made()
			p.err = errors.Join(p.err, part.err)
			*p.steps = append(*p.steps, *part.steps...)
			p.last = part.last
		case Learner:
			p.last = part.Learning()
		case transform.Step, transform.TableStep:
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
		p.last = svmnb.Classify(&datasets.Dataset{}).Learning()
	}
	return p
}

// pipeOf returns l itself if it is a pipeline, otherwise a pipeline without steps that ends
// in l.
func pipeOf(l learn.Learner) Pipeline {
	if p, ok := l.Description().(Pipeline); ok {
		return p
	}
	return Pipeline{steps: new([]transform.Part), last: l}
}

// String returns the call that makes the pipeline.
func (p Pipeline) String() string {
	p = p.made()
	var parts []string
	for _, s := range *p.steps {
		parts = append(parts, s.String())
	}
	return "Pipe(" + strings.Join(append(parts, p.last.String()), ", ") + ")"
}

// Fit fits the steps one after the other, each to the training points as the steps before
// it have transformed them, and then trains the learner. Errors and interrupts are those of
// the learner's Fit.
func (p Pipeline) Fit(ctx context.Context) (_ *PipeFit, err error) {
	defer guard.Caught(&err)
	if err := arguments.Given(ctx, "Fit"); err != nil {
		return nil, err
	}
	fit, err := p.fit(ctx, nil)
	if fit == nil {
		return nil, err
	}
	return fit, err
}

// MustFit is Fit for a notebook cell; see [svmnb.Classifier.MustFit].
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

// made returns p. For the zero value it returns Pipe(), whose error says that there is no
// learner.
func (p Pipeline) made() Pipeline {
	if p.steps == nil {
		return Pipe()
	}
	return p
}

// Data returns the data set of the learner, whose points are raw.
func (p Pipeline) Data() *datasets.Dataset { return p.made().last.Data() }

// Learning returns what packages selection and play need of the description.
func (p Pipeline) Learning() learn.Learner { return piping{p.made()} }

type (
	piping struct{ Pipeline }
	piped  struct{ fit *PipeFit }
)

func (p piping) Fault() error           { return errors.Join(p.err, p.last.Fault()) }
func (p piping) Measure() learn.Measure { return p.last.Measure() }
func (p piping) Description() any       { return p.Pipeline }
func (p piping) Detail() any            { return []any{fmt.Sprintf("%#v", *p.steps), p.last.Detail()} }

func (p piping) With(data *datasets.Dataset, rows []int) learn.Learner {
	p.last = p.last.With(data, rows)
	return p
}

// After implements learn.Learner. It is never called for a Pipeline, since Pipe takes the
// steps and the learner out of a Pipeline that is its last part.
func (p piping) After(b *steps.Passage) learn.Learner { p.last = p.last.After(b); return p }

func (p piping) Parameters() string {
	s := p.last.Parameters()
	for _, step := range *p.steps {
		if _, ok := step.(transform.Tunable); ok {
			s += ", those of " + step.String()
		}
	}
	return s
}

// Set sets the parameter of the learner or, if the learner has none of this name, of a
// step. A prefix chooses the step: "pca.components".
func (p piping) Set(name string, value float64) (learn.Learner, bool) {
	if last, known := p.last.Set(name, value); known {
		p.last = last
		return p, true
	}
	of, own, prefixed := strings.Cut(name, ".")
	for i, s := range *p.steps {
		call, _, _ := strings.Cut(s.String(), "(")
		t, ok := s.(transform.Tunable)
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

func (p piping) Train(ctx context.Context, w *learn.Warmth) (learn.Fit, error) {
	fit, err := p.fit(ctx, w)
	if fit == nil {
		return nil, err
	}
	return piped{fit}, err
}

func (f piped) Fit() any            { return f.fit }
func (f piped) Model() *model.Model { return f.fit.Model() }

func (f piped) HeldOut(ctx context.Context, data *datasets.Dataset) (*learn.HeldOut, error) {
	return f.fit.heldOut(ctx, data)
}

func (p Pipeline) fit(ctx context.Context, w *learn.Warmth) (*PipeFit, error) {
	if err := p.Learning().Fault(); err != nil {
		return nil, err
	}
	raw := p.Data()
	if err := steps.CheckMissing(raw); err != nil {
		return nil, err
	}
	if w != nil && w.Piped != nil { // the steps are already fitted to these points
		return w.Piped.(*PipeFit).again(ctx, p, w)
	}
	fit := &PipeFit{Description: p, raw: raw}
	data := &datasets.Dataset{Name: raw.Name, X: raw.X, Sparse: raw.Sparse, Table: raw.Table, Y: raw.Y, Features: raw.Features, Target: raw.Target, Classes: raw.Classes, TargetScalings: raw.TargetScalings}
	for i, s := range *p.steps {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("svmnb: Pipe: %w", context.Cause(ctx))
		}
		wrong := func(err error) error { return fmt.Errorf("svmnb: Pipe: step %d, %v: %w", i+1, s, err) }
		t, err := transform.Fit(ctx, s, data)
		if err != nil {
			return nil, wrong(err)
		}
		next, err := steps.Through(ctx, steps.Of(data), t)
		if err == nil && next.N() != data.N() {
			err = arguments.Wrong("Pipe", float64(next.N()), "it makes %d rows of %d; a step keeps the number of points", next.N(), data.N())
		}
		if err != nil {
			return nil, wrong(err)
		}
		data = next.In(data)
		fit.steps = append(fit.steps, t)
	}
	numbers, err := steps.Of(data).AsNumbers()
	if err != nil {
		return nil, err
	}
	data = numbers.In(data)
	fit.data = data
	if w != nil {
		w.Piped = fit
	}
	return fit.again(ctx, p, w)
}

// again trains the learner of p on the points that the steps of f have transformed.
func (f *PipeFit) again(ctx context.Context, p Pipeline, w *learn.Warmth) (*PipeFit, error) {
	rows := make([]int, f.data.N())
	for i := range rows {
		rows[i] = i
	}
	behind := steps.NewPassage(p.Data(), f.steps)
	last, err := p.last.With(f.data, rows).After(behind).Train(ctx, w)
	if last == nil {
		return nil, err
	}
	fit := &PipeFit{Description: p, raw: f.raw, steps: f.steps, data: f.data, last: last}
	fit.inner = sync.OnceValue(func() *model.Model { return last.Model().Transformed() })
	return fit, err
}

// PipeFit is a fitted pipeline. It takes raw points.
type PipeFit struct {
	Description Pipeline

	raw   *datasets.Dataset
	steps []steps.Fitted
	data  *datasets.Dataset // the transformed training points
	last  learn.Fit
	inner func() *model.Model // the model of last, for transformed points
}

// Fit returns the fit of the learner: a [*svmnb.Fit], a [*svmnb.MultiFit], a
// [*svmnb.RegressionFit] or a *gp.Fit. Its figures, tables and support vectors are those of
// the transformed points. It refuses to predict for points and data sets, since it cannot
// see whether the steps were applied to them. Its Model contains the steps and takes raw
// points.
func (f *PipeFit) Fit() any {
	if f.none() {
		return nil
	}
	return f.last.Fit()
}

// Model returns the model of the pipeline: the fitted steps and the fitted learner. It
// takes raw points, and its predictions are those of the pipeline, bit for bit.
func (f *PipeFit) Model() *model.Model {
	if f == nil || f.last == nil {
		return nil
	}
	return f.last.Model()
}

// Calibrate learns probabilities for a classifier at the end of the pipeline; see
// [svmnb.Fit.Calibrate]. The result takes raw points, as the pipeline does, and its Model
// has the steps. The folds share the steps, which were fitted to all training points.
func (f *PipeFit) Calibrate(ctx context.Context, how svmnb.Calibration) (_ *svmnb.Calibrated, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Calibrate")
	}
	of, ok := f.last.Fit().(interface {
		Calibrate(ctx context.Context, how svmnb.Calibration) (*svmnb.Calibrated, error)
	})
	if !ok {
		return nil, arguments.Wrong("Calibrate", math.NaN(), "a %T has no classes, so it has no probabilities to learn", f.last.Fit())
	}
	c, err := of.Calibrate(ctx, how)
	return c.Raw(), err
}

// MustCalibrate is Calibrate for a notebook cell; see [svmnb.Fit.MustCalibrate].
func (f *PipeFit) MustCalibrate(how svmnb.Calibration) *svmnb.Calibrated {
	if f.none() {
		cells.Must(arguments.NoFit("MustCalibrate"))
	}
	of, ok := f.last.Fit().(interface {
		MustCalibrate(how svmnb.Calibration) *svmnb.Calibrated
	})
	if !ok {
		cells.Must(arguments.Wrong("MustCalibrate", math.NaN(), "a %T has no classes, so it has no probabilities to learn", f.last.Fit()))
	}
	return of.MustCalibrate(how).Raw()
}

// Transform applies the steps to m raw points and returns m rows. Sparse points become
// dense.
func (f *PipeFit) Transform(x datasets.Points) (_ [][]float64, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Transform")
	}
	p, err := f.transform(context.Background(), "Transform", points.From(x))
	if err != nil || p.Sparse == nil {
		return p.X, err
	}
	d := (&datasets.Dataset{Name: "points", Sparse: p.Sparse, Y: make([]float64, p.N())}).Dense()
	return d.X, d.Check()
}

func (f *PipeFit) transform(ctx context.Context, verb string, p points.Points) (points.Points, error) {
	return steps.Raw(f.raw, f.steps).Apply(ctx, verb, "pipeline", p)
}

// Predict returns the class names of m raw points. Errors are those of Transform and of the
// fit's Predict. If the pipeline ends in a regression, Predict returns an error that
// suggests Values.
func (f *PipeFit) Predict(x datasets.Points) (_ []string, err error) {
	defer guard.Caught(&err)
	return f.predict("Predict", points.From(x))
}

func (f *PipeFit) predict(verb string, p points.Points) ([]string, error) {
	m, p, err := f.entered(verb, p)
	if err != nil {
		return nil, err
	}
	return m.Predict(p)
}

// Values returns one value for each of m raw points: the predicted target of a regression
// or process, or the decision value of a classifier for two classes.
func (f *PipeFit) Values(x datasets.Points) (_ []float64, err error) {
	defer guard.Caught(&err)
	return f.values("Values", points.From(x))
}

func (f *PipeFit) values(verb string, p points.Points) ([]float64, error) {
	m, p, err := f.entered(verb, p)
	if err != nil {
		return nil, err
	}
	if len(m.Inside().Classes) > 0 && len(m.Inside().Terms) != 1 {
		return nil, arguments.Wrong(verb, math.NaN(), "the pipeline ends in a classifier of several machines; say Predict for its classes, or Model().Decisions for the values of all machines")
	}
	return m.Values(p)
}

// entered returns the model for transformed points, and the points transformed by the
// steps.
func (f *PipeFit) entered(verb string, p points.Points) (*model.Model, points.Points, error) {
	if f.none() {
		return nil, p, arguments.NoFit(verb)
	}
	p, err := f.transform(context.Background(), verb, p)
	if err != nil {
		return nil, p, err
	}
	return f.inner(), p, nil
}

// Evaluate compares the predicted classes of the raw points in ds with the true ones; see
// [svmnb.Fit.Evaluate].
func (f *PipeFit) Evaluate(ds *datasets.Dataset) (_ *svmnb.Evaluation, err error) {
	defer guard.Caught(&err)
	h, err := f.asked("Evaluate", ds)
	if err != nil {
		return nil, err
	}
	if h.Classes == nil {
		return nil, arguments.Wrong("Evaluate", math.NaN(), "a %T predicts real values, which have no classes to count; measure them by Score", f.last.Fit())
	}
	return h.Classes, nil
}

// Score measures the fit on the raw points in ds by the measure of the learner: accuracy
// for a classifier, RMSE for a regression, NLPD for a Gaussian process.
func (f *PipeFit) Score(ds *datasets.Dataset) (_ float64, err error) {
	defer guard.Caught(&err)
	h, err := f.asked("Score", ds)
	if err != nil {
		return 0, err
	}
	return measureOf(f.Description.Learning()).Of(h)
}

// asked returns what f predicts for a user's data set, after checking how the set was
// scaled.
func (f *PipeFit) asked(verb string, ds *datasets.Dataset) (*HeldOut, error) {
	if f.none() {
		return nil, arguments.NoFit(verb)
	}
	raw := f.Description.Data()
	if err := steps.SameScale(verb, raw, ds); err != nil {
		return nil, err
	}
	held, err := f.heldOut(context.Background(), ds)
	h := heldOutOf(held)
	if err == nil && h.Classes == nil {
		err = steps.SameTargets(verb, raw, ds)
	}
	return h, err
}

func (f *PipeFit) heldOut(ctx context.Context, ds *datasets.Dataset) (*learn.HeldOut, error) {
	if err := steps.CheckMissing(ds); err != nil {
		return nil, err
	}
	p, err := f.transform(ctx, "Evaluate", points.Of(ds))
	if err != nil {
		return nil, err
	}
	return f.last.HeldOut(ctx, &datasets.Dataset{Name: ds.Name, X: p.X, Sparse: (*datasets.CSR)(p.Sparse), Y: ds.Y, Features: f.data.Features, Target: ds.Target, Classes: ds.Classes})
}

// Markdown returns the summary of the learner's fit.
func (f *PipeFit) Markdown() string {
	if f.none() {
		return arguments.NoFit("Markdown").Error()
	}
	s := say.Code(f.Description.String()) + "\n"
	if m, ok := f.last.Fit().(interface{ Markdown() string }); ok {
		s += "\n" + m.Markdown()
	}
	return s
}

// Show displays the given figures of the learner's fit, over the transformed points.
// Without figures it displays the summary.
func (f *PipeFit) Show(figures ...display.Figure) {
	if len(figures) == 0 || f.none() {
		display.ShowFit(f, nil)
		return
	}
	display.ShowFit(f.last.Fit(), figures)
}

func (f *PipeFit) none() bool { return f == nil || f.last == nil }
