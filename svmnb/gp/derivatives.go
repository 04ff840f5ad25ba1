package gp

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
)

// Derivatives is the posterior of the partial derivatives of f at q points of d features, in units
// of the targets per unit of the feature.
type Derivatives struct {
	Mean     [][]float64 // q rows of d means; the mean of a derivative is the derivative of the mean of f
	Variance [][]float64 // q rows of d variances, ≥ 0; for an iterative method their upper bounds

	// OfVariance has q rows of d derivatives of the variance of f itself; for an iterative method
	// they have an error of about 1e-3 of the prior's.
	OfVariance [][]float64
}

// Derivatives returns the posterior of ∂f/∂x_i at q points, for each of the d features (Rasmussen
// and Williams 2006, §9.4). It costs d + 1 times what Posterior costs. To condition on derivatives
// that were measured, or for the covariances of derivatives, see [WithDerivatives].
//
// Errors are those of Predict, and an *ArgumentError if the kernel is not made of kernels.Smooth
// ones. When ctx ends early, the error wraps context.Cause(ctx).
func (f *Fit) Derivatives(ctx context.Context, x datasets.Points) (_ *Derivatives, err error) {
	defer guard.Caught(&err)
	rows, err := f.asked(ctx, "Derivatives", x)
	if err == nil {
		err = f.check("Derivatives", rows)
	}
	if err != nil {
		return nil, err
	}
	slopes, ok := kernels.Slopes(f.task.kernel)
	if !ok {
		return nil, arguments.Wrong("Derivatives", math.NaN(), "the functions of %v have no derivative, or it is not known: take SquaredExponential, ARD, Matern32, Matern52 or sums and products of these", f.task.kernel)
	}
	d, n := f.task.data.D(), len(f.Alpha)
	out := &Derivatives{}
	byX, byZ, both := make([]float64, d), make([]float64, d), make([]float64, d*d)
	us := make([][]float64, d+1) // the covariances of the derivatives, and last of f, with the observations
	for i := range us {
		us[i] = make([]float64, n)
	}
	for _, p := range rows {
		for j, z := range f.task.data.X {
			us[d][j] = slopes(byX, byZ, both, p, z)
			for i, v := range byX {
				us[i][j] = v
			}
		}
		slopes(byX, byZ, both, p, p)
		forms, err := f.crossed(ctx, us)
		if err != nil {
			return nil, fmt.Errorf("svmnb: Derivatives: %w", err)
		}
		mean, variance, ofVariance := make([]float64, d), make([]float64, d), make([]float64, d)
		for i, u := range us[:d] {
			mean[i] = vec.Dot(u, f.Alpha)
			variance[i] = max(0, both[i*d+i]-forms[i].square)
			ofVariance[i] = byX[i] + byZ[i] - 2*forms[i].withLast
			if r := f.trend; r != nil {
				h := make([]float64, d+1)
				h[i+1] = 1
				gap := r.gap(h, u)
				mean[i] += r.beta[i+1]
				variance[i] += r.between(gap, gap)
				ofVariance[i] += 2 * r.between(gap, r.gap(r.at(p), us[d]))
			}
			mean[i], variance[i], ofVariance[i] = f.task.deviation(mean[i]), f.task.variance(variance[i]), f.task.variance(ofVariance[i])
		}
		out.Mean, out.Variance, out.OfVariance = append(out.Mean, mean), append(out.Variance, variance), append(out.OfVariance, ofVariance)
	}
	return out, nil
}

// crossing has a lower bound of u'A⁻¹u, and u'A⁻¹v with the last vector v.
type crossing struct{ square, withLast float64 }

// crossed returns the products of the vectors.
func (f *Fit) crossed(ctx context.Context, us [][]float64) ([]crossing, error) {
	out, last := make([]crossing, len(us)), len(us)-1
	if !direct(f.task.method) {
		sol, err := f.solveFor(ctx, us)
		if err != nil {
			return nil, err
		}
		for i, u := range us {
			out[i] = crossing{max(0, sol.Certificates[i].Lower), vec.Dot(u, sol.X[last])}
		}
		return out, nil
	}
	factor, err := f.factor(ctx)
	if err != nil {
		return nil, err
	}
	half := make([][]float64, len(us))
	for i, u := range us {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		half[i] = factor.HalfSolve(nil, u)
	}
	for i, h := range half {
		out[i] = crossing{vec.Dot(h, h), vec.Dot(h, half[last])}
	}
	return out, nil
}

// WithDerivatives returns data for a process that knows derivatives too: the n points of data, and
// the partial derivatives at m points x, slopes[k][i] being ∂f/∂x_i at x[k], or NaN if it was not
// measured. The result has one feature more, which is 0 for a value and i, from 1 to d, for a
// derivative by feature i:
//
//	both, err := gp.WithDerivatives(data, x, slopes)
//	fit := gp.Regress(both).ZeroMean().Kernel(kernels.WithDerivatives(k)).MustFit()
//
// Predictions say by their last feature whether they are of f or of a derivative. The noise of
// derivatives has other units than that of values; say NoiseVariances. The error is that of the
// data, or an *ArgumentError that names the row.
func WithDerivatives(data *datasets.Dataset, x, slopes [][]float64) (*datasets.Dataset, error) {
	if data == nil {
		return nil, arguments.Wrong("WithDerivatives", math.NaN(), "the data set is nil; give one with the values")
	}
	if err := data.Check(); err != nil {
		return nil, err
	}
	d := data.D()
	all := *data
	all.X, all.Y = nil, slices.Clone(data.Y)
	if len(data.Features) == d {
		all.Features = append(slices.Clone(data.Features), "derivative by")
	}
	if data.Sparse != nil {
		return nil, arguments.Wrong("WithDerivatives", math.NaN(), "the points are sparse; write them out by Dense() of the data set")
	}
	for _, row := range data.X {
		all.X = append(all.X, append(slices.Clone(row), 0))
	}
	if len(slopes) != len(x) {
		return nil, arguments.Wrong("WithDerivatives", float64(len(slopes)), "there are %d points and %d rows of derivatives; give one row for each point", len(x), len(slopes))
	}
	for k, row := range x {
		if len(row) != d || len(slopes[k]) != d {
			return nil, arguments.At("WithDerivatives", k, -1, float64(len(row)), "the point has %d features and %d derivatives; the data have %d features", len(row), len(slopes[k]), d)
		}
		for i, v := range slopes[k] {
			if !math.IsNaN(v) {
				all.X, all.Y = append(all.X, append(slices.Clone(row), float64(i+1))), append(all.Y, v)
			}
		}
	}
	return &all, all.Check()
}
