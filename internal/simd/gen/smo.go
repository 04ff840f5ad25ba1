package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// best has, for each lane, the largest float64 so far and its index as a float64, which is −1
// at first. Of equal values it keeps the first.
type best struct {
	m                machine
	value, at, index reg.VecVirtual
	lanes            Op

	least bool // keep the smallest, not the largest
	last  bool // of equal values keep the last
}

// from sets the first value, which any other value beats.
func (b best) from(value float64) best {
	m := b.m
	b.value, b.at, b.index = m.register(), m.register(), m.register()
	VMOVUPD(m.constant(value), b.value)
	VMOVUPD(m.constant(-1), b.at)
	VMOVUPD(integers("iota", count(8)...), b.index)
	b.lanes = m.held(float64(m.lanes()))
	return b
}

func count(n int) (bits []int64) {
	for i := range n {
		bits = append(bits, int64(math.Float64bits(float64(i))))
	}
	return bits
}

// fold returns the instruction that keeps the better of two values.
func (b best) fold() instruction {
	if b.least {
		return VMINPD
	}
	return VMAXPD
}

// take compares v with the best values and advances the index. NaN never wins. The value is
// updated by max or min, which has a shorter latency than a comparison.
func (b best) take(v reg.VecVirtual) {
	wins := uint8(greater)
	switch {
	case b.least && b.last:
		panic("nobody asks for the last of the least")
	case b.least:
		wins = less
	case b.last:
		wins = atLeast
	}
	b.m.compare(wins, b.value, v).move(b.index, b.at)
	b.fold()(b.value, v, b.value) // keeps b.value where v is NaN
	VADDPD(b.lanes, b.index, b.index)
}

// result returns the best value and its index.
func (b best) result() (value, index reg.VecVirtual) {
	none, first := math.Inf(1), instruction(VMINPD)
	if b.last {
		none, first = -1, VMAXPD
	}
	return b.m.among([]reg.VecVirtual{b.value}, []reg.VecVirtual{b.at}, b.fold(), none, first)
}

// among returns the best of values by the instruction fold. Several values may be equal to the
// best; of their indices it returns the one that the instruction first keeps, beginning with
// none.
func (m machine) among(values, indices []reg.VecVirtual, fold instruction, none float64, first instruction) (value, index reg.VecVirtual) {
	const equal = 0
	most := values[0]
	if len(values) > 1 {
		most = m.register()
		fold(values[0], values[1], most)
	}
	value = m.across(fold, most)
	all := m.broadcast(value)
	for s := range values {
		at := m.register()
		VMOVUPD(m.constant(none), at)
		m.compare(equal, all, values[s]).move(indices[s], at)
		if s > 0 {
			first(index, at, at)
		}
		index = at
	}
	return value, m.across(first, index)
}

func storeIndex(index reg.VecVirtual, name string) {
	i := GP64()
	CVTTSD2SQ(index, i)
	Store(i, Return(name))
}

// smoUpdate: f[j] −= t·(ki[j] − kj[j]). It returns the largest f + up with its index, and the
// smallest f + low. n is a multiple of the lanes.
func (m machine) smoUpdate() {
	m.text("smoUpdate", "func(f *float64, ki, kj *T, up, low *float64, n int, t float64) (i int, most, least float64)")
	f, ki, kj, up, low, n := param("f"), param("ki"), param("kj"), param("up"), param("low"), param("n")
	d := m.double()
	t := d.param("t")
	b := best{m: d}.from(math.Inf(-1))
	least := d.register()
	VMOVUPD(d.constant(math.Inf(1)), least)
	Label("full")
	TESTQ(n, n)
	JEQ(LabelRef("done"))
	diff, v, raised := m.loadDouble(Mem{Base: ki}, nil), d.load(Mem{Base: f}, nil), d.register()
	// Each operation is rounded, as in portable.go, so that every level takes the same path.
	VSUBPD(m.loadDouble(Mem{Base: kj}, nil), diff, diff)
	VMULPD(t, diff, diff)
	VSUBPD(diff, v, v)
	d.store(v, Mem{Base: f}, nil)
	VADDPD(Mem{Base: low}, v, raised)
	VMINPD(least, raised, least)
	VADDPD(Mem{Base: up}, v, v)
	b.take(v)
	advance(d.lanes()*m.bytes(), ki, kj)
	advance(d.width(), f, up, low)
	SUBQ(U8(d.lanes()), n)
	JMP(LabelRef("full"))
	Label("done")
	most, at := b.result()
	Store(most, Return("most"))
	storeIndex(at, "i")
	Store(d.across(VMINPD, least), Return("least"))
	end()
}

