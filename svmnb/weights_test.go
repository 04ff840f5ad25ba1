package svmnb

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
)

// A point of weight 0 takes no part: the fit is that of the other points, by every machine
// and by every kind of solver. A weight of k is k copies of the point, also for a share ν.
func TestWeightsAreCopiesAndZeroIsNone(t *testing.T) {
	data, line, three := rare(40, 1), datasets.Sinc(40, 0.1, 1), datasets.Blobs(42, 3, 2, 1)
	rng := func(n, values int) (w []float64, rows []int) {
		for i := range n {
			k := (7*i + i/3) % values
			w = append(w, float64(k))
			for range k {
				rows = append(rows, i)
			}
		}
		return w, rows
	}
	classify := func(of func(Classifier) Classifier) func(*datasets.Dataset, []float64) func(datasets.Points) ([]float64, error) {
		return func(d *datasets.Dataset, w []float64) func(datasets.Points) ([]float64, error) {
			return testkit.FitOf(t, of(Classify(d).Kernel(kernels.RBF(0.7)).Tol(1e-9).SampleWeights(w))).Values
		}
	}
	regress := func(of func(Regressor) Regressor) func(*datasets.Dataset, []float64) func(datasets.Points) ([]float64, error) {
		return func(d *datasets.Dataset, w []float64) func(datasets.Points) ([]float64, error) {
			return testkit.FitOf(t, of(Regress(d).Kernel(kernels.RBF(0.7)).Tol(1e-9).SampleWeights(w))).Predict
		}
	}
	for name, c := range map[string]struct {
		data *datasets.Dataset
		fit  func(*datasets.Dataset, []float64) func(datasets.Points) ([]float64, error)
	}{
		"1-norm":         {data, classify(func(c Classifier) Classifier { return c })},
		"2-norm":         {data, classify(Classifier.TwoNorm)},
		"interior point": {data, classify(Classifier.PrimalDual)},
		"ascent":         {data, classify(func(c Classifier) Classifier { return c.Augment(1).GradientAscent() })},
		"ν":              {data, classify(func(c Classifier) Classifier { return c.Nu(0.3) })},
		"balanced":       {data, classify(Classifier.Balanced)},
		"one class": {data, func(d *datasets.Dataset, w []float64) func(datasets.Points) ([]float64, error) {
			return testkit.FitOf(t, OneClass(d).Kernel(kernels.RBF(0.7)).Nu(0.3).Tol(1e-9).SampleWeights(w)).Values
		}},
		"one against one": {three, func(d *datasets.Dataset, w []float64) func(datasets.Points) ([]float64, error) {
			fit := testkit.FitOf(t, Classify(d).Kernel(kernels.RBF(0.7)).Tol(1e-9).SampleWeights(w).OneVsOne())
			return func(x datasets.Points) ([]float64, error) {
				rows, err := fit.Decisions(x)
				return slices.Concat(rows...), err
			}
		}},
		"Crammer–Singer": {three, func(d *datasets.Dataset, w []float64) func(datasets.Points) ([]float64, error) {
			fit := testkit.FitOf(t, Classify(d).Kernel(kernels.RBF(0.7)).Tol(1e-9).SampleWeights(w).CrammerSinger())
			return func(x datasets.Points) ([]float64, error) {
				rows, err := fit.Decisions(x)
				return slices.Concat(rows...), err
			}
		}},
		"ε-SVR":          {line, regress(func(r Regressor) Regressor { return r })},
		"quadratic loss": {line, regress(Regressor.QuadraticLoss)},
		"ridge":          {line, regress(func(r Regressor) Regressor { return r.Ridge(0.1) })},
		"ν-SVR":          {line, regress(func(r Regressor) Regressor { return r.Nu(0.4) })},
	} {
		w, rows := rng(c.data.N(), 3) // weights 0, 2 and others
		got, err := c.fit(c.data, w)(c.data)
		if err != nil {
			t.Fatal(err)
		}
		others := weighted(w)
		one := make([]float64, len(others))
		for k, i := range others {
			one[k] = w[i]
		}
		alone, _ := c.fit(c.data.Select(others), one)(c.data)
		if !testkit.NearRows([][]float64{got}, [][]float64{alone}, 1e-9) {
			t.Errorf("%s: with points of weight 0 %v, without them %v", name, got[:3], alone[:3])
		}
		if name == "balanced" {
			continue // which counts points, and not their weights
		}
		copies, _ := c.fit(c.data.Select(rows), nil)(c.data)
		if !testkit.NearRows([][]float64{got}, [][]float64{copies}, 1e-5) {
			t.Errorf("%s: with weights %v, with copies %v", name, got[:3], copies[:3])
		}
	}
}

