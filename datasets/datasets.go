// Package datasets has small real data sets with their sources and licences, seeded generators
// that give the same points on every machine, readers whose errors name line and column, and
// scaling that is fitted on training data only.
//
// Generators and methods return a data set and no error, so that they can be chained in a
// notebook cell. If one of them fails, it returns an empty data set, and [Dataset.Check]
// returns the reason. Everything that learns from data calls Check.
package datasets

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/svmnb/svmnb/internal/parallel"
)

// Dataset is n points of d features with one target each. Rows of X share one backing array.
// Methods return new data sets and never change the receiver.
type Dataset struct {
	Name     string
	X        [][]float64 // n × d; nil if the points are sparse or a table
	Sparse   *CSR        // sparse points, in place of X; otherwise nil
	Table    *Table      // points with columns that are not all numbers, in place of X; otherwise nil
	Y        []float64   // n targets: class numbers or real values
	Features []string    // d names; may be nil
	Target   string      // what the targets are; may be ""
	// Classes has the names of the classes: Classes[k] is the class whose Y is k. If Y is ±1,
	// Classes is {negative, positive}. It is nil if the targets need no names.
	Classes []string
	Source  string // where the data come from
	Licence string

	// The scalers that were applied to the points and to the targets, in this order; nil for
	// data as they were measured. A scaler's Apply adds itself. A fit of scaled data can
	// thereby detect test data that were not scaled, or scaled differently.
	Scalings       []*Scaler
	TargetScalings []*TargetScaler

	err error // why a generator, reader or method could not make the data
}

// Error says what is wrong with a data set, and where.
type Error struct {
	Dataset string // name of the data set
	Row     int    // index into X and Y; −1 if the error is not about a single row
	Column  int    // index into X[Row]; −1 if the error is not about a single column
	Feature string // name of the column; "" if Column is −1
	Msg     string // what is wrong and what to do
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("datasets: " + e.Dataset)
	if e.Row >= 0 {
		fmt.Fprintf(&b, ", row %d", e.Row)
	}
	if e.Column >= 0 {
		fmt.Fprintf(&b, ", column %d (%s)", e.Column, e.Feature)
	}
	b.WriteString(": " + e.Msg)
	if e.Row >= 0 || e.Column >= 0 {
		b.WriteString(" (rows and columns count from 0)")
	}
	return b.String()
}

// New makes a data set of n points x, each of length d, with their n targets y. It copies
// both. If lengths do not fit, [Dataset.Check] returns the error.
func New(x [][]float64, y []float64) *Dataset {
	d := &Dataset{Name: "data", X: x, Y: y}
	if err := d.shape(); err != nil {
		return d.failed(err)
	}
	return d.clone()
}

// N returns the number of points.
func (d *Dataset) N() int {
	switch {
	case d == nil: // the error of a reader was ignored; Check reports it
		return 0
	case d.Sparse != nil:
		return d.Sparse.N()
	case d.Table != nil:
		return d.Table.N()
	}
	return len(d.X)
}

// D returns the number of features, or 0 if there are no points.
func (d *Dataset) D() int {
	switch {
	case d.N() == 0:
		return 0
	case d.Sparse != nil:
		return d.Sparse.D
	case d.Table != nil:
		return len(d.Table.Columns)
	}
	return len(d.X[0])
}

// FeatureName returns the name of column j: Features[j], or x1, x2, … if Features is nil.
func (d *Dataset) FeatureName(j int) string {
	if d != nil && 0 <= j && j < len(d.Features) {
		return d.Features[j]
	}
	return "x" + strconv.Itoa(j+1)
}