// smoSecond returns the largest d²/κ and its index, with d = max(0, fi − f[j] − low[j]) and κ
// = max(tau, kii + diag[j] − 2·ki[j]). It compares fractions without division, two registers
// of every sixteen elements at a time. n is a multiple of 16.
func (m machine) smoSecond() {
	m.text("smoSecond", "func(f, low *float64, ki *T, diag *float64, n int, fi, kii, tau float64) (j int, gain float64)")
	f, low, ki, diag, n := param("f"), param("low"), param("ki"), param("diag"), param("n")
	d := m.double()
	fi, kii, tau := d.param("fi"), d.param("kii"), d.param("tau")
	zero, two, step := d.held(0), d.held(2), d.held(16)
	var above, below, at [2]reg.VecVirtual // numerator and denominator of the best fraction of each lane, and its index
	for s := range at {
		above[s], below[s], at[s] = d.zero(), d.register(), d.zero()
		VMOVUPD(d.constant(1), below[s])
	}
	index := d.register()
	VMOVUPD(integers("iota", count(8)...), index)
	Label("full")
	TESTQ(n, n)
	JEQ(LabelRef("done"))
	for s := range at {
		v, kappa, k := d.load(Mem{Base: f, Disp: s * d.width()}, nil), d.register(), m.loadDouble(Mem{Base: ki, Disp: s * d.lanes() * m.bytes()}, nil)
		VADDPD(Mem{Base: low, Disp: s * d.width()}, v, v)
		VSUBPD(v, fi, v)
		VMAXPD(zero, v, v) // becomes 0 where v is NaN
		VMULPD(v, v, v)
		VADDPD(Mem{Base: diag, Disp: s * d.width()}, kii, kappa)
		VFNMADD231PD(two, k, kappa) // 2·k is exact, so fusing does not change the rounding
		VMAXPD(kappa, tau, kappa)
		ours := d.register()
		VMULPD(v, below[s], ours)
		VMULPD(kappa, above[s], k)
		wins := d.compare(greater, k, ours)
		wins.move(v, above[s])
		wins.move(kappa, below[s])
		wins.move(index, at[s])
	}
	VADDPD(step, index, index)
	advance(16*m.bytes(), ki)
	advance(16*8, f, low, diag)
	SUBQ(U8(16), n)
	JMP(LabelRef("full"))
	Label("done")
	VADDPD(d.constant(float64(d.lanes())), at[1], at[1])
	for s := range at {
		VDIVPD(below[s], above[s], above[s])
	}
	gain, j := d.among(above[:], at[:], VMAXPD, math.Inf(1), VMINPD)
	Store(gain, Return("gain"))
	storeIndex(j, "j")
	end()
}

// smoPair works like smoUpdate, but also returns the index of the smallest value, and of equal
// largest values the last one. n is a multiple of the lanes.
func (m machine) smoPair() {
	m.text("smoPair", "func(f, ki, kj, up, low *T, n int, t T) (i, j int, most, least T)")
	f, ki, kj, up, low, n := param("f"), param("ki"), param("kj"), param("up"), param("low"), param("n")
	t := m.param("t")
	top, bottom := best{m: m, last: true}.from(math.Inf(-1)), best{m: m, least: true}.from(math.Inf(1))
	Label("full")
	TESTQ(n, n)
	JEQ(LabelRef("done"))
	diff, v, moved := m.load(Mem{Base: ki}, nil), m.load(Mem{Base: f}, nil), m.register()
	VSUBPD(Mem{Base: kj}, diff, diff)
	VMULPD(t, diff, diff)
	VSUBPD(diff, v, v)
	m.store(v, Mem{Base: f}, nil)
	VADDPD(Mem{Base: low}, v, moved)
	bottom.take(moved)
	VADDPD(Mem{Base: up}, v, v)
	top.take(v)
	advance(m.width(), f, ki, kj, up, low)
	SUBQ(U8(m.lanes()), n)
	JMP(LabelRef("full"))
	Label("done")
	most, i := top.result()
	Store(most, Return("most"))
	storeIndex(i, "i")
	least, j := bottom.result()
	Store(least, Return("least"))
	storeIndex(j, "j")
	end()
}

// smoPartner works like smoSecond, but takes the last of equal values, and replaces only a
// curvature ≤ 0 by tau. n is a multiple of the lanes.
func (m machine) smoPartner() {
	m.text("smoPartner", "func(f, low, ki, diag *T, n int, fi, kii, tau T) (j int, gain T)")
	f, low, ki, diag, n := param("f"), param("low"), param("ki"), param("diag"), param("n")
	fi, kii, tau, zero := m.param("fi"), m.param("kii"), m.param("tau"), m.zero()
	b := best{m: m, last: true}.from(0)
	Label("full")
	TESTQ(n, n)
	JEQ(LabelRef("done"))
	v, kappa, k := m.load(Mem{Base: f}, nil), m.register(), m.load(Mem{Base: ki}, nil)
	VADDPD(Mem{Base: low}, v, v)
	VSUBPD(v, fi, v)
	VMAXPD(v, zero, v)
	VMULPD(v, v, v)
	VADDPD(Mem{Base: diag}, kii, kappa)
	VADDPD(k, k, k)
	VSUBPD(k, kappa, kappa)
	m.compare(atMost, zero, kappa).move(tau, kappa)
	VDIVPD(kappa, v, v)
	b.take(v)
	advance(m.width(), f, low, ki, diag)
	SUBQ(U8(m.lanes()), n)
	JMP(LabelRef("full"))
	Label("done")
	gain, at := b.result()
	Store(gain, Return("gain"))
	storeIndex(at, "j")
	end()
}
