package solvers

import (
	"context"
	"errors"
	"math"
)

// activeSet is the last phase of an interior-point run. Interior iterates never touch the
// bounds, so the primal–dual active set method (Hintermüller, Ito and Kunisch 2003) continues
// from there. Each round holds a coordinate at the bound that a Newton step in this coordinate
// alone would cross, and solves for the others. When the set of held coordinates repeats, the
// solution is exact. Each round is one iteration. Its solution is reported only if the gap is
// smaller there.
type activeSet struct {
	round   int // 0 during interior steps
	side    []int8
	c, g    []float64 // α of this phase, not always inside the box; Qα + p at c
	b       float64
	trial   []float64 // c moved to the nearest feasible point
	f       []float64
	slope   float64 // mean of |Qα + p + b s| when the phase began
	next    float64 // the phase is tried again once the gap is at most this
	changes int     // coordinates that changed sides in the last round
	idle    int     // rounds without changes that improved neither the gap nor the KKT violation
}

// approach begins the active set phase at the interior point.
func (in *interior) approach() {
	e, n := &in.end, len(in.alpha)
	if e.side == nil {
		e.side = make([]int8, n)
		for _, v := range []*[]float64{&e.c, &e.g, &e.trial, &e.f} {
			*v = make([]float64, n)
		}
	}
	copy(e.c, in.alpha)
	copy(e.g, in.grad)
	e.b, e.round, e.idle, e.slope = in.b, 1, 0, 0
	e.next = in.gap / 100
	for i, g := range e.g {
		e.slope += math.Abs(g+e.b*in.p.S[i]) / float64(n)
	}
}

// Conclude implements Concluder. The run goes on while the active set method can still be
// tried, and while its set has not yet repeated.
func (in *interior) Conclude() bool {
	if in.end.round == 0 && in.raw && in.q != nil && !in.last && !in.finished {
		in.approach()
	}
	return in.end.round > 0 && (in.raw || in.end.changes > 0)
}

// worth reports whether the gap has fallen enough to try the active set method again.
func (in *interior) worth() bool {
	return in.end.side == nil || in.gap <= in.end.next
}

// onFace makes one round of the active set method. It reports false if the method has ended.
func (in *interior) onFace(ctx context.Context) (made bool, err error) {
	p, e := in.p, &in.end
	changes := 0
	for i, g := range e.g {
		g += e.b * p.S[i]
		l, u := p.Lower[i], p.Upper[i]
		unit := in.diag[i] + e.slope/(u-l)
		side := int8(0)
		switch {
		case l == u, g > unit*(e.c[i]-l):
			e.c[i], side = l, -1
		case -g > unit*(u-e.c[i]):
			e.c[i], side = u, 1
		}
		if side != e.side[i] {
			changes++
		}
		e.side[i] = side
		// On a face with many solutions this term selects the smallest step. Its effect on the
		// solution is removed by refinement in newton.
		if in.d[i] = 1e-10 * in.size; side != 0 {
			in.d[i] = math.Inf(1)
		}
	}
	if e.round > 1 && (changes >= e.changes && changes > 0 || changes == 0 && e.idle == 2) {
		e.round = 0
		in.finished = in.last || changes == 0 && !in.raw && in.gap <= 1e-6*math.Abs(in.dual())
		return false, nil
	}
	if e.changes = changes; e.round == 1 {
		e.changes = len(e.c)
	}
	e.round++
	in.q.Mul(e.g, e.c)
	missing := p.Delta
	for i, g := range e.g {
		in.r[i] = -(g + in.linear[i] + e.b*p.S[i])
		missing -= p.S[i] * e.c[i]
	}
	if err := in.factor(ctx); err != nil {
		if errors.Is(err, ErrUnsupported) {
			e.round, err = 0, nil
		}
		return err == nil, err
	}
	for i, d := range in.d {
		if !math.IsInf(d, 1) {
			in.d[i] = 0
		}
	}
	e.b += in.newton(missing, 3)
	norm := 0.0
	for i, d := range in.dx {
		e.c[i] += d
		norm += d * d
	}
	in.step = math.Sqrt(norm)
	copy(e.trial, e.c)
	if e.idle++; changes > 0 {
		e.idle = 0
	}
	if p.nearest(e.trial) {
		in.gradient(e.g, e.trial)
		in.fromGradient(e.f, e.g)
		gap, kkt, bias := p.quality(e.trial, e.f)
		if gap < in.gap || math.IsInf(in.gap, 1) && kkt < in.kkt {
			in.gap, in.kkt, in.bias, in.raw, e.idle = gap, kkt, bias, false, 0
			copy(in.shown, e.trial)
			copy(in.f, e.f)
		}
	}
	in.gradient(e.g, e.c)
	return true, nil
}

// quality returns the gap of alpha at the bias where the gap is smallest (+Inf if it proves
// nothing), the largest KKT violation, and this bias.
func (p *Problem) quality(alpha, f []float64) (gap, kkt, bias float64) {
	s := p.summarise(alpha, f)
	b := p.bestBias(alpha, f)
	if p.isHard() {
		return p.hardPrimal(f, s.norm2) - s.dual, s.kkt, b[0]
	}
	return p.gapAt(alpha, f, b), s.kkt, b[0]
}

// nearest clips alpha to the box and restores s'α = δ by changing the coordinates that are
// strictly between their bounds. It returns false if these do not suffice.
func (p *Problem) nearest(alpha []float64) bool {
	e, sum := p.Delta, math.Abs(p.Delta)
	for i, a := range alpha {
		alpha[i] = min(max(a, p.Lower[i]), p.Upper[i])
		e -= p.S[i] * alpha[i]
		sum += math.Abs(alpha[i])
	}
	if math.IsNaN(e) || p.FixedBias || math.Abs(e) <= 0x1p-52*sum {
		return !math.IsNaN(e)
	}
	room := func(i int) float64 {
		a, c := alpha[i]-p.Lower[i], p.Upper[i]-alpha[i]
		switch {
		case !(a > 0 && c > 0):
			return 0
		case p.S[i]*e > 0:
			return min(c, math.Abs(e))
		default:
			return min(a, math.Abs(e))
		}
	}
	total := 0.0
	for i := range alpha {
		total += room(i)
	}
	if !(total >= math.Abs(e)) {
		return false
	}
	for i, a := range alpha {
		alpha[i] = min(max(a+p.S[i]*room(i)*e/total, p.Lower[i]), p.Upper[i])
	}
	return true
}
