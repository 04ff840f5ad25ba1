package solvers

import (
	"context"
	"testing"
)

// TestStepDoesNotAllocate: a step of SMO, and a whole run that is not sampled,
// whatever its length.
func TestStepDoesNotAllocate(t *testing.T) {
	for _, sel := range []Selection{SecondOrder, WorstPair, Platt, Simplified} {
		st, err := SMO{Selection: sel}.Start(benchProblem(200), make([]float64, 200))
		if err != nil {
			t.Fatal(err)
		}
		var it Iterate
		ctx := context.Background()
		if allocs := testing.AllocsPerRun(100, func() {
			if done, err := st.Step(ctx); done || err != nil {
				t.Fatal("the run is over", err)
			}
			st.Report(&it)
		}); allocs != 0 {
			t.Errorf("%v: %g allocations per step", sel, allocs)
		}
	}
	p := benchProblem(200)
	run := func(iterations int) float64 {
		return testing.AllocsPerRun(3, func() {
			r, err := Solve(context.Background(), p, SMO{}, Settings{Stop: Iterations{iterations}, Every: -1})
			if err != nil || r.Iterations != iterations {
				t.Fatal("the run is too short", err)
			}
		})
	}
	if short, long := run(10), run(600); long > short+1 {
		t.Errorf("10 iterations make %g allocations, 600 make %g", short, long)
	}
}
