package figure

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/static"
)

// flowers are the irises as columns.
func flowers() ColumnsData {
	iris := datasets.Iris()
	d := ColumnsData{Problem: "iris: 150 rows, 4 columns", Classes: iris.Classes}
	for j, name := range iris.Features {
		d.Columns = append(d.Columns, DataColumn{Name: name, Values: features(iris, j)})
	}
	for _, y := range iris.Y {
		d.Class = append(d.Class, int(y))
	}
	return d
}

func features(d *datasets.Dataset, j int) []float64 {
	c := make([]float64, d.N())
	for i, row := range d.X {
		c[i] = row[j]
	}
	return c
}

// patients are n rows of eleven columns of numbers, the last of which is the target.
func patients(n int) ColumnsData {
	diabetes := datasets.Diabetes().Select(upTo(n))
	d := ColumnsData{Problem: "diabetes: 442 rows, 10 columns", Target: "progression", Classes: []string{"25 … 87", "88 … 140", "141 … 211", "212 … 346"}}
	for j := range diabetes.D() {
		d.Columns = append(d.Columns, DataColumn{Name: diabetes.FeatureName(j), Values: features(diabetes, j)})
	}
	d.Columns = append(d.Columns, DataColumn{Name: d.Target, Values: diabetes.Y})
	for _, y := range diabetes.Y {
		k := 0
		for _, end := range []float64{87, 140, 211} {
			if y > end {
				k++
			}
		}
		d.Class = append(d.Class, k)
	}
	return d
}

// customers have columns of all kinds, with missing values.
func customers(n int) ColumnsData {
	r := rand.New(rand.NewPCG(1, 2))
	d := ColumnsData{Problem: fmt.Sprintf("customers: %d rows, 5 columns", n), Note: "left out: remark (text)", Classes: []string{"stays", "leaves"}}
	age, income := DataColumn{Name: "age"}, DataColumn{Name: "yearly income before taxes"}
	since := DataColumn{Name: "since", Time: true}
	plan := DataColumn{Name: "plan", Levels: []string{"free", "a plan whose name is long", "family", "student", "team", "gold", "silver", "bronze", "iron"}}
	for i := range n {
		class := i * i % 7 % 2
		d.Class = append(d.Class, class)
		age.Values = append(age.Values, math.Round(30+20*r.Float64()+float64(10*class)))
		income.Values = append(income.Values, math.Round(math.Exp(10+r.NormFloat64())))
		since.Values = append(since.Values, 1.5e9+1e8*r.Float64()*float64(1+class))
		plan.Codes = append(plan.Codes, int32(r.IntN(9)*r.IntN(2)))
		if i%5 == 0 {
			age.Values[i] = math.NaN()
		}
		if i%9 == 0 {
			plan.Codes[i] = -1
		}
	}
	d.Columns = []DataColumn{age, income, since, plan}
	return d
}

// without is d without its last column.
func without(d ColumnsData) ColumnsData {
	d.Columns = d.Columns[:len(d.Columns)-1]
	return d
}

func holes(columns, patterns int) MissingData {
	d := MissingData{Problem: "passengers", Rows: 891 * patterns, Counts: make([]int, columns)}
	for j := range columns {
		d.Columns = append(d.Columns, fmt.Sprintf("column %d of a name", j))
	}
	left := d.Rows
	for k := range patterns {
		p := MissingPattern{Rows: left/6 + 1}
		for j := range columns {
			if k>>(j%6)&1 == 1 {
				p.Columns = append(p.Columns, j)
			}
		}
		if k == patterns-1 {
			p.Rows = left
		}
		for _, j := range p.Columns {
			d.Counts[j] += p.Rows
		}
		left -= p.Rows
		d.Patterns = append(d.Patterns, p)
	}
	return d
}

// digits are the first images of handwritten digits.
func handwritten(n int) ImagesData {
	digits := datasets.Digits()
	d := ImagesData{Problem: "digits", Rows: 8, Cols: 8, Of: digits.N()}
	for i := range n {
		d.Pixels, d.Index, d.Captions = append(d.Pixels, digits.X[i]), append(d.Index, i), append(d.Captions, digits.ClassName(digits.Y[i]))
	}
	return d
}

