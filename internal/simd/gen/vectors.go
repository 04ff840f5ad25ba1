package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// dot: Σ x[j]·y[j] in float64.
func (m machine) dot() {
	m.text("dot", "func(x *T, y *float64, n int) float64")
	x, y, n := param("x"), param("y"), param("n")
	d := m.double()
	// Eight sums in flight keep the adders busy.
	const sums = 8
	var sum []reg.VecVirtual
	for range sums {
		sum = append(sum, d.zero())
	}
	Label("eight")
	CMPQ(n, U8(sums*d.lanes()))
	JLT(LabelRef("full"))
	for i, s := range sum {
		a := m.loadDouble(Mem{Base: x, Disp: i * d.lanes() * m.bytes()}, nil)
		d.fma()(Mem{Base: y, Disp: i * d.width()}, a, s)
	}
	advance(sums*d.lanes()*m.bytes(), x)
	advance(sums*d.width(), y)
	SUBQ(U8(sums*d.lanes()), n)
	JMP(LabelRef("eight"))
	d.each(n, func(t *tail) {
		a, b := m.loadDouble(Mem{Base: x}, t), d.load(Mem{Base: y}, t)
		d.fma()(b, a, sum[0])
		advance(d.lanes()*m.bytes(), x)
		advance(d.width(), y)
	})
	for apart := sums / 2; apart > 0; apart /= 2 {
		for i := range apart {
			d.add()(sum[i+apart], sum[i], sum[i])
		}
	}
	Store(m.double().across(VADDPD, sum[0]), ReturnIndex(0))
	end()
}

// axpy: y[j] += c·x[j] in float64.
func (m machine) axpy() {
	m.text("axpy", "func(c float64, x *T, y *float64, n int)")
	d := m.double()
	c, x, y, n := d.param("c"), param("x"), param("y"), param("n")
	m.addRows([]reg.VecVirtual{c}, []reg.GPVirtual{x}, y, n)
}

// axpy4: y[j] += Σ c[r]·rows[r][from+j] in float64, over four rows.
func (m machine) axpy4() {
	m.text("axpy4", "func(c *float64, rows *[]T, from int, y *float64, n int)")
	c, rows, from, y, n := param("c"), param("rows"), param("from"), param("y"), param("n")
	var at []reg.GPVirtual
	var factor []reg.VecVirtual
	for r := range 4 {
		p := GP64()
		MOVQ(Mem{Base: rows, Disp: 24 * r}, p)
		LEAQ(Mem{Base: p, Index: from, Scale: uint8(m.bytes())}, p)
		at = append(at, p)
		factor = append(factor, m.double().broadcast(Mem{Base: c, Disp: 8 * r}))
	}
	m.addRows(factor, at, y, n)
}

func (m machine) addRows(factor []reg.VecVirtual, at []reg.GPVirtual, y, n reg.GPVirtual) {
	d := m.double()
	d.each(n, func(t *tail) {
		sum := d.load(Mem{Base: y}, t)
		for r, p := range at {
			d.fma()(m.loadDouble(Mem{Base: p}, t), factor[r], sum)
		}
		d.store(sum, Mem{Base: y}, t)
		advance(d.lanes()*m.bytes(), at...)
		advance(d.width(), y)
	})
	end()
}

// sparse: dst[L·j+l] = Σ val[p]·w[256/size·col[p]+l] over start[j] ≤ p < start[j+1], for n
// rows j and the lanes l < L, where L elements take 256 bytes, or 128 if half is set. One turn
// handles two entries, because loading takes most of the time.
func (m machine) sparse(half bool) {
	name, used := "sparse", 256
	if half {
		name, used = "sparseHalf", 128
	}
	m.text(name, "func(dst, w *T, start *int, col *int32, val *T, n int)")
	dst, w, start, col, val, n := param("dst"), param("w"), param("start"), param("col"), param("val"), param("n")
	p, last := GP64(), GP64()
	var sum []reg.VecVirtual
	add := func(entries int) {
		var v []reg.VecVirtual
		var at []reg.GPVirtual
		for e := range entries {
			feature := GP64()
			MOVLQSX(Mem{Base: col, Index: p, Scale: 4, Disp: 4 * e}, feature)
			SHLQ(U8(8), feature)
			ADDQ(w, feature)
			at = append(at, feature)
			v = append(v, m.broadcast(Mem{Base: val, Index: p, Scale: uint8(m.bytes()), Disp: e * m.bytes()}))
		}
		for e := range entries {
			for i, s := range sum {
				m.fma()(Mem{Base: at[e], Disp: i * m.width()}, v[e], s)
			}
		}
		ADDQ(U8(entries), p)
	}
	TESTQ(n, n)
	JEQ(LabelRef("done"))
	MOVQ(Mem{Base: start}, p)
	Label("row")
	MOVQ(Mem{Base: start, Disp: 8}, last)
	for range used / m.width() {
		sum = append(sum, m.zero())
	}
	DECQ(last)
	CMPQ(p, last)
	JGE(LabelRef("single"))
	Label("two")
	add(2)
	CMPQ(p, last)
	JLT(LabelRef("two"))
	Label("single")
	JNE(LabelRef("write"))
	add(1)
	Label("write")
	for i, s := range sum {
		m.store(s, Mem{Base: dst, Disp: i * m.width()}, nil)
	}
	advance(used, dst)
	advance(8, start)
	DECQ(n)
	JNE(LabelRef("row"))
	Label("done")
	end()
}

