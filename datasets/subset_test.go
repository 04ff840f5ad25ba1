package datasets

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestSelectAndColumns(t *testing.T) {
	d := &Dataset{Name: "d", X: [][]float64{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}, Y: []float64{0, 1, 0}, Features: []string{"a", "b", "c"}, Classes: []string{"no", "yes"}}
	s := d.Select([]int{2, 0, 2})
	want := &Dataset{Name: "d", X: [][]float64{{7, 8, 9}, {1, 2, 3}, {7, 8, 9}}, Y: []float64{0, 0, 0}, Features: d.Features, Classes: d.Classes}
	if x := diff(s, want); x != "" {
		t.Error(x)
	}
	s.X[0][0] = 100
	if s.X[2][0] != 7 || d.X[2][0] != 7 {
		t.Error("Select shares memory")
	}

	want = &Dataset{Name: "d", X: [][]float64{{3, 1}, {6, 4}, {9, 7}}, Y: d.Y, Features: []string{"c", "a"}, Classes: d.Classes}
	if x := diff(d.Columns(2, 0), want); x != "" {
		t.Error(x)
	}
	if x := diff(d.ColumnsNamed("c", "a"), want); x != "" {
		t.Error(x)
	}
	if got := Moons(4, 0, 1).ColumnsNamed("x2"); got.D() != 1 || got.Check() != nil {
		t.Errorf("%v", got)
	}

	for _, c := range []struct {
		got  *Dataset
		says string
	}{
		{d.Select([]int{0, 3}), "row 3"},
		{d.Select([]int{-1}), "row -1"},
		{d.Select(nil), "no points"},
		{d.Columns(0, 3), "column 3"},
		{d.Columns(-1), "column -1"},
		{d.Columns(), "no features"},
		{d.ColumnsNamed("d"), "a, b, c"},
	} {
		wantError[*Error](t, c.got.Check(), "d", c.says)
	}
}

// A set that failed stays failed with its first error, whatever is asked of it.
func TestFailurePassesOn(t *testing.T) {
	bad := Moons(200, math.NaN(), 42)
	train, test := bad.Split(0.5, 1)
	scaler, err := FitStandard(Iris())
	if err != nil {
		t.Fatal(err)
	}
	for name, d := range map[string]*Dataset{
		"Select": bad.Select([]int{0}), "Columns": bad.Columns(0), "ColumnsNamed": bad.ColumnsNamed("x1"),
		"Shuffle": bad.Shuffle(1), "train": train, "test": test, "Pair": bad.Pair("a", "b"), "OneVsRest": bad.OneVsRest("a"),
		"Standardised": bad.Standardised(), "Scaled": bad.Scaled(), "Apply": scaler.Apply(bad),
	} {
		if d.N() != 0 || d.Check() != bad.Check() {
			t.Errorf("%s: %d points, %v", name, d.N(), d.Check())
		}
	}
	for name, d := range map[string]*Dataset{"nil": nil, "ragged": {X: [][]float64{{1}, {}}, Y: []float64{1, 2}}} {
		train, test := d.Split(0.5, 1)
		for _, d := range []*Dataset{d.Select(nil), d.Columns(), d.ColumnsNamed(), d.Shuffle(1), train, test, d.Pair("a", "b"), d.OneVsRest("a"), d.Scaled(), scaler.Apply(d)} {
			if d.Check() == nil {
				t.Errorf("%s passes", name)
			}
		}
	}
}

func sortedRows(ds ...*Dataset) [][]float64 {
	var all [][]float64
	for _, d := range ds {
		for i, row := range d.X {
			all = append(all, append(slices.Clone(row), d.Y[i]))
		}
	}
	slices.SortFunc(all, func(a, b []float64) int { return slices.Compare(a, b) })
	return all
}

func equalRows(a, b [][]float64) bool {
	return slices.EqualFunc(a, b, func(x, y []float64) bool { return slices.Equal(x, y) })
}

func TestShuffle(t *testing.T) {
	iris := Iris()
	a, b := iris.Shuffle(1), iris.Shuffle(2)
	if diff(a, iris.Shuffle(1)) != "" {
		t.Error("the same seed gives another order")
	}
	if diff(a, b) == "" || diff(a, iris) == "" {
		t.Error("another seed gives the same order")
	}
	if !equalRows(sortedRows(a), sortedRows(iris)) {
		t.Error("Shuffle changes the rows")
	}
}

func TestSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := classified(t)
		fraction := rapid.Float64Range(0.01, 0.99).Draw(t, "fraction")
		seed := rapid.Uint64().Draw(t, "seed")
		train, test := d.Split(fraction, seed)
		share := float64(d.N()) * fraction
		if err := train.Check(); err != nil {
			if test.Check() == nil {
				t.Fatal("only the training set failed")
			}
			if share > 1 && share < float64(d.N()-1) {
				t.Fatal(err)
			}
			return
		}
		if got := float64(train.N()); math.Abs(got-share) > 0.5+1e-9 {
			t.Fatalf("%v training rows of %v", got, share)
		}
		if !equalRows(sortedRows(train, test), sortedRows(d)) {
			t.Fatal("rows are lost or doubled")
		}
		in := map[string]int{}
		for _, c := range train.Counts() {
			in[c.Class] = c.N
		}
		for _, c := range d.Counts() {
			if got, want := float64(in[c.Class]), float64(c.N)*fraction; math.Abs(got-want) > 1+1e-9 {
				t.Fatalf("class %s: %v training rows of %v", c.Class, got, want)
			}
		}
		again, _ := d.Split(fraction, seed)
		if x := diff(train, again); x != "" {
			t.Fatal(x)
		}
	})
}

func TestSplitDealsAtRandom(t *testing.T) {
	// Over many seeds each row must be a training row about as often.
	d, often := Moons(20, 0.1, 1), make([]int, 20)
	const draws = 2000
	for seed := range uint64(draws) {
		train, _ := d.Split(0.5, seed)
		for _, x := range train.X {
			often[slices.IndexFunc(d.X, func(row []float64) bool { return slices.Equal(row, x) })]++
		}
	}
	for i, k := range often {
		if math.Abs(float64(k)-draws/2) > 5*math.Sqrt(draws)/2 {
			t.Errorf("row %d was drawn %d times of %d", i, k, draws)
		}
	}
}

func TestSplitOfRealTargetsCoversTheirRange(t *testing.T) {
	train, test := New(rows(1000, 1), seq(1000)).Split(0.8, 7)
	if train.N() != 800 || test.N() != 200 || train.Name != "data (train)" || test.Name != "data (test)" {
		t.Fatalf("%v, %v", train, test)
	}
	y := slices.Clone(test.Y)
	slices.Sort(y)
	for i, v := range y {
		if v < 5*float64(i) || v >= 5*float64(i+1) {
			t.Fatalf("test target %d is %v", i, v)
		}
	}
	if slices.IsSortedFunc(train.Y, cmp.Compare[float64]) {
		t.Error("the training rows are sorted")
	}
}

func TestSplitErrors(t *testing.T) {
	for _, fraction := range []float64{0, 1, -0.5, 2, math.NaN(), math.Inf(1), 0.001, 0.999} {
		train, test := Moons(10, 0, 1).Split(fraction, 1)
		wantError[*Error](t, train.Check(), "Split", "fraction")
		wantError[*Error](t, test.Check(), "Split", "fraction")
	}
}
