package bayesopt

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/svmnb/selection"
)

// wavy has its largest value, 1.2, at 2.
func wavy(x []float64) float64 {
	return 1.2*math.Exp(-(x[0]-2)*(x[0]-2)) + math.Exp(-(x[0]+1)*(x[0]+1)*2)
}

// The maximum of a function of one parameter, and the minimum of one of two on logarithmic axes, are
// found to many digits by few evaluations, and the figure shows the next point.
func TestMaximise(t *testing.T) {
	found, err := Maximise(wavy, selection.Range{Low: -4, High: 5}).Evaluations(16).Seed(1).Fit(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(found.X[0]-2) > 0.02 || found.Value != wavy(found.X) || len(found.Values) != 16 || found.Next == nil {
		t.Errorf("the maximum is %v at %v, after %d evaluations", found.Value, found.X, len(found.Values))
	}
	if text, want := found.Markdown(), fmt.Sprintf("| at | \\[%.6g\\] |", found.X[0]); !strings.Contains(text, want) {
		t.Errorf("the summary is %s, want %s in it", text, want)
	}
	chart, err := Acquisition.Of(found)
	if err != nil || chart == nil {
		t.Fatal(err)
	}
	low, err := Minimise(func(x []float64) float64 {
		a, b := math.Log(x[0]/3), math.Log(x[1]/0.02)
		return a*a + b*b + a*b
	}, selection.Range{Low: 0.1, High: 100, Log: true}, selection.Range{Low: 1e-4, High: 1, Log: true}).Evaluations(25).Fit(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if !(low.Value < 0.01) {
		t.Errorf("the minimum is %v at %v", low.Value, low.X)
	}
	if _, err := Acquisition.Of(low); err == nil {
		t.Error("the figure draws two parameters")
	}
}

// The gradient of the expected improvement leads to a place that no candidate nearby exceeds.
func TestAscend(t *testing.T) {
	ctx := context.Background()
	s := Space{N: 20, Ranges: map[string]selection.Range{"x": {High: 1}, "y": {High: 1}}}
	_, tried, err := s.Settings()
	if err != nil {
		t.Fatal(err)
	}
	var scores []float64
	for _, v := range tried {
		scores = append(scores, math.Sin(6*v[0])*math.Cos(4*v[1]))
	}
	fit, _, err := s.model(ctx, s.names(), tried, scores)
	if err != nil {
		t.Fatal(err)
	}
	top, err := s.top(ctx, fit, s.names(), tried)
	if err != nil {
		t.Fatal(err)
	}
	u, e := s.ascend(ctx, fit, s.names(), []float64{0.5, 0.5}, top)
	before, err := improvements(ctx, fit, [][]float64{{0.5, 0.5}, u}, top)
	if err != nil {
		t.Fatal(err)
	}
	if !(e > before[0]) || math.Abs(e-before[1]) > 1e-9*e {
		t.Errorf("from an improvement of %v to %v, which is %v", before[0], e, before[1])
	}
	const h = 1e-3
	var around [][]float64
	for _, step := range [][2]float64{{h, 0}, {-h, 0}, {0, h}, {0, -h}} {
		around = append(around, []float64{min(1, max(0, u[0]+step[0])), min(1, max(0, u[1]+step[1]))})
	}
	near, err := improvements(ctx, fit, around, top)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Max(near) > e*(1+1e-4) {
		t.Errorf("an improvement of %v at %v, %v beside it", e, u, near)
	}
}

// What is refused, and how a search ends early.
func TestMaximiseEnds(t *testing.T) {
	ctx := context.Background()
	for _, o := range []Optimiser{
		{}, Maximise(nil, selection.Range{High: 1}), Maximise(wavy), Maximise(wavy, selection.Range{Low: 1, High: 0}), Maximise(wavy, selection.Range{High: 1}).Evaluations(0),
		Maximise(func([]float64) float64 { panic("no") }, selection.Range{High: 1}),
	} {
		if found, err := o.Fit(ctx); err == nil || found != nil {
			t.Errorf("%+v: %v, %v", o, found, err)
		}
	}
	ended, stop := context.WithCancel(ctx)
	count := 0
	found, err := Maximise(func(x []float64) float64 {
		if count++; count == 7 {
			stop()
		}
		return wavy(x)
	}, selection.Range{Low: -4, High: 5}).Fit(ended)
	if !errors.Is(err, context.Canceled) || len(found.Values) != 7 || found.Next != nil {
		t.Errorf("an interrupt: %v", err)
	}
	found, err = Maximise(func([]float64) float64 { return math.NaN() }, selection.Range{High: 1}).Evaluations(6).Fit(ctx)
	if err != nil || found.X != nil || len(found.Values) != 6 {
		t.Errorf("only NaN: %v (%v)", found, err)
	}
	found, err = Maximise(func(x []float64) float64 { return x[0] }, selection.Range{Low: 1, High: 4, Whole: true}).Evaluations(50).Fit(ctx)
	if err != nil || len(found.Values) > 10 || found.Value != 4 {
		t.Errorf("four whole numbers: %v (%v)", found, err)
	}
}
