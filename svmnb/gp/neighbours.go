package gp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/nearest"
	"github.com/svmnb/svmnb/internal/parallel"
	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// NeighbourProcess describes a Gaussian process in which each target depends on at most m near
// ones (Vecchia 1988; Datta et al. 2016): its cost is about n m³/3 operations, and its memory
// 4 n m bytes. See [Process.Neighbours].
type NeighbourProcess struct {
	process Process
	m       int
}

// Neighbours makes p a process of nearest neighbours, for spatial data of up to millions of
// points in few dimensions. The targets are put into an order, and the density of each, given
// all before it, is replaced by that given the m nearest of those before it:
//
//	ln p(y) ≈ Σ_i ln p(y_i | m nearest before i).
//
// This is the density of a Gaussian process too, and with m = n − 1 it is that of p. The order is
// random, always the same: Guinness (2018) finds it about as good as the best ones. Distances are
// those of features in units of the kernel's length along each. A prediction uses the m nearest of
// all points, and is that of p if m = n.
//
// m from 10 to 30 is usual: the more, the nearer to p. The noise makes neighbours know less, so
// that a large noise needs more of them.
//
// Optimise maximises this evidence, from 100,000 points on by the share of 50,000 to 100,000 of
// its terms; for other kernels than isotropic ones the neighbours are chosen again afterwards.
// Kernel, NoiseVariance, NoiseVariances, ConstantMean, ZeroMean, NormaliseTargets, Optimise,
// Restarts, Bound, priors and Memory have their meaning; a method and Stop have none. Fit returns
// an *ArgumentError for LinearMean and if 4 n m bytes are more than there may be.
func (p Process) Neighbours(m int) NeighbourProcess {
	p.faults.Said("Neighbours", arguments.WrongIf(m < 1, "Neighbours", float64(m), "the number of neighbours is %d; it must be positive", m))
	return NeighbourProcess{p, m}
}

// String returns the Go expression of the description.
func (p NeighbourProcess) String() string { return fmt.Sprintf("%v.Neighbours(%d)", p.process, p.m) }

// Fit chooses the neighbours and computes the evidence, after finding the hyperparameters if
// Optimise was set. When ctx ends early, the error wraps context.Cause(ctx), and the fit is nil
// unless Optimise has found something.
func (p NeighbourProcess) Fit(ctx context.Context) (*NeighbourFit, error) { return p.run(ctx, nil) }

// MustFit is Fit for a notebook cell; see [Process.MustFit].
func (p NeighbourProcess) MustFit() *NeighbourFit { return mustApproximate(p.run) }

func (p NeighbourProcess) run(ctx context.Context, show func(line string, last bool)) (*NeighbourFit, error) {
	return begun(ctx, show, p.prepare, (*neighbourTask).solve)
}

// neighbourTask is a checked NeighbourProcess with all defaults filled in.
type neighbourTask struct {
	*processTask
	of NeighbourProcess
	m  int // the number of neighbours, at most n
}

func (p NeighbourProcess) prepare() (*neighbourTask, error) {
	q := p.process.described()
	if p.m < 1 { // the zero value
		q = q.Neighbours(p.m).process
	}
	if q.mean == linearMean {
		return nil, arguments.Wrong("LinearMean", math.NaN(), "a process of neighbours has no linear mean; use ConstantMean, or leave Neighbours out")
	}
	t, err := q.withoutMethod()
	if err != nil {
		return nil, err
	}
	n := len(t.y)
	m := min(p.m, n)
	if need, most := 4*float64(n)*(float64(m)+6*float64(t.data.D())+8), t.allowed(); need > most {
		return nil, arguments.Wrong("Neighbours", float64(p.m), "%d neighbours of %d points take %.3g GB and may take %.3g: take fewer, or raise Memory or GOMEMLIMIT", m, n, need/1e9, most/1e9)
	}
	return &neighbourTask{t, p, m}, nil
}

func (t *neighbourTask) solve(ctx context.Context) (*NeighbourFit, error) {
	began := time.Now()
	f, err := t.neighbours(ctx)
	if f != nil {
		f.Description.m, f.Elapsed = t.of.m, time.Since(began)
	}
	return f, err
}

