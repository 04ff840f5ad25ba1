package solvers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"time"

	"github.com/svmnb/svmnb/internal/panics"
	"github.com/svmnb/svmnb/internal/rows"
	"github.com/svmnb/svmnb/internal/simd"
)

// System is the linear system of a Gaussian process and of ridge regression,
//
//	A x = b,  A = K + diag(noise)
//
// (CST 7.6, where the matrix of Table 7.3 is called C). K is n × n and positive
// semi-definite. Noise has n variances ≥ 0, in the units of K, the same for all
// points or not; nil means none. Where every one is positive, A ⪰ diag(noise) and
// the error of any x is bounded; with a zero there are no upper bounds.
type System struct {
	K     Matrix
	Noise []float64
}

// LinearMethod is the immutable configuration of a way to solve a System, such as
// CG{Rank: 20}. Its zero value is useful.
type LinearMethod interface {
	Name() string
	// Memory returns how many bytes a run with q right-hand sides of length n
	// takes beside K.
	Memory(n, q int) float64
	// Start prepares a run for the right-hand sides b from the x given, q slices of
	// length n each. The Stepper reads b and works in x.
	Start(s *System, b, x [][]float64) (LinearStepper, error)
}

// LinearStepper is the private workspace of one run.
type LinearStepper interface {
	// Step makes one iteration on the right-hand sides that are not settled; done
	// means that no further step can improve x in floating point.
	Step(ctx context.Context, settled []bool) (done bool, err error)
	// Report fills Residual and the bounds of one point for each right-hand side,
	// without work. They are NaN before, which means that the method does not know.
	Report(points []SystemPoint)
}

// SystemSettings are what a run does besides its mathematics. The zero value stops
// at Bounds{Rel: 1e-6}, or at Residual{Rel: 1e-6} where a noise of 0 leaves no
// bounds, after 2n iterations at most.
type SystemSettings struct {
	Stop          SystemCriterion // asked for each right-hand side
	Start         [][]float64     // x to begin with, one for each right-hand side; nil means 0. Direct methods ignore it
	MaxIterations int             // 0 means 2n
	MaxTime       time.Duration   // 0 means none
	Memory        int64           // bytes that the method may take beside K; 0 means Go's memory limit, or 4 GiB where none is set
	Every         int             // sampling of the trace, as in Settings

	// Observers see every sampled point and all x, in order, and must not change
	// them.
	Observers []func(x [][]float64, pt *SystemPoint)
}

// SystemCriterion decides whether a right-hand side is solved. It keeps no state.
type SystemCriterion interface {
	Met(pt *SystemPoint) bool
	String() string
}

// Bounds stops when b'A⁻¹b is known within Abs or within Rel of its lower bound,
// whichever is reached first. Half of it is a term of the log marginal likelihood,
// so Abs is in nats: 1e-2 to 1e-4 are enough for most purposes.
type Bounds struct{ Abs, Rel float64 }

func (c Bounds) Met(pt *SystemPoint) bool {
	return pt.Energy+pt.Rounding <= max(c.Abs, c.Rel*pt.Lower)
}
func (c Bounds) String() string { return within("upper − lower bound", c.Abs, c.Rel) }

// Residual stops when ‖b − Ax‖ is at most Abs or Rel ‖b‖.
type Residual struct{ Abs, Rel float64 }

func (c Residual) Met(pt *SystemPoint) bool { return pt.Residual <= max(c.Abs, c.Rel*pt.Norm) }
func (c Residual) String() string           { return within("residual", c.Abs, c.Rel) }

func within(what string, abs, rel float64) string {
	switch {
	case rel == 0:
		return fmt.Sprintf("%s ≤ %g", what, abs)
	case abs == 0:
		return fmt.Sprintf("relative %s ≤ %g", what, rel)
	}
	return fmt.Sprintf("%s ≤ %g or relative ≤ %g", what, abs, rel)
}

