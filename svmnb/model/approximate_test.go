package model_test

import (
	"bytes"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/gp"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"github.com/svmnb/svmnb/svmnb/model"
)

// approximate are models of approximate processes, as files have them.
var approximate = []string{
	`{"kind":"Gaussian process of classes","kernel":"RBF(1)","features":1,"classes":["a","b"],"targets":[0,1],"vectors":[[1],[3]],"machines":[{"coef":[1,-1],"bias":0}],"process":{"approximation":{"of":"EP","curve":[0.1,0.2]}}}`,
	`{"kind":"Gaussian process of classes","kernel":"RBF(1)","features":1,"classes":["a","b","c"],"targets":[0,1,2],"vectors":[[1],[3]],"machines":[{"coef":[1,-1],"bias":0},{"coef":[0,-1],"bias":0},{"coef":[1,2],"bias":0}],"process":{"approximation":{"of":"Laplace"}}}`,
	`{"kind":"Gaussian process","kernel":"RBF(1)","features":1,"vectors":[[1],[3]],"machines":[{"coef":[1,-1],"bias":2}],"process":{"noise":[0.1],"approximation":{"of":"inducing points","second":[1,2],"square":[[2],[0.5,3]],"jitter":1e-9}}}`,
	`{"kind":"Gaussian process of counts","kernel":"RBF(1)","features":1,"vectors":[[1],[3]],"machines":[{"coef":[1,-1],"bias":2}],"process":{"noise":[0],"approximation":{"of":"gp.Poisson()","curve":[2,3]}}}`,
	`{"kind":"Gaussian process","kernel":"RBF(1)","features":1,"vectors":[[1],[3]],"machines":[{"coef":[1,-1],"bias":2}],"process":{"noise":[0.1],"approximation":{"of":"gp.StudentT(4)","curve":[2,-0.1]}}}`,
	`{"kind":"Gaussian process","kernel":"RBF(1)","features":1,"vectors":[[1],[3]],"machines":[{"coef":[1,-1],"bias":2}],"process":{"noise":[0.1,0.2],"approximation":{"of":"gp.Heteroscedastic","curve":[2,0.1],"second":[0.1,0.2],"base":0.3,"noise":"Matern32(2)"}}}`,
}

// near is a model of nearest neighbours, as files have it.
const near = `{"kind":"Gaussian process of nearest neighbours","kernel":"RBF(1)","features":1,"vectors":[[1],[3],[4]],"machines":[{"coef":[1,-1,2],"bias":2}],"process":{"noise":[0.1],"scale":{"centre":1,"width":3},"approximation":{"of":"nearest neighbours","near":2,"unit":[0.5]}}}`

// versioned is testkit.Sealed with the version of approximate processes.
func versioned(body string) []byte { return of("7", body) }

// of is testkit.Sealed with any version.
func of(version, body string) []byte {
	_, rest, _ := strings.Cut(string(testkit.Sealed(body)), "\n")
	return []byte("svmnb model " + version + "\n" + rest)
}

