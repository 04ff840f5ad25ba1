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
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/gp"
	"github.com/svmnb/svmnb/svmnb/selection"
)

// Space is N settings of parameters in ranges. The first 2d + 2 of d parameters are drawn at
// random. Each other one is the setting with the largest expected improvement over the best
// so far, under a process that is fitted to all scores. The seed and the scores determine
// the settings, so a search can go on from its file, also with a larger N.
//
// Choosing a setting takes milliseconds. It pays when a fit takes longer, and when there are
// at most about 10 parameters and a few hundred settings.
type Space struct {
	N      int
	Ranges map[string]selection.Range
	Seed   uint64
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
	now, err := fit.Posterior(ctx, datasets.Rows(s.units(names, tried)))
	if err != nil {
		return nil, err
	}
	at, err := fit.Posterior(ctx, datasets.Rows(units))
	if err != nil {
		return nil, err
	}
	top := slices.Max(now.Mean)
	pick, most := 0, math.Inf(-1)
	for i, mean := range at.Mean {
		if e := ExpectedImprovement(mean, math.Sqrt(at.Variance[i]), top); e > most {
			pick, most = i, e
		}
	}
	return values[pick], nil
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
	lengths := slices.Repeat([]float64{0.5}, len(names))
	p := gp.Regress(datasets.New(x, y)).Kernel(kernels.Scale(1, kernels.ARD(lengths...))).NoiseVariance(0.01).
		NormaliseTargets().Cholesky().Bound("noise", 1e-6, 1).LogNormalPrior("noise", 0.01, 2)
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
