package svmnb_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/browsertest"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/gp"
	"github.com/svmnb/svmnb/svmnb/play"
	"github.com/svmnb/svmnb/svmnb/selection"
	"github.com/svmnb/svmnb/svmnb/static"
)

// Each thing that can be listed has the columns that it should have, and its words.
func TestTables(t *testing.T) {
	fit := Moons().MustFit()
	iris := svmnb.Classify(datasets.Iris()).OneVsOne().MustFit()
	sinc := datasets.Sinc(40, 0.1, 1)
	e, err := fit.Evaluate(datasets.Moons(30, 0.2, 3))
	if err != nil {
		t.Fatal(err)
	}
	valid, err := selection.CrossValidate(context.Background(), Moons(), selection.StratifiedKFold(3, 1))
	if err != nil {
		t.Fatal(err)
	}
	type pair struct {
		Name    string
		RelGap  float64
		Took    time.Duration
		C       int
		Ratio   []float64
		private int
	}
	for _, c := range []struct {
		of    any
		words []string
	}{
		{datasets.Iris(), []string{"iris: 150 rows × 6 columns", "sepal length (cm)", "virginica", "5.8433", "3 different", "▁"}},
		{datasets.Cars(), []string{"speed", "50 rows × 3 columns"}},
		{datasets.New([][]float64{{math.NaN()}, {1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}, {10}, {11}, {12}}, make([]float64, 13)), []string{"missing"}},
		{fit, []string{"120 rows × 9 columns", "class", "y·f", "violation", "α = C", "y f ≤ 1"}},
		{fit.SupportVectors(), []string{"25 rows", "alpha", "bound", "true"}},
		{fit.Trace.Points, []string{"elapsed", " ms", "rel gap", "KKT"}},
		{[]*svmnb.Fit{fit, Moons().C(20).MustFit()}, []string{"C = 2", "C = 20", "converged", "kernel values"}},
		{[]any{fit, svmnb.Regress(sinc).MustFit(), iris, gp.Regress(sinc).Kernel(kernels.RBF(1)).NoiseVariance(0.01).MustFit()}, []string{"moons", "sinc", "iris", "at the bound", "RMSE", "training errors"}},
		{[]*gp.Fit{gp.Regress(sinc).Kernel(kernels.RBF(1)).NoiseVariance(0.01).MustFit()}, []string{"1 row × 7 columns", "Cholesky"}},
		{iris, []string{"setosa against versicolor", "iterations"}},
		{svmnb.Regress(sinc).MustFit(), []string{"residual", "40 rows"}},
		{gp.Regress(sinc).Kernel(kernels.RBF(1)).NoiseVariance(0.01).MustFit(), []string{"mean", "alpha", "40 rows"}},
		{play.Race(Moons(), solvers.SMO{}, solvers.PrimalDual{}), []string{"method", "SMO", "support vectors", "2 rows"}},
		{selection.Search(Moons(), selection.Grid{"C": {1, 10}}, selection.StratifiedKFold(3, 1)).MustFit(), []string{"C", "accuracy", "fold 3"}},
		{valid, []string{"fold", "accuracy", "3 rows"}},
		{e, []string{"true class", "predicted", "score", "30 rows"}},
		{[][]string{{"method", "seconds"}, {"a", "1.50"}, {"b", ""}}, []string{"method", "seconds", "1.50"}},
		{[][]float64{{1, 2}, {3, math.Inf(-1)}}, []string{"x2", "−∞"}},
		{[]float64{1, 2.5}, []string{"value", "2.5", "2 rows"}},
		{map[string][]float64{"b": {1, 2}, "a": {3, 4}}, []string{"a  b\n3  1\n4  2"}},
		{[]pair{{"first", 1e-9, 1500 * time.Microsecond, 3, []float64{1, 2}, 0}}, []string{"name", "rel gap", "took", "1.5 ms", "C", "[1 2]", "1 row × 5 columns"}},
		{[]*pair{{Name: "<script>alert(1)</script>"}}, []string{"<script>alert(1)</script>"}},
	} {
		s := display.Table(c.of)
		if s.Err() != nil {
			t.Errorf("Table(%T): %v", c.of, s.Err())
			continue
		}
		var page strings.Builder
		if err := display.HTML(&page, s); err != nil {
			t.Errorf("HTML of Table(%T): %v", c.of, err)
		}
		for _, w := range c.words {
			if !strings.Contains(s.String(), w) {
				t.Errorf("Table(%T) has no %q in it:\n%s", c.of, w, s)
			}
		}
		if strings.Contains(page.String(), "<script>alert") || strings.Contains(s.String(), "private") {
			t.Errorf("Table(%T) is not escaped, or has what is not exported", c.of)
		}
	}
}

