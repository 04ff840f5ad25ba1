package simd

import "math"

// The loops in this file are those of sequential minimal optimisation with F in single precision.
// They take half the time of [SMOUpdate] and [SMOSecond]. All lengths are multiples of
// [SingleLanes]. All levels have the same bits.

// SingleLanes is the number of sequences that these loops keep apart: element j is in sequence j
// mod 16.
const SingleLanes = 16

// SMOUpdateSingle subtracts t·(ki[j] − kj[j]) from rise[j] and fall[j] for all j, which is a step of
// t on the pair (i, j). rise has F of the variables that may rise, and −Inf for the others; fall has
// F of those that may fall, and +Inf for the others. It returns the largest element of rise with its
// first index, and the smallest element of fall. The index is −1 if all of rise is −Inf.
func SMOUpdateSingle(rise, fall []float32, ki, kj []float32, t float32) (i int, most, least float32) {
	n := len(rise)
	fall, ki, kj = fall[:n], ki[:n], kj[:n]
	var at [SingleLanes]int32
	var tops, lows [SingleLanes]float32
	if n == 0 || !smoSingleUpdate(&rise[0], &fall[0], &ki[0], &kj[0], n, t, &at, &tops, &lows) {
		for l := range at {
			at[l], tops[l], lows[l] = -1, float32(math.Inf(-1)), float32(math.Inf(1))
		}
		for j := range rise {
			l := j % SingleLanes
			c := float32(t * (ki[j] - kj[j]))
			rise[j] -= c
			fall[j] -= c
			if rise[j] > tops[l] {
				at[l], tops[l] = int32(j-l), rise[j]
			}
			if fall[j] < lows[l] {
				lows[l] = fall[j]
			}
		}
	}
	i, most, least = -1, float32(math.Inf(-1)), float32(math.Inf(1))
	for l, v := range tops {
		if j := int(at[l]) + l; at[l] >= 0 && (v > most || v == most && j < i) {
			i, most = j, v
		}
		least = min(least, lows[l])
	}
	return i, most, least
}

// SMOSecondSingle returns the j with the largest gain d²/κ, where d = fi − fall[j] > 0 and κ =
// max(tau, kii + diag[j] − 2·ki[j]). This j is the partner of i by second-order information; see
// [SMOSecond]. If there is nothing to gain, j is −1.
func SMOSecondSingle(fall, ki, diag []float32, fi, kii, tau float32) (j int) {
	n := len(fall)
	ki, diag = ki[:n], diag[:n]
	var at [SingleLanes]int32
	var above, below [SingleLanes]float32
	if n == 0 || !smoSingleSecond(&fall[0], &ki[0], &diag[0], n, fi, kii, tau, &at, &above, &below) {
		for l := range at {
			at[l], below[l] = -1, 1
		}
		for j := range fall {
			l := j % SingleLanes
			d, kappa := max(0, fi-fall[j]), max(tau, kii+diag[j]-2*ki[j])
			if d *= d; float32(d*below[l]) > float32(kappa*above[l]) {
				at[l], above[l], below[l] = int32(j-l), d, kappa
			}
		}
	}
	j, gain := -1, float32(0)
	for l, v := range above {
		if k, g := int(at[l])+l, v/below[l]; at[l] >= 0 && (g > gain || g == gain && k < j) {
			j, gain = k, g
		}
	}
	return j
}
