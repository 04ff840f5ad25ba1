package kernels_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/internal/toy"
	"github.com/svmnb/svmnb/kernels"
)

func TestIdentities(t *testing.T) {
	a, b, c := kernels.RBF(1), kernels.Linear(), kernels.Matern32(2)
	for _, i := range []struct{ got, want kernels.Kernel }{
		{kernels.Sum(), kernels.Constant(0)},
		{kernels.Sum(a), a},
		{kernels.Sum(a, kernels.Constant(0), b), kernels.Sum(a, b)},
		{kernels.Sum(kernels.Constant(0)), kernels.Constant(0)},
		{kernels.Sum(kernels.Sum(a, b), c), kernels.Sum(a, b, c)},
		{kernels.Sum(a, kernels.Sum(b, c)), kernels.Sum(a, b, c)},
		{kernels.Augmented(a, 0), a},
		{kernels.Product(), kernels.Constant(1)},
		{kernels.Product(a), a},
		{kernels.Product(kernels.Constant(2), kernels.Constant(3)), kernels.Constant(6)},
		{kernels.Product(a, kernels.Constant(2)), kernels.Scale(2, a)},
		{kernels.Product(kernels.Product(a, b), c), kernels.Product(a, b, c)},
		{kernels.Product(a, kernels.Product(b, c)), kernels.Product(a, b, c)},
		{kernels.Product(a, kernels.Scale(4, kernels.Product(b, c))), kernels.Scale(4, kernels.Product(a, b, c))},
		{kernels.Product(kernels.Scale(4, a), kernels.Scale(0.25, b)), kernels.Product(a, b)},
		{kernels.Scale(1, a), a},
		{kernels.Scale(2, kernels.Scale(3, a)), kernels.Scale(6, a)},
		{kernels.Scale(2, kernels.Scale(0.5, a)), a},
		{kernels.Scale(2, kernels.Constant(3)), kernels.Constant(6)},
		{kernels.Normalised(kernels.Normalised(b)), kernels.Normalised(b)},
		{kernels.ARD(1, 2), kernels.ARD(1, 2)},
		{kernels.Columns(a, 0, 1), kernels.Columns(a, 0, 1)},
		{kernels.Centred(a, toy.Normal(1, 4, 2)), kernels.Centred(a, toy.Normal(1, 4, 2))},
	} {
		if i.got != i.want {
			t.Errorf("%v, want %v", i.got, i.want)
		}
	}
	for _, i := range []struct{ a, b kernels.Kernel }{
		{kernels.Sum(a, b), kernels.Sum(b, a)},
		{kernels.Columns(a, 0, 1), kernels.Columns(a, 1, 0)},
		{kernels.ARD(1, 2), kernels.ARD(1, 2, 2)},
		{kernels.Centred(a, toy.Normal(1, 4, 2)), kernels.Centred(a, toy.Normal(2, 4, 2))},
	} {
		if i.a == i.b || i.a.String() == i.b.String() {
			t.Errorf("%v is %v", i.a, i.b)
		}
	}
}

// A part that is missing or wrong is an error of the whole, and never a panic;
// what is simplified does not hide it.
func TestBadParts(t *testing.T) {
	bad := kernels.RBF(-1)
	good := kernels.Linear()
	for _, k := range []kernels.Kernel{
		kernels.Sum(good, bad), kernels.Sum(bad, good), kernels.Sum(good, nil), kernels.Sum(nil, good, good), kernels.Sum(good, kernels.Constant(-1)),
		kernels.Product(good, bad), kernels.Product(nil, good), kernels.Product(kernels.Constant(-1), kernels.Constant(-1), good), kernels.Product(good, kernels.Scale(-2, good)),
		kernels.Scale(2, bad), kernels.Scale(2, nil), kernels.Scale(-1, kernels.Scale(-1, good)), kernels.Scale(-1, kernels.Constant(-1)),
		kernels.Normalised(nil), kernels.Normalised(bad),
		kernels.Columns(nil, 0), kernels.Columns(bad, 0), kernels.Columns(bad),
		kernels.Centred(nil, toy.Normal(1, 2, 2)), kernels.Centred(bad, toy.Normal(1, 2, 2)), kernels.Centred(good, nil), kernels.Centred(good, [][]float64{{1}, {2, 3}}),
		kernels.Centred(good, [][]float64{{math.NaN()}}), kernels.Centred(good, [][]float64{{1e200}}), kernels.Centred(kernels.ChiSquared(), [][]float64{{-1}}),
		kernels.CentredKernel{K: good, X: "1; two", Mean: "1"}, kernels.CentredKernel{K: good, X: "1; 2", Mean: "one"}, kernels.CentredKernel{K: good, X: "1; 2"},
		kernels.Augmented(good, kernels.Radius),
		kernels.Fixed(nil), kernels.Fixed(bad), kernels.Fixed(good, "gamma"), kernels.Fixed(kernels.RBF(1), "gam"), kernels.Fixed(kernels.Constant(0), "c"),
		kernels.Named("f", nil), kernels.Named("f", bad), kernels.Named("", good), kernels.Named(" ", good), kernels.Named("a.b", good), kernels.Named("a, b", good), kernels.Named("a\n", good), kernels.Named(`a"`, good), kernels.Named("\xff", good),
		kernels.SumKernel{}, kernels.ProductKernel{}, kernels.ScaleKernel{}, kernels.NormalisedKernel{}, kernels.ColumnsKernel{}, kernels.CentredKernel{}, kernels.FixedKernel{}, kernels.NamedKernel{},
	} {
		var e *kernels.ParamError
		if err := k.Check(); !errors.As(err, &e) {
			t.Errorf("%v: Check() = %v, want a *ParamError", k, err)
		}
		if _, err := kernels.NewGram(k, toy.Normal(1, 3, 2), 0); err == nil {
			t.Errorf("NewGram takes %v", k)
		}
		if _, err := kernels.NewGradient(k, toy.Normal(1, 3, 2)); !errors.As(err, &e) {
			t.Errorf("NewGradient of %v: %v, want a *ParamError", k, err)
		}
		if _, err := kernels.WithHyperparameters(k, nil); !errors.As(err, &e) {
			t.Errorf("WithHyperparameters of %v: %v, want a *ParamError", k, err)
		}
		if k.String() == "" {
			t.Error("a kernel without a name")
		}
	}
}

