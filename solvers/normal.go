package solvers

// normal keeps w = Σ s_i α_i x_i for a sweep over a linear machine (Platt 1998, §2.4; W 157;
// ST, B). A step then costs two rows of X in place of two rows of K. F of a point is computed
// when it is needed, as
//
//	F_i = −s_i (p_i + ridge_i α_i) − x_i·w,
//
// in as many operations as x_i has non-zeros.
type normal struct {
	x    Features
	w    []float64
	one  []float64 // one row of X made dense, for x_i·x_j; zero otherwise
	last int       // the row that one holds, −1 for none
}

// newNormal returns nil if K is not Features.
func newNormal(p *Problem, alpha []float64) *normal {
	x, ok := p.K.(Features)
	if !ok {
		return nil
	}
	l := &normal{x: x, w: make([]float64, x.Columns()), one: make([]float64, x.Columns()), last: -1}
	l.gather(p, alpha)
	return l
}

// gather computes w afresh.
func (l *normal) gather(p *Problem, alpha []float64) {
	clear(l.w)
	for i, a := range alpha {
		if a != 0 {
			l.x.Add(l.w, i, p.S[i]*a)
		}
	}
}

// product returns x_i·x_j. Consecutive calls with the same i reuse the dense row.
func (l *normal) product(i, j int) float64 {
	if l.last != i {
		clear(l.one)
		l.x.Add(l.one, i, 1)
		l.last = i
	}
	return l.x.Dot(j, l.one)
}

// f computes and stores F_i.
func (s *sweep) f(i int) float64 {
	if l := s.normal; l != nil {
		p := s.p.P[i] + s.p.ridge(i)*s.alpha[i]
		s.pairs.f[i] = -s.p.S[i]*p - l.x.Dot(i, l.w)
	}
	return s.pairs.f[i]
}

// pair optimises (i, j), with w if it is kept.
func (s *sweep) pair(i, j int) (t float64, err error) {
	l := s.normal
	if l == nil {
		return s.optimise(i, j, s.tiny)
	}
	s.f(i)
	s.f(j)
	t, err = s.solve(i, j, l.product(i, j), s.tiny)
	if t != 0 && err == nil {
		l.x.Add(l.w, i, t)
		l.x.Add(l.w, j, -t)
	}
	return t, err
}