// at solves for other hyperparameters and, unless kept is nil, for the neighbours by its units. The
// evidence of new neighbours is that of the terms that Optimise takes.
func (t *neighbourTask) at(ctx context.Context, values []float64, kept *keptFit) (*NeighbourFit, float64, error) {
	own, err := t.with(values)
	if err != nil {
		return nil, 0, err
	}
	unit, step := own.units(), own.step()
	if kept != nil {
		unit, step = kept.Unit, 1
	}
	if len(unit) != t.data.D() {
		return nil, 0, errors.New("the units are those of other features")
	}
	near, err := own.nearby(ctx, t.m, unit)
	if err != nil {
		return nil, 0, err
	}
	v, err := own.vecchia(ctx, near, nil, step)
	if err != nil {
		return nil, 0, err
	}
	f := own.near(near, nil, v)
	f.Description.m = t.of.m
	return f, v, nil
}

// Keep is MustFit with a cache on disk for the hyperparameters that Optimise finds; see
// [Process.Keep].
func (p NeighbourProcess) Keep() *NeighbourFit {
	if !p.process.learn {
		return p.MustFit()
	}
	return mustApproximate(func(ctx context.Context, show func(line string, last bool)) (*NeighbourFit, error) {
		t, err := p.prepare()
		if err != nil {
			return nil, err
		}
		t.show = show
		return keep(t, fmt.Sprintf("Neighbours %d %#v %v %v %v %d %d %v", t.m, t.kernel, t.noiseVector(), t.mean, t.scaled, t.restarts, t.seed, t.said()), t.data, func(ctx context.Context) (*NeighbourFit, *keptFit, error) {
			f, err := t.solve(ctx)
			if err != nil {
				return f, nil, err
			}
			return f, &keptFit{Optimisation: *f.Optimisation, Evidence: f.Evidence, Unit: f.near.unit}, nil
		})(ctx)
	})
}

// NeighbourFit is the posterior of a [NeighbourProcess].
type NeighbourFit struct {
	// Description is the NeighbourProcess that was solved, with all defaults and the
	// hyperparameters that Optimise found.
	Description NeighbourProcess

	// Evidence is the log marginal likelihood in nats, NaN after an interrupt.
	Evidence float64

	Elapsed      time.Duration
	Optimisation *Optimisation // how the hyperparameters were found; nil without Optimise

	task  *processTask
	near  *nearby
	basis *kernels.Basis // of one training point, to check others
}

// nearby is an order of n points, with the nearest before each.
type nearby struct {
	unit   []float64 // of distances along each feature
	tree   *nearest.Tree
	places []int32     // of the tree: the m nearest before each place
	x      [][]float64 // the points by their places
	m      int
}

const (
	seedOfOrder  = 22
	fewerTerms   = 100_000 // number of points from which Optimise takes a part of the terms
	reneighbours = 3       // how often the neighbours are chosen at most
	strip        = 256     // points of one task
)

// neighbours chooses the neighbours and the hyperparameters.
func (t *neighbourTask) neighbours(ctx context.Context) (*NeighbourFit, error) {
	near, err := t.nearby(ctx, t.m, t.units())
	if err != nil {
		return nil, err
	}
	own := t.processTask
	var o *Optimisation
	for range reneighbours {
		if !t.learn {
			break
		}
		learned, err := own.learnNear(ctx, near, o)
		if learned == nil {
			return nil, err
		}
		own, o = learned.task, learned.Optimisation
		if err != nil {
			return own.near(near, o, math.NaN()), err
		}
		if same(near.unit, own.units()) {
			break
		}
		if near, err = own.nearby(ctx, t.m, own.units()); err != nil {
			return nil, err
		}
	}
	v, err := own.vecchia(ctx, near, nil, 1)
	if err != nil && o == nil {
		return nil, err
	}
	if err != nil {
		v = math.NaN()
	}
	return own.near(near, o, v), err
}

func (t *processTask) near(n *nearby, o *Optimisation, evidence float64) *NeighbourFit {
	f := &NeighbourFit{Description: NeighbourProcess{t.Process, n.m}, Evidence: evidence, Optimisation: o, task: t, near: n, basis: kernels.Against(t.kernel, t.data.X[:1])}
	f.Description.process.learn, f.Description.process.restarts, f.Description.process.seed = false, 0, 0
	return f
}

// same reports whether distances in both units choose about the same neighbours.
func same(a, b []float64) bool {
	low, high := math.Inf(1), 0.0
	for i := range a {
		low, high = min(low, a[i]/b[i]), max(high, a[i]/b[i])
	}
	return high <= 1.2*low
}

