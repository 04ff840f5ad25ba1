package svmnb

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/solvers/blocks"
	"github.com/svmnb/svmnb/svmnb/internal/kept"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
)

// dying ends a run after some iterations, as a kill would: the run has no result, and what it
// wrote stays.
type dying struct{ after int }

func (d dying) Met(pt *solvers.Point, _ *solvers.Trace) solvers.Status {
	if pt.Iteration >= d.after {
		panic("killed")
	}
	return solvers.NotTerminated
}

func (d dying) String() string { return "dying" }

// wide are enough points for matrices in blocks.
func wide() *datasets.Dataset { return datasets.Moons(600, 0.3, 1) }

func TestKeepGoesOnFromCheckpoint(t *testing.T) {
	t.Setenv("SVMNB_CACHE", t.TempDir())
	defer func(after, pause time.Duration) { checkpointAfter, checkpointPause = after, pause }(checkpointAfter, checkpointPause)
	checkpointAfter, checkpointPause = 0, 0
	for _, c := range []struct {
		name      string
		machine   Classifier
		continues bool // from a feasible α
	}{
		{"SMO", Classify(testkit.Moons()).Kernel(kernels.RBF(0.5)).C(100).Using(solvers.SMO{PairsOnly: true}), true},
		{"blocks", Classify(wide()).Kernel(kernels.RBF(0.5)).C(100).Using(blocks.Decomposition{Size: 32}), true},
		{"ν", Classify(testkit.Moons()).Kernel(kernels.RBF(0.5)).Nu(0.3).Using(solvers.SMO{PairsOnly: true}), true},
		{"an inner point", Classify(testkit.Moons()).Kernel(kernels.RBF(0.5)).Using(solvers.PrimalDual{}), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := c.machine.prepare()
			if err != nil {
				t.Fatal(err)
			}
			whole, err := m.machine.solve(context.Background(), m.problem, m, nil)
			if err != nil {
				t.Fatal(err)
			}
			key := m.key()
			killed := m.machine
			killed.stop = dying{max(2, whole.Iterations*3/4)}
			if res, err := killed.solve(context.Background(), m.problem, m, killed.checkpointOf(key)); res != nil || err == nil {
				t.Fatalf("the run was not killed: %v", err)
			}
			file := killed.checkpointOf(key).file
			if _, err := os.Stat(file); err != nil {
				t.Fatal("the run left no checkpoint:", err)
			}
			res := m.keep(m.problem, key, m)
			if res.Status != solvers.Converged {
				t.Fatalf("it goes on to %v", res.Status)
			}
			if c.continues != (res.Iterations < whole.Iterations) {
				t.Errorf("it took %d iterations from the checkpoint, and %d from the start", res.Iterations, whole.Iterations)
			}
			if gap := res.Certificate.Primal - whole.Certificate.Dual; gap > whole.Certificate.Gap+res.Certificate.Gap {
				t.Errorf("the two answers differ by %g", gap)
			}
			if _, err := os.Stat(file); err == nil {
				t.Error("the checkpoint of a finished run stays")
			}
			if again := recall(key, len(res.Alpha)); again == nil {
				t.Error("the finished run is not kept")
			}
		})
	}
}

func TestBadCheckpointsAreIgnored(t *testing.T) {
	t.Setenv("SVMNB_CACHE", t.TempDir())
	m, err := Classify(testkit.Moons()).Kernel(kernels.RBF(0.5)).C(3).prepare()
	if err != nil {
		t.Fatal(err)
	}
	key := m.key()
	file := m.checkpointOf(key).file
	outside := make([]float64, len(m.y))
	outside[0] = 4
	for name, write := range map[string]func(){
		"damaged":      func() { _ = os.WriteFile(file, []byte("not a checkpoint"), 0o644) },
		"another key":  func() { kept.Write(file, make([]byte, 32), progress{Alpha: make([]float64, len(m.y))}) },
		"another n":    func() { kept.Write(file, key, progress{Alpha: make([]float64, 3)}) },
		"not feasible": func() { kept.Write(file, key, progress{Alpha: outside}) },
		"no state":     func() { kept.Write(file, key, progress{Saved: &solvers.Saved{Alpha: outside}}) },
		"half a state": func() {
			f := make([]float32, len(m.y))
			f[3] = float32(math.NaN())
			kept.Write(file, key, progress{Saved: &solvers.Saved{Alpha: make([]float64, len(m.y)), F: f}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			write()
			res, err := m.machine.solve(context.Background(), m.problem, m, m.checkpointOf(key))
			if err != nil || res.Status != solvers.Converged {
				t.Fatal(res, err)
			}
			if _, err := os.Stat(file); err == nil {
				t.Error("the checkpoint stays")
			}
		})
	}
}

// A run with a limit begins anew, and an interrupted run leaves its last α.
func TestWhichRunsHaveCheckpoints(t *testing.T) {
	t.Setenv("SVMNB_CACHE", t.TempDir())
	m, err := Classify(testkit.Moons()).Kernel(kernels.RBF(0.5)).C(3).MaxIterations(5).prepare()
	if err != nil {
		t.Fatal(err)
	}
	if m.checkpointOf(m.key()) != nil {
		t.Error("a run with a limit has a checkpoint")
	}
	m, err = Classify(testkit.Moons()).Kernel(kernels.RBF(0.5)).C(3).Using(solvers.SMO{}).prepare()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	at := m.checkpointOf(m.key())
	if _, err := m.machine.solve(ctx, m.problem, m, at); err == nil {
		t.Fatal("the run was not interrupted")
	}
	if alpha, saved := at.start(len(m.y)); alpha == nil && saved == nil {
		t.Error("an interrupted run leaves no checkpoint")
	}
}
