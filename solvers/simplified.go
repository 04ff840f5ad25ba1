package solvers

import "context"

// simplified is the SMO of Wang's notes (and the "simplified SMO" that goes with Ng's): for
// each i that violates the KKT conditions it tries each j ≠ i in turn. It is slow and easy to
// follow. As printed it does not converge; docs/math.md says what was corrected.
type simplified struct {
	sweep
	i, j    int
	changed int
}

func newSimplified(w pairs, m SMO) *simplified {
	return &simplified{sweep: newSweep(w, m)}
}

// Step continues the sweep until one pair has moved or a full sweep has moved none.
func (s *simplified) Step(ctx context.Context) (done bool, err error) {
	n := len(s.alpha)
	for {
		for ; s.i < n; s.i, s.j = s.i+1, 0 {
			if ctx.Err() != nil {
				return false, ctx.Err()
			}
			for s.j < n && s.violates(s.i) {
				j := s.j
				s.j++
				if moved, err := s.try(s.i, j); moved || err != nil {
					s.changed++
					return false, err
				}
			}
		}
		dry := s.changed == 0
		s.i, s.j, s.changed = 0, 0, 0
		if dry {
			return s.dry(), nil
		}
	}
}
