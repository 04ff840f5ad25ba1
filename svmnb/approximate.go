package svmnb

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/solvers/streamed"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/cells"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/landmarks"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
	"github.com/svmnb/svmnb/svmnb/model"
)

// Approximation says how a machine is approximated: [Nystroem], [RandomFeatures], [Subsample] or
// [Parts].
type Approximation interface {
	String() string
	check(t *exactProblem) error
	// within returns the same with at most n points.
	within(n int) Approximation
	// train returns a machine and multipliers that are feasible for the exact dual.
	train(ctx context.Context, t *exactProblem) (*approximated, error)
}

// Nystroem approximates the kernel by its values with landmarks z_j, which are training points:
// the machine is f(x) = Σ_j β_j K(z_j, x) + b, a function of the exact machine's space (Williams
// and Seeger 2001). It is trained by Newton's method on β (package solvers/streamed). Kernel values
// with the landmarks are computed anew in each step, mostly those of the points near the margins, so
// its memory is about 40 m² + 64 n bytes.
type Nystroem struct {
	Landmarks int // m, from 2 to the number of points
	By        Choice
	Seed      uint64
}

// RandomFeatures approximates the kernel by m cosines and sines (Rahimi and Recht 2007); see
// [kernels.Frequencies] for the kernels that have them. f is no function of the exact machine's
// space, so it has no objective there; its multipliers have.
type RandomFeatures struct {
	Features int // m, even
	Seed     uint64
}

// Subsample trains the exact machine on some of the points, drawn at random. All others have
// the multiplier 0.
type Subsample struct {
	Points int
	Seed   uint64
}

// Parts divides the points by their nearest of some points, drawn as by [KMeans], trains an
// exact machine on each part, and takes the multipliers of all together (Hsieh, Si and Dhillon
// 2014, §3).
type Parts struct {
	Number int
	Seed   uint64
}

func (n Nystroem) String() string       { return say.Literal(n) }
func (r RandomFeatures) String() string { return say.Literal(r) }
func (s Subsample) String() string      { return say.Literal(s) }
func (p Parts) String() string          { return say.Literal(p) }

func (n Nystroem) within(most int) Approximation  { n.Landmarks = min(n.Landmarks, most); return n }
func (r RandomFeatures) within(int) Approximation { return r }
func (s Subsample) within(most int) Approximation { s.Points = min(s.Points, most); return s }
func (p Parts) within(most int) Approximation     { p.Number = min(p.Number, most); return p }

// ApproximateClassifier describes a machine that approximates that of a [Classifier]. It is a
// value, as a Classifier is.
type ApproximateClassifier struct {
	of  Classifier
	how Approximation
}

// Approximate approximates the machine, for data on which the exact one takes too long:
//
//	fit := svmnb.Classify(data).Kernel(k).C(10).Approximate(svmnb.Nystroem{Landmarks: 500}).MustFit()
//	gap, err := fit.Certify(ctx) // how far the machine is from the exact optimum
//	exact, err := fit.Polish(ctx) // goes on from there to the exact machine
//
// It is for the soft margins with a free bias, without SampleWeights. Method and criterion of
// the description are those of Subsample, Parts and Polish.
func (c Classifier) Approximate(how Approximation) ApproximateClassifier {
	c.approximated(how)
	return ApproximateClassifier{c, how}
}

func (m *machine) approximated(how Approximation) {
	m.faults.Said("Approximate", arguments.WrongIf(guard.IsNil(how), "Approximate", math.NaN(), "the approximation is nil; give one such as svmnb.Nystroem{Landmarks: 500}"))
}

// String returns the Go expression of the description.
func (a ApproximateClassifier) String() string {
	return fmt.Sprintf("%v.Approximate(%s)", a.of, say.Literal(a.how))
}

// Fit trains the approximation. When ctx ends early, Fit returns an error that wraps
// context.Cause(ctx).
func (a ApproximateClassifier) Fit(ctx context.Context) (_ *ApproximateFit, err error) {
	defer guard.Caught(&err)
	if err := arguments.Given(ctx, "Fit"); err != nil {
		return nil, err
	}
	t, err := a.prepare(0)
	if err != nil {
		return nil, err
	}
	return a.fit(ctx, t)
}

