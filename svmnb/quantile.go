package svmnb

import (
	"fmt"

	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// Quantile chooses quantile regression: f(x) estimates the value below which a share tau = τ of
// the targets at x lie; tau is in (0, 1). It minimises ½‖w‖² + C Σ ρ(y_i − f(x_i)) with the
// pinball loss ρ(r) = max(τ r, (τ − 1) r) (Koenker and Bassett 1978; Takeuchi et al. 2006). At
// the optimum at most τ n training points lie below f and at most (1 − τ) n above, if the bias
// is free and all weights are equal. Epsilon has no effect.
//
// Two quantiles, such as 0.05 and 0.95, enclose a share of the targets that can be wrong for new
// points; selection.Conformalise makes it right. Quantiles that are fitted apart can cross.
func (r Regressor) Quantile(tau float64) Regressor {
	r = r.losing(pinballLoss, arguments.WrongIf(!(tau > 0 && tau < 1), "Quantile", tau, "τ is %v; it is the share of the targets below f, between 0 and 1, such as 0.9", tau))
	r.tau = tau
	return r
}

// quantile returns τ, or 0 for other losses.
func (t *regression) quantile() float64 {
	if t.loss == pinballLoss {
		return t.tau
	}
	return 0
}

// sided counts the training points below f, on it and above it, by their multipliers. F of the
// points on f is right within the tolerance of the solver.
func (f *RegressionFit) sided() (below, on, above int) {
	for i, b := range f.Beta {
		switch {
		case !f.task.bound(i, b):
			on++
		case b < 0:
			below++
		default:
			above++
		}
	}
	return below, on, above
}

func (f *RegressionFit) sidedText() string {
	below, on, above := f.sided()
	n := len(f.Beta)
	return fmt.Sprintf("%s of %s below f, %d on it, %d above", say.Percent(float64(below)/float64(n)), say.Several(n, "point"), on, above)
}
