package figure

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// landscape is a hill over n × m nodes.
func landscape(n, m int) SearchData {
	d := SearchData{Problem: "made up", Metric: "accuracy", Names: [2]string{"C", "gamma"}, Percent: true, Chosen: [2]int{n / 2, m / 2}, ChosenValues: "C = 1, gamma = 2"}
	for j := range n {
		d.Xs = append(d.Xs, math.Exp2(float64(2*j-5)))
	}
	for i := range m {
		d.Ys = append(d.Ys, math.Exp2(float64(2*i-15)))
		d.Z, d.SE = append(d.Z, nil), append(d.SE, nil)
		for j := range n {
			x, y := float64(j-n/2), float64(i-m/2)
			d.Z[i], d.SE[i] = append(d.Z[i], 0.98*math.Exp(-(x*x+y*y)/float64(n*m))), append(d.SE[i], 0.01)
		}
	}
	return d
}

func ridgeline(n int) CurveData {
	d := CurveData{Problem: "made up", Metric: "RMSE", Name: "lambda", Log: true, Chosen: n / 2}
	for k := range n {
		d.Xs, d.Mean, d.SE = append(d.Xs, math.Exp2(float64(k))), append(d.Mean, 1+math.Pow(float64(k-n/2), 2)/10), append(d.SE, 0.1)
	}
	return d
}

func lines(n, places int) PathData {
	d := PathData{Problem: "made up", Classes: [2]string{"ill", "well"}, Breaks: 77}
	for k := range places {
		d.C = append(d.C, math.Exp2(float64(k)/10-3))
	}
	for i := range n {
		d.Y, d.A = append(d.Y, float64(2*(i%2)-1)), append(d.A, nil)
		for k := range places {
			d.A[i] = append(d.A[i], min(1, max(0, 1-float64(k*(i+1))/float64(3*places))))
		}
	}
	return d
}

// searches are the figures of searches and paths.
func searches(t *testing.T) []*Chart {
	t.Helper()
	ok := must[*Chart](t)
	return []*Chart{ok(Search(landscape(11, 10))), ok(Search(landscape(3, 2))), ok(Curve(ridgeline(9))), ok(Path(lines(40, 100))), ok(Settings(sprinkled(40)))}
}

// sprinkled are n settings whose score is best at C = 10, gamma = 0.1.
func sprinkled(n int) SettingsData {
	d := SettingsData{Problem: "made up", Metric: "accuracy", Names: [2]string{"C", "gamma"}, Percent: true, Log: [2]bool{true, true}, ChosenValues: "C = 9, gamma = 0.1"}
	for i := range n {
		a, b := math.Mod(0.618*float64(i), 1), math.Mod(0.755*float64(i), 1)
		z := 0.98 - 0.3*math.Hypot(a-0.5, b-0.5)
		d.X, d.Y = append(d.X, math.Pow(10, -1+4*a)), append(d.Y, math.Pow(10, -3+4*b))
		if d.Z, d.SE = append(d.Z, z), append(d.SE, 0.01); z > d.Z[d.Chosen] {
			d.Chosen = i
		}
	}
	return d
}

func TestSearchPictures(t *testing.T) {
	pictures(t, "search", searches(t), []tip{
		{0, 0, 60, "accuracy 98 % ± 1"}, {0, 0, 0, "C = 0.03125, gamma = "}, {2, 1, 3, "RMSE 1.1"}, {2, 1, 3, "lambda = 8"}, {3, 0, 1, "αᵢ/C = "}, {4, 0, 0, "setting 1: C = 0.1"},
	})
}

func TestSearchFigures(t *testing.T) {
	nan := math.NaN()
	for _, test := range []struct {
		name   string
		draw   func() (*Chart, error)
		budget int
		words  string
	}{
		{"search", func() (*Chart, error) { return Search(landscape(11, 10)) }, 14_000, "Accuracy: best and chosen 98 % at C = 1, gamma = 2"},
		{"settings", func() (*Chart, error) { return Settings(sprinkled(40)) }, 12_000, "Accuracy: best"},
		{"settings, one of many with a score", func() (*Chart, error) {
			return Settings(SettingsData{Metric: "RMSE", Lower: true, X: []float64{1, 1}, Y: []float64{0, 2}, Z: []float64{nan, 3}, SE: []float64{nan, nan}, Chosen: 1, ChosenValues: "C = 1"})
		}, 12_000, "RMSE: best 3 of 2 settings; chosen 3 at C = 1"},
		{"search, 60 × 60", func() (*Chart, error) { return Search(landscape(60, 60)) }, 160_000, "best and chosen 98 %"},
		{"search, errors and gaps", func() (*Chart, error) {
			return Search(SearchData{Metric: "RMSE", Names: [2]string{"C", "epsilon"}, Lower: true, Xs: []float64{1, 2}, Ys: []float64{0}, Z: [][]float64{{nan, 2}}, SE: [][]float64{{nan, nan}}, Chosen: [2]int{1, 0}, ChosenValues: "C = 2, epsilon = 0"})
		}, 10_000, "RMSE: best and chosen 2 at C = 2"},
		{"curve", func() (*Chart, error) { return Curve(ridgeline(9)) }, 10_000, "RMSE 1 at lambda = 16, standard error 0.1"},
		{"curve, one place", func() (*Chart, error) {
			return Curve(CurveData{Metric: "accuracy", Name: "C", Percent: true, Xs: []float64{1}, Mean: []float64{1}, SE: []float64{nan}})
		}, 10_000, "Accuracy 100 % at C = 1"},
		{"path", func() (*Chart, error) { return Path(lines(40, 100)) }, 120_000, "Of 40 points, 40 are support vectors at C = 0.125 and 3 at C = "},
		{"path, many points", func() (*Chart, error) { return Path(lines(3000, 160)) }, 250_000, "the 40 points that change most"},
	} {
		c, err := test.draw()
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if n := size(t, c); n > test.budget {
			t.Errorf("%s: %d bytes, budget %d", test.name, n, test.budget)
		}
		if said := c.Title.Title + " · " + c.Title.Subtitle; !strings.Contains(said, test.words) || !strings.Contains(c.Alt, c.Title.Title) {
			t.Errorf("%s: %q, want %q in it, and in %q", test.name, said, test.words, c.Alt)
		}
	}
}

