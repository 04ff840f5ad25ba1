package kernels

import (
	"math"

	"github.com/svmnb/svmnb/internal/vec"
)

// besselPair computes the modified Bessel functions of the second kind of a pair of orders, K_a(t)
// and K_(1−a)(t) for 0 < a ≤ 1, to about 1e-15 (Temme 1975, as in Press et al. 2007, §6.6). With μ
// the one of −a and a − 1 that is nearer to 0, the pair is K_μ and K_(μ+1).
type besselPair struct {
	mu          float64
	first       bool    // K_a is K_μ
	plus, minus float64 // 1/Γ(1 + μ), 1/Γ(1 − μ)
	odd, even   float64 // (minus − plus)/2μ, (minus + plus)/2
}

// reciprocalGamma has the power series of 1/Γ(1 + x) (Abramowitz and Stegun 1964, 6.1.34).
var reciprocalGamma = [...]float64{
	1, 0.57721566490153286061, -0.65587807152025388108, -0.042002635034095235529, 0.1665386113822914895,
	-0.042197734555544336748, -0.0096219715278769735621, 0.0072189432466630995424, -0.0011651675918590651121,
	-0.00021524167411495097282, 0.00012805028238811618615, -0.000020134854780788238656, -1.2504934821426706573e-6,
	1.1330272319816958824e-6, -2.0563384169776071035e-7, 6.1160951044814158179e-9, 5.0020076444692229301e-9,
	-1.1812745704870201446e-9, 1.0434267116911005105e-10, 7.782263439905071254e-12, -3.6968056186422057082e-12,
	5.100370287454475979e-13, -2.0583260535665067832e-14, -5.3481225394230179824e-15, 1.2267786282382607902e-15,
}

// gammaParts returns the odd and the even part of 1/Γ(1 + x) for |x| ≤ ½, the odd one divided by x.
func gammaParts(x float64) (odd, even float64) {
	for i := len(reciprocalGamma) - 1; i >= 0; i-- {
		if c := reciprocalGamma[i]; i%2 == 0 {
			even = c + float64(float64(x*x)*even)
		} else {
			odd = c + float64(float64(x*x)*odd)
		}
	}
	return odd, even
}

// overGamma returns 1/Γ(a) for 0 < a ≤ 1.
func overGamma(a float64) float64 {
	if a > 0.5 {
		odd, even := gammaParts(a - 1)
		return even + float64((a-1)*odd)
	}
	odd, even := gammaParts(a)
	return a * (even + float64(a*odd))
}

func newBesselPair(a float64) besselPair {
	b := besselPair{mu: a - 1}
	if a <= 0.5 {
		b.mu, b.first = -a, true
	}
	odd, even := gammaParts(b.mu)
	b.odd, b.even = -odd, even
	b.plus, b.minus = even+float64(b.mu*odd), even-float64(b.mu*odd)
	return b
}

// at returns exp(t) K_a(t) and exp(t) K_(1−a)(t) for t > 0.
func (b *besselPair) at(t float64) (first, second float64) {
	if t <= 2 {
		first, second = b.near(t)
	} else {
		first, second = b.far(t)
	}
	if !b.first {
		first, second = second, first
	}
	return first, second
}

// near sums the series of Temme for t ≤ 2.
func (b *besselPair) near(t float64) (first, second float64) {
	mu := b.mu
	half := t / 2
	d := -vec.Log(half)
	e := float64(mu * d)
	up := vec.Exp(e)
	cosh, sinh := (up+1/up)/2, 1.0 // sinh(e)/e
	if math.Abs(e) > 0.2 {
		sinh = (up - 1/up) / 2 / e
	} else {
		for _, c := range []float64{110, 72, 42, 20, 6} {
			sinh = 1 + float64(float64(e*e)/c*sinh)
		}
	}
	f := (float64(b.odd*cosh) + float64(float64(b.even*sinh)*d)) / float64(b.plus*b.minus)
	p, q, c := up/2/b.plus, 1/(2*up*b.minus), 1.0
	sum, sum1 := f, p
	for i := 1.0; i < 100; i++ {
		f = (float64(i*f) + p + q) / (float64(i*i) - float64(mu*mu))
		c *= float64(half*half) / i
		p /= i - mu
		q /= i + mu
		term := float64(c * f)
		sum += term
		sum1 += float64(c * (p - float64(i*f)))
		if math.Abs(term) < math.Abs(sum)*0x1p-54 {
			break
		}
	}
	grow := vec.Exp(t)
	return sum * grow, sum1 / half * grow
}

// far evaluates a continued fraction by the method of Steed for t > 2.
func (b *besselPair) far(t float64) (first, second float64) {
	mu := b.mu
	a1 := 0.25 - float64(mu*mu)
	g := 2 * (1 + t)
	d := 1 / g
	h, step := d, d
	q1, q2, q, c, a := 0.0, 1.0, a1, a1, -a1
	s := 1 + float64(q*step)
	for i := 2.0; i < 10000; i++ {
		a -= 2 * (i - 1)
		c = -float64(a*c) / i
		next := (q1 - float64(g*q2)) / a
		q1, q2 = q2, next
		q += float64(c * next)
		g += 2
		d = 1 / (g + float64(a*d))
		step = float64(step * (float64(g*d) - 1))
		h += step
		more := float64(q * step)
		s += more
		if math.Abs(more) < math.Abs(s)*0x1p-54 {
			break
		}
	}
	first = math.Sqrt(math.Pi/(2*t)) / s
	return first, first * (mu + t + 0.5 - float64(a1*h)) / t
}
