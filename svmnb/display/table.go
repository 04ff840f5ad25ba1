package display

import (
	"math"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/sheet"
)

// Sheet is a table that is ready to be shown; [Table] makes it.
type Sheet struct {
	table sheet.Table
	err   error
}

// Err says why there is no table: an *svmnb.ArgumentError that names what [Table] was
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
//	display.Table(datasets.Iris()).Show()
//
// x is
//
//   - a data set, a row for each point;
//   - a fit, a row for each training point with what its KKT condition says, or for
//     each machine of several classes;
//   - a slice of fits, which are compared, or what play.Race, a search or
//     selection.CrossValidate has found;
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
	if isEmpty(x) {
		return &Sheet{err: arguments.Wrong("Table", math.NaN(), "there is nothing to list; give a data set, a fit, or a slice")}
	}
	var s *Sheet
	switch v := x.(type) {
	case interface{ Table() *Sheet }:
		s = v.Table()
	case *datasets.Dataset:
		s = NewSheet(func(t *sheet.Table) error { return t.Dataset(v) })
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

// Inside is the table itself, which must not be changed. It is for the packages that fit.
func (s *Sheet) Inside() *sheet.Table {
	if s == nil {
		return &sheet.Table{}
	}
	return &s.table
}

// NewSheet is the table that fill writes. It is for packages whose fits have a Table method.
func NewSheet(fill func(t *sheet.Table) error) *Sheet {
	s := &Sheet{}
	s.err = fill(&s.table)
	return s
}
