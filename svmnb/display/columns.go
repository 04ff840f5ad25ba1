package display

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
)

// Pairs is a picture of each pair of columns: the points, a histogram of each column on the
// diagonal, and Pearson's r above it.
//
//	display.Pairs(datasets.Iris()).Show()
//
// The colours are the classes of a data set, or quarters of a target that is a number. Of
// more than six columns it shows those that tell most of the classes or of the target;
// without these, the first. Choose others by Only of a table or ColumnsNamed of a data set.
// Of more than 20,000 rows it takes a random sample with the seed 1, and draws at most 500
// points.
//
// The error of Chart is a *datasets.Error for data that cannot be used, and an
// *svmnb.ArgumentError for sparse points and fewer than two columns that vary.
func Pairs(data datasets.Points) Drawing {
	return NewDrawing("Pairs", func() (*Chart, error) {
		d, err := numbersOf("Pairs", data, datasets.Number, datasets.Time)
		if err != nil {
			return nil, err
		}
		return figure.Pairs(*d)
	})
}

// Histograms is a picture of how the values of each column are distributed, by class:
// numbers and times in bins, categories as bars of their levels. It shows at most 24
// columns, chosen as those of [Pairs] are; colours, samples and errors are also those of
// Pairs.
func Histograms(data datasets.Points) Drawing {
	return NewDrawing("Histograms", func() (*Chart, error) {
		v, err := viewOf("Histograms", data)
		if err != nil {
			return nil, err
		}
		d := v.columns(false, datasets.Number, datasets.Time, datasets.Category)
		if len(d.Columns) == 0 {
			return nil, arguments.Wrong("Histograms", math.NaN(), "there is no column of numbers, times or categories that has a value%s", because(d.Note))
		}
		return figure.Histograms(*d)
	})
}

// Correlations is a picture of Pearson's r of each pair of columns of numbers, over the rows
// in which both have a value. The target is one of the columns if it is a number. Of more
// than 30 columns it shows those with the largest |r|. Samples and errors are those of
// [Pairs].
func Correlations(data datasets.Points) Drawing {
	return NewDrawing("Correlations", func() (*Chart, error) {
		d, err := numbersOf("Correlations", data, datasets.Number)
		if err != nil {
			return nil, err
		}
		return figure.Correlations(*d)
	})
}

// Missing is a picture of the missing values: their share of each column, and which columns
// are missing together. It counts all rows. Errors are those of [Pairs].
func Missing(data datasets.Points) Drawing {
	return NewDrawing("Missing", func() (*Chart, error) {
		v, err := viewOf("Missing", data)
		if err != nil {
			return nil, err
		}
		return figure.Missing(v.missing())
	})
}

// view is what the pictures of data see: the columns of a table, or the points of a data set.
type view struct {
	name  string
	table *datasets.Table   // nil if the points are numbers only
	data  *datasets.Dataset // nil for a table without targets
}

func viewOf(call string, data datasets.Points) (*view, error) {
	if guard.IsNil(data) {
		return nil, arguments.Wrong(call, math.NaN(), "there are no data; give a table or a data set")
	}
	if t, ok := data.(*datasets.Table); ok {
		if err := t.Check(); err != nil {
			return nil, err
		}
		return &view{name: t.Name, table: t}, nil
	}
	d, ok := data.(*datasets.Dataset)
	if !ok {
		x, err := points.Dense(call, data)
		if err != nil {
			return nil, err
		}
		d = &datasets.Dataset{Name: "points", X: x, Y: make([]float64, len(x))}
	}
	if err := steps.CheckMissing(d); err != nil {
		return nil, err
	}
	if err := points.NeedsDense(call, d); err != nil {
		return nil, err
	}
	return &view{name: d.Name, table: d.Table, data: d}, nil
}

func (v *view) size() (rows, columns int) {
	if v.table != nil {
		return v.table.N(), len(v.table.Columns)
	}
	return v.data.N(), v.data.D()
}

