package gp

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers/linear"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
	"github.com/svmnb/svmnb/svmnb/internal/vecchia"
	"github.com/svmnb/svmnb/svmnb/model"
)

// Model returns what predictions need of the process: its points, coefficients and noise,
// but not the targets. Values of the model equal the means of Predict, bit for bit. If the
// process was solved by a direct method, PosteriorOf computes variances from the model.
//
// The model of an empty fit is nil.
func (f *Fit) Model() *model.Model {
	if f.ready(context.Background(), "Model") != nil {
		return nil
	}
	p := &machines.ProcessPart{Scale: f.task.scale}
	if f.trend != nil {
		p.Beta, p.Centre = f.trend.beta, f.trend.centre
	}
	switch {
	case !direct(f.task.method):
	case f.task.noises != nil:
		p.Noise = *f.task.noises
	default:
		p.Noise = []float64{f.task.noise}
	}
	x := points.Rows(f.task.data.X)
	return model.New(machines.Machines{Kind: machines.ProcessKind, Kernel: f.task.kernel, Process: p, Terms: []machines.Term{{Coef: f.Alpha, B: f.Offset}},
		Expansion: machines.Expansion{X: x, Basis: func() *kernels.Basis { return f.points }, D: f.task.data.D(), Behind: f.task.behind, Kernel: f.task.kernel}}, f.task.data)
}

// PosteriorOf returns mean and variance of f at m points. It takes the model of a [Fit]
// that a direct method has solved, of a [SparseFit], of a [NeighbourFit], of an output of a [MultiFit], of a
// [LatentFit] or of a [ClassifierFit] of two classes, or the fit of a pipeline that ends in a process. The
// first call computes the Cholesky factor of the n points, in n³/3 operations and 4n²
// bytes. It returns the errors of the model's Decisions, an *ArgumentError for other
// models, and the cause of ctx when that ends early.
func PosteriorOf(ctx context.Context, of model.Modeler, x datasets.Points) (_ *Belief, err error) {
	defer guard.Caught(&err)
	m := model.Of(of)
	switch {
	case m == nil:
		return nil, arguments.NoFit("Posterior")
	case ctx == nil:
		return nil, arguments.Given(ctx, "Posterior")
	}
	pipe, _ := of.(interface {
		Fit() any
		Transform(x datasets.Points) ([][]float64, error)
	})
	p := m.Inside().Process
	switch {
	case p == nil:
		return nil, arguments.Wrong("Posterior", math.NaN(), "a model of %v has no variances; take that of a process", m.Inside().Kind)
	case p.Approximation != nil:
		fit, rows, err := restored(ctx, "Posterior", of, x)
		if err != nil {
			return nil, err
		}
		switch f := fit.(type) {
		case *vecchia.Process:
			return believedNear(ctx, f, rows, m.Inside())
		case *SparseFit:
			return f.posterior(ctx, rows)
		case *oneOutput:
			return f.posterior(ctx, rows)
		case *ClassifierFit:
			return f.Latent(ctx, datasets.Rows(rows))
		}
		return fit.(*LatentFit).Latent(ctx, datasets.Rows(rows))
	case p.Noise == nil && pipe == nil:
		return nil, arguments.Wrong("Posterior", math.NaN(), "the process was solved by an iterative method, whose variances are bounds that it computes anew; solve by Cholesky(), or say Values for the means")
	case pipe != nil: // it takes points as its data has them, which may be scaled
		at, err := pipe.Transform(x)
		if err != nil {
			return nil, err
		}
		b, err := pipe.Fit().(*Fit).posterior(ctx, at)
		return inUnits(b, m.Inside().Target, err)
	}
	at, err := m.Enter(ctx, "Posterior", x)
	if err != nil {
		return nil, err
	}
	fit, err := withFactor(ctx, m)
	if err != nil {
		return nil, err
	}
	b, err := fit.posterior(ctx, at.X)
	return inUnits(b, m.Inside().Target, err)
}

// inUnits returns the belief in units of the data, if a pipeline has transformed the targets
// by t. After LogTarget f is not normal there.
func inUnits(b *Belief, t *steps.TargetMap, err error) (*Belief, error) {
	switch {
	case b == nil || t == nil:
		return b, err
	case t.Log:
		return nil, arguments.Wrong("Posterior", math.NaN(), "the process is one of logarithms, so targets have no normal distribution; say Interval of the fitted pipeline, or Values for the medians")
	}
	square := t.Width * t.Width
	b.Noise *= square
	for i := range b.Mean {
		b.Mean[i], b.Variance[i] = t.Invert(b.Mean[i]), square*b.Variance[i]
	}
	for i := range b.VarianceLower {
		b.VarianceLower[i] *= square
	}
	for i := range b.MeanError {
		b.MeanError[i] *= t.Width
	}
	return b, err
}

