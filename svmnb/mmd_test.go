package svmnb

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
)

func normal(rng *rand.Rand, n int, shift, scale float64) datasets.Rows {
	x := make(datasets.Rows, n)
	for i := range x {
		x[i] = []float64{shift + scale*rng.NormFloat64(), rng.NormFloat64()}
	}
	return x
}

// MMD² is that of the definition, for the samples and for each permutation.
func TestMMDIsItsDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	x, y := normal(rng, 7, 0, 1), normal(rng, 5, 1, 1)
	k := kernels.Sum(kernels.RBF(0.7), kernels.Linear())
	r, err := MMD(x, y).Kernel(k).Permutations(50).Test(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	mean := func(a, b [][]float64, same bool) float64 {
		sum, count := 0.0, 0.0
		for i, p := range a {
			for j, q := range b {
				if !same || i != j {
					sum, count = sum+k.Eval(p, q), count+1
				}
			}
		}
		return sum / count
	}
	of := func(x, y [][]float64) float64 { return mean(x, x, true) + mean(y, y, true) - 2*mean(x, y, false) }
	testkit.Near(t, "MMD²", r.MMD2, of(x, y), 1e-10)
	rng = rand.New(rand.NewPCG(1, 0x3d2))
	rng.Perm(12)
	all := slices.Concat(x, y)
	for b, got := range r.Permuted {
		order := rng.Perm(12)
		var a, c [][]float64
		for place, i := range order {
			if place < 7 {
				a = append(a, all[i])
			} else {
				c = append(c, all[i])
			}
		}
		if want := of(a, c); math.Abs(got-want) > 1e-9 {
			t.Fatalf("permutation %d: %g, want %g", b, got, want)
		}
	}
	w, err := r.Witness(datasets.Rows{{0, 0}})
	if err != nil {
		t.Fatal(err)
	}
	testkit.Near(t, "witness", w[0], mean(x, [][]float64{{0, 0}}, false)-mean(y, [][]float64{{0, 0}}, false), 1e-10)
}

// Under the same distribution p is uniform on 1/20 … 20/20, so p ≤ 0.1 has the probability 0.1
// exactly; a shift and another scale are found.
func TestMMDLevelAndPower(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	const trials = 3000
	hits, power, scale := 0, 0, 0
	for trial := range trials {
		p := func(x, y datasets.Rows) float64 {
			r, err := MMD(x, y).Kernel(kernels.RBF(0.5)).Permutations(19).Seed(uint64(trial)).Test(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			return r.P
		}
		if p(normal(rng, 9, 0, 1), normal(rng, 6, 0, 1)) <= 0.1+1e-9 {
			hits++
		}
		if trial >= 100 {
			continue
		}
		if p(normal(rng, 40, 0, 1), normal(rng, 40, 1.5, 1)) <= 0.05+1e-9 {
			power++
		}
		if p(normal(rng, 60, 0, 1), normal(rng, 60, 0, 4)) <= 0.05+1e-9 {
			scale++
		}
	}
	// The standard deviation of hits is 16.4; 90 is more than five of them.
	if math.Abs(float64(hits)-0.1*trials) > 90 {
		t.Errorf("%d of %d tests of equal distributions have p ≤ 0.1", hits, trials)
	}
	if power < 95 || scale < 95 {
		t.Errorf("%d of 100 shifts and %d of 100 scales found", power, scale)
	}
}

func TestMMDResult(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	iris := datasets.Iris()
	r := MMD(iris.Pair("virginica", "versicolor"), iris).MustTest()
	if text := r.Markdown(); !strings.Contains(text, "100 points and 150 points of 4 features") || !strings.Contains(text, "999 permutations") {
		t.Error(text)
	}
	if _, err := r.Chart(); err != nil {
		t.Error(err)
	}
	same := MMD(datasets.Rows{{1}, {1}, {1}}, datasets.Rows{{1}, {1}}).MustTest()
	if same.P != 1 || same.MMD2 != 0 {
		t.Errorf("equal points: %+v", same)
	}
	if _, err := same.Chart(); err != nil {
		t.Error(err)
	}
	base := MMD(normal(rng, 4, 0, 1), normal(rng, 3, 0, 1))
	if got := base.Kernel(kernels.RBF(1)).Permutations(99).Seed(4).String(); got != "MMD(4 points, 3 points).Kernel(RBF(1)).Permutations(99).Seed(4)" {
		t.Error(got)
	}
	if a, b := base.Seed(1).MustTest(), base.Seed(2).MustTest(); a.MMD2 != b.MMD2 || slices.Equal(a.Permuted, b.Permuted) {
		t.Error("the seed changes the permutations and nothing else")
	}
	ctx := context.Background()
	for want, bad := range map[string]TwoSamples{
		"kernel is nil": base.Kernel(nil), "gamma": base.Kernel(kernels.RBF(-1)), "3 permutations": base.Permutations(3), "sample y has 1 point": MMD(normal(rng, 3, 0, 1), normal(rng, 1, 0, 1)), "sample x is nil": MMD(nil, iris),
		"same features": MMD(iris, normal(rng, 3, 0, 1)), "of y is NaN": MMD(iris, datasets.Rows{{1, 2, 3, 4}, {1, 2, 3, math.NaN()}}), "no samples": {}, "has 1 feature": MMD(datasets.Rows{{1, 2}, {1}}, normal(rng, 3, 0, 1)), "at most 10000": MMD(normal(rng, 6000, 0, 1), normal(rng, 6000, 0, 1)),
	} {
		r, err := bad.Test(ctx)
		var wrong *ArgumentError
		if r != nil || err == nil || !strings.Contains(err.Error(), want) || want != "gamma" && !errors.As(err, &wrong) {
			t.Errorf("%s: %v", want, err)
		}
	}
	done, stop := context.WithCancel(ctx)
	stop()
	if _, err := base.Test(done); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := (*TwoSampleTest)(nil).Witness(iris); err == nil {
		t.Error("a witness of no test")
	}
}
