package svmnb

import (
	"github.com/svmnb/svmnb/internal/panics"
)

// PanicError is the error of a panic in a user's own code: a kernel, a method, a criterion,
// a step, folds, a metric or a figure. For a kernel it names the two points. The function
// that called this code returns the error, even if the panic was in another goroutine.
type PanicError = panics.Error
