package solvers

import (
	"context"
	"errors"
	"math"
)

// activeSet is the end of an interior-point run, whose iterates never touch the
// bounds. A coordinate is put on the bound that a Newton step of its own would
// cross, the others are solved for with those held, and this is repeated from there:
// the primal–dual active set method (Hintermüller, Ito and Kunisch 2003), which ends
// at the exact solution when the sets repeat. Each solution is one iteration. It is
// shown only if the gap is smaller there.
type activeSet struct {
	round   int // 0 while interior steps are made
	side    []int8
	c, g    []float64 // its own α, not always inside the box, and Qα + p
	b       float64
	trial   []float64 // c made feasible
	f       []float64
	slope   float64 // mean of |Qα + p + b s| at the start
	next    float64 // the gap from which on it is worth another try
	changes int     // of sides in the last round
	idle    int     // rounds without changes that have lowered neither
}

// approach begins the way to the bounds.
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

// Conclude implements Concluder: an interior point is no answer as long as there
// is a way to the bounds, nor is a face before its set has been seen to repeat.
func (in *interior) Conclude() bool {
	if in.end.round == 0 && in.raw && in.q != nil && !in.last && !in.finished {
		in.approach()
	}
	return in.end.round > 0 && (in.raw || in.end.changes > 0)
}

// worth reports whether the gap has fallen enough since the last try.
func (in *interior) worth() bool {
	return in.end.side == nil || in.gap <= in.end.next
}

// onFace makes one round, and reports false if there was none to make.
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
		// A part of 1e-10 of the largest Q_ii makes the step that of least
		// change where the face has many solutions, and is refined away.
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

// quality is the gap of an α whose F is given at the bias where it is smallest,
// +Inf where it says nothing, and the largest KKT violation.
func (p *Problem) quality(alpha, f []float64) (gap, kkt, bias float64) {
	s := p.summarise(alpha, f)
	b := p.bestBias(alpha, f)
	if p.isHard() {
		return p.hardPrimal(f, s.norm2) - s.dual, s.kkt, b[0]
	}
	return p.gapAt(alpha, f, b), s.kkt, b[0]
}

// nearest clips alpha to the box and spreads what s'α lacks of δ over the
// coordinates between their bounds; false if they have no room for it.
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
