package simd

import "math"

// These loops are called by name. The compiler must assume that a function value keeps its
// arguments, and would then move them from the stack to the heap. The functions report whether
// the active level has the loop.

func dots(dst, x, cols *float64, n, d, stride int) bool {
	switch active {
	case AVX512:
		dotsF64AVX512(dst, x, cols, n, d, stride)
	case AVX2:
		dotsF64AVX2(dst, x, cols, n, d, stride)
	default:
		return false
	}
	return true
}

func distances(dst, x, cols *float64, n, d, stride int) bool {
	switch active {
	case AVX512:
		distancesF64AVX512(dst, x, cols, n, d, stride)
	case AVX2:
		distancesF64AVX2(dst, x, cols, n, d, stride)
	default:
		return false
	}
	return true
}

func tally(out, alpha, f, sign, p, lower, upper *float64, n int) bool {
	switch active {
	case AVX512:
		tallyF64AVX512(out, alpha, f, sign, p, lower, upper, n)
	case AVX2:
		tallyF64AVX2(out, alpha, f, sign, p, lower, upper, n)
	default:
		return false
	}
	return true
}

func gap(out, alpha, f, sign, lower, upper *float64, n int, b float64) bool {
	switch active {
	case AVX512:
		gapF64AVX512(out, alpha, f, sign, lower, upper, n, b)
	case AVX2:
		gapF64AVX2(out, alpha, f, sign, lower, upper, n, b)
	default:
		return false
	}
	return true
}

func twofold(out, x, y *float64, n int) bool {
	switch active {
	case AVX512:
		twofoldF64AVX512(out, x, y, n)
	case AVX2:
		twofoldF64AVX2(out, x, y, n)
	default:
		return false
	}
	return true
}

func smoPair(f, ki, kj, up, low *float64, n int, t float64) (i, j int, most, least float64, ok bool) {
	switch active {
	case AVX512:
		i, j, most, least = smoPairF64AVX512(f, ki, kj, up, low, n, t)
	case AVX2:
		i, j, most, least = smoPairF64AVX2(f, ki, kj, up, low, n, t)
	default:
		return -1, -1, math.Inf(-1), math.Inf(1), false
	}
	return i, j, most, least, true
}

func smoPartner(f, low, ki, diag *float64, n int, fi, kii, tau float64) (j int, gain float64, ok bool) {
	switch active {
	case AVX512:
		j, gain = smoPartnerF64AVX512(f, low, ki, diag, n, fi, kii, tau)
	case AVX2:
		j, gain = smoPartnerF64AVX2(f, low, ki, diag, n, fi, kii, tau)
	default:
		return -1, 0, false
	}
	return j, gain, true
}

// expScaled returns how many elements it has not computed, and how many of these at most are
// in the register at which it stopped.
func expScaled(v *float64, n int, a float64, roots *uint64) (left, lanes int) {
	switch active {
	case AVX512:
		return expScaledF64AVX512(v, n, a, roots), 8
	case AVX2:
		return expScaledF64AVX2(v, n, a, roots), 4
	}
	return n, n
}

func smoSingleUpdate(rise, fall *float32, ki, kj *float32, n int, t float32, at *[16]int32, most, least *[16]float32) bool {
	switch active {
	case AVX512:
		smoSingleUpdateF32AVX512(rise, fall, ki, kj, n, t, at, most, least)
	case AVX2:
		smoSingleUpdateF32AVX2(rise, fall, ki, kj, n, t, at, most, least)
	default:
		return false
	}
	return true
}

func smoSingleSecond(fall, ki, diag *float32, n int, fi, kii, tau float32, at *[16]int32, above, below *[16]float32) bool {
	switch active {
	case AVX512:
		smoSingleSecondF32AVX512(fall, ki, diag, n, fi, kii, tau, at, above, below)
	case AVX2:
		smoSingleSecondF32AVX2(fall, ki, diag, n, fi, kii, tau, at, above, below)
	default:
		return false
	}
	return true
}
