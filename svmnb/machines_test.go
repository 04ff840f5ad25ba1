package svmnb

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/solvers/blocks"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
)

// Each one-liner reaches the optimum of its problem, whose decision function is
// the expansion that it says.
func TestOneLiners(t *testing.T) {
	data := testkit.Moons()
	rbf := Classify(data).Kernel(kernels.RBF(0.5)).C(3).Tol(1e-7)
	linear := Classify(data).Kernel(kernels.Linear()).Tol(1e-7)
	for _, c := range []struct {
		name string
		of   Classifier
		like Classifier // the same machine by another method
	}{
		{"ConjugateSMO", rbf.Using(solvers.ConjugateSMO{}), rbf.SMO()},
		{"Chunking", rbf.Using(solvers.Chunking{}), rbf.SMO()},
		{"Decomposition", rbf.Using(blocks.Decomposition{}), rbf.SMO()},
		{"Barrier", rbf.Using(solvers.Barrier{}), rbf.SMO()},
		{"PrimalDual", rbf.PrimalDual(), rbf.SMO()},
		{"GradientAscent", rbf.GradientAscent(), rbf.Augment(1).Using(solvers.GradientAscent{Order: solvers.Shuffled})},
		{"Platt with w", linear.Using(solvers.SMO{Selection: solvers.Platt}), linear.SMO()},
		{"CoordinateDescent", linear.CoordinateDescent(), linear.Augment(1).Using(solvers.GradientAscent{})},
		{"Newton", linear.Newton(), linear.SMO()},
		{"Newton, 2-norm", linear.TwoNorm().Newton(), linear.TwoNorm().SMO()},
		{"Newton, augmented", linear.Augment(1).Newton(), linear.CoordinateDescent()},
		{"CoordinateDescent, 2-norm", linear.TwoNorm().CoordinateDescent(), linear.TwoNorm().Augment(1).Using(solvers.GradientAscent{})},
		{"CoordinateDescent, fixed bias", linear.FixedBias(-0.5).CoordinateDescent(), linear.FixedBias(-0.5).Using(solvers.GradientAscent{})},
	} {
		t.Run(c.name, func(t *testing.T) {
			fit, like := testkit.FitOf(t, c.of), testkit.FitOf(t, c.like)
			testkit.Near(t, "W", fit.Certificate.Dual, like.Certificate.Dual, 1e-7)
			if fit.Certificate.RelGap > 1e-5 {
				t.Errorf("%+v", fit.Certificate)
			}
			x := [][]float64{{0, 0}, {1, -0.5}, {-1, 2}}
			a, err := fit.Values(datasets.Rows(x))
			if err != nil {
				t.Fatal(err)
			}
			b, _ := like.Values(datasets.Rows(x))
			for i := range a {
				testkit.Near(t, "f", a[i], b[i], 1e-4)
			}
			testkit.Near(t, "f as an expansion", a[0], expansion(fit, x[0]), 1e-9)
		})
	}
}

// expansion computes f(z) from what a Fit shows.
func expansion(fit *Fit, z []float64) float64 {
	f := fit.Bias
	for _, sv := range fit.SupportVectors() {
		f += fit.scale * sv.Alpha * sv.Y * fit.Description.kernel.Eval(sv.X, z)
	}
	return f
}

func TestAugmentIsAKernel(t *testing.T) {
	base := Classify(testkit.Moons()).Tol(1e-8).Using(solvers.GradientAscent{})
	fit := testkit.FitOf(t, base.Kernel(kernels.RBF(0.5)).Augment(4))
	whole := testkit.FitOf(t, base.Kernel(kernels.Augmented(kernels.RBF(0.5), 4)).FixedBias(0))
	x := [][]float64{{0.2, 0.3}}
	a, _ := fit.Values(datasets.Rows(x))
	b, _ := whole.Values(datasets.Rows(x))
	testkit.Near(t, "f", a[0], b[0], 1e-6)
	if fit.Bias == 0 || whole.Bias != 0 {
		t.Errorf("bias %g of the augmented machine, %g of the kernel K + τ²", fit.Bias, whole.Bias)
	}
	radius := testkit.FitOf(t, base.Kernel(kernels.Scale(9, kernels.RBF(0.5))).Augment(kernels.Radius))
	if radius.Description.tau2 != 9 {
		t.Errorf("R² = %g, want 9", radius.Description.tau2)
	}
}

