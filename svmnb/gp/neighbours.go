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
	"github.com/svmnb/svmnb/svmnb/internal/vecchia"
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
func (p NeighbourProcess) String() string {
	return fmt.Sprintf("%s.Neighbours(%d)", p.process.text(false), p.m)
}

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
			return f, &keptFit{Optimisation: *f.Optimisation, Evidence: f.Evidence, Unit: f.near.Unit}, nil
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
	*vecchia.Points
	places []int32 // of the tree: the m nearest before each place
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
		if same(near.Unit, own.units()) {
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
	rank := make([]int32, n)
	for i, r := range rand.New(rand.NewPCG(seedOfOrder, 0)).Perm(n) {
		rank[i] = int32(r)
	}
	near := &nearby{vecchia.NewPoints(t.data.X, unit, rank), make([]int32, n*m), m}
	type worker struct {
		found nearest.Found
		x     []float64
	}
	own := make([]worker, runtime.GOMAXPROCS(0))
	err := t.each(ctx, "neighbours", n, func(w, p int) error {
		o := &own[w]
		if o.x == nil {
			o.x = make([]float64, d)
		}
		near.Tree.Search(&o.found, near.Scaled(o.x, near.X[p]), m, near.Tree.Rank[p])
		copy(near.places[p*m:][:m], o.found.Places)
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

// vecchia returns the evidence of the hyperparameters of t from each step-th term, and the
// derivatives by their logarithms in grad, the noise last, unless that is nil.
func (t *processTask) vecchia(ctx context.Context, near *nearby, grad []float64, step int32) (float64, error) {
	patch, err := kernels.NewPatch(t.kernel, t.data.X, near.m+1)
	if err != nil {
		return 0, fmt.Errorf("svmnb: %w", err)
	}
	n, tree := len(t.y), near.Tree
	noises := t.noiseVector()
	own := make([]*vecchia.Conditional, runtime.GOMAXPROCS(0))
	values := make([][]float64, (n+strip-1)/strip) // the sums of each task, which are added in order
	each := func(worker, p int) error {
		if own[worker] == nil {
			own[worker] = vecchia.NewConditional(patch.Another(), near.m, grad != nil)
		}
		c := own[worker]
		if p%strip == 0 {
			values[p/strip] = make([]float64, len(c.Sums)+1)
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
		c.At = c.At[:0]
		for j := range q + 1 {
			c.At = append(c.At, near.X[place(j)])
			c.Y[j] = t.y[tree.Index[place(j)]]
		}
		noise := func(j int) float64 { return noises[tree.Index[place(j)]] }
		if c.Factor(noise) <= q {
			return t.indefinite(int(tree.Index[p]))
		}
		c.Forward(q + 1)
		sums := values[p/strip]
		sums[0] += math.Log(c.Row(q)[q]) + (math.Log(2*math.Pi)+c.Y[q]*c.Y[q])/2
		if grad != nil {
			clear(c.Sums)
			c.Derive(noise)
			vec.Axpy(sums[1:], 1, c.Sums)
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
	t := f.task
	if err := t.check("Posterior", rows); err != nil {
		return nil, err
	}
	if err := f.basis.Check(rows); err != nil {
		return nil, fmt.Errorf("svmnb: Posterior: %w", err)
	}
	return f.posterior(ctx, rows)
}

func (f *NeighbourFit) posterior(ctx context.Context, rows [][]float64) (*Belief, error) {
	t := f.task
	mean, variance, err := f.process().Posterior(ctx, rows)
	var indefinite *vecchia.IndefiniteError
	switch {
	case errors.As(err, &indefinite):
		return nil, t.indefinite(indefinite.Point)
	case err != nil:
		return nil, fmt.Errorf("svmnb: the posterior: %w", err)
	}
	noise := t.noise
	if t.noises != nil {
		noise = math.NaN()
	}
	return believed(mean, variance, noise, t.offset, t.scale), nil
}

// process returns what predictions need.
func (f *NeighbourFit) process() *vecchia.Process {
	t := f.task
	p := &vecchia.Process{Points: f.near.Points, Kernel: t.kernel, Y: t.y, Noise: []float64{t.noise}, M: f.near.m}
	if t.noises != nil {
		p.Noise = *t.noises
	}
	return p
}

// believed returns the belief of means and variances of a process of zero mean, in units of the
// data.
func believed(mean, variance []float64, noise, offset float64, scale *datasets.TargetScaler) *Belief {
	t := &processTask{scale: scale}
	b := &Belief{Mean: mean, Variance: variance, Noise: noise}
	for i, v := range mean {
		b.Mean[i] = t.value(v + offset)
	}
	t.spread(b)
	return b
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
		Problem: f.words(), Evidence: f.Evidence,
	})
}

func (f *NeighbourFit) words() string {
	return fmt.Sprintf("%s · with %s each", f.task.words(), say.Several(f.near.m, "neighbour"))
}
