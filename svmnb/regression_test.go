package svmnb

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
	"github.com/svmnb/svmnb/solvers/blocks"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
)

// wave is a sine of one feature with normal noise.
func wave(n int, noise float64) *datasets.Dataset {
	rng := rand.New(rand.NewPCG(1, 2))
	var x [][]float64
	var y []float64
	for range n {
		t := 6 * rng.Float64()
		x, y = append(x, []float64{t}), append(y, math.Sin(t)+noise*rng.NormFloat64())
	}
	d := datasets.New(x, y)
	d.Name = "wave"
	return d
}

// plane has three features and a linear target.
func plane(n int) *datasets.Dataset {
	rng := rand.New(rand.NewPCG(3, 4))
	var x [][]float64
	var y []float64
	for range n {
		row := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.Float64()}
		x, y = append(x, row), append(y, 2*row[0]-row[1]+5+0.1*rng.NormFloat64())
	}
	d := datasets.New(x, y)
	d.Name = "plane"
	return d
}

// LIBSVM 3.37 on R's MASS::mcycle, x = times/10.
func TestRegressionReference(t *testing.T) {
	d := datasets.Motorcycle()
	x := make([][]float64, d.N())
	for i, row := range d.X {
		x[i] = []float64{row[0] / 10}
	}
	fit := testkit.FitOf(t, Regress(datasets.New(x, d.Y)).Kernel(kernels.RBF(1)).C(100).Epsilon(5).Tol(1e-6))
	testkit.Near(t, "W", fit.Certificate.Dual, 184729.468248, 1e-6)
	testkit.Near(t, "b", fit.Bias, -7.491094, 1e-4)
	if free, bound := fit.counts(); free != 104-95 || bound != 95 || len(fit.SupportVectors()) != 104 {
		t.Errorf("%d free and %d bound support vectors, want 9 and 95", free, bound)
	}
}

// Every verb reaches the optimum of its problem, and f is the expansion that the
// fit says.
func TestRegressionOneLiners(t *testing.T) {
	base := Regress(wave(80, 0.2)).Kernel(kernels.RBF(1)).C(3).Tol(1e-7)
	linear := Regress(plane(60)).Kernel(kernels.Linear()).Tol(1e-7)
	for _, c := range []struct {
		name     string
		of, like Regressor
	}{
		{"ConjugateSMO", base.Using(solvers.ConjugateSMO{}), base},
		{"SMO on 2n", base.Using(solvers.SMO{}), base.SMO()},
		{"quadrants", base.Using(solvers.TubeSMO{Step: solvers.Quadrants}), base},
		{"Chunking", base.Using(solvers.Chunking{}), base},
		{"Decomposition", base.Using(blocks.Decomposition{}), base},
		{"Barrier", base.Using(solvers.Barrier{}), base},
		{"PrimalDual", base.PrimalDual(), base},
		{"GradientAscent", base.GradientAscent(), base.Augment(1).Using(solvers.GradientAscent{Order: solvers.Shuffled})},
		{"quadratic", base.QuadraticLoss(), base.QuadraticLoss().PrimalDual()},
		{"ridge", base.Ridge(0.1), base.QuadraticLoss().Epsilon(0).C(10).PrimalDual()},
		{"ν", base.Nu(0.4), base.Nu(0.4).Using(solvers.SMO{Selection: solvers.WorstPair})},
		{"Platt with w", linear.Using(solvers.SMO{Selection: solvers.Platt}), linear},
		{"CoordinateDescent", linear.CoordinateDescent(), linear.Augment(1).Using(solvers.GradientAscent{})},
		{"Newton", linear.Newton(), linear},
		{"Newton, quadratic", linear.QuadraticLoss().Newton(), linear.QuadraticLoss()},
		{"CoordinateDescent, quadratic", linear.QuadraticLoss().CoordinateDescent(), linear.QuadraticLoss().Augment(1).Using(solvers.GradientAscent{})},
		{"CoordinateDescent, fixed bias", linear.FixedBias(4).CoordinateDescent(), linear.FixedBias(4).Using(solvers.GradientAscent{})},
	} {
		t.Run(c.name, func(t *testing.T) {
			fit, like := testkit.FitOf(t, c.of), testkit.FitOf(t, c.like)
			testkit.Near(t, "W", fit.Certificate.Dual, like.Certificate.Dual, 1e-7)
			if fit.Certificate.RelGap > 1e-5 {
				t.Errorf("%+v", fit.Certificate)
			}
			x := fit.task.data.X[:4]
			a, err := fit.Predict(datasets.Rows(x))
			if err != nil {
				t.Fatal(err)
			}
			b, _ := like.Predict(datasets.Rows(x))
			for i := range a {
				testkit.Near(t, "f", a[i], b[i], 1e-4)
			}
			f := fit.Bias
			for _, sv := range fit.SupportVectors() {
				f += sv.Beta * fit.task.kernel.Eval(sv.X, x[0])
			}
			testkit.Near(t, "f as an expansion", a[0], f, 1e-9)
		})
	}
}

