package linear

import (
	"math"

	"github.com/svmnb/svmnb/internal/simd"
)

// This file computes sums in twice the working precision (Ogita, Rump and Oishi 2005, Dot2).
// It also sums the rounding errors of all products and sums. A sum of n products is then as
// exact as one computed with 106 bits and rounded once,
//
//	|ŝ − s| ≤ 2⁻⁵³ |s| + (n 2⁻⁵³)² Σ |products|.
//
// Certificates need this: they must hold even if A is nearly singular, x is large and the
// terms cancel.

// twofold is a sum in twice the working precision.
type twofold struct{ sum, rest, size float64 }

// add adds v.
func (t *twofold) add(v float64) {
	s := t.sum + v
	z := s - t.sum
	t.rest += (t.sum - (s - z)) + (v - z)
	t.sum = s
	t.size += math.Abs(v)
}

// addProduct adds xy.
func (t *twofold) addProduct(x, y float64) {
	p := float64(x * y)
	t.rest += math.FMA(x, y, -p)
	t.add(p)
}

// addProducts adds x'y. It uses eight sums side by side.
func (t *twofold) addProducts(x, y []float64) {
	var parts simd.Twofold
	parts.Add(x, y)
	for j, sum := range parts.Sum {
		size := t.size + parts.Size[j]
		t.add(sum)
		t.rest += parts.Rest[j]
		t.size = size
	}
}

// value returns the sum of n terms and a bound of its error.
func (t *twofold) value(n int) (v, rounding float64) {
	v = t.sum + t.rest
	if t.size > 0 {
		few := float64(n+8) * 0x1p-53
		rounding = 0x1p-52*math.Abs(v) + 2*few*few*t.size + float64(n+8)*0x1p-1070
	}
	return v, rounding
}

// proof has the bounds of b'A⁻¹b that follow from one vector x alone.
type proof struct {
	residual []float64 // b − Ax
	twice    float64   // 2Q(x) = b'x + (b − Ax)'x
	rounding float64   // bound of the rounding error of twice
	energy   float64   // ≥ (b − Ax)'A⁻¹(b − Ax); +Inf where a noise is 0
	hidden   float64   // part of the energy that rounding of the residual may hide
}

// upper returns the upper bound of b'A⁻¹b.
func (p *proof) upper() float64 { return p.twice + p.rounding + widened(p.energy, p.hidden) }

// widened returns (√energy + √more)², rounded up. This bounds an energy if rounding hides a
// part of at most more.
func widened(energy, more float64) float64 {
	v := math.Sqrt(energy) + math.Sqrt(more)
	return float64(v*v) * (1 + 0x1p-48)
}

// residualRow returns entry i of b − Ax and a bound of its rounding error.
func (s *System) residualRow(i int, row, b, x []float64) (r, rounding float64) {
	var t twofold
	t.addProducts(row, x)
	t.addProduct(s.noise(i), x[i])
	t.sum, t.rest = -t.sum, -t.rest
	t.add(b[i])
	return t.value(len(x))
}

// prove computes the bounds from the residual r of x. off bounds the rounding error of each
// entry of r.
func (s *System) prove(b, x, r, off []float64) *proof {
	p := &proof{residual: r, energy: s.energy(r), hidden: s.energy(off)}
	var t twofold
	t.addProducts(b, x)
	t.addProducts(r, x)
	p.twice, p.rounding = t.value(2 * len(x))
	p.rounding += 0x1p-50 * math.Abs(p.twice) // the rounding of the sum itself
	for i, v := range x {
		p.rounding += 1.0001 * off[i] * math.Abs(v)
	}
	return p
}
