// Package linear solves the linear systems of Gaussian processes and of ridge regression,
// step by step, and says how near the solution the answer is.
//
// Every one is a [System],
//
//	A x = b,  A = K + diag(noise),
//
// with a kernel matrix K and one right-hand side b or several. It is no quadratic programme
// of package solvers, as it has no box, but is solved in the same shape: one loop, [Solve],
// drives an interchangeable [Method], records a trace, stops by a [Criterion] and certifies
// the answer from x and rows of K alone. The [Certificate] bounds b'A⁻¹b from both sides,
// and by that the error of every prediction.
//
// [Cholesky] is the method of choice up to some thousand points, [CG] beyond. Of the
// [CholeskyFactor] ln|A| and variances follow, and [Probe] estimates ln|A| without one.
package linear

import (
	"context"
	"math"
	"time"

	"github.com/svmnb/svmnb/solvers"
)

// Method is the immutable configuration of a way to solve a System, such as
// CG{Rank: 20}. Its zero value is useful.
type Method interface {
	Name() string
	// Memory returns how many bytes a run with q right-hand sides of length n
	// takes beside K.
	Memory(n, q int) float64
	// Start prepares a run for the right-hand sides b from the x given, q slices of
	// length n each. The Stepper reads b and works in x.
	Start(s *System, b, x [][]float64) (Stepper, error)
}

// Stepper is the private workspace of one run.
type Stepper interface {
	// Step makes one iteration on the right-hand sides that are not settled; done
	// means that no further step can improve x in floating point.
	Step(ctx context.Context, settled []bool) (done bool, err error)
	// Report fills Residual and the bounds of one point for each right-hand side,
	// without work. They are NaN before, which means that the method does not know.
	Report(points []Point)
}

// Point is one line of a trace: what is known of one right-hand side after
// an iteration. NaN means not known; see bounds.go for the bounds. On the way they are
// those of the method's recursion, so they hold but for its rounding; the last point is
// computed afresh, as the certificate is.
type Point struct {
	Iteration   int
	Elapsed     time.Duration
	Norm        float64 // ‖b‖
	Residual    float64 // ‖b − Ax‖
	Lower       float64 // ≤ b'A⁻¹b: 2Q(x) = b'x + r'x
	Skilling    float64 // ≥ b'A⁻¹b, by the same x
	Radau       float64 // ≥ b'A⁻¹b, by the Gauss–Radau rule
	GibbsMacKay float64 // ≥ b'A⁻¹b, by a second run
	Energy      float64 // the smallest known bound of r'A⁻¹r, what the lower bound may lack; as a difference of bounds it would be lost in rounding
	Rounding    float64 // how much wider rounding makes the bounds; 0 until r is computed afresh for the first time
	Evaluations int64   // kernel values computed so far
}

// Upper returns Lower + Energy + Rounding, the smallest upper bound of b'A⁻¹b.
func (pt *Point) Upper() float64 { return pt.Lower + pt.Energy + pt.Rounding }

// Certificate says how near A⁻¹b an x is. Residual and Lower are computed from x
// alone, in twice the working precision, and what rounding may hide is taken from Lower
// and added to Upper and Energy.
type Certificate struct {
	Residual     float64 // ‖b − Ax‖, computed afresh
	Lower, Upper float64 // of b'A⁻¹b; Upper is Lower + Energy and what rounding may hide

	// Energy is an upper bound of r'A⁻¹r = ‖x − A⁻¹b‖²_A with r = b − Ax: the least
	// of Σ r_i²/noise_i, which needs x alone, and what the method knows. It and Upper
	// are +Inf where a noise is 0, or so small that rounding of K hides it.
	Energy float64

	Claimed bool // an interrupt left no time to compute r afresh: Residual and the bounds are the method's own
}

// ErrorBound bounds the error of the posterior mean k'x at a point with K(x*, x*) =
// kss: |k'A⁻¹b − k'x| ≤ √(kss · Energy), by Cauchy and Schwarz in the norm of A⁻¹
// and because no posterior variance is negative, k'A⁻¹k ≤ kss.
func (c Certificate) ErrorBound(kss float64) float64 {
	if kss <= 0 {
		return 0
	}
	return math.Sqrt(kss * c.Energy)
}

// Solution is what Solve returns.
type Solution struct {
	Method       string
	X            [][]float64 // one for each right-hand side
	Status       solvers.Status
	Iterations   int // passes over the rows of K; 1 for a direct method
	Evaluations  int64
	Elapsed      time.Duration
	Certificates []Certificate   // one for each right-hand side
	Trace        []Point         // of the first right-hand side
	Factor       *CholeskyFactor // of Cholesky; nil otherwise
}
