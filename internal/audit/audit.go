// Package audit computes the figures of a certificate a second time, by code that shares
// nothing with the solvers: no kernel matrix, no blocks of rows, no assembly, and none of the
// sums and formulas of package solvers. This independence is its only purpose, so it repeats
// the formulas of docs/math.md.
//
// Kernel values come one by one from a function of two points. All other computations use sums
// of two float64, which have 106 bits. The gap is therefore the plain difference of the two
// objectives, and loses no digits by cancellation.
package audit

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// Sums are g_i = Σ_j coef_j K(x_i, x_j) for n points.
type Sums struct {
	g    []dd
	size []float64 // Σ_j |coef_j K(x_i, x_j)|
	unit float64   // bound of the relative error of each of these terms
}

// ulps is the assumed relative error of a kernel value: sixteen rounding errors.
const ulps = 0x1p-49

// ValueError says which kernel value is not finite.
type ValueError struct {
	Row, Column int
	Value       float64
}

func (e *ValueError) Error() string {
	return fmt.Sprintf("audit: the kernel value of points %d and %d is %v", e.Row, e.Column, e.Value)
}

// OfKernel returns one Sums for each slice of coefs, which have n coefficients each, from
// single kernel values. It asks for n values for each point with a non-zero coefficient.
func OfKernel(ctx context.Context, n int, coefs [][]float64, kernel func(i, j int) float64) ([]Sums, error) {
	sums := make([]Sums, len(coefs))
	for k := range sums {
		sums[k] = Sums{make([]dd, n), make([]float64, n), ulps}
	}
	for j := range n {
		if !slices.ContainsFunc(coefs, func(c []float64) bool { return c[j] != 0 }) {
			continue
		}
		for i := range n {
			if i%256 == 0 && ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			v := kernel(i, j)
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, &ValueError{i, j, v}
			}
			for k, c := range coefs {
				if c[j] != 0 {
					term := product(c[j], v)
					sums[k].g[i] = sums[k].g[i].plus(term)
					sums[k].size[i] += math.Abs(term.hi)
				}
			}
		}
	}
	return sums, nil
}

// OfPoints is OfKernel for the linear kernel. It computes w = Σ_j coef_j x_j from the n points
// of d features, and no kernel values. The function entries calls do for each non-zero feature
// of point i.
func OfPoints(ctx context.Context, n, d int, coefs [][]float64, entries func(i int, do func(j int, v float64))) ([]Sums, error) {
	sums := make([]Sums, len(coefs))
	for k, coef := range coefs {
		s := Sums{make([]dd, n), make([]float64, n), float64(n+d) * 0x1p-100}
		w, most := make([]dd, d), make([]float64, d)
		for i, c := range coef {
			if i%256 == 0 && ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if c != 0 {
				entries(i, func(j int, v float64) {
					term := product(c, v)
					w[j] = w[j].plus(term)
					most[j] += math.Abs(term.hi)
				})
			}
		}
		for i := range n {
			if i%256 == 0 && ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			entries(i, func(j int, v float64) {
				s.g[i] = s.g[i].plus(w[j].by(v))
				s.size[i] += most[j] * math.Abs(v)
			})
			if v := s.g[i].float(); math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, &ValueError{i, i, v}
			}
		}
		sums[k] = s
	}
	return sums, nil
}

// Augment changes the sums to those of the kernel K + τ².
func (s Sums) Augment(tau2 float64, coef []float64) {
	var sum dd
	size := 0.0
	for _, c := range coef {
		sum = sum.plus(exact(c))
		size += math.Abs(c)
	}
	sum = sum.by(tau2)
	for i := range s.g {
		s.g[i] = s.g[i].plus(sum)
		s.size[i] += size * tau2
	}
}

// At returns g_i.
func (s Sums) At(i int) float64 { return s.g[i].float() }

// off bounds the rounding error of g_i.
func (s Sums) off(i int) float64 { return s.share() * s.size[i] }

// share returns the bound of the rounding error relative to a sum of absolute values.
func (s Sums) share() float64 { return s.unit + 0x1p-90 }

// Programme is the quadratic programme
//
//	minimise ½ α'Qα + p'α,  lower ≤ α ≤ upper,  s'α = δ,  Q = diag(s) K diag(s) + diag(ridge).
//
// A regression has two variables for each point: variable v belongs to point v mod n.
type Programme struct {
	S, P, Lower, Upper []float64
	Ridge              []float64 // nil means none
	Delta              float64
	PerClass           bool // also Σα = Sum
	Sum                float64
	FixedBias          bool // no equality, and the objective has + Bias s'α
	Bias               float64
}