// String describes the data set in one line: "iris: 150 × 4, 3 classes (setosa 50, versicolor
// 50, virginica 50)" for classes, or "cars: 50 × 1, distance (ft) 2 … 120" for real targets.
// Targets are treated as real if there are no Classes and more than ten different numbers.
func (d *Dataset) String() string {
	if err := d.shape(); err != nil {
		return err.Error()
	}
	head := fmt.Sprintf("%s: %d × %d", d.Name, d.N(), d.D())
	if d.N() == 0 {
		return head
	}
	if d.Sparse != nil {
		head += fmt.Sprintf(" sparse (%.3g %% of the values are there)", 100*float64(len(d.Sparse.Value))/max(1, float64(d.N())*float64(d.D())))
	}
	counts := d.Counts()
	if d.real(counts) {
		return fmt.Sprintf("%s, %s %.4g … %.4g", head, cmp.Or(d.Target, "targets"), slices.Min(d.Y), slices.Max(d.Y))
	}
	list := make([]string, len(counts))
	for k, c := range counts {
		list[k] = fmt.Sprintf("%s %d", c.Class, c.N)
	}
	noun := "classes"
	if len(counts) == 1 {
		noun = "class"
	}
	return fmt.Sprintf("%s, %d %s (%s)", head, len(counts), noun, abbreviate(list))
}

// Check returns nil, or an [*Error] that says why nothing can be learnt from the data. Reasons
// are bad arguments of a generator or method, no points, no features, rows of different
// lengths, X and Y of different lengths, a value that is NaN or infinite, and names that do
// not fit. Check accepts any number of classes; see [Dataset.Binary].
func (d *Dataset) Check() error {
	if err := d.shape(); err != nil {
		return err
	}
	if d.N() == 0 {
		return d.fault(-1, -1, "there are no points; at least one row is needed")
	}
	if d.D() == 0 {
		return d.fault(-1, -1, "there are no features; every row of X is empty")
	}
	var wrong error
	if d.Table != nil {
		wrong = d.notNumbers()
	} else if !d.finite() {
		d.values(func(i, j int, v float64) bool {
			if !finite(v) {
				wrong = d.fault(i, j, fmt.Sprintf("the value is %v; leave the row out or put a number there", v))
			}
			return wrong == nil
		})
	}
	if wrong != nil {
		return wrong
	}
	var zero, minus bool
	for i, y := range d.Y {
		if !finite(y) {
			return d.fault(i, -1, fmt.Sprintf("the target is %v; leave the row out or put a number there", y))
		}
		if d.Classes == nil {
			continue
		}
		if d.classNumber(y) < 0 {
			return d.fault(i, -1, fmt.Sprintf("the target %v is not the number of a class; with %d Classes it is 0 … %d (or ±1 for two), without Classes any number",
				y, len(d.Classes), len(d.Classes)-1))
		}
		zero, minus = zero || y == 0, minus || y == -1
		if zero && minus {
			return d.fault(i, -1, "the targets 0 and -1 both name class "+d.Classes[0]+"; use 0 and 1, or -1 and +1")
		}
	}
	return nil
}

// Warnings lists what is valid but surprising: constant features, and equal points of
// different classes, which no machine can tell apart. Equal points with different real targets
// give no warning, since they are repeated measurements. Sparse points are not checked.
func (d *Dataset) Warnings() []string {
	if d.Check() != nil || d.Sparse != nil {
		return nil
	}
	var constant []string
	for j := range d.D() {
		if !slices.ContainsFunc(d.X, func(row []float64) bool { return row[j] != d.X[0][j] }) {
			constant = append(constant, d.FeatureName(j))
		}
	}
	var list []string
	if len(constant) > 0 && d.N() > 1 {
		list = append(list, fmt.Sprintf("%s the same value in every row: %s", plural(len(constant), "feature has", "features have"), abbreviate(constant)))
	}
	if d.real(d.Counts()) {
		return list
	}

	order := indices(d.N())
	slices.SortFunc(order, func(i, j int) int { return slices.Compare(d.X[i], d.X[j]) })
	clashes, first := 0, ""
	for k := 1; k < len(order); k++ {
		i, j := order[k-1], order[k]
		if d.Y[i] != d.Y[j] && slices.Equal(d.X[i], d.X[j]) {
			if clashes++; clashes == 1 {
				first = fmt.Sprintf("rows %d and %d", min(i, j), max(i, j))
			}
		}
	}
	if clashes > 0 {
		list = append(list, fmt.Sprintf("%s different targets, the first: %s", plural(clashes, "pair of points is equal but has", "pairs of points are equal but have"), first))
	}
	return list
}