func TestWrongSearchInput(t *testing.T) {
	nan := math.NaN()
	settings := func(change func(*SettingsData)) error {
		d := sprinkled(9)
		change(&d)
		_, err := Settings(d)
		return err
	}
	search := func(change func(*SearchData)) error {
		d := landscape(3, 2)
		change(&d)
		_, err := Search(d)
		return err
	}
	curve := func(change func(*CurveData)) error {
		d := ridgeline(5)
		change(&d)
		_, err := Curve(d)
		return err
	}
	path := func(change func(*PathData)) error {
		d := lines(3, 5)
		change(&d)
		_, err := Path(d)
		return err
	}
	for _, test := range []struct {
		err           error
		figure, field string
	}{
		{settings(func(d *SettingsData) { d.Y = d.Y[:2] }), "Settings", "Y"},
		{settings(func(d *SettingsData) { d.X[3] = -1 }), "Settings", "X"},
		{settings(func(d *SettingsData) { d.SE[1] = -1 }), "Settings", "SE[1]"},
		{settings(func(d *SettingsData) { d.Chosen = 99 }), "Settings", "Chosen"},
		{settings(func(d *SettingsData) { d.Z = slices.Repeat([]float64{nan}, len(d.Z)) }), "Settings", "Z"},
		{search(func(d *SearchData) { d.Xs = nil }), "Search", "Xs"},
		{search(func(d *SearchData) { d.Ys = make([]float64, 61) }), "Search", "Xs"},
		{search(func(d *SearchData) { d.Z = d.Z[:1] }), "Search", "Z"},
		{search(func(d *SearchData) { d.Z[1] = nil }), "Search", "Z[1]"},
		{search(func(d *SearchData) { d.SE[0][2] = -1 }), "Search", "SE[0][2]"},
		{search(func(d *SearchData) { d.Chosen[0] = 3 }), "Search", "Chosen"},
		{search(func(d *SearchData) { d.Z = [][]float64{{nan, nan, nan}, {nan, nan, nan}} }), "Search", "Z"},
		{curve(func(d *CurveData) { d.Mean = nil }), "Curve", "Mean"},
		{curve(func(d *CurveData) { d.Xs[1] = d.Xs[0] }), "Curve", "Xs[1]"},
		{curve(func(d *CurveData) { d.Xs[0] = 0 }), "Curve", "Xs"},
		{curve(func(d *CurveData) { d.Chosen = 5 }), "Curve", "Chosen"},
		{curve(func(d *CurveData) { d.Mean[2] = nan }), "Curve", "Chosen"},
		{path(func(d *PathData) { d.A = nil }), "Path", "A"},
		{path(func(d *PathData) { d.C = d.C[:1] }), "Path", "C"},
		{path(func(d *PathData) { d.C[0] = 0 }), "Path", "C[0]"},
		{path(func(d *PathData) { d.A[1][2] = nan }), "Path", "A[1][2]"},
	} {
		var e *InputError
		if !errors.As(test.err, &e) || e.Figure != test.figure || e.Field != test.field {
			t.Errorf("error %v, want an *InputError about %s, %s", test.err, test.figure, test.field)
		}
	}
}

// A line of a path keeps the places where it bends, at the breakpoints, and stays on its way
// between them.
func TestBends(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(2, 60).Draw(r, "n")
		x, y := make([]float64, n), make([]float64, n)
		for k := range x {
			x[k], y[k] = float64(k), rapid.SampledFrom([]float64{0, 0.25, 0.5, 1, math.Sin(float64(k)/20) / 2}).Draw(r, "y")
			if k > 0 {
				x[k] = x[k-1] + rapid.Float64Range(0.01, 2).Draw(r, "step")
			}
		}
		keep := bends(x, y)
		if keep[0] != 0 || keep[len(keep)-1] != n-1 {
			t.Fatalf("the line runs from %d to %d of %d", keep[0], keep[len(keep)-1], n)
		}
		for k := 1; k < len(keep); k++ {
			a, b := keep[k-1], keep[k]
			for i := a; i < b; i++ {
				if way := y[a] + (y[b]-y[a])*(x[i]-x[a])/(x[b]-x[a]); math.Abs(way-y[i]) > bendTol*(1+1e-9) {
					t.Fatalf("the line passes %v at a distance of %g", x[i], way-y[i])
				}
			}
		}
	})
	if keep := bends([]float64{0, 1, 2, 3, 4}, []float64{1, 1, 1, 0.5, 0}); !slices.Equal(keep, []int{0, 2, 4}) {
		t.Errorf("the line bends at %v, want 0, 2, 4", keep)
	}
}
