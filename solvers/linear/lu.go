package linear

import (
	"context"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/svmnb/svmnb/internal/rows"
	"github.com/svmnb/svmnb/internal/simd"
)

// panel is the number of columns that are eliminated at a time. productSide is the number of
// rows and columns of the remaining matrix that one product updates.
const panel, productSide = 256, 768

// LU solves A x = b by PA = LU with partial pivoting (CST 7.6; Golub and Van Loan 2013, §3.4),
// right-looking by panels, in 2n³/3 operations and 8n² bytes. It does not use the symmetry of
// A, so it costs twice as much as Cholesky and also solves systems that are not positive
// definite. The residual of such a system is right, but its bounds mean nothing.
type LU struct{}

// Name is "LU".
func (LU) Name() string { return "LU" }

// Memory returns, in bytes, 8n² and 16n for each right-hand side.
func (LU) Memory(n, q int) float64 { return square(n, q) }

// square returns the bytes of a method that holds all of A.
func square(n, q int) float64 { return 8 * float64(n) * (float64(n) + 2*float64(q)) }

// Start implements Method.
func (LU) Start(s *System, b, x [][]float64) (Stepper, error) {
	return &lu{direct{b: b, x: x}, s}, nil
}

type lu struct {
	direct
	s *System
}

func (l *lu) Step(ctx context.Context, _ []bool) (done bool, err error) {
	n := l.s.K.Dim()
	a, err := l.s.dense(ctx)
	if err != nil {
		return false, err
	}
	pivots := make([]int, n)
	singular := -1
	for k := 0; k < n; k += panel {
		e := min(k+panel, n)
		if !lapack64.Getrf(general(a.Block(k, n, k, e)), pivots[k:e]) && singular < 0 {
			singular = k
		}
		for i := k; i < e; i++ {
			if pivots[i] += k; pivots[i] != i {
				swap(a.Block(i, i+1, 0, k), a.Block(pivots[i], pivots[i]+1, 0, k))
				swap(a.Block(i, i+1, e, n), a.Block(pivots[i], pivots[i]+1, e, n))
			}
		}
		if e == n {
			break
		}
		blas64.Trsm(blas.Left, blas.NoTrans, 1, triangle(a.Block(k, e, k, e), blas.Lower, blas.Unit), general(a.Block(k, e, e, n)))
		if err := subtractProduct(ctx, a.Block(e, n, e, n), a.Block(e, n, k, e), a.Block(k, e, e, n)); err != nil {
			return false, err
		}
	}
	for i := max(singular, 0); singular >= 0 && i < n; i++ {
		if a.Data[i*n+i] == 0 {
			return false, l.s.indefinite(ctx, &IndefiniteError{Method: "LU", Row: i})
		}
	}
	return true, l.solve(ctx, func(x []float64) {
		for i, p := range pivots {
			x[i], x[p] = x[p], x[i]
		}
		blas64.Trsv(blas.NoTrans, triangle(a.Block(0, n, 0, n), blas.Lower, blas.Unit), vector(x))
		blas64.Trsv(blas.NoTrans, triangle(a.Block(0, n, 0, n), blas.Upper, blas.NonUnit), vector(x))
	})
}

// rectangle is a matrix by rows, a part of one, or its transpose.
type rectangle = simd.Matrix[float64]

// dense returns all n × n entries of A.
func (s *System) dense(ctx context.Context) (rectangle, error) {
	n := s.K.Dim()
	a := rectangle{Data: make([]float64, n*n), Rows: n, Cols: n, Stride: n}
	return a, rows.Sweep(ctx, s.K, 0, func(i, _ int, rows [][]float64) {
		copy(a.Data[i*n:], rows[0])
		a.Data[i*n+i] += s.noise(i)
	})
}

// subtractProduct subtracts AB from C. It does so in parts, whose copies take only a few
// megabytes and after each of which it looks at ctx.
func subtractProduct(ctx context.Context, c, a, b rectangle) error {
	var p simd.Panels[float64]
	for j := 0; j < c.Cols; j += productSide {
		je := min(j+productSide, c.Cols)
		p.Pack(b.Block(0, b.Rows, j, je), 0)
		for i := 0; i < c.Rows; i += productSide {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			ie := min(i+productSide, c.Rows)
			simd.Gemm[float64]{Add: true, Minus: true}.Do(c.Block(i, ie, j, je), a.Block(i, ie, 0, a.Cols), &p)
		}
	}
	return nil
}

// swap exchanges two rows.
func swap(a, b rectangle) {
	if a.Cols > 0 {
		blas64.Swap(vector(a.Data[:a.Cols]), vector(b.Data[:b.Cols]))
	}
}

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Data: x, Inc: 1} }

// general and triangle convert a matrix to gonum's types.
func general(m rectangle) blas64.General {
	return blas64.General{Rows: m.Rows, Cols: m.Cols, Data: m.Data, Stride: m.Stride}
}

func triangle(m rectangle, part blas.Uplo, diag blas.Diag) blas64.Triangular {
	return blas64.Triangular{Uplo: part, Diag: diag, N: m.Rows, Data: m.Data, Stride: m.Stride}
}
