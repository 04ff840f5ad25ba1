package gp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers/linear"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/screen"
)

// Fit is a Gaussian process after its observations. It contains the solver's solution with
// its certificate. Its posterior gives the uncertainty of the function and, if the solver
// stopped early, of the numerical solution.
//
// Variances and the evidence of a direct method come from its Cholesky factor; for LU and
// Gauss–Jordan the factor is computed when it is first needed. Several goroutines may call
// the methods of a Fit; those that need the matrix A wait for each other.
//
// With [Process.NormaliseTargets], the fields are in units of the scaled targets, and the
// results of the methods in units of the data, but for the log marginal likelihood and its
// gradient.
type Fit struct {
	linear.Solution

	// Description is the Process that was solved, with all defaults and the hyperparameters
	// that Optimise found.
	Description Process

	// Certificate has bounds for y'A⁻¹y, where y are the targets minus the constant mean.
	Certificate linear.Certificate

	Alpha  []float64 // n values A⁻¹y, where y are the targets minus the mean
	Offset float64   // the constant mean; 0 for ZeroMean and LinearMean

	// Coefficients are β_0 and β of LinearMean, in units of the targets and targets per
	// feature; otherwise nil.
	Coefficients []float64

	// Optimisation says how the hyperparameters were found; nil without Optimise.
	Optimisation *Optimisation

	task   *processTask
	system *linear.System
	trend  *trend // of a linear mean; otherwise nil
	points *kernels.Basis

	turn  guard.Turn             // taken by the goroutine that uses system or computes other
	other *linear.CholeskyFactor // the factor, if the method has none and it was needed
}

// ready returns an error if the fit is empty or the context is nil.
func (f *Fit) ready(ctx context.Context, call string) error {
	if f.none() {
		return arguments.NoFit(call)
	}
	return arguments.Given(ctx, call)
}

// afterInterrupt is the time for solving the described process if its optimisation was
// interrupted before the first evaluation.
const afterInterrupt = time.Second

// fit optimises the hyperparameters if Optimise was set, and solves the system.
func (t *processTask) fit(ctx context.Context) (*Fit, error) {
	if !t.learn {
		return t.solve(ctx)
	}
	found, learned, solved, err := t.optimise(ctx)
	switch {
	case found != nil:
		return learned.conclude(ctx, found, solved, err)
	case err == nil || ctx.Err() == nil:
		return nil, err
	}
	// Optimise has found nothing: solve for the described hyperparameters.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterInterrupt)
	defer cancel()
	if fit, solving := t.solve(last); solving == nil {
		return fit, err
	}
	return nil, err
}

// conclude solves the learned task. If the optimisation was interrupted (err), or the
// solver is interrupted now, it takes the solution of the best ascent instead, unless that
// is nil.
func (t *processTask) conclude(ctx context.Context, found *Optimisation, solved *linear.Solution, err error) (fit *Fit, _ error) {
	if err == nil {
		if fit, err = t.solve(ctx); err != nil && ctx.Err() == nil {
			return nil, err
		}
	}
	if err != nil && solved != nil {
		system, failed := t.matrix()
		if failed != nil {
			return nil, errors.Join(err, failed)
		}
		if fit, failed = t.finish(system, solved); failed != nil {
			return nil, errors.Join(err, failed)
		}
	}
	if fit != nil {
		fit.Optimisation = found
	}
	return fit, err
}

// matrix returns the system with the matrix A of the data.
func (t *processTask) matrix() (*linear.System, error) {
	gram, err := kernels.NewGram(t.kernel, t.data.X, t.cache)
	if err == nil && t.readsOnce() && gram.InBlocks() {
		gram, err = kernels.NewGram(t.kernel, t.data.X, kernels.NoCache)
	}
	if err != nil {
		return nil, fmt.Errorf("svmnb: %w", err)
	}
	return &linear.System{K: gram, Noise: t.noiseVector()}, nil
}

// readsOnce reports whether the method reads kernel rows once, so that they need not be kept. CG
// holds a large K in single precision instead, or computes it anew in blocks.
func (t *processTask) readsOnce() bool {
	if m, ok := t.method.(linear.CG); ok {
		n := float64(len(t.y))
		return !m.Double && !m.GibbsMacKay && 8*n*n > kernels.DefaultCache
	}
	return direct(t.method)
}

func (t *processTask) settings() linear.Settings {
	set := linear.Settings{Stop: t.stop, MaxIterations: t.limit, Memory: t.cache}
	if direct(t.method) { // a direct method is checked by the default criterion, since it cannot do better
		set.Stop = nil
	}
	return set
}

// solve solves the system for the targets and, with a linear mean, for its basis functions.
func (t *processTask) solve(ctx context.Context) (*Fit, error) {
	system, err := t.matrix()
	if err != nil {
		return nil, err
	}
	settings := t.settings()
	var w *systemWatch
	if t.live && !direct(t.method) && screen.Watchable() {
		w = t.watch()
		settings.Observers = append(settings.Observers, w.observe)
	}
	ended := func(*linear.Solution) {}
	if t.show != nil && !direct(t.method) {
		ended = t.tell(&settings)
	}
	sol, err := linear.Solve(ctx, system, slices.Concat([][]float64{t.y}, t.basis), t.method, settings)
	ended(sol)
	if w != nil {
		w.end(sol)
	}
	if sol == nil {
		return nil, t.explain(err)
	}
	if err != nil {
		err = fmt.Errorf("svmnb: %w", err)
	}
	f, failed := t.finish(system, sol)
	if failed != nil && err == nil { // an interrupted run need not have a trend
		err = failed
	}
	return f, err
}

// finish makes the fit from a solution.
func (t *processTask) finish(system *linear.System, sol *linear.Solution) (f *Fit, err error) {
	f = &Fit{
		Solution: *sol, Description: t.Process, Certificate: sol.Certificates[0], Alpha: sol.X[0],
		Offset: t.offset, task: t, system: system, points: kernels.Against(t.kernel, t.data.X),
	}
	f.Description.learn, f.Description.restarts, f.Description.seed = false, 0, 0
	if t.basis != nil {
		if f.trend, err = t.regress(sol.X); err != nil {
			return nil, err
		}
		f.Alpha = f.trend.rest(sol.X[0])
		f.Coefficients = f.trend.coefficients()
	}
	return f, nil
}

// explain adds to an error about A its probable cause in the data.
func (t *processTask) explain(err error) error {
	var indefinite *linear.IndefiniteError
	x, noise := t.data.X, t.noiseVector()
	if errors.As(err, &indefinite) {
		for i := range x {
			for j := range i {
				if noise[i] == 0 && noise[j] == 0 && slices.Equal(x[i], x[j]) {
					return fmt.Errorf("svmnb: points %d and %d are the same, with targets %v and %v and no noise: say NoiseVariance, or make one point of them (%w)", j, i, t.data.Y[j], t.data.Y[i], err)
				}
			}
		}
	}
	return fmt.Errorf("svmnb: %w", err)
}

// factor returns the Cholesky factor of A.
func (f *Fit) factor(ctx context.Context) (*linear.CholeskyFactor, error) {
	if f.Factor != nil {
		return f.Factor, nil
	}
	release, err := f.turn.Take(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if f.other == nil {
		if f.other, err = (linear.Cholesky{}).Factor(ctx, f.system); err != nil {
			return nil, err
		}
	}
	return f.other, nil
}

func (f *Fit) none() bool { return f == nil || f.task == nil }

func (f *Fit) found(o *Optimisation) { f.Optimisation = o }
