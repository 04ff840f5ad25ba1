package linear

import (
	"context"
	"testing"

	"github.com/svmnb/svmnb/solvers"
)

// boaster does nothing, says that it is done, and asks for another try whenever it is
// found out.
type boaster struct{}

func (boaster) Name() string                                              { return "boaster" }
func (boaster) Memory(n, q int) float64                                   { return 0 }
func (boaster) Start(*System, [][]float64, [][]float64) (Stepper, error)  { return boaster{}, nil }
func (boaster) Step(ctx context.Context, _ []bool) (done bool, err error) { return false, ctx.Err() }
func (boaster) Refresh([][]float64) (more bool)                           { return true }
func (boaster) Report(points []Point)                                     { points[0].Residual = 0 }

// What a method says of itself sets no limit aside.
func TestLimitsHoldWhereConvergenceIsClaimed(t *testing.T) {
	s, b := randomSystem(1, 5, 1)
	set := Settings{Stop: Residual{Rel: 1e-9}, MaxIterations: 7}
	if sol := mustSolve(t, s, b, boaster{}, set); sol.Status != solvers.IterationLimit || sol.Iterations != 7 {
		t.Errorf("%v after %d iterations", sol.Status, sol.Iterations)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if sol, err := Solve(ctx, s, b, boaster{}, set); err == nil || sol.Status != solvers.Interrupted {
		t.Errorf("interrupted: %v, %v", sol, err)
	}
}
