package linear

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/gonum"

	"github.com/svmnb/svmnb/internal/vec"
)

// Probes are estimates of ln|A| and of traces tr(A⁻¹ ∂A) from random right-hand sides, without
// a factor of A. The evidence of a Gaussian process needs ln|A|, and its gradient the traces.
// See [Probe].
type Probes struct {
	LogDet      float64 // estimate of ln|A|
	LogDetError float64 // its standard error, from the variance over the probes
	LogDetWidth float64 // half the width of the interval that is left because the runs stopped early
	Solution    *Solution

	w [][]float64 // P⁻¹z_j; without preconditioner the probes themselves
}

// Probe solves A x_j = z_j for count ≥ 2 random probes z_j with E[zz'] = P, in one batch of
// CG. Without preconditioner P = I and the entries of z are ±1 (Hutchinson 1989; Gibbs and
// MacKay 1997, §3.2, after Skilling). With one, z = L g + diag(noise)^½ h, where g and h have
// entries ±1 (Gardner et al. 2018, §4.1). The same seed draws the same probes.
//
// LogDet is computed by stochastic Lanczos quadrature (Ubaru, Chen and Saad 2017). With T_j
// the tridiagonal matrix given by the coefficients of CG, and e_1 the first unit vector,
//
//	ln|A| ≈ ln|P| + (1/count) Σ_j z_j'P⁻¹z_j · e_1' ln(T_j) e_1.
//
// This is Gauss's quadrature, whose value is too large. The Gauss–Radau rule with a node at
// the least noise gives a value that is too small, since the derivatives of ln alternate in
// sign (Golub and Meurant 2010, §6). LogDet is the middle of the two.
//
// The default of set.Stop is Bounds{Rel: 1e-4}, because the error of the probes is larger.
// set.Start is ignored. The errors are those of Solve; an interrupt returns the estimates so
// far.
func Probe(ctx context.Context, s *System, m CG, count int, seed uint64, set Settings) (*Probes, error) {
	if count < 2 {
		return nil, wrong("count", -1, float64(count), "is %d; a standard error takes two probes, and ten or more are of use", count)
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	if ctx == nil {
		return nil, errNoContext
	}
	if s.theta() == 0 {
		return nil, wrong("Noise", -1, 0, "is 0 somewhere, or so small beside K that rounding hides it; probes need noise at every point")
	}
	if set.Start = nil; set.Stop == nil {
		set.Stop = Bounds{Rel: 1e-4}
	}
	if err := affordable(m, s.K.Dim(), count, set.Memory); err != nil {
		return nil, err
	}
	m.Rank = m.rank(s.K.Dim())
	method := probing{CG: m}
	if m.Rank > 0 {
		q := s.checked()
		p, err := q.precondition(ctx, m.Rank, func(string, float64) {})
		if bad := q.failed(); bad != nil {
			return nil, bad
		}
		if err != nil && ctx.Err() != nil {
			return nil, fmt.Errorf("linear: %s: %w", m.Name(), context.Cause(ctx))
		}
		if err != nil {
			return nil, err
		}
		method.p = p
	}
	n, rng := s.K.Dim(), rand.New(rand.NewPCG(seed, 0))
	z := make([][]float64, count)
	p := &Probes{w: z}
	for j := range z {
		z[j] = make([]float64, n)
		for i := range z[j] {
			z[j][i] = float64(2*rng.IntN(2) - 1)
		}
		if q := method.p; q != nil {
			g := make([]float64, q.Rank())
			for k := range g {
				g[k] = float64(2*rng.IntN(2) - 1)
			}
			for i := range z[j] {
				z[j][i] = z[j][i]*math.Sqrt(s.Noise[i]) + inner(q.Row(i), g)
			}
		}
	}
	sol, st, err := solve(ctx, s, z, method, set)
	if sol == nil {
		return nil, err
	}
	p.Solution = sol
	if method.p != nil {
		p.w = make([][]float64, count)
		for j := range p.w {
			p.w[j] = append([]float64(nil), z[j]...)
			method.p.Solve(p.w[j])
		}
	}
	values := make([]float64, count)
	for j := range values {
		c := st.(*cg)
		most, least := c.runs[j].logarithm(c.theta)
		values[j] = (most + least) / 2
		p.LogDetWidth += math.Abs(most-least) / 2 / float64(count)
	}
	if p.LogDet, p.LogDetError = mean(values); method.p != nil {
		for _, d := range method.p.D() {
			p.LogDet += math.Log(d)
		}
	}
	return p, err
}

// LogDet estimates ln|A| and the standard error by [Probe] with the zero CG.
func LogDet(ctx context.Context, s *System, probes int, seed uint64) (value, standardError float64, err error) {
	p, err := Probe(ctx, s, CG{}, probes, seed, Settings{})
	if p == nil {
		return math.NaN(), math.NaN(), err
	}
	return p.LogDet, p.LogDetError, err
}

// LogDetBounds returns bounds of ln|A|: Σ ln noise_i, because A ⪰ diag(noise), and Σ ln A_ii
// by Hadamard's inequality. For one noise θ they are n ln θ and at most n ln(tr A/n). The
// lower bound is −Inf if a noise is 0. Both are NaN for a system that Check refuses.
func (s *System) LogDetBounds() (lower, upper float64) {
	if s.Check() != nil {
		return math.NaN(), math.NaN()
	}
	for i, k := range s.K.Diag() {
		lower += math.Log(s.noise(i))
		upper += math.Log(k + s.noise(i))
	}
	return lower, upper
}

// Trace estimates tr(A⁻¹M) and the standard error. M is a symmetric n × n matrix, such as a
// derivative of A, and multiply sets dst to M v. The estimate is the mean of x_j'M P⁻¹z_j over
// the probes.
func (p *Probes) Trace(multiply func(dst, v []float64)) (value, standardError float64) {
	if p == nil || len(p.w) == 0 {
		return math.NaN(), math.NaN()
	}
	values := make([]float64, len(p.w))
	mw := make([]float64, len(p.w[0]))
	for j, w := range p.w {
		multiply(mw, w)
		values[j] = inner(p.Solution.X[j], mw)
	}
	return mean(values)
}

// InverseRow sets dst, of length n, to row i of an unbiased symmetric estimate of A⁻¹ and
// returns it. The estimate is Σ_j ½(x_j w_j' + w_j x_j')/count with w_j = P⁻¹z_j, the one
// behind Trace. Single entries are very inaccurate, but sums over all entries, as in
// gradients, are not.
func (p *Probes) InverseRow(dst []float64, i int) []float64 {
	clear(dst)
	scale := 0.5 / float64(len(p.w))
	for j, w := range p.w {
		x := p.Solution.X[j]
		vec.Axpy(dst, scale*x[i], w)
		vec.Axpy(dst, scale*w[i], x)
	}
	return dst
}

// probing is CG with a preconditioner that is given. It stores the coefficients of its
// iterations.
type probing struct {
	CG
	p *preconditioner
}

func (m probing) Start(s *System, b, x [][]float64) (Stepper, error) {
	st, err := m.CG.Start(s, b, x)
	if err != nil {
		return nil, err
	}
	c := st.(*cg)
	c.p, c.keep = m.p, true
	return c, nil
}

// quadrature is the largest number of nodes of an integral. With far fewer nodes the error of
// the probes dominates already.
const quadrature = 1000

// logarithm returns z'P⁻¹z e_1' ln(T) e_1 of a run, and the same with a node at theta. Both
// are NaN if the run made no iteration. Row k of T has 1/λ_k + γ_{k−1}/λ_{k−1} on the diagonal
// and √γ_k/λ_k beside it. For a node at theta, the last λ is replaced by the c of the
// Gauss–Radau bound (Meurant and Tichý 2013).
func (r *cgRun) logarithm(theta float64) (most, least float64) {
	k := min(len(r.lambda), quadrature)
	if k == 0 {
		return math.NaN(), math.NaN()
	}
	diag, off := make([]float64, k+1), make([]float64, k)
	c := 1 / theta
	for i, lambda := range r.lambda[:k] {
		diag[i] += 1 / lambda
		diag[i+1] = r.gamma[i] / lambda
		off[i] = math.Sqrt(r.gamma[i]) / lambda
		c = radau(c-lambda, r.gamma[i], theta)
	}
	rule := func(k int) float64 {
		sum, first := 0.0, make([]float64, k)
		for i, v := range tridiagonal(diag[:k], off[:k-1], first) {
			sum += first[i] * math.Log(v)
		}
		return r.start * sum
	}
	most = rule(k)
	diag[k] += 1 / c
	return most, rule(k + 1)
}

// mean returns the mean of the values and the standard error.
func mean(values []float64) (mean, standardError float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		standardError += (v - mean) * (v - mean) / (n - 1) / n
	}
	return mean, math.Sqrt(standardError)
}

