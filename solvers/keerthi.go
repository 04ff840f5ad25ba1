package solvers

import (
	"cmp"
	"context"
	"math"
)

// keerthi is Platt's algorithm with two thresholds in place of one bias (Keerthi, Shevade,
// Bhattacharyya and Murthy 2001). A single b, taken from the last pair, can hide violations
// and create false ones. This method therefore keeps
//
//	up = max F over I_up,  low = min F over I_low
//
// over the free points and the two points of the last step. A point i is tested against both.
// If it violates one of them, its partner is the point that attains this threshold. At the
// optimum up ≤ low (the paper has the opposite sign: b_low ≤ b_up).
//
// Modification 1 examines the free points one by one. Modification 2 takes the worst pair of
// the free points until none violates. Both then sweep once over all points, as Platt does.
type keerthi struct {
	pairs
	second bool // modification 2
	tol    float64
	tiny   float64

	up, low   float64
	iUp, iLow int
	all       bool
	changed   int
	at        int
	measured  bool // up and low are over all points
}

func newKeerthi(w pairs, m SMO) *keerthi {
	s := &keerthi{pairs: w, second: m.Selection == Keerthi2, tol: cmp.Or(m.Tol, 1e-3), all: true}
	s.tiny = 1e-3 * s.tol
	s.thresholds(-1, -1)
	return s
}

func (s *keerthi) Report(it *Iterate) {
	s.report(it)
	if s.measured {
		it.Up, it.Low = s.up, s.low
	}
}

func (s *keerthi) Refresh(f []float64) {
	s.pairs.Refresh(f)
	s.thresholds(-1, -1)
}

// thresholds computes up and low over the free points and i, j. For i < 0 it computes them
// over all points.
func (s *keerthi) thresholds(i, j int) {
	s.up, s.low, s.iUp, s.iLow = math.Inf(-1), math.Inf(1), -1, -1
	s.measured = i < 0
	for k := range s.f {
		if i < 0 || k == i || k == j || s.free(k) {
			s.extend(k)
		}
	}
}

// extend updates the thresholds with point k.
func (s *keerthi) extend(k int) {
	f, a := s.f[k], s.alpha[k]
	if f > s.up && s.p.CanRise(k, a) {
		s.up, s.iUp = f, k
	}
	if f < s.low && s.p.CanFall(k, a) {
		s.low, s.iLow = f, k
	}
}

// examine tests point i against the thresholds. If i violates one of them by more than 2 tol,
// it optimises i together with the point that attains this threshold.
func (s *keerthi) examine(i int) (moved bool, err error) {
	f, a := s.f[i], s.alpha[i]
	if !s.free(i) {
		s.extend(i)
	}
	partner, worst := -1, 2*s.tol
	if d := f - s.low; d > worst && s.p.CanRise(i, a) {
		partner, worst = s.iLow, d
	}
	if d := s.up - f; d > worst && s.p.CanFall(i, a) {
		partner = s.iUp
	}
	if partner < 0 || partner == i {
		return false, nil
	}
	return s.pair(i, partner)
}

func (s *keerthi) pair(i, j int) (bool, error) {
	t, err := s.optimise(i, j, s.tiny)
	if t == 0 || err != nil {
		return false, err
	}
	s.changed++
	s.thresholds(i, j)
	return true, nil
}

// Step continues until one pair has moved or a full sweep has moved none.
func (s *keerthi) Step(ctx context.Context) (done bool, err error) {
	n := len(s.alpha)
	for {
		if s.second && !s.all {
			if s.iUp >= 0 && s.iLow >= 0 && s.up-s.low > 2*s.tol {
				if moved, err := s.pair(s.iUp, s.iLow); moved || err != nil {
					return false, err
				}
			}
			s.changed, s.at = 0, n
		}
		for s.at < n {
			i := s.at
			s.at++
			if !s.all && !s.free(i) {
				continue
			}
			if moved, err := s.examine(i); moved || err != nil {
				return false, err
			}
			if ctx.Err() != nil {
				return false, ctx.Err()
			}
			if !s.all && s.up-s.low <= 2*s.tol {
				s.changed, s.at = 0, n // no free point violates
			}
		}
		dry := s.all && s.changed == 0
		s.all = !s.all && s.changed == 0
		s.at, s.changed = 0, 0
		if dry {
			s.all = true
			s.thresholds(-1, -1)
			if s.up-s.low <= 2*s.tol {
				s.tol /= 10
			}
			s.tiny /= 10 // steps that counted as too small must be allowed to move the violators
			return s.up <= s.low || s.tol < 0x1p-52 || s.tiny < 0x1p-100, nil
		}
	}
}
