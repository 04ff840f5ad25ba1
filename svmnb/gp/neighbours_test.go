package gp

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
)

// spatial has n points of a rough function on the unit square, with noise of variance 0.01.
func spatial(n int, seed uint64) *datasets.Dataset {
	rng := rand.New(rand.NewPCG(seed, 1))
	var x [][]float64
	var y []float64
	for range n {
		p := []float64{rng.Float64(), rng.Float64()}
		x, y = append(x, p), append(y, 3+math.Sin(9*p[0])*math.Cos(7*p[1])+0.1*rng.NormFloat64())
	}
	return datasets.New(x, y)
}

// near is testkit.Near for properties.
func near(t *rapid.T, what string, got, want, tol float64) {
	if !(math.Abs(got-want) <= tol) {
		t.Fatalf("%s: %v, want %v within %v", what, got, want, tol)
	}
}

// With all other points as neighbours, the evidence, its gradient and the posterior are those of
// the exact process; with fewer, the gradient is that by differences.
func TestNeighboursOfAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		d := spatial(n, rapid.Uint64().Draw(t, "seed"))
		length, noise := math.Exp(rapid.Float64Range(-3, 1).Draw(t, "ln length")), math.Exp(rapid.Float64Range(-5, 1).Draw(t, "ln noise"))
		k := kernels.Kernel(kernels.ScaleKernel{C: 2, K: kernels.Matern32(length)})
		if rapid.Bool().Draw(t, "apart") {
			k = kernels.Sum(kernels.ScaleKernel{C: 1.5, K: kernels.ARD(length, 3*length)}, kernels.Columns(kernels.Matern52(1), 0))
		}
		p := Regress(d).Kernel(k).NoiseVariance(noise)
		if rapid.Bool().Draw(t, "scaled") {
			p = p.NormaliseTargets()
		}
		if rapid.Bool().Draw(t, "variances") {
			v := make([]float64, n)
			for i := range v {
				v[i] = noise * (1 + float64(i%3))
			}
			p = p.NoiseVariances(v)
		}
		exact, err := p.Cholesky().Fit(ctx)
		if err != nil {
			t.Fatal(err)
		}
		f, err := p.Neighbours(max(1, n-1)).Fit(ctx)
		if err != nil {
			t.Fatal(err)
		}
		want := must(exact.LogMarginalLikelihood(ctx)).Value
		near(t, "evidence", f.Evidence, want, 1e-10*(1+math.Abs(want)))
		slope, ours := must(exact.Gradient(ctx)), must(f.Gradient(ctx))
		for i, s := range slope {
			near(t, s.Name, ours[i].Gradient.Value, s.Gradient.Value, 1e-9*(1+math.Abs(want)))
		}
		f, err = p.Neighbours(n).Fit(ctx)
		if err != nil {
			t.Fatal(err)
		}
		at := datasets.Rows{{0.5, 0.5}, d.X[0], {9, -4}}
		e, b := must(exact.Posterior(ctx, at)), must(f.Posterior(ctx, at))
		for i := range at {
			near(t, "mean", b.Mean[i], e.Mean[i], 1e-10*(1+math.Abs(e.Mean[i])))
			near(t, "variance", b.Variance[i], e.Variance[i], 1e-10)
		}
		if !math.IsNaN(e.Noise) || !math.IsNaN(b.Noise) {
			near(t, "noise", b.Noise, e.Noise, 1e-12)
		}

		f, err = p.Neighbours(rapid.IntRange(1, 8).Draw(t, "m")).Fit(ctx)
		if err != nil {
			t.Fatal(err)
		}
		partials := must(f.Gradient(ctx))
		for i, s := range partials {
			const h = 1e-4
			var side [2]float64
			for j := range side {
				var values []float64
				for _, p := range partials {
					values = append(values, p.Value)
				}
				values[i] *= math.Exp(h * float64(2*j-1))
				side[j] = must(must(f.task.with(values)).vecchia(ctx, f.near, nil, 1))
			}
			near(t, "slope of "+s.Name, s.Gradient.Value, (side[1]-side[0])/(2*h), 1e-5*(1+math.Abs(f.Evidence)))
		}
	})
}

// Thirty neighbours come near the exact process: its evidence to a hundredth of a nat a point, and
// its means to a standard deviation of f.
func TestNeighboursNearTheExact(t *testing.T) {
	d := spatial(1500, 5)
	p := Regress(d).Kernel(kernels.Scale(1, kernels.Matern32(0.3))).NoiseVariance(0.01)
	exact := testkit.FitOf(t, p)
	f, err := p.Neighbours(30).Fit(ctx)
	if err != nil {
		t.Fatal(err)
	}
	want := must(exact.LogMarginalLikelihood(ctx)).Value
	at := spatial(200, 6)
	e, b := must(exact.Posterior(ctx, at)), must(f.Posterior(ctx, at))
	apart := 0.0
	for i := range e.Mean {
		apart = max(apart, math.Abs(e.Mean[i]-b.Mean[i])/math.Sqrt(e.Variance[i]))
	}
	t.Logf("m = 30: ln p(y) %.3f, exact %.3f; a mean differs by %.2g deviations at most", f.Evidence, want, apart)
	if !(math.Abs(f.Evidence-want) < 15) || !(apart < 1) {
		t.Errorf("m = 30: ln p(y) %.3f, exact %.3f; a mean differs by %.2g deviations", f.Evidence, want, apart)
	}
}

