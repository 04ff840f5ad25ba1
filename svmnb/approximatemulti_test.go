package svmnb_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb"
)

func schemesOf(c svmnb.Classifier) []svmnb.MultiClassifier {
	return []svmnb.MultiClassifier{c.OneVsOne(), c.OneVsRest()}
}

// The bounds of each machine enclose its exact optimum, no label that is called certain is wrong,
// and polishing reaches the exact machines.
func TestApproximateClasses(t *testing.T) {
	certain, all := 0, 0
	for trial := range problems(4) {
		data := datasets.Blobs(90+10*(trial%8), 3, 1.5, uint64(trial))
		base := svmnb.Classify(data).Kernel(kernels.RBF(0.3)).C(math.Pow(10, float64(trial%3)-1))
		for scheme, m := range schemesOf(base) {
			truth := must(schemesOf(base.Tol(1e-12))[scheme].Fit(t.Context()))
			right, _ := truth.Predict(data)
			for _, how := range append(slices.Clone(approximations), svmnb.Nystroem{Landmarks: 60, By: svmnb.Greedy}) {
				fit, err := m.Approximate(how).Fit(t.Context())
				if err != nil {
					t.Fatalf("%v, %v: %v", m, how, err)
				}
				cheap, v := must(fit.Bound(t.Context())), must(fit.Certify(t.Context()))
				primal, dual := 0.0, 0.0
				for k, one := range v.Machines {
					c := truth.Machines()[k].Certificate
					if off := 1e-12 * c.Primal; one.Dual > c.Primal+off || one.Primal < c.Dual-off || cheap.Machines[k].Dual > one.Dual+off {
						t.Errorf("%v, %s: [%v, %v], the optimum is %v", how, one.Name, one.Dual, one.Primal, c.Primal)
					}
					primal, dual = primal+one.Primal, dual+one.Dual
				}
				if primal != v.Primal || dual != v.Dual || len(v.Machines) != 3 {
					t.Errorf("%v: the sums are %v and %v, the verdict says %+v", how, primal, dual, v)
				}
				sure := must(fit.Certain(data))
				names := must(fit.Predict(data))
				by := must(fit.Model().Predict(data))
				for i, s := range sure {
					if all++; s {
						certain++
					}
					if s && names[i] != right[i] {
						t.Errorf("%v, %v: label %d is said to be certain, and is wrong", m, how, i)
					}
					if names[i] != by[i] {
						t.Errorf("%v, %v: label %d is %s, and %s by the model", m, how, i, names[i], by[i])
					}
				}
			}
		}
	}
	t.Logf("%d of %d labels are certain", certain, all)
	if certain < all/20 {
		t.Errorf("%d of %d labels are certain", certain, all)
	}
	base := svmnb.Classify(datasets.Iris()).Kernel(kernels.RBF(0.3)).C(10)
	for _, m := range append(schemesOf(base), base.Balanced().OneVsOne(), base.ClassWeight("setosa", 3).OneVsOne()) {
		cold := m.MustFit()
		fit := m.Approximate(svmnb.Nystroem{Landmarks: 20}).MustFit()
		exact := must(fit.Polish(t.Context()))
		if c := exact.Certificate(); exact.Status() != solvers.Converged || math.Abs(c.Dual-cold.Certificate().Dual) > c.Gap+cold.Certificate().Gap {
			t.Errorf("%v: %v, %+v instead of %+v", m, exact.Status(), c, cold.Certificate())
		}
		if !strings.Contains(fit.Markdown(), "not computed") {
			t.Errorf("%s", fit.Markdown())
		}
	}
}

// What an approximation of several classes cannot do is said.
func TestApproximateClassesErrors(t *testing.T) {
	base := svmnb.Classify(datasets.Iris())
	ten := svmnb.Nystroem{Landmarks: 10}
	for want, a := range map[string]svmnb.ApproximateMultiClassifier{
		"say OneVsOne() or":                base.CrammerSinger().Approximate(ten),
		"the approximation is nil":         base.OneVsOne().Approximate(nil),
		"Landmarks is 1;":                  base.OneVsRest().Approximate(svmnb.Nystroem{Landmarks: 1}),
		"or say OneVsOne() for weights of": base.ClassWeight("setosa", 2).OneVsRest().Approximate(ten),
		"leave HardMargin":                 base.HardMargin().OneVsOne().Approximate(ten),
	} {
		if _, err := a.Fit(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", a, err, want)
		}
	}
}

func ExampleMultiClassifier_Approximate() {
	iris := datasets.Iris()
	fit := svmnb.Classify(iris).Kernel(kernels.RBF(0.2)).C(1).OneVsOne().Approximate(svmnb.Nystroem{Landmarks: 30, By: svmnb.Greedy}).MustFit()
	v, err := fit.Certify(context.Background())
	if err != nil {
		panic(err)
	}
	fmt.Println(len(v.Machines), "machines, together within 1 % of the exact ones:", v.RelGap() < 0.01)
	// Output: 3 machines, together within 1 % of the exact ones: true
}
