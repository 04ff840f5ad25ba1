package solvers

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Decomposition optimises Size points at a time and keeps the α of the others (Osuna, Freund
// and Girosi 1997; Joachims 1999; CST §7.4). It needs memory for Size² kernel values, whatever
// the number of support vectors. SMO is the case Size = 2. On the working set B, with the
// other points N held, the problem is
//
//	minimise ½ α_B'Q_BB α_B + (p_B + Q_BN α_N)'α_B,  s_B'α_B = δ − s_N'α_N.
//
// Inner solves the problem on the working set, starting from the current α, until its
// violation is a tenth of that of the whole problem. Inner may be a Decomposition itself,
// which is the nested decomposition of ST.
//
// Package blocks has a faster Decomposition for matrices with [Blocks]. It computes kernel
// values in single precision.
type Decomposition struct {
	Inner  Method     // nil means SMO{}
	Size   int        // points in a working set, at least 2; 0 means min(256, max(10, n/4)); with n or more, Inner solves the whole problem
	Select WorkingSet // the rule that chooses the points
	Renew  bool       // choose all points anew in every step; otherwise the half that entered last stays
	Seed   uint64     // seed of RandomViolators
}

// WorkingSet is the rule by which Decomposition chooses the points of a working set. The pair
// with the largest violation is always included.
type WorkingSet int

const (
	// BothEnds takes half of the points from each end of F: the largest F among the points
	// whose s α may rise, and the smallest F among those whose s α may fall (Joachims 1999).
	BothEnds WorkingSet = iota
	// WorstViolators takes the points that violate the KKT conditions most.
	WorstViolators
	// LargestGap takes the points that contribute most to the feasibility gap,
	//
	//	α_i (y_i f_i − 1)₊ + (C − α_i) (1 − y_i f_i)₊
	//
	// for the 1-norm soft margin (CST Remark 7.2). If α has no upper bound, max α + 1 replaces
	// C.
	LargestGap
	// RandomViolators draws at random from the points that violate the KKT conditions.
	RandomViolators
)

var workingSetNames = [...]string{"both ends", "worst violators", "largest gap", "random violators"}

func (s WorkingSet) String() string { return nameOf("WorkingSet", workingSetNames[:], int(s)) }

// Name returns, for example, "decomposition (SMO (second order), q = 50, largest gap)".
func (m Decomposition) Name() string {
	name := innerOf(m.Inner).Name()
	if m.Size != 0 {
		name += fmt.Sprintf(", q = %d", m.Size)
	}
	if m.Select != BothEnds {
		name += ", " + m.Select.String()
	}
	if m.Renew {
		name += ", renewed"
	}
	return "decomposition (" + name + ")"
}

// Start implements Method. It refuses the problems that Inner refuses.
func (m Decomposition) Start(p *Problem, alpha []float64) (Stepper, error) {
	return m.StartAt(p, alpha, nil)
}

// StartAt implements WarmStarter.
func (m Decomposition) StartAt(p *Problem, alpha, f []float64) (Stepper, error) {
	n := len(alpha)
	switch {
	case p.PerClass:
		return nil, fmt.Errorf("%w: ν-SVC has a sum of α to keep in each class, which these working sets do not know; use SMO, or package blocks", ErrUnsupported)
	case m.Size == 0:
		m.Size = min(256, max(10, n/4))
	case m.Size < 2:
		return nil, &ProblemError{"Decomposition.Size", -1, float64(m.Size), fmt.Sprintf("a working set of %d points cannot move; give at least 2, or 0 for the default", m.Size)}
	}
	if m.Select < 0 || int(m.Select) >= len(workingSetNames) {
		return nil, fmt.Errorf("%w: there is no %v", ErrUnsupported, m.Select)
	}
	if m.Size >= n {
		return startAt(innerOf(m.Inner), p, alpha, f)
	}
	w, err := newWorkingSet(p, alpha, f, innerOf(m.Inner))
	if err != nil {
		return nil, err
	}
	return &decomposition{workingSet: w, m: m, rng: rand.New(rand.NewPCG(m.Seed, 0))}, nil
}

type decomposition struct {
	*workingSet
	m     Decomposition
	rng   *rand.Rand
	order []int // the working set, the oldest points first
}

// Step optimises one working set.
func (s *decomposition) Step(ctx context.Context) (done bool, err error) {
	if !(s.up > s.low) {
		return true, nil
	}
	s.begin()
	if !s.m.Renew {
		stay := min(len(s.order)/2, s.m.Size-2)
		for _, i := range s.order[len(s.order)-stay:] {
			s.add(i)
		}
	}
	s.addPair()
	s.choose(s.m.Size)
	s.order = append(s.order[:0], s.next...)
	return s.advance(ctx)
}

// choose fills the working set with points until it has size points.
func (s *decomposition) choose(size int) {
	p := s.p
	switch s.m.Select {
	case BothEnds:
		for i, f := range s.f {
			s.key[i] = math.Inf(-1)
			if f > s.low && p.CanRise(i, s.alpha[i]) {
				s.key[i] = f
			}
		}
		s.pick((size - len(s.next)) / 2)
		for i, f := range s.f {
			s.key[i] = math.Inf(-1)
			if f < s.up && p.CanFall(i, s.alpha[i]) {
				s.key[i] = -f
			}
		}
	case WorstViolators:
		s.violations()
	case LargestGap:
		s.contributions()
	case RandomViolators:
		s.violations()
		for i, v := range s.key {
			if r := s.rng.Float64(); v > 0 {
				s.key[i] = r
			}
		}
	}
	s.pick(size - len(s.next))
}

// contributions sets the keys to the terms of the gap at the bias midway between up and low. A
// term that is 0 becomes −Inf, so that its point is never chosen.
func (s *decomposition) contributions() {
	p, b, limit := s.p, s.bias(), max(0, slices.Max(s.alpha)+1)
	for i, a := range s.alpha {
		ridge := p.ridge(i)
		g := p.S[i]*(b-s.f[i]) - ridge*a
		upper := p.Upper[i]
		if math.IsInf(upper, 1) {
			upper = limit
		}
		s.key[i] = math.Inf(-1)
		if t := gapTerm(g, a, p.Lower[i], upper, ridge); t > 0 {
			s.key[i] = t
		}
	}
}
