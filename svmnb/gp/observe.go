package gp

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers/linear"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// Observe returns the fit with m more observations: the points x, with the features of the
// training data, and their targets y. It is that of a new Fit of the same hyperparameters to all
// observations, up to rounding, with the same evidence, and f stays as it is. The mean of the
// targets, a linear mean and NormaliseTargets take account of all targets.
//
// Observe appends m rows to Cholesky's factor of the n points before, in n²m multiplications; a
// direct method that has no such factor computes it on the first call. An iterative method starts
// from the α of f.
//
// Errors are those of Predict; an *ArgumentError if there are not as many targets as points, or
// for NoiseVariances, since the noise of the new targets is not known; and those of
// [Process.Fit]. When ctx ends early, the error wraps context.Cause(ctx).
func (f *Fit) Observe(ctx context.Context, x datasets.Points, y []float64) (_ *Fit, err error) {
	defer guard.Caught(&err)
	rows, err := f.asked(ctx, "Observe", x)
	if err != nil {
		return nil, err
	}
	if err := f.check("Observe", rows); err != nil {
		return nil, err
	}
	switch {
	case len(y) != len(rows):
		return nil, arguments.Wrong("Observe", float64(len(y)), "%s for %s; give one for each", say.Several(len(y), "target"), say.Several(len(rows), "point"))
	case f.task.noises != nil:
		return nil, arguments.Wrong("Observe", math.NaN(), "the noise differs from point to point, so that of a new target is not known; fit again with all NoiseVariances")
	}
	for i, v := range y {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, arguments.At("Observe", i, -1, v, "the target is %v; give a finite number", v)
		}
	}
	all := *f.task.data
	all.X, all.Y = slices.Concat(all.X, rows), slices.Concat(all.Y, y)
	method := f.task.method
	t, err := f.Description.Using(method).On(&all).prepare()
	if err != nil {
		return nil, err
	}
	t.named = f.task.named
	if !direct(method) {
		start := make([]float64, len(all.Y))
		copy(start, f.Alpha)
		return t.solveBy(ctx, method, [][]float64{start})
	}
	factor, err := f.factor(ctx)
	if err == nil {
		factor, err = f.extended(ctx, factor, rows)
	}
	if err != nil {
		return nil, t.explain(err)
	}
	return t.solveBy(ctx, known{method, factor}, nil)
}

// extended returns the factor of A with the rows of more points.
func (f *Fit) extended(ctx context.Context, factor *linear.CholeskyFactor, x [][]float64) (*linear.CholeskyFactor, error) {
	own := kernels.Against(f.task.kernel, x)
	more := make([][]float64, len(x))
	for i, p := range x {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		more[i] = slices.Concat(f.points.Row(nil, p), own.Row(nil, p)[:i+1])
		more[i][len(more[i])-1] += f.task.noise
	}
	return factor.Extended(ctx, more)
}

// known is a direct method whose factor is there already.
type known struct {
	linear.Method
	factor *linear.CholeskyFactor
}

// Start implements linear.Method.
func (m known) Start(_ *linear.System, b, x [][]float64) (linear.Stepper, error) {
	return &substitution{m.factor, b, x}, nil
}

type substitution struct {
	factor *linear.CholeskyFactor
	b, x   [][]float64
}

func (s *substitution) Step(ctx context.Context, _ []bool) (done bool, err error) {
	for j, b := range s.b {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		s.factor.Solve(s.x[j], b)
	}
	return true, nil
}

func (s *substitution) Report([]linear.Point)          {}
func (s *substitution) Factor() *linear.CholeskyFactor { return s.factor }

// solveBy is solve by another method than that of the description, or from start.
func (t *processTask) solveBy(ctx context.Context, m linear.Method, start [][]float64) (*Fit, error) {
	system, err := t.matrix()
	if err != nil {
		return nil, err
	}
	settings := t.settings()
	settings.Start = start
	sol, err := linear.Solve(ctx, system, slices.Concat([][]float64{t.y}, t.basis), m, settings)
	if sol == nil {
		return nil, t.explain(err)
	}
	f, failed := t.finish(system, sol)
	if err != nil {
		return f, fmt.Errorf("svmnb: Observe: %w", err)
	}
	return f, failed
}
