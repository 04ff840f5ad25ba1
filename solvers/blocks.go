package solvers

import (
	"context"

	"github.com/svmnb/svmnb/internal/rows"
)

// Blocks is a Matrix that computes many kernel values at once for far less than
// one after the other. Package blocks solves on it.
type Blocks interface {
	Matrix
	// Among sets dst[k·q+l] to K of the points idx[k] and idx[l] in single precision,
	// q = len(idx). A point may be there twice. was, other memory unless of is empty, has
	// such values among the points of, but for the diagonal: they need not be computed
	// again.
	Among(dst []float32, idx []int, was []float32, of []int)
	// AddTo adds Σ_k coef[k] K(on[r], idx[k]) to dst[r]; nil on is all points. Kernel
	// values are those of Among, with errors below 2⁻¹⁶ of the largest or so, and their
	// sum is in double precision. A slack that is not nil gets, added to slack[r], a
	// bound of what rounding has moved dst[r] by.
	//
	// Where exact is set everything is in double precision and from the points afresh, as
	// the residual of a certificate wants it, and slack is nil. Where on and idx are the
	// same slice as well, K_ij = K_ji may be computed once.
	//
	// AddTo returns context.Cause(ctx) within a second after ctx has ended; dst then has
	// a part of the sum.
	AddTo(ctx context.Context, dst, slack []float64, on, idx []int, coef []float64, exact bool) error
	// InBlocks reports whether this is so for the kernel of the matrix. Where it is not, a
	// method asks for rows and calls neither Among nor AddTo.
	InBlocks() bool
}

// BlocksOf returns the Blocks behind k and how many points it has: half as many
// as k has rows when that is doubled. The former is nil where there is none, or where the
// kernel is better asked for rows.
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
