// Package guard keeps a user's code, such as a kernel or a step, from ending or blocking
// the program: its panics become errors, and an interrupt does not wait for it.
package guard

import (
	"fmt"
	"reflect"

	"github.com/svmnb/svmnb/internal/panics"
)

// Caught turns a panic in a user's code into the error of the function that defers Caught.
func Caught(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("svmnb: %w", panics.Of(p, func() string { return "code that svmnb calls" }))
	}
}

// IsNil reports whether a value is nil or a nil pointer.
func IsNil(x any) bool {
	v := reflect.ValueOf(x)
	return x == nil || v.Kind() == reflect.Pointer && v.IsNil()
}
