package svmnb

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"pgregory.net/rapid"
)

// At any C the path has SMO's objective, and its certificate says so by itself.
func TestPathIsSMOAtEveryC(t *testing.T) {
	weights := make([]float64, 60)
	for i := range weights {
		weights[i] = 1 + float64(i%4)/2
	}
	noisy := datasets.Moons(60, 0.4, 1)
	uneven := datasets.Moons(60, 0.4, 1).Select(testkit.Seq(47))
	for _, c := range []struct {
		of       Classifier
		from, to float64
		restarts int
	}{
		{Classify(noisy).Kernel(kernels.RBF(1)), 0.01, 100, 0},
		{Classify(uneven).Kernel(kernels.RBF(1)), 0.01, 100, 0},
		{Classify(noisy).Kernel(kernels.Linear()), 0.001, 100, 0},
		{Classify(noisy).Kernel(kernels.RBF(2)).SampleWeights(weights).ClassWeight("+1", 2), 0.01, 30, 0},
		{Classify(datasets.BreastCancer().Standardised()).Kernel(kernels.RBF(0.02)), 0.1, 3, 0},
		{Classify(datasets.Iris().Pair("virginica", "versicolor")).Kernel(kernels.Linear()), 0.01, 10, 40}, // repeated measurements: ties
		{Classify(datasets.XOR(4, 0, 0)).Kernel(kernels.Polynomial(2, 1, 1)), 0.01, 1, 4},                  // all points tie
	} {
		path, err := c.of.Path(context.Background(), c.from, c.to)
		if err != nil {
			t.Errorf("%v: %v", c.of, err)
			continue
		}
		if path.Restarts > c.restarts {
			t.Errorf("%v: %d restarts over %d breaks", c.of, path.Restarts, len(path.Breaks))
		}
		t.Logf("%v: %d breaks, %d restarts", c.of, len(path.Breaks), path.Restarts)
		for k := range 12 {
			at := c.from * math.Pow(c.to/c.from, (float64(k)+0.37)/12)
			if k == 11 {
				at = c.to
			}
			got, err := path.At(at)
			if err != nil {
				t.Fatal(err)
			}
			want := testkit.FitOf(t, c.of.C(at).Tol(1e-9))
			w := want.Certificate.Dual
			if e := got.Certificate; math.Abs(e.Dual-w) > 1e-6*(1+w) || e.Gap > 1e-5*(1+w) || e.Equality > 1e-6*(1+at) {
				t.Errorf("%v at C = %v: W %v, SMO %v; gap %v, equality %v", c.of, at, e.Dual, w, e.Gap, e.Equality)
			}
		}
	}
}

// Random points, kernels and labels: the certificate holds between all breaks, and
// α is inside its box.
func TestPathOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 25).Draw(t, "n")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		x, y := make([][]float64, n), make([]float64, n)
		for i := range x {
			x[i] = []float64{rng.NormFloat64(), rng.NormFloat64()}
			y[i] = float64(2*rng.IntN(2) - 1)
		}
		y[0], y[1] = 1, -1
		if rapid.Bool().Draw(t, "repeated") {
			x[n-1] = slices.Clone(x[0])
		}
		k := []kernels.Kernel{kernels.Linear(), kernels.RBF(1), kernels.Polynomial(2, 1, 1)}[rapid.IntRange(0, 2).Draw(t, "kernel")]
		path, err := Classify(datasets.New(x, y)).Kernel(k).Path(context.Background(), 0.05, 5)
		if err != nil {
			t.Fatal(err)
		}
		for i := 1; i < len(path.Breaks); i++ {
			a, b := path.Breaks[i-1], path.Breaks[i]
			if b.C <= a.C {
				t.Fatalf("breaks at %v and %v", a.C, b.C)
			}
			fit, err := path.At(a.C + (b.C-a.C)*0.5)
			if err != nil {
				t.Fatal(err)
			}
			if g := fit.Certificate.Gap; g > 1e-5*(1+fit.Certificate.Primal) {
				t.Fatalf("between C = %v and %v the gap is %v", a.C, b.C, g)
			}
		}
	})
}

// The lines of the figure bend at the breakpoints, so these are among its places.
func TestPathIsDrawnAtItsBreakpoints(t *testing.T) {
	path := Classify(testkit.Moons()).MustPath(0.05, 20)
	places, apart := path.places(), math.Pow(20/0.05, 0.5/1000)
	if places[0] != 0.05 || places[len(places)-1] != 20 || len(places) > 2000 {
		t.Fatalf("%d places from %v to %v", len(places), places[0], places[len(places)-1])
	}
	for k, c := range places[1:] {
		if step := c / places[k]; step <= 1 || step > math.Pow(20/0.05, 1.01/120) {
			t.Errorf("%v follows %v", c, places[k])
		}
	}
	for _, b := range path.Breaks {
		k, found := slices.BinarySearch(places, b.C)
		if !found && (k == 0 || b.C > places[k-1]*apart) {
			t.Errorf("the breakpoint %v is not among the places", b.C)
		}
	}
}

func TestPathErrors(t *testing.T) {
	base := Classify(testkit.Moons())
	for _, c := range []struct {
		of       Classifier
		from, to float64
		says     string
	}{
		{base, 0, 1, "C goes from 0 to 1"}, {base, 2, 1, "C goes from"}, {base, 1, math.Inf(1), "C goes from"}, {base, math.NaN(), 1, "C goes from"},
		{base.TwoNorm(), 1, 2, "1-norm"}, {base.Nu(0.5), 1, 2, "1-norm"}, {base.HardMargin(), 1, 2, "1-norm"},
		{base.FixedBias(0), 1, 2, "free bias"}, {base.Kernel(nil), 1, 2, "kernel is nil"},
		{Classify(datasets.Moons(2001, 0.1, 1)), 1, 2, "at most 2000"},
		{Classify(datasets.Iris()), 1, 2, "classes"}, {Classify(nil), 1, 2, "nil"},
	} {
		if _, err := c.of.Path(context.Background(), c.from, c.to); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v, want %q", c.of, err, c.says)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := base.Path(ctx, 1, 2); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	path, err := base.Path(context.Background(), 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []float64{0.99, 2.01, math.NaN()} {
		if _, err := path.At(c); err == nil || !strings.Contains(err.Error(), "is known from 1 to 2") {
			t.Errorf("%v: %v", c, err)
		}
	}
	testkit.Says(t, "summary", path.Markdown(), "breakpoints", fmt.Sprint(len(path.Breaks)-2))
	c, err := Path.Of(path)
	if err != nil {
		t.Fatal(err)
	}
	testkit.Says(t, "picture", c.Alt, "Of 200 points, 41 are support vectors at C = 1")
}
