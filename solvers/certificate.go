package solvers

import (
	"math"
	"slices"

	"github.com/svmnb/svmnb/internal/rows"
)

// Certify computes the certificate of alpha, n values, from alpha alone: it asks for every
// kernel value again and uses nothing that a method maintained. It costs a kernel row for each
// non-zero α. For a kernel that is not positive semi-definite the gap bounds nothing, but a
// KKT violation of 0 still means a stationary point.
func Certify(p *Problem, alpha []float64) Certificate {
	return p.certify(alpha, p.F(alpha))
}

// CertifyWith is Certify for an F that is known, n values. The certificate is as exact as this F.
func CertifyWith(p *Problem, alpha, f []float64) Certificate { return p.certify(alpha, f) }

func (p *Problem) certify(alpha, f []float64) Certificate {
	s := p.summarise(alpha, f)
	c := Certificate{
		Dual: s.dual, MaxKKT: s.kkt, Equality: s.equality, Bias: s.bias, Rho: s.rho,
		Norm2: s.norm2, Free: s.free, AtUpper: s.atUpper,
	}
	largest := 0.0
	for i, a := range alpha {
		largest = max(largest, a)
		c.Bound = max(c.Bound, p.Lower[i]-a, a-p.Upper[i])
	}
	if p.isHard() {
		c.Primal = p.hardPrimal(f, s.norm2)
		c.Gap = c.Primal - c.Dual
	} else {
		c.Gap = p.gapAt(alpha, f, p.bestBias(alpha, f))
		c.Primal = c.Dual + c.Gap
	}
	c.Rounding = p.rounding(alpha)
	c.RelGap = relative(c.Gap, c.Primal)
	c.BoxGap = c.Gap
	if slices.ContainsFunc(p.Upper, func(u float64) bool { return math.IsInf(u, 1) }) {
		boxed := p.boxed(largest + 1)
		c.BoxGap = boxed.gapAt(alpha, f, boxed.bestBias(alpha, f))
	}
	return c
}

// rounding bounds how far rounding of kernel values to double precision may have moved F. It
// assumes that all errors have the same sign and are as large as the error of the largest
// value.
func (p *Problem) rounding(alpha []float64) float64 {
	total, n := 0.0, len(alpha)
	if PointsOf(p.K) != nil {
		n /= 2
	}
	for i := range n {
		b := p.S[i] * alpha[i]
		if n < len(alpha) {
			b += p.S[n+i] * alpha[n+i]
		}
		total += math.Abs(b)
	}
	return 0x1p-52 * rows.Largest(p.K) * total
}

// boxed prepares CST's gap for α without an upper bound: the ridge becomes part of the kernel,
// and ct = max α + 1 replaces each infinite upper bound.
func (p *Problem) boxed(ct float64) *Problem {
	q := *p
	q.Ridge = nil
	q.Upper = slices.Clone(p.Upper)
	for i, u := range q.Upper {
		if math.IsInf(u, 1) {
			q.Upper[i] = ct
		}
	}
	return &q
}

// forget makes NaN of all figures that need F of all points.
func (c *Certificate) forget() {
	nan := math.NaN()
	c.Dual, c.Primal, c.Gap, c.BoxGap, c.RelGap, c.MaxKKT, c.Norm2 = nan, nan, nan, nan, nan, nan, nan
}

func relative(gap, primal float64) float64 {
	if math.IsInf(primal, 0) {
		return math.Inf(1)
	}
	return gap / (1 + math.Abs(primal))
}
