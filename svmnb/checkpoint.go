package svmnb

import (
	"errors"
	"os"
	"strings"
	"time"

	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/kept"
)

// The α of a run of Keep is written after checkpointAfter, and then after as long again, but
// not before checkpointPause times as long as writing took.
var (
	checkpointAfter               = 10 * time.Second
	checkpointPause time.Duration = 50
)

// checkpoint is the file with the last α of a run of Keep. If the program is killed or the run
// interrupted, the next call goes on from this α. A nil checkpoint does nothing.
type checkpoint struct {
	file string
	key  []byte
	next time.Time // when the next α is written
}

// progress is what the file of a checkpoint holds.
type progress struct{ Alpha []float64 }

// checkpointOf returns the checkpoint of the run whose result will be stored under the key. It
// is nil if there is no folder for it, or if the run has a limit of iterations: with a limit,
// every call must do the same.
func (m *machine) checkpointOf(key []byte) *checkpoint {
	dir, err := kept.Dir()
	if err != nil || m.limit != 0 {
		return nil
	}
	return &checkpoint{file: unfinished(kept.File(dir, key)), key: key, next: time.Now().Add(checkpointAfter)}
}

// unfinished returns the name of the checkpoint of a kept fit.
func unfinished(fit string) string { return strings.TrimSuffix(fit, ".fit") + ".part" }

// start returns the α of n multipliers that was written last, or nil.
func (c *checkpoint) start(n int) []float64 {
	var p progress
	if c == nil || !kept.Decode(c.file, c.key, &p) || len(p.Alpha) != n {
		return nil
	}
	return p.Alpha
}

// observe is an observer of the run.
func (c *checkpoint) observe(it *solvers.Iterate, _ *solvers.Point) {
	begun := time.Now()
	if begun.Before(c.next) {
		return
	}
	kept.Write(c.file, c.key, progress{it.Alpha})
	c.next = time.Now().Add(max(checkpointAfter, checkpointPause*time.Since(begun)))
}

// end writes the α of an interrupted run. After any other end the checkpoint is removed.
func (c *checkpoint) end(res *solvers.Result) {
	switch {
	case c == nil || res == nil:
	case res.Status == solvers.Interrupted:
		kept.Write(c.file, c.key, progress{res.Alpha})
	default:
		os.Remove(c.file)
	}
}

// resume solves p from the checkpoint. An α that is not feasible is ignored: the file may be
// of a method whose α is feasible only at the end.
func (c *checkpoint) resume(solve func(s solvers.Settings) (*solvers.Result, error), s solvers.Settings, n int) (*solvers.Result, error) {
	if c == nil {
		return solve(s)
	}
	s.Observers = append(s.Observers, c.observe)
	s.Start = c.start(n)
	res, err := solve(s)
	var bad *solvers.ProblemError
	if s.Start != nil && errors.As(err, &bad) && bad.Field == "Start" {
		s.Start = nil
		res, err = solve(s)
	}
	c.end(res)
	return res, err
}
