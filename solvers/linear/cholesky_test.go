package linear

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/svmnb/svmnb/internal/toy"
	"github.com/svmnb/svmnb/solvers"
)

// TestCholesky: the residual, the determinant and the inverse of systems over the
// seams of cells and panels.
func TestCholesky(t *testing.T) {
	for _, n := range []int{1, 2, 63, 64, 65, 130, 256, 257, 600} {
		s, b := randomSystem(uint64(n), n, 3)
		sol := mustSolve(t, s, b, Cholesky{}, Settings{})
		if sol.Status != solvers.Converged || sol.Factor == nil || sol.Factor.Jitter() != 0 || sol.Iterations != 1 {
			t.Fatalf("n = %d: %v, %d iterations", n, sol.Status, sol.Iterations)
		}
		for j, c := range sol.Certificates {
			if c.Residual > 1e-11*norm(b[j]) {
				t.Errorf("n = %d: residual %g", n, c.Residual)
			}
			if x := sol.Factor.Solve(nil, b[j]); !allNear(x, sol.X[j], 1e-9) {
				t.Errorf("n = %d: Factor.Solve differs", n)
			}
			if h := sol.Factor.HalfSolve(nil, b[j]); !toy.Near(inner(h, h), c.Lower, 1e-10) {
				t.Errorf("n = %d: ‖L⁻¹b‖² = %g, b'A⁻¹b ≥ %g", n, inner(h, h), c.Lower)
			}
		}
		inverse, err := sol.Factor.Inverse(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		product := make([][]float64, n)
		for i := range product {
			product[i] = make([]float64, n)
		}
		if err := s.Times(context.Background(), product, inverse); err != nil {
			t.Fatal(err)
		}
		for i, row := range product {
			for j, v := range row {
				if want := map[bool]float64{i == j: 1}[true]; math.Abs(v-want) > 1e-9 {
					t.Fatalf("n = %d: (A A⁻¹)_%d%d = %g", n, i, j, v)
				}
			}
		}
	}
}

// TestIndefinite: the pivot is named, and so much noise as the error says is enough.
func TestIndefinite(t *testing.T) {
	for seed := range uint64(20) {
		s, b := randomSystem(seed, 90, 1)
		k := s.K.(*toy.Gram)
		row := 5 + int(seed)
		k.K[row][row] -= 3
		k.Diagonal[row] -= 3
		k.Diagonal[row], k.K[row][row] = max(0, k.Diagonal[row]), max(0, k.Diagonal[row])
		k.K[row][row+1], k.K[row+1][row] = 2, 2
		_, err := Solve(context.Background(), s, b, Cholesky{}, Settings{})
		var bad *IndefiniteError
		if !errors.As(err, &bad) {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if bad.Row < row || !(bad.Value <= 0) {
			t.Errorf("seed %d: row %d, pivot %g", seed, bad.Row, bad.Value)
		}
		more := append([]float64(nil), s.Noise...)
		for i := range more {
			more[i] += bad.Need
		}
		if _, err := (Cholesky{}).Factor(context.Background(), &System{k, more}); err != nil {
			t.Errorf("seed %d: %g more noise: %v", seed, bad.Need, err)
		}
		if f, err := (Cholesky{Jitter: 10}).Factor(context.Background(), s); err != nil || f.Jitter() <= 0 || f.Jitter() > 10 {
			t.Errorf("seed %d: with jitter: %v", seed, err)
		}
	}
}
