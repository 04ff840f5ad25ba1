package gp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/parallel"
	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/solvers/linear"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// SparseProcess describes a Gaussian process that knows its n points through m inducing points
// (Titsias 2009): its cost is n m² operations and 8 n m bytes. See [Process.Inducing].
type SparseProcess struct {
	process Process
	m       int
	choice  Choice
	seed    uint64
	moves   bool // OptimiseInducing
	cglb    bool
}

// Inducing makes p a sparse process through m of its points, the inducing points. They are
// chosen greedily unless [SparseProcess.By] says otherwise, and [SparseProcess.OptimiseInducing]
// moves them. There are fewer if these determine all others.
//
// The evidence has a lower and an upper bound. The lower bound is exact if the inducing points
// determine f at all points. Optimise maximises it. Then the inducing points are chosen again, as
// long as the bound rises. [SparseProcess.CGLB] makes both bounds closer.
//
// Kernel, NoiseVariance, ConstantMean, ZeroMean, NormaliseTargets, Optimise, Restarts, Bound and
// priors mean the same as for other processes. A method, Stop and Memory have no effect. Fit returns an *ArgumentError for LinearMean, NoiseVariances or a noise of 0.
func (p Process) Inducing(m int) SparseProcess {
	p.faults.Said("Inducing", arguments.WrongIf(m < 1, "Inducing", float64(m), "the number of inducing points is %d; it must be positive", m))
	return SparseProcess{process: p, m: m}
}

// String returns the Go expression of the description.
func (p SparseProcess) String() string {
	s := fmt.Sprintf("%s.Inducing(%d)", p.process.text(false), p.m)
	if p.choice != Greedy {
		s += fmt.Sprintf(".By(gp.%v, %d)", p.choice, p.seed)
	}
	if p.moves {
		s += ".OptimiseInducing()"
	}
	if p.cglb {
		s += ".CGLB()"
	}
	return s
}

// Fit finds the approximate posterior, after finding the hyperparameters if Optimise was set.
// When ctx ends early, the error wraps context.Cause(ctx), and the fit is nil unless Optimise
// has found something.
func (p SparseProcess) Fit(ctx context.Context) (*SparseFit, error) { return p.run(ctx, nil) }

// MustFit is Fit for a notebook cell; see [Process.MustFit].
func (p SparseProcess) MustFit() *SparseFit { return mustApproximate(p.run) }

func (p SparseProcess) run(ctx context.Context, show func(line string, last bool)) (*SparseFit, error) {
	return begun(ctx, show, p.prepare, (*sparseTask).solve)
}

// sparseTask is a checked SparseProcess with all defaults filled in.
type sparseTask struct {
	*processTask
	of SparseProcess // how the inducing points are chosen, and which bound is meant
}

func (p SparseProcess) prepare() (*sparseTask, error) {
	q := p.process.described()
	if p.m < 1 { // the zero value
		q = q.Inducing(p.m).process
	}
	if q.mean == linearMean {
		return nil, arguments.Wrong("LinearMean", math.NaN(), "a sparse process has no linear mean; use ConstantMean, or leave Inducing out")
	}
	t, err := q.withoutMethod()
	if err != nil {
		return nil, err
	}
	if !t.oneNoise() {
		return nil, arguments.Wrong("Inducing", t.noise, "a sparse process needs one positive variance of the noise; say NoiseVariance")
	}
	if _, ok := kernels.Slopes(t.kernel); p.moves && !ok {
		return nil, arguments.Wrong("OptimiseInducing", math.NaN(), "the derivatives of %v by the points are not known; take SquaredExponential, ARD, Matern32, Matern52 or sums and products of these, or leave OptimiseInducing out", t.kernel)
	}
	return &sparseTask{t, p}, nil
}

// with returns t with other values of its hyperparameters.
func (t *sparseTask) with(values []float64) (*sparseTask, error) {
	other, err := t.processTask.with(values)
	return &sparseTask{other, t.of}, err
}

func (t *sparseTask) solve(ctx context.Context) (*SparseFit, error) {
	began := time.Now()
	f, err := t.sparse(ctx)
	if f != nil {
		f.Elapsed = time.Since(began)
	}
	return f, err
}

// at solves for other hyperparameters, and through other inducing points unless kept is nil.
func (t *sparseTask) at(ctx context.Context, values []float64, kept *keptFit) (f *SparseFit, lower float64, err error) {
	other, err := t.with(values)
	if err != nil {
		return nil, 0, err
	}
	if kept == nil {
		f, err = other.through(ctx)
	} else if f, err = other.throughPoints(ctx, kept.Inducing); err == nil {
		f.Chosen = kept.Chosen
	}
	if err != nil {
		return nil, 0, err
	}
	return f, f.Lower, nil
}

