package svmnb

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/svmnb/svmnb/svmnb/internal/kept"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
)

// counting is a method that knows how often it was started.
type counting struct {
	solvers.SMO
	starts *int
}

func (m counting) Start(p *solvers.Problem, alpha []float64) (solvers.Stepper, error) {
	*m.starts++
	return m.SMO.Start(p, alpha)
}

func TestKeep(t *testing.T) {
	t.Setenv("SVMNB_CACHE", t.TempDir())
	starts := 0
	base := Classify(testkit.Moons()).Kernel(kernels.RBF(0.5)).C(10).Using(counting{starts: &starts})
	first := base.Keep()
	again := base.Keep()
	if starts != 1 {
		t.Errorf("solved %d times, want once", starts)
	}
	if diff := cmp.Diff(first.Result, again.Result, cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the kept fit differs:\n%s", diff)
	}
	if a, b := first.Markdown(), again.Markdown(); a != b {
		t.Errorf("the kept fit reads\n%s\nand not\n%s", b, a)
	}

	t.Run("damaged", func(t *testing.T) {
		for _, cut := range []int{0, 10, 63, 200} {
			b, err := os.ReadFile(testkit.KeptFiles(t)[0])
			if err != nil {
				t.Fatal(err)
			}
			for name, bad := range map[string][]byte{"cut": b[:cut], "flipped": flip(b, cut)} {
				os.WriteFile(testkit.KeptFiles(t)[0], bad, 0o644)
				before := starts
				if fit := base.Keep(); fit.Certificate != first.Certificate {
					t.Errorf("%s at %d: another answer", name, cut)
				}
				if starts != before+1 {
					t.Errorf("%s at %d: the file was believed", name, cut)
				}
			}
		}
	})

	t.Run("every setting counts", func(t *testing.T) {
		other := testkit.Moons()
		other.X[3][1] += 1e-15
		changed := Classify(other).Kernel(kernels.RBF(0.5)).C(10).Using(counting{starts: &starts})
		for name, c := range map[string]Classifier{
			"data": changed, "kernel": base.Kernel(kernels.RBF(0.25)), "C": base.C(11), "margin": base.TwoNorm(),
			"class weight": base.ClassWeight("+1", 2), "tol": base.Tol(1e-4), "criterion": base.Stop(solvers.Gap{Rel: 1e-3}),
			"limit": base.MaxIterations(1e6), "sample": base.Sample(3), "method": base.Using(counting{solvers.SMO{Selection: solvers.WorstPair}, &starts}),
		} {
			before := starts
			c.Keep()
			if starts != before+1 {
				t.Errorf("%s: the fit of another description was taken", name)
			}
		}
	})

	t.Run("partial fits are not kept", func(t *testing.T) {
		before := len(testkit.KeptFiles(t))
		base.MaxIterations(3).Keep()
		if now := len(testkit.KeptFiles(t)); now != before {
			t.Errorf("%d files, before %d", now, before)
		}
	})

	t.Run("no folder", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		os.WriteFile(file, nil, 0o644)
		t.Setenv("SVMNB_CACHE", file)
		if fit := base.Keep(); fit.Certificate != first.Certificate {
			t.Error("another answer without a cache folder")
		}
	})
}

func flip(b []byte, at int) []byte {
	b = append([]byte(nil), b...)
	b[at] ^= 1
	return b
}

// formula is a kernel of a user's: nothing but its values tells two apart.
type formula func(x, z []float64) float64

func (f formula) Eval(x, z []float64) float64 { return f(x, z) }
func (formula) Check() error                  { return nil }
func (formula) String() string                { return "mine" }

func rbfAsFormula(gamma float64) formula {
	return func(x, z []float64) float64 { return kernels.RBF(gamma).Eval(x, z) }
}

func TestKeepKnowsAUsersKernelByItsValues(t *testing.T) {
	a, err := Classify(testkit.Moons()).Kernel(rbfAsFormula(1)).prepare()
	if err != nil {
		t.Fatal(err)
	}
	b, err := Classify(testkit.Moons()).Kernel(rbfAsFormula(2)).prepare()
	if err != nil {
		t.Fatal(err)
	}
	if string(a.key()) == string(b.key()) {
		t.Error("two formulas share a key")
	}
}

func TestSweepKept(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"old.fit", "new.fit", "newest.fit", "stale.tmp", "other.txt"} {
		file := filepath.Join(dir, name)
		os.WriteFile(file, make([]byte, 100), 0o644)
		at := time.Now().Add(time.Duration(i-10) * 24 * time.Hour)
		os.Chtimes(file, at, at)
	}
	kept.Sweep(dir, 200)
	left, _ := filepath.Glob(filepath.Join(dir, "*"))
	for i := range left {
		left[i] = filepath.Base(left[i])
	}
	if diff := cmp.Diff([]string{"new.fit", "newest.fit", "other.txt"}, left); diff != "" {
		t.Error(diff)
	}
}

func TestKeptFitPredicts(t *testing.T) {
	t.Setenv("SVMNB_CACHE", t.TempDir())
	c := Classify(testkit.Moons()).Kernel(kernels.RBF(0.5)).C(10)
	direct, err := c.Fit(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	c.Keep()
	x := [][]float64{{0.3, 0.1}, {-1, 2}}
	want, _ := direct.Values(datasets.Rows(x))
	got, err := c.Keep().Values(datasets.Rows(x))
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}