// SystemPoint is one line of a trace: what is known of one right-hand side after
// an iteration. NaN means not known; see bounds.go for the bounds. On the way they are
// those of the method's recursion, so they hold but for its rounding; the last point is
// computed afresh, as the certificate is.
type SystemPoint struct {
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
func (pt *SystemPoint) Upper() float64 { return pt.Lower + pt.Energy + pt.Rounding }

// SystemCertificate says how near A⁻¹b an x is. Residual and Lower are computed from x
// alone, in twice the working precision, and what rounding may hide is taken from Lower
// and added to Upper and Energy.
type SystemCertificate struct {
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
func (c SystemCertificate) ErrorBound(kss float64) float64 {
	if kss <= 0 {
		return 0
	}
	return math.Sqrt(kss * c.Energy)
}

// Solution is what SolveSystem returns.
type Solution struct {
	Method       string
	X            [][]float64 // one for each right-hand side
	Status       Status
	Iterations   int // passes over the rows of K; 1 for a direct method
	Evaluations  int64
	Elapsed      time.Duration
	Certificates []SystemCertificate // one for each right-hand side
	Trace        []SystemPoint       // of the first right-hand side
	Factor       *CholeskyFactor     // of Cholesky; nil otherwise
}

// Check returns a *ProblemError for the first thing that is wrong with s. Rows of K
// are looked at when they are first used.
func (s *System) Check() error {
	if s == nil || s.K == nil {
		return &ProblemError{"K", -1, 0, "no kernel matrix"}
	}
	n := s.K.Dim()
	if n == 0 {
		return &ProblemError{"K", -1, 0, "the kernel matrix has no rows; give at least one point"}
	}
	diag := s.K.Diag()
	if len(diag) != n {
		return &ProblemError{"K", -1, 0, fmt.Sprintf("the diagonal has %d entries, the kernel matrix has %d rows", len(diag), n)}
	}
	if len(s.Noise) != n && s.Noise != nil {
		return &ProblemError{"Noise", -1, 0, fmt.Sprintf("has %d entries, the kernel matrix has %d rows", len(s.Noise), n)}
	}
	for i, v := range diag {
		switch {
		case !rows.Usable(v):
			return &ProblemError{"K", i, v, fmt.Sprintf("row %d, column %d "+rows.Unusable, i, i)}
		case v < 0:
			return &ProblemError{"K", i, v, "a diagonal entry is negative, so K is not positive semi-definite; use another kernel"}
		}
	}
	for i, v := range s.Noise {
		if !(v >= 0 && rows.Usable(v)) {
			return &ProblemError{"Noise", i, v, "must be a variance from 0 to 1e100; positive, as a rule"}
		}
	}
	return nil
}

// Criterion returns when a run stops where SystemSettings does not say: Bounds{Rel: 1e-6},
// or Residual{Rel: 1e-6} where a noise is 0, or so small that rounding of K hides it, for
// there are no upper bounds then.
func (s *System) Criterion() SystemCriterion {
	if s.theta() == 0 {
		return Residual{Rel: 1e-6}
	}
	return Bounds{Rel: 1e-6}
}

// noise returns noise_i.
func (s *System) noise(i int) float64 {
	if s.Noise == nil {
		return 0
	}
	return s.Noise[i]
}

// theta returns the smallest floor: A ⪰ θI.
func (s *System) theta() float64 {
	theta := math.Inf(1)
	for i, k := range s.K.Diag() {
		theta = min(theta, s.floor(i, k))
	}
	return theta
}

// floor returns what is left of noise_i when entries of K are off by a rounding,
// |E_ij| ≤ 2⁻⁵² √(K_ii K_jj), hence E ⪰ −n 2⁻⁵² diag(K): A ⪰ diag(floor) where K is
// a kernel matrix but for that. k is K_ii.
func (s *System) floor(i int, k float64) float64 {
	return max(0, s.noise(i)-float64(s.K.Dim())*0x1p-52*k)
}

// times sets y_j = A x_j for all j in one pass over the rows of K, which are
// asked for once however many x there are. It polls ctx at every row.
func (s *System) times(ctx context.Context, y, x [][]float64) error {
	return rows.Sweep(ctx, s.K, false, func(i int, row []float64) { s.timesRow(y, x, i, row) })
}

func (s *System) timesRow(y, x [][]float64, i int, row []float64) {
	noise := s.noise(i)
	for j, v := range x {
		y[j][i] = inner(row, v) + noise*v[i]
	}
}

// inner returns x'y.
func inner(x, y []float64) float64 { return simd.Dot(x, y) }

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
	return fmt.Sprintf("solvers: %s on %d points takes %.3g GB beside the kernel matrix and may take %.3g: %sraise the memory that it may take or GOMEMLIMIT", e.Method, e.N, e.Need/1e9, e.Limit/1e9, way)
}

// unlimited is the memory of a method when neither the caller nor Go has a limit.
const unlimited = 4 << 30

func affordable(m LinearMethod, n, q int, limit int64) error {
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
	return fmt.Sprintf("solvers: %s: %s; use a positive semi-definite kernel, drop duplicate points, or add noise: %.1g more would do", e.Method, what, e.Need)
}

// SolveSystem runs m on A x = b for the q right-hand sides b, of length n each,
// until the criterion is met for all, a limit is hit, ctx ends, or rounding leaves
// nothing to improve. It is the only loop: it records, stops and certifies, and m
// does the mathematics. Before a run counts as converged all residuals are computed
// afresh and the criterion is asked again.
//
// A limit is a Status and no error. An interrupt returns what there is, with an
// error that wraps context.Cause(ctx). With every other error the Solution is nil: a
// *[ProblemError] for bad numbers, of which those in K are found when their row is
// first used, an *[IndefiniteError], a *[MemoryError].
func SolveSystem(ctx context.Context, s *System, b [][]float64, m LinearMethod, set SystemSettings) (*Solution, error) {
	sol, _, err := solveSystem(ctx, s, b, m, set)
	return sol, err
}

func solveSystem(ctx context.Context, s *System, b [][]float64, m LinearMethod, set SystemSettings) (_ *Solution, _ LinearStepper, err error) {
	defer panics.Recover(&err, func() string { return "the method " + m.Name() })
	if err := s.Check(); err != nil {
		return nil, nil, err
	}
	if ctx == nil {
		return nil, nil, errNoContext
	}
	x, err := set.begin(s, b)
	if err != nil {
		return nil, nil, err
	}
	if m == nil {
		return nil, nil, &ProblemError{"m", -1, 0, "there is no method; give one such as Cholesky{} or CG{}"}
	}
	n := s.K.Dim()
	if err := affordable(m, n, len(b), set.Memory); err != nil {
		return nil, nil, err
	}
	r := linearRun{s: s.checked(), b: b, x: x, settings: set, began: time.Now(), points: make([]SystemPoint, len(b)), settled: make([]bool, len(b))}
	r.st, err = m.Start(r.s, b, x)
	if err != nil {
		return nil, nil, fmt.Errorf("solvers: %s: %w", m.Name(), err)
	}
	if h, ok := r.st.(holder); ok {
		h.allow(allowed(set.Memory) - m.Memory(n, len(b)))
	}
	limited := ctx
	if set.MaxTime > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, set.MaxTime)
		defer cancel()
	}
	status, err := r.loop(limited)
	if status == Interrupted && ctx.Err() == nil {
		status = TimeLimit
	}
	if bad := r.s.failed(); bad != nil {
		return nil, nil, bad
	}
	if err != nil {
		var indefinite *IndefiniteError
		if errors.As(err, &indefinite) {
			return nil, nil, err
		}
		return nil, nil, fmt.Errorf("solvers: %s: iteration %d: %w", m.Name(), r.iteration, err)
	}
	sol := &Solution{
		Method: m.Name(), X: x, Status: status, Iterations: r.iteration, Evaluations: rows.Evaluations(s.K),
		Elapsed: time.Since(r.began), Certificates: r.certify(), Trace: r.trace,
	}
	if c, ok := r.st.(*cholesky); ok {
		sol.Factor = c.factor
	}
	if status == Interrupted {
		return sol, r.st, fmt.Errorf("solvers: %s stopped after %d iterations: %w", m.Name(), r.iteration, context.Cause(ctx))
	}
	return sol, r.st, nil
}

