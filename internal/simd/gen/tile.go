package main

import (
	"math/bits"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// across is the number of registers in a row of a tile. The number of rows is limited by the
// registers: each row needs three accumulators, three more registers hold B, and one holds an
// element of A. That is 24 + 4 of the 32 registers of AVX-512, and 12 + 4 of the 16 of AVX2.
const across = 3

const line = 64 // bytes of a cache line

func (m machine) tileRows() int {
	if m.wide {
		return 8
	}
	return 4
}

// tile: C (rows × across·lanes, row stride ldc) = A·B, C + A·B or C − A·B over k steps, where
// a step of A has one element for each row and a step of B one for each column. The steps of A
// are apart elements apart. tile also prefetches: every four steps it fetches one row of C,
// because these rows are far apart in memory, and fetching all of them at once would delay A
// and B. At the same time it fetches a cache line ahead bytes behind b into the second-level
// cache.
func (m machine) tile(name string, apart int) {
	m.text(name, "func(k int, a, b, c *T, ldc int, to uint8, ahead int)")
	rows := m.tileRows()
	k, a, b, c, ldc, ahead := param("k"), param("a"), param("b"), param("c"), param("ldc"), param("ahead")
	ADDQ(b, ahead)
	SHLQ(U8(log2(m.bytes())), ldc)

	sum := m.zeroTile()
	step := func(s int) {
		var right []reg.VecVirtual
		for j := range across {
			right = append(right, m.load(Mem{Base: b, Disp: (s*across + j) * m.width()}, nil))
		}
		for i := range rows {
			left := m.broadcast(Mem{Base: a, Disp: (s*apart + i) * m.bytes()})
			for j := range across {
				m.fma()(right[j], left, sum[i][j])
			}
		}
	}
	const unrolled = 4
	four := func(loop string, also func()) {
		Label(loop)
		CMPQ(k, U8(unrolled))
		JLT(LabelRef("one"))
		for s := range unrolled {
			step(s)
		}
		advance(unrolled*apart*m.bytes(), a)
		advance(unrolled*across*m.width(), b)
		PREFETCHT1(Mem{Base: ahead})
		advance(line, ahead)
		also()
		SUBQ(U8(unrolled), k)
	}
	row, left := GP64(), GP64()
	MOVQ(c, row)
	MOVQ(U32(rows), left)
	four("fetching", func() {
		for at := 0; at < across*m.width(); at += line {
			PREFETCHT0(Mem{Base: row, Disp: at})
		}
		PREFETCHT0(Mem{Base: row, Disp: across*m.width() - 1})
		ADDQ(ldc, row)
	})
	DECQ(left)
	JNE(LabelRef("fetching"))
	four("four", func() {})
	JMP(LabelRef("four"))
	Label("one")
	TESTQ(k, k)
	JEQ(LabelRef("write"))
	step(0)
	advance(apart*m.bytes(), a)
	advance(across*m.width(), b)
	DECQ(k)
	JMP(LabelRef("one"))

	Label("write")
	m.writeSums(func(write func(sum reg.VecVirtual, to Mem)) {
		for i := range rows {
			for j := range across {
				write(sum[i][j], Mem{Base: c, Disp: j * m.width()})
			}
			ADDQ(ldc, c)
		}
	})
}

// zeroTile returns the accumulators of a tile.
func (m machine) zeroTile() (sum [][]reg.VecVirtual) {
	for range m.tileRows() {
		var of []reg.VecVirtual
		for range across {
			of = append(of, m.zero())
		}
		sum = append(sum, of)
	}
	return sum
}

// lessRows: y −= Bᵀx in float64, for k rows of a panel B.
func (m machine) lessRows() {
	m.text("lessRows", "func(k int, b *T, x, y *float64)")
	k, b, x, y := param("k"), param("b"), param("x"), param("y")
	d := m.double()
	var sum []reg.VecVirtual
	for i := range m.perRow() {
		sum = append(sum, d.load(Mem{Base: y, Disp: i * d.width()}, nil))
	}
	Label("one")
	TESTQ(k, k)
	JEQ(LabelRef("write"))
	c := d.broadcast(Mem{Base: x})
	m.fetchRow(b, 12)
	for i, s := range sum {
		d.fnma()(m.loadDouble(Mem{Base: b, Disp: i * d.lanes() * m.bytes()}, nil), c, s)
	}
	advance(8, x)
	advance(across*m.width(), b)
	DECQ(k)
	JMP(LabelRef("one"))
	Label("write")
	for i, s := range sum {
		d.store(s, Mem{Base: y, Disp: i * d.width()}, nil)
	}
	end()
}

// lessDots: x −= By in float64, for k rows of a panel B.
func (m machine) lessDots() {
	m.text("lessDots", "func(k int, b *T, x, y *float64)")
	k, b, x, y := param("k"), param("b"), param("x"), param("y")
	d := m.double()
	var held []reg.VecVirtual
	for i := range m.perRow() {
		held = append(held, d.load(Mem{Base: y, Disp: i * d.width()}, nil))
	}
	Label("one")
	TESTQ(k, k)
	JEQ(LabelRef("done"))
	sum := d.zero()
	m.fetchRow(b, 12)
	for i, h := range held {
		d.fma()(m.loadDouble(Mem{Base: b, Disp: i * d.lanes() * m.bytes()}, nil), h, sum)
	}
	dot, from := d.across(VADDPD, sum), XMM()
	VMOVSD(Mem{Base: x}, from)
	VSUBSD(dot.AsX(), from, from)
	VMOVSD(from, Mem{Base: x})
	advance(8, x)
	advance(across*m.width(), b)
	DECQ(k)
	JMP(LabelRef("one"))
	Label("done")
	end()
}

// fetchRow prefetches a row of the panel b, ahead rows in advance. This makes a single core
// read memory twice as fast.
func (m machine) fetchRow(b reg.GPVirtual, ahead int) {
	for at := 0; at < across*m.width(); at += line {
		PREFETCHT0(Mem{Base: b, Disp: ahead*across*m.width() + at})
	}
}

// perRow returns the number of float64 registers for a row of a panel.
func (m machine) perRow() int { return across * m.lanes() / m.double().lanes() }

// panels: the product of one row with count panels of B, which begin stride elements apart.
// Each entry is summed in the order of tile, so it has the same bits. Several panels at a time
// keep the adders busy.
func (m machine) panels(count int) {
	m.text(label("row%d", count), "func(k int, a, b *T, stride int, c *T, to uint8)")
	k, a, b, c := param("k"), param("a"), param("b"), param("c")
	stride := param("stride")
	SHLQ(U8(log2(m.bytes())), stride)
	at := []reg.GPVirtual{b}
	for len(at) < count {
		next := GP64()
		LEAQ(Mem{Base: at[len(at)-1], Index: stride, Scale: 1}, next)
		at = append(at, next)
	}
	var sum []reg.VecVirtual
	for range count * across {
		sum = append(sum, m.zero())
	}
	Label("one")
	TESTQ(k, k)
	JEQ(LabelRef("write"))
	left := m.broadcast(Mem{Base: a})
	for p, b := range at {
		for j := range across {
			m.fma()(Mem{Base: b, Disp: j * m.width()}, left, sum[p*across+j])
		}
	}
	advance(m.bytes(), a)
	advance(across*m.width(), at...)
	DECQ(k)
	JMP(LabelRef("one"))

	Label("write")
	m.writeSums(func(write func(sum reg.VecVirtual, to Mem)) {
		for j, s := range sum {
			write(s, Mem{Base: c, Disp: j * m.width()})
		}
	})
}

// writeSums ends a function whose parameter to says what happens to C. The function all calls
// write for each register of sums.
func (m machine) writeSums(all func(write func(sum reg.VecVirtual, to Mem))) {
	to := Load(Param("to"), GP8())
	CMPB(to, U8(add))
	JEQ(LabelRef("add"))
	JGT(LabelRef("subtract"))
	all(func(sum reg.VecVirtual, to Mem) { m.store(sum, to, nil) })
	end()
	Label("add")
	all(func(sum reg.VecVirtual, to Mem) {
		m.add()(to, sum, sum)
		m.store(sum, to, nil)
	})
	end()
	Label("subtract")
	all(func(sum reg.VecVirtual, to Mem) {
		c := m.load(to, nil)
		m.sub()(sum, c, c)
		m.store(c, to, nil)
	})
	end()
}

// add is the value of the constant add of package simd. For smaller values of to, C is
// replaced; for larger ones the sums are subtracted from C.
const add = 1

func log2(n int) int { return bits.Len(uint(n)) - 1 }

// divide: the rows of C (rows × across·lanes, contiguous) become L⁻¹C, by substitution in
// registers. L is lower triangular, rows × rows, with the reciprocals of the diagonal entries
// on its diagonal.
func (m machine) divide() {
	m.text("divide", "func(l, c *T)")
	rows := m.tileRows()
	l, c := param("l"), param("c")
	var sum [][]reg.VecVirtual
	for i := range rows {
		var of []reg.VecVirtual
		for j := range across {
			of = append(of, m.load(Mem{Base: c, Disp: (i*across + j) * m.width()}, nil))
		}
		for k := range i {
			left := m.broadcast(Mem{Base: l, Disp: (i*rows + k) * m.bytes()})
			for j := range across {
				m.fnma()(sum[k][j], left, of[j])
			}
		}
		inverse := m.broadcast(Mem{Base: l, Disp: i * (rows + 1) * m.bytes()})
		for j := range across {
			m.mul()(inverse, of[j], of[j])
			m.store(of[j], Mem{Base: c, Disp: (i*across + j) * m.width()}, nil)
		}
		sum = append(sum, of)
	}
	end()
}
