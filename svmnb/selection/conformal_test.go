package selection

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
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"github.com/svmnb/svmnb/svmnb/transform"
)

// fan draws n points of a line whose noise grows with x.
func fan(rng *rand.Rand, n int) *datasets.Dataset {
	var x [][]float64
	var y []float64
	for range n {
		v := rng.Float64()
		x, y = append(x, []float64{v}), append(y, v+(0.1+v)*rng.NormFloat64())
	}
	d := datasets.New(x, y)
	d.Name = "fan"
	return d
}

// clouds draws n points of three classes, of which the last is rare.
func clouds(rng *rand.Rand, n int) *datasets.Dataset {
	d := &datasets.Dataset{Name: "clouds", Classes: []string{"a", "b", "c"}}
	for i := range n {
		k := rng.IntN(20) / 9
		if i < 6 {
			k = i / 2
		}
		d.X, d.Y = append(d.X, []float64{1.2*float64(k) + rng.NormFloat64(), rng.NormFloat64()}), append(d.Y, float64(k))
	}
	return d
}

// consistent fails if hits of trials are too few for a probability of at least low, or too many
// for one of at most high: the tail of the binomial distribution would be below 10⁻⁷.
func consistent(t *testing.T, what string, hits, trials int, low, high float64) {
	t.Helper()
	if hits < trials && 1-upperTail(trials, hits+1, low) < 1e-7 || hits > 0 && high < 1 && upperTail(trials, hits, high) < 1e-7 {
		t.Errorf("%s: %d of %d, for a probability from %.4g to %.4g", what, hits, trials, low, high)
	}
}

// The probability of an interval is exactly k/(n + 1), over the draws of the points held out and
// of the new one.
func TestConformalIntervalsHaveTheirProbability(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	fit := testkit.FitOf(t, svmnb.Regress(fan(rng, 40)).Kernel(kernels.Linear()))
	low := testkit.FitOf(t, svmnb.Regress(fan(rng, 40)).Kernel(kernels.Linear()).Quantile(0.2))
	high := testkit.FitOf(t, svmnb.Regress(fan(rng, 40)).Kernel(kernels.Linear()).Quantile(0.7))
	for _, c := range []struct {
		n     int
		share float64
		k     int
	}{{9, 0.9, 9}, {30, 0.5, 16}, {19, 0.73, 15}} {
		hits, between := 0, 0
		const trials = 3000
		for range trials {
			held, new := fan(rng, c.n), fan(rng, 1)
			split, err := Conformalise(fit, held)
			if err != nil {
				t.Fatal(err)
			}
			quantiles, err := ConformaliseBetween(low, high, held)
			if err != nil {
				t.Fatal(err)
			}
			for of, count := range map[*Conformal]*int{split: &hits, quantiles: &between} {
				l, h, err := of.Intervals(new, c.share)
				if err != nil {
					t.Fatal(err)
				}
				if l[0] <= new.Y[0] && new.Y[0] <= h[0] {
					*count++
				}
			}
		}
		p := float64(c.k) / float64(c.n+1)
		consistent(t, fmt.Sprintf("n = %d, %g", c.n, c.share), hits, trials, p, p)
		consistent(t, fmt.Sprintf("quantiles, n = %d, %g", c.n, c.share), between, trials, p, 1) // an interval that was empty may gain
	}
}

// Intervals of folds have at least the probability that is proved for them, and are those of the
// paper's formula.
func TestConformalFolds(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	for name, folds := range map[string]Folds{"CV+": KFold(5, 1), "jackknife+": LeaveOneOutFolds()} {
		hits := 0
		const trials = 400
		for trial := range trials {
			data, new := fan(rng, 20), fan(rng, 1)
			learner := svmnb.Regress(data).Kernel(kernels.Linear()).Ridge(0.1)
			c, err := ConformaliseFolds(context.Background(), learner, folds)
			if err != nil {
				t.Fatal(err)
			}
			l, h, err := c.Intervals(new, 0.9)
			if err != nil {
				t.Fatal(err)
			}
			if l[0] <= new.Y[0] && new.Y[0] <= h[0] {
				hits++
			}
			if trial > 2 {
				continue
			}
			// ⌊α(n + 1)⌋-th smallest of f₋ᵢ − Rᵢ and ⌈(1 − α)(n + 1)⌉-th smallest of f₋ᵢ + Rᵢ.
			splits, _ := folds.Splits(data)
			var lower, upper []float64
			for _, s := range splits {
				f := testkit.FitOf(t, svmnb.Regress(data.Select(s.Train)).Kernel(kernels.Linear()).Ridge(0.1))
				at, _ := f.Predict(new)
				out, _ := f.Predict(data.Select(s.Test))
				for j, i := range s.Test {
					r := math.Abs(data.Y[i] - out[j])
					lower, upper = append(lower, at[0]-r), append(upper, at[0]+r)
				}
			}
			slices.Sort(lower)
			slices.Sort(upper)
			if math.Abs(l[0]-lower[1]) > 1e-9 || math.Abs(h[0]-upper[18]) > 1e-9 {
				t.Errorf("%s: [%g, %g], want [%g, %g]", name, l[0], h[0], lower[1], upper[18])
			}
		}
		consistent(t, name, hits, trials, 0.8, 1)
	}
}

