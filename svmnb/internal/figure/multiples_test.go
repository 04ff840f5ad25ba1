package figure

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

// manyFields is the moons, learnt with nine settings.
func manyFields(t testing.TB, n int) MultiplesData {
	m := moons(t, n, 1, 1).margins()
	d := MultiplesData{Problem: "moons · RBF", Measure: "training errors", Features: m.Features, Classes: m.Classes, X: m.X, Y: m.Y, Xs: m.Xs, Ys: m.Ys}
	for r, c := range []float64{1, 10, 100} {
		d.Rows = append(d.Rows, fmt.Sprintf("C = %v", c))
		var row []Panel
		for k, gamma := range []float64{0.25, 1, 4} {
			if r == 0 {
				d.Columns = append(d.Columns, fmt.Sprintf("gamma = %v", gamma))
			}
			z := make([][]float64, len(m.Z))
			for i := range z {
				for j := range m.Z[i] {
					z[i] = append(z[i], m.Z[i][j]*(0.5+float64(r))+0.3*float64(k-1))
				}
			}
			row = append(row, Panel{Note: fmt.Sprintf("%d errors, %d vectors", r+3*k, 17), Value: float64(r + 3*k), Z: z})
		}
		d.Panels = append(d.Panels, row)
	}
	return d
}

// manyCurves is two settings of a regression, of which one has no answer.
func manyCurves() MultiplesData {
	d := MultiplesData{Problem: "sinc · RBF", Note: "ε = 0.1", Measure: "RMSE", Features: [2]string{"x", "sinc(x)"}, Rows: []string{""}, Columns: []string{"gamma = 1", "gamma = 2", "gamma = 4"}}
	for k := range 40 {
		x := float64(k)/4 - 5
		d.X, d.Y = append(d.X, []float64{x}), append(d.Y, math.Sin(x)/(x+1e-9))
	}
	var f, lower, upper []float64
	for k := range 200 {
		x := float64(k)/18 - 5.5
		d.Places, f = append(d.Places, x), append(f, math.Sin(1.1*x)/(x+1e-9))
		lower, upper = append(lower, f[k]-0.1), append(upper, f[k]+0.1)
	}
	d.Panels = [][]Panel{{{Note: "RMSE 0.1", Value: 0.1, F: f, Lower: lower, Upper: upper}, {Note: "no answer", Value: math.NaN()}, {Note: "RMSE 0.3", Value: 0.3, F: f}}}
	return d
}

// multiples are small ones, as examples.
func multiples(t *testing.T) []*Chart {
	t.Helper()
	ok := must[*Chart](t)
	return []*Chart{ok(Multiples(manyFields(t, 150))), ok(Multiples(manyCurves()))}
}

func TestMultiplesPictures(t *testing.T) {
	pictures(t, "multiples", multiples(t), []tip{{0, 3, 2, "point "}, {1, 2, 7, "point 7 · targets"}})
}

func TestMultiples(t *testing.T) {
	one := manyCurves()
	one.Columns, one.Panels = one.Columns[:1], [][]Panel{one.Panels[0][:1]}
	same := manyCurves()
	same.Panels[0][2].Value = 0.1
	none := manyCurves()
	for c := range none.Panels[0] {
		none.Panels[0][c] = Panel{Note: "no answer", Value: math.NaN()}
	}
	drawAll(t, []drawing{
		{"fields", func() (*Chart, error) { return Multiples(manyFields(t, 150)) }, 160_000, "150 points under 9 settings: training errors from 0 to 8"},
		{"fields, 2000 points", func() (*Chart, error) { return Multiples(manyFields(t, 2000)) }, 200_000, "1\u202f200 of the points drawn"},
		{"curves", func() (*Chart, error) { return Multiples(manyCurves()) }, 30_000, "40 points under 3 settings: RMSE from 0.1 to 0.3"},
		{"one", func() (*Chart, error) { return Multiples(one) }, 20_000, "40 points under 1 setting: RMSE 0.1"},
		{"equal", func() (*Chart, error) { return Multiples(same) }, 30_000, "settings: RMSE 0.1"},
		{"no answers", func() (*Chart, error) { return Multiples(none) }, 20_000, "40 points under 3 settings"},
	})
	if c := must[*Chart](t)(Multiples(manyCurves())); !strings.Contains(c.Alt, "gamma = 2: no answer") {
		t.Errorf("the alternative text is %s", c.Alt)
	}
}

func TestMultiplesRefuse(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for field, change := range map[string]func(f, c *MultiplesData){
		"X":                     func(f, _ *MultiplesData) { f.X = nil },
		"X[3]":                  func(f, _ *MultiplesData) { f.X[3] = []float64{1} },
		"X[2]":                  func(_, c *MultiplesData) { c.X[2] = []float64{1, 2} },
		"X[3][1]":               func(f, _ *MultiplesData) { f.X[3] = []float64{1, nan} },
		"Y":                     func(f, _ *MultiplesData) { f.Y = f.Y[1:] },
		"Y[4]":                  func(_, c *MultiplesData) { c.Y[4] = inf },
		"Places":                func(_, c *MultiplesData) { c.Places = c.Places[:1] },
		"Rows":                  func(f, _ *MultiplesData) { f.Rows = nil },
		"Columns":               func(f, _ *MultiplesData) { f.Columns = f.Columns[:2] },
		"Panels[0]":             func(f, _ *MultiplesData) { f.Panels[0], f.Panels[1] = f.Panels[0][:2], append(f.Panels[1], Panel{}) },
		"Panels[1][2].Z[0][1]":  func(f, _ *MultiplesData) { f.Panels[1][2].Z[0][1] = nan },
		"Panels[0][0].F":        func(_, c *MultiplesData) { c.Panels[0][0].F = c.Panels[0][0].F[1:] },
		"Panels[0][0].Upper[1]": func(_, c *MultiplesData) { c.Panels[0][0].Upper[1] = nan },
		"Panels[0][1]":          func(_, c *MultiplesData) { c.Panels[0][1].Z = [][]float64{{1, 1}, {1, 1}} },
		"Panels[0][2]":          func(_, c *MultiplesData) { c.Panels[0][2].Lower = c.Places },
		"Panels[2][1].Xs": func(f, _ *MultiplesData) {
			f.Xs = [2]float64{1, 1}
			f.Panels[0], f.Panels[1], f.Panels[2][0].Z = []Panel{{}, {}, {}}, []Panel{{}, {}, {}}, nil
		},
	} {
		f, c := manyFields(t, 40), manyCurves()
		change(&f, &c)
		_, first := Multiples(f)
		_, second := Multiples(c)
		var e *InputError
		if err := errors.Join(first, second); !errors.As(err, &e) || e.Figure != "Multiples" || e.Field != field {
			t.Errorf("error %v, want an *InputError about %s", err, field)
		}
	}
}
