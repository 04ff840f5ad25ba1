package svmnb

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"gonum.org/v1/gonum/optimize"
)

// Optimisation is how hyperparameters were found.
type Optimisation struct {
	Names       []string  // of the p hyperparameters, "noise" the last
	Start       []float64 // the p values that were said
	Ascents     []Ascent  // from there and from the restarts, without starts where A is not positive definite
	Best        int       // the ascent that ended highest
	Evaluations int       // of the log marginal likelihood with its gradient
	Elapsed     time.Duration
}

// Ascent is one way up the log marginal likelihood. Converged means that no
// derivative is above 1e-3, each less by what a near bound holds back of it.
type Ascent struct {
	Status solvers.Status
	Path   []AscentPoint // its start and each iteration
}

// AscentPoint is one point of an ascent.
type AscentPoint struct {
	Values   []float64 // p hyperparameters
	Evidence float64   // ln p(y), in nats
	Slope    float64   // the largest |∂ ln p(y)/∂ ln θ|, less what a near bound holds back
}

// End returns the best end of all ascents.
func (o *Optimisation) End() AscentPoint {
	if o == nil || o.Best >= len(o.Ascents) || len(o.Ascents[o.Best].Path) == 0 {
		return AscentPoint{}
	}
	path := o.Ascents[o.Best].Path
	return path[len(path)-1]
}

const (
	flat  = 1e-3 // nats per factor e: where an ascent has arrived
	climb = 500  // iterations of an ascent
	reach = 1e5  // the factor by which a hyperparameter may move from its start
)

// optimise maximises the log marginal likelihood over the logarithms of the
// hyperparameters and returns the task at its maximum. After an interrupt that is
// the best point so far.
func (t *processTask) optimise(ctx context.Context) (*Optimisation, *processTask, error) {
	start, err := t.hyperparameters()
	if err != nil {
		return nil, nil, err
	}
	began, p := time.Now(), len(start)
	o := &Optimisation{}
	origin := make([]float64, p)
	for i, h := range start {
		o.Names, o.Start = append(o.Names, h.Name), append(o.Start, h.Value)
		origin[i] = math.Log(h.Value)
	}
	var last error // why the last point had no evidence
	f := func(grad, x []float64) float64 {
		o.Evaluations++
		v, err := t.evaluate(ctx, grad, exponentials(x))
		if err != nil {
			last = err
			return math.Inf(1)
		}
		for i := range grad {
			grad[i] = -grad[i]
		}
		return -v
	}
	rng := rand.New(rand.NewPCG(t.seed, 0x6770))
	highest := math.Inf(-1)
	for r := range t.restarts + 1 {
		x := slices.Clone(origin)
		for i := range x {
			if r > 0 {
				x[i] += (2*rng.Float64() - 1) * math.Ln10
			}
		}
		a := climbFrom(ctx, f, x, origin)
		if len(a.Path) == 0 {
			if ctx.Err() != nil {
				break
			}
			continue // a start without evidence: A is not positive definite there
		}
		o.Ascents = append(o.Ascents, a)
		if v := a.Path[len(a.Path)-1].Evidence; v > highest {
			highest, o.Best = v, len(o.Ascents)-1
		}
		if a.Status == solvers.Interrupted {
			break
		}
	}
	o.Elapsed = time.Since(began)
	if len(o.Ascents) == 0 {
		return nil, nil, fmt.Errorf("svmnb: Optimise: there is no log marginal likelihood at the start: %w", last)
	}
	learned, err := t.with(o.End().Values)
	if err == nil && ctx.Err() != nil {
		err = fmt.Errorf("svmnb: Optimise stopped after %d evaluations: %w", o.Evaluations, context.Cause(ctx))
	}
	return o, learned, err
}

