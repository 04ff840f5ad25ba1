package gp

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers/linear"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/cells"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// LatentProcess describes a Gaussian process f that the targets show through another
// [Likelihood] than normal noise of one variance. See [Process.Likelihood].
type LatentProcess struct {
	process Process
	of      Likelihood
}

// Likelihood makes p a process that its targets show through the given likelihood: one for
// outliers, for counts, or for noise whose variance depends on x,
//
//	gp.Regress(data).Optimise().Likelihood(gp.StudentT(4))
//	gp.Regress(counts).Optimise().Likelihood(gp.Poisson())
//	gp.Regress(data).Optimise().Likelihood(gp.Heteroscedastic(kernels.SquaredExponential(1)))
//
// Kernel, NoiseVariance, ConstantMean, ZeroMean, Optimise, Restarts, Bound, priors and Memory have
// their meaning; a method and Stop have none. Without Kernel the counts of gp.Poisson get the
// variance 1. Fit returns an *ArgumentError for LinearMean, NormaliseTargets, NoiseVariances and a
// noise of 0.
func (p Process) Likelihood(l Likelihood) LatentProcess {
	p = p.described()
	if l == nil {
		p.faults.Said("Likelihood", arguments.Wrong("Likelihood", math.NaN(), "the likelihood is nil; give one such as gp.StudentT(4)"))
	} else {
		p.faults.Said("Likelihood", l.fault())
	}
	return LatentProcess{p, l}
}

// String returns the Go expression of the description.
func (p LatentProcess) String() string {
	if p.of == nil {
		return fmt.Sprintf("%s.Likelihood(nil)", p.process.text(false))
	}
	return fmt.Sprintf("%s.Likelihood(%v)", p.process.text(false), p.of)
}

// Fit approximates the posterior, after finding the hyperparameters if Optimise was set. When ctx
// ends early, the error wraps context.Cause(ctx), and the fit is nil unless Optimise has found
// something.
func (p LatentProcess) Fit(ctx context.Context) (*LatentFit, error) { return p.run(ctx, nil) }

// MustFit is Fit for a notebook cell; see [Process.MustFit].
func (p LatentProcess) MustFit() *LatentFit {
	return mustApproximate(p.run)
}

// approximated is a fit of an approximate posterior.
type approximated interface {
	*LatentFit | *ClassifierFit | *SparseFit | *MultiFit | *NeighbourFit
	none() bool
	ended() (after time.Duration, how ApproximationRun)
	found(o *Optimisation)
}

// mustApproximate is MustFit of a description whose Fit is run.
func mustApproximate[F approximated](run func(context.Context, func(line string, last bool)) (F, error)) F {
	ctx, stop := untilInterrupt()
	defer stop()
	fit, err := run(ctx, cells.Progress(progressAfter))
	if fit.none() {
		cells.Must(err)
		return fit
	}
	switch after, how := fit.ended(); {
	case err != nil:
		cells.Warn(fmt.Sprintf("interrupted after %v; this is the fit so far", after.Round(time.Millisecond)))
	case how.Status.Early():
		cells.Warn(fmt.Sprintf("stopped early: %v after %s", how.Status, say.Iterations(how.Iterations)))
	}
	return fit
}

// latentTask is a checked LatentProcess with all defaults filled in.
type latentTask struct {
	*processTask
	of Likelihood
}

func (p LatentProcess) run(ctx context.Context, show func(line string, last bool)) (*LatentFit, error) {
	return begun(ctx, show, p.prepare, func(t *latentTask, ctx context.Context) (*LatentFit, error) {
		if t.learn {
			return t.optimise(ctx)
		}
		return t.solve(ctx)
	})
}

// begun is Fit of an approximate process: it checks the description by prepare and solves it.
func begun[T interface {
	shows(func(line string, last bool))
}, F approximated](ctx context.Context, show func(line string, last bool), prepare func() (T, error), solve func(T, context.Context) (F, error)) (_ F, err error) {
	defer guard.Caught(&err)
	if err := arguments.Given(ctx, "Fit"); err != nil {
		return nil, err
	}
	t, err := prepare()
	if err != nil {
		return nil, err
	}
	t.shows(show)
	return solve(t, ctx)
}

