package gp

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/svmnb/svmnb/internal/parallel"
	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/solvers/linear"
)

// softmaxPosterior is Laplace's approximation for k classes (Rasmussen and Williams 2006,
// §3.5). Each class has a latent function, all with the covariance K, and the probabilities are
// softmax of these. With D = diag(π) and Π the k blocks diag(π_c) on top of each other, the
// curvature is W = D − ΠΠ', and
//
//	E_c = D_c^½ (I + D_c^½ K D_c^½)⁻¹ D_c^½,  M M' = Σ E_c,
//	(K + W⁻¹)⁻¹ = E − E R (M M')⁻¹ R'E,  ln|I + K W| = Σ ln|I + D_c^½ K D_c^½| + ln|M M'|,
//
// where R is k identities on top of each other. The last term follows from |I + K(D − ΠΠ')| =
// |I + KD| |I − Π'(K⁻¹ + D)⁻¹Π|, since (K⁻¹ + D)⁻¹ = D⁻¹ − D⁻¹ED⁻¹ and Π'D⁻¹Π = I. Their
// Algorithm 3.3 leaves it out.
type softmaxPosterior struct {
	ApproximationRun
	k      *matrix
	a      [][]float64 // by class; K a_c is the mean of f_c
	f      [][]float64 // K a
	e      [][][]float64
	m      *linear.CholeskyFactor
	logDet float64 // ln|I + KW|
	logZ   float64
}

func (q *softmaxPosterior) how() ApproximationRun { return q.ApproximationRun }
func (q *softmaxPosterior) evidence() float64     { return q.logZ }

// softmaxLaplace finds the maximum of the posterior by Newton's method (their Algorithm 3.3),
// with steps halved until the primal objective
//
//	P(a) = ½ Σ_c a_c'K a_c + Σ_i (ln Σ_c exp(f_ci) − f_{y_i,i})
//
// falls. Its dual at ∇ = y − π is −½ Σ_c ∇_c'K ∇_c + Σ_i H(π_i), H the entropy.
func softmaxLaplace(ctx context.Context, k *matrix, class []int, classes int) (*softmaxPosterior, error) {
	n := len(class)
	q := &softmaxPosterior{k: k, a: several(classes, n), f: several(classes, n)}
	primal := func(a, f [][]float64) float64 {
		sum := 0.0
		for c := range a {
			sum += vec.Dot(a[c], f[c]) / 2
		}
		for i, c := range class {
			sum += logSum(f, i) - f[c][i]
		}
		return sum
	}
	pi := several(classes, n)
	height := primal(q.a, q.f)
	small := false // see laplace
	for q.Status = solvers.IterationLimit; q.Iterations < newtonSteps; q.Iterations++ {
		softmax(pi, q.f)
		dual := 0.0
		grad := several(classes, n)
		for c := range grad {
			for i, p := range pi[c] {
				if grad[c][i] = -p; class[i] == c {
					grad[c][i] = 1 - p
				}
				if p > 0 {
					dual -= p * math.Log(p)
				}
			}
			dual -= vec.Dot(grad[c], k.times(grad[c])) / 2
		}
		if q.Gap = max(0, height-dual); q.Gap <= smallGap*(1+height) {
			if small {
				q.Status = solvers.Converged
				break
			}
			small = true
		}
		if err := q.curve(ctx, pi); err != nil {
			return nil, err
		}
		// b = W f + ∇, a = b − (K + W⁻¹)⁻¹ K b
		b, kb := several(classes, n), several(classes, n)
		for i := range n {
			mean := 0.0
			for c := range pi {
				mean += pi[c][i] * q.f[c][i]
			}
			for c := range pi {
				b[c][i] = pi[c][i]*(q.f[c][i]-mean) + grad[c][i]
			}
		}
		for c := range b {
			kb[c] = k.times(b[c])
		}
		next := q.precision(kb)
		for c := range next {
			for i, v := range next[c] {
				next[c][i] = b[c][i] - v
			}
		}
		better := false
		for range halvings {
			f := several(classes, 0)
			for c := range f {
				f[c] = k.times(next[c])
			}
			if h := primal(next, f); h < height || small {
				q.a, q.f, height, better = next, f, h, true
				break
			}
			for c := range next {
				for i := range next[c] {
					next[c][i] = (next[c][i] + q.a[c][i]) / 2
				}
			}
		}
		if !better {
			q.Status = solvers.Exhausted
			break
		}
	}
	softmax(pi, q.f)
	if err := q.curve(ctx, pi); err != nil {
		return nil, err
	}
	q.logZ = -height - q.logDet/2
	return q, nil
}

