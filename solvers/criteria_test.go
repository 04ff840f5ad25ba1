package solvers

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/svmnb/svmnb/internal/toy"
)

func TestCriteria(t *testing.T) {
	nan := math.NaN()
	// Dual grows by a tenth of a percent per sweep of 10 iterations.
	trace := &Trace{N: 10, Points: []Point{{Iteration: 0, Dual: 998}, {Iteration: 10, Dual: 999}, {Iteration: 15, Dual: 999.9}, {Iteration: 20, Dual: 1000}}}
	last := &trace.Points[3]
	for _, c := range []struct {
		name      string
		criterion Criterion
		pt        *Point
		want      Status
	}{
		{"up and low apart", UpLow{1e-3}, &Point{Up: 1, Low: 0.99}, NotTerminated},
		{"up and low close", UpLow{1e-3}, &Point{Up: 1, Low: 0.9995}, Converged},
		{"up and low at Tol", UpLow{0.5}, &Point{Up: 1, Low: 0.5}, Converged},
		{"up below low", UpLow{0}, &Point{Up: 0, Low: 1}, Converged},
		{"one class", UpLow{1e-3}, &Point{Up: 1, Low: math.Inf(1)}, Converged},
		{"up not known", UpLow{1}, &Point{Up: nan, Low: nan}, NotTerminated},
		{"KKT", KKT{1e-2}, &Point{KKT: 0.011}, NotTerminated},
		{"KKT met", KKT{1e-2}, &Point{KKT: 0.01}, Converged},
		{"KKT not known", KKT{1}, &Point{KKT: nan}, NotTerminated},
		{"gap", Gap{1e-3}, &Point{RelGap: 2e-3, Gap: 1e-9}, NotTerminated},
		{"gap met", Gap{1e-3}, &Point{RelGap: 1e-3, Gap: 1e9}, Converged},
		{"gap not known", Gap{1}, &Point{RelGap: nan}, NotTerminated},
		{"growth above", Growth{9e-4}, last, NotTerminated},
		{"growth below", Growth{1.1e-3}, last, Converged},
		{"growth over less than a sweep", Growth{1}, &Point{Iteration: 9, Dual: 999}, NotTerminated},
		{"growth not known", Growth{1}, &Point{Iteration: 20, Dual: nan}, NotTerminated},
		{"iterations left", Iterations{21}, last, NotTerminated},
		{"iterations", Iterations{20}, last, IterationLimit},
		{"time left", Time{time.Second}, &Point{Elapsed: time.Second - 1}, NotTerminated},
		{"time", Time{time.Second}, &Point{Elapsed: time.Second}, TimeLimit},
		{"any of none", Any(), last, NotTerminated},
		{"any, the second", Any(KKT{-1}, Iterations{20}, Time{0}), last, IterationLimit},
		{"any, none met", Any(KKT{-1}, Iterations{21}), last, NotTerminated},
		{"all of none", All(), last, NotTerminated},
		{"all but one", All(Iterations{20}, KKT{-1}), last, NotTerminated},
		{"all, status of the first", All(KKT{0}, Iterations{20}), last, Converged},
		{"all, status of the first", All(Iterations{20}, KKT{0}), last, IterationLimit},
		{"nested", Any(All(Iterations{21}, KKT{0}), All(Time{0}, Iterations{1})), last, TimeLimit},
	} {
		if got := c.criterion.Met(c.pt, trace); got != c.want {
			t.Errorf("%s: %v says %v, want %v", c.name, c.criterion, got, c.want)
		}
	}
}

