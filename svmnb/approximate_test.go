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
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
)

// approximations are of each kind, small enough to be rough on a hundred points.
var approximations = []svmnb.Approximation{
	svmnb.Nystroem{Landmarks: 10}, svmnb.Nystroem{Landmarks: 20, By: svmnb.KMeans}, svmnb.Nystroem{Landmarks: 20, By: svmnb.Leverage}, svmnb.Nystroem{Landmarks: 20, By: svmnb.Greedy},
	svmnb.RandomFeatures{Features: 100}, svmnb.Subsample{Points: 30}, svmnb.Parts{Number: 3},
}

// Both bounds of an approximation enclose the optimum of the exact machine, no label that it
// calls certain is wrong, and its gap is mostly within twice the true one.
func TestApproximationsEncloseTheOptimum(t *testing.T) {
	ratios := make([][]float64, len(approximations))
	var accurate accuracy
	for trial := range problems(9) {
		rng := rand.New(rand.NewPCG(uint64(trial), 78))
		data := datasets.Moons(60+rng.IntN(120), 0.1+0.3*rng.Float64(), uint64(trial))
		k := []kernels.Kernel{kernels.RBF(math.Pow(10, 2*rng.Float64()-1)), kernels.Laplacian(1)}[rng.IntN(2)]
		base := svmnb.Classify(data).Kernel(k).C(math.Pow(10, 3*rng.Float64()-1))
		switch trial % 3 {
		case 1:
			base = base.TwoNorm()
		case 2:
			base = base.Balanced()
		}
		truth := must(base.Tol(1e-12).Fit(t.Context()))
		accurate.add(truth.Result)
		optimum := truth.Certificate.Dual
		for k, how := range approximations {
			fit, err := base.Approximate(how).Fit(t.Context())
			if err != nil {
				t.Fatalf("%v, %v: %v", base, how, err)
			}
			bound, err := fit.Bound(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			p := truth.Problem()
			before := solvers.Certify(p, fit.Alpha)
			v, err := fit.Certify(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			after := solvers.Certify(p, fit.Alpha)
			if after.Equality > 1e-9*optimum || after.Bound > 0 || after.Dual < before.Dual-1e-9*optimum || v.Dual < after.Dual-1e-8*optimum {
				t.Errorf("%v: the pass has made multipliers with %v, and the verdict says %v", how, after, v.Dual)
			}
			off := 1e-12 + truth.Certificate.RelGap
			if bound.Dual > optimum*(1+off) || v.Dual > optimum*(1+off) || v.Primal < optimum*(1-off) || bound.Primal < optimum*(1-off) || bound.Dual > v.Dual*(1+off) {
				t.Errorf("%v, %v: cheaply [%v, %v], then [%v, %v]; the optimum is %v", base, how, bound.Dual, bound.Primal, v.Dual, v.Primal, optimum)
			}
			if v.Primal > optimum*1.01 && !math.IsInf(v.Primal, 1) {
				ratios[k] = append(ratios[k], v.Gap()/(v.Primal-optimum))
			}
			lower, upper, err := fit.Bounds(data)
			if err != nil {
				t.Fatal(err)
			}
			certain, err := fit.Certain(data)
			if err != nil {
				t.Fatal(err)
			}
			names, _ := fit.Predict(data)
			right, _ := truth.Predict(data)
			exact, _ := truth.Values(data)
			tight, _, _ := truth.Bounds(data)
			for i, f := range exact {
				if room := f - tight[i]; f < lower[i]-room || f > upper[i]+room {
					t.Errorf("%v: f* = %v is outside of [%v, %v]", how, f, lower[i], upper[i])
				}
				if certain[i] && names[i] != right[i] {
					t.Errorf("%v: label %d is said to be certain, and is wrong", how, i)
				}
			}
		}
	}
	accurate.log(t)
	for k, r := range ratios {
		slices.Sort(r)
		if len(r) > 3 {
			t.Logf("%-30v bound ÷ truth: median %.3g, 90 %% %.3g, largest %.3g (%d problems)", approximations[k], r[len(r)/2], r[len(r)*9/10], r[len(r)-1], len(r))
			if r[len(r)/2] > 1.6 || r[len(r)*8/10] > 2 {
				t.Errorf("%v: the bounds are wide", approximations[k])
			}
		}
	}
}

// Polishing reaches the optimum of the exact machine from every approximation.
func TestPolishReachesTheOptimum(t *testing.T) {
	data := datasets.Moons(900, 0.3, 3)
	base := svmnb.Classify(data).Kernel(kernels.RBF(2)).C(10)
	cold := base.MustFit()
	for _, how := range approximations {
		fit := base.Approximate(how).MustFit()
		exact, err := fit.Polish(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if exact.Status != solvers.Converged || math.Abs(exact.Certificate.Dual-cold.Certificate.Dual) > cold.Certificate.Gap+exact.Certificate.Gap {
			t.Errorf("%v: %v, %v instead of %v", how, exact.Status, exact.Certificate.Dual, cold.Certificate.Dual)
		}
	}
	fit := base.Approximate(svmnb.Nystroem{Landmarks: 200, By: svmnb.Greedy}).MustFit()
	exact := must(fit.Polish(t.Context()))
	if exact.Iterations >= cold.Iterations {
		t.Errorf("polishing took %d iterations, a cold start %d", exact.Iterations, cold.Iterations)
	}
	if _, _, err := fit.Bounds(data); err != nil {
		t.Fatal(err)
	}
	again := must(fit.Polish(t.Context())) // Bounds has computed F, from which this goes on
	if d := math.Abs(again.Certificate.Dual - exact.Certificate.Dual); d > again.Certificate.Gap+exact.Certificate.Gap {
		t.Errorf("after Bounds polishing reaches %v instead of %v", again.Certificate.Dual, exact.Certificate.Dual)
	}
}

// Sparse points give the same approximation as dense ones.
func TestApproximateSparse(t *testing.T) {
	dense, sparse := testkit.Thinned(120, 6, 2, 4)
	for _, how := range approximations {
		a, err := svmnb.Classify(dense).Kernel(kernels.RBF(1)).Approximate(how).Fit(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b, err := svmnb.Classify(sparse).Kernel(kernels.RBF(1)).Approximate(how).Fit(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		va, vb := must(a.Certify(t.Context())), must(b.Certify(t.Context()))
		if d := math.Abs(va.Dual - vb.Dual); d > 1e-4*va.Dual {
			t.Errorf("%v: %v and %v", how, va.Dual, vb.Dual)
		}
	}
}

// What an approximation cannot do is said.
func TestApproximateErrors(t *testing.T) {
	data := datasets.Moons(50, 0.2, 4)
	base := svmnb.Classify(data)
	ten := svmnb.Nystroem{Landmarks: 10}
	for want, a := range map[string]svmnb.ApproximateClassifier{
		"the approximation is nil": base.Approximate(nil),
		"Landmarks is 51":          base.Approximate(svmnb.Nystroem{Landmarks: 51}),
		"Landmarks is 0":           base.Approximate(svmnb.Nystroem{}),
		"By is 9":                  base.Approximate(svmnb.Nystroem{Landmarks: 5, By: 9}),
		"Features is 1":            base.Approximate(svmnb.RandomFeatures{Features: 1}),
		"have no spectral":         base.Kernel(kernels.Polynomial(2, 1, 1)).Approximate(svmnb.RandomFeatures{Features: 10}),
		"leave HardMargin":         base.HardMargin().Approximate(ten),
		"a free bias":              base.FixedBias(0).Approximate(ten),
		"leave SampleWeights out":  base.SampleWeights(make([]float64, 50)).SampleWeights(slices.Repeat([]float64{2}, 50)).Approximate(ten),
		"the limit is 1e-06 GB":    base.Memory(1000).Approximate(ten),
		"Number is 0":              base.Approximate(svmnb.Parts{}),
		"Points is 1":              base.Approximate(svmnb.Subsample{Points: 1}),
	} {
		_, err := a.Fit(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) && want != "have no spectral" {
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

func ExampleClassifier_Approximate() {
	data := datasets.Moons(2000, 0.2, 1)
	fit := svmnb.Classify(data).Kernel(kernels.RBF(0.5)).C(1).Approximate(svmnb.Nystroem{Landmarks: 100}).MustFit()
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

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
