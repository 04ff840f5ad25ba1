// Package panics turns panics in other people's code into errors. If a kernel that a user has
// written in a cell has an index out of range, only the fit fails, not the program.
package panics

import (
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
)

// Error is a panic that was recovered.
type Error struct {
	What  string // the code that panicked, such as "the kernel mine(3)"
	I, J  int    // the two points of a kernel, from 0; −1 if there are none
	Value any    // argument of panic
	Where string // file and line of the panic, "" if not known
	Stack []byte // stack of its goroutine
}

func (e *Error) Error() string {
	s := e.What + " panicked"
	switch {
	case e.I >= 0 && e.J >= 0:
		s += fmt.Sprintf(" at points %d and %d (counted from 0)", e.I, e.J)
	case e.J >= 0:
		s += fmt.Sprintf(" at a new point and point %d (counted from 0)", e.J)
	}
	s += fmt.Sprintf(": %v", e.Value)
	if e.Where != "" {
		s += " (" + e.Where + ")"
	}
	return s
}

// Unwrap returns the argument of panic if it is an error.
func (e *Error) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Of returns p, a non-nil value from recover, as an *Error. A p that already is an *Error is
// returned unchanged. Deferred functions call Of while the stack of the panic still exists.
func Of(p any, what func() string) *Error {
	if e, ok := p.(*Error); ok {
		return e
	}
	return &Error{What: text(what), I: -1, J: -1, Value: p, Where: where(), Stack: debug.Stack()}
}

// Recover is deferred. It turns a panic into the error of the function.
func Recover(err *error, what func() string) {
	if p := recover(); p != nil {
		*err = Of(p, what)
	}
}

// Call calls f, which is other people's code, and returns its error, or its panic as an error.
func Call(what func() string, f func() error) (err error) {
	defer Recover(&err, what)
	return f()
}

// text returns what(), which may panic as well.
func text(what func() string) (s string) {
	defer func() {
		if recover() != nil {
			s = "code that is not svmnb's"
		}
	}()
	return what()
}

// where returns the place of the panic: the first frame below the runtime's panic that is not
// in the runtime.
func where() string {
	pc := make([]uintptr, 64)
	frames := runtime.CallersFrames(pc[:runtime.Callers(2, pc)])
	for panicked := false; ; {
		f, more := frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			panicked = true
		case panicked && f.File != "" && !strings.HasPrefix(f.Function, "runtime."):
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		if !more {
			return ""
		}
	}
}