// units returns, for each feature, the distance along it at which the correlation of f falls to
// one half, or a very large number if it does not.
func (t *processTask) units() []float64 {
	d := t.data.D()
	centre := vec.Means(len(t.data.X), d, func(i int) []float64 { return t.data.X[i] })
	units, far := make([]float64, d), slices.Clone(centre)
	own := t.kernel.Eval(centre, centre)
	for f := range units {
		correlated := func(h float64) bool {
			far[f] = centre[f] + h
			v := t.kernel.Eval(centre, far) / math.Sqrt(own*t.kernel.Eval(far, far))
			far[f] = centre[f]
			return v > 0.5
		}
		low, high := 1e-12, 1e12
		for high > 1.001*low {
			if middle := math.Sqrt(low * high); correlated(middle) {
				low = middle
			} else {
				high = middle
			}
		}
		units[f] = high
	}
	least := slices.Min(units)
	for f, u := range units { // rounding makes those of an isotropic kernel differ a little
		if u < 1.01*least {
			units[f] = least
		}
	}
	return units
}

// nearby orders the points and finds the m nearest before each, by distances in these units.
func (t *processTask) nearby(ctx context.Context, m int, unit []float64) (*nearby, error) {
	n, d := len(t.y), t.data.D()
	near := &nearby{unit: unit, m: m}
	// A common factor of the units changes nothing, and without it equal units are exact.
	least := slices.Min(near.unit)
	x := make([]float64, 0, n*d)
	for _, row := range t.data.X {
		for j, v := range row {
			x = append(x, v/(near.unit[j]/least))
		}
	}
	rank := make([]int32, n)
	for i, r := range rand.New(rand.NewPCG(seedOfOrder, 0)).Perm(n) {
		rank[i] = int32(r)
	}
	near.tree = nearest.New(d, x, rank)
	near.x = make([][]float64, n)
	for p, i := range near.tree.Index {
		near.x[p] = t.data.X[i]
	}
	near.places = make([]int32, n*m)
	found := make([]nearest.Found, runtime.GOMAXPROCS(0))
	err := t.each(ctx, "neighbours", n, func(worker, p int) error {
		i := near.tree.Index[p]
		near.tree.Search(&found[worker], x[int(i)*d:][:d], m, near.tree.Rank[p])
		copy(near.places[p*m:][:m], found[worker].Places)
		return nil
	})
	return near, err
}

// each calls do for the numbers below n, on all cores, and shows the share that is done. The error
// is the first of do, or wraps context.Cause(ctx).
func (t *processTask) each(ctx context.Context, stage string, n int, do func(worker, i int) error) error {
	began, workers := time.Now(), runtime.GOMAXPROCS(0)
	failed, done := make([]error, workers), make([]int, workers)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	err := parallel.For(ctx, workers, (n+strip-1)/strip, func(worker, task int) {
		for i := task * strip; i < min((task+1)*strip, n) && failed[worker] == nil; i++ {
			if failed[worker] = do(worker, i); failed[worker] != nil {
				stop()
			}
		}
		if done[worker]++; worker == 0 && t.show != nil && done[0]%64 == 0 {
			t.show(fmt.Sprintf("neighbours: %s %.0f %%, %s", stage, 100*min(1, float64(strip*done[0]*workers)/float64(n)), seconds(time.Since(began))), false)
		}
	})
	for _, e := range failed {
		if e != nil {
			return e
		}
	}
	if err != nil {
		return fmt.Errorf("svmnb: the %s: %w", stage, err)
	}
	return nil
}

// conditional is the density of one value given those at some points, with its memory.
type conditional struct {
	patch *kernels.Patch
	at    [][]float64
	rows  [][]float64 // the lower triangle of the covariance matrix, then its Cholesky factor L
	grads [][]float64 // the derivatives of each row
	y     []float64   // then L⁻¹y
	b, w  []float64   // C⁻¹c and C⁻¹y, with C and c the covariances of the points and with the value
	sums  []float64   // derivatives of the evidence by the hyperparameters and the noise
}

