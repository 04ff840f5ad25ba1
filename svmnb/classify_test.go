package svmnb

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
)

// The reference rows were computed with LIBSVM 3.37 and an independent float64
// SMO; W relative 1e-6, b 1e-4, counts exact.
func TestReferenceRows(t *testing.T) {
	hard := datasets.Iris().OneVsRest("setosa")
	pair := datasets.Iris().Pair("virginica", "versicolor")
	xor := datasets.New([][]float64{{1, 1}, {-1, -1}, {1, -1}, {-1, 1}}, []float64{1, 1, -1, -1})
	for _, c := range []struct {
		name        string
		of          Classifier
		w, b        float64
		free, bound int
		iterations  int
		loose       float64 // iris has equal points: with RBF the last bit of exp decides between 40 and 46
	}{
		{"iris linear", Classify(pair).Kernel(kernels.Linear()), 15.75987190, -6.7810612, 4, 19, 37, 0.03},
		{"iris RBF", Classify(pair).Kernel(kernels.RBF(.25)), 21.37749603, 0.1440565, 7, 26, 42, 0.1},
		{"setosa hard", Classify(hard).Kernel(kernels.Linear()).HardMargin(), 0.74805793, 1.4505610, 3, 0, 13, 0.03},
		{"XOR", Classify(xor).Kernel(kernels.Polynomial(2, 1, 1)).HardMargin(), 0.25, 0, 4, 0, 2, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			coarse := testkit.FitOf(t, c.of)
			if d := math.Abs(float64(coarse.Iterations - c.iterations)); d > c.loose*float64(c.iterations) {
				t.Errorf("%d iterations, want %d", coarse.Iterations, c.iterations)
			}
			fit := testkit.FitOf(t, c.of.Tol(1e-7))
			testkit.Near(t, "W", fit.Certificate.Dual, c.w, 1e-6)
			testkit.Near(t, "b", fit.Bias, c.b, 1e-4)
			if fit.Certificate.Free != c.free || fit.Certificate.AtUpper != c.bound {
				t.Errorf("%d free and %d bound support vectors, want %d and %d", fit.Certificate.Free, fit.Certificate.AtUpper, c.free, c.bound)
			}
			if fit.Certificate.RelGap > 1e-6 {
				t.Errorf("relative gap %g", fit.Certificate.RelGap)
			}
		})
	}
	testkit.Near(t, "margin of setosa", testkit.FitOf(t, Classify(hard).Kernel(kernels.Linear()).HardMargin().Tol(1e-6)).Margin(), 0.817558, 1e-5)
	testkit.Near(t, "margin of XOR", testkit.FitOf(t, Classify(xor).Kernel(kernels.Polynomial(2, 1, 1)).HardMargin()).Margin(), math.Sqrt2, 1e-9)
}

func TestForkingIsSafe(t *testing.T) {
	data := testkit.Moons()
	base := Classify(data).Kernel(kernels.RBF(0.5)).C(10).ClassWeight("+1", 2)
	before := base
	base.C(3).TwoNorm().Tol(1e-5).ClassWeight("-1", 7).MaxIterations(4)
	if base != before {
		t.Error("a fork has changed its base")
	}
	if base == base.C(11) {
		t.Error("two descriptions that differ compare equal")
	}
	if any := base.Stop(solvers.Any(solvers.KKT{Tol: 1})); any != any {
		t.Error("a description with a composed criterion is not equal to itself")
	}
	want := `Classify(moons).Kernel(RBF(0.5)).C(10).ClassWeight("+1", 2)`
	if got := base.String(); got != want {
		t.Errorf("String() = %s, want %s", got, want)
	}
}

