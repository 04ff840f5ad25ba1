package figure

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
)

//go:embed columns.js
var columnsJS source

// ColumnsData are n rows of data in columns, which [Pairs], [Histograms] and [Correlations]
// draw.
type ColumnsData struct {
	Problem string // name and size of the data
	Note    string // which rows and columns are left out; may be empty
	Columns []DataColumn

	// The rows may have classes, at most MostRegions. If the target is a number, the classes
	// are ranges of it, in increasing order.
	Classes []string // k names; nil for none
	Class   []int    // n indices into Classes; nil for none
	Target  string   // the number of which the classes are ranges; "" if they are not
}

// DataColumn has the n values of a column: numbers, times, or levels of a category.
type DataColumn struct {
	Name   string
	Values []float64 // numbers, or the seconds of times since 1970; NaN for a missing value; nil for a category
	Time   bool
	Levels []string // those of a category
	Codes  []int32  // n indices into Levels; −1 for a missing value
}

func (c DataColumn) n() int { return max(len(c.Values), len(c.Codes)) }

// classLook is how the points of a class are drawn.
type classLook struct{ name, color, symbol string }

func (d *ColumnsData) looks() []classLook {
	k := len(d.Classes)
	if k == 0 {
		return []classLook{{"rows", "@series1", "circle"}}
	}
	looks := make([]classLook, k)
	for c, name := range d.Classes {
		switch {
		case d.Target != "": // from faint to strong
			looks[c] = classLook{name, fmt.Sprintf("@neg*%.2f", 0.3+0.7*float64(c)/float64(max(k-1, 1))), "circle"}
		case k == 2:
			looks[c] = []classLook{{name, "@neg", "circle"}, {name, "@pos", diamond}}[c]
		default:
			looks[c] = classLook{name, fmt.Sprintf("@series%d", c+1), regionSymbols[c]}
		}
	}
	return looks
}

// class returns the class of row i, or 0 if the rows have no classes.
func (d *ColumnsData) class(i int) int {
	if d.Class == nil {
		return 0
	}
	return d.Class[i]
}

// check checks the columns; least is the smallest number of them.
func (d *ColumnsData) check(figure string, least int, numeric bool) error {
	c := checks{figure: figure}
	c.refuse(len(d.Columns) < least, "Columns", "has %s: give at least %d", count(len(d.Columns), "column", "columns"), least)
	c.refuse(len(d.Classes) > MostRegions, "Classes", "has %d names: there are colours for %d", len(d.Classes), MostRegions)
	if c.err != nil {
		return c.err
	}
	n := d.Columns[0].n()
	c.refuse(n == 0, "Columns", "has no rows: give at least one")
	c.refuse(d.Class != nil && len(d.Class) != n || (d.Class == nil) != (d.Classes == nil), "Class", "has length %d for %s: give one class for each, or no Classes", len(d.Class), count(n, "row", "rows"))
	for i, k := range d.Class {
		c.refuse(k < 0 || k >= len(d.Classes), fmt.Sprintf("Class[%d]", i), "is %d: there are %d Classes", k, len(d.Classes))
	}
	for j, column := range d.Columns {
		name := fmt.Sprintf("Columns[%d]", j)
		c.refuse(column.n() != n, name, "has %d values, Columns[0] has %d: give columns of equal length", column.n(), n)
		if column.Values == nil && !numeric {
			for i, k := range column.Codes {
				c.refuse(int(k) < -1 || int(k) >= len(column.Levels), fmt.Sprintf("%s.Codes[%d]", name, i), "is %d: there are %d Levels", k, len(column.Levels))
			}
			continue
		}
		c.numbers("row", n, given(name+".Values", column.Values, missing))
		low, high := extent(column.Values)
		c.refuse(low > high, name, "has no value: leave it out")
	}
	return c.err
}

