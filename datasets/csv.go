package datasets

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/svmnb/svmnb/internal/mark"
)

// CSV says how to read a table. The zero value reads a table that is separated by commas and
// whose last column is the target. It treats the first line as a header if no field of it is a
// number.
type CSV struct {
	Name    string // of the data set; default "csv", or the name of the file
	Comma   rune   // separator; default ','
	Comment rune   // a line that starts with it is skipped; default none
	Header  Header // default DetectHeader
	Target  string // name of the target column; default Column
	Column  int    // number of the target column, counted from 1; default the last
}

// Header says whether the first line of a table has the names of its columns.
type Header int

const (
	DetectHeader Header = iota // the first line has the names if no field of it is a number or a missing value
	HasHeader
	NoHeader
)

// LoadCSV reads the table of a file; see [ReadCSV].
func LoadCSV(path string, opt CSV) (*Dataset, error) {
	return load(path, func(r io.Reader, name string) (*Dataset, error) {
		opt.Name = cmp.Or(opt.Name, name)
		return ReadCSV(r, opt)
	})
}

// ReadCSV reads a table (RFC 4180) with one row for each point. All columns but the target are
// features and must have finite numbers. Targets are numbers, or names, which become Classes
// in alphabetical order. A header gives the names of Features and Target. An error is a
// [*ReadError] with the line and the number of the column, counted from 1.
func ReadCSV(r io.Reader, opt CSV) (*Dataset, error) {
	t := table{opt: opt, name: cmp.Or(opt.Name, "csv")}
	return t.read(r)
}

// table is the state of reading one table.
type table struct {
	opt      CSV
	name     string
	csv      *csv.Reader
	names    []string // names of the columns; nil without a header
	target   int      // index of the target column
	cells    []float64
	labels   []string
	first    int  // line of the first row of data
	guessed  bool // Header was DetectHeader, and no header was found
	features int
}

func (t *table) read(r io.Reader) (*Dataset, error) {
	in, err := mark.Skip(r)
	if err != nil {
		return nil, &ReadError{Name: t.name, Line: 1, Msg: err.Error(), Err: err}
	}
	t.csv = csv.NewReader(in)
	t.csv.ReuseRecord = true
	record, err := t.begin()
	for ; err == nil; record, err = t.next() {
		if err := t.row(record); err != nil {
			return nil, err
		}
	}
	if err != io.EOF {
		return nil, err
	}
	return t.dataset()
}

// begin reads the header, finds the target, and returns the first record of data.
func (t *table) begin() ([]string, error) {
	t.csv.Comment = t.opt.Comment
	if t.opt.Comma != 0 {
		t.csv.Comma = t.opt.Comma
	}
	record, err := t.next()
	if err == io.EOF {
		return nil, t.fail(0, 0, "the table is empty")
	}
	if err != nil {
		return nil, err
	}
	if t.isHeader(record) {
		t.names = slices.Clone(record)
	}
	if err := t.locateTarget(len(record)); err != nil {
		return nil, err
	}
	if t.names != nil {
		return t.next()
	}
	return record, nil
}

// next returns the next record, with spaces around its fields removed.
func (t *table) next() ([]string, error) {
	record, err := t.csv.Read()
	if err == io.EOF {
		return nil, io.EOF
	}
	if err != nil {
		wrong := &ReadError{Name: t.name, Msg: err.Error(), Err: err}
		if parse := (*csv.ParseError)(nil); errors.As(err, &parse) {
			wrong.Line, wrong.Msg = parse.StartLine, parse.Err.Error()
			switch {
			case errors.Is(err, csv.ErrFieldCount):
				wrong.Msg = fmt.Sprintf("there are %s where the first line has %d", plural(len(record), "column", "columns"), t.csv.FieldsPerRecord)
			case errors.Is(err, csv.ErrBareQuote), errors.Is(err, csv.ErrQuote):
				wrong.Column = len(record) + 1
				wrong.Msg += `; quote the whole field and write " inside it as ""`
			}
		}
		return nil, wrong
	}
	for j := range record {
		record[j] = strings.TrimSpace(record[j])
	}
	return record, nil
}

func (t *table) isHeader(record []string) bool {
	if t.opt.Header != DetectHeader {
		return t.opt.Header == HasHeader
	}
	for _, field := range record {
		_, err := strconv.ParseFloat(field, 64)
		if err == nil || errors.Is(err, strconv.ErrRange) || missing(field) {
			t.guessed = true
			return false
		}
	}
	return true
}

func (t *table) locateTarget(columns int) error {
	t.features = columns - 1
	if columns < 2 {
		return t.fail(1, 0, "there is only one column where features and a target are needed; if a character other than a comma separates them, set Comma")
	}
	if t.opt.Target == "" {
		if t.opt.Column < 0 || t.opt.Column > columns {
			return t.fail(0, 0, fmt.Sprintf("Column is %d; the table has columns 1 … %d", t.opt.Column, columns))
		}
		t.target = t.opt.Column - 1
		if t.opt.Column == 0 {
			t.target = columns - 1
		}
		return nil
	}
	if t.opt.Column != 0 {
		return t.fail(0, 0, "Target and Column are both set; name the target or number it")
	}
	if t.names == nil {
		return t.fail(1, 0, fmt.Sprintf("there is no header in which to find Target %q; set Column, or Header if this line is one", t.opt.Target))
	}
	t.target = slices.Index(t.names, t.opt.Target)
	if t.target < 0 {
		return t.fail(1, 0, fmt.Sprintf("there is no column %q; the columns are %s", t.opt.Target, abbreviate(t.names)))
	}
	if again := slices.Index(t.names[t.target+1:], t.opt.Target); again >= 0 {
		return t.fail(1, t.target+again+2, fmt.Sprintf("a second column is named %q; set Column instead of Target", t.opt.Target))
	}
	return nil
}

