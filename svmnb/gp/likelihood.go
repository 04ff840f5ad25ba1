package gp

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// Likelihood is the distribution p(y | f) of a target: [StudentT], [Poisson] or
// [Heteroscedastic]. See [Process.Likelihood].
type Likelihood interface {
	String() string

	// fault returns what is wrong with the likelihood itself.
	fault() error

	// offset returns the constant mean of f for targets y, and an error for targets that the
	// likelihood does not allow.
	offset(y []float64) (float64, error)

	// solve approximates the posterior of f, without its constant mean.
	solve(ctx context.Context, t *latentTask) (latentPosterior, error)
}

// latentPosterior is an approximation of the posterior of f.
type latentPosterior interface {
	how() ApproximationRun
	evidence() float64

	// gradient sets grad to the derivatives of the evidence by the logarithms of the
	// hyperparameters of the task.
	gradient(ctx context.Context, t *latentTask, grad []float64) error

	// latent returns mean and variance of f at x, without its constant mean, from its n
	// covariances with the training points.
	latent(prior float64, cross []float64) (mean, variance float64)

	// ahead returns the distribution of a new target at x, where f has this mean and variance.
	ahead(t *latentTask, x []float64, mean, variance float64) predictive
}

// StudentT is the likelihood of targets with outliers: y = f + σ t, where t has Student's
// distribution with nu degrees of freedom, nu ≥ 1, and σ² is the NoiseVariance of the process. (The
// variance of the noise is σ² nu/(nu − 2).) The smaller nu, the less an outlier moves f; 4 is
// usual. The constant mean of f is the median of the targets.
//
// The posterior is approximated by Laplace's method (Vanhatalo, Jylänki and Vehtari 2009). It may
// have several maxima, since the likelihood is not log-concave. The one that is found is reached
// from the prior mean by steps that never lower the density; it need not be the highest.
func StudentT(nu float64) Likelihood { return studentT{nu} }

// Poisson is the likelihood of counts, whose mean is e^f. NoiseVariance has no meaning for it. The
// constant mean of f is the logarithm of the mean count. The posterior is approximated by Laplace's
// method; it has one maximum.
func Poisson() Likelihood { return poisson{} }

// Heteroscedastic is the likelihood y = f + e with normal noise e, whose variance depends on x: its
// logarithm is a second Gaussian process of this covariance, whose mean is the logarithm of
// NoiseVariance. The posterior of both is approximated by variational Bayes (Lázaro-Gredilla and
// Titsias 2011), so the evidence is a lower bound of the exact one.
func Heteroscedastic(noise kernels.Kernel) Likelihood { return heteroscedastic{noise} }

type studentT struct{ nu float64 }

func (l studentT) String() string { return fmt.Sprintf("gp.StudentT(%s)", say.Number(l.nu)) }

func (l studentT) fault() error {
	return arguments.WrongIf(!(l.nu >= 1) || math.IsInf(l.nu, 1), "StudentT", l.nu, "the degrees of freedom are %v; give a number from 1 on, such as 4", l.nu)
}

func (l studentT) offset(y []float64) (float64, error) {
	s := slices.Sorted(slices.Values(y))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2, nil
}

// at has the derivatives by f, with r = y − f, q = νσ² and D = q + r².
func (l studentT) at(r, noise float64) density {
	q := l.nu * noise
	d := q + r*r
	all, _ := math.Lgamma((l.nu + 1) / 2)
	half, _ := math.Lgamma(l.nu / 2)
	return density{
		value: all - half - math.Log(math.Pi*q)/2 - (l.nu+1)/2*math.Log1p(r*r/q),
		slope: (l.nu + 1) * r / d,
		curve: (l.nu + 1) * (q - r*r) / (d * d),
		bend:  2 * (l.nu + 1) * r * (3*q - r*r) / (d * d * d),
		under: (l.nu + 1) / d,
	}
}

// byNoise returns the derivatives of value, slope and curve by ln σ².
func (l studentT) byNoise(r, noise float64) (value, slope, curve float64) {
	q := l.nu * noise
	d := q + r*r
	return -0.5 + (l.nu+1)/2*r*r/d, -(l.nu + 1) * r * q / (d * d), q * (l.nu + 1) * (3*r*r - q) / (d * d * d)
}