// At most a share ν of the weight is of margin errors, and at least that of support vectors.
func TestNuIsAShareOfTheWeight(t *testing.T) {
	data := rare(60, 2)
	w, all := make([]float64, data.N()), 0.0
	for i := range w {
		w[i] = 0.5 + float64(i%5)
		all += w[i]
	}
	const nu = 0.25
	fit := testkit.FitOf(t, Classify(data).Kernel(kernels.RBF(1)).Nu(nu).SampleWeights(w).Tol(1e-6))
	wrong, vectors := 0.0, 0.0
	for _, v := range fit.SupportVectors() {
		vectors += w[v.Index] / all
		if v.Slack > 1e-4 {
			wrong += w[v.Index] / all
		}
	}
	if wrong > nu || vectors < nu || wrong == 0 {
		t.Errorf("%v of the weight are margin errors, %v support vectors; ν is %v", wrong, vectors, nu)
	}
	if _, err := Classify(data).Nu(0.9).SampleWeights(w).Fit(context.Background()); !errors.As(err, new(*solvers.ProblemError)) {
		t.Errorf("ν that the smaller class does not have: %v", err)
	}
	audit, err := fit.Audit(context.Background())
	if err != nil || audit.Equality > 1e-9 {
		t.Errorf("%+v, %v", audit, err)
	}
}

// Balanced classes weigh the same, and a rare one is found.
func TestBalanced(t *testing.T) {
	data := rare(100, 3)
	positive := 0.0
	for _, y := range data.Y {
		if y > 0 {
			positive++
		}
	}
	n := float64(data.N())
	base := Classify(data).Kernel(kernels.RBF(0.5)).C(0.5).Tol(1e-6)
	names := data.Counts()
	balanced, byHand := testkit.FitOf(t, base.Balanced()), testkit.FitOf(t, base.ClassWeight(names[1].Class, n/(2*positive)).ClassWeight(names[0].Class, n/(2*(n-positive))))
	testkit.Near(t, "W", balanced.Certificate.Dual, byHand.Certificate.Dual, 1e-12)
	recall := func(f *Fit) float64 {
		e, err := f.Evaluate(rare(300, 4))
		if err != nil {
			t.Fatal(err)
		}
		return e.Confusion().Recall().PerClass[1]
	}
	if plain := recall(testkit.FitOf(t, base)); !(recall(balanced) > plain+0.1) {
		t.Errorf("the rare class has the recall %v, without balance %v", recall(balanced), plain)
	}
	testkit.Says(t, "the description", base.Balanced().String(), ".Balanced()")
	testkit.Says(t, "the summary", balanced.Markdown(), "balanced")
	// Of several classes, all count: k classes and all points.
	three := datasets.Blobs(90, 3, 2, 1).Select(slices.Concat(testkit.Seq(90)[:60], []int{60, 61, 62, 63, 64}))
	weights := Classify(three)
	for _, c := range three.Counts() {
		weights = weights.ClassWeight(c.Class, float64(three.N())/(3*float64(c.N)))
	}
	for _, scheme := range []func(Classifier) MultiClassifier{Classifier.OneVsOne, Classifier.OneVsRest, Classifier.CrammerSinger} {
		a, b := testkit.FitOf(t, scheme(Classify(three).Balanced())), testkit.FitOf(t, scheme(weights))
		testkit.Near(t, "sum of W", a.Certificate().Dual, b.Certificate().Dual, 1e-9)
	}
}

