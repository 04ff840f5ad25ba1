package guard

import "context"

// UnlessDone returns what do returns, or the cause of ctx as soon as ctx is done. It is for
// work that cannot watch a context itself: a user's step, an eigendecomposition,
// predictions. If ctx is done first, do goes on in its goroutine, and its result is
// dropped.
func UnlessDone[T any](ctx context.Context, do func() (T, error)) (T, error) {
	if ctx.Done() == nil { // ctx can never be done
		return do()
	}
	type answer struct {
		value T
		err   error
	}
	answered := make(chan answer, 1) // buffered, so that do can finish although nobody reads
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
