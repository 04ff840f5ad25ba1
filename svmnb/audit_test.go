package svmnb

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
)

// audited holds the certificate and the decision values of a fit to its audit.
func audited(t *testing.T, name string, fit interface {
	Audit(context.Context) (*Audit, error)
}) *Audit {
	t.Helper()
	a, err := fit.Audit(context.Background())
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var c solvers.Certificate
	n := 0
	switch f := fit.(type) {
	case *Fit:
		c, n = f.Certificate, len(f.Alpha)
	case *RegressionFit:
		c, n = f.Certificate, len(f.Alpha)
	case *JointFit:
		c, n = f.Certificate, len(f.Alpha)
	case *MultiFit:
		m := f.Certificate()
		c = solvers.Certificate{Dual: m.Dual, Primal: m.Primal, Gap: m.Gap, MaxKKT: m.MaxKKT}
		n = len(f.training()) * m.Machines
	default:
		t.Fatalf("%T", fit)
	}
	factor := float64(8 + n)
	apart := func(what string, claimed, audit, tol float64) {
		t.Helper()
		if !(math.Abs(claimed-audit) <= tol) && claimed != audit {
			t.Errorf("%s: %s is %.15g by the certificate, %.15g by the audit: %.2g apart, where rounding explains %.2g", name, what, claimed, audit, math.Abs(claimed-audit), tol)
		}
	}
	tol := factor*a.Rounding + 1e-14*math.Abs(a.Dual)
	apart("W", c.Dual, a.Dual, tol)
	apart("the primal", c.Primal, a.Primal, tol)
	apart("the gap", c.Gap, a.Gap, tol)
	apart("the violation", c.MaxKKT, a.Violation, factor*a.ViolationRounding)
	if a.Box > 0 || a.Gap < -tol {
		t.Errorf("%s: %+v", name, a)
	}
	decided(t, name, fit)
	return a
}

