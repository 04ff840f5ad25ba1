package kernels_test

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/svmnb/svmnb/internal/toy"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/kernels/kerneltest"
)

// table has every kernel of the package, with the call that its String gives
// and, for one of a smaller domain, how to make its points of any.
var table = []struct {
	call       string
	k          kernels.Kernel
	points     func(x [][]float64) [][]float64
	indefinite bool
}{
	{call: "Linear()", k: kernels.Linear()},
	{call: "Polynomial(1, 2, 0.5)", k: kernels.Polynomial(1, 2, 0.5)},
	{call: "Polynomial(2, 1, 0)", k: kernels.Polynomial(2, 1, 0)},
	{call: "Polynomial(3, 0.1, 1)", k: kernels.Polynomial(3, 0.1, 1)},
	{call: "Polynomial(7, 0.3333333333333333, 1e-05)", k: kernels.Polynomial(7, 1.0/3, 1e-5)},
	{call: "RBF(0.5)", k: kernels.RBF(0.5)},
	{call: "RBF(1e-09)", k: kernels.RBF(1e-9)},
	{call: "RBF(0.30000000000000004)", k: kernels.RBF(math.Nextafter(0.3, 1))},
	{call: "RBF(12345.678)", k: kernels.RBF(12345.678)},
	{call: "RBFSigma(2)", k: kernels.RBFSigma(2)},
	{call: "RBFLength(0.5)", k: kernels.RBFLength(0.5)},
	{call: "SquaredExponential(67)", k: kernels.SquaredExponential(67)},
	{call: "ARD(1, 0.5)", k: kernels.ARD(1, 0.5), points: two},
	{call: "ARD(0.001, 1000)", k: kernels.ARD(1e-3, 1e3), points: two},
	{call: "ARDMatern32(1, 0.5)", k: kernels.ARDMatern32(1, 0.5), points: two},
	{call: "ARDMatern32(0.001, 1000)", k: kernels.ARDMatern32(1e-3, 1e3), points: two},
	{call: "ARDMatern52(2, 0.3)", k: kernels.ARDMatern52(2, 0.3), points: two},
	{call: "Laplacian(0.5)", k: kernels.Laplacian(0.5)},
	{call: "Exponential(2)", k: kernels.Exponential(2)},
	{call: "Exponential(0.001)", k: kernels.Exponential(1e-3)},
	{call: "Matern32(2)", k: kernels.Matern32(2)},
	{call: "Matern52(0.3)", k: kernels.Matern52(0.3)},
	{call: "Matern(0.5, 2)", k: kernels.Matern(0.5, 2)},
	{call: "Matern(0.1, 1)", k: kernels.Matern(0.1, 1)},
	{call: "Matern(1, 0.001)", k: kernels.Matern(1, 1e-3)},
	{call: "Matern(2.7, 1.5)", k: kernels.Matern(2.7, 1.5)},
	{call: "Matern(30, 1)", k: kernels.Matern(30, 1)},
	{call: "White()", k: kernels.White()},
	{call: "RationalQuadratic(1, 0.5)", k: kernels.RationalQuadratic(1, 0.5)},
	{call: "RationalQuadratic(0.2, 100)", k: kernels.RationalQuadratic(0.2, 100)},
	{call: "GammaExponential(1, 0.5)", k: kernels.GammaExponential(1, 0.5)},
	{call: "GammaExponential(3, 2)", k: kernels.GammaExponential(3, 2)},
	{call: "Periodic(2, 1)", k: kernels.Periodic(2, 1)},
	{call: "Periodic(0.1, 5)", k: kernels.Periodic(0.1, 5)},
	{call: "Compact(2)", k: kernels.Compact(2)},
	{call: "Compact(30)", k: kernels.Compact(30)},
	{call: "Constant(2)", k: kernels.Constant(2)},
	{call: "Constant(0)", k: kernels.Constant(0)},
	{call: "ChiSquared()", k: kernels.ChiSquared(), points: counts},
	{call: "ExpChiSquared(0.7)", k: kernels.ExpChiSquared(0.7), points: counts},
	{call: "Intersection()", k: kernels.Intersection(), points: counts},
	{call: "Sigmoid(0.5, -1)", k: kernels.Sigmoid(0.5, -1), indefinite: true},
	{call: "Sigmoid(2, 1)", k: kernels.Sigmoid(2, 1), indefinite: true},
	{call: "Distance(RBF(0.5))", k: kernels.Distance(kernels.RBF(0.5)), indefinite: true},
	{call: "Distance(Polynomial(2, 1, 1))", k: kernels.Distance(kernels.Polynomial(2, 1, 1)), indefinite: true},
	{call: "Precomputed()", k: kernels.Precomputed(), points: looked},
	{call: "Spectrum(2)", k: kernels.Spectrum(2), points: words},
	{call: "Spectrum(3).Raw()", k: kernels.Spectrum(3).Raw(), points: words},
	{call: "GapWeighted(2, 0.5)", k: kernels.GapWeighted(2, 0.5), points: words},
	{call: "GapWeighted(3, 1).Raw()", k: kernels.GapWeighted(3, 1).Raw(), points: words},

	{call: "Sum(RBF(1), Linear())", k: kernels.Sum(kernels.RBF(1), kernels.Linear())},
	{call: "Sum(Laplacian(1), Matern32(1), Linear(), Constant(3))", k: kernels.Augmented(kernels.Sum(kernels.Laplacian(1), kernels.Matern32(1), kernels.Linear()), 3)},
	{call: "Product(RBF(1), Polynomial(2, 1, 1))", k: kernels.Product(kernels.RBF(1), kernels.Polynomial(2, 1, 1))},
	{call: "Scale(6, Product(RBF(1), Periodic(1, 1), Linear()))", k: kernels.Product(kernels.Constant(2), kernels.RBF(1), kernels.Scale(3, kernels.Product(kernels.Periodic(1, 1), kernels.Linear())))},
	{call: "Scale(0.1, RBF(1))", k: kernels.Scale(0.1, kernels.RBF(1))},
	{call: "Fixed(RBF(0.5))", k: kernels.Fixed(kernels.RBF(0.5))},
	{call: `Fixed(Periodic(2, 1), "period")`, k: kernels.Fixed(kernels.Periodic(2, 1), "period")},
	{call: `Fixed(Sum(RBF(1), Scale(2, RationalQuadratic(1, 2))), "c", "RBF.gamma")`, k: kernels.Fixed(kernels.Sum(kernels.RBF(1), kernels.Scale(2, kernels.RationalQuadratic(1, 2))), "c", "RBF.gamma")},
	{call: `Sum(Named("trend", Scale(2, RBF(0.5))), Named("rest", Linear()))`, k: kernels.Sum(kernels.Named("trend", kernels.Scale(2, kernels.RBF(0.5))), kernels.Named("rest", kernels.Linear()))},
	{call: `Named("season of a year", Periodic(2, 1))`, k: kernels.Named("season of a year", kernels.Periodic(2, 1))},
	{call: co2.String(), k: co2},
	{call: "Normalised(Sum(Scale(2, RBF(0.5)), Polynomial(2, 1, 0.5)))", k: kernels.Normalised(kernels.Sum(kernels.Scale(2, kernels.RBF(0.5)), kernels.Polynomial(2, 1, 0.5)))},
	{call: "Product(Columns(Periodic(1, 2), 1), Fixed(ARD(1, 2)), Normalised(Polynomial(2, 1, 0.5)))", k: kernels.Product(kernels.Columns(kernels.Periodic(1, 2), 1), kernels.Fixed(kernels.ARD(1, 2)), kernels.Normalised(kernels.Polynomial(2, 1, 0.5))), points: two},
	{call: "Normalised(Polynomial(3, 1, 1))", k: kernels.Normalised(kernels.Polynomial(3, 1, 1))},
	{call: "Normalised(Linear())", k: kernels.Normalised(kernels.Linear())},
	{call: "WithDerivatives(RBF(0.5))", k: kernels.WithDerivatives(kernels.RBF(0.5)), points: observed},
	{call: "WithDerivatives(Sum(Scale(2, ARDMatern52(1, 2)), Product(Matern32(2), ARD(1, 0.7)), Linear(), Constant(2)))", k: kernels.WithDerivatives(kernels.Sum(kernels.Scale(2, kernels.ARDMatern52(1, 2)), kernels.Product(kernels.Matern32(2), kernels.ARD(1, 0.7)), kernels.Linear(), kernels.Constant(2))), points: observed},
	{call: `Mapped(Matern52(1), "1, 0.5; -0.5, 2; 0, 1")`, k: kernels.Mapped(kernels.Matern52(1), []float64{1, 0.5}, []float64{-0.5, 2}, []float64{0, 1}), points: two},
	{call: `Mapped(Sum(Linear(), Scale(2, Laplacian(1))), "1e-05, 3")`, k: kernels.Mapped(kernels.Sum(kernels.Linear(), kernels.Scale(2, kernels.Laplacian(1))), []float64{1e-5, 3}), points: two},
	{call: "Rotated(ARD(1, 0.5), 0.7)", k: kernels.Rotated(kernels.ARD(1, 0.5), 0.7), points: two},
	{call: "Rotated(Scale(2, Exponential(1)), 2)", k: kernels.Rotated(kernels.Scale(2, kernels.Exponential(1)), 2), points: two},
	{call: "Rotated(ARDMatern32(1, 0.5, 2), 0.7, 2, 1.1)", k: kernels.Rotated(kernels.ARDMatern32(1, 0.5, 2), 0.7, 2, 1.1), points: three},
	{call: "Columns(RBF(1), 1)", k: kernels.Columns(kernels.RBF(1), 1), points: two},
	{call: "Columns(Linear(), 1, 0, 1)", k: kernels.Columns(kernels.Linear(), 1, 0, 1), points: two},
	{call: "Sum(Columns(RBF(1), 0), Scale(2, Columns(Matern52(1), 1)))", k: kernels.Sum(kernels.Columns(kernels.RBF(1), 0), kernels.Scale(2, kernels.Columns(kernels.Matern52(1), 1))), points: two},
	{call: "Centred(RBF(0.5), x5x2_85215577)", k: kernels.Centred(kernels.RBF(0.5), toy.Normal(8, 5, 2)), points: two},
	{call: "Normalised(Sum(Spectrum(1).Raw(), Spectrum(2).Raw()))", k: kernels.Normalised(kernels.Sum(kernels.Spectrum(1).Raw(), kernels.Spectrum(2).Raw())), points: words},
	{call: "Normalised(Sum(Intersection(), Constant(1)))", k: kernels.Normalised(kernels.Augmented(kernels.Intersection(), 1)), points: counts},
}