func (t *processTask) shows(show func(line string, last bool)) { t.show = show }

// withoutMethod is prepare for a process that no linear.Method solves: there may be any number of
// points, and no default method is chosen.
func (p Process) withoutMethod() (*processTask, error) {
	method, named := p.method, p.named
	p.method, p.named = linear.CG{}, true // of any memory
	t, err := p.prepare()
	if err != nil {
		return nil, err
	}
	t.method, t.named = method, named
	return t, nil
}

func (p LatentProcess) prepare() (*latentTask, error) {
	q := p.process.described()
	if p.of == nil { // the zero value
		q = q.Likelihood(nil).process
	}
	switch {
	case q.mean == linearMean:
		return nil, arguments.Wrong("LinearMean", math.NaN(), "with a likelihood of its own a process has no linear mean; use ConstantMean")
	case q.scaled:
		return nil, arguments.Wrong("NormaliseTargets", math.NaN(), "with a likelihood of its own a process has no scaled targets; leave NormaliseTargets out")
	}
	if p.of == Likelihood(poisson{}) {
		if q.noisy {
			return nil, arguments.Wrong("NoiseVariance", q.noise, "counts have no noise but that of gp.Poisson; leave NoiseVariance out")
		}
		q.noise, q.noisy = 0, true
		if q.kernel == nil && q.faults.Err() == nil && q.data.Check() == nil {
			q.kernel = kernels.ScaleKernel{C: 1, K: kernels.RBF(2 * kernels.GammaMedian(q.data.X))}
		}
	}
	own, err := q.withoutMethod()
	if err != nil {
		return nil, err
	}
	t := &latentTask{own, p.of}
	if t.noisy = p.of != Likelihood(poisson{}); t.noisy && !t.oneNoise() {
		return nil, arguments.Wrong("Likelihood", t.noise, "%v needs one positive variance of the noise; say NoiseVariance", p.of)
	}
	offset, err := p.of.offset(t.seen)
	if err != nil {
		return nil, err
	}
	if t.offset = 0; q.mean == constantMean {
		t.offset = offset
	}
	for i, y := range t.seen {
		t.y[i] = y - t.offset
	}
	n := float64(len(t.y))
	if need := 40 * n * n; need > t.allowed() {
		return nil, arguments.Wrong("Likelihood", n, "the kernel matrices and their factors take %.3g GB for %d points, and may take %.3g: train on a part of the points, On(data.Select(rows)), or raise Memory or GOMEMLIMIT", need/1e9, len(t.y), t.allowed()/1e9)
	}
	return t, nil
}

// solve approximates the posterior for the hyperparameters of t.
func (t *latentTask) solve(ctx context.Context) (*LatentFit, error) {
	began := time.Now()
	q, err := t.of.solve(ctx, t)
	if err != nil {
		return nil, fmt.Errorf("svmnb: %v: %w", t.of, err)
	}
	f := &LatentFit{ApproximationRun: q.how(), Description: LatentProcess{t.Process, t.of}, Offset: t.offset,
		task: t, points: kernels.Against(t.kernel, t.data.X), posterior: q}
	p := &f.Description.process
	p.learn, p.restarts, p.seed = false, 0, 0
	f.Elapsed = time.Since(began)
	return f, nil
}

// hyperparameters returns those of the kernel, those of the kernel of the noise, and the noise.
func (t *latentTask) hyperparameters() ([]Partial, error) {
	list, err := t.processTask.hyperparameters()
	if l, ok := t.of.(heteroscedastic); ok && err == nil {
		var more []kernels.Hyperparameter
		if more, err = kernels.Hyperparameters(l.noise, t.data.Features...); err == nil {
			last := list[len(list)-1]
			list = list[:len(list)-1]
			for _, h := range more {
				list = append(list, Partial{Name: "noise." + h.Name, Value: h.Value})
			}
			list = append(list, last)
		}
	}
	return list, err
}

