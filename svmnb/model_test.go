package svmnb

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
)

// flowers is iris of two classes, at every third point.
// They do not note that they are scaled.
var flowers = sync.OnceValue(func() *datasets.Dataset { return unnoted(third(datasets.Iris().Standardised())) })

// unnoted are scaled data of someone who has scaled them by a program of his own.
func unnoted(d *datasets.Dataset) *datasets.Dataset {
	d.Scalings = nil
	return d
}

func third(d *datasets.Dataset) *datasets.Dataset {
	var rows []int
	for i := 0; i < d.N(); i += 3 {
		rows = append(rows, i)
	}
	return d.Select(rows)
}

// modelled is a fit with a model and the values that the model has to give.
type modelled struct {
	name   string
	fit    Modeler
	x      [][]float64
	values [][]float64 // decision values, or probabilities of a Calibrated
	names  []string    // nil for a regression
}

// modelledFits are fits of every kind of machine.
var modelledFits = sync.OnceValue(func() []modelled {
	var list []modelled
	iris := flowers()
	moons := datasets.Moons(60, 0.2, 1)
	sinc := datasets.Sinc(50, 0.1, 1)
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	two := func(name string, c Classifier) *Fit {
		fit, err := c.Fit(context.Background())
		must(err)
		values, err := fit.Decision(c.data.X)
		must(err)
		names, err := fit.Predict(c.data.X)
		must(err)
		list = append(list, modelled{name, fit, c.data.X, asRows(values), names})
		return fit
	}
	many := func(name string, m MultiClassifier) *MultiFit {
		fit, err := m.Fit(context.Background())
		must(err)
		values, err := fit.Decisions(iris.X)
		must(err)
		names, err := fit.Predict(iris.X)
		must(err)
		list = append(list, modelled{name, fit, iris.X, values, names})
		return fit
	}
	real := func(name string, r Regressor) {
		fit, err := r.Fit(context.Background())
		must(err)
		values, err := fit.Predict(r.data.X)
		must(err)
		list = append(list, modelled{name, fit, r.data.X, asRows(values), nil})
	}
	calibrated := func(name string, c *Calibrated, err error) {
		must(err)
		x := iris.X
		if len(c.classes) == 2 {
			x = moons.X
		}
		p, err := c.Probabilities(x)
		must(err)
		names, err := c.Predict(x)
		must(err)
		list = append(list, modelled{name, c, x, p, names})
	}
	ctx := context.Background()
	rbf := two("RBF", Classify(moons).Kernel(kernels.RBF(0.7)).C(3))
	two("linear", Classify(moons).Kernel(kernels.Linear()))
	two("polynomial", Classify(moons).Kernel(kernels.Polynomial(3, 0.5, 1)))
	two("sigmoid", Classify(moons).Kernel(kernels.Sigmoid(0.1, -0.5)))
	two("sum", Classify(moons).Kernel(kernels.Sum(kernels.RBF(1./3), kernels.Scale(0.1, kernels.Linear()))))
	two("ν", Classify(moons).Kernel(kernels.RBF(1)).Nu(0.3))
	two("2-norm", Classify(moons).Kernel(kernels.RBF(1)).TwoNorm())
	two("augmented", Classify(moons).Kernel(kernels.RBF(1)).GradientAscent())
	two("features", Classify(moons).CoordinateDescent())
	two("one class", OneClass(moons).Kernel(kernels.RBF(1)).Nu(0.2))
	base := Classify(iris).Kernel(kernels.RBF(0.3)).C(2)
	pairs := many("pairs", base.OneVsOne())
	many("linear pairs", base.Kernel(kernels.Linear()).OneVsOne())
	many("rest", base.OneVsRest())
	many("linear rest", base.Kernel(kernels.Linear()).OneVsRest())
	joint := many("joint", base.CrammerSinger())
	many("linear joint", base.Kernel(kernels.Linear()).CrammerSinger())
	real("tube", Regress(sinc).Kernel(kernels.RBF(1)).C(10))
	real("linear tube", Regress(datasets.Cars()).Kernel(kernels.Linear()))
	real("ν tube", Regress(sinc).Kernel(kernels.RBF(1)).Nu(0.4))
	real("ridge", Regress(sinc).Kernel(kernels.Matern52(1)).Ridge(0.1))
	process := func(name string, p Process) {
		fit, err := p.Fit(ctx)
		must(err)
		values, err := fit.Predict(p.data.X)
		must(err)
		list = append(list, modelled{name, fit, p.data.X, asRows(values), nil})
	}
	gp := GaussianProcess(sinc).Kernel(kernels.RBF(1)).NoiseVariance(0.01)
	process("process", gp)
	process("process by CG", gp.CG())
	process("process of zero mean", gp.Kernel(kernels.Sum(kernels.RBF(1), kernels.Linear())).ZeroMean().NoiseVariances(slices.Repeat([]float64{0.02}, sinc.N())))
	process("linear process", GaussianProcess(datasets.Cars()).Kernel(kernels.Linear()).NoiseVariance(9).LinearMean())
	c, err := rbf.Calibrate(ctx, Platt{Folds: 3})
	calibrated("Platt", c, err)
	pair, err := rbf.Description.OneVsOne().Fit(ctx)
	must(err)
	c, err = pair.Calibrate(ctx, Platt{Folds: 3})
	calibrated("Platt's pair", c, err)
	c, err = rbf.Calibrate(ctx, Isotonic{Folds: 3})
	calibrated("isotonic", c, err)
	c, err = pairs.Calibrate(ctx, Platt{Folds: 3})
	calibrated("coupled", c, err)
	c, err = joint.Calibrate(ctx, Platt{Folds: 3})
	calibrated("joint Platt", c, err)
	c, err = joint.Calibrate(ctx, Isotonic{Folds: 3})
	calibrated("joint isotonic", c, err)
	c, err = pairs.Calibrate(ctx, Isotonic{Folds: 3})
	calibrated("coupled isotonic", c, err)
	rest, err := base.OneVsRest().Fit(ctx)
	must(err)
	c, err = rest.Calibrate(ctx, Isotonic{Folds: 3})
	calibrated("rest isotonic", c, err)
	return append(list, pipedModels()...)
})

