package solvers

import (
	"context"
	"math"
	"testing"
)

// randomSystem draws n points of three features, a kernel, noise from 1e-3 to 1, the
// same for all or not, and q right-hand sides.
func randomSystem(seed uint64, n, q int) (*System, [][]float64) {
	rng := newRand(seed)
	x, _ := points(rng, n, 3, 0.3)
	k := []kernel{rbf(0.5), rbf(0.05), linear, polynomial(0.3, 1, 2)}[rng.IntN(4)]
	noise := fill(n, math.Pow(10, -3*rng.Float64()))
	if rng.IntN(2) == 0 {
		for i := range noise {
			noise[i] *= 1 + 5*rng.Float64()
		}
	}
	b := make([][]float64, q)
	for j := range b {
		b[j] = make([]float64, n)
		for i := range b[j] {
			b[j][i] = rng.NormFloat64()
		}
	}
	return &System{newGram(x, k), noise}, b
}

func mustSolve(t testing.TB, s *System, b [][]float64, m LinearMethod, set SystemSettings) *Solution {
	t.Helper()
	sol, err := SolveSystem(context.Background(), s, b, m, set)
	if err != nil {
		t.Fatalf("%s: %v", m.Name(), err)
	}
	return sol
}

func allNear(x, y []float64, tol float64) bool {
	size := max(norm(x), norm(y))
	for i, v := range x {
		if !(math.Abs(v-y[i]) <= tol*size) {
			return false
		}
	}
	return len(x) == len(y)
}
