// Package panics makes errors of panics in code that is not ours, such as a kernel that
// somebody has written in a cell: an index out of range there costs a fit, not the program.
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
	What  string // what has panicked, such as "the kernel mine(3)"
	I, J  int    // of a kernel the two points, from 0; −1 where there are none
	Value any    // what panic was called with
	Where string // file and line of it, "" where that is not known
	Stack []byte // of its goroutine
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

// Unwrap returns what panic was called with where that is an error.
func (e *Error) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Of returns p, which recover has returned and is not nil, as an error: itself where it is
// one of this type. Deferred functions call it while the stack of the panic is still there.
func Of(p any, what func() string) *Error {
	if e, ok := p.(*Error); ok {
		return e
	}
	return &Error{What: text(what), I: -1, J: -1, Value: p, Where: where(), Stack: debug.Stack()}
}

// Recover, deferred, turns a panic into the error of the function.
func Recover(err *error, what func() string) {
	if p := recover(); p != nil {
		*err = Of(p, what)
	}
}

// Call calls f, whose code is not ours, and returns its error, or its panic as one.
func Call(what func() string, f func() error) (err error) {
	defer Recover(&err, what)
	return f()
}

// text is what says of itself, which may panic as well.
func text(what func() string) (s string) {
	defer func() {
		if recover() != nil {
			s = "code that is not svmnb's"
		}
	}()
	return what()
}

// where returns the place that has panicked: of the frames below the runtime's panic the
// first that is not the runtime's.
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