// same compares what a model predicts with what the fit does: the values within
// tol, the classes exactly.
func (want modelled) same(t *testing.T, m *Model, tol float64) {
	t.Helper()
	of := m.Decisions
	if want.fit.Model().curves != nil {
		of = m.Probabilities
	}
	got, err := of(want.x)
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
	if names, err := m.Predict(want.x); err != nil || !slices.Equal(names, want.names) {
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
		if err := Save(file, f.fit); err != nil {
			t.Errorf("%s: %v", f.name, err)
			continue
		}
		m, err := Load(file)
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
			continue
		}
		f.same(t, m, 0)
		if got, want := m.String(), f.fit.Model().String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		first, _ := os.ReadFile(file)
		if err := Save(file, m); err != nil {
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
	for _, k := range []kernels.Kernel{kernels.Centred(kernels.Linear(), moons.X), ownKernel{kernels.Linear()}} {
		err := Save(file, mustFit(t, Classify(moons).Kernel(k)))
		if model := (*ModelError)(nil); !errors.As(err, &model) {
			t.Errorf("%v: %v, want a *ModelError", k, err)
		}
	}
	if text, _ := os.ReadFile(file); string(text) != "old" {
		t.Errorf("the file became %q", text)
	}
	fit := mustFit(t, Classify(moons))
	if err := Save(filepath.Join(file, "under a file"), fit); err == nil {
		t.Error("saved where there is no folder")
	}
	if _, err := Load(file + "2"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// ownKernel has the name of another.
type ownKernel struct{ kernels.Kernel }

// sealed is a file of the oldest version that may have such a body.
func sealed(body string) []byte {
	version := 1
	if strings.Contains(body, `"sparse"`) || strings.Contains(body, `"process"`) {
		version = 2
	}
	if strings.Contains(body, `"before"`) {
		version = 3
	}
	return fmt.Appendf(nil, "svmnb model %d\n%x\n%s\n", version, sha256.Sum256([]byte(body)), body)
}

const smallModel = `{"kind":"two classes","kernel":"RBF(1)","features":2,"classes":["a","b"],"targets":[0,1],"duels":[[1,0]],"vectors":[[1,2],[3,4]],"machines":[{"coef":[1,-1],"bias":0.5}],"curves":[{"a":-1,"b":0.1}]}`

const (
	smallSparse  = `{"kind":"regression","kernel":"RBF(1)","features":1000,"vectors":null,"sparse":{"start":[0,1,3],"index":[7,7,999],"value":[1,2,3]},"machines":[{"coef":[1,-1],"bias":0.5}]}`
	smallProcess = `{"kind":"Gaussian process","kernel":"RBF(1)","features":2,"vectors":[[1,2],[3,4]],"machines":[{"coef":[1,-1],"bias":0.5}],"process":{"beta":[1,2,3],"centre":[2,3],"noise":[0.1]}}`
)

func TestLoadRefuses(t *testing.T) {
	if m, err := parseModel(sealed(smallModel)); err != nil || m.D() != 2 {
		t.Fatal(m, err)
	}
	edit := func(old, new string) []byte {
		if !strings.Contains(smallModel, old) {
			t.Fatalf("no %q", old)
		}
		return sealed(strings.Replace(smallModel, old, new, 1))
	}
	good := sealed(smallModel)
	for name, text := range map[string][]byte{
		"empty":           nil,
		"other file":      []byte("svm_type c_svc\n"),
		"newer":           []byte(strings.Replace(string(good), "model 1", "model 4", 1)),
		"cut":             good[:len(good)-30],
		"no last newline": good[:len(good)-1],
		"changed":         []byte(strings.Replace(string(good), "[3,4]", "[3,5]", 1)),
		"unknown field":   edit(`"kind"`, `"depth":3,"kind"`),
		"more":            sealed(smallModel + "{}"),
		"kind":            edit("two classes", "forest"),
		"other kind":      edit("two classes", "one against the rest"),
		"regression":      edit("two classes", "regression"),
		"one class":       edit("two classes", "one class"),
		"kernel":          edit("RBF(1)", "RBF(-1)"),
		"no kernel":       edit("RBF(1)", ""),
		"features":        edit(`"features":2`, `"features":3`),
		"no features":     edit(`"features":2`, `"features":0`),
		"huge features":   sealed(`{"kind":"regression","kernel":"Linear()","features":1000000000000,"vectors":[],"machines":[{"coef":[],"bias":0}]}`),
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
		"deep":            sealed(strings.Repeat("[", 1e6)),
	} {
		m, err := parseModel(text)
		if model := (*ModelError)(nil); m != nil || !errors.As(err, &model) {
			t.Errorf("%s: %v, %v; want a *ModelError", name, m, err)
		}
	}
}

func TestModelArguments(t *testing.T) {
	fits := modelledFits()
	classifier, several, regression := fits[0].fit.Model(), fits[10].fit.Model(), fits[16].fit.Model()
	for name, call := range map[string]func() error{
		"ragged":        func() error { _, err := classifier.Decisions([][]float64{{1, 2}, {1}}); return err },
		"NaN":           func() error { _, err := classifier.Predict([][]float64{{1, math.NaN()}}); return err },
		"Inf":           func() error { _, err := regression.Values([][]float64{{math.Inf(1)}}); return err },
		"Values":        func() error { _, err := several.Values(nil); return err },
		"Predict":       func() error { _, err := regression.Predict(nil); return err },
		"Probabilities": func() error { _, err := classifier.Probabilities(nil); return err },
	} {
		if err := call(); !errors.As(err, new(*ArgumentError)) {
			t.Errorf("%s: %v, want an *ArgumentError", name, err)
		}
	}
	if v, err := classifier.Values(nil); len(v) != 0 || err != nil {
		t.Error(v, err)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(smallModel)
	f.Add(`{"kind":"regression","kernel":"Linear()","features":1,"vectors":[[2]],"machines":[{"coef":[3],"bias":1}]}`)
	f.Add(`{"kind":"one against one","kernel":"Sum(RBF(1), Linear())","features":1,"classes":["a","b","c"],"targets":[0,1,2],"duels":[[0,1],[0,2],[1,2]],"vectors":[],"machines":[{},{},{}]}`)
	f.Add(`{"kind":"one against one","kernel":"Linear()","features":1,"classes":["0","1","2"],"targets":[0,0,0]}`) // no machines
	f.Add(smallSparse)
	f.Add(smallProcess)
	f.Add(smallSteps)
	f.Fuzz(func(t *testing.T, body string) {
		m, err := parseModel(sealed(body))
		if err != nil {
			return
		}
		file := filepath.Join(t.TempDir(), "model")
		if err := Save(file, m); err != nil {
			t.Fatalf("loaded but not saved: %v", err)
		}
		if m, err = Load(file); err != nil {
			t.Fatalf("saved but not loaded: %v", err)
		}
		if m.D() > 1000 || m.d > 1000 {
			return
		}
		raw := m.Raw()
		if _, err := raw.Decisions([][]float64{make([]float64, m.D())}); err != nil && m.before == nil && !errors.As(err, new(*kernels.DataError)) {
			t.Fatal(err)
		}
	})
}

// The posterior of a model that was saved is that of the fit, bit for bit, where the
// fit has an exact one.
func TestModelPosterior(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model")
	for _, f := range modelledFits() {
		fit, ok := f.fit.(*ProcessFit)
		if !ok {
			if _, err := f.fit.Model().Posterior(t.Context(), f.x); f.fit.Model().process == nil && (err == nil || !strings.Contains(err.Error(), "has no variances")) {
				t.Errorf("%s: %v", f.name, err)
			}
			continue
		}
		if err := Save(path, fit); err != nil {
			t.Fatal(err)
		}
		m, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		x := [][]float64{f.x[0], f.x[3], {2.5}}
		got, err := m.Posterior(t.Context(), x)
		if f.name == "process by CG" {
			if err == nil || !strings.Contains(err.Error(), "iterative") {
				t.Errorf("%v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(f.name, err)
		}
		want, err := fit.Posterior(t.Context(), x)
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
	m, err := parseModel(sealed(smallProcess))
	if err != nil {
		t.Fatal(err)
	}
	if v, err := m.Values([][]float64{{1, 2}}); err != nil || !(math.Abs(v[0]-(1-2-3+1-math.Exp(-8))) < 1e-6) {
		t.Error(v, err)
	}
	for _, e := range [][2]string{{`[1,2,3]`, `[1,2]`}, {`[0.1]`, `[0.1,1,1]`}, {`[0.1]`, `[-1]`}, {`"beta":[1,2,3],`, ``}, {`"centre":[2,3],`, ``}, {`Gaussian process`, `regression`},
		{`,"process":{"beta":[1,2,3],"centre":[2,3],"noise":[0.1]}`, ``}, {`[[1,2],[3,4]]`, `null`}, {`"machines"`, `"duels":[[1,0]],"machines"`}} {
		if m, err := parseModel(sealed(strings.Replace(smallProcess, e[0], e[1], 1))); !errors.As(err, new(*ModelError)) {
			t.Errorf("%s: %v, %v", e[1], m, err)
		}
	}
}

// So are sparse vectors.
func TestLoadRefusesSparse(t *testing.T) {
	m, err := parseModel(sealed(smallSparse))
	if err != nil || m.D() != 1000 {
		t.Fatal(m, err)
	}
	for _, e := range [][2]string{{`[0,1,3]`, `[0,3,1]`}, {`[0,1,3]`, `[1,1,3]`}, {`[0,1,3]`, `[]`}, {`[7,7,999]`, `[7,999,7]`}, {`[7,7,999]`, `[7,7,1000]`}, {`[7,7,999]`, `[-7,7,999]`},
		{`[1,2,3]`, `[1,2]`}, {`null`, `[[1]]`}, {`"features":1000`, `"features":2000000000`}, {`[1,-1]`, `[1]`}} {
		if m, err := parseModel(sealed(strings.Replace(smallSparse, e[0], e[1], 1))); !errors.As(err, new(*ModelError)) {
			t.Errorf("%s: %v, %v", e[1], m, err)
		}
	}
	old := strings.Replace(string(sealed(smallSparse)), "model 2", "model 1", 1)
	if m, err := parseModel([]byte(old)); !errors.As(err, new(*ModelError)) {
		t.Errorf("sparse in version 1: %v, %v", m, err)
	}
}
