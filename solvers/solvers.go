// Package solvers minimises the quadratic programmes behind kernel machines,
// step by step, and says how near the optimum the answer is.
//
// Every machine is one problem,
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
package solvers

import (
	"context"
	"time"
)

// Matrix is a symmetric n × n kernel matrix that is asked for by rows.
//
// The two rows returned last stay valid; an older one may be overwritten by a
// further call of Row. Callers never write to what they get.
type Matrix interface {
	Dim() int
	Diag() []float64
	Row(i int) []float64
}

// A Sweeper is a Matrix that can be read as a whole on all cores. Sweep calls do from
// several goroutines at a time and in no particular order; rows[r][c] is entry
// (i+r, j+c), the same as that of Row. Where height is 0, do gets each row whole; where it
// is 1, each row up to the diagonal; else blocks of at most so many rows, of which the
// first is a multiple of height where there are several, all with equally many columns:
// every entry up to the diagonal once, some above it besides. do does not write to the rows
// and does not keep them. Sweep returns context.Cause(ctx) soon after ctx has ended.
// Package linear uses it.
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
	Delta        float64   // right side of s'α = δ
	PerClass     bool      // also Σα = Sum: the α of each class have a sum of their own (ν-SVC)
	Sum          float64   // with PerClass
	FixedBias    bool      // true: there is no equality constraint, the objective has + Bias s'α
	Bias         float64   // the fixed bias b₀; without meaning when the bias is free
}

// Method is the immutable configuration of an algorithm, such as
// SMO{Selection: SecondOrder}. Its zero value is useful.
type Method interface {
	Name() string
	// Start prepares a run from the feasible alpha (length n, owned by the
	// Stepper from then on), or returns an error wrapping ErrUnsupported for a
	// problem that the method cannot solve.
	Start(p *Problem, alpha []float64) (Stepper, error)
}

// Stepper is the private workspace of one run.
type Stepper interface {
	// Step makes one iteration; done means that no further step can improve
	// the objective in floating point.
	Step(ctx context.Context) (done bool, err error)
	// Report fills what the method knows of its current iterate without work.
	Report(it *Iterate)
}

// Iterate is a method's view of where it stands. The slices belong to the
// method and are only read. NaN and nil mean that the method does not know.
type Iterate struct {
	Iteration int
	Alpha     []float64 // current α
	F         []float64 // F_i = −s_i (Qα + p)_i; y_i − g_i for classification
	Up, Low   float64   // max of F over I_up, min of F over I_low (Keerthi's b_up and b_low with ST's sign); see Point
	Working   []int     // indices that the last step optimised
	Step      float64   // length of the last step along its direction
	Active    int       // size of the active set; 0 means all
	Partial   bool      // F is nil because it is kept for the active points only, and to complete it costs too much for a measurement
	Single    bool      // F belongs to a K in single precision, computed in blocks: Solve computes F afresh in blocks too, and now and then looks whether W still grows
	Rough     bool      // F is that of an approximation of K: good for a claim, not for a measurement
	Bias      float64   // the b that belongs to Alpha, where the method has one of its own
	Surrogate float64   // interior point: the gap by the multipliers, m t on the central path
	Sweep     int       // how many iterations are a sweep over all points; 0 means n
}

// Point is one line of a Trace: what was measured after an iteration. NaN
// means not applicable.
type Point struct {
	Iteration    int
	Elapsed      time.Duration
	Primal, Dual float64 // the objectives, Dual = −(½α'Qα + p'α) ≤ Primal
	Gap          float64 // Primal − Dual ≥ 0
	RelGap       float64 // Gap / (1 + |Primal|), CST (7.3)
	KKT          float64 // largest violation of the KKT conditions at the bias that violates least, in units of y·f
	Up, Low      float64 // max of F over I_up, min of F over I_low, and of b₀ when the bias is fixed; Up ≤ Low at the optimum
	Equality     float64 // |s'α − δ|
	Margin       float64 // geometric margin 1/‖w‖
	Bias         float64
	Step         float64
	Free, Bound  int // support vectors inside the box and at its upper side
	Active       int
	Evaluations  int64   // kernel values computed so far
	Surrogate    float64 // interior point: the gap by the multipliers, m t on the central path
	Working      []int   // the indices of the last step

	// Replay: what has changed since the point before, with its new value.
	Changed []int
	Alpha   []float64
}

// Trace is the record of a run: every iteration at first, later one in a
// hundred (log-spaced), the last one always; see [Settings].
type Trace struct {
	N      int // number of variables
	Sweep  int // how many iterations are a sweep over all points; 0 means N
	Points []Point

	// Cut is the index of the first point without replay delta, 0 when all have
	// one: deltas are kept up to 64 MB, which only runs that move very many α
	// at once exceed.
	Cut int
}

// Replayable returns how many points AlphaAt can rebuild.
func (t *Trace) Replayable() int {
	if t.Cut > 0 {
		return t.Cut
	}
	return len(t.Points)
}

// AlphaAt rebuilds the α of point k from the replay deltas; nil for a point
// that is not replayable.
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

// Certificate says how near the optimum an α is. It is computed afresh from α, in
// float64, and takes nothing from the method; docs/math.md says what code it shares.
type Certificate struct {
	Dual     float64 // W(α), the maximised dual objective
	Primal   float64 // primal objective at the best bias for this α; +Inf while a hard margin separates nothing
	Gap      float64 // Primal − Dual; W* − W(α) ≤ Gap
	BoxGap   float64 // the gap of CST §7.1 for unbounded α: Upper replaced by max α + 1; equal to Gap otherwise
	RelGap   float64 // Gap / (1 + |Primal|), CST (7.3)
	MaxKKT   float64 // largest KKT violation at the bias that violates least, in units of y·f
	Equality float64 // |s'α − δ|
	Bound    float64 // how far α leaves its box; 0 when feasible
	Bias     float64 // mean of F over the free vectors, else the middle of [m, M]; b₀ when it is fixed
	Rho      float64 // ρ of a ν problem, whose margins are y f = ρ, and −ε of ν-SVR; 0 otherwise
	Norm2    float64 // ‖w‖² = α' diag(s) K diag(s) α
	Free     int     // vectors strictly inside the box
	AtUpper  int     // vectors at their upper bound
	Rounding float64 // how far rounding of the kernel values may have moved F, and with it the violation
	Claimed  bool    // an interrupt left no time to compute Qα afresh: these are the figures of the method's own
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
}
