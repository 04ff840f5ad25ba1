package solvers

import (
	"context"
	"fmt"
	"math"
)

// interior is what Barrier and PrimalDual have in common: a point inside the
// box, Newton systems, and the way from there to the bounds.
//
// Both look for α and multipliers z, w ≥ 0 of the bounds with
//
//	Qα + p + b s − z + w = 0,  s'α = δ,  z_i (α_i − l_i) = w_i (u_i − α_i) = t,
//
// and let t fall to 0. The multiplier of the equality is the bias: the source
// maximises, so its ν is −b. A bound at +Inf has no w. Where l_i = u_i the
// coordinate is held.
type interior struct {
	p     *Problem
	q     quadratic
	diag  []float64 // of Q
	size  float64   // the largest of diag
	n     int
	m     float64   // number of finite bounds of the coordinates that can move
	alpha []float64 // strictly inside the box
	grad  []float64 // Qα + p
	b     float64
	step  float64 // length of the last step

	d, dr []float64 // the diagonal D of M = Q + D, and what was factored: D + rho
	rho   float64
	ms    []float64 // M⁻¹s
	sms   float64   // s'M⁻¹s
	r     []float64 // right side
	dx    []float64
	res   []float64
	fix   []float64

	shown, shownF []float64 // what Report shows: α, or the point of the face near it
	low           bool      // Q is an approximation: F is not that of the problem
	finished      bool

	round    int
	face     []int8
	c, g     []float64
	cb       float64
	trial, f []float64
	mean     float64
	gap, kkt float64
}

func newInterior(p *Problem, alpha []float64, q quadratic) *interior {
	n := len(alpha)
	in := &interior{p: p, q: q, n: n, diag: append([]float64(nil), p.K.Diag()...)}
	for i, ridge := range p.Ridge {
		in.diag[i] += ridge
	}
	for i, v := range in.diag {
		in.size = max(in.size, v)
		if p.Upper[i] > p.Lower[i] {
			in.m++
			if !math.IsInf(p.Upper[i], 1) {
				in.m++
			}
		}
	}
	if in.size == 0 {
		in.size = 1
	}
	for _, v := range []*[]float64{&in.alpha, &in.grad, &in.d, &in.dr, &in.ms, &in.r, &in.dx, &in.res, &in.fix, &in.shown, &in.shownF} {
		*v = make([]float64, n)
	}
	copy(in.alpha, alpha)
	in.gradient()
	in.show()
	in.step = math.NaN()
	return in
}

// gradient computes Qα + p afresh.
func (in *interior) gradient() {
	in.q.mul(in.grad, in.alpha)
	for i, p := range in.p.P {
		in.grad[i] += p
	}
}

// show makes α what is reported.
func (in *interior) show() {
	copy(in.shown, in.alpha)
	for i, g := range in.grad {
		in.shownF[i] = -in.p.S[i] * g
	}
}

func (in *interior) report(it *Iterate) {
	it.Alpha, it.Step = in.shown, in.step
	if !in.low {
		it.F = in.shownF
	}
}

// centre moves α to a point strictly inside the box with s'α = δ, and reports
// whether there is one. On the segment from the corner where s'α is smallest to
// the one where it is largest it is the point with s'α = δ, so that α_i is the
// share of the other class in n, times C. (Erratum B14: no Phase I is needed;
// the point given there is this one for balanced classes.) Upper bounds that
// are far away, or infinite, count as one at the scale of the problem.
func (in *interior) centre(ignoreEquality bool) bool {
	p := in.p
	width := in.scale()
	for range 1100 {
		lo, hi, finite := 0.0, 0.0, true
		for i, l := range p.Lower {
			u := min(p.Upper[i], l+width)
			finite = finite && u == p.Upper[i]
			lo += min(p.S[i]*l, p.S[i]*u)
			hi += max(p.S[i]*l, p.S[i]*u)
		}
		share := (p.Delta - lo) / (hi - lo)
		if p.FixedBias || ignoreEquality {
			share = 0.5
		}
		if !(hi > lo) {
			return false
		}
		if share > 1e-12 && share < 1-1e-12 {
			for i, l := range p.Lower {
				u := min(p.Upper[i], l+width)
				if p.S[i] > 0 {
					in.alpha[i] = l + share*(u-l)
				} else {
					in.alpha[i] = u - share*(u-l)
				}
			}
			in.gradient()
			in.show()
			return true
		}
		if finite {
			return false
		}
		width *= 2
	}
	return false
}