// fit trains the approximation of a prepared problem.
func (a ApproximateClassifier) fit(ctx context.Context, t *task) (*ApproximateFit, error) {
	core, elapsed, err := approximate(ctx, t.exact(), a.how)
	if err != nil {
		return nil, err
	}
	return &ApproximateFit{Description: a, Alpha: core.alpha, Elapsed: elapsed, task: t, approximation: core}, nil
}

// approximate trains an approximation of a checked problem.
func approximate(ctx context.Context, t *exactProblem, how Approximation) (*approximation, time.Duration, error) {
	began := time.Now()
	of, err := how.train(ctx, t)
	if err != nil {
		return nil, 0, err
	}
	feasible(t.problem, of.alpha)
	return &approximation{t: t, how: how, alpha: of.alpha, of: of}, time.Since(began), nil
}

// MustFit is Fit for a notebook cell. The interrupt button ends it. An error is printed and ends
// the cell; outside a notebook it panics.
func (a ApproximateClassifier) MustFit() *ApproximateFit { return mustTrain(a.Fit) }

func mustTrain[F any](train func(context.Context) (F, error)) F {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	fit, err := train(ctx)
	if err != nil {
		cells.Must(err)
	}
	return fit
}

// prepare checks the description and builds the exact problem, of which nothing is computed yet.
// Its kernel rows take so many bytes at most; 0 means the Memory of the description.
func (a ApproximateClassifier) prepare(bytes int64) (*task, error) {
	c, cache := a.of, a.of.cache
	if bytes > 0 {
		c.cache = bytes
	}
	t, err := c.prepare()
	if err != nil {
		return nil, err
	}
	t.cache = cache
	if t.margin != oneNorm && t.margin != twoNorm {
		return nil, arguments.Wrong("Approximate", math.NaN(), "approximations have the 1-norm or the 2-norm soft margin; leave HardMargin, Nu and OneClass out")
	}
	if t.weights != nil && t.weights.sample != nil {
		return nil, arguments.Wrong("SampleWeights", math.NaN(), "approximations have weights of classes only; leave SampleWeights out")
	}
	return t, t.exact().check(a.how)
}

// exactProblem is the problem of an exact machine, as its approximations see it.
type exactProblem struct {
	*machine
	problem *solvers.Problem
	asking  *sync.Mutex // locks the matrix
	y       []float64   // labels ±1, or targets
	cost    [2]float64  // C of the points with y = −1 and y = +1, or below and above f
	two     *task       // of two classes; otherwise nil
	real    *regression // of real targets; otherwise nil
}

func (t *task) exact() *exactProblem {
	e := &exactProblem{machine: &t.machine, problem: t.problem, asking: t.asking, y: t.y, two: t}
	for i, v := range t.cost {
		e.cost[machines.SideOf(t.y[i])] = v
	}
	return e
}

// check returns the error of a problem that cannot be approximated, or not so.
func (t *exactProblem) check(how Approximation) error {
	if how == nil {
		return arguments.Wrong("Approximate", math.NaN(), "the approximation is nil; give one such as svmnb.Nystroem{Landmarks: 500}")
	}
	if t.fixed {
		return arguments.Wrong("FixedBias", math.NaN(), "approximations have a free bias; leave FixedBias, Augment and methods that need them out")
	}
	return how.check(t)
}

// coef returns the coefficients Σ s_u α_u of the n points.
func (t *exactProblem) coef(alpha []float64) []float64 {
	if t.real != nil {
		return solvers.Signed(alpha)
	}
	coef := make([]float64, len(alpha))
	for i, a := range alpha {
		coef[i] = a * t.y[i]
	}
	return coef
}

// diag returns K(x, x) of the n points.
func (t *exactProblem) diag() []float64 { return t.problem.K.Diag()[:len(t.y)] }

