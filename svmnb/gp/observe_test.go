package gp

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers/linear"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
)

// Observations that arrive give the fit of all of them, one after the other or together, by each
// method and each mean.
func TestObserve(t *testing.T) {
	d := spatial(150, 9)
	base := Regress(d).Kernel(kernels.Scale(2, kernels.Matern52(0.3))).NoiseVariance(0.02)
	at := datasets.Rows{{0.4, 0.2}, {2, 2}, d.X[140]}
	for _, p := range []Process{
		base, base.ZeroMean(), base.LinearMean(), base.NormaliseTargets(), base.Using(linear.Mixed{}), base.Using(linear.LU{}),
		base.CG().Stop(linear.Residual{Rel: 1e-13}),
	} {
		tol := 1e-12
		if !direct(p.method) {
			tol = 1e-8
		}
		whole := testkit.FitOf(t, p)
		part := testkit.FitOf(t, p.On(d.Select(upTo(120))))
		before := must(part.Posterior(ctx, at))
		f, err := part.Observe(ctx, datasets.Rows(d.X[120:121]), d.Y[120:121])
		if err != nil {
			t.Fatal(err)
		}
		if f, err = f.Observe(ctx, datasets.Rows(d.X[121:]), d.Y[121:]); err != nil {
			t.Fatal(err)
		}
		got, want := must(f.Posterior(ctx, at)), must(whole.Posterior(ctx, at))
		for i := range at {
			testkit.Near(t, "mean", got.Mean[i], want.Mean[i], tol)
			testkit.Near(t, "variance", got.Variance[i], want.Variance[i], tol)
		}
		a, b := must(f.LogMarginalLikelihood(ctx)), must(whole.LogMarginalLikelihood(ctx))
		testkit.Near(t, "evidence", a.Value, b.Value, tol)
		slopes, wanted := must(f.Gradient(ctx)), must(whole.Gradient(ctx))
		for i, s := range slopes {
			testkit.Near(t, "slope of "+s.Name, s.Gradient.Value, wanted[i].Gradient.Value, max(tol, 1e-9))
		}
		if f.Description.String() != whole.Description.String() || f.Method != whole.Method {
			t.Errorf("%v by %s, want %v by %s", f.Description, f.Method, whole.Description, whole.Method)
		}
		if again := must(part.Posterior(ctx, at)); !slices.Equal(again.Mean, before.Mean) || !slices.Equal(again.Variance, before.Variance) {
			t.Error("the fit before has changed")
		}
	}
}

func upTo(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

func TestObserveRefuses(t *testing.T) {
	d := spatial(20, 9)
	p := Regress(d).Kernel(kernels.Matern32(0.3)).NoiseVariance(0)
	f := testkit.FitOf(t, p)
	ended, stop := context.WithCancel(ctx)
	stop()
	for _, c := range []struct {
		f   *Fit
		ctx context.Context
		x   [][]float64
		y   []float64
	}{
		{f, ctx, [][]float64{{1, 2}}, nil},
		{f, ctx, [][]float64{{1}}, []float64{1}},
		{f, ctx, [][]float64{{1, math.NaN()}}, []float64{1}},
		{f, ctx, [][]float64{{1, 2}}, []float64{math.Inf(1)}},
		{nil, ctx, [][]float64{{1, 2}}, []float64{1}},
		{testkit.FitOf(t, p.NoiseVariances(make([]float64, 20))), ctx, [][]float64{{1, 2}}, []float64{1}},
	} {
		if _, err := c.f.Observe(c.ctx, datasets.Rows(c.x), c.y); !testkit.IsArgument(err, "Observe") && c.f != nil || err == nil {
			t.Errorf("%v with %v: %v", c.x, c.y, err)
		}
	}
	var indefinite *linear.IndefiniteError
	if _, err := f.Observe(ctx, datasets.Rows(d.X[:1]), []float64{7}); !errors.As(err, &indefinite) {
		t.Errorf("a point twice without noise: %v", err)
	}
	if _, err := f.Observe(ended, datasets.Rows{{1, 2}}, []float64{1}); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupt: %v", err)
	}
	if same, err := f.Observe(ctx, datasets.Rows{}, nil); err != nil || !slices.Equal(same.Alpha, f.Alpha) {
		t.Errorf("no observations: %v", err)
	}
}
