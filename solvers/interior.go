package solvers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/svmnb/svmnb/internal/chol"
	"github.com/svmnb/svmnb/internal/vec"
)

// interior is what Barrier and PrimalDual share: a point strictly inside the box, the Newton
// systems at this point, and the active set method that leads to the bounds at the end
// (activeset.go).
//
// Both look for α and multipliers z, w ≥ 0 of the lower and upper bounds with
//
//	Qα + p + b s − z + w = 0,  s'α = δ,  z_i (α_i − l_i) = w_i (u_i − α_i) = t,
//
// These are the KKT conditions, except that t is 0 there. Both methods let t fall to 0. The
// source maximises and therefore has −b, where b is the bias, as the multiplier ν of the
// equality. A bound at +Inf has no w. A coordinate with l_i = u_i is held.
type interior struct {
	p      *Problem
	low    *approximation // how to approximate Q; nil means not at all
	q      quadratic
	linear []float64 // p, or p + b₀ s: a fixed bias is part of the linear term, and b stays 0
	diag   []float64 // of Q
	size   float64   // the largest of diag
	upper  []float64 // upper bounds, with +Inf replaced after box was called
	m      float64   // number of finite bounds of the coordinates that move
	boxed  float64   // width of the box that replaces infinite bounds, 0 while there is none

	alpha []float64 // strictly inside the box
	grad  []float64 // Qα + linear
	b     float64
	step  float64 // length of the last step

	d    []float64 // the diagonal D of M = Q + D; +Inf keeps a coordinate fixed
	ms   []float64 // M⁻¹s
	sms  float64   // s'M⁻¹s
	r    []float64 // right-hand side of the last Newton system
	dx   []float64 // its solution
	work [2][]float64

	shown, f []float64 // α and F that are reported
	bias     float64   // the b at which the gap of shown is smallest
	gap, kkt float64   // gap and KKT violation of shown; at first +Inf and NaN
	raw      bool      // shown is an interior point
	end      activeSet
	last     bool // interior steps no longer improve because of rounding; only the active set method is left
	finished bool
}

func newInterior(p *Problem, alpha []float64, low *approximation) interior {
	n := len(alpha)
	in := interior{
		p: p, low: low, linear: slices.Clone(p.P), diag: p.diagonal(), upper: slices.Clone(p.Upper),
		shown: alpha, f: p.F(alpha), bias: math.NaN(), step: math.NaN(), raw: true,
	}
	vec.Axpy(in.linear, p.fixed(), p.S)
	for _, v := range in.diag {
		in.size = max(in.size, v)
	}
	in.size = cmp.Or(in.size, 1)
	for _, v := range []*[]float64{&in.alpha, &in.grad, &in.d, &in.ms, &in.r, &in.dx, &in.work[0], &in.work[1]} {
		*v = make([]float64, n)
	}
	return in
}

// approximation says how Q is replaced by an incomplete Cholesky factor.
type approximation struct {
	rank int     // largest number of columns; 0 means n
	loss float64 // share of the trace of K that the factor may leave out
}

func (a *approximation) of(ctx context.Context, p *Problem) (*chol.LowRank, error) {
	columns, err := chol.Pivoted(ctx, p.K, a.rank, a.loss)
	var indefinite *chol.IndefiniteError
	switch {
	case errors.As(err, &indefinite):
		return nil, errIndefinite
	case err != nil:
		return nil, err
	}
	return chol.NewLowRank(columns, p.S, p.Ridge), nil
}

// open reads the rows of K before the first step. It stops when ctx ends.
func (in *interior) open(ctx context.Context) (err error) {
	if in.low != nil {
		in.q, err = in.low.of(ctx, in.p)
	} else {
		in.q, err = newDense(ctx, in.p)
	}
	if err != nil {
		in.q = nil
	}
	return err
}

func (in *interior) report(it *Iterate) {
	it.Alpha, it.F, it.Step, it.Bias = in.shown, in.f, in.step, in.bias
	it.Rough = in.low != nil
}

// show reports the interior point, unless the point on the bounds that is reported now has a
// smaller gap.
func (in *interior) show() {
	f := in.work[0]
	in.fromGradient(f, in.grad)
	gap, kkt, bias := in.p.quality(in.alpha, f)
	if !in.raw && in.gap <= gap {
		return
	}
	copy(in.shown, in.alpha)
	copy(in.f, f)
	in.gap, in.kkt, in.bias, in.raw = gap, kkt, bias, true
}

// start reports the interior point and sets b to the best bias there.
func (in *interior) start() {
	in.show()
	if in.b = in.bias; in.p.FixedBias {
		in.b = 0
	}
}

// Refresh implements Refresher, so that Solve asks its criterion once more at the end. It does
// nothing, because the gradient is computed afresh after every step.
func (in *interior) Refresh([]float64) {}