// SparseFit is the approximate posterior of a [SparseProcess].
type SparseFit struct {
	// Description is the SparseProcess that was solved, with all defaults and the hyperparameters
	// that Optimise found.
	Description SparseProcess

	// Lower and Upper are bounds of the log marginal likelihood of the exact process, in nats, that
	// hold up to rounding: Titsias's (2009, eq. 9; 2014), or those of [SparseProcess.CGLB].
	Lower, Upper float64

	Inducing     [][]float64 // the inducing points, d features each
	Chosen       [][]float64 // where OptimiseInducing found them; otherwise nil
	Elapsed      time.Duration
	Optimisation *Optimisation // how the hyperparameters were found; its Evidence is Lower; nil without Optimise

	task     *sparseTask
	basis    *kernels.Basis
	own      *linear.CholeskyFactor // L L' = K_mm
	v        [][]float64            // rows v_i = L⁻¹k_m(x_i)
	factor   *linear.CholeskyFactor // of B = I + Σ v_i v_i'/σ²
	b        *matrix
	c        []float64      // M⁻¹ Σ v_i y_i/σ², where B = MM'
	means    *kernels.Basis // of the points of coef: basis, or with CGLB the inducing points and then all others
	coef     []float64      // the mean of f is k'coef: first L⁻ᵀM⁻ᵀc, for the y that the CG of CGLB leaves, then its n solutions
	jitter   float64        // that was added to the diagonal of K_mm
	residual float64        // tr(K − Q)
	conjugate
}

// sparse chooses the inducing points and the hyperparameters.
func (t *sparseTask) sparse(ctx context.Context) (*SparseFit, error) {
	f, err := t.through(ctx)
	if err != nil || !t.learn && !t.of.moves {
		return f, err
	}
	start, some := f.Inducing, false // some: there is something that an interrupt leaves
	for range reselections {
		before := f.Lower
		if t.learn {
			learned, err := f.learn(ctx, f.Optimisation)
			if learned == nil {
				return f.unless(some, err)
			}
			if f, some = learned, true; err != nil {
				return f, err
			}
		}
		again := f
		if t.of.moves {
			again, err = f.moved(ctx)
		} else {
			again, err = f.task.through(ctx)
		}
		if err != nil {
			return f.unless(some, err)
		}
		again.Optimisation = f.Optimisation
		if t.of.moves {
			f, again.Chosen = again, start
			if f.Lower > before+1e-2 {
				continue
			}
			break
		}
		if !(again.Lower > f.Lower+1e-2) {
			break
		}
		f = again
	}
	return f, nil
}

// unless returns f with an error, if there is some of it to return.
func (f *SparseFit) unless(some bool, err error) (*SparseFit, error) {
	if !some {
		return nil, err
	}
	return f, err
}

// reselections is how often the inducing points are chosen or moved at most.
const reselections = 5

// through returns the fit through points that are chosen for the hyperparameters of t.
func (t *sparseTask) through(ctx context.Context) (*SparseFit, error) {
	z, err := t.of.choose(ctx, t.processTask)
	if err != nil {
		return nil, fmt.Errorf("svmnb: the inducing points: %w", err)
	}
	return t.throughPoints(ctx, z)
}