// The default is what it says, and the fit describes it in full.
func TestRegressionDefaults(t *testing.T) {
	data := wave(50, 0.1)
	fit, said := testkit.FitOf(t, Regress(data)), testkit.FitOf(t, Regress(data).Kernel(kernels.RBF(kernels.GammaScale(data.X))).C(1).Epsilon(0.1).LinearLoss().SMO().Tol(1e-3))
	testkit.Near(t, "W", fit.Certificate.Dual, said.Certificate.Dual, 0)
	if fit.Method != (solvers.TubeSMO{}).Name() || fit.Epsilon != 0.1 {
		t.Errorf("solved by %s, ε = %g", fit.Method, fit.Epsilon)
	}
	want := fmt.Sprintf("Regress(wave).Kernel(%v).C(1).Epsilon(0.1).Tol(0.001)", kernels.RBF(kernels.GammaScale(data.X)))
	if got := fit.Description.String(); got != want {
		t.Errorf("the description reads %s, want %s", got, want)
	}
	again := testkit.FitOf(t, fit.Description)
	testkit.Near(t, "W of the description", again.Certificate.Dual, fit.Certificate.Dual, 0)
}

func TestRegressorIsAValue(t *testing.T) {
	base := Regress(wave(20, 0.1)).Kernel(kernels.RBF(1)).C(2)
	before := base
	base.C(3).QuadraticLoss().Tol(1e-5).SampleWeights(slices.Repeat([]float64{2}, 20)).Ridge(4).Nu(0.5).MaxIterations(4).CoordinateDescent()
	if base != before {
		t.Error("a fork has changed its base")
	}
	for want, r := range map[string]Regressor{
		"Regress(wave).Kernel(RBF(1)).C(2).Epsilon(0.1)":                                    base,
		"Regress(wave).Kernel(RBF(1)).C(2).Epsilon(0.1).SMO()":                              base.SMO(),
		"Regress(wave).Kernel(RBF(1)).QuadraticLoss().C(2).Epsilon(0).Using(solvers.SMO{})": base.QuadraticLoss().Epsilon(0).Using(solvers.SMO{}),
		"Regress(wave).Kernel(RBF(1)).Nu(0.5).C(2).SMO()":                                   base.Nu(0.5).Using(solvers.SMO{}),
		"Regress(wave).Kernel(RBF(1)).Ridge(0.5).FixedBias(1).Using(solvers.PrimalDual{})":  base.Ridge(0.5).FixedBias(1).PrimalDual(),
		"Regress(wave).Kernel(RBF(1)).C(2).Epsilon(0.1).Using(solvers.GradientAscent{})":    base.GradientAscent(),
		"Regress(wave).Kernel(RBF(1)).C(2).Epsilon(0.1).SampleWeights(…).Using(solvers.TubeSMO{Step: quadrants}).Stop(relative gap ≤ 1e-06).MaxIterations(5).Sample(2).Memory(1000)": base.
			SampleWeights(slices.Repeat([]float64{2}, 20)).Using(solvers.TubeSMO{Step: solvers.Quadrants}).Stop(solvers.Gap{Rel: 1e-6}).MaxIterations(5).Sample(2).Memory(1000),
	} {
		if r.String() != want {
			t.Errorf("%s, want %s", r, want)
		}
	}
}