// Approximate processes predict from a file as their fits do.
func TestApproximateModels(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "model")
	saved := func(fit model.Modeler) *model.Model {
		t.Helper()
		if err := model.Save(path, fit); err != nil {
			t.Fatal(err)
		}
		m, err := model.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	near := func(what string, got, want []float64) {
		t.Helper()
		for i, w := range want {
			if !(math.Abs(got[i]-w) <= 1e-12*(1+math.Abs(w))) || len(got) != len(want) {
				t.Errorf("%s: %v, want %v", what, got[i], w)
			}
		}
	}
	kernel := kernels.Scale(3, kernels.RBF(0.7))
	moons, iris := datasets.Moons(40, 0.2, 1), datasets.Iris().Columns(2, 3).Standardised()
	for _, c := range []gp.Classifier{gp.Classify(moons), gp.Classify(moons).EP(), gp.Classify(iris)} {
		f := testkit.FitOf(t, c.Kernel(kernel))
		at := datasets.Rows{{0.1, 0.2}, {2, -1}, {0.5, 0.9}}
		m := saved(f)
		if len(f.Classes) == 3 {
			if _, err := gp.ProbabilityOf(ctx, m, at); err == nil {
				t.Error("a model of scaled data takes any points")
			}
			m = m.Transformed()
		}
		p, err := gp.ProbabilityOf(ctx, m, at)
		if err != nil {
			t.Fatal(err)
		}
		want, err := f.Probability(ctx, at)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			near(c.String(), p[i], want[i])
		}
		names, err := m.Predict(at)
		if len(f.Classes) == 3 {
			if _, err := m.Values(at); err == nil || !strings.Contains(err.Error(), "gp.ProbabilityOf") {
				t.Error(err)
			}
			if err == nil || !strings.Contains(err.Error(), "gp.ProbabilityOf") {
				t.Error(err)
			}
			continue
		}
		if own, _ := f.Predict(ctx, at); err != nil || !slices.Equal(names, own) {
			t.Errorf("%v, %v, want %v", names, err, own)
		}
		if _, err := m.Probabilities(at); err == nil || !strings.Contains(err.Error(), "gp.ProbabilityOf") {
			t.Error(err)
		}
		if err := m.WriteGo(new(bytes.Buffer), "x"); !errors.As(err, new(*model.Error)) {
			t.Error(err)
		}
		if _, err := m.NewRow(); err == nil {
			t.Error("a row of a process of classes")
		}
	}
	sinc := datasets.Sinc(40, 0.1, 1)
	counts := datasets.New(sinc.X, slices.Clone(sinc.Y))
	for i, y := range counts.Y {
		counts.Y[i] = math.Floor(math.Exp(2 + y))
	}
	at := datasets.Rows{{0.3}, {-4}, {30}}
	base := gp.Regress(sinc).Kernel(kernels.SquaredExponential(1)).NoiseVariance(0.01)
	for _, p := range []gp.LatentProcess{
		base.Likelihood(gp.StudentT(4)), gp.Regress(counts).Kernel(kernel).Likelihood(gp.Poisson()),
		base.Likelihood(gp.Heteroscedastic(kernels.SquaredExponential(3))),
	} {
		f := testkit.FitOf(t, p)
		m := saved(f)
		b, err := gp.PosteriorOf(ctx, m, at)
		if err != nil {
			t.Fatal(err)
		}
		want, err := f.Latent(ctx, at)
		if err != nil {
			t.Fatal(err)
		}
		near(p.String(), b.Mean, want.Mean)
		near(p.String(), b.Variance, want.Variance)
		low, high, err := gp.IntervalOf(ctx, m, at, 0.9)
		if err != nil {
			t.Fatal(err)
		}
		wantLow, wantHigh, err := f.Interval(ctx, at, 0.9)
		if err != nil {
			t.Fatal(err)
		}
		near(p.String(), low, wantLow)
		near(p.String(), high, wantHigh)
		values, err := m.Values(at)
		if own, _ := f.Predict(ctx, at); err == nil {
			near(p.String(), values, own)
		} else if !strings.Contains(err.Error(), "gp.PosteriorOf") {
			t.Error(err)
		}
		if _, err := gp.ProbabilityOf(ctx, m, at); err == nil {
			t.Error("probabilities of targets")
		}
	}
	for _, p := range []gp.SparseProcess{
		base.Inducing(12), base.NormaliseTargets().NoiseVariance(0.05).Inducing(12),
		base.Inducing(5).OptimiseInducing(), base.NormaliseTargets().NoiseVariance(0.05).Inducing(4).CGLB(),
	} {
		f := testkit.FitOf(t, p)
		m := saved(f)
		b, err := gp.PosteriorOf(ctx, m, at)
		if err != nil {
			t.Fatal(err)
		}
		want, err := f.Posterior(ctx, at)
		if err != nil {
			t.Fatal(err)
		}
		near("sparse", b.Mean, want.Mean)
		near("sparse", b.Variance, want.Variance)
		near("sparse", []float64{b.Noise}, []float64{want.Noise})
		values, err := m.Values(at)
		if err != nil {
			t.Fatal(err)
		}
		near("sparse", values, want.Mean)
		if err := m.WriteGo(new(bytes.Buffer), "x"); err != nil && !strings.Contains(err.Error(), "kernel") {
			t.Error(err)
		}
	}
}

