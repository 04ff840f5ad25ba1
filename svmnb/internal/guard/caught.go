// Package guard keeps what others have written, such as a kernel or a step, from ending or
// stopping the program: their panics become errors, and an interrupt does not wait for them.
package guard

import (
	"fmt"
	"reflect"

	"github.com/svmnb/svmnb/internal/panics"
)

// Caught, deferred, makes a panic in code that was called the error of the function.
func Caught(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("svmnb: %w", panics.Of(p, func() string { return "code that svmnb calls" }))
	}
}

// IsNil reports whether a value is nil, or a pointer that is.
func IsNil(x any) bool {
	v := reflect.ValueOf(x)
	return x == nil || v.Kind() == reflect.Pointer && v.IsNil()
}
