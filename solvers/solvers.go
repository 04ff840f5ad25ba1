// Package solvers minimises the quadratic programmes behind kernel machines step by step, and
// bounds how far the answer is from the optimum.
//
// Every machine is one quadratic programme,
//
//	minimise   ½ α'Qα + p'α
//	subject to lower ≤ α ≤ upper,  s'α = δ,
//	with       Q = diag(s) K diag(s) + diag(ridge),
//
// where K is a kernel matrix and s holds the labels ±1 (LIBSVM's formulation,
// Chang and Lin 2011, eq. 11, with the ridge kept apart so that predictions and
// certificates use plain K). With a bias fixed at b₀ there is no equality and
// the objective gains b₀ s'α (CST §7.2; see [Problem.WithFixedBias]).
// Classification in the 1-norm, 2-norm and hard margin form, regression,
// novelty detection and the Gaussian process mean are all instances of it.
//
// One loop, [Solve], drives an interchangeable [Method] over a [Problem],
// records a [Trace], stops by a [Criterion] and certifies the result from its α and
// rows of K ([Certify]). Package svmnb can audit a fit by code that shares nothing with
// this package. The linear systems of Gaussian processes are in package linear, below this one.
//
// Comments use the symbols of docs/math.md: W(α) is the dual objective, F = −s(Qα + p), which is
// y − g for classification, m the largest F of the points whose sα may grow (I_up), and M the
// smallest F of those whose sα may shrink (I_low). They cite some sources by letters. CST is the
// book of Cristianini and Shawe-Taylor (2000), N are Ng's notes, W those of Wang, ST
// Schmidt-Thieme's slides, and B is a blog on SMO and interior points, also called the
// interior-point source.
package solvers

import (
	"context"
	"time"
)

// Matrix is a symmetric n × n kernel matrix that is read by rows.
//
// The last two rows that Row has returned stay valid; another call may overwrite older ones.
// Callers must not write to them.
type Matrix interface {
	Dim() int
	Diag() []float64
	Row(i int) []float64
}

// A Sweeper is a Matrix that can be read as a whole on all cores. Sweep calls do from several
// goroutines at a time and in no particular order; rows[r][c] is entry (i+r, j+c), the same as
// that of Row. With height 0, do gets each row whole. With height 1, it gets each row up to
// the diagonal. With a larger height it gets blocks of at most height rows. The first row of a
// block is a multiple of height if do gets several blocks, and all rows of a block have the
// same columns. The blocks contain every entry up to the diagonal once, and some entries above
// it. do must not write to the rows or keep them. Sweep returns context.Cause(ctx) soon after
// ctx has ended. Package linear uses it.
type Sweeper interface {
	Matrix
	Sweep(ctx context.Context, height int, do func(i, j int, rows [][]float64)) error
}

// A Counter is a Matrix that counts how many kernel values it has computed.
type Counter interface{ Evaluations() int64 }

// Problem is one quadratic programme; see the package comment for the formula.
// [SoftMargin], [SoftMargin2] and [HardMargin] make the classification duals of
// CST §7.1. All slices have length n and are not changed by a solver.
type Problem struct {
	K            Matrix    // kernel matrix, without the ridge
	S            []float64 // labels, each +1 or −1
	P            []float64 // linear term p; −1 everywhere for classification
	Lower, Upper []float64 // box; Upper may be +Inf
	Ridge        []float64 // added to the diagonal of Q, ≥ 0; nil means none
	Delta        float64   // right-hand side of s'α = δ
	PerClass     bool      // the α of each class have a sum of their own: also Σα = Sum (ν-SVC)
	Sum          float64   // Σα with PerClass, otherwise unused
	FixedBias    bool      // there is no equality constraint, and the objective has + Bias s'α
	Bias         float64   // the fixed bias b₀; ignored when the bias is free
}

// Method is the immutable configuration of an algorithm, such as
// SMO{Selection: SecondOrder}. Its zero value is useful.
type Method interface {
	Name() string
	// Start prepares a run from the feasible alpha of length n, which belongs to the Stepper
	// from then on. It returns an error that wraps ErrUnsupported for a problem that the
	// method cannot solve.
	Start(p *Problem, alpha []float64) (Stepper, error)
}

// Stepper is the private workspace of one run.
type Stepper interface {
	// Step makes one iteration. done reports that no further step can improve the objective in
	// floating point.
	Step(ctx context.Context) (done bool, err error)
	// Report fills in what the method knows of its current iterate. It computes nothing.
	Report(it *Iterate)
}

// Iterate is the method's view of where it stands. The slices belong to the method and must
// only be read. NaN and nil mean that the method does not know.
type Iterate struct {
	Iteration int
	Alpha     []float64 // current α
	F         []float64 // F_i = −s_i (Qα + p)_i; y_i − g_i for classification
	Up, Low   float64   // max of F over I_up, min of F over I_low (Keerthi's b_up and b_low with ST's sign); see Point
	Working   []int     // indices that the last step optimised
	Step      float64   // length of the last step along its direction
	Active    int       // size of the active set; 0 means all
	Partial   bool      // F is nil because the method keeps it for the active points only, and computing the rest costs too much for a measurement
	Single    bool      // F belongs to a K in single precision, computed in blocks. Solve also computes F afresh in blocks, and checks at times whether W still grows
	Rough     bool      // F belongs to an approximation of K: the criterion may use it, but measurements must not
	Bias      float64   // the b that belongs to Alpha, if the method has its own
	Surrogate float64   // interior point: the gap computed from the multipliers, m t on the central path
	Sweep     int       // number of iterations in a sweep over all points; 0 means n

	// Save returns the state of the run. A later run that gets it in Settings.Resume goes on from this
	// iterate. Save is nil for methods that need Alpha only.
	Save func() *Saved
}