// words describe the data for a subtitle.
func (v *view) words() string {
	n, d := v.size()
	return fmt.Sprintf("%s: %s, %s", v.name, say.Several(n, "row"), say.Several(d, "column"))
}

// mostRows is the largest number of rows from which pictures are drawn. A sample of so many
// has the shares of all rows to within one percent.
const mostRows = 20_000

// sample returns the rows that are drawn: all, or random ones. note says how many.
func (v *view) sample() (rows []int, note string) {
	n, _ := v.size()
	if n > mostRows {
		rows = rand.New(rand.NewPCG(1, 0)).Perm(n)[:mostRows]
		slices.Sort(rows)
		return rows, say.Thousands(mostRows) + " of the rows, drawn at random (seed 1)"
	}
	for i := range n {
		rows = append(rows, i)
	}
	return rows, ""
}

// values returns all columns, with the values of these rows.
func (v *view) values(rows []int) []datasets.Column {
	if v.table != nil {
		return v.table.Select(rows).Columns
	}
	var columns []datasets.Column
	for j := range v.data.D() {
		c := datasets.Column{Name: v.data.FeatureName(j), Values: make([]float64, len(rows))}
		for k, i := range rows {
			c.Values[k] = v.data.X[i][j]
		}
		columns = append(columns, c)
	}
	return columns
}

// columns returns the columns of these kinds that have a value, or different values if they
// must vary, and the classes. Its Note says what was left out.
func (v *view) columns(vary bool, kinds ...datasets.Kind) *figure.ColumnsData {
	rows, note := v.sample()
	d := &figure.ColumnsData{Problem: v.words()}
	var others, empty, constant []string
	for _, c := range v.values(rows) {
		switch {
		case !slices.Contains(kinds, c.Kind):
			others = append(others, fmt.Sprintf("%s (%v)", c.Name, c.Kind))
		case !hasValue(c):
			empty = append(empty, c.Name+" (no value)")
		case vary && isConstant(c):
			constant = append(constant, c.Name+" (constant)")
		default:
			d.Columns = append(d.Columns, figure.DataColumn{Name: c.Name, Values: c.Values, Time: c.Kind == datasets.Time, Levels: c.Levels, Codes: c.Codes})
		}
	}
	together := v.classes(d, rows)
	d.Note = strings.Join(slices.DeleteFunc([]string{note, leftOut(slices.Concat(others, empty, constant)), together}, func(s string) bool { return s == "" }), " · ")
	return d
}

// numbersOf returns the columns that vary, and after them a target that is a number. There
// are at least two.
func numbersOf(call string, data datasets.Points, kinds ...datasets.Kind) (*figure.ColumnsData, error) {
	v, err := viewOf(call, data)
	if err != nil {
		return nil, err
	}
	d := v.columns(true, kinds...)
	if d.Target != "" {
		rows, _ := v.sample()
		d.Problem += " and the target " + d.Target
		d.Columns = append(d.Columns, figure.DataColumn{Name: d.Target, Values: v.targets(rows)})
	}
	if len(d.Columns) < 2 {
		return nil, arguments.Wrong(call, math.NaN(), "there are fewer than two columns of numbers that vary%s; Histograms and Table show single columns", because(d.Note))
	}
	return d, nil
}

func hasValue(c datasets.Column) bool {
	for i := range c.N() {
		if !c.Missing(i) {
			return true
		}
	}
	return false
}