// waves are images with negative pixels and long captions.
func waves() ImagesData {
	d := ImagesData{Problem: "weights", Rows: 5, Cols: 9, Of: 3}
	for i := range 3 {
		var pixels []float64
		for k := range 45 {
			pixels = append(pixels, math.Sin(float64(k*(i+1))))
		}
		d.Pixels, d.Index, d.Captions = append(d.Pixels, pixels), append(d.Index, i), append(d.Captions, fmt.Sprintf("class %d against all the others", i))
	}
	return d
}

// weighed are weights of both signs.
func weighed(n int) WeightsData {
	d := WeightsData{Problem: "customers · linear", Note: "change of f for one unit of the feature", Measure: "weight", Sides: [2]string{"towards stays", "towards leaves"}}
	for j := range n {
		d.Features, d.Values = append(d.Features, fmt.Sprintf("feature %d with a name", j)), append(d.Values, math.Sin(float64(j))/float64(1+j))
	}
	return d
}

// deviating gives the weights standard deviations, one of them 0.
func deviating(d WeightsData) WeightsData {
	for j := range d.Values {
		d.SD = append(d.SD, 0.02*float64(j))
	}
	return d
}

// swell are lines of n places.
func swell(lines, n int) LinesData {
	nan := [2]float64{math.NaN(), math.NaN()}
	d := LinesData{Title: "Waves of 6 s", X: "time (s)", Y: "height", XRange: nan, YRange: nan}
	for k := range lines {
		l := Line{Name: fmt.Sprintf("wave %d", k)}
		for i := range n {
			x := 6 * float64(i) / float64(max(n-1, 1))
			l.X, l.Y = append(l.X, x), append(l.Y, math.Sin(x-float64(k)/3)+float64(k)/5)
		}
		d.Lines = append(d.Lines, l)
	}
	return d
}

// falling is a line on logarithmic axes, with a gap, and a line between two points.
func falling() LinesData {
	d := LinesData{Title: "Falling to 0.001", X: "n", Y: "error", LogX: true, LogY: true, XRange: [2]float64{1, math.NaN()}, YRange: [2]float64{math.NaN(), 1}}
	return LinesData{d.Title, d.X, d.Y, []Line{{"error", []float64{1, 10, 100, 1000}, []float64{1, 0.1, math.NaN(), 0.001}}, {"bound", []float64{1, 1000}, []float64{1, 0.01}}}, true, true, d.XRange, d.YRange, []Mark{{10, 0.1, "0.1"}}}
}

// data are the figures of data, as examples.
func data(t *testing.T) []*Chart {
	t.Helper()
	ok := must[*Chart](t)
	return []*Chart{
		ok(Pairs(without(customers(150)))), ok(Histograms(flowers())), ok(Histograms(customers(150))), ok(Correlations(flowers())), ok(Correlations(patients(120))),
		ok(Missing(holes(4, 6))), ok(Missing(holes(40, 20))), ok(Images(handwritten(30))), ok(Images(waves())),
	}
}

// more are weights, and figures of data with so many marks that they take a second each without
// a browser.
func more(t *testing.T) []*Chart {
	t.Helper()
	ok := must[*Chart](t)
	return []*Chart{ok(Pairs(flowers())), ok(Pairs(patients(442))), ok(Histograms(without(patients(442)))), ok(Weights(weighed(12))), ok(Weights(weighed(300))),
		ok(Lines(swell(10, 100))), ok(Lines(falling())), ok(Dependence(bent(200)))}
}

// bent is the dependence on a feature of m points.
func bent(m int) DependenceData {
	d := DependenceData{Problem: "made up", Feature: "age", Measure: "f", Mean: make([]float64, 40)}
	for k := range 40 {
		d.At = append(d.At, 20+float64(k))
	}
	for i := range m {
		var row []float64
		for k, v := range d.At {
			row = append(row, float64(i%7)+math.Sin(v/9+float64(i%3)/5))
			d.Mean[k] += row[k] / float64(m)
		}
		d.Each, d.Seen = append(d.Each, row), append(d.Seen, 20+math.Mod(float64(i)*7.3, 39))
	}
	return d
}

