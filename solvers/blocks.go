package solvers

import (
	"context"

	"github.com/svmnb/svmnb/internal/rows"
)

// Blocks is a Matrix that computes many kernel values at once, which costs far less per value
// than single rows. Package blocks solves on such a matrix.
type Blocks interface {
	Matrix
	// Among sets dst[k·q+l] to K of the points idx[k] and idx[l] in single precision, where q
	// = len(idx). A point may occur twice. To save work, the slice was may hold the result of
	// an earlier call for the points in the slice of. Values of pairs that are in both lists
	// are copied from it, except on the diagonal. It must not overlap dst, unless the list of
	// is empty.
	Among(dst []float32, idx []int, was []float32, of []int)
	// AddTo adds Σ_k coef[k] K(on[r], idx[k]) to dst[r]. A nil on means all points. Kernel
	// values are those of Among, with errors of about 2⁻¹⁶ of the largest value or less. Their
	// sums are in double precision, but a few values at a time may be summed in single precision
	// before. If slack is not nil, AddTo adds to slack[r] a bound of the rounding error of dst[r].
	//
	// If exact is set, kernel values are computed afresh from the points in double precision,
	// as the residual of a certificate needs them; slack must be nil. If on and idx are also
	// the same slice, K_ij = K_ji may be computed once.
	//
	// AddTo returns context.Cause(ctx) within a second after ctx has ended; dst then holds a
	// part of the sum.
	AddTo(ctx context.Context, dst, slack []float64, on, idx []int, coef []float64, exact bool) error
	// InBlocks reports whether the kernel of this matrix can be computed in blocks. If not, a
	// method reads single rows and calls neither Among nor AddTo.
	InBlocks() bool
}

// BlocksOf returns the Blocks behind k and the number n of its points. For the doubled matrix
// of a regression, n is half the number of rows of k. b is nil if k has no Blocks or if single
// rows suit its kernel better.
func BlocksOf(k Matrix) (b Blocks, n int) {
	if points := PointsOf(k); points != nil {
		k = points
	}
	if c, ok := k.(*rows.Checked); ok {
		k = c.Matrix
	}
	if b, ok := k.(Blocks); ok && b.InBlocks() {
		return b, b.Dim()
	}
	return nil, 0
}
