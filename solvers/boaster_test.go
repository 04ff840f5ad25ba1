package solvers

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/internal/toy"
)

// strayer puts one α where it may not be and says that all is well.
type strayer struct{ at float64 }

func (strayer) Name() string { return "strayer" }
func (m strayer) Start(p *Problem, alpha []float64) (Stepper, error) {
	alpha[0], alpha[1] = m.at, m.at
	return &strayed{alpha: alpha, f: p.F(alpha)}, nil
}

type strayed struct{ alpha, f []float64 }

func (s *strayed) Step(context.Context) (bool, error) { return true, nil }
func (s *strayed) Report(it *Iterate)                 { it.Alpha, it.F = s.alpha, s.f }

// always is met by everything.
type always struct{}

func (always) Met(*Point, *Trace) Status { return Converged }
func (always) String() string            { return "always" }

// No α outside the box is an answer, and the error says which one is.
func TestOutsideTheBox(t *testing.T) {
	p := SoftMargin(toy.NewGram([][]float64{{0}, {1}, {2}}, toy.RBF(1)), []float64{1, -1, 1}, []float64{1, 1, 1})
	for _, at := range []float64{1.1, -0.1, math.NaN(), math.Inf(1)} {
		r, err := Solve(t.Context(), p, strayer{at}, Settings{Stop: always{}})
		if at-at != 0 {
			if !errors.Is(err, ErrInaccurate) || r == nil || r.Status != Inaccurate {
				t.Errorf("α_0 = %g: %v, %+v", at, err, r)
			}
			continue
		}
		if !errors.Is(err, ErrOutside) || !strings.Contains(err.Error(), "α_0 = ") || r == nil || r.Status == Converged {
			t.Errorf("α_0 = %g: %v, %+v", at, err, r)
		}
	}
	if _, err := Solve(t.Context(), p, strayer{1 + 1e-12}, Settings{Stop: always{}}); err != nil {
		t.Errorf("rounding: %v", err)
	}
}

// TestBoundOfACertificate: Bound is how far the farthest α is outside its box.
func TestBoundOfACertificate(t *testing.T) {
	p := SoftMargin(toy.NewGram([][]float64{{0}, {1}, {2}}, toy.RBF(1)), []float64{1, -1, 1}, []float64{1, 2, 3})
	for _, c := range []struct {
		alpha []float64
		want  float64
	}{
		{[]float64{0, 0, 0}, 0},
		{[]float64{1, 2, 3}, 0},
		{[]float64{1.25, 2, 3}, 0.25},
		{[]float64{0, 4, 3}, 2},
		{[]float64{0, 0, 3.5}, 0.5},
		{[]float64{-0.5, 0, 0}, 0.5},
		{[]float64{1, -2, 5}, 2},
		{[]float64{1, -1, 5}, 2},
	} {
		if got := Certify(p, c.alpha).Bound; got != c.want {
			t.Errorf("α = %v: Bound = %g, want %g", c.alpha, got, c.want)
		}
	}
}

// TestFarOff: a run that rounding stops while half of W may be missing is an error. A run
// near the optimum is none, nor is a method that ends by a rule of its own.
func TestFarOff(t *testing.T) {
	k := toy.NewGram([][]float64{{2}, {-0.04}}, toy.RBF(1))
	tube := func(c float64) *Problem { // Σα is Cνn, and α − α̂ about 1e-6
		p, err := NuTube(k, []float64{3e-6, 2e-6}, c, 0.3)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	x, y := [][]float64{{0}, {5}, {10}}, []float64{1, -1, 1}
	soft := func(c float64) *Problem { return SoftMargin(toy.NewGram(x, toy.RBF(1)), y, fill(3, c)) }
	worst := SMO{Selection: WorstPair}
	for _, c := range []struct {
		name string
		p    *Problem
		m    Method
		stop Criterion
		far  bool
	}{
		{"ν = 0.3, C = 1e10", tube(1e10), SMO{}, nil, true},
		{"ν = 0.3, C = 1e13", tube(1e13), SMO{}, nil, true},
		{"ν = 0.3, C = 1e18", tube(1e18), SMO{}, nil, true},
		{"the worst pair, C = 1e10", tube(1e10), worst, nil, true},
		{"the worst pair, C = 1e18", tube(1e18), worst, nil, true},
		{"ν = 0.3, C = 1", tube(1), SMO{}, nil, false},
		{"ν = 0.3, C = 1e4", tube(1e4), SMO{}, nil, false},
		{"growth is what was asked for", tube(1e10), SMO{}, Growth{1e-3}, false},
		{"a method that ends at 0", soft(1e6), strayer{0}, nil, false},
		{"a method that ends near 0", soft(1e6), strayer{1e-3}, nil, false},
		{"a small C at 0", soft(1e-3), strayer{0}, nil, false},
		{"at the bound", soft(0.5), strayer{0.5}, nil, false},
	} {
		r, err := Solve(t.Context(), c.p, c.m, Settings{Stop: c.stop})
		if r == nil || errors.Is(err, ErrInaccurate) != c.far || (r.Status == Inaccurate) != c.far || !c.far && err != nil {
			t.Errorf("%s: %v, %+v", c.name, err, r)
			continue
		}
		if c.far && !strings.Contains(err.Error(), "take a smaller C") {
			t.Errorf("%s: %v does not say what to do", c.name, err)
		}
	}
}
