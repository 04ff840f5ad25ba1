package vec

import "math"

// ExpScaled sets v[j] to exp(a·v[j]), with a relative error of 4e-16, or of one unit in the
// last place for subnormal results. It takes less than half the time of math.Exp. NaN, ±Inf
// and overflow give the same results as there.
//
// The algorithm is that of Tang (1989), "Table-driven implementation of the exponential
// function in IEEE floating-point arithmetic": with t = (k/64)·ln 2 + r, |r| ≤ ln 2/128,
// exp(t) = 2^⌊k/64⌋ · 2^((k mod 64)/64) · exp(r). A table has the second factor. A Taylor
// polynomial of degree 5 gives exp(r); its remainder r⁶/720 is below 2⁻⁵⁴.
func ExpScaled(v []float64, a float64) {
	const (
		perLn2 = 64 / math.Ln2
		ln2Hi  = 0x1.62e42fefp-7       // ln 2/64 to 33 bits, so that k·ln2Hi is exact
		ln2Lo  = 0x1.473de6af278edp-40 // the remaining digits of ln 2/64
		magic  = 0x1.8p52              // adding it rounds to an integer, which is then in the low bits
	)
	for j, t := range v {
		t = float64(t * a)
		if !(t > -708 && t < 709) {
			v[j] = expEdge(t)
			continue
		}
		shifted := float64(t*perLn2) + magic
		bits := math.Float64bits(shifted)
		k := shifted - magic
		r := t - float64(k*ln2Hi) - float64(k*ln2Lo)
		r2 := float64(r * r)
		p := r + float64(r2*(0.5+float64(r*(1.0/6)))) + float64(float64(r2*r2)*(1.0/24+float64(r*(1.0/120))))
		s := math.Float64frombits(Roots[bits%64] + bits>>6<<52)
		v[j] = s + float64(s*p)
	}
}

// Exp is ExpScaled for one number.
func Exp(t float64) float64 {
	v := [1]float64{t}
	ExpScaled(v[:], 1)
	return v[0]
}

// expEdge returns exp(t) if the result overflows or is subnormal or nearly so, or if t is NaN.
// The shifts of t are exact.
func expEdge(t float64) float64 {
	const expMinus64 = 1.6038108905486378529760870341424e-28
	switch {
	case t > 709.782712893384: // ln of the largest float64
		return math.Inf(1)
	case t < -745.2: // the result is less than half of the smallest float64
		return 0
	case t > 0:
		return Exp(t-1) * math.E
	case t < 0:
		return Exp(t+64) * expMinus64
	}
	return t // NaN
}

// Roots[i] has the bits of 2^(i/64), rounded to nearest.
var Roots = [64]uint64{
	0x3ff0000000000000, 0x3ff02c9a3e778061, 0x3ff059b0d3158574, 0x3ff0874518759bc8,
	0x3ff0b5586cf9890f, 0x3ff0e3ec32d3d1a2, 0x3ff11301d0125b51, 0x3ff1429aaea92de0,
	0x3ff172b83c7d517b, 0x3ff1a35beb6fcb75, 0x3ff1d4873168b9aa, 0x3ff2063b88628cd6,
	0x3ff2387a6e756238, 0x3ff26b4565e27cdd, 0x3ff29e9df51fdee1, 0x3ff2d285a6e4030b,
	0x3ff306fe0a31b715, 0x3ff33c08b26416ff, 0x3ff371a7373aa9cb, 0x3ff3a7db34e59ff7,
	0x3ff3dea64c123422, 0x3ff4160a21f72e2a, 0x3ff44e086061892d, 0x3ff486a2b5c13cd0,
	0x3ff4bfdad5362a27, 0x3ff4f9b2769d2ca7, 0x3ff5342b569d4f82, 0x3ff56f4736b527da,
	0x3ff5ab07dd485429, 0x3ff5e76f15ad2148, 0x3ff6247eb03a5585, 0x3ff6623882552225,
	0x3ff6a09e667f3bcd, 0x3ff6dfb23c651a2f, 0x3ff71f75e8ec5f74, 0x3ff75feb564267c9,
	0x3ff7a11473eb0187, 0x3ff7e2f336cf4e62, 0x3ff82589994cce13, 0x3ff868d99b4492ed,
	0x3ff8ace5422aa0db, 0x3ff8f1ae99157736, 0x3ff93737b0cdc5e5, 0x3ff97d829fde4e50,
	0x3ff9c49182a3f090, 0x3ffa0c667b5de565, 0x3ffa5503b23e255d, 0x3ffa9e6b5579fdbf,
	0x3ffae89f995ad3ad, 0x3ffb33a2b84f15fb, 0x3ffb7f76f2fb5e47, 0x3ffbcc1e904bc1d2,
	0x3ffc199bdd85529c, 0x3ffc67f12e57d14b, 0x3ffcb720dcef9069, 0x3ffd072d4a07897c,
	0x3ffd5818dcfba487, 0x3ffda9e603db3285, 0x3ffdfc97337b9b5f, 0x3ffe502ee78b3ff6,
	0x3ffea4afa2a490da, 0x3ffefa1bee615a27, 0x3fff50765b6e4540, 0x3fffa7c1819e90d8,
}
