package gp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"pgregory.net/rapid"
)

func thinned(t *testing.T, p SparseProcess) *SparseFit {
	t.Helper()
	f, err := p.Fit(ctx)
	if err != nil {
		t.Fatalf("%v: %v", p, err)
	}
	return f
}

// TestSparseOfAll: through all its points, a sparse process is the exact one.
func TestSparseOfAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var x [][]float64
	var y []float64
	for range 40 {
		p := []float64{4 * rng.NormFloat64(), 4 * rng.NormFloat64()}
		x, y = append(x, p), append(y, 10+5*math.Sin(p[0])+rng.NormFloat64())
	}
	for _, p := range []Process{
		Regress(datasets.New(x, y)).Kernel(kernels.Scale(9, kernels.Matern32(2))).NoiseVariance(0.5),
		Regress(datasets.New(x, y)).NormaliseTargets().Kernel(kernels.Matern52(2)).NoiseVariance(0.1),
		Regress(datasets.New(x, y)).ZeroMean().Kernel(kernels.Scale(90, kernels.Exponential(2))).NoiseVariance(0.5),
	} {
		exact, f := testkit.FitOf(t, p), thinned(t, p.Inducing(40))
		want := certain(exact.LogMarginalLikelihood(ctx)).Value
		testkit.Near(t, "lower bound", f.Lower, want, 1e-5)
		testkit.Near(t, "upper bound", f.Upper, want, 1e-5)
		at := datasets.Rows{{0, 0}, {1, -2}, {30, 1}}
		b, err := f.Posterior(ctx, at)
		if err != nil {
			t.Fatal(err)
		}
		e := must(exact.Posterior(ctx, at))
		for i := range at {
			testkit.Near(t, "mean", b.Mean[i], e.Mean[i], 1e-6)
			testkit.Near(t, "variance", b.Variance[i], e.Variance[i], 1e-6)
		}
		testkit.Near(t, "noise", b.Noise, e.Noise, 1e-12)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestSparseBounds: the exact evidence is between the bounds on random problems, always, and
// the gradient of the lower one is that by differences.
func TestSparseBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 50).Draw(t, "n")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		var x [][]float64
		var y []float64
		for range n {
			p := []float64{rng.NormFloat64(), rng.NormFloat64()}
			x, y = append(x, p), append(y, math.Sin(2*p[0])+rng.NormFloat64())
		}
		length := math.Exp(rapid.Float64Range(-2, 1).Draw(t, "ln length"))
		k := kernels.Kernel(kernels.SquaredExponential(length))
		if rapid.Bool().Draw(t, "rough") {
			k = kernels.Matern32(length)
		}
		noise := math.Exp(rapid.Float64Range(-5, 2).Draw(t, "ln noise"))
		p := Regress(datasets.New(x, y)).Kernel(kernels.ScaleKernel{C: math.Exp(rapid.Float64Range(-2, 2).Draw(t, "ln scale")), K: k}).NoiseVariance(noise)
		f, err := p.Inducing(rapid.IntRange(1, 20).Draw(t, "m")).Fit(ctx)
		if err != nil {
			t.Fatal(err)
		}
		exact, err := p.Cholesky().Fit(ctx)
		if err != nil {
			t.Fatal(err)
		}
		e, err := exact.LogMarginalLikelihood(ctx)
		if slack := 1e-9 * (1 + math.Abs(e.Value)); err != nil || !(f.Lower <= e.Value+slack && e.Value <= f.Upper+slack) {
			t.Fatalf("%v is not between %v and %v (%v)", e.Value, f.Lower, f.Upper, err)
		}
		partials, err := f.task.hyperparameters()
		if err != nil {
			t.Fatal(err)
		}
		grad := make([]float64, len(partials))
		if err := f.gradient(ctx, grad); err != nil {
			t.Fatal(err)
		}
		for i := range grad {
			const h = 1e-4
			var side [2]float64
			for s := range side {
				var values []float64
				for _, p := range partials {
					values = append(values, p.Value)
				}
				values[i] *= math.Exp(h * float64(2*s-1))
				other, err := f.task.with(values)
				if err != nil {
					t.Fatal(err)
				}
				g, err := other.throughPoints(ctx, f.Inducing)
				if err != nil {
					t.Fatal(err)
				}
				side[s] = g.Lower
			}
			if want := (side[1] - side[0]) / (2 * h); !(math.Abs(grad[i]-want) <= 1e-4*(1+math.Abs(want))) {
				t.Fatalf("∂/∂ ln %s is %v, by differences %v", partials[i].Name, grad[i], want)
			}
		}
	})
}