func TestDomains(t *testing.T) {
	for _, c := range []struct {
		k        kernels.Kernel
		x        [][]float64
		row, col int
		word     string
	}{
		{kernels.ChiSquared(), [][]float64{{1, 2}, {3, -4}}, 1, 1, "negative"},
		{kernels.ExpChiSquared(1), [][]float64{{-1, 2}, {3, 4}}, 0, 0, "negative"},
		{kernels.Intersection(), [][]float64{{1}, {-1e-300}}, 1, 0, "Intersection()"},
		{kernels.ARD(1, 2), [][]float64{{1, 2, 3}}, 0, -1, "3 features"},
		{kernels.Sum(kernels.Linear(), kernels.Scale(2, kernels.ChiSquared())), [][]float64{{1}, {-1}}, 1, 0, "negative"},
		{kernels.Product(kernels.ChiSquared(), kernels.Linear()), [][]float64{{1}, {-1}}, 1, 0, "negative"},
		{kernels.Normalised(kernels.Intersection()), [][]float64{{1}, {-1}}, 1, 0, "negative"},
		{kernels.Normalised(kernels.Sigmoid(1, -1)), [][]float64{{2}, {0.5}}, 1, -1, "root"},
		{kernels.Columns(kernels.ChiSquared(), 2, 1), [][]float64{{1, 2, 3}, {-1, 1, -1}}, 1, 2, "negative"},
		{kernels.Columns(kernels.ChiSquared(), 3), [][]float64{{1, 2, 3}}, 0, -1, "takes feature 3"},
		{kernels.Columns(kernels.ARD(1), 0, 1), [][]float64{{1, 2, 3}}, 0, -1, "2 features"},
		{kernels.Centred(kernels.Linear(), [][]float64{{1, 2}}), [][]float64{{1, 2, 3}}, 0, -1, "3 features"},
		{kernels.Centred(kernels.Intersection(), [][]float64{{1, 2}}), [][]float64{{1, 2}, {1, -2}}, 1, 1, "negative"},
		{kernels.Spectrum(2), [][]float64{{97, 98}, {-1, 98}}, 1, 1, "not a letter"},
		{kernels.GapWeighted(2, 1), [][]float64{{97, 98}, {-2, -1}}, 1, 0, "not a letter"},
	} {
		var e *kernels.DataError
		_, err := kernels.NewGram(c.k, c.x, 0)
		if !errors.As(err, &e) || e.Arg != "x" || e.Row != c.row || e.Col != c.col || !strings.Contains(err.Error(), c.word) {
			t.Errorf("NewGram(%v, %v) = %v, want a *DataError with %q at %d, %d", c.k, c.x, err, c.word, c.row, c.col)
		}
		if _, err := kernels.NewGradient(c.k, c.x); !errors.As(err, &e) || e.Arg != "x" || e.Row != c.row || e.Col != c.col {
			t.Errorf("NewGradient(%v, %v) = %v, want a *DataError at %d, %d", c.k, c.x, err, c.row, c.col)
		}
		if r := kernels.Radius2(c.k, c.x); !math.IsNaN(r) {
			t.Errorf("Radius2(%v, %v) = %v, want NaN", c.k, c.x, r)
		}
		func() {
			defer func() {
				if err, ok := recover().(error); !ok || !errors.As(err, &e) || e.Arg != "basis" {
					t.Errorf("Against(%v, %v) panics with %v, want a *DataError of the basis", c.k, c.x, err)
				}
			}()
			kernels.Against(c.k, c.x)
		}()
	}
}

