package gp

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/parallel"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// ClassifierFit is the approximate posterior of a [Classifier].
type ClassifierFit struct {
	ApproximationRun

	// Description is the Classifier that was solved, with all defaults and the hyperparameters
	// that Optimise found.
	Description Classifier

	Classes      []string      // k names in the order of their targets; of two, the positive one is last
	Elapsed      time.Duration // for the last hyperparameters
	Optimisation *Optimisation // how the hyperparameters were found; nil without Optimise

	task          *classTask
	points        *kernels.Basis
	approximation approximation
}

func (f *ClassifierFit) none() bool { return f == nil || f.task == nil }

func (f *ClassifierFit) ended() (time.Duration, ApproximationRun) {
	return f.Elapsed, f.ApproximationRun
}
func (f *ClassifierFit) found(o *Optimisation) { f.Optimisation = o }

func (f *ClassifierFit) ready(ctx context.Context, call string) error {
	if f.none() {
		return arguments.NoFit(call)
	}
	return arguments.Given(ctx, call)
}

// LogMarginalLikelihood returns the approximation of ln p(y), in nats: by Laplace's
// approximation (Rasmussen and Williams 2006, eq. 3.32) or by EP (eq. 3.65). It is NaN for the
// zero value.
func (f *ClassifierFit) LogMarginalLikelihood() float64 {
	if f.none() {
		return math.NaN()
	}
	return f.approximation.evidence()
}

// Gradient returns the derivatives of the log marginal likelihood with respect to the
// logarithms of the kernel's hyperparameters (Rasmussen and Williams 2006, §5.5), in n³
// operations. The error wraps that of kernels.Hyperparameters if the kernel has none, and
// context.Cause(ctx) when ctx ends early.
func (f *ClassifierFit) Gradient(ctx context.Context) (_ []Partial, err error) {
	defer guard.Caught(&err)
	if err := f.ready(ctx, "Gradient"); err != nil {
		return nil, err
	}
	list, err := kernels.Hyperparameters(f.task.kernel, f.task.data.Features...)
	if err != nil {
		return nil, fmt.Errorf("svmnb: %w", err)
	}
	grad := make([]float64, len(list))
	if err := f.gradient(ctx, grad); err != nil {
		return nil, err
	}
	var partials []Partial
	for i, h := range list {
		partials = append(partials, Partial{Name: h.Name, Value: h.Value, Gradient: Estimate{Value: grad[i]}})
	}
	return partials, nil
}

func (f *ClassifierFit) gradient(ctx context.Context, grad []float64) error {
	return contract(ctx, f.task.kernel, f.task.data.X, grad, f.approximation)
}