// variables returns the variables of some points, those of each side of the tube one after the
// other.
func (t *exactProblem) variables(rows []int) []int {
	at := slices.Clone(rows)
	if t.real != nil {
		for _, i := range rows {
			at = append(at, len(t.y)+i)
		}
	}
	return at
}

// unit returns a usual difference of two values of f.
func (t *exactProblem) unit() float64 {
	if t.real != nil {
		if v := variation(t.y); v > 0 {
			return math.Sqrt(v / float64(len(t.y)))
		}
	}
	return 1
}

// loss returns Σ C_i loss_i for these values of f.
func (t *exactProblem) loss(f []float64) float64 {
	if t.real != nil {
		return t.real.lossOf(f)
	}
	return t.two.loss(f)
}

// both reports whether a machine can be trained on the rows: for two classes, whether they have
// points of both.
func (t *exactProblem) both(rows []int) bool {
	if t.real != nil {
		return len(rows) > 1
	}
	return slices.ContainsFunc(rows, func(i int) bool { return t.y[i] > 0 }) && slices.ContainsFunc(rows, func(i int) bool { return t.y[i] < 0 })
}

// piece is a machine of some of the points.
type piece struct {
	*solvers.Result
	expansion machines.Expansion
}

// part solves the problem of some of the points, and copies their multipliers to alpha.
func (t *exactProblem) part(ctx context.Context, rows []int, alpha []float64) (p piece, err error) {
	if t.real != nil {
		r := t.real.Regressor
		r.data, r.live = t.data.Select(rows), false
		fit, err := r.Fit(ctx)
		if err != nil {
			return p, err
		}
		p = piece{&fit.Result, fit.expansion}
	} else {
		c := t.two.Classifier
		c.data, c.balanced, c.live = t.data.Select(rows), false, false
		fit, err := c.C(1).SampleWeights(pick(t.two.cost, rows)).Fit(ctx)
		if err != nil {
			return p, err
		}
		p = piece{&fit.Result, fit.expansion}
	}
	for k, u := range t.variables(rows) {
		alpha[u] = p.Alpha[k]
	}
	return p, nil
}

// approximated is what training an approximation leaves.
type approximated struct {
	alpha     []float64
	expansion machines.Expansion // f; its kernel is linear on random features
	coef      []float64          // n coefficients of f at the training points, if it is inSpace
	inSpace   bool               // f is a function of the exact machine's space
	primal    float64            // the exact objective of f; NaN if it is not yet known
	quadratic func(ctx context.Context) (float64, error)
	values    int64 // kernel values computed
}

// feasible clips α to its box, and then shortens multipliers of the class that has more until
// Σ y_i α_i = 0: the free ones if these suffice, so that those at their bound stay there.
func feasible(p *solvers.Problem, alpha []float64) {
	var part, free [2]float64
	for i, a := range alpha {
		if a = max(a, p.Lower[i]); a >= p.Upper[i]*(1-1e-7) {
			a = p.Upper[i]
		}
		alpha[i] = a
		k := machines.SideOf(p.S[i])
		part[k] += a
		if a < p.Upper[i] {
			free[k] += a
		}
	}
	if p.FixedBias || part[0] == part[1] {
		return
	}
	side := machines.SideOf(part[1] - part[0])
	excess, left := part[side]-part[1-side], 0.0
	for i, a := range alpha {
		if machines.SideOf(p.S[i]) == side {
			switch {
			case free[side] <= excess:
				a *= part[1-side] / part[side]
			case a < p.Upper[i]:
				a *= 1 - excess/free[side]
			}
			alpha[i] = a
		}
		left += p.S[i] * a
	}
	// What rounding has left goes to an α that has room for it.
	for i, a := range alpha {
		if moved := a - p.S[i]*left; a > 0 && a < p.Upper[i] && moved >= p.Lower[i] && moved <= p.Upper[i] {
			alpha[i] = moved
			return
		}
	}
}

// most is the number of bytes that an approximation may take beside the points, if Memory does
// not say it.
const mostApproximate = 1 << 30

