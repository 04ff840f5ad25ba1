package gp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers/linear"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/points"
)

// Belief is what a Gaussian process says of f at m points.
type Belief struct {
	Mean     []float64 // m means, that of the targets included
	Variance []float64 // m variances of f, ≥ 0; the upper bounds where there are bounds

	// Noise is the variance that a new target has besides that of f: NaN where it
	// differs from point to point, 0 for a Component.
	Noise float64

	// Of an iterative method, which may have stopped early: the exact mean is
	// within MeanError of Mean, the exact variance between VarianceLower and
	// Variance. Both are nil for a direct method, which is exact but for rounding.
	MeanError, VarianceLower []float64
}

// batch is how many points are predicted by one call of an iterative method:
// enough that one pass over K serves many, few enough to look at ctx often.
const batch = 96

// few points are not worth a product of matrices.
const few = 6

// Predict returns the means of the m points of x, each of the training data's d
// features. The error is an *ArgumentError that names the first row of another
// length or with a value that is no finite number, or wraps a
// *kernels.DataError for a point outside the domain of the kernel.
func (f *Fit) Predict(x datasets.Points) (_ []float64, err error) {
	defer guard.Caught(&err)
	rows, err := f.asked(context.Background(), "Predict", x)
	if err != nil {
		return nil, err
	}
	return f.predict(rows)
}

// asked returns the points of a caller, row by row, where the fit can answer for them.
func (f *Fit) asked(ctx context.Context, call string, x datasets.Points) ([][]float64, error) {
	if err := f.ready(ctx, call); err != nil {
		return nil, err
	}
	if err := f.outside(call); err != nil {
		return nil, err
	}
	return points.Dense(call, x)
}

// outside refuses the points of a caller where they would have to go through the steps
// of a pipeline first.
func (f *Fit) outside(call string) error {
	if f.task.behind != nil {
		return f.task.behind.Inside(call)
	}
	return nil
}

func (f *Fit) predict(x [][]float64) ([]float64, error) {
	if err := f.check("Predict", x); err != nil {
		return nil, err
	}
	out := make([]float64, len(x))
	for i, p := range x {
		out[i] = f.mean(p)
	}
	f.points.Times(out, x, f.Alpha)
	return out, nil
}

// mean is the mean of the process at x before the observations.
func (f *Fit) mean(x []float64) float64 {
	if f.trend == nil {
		return f.Offset
	}
	return vec.Dot(f.trend.at(x), f.trend.beta)
}

// Posterior returns mean and variance of f at the m points of x (GPML 2.25 and
// 2.26, with a linear mean 2.41). Each point costs n² multiplications with
// Cholesky's factor and a run of its own with any other method. Errors are those
// of Predict; when ctx ends early, what was known by then comes with an error
// that wraps context.Cause(ctx), and points that were not reached have the
// variance of the process before the observations.
func (f *Fit) Posterior(ctx context.Context, x datasets.Points) (_ *Belief, err error) {
	defer guard.Caught(&err)
	rows, err := f.asked(ctx, "Posterior", x)
	if err != nil {
		return nil, err
	}
	return f.posterior(ctx, rows)
}