// Report has the figures of an audit.
type Report struct {
	Dual, Primal float64 // the objectives, Primal at the bias that makes it smallest
	Gap          float64 // their difference, which bounds how far Dual is from the optimum
	Violation    float64 // the largest violation of a KKT condition at the bias that violates least, in units of y f
	UpLow        float64 // m(α) − M(α), which is > 0 unless α is optimal
	Equality     float64 // |s'α − δ|, or the larger residual of two equalities
	Box          float64 // how far α is outside its box
	Norm2        float64 // ‖w‖²

	// Bounds of the rounding errors that come from kernel values and from the audit itself:
	// Rounding for Gap, and ViolationRounding for Violation and UpLow.
	Rounding, ViolationRounding float64

	// Size and ViolationSize are the sums that give Gap and Violation, but over the absolute
	// values of their terms. Plain sums of n terms in float64 may have errors of n 2⁻⁵³ times
	// these.
	Size, ViolationSize float64
}

// Of audits α, given its sums. bias and rho are those of the fit: the mean of the multipliers
// of the two classes, and half their difference.
func (p *Programme) Of(alpha []float64, sums Sums, bias, rho float64) Report {
	n := len(sums.g)
	var r Report

	// With z_i = −(s_i g_i + p_i), the dual is Σ α_i z_i + ½‖w‖² minus the ridge terms.
	z, off := make([]dd, len(alpha)), make([]float64, len(alpha))
	var norm2, linear, ridge, difference, total dd
	normOff := 0.0
	for v, a := range alpha {
		i, s := v%n, p.S[v]
		z[v] = sums.g[i].by(-s).minus(exact(p.P[v]))
		off[v] = sums.off(i)
		norm2 = norm2.plus(sums.g[i].by(s * a))
		normOff += math.Abs(a) * off[v]
		linear = linear.plus(product(p.P[v], a))
		ridge = ridge.plus(product(p.ridge(v), a).by(a)) // in this order, because a² may overflow
		difference = difference.plus(exact(s * a))
		total = total.plus(exact(a))
		r.Box = max(r.Box, p.Lower[v]-a, a-p.Upper[v])
	}
	half := norm2.by(0.5)
	dual := half.neg().minus(linear).minus(ridge.by(0.5))
	switch {
	case p.FixedBias:
		dual = dual.minus(difference.by(p.Bias))
	default:
		r.Equality = math.Abs(difference.minus(exact(p.Delta)).float())
		if p.PerClass {
			r.Equality = max(r.Equality, math.Abs(total.minus(exact(p.Sum)).float()))
		}
	}
	r.Dual, r.Norm2 = dual.float(), max(0, norm2.float())

	if p.hard() {
		var relative float64
		r.Primal, relative = p.scaled(z, off, norm2)
		r.Gap, r.Rounding = math.Inf(1), normOff
		if r.Primal < r.Gap {
			r.Gap = exact(r.Primal).minus(dual).float()
			r.Rounding = normOff + r.Primal*(relative+0x1p-50)
			if norm2.positive() {
				r.Rounding += r.Primal * normOff / norm2.float()
			}
		}
	} else {
		primal, slopes := p.primal(z, off)
		primal = primal.plus(half)
		r.Primal, r.Gap = primal.float(), primal.minus(dual).float()
		r.Rounding = normOff + slopes + 0x1p-52*math.Abs(r.Gap) + 0x1p-90*(math.Abs(r.Primal)+math.Abs(r.Dual))
		if math.IsInf(primal.hi, 1) { // dd cannot represent infinity
			r.Primal, r.Gap = math.Inf(1), math.Inf(1)
		}
	}
	p.violations(&r, alpha, z, off, bias, rho)
	r.Size = r.Rounding / sums.share()
	for v := range z {
		r.Size += math.Abs(p.P[v] * alpha[v])
		r.ViolationSize = max(r.ViolationSize, sums.size[v%n]+math.Abs(p.P[v])+p.ridge(v)*math.Abs(alpha[v])+math.Abs(bias)+math.Abs(rho))
	}
	return r
}

func (p *Programme) ridge(v int) float64 {
	if p.Ridge == nil {
		return 0
	}
	return p.Ridge[v]
}

// loss returns the largest z x − ½ ridge x² in the box, and the x that attains it. These are
// the loss of a point, C ξ for the 1-norm and ½ C ξ² for the 2-norm, and its slope.
func (p *Programme) loss(v int, z dd) (value dd, x float64) {
	ridge := p.ridge(v)
	switch {
	case ridge > 0:
		x = min(max(z.hi/ridge, p.Lower[v]), p.Upper[v])
	case z.positive():
		x = p.Upper[v]
	case z.hi < 0:
		x = p.Lower[v]
	}
	if math.IsInf(x, 0) {
		return exact(math.Inf(1)), x
	}
	return z.minus(product(ridge, x).by(0.5)).by(x), x
}

