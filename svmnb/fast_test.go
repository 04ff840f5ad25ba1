package svmnb

import (
	"math"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
)

// The default is the engine in blocks for 600 points, and finds what SMO finds,
// for every machine; a kernel that does not go in blocks stays with SMO.
func TestFastIsTheDefault(t *testing.T) {
	data := datasets.Moons(600, 0.3, 7)
	classifier := Classify(data).Kernel(kernels.RBF(1)).C(10).Tol(1e-6)
	for name, c := range map[string]Classifier{
		"1-norm": classifier, "2-norm": classifier.TwoNorm(), "weights": classifier.ClassWeight("+1", 3), "ν": classifier.Nu(0.3),
		"one class":  OneClass(data).Kernel(kernels.RBF(1)).Nu(0.2).Tol(1e-6),
		"polynomial": classifier.Kernel(kernels.Polynomial(2, 1, 1)).C(0.1),
		"a sum":      classifier.Kernel(kernels.Sum(kernels.RBF(2), kernels.Scale(0.5, kernels.Linear()))),
	} {
		fit, want := c.MustFit(), c.SMO().MustFit()
		sameOptimum(t, name, fit.Result, want.Result)
	}
	if fit := classifier.Kernel(kernels.Laplacian(1)).MustFit(); fit.Method != (solvers.SMO{}).Name() {
		t.Errorf("a kernel that goes by rows was solved by %s", fit.Method)
	}
	regressor := Regress(datasets.Sinc(400, 0.1, 3)).Kernel(kernels.RBF(1)).C(10).Epsilon(0.1).Tol(1e-6)
	for name, r := range map[string]Regressor{"ε": regressor, "quadratic ε": regressor.QuadraticLoss(), "ν-SVR": regressor.Nu(0.4)} {
		fit, want := r.MustFit(), r.SMO().MustFit()
		sameOptimum(t, name, fit.Result, want.Result)
	}
}

func sameOptimum(t *testing.T, name string, fit, want solvers.Result) {
	t.Helper()
	if !strings.Contains(fit.Method, "in blocks") {
		t.Errorf("%s: solved by %s", name, fit.Method)
	}
	a, b := fit.Certificate, want.Certificate
	if a.MaxKKT > 1e-6 || math.Abs(a.Dual-b.Dual) > 1e-7*math.Abs(b.Dual) {
		t.Errorf("%s: W = %.10g, KKT %g; SMO has %.10g", name, a.Dual, a.MaxKKT, b.Dual)
	}
}

// Columns far from the origin, where ‖x‖² + ‖z‖² − 2x·z cancels, features of very
// different sizes and a γ for points that are far apart give single precision
// nothing to be wrong about: the certificate, afresh and row by row, holds.
func TestFastIsPrecise(t *testing.T) {
	moons := datasets.Moons(600, 0.3, 7)
	for name, c := range map[string]struct {
		change func(x []float64)
		gamma  float64
	}{
		"shifted by 1000":  {func(x []float64) { x[0], x[1] = x[0]+1000, x[1]+1000 }, 1},
		"shifted by 10⁷":   {func(x []float64) { x[0] += 1e7 }, 1},
		"scaled unevenly":  {func(x []float64) { x[0] *= 1e4 }, 1e-8},
		"scaled, γ = 1":    {func(x []float64) { x[0] *= 300 }, 1},
		"far apart, γ ≫ 1": {func(x []float64) { x[0] *= 1e3; x[1] *= 1e3 }, 1e3},
	} {
		x := make([][]float64, 600)
		for i, row := range moons.X {
			x[i] = append([]float64(nil), row...)
			c.change(x[i])
		}
		data := datasets.New(x, moons.Y)
		fit := Classify(data).Kernel(kernels.RBF(c.gamma)).C(10).MustFit()
		want := Classify(data).Kernel(kernels.RBF(c.gamma)).C(10).SMO().MustFit()
		k, err := kernels.NewGram(kernels.RBF(c.gamma), x, 0)
		if err != nil {
			t.Fatal(err)
		}
		cost := make([]float64, 600)
		for i := range cost {
			cost[i] = 10
		}
		afresh := solvers.Certify(solvers.SoftMargin(k, fit.task.y, cost), fit.Alpha)
		if afresh.MaxKKT > 1e-3 || math.Abs(afresh.Dual-want.Certificate.Dual) > 1e-5*math.Abs(afresh.Dual) {
			t.Errorf("%s, by %s: KKT %g, W = %.8g; SMO has %.8g", name, fit.Method, afresh.MaxKKT, afresh.Dual, want.Certificate.Dual)
		}
	}
}
