package main

import (
	"math"
	"math/big"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// exponential computes exp(t) by t = k·ln 2 + r, |r| ≤ ln 2/2, exp(t) = 2^k·(1 + r + r²·q(r)).
// The first terms 1 + r are exact, so exp(0) is 1.
type exponential struct {
	m                         machine
	low, high                 Op // for t beyond them the result is 0 or +Inf
	perLn2, ln2Hi, ln2Lo, one Op
	q                         []Op // coefficients of q, beginning with the constant term
}

func (m machine) exponential() exponential {
	low, high, degree := -746.0, 710.0, 9
	if m.single {
		low, high, degree = -104, 89, 4
	}
	// ln 2 in two parts. With fused multiply-adds the first part may use all its bits.
	ln2 := new(big.Float).SetPrec(200).SetFloat64(0)
	ln2.SetString("0.693147180559945309417232121458176568075500134360255254120680009")
	hi, _ := ln2.Float64()
	if m.single {
		hi = float64(float32(hi))
	}
	lo, _ := new(big.Float).Sub(ln2, big.NewFloat(hi)).Float64()

	e := exponential{
		m: m, low: m.held(low), high: m.held(high), perLn2: m.held(1 / math.Ln2),
		ln2Hi: m.held(hi), ln2Lo: m.held(lo), one: m.held(1),
	}
	for _, c := range chebyshev(degree, 2, math.Ln2/2) {
		e.q = append(e.q, m.held(c))
	}
	return e
}

// of replaces each t by exp(t). It does each step for all registers before the next step, so
// that no register waits for its own results. NaN stays NaN, because max and min return their
// first operand here if either is NaN.
func (e exponential) of(all ...reg.VecVirtual) []reg.VecVirtual {
	m := e.m
	r, k, p := make([]reg.VecVirtual, len(all)), make([]reg.VecVirtual, len(all)), make([]reg.VecVirtual, len(all))
	for i, t := range all {
		low, high := m.register(), m.register()
		m.mov()(e.low, low)
		m.max()(t, low, low)
		m.mov()(e.high, high)
		m.min()(low, high, high)
		r[i] = high
	}
	for i := range all {
		k[i] = m.register()
		m.mul()(e.perLn2, r[i], k[i])
	}
	const nearest = 8 // round to nearest even, without exceptions
	for _, k := range k {
		switch {
		case m.wide:
			m.of(VRNDSCALEPS, VRNDSCALEPD)(U8(nearest), k, k)
		case m.single:
			VROUNDPS(U8(nearest), k, k)
		default:
			VROUNDPD(U8(nearest), k, k)
		}
	}
	for _, part := range []Op{e.ln2Hi, e.ln2Lo} {
		for i := range all {
			m.fnma()(part, k[i], r[i])
		}
	}
	for i := range all {
		p[i] = m.register()
		m.mov()(e.q[len(e.q)-1], p[i])
	}
	for c := len(e.q) - 2; c >= 0; c-- {
		for i := range all {
			m.fma2()(e.q[c], r[i], p[i])
		}
	}
	for i := range all {
		r2 := m.register()
		m.mul()(r[i], r[i], r2)
		m.fma2()(r[i], r2, p[i])
	}
	for i := range all {
		m.add()(e.one, p[i], p[i])
		e.times(k[i], p[i])
	}
	return p
}

// times multiplies p by 2^k.
func (e exponential) times(k, p reg.VecVirtual) {
	m := e.m
	if m.wide {
		m.of(VSCALEFPS, VSCALEFPD)(k, p, p)
		return
	}
	// 2^k is split into two factors, so that each is a normal number.
	if m.single {
		whole, half := YMM(), YMM()
		VCVTPS2DQ(k, whole)
		VPSRAD(U8(1), whole, half)
		VPSUBD(half, whole, whole)
		bias := integers("bias32", 127<<32|127, 127<<32|127, 127<<32|127, 127<<32|127)
		for _, f := range []reg.VecVirtual{half, whole} {
			VPADDD(bias, f, f)
			VPSLLD(U8(23), f, f)
			VMULPS(f, p, p)
		}
		return
	}
	whole, half := XMM(), XMM()
	VCVTPD2DQY(k, whole)
	VPSRAD(U8(1), whole, half)
	VPSUBD(half, whole, whole)
	bias := integers("bias64", 1023, 1023, 1023, 1023)
	for _, x := range []reg.VecVirtual{half, whole} {
		f := YMM()
		VPMOVSXDQ(x, f)
		VPADDQ(bias, f, f)
		VPSLLQ(U8(52), f, f)
		VMULPD(f, p, p)
	}
}

// exp: dst[j] = exp(scale·x[j]).
func (m machine) exp() {
	m.text("exp", "func(dst, x *T, n int, scale T)")
	dst, x, n, scale := param("dst"), param("x"), param("n"), m.param("scale")
	e := m.exponential()
	m.each(n, func(t *tail) {
		v := m.load(Mem{Base: x}, t)
		m.mul()(scale, v, v)
		m.store(e.of(v)[0], Mem{Base: dst}, t)
		advance(m.width(), x, dst)
	})
	end()
}

// gaussian: dst[j] = exp(−gamma·max(0, a + b[j] − 2·dst[j])).
func (m machine) gaussian() {
	m.text("gaussian", "func(dst, b *T, n int, a, gamma T)")
	if m.single {
		m.gaussianSingle()
		return
	}
	dst, b, n, a, gamma := param("dst"), param("b"), param("n"), m.param("a"), m.param("gamma")
	minus, zero := m.register(), m.zero()
	m.sub()(gamma, zero, minus)
	e := m.exponential()
	body := func(count int, t *tail) {
		var exponents []reg.VecVirtual
		for i := range count {
			v, s := m.load(Mem{Base: dst, Disp: i * m.width()}, t), m.load(Mem{Base: b, Disp: i * m.width()}, t)
			m.add()(a, s, s)
			m.add()(v, v, v)
			m.sub()(v, s, s)
			m.max()(s, zero, s)
			m.mul()(minus, s, s)
			exponents = append(exponents, s)
		}
		for i, v := range e.of(exponents...) {
			m.store(v, Mem{Base: dst, Disp: i * m.width()}, t)
		}
		advance(count*m.width(), b, dst)
	}
	m.many(n, m.together(), body)
	end()
}

// together is the number of registers that exp handles at a time. The chain of steps is so
// long that a core does not overlap three of them by itself.
func (m machine) together() int {
	if m.wide {
		return 4
	}
	return 3
}

// gaussianSingle is gaussian for float32. It adds the smaller norm last.
func (m machine) gaussianSingle() {
	dst, b, n, a := param("dst"), param("b"), param("n"), m.param("a")
	two, powers := m.held(2), m.powers(m.held)
	m.each(n, func(t *tail) {
		v, s, less := m.load(Mem{Base: dst}, t), m.load(Mem{Base: b}, t), m.register()
		VMINPS(s, a, less) // NaN if s is NaN
		VMAXPS(a, s, s)    // NaN if a is NaN
		m.fnma()(two, v, s)
		m.add()(less, s, s) // after the subtraction; see simd.Gaussian
		m.store(powers.of(s), Mem{Base: dst}, t)
		advance(m.width(), b, dst)
	})
	end()
}

// powers computes exp(−gamma·max(0, s)) in float32. It expresses the exponent in units of ln 2:
// −g·s = k + r, |r| ≤ ½. One fused operation gives k and one gives r, so the product is never
// rounded. The first one leaves k + 127 in the low bits, and shifting these gives 2^k.
type powers struct {
	m            machine
	g, far, zero reg.VecVirtual
	magic        Op
	p            []Op // coefficients of 2^r, beginning with 1
}

// powers loads the parameter gamma, and constants by the function constant.
func (m machine) powers(constant func(float64) Op) powers {
	one := Load(Param("gamma"), XMM())
	VMULSS(m.constant(math.Log2E), one, one)
	e := powers{m: m, g: m.broadcast(one), zero: m.zero()}
	last := XMM()
	VMOVSS(m.constant(125), last)
	VDIVSS(one, last, last)
	e.far, e.magic, e.p = m.broadcast(last), constant(0x1.8p23+127), []Op{constant(1)}
	for i, c := range chebyshev(5, 1, math.Ln2/2) {
		e.p = append(e.p, constant(c*math.Pow(math.Ln2, float64(i+1))))
	}
	return e
}

// of returns the powers for s, which it overwrites.
func (e powers) of(s reg.VecVirtual) reg.VecVirtual {
	m, power, y := e.m, e.m.register(), e.m.register()
	m.max()(s, e.zero, s)
	const near = 9 // the negation of ≥, so NaN counts as near
	var kept, within reg.Register
	if m.wide {
		kept = K()
		VCMPPS(U8(near), e.far, s, kept)
	} else {
		within = m.register()
		VCMPPS(U8(near), e.far, s, within)
	}
	m.mov()(e.magic, power)
	m.fnma()(e.g, s, power)
	m.sub()(e.magic, power, y)
	VFNMSUB213PS(y, e.g, s)
	m.mov()(e.p[len(e.p)-1], y)
	for i := len(e.p) - 2; i >= 0; i-- {
		m.fma2()(e.p[i], s, y)
	}
	VPSLLD(U8(23), power, power)
	if m.wide {
		VMULPS_Z(power, y, kept, y)
	} else {
		VMULPS(power, y, y)
		VANDPS(within, y, y)
	}
	return y
}

// chebyshev returns the coefficients of a polynomial of the given degree. It equals the sum Σ
// r^i/(i + from)! at the Chebyshev points of |r| ≤ reach. This sum is the part of the series
// of exp(r) from the power r^from on, divided by r^from.
func chebyshev(degree, from int, reach float64) []float64 {
	const prec = 200
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(v) }
	q := func(r *big.Float) *big.Float {
		sum, term := number(0), number(1)
		for i := 2; i <= from; i++ {
			term.Quo(term, number(float64(i)))
		}
		for i := range 40 {
			sum.Add(sum, term)
			term.Mul(term, r)
			term.Quo(term, number(float64(i+from+1)))
		}
		return sum
	}
	n := degree + 1
	at, diff := make([]*big.Float, n), make([]*big.Float, n)
	for i := range n {
		at[i] = number(reach * math.Cos(math.Pi*(float64(i)+0.5)/float64(n)))
		diff[i] = q(at[i])
	}
	for order := 1; order < n; order++ { // Newton's divided differences
		for i := n - 1; i >= order; i-- {
			gap := number(0).Sub(at[i], at[i-order])
			diff[i].Sub(diff[i], diff[i-1])
			diff[i].Quo(diff[i], gap)
		}
	}
	c := make([]*big.Float, n) // the coefficients, multiplied out from the last factor
	for i := range c {
		c[i] = number(0)
	}
	for i := n - 1; i >= 0; i-- {
		for j := n - 1; j >= 0; j-- {
			c[j].Mul(c[j], number(0).Neg(at[i]))
			if j > 0 {
				c[j].Add(c[j], c[j-1])
			}
		}
		c[0].Add(c[0], diff[i])
	}
	out := make([]float64, n)
	for i := range c {
		out[i], _ = c[i].Float64()
	}
	return out
}
