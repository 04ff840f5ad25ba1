package gp

import (
	"context"
	"math"

	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/solvers"
)

// density is the logarithm of p(y | f) of one target, with its derivatives by f.
type density struct {
	value, slope float64
	curve        float64 // W, minus the second derivative
	bend         float64 // ∂W/∂f

	// under is the curvature of a parabola below the logarithm that touches it at f. It is W
	// itself if the logarithm is concave for every f.
	under float64
}

// laplace approximates the posterior of f by a Gaussian at its maximum (Rasmussen and Williams
// 2006, Algorithm 3.1). With f = K a, Newton's method minimises
//
//	P(a) = ½ a'K a − Σ ln p(y_i | f_i),
//
// the negative logarithm of the posterior density of f but for a constant. A step is halved
// until P falls. At the maximum a = ∇, the slopes of ln p. If ln p is concave, P has a dual
// objective, D(∇) = −½ ∇'K∇ + Σ inf_t(t ∇_i − ln p(y_i | t)), which is a lower bound of P. Since the
// infima are at f, the difference of the two is
//
//	P − D = ½ (a − ∇)'K(a − ∇),
//
// which bounds how far f is from the maximum. The run ends when this gap is negligible. The
// evidence is (eq. 3.32)
//
//	ln q(y) = −P − ½ ln|I + KW|.
//
// If ln p is not concave, W may be negative and P may have several minima. The first steps, and
// those where the density does not bend down in every direction, take the curvatures of parabolas
// below ln p in place of W: such a step raises the density without halving. (For Student's
// distribution it is a step of the EM algorithm that Vanhatalo, Jylänki and Vehtari 2009 use.) The
// gap then only says how near f is to a maximum, which need not be the highest one.
func laplace(ctx context.Context, k *matrix, at func(i int, f float64) density) (*gaussian, error) {
	n := len(k.rows)
	q := &gaussian{k: k, root: make([]float64, n), a: make([]float64, n), g: make([]float64, n)}
	f, w, safe := make([]float64, n), make([]float64, n), make([]float64, n)
	concave := true
	look := func(f []float64) { // sets slopes and curvatures for f
		for i, v := range f {
			d := at(i, v)
			q.g[i], w[i], safe[i] = d.slope, d.curve, d.under
			concave = concave && d.curve == d.under
		}
	}
	primal := func(a, f []float64) float64 {
		sum := vec.Dot(a, f) / 2
		for i, v := range f {
			sum -= at(i, v).value
		}
		return sum
	}
	look(f)
	height := primal(q.a, f)
	// When the gap is small, one more step follows, whole: the method converges quadratically, and
	// P has too few digits to show that the step is better. If ln p is not concave, a minimum may be
	// nearly flat, where the last step is worth less, so it starts from a smaller gap.
	small := false
	negligible := smallGap
	for q.Status = solvers.IterationLimit; q.Iterations < newtonSteps; q.Iterations++ {
		if !concave {
			negligible = smallGap / 1000
		}
		apart := make([]float64, n)
		for i, a := range q.a {
			apart[i] = a - q.g[i]
		}
		if q.Gap = max(0, vec.Dot(apart, k.times(apart))/2); q.Gap <= negligible*(1+math.Abs(height)) {
			if small {
				q.Status = solvers.Converged
				break
			}
			small = true
		}
		// step returns the place to which the curvatures lead, and P there.
		step := func(w []float64) (a, to []float64, h float64, err error) {
			if err := q.curve(ctx, w); err != nil {
				return nil, nil, math.Inf(1), err
			}
			b := make([]float64, n)
			for i, v := range f {
				b[i] = w[i]*v + q.g[i]
			}
			a = q.less(b)
			to = k.times(a)
			return a, to, primal(a, to), nil
		}
		var next, to []float64
		h, better := math.Inf(1), false
		if concave || q.Iterations >= careful {
			var err error
			if next, to, h, err = step(w); err != nil && err != errNoMaximum {
				return nil, err
			}
			better = next != nil && (h < height || small)
			for try := 0; concave && !better && try < halvings; try++ {
				for i := range next {
					next[i] = (next[i] + q.a[i]) / 2
				}
				to = k.times(next)
				h = primal(next, to)
				better = h < height
			}
		}
		if !better && !concave {
			var err error
			if next, to, h, err = step(safe); err != nil {
				return nil, err
			}
			better = h < height || small
		}
		if !better { // only rounding is left
			q.Status = solvers.Exhausted
			break
		}
		q.a, f, height = next, to, h
		look(f)
	}
	if err := q.curve(ctx, w); err != nil {
		return nil, err
	}
	q.logZ = -height - q.logDet/2
	return q, q.sensitivity(ctx, f, at)
}

const (
	newtonSteps = 200
	careful     = 5    // first steps if ln p is not concave
	smallGap    = 1e-9 // relative
	halvings    = 40
)

// sensitivity sets u of ∂ ln q = … + u'∂K ∇. As f̂ = K ∇(f̂), ∂f̂ = (I + KW)⁻¹ ∂K ∇, and ln|I + KW|
// depends on f̂_i by −½ Σ_ii ∂W_i/∂f_i with Σ = (K⁻¹ + W)⁻¹ (Rasmussen and Williams 2006, §5.5.1,
// where eq. 5.23 has the third derivative of ln p, which is −∂W/∂f, with the sign of ∂W/∂f).
func (q *gaussian) sensitivity(ctx context.Context, f []float64, at func(i int, f float64) density) error {
	v, err := q.variances(ctx)
	if err != nil {
		return err
	}
	s := make([]float64, len(f))
	for i, f := range f {
		s[i] = -v[i] * at(i, f).bend / 2
	}
	q.u = q.less(s) // (I + WK)⁻¹ s
	return nil
}

// ofClass is the density of a class y = ±1 by the logistic function.
func ofClass(y, f float64) density {
	w := logistic(f) * logistic(-f)
	return density{value: -softplus(-y * f), slope: y * logistic(-y*f), curve: w, bend: w * (1 - 2*logistic(f)), under: w}
}