// shape checks what every method relies on: X is rectangular, and Y and Features have matching
// lengths.
func (d *Dataset) shape() error {
	if d == nil {
		return &Error{Dataset: "no data set", Row: -1, Column: -1, Msg: "the pointer is nil; make one by New, a generator or a reader"}
	}
	if d.err != nil {
		return d.err
	}
	if d.Sparse != nil {
		return d.shapeSparse()
	}
	if d.Table != nil {
		return d.shapeTable()
	}
	if len(d.X) != len(d.Y) {
		return d.fault(-1, -1, fmt.Sprintf("X has %s and Y %s; they must be equally many", plural(len(d.X), "row", "rows"), plural(len(d.Y), "target", "targets")))
	}
	for i, row := range d.X {
		if len(row) != d.D() {
			return d.fault(i, -1, fmt.Sprintf("the row has %s, row 0 has %d; all rows must be equally long", plural(len(row), "value", "values"), d.D()))
		}
	}
	if err := d.shapeScalings(); err != nil {
		return err
	}
	return d.shapeFeatures()
}

func (d *Dataset) shapeFeatures() error {
	if d.Features != nil && d.N() > 0 && len(d.Features) != d.D() {
		return d.fault(-1, -1, fmt.Sprintf("Features has %s for %s; give one for each, or nil", plural(len(d.Features), "name", "names"), plural(d.D(), "column", "columns")))
	}
	return nil
}

func (d *Dataset) fault(row, column int, msg string) *Error {
	e := &Error{Dataset: cmp.Or(d.Name, "data"), Row: row, Column: column, Msg: msg}
	if column >= 0 {
		e.Feature = d.FeatureName(column)
	}
	return e
}

// failed returns an empty data set whose Check returns err.
func (d *Dataset) failed(err error) *Dataset {
	f := &Dataset{err: err}
	if d != nil {
		f.Name = d.Name
	}
	return f
}

// clone returns a copy of d whose rows share one backing array.
func (d *Dataset) clone() *Dataset {
	c := *d
	switch {
	case d.Sparse != nil:
		c.Sparse = d.Sparse.Clone()
	case d.Table == nil: // the columns of a table are never changed
		c.X = rows(d.N(), d.D())
		for i, row := range d.X {
			copy(c.X[i], row)
		}
	}
	c.Y = slices.Clone(d.Y)
	c.Features = slices.Clone(d.Features)
	c.Classes = slices.Clone(d.Classes)
	return &c
}

// rows returns n zero rows of length d in one backing array.
func rows(n, d int) [][]float64 { return rowsOf(make([]float64, n*d), n, d) }

func rowsOf(buf []float64, n, d int) [][]float64 {
	x := make([][]float64, n)
	for i := range x {
		x[i] = buf[i*d : (i+1)*d : (i+1)*d]
	}
	return x
}

func indices(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// finite reports whether all numbers of the points are finite. For many numbers it uses all
// cores.
func (d *Dataset) finite() bool {
	all := func(values []float64) bool {
		for _, v := range values {
			if v-v != 0 { // v is NaN or ±Inf
				return false
			}
		}
		return true
	}
	const some = 1 << 16 // number of values that is worth a goroutine
	parts := max(1, min(runtime.GOMAXPROCS(0), len(d.X), len(d.X)*d.D()/some))
	var bad atomic.Bool
	_ = parallel.For(context.Background(), parts, parts, func(_, part int) {
		for _, row := range d.X[part*len(d.X)/parts : (part+1)*len(d.X)/parts] {
			if !all(row) {
				bad.Store(true)
				return
			}
		}
	})
	return !bad.Load() && (d.Sparse == nil || all(d.Sparse.Value))
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

const maxListed = 10

// abbreviate joins the items with commas. Of more than maxListed items it shows only some.
func abbreviate(list []string) string {
	if len(list) <= maxListed {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:maxListed], ", "), len(list)-maxListed)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
