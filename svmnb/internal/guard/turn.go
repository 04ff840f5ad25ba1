package guard

import (
	"context"
	"sync"
)

// Turn lets one goroutine at a time do something. Its zero value is ready.
type Turn struct {
	made sync.Once
	slot chan struct{}
}

// Take waits for the turn, at most until ctx ends.
func (t *Turn) Take(ctx context.Context) (release func(), err error) {
	t.made.Do(func() { t.slot = make(chan struct{}, 1) })
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	select {
	case t.slot <- struct{}{}:
		return func() { <-t.slot }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
