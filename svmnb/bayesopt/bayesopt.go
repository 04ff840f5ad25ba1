// Package bayesopt chooses the settings of a search by Bayesian optimisation: a Gaussian
// process learns how the score depends on the parameters, and the next setting is the one
// that promises most (Jones, Schonlau and Welch 1998; Snoek, Larochelle and Adams 2012).
//
//	found := selection.Search(svmnb.Classify(data), bayesopt.Space{N: 30, Ranges: map[string]selection.Range{
//		"C":     {Low: 0.1, High: 1000, Log: true},
//		"gamma": {Low: 1e-4, High: 10, Log: true},
//	}}, folds).Keep()
//
// It is a package of its own so that other searches do not link Gaussian processes.
package bayesopt

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/optimize"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/gp"
	"github.com/svmnb/svmnb/svmnb/selection"
)

// Space is N settings of parameters in ranges. The first 2d + 2 of d parameters are drawn at
// random. Each other one is the setting with the largest expected improvement over the best
// so far, under a process that is fitted to all scores. The seed and the scores determine
// the settings, so a search can go on from its file, also with a larger N.
//
// The largest of 2,000 candidates, a quarter of them near the best so far, are improved by gradients.
//
// Choosing a setting takes milliseconds. It pays when a fit takes longer, and when there are
// at most about 10 parameters and a few hundred settings.
type Space struct {
	N      int
	Ranges map[string]selection.Range
	Seed   uint64

	calm bool // little noise is expected in the scores
}

// Settings implements [selection.Space]. It returns the settings that are drawn at random, or
// the errors of [selection.Random].
func (s Space) Settings() (names []string, settings [][]float64, err error) {
	all := selection.Random{N: s.N, Ranges: s.Ranges, Seed: s.Seed}
	names, settings, err = all.Settings()
	if err != nil {
		return nil, nil, err
	}
	return names, settings[:min(s.N, 2*len(names)+2)], nil
}

// Len implements [selection.Sequential].
func (s Space) Len() int { return s.N }

// String describes the ranges in words.
func (s Space) String() string {
	return fmt.Sprintf("Bayesian optimisation, %v", selection.Random{N: s.N, Ranges: s.Ranges, Seed: s.Seed})
}

// candidates is how many settings Next compares. A quarter of them are near the best so far.
const candidates = 2000

// Next implements [selection.Sequential]. It returns nil after N settings, and when all
// settings of ranges of whole numbers were tried.
func (s Space) Next(ctx context.Context, tried [][]float64, scores []float64) ([]float64, error) {
	if len(tried) >= s.N {
		return nil, nil
	}
	names := s.names()
	for _, v := range tried {
		if len(v) != len(names) || len(tried) != len(scores) {
			return nil, fmt.Errorf("bayesopt: Next: %d settings with %d scores, and %d values for the parameters %q; give one score for each setting, and one value for each parameter", len(tried), len(scores), len(v), names)
		}
	}
	fit, best, err := s.model(ctx, names, tried, scores)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(s.Seed, uint64(len(tried))))
	var values, units [][]float64
	for k := range candidates {
		v, u := make([]float64, len(names)), make([]float64, len(names))
		width := math.Pow(10, -1-2*rng.Float64())
		for j, name := range names {
			at := rng.Float64()
			if k%4 == 0 && best != nil {
				at = min(1, max(0, best[j]+width*rng.NormFloat64()))
			}
			v[j] = value(s.Ranges[name], at)
			u[j] = unit(s.Ranges[name], v[j])
		}
		if !slices.ContainsFunc(tried, func(old []float64) bool { return slices.Equal(old, v) }) {
			values, units = append(values, v), append(units, u)
		}
	}
	if len(values) == 0 {
		return nil, nil
	}
	if fit == nil {
		return values[0], nil
	}
	top, err := s.top(ctx, fit, names, tried)
	if err != nil {
		return nil, err
	}
	improvement, err := improvements(ctx, fit, units, top)
	if err != nil {
		return nil, err
	}
	order := vec.Indices[int](len(units))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(improvement[b], improvement[a]) })
	pick, most := values[order[0]], improvement[order[0]]
	for _, k := range order[:min(ascents, len(order))] {
		u, e := s.ascend(ctx, fit, names, units[k], top)
		if e > most {
			v := make([]float64, len(names))
			for j, name := range names {
				v[j] = value(s.Ranges[name], u[j])
			}
			if !slices.ContainsFunc(tried, func(old []float64) bool { return slices.Equal(old, v) }) {
				pick, most = v, e
			}
		}
	}
	return pick, ctx.Err()
}

// top returns the largest mean at the settings that were tried.
func (s Space) top(ctx context.Context, fit *gp.Fit, names []string, tried [][]float64) (float64, error) {
	now, err := fit.Posterior(ctx, datasets.Rows(s.units(names, tried)))
	if err != nil {
		return 0, err
	}
	return slices.Max(now.Mean), nil
}

// improvements returns the expected improvement over top at points of the unit cube.
func improvements(ctx context.Context, fit *gp.Fit, units [][]float64, top float64) ([]float64, error) {
	at, err := fit.Posterior(ctx, datasets.Rows(units))
	if err != nil {
		return nil, err
	}
	list := make([]float64, len(units))
	for i, mean := range at.Mean {
		list[i] = ExpectedImprovement(mean, math.Sqrt(at.Variance[i]), top)
	}
	return list, nil
}

// ascents is how many of the best candidates Next improves by gradients.
const ascents = 5