func TestDataPictures(t *testing.T) {
	pictures(t, "data", append(data(t), more(t)...), []tip{
		{0, 3, 1, "row 2"}, {0, 10, 0, "since 20"},
		{1, 0, 1, "sepal length (cm)"}, {1, 0, 1, "setosa: "}, {2, 6, 0, "since 2017-"}, {2, 9, 0, "plan free"}, {2, 9, 0, "stays: "},
		{3, 0, 1, "sepal length (cm) and sepal width (cm)"}, {3, 0, 1, "r = −0.118"}, {3, 0, 1, "150 rows"}, {3, 0, 0, "sepal length (cm)"},
		{5, 0, 0, "rows of 5346"}, {5, 1, 3, "rows with this pattern"},
		{7, 0, 3, "point 3"}, {8, 0, 1, "class 1 against"},
		{9, 0, 1, "setosa"}, {9, 0, 1, "sepal length (cm) 4.5 to 5"}, {9, 4, 0, "row 0 · setosa"}, {9, 4, 0, "sepal width (cm) 3.5"},
	})
}

// The figures of data, ordinary and degenerate, with their findings.
func TestFiguresOfData(t *testing.T) {
	of := func(columns ...DataColumn) ColumnsData { return ColumnsData{Problem: "made up", Columns: columns} }
	values := func(name string, v ...float64) DataColumn { return DataColumn{Name: name, Values: v} }
	nan := math.NaN()
	wide := func(n, d int) ColumnsData {
		r := rand.New(rand.NewPCG(3, 4))
		w := ColumnsData{Problem: "wide", Classes: []string{"a", "b", "c"}}
		for j := range d {
			c := DataColumn{Name: fmt.Sprint("column", j)}
			for i := range n {
				c.Values = append(c.Values, r.NormFloat64()+float64(i%3*(j%7)))
			}
			w.Columns = append(w.Columns, c)
		}
		for i := range n {
			w.Class = append(w.Class, i%3)
		}
		return w
	}
	pairs := func(d ColumnsData) func() (*Chart, error) { return func() (*Chart, error) { return Pairs(d) } }
	histograms := func(d ColumnsData) func() (*Chart, error) { return func() (*Chart, error) { return Histograms(d) } }
	correlations := func(d ColumnsData) func() (*Chart, error) { return func() (*Chart, error) { return Correlations(d) } }
	lines := func(d LinesData) func() (*Chart, error) { return func() (*Chart, error) { return Lines(d) } }
	weights := func(d WeightsData) func() (*Chart, error) { return func() (*Chart, error) { return Weights(d) } }
	lacking := func(d MissingData) func() (*Chart, error) { return func() (*Chart, error) { return Missing(d) } }
	images := func(d ImagesData) func() (*Chart, error) { return func() (*Chart, error) { return Images(d) } }
	drawAll(t, []drawing{
		{"pairs", pairs(flowers()), 40_000, "petal length (cm) tells the 3 classes apart best: 94 % of its variance lies between them"},
		{"pairs with a target", pairs(patients(442)), 90_000, "bmi and progression go together most closely: r = 0.59"},
		{"pairs with a target, chosen", pairs(patients(442)), 90_000, "6 of 11 columns, those most correlated with progression · 300 points drawn"},
		{"pairs, sampled, with gaps", pairs(without(customers(800))), 50_000, "500 points drawn, chosen at random (seed 1)"},
		{"pairs, gaps said", pairs(without(customers(300))), 50_000, "60 points lack a value and are left out of its panels"},
		{"pairs, 200 columns", pairs(wide(900, 200)), 90_000, "6 of 200 columns, those that tell the classes apart best"},
		{"pairs of two points", pairs(of(values("a", 1, 2), values("b", 3, 1))), 10_000, "a and b go together most closely: r = −1"},
		{"pairs that never stand together", pairs(of(values("a", 1, 2, nan, nan), values("b", nan, nan, 1, 2))), 10_000, "2 columns of 4 rows: no two of them vary together"},
		{"pairs of huge numbers", pairs(of(values("a", 1e99, -1e99, 0), values("b", 1e-99, 2e-99, 0))), 10_000, "go together most closely"},
		{"histograms", histograms(flowers()), 25_000, "petal width (cm) tells most about the 3 classes: guesses by its bars are right for 96 % of the rows, without it for 33 %"},
		{"histograms of all kinds", histograms(customers(800)), 20_000, "tells most about the 2 classes"},
		{"histograms of ranges", histograms(without(patients(442))), 60_000, "ltg tells most about the 4 ranges of progression"},
		{"histograms, 200 columns", histograms(wide(900, 200)), 110_000, "24 of 200 columns, those that tell most"},
		{"histograms without classes", histograms(of(values("a", 1, 2, 3), values("b", 1, 1, 9), DataColumn{Name: "c", Levels: []string{"x"}, Codes: []int32{0, 0, 0}})), 12_000, "b is the most lopsided of 2 columns of numbers: skewness 0.71"},
		{"histogram of a constant", histograms(of(values("a", 7.5, 7.5))), 10_000, "a is the most uneven of 1 column: its highest bar has 2 of 2 rows"},
		{"histogram of a large constant", histograms(of(values("a", 1e9, 1e9, nan))), 10_000, "its highest bar has 2 of 3 rows"},
		{"histogram of levels that never occur", histograms(of(DataColumn{Name: "a", Levels: []string{"x"}, Codes: []int32{-1, -1}})), 10_000, "its highest bar has 0 of 2 rows"},
		{"histogram of a moment", histograms(of(DataColumn{Name: "a", Time: true, Values: []float64{0, 0}})), 10_000, "2 of 2 rows"},
		{"histogram of ages of the earth", histograms(of(DataColumn{Name: "a", Time: true, Values: []float64{-1e13, 1e13}})), 10_000, "1 of 2 rows"},
		{"correlations", correlations(flowers()), 10_000, "petal length (cm) and petal width (cm) go together most closely: r = 0.96; |r| ≥ 0.5 in 3 of 6 pairs"},
		{"correlations with gaps", correlations(of(values("a", 1, 2, 3, nan), values("b", nan, 2, 3, 4), values("c", 4, 3, 3, 1))), 10_000, "over the rows in which both columns have a value, at least 2"},
		{"correlations of constants", correlations(of(values("a", 1, 1), values("b", 2, 2))), 10_000, "None of 1 pair varies together"},
		{"correlations, 200 columns", correlations(wide(300, 200)), 40_000, "30 of 200 columns, those with the largest |r|"},
		{"dependence", func() (*Chart, error) { return Dependence(bent(200)) }, 60_000, "On average f is lowest"},
		{"dependence at one value", func() (*Chart, error) {
			return Dependence(DependenceData{Feature: "a", Measure: "f", At: []float64{1}, Each: [][]float64{{2}}, Mean: []float64{2}})
		}, 10_000, "On average f is 2, whatever a is"},
		{"missing", lacking(holes(4, 6)), 10_000, "column 0 of a name is missing in 64 % of the rows; 892 of 5\u202f346 rows have all values"},
		{"missing together", lacking(holes(4, 6)), 10_000, "most often together: column 0 of a name and column 2 of a name, in 2\u202f146 rows"},
		{"missing, 200 columns", lacking(holes(200, 40)), 20_000, "the 12 most frequent of 40 patterns, without "},
		{"nothing missing", lacking(MissingData{Rows: 3, Columns: []string{"a"}, Counts: []int{0}, Patterns: []MissingPattern{{Rows: 3}}}), 10_000, "No value is missing in 1 column of 3 rows"},
		{"all missing", lacking(MissingData{Rows: 3, Columns: []string{"a"}, Counts: []int{3}, Patterns: []MissingPattern{{[]int{0}, 3}}}), 10_000, "a is missing in 100 % of the rows; 0 of 3 rows have all values"},
		{"never together", lacking(MissingData{Rows: 2, Columns: []string{"a", "b"}, Counts: []int{1, 1}, Patterns: []MissingPattern{{[]int{0}, 1}, {[]int{1}, 1}}}), 10_000, "no two columns are missing in the same row"},
		{"weights", weights(weighed(12)), 10_000, "feature 1 with a name has the largest weight, 0.421"},
		{"most of the weights", weights(weighed(12)), 10_000, "8 of 12 features have 90 % of the sum of the absolute values"},
		{"weights, 300 features", weights(weighed(300)), 10_000, "the largest 30 of 300 are drawn"},
		{"weights with deviations", weights(deviating(weighed(12))), 10_000, "feature 1 with a name has the largest weight, 0.421"},
		{"most of weights above 0", weights(WeightsData{Features: []string{"a", "b"}, Values: []float64{1, 99}, Measure: "weight"}), 10_000, "1 of 2 features have 90 % of the sum of all values"},
		{"uncertain weights", weights(deviating(weighed(12))), 10_000, "2 of 12 features lie above 0 by more than their standard deviation (sd)"},
		{"weights with a finding", weights(WeightsData{Features: []string{"a"}, Values: []float64{1}, Measure: "weight", Finding: "a has 1, which is all"}), 10_000, "a has 1, which is all"},
		{"weights of 0", weights(WeightsData{Features: []string{"a", "b"}, Values: []float64{0, 0}, Measure: "weight"}), 10_000, "Every weight is 0"},
		{"one weight below 0", weights(WeightsData{Features: []string{"a"}, Values: []float64{-1e-300}, Measure: "weight"}), 10_000, "a has the largest weight, −1e-300"},
		{"lines", lines(swell(10, 100)), 30_000, "Waves of 6 s"},
		{"lines of many places", lines(swell(2, 100_000)), 60_000, "Waves of 6 s"},
		{"a line of one place", lines(swell(1, 1)), 10_000, "Waves of 6 s"},
		{"lines on log axes", lines(falling()), 10_000, "Falling to 0.001"},
		{"images", images(handwritten(60)), 30_000, "60 images of 8 × 8 pixels with 10 captions; most frequent: “0”, 8 times"},
		{"images, some", images(handwritten(60)), 30_000, "the first 60 of 1\u202f797 points"},
		{"images with negative pixels", images(waves()), 10_000, "shades from −1 to 1"},
		{"an image of one pixel", images(ImagesData{Rows: 1, Cols: 1, Pixels: [][]float64{{7}}, Index: []int{0}, Of: 1}), 10_000, "1 image of 1 × 1 pixels · shades from 0 to 7"},
		{"a blank image", images(ImagesData{Rows: 1, Cols: 2, Pixels: [][]float64{{0, 0}}, Index: []int{0}, Of: 1}), 10_000, "shades from 0 to 1"},
		{"a large image", images(ImagesData{Rows: 256, Cols: 256, Pixels: [][]float64{make([]float64, 65536)}, Index: []int{0}, Of: 1}), 10_000, "1 image of 256 × 256 pixels"},
	})
}

