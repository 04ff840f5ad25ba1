// Package learn has what descriptions and fits show to the packages that try many of them:
// selection and play.
package learn

import (
	"context"
	"fmt"
	"slices"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
	"github.com/svmnb/svmnb/svmnb/model"
)

// Learner is a description that can be learnt from some rows of its data and judged by the
// others.
type Learner interface {
	String() string
	Data() *datasets.Dataset
	Fault() error // what words have said wrong
	// With is the description for other data, whose points have the weights and noise of
	// these rows.
	With(data *datasets.Dataset, rows []int) Learner
	After(p *steps.Passage) Learner // the description behind the steps of a pipeline
	// Set changes a parameter; known is false for a name that it does not have.
	Set(name string, value float64) (l Learner, known bool)
	Parameters() string // the names, for whoever mistypes one
	// Train learns; w is nil where nothing is handed on to the next fit.
	Train(ctx context.Context, w *Warmth) (Fit, error)
	Measure() Measure
	Detail() any      // what String does not say of the description
	Description() any // what a user has written, such as a svmnb.Classifier
}

// Measure is by what fits are compared unless another measure is said.
type Measure int

// The measures.
const (
	Accuracy Measure = iota
	RMSE
	NLPD
)

// Fit is what a Learner becomes.
type Fit interface {
	Fit() any // what a user sees, such as a *svmnb.Fit
	Model() *model.Model
	// HeldOut says what the fit predicts for points that it has not seen.
	HeldOut(ctx context.Context, data *datasets.Dataset) (*HeldOut, error)
}

// HeldOut is what a fit says of points that it has not seen.
type HeldOut struct {
	Classes any // the *svmnb.Evaluation of a classifier; else nil

	Truth, Predicted []float64 // real targets
	SD               []float64 // standard deviations of the targets by a process, noise included; else nil
}

// Chosen returns the values of these rows.
func Chosen(v []float64, rows []int) []float64 {
	out := make([]float64, len(rows))
	for j, i := range rows {
		out[j] = v[i]
	}
	return out
}

// Warmth is what fits of the same points and kernel for growing C hand on to the
// next: their matrices and α. Where most multipliers are at their bound, the next fit
// starts from α in the same proportion to C, else from α itself; both are feasible
// (alpha seeding, DeCoste and Wagstaff 2000). That takes
// a quarter to nine tenths of the iterations of starts from 0.
type Warmth struct {
	Bytes int64 // that all matrices may take
	runs  []handed
	Piped any // the pipeline that has fitted its steps to these points
}

type handed struct {
	k            solvers.Matrix
	alpha, upper []float64
}

// start returns a feasible α for p, nil where there is none to be had.
func (r *handed) start(p *solvers.Problem) []float64 {
	if len(r.alpha) != len(p.Upper) {
		return nil
	}
	bound, free := 0, 0
	for j, a := range r.alpha {
		if a > 0 && a >= r.upper[j] {
			bound++
		} else if a > 0 {
			free++
		}
	}
	start := slices.Clone(r.alpha)
	for j := range start {
		if bound > free {
			start[j] *= p.Upper[j] / r.upper[j]
		}
		if !(start[j] <= p.Upper[j]) {
			return nil // C has fallen
		}
	}
	return start
}

// Solve runs the method on p as run number i. Nobody will look at its trace.
func (w *Warmth) Solve(ctx context.Context, p *solvers.Problem, method solvers.Method, s solvers.Settings, i int) (*solvers.Result, error) {
	for len(w.runs) <= i {
		w.runs = append(w.runs, handed{})
	}
	run := &w.runs[i]
	switch s.Stop.(type) {
	case solvers.UpLow, solvers.KKT: // others are asked where the trace has a point
		s.Every = -1
	}
	if run.k == nil {
		run.k = p.K
	}
	p.K, s.Start = run.k, run.start(p)
	res, err := solvers.Solve(ctx, p, method, s)
	if res == nil || res.Status == solvers.Unbounded {
		w.runs[i] = handed{} // whose matrix a kernel that panics may have left half done
		return nil, fmt.Errorf("svmnb: %w", err)
	}
	run.alpha, run.upper = res.Alpha, p.Upper
	return res, err
}