// TestSparseLearns: the learned bound comes near the learned evidence, and more inducing points
// come nearer.
func TestSparseLearns(t *testing.T) {
	best := testkit.FitOf(t, motorcycle().Optimise()).Optimisation.End().Evidence
	before := math.Inf(-1)
	for _, m := range []int{6, 12, 30} {
		f := thinned(t, motorcycle().Optimise().Inducing(m))
		o := f.Optimisation
		if o == nil || o.Ascents[o.Best].Status != solvers.Converged || f.Lower < o.Ascents[0].Path[0].Evidence {
			t.Fatalf("%d points: %+v", m, o)
		}
		if f.Lower > best+1e-6 || f.Lower < before || f.Upper < f.Lower {
			t.Errorf("%d points: between %v and %v, the best is %v, before %v", m, f.Lower, f.Upper, best, before)
		}
		before = f.Lower
		if md := f.Markdown(); !strings.Contains(md, "inducing point") || !strings.Contains(md, "is between") {
			t.Error(md)
		}
	}
	if best-before > 0.01 {
		t.Errorf("30 points lose %v", best-before)
	}
}

// TestSparseMany: 5,000 points through 60, with what a function of one feature needs.
func TestSparseMany(t *testing.T) {
	data := datasets.Sinc(5000, 0.1, 1)
	f := thinned(t, Regress(data).Kernel(kernels.SquaredExponential(1)).NoiseVariance(0.01).Inducing(60))
	if len(f.Inducing) > 60 || f.Upper-f.Lower > 1 {
		t.Errorf("%d points, between %v and %v", len(f.Inducing), f.Lower, f.Upper)
	}
	test := datasets.Sinc(200, 0, 2)
	mean, err := f.Predict(test)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range mean {
		testkit.Near(t, fmt.Sprint("f", test.X[i]), m, test.Y[i], 0.05)
	}
	chart, err := Posterior.Of(f)
	if err != nil || !strings.Contains(chart.Title.Subtitle, "inducing points") {
		t.Errorf("%v, %v", chart, err)
	}
}

func TestSparseRefuses(t *testing.T) {
	var argument *arguments.Error
	for name, p := range map[string]SparseProcess{
		"no points":    motorcycle().Inducing(0),
		"linear mean":  motorcycle().LinearMean().Inducing(3),
		"no noise":     motorcycle().NoiseVariance(0).Inducing(3),
		"noises":       motorcycle().NoiseVariances(make([]float64, 133)).Inducing(3),
		"zero value":   {},
		"wrong kernel": motorcycle().Kernel(nil).Inducing(3),
	} {
		if f, err := p.Fit(ctx); f != nil || !errors.As(err, &argument) {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
	f := thinned(t, motorcycle().Inducing(3))
	if _, err := f.Posterior(ctx, datasets.Rows{{1, 2}}); !errors.As(err, &argument) {
		t.Errorf("%v", err)
	}
	if _, err := PosteriorSamples(2, 1).Of(f); !errors.As(err, &argument) {
		t.Errorf("%v", err)
	}
	var none *SparseFit
	if _, err := none.Predict(datasets.Rows{{1}}); err == nil {
		t.Error("a fit that is nil")
	}
	ended, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	cancel(why)
	for _, p := range []SparseProcess{motorcycle().Inducing(5), motorcycle().Optimise().Inducing(5)} {
		if f, err := p.Fit(ended); f != nil || !errors.Is(err, why) {
			t.Errorf("%v: %v, %v", p, f, err)
		}
	}
	if want := "gp.Regress(motorcycle).Kernel(Scale(2025, SquaredExponential(5))).NoiseVariance(484).Cholesky().Optimise().Inducing(5)"; motorcycle().Cholesky().Optimise().Inducing(5).String() != want {
		t.Errorf("%v", motorcycle().Cholesky().Optimise().Inducing(5))
	}
}
