package solvers

import "context"

// shrinking is SMO on the active points (Joachims 1999; ST; LIBSVM). Every min(n, 1000) steps
// it leaves out the points at a bound whose F is beyond that of all active points,
//
//	s α cannot rise and F > m = max F over I_up,   or
//	s α cannot fall and F < M = min F over I_low,
//
// For classification these are the points with α = C and y f < 1 and those with α = 0 and y f
// > 1. That they stay at their bounds is a guess. F of the points left out is therefore
// updated when a point of the trace needs it and before the run ends. If the criterion is not
// met for all points then, the run goes on with all of them.
//
// A pass over fewer points saves time, but no kernel values, since K computes whole rows. The
// update of F costs a row for each α that has changed. Shrinking does not pay if few α are
// free or rows are expensive, so it is off by default.
type shrinking struct {
	m     SMO
	p     *Problem
	alpha []float64 // α of all points
	f     []float64 // F of all points for the α in base
	base  []float64

	active []int // the points that are not left out; nil means all
	sub    Problem
	inner  *greedy
	it     Iterate // the iterate of inner
	left   int     // steps until shrink is called again
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

// restore makes all points active. f must be up to date for alpha.
func (s *shrinking) restore() {
	s.active, s.left = nil, s.period()
	s.inner = newGreedy(pairsAt(s.p, s.alpha, s.f), s.m)
}

func (s *shrinking) period() int { return min(len(s.alpha), 1000) }

// Report reports F only while all points are active.
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

// Complete implements Completer. It updates F of all points with the rows of the α that have
// changed.
func (s *shrinking) Complete(context.Context) (f []float64, all bool) {
	if s.active == nil {
		return s.f, true
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
	for k, i := range s.active { // F of the active points is that of inner, which includes the ridge
		s.f[i] = s.inner.f[k]
	}
	return s.f, true
}

// Step makes a step of SMO on the active points, and at times looks for points to leave out.
func (s *shrinking) Step(ctx context.Context) (done bool, err error) {
	done, err = s.inner.Step(ctx)
	if s.active != nil {
		s.it = Iterate{}
		s.inner.Report(&s.it)
		if s.inner.widely { // Working has only the points of the last face, but several faces may have moved others
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

// shrink leaves out the points that satisfy the rule of type shrinking, if they are at least a
// tenth.
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
	if 10*len(keep) > 9*len(in.f) || len(keep) == 0 { // if all are at a bound, nothing is left to do
		return
	}
	s.Complete(ctx)
	copy(s.base, s.alpha)
	p, n := s.p, len(keep)
	v := &view{k: p.K, points: keep, diag: make([]float64, n), rows: [2][]float64{make([]float64, n), make([]float64, n)}}
	s.active, s.sub = keep, Problem{K: v} // P is not needed, because F contains it
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

// view is the matrix k restricted to some points. It copies the entries of a row when the row
// is asked for.
type view struct {
	k      Matrix
	points []int
	diag   []float64
	rows   [2][]float64 // the last two rows, which stay valid
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
