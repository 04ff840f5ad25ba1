package datasets

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// TableReader reads tables of text, such as CSV files. The zero value guesses whatever is
// not said, and Notes of the table say what it has guessed where a guess may be wrong.
type TableReader struct {
	Name    string          // of the table; default "table", or the file's
	Comma   rune            // separator of fields; default the one of , ; tab | that fits
	Decimal rune            // '.' or ','; default the one that fits a column
	Header  Header          // whether the first line has the names; default it is guessed
	Missing []string        // how a missing value is written; besides an empty field; default NA, N/A, NaN, NULL, None and ?
	Kinds   map[string]Kind // of columns whose kind is not to be guessed, by name
	Dates   []string        // layouts of package time; default those of [TableReader.Read]
	Latin1  bool            // the text is in Windows-1252; default UTF-8 or UTF-16, and Windows-1252 where it is neither
}

// mostBytes bounds a table of text: 2 GiB.
const mostBytes = 2 << 30

// OpenTable reads the table of a text file and guesses whatever the file does not say; see
// [TableReader].
func OpenTable(path string) *Table { return TableReader{}.Open(path) }

// Open reads the table of a text file; see [TableReader.Read].
func (r TableReader) Open(path string) *Table {
	base := filepath.Base(path)
	name := cmp.Or(r.Name, strings.TrimSuffix(base, filepath.Ext(base)))
	f, err := os.Open(path)
	if err != nil {
		return (&Table{Name: name}).failed(cannotOpen(path, err))
	}
	defer f.Close()
	r.Name = name
	t := r.Read(f)
	t.Source = path
	return t
}

// Read reads a table (RFC 4180) with a row for each line and a column for each field. Names
// come from the first line where that has no number. The kind of a column is the first
// that fits all its values:
//
//   - Number: numbers. A column of digits, some of which begin with 0, is a category: such
//     numbers are names, as postal codes are.
//   - Time: dates and times in the layouts of ISO 8601, or day.month.year, or with slashes.
//     Of 3/4/2024 the month comes first unless another value of the column says otherwise.
//   - Category: at most 1,000 different values, and each of them twice on average.
//   - Text: everything else.
//
// What cannot be read is an error of [Table.Check], a [*ReadError] with line and column.
func (r TableReader) Read(in io.Reader) *Table {
	r.Name = cmp.Or(r.Name, "table")
	t := &Table{Name: r.Name}
	text, err := r.text(t, in)
	if err != nil {
		return t.failed(err)
	}
	records, lines, err := r.records(t, text)
	if err != nil {
		return t.failed(err)
	}
	return r.table(t, records, lines)
}

// table makes columns of records, which stand in these lines.
func (r TableReader) table(t *Table, records [][]string, lines []int) *Table {
	names, records, lines, err := r.header(t, records, lines)
	if err != nil {
		return t.failed(err)
	}
	for name := range r.Kinds {
		if !slices.Contains(names, name) {
			return t.failed(&ReadError{Name: r.Name, Msg: fmt.Sprintf("Kinds has a column %q; the columns are %s", clip(name), abbreviate(names))})
		}
	}
	fields := make([]string, len(records))
	for j, name := range names {
		for i, record := range records {
			fields[i] = record[j]
		}
		c, bad := r.column(t, name, fields)
		if bad >= 0 {
			return t.failed(&ReadError{Name: r.Name, Line: lines[bad], Column: j + 1, Msg: fmt.Sprintf("%s: %q is not a %v; mend the value, name it in Missing, or take the column out of Kinds", name, clip(fields[bad]), r.Kinds[name])})
		}
		c.Name = name
		t.Columns = append(t.Columns, c)
	}
	return t
}

// text returns the whole input as UTF-8.
func (r TableReader) text(t *Table, in io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(in, mostBytes+1))
	if err != nil {
		return nil, &ReadError{Name: r.Name, Msg: "cannot read: " + err.Error(), Err: err}
	}
	if len(b) > mostBytes {
		return nil, &ReadError{Name: r.Name, Msg: "the file has more than 2 GiB; read a part of it, or Parquet by package datasets/arrow"}
	}
	switch {
	case r.Latin1:
		return fromLatin1(b), nil
	case bytes.HasPrefix(b, []byte("\xff\xfe")):
		return fromUTF16(b[2:], binary.LittleEndian), nil
	case bytes.HasPrefix(b, []byte("\xfe\xff")):
		return fromUTF16(b[2:], binary.BigEndian), nil
	case !utf8.Valid(b):
		t.note("the file is not UTF-8 and was read as Windows-1252")
		return fromLatin1(b), nil
	}
	return bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")), nil
}

// latin1 are the characters that Windows-1252 has at 0x80 … 0x9f, where Latin-1 has none.
const latin1 = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ"

