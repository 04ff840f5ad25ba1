package chol

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"github.com/svmnb/svmnb/internal/parallel"
)

// LowRank is the matrix Q = VV' + diag(ridge), where V is n × r, for example from [Pivoted].
//
// The matrix M = Q + diag(d) has the form diag + Σ v_k v_k'. It is factored in product form
// (Fine and Scheinberg 2001, §3; Goldfarb and Scheinberg 2004), one term M_k = M_{k−1} + v_k
// v_k' after the other:
//
//	M = L_1 ⋯ L_r D L_r' ⋯ L_1',  (L_k)_ij = p_ik β_jk for i > j, 1 for i = j,
//	p_k = L_{k−1}⁻¹ ⋯ L_1⁻¹ v_k,  t_j = t_{j−1} + p_jk²/d_j,  β_jk = p_jk/(d_j t_j),  d_j ← d_j t_j/t_{j−1}.
//
// This takes O(n r²) like the Sherman–Morrison–Woodbury formula. Near the bounds d ranges from
// 1e-12 to 1e12, and the product form keeps the digits that the formula then loses by
// cancellation.
type LowRank struct {
	r       int
	v       []float64 // n × r, row by row
	ridge   []float64
	p, beta []float64 // n × r
	d       []float64
	s       []float64 // r sums of a solution
	sums    []float64 // r × r sums of a factorisation
}

// Matrix is a symmetric matrix that is read by rows. A row stays valid until the next one is
// asked for.
type Matrix interface {
	Dim() int
	Diag() []float64
	Row(i int) []float64
}

// IndefiniteError says that a matrix is not positive semi-definite: in the given row, what the
// factorisation leaves of the diagonal is the negative Value.
type IndefiniteError struct {
	Row   int
	Value float64
}

func (e *IndefiniteError) Error() string {
	return fmt.Sprintf("the matrix is not positive semi-definite: row %d leaves %.3g", e.Row, e.Value)
}

// pivotRows is the number of entries of a column that stay in the first-level cache.
const pivotRows = 1024

// Pivoted returns the columns of the incomplete Cholesky factor V of K, with diagonal pivots
// (Fine and Scheinberg 2001, §4). Each column takes the point whose diagonal entry is
// approximated worst, and reads one row of K. K is otherwise read on the diagonal only. K −
// VV' is positive semi-definite.
//
// There are at most rank columns of n entries; rank 0 means n. There are fewer if the trace of
// K − VV' falls to loss times that of K, or to rounding. The error is context.Cause(ctx) or an
// *[IndefiniteError].
func Pivoted(ctx context.Context, k Matrix, rank int, loss float64) (columns [][]float64, err error) {
	n := k.Dim()
	left := append([]float64(nil), k.Diag()...)
	trace, largest := 0.0, 0.0
	for _, v := range left {
		trace += max(v, 0)
		largest = max(largest, v)
	}
	for len(columns) < n && (rank == 0 || len(columns) < rank) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
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
		parallel.Do((n+pivotRows-1)/pivotRows, len(columns)*n, func(t int) {
			part := c[t*pivotRows : min((t+1)*pivotRows, n)]
			for _, old := range columns {
				v := old[pivot]
				for i, o := range old[t*pivotRows:][:len(part)] {
					part[i] -= v * o
				}
			}
		})
		root := math.Sqrt(left[pivot])
		for i := range c {
			c[i] /= root
			if left[i] -= c[i] * c[i]; left[i] < -1e-6*largest {
				return nil, &IndefiniteError{i, left[i]}
			}
		}
		left[pivot] = 0
		columns = append(columns, c)
	}
	return columns, nil
}

// NewLowRank returns VV' + diag(ridge), where V is diag(s) times the columns. A nil ridge
// means 0.
func NewLowRank(columns [][]float64, s, ridge []float64) *LowRank {
	n, r := len(s), len(columns)
	q := &LowRank{
		r: r, ridge: ridge, v: make([]float64, n*r), p: make([]float64, n*r), beta: make([]float64, n*r),
		d: make([]float64, n), s: make([]float64, r), sums: make([]float64, r*r),
	}
	for k, c := range columns {
		for i, v := range c {
			q.v[i*r+k] = s[i] * v
		}
	}
	return q
}

