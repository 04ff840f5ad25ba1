package kerneltest

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/kernels"
)

// broken is a Gaussian that a test spoils in one way.
type broken struct {
	Gamma  float64
	eval   func(x, z []float64) float64
	check  func(gamma float64) error
	string func() string
}

func (k broken) Eval(x, z []float64) float64 {
	if k.eval != nil {
		return k.eval(x, z)
	}
	return kernels.RBF(k.Gamma).Eval(x, z)
}

func (k broken) Check() error {
	if k.check != nil {
		return k.check(k.Gamma)
	}
	return kernels.RBF(k.Gamma).Check()
}

func (k broken) String() string {
	if k.string != nil {
		return k.string()
	}
	return kernels.RBF(k.Gamma).String()
}

// far and flat are right in all but their fast tier.
type far struct{ broken }

func (k far) OfSquaredDistance(r2 float64) float64 { return math.Exp(-k.Gamma * math.Sqrt(r2)) }

type flat struct{ kernels.LinearKernel }

func (flat) OfDot(float64) float64 { return 1 }

// learned is a product of two Gaussians with derivatives that a test spoils.
type learned struct {
	A, B  float64
	spoil string
}

func (k learned) Eval(x, z []float64) float64 { return kernels.RBF(k.A+k.B*k.B).Eval(x, z) }
func (k learned) Check() error                { return kernels.RBF(k.A + k.B).Check() }
func (k learned) String() string              { return "learned()" }

func (k learned) Hyperparameters() []kernels.Hyperparameter {
	list := []kernels.Hyperparameter{{Name: "a", Value: k.A}, {Name: "b", Value: k.B}}
	switch k.spoil {
	case "names":
		list[1].Name = "a"
	case "value":
		list[1].Value = 0
	}
	return list
}

func (k learned) With(v []float64) kernels.Kernel {
	if k.spoil == "order" && v[0] != k.A {
		return learned{v[1], v[0], k.spoil}
	}
	if k.spoil == "with" {
		return learned{v[0], v[1], ""}
	}
	if k.spoil == "type" {
		return kernels.RBF(v[0])
	}
	return learned{v[0], v[1], k.spoil}
}

func (k learned) EvalGradient(grad, x, z []float64) float64 {
	v, r2 := k.Eval(x, z), -math.Log(k.Eval(x, z))/(k.A+k.B*k.B)
	if v == 0 {
		r2 = 0
	}
	grad[0], grad[1] = -k.A*r2*v, -2*k.B*k.B*r2*v
	switch k.spoil {
	case "plain": // not by the logarithm
		grad[0] /= k.A
	case "slightly":
		grad[1] *= 1.00001
	case "K":
		v *= 2
	}
	return v
}

func TestBrokenGradientsFail(t *testing.T) {
	for spoil, says := range map[string]string{
		"": "", "names": "name each", "value": "b = 0", "order": "With of", "with": "own values", "type": "own values",
		"plain": "ln a", "slightly": "ln b", "K": "value of EvalGradient",
	} {
		var said string
		for _, check := range checks {
			if check.name == "Hyperparameters" || check.name == "Gradient" {
				if err := try(check, learned{2, 0.7, spoil}, nil); err != nil {
					said += err.Error()
				}
			}
		}
		if !strings.Contains(said, says) || spoil == "" && said != "" {
			t.Errorf("%q: the checks say %q, want %q", spoil, said, says)
		}
	}
}

