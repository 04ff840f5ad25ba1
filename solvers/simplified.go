package solvers

import "context"

// simplified is the SMO of Wang's notes (and the "simplified SMO" that goes
// with Ng's): for each i that violates the KKT conditions, each j ≠ i in turn.
// It is slow and easy to follow. As printed it does not converge; corrected here:
//
//   - E_i is computed once before the loop over j and goes stale; it follows
//     every step now, and i is left once it satisfies its conditions;
//   - a rejected step leaves α_j changed and α_i not, so y'α drifts; here a
//     step is made for both or for none;
//   - κ = 0 divides; see pairStep;
//   - one tol serves for the KKT test, in units of y f, and for the size of a
//     step, in units of α; here the latter is relative (Platt);
//   - the final bias is the mean of y_i − g_i over all support vectors; only the
//     free ones have y_i f_i = 1 (Certify does it for every method).
type simplified struct {
	sweep
	i, j    int
	changed int
}

func newSimplified(w pairs, m SMO) *simplified {
	return &simplified{sweep: newSweep(w, m)}
}

// Step goes on with the sweep until one pair has moved or the sweep is dry.
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
