package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// use says what happens to the values 2^(t_ij/steps) of gaussians.
type use int

const (
	toSums use = iota // sums[j] += scale·Σ_i weight[i]·value, where the terms of a panel of A are summed in T first
	toBoth            // as toSums, and lane j mod 8 of row i of rows += other[j]·value, in float64
	toC               // C_ij = value, where C has the row stride ldc
)

// gaussians computes 2^(t_ij/steps), with t_ij = (AᵀB)_ij + left[i] + right[j], for the columns j of
// one panel b and the rows i of count panels of A.
//
// A tile stays in registers until it is added, where tile, gaussian and axpy would write and
// read it again. Only AVX-512 has enough registers. NaN is not kept.
func (m machine) gaussians(name string, what use) {
	m.text(name, [...]string{
		toSums: "func(k int, a, b *T, count int, left, right, weight *T, scale float64, sums *float64)",
		toBoth: "func(k int, a, b *T, count int, left, right, weight *T, scale float64, sums, other, rows *float64)",
		toC:    "func(k int, a, b *T, count int, left, right, c *T, ldc int)",
	}[what])
	height := m.tileRows()
	k, a, b, count, left, right := param("k"), param("a"), param("b"), param("count"), param("left"), param("right")
	var weight, sums, other, rows, c, ldc reg.GPVirtual
	var scale Mem
	if what == toC {
		c, ldc = param("c"), param("ldc")
		SHLQ(U8(log2(m.bytes())), ldc)
	} else {
		weight, sums = param("weight"), param("sums")
		at, err := Param("scale").Resolve()
		if err != nil {
			panic(err)
		}
		scale = at.Addr
	}
	if what == toBoth {
		other, rows = param("other"), param("rows")
	}
	e := m.stepped()
	at, steps := GP64(), GP64()

	Label("panel")
	sum := m.zeroTile()
	step := func(s int) {
		var side []reg.VecVirtual
		for j := range across {
			side = append(side, m.load(Mem{Base: at, Disp: (s*across + j) * m.width()}, nil))
		}
		for i := range height {
			v := m.broadcast(Mem{Base: a, Disp: (s*height + i) * m.bytes()})
			for j := range across {
				m.fma()(side[j], v, sum[i][j])
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
	advance(unrolled*height*m.bytes(), a)
	advance(unrolled*across*m.width(), at)
	SUBQ(U8(unrolled), steps)
	JMP(LabelRef("four"))
	Label("one")
	TESTQ(steps, steps)
	JEQ(LabelRef("values"))
	step(0)
	advance(height*m.bytes(), a)
	advance(across*m.width(), at)
	DECQ(steps)
	JMP(LabelRef("one"))

	Label("values")
	value := func(i, j int) reg.VecVirtual {
		t := sum[i][j]
		m.of(VADDPS_BCST, VADDPD_BCST)(Mem{Base: left, Disp: i * m.bytes()}, t, t)
		m.add()(Mem{Base: right, Disp: j * m.width()}, t, t) // last; see simd.Gaussians
		return e.of(t)
	}
	if what == toC {
		for i := range height {
			for j := range across {
				m.store(value(i, j), Mem{Base: c, Disp: j * m.width()}, nil)
			}
			ADDQ(ldc, c)
		}
	} else {
		for j := range across {
			part := m.register()
			for i := range height {
				v := value(i, j)
				if what == toBoth {
					row := m.load(Mem{Base: rows, Disp: i * m.width()}, nil)
					m.fma()(Mem{Base: other, Disp: j * m.width()}, v, row)
					m.store(row, Mem{Base: rows, Disp: i * m.width()}, nil)
				}
				w := Mem{Base: weight, Disp: i * m.bytes()}
				if i == 0 {
					m.of(VMULPS_BCST, VMULPD_BCST)(w, v, part)
				} else {
					m.of(VFMADD231PS_BCST, VFMADD231PD_BCST)(w, v, part)
				}
			}
			m.addPart(part, j, scale, sums)
		}
		advance(height*m.bytes(), weight)
	}
	if what == toBoth {
		advance(height*m.width(), rows)
	}
	advance(height*m.bytes(), left)
	DECQ(count)
	JNE(LabelRef("panel"))
	end()
}

// addPart adds scale times the sums of some terms to register j of sums, in float64.
func (m machine) addPart(part reg.VecVirtual, j int, scale Mem, sums reg.GPVirtual) {
	d := m.double()
	add := func(part reg.VecVirtual, at int) {
		to := Mem{Base: sums, Disp: at * d.width()}
		s := d.load(to, nil)
		VFMADD231PD_BCST(scale, part, s)
		d.store(s, to, nil)
	}
	if !m.single {
		add(part, j)
		return
	}
	low, top, high := ZMM(), YMM(), ZMM()
	VEXTRACTF64X4(U8(1), part, top)
	VCVTPS2PD(part.AsY(), low)
	add(low, 2*j)
	VCVTPS2PD(top, high)
	add(high, 2*j+1)
}

// stepped computes 2^(t/steps), where steps is the number of elements of two registers: t = k +
// r, |r| ≤ ½, and 2^(t/steps) = 2^⌊k/steps⌋·2^((k mod steps)/steps)·2^(r/steps). A table has
// the second factor, and a short polynomial gives the third.
type stepped struct {
	m          machine
	table      [2]reg.VecVirtual
	low, magic Op
	p          []Op // coefficients of 2^(r/steps), beginning with 1
	shift      Op   // multiplies k by 2^shift
}

func (m machine) stepped() stepped {
	steps := 2 * m.lanes()
	// Adding magic leaves k in the low bits. Shifted left, the bits of k above the index of the
	// table are in the place of the exponent. The index then is in the mantissa, so the table
	// subtracts it.
	e := stepped{m: m, magic: m.constant(0x1.8p52), low: m.constant(-1022 * float64(steps)), shift: U8(52 - log2(steps))}
	degree := 6
	if m.single {
		e.magic, e.low, e.shift, degree = m.constant(0x1.8p23), m.constant(-126*float64(steps)), U8(23-log2(steps)), 2
	}
	e.p = []Op{m.constant(1)}
	for i, c := range chebyshev(degree-1, 1, math.Ln2/2/float64(steps)) {
		e.p = append(e.p, m.constant(c*math.Pow(math.Ln2/float64(steps), float64(i+1))))
	}
	var words []int64
	for k := range int64(steps) {
		root := math.Exp2(float64(k) / float64(steps))
		if !m.single {
			words = append(words, int64(math.Float64bits(root))-k<<(52-log2(steps)))
			continue
		}
		word := int64(math.Float32bits(float32(root))) - k<<(23-log2(steps))
		if k%2 == 0 {
			words = append(words, word)
		} else {
			words[k/2] |= word << 32
		}
	}
	for i := range e.table {
		e.table[i] = m.register()
		m.mov()(integers(label("roots%d_%d", steps, i), words[8*i:8*i+8]...), e.table[i])
	}
	return e
}

// of returns the powers for t, which it overwrites.
func (e stepped) of(t reg.VecVirtual) reg.VecVirtual {
	m, power, y := e.m, e.m.register(), e.m.register()
	m.max()(e.low, t, t)
	m.add()(e.magic, t, power)
	m.sub()(e.magic, power, y)
	m.sub()(y, t, t)
	shifted := m.register()
	m.of(VPSLLD, VPSLLQ)(e.shift, power, shifted)
	m.of(VPERMI2PS, VPERMI2PD)(e.table[1], e.table[0], power)
	m.of(VPADDD, VPADDQ)(shifted, power, power)
	m.mov()(e.p[len(e.p)-1], y)
	for i := len(e.p) - 2; i >= 0; i-- {
		m.fma2()(e.p[i], t, y)
	}
	m.mul()(power, y, y)
	return y
}
