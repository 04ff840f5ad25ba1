package guard

import (
	"context"
	"sync"
)

// Turn is a lock that a goroutine can stop waiting for. Its zero value is unlocked.
type Turn struct {
	made sync.Once
	slot chan struct{}
}

// Take waits until it is the caller's turn, or until ctx ends.
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
