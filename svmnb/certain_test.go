package svmnb_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/selection"
	"github.com/svmnb/svmnb/svmnb/transform"
)

// A run that ends when labels are certain has as many certain labels as were asked for, and
// they are those of the optimum.
func TestARunEndsWhenLabelsAreCertain(t *testing.T) {
	moons, others := datasets.Moons(200, 0.2, 1), datasets.Moons(100, 0.2, 2)
	rbf := svmnb.Classify(moons).Kernel(kernels.RBF(1))
	for name, base := range map[string]svmnb.Classifier{
		"SMO": rbf.C(10).SMO(), "fastest": rbf.C(10), "2-norm": rbf.C(10).TwoNorm(), "ν": rbf.Nu(0.2), "shrinking": rbf.C(10).Using(solvers.SMO{Shrinking: true}),
		"ascent": rbf.C(1).GradientAscent(), "interior point": rbf.C(10).PrimalDual(), "linear": svmnb.Classify(moons).Kernel(kernels.Linear()).C(1),
		"one class": svmnb.OneClass(moons).Kernel(kernels.RBF(1)).Nu(0.2),
	} {
		right, _ := base.Tol(1e-9).MustFit().Predict(others)
		usual := base.MustFit()
		for _, points := range []*datasets.Dataset{moons, others} {
			fit, err := base.Stop(solvers.Any(svmnb.Certain(points, 0.9), solvers.UpLow{Tol: 1e-7})).Fit(t.Context())
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			certain, err := fit.Certain(points)
			if err != nil {
				t.Fatal(err)
			}
			got, _ := fit.Predict(points)
			n := 0
			for i, c := range certain {
				if c {
					n++
					if points == others && got[i] != right[i] {
						t.Errorf("%s: the certain label of point %d is wrong", name, i)
					}
				}
			}
			if 10*n < 9*len(certain) {
				t.Errorf("%s: the run ended with %d of %d labels certain", name, n, len(certain))
			}
			t.Logf("%s: %d iterations, %d until 1e-3; %d of %d labels are certain", name, fit.Iterations, usual.Iterations, n, len(certain))
			if (name == "SMO" || name == "2-norm") && fit.Iterations >= usual.Iterations {
				t.Errorf("%s: %d iterations until labels are certain, and %d until 1e-3", name, fit.Iterations, usual.Iterations)
			}
		}
	}
}

func TestCertainRefuses(t *testing.T) {
	moons := datasets.Moons(60, 0.2, 1)
	var bad *svmnb.ArgumentError
	for name, fit := range map[string]func() error{
		"share 0": func() error {
			_, err := svmnb.Classify(moons).Stop(svmnb.Certain(moons, 0)).Fit(t.Context())
			return err
		},
		"share 2": func() error {
			_, err := svmnb.Classify(moons).Stop(svmnb.Certain(moons, 2)).Fit(t.Context())
			return err
		},
		"no points": func() error { _, err := svmnb.Classify(moons).Stop(svmnb.Certain(nil, 1)).Fit(t.Context()); return err },
		"another d": func() error {
			_, err := svmnb.Classify(moons).Stop(solvers.All(svmnb.Certain(datasets.Iris(), 1))).Fit(t.Context())
			return err
		},
		"regression": func() error {
			_, err := svmnb.Regress(datasets.Sinc(30, 0.1, 1)).Stop(svmnb.Certain(moons, 1)).Fit(t.Context())
			return err
		},
		"Crammer–Singer": func() error {
			_, err := svmnb.Classify(datasets.Iris()).Stop(svmnb.Certain(datasets.Iris(), 1)).CrammerSinger().Fit(t.Context())
			return err
		},
		"pipeline": func() error {
			_, err := selection.Pipe(transform.Standardise(), svmnb.Classify(moons).Stop(svmnb.Certain(moons, 1))).Fit(t.Context())
			return err
		},
		"no classifier": func() error {
			_, err := solvers.Solve(t.Context(), svmnb.Classify(moons).MustFit().Problem(), solvers.SMO{}, solvers.Settings{Stop: svmnb.Certain(moons, 1)})
			return err
		},
	} {
		if err := fit(); !errors.As(err, &bad) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func ExampleCertain() {
	moons := datasets.Moons(200, 0.15, 42)
	machine := svmnb.Classify(moons).Kernel(kernels.RBF(0.5)).C(10).SMO()
	usual := machine.MustFit()
	sooner := machine.Stop(svmnb.Certain(moons, 0.95)).MustFit()
	fmt.Println(sooner.Iterations < usual.Iterations, sooner.Description)
	// Output: true Classify(moons).Kernel(RBF(0.5)).C(10).SMO().Stop(95 % of 200 labels certain)
}
