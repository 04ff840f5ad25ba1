package svmnb

import (
	"errors"
	"os"
	"strings"
	"time"

	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/kept"
)

// The state of a run of Keep is written after checkpointAfter, and then after as long again, but
// not before checkpointPause times as long as writing took.
var (
	checkpointAfter               = 10 * time.Second
	checkpointPause time.Duration = 50
)

// checkpoint is the file with the last state of a run of Keep. If the program is killed or the run
// interrupted, the next call goes on from there. A nil checkpoint does nothing.
type checkpoint struct {
	file string
	key  []byte
	next time.Time // when the next state is written
}

// progress is what the file of a checkpoint holds: α, or the state of a method that has more.
type progress struct {
	Alpha []float64
	Saved *solvers.Saved
}

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

// start returns what was written last of n multipliers: an α, a state, or neither.
func (c *checkpoint) start(n int) (alpha []float64, saved *solvers.Saved) {
	var p progress
	switch {
	case c == nil || !kept.Decode(c.file, c.key, &p):
	case p.Saved != nil && len(p.Saved.Alpha) == n:
		return nil, p.Saved
	case len(p.Alpha) == n:
		return p.Alpha, nil
	}
	return nil, nil
}

// observe is an observer of the run.
func (c *checkpoint) observe(it *solvers.Iterate, _ *solvers.Point) {
	begun := time.Now()
	if begun.Before(c.next) {
		return
	}
	if it.Save != nil {
		kept.Write(c.file, c.key, progress{Saved: it.Save()})
	} else {
		kept.Write(c.file, c.key, progress{Alpha: it.Alpha})
	}
	c.next = time.Now().Add(max(checkpointAfter, checkpointPause*time.Since(begun)))
}

// end writes what an interrupted run has. After any other end the checkpoint is removed.
func (c *checkpoint) end(res *solvers.Result) {
	switch {
	case c == nil || res == nil:
	case res.Status == solvers.Interrupted:
		p := progress{Alpha: res.Alpha}
		if res.F != nil {
			p = progress{Saved: &solvers.Saved{Alpha: res.Alpha, F: make([]float32, len(res.F))}}
			for i, f := range res.F {
				p.Saved.F[i] = float32(f)
			}
		}
		kept.Write(c.file, c.key, p)
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
	s.Start, s.Resume = c.start(n)
	res, err := solve(s)
	var bad *solvers.ProblemError
	if (s.Start != nil || s.Resume != nil) && errors.As(err, &bad) && bad.Field == "Start" {
		s.Start, s.Resume = nil, nil
		res, err = solve(s)
	}
	c.end(res)
	return res, err
}
