package gp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers/linear"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"github.com/svmnb/svmnb/svmnb/model"
)

// outputs returns n points with m outputs that follow one another.
func outputs(n, m int) (Process, [][]float64) {
	rng := rand.New(rand.NewPCG(3, 3))
	var x, y [][]float64
	for range n {
		v := 6 * rng.Float64()
		row := make([]float64, m)
		for o := range row {
			row[o] = float64(10*o) + math.Sin(v+0.3*float64(o))*float64(1+o) + 0.1*rng.NormFloat64()
		}
		x, y = append(x, []float64{v}), append(y, row)
	}
	return Regress(datasets.New(x, make([]float64, n))).Kernel(kernels.SquaredExponential(1)).NoiseVariance(0.05), y
}

func several2(t *testing.T, p MultiProcess) *MultiFit {
	t.Helper()
	f, err := p.Fit(ctx)
	if err != nil {
		t.Fatalf("%v: %v", p, err)
	}
	return f
}

// TestOutputs: independent outputs are those of one process for each, from one factor.
func TestOutputs(t *testing.T) {
	p, y := outputs(20, 3)
	f := several2(t, p.Outputs(y, "a", "b", "c"))
	at, sum := datasets.Rows{{1}, {3.3}, {20}}, 0.0
	b := must(f.Posterior(ctx, at))
	for o := range 3 {
		one := testkit.FitOf(t, Regress(datasets.New(p.data.X, column(y, o))).Kernel(p.kernel).NoiseVariance(0.05))
		sum += certain(one.LogMarginalLikelihood(ctx)).Value
		want, own := must(one.Posterior(ctx, at)), must(f.Of[o].Posterior(ctx, at))
		for i := range at {
			for _, b := range []*Belief{b[o], own} {
				testkit.Near(t, "mean", b.Mean[i], want.Mean[i], 1e-9)
				testkit.Near(t, "variance", b.Variance[i], want.Variance[i], 1e-9)
			}
		}
		if f.Of[o].Factor != f.Of[0].Factor {
			t.Error("another factor")
		}
	}
	testkit.Near(t, "evidence", f.LogMarginalLikelihood(), sum, 1e-8)
	p, n := p.NormaliseTargets().ConstantMean(), len(y)
	f = several2(t, p.Outputs(y))
	b = must(f.Posterior(ctx, at))
	for o := range 3 {
		one := testkit.FitOf(t, p.On(datasets.New(p.data.X, column(y, o))))
		want, own := must(one.Posterior(ctx, at)), must(PosteriorOf(ctx, f.Of[o].Model(), at))
		for i := range at {
			for _, b := range []*Belief{b[o], own} {
				testkit.Near(t, "scaled mean", b.Mean[i], want.Mean[i], 1e-9)
				testkit.Near(t, "scaled variance", b.Variance[i], want.Variance[i], 1e-9)
				testkit.Near(t, "scaled noise", b.Noise, want.Noise, 1e-9)
			}
		}
		testkit.Near(t, "residual", must(f.Of[o].LeaveOneOut(ctx)).Mean[n-1], must(one.LeaveOneOut(ctx)).Mean[n-1], 1e-9)
		testkit.Near(t, "evidence", must(f.Of[o].LogMarginalLikelihood(ctx)).Value, must(one.LogMarginalLikelihood(ctx)).Value, 1e-9)
	}
	scaled := several2(t, p.Outputs(y).Coregionalise())
	for i, b := range must(scaled.Posterior(ctx, at)) {
		testkit.Near(t, "mean far away", b.Mean[2], scaled.task.offset[i], 1e-6)
		testkit.Near(t, "variance far away", b.Variance[2], scaled.Coregion[i][i], 1e-6)
	}
}

