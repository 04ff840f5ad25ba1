package svmnb

import (
	"fmt"

	"github.com/svmnb/svmnb/internal/panics"
)

// PanicError is a panic in code that is not svmnb's: a kernel, of which it names the two
// points, a method, a criterion, a step, folds, a metric or a figure of your own. It is an
// error of whatever has called that code, also where that was in another goroutine.
type PanicError = panics.Error

// caught, deferred, makes a panic in code that was called the error of the function.
func caught(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("svmnb: %w", panics.Of(p, func() string { return "code that svmnb calls" }))
	}
}
