package linear

import (
	"context"
	"math"

	"github.com/svmnb/svmnb/internal/vec"
)

// GaussJordan solves A x = b by elimination above and below the diagonal at once, with partial
// pivoting (CST 7.6 names it; Golub and Van Loan 2013, problem 3.2.3). It takes n³ operations,
// three times as many as Cholesky, one row at a time, and leaves no factor for later
// right-hand sides. It is here for comparison.
type GaussJordan struct{}

// Name is "Gauss–Jordan".
func (GaussJordan) Name() string { return "Gauss–Jordan" }

// Memory returns, in bytes, 8n² and 16n for each right-hand side.
func (GaussJordan) Memory(n, q int) float64 { return square(n, q) }

// Start implements Method.
func (GaussJordan) Start(s *System, b, x [][]float64) (Stepper, error) {
	return &gaussJordan{direct{b: b, x: x}, s}, nil
}

type gaussJordan struct {
	direct
	s *System
}

func (g *gaussJordan) Step(ctx context.Context, _ []bool) (done bool, err error) {
	n := g.s.K.Dim()
	a, err := g.s.dense(ctx)
	if err != nil {
		return false, err
	}
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = a.Data[i*n : (i+1)*n]
	}
	for j, b := range g.b {
		copy(g.x[j], b)
	}
	for k := range n {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		p := k
		for i := k + 1; i < n; i++ {
			if math.Abs(rows[i][k]) > math.Abs(rows[p][k]) {
				p = i
			}
		}
		if rows[p][k] == 0 {
			return false, g.s.indefinite(ctx, &IndefiniteError{Method: "Gauss–Jordan", Row: k})
		}
		rows[k], rows[p] = rows[p], rows[k]
		pivot := rows[k][k:]
		for _, x := range g.x {
			x[k], x[p] = x[p], x[k]
			x[k] /= pivot[0]
		}
		for j := len(pivot) - 1; j >= 0; j-- {
			pivot[j] /= pivot[0]
		}
		for i, row := range rows {
			if factor := row[k]; i != k && factor != 0 {
				vec.Axpy(row[k:], -factor, pivot)
				for _, x := range g.x {
					x[i] -= factor * x[k]
				}
			}
		}
	}
	return true, nil
}
