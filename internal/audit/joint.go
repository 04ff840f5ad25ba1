package audit

import "math"

// Joint is the machine of Crammer and Singer for n points of k classes.
type Joint struct {
	Y       []int
	Classes int
	C       []float64
}

// Of audits α, which has k values for each point. sums has Σ_j α_jm K(x_i, x_j) for each class
// m.
func (p *Joint) Of(alpha []float64, sums []Sums) Report {
	var r Report
	var norm2, linear, losses dd
	for i, y := range p.Y {
		a := alpha[i*p.Classes:][:p.Classes]
		upper := func(m int) float64 {
			if m == y {
				return p.C[i]
			}
			return 0
		}
		var equality dd
		off, high, own := 0.0, exact(math.Inf(-1)), dd{}
		low := exact(math.Inf(1)) // the smallest g of the α that may rise
		for m, v := range a {
			g, e := sums[m].g[i], 1.0
			norm2 = norm2.plus(g.by(v))
			if m == y {
				e, own = 0, g
			}
			linear = linear.plus(product(e, v))
			g = g.plus(exact(e))
			high = larger(high, g)
			if v < upper(m) && g.less(low) {
				low = g
			}
			equality = equality.plus(exact(v))
			r.Box = max(r.Box, v-upper(m))
			off = max(off, sums[m].off(i))
			r.Rounding += math.Abs(v) * sums[m].off(i)
		}
		losses = losses.plus(high.minus(own).by(p.C[i]))
		if !math.IsInf(low.hi, 1) {
			r.Violation = max(r.Violation, high.minus(low).float())
		}
		r.Equality = max(r.Equality, math.Abs(equality.float()))
		r.Rounding += 2 * p.C[i] * off
		r.ViolationRounding = max(r.ViolationRounding, 2*off+0x1p-51*math.Abs(high.hi))
	}
	half := norm2.by(0.5)
	primal, dual := half.plus(losses), half.neg().minus(linear)
	r.Primal, r.Dual, r.Gap = primal.float(), dual.float(), primal.minus(dual).float()
	for i := range p.Y {
		for _, s := range sums {
			r.Size = r.Rounding / s.share()
			r.ViolationSize = max(r.ViolationSize, 2*s.size[i]+1)
		}
	}
	r.UpLow, r.Norm2 = r.Violation, max(0, norm2.float())
	return r
}
