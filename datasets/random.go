package datasets

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// source draws numbers that have the same bits on every machine and with every Go release: PCG
// is specified, and the functions below do not depend on whether a processor fuses
// multiplication and addition.
type source struct{ pcg *rand.PCG }

func newSource(seed uint64) source { return source{rand.NewPCG(seed, 0x5eed)} }

// uniform draws from [0, 1).
func (s source) uniform() float64 { return float64(s.pcg.Uint64()>>11) * 0x1p-53 }

// below draws from 0 … n−1. Its bias is n/2⁶⁴.
func (s source) below(n int) int {
	hi, _ := bits.Mul64(s.pcg.Uint64(), uint64(n))
	return int(hi)
}

// normal draws from the standard normal distribution by the ratio of uniforms (Kinderman and
// Monahan 1977). The number is a quotient, so it does not depend on how a machine computes the
// logarithm. Only the acceptance test does, and a difference in the last bit changes it with a
// probability of 10⁻¹⁶.
func (s source) normal() float64 {
	for {
		u := 1 - s.uniform()
		x := 1.7155277699214135 * (s.uniform() - 0.5) / u // √(8/e)
		if x*x <= -4*math.Log(u) {
			return x
		}
	}
}

// near draws from the normal distribution around v.
func (s source) near(v, deviation float64) float64 {
	return float64(v) + float64(deviation*s.normal()) // the conversions prevent fused multiply-adds
}

// permutation shuffles 0 … n−1 (Fisher and Yates).
func (s source) permutation(n int) []int {
	p := indices(n)
	for i := n - 1; i > 0; i-- {
		j := s.below(i + 1)
		p[i], p[j] = p[j], p[i]
	}
	return p
}

// turn returns cos and sin of t ≥ 0 turns. It sums the two Taylor series, with divisions in
// places where a machine could fuse operations. It does not use math.Sin, because that differs
// in the last bit between machines.
func turn(t float64) (cos, sin float64) {
	quarter := math.Floor(4 * t)
	a := (4*t - quarter) * (math.Pi / 2)
	cos, sin = 1, 1
	for k := 24.0; k > 0; k -= 2 {
		cos = 1 - a*a*cos/(k*(k-1))
		sin = 1 - a*a*sin/(k*(k+1))
	}
	sin = float64(sin * a)
	switch int(quarter) & 3 {
	case 1:
		return 0 - sin, cos // avoids −0
	case 2:
		return 0 - cos, 0 - sin
	case 3:
		return sin, 0 - cos
	}
	return cos, sin
}

// arctan returns arctan t. It halves the angle three times and sums the Taylor series. It does
// not use math.Atan, because that differs in the last bit between machines.
func arctan(t float64) float64 {
	for range 3 {
		t /= 1 + math.Sqrt(1+float64(t*t))
	}
	q, sum := t*t, 0.0
	for k := 25.0; k > 0; k -= 2 {
		sum = 1/k - float64(q*sum)
	}
	return 8 * float64(t*sum)
}