// Numbers beside bars have as many decimals as each other.
func TestAlike(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   string
	}{
		{[]float64{0.457, 0.32, -0.09, 0.00324, 0.0001, -0.0001, 0}, "0.457 0.320 −0.090 0.003 < 0.001 > −0.001 0"},
		{[]float64{-12.34, 5, 0.02}, "−12.3 5.0 < 0.1"},
		{[]float64{1234, 5}, "1234 5"},
		{[]float64{1e-9, 2e-10}, "1e-9 2e-10"},
		{[]float64{0}, "0"},
	} {
		write := alike(test.values)
		var got []string
		for _, v := range test.values {
			got = append(got, write(v))
		}
		if text := strings.Join(got, " "); text != test.want {
			t.Errorf("%v are written %q, want %q", test.values, text, test.want)
		}
	}
}

// Bars that may be 0 have a mark of their own, and values with deviations stand in their order.
func TestUnsureWeights(t *testing.T) {
	c := must[*Chart](t)(Weights(WeightsData{Features: []string{"a", "b", "c"}, Values: []float64{-5, 1, 3}, SD: []float64{1, 2, 1}, Measure: "loss", Unit: "%", Sides: [2]string{"better", "worse"}}))
	if got := fmt.Sprint(c.Extra["svm"].(object)["names"]); got != "[c b a]" {
		t.Errorf("the bars stand in the order %v", got)
	}
	var ids []any
	for _, s := range c.Extra["series"].(list) {
		ids = append(ids, s.(object)["id"], len(s.(object)["data"].(list)))
	}
	if got := fmt.Sprint(ids); got != "[zero 1 neg 1 pos 1 unsure 1]" {
		t.Errorf("the bars are %v", got)
	}
}