func TestCriterionString(t *testing.T) {
	for _, c := range []struct {
		criterion Criterion
		want      string
	}{
		{UpLow{1e-3}, "m − M ≤ 0.001"},
		{KKT{1e-2}, "KKT violation ≤ 0.01"},
		{Gap{1e-6}, "relative gap ≤ 1e-06"},
		{Growth{1e-9}, "dual growth per sweep ≤ 1e-09"},
		{Any(Iterations{7}, All(Time{time.Minute}, KKT{1})), "any(7 iterations, all(1m0s, KKT violation ≤ 1))"},
	} {
		if got := c.criterion.String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if Status(99).String() != "Status(99)" || Selection(99).String() != "Selection(99)" {
		t.Error("a number without a name must show itself")
	}
	if Converged.Early() || !Exhausted.Early() {
		t.Error("only Converged is not early")
	}
}

// TestCriteriaStop runs each criterion and looks at where it stopped.
func TestCriteriaStop(t *testing.T) {
	for _, c := range []struct {
		stop  Criterion
		want  Status
		holds func(r *Result) bool
	}{
		{nil, Converged, func(r *Result) bool { return r.Certificate.MaxKKT < 2e-3 }},
		{UpLow{1e-5}, Converged, func(r *Result) bool { return r.Certificate.MaxKKT < 2e-5 }},
		{KKT{1e-4}, Converged, func(r *Result) bool { return r.Certificate.MaxKKT < 3e-4 }},
		{Gap{1e-7}, Converged, func(r *Result) bool { return r.Certificate.RelGap <= 1e-7 }},
		{Growth{1e-5}, Converged, func(r *Result) bool { return r.Certificate.RelGap < 0.1 }},
		{Iterations{5}, IterationLimit, func(r *Result) bool { return r.Iterations == 5 }},
		{Iterations{0}, IterationLimit, func(r *Result) bool { return r.Iterations == 0 }},
		{Time{0}, TimeLimit, func(r *Result) bool { return r.Iterations == 0 }},
		{Any(Iterations{3}, UpLow{1e-3}), IterationLimit, func(r *Result) bool { return r.Iterations == 3 }},
		{All(Iterations{3}, UpLow{1e-3}), IterationLimit, func(r *Result) bool { return r.Iterations > 3 && r.Certificate.MaxKKT < 2e-3 }},
		{All(), Exhausted, func(r *Result) bool { return r.Certificate.RelGap < 1e-9 }},
		{UpLow{-1}, Exhausted, func(r *Result) bool { return r.Certificate.RelGap < 1e-9 }},
	} {
		for _, m := range methods {
			for _, every := range []int{0, 1, 7, -1} {
				if _, sampled := c.stop.(Growth); sampled && every < 0 {
					continue // it needs the samples
				}
				r, err := Solve(context.Background(), ringProblem(10), m.method, Settings{Stop: c.stop, Every: every})
				if _, growth := c.stop.(Growth); growth && m.jumps && err == nil && r.Status == Exhausted {
					continue // its dual need not grow, and n iterations are no sweep
				}
				if m.jumps && c.want == IterationLimit && errors.Is(err, ErrBelowStart) && r.Certificate.Dual < 0 {
					err = nil // α = 0 is better
				}
				if err != nil || r.Status != c.want || !c.holds(r) {
					t.Errorf("%v, %s, every %d: %v after %d iterations, error %v, %+v", c.stop, m.method.Name(), every, r.Status, r.Iterations, err, r.Certificate)
				}
			}
		}
	}
	r, err := Solve(context.Background(), ringProblem(10), SMO{}, Settings{MaxIterations: 4})
	if err != nil || r.Status != IterationLimit || r.Iterations != 4 {
		t.Errorf("MaxIterations: %v after %d, %v", r.Status, r.Iterations, err)
	}
}

// TestSampling: which iterations are in the trace; the first and the last always.
func TestSampling(t *testing.T) {
	for _, c := range []struct {
		every int
		want  func(i int) bool
	}{
		{-1, func(i int) bool { return i == 0 }},
		{1, func(int) bool { return true }},
		{10, func(i int) bool { return i%10 == 0 }},
		{0, func(i int) bool { return i <= 199 || i == 200 || i < 300 && i%2 == 0 || i >= 300 && i < 303 }},
	} {
		r := solve(t, ringProblem(10), SMO{Selection: WorstPair}, Settings{Stop: Iterations{301}, Every: c.every})
		if r.Iterations != 301 {
			t.Fatalf("only %d iterations: the test needs a longer run", r.Iterations)
		}
		var got []int
		for _, pt := range r.Trace.Points {
			got = append(got, pt.Iteration)
			if !c.want(pt.Iteration) && pt.Iteration != 301 {
				t.Errorf("every %d: iteration %d is sampled", c.every, pt.Iteration)
			}
		}
		if got[0] != 0 || got[len(got)-1] != 301 || c.every > 0 && len(got) != 301/c.every+1+min(1, 301%c.every) || c.every == 0 && len(got) < 250 {
			t.Errorf("every %d: sampled %v", c.every, got)
		}
	}
}

// A criterion that needs a sample is asked again at the end: what cannot improve
// any more between two samples has converged.
func TestConvergedBetweenSamples(t *testing.T) {
	x, y := iris(t, "virginica", "versicolor")
	p := SoftMargin(densely(t, x, 1), y, fill(len(y), 1)).WithFixedBias(0)
	r := solve(t, p, CoordinateDescent{}, Settings{Stop: Gap{1e-9}, Every: -1})
	if r.Status != Converged || r.Certificate.RelGap > 1e-9 || len(r.Trace.Points) != 2 {
		t.Errorf("%v with gap ratio %g, %d points", r.Status, r.Certificate.RelGap, len(r.Trace.Points))
	}
	none := solve(t, p, CoordinateDescent{}, Settings{Stop: Gap{-1}, Every: -1})
	if none.Status != Exhausted || none.Iterations < r.Iterations {
		t.Errorf("what no α meets: %v after %d iterations, %d", none.Status, none.Iterations, r.Iterations)
	}
}

// TestGrowthStopsEarly: as CST warns, a slow run looks finished to the growth of
// the dual.
func TestGrowthStopsEarly(t *testing.T) {
	x, y := heart(t)
	p := SoftMargin(toy.NewGram(x, heartRBF), y, fill(len(y), 100))
	r := solve(t, p, SMO{Selection: WorstPair}, Settings{Stop: Growth{1e-3}})
	if r.Status != Converged || r.Certificate.RelGap < 1e-3 || r.Certificate.MaxKKT < 1e-2 {
		t.Errorf("%v after %d iterations: gap %g, KKT %g", r.Status, r.Iterations, r.Certificate.RelGap, r.Certificate.MaxKKT)
	}
	whole := solve(t, p, SMO{Selection: WorstPair}, Settings{Stop: UpLow{1e-3}})
	if 2*r.Iterations > whole.Iterations {
		t.Errorf("stopped after %d of %d iterations", r.Iterations, whole.Iterations)
	}
}

// TestRoundingEndsTheRun: no tolerance is too small to come to an end.
func TestRoundingEndsTheRun(t *testing.T) {
	for _, m := range methods {
		for _, p := range []*Problem{ringProblem(1e6), blobs(40, 3, toy.Dot, 1e6), contradicting(1e6), classifiers(toy.Rand(1))[2]} {
			r := solve(t, p, m.method, Settings{Stop: UpLow{1e-300}})
			if r.Status != Exhausted && r.Status != Converged || r.Certificate.RelGap > 1e-8 {
				t.Errorf("%s: %v after %d iterations, gap %g", m.method.Name(), r.Status, r.Iterations, r.Certificate.RelGap)
			}
			for k, pt := range r.Trace.Points[1:] {
				if pt.Iteration <= r.Trace.Points[k].Iteration {
					t.Errorf("%s: iteration %d follows %d", m.method.Name(), pt.Iteration, r.Trace.Points[k].Iteration)
				}
			}
		}
	}
}