func (t *exactProblem) room(call string, need float64, advice string) error {
	most := float64(mostApproximate)
	if t.cache > 0 {
		most = float64(t.cache)
	}
	if need > most {
		return arguments.Wrong(call, need, "the memory needed is %.3g GB, and the limit is %.3g GB; %s, or raise the limit by Memory", need/1e9, most/1e9, advice)
	}
	return nil
}

func checkCount(call, what string, m, least, most int) error {
	if m < least || m > most {
		return arguments.Wrong(call, float64(m), "%s is %d; it must be a whole number from %d to %d", what, m, least, most)
	}
	return nil
}

func (n Nystroem) check(t *exactProblem) error {
	if err := checkCount("Nystroem", "Landmarks", n.Landmarks, 2, t.data.N()); err != nil {
		return err
	}
	if n.By < Uniform || n.By > Greedy {
		return arguments.Wrong("Nystroem", float64(n.By), "By is %d; give Uniform, KMeans, Leverage or Greedy", int(n.By))
	}
	m := float64(n.Landmarks)
	return t.room("Nystroem", 8*m*(5*m+blockRows+float64(t.data.D()))+64*float64(t.data.N()), "take fewer landmarks")
}

func (r RandomFeatures) check(t *exactProblem) error {
	if err := checkCount("RandomFeatures", "Features", r.Features, 2, 1<<20); err != nil {
		return err
	}
	m := float64(r.Features)
	return t.room("RandomFeatures", 8*m*(5*m+blockRows+float64(t.data.D()))+64*float64(t.data.N()), "take fewer features")
}

func (s Subsample) check(t *exactProblem) error {
	return checkCount("Subsample", "Points", s.Points, 2, t.data.N())
}

func (p Parts) check(t *exactProblem) error {
	return checkCount("Parts", "Number", p.Number, 1, t.data.N())
}

func (n Nystroem) train(ctx context.Context, t *exactProblem) (*approximated, error) {
	at, err := n.By.choose(ctx, t, n.Landmarks, n.Seed)
	if err != nil {
		return nil, err
	}
	marks := points.Of(t.data).Some(at)
	gram, err := marks.Gram(t.kernel, kernels.NoCache)
	if err != nil {
		return nil, fmt.Errorf("svmnb: Nystroem: %w", err)
	}
	metric := make([][]float64, len(at))
	for i := range metric {
		metric[i] = slices.Clone(gram.Row(i))
	}
	// Landmarks that are nearly equal make their matrix singular. More on the diagonal makes the
	// objective larger and the approximated kernel smaller, so the bounds remain bounds.
	mean := 0.0
	for i := range metric {
		mean += metric[i][i] / float64(len(metric))
	}
	for i := range metric {
		metric[i][i] += 1e-9 * mean
	}
	basis := marks.Basis(t.kernel)
	c := &columns{t: t, of: points.Landmarks{Basis: basis}}
	res, err := c.solve(ctx, metric, n.Seed)
	if err != nil {
		return nil, err
	}
	a, err := c.multipliers(ctx, &res.Alpha)
	if err != nil {
		return nil, err
	}
	a.coef = make([]float64, t.data.N())
	for k, i := range at {
		a.coef[i] += res.Beta[k]
	}
	a.expansion = machines.NewExpansion(t.data, t.kernel, t.behind, a.coef, res.Bias)
	a.inSpace, a.primal = true, res.Primal
	a.quadratic = func(ctx context.Context) (float64, error) {
		rest, err := c.rest(ctx, metric, a.alpha)
		return res.Alpha.Norm2 + rest*rest, err
	}
	return a, nil
}