// Ridge regression is linear: at every point r = λβ, with Σβ = 0 or without.
func TestRidge(t *testing.T) {
	data := wave(60, 0.2)
	for _, lambda := range []float64{1e-3, 0.3, 20} {
		for _, fixed := range []bool{false, true} {
			r := Regress(data).Kernel(kernels.RBF(1)).Ridge(lambda).Tol(1e-9)
			if fixed {
				r = r.FixedBias(0.2).PrimalDual()
			}
			fit := testkit.FitOf(t, r)
			sum := 0.0
			for i, res := range fit.Residuals() {
				if math.Abs(res-lambda*fit.Beta[i]) > 1e-7 {
					t.Fatalf("λ = %g: point %d has r = %g and λβ = %g", lambda, i, res, lambda*fit.Beta[i])
				}
				sum += fit.Beta[i]
			}
			if !fixed && math.Abs(sum) > 1e-9/lambda || fixed && fit.Bias != 0.2 {
				t.Errorf("λ = %g: Σβ = %g, b = %g", lambda, sum, fit.Bias)
			}
		}
	}
	w := make([]float64, data.N())
	for i := range w {
		w[i] = float64(1 + i%3)
	}
	fit := testkit.FitOf(t, Regress(data).Kernel(kernels.RBF(1)).Ridge(0.3).SampleWeights(w).Tol(1e-9))
	for i, res := range fit.Residuals() {
		testkit.Near(t, "r w", res*w[i], 0.3*fit.Beta[i], 1e-7)
	}
}

// The mean of a Gaussian process and y'A⁻¹y, computed by an independent float64
// program: mcycle, targets less their mean, σ_f = 45, ℓ = 5, σ_n = 22.
func TestRidgeIsAGaussianProcess(t *testing.T) {
	const mean = -25.5458646617
	r := Regress(datasets.Motorcycle()).Kernel(kernels.Scale(45*45, kernels.SquaredExponential(5))).Ridge(22 * 22).FixedBias(mean)
	for _, r := range []Regressor{r.PrimalDual(), r.Using(solvers.GradientAscent{})} {
		fit := testkit.FitOf(t, r.Tol(1e-7))
		f, err := fit.Predict(datasets.Rows{{20}, {30}})
		if err != nil {
			t.Fatal(err)
		}
		testkit.Near(t, "mean at 20", f[0], -115.06477242, 1e-7)
		testkit.Near(t, "mean at 30", f[1], 30.73575789, 1e-7)
		testkit.Near(t, "y'A⁻¹y", 2*fit.Certificate.Dual, 138.52726051, 1e-9)
	}
}

// ν-SVR is ε-SVR with the ε that it finds.
func TestNuRegression(t *testing.T) {
	base := Regress(wave(80, 0.3)).Kernel(kernels.RBF(1)).C(2).Tol(1e-8)
	fit := testkit.FitOf(t, base.Nu(0.4))
	free, bound := fit.counts()
	if float64(bound) > 0.4*80 || float64(free+bound) < 0.4*80 || !(fit.Epsilon > 0) {
		t.Errorf("%d free and %d bound support vectors, ε = %g", free, bound, fit.Epsilon)
	}
	like := testkit.FitOf(t, base.Epsilon(fit.Epsilon))
	a, b := fit.Residuals(), like.Residuals()
	for i := range a {
		testkit.Near(t, "residual", a[i], b[i], 1e-5)
	}
}