// with returns t with other values of its hyperparameters.
func (t *latentTask) with(values []float64) (*latentTask, error) {
	other := *t
	if l, ok := t.of.(heteroscedastic); ok {
		own, err := kernels.Hyperparameters(t.kernel)
		if err != nil {
			return nil, err
		}
		last := len(values) - 1
		if l.noise, err = kernels.WithHyperparameters(l.noise, values[len(own):last]); err != nil {
			return nil, fmt.Errorf("svmnb: %w", err)
		}
		other.of = l
		values = append(values[:len(own):len(own)], values[last])
	}
	var err error
	other.processTask, err = t.processTask.with(values)
	return &other, err
}

// lookup returns the index among the hyperparameters of the one called name.
func (t *latentTask) lookup(name string) (int, error) {
	if l, ok := t.of.(heteroscedastic); ok && strings.HasPrefix(name, "noise.") {
		own, err := kernels.Hyperparameters(t.kernel)
		if err != nil {
			return 0, err
		}
		at, err := kernels.Lookup(l.noise, strings.TrimPrefix(name, "noise."), t.data.Features...)
		return len(own) + at, err
	}
	at, err := t.processTask.lookup(name)
	if list, _ := t.hyperparameters(); name == "noise" {
		at = len(list) - 1
	}
	return at, err
}

// optimise finds the hyperparameters and solves for them.
func (t *latentTask) optimise(ctx context.Context) (*LatentFit, error) {
	start, err := t.hyperparameters()
	if err != nil {
		return nil, err
	}
	all, err := t.Process.saidOf(start, t.lookup)
	if err != nil {
		return nil, err
	}
	return maximise(ctx, &learning{start: start, said: all, restarts: t.restarts, seed: t.seed, objective: t.objective() + " ≈", show: t.show}, &Optimisation{}, func(values, grad []float64) (*LatentFit, float64, error) {
		f, v, err := t.at(ctx, values, nil)
		if err != nil {
			return nil, 0, err
		}
		return f, v, f.posterior.gradient(ctx, f.task, grad)
	})
}

// at solves for other hyperparameters; a latent process has no inducing points.
func (t *latentTask) at(ctx context.Context, values []float64, _ *keptFit) (*LatentFit, float64, error) {
	other, err := t.with(values)
	if err != nil {
		return nil, 0, err
	}
	f, err := other.solve(ctx)
	return f, f.LogMarginalLikelihood(), err
}

// LatentFit is the approximate posterior of a [LatentProcess].
type LatentFit struct {
	ApproximationRun

	// Description is the LatentProcess that was solved, with all defaults and the hyperparameters
	// that Optimise found.
	Description LatentProcess

	Offset       float64       // the constant mean of f; 0 for ZeroMean
	Elapsed      time.Duration // for the last hyperparameters
	Optimisation *Optimisation // how the hyperparameters were found; nil without Optimise

	task      *latentTask
	points    *kernels.Basis
	posterior latentPosterior
}

func (f *LatentFit) none() bool { return f == nil || f.task == nil }

func (f *LatentFit) ended() (time.Duration, ApproximationRun) { return f.Elapsed, f.ApproximationRun }
func (f *LatentFit) found(o *Optimisation)                    { f.Optimisation = o }

func (f *LatentFit) ready(ctx context.Context, call string) error {
	if f.none() {
		return arguments.NoFit(call)
	}
	return arguments.Given(ctx, call)
}

// LogMarginalLikelihood returns an approximation of ln p(y), in nats: by Laplace's approximation
// (Rasmussen and Williams 2006, eq. 3.32), or for [Heteroscedastic] a lower bound. It is NaN for the
// zero value.
func (f *LatentFit) LogMarginalLikelihood() float64 {
	if f.none() {
		return math.NaN()
	}
	return f.posterior.evidence()
}

