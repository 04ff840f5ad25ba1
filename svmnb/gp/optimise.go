package gp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"time"

	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/solvers/linear"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"gonum.org/v1/gonum/optimize"
)

// Optimisation says how hyperparameters were found.
type Optimisation struct {
	Names       []string  // of the p hyperparameters; "noise" is last
	Start       []float64 // the p values of the description
	Low, High   []float64 // bounds of the p hyperparameters: those of Bound, otherwise 10⁵ times smaller and larger than Start
	Ascents     []Ascent  // one for Start and one for each restart, except for starts at which A is not positive definite
	Best        int       // index of the ascent with the highest end
	Evaluations int       // number of evaluations of the log marginal likelihood with its gradient
	Elapsed     time.Duration

	// Part is the number of points from which an ascent by probes has learned first; otherwise 0.
	Part int
}

// Ascent is one gradient ascent on the log marginal likelihood, plus the log prior density
// if there are priors. Its Status is Converged if the slope at its end is at most 1e-3.
type Ascent struct {
	Status solvers.Status
	Path   []AscentPoint // the start, the point after each iteration, and at the end the highest point
}

// AscentPoint is one point of an ascent.
type AscentPoint struct {
	Values   []float64 // p hyperparameters
	Evidence float64   // ln p(y), in nats; NaN in an ascent by probes, which does not compute it
	Prior    float64   // ln p(θ) of the priors, the density of ln θ, in nats; 0 without priors

	// Slope is the largest |∂(ln p(y) + ln p(θ))/∂ ln θ|. A hyperparameter within 2 % of its
	// bound counts only if its derivative points away from the bound.
	Slope float64
}

// height is what an ascent maximises.
func (p AscentPoint) height() float64 { return p.Evidence + p.Prior }

// End returns the end of the best ascent; the zero AscentPoint if there is no ascent.
func (o *Optimisation) End() AscentPoint {
	if o == nil || o.Best < 0 || o.Best >= len(o.Ascents) || len(o.Ascents[o.Best].Path) == 0 {
		return AscentPoint{}
	}
	path := o.Ascents[o.Best].Path
	return path[len(path)-1]
}

const (
	flat  = 1e-3 // slope, in nats per unit of ln θ, at which an ascent has converged
	climb = 500  // most iterations of an ascent
	reach = 1e5  // largest factor by which a hyperparameter may move from its start
	edge  = 0.02 // largest distance from a bound, in ln θ, that counts as at the bound

	manyVariables = 200 // number of variables above which a matrix of their pairs costs too much
)

