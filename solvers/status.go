package solvers

import (
	"errors"
	"fmt"
)

// Status says why a run ended. Hitting a limit is a Status, not an error.
type Status int

const (
	NotTerminated  Status = iota
	Converged             // the criterion of Settings is met
	Exhausted             // the method cannot improve any further in floating point, but the criterion is not met
	IterationLimit        // Settings.MaxIterations or the Iterations criterion is reached
	TimeLimit             // the Time criterion is met
	Interrupted           // the context ended
	Unbounded             // the dual has no maximum: a hard margin on classes that no hyperplane separates
	Diverging             // the method's steps are too long: the dual does not grow although it could
	Inaccurate            // rounding has spoilt the run: its α is worse than the start, or NaN
)

var statusNames = [...]string{"not terminated", "converged", "exhausted", "iteration limit", "time limit", "interrupted", "unbounded (not separable)", "diverging (the learning rate is too large)", "inaccurate (rounding hides the optimum)"}

func (s Status) String() string { return nameOf("Status", statusNames[:], int(s)) }

// nameOf returns names[i]. For an i without a name it returns, for example, "Status(99)".
func nameOf(typ string, names []string, i int) string {
	if i < 0 || i >= len(names) {
		return fmt.Sprintf("%s(%d)", typ, i)
	}
	return names[i]
}

// Early reports whether the run ended before its criterion was met.
func (s Status) Early() bool { return s != Converged }

// Err returns ErrUnbounded for Unbounded, ErrDiverging for Diverging, ErrInaccurate for
// Inaccurate and nil for every other status.
func (s Status) Err() error {
	switch s {
	case Unbounded:
		return ErrUnbounded
	case Diverging:
		return ErrDiverging
	case Inaccurate:
		return ErrInaccurate
	}
	return nil
}

var (
	// ErrUnsupported is wrapped by the error of Method.Start for a problem that the method
	// cannot solve.
	ErrUnsupported = errors.New("the method cannot solve this problem")
	// ErrUnbounded is returned when the dual has no maximum. For a hard margin this means that
	// the classes are not separable. (CST Theorem 7.12 with κ = 0 and C = ∞ is the smallest
	// example.)
	ErrUnbounded = errors.New("the dual is unbounded: no hyperplane separates the classes; use a soft margin (a finite C) or another kernel")
	// ErrDiverging is returned when steps overshoot because of a large learning rate (CST
	// §7.2).
	ErrDiverging = errors.New("the steps overshoot and the dual does not grow: the learning rate is too large; take η_i < 2/K_ii point by point, η < 2/λ_max for all at once, or leave the rate empty")
	// ErrInaccurate is returned when rounding of kernel values has spoilt the answer: W is
	// below that of the start, or NaN, or so far below the primal that half of the maximum may
	// be missing although rounding allows no further step.
	ErrInaccurate = errors.New("rounding of the kernel values has spoilt the run; scale the features (mean 0, standard deviation 1), take a smaller C, or a kernel of bounded values such as the Gaussian")
	// ErrBelowStart is returned when a limit ends a run while its objective is still below
	// that of the start.
	ErrBelowStart = errors.New("the limit has ended the run before its objective was as good as at the start; allow more iterations")
	// ErrOutside is returned when a method ends with an α outside its bounds.
	ErrOutside = errors.New("the method has left the box; its steps must be clipped to it")
)

// ProblemError names the part of a Problem that is wrong.
type ProblemError struct {
	Field string  // the field of Problem or Settings, or of the method, such as "Upper"
	Index int     // index of the wrong entry, −1 for the whole field
	Value float64 // the wrong value
	Msg   string  // what is expected
}

func (e *ProblemError) Error() string {
	if e.Index < 0 {
		return fmt.Sprintf("solvers: %s: %s", e.Field, e.Msg)
	}
	return fmt.Sprintf("solvers: %s[%d] = %g: %s", e.Field, e.Index, e.Value, e.Msg)
}

// errNoContext is the error for a nil context.
var errNoContext = &ProblemError{"ctx", -1, 0, "the context is nil; give context.Background() where nothing is to end the work early"}

// badRow is the error for a bad number v in row i of K.
func badRow(i int, v float64, msg string) error { return &ProblemError{"K", i, v, msg} }