// withFactor returns the process as it was fitted, but without its targets.
func withFactor(ctx context.Context, m *model.Model) (*Fit, error) {
	p := m.Inside().Process
	release, err := p.Turn.Take(ctx)
	if err != nil {
		return nil, fmt.Errorf("svmnb: Posterior: %w", err)
	}
	defer release()
	if fit, ok := p.Made.(*Fit); ok {
		return fit, nil
	}
	d := Regress(&datasets.Dataset{Name: "model", X: m.Inside().Expansion.X.X, Y: make([]float64, m.Inside().Expansion.X.N())}).Kernel(m.Inside().Kernel).ZeroMean()
	if p.Beta != nil {
		d = d.LinearMean()
	}
	if len(p.Noise) == 1 {
		d = d.NoiseVariance(p.Noise[0])
	} else {
		d = d.NoiseVariances(p.Noise)
	}
	fit, err := d.Fit(ctx)
	if err != nil {
		return nil, err
	}
	fit.Alpha, fit.Offset = m.Inside().Terms[0].Coef, m.Inside().Terms[0].B
	if p.Beta != nil {
		fit.trend.beta, fit.trend.centre = p.Beta, p.Centre
	}
	fit.task.scale = p.Scale
	p.Made = fit
	return fit, nil
}

// modelOf returns the model of an approximate process of these points and coefficients.
func modelOf(kind machines.Kind, data *datasets.Dataset, k kernels.Kernel, x [][]float64, offset float64, p *machines.ProcessPart, coef ...[]float64) *model.Model {
	all := points.Rows(x)
	m := machines.Machines{Kind: kind, Kernel: k, Process: p, Expansion: machines.Expansion{X: all, Basis: all.Late(k), D: data.D(), Kernel: k}}
	for _, c := range coef {
		m.Terms = append(m.Terms, machines.Term{Coef: c, B: offset})
	}
	return model.New(m, data)
}

// Model returns what predictions need of the classifier: its points and coefficients, and the
// curvatures of the likelihood. Decisions of the model are the means of f. [ProbabilityOf] computes
// the probabilities of the classes from it, and its Predict says the class of two.
//
// The model of an empty fit is nil.
func (f *ClassifierFit) Model() *model.Model {
	if f.none() {
		return nil
	}
	p := &machines.ProcessPart{Approximation: &machines.Approximation{Of: f.task.way.String()}}
	var coef [][]float64
	switch q := f.approximation.(type) {
	case *softmaxPosterior:
		coef = q.a
	case *gaussian:
		coef, p.Approximation.Curve = [][]float64{q.a}, q.curvatures()
	}
	m := modelOf(machines.ClassProcessKind, f.task.data, f.task.kernel, f.task.data.X, 0, p, coef...)
	m.Inside().Classes, m.Inside().Targets = f.Classes, f.task.values
	return m
}

// curvatures returns W of an approximation without negative ones, such as EP's.
func (q *gaussian) curvatures() []float64 {
	if q.w != nil {
		return q.w
	}
	w := make([]float64, len(q.root))
	for i, r := range q.root {
		w[i] = r * r
	}
	return w
}

// Model returns what predictions need of the process: its inducing points and coefficients, and a
// matrix for the variances; with [SparseProcess.CGLB] all its points too. Values of the model equal the means of Predict, bit for bit;
// [PosteriorOf] computes variances from it.
//
// The model of an empty fit is nil.
func (f *SparseFit) Model() *model.Model {
	if f.none() {
		return nil
	}
	a := &machines.Approximation{Of: inducing, Second: f.c, Jitter: f.jitter}
	for i, row := range f.b.rows {
		a.Square = append(a.Square, row[:i+1])
	}
	p := &machines.ProcessPart{Scale: f.task.scale, Noise: []float64{f.task.noise}, Approximation: a}
	x := f.Inducing
	if f.solved != nil {
		x = slices.Concat(x, f.task.data.X)
	}
	return modelOf(machines.ProcessKind, f.task.data, f.task.kernel, x, f.task.offset, p, f.coef)
}