// optimise maximises the log marginal likelihood, plus the log density of the priors, over
// the logarithms of the hyperparameters. It returns the task with the best hyperparameters and its solution,
// without a factor, which would take as much memory as another step. After an interrupt
// these are the best so far.
func (t *processTask) optimise(ctx context.Context) (*Optimisation, *processTask, *linear.Solution, error) {
	if t.byProbes() {
		return t.optimiseByProbes(ctx)
	}
	start, err := t.hyperparameters()
	var all []hyper
	if err == nil {
		var wrong error
		all, wrong = t.saidOf(start)
		err = errors.Join(wrong, t.climbable())
	}
	if err != nil {
		return nil, nil, nil, err
	}
	began, p := time.Now(), len(start)
	o := &Optimisation{}
	intervals, priors := make([]interval, p), make([]prior, p)
	for i, h := range start {
		said := all[i]
		intervals[i], priors[i] = said.interval(h.Value), said.prior
		o.Names, o.Start = append(o.Names, h.Name), append(o.Start, h.Value)
		low, high := intervals[i].ends()
		o.Low, o.High = append(o.Low, cmp.Or(said.low, low)), append(o.High, min(said.high, high))
	}
	var last error // why the last evaluation failed
	var solved linear.Solution
	highest := math.Inf(-1)
	ascent := 0
	report := func(last bool) {
		if t.show == nil {
			return
		}
		line := fmt.Sprintf("Optimise: %s in %s", say.Several(o.Evaluations, "evaluation"), say.Spell(time.Since(began).Round(time.Second)))
		if t.restarts > 0 {
			line += fmt.Sprintf(", ascent %d of %d", ascent, t.restarts+1)
		}
		t.show(line+fmt.Sprintf(", %s = %s", t.objective(), say.Signed(highest, 6)), last)
	}
	f := func(grad, x []float64) (AscentPoint, bool) {
		o.Evaluations++
		at := AscentPoint{Values: exponentials(x, intervals)}
		v, sol, err := t.evaluate(ctx, grad, at.Values)
		if err != nil {
			last = err
			return at, false
		}
		at.Evidence = v
		for i, d := range priors {
			value, slope := d.density(x[i])
			at.Prior += value
			grad[i] += slope
		}
		if h := at.height(); h > highest {
			highest, solved = h, *sol
			solved.Factor = nil
		}
		report(false)
		return at, true
	}
	rng := rand.New(rand.NewPCG(t.seed, 0x6770))
	top := math.Inf(-1)
	for r := 0; r <= t.restarts && ctx.Err() == nil; r++ {
		ascent = r + 1
		x := make([]float64, p)
		for i, v := range intervals {
			if x[i] = v.start; r > 0 {
				x[i] = v.within(v.start + (2*rng.Float64()-1)*math.Ln10)
			}
		}
		a := climbFrom(ctx, f, x, intervals, climb)
		if len(a.Path) == 0 {
			continue // A is not positive definite at this start
		}
		o.Ascents = append(o.Ascents, a)
		if v := a.Path[len(a.Path)-1].height(); v > top {
			top, o.Best = v, len(o.Ascents)-1
		}
	}
	o.Elapsed = time.Since(began)
	report(true)
	if ctx.Err() != nil {
		err = fmt.Errorf("svmnb: Optimise stopped after %s: %w", say.Several(o.Evaluations, "evaluation"), context.Cause(ctx))
	}
	if len(o.Ascents) == 0 {
		if err == nil {
			err = fmt.Errorf("svmnb: Optimise: there is no log marginal likelihood at the start: %w", last)
		}
		return nil, nil, nil, err
	}
	learned, bad := t.with(o.End().Values)
	if bad != nil {
		return nil, nil, nil, bad
	}
	return o, learned, &solved, err
}

// climbable returns an error if there is no memory for the factors of an ascent. The error
// says for how many points there is.
func (t *processTask) climbable() error {
	n, most := len(t.y), t.allowed()
	if need := climbing(n); need > most {
		fit := sort.Search(n, func(m int) bool { return climbing(m) > most }) - 1
		return t.tooLarge(need, most, max(fit, 0))
	}
	return nil
}

// climbing returns how many bytes a step of an ascent over n points takes.
func climbing(n int) float64 { return 2 * linear.Cholesky{}.Memory(n, 1) }

