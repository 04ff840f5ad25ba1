// Package arguments has the error of a wrong argument, which all packages of the front share.
package arguments

import (
	"context"
	"fmt"
	"math"
	"strconv"
)

// Error says which argument of a fluent call is wrong.
type Error struct {
	Call   string  // the verb, such as "C" or "Predict"
	Row    int     // the offending row or entry, −1 when none is meant
	Column int     // the offending column, −1 when none is meant
	Value  float64 // the offending value, where there is one
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

// Wrong is an *Error that means no row and no column.
func Wrong(call string, value float64, format string, args ...any) error {
	return At(call, -1, -1, value, format, args...)
}

// At is an *Error that says where.
func At(call string, row, column int, value float64, format string, args ...any) error {
	return &Error{call, row, column, value, fmt.Sprintf(format, args...)}
}

// WrongIf is Wrong where bad is set, else nil.
func WrongIf(bad bool, call string, value float64, format string, args ...any) error {
	if !bad {
		return nil
	}
	return Wrong(call, value, format, args...)
}

// NoFit is the error of a fit that there is none of: a nil pointer, as Fit returns with
// an error that was not looked at, or the zero value of its type.
func NoFit(call string) error {
	return At(call, -1, -1, 0, "there is no fit; take one from Fit and look at the error that comes with it")
}

// NoneOf is what there is to read of something that there is none of.
func NoneOf(what, call string) string {
	return fmt.Sprintf("there is no %s; take one from %s and look at the error that comes with it", what, call)
}

// Given is the error of a call without a context, which would panic far from it.
func Given(ctx context.Context, call string) error {
	if ctx == nil {
		return Wrong(call, math.NaN(), "the context is nil; give context.Background(), or one that an interrupt ends")
	}
	return nil
}