// checked returns s with a K that looks at its rows when they are first used.
func (s *System) checked() *System {
	return &System{K: rows.Check(s.K, badRow), Noise: s.Noise}
}

// failed returns what K has found wrong in its rows.
func (s *System) failed() error { return s.K.(*rows.Checked).Err() }

// errNoContext refuses a nil context, which cannot be asked whether it has ended.
var errNoContext = &ProblemError{"ctx", -1, 0, "the context is nil; give context.Background() where nothing is to end the work early"}

// begin checks the right-hand sides and settings, fills the defaults in, and
// returns the x to start from.
func (set *SystemSettings) begin(s *System, b [][]float64) ([][]float64, error) {
	n := s.K.Dim()
	if len(b) == 0 {
		return nil, &ProblemError{"b", -1, 0, "there is no right-hand side; give at least one"}
	}
	if set.Start != nil && len(set.Start) != len(b) {
		return nil, &ProblemError{"Start", -1, 0, fmt.Sprintf("has %d vectors, there are %d right-hand sides", len(set.Start), len(b))}
	}
	for _, f := range []struct {
		name string
		v    [][]float64
	}{{"b", b}, {"Start", set.Start}} {
		for j, v := range f.v {
			if len(v) != n {
				return nil, &ProblemError{f.name, j, float64(len(v)), fmt.Sprintf("is the length of vector %d; the kernel matrix has %d rows", j, n)}
			}
			for i, e := range v {
				if !rows.Usable(e) {
					return nil, &ProblemError{f.name, j, e, fmt.Sprintf("entry %d of vector %d "+rows.Unusable, i, j)}
				}
			}
		}
	}
	for _, f := range []struct {
		name string
		v    float64
	}{{"MaxIterations", float64(set.MaxIterations)}, {"MaxTime", set.MaxTime.Seconds()}, {"Memory", float64(set.Memory)}} {
		if f.v < 0 {
			return nil, &ProblemError{f.name, -1, f.v, fmt.Sprintf("is %g; it must be positive, or 0 for the default", f.v)}
		}
	}
	if set.MaxIterations == 0 {
		set.MaxIterations = 2 * n
	}
	if set.Stop == nil {
		set.Stop = s.Criterion()
	}
	x := make([][]float64, len(b))
	for j := range x {
		x[j] = make([]float64, n)
		if set.Start != nil {
			copy(x[j], set.Start[j])
		}
	}
	return x, nil
}

