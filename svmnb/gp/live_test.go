package gp

import (
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers/linear"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
)

func TestWatchProcess(t *testing.T) {
	sinc := datasets.Sinc(80, 0.1, 1)
	system, err := Regress(sinc).Kernel(kernels.RBF(1)).NoiseVariance(0.01).CG().prepare()
	if err != nil {
		t.Fatal(err)
	}
	matrix, err := system.matrix()
	if err != nil {
		t.Fatal(err)
	}
	ws := system.watch()
	charts := testkit.Shown(ws.Screen)
	set := system.settings()
	set.Observers = append(set.Observers, ws.observe)
	sol, err := linear.Solve(t.Context(), matrix, [][]float64{system.y}, system.method, set)
	if err != nil {
		t.Fatal(err)
	}
	ws.end(sol)
	if n := len(*charts); n < 1 || !strings.Contains((*charts)[n-1].Title.Subtitle, "converged") {
		t.Errorf("%d pictures of a process", n)
	}
	// A direct method has nothing to watch, and says nothing.
	if _, err := Regress(sinc).Cholesky().Live().Fit(t.Context()); err != nil {
		t.Error(err)
	}
}
