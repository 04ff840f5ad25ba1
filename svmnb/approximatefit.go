package svmnb

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/points"
)

// ApproximateFit is a trained approximation. Its decision function f has a gap to the optimum of
// the exact machine, which [ApproximateFit.Bound] bounds cheaply and [ApproximateFit.Certify]
// computes.
type ApproximateFit struct {
	// Description is the ApproximateClassifier that was trained.
	Description ApproximateClassifier

	// Alpha has n multipliers, one for each point, that are feasible for the exact dual.
	Alpha   []float64
	Elapsed time.Duration

	task    *task
	of      *approximated
	verdict *Verdict
	exact   *Fit // the exact machine of Alpha, after Certify
}

func (f *ApproximateFit) none() bool { return f == nil || f.task == nil }

// Values returns f at m points; see [Fit.Values].
func (f *ApproximateFit) Values(x datasets.Points) (_ []float64, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Values")
	}
	return f.Model().Values(x)
}

// Predict returns the class names of m points; see [Fit.Predict].
func (f *ApproximateFit) Predict(x datasets.Points) (_ []string, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Predict")
	}
	return f.Model().Predict(x)
}

// Bound encloses the exact optimum without kernel values of pairs of points. For landmarks it
// takes a pass over the support vectors and m² operations for each, to bound what they leave of
// α'Kα:
//
//	α'Kα ≤ α'K̃α + (Σ α_i √r_i)²,  r_i = K_ii − K̃_ii ≥ 0.
//
// For a subsample, α'Kα is known. For parts and random features it is at most the square of a sum
// of lengths, which hardly ever proves anything. Primal is the objective of f, +Inf where f has
// none or, for parts, it is not yet known.
func (f *ApproximateFit) Bound(ctx context.Context) (_ *Verdict, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Bound")
	}
	if err := arguments.Given(ctx, "Bound"); err != nil {
		return nil, err
	}
	q, err := f.of.quadratic(ctx)
	if err != nil {
		return nil, err
	}
	return f.bounded(f.of.primal, q), nil
}

// multiple returns the t for which tα, with Σα = sum and α'Qα = quadratic, has the largest dual
// objective t·sum − ½t²·quadratic. It is at most 1 unless every α may grow.
func multiple(p *solvers.Problem, sum, quadratic float64) float64 {
	if quadratic > 0 && (sum < quadratic || math.IsInf(p.Upper[0], 1)) {
		return sum / quadratic
	}
	return 1
}

// Certify computes how far f is from the optimum of the exact machine, by one pass over the
// kernel values of all pairs of support vectors. On its way it also improves Alpha; see
// task.sweep.
func (f *ApproximateFit) Certify(ctx context.Context) (_ *Verdict, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Certify")
	}
	if err := arguments.Given(ctx, "Certify"); err != nil {
		return nil, err
	}
	if f.verdict != nil {
		return f.verdict, nil
	}
	alpha := slices.Clone(f.Alpha)
	norm2, q, err := f.task.sweep(ctx, alpha)
	if err != nil {
		return nil, err
	}
	primal := f.of.primal
	if math.IsNaN(primal) { // f = Σ α_i y_i K(x_i, x) + b with the α before
		values, err := f.Model().Values(f.task.data)
		if err != nil {
			return nil, err
		}
		primal = norm2/2 + f.task.loss(values)
	}
	f.Alpha = alpha
	f.verdict = f.bounded(primal, q)
	return f.verdict, nil
}

// sweepRows is the most points of a block of sweep.
const sweepRows = 1024