// refresher is a LinearStepper that takes over residuals computed afresh from x, and after
// these those of its witnesses. It returns false when they leave nothing to improve but
// rounding.
type refresher interface{ refresh(r [][]float64) bool }

// witnessed is a LinearStepper that has a second vector for each right-hand side, from
// which an upper bound follows; nil where it has none.
type witnessed interface{ witnesses() [][]float64 }

// holder is a LinearStepper that is faster with more memory than its method needs. It is
// told before the first step how many bytes there are.
type holder interface{ allow(bytes float64) }

type linearRun struct {
	s         *System
	st        LinearStepper
	settings  SystemSettings
	began     time.Time
	b, x      [][]float64
	points    []SystemPoint // of each right-hand side
	settled   []bool        // right-hand sides for which the criterion is met
	iteration int
	trace     []SystemPoint
	next      int      // the next iteration to sample
	fresh     bool     // b − Ax has been computed afresh for the x at hand
	proofs    []*proof // what followed from it the last time
	witnesses []*proof // the same of the witnesses of the method
}

func (r *linearRun) loop(ctx context.Context) (Status, error) {
	exhausted := false
	for {
		r.report()
		if r.iteration >= r.next {
			r.record()
		}
		status := NotTerminated
		switch {
		case r.met():
			status = Converged
		case exhausted:
			status = Exhausted
		case ctx.Err() != nil:
			status = Interrupted
		case r.iteration >= r.settings.MaxIterations:
			status = IterationLimit
		}
		if status != NotTerminated {
			more, err := r.refresh(ctx)
			if err != nil {
				status = Interrupted
				_, err = r.refresh(ctx)
			}
			if err != nil {
				return r.end(status), nil
			}
			if r.s.failed() != nil {
				return status, nil
			}
			r.report()
			switch met := r.met(); {
			case met:
				return r.end(Converged), nil
			case status != Converged && status != Exhausted:
				return r.end(status), nil
			case !more:
				return r.end(Exhausted), nil
			case ctx.Err() != nil:
				return r.end(Interrupted), nil
			case r.iteration >= r.settings.MaxIterations:
				return r.end(IterationLimit), nil
			}
			r.fresh, exhausted = false, false
		}
		done, err := r.st.Step(ctx, r.settled)
		switch {
		case r.s.failed() != nil:
			return NotTerminated, nil
		case err != nil && ctx.Err() != nil: // the next look at ctx ends the run
		case err != nil:
			return NotTerminated, err
		default:
			r.iteration++
			exhausted = done
		}
	}
}

// report asks the method where it stands.
func (r *linearRun) report() {
	nan := math.NaN()
	elapsed, evaluations := time.Since(r.began), rows.Evaluations(r.s.K)
	for j := range r.points {
		r.points[j] = SystemPoint{
			Iteration: r.iteration, Elapsed: elapsed, Evaluations: evaluations, Norm: norm(r.b[j]),
			Residual: nan, Lower: nan, Skilling: nan, Radau: nan, GibbsMacKay: nan, Energy: nan,
		}
	}
	r.st.Report(r.points)
	for j := range r.points {
		pt := &r.points[j]
		if r.proofs != nil {
			r.ground(pt, j)
		}
		if gm := pt.GibbsMacKay; gm == gm {
			pt.Energy = min(pt.Energy, max(0, gm-pt.Lower))
		}
	}
}