func (r RandomFeatures) train(ctx context.Context, t *exactProblem) (*approximated, error) {
	omega, weight, err := kernels.Frequencies(t.kernel, t.data.D(), r.Features/2, r.Seed)
	if err != nil {
		return nil, fmt.Errorf("svmnb: RandomFeatures: %w", err)
	}
	if len(omega) != r.Features/2 {
		return nil, arguments.Wrong("RandomFeatures", float64(len(omega)), "%v is a sum, of which each term has its own frequencies; take Nystroem", t.kernel)
	}
	waves := points.NewWaves(omega, weight)
	c := &columns{t: t, of: waves}
	res, err := c.solve(ctx, nil, r.Seed)
	if err != nil {
		return nil, err
	}
	a, err := c.multipliers(ctx, &res.Alpha)
	if err != nil {
		return nil, err
	}
	wave, coef := steps.FourierOf(waves, res.Beta)
	data := &datasets.Dataset{Name: t.data.Name, X: [][]float64{coef}, Y: []float64{0}}
	a.expansion = machines.NewExpansion(data, kernels.Linear(), steps.Raw(t.data, []steps.Fitted{wave}), []float64{1}, res.Bias)
	a.primal = math.Inf(1)
	a.quadratic = func(context.Context) (float64, error) {
		norm := 0.0
		diag := t.diag()
		for i, v := range t.coef(a.alpha) {
			norm += math.Abs(v) * math.Sqrt(diag[i])
		}
		return norm * norm, nil
	}
	return a, nil
}

func (s Subsample) train(ctx context.Context, t *exactProblem) (*approximated, error) {
	rows := rand.New(rand.NewPCG(s.Seed, 0x5ab)).Perm(t.data.N())[:s.Points]
	slices.Sort(rows)
	if !t.both(rows) {
		return nil, arguments.Wrong("Subsample", float64(s.Points), "all %d points that were drawn are of one class; take more points or another Seed", s.Points)
	}
	a := &approximated{alpha: make([]float64, len(t.problem.S)), inSpace: true}
	fit, err := t.part(ctx, rows, a.alpha)
	if err != nil {
		return nil, err
	}
	a.expansion, a.coef = fit.expansion, t.coef(a.alpha)
	a.values = fit.Evaluations
	norm2 := fit.Certificate.Norm2
	a.primal = norm2/2 + t.loss(fit.expansion.Values(points.Of(t.data)))
	a.values += int64(t.data.N()) * int64(fit.expansion.Each())
	a.quadratic = func(context.Context) (float64, error) { return norm2, nil }
	return a, nil
}

func (p Parts) train(ctx context.Context, t *exactProblem) (*approximated, error) {
	rng := rand.New(rand.NewPCG(p.Seed, 0x9a7))
	_, nearest, err := landmarks.Spread(ctx, points.Of(t.data), t.kernel, t.diag(), p.Number, rng)
	if err != nil {
		return nil, err
	}
	rows := make([][]int, p.Number)
	for i, k := range nearest {
		rows[k] = append(rows[k], i)
	}
	a := &approximated{alpha: make([]float64, len(t.problem.S)), inSpace: true, primal: math.NaN()}
	norm, weight, bias := 0.0, 0.0, 0.0
	for _, of := range rows {
		if !t.both(of) {
			continue
		}
		fit, err := t.part(ctx, of, a.alpha)
		if err != nil {
			return nil, err
		}
		norm += math.Sqrt(max(0, fit.Certificate.Norm2))
		bias += fit.Bias * float64(len(of))
		weight += float64(len(of))
		a.values += fit.Evaluations
	}
	if weight > 0 {
		bias /= weight
	}
	a.coef = t.coef(a.alpha)
	a.expansion = machines.NewExpansion(t.data, t.kernel, t.behind, a.coef, bias)
	a.quadratic = func(context.Context) (float64, error) { return norm * norm, nil } // the triangle inequality
	return a, nil
}

// loss returns Σ C_i loss(1 − y_i f_i).
func (t *task) loss(f []float64) (total float64) {
	for i, v := range f {
		slack := max(0, 1-t.y[i]*v)
		if t.margin == twoNorm {
			slack *= slack / 2
		}
		total += t.cost[i] * slack
	}
	return total
}

// columns are the points of a problem as streamed.Points, which are made anew in each pass.
type columns struct {
	t      *exactProblem
	of     points.Map
	rows   []int // nil means all
	z      []float64
	values int64
}

// blockRows is the number of points whose columns are made together.
const blockRows = 1024

// Columns implements streamed.Points.
func (c *columns) Columns() int { return c.of.Columns() }

