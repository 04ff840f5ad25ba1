package svmnb

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
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/sheet"
)

// Sheet is a table that is ready to be shown; [Table] makes it.
type Sheet struct {
	table sheet.Table
	err   error
}

// Err says why there is no table: an [*ArgumentError] that names what [Table] was
// given, with the row and column where it is one of these; or nil.
func (s *Sheet) Err() error {
	if s == nil {
		return arguments.Wrong("Table", math.NaN(), "there is no table; take one from Table")
	}
	return s.err
}

// Show displays the table in the cell's output; see the function [Show].
func (s *Sheet) Show() {
	if err := s.Err(); err != nil {
		Show(err)
		return
	}
	Show(s)
}

// String is the table as text.
func (s *Sheet) String() string {
	if err := s.Err(); err != nil {
		return err.Error()
	}
	return s.table.String()
}

// Table is x as a table that can be sorted in the page:
//
//	svmnb.Table(datasets.Iris()).Show()
//
// x is
//
//   - a data set, a row for each point;
//   - a fit, a row for each training point with what its KKT condition says, or for
//     each machine of several classes;
//   - a slice of fits, which are compared, or what [Race], a search or
//     [CrossValidate] has found;
//   - a slice of structs, or of pointers to them, such as fit.SupportVectors() or
//     fit.Trace.Points: a column for each exported field;
//   - a [][]string whose first row names the columns, or a [][]float64;
//   - a map of columns of equal length, such as map[string][]float64.
//
// Long tables show their first and last rows, and of each column the least, the mean
// and the greatest value, how many are missing (NaN, or an empty text), and a
// histogram. Clicking a column's name sorts by it; where no script runs, the table
// reads as it is. What is no table is an error of [Sheet.Err], and Show says it.
func Table(x any) *Sheet {
	if isNil(x) || isNone(x) {
		return &Sheet{err: arguments.Wrong("Table", math.NaN(), "there is nothing to list; give a data set, a fit, or a slice")}
	}
	s := &Sheet{}
	switch v := x.(type) {
	case tabular:
		v.sheet(s)
	case *datasets.Dataset:
		s.dataset(v)
	case [][]string:
		s.records(v)
	case [][]float64:
		s.matrix(v)
	default:
		s.values(reflect.Indirect(reflect.ValueOf(x)))
	}
	if s.err == nil && s.table.Rows() == 0 {
		s.err = arguments.Wrong("Table", math.NaN(), "the %T has no rows; give at least one", x)
	}
	return s
}

// tabular is what lists itself. Cells that do not have one need not link it.
type tabular interface{ sheet(s *Sheet) }

func (s *Sheet) dataset(d *datasets.Dataset) {
	if s.err = missingAllowed(d); s.err != nil {
		return
	}
	if s.err = needsDense("Table", d); s.err != nil {
		return
	}
	s.table.Name = d.Name
	s.table.Numbered("row", d.N())
	for j := range d.D() {
		s.table.Numbers(d.FeatureName(j), column(d.X, j))
	}
	if d.Classes == nil {
		s.table.Numbers(cmp.Or(d.Target, "target"), d.Y)
		return
	}
	classes := make([]string, d.N())
	for i, y := range d.Y {
		classes[i] = d.ClassName(y)
	}
	s.table.Texts(cmp.Or(d.Target, "class"), classes)
}

// records takes a table whose first row names the columns; a column of which every
// cell is a number or empty is one of numbers.
func (s *Sheet) records(rows [][]string) {
	if len(rows) == 0 {
		return
	}
	for i, row := range rows {
		if len(row) != len(rows[0]) {
			s.err = arguments.At("Table", i, -1, float64(len(row)), "the row has %d cells and the first, which names the columns, %d; give rows of equal length", len(row), len(rows[0]))
			return
		}
	}
	for j, name := range rows[0] {
		text := make([]string, len(rows)-1)
		for i, row := range rows[1:] {
			text[i] = row[j]
		}
		s.table.Texts(name, text)
		s.table.Columns[j].Values = asNumbers(text)
	}
}

// asNumbers reads every text as a number, an empty one as NaN; nil where one is
// neither, or all are empty.
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