func (in *interior) gradient(dst, alpha []float64) {
	in.q.Mul(dst, alpha)
	vec.Axpy(dst, 1, in.linear)
}

// fromGradient sets f to −s(Qα + p).
func (in *interior) fromGradient(f, gradient []float64) {
	for i, g := range gradient {
		f[i] = in.p.fixed() - in.p.S[i]*g
	}
}

// slack returns the distances of α_i from its lower and its upper bound.
func (in *interior) slack(i int) (a, c float64) {
	return in.alpha[i] - in.p.Lower[i], in.upper[i] - in.alpha[i]
}

// box replaces infinite upper bounds by l + width.
func (in *interior) box(width float64) {
	in.m = 0
	for i, u := range in.p.Upper {
		l := in.p.Lower[i]
		if u == l {
			continue
		}
		if math.IsInf(u, 1) {
			u = l + width
		}
		in.upper[i] = u
		in.m++
		if !math.IsInf(u, 1) {
			in.m++
		}
	}
}

// widen starts the run again with infinite upper bounds replaced by a wide box, or by one that
// is 10⁴ times as wide as the last. It reports false if all bounds are finite or the box is as
// wide as it may be. With infinite bounds there may be no multipliers for which the gradient
// vanishes, or Newton's method may fail to find them. In a box, however wide, they exist.
func (in *interior) widen() bool {
	if !slices.ContainsFunc(in.p.Upper, func(u float64) bool { return math.IsInf(u, 1) }) {
		return false
	}
	if in.boxed *= 1e4; in.boxed == 0 {
		in.boxed = 1e8 * in.scale()
	}
	if in.boxed > 1e30*in.scale() {
		return false
	}
	in.box(in.boxed)
	in.last = false
	return in.centre(in.boxed, true)
}

// touches reports whether an α is near the end of the box that replaces infinite bounds.
func (in *interior) touches() bool {
	for i, u := range in.p.Upper {
		if in.boxed > 0 && math.IsInf(u, 1) && in.alpha[i]-in.p.Lower[i] > in.boxed/4 {
			return true
		}
	}
	return false
}

// centre moves α to a point strictly inside the box, with s'α = δ if equality is set. Infinite
// upper bounds count as l + width or more. It reports false if there is no such point: then
// the only feasible α is the corner that Solve starts from.
//
// The point lies on the segment from the corner where s'α is smallest to the one where it is
// largest. For classification this makes α_i = C times the share of the other class among all
// points, so no Phase I is needed.
func (in *interior) centre(width float64, equality bool) bool {
	p := in.p
	corner := func(i int) (lo, hi float64) {
		l, u := p.Lower[i], in.upper[i]
		if math.IsInf(u, 1) {
			u = l + width
		}
		return l, u
	}
	for range 1000 { // the width is doubled until the point exists
		lo, hi, infinite := 0.0, 0.0, false
		for i, s := range p.S {
			l, u := corner(i)
			lo += min(s*l, s*u)
			hi += max(s*l, s*u)
			infinite = infinite || u != in.upper[i]
		}
		share := (p.Delta - lo) / (hi - lo)
		if !equality || p.FixedBias {
			share = 0.5
		}
		if hi > lo && share > 1e-12 && share < 1-1e-12 {
			for i, s := range p.S {
				l, u := corner(i)
				if s > 0 {
					in.alpha[i] = l + share*(u-l)
				} else {
					in.alpha[i] = u - share*(u-l)
				}
			}
			in.gradient(in.grad, in.alpha)
			return true
		}
		if !infinite || !(hi > lo) {
			return false
		}
		width *= 2
	}
	return false
}

// scale returns the size of α at which the dual is largest, along the direction in which all
// points of a class have the same α.
func (in *interior) scale() float64 {
	p, n := in.p, float64(len(in.alpha))
	plus, trace, slope := 0.0, 0.0, 0.0
	for i, s := range p.S {
		plus += max(s, 0) / n
		trace += in.diag[i]
	}
	for i, s := range p.S {
		x := plus
		if s > 0 {
			x = 1 - plus
		}
		if p.FixedBias {
			x = 0.5
		}
		in.dx[i] = x
		slope -= in.linear[i] * x
	}
	in.q.Mul(in.r, in.dx)
	curve := vec.Dot(in.r, in.dx)
	unit := 1.0
	if trace > 0 {
		unit = n / trace
	}
	if !(slope > 0 && curve > 0) {
		return unit
	}
	return min(max(slope/curve, 1e-3*unit), 1e3*unit)
}

// balance returns a first value for t. It is the mean over the coordinates of |gradient| times
// a distance: that to the bound which a step against the gradient approaches.
func (in *interior) balance() float64 {
	t := 0.0
	for i, g := range in.grad {
		g += in.b * in.p.S[i]
		switch a, c := in.slack(i); {
		case in.p.Upper[i] == in.p.Lower[i]:
		case g < 0 && !math.IsInf(c, 1):
			t -= g * c
		default:
			t += math.Abs(g) * a
		}
	}
	if t /= in.m; t > 0 {
		return t
	}
	return 1e-3 * in.size
}