// Model returns what predictions need of the process: its points and targets, the number of
// neighbours and the units of their distances. Values of the model equal the means of Predict, bit
// for bit, and [PosteriorOf] computes variances from it. Save writes up to 16,000 neighbours of each
// point.
//
// The model of an empty fit is nil.
func (f *NeighbourFit) Model() *model.Model {
	if f.none() {
		return nil
	}
	t, near := f.task, f.process()
	a := &machines.Approximation{Of: machines.NeighboursOf, Near: near.M, Unit: near.Unit}
	return modelOf(machines.NeighbourKind, t.data, t.kernel, t.data.X, t.offset, &machines.ProcessPart{Scale: t.scale, Noise: near.Noise, Approximation: a}, near.Y)
}

// believedNear returns the posterior of a model of nearest neighbours.
func believedNear(ctx context.Context, p *vecchia.Process, x [][]float64, m *machines.Machines) (*Belief, error) {
	mean, variance, err := p.Posterior(ctx, x)
	if err != nil {
		return nil, fmt.Errorf("svmnb: Posterior: %w", err)
	}
	noise := math.NaN()
	if len(p.Noise) == 1 {
		noise = p.Noise[0]
	}
	return believed(mean, variance, noise, m.Terms[0].B, m.Process.Scale), nil
}

// Model returns what predictions of one output need: the points and coefficients, and after
// [MultiProcess.Coregionalise] also B and which values were observed. Values of the model equal the means of
// Posterior up to rounding; [PosteriorOf] computes variances from it.
//
// The model is nil for an empty fit, and for a number that is not one of the m outputs.
func (f *MultiFit) Model(output int) *model.Model {
	switch {
	case f.none() || output < 0 || output >= len(f.Names):
		return nil
	case f.joint == nil:
		return f.Of[output].Model()
	}
	t := f.task
	a := &machines.Approximation{Of: machines.OutputsOf, Output: output, Seen: make([][]int, len(f.b))}
	for o, row := range f.b {
		a.Square = append(a.Square, row[:o+1])
	}
	coef := make([]float64, len(t.y))
	for r, at := range f.at {
		a.Seen[at[1]] = append(a.Seen[at[1]], at[0])
		coef[at[0]] += f.b[output][at[1]] * f.alpha[0][r]
	}
	p := &machines.ProcessPart{Noise: []float64{t.noise}, Approximation: a, Scale: &datasets.TargetScaler{Centre: t.offset[output], Width: t.width[output]}}
	named := &datasets.Dataset{Name: t.data.Name + " · " + f.Names[output], X: t.data.X, Y: t.data.Y, Features: t.data.Features, Target: f.Names[output]}
	return modelOf(machines.ProcessKind, named, t.kernel, t.data.X, 0, p, coef)
}

// oneOutput is an output of a model that depends on others.
type oneOutput struct {
	joint  *coregional
	factor *linear.CholeskyFactor
	points *kernels.Basis
	of     *machines.Machines
}

func (p *oneOutput) posterior(ctx context.Context, x [][]float64) (*Belief, error) {
	o, coef := p.of.Process.Approximation.Output, p.of.Terms[0].Coef
	mean, variance := make([]float64, len(x)), make([]float64, len(x))
	var k, cross, half []float64
	for i, row := range x {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("svmnb: Posterior: %w", context.Cause(ctx))
		}
		k = p.points.Row(k, row)
		cross = p.joint.cross(cross, o, k)
		half = p.factor.HalfSolve(half, cross)
		mean[i] = vec.Dot(coef, k)
		variance[i] = max(0, p.of.Kernel.Eval(row, row)*p.joint.b[o][o]-vec.Dot(half, half))
	}
	return believed(mean, variance, p.of.Process.Noise[0], 0, p.of.Process.Scale), nil
}

// inducing is the name of the approximation of a sparse process in a model.
const inducing = "inducing points"

// Model returns what predictions need of the process: its points and coefficients, and the
// curvatures of the likelihood. Values of the model are the means of new targets, and for [Poisson]
// its Decisions are the means of f. [PosteriorOf] computes the variances of f from it, and
// [IntervalOf] intervals of new targets.
//
// The model of an empty fit is nil.
func (f *LatentFit) Model() *model.Model {
	if f.none() {
		return nil
	}
	t, a := f.task, &machines.Approximation{Of: f.task.of.String()}
	p, kind := &machines.ProcessPart{Noise: []float64{t.noise}, Approximation: a}, machines.ProcessKind
	if t.of == Likelihood(poisson{}) {
		kind = machines.CountProcessKind
	}
	var coef []float64
	switch q := f.posterior.(type) {
	case laplacePosterior:
		coef, a.Curve = q.a, q.curvatures()
	case *twofold:
		coef, a.Curve, a.Second, a.Base, p.Noise = q.alpha, q.g.curvatures(), q.g.a, t.noise, q.noise
		a.Of, a.Noise = varyingNoise, t.of.(heteroscedastic).noise.String()
	}
	return modelOf(kind, t.data, t.kernel, t.data.X, t.offset, p, coef)
}

