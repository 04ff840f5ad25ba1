package parallel

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/svmnb/svmnb/internal/panics"
)

func TestForDoesEachTaskOnce(t *testing.T) {
	for _, workers := range []int{-1, 0, 1, 2, 7, 100} {
		for _, tasks := range []int{0, 1, 2, 50} {
			var mu sync.Mutex
			var done []int
			busy := make([]atomic.Int32, max(workers, 1))
			if err := For(context.Background(), workers, tasks, func(worker, task int) {
				if busy[worker].Add(1) != 1 {
					t.Errorf("worker %d has two tasks at a time", worker)
				}
				mu.Lock()
				done = append(done, task)
				mu.Unlock()
				busy[worker].Add(-1)
			}); err != nil {
				t.Error(err)
			}
			slices.Sort(done)
			if len(done) != tasks || len(slices.Compact(done)) != tasks {
				t.Errorf("%d workers have done %v of %d", workers, done, tasks)
			}
		}
	}
}

// Do does each task once, whether one goroutine is enough or not.
func TestDoDoesEachTaskOnce(t *testing.T) {
	for _, multiplications := range []int{0, 1 << 18, 1 << 30} {
		done := make([]atomic.Int32, 50)
		Do(len(done), multiplications, func(task int) { done[task].Add(1) })
		for task := range done {
			if n := done[task].Load(); n != 1 {
				t.Errorf("%d multiplications: task %d is done %d times", multiplications, task, n)
			}
		}
	}
}

func TestForEndsWithItsContext(t *testing.T) {
	why := errors.New("enough")
	ctx, stop := context.WithCancelCause(context.Background())
	var done atomic.Int32
	err := For(ctx, 3, 1<<40, func(_, _ int) {
		if done.Add(1) == 10 {
			stop(why)
		}
	})
	if !errors.Is(err, why) || done.Load() > 12 {
		t.Errorf("%v after %d tasks", err, done.Load())
	}
}

// A panic in whatever worker comes out in the caller's goroutine, once all are done.
func TestForPanics(t *testing.T) {
	cause := errors.New("no")
	for _, workers := range []int{1, 2, 8} {
		for _, bad := range []int{0, 1, 99} {
			var running atomic.Int32
			var got any
			func() {
				defer func() { got = recover() }()
				_ = For(context.Background(), workers, 100, func(_, task int) {
					running.Add(1)
					defer running.Add(-1)
					if task == bad {
						panic(cause)
					}
				})
			}()
			e, ok := got.(*panics.Error)
			if !ok || !errors.Is(e, cause) || !strings.HasPrefix(e.Where, "parallel_test.go:") || len(e.Stack) == 0 || running.Load() != 0 {
				t.Errorf("%d workers, task %d: %v, while %d run", workers, bad, got, running.Load())
			}
		}
	}
}
