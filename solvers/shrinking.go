package solvers

import "context"

// shrinking is SMO on the active points (Joachims 1999; ST; LIBSVM). Every
// min(n, 1000) steps it leaves out the points that sit at a bound and would have
// to pass all active ones to move,
//
//	s α cannot rise and F > m = max F over I_up,   or
//	s α cannot fall and F < M = min F over I_low,
//
// which for classification are those with α = C and y f < 1 and those with α = 0
// and y f > 1. It is a guess. F of the points left out is brought up to date when a
// point of the trace asks for it, and before anything is concluded from it: Solve
// calls no run converged whose whole F says otherwise, and the run then goes on with
// all points.
//
// A pass over fewer points saves time, but no kernel values, since K gives whole
// rows; and catching up costs a row for each α that has changed. Where few α are
// free or rows are dear it does not pay, therefore it is off by default.
type shrinking struct {
	m     SMO
	p     *Problem
	alpha []float64 // of all points
	f     []float64 // F of all points, right for base
	base  []float64

	active []int // nil means all
	sub    Problem
	inner  *greedy
	it     Iterate // of inner
	left   int     // steps until the next look
	moved  []int
}

func newShrinking(p *Problem, alpha, f []float64, m SMO) *shrinking {
	if f == nil {
		f = p.F(alpha)
	}
	s := &shrinking{m: m, p: p, alpha: alpha, f: f, base: append([]float64(nil), alpha...)}
	s.restore()
	return s
}

// restore makes all points active; f must be right for alpha.
func (s *shrinking) restore() {
	s.active, s.left = nil, s.period()
	s.inner = newGreedy(pairsAt(s.p, s.alpha, s.f), s.m)
}

func (s *shrinking) period() int { return min(len(s.alpha), 1000) }

// Report says F only while all points are active.
func (s *shrinking) Report(it *Iterate) {
	s.inner.Report(it)
	if s.active == nil {
		return
	}
	s.moved = s.moved[:0]
	for _, k := range it.Working {
		s.moved = append(s.moved, s.active[k])
	}
	it.Alpha, it.F, it.Working, it.Active = s.alpha, nil, s.moved, len(s.active)
}

func (s *shrinking) Refresh(f []float64) {
	copy(s.f, f)
	s.restore()
}

// Complete implements Completer: it brings F of all points up to date by the rows of the
// α that have changed.
func (s *shrinking) Complete(context.Context) []float64 {
	if s.active == nil {
		return s.f
	}
	for i, a := range s.alpha {
		if d := a - s.base[i]; d != 0 {
			c := s.p.S[i] * d
			for k, v := range s.p.K.Row(i) {
				s.f[k] -= c * v
			}
		}
	}
	copy(s.base, s.alpha)
	for k, i := range s.active { // with their ridge, the same but for rounding
		s.f[i] = s.inner.f[k]
	}
	return s.f
}

// Step makes a step of SMO on the active points, and now and then looks for
// points to leave out.
func (s *shrinking) Step(ctx context.Context) (done bool, err error) {
	done, err = s.inner.Step(ctx)
	if s.active != nil {
		s.it = Iterate{}
		s.inner.Report(&s.it)
		if s.inner.widely { // Working has but the points of its last face
			for k, i := range s.active {
				s.alpha[i] = s.it.Alpha[k]
			}
		}
		for _, k := range s.it.Working {
			s.alpha[s.active[k]] = s.it.Alpha[k]
		}
	}
	if err != nil || done && s.active == nil {
		return done, err
	}
	if done {
		s.Complete(ctx)
		s.restore()
		return false, nil
	}
	if s.left--; s.left == 0 {
		s.left = s.period()
		s.shrink(ctx)
	}
	return false, nil
}

// shrink leaves out what it may.
func (s *shrinking) shrink(ctx context.Context) {
	in, keep := s.inner, []int(nil)
	for k, f := range in.f {
		if out := in.rise(k) <= 0 && f > in.up || in.fall(k) <= 0 && f < in.low; out {
			continue
		}
		i := k
		if s.active != nil {
			i = s.active[k]
		}
		keep = append(keep, i)
	}
	if 10*len(keep) > 9*len(in.f) || len(keep) == 0 { // all at a bound: nothing is left to do
		return
	}
	s.Complete(ctx)
	copy(s.base, s.alpha)
	p, n := s.p, len(keep)
	v := &view{k: p.K, points: keep, diag: make([]float64, n), rows: [2][]float64{make([]float64, n), make([]float64, n)}}
	s.active, s.sub = keep, Problem{K: v} // without P, which is in F
	var alpha, f []float64
	for k, i := range keep {
		v.diag[k] = p.K.Diag()[i]
		alpha, f = append(alpha, s.alpha[i]), append(f, s.f[i])
		s.sub.S = append(s.sub.S, p.S[i])
		s.sub.Lower, s.sub.Upper = append(s.sub.Lower, p.Lower[i]), append(s.sub.Upper, p.Upper[i])
		if p.Ridge != nil {
			s.sub.Ridge = append(s.sub.Ridge, p.Ridge[i])
		}
	}
	s.inner = newGreedy(pairsAt(&s.sub, alpha, f), s.m)
}

// view is the matrix k restricted to some points, gathered whenever a row is
// asked for.
type view struct {
	k      Matrix
	points []int
	diag   []float64
	rows   [2][]float64 // the two returned last
	odd    int
}

func (v *view) Dim() int        { return len(v.points) }
func (v *view) Diag() []float64 { return v.diag }
func (v *view) Row(i int) []float64 {
	whole := v.k.Row(v.points[i])
	v.odd = 1 - v.odd
	row := v.rows[v.odd]
	for k, j := range v.points {
		row[k] = whole[j]
	}
	return row
}
