package linear

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/svmnb/svmnb/internal/toy"
	"github.com/svmnb/svmnb/solvers"
)

// TestMixed: the solution of Cholesky in double precision, over the seams of cells and
// panels, and of entries that single precision has no room for.
func TestMixed(t *testing.T) {
	for _, n := range []int{1, 2, 63, 64, 65, 130, 257, 600} {
		for _, scale := range []float64{1, 1e-60, 1e60} {
			s, b := randomSystem(uint64(n), n, 3)
			for i, row := range s.K.(*toy.Gram).K {
				for j := range row {
					row[j] *= scale
				}
				s.K.(*toy.Gram).Diagonal[i] *= scale
				s.Noise[i] *= scale
			}
			passes := 0
			counted := &passing{s.K, &passes}
			sol := mustSolve(t, &System{counted, s.Noise}, b, Mixed{}, Settings{})
			exact := mustSolve(t, s, b, Cholesky{}, Settings{})
			for j, c := range sol.Certificates {
				if c.Residual > 1e-11*norm(b[j]) {
					t.Errorf("n = %d, scale %g: residual %g of %g", n, scale, c.Residual, norm(b[j]))
				}
				for i, v := range sol.X[j] {
					if math.Abs(v-exact.X[j][i]) > 1e-9*norm(exact.X[j]) {
						t.Fatalf("n = %d, scale %g: x_%d = %g, not %g", n, scale, i, v, exact.X[j][i])
					}
				}
			}
			if sol.Factor != nil {
				t.Errorf("n = %d: the factor is one of single precision", n)
			}
			if passes > 5*n { // one for the factor, one for the certificate
				t.Errorf("n = %d, scale %g: %d rows, %d passes", n, scale, passes, passes/n)
			}
		}
	}
}

// passing counts the rows that are asked for.
type passing struct {
	solvers.Matrix
	rows *int
}

func (p *passing) Row(i int) []float64 { *p.rows++; return p.Matrix.Row(i) }

// TestMixedDoubles: where single precision cannot factor A, double precision can; and
// where that cannot either, the error is Cholesky's.
func TestMixedDoubles(t *testing.T) {
	s, b := randomSystem(7, 200, 1)
	for i := range s.Noise {
		s.Noise[i] = 1e-10
	}
	for i, row := range s.K.(*toy.Gram).K {
		for j := range row {
			row[j] = 1 // of rank 1
		}
		s.K.(*toy.Gram).Diagonal[i] = 1
	}
	sol := mustSolve(t, s, b, Mixed{}, Settings{})
	exact := mustSolve(t, s, b, Cholesky{}, Settings{})
	if r, want := sol.Certificates[0].Residual, exact.Certificates[0].Residual; !(r <= 10*want+1e-10*norm(b[0])) {
		t.Errorf("residual %g, Cholesky's %g", r, want)
	}
	row := s.K.(*toy.Gram).K[3]
	row[4], s.K.(*toy.Gram).K[4][3] = 2, 2
	var bad *IndefiniteError
	if _, err := Solve(context.Background(), s, b, Mixed{}, Settings{}); !errors.As(err, &bad) || bad.Row < 0 {
		t.Errorf("of an indefinite matrix: %v", err)
	}
}
