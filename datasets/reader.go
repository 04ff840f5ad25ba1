package datasets

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ReadError says what is wrong with a file, and where.
type ReadError struct {
	Name   string // of the file or data set
	Line   int    // counted from 1; 0 if the error is not about one line
	Column int    // CSV: field, LIBSVM: byte; counted from 1; 0 if the error is about the whole line
	Msg    string // what is wrong and what to do
	Err    error  // the cause, if it is another error
}

func (e *ReadError) Error() string {
	s := "datasets: " + e.Name
	if e.Line > 0 {
		s += fmt.Sprintf(", line %d", e.Line)
	}
	if e.Column > 0 {
		s += fmt.Sprintf(", column %d", e.Column)
	}
	return s + ": " + e.Msg
}

// Unwrap returns the cause, such as the error of the io.Reader.
func (e *ReadError) Unwrap() error { return e.Err }

// load reads the data set of a file by the function read, which gets the name of the file
// without its extension.
func load(path string, read func(r io.Reader, name string) (*Dataset, error)) (*Dataset, error) {
	base := filepath.Base(path)
	f, err := os.Open(path)
	if err != nil {
		return nil, cannotOpen(path, err)
	}
	defer f.Close()
	d, err := read(f, strings.TrimSuffix(base, filepath.Ext(base)))
	if err != nil {
		return nil, err
	}
	d.Source = path
	return d, nil
}

// number parses a finite number. If that fails, wrong says why.
func number(s string) (v float64, wrong string) {
	v, err := strconv.ParseFloat(s, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Sprintf("%q is too large for a float64", s)
	case err != nil:
		return 0, fmt.Sprintf("%q is not a number", clip(s))
	case !finite(v):
		return 0, fmt.Sprintf("%q is not a finite number", s)
	}
	return v, ""
}

// clip shortens a text that a damaged file might have made long.
func clip(s string) string {
	const most = 40
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
