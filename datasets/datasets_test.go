package datasets

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// plain compares data sets by what they hold.
var plain = cmp.Comparer(func(a, b error) bool { return (a == nil) == (b == nil) && (a == nil || a.Error() == b.Error()) })

func diff(a, b *Dataset) string {
	return cmp.Diff(*a, *b, cmp.AllowUnexported(Dataset{}), plain)
}

// wantError checks that err is an E whose message has every part.
func wantError[E error](t *testing.T, err error, parts ...string) E {
	t.Helper()
	var typed E
	if !errors.As(err, &typed) {
		t.Fatalf("error is %T (%v), want %T", err, err, typed)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
	return typed
}

// classified draws a data set of n ≥ 1 points and named classes.
func classified(t *rapid.T) *Dataset {
	n, d, k := rapid.IntRange(1, 40).Draw(t, "n"), rapid.IntRange(1, 5).Draw(t, "d"), rapid.IntRange(1, 4).Draw(t, "k")
	ds := &Dataset{Name: "drawn", X: rows(n, d), Y: make([]float64, n)}
	for i, row := range ds.X {
		for j := range row {
			row[j] = rapid.OneOf(rapid.Float64Range(-1e6, 1e6), rapid.Just(0.0)).Draw(t, "x")
		}
		ds.Y[i] = float64(rapid.IntRange(0, k-1).Draw(t, "y"))
	}
	ds.Classes = []string{"ash", "birch, white", "cedar", `"dogwood"`}[:k]
	return ds
}

func TestCheck(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	one := [][]float64{{1, 2}, {3, 4}}
	for _, c := range []struct {
		name        string
		d           *Dataset
		row, column int
		says        []string
	}{
		{"nil", nil, -1, -1, []string{"nil"}},
		{"zero value", &Dataset{}, -1, -1, []string{"data", "no points"}},
		{"empty", New(nil, nil), -1, -1, []string{"no points"}},
		{"no features", New([][]float64{{}, {}}, []float64{1, -1}), -1, -1, []string{"no features"}},
		{"ragged short", New([][]float64{{1, 2}, {3}}, []float64{1, -1}), 1, -1, []string{"row 1", "1 value,", "row 0 has 2"}},
		{"ragged long", New([][]float64{{1, 2}, {3, 4}, {5, 6, 7}}, []float64{1, -1, 1}), 2, -1, []string{"row 2", "3 values"}},
		{"Y short", New(one, []float64{1}), -1, -1, []string{"2 rows", "1 target;"}},
		{"Y long", New(one, []float64{1, 2, 3}), -1, -1, []string{"2 rows", "3 targets"}},
		{"NaN", New([][]float64{{1, 2}, {3, nan}}, []float64{1, -1}), 1, 1, []string{"row 1", "column 1 (x2)", "NaN", "count from 0"}},
		{"Inf named", &Dataset{Name: "mine", X: [][]float64{{inf, 2}}, Y: []float64{1}, Features: []string{"length", "width"}}, 0, 0, []string{"mine", "column 0 (length)", "+Inf"}},
		{"−Inf", New([][]float64{{1, -inf}}, []float64{1}), 0, 1, []string{"-Inf"}},
		{"target NaN", New(one, []float64{1, nan}), 1, -1, []string{"row 1", "target is NaN"}},
		{"target Inf", New(one, []float64{inf, 1}), 0, -1, []string{"row 0", "target is +Inf"}},
		{"names", &Dataset{X: one, Y: []float64{1, 2}, Features: []string{"a"}}, -1, -1, []string{"1 name ", "2 columns"}},
		{"class number", &Dataset{X: one, Y: []float64{0, 3}, Classes: []string{"a", "b", "c"}}, 1, -1, []string{"row 1", "target 3", "0 … 2"}},
		{"class fraction", &Dataset{X: one, Y: []float64{0.5, 1}, Classes: []string{"a", "b"}}, 0, -1, []string{"0.5"}},
		{"−1 of three", &Dataset{X: one, Y: []float64{-1, 1}, Classes: []string{"a", "b", "c"}}, 0, -1, []string{"-1"}},
		{"0 and −1", &Dataset{X: one, Y: []float64{0, -1}, Classes: []string{"a", "b"}}, 1, -1, []string{"0 and -1", "class a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := wantError[*Error](t, c.d.Check(), c.says...)
			if e.Row != c.row || e.Column != c.column {
				t.Errorf("place is row %d, column %d, want %d, %d", e.Row, e.Column, c.row, c.column)
			}
			if c.d != nil {
				_ = c.d.String() // must not panic either
			}
		})
	}
	for name, d := range map[string]*Dataset{
		"numbers":  New(one, []float64{2.5, -7}),
		"signed":   {X: one, Y: []float64{-1, 1}, Classes: []string{"a", "b"}},
		"numbered": {X: one, Y: []float64{0, 2}, Classes: []string{"a", "b", "c"}},
	} {
		if err := d.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNewCopies(t *testing.T) {
	x, y := [][]float64{{1, 2}, {3, 4}}, []float64{1, -1}
	d := New(x, y)
	x[1][0], y[0] = 99, 99
	if d.X[1][0] != 3 || d.Y[0] != 1 {
		t.Errorf("New shares memory: %v %v", d.X, d.Y)
	}
}

func TestRowsShareOneArrayAndDoNotOverlap(t *testing.T) {
	d := New([][]float64{{1, 2}, {3, 4}}, []float64{1, -1})
	if cap(d.X[0]) != 2 {
		t.Errorf("a row has capacity %d, want 2: append would write into the next", cap(d.X[0]))
	}
	allocs := testing.AllocsPerRun(20, func() { rows(100, 3) })
	if allocs > 2 {
		t.Errorf("rows makes %v allocations, want 2", allocs)
	}
}

func TestString(t *testing.T) {
	many := New(rows(30, 1), func() []float64 { y := make([]float64, 30); y[3], y[7] = -134, 75; return append(y[:10], seq(20)...) }())
	for _, c := range []struct{ got, want string }{
		{Iris().String(), "iris: 150 × 4, 3 classes (setosa 50, versicolor 50, virginica 50)"},
		{Moons(5, 0, 1).String(), "moons: 5 × 2, 2 classes (-1 2, +1 3)"},
		{New([][]float64{{1}}, []float64{7}).String(), "data: 1 × 1, 1 class (7 1)"},
		{many.String(), "data: 30 × 1, targets -134 … 75"},
		{New(nil, nil).String(), "data: 0 × 0"},
		{Moons(1, 0, 1).String(), "datasets: moons: n is 1; there must be 2 … 10000000 points"},
	} {
		if c.got != c.want {
			t.Errorf("got  %s\nwant %s", c.got, c.want)
		}
	}
}

func seq(n int) []float64 {
	s := make([]float64, n)
	for i := range s {
		s[i] = float64(i)
	}
	return s
}

func TestWarnings(t *testing.T) {
	x := [][]float64{{1, 5, 0}, {2, 5, 0}, {1, 5, 0}, {2, 5, 0}, {1, 5, 0}}
	got := New(x, []float64{1, -1, -1, -1, 1}).Warnings()
	if len(got) != 2 || !strings.Contains(got[0], "x2, x3") || !strings.Contains(got[1], "rows 0 and 2") {
		t.Errorf("warnings are %q", got)
	}
	got = New([][]float64{{1, 5}, {2, 5}, {1, 5}}, []float64{1, 1, -1}).Warnings()
	if len(got) != 2 || got[0] != "1 feature has the same value in every row: x2" || got[1] != "1 pair of points is equal but has different targets, the first: rows 0 and 2" {
		t.Errorf("warnings are %q", got)
	}
	// Real values of one time differ: repeated measurements, not a mistake.
	if got := Motorcycle().Warnings(); got != nil {
		t.Errorf("motorcycle has warnings %q", got)
	}
	if got := Iris().Warnings(); got != nil {
		t.Errorf("iris has warnings %q", got)
	}
	if got := Moons(1, 0, 0).Warnings(); got != nil {
		t.Errorf("a failed set has warnings %q", got)
	}
}

func TestBinary(t *testing.T) {
	x := [][]float64{{1}, {2}, {3}}
	for _, c := range []struct {
		name               string
		d                  *Dataset
		y                  []float64
		negative, positive string
	}{
		{"numbers", New(x, []float64{5, 2, 5}), []float64{1, -1, 1}, "2", "5"},
		{"svmguide's", New(x, []float64{0, 1, 0}), []float64{-1, 1, -1}, "0", "1"},
		{"signs", New(x, []float64{-1, 1, 1}), []float64{-1, 1, 1}, "-1", "1"},
		{"numbered classes", &Dataset{X: x, Y: []float64{0, 2, 2}, Classes: []string{"a", "b", "c"}}, []float64{-1, 1, 1}, "a", "c"},
		{"signed classes", &Dataset{X: x, Y: []float64{1, -1, 1}, Classes: []string{"a", "b"}}, []float64{1, -1, 1}, "a", "b"},
	} {
		y, negative, positive, err := c.d.Binary()
		if err != nil || !slices.Equal(y, c.y) || negative != c.negative || positive != c.positive {
			t.Errorf("%s: %v, %q, %q, %v", c.name, y, negative, positive, err)
		}
	}

	_, _, _, err := New(x, []float64{3, 3, 3}).Binary()
	wantError[*ClassError](t, err, "all points are of class 3", "two classes")
	_, _, _, err = Iris().Binary()
	e := wantError[*ClassError](t, err, "iris", "3 classes", `Pair("virginica", "versicolor")`, `OneVsRest("virginica")`)
	if !slices.Equal(e.Classes, []string{"setosa", "versicolor", "virginica"}) {
		t.Errorf("classes are %v", e.Classes)
	}
	_, _, _, err = New(rows(13, 1), seq(13)).Binary()
	wantError[*ClassError](t, err, "13 different targets (0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 3 more)", "regression")
	_, _, _, err = New(nil, nil).Binary()
	wantError[*Error](t, err, "no points")
	_, _, _, err = Moons(10, -1, 0).Binary()
	wantError[*Error](t, err, "noise is -1")
}

func TestPairAndRest(t *testing.T) {
	iris := Iris()
	pair := iris.Pair("virginica", "versicolor")
	if pair.N() != 100 || pair.Name != "iris virginica/versicolor" || pair.Check() != nil {
		t.Fatalf("%v, %v", pair, pair.Check())
	}
	for i, y := range pair.Y {
		if want := iris.Y[i+50] == 2; (y == 1) != want || math.Abs(y) != 1 || !slices.Equal(pair.X[i], iris.X[i+50]) {
			t.Fatalf("row %d: y = %v, x = %v", i, y, pair.X[i])
		}
	}
	_, negative, positive, err := pair.Binary()
	if negative != "versicolor" || positive != "virginica" || err != nil {
		t.Errorf("%q, %q, %v", negative, positive, err)
	}
	if d := diff(pair.Pair("virginica", "versicolor").Pair("versicolor", "virginica"), pair); !strings.Contains(d, "Y") {
		t.Error("turning the pair round must turn the signs")
	}

	rest := iris.OneVsRest("setosa")
	if c := rest.Counts(); rest.N() != 150 || len(c) != 2 || c[1] != (Count{"setosa", 1, 50}) || c[0] != (Count{"rest", -1, 100}) {
		t.Errorf("%v", c)
	}
	numbers := New([][]float64{{1}, {2}, {3}}, []float64{-1, 1, 2}).Pair("+1", "-1")
	if !slices.Equal(numbers.Y, []float64{-1, 1}) {
		t.Errorf("%v, %v", numbers.Y, numbers.Check())
	}

	wantError[*ClassError](t, iris.Pair("virginica", "Rose").Check(), `"Rose"`, "setosa, versicolor, virginica")
	wantError[*ClassError](t, iris.Pair("rose", "setosa").Check(), `"rose"`)
	wantError[*ClassError](t, iris.Pair("setosa", "setosa").Check(), "setosa twice")
	wantError[*ClassError](t, iris.OneVsRest("").Check(), `""`)
	wantError[*ClassError](t, iris.Pair("setosa", "virginica").OneVsRest("versicolor").Check(), "versicolor", "setosa")
}

// A number that is not finite is found wherever it is among many, which cores share.
func TestCheckOfMany(t *testing.T) {
	const n, d = 9000, 30
	for _, at := range []int{0, n/2 - 1, n / 2, n - 1} {
		x, y := make([][]float64, n), make([]float64, n)
		for i := range x {
			x[i] = make([]float64, d)
		}
		if err := New(x, y).Check(); err != nil {
			t.Fatal(err)
		}
		x[at][d-1] = math.Inf(-1)
		err := New(x, y).Check()
		if e, ok := err.(*Error); !ok || e.Row != at {
			t.Errorf("%v, want row %d", err, at)
		}
	}
}