func newConditional(patch *kernels.Patch, m int) *conditional {
	c := &conditional{patch: patch, y: make([]float64, m+1), b: make([]float64, m+1), w: make([]float64, m+1), sums: make([]float64, patch.Params()+1)}
	for j := range m + 1 {
		c.rows, c.grads = append(c.rows, make([]float64, j+1)), append(c.grads, make([]float64, (j+1)*patch.Params()))
	}
	return c
}

// factor fills in and factors the covariance matrix of the points c.at, with noise on its
// diagonal. It returns the number of rows of L, which are not all if the matrix is not positive
// definite.
func (c *conditional) factor(noise func(j int) float64, derivatives bool) int {
	c.patch.Lay(c.at)
	for j, x := range c.at {
		row := c.rows[j]
		if derivatives {
			c.patch.GradientRow(row, c.grads[j], x)
		} else {
			c.patch.Row(row, x)
		}
		row[j] += noise(j)
		for k, other := range c.rows[:j] {
			row[k] = (row[k] - vec.Dot(row[:k], other[:k])) / other[k]
		}
		if row[j] -= vec.Dot(row[:j], row[:j]); !(row[j] > 0) {
			return j
		}
		row[j] = math.Sqrt(row[j])
	}
	return len(c.at)
}

// forward sets y to L⁻¹y.
func (c *conditional) forward(y []float64) {
	for j := range y {
		y[j] = (y[j] - vec.Dot(y[:j], c.rows[j][:j])) / c.rows[j][j]
	}
}

// backward sets x to L⁻ᵀx.
func (c *conditional) backward(x []float64) {
	for k := len(x) - 1; k >= 0; k-- {
		x[k] /= c.rows[k][k]
		vec.Axpy(x[:k], -x[k], c.rows[k][:k])
	}
}

// derive adds the derivatives of the logarithm of the density to sums. With v and m the variance
// and the mean of the value, e its distance from m, b = C⁻¹c and w = C⁻¹y,
//
//	∂v = ∂k − 2b'∂c + b'∂C b,  ∂m = w'∂c − b'∂C w,
//	∂ ln p = ½(e²/v² − 1/v) ∂v + e/v ∂m.
func (c *conditional) derive(noise func(j int) float64) {
	q := len(c.at) - 1
	last, params := c.rows[q], c.patch.Params()
	b, w := c.b[:q], c.w[:q]
	copy(b, last)
	copy(w, c.y)
	c.backward(b)
	c.backward(w)
	v, e := last[q]*last[q], c.y[q]*last[q]
	alpha, beta := (e*e/v-1)/v/2, e/v
	weights := c.rows[q] // L is not needed any more
	sum := func(j int) {
		for p := range params {
			c.sums[p] += vec.Dot(c.grads[j][p*(j+1):][:j+1], weights[:j+1])
		}
		c.sums[params] += noise(j) * weights[j]
	}
	for j := range q {
		s, t := 2*alpha*b[j]-beta*w[j], -beta*b[j]
		for k := range j {
			weights[k] = s*b[k] + t*w[k]
		}
		weights[j] = b[j] * (alpha*b[j] - beta*w[j])
		sum(j)
	}
	for k := range q {
		weights[k] = -2*alpha*b[k] + beta*w[k]
	}
	weights[q] = alpha
	sum(q)
}

