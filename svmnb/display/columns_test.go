package display_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
)

// ofData are the pictures of data.
var ofData = map[string]func(datasets.Points) display.Drawing{
	"Pairs": display.Pairs, "Histograms": display.Histograms, "Correlations": display.Correlations, "Missing": display.Missing,
}

func numbers(name string, v ...float64) datasets.Column {
	return datasets.Column{Name: name, Values: v}
}

var (
	nan   = math.NaN()
	plans = datasets.Column{Name: "plan", Kind: datasets.Category, Levels: []string{"free", "paid"}, Codes: []int32{0, 1, -1, 0}}
	notes = datasets.Column{Name: "note", Kind: datasets.Text, Texts: []string{"a", "", "c", "d"}}
	since = datasets.Column{Name: "since", Kind: datasets.Time, Values: []float64{0, 1e8, 2e8, nan}}
)

// large is a table of n rows and d columns.
func large(n, d int) *datasets.Table {
	t := &datasets.Table{Name: "large"}
	r := rand.New(rand.NewPCG(1, 2))
	for j := range d {
		c := datasets.Column{Name: fmt.Sprint("c", j), Values: make([]float64, n)}
		for i := range c.Values {
			c.Values[i] = r.Float64() + float64(i%2*j)
		}
		t.Columns = append(t.Columns, c)
	}
	return t
}

// What a picture says of its data.
func TestPicturesOfDataSay(t *testing.T) {
	some := datasets.NewTable(numbers("a", 1, 2, 3, 5), numbers("b", 2, nan, 7, 4), numbers("same", 4, 4, 4, 4), numbers("none", nan, nan, nan, nan), plans, notes, since)
	few := datasets.New([][]float64{{1, 5}, {2, nan}, {4, 4}, {3, 2}}, []float64{1, -1, 1, -1})
	digits := datasets.Digits()
	for _, test := range []struct {
		picture, of string
		data        datasets.Points
		words       []string
	}{
		{"Pairs", "iris", datasets.Iris(), []string{"petal length (cm) tells the 3 classes apart best: 94 %", "iris: 150 rows, 4 columns"}},
		{"Pairs", "a target", datasets.Diabetes(), []string{"bmi and", "r = 0.59", "442 rows, 10 columns and the target", "6 of 11 columns, those most correlated with", "colour: ranges of"}},
		{"Pairs", "many classes", digits, []string{"the 8 classes apart best", "the rarest 3 of 10 classes count as one"}},
		{"Pairs", "all kinds", some, []string{"a and since go together most closely: r = 1", "left out: plan (category), note (text), none (no value), same (constant)", "2 points lack a value"}},
		{"Pairs", "rows", datasets.Rows{{1, 2}, {3, 4}, {4, 4}}, []string{"x1 and x2 go together most closely: r = 0.94"}},
		{"Pairs", "200 columns", large(500, 200), []string{"6 of 200 columns, the first"}},
		{"Pairs", "a million rows", large(1_000_000, 3), []string{"20\u202f000 of the rows, drawn at random (seed 1)", "500 points drawn", "1\u202f000\u202f000 rows"}},
		{"Histograms", "iris", datasets.Iris(), []string{"petal width (cm) tells most about the 3 classes"}},
		{"Histograms", "a target", datasets.Diabetes(), []string{"tells most about the 4 ranges of", "10 columns"}},
		{"Histograms", "all kinds", some, []string{"is the most lopsided of 3 columns of numbers", "left out: note (text), none (no value)"}},
		{"Histograms", "a category", datasets.NewTable(plans), []string{"plan is the most uneven of 1 column: its highest bar has 2 of 4 rows"}},
		{"Histograms", "one constant column", datasets.NewTable(numbers("a", 3, 3)), []string{"its highest bar has 2 of 2 rows"}},
		{"Histograms", "200 columns", large(500, 200), []string{"24 of 200 columns, the first"}},
		{"Histograms", "a million rows", large(1_000_000, 2), []string{"20\u202f000 of the rows, drawn at random (seed 1)"}},
		{"Histograms", "a data set with gaps", few, []string{"tells most about the 2 classes"}},
		{"Correlations", "iris", datasets.Iris(), []string{"r = 0.96; |r| ≥ 0.5 in 3 of 6 pairs", "Pearson correlation"}},
		{"Correlations", "all kinds", some, []string{"a and b go together", "at least 3", "left out: plan (category), note (text), since (time), 2 more"}},
		{"Correlations", "200 columns", large(500, 200), []string{"30 of 200 columns"}},
		{"Correlations", "a million rows", large(1_000_000, 2), []string{"20\u202f000 of the rows, drawn at random (seed 1)"}},
		{"Missing", "iris", datasets.Iris(), []string{"No value is missing in 4 columns of 150 rows"}},
		{"Missing", "all kinds", some, []string{"none is missing in 100 % of the rows; 0 of 4 rows have all values", "most often together: b, none and 1 more, in 1 row", "2 columns are complete and not drawn"}},
		{"Missing", "a data set with gaps", few, []string{"x2 is missing in 25 % of the rows; 3 of 4 rows have all values"}},
		{"Missing", "a million rows", large(1_000_000, 2).With(numbers("gap", slices.Repeat([]float64{1, 1, 1, nan}, 250_000)...)), []string{"gap is missing in 25 % of the rows; 750\u202f000 of 1\u202f000\u202f000 rows"}},
		{"Missing", "200 columns", large(50, 200), []string{"30 of 200 columns are drawn"}},
		{"Missing", "all of them", datasets.NewTable(numbers("a", nan, nan)), []string{"a is missing in 100 % of the rows; 0 of 2 rows have all values"}},
	} {
		c, err := ofData[test.picture](test.data).Chart()
		if err != nil {
			t.Errorf("%s of %s: %v", test.picture, test.of, err)
			continue
		}
		said := c.Title.Title + " · " + c.Title.Subtitle
		for _, words := range test.words {
			if !strings.Contains(said, words) {
				t.Errorf("%s of %s says %q, want %q in it", test.picture, test.of, said, words)
			}
		}
		if !strings.Contains(c.Alt, c.Title.Title) {
			t.Errorf("%s of %s: the alternative text %q leaves out the finding", test.picture, test.of, c.Alt)
		}
	}
}

