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
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/model"
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

	*approximation
	task  *task
	exact *Fit // the exact machine of Alpha, after Bounds
}

func (f *ApproximateFit) none() bool { return f == nil || f.task == nil }

// approximation is what the fits of all kinds of problems have in common.
type approximation struct {
	t       *exactProblem
	how     Approximation
	alpha   []float64
	of      *approximated
	verdict *Verdict
}

// Values returns f at m points; see [Fit.Values].
func (f *ApproximateFit) Values(x datasets.Points) (_ []float64, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Values")
	}
	return f.values("Values", "classifier", x, f.Model)
}

// values returns f at points of a user. model makes the model.
func (a *approximation) values(verb, learner string, x datasets.Points, model func() *model.Model) ([]float64, error) {
	if a.of.inSpace {
		return a.of.expansion.At(verb, learner, points.From(x))
	}
	return model().Values(x)
}

// Predict returns the class names of m points; see [Fit.Predict].
func (f *ApproximateFit) Predict(x datasets.Points) (_ []string, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Predict")
	}
	values, err := f.values("Predict", "classifier", x, f.Model)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = [2]string{f.task.negative, f.task.positive}[machines.SideOf(v)]
	}
	return names, nil
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
	return f.bound(ctx)
}

func (a *approximation) bound(ctx context.Context) (*Verdict, error) {
	if err := arguments.Given(ctx, "Bound"); err != nil {
		return nil, err
	}
	q, err := a.of.quadratic(ctx)
	if err != nil {
		return nil, err
	}
	return a.bounded(a.of.primal, q), nil
}

// multiple returns the t for which tα, with Σα = sum and α'Qα = quadratic, has the largest dual
// objective t·sum − ½t²·quadratic. It is at most 1 unless every α may grow.
func multiple(p *solvers.Problem, sum, quadratic float64) float64 {
	if quadratic > 0 && (sum < quadratic || math.IsInf(p.Upper[0], 1)) {
		return max(0, sum) / quadratic
	}
	return 1
}

// Certify computes how far f is from the optimum of the exact machine, by one pass over the
// kernel values of all pairs of support vectors. On its way it also improves Alpha; see
// docs/math.md.
func (f *ApproximateFit) Certify(ctx context.Context) (_ *Verdict, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Certify")
	}
	v, err := f.certify(ctx)
	f.Alpha = f.alpha
	return v, err
}

