package svmnb

import (
	"context"
	"fmt"
	"math"

	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
)

// Belief is what a Gaussian process says of f at m points.
type Belief struct {
	Mean     []float64 // m means, that of the targets included
	Variance []float64 // m variances of f, ≥ 0; the upper bounds where there are bounds

	// Noise is the variance that a new target has besides that of f; NaN where
	// it differs from point to point.
	Noise float64

	// Of an iterative method, which may have stopped early: the exact mean is
	// within MeanError of Mean, the exact variance between VarianceLower and
	// Variance. Both are nil for a direct method, which is exact but for rounding.
	MeanError, VarianceLower []float64
}

// batch is how many points are predicted by one call of an iterative method:
// enough that one pass over K serves many, few enough to look at ctx often.
const batch = 32

// Predict returns the means of the m points of x, each of the training data's d
// features. The error is an *ArgumentError that names the first row of another
// length or with a value that is no finite number, or wraps a
// *kernels.DataError for a point outside the domain of the kernel.
func (f *ProcessFit) Predict(x [][]float64) ([]float64, error) {
	if err := f.check("Predict", x); err != nil {
		return nil, err
	}
	out, row := make([]float64, len(x)), make([]float64, len(f.Alpha))
	for i, p := range x {
		out[i] = f.mean(p) + dot(f.points.Row(row, p), f.Alpha)
	}
	return out, nil
}

// mean is the mean of the process at x before the observations.
func (f *ProcessFit) mean(x []float64) float64 {
	if f.trend == nil {
		return f.Offset
	}
	return dot(f.trend.at(x), f.trend.beta)
}

// Posterior returns mean and variance of f at the m points of x (GPML 2.25 and
// 2.26, with a linear mean 2.41). Each point costs n² multiplications with
// Cholesky's factor and a run of its own with any other method. Errors are those
// of Predict; when ctx ends early, what was known by then comes with an error
// that wraps context.Cause(ctx), and points that were not reached have the
// variance of the process before the observations.
func (f *ProcessFit) Posterior(ctx context.Context, x [][]float64) (*Belief, error) {
	if err := f.check("Posterior", x); err != nil {
		return nil, err
	}
	b, err := f.belief(ctx, f.task.kernel, f.points, x)
	for i, p := range x {
		b.Mean[i] += f.mean(p)
	}
	b.Noise = f.task.noise
	if f.task.noises != nil {
		b.Noise = math.NaN()
	}
	return b, err
}

// Component is the share of one term of the kernel in a posterior.
type Component struct {
	Kernel kernels.Kernel
	Belief // of that part of f, whose mean beforehand is 0
}

// Components takes the posterior at the m points of x apart into the terms of a
// kernels.Sum: term p has mean k_p'A⁻¹y and variance k_p(x, x) − k_p'A⁻¹k_p
// (Duvenaud 2014, §2.4.5). The means add up to that of Posterior less the mean
// beforehand; the variances do not, for what one term does not explain another
// may. A kernel that is no sum is its own component. Errors are those of
// Posterior.
func (f *ProcessFit) Components(ctx context.Context, x [][]float64) ([]Component, error) {
	if err := f.check("Components", x); err != nil {
		return nil, err
	}
	var parts []Component
	for _, k := range terms(f.task.kernel) {
		b, err := f.belief(ctx, k, kernels.Against(k, f.task.data.X), x)
		if err != nil {
			return nil, err
		}
		b.Noise = 0
		parts = append(parts, Component{k, *b})
	}
	return parts, nil
}

// terms returns the terms of a sum, in their order.
func terms(k kernels.Kernel) []kernels.Kernel {
	if s, ok := k.(kernels.SumKernel); ok {
		return append(terms(s.A), terms(s.B)...)
	}
	return []kernels.Kernel{k}
}

// belief is the posterior of the part of f whose covariance is k, the points
// being the basis: of all of f, or of a term of a sum.
func (f *ProcessFit) belief(ctx context.Context, k kernels.Kernel, points *kernels.Basis, x [][]float64) (*Belief, error) {
	b := &Belief{Mean: make([]float64, len(x)), Variance: make([]float64, len(x))}
	iterative := !direct(f.task.method)
	if iterative {
		b.MeanError, b.VarianceLower = make([]float64, len(x)), make([]float64, len(x))
	}
	n := len(f.Alpha)
	cross := make([][]float64, batch)
	var err error
	for from := 0; from < len(x); from += batch {
		to := min(from+batch, len(x))
		cross = cross[:to-from]
		for i := range cross {
			cross[i] = points.Row(cross[i], x[from+i])
		}
		// u'A⁻¹u of each row, between lower and upper.
		lower, upper := make([]float64, len(cross)), make([]float64, len(cross))
		if err == nil {
			err = f.forms(ctx, cross, lower, upper)
		}
		for i, u := range cross {
			p := from + i
			prior := k.Eval(x[p], x[p])
			b.Mean[p] = dot(u, f.Alpha)
			trend := 0.0
			if f.trend != nil {
				at := x[p]
				if k != f.task.kernel {
					at = nil
				}
				trend = f.trend.variance(at, u)
			}
			b.Variance[p] = max(0, prior-lower[i]+trend)
			if iterative {
				most := prior // u'A⁻¹u is no more, for A ⪰ K
				if upper[i] > 0 {
					most = min(most, upper[i])
				}
				b.VarianceLower[p] = max(0, prior-most)
				b.MeanError[p] = math.Sqrt(most * f.gap)
			}
		}
	}
	if err != nil {
		err = fmt.Errorf("svmnb: Posterior: %w", err)
	}
	_ = n
	return b, err
}

// check is what every question about points asks of them.
func (f *ProcessFit) check(call string, x [][]float64) error {
	d := f.task.data.D()
	for i, row := range x {
		if len(row) != d {
			return &ArgumentError{call, i, -1, float64(len(row)), fmt.Sprintf("the point has %d features, the process was fitted to %d", len(row), d)}
		}
		for j, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return &ArgumentError{call, i, j, v, fmt.Sprintf("the value is %v; predictions need finite numbers", v)}
			}
		}
	}
	if err := f.points.Check(x); err != nil {
		return fmt.Errorf("svmnb: %s: %w", call, err)
	}
	return nil
}

func direct(m solvers.LinearMethod) bool {
	switch m.(type) {
	case solvers.Cholesky, solvers.LU, solvers.GaussJordan:
		return true
	}
	return false
}