func TestBrokenKernelsFail(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		name, check, says string
		k                 kernels.Kernel
	}{
		{"NaN passes", "Check", "Gamma = NaN", broken{Gamma: 1, check: func(float64) error { return nil }}},
		{"parameter not named", "Check", "does not name Gamma", broken{Gamma: 1, check: func(g float64) error {
			if g > 0 {
				return nil
			}
			return errors.New("bad")
		}}},
		{"refused", "Check", "refuses", broken{Gamma: -1}},
		{"prose", "String", "no Go", broken{Gamma: 1, string: func() string { return "the Gaussian" }}},
		{"no call", "String", "no call", broken{Gamma: 1, string: func() string { return "gaussian" }}},
		{"digits lost", "String", "the same for the next Gamma", broken{Gamma: 1, string: func() string { return "RBF(1)" }}},
		{"writes", "Purity", "writes", broken{Gamma: 1, eval: func(x, _ []float64) float64 { x[0]++; return 1 }}},
		{"random", "Purity", "then", broken{Gamma: 1, eval: func(_, _ []float64) float64 { return rng.Float64() }}},
		{"lopsided", "Symmetry", "K(z, x)", broken{Gamma: 1, eval: func(x, z []float64) float64 { return 3 + x[0] - z[0] }}},
		{"distance", "PositiveSemiDefinite", "eigenvalues", broken{Gamma: 1, eval: func(x, z []float64) float64 { return math.Abs(x[0] - z[0]) }}},
		{"sigmoid", "PositiveSemiDefinite", "eigenvalues", broken{Gamma: 1, eval: func(x, z []float64) float64 { return math.Tanh(kernels.Linear().Eval(x, z) - 1) }}},
		{"NaN", "Symmetry", "NaN", broken{Gamma: 1, eval: func(x, z []float64) float64 { return math.NaN() }}},
		{"radial tier", "Tier", "OfSquaredDistance", far{broken{Gamma: 1}}},
		{"radial tier in rows", "Gram", "in a Gram", far{broken{Gamma: 1}}},
		{"dot tier", "Tier", "OfDot", flat{}},
		{"dot tier in rows", "Basis", "in a Basis", flat{}},
	} {
		for _, check := range checks {
			if check.name != c.check {
				continue
			}
			if err := try(check, c.k, nil); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %s says %v, want an error with %q", c.name, c.check, err, c.says)
			}
		}
	}
}

func TestIndefinite(t *testing.T) {
	RunIndefinite(t, kernels.Sigmoid(1, -1))
	for _, c := range checks {
		err := tryIndefinite(c, kernels.RBF(1), nil)
		if (err != nil) != (c.name == definiteness) {
			t.Errorf("RBF(1) as an indefinite kernel: %s says %v", c.name, err)
		}
		bad := tryIndefinite(c, broken{Gamma: -1, check: func(float64) error { return nil }, string: func() string { return "one(" }}, nil)
		if (c.name == "Check" || c.name == "String") && bad == nil {
			t.Errorf("a kernel that is broken in other ways: %s says nothing", c.name)
		}
	}
}

// minimum is the histogram intersection Σ min(x, z), a kernel for
// non-negative features only.
type minimum struct{}

func (minimum) Eval(x, z []float64) float64 {
	var s float64
	for i := range x {
		s += min(x[i], z[i])
	}
	return s
}
func (minimum) Check() error   { return nil }
func (minimum) String() string { return "minimum()" }

func TestOwnPoints(t *testing.T) {
	nonNegative := func(rng *rand.Rand) [][]float64 {
		x := make([][]float64, 20)
		for i := range x {
			x[i] = []float64{rng.Float64(), rng.Float64()}
		}
		return x
	}
	Run(t, minimum{}, nonNegative)
	failed := false
	for _, c := range checks {
		failed = failed || try(c, minimum{}, nil) != nil
	}
	if !failed {
		t.Error("Σ min(x, z) passes for points of either sign")
	}
}

// drawn is a Gaussian that draws its frequencies for another gamma.
type drawn struct{ Gamma, Other float64 }

func (k drawn) Eval(x, z []float64) float64 { return kernels.RBF(k.Gamma).Eval(x, z) }
func (k drawn) Check() error                { return kernels.RBF(k.Gamma + k.Other).Check() }
func (k drawn) String() string              { return "drawn()" }
func (k drawn) AddFrequency(rng *rand.Rand, omega []float64) {
	kernels.RBF(k.Other).AddFrequency(rng, omega)
}

func TestSpectrum(t *testing.T) {
	c := check{name: "Spectrum", ofPoints: spectrum}
	if err := try(c, drawn{0.5, 0.5}, nil); err != nil {
		t.Error(err)
	}
	if err := try(c, drawn{0.5, 1}, nil); err == nil || !strings.Contains(err.Error(), "frequencies give") {
		t.Errorf("frequencies of another gamma: %v", err)
	}
}
