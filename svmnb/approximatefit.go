package svmnb

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
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
	p := f.task.problem
	for i, a := range f.Alpha {
		if p.Ridge != nil {
			q += p.Ridge[i] * a * a
		}
	}
	t := multiple(p, f.of.sum, q)
	v := &Verdict{Name: f.Description.how.String(), Primal: f.of.primal, Dual: max(0, t*f.of.sum-t*t*q/2), Points: len(f.Alpha)}
	if math.IsNaN(v.Primal) {
		v.Primal = math.Inf(1)
	}
	v.Bound = v.Dual
	return v, nil
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
// kernel values of all n points with the support vectors, and which labels of the training
// points could still change.
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
	own, err := f.task.at(ctx, f.Alpha)
	if err != nil {
		return nil, err
	}
	j := &judged{name: f.Description.how.String(), own: own, primal: f.of.primal, vectors: len(f.of.expansion.Coef)}
	if f.of.inSpace && math.IsNaN(j.primal) { // f is that of Alpha
		j.values = make([]float64, len(f.Alpha))
		for i, v := range own.sums {
			j.values[i] = v + f.of.expansion.B
		}
		j.primal = own.norm2/2 + f.task.loss(j.values)
	} else if j.values, err = f.Model().Values(f.task.data); err != nil {
		return nil, err
	}
	v, err := f.task.verdicts([]*judged{j})
	if err != nil {
		return nil, err
	}
	f.exact, f.verdict = own.fit, &v[0]
	return f.verdict, nil
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
		t.asking.Lock()
		defer t.asking.Unlock()
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
		scaled := make([]float64, len(alpha))
		for i, a := range alpha {
			scaled[i] = by * a
			f[i] = p.S[i] + by*(f[i]-p.S[i]) // F = y − g, and g is linear in α
		}
		res := &solvers.Result{Method: "given multipliers", Alpha: scaled, F: f, Certificate: solvers.CertifyAt(p, scaled, f)}
		res.Bias = res.Certificate.Bias
		m.fit = t.fit(res)
		return m, nil
	})
}