// Files of approximate processes that were changed by hand are refused, or their predictions are.
func TestApproximateModelsRefused(t *testing.T) {
	ctx := t.Context()
	for _, body := range approximate {
		m, err := model.Read(bytes.NewReader(versioned(body)))
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		if m.Inside().Classes != nil {
			_, err = gp.ProbabilityOf(ctx, m, datasets.Rows{{2}})
		} else {
			_, _, err = gp.IntervalOf(ctx, m, datasets.Rows{{2}}, 0.9)
		}
		if err != nil {
			t.Errorf("%s: %v", body, err)
		}
		if m, err := model.Read(bytes.NewReader(testkit.Sealed(body))); err == nil {
			t.Errorf("version 1: %v", m)
		}
	}
	for _, e := range []struct {
		of       int
		old, new string
	}{
		{0, `[0.1,0.2]`, `[0.1]`}, {0, `"approximation":{"of":"EP","curve":[0.1,0.2]}`, ``}, {0, `"a","b"`, `"a"`}, {1, `,{"coef":[1,2],"bias":0}`, ``},
		{2, `[[2],[0.5,3]]`, `[[2],[3]]`}, {2, `1e-9`, `-1`}, {2, `"second":[1,2]`, `"second":[1]`}, {5, `Matern32(2)`, `Matern32(-2)`}, {5, `0.3`, `-0.3`},
	} {
		if m, err := model.Read(bytes.NewReader(versioned(strings.Replace(approximate[e.of], e.old, e.new, 1)))); !errors.As(err, new(*model.Error)) {
			t.Errorf("%s: %v, %v", e.new, m, err)
		}
	}
	for _, e := range []struct {
		of       int
		old, new string
	}{{3, `,"curve":[2,3]`, ``}, {4, `StudentT(4)`, `StudentT(0)`}, {4, `StudentT(4)`, `Cauchy()`}, {2, `,"second":[1,2]`, ``}, {5, `,"second":[0.1,0.2]`, ``}, {4, `[2,-0.1]`, `[-100,-100]`}} {
		m, err := model.Read(bytes.NewReader(versioned(strings.Replace(approximate[e.of], e.old, e.new, 1))))
		if err != nil {
			t.Fatalf("%s: %v", e.new, err)
		}
		if _, _, err := gp.IntervalOf(ctx, m, datasets.Rows{{2}}, 0.9); err == nil {
			t.Errorf("%s predicts", e.new)
		}
	}
}