// co2 is the kernel for the carbon dioxide of Mauna Loa by Rasmussen and Williams
// (2006, section 5.4.3), its lengths shorter for points that are nearer.
var co2 = kernels.Sum(
	kernels.Scale(4, kernels.SquaredExponential(3)),
	kernels.Scale(2, kernels.Product(kernels.SquaredExponential(2), kernels.Periodic(1, 1.3))),
	kernels.Scale(0.5, kernels.RationalQuadratic(1.2, 0.78)),
	kernels.Scale(0.1, kernels.SquaredExponential(0.4)),
)

func mapped(x [][]float64, f func(row []float64) []float64) [][]float64 {
	m := make([][]float64, len(x))
	for i, row := range x {
		m[i] = f(row)
	}
	return m
}

// two has the first and the last feature of each point.
func two(x [][]float64) [][]float64 {
	return mapped(x, func(row []float64) []float64 { return []float64{row[0], row[len(row)-1]} })
}

// three has three features of each point, near the origin: far from it, the rounding of a rotation is
// more than differences bear.
func three(x [][]float64) [][]float64 {
	return mapped(x, func(row []float64) []float64 {
		return []float64{math.Mod(row[0], 4), math.Mod(row[len(row)/2], 5), math.Mod(row[len(row)-1], 6)}
	})
}

