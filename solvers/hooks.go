package solvers

import (
	"context"
	"fmt"
)

// What follows is optional: Solve asks whether a Method or a Stepper has it.

// An Accepter is a Method that says beforehand which problems it takes. Accepts returns
// nil, or an error that wraps [ErrUnsupported] and names what to use instead. A Method
// without it is never given a problem with PerClass, for it would keep one sum of α only.
type Accepter interface {
	Accepts(p *Problem) error
}

// A Chooser is a Method that leaves a problem to others, such as the fastest for it.
type Chooser interface {
	// Choose returns the stages of a run, at least one. The loop goes on with the next one,
	// from the best α so far, where a stage is exhausted, diverges, fails or has used up its
	// iterations.
	Choose(p *Problem) []Stage
}

// Stage is one method of several that a run may take.
type Stage struct {
	Method     Method
	Iterations int // after which the next stage takes over; 0 means no limit
}

// A WarmStarter is a Method that can start from an F that is known. To compute F takes a
// kernel row for each non-zero α, and adds their rounding.
type WarmStarter interface {
	// StartAt is Start from an alpha whose F is f, or nil where it is not known. Both
	// belong to the Stepper from then on.
	StartAt(p *Problem, alpha, f []float64) (Stepper, error)
}

// A FeatureReader is a Method that works with w where a linear kernel matrix is given as
// [Features]. WantsFeatures reports whether a problem of this shape is best given so.
type FeatureReader interface {
	WantsFeatures(s Shape) bool
}

// Shape is what is known of a problem before its kernel matrix is made.
type Shape struct {
	Variables, Points, Columns int
	FixedBias, PerClass        bool
}

// A Needer is a Method that works with some problems only. A description that has said
// nothing of the bias or of the kernel then gets what the method needs.
type Needer interface {
	Needs() Needs
}

// Needs is what a method needs of a problem.
type Needs struct {
	FixedBias bool // the bias is no variable
	Linear    bool // K is Features, those of a linear kernel
}

// A Refresher is a Stepper that maintains F. Rounding in it may hide a violation, so Solve
// computes F afresh before it believes that the criterion is met. Where that is not so
// Refresh takes over this F, which it may not keep, and the run goes on.
type Refresher interface {
	Refresh(f []float64)
}

// A Completer is a Stepper that reports F = nil at times, since it keeps F for some of the
// points only, as with shrinking, or in another form.
type Completer interface {
	// Complete returns F of all points. When ctx ends it returns what there is.
	Complete(ctx context.Context) []float64
}

// A Concluder is a Stepper whose iterates are not what it would answer: those of an
// interior-point method touch no bound, and which points are support vectors is seen only
// on the bounds.
type Concluder interface {
	// Conclude is asked when the criterion is met. True means that some more steps will
	// bring the answer.
	Conclude() bool
}

// A Namer is a Stepper whose name says more than that of its Method, such as the size of
// the working set that it has chosen.
type Namer interface {
	Name() string
}

// accepts asks m whether it takes p.
func accepts(m Method, p *Problem) error {
	if a, ok := m.(Accepter); ok {
		return a.Accepts(p)
	}
	if p.PerClass {
		return fmt.Errorf("%w: it keeps one sum of α, and ν-SVC has one in each class; use SMO", ErrUnsupported)
	}
	return nil
}

// startAt starts m where F may be known; nil means that it is not.
func startAt(m Method, p *Problem, alpha, f []float64) (Stepper, error) {
	if m, ok := m.(WarmStarter); ok && f != nil {
		return m.StartAt(p, alpha, f)
	}
	return m.Start(p, alpha)
}
