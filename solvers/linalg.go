package solvers

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// multiply sets C = αA'B' + βC, with the transposes asked for: where the direct
// methods spend their time, and the one place to put a faster product.
func multiply(ta, tb blas.Transpose, alpha float64, a, b blas64.General, beta float64, c blas64.General) {
	if c.Rows > 0 && c.Cols > 0 && (a.Cols > 0 && ta == blas.NoTrans || a.Rows > 0 && ta == blas.Trans) {
		blas64.Gemm(ta, tb, alpha, a, b, beta, c)
	}
}

// array is a matrix stored by rows, stride apart.
type array struct {
	data   []float64
	stride int
}

// block is the part of the array with rows r0 to r1 and columns c0 to c1.
func (t array) block(r0, r1, c0, c1 int) blas64.General {
	g := blas64.General{Rows: r1 - r0, Cols: c1 - c0, Stride: t.stride}
	if g.Rows > 0 && g.Cols > 0 {
		g.Data = t.data[r0*t.stride+c0 : (r1-1)*t.stride+c1]
	}
	return g
}

// triangle is the one of rows and columns k to e.
func (t array) triangle(k, e int, part blas.Uplo, diag blas.Diag) blas64.Triangular {
	return blas64.Triangular{Uplo: part, Diag: diag, N: e - k, Data: t.block(k, e, k, e).Data, Stride: t.stride}
}

// panel is the width of the blocks between which a factorisation looks at ctx, and
// cell that of the triangles that are not worth cutting.
const (
	panel = 256
	cell  = 64
)

// lower replaces the lower triangle of the n × n array by its Cholesky factor,
// right-looking by panels (Golub and Van Loan 2013, §4.2.6). What stands above the
// diagonal is neither read nor written. pivot is n, or the row whose pivot is not
// positive; it stands on the diagonal then.
func (t array) lower(ctx context.Context, n int) (pivot int, err error) {
	for k := 0; k < n; k += panel {
		e := min(k+panel, n)
		if p := t.head(k, e); p < e {
			return p, nil
		}
		for lo := e; lo < n; lo += panel {
			if ctx.Err() != nil {
				return lo, ctx.Err()
			}
			hi := min(lo+panel, n)
			t.divide(lo, hi, k, e)
			multiply(blas.NoTrans, blas.Trans, -1, t.block(lo, hi, k, e), t.block(e, lo, k, e), 1, t.block(lo, hi, e, lo))
			t.square(lo, hi, k, e)
		}
	}
	return n, nil
}

// head factors rows and columns k to e by themselves.
func (t array) head(k, e int) (pivot int) {
	g := t.block(k, e, k, e)
	if _, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: e - k, Data: g.Data, Stride: g.Stride}); ok {
		return e
	}
	for p := k; p < e; p++ {
		if v := t.data[p*t.stride+p]; !(v > 0) || math.IsInf(v, 1) {
			return p
		}
	}
	return k
}

// divide multiplies rows lo to hi, columns k to e, by the inverse transpose of the
// factor of k to e from the right, in halves so that most of it is a product.
func (t array) divide(lo, hi, k, e int) {
	if e-k <= cell {
		blas64.Trsm(blas.Right, blas.Trans, 1, t.triangle(k, e, blas.Lower, blas.NonUnit), t.block(lo, hi, k, e))
		return
	}
	m := k + (e-k+cell)/(2*cell)*cell
	t.divide(lo, hi, k, m)
	multiply(blas.NoTrans, blas.Trans, -1, t.block(lo, hi, k, m), t.block(m, e, k, m), 1, t.block(lo, hi, m, e))
	t.divide(lo, hi, m, e)
}

// square takes the product of rows lo to hi, columns k to e, with their transpose
// from the lower triangle of rows and columns lo to hi.
func (t array) square(lo, hi, k, e int) {
	for i := lo; i < hi; i += cell {
		j := min(i+cell, hi)
		multiply(blas.NoTrans, blas.Trans, -1, t.block(i, j, k, e), t.block(lo, i, k, e), 1, t.block(i, j, lo, i))
		c := t.block(i, j, i, j)
		blas64.Syrk(blas.NoTrans, -1, t.block(i, j, k, e), 1, blas64.Symmetric{Uplo: blas.Lower, N: j - i, Data: c.Data, Stride: c.Stride})
	}
}