// TestOutputModels: models of the outputs predict as the fit does, also after a file, with values missing.
func TestOutputModels(t *testing.T) {
	p, y := outputs(15, 3)
	y[2][0], y[5][1], y[5][2], y[9][2] = math.NaN(), math.NaN(), math.NaN(), math.NaN()
	at := datasets.Rows{{1}, {3.3}, {20}}
	for _, of := range []Process{p, p.NormaliseTargets()} {
		task, err := of.Outputs(y, "a", "b", "c").Coregionalise().prepare()
		if err != nil {
			t.Fatal(err)
		}
		if task, err = task.with([]float64{1.3, 1, 2, 1.5, 0.8, 2, 1.1, 0.05}); err != nil {
			t.Fatal(err)
		}
		f, err := task.solve(ctx)
		if err != nil {
			t.Fatal(err)
		}
		want := must(f.Posterior(ctx, at))
		for o := range f.Names {
			m := f.Model(o)
			path := filepath.Join(t.TempDir(), "output.svmnb")
			if err := model.Save(path, m); err != nil {
				t.Fatal(err)
			}
			for _, m := range []*model.Model{m, must(model.Load(path))} {
				got, values := must(PosteriorOf(ctx, m, at)), must(m.Values(at))
				testkit.Near(t, "noise", got.Noise, want[o].Noise, 1e-9)
				for i := range at {
					testkit.Near(t, "value", values[i], want[o].Mean[i], 1e-9)
					testkit.Near(t, "mean", got.Mean[i], want[o].Mean[i], 1e-9)
					testkit.Near(t, "variance", got.Variance[i], want[o].Variance[i], 1e-9)
				}
			}
		}
		if f.Model(-1) != nil || f.Model(3) != nil || (*MultiFit)(nil).Model(0) != nil {
			t.Error("a model of no output")
		}
	}
	p, y = outputs(15, 2)
	f := several2(t, p.Outputs(y))
	testkit.Near(t, "independent", must(f.Model(1).Values(at))[1], must(f.Posterior(ctx, at))[1].Mean[1], 1e-9)
}

