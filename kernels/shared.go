package kernels

import "github.com/svmnb/svmnb/internal/simd"

// This file has functions that several kernels share.

// byGamma sets v to exp(−γv) and grad to its derivative by ln γ.
func byGamma(v, grad []float64, gamma float64) {
	grad = grad[:len(v)]
	for j, r := range v {
		grad[j] = -gamma * r
	}
	expScaled(v, grad, -gamma)
}

// expScaled sets v to K = exp(scale·v), and grad, derivatives of ln K, to those of K.
func expScaled(v, grad []float64, scale float64) {
	simd.ExpScaled(v, scale)
	for len(v) > 0 && len(grad) >= len(v) {
		timesValue(grad, v)
		grad = grad[len(v):]
	}
}

// timesValue turns derivatives of ln K into those of K. If K is 0, its derivative is 0 too,
// even if that of ln K is infinite.
func timesValue(grad, v []float64) {
	grad = grad[:len(v)]
	for j, k := range v {
		if k == 0 {
			grad[j] = 0
		} else {
			grad[j] *= k
		}
	}
}

// power returns b^n for n ≥ 0 by repeated squaring. Unlike math.Pow, it gives the same bits on
// every machine.
func power(b float64, n int) float64 {
	p := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			p *= b
		}
		b *= b
	}
	return p
}

// gammaCoef0 returns the hyperparameters gamma and, if it is above 0, coef0.
func gammaCoef0(gamma, coef0 float64) []Hyperparameter {
	if coef0 > 0 {
		return []Hyperparameter{{"gamma", gamma}, {"coef0", coef0}}
	}
	return []Hyperparameter{{"gamma", gamma}}
}

// withGammaCoef0 sets the hyperparameters of gammaCoef0 to other values.
func withGammaCoef0(gamma, coef0 *float64, values []float64) {
	*gamma = values[0]
	if *coef0 > 0 {
		*coef0 = values[1]
	}
}
