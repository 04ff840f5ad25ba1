package linear

import (
	"fmt"
	"math"
	"runtime/debug"

	"github.com/svmnb/svmnb/solvers"
)

// wrong returns a *[solvers.ProblemError].
func wrong(field string, i int, v float64, format string, args ...any) error {
	return &solvers.ProblemError{Field: field, Index: i, Value: v, Msg: fmt.Sprintf(format, args...)}
}

// errNoContext is the error for a nil context.
var errNoContext = wrong("ctx", -1, 0, "the context is nil; give context.Background() where nothing is to end the work early")

// MemoryError is the error of a method that would take more memory than Settings.Memory
// allows.
type MemoryError struct {
	Method      string
	N           int     // rows of the system
	Need, Limit float64 // bytes
}

func (e *MemoryError) Error() string {
	way := "use CG, whose memory grows with n, or "
	if (CG{}).Memory(e.N, 1) > e.Limit { // CG was used already, or takes as much
		way = ""
	}
	return fmt.Sprintf("linear: %s on %d points takes %.3g GB beside the kernel matrix and may take %.3g: %sraise the memory that it may take or GOMEMLIMIT", e.Method, e.N, e.Need/1e9, e.Limit/1e9, way)
}

// unlimited is how many bytes a method may take if neither the caller nor Go sets a limit.
const unlimited = 4 << 30

func affordable(m Method, n, q int, limit int64) error {
	most := allowed(limit)
	if need := m.Memory(n, q); need > most {
		return &MemoryError{m.Name(), n, need, most}
	}
	return nil
}

// allowed returns how many bytes a method may take; a limit of 0 means the default.
func allowed(limit int64) float64 {
	if limit == 0 {
		if limit = debug.SetMemoryLimit(-1); limit == math.MaxInt64 {
			limit = unlimited
		}
	}
	return float64(limit)
}

// IndefiniteError says that A = K + diag(noise) is not positive definite, or not in floating
// point: K is no kernel matrix, or two points are too near each other for so little noise. An
// iterative method also refuses a K that is not positive semi-definite if only the noise makes
// A positive definite, because its bounds would not hold.
type IndefiniteError struct {
	Method string
	Row    int     // row where the factorisation failed; −1 for an iterative method
	Value  float64 // the pivot in this row, which should be positive; or h'Kh/h'h for a direction h of an iterative method, which should not be negative
	Need   float64 // roughly how much more noise is needed
}

func (e *IndefiniteError) Error() string {
	what := fmt.Sprintf("K + diag(noise) is not positive definite: the pivot of row %d is %.3g", e.Row, e.Value)
	if e.Row < 0 {
		what = fmt.Sprintf("K is not positive semi-definite, or singular without noise: a direction has h'Kh/h'h = %.3g", e.Value)
	}
	return fmt.Sprintf("linear: %s: %s; use a positive semi-definite kernel, drop duplicate points, or add noise: %.1g more would do", e.Method, what, e.Need)
}
