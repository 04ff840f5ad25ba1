package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// machine is an instruction set and an element type.
type machine struct {
	wide   bool // AVX-512, otherwise AVX2
	single bool // float32, otherwise float64
}

// double returns the same instruction set with float64 elements.
func (m machine) double() machine { return machine{m.wide, false} }

// bytes returns the size of an element in bytes.
func (m machine) bytes() int {
	if m.single {
		return 4
	}
	return 8
}

// width returns the size of a register in bytes.
func (m machine) width() int {
	if m.wide {
		return 64
	}
	return 32
}

// lanes returns the number of elements in a register.
func (m machine) lanes() int { return m.width() / m.bytes() }

func (m machine) register() reg.VecVirtual {
	if m.wide {
		return ZMM()
	}
	return YMM()
}

type instruction = func(...Op)

// of returns the instruction for the element type.
func (m machine) of(single, double instruction) instruction {
	if m.single {
		return single
	}
	return double
}

func (m machine) mov() instruction  { return m.of(VMOVUPS, VMOVUPD) }
func (m machine) add() instruction  { return m.of(VADDPS, VADDPD) }
func (m machine) sub() instruction  { return m.of(VSUBPS, VSUBPD) }
func (m machine) mul() instruction  { return m.of(VMULPS, VMULPD) }
func (m machine) max() instruction  { return m.of(VMAXPS, VMAXPD) }
func (m machine) min() instruction  { return m.of(VMINPS, VMINPD) }
func (m machine) fma() instruction  { return m.of(VFMADD231PS, VFMADD231PD) }
func (m machine) fma2() instruction { return m.of(VFMADD213PS, VFMADD213PD) }
func (m machine) fnma() instruction { return m.of(VFNMADD231PS, VFNMADD231PD) }

func (m machine) zero() reg.VecVirtual {
	r := m.register()
	if m.wide {
		VPXORQ(r, r, r)
	} else {
		VXORPS(r, r, r)
	}
	return r
}

// broadcast fills a register with one element from memory or from an xmm register.
func (m machine) broadcast(from Op) reg.VecVirtual {
	r := m.register()
	if m.single {
		VBROADCASTSS(from, r)
	} else {
		VBROADCASTSD(from, r)
	}
	return r
}

func (m machine) param(name string) reg.VecVirtual {
	return m.broadcast(Load(Param(name), XMM()))
}

func param(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }

// data has, by name, the constants that were written to the data section.
var data = map[string]Mem{}

// constant returns the place in memory of a full register of v.
func (m machine) constant(v float64) Mem {
	name := fmt.Sprintf("f64_%016x", math.Float64bits(v))
	if m.single {
		name = fmt.Sprintf("f32_%08x", math.Float32bits(float32(v)))
	}
	if c, ok := data[name]; ok {
		return c
	}
	c := GLOBL(name, RODATA_NOPTR)
	for i := 0; i < 64; i += m.bytes() {
		if m.single {
			DATA(i, U32(math.Float32bits(float32(v))))
		} else {
			DATA(i, U64(math.Float64bits(v)))
		}
	}
	data[name] = c
	return c
}

const RODATA_NOPTR = 8 | 16 // RODATA|NOPTR

// held returns the constant in a register if there are enough registers.
func (m machine) held(v float64) Op {
	c := m.constant(v)
	if !m.wide {
		return c
	}
	r := m.register()
	m.mov()(c, r)
	return r
}

// integers returns a table of 8-byte integers in memory.
func integers(name string, values ...int64) Mem {
	if c, ok := data[name]; ok {
		return c
	}
	c := GLOBL(name, RODATA_NOPTR)
	for i, v := range values {
		DATA(8*i, U64(v))
	}
	data[name] = c
	return c
}

// A tail is a mask for the last elements, which do not fill a register. A nil tail means a
// full register.
type tail struct {
	k               reg.Register // AVX-512
	vector, singles reg.Register // AVX2: for elements of the machine, and for as many float32
}

