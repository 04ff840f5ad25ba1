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
	"strings"
	"testing"

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
	{call: "RBF(0.125)", k: kernels.RBFSigma(2)},
	{call: "RBF(2)", k: kernels.RBFLength(0.5)},
	{call: "RBF(0.5)", k: kernels.SquaredExponential(1)},
	{call: "ARD(1, 0.5)", k: kernels.ARD(1, 0.5), points: two},
	{call: "ARD(0.001, 1000)", k: kernels.ARD(1e-3, 1e3), points: two},
	{call: "Laplacian(0.5)", k: kernels.Laplacian(0.5)},
	{call: "Exponential(2)", k: kernels.Exponential(2)},
	{call: "Exponential(0.001)", k: kernels.Exponential(1e-3)},
	{call: "Matern32(2)", k: kernels.Matern32(2)},
	{call: "Matern52(0.3)", k: kernels.Matern52(0.3)},
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
	{call: "Normalised(Polynomial(3, 1, 1))", k: kernels.Normalised(kernels.Polynomial(3, 1, 1))},
	{call: "Normalised(Linear())", k: kernels.Normalised(kernels.Linear())},
	{call: "Columns(RBF(1), 1)", k: kernels.Columns(kernels.RBF(1), 1), points: two},
	{call: "Columns(Linear(), 1, 0, 1)", k: kernels.Columns(kernels.Linear(), 1, 0, 1), points: two},
	{call: "Sum(Columns(RBF(1), 0), Scale(2, Columns(Matern52(1), 1)))", k: kernels.Sum(kernels.Columns(kernels.RBF(1), 0), kernels.Scale(2, kernels.Columns(kernels.Matern52(1), 1))), points: two},
	{call: "Centred(RBF(0.5), x5x2_85215577)", k: kernels.Centred(kernels.RBF(0.5), normal(8, 5, 2)), points: two},
	{call: "Normalised(Sum(Spectrum(1).Raw(), Spectrum(2).Raw()))", k: kernels.Normalised(kernels.Sum(kernels.Spectrum(1).Raw(), kernels.Spectrum(2).Raw())), points: words},
	{call: "Normalised(Sum(Intersection(), Constant(1)))", k: kernels.Normalised(kernels.Augmented(kernels.Intersection(), 1)), points: counts},
}

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
		{kernels.RBFSigma(0), "gamma"},
		{kernels.RBFSigma(-1), "gamma"},
		{kernels.RBFSigma(nan), "gamma"},
		{kernels.RBFSigma(inf), "gamma"},
		{kernels.RBFLength(-3), "gamma"},
		{kernels.Polynomial(0, 1, 1), "degree"},
		{kernels.Polynomial(-1, 1, 1), "degree"},
		{kernels.Polynomial(2, 0, 1), "gamma"},
		{kernels.Polynomial(2, -1, 1), "gamma"},
		{kernels.Polynomial(2, nan, 1), "gamma"},
		{kernels.Polynomial(2, inf, 1), "gamma"},
		{kernels.Polynomial(2, 1, -0.1), "coef0"},
		{kernels.Polynomial(2, 1, nan), "coef0"},
		{kernels.Polynomial(2, 1, inf), "coef0"},
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
	} {
		near(t, c.k.String(), c.k.Eval(x, z), c.want, 1e-14)
	}

	// Wang's program has exp(−γ‖x−z‖) where the Gaussian squares the norm.
	near(t, "RBF(1) at distance 2", kernels.RBF(1).Eval([]float64{0, 0}, []float64{2, 0}), math.Exp(-4), 1e-15)
	// Platt's Gaussian of variance 10 is the one of γ = 0.05.
	near(t, "gamma of variance 10", kernels.RBFSigma(math.Sqrt(10)).Gamma, 0.05, 1e-15)

	// Ng's explicit features of (x·z)²: all products of two entries.
	var sum float64
	for i := range x {
		for j := range x {
			sum += x[i] * x[j] * z[i] * z[j]
		}
	}
	near(t, "(x·z)²", kernels.Polynomial(2, 1, 0).Eval(x, z), sum, 1e-15)
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
	x := normal(1, 3000, 2)
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
