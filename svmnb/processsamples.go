package svmnb

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
)

// Samples are functions drawn from a Gaussian process at m points.
type Samples struct {
	Values [][]float64 // count functions, m values each, without noise

	// Jitter is the variance that was added at every point, because their
	// covariance is singular in floating point: smooth functions at near points
	// always are. It is at most a millionth of the largest variance.
	Jitter float64
}

const (
	mostSampled  = 10_000 // points that samples are drawn at, 1.6 GB
	sampleJitter = 1e-6   // of the largest variance
)

// Sample draws functions from the posterior at the m points of x, all values of one
// function together: mean + Lz with LL' the covariance and z standard normal
// (GPML A.2), always the same for the same seed. It costs n² multiplications a
// point, or a run of an iterative method, and m³/6. Errors are those of Posterior,
// and an *ArgumentError for a count below 1 or more than 10 000 points.
func (f *ProcessFit) Sample(ctx context.Context, x [][]float64, count int, seed uint64) (*Samples, error) {
	if err := f.check("Sample", x); err != nil {
		return nil, err
	}
	if err := checkSample("Sample", x, count); err != nil {
		return nil, err
	}
	means, err := f.Predict(x)
	if err != nil {
		return nil, err
	}
	covariance, err := f.covariance(ctx, x)
	if err != nil {
		return nil, fmt.Errorf("svmnb: Sample: %w", err)
	}
	return draw(ctx, "Sample", means, covariance, count, seed)
}

// Prior draws functions from the process before any observation, at the m points of
// x. Their mean is that of the targets, or zero for ZeroMean; a linear mean has no
// prior to draw from. The rest is as in [ProcessFit.Sample].
func (p Process) Prior(ctx context.Context, x [][]float64, count int, seed uint64) (*Samples, error) {
	t, err := p.prepare()
	if err != nil {
		return nil, err
	}
	if err := checkSample("Prior", x, count); err != nil {
		return nil, err
	}
	if err := t.check("Prior", x); err != nil {
		return nil, err
	}
	if p.mean == linearMean {
		return nil, wrong("Prior", math.NaN(), "nothing is known of a linear mean beforehand, so nothing can be drawn from it; say ConstantMean or ZeroMean")
	}
	gram, err := kernels.NewGram(t.kernel, x, kernels.NoCache)
	if err != nil {
		return nil, fmt.Errorf("svmnb: Prior: %w", err)
	}
	means, covariance := make([]float64, len(x)), make(square, len(x))
	for i := range x {
		means[i], covariance[i] = t.offset, append([]float64(nil), gram.Row(i)...)
	}
	return draw(ctx, "Prior", means, covariance, count, seed)
}

func checkSample(call string, x [][]float64, count int) error {
	switch {
	case count < 1:
		return wrong(call, float64(count), "the count is %d; it must be at least 1", count)
	case len(x) == 0:
		return wrong(call, 0, "there are no points; give at least one")
	case len(x) > mostSampled:
		return wrong(call, float64(len(x)), "there are %d points, and their covariance would take more than 1.6 GB; draw at %d at most", len(x), mostSampled)
	}
	return nil
}

// covariance returns the posterior covariance of f at the points of x (GPML 2.24,
// with a linear mean 2.42).
func (f *ProcessFit) covariance(ctx context.Context, x [][]float64) (square, error) {
	cross := make([][]float64, len(x))
	for i, p := range x {
		cross[i] = f.points.Row(nil, p)
	}
	// u'A⁻¹v is left_u·right_v, L⁻¹u·L⁻¹v where there is a factor.
	left, right := cross, make([][]float64, len(x))
	var gaps [][]float64
	if f.trend != nil {
		for i, u := range cross {
			gaps = append(gaps, f.trend.gap(f.trend.at(x[i]), u))
		}
	}
	if direct(f.task.method) {
		factor, err := f.factor(ctx)
		if err != nil {
			return nil, err
		}
		for i, u := range cross {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			right[i] = factor.HalfSolve(u, u)
		}
		left = right
	} else {
		sol, err := f.solveFor(ctx, cross)
		if err != nil {
			return nil, err
		}
		right = sol.X
	}
	c := make(square, len(x))
	for i := range c {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		c[i] = make([]float64, len(x))
		for j := range i + 1 {
			v := f.task.kernel.Eval(x[i], x[j]) - (dot(left[i], right[j])+dot(left[j], right[i]))/2
			if gaps != nil {
				v += f.trend.between(gaps[i], gaps[j])
			}
			c[i][j], c[j][i] = v, v
		}
		c[i][i] = max(c[i][i], 0)
	}
	return c, nil
}

func draw(ctx context.Context, call string, means []float64, covariance square, count int, seed uint64) (*Samples, error) {
	largest := 0.0
	for i := range covariance {
		largest = max(largest, covariance[i][i])
	}
	s := &Samples{}
	rng := rand.New(rand.NewPCG(seed, 0x6770))
	var factor *solvers.CholeskyFactor
	if largest > 0 {
		var err error
		if factor, err = (solvers.Cholesky{Jitter: sampleJitter * largest}).Factor(ctx, &solvers.System{K: covariance}); err != nil {
			return nil, fmt.Errorf("svmnb: %s: the covariance at these points: %w", call, err)
		}
		s.Jitter = factor.Jitter()
	}
	for range count {
		z := make([]float64, len(means))
		for i := range z {
			z[i] = rng.NormFloat64()
		}
		if factor == nil {
			clear(z) // nothing is uncertain
		} else {
			z = factor.Multiply(z, z)
		}
		for i, m := range means {
			z[i] += m
		}
		s.Values = append(s.Values, z)
	}
	return s, nil
}
