package solvers

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
)

// Chunking solves the problem on a part of the points, the chunk. It then keeps the support
// vectors of the chunk, adds the M points that violate the KKT conditions most, and repeats
// until no point violates (Vapnik; CST §7.4, Table 7.2). Inner solves the problem on the chunk
// B, starting from the α of the chunk before,
//
//	minimise ½ α_B'Q_BB α_B + p_B'α_B,  s_B'α_B = δ,
//
// with α = 0 outside of the chunk as long as all support vectors fit in.
//
// The chunk's kernel matrix is held in memory with 8 bytes per value, so chunking suits
// problems with few support vectors; Decomposition bounds the memory. If the support vectors
// and M violators exceed 8192 points, the chunk has only the 8192 worst violators.
// Iterate.Active is the size of the chunk and Iterate.Working its points.
//
// A chunk is solved until its violation is a tenth of that of the whole problem, because the
// next chunk will change it anyway. The last chunk is solved as accurately as the criterion of
// the whole problem asks.
type Chunking struct {
	Inner   Method // nil means SMO{}
	Initial int    // points of the first chunk, drawn at random; 0 means M
	M       int    // violators added to the support vectors; 0 means min(200, max(10, n/10))
	Seed    uint64 // seed of the draw of the first chunk
}

// Name returns, for example, "chunking (SMO (second order), M = 50)".
func (m Chunking) Name() string {
	name := innerOf(m.Inner).Name()
	if m.M != 0 {
		name += fmt.Sprintf(", M = %d", m.M)
	}
	return "chunking (" + name + ")"
}

func innerOf(m Method) Method {
	if m == nil {
		return SMO{}
	}
	return m
}

// Start implements Method. It refuses the problems that Inner refuses.
func (m Chunking) Start(p *Problem, alpha []float64) (Stepper, error) {
	return m.StartAt(p, alpha, nil)
}

func (m Chunking) StartAt(p *Problem, alpha, f []float64) (Stepper, error) {
	if m.Initial < 0 {
		return nil, &ProblemError{"Chunking.Initial", -1, float64(m.Initial), fmt.Sprintf("the first chunk has %d points; give at least 1, or 0 for the default", m.Initial)}
	}
	if m.M < 0 {
		return nil, &ProblemError{"Chunking.M", -1, float64(m.M), fmt.Sprintf("%d violators cannot be added; give at least 1, or 0 for the default", m.M)}
	}
	n := len(alpha)
	m.M = cmp.Or(m.M, min(200, max(10, n/10)))
	m.Initial = cmp.Or(m.Initial, m.M)
	w, err := newWorkingSet(p, alpha, f, innerOf(m.Inner))
	if err != nil {
		return nil, err
	}
	return &chunking{workingSet: w, m: m, limit: 8192}, nil
}

type chunking struct {
	*workingSet
	m     Chunking
	begun bool
	limit int // largest number of points in a chunk
}

// Step solves one chunk.
func (s *chunking) Step(ctx context.Context) (done bool, err error) {
	if !(s.up > s.low) {
		return true, nil
	}
	s.begin()
	for i, a := range s.alpha {
		if a != 0 {
			s.add(i)
		}
	}
	add := s.m.M
	if !s.begun {
		add = s.m.Initial
	}
	size := len(s.next) + add
	if size > s.limit {
		s.begin()
		size = s.limit
	}
	s.addPair()
	if s.begun {
		s.violations()
	} else {
		s.begun = true
		rng := rand.New(rand.NewPCG(s.m.Seed, 0))
		for i := range s.key {
			s.key[i] = rng.Float64()
		}
	}
	s.pick(size - len(s.next))
	return s.advance(ctx)
}