func TestFiguresOfDataRefuse(t *testing.T) {
	columns := func(figure func(ColumnsData) (*Chart, error), change func(d *ColumnsData)) error {
		d := ColumnsData{Columns: []DataColumn{{Name: "a", Values: []float64{1, 2}}, {Name: "b", Values: []float64{1, 3}}}, Classes: []string{"x", "y"}, Class: []int{0, 1}}
		change(&d)
		_, err := figure(d)
		return err
	}
	missing := func(change func(d *MissingData)) error {
		d := holes(4, 6)
		change(&d)
		_, err := Missing(d)
		return err
	}
	lines := func(change func(d *LinesData)) error {
		d := swell(2, 5)
		change(&d)
		_, err := Lines(d)
		return err
	}
	weights := func(change func(d *WeightsData)) error {
		d := weighed(3)
		change(&d)
		_, err := Weights(d)
		return err
	}
	images := func(change func(d *ImagesData)) error {
		d := handwritten(3)
		change(&d)
		_, err := Images(d)
		return err
	}
	if err := errors.Join(columns(Pairs, func(*ColumnsData) {}), missing(func(*MissingData) {}), weights(func(*WeightsData) {}), lines(func(*LinesData) {}), images(func(*ImagesData) {})); err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	type tested struct {
		err   error
		field string
	}
	tests := []tested{
		{columns(Pairs, func(d *ColumnsData) { d.Columns = d.Columns[:1] }), "Columns"},
		{columns(Correlations, func(d *ColumnsData) { d.Columns = nil }), "Columns"},
		{columns(Pairs, func(d *ColumnsData) { d.Columns[1] = DataColumn{Levels: []string{"x"}, Codes: []int32{0, 0}} }), "Columns[1].Values"},
		{columns(Histograms, func(d *ColumnsData) { d.Columns[1] = DataColumn{Levels: []string{"x"}, Codes: []int32{0, 1}} }), "Columns[1].Codes[1]"},
		{missing(func(d *MissingData) { d.Columns = nil }), "Columns"},
		{missing(func(d *MissingData) { d.Rows = 0 }), "Rows"},
		{missing(func(d *MissingData) { d.Counts = nil }), "Counts"},
		{missing(func(d *MissingData) { d.Counts[1] = -1 }), "Counts[1]"},
		{missing(func(d *MissingData) { d.Patterns = d.Patterns[1:] }), "Patterns"},
		{missing(func(d *MissingData) { d.Patterns[1].Columns = []int{4} }), "Patterns[1].Columns[0]"},
		{missing(func(d *MissingData) { d.Patterns[0].Rows = 0 }), "Patterns[0].Rows"},
		{lines(func(d *LinesData) { d.Lines = nil }), "Lines"},
		{lines(func(d *LinesData) { d.Lines = make([]Line, MostLines+1) }), "Lines"},
		{lines(func(d *LinesData) { d.Lines[1].X = nil }), "Lines[1].X"},
		{lines(func(d *LinesData) { d.Lines[1].Y = d.Lines[1].Y[1:] }), "Lines[1].Y"},
		{lines(func(d *LinesData) { d.Lines[0].X[2] = nan }), "Lines[0].X[2]"},
		{lines(func(d *LinesData) { d.Lines[0].Y[2] = math.Inf(1) }), "Lines[0].Y[2]"},
		{lines(func(d *LinesData) { d.Lines[1].Y = slices.Repeat([]float64{nan}, 5) }), "Lines[1].Y"},
		{lines(func(d *LinesData) { d.LogX = true }), "Lines[0].X[0]"},
		{lines(func(d *LinesData) { d.LogY = true }), "Lines[0].Y[0]"},
		{lines(func(d *LinesData) { d.XRange = [2]float64{1, 1} }), "XRange"},
		{lines(func(d *LinesData) { d.YRange = [2]float64{0, math.Inf(1)} }), "YRange"},
		{lines(func(d *LinesData) { d.LogY, d.YRange[0] = true, 0 }), "YRange"},
		{weights(func(d *WeightsData) { d.Features = nil }), "Features"},
		{weights(func(d *WeightsData) { d.Values = d.Values[1:] }), "Values"},
		{weights(func(d *WeightsData) { d.Values[1] = nan }), "Values[1]"},
		{weights(func(d *WeightsData) { d.SD = []float64{1} }), "SD"},
		{weights(func(d *WeightsData) { d.SD = make([]float64, len(d.Values)); d.SD[1] = -1 }), "SD[1]"},
		{weights(func(d *WeightsData) { d.Measure = "" }), "Measure"},
		{weights(func(d *WeightsData) { d.Sides[0] = "" }), "Sides"},
		{weights(func(d *WeightsData) { d.Sides[0] = d.Sides[1] }), "Sides"},
		{images(func(d *ImagesData) { d.Pixels = nil }), "Pixels"},
		{images(func(d *ImagesData) { d.Pixels = make([][]float64, MostImages+1) }), "Pixels"},
		{images(func(d *ImagesData) { d.Rows = 0 }), "Rows"},
		{images(func(d *ImagesData) { d.Rows, d.Cols = 1<<40, 1<<40 }), "Rows"},
		{images(func(d *ImagesData) { d.Pixels[1] = d.Pixels[1][:63] }), "Pixels[1]"},
		{images(func(d *ImagesData) { d.Pixels[1] = slices.Repeat([]float64{nan}, 64) }), "Pixels[1][0]"},
		{images(func(d *ImagesData) { d.Index = nil }), "Index"},
		{images(func(d *ImagesData) { d.Captions = d.Captions[:2] }), "Captions"},
	}
	for _, figure := range []func(ColumnsData) (*Chart, error){Pairs, Histograms, Correlations} {
		tests = append(tests,
			tested{columns(figure, func(d *ColumnsData) { d.Columns[0].Values, d.Columns[1].Values = []float64{}, []float64{} }), "Columns"},
			tested{columns(figure, func(d *ColumnsData) { d.Columns[1].Values = []float64{1} }), "Columns[1]"},
			tested{columns(figure, func(d *ColumnsData) { d.Columns[1].Values = []float64{nan, nan} }), "Columns[1]"},
			tested{columns(figure, func(d *ColumnsData) { d.Columns[1].Values[0] = math.Inf(1) }), "Columns[1].Values[0]"},
			tested{columns(figure, func(d *ColumnsData) { d.Columns[1].Values[0] = 1e200 }), "Columns[1].Values[0]"},
			tested{columns(figure, func(d *ColumnsData) { d.Class = nil }), "Class"},
			tested{columns(figure, func(d *ColumnsData) { d.Class = []int{0} }), "Class"},
			tested{columns(figure, func(d *ColumnsData) { d.Class[1] = 2 }), "Class[1]"},
			tested{columns(figure, func(d *ColumnsData) { d.Classes = make([]string, 9) }), "Classes"},
		)
	}
	for k, test := range tests {
		var e *InputError
		if !errors.As(test.err, &e) || e.Field != test.field {
			t.Errorf("case %d: error %v, want an *InputError about %s", k, test.err, test.field)
		}
	}
}

