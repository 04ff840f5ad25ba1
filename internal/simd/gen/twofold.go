package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// twofold adds x'y to eight sums in twice the working precision. out has the sums, what is left of
// each, and the sums of the sizes of all products. n is a multiple of 8. All levels have the same
// bits.
func (m machine) twofold() {
	m.text("twofold", "func(out, x, y *T, n int)")
	out, x, y, n := param("out"), param("x"), param("y"), param("n")
	count := 8 / m.lanes()
	var sums [3][]reg.VecVirtual
	for k := range sums {
		for i := range count {
			sums[k] = append(sums[k], m.load(Mem{Base: out, Disp: 64*k + i*m.width()}, nil))
		}
	}
	const most = 1<<63 - 1
	positive := m.register()
	m.mov()(integers("positive", most, most, most, most, most, most, most, most), positive)
	Label("eight")
	TESTQ(n, n)
	JEQ(LabelRef("done"))
	for i := range count {
		sum, rest, size := sums[0][i], sums[1][i], sums[2][i]
		v, w := m.load(Mem{Base: x, Disp: i * m.width()}, nil), m.load(Mem{Base: y, Disp: i * m.width()}, nil)
		p, off, s, z, d, e := m.register(), m.register(), m.register(), m.register(), m.register(), m.register()
		m.mul()(v, w, p)
		m.mov()(p, off)
		m.fnma()(v, w, off) // p − vw
		m.add()(p, sum, s)
		m.sub()(sum, s, z)
		m.sub()(z, s, d)
		m.sub()(d, sum, d)
		m.sub()(z, p, e)
		m.add()(e, d, d)
		m.sub()(off, d, d)
		m.add()(d, rest, rest)
		m.mov()(s, sum)
		VANDPD(positive, p, p)
		m.add()(p, size, size)
	}
	advance(64, x, y)
	SUBQ(U8(8), n)
	JMP(LabelRef("eight"))
	Label("done")
	for k := range sums {
		for i, r := range sums[k] {
			m.store(r, Mem{Base: out, Disp: 64*k + i*m.width()}, nil)
		}
	}
	end()
}
