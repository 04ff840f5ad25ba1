package svmnb

import (
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"github.com/svmnb/svmnb/svmnb/model"
)

func cloud(seed uint64, n int) *datasets.Dataset {
	rng := rand.New(rand.NewPCG(seed, 5))
	d := &datasets.Dataset{Name: "cloud"}
	for range n {
		d.X, d.Y = append(d.X, []float64{3 + rng.NormFloat64(), -1 + 0.5*rng.NormFloat64()}), append(d.Y, 0)
	}
	return d
}

// smallestCircle tries the circles through two and three points.
func smallestCircle(x [][]float64) (cx, cy, r float64) {
	r = math.Inf(1)
	try := func(a, b float64) {
		far := 0.0
		for _, p := range x {
			far = max(far, math.Hypot(p[0]-a, p[1]-b))
		}
		if far < r {
			cx, cy, r = a, b, far
		}
	}
	for i, p := range x {
		for j, q := range x[:i] {
			try((p[0]+q[0])/2, (p[1]+q[1])/2)
			for _, s := range x[:j] {
				ax, ay, bx, by := q[0]-p[0], q[1]-p[1], s[0]-p[0], s[1]-p[1]
				d := 2 * (ax*by - ay*bx)
				if math.Abs(d) < 1e-9 {
					continue
				}
				a2, b2 := ax*ax+ay*ay, bx*bx+by*by
				try(p[0]+(by*a2-ay*b2)/d, p[1]+(ax*b2-bx*a2)/d)
			}
		}
	}
	return cx, cy, r
}

// With the linear kernel and a small ν, it is the smallest circle around all points.
func TestEncloseIsTheSmallestCircle(t *testing.T) {
	for seed := range uint64(12) {
		data := cloud(seed, 3+int(seed)*2)
		cx, cy, r := smallestCircle(data.X)
		fit := testkit.FitOf(t, Enclose(data).Kernel(kernels.Linear()).Nu(0.5/float64(data.N())).Tol(1e-9))
		testkit.Near(t, "R", fit.Radius(), r, 1e-6)
		values, err := fit.Values(datasets.Rows{{cx, cy}, {cx + r, cy}, {100, 100}})
		if err != nil {
			t.Fatal(err)
		}
		testkit.Near(t, "f at the centre", values[0], r*r, 1e-6)
		if math.Abs(values[1]) > 1e-5 {
			t.Errorf("f on the circle is %g", values[1])
		}
		testkit.Near(t, "f far away", values[2], r*r-(100-cx)*(100-cx)-(100-cy)*(100-cy), 1e-6)
		if errors := fit.TrainingErrors(); errors != 0 {
			t.Errorf("%d points outside", errors)
		}
	}
}

// For RBF it leaves the points of OneClass outside, and f is a multiple of OneClass's.
func TestEncloseIsOneClassForRBF(t *testing.T) {
	data := cloud(3, 80)
	for _, nu := range []float64{0.05, 0.3, 0.71} {
		ball := testkit.FitOf(t, Enclose(data).Kernel(kernels.RBF(0.7)).Nu(nu).Tol(1e-9))
		plane := testkit.FitOf(t, OneClass(data).Kernel(kernels.RBF(0.7)).Nu(nu).Tol(1e-9))
		a, _ := ball.Values(data)
		b, _ := plane.Values(data)
		factor := 2 * -plane.Certificate.Bias / (nu * 80)
		for i := range a {
			testkit.Near(t, "f", a[i], factor*b[i], 1e-6)
		}
		if out := ball.TrainingErrors(); float64(out) > nu*80+1e-9 {
			t.Errorf("ν = %g: %d of 80 outside", nu, out)
		}
	}
}