// primal returns the smallest Σ loss(z_i − s_i b) + δ b over the bias, or over both
// multipliers of a ν machine, and a bound of its error by rounding of z.
func (p *Programme) primal(z []dd, off []float64) (value dd, rounding float64) {
	all := func(sides ...side) {
		for _, s := range sides {
			best, slopes := exact(math.Inf(1)), 0.0
			for _, t := range s.candidates() {
				if v, r := s.at(t, off); v.less(best) {
					best, slopes = v, r
				}
			}
			value, rounding = value.plus(best), rounding+slopes
			if math.IsInf(best.hi, 1) {
				value = best
				return
			}
		}
	}
	one := func(keep func(v int) bool, sign func(v int) float64, weight float64) side {
		s := side{p: p, weight: weight}
		for v := range z {
			if keep(v) {
				s.of, s.z, s.sign = append(s.of, v), append(s.z, z[v]), append(s.sign, sign(v))
			}
		}
		return s
	}
	own := func(v int) float64 { return p.S[v] }
	switch {
	case p.FixedBias:
		s := one(func(int) bool { return true }, own, 0)
		return s.at(exact(p.Bias), off)
	case p.PerClass:
		same := func(int) float64 { return 1 }
		all(one(func(v int) bool { return p.S[v] > 0 }, same, (p.Sum+p.Delta)/2),
			one(func(v int) bool { return p.S[v] < 0 }, same, (p.Sum-p.Delta)/2))
	default:
		all(one(func(int) bool { return true }, own, p.Delta))
	}
	return value, rounding
}

// side is the function Σ loss(z_i − sign_i t) + weight t of t, which is convex.
type side struct {
	p      *Programme
	of     []int // the variables in the sum
	z      []dd
	sign   []float64
	weight float64
}

// at returns the value at t, and a bound of its error by rounding of z.
func (s *side) at(t dd, off []float64) (value dd, rounding float64) {
	value = t.by(s.weight)
	most := 0.0 // bound of how far the best t may move
	for _, v := range s.of {
		most = max(most, off[v])
	}
	for k, v := range s.of {
		z := s.z[k].minus(t.by(s.sign[k]))
		loss, x := s.p.loss(v, z)
		if math.IsInf(loss.hi, 1) {
			return loss, 0
		}
		value = value.plus(loss)
		_, low := s.p.loss(v, exact(z.hi-off[v]-most))
		_, high := s.p.loss(v, exact(z.hi+off[v]+most))
		rounding += off[v] * max(math.Abs(low), math.Abs(x), math.Abs(high))
	}
	return value, rounding
}

// candidates returns values of t that include the minimum. It sums the slope A + Bt from kink
// to kink, in order, until it is no longer negative. Any t gives a valid bound.
func (s *side) candidates() []dd {
	type kink struct {
		at     dd
		da, db dd
	}
	var kinks []kink
	a, b := exact(s.weight), dd{}
	for k, v := range s.of {
		sign, z, ridge := s.sign[k], s.z[k], s.p.ridge(v)
		lower, upper := s.p.Lower[v], s.p.Upper[v]
		// The slope of this term is −sign·x, and x goes from one end of the box to the other.
		first, last := upper, lower // for growing t and sign > 0
		if sign < 0 {
			first, last = lower, upper
		}
		if ridge == 0 {
			if !math.IsInf(first, 0) {
				a = a.plus(exact(-sign * first))
			}
			if jump := upper - lower; !math.IsInf(jump, 0) {
				kinks = append(kinks, kink{z.by(sign), twoSum(upper, -lower), dd{}})
			} else {
				kinks = append(kinks, kink{z.by(sign), dd{}, dd{}}) // the loss is infinite on one side of this point, so the minimum may lie at it
			}
			continue
		}
		// Between the ends x = (z − sign t)/ridge, so the slope is −sign z/ridge + t/ridge.
		rise := exact(1).over(exact(ridge))
		inA := z.by(-sign).times(rise)
		at := func(end float64) dd { return z.minus(product(ridge, end)).by(sign) }
		if math.IsInf(first, 0) {
			a, b = a.plus(inA), b.plus(rise)
		} else {
			out := exact(-sign * first)
			a = a.plus(out)
			kinks = append(kinks, kink{at(first), inA.minus(out), rise})
		}
		if !math.IsInf(last, 0) {
			kinks = append(kinks, kink{at(last), exact(-sign * last).minus(inA), rise.neg()})
		}
	}
	slices.SortFunc(kinks, func(x, y kink) int {
		switch {
		case x.at.less(y.at):
			return -1
		case y.at.less(x.at):
			return 1
		}
		return 0
	})
	var out []dd
	for k, kink := range kinks {
		if !a.plus(b.times(kink.at)).less(dd{}) {
			if k > 0 {
				out = append(out, kinks[k-1].at)
			}
			out = append(out, kink.at)
			break
		}
		a, b = a.plus(kink.da), b.plus(kink.db)
		if k == len(kinks)-1 {
			out = append(out, kink.at)
		}
	}
	if b.positive() {
		out = append(out, a.over(b).neg())
	}
	if len(out) == 0 {
		out = append(out, dd{})
	}
	return out
}

