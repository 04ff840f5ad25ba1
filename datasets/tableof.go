package datasets

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Records makes a table of rows of text, the first of which has the names, as frames of
// other packages write them: TableReader{}.Records(df.Records()). Kinds are guessed as
// [TableReader.Read] does.
func (r TableReader) Records(records [][]string) *Table {
	r.Name = cmp.Or(r.Name, "table")
	t := &Table{Name: r.Name}
	if len(records) == 0 {
		return t.failed(&ReadError{Name: r.Name, Msg: "the table is empty"})
	}
	lines := make([]int, len(records))
	for i, record := range records {
		if lines[i] = i + 1; len(record) != len(records[0]) {
			return t.failed(&ReadError{Name: r.Name, Line: i + 1, Msg: fmt.Sprintf("there are %s where the first line has %d", plural(len(record), "column", "columns"), len(records[0]))})
		}
	}
	r.Header = cmp.Or(r.Header, HasHeader)
	return r.table(t, records, lines)
}

// SQLRows are the rows of a query: *sql.Rows of package database/sql is one.
type SQLRows interface {
	Columns() ([]string, error)
	Next() bool
	Scan(dest ...any) error
	Err() error
}

// TableOfSQL reads all rows of a query. Numbers and times keep their kind, and NULL is a
// missing value; text is read as [TableReader.Read] does, since some databases give numbers
// as text. The caller closes the rows.
func TableOfSQL(rows SQLRows) *Table {
	t := &Table{Name: "query"}
	broken := func(err error) *Table {
		return t.failed(&ReadError{Name: t.Name, Msg: err.Error(), Err: err})
	}
	names, err := rows.Columns()
	if err != nil {
		return broken(err)
	}
	values := make([][]any, len(names))
	row, into := make([]any, len(names)), make([]any, len(names))
	for j := range row {
		into[j] = &row[j]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return broken(err)
		}
		for j, v := range row {
			if b, ok := v.([]byte); ok {
				v = string(b) // the driver uses its bytes again
			}
			values[j] = append(values[j], v)
		}
	}
	if err := rows.Err(); err != nil {
		return broken(err)
	}
	return t.of(names, values, TableReader{}.guess)
}

// TableOfRecords makes a table of records by name, such as those of JSON: numbers, strings,
// booleans, times, and nil or no entry for a missing value. Columns are in alphabetical
// order.
func TableOfRecords(records []map[string]any) *Table {
	t := &Table{Name: "records"}
	seen := map[string]bool{}
	for _, r := range records {
		for name := range r {
			seen[name] = true
		}
	}
	names := slices.Sorted(maps.Keys(seen))
	values := make([][]any, len(names))
	for j, name := range names {
		values[j] = make([]any, len(records))
		for i, r := range records {
			values[j][i] = r[name]
		}
	}
	return t.of(names, values, asWords)
}

