package selection_test

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/gp"
	"github.com/svmnb/svmnb/svmnb/model"
	"github.com/svmnb/svmnb/svmnb/selection"
	"github.com/svmnb/svmnb/svmnb/transform"
)

// shapleyBySubsets returns the Shapley values of a game by the sum over all 2^d sets.
func shapleyBySubsets(d int, value func(set uint) float64) []float64 {
	v, phi := make([]float64, 1<<d), make([]float64, d)
	for set := range v {
		v[set] = value(uint(set))
	}
	weight := make([]float64, d) // s! (d−1−s)! / d!
	for s := range weight {
		a, _ := math.Lgamma(float64(s + 1))
		b, _ := math.Lgamma(float64(d - s))
		c, _ := math.Lgamma(float64(d + 1))
		weight[s] = math.Exp(a + b - c)
	}
	for set := range v {
		for j := range phi {
			if set>>j&1 == 0 {
				phi[j] += weight[bits.OnesCount(uint(set))] * (v[set|1<<j] - v[set])
			}
		}
	}
	return phi
}

func attribution(t testing.TB, fit model.Modeler, x, background datasets.Points) *selection.Attribution {
	t.Helper()
	a, err := selection.Shapley(context.Background(), fit, x, background)
	if err != nil {
		t.Fatal(err)
	}
	for i, phi := range a.Values {
		sum := a.Base
		for _, v := range phi {
			sum += v
		}
		if math.Abs(sum-a.F[i]) > 1e-9*(1+math.Abs(a.F[i])) {
			t.Fatalf("point %d: base and values add up to %v, f is %v; %v, standard errors %v", i, sum, a.F[i], a.Model, a.Errors)
		}
	}
	return a
}

// With a background, the exact values are the sums over all sets of features of the mean value of
// the model, which the test computes by predictions only.
func TestShapleyValuesAreTheSumOverSets(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := rapid.IntRange(1, 10).Draw(rt, "d")
		data := datasets.Friedman1(40, 0.5, rapid.Uint64().Draw(rt, "seed")).Columns(seq(d)...)
		lengths := make([]float64, d)
		for j := range lengths {
			lengths[j] = rapid.Float64Range(0.1, 3).Draw(rt, "length")
		}
		k := []kernels.Kernel{
			kernels.RBF(rapid.Float64Range(0.01, 30).Draw(rt, "gamma")), kernels.ARD(lengths...), kernels.Laplacian(1),
			kernels.Product(kernels.ARD(lengths...), kernels.Columns(kernels.Laplacian(1), 0)), kernels.Linear(),
		}[rapid.IntRange(0, 4).Draw(rt, "kernel")]
		var fit model.Modeler = svmnb.Regress(data).Kernel(k).MustFit()
		switch rapid.IntRange(0, 2).Draw(rt, "learner") {
		case 1:
			fit = selection.Pipe(transform.Standardise(), svmnb.Regress(data).Kernel(k)).MustFit()
		case 2:
			fit = gp.Regress(data).Kernel(k).NoiseVariance(0.5).MustFit()
		}
		background := datasets.Rows(data.X[:3])
		point := datasets.Rows(data.X[7:8])
		a := attribution(t, fit, point, background)
		var rows datasets.Rows // of all sets, with each row of the background
		for set := range 1 << d {
			for _, row := range background {
				row = slices.Clone(row)
				for j := range d {
					if set>>j&1 == 1 {
						row[j] = point[0][j]
					}
				}
				rows = append(rows, row)
			}
		}
		values, err := model.Of(fit).Values(rows)
		if err != nil {
			t.Fatal(err)
		}
		want := shapleyBySubsets(d, func(set uint) (mean float64) {
			for r := range background {
				mean += values[int(set)*len(background)+r] / float64(len(background))
			}
			return mean
		})
		for j, v := range a.Values[0] {
			if math.Abs(v-want[j]) > 1e-10*(1+math.Abs(a.F[0])) {
				rt.Fatalf("%v, feature %d of %d: %v, by all sets %v", k, j, d, v, want[j])
			}
		}
		if a.Errors != nil {
			rt.Fatalf("%v has standard errors %v", k, a.Errors)
		}
	})
}