// Gradient returns the derivatives of the log marginal likelihood with respect to the logarithms
// of the hyperparameters: those of the kernel; of the kernel of the noise, with names such as
// "noise.length"; and "noise". Errors are those of [ClassifierFit.Gradient].
func (f *LatentFit) Gradient(ctx context.Context) (_ []Partial, err error) {
	defer guard.Caught(&err)
	if err := f.ready(ctx, "Gradient"); err != nil {
		return nil, err
	}
	list, err := f.task.hyperparameters()
	if err != nil {
		return nil, err
	}
	grad := make([]float64, len(list))
	if err := f.posterior.gradient(ctx, f.task, grad); err != nil {
		return nil, err
	}
	for i, g := range grad {
		list[i].Gradient.Value = g
	}
	return list, nil
}

// Latent returns the approximate posterior of f at m points, with its constant mean: for
// [Poisson] of the logarithm of the mean count. Noise is 0. Each point costs n² multiplications.
//
// The error is an *ArgumentError that names the first row with a wrong number of features or
// with NaN or infinity, or it wraps a *kernels.DataError for a point outside the domain of the
// kernel. When ctx ends early, it wraps context.Cause(ctx).
func (f *LatentFit) Latent(ctx context.Context, x datasets.Points) (_ *Belief, err error) {
	defer guard.Caught(&err)
	rows, err := f.asked(ctx, "Latent", x)
	if err != nil {
		return nil, err
	}
	b := &Belief{Mean: make([]float64, len(rows)), Variance: make([]float64, len(rows))}
	cross := make([][]float64, batch)
	for from := 0; from < len(rows); from += batch {
		part := rows[from:min(from+batch, len(rows))]
		for i, p := range part { // a Basis is for one goroutine
			cross[i] = f.points.Row(cross[i], p)
		}
		for i, p := range part {
			if ctx.Err() != nil {
				return nil, fmt.Errorf("svmnb: Latent: %w", context.Cause(ctx))
			}
			m, v := f.posterior.latent(f.task.kernel.Eval(p, p), cross[i])
			b.Mean[from+i], b.Variance[from+i] = m+f.Offset, v
		}
	}
	return b, nil
}

// asked returns a user's points as rows, or an error if the fit cannot predict for them.
func (f *LatentFit) asked(ctx context.Context, call string, x datasets.Points) ([][]float64, error) {
	if err := f.ready(ctx, call); err != nil {
		return nil, err
	}
	rows, err := points.Dense(call, x)
	if err == nil {
		err = f.task.check(call, rows)
	}
	if err != nil {
		return nil, err
	}
	if err := f.points.Check(rows); err != nil {
		return nil, fmt.Errorf("svmnb: %s: %w", call, err)
	}
	return rows, nil
}

// each calls do with the distribution of a new target at each of m points.
func (f *LatentFit) each(ctx context.Context, call string, x datasets.Points, do func(i int, p predictive)) error {
	rows, err := f.asked(ctx, call, x)
	if err != nil {
		return err
	}
	b, err := f.Latent(ctx, datasets.Rows(rows))
	if err != nil {
		return err
	}
	for i, x := range rows {
		if ctx.Err() != nil {
			return fmt.Errorf("svmnb: %s: %w", call, context.Cause(ctx))
		}
		do(i, f.posterior.ahead(f.task, x, b.Mean[i], b.Variance[i]))
	}
	return nil
}

// Predict returns the mean of a new target at each of m points: that of f, and for [Poisson] that
// of e^f. Errors are those of Latent.
func (f *LatentFit) Predict(ctx context.Context, x datasets.Points) (mean []float64, err error) {
	defer guard.Caught(&err)
	err = f.each(ctx, "Predict", x, func(_ int, p predictive) { mean = append(mean, p.mean()) })
	return mean, err
}

// Interval returns, for each of m points, the interval that has the given share of the probability
// of a new target, noise included, with equal shares below and above it; for [Poisson] the ends are
// counts. The errors are those of Latent, and an *ArgumentError for a share that is not between 0
// and 1.
func (f *LatentFit) Interval(ctx context.Context, x datasets.Points, share float64) (low, high []float64, err error) {
	defer guard.Caught(&err)
	if !(share > 0 && share < 1) {
		return nil, nil, arguments.Wrong("Interval", share, "the share is %v; it must be between 0 and 1, such as 0.95", share)
	}
	err = f.each(ctx, "Interval", x, func(_ int, p predictive) {
		low, high = append(low, p.quantile((1-share)/2)), append(high, p.quantile((1+share)/2))
	})
	if err != nil {
		return nil, nil, err
	}
	return low, high, nil
}

