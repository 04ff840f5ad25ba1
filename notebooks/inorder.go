package main

import (
	"io"
	"sync"
)

// inOrder does n jobs, several at a time, and writes their output as if they had run one
// after the other. The first unfinished job writes at once; the output of later ones waits.
// inOrder returns when all jobs are done.
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

// queue knows which job may write, and holds the output of the others.
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
	t.q.held[t.i] = append(t.q.held[t.i], func() { _, _ = io.WriteString(t.to, text) }) // errors are ignored, as for any output to a terminal
	return len(p), nil
}
