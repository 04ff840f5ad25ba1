package svmnb

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
)

// racing is a classification problem that several methods solve for comparison.
type racing struct{ task *task }

// Race prepares the problem and turns Live off.
func (c classifying) Race() (learn.Race, error) {
	t, err := c.prepare()
	if err != nil {
		return nil, err
	}
	t.live = false
	return racing{t}, nil
}

func (r racing) Description() any        { return r.task.Classifier }
func (r racing) Words() string           { return r.task.words() }
func (r racing) Stop() solvers.Criterion { return r.task.stop }

const (
	rehearsal       = 20 * time.Millisecond
	rehearsalPoints = 1000 // longer runs need no rehearsal
)

var errLimit = errors.New("the time of a run in a race is over")

// Compete runs one method on a problem with its own kernel matrix, so that no method
// profits from rows that another has computed. A short rehearsal comes first, so that the
// first method is not slower because it is the first. Afterwards the fit gets the matrix of
// the race, since the matrices of many runs would fill the memory.
func (r racing) Compete(ctx context.Context, m solvers.Method, limit time.Duration) (any, error) {
	t := r.task
	if len(t.y) <= rehearsalPoints {
		short, cancel := context.WithTimeout(ctx, rehearsal)
		if first, err := t.Using(m).prepare(); err == nil {
			_, _ = first.solve(short) // an error will occur again in the measured run
		}
		cancel()
	}
	own, err := t.Using(m).prepare()
	if err != nil {
		return nil, err
	}
	runtime.GC()
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, errLimit)
		defer cancel()
	}
	fit, err := own.solve(ctx)
	if fit != nil && errors.Is(err, errLimit) {
		fit.Status, err = solvers.TimeLimit, nil
	}
	own.k, own.problem, own.asking = t.k, t.problem, t.asking
	if fit == nil {
		return nil, err
	}
	return fit, err
}
