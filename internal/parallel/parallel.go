// Package parallel distributes tasks among goroutines.
package parallel

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/svmnb/svmnb/internal/panics"
)

// Do calls the function do for every task. It uses several goroutines if multiplications, the
// size of the work, is large enough. The result must not depend on which goroutine does a
// task.
func Do(tasks, multiplications int, do func(task int)) {
	workers := min(tasks, runtime.GOMAXPROCS(0), multiplications>>18)
	_ = For(context.Background(), workers, tasks, func(_, task int) { do(task) })
}

// For calls the function do for every task 0 … tasks − 1, handed out in this order, until ctx
// ends. It uses at most workers goroutines, including the caller's. Each does one task at a
// time. The error is context.Cause(ctx).
//
// After a panic of a task, no more tasks are handed out. When all goroutines are done, For
// panics in the caller's goroutine with a *panics.Error. A panic in any other goroutine would
// end the program.
func For(ctx context.Context, workers, tasks int, do func(worker, task int)) error {
	var next atomic.Int64
	var panicked atomic.Pointer[panics.Error]
	run := func(worker int) {
		defer func() {
			if p := recover(); p != nil {
				panicked.CompareAndSwap(nil, panics.Of(p, func() string { return "a task" }))
			}
		}()
		for task := int(next.Add(1)) - 1; task < tasks && ctx.Err() == nil && panicked.Load() == nil; task = int(next.Add(1)) - 1 {
			do(worker, task)
		}
	}
	var wait sync.WaitGroup
	for worker := 1; worker < min(workers, tasks); worker++ {
		wait.Go(func() { run(worker) })
	}
	run(0)
	wait.Wait()
	if e := panicked.Load(); e != nil {
		panic(e)
	}
	return context.Cause(ctx)
}