// TableOfStructs makes a table of structs, a row of each. Exported fields are columns, named
// after the field or its tag: numbers, strings, booleans, times, and pointers to these, of
// which nil is a missing value, as it is where a struct such as sql.NullString is not Valid.
// A field tagged "-" is left out:
//
//	type Customer struct {
//		ID     string    `svmnb:"-"`
//		Income *float64  `svmnb:"income (CHF)"`
//		Joined time.Time
//	}
func TableOfStructs[T any](list []T) *Table {
	typ := reflect.TypeFor[T]()
	t := &Table{Name: "table"}
	if typ.Kind() != reflect.Struct {
		return t.wrong("the rows are of type %v; give structs", typ)
	}
	t.Name = cmp.Or(typ.Name(), t.Name)
	var names []string
	var values [][]any
	for k := range typ.NumField() {
		f := typ.Field(k)
		name, _, _ := strings.Cut(f.Tag.Get("svmnb"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		column := make([]any, len(list))
		for i := range list {
			column[i] = present(reflect.ValueOf(&list[i]).Elem().Field(k))
		}
		names, values = append(names, cmp.Or(name, f.Name)), append(values, column)
	}
	return t.of(names, values, asWords)
}

// present returns the value of a field, or nil where it says that there is none.
func present(v reflect.Value) any {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	if v.Kind() == reflect.Struct && v.NumField() == 2 && v.Type().Field(1).Name == "Valid" {
		if !v.Field(1).Bool() {
			return nil
		}
		v = v.Field(0)
	}
	return v.Interface()
}

// TableOfMatrix makes a table of the n rows of a matrix. Columns without a name are called
// x1, x2 and so on.
func TableOfMatrix(x Matrix, names ...string) *Table {
	t := &Table{Name: "matrix"}
	if x == nil {
		return t.wrong("the matrix is nil")
	}
	n, d := x.Dims()
	if len(names) > d {
		return t.wrong("there are %s for %s", plural(len(names), "name", "names"), plural(d, "column", "columns"))
	}
	for j := range d {
		c := Column{Name: "x" + strconv.Itoa(j+1), Values: make([]float64, n)}
		if j < len(names) {
			c.Name = names[j]
		}
		for i := range c.Values {
			c.Values[i] = x.At(i, j)
		}
		t.Columns = append(t.Columns, c)
	}
	return t
}

// guess makes a column of text, of whatever kind fits.
func (r TableReader) guess(t *Table, name string, fields []string) Column {
	c, _ := r.column(t, name, fields)
	return c
}

// WordsColumn makes a column of text: a category if the texts repeat, otherwise a text. An
// empty one is missing. Digits are not read as numbers.
func WordsColumn(name string, texts []string) Column {
	c, _ := TableReader{Missing: []string{}}.words(texts)
	c.Name = name
	return c
}

// asWords is WordsColumn for programs that have numbers as numbers.
func asWords(_ *Table, name string, fields []string) Column { return WordsColumn(name, fields) }

// of makes columns of values of any type, those of text by the function.
func (t *Table) of(names []string, values [][]any, text func(t *Table, name string, fields []string) Column) *Table {
	for j, name := range names {
		c, err := t.columnOf(j, name, values[j], text)
		if err != nil {
			return t.failed(err)
		}
		c.Name = name
		t.Columns = append(t.Columns, c)
	}
	if err := t.Check(); err != nil {
		return t.failed(err)
	}
	return t
}

// columnOf makes a column of values: of numbers, of times, or of what they are as text.
func (t *Table) columnOf(j int, name string, values []any, text func(t *Table, name string, fields []string) Column) (Column, error) {
	numbers, times := Column{Kind: Number, Values: make([]float64, len(values))}, Column{Kind: Time, Values: make([]float64, len(values))}
	fields := make([]string, len(values))
	isNumber, isTime, hasText := true, true, false
	for i, v := range values {
		numbers.Values[i], times.Values[i] = math.NaN(), math.NaN()
		if v == nil {
			continue
		}
		switch r := reflect.ValueOf(v); {
		case r.Type() == reflect.TypeFor[time.Time]():
			times.Values[i], isNumber = SecondsOf(v.(time.Time)), false
			fields[i] = formatTime(times.Values[i])
		case numeric(r.Kind()) && r.Kind() != reflect.Bool:
			numbers.Values[i], isTime = float(r), false
			fields[i] = strconv.FormatFloat(numbers.Values[i], 'g', -1, 64)
		case r.Kind() == reflect.String || r.Kind() == reflect.Bool:
			fields[i], isNumber, isTime = fmt.Sprint(v), false, false
			hasText = hasText || r.Kind() == reflect.String
		default:
			e := t.fault(i, -1, fmt.Sprintf("column %s: a value of type %T is no number, text, boolean or time; leave the column out", name, v))
			e.Column, e.Feature = j, name
			return Column{}, e
		}
	}
	switch {
	case isNumber:
		return numbers, nil
	case isTime:
		return times, nil
	case !hasText:
		c, _ := columnAs(Category, fields, TableReader{})
		return c, nil
	}
	return text(t, name, fields), nil
}
