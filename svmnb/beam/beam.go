// Package beam computes searches, fits, certificates and predictions on Apache Beam: in this
// process, in several processes of this machine, or on a cluster that runs Flink, Spark or
// Dataflow. Without any set-up, everything runs in this process:
//
//	found, err := selection.Search(svmnb.Classify(data), grid, folds).On(beam.Runner{}).Fit(ctx)
//	fit, err := beam.Runner{}.Train(ctx, beam.Files{Paths: paths}, description, 1e-3)
//
// The work is cut into pieces, each of which is a function of its description alone: a chain of
// a search, or one block of the data. A worker writes the result of a piece to a file of
// [Runner.Dir], completely or not at all. These files are at once the results, the progress and
// the checkpoints: a run that was killed goes on with the pieces that are missing, a piece that
// is computed twice has the same bits, and sums over blocks are taken in the order of the
// blocks. So results do not depend on the runner, on the number of workers, or on retries.
//
// A program that starts worker processes, or that is itself a worker on a cluster, calls [Init]
// first in its main function.
package beam

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"time"

	"github.com/svmnb/svmnb/svmnb/internal/arguments"
)

// Runner says where the pieces are computed. The zero value computes them in this process, by
// Beam's embedded runner, with as many at a time as there are processors. A Runner is a
// [selection.Place].
type Runner struct {
	// Dir is the folder for the files of the pieces, which all workers must reach; gs://… is a
	// bucket. A run that finds files of the same work goes on with what is missing. "" is a
	// temporary folder, which is removed at the end, so that nothing is left to go on from.
	Dir string

	// Processes is the number of worker processes on this machine; 0 computes in this process.
	// The workers are further processes of this program, which must call [Init] first in main.
	// With Endpoint, it is their number on each machine of the other runner; 0 means 1.
	Processes int

	// Endpoint is the job server of another runner, such as "localhost:8099" for Flink or Spark;
	// "" is Beam's embedded runner.
	Endpoint string
	// Workers is the address of the pool of worker processes that the other runner uses, as
	// [Serve] serves one; "" is a pool in this process, for runners on this machine.
	Workers string
	// Parallelism is the number of pieces that the other runner computes at the same time; 0 is
	// what it has for a default.
	Parallelism int

	// Engine is the name of a runner that this program has linked and Beam's flags configure,
	// such as "dataflow"; see beam.Run of Apache Beam. It excludes Processes and Endpoint.
	Engine string

	// Tries is how often a piece is tried that fails or whose worker dies; 0 means 3. Then the
	// run ends with a [*PieceError], which names the piece.
	Tries int
	// Idle ends a job in which nothing has happened for so long: no piece was begun or finished,
	// and no worker has said that it is alive. The missing pieces are then submitted again. 0
	// means a minute, three with Endpoint, or ten with Engine.
	Idle time.Duration
	// Limit is the longest that one piece may take; 0 means an hour.
	Limit time.Duration

	// Watch is called before the first piece and after every piece, one call at a time.
	Watch func(Progress)

	started func(pid int) // for tests: called for every worker process
	beat    time.Duration // how often a worker says that it is alive; 0 means a second
}

// Progress says how far one pass over the pieces is.
type Progress struct {
	What      string // such as "search" or "certificate"
	Done, All int    // pieces
	Known     int    // how many of Done were in the files of an earlier run
	Retried   int    // how many pieces were submitted again
	Elapsed   time.Duration
}

// PieceError says which piece could not be computed.
type PieceError struct {
	Piece string // what the piece is, such as "block 3" or "fold 2 of gamma = 0.5, C = 1"
	Tries int
	Err   error
}

func (e *PieceError) Error() string {
	times := fmt.Sprintf("%d times", e.Tries)
	if e.Tries == 1 {
		times = "once"
	}
	return fmt.Sprintf("svmnb: Beam: %s was tried %s and failed: %v", e.Piece, times, e.Err)
}

func (e *PieceError) Unwrap() error { return e.Err }

// errDied is the error of a piece whose worker ended without a word.
var errDied = errors.New("its worker died, or said nothing any more, without an error; perhaps it was killed for want of memory")

func (r Runner) check() error {
	at := func(name string, v float64, msg string) error {
		return arguments.WrongIf(v < 0, name, v, "the value is %v; %s", v, msg)
	}
	err := errors.Join(
		at("Processes", float64(r.Processes), "give the number of worker processes, or 0 for none"),
		at("Parallelism", float64(r.Parallelism), "give the number of pieces at a time, or 0"),
		at("Tries", float64(r.Tries), "give how often a piece is tried, or 0 for 3"),
		at("Idle", r.Idle.Seconds(), "give a time, or 0 for a minute"),
		at("Limit", r.Limit.Seconds(), "give a time, or 0 for an hour"),
	)
	if r.Engine != "" && (r.Processes > 0 || r.Endpoint != "") {
		err = errors.Join(err, arguments.Wrong("Runner", math.NaN(), "Engine excludes Processes and Endpoint; give one of them, or none to compute in this process"))
	}
	if (r.Engine != "" || r.Endpoint != "") && r.Dir == "" {
		err = errors.Join(err, arguments.Wrong("Dir", math.NaN(), "there is no folder for the results; give one that this program and all workers reach"))
	}
	return err
}

func (r Runner) filled() Runner {
	if r.Tries == 0 {
		r.Tries = 3
	}
	if r.Idle == 0 {
		switch r.Idle = time.Minute; {
		case r.Endpoint != "":
			r.Idle = 3 * time.Minute // Flink on a busy machine takes most of a minute for its first job
		case r.Engine != "":
			r.Idle = 10 * time.Minute // a cluster starts its machines first
		}
	}
	if r.Limit == 0 {
		r.Limit = time.Hour
	}
	if r.beat == 0 {
		r.beat = min(time.Second, r.Idle/4)
	}
	return r
}

// inside reports whether the pieces are computed in this process.
func (r Runner) inside() bool {
	return r.Processes == 0 && r.Endpoint == "" && r.Engine == "" && r.Workers == ""
}

// slots is how many pieces one worker process computes at the same time.
func (r Runner) slots() int {
	if r.Endpoint != "" || r.Engine != "" {
		return 0 // the runner decides
	}
	return max(1, runtime.GOMAXPROCS(0)/max(1, r.Processes))
}

// folder opens the folder of the files. end removes a temporary one.
func (r Runner) folder(ctx context.Context) (s store, end func(), err error) {
	end = func() {}
	if r.Dir == "" {
		if r.Dir, err = os.MkdirTemp("", "svmnb-beam-"); err != nil {
			return store{}, end, fmt.Errorf("svmnb: Dir: %w", err)
		}
		end = func() { os.RemoveAll(r.Dir) }
	}
	s, err = openStore(ctx, r.Dir)
	if err != nil {
		end()
		return store{}, func() {}, fmt.Errorf("svmnb: Dir: %w", err)
	}
	return s, end, nil
}