// sweep maximises the dual over the multipliers of one block of support vectors after the other,
// all others fixed. It changes α, and returns α'Kα before and after. A block needs the kernel
// values of its points with all support vectors, which α'Kα needs too: with u = Σ_j α_j y_j
// K(x_i, x_j) over earlier blocks, with their new α, and v the same over later blocks,
//
//	α'Kα = Σ_blocks Σ_i y_i α_i (2u_i + (Kα)_i within the block)
//
// for the new α, and the same with v in place of u for the old one. Both are exact, whatever
// the blocks do.
func (t *task) sweep(ctx context.Context, alpha []float64) (before, after float64, err error) {
	at := rand.New(rand.NewPCG(1, 0x53e)).Perm(len(alpha))
	rows := min(sweepRows, max(16, len(at)/8))
	x, p := points.Of(t.data), t.problem
	vectors := func(of []int) (at []int, coef []float64) {
		for _, i := range of {
			if alpha[i] != 0 {
				at, coef = append(at, i), append(coef, alpha[i]*t.y[i])
			}
		}
		return at, coef
	}
	for from := 0; from < len(at); from += rows {
		if ctx.Err() != nil {
			return 0, 0, context.Cause(ctx)
		}
		to := min(from+rows, len(at))
		of := at[from:to]
		block := x.Some(of)
		u, v := make([]float64, len(of)), make([]float64, len(of))
		for dst, others := range map[*[]float64][]int{&u: at[:from], &v: at[to:]} {
			sv, coef := vectors(others)
			if err := t.addTo(ctx, *dst, of, sv, coef); err != nil {
				return 0, 0, err
			}
		}
		gram, err := block.Gram(t.kernel, int64(8*len(of)*len(of)+64))
		if err != nil {
			return 0, 0, err
		}
		part := &solvers.Problem{K: gram, S: pick(p.S, of), P: make([]float64, len(of)), Lower: pick(p.Lower, of), Upper: pick(p.Upper, of)}
		if p.Ridge != nil {
			part.Ridge = pick(p.Ridge, of)
		}
		start := pick(alpha, of)
		for k, i := range of {
			part.P[k] = p.P[i] + p.S[i]*(u[k]+v[k])
			part.Delta += p.S[i] * start[k]
		}
		own := func(v, a []float64) (q float64) {
			for k := range of {
				if a[k] == 0 {
					continue
				}
				s := 2 * v[k]
				for l, kl := range gram.Row(k) {
					s += part.S[l] * a[l] * kl
				}
				q += part.S[k] * a[k] * s
			}
			return q
		}
		before += own(v, start)
		res, err := solvers.Solve(ctx, part, solvers.SMO{}, solvers.Settings{Stop: solvers.UpLow{Tol: 1e-2}, Start: start, Every: -1})
		if res == nil {
			return 0, 0, err
		}
		for k, i := range of {
			alpha[i] = res.Alpha[k]
		}
		after += own(u, res.Alpha)
	}
	return before, after, nil
}

// addTo adds Σ_k coef[k] K(x_on[r], x_of[k]) to dst[r].
func (t *task) addTo(ctx context.Context, dst []float64, on, of []int, coef []float64) error {
	if len(of) == 0 {
		return nil
	}
	t.asking.Lock()
	defer t.asking.Unlock()
	if b, _ := solvers.BlocksOf(t.problem.K); b != nil {
		return b.AddTo(ctx, dst, nil, on, of, coef, true)
	}
	x := points.Of(t.data)
	x.Some(on).AddTimes([][]float64{dst}, x.Some(of).Basis(t.kernel), [][]float64{coef})
	return ctx.Err()
}

// bounded returns the verdict that follows from a bound of α'Kα.
func (f *ApproximateFit) bounded(primal, q float64) *Verdict {
	p, norm2, sum := f.task.problem, q, 0.0
	for i, a := range f.Alpha {
		sum += a
		if p.Ridge != nil {
			norm2 += p.Ridge[i] * a * a
		}
	}
	t := multiple(p, sum, norm2)
	v := &Verdict{Name: f.Description.how.String(), Primal: primal, Dual: max(0, t*sum-t*t*norm2/2), Violation: math.NaN(), Points: len(f.Alpha), SupportVectors: len(f.of.expansion.Coef)}
	if math.IsNaN(v.Primal) {
		v.Primal = math.Inf(1)
	}
	v.Bound = v.Dual
	return v
}