// Sets contain the true class, for every class by ByClass.
func TestConformalSets(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	train := clouds(rng, 80)
	scored := testkit.FitOf(t, svmnb.Classify(train).OneVsRest())
	probable, err := scored.Calibrate(context.Background(), svmnb.Platt{Folds: 3, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	two := testkit.FitOf(t, svmnb.Classify(train.Pair("a", "b")))
	const trials = 1500
	for name, of := range map[string]func() (*Conformal, *datasets.Dataset){
		"scores": func() (*Conformal, *datasets.Dataset) {
			c, err := Conformalise(scored, clouds(rng, 50))
			if err != nil {
				t.Fatal(err)
			}
			return c, clouds(rng, 7)
		},
		"probabilities": func() (*Conformal, *datasets.Dataset) {
			c, err := Conformalise(probable, clouds(rng, 50))
			if err != nil {
				t.Fatal(err)
			}
			return c, clouds(rng, 7)
		},
		"two classes": func() (*Conformal, *datasets.Dataset) {
			c, err := Conformalise(two, clouds(rng, 50).Pair("a", "b"))
			if err != nil {
				t.Fatal(err)
			}
			return c, clouds(rng, 7).Pair("a", "b")
		},
	} {
		hits, rare, tests := 0, 0, 0
		for range trials {
			c, new := of()
			n := new.N()
			sets, err := c.Sets(new, 0.75)
			if err != nil {
				t.Fatal(err)
			}
			// The last point is drawn like the ones held out from the seventh on; the first six
			// make sure that no class is missing.
			if slices.Contains(sets[n-1], new.ClassName(new.Y[n-1])) {
				hits++
			}
			if name == "two classes" {
				continue
			}
			rarest := slices.Index(new.Y, 2)
			sets, err = c.ByClass().Sets(new, 0.6)
			if err != nil {
				t.Fatal(err)
			}
			tests++
			if slices.Contains(sets[rarest], "c") {
				rare++
			}
		}
		consistent(t, name, hits, trials, 0.7, 1)
		if tests > 0 {
			consistent(t, name+", of the rare class", rare, tests, 0.6, 1)
		}
	}
	c, err := ConformaliseFolds(context.Background(), svmnb.Classify(train).OneVsRest(), StratifiedKFold(4, 1))
	if err != nil {
		t.Fatal(err)
	}
	test := clouds(rng, 300)
	sets, err := c.Sets(test, 0.9)
	if err != nil {
		t.Fatal(err)
	}
	inside := 0
	for i, s := range sets {
		if slices.Contains(s, test.ClassName(test.Y[i])) {
			inside++
		}
	}
	consistent(t, "folds of classes", inside, 300, 0.8, 1)
}

// A larger share has larger intervals, which contain the smaller ones.
func TestConformalIsNested(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	c := MustConformalise(testkit.FitOf(t, svmnb.Regress(fan(rng, 30))), fan(rng, 99))
	x := fan(rng, 20)
	var l0, h0 []float64
	for _, share := range []float64{0.1, 0.5, 0.9, 0.99} {
		l, h, err := c.Intervals(x, share)
		if err != nil {
			t.Fatal(err)
		}
		for i := range l {
			if l0 != nil && (l[i] > l0[i] || h[i] < h0[i]) {
				t.Errorf("%g: [%g, %g] in place of [%g, %g]", share, l[i], h[i], l0[i], h0[i])
			}
		}
		l0, h0 = l, h
	}
}

func TestConformalEvaluation(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	c := MustConformaliseFolds(svmnb.Regress(fan(rng, 60)), KFold(6, 1))
	e, err := c.Evaluate(fan(rng, 200))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.IsSorted(e.Covered) || !slices.IsSorted(e.Sizes) || e.Points != 200 || len(e.Shares) != 6 { // 60 points cannot have 99 %
		t.Errorf("%+v", e)
	}
	split := MustConformalise(testkit.FitOf(t, svmnb.Classify(clouds(rng, 60)).OneVsOne()), clouds(rng, 200))
	e, err = split.Evaluate(clouds(rng, 150))
	if err != nil {
		t.Fatal(err)
	}
	if text := e.Markdown(); !strings.Contains(text, "classes; expected") || !strings.Contains(text, "200 points held out") {
		t.Error(text)
	}
	chart, err := e.Chart()
	if err != nil || chart == nil {
		t.Fatal(err)
	}
	if got := len(split.Scores()); got != 200 {
		t.Errorf("%d scores", got)
	}
	// Beta(n, 1) has the quantiles q^(1/n), and Beta(1, n) 1 − (1 − q)^(1/n).
	for _, n := range []int{1, 7, 300} {
		if got, want := betaQuantile(n, n, 0.3), math.Pow(0.3, 1/float64(n)); math.Abs(got-want) > 1e-9 {
			t.Errorf("n = %d: %g, want %g", n, got, want)
		}
		if got, want := betaQuantile(1, n, 0.3), 1-math.Pow(0.7, 1/float64(n)); math.Abs(got-want) > 1e-9 {
			t.Errorf("n = %d: %g, want %g", n, got, want)
		}
	}
}

func TestConformalErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	ctx := context.Background()
	fit, classes := testkit.FitOf(t, svmnb.Regress(fan(rng, 30))), testkit.FitOf(t, svmnb.Classify(clouds(rng, 60)).OneVsOne())
	c, sets := MustConformalise(fit, fan(rng, 30)), MustConformalise(classes, clouds(rng, 60))
	other := clouds(rng, 20)
	other.Classes = []string{"a", "b", "z"}
	first := func(_ any, err error) error { return err }
	second := func(_, _ any, err error) error { return err }
	for name, bad := range map[string]struct {
		err  error
		want string
	}{
		"no fit":             {first(Conformalise((*svmnb.RegressionFit)(nil), fan(rng, 5))), "fit"},
		"classes between":    {first(ConformaliseBetween(classes, classes, fan(rng, 5))), "quantiles"},
		"no fit between":     {first(ConformaliseBetween(fit, (*svmnb.RegressionFit)(nil), fan(rng, 5))), "fit"},
		"unknown class":      {first(Conformalise(classes, other)), `"z"`},
		"share 1":            {second(c.Intervals(fan(rng, 2), 1)), "between 0 and 1"},
		"share 0":            {second(c.Intervals(fan(rng, 2), 0)), "between 0 and 1"},
		"share NaN":          {second(c.Intervals(fan(rng, 2), math.NaN())), "between 0 and 1"},
		"too few":            {second(c.Intervals(fan(rng, 2), 0.99)), "it takes 99"},
		"sets of values":     {first(c.Sets(fan(rng, 2), 0.9)), "Intervals"},
		"values of sets":     {second(sets.Intervals(clouds(rng, 9), 0.9)), "Sets"},
		"too few of a class": {first(MustConformalise(classes, clouds(rng, 12)).ByClass().Sets(clouds(rng, 9), 0.95)), "of a held out are too few"},
		"zero value":         {second((&Conformal{}).Intervals(fan(rng, 2), 0.9)), "fit"},
		"nil sets":           {first((*Conformal)(nil).Sets(fan(rng, 2), 0.9)), "fit"},
		"nil learner":        {first(ConformaliseFolds(ctx, nil, KFold(3, 1))), "nil"},
		"repeated folds":     {first(ConformaliseFolds(ctx, svmnb.Regress(fan(rng, 9)), Deal{K: 3, Times: 2})), "held out 2 times"},
		"no folds":           {first(ConformaliseFolds(ctx, svmnb.Regress(fan(rng, 9)), nil)), "nil"},
		"bad learner":        {first(ConformaliseFolds(ctx, svmnb.Regress(fan(rng, 9)).C(-1), KFold(3, 1))), "C"},
	} {
		var wrong *svmnb.ArgumentError
		if !errors.As(bad.err, &wrong) || !strings.Contains(bad.err.Error(), bad.want) {
			t.Errorf("%s: %v", name, bad.err)
		}
	}
	scaled := fan(rng, 60).Standardised()
	train, held := scaled.Split(0.5, 1)
	if c, err := Conformalise(testkit.FitOf(t, svmnb.Regress(train)), held); err != nil {
		t.Error(err)
	} else if _, _, err := c.Intervals(held, 0.9); err != nil {
		t.Error(err)
	}
	if _, err := Conformalise(testkit.FitOf(t, svmnb.Regress(train)), fan(rng, 30)); err == nil || !strings.Contains(err.Error(), "scaled") {
		t.Errorf("points that were not scaled: %v", err)
	}
	if _, err := Conformalise(fit, held); err == nil || !strings.Contains(err.Error(), "scaled") {
		t.Errorf("points that were scaled: %v", err)
	}
	if _, err := ConformaliseFolds(ctx, svmnb.Regress(scaled), KFold(3, 1)); err != nil {
		t.Error(err)
	}
	if c, err := Conformalise(Pipe(transform.Standardise(), svmnb.Regress(fan(rng, 30))).MustFit(), fan(rng, 30)); err != nil {
		t.Error(err)
	} else if _, err := c.Evaluate(fan(rng, 9)); err != nil {
		t.Error(err)
	}
	if _, err := Conformalise(fit, nil); err == nil {
		t.Error("no data, no error")
	}
	done, stop := context.WithCancel(ctx)
	stop()
	if _, err := ConformaliseFolds(done, svmnb.Regress(fan(rng, 9)), KFold(3, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
