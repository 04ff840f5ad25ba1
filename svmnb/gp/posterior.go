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

// Belief is the posterior of a Gaussian process at m points.
type Belief struct {
	Mean     []float64 // m means of f, including the prior mean
	Variance []float64 // m variances of f, ≥ 0; for an iterative method their upper bounds

	// Noise is the variance of the noise of a new target: NaN if it differs from point to
	// point, 0 for a Component.
	Noise float64

	// MeanError and VarianceLower are bounds for iterative methods, which may stop early:
	// the exact mean is within MeanError of Mean, and the exact variance is between
	// VarianceLower and Variance. Both are nil for a direct method, which is exact up to
	// rounding.
	MeanError, VarianceLower []float64
}

// Interval returns, at each of the m points, the interval that has the given share of the
// probability of a new target, noise included, and is centred at its mean:
//
//	Mean ± z √(Variance + Noise), z = Φ⁻¹((1 + share)/2)
//
// with z = 1.96 for a share of 0.95. For the interval of f itself, set Noise to 0 in a copy
// of the Belief. The numbers are NaN for a share that is not between 0 and 1, and if Noise
// is NaN, since the noise of a new target is not known then. MeanError is not included.
func (b Belief) Interval(share float64) (low, high []float64) {
	z := math.NaN()
	if share > 0 && share < 1 {
		z = math.Sqrt2 * math.Erfinv(share)
	}
	for i, mean := range b.Mean {
		half := math.NaN()
		if i < len(b.Variance) {
			half = z * math.Sqrt(b.Variance[i]+b.Noise)
		}
		low, high = append(low, mean-half), append(high, mean+half)
	}
	return low, high
}

// batch is how many points one call of an iterative method predicts. It is large, so that
// one pass over K serves many points, but small enough to check ctx often.
const batch = 96

// few is the number of points below which a product of matrices is not faster.
const few = 6

// Predict returns the posterior means at m points, each with the d features of the training
// data. The error is an *ArgumentError that names the first row with a wrong number of
// features or with NaN or infinity, or it wraps a *kernels.DataError for a point outside
// the domain of the kernel.
func (f *Fit) Predict(x datasets.Points) (_ []float64, err error) {
	defer guard.Caught(&err)
	rows, err := f.asked(context.Background(), "Predict", x)
	if err != nil {
		return nil, err
	}
	means, err := f.predict(rows)
	for i, m := range means {
		means[i] = f.task.value(m)
	}
	return means, err
}

// asked returns a user's points as rows. It returns an error if the fit cannot predict for
// them.
func (f *Fit) asked(ctx context.Context, call string, x datasets.Points) ([][]float64, error) {
	if err := f.ready(ctx, call); err != nil {
		return nil, err
	}
	if err := f.outside(call); err != nil {
		return nil, err
	}
	return points.Dense(call, x)
}

// outside returns an error if the fit is inside a pipeline, whose steps would have to
// transform a user's points first.
func (f *Fit) outside(call string) error {
	if f.task.behind != nil {
		return f.task.behind.Inside(call)
	}
	return nil
}

// predict returns the posterior means in units of the system.
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

// mean returns the prior mean at x; for a linear mean, with the fitted coefficients.
func (f *Fit) mean(x []float64) float64 {
	if f.trend == nil {
		return f.Offset
	}
	return vec.Dot(f.trend.at(x), f.trend.beta)
}

// Posterior returns mean and variance of f at m points (Rasmussen and Williams 2006, eqs.
// 2.25 and 2.26; with a linear mean eq. 2.41). Each point costs n² multiplications if the
// method has a Cholesky factor, and otherwise a run of the method. Errors are those of
// Predict. When ctx ends early, Posterior returns the results so far with an error that
// wraps context.Cause(ctx); the other points have the prior variance.
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
		b.Mean[i] = f.task.value(b.Mean[i] + f.mean(p))
	}
	f.task.spread(b)
	return b, err
}

// Component is the posterior of one term of a kernel that is a sum.
type Component struct {
	Kernel kernels.Kernel
	Belief // of this term of f, whose prior mean is 0
}

// Components splits the posterior at m points into the terms of a kernels.Sum. Term p has
// the mean k_p'A⁻¹y and the variance k_p(x, x) − k_p'A⁻¹k_p (Duvenaud 2014, chapter 2). The
// means add up to the mean of Posterior minus the prior mean. The variances do not add up,
// since the terms are correlated in the posterior. A kernel that is not a sum is one
// component, and so is a kernels.Named part of a sum. Errors are those of Posterior.
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
	for _, k := range terms(whole(f.task.kernel)) {
		b, err := f.belief(ctx, k, kernels.Against(k, f.task.data.X), x, false)
		f.task.spread(b)
		for i, m := range b.Mean {
			b.Mean[i] = f.task.deviation(m)
		}
		parts, failed = append(parts, Component{k, *b}), errors.Join(failed, err)
	}
	return parts, failed
}

// whole returns the kernel without a name around all of it.
func whole(k kernels.Kernel) kernels.Kernel {
	for {
		named, ok := k.(kernels.NamedKernel)
		if !ok {
			return k
		}
		k = named.K
	}
}

// terms returns the terms of a sum, in their order. A sum with a name is one term.
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

// belief returns the posterior of the process with covariance k, without its prior mean, in
// units of the system. points is the basis of the training points for k. whole is true for
// the whole process and false for a term of a sum.
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
				most := min(prior, forms[i].upper) // variances are not negative
				b.VarianceLower[p] = prior - most
				if most > 0 {
					b.MeanError[p] = math.Sqrt(most * f.Certificate.Energy)
				}
			}
			if f.trend != nil {
				var h []float64 // a term of the kernel has no part in the linear mean
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

// form has bounds for u'A⁻¹u.
type form struct{ lower, upper float64 }

// forms returns bounds for u'A⁻¹u for every u. They are correct, but wide, even if forms
// returns an error.
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

// solveFor solves the system for other right-hand sides than the targets, by the method of
// the fit and within its limit of iterations.
func (f *Fit) solveFor(ctx context.Context, us [][]float64) (*linear.Solution, error) {
	release, err := f.turn.Take(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	return linear.Solve(ctx, f.system, us, f.task.method, linear.Settings{MaxIterations: f.task.limit, Every: -1})
}

// check returns an error if the process is not defined at these points.
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