// Equal data give equal pictures, samples included.
func TestPicturesOfDataRepeat(t *testing.T) {
	table := large(30_000, 3)
	for name, picture := range ofData {
		var texts [2]string
		for k := range texts {
			c, err := picture(table).Chart()
			if err != nil {
				t.Fatal(name, err)
			}
			texts[k] = fmt.Sprint(c.JSON())
		}
		if texts[0] != texts[1] {
			t.Errorf("%s draws the same data in two ways", name)
		}
	}
}

// Data that no picture can show are refused by errors that say which.
func TestPicturesOfDataRefuse(t *testing.T) {
	sparse := datasets.NewSparse(datasets.CSR{Start: []int{0, 1, 2}, Index: []int32{0, 1}, Value: []float64{1, 2}, D: 2}, []float64{1, -1})
	var noSet *datasets.Dataset
	var noTable *datasets.Table
	for _, test := range []struct {
		of       string
		data     datasets.Points
		words    string
		pictures []string // nil for all
	}{
		{"nothing", nil, "there are no data", nil},
		{"a nil data set", noSet, "there are no data", nil},
		{"a nil table", noTable, "there are no data", nil},
		{"an empty data set", &datasets.Dataset{}, "no points", nil},
		{"an empty table", &datasets.Table{}, "no columns", nil},
		{"a table without rows", datasets.NewTable(numbers("a")), "no rows", nil},
		{"no rows", datasets.Rows{}, "no points", nil},
		{"rows of different lengths", datasets.Rows{{1, 2}, {3}}, "row 1", nil},
		{"sparse points", sparse, "Dense()", nil},
		{"sparse points without targets", *sparse.Sparse, "Dense()", nil},
		{"an infinite value", datasets.NewTable(numbers("a", 1, math.Inf(1))), "infinite", nil},
		{"an infinite value of a data set", datasets.New([][]float64{{1}, {math.Inf(-1)}}, []float64{1, 2}), "row 1, column 0", nil},
		{"a target that is missing", datasets.New([][]float64{{1}, {2}}, []float64{1, nan}), "row 1", nil},
		{"what a reader refused", datasets.OpenTable("/no/such/file"), "no such file", nil},
		{"one column", datasets.NewTable(numbers("a", 1, 2)), "fewer than two columns of numbers that vary", []string{"Pairs", "Correlations"}},
		{"constant columns", datasets.NewTable(numbers("a", 1, 1), numbers("b", 2, 2)), "a (constant), b (constant)", []string{"Pairs", "Correlations"}},
		{"one value", datasets.NewTable(numbers("a", 1), numbers("b", 2)), "fewer than two columns of numbers that vary", []string{"Pairs", "Correlations"}},
		{"missing columns", datasets.NewTable(numbers("a", nan, nan), numbers("b", nan, nan)), "a (no value), b (no value)", []string{"Pairs", "Correlations", "Histograms"}},
		{"texts", datasets.NewTable(notes), "note (text)", []string{"Pairs", "Correlations", "Histograms"}},
		{"huge numbers", datasets.NewTable(numbers("a", 1e300, 2), numbers("b", 1, 2)), "give numbers up to 1e+100", []string{"Pairs", "Correlations", "Histograms"}},
	} {
		for name, picture := range ofData {
			if test.pictures != nil && !slices.Contains(test.pictures, name) {
				continue
			}
			c, err := picture(test.data).Chart()
			if err == nil || c != nil || !strings.Contains(err.Error(), test.words) || !strings.HasPrefix(err.Error(), "svmnb: "+name) {
				t.Errorf("%s of %s: error %v, want %q in it", name, test.of, err, test.words)
				continue
			}
			var argument *arguments.Error
			var data *datasets.Error
			var read *datasets.ReadError
			if !errors.As(err, &argument) && !errors.As(err, &data) && !errors.As(err, &read) && test.of != "huge numbers" {
				t.Errorf("%s of %s: the error %v has no type", name, test.of, err)
			}
		}
	}
}