// What is no table says so, with the row that is to blame.
func TestTableErrors(t *testing.T) {
	var none *datasets.Dataset
	for _, c := range []struct {
		of   any
		want string
		row  int
	}{
		{nil, "there is nothing to list", -1},
		{none, "there is nothing to list", -1},
		{7, "a value of type int is not a table", -1},
		{map[int]string{}, "a value of type map[int]string is not a table", -1},
		{[][]string{}, "has no rows", -1},
		{[][]string{{"a", "b"}}, "has no rows", -1},
		{[][]string{{"a", "b"}, {"1"}}, "has 1 cells and the first, which names the columns, 2", 1},
		{[][]float64{{1, 2}, {3}}, "has 1 values and the first 2", 1},
		{[]*struct{ A int }{nil}, "the pointer is nil", 0},
		{map[string][]float64{"a": {1}, "b": {1, 2}}, `column "b" has 2 values, column "a" 1`, -1},
		{[]float64{}, "has no rows", -1},
	} {
		err := display.Table(c.of).Err()
		var argument *svmnb.ArgumentError
		if !errors.As(err, &argument) || argument.Row != c.row || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Table(%T): error %v, want an *ArgumentError of row %d with %q", c.of, err, c.row, c.want)
		}
		if display.HTML(new(strings.Builder), display.Table(c.of)) == nil {
			t.Errorf("HTML of Table(%T) has no error", c.of)
		}
	}
	var bad *datasets.Error
	if err := display.Table(datasets.New([][]float64{{1}, {2, 3}}, []float64{1, 2})).Err(); !errors.As(err, &bad) || bad.Row != 1 {
		t.Errorf("error %v, want a *datasets.Error of row 1", err)
	}
}

