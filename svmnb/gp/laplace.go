package gp

import (
	"context"
	"math"

	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/solvers"
)

// laplace approximates the posterior for labels y = ±1 and the logistic function (Rasmussen and
// Williams 2006, Algorithm 3.1). With f = K a, Newton's method minimises
//
//	P(a) = ½ a'K a + Σ ln(1 + exp(−y_i f_i)),
//
// the negative logarithm of the posterior density of f but for a constant. A step is halved
// until P falls. At the maximum a = ∇ = ½(y + 1) − π, π = σ(f). For any f the dual objective
//
//	D(∇) = −½ ∇'K ∇ + Σ H(|∇_i|),  H(p) = −p ln p − (1−p) ln(1−p),
//
// is a lower bound of P, so P − D bounds how far f is from the maximum. The run ends when this
// gap is negligible. With W = diag(π(1−π)) the evidence is (eq. 3.32)
//
//	ln q(y) = −P − ½ ln|I + W^½ K W^½|.
func laplace(ctx context.Context, k *matrix, y []float64) (*gaussian, error) {
	n := len(y)
	q := &gaussian{k: k, root: make([]float64, n), a: make([]float64, n), g: make([]float64, n), sigma: meanLogistic}
	f := make([]float64, n)
	curve := func() { // sets g and root for f
		for i, v := range f {
			q.g[i] = y[i] * logistic(-y[i]*v)
			q.root[i] = math.Sqrt(logistic(v) * logistic(-v))
		}
	}
	primal := func(a, f []float64) float64 {
		sum := vec.Dot(a, f) / 2
		for i, v := range f {
			sum += softplus(-y[i] * v)
		}
		return sum
	}
	curve()
	height := primal(q.a, f)
	// When the gap is small, one more step follows, whole: the method converges quadratically, and
	// P has too few digits to show that the step is better.
	small := false
	for q.Status = solvers.IterationLimit; q.Iterations < newtonSteps; q.Iterations++ {
		dual := -vec.Dot(q.g, k.times(q.g)) / 2
		for _, p := range q.g {
			dual += entropy(math.Abs(p))
		}
		if q.Gap = max(0, height-dual); q.Gap <= smallGap*(1+height) {
			if small {
				q.Status = solvers.Converged
				break
			}
			small = true
		}
		var err error
		if q.factor, err = factorOf(ctx, k, q.root); err != nil {
			return nil, err
		}
		b := make([]float64, n)
		for i, v := range f {
			b[i] = q.root[i]*q.root[i]*v + q.g[i]
		}
		next := q.less(b)
		at, better := k.times(next), small
		for try := 0; !better && try < halvings; try++ {
			if better = primal(next, at) < height; !better {
				for i := range next {
					next[i] = (next[i] + q.a[i]) / 2
				}
				at = k.times(next)
			}
		}
		if !better { // only rounding is left
			q.Status = solvers.Exhausted
			break
		}
		q.a, f, height = next, at, primal(next, at)
		curve()
	}
	var err error
	if q.factor, err = factorOf(ctx, k, q.root); err != nil {
		return nil, err
	}
	q.logZ = -height - q.factor.LogDet()/2
	return q, q.sensitivity(ctx, f)
}

const (
	newtonSteps = 200
	smallGap    = 1e-9 // relative
	halvings    = 40
)

// sensitivity sets u of ∂ ln q = … + u'∂K ∇. As f̂ = K ∇(f̂), ∂f̂ = (I + KW)⁻¹ ∂K ∇, and ln|B|
// depends on f̂_i by −½ Σ_ii ∂W_i/∂f_i with Σ = (K⁻¹ + W)⁻¹ (Rasmussen and Williams 2006, §5.5.1,
// where eq. 5.23 has the third derivative of ln p, which is −∂W/∂f, with the sign of ∂W/∂f).
func (q *gaussian) sensitivity(ctx context.Context, f []float64) error {
	v, err := q.variances(ctx)
	if err != nil {
		return err
	}
	s := make([]float64, len(f))
	for i, f := range f {
		w := q.root[i] * q.root[i]
		s[i] = -v[i] * w * (1 - 2*logistic(f)) / 2
	}
	// u = (I + WK)⁻¹ s = s − S B⁻¹ S K s
	q.u = q.less(s)
	return nil
}

// entropy returns −p ln p − (1−p) ln(1−p).
func entropy(p float64) float64 {
	if p <= 0 || p >= 1 {
		return 0
	}
	return -p*math.Log(p) - (1-p)*math.Log1p(-p)
}
