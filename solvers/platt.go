package solvers

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
)

// sweep is what Platt's and the simplified selection share: a bias, the KKT test with this
// bias, and a tolerance that shrinks when a full sweep over the points changes nothing.
//
// The error of point i is E_i = b − F_i, which for classification is the book's f(x_i) − y_i.
// F is kept for every point, since a step computes both kernel rows anyway. It contains
// Platt's cache of errors, which has the free points only. A linear machine whose K is
// Features keeps w instead; see normal.go.
type sweep struct {
	pairs
	normal  *normal // nil if F is kept
	tol     float64
	tiny    float64 // a step of smaller relative size counts as none
	b       float64
	up, low float64 // m and M after a sweep without change, otherwise NaN
	fresh   bool    // b is the middle of [m, M] for the current α
}

func newSweep(w pairs, m SMO) sweep {
	s := sweep{pairs: w, normal: newNormal(w.p, w.alpha), tol: cmp.Or(m.Tol, 1e-3), up: math.NaN(), low: math.NaN()}
	s.tiny = 1e-3 * s.tol
	return s
}

func (s *sweep) Report(it *Iterate) {
	s.report(it)
	it.Up, it.Low = s.up, s.low
	if s.normal != nil {
		it.F = nil // its entries were computed at different moments
	}
}

func (s *sweep) Refresh(f []float64) {
	s.pairs.Refresh(f)
	s.fresh = false
	if s.normal != nil {
		s.normal.gather(s.p, s.alpha)
	}
}

// violates is the KKT test of W (131) and N (14–16) for point i: r = y_i E_i < −tol with
// α_i < C, or r > tol with α_i > 0.
func (s *sweep) violates(i int) bool {
	r := s.p.S[i] * (s.b - s.f(i))
	return r < -s.tol && s.alpha[i] < s.p.Upper[i] || r > s.tol && s.alpha[i] > s.p.Lower[i]
}

// try optimises the pair (i, j) and sets the bias from the new errors: E_k = 0, that is b =
// F_k, at a free point of the two, or the mean of both if none is free (W 159 and B's b_1,
// b_2).
func (s *sweep) try(i, j int) (bool, error) {
	if i == j {
		return false, nil
	}
	t, err := s.pair(i, j)
	if t == 0 || err != nil {
		return false, err
	}
	switch {
	case s.free(i):
		s.b = s.f(i)
	case s.free(j):
		s.b = s.f(j)
	default:
		s.b = (s.f(i) + s.f(j)) / 2
	}
	s.fresh, s.up, s.low = false, math.NaN(), math.NaN()
	return true, nil
}

// dry is called when a full sweep has changed nothing. A bias taken from two points may lie
// outside [M, m] and hide violations or create false ones. So the bias is first set to the
// middle. If it was the middle already, the tolerance shrinks. dry reports whether nothing is
// left to improve.
func (s *sweep) dry() (done bool) {
	if s.normal != nil {
		s.pairs.Refresh(s.p.F(s.alpha))
	}
	sum := s.p.summarise(s.alpha, s.pairs.f)
	s.up, s.low = sum.up, sum.low
	if math.IsInf(sum.up, 0) || math.IsInf(sum.low, 0) || sum.up <= sum.low {
		return true
	}
	s.b = (sum.up + sum.low) / 2
	if s.fresh {
		s.tol /= 10
		s.tiny /= 10
	}
	s.fresh = true
	return s.tol < 0x1p-52
}

// platt chooses the pair by the two heuristics of CST §7.5.2. The first choice is a point that
// violates the KKT conditions. It is sought in sweeps over the free points until none of them
// violates, then in one sweep over all points. The second choice is the free point with the
// largest |E_1 − E_2|. If this pair makes no progress, every free point is tried and then
// every point, each time from a random start.
type platt struct {
	sweep
	rng     *rand.Rand
	all     bool // this sweep goes over all points
	changed int  // steps made in this sweep
	at      int  // the next point of this sweep
}

func newPlatt(w pairs, m SMO) *platt {
	return &platt{sweep: newSweep(w, m), rng: rand.New(rand.NewPCG(m.Seed, 0)), all: true}
}

// Step continues the sweep until one pair has moved. A sweep over all points that moves
// nothing also ends the step, so that the loop can check its limits.
func (s *platt) Step(ctx context.Context) (done bool, err error) {
	n := len(s.alpha)
	for {
		for s.at < n {
			i := s.at
			s.at++
			if !s.all && !s.free(i) || !s.violates(i) {
				continue
			}
			if moved, err := s.second(i); moved || err != nil {
				s.changed++
				return false, err
			}
			if ctx.Err() != nil {
				return false, ctx.Err()
			}
		}
		dry := s.all && s.changed == 0
		s.all = !s.all && s.changed == 0
		s.at, s.changed = 0, 0
		if dry {
			s.all = true
			return s.dry(), nil
		}
	}
}

// second makes the second choice for the violator i, and reports whether the pair has moved.
func (s *platt) second(i int) (bool, error) {
	best, widest, fi := -1, 0.0, s.f(i)
	for j := range s.alpha {
		if s.free(j) {
			if d := math.Abs(fi - s.f(j)); d > widest {
				best, widest = j, d
			}
		}
	}
	if best >= 0 {
		if moved, err := s.try(i, best); moved || err != nil {
			return moved, err
		}
	}
	n := len(s.alpha)
	for _, free := range [2]bool{true, false} {
		start := s.rng.IntN(n)
		for k := range n {
			j := (start + k) % n
			if s.free(j) != free {
				continue
			}
			if moved, err := s.try(i, j); moved || err != nil {
				return moved, err
			}
		}
	}
	return false, nil
}