// ascend maximises the logarithm of the expected improvement from a point of the unit cube, by
// L-BFGS over angles θ with u = ½(1 + sin θ). It keeps whole numbers as they are. With z = (μ −
// top)/σ, ∂EI = Φ(z) ∂μ + φ(z) ∂σ.
func (s Space) ascend(ctx context.Context, fit *gp.Fit, names []string, start []float64, top float64) (u []float64, improvement float64) {
	u = slices.Clone(start)
	var free []int
	var angles []float64
	for j, name := range names {
		if r := s.Ranges[name]; !r.Whole && r.High > r.Low {
			free, angles = append(free, j), append(angles, math.Asin(min(0.99, max(-0.99, 2*u[j]-1))))
		}
	}
	if len(free) == 0 {
		return u, 0
	}
	place := func(angles []float64) {
		for k, j := range free {
			u[j] = (1 + math.Sin(angles[k])) / 2
		}
	}
	evaluate := func(grad, angles []float64) float64 {
		place(angles)
		b, err := fit.Posterior(ctx, datasets.Rows{u})
		if err != nil || !(b.Variance[0] > 0) {
			return math.Inf(1)
		}
		sd := math.Sqrt(b.Variance[0])
		e := ExpectedImprovement(b.Mean[0], sd, top)
		if !(e > 0) {
			return math.Inf(1)
		}
		if grad != nil {
			d, err := fit.Derivatives(ctx, datasets.Rows{u})
			if err != nil {
				return math.Inf(1)
			}
			z := (b.Mean[0] - top) / sd
			cumulative, density := math.Erfc(-z/math.Sqrt2)/2, math.Exp(-z*z/2)/math.Sqrt(2*math.Pi)
			for k, j := range free {
				slope := cumulative*d.Mean[0][j] + density*d.OfVariance[0][j]/(2*sd)
				grad[k] = -slope / e * math.Cos(angles[k]) / 2
			}
		}
		return -math.Log(e)
	}
	if math.IsInf(evaluate(nil, angles), 1) {
		return u, 0
	}
	end, _ := optimize.Minimize(optimize.Problem{
		Func: func(angles []float64) float64 { return evaluate(nil, angles) },
		Grad: func(grad, angles []float64) { evaluate(grad, angles) },
	}, angles, &optimize.Settings{MajorIterations: 20, FuncEvaluations: 60}, &optimize.LBFGS{}) // an error means that the line search could not go on
	if end == nil {
		return u, 0
	}
	place(end.X)
	return u, math.Exp(-end.F)
}

// model fits a process to the scores over the unit cube. It returns nil if fewer than two
// settings have a score, and the place of the best score. A setting that could not be fitted
// counts as the worst one.
func (s Space) model(ctx context.Context, names []string, tried [][]float64, scores []float64) (fit *gp.Fit, best []float64, err error) {
	known := slices.DeleteFunc(slices.Clone(scores), math.IsNaN)
	if len(known) < 2 {
		return nil, nil, nil
	}
	x, y := s.units(names, tried), slices.Clone(scores)
	low, high := slices.Min(known), slices.Max(known)
	for i, v := range y {
		if math.IsNaN(v) {
			y[i] = low
		} else if v == high && best == nil {
			best = x[i]
		}
	}
	lengths, noise := slices.Repeat([]float64{0.5}, len(names)), 0.01
	if s.calm {
		noise = 1e-4
	}
	p := gp.Regress(datasets.New(x, y)).Kernel(kernels.Scale(1, kernels.ARD(lengths...))).NoiseVariance(noise).
		NormaliseTargets().Cholesky().Bound("noise", 1e-6, 1).LogNormalPrior("noise", noise, 2)
	hypers, err := kernels.Hyperparameters(kernels.Scale(1, kernels.ARD(lengths...)))
	if err != nil {
		return nil, nil, err
	}
	for _, h := range hypers {
		p = p.LogNormalPrior(h.Name, h.Value, 1)
	}
	fit, err = p.Optimise().Fit(ctx)
	if fit == nil || ctx.Err() != nil {
		return nil, nil, err
	}
	return fit, best, nil
}

// names returns the parameters in the order of Settings; nil if a range is wrong.
func (s Space) names() []string {
	names, _, _ := selection.Random{N: 1, Ranges: s.Ranges}.Settings()
	return names
}

// units returns the settings as points of the unit cube.
func (s Space) units(names []string, settings [][]float64) [][]float64 {
	x := make([][]float64, len(settings))
	for i, v := range settings {
		x[i] = make([]float64, len(names))
		for j, name := range names {
			x[i][j] = unit(s.Ranges[name], v[j])
		}
	}
	return x
}

// value returns the number at the share u of a range.
func value(r selection.Range, u float64) float64 {
	v := r.Low + u*(r.High-r.Low)
	if r.Log {
		v = math.Exp(math.Log(r.Low) + u*(math.Log(r.High)-math.Log(r.Low)))
	}
	if r.Whole {
		return math.Round(v)
	}
	return min(r.High, max(r.Low, v))
}

// unit returns the share of a range at which v is.
func unit(r selection.Range, v float64) float64 {
	low, high := r.Low, r.High
	if r.Log {
		low, high, v = math.Log(low), math.Log(high), math.Log(v)
	}
	if high == low {
		return 0
	}
	return (v - low) / (high - low)
}

// ExpectedImprovement returns E[max(0, f − best)] for a normal f with the given mean and
// standard deviation (Jones, Schonlau and Welch 1998, eq. 15):
// (μ − best) Φ(z) + σ φ(z) with z = (μ − best)/σ.
func ExpectedImprovement(mean, sd, best float64) float64 {
	d := mean - best
	if !(sd > 0) {
		return max(0, d)
	}
	z := d / sd
	return max(0, d*math.Erfc(-z/math.Sqrt2)/2+sd*math.Exp(-z*z/2)/math.Sqrt(2*math.Pi))
}