func (s *Sheet) matrix(x [][]float64) {
	for i, row := range x {
		if len(row) != len(x[0]) {
			s.err = arguments.At("Table", i, -1, float64(len(row)), "the row has %d values and the first %d; give rows of equal length", len(row), len(x[0]))
			return
		}
	}
	if len(x) == 0 || len(x[0]) == 0 {
		return
	}
	s.table.Numbered("row", len(x))
	for j := range x[0] {
		s.table.Numbers(fmt.Sprintf("x%d", j+1), column(x, j))
	}
}

// values takes what only reflection knows: a slice of fits or structs, a map of
// columns.
func (s *Sheet) values(v reflect.Value) {
	refuse := func() {
		s.err = arguments.At("Table", -1, -1, math.NaN(), "a value of type %v is not a table; give a data set, a fit, a slice of fits or structs, a [][]string, or a map of columns", v.Type())
	}
	switch v.Kind() {
	case reflect.Map:
		if v.Type().Key().Kind() != reflect.String || v.Type().Elem().Kind() != reflect.Slice {
			refuse()
			return
		}
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
		for _, k := range keys {
			list := v.MapIndex(k)
			if n := len(s.table.Columns); n > 0 && list.Len() != s.table.Rows() {
				s.err = arguments.At("Table", -1, -1, float64(list.Len()), "column %q has %d values, column %q %d; give columns of equal length", k.String(), list.Len(), s.table.Columns[0].Name, s.table.Rows())
				return
			}
			s.field(k.String(), list.Len(), list.Index)
		}
	case reflect.Slice, reflect.Array:
		if runs := fitsOf(v); runs != nil {
			s.compare(runs)
			return
		}
		element := v.Type().Elem()
		for element.Kind() == reflect.Pointer {
			element = element.Elem()
		}
		if element.Kind() != reflect.Struct {
			s.table.Numbered("row", v.Len())
			s.field("value", v.Len(), v.Index)
			return
		}
		for i := range v.Len() {
			if e := v.Index(i); e.Kind() == reflect.Pointer && e.IsNil() {
				s.err = arguments.At("Table", i, -1, math.NaN(), "the pointer is nil; leave the row out")
				return
			}
		}
		for j := range element.NumField() {
			if f := element.Field(j); f.IsExported() {
				s.field(spaced(f.Name), v.Len(), func(i int) reflect.Value { return reflect.Indirect(v.Index(i)).Field(j) })
			}
		}
	default:
		refuse()
	}
}

// field adds the column of the values that at returns.
func (s *Sheet) field(name string, n int, at func(i int) reflect.Value) {
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
		s.table.Times(name, numbers)
	case all:
		s.table.Numbers(name, numbers)
	default:
		s.table.Texts(name, text)
	}
}

// cell prints a value of any kind; of a long slice the beginning.
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

