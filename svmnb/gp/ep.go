package gp

import (
	"context"
	"math"

	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/solvers"
)

// propagate approximates the posterior for labels y = ±1 and σ = Φ by expectation propagation
// (Rasmussen and Williams 2006, §3.6). The likelihood of point i is replaced by a Gaussian site
// exp(ν_i f − ½τ_i f²). Without its own site, f_i has the cavity distribution; with the true
// likelihood in place of the site, it has other moments, and the site is chosen to give these.
//
// All sites are updated at once from the same posterior, which then takes one factor of B = I +
// T^½ K T^½ (their Algorithm 3.5 has one site at a time, and n factors updated by rank one). As
// updates may overshoot, they are damped when the moments come no nearer to each other.
func propagate(ctx context.Context, k *matrix, y []float64) (*gaussian, error) {
	n := len(y)
	q := &gaussian{k: k, root: make([]float64, n), a: make([]float64, n), sigma: probit}
	tau, nu := make([]float64, n), make([]float64, n)
	mean, variance := make([]float64, n), append([]float64(nil), k.diag...)
	damping, best := 1.0, math.Inf(1)
	for q.Status, q.Gap = solvers.IterationLimit, math.NaN(); q.Iterations < sweeps; q.Iterations++ {
		q.Mismatch = 0
		sites := make([]site, n)
		for i := range sites {
			c := cavity(mean[i], variance[i], tau[i], nu[i])
			m, v := 0.0, 0.0
			sites[i], m, v = c.match(y[i])
			q.Mismatch = max(q.Mismatch, math.Abs(m-mean[i])/math.Sqrt(variance[i]), math.Abs(v/variance[i]-1))
		}
		if q.Mismatch <= matched {
			q.Status = solvers.Converged
			break
		}
		if q.Mismatch >= best && damping > 1./64 {
			damping *= 0.7
		}
		best = min(best, q.Mismatch)
		for i, s := range sites {
			tau[i] += damping * (s.tau - tau[i])
			nu[i] += damping * (s.nu - nu[i])
			q.root[i] = math.Sqrt(tau[i])
		}
		var err error
		if q.factor, err = factorOf(ctx, k, q.root); err != nil {
			return nil, err
		}
		q.a = q.less(nu)
		mean = k.times(q.a)
		if variance, err = q.variances(ctx); err != nil {
			return nil, err
		}
	}
	// The evidence (their eq. 3.65, in the form of eqs. 3.73 and 3.74, in which nothing cancels).
	q.logZ = vec.Dot(nu, mean) / 2
	if q.factor != nil {
		q.logZ -= q.factor.LogDet() / 2
	}
	for i := range y {
		c := cavity(mean[i], variance[i], tau[i], nu[i])
		value, _ := logNormal(y[i] * c.mean / math.Sqrt(1+c.variance))
		t := 1 / c.variance
		q.logZ += value + math.Log1p(tau[i]/t)/2 - nu[i]*nu[i]/(t+tau[i])/2 + c.mean*t/(t+tau[i])*(tau[i]*c.mean-2*nu[i])/2
	}
	return q, nil
}

const (
	sweeps  = 500
	matched = 1e-8 // mismatch; the evidence changes with its square
)

// site has the parameters of a Gaussian in place of a likelihood.
type site struct{ tau, nu float64 }

// moments are those of f_i.
type moments struct{ mean, variance float64 }

// probit returns the mean of Φ(f) for a normal f.
func probit(mean, variance float64) float64 { return normal(mean / math.Sqrt(1+variance)) }

// cavity returns the moments without the site. As sites have τ ≥ 0 the variance is positive.
func cavity(mean, variance, tau, nu float64) moments {
	left := max(1/variance-tau, 1e-15/variance)
	return moments{(mean/variance - nu) / left, 1 / left}
}

// match returns the site that gives the moments of the cavity times the likelihood Φ(y f), and
// these moments (eq. 3.58).
func (c moments) match(y float64) (s site, mean, variance float64) {
	scale := math.Sqrt(1 + c.variance)
	z := y * c.mean / scale
	_, slope := logNormal(z)
	d := y * slope / scale                      // (mean of the product − mean)/variance
	q := slope * (z + slope) / (1 + c.variance) // (variance − variance of the product)/variance²
	left := 1 - c.variance*q
	return site{q / left, (c.mean*q + d) / left}, c.mean + c.variance*d, c.variance * left
}
