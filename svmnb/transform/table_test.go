package transform

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
	"pgregory.net/rapid"
)

func read(t testing.TB, text string) *datasets.Table {
	t.Helper()
	tab := datasets.TableReader{}.Read(strings.NewReader(text))
	if err := tab.Check(); err != nil {
		t.Fatal(err)
	}
	return tab
}

const people = `age,city,joined,comment,size
30,Bern,2024-01-01,good and quick,small
,Genf,2024-07-01,late again,large
50,Bern,,good,small
40,,2024-01-02,late and late,medium
30,Chur,2024-01-06,,small
`

// fitted returns what a step makes of the table that it is fitted to, and of another one.
func fitted(t testing.TB, step Part, train, other *datasets.Table) (of, ofOther steps.Points, err error) {
	t.Helper()
	ctx := context.Background()
	data := &datasets.Dataset{Name: "people", Table: train, Y: make([]float64, train.N()), Features: train.Names()}
	f, err := Fit(ctx, step, data)
	if err != nil {
		return of, of, err
	}
	through := func(tab *datasets.Table) (steps.Points, error) {
		p, err := steps.Through(ctx, steps.Points{Points: points.Points{Table: tab}}, f)
		if err != nil {
			return p, err
		}
		return p.AsNumbers()
	}
	if of, err = through(train); err != nil {
		return of, of, err
	}
	ofOther, err = through(other)
	return of, ofOther, err
}

// dense writes points out.
func dense(p steps.Points) [][]float64 {
	if p.Sparse == nil {
		return p.X
	}
	out := make([][]float64, p.Sparse.N())
	for i := range out {
		out[i] = p.Sparse.Point(nil, i)
	}
	return out
}

func TestColumnSteps(t *testing.T) {
	train := read(t, people)
	nan := math.NaN()
	for _, c := range []struct {
		step  Part
		on    []string
		names []string
		want  [][]float64
	}{
		{Impute(), []string{"age"}, []string{"age"}, [][]float64{{30}, {37.5}, {50}, {40}, {30}}},
		{ImputeBy(Median), []string{"age"}, []string{"age"}, [][]float64{{30}, {35}, {50}, {40}, {30}}},
		{ImputeBy(MostFrequent).Indicate(), []string{"age"}, []string{"age", "age is missing"}, [][]float64{{30, 0}, {30, 1}, {50, 0}, {40, 0}, {30, 0}}},
		{Imputation{By: Constant, Constant: -1}, []string{"age"}, []string{"age"}, [][]float64{{30}, {-1}, {50}, {40}, {30}}},
		{OneHot(), []string{"city"}, []string{"city = Bern", "city = Chur", "city = Genf", "city is missing"}, [][]float64{{1, 0, 0, 0}, {0, 0, 1, 0}, {1, 0, 0, 0}, {0, 0, 0, 1}, {0, 1, 0, 0}}},
		{OneHot().Rare(0.3), []string{"city"}, []string{"city = Bern", "city = (other)", "city is missing"}, [][]float64{{1, 0, 0}, {0, 1, 0}, {1, 0, 0}, {0, 0, 1}, {0, 1, 0}}},
		{On("city").Do(ImputeBy(MostFrequent), OneHot()), []string{"city"}, []string{"city = Bern", "city = Chur", "city = Genf"}, [][]float64{{1, 0, 0}, {0, 0, 1}, {1, 0, 0}, {1, 0, 0}, {0, 1, 0}}},
		{On("age").Do(OneHot()), []string{"age"}, []string{"age = 30", "age = 40", "age = 50", "age is missing"}, [][]float64{{1, 0, 0, 0}, {0, 0, 0, 1}, {0, 0, 1, 0}, {0, 1, 0, 0}, {1, 0, 0, 0}}},
		{Ordinal(), []string{"size"}, []string{"size"}, [][]float64{{0}, {2}, {0}, {1}, {0}}},
		{Calendar("year", "month", "day", "weekend", "days"), []string{"joined"}, []string{"joined year", "joined month", "joined day", "joined weekend", "joined days"}, [][]float64{{2024, 1, 1, 0, 19723}, {2024, 7, 1, 0, 19905}, {nan, nan, nan, nan, nan}, {2024, 1, 2, 0, 19724}, {2024, 1, 6, 1, 19728}}},
		{Calendar("weekday"), []string{"joined"}, []string{"joined weekday sin", "joined weekday cos"}, [][]float64{{math.Sin(2 * math.Pi / 7), math.Cos(2 * math.Pi / 7)}, {math.Sin(2 * math.Pi / 7), math.Cos(2 * math.Pi / 7)}, {nan, nan}, {math.Sin(4 * math.Pi / 7), math.Cos(4 * math.Pi / 7)}, {math.Sin(12 * math.Pi / 7), math.Cos(12 * math.Pi / 7)}}},
		{CountWords(0), []string{"comment"}, []string{"comment: again", "comment: and", "comment: good", "comment: late", "comment: quick"}, [][]float64{{0, 1, 1, 0, 1}, {1, 0, 0, 1, 0}, {0, 0, 1, 0, 0}, {0, 1, 0, 2, 0}, {0, 0, 0, 0, 0}}},
		{CountWords(2), []string{"comment"}, []string{"comment: and", "comment: good"}, [][]float64{{1, 1}, {0, 0}, {0, 1}, {1, 0}, {0, 0}}},
		{CountWords(0).Grams(2), []string{"comment"}, nil, [][]float64{{0, 1, 0, 1, 1, 1, 0, 0, 0, 1}, nil, nil, {0, 1, 1, 0, 0, 0, 2, 0, 1, 0}, nil}},
		{On("age", "comment").Do(On("age").Do(Impute())), []string{"age"}, nil, nil},
	} {
		tab := train.Only(c.on...)
		if c.on[0] == "size" {
			tab = tab.Order("size", "small", "medium", "large")
		}
		if c.on[0] == "comment" {
			tab = tab.As(datasets.Text, "comment")
		}
		got, _, err := fitted(t, c.step, tab, tab)
		if c.want == nil {
			if err == nil {
				t.Errorf("%v: no error", c.step)
			}
			continue
		}
		if err != nil {
			t.Errorf("%v: %v", c.step, err)
			continue
		}
		if c.names != nil && !slices.Equal(got.Names(), c.names) {
			t.Errorf("%v makes %q; want %q", c.step, got.Names(), c.names)
		}
		for i, row := range dense(got) {
			if c.want[i] != nil && !slices.EqualFunc(row, c.want[i], func(a, b float64) bool { return a == b || a != a && b != b }) {
				t.Errorf("%v, row %d: %v; want %v", c.step, i, row, c.want[i])
			}
		}
	}
}

