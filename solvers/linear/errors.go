package linear

import (
	"fmt"
	"math"
	"runtime/debug"

	"github.com/svmnb/svmnb/solvers"
)

// wrong is a *[solvers.ProblemError].
func wrong(field string, i int, v float64, format string, args ...any) error {
	return &solvers.ProblemError{Field: field, Index: i, Value: v, Msg: fmt.Sprintf(format, args...)}
}

// errNoContext refuses a nil context, which cannot be asked whether it has ended.
var errNoContext = wrong("ctx", -1, 0, "the context is nil; give context.Background() where nothing is to end the work early")

// MemoryError says that a method would take more memory than it may.
type MemoryError struct {
	Method      string
	N           int     // rows of the system
	Need, Limit float64 // bytes
}

func (e *MemoryError) Error() string {
	way := "use CG, whose memory grows with n, or "
	if (CG{}).Memory(e.N, 1) > e.Limit { // which is what was used, or would do no better
		way = ""
	}
	return fmt.Sprintf("linear: %s on %d points takes %.3g GB beside the kernel matrix and may take %.3g: %sraise the memory that it may take or GOMEMLIMIT", e.Method, e.N, e.Need/1e9, e.Limit/1e9, way)
}

// unlimited is the memory of a method when neither the caller nor Go has a limit.
const unlimited = 4 << 30

func affordable(m Method, n, q int, limit int64) error {
	most := allowed(limit)
	if need := m.Memory(n, q); need > most {
		return &MemoryError{m.Name(), n, need, most}
	}
	return nil
}

// allowed returns how many bytes a method may take, of which 0 is the default.
func allowed(limit int64) float64 {
	if limit == 0 {
		if limit = debug.SetMemoryLimit(-1); limit == math.MaxInt64 {
			limit = unlimited
		}
	}
	return float64(limit)
}

// IndefiniteError says that A = K + diag(noise) is not positive definite, or not in
// floating point: K is no kernel matrix, or two points are too near each other for
// so little noise. An iterative method also refuses a K that is not positive
// semi-definite when the noise outweighs it, for then no bound holds.
type IndefiniteError struct {
	Method string
	Row    int     // where the factorisation failed; −1 for an iterative method
	Value  float64 // the pivot there, which should be positive, or h'Kh/h'h for a direction h of an iterative method, which should not be negative
	Need   float64 // how much more noise would do, roughly
}

func (e *IndefiniteError) Error() string {
	what := fmt.Sprintf("K + diag(noise) is not positive definite: the pivot of row %d is %.3g", e.Row, e.Value)
	if e.Row < 0 {
		what = fmt.Sprintf("K is not positive semi-definite, or singular without noise: a direction has h'Kh/h'h = %.3g", e.Value)
	}
	return fmt.Sprintf("linear: %s: %s; use a positive semi-definite kernel, drop duplicate points, or add noise: %.1g more would do", e.Method, what, e.Need)
}