// observed are points of two features with what was observed there.
func observed(x [][]float64) [][]float64 {
	return mapped(x, func(row []float64) []float64 {
		return []float64{row[0], row[len(row)-1], math.Floor(math.Mod(math.Abs(100*row[0]), 3))}
	})
}

// counts are features without a sign, some of them 0.
func counts(x [][]float64) [][]float64 {
	return mapped(x, func(row []float64) []float64 {
		m := make([]float64, len(row))
		for k, v := range row {
			m[k] = math.Max(0, math.Abs(v)-0.2)
		}
		return m
	})
}

// words are strings over three letters, of 0 to 11 of them.
func words(x [][]float64) [][]float64 {
	list := make([]string, len(x))
	for i, row := range x {
		for k := range 11 {
			v := math.Abs(row[k%len(row)]) * math.Pow(3, float64(k))
			if k < 4 || math.Mod(v, 5) > 1 {
				list[i] += string(rune('a' + int(math.Mod(v, 3))))
			}
		}
		if row[0] > 2 {
			list[i] = ""
		}
	}
	return kernels.Strings(11, list...)
}

// looked are points that carry their rows of a matrix.
func looked(x [][]float64) [][]float64 {
	matrix := make([][]float64, len(x))
	for i := range x {
		matrix[i] = make([]float64, len(x))
		for j := range x {
			matrix[i][j] = kernels.RBF(0.5).Eval(x[i], x[j])
			if i < j {
				matrix[i][j] += 1e-16 // not symmetric to the last bit
			}
		}
	}
	return kernels.Precomputed().Points(matrix)
}