// TestTfIdf computes the weights of scikit-learn's TfidfVectorizer by hand.
func TestTfIdf(t *testing.T) {
	texts := []string{"the cat sat", "the cat sat on the cat", "a dog"}
	tab := datasets.NewTable(datasets.Column{Name: "t", Kind: datasets.Text, Texts: texts})
	got, other, err := fitted(t, TfIdf(0), tab, datasets.NewTable(datasets.Column{Name: "t", Kind: datasets.Text, Texts: []string{"zebra dog DOG!", ""}}))
	if err != nil {
		t.Fatal(err)
	}
	idf := func(m float64) float64 { return 1 + math.Log(4/(1+m)) }
	want := []float64{2 * idf(2), 0, idf(1), idf(2), 2 * idf(2)} // cat dog on sat the
	norm := 0.0
	for _, v := range want {
		norm += v * v
	}
	for k, v := range dense(got)[1] {
		if math.Abs(v-want[k]/math.Sqrt(norm)) > 1e-15 {
			t.Errorf("%s: %v; want %v", got.Names()[k], v, want[k]/math.Sqrt(norm))
		}
	}
	if rows := dense(other); rows[0][1] != 1 || rows[1][1] != 0 {
		t.Error(rows)
	}
	hashed, _, err := fitted(t, HashWords(1<<10), tab, tab)
	if err != nil || hashed.Sparse.D != 1<<10 || len(hashed.Sparse.Value) != 3+4+1 {
		t.Error(err, hashed.Sparse)
	}
}

// TestUnknownLevels asks what becomes of a level that training has not seen.
func TestUnknownLevels(t *testing.T) {
	train, other := read(t, "c,n\na,1\na,2\nb,3\nc,4\n").Only("c"), read(t, "c,n\nz,1\nb,2\n,3\n").Only("c")
	for _, c := range []struct {
		step Part
		want [][]float64
		err  string
	}{
		{OneHot(), [][]float64{{0, 0, 0}, {0, 1, 0}, {0, 0, 0}}, ""},
		{OneHot().Unknown(IsOther), [][]float64{{0, 0, 0}, {0, 1, 0}, {0, 0, 0}}, ""},
		{OneHot().Rare(0.3).Unknown(IsOther), [][]float64{{0, 1}, {0, 1}, {0, 0}}, ""},
		{OneHot().Rare(0.3), [][]float64{{0, 0}, {0, 1}, {0, 0}}, ""},
		{OneHot().Unknown(IsError), nil, `column c: training has no "z"`},
		{Ordinal(), nil, `no "z", so it has no place in the order`},
	} {
		_, got, err := fitted(t, c.step, train, other)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%v: %v", c.step, err)
			}
			continue
		}
		if err != nil || fmt.Sprint(got.X) != fmt.Sprint(c.want) {
			t.Errorf("%v: %v %v; want %v", c.step, got.X, err, c.want)
		}
	}
}