// climbFrom minimises f from x by gonum's BFGS. That knows no bounds, so what it
// sees are variables u without any, x = origin + L tanh(u/L) with L = ln(reach):
// near the origin they are the same, and at a bound the slope vanishes.
func climbFrom(ctx context.Context, f func(grad, x []float64) float64, x, origin []float64) Ascent {
	most, p := math.Log(reach), len(x)
	var at, grad []float64 // where f was asked last, and its gradient there
	place, value := make([]float64, p), 0.0
	evaluate := func(u []float64) {
		if at != nil && slices.Equal(u, at) {
			return
		}
		at, grad = append(at[:0], u...), make([]float64, p)
		for i, v := range u {
			place[i] = origin[i] + most*math.Tanh(v/most)
		}
		value = f(grad, place)
		for i, v := range u {
			c := math.Cosh(v / most)
			grad[i] /= c * c
		}
	}
	u := make([]float64, p)
	for i := range u {
		u[i] = most * math.Atanh((x[i]-origin[i])/most)
	}
	a := Ascent{Status: solvers.Exhausted}
	if p == 0 { // all are held fixed
		if evaluate(u); !math.IsInf(value, 1) {
			a = Ascent{solvers.Converged, []AscentPoint{{nil, -value, 0}}}
		}
		return a
	}
	problem := optimize.Problem{
		Func: func(u []float64) float64 { evaluate(u); return value },
		Grad: func(g, u []float64) { evaluate(u); copy(g, grad) },
		Status: func() (optimize.Status, error) {
			if ctx.Err() != nil {
				return optimize.RuntimeLimit, nil
			}
			return optimize.NotTerminated, nil
		},
	}
	settings := &optimize.Settings{
		GradientThreshold: flat, MajorIterations: climb, Converger: optimize.NeverTerminate{},
		Recorder: recorder(func(u, g []float64, v float64) {
			point := make([]float64, p)
			for i := range point {
				point[i] = math.Exp(origin[i] + most*math.Tanh(u[i]/most))
			}
			a.Path = append(a.Path, AscentPoint{point, -v, steepest(g)})
		}),
	}
	// The error says that a line search could go no further, or that f does not
	// exist at the start: what there is, is in the path.
	res, _ := optimize.Minimize(problem, u, settings, &optimize.BFGS{})
	switch {
	case ctx.Err() != nil:
		a.Status = solvers.Interrupted
	case res != nil && res.Status == optimize.GradientThreshold:
		a.Status = solvers.Converged
	case res != nil && res.Status == optimize.IterationLimit:
		a.Status = solvers.IterationLimit
	}
	return a
}

// recorder is told of the start and of each iteration of a minimisation.
type recorder func(x, gradient []float64, f float64)

func (recorder) Init() error { return nil }

func (r recorder) Record(l *optimize.Location, op optimize.Operation, _ *optimize.Stats) error {
	if (op == optimize.InitIteration || op == optimize.MajorIteration) && l.Gradient != nil && !math.IsInf(l.F, 1) {
		r(l.X, l.Gradient, l.F)
	}
	return nil
}

func steepest(g []float64) (most float64) {
	for _, v := range g {
		most = max(most, math.Abs(v))
	}
	return most
}

func exponentials(x []float64) []float64 {
	v := make([]float64, len(x))
	for i := range x {
		v[i] = math.Exp(x[i])
	}
	return v
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

// evaluate returns the log marginal likelihood at values, and its gradient by
// their logarithms where grad is not nil.
func (t *processTask) evaluate(ctx context.Context, grad, values []float64) (float64, error) {
	other, err := t.with(values)
	if err != nil {
		return 0, err
	}
	if m, ok := t.method.(solvers.Cholesky); ok {
		other.method = m // with its jitter
	} else {
		other.method = solvers.Cholesky{}
	}
	f, err := other.solve(ctx)
	if err != nil {
		return 0, err
	}
	v := f.evidence(f.Factor)
	if math.IsNaN(v) {
		return 0, errors.New("the log marginal likelihood is not a number")
	}
	if grad == nil {
		return v, nil
	}
	return v, f.gradient(ctx, f.Factor, grad)
}
