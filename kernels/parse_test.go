package kernels

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Parse is the inverse of String for every kernel whose string has all of it.
func TestParse(t *testing.T) {
	for _, k := range []Kernel{
		Linear(), RBF(0.1), RBF(1e-300), SquaredExponential(67), RBFSigma(2), RBFLength(0.1), Polynomial(3, 0.1, 0), Sigmoid(1./3, -2), Laplacian(2), Exponential(0.7), ChiSquared(), ExpChiSquared(2),
		Compact(3), Constant(0), Matern32(1), Matern52(1e5), Spectrum(3), Spectrum(2).Raw(), GapWeighted(2, 0.5), GapWeighted(2, 0.5).Raw(),
		GammaExponential(1, 1.5), Periodic(1, 1.3), RationalQuadratic(2, 0.1), Intersection(), Precomputed(), ARD(1, 0.1, 7),
		Normalised(Polynomial(2, 1, 1)), Scale(3, RBF(1)), ScaleKernel{1, RBF(1)}, Columns(RBF(2), 0, 3), Fixed(RBF(2)), Fixed(Periodic(1, 2), "period", "length"), Named("größer", Scale(2, RBF(1))),
		Sum(RBF(1), Linear(), Scale(2, Product(Linear(), RBF(3), Constant(2)))), Augmented(RBF(0.1), 2),
	} {
		got, err := Parse(k.String())
		if err != nil || got != k {
			t.Errorf("Parse(%v) = %#v, %v; want %#v", k, got, err, k)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, s := range []string{
		"", "RBF", "RBF(", "RBF(1", "RBF(1))", "RBF(1) ", "rbf(1)", "RBF(x)", "RBF(1, 2)", "RBF(NaN)", "RBF(-1)", "RBF(+Inf)", "RBF(1e0)", "RBF(Linear())",
		"Polynomial(1.5, 1, 1)", "Polynomial(1e300, 1, 1)", "Sum()", "Sum(Linear())", "Scale(Linear(), 2)", "Linear().Raw()", "Spectrum(2).Raw().Raw()",
		`Fixed(RBF(1), "sigma")`, `Fixed(RBF(1), "gamma)`, `Named(RBF(1), "f")`, `Named("a.b", RBF(1))`, `Named(RBF(1))`, `Named("f")`, "Columns(RBF(1), -1)", "ARD()", Centred(Linear(), [][]float64{{1}, {2}}).String(), "mine(1)",
		strings.Repeat("Fixed(", 1e5), "Sum(Linear()" + strings.Repeat(", Linear()", 1e5) + ")",
	} {
		k, err := Parse(s)
		if parse := (*ParseError)(nil); k != nil || !errors.As(err, &parse) {
			t.Errorf("Parse(%.40q) = %v, %v; want a *ParseError", s, k, err)
		}
	}
	if _, err := Parse("RBF(-1)"); !errors.As(err, new(*ParamError)) {
		t.Errorf("RBF(-1): %v does not wrap a *ParamError", err)
	}
	for _, s := range []string{"Spectrum(2.5)", "Linear(1)", "RBF(1).Raw()"} { // no other form of a kernel
		if _, err := Parse(s); err == nil || !strings.Contains(err.Error(), "number and kind") {
			t.Errorf("%s: %v", s, err)
		}
	}
}

func TestParseKeepsEveryBit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := Sum(RBF(rapid.Float64Range(1e-300, 1e300).Draw(t, "gamma")), Polynomial(rapid.IntRange(1, 9).Draw(t, "degree"), 1, rapid.Float64Range(0, 1e9).Draw(t, "coef0")))
		if got, err := Parse(k.String()); err != nil || got != k {
			t.Fatalf("%v: %v %v", k, got, err)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"Sum(RBF(1), Scale(2, Linear()))", `Fixed(Periodic(1, 2), "period")`, "Spectrum(2).Raw()", "Columns(ARD(1, 2), 0, 1)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if k, err := Parse(s); err == nil && k.String() != s {
			t.Fatalf("%q became %v", s, k)
		}
	})
}
