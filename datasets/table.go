package datasets

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Table is n rows of named columns of numbers, categories, times and texts, as they
// come from files and databases. Values may be missing. Methods return new tables and
// never change the receiver; they share columns, which must not be changed.
//
// A table that could not be made is empty, and Check says why. So calls chain in a
// notebook cell:
//
//	data := datasets.OpenTable("customers.csv").Without("id").Target("churn")
type Table struct {
	Name    string
	Columns []Column
	Source  string   // where the table comes from
	Notes   []string // what a reader has guessed and a person should know

	err error
}

// Kind is what the values of a column are.
type Kind int

// The kinds of columns.
const (
	Number   Kind = iota
	Category      // one of a few levels
	Time          // a date, a time of day, or both
	Text          // words
	Vector        // many numbers, most of them 0, such as those that a step makes of texts
)

func (k Kind) String() string {
	if names := [...]string{"number", "category", "time", "text", "vector"}; k >= 0 && int(k) < len(names) {
		return names[k]
	}
	return "Kind(" + strconv.Itoa(int(k)) + ")"
}

// Column is n values of one kind.
type Column struct {
	Name string
	Kind Kind

	// Values are those of a Number, or of a Time in seconds since 1970 (UTC); NaN where
	// the value is missing. They are nil for other kinds.
	Values []float64
	// Levels are those that a Category may have; Codes[i] is the index in Levels of row
	// i, or −1 where the value is missing. Of a Vector they name the Sparse.D features, or are nil.
	// They are nil for other kinds.
	Levels []string
	Codes  []int32
	// Texts are those of a Text; "" where it is missing. They are nil for other kinds.
	Texts  []string
	Sparse *CSR // the n values of a Vector; nil for other kinds
}

// N returns the number of rows.
func (c Column) N() int {
	switch c.Kind {
	case Category:
		return len(c.Codes)
	case Text:
		return len(c.Texts)
	case Vector:
		return c.Sparse.N()
	}
	return len(c.Values)
}

// Missing reports whether the value of row i is missing.
func (c Column) Missing(i int) bool {
	switch c.Kind {
	case Category:
		return c.Codes[i] < 0
	case Text:
		return c.Texts[i] == ""
	case Vector:
		return false
	}
	return math.IsNaN(c.Values[i])
}

// Format returns the value of row i as text, "" where it is missing. What Format
// writes, a [TableReader] reads back.
func (c Column) Format(i int) string {
	if c.Missing(i) {
		return ""
	}
	switch c.Kind {
	case Category:
		return c.Levels[c.Codes[i]]
	case Text:
		return c.Texts[i]
	case Time:
		return formatTime(c.Values[i])
	case Vector:
		return plural(c.Sparse.Start[i+1]-c.Sparse.Start[i], "number", "numbers")
	}
	return strconv.FormatFloat(c.Values[i], 'g', -1, 64)
}

// formatTime writes a date, and the time of day where it is not midnight.
func formatTime(seconds float64) string {
	t := TimeOf(seconds)
	switch {
	case t.Hour() == 0 && t.Minute() == 0 && t.Second() == 0 && t.Nanosecond() == 0:
		return t.Format(time.DateOnly)
	case t.Nanosecond() == 0:
		return t.Format(time.DateTime)
	}
	return t.Format("2006-01-02 15:04:05.999999")
}

// TimeOf returns a value of a Time column as a time.Time in UTC, to the microsecond.
func TimeOf(seconds float64) time.Time {
	return time.UnixMicro(int64(math.Round(seconds * 1e6))).UTC()
}

// choose returns the column of these rows.
func (c Column) choose(rows []int) Column {
	switch c.Kind {
	case Category:
		c.Codes = chosen(c.Codes, rows)
	case Text:
		c.Texts = chosen(c.Texts, rows)
	case Vector:
		x := c.Sparse.Points(rows...)
		c.Sparse = &x
	default:
		c.Values = chosen(c.Values, rows)
	}
	return c
}

func chosen[T any](v []T, rows []int) []T {
	out := make([]T, len(rows))
	for k, i := range rows {
		out[k] = v[i]
	}
	return out
}

// NewTable makes a table of columns, which it shares. Columns that do not fit are
// reported by Check.
func NewTable(columns ...Column) *Table { return &Table{Name: "table", Columns: columns} }

// N returns the number of rows.
func (t *Table) N() int {
	if t == nil || len(t.Columns) == 0 {
		return 0
	}
	return t.Columns[0].N()
}

// Names returns the names of the columns.
func (t *Table) Names() []string {
	if t == nil {
		return nil
	}
	names := make([]string, len(t.Columns))
	for j, c := range t.Columns {
		names[j] = c.Name
	}
	return names
}