// pearson returns Pearson's r of the rows in which both columns have a value, and their
// number. r is NaN if one of the columns is constant there.
func pearson(a, b []float64) (r float64, rows int) {
	var meanA, meanB float64
	for i := range a {
		if finite(a[i] - b[i]) {
			meanA, meanB, rows = meanA+a[i], meanB+b[i], rows+1
		}
	}
	meanA, meanB = meanA/float64(rows), meanB/float64(rows)
	largestA, largestB := 0.0, 0.0 // squares of numbers divided by these do not overflow
	for i := range a {
		if finite(a[i] - b[i]) {
			largestA, largestB = max(largestA, math.Abs(a[i]-meanA)), max(largestB, math.Abs(b[i]-meanB))
		}
	}
	if rows < 2 || largestA <= 1e-12*math.Abs(meanA) || largestB <= 1e-12*math.Abs(meanB) {
		return math.NaN(), rows
	}
	var aa, ab, bb float64
	for i := range a {
		if finite(a[i] - b[i]) {
			x, y := (a[i]-meanA)/largestA, (b[i]-meanB)/largestB
			aa, ab, bb = aa+x*x, ab+x*y, bb+y*y
		}
	}
	return max(-1, min(1, ab/math.Sqrt(aa*bb))), rows
}

// correlation writes r with two digits, or with more if it would be 1 or −1 by rounding.
func correlation(r float64) string {
	for digits := 2; digits < 7 && math.Abs(r) >= 0.1; digits++ {
		if text := fixed(r, digits); strings.Contains(text, "0.") {
			return text
		}
	}
	return numberTo(r, 2)
}

// between returns the share of the variance of values that lies between the classes (the
// correlation ratio η²), over the rows that have a value.
func (d *ColumnsData) between(values []float64) float64 {
	n, sum := make([]float64, len(d.Classes)), make([]float64, len(d.Classes))
	var all, mean float64
	for _, v := range values {
		if finite(v) {
			all, mean = all+1, mean+v
		}
	}
	mean /= all
	var variance, explained float64
	for i, v := range values {
		if finite(v) {
			n[d.Class[i]]++
			sum[d.Class[i]] += v - mean
			variance += (v - mean) * (v - mean)
		}
	}
	for c := range n {
		if n[c] > 0 {
			explained += sum[c] * sum[c] / n[c]
		}
	}
	if !(variance > 0) {
		return 0
	}
	return min(1, explained/variance)
}

// bins are intervals of equal width. Value v is in bin ⌊(v − from)/width⌋.
type bins struct {
	from, width float64
	n           int
}

func (b bins) of(v float64) int {
	return max(0, min(b.n-1, int(math.Floor((v-b.from)/b.width+1e-9))))
}

func (b bins) edge(k int) float64 { return roundTo(b.from+float64(k)*b.width, 12) }

// seconds are the widths of bins of times: from a second to hours, days and years.
var seconds = []float64{1, 5, 15, 60, 300, 900, 3600, 3 * 3600, 6 * 3600, 12 * 3600, day, 2 * day, 7 * day, 14 * day, 30 * day, 91 * day, year, 2 * year, 5 * year, 10 * year, 25 * year, 100 * year}

const day, year = 86400.0, 365.25 * 86400

// binsOf returns at most about most bins with round edges. Whole numbers of a small range
// have a bin each.
func binsOf(c DataColumn, most int) bins {
	low, high := extent(c.Values)
	least := (high - low) / float64(most)
	if !(high > low) {
		least = max(math.Abs(high), 1) / 10
	}
	width := 0.0
	if c.Time {
		least = max(least, 1)
		if k, _ := slices.BinarySearch(seconds, least); k < len(seconds) {
			width = seconds[k]
		}
	}
	whole := !c.Time && integers(c.Values)
	switch {
	case width > 0:
	case whole && least <= 1:
		return bins{low - 0.5, 1, int(high-low) + 1}
	default:
		power := math.Pow(10, math.Floor(math.Log10(least)))
		for _, m := range []float64{1, 2, 2.5, 5, 10} {
			if width = roundTo(m*power, 3); width >= least*(1-1e-9) && (!whole || width == math.Trunc(width)) {
				break
			}
		}
	}
	from := math.Floor(low/width+1e-9) * width
	return bins{from, width, max(1, int(math.Ceil((high-from)/width-1e-9)))}
}

// integers reports whether all values are whole numbers.
func integers(values []float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return finite(v) && v != math.Trunc(v) })
}

// named shortens the name of a column for a title.
func named(name string) string { return cut(name, 28) }
