package gp

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/solvers/linear"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
)

type heteroscedastic struct{ noise kernels.Kernel }

func (l heteroscedastic) String() string {
	return fmt.Sprintf("gp.Heteroscedastic(%v)", l.noise)
}

func (l heteroscedastic) fault() error {
	if l.noise != nil && l.noise.Check() != nil {
		return fmt.Errorf("svmnb: Heteroscedastic: %w", l.noise.Check())
	}
	return arguments.WrongIf(l.noise == nil, "Heteroscedastic", math.NaN(), "the kernel is nil; give one such as kernels.SquaredExponential(1)")
}

func (heteroscedastic) offset(y []float64) (mean float64, _ error) {
	for _, v := range y {
		mean += v / float64(len(y))
	}
	return mean, nil
}

// twofold is the approximate posterior of f and of g, the logarithm of the variance of the noise
// minus its mean.
type twofold struct {
	g      *gaussian // of λ and b
	factor *linear.CholeskyFactor
	alpha  []float64 // A⁻¹y
	noise  []float64 // n values R_i
}

func (q *twofold) how() ApproximationRun { return q.g.ApproximationRun }
func (q *twofold) evidence() float64     { return q.g.logZ }

// solve maximises the lower bound of Lázaro-Gredilla and Titsias (2011, eq. 4) over normal
// distributions of g = (g_i). The best ones have the mean K b and the covariance Σ = (K⁻¹ + Λ)⁻¹,
// with Λ = diag(λ), b = λ − ½ and the covariance K of the noise's process. With A = K_f + R, R_i =
// exp(μ₀ + (K b)_i − ½ Σ_ii) and α = A⁻¹y, the bound is
//
//	ln N(y; 0, A) − ¼ tr Σ − ½ (b'K b − Σ λ_i Σ_ii + ln|I + KΛ|),
//
// and its derivative by λ is (K + ½ Σ∘Σ) d with d_i = ½ R_i(α_i² − (A⁻¹)_ii) − b_i. As this matrix is
// positive semidefinite, the bound rises in the direction d, in which each λ_i goes to the value that
// is stationary for the others. A step is halved until the bound rises.
func (l heteroscedastic) solve(ctx context.Context, t *latentTask) (latentPosterior, error) {
	kf, err := gramOf(ctx, t.kernel, t.data.X)
	if err != nil {
		return nil, err
	}
	kg, err := gramOf(ctx, l.noise, t.data.X)
	if err != nil {
		return nil, err
	}
	n := len(t.y)
	// at returns the approximation for λ, and the direction d.
	at := func(lambda []float64) (q *twofold, d []float64, err error) {
		q = &twofold{g: &gaussian{k: kg, root: make([]float64, n), a: make([]float64, n)}}
		if err := q.g.curve(ctx, lambda); err != nil {
			return nil, nil, err
		}
		v, err := q.g.variances(ctx)
		if err != nil {
			return nil, nil, err
		}
		for i, l := range lambda {
			q.g.a[i] = l - 0.5
		}
		mean, noise := kg.times(q.g.a), make([]float64, n)
		q.noise = noise
		q.g.logZ = -float64(n)/2*math.Log(2*math.Pi) - (vec.Dot(q.g.a, mean)+q.g.logDet)/2
		for i, m := range mean {
			noise[i] = t.noise * math.Exp(m-v[i]/2)
			q.g.logZ += lambda[i]*v[i]/2 - v[i]/4
		}
		if slices.Max(noise) > 1e90*(1+t.noise) { // a step that is far too long
			q.g.logZ = math.Inf(-1)
			return q, nil, nil
		}
		if q.factor, err = (linear.Cholesky{}).Factor(ctx, &linear.System{K: kf, Noise: noise}); err != nil {
			return nil, nil, t.explain(err)
		}
		q.alpha = q.factor.Solve(nil, t.y)
		q.g.logZ -= (vec.Dot(t.y, q.alpha) + q.factor.LogDet()) / 2
		inverse, err := q.factor.InverseLower(ctx)
		if err != nil {
			return nil, nil, err
		}
		var row []float64
		d = make([]float64, n)
		for i, a := range q.alpha {
			row = inverse.Row(row, i)
			d[i] = noise[i]*(a*a-row[i])/2 - q.g.a[i]
			q.g.Mismatch = max(q.g.Mismatch, math.Abs(d[i])/(1+lambda[i]))
		}
		return q, d, nil
	}
	lambda := make([]float64, n)
	for i := range lambda {
		lambda[i] = 0.5
	}
	q, d, err := at(lambda)
	if err != nil {
		return nil, err
	}
	rate := 1.0
	for status, step := solvers.IterationLimit, 0; ; step++ {
		if q.g.Mismatch <= stationary {
			status = solvers.Converged
		}
		if q.g.Status, q.g.Iterations, q.g.Gap = status, step, math.NaN(); status == solvers.Converged || step == sweeps {
			return q, nil
		}
		better := false
		for range halvings {
			next := make([]float64, n)
			for i, v := range lambda {
				next[i] = max(0, v+rate*d[i])
			}
			p, e, err := at(next)
			if err != nil {
				return nil, err
			}
			// Near the maximum the bound has too few digits to tell, and the step is taken.
			slack := 1e-9 * (1 + math.Abs(q.g.logZ))
			if p.g.logZ > q.g.logZ-slack {
				if rate = min(1, 1.5*rate); p.g.logZ < q.g.logZ+slack && p.g.Mismatch > q.g.Mismatch {
					rate /= 3
				}
				q, d, lambda, better = p, e, next, true
				break
			}
			rate /= 2
		}
		if !better {
			q.g.Status, q.g.Iterations, q.g.Gap = solvers.Exhausted, step, math.NaN()
			return q, nil
		}
	}
}