// For any kernel: f is R² − ‖φ(x) − a‖², bounds and audit hold, the file has the same f.
func TestEncloseOfAnyKernel(t *testing.T) {
	data := cloud(4, 60)
	for _, k := range []kernels.Kernel{kernels.Linear(), kernels.Polynomial(2, 0.5, 1), kernels.RBF(0.5), kernels.Scale(2, kernels.RBF(0.5))} {
		c := Enclose(data).Kernel(k).Nu(0.2)
		fit, exact := testkit.FitOf(t, c), testkit.FitOf(t, c.Tol(1e-10))
		values, err := fit.Values(data)
		if err != nil {
			t.Fatal(err)
		}
		m, inside := 0.2*60, 0
		norm := 0.0
		for i, a := range fit.Alpha {
			for j, b := range fit.Alpha {
				norm += a * b * k.Eval(data.X[i], data.X[j]) / m / m
			}
		}
		for i, x := range data.X {
			d2 := k.Eval(x, x) + norm
			for j, a := range fit.Alpha {
				d2 -= 2 * a * k.Eval(data.X[j], x) / m
			}
			testkit.Near(t, "f", values[i], fit.Radius()*fit.Radius()-d2, 1e-7)
			if values[i] > 0 {
				inside++
			}
		}
		if inside < 40 || inside > 52 {
			t.Errorf("%v: %d of 60 inside for ν = 0.2", k, inside)
		}
		lower, upper, err := fit.Bounds(data)
		if err != nil {
			t.Fatal(err)
		}
		best, _ := exact.Values(data)
		certain, err := fit.Certain(data)
		if err != nil {
			t.Fatal(err)
		}
		width := 0.0
		for i, v := range best {
			if v < lower[i]-1e-7 || v > upper[i]+1e-7 {
				t.Fatalf("%v: f* = %g at point %d is outside [%g, %g]", k, v, i, lower[i], upper[i])
			}
			if certain[i] && (v+1e-9 < 0) != (values[i]+fit.line < 0) {
				t.Errorf("%v: point %d is certain and wrong", k, i)
			}
			width = max(width, upper[i]-lower[i])
		}
		if math.IsInf(width, 1) || !slices.Contains(certain, true) {
			t.Errorf("%v: bounds %g wide, certain %v", k, width, certain)
		}
		audit, err := fit.Audit(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		testkit.Near(t, "audited W", audit.Dual, fit.Certificate.Dual, 1e-9)
		if math.Abs(audit.Gap-fit.Certificate.Gap) > 1e-8*(1+math.Abs(audit.Primal)) {
			t.Errorf("%v: gap %g, audited %g", k, fit.Certificate.Gap, audit.Gap)
		}
		file := filepath.Join(t.TempDir(), "model")
		if err := model.Save(file, fit); err != nil {
			t.Fatal(err)
		}
		read, err := model.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := read.Values(data)
		if err != nil || !slices.Equal(got, values) {
			t.Errorf("%v: the model says %v (%v), the fit %v", k, got[:2], err, values[:2])
		}
		for _, f := range []display.Figure{Margins, KKT, Alphas, Gap} {
			if _, err := f.Of(fit); err != nil {
				t.Errorf("%v: %v", k, err)
			}
		}
		for name, other := range map[string]Classifier{"primal–dual": c.PrimalDual(), "conjugate SMO": c.Using(solvers.ConjugateSMO{})} {
			testkit.Near(t, name, testkit.FitOf(t, other.Tol(1e-8)).Certificate.Dual, exact.Certificate.Dual, 1e-6)
		}
	}
	fit := testkit.FitOf(t, Enclose(data).Nu(0.1).SampleWeights(slices.Repeat([]float64{2}, 60)))
	if text := fit.Markdown(); !strings.Contains(text, "smallest ball, ν = 0.1") || !strings.Contains(text, "radius R") {
		t.Error(text)
	}
	if got := Enclose(data).Nu(0.1).String(); got != "Enclose(cloud).Nu(0.1)" {
		t.Error(got)
	}
}

func TestEncloseErrors(t *testing.T) {
	base := Enclose(cloud(1, 20))
	for want, c := range map[string]Classifier{
		"Nu": base.Nu(0), "FixedBias": base.FixedBias(0), "HardMargin": base.HardMargin(), "ClassWeight": base.ClassWeight("a", 2), "nil": Enclose(nil),
		"Certain": base.Stop(Certain(cloud(1, 20), 0.5)),
	} {
		if _, err := c.Fit(context.Background()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if !math.IsNaN(testkit.FitOf(t, OneClass(cloud(1, 20))).Radius()) || !math.IsNaN((*Fit)(nil).Radius()) {
		t.Error("another machine has a radius")
	}
}
