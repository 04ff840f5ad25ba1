package metrics

import (
	"math"
	"slices"
)

// regression checks truth and predicted.
func regression(metric string, truth, predicted []float64) error {
	return check(metric, series{"truth", truth}, series{"predicted", predicted})
}

// mean returns the mean of of(truth − predicted).
func mean(metric string, truth, predicted []float64, of func(r float64) float64) (float64, error) {
	if err := regression(metric, truth, predicted); err != nil {
		return 0, err
	}
	sum := 0.0
	for i, y := range truth {
		sum += of(y - predicted[i])
	}
	return sum / float64(len(truth)), nil
}

// RMSE returns √(mean (y − f)²), in the unit of y.
func RMSE(truth, predicted []float64) (float64, error) {
	v, err := mean("RMSE", truth, predicted, func(r float64) float64 { return r * r })
	return math.Sqrt(v), err
}

// MAE returns mean |y − f|, in the unit of y.
func MAE(truth, predicted []float64) (float64, error) {
	return mean("MAE", truth, predicted, math.Abs)
}

// Pinball returns the mean of τ r for r = y − f ≥ 0 and of (τ − 1) r for r < 0, with τ in
// (0, 1). The τ-quantile minimises this loss (Koenker and Bassett 1978).
func Pinball(truth, predicted []float64, tau float64) (float64, error) {
	if !(tau > 0 && tau < 1) {
		return 0, wrong("Pinball", "tau", -1, tau, "%v is no quantile; it lies in (0, 1)", tau)
	}
	return mean("Pinball", truth, predicted, func(r float64) float64 { return max(tau*r, (tau-1)*r) })
}

// MaxError returns max |y − f|.
func MaxError(truth, predicted []float64) (float64, error) {
	largest := 0.0
	_, err := mean("MaxError", truth, predicted, func(r float64) float64 { largest = max(largest, math.Abs(r)); return 0 })
	return largest, err
}

// MedianAE returns the median of |y − f|; for even n the mean of the middle two.
func MedianAE(truth, predicted []float64) (float64, error) {
	if err := regression("MedianAE", truth, predicted); err != nil {
		return 0, err
	}
	r := make([]float64, len(truth))
	for i, y := range truth {
		r[i] = math.Abs(y - predicted[i])
	}
	slices.Sort(r)
	n := len(r)
	return (r[(n-1)/2] + r[n/2]) / 2, nil
}

// R2 returns 1 − Σ(y − f)²/Σ(y − ȳ)², at most 1. It is 0 if f is the mean of y. If all y
// are equal, R2 returns an error.
func R2(truth, predicted []float64) (float64, error) {
	return explained("R2", truth, predicted, func(float64) float64 { return 0 })
}

// ExplainedVariance returns 1 − Var(y − f)/Var y. This is R2 of the predictions after their
// mean error is subtracted. If all y are equal, ExplainedVariance returns an error.
func ExplainedVariance(truth, predicted []float64) (float64, error) {
	return explained("ExplainedVariance", truth, predicted, func(meanResidual float64) float64 { return meanResidual })
}

func explained(metric string, truth, predicted []float64, centre func(meanResidual float64) float64) (float64, error) {
	offset, err := mean(metric, truth, predicted, func(r float64) float64 { return r })
	if err != nil {
		return 0, err
	}
	middle, off := total(truth)/float64(len(truth)), centre(offset)
	left, all, constant := 0.0, 0.0, true
	for i, y := range truth {
		left += (y - predicted[i] - off) * (y - predicted[i] - off)
		all += (y - middle) * (y - middle)
		constant = constant && y == truth[0]
	}
	if constant || all == 0 { // 0: the squares underflow
		return 0, wrong(metric, "truth", -1, truth[0], "all values are %v, so there is nothing to explain; use RMSE or MAE", truth[0])
	}
	return 1 - left/all, nil
}

// NLPD returns the mean of −ln N(y; mean, sd²), the negative log predictive density of n
// Gaussian predictions, in nats; sd > 0. It depends on the unit of y.
func NLPD(truth, mean, sd []float64) (float64, error) {
	if err := gaussian("NLPD", truth, mean, sd); err != nil {
		return 0, err
	}
	sum := 0.0
	for i, y := range truth {
		if sd[i] == 0 {
			return 0, wrong("NLPD", "sd", i, 0, "a standard deviation of 0 has no density; use CRPS")
		}
		z := (y - mean[i]) / sd[i]
		sum += z*z/2 + math.Log(sd[i]) + math.Log(2*math.Pi)/2
	}
	return sum / float64(len(truth)), nil
}

// CRPS returns the mean continuous ranked probability score of n Gaussian predictions, in
// the unit of y. With z = (y − mean)/sd it is the mean of
//
//	sd (z (2Φ(z) − 1) + 2φ(z) − 1/√π)
//
// (Gneiting and Raftery 2007, eq. 21, with the sign of a loss). For sd = 0 the score is |y
// − mean|.
func CRPS(truth, mean, sd []float64) (float64, error) {
	if err := gaussian("CRPS", truth, mean, sd); err != nil {
		return 0, err
	}
	sum := 0.0
	for i, y := range truth {
		r := y - mean[i]
		if sd[i] == 0 {
			sum += math.Abs(r)
			continue
		}
		z := r / sd[i]
		density := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
		sum += r*math.Erf(z/math.Sqrt2) + sd[i]*(2*density-1/math.SqrtPi)
	}
	return sum / float64(len(truth)), nil
}

func gaussian(metric string, truth, mean, sd []float64) error {
	if err := check(metric, series{"truth", truth}, series{"mean", mean}, series{"sd", sd}); err != nil {
		return err
	}
	for i, s := range sd {
		if s < 0 {
			return wrong(metric, "sd", i, s, "the standard deviation is negative; give one of at least 0")
		}
	}
	return nil
}

// Coverage returns the share of the n values that are inside their intervals or at an end
// of them.
func Coverage(truth, lower, upper []float64) (float64, error) {
	if err := check("Coverage", series{"truth", truth}, series{"lower", lower}, series{"upper", upper}); err != nil {
		return 0, err
	}
	inside := 0.0
	for i, y := range truth {
		if lower[i] > upper[i] {
			return 0, wrong("Coverage", "lower", i, lower[i], "the interval ends at %v before it begins", upper[i])
		}
		if lower[i] <= y && y <= upper[i] {
			inside++
		}
	}
	return inside / float64(len(truth)), nil
}
