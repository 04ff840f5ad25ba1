package solvers

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/gonum"
)

// missing estimates from above how much noise A lacks to be positive definite in
// floating point: minus its smallest eigenvalue by Lanczos, doubled, or what rounding
// can take from a singular matrix.
func (s *System) missing(ctx context.Context) (float64, error) {
	n := s.K.Dim()
	rng := rand.New(rand.NewPCG(1, 1))
	v, before, w := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	var diag, off []float64
	var basis [][]float64 // kept, for the few steps there are
	length := norm(v)
	for range min(n, 60) {
		for i := range v {
			v[i] /= length
		}
		basis = append(basis, append([]float64(nil), v...))
		if err := s.Multiply(ctx, [][]float64{w}, [][]float64{v}); err != nil {
			return 0, err
		}
		diag = append(diag, inner(v, w))
		for range 2 {
			for _, u := range basis {
				axpy(w, -inner(u, w), u)
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

// tridiagonal returns the eigenvalues, in ascending order, of the symmetric
// tridiagonal matrix with the given diagonal and off-diagonal, and sets first to
// the squares of the first components of their eigenvectors, the weights of Gauss's
// quadrature (Golub and Welsch 1969), unless it is nil.
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