// climbFrom maximises f from x by gonum's BFGS, in at most so many iterations; with many variables by
// L-BFGS. Since BFGS has no bounds, it gets unbounded
// variables u with x = centre + L tanh(u/L), L being half of the interval of x. Near the
// centre, u and x − centre are nearly the same; at a bound, the derivative with respect to u
// vanishes. The test for convergence therefore uses the derivatives with respect to x.
func climbFrom(ctx context.Context, f func(grad, x []float64) (AscentPoint, bool), x []float64, intervals []interval, most int) Ascent {
	p := len(x)
	a := Ascent{Status: solvers.Exhausted}
	var at, grad []float64 // the last u at which f was evaluated, and the gradient of −f with respect to u there
	place, value := make([]float64, p), 0.0
	var here, best AscentPoint // the point at place, and the best point so far
	arrived := false
	evaluate := func(u []float64) {
		if at != nil && slices.Equal(u, at) {
			return
		}
		at, grad = append(at[:0], u...), make([]float64, p)
		for i, v := range intervals {
			if place[i] = v.centre; v.half > 0 {
				place[i] += v.half * math.Tanh(u[i]/v.half)
			}
		}
		var ok bool
		if here, ok = f(grad, place); !ok {
			value = math.Inf(1)
			return
		}
		value = -here.height()
		for i, v := range intervals {
			if v.half == 0 {
				grad[i] = 0
				continue
			}
			inwards := grad[i]*u[i] < 0
			if math.Abs(place[i]-v.centre) < v.half-v.near() || inwards {
				here.Slope = max(here.Slope, math.Abs(grad[i]))
			}
			c := math.Cosh(u[i] / v.half)
			grad[i] /= -c * c
		}
		if best.Values == nil || here.height() > best.height() {
			best = here
		}
		arrived = arrived || here.Slope <= flat && here.height() >= best.height()
	}
	u := make([]float64, p)
	for i, v := range intervals {
		if v.half > 0 {
			u[i] = v.half * math.Atanh((x[i]-v.centre)/v.half)
		}
	}
	if evaluate(u); best.Values == nil {
		return a
	}
	problem := optimize.Problem{
		Func: func(u []float64) float64 { evaluate(u); return value },
		Grad: func(g, u []float64) { evaluate(u); copy(g, grad) },
		Status: func() (optimize.Status, error) {
			switch {
			case arrived:
				return optimize.GradientThreshold, nil
			case ctx.Err() != nil:
				return optimize.RuntimeLimit, nil
			}
			return optimize.NotTerminated, nil
		},
	}
	settings := &optimize.Settings{
		MajorIterations: most, Converger: optimize.NeverTerminate{},
		Recorder: recorder(func(u []float64) {
			evaluate(u)
			a.Path = append(a.Path, here)
		}),
	}
	var res *optimize.Result
	if p > 0 && !arrived {
		var method optimize.Method = &optimize.BFGS{}
		if p > manyVariables {
			method = &optimize.LBFGS{}
		}
		// An error means that a line search could not continue; the path has the result.
		res, _ = optimize.Minimize(problem, u, settings, method)
	}
	// The best point may be inside a line search and not yet in the path.
	if k := len(a.Path); k == 0 || best.height() > a.Path[k-1].height() {
		a.Path = append(a.Path, best)
	}
	switch {
	case a.Path[len(a.Path)-1].Slope <= flat:
		a.Status = solvers.Converged
	case ctx.Err() != nil:
		a.Status = solvers.Interrupted
	case res != nil && res.Status == optimize.IterationLimit:
		a.Status = solvers.IterationLimit
	}
	return a
}

// recorder is called at the start and after each iteration of a minimisation.
type recorder func(x []float64)

func (recorder) Init() error { return nil }

func (r recorder) Record(l *optimize.Location, op optimize.Operation, _ *optimize.Stats) error {
	if (op == optimize.InitIteration || op == optimize.MajorIteration) && l.Gradient != nil && !math.IsInf(l.F, 1) {
		r(l.X)
	}
	return nil
}

// with returns t with other values of its hyperparameters.
func (t *processTask) with(values []float64) (*processTask, error) {
	other := *t
	if t.oneNoise() {
		last := len(values) - 1
		other.noise, values = values[last], values[:last]
	}
	k, err := kernels.WithHyperparameters(t.kernel, values)
	if err != nil {
		return nil, fmt.Errorf("svmnb: %w", err)
	}
	other.kernel = k
	return &other, nil
}

// evaluate returns the log marginal likelihood at values and the solution there. If grad is
// not nil, it is filled with the derivatives with respect to their logarithms.
func (t *processTask) evaluate(ctx context.Context, grad, values []float64) (float64, *linear.Solution, error) {
	other, err := t.with(values)
	if err != nil {
		return 0, nil, err
	}
	if m, ok := t.method.(linear.Cholesky); ok {
		other.method = m // keeps the jitter of the description
	} else {
		other.method = linear.Cholesky{}
	}
	f, err := other.solve(ctx)
	if err != nil {
		return 0, nil, err
	}
	v := f.evidence(f.Factor)
	if math.IsNaN(v) {
		return 0, nil, errors.New("the log marginal likelihood is not a number")
	}
	if grad != nil {
		err = f.gradient(ctx, f.Factor, grad)
	}
	return v, &f.Solution, err
}

// learning says what an ascent on an approximate evidence learns.
type learning struct {
	start     []Partial // names and values
	said      []hyper   // one for each
	restarts  int
	seed      uint64
	objective string // such as "ln p(y) ≈"
	show      func(line string, last bool)
}