// A process of nearest neighbours predicts from a file as its fit does, bit for bit.
func TestNeighbourModels(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "model")
	d := datasets.Friedman1(300, 0.1, 1)
	variances := make([]float64, 300)
	for i := range variances {
		variances[i] = 0.1 + float64(i%3)
	}
	lengths := kernels.Scale(20, kernels.ARDMatern32(0.5, 0.7, 1, 0.9, 2, 3, 3, 3, 3, 3))
	base := gp.Regress(d).Kernel(kernels.Scale(20, kernels.Matern52(1))).NoiseVariance(0.1)
	at := datasets.Rows(datasets.Friedman1(70, 0, 2).X)
	for _, p := range []gp.NeighbourProcess{
		base.Neighbours(1), base.Neighbours(15), base.Neighbours(1000), base.ZeroMean().Kernel(lengths).Neighbours(15),
		base.NormaliseTargets().NoiseVariance(0.01).Kernel(kernels.Matern32(1)).Neighbours(15), base.NoiseVariances(variances).Kernel(lengths).Neighbours(15),
	} {
		f := testkit.FitOf(t, p)
		if err := model.Save(path, f); err != nil {
			t.Fatal(err)
		}
		m, err := model.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		want, err := f.Posterior(ctx, at)
		if err != nil {
			t.Fatal(err)
		}
		for _, own := range []*model.Model{f.Model(), m} {
			values, err := own.Values(at)
			if err != nil || !slices.Equal(values, want.Mean) {
				t.Errorf("%v: %v, %v; want %v", p, values, err, want.Mean)
			}
			b, err := gp.PosteriorOf(ctx, own, at)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(b.Mean, want.Mean) || !slices.Equal(b.Variance, want.Variance) || b.Noise != want.Noise && !(math.IsNaN(b.Noise) && math.IsNaN(want.Noise)) {
				t.Errorf("%v: %v, want %v", p, b, want)
			}
			low, high, err := gp.IntervalOf(ctx, own, at, 0.9)
			if err != nil {
				t.Fatal(err)
			}
			wantLow, wantHigh := want.Interval(0.9)
			if !math.IsNaN(want.Noise) && (!slices.Equal(low, wantLow) || !slices.Equal(high, wantHigh)) {
				t.Errorf("%v: %v to %v, want %v to %v", p, low, high, wantLow, wantHigh)
			}
		}
		if _, err := gp.ProbabilityOf(ctx, m, at); err == nil {
			t.Error("probabilities of targets")
		}
		if err := m.WriteGo(new(bytes.Buffer), "x"); !errors.As(err, new(*model.Error)) {
			t.Error(err)
		}
		if _, err := m.NewRow(); err == nil || !strings.Contains(err.Error(), "Values") {
			t.Error(err)
		}
		if values, err := m.Values(datasets.Rows{}); err != nil || len(values) != 0 {
			t.Error(values, err)
		}
		if _, err := m.Values(datasets.Rows{{1}}); err == nil {
			t.Error("a point of another number of features")
		}
	}
	scaled := testkit.FitOf(t, gp.Regress(d.Standardised()).Neighbours(10))
	if err := model.Save(path, scaled); err != nil {
		t.Fatal(err)
	}
	m, err := model.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := m.Raw().Values(datasets.Rows(d.X))
	if err != nil {
		t.Fatal(err)
	}
	if own, err := scaled.Predict(d.Standardised()); err != nil || !slices.Equal(raw, own) {
		t.Errorf("%v, %v; want %v", raw, err, own)
	}
	if (*gp.NeighbourFit)(nil).Model() != nil || new(gp.NeighbourFit).Model() != nil {
		t.Error("an empty fit has a model")
	}
}

// outputs is a model of the second of two outputs, as files have it.
const outputs = `{"kind":"Gaussian process","kernel":"RBF(1)","features":1,"vectors":[[1],[3],[4]],"machines":[{"coef":[1,-1,2],"bias":0}],"process":{"noise":[0.1],"scale":{"centre":1,"width":3},"approximation":{"of":"several outputs","square":[[1],[0.5,2]],"output":1,"seen":[[0,2],[1,2]]}}}`

// Files of one of several outputs that were changed by hand are refused.
func TestOutputModelsRefused(t *testing.T) {
	m, err := model.Read(bytes.NewReader(of("10", outputs)))
	if err != nil {
		t.Fatal(err)
	}
	if v, err := m.Values(datasets.Rows{{100}}); err != nil || v[0] != 1 {
		t.Error(v, err)
	}
	b, err := gp.PosteriorOf(t.Context(), m, datasets.Rows{{100}})
	if err != nil || b.Mean[0] != 1 || b.Variance[0] != 18 || math.Abs(b.Noise-0.9) > 1e-12 { // far away it is 3²·B_11
		t.Error(b, err)
	}
	for _, version := range []string{"1", "7", "9"} {
		if m, err := model.Read(bytes.NewReader(of(version, outputs))); !errors.As(err, new(*model.Error)) {
			t.Errorf("version %s: %v, %v", version, m, err)
		}
	}
	for _, e := range [][2]string{
		{`"output":1`, `"output":2`}, {`"output":1`, `"output":-1`}, {`,"seen":[[0,2],[1,2]]`, ``}, {`[[0,2],[1,2]]`, `[[0,2]]`}, {`[[0,2],[1,2]]`, `[[2,0],[1,2]]`},
		{`[[0,2],[1,2]]`, `[[0,3],[1,2]]`}, {`[[0,2],[1,2]]`, `[[-1,2],[1,2]]`}, {`[[1],[0.5,2]]`, `[[1],[0.5]]`}, {`[[1],[0.5,2]]`, `[[1],[0.5,-2]]`},
		{`[[1],[0.5,2]]`, `[[1]]`}, {`"output":1`, `"output":1,"curve":[1,2,3]`}, {`"output":1`, `"output":1,"second":[1,2]`}, {`"noise":[0.1],`, ``},
		{`[0.1]`, `[0.1,0.2,0.3]`}, {`"of":"several outputs"`, `"of":"inducing points"`}, {`"Gaussian process"`, `"Gaussian process of nearest neighbours"`},
	} {
		for _, version := range []string{"7", "10"} {
			if m, err := model.Read(bytes.NewReader(of(version, strings.Replace(outputs, e[0], e[1], 1)))); !errors.As(err, new(*model.Error)) {
				t.Errorf("version %s, %s: %v, %v", version, e[1], m, err)
			}
		}
	}
	// A matrix of covariances that is not one has no factor.
	m, err = model.Read(bytes.NewReader(of("10", strings.Replace(outputs, `[0.5,2]`, `[50,2]`, 1))))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := gp.PosteriorOf(t.Context(), m, datasets.Rows{{1}}); err == nil {
		t.Error(b)
	}
}