// LogDensity returns ln p(y) of each target of a test set, in nats: the higher their mean, the
// better the predictions. Errors are those of Latent, and of a data set that is not valid.
func (f *LatentFit) LogDensity(ctx context.Context, test *datasets.Dataset) (density []float64, err error) {
	defer guard.Caught(&err)
	if err := f.ready(ctx, "LogDensity"); err != nil {
		return nil, err
	}
	if test == nil {
		return nil, arguments.Wrong("LogDensity", math.NaN(), "the data set is nil")
	}
	if err := test.Check(); err != nil {
		return nil, err
	}
	err = f.each(ctx, "LogDensity", test, func(i int, p predictive) { density = append(density, p.logDensity(test.Y[i])) })
	if err != nil {
		return nil, err
	}
	return density, nil
}

// NoiseVariance returns the variance of the noise of a new target at each of m points: for
// [Heteroscedastic] its posterior mean, for [StudentT] the same everywhere, and infinite for nu ≤ 2;
// for [Poisson] the mean count. Errors are those of Latent.
func (f *LatentFit) NoiseVariance(ctx context.Context, x datasets.Points) (variance []float64, err error) {
	defer guard.Caught(&err)
	rows, err := f.asked(ctx, "NoiseVariance", x)
	if err != nil {
		return nil, err
	}
	for _, x := range rows {
		v := 0.0
		switch l := f.task.of.(type) {
		case studentT:
			if v = math.Inf(1); l.nu > 2 {
				v = f.task.noise * l.nu / (l.nu - 2)
			}
		case poisson:
			mean, err := f.Predict(ctx, datasets.Rows{x})
			if err != nil {
				return nil, err
			}
			v = mean[0]
		default:
			m, s := f.posterior.(*twofold).logNoise(f.task, x)
			v = math.Exp(m + s/2)
		}
		variance = append(variance, v)
	}
	return variance, nil
}

// Markdown says in words what was solved, how the run ended and how good the answer is.
func (f *LatentFit) Markdown() string {
	if err := f.ready(context.Background(), "Markdown"); err != nil {
		return err.Error()
	}
	t, s := f.task, say.NewSummary()
	s.Row("**problem**", "Gaussian process of %s behind a likelihood of its own", t.data.Name)
	s.Row("points × features", "%d × %d", t.data.N(), t.data.D())
	s.Row("kernel", "%s", say.Brief(t.kernel.String()))
	s.Row("likelihood", "%s", say.Brief(t.of.String()))
	if t.of != Likelihood(poisson{}) {
		s.Row("noise σ²", "%.6g", t.noise)
	}
	s.Row("mean of f", "%s, removed", say.Signed(f.Offset, 6))
	f.Optimisation.rows(s)
	way, lower := "Laplace", ""
	if _, ok := f.posterior.(*twofold); ok {
		way, lower = "variational Bayes", "at least "
	}
	s.Row("**approximation**", "%s, %s after %s, %v", way, f.Status, say.Several(f.Iterations, "step"), say.Spell(f.Elapsed))
	switch t.of.(type) {
	case poisson:
		s.Row("**certificate**", "the logarithm of the posterior density at f is within %.1g of its maximum", f.Gap)
	case studentT:
		s.Row("**certificate**", "f is a maximum of the posterior density to %.1g nats; there may be higher ones", f.Gap)
	default:
		s.Row("**certificate**", "the bound is at a maximum over the approximations to %.1g", f.Mismatch)
	}
	s.Row("**result**", "log marginal likelihood %s%s", lower, say.Signed(f.LogMarginalLikelihood(), 6))
	return s.String()
}

