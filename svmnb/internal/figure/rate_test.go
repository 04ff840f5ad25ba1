package figure

import (
	"errors"
	"math"
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
	factor, start, from := FitRate(p)
	if math.Abs(factor-0.97) > 1e-9 || math.Abs(start-3) > 1e-6 || from < 190 {
		t.Errorf("factor %g from %g at %d", factor, start, from)
	}
	for _, few := range [][]solvers.Point{nil, {{Gap: 1}}, {{Gap: 1}, {Iteration: 1, Gap: 2}, {Iteration: 2, Gap: math.NaN()}}} {
		if f, _, _ := FitRate(few); !math.IsNaN(f) {
			t.Errorf("%d points have a rate of %g", len(few), f)
		}
		var e *InputError
		if _, err := Rate(RateData{Points: few}); !errors.As(err, &e) {
			t.Errorf("%v", err)
		}
	}
}