func fromLatin1(b []byte) []byte {
	special := []rune(latin1)
	out := make([]byte, 0, len(b)+len(b)/8)
	for _, c := range b {
		r := rune(c)
		if c >= 0x80 && c < 0xa0 {
			r = special[c-0x80]
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

func fromUTF16(b []byte, order binary.ByteOrder) []byte {
	units := make([]uint16, len(b)/2)
	for k := range units {
		units[k] = order.Uint16(b[2*k:])
	}
	return []byte(string(utf16.Decode(units)))
}

func (t *Table) note(msg string, args ...any) { t.Notes = append(t.Notes, fmt.Sprintf(msg, args...)) }

// sampled is how many bytes are looked at for the separator.
const sampled = 1 << 16

// comma returns the separator that gives the lines at the beginning the same number of
// fields, more than one; ',' where none does.
func (r TableReader) comma(text []byte) rune {
	if r.Comma != 0 {
		return r.Comma
	}
	if len(text) > sampled {
		text = text[:sampled]
		if end := bytes.LastIndexByte(text, '\n'); end > 0 {
			text = text[:end]
		}
	}
	best, most := ',', 1
	for _, comma := range ",;\t|" {
		in := csv.NewReader(bytes.NewReader(text))
		in.Comma, in.ReuseRecord = comma, true
		first, err := in.Read()
		fields := len(first)
		for err == nil && fields > most {
			_, err = in.Read()
		}
		if err == io.EOF && fields > most {
			best, most = comma, fields
		}
	}
	return best
}

// records returns the fields of all lines without spaces about them, and where they begin.
func (r TableReader) records(t *Table, text []byte) (records [][]string, lines []int, err error) {
	in := csv.NewReader(bytes.NewReader(text))
	in.Comma = r.comma(text)
	in.TrimLeadingSpace = in.Comma != '\t'
	for {
		record, err := in.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, nil, r.malformed(in, record, err)
		}
		line, _ := in.FieldPos(0)
		for j, field := range record {
			record[j] = strings.TrimSpace(field)
		}
		records, lines = append(records, record), append(lines, line)
	}
	if len(records) == 0 {
		return nil, nil, &ReadError{Name: r.Name, Msg: "the table is empty"}
	}
	if len(records[0]) == 1 && r.Comma == 0 {
		t.note("there is one column only; if a character other than , ; | and tab separates fields, set Comma of a TableReader")
	}
	return records, lines, nil
}

func (r TableReader) malformed(in *csv.Reader, record []string, err error) error {
	wrong := &ReadError{Name: r.Name, Msg: err.Error(), Err: err}
	if parse := (*csv.ParseError)(nil); errors.As(err, &parse) {
		wrong.Line, wrong.Msg = parse.StartLine, parse.Err.Error()
		switch {
		case errors.Is(err, csv.ErrFieldCount):
			wrong.Msg = fmt.Sprintf("there are %s where the first line has %d; quote a field that has the separator %q in it, or set Comma of a TableReader", plural(len(record), "column", "columns"), in.FieldsPerRecord, in.Comma)
		case errors.Is(err, csv.ErrBareQuote), errors.Is(err, csv.ErrQuote):
			wrong.Column = len(record) + 1
			wrong.Msg += `; quote the whole field and write " inside it as ""`
		}
	}
	return wrong
}

// header takes the names off the records, or makes them up.
func (r TableReader) header(t *Table, records [][]string, lines []int) ([]string, [][]string, []int, error) {
	has := r.Header == HasHeader
	if r.Header == DetectHeader {
		has = !slices.ContainsFunc(records[0], func(field string) bool {
			_, number := parseNumber(field, r.Decimal)
			return number && field != ""
		})
	}
	names := make([]string, len(records[0]))
	if has {
		copy(names, records[0])
		records, lines = records[1:], lines[1:]
	} else {
		t.note("the first line has a number and was read as data; if it has the names of the columns, set Header of a TableReader")
	}
	if len(records) == 0 {
		return nil, nil, nil, &ReadError{Name: r.Name, Msg: "there is a header but no row of data; if it is data, set Header of a TableReader"}
	}
	for j, name := range names {
		if name == "" {
			names[j] = "column " + strconv.Itoa(j+1)
			if has {
				t.note("the header names no column %d, which is called %q", j+1, names[j])
			}
		}
	}
	for j, name := range names {
		if first := slices.Index(names[:j], name); first >= 0 {
			return nil, nil, nil, &ReadError{Name: r.Name, Line: 1, Column: j + 1, Msg: fmt.Sprintf("%q is the name of column %d too; rename one", clip(name), first+1)}
		}
	}
	return names, records, lines, nil
}

// missing reports whether a field says that there is no value.
func (r TableReader) missing(field string) bool {
	if r.Missing != nil {
		return field == "" || slices.Contains(r.Missing, field)
	}
	return missing(field)
}

// cannotOpen is the error of a file that os.Open refuses.
func cannotOpen(path string, err error) error {
	msg := err.Error()
	if pathErr := (*os.PathError)(nil); errors.As(err, &pathErr) {
		msg = fmt.Sprintf("cannot open %s: %v", path, pathErr.Err)
	}
	return &ReadError{Name: filepath.Base(path), Msg: msg, Err: err}
}