// Bins have round edges, and every value is in one of them.
func TestBins(t *testing.T) {
	nan := math.NaN()
	for _, test := range []struct {
		c     DataColumn
		most  int
		width float64
		n     int
	}{
		{DataColumn{Values: []float64{0, 1}}, 10, 1, 2},
		{DataColumn{Values: []float64{0, 0.5, 1}}, 10, 0.1, 10},
		{DataColumn{Values: []float64{-3, nan, 3}}, 10, 1, 7},
		{DataColumn{Values: []float64{0, 1000}}, 10, 100, 10},
		{DataColumn{Values: []float64{0, 24}}, 10, 5, 5}, // whole numbers have no bins of 2.5
		{DataColumn{Values: []float64{7.5}}, 10, 1, 1},
		{DataColumn{Values: []float64{1e9, 1e9}}, 10, 1e8, 1},
		{DataColumn{Values: []float64{1e-30, 3e-30}}, 10, 2e-31, 10},
		{DataColumn{Values: []float64{0, 86400 * 360}, Time: true}, 14, 30 * 86400, 12},
		{DataColumn{Values: []float64{0, 10}, Time: true}, 14, 1, 10},
	} {
		b := binsOf(test.c, test.most)
		if math.Abs(b.width-test.width) > 1e-9*test.width || b.n != test.n {
			t.Errorf("%v: %d bins of %v, want %d of %v", test.c.Values, b.n, b.width, test.n, test.width)
		}
		for _, v := range test.c.Values {
			k := b.of(v)
			if finite(v) && !(b.from+float64(k)*b.width <= v*(1+1e-9)+1e-300 && v <= b.edge(k+1)+1e-9*math.Abs(v)) {
				t.Errorf("%v: value %v is in bin %d, from %v to %v", test.c.Values, v, k, b.edge(k), b.edge(k+1))
			}
		}
	}
}

