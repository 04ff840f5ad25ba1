package model_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/gp"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"github.com/svmnb/svmnb/svmnb/model"
)

// modelled is a fit with a model and the values that the model has to give.
type modelled struct {
	name   string
	fit    model.Modeler
	x      [][]float64
	values [][]float64 // decision values, or probabilities of a Calibrated
	names  []string    // nil for a regression
}

// modelledFits are fits of every kind of machine.
var modelledFits = sync.OnceValue(func() []modelled {
	var list []modelled
	iris := testkit.Flowers()
	moons := datasets.Moons(60, 0.2, 1)
	sinc := datasets.Sinc(50, 0.1, 1)
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	two := func(name string, c svmnb.Classifier) *svmnb.Fit {
		fit, err := c.Fit(context.Background())
		must(err)
		values, err := fit.Values(datasets.Rows(c.Data().X))
		must(err)
		names, err := fit.Predict(datasets.Rows(c.Data().X))
		must(err)
		list = append(list, modelled{name, fit, c.Data().X, machines.AsRows(values), names})
		return fit
	}
	many := func(name string, m svmnb.MultiClassifier) *svmnb.MultiFit {
		fit, err := m.Fit(context.Background())
		must(err)
		values, err := fit.Decisions(datasets.Rows(iris.X))
		must(err)
		names, err := fit.Predict(datasets.Rows(iris.X))
		must(err)
		list = append(list, modelled{name, fit, iris.X, values, names})
		return fit
	}
	real := func(name string, r svmnb.Regressor) {
		fit, err := r.Fit(context.Background())
		must(err)
		values, err := fit.Predict(datasets.Rows(r.Data().X))
		must(err)
		list = append(list, modelled{name, fit, r.Data().X, machines.AsRows(values), nil})
	}
	calibrated := func(name string, c *svmnb.Calibrated, err error) {
		must(err)
		x := iris.X
		if len(c.Classes()) == 2 {
			x = moons.X
		}
		p, err := c.Probabilities(datasets.Rows(x))
		must(err)
		names, err := c.Predict(datasets.Rows(x))
		must(err)
		list = append(list, modelled{name, c, x, p, names})
	}
	ctx := context.Background()
	rbf := two("RBF", svmnb.Classify(moons).Kernel(kernels.RBF(0.7)).C(3))
	two("linear", svmnb.Classify(moons).Kernel(kernels.Linear()))
	two("polynomial", svmnb.Classify(moons).Kernel(kernels.Polynomial(3, 0.5, 1)))
	two("sigmoid", svmnb.Classify(moons).Kernel(kernels.Sigmoid(0.1, -0.5)))
	two("sum", svmnb.Classify(moons).Kernel(kernels.Sum(kernels.RBF(1./3), kernels.Scale(0.1, kernels.Linear()))))
	two("ν", svmnb.Classify(moons).Kernel(kernels.RBF(1)).Nu(0.3))
	two("2-norm", svmnb.Classify(moons).Kernel(kernels.RBF(1)).TwoNorm())
	two("augmented", svmnb.Classify(moons).Kernel(kernels.RBF(1)).GradientAscent())
	two("features", svmnb.Classify(moons).CoordinateDescent())
	two("one class", svmnb.OneClass(moons).Kernel(kernels.RBF(1)).Nu(0.2))
	base := svmnb.Classify(iris).Kernel(kernels.RBF(0.3)).C(2)
	pairs := many("pairs", base.OneVsOne())
	many("linear pairs", base.Kernel(kernels.Linear()).OneVsOne())
	many("rest", base.OneVsRest())
	many("linear rest", base.Kernel(kernels.Linear()).OneVsRest())
	joint := many("joint", base.CrammerSinger())
	many("linear joint", base.Kernel(kernels.Linear()).CrammerSinger())
	real("tube", svmnb.Regress(sinc).Kernel(kernels.RBF(1)).C(10))
	real("linear tube", svmnb.Regress(datasets.Cars()).Kernel(kernels.Linear()))
	real("ν tube", svmnb.Regress(sinc).Kernel(kernels.RBF(1)).Nu(0.4))
	real("ridge", svmnb.Regress(sinc).Kernel(kernels.Matern52(1)).Ridge(0.1))
	process := func(name string, p gp.Process) {
		fit, err := p.Fit(ctx)
		must(err)
		values, err := fit.Predict(datasets.Rows(p.Data().X))
		must(err)
		list = append(list, modelled{name, fit, p.Data().X, machines.AsRows(values), nil})
	}
	described := gp.Regress(sinc).Kernel(kernels.RBF(1)).NoiseVariance(0.01)
	process("process", described)
	process("process by CG", described.CG())
	process("process of scaled targets", described.NormaliseTargets())
	process("process of zero mean", described.Kernel(kernels.Sum(kernels.RBF(1), kernels.Linear())).ZeroMean().NoiseVariances(slices.Repeat([]float64{0.02}, sinc.N())))
	process("linear process", gp.Regress(datasets.Cars()).Kernel(kernels.Linear()).NoiseVariance(9).LinearMean())
	c, err := rbf.Calibrate(ctx, svmnb.Platt{Folds: 3})
	calibrated("Platt", c, err)
	pair, err := rbf.Description.OneVsOne().Fit(ctx)
	must(err)
	c, err = pair.Calibrate(ctx, svmnb.Platt{Folds: 3})
	calibrated("Platt's pair", c, err)
	c, err = rbf.Calibrate(ctx, svmnb.Isotonic{Folds: 3})
	calibrated("isotonic", c, err)
	thresholded := func(name string, t *svmnb.Thresholded, err error, values [][]float64) {
		must(err)
		names, err := t.Predict(datasets.Rows(moons.X))
		must(err)
		list = append(list, modelled{name, t, moons.X, values, names})
	}
	for _, c := range list {
		if len(c.names) == 0 {
			continue
		}
		switch fit := c.fit.(type) {
		case *svmnb.Fit:
			if fit.Description.String()[:8] == "Classify" {
				t, err := fit.Threshold(ctx, svmnb.ForCost(1, 5))
				thresholded(c.name+" with a threshold", t, err, c.values)
			}
		case *svmnb.Calibrated:
			t, err := fit.Threshold(ctx, svmnb.ForCost(1, 5))
			thresholded(c.name+" with a threshold", t, err, c.values)
		}
	}
	c, err = pairs.Calibrate(ctx, svmnb.Platt{Folds: 3})
	calibrated("coupled", c, err)
	c, err = joint.Calibrate(ctx, svmnb.Platt{Folds: 3})
	calibrated("joint Platt", c, err)
	c, err = joint.Calibrate(ctx, svmnb.Isotonic{Folds: 3})
	calibrated("joint isotonic", c, err)
	c, err = pairs.Calibrate(ctx, svmnb.Isotonic{Folds: 3})
	calibrated("coupled isotonic", c, err)
	rest, err := base.OneVsRest().Fit(ctx)
	must(err)
	c, err = rest.Calibrate(ctx, svmnb.Isotonic{Folds: 3})
	calibrated("rest isotonic", c, err)
	return append(list, pipedModels()...)
})

