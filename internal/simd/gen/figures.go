package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The loops in this file sum in eight lanes for any width of a register, and round after every
// operation, so that all levels have the same bits. n is a multiple of 8.

// chosen is a set of lanes: a mask register, or a vector in which all bits of a lane are set.
type chosen struct {
	r reg.Register
	m machine
}

func (m machine) compare(predicate uint8, x Op, y reg.VecVirtual) chosen {
	if m.wide {
		k := K()
		m.of(VCMPPS, VCMPPD)(U8(predicate), x, y, k)
		return chosen{k, m}
	}
	mask := YMM()
	m.of(VCMPPS, VCMPPD)(U8(predicate), x, y, mask)
	return chosen{mask, m}
}

// move copies the chosen lanes of v.
func (c chosen) move(v, to reg.VecVirtual) {
	if c.r.Kind() == reg.KindOpmask {
		c.m.of(VMOVAPS, VMOVAPD)(v, c.r, to)
	} else if c.m.single {
		VBLENDVPS(c.r, v, to, to)
	} else {
		VBLENDVPD(c.r, v, to, to)
	}
}

// and returns the lanes that are in both a and b; andNot returns the lanes that are in b but
// not in a.
func (m machine) and(a, b chosen) chosen {
	if m.wide {
		k := K()
		KANDW(a.r, b.r, k)
		return chosen{k, m}
	}
	mask := YMM()
	VANDPD(a.r, b.r, mask)
	return chosen{mask, m}
}

func (m machine) andNot(a, b chosen) chosen {
	if m.wide {
		k := K()
		KANDNW(b.r, a.r, k)
		return chosen{k, m}
	}
	mask := YMM()
	VANDNPD(b.r, a.r, mask)
	return chosen{mask, m}
}

// addWhere adds v to sum in the chosen lanes; takeWhere subtracts it there.
func (m machine) addWhere(c chosen, v Op, sum reg.VecVirtual) {
	if m.wide {
		VADDPD(v, sum, c.r, sum)
		return
	}
	some := YMM()
	VANDPD(v, c.r, some)
	VADDPD(some, sum, sum)
}

func (m machine) takeWhere(c chosen, v Op, sum reg.VecVirtual) {
	if m.wide {
		VSUBPD(v, sum, c.r, sum)
		return
	}
	some := YMM()
	VANDPD(v, c.r, some)
	VSUBPD(some, sum, sum)
}

// eights runs body, which advances its own pointers, for eight elements at a time. If a
// register has only four lanes, it makes one pass for the first half of the lanes and one for
// the second. The sums are stored at out, eight lanes each.
func (m machine) eights(names []string, begin func() []reg.VecVirtual, body func(sums []reg.VecVirtual, at map[string]Mem)) {
	for half := range 64 / m.width() {
		sums := begin()
		n, out := param("n"), param("out")
		at, pointers := map[string]Mem{}, []reg.GPVirtual{}
		for _, name := range names {
			p := param(name)
			pointers = append(pointers, p)
			at[name] = Mem{Base: p, Disp: half * m.width()}
		}
		loop, done := label("eight%d", half), label("done%d", half)
		Label(loop)
		TESTQ(n, n)
		JEQ(LabelRef(done))
		body(sums, at)
		advance(64, pointers...)
		SUBQ(U8(8), n)
		JMP(LabelRef(loop))
		Label(done)
		for i, s := range sums {
			m.store(s, Mem{Base: out, Disp: 64*i + half*m.width()}, nil)
		}
	}
	end()
}

const less, atMost, atLeast, greater = 0x11, 0x12, 0x1d, 0x1e // comparisons that raise no exception for NaN

// tally computes the sums of tally in portable.go, in the same order.
func (m machine) tally() {
	m.text("tally", "func(out, alpha, f, sign, p, lower, upper *T, n int)")
	one := m.constant(1)
	begin := func() []reg.VecVirtual {
		sums := make([]reg.VecVirtual, 8)
		for i := range sums {
			sums[i] = m.zero()
		}
		m.mov()(m.constant(math.Inf(-1)), sums[4])
		m.mov()(m.constant(math.Inf(1)), sums[5])
		return sums
	}
	m.eights([]string{"alpha", "f", "sign", "p", "lower", "upper"}, begin, func(sum []reg.VecVirtual, at map[string]Mem) {
		a, f, s, t := m.load(at["alpha"], nil), m.load(at["f"], nil), m.load(at["sign"], nil), m.register()
		m.mul()(f, s, t)
		m.mul()(a, t, t)
		m.add()(t, sum[0], sum[0])
		m.mul()(at["p"], a, t)
		m.add()(t, sum[1], sum[1])
		m.mul()(a, s, t)
		m.add()(t, sum[2], sum[2])
		above, below := m.compare(greater, at["lower"], a), m.compare(less, at["upper"], a)
		if m.wide {
			negative, rises, falls := m.compare(less, m.zero(), s), K(), K()
			only := m.andNot(negative, below)
			KANDW(above.r, negative.r, rises)
			KORW(only.r, rises, rises)
			only = m.andNot(negative, above)
			KANDW(below.r, negative.r, falls)
			KORW(only.r, falls, falls)
			VMAXPD(sum[4], f, rises, sum[4])
			VMINPD(sum[5], f, falls, sum[5])
		} else {
			which := YMM()
			VBLENDVPD(s, above.r, below.r, which)
			VMOVUPD(m.constant(math.Inf(-1)), t)
			VBLENDVPD(which, f, t, t)
			VMAXPD(sum[4], t, sum[4])
			VBLENDVPD(s, below.r, above.r, which)
			VMOVUPD(m.constant(math.Inf(1)), t)
			VBLENDVPD(which, f, t, t)
			VMINPD(sum[5], t, sum[5])
		}
		free := m.and(above, below)
		m.addWhere(free, f, sum[3])
		m.addWhere(free, one, sum[6])
		m.addWhere(m.andNot(below, above), one, sum[7])
	})
}

// gap computes the sum of gap in portable.go.
func (m machine) gap() {
	m.text("gap", "func(out, alpha, f, sign, lower, upper *T, n int, b T)")
	b := m.param("b")
	m.eights([]string{"alpha", "f", "sign", "lower", "upper"}, func() []reg.VecVirtual { return []reg.VecVirtual{m.zero()} }, func(sum []reg.VecVirtual, at map[string]Mem) {
		a, g, t, zero := m.load(at["alpha"], nil), m.register(), m.register(), m.zero()
		m.sub()(at["f"], b, g)
		m.mul()(at["sign"], g, g)
		m.sub()(at["lower"], a, t)
		m.mul()(g, t, t)
		m.addWhere(m.compare(greater, zero, g), t, sum[0])
		u := m.load(at["upper"], nil)
		m.sub()(a, u, u)
		m.mul()(g, u, u)
		m.takeWhere(m.compare(less, zero, g), u, sum[0])
	})
}