// factor factors M = Q + D. If rounding in Q has made this impossible, it adds the smallest
// sufficient share of the largest Q_ii to D: 1e-14, 1e-12, … The refinement in newton removes
// the effect on the solution. A kernel that needs a share above 1e-6 is refused, because it is
// not positive semi-definite.
func (in *interior) factor(ctx context.Context) error {
	d := in.d
	for _, share := range [...]float64{1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 0} {
		ok, err := in.q.Factor(ctx, d)
		if err != nil {
			return err
		}
		if ok {
			break
		}
		if share == 0 {
			return errIndefinite
		}
		d = in.work[0]
		for i, v := range in.d {
			d[i] = v + share*in.size
		}
	}
	copy(in.ms, in.p.S)
	in.q.Solve(in.ms)
	in.sms = vec.Dot(in.p.S, in.ms)
	return nil
}

var errIndefinite = fmt.Errorf("%w: the kernel matrix is not positive semi-definite, and an interior-point method needs a concave dual; use SMO, or another kernel", ErrUnsupported)

// newton solves M dx + y s = r, s'dx = e by block elimination,
//
//	y = (s'M⁻¹r − e) / s'M⁻¹s,  dx = M⁻¹(r − y s),
//
// and refines the answer. With a fixed bias there is no y.
func (in *interior) newton(e float64, refinements int) (y float64) {
	copy(in.dx, in.r)
	y = in.eliminate(in.dx, e)
	rest, qx := in.work[0], in.work[1]
	for range refinements {
		in.q.Mul(qx, in.dx)
		left := e
		for i, x := range in.dx {
			if rest[i] = 0; !math.IsInf(in.d[i], 1) {
				rest[i] = in.r[i] - qx[i] - in.d[i]*x - y*in.p.S[i]
				left -= in.p.S[i] * x
			}
		}
		y += in.eliminate(rest, left)
		vec.Axpy(in.dx, 1, rest)
	}
	return y
}

func (in *interior) eliminate(x []float64, e float64) (y float64) {
	in.q.Solve(x)
	if in.p.FixedBias || !(in.sms > 0) {
		return 0
	}
	y = -e
	for i, s := range in.p.S {
		y += s * x[i]
	}
	y /= in.sms
	vec.Axpy(x, -y, in.ms)
	return y
}

// missing returns δ − s'α.
func (in *interior) missing() float64 {
	e := in.p.Delta
	for i, a := range in.alpha {
		e -= in.p.S[i] * a
	}
	return e
}

// room returns the longest step along dx, at most 1, that stays inside the box.
func (in *interior) room() float64 {
	s := 1.0
	for i, d := range in.dx {
		switch a, c := in.slack(i); {
		case d < 0:
			s = min(s, -a/d)
		case d > 0:
			s = min(s, c/d)
		}
	}
	return s
}

// advance moves α by s dx and b by s db. If rounding would take α out of the interior, α and b
// stay as they are; advance then sets last and returns false.
func (in *interior) advance(s, db float64) bool {
	before, norm := in.work[1], 0.0
	copy(before, in.alpha)
	for i, d := range in.dx {
		in.alpha[i] += s * d
		norm += d * d
		if a, c := in.slack(i); in.p.Lower[i] < in.p.Upper[i] && !(a > 0 && c > 0) {
			in.last = true
		}
	}
	in.gradient(in.grad, in.alpha)
	for _, g := range in.grad {
		in.last = in.last || math.IsNaN(g) || math.IsInf(g, 0)
	}
	if in.last {
		copy(in.alpha, before)
		in.gradient(in.grad, in.alpha)
		return false
	}
	in.b += s * db
	in.step = s * math.Sqrt(norm)
	in.show()
	return true
}

// recedes reports whether the direction x proves that the dual has no maximum: up to rounding,
// x meets no finite bound, Qx = 0 and p'x < 0.
func (in *interior) recedes(x []float64) bool {
	along, against, slope := 0.0, 0.0, 0.0
	v, qv := in.work[0], in.work[1]
	for i, xi := range x {
		size := xi * math.Sqrt(max(in.diag[i], 0))
		if v[i] = 0; xi > 0 && math.IsInf(in.p.Upper[i], 1) {
			v[i] = xi
			along += size
			slope += in.linear[i] * xi
		} else {
			against += math.Abs(size)
		}
	}
	if !(slope < 0 && against <= 1e-4*along) {
		return false
	}
	in.q.Mul(qv, v)
	return vec.Dot(v, qv) <= 1e-14*along*along
}

// dual returns W at the interior point.
func (in *interior) dual() float64 {
	w := 0.0
	for i, a := range in.alpha {
		w -= a * (in.grad[i] + in.linear[i]) / 2
	}
	return w
}
