package gp

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/svmnb/svmnb/internal/parallel"
	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/solvers/linear"
)

// approximation is a Gaussian in place of the posterior of f at the n training points.
type approximation interface {
	how() ApproximationRun

	// evidence returns the approximate log marginal likelihood.
	evidence() float64

	// weights returns row i, up to the diagonal, of the symmetric matrix whose product with ∂K
	// is the derivative of the evidence. Rows are asked for from the last to the first.
	weights(ctx context.Context) (row func(i int) []float64, err error)

	// latent returns, from the prior variance and the n covariances of f at one point with the
	// training points, its mean and covariance in the approximation: one latent function for
	// two classes, k for k classes.
	latent(prior float64, cross []float64) (mean []float64, cov [][]float64)

	// probability returns the probability of each class from mean and covariance.
	probability(mean []float64, cov [][]float64) []float64
}

// matrix is a symmetric matrix in memory.
type matrix struct {
	rows [][]float64
	diag []float64
}

func (m *matrix) Dim() int            { return len(m.rows) }
func (m *matrix) Diag() []float64     { return m.diag }
func (m *matrix) Row(i int) []float64 { return m.rows[i] }

// times returns the product with x.
func (m *matrix) times(x []float64) []float64 {
	y := make([]float64, len(x))
	const strip = 64
	parallel.Do((len(x)+strip-1)/strip, len(x)*len(x), func(t int) {
		for i := t * strip; i < min((t+1)*strip, len(x)); i++ {
			y[i] = vec.Dot(m.rows[i], x)
		}
	})
	return y
}

// scaled is diag(s) K diag(s). It is read by one goroutine.
type scaled struct {
	*matrix
	s, row, diag []float64
}

func (m *scaled) Diag() []float64 { return m.diag }

func (m *scaled) Row(i int) []float64 {
	for j, v := range m.rows[i] {
		m.row[j] = m.s[i] * v * m.s[j]
	}
	return m.row
}

// factorOf returns Cholesky's factor of B = I + diag(s) K diag(s), whose eigenvalues are at
// least 1.
func factorOf(ctx context.Context, k *matrix, s []float64) (*linear.CholeskyFactor, error) {
	n := len(s)
	m := &scaled{k, s, make([]float64, n), make([]float64, n)}
	one := make([]float64, n)
	for i, v := range k.diag {
		m.diag[i], one[i] = s[i]*v*s[i], 1
	}
	return linear.Cholesky{}.Factor(ctx, &linear.System{K: m, Noise: one})
}

// gaussian is an approximation of one latent function: a posterior of mean K a and covariance
// (K⁻¹ + W)⁻¹ with W diagonal. With S = diag(root), root = √max(W, 0), and B = I + S K S,
//
//	(K⁻¹ + W)⁻¹ = K − K E K,  E = S B⁻¹ S − H H',
//
// where H is empty unless some W are negative; see curve.
type gaussian struct {
	ApproximationRun
	k      *matrix
	root   []float64
	factor *linear.CholeskyFactor // of B
	h      [][]float64            // n rows of H; nil if it is empty
	w      []float64              // W, as curve was given it; nil for EP, where W is root²
	logDet float64                // ln|I + KW|
	a      []float64
	logZ   float64

	// sensitivity, u and g, adds ½(u g' + g u') to the weights; nil for none.
	u, g []float64

	sigma func(mean, variance float64) float64 // the probability of the positive class
}

func (q *gaussian) how() ApproximationRun { return q.ApproximationRun }
func (q *gaussian) evidence() float64     { return q.logZ }

// curve sets root, factor, H and logDet for W. The q negative entries of W are a term −VV', of q
// columns V with one entry each. With E₊ = S B⁻¹ S, U = (I − E₊K)V and C = I − V'(K − KE₊K)V, the
// formula of Woodbury gives E = E₊ − UC⁻¹U' and ln|I + KW| = ln|B| + ln|C| (Vanhatalo, Jylänki and
// Vehtari 2009 make q updates of rank one). C is positive definite where the posterior density
// bends down in every direction; elsewhere the error is errNoMaximum.
func (q *gaussian) curve(ctx context.Context, w []float64) (err error) {
	var at []int
	var v []float64
	for i, w := range w {
		if q.root[i] = math.Sqrt(max(0, w)); w < 0 {
			at, v = append(at, i), append(v, math.Sqrt(-w))
		}
	}
	q.h, q.w = nil, slices.Clone(w)
	if q.factor, err = factorOf(ctx, q.k, q.root); err != nil {
		return err
	}
	if q.logDet = q.factor.LogDet(); at == nil {
		return nil
	}
	u := several(len(at), 0)
	for c, j := range at {
		e := make([]float64, len(w))
		e[j] = v[c]
		u[c] = q.less(e)
	}
	c := square(several(len(at), len(at)))
	for l := range at {
		ku := q.k.times(u[l])
		for j, i := range at {
			c[j][l] = -v[j] * ku[i]
		}
		c[l][l]++
	}
	for j := range c { // rounding errors made it slightly asymmetric
		copy(c[j][j+1:], column(c[j+1:], j))
	}
	factor, err := linear.Cholesky{}.Factor(ctx, &linear.System{K: c})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return errNoMaximum
	}
	q.logDet += factor.LogDet()
	q.h = several(len(w), len(at))
	for i, row := range q.h {
		for c := range u {
			row[c] = u[c][i]
		}
		factor.HalfSolve(row, row)
	}
	return nil
}

