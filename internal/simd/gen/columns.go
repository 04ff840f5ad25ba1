package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The loops in this file round after every operation, so that all levels have the same bits as
// package vec.

// columns: dst[j] = Σ_k term(x[k], cols[k·stride+j]), summed from left to right.
func (m machine) columns(name string, term func(x, c reg.VecVirtual)) {
	m.text(name, "func(dst, x, cols *T, n, d, stride int)")
	dst, x, cols, n, d, stride := param("dst"), param("x"), param("cols"), param("n"), param("d"), param("stride")
	SHLQ(U8(log2(m.bytes())), stride)
	// Several sums in flight hide the latency of an addition.
	const sums = 4
	some := func(count int, t *tail) {
		sum := make([]reg.VecVirtual, count)
		for i := range sum {
			sum[i] = m.zero()
		}
		at, from, left, loop := GP64(), GP64(), GP64(), label("feature%d%v", count, t != nil)
		MOVQ(cols, at)
		MOVQ(x, from)
		MOVQ(d, left)
		Label(loop)
		a := m.broadcast(Mem{Base: from})
		for i, s := range sum {
			c := m.load(Mem{Base: at, Disp: i * m.width()}, t)
			term(a, c)
			m.add()(c, s, s)
		}
		ADDQ(stride, at)
		advance(m.bytes(), from)
		DECQ(left)
		JNE(LabelRef(loop))
		for i, s := range sum {
			m.store(s, Mem{Base: dst, Disp: i * m.width()}, t)
		}
		advance(count*m.width(), dst, cols)
	}
	Label("many")
	CMPQ(n, U8(sums*m.lanes()))
	JLT(LabelRef("full"))
	some(sums, nil)
	SUBQ(U8(sums*m.lanes()), n)
	JMP(LabelRef("many"))
	m.each(n, func(t *tail) { some(1, t) })
	end()
}

func (m machine) dots() { m.columns("dots", func(x, c reg.VecVirtual) { m.mul()(x, c, c) }) }

func (m machine) distances() {
	m.columns("distances", func(x, c reg.VecVirtual) {
		m.sub()(c, x, c)
		m.mul()(c, c, c)
	})
}

// expScaled: v[j] = exp(a·v[j]) as in package vec, with its table roots. It stops at a
// register in which an exponent is NaN or too near the ends of the range of normal results. It
// returns how many elements are left, beginning with this register.
func (m machine) expScaled() {
	m.text("expScaled", "func(v *T, n int, a T, roots *uint64) (left int)")
	v, n, a, roots := param("v"), param("n"), m.param("a"), param("roots")
	low, high := m.held(-708), m.held(709)
	perLn2, magic := m.held(64/math.Ln2), m.held(0x1.8p52)
	ln2Hi, ln2Lo := m.held(0x1.62e42fefp-7), m.held(0x1.473de6af278edp-40)
	half, sixth, of24, of120 := m.held(0.5), m.held(1.0/6), m.held(1.0/24), m.held(1.0/120)
	low63 := integers("low63", 63, 63, 63, 63, 63, 63, 63, 63)
	m.each(n, func(tail *tail) {
		t := m.load(Mem{Base: v}, tail)
		m.mul()(a, t, t)
		m.edge(t, low, high)
		shifted, k, r, p, q, r2, s := m.register(), m.register(), m.register(), m.register(), m.register(), m.register(), m.register()
		m.mul()(perLn2, t, shifted)
		m.add()(magic, shifted, shifted)
		m.sub()(magic, shifted, k)
		m.mul()(ln2Hi, k, r)
		m.sub()(r, t, r)
		m.mul()(ln2Lo, k, k)
		m.sub()(k, r, r)
		m.mul()(r, r, r2)
		m.mul()(sixth, r, p)
		m.add()(half, p, p)
		m.mul()(r2, p, p)
		m.add()(p, r, p)
		m.mul()(of120, r, q)
		m.add()(of24, q, q)
		m.mul()(r2, r2, r2)
		m.mul()(q, r2, q)
		m.add()(q, p, p)
		m.gather(s, roots, shifted, low63)
		m.mul()(s, p, p)
		m.add()(p, s, s)
		m.store(s, Mem{Base: v}, tail)
		advance(m.width(), v)
	})
	XORQ(n, n)
	Label("edge")
	Store(n, ReturnIndex(0))
	end()
}

// edge jumps to the label "edge" unless low < t < high in all lanes.
func (m machine) edge(t reg.VecVirtual, low, high Op) {
	in := GP32()
	if m.wide {
		above, below := K(), K()
		VCMPPD(U8(greater), low, t, above)
		VCMPPD(U8(less), high, t, above, below)
		KMOVB(below, in)
		CMPL(in, U32(0xff))
	} else {
		above, below := YMM(), YMM()
		VCMPPD(U8(greater), low, t, above)
		VCMPPD(U8(less), high, t, below)
		VANDPD(above, below, below)
		VMOVMSKPD(below, in)
		CMPL(in, U8(0xf))
	}
	JNE(LabelRef("edge"))
}

// gather sets s to 2^(k/64) for the integers k in the low bits of shifted.
func (m machine) gather(s reg.VecVirtual, roots reg.GPVirtual, shifted reg.VecVirtual, low63 Mem) {
	at := m.register()
	if m.wide {
		all := K()
		VPANDQ(low63, shifted, at)
		KXNORB(all, all, all)
		VPXORQ(s, s, s)
		VGATHERQPD(Mem{Base: roots, Index: at, Scale: 8}, all, s)
	} else {
		all := YMM()
		VPAND(low63, shifted, at)
		VPCMPEQQ(all, all, all)
		VXORPD(s, s, s)
		VGATHERQPD(all, Mem{Base: roots, Index: at, Scale: 8}, s)
	}
	VPSRLQ(U8(6), shifted, shifted)
	VPSLLQ(U8(52), shifted, shifted)
	VPADDQ(shifted, s, s)
}
