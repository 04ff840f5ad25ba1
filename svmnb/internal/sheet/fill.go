package sheet

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
)

// Dataset lists the points of a data set.
func (t *Table) Dataset(d *datasets.Dataset) error {
	if err := steps.CheckMissing(d); err != nil {
		return err
	}
	if err := points.NeedsDense("Table", d); err != nil {
		return err
	}
	if d.Table != nil {
		if err := t.Named(d.Table); err != nil {
			return err
		}
		t.Name = d.Name
		t.targets(d)
		t.Columns[len(t.Columns)-1].Kind = "target"
		return nil
	}
	t.Name = d.Name
	t.Numbered("row", d.N())
	for j := range d.D() {
		t.Numbers(d.FeatureName(j), points.Column(d.X, j))
	}
	t.targets(d)
	return nil
}

func (t *Table) targets(d *datasets.Dataset) {
	if d.Classes == nil {
		t.Numbers(cmp.Or(d.Target, "target"), d.Y)
		return
	}
	classes := make([]string, d.N())
	for i, y := range d.Y {
		classes[i] = d.ClassName(y)
	}
	t.Texts(cmp.Or(d.Target, "class"), classes)
}

// Named lists the rows of a table with the kinds of its columns.
func (t *Table) Named(of *datasets.Table) error {
	if err := of.Check(); err != nil {
		return err
	}
	t.Name, t.Notes = of.Name, of.Notes
	t.Numbered("row", of.N())
	for _, c := range of.Columns {
		switch c.Kind {
		case datasets.Number:
			t.Numbers(c.Name, c.Values)
		default:
			text := make([]string, c.N())
			for i := range text {
				text[i] = c.Format(i)
			}
			t.Texts(c.Name, text)
		}
		last := &t.Columns[len(t.Columns)-1]
		last.Kind = c.Kind.String()
		if c.Kind == datasets.Time {
			last.Values = c.Values
			last.print = printer(c.Values)
		}
	}
	return nil
}

// printer returns a function that writes times: as days if all values are whole days,
// otherwise with seconds.
func printer(values []float64) func(v float64) string {
	unit := 86400.0
	for _, v := range values {
		if !math.IsNaN(v) && v != math.Floor(v/unit)*unit {
			unit = 1
		}
	}
	return func(v float64) string {
		return datasets.Column{Kind: datasets.Time, Values: []float64{math.Round(v/unit) * unit}}.Format(0)
	}
}

// Records lists a table whose first row has the names of the columns. A column becomes
// numbers if every cell is a number or empty.
func (t *Table) Records(rows [][]string) error {
	if len(rows) == 0 {
		return nil
	}
	for i, row := range rows {
		if len(row) != len(rows[0]) {
			return arguments.At("Table", i, -1, float64(len(row)), "the row has %d cells and the first, which names the columns, %d; give rows of equal length", len(row), len(rows[0]))
		}
	}
	for j, name := range rows[0] {
		text := make([]string, len(rows)-1)
		for i, row := range rows[1:] {
			text[i] = row[j]
		}
		t.Texts(name, text)
		t.Columns[j].Values = asNumbers(text)
	}
	return nil
}

// asNumbers reads every text as a number, and an empty one as NaN. It returns nil if a text
// is neither, or if all are empty.
func asNumbers(text []string) []float64 {
	values, found := make([]float64, len(text)), false
	for i, t := range text {
		values[i] = math.NaN()
		if t == "" {
			continue
		}
		v, err := strconv.ParseFloat(strings.ReplaceAll(t, "−", "-"), 64)
		if err != nil {
			return nil
		}
		values[i], found = v, true
	}
	if !found {
		return nil
	}
	return values
}

// Matrix lists rows of numbers.
func (t *Table) Matrix(x [][]float64) error {
	for i, row := range x {
		if len(row) != len(x[0]) {
			return arguments.At("Table", i, -1, float64(len(row)), "the row has %d values and the first %d; give rows of equal length", len(row), len(x[0]))
		}
	}
	if len(x) == 0 || len(x[0]) == 0 {
		return nil
	}
	t.Numbered("row", len(x))
	for j := range x[0] {
		t.Numbers(fmt.Sprintf("x%d", j+1), points.Column(x, j))
	}
	return nil
}