func TestConformance(t *testing.T) {
	for _, c := range table {
		t.Run(c.call, func(t *testing.T) {
			gen := kerneltest.Usual()
			if c.points != nil {
				for i, usual := range gen {
					gen[i] = func(rng *rand.Rand) [][]float64 { return c.points(usual(rng)) }
				}
			}
			if c.indefinite {
				kerneltest.RunIndefinite(t, c.k, gen...)
			} else {
				kerneltest.Run(t, c.k, gen...)
			}
		})
	}
}

// A kernel without a row in the table is a kernel without tests.
func TestTableIsComplete(t *testing.T) {
	tested := map[string]bool{}
	for _, c := range table {
		tested[reflect.TypeOf(c.k).Name()] = true
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Name.Name == "Eval" && f.Recv != nil {
				seen++
				if name := fmt.Sprint(f.Recv.List[0].Type); !tested[name] {
					t.Errorf("%s has no row in the table", name)
				}
			}
		}
	}
	if seen < 25 {
		t.Errorf("found %d kernels in the sources, want at least 25", seen)
	}
}

// A length scale is another way to write γ, so nothing of the values may differ: neither those
// of single pairs, nor of rows, nor of sums over blocks.
func TestSquaredExponentialIsRBF(t *testing.T) {
	x := toy.Normal(3, 700, 5)
	for _, length := range []float64{0.7, 2, 67} {
		k := kernels.SquaredExponential(length)
		rbf := kernels.RBF(k.Gamma())
		a, errA := kernels.NewGram(k, x, kernels.NoCache)
		b, errB := kernels.NewGram(rbf, x, kernels.NoCache)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		for i := range x {
			if k.Eval(x[0], x[i]) != rbf.Eval(x[0], x[i]) || !slices.Equal(a.Row(i), b.Row(i)) {
				t.Fatalf("%v differs from %v at point %d", k, rbf, i)
			}
		}
		dA, dB := []float64{0}, []float64{0}
		if v := k.EvalGradient(dA, x[0], x[1]); v != rbf.EvalGradient(dB, x[0], x[1]) || dA[0] != -2*dB[0] {
			t.Errorf("%v has the derivative %v by ln ℓ, %v has %v by ln γ", k, dA, rbf, dB)
		}
	}
}

func TestString(t *testing.T) {
	for _, c := range table {
		if got := c.k.String(); got != c.call {
			t.Errorf("String() = %q, want %q", got, c.call)
		}
	}
}

func TestGob(t *testing.T) {
	for _, c := range table {
		gob.Register(c.k)
	}
	for _, c := range table {
		// Within another value, since a kernel is mostly a part of something.
		type held struct{ K kernels.Kernel }
		var buf bytes.Buffer
		var back held
		if err := gob.NewEncoder(&buf).Encode(held{c.k}); err != nil {
			t.Errorf("%v: %v", c.k, err)
		} else if err := gob.NewDecoder(&buf).Decode(&back); err != nil {
			t.Errorf("%v: %v", c.k, err)
		} else if back.K != c.k {
			t.Errorf("%v came back as %v", c.k, back.K)
		}
	}
}

// A fit is kept under a hash of what %#v prints of its kernel, so no address may
// be in there.
func TestPrintedWithoutAddresses(t *testing.T) {
	for _, c := range table {
		if s := fmt.Sprintf("%#v", c.k); strings.Contains(s, "(0x") {
			t.Errorf("%v prints as %s", c.k, s)
		}
		if v := reflect.ValueOf(c.k); !v.Comparable() {
			t.Errorf("%v cannot be compared", c.k)
		}
	}
}

