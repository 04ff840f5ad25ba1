package gp

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers/linear"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

func (p processing) Stated() (learn.Explorable, error) {
	p.live, p.learn, p.restarts = false, false, 0
	t, err := p.prepare()
	if err != nil {
		return nil, err
	}
	if d := p.data.D(); d != 1 {
		return nil, arguments.Wrong("Explore", float64(d), "the data have %d features; a Gaussian process is explored over one, so choose it by Columns(j) of the data set", d)
	}
	if p.kernel == nil {
		k := t.kernel.(kernels.ScaleKernel)
		p.kernel = kernels.Scale(learn.Digits(k.C, 3), kernels.RBF(learn.Digits(k.K.(kernels.GaussianKernel).Gamma, 3)))
	}
	if !p.noisy {
		p.Process = p.NoiseVariance(learn.Digits(t.noise, 3))
	}
	return p, nil
}

// Figured tells the engine of living figures the process. A linear mean needs generalised least
// squares, which the engine has not.
func (p processing) Figured() (f learn.Figure, why string) {
	f = learn.Figure{Task: "process", C: p.noise, ZeroMean: p.mean == zeroMean, Scaled: p.scaled}
	if p.noises != nil {
		if f.Weights = *p.noises; slices.Contains(f.Weights, 0) {
			return f, "some targets have no noise; their solvers need a variance above 0 where targets have one each"
		}
	}
	switch {
	case p.mean == linearMean:
		return f, "the process has a linear mean, and theirs have a constant mean or none"
	case p.behind != nil:
		return f, "the process stands behind the steps of a pipeline, which they do not have"
	}
	if !direct(p.method) {
		f.Method = p.method
	}
	return f, ""
}

func (p processing) Usual() kernels.Kernel                        { return p.kernel }
func (p processing) WithKernel(k kernels.Kernel) learn.Explorable { return processing{p.Kernel(k)} }

func (p processing) Family() []kernels.Kernel {
	gamma := learn.Digits(2*kernels.GammaMedian(p.data.X), 3)
	length := learn.Digits(1/math.Sqrt(2*gamma), 3)
	return []kernels.Kernel{kernels.RBF(gamma), kernels.Matern32(length), kernels.Matern52(length), kernels.Exponential(length), kernels.RationalQuadratic(length, 1), kernels.Linear()}
}

func (p processing) Dials() []learn.Dial {
	if p.noises != nil || p.noise == 0 {
		return nil
	}
	return []learn.Dial{learn.LogDial("NoiseVariance", p.noise)}
}

func (p processing) Ways() []learn.Way {
	ways := []learn.Way{{Name: p.method.Name(), Take: func(l learn.Explorable) learn.Explorable { return l }}}
	for _, m := range []linear.Method{linear.Cholesky{}, linear.CG{}, linear.CG{Rank: 10}} {
		if m != p.method && (direct(m) || p.mean != linearMean) {
			ways = append(ways, learn.Way{Name: m.Name(), Take: func(l learn.Explorable) learn.Explorable { return processing{l.(processing).Using(m)} }})
		}
	}
	return ways
}

func (f processed) Look() (*display.Chart, error) { return Posterior.Of(f.fit) }

func (f processed) Fared() string {
	return fmt.Sprintf("%s: %s, %s", f.fit.Method, say.Several(f.fit.Iterations, "iteration"), say.Spell(f.fit.Elapsed))
}

func (f processed) Panel(ctx context.Context, d *figure.MultiplesData) (figure.Panel, bool, error) {
	t := f.fit.task
	rows := learn.Places(d, t.data.X)
	d.Features, d.Y, d.Measure = [2]string{t.data.FeatureName(0), t.data.Target}, t.data.Y, "log marginal likelihood"
	b, err := f.fit.posterior(ctx, rows)
	if err != nil {
		return figure.Panel{}, false, err
	}
	p := figure.Panel{F: b.Mean, Value: f.fit.cheapEvidence().Value}
	for i, sd := range deviations(b.Variance, 0) {
		p.Lower, p.Upper = append(p.Lower, b.Mean[i]-2*sd), append(p.Upper, b.Mean[i]+2*sd)
	}
	p.Note = "log likelihood " + say.Signed(p.Value, 4)
	return p, true, nil
}
