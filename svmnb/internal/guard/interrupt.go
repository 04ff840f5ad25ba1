package guard

import "context"

// UnlessDone returns what do returns, or the cause of ctx as soon as ctx is done. It is for
// work that does not look at a context itself: a step of a user's own, an eigendecomposition,
// predictions. When ctx is done first, do is not waited for. It runs to its end in a
// goroutine of its own, and what it returns is dropped.
func UnlessDone[T any](ctx context.Context, do func() (T, error)) (T, error) {
	if ctx.Done() == nil { // nothing can end it early
		return do()
	}
	type answer struct {
		value T
		err   error
	}
	answered := make(chan answer, 1) // room for one, so that do ends though nobody listens
	go func() {
		var a answer
		defer func() { answered <- a }()
		defer Caught(&a.err)
		a.value, a.err = do()
	}()
	select {
	case a := <-answered:
		return a.value, a.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}