// throughPoints returns the fit through inducing points z. With Q = K_nm K_mm⁻¹ K_mn = V'V and A' = Q + σ²I,
//
//	ln p(y) ≥ −½ y'A'⁻¹y − ½ ln|A'| − (n/2) ln 2π − tr(K − Q)/2σ²,
//	ln p(y) ≤ −½ y'(A' + tr(K − Q) I)⁻¹y − ½ ln|A'| − (n/2) ln 2π.
func (t *sparseTask) throughPoints(ctx context.Context, z [][]float64) (*SparseFit, error) {
	n, m, noise := len(t.y), len(z), t.noise
	f := &SparseFit{Description: t.of, Inducing: z, task: t, basis: kernels.Against(t.kernel, z), v: several(n, m)}
	f.Description.process = t.Process
	f.Description.process.learn, f.Description.process.restarts, f.Description.process.seed = false, 0, 0
	g, err := kernels.NewGram(t.kernel, z, int64(8*m*m)+8)
	if err != nil {
		return nil, fmt.Errorf("svmnb: %w", err)
	}
	most := slices.Max(g.Diag())
	// Jitter makes Q smaller, so the bounds remain.
	for jitter := 1e-10; ; jitter *= 100 {
		f.jitter = jitter*most + 1e-300
		f.own, err = linear.Cholesky{}.Factor(ctx, &linear.System{K: g, Noise: slices.Repeat([]float64{f.jitter}, m)})
		var indefinite *linear.IndefiniteError
		if err == nil || !errors.As(err, &indefinite) || jitter > 1e-5 {
			break
		}
	}
	if err != nil {
		return nil, t.explain(err)
	}
	const strip = 256
	tasks := (n + strip - 1) / strip
	err = parallel.For(ctx, runtime.GOMAXPROCS(0), tasks, func(_, task int) {
		basis := kernels.Against(t.kernel, z)
		for i := task * strip; i < min((task+1)*strip, n); i++ {
			f.v[i] = basis.Row(f.v[i], t.data.X[i])
		}
	})
	for from := 0; from < n && err == nil; from += 16 * strip {
		err = f.own.HalfSolveAll(ctx, f.v[from:min(from+16*strip, n)])
	}
	if err != nil {
		return nil, fmt.Errorf("svmnb: the inducing points: %w", err)
	}
	sum, yy := make([]float64, m), 0.0
	for i, v := range f.v {
		x := t.data.X[i]
		f.residual += max(0, t.kernel.Eval(x, x)-vec.Dot(v, v))
		yy += t.y[i] * t.y[i]
		vec.Axpy(sum, t.y[i], v)
	}
	vv := crossed(f.v, m)
	within := func(noise float64) (b *matrix, factor *linear.CholeskyFactor, c []float64, quadratic float64, err error) {
		b = &matrix{rows: several(m, m), diag: make([]float64, m)}
		for i := range m {
			for j := range m {
				b.rows[i][j] = vv[max(i, j)][min(i, j)] / noise
			}
			b.rows[i][i]++
			b.diag[i] = b.rows[i][i]
		}
		if factor, err = (linear.Cholesky{}).Factor(ctx, &linear.System{K: b}); err != nil {
			return nil, nil, nil, 0, t.explain(err)
		}
		c = factor.HalfSolve(nil, sum)
		for i := range c {
			c[i] /= noise
		}
		return b, factor, c, yy/noise - vec.Dot(c, c), nil
	}
	var quadratic float64
	if f.b, f.factor, f.c, quadratic, err = within(noise); err != nil {
		return nil, err
	}
	f.means, f.coef = f.basis, f.coefficients(f.c)
	_, _, _, least, err := within(noise + f.residual)
	if err != nil {
		return nil, err
	}
	rest := float64(n)*math.Log(2*math.Pi*noise) + f.factor.LogDet()
	f.Lower, f.Upper = -(quadratic+rest+f.residual/noise)/2, -(least+rest)/2
	if t.of.cglb {
		return f, f.tighten(ctx, rest)
	}
	return f, nil
}

// coefficients returns L⁻ᵀM⁻ᵀc = (LL')⁻¹ L (MM')⁻¹ M c.
func (f *SparseFit) coefficients(c []float64) []float64 {
	coef := f.factor.Solve(nil, f.factor.Multiply(nil, c))
	return f.own.Solve(coef, f.own.Multiply(coef, coef))
}

// crossed returns Σ v_i v_i', of which the entries up to the diagonal are valid.
func crossed(v [][]float64, m int) [][]float64 {
	const strip = 4096
	c := make([]float64, m*m)
	for from := 0; from < len(v); from += strip {
		part := slices.Concat(v[from:min(from+strip, len(v))]...)
		a := simd.Matrix[float64]{Data: part, Rows: len(part) / m, Cols: m, Stride: m}
		var right simd.Panels[float64]
		right.Pack(a, 0)
		simd.Gemm[float64]{Add: true, Lower: true}.Do(simd.Matrix[float64]{Data: c, Rows: m, Cols: m, Stride: m}, a.T(), &right)
	}
	rows := make([][]float64, m)
	for i := range rows {
		rows[i] = c[i*m:][:m]
	}
	return rows
}

// sensitivity has the weights of the derivatives of Lower by kernel values; see weigh.
type sensitivity struct {
	*SparseFit
	alpha []float64
	back  []float64            // L⁻ᵀβ
	g     [][]float64          // G
	share float64              // c
	trace float64              // tr B⁻¹
	less  func(h, v []float64) // sets h, m numbers for each point, to v times the matrix (cI − B⁻¹)L⁻¹/2σ²
	h     []float64
}

