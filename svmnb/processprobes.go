package svmnb

import (
	"context"
	"fmt"
	"math"

	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
)

// probes is how many random right-hand sides estimate ln|A| and traces: for ln|A|
// of some hundred points they give it to about one part in a hundred.
const probes = 16

// probe solves for the probes, always the same ones, by the CG of the fit.
func (f *ProcessFit) probe(ctx context.Context) (*solvers.Probes, error) {
	m, _ := f.task.method.(solvers.CG) // plain CG for the other iterative methods
	m.GibbsMacKay = false
	p, err := solvers.Probe(ctx, f.system, m, probes, 1, solvers.SystemSettings{})
	if err != nil {
		return nil, fmt.Errorf("svmnb: probes of A: %w", err)
	}
	return p, nil
}

// estimate is the log marginal likelihood of an iterative method.
func (f *ProcessFit) estimate(ctx context.Context) (Estimate, error) {
	p, err := f.probe(ctx)
	if err != nil {
		return Estimate{Value: math.NaN(), Error: math.NaN()}, err
	}
	n, c := float64(len(f.Alpha)), f.Certificate
	return Estimate{
		Value: -(c.Lower+c.Upper)/4 - p.LogDet/2 - n/2*math.Log(2*math.Pi),
		Error: p.LogDetError / 2,
	}, nil
}

// estimateGradient fills in the gradients of an iterative method: α is that of the
// fit, and tr(A⁻¹∂A) the mean of x'(∂A)w over the probes.
func (f *ProcessFit) estimateGradient(ctx context.Context, partials []Partial) ([]Partial, error) {
	p, err := f.probe(ctx)
	if err != nil {
		return nil, err
	}
	k, err := kernels.NewGradient(f.task.kernel, f.task.data.X)
	if err != nil {
		return nil, fmt.Errorf("svmnb: %w", err)
	}
	// forms returns u'(∂A)v for all hyperparameters.
	weights := make([]float64, len(f.Alpha))
	forms := func(u, v []float64) ([]float64, error) {
		out := k.Contract(make([]float64, 0, len(partials)), func(i int) []float64 {
			if ctx.Err() != nil {
				return nil
			}
			for j := range weights {
				weights[j] = (u[i]*v[j] + v[i]*u[j]) / 2
			}
			return weights
		})
		if out == nil {
			return nil, fmt.Errorf("svmnb: Gradient: %w", context.Cause(ctx))
		}
		if f.task.oneNoise() {
			out = append(out, f.task.noise*dot(u, v))
		}
		return out, nil
	}
	fit, err := forms(f.Alpha, f.Alpha)
	if err != nil {
		return nil, err
	}
	count := float64(p.Len())
	sum, squares := make([]float64, len(fit)), make([]float64, len(fit))
	for j := range p.Len() {
		x, w := p.Pair(j)
		trace, err := forms(x, w)
		if err != nil {
			return nil, err
		}
		for i, t := range trace {
			sum[i] += t
			squares[i] += t * t
		}
	}
	for i := range partials {
		mean := sum[i] / count
		variance := max(0, squares[i]/count-mean*mean) / (count - 1) // of the mean
		partials[i].Gradient = Estimate{(fit[i] - mean) / 2, math.Sqrt(variance) / 2}
	}
	return partials, nil
}
