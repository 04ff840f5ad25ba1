package solvers

import (
	"context"
	"errors"
	"math"
)

// lowRank is Q ≈ VV' + diag(ridge), V of n × r, from the incomplete Cholesky
// factorisation of K with diagonal pivots (Fine and Scheinberg 2001, §4): each
// column takes the point whose diagonal is approximated worst, and one row of K.
// What is left out is positive semi-definite, so the approximation is ⪯ Q.
//
// M = diag(d) + Σ v_k v_k' is factored in product form (ibid., §3; Goldfarb and
// Scheinberg 2004): as M_k = M_{k−1} + v_k v_k',
//
//	M = L_1 ⋯ L_r D L_r' ⋯ L_1',  (L_k)_ij = p_ik β_jk for i > j, 1 for i = j,
//	p_k = L_{k−1}⁻¹ ⋯ L_1⁻¹ v_k,  t_j = t_{j−1} + p_jk²/d_j,  β_jk = p_jk/(d_j t_j),  d_j ← d_j t_j/t_{j−1}.
//
// That is O(n r²) like the Sherman–Morrison–Woodbury formula, and where d runs
// from 1e-12 to 1e12, as it does near the bounds, keeps the digits that the
// formula loses by cancellation.
type lowRank struct {
	rank int
	loss float64

	r       int       // columns that were needed
	v       []float64 // n × r, row by row
	ridge   []float64
	p, beta []float64 // n × r
	d       []float64
	s       []float64 // r sums
	sums    []float64 // r × r
}

// approximate takes at most rank columns (0 means n), fewer when what is left of
// the trace of K is at most loss of it or rounding.
func (q *lowRank) approximate(ctx context.Context, p *Problem) error {
	columns, err := pivoted(ctx, p.K, q.rank, q.loss)
	var indefinite *IndefiniteError
	if errors.As(err, &indefinite) {
		return errIndefinite
	}
	if err != nil {
		return err
	}
	q.keep(columns, p.S, p.Ridge)
	return nil
}

// pivoted returns the columns of the incomplete Cholesky factor of K, of which only
// the diagonal and the rows of the pivots are asked for.
func pivoted(ctx context.Context, k Matrix, rank int, loss float64) (columns [][]float64, err error) {
	n := k.Dim()
	left := append([]float64(nil), k.Diag()...)
	trace, largest := 0.0, 0.0
	for _, v := range left {
		trace += max(v, 0)
		largest = max(largest, v)
	}
	for len(columns) < n && (rank == 0 || len(columns) < rank) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		pivot, sum := 0, 0.0
		for i, v := range left {
			sum += max(v, 0)
			if v > left[pivot] {
				pivot = i
			}
		}
		if !(left[pivot] > float64(n)*0x1p-52*largest) || sum <= loss*trace {
			break
		}
		c := append([]float64(nil), k.Row(pivot)...)
		for _, old := range columns {
			v := old[pivot]
			for i, o := range old {
				c[i] -= v * o
			}
		}
		root := math.Sqrt(left[pivot])
		for i := range c {
			c[i] /= root
			if left[i] -= c[i] * c[i]; left[i] < -1e-6*largest {
				return nil, &IndefiniteError{Row: i, Value: left[i], Need: -2 * left[i]}
			}
		}
		left[pivot] = 0
		columns = append(columns, c)
	}
	return columns, nil
}

// keep stores the columns, with the signs s.
func (q *lowRank) keep(columns [][]float64, s, ridge []float64) {
	n, r := len(s), len(columns)
	q.r, q.ridge = r, ridge
	q.v, q.p, q.beta = make([]float64, n*r), make([]float64, n*r), make([]float64, n*r)
	q.d, q.s, q.sums = make([]float64, n), make([]float64, r), make([]float64, r*r)
	for k, c := range columns {
		for i, v := range c {
			q.v[i*r+k] = s[i] * v
		}
	}
}

func (q *lowRank) mul(y, x []float64) {
	clear(q.s)
	for i, xi := range x {
		for k, v := range q.v[i*q.r : (i+1)*q.r] {
			q.s[k] += v * xi
		}
	}
	for i := range y {
		sum := 0.0
		for k, v := range q.v[i*q.r : (i+1)*q.r] {
			sum += v * q.s[k]
		}
		if q.ridge != nil {
			sum += q.ridge[i] * x[i]
		}
		y[i] = sum
	}
}

// factor goes through the rows of V once. Row k of sums has what L_k⁻¹ needs of
// the rows before, for each later column.
func (q *lowRank) factor(ctx context.Context, d []float64) (bool, error) {
	r := q.r
	copy(q.p, q.v)
	clear(q.sums)
	t := q.s
	for k := range t {
		t[k] = 1
	}
	for i, di := range d {
		if i%1024 == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		if q.ridge != nil {
			di += q.ridge[i]
		}
		if !(di > 0) {
			return false, nil
		}
		p, beta := q.p[i*r:(i+1)*r], q.beta[i*r:(i+1)*r]
		for k, pk := range p {
			next := t[k] + pk*pk/di
			b := pk / (di * next)
			di *= next / t[k]
			t[k], beta[k] = next, b
			later := p[k+1:]
			sums := q.sums[k*r+k+1 : (k+1)*r][:len(later)]
			for c, v := range later {
				s := sums[c]
				v -= pk * s
				later[c] = v
				sums[c] = s + b*v
			}
		}
		q.d[i] = di
	}
	return true, nil
}

func (q *lowRank) solve(x []float64) {
	r, s := q.r, q.s
	clear(s)
	for i, xi := range x {
		p, beta := q.p[i*r:(i+1)*r], q.beta[i*r:(i+1)*r]
		for k, pk := range p {
			xi -= pk * s[k]
			s[k] += beta[k] * xi
		}
		x[i] = xi / q.d[i]
	}
	clear(s)
	for i := len(x) - 1; i >= 0; i-- {
		p, beta, xi := q.p[i*r:(i+1)*r], q.beta[i*r:(i+1)*r], x[i]
		for k := r - 1; k >= 0; k-- {
			xi -= beta[k] * s[k]
			s[k] += p[k] * xi
		}
		x[i] = xi
	}
}
