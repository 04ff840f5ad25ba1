package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A tile of the product has as many rows as leave room for the accumulators of
// three registers each, three of B, and one broadcast element of A: 24 + 3 of
// the 32 registers of AVX-512, 12 + 3 of the 16 of AVX2.
const across = 3

func (m machine) tileRows() int {
	if m.wide {
		return 8
	}
	return 4
}

// tile: C (rows × across·lanes, row stride ldc) = A·B or C + A·B over k steps,
// where a step of A has one element for each row and a step of B one for each
// column.
func (m machine) tile() {
	m.text("tile", "func(k int, a, b, c *T, ldc int, add bool)")
	rows := m.tileRows()
	k, a, b, c, ldc := param("k"), param("a"), param("b"), param("c"), param("ldc")
	SHLQ(U8(log2(m.bytes())), ldc)

	var sum [][]reg.VecVirtual
	for range rows {
		var of []reg.VecVirtual
		for range across {
			of = append(of, m.zero())
		}
		sum = append(sum, of)
	}
	step := func(s int) {
		var right []reg.VecVirtual
		for j := range across {
			right = append(right, m.load(Mem{Base: b, Disp: (s*across + j) * m.width()}, nil))
		}
		for i := range rows {
			left := m.broadcast(Mem{Base: a, Disp: (s*rows + i) * m.bytes()})
			for j := range across {
				m.fma()(right[j], left, sum[i][j])
			}
		}
	}
	const unrolled = 4
	Label("four")
	CMPQ(k, U8(unrolled))
	JLT(LabelRef("one"))
	for s := range unrolled {
		step(s)
	}
	advance(unrolled*rows*m.bytes(), a)
	advance(unrolled*across*m.width(), b)
	SUBQ(U8(unrolled), k)
	JMP(LabelRef("four"))
	Label("one")
	TESTQ(k, k)
	JEQ(LabelRef("write"))
	step(0)
	advance(rows*m.bytes(), a)
	advance(across*m.width(), b)
	DECQ(k)
	JMP(LabelRef("one"))

	Label("write")
	m.writeSums(func() {
		for i := range rows {
			for j := range across {
				m.add()(Mem{Base: c, Disp: j * m.width()}, sum[i][j], sum[i][j])
				m.store(sum[i][j], Mem{Base: c, Disp: j * m.width()}, nil)
			}
			ADDQ(ldc, c)
		}
	}, func() {
		for i := range rows {
			for j := range across {
				m.store(sum[i][j], Mem{Base: c, Disp: j * m.width()}, nil)
			}
			ADDQ(ldc, c)
		}
	})
}

// panels: the product of one row with count panels of B, which lie stride
// elements apart. Each entry is summed in the order of tile, so that it has the
// same bits; several panels at a time keep the adders busy.
func (m machine) panels(count int) {
	m.text(label("row%d", count), "func(k int, a, b *T, stride int, c *T, add bool)")
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
	m.writeSums(func() {
		for j, s := range sum {
			m.add()(Mem{Base: c, Disp: j * m.width()}, s, s)
			m.store(s, Mem{Base: c, Disp: j * m.width()}, nil)
		}
	}, func() {
		for j, s := range sum {
			m.store(s, Mem{Base: c, Disp: j * m.width()}, nil)
		}
	})
}

func (m machine) writeSums(added, alone func()) {
	add := Load(Param("add"), GP8())
	TESTB(add, add)
	JEQ(LabelRef("alone"))
	added()
	end()
	Label("alone")
	alone()
	end()
}

func log2(bytes int) int {
	if bytes == 4 {
		return 2
	}
	return 3
}

// divide: the rows of C (rows × across·lanes, one after the other) become L⁻¹C, by
// substitution in registers. L is lower triangular, rows × rows, with the
// reciprocals of its diagonal there.
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
