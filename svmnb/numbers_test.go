package svmnb

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/solvers/fastest"
	"github.com/svmnb/svmnb/svmnb/internal/sheet"
	"github.com/svmnb/svmnb/svmnb/model"
)

// told is a fit that describes itself in every way that there is.
type told interface {
	solved
	Markdown() string
}

// numbered are fits of every formulation, by several methods, solved and cut short.
func numbered(t *testing.T) map[string]told {
	t.Helper()
	moons := Classify(datasets.Moons(90, 0.25, 7)).Kernel(kernels.RBF(1))
	iris := Classify(datasets.Iris().Pair("virginica", "versicolor")).Kernel(kernels.Linear())
	apart := Classify(datasets.Iris().Pair("setosa", "versicolor")).Kernel(kernels.RBF(0.5))
	curve := Regress(wave(60, 0.2)).Kernel(kernels.RBF(1)).C(5)
	fits := map[string]told{}
	classify := func(name string, c Classifier) {
		f, err := c.Fit(context.Background())
		if f == nil {
			t.Fatalf("%s: %v", name, err)
		}
		fits[name] = f
	}
	regress := func(name string, r Regressor) {
		f, err := r.Fit(context.Background())
		if f == nil {
			t.Fatalf("%s: %v", name, err)
		}
		fits[name] = f
	}
	for _, m := range []solvers.Method{fastest.Method{}, solvers.SMO{}, solvers.SMO{Selection: solvers.Platt}, solvers.ConjugateSMO{}, solvers.Chunking{}, solvers.Decomposition{}, solvers.PrimalDual{}, solvers.Barrier{}} {
		classify("soft, "+m.Name(), moons.C(2).Using(m))
		classify("2-norm, "+m.Name(), moons.TwoNorm().C(2).Using(m))
		regress("ε-SVR, "+m.Name(), curve.Epsilon(0.1).Using(m))
	}
	classify("linear", iris.C(1))
	classify("Newton", iris.TwoNorm().C(1).Newton())
	classify("fixed bias", moons.C(2).FixedBias(0.2).Using(solvers.GradientAscent{}))
	classify("augmented", moons.C(2).Augment(1).Using(solvers.GradientAscent{}))
	classify("hard", apart.HardMargin())
	classify("ν-SVC", moons.Nu(0.4).SMO())
	classify("one class", OneClass(datasets.Moons(90, 0.25, 7)).Nu(0.2).Kernel(kernels.RBF(1)))
	classify("cut short", moons.C(100).SMO().MaxIterations(9))
	classify("cut short at once", moons.C(100).SMO().MaxIterations(1))
	classify("ν-SVC, cut short", moons.Nu(0.4).SMO().MaxIterations(5))
	regress("ν-SVR", curve.Nu(0.3))
	regress("ridge", curve.Ridge(0.1))
	regress("quadratic", curve.Epsilon(0.1).QuadraticLoss())
	regress("ε-SVR, cut short", curve.Epsilon(0.1).SMO().MaxIterations(7))
	return fits
}