func TestImages(t *testing.T) {
	digits := datasets.Digits()
	c, err := display.Images(digits, 8, 8).Chart()
	if err != nil {
		t.Fatal(err)
	}
	if said := c.Title.Title + c.Title.Subtitle; !strings.Contains(said, "120 images of 8 × 8 pixels") || !strings.Contains(said, "the first 120 of 1\u202f797 points") {
		t.Error(said)
	}
	c, err = display.Images(datasets.Rows(digits.X[:2]), 8, 8, "nought", "one").Chart()
	if err != nil || !strings.Contains(fmt.Sprint(c.JSON()), "nought") {
		t.Error(err)
	}
	for _, test := range []struct {
		drawing display.Drawing
		words   string
	}{
		{display.Images(nil, 8, 8), "there are no points"},
		{display.Images(datasets.Rows{}, 8, 8), "there are no points"},
		{display.Images(&datasets.Dataset{}, 8, 8), "no points"},
		{display.Images(&datasets.Table{}, 8, 8), "no columns"},
		{display.Images(datasets.NewTable(notes), 1, 1), "there are no points of numbers"},
		{display.Images(digits, 7, 8), "row 0: the point has 64 features, and an image of 7 × 8 pixels needs 56"},
		{display.Images(digits, 0, 8), "0 × 8 pixels cannot be drawn"},
		{display.Images(digits, 1<<40, 1<<40), "cannot be drawn"},
		{display.Images(digits, -8, -8), "cannot be drawn"},
		{display.Images(digits, 8, 8, "one"), "1 caption for 1 797 points"},
		{display.Images(datasets.Rows{{1, nan}}, 1, 2), "NaN"},
		{display.Images(datasets.NewSparse(datasets.CSR{Start: []int{0, 1}, Index: []int32{0}, Value: []float64{1}, D: 1}, []float64{1}), 1, 1), "Dense()"},
	} {
		if _, err := test.drawing.Chart(); err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "\u202f", " "), test.words) {
			t.Errorf("error %v, want %q in it", err, test.words)
		}
	}
}
