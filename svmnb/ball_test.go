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

// tally counts, for each tolerance, how many labels are certain, and how wide bounds are.
type tally struct {
	tols         []float64
	certain, all []int
	wide         [][]float64 // half the width of the bounds, divided by the error of f
}

func newTally(tols ...float64) *tally {
	return &tally{tols, make([]int, len(tols)), make([]int, len(tols)), make([][]float64, len(tols))}
}

func (c *tally) add(j int, lower, upper, values, exact []float64, sure []bool) {
	for i, v := range exact {
		c.all[j]++
		if sure != nil && sure[i] {
			c.certain[j]++
		}
		if half := (upper[i] - lower[i]) / 2; !math.IsInf(half, 1) {
			c.wide[j] = append(c.wide[j], half/max(math.Abs(values[i]-v), 1e-12))
		}
	}
}

func (c *tally) log(t *testing.T, name string) {
	for j, tol := range c.tols {
		if c.all[j] == 0 {
			continue
		}
		slices.Sort(c.wide[j])
		share := ""
		if c.certain[j] > 0 { // a regression has no labels
			share = fmt.Sprintf("%.1f %% of the labels are certain, ", 100*float64(c.certain[j])/float64(c.all[j]))
		}
		t.Logf("%s, m − M ≤ %v, %d points: %shalf the width is %.0f times the error (median)", name, tol, c.all[j], share, c.wide[j][len(c.wide[j])/2])
	}
}

// accuracy tells of the solutions against which bounds are checked.
type accuracy struct {
	gaps       []float64 // relative
	unfinished int
}

func (a *accuracy) add(fit solvers.Result) {
	a.gaps = append(a.gaps, fit.Certificate.RelGap)
	if fit.Status != solvers.Converged {
		a.unfinished++
	}
}

func (a *accuracy) log(t *testing.T) {
	slices.Sort(a.gaps)
	n := len(a.gaps)
	t.Logf("%d accurate solutions, of which %d have not reached their tolerance; relative gap: median %.1g, 99 %% below %.1g, largest %.1g", n, a.unfinished, a.gaps[n/2], a.gaps[n*99/100], a.gaps[n-1])
}

// A rough fit bounds the values of an accurate one, and no label that it calls certain is
// wrong.
func TestBoundsContainTheOptimum(t *testing.T) {
	kinds := []struct {
		name string
		of   func(data *datasets.Dataset, k kernels.Kernel, cost float64) svmnb.Classifier
	}{
		{"1-norm", func(data *datasets.Dataset, k kernels.Kernel, cost float64) svmnb.Classifier {
			return svmnb.Classify(data).Kernel(k).C(cost)
		}},
		{"2-norm", func(data *datasets.Dataset, k kernels.Kernel, cost float64) svmnb.Classifier {
			return svmnb.Classify(data).Kernel(k).C(cost).TwoNorm()
		}},
		{"fixed bias", func(data *datasets.Dataset, k kernels.Kernel, cost float64) svmnb.Classifier {
			return svmnb.Classify(data).Kernel(k).C(cost).FixedBias(0.3).Using(solvers.GradientAscent{})
		}},
		{"augmented", func(data *datasets.Dataset, k kernels.Kernel, cost float64) svmnb.Classifier {
			return svmnb.Classify(data).Kernel(k).C(cost).Augment(2).Using(solvers.GradientAscent{})
		}},
		{"balanced", func(data *datasets.Dataset, k kernels.Kernel, cost float64) svmnb.Classifier {
			return svmnb.Classify(data).Kernel(k).C(cost).Balanced()
		}},
		{"hard", func(data *datasets.Dataset, _ kernels.Kernel, cost float64) svmnb.Classifier {
			return svmnb.Classify(data).Kernel(kernels.Laplacian(math.Sqrt(cost))).HardMargin()
		}},
		{"ν-SVC", func(data *datasets.Dataset, k kernels.Kernel, cost float64) svmnb.Classifier {
			return svmnb.Classify(data).Kernel(k).Nu(0.9 / (1 + math.Sqrt(cost)))
		}},
		{"one class", func(data *datasets.Dataset, k kernels.Kernel, cost float64) svmnb.Classifier {
			return svmnb.OneClass(data).Kernel(k).Nu(0.9 / (1 + math.Sqrt(cost)))
		}},
	}
	together := newTally(0.3, 0.1, 1e-2, 1e-3)
	single := make([]*tally, len(kinds))
	for k := range single {
		single[k] = newTally(together.tols...)
	}
	var accurate accuracy
	for trial := range problems(32) {
		rng := rand.New(rand.NewPCG(uint64(trial), 77))
		data := datasets.Moons(30+rng.IntN(120), 0.1+0.3*rng.Float64(), uint64(trial))
		k := []kernels.Kernel{kernels.RBF(math.Pow(10, 2*rng.Float64()-1)), kernels.Linear(), kernels.Polynomial(3, 1, 1), kernels.Laplacian(1)}[rng.IntN(4)]
		x := make([][]float64, 100)
		for i := range x {
			x[i] = []float64{4*rng.Float64() - 1.5, 3*rng.Float64() - 1}
		}
		x = append(x, data.X...)
		at := datasets.Rows(x)
		base := kinds[trial%len(kinds)].of(data, k, math.Pow(10, 3*rng.Float64()-1))
		truth, err := base.Tol(1e-12).Fit(t.Context())
		if err != nil && truth == nil {
			t.Fatalf("%v: %v", base, err)
		}
		accurate.add(truth.Result)
		exact, _ := truth.Values(at)
		right, _ := truth.Predict(at)
		tight, _, err := truth.Bounds(at)
		if err != nil {
			t.Fatal(err)
		}
		for j, tol := range together.tols {
			fit, err := base.Tol(tol).Fit(t.Context())
			if err != nil && fit == nil {
				t.Fatal(err)
			}
			lower, upper, err := fit.Bounds(at)
			if err != nil {
				t.Fatal(err)
			}
			sure, err := fit.Certain(at)
			if err != nil {
				t.Fatal(err)
			}
			values, _ := fit.Values(at)
			labels, _ := fit.Predict(at)
			for i, v := range exact {
				room := v - tight[i] // the accurate fit is not exact either
				if lower[i]-room > v || upper[i]+room < v {
					t.Fatalf("%v at %v, point %d: f* = %g is outside [%g, %g]", base, tol, i, v, lower[i], upper[i])
				}
				if sure[i] && labels[i] != right[i] && math.Abs(v) > room {
					t.Fatalf("%v at %v, point %d: the certain label is wrong: f = %g, f* = %g", base, tol, i, values[i], v)
				}
			}
			together.add(j, lower, upper, values, exact, sure)
			single[trial%len(kinds)].add(j, lower, upper, values, exact, sure)
		}
	}
	for k, kind := range kinds {
		single[k].log(t, kind.name)
	}
	together.log(t, "all")
	accurate.log(t)
	if soft, last := single[0], len(together.tols)-1; soft.certain[last] < soft.all[last]*9/10 {
		t.Errorf("only %d of %d labels of the 1-norm are certain at m − M ≤ 1e-3", soft.certain[last], soft.all[last])
	}
}