// Saved is the state of a run of a method that implements [Resumer]. All slices have n numbers, one for each
// variable. F is stored in single precision to keep files small. Its rounding does not spoil the answer,
// because Solve computes F anew at the end of a run.
type Saved struct {
	Alpha []float64 // n multipliers
	F     []float32 // their F; NaN for those that are left out

	// If some are left out, Base is an α, and BaseF its F, of all points.
	Base  []float64
	BaseF []float32
	Wide  float64 // the violation of Base

	Focused bool // they are left out only until the violation of the others is small
}

// Point is one line of a Trace: what was measured after an iteration. NaN means that a value
// does not apply or is not known.
type Point struct {
	Iteration    int
	Elapsed      time.Duration
	Primal, Dual float64 // the objectives, Dual = −(½α'Qα + p'α) ≤ Primal
	Gap          float64 // Primal − Dual ≥ 0
	RelGap       float64 // Gap / (1 + |Primal|), CST (7.3)
	KKT          float64 // largest violation of the KKT conditions at the bias that violates least, in units of y·f
	Up, Low      float64 // max of F over I_up and min of F over I_low, both including b₀ when the bias is fixed; Up ≤ Low at the optimum
	Equality     float64 // |s'α − δ|
	Margin       float64 // geometric margin 1/‖w‖
	Bias         float64
	Step         float64
	Free, Bound  int // support vectors inside the box and at its upper bound
	Active       int
	Evaluations  int64   // kernel values computed so far
	Surrogate    float64 // interior point: the gap computed from the multipliers, m t on the central path
	Working      []int   // the indices that the last step optimised

	// Changed and Alpha are for replay: which α have changed since the point before, and their
	// new values.
	Changed []int
	Alpha   []float64
}

// Trace is the record of a run. It has every iteration at first, then iterations at log-spaced
// distances of about one per cent, and always the last one; see [Settings].
type Trace struct {
	N      int // number of variables
	Sweep  int // number of iterations in a sweep over all points; 0 means N
	Points []Point

	// Cut is the index of the first point without the changed α, or 0 if all points have them.
	// They are kept up to 64 MB, which only runs that move very many α at once exceed.
	Cut int
}

// Replayable returns the number of points whose α AlphaAt can rebuild.
func (t *Trace) Replayable() int {
	if t.Cut > 0 {
		return t.Cut
	}
	return len(t.Points)
}

// AlphaAt rebuilds the N values α of point k from the changes. It returns nil for a point that
// is not replayable.
func (t *Trace) AlphaAt(k int) []float64 {
	if k >= t.Replayable() {
		return nil
	}
	alpha := make([]float64, t.N)
	for _, pt := range t.Points[:k+1] {
		for j, i := range pt.Changed {
			alpha[i] = pt.Alpha[j]
		}
	}
	return alpha
}

// Certificate says how near the optimum an α is. It is computed afresh from α in float64 and
// uses nothing from the method; docs/math.md says which code the two share.
type Certificate struct {
	Dual     float64 // W(α), the maximised dual objective
	Primal   float64 // primal objective at the best bias for this α; +Inf while a hard margin separates nothing
	Gap      float64 // Primal − Dual; W* − W(α) ≤ Gap
	BoxGap   float64 // the gap of CST §7.1 for unbounded α, with Upper replaced by max α + 1; equal to Gap otherwise
	RelGap   float64 // Gap / (1 + |Primal|), CST (7.3)
	MaxKKT   float64 // largest KKT violation at the bias that violates least, in units of y·f
	Equality float64 // |s'α − δ|
	Bound    float64 // how far α is outside its box; 0 when feasible
	Bias     float64 // mean of F over the free vectors, or the middle of [m, M] if there are none; b₀ when it is fixed
	Rho      float64 // ρ of a ν problem, whose margins are y f = ρ, and −ε of ν-SVR; 0 otherwise
	Norm2    float64 // ‖w‖² = α' diag(s) K diag(s) α
	Free     int     // vectors strictly inside the box
	AtUpper  int     // vectors at their upper bound
	Rounding float64 // how far rounding of the kernel values may have moved F, and thereby the violation
	Claimed  bool    // an interrupt left no time to compute Qα afresh: the figures are from the method's own F. Those that need F of all points are NaN if it is out of date for points that were left out
}

// Result is what Solve returns.
type Result struct {
	Method      string
	Alpha       []float64
	Bias        float64
	Status      Status
	Iterations  int
	Evaluations int64
	Elapsed     time.Duration
	Certificate Certificate
	Trace       Trace

	// F has the n values F_i at Alpha that the certificate was computed from. It is nil if
	// Certificate.Claimed is true, and for results that Solve did not return.
	F []float64
}
