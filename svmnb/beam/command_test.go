package beam

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/model"
	"github.com/svmnb/svmnb/svmnb/remote"
	"github.com/svmnb/svmnb/svmnb/selection"
)

// program is this test as svmnb-beam.
func program(t *testing.T, args ...string) remote.Program {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return remote.Program{Path: self, Args: args}
}

// A cell that has a search computed by the program gets the scores of a plain search, to the bit.
func TestRemoteSearch(t *testing.T) {
	for name, s := range written() {
		t.Run(name, func(t *testing.T) {
			want, err := s.Fit(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "scores")
			calls := 0
			s = s.File(file).Watch(func(selection.SearchProgress) { calls++ })
			got, err := s.On(program(t, "-processes", "2")).Fit(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			same(t, got, want)
			if calls < 3 {
				t.Errorf("the progress was shown %d times", calls)
			}
			again, err := s.On(program(t, "-processes", "2")).Fit(t.Context())
			if err != nil || again.Fitted != 0 {
				t.Errorf("the search is computed again, %v", err)
			}
		})
	}
}

// A cell that has a fit computed by the program gets an ordinary fit.
func TestRemoteFit(t *testing.T) {
	noisy := datasets.Moons(800, 0.3, 6)
	for name, c := range map[string]svmnb.Classifier{
		"plain":   svmnb.Classify(noisy).Kernel(kernels.RBF(1)).C(5),
		"weights": svmnb.Classify(noisy).Kernel(kernels.RBF(1)).Balanced().ClassWeight("-1", 2),
	} {
		t.Run(name, func(t *testing.T) {
			p := program(t)
			p.Blocks = 4
			said := map[string]bool{}
			fit, err := p.Classify(t.Context(), c, func(p remote.Progress) { said[p.What] = true })
			if err != nil {
				t.Fatal(err)
			}
			plain, err := c.Fit(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			near(t, "the dual", fit.Certificate.Dual, plain.Certificate.Dual, 1e-3)
			if fit.Iterations > plain.Iterations/2 {
				t.Errorf("the solver took %d iterations from the fit, and %d from nothing", fit.Iterations, plain.Iterations)
			}
			if audit, err := fit.Audit(t.Context()); err != nil || !(math.Abs(audit.Dual-fit.Certificate.Dual) < 1e-6*fit.Certificate.Dual) {
				t.Errorf("the audit says %v, %v", audit, err)
			}
			if !said["blocks"] || !said["certificate of round 0"] {
				t.Errorf("the progress was of %v", said)
			}
		})
	}
	sinc := datasets.Sinc(400, 0.2, 3)
	r := svmnb.Regress(sinc).Kernel(kernels.RBF(1)).Epsilon(0.2)
	fit, err := program(t).Regress(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := r.Fit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	near(t, "the dual", fit.Certificate.Dual, plain.Certificate.Dual, 1e-3)
}

// What goes wrong in the program is an error in the cell.
func TestRemoteFails(t *testing.T) {
	grid, folds := selection.Grid{"C": {0.5, 2}}, selection.KFold(3, 1)
	plain := selection.Search(svmnb.Classify(moons), grid, folds)
	ended, stop := context.WithCancel(t.Context())
	stop()
	for name, c := range map[string]struct {
		ctx  context.Context
		s    selection.Searcher
		p    remote.Program
		want string
	}{
		"own kernel": {t.Context(), selection.Search(svmnb.Classify(moons).Kernel(ownKernel{kernels.RBF(1)}), grid, folds), program(t), "mine(1)"},
		"weights":    {t.Context(), selection.Search(svmnb.Classify(moons).SampleWeights(make1(moons.N())), grid, folds), program(t), "SampleWeights"},
		"flags":      {t.Context(), plain, program(t, "-processes", "many"), "invalid value"},
		"endpoint":   {t.Context(), plain, program(t, "-endpoint", "localhost:1"), "no folder"},
		"no program": {t.Context(), plain, remote.Program{Path: "no-such-program"}, "go install"},
		"not ours":   {t.Context(), plain, remote.Program{Path: "true"}, "ended early"},
		"interrupt":  {ended, plain, program(t), "context canceled"},
	} {
		_, err := c.s.On(c.p).Fit(c.ctx)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v, want one with %q", name, err, c.want)
		}
	}
	var wrong *svmnb.ArgumentError
	if _, err := program(t).Classify(t.Context(), svmnb.Classify(moons), nil); !errors.As(err, &wrong) {
		t.Errorf("without a kernel: %v", err)
	}
}

func make1(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = 1 + float64(i%2)
	}
	return v
}

// The command trains, certifies and predicts, from files to files.
func TestCommand(t *testing.T) {
	noisy := datasets.Moons(900, 0.3, 7)
	table := asFile(t, "points.csv", func(f *os.File) error { return noisy.WriteCSV(f) })
	dir := t.TempDir()
	file := filepath.Join(dir, "model")
	run := func(args ...string) (string, string, int) {
		var out, said bytes.Buffer
		code := Command(args, strings.NewReader(""), &out, &said)
		return out.String(), said.String(), code
	}
	learner := "Classify(data).Kernel(RBF(1)).C(5)"
	files := []string{"-files", table + "," + table, "-bytes", "9000"}
	out, said, code := run(append([]string{"train", "-learner", learner, "-model", file, "-tol", "1e-4"}, files...)...)
	if code != 0 || !strings.Contains(out, "over 1800 points") || !strings.Contains(said, "certificate of round 0") {
		t.Fatalf("train: %d, %q, %q", code, out, said)
	}
	m, err := model.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	certified, _, code := run(append([]string{"-quiet", "certify", "-learner", learner, "-model", file}, files...)...)
	var gap, rel float64
	if _, err := fmt.Sscanf(certified, "gap %g (relative %g)", &gap, &rel); code != 0 || err != nil || !(rel <= 1e-4) {
		t.Errorf("certify: %d, %q, %v", code, certified, err)
	}
	folder := filepath.Join(dir, "out")
	out, _, code = run(append([]string{"-quiet", "predict", "-out", folder, "-model", file}, files...)...)
	right := 0
	read, err := datasets.LoadCSV(table, datasets.CSV{}) // which has targets, and no names of classes
	if err != nil {
		t.Fatal(err)
	}
	names, err := m.Predict(read)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		if name == read.ClassName(read.Y[i]) {
			right += 2 // each point is there twice
		}
	}
	if want := fmt.Sprintf("%d of the predicted", right); code != 0 || !strings.Contains(out, want) {
		t.Errorf("predict: %d, %q, want %q", code, out, want)
	}
	for _, bad := range [][]string{{}, {"dance", "-model", "x"}, {"train"}, {"-nonsense"}, {"train", "-model", "x", "-learner", "Classify("}, {"train", "-format", "xml", "-model", "x"}, {"train", "more"}} {
		if _, said, code := run(bad...); code == 0 || said == "" {
			t.Errorf("%q: code %d, %q", bad, code, said)
		}
	}
}

