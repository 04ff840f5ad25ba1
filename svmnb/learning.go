package svmnb

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/schemes"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
	"github.com/svmnb/svmnb/svmnb/internal/tune"
	"github.com/svmnb/svmnb/svmnb/model"
)

// Learning returns what packages selection and play need of the description.
func (c Classifier) Learning() learn.Learner { return classifying{c} }

// Learning returns what packages selection and play need of the description.
func (m MultiClassifier) Learning() learn.Learner { return multiClassifying{m} }

// Learning returns what packages selection and play need of the description.
func (r Regressor) Learning() learn.Learner { return regressing{r} }

// These types implement the interfaces of package learn: the first three for descriptions,
// the others for their fits.
type (
	classifying      struct{ Classifier }
	multiClassifying struct{ MultiClassifier }
	regressing       struct{ Regressor }

	classified      struct{ fit *Fit }
	multiClassified struct{ fit *MultiFit }
	regressed       struct{ fit *RegressionFit }
	calibrated      struct{ fit *Calibrated }
)

// Learnt returns what package play needs of the fit.
func (f *Fit) Learnt() learn.Fit { return classified{f} }

// Learnt returns what package play needs of the fit.
func (f *RegressionFit) Learnt() learn.Fit { return regressed{f} }

// Learnt returns what package selection needs of the fit.
func (c *Calibrated) Learnt() learn.Fit { return calibrated{c} }

func (f classified) Fit() any      { return f.fit }
func (f multiClassified) Fit() any { return f.fit }
func (f regressed) Fit() any       { return f.fit }
func (f calibrated) Fit() any      { return f.fit }

func (f classified) Model() *model.Model      { return f.fit.Model() }
func (f multiClassified) Model() *model.Model { return f.fit.Model() }
func (f regressed) Model() *model.Model       { return f.fit.Model() }

func (f calibrated) Model() *model.Model { return f.fit.Model() }

// classified and calibrated implement learn.Scored too.

func (f classified) Scores(verb string, x datasets.Points) ([]float64, error) {
	return f.fit.expansion.At(verb, "classifier", points.From(x))
}

func (f classified) Evaluated(ds *datasets.Dataset) (any, error) { return f.fit.Evaluate(ds) }

func (f calibrated) Scores(verb string, x datasets.Points) ([]float64, error) {
	values, err := f.fit.values(verb, points.From(x))
	scores := make([]float64, len(values))
	for i, v := range values {
		scores[i] = f.fit.probabilities(v)[1]
	}
	return scores, err
}

func (f calibrated) HeldOut(_ context.Context, data *datasets.Dataset) (*learn.HeldOut, error) {
	c := f.fit
	e, err := newEvaluation("Evaluate", data, fmt.Sprintf("%s · %v", c.words, c.how), c.classes...)
	if err != nil {
		return nil, err
	}
	values, err := c.here("Evaluate", points.Of(data))
	if err != nil {
		return nil, err
	}
	e.add(c, values)
	return &learn.HeldOut{Classes: e}, nil
}

func (f calibrated) Evaluated(ds *datasets.Dataset) (any, error) { return f.fit.Evaluate(ds) }

// The descriptions implement learn.InCell.

func (c classifying) InCell(keep bool) learn.Fit {
	if keep {
		return classified{c.Keep()}
	}
	return classified{c.MustFit()}
}

func (m multiClassifying) InCell(keep bool) learn.Fit { return multiClassified{m.must(keep)} }

func (r regressing) InCell(keep bool) learn.Fit {
	if keep {
		return regressed{r.Keep()}
	}
	return regressed{r.MustFit()}
}

// Data returns the training data.
func (c Classifier) Data() *datasets.Dataset { return c.data }

func (c classifying) Fault() error           { return c.faults.Err() }
func (c classifying) Measure() learn.Measure { return learn.Accuracy }
func (c classifying) Description() any       { return c.Classifier }
func (c classifying) Detail() any            { return c.weights.all() }

func (w *weights) all() any {
	if w == nil {
		return nil
	}
	return *w
}

func (c classifying) With(data *datasets.Dataset, rows []int) learn.Learner {
	return classifying{c.given(data, rows)}
}