func TestCheck(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		k     kernels.Kernel
		param string
	}{
		{kernels.RBF(0), "gamma"},
		{kernels.RBF(-2), "gamma"},
		{kernels.RBF(nan), "gamma"},
		{kernels.RBF(inf), "gamma"},
		{kernels.GaussianKernel{}, "gamma"},
		{kernels.RBFSigma(0), "length"},
		{kernels.RBFSigma(-1), "length"},
		{kernels.RBFSigma(nan), "length"},
		{kernels.RBFSigma(inf), "length"},
		{kernels.RBFLength(-3), "length"},
		{kernels.SquaredExponential(1e200), "length"},
		{kernels.SquaredExponential(1e-200), "length"},
		{kernels.Polynomial(0, 1, 1), "degree"},
		{kernels.Polynomial(-1, 1, 1), "degree"},
		{kernels.Polynomial(2, 0, 1), "gamma"},
		{kernels.Polynomial(2, -1, 1), "gamma"},
		{kernels.Polynomial(2, nan, 1), "gamma"},
		{kernels.Polynomial(2, inf, 1), "gamma"},
		{kernels.Polynomial(2, 1, -0.1), "coef0"},
		{kernels.Polynomial(2, 1, nan), "coef0"},
		{kernels.Polynomial(2, 1, inf), "coef0"},
		{kernels.Laplacian(0), "gamma"},
		{kernels.Laplacian(inf), "gamma"},
		{kernels.Exponential(0), "length"},
		{kernels.Exponential(-1), "length"},
		{kernels.Exponential(inf), "length"},
		{kernels.Exponential(1e-310), "length"},
		{kernels.Matern32(0), "length"},
		{kernels.Matern52(-1), "length"},
		{kernels.RationalQuadratic(0, 1), "length"},
		{kernels.RationalQuadratic(1, 0), "alpha"},
		{kernels.RationalQuadratic(1, inf), "alpha"},
		{kernels.GammaExponential(-1, 1), "length"},
		{kernels.GammaExponential(1, 0), "gamma"},
		{kernels.GammaExponential(1, 2.001), "gamma"},
		{kernels.Periodic(0, 1), "period"},
		{kernels.Periodic(1, 0), "length"},
		{kernels.Periodic(1, 1e-200), "length"},
		{kernels.Periodic(1, inf), "length"},
		{kernels.Sigmoid(0, 1), "gamma"},
		{kernels.Sigmoid(1, nan), "coef0"},
		{kernels.Sigmoid(1, -inf), "coef0"},
		{kernels.ARD(), "len(lengths)"},
		{kernels.ARD(1, 0), "lengths[1]"},
		{kernels.ARD(nan), "lengths[0]"},
		{kernels.ARD(1, 2, -3), "lengths[2]"},
		{kernels.ARDKernel{Lengths: "1, one"}, "lengths[1]"},
		{kernels.ExpChiSquared(0), "gamma"},
		{kernels.Compact(0), "length"},
		{kernels.Constant(-1), "c"},
		{kernels.Constant(inf), "c"},
		{kernels.Spectrum(0), "k"},
		{kernels.Spectrum(-2).Raw(), "k"},
		{kernels.GapWeighted(0, 0.5), "k"},
		{kernels.GapWeighted(2, 0), "lambda"},
		{kernels.GapWeighted(2, 1.1), "lambda"},
		{kernels.Scale(-1, kernels.RBF(1)), "c"},
		{kernels.Scale(nan, kernels.RBF(1)), "c"},
		{kernels.Scale(inf, kernels.RBF(1)), "c"},
		{kernels.Columns(kernels.RBF(1)), "len(cols)"},
		{kernels.Columns(kernels.RBF(1), 0, -1), "cols[1]"},
	} {
		var e *kernels.ParamError
		err := c.k.Check()
		if !errors.As(err, &e) || e.Param != c.param {
			t.Errorf("%v: Check() = %v, want a *ParamError for %s", c.k, err, c.param)
			continue
		}
		name, _, _ := strings.Cut(c.k.String(), "(")
		for _, word := range []string{name, c.param, fmt.Sprint(e.Value)} {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%v: %q does not mention %s", c.k, err, word)
			}
		}
	}
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*math.Max(1, math.Abs(want))) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func TestValues(t *testing.T) {
	x, z := []float64{1, 2}, []float64{3, -1}
	for _, c := range []struct {
		k    kernels.Kernel
		want float64
	}{
		{kernels.Linear(), 1},
		{kernels.Polynomial(1, 2, 0.5), 2.5},
		{kernels.Polynomial(2, 3, 1), 16},
		{kernels.Polynomial(3, 1, 1), 8},
		{kernels.Polynomial(11, 1, 1), 2048},
		{kernels.RBF(0.1), math.Exp(-1.3)},
		{kernels.RBFSigma(2), math.Exp(-13.0 / 8)},
		{kernels.RBFLength(2), math.Exp(-13.0 / 8)},
		{kernels.ARD(2, 3), math.Exp(-0.5 * (1 + 1))},
		{kernels.Laplacian(0.1), math.Exp(-0.5)},
		{kernels.Exponential(2), math.Exp(-math.Sqrt(13) / 2)},
		{kernels.Matern32(2), (1 + math.Sqrt(39)/2) * math.Exp(-math.Sqrt(39)/2)},
		{kernels.Matern52(2), (1 + math.Sqrt(65)/2 + 65.0/12) * math.Exp(-math.Sqrt(65)/2)},
		{kernels.RationalQuadratic(2, 3), math.Pow(1+13.0/24, -3)},
		{kernels.GammaExponential(2, 1.5), math.Exp(-math.Pow(13.0/4, 0.75))},
		{kernels.Periodic(5, 2), math.Exp(-(math.Pow(math.Sin(math.Pi*2/5), 2) + math.Pow(math.Sin(math.Pi*3/5), 2)) / 2)},
		{kernels.Compact(5), math.Pow(1-math.Sqrt(13)/5, 4) * (4*math.Sqrt(13)/5 + 1)}, // q = ⌊2/2⌋ + 2
		{kernels.Compact(3.6), 0},
		{kernels.Sigmoid(2, -0.5), math.Tanh(1.5)},
		{kernels.Constant(3), 3},
		{kernels.Augmented(kernels.Linear(), 9), 10},
		{kernels.Product(kernels.Polynomial(1, 1, 1), kernels.Constant(3), kernels.Polynomial(1, 1, 2)), 18},
		{kernels.Normalised(kernels.Linear()), 1 / math.Sqrt(50)},
		{kernels.Columns(kernels.Linear(), 1), -2},
		{kernels.Centred(kernels.Linear(), [][]float64{{0, 0}, {4, 2}}), (1-2)*(3-2) + (2-1)*(-1-1)},
	} {
		near(t, c.k.String(), c.k.Eval(x, z), c.want, 1e-14)
	}

	a, b := []float64{1, 0, 4}, []float64{3, 0, 2} // histograms
	near(t, "χ²", kernels.ChiSquared().Eval(a, b), 6.0/4+16.0/6, 1e-15)
	near(t, "exp χ²", kernels.ExpChiSquared(2).Eval(a, b), math.Exp(-2*(4.0/4+4.0/6)), 1e-15)
	near(t, "intersection", kernels.Intersection().Eval(a, b), 3, 0)
	for d, q := range map[int]int{1: 2, 2: 3, 3: 3, 4: 4, 9: 6} {
		x, z := make([]float64, d), make([]float64, d)
		z[0] = 0.25
		near(t, "compact", kernels.Compact(1).Eval(x, z), math.Pow(0.75, float64(q+1))*(float64(q+1)*0.25+1), 1e-15)
	}

	// Wang's program has exp(−γ‖x−z‖) where the Gaussian squares the norm.
	// That is the exponential kernel of length 1/γ.
	near(t, "RBF(1) at distance 2", kernels.RBF(1).Eval([]float64{0, 0}, []float64{2, 0}), math.Exp(-4), 1e-15)
	near(t, "Wang's K at distance 2", kernels.Exponential(1).Eval([]float64{0, 0}, []float64{2, 0}), math.Exp(-2), 1e-15)
	// Platt's Gaussian of variance 10 is the one of γ = 0.05.
	near(t, "gamma of variance 10", kernels.RBFSigma(math.Sqrt(10)).Gamma(), 0.05, 1e-15)

	// Ng's explicit features of (x·z)²: all products of two entries.
	var sum float64
	for i := range x {
		for j := range x {
			sum += x[i] * x[j] * z[i] * z[j]
		}
	}
	near(t, "(x·z)²", kernels.Polynomial(2, 1, 0).Eval(x, z), sum, 1e-15)
}

