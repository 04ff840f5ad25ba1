package linear

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/svmnb/svmnb/internal/panics"
	"github.com/svmnb/svmnb/internal/rows"
	"github.com/svmnb/svmnb/solvers"
)

// Settings say when a run stops, where it starts and what it records. The zero value stops at
// Bounds{Rel: 1e-6}, or at Residual{Rel: 1e-6} if a noise of 0 leaves no upper bounds, after
// 2n iterations at most.
type Settings struct {
	Stop          Criterion     // the criterion, which is asked for each right-hand side
	Start         [][]float64   // the first x, one of length n for each right-hand side; nil means 0. Direct methods ignore it
	MaxIterations int           // 0 means 2n
	MaxTime       time.Duration // 0 means no limit
	Memory        int64         // bytes that the method may take beside K; 0 means Go's memory limit, or 4 GiB if none is set (CG may hold K in half of the memory that is free)
	Every         int           // sampling of the trace, as in solvers.Settings

	// Preparing, if not nil, hears how far the method is in what it does before its first
	// iteration: the stage, such as "preconditioner", and the share of it that is done, from 0 to
	// 1. Calls come one at a time.
	Preparing func(stage string, share float64)

	// Observers are called with every sampled point and all x, in order. They must not change
	// them.
	Observers []func(x [][]float64, pt *Point)
}

// Solve runs m on A x = b for the q right-hand sides b, each of length n. It ends when the
// criterion is met for all of them, a limit is reached, ctx ends, or only rounding is left to
// improve. It is the only loop: it records, stops and certifies, and m does the mathematics.
// Before a run counts as converged, all residuals are computed afresh and the criterion is
// asked again.
//
// A limit is a Status and not an error. An interrupt returns the answer so far with an error
// that wraps context.Cause(ctx). With every other error the Solution is nil: a
// *[solvers.ProblemError] for bad numbers (those in K are found when their row is first used),
// an *[IndefiniteError], or a *[MemoryError].
func Solve(ctx context.Context, s *System, b [][]float64, m Method, set Settings) (*Solution, error) {
	sol, _, err := solve(ctx, s, b, m, set)
	return sol, err
}

func solve(ctx context.Context, s *System, b [][]float64, m Method, set Settings) (_ *Solution, _ Stepper, err error) {
	defer panics.Recover(&err, func() string { return "the method " + m.Name() })
	if err := s.Check(); err != nil {
		return nil, nil, err
	}
	if ctx == nil {
		return nil, nil, errNoContext
	}
	x, err := set.begin(s, b)
	if err != nil {
		return nil, nil, err
	}
	if m == nil {
		return nil, nil, wrong("m", -1, 0, "there is no method; give one such as Cholesky{} or CG{}")
	}
	n := s.K.Dim()
	if err := affordable(m, n, len(b), set.Memory); err != nil {
		return nil, nil, err
	}
	r := run{s: s.checked(), b: b, x: x, settings: set, began: time.Now(), points: make([]Point, len(b)), settled: make([]bool, len(b))}
	r.st, err = m.Start(r.s, b, x)
	if err != nil {
		return nil, nil, fmt.Errorf("linear: %s: %w", m.Name(), err)
	}
	if h, ok := r.st.(Holder); ok {
		h.Allow(spare(set.Memory, m.Memory(n, len(b))))
	}
	if p, ok := r.st.(Preparer); ok && set.Preparing != nil {
		p.Preparing(set.Preparing)
	}
	limited := ctx
	if set.MaxTime > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, set.MaxTime)
		defer cancel()
	}
	status, err := r.loop(limited)
	if status == solvers.Interrupted && ctx.Err() == nil {
		status = solvers.TimeLimit
	}
	if bad := r.s.failed(); bad != nil {
		return nil, nil, bad
	}
	if err != nil {
		var indefinite *IndefiniteError
		if errors.As(err, &indefinite) {
			return nil, nil, err
		}
		return nil, nil, fmt.Errorf("linear: %s: iteration %d: %w", m.Name(), r.iteration, err)
	}
	sol := &Solution{
		Method: m.Name(), X: x, Status: status, Iterations: r.iteration, Evaluations: rows.Evaluations(s.K),
		Elapsed: time.Since(r.began), Certificates: r.certify(), Trace: r.trace,
	}
	if f, ok := r.st.(Factorer); ok {
		sol.Factor = f.Factor()
	}
	if status == solvers.Interrupted {
		return sol, r.st, fmt.Errorf("linear: %s stopped after %d iterations: %w", m.Name(), r.iteration, context.Cause(ctx))
	}
	return sol, r.st, nil
}

// begin checks the right-hand sides and settings, fills in the defaults, and returns a copy of
// the x to start from.
func (set *Settings) begin(s *System, b [][]float64) ([][]float64, error) {
	n := s.K.Dim()
	if len(b) == 0 {
		return nil, wrong("b", -1, 0, "there is no right-hand side; give at least one")
	}
	if set.Start != nil && len(set.Start) != len(b) {
		return nil, wrong("Start", -1, 0, "has %d vectors, there are %d right-hand sides", len(set.Start), len(b))
	}
	for _, f := range []struct {
		name string
		v    [][]float64
	}{{"b", b}, {"Start", set.Start}} {
		for j, v := range f.v {
			if len(v) != n {
				return nil, wrong(f.name, j, float64(len(v)), "is the length of vector %d; the kernel matrix has %d rows", j, n)
			}
			for i, e := range v {
				if !rows.Usable(e) {
					return nil, wrong(f.name, j, e, "entry %d of vector %d "+rows.Unusable, i, j)
				}
			}
		}
	}
	for _, f := range []struct {
		name string
		v    float64
	}{{"MaxIterations", float64(set.MaxIterations)}, {"MaxTime", set.MaxTime.Seconds()}, {"Memory", float64(set.Memory)}} {
		if f.v < 0 {
			return nil, wrong(f.name, -1, f.v, "is %g; it must be positive, or 0 for the default", f.v)
		}
	}
	set.MaxIterations = cmp.Or(set.MaxIterations, 2*n)
	if set.Stop == nil {
		set.Stop = s.Criterion()
	}
	x := make([][]float64, len(b))
	for j := range x {
		x[j] = make([]float64, n)
		if set.Start != nil {
			copy(x[j], set.Start[j])
		}
	}
	return x, nil
}
