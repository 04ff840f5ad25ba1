package linear

import (
	"testing"

	"github.com/svmnb/svmnb/internal/toy"
	"github.com/svmnb/svmnb/solvers"
)

// TestWidrowHoff: the sweeps are those of the rule as it is written, with A and not K;
// every one raises the lower bound, at rates up to the limit; and conjugate gradients
// need fewer.
func TestWidrowHoff(t *testing.T) {
	x, _ := toy.Points(toy.Rand(7), 40, 2, 0)
	s := &System{toy.NewGram(x, toy.RBF(0.5)), fill(40, 0.2)}
	b := make([]float64, 40)
	for i := range b {
		b[i] = x[i][0] - x[i][1]
	}
	for _, eta := range []float64{0, 0.05, 1, 1.6} { // 2/A_ii = 1.67
		m := WidrowHoff{Eta: eta}
		got := mustSolve(t, s, [][]float64{b}, m, Settings{MaxIterations: 5, Stop: Residual{Abs: 1e-300}})
		alpha := make([]float64, 40)
		for range 5 {
			for i := range alpha {
				rate := eta
				if eta == 0 {
					rate = 1 / (s.K.Diag()[i] + s.Noise[i])
				}
				alpha[i] += rate * (b[i] - inner(s.K.Row(i), alpha) - s.Noise[i]*alpha[i])
			}
		}
		if !allNear(got.X[0], alpha, 1e-12) {
			t.Errorf("eta %g: not the α of the rule", eta)
		}
		sol := mustSolve(t, s, [][]float64{b}, m, Settings{Every: 1, MaxIterations: 100_000})
		if sol.Status != solvers.Converged {
			t.Errorf("eta %g: %v", eta, sol.Status)
		}
		for k := 1; k < len(sol.Trace); k++ {
			if sol.Trace[k].Lower < sol.Trace[k-1].Lower*(1-1e-12) {
				t.Fatalf("eta %g: the lower bound falls in sweep %d", eta, k)
			}
		}
		if cg := mustSolve(t, s, [][]float64{b}, CG{}, Settings{}); cg.Iterations >= sol.Iterations {
			t.Errorf("eta %g: %d sweeps, CG %d iterations", eta, sol.Iterations, cg.Iterations)
		}
	}
}

// TestRank: the preconditioner saves iterations, more so with more columns.
func TestRank(t *testing.T) {
	s := evidenceSystem(300, 2)
	b := make([]float64, 300)
	for i, v := range s.K.Row(0) {
		b[i] = 1 - v
	}
	before := 1 << 30
	for _, rank := range []int{0, 5, 20, 60} {
		sol := mustSolve(t, s, [][]float64{b}, CG{Rank: rank}, Settings{})
		if sol.Status != solvers.Converged || sol.Iterations >= before {
			t.Errorf("rank %d: %v after %d iterations, %d before", rank, sol.Status, sol.Iterations, before)
		}
		before = sol.Iterations
	}
}