// signed returns decision values as formats have them that decide by the sign of f alone.
func signed(m *model.Model, values [][]float64) [][]float64 {
	t := m.Inside().Threshold
	if t == nil || m.Inside().Curves != nil {
		return values
	}
	shifted := make([][]float64, len(values))
	for i, row := range values {
		shifted[i] = []float64{row[0] - *t}
	}
	return shifted
}

// same compares what a model predicts with what the fit does: the values within
// tol, the classes exactly.
func (want modelled) same(t *testing.T, m *model.Model, tol float64) {
	t.Helper()
	of := m.Decisions
	if want.fit.Model().Inside().Curves != nil {
		of = m.Probabilities
	}
	got, err := of(datasets.Rows(want.x))
	if err != nil {
		t.Errorf("%s: %v", want.name, err)
		return
	}
	for i, row := range got {
		for k, v := range row {
			if w := want.values[i][k]; !(math.Abs(v-w) <= tol*(1+math.Abs(w))) || len(row) != len(want.values[i]) {
				t.Errorf("%s: value %d of point %d is %v, want %v", want.name, k, i, v, w)
				return
			}
		}
	}
	if want.names == nil {
		return
	}
	if names, err := m.Predict(datasets.Rows(want.x)); err != nil || !slices.Equal(names, want.names) {
		t.Errorf("%s: classes %v, %v; want %v", want.name, names, err, want.names)
	}
}