// A weight counts a point as often.
func TestRegressionWeights(t *testing.T) {
	data := wave(30, 0.2)
	w, rows := make([]float64, 30), []int(nil)
	for i := range w {
		w[i] = float64(1 + i%3)
		for range 1 + i%3 {
			rows = append(rows, i)
		}
	}
	for _, of := range []func(*datasets.Dataset) Regressor{
		func(d *datasets.Dataset) Regressor { return Regress(d).Kernel(kernels.RBF(1)).Tol(1e-8) },
		func(d *datasets.Dataset) Regressor {
			return Regress(d).Kernel(kernels.RBF(1)).QuadraticLoss().Tol(1e-8)
		},
	} {
		weighted, copied := testkit.FitOf(t, of(data).SampleWeights(w)), testkit.FitOf(t, of(data.Select(rows)))
		testkit.Near(t, "W", weighted.Certificate.Dual, copied.Certificate.Dual, 1e-7)
	}
}

// conditionOf is the row of the KKT table for one point, by itself.
func conditionOf(l loss, beta, r, epsilon, c float64) float64 {
	switch {
	case l == ridge:
		return math.Abs(r - beta/c)
	case beta == 0:
		return max(0, math.Abs(r)-epsilon)
	case l == quadraticLoss:
		return math.Abs(r - math.Copysign(epsilon, beta) - beta/c)
	case beta >= c:
		return max(0, epsilon-r)
	case beta <= -c:
		return max(0, r+epsilon)
	case beta > 0:
		return math.Abs(r - epsilon)
	}
	return math.Abs(r + epsilon)
}

func TestRegressionConditions(t *testing.T) {
	base := Regress(wave(80, 0.3)).Kernel(kernels.RBF(1)).C(0.7)
	for name, r := range map[string]Regressor{"linear": base, "quadratic": base.QuadraticLoss(), "ν": base.Nu(0.5), "ridge": base.Ridge(1 / 0.7)} {
		// Cut short, so that there is something to see.
		method := solvers.Method(solvers.TubeSMO{PairsOnly: true})
		if name == "ν" {
			method = solvers.SMO{}
		}
		fit := testkit.FitOf(t, r.MaxIterations(25).Using(method))
		// The bias that violates least, by itself: a search over a convex function.
		at := func(shift float64) (worst float64) {
			for i, res := range fit.Residuals() {
				worst = max(worst, conditionOf(fit.task.loss, fit.Beta[i], res-shift, fit.Epsilon, 0.7))
			}
			return worst
		}
		lo, hi := -2.0, 2.0
		for range 200 {
			if a, b := lo+(hi-lo)/3, hi-(hi-lo)/3; at(a) < at(b) {
				hi = b
			} else {
				lo = a
			}
		}
		states, worst := map[string]bool{}, 0.0
		for i, c := range fit.Conditions() {
			states[c.State+": "+c.Requires] = true
			worst = max(worst, c.Violation)
			if c.Index != i || c.Beta != fit.Beta[i] || math.Abs(c.Slack-max(0, math.Abs(c.Residual)-fit.Epsilon)) > 1e-12 {
				t.Errorf("%s: %+v", name, c)
			}
			want := conditionOf(fit.task.loss, c.Beta, c.Residual-lo, fit.Epsilon, 0.7)
			if name != "ν" && math.Abs(c.Violation-want) > 1e-9 {
				t.Errorf("%s: %+v, violation %g", name, c, want)
			}
		}
		if worst < 1e-3 {
			t.Errorf("%s: the largest violation is %g; the test is void", name, worst)
		}
		if text := fit.Conditions().Markdown(); !strings.Contains(text, "| 79 |") {
			t.Errorf("%s: %s", name, text)
		}
		if name == "linear" && len(states) < 4 {
			t.Errorf("only the states %v", states)
		}
	}
}