// Probability returns, for each of m points, the k probabilities of the classes, in the order
// of Classes. They are means over the posterior of f, so they are nearer to 1/k where the
// training points say little (Rasmussen and Williams 2006, eq. 3.25). For more than two classes
// they are averages over 4,000 draws, always the same, with a standard error below 0.01. Each
// point costs n² multiplications for each latent function.
//
// The error is an *ArgumentError that names the first row with a wrong number of features or
// with NaN or infinity, or it wraps a *kernels.DataError for a point outside the domain of the
// kernel. When ctx ends early, it wraps context.Cause(ctx), and there are no probabilities.
func (f *ClassifierFit) Probability(ctx context.Context, x datasets.Points) (_ [][]float64, err error) {
	defer guard.Caught(&err)
	p := [][]float64(nil)
	err = f.each(ctx, "Probability", x, func(m int) { p = make([][]float64, m) }, func(i int, mean []float64, cov [][]float64) {
		p[i] = f.approximation.probability(mean, cov)
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Predict returns the most probable class for each of m points. Errors are those of
// Probability.
func (f *ClassifierFit) Predict(ctx context.Context, x datasets.Points) ([]string, error) {
	p, err := f.Probability(ctx, x)
	if err != nil {
		return nil, err
	}
	classes := make([]string, len(p))
	for i, p := range p {
		classes[i] = f.Classes[largest(p)]
	}
	return classes, nil
}

func largest(p []float64) (at int) {
	for c, v := range p {
		if v > p[at] {
			at = c
		}
	}
	return at
}

// Latent returns the approximate posterior of f at m points, for two classes: the means and
// variances of f, whose sign tells the classes apart. Noise is 0. Errors are those of
// Probability, and an *ArgumentError for more classes.
func (f *ClassifierFit) Latent(ctx context.Context, x datasets.Points) (_ *Belief, err error) {
	defer guard.Caught(&err)
	if !f.none() && len(f.Classes) != 2 {
		return nil, arguments.Wrong("Latent", float64(len(f.Classes)), "there are %d classes, each with an f of its own; take two of them by Pair(a, b) of the data set, or ask for the Probability", len(f.Classes))
	}
	b := &Belief{}
	err = f.each(ctx, "Latent", x, func(m int) { b.Mean, b.Variance = make([]float64, m), make([]float64, m) }, func(i int, mean []float64, cov [][]float64) {
		b.Mean[i], b.Variance[i] = mean[0], cov[0][0]
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}

// each calls do with the approximate posterior at each of m points, on several goroutines,
// after a call of begin.
func (f *ClassifierFit) each(ctx context.Context, call string, x datasets.Points, begin func(m int), do func(i int, mean []float64, cov [][]float64)) error {
	if err := f.ready(ctx, call); err != nil {
		return err
	}
	rows, err := points.Dense(call, x)
	if err != nil {
		return err
	}
	if err := (&processTask{Process: Process{data: f.task.data, kernel: f.task.kernel}}).check(call, rows); err != nil {
		return err
	}
	if err := f.points.Check(rows); err != nil {
		return fmt.Errorf("svmnb: %s: %w", call, err)
	}
	begin(len(rows))
	cross := make([][]float64, batch)
	for from := 0; from < len(rows); from += batch {
		part := rows[from:min(from+batch, len(rows))]
		for i, p := range part { // a Basis is for one goroutine
			cross[i] = f.points.Row(cross[i], p)
		}
		parallel.Do(len(part), len(part)*len(cross[0])*len(cross[0]), func(i int) {
			if ctx.Err() == nil {
				mean, cov := f.approximation.latent(f.task.kernel.Eval(part[i], part[i]), cross[i])
				do(from+i, mean, cov)
			}
		})
		if ctx.Err() != nil {
			return fmt.Errorf("svmnb: %s: %w", call, context.Cause(ctx))
		}
	}
	return nil
}

// ClassifierEvaluation says how good predictions for m test points are.
type ClassifierEvaluation struct {
	Accuracy float64   // share of points whose most probable class is the true one
	NLPD     float64   // mean of −ln p(true class), in nats
	Truth    []float64 // m probabilities of the true classes
}

// Evaluate predicts the classes of a test set. The error is an *ArgumentError for a class that
// was not in the training data, and otherwise that of Probability.
func (f *ClassifierFit) Evaluate(ctx context.Context, test *datasets.Dataset) (_ *ClassifierEvaluation, err error) {
	defer guard.Caught(&err)
	if err := f.ready(ctx, "Evaluate"); err != nil {
		return nil, err
	}
	if test == nil {
		return nil, arguments.Wrong("Evaluate", math.NaN(), "the data set is nil")
	}
	if err := test.Check(); err != nil {
		return nil, err
	}
	at := map[string]int{}
	for c, name := range f.Classes {
		at[name] = c
	}
	for i, y := range test.Y {
		if _, known := at[test.ClassName(y)]; !known {
			return nil, arguments.At("Evaluate", i, -1, y, "class %q was not in the training data, which has %s", test.ClassName(y), say.Listed(f.Classes))
		}
	}
	p, err := f.Probability(ctx, test)
	if err != nil {
		return nil, err
	}
	e := &ClassifierEvaluation{}
	for i, p := range p {
		truth := at[test.ClassName(test.Y[i])]
		if largest(p) == truth {
			e.Accuracy += 1 / float64(test.N())
		}
		e.NLPD -= math.Log(p[truth]) / float64(test.N())
		e.Truth = append(e.Truth, p[truth])
	}
	return e, nil
}

// Markdown says in words what was solved, how the run ended and how good the answer is.
func (f *ClassifierFit) Markdown() string {
	if err := f.ready(context.Background(), "Markdown"); err != nil {
		return err.Error()
	}
	t, s := f.task, say.NewSummary()
	s.Row("**problem**", "Gaussian process for the %d classes of %s: %s", len(f.Classes), t.data.Name, say.Listed(f.Classes))
	s.Row("points × features", "%d × %d", t.data.N(), t.data.D())
	s.Row("kernel", "%s", say.Brief(t.kernel.String()))
	f.Optimisation.rows(s)
	what := "Newton step"
	if t.way == byEP {
		what = "sweep"
	}
	s.Row("**approximation**", "%v, %s after %s, %v", t.way, f.Status, say.Several(f.Iterations, what), say.Spell(f.Elapsed))
	if t.way == byEP {
		s.Row("**certificate**", "the moments differ from those that EP matches by %.1g of a standard deviation at most", f.Mismatch)
	} else {
		s.Row("**certificate**", "the logarithm of the posterior density at f is within %.1g of its maximum", f.Gap)
	}
	s.Row("**result**", "log marginal likelihood %s", say.Signed(f.LogMarginalLikelihood(), 6))
	return s.String()
}