// Rank returns r, and Row returns row i of V, r numbers.
func (q *LowRank) Rank() int           { return q.r }
func (q *LowRank) Row(i int) []float64 { return q.v[i*q.r : (i+1)*q.r] }

// D returns the diagonal of D, n numbers. Their product is the determinant of M.
func (q *LowRank) D() []float64 { return q.d }

// Mul sets y to Qx.
func (q *LowRank) Mul(y, x []float64) {
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

// Factor prepares Solve for M = Q + diag(d). It reports false if an entry of ridge + d is not
// positive. It makes one pass over the rows of V. Row k of sums has, for each later column,
// the sums over the rows so far that L_k⁻¹ needs.
func (q *LowRank) Factor(ctx context.Context, d []float64) (bool, error) {
	r := q.r
	copy(q.p, q.v)
	clear(q.sums)
	t := q.s
	for k := range t {
		t[k] = 1
	}
	for i, di := range d {
		if i%1024 == 0 && ctx.Err() != nil {
			return false, context.Cause(ctx)
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

// Solve sets x to M⁻¹x.
func (q *LowRank) Solve(x []float64) {
	n := len(x)
	threads := min(runtime.GOMAXPROCS(0), q.r/pipeColumns, n*q.r>>18)
	if threads < 2 { // this branch allocates nothing
		clear(q.s)
		q.forward(x, 0, n, 0, q.r)
		clear(q.s)
		q.backward(x, 0, n, 0, q.r)
		return
	}
	blocks := (n + pipeRows - 1) / pipeRows
	q.pipe(threads, blocks, func(b, k0, k1 int) {
		q.forward(x, b*pipeRows, min((b+1)*pipeRows, n), k0, k1)
	})
	q.pipe(threads, blocks, func(b, k0, k1 int) {
		b = blocks - 1 - b
		q.backward(x, b*pipeRows, min((b+1)*pipeRows, n), q.r-k1, q.r-k0)
	})
}

const (
	pipeRows    = 128 // number of rows that one goroutine passes on to the next at a time
	pipeColumns = 64  // number of columns that are worth a goroutine
)

// pipe calls do for every block of rows, in order, and in each block for all columns. Each
// goroutine has its own columns k0 ≤ k < k1, with their sums. It takes a block when the
// goroutine before it is done with this block. So every number is computed from the same
// numbers in the same order, for any number of goroutines.
func (q *LowRank) pipe(threads, blocks int, do func(block, k0, k1 int)) {
	clear(q.s)
	var before chan struct{}
	for t := range threads {
		k0, k1 := t*q.r/threads, (t+1)*q.r/threads
		ready, done := before, make(chan struct{}, blocks)
		work := func() {
			for b := range blocks {
				if ready != nil {
					<-ready
				}
				do(b, k0, k1)
				done <- struct{}{}
			}
		}
		if t == threads-1 {
			work()
			return
		}
		go work()
		before = done
	}
}

// forward applies columns k0 ≤ k < k1 of L_r⁻¹ ⋯ L_1⁻¹ to the rows i of x with from ≤ i < to.
// After the last column it applies D⁻¹.
func (q *LowRank) forward(x []float64, from, to, k0, k1 int) {
	s := q.s[k0:k1]
	for i := from; i < to; i++ {
		p, beta, xi := q.p[i*q.r+k0:][:len(s)], q.beta[i*q.r+k0:][:len(s)], x[i]
		for k, pk := range p {
			xi -= pk * s[k]
			s[k] += beta[k] * xi
		}
		if k1 == q.r {
			xi /= q.d[i]
		}
		x[i] = xi
	}
}

// backward applies columns k0 ≤ k < k1 of L_1'⁻¹ ⋯ L_r'⁻¹ to the rows i of x with from ≤ i <
// to, from the last row and column to the first.
func (q *LowRank) backward(x []float64, from, to, k0, k1 int) {
	s := q.s[k0:k1]
	for i := to - 1; i >= from; i-- {
		p, beta, xi := q.p[i*q.r+k0:][:len(s)], q.beta[i*q.r+k0:][:len(s)], x[i]
		for k := len(s) - 1; k >= 0; k-- {
			xi -= beta[k] * s[k]
			s[k] += p[k] * xi
		}
		x[i] = xi
	}
}