// hard reports whether this is a hard margin. Its primal is infinite at any w that leaves a
// point inside the margin.
func (p *Programme) hard() bool {
	for v, u := range p.Upper {
		if !math.IsInf(u, 1) || p.ridge(v) != 0 || p.P[v] != -1 || p.Lower[v] != 0 {
			return false
		}
	}
	return !p.PerClass && p.Delta == 0
}

// scaled returns ½‖tw‖² for the shortest tw that leaves no point inside the margin, and its
// relative error by rounding of z.
func (p *Programme) scaled(z []dd, off []float64, norm2 dd) (value, relative float64) {
	infinite := math.Inf(1)
	most := slices.Max(off)
	// Here y_i g_i = 1 − z_i.
	if p.FixedBias {
		least, limit := dd{}, exact(infinite)
		for v := range z {
			yg, need := exact(1).minus(z[v]), 1-p.S[v]*p.Bias
			switch {
			case yg.positive():
				least = larger(least, exact(need).over(yg))
				relative = max(relative, 2*off[v]/yg.hi)
			case yg.hi < 0:
				if l := exact(need).over(yg); l.less(limit) {
					limit = l
				}
			case need > 0:
				return infinite, 0
			}
		}
		if limit.less(least) {
			return infinite, 0
		}
		return least.times(least).times(norm2).by(0.5).float(), relative
	}
	nearest := [2]dd{exact(infinite), exact(infinite)} // for each class, its smallest y g
	for v := range z {
		yg, c := exact(1).minus(z[v]), 0
		if p.S[v] > 0 {
			c = 1
		}
		if yg.less(nearest[c]) {
			nearest[c] = yg
		}
	}
	if math.IsInf(nearest[0].hi, 1) || math.IsInf(nearest[1].hi, 1) {
		return 0, 0 // with one class alone, w = 0 and a bias suffice
	}
	margin := nearest[0].plus(nearest[1]).by(0.5)
	if !margin.positive() {
		return infinite, 0
	}
	return norm2.by(0.5).over(margin.times(margin)).float(), 2 * most / margin.hi
}

// violations fills in by how much the KKT conditions are violated.
func (p *Programme) violations(r *Report, alpha []float64, z []dd, off []float64, bias, rho float64) {
	type extent struct{ up, low float64 }
	part := [2]extent{{math.Inf(-1), math.Inf(1)}, {math.Inf(-1), math.Inf(1)}}
	if p.FixedBias {
		bias, rho = p.Bias, 0
		part[1] = extent{bias, bias}
	}
	for v, a := range alpha {
		s, c := p.S[v], 1
		if p.PerClass && s < 0 {
			c = 0
		}
		own := bias
		if p.PerClass {
			own -= s * rho
		}
		slope := z[v].minus(product(p.ridge(v), a)) // slope of the dual in α_v, without the bias
		f := s * slope.float()
		if s > 0 && a < p.Upper[v] || s < 0 && a > p.Lower[v] {
			part[c].up = max(part[c].up, f)
		}
		if s > 0 && a > p.Lower[v] || s < 0 && a < p.Upper[v] {
			part[c].low = min(part[c].low, f)
		}
		r.ViolationRounding = max(r.ViolationRounding, off[v]+0x1p-52*(math.Abs(f)+math.Abs(own)))
	}
	r.UpLow = math.Inf(-1)
	for _, e := range part {
		if !math.IsInf(e.up, 0) && !math.IsInf(e.low, 0) {
			r.UpLow = max(r.UpLow, e.up-e.low)
			b := (e.up + e.low) / 2
			if p.FixedBias {
				b = p.Bias
			}
			r.Violation = max(r.Violation, e.up-b, b-e.low)
		}
	}
	if math.IsInf(r.UpLow, -1) {
		r.UpLow = 0 // no variable can move
	}
	r.ViolationRounding *= 2
}
