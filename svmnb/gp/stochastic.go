package gp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sort"
	"time"

	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/solvers/linear"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

const (
	factorPoints = 10_000 // largest number of points for which an iterative method learns by factors
	partPoints   = 4000   // largest number of points that the ascent by probes learns from first
	partSteps    = 60     // evaluations of their evidence, about
	probeSteps   = 8      // steps of the ascent by probes
	probeRate    = 0.1    // length of the first step, in ln θ; the steps become shorter in equal parts
	traceProbes  = 8
)

// forSteps is the criterion of the systems of a step. Starts from the step before make them more
// accurate than this. Wang et al. (2019) learn with a tolerance of 1.
var forSteps = linear.Residual{Rel: 0.1}

// byProbes reports whether Optimise takes probes in place of factors.
func (t *processTask) byProbes() bool {
	return !direct(t.method) && slices.Min(t.noiseVector()) > 0 && (len(t.y) > factorPoints || t.climbable() != nil)
}

// optimiseByProbes learns from a part of the points by Cholesky factors, and then from all by
// stochastic gradient ascent: the traces of the gradient are estimated by probes of entries ±1
// (Hutchinson 1989; Wang et al. 2019), which stay the same, so that the systems of each step start
// from the solutions of the step before (Lin et al. 2024). The steps are those of Adam (Kingma and
// Ba 2015). It returns what optimise returns.
func (t *processTask) optimiseByProbes(ctx context.Context) (*Optimisation, *processTask, *linear.Solution, error) {
	began, n := time.Now(), len(t.y)
	most := sort.Search(min(partPoints, n), func(m int) bool { return climbing(m+1) > t.allowed() })
	if most < min(50, n) {
		return nil, nil, nil, t.climbable()
	}
	start, err := t.hyperparameters()
	if err != nil {
		return nil, nil, nil, err
	}
	all, err := t.saidOf(start)
	if err != nil {
		return nil, nil, nil, err
	}
	_, o, err := t.part(most).roughly(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	o.Part = most
	values := o.End().Values
	learned, err := t.with(values)
	if err != nil {
		return nil, nil, nil, err
	}
	sides := [][]float64{t.y}
	rng := rand.New(rand.NewPCG(t.seed, 0x6770))
	for range traceProbes {
		z := make([]float64, n)
		for i := range z {
			z[i] = float64(2*rng.IntN(2) - 1)
		}
		sides = append(sides, z)
	}
	var solved *linear.Solution
	var warm [][]float64
	a := Ascent{Status: solvers.IterationLimit}
	x, first, second := make([]float64, len(values)), make([]float64, len(values)), make([]float64, len(values))
	var intervals []interval
	for i, v := range values {
		x[i], intervals = math.Log(v), append(intervals, all[i].interval(v))
	}
	for step := 1; ; step++ {
		grad := make([]float64, len(x))
		sol, err := learned.probed(ctx, sides, warm, grad)
		if err != nil && ctx.Err() != nil {
			if a.Path == nil { // the part is all that there is
				return o, learned, nil, fmt.Errorf("svmnb: Optimise stopped after its part of %d points: %w", most, context.Cause(ctx))
			}
			a.Status = solvers.Interrupted
			o.close(a, began)
			last := a.Path[len(a.Path)-1]
			if learned, err = t.with(last.Values); err != nil {
				return nil, nil, nil, err
			}
			return o, learned, solved, fmt.Errorf("svmnb: Optimise stopped after %s: %w", say.Several(len(a.Path), "step"), context.Cause(ctx))
		}
		if err != nil {
			return nil, nil, nil, err
		}
		warm, solved = sol.X, alone(sol)
		at := AscentPoint{Values: exponentials(x, intervals), Evidence: math.NaN()}
		for i, h := range all {
			value, slope := h.prior.density(x[i])
			at.Prior += value
			if grad[i] += slope; intervals[i].half == 0 {
				grad[i] = 0
			}
		}
		at.Slope = vec.MaxAbs(grad)
		a.Path = append(a.Path, at)
		o.Evaluations++
		if t.show != nil {
			t.show(fmt.Sprintf("Optimise: %d of %d steps by probes in %s, slope %.2g", step, probeSteps+1, say.Spell(time.Since(began).Round(time.Second)), at.Slope), false)
		}
		if step > probeSteps {
			break
		}
		rate := probeRate * float64(probeSteps+1-step) / probeSteps
		for i, g := range grad {
			first[i] = 0.9*first[i] + 0.1*g
			second[i] = 0.999*second[i] + 0.001*g*g
			move := first[i] / (1 - math.Pow(0.9, float64(step))) / (math.Sqrt(second[i]/(1-math.Pow(0.999, float64(step)))) + 1e-8)
			x[i] = intervals[i].within(x[i] + rate*move)
		}
		if learned, err = t.with(exponentials(x, intervals)); err != nil {
			return nil, nil, nil, err
		}
		debug.FreeOSMemory() // the matrix of the step before, of which the next step measures the room
	}
	o.close(a, began)
	return o, learned, solved, nil
}

// roughly learns by factors until ten evaluations have gained less than a nat, or after partSteps.
func (t *processTask) roughly(ctx context.Context) (*processTask, *Optimisation, error) {
	short, enough := context.WithCancel(ctx)
	defer enough()
	count, highest, before := 0, math.Inf(-1), math.Inf(-1)
	l, o, err := t.learningAfter(nil, "≈")
	if err != nil {
		return nil, nil, err
	}
	learned, err := maximise(short, l, o, func(values, grad []float64) (*Fit, float64, error) {
		other, err := t.with(values)
		if err != nil {
			return nil, 0, err
		}
		f, err := other.solve(ctx)
		if err != nil {
			return nil, 0, err
		}
		v := f.evidence(f.Factor)
		highest = max(highest, v)
		if count++; count%10 == 0 {
			if count >= partSteps || highest-before < 1 {
				enough()
			}
			before = highest
		}
		return &Fit{task: other}, v, f.gradient(ctx, f.Factor, grad) // the matrix and its factor are not needed
	})
	if learned == nil {
		return nil, nil, err
	}
	if ctx.Err() == nil {
		err = nil
	}
	return learned.task, learned.Optimisation, err
}

// close makes a the only ascent.
func (o *Optimisation) close(a Ascent, began time.Time) {
	o.Ascents, o.Best, o.Elapsed = []Ascent{a}, 0, time.Since(began)
}

// alone returns the solution for the targets.
func alone(sol *linear.Solution) *linear.Solution {
	s := *sol
	s.X, s.Certificates = sol.X[:1], sol.Certificates[:1]
	return &s
}

// part returns the task for m random points, to be solved by a factor.
func (t *processTask) part(m int) *processTask {
	rows := rand.New(rand.NewPCG(t.seed, 0x7061)).Perm(len(t.y))[:m]
	slices.Sort(rows)
	other := *t
	other.data, other.y, other.seen = t.data.Select(rows), learn.Chosen(t.y, rows), learn.Chosen(t.seen, rows)
	if t.noises != nil {
		v := learn.Chosen(*t.noises, rows)
		other.noises = &v
	}
	other.method, other.named = linear.Cholesky{}, true
	return &other
}

// probed solves the system for the targets and the probes, from start, and sets grad to the
// derivatives of the evidence, with tr(A⁻¹∂A) ≈ the mean of z'(∂A)A⁻¹z over the probes z.
func (t *processTask) probed(ctx context.Context, sides, start [][]float64, grad []float64) (*linear.Solution, error) {
	system, err := t.matrix()
	if err != nil {
		return nil, err
	}
	m, ok := t.method.(linear.CG)
	if m.GibbsMacKay, m.Rough = false, true; !ok {
		m = linear.CG{Rank: linear.AutoRank, Rough: true}
	}
	set := linear.Settings{Stop: forSteps, Start: start, MaxIterations: t.limit, Memory: t.cache, Every: -1}
	sol, err := linear.Solve(ctx, system, sides, m, set)
	if err != nil {
		return nil, t.explain(err)
	}
	k, err := kernels.NewGradient(t.kernel, t.data.X)
	if err != nil {
		return nil, fmt.Errorf("svmnb: %w", err)
	}
	// The weights are ½αα' − Σ (wz' + zw')/4q, as Σ_r left_r right_r'.
	n, q := len(t.y), float64(len(sides)-1)
	alpha := sol.X[0]
	left, right, share := [][]float64{alpha}, [][]float64{alpha}, []float64{0.5}
	for s, z := range sides[1:] {
		w := sol.X[1+s]
		left, right, share = append(left, w, z), append(right, z, w), append(share, -0.25/q, -0.25/q)
	}
	weights, coef := make([]float64, n), make([]float64, len(left))
	own := grad
	if t.oneNoise() {
		own = grad[:len(grad)-1]
		trace := 0.0
		for r, v := range left {
			trace += share[r] * vec.Dot(v, right[r])
		}
		grad[len(grad)-1] = t.noise * trace
	}
	if k.Contract(own, func(i int) []float64 {
		if ctx.Err() != nil {
			return nil
		}
		for r, v := range left {
			coef[r] = share[r] * v[i]
		}
		clear(weights[:i+1])
		simd.AddRows(weights[:i+1], coef, right, 0)
		return weights
	}) == nil {
		return nil, fmt.Errorf("svmnb: Optimise: %w", context.Cause(ctx))
	}
	return sol, nil
}

// tooLarge is the error of a process that has no room for the factors of an ascent.
func (t *processTask) tooLarge(need, most float64, fit int) error {
	return arguments.Wrong("Optimise", float64(len(t.y)), "each step takes Cholesky's factor of A and its inverse, %.3g GB for %d points, and may take %.3g: say CG(), which learns by probes; or learn from %d points or fewer, part := p.On(data.Select(rows)).Optimise().MustFit(), and solve for all with what was learned, part.Description.On(data).CG().MustFit(); or raise Memory or GOMEMLIMIT",
		need/1e9, len(t.y), most/1e9, cmp.Or(fit, 1))
}
