// Package learn has the interfaces that descriptions and fits implement for packages
// selection and play, which train many fits and compare them.
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

// Learner is a description that can be trained on some rows of its data and measured on the
// others.
type Learner interface {
	String() string
	Data() *datasets.Dataset
	Fault() error // the mistakes in the description; nil if there are none
	// With returns the description with other data. These data are the given rows of the
	// old data, from which the weights and the noise of the points are taken.
	With(data *datasets.Dataset, rows []int) Learner
	After(p *steps.Passage) Learner // the description for points that p has transformed
	// Set changes a parameter by its name. known is false when there is no such parameter.
	Set(name string, value float64) (l Learner, known bool)
	Parameters() string // all names that Set knows, for error messages
	// Train fits the description. w hands matrices and α on to the next fit; it may be nil.
	Train(ctx context.Context, w *Warmth) (Fit, error)
	Measure() Measure
	Detail() any      // settings that String leaves out, for the key of a search
	Description() any // what the user wrote, such as a svmnb.Classifier
}

// InCell is a Learner that can train as MustFit or Keep of its description does: with progress
// in the cell's output, and an error that ends the cell.
type InCell interface {
	InCell(keep bool) Fit
}

// Ranged is a fit that knows in which interval a new target is, with a given probability.
type Ranged interface {
	Interval(ctx context.Context, x [][]float64, share float64) (low, high []float64, err error)
}

// Measure is the score by which fits are compared unless the user chooses another.
type Measure struct {
	Name string
	Tau  float64 // of Pinball
}

var (
	Accuracy = Measure{Name: "accuracy"}
	RMSE     = Measure{Name: "RMSE"}
	NLPD     = Measure{Name: "NLPD"}
)

// Pinball is the measure of a quantile.
func Pinball(tau float64) Measure { return Measure{"pinball", tau} }

// Fit is a trained Learner.
type Fit interface {
	Fit() any // what the user gets, such as a *svmnb.Fit
	Model() *model.Model
	// HeldOut predicts for points that were not used in training.
	HeldOut(ctx context.Context, data *datasets.Dataset) (*HeldOut, error)
}

// Scored is a fit of two classes that gives each point a score: a decision value or, with
// calibration, the probability of the second class.
type Scored interface {
	Model() *model.Model
	Scores(verb string, x datasets.Points) ([]float64, error)
	Evaluated(ds *datasets.Dataset) (any, error) // the *svmnb.Evaluation of a user's data set
}

// HeldOut is what a fit predicts for points that were not used in training.
type HeldOut struct {
	Classes any // the *svmnb.Evaluation of a classifier; otherwise nil

	Truth, Predicted []float64 // of regressions: true and predicted targets
	LogDensity       []float64 // of Gaussian processes with transformed targets: ln p of the true targets; otherwise nil
	SD               []float64 // of Gaussian processes: standard deviations of the targets, noise included; otherwise nil
}

// Chosen returns the values v[i] of the given rows i.
func Chosen(v []float64, rows []int) []float64 {
	out := make([]float64, len(rows))
	for j, i := range rows {
		out[j] = v[i]
	}
	return out
}

// Warmth carries kernel matrices and α from one fit to the next, for fits of the same
// points and kernel with growing C. If most support vectors are at their bound, the next
// fit starts from α scaled by the ratio of the Cs, otherwise from α itself. Both are
// feasible (alpha seeding, DeCoste and Wagstaff 2000). The fits take between a quarter and
// nine tenths of the iterations that they take from 0.
type Warmth struct {
	Bytes int64 // limit for the memory of all matrices together
	runs  []handed
	Piped any // the *selection.PipeFit whose fitted steps can be used again
}

type handed struct {
	k            solvers.Matrix
	alpha, upper []float64
}

// start returns a feasible α for p, or nil if there is none, which means a start from 0.
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
			return nil // C became smaller
		}
	}
	return start
}

// Solve solves p by the method as run number i, from the α of the run before. It keeps no
// trace unless the stopping criterion needs one.
func (w *Warmth) Solve(ctx context.Context, p *solvers.Problem, method solvers.Method, s solvers.Settings, i int) (*solvers.Result, error) {
	for len(w.runs) <= i {
		w.runs = append(w.runs, handed{})
	}
	run := &w.runs[i]
	switch s.Stop.(type) {
	case solvers.UpLow, solvers.KKT: // other criteria are asked at the points of the trace only
		s.Every = -1
	}
	if run.k == nil {
		run.k = p.K
	}
	p.K, s.Start = run.k, run.start(p)
	res, err := solvers.Solve(ctx, p, method, s)
	if res == nil || res.Status == solvers.Unbounded {
		w.runs[i] = handed{} // forget the matrix: a kernel that panicked may have left it half filled
		return nil, fmt.Errorf("svmnb: %w", err)
	}
	run.alpha, run.upper = res.Alpha, p.Upper
	return res, err
}