// Show displays the given figures of the fit. Without figures it displays the summary and, if
// there is one feature, Posterior: for counts with the mean count and intervals of new counts.
func (f *LatentFit) Show(figures ...display.Figure) {
	var usual []display.Figure
	if !f.none() {
		usual = f.task.usual()
	}
	display.ShowFit(f, figures, usual...)
}

// usual are the figures that Show displays of an approximate process.
func (t *processTask) usual() []display.Figure {
	if t.data.D() == 1 {
		return []display.Figure{Posterior}
	}
	return nil
}

func (f *LatentFit) drawPosterior(v view) (*display.Chart, error) {
	ctx, stop := untilInterrupt()
	defer stop()
	if err := f.ready(ctx, "Posterior"); err != nil {
		return nil, err
	}
	t := f.task
	if err := t.drawable(&v); err != nil {
		return nil, err
	}
	n := float64(len(t.y))
	xs, rows := places(v, int(min(figurePoints/2, max(60, figureWork/(n*n)))))
	b, err := f.Latent(ctx, rows)
	if err != nil {
		return nil, err
	}
	mean, err := f.Predict(ctx, rows)
	if err != nil {
		return nil, err
	}
	low, high, err := f.Interval(ctx, rows, 0.95)
	if err != nil {
		return nil, err
	}
	d := figure.PosteriorData{
		Problem: t.words() + " · " + say.Brief(t.of.String()), Feature: t.data.FeatureName(0), Target: t.data.Target, Noise: math.NaN(), Evidence: f.LogMarginalLikelihood(),
		X: points.Column(t.data.X, 0), Y: t.data.Y, Xs: xs, Mean: mean, SD: deviations(b.Variance, 0), NewLow: low, NewHigh: high,
	}
	if t.of == Likelihood(poisson{}) {
		d.Evenly, d.SD = "mean count", make([]float64, len(xs))
		for i, m := range b.Mean {
			sd := 1.96 * math.Sqrt(b.Variance[i])
			d.Low, d.High = append(d.Low, math.Exp(m-sd)), append(d.High, math.Exp(m+sd))
		}
	}
	return figure.Posterior(d)
}

// drawApproximate draws the posterior of an approximate process. d has what only that process has.
func (t *processTask) drawApproximate(ctx context.Context, v view, posterior func(context.Context, datasets.Points) (*Belief, error), d figure.PosteriorData) (*display.Chart, error) {
	if err := t.drawable(&v); err != nil {
		return nil, err
	}
	xs, rows := places(v, figurePoints)
	b, err := posterior(ctx, rows)
	if err != nil {
		return nil, err
	}
	d.Feature, d.Target, d.Noise = t.data.FeatureName(0), t.data.Target, b.Noise
	d.X, d.Y, d.Xs, d.Mean, d.SD = points.Column(t.data.X, 0), t.data.Y, xs, b.Mean, deviations(b.Variance, 0)
	if !math.IsNaN(b.Noise) {
		d.ObservationSD = deviations(b.Variance, b.Noise)
	}
	return figure.Posterior(d)
}

// drawable returns an error if a figure of an approximate posterior cannot be drawn, and completes
// the range of v.
func (t *processTask) drawable(v *view) error {
	switch d := t.data.D(); {
	case d != 1:
		return fmt.Errorf("Posterior: the data have %d features; it draws functions of one", d)
	case v.samples != 0 || len(v.tests) > 0:
		return arguments.Wrong("Posterior", float64(v.samples), "an approximate process draws neither samples nor test points; take the exact one for these")
	case v.chosen && !(v.low < v.high && !math.IsInf(v.high-v.low, 1)):
		return arguments.Wrong("PosteriorOver", v.low, "the range from %v to %v is empty or endless; give two numbers, the smaller one first", v.low, v.high)
	}
	if !v.chosen {
		v.low, v.high = around(t.data.X)
	}
	return nil
}

// places returns m places of the only feature, also as rows.
func places(v view, m int) (xs []float64, rows datasets.Rows) {
	for i := range m {
		x := v.low + (v.high-v.low)*float64(i)/float64(m-1)
		xs, rows = append(xs, x), append(rows, []float64{x})
	}
	return xs, rows
}
