package linear

import "fmt"

// Criterion decides whether a right-hand side is solved. It keeps no state.
type Criterion interface {
	Met(pt *Point) bool
	String() string
}

// Bounds stops when b'A⁻¹b is known within Abs or within Rel of its lower bound, whichever is
// reached first. b'A⁻¹b/2 is a term of the log marginal likelihood, so Abs is in nats: 1e-2 to
// 1e-4 are enough for most purposes.
type Bounds struct{ Abs, Rel float64 }

func (c Bounds) Met(pt *Point) bool {
	return pt.Energy+pt.Rounding <= max(c.Abs, c.Rel*pt.Lower)
}
func (c Bounds) String() string { return within("upper − lower bound", c.Abs, c.Rel) }

// Residual stops when ‖b − Ax‖ is at most Abs or Rel ‖b‖.
type Residual struct{ Abs, Rel float64 }

func (c Residual) Met(pt *Point) bool { return pt.Residual <= max(c.Abs, c.Rel*pt.Norm) }
func (c Residual) String() string     { return within("residual", c.Abs, c.Rel) }

func within(what string, abs, rel float64) string {
	switch {
	case rel == 0:
		return fmt.Sprintf("%s ≤ %g", what, abs)
	case abs == 0:
		return fmt.Sprintf("relative %s ≤ %g", what, rel)
	}
	return fmt.Sprintf("%s ≤ %g or relative ≤ %g", what, abs, rel)
}
