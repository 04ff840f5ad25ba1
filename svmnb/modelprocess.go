package svmnb

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
)

// processModel is what the model of a Gaussian process has besides the expansion of
// its mean.
type processModel struct {
	beta, centre []float64 // of a linear mean: 1 + d coefficients of 1 and x − centre; nil without
	noise        []float64 // one variance for all points or one for each; nil where no variance is exact

	turn turn
	fit  *ProcessFit // with the factor of A, once it is asked for
}

// Model returns what predictions need of the process: its points, its coefficients,
// its noise, no targets. Values of the model are the means of Predict, bit for bit,
// and Posterior has the variances where the process was solved by a direct method.
//
// That of an empty fit is nil.
func (f *ProcessFit) Model() *Model {
	if f.ready(context.Background(), "Model") != nil {
		return nil
	}
	p := &processModel{}
	if f.trend != nil {
		p.beta, p.centre = f.trend.beta, f.trend.centre
	}
	switch {
	case !direct(f.task.method):
	case f.task.noises != nil:
		p.noise = *f.task.noises
	default:
		p.noise = []float64{f.task.noise}
	}
	x := written(f.task.data.X)
	m := &Model{kind: processKind, kernel: f.task.kernel, process: p, machines: []term{{coef: f.Alpha, b: f.Offset}},
		expanded: expanded{x: x, basis: func() *kernels.Basis { return f.points }, d: f.task.data.D(), behind: f.task.behind, kernel: f.task.kernel}}
	return m.beyond(f.task.data)
}

// Posterior returns mean and variance of f at the m points of x, of the model of a
// [ProcessFit] that a direct method has solved. The first call computes Cholesky's
// factor of the n points, n³/3 operations and 4n² bytes. Errors are those of
// Decisions, an *ArgumentError for other models, and that of ctx.
func (m *Model) Posterior(ctx context.Context, x [][]float64) (_ *Belief, err error) {
	defer caught(&err)
	switch {
	case m.none():
		return nil, arguments.NoFit("Posterior")
	case ctx == nil:
		return nil, arguments.Given(ctx, "Posterior")
	}
	p := m.process
	switch {
	case p == nil:
		return nil, arguments.Wrong("Posterior", math.NaN(), "a model of %v has no variances; take that of a GaussianProcess", m.kind)
	case p.noise == nil:
		return nil, arguments.Wrong("Posterior", math.NaN(), "the process was solved by an iterative method, whose variances are bounds that it computes anew; solve by Cholesky(), or say Values for the means")
	}
	at, err := m.enter(ctx, "Posterior", written(x))
	if err != nil {
		return nil, err
	}
	fit, err := p.factored(ctx, m)
	if err != nil {
		return nil, err
	}
	return fit.Posterior(ctx, at.x)
}

// factored is the process as it was fitted, all but its targets.
func (p *processModel) factored(ctx context.Context, m *Model) (*ProcessFit, error) {
	release, err := p.turn.take(ctx)
	if err != nil {
		return nil, fmt.Errorf("svmnb: Posterior: %w", err)
	}
	defer release()
	if p.fit != nil {
		return p.fit, nil
	}
	d := GaussianProcess(&datasets.Dataset{Name: "model", X: m.x.x, Y: make([]float64, m.x.n())}).Kernel(m.kernel).ZeroMean()
	if p.beta != nil {
		d = d.LinearMean()
	}
	if len(p.noise) == 1 {
		d = d.NoiseVariance(p.noise[0])
	} else {
		d = d.NoiseVariances(p.noise)
	}
	fit, err := d.Fit(ctx)
	if err != nil {
		return nil, err
	}
	fit.Alpha, fit.Offset = m.machines[0].coef, m.machines[0].b
	if p.beta != nil {
		fit.trend.beta, fit.trend.centre = p.beta, p.centre
	}
	p.fit = fit
	return fit, nil
}

// means are Σ_j α_j K(x_j, x) and the mean of the process before the observations.
func (m *Model) means(p points) [][]float64 {
	t := m.machines[0]
	out := slices.Repeat([]float64{t.b}, p.n())
	if tr := (&trend{beta: m.process.beta, centre: m.process.centre}); tr.beta != nil {
		var x []float64
		for i := range out {
			if x = p.row(i); p.sparse != nil {
				x = p.sparse.Point(nil, i)
			}
			out[i] = dot(tr.at(x), tr.beta)
		}
	}
	p.addTimes([][]float64{out}, m.basis(), [][]float64{t.coef})
	return asRows(out)
}

// complete checks a model of m that was read, and says what is wrong.
func (p *processModel) complete(m *Model) string {
	n := m.x.n()
	switch {
	case m.x.sparse != nil:
		return "the points of a process are not sparse"
	case n == 0:
		return "the process has no points"
	case p.beta == nil && p.centre != nil, p.beta != nil && (len(p.beta) != m.d+1 || len(p.centre) != m.d):
		return "the linear mean has other features than the points"
	case !allFinite(p.beta) || !allFinite(p.centre) || !allFinite(p.noise):
		return "a number of the process is not finite"
	case len(p.noise) > 1 && len(p.noise) != n:
		return "want the variance of the noise for all points, or for each"
	case slices.ContainsFunc(p.noise, func(v float64) bool { return v < 0 }):
		return "a variance is negative"
	}
	return ""
}
