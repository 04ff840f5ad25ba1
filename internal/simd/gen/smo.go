package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// best is the largest float64 of each lane and its index, as a float64; −1
// while there is none.
type best struct {
	m                machine
	value, at, index reg.VecVirtual
	lanes            Op
}

func (m machine) newBest(least float64) best {
	b := best{m: m, value: m.register(), at: m.register(), index: m.register()}
	VMOVUPD(m.constant(least), b.value)
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

// take lets v compete and moves on. An equal value and NaN do not win, so the
// first of equals stays. The value is kept by max, which the next step waits for
// less long than for a comparison.
func (b best) take(v reg.VecVirtual) {
	const greater = 0x1e // quiet
	if b.m.wide {
		k := K()
		VCMPPD(U8(greater), b.value, v, k)
		VMOVAPD(b.index, k, b.at)
	} else {
		mask := YMM()
		VCMPPD(U8(greater), b.value, v, mask)
		VBLENDVPD(mask, b.index, b.at, b.at)
	}
	VMAXPD(b.value, v, b.value) // b.value where v is NaN
	VADDPD(b.lanes, b.index, b.index)
}

// result returns the largest value and the least of its indices.
func (b best) result() (value, index reg.VecVirtual) {
	const equal = 0
	value = b.m.across(VMAXPD, b.value)
	all := b.m.broadcast(value)
	at := b.m.register()
	VMOVUPD(b.m.constant(math.Inf(1)), at)
	if b.m.wide {
		k := K()
		VCMPPD(U8(equal), all, b.value, k)
		VMOVAPD(b.at, k, at)
	} else {
		mask := YMM()
		VCMPPD(U8(equal), all, b.value, mask)
		VBLENDVPD(mask, b.at, at, at)
	}
	return value, b.m.across(VMINPD, at)
}

func storeIndex(index reg.VecVirtual, name string) {
	i := GP64()
	CVTTSD2SQ(index, i)
	Store(i, Return(name))
}

// smoUpdate: f[j] −= t·(ki[j] − kj[j]); then the largest f + up with its index,
// and the least f + low. n is a multiple of the lanes.
func (m machine) smoUpdate() {
	m.text("smoUpdate", "func(f *float64, ki, kj *T, up, low *float64, n int, t float64) (i int, most, least float64)")
	f, ki, kj, up, low, n := param("f"), param("ki"), param("kj"), param("up"), param("low"), param("n")
	d := m.double()
	t := d.param("t")
	b := d.newBest(math.Inf(-1))
	least := d.register()
	VMOVUPD(d.constant(math.Inf(1)), least)
	Label("full")
	TESTQ(n, n)
	JEQ(LabelRef("done"))
	diff, v, raised := m.loadDouble(Mem{Base: ki}, nil), d.load(Mem{Base: f}, nil), d.register()
	// Rounded after each operation, as in portable.go: every level takes the same path.
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

// smoSecond: the largest max(0, fi − f[j] − low[j])²/max(tau, kii + diag[j] − 2·ki[j])
// above 0 and its index. n is a multiple of the lanes.
func (m machine) smoSecond() {
	m.text("smoSecond", "func(f, low *float64, ki *T, diag *float64, n int, fi, kii, tau float64) (j int, gain float64)")
	f, low, ki, diag, n := param("f"), param("low"), param("ki"), param("diag"), param("n")
	d := m.double()
	fi, kii, tau, zero := d.param("fi"), d.param("kii"), d.param("tau"), d.zero()
	b := d.newBest(0)
	Label("full")
	TESTQ(n, n)
	JEQ(LabelRef("done"))
	v, kappa, k := d.load(Mem{Base: f}, nil), d.register(), m.loadDouble(Mem{Base: ki}, nil)
	VADDPD(Mem{Base: low}, v, v)
	VSUBPD(v, fi, v)
	VMAXPD(v, zero, v)
	VMULPD(v, v, v)
	VADDPD(Mem{Base: diag}, kii, kappa)
	VADDPD(k, k, k)
	VSUBPD(k, kappa, kappa)
	VMAXPD(kappa, tau, kappa)
	VDIVPD(kappa, v, v)
	b.take(v)
	advance(d.lanes()*m.bytes(), ki)
	advance(d.width(), f, low, diag)
	SUBQ(U8(d.lanes()), n)
	JMP(LabelRef("full"))
	Label("done")
	gain, at := b.result()
	Store(gain, Return("gain"))
	storeIndex(at, "j")
	end()
}