// curve computes E, M and ln|I + KW| for the probabilities π.
func (q *softmaxPosterior) curve(ctx context.Context, pi [][]float64) error {
	n := len(q.k.rows)
	sum := &matrix{rows: several(n, n), diag: make([]float64, n)}
	q.e, q.logDet = q.e[:0], 0
	for _, p := range pi {
		root := make([]float64, n)
		for i, v := range p {
			root[i] = math.Sqrt(v)
		}
		factor, err := factorOf(ctx, q.k, root)
		if err != nil {
			return err
		}
		e, err := factor.Inverse(ctx)
		if err != nil {
			return err
		}
		for i, row := range e {
			for j := range row {
				row[j] *= root[i] * root[j]
				sum.rows[i][j] += row[j]
			}
		}
		q.e, q.logDet = append(q.e, e), q.logDet+factor.LogDet()
	}
	for i, row := range sum.rows {
		sum.diag[i] = row[i]
	}
	var err error
	if q.m, err = (linear.Cholesky{}).Factor(ctx, &linear.System{K: sum}); err != nil {
		return err
	}
	q.logDet += q.m.LogDet()
	return nil
}

// precision returns (K + W⁻¹)⁻¹ x.
func (q *softmaxPosterior) precision(x [][]float64) [][]float64 {
	y, sum := several(len(x), 0), make([]float64, len(x[0]))
	for c := range x {
		y[c] = (&matrix{rows: q.e[c]}).times(x[c])
		vec.Axpy(sum, 1, y[c])
	}
	q.m.Solve(sum, sum)
	for c := range y {
		vec.Axpy(y[c], -1, (&matrix{rows: q.e[c]}).times(sum))
	}
	return y
}

// weights implements approximation. With Σ = (K⁻¹ + W)⁻¹ and ∇ = a, the derivative is
//
//	½ Σ_c a_c'∂K a_c − ½ Σ_c tr([(K + W⁻¹)⁻¹]_cc ∂K) + Σ_c u_c'∂K a_c,
//	u = (I − (K + W⁻¹)⁻¹K)s,  s_ei = −½ Σ_cd Σ_{ci,di} ∂W_{ci,di}/∂f_ei.
func (q *softmaxPosterior) weights(ctx context.Context) (func(i int) []float64, error) {
	classes, n := len(q.a), len(q.k.rows)
	v, p := make([][][]float64, classes), make([][][]float64, classes) // rows i: M⁻¹ E_c K e_i and M⁻¹ E_c e_i
	own := several(classes, n)                                         // k_i'E_c k_i
	for c := range v {
		ek := product(q.e[c], q.k.rows)
		for i := range n {
			for j, x := range q.k.rows[i] {
				own[c][i] += x * ek[j][i]
			}
		}
		v[c] = transposed(ek)
		p[c] = transposed(q.e[c])
		if err := q.m.HalfSolveAll(ctx, v[c]); err != nil {
			return nil, err
		}
		if err := q.m.HalfSolveAll(ctx, p[c]); err != nil {
			return nil, err
		}
	}
	pi, s := several(classes, n), several(classes, n)
	softmax(pi, q.f)
	for i := range n {
		// ∂W_cd/∂f_e with π' = ∂π_c/∂f_e = π_c(δ_ce − π_e): δ_cd π_c' − π_c'π_d − π_cπ_d'. Then
		// Σ_cd Σ_cd ∂W_cd/∂f_e = Σ_c π_c' (Σ_cc − 2 Σ_d Σ_cd π_d).
		t := make([]float64, classes)
		for c := range classes {
			for d := range classes {
				cov := vec.Dot(v[c][i], v[d][i])
				if c == d {
					cov += q.k.diag[i] - own[c][i]
					t[c] += cov
				}
				t[c] -= 2 * cov * pi[d][i]
			}
		}
		for e := range classes {
			for c := range classes {
				slope := -pi[c][i] * pi[e][i]
				if c == e {
					slope += pi[c][i]
				}
				s[e][i] -= slope * t[c] / 2
			}
		}
	}
	ks := several(classes, 0)
	for c := range ks {
		ks[c] = q.k.times(s[c])
	}
	u := q.precision(ks)
	for c := range u {
		for i, x := range u[c] {
			u[c][i] = s[c][i] - x
		}
	}
	out := make([]float64, n)
	return func(i int) []float64 {
		for j := range i + 1 {
			w := 0.0
			for c, a := range q.a {
				w += a[i]*a[j] - q.e[c][i][j] + vec.Dot(p[c][i], p[c][j]) + u[c][i]*a[j] + a[i]*u[c][j]
			}
			out[j] = w / 2
		}
		return out
	}, nil
}

