package vec

import "math"

// The functions of package math may differ in the last bit between machines, because some use
// assembly or fused multiply-adds. These functions give the same bits everywhere.

// Log returns ln x with a relative error of 1e-15. Log(0) = −Inf, Log(+Inf) = +Inf, and the
// result is NaN if x < 0 or x is NaN.
func Log(x float64) float64 {
	switch {
	case !(x >= 0):
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	case math.IsInf(x, 1):
		return x
	}
	m, e := math.Frexp(x) // exact
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	return float64(float64(e)*math.Ln2) + 2*atanh((m-1)/(m+1))
}

// Log1p returns ln(1 + x) for x ≥ 0 with a relative error of 1e-15, also for very small x that
// are not subnormal.
func Log1p(x float64) float64 {
	if x < 0.25 {
		return 2 * atanh(x/(2+x))
	}
	return Log(1 + x)
}

// Coefficients of the Taylor sums, from the last term to the first.
var (
	atanhSeries = [...]float64{1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3}
	sineSeries  = [...]float64{1.0 / (17 * 16), 1.0 / (15 * 14), 1.0 / (13 * 12), 1.0 / (11 * 10), 1.0 / (9 * 8), 1.0 / (7 * 6), 1.0 / (5 * 4), 1.0 / (3 * 2)}
)

// atanh returns the Taylor sum t + t³/3 + t⁵/5 + …, whose remainder is below 1e-16 t for |t| ≤
// 0.1716 = (√2 − 1)/(√2 + 1).
func atanh(t float64) float64 {
	t2 := float64(t * t)
	var sum float64
	for _, c := range &atanhSeries {
		sum = float64((sum + c) * t2)
	}
	return t + float64(t*sum)
}

// SquaredSine returns sin²(π u) with an absolute error of 1e-15, and 0 for an infinite u. Its
// period is exactly 1.
func SquaredSine(u float64) float64 {
	u = math.Abs(u - math.RoundToEven(u)) // exact, in [0, ½]
	switch {
	case u > 0.25:
		return 1 - square(sine(math.Pi*(0.5-u)))
	case u >= 0:
		return square(sine(math.Pi * u))
	}
	return 0 // u was infinite
}

// SineSquares returns SquaredSine(u) and sin(2π u), each with an absolute error of 1e-15, and
// 0 and 0 for an infinite u.
func SineSquares(u float64) (squared, double float64) {
	u -= math.RoundToEven(u) // exact, in [−½, ½]
	t := math.Abs(u)
	switch {
	case t > 0.25:
		c := sine(math.Pi * (0.5 - t))
		c2 := square(c)
		return 1 - c2, math.Copysign(2*float64(c*math.Sqrt(1-c2)), u)
	case t >= 0:
		s := sine(math.Pi * t)
		s2 := square(s)
		return s2, math.Copysign(2*float64(s*math.Sqrt(1-s2)), u)
	}
	return 0, 0 // u was infinite
}

// sine returns sin t for 0 ≤ t ≤ π/4 by its Taylor sum, whose remainder
// t¹⁹/19! is below 1e-19.
func sine(t float64) float64 {
	t2 := float64(t * t)
	sum := 1.0
	for _, c := range &sineSeries {
		sum = 1 - float64(float64(t2*c)*sum)
	}
	return t * sum
}

// Tanh returns tanh t with a relative error of 1e-15.
func Tanh(t float64) float64 {
	if math.Abs(t) < 0.25 {
		// This is Lambert's continued fraction t/(1 + t²/(3 + t²/(5 + …))).
		t2 := float64(t * t)
		f := 15.0
		for k := 13.0; k >= 1; k -= 2 {
			f = k + t2/f
		}
		return t / f
	}
	return math.Copysign(1-2/(Exp(2*math.Abs(t))+1), t)
}
