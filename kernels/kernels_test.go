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
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/kernels/kerneltest"
)

// table has every kernel of the package, with the call that its String gives.
var table = []struct {
	call string
	k    kernels.Kernel
}{
	{"Linear()", kernels.Linear()},
	{"Polynomial(1, 2, 0.5)", kernels.Polynomial(1, 2, 0.5)},
	{"Polynomial(2, 1, 0)", kernels.Polynomial(2, 1, 0)},
	{"Polynomial(3, 0.1, 1)", kernels.Polynomial(3, 0.1, 1)},
	{"Polynomial(7, 0.3333333333333333, 1e-05)", kernels.Polynomial(7, 1.0/3, 1e-5)},
	{"RBF(0.5)", kernels.RBF(0.5)},
	{"RBF(1e-09)", kernels.RBF(1e-9)},
	{"RBF(0.30000000000000004)", kernels.RBF(math.Nextafter(0.3, 1))},
	{"RBF(12345.678)", kernels.RBF(12345.678)},
	{"RBF(0.125)", kernels.RBFSigma(2)},
	{"RBF(2)", kernels.RBFLength(0.5)},
}

func TestConformance(t *testing.T) {
	for _, c := range table {
		t.Run(c.call, func(t *testing.T) { kerneltest.Run(t, c.k) })
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
	if seen < 3 {
		t.Errorf("found %d kernels in the sources, want at least 3", seen)
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
		// Within another value, since a kernel is mostly a part of something.
		type held struct{ K kernels.Kernel }
		gob.Register(c.k)
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