// Learned hyperparameters are near those of the exact evidence, and the neighbours are chosen again
// by the lengths that were learned.
func TestNeighboursLearn(t *testing.T) {
	d := spatial(200, 7)
	p := Regress(d).Kernel(kernels.ScaleKernel{C: 1, K: kernels.ARD(1, 0.1)}).NoiseVariance(0.1).Optimise()
	exact := testkit.FitOf(t, p).Optimisation.End()
	f, err := p.Neighbours(25).Fit(ctx)
	if err != nil {
		t.Fatal(err)
	}
	end := f.Optimisation.End()
	for i, v := range end.Values {
		if r := math.Log(v / exact.Values[i]); math.Abs(r) > 0.5 {
			t.Errorf("%s: %v by neighbours, %v exactly", f.Optimisation.Names[i], v, exact.Values[i])
		}
	}
	if same(f.near.Unit, []float64{1, 0.1}) {
		t.Error("the neighbours are those of the kernel before learning")
	}
	testkit.Near(t, "evidence of the summary", end.Evidence, f.Evidence, 1e-6*math.Abs(f.Evidence)+2)
	again, err := f.Description.Fit(ctx)
	if err != nil || math.Abs(again.Evidence-f.Evidence) > 2 {
		t.Errorf("the description of the fit has another evidence: %v, %v (%v)", again.Evidence, f.Evidence, err)
	}
}

// A share of the terms estimates the evidence and its gradient.
func TestNeighboursShare(t *testing.T) {
	d := spatial(2000, 8)
	f, err := Regress(d).Kernel(kernels.Scale(1, kernels.Matern32(0.5))).NoiseVariance(0.02).Neighbours(10).Fit(ctx)
	if err != nil {
		t.Fatal(err)
	}
	grad := make([]float64, 3)
	v := must(f.task.vecchia(ctx, f.near, grad[:2], 4))
	testkit.Near(t, "evidence", v, f.Evidence, 0.1*math.Abs(f.Evidence))
	for i, s := range must(f.Gradient(ctx)) {
		testkit.Near(t, s.Name, grad[i], s.Gradient.Value, 0.2*math.Abs(s.Gradient.Value)+20)
	}
}

// What a process of neighbours refuses, and how it ends.
func TestNeighboursRefuse(t *testing.T) {
	d := spatial(60, 3)
	p := Regress(d).Kernel(kernels.Matern32(0.3))
	for _, c := range []struct {
		p        NeighbourProcess
		argument string
	}{
		{p.Neighbours(0), "Neighbours"},
		{NeighbourProcess{}, "Neighbours"},
		{p.LinearMean().Neighbours(3), "LinearMean"},
		{p.Memory(100).Neighbours(3), "Neighbours"},
		{Regress(datasets.New([][]float64{{1}, {1}}, []float64{1, 2})).Kernel(kernels.RBF(1)).NoiseVariance(0).Neighbours(1), "Neighbours"},
	} {
		_, err := c.p.Fit(ctx)
		if !testkit.IsArgument(err, c.argument) {
			t.Errorf("%v: %v, want an error of %s", c.p, err, c.argument)
		}
	}
	ended, stop := context.WithCancel(ctx)
	stop()
	if _, err := p.Neighbours(5).Fit(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupt is %v", err)
	}
	var none *NeighbourFit
	if _, err := none.Posterior(ctx, d); err == nil {
		t.Error("a nil fit predicts")
	}
	f, err := p.Neighbours(100).Fit(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Predict(datasets.Rows{{1, math.NaN()}}); err == nil {
		t.Error("NaN is no error")
	}
	if means, err := f.Predict(datasets.Rows{}); err != nil || len(means) != 0 {
		t.Error("no points are an error")
	}
	if !slices.Equal(must(f.Predict(d)), must(f.Posterior(ctx, d)).Mean) {
		t.Error("Predict and Posterior differ")
	}
}

// The figure of many points stays small, and says what it leaves out.
func TestNeighboursFigure(t *testing.T) {
	d := datasets.Sinc(30_000, 0.1, 1)
	f := testkit.FitOf(t, Regress(d).Kernel(kernels.Matern32(1)).NoiseVariance(0.01).Neighbours(4))
	chart, err := Posterior.Of(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(chart.JSON())
	if err != nil || len(text) > 200_000 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if s := chart.Title.Subtitle; !strings.Contains(s, "4 neighbours each") || !strings.Contains(s, "observations drawn") {
		t.Error(s)
	}
	if _, err := Posterior.Of(testkit.FitOf(t, Regress(spatial(20, 1)).Neighbours(4))); err == nil {
		t.Error("a figure of two features")
	}
}
