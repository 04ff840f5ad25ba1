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
// derivative that a bound does not hold back is above 1e-3.
type Ascent struct {
	Status solvers.Status
	Path   []AscentPoint // its start and each iteration
}

// AscentPoint is one point of an ascent.
type AscentPoint struct {
	Values   []float64 // p hyperparameters
	Evidence float64   // ln p(y), in nats
	Slope    float64   // the largest |∂ ln p(y)/∂ ln θ| that no bound holds back
}

// End returns the best end of all ascents.
func (o *Optimisation) End() AscentPoint {
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
	b := bfgs{tol: flat, limit: climb}
	origin := make([]float64, p)
	for i, h := range start {
		o.Names, o.Start = append(o.Names, h.Name), append(o.Start, h.Value)
		origin[i] = math.Log(h.Value)
		b.lower, b.upper = append(b.lower, origin[i]-math.Log(reach)), append(b.upper, origin[i]+math.Log(reach))
	}
	var last error // why the last point had no evidence
	b.f = func(grad, x []float64) float64 {
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
		a := Ascent{}
		b.visit = func(x, grad []float64, f float64) {
			a.Path = append(a.Path, AscentPoint{exponentials(x), -f, b.slope(x, grad)})
		}
		a.Status = b.minimise(ctx, x)
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
