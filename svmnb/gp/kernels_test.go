package gp

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"github.com/svmnb/svmnb/svmnb/model"
)

// TestRotatedLearns: a process learns the direction along which a function changes, its model has it,
// and so has a sparse one whose inducing points move.
func TestRotatedLearns(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	const direction = 0.6
	var x [][]float64
	var y []float64
	for range 60 {
		p := []float64{3 * rng.NormFloat64(), 3 * rng.NormFloat64()}
		x, y = append(x, p), append(y, math.Sin(p[0]*math.Cos(direction)+p[1]*math.Sin(direction))+0.1*rng.NormFloat64())
	}
	p := Regress(datasets.New(x, y)).Kernel(kernels.Rotated(kernels.ARDMatern52(1, 3), 0.3)).NoiseVariance(0.01).Optimise()
	learned := func(k kernels.Kernel) float64 {
		list, err := kernels.Hyperparameters(k)
		if err != nil || len(list) != 3 || list[2].Name != "angles[0]" {
			t.Fatal(list, err)
		}
		if list[0].Value > list[1].Value { // the first feature after the rotation is the other one
			return math.Mod(list[2].Value+math.Pi/2, math.Pi)
		}
		return math.Mod(list[2].Value, math.Pi)
	}
	f := testkit.FitOf(t, p)
	testkit.Near(t, "the direction", learned(f.Description.kernel), direction, 0.05)
	if f.Optimisation.Ascents[0].Status != solvers.Converged {
		t.Errorf("%v", f.Optimisation.Ascents[0].Status)
	}
	file := filepath.Join(t.TempDir(), "model.json")
	if err := model.Save(file, f); err != nil {
		t.Fatal(err)
	}
	m, err := model.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	at := datasets.Rows{{0, 0}, {1, -2}}
	got, want := must(PosteriorOf(ctx, m, at)), must(f.Posterior(ctx, at))
	for i := range at {
		testkit.Near(t, "mean", got.Mean[i], want.Mean[i], 1e-12)
		testkit.Near(t, "variance", got.Variance[i], want.Variance[i], 1e-9)
	}
	testkit.Near(t, "the direction", learned(thinned(t, p.Inducing(25).OptimiseInducing()).Description.process.kernel), direction, 0.1)
}

// TestWhiteLearns: where points repeat, a process tells what equal points share from the noise of
// each measurement.
func TestWhiteLearns(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	var x [][]float64
	var y []float64
	shared, noise, places := 0.0, 0.0, 60
	for i := range places {
		own := rng.NormFloat64()
		shared += own * own / float64(places)
		for range 5 {
			e := 0.3 * rng.NormFloat64()
			noise += e * e / float64(5*places)
			x, y = append(x, []float64{float64(i)}), append(y, own+e)
		}
	}
	f := testkit.FitOf(t, Regress(datasets.New(x, y)).ZeroMean().Kernel(kernels.Scale(0.1, kernels.White())).NoiseVariance(1).Optimise())
	end := f.Optimisation.End()
	testkit.Near(t, "the variance at a point", end.Values[0], shared, 0.1)
	testkit.Near(t, "the variance of the noise", end.Values[1], noise, 0.01)
	b := must(f.Posterior(ctx, datasets.Rows{{3}, {3.5}}))
	if !(b.Variance[0] < 0.05) || math.Abs(b.Variance[1]-end.Values[0]) > 1e-9 || b.Mean[1] != 0 {
		t.Errorf("%+v", b)
	}
}

// TestMaternLearns: the evidence of a rough function prefers a small ν, that of a smooth one a large ν.
func TestMaternLearns(t *testing.T) {
	evidence := func(truth kernels.Kernel, nu float64) float64 {
		rng := rand.New(rand.NewPCG(5, 5))
		var x [][]float64
		for i := range 80 {
			x = append(x, []float64{float64(i) / 8})
		}
		draw := testkit.FitOf(t, Regress(datasets.New([][]float64{{-100}}, []float64{0})).ZeroMean().Kernel(truth).NoiseVariance(1))
		y := must(draw.Sample(ctx, datasets.Rows(x), 1, 7)).Values[0]
		for i := range y {
			y[i] += 0.01 * rng.NormFloat64()
		}
		return testkit.FitOf(t, Regress(datasets.New(x, y)).ZeroMean().Kernel(kernels.Scale(1, kernels.Matern(nu, 1))).NoiseVariances(slices.Repeat([]float64{1e-4}, len(y))).Optimise()).Optimisation.End().Evidence
	}
	if rough, smooth := evidence(kernels.Exponential(1), 0.6), evidence(kernels.Exponential(1), 2.2); rough < smooth+5 {
		t.Errorf("a rough function: %v with ν = 0.6, %v with 2.2", rough, smooth)
	}
	if rough, smooth := evidence(kernels.Matern52(1), 0.6), evidence(kernels.Matern52(1), 2.2); smooth < rough+5 {
		t.Errorf("a smooth function: %v with ν = 0.6, %v with 2.2", rough, smooth)
	}
}