// newTail makes the mask of the first n lanes, 0 < n < lanes.
func (m machine) newTail(n reg.GPVirtual) *tail {
	if m.wide {
		bits, k := GP64(), K()
		MOVQ(I32(-1), bits)
		BZHIQ(n, bits, bits)
		KMOVW(bits.As32(), k)
		return &tail{k: k}
	}
	back := GP64()
	MOVQ(n, back)
	NEGQ(back)
	window := func(scale uint8, r reg.Register) reg.Register {
		table := GP64()
		if scale == 8 {
			LEAQ(integers("mask64", -1, -1, -1, -1, 0, 0, 0, 0), table)
		} else {
			LEAQ(integers("mask32", -1, -1, -1, -1, 0, 0, 0, 0), table)
		}
		VMOVDQU(Mem{Base: table, Index: back, Scale: scale, Disp: 32}, r)
		return r
	}
	t := &tail{vector: window(uint8(m.bytes()), YMM())}
	if !m.single {
		t.singles = window(4, XMM())
	}
	return t
}

// load reads a register of elements. Elements outside of the tail become zero, and their
// memory is not read.
func (m machine) load(from Mem, t *tail) reg.VecVirtual {
	r := m.register()
	switch {
	case t == nil:
		m.mov()(from, r)
	case m.wide:
		if m.single {
			VMOVUPS_Z(from, t.k, r)
		} else {
			VMOVUPD_Z(from, t.k, r)
		}
	case m.single:
		VMASKMOVPS(from, t.vector, r)
	default:
		VMASKMOVPD(from, t.vector, r)
	}
	return r
}

// loadDouble reads as many elements as a register has float64 lanes, and converts them to
// float64. The tail must belong to m.double().
func (m machine) loadDouble(from Mem, t *tail) reg.VecVirtual {
	if !m.single {
		return m.load(from, t)
	}
	r := m.register()
	switch {
	case t == nil:
		VCVTPS2PD(from, r)
	case m.wide:
		VCVTPS2PD_Z(from, t.k, r)
	default:
		x := XMM()
		VMASKMOVPS(from, t.singles, x)
		VCVTPS2PD(x, r)
	}
	return r
}

func (m machine) store(r reg.Register, to Mem, t *tail) {
	switch {
	case t == nil:
		m.mov()(r, to)
	case m.wide:
		m.mov()(r, t.k, to)
	case m.single:
		VMASKMOVPS(r, t.vector, to)
	default:
		VMASKMOVPD(r, t.vector, to)
	}
}

// each runs body for n elements, one register at a time, and then for the tail. body must
// advance its own pointers, except after the tail.
func (m machine) each(n reg.GPVirtual, body func(t *tail)) {
	Label("full")
	CMPQ(n, U8(m.lanes()))
	JLT(LabelRef("last"))
	body(nil)
	SUBQ(U8(m.lanes()), n)
	JMP(LabelRef("full"))
	Label("last")
	TESTQ(n, n)
	JEQ(LabelRef("done"))
	body(m.newTail(n))
	Label("done")
}

// many works like each, but runs body for count registers at a time while at least count
// registers remain.
func (m machine) many(n reg.GPVirtual, count int, body func(count int, t *tail)) {
	Label("many")
	CMPQ(n, U32(count*m.lanes()))
	JLT(LabelRef("full"))
	body(count, nil)
	SUBQ(U32(count*m.lanes()), n)
	JMP(LabelRef("many"))
	m.each(n, func(t *tail) { body(1, t) })
}

// across combines the float64 lanes of r by the instruction op. The lowest two lanes of the
// returned register have the result.
func (m machine) across(op instruction, r reg.VecVirtual) reg.VecVirtual {
	y := r.AsY()
	if m.wide {
		high := YMM()
		VEXTRACTF64X4(U8(1), r, high)
		folded := YMM()
		op(high, y, folded)
		y = folded.AsY()
	}
	high, x, turned, result := XMM(), XMM(), XMM(), XMM()
	VEXTRACTF128(U8(1), y, high)
	low := XMM()
	VEXTRACTF128(U8(0), y, low)
	op(high, low, x)
	VPERMILPD(U8(1), x, turned)
	op(turned, x, result)
	return result
}

func advance(by int, pointers ...reg.GPVirtual) {
	for _, p := range pointers {
		ADDQ(I32(by), p)
	}
}
