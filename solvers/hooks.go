package solvers

import (
	"context"
	"fmt"
)

// The interfaces in this file are optional. Solve asks whether a Method or a Stepper has them.

// An Accepter is a Method that says beforehand which problems it takes. Accepts returns nil,
// or an error that wraps [ErrUnsupported] and names what to use instead. A Method that is no
// Accepter is never given a problem with PerClass, because it would keep the sum of all α and
// not the sum of each class.
type Accepter interface {
	Accepts(p *Problem) error
}

// A Chooser is a Method that lets other methods solve the problem, such as the Method of
// package fastest.
type Chooser interface {
	// Choose returns the stages of a run, at least one. When a stage is exhausted, diverges,
	// fails or has used up its iterations, the loop continues with the next stage from the
	// best α so far.
	Choose(p *Problem) []Stage
}

// Stage is one of several methods that a run may use one after the other.
type Stage struct {
	Method     Method
	Iterations int // number of iterations after which the next stage takes over; 0 means no limit
}

// A WarmStarter is a Method that can start from a known F. Computing F anew would cost a
// kernel row for each non-zero α, and add their rounding errors.
type WarmStarter interface {
	// StartAt is Start with f, the F of alpha, n values each. A nil f means that F is not
	// known. The Stepper may change both slices from then on.
	StartAt(p *Problem, alpha, f []float64) (Stepper, error)
}

// A Resumer is a Method whose Stepper reports a Save in its iterates.
type Resumer interface {
	// Resume is Start with what was saved when α was the same. It is Start if what was saved does
	// not belong to p. The Stepper may change alpha from then on, but not the slices of from.
	Resume(p *Problem, alpha []float64, from *Saved) (Stepper, error)
}

// A FeatureReader is a Method that can work with w if a linear kernel matrix is given as
// [Features]. WantsFeatures reports whether a problem of this shape should be given so.
type FeatureReader interface {
	WantsFeatures(s Shape) bool
}

// Shape is what is known of a problem before its kernel matrix is made.
type Shape struct {
	Variables, Points, Columns int
	FixedBias, PerClass        bool
}

// A Needer is a Method that works on some problems only. If a description sets no bias or no
// kernel, it gets the bias or kernel that its method needs.
type Needer interface {
	Needs() Needs
}

// Needs lists the properties of a problem that a method needs.
type Needs struct {
	FixedBias bool // the bias must be fixed
	Linear    bool // K must be the Features of a linear kernel
}

// A Refresher is a Stepper that maintains F. Rounding errors in F may hide a violation, so
// Solve computes F afresh when the criterion is met. If the criterion is not met with the
// fresh F, the run goes on. Refresh copies this f of n values; it must not keep the slice.
type Refresher interface {
	Refresh(f []float64)
}

// A Drifter is a Stepper in single precision with many points, for which computing F afresh takes
// long. Solve asks it at times how far F has drifted. While the drift is small beside the violation,
// F shows truly that W grows, and is not computed afresh.
type Drifter interface {
	// Drift returns half of the difference between the largest and the smallest error of F at some of
	// the points, and the violation. An error that is the same at all points changes no violation.
	// When ctx ends first, the drift is infinite.
	Drift(ctx context.Context) (drift, violation float64)
}

// A Beginner is a Criterion that decides from more than the trace. Solve asks it for the
// criterion of each run, and for an observer, which sees every sampled point before that
// criterion is asked about it. When the criterion is met, the observer sees the point again with
// an F that was computed afresh, and the criterion is asked again.
type Beginner interface {
	Criterion
	Begin(p *Problem) (Criterion, Observer, error)
}

// A Completer is a Stepper that at times reports F = nil, because it keeps F for some points
// only, as with shrinking, or in another form.
type Completer interface {
	// Complete returns F of all n points. It reports false if ctx has ended first. F of the points
	// that were left out is then out of date.
	Complete(ctx context.Context) (f []float64, all bool)
}

// A Concluder is a Stepper whose iterates are not yet its answer. Those of an interior-point
// method touch no bound, and only points on the bounds show which points are support vectors.
type Concluder interface {
	// Conclude is called when the criterion is met. It reports whether the run needs some more
	// steps to reach its answer.
	Conclude() bool
}

// A Namer is a Stepper whose name says more than the name of its Method, for example the size
// of the working set that it has chosen.
type Namer interface {
	Name() string
}

// accepts returns the error with which m refuses p, or nil.
func accepts(m Method, p *Problem) error {
	if a, ok := m.(Accepter); ok {
		return a.Accepts(p)
	}
	if p.PerClass {
		return fmt.Errorf("%w: it keeps one sum of α, and ν-SVC has one in each class; use SMO", ErrUnsupported)
	}
	return nil
}

// startAt starts m from alpha and its F. A nil f means that F is not known.
func startAt(m Method, p *Problem, alpha, f []float64) (Stepper, error) {
	if m, ok := m.(WarmStarter); ok && f != nil {
		return m.StartAt(p, alpha, f)
	}
	return m.Start(p, alpha)
}