// Column returns the column of a name; ok is false where there is none.
func (t *Table) Column(name string) (c Column, ok bool) {
	if t != nil {
		for _, c := range t.Columns {
			if c.Name == name {
				return c, true
			}
		}
	}
	return Column{}, false
}

// Check reports why the table cannot be used, or nil: what went wrong when it was
// made, no columns, no rows, columns of different length, names that are empty or
// stand twice, codes without a level. Errors of readers are [*ReadError], all others
// [*Error].
func (t *Table) Check() error {
	if t == nil {
		return &Error{Dataset: "no table", Row: -1, Column: -1, Msg: "the pointer is nil; make one by OpenTable, NewTable or a TableReader"}
	}
	if t.err != nil {
		return t.err
	}
	if len(t.Columns) == 0 {
		return t.fault(-1, -1, "there are no columns")
	}
	seen := map[string]bool{}
	for j, c := range t.Columns {
		switch {
		case c.Kind < Number || c.Kind > Vector:
			return t.fault(-1, j, fmt.Sprintf("its kind is %v; want Number, Category, Time, Text or Vector", c.Kind))
		case c.Kind == Vector && (c.Sparse == nil || c.Sparse.N() > 0 && c.Sparse.Fault() != nil):
			return t.fault(-1, j, "its Sparse is missing, or no CSR: see Dataset.Check of NewSparse")
		case c.Name == "":
			return t.fault(-1, j, "it has no name; give one")
		case seen[c.Name]:
			return t.fault(-1, j, "a column before has the same name; rename one")
		case c.N() != t.N():
			return t.fault(-1, j, fmt.Sprintf("it has %s, column 0 has %d; all columns must be equally long", plural(c.N(), "value", "values"), t.N()))
		}
		seen[c.Name] = true
		for i, k := range c.Codes {
			if c.Kind == Category && (k < -1 || int(k) >= len(c.Levels)) {
				return t.fault(i, j, fmt.Sprintf("code %d is no index of %s; want -1 for a missing value", k, plural(len(c.Levels), "level", "levels")))
			}
		}
		for i, v := range c.Values {
			if math.IsInf(v, 0) && (c.Kind == Number || c.Kind == Time) {
				return t.fault(i, j, "the value is infinite; put a number there, or NaN for a missing one")
			}
		}
	}
	if t.N() == 0 {
		return t.fault(-1, -1, "there are no rows; at least one is needed")
	}
	return nil
}

func (t *Table) fault(row, column int, msg string) *Error {
	e := &Error{Dataset: cmp.Or(t.Name, "table"), Row: row, Column: column, Msg: msg}
	if column >= 0 {
		e.Feature = t.Columns[column].Name
	}
	return e
}

func (t *Table) failed(err error) *Table {
	f := &Table{err: err}
	if t != nil {
		f.Name = t.Name
	}
	return f
}

// wrong is failed for a call that was given something wrong.
func (t *Table) wrong(msg string, args ...any) *Table {
	return t.failed(t.fault(-1, -1, fmt.Sprintf(msg, args...)))
}

// String describes the table in one line: "customers: 2000 rows, 9 columns (4 numbers,
// 3 categories, 1 time, 1 text)".
func (t *Table) String() string {
	if err := t.Check(); err != nil {
		return err.Error()
	}
	var count [Vector + 1]int
	for _, c := range t.Columns {
		count[c.Kind]++
	}
	var list []string
	for k, many := range [...]string{"numbers", "categories", "times", "texts", "vectors"} {
		if count[k] > 0 {
			list = append(list, plural(count[k], Kind(k).String(), many))
		}
	}
	return fmt.Sprintf("%s: %s, %s (%s)", t.Name, plural(t.N(), "row", "rows"), plural(len(t.Columns), "column", "columns"), strings.Join(list, ", "))
}

// find returns the indices of the named columns.
func (t *Table) find(call string, names []string) ([]int, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	all, columns := t.Names(), make([]int, len(names))
	for k, name := range names {
		if columns[k] = slices.Index(all, name); columns[k] < 0 {
			return nil, t.fault(-1, -1, fmt.Sprintf("%s: there is no column %q; the columns are %s", call, clip(name), abbreviate(all)))
		}
	}
	return columns, nil
}

// Only returns the table of the named columns, in that order.
func (t *Table) Only(names ...string) *Table {
	columns, err := t.find("Only", names)
	if err != nil {
		return t.failed(err)
	}
	s := *t
	s.Columns = chosen(t.Columns, columns)
	return &s
}

