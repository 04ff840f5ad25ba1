package gp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers/linear"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/points"
)

// Samples are functions drawn from a Gaussian process at m points.
type Samples struct {
	Values [][]float64 // one row of m values for each function, without noise

	// Jitter is the variance that was added at every point. The covariance of a smooth
	// function at close points is singular in floating point, and the added variance makes
	// its factor exist. It is 1e-9 of the largest variance, or more if necessary, up to
	// 1e-6.
	Jitter float64

	// Frequencies is the number of random frequencies that approximate the prior covariance
	// of a large process; 0 if none were needed.
	Frequencies int
}

const (
	mostSampled  = 10_000 // largest number of points at which samples are drawn, 1.6 GB
	leastJitter  = 1e-9   // share of the largest variance
	sampleJitter = 1e-6
	factored     = 1500 // number of points up to which a factor of A takes little time
	frequencies  = 1000 // random frequencies for each term of a kernel; the error of K is about 2 %
)

// Sample draws count functions from the posterior at m points, without noise. The same seed
// gives the same functions, up to the rounding errors of a nearly singular covariance. The
// method is Matheron's rule (Wilson et al. 2020, eq. 9): a function f drawn from the prior,
// with noise e at the observations, is corrected by the observations,
//
//	f(x) + mean + k(x, X) A⁻¹ (y − mean − f(X) − e).
//
// Direct methods, and all methods up to 1500 observations, draw from the exact posterior:
// its mean plus Lz, where LL' is its covariance and z is standard normal. This costs n²
// multiplications for each point and m³/6.
//
// Iterative methods for more observations draw f by 1000 [kernels.Frequencies] for each
// term of the kernel, and solve one system for each function. Near observations the result
// is as accurate as this solution; elsewhere the error of the covariance is about 2 %. A
// kernel without frequencies needs the exact method.
//
// Errors are those of Predict, and an *ArgumentError for a count below 1, for more than 10
// 000 points, or if there is not enough memory. When ctx ends early, Sample returns the
// functions drawn so far, if any, with an error that wraps context.Cause(ctx).
func (f *Fit) Sample(ctx context.Context, x datasets.Points, count int, seed uint64) (_ *Samples, err error) {
	defer guard.Caught(&err)
	rows, err := f.asked(ctx, "Sample", x)
	if err != nil {
		return nil, err
	}
	return f.sample(ctx, rows, count, seed)
}

func (f *Fit) sample(ctx context.Context, x [][]float64, count int, seed uint64) (*Samples, error) {
	if err := f.check("Sample", x); err != nil {
		return nil, err
	}
	if err := f.task.checkSample("Sample", x, count, 0); err != nil {
		return nil, err
	}
	if !direct(f.task.method) && len(f.Alpha) > factored {
		omega, weight, err := kernels.Frequencies(f.task.kernel, f.task.data.D(), frequencies, seed)
		if err == nil {
			if err := f.task.checkSample("Sample", x, count, len(f.Alpha)+2*len(omega)); err != nil {
				return nil, err
			}
			return f.task.functions(f.bend(ctx, omega, weight, x, count, seed))
		}
	}
	means, err := f.predict(x)
	if err != nil {
		return nil, err
	}
	covariance, err := f.covariance(ctx, x)
	if err != nil {
		return nil, fmt.Errorf("svmnb: Sample: %w", err)
	}
	return f.task.functions(draw(ctx, "Sample", means, covariance, count, seed))
}

// bend draws functions by random frequencies and corrects them by Matheron's rule. They are
// in units of the system.
func (f *Fit) bend(ctx context.Context, omega [][]float64, weight []float64, x [][]float64, count int, seed uint64) (*Samples, error) {
	rng := rand.New(rand.NewPCG(seed, 0x6770))
	cosine, sine := make([][]float64, len(omega)), make([][]float64, len(omega)) // coefficients of all functions
	for j, w := range weight {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("svmnb: Sample: %w", context.Cause(ctx))
		}
		for range count {
			cosine[j] = append(cosine[j], math.Sqrt(w)*rng.NormFloat64())
			sine[j] = append(sine[j], math.Sqrt(w)*rng.NormFloat64())
		}
	}
	// at returns the values of all functions at the points.
	at := func(points [][]float64) ([][]float64, error) {
		values, here := make([][]float64, count), make([]float64, count)
		for _, p := range points {
			if ctx.Err() != nil {
				return nil, fmt.Errorf("svmnb: Sample: %w", context.Cause(ctx))
			}
			clear(here)
			for j, w := range omega {
				sin, cos := math.Sincos(vec.Dot(w, p))
				a, b := cosine[j], sine[j]
				for c := range here {
					here[c] += a[c]*cos + b[c]*sin
				}
			}
			for c, v := range here {
				values[c] = append(values[c], v)
			}
		}
		return values, nil
	}
	observed, err := at(f.task.data.X)
	if err != nil {
		return nil, err
	}
	for _, v := range observed {
		for i, noise := range f.system.Noise {
			v[i] += math.Sqrt(noise) * rng.NormFloat64()
		}
	}
	sol, err := f.solveFor(ctx, observed)
	if err != nil {
		return nil, fmt.Errorf("svmnb: Sample: %w", err)
	}
	means, err := f.predict(x)
	if err != nil {
		return nil, err
	}
	values, err := at(x)
	if err != nil {
		return nil, err
	}
	var k []float64
	for i, p := range x {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("svmnb: Sample: %w", context.Cause(ctx))
		}
		k = f.points.Row(k, p)
		for c, v := range values {
			v[i] += means[i] - vec.Dot(k, sol.X[c])
		}
	}
	return &Samples{Values: values, Frequencies: len(omega)}, nil
}