// learningAfter returns what an ascent on an approximate evidence of t learns, and its optimisation,
// which continues one before unless that is nil. sign stands between the evidence and its name.
func (t *processTask) learningAfter(before *Optimisation, sign string) (*learning, *Optimisation, error) {
	start, err := t.hyperparameters()
	if err != nil {
		return nil, nil, err
	}
	all, err := t.saidOf(start)
	if err != nil {
		return nil, nil, err
	}
	l, o := &learning{start: start, said: all, restarts: t.restarts, seed: t.seed, objective: t.objective() + " " + sign, show: t.show}, &Optimisation{}
	if before != nil {
		*o, l.restarts = *before, 0
	}
	return l, o, nil
}

// maximise raises an evidence plus the density of the priors, and returns the fit with the best
// hyperparameters. at returns the fit and the evidence at values, and sets their gradient. o has the
// ascents before, if there were any.
func maximise[F interface {
	comparable
	found(o *Optimisation)
}](ctx context.Context, l *learning, o *Optimisation, at func(values, grad []float64) (F, float64, error)) (best F, _ error) {
	began, before := time.Now(), o.Elapsed
	var none F
	var intervals []interval
	first := o.Names == nil
	for i, h := range l.start {
		v := l.said[i].interval(h.Value)
		intervals = append(intervals, v)
		if first {
			o.Names, o.Start = append(o.Names, h.Name), append(o.Start, h.Value)
			low, high := v.ends()
			o.Low, o.High = append(o.Low, low), append(o.High, high)
		}
	}
	highest := math.Inf(-1)
	var last error // why the last evaluation failed
	tell := func(end bool) {
		if l.show != nil && best != none {
			l.show(fmt.Sprintf("Optimise: %s in %s, %s %s", say.Several(o.Evaluations, "evaluation"), say.Spell((before+time.Since(began)).Round(time.Second)), l.objective, say.Signed(highest, 6)), end)
		}
	}
	ascend(ctx, o, intervals, l.restarts, l.seed, func(grad, x []float64) (AscentPoint, bool) {
		p := AscentPoint{Values: exponentials(x, intervals)}
		var f F
		if f, p.Evidence, last = at(p.Values, grad); last == nil && math.IsNaN(p.Evidence) {
			last = errors.New("the log marginal likelihood is not a number")
		}
		if last != nil {
			return p, false
		}
		for i, h := range l.said {
			value, slope := h.prior.density(x[i])
			p.Prior += value
			grad[i] += slope
		}
		if p.height() > highest {
			highest, best = p.height(), f
		}
		tell(false)
		return p, true
	})
	o.Elapsed = before + time.Since(began)
	tell(true)
	if best == none && ctx.Err() != nil {
		return none, fmt.Errorf("svmnb: Optimise: %w", context.Cause(ctx))
	}
	if best == none {
		return none, fmt.Errorf("svmnb: Optimise: there is no log marginal likelihood at the start: %w", last)
	}
	best.found(o)
	if ctx.Err() != nil {
		return best, fmt.Errorf("svmnb: Optimise stopped after %s: %w", say.Several(o.Evaluations, "evaluation"), context.Cause(ctx))
	}
	return best, nil
}

// ascend makes one ascent from the starts of the intervals, and restarts more from places near
// them. It adds them to o, with the number of evaluations.
func ascend(ctx context.Context, o *Optimisation, intervals []interval, restarts int, seed uint64, evaluate func(grad, x []float64) (AscentPoint, bool)) {
	rng := rand.New(rand.NewPCG(seed, 0x6770))
	for r := 0; r <= restarts && ctx.Err() == nil; r++ {
		x := make([]float64, len(intervals))
		for i, v := range intervals {
			if x[i] = v.start; r > 0 {
				x[i] = v.within(v.start + (2*rng.Float64()-1)*math.Ln10)
			}
		}
		a := climbFrom(ctx, func(grad, x []float64) (AscentPoint, bool) {
			o.Evaluations++
			return evaluate(grad, x)
		}, x, intervals, climb)
		if len(a.Path) == 0 {
			continue // there is no evidence at this start
		}
		o.Ascents = append(o.Ascents, a)
		if a.Path[len(a.Path)-1].height() > o.End().height() {
			o.Best = len(o.Ascents) - 1
		}
	}
}