func (l studentT) solve(ctx context.Context, t *latentTask) (latentPosterior, error) {
	return t.laplace(ctx, func(i int, f float64) density { return l.at(t.y[i]-f, t.noise) })
}

type poisson struct{}

func (poisson) String() string { return "gp.Poisson()" }
func (poisson) fault() error   { return nil }

func (poisson) offset(y []float64) (float64, error) {
	sum := 0.0
	for i, v := range y {
		if !(v >= 0 && v == math.Trunc(v) && v <= mostCount) {
			return 0, arguments.At("Likelihood", i, -1, v, "the target is %v, and gp.Poisson is for counts: give numbers 0, 1, 2, …", v)
		}
		sum += v
	}
	return math.Log(max(sum, 0.5) / float64(len(y))), nil
}

// mostCount is the largest count.
const mostCount = 1e9

func (poisson) solve(ctx context.Context, t *latentTask) (latentPosterior, error) {
	return t.laplace(ctx, func(i int, f float64) density {
		y, rate := t.seen[i], math.Exp(f+t.offset)
		gamma, _ := math.Lgamma(y + 1)
		return density{value: y*(f+t.offset) - rate - gamma, slope: y - rate, curve: rate, bend: rate, under: rate}
	})
}

// laplacePosterior is Laplace's approximation for one of these likelihoods.
type laplacePosterior struct{ *gaussian }

func (t *latentTask) laplace(ctx context.Context, at func(i int, f float64) density) (latentPosterior, error) {
	k, err := gramOf(ctx, t.kernel, t.data.X)
	if err != nil {
		return nil, err
	}
	q, err := laplace(ctx, k, at)
	if err != nil {
		return nil, err
	}
	return laplacePosterior{q}, nil
}

func (q laplacePosterior) latent(prior float64, cross []float64) (mean, variance float64) {
	m, v := q.gaussian.latent(prior, cross)
	return m[0], v[0][0]
}

func (q laplacePosterior) ahead(t *latentTask, _ []float64, mean, variance float64) predictive {
	if l, ok := t.of.(studentT); ok {
		return l.spread(mean, variance, t.noise)
	}
	return counts{mean, variance}
}

// gradient has for the noise, with g = ∇ ln p and Σ as for the kernel, Σ_i ∂ ln p_i − ½ Σ_ii ∂W_i +
// s_i (Σ ∂g)_i, where s and u are as in sensitivity and Σs = K u.
func (q laplacePosterior) gradient(ctx context.Context, t *latentTask, grad []float64) error {
	own := grad
	l, robust := t.of.(studentT)
	if robust {
		own = grad[:len(grad)-1]
	}
	if err := contract(ctx, t.kernel, t.data.X, own, q.gaussian); err != nil || !robust {
		return err
	}
	v, err := q.variances(ctx)
	if err != nil {
		return err
	}
	f, ku, sum := q.k.times(q.a), q.k.times(q.u), 0.0
	for i, y := range t.y {
		value, slope, curve := l.byNoise(y-f[i], t.noise)
		sum += value - v[i]*curve/2 + slope*ku[i]
	}
	grad[len(grad)-1] = sum
	return nil
}

// contract sets grad to the derivatives of an evidence by the logarithms of the hyperparameters of
// a kernel.
func contract(ctx context.Context, k kernels.Kernel, x [][]float64, grad []float64, q interface {
	weights(ctx context.Context) (func(i int) []float64, error)
}) error {
	g, err := kernels.NewGradient(k, x)
	if err != nil {
		return fmt.Errorf("svmnb: %w", err)
	}
	weights, err := q.weights(ctx)
	if err != nil {
		return fmt.Errorf("svmnb: Gradient: %w", err)
	}
	done := g.Contract(grad, func(i int) []float64 {
		if ctx.Err() != nil {
			return nil
		}
		return weights(i)
	})
	if done == nil {
		return fmt.Errorf("svmnb: Gradient: %w", context.Cause(ctx))
	}
	return nil
}