// varyingNoise is the name of [Heteroscedastic] in a model.
const varyingNoise = "gp.Heteroscedastic"

// ProbabilityOf returns the probabilities of the classes at m points, as
// [ClassifierFit.Probability], from the model of a [ClassifierFit]. The first call computes a factor
// of the n points. It returns the errors of the model's Decisions, an *ArgumentError for other
// models, and the cause of ctx when that ends early.
func ProbabilityOf(ctx context.Context, of model.Modeler, x datasets.Points) (_ [][]float64, err error) {
	defer guard.Caught(&err)
	fit, rows, err := restored(ctx, "Probability", of, x)
	if err != nil {
		return nil, err
	}
	f, ok := fit.(*ClassifierFit)
	if !ok {
		return nil, arguments.Wrong("Probability", math.NaN(), "the process has no classes; say PosteriorOf")
	}
	return f.Probability(ctx, datasets.Rows(rows))
}

// IntervalOf returns the intervals of new targets at m points, as [LatentFit.Interval] or
// [Belief.Interval], from the model of a process for real targets or counts. Errors are those of
// [PosteriorOf], and an *ArgumentError for a share that is not between 0 and 1.
func IntervalOf(ctx context.Context, of model.Modeler, x datasets.Points, share float64) (low, high []float64, err error) {
	defer guard.Caught(&err)
	if m := model.Of(of); m != nil && m.Inside().Process != nil && m.Inside().Process.Approximation != nil {
		fit, rows, err := restored(ctx, "Interval", of, x)
		if err != nil {
			return nil, nil, err
		}
		if f, ok := fit.(*LatentFit); ok {
			return f.Interval(ctx, datasets.Rows(rows), share)
		}
	}
	if !(share > 0 && share < 1) {
		return nil, nil, arguments.Wrong("Interval", share, "the share is %v; it must be between 0 and 1, such as 0.95", share)
	}
	b, err := PosteriorOf(ctx, of, x)
	if err != nil {
		return nil, nil, err
	}
	low, high = b.Interval(share)
	return low, high, nil
}

// restored returns the fit of an approximate process from its model, for predictions only, and the
// user's points as it takes them.
func restored(ctx context.Context, call string, of model.Modeler, x datasets.Points) (any, [][]float64, error) {
	m := model.Of(of)
	switch {
	case m == nil:
		return nil, nil, arguments.NoFit(call)
	case ctx == nil:
		return nil, nil, arguments.Given(ctx, call)
	case m.Inside().Process == nil || m.Inside().Process.Approximation == nil:
		return nil, nil, arguments.Wrong(call, math.NaN(), "a model of %v has none; take that of a process for classes or with a likelihood", m.Inside().Kind)
	}
	at, err := m.Enter(ctx, call, x)
	if err != nil {
		return nil, nil, err
	}
	p := m.Inside().Process
	if p.Approximation.Of == machines.NeighboursOf {
		near, err := m.Inside().Neighbours(ctx)
		if err != nil {
			return nil, nil, fmt.Errorf("svmnb: %s: %w", call, err)
		}
		return near, at.X, nil
	}
	release, err := p.Turn.Take(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("svmnb: %s: %w", call, err)
	}
	defer release()
	if p.Made == nil {
		fit, err := restore(ctx, m.Inside())
		if err != nil {
			return nil, nil, fmt.Errorf("svmnb: %s: %w", call, err)
		}
		p.Made = fit
	}
	return p.Made, at.X, nil
}