func (f *Fit) posterior(ctx context.Context, x [][]float64) (*Belief, error) {
	if err := f.check("Posterior", x); err != nil {
		return nil, err
	}
	b, err := f.belief(ctx, f.task.kernel, f.points, x, true)
	b.Noise = f.task.noise
	if f.task.noises != nil {
		b.Noise = math.NaN()
	}
	for i, p := range x {
		b.Mean[i] += f.mean(p)
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
// (Duvenaud 2014, chapter 2). The means add up to that of Posterior less the mean
// beforehand; the variances do not, for what one term does not explain another
// may. A kernel that is no sum is its own component. Errors are those of
// Posterior.
func (f *Fit) Components(ctx context.Context, x datasets.Points) (_ []Component, err error) {
	defer guard.Caught(&err)
	rows, err := f.asked(ctx, "Components", x)
	if err != nil {
		return nil, err
	}
	return f.components(ctx, rows)
}

func (f *Fit) components(ctx context.Context, x [][]float64) ([]Component, error) {
	if err := f.check("Components", x); err != nil {
		return nil, err
	}
	var parts []Component
	var failed error
	for _, k := range terms(f.task.kernel) {
		b, err := f.belief(ctx, k, kernels.Against(k, f.task.data.X), x, false)
		parts, failed = append(parts, Component{k, *b}), errors.Join(failed, err)
	}
	return parts, failed
}

// terms returns the terms of a sum, in their order.
func terms(k kernels.Kernel) []kernels.Kernel {
	switch s := k.(type) {
	case kernels.SumKernel:
		return append(terms(s.A), terms(s.B)...)
	case kernels.FixedKernel:
		if parts := terms(s.K); len(parts) > 1 {
			return parts
		}
	}
	return []kernels.Kernel{k}
}

// belief is the posterior of what has covariance k, points being its basis: of the
// whole process but for its mean, or of a term of a sum.
func (f *Fit) belief(ctx context.Context, k kernels.Kernel, points *kernels.Basis, x [][]float64, whole bool) (*Belief, error) {
	b := &Belief{Mean: make([]float64, len(x)), Variance: make([]float64, len(x))}
	exact := direct(f.task.method)
	if !exact {
		b.MeanError, b.VarianceLower = make([]float64, len(x)), make([]float64, len(x))
	}
	var failed error
	cross := make([][]float64, min(batch, len(x)))
	for from := 0; from < len(x); from += batch {
		cross = cross[:min(batch, len(x)-from)]
		for i := range cross {
			cross[i] = points.Row(cross[i], x[from+i])
		}
		forms, err := f.forms(ctx, cross)
		if failed == nil {
			failed = err
		}
		for i, u := range cross {
			p := from + i
			prior := k.Eval(x[p], x[p])
			b.Mean[p] = vec.Dot(u, f.Alpha)
			b.Variance[p] = max(0, prior-forms[i].lower)
			if !exact {
				most := min(prior, forms[i].upper) // no variance is negative
				b.VarianceLower[p] = prior - most
				if most > 0 {
					b.MeanError[p] = math.Sqrt(most * f.Certificate.Energy)
				}
			}
			if f.trend != nil {
				var h []float64 // a term has no share in the mean
				if whole {
					h = f.trend.at(x[p])
				}
				gap := f.trend.gap(h, u)
				b.Variance[p] += f.trend.between(gap, gap)
			}
		}
	}
	if failed != nil {
		failed = fmt.Errorf("svmnb: the posterior: %w", failed)
	}
	return b, failed
}

// form is what is known of u'A⁻¹u.
type form struct{ lower, upper float64 }

// forms bounds u'A⁻¹u for every u. With an error the bounds are wide but right.
func (f *Fit) forms(ctx context.Context, us [][]float64) ([]form, error) {
	forms := make([]form, len(us))
	for i := range forms {
		forms[i].upper = math.Inf(1)
	}
	if !direct(f.task.method) {
		if ctx.Err() != nil {
			return forms, context.Cause(ctx)
		}
		sol, err := f.solveFor(ctx, us)
		if sol != nil {
			for i, c := range sol.Certificates {
				forms[i] = form{max(0, c.Lower), c.Upper}
			}
		}
		return forms, err
	}
	factor, err := f.factor(ctx)
	if err != nil {
		return forms, err
	}
	half := make([][]float64, len(us))
	for i, u := range us {
		half[i] = slices.Clone(u)
	}
	if len(us) < few {
		for _, h := range half {
			factor.HalfSolve(h, h)
		}
	} else if err := factor.HalfSolveAll(ctx, half); err != nil {
		return forms, err
	}
	for i, h := range half {
		v := vec.Dot(h, h)
		forms[i] = form{v, v}
	}
	return forms, nil
}

// solveFor solves for other right-hand sides than the targets, by the method of the
// fit and within its limit of iterations.
func (f *Fit) solveFor(ctx context.Context, us [][]float64) (*linear.Solution, error) {
	release, err := f.turn.Take(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	return linear.Solve(ctx, f.system, us, f.task.method, linear.Settings{MaxIterations: f.task.limit, Every: -1})
}

// check is what every question about points asks of them.
func (f *Fit) check(call string, x [][]float64) error {
	if err := f.task.check(call, x); err != nil {
		return err
	}
	if err := f.points.Check(x); err != nil {
		return fmt.Errorf("svmnb: %s: %w", call, err)
	}
	return nil
}

func (t *processTask) check(call string, x [][]float64) error {
	d := t.data.D()
	for i, row := range x {
		if len(row) != d {
			return arguments.At(call, i, -1, float64(len(row)), "%s", points.Misfit(t.kernel, row, d, "the process was trained on"))
		}
		for j, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return arguments.At(call, i, j, v, "the value is %v; predictions need finite numbers", v)
			}
		}
	}
	return nil
}

func direct(m linear.Method) bool {
	switch m.(type) {
	case linear.Cholesky, linear.Mixed, linear.LU, linear.GaussJordan:
		return true
	}
	return false
}
