// Package linear solves the linear systems of Gaussian processes and of ridge regression step
// by step, and bounds the error of the answer.
//
// Every system is a [System],
//
//	A x = b,  A = K + diag(noise),
//
// with a kernel matrix K and one or several right-hand sides b. It has no box, so it is not a
// quadratic programme of package solvers. The package has the same shape, however: one loop,
// [Solve], drives an interchangeable [Method], records a trace, stops by a [Criterion] and
// certifies the answer from x and rows of K alone. The [Certificate] bounds b'A⁻¹b from both
// sides, and thereby the error of every prediction.
//
// [Cholesky] is the method of choice up to some thousand points, [CG] beyond. The
// [CholeskyFactor] also gives ln|A| and variances; [Probe] estimates ln|A| without a factor.
//
// CST, in comments, is the book of Cristianini and Shawe-Taylor (2000).
package linear

import (
	"context"
	"math"
	"time"

	"github.com/svmnb/svmnb/solvers"
)

// Method is the immutable configuration of an algorithm that solves a System, such as CG{Rank:
// 20}. Its zero value is useful.
type Method interface {
	Name() string
	// Memory returns how many bytes a run with q right-hand sides of length n
	// takes beside K.
	Memory(n, q int) float64
	// Start prepares a run for the right-hand sides b, which starts from x. Both have q slices
	// of length n. The Stepper reads b and writes its answer to x.
	Start(s *System, b, x [][]float64) (Stepper, error)
}

// Stepper is the private workspace of one run.
type Stepper interface {
	// Step makes one iteration on the right-hand sides that are not settled. done reports that
	// no further step can improve x in floating point.
	Step(ctx context.Context, settled []bool) (done bool, err error)
	// Report sets Residual and the bounds of one point for each right-hand side. It must be
	// fast, so it computes nothing. The fields are NaN before, and stay NaN if the method does
	// not know them.
	Report(points []Point)
}

// Point is one line of a trace: what is known of one right-hand side after an iteration. NaN
// means not known; bounds.go explains the bounds. During a run they are those of the method's
// recursion and hold up to its rounding errors. The last point is computed afresh, like the
// certificate.
type Point struct {
	Iteration   int
	Elapsed     time.Duration
	Norm        float64 // ‖b‖
	Residual    float64 // ‖b − Ax‖
	Lower       float64 // lower bound of b'A⁻¹b: 2Q(x) = b'x + r'x
	Skilling    float64 // Skilling's upper bound of b'A⁻¹b, from the same x
	Radau       float64 // upper bound of b'A⁻¹b by the Gauss–Radau rule
	GibbsMacKay float64 // upper bound of b'A⁻¹b by a second run; see CG.GibbsMacKay
	Energy      float64 // the smallest known bound of r'A⁻¹r. Lower is too small by at most this number, which a difference of bounds would lose in rounding
	Rounding    float64 // by how much rounding widens the bounds; 0 until r is computed afresh for the first time
	Evaluations int64   // kernel values computed so far
}

// Upper returns Lower + Energy + Rounding, the smallest upper bound of b'A⁻¹b.
func (pt *Point) Upper() float64 { return pt.Lower + pt.Energy + pt.Rounding }

// Certificate says how near x is to A⁻¹b. Residual and Lower are computed from x alone, in
// twice the working precision. The possible rounding error is subtracted from Lower and added
// to Upper and Energy.
type Certificate struct {
	Residual     float64 // ‖b − Ax‖, computed afresh
	Lower, Upper float64 // bounds of b'A⁻¹b; Upper is Lower + Energy and the possible rounding error

	// Energy is an upper bound of r'A⁻¹r = ‖x − A⁻¹b‖²_A with r = b − Ax: the smaller of Σ
	// r_i²/noise_i, which needs x alone, and the bound of the method. Energy and Upper are
	// +Inf if a noise is 0, or so small that rounding of K hides it.
	Energy float64

	Claimed bool // an interrupt left no time to compute r afresh: Residual and the bounds are the method's own
}

// ErrorBound bounds the error of the posterior mean k'x at a point x* with K(x*, x*) = kss,
// where k has the n values K(x_i, x*): |k'A⁻¹b − k'x| ≤ √(kss · Energy). This follows from
// Cauchy and Schwarz in the norm of A⁻¹, since no posterior variance is negative: k'A⁻¹k ≤
// kss.
func (c Certificate) ErrorBound(kss float64) float64 {
	if kss <= 0 {
		return 0
	}
	return math.Sqrt(kss * c.Energy)
}

// Solution is what Solve returns.
type Solution struct {
	Method       string
	X            [][]float64 // one of length n for each right-hand side
	Status       solvers.Status
	Iterations   int // passes over the rows of K; 1 for a direct method
	Evaluations  int64
	Elapsed      time.Duration
	Certificates []Certificate   // one for each right-hand side
	Trace        []Point         // the points of the first right-hand side
	Factor       *CholeskyFactor // the factor that Cholesky made; nil for other methods
}
