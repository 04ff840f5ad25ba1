package solvers

import (
	"context"
	"fmt"
	"math"

	"github.com/svmnb/svmnb/internal/chol"
	"github.com/svmnb/svmnb/internal/simd"
)

// quadratic is what an interior-point method needs of the matrix Q.
type quadratic interface {
	// Mul sets y = Qx.
	Mul(y, x []float64)
	// Factor prepares Solve for M = Q + diag(d). A coordinate with d = +Inf is held at 0. It
	// reports false if M is not positive definite.
	Factor(ctx context.Context, d []float64) (ok bool, err error)
	// Solve sets x to M⁻¹x.
	Solve(x []float64)
}

// dense holds the upper triangle of Q, row by row, and the Cholesky factor of M without the
// held coordinates. Together they take the memory of a square array.
type dense struct {
	n    int
	q    []float64
	l    *chol.Panels[float64]
	rows []int // the coordinate of each row of the factor
	x    []float64
}

// row returns row i of Q from the diagonal on.
func (q *dense) row(i int) []float64 {
	at := i*q.n - i*(i-1)/2
	return q.q[at : at+q.n-i]
}

func newDense(ctx context.Context, p *Problem) (*dense, error) {
	n := p.K.Dim()
	q := &dense{n: n, q: make([]float64, n*(n+1)/2), l: chol.New[float64](n), rows: make([]int, 0, n), x: make([]float64, n)}
	for i := range n {
		if i%64 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		row := q.row(i)
		for j, k := range p.K.Row(i)[i:] {
			row[j] = p.S[i] * p.S[i+j] * k
		}
		row[0] += p.ridge(i)
	}
	return q, nil
}

func (q *dense) Mul(y, x []float64) {
	clear(y)
	for i, v := range x {
		row := q.row(i)
		y[i] += simd.Dot(row, x[i:])
		simd.Axpy(v, row[1:], y[i+1:])
	}
}

func (q *dense) Factor(ctx context.Context, d []float64) (bool, error) {
	q.rows = q.rows[:0]
	for i, v := range d {
		if !math.IsInf(v, 1) {
			q.rows = append(q.rows, i)
		}
	}
	m := len(q.rows)
	q.l.Reset(m)
	w := q.l.Width()
	for c, j := range q.rows {
		row := q.row(j)
		for r := c; r < m; {
			panel := r / w
			column := q.l.Column(panel, c)
			for ; r < min(m, (panel+1)*w); r++ {
				column[r-panel*w] = row[q.rows[r]-j]
			}
		}
		*q.l.Entry(c, c) += d[j]
	}
	pivot, err := q.l.Factor(ctx)
	return pivot == m && err == nil, err
}

func (q *dense) Solve(x []float64) {
	y := q.x[:len(q.rows)]
	for k, i := range q.rows {
		y[k] = x[i]
	}
	clear(x)
	q.l.Forward(y)
	q.l.Backward(y)
	for k, i := range q.rows {
		x[i] = y[k]
	}
}

// mostDense is the largest n for which Q is stored; it then takes 3.2 GB.
const mostDense = 20_000

func tooDense(n int) error {
	return fmt.Errorf("%w: Q of %d points needs %.1f GB; set PrimalDual.Rank for an approximation, or use SMO", ErrUnsupported, n, 8e-9*float64(n)*float64(n+1))
}
