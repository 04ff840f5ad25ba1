package vec

import "math"

// The sums in this file belong to kernels that are used less often than those of vec.go. They
// process one column at a time.

// AbsoluteDistances sets dst[j] to Σ |x_k − z_k| for point j.
func AbsoluteDistances(dst, x, cols []float64, stride int) {
	clear(dst)
	for k, a := range x {
		c := cols[k*stride:][:len(dst)]
		for j, s := range dst {
			dst[j] = s + math.Abs(a-c[j])
		}
	}
}

// WeightedSquaredDistances returns the function that sets dst[j] to
// Σ (weight_k (x_k − z_k))² for point j.
func WeightedSquaredDistances(weight []float64) func(dst, x, cols []float64, stride int) {
	return func(dst, x, cols []float64, stride int) {
		clear(dst)
		for k, a := range x {
			c, w := cols[k*stride:][:len(dst)], weight[k]
			for j, s := range dst {
				dst[j] = s + square((a-c[j])*w)
			}
		}
	}
}

// SquaredSines returns the function that sets dst[j] to Σ sin²(π (x_k − z_k)/period)
// for point j.
func SquaredSines(period float64) func(dst, x, cols []float64, stride int) {
	return func(dst, x, cols []float64, stride int) {
		clear(dst)
		for k, a := range x {
			c := cols[k*stride:][:len(dst)]
			for j, s := range dst {
				dst[j] = s + SquaredSine((a-c[j])/period)
			}
		}
	}
}

// HarmonicMeans sets dst[j] to Σ 2 x_k z_k/(x_k + z_k) for point j, where a term
// with x_k + z_k ≤ 0 is 0.
func HarmonicMeans(dst, x, cols []float64, stride int) {
	clear(dst)
	for k, a := range x {
		c := cols[k*stride:][:len(dst)]
		for j, s := range dst {
			low, high := min(a, c[j]), max(a, c[j])
			if sum := low + high; sum > 0 {
				dst[j] = s + 2*float64(low*(high/sum))
			}
		}
	}
}

// ChiSquaredDistances sets dst[j] to Σ (x_k − z_k)²/(x_k + z_k) for point j,
// where a term with x_k + z_k ≤ 0 is 0.
func ChiSquaredDistances(dst, x, cols []float64, stride int) {
	clear(dst)
	for k, a := range x {
		c := cols[k*stride:][:len(dst)]
		for j, s := range dst {
			if sum := a + c[j]; sum > 0 {
				diff := a - c[j]
				dst[j] = s + float64(diff*(diff/sum))
			}
		}
	}
}

// Minima sets dst[j] to Σ min(x_k, z_k) for point j.
func Minima(dst, x, cols []float64, stride int) {
	clear(dst)
	for k, a := range x {
		c := cols[k*stride:][:len(dst)]
		for j, s := range dst {
			dst[j] = s + min(a, c[j])
		}
	}
}
