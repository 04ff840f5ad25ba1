//go:build !amd64

package simd

import "math"

func dots(dst, x, cols *float64, n, d, stride int) bool { return false }

func distances(dst, x, cols *float64, n, d, stride int) bool { return false }

func tally(out, alpha, f, sign, p, lower, upper *float64, n int) bool { return false }

func gap(out, alpha, f, sign, lower, upper *float64, n int, b float64) bool { return false }

func twofold(out, x, y *float64, n int) bool { return false }

func smoPair(f, ki, kj, up, low *float64, n int, t float64) (i, j int, most, least float64, ok bool) {
	return -1, -1, math.Inf(-1), math.Inf(1), false
}

func smoPartner(f, low, ki, diag *float64, n int, fi, kii, tau float64) (j int, gain float64, ok bool) {
	return -1, 0, false
}

func expScaled(v *float64, n int, a float64, roots *uint64) (left, lanes int) { return n, n }

func smoSingleUpdate(rise, fall *float32, ki, kj *float32, n int, t float32, at *[16]int32, most, least *[16]float32) bool {
	return false
}

func smoSingleSecond(fall, ki, diag *float32, n int, fi, kii, tau float32, at *[16]int32, above, below *[16]float32) bool {
	return false
}
