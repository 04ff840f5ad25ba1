package linear

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestBoundsOfAnyVector: for any system and any x, near the solution or not,
// 2Q(x) ≤ b'A⁻¹b ≤ 2Q(x) + Σ r_i²/noise_i.
func TestBoundsOfAnyVector(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, b := randomSystem(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 40).Draw(t, "n"), 1)
		near := rapid.Float64Range(-2, 2).Draw(t, "near")
		exact, err := Solve(context.Background(), s, b, Cholesky{}, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		h := exact.Factor.HalfSolve(nil, b[0])
		truth := inner(h, h)
		x := make([]float64, len(b[0]))
		for i, v := range exact.X[0] {
			x[i] = near*v + rapid.Float64Range(-1, 1).Draw(t, "x")
		}
		ax := [][]float64{make([]float64, len(x))}
		if err := s.Times(context.Background(), ax, [][]float64{x}); err != nil {
			t.Fatal(err)
		}
		r := make([]float64, len(x))
		for i := range r {
			r[i] = b[0][i] - ax[0][i]
		}
		lower, energy := inner(b[0], x)+inner(r, x), s.energy(r)
		slack := 1e-9 * (truth + math.Abs(lower) + energy)
		if lower > truth+slack || lower+energy < truth-slack {
			t.Fatalf("%g is not in [%g, %g]", truth, lower, lower+energy)
		}
	})
}