// Without a background the game is that of arXiv 2505.16516: an absent feature is left out of the
// product.
func TestShapleyValuesWithoutBackground(t *testing.T) {
	d := 7
	data := datasets.Friedman1(60, 0.5, 1).Columns(seq(d)...)
	lengths := []float64{0.3, 0.5, 1, 2, 0.7, 3, 0.4}
	fit := svmnb.Regress(data).Kernel(kernels.ARD(lengths...)).C(10).MustFit()
	x := data.X[3]
	a := attribution(t, fit, datasets.Rows{x}, nil)
	in := fit.Model().Inside()
	want := shapleyBySubsets(d, func(set uint) (f float64) {
		f = in.Terms[0].B
		for i, c := range in.Terms[0].Coef {
			r2 := 0.0
			for j := range d {
				if e := (x[j] - in.X.X[i][j]) / lengths[j]; set>>j&1 == 1 {
					r2 += e * e
				}
			}
			f += c * math.Exp(-r2/2)
		}
		return f
	})
	for j, v := range a.Values[0] {
		if math.Abs(v-want[j]) > 1e-10*(1+math.Abs(a.F[0])) {
			t.Errorf("feature %d: %v, by all sets %v", j, v, want[j])
		}
	}
}

// The drawn values of a kernel that is no product agree with the sums over all sets.
func TestDrawnShapleyValues(t *testing.T) {
	data := datasets.Friedman1(80, 0.5, 1).Columns(0, 1, 2, 3)
	fit := svmnb.Regress(data).Kernel(kernels.Matern52(0.7)).C(30).MustFit()
	background, point := datasets.Rows(data.X[:20]), data.X[30]
	a := attributionDrawn(t, fit, datasets.Rows{point}, background)
	want := shapleyBySubsets(4, func(set uint) (mean float64) {
		for _, row := range background {
			row = slices.Clone(row)
			for j := range row {
				if set>>j&1 == 1 {
					row[j] = point[j]
				}
			}
			v, err := fit.Model().Values(datasets.Rows{row})
			if err != nil {
				t.Fatal(err)
			}
			mean += v[0] / float64(len(background))
		}
		return mean
	})
	for j, v := range a.Values[0] {
		se := a.Errors[0][j]
		if math.Abs(v-want[j]) > 4.5*se || !(se > 0) || se > 1 {
			t.Errorf("feature %d: %v ± %v, by all sets %v", j, v, se, want[j])
		}
	}
}

func attributionDrawn(t *testing.T, fit model.Modeler, x, background datasets.Points) *selection.Attribution {
	t.Helper()
	a, err := selection.Shapley(context.Background(), fit, x, background)
	if err != nil {
		t.Fatal(err)
	}
	if a.Errors == nil {
		t.Fatal("no standard errors")
	}
	return a
}

func TestShapleyErrors(t *testing.T) {
	data := datasets.Moons(40, 0.2, 1)
	fit := svmnb.Classify(data).Kernel(kernels.RBF(1)).MustFit()
	three := svmnb.Classify(datasets.Iris()).OneVsOne().MustFit()
	for name, c := range map[string]struct {
		fit           model.Modeler
		x, background datasets.Points
		says          string
	}{
		"no fit":        {(*svmnb.Fit)(nil), data, data, "fit"},
		"three classes": {three, datasets.Iris(), nil, "3 machines"},
		"no points":     {fit, datasets.Rows{}, data, ""},
		"no background": {svmnb.Classify(data).Kernel(kernels.Matern52(1)).MustFit(), data, nil, "background"},
		"features":      {fit, datasets.Rows{{1}}, data, "feature"},
		"sparse":        {fit, sparseOf(data), data, "dense"},
	} {
		if _, err := selection.Shapley(context.Background(), c.fit, c.x, c.background); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, stop := context.WithCancelCause(context.Background())
	enough := errors.New("enough")
	stop(enough)
	if a, err := selection.Shapley(ctx, fit, data, data); !errors.Is(err, enough) || a == nil || len(a.Values) != 0 {
		t.Errorf("interrupted: %v, %v", a, err)
	}
}

func seq(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}
