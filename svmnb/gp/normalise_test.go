package gp

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers/linear"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"github.com/svmnb/svmnb/svmnb/model"
	"pgregory.net/rapid"
)

// Normalised targets are those of datasets.FitTarget: every number is, bit for bit, what
// somebody gets who scales by hand, predicts and puts the predictions back.
func TestNormalisedTargetsAreThoseByHand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y, noise, k := drawProcess(t)
		unit, offset := math.Pow(10, rapid.Float64Range(-6, 6).Draw(t, "unit")), rapid.Float64Range(-1e3, 1e3).Draw(t, "offset")
		for i, v := range y {
			y[i] = unit * (v + offset)
		}
		y[0] = unit * (offset + 7) // they are not all the same
		data := datasets.New(x, y)
		s := certain(datasets.FitTarget(data))
		describe := func(d *datasets.Dataset) Process {
			p := Regress(d).Kernel(k).NoiseVariances(noise)
			if rapid.Bool().Draw(t, "one noise") {
				p = p.NoiseVariance(noise[0])
			}
			switch rapid.IntRange(0, 2).Draw(t, "mean") {
			case 0:
				return p.ZeroMean()
			case 1:
				if len(x) > len(x[0])+4 {
					return p.LinearMean()
				}
			}
			return p
		}
		base := describe(s.Apply(data))
		at := datasets.Rows{x[0], slices.Repeat([]float64{0.3}, len(x[0])), slices.Repeat([]float64{-4}, len(x[0]))}
		methods := []linear.Method{linear.Cholesky{}, linear.LU{}, linear.Mixed{}}
		if base.mean != linearMean {
			methods = append(methods, linear.CG{}, linear.WidrowHoff{})
		}
		for _, m := range methods {
			hand, err := base.Using(m).Fit(ctx)
			got, goterr := base.On(data).NormaliseTargets().Using(m).Fit(ctx)
			if err != nil || goterr != nil {
				if fmt.Sprint(err) != fmt.Sprint(goterr) {
					t.Fatalf("%v, by hand %v", goterr, err)
				}
				continue // the features are dependent
			}
			same := func(what string, got, hand []float64, back func(v float64) float64) {
				if len(got) != len(hand) {
					t.Fatalf("%v: %s has %d values, by hand %d", m, what, len(got), len(hand))
				}
				for i, v := range hand {
					if want := back(v); got[i] != want && !(math.IsNaN(got[i]) && math.IsNaN(want)) {
						t.Fatalf("%v: %s %d is %v, by hand %v", m, what, i, got[i], want)
					}
				}
			}
			deviation := func(v float64) float64 { return s.Width * v }
			variance := func(v float64) float64 { return s.Width * s.Width * v }
			itself := func(v float64) float64 { return v }
			same("alpha", got.Alpha, hand.Alpha, itself)
			same("mean", certain(got.Predict(at)), certain(hand.Predict(at)), s.Invert)
			a, b := certain(got.Posterior(ctx, at)), certain(hand.Posterior(ctx, at))
			same("posterior mean", a.Mean, b.Mean, s.Invert)
			same("variance", a.Variance, b.Variance, variance)
			same("lower variance", a.VarianceLower, b.VarianceLower, variance)
			same("mean error", a.MeanError, b.MeanError, deviation)
			same("noise", []float64{a.Noise}, []float64{b.Noise}, variance)
			ac, bc := certain(got.Components(ctx, at)), certain(hand.Components(ctx, at))
			for c := range ac {
				same("mean of a component", ac[c].Mean, bc[c].Mean, deviation)
				same("variance of a component", ac[c].Variance, bc[c].Variance, variance)
			}
			as, bs := certain(got.Sample(ctx, at, 2, 1)), certain(hand.Sample(ctx, at, 2, 1))
			as.Values, bs.Values = append(as.Values, []float64{as.Jitter}), append(bs.Values, nil)
			for i, v := range bs.Values[:2] {
				same("sample", as.Values[i], v, s.Invert)
			}
			same("jitter", as.Values[2], []float64{bs.Jitter}, variance)
			for i, row := range certain(hand.Covariance(ctx, at)) {
				same("covariance", certain(got.Covariance(ctx, at))[i], row, variance)
			}
			same("model", certain(got.Model().Values(at)), certain(hand.Predict(at)), s.Invert)
			if !direct(m) {
				continue
			}
			al, bl := certain(got.LeaveOneOut(ctx)), certain(hand.LeaveOneOut(ctx))
			same("left out, mean", al.Mean, bl.Mean, s.Invert)
			same("left out, variance", al.Variance, bl.Variance, variance)
			same("left out, density", al.LogDensity, bl.LogDensity, func(v float64) float64 { return v - math.Log(s.Width) })
			same("evidence", []float64{certain(got.LogMarginalLikelihood(ctx)).Value}, []float64{certain(hand.LogMarginalLikelihood(ctx)).Value}, itself)
			if base.mean != linearMean {
				same("prior", certain(base.On(data).NormaliseTargets().Prior(ctx, at, 1, 1)).Values[0], certain(base.Prior(ctx, at, 1, 1)).Values[0], s.Invert)
			}
		}
	})
}