func (q *softmaxPosterior) latent(prior float64, cross []float64) ([]float64, [][]float64) {
	classes := len(q.a)
	mean, cov := make([]float64, classes), several(classes, classes)
	half := several(classes, 0)
	for c, a := range q.a {
		mean[c] = vec.Dot(a, cross)
		e := (&matrix{rows: q.e[c]}).times(cross)
		cov[c][c] = prior - vec.Dot(cross, e)
		half[c] = q.m.HalfSolve(nil, e)
	}
	for c := range cov {
		for d := range cov {
			cov[c][d] += vec.Dot(half[c], half[d])
		}
		cov[c][c] = max(0, cov[c][c])
	}
	return mean, cov
}

// draws is the number of latent vectors, and of their mirror images, over which probabilities
// are averaged. Their standard error is below 0.01.
const draws = 2000

// probability averages softmax over the Gaussian, with draws that are always the same.
func (q *softmaxPosterior) probability(mean []float64, cov [][]float64) []float64 {
	k := len(mean)
	root := several(k, k) // Cholesky's factor of cov, with columns of 0 where rounding leaves nothing
	for j := range k {
		left := cov[j][j]
		for c := range j {
			left -= root[j][c] * root[j][c]
		}
		if left <= 1e-12*cov[j][j] {
			continue
		}
		root[j][j] = math.Sqrt(left)
		for i := j + 1; i < k; i++ {
			v := cov[i][j]
			for c := range j {
				v -= root[i][c] * root[j][c]
			}
			root[i][j] = v / root[j][j]
		}
	}
	rng := rand.New(rand.NewPCG(1, uint64(k)))
	p, z := make([]float64, k), make([]float64, k)
	one, pi := several(k, 1), several(k, 1)
	for range draws {
		for c := range z {
			z[c] = rng.NormFloat64()
		}
		for sign := 1.0; sign >= -1; sign -= 2 {
			for c := range k {
				one[c][0] = mean[c] + sign*vec.Dot(root[c][:c+1], z[:c+1])
			}
			softmax(pi, one)
			for c := range p {
				p[c] += pi[c][0] / (2 * draws)
			}
		}
	}
	return p
}

// several returns count vectors of n zeros.
func several(count, n int) [][]float64 {
	v := make([][]float64, count)
	for c := range v {
		v[c] = make([]float64, n)
	}
	return v
}

// logSum returns ln Σ_c exp(f_ci).
func logSum(f [][]float64, i int) float64 {
	most, sum := math.Inf(-1), 0.0
	for _, v := range f {
		most = max(most, v[i])
	}
	for _, v := range f {
		sum += math.Exp(v[i] - most)
	}
	return most + math.Log(sum)
}

// softmax sets π_ci to exp(f_ci)/Σ_d exp(f_di).
func softmax(pi, f [][]float64) {
	for i := range pi[0] {
		l := logSum(f, i)
		for c := range f {
			pi[c][i] = math.Exp(f[c][i] - l)
		}
	}
}

// product returns the product of two square matrices.
func product(a, b [][]float64) [][]float64 {
	n := len(a)
	var right simd.Panels[float64]
	right.Pack(simd.Matrix[float64]{Data: slices.Concat(b...), Rows: n, Cols: n, Stride: n}, 0)
	out := several(n, n)
	const strip = 128
	parallel.Do((n+strip-1)/strip, n*n, func(t int) {
		from, to := t*strip, min((t+1)*strip, n)
		c := make([]float64, (to-from)*n)
		simd.Gemm[float64]{Threads: 1}.Do(simd.Matrix[float64]{Data: c, Rows: to - from, Cols: n, Stride: n},
			simd.Matrix[float64]{Data: slices.Concat(a[from:to]...), Rows: to - from, Cols: n, Stride: n}, &right)
		for i := from; i < to; i++ {
			copy(out[i], c[(i-from)*n:])
		}
	})
	return out
}

func transposed(a [][]float64) [][]float64 {
	t := several(len(a), len(a))
	for i, row := range a {
		for j, v := range row {
			t[j][i] = v
		}
	}
	return t
}