// ground puts what follows from x itself in the place of what the method says. Between two
// looks at x the rounding is taken for that of the last one, so that a run does not ask
// for another look before it has something to gain.
func (r *linearRun) ground(pt *SystemPoint, j int) {
	p := r.proofs[j]
	lower := pt.Lower - p.rounding
	if r.fresh {
		pt.Residual, lower = norm(p.residual), p.twice-p.rounding
		if !(pt.Energy <= p.energy) { // the method may know better
			pt.Energy = p.energy
		}
		if !(pt.Skilling-pt.Lower <= p.energy) {
			pt.Skilling = pt.Lower + p.energy
		}
	}
	pt.Rounding = 2 * p.rounding
	for _, upper := range []*float64{&pt.Skilling, &pt.Radau} {
		*upper = lower + pt.Rounding + widened(max(0, *upper-pt.Lower), p.hidden)
	}
	pt.Lower, pt.Energy = lower, widened(pt.Energy, p.hidden)
	if r.witnesses != nil && r.fresh {
		pt.GibbsMacKay = r.witnesses[j].upper()
	}
}

func (r *linearRun) met() bool {
	all := true
	for j := range r.points {
		r.settled[j] = r.settings.Stop.Met(&r.points[j])
		all = all && r.settled[j]
	}
	return all
}

// refresh computes b − Ax afresh, and lets the method have it; more is what the method
// says. After an interrupt it gives up when that takes long.
func (r *linearRun) refresh(ctx context.Context) (more bool, err error) {
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
	}
	q, n := len(r.b), r.s.K.Dim()
	x := slices.Clone(r.x)
	if w, ok := r.st.(witnessed); ok {
		x = append(x, w.witnesses()...)
	}
	residuals, off := make([][]float64, len(x)), make([][]float64, len(x))
	for j := range x {
		residuals[j], off[j] = make([]float64, n), make([]float64, n)
	}
	err = rows.Sweep(ctx, r.s.K, false, func(i int, row []float64) {
		for j, v := range x {
			residuals[j][i], off[j][i] = r.s.residualRow(i, row, r.b[j%q], v)
		}
	})
	if err != nil {
		return false, err
	}
	proofs := make([]*proof, len(x))
	for j, v := range x {
		proofs[j] = r.s.prove(r.b[j%q], v, residuals[j], off[j])
	}
	r.fresh, r.proofs, r.witnesses = true, proofs[:q], nil
	if len(x) > q {
		r.witnesses = proofs[q:]
	}
	f, ok := r.st.(refresher)
	return ok && f.refresh(residuals), nil
}

// record adds the point of the first right-hand side to the trace, in the place of
// one of the same iteration.
func (r *linearRun) record() {
	if k := len(r.trace) - 1; k >= 0 && r.trace[k].Iteration == r.iteration {
		r.trace = r.trace[:k]
	}
	r.trace = append(r.trace, r.points[0])
	for _, o := range r.settings.Observers {
		o(r.x, &r.points[0])
	}
	switch every := r.settings.Every; {
	case every < 0:
		r.next = math.MaxInt
	case every > 0:
		r.next = r.iteration + every
	default:
		r.next = r.iteration + max(1, r.iteration/100)
	}
}

func (r *linearRun) end(status Status) Status {
	r.record()
	return status
}

// certify turns the last points into certificates.
func (r *linearRun) certify() []SystemCertificate {
	certificates := make([]SystemCertificate, len(r.b))
	for j, pt := range r.points {
		if !r.fresh {
			pt.Energy = widened(pt.Energy, r.s.hidden(r.b[j], r.x[j]))
		}
		if math.IsNaN(pt.Energy) {
			pt.Energy = math.Inf(1)
		}
		if math.IsNaN(pt.Lower) {
			pt.Lower = 0
		}
		certificates[j] = SystemCertificate{pt.Residual, pt.Lower, pt.Upper(), pt.Energy, !r.fresh}
	}
	return certificates
}

func norm(x []float64) float64 {
	scale := 0.0
	for _, v := range x {
		scale = max(scale, math.Abs(v))
	}
	if scale == 0 || math.IsInf(scale, 1) {
		return scale
	}
	sum := 0.0
	for _, v := range x {
		sum += v / scale * (v / scale)
	}
	return scale * math.Sqrt(sum)
}
