package figure

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/solvers"
)

// An exact geometric gap is fitted exactly, whatever comes before it and however
// the gap of single iterates jumps above it.
func TestFitRate(t *testing.T) {
	var p []solvers.Point
	for k := range 400 {
		gap := 3 * math.Pow(0.97, float64(k))
		if k < 100 {
			gap = 10
		}
		if k%3 == 1 {
			gap *= 5 // not the best so far
		}
		p = append(p, solvers.Point{Iteration: k, Gap: gap})
	}
	p[250].Gap = math.NaN()
	p = append(p, solvers.Point{Iteration: 400, Gap: 1e-14}) // a jump to the end is rounding
	if f := FitRate(p); math.Abs(f.Factor-0.97) > 1e-9 || math.Abs(f.Start-3) > 1e-6 || f.From < 190 || f.Bends || math.Abs(f.First-0.97) > 1e-9 || math.Abs(f.Last-0.97) > 1e-9 {
		t.Errorf("%+v", f)
	}
	for _, few := range [][]solvers.Point{nil, {{Gap: 1}}, {{Gap: 1}, {Iteration: 1, Gap: 2}, {Iteration: 2, Gap: math.NaN()}}} {
		if f := FitRate(few); !math.IsNaN(f.Factor) {
			t.Errorf("%d points have a rate of %g", len(few), f.Factor)
		}
		var e *InputError
		if _, err := Rate(RateData{Points: few}); !errors.As(err, &e) {
			t.Errorf("%v", err)
		}
	}
}

// What is linear has one factor; what is faster has none, and the figure says so.
func TestRateBends(t *testing.T) {
	pow, exp := math.Pow, math.Exp
	for _, test := range []struct {
		name  string
		n     int
		gap   func(k float64) float64
		bends bool
		says  string
	}{
		{"linear", 40, func(k float64) float64 { return pow(0.6, k) }, false, "by a factor of 0.6 per iteration"},
		{"linear with noise", 60, func(k float64) float64 { return pow(0.7, k) * (1 + 0.3*math.Sin(7*k)) }, false, "by a factor of 0.7"},
		{"in steps", 60, func(k float64) float64 { return pow(0.1, math.Floor(k/5)) }, false, "by a factor of 0.6"},
		{"slower than linear", 200, func(k float64) float64 { return 1 / (1 + k*k) }, false, "by a factor of"},
		{"quadratic", 6, func(k float64) float64 { return pow(0.5, pow(2, k)) }, true, "faster than linearly"},
		{"quadratic from far away", 7, func(k float64) float64 { return pow(0.9, pow(2, k)) }, true, "faster than linearly"},
		{"a cube in the exponent", 20, func(k float64) float64 { return exp(-k * k * k / 400) }, true, "faster than linearly"},
		{"a square in the exponent", 30, func(k float64) float64 { return exp(-k * k / 50) }, false, "by a factor of"}, // of which the second half is nearly straight
		{"slow, then fast, as interior points", 30, func(k float64) float64 { return min(2000*pow(0.8, k), 6*pow(0.1, k-22)) }, true, "by a factor of 0.8 per iteration at first, 0.1 at the end"},
		{"a hundred steps, then faster ones", 200, func(k float64) float64 { return min(pow(0.98, k), pow(0.98, 150)*pow(0.9, k-150)) }, false, "by a factor of"}, // as SMO, once the support vectors are known
		{"fast, then slow", 40, func(k float64) float64 { return max(pow(0.3, k), pow(0.3, 24)*pow(0.9, k-24)) }, false, "by a factor of"},
	} {
		var p []solvers.Point
		for k := range test.n {
			p = append(p, solvers.Point{Iteration: k, Gap: test.gap(float64(k))})
		}
		f := FitRate(p)
		if f.Bends != test.bends {
			t.Errorf("%s: %+v", test.name, f)
		}
		c, err := Rate(RateData{Points: p})
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		if !strings.Contains(c.Title.Title, test.says) || strings.Contains(c.Title.Title, "tenfold") == test.bends {
			t.Errorf("%s: %s", test.name, c.Title.Title)
		}
	}
}

// A factor has two digits, or as many as its distance from 1 needs.
func TestFactor(t *testing.T) {
	for f, want := range map[float64]string{0.8487: "0.85", 0.98712: "0.987", 0.99987654: "0.99988", 1.0512: "1.051", 0.0123: "0.012", 1.23e-5: "1.2e-5", 1: "1"} {
		if got := factor(f); got != want {
			t.Errorf("%v is %q, want %q", f, got, want)
		}
	}
}