// What one kernel becomes in another's limit, and where they part.
func TestRelations(t *testing.T) {
	line, plane := [2][]float64{{0.3}, {-1}}, [2][]float64{{1, 2}, {0, 4}}
	for _, p := range [][2][]float64{line, plane} {
		x, z := p[0], p[1]
		same := func(what string, a, b kernels.Kernel, tol float64) {
			t.Helper()
			near(t, what, a.Eval(x, z), b.Eval(x, z), tol)
		}
		same("rational quadratic as α → ∞", kernels.RationalQuadratic(2, 1e9), kernels.SquaredExponential(2), 1e-8)
		same("rational quadratic as α → ∞", kernels.RationalQuadratic(2, 1e300), kernels.SquaredExponential(2), 1e-14)
		same("γ-exponential of 1", kernels.GammaExponential(2, 1), kernels.Exponential(2), 1e-14)
		same("γ-exponential of 2", kernels.GammaExponential(2, 2), kernels.RBF(0.25), 1e-14)
		same("ARD of equal lengths", kernels.ARD([]float64{3, 3}[:len(x)]...), kernels.SquaredExponential(3), 1e-14)
		same("periodic of a long period", kernels.Periodic(1e6, 2*math.Pi/1e6*2), kernels.SquaredExponential(2), 1e-9)
		same("a product of exponentials", kernels.Product(kernels.RBF(1), kernels.RBF(2)), kernels.RBF(3), 1e-14)
		same("normalised polynomial", kernels.Normalised(kernels.Polynomial(3, 1, 0)), kernels.Product(kernels.Normalised(kernels.Linear()), kernels.Normalised(kernels.Linear()), kernels.Normalised(kernels.Linear())), 1e-14)
	}
	same := kernels.Laplacian(0.5).Eval(line[0], line[1]) - kernels.Exponential(2).Eval(line[0], line[1])
	near(t, "Laplacian − exponential in one dimension", same, 0, 1e-15)
	l, e := kernels.Laplacian(0.5).Eval(plane[0], plane[1]), kernels.Exponential(2).Eval(plane[0], plane[1])
	near(t, "Laplacian in two dimensions", l, math.Exp(-1.5), 1e-15)
	near(t, "exponential in two dimensions", e, math.Exp(-math.Sqrt(5)/2), 1e-15)
}