// Bounds returns bounds of f*, the decision function at the exact optimum, at m points; see
// [Fit.Bounds]. The first call computes the exact machine of Alpha, which takes n kernel values
// for each support vector.
func (f *ApproximateFit) Bounds(x datasets.Points) (lower, upper []float64, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, nil, arguments.NoFit("Bounds")
	}
	if err := f.machine(context.Background()); err != nil {
		return nil, nil, err
	}
	return f.exact.Bounds(x)
}

// Certain reports for each of m points whether the label that f gives is that of the exact
// optimum; see [ApproximateFit.Bounds].
func (f *ApproximateFit) Certain(x datasets.Points) ([]bool, error) {
	lower, upper, err := f.Bounds(x)
	if err != nil {
		return nil, err
	}
	values, err := f.Values(x)
	if err != nil {
		return nil, err
	}
	certain := make([]bool, len(lower))
	for i, v := range values {
		certain[i] = lower[i] > 0 && v > 0 || upper[i] < 0 && v < 0
	}
	return certain, nil
}

// machine computes the exact machine of Alpha, with its F.
func (f *ApproximateFit) machine(ctx context.Context) error {
	if f.exact != nil {
		return nil
	}
	m, err := f.task.at(ctx, f.Alpha)
	if err == nil {
		f.exact = m.fit
	}
	return err
}

// Polish goes on from the multipliers of the approximation to the optimum of the exact machine,
// by the method and the criterion of the description.
func (f *ApproximateFit) Polish(ctx context.Context) (_ *Fit, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Polish")
	}
	if err := arguments.Given(ctx, "Polish"); err != nil {
		return nil, err
	}
	t := f.task
	start := f.Alpha
	if f.exact != nil {
		start = f.exact.Alpha
	}
	res, err := solvers.Solve(ctx, t.problem, t.method, solvers.Settings{Stop: t.stop, MaxIterations: t.limit, Every: t.every, Start: start})
	var bad *solvers.ProblemError
	if errors.As(err, &bad) && bad.Field == "Start" {
		res, err = t.machine.solve(ctx, t.problem, t, nil)
	}
	if res == nil {
		return nil, err
	}
	return t.fit(res), err
}

// multiplied is a machine Σ α_i y_i K(x_i, x) + b.
type multiplied struct {
	fit   *Fit      // of the best multiple of α
	sums  []float64 // Σ_j α_j y_j K(x_j, x_i) of the given α
	norm2 float64   // α'Kα of the given α
}

// at returns the machine of feasible multipliers α, with its certificate. If a smaller multiple
// of α has a larger dual objective, the fit is of that.
func (t *task) at(ctx context.Context, alpha []float64) (*multiplied, error) {
	return guard.UnlessDone(ctx, func() (*multiplied, error) {
		p, m := t.problem, &multiplied{sums: make([]float64, len(alpha))}
		f := p.F(alpha)
		gain, quadratic := 0.0, 0.0
		for i, a := range alpha {
			m.sums[i] = p.S[i] - f[i]
			if p.Ridge != nil {
				m.sums[i] -= p.S[i] * p.Ridge[i] * a
			}
			m.norm2 += a * p.S[i] * m.sums[i]
			gain += a * (1 - t.b0*p.S[i])
			quadratic += a * (1 - p.S[i]*f[i])
		}
		by := multiple(p, gain, quadratic)
		if by > 0.999 { // what is gained is too little for moving multipliers from their bounds
			by = 1
		}
		scaled := make([]float64, len(alpha))
		for i, a := range alpha {
			scaled[i] = by * a
			f[i] = p.S[i] + by*(f[i]-p.S[i]) // F = y − g, and g is linear in α
		}
		res := &solvers.Result{Method: "given multipliers", Alpha: scaled, F: f, Certificate: solvers.CertifyWith(p, scaled, f)}
		res.Bias = res.Certificate.Bias
		m.fit = t.fit(res)
		return m, nil
	})
}
