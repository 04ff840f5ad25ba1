// Package parallel shares tasks out among goroutines.
package parallel

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/svmnb/svmnb/internal/panics"
)

// Do calls do for every task, on several goroutines where that many multiplications are
// worth it. Which goroutine does a task must not matter to its result.
func Do(tasks, multiplications int, do func(task int)) {
	workers := min(tasks, runtime.GOMAXPROCS(0), multiplications>>18)
	_ = For(context.Background(), workers, tasks, func(_, task int) { do(task) })
}

// For calls do for every task, 0 … tasks − 1 in their order, until ctx ends: from that many
// goroutines at most, of which the caller's is one and each does one task at a time. The
// error is context.Cause(ctx).
//
// A panic in do ends the handing out of tasks and, when all goroutines are done, goes on in
// the caller's, as a *panics.Error: in another it would end the program.
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