// A click on a column's name sorts all of the rows, of which the ends are shown; the
// table of a reader without scripts has the same text.
func TestTablesSortInThePage(t *testing.T) {
	rows := [][]string{{"name", "value"}}
	values := []float64{5, -3, math.NaN(), 100, 0.5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	for i, v := range values {
		text := ""
		if !math.IsNaN(v) {
			text = strings.Replace(svmnbNumber(v), "−", "-", 1)
		}
		rows = append(rows, []string{string(rune('o' - i)), text})
	}
	file := filepath.Join(t.TempDir(), "table.html")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	sheet := display.Table(rows)
	type timed struct {
		Name string
		Took time.Duration
		X    float64
	}
	if err := errors.Join(display.HTML(f, sheet, display.Dashboard("text", sheet), display.Table([]timed{{"c", -2e6, math.Inf(1)}, {"a", 11e6, 1e-9}, {"B", 5e5, 0}, {"d", 1e6, math.NaN()}})), f.Close()); err != nil {
		t.Fatal(err)
	}
	page := browsertest.Open(t, file, browsertest.Options{Offline: true})
	read := func(column int) (first []string) {
		page.Do(&first, `return Array.from(document.querySelectorAll('[id^=svmtable]')[1].querySelectorAll('tbody tr'), function (r) { return r.cells[`+string(rune('1'+column))+`].textContent; })`)
		return first
	}
	click := func(column int) {
		page.Do(nil, `document.querySelectorAll('[id^=svmtable]')[1].querySelectorAll('thead th')[`+string(rune('1'+column))+`].click()`)
	}
	if got := read(1); !slices.Equal(got, []string{"5", "-3", "", "100", "0.5", "…", "12", "13", "14", "15", "16"}) {
		t.Errorf("before a click: %q", got)
	}
	click(1)
	if got := read(1); !slices.Equal(got, []string{"-3", "0.5", "5", "7", "8", "…", "14", "15", "16", "100", ""}) {
		t.Errorf("sorted upwards: %q", got)
	}
	click(1)
	if got := read(1); !slices.Equal(got, []string{"100", "16", "15", "14", "13", "…", "7", "5", "0.5", "-3", ""}) {
		t.Errorf("sorted downwards: %q", got)
	}
	click(0)
	if got := read(0); !slices.Equal(got, []string{"a", "b", "c", "d", "e", "…", "k", "l", "m", "n", "o"}) {
		t.Errorf("sorted by name: %q", got)
	}
	// A table that is shown whole sorts by what its cells say.
	for _, c := range []struct {
		column int
		want   []string
	}{{0, []string{"a", "B", "c", "d"}}, {1, []string{"−2.0 ms", "0.5 ms", "1.0 ms", "11.0 ms"}}, {1, []string{"11.0 ms", "1.0 ms", "0.5 ms", "−2.0 ms"}}, {2, []string{"0", "1e−09", "∞", ""}}} {
		page.Do(nil, fmt.Sprintf(`document.querySelectorAll('[id^=svmtable]')[2].querySelectorAll('thead th')[%d].click()`, c.column))
		var got []string
		page.Do(&got, fmt.Sprintf(`return Array.from(document.querySelectorAll('[id^=svmtable]')[2].querySelectorAll('tbody tr'), function (r) { return r.cells[%d].textContent; })`, c.column))
		if !slices.Equal(got, c.want) {
			t.Errorf("the whole table by column %d: %q, want %q", c.column, got, c.want)
		}
	}
	if errs := page.Errors(); len(errs) > 0 {
		t.Errorf("errors in the page: %q", errs)
	}
}

func svmnbNumber(v float64) string {
	s := display.Table([]float64{v}).String()
	return strings.Fields(s)[len(strings.Fields(s))-1]
}

// A dashboard is one display: its figures share the width, in columns, and what
// cannot be drawn says so in its place.
func TestDashboard(t *testing.T) {
	fit := Moons().MustFit()
	d := display.Dashboard(fit, svmnb.Margins, svmnb.KKT, "**words**", svmnb.Gap, display.Table(fit), gp.Posterior, fit)
	file := filepath.Join(t.TempDir(), "dashboard.html")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(display.HTML(f, d, display.Multiples(svmnb.Margins, fit, Moons().C(20).MustFit())), f.Close()); err != nil {
		t.Fatal(err)
	}
	// A reader where no script runs sees pictures in the same places.
	html, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	still, n, err := static.Fill(context.Background(), string(html), static.Options{})
	if err != nil || n != 5 || strings.Count(still, `<img width="500"`) != 5 {
		t.Errorf("%d charts in the page, %d narrow pictures, error %v", n, strings.Count(still, `<img width="500"`), err)
	}
	page := browsertest.Open(t, file, browsertest.Options{Offline: true})
	page.Charts(5)
	for _, look := range []struct{ width, columns int }{{380, 1}, {1000, 2}} {
		page.Look(browsertest.Options{Width: look.width})
		var columns []int
		page.Do(&columns, `return Array.from(document.querySelectorAll('section > div'), function (d) { return getComputedStyle(d).gridTemplateColumns.split(' ').length; })`)
		if !slices.Equal(columns, []int{look.columns, look.columns}) {
			t.Errorf("at %d pixels there are %v columns, want %d", look.width, columns, look.columns)
		}
		page.Until(`Array.from(document.querySelectorAll('[data-drawn] > div:first-child')).every(e => e.offsetWidth === e.parentElement.clientWidth)`)
	}
	var text string
	page.Do(&text, `return document.body.innerText`)
	for _, want := range []string{"words", "Posterior is no picture of a *svmnb.Fit", "violation", "support vectors"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if errs := page.Errors(); len(errs) > 0 {
		t.Errorf("errors in the page: %q", errs)
	}
	if err := display.HTML(new(strings.Builder), display.Dashboard()); err == nil || !strings.Contains(err.Error(), "the dashboard is empty") {
		t.Errorf("an empty dashboard: error %v", err)
	}
}

func ExampleTable() {
	display.Table([][]string{{"kernel", "errors"}, {"linear", "12"}, {"RBF", "3"}}).Show()
	// Output:
	// 2 rows × 2 columns
	// kernel  errors
	// linear      12
	// RBF          3
}