// Values lists values whose type is known by reflection only: a slice of fits or structs,
// or a map of columns.
func (t *Table) Values(of any) error {
	v := reflect.Indirect(reflect.ValueOf(of))
	refuse := func() error {
		return arguments.At("Table", -1, -1, math.NaN(), "a value of type %v is not a table; give a data set, a fit, a slice of fits or structs, a [][]string, or a map of columns", v.Type())
	}
	switch v.Kind() {
	case reflect.Map:
		if v.Type().Key().Kind() != reflect.String || v.Type().Elem().Kind() != reflect.Slice {
			return refuse()
		}
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
		for _, k := range keys {
			list := v.MapIndex(k)
			if n := len(t.Columns); n > 0 && list.Len() != t.Rows() {
				return arguments.At("Table", -1, -1, float64(list.Len()), "column %q has %d values, column %q %d; give columns of equal length", k.String(), list.Len(), t.Columns[0].Name, t.Rows())
			}
			t.field(k.String(), list.Len(), list.Index)
		}
	case reflect.Slice, reflect.Array:
		if runs := fitsOf(v); runs != nil {
			t.Compare(runs)
			return nil
		}
		element := v.Type().Elem()
		for element.Kind() == reflect.Pointer {
			element = element.Elem()
		}
		if element.Kind() != reflect.Struct {
			t.Numbered("row", v.Len())
			t.field("value", v.Len(), v.Index)
			return nil
		}
		for i := range v.Len() {
			if e := v.Index(i); e.Kind() == reflect.Pointer && e.IsNil() {
				return arguments.At("Table", i, -1, math.NaN(), "the pointer is nil; leave the row out")
			}
		}
		for j := range element.NumField() {
			if f := element.Field(j); f.IsExported() {
				t.field(spaced(f.Name), v.Len(), func(i int) reflect.Value { return reflect.Indirect(v.Index(i)).Field(j) })
			}
		}
	default:
		return refuse()
	}
	return nil
}

// field adds a column of the n values that at returns.
func (t *Table) field(name string, n int, at func(i int) reflect.Value) {
	numbers, text := make([]float64, n), make([]string, n)
	all, times := n > 0, false
	for i := range n {
		v := at(i)
		if v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		switch {
		case !v.IsValid():
			numbers[i] = math.NaN()
			continue
		case v.Type() == reflect.TypeFor[time.Duration]():
			times = true
			numbers[i] = float64(v.Int()) / 1e6
		case v.Type().Implements(reflect.TypeFor[fmt.Stringer]()):
			all = false
		case v.CanInt():
			numbers[i] = float64(v.Int())
		case v.CanUint():
			numbers[i] = float64(v.Uint())
		case v.CanFloat():
			numbers[i] = v.Float()
		default:
			all = false
		}
		text[i] = cell(v)
	}
	switch {
	case all && times:
		t.Times(name, numbers)
	case all:
		t.Numbers(name, numbers)
	default:
		t.Texts(name, text)
	}
}

// cell prints a value of any kind; of a long slice it prints the beginning.
func cell(v reflect.Value) string {
	if v.Kind() == reflect.Slice && v.Len() > 6 {
		return strings.TrimSuffix(cell(v.Slice(0, 6)), "]") + fmt.Sprintf(" …] (%d)", v.Len())
	}
	if f, ok := v.Interface().([]float64); ok {
		var parts []string
		for _, x := range f {
			parts = append(parts, say.Signed(x, 4))
		}
		return "[" + strings.Join(parts, " ") + "]"
	}
	return fmt.Sprint(v.Interface())
}

// spaced splits the name of a field into words: KernelValues becomes "kernel values".
func spaced(name string) string {
	var b strings.Builder
	letters := []rune(name)
	for i, r := range letters {
		if i > 0 && unicode.IsUpper(r) && unicode.IsLower(letters[i-1]) {
			b.WriteByte(' ')
		}
		if i+1 < len(letters) && unicode.IsUpper(letters[i+1]) || i > 0 && unicode.IsUpper(letters[i-1]) || len(letters) == 1 {
			b.WriteRune(r) // part of an abbreviation, or a single letter
			continue
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// fitsOf returns the elements of a slice if all are fits, otherwise nil.
func fitsOf(v reflect.Value) (fits []Compared) {
	for i := range v.Len() {
		e := v.Index(i)
		if !e.CanInterface() || e.Kind() == reflect.Pointer && e.IsNil() {
			return nil
		}
		f, ok := e.Interface().(Compared)
		if !ok {
			return nil
		}
		fits = append(fits, f)
	}
	return fits
}

// Compared is a fit that can be listed with others.
type Compared interface{ Comparison() Comparison }

// Comparison is the row of a fit in such a table. Its Measures are in the order of the
// variable Measures; NaN means that the fit does not have one.
type Comparison struct {
	Name, Status string
	Measures     [len(Measures)]float64
}

// Measures are the columns of a table that compares fits.
var Measures = [...]string{"iterations", "kernel values", "time", "dual", "gap", "KKT violation", "support vectors", "at the bound", "training errors", "RMSE"}

// Compare lists fits, one row for each. It omits measures that no fit has.
func (t *Table) Compare(fits []Compared) {
	var names, status []string
	var measures [len(Measures)][]float64
	for _, f := range fits {
		c := f.Comparison()
		names, status = append(names, c.Name), append(status, c.Status)
		for k, v := range c.Measures {
			measures[k] = append(measures[k], v)
		}
	}
	t.Texts("fit", names)
	t.Texts("status", status)
	for k, name := range Measures {
		switch {
		case !slices.ContainsFunc(measures[k], func(v float64) bool { return !math.IsNaN(v) }):
		case name == "time":
			t.Times(name, measures[k])
		default:
			t.Numbers(name, measures[k])
		}
	}
}

// Milliseconds converts a time to the unit of tables.
func Milliseconds(d time.Duration) float64 { return float64(d) / 1e6 }