// transpose: a strip of as many rows as a register has lanes, and blocks times as many
// columns: dst[c·to+r] = src[r·from+c].
func (m machine) transpose() {
	m.text("transpose", "func(dst *T, to int, src *T, from, blocks int)")
	dst, to, src, from, blocks := param("dst"), param("to"), param("src"), param("from"), param("blocks")
	SHLQ(U8(log2(m.bytes())), to)
	SHLQ(U8(log2(m.bytes())), from)
	TESTQ(blocks, blocks)
	JEQ(LabelRef("done"))
	Label("block")
	at := GP64()
	MOVQ(src, at)
	var in []reg.VecVirtual
	for range m.lanes() {
		in = append(in, m.load(Mem{Base: at}, nil))
		ADDQ(from, at)
	}
	// out[c] is column c.
	out := m.transposed(in)
	for _, r := range out {
		m.store(r, Mem{Base: dst}, nil)
		ADDQ(to, dst)
	}
	advance(m.width(), src)
	DECQ(blocks)
	JNE(LabelRef("block"))
	Label("done")
	end()
}

// transposed returns the columns of the rows in. It first transposes within each 128 bits, by
// pairs of rows, and then moves the 128-bit parts.
func (m machine) transposed(in []reg.VecVirtual) []reg.VecVirtual {
	group := 16 / m.bytes() // elements in 128 bits
	inner := make([]reg.VecVirtual, len(in))
	pair := func(low, high instruction, a, b reg.VecVirtual) (reg.VecVirtual, reg.VecVirtual) {
		l, h := m.register(), m.register()
		low(b, a, l)
		high(b, a, h)
		return l, h
	}
	for g := 0; g < len(in); g += group {
		if !m.single {
			inner[g], inner[g+1] = pair(VUNPCKLPD, VUNPCKHPD, in[g], in[g+1])
			continue
		}
		l0, h0 := pair(VUNPCKLPS, VUNPCKHPS, in[g], in[g+1])
		l1, h1 := pair(VUNPCKLPS, VUNPCKHPS, in[g+2], in[g+3])
		inner[g], inner[g+1] = pair(VUNPCKLPD, VUNPCKHPD, l0, l1)
		inner[g+2], inner[g+3] = pair(VUNPCKLPD, VUNPCKHPD, h0, h1)
	}
	out := make([]reg.VecVirtual, len(in))
	for c := range group {
		if !m.wide {
			a, b := inner[c], inner[group+c]
			out[c], out[group+c] = YMM(), YMM()
			VPERM2F128(U8(0x20), b, a, out[c])
			VPERM2F128(U8(0x31), b, a, out[group+c])
			continue
		}
		shuffle := func(parts uint8, a, b reg.VecVirtual) reg.VecVirtual {
			r := ZMM()
			VSHUFF64X2(U8(parts), b, a, r)
			return r
		}
		u := [4]reg.VecVirtual{inner[c], inner[group+c], inner[2*group+c], inner[3*group+c]}
		const firstTwo, lastTwo, even, odd = 0x44, 0xee, 0x88, 0xdd
		x0, x1 := shuffle(firstTwo, u[0], u[1]), shuffle(lastTwo, u[0], u[1])
		y0, y1 := shuffle(firstTwo, u[2], u[3]), shuffle(lastTwo, u[2], u[3])
		out[c], out[group+c] = shuffle(even, x0, y0), shuffle(odd, x0, y0)
		out[2*group+c], out[3*group+c] = shuffle(even, x1, y1), shuffle(odd, x1, y1)
	}
	return out
}