// scale is twice the step along the direction that takes from both classes the
// same sum, each point of a class alike.
func (in *interior) scale() float64 {
	plus, trace := 0.0, 0.0
	for i, s := range in.p.S {
		plus += max(s, 0)
		trace += in.diag[i]
	}
	n := float64(in.n)
	slope := 0.0
	for i, s := range in.p.S {
		in.dx[i] = plus / n
		if s > 0 {
			in.dx[i] = 1 - plus/n
		}
		if in.p.FixedBias {
			in.dx[i] = 0.5
		}
		slope -= in.p.P[i] * in.dx[i]
	}
	in.q.mul(in.res, in.dx)
	curve := 0.0
	for i, v := range in.res {
		curve += v * in.dx[i]
	}
	unit := n / trace
	if !(trace > 0) {
		unit = 1
	}
	width := 2 * slope / curve
	if !(slope > 0 && curve > 0) {
		width = unit
	}
	return min(max(width, 1e-3*unit), 1e3*unit)
}

// factor factors M = Q + D, D + rho I where rounding or an indefinite kernel
// makes that necessary; newton refines what rho spoils. It reports false when
// no reasonable rho helps.
func (in *interior) factor(ctx context.Context, rho float64) (bool, error) {
	for in.rho = rho; ; in.rho = max(100*in.rho, 1e-14*in.size) {
		for i, d := range in.d {
			in.dr[i] = d + in.rho
		}
		ok, err := in.q.factor(ctx, in.dr)
		if err != nil {
			return false, err
		}
		if ok {
			break
		}
		if !(in.rho < in.size) {
			return false, nil
		}
	}
	copy(in.ms, in.p.S)
	in.q.solve(in.ms)
	in.sms = 0
	for i, s := range in.p.S {
		in.sms += s * in.ms[i]
	}
	return true, nil
}

// newton solves M x + y s = r, s'x = e by block elimination,
//
//	y = (s'M⁻¹r − e) / s'M⁻¹s,  x = M⁻¹(r − y s),
//
// and refines the answer; with a fixed bias there is no y.
func (in *interior) newton(x, r []float64, e float64, refine int) (y float64) {
	copy(x, r)
	y = in.eliminate(x, e)
	for range refine {
		in.q.mul(in.res, x)
		left := e
		for i, v := range x {
			if math.IsInf(in.d[i], 1) {
				in.res[i] = 0
				continue
			}
			in.res[i] = r[i] - in.res[i] - in.d[i]*v - y*in.p.S[i]
			left -= in.p.S[i] * v
		}
		y += in.eliminate(in.res, left)
		for i, v := range in.res {
			x[i] += v
		}
	}
	return y
}

func (in *interior) eliminate(x []float64, e float64) (y float64) {
	in.q.solve(x)
	if in.p.FixedBias || !(in.sms > 0) {
		return 0
	}
	y = -e
	for i, s := range in.p.S {
		y += s * x[i]
	}
	y /= in.sms
	for i, v := range in.ms {
		x[i] -= y * v
	}
	return y
}

// room is the longest step along dx, at most 1, that stays inside the box.
func (in *interior) room() float64 {
	s := 1.0
	for i, d := range in.dx {
		switch a := in.alpha[i]; {
		case d < 0:
			s = min(s, (in.p.Lower[i]-a)/d)
		case d > 0:
			s = min(s, (in.p.Upper[i]-a)/d)
		}
	}
	return s
}

// advance moves α by s dx.
func (in *interior) advance(s float64) {
	norm := 0.0
	for i, d := range in.dx {
		in.alpha[i] += s * d
		norm += d * d
	}
	in.step = s * math.Sqrt(norm)
	in.gradient()
}

// inside reports whether α is still strictly inside the box, or rounding has
// used the interior up.
func (in *interior) inside() bool {
	for i, a := range in.alpha {
		if l, u := in.p.Lower[i], in.p.Upper[i]; l < u && !(a > l && a < u) {
			return false
		}
	}
	return true
}

// recedes reports whether α has become a direction in which the dual grows for
// ever: Qα = 0 as nearly as can be told, and p'α < 0.
func (in *interior) recedes() bool {
	curve, sum, slope := 0.0, 0.0, 0.0
	for i, a := range in.alpha {
		if math.IsInf(in.p.Upper[i], 1) {
			curve += a * (in.grad[i] - in.p.P[i])
			sum += a * math.Sqrt(max(in.diag[i], 0))
			slope += a * in.p.P[i]
		} else if in.grad[i] != in.grad[i] {
			return false
		}
	}
	return slope < 0 && curve <= 1e-14*sum*sum
}