// weigh returns the weights of
//
//	∂Lower = 2 tr(H ∂K_nm) − tr(G ∂K_mm) − c tr(∂K)/2σ².
//
// With α = A'⁻¹y, β = Vα and c = 1,
//
//	H = L⁻ᵀ(½ βα' + (cI − B⁻¹)V/2σ²),  G = L⁻ᵀ(½ ββ' + ½(cB − (1 + c)I + B⁻¹))L⁻¹.
//
// For CGLB see conjugate, which has another α and c, and one more term.
func (f *SparseFit) weigh(ctx context.Context) (*sensitivity, error) {
	t := f.task
	m, noise := len(f.Inducing), t.noise
	inverse, err := f.factor.Inverse(ctx)
	if err != nil {
		return nil, err
	}
	s := &sensitivity{SparseFit: f, share: 1, h: make([]float64, sparseStrip*m)}
	if f.solved == nil {
		s.alpha = f.against(t.y)
	} else {
		s.alpha, s.share = f.left, 1/(1+f.residual/(float64(len(t.y))*noise))
	}
	beta := make([]float64, m)
	for i, v := range f.v {
		vec.Axpy(beta, s.alpha[i], v)
	}
	// back returns L⁻ᵀ times each row, as (LL')⁻¹ L.
	back := func(rows [][]float64) error {
		for _, r := range rows {
			copy(r, f.own.Multiply(nil, r))
		}
		return f.own.SolveAll(ctx, rows)
	}
	less, g, u := several(m, m), several(m, m), [][]float64{slices.Clone(beta)}
	for i := range m {
		for j := range m {
			less[i][j] = -inverse[i][j] / (2 * noise)
			g[i][j] = (beta[i]*beta[j] + s.share*f.b.rows[i][j] + inverse[i][j]) / 2
		}
		less[i][i] += s.share / (2 * noise)
		g[i][i] -= (1 + s.share) / 2
		s.trace += inverse[i][i]
	}
	for _, rows := range [][][]float64{less, g, u} { // less becomes (cI − B⁻¹)L⁻¹/2σ²
		if err := back(rows); err != nil {
			return nil, err
		}
	}
	g = transposed(g)
	if err := back(g); err != nil {
		return nil, err
	}
	for i, row := range g { // rounding errors made it slightly asymmetric
		for j := range i {
			row[j] = (row[j] + g[j][i]) / 2
			g[j][i] = row[j]
		}
	}
	s.g, s.back = g, u[0]
	// A field with the panels would make each cell compile the products of matrices.
	right, table := new(simd.Panels[float64]), func(v []float64) simd.Matrix[float64] {
		return simd.Matrix[float64]{Data: v, Rows: len(v) / m, Cols: m, Stride: m}
	}
	right.Pack(table(slices.Concat(less...)), 0)
	s.less = func(h, v []float64) { simd.Gemm[float64]{}.Do(table(h), table(v), right) }
	return s, nil
}

// sparseStrip is the number of points for which H is made at a time.
const sparseStrip = 1024

// strip returns 2H for the points from from on, m numbers for each.
func (s *sensitivity) strip(from int) []float64 {
	m := len(s.Inducing)
	part := slices.Concat(s.v[from:min(from+sparseStrip, len(s.v))]...)
	rows := len(part) / m
	h := s.h[:rows*m]
	s.less(h, part)
	for i := range rows {
		row := h[i*m:][:m]
		for j := range row {
			row[j] = 2 * (row[j] + s.alpha[from+i]*s.back[j]/2)
		}
	}
	return h
}