// Pass implements streamed.Points.
func (c *columns) Pass(ctx context.Context, do func(z, y []float64) error) error {
	return c.Some(ctx, nil, func(_ []int, z, y []float64) error { return do(z, y) })
}

// Len implements streamed.Indexed.
func (c *columns) Len() int {
	if c.rows != nil {
		return len(c.rows)
	}
	return c.t.data.N()
}

// Some implements streamed.Indexed.
func (c *columns) Some(ctx context.Context, at []int, do func(at []int, z, y []float64) error) error {
	y := make([]float64, 0, blockRows)
	return c.blocks(ctx, at, func(at, rows []int, z []float64) error {
		y = y[:0]
		for _, i := range rows {
			y = append(y, c.t.y[i])
		}
		return do(at, z, y)
	})
}

// blocks calls do with the columns of points and their rows in the data, some at a time. The points are those
// that at names, or all if it is nil; do gets its part of at too.
func (c *columns) blocks(ctx context.Context, at []int, do func(at, rows []int, z []float64) error) error {
	m, n := c.Columns(), c.Len()
	if at != nil {
		n = len(at)
	}
	if c.z == nil {
		c.z = make([]float64, blockRows*m)
	}
	rows := make([]int, 0, blockRows)
	for from := 0; from < n; from += blockRows {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		to := min(from+blockRows, n)
		rows = rows[:0]
		for i := from; i < to; i++ {
			k := i
			if at != nil {
				k = at[i]
			}
			if c.rows != nil {
				k = c.rows[k]
			}
			rows = append(rows, k)
		}
		z := c.z[:len(rows)*m]
		c.of.Values(z, points.Of(c.t.data).Dense(rows))
		c.values += int64(len(z))
		var part []int
		if at != nil {
			part = at[from:to]
		}
		if err := do(part, rows, z); err != nil {
			return err
		}
	}
	return nil
}

// solve trains the machine on the columns. It starts from the machine of an eighth of the points,
// since the first steps, in which all points take part in the Hessian, then cost little.
func (c *columns) solve(ctx context.Context, metric [][]float64, seed uint64) (*streamed.Result, error) {
	p := &streamed.Problem{Points: c, Metric: metric, Cost: c.t.cost}
	s := streamed.Settings{Gap: 1e-3, MaxPasses: 200}
	if r := c.t.real; r != nil {
		p.Real, p.Epsilon, p.Unit = true, r.epsilon, c.t.unit()
		p.Squared = r.loss == quadraticLoss || r.loss == ridge
		if r.loss == huberLoss {
			p.Delta = r.delta
		}
		mean := 0.0
		for _, y := range c.t.y {
			mean += y / float64(len(c.t.y))
		}
		s.Start = &streamed.Result{Bias: mean}
	} else {
		p.Squared = c.t.two.margin == twoNorm
	}
	n := c.t.data.N()
	if size := n / 8; size >= max(1000, 4*c.Columns()) {
		c.rows = rand.New(rand.NewPCG(seed, 0xa11)).Perm(n)[:size]
		if c.t.both(c.rows) {
			few, share := *p, float64(n)/float64(size)
			few.Cost = [2]float64{share * p.Cost[0], share * p.Cost[1]}
			res, err := streamed.Solve(ctx, &few, streamed.Settings{Gap: 0.1, MaxPasses: 200, Start: s.Start})
			if err != nil {
				return nil, fmt.Errorf("svmnb: %w", err)
			}
			s.Start, s.Width = res, 0.2
		}
		c.rows = nil
	}
	res, err := streamed.Solve(ctx, p, s)
	if err != nil {
		return nil, fmt.Errorf("svmnb: %w", err)
	}
	return res, nil
}

// multipliers computes the α of the result at all points.
func (c *columns) multipliers(ctx context.Context, of *streamed.Multipliers) (*approximated, error) {
	a := &approximated{alpha: make([]float64, len(c.t.problem.S))}
	m, n := c.Columns(), c.t.data.N()
	err := c.blocks(ctx, nil, func(_, rows []int, z []float64) error {
		for k, i := range rows {
			f, u := simd.Dot(z[k*m:(k+1)*m], of.Beta)+of.Bias, i
			if c.t.real != nil && f > c.t.y[i] {
				u += n // the side below f
			}
			a.alpha[u] = of.At(c.t.y[i], f)
		}
		return nil
	})
	a.values = c.values
	return a, err
}