// Statistics are those of their definitions.
func TestStatisticsOfColumns(t *testing.T) {
	nan := math.NaN()
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	r, rows := pearson([]float64{1, 2, nan, 4, 9}, []float64{2, 4, 1, nan, 3}) // Σ(x−4)(y−3) = 1, Σ(x−4)² = 38, Σ(y−3)² = 2
	near("r", r, 1/math.Sqrt(76))
	near("rows", float64(rows), 3)
	for _, constant := range [][]float64{{3, 3, 3}, {1e9, 1e9, 1e9}, {nan, nan, 1}} {
		if r, _ := pearson(constant, []float64{1, 2, 4}); !math.IsNaN(r) {
			t.Errorf("r of %v is %v, want none", constant, r)
		}
	}
	d := ColumnsData{Classes: []string{"a", "b"}, Class: []int{0, 0, 1, 1}}
	near("η²", d.between([]float64{1, 2, 9, nan}), 37.5/38)
	near("η² of equal means", d.between([]float64{1, 2, 1, 2}), 0)
	near("η² of a constant", d.between([]float64{3, 3, 3, 3}), 0)
	near("skewness", skewness([]float64{5, 5, nan, 8}), 0.7071)
	near("skewness of a constant", skewness([]float64{0.1, 0.1, 0.1}), 0)
	for _, test := range []struct {
		r    float64
		want string
	}{{0.5, "0.50"}, {-0.996, "−0.996"}, {0.99996, "0.99996"}, {1, "1"}, {-1, "−1"}, {0, "0"}} {
		if got := correlation(test.r); got != test.want {
			t.Errorf("r = %v is written %s, want %s", test.r, got, test.want)
		}
	}
	levels, bar := frequent(DataColumn{Levels: strings.Split("abcdefgh", ""), Codes: []int32{7, 7, 7, 6, 6, 5, 4, 3, 2, -1}})
	if fmt.Sprint(levels, bar) != "[h g c d e f 2 others] [6 6 2 3 4 5 1 0]" {
		t.Errorf("bars %v of the levels %v", levels, bar)
	}
	for _, test := range []struct {
		k, n int
		want string
	}{{0, 7, "0"}, {7, 7, "100"}, {999, 1000, "99.9"}, {99999, 100000, "99.9"}, {1, 3, "33"}, {1, 3000, "0.03"}} {
		if got := percent(test.k, test.n); got != test.want {
			t.Errorf("%d of %d are %s %%, want %s", test.k, test.n, got, test.want)
		}
	}
}