func (t *table) row(record []string) error {
	if t.first == 0 {
		t.first, _ = t.csv.FieldPos(0)
	}
	for j, field := range record {
		if j == t.target && !missing(field) {
			t.labels = append(t.labels, strings.Clone(field)) // cloned, because otherwise the field would keep its whole line in memory
			continue
		}
		v, wrong := number(field)
		if missing(field) {
			wrong = "the value is missing; fill it in or leave the row out"
		}
		if wrong == "" {
			t.cells = append(t.cells, v)
			continue
		}
		line, _ := t.csv.FieldPos(j)
		if line == t.first && t.guessed {
			wrong += "; if this line is a header, set Header"
		}
		if t.names != nil {
			wrong = t.names[j] + ": " + wrong
		}
		return t.fail(line, j+1, wrong)
	}
	return nil
}

func (t *table) dataset() (*Dataset, error) {
	n := len(t.labels)
	if n == 0 {
		return nil, t.fail(0, 0, "there is a header but no row of data; if it is data, set Header")
	}
	d := &Dataset{Name: t.name, X: rowsOf(t.cells, n, t.features), Y: make([]float64, n)}
	if t.names != nil {
		d.Features = slices.Delete(slices.Clone(t.names), t.target, t.target+1)
		d.Target = t.names[t.target]
	}

	words, lastWord := 0, 0
	for i, label := range t.labels {
		v, err := strconv.ParseFloat(label, 64)
		if err != nil || !finite(v) {
			words, lastWord = words+1, i
		}
		d.Y[i] = v
	}
	if words == 0 {
		return d, nil
	}
	if t.guessed && words == 1 && lastWord == 0 && n > 1 {
		return nil, t.fail(t.first, t.target+1, fmt.Sprintf("the target %q is not a number as all others are; if this line is a header, set Header", clip(t.labels[0])))
	}
	d.label(t.labels)
	return d, nil
}

func (t *table) fail(line, column int, msg string) error {
	return &ReadError{Name: t.name, Line: line, Column: column, Msg: msg}
}

// missing reports whether a field is one of the usual marks of a missing value.
func missing(field string) bool {
	switch strings.ToLower(field) {
	case "", "?", "na", "n/a", "nan", "null", "none":
		return true
	}
	return false
}

// readable returns an error if ReadCSV would read one of the names differently: the names of
// the columns, as in header, and of the classes.
func (d *Dataset) readable(header []string) error {
	odd := func(name string) bool { return name != strings.TrimSpace(name) || strings.Contains(name, "\r\n") }
	for j, name := range header {
		if odd(name) || j == 0 && strings.HasPrefix(name, "\ufeff") {
			return d.fault(-1, -1, fmt.Sprintf("column %d is called %q, which does not survive CSV: a reader drops spaces at the ends, byte order marks and carriage returns; rename it", j+1, clip(name)))
		}
	}
	numbers, same, words := map[float64]string{}, "", false
	for _, name := range d.Classes {
		if odd(name) || missing(name) {
			return d.fault(-1, -1, fmt.Sprintf("a class is called %q, which does not survive CSV: a reader changes it or takes it for a missing value; rename it", clip(name)))
		}
		v, wrong := number(name)
		other, known := numbers[v]
		switch {
		case wrong != "":
			words = true
		case known && other != name:
			same = fmt.Sprintf("the classes %q and %q are the same number to a reader of CSV; rename one", clip(other), clip(name))
		default:
			numbers[v] = name
		}
	}
	if same != "" && !words {
		return d.fault(-1, -1, same)
	}
	return nil
}

// WriteCSV writes a table with a header that [ReadCSV] can read: the n × d features without
// loss, then a column of the targets, or of class names if there are Classes. This column is
// named d.Target, by default "target" or "class". Names that ReadCSV would read differently,
// such as " a" or "NA", are an error.
func (d *Dataset) WriteCSV(w io.Writer) error {
	if err := d.Check(); err != nil {
		return err
	}
	if err := d.needsDense("WriteCSV", "writes every feature"); err != nil {
		return err
	}
	record := make([]string, d.D()+1)
	for j := range d.D() {
		record[j] = d.FeatureName(j)
	}
	record[d.D()] = cmp.Or(d.Target, "target")
	if d.Classes != nil {
		record[d.D()] = cmp.Or(d.Target, "class")
	}
	if err := d.readable(record); err != nil {
		return err
	}
	out := csv.NewWriter(w)
	out.Write(record) // out keeps errors until Flush
	for i, row := range d.X {
		for j, v := range row {
			record[j] = strconv.FormatFloat(v, 'g', -1, 64)
		}
		record[d.D()] = d.ClassName(d.Y[i])
		out.Write(record)
	}
	out.Flush()
	return out.Error()
}