func (c Classifier) given(data *datasets.Dataset, rows []int) Classifier {
	c.data = data
	if c.weights != nil && c.weights.sample != nil {
		c.weights = &weights{c.weights.class, learn.Chosen(c.weights.sample, rows)}
	}
	return c
}

func (c classifying) After(p *steps.Passage) learn.Learner { c.after(p); return c }

func (c classifying) Parameters() string {
	return "C, nu, tau2, tol, ClassWeight.<class> and those of the kernel: " + tune.Parameters(c.kernel)
}

func (c classifying) Set(name string, v float64) (learn.Learner, bool) {
	if class, ok := strings.CutPrefix(name, "ClassWeight."); ok {
		return classifying{c.ClassWeight(class, v)}, true
	}
	switch strings.ToLower(name) {
	case "c":
		if c.margin != oneNorm && c.margin != twoNorm {
			c.faults.Said("C", arguments.Wrong("C", v, "a machine of ν or of the hard margin has no C; search nu, or leave it out"))
			return c, true
		}
		return classifying{c.C(v)}, true
	case "nu":
		return classifying{c.Nu(v)}, true
	}
	known := c.machine.set(name, v)
	return c, known
}

// set sets a parameter that all machines have.
func (m *machine) set(name string, v float64) bool {
	switch strings.ToLower(name) {
	case "tau2":
		m.augment(v)
	case "tol":
		m.setTol(v)
	default:
		k, known := tune.Kernel(m.kernel, name, v)
		if known {
			m.setKernel(k)
		}
		return known
	}
	return true
}

func (c classifying) Train(ctx context.Context, w *learn.Warmth) (learn.Fit, error) {
	var fit *Fit
	var err error
	if w == nil {
		fit, err = c.Fit(ctx)
	} else {
		if c.cache == 0 {
			c.cache = w.Bytes
		}
		fit, err = c.warmFit(ctx, w, 0, nil)
	}
	if fit == nil {
		return nil, err
	}
	return classified{fit}, err
}

// warmFit is Fit that starts from run number i of w. It uses the matrix shared unless that
// is nil.
func (c Classifier) warmFit(ctx context.Context, w *learn.Warmth, i int, shared *sharedGram) (*Fit, error) {
	t, err := c.prepare()
	if err != nil {
		return nil, err
	}
	if shared != nil {
		t.problem.K = &askedFor{sharedGram: shared}
	}
	if t.margin == nuSoft || t.margin.alone() {
		return t.solve(ctx) // another ν has another feasible set, so the old α is no start
	}
	res, err := w.Solve(ctx, t.problem, t.method, solvers.Settings{Stop: t.stop, MaxIterations: t.limit}, i)
	if res == nil {
		return nil, err
	}
	t.k = t.problem.K
	return t.fit(res), err
}

func (f classified) HeldOut(_ context.Context, data *datasets.Dataset) (*learn.HeldOut, error) {
	e, err := f.fit.evaluate(data)
	return &learn.HeldOut{Classes: e}, err
}

// Data returns the training data.
func (m MultiClassifier) Data() *datasets.Dataset { return m.base.data }

func (m multiClassifying) Fault() error           { return m.base.faults.Err() }
func (m multiClassifying) Measure() learn.Measure { return learn.Accuracy }
func (m multiClassifying) Description() any       { return m.MultiClassifier }
func (m multiClassifying) Detail() any            { return classifying{m.base}.Detail() }
func (m multiClassifying) Parameters() string     { return classifying{m.base}.Parameters() }

func (m multiClassifying) With(data *datasets.Dataset, rows []int) learn.Learner {
	m.base = m.base.given(data, rows)
	return m
}

func (m multiClassifying) After(p *steps.Passage) learn.Learner { m.base.after(p); return m }

func (m multiClassifying) Set(name string, v float64) (learn.Learner, bool) {
	base, known := classifying{m.base}.Set(name, v)
	m.base = base.(classifying).Classifier
	return m, known
}

func (m multiClassifying) Train(ctx context.Context, w *learn.Warmth) (learn.Fit, error) {
	var fit *MultiFit
	var err error
	if w == nil || m.scheme == schemes.CrammerSinger {
		fit, err = m.Fit(ctx)
	} else {
		fit, err = m.warmFit(ctx, w)
	}
	if fit == nil {
		return nil, err
	}
	return multiClassified{fit}, err
}