// Prior draws count functions from the process before any observation, at m points. Their
// mean is that of the targets, or 0 for ZeroMean; Prior returns an error for a linear mean,
// which has no proper prior. Results and errors are as in [Fit.Sample].
func (p Process) Prior(ctx context.Context, at datasets.Points, count int, seed uint64) (_ *Samples, err error) {
	defer guard.Caught(&err)
	x, err := points.Dense("Prior", at)
	if err != nil {
		return nil, err
	}
	if err := arguments.Given(ctx, "Prior"); err != nil {
		return nil, err
	}
	t, err := p.prepare()
	if err != nil {
		return nil, err
	}
	if err := t.checkSample("Prior", x, count, 0); err != nil {
		return nil, err
	}
	if err := t.check("Prior", x); err != nil {
		return nil, err
	}
	if p.mean == linearMean {
		return nil, arguments.Wrong("Prior", math.NaN(), "nothing is known of a linear mean beforehand, so nothing can be drawn from it; say ConstantMean or ZeroMean")
	}
	gram, err := kernels.NewGram(t.kernel, x, kernels.NoCache)
	if err != nil {
		return nil, fmt.Errorf("svmnb: Prior: %w", err)
	}
	means, covariance := make([]float64, len(x)), make(square, len(x))
	for i := range x {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("svmnb: Prior: %w", context.Cause(ctx))
		}
		means[i], covariance[i] = t.offset, append([]float64(nil), gram.Row(i)...)
	}
	return t.functions(draw(ctx, "Prior", means, covariance, count, seed))
}

// checkSample returns an error if count is below 1 or if there is not enough memory. more
// is how many numbers a function needs besides its m values.
func (t *processTask) checkSample(call string, x [][]float64, count, more int) error {
	need, most := 8*float64(count)*(float64(len(x))+float64(more)), t.allowed()
	switch {
	case count < 1:
		return arguments.Wrong(call, float64(count), "the count is %d; it must be at least 1", count)
	case len(x) == 0:
		return arguments.Wrong(call, 0, "there are no points; give at least one")
	case len(x) > mostSampled:
		return arguments.Wrong(call, float64(len(x)), "there are %d points, and their covariance would take more than 1.6 GB; draw at %d at most", len(x), mostSampled)
	case need > most:
		return arguments.Wrong(call, float64(count), "%d functions at %d points take %.3g GB and may take %.3g: draw %d at a time, with another seed each, or raise Memory or GOMEMLIMIT", count, len(x), need/1e9, most/1e9, max(1, int(most/need*float64(count))))
	}
	return nil
}

func draw(ctx context.Context, call string, means []float64, covariance square, count int, seed uint64) (*Samples, error) {
	largest := 0.0
	for i := range covariance {
		largest = max(largest, covariance[i][i])
	}
	s := &Samples{}
	rng := rand.New(rand.NewPCG(seed, 0x6770))
	var factor *linear.CholeskyFactor
	if largest > 0 {
		var err error
		least := leastJitter * largest
		noise := slices.Repeat([]float64{least}, len(means))
		if factor, err = (linear.Cholesky{Jitter: sampleJitter*largest - least}).Factor(ctx, &linear.System{K: covariance, Noise: noise}); err != nil {
			return nil, fmt.Errorf("svmnb: %s: the covariance at these points: %w", call, err)
		}
		s.Jitter = least + factor.Jitter()
	}
	for range count {
		if ctx.Err() != nil {
			return s, fmt.Errorf("svmnb: %s: %d of %d functions: %w", call, len(s.Values), count, context.Cause(ctx))
		}
		z := make([]float64, len(means))
		for i := range z {
			z[i] = rng.NormFloat64()
		}
		if factor == nil {
			clear(z) // all variances are 0
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
