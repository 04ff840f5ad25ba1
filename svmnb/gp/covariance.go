package gp

import (
	"context"
	"fmt"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
)

// Covariance returns the posterior covariance of f at m points, m rows of m values, in
// units of the targets squared (Rasmussen and Williams 2006, eq. 2.24; with a linear mean
// eq. 2.42). The matrix is symmetric, and its diagonal has the variances of Posterior. The
// noise of new targets is not in it. Each point costs n² multiplications, and each pair of
// points n.
//
// Covariance needs Cholesky's factor. If the method of the fit has none, the first call
// computes it, in n³/3 operations and 4n² bytes.
//
// Errors are those of Predict; an *ArgumentError if there is not enough memory for 8m(m+n)
// bytes, see [Process.Memory]; and a *linear.MemoryError if there is not enough for the
// factor. When ctx ends early, the error wraps context.Cause(ctx).
func (f *Fit) Covariance(ctx context.Context, x datasets.Points) (_ [][]float64, err error) {
	defer guard.Caught(&err)
	rows, err := f.asked(ctx, "Covariance", x)
	if err != nil {
		return nil, err
	}
	m, n := float64(len(rows)), float64(len(f.Alpha))
	if need, most := 8*m*(m+n), f.task.allowed(); need > most {
		return nil, arguments.Wrong("Covariance", m, "the covariance of %d points takes %.3g GB and may take %.3g: ask for fewer points, for the variances alone by Posterior, or raise Memory or GOMEMLIMIT", len(rows), need/1e9, most/1e9)
	}
	if err := f.check("Covariance", rows); err != nil {
		return nil, err
	}
	c, err := f.covariance(ctx, rows)
	if err != nil {
		return nil, fmt.Errorf("svmnb: Covariance: %w", err)
	}
	for _, row := range c {
		for j, v := range row {
			row[j] = f.task.variance(v)
		}
	}
	return c, nil
}

// covariance returns the posterior covariance of f at the points of x (Rasmussen and
// Williams 2006, eq. 2.24; with a linear mean eq. 2.42), in units of the system.
func (f *Fit) covariance(ctx context.Context, x [][]float64) (square, error) {
	factor, err := f.factor(ctx)
	if err != nil {
		return nil, err
	}
	half, gaps, c := make([][]float64, len(x)), make([][]float64, len(x)), make(square, len(x))
	for i, p := range x {
		half[i] = f.points.Row(nil, p)
		if f.trend != nil {
			gaps[i] = f.trend.gap(f.trend.at(p), half[i])
		}
	}
	if err := factor.HalfSolveAll(ctx, half); err != nil {
		return nil, err
	}
	for i, p := range x {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		c[i] = make([]float64, len(x))
		for j := range i + 1 {
			v := f.task.kernel.Eval(p, x[j]) - vec.Dot(half[i], half[j])
			if f.trend != nil {
				v += f.trend.between(gaps[i], gaps[j])
			}
			c[i][j], c[j][i] = v, v
		}
		c[i][i] = max(c[i][i], 0)
	}
	return c, nil
}
