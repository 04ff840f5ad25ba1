package svmnb_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
)

// problems returns how many random problems a test tries; SVMNB_PROBLEMS sets it.
func problems(usual int) int {
	if n, err := strconv.Atoi(os.Getenv("SVMNB_PROBLEMS")); err == nil {
		return n
	}
	return usual
}

// A rough fit bounds the values of an accurate one, and no label that it calls certain is
// wrong.
func TestBoundsContainTheOptimum(t *testing.T) {
	type kind struct {
		name string
		of   func(svmnb.Classifier, float64) svmnb.Classifier
	}
	kinds := []kind{
		{"soft", svmnb.Classifier.C},
		{"squared", func(c svmnb.Classifier, cost float64) svmnb.Classifier { return c.C(cost).TwoNorm() }},
		{"fixed bias", func(c svmnb.Classifier, cost float64) svmnb.Classifier {
			return c.C(cost).FixedBias(0.3).Using(solvers.GradientAscent{})
		}},
		{"augmented", func(c svmnb.Classifier, cost float64) svmnb.Classifier {
			return c.C(cost).Augment(2).Using(solvers.GradientAscent{})
		}},
		{"balanced", func(c svmnb.Classifier, cost float64) svmnb.Classifier { return c.C(cost).Balanced() }},
	}
	tols := []float64{0.3, 0.1, 1e-2, 1e-3}
	certain, all, wide := make([]int, len(tols)), make([]int, len(tols)), make([][]float64, len(tols))
	for trial := range problems(60) {
		rng := rand.New(rand.NewPCG(uint64(trial), 77))
		data := datasets.Moons(30+rng.IntN(120), 0.1+0.3*rng.Float64(), uint64(trial))
		k := []kernels.Kernel{kernels.RBF(math.Pow(10, 2*rng.Float64()-1)), kernels.Linear(), kernels.Polynomial(3, 1, 1), kernels.Laplacian(1)}[rng.IntN(4)]
		x := make([][]float64, 100)
		for i := range x {
			x[i] = []float64{4*rng.Float64() - 1.5, 3*rng.Float64() - 1}
		}
		x = append(x, data.X...)
		c := kinds[trial%len(kinds)]
		base := c.of(svmnb.Classify(data).Kernel(k), math.Pow(10, 3*rng.Float64()-1))
		truth, err := base.Tol(1e-10).Fit(t.Context())
		if err != nil && truth == nil {
			t.Fatalf("%v: %v", base, err)
		}
		exact, _ := truth.Values(datasets.Rows(x))
		tight, _, _ := truth.Bounds(datasets.Rows(x))
		for j, tol := range tols {
			fit, err := base.Tol(tol).Fit(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			lower, upper, err := fit.Bounds(datasets.Rows(x))
			if err != nil {
				t.Fatal(err)
			}
			sure, err := fit.Certain(datasets.Rows(x))
			if err != nil {
				t.Fatal(err)
			}
			values, _ := fit.Values(datasets.Rows(x))
			for i, v := range exact {
				room := v - tight[i] // the accurate fit is not exact either
				if lower[i]-room > v || upper[i]+room < v {
					t.Fatalf("%v at %v, point %d: f* = %g is outside [%g, %g]", base, tol, i, v, lower[i], upper[i])
				}
				if sure[i] && (v > 0) != (values[i] > 0) && math.Abs(v) > room {
					t.Fatalf("%v at %v, point %d: the certain label is wrong: f = %g, f* = %g", base, tol, i, values[i], v)
				}
				all[j]++
				if sure[i] {
					certain[j]++
				}
				wide[j] = append(wide[j], (upper[i]-lower[i])/2/max(math.Abs(values[i]-v), 1e-12))
			}
		}
	}
	for j, tol := range tols {
		slices.Sort(wide[j])
		t.Logf("m − M ≤ %v: %.0f %% of the labels are certain; half the width is %.0f times the error (median)", tol, 100*float64(certain[j])/float64(all[j]), wide[j][len(wide[j])/2])
	}
	if certain[3] < all[3]*9/10 {
		t.Errorf("only %d of %d labels are certain at m − M ≤ 1e-3", certain[3], all[3])
	}
}

func TestBoundsOfRegressions(t *testing.T) {
	for trial := range problems(40) {
		rng := rand.New(rand.NewPCG(uint64(trial), 78))
		data := datasets.Sinc(40+rng.IntN(60), 0.2, uint64(trial))
		base := svmnb.Regress(data).Kernel(kernels.RBF(0.1 + rng.Float64())).C(math.Pow(10, 2*rng.Float64())).Epsilon(0.1)
		if trial%3 == 1 {
			base = base.QuadraticLoss()
		}
		x := make([][]float64, 80)
		for i := range x {
			x[i] = []float64{24*rng.Float64() - 12}
		}
		truth, err := base.Tol(1e-10).Fit(t.Context())
		if err != nil && truth == nil {
			t.Fatal(err)
		}
		exact, _ := truth.Predict(datasets.Rows(x))
		tight, _, err := truth.Bounds(datasets.Rows(x))
		if err != nil {
			t.Fatal(err)
		}
		for _, tol := range []float64{0.1, 1e-2, 1e-3} {
			fit, err := base.Tol(tol).Fit(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			lower, upper, err := fit.Bounds(datasets.Rows(x))
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range exact {
				if room := v - tight[i]; lower[i]-room > v || upper[i]+room < v {
					t.Fatalf("%v at %v: f*(%v) = %g is outside [%g, %g]", base, tol, x[i], v, lower[i], upper[i])
				}
			}
		}
	}
}

func TestCertainClassesStay(t *testing.T) {
	flowers := datasets.Iris()
	for trial := range problems(12) {
		rng := rand.New(rand.NewPCG(uint64(trial), 79))
		base := svmnb.Classify(flowers).Kernel(kernels.RBF(math.Pow(10, 2*rng.Float64()-1.5))).C(math.Pow(10, 3*rng.Float64()-1))
		for name, scheme := range map[string]func(svmnb.Classifier) svmnb.MultiClassifier{"one": svmnb.Classifier.OneVsOne, "rest": svmnb.Classifier.OneVsRest} {
			truth, err := scheme(base.Tol(1e-10)).Fit(t.Context())
			if err != nil && truth == nil {
				t.Fatal(err)
			}
			want, _ := truth.Predict(flowers)
			fit, err := scheme(base.Tol(0.1)).Fit(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got, _ := fit.Predict(flowers)
			certain, err := fit.Certain(flowers)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for i, sure := range certain {
				if sure {
					n++
					if got[i] != want[i] {
						t.Errorf("%s, %v: the certain class of flower %d is wrong", name, base, i)
					}
				}
			}
			if n == 0 {
				t.Errorf("%s, %v: no class is certain", name, base)
			}
		}
	}
}

func TestBoundsRefuse(t *testing.T) {
	moons := svmnb.Classify(testkit.Moons()).Kernel(kernels.RBF(1))
	at := datasets.Rows([][]float64{{0, 0}})
	for name, fit := range map[string]*svmnb.Fit{"ν": moons.Nu(0.3).MustFit(), "one class": svmnb.OneClass(testkit.Moons()).Nu(0.1).MustFit(), "no fit": nil} {
		var bad *svmnb.ArgumentError
		if _, err := fit.Certain(at); !errors.As(err, &bad) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var bad *svmnb.ArgumentError
	if _, err := svmnb.Classify(datasets.Iris()).CrammerSinger().MustFit().Certain(datasets.Iris()); !errors.As(err, &bad) {
		t.Errorf("Crammer–Singer: %v", err)
	}
	fit := moons.MustFit()
	for name, x := range map[string][][]float64{"another d": {{1, 2, 3}}, "NaN": {{math.NaN(), 0}}} {
		if _, _, err := fit.Bounds(datasets.Rows(x)); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func ExampleFit_Certain() {
	moons := datasets.Moons(200, 0.15, 42)
	fit := svmnb.Classify(moons).Kernel(kernels.RBF(0.5)).C(10).MustFit()
	certain, err := fit.Certain(moons)
	if err != nil {
		panic(err)
	}
	n := 0
	for _, c := range certain {
		if c {
			n++
		}
	}
	fmt.Println(n, "of 200 labels cannot change any more")
	// Output: 199 of 200 labels cannot change any more
}