var errNoMaximum = errors.New("the density does not bend down in every direction there; raise NoiseVariance or nu")

func column(rows [][]float64, j int) []float64 {
	v := make([]float64, len(rows))
	for i, row := range rows {
		v[i] = row[j]
	}
	return v
}

// inH returns H'x.
func (q *gaussian) inH(x []float64) []float64 {
	if q.h == nil {
		return nil
	}
	sum := make([]float64, len(q.h[0]))
	for i, row := range q.h {
		vec.Axpy(sum, x[i], row)
	}
	return sum
}

// less returns x − E K x.
func (q *gaussian) less(x []float64) []float64 {
	t := q.k.times(x)
	back := q.inH(t)
	for i, r := range q.root {
		t[i] *= r
	}
	q.factor.Solve(t, t)
	for i, r := range q.root {
		t[i] = x[i] - r*t[i]
		if back != nil {
			t[i] += vec.Dot(q.h[i], back)
		}
	}
	return t
}

// variances returns the diagonal of K − KEK. Without H it is S⁻¹(I − B⁻¹)S⁻¹ too, which costs little
// but cancels where S is small.
func (q *gaussian) variances(ctx context.Context) ([]float64, error) {
	inverse, err := q.factor.InverseLower(ctx)
	if err != nil {
		return nil, err
	}
	v, row := make([]float64, len(q.root)), []float64(nil)
	for i, r := range q.root {
		if r*r*q.k.diag[i] >= 1e-6 {
			row = inverse.Row(row, i)
			v[i] = (1 - row[i]) / (r * r)
			back := q.inH(q.k.rows[i])
			v[i] += vec.Dot(back, back)
			continue
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		v[i] = q.variance(q.k.diag[i], q.k.rows[i])
	}
	return v, nil
}

// variance returns prior − u'E u.
func (q *gaussian) variance(prior float64, u []float64) float64 {
	t := make([]float64, len(u))
	for j, r := range q.root {
		t[j] = r * u[j]
	}
	q.factor.HalfSolve(t, t)
	back := q.inH(u)
	return max(0, prior-vec.Dot(t, t)+vec.Dot(back, back))
}

// weights implements approximation. ∂ ln Z = ½ a'∂K a − ½ tr(E ∂K), and for Laplace's
// approximation u'∂K g in addition, as its maximum moves.
func (q *gaussian) weights(ctx context.Context) (func(i int) []float64, error) {
	inverse, err := q.factor.InverseLower(ctx)
	if err != nil {
		return nil, err
	}
	n := len(q.a)
	row, out := make([]float64, n), make([]float64, n)
	return func(i int) []float64 {
		for j, v := range inverse.Row(row, i) {
			out[j] = (q.a[i]*q.a[j] - q.root[i]*v*q.root[j]) / 2
			if q.h != nil {
				out[j] += vec.Dot(q.h[i], q.h[j]) / 2
			}
			if q.u != nil {
				out[j] += (q.u[i]*q.g[j] + q.g[i]*q.u[j]) / 2
			}
		}
		return out
	}, nil
}

func (q *gaussian) latent(prior float64, cross []float64) ([]float64, [][]float64) {
	return []float64{vec.Dot(cross, q.a)}, [][]float64{{q.variance(prior, cross)}}
}

func (q *gaussian) probability(mean []float64, cov [][]float64) []float64 {
	p := q.sigma(mean[0], cov[0][0])
	return []float64{1 - p, p}
}

// logistic returns 1/(1 + exp(−f)).
func logistic(f float64) float64 {
	if f < 0 {
		e := math.Exp(f)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-f))
}

// softplus returns ln(1 + exp(f)).
func softplus(f float64) float64 { return max(f, 0) + math.Log1p(math.Exp(-math.Abs(f))) }

// meanLogistic returns the mean of the logistic function of a normal variable. The trapezoidal
// rule has an error of about exp(−2π²/hs) for steps of h standard deviations s, since the poles
// of the function are at ±iπ.
func meanLogistic(mean, variance float64) float64 {
	s := math.Sqrt(variance)
	h := min(0.4, 0.6/s)
	const far = 8.5 // standard deviations; the rest has a probability of 2e-17
	steps := math.Ceil(far / h)
	if !(steps <= 1e5) { // the function is a step
		return normal(mean / s)
	}
	sum, weight := 0.0, 0.0
	for i := -steps; i <= steps; i++ {
		w := math.Exp(-i * h * i * h / 2)
		sum, weight = sum+w*logistic(mean+s*i*h), weight+w
	}
	return sum / weight
}

// normal returns Φ(z), the cumulative normal distribution.
func normal(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// logNormal returns ln Φ(z) and its derivative φ(z)/Φ(z).
func logNormal(z float64) (value, slope float64) {
	if z > -20 {
		p := normal(z)
		return math.Log(p), math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) / p
	}
	// Φ(z) = φ(z)/−z · (1 − 1/z² + 3/z⁴ − 15/z⁶ + …), with an error of 1e-13 at −20.
	w := 1 / (z * z)
	series := 1 - w*(1-w*(3-w*(15-w*(105-w*(945-w*10395)))))
	return -z*z/2 - math.Log(-z) - math.Log(2*math.Pi)/2 + math.Log(series), -z / series
}