// decided holds decision values to the multipliers: Σ coef (K + τ²) + b, of a ν machine
// divided by ρ.
func decided(t *testing.T, name string, fit any) {
	t.Helper()
	var m *machine
	var values, coef []float64
	var err error
	b, scale := 0.0, 1.0
	switch f := fit.(type) {
	case *Fit:
		if m = &f.task.machine; m.data.X == nil {
			return
		}
		values, err = f.Values(datasets.Rows(m.data.X))
		for i, a := range f.Alpha {
			coef = append(coef, a*f.task.y[i])
		}
		b = f.Certificate.Bias
		switch f.task.margin {
		case nuSoft:
			scale = 1 / f.Certificate.Rho
		case oneClass:
			scale = -1 / b
		}
	case *RegressionFit:
		m = &f.task.machine
		values, err = f.Predict(datasets.Rows(m.data.X))
		coef, b = f.Beta, f.Certificate.Bias
	default:
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range min(10, len(values)) {
		want, size := b, math.Abs(b)
		for j, c := range coef {
			if c != 0 {
				v := m.kernel.Eval(m.data.X[i], m.data.X[j]) + m.tau2
				want += c * v
				size += math.Abs(c * v)
			}
		}
		if math.Abs(values[i]-scale*want) > 1e-9*scale*size {
			t.Errorf("%s: f = %.15g at point %d, by its multipliers %.15g", name, values[i], i, scale*want)
		}
	}
}

// everyFit solves one problem of every kind.
func everyFit(t *testing.T) map[string]interface {
	Audit(context.Context) (*Audit, error)
} {
	t.Helper()
	moons, sinc, iris := datasets.Moons(60, 0.2, 1), datasets.Sinc(40, 0.1, 1), testkit.Flowers()
	_, sparse := testkit.Thinned(60, 20, 2, 9)
	ctx := context.Background()
	var list = map[string]interface {
		Audit(context.Context) (*Audit, error)
	}{}
	fit := func(name string, c Classifier) {
		f, err := c.Fit(ctx)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		list[name] = f
	}
	regress := func(name string, r Regressor) {
		f, err := r.Fit(ctx)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		list[name] = f
	}
	multi := func(name string, m MultiClassifier) *MultiFit {
		f, err := m.Fit(ctx)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		list[name] = f
		return f
	}
	base := Classify(moons).Kernel(kernels.RBF(0.7)).C(3)
	fit("1-norm", base)
	fit("2-norm", base.TwoNorm())
	fit("hard", base.HardMargin().Kernel(kernels.RBF(5)))
	fit("hard, fixed bias", base.HardMargin().Kernel(kernels.RBF(5)).Using(solvers.GradientAscent{}).FixedBias(0.1))
	fit("ν", base.Nu(0.4))
	fit("one class", OneClass(moons).Kernel(kernels.RBF(1)).Nu(0.2))
	fit("fixed bias", base.GradientAscent().FixedBias(0.25))
	fit("augmented", base.GradientAscent())
	fit("weights", base.ClassWeight(moons.ClassName(moons.Counts()[0].Y), 7).SampleWeights(slices.Repeat([]float64{0.5, 2}, 30)))
	fit("2-norm, weights", base.TwoNorm().SampleWeights(slices.Repeat([]float64{0.5, 2}, 30)))
	fit("linear by its features", Classify(moons).CoordinateDescent())
	fit("linear, free bias", Classify(moons).Newton())
	fit("linear by rows", Classify(moons).Kernel(kernels.Linear()).SMO())
	fit("polynomial", base.Kernel(kernels.Polynomial(3, 0.5, 1)))
	fit("normalised sum", base.Kernel(kernels.Normalised(kernels.Sum(kernels.RBF(1), kernels.Linear()))))
	fit("centred", base.Kernel(kernels.Centred(kernels.RBF(1), moons.X)))
	fit("interior point", base.PrimalDual())
	fit("cut short", base.SMO().MaxIterations(5))
	fit("in blocks", Classify(datasets.Moons(700, 0.2, 1)).Kernel(kernels.RBF(2)).C(3))
	fit("in blocks, ν", Classify(datasets.Moons(700, 0.2, 1)).Kernel(kernels.RBF(2)).Nu(0.3))
	pair := testkit.Flowers().Pair("virginica", "versicolor")
	gram := make([][]float64, pair.N())
	for i := range gram {
		for j := range pair.X {
			gram[i] = append(gram[i], kernels.RBF(0.5).Eval(pair.X[i], pair.X[j]))
		}
	}
	fit("precomputed", Classify(datasets.New(kernels.Precomputed().Points(gram), pair.Y)).Kernel(kernels.Precomputed()))
	words := kernels.Strings(0, "kernel", "colonel", "kennel", "shell", "sea", "see", "seashell", "seen")
	fit("strings", Classify(datasets.New(words, []float64{1, 1, 1, -1, -1, -1, -1, -1})).Kernel(kernels.Spectrum(2)))
	tube := Regress(sinc).Kernel(kernels.RBF(1)).C(2)
	regress("ε-SVR", tube)
	regress("ε-SVR, weights", tube.SampleWeights(slices.Repeat([]float64{0.5, 2}, 20)))
	regress("quadratic loss", tube.QuadraticLoss())
	regress("ridge", tube.Ridge(0.3))
	regress("ridge, fixed bias", tube.Ridge(0.3).GradientAscent().FixedBias(0.1))
	regress("ν-SVR", tube.Nu(0.4))
	regress("regression, augmented", tube.GradientAscent())
	regress("linear regression", Regress(sinc).CoordinateDescent())
	regress("ridge in blocks", Regress(datasets.Sinc(700, 0.1, 1)).Kernel(kernels.RBF(1)).Ridge(0.1))
	one := multi("one against one", Classify(iris).OneVsOne())
	list["machine of one against one"] = one.Machines()[1]
	multi("one against the rest", Classify(iris).OneVsRest())
	list["Crammer–Singer"] = multi("Crammer–Singer, all", Classify(iris).CrammerSinger()).Joint()
	multi("Crammer–Singer, linear", Classify(iris).Kernel(kernels.Linear()).CrammerSinger())
	multi("sparse, linear", Classify(sparse).Kernel(kernels.Linear()).OneVsOne())
	multi("sparse, RBF", Classify(sparse).Kernel(kernels.RBF(0.1)).OneVsRest())
	return list
}

func TestAuditAgreesWithTheCertificate(t *testing.T) {
	for name, fit := range everyFit(t) {
		a := audited(t, name, fit)
		if name != "cut short" && a.UpLow > 1e-3+a.ViolationRounding {
			t.Errorf("%s: the fit has converged and m − M is %g", name, a.UpLow)
		}
	}
}

// TestAuditFindsWhatIsWrong changes one number of every fit; the audit, which is given the
// certificate of the fit as it was, must not agree with it.
func TestAuditFindsWhatIsWrong(t *testing.T) {
	ctx := context.Background()
	moved := func(alpha []float64) int {
		for i, a := range alpha {
			if a != 0 {
				return i
			}
		}
		return -1
	}
	for name, one := range everyFit(t) {
		var r *solvers.Result
		switch f := one.(type) {
		case *Fit:
			r = &f.Result
		case *RegressionFit:
			r = &f.Result
		default:
			continue
		}
		i := moved(r.Alpha)
		r.Alpha = slices.Clone(r.Alpha)
		r.Alpha[i] *= 1.001
		if f, ok := one.(*RegressionFit); ok {
			f.Beta = solvers.Signed(r.Alpha)
		}
		a, err := one.Audit(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if c := r.Certificate; math.Abs(a.Dual-c.Dual) <= 1e-9*math.Abs(c.Dual) {
			t.Errorf("%s: W = %.15g although α[%d] has changed; it was %.15g", name, a.Dual, i, c.Dual)
		}
		if a.Equality == 0 && r.Certificate.Equality == 0 && name[0] != 'f' && a.Box == 0 && math.Abs(a.Gap-r.Certificate.Gap) < 1e-12 {
			t.Errorf("%s: nothing is noticed: %+v", name, a)
		}
	}
}

type broken struct{ kernels.GaussianKernel }

func (k broken) Eval(x, z []float64) float64 {
	if x[0] != z[0] && x[0] < 0 {
		return math.NaN()
	}
	return k.GaussianKernel.Eval(x, z)
}
func (broken) String() string { return "broken" }

func TestAuditErrors(t *testing.T) {
	fit := Classify(datasets.Moons(20, 0.1, 1)).Kernel(kernels.RBF(1)).MustFit()
	ctx, stop := context.WithCancelCause(context.Background())
	cause := errors.New("enough")
	stop(cause)
	if _, err := fit.Audit(ctx); !errors.Is(err, cause) {
		t.Errorf("after the end of the context: %v", err)
	}
	if _, err := Classify(testkit.Flowers()).OneVsOne().MustFit().Audit(ctx); !errors.Is(err, cause) {
		t.Errorf("after the end of the context: %v", err)
	}
	fit.task.kernel = broken{kernels.RBF(1)}
	var bad *ArgumentError
	if _, err := fit.Audit(context.Background()); !errors.As(err, &bad) || bad.Row < 0 || !math.IsNaN(bad.Value) {
		t.Errorf("a kernel value that is NaN: %v", err)
	}
}

// A fit that Keep brings back has its data.
func TestAuditOfKept(t *testing.T) {
	t.Setenv("SVMNB_CACHE", t.TempDir())
	c := Classify(datasets.Moons(60, 0.2, 1)).Kernel(kernels.RBF(0.7))
	first := audited(t, "solved", c.Keep())
	again := audited(t, "kept", c.Keep())
	if *first != *again {
		t.Errorf("%+v, brought back %+v", first, again)
	}
}

func ExampleFit_Audit() {
	fit := Classify(datasets.Moons(60, 0.2, 1)).Kernel(kernels.RBF(0.7)).Tol(1e-8).MustFit()
	audit, err := fit.Audit(context.Background())
	if err != nil {
		panic(err)
	}
	fmt.Printf("W = %.6f, within %.0e of the optimum\n", audit.Dual, 1e-6*math.Ceil(1e6*(audit.Gap+audit.Rounding)))
	fmt.Println(audit.Gap-fit.Certificate.Gap < 1e-12)
	// Output:
	// W = 17.600418, within 1e-06 of the optimum
	// true
}