// C-SVC with C = 1/ρ is the same machine.
func TestNu(t *testing.T) {
	base := Classify(testkit.Moons()).Kernel(kernels.RBF(0.5)).Tol(1e-9)
	fit := testkit.FitOf(t, base.Nu(0.3))
	same := testkit.FitOf(t, base.C(1/fit.Certificate.Rho))
	x := [][]float64{{0, 0}, {1, -0.5}, {-1, 2}}
	a, _ := fit.Values(datasets.Rows(x))
	b, _ := same.Values(datasets.Rows(x))
	for i := range a {
		testkit.Near(t, "f", a[i], b[i], 1e-6)
	}
	testkit.Near(t, "f as an expansion", a[0], expansion(fit, x[0]), 1e-9)
	testkit.Near(t, "margin", fit.Margin(), same.Margin(), 1e-6)
	if sv := fit.Certificate.Free + fit.Certificate.AtUpper; fit.Certificate.AtUpper > 60 || sv < 60 {
		t.Errorf("%d at the bound and %d support vectors for ν n = 60", fit.Certificate.AtUpper, sv)
	}
	for _, f := range []display.Figure{Margins, KKT, Gap} {
		if _, err := f.Of(fit); err != nil {
			t.Errorf("%v: %v", f, err)
		}
	}
	if s := base.Nu(0.3).String(); !strings.Contains(s, ".Nu(0.3)") || !strings.Contains(fit.Markdown(), "ν = 0.3") {
		t.Errorf("%s\n%s", s, fit.Markdown())
	}
}

func TestOneClass(t *testing.T) {
	data := datasets.Blobs(150, 2, 0.5, 3)
	fit := testkit.FitOf(t, OneClass(data).Kernel(kernels.RBF(0.5)).Nu(0.1).Tol(1e-8))
	outside := 0
	for _, v := range fit.training() {
		if v < -1e-6 { // the free vectors have f = 0 up to the tolerance
			outside++
		}
	}
	if outside > 15 || outside < 5 || fit.Certificate.AtUpper != outside {
		t.Errorf("%d of 150 points outside, ν n = 15", outside)
	}
	names, err := fit.Predict(datasets.Rows{{100, 100}})
	if err != nil || names[0] != "outside" {
		t.Errorf("far away is %v, %v", names, err)
	}
	far, _ := fit.Values(datasets.Rows{{1e3, 1e3}})
	testkit.Near(t, "f far away", far[0], -1, 1e-9)
	testkit.Near(t, "f as an expansion", fit.training()[0], expansion(fit, data.X[0]), 1e-9)
	for _, f := range []display.Figure{Margins, KKT, Gap} {
		if _, err := f.Of(fit); err != nil {
			t.Errorf("%v: %v", f, err)
		}
	}
}

func TestMachinesRefuse(t *testing.T) {
	data := testkit.Moons()
	base := Classify(data).Kernel(kernels.RBF(0.5))
	var argument *ArgumentError
	var problem *solvers.ProblemError
	for _, c := range []struct {
		name string
		of   Classifier
		as   any
	}{
		{"ν = 0", base.Nu(0), &argument},
		{"ν NaN", base.Nu(math.NaN()), &argument},
		{"ν too large", Classify(datasets.Iris().OneVsRest("setosa")).Nu(0.9), &problem},
		{"ν with a fixed bias", base.Nu(0.2).FixedBias(0), &argument},
		{"one class with a fixed bias", OneClass(data).Augment(1), &argument},
		{"bias NaN", base.FixedBias(math.NaN()), &argument},
		{"τ² = 0", base.Augment(0), &argument},
		{"τ² < 0", base.Augment(-2), &argument},
	} {
		if _, err := c.of.Fit(context.Background()); !errors.As(err, c.as) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for _, c := range []Classifier{base.FixedBias(0).SMO(), base.FixedBias(0).Using(solvers.CoordinateDescent{}), base.Nu(0.2).Using(solvers.ConjugateSMO{})} {
		if _, err := c.Fit(context.Background()); !errors.Is(err, solvers.ErrUnsupported) {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// Gradient ascent converges linearly (CST §7.2): on a log scale its gap is a
// straight line, whose slope the figure says.
func TestRateOfGradientAscent(t *testing.T) {
	fit := testkit.FitOf(t, Classify(testkit.Moons()).Kernel(kernels.RBF(0.5)).C(3).Tol(1e-9).GradientAscent())
	c, err := Rate.Of(fit)
	if err != nil {
		t.Fatal(err)
	}
	if title := c.Title.Title; !strings.Contains(title, "falls by a factor of 0.") || !strings.Contains(title, "per epoch") {
		t.Errorf("title %q", title)
	}
}
