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
	"time"

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
	steps  *[]transform.Part // never changed after Pipe; each is a transform.Step or a transform.TableStep
	target *transform.TargetScaling
	last   learn.Learner
	err    error
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
			if part.target != nil {
				p.targets(*part.target)
			}
		case Learner:
			p.last = part.Learning()
		case transform.TargetScaling:
			p.targets(part)
			continue
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

// targets notes the transformation of the targets.
func (p *Pipeline) targets(t transform.TargetScaling) {
	if p.target != nil {
		p.err = errors.Join(p.err, arguments.Wrong("Pipe", math.NaN(), "the targets are transformed twice, by %v and %v; a pipeline has one such part, as in LogTarget().Standardised()", *p.target, t))
	}
	p.target = &t
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
	if p.target != nil {
		parts = append(parts, p.target.String())
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

// MustFit is Fit for a notebook cell; see [svmnb.Classifier.MustFit]. When fitting the steps
// takes long, a line says which one is being fitted; then the learner shows its own progress.
func (p Pipeline) MustFit() *PipeFit { return p.must(false) }

// Keep is MustFit that stores the result of the learner on disk, as Keep of the learner does;
// see [svmnb.Classifier.Keep]. The steps are fitted again, and the result is loaded only if
// they make the same points as before.
func (p Pipeline) Keep() *PipeFit { return p.must(true) }

func (p Pipeline) must(keep bool) *PipeFit {
	p = p.made()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	fit, err := p.prepared(ctx, cells.Progress(time.Second))
	if err != nil {
		cells.Must(err)
	}
	cell, ok := fit.learner(p).(learn.InCell)
	if ok {
		stop() // the learner has its own handler, which returns the fit so far
		return fit.with(p, cell.InCell(keep))
	}
	fit, err = fit.again(ctx, p, nil)
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
	if w != nil && w.Piped != nil { // the steps are already fitted to these points
		if err := p.Learning().Fault(); err != nil {
			return nil, err
		}
		return w.Piped.(*PipeFit).again(ctx, p, w)
	}
	fit, err := p.prepared(ctx, nil)
	if err != nil {
		return nil, err
	}
	if w != nil {
		w.Piped = fit
	}
	return fit.again(ctx, p, w)
}

// prepared fits the steps and transforms the training points and targets, but does not train
// the learner. show, which may be nil, shows a line about the progress.
func (p Pipeline) prepared(ctx context.Context, show func(line string, last bool)) (*PipeFit, error) {
	if err := p.Learning().Fault(); err != nil {
		return nil, err
	}
	raw := p.Data()
	if err := steps.CheckMissing(raw); err != nil {
		return nil, err
	}
	fit := &PipeFit{Description: p, raw: raw}
	data := &datasets.Dataset{Name: raw.Name, X: raw.X, Sparse: raw.Sparse, Table: raw.Table, Y: raw.Y, Features: raw.Features, Target: raw.Target, Classes: raw.Classes, TargetScalings: raw.TargetScalings}
	if p.target != nil {
		var err error
		if fit.target, data.Y, err = p.target.FitTarget(raw); err != nil {
			return nil, fmt.Errorf("svmnb: Pipe: %w", err)
		}
	}
	for i, s := range *p.steps {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("svmnb: Pipe: %w", context.Cause(ctx))
		}
		if show != nil {
			show(fmt.Sprintf("pipeline: step %d of %d, %v", i+1, len(*p.steps), say.Escaped(say.Brief(s.String()))), false)
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
	fit.data = numbers.In(data)
	if show != nil {
		show(fmt.Sprintf("pipeline: the steps are fitted, %d points of %d features", fit.data.N(), fit.data.D()), true)
	}
	return fit, nil
}

// learner returns the learner of p for the points that the steps of f have transformed.
func (f *PipeFit) learner(p Pipeline) learn.Learner {
	rows := make([]int, f.data.N())
	for i := range rows {
		rows[i] = i
	}
	behind := steps.NewPassage(p.Data(), f.steps).WithTarget(p.Data(), f.target)
	return p.last.With(f.data, rows).After(behind)
}

// again trains the learner of p on the points that the steps of f have transformed.
func (f *PipeFit) again(ctx context.Context, p Pipeline, w *learn.Warmth) (*PipeFit, error) {
	last, err := f.learner(p).Train(ctx, w)
	if last == nil {
		return nil, err
	}
	return f.with(p, last), err
}

// with returns the fit of p with the steps of f and the trained learner.
func (f *PipeFit) with(p Pipeline, last learn.Fit) *PipeFit {
	fit := *f
	fit.Description, fit.last = p, last
	fit.inner = sync.OnceValue(func() *model.Model { return last.Model().Transformed() })
	return &fit
}

// PipeFit is a fitted pipeline. It takes raw points.
type PipeFit struct {
	Description Pipeline

	raw    *datasets.Dataset
	steps  []steps.Fitted
	target *steps.TargetMap  // nil if the targets are not transformed
	data   *datasets.Dataset // the transformed training points and targets
	last   learn.Fit
	inner  func() *model.Model // the model of last, for transformed points
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
	if names, ok := widened(f, verb, p, (*model.Model).Predict); ok {
		return names, nil
	}
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
	if !f.none() && (len(f.inner().Inside().Classes) == 0 || len(f.inner().Inside().Terms) == 1) {
		if values, ok := widened(f, verb, p, (*model.Model).Values); ok {
			return values, nil
		}
	}
	m, p, err := f.entered(verb, p)
	if err != nil {
		return nil, err
	}
	if len(m.Inside().Classes) > 0 && len(m.Inside().Terms) != 1 {
		return nil, arguments.Wrong(verb, math.NaN(), "the pipeline ends in a classifier of several machines; say Predict for its classes, or Model().Decisions for the values of all machines")
	}
	return m.Values(p)
}

// widened predicts for many points whose features take more memory than they do: it makes these
// for some points at a time. ok is false for other points and after an error.
func widened[T any](f *PipeFit, verb string, p points.Points, predict func(*model.Model, datasets.Points) ([]T, error)) (all []T, ok bool) {
	if f.none() {
		return nil, false
	}
	b := steps.Raw(f.raw, f.steps)
	if !b.Widens(p.N()) {
		return nil, false
	}
	m := f.inner()
	err := b.Blocks(context.Background(), verb, "pipeline", p, func(_ int, p points.Points) error {
		some, err := predict(m, p)
		all = append(all, some...)
		return err
	})
	return all, err == nil
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

// Interval returns, for each of m raw points, the interval in which a new target is with the
// probability share, noise included, in units of the raw targets. The pipeline must end in a
// Gaussian process; its interval is that of gp.Belief.Interval, and after transform.LogTarget
// the exponentials of its ends.
func (f *PipeFit) Interval(x datasets.Points, share float64) (low, high []float64, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, nil, arguments.NoFit("Interval")
	}
	ranged, ok := f.last.(learn.Ranged)
	switch {
	case !ok:
		return nil, nil, arguments.Wrong("Interval", math.NaN(), "a %T says nothing of the noise of its targets; end the pipeline in gp.Regress(data)", f.last.Fit())
	case !(share > 0 && share < 1):
		return nil, nil, arguments.Wrong("Interval", share, "the share is %v; it must be between 0 and 1, such as 0.95", share)
	}
	at, err := f.Transform(x)
	if err != nil {
		return nil, nil, err
	}
	if low, high, err = ranged.Interval(context.Background(), at, share); err != nil {
		return nil, nil, err
	}
	for i := range low {
		low[i], high[i] = f.target.Invert(low[i]), f.target.Invert(high[i])
	}
	return low, high, nil
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
	if h := f.heldOutWidened(ctx, ds); h != nil {
		return h, nil
	}
	p, err := f.transform(ctx, "Evaluate", points.Of(ds))
	if err != nil {
		return nil, err
	}
	transformed := &datasets.Dataset{Name: ds.Name, X: p.X, Sparse: (*datasets.CSR)(p.Sparse), Y: ds.Y, Features: f.data.Features, Target: ds.Target, Classes: ds.Classes}
	if f.target == nil {
		return f.last.HeldOut(ctx, transformed)
	}
	return f.heldOutTargets(ctx, transformed)
}

// heldOutWidened is heldOut for many points whose features take more memory than they do: it
// makes these for some points at a time. It returns nil for other points and after an error.
func (f *PipeFit) heldOutWidened(ctx context.Context, ds *datasets.Dataset) *learn.HeldOut {
	b := steps.Raw(f.raw, f.steps)
	if f.target != nil || len(ds.Y) != ds.N() || !b.Widens(ds.N()) {
		return nil
	}
	var all *learn.HeldOut
	err := b.Blocks(ctx, "Evaluate", "pipeline", points.Of(ds), func(from int, p points.Points) error {
		h, err := f.last.HeldOut(ctx, &datasets.Dataset{Name: ds.Name, X: p.X, Sparse: (*datasets.CSR)(p.Sparse), Y: ds.Y[from : from+p.N() : from+p.N()], Features: f.data.Features, Target: ds.Target, Classes: ds.Classes})
		switch {
		case err != nil:
			return err
		case all == nil:
			all = h
			return nil
		}
		all.Truth, all.Predicted, all.SD = append(all.Truth, h.Truth...), append(all.Predicted, h.Predicted...), append(all.SD, h.SD...)
		if e, ok := all.Classes.(*svmnb.Evaluation); ok {
			more := h.Classes.(*svmnb.Evaluation)
			e.Truth, e.Predicted = append(e.Truth, more.Truth...), append(e.Predicted, more.Predicted...)
			e.Scores, e.Probabilities = append(e.Scores, more.Scores...), append(e.Probabilities, more.Probabilities...)
		}
		return nil
	})
	if err != nil {
		return nil
	}
	return all
}

// heldOutTargets is the last part of heldOut where targets are transformed. A target that has
// no logarithm is impossible under the fit: its density is 0.
func (f *PipeFit) heldOutTargets(ctx context.Context, data *datasets.Dataset) (*learn.HeldOut, error) {
	truth := data.Y
	data.Y = make([]float64, len(truth))
	possible := make([]bool, len(truth))
	for i, y := range truth {
		if t := f.target.Apply(y); !math.IsNaN(t) {
			data.Y[i], possible[i] = t, true
		}
	}
	h, err := f.last.HeldOut(ctx, data)
	if err != nil {
		return nil, err
	}
	out := &learn.HeldOut{Truth: truth}
	for i, v := range h.Predicted {
		out.Predicted = append(out.Predicted, f.target.Invert(v))
		if h.SD == nil {
			continue
		}
		density := math.Inf(-1)
		if possible[i] {
			z := (data.Y[i] - v) / h.SD[i]
			density = -z*z/2 - math.Log(h.SD[i]) - math.Log(2*math.Pi)/2 + f.target.LogSlope(truth[i])
		}
		out.LogDensity = append(out.LogDensity, density)
		if !f.target.Log {
			out.SD = append(out.SD, f.target.Width*h.SD[i])
		}
	}
	return out, nil
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
