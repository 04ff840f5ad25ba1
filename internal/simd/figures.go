package simd

import (
	"math"
)

// This file has two passes over the variables of a programme that compute the figures of a
// trace. They sum in eight lanes, and have the same bits at all levels.

// Tally has sums and extreme values over the variables of a programme.
type Tally struct {
	SF, P, S      float64 // Σ α s F, Σ α p, Σ α s
	Up, Low       float64 // max of F where sα can rise, min of F where sα can fall; −Inf and +Inf if there are none
	Sum           float64 // sum of F where lower < α < upper
	Free, AtUpper int     // number of variables with lower < α < upper, and with lower < α = upper
}

// Summarise computes the Tally of n variables, whose signs are ±1.
func Summarise(alpha, f, sign, p, lower, upper []float64) Tally {
	n := len(alpha)
	f, sign, p, lower, upper = f[:n], sign[:n], p[:n], lower[:n], upper[:n]
	var sums [8][8]float64
	for j := range 8 {
		sums[4][j], sums[5][j] = math.Inf(-1), math.Inf(1)
	}
	whole := n &^ 7
	if whole == 0 || !tally(&sums[0][0], &alpha[0], &f[0], &sign[0], &p[0], &lower[0], &upper[0], whole) {
		whole = 0
	}
	for i := whole; i < n; i++ {
		j, a, v, s := i%8, alpha[i], f[i], sign[i]
		sums[0][j] += float64(a * float64(s*v))
		sums[1][j] += float64(a * p[i])
		sums[2][j] += float64(s * a)
		above, below := a > lower[i], a < upper[i]
		rises, falls := below, above
		if s < 0 {
			rises, falls = above, below
		}
		if rises && v > sums[4][j] {
			sums[4][j] = v
		}
		if falls && v < sums[5][j] {
			sums[5][j] = v
		}
		switch {
		case above && below:
			sums[3][j] += v
			sums[6][j]++
		case above:
			sums[7][j]++
		}
	}
	t := Tally{SF: fold(&sums[0]), P: fold(&sums[1]), S: fold(&sums[2]), Sum: fold(&sums[3]), Up: math.Inf(-1), Low: math.Inf(1), Free: int(fold(&sums[6])), AtUpper: int(fold(&sums[7]))}
	for j := range 8 {
		t.Up, t.Low = max(t.Up, sums[4][j]), min(t.Low, sums[5][j])
	}
	return t
}

// Gap returns Σ max(0, g)·(α − lower) + max(0, −g)·(upper − α) with g = s(b − F), the gap of a
// programme without ridge. Upper bounds may be infinite.
func Gap(alpha, f, sign, lower, upper []float64, b float64) float64 {
	n := len(alpha)
	f, sign, lower, upper = f[:n], sign[:n], lower[:n], upper[:n]
	var sums [8]float64
	whole := n &^ 7
	if whole == 0 || !gap(&sums[0], &alpha[0], &f[0], &sign[0], &lower[0], &upper[0], whole, b) {
		whole = 0
	}
	for i := whole; i < n; i++ {
		a := alpha[i]
		if g := float64(sign[i] * (b - f[i])); g > 0 {
			sums[i%8] += float64(g * (a - lower[i]))
		} else if g < 0 {
			sums[i%8] -= float64(g * (upper[i] - a))
		}
	}
	return fold(&sums)
}

// fold adds the eight sums.
func fold(v *[8]float64) float64 {
	return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]))
}
