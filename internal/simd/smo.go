package simd

import "math"

// Sets of indices are represented by numbers that are added: 0 for a member, and for the
// others −Inf in up and +Inf in low.

// SMOUpdate sets f[j] −= t·(ki[j] − kj[j]) for all j of f, which is a step of t on the pair
// (i, j). It returns the first index of the largest f + up, this value, and the smallest f +
// low: the violating pair of Keerthi et al. (2001), whose difference is the largest violation.
// The index is −1 and the value −Inf if no f + up is above −Inf. NaN is never chosen. With t =
// 0 and any two finite rows it only selects.
func SMOUpdate[T Float](f []float64, ki, kj []T, up, low []float64, t float64) (i int, most, least float64) {
	n := len(f)
	ki, kj, up, low = ki[:n], kj[:n], up[:n], low[:n]
	l := loops[T]()
	whole := n &^ 7
	if whole > 0 {
		i, most, least = l.smoUpdate(&f[0], &ki[0], &kj[0], &up[0], &low[0], whole, t)
		if whole == n {
			return i, most, least
		}
	} else if n == 0 {
		return smoUpdatePortable[T](nil, nil, nil, nil, nil, 0, t)
	}
	ri, rmost, rleast := smoUpdatePortable(&f[whole], &ki[whole], &kj[whole], &up[whole], &low[whole], n-whole, t)
	if whole == 0 {
		return ri, rmost, rleast
	}
	if rmost > most {
		i, most = whole+ri, rmost
	}
	return i, most, min(least, rleast)
}

// SMOSecond returns the j with the largest gain d²/κ, and this gain, where d = fi − f[j] −
// low[j] > 0 and κ = max(tau, kii + diag[j] − 2·ki[j]). Of equal gains it takes the first.
// This j is the partner of i by second-order information (Fan, Chen and Lin 2005, WSS 3). tau
// > 0 replaces a curvature that is not positive. If there is nothing to gain, j is −1 and the
// gain 0.
//
// A division costs more than all other operations here. Therefore sixteen sequences, each of
// every sixteenth element, compare their fractions crosswise, d²κ' > d'²κ. Only the best of
// each sequence and the last n mod 16 elements are divided. Of gains that differ only by
// rounding any may be taken, but the same one at all levels.
func SMOSecond[T Float](f, low []float64, ki []T, diag []float64, fi, kii, tau float64) (j int, gain float64) {
	n := len(f)
	low, ki, diag = low[:n], ki[:n], diag[:n]
	l := loops[T]()
	whole := n &^ (smoLanes - 1)
	for from := 0; from < smoLanes && whole > 0; from += l.smoLanes {
		r, g := l.smoSecond(&f[from], &low[from], &ki[from], &diag[from], whole, fi, kii, tau)
		if r += from; g > gain || g == gain && r < j {
			j, gain = r, g
		}
	}
	for r := whole; r < n; r++ {
		d := max(0, fi-(f[r]+low[r]))
		kappa := max(tau, kii+diag[r]-2*float64(ki[r]))
		if g := float64(d*d) / kappa; g > gain {
			j, gain = r, g
		}
	}
	if gain == 0 {
		return -1, 0
	}
	return j, gain
}

// smoLanes is the number of sequences of [SMOSecond]. A level may compute them in several
// calls.
const smoLanes = 16

// SMOPair works like [SMOUpdate], but also returns the index of the smallest f + low, and
// chooses among equal values as LIBSVM does: the last of the largest, and the first of the
// smallest. For an empty set the value is infinite and the index undefined.
func SMOPair(f, ki, kj, up, low []float64, t float64) (i, j int, most, least float64) {
	n := len(f)
	ki, kj, up, low = ki[:n], kj[:n], up[:n], low[:n]
	i, j, most, least = -1, -1, math.Inf(-1), math.Inf(1)
	whole := 0
	if l := n &^ 7; l > 0 {
		var ok bool
		if i, j, most, least, ok = smoPair(&f[0], &ki[0], &kj[0], &up[0], &low[0], l, t); ok {
			whole = l
		}
	}
	for k := whole; k < n; k++ {
		v := f[k] - float64(t*(ki[k]-kj[k]))
		f[k] = v
		if u := v + up[k]; u >= most {
			i, most = k, u
		}
		if l := v + low[k]; l < least {
			j, least = k, l
		}
	}
	return i, j, most, least
}

// SMOPartner works like [SMOSecond], but with LIBSVM's choices: it takes the last of equal
// gains, and tau replaces only a curvature ≤ 0.
func SMOPartner(f, low, ki, diag []float64, fi, kii, tau float64) (j int, gain float64) {
	n := len(f)
	low, ki, diag = low[:n], ki[:n], diag[:n]
	j = -1
	whole := 0
	if l := n &^ 7; l > 0 {
		var ok bool
		if j, gain, ok = smoPartner(&f[0], &low[0], &ki[0], &diag[0], l, fi, kii, tau); ok {
			whole = l
		}
	}
	for k := whole; k < n; k++ {
		d := max(0, fi-(f[k]+low[k]))
		kappa := kii + diag[k] - 2*ki[k]
		if kappa <= 0 {
			kappa = tau
		}
		if g := float64(d*d) / kappa; g >= gain {
			j, gain = k, g
		}
	}
	if gain == 0 {
		return -1, 0
	}
	return j, gain
}