// The palette that the script writes makes valid files: half of the image has the colour of
// the text and half that of the page, on both kinds of pages.
func TestImagesHaveTheColoursOfThePage(t *testing.T) {
	c := must[*Chart](t)(Images(ImagesData{Rows: 2, Cols: 2, Pixels: [][]float64{{0, 1, 0, 1}}, Index: []int{0}, Of: 1}))
	for _, test := range []struct {
		dark      bool
		page, ink color.RGBA
	}{
		{false, color.RGBA{255, 255, 255, 255}, color.RGBA{0x1b, 0x27, 0x33, 255}},
		{true, color.RGBA{24, 26, 27, 255}, color.RGBA{0xe6, 0xea, 0xee, 255}},
	} {
		img := must[image.Image](t)(png.Decode(bytes.NewReader(must[[]byte](t)(static.PNG(c, static.Options{Width: 300, Scale: 1, Dark: test.dark})))))
		inked, pages := 0, 0
		for y := img.Bounds().Max.Y - 100; y < img.Bounds().Max.Y; y++ { // below the title
			for x := range img.Bounds().Dx() {
				switch color.RGBAModel.Convert(img.At(x, y)) {
				case test.ink:
					inked++
				case test.page:
					pages++
				}
			}
		}
		if inked < 2500 || inked > 8000 || pages < 10_000 {
			t.Errorf("dark %v: %d pixels have the colour of the text, %d that of the page", test.dark, inked, pages)
		}
	}
}