// vecchia returns the evidence of the hyperparameters of t from each step-th term, and the
// derivatives by their logarithms in grad, the noise last, unless that is nil.
func (t *processTask) vecchia(ctx context.Context, near *nearby, grad []float64, step int32) (float64, error) {
	patch, err := kernels.NewPatch(t.kernel, t.data.X, near.m+1)
	if err != nil {
		return 0, fmt.Errorf("svmnb: %w", err)
	}
	n, tree := len(t.y), near.tree
	noises := t.noiseVector()
	own := make([]*conditional, runtime.GOMAXPROCS(0))
	values := make([][]float64, (n+strip-1)/strip) // the sums of each task, which are added in order
	each := func(worker, p int) error {
		if own[worker] == nil {
			own[worker] = newConditional(patch.Another(), near.m)
		}
		c := own[worker]
		if p%strip == 0 {
			values[p/strip] = make([]float64, len(c.sums)+1)
		}
		if tree.Rank[p]%step != 0 {
			return nil
		}
		q := int(min(tree.Rank[p], int32(near.m)))
		places := near.places[p*near.m:][:q]
		place := func(j int) int {
			if j < q {
				return int(places[j])
			}
			return p
		}
		c.at = c.at[:0]
		for j := range q + 1 {
			c.at = append(c.at, near.x[place(j)])
			c.y[j] = t.y[tree.Index[place(j)]]
		}
		noise := func(j int) float64 { return noises[tree.Index[place(j)]] }
		if c.factor(noise, grad != nil) <= q {
			return t.indefinite(int(tree.Index[p]))
		}
		c.forward(c.y[:q+1])
		sums := values[p/strip]
		sums[0] += math.Log(c.rows[q][q]) + (math.Log(2*math.Pi)+c.y[q]*c.y[q])/2
		if grad != nil {
			clear(c.sums)
			c.derive(noise)
			vec.Axpy(sums[1:], 1, c.sums)
		}
		return nil
	}
	if err := t.each(ctx, "evidence", n, each); err != nil {
		return 0, err
	}
	total := make([]float64, len(values[0]))
	for _, v := range values {
		vec.Axpy(total, 1, v)
	}
	// Of the terms, (n + step − 1)/step were taken.
	share := float64(n) / float64((n+int(step)-1)/int(step))
	for i := range grad {
		grad[i] = share * total[1+i]
	}
	return -share * total[0], nil
}

// indefinite is the error of a covariance matrix with point i.
func (t *processTask) indefinite(i int) error {
	return arguments.At("Neighbours", i, -1, t.data.Y[i], "the covariance of this point and its neighbours is not positive definite: raise NoiseVariance, or make one point of equal ones")
}

// step is the number of terms of which Optimise takes one.
func (t *processTask) step() int32 { return int32(max(1, len(t.y)/(fewerTerms/2))) }

// learnNear maximises the evidence with the neighbours fixed. before is the optimisation with the
// neighbours before these; nil for none.
func (t *processTask) learnNear(ctx context.Context, near *nearby, before *Optimisation) (*NeighbourFit, error) {
	l, o, err := t.learningAfter(before, "≈")
	if err != nil {
		return nil, err
	}
	return maximise(ctx, l, o, func(values, grad []float64) (*NeighbourFit, float64, error) {
		other, err := t.with(values)
		if err != nil {
			return nil, 0, err
		}
		v, err := other.vecchia(ctx, near, grad, t.step())
		return other.near(near, nil, v), v, err
	})
}

func (f *NeighbourFit) none() bool { return f == nil || f.task == nil }

func (f *NeighbourFit) ended() (time.Duration, ApproximationRun) {
	return f.Elapsed, ApproximationRun{Status: solvers.Converged}
}
func (f *NeighbourFit) found(o *Optimisation) { f.Optimisation = o }

func (f *NeighbourFit) ready(ctx context.Context, call string) error {
	if f.none() {
		return arguments.NoFit(call)
	}
	return arguments.Given(ctx, call)
}

// Gradient returns the derivatives of Evidence with respect to the logarithms of the
// hyperparameters and, last, of the noise variance if that is one positive number. The neighbours
// stay. When ctx ends early, the error wraps context.Cause(ctx).
func (f *NeighbourFit) Gradient(ctx context.Context) (_ []Partial, err error) {
	defer guard.Caught(&err)
	if err := f.ready(ctx, "Gradient"); err != nil {
		return nil, err
	}
	partials, err := f.task.hyperparameters()
	if err != nil {
		return nil, err
	}
	grad := make([]float64, len(partials))
	if _, err := f.task.vecchia(ctx, f.near, grad, 1); err != nil {
		return nil, err
	}
	for i, g := range grad {
		partials[i].Gradient.Value = g
	}
	return partials, nil
}

// Predict returns the means of f at q points. Errors are those of [Fit.Predict].
func (f *NeighbourFit) Predict(x datasets.Points) ([]float64, error) {
	b, err := f.Posterior(context.Background(), x)
	if err != nil {
		return nil, err
	}
	return b.Mean, nil
}