// Balanced weights and zero weights are those of scikit-learn, whose solver is LIBSVM with
// weights for points.
func TestWeightsOfScikitLearn(t *testing.T) {
	const python = "/usr/bin/python3"
	if exec.Command(python, "-c", "import sklearn").Run() != nil {
		t.Skip("no scikit-learn for /usr/bin/python3 (Debian: python3-sklearn)")
	}
	const program = `
import json, sys
import numpy as np
from sklearn.svm import SVC, NuSVC, OneClassSVM, NuSVR
d = json.load(sys.stdin)
x, y, w = np.array(d["X"]), np.array(d["Y"]), np.array(d["W"])
o = dict(gamma=0.7, tol=1e-9)
out = {
    "balanced": SVC(class_weight="balanced", **o).fit(x, y).decision_function(x),
    "C-SVC": SVC(**o).fit(x, y, w).decision_function(x),
    "ν-SVC": NuSVC(nu=0.2, **o).fit(x, y, w).decision_function(x),
    "ν-SVR": NuSVR(nu=0.4, C=2, **o).fit(x, x[:, 0], w).predict(x),
    "one class": OneClassSVM(nu=0.3, **o).fit(x, sample_weight=w).decision_function(x),
}
json.dump({k: list(v) for k, v in out.items()}, sys.stdout)`
	data := rare(40, 5)
	w, first := make([]float64, data.N()), make([]float64, data.N())
	for i := range w {
		w[i], first[i] = float64(i%4)/2, data.X[i][0]
	}
	in, err := json.Marshal(map[string]any{"X": data.X, "Y": data.Y, "W": w})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-W", "ignore", "-c", program)
	cmd.Stdin = bytes.NewReader(in)
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var want map[string][]float64
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	base := Classify(data).Kernel(kernels.RBF(0.7)).Tol(1e-9)
	real := Regress(datasets.New(data.X, first)).Kernel(kernels.RBF(0.7)).C(2).Tol(1e-9)
	got := map[string][]float64{}
	for name, c := range map[string]Classifier{
		"balanced": base.Balanced(), "C-SVC": base.SampleWeights(w), "ν-SVC": base.Nu(0.2).SampleWeights(w),
		"one class": OneClass(data).Kernel(kernels.RBF(0.7)).Nu(0.3).Tol(1e-9).SampleWeights(w),
	} {
		got[name], _ = testkit.FitOf(t, c).Values(data)
	}
	got["ν-SVR"], _ = testkit.FitOf(t, real.Nu(0.4).SampleWeights(w)).Predict(data)
	for name, values := range want {
		scale := 1.0
		if name == "one class" { // ours has ρ = 1
			scale = slices.Max(values) / slices.Max(got[name])
		}
		for i, v := range values {
			if math.Abs(scale*got[name][i]-v) > 1e-4*(1+math.Abs(v)) {
				t.Errorf("%s: f of point %d is %v, scikit-learn's %v", name, i, scale*got[name][i], v)
				break
			}
		}
	}
	if len(want) != len(got) {
		t.Error(fmt.Sprint(len(want), " machines of scikit-learn, want ", len(got)))
	}
}

// A fit that predicts one class alone says so, and what helps.
func TestHintOfASwallowedClass(t *testing.T) {
	data := rare(100, 3)
	base := Classify(data).Kernel(kernels.RBF(1)).C(0.01)
	hints := func(c Classifier) string { return strings.Join(testkit.FitOf(t, c).Hints(), "\n") }
	testkit.Says(t, "a rare class", hints(base), "0 of", "are predicted as", "Balanced()", "Threshold")
	if text := hints(base.C(10).Balanced()); strings.Contains(text, "are predicted as") {
		t.Errorf("a class that is found: %s", text)
	}
	even := datasets.New(slices.Repeat([][]float64{{0, 0}}, 30), slices.Repeat([]float64{-1, 1, 1, -1, 1}, 6))
	if text := hints(Classify(even).Kernel(kernels.RBF(1))); strings.Contains(text, "Balanced") || !strings.Contains(text, "does not tell") {
		t.Errorf("classes that nothing tells apart: %s", text)
	}
	three := datasets.Blobs(300, 3, 1, 1)
	few := three.Select(slices.DeleteFunc(testkit.Seq(300), func(i int) bool { return three.Y[i] == 2 && i >= 30 }))
	several := func(c MultiClassifier) string { return strings.Join(testkit.FitOf(t, c).Hints(), "\n") }
	weak := Classify(few).Kernel(kernels.RBF(0.1)).C(1e-4)
	testkit.Says(t, "a rare class of three", several(weak.OneVsRest()), "0 of", "are predicted as blob 2", "Balanced()")
	if text := several(Classify(few).Kernel(kernels.RBF(0.1)).C(10).OneVsRest()); strings.Contains(text, "are predicted as") {
		t.Errorf("three classes that are found: %s", text)
	}
	if text := strings.Join(testkit.FitOf(t, Regress(datasets.Iris())).Hints(), "\n"); !strings.Contains(text, "setosa is 0") || !strings.Contains(text, "svmnb.Classify") {
		t.Errorf("a regression of classes: %s", text)
	}
	if text := hints(OneClass(data).Nu(0.01)); strings.Contains(text, "are predicted as") {
		t.Errorf("one class: %s", text)
	}
}