func TestBoundsOfRegressions(t *testing.T) {
	names := []string{"ε-SVR", "quadratic loss", "ν-SVR"}
	counts := []*tally{newTally(0.1, 1e-2, 1e-3), newTally(0.1, 1e-2, 1e-3), newTally(0.1, 1e-2, 1e-3)}
	var accurate accuracy
	for trial := range problems(18) {
		rng := rand.New(rand.NewPCG(uint64(trial), 78))
		data := datasets.Sinc(40+rng.IntN(60), 0.2, uint64(trial))
		base := svmnb.Regress(data).Kernel(kernels.RBF(0.1 + rng.Float64())).C(math.Pow(10, 2*rng.Float64())).Epsilon(0.1)
		kind := trial % len(names)
		switch kind {
		case 1:
			base = base.QuadraticLoss()
		case 2:
			base = base.Nu(0.1 + 0.8*rng.Float64())
		}
		x := make([][]float64, 80)
		for i := range x {
			x[i] = []float64{24*rng.Float64() - 12}
		}
		truth, err := base.Tol(1e-12).Fit(t.Context())
		if err != nil && truth == nil {
			t.Fatal(err)
		}
		accurate.add(truth.Result)
		exact, _ := truth.Predict(datasets.Rows(x))
		tight, _, err := truth.Bounds(datasets.Rows(x))
		if err != nil {
			t.Fatal(err)
		}
		for j, tol := range counts[kind].tols {
			fit, err := base.Tol(tol).Fit(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			lower, upper, err := fit.Bounds(datasets.Rows(x))
			if err != nil {
				t.Fatal(err)
			}
			values, _ := fit.Predict(datasets.Rows(x))
			counts[kind].add(j, lower, upper, values, exact, nil)
			for i, v := range exact {
				if room := v - tight[i]; lower[i]-room > v || upper[i]+room < v {
					t.Fatalf("%v at %v: f*(%v) = %g is outside [%g, %g]", base, tol, x[i], v, lower[i], upper[i])
				}
			}
		}
	}
	for k, name := range names {
		counts[k].log(t, name)
	}
	accurate.log(t)
}

func TestCertainClassesStay(t *testing.T) {
	flowers := datasets.Iris()
	shares := map[string][2]int{}
	for trial := range problems(6) {
		rng := rand.New(rand.NewPCG(uint64(trial), 79))
		base := svmnb.Classify(flowers).Kernel(kernels.RBF(math.Pow(10, 2*rng.Float64()-1.5))).C(math.Pow(10, 3*rng.Float64()-1))
		for name, scheme := range map[string]func(svmnb.Classifier) svmnb.MultiClassifier{"one": svmnb.Classifier.OneVsOne, "rest": svmnb.Classifier.OneVsRest, "jointly": svmnb.Classifier.CrammerSinger} {
			truth, err := scheme(base.Tol(1e-12)).Fit(t.Context())
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
			shares[name] = [2]int{shares[name][0] + n, shares[name][1] + len(certain)}
		}
	}
	for name, s := range shares {
		t.Logf("%s: %.1f %% of %d classes are certain at m − M ≤ 0.1", name, 100*float64(s[0])/float64(s[1]), s[1])
		if 5*s[0] < s[1] {
			t.Errorf("%s: only %d of %d classes are certain", name, s[0], s[1])
		}
	}
}

func TestBoundsRefuse(t *testing.T) {
	moons := svmnb.Classify(testkit.Moons()).Kernel(kernels.RBF(1))
	at := datasets.Rows([][]float64{{0, 0}})
	var bad *svmnb.ArgumentError
	if _, err := (*svmnb.Fit)(nil).Certain(at); !errors.As(err, &bad) {
		t.Errorf("no fit: %v", err)
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