// Posterior returns mean and variance of f at q points, each given its m nearest training points,
// in m³/3 operations for each. Errors are those of [Fit.Predict], and wrap context.Cause(ctx) when
// ctx ends early.
func (f *NeighbourFit) Posterior(ctx context.Context, x datasets.Points) (_ *Belief, err error) {
	defer guard.Caught(&err)
	if err := f.ready(ctx, "Posterior"); err != nil {
		return nil, err
	}
	rows, err := points.Dense("Posterior", x)
	if err != nil {
		return nil, err
	}
	t, near := f.task, f.near
	if err := t.check("Posterior", rows); err != nil {
		return nil, err
	}
	if err := f.basis.Check(rows); err != nil {
		return nil, fmt.Errorf("svmnb: Posterior: %w", err)
	}
	b := &Belief{Mean: make([]float64, len(rows)), Variance: make([]float64, len(rows)), Noise: t.noise}
	if t.noises != nil {
		b.Noise = math.NaN()
	}
	if len(rows) == 0 {
		return b, nil
	}
	patch, err := kernels.NewPatch(t.kernel, t.data.X[:1], near.m+1)
	if err != nil {
		return nil, fmt.Errorf("svmnb: %w", err)
	}
	noises, least := t.noiseVector(), slices.Min(near.unit)
	type worker struct {
		*conditional
		found nearest.Found
		at    []float64
	}
	own := make([]worker, runtime.GOMAXPROCS(0))
	silent := *t
	silent.show = nil
	err = silent.each(ctx, "posterior", len(rows), func(w, i int) error {
		c := &own[w]
		if c.conditional == nil {
			c.conditional, c.at = newConditional(patch.Another(), near.m), make([]float64, t.data.D())
		}
		for j, v := range rows[i] {
			c.at[j] = v / (near.unit[j] / least)
		}
		near.tree.Search(&c.found, c.at, near.m, math.MaxInt32)
		q := len(c.found.Places)
		c.conditional.at = c.conditional.at[:0]
		for j, p := range c.found.Places {
			c.conditional.at, c.y[j] = append(c.conditional.at, near.x[p]), t.y[near.tree.Index[p]]
		}
		c.conditional.at = append(c.conditional.at, rows[i])
		switch made := c.factor(func(j int) float64 {
			if j == q {
				return 0
			}
			return noises[near.tree.Index[c.found.Places[j]]]
		}, false); {
		case made < q:
			return t.indefinite(int(near.tree.Index[c.found.Places[made]]))
		case made > q: // otherwise the variance is 0 up to rounding
			b.Variance[i] = c.rows[q][q] * c.rows[q][q]
		}
		c.forward(c.y[:q])
		b.Mean[i] = t.value(vec.Dot(c.rows[q][:q], c.y[:q]) + t.offset)
		return nil
	})
	if err != nil {
		return nil, err
	}
	t.spread(b)
	return b, nil
}

// Markdown says in words what was solved and how good the answer is.
func (f *NeighbourFit) Markdown() string {
	if err := f.ready(context.Background(), "Markdown"); err != nil {
		return err.Error()
	}
	t, s := f.task, say.NewSummary()
	s.Row("**problem**", "Gaussian process of nearest neighbours of %s", t.data.Name)
	s.Row("points × features", "%d × %d, with %s each", t.data.N(), t.data.D(), say.Several(f.near.m, "neighbour"))
	s.Row("kernel", "%s", say.Brief(t.kernel.String()))
	s.Row("noise variance", "%s", t.noiseText())
	if o := f.Optimisation; o != nil && len(o.Ascents) > 0 {
		s.Row("**hyperparameters**", "%d learned, %s; %s in %s", len(o.Names), o.status(), say.Several(o.Evaluations, "evaluation"), say.Spell(o.Elapsed))
	}
	s.Row("**result**", "log marginal likelihood %s, in %s", say.Signed(f.Evidence, 9), say.Spell(f.Elapsed))
	return s.String()
}

// Show displays the given figures of the fit. Without figures it displays the summary and, if
// there is one feature, Posterior.
func (f *NeighbourFit) Show(figures ...display.Figure) {
	var usual []display.Figure
	if !f.none() {
		usual = f.task.usual()
	}
	display.ShowFit(f, figures, usual...)
}

func (f *NeighbourFit) drawPosterior(v view) (*display.Chart, error) {
	ctx, stop := untilInterrupt()
	defer stop()
	if err := f.ready(ctx, "Posterior"); err != nil {
		return nil, err
	}
	return f.task.drawApproximate(ctx, v, f.Posterior, figure.PosteriorData{
		Problem: fmt.Sprintf("%s · with %s each", f.task.words(), say.Several(f.near.m, "neighbour")), Evidence: f.Evidence,
	})
}