// The scores of one against one are those of scikit-learn.
func TestScoresOfClasses(t *testing.T) {
	const python = "/usr/bin/python3"
	data := datasets.Blobs(60, 4, 3, 1)
	base := Classify(data).Kernel(kernels.RBF(0.1)).Tol(1e-9)
	fit := testkit.FitOf(t, base.OneVsOne())
	scores, err := fit.Scores(data)
	if err != nil {
		t.Fatal(err)
	}
	values, _ := fit.Decisions(data)
	names, _ := fit.Predict(data)
	model, err := fit.Model().Scores(data)
	if err != nil || !testkit.NearRows(scores, model, 0) {
		t.Errorf("the model has other scores, %v", err)
	}
	for i, row := range scores {
		votes := make([]float64, 4)
		for k, v := range values[i] {
			duel := fit.task.duels[k]
			if v > 0 {
				votes[duel[0]]++
			} else {
				votes[duel[1]]++
			}
		}
		for k, s := range row {
			if math.Abs(s-votes[k]) >= 1./3 {
				t.Fatalf("point %d: scores %v of votes %v", i, row, votes)
			}
		}
		best := fit.Classes()[slices.Index(row, slices.Max(row))]
		if top := slices.Max(votes); best != names[i] && len(slices.DeleteFunc(slices.Clone(votes), func(v float64) bool { return v < top })) == 1 {
			t.Errorf("point %d: %s by the scores, %s by the votes", i, best, names[i])
		}
	}
	for _, m := range []MultiClassifier{base.OneVsRest(), base.CrammerSinger()} {
		fit := testkit.FitOf(t, m)
		values, _ := fit.Decisions(data)
		scores, err := fit.Scores(data)
		if err != nil || !testkit.NearRows(scores, values, 0) {
			t.Errorf("%v: the scores are not the decision values, %v", m, err)
		}
	}
	if _, err := (*MultiFit)(nil).Scores(data); !testkit.IsArgument(err, "Scores") {
		t.Errorf("no fit: %v", err)
	}
	two := testkit.FitOf(t, Classify(datasets.Moons(20, 0.1, 1)))
	if _, err := two.Model().Scores(two.Description.Data()); !testkit.IsArgument(err, "Scores") {
		t.Errorf("two classes: %v", err)
	}
	if exec.Command(python, "-c", "import sklearn").Run() != nil {
		t.Skip("no scikit-learn for /usr/bin/python3 (Debian: python3-sklearn)")
	}
	in, err := json.Marshal(map[string]any{"X": data.X, "Y": data.Y})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-W", "ignore", "-c", `
import json, sys
from sklearn.svm import SVC
d = json.load(sys.stdin)
json.dump(SVC(gamma=0.1, tol=1e-9).fit(d["X"], d["Y"]).decision_function(d["X"]).tolist(), sys.stdout)`)
	cmd.Stdin = bytes.NewReader(in)
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var want [][]float64
	if err := json.Unmarshal(text, &want); err != nil || !testkit.NearRows(scores, want, 1e-4) {
		t.Errorf("%v\nscikit-learn has %v, %v", scores[0], want[0], err)
	}
}