// rest returns Σ |α_i| √r_i, with r_i what the landmarks leave of K(x_i, x_i).
func (c *columns) rest(ctx context.Context, metric [][]float64, alpha []float64) (total float64, err error) {
	var at []int
	coef := c.t.coef(alpha)
	for i, v := range coef {
		if v != 0 {
			at = append(at, i)
		}
	}
	err = c.leaves(ctx, metric, at, func(i int, r float64) { total += math.Abs(coef[i]) * math.Sqrt(r) })
	return total, err
}

// leaves calls do with what the landmarks leave of K(x_i, x_i), for some of the points.
func (c *columns) leaves(ctx context.Context, metric [][]float64, at []int, do func(i int, r float64)) error {
	factor, err := factored(ctx, metric)
	if err != nil || len(at) == 0 {
		return err
	}
	m, diag := len(metric), c.t.diag()
	own := columns{t: c.t, of: c.of, rows: at}
	list := make([][]float64, 0, blockRows)
	return own.blocks(ctx, nil, func(_, rows []int, z []float64) error {
		list = list[:0]
		for k := range rows {
			list = append(list, z[k*m:(k+1)*m])
		}
		if err := factor.ForwardAll(ctx, list); err != nil {
			return err
		}
		for k, i := range rows {
			do(i, max(0, diag[i]-simd.Dot(list[k], list[k]))+1e-9*diag[i]) // 1e-9 for the rounding of the difference
		}
		return nil
	})
}

// Model returns what predictions need of the fit.
func (f *ApproximateFit) Model() *model.Model {
	if f.none() {
		return nil
	}
	t := f.task
	return f.model(machines.Machines{Kind: machines.TwoClassKind, Classes: []string{t.negative, t.positive}, Duels: [][2]int{{1, 0}}, Targets: targets(t.data)})
}

// model adds the machine to what is known of its classes.
func (a *approximation) model(m machines.Machines) *model.Model {
	e, data := a.of.expansion, a.t.data
	if !a.of.inSpace {
		data = &datasets.Dataset{Name: data.Name, X: [][]float64{e.W}, Y: []float64{0}}
	}
	m.Kernel, m.Expansion, m.Terms = e.Kernel, e, []machines.Term{{Coef: e.Coef, B: e.B, W: e.W}}
	return model.New(m, data)
}

// Markdown says in words what was trained, and what its certificate says, if there is one.
func (f *ApproximateFit) Markdown() string {
	if f.none() {
		return arguments.NoFit("Markdown").Error()
	}
	t := f.task
	return f.markdown(fmt.Sprintf("%s, %s against %s", t.data.Name, say.Class(t.positive), say.Class(t.negative)), "margin", t.marginText(), f.Elapsed)
}

func (a *approximation) markdown(problem, loss, lossText string, elapsed time.Duration) string {
	t, s := a.t, say.NewSummary()
	s.Row("**problem**", "%s", problem)
	s.Row("points × features", "%d × %d", t.data.N(), t.data.D())
	s.Row(loss, "%s", lossText)
	s.Row("kernel", "%v", t.kernel)
	a.rows(s, elapsed, a.of.values, a.verdict)
	return s.String()
}

// rows says how a machine was approximated, and what its certificate says.
func (a *approximation) rows(s *say.Summary, elapsed time.Duration, values int64, v *Verdict) {
	s.Row("**approximated** by", "%s", strings.TrimPrefix(a.how.String(), "svmnb."))
	s.Row("effort", "%s kernel values, %v", say.Thousands(values), say.Spell(elapsed))
	if v == nil {
		s.Row("**certificate**", "not computed; Certify(ctx) computes the gap to the exact optimum")
	} else {
		s.Row("**certificate**", "%s", v)
	}
}
