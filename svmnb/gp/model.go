package gp

import (
	"context"
	"fmt"
	"math"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
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
// that a direct method has solved, or the fit of a pipeline that ends in a process. The
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
