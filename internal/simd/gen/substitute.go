package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// substitute: one block of a substitution, as many columns of X as a register has
// float64, for two registers of rows. So many known columns are taken off, times what
// the panel has for each, lanes factors; then the block's own columns follow one
// another from the first, or from the last if back. They go to X and, in the order in
// which they are found, behind the known ones.
func (m machine) substitute(name string, back bool) {
	m.text(name, "func(x *T, ldx int, panel, known *float64, n int)")
	x, ldx, panel, known, n := param("x"), param("ldx"), param("panel"), param("known"), param("n")
	SHLQ(U8(log2(m.bytes())), ldx)
	d := m.double()
	const strips = 2

	at := GP64()
	MOVQ(x, at)
	var column [strips][]reg.VecVirtual
	for s := range column {
		var rows []reg.VecVirtual
		for range d.lanes() {
			rows = append(rows, m.loadDouble(Mem{Base: at}, nil))
			ADDQ(ldx, at)
		}
		column[s] = d.transposed(rows)
	}

	Label("one")
	TESTQ(n, n)
	JEQ(LabelRef("own"))
	var left [strips]reg.VecVirtual
	for s := range left {
		left[s] = d.load(Mem{Base: known, Disp: s * d.width()}, nil)
	}
	for j := range d.lanes() {
		factor := d.broadcast(Mem{Base: panel, Disp: j * d.bytes()})
		for s := range left {
			d.fnma()(left[s], factor, column[s][j])
		}
	}
	advance(d.width(), panel)
	advance(strips*d.width(), known)
	DECQ(n)
	JMP(LabelRef("one"))

	Label("own")
	for step := range d.lanes() {
		j, later := step, func(i int) bool { return i > step }
		if back {
			j = d.lanes() - 1 - step
			later = func(i int) bool { return i < j }
		}
		factor := func(i int) reg.VecVirtual {
			return d.broadcast(Mem{Base: panel, Disp: step*d.width() + i*d.bytes()})
		}
		inverse := factor(j)
		for s := range column {
			d.mul()(inverse, column[s][j], column[s][j])
			d.store(column[s][j], Mem{Base: known, Disp: (step*strips + s) * d.width()}, nil)
		}
		for i := range d.lanes() {
			if !later(i) {
				continue
			}
			f := factor(i)
			for s := range column {
				d.fnma()(column[s][j], f, column[s][i])
			}
		}
	}
	for s := range column {
		for _, r := range d.transposed(column[s]) {
			m.storeDouble(r, Mem{Base: x})
			ADDQ(ldx, x)
		}
	}
	end()
}
