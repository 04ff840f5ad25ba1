package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// whole returns a register of the integer v in each lane.
func (m machine) whole(v int) reg.VecVirtual {
	r, x, g := m.register(), XMM(), GP32()
	MOVL(U32(uint32(v)), g)
	VMOVD(g, x)
	VPBROADCASTD(x, r)
	return r
}

// smoSingleUpdate: with c = t·(ki[j] − kj[j]), rise[j] −= c and fall[j] −= c. It returns the first
// index of the largest rise, this value, and the smallest fall. n is a multiple of 16.
func (m machine) smoSingleUpdate() {
	m.text("smoSingleUpdate", "func(rise, fall *T, ki, kj *T, n int, t T, at *[16]int32, most, least *[16]T)")
	rise, fall, ki, kj, n := param("rise"), param("fall"), param("ki"), param("kj"), param("n")
	t := m.param("t")
	parts := 16 / m.lanes()
	var top, low, at []reg.VecVirtual
	for range parts {
		a, b := m.register(), m.register()
		m.mov()(m.constant(math.Inf(-1)), a)
		m.mov()(m.constant(math.Inf(1)), b)
		top, low, at = append(top, a), append(low, b), append(at, m.whole(-1))
	}
	index, step := m.register(), m.whole(16)
	m.mov()(m.whole(0), index) // of the sixteen that are read together
	Label("full")
	TESTQ(n, n)
	JEQ(LabelRef("done"))
	for s := range parts {
		disp := s * m.lanes()
		c := m.load(Mem{Base: ki, Disp: 4 * disp}, nil)
		VSUBPS(Mem{Base: kj, Disp: 4 * disp}, c, c)
		VMULPS(t, c, c)
		r, f := m.load(Mem{Base: rise, Disp: 4 * disp}, nil), m.load(Mem{Base: fall, Disp: 4 * disp}, nil)
		VSUBPS(c, r, r)
		VSUBPS(c, f, f)
		m.store(r, Mem{Base: rise, Disp: 4 * disp}, nil)
		m.store(f, Mem{Base: fall, Disp: 4 * disp}, nil)
		m.compare(greater, top[s], r).move(index, at[s])
		VMAXPS(top[s], r, top[s])
		VMINPS(low[s], f, low[s])
	}
	VPADDD(step, index, index)
	advance(64, ki, kj, rise, fall)
	SUBQ(U8(16), n)
	JMP(LabelRef("full"))
	Label("done")
	outAt, outMost, outLeast := param("at"), param("most"), param("least")
	for s := range parts {
		m.store(at[s], Mem{Base: outAt, Disp: s * m.width()}, nil)
		m.store(top[s], Mem{Base: outMost, Disp: s * m.width()}, nil)
		m.store(low[s], Mem{Base: outLeast, Disp: s * m.width()}, nil)
	}
	end()
}

// smoSingleSecond finds in each of sixteen sequences the first element with the largest d²/κ, with d =
// max(0, fi − fall[j]) and κ = max(tau, kii + diag[j] − 2·ki[j]). It compares fractions without division. n is a
// multiple of 16.
func (m machine) smoSingleSecond() {
	m.text("smoSingleSecond", "func(fall, ki, diag *T, n int, fi, kii, tau T, at *[16]int32, above, below *[16]T)")
	fall, ki, diag, n := param("fall"), param("ki"), param("diag"), param("n")
	fi, kii, tau, two := m.param("fi"), m.param("kii"), m.param("tau"), m.held(2)
	parts := 16 / m.lanes()
	var above, below, at []reg.VecVirtual
	for range parts {
		b := m.register()
		m.mov()(m.constant(1), b)
		above, below, at = append(above, m.zero()), append(below, b), append(at, m.whole(-1))
	}
	zero := m.zero()
	index, step := m.register(), m.whole(16)
	m.mov()(m.whole(0), index)
	Label("full")
	TESTQ(n, n)
	JEQ(LabelRef("done"))
	for s := range parts {
		disp := s * m.lanes()
		k, kappa, d := m.load(Mem{Base: ki, Disp: 4 * disp}, nil), m.register(), m.register()
		VADDPS(Mem{Base: diag, Disp: 4 * disp}, kii, kappa)
		VFNMADD231PS(two, k, kappa) // 2·k is exact, so fusing does not change the rounding
		VMAXPS(kappa, tau, kappa)
		VSUBPS(Mem{Base: fall, Disp: 4 * disp}, fi, d)
		VMAXPS(zero, d, d)
		VMULPS(d, d, d)
		ours, theirs := m.register(), m.register()
		VMULPS(d, below[s], ours)
		VMULPS(kappa, above[s], theirs)
		wins := m.compare(greater, theirs, ours)
		wins.move(d, above[s])
		wins.move(kappa, below[s])
		wins.move(index, at[s])
	}
	VPADDD(step, index, index)
	advance(64, fall, ki, diag)
	SUBQ(U8(16), n)
	JMP(LabelRef("full"))
	Label("done")
	outAt, outAbove, outBelow := param("at"), param("above"), param("below")
	for s := range parts {
		m.store(at[s], Mem{Base: outAt, Disp: s * m.width()}, nil)
		m.store(above[s], Mem{Base: outAbove, Disp: s * m.width()}, nil)
		m.store(below[s], Mem{Base: outBelow, Disp: s * m.width()}, nil)
	}
	end()
}