// A run whose program is killed goes on from the files that it has, and comes to the same model.
// Its worker processes end with it.
func TestKilledDriver(t *testing.T) {
	noisy := datasets.Moons(6000, 0.3, 7)
	table := asFile(t, "points.csv", func(f *os.File) error { return noisy.WriteCSV(f) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	start := func(work, file string, processes int) *exec.Cmd {
		cmd := exec.Command(self, "-dir", work, "-processes", fmt.Sprint(processes), "train", "-learner", "Classify(data).Kernel(RBF(1)).C(5)", "-model", file, "-files", table, "-bytes", "12000")
		cmd.Env = append(os.Environ(), "SVMNB_TEST_COMMAND=1")
		return cmd
	}
	plain := filepath.Join(dir, "plain")
	if out, err := start(filepath.Join(dir, "work-plain"), plain, 0).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, processes := range []int{0, 2} {
		work, file := filepath.Join(dir, fmt.Sprint("work-", processes)), filepath.Join(dir, fmt.Sprint("model-", processes))
		cmd := start(work, file, processes)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		done := func() int {
			list, err := filepath.Glob(filepath.Join(work, "*"+doneFile))
			if err != nil {
				t.Fatal(err)
			}
			return len(list)
		}
		for until := time.Now().Add(time.Minute); done() < 5 && time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		}
		_ = cmd.Process.Kill()
		if err := cmd.Wait(); err == nil {
			t.Error("the program ended before it was killed: the work is too short for this test")
		}
		if _, err := os.Stat(file); err == nil || done() == 0 {
			t.Errorf("the killed program has a model, or no results: %d", done())
		}
		out, err := start(work, file, processes).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		want, err := os.ReadFile(plain)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
			t.Errorf("the model of the run that went on is another one, %v", err)
		}
	}
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		left := workersOf(t, self)
		if len(left) == 0 {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("worker processes are left: %v", left)
		}
	}
}

// workersOf lists the worker processes of a program; none where there is no /proc.
func workersOf(t *testing.T, self string) (pids []string) {
	list, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range list {
		if exe, err := os.Readlink(link); err == nil && exe == self {
			env, err := os.ReadFile(filepath.Join(filepath.Dir(link), "environ"))
			if err == nil && bytes.Contains(env, []byte(workerVariable)) {
				pids = append(pids, filepath.Base(filepath.Dir(link)))
			}
		}
	}
	return pids
}
