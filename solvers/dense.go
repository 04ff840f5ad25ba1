package solvers

import (
	"context"
	"fmt"
	"math"

	"github.com/svmnb/svmnb/internal/simd"
)

// quadratic is the Q of a problem as an interior-point method needs it.
type quadratic interface {
	// mul sets y = Qx.
	mul(y, x []float64)
	// factor prepares solve for M = Q + diag(d). A coordinate whose d is +Inf
	// is held at 0. It reports false if M is not positive definite.
	factor(ctx context.Context, d []float64) (ok bool, err error)
	// solve sets x to M⁻¹x.
	solve(x []float64)
}

// dense holds Q and a factor of M in one n × (n+1) array, row i of Q from the
// diagonal on at [i, i+1:], row k of the Cholesky factor up to the diagonal at
// [k, :k+1]. The factor is of the coordinates that are not held.
type dense struct {
	n    int
	a    []float64
	rows []int // coordinate of each row of the factor
	x    []float64
}

func newDense(ctx context.Context, p *Problem) (*dense, error) {
	n := p.K.Dim()
	q := &dense{n: n, a: make([]float64, n*(n+1)), rows: make([]int, 0, n), x: make([]float64, n)}
	for i := range n {
		if i%64 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		row := q.a[i*(n+1)+1:]
		for j, k := range p.K.Row(i)[i:] {
			row[i+j] = p.S[i] * p.S[i+j] * k
		}
		if p.Ridge != nil {
			row[i] += p.Ridge[i]
		}
	}
	return q, nil
}

func (q *dense) mul(y, x []float64) {
	clear(y)
	for i, v := range x {
		row := q.a[i*(q.n+1)+i+1:][:q.n-i]
		y[i] += simd.Dot(row, x[i:])
		simd.Axpy(v, row[1:], y[i+1:])
	}
}

func (q *dense) factor(ctx context.Context, d []float64) (bool, error) {
	ld := q.n + 1
	q.rows = q.rows[:0]
	for i, v := range d {
		if !math.IsInf(v, 1) {
			q.rows = append(q.rows, i)
		}
	}
	m := len(q.rows)
	for c, j := range q.rows {
		row := q.a[j*ld+1:]
		for r := c; r < m; r++ {
			q.a[r*ld+c] = row[q.rows[r]]
		}
		q.a[c*ld+c] += d[j]
	}
	pivot, err := array[float64]{q.a, ld}.lower(ctx, m)
	return pivot == m && err == nil, err
}

func (q *dense) solve(x []float64) {
	y := q.x[:len(q.rows)]
	for k, i := range q.rows {
		y[k] = x[i]
	}
	clear(x)
	l := array[float64]{q.a, q.n + 1}
	l.forward(y)
	l.backward(y)
	for k, i := range q.rows {
		x[i] = y[k]
	}
}

// mostDense is the largest n whose array, 3.2 GB, is made.
const mostDense = 20_000

func tooDense(n int) error {
	return fmt.Errorf("%w: Q of %d points needs %.1f GB; set PrimalDual.Rank for an approximation, or use SMO", ErrUnsupported, n, 8e-9*float64(n)*float64(n+1))
}
