package svmnb

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/calibrate"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"github.com/svmnb/svmnb/svmnb/metrics"
)

func mustProbabilities(t testing.TB, c *Calibrated, x [][]float64) [][]float64 {
	t.Helper()
	p, err := c.Probabilities(datasets.Rows(x))
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range p {
		sum := 0.0
		for _, v := range row {
			sum += v
			if !(v >= 0 && v <= 1) {
				t.Fatalf("row %d: %v", i, row)
			}
		}
		if len(row) != len(c.Classes()) || math.Abs(sum-1) > 1e-9 {
			t.Fatalf("row %d: %v sums to %v", i, row, sum)
		}
	}
	return p
}

// Of every scheme and calibration the probabilities are some, agree with the fit
// where it is sure, and are better on new points than the shares of the classes.
func TestCalibrate(t *testing.T) {
	ctx := context.Background()
	train, test := datasets.Wine().Standardised().Split(0.7, 3)
	base := Classify(train)
	shares := make([][]float64, test.N())
	for i := range shares {
		for _, c := range train.Counts() {
			shares[i] = append(shares[i], float64(c.N)/float64(train.N()))
		}
	}
	for _, m := range []MultiClassifier{base.OneVsOne(), base.OneVsRest(), base.CrammerSinger()} {
		fit := testkit.FitOf(t, m)
		for _, how := range []Calibration{Platt{Seed: 1}, Isotonic{Folds: 4, Seed: 1}} {
			c, err := fit.Calibrate(ctx, how)
			if err != nil {
				t.Fatal(err)
			}
			mustProbabilities(t, c, test.X)
			e, err := c.Evaluate(test)
			if err != nil {
				t.Fatal(err)
			}
			brier, _ := metrics.Brier(e.Truth, e.Probabilities)
			chance, _ := metrics.Brier(e.Truth, shares)
			if a := e.Confusion().Accuracy(); brier > chance/4 || a < 0.9 {
				t.Errorf("%v, %v: Brier %v against %v, accuracy %v", m, how, brier, chance, a)
			}
			if h := c.HeldOut(); len(h.Truth) != train.N() || len(h.Probabilities) != train.N() {
				t.Errorf("%d points held out of %d", len(h.Truth), train.N())
			}
			if _, platt := how.(Platt); platt != (len(c.Sigmoids()) == len(c.duels)) {
				t.Errorf("%v has %d sigmoids", how, len(c.Sigmoids()))
			}
			again, err := fit.Calibrate(ctx, how)
			if err != nil || !slices.Equal(mustProbabilities(t, again, test.X)[0], mustProbabilities(t, c, test.X)[0]) {
				t.Errorf("%v: the same seed, other probabilities (%v)", how, err)
			}
			names, _ := c.Predict(datasets.Rows(test.X))
			for i, p := range mustProbabilities(t, c, test.X) {
				if names[i] != c.Classes()[slices.Index(p, slices.Max(p))] {
					t.Fatalf("%s is not the most probable of %v", names[i], p)
				}
			}
		}
	}
}