func TestRegressionErrors(t *testing.T) {
	data := wave(20, 0.1)
	base := Regress(data)
	with := func(v float64) *datasets.Dataset {
		d := wave(20, 0.1)
		d.Y[3] = v
		return d
	}
	for _, c := range []struct {
		of   Regressor
		call string
		want string
	}{
		{base.C(0), "C", "positive"},
		{base.C(-1), "C", "positive"},
		{base.C(math.NaN()), "C", "positive"},
		{base.C(math.Inf(1)), "C", "Ridge"},
		{base.Epsilon(-0.1), "Epsilon", "half the width"},
		{base.Epsilon(math.NaN()), "Epsilon", "half the width"},
		{base.Epsilon(math.Inf(1)), "Epsilon", "half the width"},
		{base.Nu(0), "Nu", "(0, 1]"},
		{base.Nu(1.5), "Nu", "(0, 1]"},
		{base.Ridge(0), "Ridge", "positive"},
		{base.Ridge(math.Inf(1)), "Ridge", "constant"},
		{base.Kernel(nil), "Kernel", "nil"},
		{base.Using(nil), "Using", "nil"},
		{base.Stop(nil), "Stop", "nil"},
		{base.Tol(0), "Tol", "positive"},
		{base.MaxIterations(0), "MaxIterations", "at least 1"},
		{base.Sample(0), "Sample", "at least 1"},
		{base.Memory(0), "Memory", "positive"},
		{base.FixedBias(math.NaN()), "FixedBias", "finite"},
		{base.Augment(-2), "Augment", "positive"},
		{base.SampleWeights([]float64{1}), "SampleWeights", "1 weight for 20 points"},
		{base.SampleWeights(slices.Repeat([]float64{-1}, 20)), "SampleWeights", "≥ 0"},
		{base.SampleWeights(make([]float64, 20)), "SampleWeights", "all weights are 0"},
		{base.Nu(0.5).FixedBias(0), "FixedBias", "ν machine"},
		{Regress(nil), "Regress", "nil"},
	} {
		fit, err := c.of.Fit(context.Background())
		var bad *ArgumentError
		if fit != nil || !errors.As(err, &bad) || bad.Call != c.call || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c.of, err)
		}
	}
	var bad *datasets.Error
	for name, d := range map[string]*datasets.Dataset{
		"NaN target": with(math.NaN()), "infinite target": with(math.Inf(1)), "empty": datasets.New(nil, nil),
		"ragged": {X: [][]float64{{1}, {1, 2}}, Y: []float64{1, 2}}, "lengths": {X: [][]float64{{1}}, Y: []float64{1, 2}},
	} {
		if fit, err := Regress(d).Fit(context.Background()); fit != nil || !errors.As(err, &bad) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := base.SMO().FixedBias(0).Fit(context.Background()); !errors.Is(err, solvers.ErrUnsupported) {
		t.Errorf("SMO with a fixed bias: %v", err)
	}
	var problem *solvers.ProblemError
	if _, err := Regress(with(1e200)).Fit(context.Background()); !errors.As(err, &problem) {
		t.Errorf("a huge target: %v", err)
	}

	fit := testkit.FitOf(t, base)
	for name, x := range map[string][][]float64{"width": {{1}, {1, 2}}, "NaN": {{1}, {math.NaN()}}} {
		var bad *ArgumentError
		if _, err := fit.Predict(datasets.Rows(x)); !errors.As(err, &bad) || bad.Call != "Predict" || bad.Row != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
	flat := datasets.New([][]float64{{1}, {2}}, []float64{3, 3})
	if _, err := fit.R2(flat); err == nil || !strings.Contains(err.Error(), "RMSE") {
		t.Errorf("R² of equal targets: %v", err)
	}
	if _, err := fit.RMSE(datasets.New([][]float64{{1, 2}}, []float64{3})); err == nil {
		t.Error("RMSE takes points of another width")
	}
	if _, err := fit.Weights(); err == nil {
		t.Error("an RBF machine has a w")
	}
}

// What is legal but odd: constant targets, constant features, one point, equal
// points with different targets.
func TestRegressionEdges(t *testing.T) {
	same := func(n int, v float64) [][]float64 { return slices.Repeat([][]float64{{v}}, n) }
	for name, c := range map[string]struct {
		data *datasets.Dataset
		want float64 // f everywhere
	}{
		"constant targets": {datasets.New(wave(15, 0).X, slices.Repeat([]float64{7}, 15)), 7},
		"one point":        {datasets.New(same(1, 2), []float64{5}), 5},
		"equal points":     {datasets.New(same(3, 2), []float64{1, 5, 5.05}), 5},
	} {
		for _, r := range []Regressor{Regress(c.data), Regress(c.data).Kernel(kernels.Linear()), Regress(c.data).PrimalDual(), Regress(c.data).Kernel(kernels.RBF(1)).Using(solvers.SMO{})} {
			fit := testkit.FitOf(t, r)
			v, err := fit.Predict(datasets.Rows{{2}})
			if err != nil || math.Abs(v[0]-c.want) > 0.1+1e-3 {
				t.Errorf("%s, %v: f = %v (%v)", name, r, v, err)
			}
			if text := fit.Markdown(); strings.Contains(text, "NaN") {
				t.Errorf("%s: %s", name, text)
			}
			if _, err := Tube.Of(fit); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestRegressionScores(t *testing.T) {
	train, test := plane(80), plane(200)
	fit := testkit.FitOf(t, Regress(train).Kernel(kernels.Linear()).C(100).Epsilon(0.05))
	w, err := fit.Weights()
	if err != nil {
		t.Fatal(err)
	}
	testkit.Near(t, "w1", w[0], 2, 0.1)
	testkit.Near(t, "w2", w[1], -1, 0.1)
	testkit.Near(t, "b", fit.Bias, 5, 0.1)
	rmse, _ := fit.RMSE(test)
	r2, err := fit.R2(test)
	if err != nil || !(rmse > 0.05 && rmse < 0.15) || !(r2 > 0.99 && r2 < 1) {
		t.Errorf("RMSE %g, R² %g, %v", rmse, r2, err)
	}
	constant := testkit.FitOf(t, Regress(train).Kernel(kernels.Linear()).Epsilon(100))
	if r2, _ := constant.R2(test); r2 > 0 || len(constant.SupportVectors()) != 0 {
		t.Errorf("a constant explains %g of the variance", r2)
	}
}

func TestRegressionInterrupt(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	fit, err := Regress(wave(50, 0.2)).C(1e4).Fit(ctx)
	if fit == nil || !errors.Is(err, cause) || fit.Status != solvers.Interrupted || math.IsNaN(fit.Certificate.Gap) {
		t.Fatalf("%v, %v", fit, err)
	}
	if _, err := fit.Predict(datasets.Rows{{1}}); err != nil {
		t.Error(err)
	}
}

func TestRegressionSummary(t *testing.T) {
	base := Regress(wave(80, 0.2)).Kernel(kernels.RBF(1)).Epsilon(0.3).C(10)
	fit := testkit.FitOf(t, base)
	for _, want := range []string{"wave, regression", "80 × 1", "linear ε-insensitive, C = 10, ε = 0.3", "RBF(1)", "tube SMO", "converged", "free on the edge of the tube", "RMSE", "variance explained"} {
		if !strings.Contains(fit.Markdown(), want) {
			t.Errorf("the summary does not say %q:\n%s", want, fit.Markdown())
		}
	}
	if h := fit.Hints(); len(h) != 0 {
		t.Errorf("hints on a healthy fit: %q", h)
	}
	for want, r := range map[string]Regressor{
		"narrower than the noise": base.Epsilon(0.001),
		"around a constant":       base.Epsilon(5),
		"larger C":                base.C(1e-6),
		"limit of iterations":     base.MaxIterations(3),
		"nearest neighbour":       base.Kernel(kernels.RBF(1e6)),
		"hardly":                  base.Kernel(kernels.RBF(1e-7)),
	} {
		h := testkit.FitOf(t, r).Hints()
		if len(h) == 0 || len(h) > 2 || !strings.Contains(strings.Join(h, " "), want) {
			t.Errorf("%s: hints %q", want, h)
		}
	}
	for want, r := range map[string]Regressor{
		"quadratic ε-insensitive, C = 10, ε = 0.3": base.QuadraticLoss(), "ν = 0.3, C = 10": base.Nu(0.3), "ridge λ = 2": base.Ridge(2),
		"ε = 0.1": base.Nu(0.5), "the points outside the tube": base.QuadraticLoss(), "every point carries f": base.Ridge(2),
		"weighted": base.SampleWeights(slices.Repeat([]float64{2}, 80)), "bias by K + 1": base.GradientAscent(),
	} {
		if text := testkit.FitOf(t, r).Markdown(); !strings.Contains(text, want) {
			t.Errorf("the summary does not say %q:\n%s", want, text)
		}
	}
}

func TestRegressionFigures(t *testing.T) {
	for _, r := range []Regressor{
		Regress(wave(60, 0.2)).Kernel(kernels.RBF(1)), Regress(plane(60)), Regress(wave(60, 0.2)).Ridge(0.1), Regress(wave(60, 0.2)).Nu(0.3),
		Regress(wave(60, 0.2)).QuadraticLoss(), Regress(plane(60)).CoordinateDescent(),
	} {
		fit := testkit.FitOf(t, r.Tol(1e-6))
		for _, f := range []display.Figure{Tube, KKT, Gap} {
			if _, err := f.Of(fit); err != nil {
				t.Errorf("%v of %v: %v", f, r, err)
			}
		}
		if _, err := Margins.Of(fit); err == nil || !strings.Contains(err.Error(), "RegressionFit") {
			t.Errorf("Margins of a regression: %v", err)
		}
	}
	if _, err := Rate.Of(testkit.FitOf(t, Regress(wave(60, 0.2)).Kernel(kernels.RBF(1)).Tol(1e-6))); err != nil {
		t.Error(err)
	}
	if _, err := Tube.Of(testkit.FitOf(t, Classify(testkit.Moons()))); err == nil {
		t.Error("Tube draws a classifier")
	}
}

func TestKeepRegression(t *testing.T) {
	t.Setenv("SVMNB_CACHE", t.TempDir())
	starts := 0
	method := counting{starts: &starts}
	base := Regress(wave(40, 0.2)).Kernel(kernels.RBF(1)).Using(method)
	first, again := base.Keep(), base.Keep()
	if starts != 1 {
		t.Errorf("solved %d times, want once", starts)
	}
	if a, b := first.Markdown(), again.Markdown(); a != b || !slices.Equal(first.Beta, again.Beta) {
		t.Errorf("the kept fit reads\n%s\nand not\n%s", b, a)
	}
	other := wave(40, 0.2)
	other.Y[3] += 1e-12
	for name, r := range map[string]Regressor{
		"targets": Regress(other).Kernel(kernels.RBF(1)).Using(method), "ε": base.Epsilon(0.2), "C": base.C(2), "loss": base.QuadraticLoss(),
		"ν": base.Nu(0.5), "another ν": base.Nu(0.6), "λ": base.Ridge(1), "weights": base.SampleWeights(slices.Repeat([]float64{3}, 40)), "kernel": base.Kernel(kernels.RBF(2)), "tol": base.Tol(1e-4),
	} {
		before := starts
		if name == "ν" || name == "another ν" { // counting hides that SMO keeps the sums
			if len(testkit.KeptFiles(t)) == 0 {
				t.Fatal("nothing is kept")
			}
			files := len(testkit.KeptFiles(t))
			r.SMO().Keep()
			if len(testkit.KeptFiles(t)) != files+1 {
				t.Errorf("%s: the fit of another description was taken", name)
			}
			continue
		}
		r.Keep()
		if starts != before+1 {
			t.Errorf("%s: the fit of another description was taken", name)
		}
	}
}