func TestBadInput(t *testing.T) {
	x := func() [][]float64 { return [][]float64{{0, 0}, {1, 1}, {2, 0}, {0, 3}} }
	y := []float64{-1, 1, -1, 1}
	with := func(i, j int, v float64) *datasets.Dataset {
		rows := x()
		rows[i][j] = v
		return datasets.New(rows, y)
	}
	var (
		argument *ArgumentError
		data     *datasets.Error
		class    *datasets.ClassError
		param    *kernels.ParamError
	)
	good := Classify(datasets.New(x(), y))
	for _, c := range []struct {
		name  string
		of    Classifier
		as    any
		words []string
	}{
		{"nil data", Classify(nil), &argument, []string{"Classify", "nil"}},
		{"empty", Classify(datasets.New(nil, nil)), &data, []string{"no points"}},
		{"NaN", Classify(with(2, 1, math.NaN())), &data, []string{"row 2", "NaN"}},
		{"Inf", Classify(with(1, 0, math.Inf(-1))), &data, []string{"row 1", "Inf"}},
		{"ragged", Classify(datasets.New([][]float64{{1, 2}, {3}}, []float64{1, -1})), &data, []string{"row 1"}},
		{"lengths", Classify(datasets.New(x(), y[:3])), &data, []string{"4", "3"}},
		{"one class", Classify(datasets.New(x(), []float64{1, 1, 1, 1})), &class, []string{"class"}},
		{"three classes", Classify(datasets.Iris()), &class, []string{"Pair"}},
		{"NaN label", Classify(datasets.New(x(), []float64{1, -1, math.NaN(), 1})), &data, []string{"NaN"}},
		{"C = 0", good.C(0), &argument, []string{"C is 0", "positive"}},
		{"C < 0", good.C(-1), &argument, []string{"C is -1"}},
		{"C NaN", good.C(math.NaN()), &argument, []string{"NaN"}},
		{"C infinite", good.C(math.Inf(1)), &argument, []string{"HardMargin"}},
		{"nil kernel", good.Kernel(nil), &argument, []string{"Kernel"}},
		{"gamma", good.Kernel(kernels.RBF(-2)), &param, []string{"gamma", "-2"}},
		{"nil method", good.Using(nil), &argument, []string{"Using"}},
		{"nil criterion", good.Stop(nil), &argument, []string{"Stop"}},
		{"Tol", good.Tol(0), &argument, []string{"Tol", "0"}},
		{"iterations", good.MaxIterations(0), &argument, []string{"MaxIterations"}},
		{"sample", good.Sample(0), &argument, []string{"Sample"}},
		{"memory", good.Memory(-1), &argument, []string{"Memory"}},
		{"class weight", good.ClassWeight("1", 0), &argument, []string{"ClassWeight", "0"}},
		{"unknown class", good.ClassWeight("cat", 2), &argument, []string{"cat", "-1", "1"}},
		{"sample weights", good.SampleWeights([]float64{1}), &argument, []string{"1 weight for 4 points", "4 points"}},
		{"no weight", good.SampleWeights(make([]float64, 4)), &argument, []string{"all weights are 0"}},
		{"class weight of one class", OneClass(good.Data()).ClassWeight("inside", 2), &argument, []string{"ClassWeight", "one class"}},
		{"one class, balanced", OneClass(good.Data()).Balanced(), &argument, []string{"Balanced", "one class"}},
		{"sample weight", good.SampleWeights([]float64{1, 1, math.NaN(), 1}), &argument, []string{"row 2", "NaN"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			fit, err := c.of.Fit(context.Background())
			if err == nil || fit != nil {
				t.Fatalf("fit %v, error %v", fit, err)
			}
			if !errors.As(err, c.as) {
				t.Errorf("the error is a %T: %v", err, err)
			}
			for _, w := range c.words {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q does not say %q", err, w)
				}
			}
		})
	}
	_, err := good.C(-1).Tol(-1).Fit(context.Background())
	if err == nil || !strings.Contains(err.Error(), "C is -1") || !strings.Contains(err.Error(), "Tol") {
		t.Errorf("two mistakes, one error: %v", err)
	}
}

func TestPredictionChecksItsInput(t *testing.T) {
	fit := testkit.FitOf(t, Classify(testkit.Moons()).Kernel(kernels.RBF(0.5)))
	for _, c := range []struct {
		x   [][]float64
		row int
		col int
	}{{[][]float64{{1, 2}, {3}}, 1, -1}, {[][]float64{{1, 2, 3}}, 0, -1}, {[][]float64{{1, 2}, {math.NaN(), 0}}, 1, 0}, {[][]float64{{1, math.Inf(1)}}, 0, 1}, {[][]float64{nil}, 0, -1}} {
		var e *ArgumentError
		if _, err := fit.Predict(datasets.Rows(c.x)); !errors.As(err, &e) || e.Row != c.row || e.Column != c.col {
			t.Errorf("Predict(%v): %v", c.x, err)
		}
	}
	if names, err := fit.Predict(nil); err != nil || len(names) != 0 {
		t.Errorf("no points: %v, %v", names, err)
	}
	var e *ArgumentError
	if _, err := fit.Accuracy(datasets.Blobs(20, 3, 1, 1)); !errors.As(err, &e) {
		t.Errorf("a class that was not in training: %v", err)
	}
}

func TestDecisionIsTheExpansion(t *testing.T) {
	data := testkit.Moons()
	k := kernels.RBF(0.5)
	fit := testkit.FitOf(t, Classify(data).Kernel(k).C(10))
	grid := [][]float64{{0, 0}, {1, -0.5}, {-1, 2}}
	got, err := fit.Values(datasets.Rows(grid))
	if err != nil {
		t.Fatal(err)
	}
	for i, z := range grid {
		want := fit.Bias
		for _, sv := range fit.SupportVectors() {
			want += sv.Alpha * sv.Y * k.Eval(sv.X, z)
		}
		testkit.Near(t, "f", got[i], want, 1e-10)
	}
	if acc, err := fit.Accuracy(data); err != nil || acc != 1-float64(fit.TrainingErrors())/200 {
		t.Errorf("accuracy %v, %v; %d training errors", acc, err, fit.TrainingErrors())
	}

	linear := testkit.FitOf(t, Classify(data).Kernel(kernels.Linear()).Tol(1e-6))
	w, err := linear.Weights()
	if err != nil {
		t.Fatal(err)
	}
	values, _ := linear.Values(datasets.Rows(grid))
	for i, z := range grid {
		testkit.Near(t, "w·x + b", w[0]*z[0]+w[1]*z[1]+linear.Bias, values[i], 1e-10)
	}
	testkit.Near(t, "margin", linear.Margin(), 1/math.Hypot(w[0], w[1]), 1e-9)
	if _, err := fit.Weights(); err == nil {
		t.Error("the RBF kernel has no w among the inputs")
	}
}