// Files of neighbours that were changed by hand are refused.
func TestNeighbourModelsRefused(t *testing.T) {
	m, err := model.Read(bytes.NewReader(of("9", near)))
	if err != nil {
		t.Fatal(err)
	}
	// The points 3 and 4 are nearest to 3.6, with 1.1 on the diagonal.
	k := func(a, b float64) float64 { return math.Exp(-(a - b) * (a - b)) }
	det := 1.1*1.1 - k(3, 4)*k(3, 4)
	a, b := (1.1*-1-k(3, 4)*2)/det, (1.1*2-k(3, 4)*-1)/det
	if v, err := m.Values(datasets.Rows{{3.6}}); err != nil || !(math.Abs(v[0]-(1+3*(2+a*k(3, 3.6)+b*k(4, 3.6)))) < 1e-12) {
		t.Error(v, err)
	}
	for _, version := range []string{"1", "7", "8"} {
		if m, err := model.Read(bytes.NewReader(of(version, near))); !errors.As(err, new(*model.Error)) || !strings.Contains(err.Error(), "version 9") {
			t.Errorf("version %s: %v, %v", version, m, err)
		}
	}
	if m, err := model.Read(bytes.NewReader(of("9", approximate[2]))); !errors.As(err, new(*model.Error)) || !strings.Contains(err.Error(), "version 9") {
		t.Errorf("%v, %v", m, err)
	}
	for _, e := range [][2]string{
		{`"near":2`, `"near":0`}, {`"near":2`, `"near":4`}, {`"near":2`, `"near":-1`}, {`"unit":[0.5]`, `"unit":[0]`}, {`"unit":[0.5]`, `"unit":[1,1]`},
		{`,"unit":[0.5]`, ``}, {`"noise":[0.1],`, ``}, {`[0.1]`, `[0.1,0.2]`}, {`[0.1]`, `[-0.1]`}, {`"of":"nearest neighbours"`, `"of":"inducing points"`},
		{`"near":2`, `"near":2,"curve":[1,2,3]`}, {`"near":2`, `"near":2,"second":[1,2,3]`}, {`"noise"`, `"beta":[1,2],"centre":[0],"noise"`},
		{`[1,-1,2]`, `[1,-1]`}, {` of nearest neighbours"`, `"`}, {`"width":3`, `"width":0`}, {`,"approximation":{"of":"nearest neighbours","near":2,"unit":[0.5]}`, ``},
	} {
		for _, version := range []string{"7", "9"} {
			if m, err := model.Read(bytes.NewReader(of(version, strings.Replace(near, e[0], e[1], 1)))); !errors.As(err, new(*model.Error)) {
				t.Errorf("%s: %v, %v", e[1], m, err)
			}
		}
	}
	m, err = model.Read(bytes.NewReader(of("9", strings.NewReplacer(`[0.1]`, `[0]`, `[[1],[3],[4]]`, `[[3],[3],[4]]`).Replace(near))))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Values(datasets.Rows{{3.2}}); err == nil || !strings.Contains(err.Error(), "positive definite") {
		t.Error(err)
	}
}
