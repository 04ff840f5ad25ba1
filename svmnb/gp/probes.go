package gp

import (
	"context"
	"fmt"
	"math"

	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers/linear"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
)

// probes is the number of random right-hand sides that estimate ln|A| and traces. For some
// hundred points, the error of ln|A| is about 1 %.
const probes = 16

// probe solves the system for the probes, which are always the same, by the CG of the fit.
func (f *Fit) probe(ctx context.Context, stop linear.Criterion) (*linear.Probes, error) {
	release, err := f.turn.Take(ctx)
	if err != nil {
		return nil, fmt.Errorf("svmnb: probes of A: %w", err)
	}
	defer release()
	p, err := linear.Probe(ctx, f.system, f.cg(), probes, 1, linear.Settings{Stop: stop})
	if err != nil {
		return nil, fmt.Errorf("svmnb: probes of A: %w", err)
	}
	return p, nil
}

// cg returns the CG of the fit, or plain CG for the other iterative methods.
func (f *Fit) cg() linear.CG {
	m, _ := f.task.method.(linear.CG)
	m.GibbsMacKay = false
	return m
}

// estimate returns the log marginal likelihood of an iterative method.
func (f *Fit) estimate(ctx context.Context) (Estimate, error) {
	c := f.Certificate
	if math.IsInf(c.Energy, 1) {
		return unknown, arguments.Wrong("LogMarginalLikelihood", math.NaN(), "%s has no upper bound of y'A⁻¹y, as the noise is 0 or too small beside the kernel, or the run was interrupted before its first one; use Cholesky, or raise NoiseVariance", f.Method)
	}
	p, err := f.probe(ctx, nil)
	if err != nil {
		return unknown, err
	}
	n := float64(len(f.Alpha))
	return Estimate{
		Value: -(c.Lower+c.Upper)/4 - p.LogDet/2 - n/2*math.Log(2*math.Pi),
		Error: p.LogDetError / 2,
		Width: (c.Upper-c.Lower)/4 + p.LogDetWidth/2,
	}, nil
}

// forGradient is the criterion for α and the probes in a gradient. Their errors then change
// the gradient by about 1e-4 of itself, which is less than the standard error.
var forGradient = linear.Bounds{Rel: 1e-8}

// settled returns α with the accuracy that a gradient needs. If necessary it continues from
// the end of the fit.
func (f *Fit) settled(ctx context.Context) ([]float64, error) {
	if c := f.Certificate; c.Upper-c.Lower <= forGradient.Rel*c.Lower {
		return f.Alpha, nil
	}
	release, err := f.turn.Take(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	sol, err := linear.Solve(ctx, f.system, [][]float64{f.task.y}, f.cg(), linear.Settings{
		Stop: forGradient, Start: [][]float64{f.Alpha}, Every: -1})
	if err != nil {
		return nil, err
	}
	if sol.Status.Early() {
		c := sol.Certificates[0]
		return nil, arguments.Wrong("Gradient", c.Energy, "%s does not come near enough to A⁻¹y: y'A⁻¹y is between %.6g and %.6g (%s); use Cholesky, or raise NoiseVariance", sol.Method, c.Lower, c.Upper, sol.Status)
	}
	return sol.X[0], nil
}

// estimateGradient fills in the gradients of an iterative method. It estimates tr(A⁻¹∂A) by
// the mean of x'(∂A)w over the probes x, where w = A⁻¹x.
func (f *Fit) estimateGradient(ctx context.Context, partials []Partial) ([]Partial, error) {
	alpha, err := f.settled(ctx)
	if err != nil {
		return nil, fmt.Errorf("svmnb: Gradient: %w", err)
	}
	p, err := f.probe(ctx, forGradient)
	if err != nil {
		return nil, err
	}
	k, err := kernels.NewGradient(f.task.kernel, f.task.data.X)
	if err != nil {
		return nil, fmt.Errorf("svmnb: %w", err)
	}
	// forms returns u'(∂A)v for all hyperparameters.
	weights := make([]float64, len(alpha))
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
			out = append(out, f.task.noise*vec.Dot(u, v))
		}
		return out, nil
	}
	fit, err := forms(alpha, alpha)
	if err != nil {
		return nil, err
	}
	count := float64(p.Len())
	traces, mean := make([][]float64, p.Len()), make([]float64, len(fit))
	for j := range traces {
		x, w := p.Pair(j)
		if traces[j], err = forms(x, w); err != nil {
			return nil, err
		}
		for i, t := range traces[j] {
			mean[i] += t / count
		}
	}
	for i := range partials {
		variance := 0.0 // of the mean over the probes
		for _, t := range traces {
			variance += (t[i] - mean[i]) * (t[i] - mean[i]) / count / (count - 1)
		}
		partials[i].Gradient = Estimate{Value: (fit[i] - mean[i]) / 2, Error: math.Sqrt(variance) / 2}
	}
	return partials, nil
}