// What comes to a Basis is asked the same questions.
func TestBasisCheck(t *testing.T) {
	b := kernels.Against(kernels.Sum(kernels.Intersection(), kernels.Linear()), [][]float64{{1, 2}, {3, 4}})
	if err := b.Check([][]float64{{5, 6}, {0, 0}}); err != nil {
		t.Error(err)
	}
	if err := b.Check(nil); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		x        [][]float64
		row, col int
	}{
		{[][]float64{{1, 2}, {1}}, 1, -1},
		{[][]float64{{1, 2, 3}, {1, 2, 3}}, 0, -1},
		{[][]float64{{1, 2}, {math.NaN(), 1}}, 1, 0},
		{[][]float64{{1, 2}, {2, -1}}, 1, 1},
	} {
		var e *kernels.DataError
		if err := b.Check(c.x); !errors.As(err, &e) || e.Arg != "x" || e.Row != c.row || e.Col != c.col {
			t.Errorf("Check(%v) = %v, want a *DataError at %d, %d", c.x, err, c.row, c.col)
		}
	}
	if err := kernels.Against(kernels.Linear(), nil).Check([][]float64{{1, 2}}); err != nil {
		t.Error(err)
	}
}

// K̃ of the points of the mean is HKH, and sums to 0 over every row; a point
// from elsewhere is centred by the same mean.
func TestCentred(t *testing.T) {
	const n, d = 12, 3
	x := toy.Normal(4, n, d)
	k := kernels.Polynomial(2, 0.5, 1)
	centred := kernels.Centred(k, x)
	g, c := mustGram(t, k, x, 0), mustGram(t, centred, x, 0)
	var all float64
	rows := make([]float64, n)
	for i := range n {
		for _, v := range g.Row(i) {
			rows[i] += v / n
			all += v / n / n
		}
	}
	for i := range n {
		sum := 0.0
		for j, v := range c.Row(i) {
			near(t, "HKH", v, g.Row(i)[j]-rows[i]-rows[j]+all, 1e-13)
			sum += v
		}
		near(t, "the sum of a row", sum, 0, 1e-12)
	}

	// Against the features themselves, less their mean, on a subset as basis.
	phi := func(x []float64) []float64 { return kernels.QuadraticFeatures(x, 0.5, 1) }
	mean := make([]float64, len(phi(x[0])))
	for _, row := range x {
		for i, v := range phi(row) {
			mean[i] += v / n
		}
	}
	less := func(x []float64) []float64 {
		v := phi(x)
		for i := range v {
			v[i] -= mean[i]
		}
		return v
	}
	b := kernels.Against(centred, x[3:6])
	for _, z := range toy.Normal(5, 4, d) {
		for j, v := range b.Row(nil, z) {
			near(t, "⟨φ(x) − μ, φ(z) − μ⟩", v, kernels.Linear().Eval(less(z), less(x[3+j])), 1e-12)
		}
	}
}

func TestRadius2(t *testing.T) {
	x := [][]float64{{1, 2}, {3, -4}, {0, 1}}
	for _, c := range []struct {
		k    kernels.Kernel
		want float64
	}{
		{kernels.Linear(), 25},
		{kernels.RBF(3), 1},
		{kernels.Polynomial(2, 1, 1), 26 * 26},
		{kernels.Normalised(kernels.Linear()), 1},
	} {
		near(t, "Radius2 of "+c.k.String(), kernels.Radius2(c.k, x), c.want, 1e-15)
	}
	for name, v := range map[string]float64{
		"nil": kernels.Radius2(nil, x), "bad kernel": kernels.Radius2(kernels.RBF(0), x), "no points": kernels.Radius2(kernels.Linear(), nil),
		"ragged": kernels.Radius2(kernels.Linear(), [][]float64{{1}, {1, 2}}), "overflow": kernels.Radius2(kernels.Linear(), [][]float64{{1e200}}),
	} {
		if !math.IsNaN(v) {
			t.Errorf("%s: Radius2 = %v, want NaN", name, v)
		}
	}

	// CST Remark 7.4: with R² as τ² the bound (R² + τ²)(1 + R²/τ²) is smallest.
	bound := func(tau2 float64) float64 { return (25 + tau2) * (1 + 25/tau2) }
	for _, tau2 := range []float64{5, 24, 26, 625} {
		if !(bound(25) < bound(tau2)) {
			t.Errorf("the bound at τ² = %v is below that at R²", tau2)
		}
	}
}

func TestNormalisedZero(t *testing.T) {
	g := mustGram(t, kernels.Normalised(kernels.Linear()), [][]float64{{0, 0}, {1, 2}, {1e-170, 0}, {1e150, 1e150}, {0, 0}}, 0)
	for i, want := range [][]float64{
		{0, 0, 0, 0, 0}, {0, 1, 0, 3 / math.Sqrt(10), 0},
	} {
		for j, v := range g.Row(i) {
			near(t, "cosine", v, want[j], 1e-15)
		}
	}
	if v := g.Diag()[3]; math.Abs(v-1) > 1e-15 {
		t.Errorf("K(x, x) of a large point is %v, want 1", v)
	}
	for _, x := range toy.Normal(1, 100, 3) {
		if v := kernels.Normalised(kernels.Polynomial(3, 1, 1)).Eval(x, x); v != 1 {
			t.Fatalf("K(x, x) = %v, want 1 exactly", v)
		}
	}
}