// isConstant reports whether all values of a column of numbers or times are equal.
func isConstant(c datasets.Column) bool {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range c.Values {
		if !math.IsNaN(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	return low == high
}

// leftOut names columns that a picture leaves out.
func leftOut(names []string) string {
	if len(names) == 0 {
		return ""
	}
	const some = 4
	if len(names) > some {
		names = append(slices.Clone(names[:some-1]), fmt.Sprintf("%d more", len(names)-some+1))
	}
	return "left out: " + strings.Join(names, ", ")
}

func because(note string) string {
	if note == "" {
		return ""
	}
	return " (" + note + ")"
}

// classes gives d the classes of the rows, or quarters of a target that is a number. The
// rarest of very many classes become one, and note says so.
func (v *view) classes(d *figure.ColumnsData, rows []int) (note string) {
	if v.data == nil {
		return ""
	}
	counts := v.data.Counts()
	if len(counts) < 2 {
		return ""
	}
	if v.data.Classes == nil && len(counts) > fewTargets {
		v.quarters(d, rows)
		return ""
	}
	place := map[float64]int{}
	if len(counts) > figure.MostRegions {
		slices.SortStableFunc(counts, func(a, b datasets.Count) int { return b.N - a.N })
		for _, c := range counts[figure.MostRegions-1:] {
			place[c.Y] = figure.MostRegions - 1
		}
		own := slices.SortedFunc(slices.Values(counts[:figure.MostRegions-1]), func(a, b datasets.Count) int { return cmp.Compare(a.Y, b.Y) })
		others := fmt.Sprintf("%d other classes", len(counts)-len(own))
		note = fmt.Sprintf("the rarest %d of %d classes count as one", len(counts)-len(own), len(counts))
		counts = append(own, datasets.Count{Class: others, Y: math.NaN()})
	}
	for k, c := range counts {
		name := say.Class(c.Class)
		if math.IsNaN(c.Y) {
			name = c.Class
		} else {
			place[c.Y] = k
		}
		d.Classes = append(d.Classes, name)
	}
	for _, i := range rows {
		d.Class = append(d.Class, place[v.data.Y[i]])
	}
	return note
}

// fewTargets is how many different numbers count as classes, as for [datasets.Dataset.String].
const fewTargets = 10

// quarters makes four classes of about equal size from the targets of the rows.
func (v *view) quarters(d *figure.ColumnsData, rows []int) {
	y := v.targets(rows)
	sorted := slices.Sorted(slices.Values(y))
	var ends []float64 // the largest target of each class
	for q := 1; q <= 4; q++ {
		if end := sorted[q*len(sorted)/4-1]; len(ends) == 0 || end > ends[len(ends)-1] {
			ends = append(ends, end)
		}
	}
	first := 0
	for _, end := range ends {
		last, _ := slices.BinarySearchFunc(sorted, end, func(a, b float64) int {
			if a > b {
				return 1
			}
			return -1
		})
		d.Classes = append(d.Classes, say.Signed(sorted[first], 4)+" … "+say.Signed(sorted[last-1], 4))
		first = last
	}
	for _, t := range y {
		k, _ := slices.BinarySearch(ends, t)
		d.Class = append(d.Class, k)
	}
	d.Target = cmp.Or(v.data.Target, "target")
}

func (v *view) targets(rows []int) []float64 {
	y := make([]float64, len(rows))
	for k, i := range rows {
		y[k] = v.data.Y[i]
	}
	return y
}

// missing counts the missing values of all rows.
func (v *view) missing() figure.MissingData {
	n, m := v.size()
	d := figure.MissingData{Problem: v.words(), Rows: n, Counts: make([]int, m)}
	absent := func(i, j int) bool { return v.table.Columns[j].Missing(i) }
	if v.table == nil {
		absent = func(i, j int) bool { return math.IsNaN(v.data.X[i][j]) }
	}
	for j := range m {
		if v.table != nil {
			d.Columns = append(d.Columns, v.table.Columns[j].Name)
		} else {
			d.Columns = append(d.Columns, v.data.FeatureName(j))
		}
	}
	seen := map[string]int{} // index of each pattern
	set := make([]byte, (m+7)/8)
	for i := range n {
		clear(set)
		for j := range m {
			if absent(i, j) {
				d.Counts[j]++
				set[j/8] |= 1 << (j % 8)
			}
		}
		k, known := seen[string(set)]
		if !known {
			k = len(d.Patterns)
			seen[string(set)] = k
			d.Patterns = append(d.Patterns, figure.MissingPattern{})
			for j := range m {
				if set[j/8]>>(j%8)&1 == 1 {
					d.Patterns[k].Columns = append(d.Patterns[k].Columns, j)
				}
			}
		}
		d.Patterns[k].Rows++
	}
	return d
}
