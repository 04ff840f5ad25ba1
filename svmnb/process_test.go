package svmnb

import (
	"context"
	"math"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
)

// motorcycle is the process of the reference numbers, which were computed with an
// independent float64 program.
func motorcycle() Process {
	return GaussianProcess(datasets.Motorcycle()).
		Kernel(kernels.Scale(45*45, kernels.SquaredExponential(5))).NoiseVariance(22 * 22)
}

// keeling is the kernel of GPML §5.4.3 at the hyperparameters printed there.
func keeling() Process {
	return GaussianProcess(datasets.CO2()).Kernel(kernels.Sum(
		kernels.Scale(66*66, kernels.SquaredExponential(67)),
		kernels.Scale(2.4*2.4, kernels.Product(kernels.SquaredExponential(90), kernels.Fixed(kernels.Periodic(1, 1.3), "period"))),
		kernels.Scale(.66*.66, kernels.RationalQuadratic(1.2, .78)),
		kernels.Scale(.18*.18, kernels.SquaredExponential(.134)),
	)).NoiseVariance(.19 * .19)
}

func solved1(t *testing.T, p Process) *ProcessFit {
	t.Helper()
	fit, err := p.Fit(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return fit
}

func evidence(t *testing.T, f *ProcessFit) float64 {
	t.Helper()
	e, err := f.LogMarginalLikelihood(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return e.Value
}

func TestMotorcycle(t *testing.T) {
	fit := solved1(t, motorcycle())
	near(t, "log marginal likelihood", evidence(t, fit), -621.36540875, 1e-11)
	near(t, "y'A⁻¹y", fit.Certificate.Lower, 138.52726051, 1e-10)
	b, err := fit.Posterior(context.Background(), [][]float64{{20}, {30}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct{ mean, variance float64 }{{-115.06477242, 31.58338717}, {30.73575789, 42.93367062}} {
		if math.Abs(b.Mean[i]-want.mean) > 6e-9 || math.Abs(b.Variance[i]-want.variance) > 6e-9 {
			t.Errorf("mean %.8f and variance %.8f, want %.8f and %.8f", b.Mean[i], b.Variance[i], want.mean, want.variance)
		}
	}
}

func TestCO2(t *testing.T) {
	fit := solved1(t, keeling())
	near(t, "log marginal likelihood", evidence(t, fit), -87.033511, 1e-8)
	learned := solved1(t, keeling().Optimise())
	t.Log(learned.Optimisation.Elapsed, learned.Optimisation.Evaluations, learned.Optimisation.Ascents[0].Status, learned.Optimisation.End(), len(learned.Optimisation.Ascents[0].Path), learned.Description)
}
