package svmnb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
)

// ProcessFit is a Gaussian process after its observations. It carries the
// solver's solution with its certificate, and its posterior says how sure it is:
// of the function, and, for a solver that stopped early, of its own arithmetic.
//
// What a direct method knows beyond the mean it knows from Cholesky's factor; LU
// and Gauss–Jordan compute one when it is first asked for. A ProcessFit is not safe
// for concurrent use.
type ProcessFit struct {
	solvers.Solution

	// Description is the Process that was solved, with all defaults and what
	// Optimise has found filled in.
	Description Process

	// Certificate bounds y'A⁻¹y, y without its constant mean.
	Certificate solvers.SystemCertificate

	Alpha  []float64 // n values: A⁻¹ of the targets without their mean
	Offset float64   // the constant mean; 0 for ZeroMean and LinearMean

	// Coefficients is β_0 and β of LinearMean, in the units of the targets and
	// targets per feature; nil otherwise.
	Coefficients []float64

	// Optimisation is how the hyperparameters were found; nil without Optimise.
	Optimisation *Optimisation

	task   *processTask
	system *solvers.System
	trend  *trend // of a linear mean; else nil
	points *kernels.Basis
	other  *solvers.CholeskyFactor // where the method has none and one was needed
}

// afterInterrupt is how long an optimisation that was interrupted may take to
// solve the system once more.
const afterInterrupt = time.Second

// fit finds the hyperparameters where it is asked to, and solves the system.
func (t *processTask) fit(ctx context.Context) (*ProcessFit, error) {
	if !t.learn {
		return t.solve(ctx)
	}
	found, learned, err := t.optimise(ctx)
	if found == nil {
		return nil, err
	}
	return t.conclude(ctx, found, learned, err)
}

// conclude solves the task that was learned, whether or not that was interrupted
// with err.
func (t *processTask) conclude(ctx context.Context, found *Optimisation, learned *processTask, err error) (*ProcessFit, error) {
	last := ctx
	if err != nil { // interrupted: what was learned is worth one more solution
		var cancel context.CancelFunc
		last, cancel = context.WithTimeout(context.WithoutCancel(ctx), afterInterrupt)
		defer cancel()
	}
	fit, solving := learned.solve(last)
	if fit == nil {
		return nil, errors.Join(err, solving)
	}
	fit.Optimisation = found
	return fit, errors.Join(err, solving)
}

// matrix returns A over the data.
func (t *processTask) matrix() (*solvers.System, error) {
	gram, err := kernels.NewGram(t.kernel, t.data.X, t.cache)
	if err == nil && direct(t.method) && gram.InBlocks() {
		// A second look at the matrix costs less than the memory for it.
		gram, err = kernels.NewGram(t.kernel, t.data.X, kernels.NoCache)
	}
	if err != nil {
		return nil, fmt.Errorf("svmnb: %w", err)
	}
	return &solvers.System{K: gram, Noise: t.noiseVector()}, nil
}

func (t *processTask) settings() solvers.SystemSettings {
	set := solvers.SystemSettings{Stop: t.stop, MaxIterations: t.limit, Memory: t.cache}
	if direct(t.method) { // is judged by the default, for it cannot do better
		set.Stop = nil
	}
	return set
}

// solve solves for the targets and, of a linear mean, for its basis functions.
func (t *processTask) solve(ctx context.Context) (*ProcessFit, error) {
	system, err := t.matrix()
	if err != nil {
		return nil, err
	}
	settings := t.settings()
	var w *systemWatch
	if t.live && !direct(t.method) && watchable() {
		w = t.watch()
		settings.Observers = append(settings.Observers, w.observe)
	}
	sol, err := solvers.SolveSystem(ctx, system, slices.Concat([][]float64{t.y}, t.basis), t.method, settings)
	if w != nil {
		w.end(sol)
	}
	if sol == nil {
		return nil, t.explain(err)
	}
	if err != nil {
		err = fmt.Errorf("svmnb: %w", err)
	}
	f := &ProcessFit{
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
	return f, err
}

// explain adds to an error about A what the data have to do with it.
func (t *processTask) explain(err error) error {
	var indefinite *solvers.IndefiniteError
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

// factor returns Cholesky's factor of A.
func (f *ProcessFit) factor(ctx context.Context) (*solvers.CholeskyFactor, error) {
	switch {
	case f.Factor != nil:
		return f.Factor, nil
	case f.other == nil:
		var err error
		if f.other, err = (solvers.Cholesky{}).Factor(ctx, f.system); err != nil {
			return nil, err
		}
	}
	return f.other, nil
}