// Far points, and distances that overflow, are far: no NaN.
func TestFar(t *testing.T) {
	for _, k := range []kernels.Kernel{
		kernels.RBF(1), kernels.Laplacian(1), kernels.Exponential(1), kernels.Matern32(1), kernels.Matern52(1), kernels.Compact(1),
		kernels.GammaExponential(1, 0.5), kernels.GammaExponential(1, 2), kernels.RationalQuadratic(1, 30), kernels.ARD(1), kernels.Matern52(1e-300),
	} {
		slope := func(a, b float64) float64 {
			grad := make([]float64, 2)
			k.(kernels.Differentiable).EvalGradient(grad, []float64{a}, []float64{b})
			return math.Max(math.Abs(grad[0]), math.Abs(grad[1]))
		}
		for _, far := range []float64{1e10, 1e150, 1e200, math.MaxFloat64} {
			if v := k.Eval([]float64{far}, []float64{-far}); !(v >= 0 && v < 1e-100) {
				t.Errorf("%v at a distance of 2·%v = %v, want 0", k, far, v)
			}
			if v := slope(far, -far); !(v < 1e-100) {
				t.Errorf("a derivative of %v at a distance of 2·%v is %v, want 0", k, far, v)
			}
		}
		if v := k.Eval([]float64{math.MaxFloat64}, []float64{math.MaxFloat64}); v != 1 {
			t.Errorf("%v of a far point with itself = %v, want 1", k, v)
		}
		if v := slope(1, 1); v != 0 {
			t.Errorf("a derivative of %v at distance 0 is %v, want 0", k, v)
		}
	}
	if v := kernels.Periodic(1, 1).Eval([]float64{math.MaxFloat64}, []float64{-math.MaxFloat64}); math.IsNaN(v) {
		t.Error("Periodic of far points is NaN")
	}
}