// For two classes P(positive) is the sigmoid of f, whose A and B are those of the
// scores held out, here by hand; and two classes by OneVsOne are the same.
func TestCalibrateTwoClasses(t *testing.T) {
	data := datasets.BreastCancer().Standardised()
	base := Classify(data)
	fit := testkit.FitOf(t, base)
	c, err := fit.Calibrate(context.Background(), Platt{Folds: 3, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	class := make([]int, data.N())
	for i, y := range fit.task.y {
		class[i] = machines.SideOf(y)
	}
	fold, err := deal("Calibrate", c.classes, class, c.folds, 7)
	if err != nil {
		t.Fatal(err)
	}
	f, positive := make([]float64, data.N()), make([]bool, data.N())
	for k := range 3 {
		var in []int
		for i, v := range fold {
			if v != k {
				in = append(in, i)
			}
		}
		one := testkit.FitOf(t, Classify(data.Select(in)).Kernel(fit.task.kernel))
		for i, v := range fold {
			if v == k {
				value, _ := one.Values(datasets.Rows(data.X[i : i+1]))
				f[i], positive[i] = value[0], class[i] == 1
			}
		}
	}
	want, _ := calibrate.Platt(f, positive)
	if got := c.Sigmoids(); len(got) != 1 || math.Abs(got[0].A-want.A) > 1e-12 || math.Abs(got[0].B-want.B) > 1e-12 || !(want.A < 0) {
		t.Errorf("%+v, want %+v", got, want)
	}
	values, _ := fit.Values(datasets.Rows(data.X))
	for i, p := range mustProbabilities(t, c, data.X) {
		testkit.Near(t, "P(positive)", p[1], want.At(values[i]), 1e-15)
	}
	pair, err := testkit.FitOf(t, base.OneVsOne()).Calibrate(context.Background(), Platt{Folds: 3, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range mustProbabilities(t, pair, data.X) {
		testkit.Near(t, "P by the pair", p[1], want.At(values[i]), 1e-2)
	}
	if r, err := c.HeldOut().ROC(); err != nil || r.AUC < 0.98 {
		t.Errorf("%+v, %v", r, err)
	}
}

// Folds are stratified, and every point is held out once.
func TestFolds(t *testing.T) {
	c := &Calibrated{folds: 4, classes: []string{"a", "b", "c"}}
	class := []int{0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 2}
	fold, err := deal("Calibrate", c.classes, class, c.folds, 3)
	if err != nil {
		t.Fatal(err)
	}
	count := map[[2]int]int{}
	size := make([]int, 4)
	for i, f := range fold {
		count[[2]int{class[i], f}]++
		size[f]++
	}
	for k, n := range []int{9, 2, 5} {
		for f := range 4 {
			if got := count[[2]int{k, f}]; got != n/4 && got != n/4+1 {
				t.Errorf("class %d has %d of %d points in fold %d", k, got, n, f)
			}
		}
	}
	if slices.Max(size)-slices.Min(size) > 1 {
		t.Errorf("folds of %v", size)
	}
	if other, _ := deal("Calibrate", c.classes, class, c.folds, 4); slices.Equal(other, fold) {
		t.Error("another seed deals the same folds")
	}
}

// Weights of points go along with them, also of a fit that is separable.
func TestCalibrateKeepsTheDescription(t *testing.T) {
	data := datasets.Iris().Pair("setosa", "virginica")
	w := slices.Repeat([]float64{1}, data.N())
	w[0], w[99] = 5, 0.1
	fit := testkit.FitOf(t, Classify(data).Kernel(kernels.Linear()).SampleWeights(w).ClassWeight("setosa", 2))
	c, err := fit.Calibrate(context.Background(), Platt{})
	if err != nil {
		t.Fatal(err)
	}
	p := mustProbabilities(t, c, data.X)
	for i, row := range p {
		if want := fit.task.y[i] > 0; (row[1] > 0.5) != want {
			t.Errorf("point %d: %v", i, row)
		}
	}
	if on := fit.Description.on([]int{99, 0}); !slices.Equal(on.weights.sample, []float64{0.1, 5}) || on.data.N() != 2 {
		t.Errorf("%v", on.weights.sample)
	}
}

func TestCalibrateErrors(t *testing.T) {
	ctx, stop := context.WithCancelCause(context.Background())
	iris := datasets.Iris()
	fit, pair := testkit.FitOf(t, Classify(iris).OneVsOne()), testkit.FitOf(t, Classify(iris.Pair("setosa", "virginica")))
	few := testkit.FitOf(t, Classify(iris.Select([]int{0, 1, 50, 51, 100})).OneVsOne())
	err := func(_ *Calibrated, err error) error { return err }
	for _, test := range []struct {
		err   error
		words string
	}{
		{err(fit.Calibrate(ctx, nil)), "svmnb.Platt{}"},
		{err(pair.Calibrate(ctx, Platt{Folds: 1})), "at least 2"},
		{err(pair.Calibrate(ctx, Isotonic{Folds: -3})), "at least 2"},
		{err(few.Calibrate(ctx, Platt{})), "class virginica has 1 point"},
		{err(testkit.FitOf(t, OneClass(iris)).Calibrate(ctx, Platt{})), "one class"},
	} {
		var a *ArgumentError
		if !errors.As(test.err, &a) || !strings.Contains(test.err.Error(), test.words) {
			t.Errorf("%v, want an *ArgumentError with %q", test.err, test.words)
		}
	}
	c, e := pair.Calibrate(ctx, Platt{})
	if e != nil {
		t.Fatal(e)
	}
	var a *ArgumentError
	if _, e := c.Probabilities(datasets.Rows{{1, 2, 3, math.NaN()}}); !errors.As(e, &a) || a.Column != 3 {
		t.Errorf("NaN: %v", e)
	}
	if _, e := c.Evaluate(iris); !errors.As(e, &a) || a.Row != 50 {
		t.Errorf("unknown class: %v", e)
	}
	why := errors.New("enough")
	stop(why)
	if c, e := fit.Calibrate(ctx, Platt{}); c != nil || !errors.Is(e, why) {
		t.Errorf("stopped: %v, %v", c, e)
	}
}

func TestEvaluate(t *testing.T) {
	train, test := datasets.Iris().Split(0.6, 1)
	fit := testkit.FitOf(t, Classify(train).OneVsOne())
	e, err := fit.Evaluate(test)
	if err != nil {
		t.Fatal(err)
	}
	accuracy, _ := fit.Accuracy(test)
	names, _ := fit.Predict(datasets.Rows(test.X))
	for i, name := range names {
		if e.Classes[e.Predicted[i]] != name || e.Classes[e.Truth[i]] != test.ClassName(test.Y[i]) {
			t.Fatalf("point %d: %v", i, e)
		}
	}
	if e.Confusion().Accuracy() != accuracy || e.Confusion().N() != test.N() {
		t.Errorf("%v", e.Confusion())
	}
	var a *ArgumentError
	if _, err := e.ROC(); !errors.As(err, &a) {
		t.Errorf("ROC of three classes: %v", err)
	}
	pair := testkit.FitOf(t, Classify(train.Pair("virginica", "versicolor")))
	e, err = pair.Evaluate(test.Pair("virginica", "versicolor"))
	if err != nil {
		t.Fatal(err)
	}
	if accuracy, _ = pair.Accuracy(test.Pair("virginica", "versicolor")); e.Confusion().Accuracy() != accuracy {
		t.Errorf("%v, want %v", e.Confusion().Accuracy(), accuracy)
	}
	if text := e.Markdown(); !strings.Contains(text, "area under the ROC") || !strings.Contains(text, "[") || strings.Contains(text, "Brier") {
		t.Error(text)
	}
}

// Each figure of an evaluation draws what it is for, and says why it draws nothing.
func TestEvaluationFigures(t *testing.T) {
	ctx := context.Background()
	iris := datasets.Iris()
	flat := iris.Columns(2, 3)
	multi, pair := testkit.FitOf(t, Classify(flat).OneVsOne()), testkit.FitOf(t, Classify(iris.Pair("virginica", "versicolor")))
	c, err := multi.Calibrate(ctx, Platt{})
	if err != nil {
		t.Fatal(err)
	}
	two, err := pair.Calibrate(ctx, Isotonic{})
	if err != nil {
		t.Fatal(err)
	}
	rest, joint := testkit.FitOf(t, Classify(flat).OneVsRest()), testkit.FitOf(t, Classify(flat).CrammerSinger())
	for _, test := range []struct {
		figure display.Figure
		of     any
		words  string // of the title, or of the error
	}{
		{Confusion, multi, "of 150 points right"}, {Confusion, pair, "of 100 points right"}, {Confusion, c, "of 150 points right"}, {Confusion, c.HeldOut(), "taken for"},
		{ROC, pair, "scores higher"}, {ROC, two, "scores higher"}, {ROC, multi, "there are 3 classes"},
		{PrecisionRecall, pair, "Precision averages"}, {PrecisionRecall, two, "Precision averages"}, {PrecisionRecall, multi, "there are 3 classes"},
		{Gain, pair, "have 40 % of class virginica"}, {Gain, two, "of class virginica"}, {Gain, multi, "there are 3 classes"}, {Lift, pair, "Class virginica is 2 times as frequent"}, {Lift, multi, "there are 3 classes"},
		{Reliability, c, "Predicted and observed"}, {Reliability, two, "Predicted and observed"}, {Reliability, pair, "Calibrate"},
		{Regions, multi, "3 classes: "}, {Regions, rest, "3 classes: "}, {Regions, joint, "3 classes: "},
		{Regions, testkit.FitOf(t, Classify(iris).OneVsOne()), "4 features"}, {Regions, pair, "no picture"}, {Gap, joint.Joint(), "closed"}, {Rate, joint.Joint(), "per epoch"}, {KKT, joint.Joint(), "look at Gap"}, {Gap, multi.Joint(), "empty"}, {Margins, multi, "no picture"},
	} {
		chart, err := test.figure.Of(test.of)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = chart.Title.Title
		}
		if !strings.Contains(got, test.words) {
			t.Errorf("%v of %T: %q, want %q in it", test.figure, test.of, got, test.words)
		}
	}
	for _, m := range []interface{ Markdown() string }{multi, rest, joint, c, two, c.HeldOut()} {
		if text := m.Markdown(); !strings.Contains(text, "iris") || strings.Contains(text, "NaN") {
			t.Errorf("%T: %s", m, text)
		}
	}
	// The regions are those of the predictions: the lead is positive for one class.
	for _, f := range []*MultiFit{multi, rest, joint} {
		for _, v := range f.training() {
			positive := 0
			for _, l := range f.leads(v) {
				if l > 0 {
					positive++
				}
			}
			if l := f.leads(v); positive != 1 || l[f.winner(v)] <= 0 {
				t.Fatalf("%v: leads %v of %v", f.Description, l, v)
			}
		}
	}
	if multi.Status() != solvers.Converged || len(multi.Hints()) > 2 {
		t.Errorf("%v", multi.Hints())
	}
}

// Data that say nothing end in a fit that says so: equal points of all classes, a
// constant feature beside another.
func TestClassesThatCannotBeTold(t *testing.T) {
	equal := datasets.New(slices.Repeat([][]float64{{1, 2}}, 12), []float64{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2})
	constant := datasets.New([][]float64{{0, 5}, {0.1, 5}, {1, 5}, {1.1, 5}, {2, 5}, {2.1, 5}}, []float64{0, 0, 1, 1, 2, 2})
	for _, d := range []*datasets.Dataset{equal, constant} {
		base := Classify(d)
		for _, m := range []MultiClassifier{base.OneVsOne(), base.OneVsRest(), base.CrammerSinger(), base.Kernel(kernels.Linear()).C(1e6).OneVsOne()} {
			fit := testkit.FitOf(t, m)
			if c := fit.Certificate(); !(c.Gap >= 0) || math.IsNaN(c.MaxKKT) {
				t.Errorf("%v: %+v", m, c)
			}
			for _, how := range []Calibration{Platt{Folds: 2}, Isotonic{Folds: 2}} {
				c, err := fit.Calibrate(context.Background(), how)
				if err != nil {
					t.Fatalf("%v, %v: %v", m, how, err)
				}
				for _, p := range mustProbabilities(t, c, d.X) {
					if d == equal && (math.Abs(p[0]-1./3) > 0.1 || math.Abs(p[1]-1./3) > 0.1) {
						t.Errorf("%v, %v: %v of three equal classes", m, how, p)
					}
				}
				if strings.Contains(c.Markdown()+fit.Markdown(), "NaN") {
					t.Error(c.Markdown(), fit.Markdown())
				}
			}
			for _, f := range []display.Figure{Regions, Confusion} {
				if _, err := f.Of(fit); err != nil {
					t.Errorf("%v of %v: %v", f, m, err)
				}
			}
		}
	}
}