// Without returns the table without the named columns.
func (t *Table) Without(names ...string) *Table {
	columns, err := t.find("Without", names)
	if err != nil {
		return t.failed(err)
	}
	s := *t
	s.Columns = nil
	for j, c := range t.Columns {
		if !slices.Contains(columns, j) {
			s.Columns = append(s.Columns, c)
		}
	}
	return &s
}

// Rename returns the table with another name for a column.
func (t *Table) Rename(from, to string) *Table {
	columns, err := t.find("Rename", []string{from})
	if err != nil {
		return t.failed(err)
	}
	s := *t
	s.Columns = slices.Clone(t.Columns)
	s.Columns[columns[0]].Name = to
	return &s
}

// Select returns the given rows, counted from 0, in that order; a row may be taken
// more than once.
func (t *Table) Select(rows []int) *Table {
	if err := t.Check(); err != nil {
		return t.failed(err)
	}
	for _, i := range rows {
		if i < 0 || i >= t.N() {
			return t.wrong("Select was asked for row %d; there are rows 0 … %d", i, t.N()-1)
		}
	}
	s := *t
	s.Columns = slices.Clone(t.Columns)
	for j, c := range t.Columns {
		s.Columns[j] = c.choose(rows)
	}
	return &s
}

// Present returns the rows in which none of the named columns has a missing value; of
// all columns where no name is given.
func (t *Table) Present(names ...string) *Table {
	if len(names) == 0 {
		names = t.Names()
	}
	columns, err := t.find("Present", names)
	if err != nil {
		return t.failed(err)
	}
	var keep []int
	for i := range t.N() {
		if !slices.ContainsFunc(columns, func(j int) bool { return t.Columns[j].Missing(i) }) {
			keep = append(keep, i)
		}
	}
	if len(keep) == 0 {
		return t.wrong("Present: every row has a missing value in %s", abbreviate(names))
	}
	return t.Select(keep)
}

// With returns the table with a column more, or with the column in place of the one of
// its name.
func (t *Table) With(c Column) *Table {
	if t == nil {
		return NewTable(c)
	}
	s := *t
	s.Columns = slices.Clone(t.Columns)
	if j := slices.Index(t.Names(), c.Name); j >= 0 {
		s.Columns[j] = c
	} else {
		s.Columns = append(s.Columns, c)
	}
	return &s
}

// As returns the table with the named columns as values of another kind: a number that
// stands for a class becomes a Category, a Category of many levels a Text, text that is
// written as numbers or times these. A value that cannot be read as the kind is an error
// of Check.
func (t *Table) As(kind Kind, names ...string) *Table {
	columns, err := t.find("As", names)
	if err != nil {
		return t.failed(err)
	}
	s := *t
	s.Columns = slices.Clone(t.Columns)
	for _, j := range columns {
		c := t.Columns[j]
		if c.Kind == kind {
			continue
		}
		if c.Kind == Vector || kind == Vector {
			return t.wrong("As: %s is a %v and cannot become a %v", c.Name, c.Kind, kind)
		}
		fields := make([]string, c.N())
		for i := range fields {
			fields[i] = c.Format(i)
		}
		made, bad := columnAs(kind, fields, TableReader{})
		if bad >= 0 {
			return t.failed(t.fault(bad, j, fmt.Sprintf("As: %q is not a %v; leave it as a %v, or mend the value", clip(fields[bad]), kind, c.Kind)))
		}
		made.Name = c.Name
		s.Columns[j] = made
	}
	return &s
}

// Order states the levels of a category in their order, such as "low", "middle", "high";
// transform.Ordinal makes numbers of it. A value that is not among the levels is an error
// of Check.
func (t *Table) Order(name string, levels ...string) *Table {
	columns, err := t.find("Order", []string{name})
	if err != nil {
		return t.failed(err)
	}
	j := columns[0]
	c := t.Columns[j]
	if c.Kind != Category {
		return t.wrong("Order: %s is a %v, and only a category has levels; say As(datasets.Category, %q) before", name, c.Kind, name)
	}
	to := make([]int32, len(c.Levels))
	for k, level := range c.Levels {
		to[k] = int32(slices.Index(levels, level))
	}
	c.Codes = slices.Clone(c.Codes)
	for i, k := range c.Codes {
		if k < 0 {
			continue
		}
		if c.Codes[i] = to[k]; to[k] < 0 {
			return t.failed(t.fault(i, j, fmt.Sprintf("Order: %q is not among the levels %s; add it", clip(c.Levels[k]), abbreviate(levels))))
		}
	}
	c.Levels = slices.Clone(levels)
	return t.With(c)
}