// The same word has the same number in the summary, in tables and in figures: that of
// the certificate, which is sheet.Compared with Certify of the multipliers alone.
func TestOneNumberForOneWord(t *testing.T) {
	for name, fit := range numbered(t) {
		r := fit.record()
		c, afresh := r.Certificate, solvers.Certify(r.problem, r.Alpha)
		size := 1e-9 * (1 + math.Abs(c.Dual))
		if math.Abs(c.MaxKKT-afresh.MaxKKT) > 1e-9*(1+math.Abs(c.Bias)) || math.Abs(c.Dual-afresh.Dual) > size || c.Free != afresh.Free || c.AtUpper != afresh.AtUpper {
			t.Errorf("%s: the certificate is %+v, afresh %+v", name, c, afresh)
		}
		var violations []float64
		switch f := fit.(type) {
		case *Fit:
			for _, row := range f.Conditions() {
				violations = append(violations, row.Violation)
			}
		case *RegressionFit:
			for _, row := range f.Conditions() {
				violations = append(violations, row.Violation)
			}
		}
		largest := slices.Max(violations)
		rounding := 1e-12 * (1 + math.Abs(c.Bias))
		if math.Abs(largest-c.MaxKKT) > rounding {
			t.Errorf("%s: the largest violation is %g in the table, %g in the certificate", name, largest, c.MaxKKT)
		}
		if !strings.Contains(fit.Markdown(), fmt.Sprintf("| largest KKT violation | %.2g |", c.MaxKKT)) {
			t.Errorf("%s: the summary does not have the violation %.2g:\n%s", name, c.MaxKKT, fit.Markdown())
		}
		kkt, err := KKT.Of(fit)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		shown := kkt.Extra["svm"].(map[string]any)["finals"].([]any)
		drawn := 0.0
		for _, v := range shown {
			if v, ok := v.(float64); ok {
				drawn = max(drawn, v)
			}
		}
		if math.Abs(drawn-c.MaxKKT) > 0.006*c.MaxKKT+rounding { // to three digits
			t.Errorf("%s: the largest violation at the end is %g in KKT, %g in the certificate", name, drawn, c.MaxKKT)
		}
		over := 0
		tol := 1e-3
		if stop, ok := r.stop.(solvers.UpLow); ok {
			tol = stop.Tol / 2
		}
		for _, v := range violations {
			if v > tol {
				over++
			}
		}
		if says := fmt.Sprintf("%d of %d", over, len(violations)); (over > 0) != strings.HasPrefix(kkt.Title.Title, says) {
			t.Errorf("%s: %d violate, but KKT says %q", name, over, kkt.Title.Title)
		}
		end := r.Trace.Points[len(r.Trace.Points)-1]
		if end.Iteration != r.Iterations || end.KKT != c.MaxKKT || end.Dual != c.Dual || end.Evaluations != r.Evaluations ||
			!(end.Gap == c.Gap || math.IsInf(c.Gap, 1) && math.IsNaN(end.Gap)) || end.Free != c.Free || end.Bound != c.AtUpper {
			t.Errorf("%s: the trace ends with %+v, the certificate is %+v", name, end, c)
		}
		gap, err := Gap.Of(fit)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if state := gap.Title.Title; !math.IsInf(c.Gap, 1) && c.Gap > 1e-12*(1+math.Abs(c.Dual)) {
			digits := fmt.Sprintf("%.1e", c.Gap)[:3] // as "1.2" of 1.2e-04
			if !strings.Contains(state, "to rounding") && !strings.Contains(strings.NewReplacer(".", "").Replace(state), strings.Trim(strings.Replace(digits, ".", "", 1), "0")) {
				t.Errorf("%s: the gap is %g, but the figure says %q", name, c.Gap, state)
			}
		}
		line := fit.(sheet.Compared).Comparison()
		if line.Measures[4] != max(c.Gap, 0) || line.Measures[5] != c.MaxKKT {
			t.Errorf("%s: the table of fits has a gap of %g and a violation of %g, the certificate %g and %g", name, line.Measures[4], line.Measures[5], c.Gap, c.MaxKKT)
		}
		if f, ok := fit.(*Fit); ok {
			margins, err := Margins.Of(f)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			says := fmt.Sprintf("%d free, %d at the bound; %d error", c.Free, c.AtUpper, f.TrainingErrors())
			if len(f.task.data.X[0]) > 2 { // no plane to draw: Margins is then a histogram of f, whose title counts errors
				says = fmt.Sprintf("%d of %d points lie on the wrong side", f.TrainingErrors(), len(f.Alpha))
			}
			if !strings.Contains(margins.Title.Title, says) && c.Free+c.AtUpper > 0 {
				t.Errorf("%s: %q, want %q in it", name, margins.Title.Title, says)
			}
			if want := fmt.Sprintf("%d free, %d at the bound", c.Free, c.AtUpper); !strings.Contains(f.Markdown(), want) || !strings.Contains(f.Markdown(), fmt.Sprintf("| training errors | %d of ", f.TrainingErrors())) {
				t.Errorf("%s: the summary does not say %q and %d errors:\n%s", name, want, f.TrainingErrors(), f.Markdown())
			}
			if e, err := f.evaluation(); err != nil || int(math.Round(float64(len(e.Truth))*(1-e.Confusion().Accuracy()))) != f.TrainingErrors() {
				t.Errorf("%s: Confusion has another number of errors than %d, %v", name, f.TrainingErrors(), err)
			}
			alphas, err := Alphas.Of(f)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			verb := "are"
			if c.Free == 1 {
				verb = "is"
			}
			if says := fmt.Sprintf("%d %s free, %d at the bound", c.Free, verb, c.AtUpper); !strings.Contains(alphas.Title.Title, says) {
				t.Errorf("%s: Alphas: %q, want %q in it", name, alphas.Title.Title, says)
			}
		}
	}
}

