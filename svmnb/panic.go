package svmnb

import (
	"github.com/svmnb/svmnb/internal/panics"
)

// PanicError is a panic in code that is not svmnb's: a kernel, of which it names the two
// points, a method, a criterion, a step, folds, a metric or a figure of your own. It is an
// error of whatever has called that code, also where that was in another goroutine.
type PanicError = panics.Error