// WriteCSV writes the table with a header, as [TableReader.Read] reads it: the kinds come
// back where they are the ones that a reader guesses, or are given by Kinds.
func (t *Table) WriteCSV(w io.Writer) error {
	if err := t.Check(); err != nil {
		return err
	}
	out := csv.NewWriter(w)
	out.Write(t.Names()) // errors stay in out
	record := make([]string, len(t.Columns))
	for i := range t.N() {
		for j, c := range t.Columns {
			record[j] = c.Format(i)
		}
		out.Write(record)
	}
	out.Flush()
	return out.Error()
}

// Kinds are the kinds of the columns by name, as Kinds of a [TableReader] takes them.
func (t *Table) Kinds() map[string]Kind {
	kinds := map[string]Kind{}
	if t != nil {
		for _, c := range t.Columns {
			kinds[c.Name] = c.Kind
		}
	}
	return kinds
}

// Target returns the data set whose targets are the named column and whose features are
// all others. A number is a target as it is; the levels of a category become Classes, in
// their order, and so do few different texts. Where all features are numbers, they are X,
// with NaN where a value is missing; otherwise they are the Table of the data set, and a
// pipeline makes numbers of them (package transform). A missing target is an error of
// Check.
func (t *Table) Target(name string) *Dataset {
	empty := &Dataset{}
	if t != nil {
		empty.Name = t.Name
	}
	columns, err := t.find("Target", []string{name})
	if err != nil {
		return empty.failed(err)
	}
	j := columns[0]
	c := t.Columns[j]
	missing, first := 0, -1
	for i := range c.N() {
		if c.Missing(i) {
			if missing++; first < 0 {
				first = i
			}
		}
	}
	switch {
	case missing > 0:
		return empty.failed(t.fault(first, j, fmt.Sprintf("the target is missing here, and in %s altogether; leave them out by Present(%q)", plural(missing, "row", "rows"), name)))
	case c.Kind == Time || c.Kind == Vector:
		return empty.failed(t.fault(-1, j, fmt.Sprintf("a %v is no target; make a number of it, such as the days since a date", c.Kind)))
	case c.Kind == Text:
		c, _ = columnAs(Category, c.Texts, TableReader{})
	}
	features := t.Without(name)
	d := &Dataset{Name: t.Name, Target: name, Source: t.Source, Features: features.Names()}
	if c.Kind == Number {
		d.Y = slices.Clone(c.Values)
	} else {
		d.Y = make([]float64, c.N())
		used := make([]int, len(c.Levels))
		for _, k := range c.Codes {
			used[k] = 1
		}
		for k, level := range c.Levels {
			if used[k] > 0 {
				used[k], d.Classes = len(d.Classes), append(d.Classes, level)
			}
		}
		for i, k := range c.Codes {
			d.Y[i] = float64(used[k])
		}
	}
	d.features(features)
	return d
}

// features makes the columns of t the points of d.
func (d *Dataset) features(t *Table) {
	d.X, d.Table = nil, nil
	if x, ok := t.numbers(); ok {
		d.X = x
	} else {
		d.Table = t
	}
}

// notNumbers says why a learner cannot take a table as it is.
func (d *Dataset) notNumbers() error {
	for j, c := range d.Table.Columns {
		if c.Kind != Number {
			return d.fault(-1, j, fmt.Sprintf("the column is a %v, and a learner needs numbers; put transform.Encode() before it, as in selection.Pipe(transform.Encode(), …)", c.Kind))
		}
	}
	return d.fault(-1, -1, "the points are a Table of numbers only, which Target of the table makes X")
}

// shapeTable is shape for points in a table.
func (d *Dataset) shapeTable() error {
	switch {
	case d.X != nil || d.Sparse != nil:
		return d.fault(-1, -1, "there are points beside the Table; a data set has its points in one place")
	case d.Table.N() != len(d.Y):
		return d.fault(-1, -1, fmt.Sprintf("the Table has %s and Y %s; they must be equally many", plural(d.Table.N(), "row", "rows"), plural(len(d.Y), "target", "targets")))
	case d.N() == 0:
		return nil
	}
	if err := d.Table.Check(); err != nil {
		return err
	}
	return d.shapeFeatures()
}

// numbers returns the values of the rows where all columns are numbers.
func (t *Table) numbers() (x [][]float64, ok bool) {
	for _, c := range t.Columns {
		if c.Kind != Number {
			return nil, false
		}
	}
	x = rows(t.N(), len(t.Columns))
	for j, c := range t.Columns {
		for i, v := range c.Values {
			x[i][j] = v
		}
	}
	return x, true
}