// spaced makes words of a field's name: "kernel values" of KernelValues.
func spaced(name string) string {
	var b strings.Builder
	letters := []rune(name)
	for i, r := range letters {
		if i > 0 && unicode.IsUpper(r) && unicode.IsLower(letters[i-1]) {
			b.WriteByte(' ')
		}
		if i+1 < len(letters) && unicode.IsUpper(letters[i+1]) || i > 0 && unicode.IsUpper(letters[i-1]) || len(letters) == 1 {
			b.WriteRune(r) // of an abbreviation, or a single letter
			continue
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// fitsOf returns the elements of a slice that are all fits; else nil.
func fitsOf(v reflect.Value) (fits []compared) {
	for i := range v.Len() {
		e := v.Index(i)
		if !e.CanInterface() || isNil(e.Interface()) {
			return nil
		}
		f, ok := e.Interface().(compared)
		if !ok {
			return nil
		}
		fits = append(fits, f)
	}
	return fits
}

// compared is a fit that can stand in a table with others.
type compared interface{ comparison() comparison }

// comparison is a fit's line: the measures are those of comparisonMeasures, NaN for
// what it does not have.
type comparison struct {
	name, status string
	measures     [len(comparisonMeasures)]float64
}

var comparisonMeasures = [...]string{"iterations", "kernel values", "time", "dual", "gap", "KKT violation", "support vectors", "at the bound", "training errors", "RMSE"}

// comparison fills in what every run of a solver knows.
func (r record) comparison() comparison {
	c, nan := r.Certificate, math.NaN()
	return comparison{r.words, r.Status.String(), [...]float64{float64(r.Iterations), float64(r.Evaluations), milliseconds(r.Elapsed), c.Dual, max(c.Gap, 0), c.MaxKKT,
		float64(c.Free + c.AtUpper), float64(c.AtUpper), nan, nan}}
}

func (f *Fit) comparison() comparison {
	c := f.record().comparison()
	if rows, values := f.glance(); rows == nil { // else too much for a table
		c.measures[8] = float64(f.errorsAt(nil, values))
	}
	return c
}

func (f *RegressionFit) comparison() comparison {
	c := f.record().comparison()
	free, bound := f.counts()
	c.measures[6], c.measures[7] = float64(free+bound), float64(bound)
	if rows, _ := f.glance(); rows != nil {
		return c // too much for a table
	}
	sum := 0.0
	for _, r := range f.Residuals() {
		sum += r * r / float64(len(f.Beta))
	}
	c.measures[9] = math.Sqrt(sum)
	return c
}

func (f *JointFit) comparison() comparison { return f.record().comparison() }

func (f *MultiFit) comparison() comparison {
	m, nan := f.Certificate(), math.NaN()
	wrong := nan
	if rows, decisions := f.glance(); rows == nil { // else too much for a table
		wrong = float64(f.errorsAt(nil, decisions))
	}
	iterations, values := 0, int64(0)
	f.each(func(_ string, r *solvers.Result) { iterations, values = iterations+r.Iterations, values+r.Evaluations })
	return comparison{f.words(), f.Status().String(), [...]float64{float64(iterations), float64(values), milliseconds(f.Elapsed), m.Dual, max(m.Gap, 0), m.MaxKKT,
		float64(len(f.support)), nan, wrong, nan}}
}

func (f *ProcessFit) comparison() comparison {
	nan, sum := math.NaN(), 0.0
	for i, v := range f.trained() {
		r := f.task.data.Y[i] - v
		sum += r * r / float64(len(f.Alpha))
	}
	return comparison{f.task.data.Name + " · " + say.Brief(f.task.kernel.String()) + " · " + f.Method, f.Status.String(), [...]float64{float64(f.Iterations), float64(f.Evaluations), milliseconds(f.Elapsed),
		nan, f.Certificate.Energy, nan, nan, nan, nan, math.Sqrt(sum)}}
}

// compare lists fits, a row for each; a measure that none has is left out.
func (s *Sheet) compare(fits []compared) {
	var names, status []string
	var measures [len(comparisonMeasures)][]float64
	for _, f := range fits {
		c := f.comparison()
		names, status = append(names, c.name), append(status, c.status)
		for k, v := range c.measures {
			measures[k] = append(measures[k], v)
		}
	}
	s.table.Texts("fit", names)
	s.table.Texts("status", status)
	for k, name := range comparisonMeasures {
		switch {
		case !slices.ContainsFunc(measures[k], func(v float64) bool { return !math.IsNaN(v) }):
		case name == "time":
			s.table.Times(name, measures[k])
		default:
			s.table.Numbers(name, measures[k])
		}
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / 1e6 }

func (f *Fit) sheet(s *Sheet) {
	s.table.Name = f.record().words
	if s.err = listable(len(f.Alpha), f.each()); s.err != nil {
		return
	}
	s.values(reflect.ValueOf(f.Conditions()))
	s.classNames(f.task.negative, f.task.positive)
	s.table.Columns[0].Number = true
}

// classNames writes the classes for the labels ±1 in the column Y, and y f as the
// figures do.
func (s *Sheet) classNames(negative, positive string) {
	for c, col := range s.table.Columns {
		if col.Name == "YF" {
			s.table.Columns[c].Name = "y·f"
		}
		if col.Name != "Y" {
			continue
		}
		text := make([]string, len(col.Values))
		for i, y := range col.Values {
			text[i] = negative
			if y > 0 {
				text[i] = positive
			}
		}
		s.table.Columns[c] = sheet.Column{Name: "class", Text: text}
	}
}

func (f *RegressionFit) sheet(s *Sheet) {
	s.table.Name = f.record().words
	if s.err = listable(len(f.Beta), f.each()); s.err != nil {
		return
	}
	s.values(reflect.ValueOf(f.Conditions()))
	s.table.Columns[0].Number = true
}

func (f *MultiFit) sheet(s *Sheet) {
	s.table.Name = f.words()
	if f.joint != nil {
		s.compare([]compared{f.Joint()})
		return
	}
	var runs []compared
	for _, m := range f.machines {
		runs = append(runs, m)
	}
	s.compare(runs)
	for i, m := range f.machines {
		s.table.Columns[0].Text[i] = m.task.positive + " against " + m.task.negative
	}
}

func (f *ProcessFit) sheet(s *Sheet) {
	t := f.task
	s.table.Name = t.data.Name
	s.table.Numbered("row", t.data.N())
	for j := range t.data.D() {
		s.table.Numbers(t.data.FeatureName(j), column(t.data.X, j))
	}
	mean, rest := f.trained(), slices.Clone(t.data.Y)
	for i, v := range mean {
		rest[i] -= v
	}
	s.table.Numbers(cmp.Or(t.data.Target, "target"), t.data.Y)
	s.table.Numbers("mean", mean)
	s.table.Numbers("residual", rest)
	s.table.Numbers("alpha", f.Alpha)
}

// trained returns the posterior means at the n points of the data.
func (f *ProcessFit) trained() []float64 {
	out := make([]float64, f.task.data.N())
	for i, x := range f.task.data.X {
		out[i] = f.mean(x)
	}
	f.points.Times(out, f.task.data.X, f.Alpha)
	return out
}

func (r *RaceResult) sheet(s *Sheet) {
	s.table.Name = r.task.words()
	var runs []compared
	for i := range r.Runs {
		runs = append(runs, &r.Runs[i])
	}
	s.compare(runs)
	s.table.Columns[0].Name = "method"
}

func (r *RaceRun) comparison() comparison {
	c := comparison{name: r.Name, status: r.status()}
	for k := range c.measures {
		c.measures[k] = math.NaN()
	}
	if r.Fit != nil {
		c.measures = r.Fit.comparison().measures
	}
	return c
}

func (f *SearchFit) sheet(s *Sheet) {
	s.table.Name = say.Brief(f.Description.learner.String())
	n := len(f.Trials)
	for i, name := range f.Names {
		values := make([]float64, n)
		for k, t := range f.Trials {
			values[k] = t.Values[i]
		}
		s.table.Numbers(name, values)
	}
	mean, se, failed := make([]float64, n), make([]float64, n), make([]string, n)
	for k, t := range f.Trials {
		mean[k], se[k], failed[k] = t.Mean(), t.StandardError(), t.Err
	}
	s.table.Numbers(f.Metric.Name, mean)
	s.table.Numbers("standard error", se)
	for k := range f.Folds {
		scores := make([]float64, n)
		for i, t := range f.Trials {
			scores[i] = t.Scores[k]
		}
		s.table.Numbers(fmt.Sprintf("fold %d", k+1), scores)
	}
	if slices.ContainsFunc(failed, func(why string) bool { return why != "" }) {
		s.table.Texts("failed", failed)
	}
}

func (v *Validation) sheet(s *Sheet) {
	s.table.Name = say.Brief(v.Learner.String())
	fold := make([]float64, len(v.Scores))
	for k := range fold {
		fold[k] = float64(k + 1)
	}
	s.table.Numbers("fold", fold).Number = true
	s.table.Numbers(v.Metric.Name, v.Scores)
}

func (e *Evaluation) sheet(s *Sheet) {
	s.table.Name = e.Of
	names := func(of []int) []string {
		text := make([]string, len(of))
		for i, k := range of {
			text[i] = e.Classes[k]
		}
		return text
	}
	s.table.Numbered("row", len(e.Truth))
	s.table.Texts("true class", names(e.Truth))
	s.table.Texts("predicted", names(e.Predicted))
	if e.Scores != nil {
		s.table.Numbers("score", e.Scores)
	}
	if e.Probabilities != nil {
		for k, class := range e.Classes {
			s.table.Numbers("P("+class+")", column(e.Probabilities, k))
		}
	}
}