// TestColumnStepsRefuse asks for the words of errors.
func TestColumnStepsRefuse(t *testing.T) {
	tab := read(t, people).As(datasets.Text, "comment")
	empty := tab.With(datasets.Column{Name: "gap", Values: slices.Repeat([]float64{math.NaN()}, tab.N())})
	for _, c := range []struct {
		step Part
		tab  *datasets.Table
		want string
	}{
		{On("nobody").Do(Impute()), tab, `no column "nobody"`},
		{OnKind(datasets.Vector).Do(Impute()), tab, "no column for OnKind(vector)"},
		{OneHot(3), tab, "columns of a table have names"},
		{OneHot().Rare(2), tab, "between 0 and 1"},
		{OneHot(), tab.Only("age", "joined"), "no column is a category"},
		{Ordinal(), tab.Only("age"), "no column is a category"},
		{Calendar(), tab.Only("age"), "no column is a time"},
		{Calendar("minute"), tab.Only("joined"), `no part "minute"`},
		{CountWords(0), tab.Only("age"), "no column is a text"},
		{CountWords(-1), tab, "-1 words"},
		{HashWords(0), tab, "0 words"},
		{CountWords(0).Grams(9), tab, "9 words in a row"},
		{Impute(), empty, "column gap has no value"},
		{Encode(), empty.Only("gap"), "nothing to learn from"},
		{Standardise(), tab, "the column city is a category"},
	} {
		_, _, err := fitted(t, c.step, c.tab, c.tab)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v; want %q", c.step, err, c.want)
		}
		var typed *arguments.Error
		if err != nil && !errors.As(err, &typed) && !strings.Contains(err.Error(), "nobody") {
			t.Errorf("%v: a %T", c.step, err)
		}
	}
}

// TestEncode makes finite numbers of every random table, and of each row what it makes of the
// row alone.
func TestEncode(t *testing.T) {
	words := []string{"late", "good", "quick", "again", "bill"}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(n int) *datasets.Table {
			age, joined := datasets.Column{Name: "age"}, datasets.Column{Name: "joined", Kind: datasets.Time}
			city := datasets.Column{Name: "city", Kind: datasets.Category, Levels: []string{"a", "b", "c", "d"}}
			text := datasets.Column{Name: "text", Kind: datasets.Text}
			for range n {
				v, s := rapid.Float64Range(-1e6, 1e6).Draw(t, "age"), float64(rapid.Int64Range(-1e9, 2e9).Draw(t, "joined"))
				if rapid.IntRange(0, 3).Draw(t, "gap") == 0 {
					v = math.NaN()
				}
				if rapid.IntRange(0, 3).Draw(t, "gap") == 0 {
					s = math.NaN()
				}
				age.Values, joined.Values = append(age.Values, v), append(joined.Values, s)
				city.Codes = append(city.Codes, rapid.Int32Range(-1, 3).Draw(t, "city"))
				text.Texts = append(text.Texts, strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 4).Draw(t, "text"), " "))
			}
			return datasets.NewTable(age, joined, city, text)
		}
		train, other := draw(rapid.IntRange(2, 12).Draw(t, "n")), draw(4)
		var f steps.Fitted
		f, err := Encode().FitTable(&datasets.Dataset{Table: train})
		if err != nil {
			for _, c := range train.Columns {
				if !constant(c) && c.Kind != datasets.Text {
					t.Fatal(err)
				}
			}
			t.Skip("nothing varies")
		}
		through := func(tab *datasets.Table) [][]float64 {
			p, err := steps.Through(context.Background(), steps.Points{Points: points.Points{Table: tab}}, f)
			if err == nil {
				p, err = p.AsNumbers()
			}
			if err != nil {
				t.Fatal(err)
			}
			return dense(p)
		}
		all := through(other)
		for i, row := range all {
			if !points.AllFinite(row) {
				t.Fatalf("row %d: %v", i, row)
			}
			if one := through(other.Select([]int{i})); !slices.Equal(one[0], row) {
				t.Fatalf("row %d alone: %v; among others: %v", i, one[0], row)
			}
		}
	})
}