// indefinite sets e.Need to the noise that A lacks, and returns e.
func (s *System) indefinite(ctx context.Context, e *IndefiniteError) (err error) {
	if e.Need, err = s.missing(ctx); err != nil {
		return err
	}
	return e
}

// missing estimates from above how much noise A lacks to be positive definite in floating
// point. If the smallest eigenvalue, found by Lanczos, is negative, this is twice its absolute
// value; otherwise it is the rounding error of a singular matrix.
func (s *System) missing(ctx context.Context) (float64, error) {
	n := s.K.Dim()
	rng := rand.New(rand.NewPCG(1, 1))
	v, before, w := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	var diag, off []float64
	var basis [][]float64 // kept to orthogonalise the next vectors
	length := norm(v)
	for range min(n, 60) {
		for i := range v {
			v[i] /= length
		}
		basis = append(basis, append([]float64(nil), v...))
		if err := s.Times(ctx, [][]float64{w}, [][]float64{v}); err != nil {
			return 0, err
		}
		diag = append(diag, inner(v, w))
		for range 2 {
			for _, u := range basis {
				vec.Axpy(w, -inner(u, w), u)
			}
		}
		before, v, w = v, w, before
		if length = norm(v); !(length > 1e-14*math.Abs(diag[0])) {
			break
		}
		off = append(off, length)
	}
	values := tridiagonal(diag, off, nil)
	size := max(math.Abs(values[0]), math.Abs(values[len(values)-1]))
	return max(-2*values[0], 4*float64(n)*0x1p-52*size), nil
}

// tridiagonal returns the eigenvalues, in ascending order, of the symmetric tridiagonal matrix
// with the given diagonal and off-diagonal. If first is not nil, it is set to the squares of
// the first components of the eigenvectors, the weights of Gauss's quadrature (Golub and
// Welsch 1969).
func tridiagonal(diag, off, first []float64) []float64 {
	k := len(diag)
	d, e := append([]float64(nil), diag...), append([]float64(nil), off...)[:k-1]
	z, job := []float64(nil), lapack.EVCompNone
	if first != nil {
		z, job = make([]float64, k*k), lapack.EVTridiag
	}
	gonum.Implementation{}.Dsteqr(job, k, d, e, z, k, make([]float64, max(1, 2*k-2)))
	for j := range first {
		first[j] = z[j] * z[j]
	}
	return d
}

// Len returns the number of probes.
func (p *Probes) Len() int { return len(p.w) }

// Pair returns x_j = A⁻¹z_j and w_j = P⁻¹z_j of probe j, each of length n. x_j'Mw_j is an
// unbiased estimate of tr(A⁻¹M). The caller must not write to them.
func (p *Probes) Pair(j int) (x, w []float64) { return p.Solution.X[j], p.w[j] }
