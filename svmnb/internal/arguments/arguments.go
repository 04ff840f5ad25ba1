// Package arguments has the error of a wrong argument, which all packages below svmnb
// share.
package arguments

import (
	"context"
	"fmt"
	"math"
	"strconv"
)

// Error says which argument of a call is wrong.
type Error struct {
	Call   string  // the method or function, such as "C" or "Predict"
	Row    int     // the wrong row or entry, counted from 0; −1 if none
	Column int     // the wrong column, counted from 0; −1 if none
	Value  float64 // the wrong value, if there is one
	Msg    string  // what is wrong and what to do
}

func (e *Error) Error() string {
	s := "svmnb: " + e.Call
	if e.Row >= 0 {
		s += ": row " + strconv.Itoa(e.Row)
		if e.Column >= 0 {
			s += ", column " + strconv.Itoa(e.Column)
		}
	}
	return s + ": " + e.Msg
}

// Wrong returns an *Error without row and column.
func Wrong(call string, value float64, format string, args ...any) error {
	return At(call, -1, -1, value, format, args...)
}

// At returns an *Error with row and column.
func At(call string, row, column int, value float64, format string, args ...any) error {
	return &Error{call, row, column, value, fmt.Sprintf(format, args...)}
}

// WrongIf returns Wrong(…) if bad is set, otherwise nil.
func WrongIf(bad bool, call string, value float64, format string, args ...any) error {
	if !bad {
		return nil
	}
	return Wrong(call, value, format, args...)
}

// NoFit is the error of a method of a fit that is a nil pointer or the zero value. A user
// gets such a fit by ignoring the error of Fit.
func NoFit(call string) error {
	return At(call, -1, -1, 0, "there is no fit; take one from Fit and look at the error that comes with it")
}

// NoneOf is the text that stands for a value that is nil or zero.
func NoneOf(what, call string) string {
	return fmt.Sprintf("there is no %s; take one from %s and look at the error that comes with it", what, call)
}

// Given returns an error if the context is nil, which would otherwise panic later.
func Given(ctx context.Context, call string) error {
	if ctx == nil {
		return Wrong(call, math.NaN(), "the context is nil; give context.Background(), or one that an interrupt ends")
	}
	return nil
}
