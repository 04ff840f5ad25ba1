package svmnb_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb"
)

// losses are those of regressions that can be approximated.
var losses = []struct {
	name string
	of   func(r svmnb.Regressor, unit float64) svmnb.Regressor
}{
	{"linear", func(r svmnb.Regressor, unit float64) svmnb.Regressor { return r.Epsilon(0.1 * unit) }},
	{"quadratic", func(r svmnb.Regressor, unit float64) svmnb.Regressor { return r.QuadraticLoss().Epsilon(0.1 * unit) }},
	{"ridge", func(r svmnb.Regressor, _ float64) svmnb.Regressor { return r.Ridge(0.3) }},
	{"quantile", func(r svmnb.Regressor, _ float64) svmnb.Regressor { return r.Quantile(0.8) }},
	{"Huber", func(r svmnb.Regressor, unit float64) svmnb.Regressor { return r.Huber(0.2 * unit) }},
}

// Both bounds of an approximation enclose the optimum of the exact regression, and f* is within the
// bounds of its values.
func TestApproximateRegressionsEncloseTheOptimum(t *testing.T) {
	ratios := make([][]float64, len(approximations))
	trials := []int{591} // whose pass once ended below the cheap bound
	for trial := range problems(10) {
		trials = append(trials, trial)
	}
	for _, trial := range trials {
		rng := rand.New(rand.NewPCG(uint64(trial), 79))
		unit := math.Pow(10, 4*rng.Float64()-2)
		data := datasets.Sinc(60+rng.IntN(100), 0.3*rng.Float64(), uint64(trial))
		for i := range data.Y {
			data.Y[i] = unit * (5 + data.Y[i])
		}
		k := kernels.Scale(unit, []kernels.Kernel{kernels.RBF(math.Pow(10, 2*rng.Float64()-1)), kernels.Laplacian(1)}[rng.IntN(2)])
		loss := losses[trial%len(losses)]
		base := loss.of(svmnb.Regress(data).Kernel(k).C(math.Pow(10, 2*rng.Float64()-1)), unit)
		truth := must(base.Tol(1e-12 * unit).Fit(t.Context()))
		least, most := truth.Certificate.Dual, truth.Certificate.Primal
		size := most + math.Abs(truth.Certificate.Norm2)
		for k, how := range approximations {
			fit, err := base.Approximate(how).Fit(t.Context())
			if err != nil {
				t.Fatalf("%v, %v: %v", base, how, err)
			}
			bound := must(fit.Bound(t.Context()))
			before := solvers.Certify(truth.Problem(), fit.Alpha)
			v := must(fit.Certify(t.Context()))
			after := solvers.Certify(truth.Problem(), fit.Alpha)
			off, sum := 1e-12*size, 0.0
			for _, a := range fit.Alpha {
				sum += a
			}
			if after.Equality > 1e-12*sum || after.Bound > 0 || after.Dual < before.Dual-off || v.Dual < after.Dual-off {
				t.Errorf("%v, %v: the pass has made multipliers with %+v from %+v, and the verdict says %v", base, how, after, before, v.Dual)
			}
			if bound.Dual > most+off || v.Dual > most+off || v.Primal < least-off || bound.Primal < least-off || bound.Dual > v.Dual+off {
				t.Errorf("%v, %v: cheaply [%v, %v], then [%v, %v]; the optimum is in [%v, %v]", base, how, bound.Dual, bound.Primal, v.Dual, v.Primal, least, most)
			}
			if v.Primal > most*1.01 && !math.IsInf(v.Primal, 1) {
				ratios[k] = append(ratios[k], v.Gap()/(v.Primal-most))
			}
			lower, upper, err := fit.Bounds(data)
			if err != nil {
				t.Fatal(err)
			}
			exact, _ := truth.Predict(data)
			tight, loose, _ := truth.Bounds(data)
			for i, f := range exact {
				if room := max(f-tight[i], loose[i]-f); f < lower[i]-room || f > upper[i]+room {
					t.Errorf("%v, %v: f* = %v is outside of [%v, %v]", base, how, f, lower[i], upper[i])
				}
			}
		}
	}
	for k, r := range ratios {
		slices.Sort(r)
		if len(r) > 3 {
			t.Logf("%-30v bound ÷ truth: median %.3g, 90 %% %.3g, largest %.3g (%d problems)", approximations[k], r[len(r)/2], r[len(r)*9/10], r[len(r)-1], len(r))
			if r[len(r)/2] > 2 {
				t.Errorf("%v: the bounds are wide", approximations[k])
			}
		}
	}
}