// gradient sets grad to the derivatives of Lower by the logarithms of the hyperparameters, the
// noise last, with the inducing points fixed. That by the noise is
//
//	∂Lower/∂ ln σ² = ½σ²(α'α − tr A'⁻¹) + c tr(K − Q)/2σ².
func (f *SparseFit) gradient(ctx context.Context, grad []float64) error {
	s, err := f.weigh(ctx)
	if err != nil {
		return err
	}
	t := f.task
	n, m, noise := len(t.y), len(f.Inducing), t.noise
	k, err := kernels.NewGradient(t.kernel, f.Inducing)
	if err != nil {
		return fmt.Errorf("svmnb: %w", err)
	}
	own := grad[:len(grad)-1]
	stopped := func() error { return fmt.Errorf("svmnb: the gradient: %w", context.Cause(ctx)) }
	negative := make([]float64, m)
	if k.Contract(own, func(i int) []float64 {
		if ctx.Err() != nil {
			return nil
		}
		for j, g := range s.g[i] {
			negative[j] = -g
		}
		return negative
	}) == nil {
		return stopped()
	}
	var h []float64
	more := k.ContractWith(nil, t.data.X, slices.Repeat([]float64{-s.share / (2 * noise)}, n), func(i int) []float64 {
		if ctx.Err() != nil {
			return nil
		}
		if i%sparseStrip == 0 {
			h = s.strip(i)
		}
		return h[i%sparseStrip*m:][:m]
	})
	if more == nil {
		return stopped()
	}
	vec.Axpy(own, 1, more)
	grad[len(grad)-1] = noise*(vec.Dot(s.alpha, s.alpha)-(float64(n)-float64(m)+s.trace)/noise)/2 + s.share*f.residual/noise/2
	if f.solved == nil {
		return nil
	}
	return f.gradientSolved(ctx, grad)
}

// against returns A'⁻¹y = (y − V'B⁻¹Vy/σ²)/σ².
func (f *SparseFit) against(y []float64) []float64 {
	sum, alpha := make([]float64, len(f.Inducing)), make([]float64, len(y))
	for i, v := range f.v {
		vec.Axpy(sum, y[i]/f.task.noise, v)
	}
	f.factor.Solve(sum, sum)
	for i, v := range f.v {
		alpha[i] = (y[i] - vec.Dot(v, sum)) / f.task.noise
	}
	return alpha
}

// learn maximises Lower with the inducing points fixed, from the hyperparameters of f. before is
// the optimisation with the inducing points before these; nil for none.
func (f *SparseFit) learn(ctx context.Context, before *Optimisation) (*SparseFit, error) {
	t := f.task
	l, o, err := t.learningAfter(before, "≥")
	if err != nil {
		return nil, err
	}
	return maximise(ctx, l, o, func(values, grad []float64) (*SparseFit, float64, error) {
		other, err := t.with(values)
		if err != nil {
			return nil, 0, err
		}
		s, err := other.throughPoints(ctx, f.Inducing)
		if err != nil {
			return nil, 0, err
		}
		return s, s.Lower, s.gradient(ctx, grad)
	})
}

func (f *SparseFit) none() bool { return f == nil || f.task == nil }

func (f *SparseFit) ended() (time.Duration, ApproximationRun) {
	return f.Elapsed, ApproximationRun{Status: solvers.Converged}
}
func (f *SparseFit) found(o *Optimisation) { f.Optimisation = o }

func (f *SparseFit) ready(ctx context.Context, call string) error {
	if f.none() {
		return arguments.NoFit(call)
	}
	return arguments.Given(ctx, call)
}

// Predict returns the means of f at m points. Errors are those of [Fit.Predict].
func (f *SparseFit) Predict(x datasets.Points) ([]float64, error) {
	b, err := f.Posterior(context.Background(), x)
	if err != nil {
		return nil, err
	}
	return b.Mean, nil
}

// Posterior returns mean and variance of f at m points in the approximation of Titsias (2009,
// eq. 6), in m² multiplications for each point, where m is the number of inducing points. Errors
// are those of [Fit.Predict], and wrap context.Cause(ctx) when ctx ends early.
func (f *SparseFit) Posterior(ctx context.Context, x datasets.Points) (_ *Belief, err error) {
	defer guard.Caught(&err)
	if err := f.ready(ctx, "Posterior"); err != nil {
		return nil, err
	}
	rows, err := points.Dense("Posterior", x)
	if err != nil {
		return nil, err
	}
	if err := f.task.check("Posterior", rows); err != nil {
		return nil, err
	}
	if err := f.basis.Check(rows); err != nil {
		return nil, fmt.Errorf("svmnb: Posterior: %w", err)
	}
	return f.posterior(ctx, rows)
}

func (f *SparseFit) posterior(ctx context.Context, rows [][]float64) (*Belief, error) {
	b := &Belief{Mean: slices.Repeat([]float64{f.task.offset}, len(rows)), Variance: make([]float64, len(rows)), Noise: f.task.noise}
	f.means.Times(b.Mean, rows, f.coef)
	var a []float64
	for i, p := range rows {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("svmnb: Posterior: %w", context.Cause(ctx))
		}
		a = f.basis.Row(a, p)
		f.own.HalfSolve(a, a)
		b.Variance[i] = f.task.kernel.Eval(p, p) - vec.Dot(a, a)
		f.factor.HalfSolve(a, a)
		b.Variance[i] = max(0, b.Variance[i]+vec.Dot(a, a))
		b.Mean[i] = f.task.value(b.Mean[i])
	}
	f.task.spread(b)
	return b, nil
}

