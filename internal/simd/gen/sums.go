package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// gaussianSums: sums[j] += Σ_i coef[i]·exp(−gamma·max(0, left[i] + right[j] − 2·(AᵀB)_ij)) in
// float64, for the columns j of one panel b and the rows i of count panels of A, in their order.
// A tile stays in registers until it is added, where tile, gaussian and axpy would write and
// read it again; the values and the sums have the same bits as there. Only AVX-512 has enough
// registers.
func (m machine) gaussianSums() {
	m.text("gaussianSums", "func(k int, a, b *T, count int, left, right *T, gamma T, coef, sums *float64)")
	rows := m.tileRows()
	k, a, b, count, left, right := param("k"), param("a"), param("b"), param("count"), param("left"), param("right")
	powers := m.powers(func(v float64) Op { return m.constant(v) })
	coef, sums, two := param("coef"), param("sums"), m.constant(2)
	at, steps := GP64(), GP64()

	Label("panel")
	sum := m.zeroTile()
	step := func(s int) {
		var side []reg.VecVirtual
		for j := range across {
			side = append(side, m.load(Mem{Base: at, Disp: (s*across + j) * m.width()}, nil))
		}
		for i := range rows {
			for j := range across {
				VFMADD231PS_BCST(Mem{Base: a, Disp: (s*rows + i) * m.bytes()}, side[j], sum[i][j])
			}
		}
	}
	MOVQ(b, at)
	MOVQ(k, steps)
	const unrolled = 4
	Label("four")
	CMPQ(steps, U8(unrolled))
	JLT(LabelRef("one"))
	for s := range unrolled {
		step(s)
	}
	advance(unrolled*rows*m.bytes(), a)
	advance(unrolled*across*m.width(), at)
	SUBQ(U8(unrolled), steps)
	JMP(LabelRef("four"))
	Label("one")
	TESTQ(steps, steps)
	JEQ(LabelRef("values"))
	step(0)
	advance(rows*m.bytes(), a)
	advance(across*m.width(), at)
	DECQ(steps)
	JMP(LabelRef("one"))

	Label("values")
	d := m.double()
	for j := range across {
		low := d.load(Mem{Base: sums, Disp: 2 * j * d.width()}, nil)
		high := d.load(Mem{Base: sums, Disp: (2*j + 1) * d.width()}, nil)
		for i := range rows {
			s := m.load(Mem{Base: right, Disp: j * m.width()}, nil)
			VADDPS_BCST(Mem{Base: left, Disp: i * m.bytes()}, s, s)
			m.fnma()(two, sum[i][j], s)
			y := powers.of(s)
			v, top := ZMM(), YMM()
			VEXTRACTF64X4(U8(1), y, top)
			VCVTPS2PD(y.AsY(), v)
			VFMADD231PD_BCST(Mem{Base: coef, Disp: 8 * i}, v, low)
			w := ZMM()
			VCVTPS2PD(top, w)
			VFMADD231PD_BCST(Mem{Base: coef, Disp: 8 * i}, w, high)
		}
		d.store(low, Mem{Base: sums, Disp: 2 * j * d.width()}, nil)
		d.store(high, Mem{Base: sums, Disp: (2*j + 1) * d.width()}, nil)
	}
	advance(rows*m.bytes(), left)
	advance(8*rows, coef)
	DECQ(count)
	JNE(LabelRef("panel"))
	end()
}