// warmFit trains the machines one after the other, since searches already run in parallel.
func (m MultiClassifier) warmFit(ctx context.Context, w *learn.Warmth) (*MultiFit, error) {
	began := time.Now()
	if m.base.cache == 0 {
		m.base.cache = w.Bytes
	}
	t, err := m.prepare()
	if err != nil {
		return nil, err
	}
	fits, rows := make([]*Fit, len(t.duels)), make([][]int, len(t.duels))
	for k, duel := range t.duels {
		var c Classifier
		c, rows[k] = t.machine(duel)
		c.cache = max(1, t.memory()/int64(len(t.duels)))
		if fits[k], err = c.warmFit(ctx, w, k, t.shared); err != nil {
			return nil, fmt.Errorf("%s: %w", t.duelName(k), err)
		}
	}
	return t.fit(fits, rows, time.Since(began)), nil
}

func (f multiClassified) HeldOut(_ context.Context, data *datasets.Dataset) (*learn.HeldOut, error) {
	e, err := f.fit.evaluate("Evaluate", data)
	return &learn.HeldOut{Classes: e}, err
}

// Data returns the training data.
func (r Regressor) Data() *datasets.Dataset { return r.data }

func (r regressing) Fault() error { return r.faults.Err() }

func (r regressing) Measure() learn.Measure {
	if r.loss == pinballLoss {
		return learn.Pinball(r.tau)
	}
	return learn.RMSE
}
func (r regressing) Description() any { return r.Regressor }

func (r regressing) Detail() any {
	if r.sample == nil {
		return nil
	}
	return *r.sample
}

func (r regressing) With(data *datasets.Dataset, rows []int) learn.Learner {
	return regressing{r.given(data, rows)}
}

func (r Regressor) given(data *datasets.Dataset, rows []int) Regressor {
	r.data = data
	if r.sample != nil {
		w := learn.Chosen(*r.sample, rows)
		r.sample = &w
	}
	return r
}

func (r regressing) After(p *steps.Passage) learn.Learner { r.after(p); return r }

func (r regressing) Parameters() string {
	return "C, epsilon, nu, lambda, quantile, delta, tau2, tol and those of the kernel: " + tune.Parameters(r.kernel)
}

func (r regressing) Set(name string, v float64) (learn.Learner, bool) {
	switch strings.ToLower(name) {
	case "c":
		if r.loss == ridge {
			r.faults.Said("C", arguments.Wrong("C", v, "ridge regression has no C; search lambda"))
			return r, true
		}
		return regressing{r.C(v)}, true
	case "epsilon":
		if r.loss != linearLoss && r.loss != quadraticLoss {
			r.faults.Said("Epsilon", arguments.Wrong("Epsilon", v, "this loss has no ε to choose; search lambda of Ridge, nu of Nu, quantile of Quantile or delta of Huber"))
			return r, true
		}
		return regressing{r.Epsilon(v)}, true
	case "nu":
		return regressing{r.Nu(v)}, true
	case "lambda":
		return regressing{r.Ridge(v)}, true
	case "quantile":
		return regressing{r.Quantile(v)}, true
	case "delta":
		return regressing{r.Huber(v)}, true
	}
	known := r.machine.set(name, v)
	return r, known
}

func (r regressing) Train(ctx context.Context, w *learn.Warmth) (learn.Fit, error) {
	if w != nil && r.cache == 0 {
		r.cache = w.Bytes
	}
	if w == nil || r.loss == nuLoss {
		fit, err := r.Fit(ctx)
		if fit == nil {
			return nil, err
		}
		return regressed{fit}, err
	}
	t, err := r.prepare()
	if err != nil {
		return nil, err
	}
	res, err := w.Solve(ctx, t.problem, t.method, solvers.Settings{Stop: t.stop, MaxIterations: t.limit}, 0)
	if res == nil {
		return nil, err
	}
	return regressed{t.fit(res)}, err
}

func (f regressed) HeldOut(_ context.Context, data *datasets.Dataset) (*learn.HeldOut, error) {
	if err := data.Check(); err != nil {
		return nil, err
	}
	y, err := f.fit.expansion.Here("Predict", "regression", points.Of(data))
	return &learn.HeldOut{Truth: data.Y, Predicted: y}, err
}
