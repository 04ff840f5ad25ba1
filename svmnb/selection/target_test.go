package selection

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/gp"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"github.com/svmnb/svmnb/svmnb/model"
	"github.com/svmnb/svmnb/svmnb/transform"
)

// prices are positive targets with relative noise.
func prices(n int) *datasets.Dataset {
	r := rand.New(rand.NewPCG(5, 7))
	x, y := make([][]float64, n), make([]float64, n)
	for i := range x {
		x[i] = []float64{4 * r.Float64()}
		y[i] = math.Exp(1 + math.Sin(2*x[i][0]) + 0.2*r.NormFloat64())
	}
	return datasets.New(x, y)
}

// A pipeline with transformed targets predicts what one predicts who transforms them by hand,
// in units of the raw targets, and so do its saved model and its scores.
func TestTargetByHand(t *testing.T) {
	data, test := prices(80).Split(0.7, 1)
	var log []float64
	for _, y := range data.Y {
		log = append(log, math.Log(y))
	}
	logs := datasets.New(data.X, log)
	scaler, err := datasets.FitTarget(logs)
	if err != nil {
		t.Fatal(err)
	}
	machine := func(d *datasets.Dataset) svmnb.Regressor {
		return svmnb.Regress(d).Kernel(kernels.RBF(2)).C(3).Epsilon(0.05)
	}
	for _, c := range []struct {
		target transform.TargetScaling
		hand   *datasets.Dataset
		back   func(v float64) float64
	}{
		{transform.LogTarget(), logs, math.Exp},
		{transform.LogTarget().Standardised(), scaler.Apply(logs), func(v float64) float64 { return math.Exp(scaler.Invert(v)) }},
		{transform.StandardiseTarget(), certainTarget(data).Apply(data), func(v float64) float64 { return certainTarget(data).Invert(v) }},
	} {
		hand, err := testkit.FitOf(t, machine(c.hand)).Predict(datasets.Rows(test.X))
		if err != nil {
			t.Fatal(err)
		}
		for place, p := range []Pipeline{Pipe(c.target, transform.Scaling{Low: 0, High: 1}, machine(data)), Pipe(c.target, machine(data))} {
			fit := testkit.FitOf(t, p)
			got, err := fit.Values(datasets.Rows(test.X))
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "model")
			if err := model.Save(file, fit); err != nil {
				t.Fatal(err)
			}
			loaded, err := model.Load(file)
			if err != nil {
				t.Fatal(err)
			}
			again, err := loaded.Values(datasets.Rows(test.X))
			if err != nil {
				t.Fatal(err)
			}
			row, err := loaded.NewRow()
			if err != nil {
				t.Fatal(err)
			}
			sum := 0.0
			for i, v := range got {
				row.Numbers(test.X[i]...)
				one, err := row.Value()
				if err != nil || math.Abs(one-v) > 1e-12*v || again[i] != v {
					t.Fatalf("%v: loaded %v, one row %v, pipeline %v (%v)", c.target, again[i], one, v, err)
				}
				if place == 1 && math.Abs(v-c.back(hand[i])) > 1e-9*v {
					t.Fatalf("%v: %v, by hand %v", c.target, v, c.back(hand[i]))
				}
				sum += (v - test.Y[i]) * (v - test.Y[i])
			}
			if rmse, err := fit.Score(test); err != nil || math.Abs(rmse-math.Sqrt(sum/float64(len(got)))) > 1e-12 {
				t.Errorf("%v: RMSE %v, %v by hand (%v)", c.target, rmse, math.Sqrt(sum/float64(len(got))), err)
			}
		}
	}
}

func certainTarget(d *datasets.Dataset) *datasets.TargetScaler {
	s, err := datasets.FitTarget(d)
	if err != nil {
		panic(err)
	}
	return s
}