// quality is the gap at α, +Inf where it says nothing, and the KKT violation.
func (in *interior) quality(alpha, f []float64) (gap, kkt float64) {
	s := in.p.summarise(alpha, f)
	if in.p.isHard() {
		return in.p.hardPrimal(f, s.norm2) - s.dual, s.kkt
	}
	return in.p.gapAt(alpha, f, in.p.bestBias(alpha, f)), s.kkt
}

func (in *interior) String() string { return fmt.Sprint("interior point of ", in.n) }

// rounds is how many steps on faces are tried before the next interior one.
const rounds = 5

// approach begins the way to the bounds: by steps of the primal–dual active set
// method (Hintermüller, Ito and Kunisch 2003) from α.
func (in *interior) approach() {
	if in.face == nil {
		in.face, in.c, in.g = make([]int8, in.n), make([]float64, in.n), make([]float64, in.n)
		in.trial, in.f = make([]float64, in.n), make([]float64, in.n)
	}
	copy(in.c, in.alpha)
	copy(in.g, in.grad)
	in.cb = in.b
	in.gap, in.kkt = in.quality(in.shown, in.shownF)
	in.round = 1
	in.mean = 0
	for i, v := range in.g {
		in.mean += math.Abs(v+in.cb*in.p.S[i]) / float64(in.n)
	}
}

// faceStep puts each coordinate on the bound that a Newton step of its own would
// cross and solves for the others. It shows the result if the gap is smaller there.
func (in *interior) faceStep(ctx context.Context) (done bool, err error) {
	p, c, g := in.p, in.c, in.g
	same := in.round > 1
	for i, v := range g {
		l, u := p.Lower[i], p.Upper[i]
		v += in.cb * p.S[i]
		theta := in.diag[i] + in.mean/(u-l)
		side := int8(0)
		switch {
		case l == u, v > theta*(c[i]-l):
			c[i], side = l, -1
		case -v > theta*(u-c[i]):
			c[i], side = u, 1
		}
		same = same && side == in.face[i]
		in.face[i] = side
		in.d[i] = 0
		if side != 0 {
			in.d[i] = math.Inf(1)
		}
	}
	if same {
		in.finished = true
		return true, nil
	}
	in.q.mul(g, c)
	e := p.Delta
	for i, v := range g {
		in.r[i] = -(v + p.P[i] + in.cb*p.S[i])
		e -= p.S[i] * c[i]
	}
	ok, err := in.factor(ctx, 1e-10*in.size)
	if err != nil {
		return false, err
	}
	if in.round++; !ok || in.round > rounds {
		in.round = 0
	}
	if !ok {
		return false, nil
	}
	in.cb += in.newton(in.dx, in.r, e, 3)
	for i, v := range in.dx {
		if in.face[i] == 0 {
			c[i] += v
		}
	}
	copy(in.trial, c)
	if in.feasible(in.trial) {
		in.q.mul(g, in.trial)
		for i, v := range g {
			in.f[i] = -p.S[i] * (v + p.P[i])
		}
		gap, kkt := in.quality(in.trial, in.f)
		if debug {
			fmt.Printf("      round %d gap %.3g kkt %.3g\n", in.round, gap, kkt)
		}
		if gap < in.gap || !(in.gap < math.Inf(1)) && kkt < in.kkt {
			in.gap, in.kkt = gap, kkt
			copy(in.shown, in.trial)
			copy(in.shownF, in.f)
		}
	} else if debug {
		fmt.Println("      infeasible")
	}
	in.q.mul(g, c)
	for i, v := range p.P {
		g[i] += v
	}
	return false, nil
}

// feasible clips c to the box and spreads what s'c lacks of δ over the
// coordinates inside it; false if they have no room.
func (in *interior) feasible(c []float64) bool {
	p := in.p
	e, sum := p.Delta, 0.0
	for i, v := range c {
		c[i] = min(max(v, p.Lower[i]), p.Upper[i])
		e -= p.S[i] * c[i]
		sum += math.Abs(c[i])
	}
	if p.FixedBias || math.Abs(e) <= 0x1p-50*sum {
		return true
	}
	room := func(i int) float64 {
		a, u := c[i]-p.Lower[i], p.Upper[i]-c[i]
		if !(a > 0 && u > 0) {
			return 0
		}
		if p.S[i]*e > 0 {
			return min(u, math.Abs(e))
		}
		return min(a, math.Abs(e))
	}
	total := 0.0
	for i := range c {
		total += room(i)
	}
	if !(total >= math.Abs(e)) {
		return false
	}
	for i := range c {
		if r := room(i); r > 0 {
			c[i] = min(max(c[i]+p.S[i]*e/total*r, p.Lower[i]), p.Upper[i])
		}
	}
	return true
}