// Polishing reaches the optimum of the exact regression for each loss, and the approximation of all
// points by themselves is the exact machine.
func TestPolishOfRegressions(t *testing.T) {
	data := datasets.Sinc(400, 0.2, 3)
	for _, loss := range losses {
		base := loss.of(svmnb.Regress(data).Kernel(kernels.RBF(0.5)).C(3), 1)
		cold := base.MustFit()
		c := cold.Certificate
		for _, how := range []svmnb.Approximation{svmnb.Nystroem{Landmarks: 30, By: svmnb.Greedy}, svmnb.RandomFeatures{Features: 60}} {
			fit := base.Approximate(how).MustFit()
			exact := must(fit.Polish(t.Context()))
			if exact.Status != solvers.Converged || math.Abs(exact.Certificate.Dual-c.Dual) > c.Gap+exact.Certificate.Gap {
				t.Errorf("%s, %v: %v, %v instead of %v", loss.name, how, exact.Status, exact.Certificate.Dual, c.Dual)
			}
			values, _ := fit.Predict(data)
			own := must(fit.Model().Values(data))
			for i, v := range values {
				if math.Abs(v-own[i]) > 1e-9 {
					t.Errorf("%s, %v: f is %v, and %v by the model", loss.name, how, v, own[i])
					break
				}
			}
		}
		v := must(base.Approximate(svmnb.Nystroem{Landmarks: 120, By: svmnb.Greedy}).MustFit().Certify(t.Context()))
		if v.RelGap() > 5e-3 {
			t.Errorf("%s: with 120 landmarks the gap is %v", loss.name, v.RelGap())
		}
	}
}

// Data that were scaled are approximated as they are.
func TestApproximateScaledData(t *testing.T) {
	data := datasets.Moons(120, 0.2, 4).Standardised()
	targets := datasets.Sinc(80, 0.1, 1).Standardised()
	for _, how := range approximations {
		fit := svmnb.Classify(data).Approximate(how).MustFit()
		if _, err := fit.Predict(data); err != nil {
			t.Errorf("%v: %v", how, err)
		}
		if _, err := fit.Certify(t.Context()); err != nil {
			t.Errorf("%v: %v", how, err)
		}
		real := svmnb.Regress(targets).Approximate(how).MustFit()
		if _, err := real.Predict(targets); err != nil {
			t.Errorf("%v: %v", how, err)
		}
		if _, err := real.Certify(t.Context()); err != nil {
			t.Errorf("%v: %v", how, err)
		}
	}
}

// What an approximation of a regression cannot do is said.
func TestApproximateRegressionErrors(t *testing.T) {
	data := datasets.Sinc(50, 0.2, 4)
	base := svmnb.Regress(data)
	ten := svmnb.Nystroem{Landmarks: 10}
	for want, a := range map[string]svmnb.ApproximateRegressor{
		"the approximation is nil": base.Approximate(nil),
		"Landmarks is 51":          base.Approximate(svmnb.Nystroem{Landmarks: 51}),
		"give that width by Eps":   base.Nu(0.5).Approximate(ten),
		"a free bias":              base.FixedBias(0).Approximate(ten),
		"leave SampleWeights out":  base.SampleWeights(slices.Repeat([]float64{2}, 50)).Approximate(ten),
		"the limit is 1e-06 GB":    base.Memory(1000).Approximate(ten),
		"ε is -1":                  base.Epsilon(-1).Approximate(ten),
	} {
		var wrong *svmnb.ArgumentError
		if _, err := a.Fit(t.Context()); err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &wrong) {
			t.Errorf("%v: %v, want %q", a, err, want)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, how := range approximations {
		if _, err := base.Approximate(how).Fit(ended); !errors.Is(err, context.Canceled) {
			t.Errorf("%v: %v", how, err)
		}
	}
}

func ExampleRegressor_Approximate() {
	data := datasets.Sinc(1000, 0.1, 1)
	fit := svmnb.Regress(data).Kernel(kernels.RBF(0.5)).C(1).Approximate(svmnb.Nystroem{Landmarks: 50, By: svmnb.Greedy}).MustFit()
	v, err := fit.Certify(context.Background())
	if err != nil {
		panic(err)
	}
	fmt.Println("within 1 % of the exact machine:", v.RelGap() < 0.01)
	exact, err := fit.Polish(context.Background())
	if err != nil {
		panic(err)
	}
	fmt.Println(exact.Status)
	// Output:
	// within 1 % of the exact machine: true
	// converged
}
