package main

import (
	"io"
	"sync"
)

// inOrder does n jobs, some at once, and writes what they write as if they had
// been done one after the other: the job whose turn it is writes at once, later
// ones when it is theirs. It returns when all are done.
func inOrder(n, atOnce int, stdout, stderr io.Writer, job func(i int, stdout, stderr io.Writer)) {
	q := &queue{held: make([][]func(), n), done: make([]bool, n)}
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(n, max(1, atOnce)) {
		workers.Go(func() {
			for i := range next {
				job(i, turn{q, i, stdout}, turn{q, i, stderr})
				q.finish(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	workers.Wait()
}

// queue knows whose turn it is and what the others have to say.
type queue struct {
	mu   sync.Mutex
	now  int
	held [][]func()
	done []bool
}

func (q *queue) finish(i int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.done[i] = true
	for q.now < len(q.done) && q.done[q.now] {
		q.now++
		if q.now < len(q.done) {
			for _, write := range q.held[q.now] {
				write()
			}
			q.held[q.now] = nil
		}
	}
}

// turn is what a job writes to.
type turn struct {
	q  *queue
	i  int
	to io.Writer
}

func (t turn) Write(p []byte) (int, error) {
	t.q.mu.Lock()
	defer t.q.mu.Unlock()
	if t.q.now == t.i {
		return t.to.Write(p)
	}
	text := string(p)
	t.q.held[t.i] = append(t.q.held[t.i], func() { _, _ = io.WriteString(t.to, text) }) // as Fprint to a terminal would
	return len(p), nil
}
