package linear

import (
	"context"
	"math"

	"github.com/svmnb/svmnb/internal/rows"
	"github.com/svmnb/svmnb/solvers"
)

// System is the linear system of a Gaussian process and of ridge regression,
//
//	A x = b,  A = K + diag(noise)
//
// (CST 7.6, where the matrix of Table 7.3 is called C). K is n × n and positive semi-definite.
// Noise has n variances ≥ 0 in the units of K, which may differ from point to point; nil means
// none. If all are positive, A ⪰ diag(noise) and the error of any x is bounded. With a zero
// there are no upper bounds.
type System struct {
	K     solvers.Matrix
	Noise []float64
}

// Check returns a *ProblemError for the first thing that is wrong with s. Rows of K are
// checked later, when they are first used.
func (s *System) Check() error {
	if s == nil || s.K == nil {
		return wrong("K", -1, 0, "no kernel matrix")
	}
	n := s.K.Dim()
	if n == 0 {
		return wrong("K", -1, 0, "the kernel matrix has no rows; give at least one point")
	}
	diag := s.K.Diag()
	if len(diag) != n {
		return wrong("K", -1, 0, "the diagonal has %d entries, the kernel matrix has %d rows", len(diag), n)
	}
	if len(s.Noise) != n && s.Noise != nil {
		return wrong("Noise", -1, 0, "has %d entries, the kernel matrix has %d rows", len(s.Noise), n)
	}
	for i, v := range diag {
		switch {
		case !rows.Usable(v):
			return wrong("K", i, v, "row %d, column %d "+rows.Unusable, i, i)
		case v < 0:
			return wrong("K", i, v, "a diagonal entry is negative, so K is not positive semi-definite; use another kernel")
		}
	}
	for i, v := range s.Noise {
		if !(v >= 0 && rows.Usable(v)) {
			return wrong("Noise", i, v, "must be a variance from 0 to 1e100; positive, as a rule")
		}
	}
	return nil
}

// Criterion returns the default of Settings.Stop: Bounds{Rel: 1e-6}, or Residual{Rel: 1e-6} if
// a noise is 0 or so small that rounding of K hides it. There are no upper bounds then.
func (s *System) Criterion() Criterion {
	if s.theta() == 0 {
		return Residual{Rel: 1e-6}
	}
	return Bounds{Rel: 1e-6}
}

// noise returns noise_i.
func (s *System) noise(i int) float64 {
	if s.Noise == nil {
		return 0
	}
	return s.Noise[i]
}

// theta returns the smallest floor. A ⪰ θI holds for it.
func (s *System) theta() float64 {
	theta := math.Inf(1)
	for i, k := range s.K.Diag() {
		theta = min(theta, s.floor(i, k))
	}
	return theta
}

// floor returns noise_i less what rounding of K may take from it. Entries of K may be wrong by
// |E_ij| ≤ 2⁻⁵² √(K_ii K_jj), so E ⪰ −n 2⁻⁵² diag(K), and A ⪰ diag(floor) if K is a kernel
// matrix up to this rounding. k is K_ii.
func (s *System) floor(i int, k float64) float64 {
	return max(0, s.noise(i)-float64(s.K.Dim())*0x1p-52*k)
}

// Times sets y_j = A x_j for all j, vectors of n numbers, in one pass over K in double precision:
// each value is computed once, and used for all j. When ctx ends, which it looks for after some
// rows at the most, y has a part of the products, and the error is context.Cause(ctx). K and the
// numbers must be valid, as those that Solve has accepted; see Check.
func (s *System) Times(ctx context.Context, y, x [][]float64) error {
	if k, ok := s.K.(timer); ok {
		if done, err := k.Times(ctx, y, x); done || err != nil {
			for j, v := range x {
				for i, v := range v {
					y[j][i] += s.noise(i) * v
				}
			}
			return err
		}
	}
	return rows.Sweep(ctx, s.K, 0, func(i, _ int, rows [][]float64) { s.timesRow(y, x, i, rows[0]) })
}

// timer is a matrix that is multiplied by vectors faster than by a sweep over its rows, such as
// a kernels.Gram that keeps no rows.
type timer interface {
	Times(ctx context.Context, y, x [][]float64) (done bool, err error)
}

func (s *System) timesRow(y, x [][]float64, i int, row []float64) {
	noise := s.noise(i)
	for j, v := range x {
		y[j][i] = inner(row, v) + noise*v[i]
	}
}

// checked returns a copy of s whose K checks its rows when they are first used.
func (s *System) checked() *System {
	return &System{K: rows.Check(s.K, func(i int, v float64, msg string) error { return wrong("K", i, v, "%s", msg) }), Noise: s.Noise}
}

// failed returns the first error that K has found in its rows.
func (s *System) failed() error { return s.K.(*rows.Checked).Err() }
