package display

import (
	"math"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/sheet"
)

// Sheet is a table that can be shown; [Table] makes it.
type Sheet struct {
	table sheet.Table
	err   error
}

// Err returns nil, or why there is no table: an *svmnb.ArgumentError that names the
// argument of [Table], with its row and column if only one entry is wrong.
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

// String returns the table as text.
func (s *Sheet) String() string {
	if err := s.Err(); err != nil {
		return err.Error()
	}
	return s.table.String()
}

// Table makes a table of x that can be sorted in the page:
//
//	display.Table(datasets.Iris()).Show()
//
// x is
//
//   - a data set: one row for each point;
//   - a fit: one row for each training point, with its KKT condition; for several classes,
//     one row for each machine;
//   - a slice of fits to compare, or the result of play.Race, of a search or of
//     selection.CrossValidate;
//   - a slice of structs or of pointers to structs, such as fit.SupportVectors() or
//     fit.Trace.Points: one column for each exported field;
//   - a [][]string whose first row has the names of the columns, or a [][]float64;
//   - a map of columns of equal length, such as map[string][]float64.
//
// Of a long table, the first and last rows are shown. Each column then has its least, mean
// and greatest value, the number of missing values (NaN or an empty text) and a histogram.
// A click on the name of a column sorts by it. Where no script runs, the table is readable
// but cannot be sorted. If x is none of these, [Sheet.Err] returns the error and Show
// displays it.
func Table(x any) *Sheet {
	if isEmpty(x) {
		return &Sheet{err: arguments.Wrong("Table", math.NaN(), "there is nothing to list; give a data set, a table, a fit, or a slice")}
	}
	var s *Sheet
	switch v := x.(type) {
	case interface{ Table() *Sheet }:
		s = v.Table()
	case *datasets.Dataset:
		s = NewSheet(func(t *sheet.Table) error { return t.Dataset(v) })
	case *datasets.Table:
		s = NewSheet(func(t *sheet.Table) error { return t.Named(v) })
	case [][]string:
		s = NewSheet(func(t *sheet.Table) error { return t.Records(v) })
	case [][]float64:
		s = NewSheet(func(t *sheet.Table) error { return t.Matrix(v) })
	default:
		s = NewSheet(func(t *sheet.Table) error { return t.Values(x) })
	}
	if s.err == nil && s.table.Rows() == 0 {
		s.err = arguments.Wrong("Table", math.NaN(), "the %T has no rows; give at least one", x)
	}
	return s
}

// Inside returns the table in its internal form, which must not be changed. It is for the
// packages that fit.
func (s *Sheet) Inside() *sheet.Table {
	if s == nil {
		return &sheet.Table{}
	}
	return &s.table
}

// NewSheet returns the table that fill writes. It is for packages whose fits have a Table
// method.
func NewSheet(fill func(t *sheet.Table) error) *Sheet {
	s := &Sheet{}
	s.err = fill(&s.table)
	return s
}
