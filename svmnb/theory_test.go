package svmnb

import (
	"math"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
)

func TestMarginsOfTheHardMargin(t *testing.T) {
	setosa := Classify(datasets.Iris().OneVsRest("setosa")).Kernel(kernels.Linear()).HardMargin().Tol(1e-8)
	fit := testkit.FitOf(t, setosa)
	testkit.Near(t, "functional margin", fit.FunctionalMargin(), 1, 1e-6)
	testkit.Near(t, "geometric margin", fit.GeometricMargin(), 1/math.Sqrt(2*0.74805793), 1e-6)
	testkit.Near(t, "‖w‖² = Σα", fit.Certificate.Norm2, 2*fit.Certificate.Dual, 1e-6)
	testkit.Near(t, "Ng's b*", fit.BiasOfN(), fit.Bias, 1e-6)
	x := datasets.Iris().X
	r2 := 0.0
	for _, p := range x {
		r2 = max(r2, p[0]*p[0]+p[1]*p[1]+p[2]*p[2]+p[3]*p[3])
	}
	testkit.Near(t, "R²/γ²", fit.RadiusMargin(), r2*fit.Certificate.Norm2, 1e-9)
}

// Ng's b* is for the hard margin; with slacks it misses (erratum N1).
func TestBiasOfNIsForTheHardMargin(t *testing.T) {
	fit := testkit.FitOf(t, Classify(datasets.Iris().Pair("virginica", "versicolor")).Kernel(kernels.Linear()).Tol(1e-6))
	if math.Abs(fit.BiasOfN()-fit.Bias) < 1e-2 {
		t.Errorf("b* = %g, b = %g", fit.BiasOfN(), fit.Bias)
	}
}

func TestConditions(t *testing.T) {
	base := Classify(testkit.Moons()).Kernel(kernels.RBF(0.5)).C(10).Tol(1e-6)
	for _, c := range []Classifier{base, base.TwoNorm(), base.Nu(0.2), base.GradientAscent(), OneClass(testkit.Moons()).Kernel(kernels.RBF(1)).Tol(1e-6)} {
		fit := testkit.FitOf(t, c)
		states := map[string]int{}
		for i, r := range fit.Conditions() {
			states[r.State]++
			if r.Index != i || r.Violation > 1e-5 || r.Violation < 0 {
				t.Errorf("%v: %+v", c, r)
			}
			if r.Requires == "y f = 1" && math.Abs(r.YF-1) > 1e-4 || r.Requires == "y f ≥ 1" && r.YF < 1-1e-4 || r.Requires == "y f ≤ 1" && r.YF > 1+1e-4 {
				t.Errorf("%v: %+v", c, r)
			}
		}
		if states["α = 0"] != 200-fit.Certificate.Free-fit.Certificate.AtUpper {
			t.Errorf("%v: %v", c, states)
		}
		if md := fit.Conditions().Markdown(); strings.Count(md, "\n") != 104 || !strings.Contains(md, "100 more points") {
			t.Errorf("%v: table of %d lines", c, strings.Count(md, "\n"))
		}
	}
}

// CST Remark 7.3: f is unique, its expansion need not be.
func TestUnique(t *testing.T) {
	x := [][]float64{{-2, 0.3}, {-1, 0}, {1, 0}, {2, -0.2}}
	y := []float64{-1, -1, 1, 1}
	once := testkit.FitOf(t, Classify(datasets.New(x, y)).Kernel(kernels.Linear()).C(10).Tol(1e-10))
	if u := once.Unique(); !u.Alpha || !u.Bias || u.Direction != nil {
		t.Errorf("%+v", u)
	}
	twice := datasets.New(append(append([][]float64{}, x...), x...), append(append([]float64{}, y...), y...))
	base := Classify(twice).Kernel(kernels.Linear()).C(10).Tol(1e-10)
	even := testkit.FitOf(t, base.GradientAscent().Augment(10))
	u := even.Unique()
	if u.Alpha || u.Direction == nil {
		t.Fatalf("duplicates: %+v, α = %v", u, even.Alpha)
	}
	// Moving along the direction changes α and nothing else.
	p := even.task.problem
	moved := append([]float64(nil), even.Alpha...)
	size := 0.0
	for i, d := range u.Direction {
		moved[i] += 1e-3 * d
		size += math.Abs(d)
	}
	before, after := solvers.Certify(p, even.Alpha), solvers.Certify(p, moved)
	if size == 0 || math.Abs(before.Dual-after.Dual) > 1e-9 || math.Abs(before.Norm2-after.Norm2) > 1e-9 || after.Equality > 1e-9 {
		t.Errorf("%+v became %+v along %v", before, after, u.Direction)
	}
	// The ridge of the 2-norm makes α unique.
	if u := testkit.FitOf(t, base.TwoNorm()).Unique(); !u.Alpha {
		t.Errorf("2-norm: %+v", u)
	}
	bound := testkit.FitOf(t, Classify(testkit.Moons()).Kernel(kernels.RBF(0.5)).C(1e-4))
	if bound.Certificate.Free == 0 && bound.Unique().Bias {
		t.Error("no free vector, and yet the bias is unique")
	}
}