// Ng's convention: a point exactly on the boundary is positive.
func TestTiesArePositive(t *testing.T) {
	fit := testkit.FitOf(t, Classify(datasets.New([][]float64{{-1}, {1}}, []float64{0, 1})).Kernel(kernels.Linear()).HardMargin())
	if names, err := fit.Predict(datasets.Rows{{0}}); err != nil || names[0] != "1" {
		t.Errorf("f(0) = 0 gives %v, %v", names, err)
	}
}

// A weight of k is k copies of the point.
func TestWeightsAreCopies(t *testing.T) {
	data := testkit.Moons()
	w := make([]float64, data.N())
	var rows []int
	for i := range w {
		w[i] = float64(1 + i%3)
		for range 1 + i%3 {
			rows = append(rows, i)
		}
	}
	base := Classify(data).Kernel(kernels.RBF(0.5)).Tol(1e-8)
	weighted := testkit.FitOf(t, base.SampleWeights(w))
	copied := testkit.FitOf(t, Classify(data.Select(rows)).Kernel(kernels.RBF(0.5)).Tol(1e-8))
	testkit.Near(t, "W", weighted.Certificate.Dual, copied.Certificate.Dual, 1e-8)

	heavy := testkit.FitOf(t, base.ClassWeight("+1", 2))
	for i := range w {
		w[i] = 1
		if data.Y[i] > 0 {
			w[i] = 2
		}
	}
	testkit.Near(t, "W by class", heavy.Certificate.Dual, testkit.FitOf(t, base.SampleWeights(w)).Certificate.Dual, 1e-12)
}

func TestNotSeparable(t *testing.T) {
	x := [][]float64{{0, 0}, {1, 1}, {0, 0}}
	fit, err := Classify(datasets.New(x, []float64{1, -1, -1})).Kernel(kernels.Linear()).HardMargin().Fit(context.Background())
	if fit != nil || !errors.Is(err, solvers.ErrUnbounded) {
		t.Errorf("duplicates of opposite label, hard margin: %v, %v", fit, err)
	}
}

func TestInterruptKeepsWhatThereIs(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	fit, err := Classify(testkit.Moons()).Kernel(kernels.RBF(0.5)).C(1e4).Fit(ctx)
	if fit == nil || !errors.Is(err, cause) || fit.Status != solvers.Interrupted {
		t.Fatalf("%v, %v", fit, err)
	}
	if len(fit.Trace.Points) == 0 || math.IsNaN(fit.Certificate.Gap) {
		t.Error("the partial fit has no trace or certificate")
	}
	if _, err := fit.Values(datasets.Rows{{0, 0}}); err != nil {
		t.Error(err)
	}
}

func TestLimitsAreNoErrors(t *testing.T) {
	fit := testkit.FitOf(t, Classify(testkit.Moons()).Kernel(kernels.RBF(0.5)).C(1e4).MaxIterations(7))
	if fit.Status != solvers.IterationLimit || fit.Iterations != 7 {
		t.Errorf("%v after %d iterations", fit.Status, fit.Iterations)
	}
	if h := fit.Hints(); len(h) == 0 || !strings.Contains(h[0], "limit of iterations") {
		t.Errorf("hints %q", h)
	}
}

func TestSummary(t *testing.T) {
	fit := testkit.FitOf(t, Classify(testkit.Moons()).Kernel(kernels.RBF(0.5)).C(10))
	for _, want := range []string{"moons", "200 × 2", "1-norm soft, C = 10", "RBF(0.5)", "second order", "converged", "dual, primal", "KKT", "support vectors", "training errors"} {
		if !strings.Contains(fit.Markdown(), want) {
			t.Errorf("the summary does not say %q:\n%s", want, fit.Markdown())
		}
	}
	if h := fit.Hints(); len(h) != 0 {
		t.Errorf("hints on a healthy fit: %q", h)
	}
	for _, c := range []struct {
		name, want string
		of         Classifier
	}{
		{"unscaled", "scale", Classify(datasets.Wine().Pair("cultivar 1", "cultivar 2")).Kernel(kernels.RBF(1e-5))},
		{"gamma large", "smaller gamma", Classify(testkit.Moons()).Kernel(kernels.RBF(1e4))},
		{"gamma small", "hardly", Classify(testkit.Moons()).Kernel(kernels.RBF(1e-6))},
		{"C small", "larger C", Classify(testkit.Moons()).Kernel(kernels.RBF(0.5)).C(1e-4)},
	} {
		h := testkit.FitOf(t, c.of).Hints()
		if len(h) == 0 || len(h) > 2 || !strings.Contains(strings.Join(h, " "), c.want) {
			t.Errorf("%s: hints %q", c.name, h)
		}
	}
}
