package svmnb

import (
	"math"

	"github.com/svmnb/svmnb/svmnb/internal/arguments"
)

// Huber chooses Huber's loss, which grows with the square of small errors and only linearly with
// those larger than delta = δ > 0, in units of the targets, so that outliers pull less (Huber
// 1964). It minimises ½‖w‖² + C Σ h(y_i − f(x_i)) with h(r) = r²/2δ for |r| ≤ δ and |r| − δ/2
// beyond. A point farther than δ from f has |β| = C, however far it is. For large δ this is
// Ridge(δ/C). A usual δ is 1.35 times the standard deviation of the noise. Epsilon has no
// effect.
func (r Regressor) Huber(delta float64) Regressor {
	r = r.losing(huberLoss, arguments.WrongIf(!(delta > 0) || math.IsInf(delta, 1), "Huber", delta, "δ is %v; it is the error from which the loss is linear, a positive number in units of the targets", delta))
	r.delta = delta
	return r
}