// stationary is the largest step of a λ, in relation to 1 + λ, that counts as none.
const stationary = 1e-6

func (q *twofold) latent(prior float64, cross []float64) (mean, variance float64) {
	half := q.factor.HalfSolve(nil, cross)
	return vec.Dot(cross, q.alpha), max(0, prior-vec.Dot(half, half))
}

// logNoise returns mean and variance of the logarithm of the noise's variance at x.
func (q *twofold) logNoise(t *latentTask, x []float64) (mean, variance float64) {
	k := t.of.(heteroscedastic).noise
	cross := make([]float64, len(q.alpha))
	for i, p := range t.data.X {
		cross[i] = k.Eval(p, x)
	}
	return math.Log(t.noise) + vec.Dot(cross, q.g.a), q.g.variance(k.Eval(x, x), cross)
}

func (q *twofold) ahead(t *latentTask, x []float64, mean, variance float64) predictive {
	m, v := q.logNoise(t, x)
	return varying(mean, variance, m, v)
}

// gradient uses that the bound is stationary in λ: with b = λ − ½ and E = (K + Λ⁻¹)⁻¹, it is ½ tr((αα' −
// A⁻¹)∂K_f) + ½ tr((bb' − E)∂K) + Σ b_i ∂μ₀.
func (q *twofold) gradient(ctx context.Context, t *latentTask, grad []float64) error {
	k := t.of.(heteroscedastic).noise
	more, err := kernels.Hyperparameters(k)
	if err != nil {
		return fmt.Errorf("svmnb: %w", err)
	}
	last := len(grad) - 1
	own := last - len(more)
	if err := contract(ctx, t.kernel, t.data.X, grad[:own], q); err != nil {
		return err
	}
	if err := contract(ctx, k, t.data.X, grad[own:last], q.g); err != nil {
		return err
	}
	grad[last] = 0
	for _, b := range q.g.a {
		grad[last] += b
	}
	return nil
}

// weights returns the rows of ½(αα' − A⁻¹).
func (q *twofold) weights(ctx context.Context) (func(i int) []float64, error) {
	inverse, err := q.factor.InverseLower(ctx)
	if err != nil {
		return nil, err
	}
	row, out := make([]float64, len(q.alpha)), make([]float64, len(q.alpha))
	return func(i int) []float64 {
		for j, v := range inverse.Row(row, i) {
			out[j] = (q.alpha[i]*q.alpha[j] - v) / 2
		}
		return out
	}, nil
}
