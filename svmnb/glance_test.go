package svmnb

import (
	"bytes"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
)

// counted is a kernel that counts its values.
type counted struct {
	kernels.GaussianKernel
	values *atomic.Int64
}

func (k counted) Eval(x, z []float64) float64 {
	k.values.Add(1)
	d := x[0] - z[0]
	return 1 / (1 + d*d)
}
func (k counted) OfSquaredDistance(r2 float64) float64 { k.values.Add(1); return 1 / (1 + r2) }
func (counted) String() string                         { return "counted" }

// cut is a run of many points that was interrupted when a third of them were support
// vectors.
func cut(n int) *solvers.Result {
	res := &solvers.Result{Method: "SMO", Status: solvers.Interrupted, Alpha: make([]float64, n)}
	pt := solvers.Point{}
	for i := 0; i < n; i += 3 {
		res.Alpha[i] = 0.5
		pt.Changed, pt.Alpha = append(pt.Changed, i), append(pt.Alpha, 0.5)
	}
	res.Trace = solvers.Trace{N: n, Points: []solvers.Point{pt}}
	return res
}

// What is shown of a large fit by itself asks for a bounded number of kernel values, and
// says what was looked at. It asked for points times support vectors: minutes of them
// after an interrupt.
func TestShowOfALargeFitIsBounded(t *testing.T) {
	const n = 21_000 // and 7,000 support vectors: 147 million values
	moons := datasets.Moons(n, 0.3, 1)
	var values atomic.Int64
	k := counted{kernels.RBF(1), &values}
	two, err := Classify(moons).Kernel(k).prepare()
	if err != nil {
		t.Fatal(err)
	}
	tube, err := Regress(datasets.New(datasets.Sinc(n, 0.1, 1).X, datasets.Sinc(n, 0.1, 1).Y)).Kernel(k).prepare()
	if err != nil {
		t.Fatal(err)
	}
	many, err := Classify(moons).Kernel(k).OneVsRest().prepare()
	if err != nil {
		t.Fatal(err)
	}
	one := cut(n)
	both := cut(n) // above the tube
	both.Alpha = append(both.Alpha, make([]float64, n)...)
	both.Trace.N = 2 * n
	fit := two.fit(one)
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	for _, shown := range []struct {
		fit     any
		figures []display.Figure
	}{
		{fit, []display.Figure{Margins, Alphas, Confusion, ROC, KernelMatrix(), KKT}},
		{tube.fit(both), []display.Figure{Tube, Alphas, KKT}},
		{many.fit([]*Fit{fit, fit}, [][]int{all, all}, 0), []display.Figure{Regions, Confusion}},
	} {
		values.Store(0)
		text := shown.fit.(interface{ Markdown() string }).Markdown()
		if !strings.Contains(text, "training points, since f at all of them takes more than") {
			t.Errorf("%T: the summary does not say what it looked at:\n%s", shown.fit, text)
		}
		for _, fig := range shown.figures {
			chart, err := fig.Of(shown.fit)
			if fig.String() == "KKT" {
				if err == nil || !strings.Contains(err.Error(), "kernel values") {
					t.Errorf("%T, KKT: %v", shown.fit, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%T, %v: %v", shown.fit, fig, err)
				continue
			}
			var page bytes.Buffer
			if err := display.HTML(&page, chart); err != nil {
				t.Error(err)
			} else if fig.String() != "Alphas" && !strings.Contains(page.String(), "21\u202f000 training points") && !strings.Contains(page.String(), `21\u202f000 training points`) {
				t.Errorf("%T, %v does not say what it looked at", shown.fit, fig)
			}
		}
		if sheet := display.Table(shown.fit); shown.fit != any(fit) && sheet == nil {
			t.Error("no table")
		}
		if asked := values.Load(); asked > glanceWork+glanceWork/5 || asked < glanceWork/2 {
			t.Errorf("%T: %d kernel values for a summary and its figures", shown.fit, asked)
		}
		t.Logf("%T: %d kernel values", shown.fit, values.Load())
	}
}

// The few points that are looked at have the values and the violations that they have
// among all.
func TestGlanceIsOfTheFit(t *testing.T) {
	moons := datasets.Moons(60, 0.3, 1)
	for _, c := range []Classifier{Classify(moons), Classify(moons).TwoNorm(), Classify(moons).Nu(0.4), OneClass(moons).Nu(0.3), Classify(moons).GradientAscent(), Classify(moons).FixedBias(0.1).GradientAscent()} {
		fit := testkit.FitOf(t, c.MaxIterations(15))
		rows := testkit.Seq(60) // all of them, but by their values
		got, want := fit.violations(rows, fit.training()), fit.task.problem.Violations(nil, fit.Alpha, nil)
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-9 {
				t.Errorf("%v: the violation of point %d is %v, want %v", c, i, got[i], want[i])
				break
			}
		}
	}
	if rows := glance(10, 5); rows != nil {
		t.Error(rows)
	}
	rows := glance(1_000_000, 50_000)
	if len(rows) != 2000 || rows[0] != 0 || rows[1] != 500 || rows[1999] != 999_500 {
		t.Error(len(rows))
	}
	if rows := glance(1<<40, 1<<40); len(rows) != 1 {
		t.Error(rows)
	}
}

// f at the training points is the same whether it is computed from F of the result or from
// kernel values.
func TestDecisionsFromTheResult(t *testing.T) {
	moons, sinc := datasets.Moons(80, 0.3, 1), datasets.Sinc(60, 0.1, 1)
	far := make([][]float64, moons.N())
	for i, x := range moons.X {
		far[i] = []float64{x[0] + 1e4, x[1] - 1e4}
	}
	for _, test := range []struct {
		name string
		c    Classifier
	}{
		{"RBF", Classify(moons).Kernel(kernels.RBF(1)).C(3)},
		{"2-norm", Classify(moons).Kernel(kernels.RBF(1)).C(3).TwoNorm()},
		{"linear, far from the origin", Classify(datasets.New(far, moons.Y)).Kernel(kernels.Linear())},
		{"one class, far from the origin", OneClass(datasets.New(far, moons.Y)).Kernel(kernels.Linear()).Nu(0.3)},
		{"ν", Classify(moons).Kernel(kernels.RBF(1)).Nu(0.4)},
		{"one class", OneClass(moons).Kernel(kernels.RBF(1)).Nu(0.2)},
		{"fixed bias", Classify(moons).Kernel(kernels.RBF(1)).FixedBias(0.1)},
		{"augmented", Classify(moons).Kernel(kernels.RBF(1)).Augment(1)},
		{"primal–dual", Classify(moons).Kernel(kernels.RBF(1)).PrimalDual()},
	} {
		f := test.c.MustFit()
		got := decisions(f.task.problem, &f.Result, len(f.Alpha), f.scale)
		for i, want := range f.expansion.Values(points.Of(f.task.data)) {
			testkit.Near(t, test.name, got[i], want, 1e-6*(1+math.Abs(want)))
		}
	}
	for _, test := range []struct {
		name string
		r    Regressor
	}{
		{"tube", Regress(sinc).Kernel(kernels.RBF(1)).C(3)},
		{"2-norm tube", Regress(sinc).Kernel(kernels.RBF(1)).C(3).QuadraticLoss()},
		{"ν tube", Regress(sinc).Kernel(kernels.RBF(1)).C(3).Nu(0.4)},
		{"ridge", Regress(sinc).Kernel(kernels.RBF(1)).Ridge(0.1)},
		{"augmented", Regress(sinc).Kernel(kernels.RBF(1)).C(3).Augment(1)},
	} {
		f := test.r.MustFit()
		got := decisions(f.task.problem, &f.Result, len(f.Beta), 1)
		for i, want := range f.expansion.Values(points.Of(f.task.data)) {
			testkit.Near(t, test.name, got[i], want, 1e-6*(1+math.Abs(want)))
		}
	}
}

// A large fit takes f at the training points from F of its result, and so computes no kernel
// values for SupportVectors.
func TestLargeFitHasDecisions(t *testing.T) {
	if testing.Short() {
		t.Skip("trains on 20,000 points")
	}
	f := Classify(datasets.Moons(20_000, 0.6, 1)).Kernel(kernels.RBF(1)).MustFit()
	if glance(len(f.Alpha), f.expansion.Each()) == nil {
		t.Fatalf("%d support vectors are too few for this test", f.expansion.Each())
	}
	if f.F == nil {
		t.Fatal("the result has no F")
	}
	want := decisions(f.task.problem, &f.Result, len(f.Alpha), f.scale)
	for i, v := range f.training() {
		if v != want[i] {
			t.Fatalf("f at point %d is %g, from the result %g", i, v, want[i])
		}
	}
	// F of a point with α = 0 is in single precision if that is enough for the certificate.
	for _, i := range []int{0, 7_000, 19_999} {
		testkit.Near(t, "f", want[i], f.expansion.Values(points.Of(f.task.data).Some([]int{i}))[0], 1e-4)
	}
	if n := len(f.SupportVectors()); n != f.Certificate.Free+f.Certificate.AtUpper {
		t.Errorf("%d support vectors, the certificate has %d", n, f.Certificate.Free+f.Certificate.AtUpper)
	}
}