func (a *approximation) certify(ctx context.Context) (*Verdict, error) {
	if err := arguments.Given(ctx, "Certify"); err != nil {
		return nil, err
	}
	if a.verdict != nil {
		return a.verdict, nil
	}
	alpha := slices.Clone(a.alpha)
	norm2, q, err := a.t.sweep(ctx, alpha)
	if err != nil {
		return nil, err
	}
	if a.t.real != nil {
		// Multipliers that are too large can have a negative dual objective. The pass over them may then
		// end below the cheap bound, which is that of their best multiple. So a second pass starts from
		// this multiple.
		cheap, err := a.of.quadratic(ctx)
		if err != nil {
			return nil, err
		}
		by, known := a.t.best(a.alpha, cheap)
		if share, d := a.t.best(alpha, q); share < 0.5 || d < known {
			small := slices.Clone(a.alpha)
			for u := range small {
				small[u] *= by
			}
			_, less, err := a.t.sweep(ctx, small)
			if err != nil {
				return nil, err
			}
			if _, other := a.t.best(small, less); other > d {
				alpha, q = small, less
			}
		}
	}
	primal := a.of.primal
	if math.IsNaN(primal) { // f = Σ c_i K(x_i, x) + b with the coefficients of the α before
		primal = norm2/2 + a.t.loss(a.of.expansion.Values(points.Of(a.t.data)))
	}
	a.alpha = alpha
	a.verdict = a.bounded(primal, q)
	return a.verdict, nil
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
func (t *exactProblem) sweep(ctx context.Context, alpha []float64) (before, after float64, err error) {
	at := rand.New(rand.NewPCG(1, 0x53e)).Perm(len(t.y))
	rows, unit := min(sweepRows, max(16, len(at)/8)), t.unit()
	x, p, all := points.Of(t.data), t.problem, t.coef(alpha)
	vectors := func(of []int) (at []int, coef []float64) {
		for _, i := range of {
			if all[i] != 0 {
				at, coef = append(at, i), append(coef, all[i])
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
		vars := t.variables(of)
		part := &solvers.Problem{K: gram, S: pick(p.S, vars), P: make([]float64, len(vars)), Lower: pick(p.Lower, vars), Upper: pick(p.Upper, vars)}
		if t.real != nil {
			part.K = solvers.Double(gram)
		}
		if p.Ridge != nil {
			part.Ridge = pick(p.Ridge, vars)
		}
		start := pick(alpha, vars)
		for k, i := range vars {
			r := k % len(of)
			part.P[k] = p.P[i] + p.S[i]*(u[r]+v[r])
			part.Delta += p.S[i] * start[k]
		}
		own := func(v []float64) (q float64) {
			coef := pick(all, of)
			for k, c := range coef {
				if c == 0 {
					continue
				}
				s := 2 * v[k]
				for l, kl := range gram.Row(k) {
					s += coef[l] * kl
				}
				q += c * s
			}
			return q
		}
		before += own(v)
		res, err := solvers.Solve(ctx, part, solvers.SMO{}, solvers.Settings{Stop: solvers.UpLow{Tol: 1e-2 * unit}, Start: start, Every: -1})
		if res == nil {
			return 0, 0, err
		}
		for k, i := range vars {
			alpha[i] = res.Alpha[k]
		}
		for k, c := range partCoef(res.Alpha, part.S, len(of)) {
			all[of[k]] = c
		}
		after += own(u)
	}
	return before, after, nil
}

// partCoef returns the coefficients Σ s_u α_u of n points.
func partCoef(alpha, s []float64, n int) []float64 {
	coef := make([]float64, n)
	for k, a := range alpha {
		coef[k%n] += s[k] * a
	}
	return coef
}

// addTo adds Σ_k coef[k] K(x_on[r], x_of[k]) to dst[r].
func (t *exactProblem) addTo(ctx context.Context, dst []float64, on, of []int, coef []float64) error {
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

// best returns the best multiple of α with α'Kα = q, and its dual objective.
func (t *exactProblem) best(alpha []float64, q float64) (by, dual float64) {
	sum := 0.0
	for u, v := range alpha {
		sum -= t.problem.P[u] * v
		if t.problem.Ridge != nil {
			q += t.problem.Ridge[u] * v * v
		}
	}
	by = multiple(t.problem, sum, q)
	return by, max(0, by*sum-by*by*q/2)
}

// bounded returns the verdict that follows from a bound of α'Kα.
func (a *approximation) bounded(primal, q float64) *Verdict {
	_, dual := a.t.best(a.alpha, q)
	v := &Verdict{Name: a.how.String(), Primal: primal, Dual: dual, Violation: math.NaN(), Off: math.NaN(), Points: len(a.t.y), SupportVectors: len(a.of.expansion.Coef)}
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
	res, err := f.t.at(ctx, f.alpha)
	if err == nil {
		f.exact = f.task.fit(res)
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
	start, known := f.alpha, []float64(nil)
	if f.exact != nil {
		start, known = f.exact.Alpha, f.exact.F
	}
	res, err := f.polish(ctx, f.task, start, known)
	if res == nil {
		return nil, err
	}
	return f.task.fit(res), err
}

// polish solves the exact problem from these multipliers, or from where the method starts if it
// cannot take them. known is their F, or nil.
func (a *approximation) polish(ctx context.Context, s scene, start, known []float64) (*solvers.Result, error) {
	if err := arguments.Given(ctx, "Polish"); err != nil {
		return nil, err
	}
	t := a.t
	res, err := solvers.Solve(ctx, t.problem, t.method, solvers.Settings{Stop: t.stop, MaxIterations: t.limit, Every: t.every, Start: start, StartF: known})
	var bad *solvers.ProblemError
	if errors.As(err, &bad) && bad.Field == "Start" {
		res, err = t.machine.solve(ctx, t.problem, s, nil)
	}
	return res, err
}

// at returns feasible multipliers α with their certificate. If a smaller multiple of α has a larger
// dual objective, the result is of that.
func (t *exactProblem) at(ctx context.Context, alpha []float64) (*solvers.Result, error) {
	return guard.UnlessDone(ctx, func() (*solvers.Result, error) {
		p := t.problem
		f := p.F(alpha)
		gain, quadratic := 0.0, 0.0
		for i, a := range alpha {
			gain -= a * (p.P[i] + t.b0*p.S[i])
			quadratic -= a * (p.P[i] + p.S[i]*f[i])
		}
		by := multiple(p, gain, quadratic)
		if by > 0.999 { // what is gained is too little for moving multipliers from their bounds
			by = 1
		}
		scaled := make([]float64, len(alpha))
		for i, a := range alpha {
			scaled[i] = by * a
			f[i] = -p.S[i]*p.P[i] + by*(f[i]+p.S[i]*p.P[i]) // F = −sp − g, and g is linear in α
		}
		res := &solvers.Result{Method: "given multipliers", Alpha: scaled, F: f, Certificate: solvers.CertifyWith(p, scaled, f)}
		res.Bias = res.Certificate.Bias
		return res, nil
	})
}