// What is learned, saved and drawn is in the right units.
func TestNormalisedTargetsElsewhere(t *testing.T) {
	t.Setenv("SVMNB_CACHE", t.TempDir())
	data := datasets.Motorcycle()
	s := certain(datasets.FitTarget(data))
	at := datasets.Rows{{20}, {30}, {80}}
	hand, got := testkit.FitOf(t, Regress(s.Apply(data)).Optimise()), testkit.FitOf(t, Regress(data).NormaliseTargets().Optimise())
	if !slices.Equal(got.Optimisation.End().Values, hand.Optimisation.End().Values) || !slices.Equal(got.Alpha, hand.Alpha) {
		t.Errorf("learned %v, by hand %v", got.Optimisation.End(), hand.Optimisation.End())
	}
	kept := Regress(data).NormaliseTargets().Optimise().Keep()
	plain := Regress(data).Optimise().Keep()
	if n := len(testkit.KeptFiles(t)); n != 2 || !slices.Equal(kept.Alpha, got.Alpha) || slices.Equal(plain.Alpha, got.Alpha) {
		t.Errorf("%d files are kept", n)
	}
	b := certain(got.Posterior(ctx, at))
	for name, p := range map[string]*Fit{"Cholesky": got, "linear mean": testkit.FitOf(t, Regress(data).NormaliseTargets().LinearMean())} {
		file := filepath.Join(t.TempDir(), name)
		if err := model.Save(file, p); err != nil {
			t.Fatal(err)
		}
		loaded := certain(model.Load(file))
		want := certain(p.Posterior(ctx, at))
		if v := certain(loaded.Values(at)); !slices.Equal(v, certain(p.Predict(at))) {
			t.Errorf("%s: loaded %v", name, v)
		}
		b := certain(PosteriorOf(ctx, loaded, at))
		if !slices.Equal(b.Mean, want.Mean) || !slices.Equal(b.Variance, want.Variance) || b.Noise != want.Noise {
			t.Errorf("%s: loaded %+v, want %+v", name, b, want)
		}
		row := certain(loaded.NewRow())
		row.Numbers(at[0]...)
		testkit.Near(t, name+": a row", certain(row.Value()), certain(p.Predict(at))[0], 1e-12)
	}
	gaussian := testkit.FitOf(t, Regress(data).Kernel(kernels.RBF(0.02)).NoiseVariance(0.2).NormaliseTargets())
	for name, write := range map[string]func(m *model.Model, b *bytes.Buffer) error{
		"Go":     func(m *model.Model, b *bytes.Buffer) error { return m.WriteGo(b, "predictor") },
		"LIBSVM": func(m *model.Model, b *bytes.Buffer) error { return m.WriteLIBSVM(b) },
		"ONNX":   func(m *model.Model, b *bytes.Buffer) error { return m.WriteONNX(b) },
	} {
		var out bytes.Buffer
		if err := write(gaussian.Model(), &out); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if name == "LIBSVM" {
			read := certain(model.ReadLIBSVM(&out, 1))
			for i, v := range certain(read.Values(at)) {
				testkit.Near(t, "read from LIBSVM", v, certain(gaussian.Predict(at))[i], 1e-9)
			}
		}
	}
	e := certain(got.Evaluate(data))
	testkit.Near(t, "RMSE on the training data", certain(e.RMSE()), certain(certain(testkit.FitOf(t, Regress(data).Optimise()).Evaluate(data)).RMSE()), 1e-2)
	if chart, err := Posterior.Of(got); err != nil || !strings.Contains(chart.Title.Subtitle, fmt.Sprintf("σ² = %.3g", b.Noise)) || !strings.HasPrefix(chart.Title.Subtitle, "motorcycle, targets scaled · ") {
		t.Errorf("%+v, %v", chart, err)
	}
	if text := got.Markdown(); !strings.Contains(text, "scaled by their mean −25.5459 and standard deviation 48.") {
		t.Errorf("%s", text)
	}
	table := got.Table().Inside()
	for _, c := range table.Columns {
		if c.Name == "mean" && !slices.Equal(c.Values, certain(got.Predict(datasets.Rows(data.X)))) {
			t.Error("the means of the table are others than those of Predict")
		}
	}
	if got.Description.String() != again(t, got).Description.String() || !strings.Contains(got.Description.String(), ".NormaliseTargets()") {
		t.Errorf("%v", got.Description)
	}
	// Targets that are all the same are only centred.
	constant := testkit.FitOf(t, Regress(datasets.New([][]float64{{1}, {2}, {3}}, []float64{7, 7, 7})).NormaliseTargets().Kernel(kernels.RBF(1)).NoiseVariance(0.5))
	if b := certain(constant.Posterior(ctx, datasets.Rows{{1.5}})); b.Mean[0] != 7 || !(b.Variance[0] > 0) || b.Noise != 0.5 {
		t.Errorf("constant targets: %+v", b)
	}
	if _, err := Regress(datasets.Iris()).NormaliseTargets().Fit(context.Background()); err == nil || !strings.Contains(err.Error(), "classes") {
		t.Errorf("classes: %v", err)
	}
}

// again fits the description of a fit.
func again(t *testing.T, fit *Fit) *Fit { return testkit.FitOf(t, fit.Description) }