// The free vectors of one class lie on its line, and what lies on the line is no error:
// in the summary, in tables, figures and measures, for the fit and for its model.
func TestOneClassPointsOnTheLine(t *testing.T) {
	for _, test := range []struct {
		name string
		c    Classifier
	}{
		{"moons", OneClass(datasets.Moons(120, 0.2, 1)).Nu(0.1).Kernel(kernels.RBF(1))},
		{"many outside", OneClass(datasets.Moons(120, 0.2, 1)).Nu(0.5).Kernel(kernels.RBF(1))},
		{"few outside", OneClass(datasets.Moons(120, 0.2, 1)).Nu(0.01).Kernel(kernels.RBF(1))},
		{"narrow", OneClass(datasets.Moons(120, 0.2, 1)).Nu(0.1).Kernel(kernels.RBF(30))},
		{"coarse", OneClass(datasets.Moons(120, 0.2, 1)).Nu(0.2).Kernel(kernels.RBF(1)).Tol(0.05)},
		{"fine", OneClass(datasets.Moons(120, 0.2, 1)).Nu(0.2).Kernel(kernels.RBF(1)).Tol(1e-9)},
		{"by another criterion", OneClass(datasets.Moons(120, 0.2, 1)).Nu(0.2).Kernel(kernels.RBF(1)).Stop(solvers.KKT{Tol: 1e-3})},
		{"four features", OneClass(datasets.Iris()).Nu(0.1).Kernel(kernels.RBF(0.5))},
		{"interior point", OneClass(datasets.Moons(120, 0.2, 1)).Nu(0.2).Kernel(kernels.RBF(1)).PrimalDual()},
	} {
		f := test.c.MustFit()
		want := 0
		for i, v := range f.training() {
			if f.Alpha[i] > 0 && f.Alpha[i] < f.task.problem.Upper[i] {
				if f.side(v) != 1 {
					t.Errorf("%s: free vector %d with f = %g is outside", test.name, i, v)
				}
			} else if f.Alpha[i] > 0 && v < -f.line {
				want++
			}
		}
		if got := f.TrainingErrors(); got != want || got > f.Certificate.AtUpper {
			t.Errorf("%s: %d errors, want %d, of the %d at the bound", test.name, got, want, f.Certificate.AtUpper)
		}
		c, err := Margins.Of(f)
		if err != nil {
			t.Fatal(err)
		}
		says := fmt.Sprintf("; %d error", want)
		if len(f.task.data.X[0]) > 2 { // no plane to draw: Margins is then a histogram of f, whose title counts errors
			says = fmt.Sprintf("%d of %d points lie on the wrong side", want, len(f.Alpha))
		}
		if !strings.Contains(c.Title.Title, says) {
			t.Errorf("%s: %q does not say %q", test.name, c.Title.Title, says)
		}
		if got := f.Comparison().Measures[8]; int(got) != want {
			t.Errorf("%s: the table has %v errors, want %d", test.name, got, want)
		}
		names, err := f.Predict(datasets.Rows(f.task.data.X))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "model")
		if err := model.Save(path, f); err != nil {
			t.Fatal(err)
		}
		loaded, err := model.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		again, err := loaded.Predict(datasets.Rows(f.task.data.X))
		if err != nil || !slices.Equal(names, again) {
			t.Errorf("%s: the model says otherwise than the fit, %v", test.name, err)
		}
		outside := 0
		for _, n := range names {
			if n == f.task.negative {
				outside++
			}
		}
		if outside != want {
			t.Errorf("%s: Predict has %d outside, want %d", test.name, outside, want)
		}
	}
}