// TestCoregion: evidence, means and variances are those of the matrix B ⊗ K written out, with
// values missing, and the gradient is that by differences.
func TestCoregion(t *testing.T) {
	p, y := outputs(12, 3)
	y[2][0], y[5][1], y[5][2], y[9][2] = math.NaN(), math.NaN(), math.NaN(), math.NaN()
	start, err := p.Kernel(kernels.Scale(1.5, kernels.Matern52(1.2))).Outputs(y).Coregionalise().prepare()
	if err != nil {
		t.Fatal(err)
	}
	task, err := start.with([]float64{1.3, 0.9, 1.1, 0.8, 2, 0.9, 2.2, 1.4, 0.03})
	if err != nil {
		t.Fatal(err)
	}
	grad := make([]float64, 9)
	f, err := task.solve(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.gradient(ctx, grad); err != nil {
		t.Fatal(err)
	}
	k := task.kernel
	var a square
	var v []float64
	var at [][2]int
	for o := range 3 {
		for i := range y {
			if !math.IsNaN(y[i][o]) {
				at, v = append(at, [2]int{i, o}), append(v, y[i][o]-task.offset[o])
			}
		}
	}
	for _, r := range at {
		var row []float64
		for _, s := range at {
			row = append(row, f.Coregion[r[1]][s[1]]*k.Eval(p.data.X[r[0]], p.data.X[s[0]]))
		}
		a = append(a, row)
	}
	sol, err := linear.Solve(ctx, &linear.System{K: a, Noise: slices.Repeat([]float64{0.03}, len(v))}, [][]float64{v}, linear.Cholesky{}, linear.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	want := -sol.Factor.LogDet()/2 - float64(len(v))/2*math.Log(2*math.Pi)
	for i := range v {
		want -= v[i] * sol.X[0][i] / 2
	}
	testkit.Near(t, "evidence", f.LogMarginalLikelihood(), want, 1e-9)
	x := []float64{2.5}
	b := must(f.Posterior(ctx, datasets.Rows{x}))
	for o := range 3 {
		mean, cross := task.offset[o], []float64(nil)
		for r, s := range at {
			cross = append(cross, f.Coregion[o][s[1]]*k.Eval(p.data.X[s[0]], x))
			mean += cross[r] * sol.X[0][r]
		}
		variance := f.Coregion[o][o] * k.Eval(x, x)
		for r, v := range sol.Factor.Solve(nil, cross) {
			variance -= cross[r] * v
		}
		testkit.Near(t, "mean", b[o].Mean[0], mean, 1e-9)
		testkit.Near(t, "variance", b[o].Variance[0], variance, 1e-9)
	}
	partials, err := task.hyperparameters()
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range partials {
		const step = 1e-4
		var side [2]float64
		for s := range side {
			var values []float64
			for _, h := range partials {
				values = append(values, h.Value)
			}
			values[i] *= math.Exp(step * float64(2*s-1))
			other, err := task.with(values)
			if err != nil {
				t.Fatal(err)
			}
			side[s] = must(other.solve(ctx)).evidence
		}
		testkit.Near(t, h.Name, grad[i], (side[1]-side[0])/(2*step), 1e-5)
	}
}

// TestCoregionLearns: outputs that follow one another are found to, and one of them is known where
// only the other was observed.
func TestCoregionLearns(t *testing.T) {
	p, y := outputs(30, 2)
	truth := make([]float64, 30)
	for i, x := range p.data.X {
		if truth[i] = y[i][1]; x[0] > 3 {
			y[i][1] = math.NaN()
		}
	}
	apart := several2(t, p.Outputs(y).Coregionalise())
	f := several2(t, p.Optimise().Bound("B[0]", 0.5, 2).Outputs(y).Coregionalise())
	if f.Optimisation.End().Slope > flat || f.LogMarginalLikelihood() < apart.LogMarginalLikelihood()+5 {
		t.Errorf("%v, before %v, %+v", f.LogMarginalLikelihood(), apart.LogMarginalLikelihood(), f.Optimisation.End())
	}
	if r := f.Coregion[0][1] / math.Sqrt(f.Coregion[0][0]*f.Coregion[1][1]); r < 0.8 {
		t.Errorf("correlation %v", r)
	}
	errors := func(f *MultiFit) (sum float64) {
		for i, m := range must(f.Posterior(ctx, p.data))[1].Mean {
			sum += (m - truth[i]) * (m - truth[i]) / 30
		}
		return sum
	}
	if a, b := errors(apart), errors(f); b > a/3 {
		t.Errorf("squared errors %v apart, %v together", a, b)
	}
	if md := f.Markdown(); !strings.Contains(md, "correlation") || !strings.Contains(md, "missing") {
		t.Error(md)
	}
	several := several2(t, Regress(p.data).Optimise().Outputs([][]float64(slices.Collect(func(yield func([]float64) bool) {
		for i := range truth {
			if !yield([]float64{truth[i], 2 * truth[i]}) {
				return
			}
		}
	}))))
	if several.Optimisation.End().Slope > flat || len(several.Of) != 2 {
		t.Errorf("%+v", several.Optimisation.End())
	}
}

func TestOutputsRefuse(t *testing.T) {
	var argument *arguments.Error
	p, y := outputs(5, 2)
	hole := [][]float64{{1, 2}, {1, math.NaN()}, {1, 2}, {3, 1}, {3, 3}}
	for name, p := range map[string]MultiProcess{
		"zero value":  {},
		"none":        p.Outputs(nil),
		"few":         p.Outputs(y[:3]),
		"ragged":      p.Outputs([][]float64{{1, 2}, {1}, {1, 2}, {3, 1}, {3, 3}}),
		"infinite":    p.Outputs([][]float64{{1}, {1}, {math.Inf(1)}, {3}, {3}}),
		"missing":     p.Outputs(hole),
		"all missing": p.Outputs([][]float64{{math.NaN()}, {math.NaN()}, {math.NaN()}, {math.NaN()}, {math.NaN()}}).Coregionalise(),
		"names":       p.Outputs(y, "one"),
		"linear mean": p.LinearMean().Outputs(y),
		"no noise":    p.NoiseVariance(0).Outputs(y),
		"memory":      p.Memory(100).Outputs(y),
		"bound":       p.Optimise().Bound("B[7]", 1, 2).Outputs(y).Coregionalise(),
	} {
		if f, err := p.Fit(ctx); f != nil || !errors.As(err, &argument) {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
	f := several2(t, p.Outputs(hole).Coregionalise())
	if _, err := f.Posterior(ctx, datasets.Rows{{1, 2}}); !errors.As(err, &argument) {
		t.Errorf("%v", err)
	}
	ended, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	cancel(why)
	for _, p := range []MultiProcess{p.Outputs(y), p.Optimise().Outputs(hole).Coregionalise()} {
		if f, err := p.Fit(ended); f != nil || !errors.Is(err, why) {
			t.Errorf("%v: %v, %v", p, f, err)
		}
	}
	if s := fmt.Sprint(p.Outputs(y).Coregionalise()); !strings.HasSuffix(s, ".NoiseVariance(0.05).Outputs(…).Coregionalise()") {
		t.Error(s)
	}
}