// The density and the intervals of a process of logarithms are those of the raw targets: the
// density has the integral 1, and intervals have their share of the test targets.
func TestTargetOfAProcess(t *testing.T) {
	data, test := prices(400).Split(0.5, 1)
	process := gp.Regress(data).Kernel(kernels.RBF(1)).NoiseVariance(0.04)
	fit := testkit.FitOf(t, Pipe(transform.LogTarget(), process))
	low, high, err := fit.Interval(datasets.Rows(test.X), 0.9)
	if err != nil {
		t.Fatal(err)
	}
	inside := 0
	for i, y := range test.Y {
		if low[i] < y && y < high[i] {
			inside++
		}
		if !(low[i] > 0) {
			t.Fatalf("the interval of a price begins at %v", low[i])
		}
	}
	if share := float64(inside) / float64(test.N()); math.Abs(share-0.9) > 0.06 {
		t.Errorf("%v of the targets are in their 90 %% interval", share)
	}
	nlpd, err := fit.Score(test)
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := testkit.FitOf(t, Pipe(process.NoiseVariance(1))).Score(test); err != nil || nlpd > plain {
		t.Errorf("−ln p is %v with logarithms, %v without (%v)", nlpd, plain, err)
	}
	sum, at := 0.0, test.Select([]int{0})
	const step = 0.01
	for y := step / 2; y < 100; y += step {
		at.Y = []float64{y}
		v, err := fit.Score(at)
		if err != nil {
			t.Fatal(err)
		}
		sum += step * math.Exp(-v)
	}
	if math.Abs(sum-1) > 1e-3 {
		t.Errorf("the density of a target has the integral %v", sum)
	}
	at.Y = []float64{-1}
	if v, err := fit.Score(at); err == nil && !math.IsInf(v, 1) {
		t.Errorf("−ln p of an impossible price is %v", v)
	}
	if _, err := gp.PosteriorOf(context.Background(), fit, datasets.Rows(test.X)); err == nil || !strings.Contains(err.Error(), "Interval") {
		t.Errorf("the posterior of logarithms: %v", err)
	}
	scaled := testkit.FitOf(t, Pipe(transform.StandardiseTarget(), gp.Regress(data).Kernel(kernels.RBF(1)).NoiseVariance(0.1)))
	b, err := gp.PosteriorOf(context.Background(), scaled, datasets.Rows(test.X))
	if err != nil {
		t.Fatal(err)
	}
	from, to := b.Interval(0.9)
	low, high, err = scaled.Interval(datasets.Rows(test.X), 0.9)
	for i := range low {
		if err != nil || math.Abs(from[i]-low[i]) > 1e-9 || math.Abs(to[i]-high[i]) > 1e-9 {
			t.Fatalf("interval %v to %v, by the posterior %v to %v (%v)", low[i], high[i], from[i], to[i], err)
		}
	}
	found := found(t, Search(Pipe(transform.LogTarget(), process), Grid{"gamma": {0.1, 1}}, KFold(3, 1)))
	if best, _ := found.Best(); !(best.Mean() < 3) || found.Metric.Name != "NLPD" {
		t.Errorf("a search by the density: %v", best)
	}
}

// What cannot be transformed is refused by name.
func TestTargetRefused(t *testing.T) {
	data := prices(20)
	data.Y[7] = 0
	for want, p := range map[string]Pipeline{
		"row 7":                    Pipe(transform.LogTarget(), svmnb.Regress(data)),
		"transformed twice":        Pipe(transform.LogTarget(), transform.StandardiseTarget(), svmnb.Regress(prices(20))),
		"the targets are classes":  Pipe(transform.StandardiseTarget(), svmnb.Classify(datasets.Iris()).OneVsOne()),
		"must be a finite number":  Pipe(transform.LogTarget().Shift(math.NaN()), svmnb.Regress(prices(20))),
		"and belongs to LogTarget": Pipe(transform.StandardiseTarget().Shift(1), svmnb.Regress(prices(20))),
	} {
		if _, err := p.Fit(context.Background()); !errors.As(err, new(*svmnb.ArgumentError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, _, err := testkit.FitOf(t, Pipe(svmnb.Regress(prices(20)))).Interval(datasets.Rows{{1}}, 0.9); !errors.As(err, new(*svmnb.ArgumentError)) {
		t.Errorf("intervals of a machine: %v", err)
	}
	same := prices(10)
	for i := range same.Y {
		same.Y[i] = 3
	}
	values, err := testkit.FitOf(t, Pipe(transform.StandardiseTarget(), svmnb.Regress(same))).Values(datasets.Rows(same.X))
	if err != nil || math.Abs(values[0]-3) > 0.2 {
		t.Errorf("constant targets: %v (%v)", values, err)
	}
}

// Keep of a pipeline keeps what its learner learns: the second fit takes no iteration more.
func TestPipeKeep(t *testing.T) {
	t.Setenv("SVMNB_CACHE", t.TempDir())
	pipe := Pipe(transform.Standardise(), svmnb.Classify(testkit.Moons()).Kernel(kernels.RBF(1)))
	first := pipe.Keep().Fit().(*svmnb.Fit)
	second := pipe.Keep().Fit().(*svmnb.Fit)
	if first.Elapsed != second.Elapsed || first.Iterations != second.Iterations {
		t.Errorf("the second fit took %v, the first %v: it was not kept", second.Elapsed, first.Elapsed)
	}
	values, err := pipe.Keep().Values(datasets.Rows(testkit.Moons().X))
	want, _ := testkit.FitOf(t, pipe).Values(datasets.Rows(testkit.Moons().X))
	for i := range want {
		if err != nil || values[i] != want[i] {
			t.Fatalf("kept %v, fitted %v (%v)", values[i], want[i], err)
		}
	}
}