func TestModelPredictsAsItsFit(t *testing.T) {
	for _, f := range modelledFits() {
		f.same(t, f.fit.Model(), 0)
	}
}

func TestSaveAndLoad(t *testing.T) {
	file := filepath.Join(t.TempDir(), "model")
	for _, f := range modelledFits() {
		if err := model.Save(file, f.fit); err != nil {
			t.Errorf("%s: %v", f.name, err)
			continue
		}
		m, err := model.Load(file)
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
			continue
		}
		f.same(t, m, 0)
		if got, want := m.String(), f.fit.Model().String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		first, _ := os.ReadFile(file)
		if err := model.Save(file, m); err != nil {
			t.Error(err)
		}
		if second, _ := os.ReadFile(file); string(first) != string(second) {
			t.Errorf("%s: saved again it is another file", f.name)
		}
	}
	left, err := os.ReadDir(filepath.Dir(file))
	if err != nil || len(left) != 1 {
		t.Errorf("the folder has %v, %v; want one file", left, err)
	}
}

// A kernel that a file cannot describe is an error, and leaves the file alone.
func TestSaveRefuses(t *testing.T) {
	moons := datasets.Moons(20, 0.1, 1)
	file := filepath.Join(t.TempDir(), "model")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, k := range []kernels.Kernel{kernels.Centred(kernels.Linear(), moons.X), testkit.OwnKernel{Kernel: kernels.Linear()}} {
		err := model.Save(file, testkit.FitOf(t, svmnb.Classify(moons).Kernel(k)))
		if model := (*model.Error)(nil); !errors.As(err, &model) {
			t.Errorf("%v: %v, want a *Error", k, err)
		}
	}
	if text, _ := os.ReadFile(file); string(text) != "old" {
		t.Errorf("the file became %q", text)
	}
	fit := testkit.FitOf(t, svmnb.Classify(moons))
	if err := model.Save(filepath.Join(file, "under a file"), fit); err == nil {
		t.Error("saved where there is no folder")
	}
	if _, err := model.Load(file + "2"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

const (
	smallSparse  = `{"kind":"regression","kernel":"RBF(1)","features":1000,"vectors":null,"sparse":{"start":[0,1,3],"index":[7,7,999],"value":[1,2,3]},"machines":[{"coef":[1,-1],"bias":0.5}]}`
	smallScaled  = `{"kind":"Gaussian process","kernel":"RBF(1)","features":2,"vectors":[[1,2],[3,4]],"machines":[{"coef":[1,-1],"bias":0.5}],"process":{"noise":[0.1],"scale":{"centre":10,"width":3}}}`
	smallProcess = `{"kind":"Gaussian process","kernel":"RBF(1)","features":2,"vectors":[[1,2],[3,4]],"machines":[{"coef":[1,-1],"bias":0.5}],"process":{"beta":[1,2,3],"centre":[2,3],"noise":[0.1]}}`
)

func TestLoadRefuses(t *testing.T) {
	if m, err := model.Read(bytes.NewReader(testkit.Sealed(testkit.SmallModel))); err != nil || m.D() != 2 {
		t.Fatal(m, err)
	}
	if m, err := model.Read(bytes.NewReader(testkit.Sealed(strings.Replace(testkit.SmallModel, `"kind"`, `"threshold":0.3,"kind"`, 1)))); err != nil || *m.Inside().Threshold != 0.3 {
		t.Fatal(m, err)
	}
	edit := func(old, new string) []byte {
		if !strings.Contains(testkit.SmallModel, old) {
			t.Fatalf("no %q", old)
		}
		return testkit.Sealed(strings.Replace(testkit.SmallModel, old, new, 1))
	}
	good := testkit.Sealed(testkit.SmallModel)
	for name, text := range map[string][]byte{
		"empty":           nil,
		"other file":      []byte("svm_type c_svc\n"),
		"newer":           []byte(strings.Replace(string(good), "model 1", "model 6", 1)),
		"no threshold":    []byte(strings.Replace(string(good), "model 1", "model 5", 1)),
		"old threshold":   []byte(strings.Replace(string(edit(`"kind"`, `"threshold":0.3,"kind"`)), "model 5", "model 4", 1)),
		"threshold":       edit(`"kind"`, `"threshold":1e999,"kind"`),
		"two scores":      testkit.Sealed(`{"threshold":1,"kind":"one against the rest","kernel":"RBF(1)","features":1,"classes":["a","b"],"targets":[0,1],"duels":[[0,-1],[1,-1]],"vectors":[[1]],"machines":[{"coef":[1],"bias":0},{"coef":[1],"bias":0}]}`),
		"cut":             good[:len(good)-30],
		"no last newline": good[:len(good)-1],
		"changed":         []byte(strings.Replace(string(good), "[3,4]", "[3,5]", 1)),
		"unknown field":   edit(`"kind"`, `"depth":3,"kind"`),
		"more":            testkit.Sealed(testkit.SmallModel + "{}"),
		"kind":            edit("two classes", "forest"),
		"other kind":      edit("two classes", "one against the rest"),
		"regression":      edit("two classes", "regression"),
		"one class":       edit("two classes", "one class"),
		"kernel":          edit("RBF(1)", "RBF(-1)"),
		"no kernel":       edit("RBF(1)", ""),
		"features":        edit(`"features":2`, `"features":3`),
		"no features":     edit(`"features":2`, `"features":0`),
		"huge features":   testkit.Sealed(`{"kind":"regression","kernel":"Linear()","features":1000000000000,"vectors":[],"machines":[{"coef":[],"bias":0}]}`),
		"classes":         edit(`["a","b"]`, `["a","a"]`),
		"one name":        edit(`["a","b"]`, `["a"]`),
		"targets":         edit(`[0,1],"duels"`, `[0],"duels"`),
		"duels":           edit(`[[1,0]]`, `[[1,7]]`),
		"ragged":          edit(`[3,4]`, `[3]`),
		"NaN":             edit(`[3,4]`, `[3,NaN]`),
		"too large":       edit(`[3,4]`, `[3,1e999]`),
		"wrong type":      edit(`[3,4]`, `["3",4]`),
		"null":            edit(`[3,4]`, `null`),
		"coef":            edit(`[1,-1]`, `[1]`),
		"no machine":      edit(`[{"coef":[1,-1],"bias":0.5}]`, `[]`),
		"curves":          edit(`{"a":-1,"b":0.1}`, `{},{}`),
		"steps":           edit(`{"a":-1,"b":0.1}`, `{"x":[1,1],"p":[0,1]}`),
		"falling steps":   edit(`{"a":-1,"b":0.1}`, `{"x":[1,2],"p":[1,0]}`),
		"odd steps":       edit(`{"a":-1,"b":0.1}`, `{"x":[1,2],"p":[1]}`),
		"deep":            testkit.Sealed(strings.Repeat("[", 1e6)),
	} {
		m, err := model.Read(bytes.NewReader(text))
		if model := (*model.Error)(nil); m != nil || !errors.As(err, &model) {
			t.Errorf("%s: %v, %v; want a *Error", name, m, err)
		}
	}
}

func TestModelArguments(t *testing.T) {
	fits := modelledFits()
	classifier, several, regression := fits[0].fit.Model(), fits[10].fit.Model(), fits[16].fit.Model()
	for name, call := range map[string]func() error{
		"ragged":        func() error { _, err := classifier.Decisions(datasets.Rows{{1, 2}, {1}}); return err },
		"NaN":           func() error { _, err := classifier.Predict(datasets.Rows{{1, math.NaN()}}); return err },
		"Inf":           func() error { _, err := regression.Values(datasets.Rows{{math.Inf(1)}}); return err },
		"Values":        func() error { _, err := several.Values(nil); return err },
		"Predict":       func() error { _, err := regression.Predict(nil); return err },
		"Probabilities": func() error { _, err := classifier.Probabilities(nil); return err },
	} {
		if err := call(); !errors.As(err, new(*svmnb.ArgumentError)) {
			t.Errorf("%s: %v, want an *ArgumentError", name, err)
		}
	}
	if v, err := classifier.Values(nil); len(v) != 0 || err != nil {
		t.Error(v, err)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(testkit.SmallModel)
	f.Add(`{"kind":"regression","kernel":"Linear()","features":1,"vectors":[[2]],"machines":[{"coef":[3],"bias":1}]}`)
	f.Add(`{"kind":"one against one","kernel":"Sum(RBF(1), Linear())","features":1,"classes":["a","b","c"],"targets":[0,1,2],"duels":[[0,1],[0,2],[1,2]],"vectors":[],"machines":[{},{},{}]}`)
	f.Add(`{"kind":"one against one","kernel":"Linear()","features":1,"classes":["0","1","2"],"targets":[0,0,0]}`) // no machines
	f.Add(smallSparse)
	f.Add(smallProcess)
	f.Add(smallScaled)
	f.Add(smallSteps)
	for _, body := range append(slices.Clip(approximate), near) {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		m, err := model.Read(bytes.NewReader(testkit.Sealed(body)))
		if err != nil {
			if m, err = model.Read(bytes.NewReader(versioned(body))); err != nil {
				if m, err = model.Read(bytes.NewReader(of("9", body))); err != nil {
					return
				}
			}
		}
		file := filepath.Join(t.TempDir(), "model")
		if err := model.Save(file, m); err != nil {
			t.Fatalf("loaded but not saved: %v", err)
		}
		if m, err = model.Load(file); err != nil {
			t.Fatalf("saved but not loaded: %v", err)
		}
		if m.D() > 1000 || m.Inside().Expansion.D > 1000 {
			return
		}
		raw := m.Raw()
		if _, err := raw.Decisions(datasets.Rows{make([]float64, m.D())}); err != nil && m.Inside().Before == nil && !errors.As(err, new(*kernels.DataError)) {
			t.Fatal(err)
		}
		if p := m.Inside().Process; p != nil && p.Approximation != nil && m.Inside().Before == nil {
			x := datasets.Rows{make([]float64, m.D())}
			_, _ = gp.ProbabilityOf(t.Context(), m, x) // an error, but no panic
			_, _, _ = gp.IntervalOf(t.Context(), m, x, 0.9)
		}
	})
}

// The posterior of a model that was saved is that of the fit, bit for bit, where the
// fit has an exact one.
func TestModelPosterior(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model")
	for _, f := range modelledFits() {
		fit, ok := f.fit.(*gp.Fit)
		if !ok {
			if _, err := gp.PosteriorOf(t.Context(), f.fit.Model(), datasets.Rows(f.x)); f.fit.Model().Inside().Process == nil && (err == nil || !strings.Contains(err.Error(), "has no variances")) {
				t.Errorf("%s: %v", f.name, err)
			}
			continue
		}
		if err := model.Save(path, fit); err != nil {
			t.Fatal(err)
		}
		m, err := model.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		x := [][]float64{f.x[0], f.x[3], {2.5}}
		got, err := gp.PosteriorOf(t.Context(), m, datasets.Rows(x))
		if f.name == "process by CG" {
			if err == nil || !strings.Contains(err.Error(), "iterative") {
				t.Errorf("%v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(f.name, err)
		}
		want, err := fit.Posterior(t.Context(), datasets.Rows(x))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Mean, want.Mean) || !slices.Equal(got.Variance, want.Variance) ||
			got.Noise != want.Noise && !(math.IsNaN(got.Noise) && math.IsNaN(want.Noise)) {
			t.Errorf("%s: %v, want %v", f.name, got, want)
		}
	}
}

// A process that was changed by hand is refused.
func TestLoadRefusesProcess(t *testing.T) {
	m, err := model.Read(bytes.NewReader(testkit.Sealed(smallProcess)))
	if err != nil {
		t.Fatal(err)
	}
	if v, err := m.Values(datasets.Rows{{1, 2}}); err != nil || !(math.Abs(v[0]-(1-2-3+1-math.Exp(-8))) < 1e-6) {
		t.Error(v, err)
	}
	for _, e := range [][2]string{{`[1,2,3]`, `[1,2]`}, {`[0.1]`, `[0.1,1,1]`}, {`[0.1]`, `[-1]`}, {`"beta":[1,2,3],`, ``}, {`"centre":[2,3],`, ``}, {`Gaussian process`, `regression`},
		{`,"process":{"beta":[1,2,3],"centre":[2,3],"noise":[0.1]}`, ``}, {`[[1,2],[3,4]]`, `null`}, {`"machines"`, `"duels":[[1,0]],"machines"`}} {
		if m, err := model.Read(bytes.NewReader(testkit.Sealed(strings.Replace(smallProcess, e[0], e[1], 1)))); !errors.As(err, new(*model.Error)) {
			t.Errorf("%s: %v, %v", e[1], m, err)
		}
	}
}

// So are scaled targets, and versions that have none.
func TestLoadRefusesScaledTargets(t *testing.T) {
	whole := string(testkit.Sealed(smallScaled))
	m, err := model.Read(strings.NewReader(whole))
	if err != nil {
		t.Fatal(err)
	}
	if v, err := m.Values(datasets.Rows{{1, 2}}); err != nil || !(math.Abs(v[0]-(10+3*(0.5+1-math.Exp(-8)))) < 1e-6) {
		t.Error(v, err)
	}
	for _, width := range []string{"0", "-1", "1e999", `"3"`, "null"} {
		body := strings.Replace(smallScaled, `"width":3`, `"width":`+width, 1)
		if m, err := model.Read(bytes.NewReader(testkit.Sealed(body))); !errors.As(err, new(*model.Error)) {
			t.Errorf("a width of %s: %v, %v", width, m, err)
		}
	}
	for _, text := range []string{strings.Replace(whole, "model 5", "model 2", 1), strings.Replace(string(testkit.Sealed(smallProcess)), "model 2", "model 5", 1)} {
		if m, err := model.Read(strings.NewReader(text)); !errors.As(err, new(*model.Error)) || !strings.Contains(err.Error(), "version 5") {
			t.Errorf("%s: %v, %v", text[:13], m, err)
		}
	}
}

// So are sparse vectors.
func TestLoadRefusesSparse(t *testing.T) {
	m, err := model.Read(bytes.NewReader(testkit.Sealed(smallSparse)))
	if err != nil || m.D() != 1000 {
		t.Fatal(m, err)
	}
	for _, e := range [][2]string{{`[0,1,3]`, `[0,3,1]`}, {`[0,1,3]`, `[1,1,3]`}, {`[0,1,3]`, `[]`}, {`[7,7,999]`, `[7,999,7]`}, {`[7,7,999]`, `[7,7,1000]`}, {`[7,7,999]`, `[-7,7,999]`},
		{`[1,2,3]`, `[1,2]`}, {`null`, `[[1]]`}, {`"features":1000`, `"features":2000000000`}, {`[1,-1]`, `[1]`}} {
		if m, err := model.Read(bytes.NewReader(testkit.Sealed(strings.Replace(smallSparse, e[0], e[1], 1)))); !errors.As(err, new(*model.Error)) {
			t.Errorf("%s: %v, %v", e[1], m, err)
		}
	}
	old := strings.Replace(string(testkit.Sealed(smallSparse)), "model 2", "model 1", 1)
	if m, err := model.Read(strings.NewReader(old)); !errors.As(err, new(*model.Error)) {
		t.Errorf("sparse in version 1: %v, %v", m, err)
	}
}
