// Package vec has the numeric loops under the kernels, in portable Go.
//
// Every function works element by element in one fixed order and rounds after every operation
// (the float64 conversions prevent fused multiply-adds). An element therefore has the same
// bits at any place in a slice and on any machine.
//
// Points are laid out by columns: feature k of point j is cols[k*stride+j]. The innermost loop
// is over points, so no iteration waits for another and the processor overlaps them. This is
// three times as fast as four dot products side by side over rows.
package vec

import "math"

// Dot returns x·z, summed from left to right. z must be at least as long as x.
func Dot(x, z []float64) float64 {
	z = z[:len(x)]
	var s float64
	for k, a := range x {
		s += float64(a * z[k])
	}
	return s
}

// Axpy adds a·x[k] to y[k] for all k of x. y must be at least as long as x.
func Axpy(y []float64, a float64, x []float64) {
	y = y[:len(x)]
	for k, v := range x {
		y[k] += float64(a * v)
	}
}

// MaxAbs returns the largest |x[k]|, or 0 for an empty x.
func MaxAbs(x []float64) float64 {
	var most float64
	for _, v := range x {
		most = max(most, math.Abs(v))
	}
	return most
}

// Indices returns the n numbers 0, 1 … n − 1.
func Indices[T int | int32](n int) []T {
	v := make([]T, n)
	for i := range v {
		v[i] = T(i)
	}
	return v
}

// Means returns the means of the d features of n points.
func Means(n, d int, point func(i int) []float64) []float64 {
	mean := make([]float64, d)
	for range 2 { // the second pass corrects the rounding error of the first
		more := make([]float64, d)
		for i := range n {
			for k, v := range point(i) {
				more[k] += (v - mean[k]) / float64(n)
			}
		}
		for k, v := range more {
			mean[k] += v
		}
	}
	return mean
}

// SquaredDistance returns ‖x − z‖², summed from left to right. z must be at least as long as
// x.
func SquaredDistance(x, z []float64) float64 {
	z = z[:len(x)]
	var s float64
	for k, a := range x {
		s += square(a - z[k])
	}
	return s
}

// Dots sets dst[j] to the dot product of x with point j, with the same bits as Dot. x must
// have at least one entry.
func Dots(dst, x, cols []float64, stride int) {
	clear(dst)
	k := len(x) % 4
	for i, a := range x[:k] {
		addDots1(dst, cols[i*stride:], a)
	}
	for ; k < len(x); k += 4 {
		c := cols[k*stride:]
		addDots4(dst, c, c[stride:], c[2*stride:], c[3*stride:], x[k], x[k+1], x[k+2], x[k+3])
	}
}

// SquaredDistances sets dst[j] to ‖x − point j‖², with the same bits as SquaredDistance. x
// must have at least one entry.
//
// It sums squares of differences, not ‖x‖² + ‖z‖² − 2x·z. This takes a third more time, but
// loses no digits for points that are near each other and far from the origin.
func SquaredDistances(dst, x, cols []float64, stride int) {
	clear(dst)
	k := len(x) % 4
	for i, a := range x[:k] {
		addDistances1(dst, cols[i*stride:], a)
	}
	for ; k < len(x); k += 4 {
		c := cols[k*stride:]
		addDistances4(dst, c, c[stride:], c[2*stride:], c[3*stride:], x[k], x[k+1], x[k+2], x[k+3])
	}
}

// These loops are separate functions because the compiler removes the bounds checks of a loop
// only if it is not inside another loop.

//go:noinline
func addDots1(dst, c0 []float64, a0 float64) {
	c0 = c0[:len(dst)]
	for j, s := range dst {
		dst[j] = s + float64(a0*c0[j])
	}
}

//go:noinline
func addDots4(dst, c0, c1, c2, c3 []float64, a0, a1, a2, a3 float64) {
	c0, c1, c2, c3 = c0[:len(dst)], c1[:len(dst)], c2[:len(dst)], c3[:len(dst)]
	for j, s := range dst {
		dst[j] = s + float64(a0*c0[j]) + float64(a1*c1[j]) + float64(a2*c2[j]) + float64(a3*c3[j])
	}
}

//go:noinline
func addDistances1(dst, c0 []float64, a0 float64) {
	c0 = c0[:len(dst)]
	for j, s := range dst {
		dst[j] = s + square(a0-c0[j])
	}
}

//go:noinline
func addDistances4(dst, c0, c1, c2, c3 []float64, a0, a1, a2, a3 float64) {
	c0, c1, c2, c3 = c0[:len(dst)], c1[:len(dst)], c2[:len(dst)], c3[:len(dst)]
	for j, s := range dst {
		dst[j] = s + square(a0-c0[j]) + square(a1-c1[j]) + square(a2-c2[j]) + square(a3-c3[j])
	}
}

func square(e float64) float64 { return float64(e * e) }

// Moments returns the mean and the standard deviation of values that are not
// all equal.
func Moments(values []float64) (mean, deviation float64) {
	for k, v := range values {
		mean += (v - mean) / float64(k+1)
	}
	largest := 0.0 // dividing by it prevents underflow and overflow of squares
	for _, v := range values {
		largest = max(largest, math.Abs(v-mean))
	}
	sum := 0.0
	for _, v := range values {
		t := (v - mean) / largest
		sum += float64(t * t)
	}
	return mean, largest * math.Sqrt(sum/float64(len(values)))
}