func TestQuadraticFeatures(t *testing.T) {
	x, z := toy.Normal(1, 1, 6)[0], toy.Normal(2, 1, 6)[0]
	for _, c := range []struct {
		gamma, coef0 float64
		entries      int
	}{{1, 0, 36}, {1, 1, 43}, {0.3, 2.5, 43}} {
		a, b := kernels.QuadraticFeatures(x, c.gamma, c.coef0), kernels.QuadraticFeatures(z, c.gamma, c.coef0)
		if len(a) != c.entries {
			t.Errorf("%d entries for 6 attributes and c = %v, want %d", len(a), c.coef0, c.entries)
		}
		near(t, "⟨φ(x), φ(z)⟩", kernels.Linear().Eval(a, b), kernels.Polynomial(2, c.gamma, c.coef0).Eval(x, z), 1e-12)
	}

	// They span as many dimensions as there are distinct monomials.
	for _, c := range []struct {
		coef0      float64
		dimensions int
	}{{0, 6}, {1, 10}} { // of 3 attributes: C(4, 2) and C(5, 2)
		var m mat.Dense
		phi := mat.NewDense(30, len(kernels.QuadraticFeatures(make([]float64, 3), 1, c.coef0)), nil)
		for i, x := range toy.Normal(3, 30, 3) {
			phi.SetRow(i, kernels.QuadraticFeatures(x, 1, c.coef0))
		}
		m.Mul(phi.T(), phi)
		var svd mat.SVD
		if !svd.Factorize(&m, mat.SVDNone) {
			t.Fatal("the singular values do not converge")
		}
		if got := svd.Rank(1e-10); got != c.dimensions {
			t.Errorf("c = %v: φ spans %d dimensions, want %d", c.coef0, got, c.dimensions)
		}
	}
}

func TestGammaScale(t *testing.T) {
	for _, c := range []struct {
		name string
		x    [][]float64
		want float64
	}{
		{"by hand", [][]float64{{0, 0}, {2, 4}}, 1 / (2 * 2.75)},
		{"one feature", [][]float64{{1}, {2}, {3}}, 1.5},
		{"shifted", [][]float64{{1e6}, {1e6 + 1}, {1e6 + 2}}, 1.5},
		{"constant", [][]float64{{3, 3}, {3, 3}}, 1},
	} {
		near(t, c.name, kernels.GammaScale(c.x), c.want, 1e-9)
	}
}

func TestGammaMedian(t *testing.T) {
	for _, c := range []struct {
		name string
		x    [][]float64
		want float64
	}{
		{"odd", [][]float64{{0}, {1}, {3}}, 1.0 / 4},                       // 1, 4, 9
		{"even", [][]float64{{0}, {1}, {3}, {7}}, 1 / 12.5},                // 1, 4, 9, 16, 36, 49
		{"duplicates do not count", [][]float64{{0}, {0}, {0}, {5}}, 0.04}, // 25, 25, 25
		{"two dimensions", [][]float64{{0, 0}, {3, 4}}, 0.04},
		{"all the same", [][]float64{{2}, {2}}, 1},
		{"one point", [][]float64{{2}}, 1},
	} {
		near(t, c.name, kernels.GammaMedian(c.x), c.want, 1e-15)
	}

	// For standard normal points in the plane r² is 2χ² of two degrees of
	// freedom, with the median 4 ln 2.
	x := toy.Normal(1, 3000, 2)
	first := x[0]
	got := kernels.GammaMedian(x)
	near(t, "3000 normal points", got, 1/(4*math.Ln2), 0.05)
	if again := kernels.GammaMedian(x); got != again {
		t.Errorf("GammaMedian is %v, then %v", got, again)
	}
	if &x[0][0] != &first[0] {
		t.Error("GammaMedian reorders its argument")
	}
}

func TestGammaOfBadData(t *testing.T) {
	for name, x := range map[string][][]float64{
		"empty": nil, "ragged": {{1, 2}, {3}}, "no features": {{}, {}}, "NaN": {{1}, {math.NaN()}}, "Inf": {{math.Inf(-1)}, {0}},
	} {
		if s, m := kernels.GammaScale(x), kernels.GammaMedian(x); !math.IsNaN(s) || !math.IsNaN(m) {
			t.Errorf("%s: GammaScale %v, GammaMedian %v, want NaN", name, s, m)
		}
	}
}