// restore computes the factors of an approximate process again.
func restore(ctx context.Context, m *machines.Machines) (any, error) {
	p := m.Process
	a, x, coef := p.Approximation, m.Expansion.X.X, m.Terms[0].Coef
	data := &datasets.Dataset{Name: "model", X: x, Y: make([]float64, len(x))}
	wrong := func(what string) error {
		return arguments.Wrong("Posterior", math.NaN(), "the model of %q has no %s, or others than gp writes", a.Of, what)
	}
	task := &processTask{Process: Process{data: data, kernel: m.Kernel}, scale: p.Scale, offset: m.Terms[0].B}
	if len(p.Noise) == 1 {
		task.noise = p.Noise[0]
	}
	if a.Of == inducing {
		z := x[:min(len(x), len(a.Square))] // CGLB has the training points after them
		if len(z) == 0 || len(a.Square) != len(z) || len(a.Second) != len(z) || len(p.Noise) != 1 {
			return nil, wrong("matrix")
		}
		f := &SparseFit{Inducing: z, task: &sparseTask{processTask: task}, basis: kernels.Against(m.Kernel, z), c: a.Second, means: kernels.Against(m.Kernel, x), coef: coef, jitter: a.Jitter}
		k, err := gramOf(ctx, m.Kernel, z)
		if err != nil {
			return nil, err
		}
		if f.own, err = (linear.Cholesky{}).Factor(ctx, &linear.System{K: k, Noise: slices.Repeat([]float64{a.Jitter}, len(z))}); err != nil {
			return nil, err
		}
		f.b = &matrix{rows: several(len(z), len(z)), diag: make([]float64, len(z))}
		for i, row := range a.Square {
			copy(f.b.rows[i], row)
			for j, v := range row {
				f.b.rows[j][i] = v
			}
			f.b.diag[i] = row[i]
		}
		f.factor, err = linear.Cholesky{}.Factor(ctx, &linear.System{K: f.b})
		return f, err
	}
	k, err := gramOf(ctx, m.Kernel, x)
	if err != nil {
		return nil, err
	}
	points := kernels.Against(m.Kernel, x)
	if a.Of == machines.OutputsOf {
		f := &oneOutput{joint: &coregional{k: k, b: several(len(a.Square), len(a.Square))}, points: points, of: m}
		for o, row := range a.Square {
			for p, v := range row {
				f.joint.b[o][p], f.joint.b[p][o] = v, v
			}
		}
		for o, seen := range a.Seen {
			for _, i := range seen {
				f.joint.at = append(f.joint.at, [2]int{i, o})
			}
		}
		n := len(f.joint.at)
		f.joint.row = make([]float64, n)
		f.factor, err = linear.Cholesky{}.Factor(ctx, &linear.System{K: f.joint, Noise: slices.Repeat(p.Noise, n)})
		return f, err
	}
	q := &gaussian{k: k, root: make([]float64, len(x)), a: coef, sigma: meanLogistic}
	if m.Kind == machines.ClassProcessKind {
		f := &ClassifierFit{Classes: m.Classes, task: &classTask{Classifier: Classifier{data: data, kernel: m.Kernel}, classes: m.Classes}, points: points, approximation: q}
		if len(m.Classes) > 2 {
			s := &softmaxPosterior{k: k}
			for _, t := range m.Terms {
				s.a, s.f = append(s.a, t.Coef), append(s.f, k.times(t.Coef))
			}
			pi := several(len(s.a), len(x))
			softmax(pi, s.f)
			f.approximation = s
			return f, s.curve(ctx, pi)
		}
		if len(a.Curve) != len(x) {
			return nil, wrong("curvatures")
		}
		if a.Of == byEP.String() {
			q.sigma = probit
		}
		return f, q.curve(ctx, a.Curve)
	}
	f := &LatentFit{Offset: task.offset, task: &latentTask{processTask: task}, points: points}
	var nu float64
	switch {
	case len(a.Curve) != len(x):
		return nil, wrong("curvatures")
	case a.Of == Poisson().String():
		f.task.of = Poisson()
	case a.Of == varyingNoise:
		noise, err := kernels.Parse(a.Noise)
		if err != nil || len(a.Second) != len(x) || len(p.Noise) != len(x) {
			return nil, wrong("noise")
		}
		g := &twofold{alpha: coef, noise: p.Noise}
		task.noise, f.task.of, f.posterior = a.Base, heteroscedastic{noise}, g
		kg, err := gramOf(ctx, noise, x)
		if err != nil {
			return nil, err
		}
		g.g = &gaussian{k: kg, root: make([]float64, len(x)), a: a.Second}
		if g.factor, err = (linear.Cholesky{}).Factor(ctx, &linear.System{K: k, Noise: p.Noise}); err != nil {
			return nil, err
		}
		return f, g.g.curve(ctx, a.Curve)
	default:
		if _, err := fmt.Sscanf(a.Of, "gp.StudentT(%g)", &nu); err != nil || studentT.fault(studentT{nu}) != nil || len(p.Noise) != 1 {
			return nil, wrong("likelihood that is known")
		}
		f.task.of = StudentT(nu)
	}
	f.posterior = laplacePosterior{q}
	return f, q.curve(ctx, a.Curve)
}