// Markdown says in words what was solved and how good the answer is.
func (f *SparseFit) Markdown() string {
	if err := f.ready(context.Background(), "Markdown"); err != nil {
		return err.Error()
	}
	t, s := f.task, say.NewSummary()
	s.Row("**problem**", "sparse Gaussian process of %s", t.data.Name)
	through := say.Several(len(f.Inducing), "inducing point")
	if f.Chosen != nil {
		through += " that moved"
	}
	s.Row("points × features", "%d × %d, through %s", t.data.N(), t.data.D(), through)
	s.Row("kernel", "%s", say.Brief(t.kernel.String()))
	s.Row("noise variance", "%s", t.noiseText())
	if o := f.Optimisation; o != nil && len(o.Ascents) > 0 {
		s.Row("**hyperparameters**", "%d learned, %s; %s in %s", len(o.Names), o.status(), say.Several(o.Evaluations, "evaluation"), say.Spell(o.Elapsed))
	}
	s.Row("**result**", "the log marginal likelihood is between %s and %s", say.Signed(f.Lower, 6), say.Signed(f.Upper, 6))
	return s.String()
}

// Show displays the given figures of the fit. Without figures it displays the summary and, if
// there is one feature, Posterior.
func (f *SparseFit) Show(figures ...display.Figure) {
	var usual []display.Figure
	if !f.none() {
		usual = f.task.usual()
	}
	display.ShowFit(f, figures, usual...)
}

func (f *SparseFit) drawPosterior(v view) (*display.Chart, error) {
	ctx, stop := untilInterrupt()
	defer stop()
	if err := f.ready(ctx, "Posterior"); err != nil {
		return nil, err
	}
	d := figure.PosteriorData{
		Problem:  f.words(),
		Note:     fmt.Sprintf("log marginal likelihood between %s and %s", say.Signed(f.Lower, 6), say.Signed(f.Upper, 6)),
		Evidence: math.NaN(), Inducing: points.Column(f.Inducing, 0),
	}
	if f.Chosen != nil {
		d.InducingFrom = points.Column(f.Chosen, 0)
	}
	return f.task.drawApproximate(ctx, v, f.Posterior, d)
}

func (f *SparseFit) words() string {
	return fmt.Sprintf("%s · through %s", f.task.words(), say.Several(len(f.Inducing), "inducing point"))
}

// boundsNodes is the number of sparse processes in the figure EvidenceBounds.
const boundsNodes = 20

func (f *SparseFit) drawEvidenceBounds() (*display.Chart, error) {
	ctx, stop := untilInterrupt()
	defer stop()
	if err := f.ready(ctx, "EvidenceBounds"); err != nil {
		return nil, err
	}
	m := len(f.Inducing)
	lower, upper := figure.Line{Name: "lower bound"}, figure.Line{Name: "upper bound"}
	for i, last := 1, 0; i <= boundsNodes; i++ {
		k := max(1, m*i/boundsNodes)
		if k == last {
			continue
		}
		last = k
		g := f
		if k < m {
			var err error
			if g, err = f.task.throughPoints(ctx, f.Inducing[:k]); err != nil {
				return nil, err
			}
		}
		lower.X, upper.X = append(lower.X, float64(k)), append(upper.X, float64(k))
		lower.Y, upper.Y = append(lower.Y, g.Lower), append(upper.Y, g.Upper)
	}
	nan := [2]float64{math.NaN(), math.NaN()}
	// The axis has the bounds of the last third; the first ones may be far away.
	near, far := f.Lower, f.Upper
	for i := 2 * len(lower.Y) / 3; i < len(lower.Y); i++ {
		near, far = min(near, lower.Y[i]), max(far, upper.Y[i])
	}
	room := 0.1*(far-near) + 1e-6*math.Abs(far)
	return figure.Lines(figure.LinesData{
		Title: fmt.Sprintf("%s leave %s nats between the bounds of the evidence", say.Several(m, "inducing point"), say.Signed(f.Upper-f.Lower, 3)),
		X:     "inducing points", Y: "log marginal likelihood", Lines: []figure.Line{upper, lower}, XRange: nan, YRange: [2]float64{near - room, far + room},
	})
}
