package beam

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"time"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/svmnb/svmnb/internal/panics"
	"github.com/svmnb/svmnb/kernels"
)

// task is what all pieces of one pass have in common. It is written to a file of the folder, and
// the pipeline has only the numbers of the pieces.
type task struct {
	Kind  string            `json:"kind"`            // the name of a function of kinds
	Local int64             `json:"local,omitempty"` // number of what this process hands over in memory; 0 elsewhere
	Spec  json.RawMessage   `json:"spec,omitempty"`  // what the function needs for all pieces
	Key   string            `json:"key"`             // hash of everything that the results depend on but for Args
	Args  []json.RawMessage `json:"args"`            // one for each piece
	Says  []string          `json:"says"`            // what each piece is, in words
	Slots int               `json:"slots,omitempty"` // how many a process computes at the same time; 0 means all it is given
	Beat  time.Duration     `json:"beat"`
	Limit time.Duration     `json:"limit"`
}

// name returns the name of the files of piece i. It is the same for the same work.
func (t *task) name(i int) string { return hash([]byte(t.Kind), []byte(t.Key), t.Args[i]) }

// cache is the memory for kernel rows of one piece, unless its description says otherwise.
func (t *task) cache() int64 {
	return int64(kernels.DefaultCache / max(1, min(t.Slots, len(t.Args))))
}

// The endings of the files of a piece.
const (
	doneFile   = ".done"   // the result
	aliveFile  = ".alive"  // written again and again while a worker computes the piece
	failedFile = ".failed" // the error of the last try
)

// kinds are the functions that compute pieces. local is what this process hands over in memory,
// or nil.
var kinds = map[string]func(ctx context.Context, s store, t *task, local any, arg json.RawMessage) ([]byte, error){}

// handed has what tasks of this process hand over in memory.
var handed struct {
	sync.Mutex
	last int64
	of   map[int64]hand
}

type hand struct {
	value any
	ctx   context.Context // of the caller, so that an interrupt reaches the pieces
}

func handOver(ctx context.Context, value any) (number int64, end func()) {
	handed.Lock()
	defer handed.Unlock()
	handed.last++
	n := handed.last
	if handed.of == nil {
		handed.of = map[int64]hand{}
	}
	handed.of[n] = hand{value, ctx}
	return n, func() {
		handed.Lock()
		defer handed.Unlock()
		delete(handed.of, n)
	}
}

// compute is the DoFn: it computes the pieces whose numbers it gets. Everything it does can be
// done again, by another worker too.
type compute struct {
	Dir, Task string
	t         *task
	s         store
}

// forget is a DoFn that does nothing with the numbers of the pieces that are done.
type forget struct{}

func (*forget) ProcessElement(string) {}

func init() {
	sdk.RegisterDoFn(&compute{})
	sdk.RegisterDoFn(&forget{})
}

// tasks has the tasks that this process has read last.
var tasks struct {
	sync.Mutex
	of map[string]*task
}

// Setup reads the task.
func (c *compute) Setup(ctx context.Context) error {
	var err error
	if c.s, err = openStore(ctx, c.Dir); err != nil {
		return err
	}
	tasks.Lock()
	defer tasks.Unlock()
	at := c.s.path(c.Task)
	if c.t = tasks.of[at]; c.t != nil {
		return nil
	}
	text, err := c.s.read(ctx, c.Task)
	if err != nil {
		return fmt.Errorf("the worker does not find the task: %w; the folder %s must be one that all workers reach", err, c.Dir)
	}
	c.t = new(task)
	if err := json.Unmarshal(text, c.t); err != nil {
		return err
	}
	if len(tasks.of) >= 8 || tasks.of == nil {
		tasks.of = map[string]*task{}
	}
	tasks.of[at] = c.t
	return nil
}

// ProcessElement computes a piece unless its result is there already.
func (c *compute) ProcessElement(ctx context.Context, number string) (string, error) {
	i, err := strconv.Atoi(number)
	if err != nil || i < 0 || i >= len(c.t.Args) {
		return "", fmt.Errorf("there is no piece %q", number)
	}
	return number, c.t.piece(ctx, c.s, i)
}

// seats limit how many pieces this process computes at the same time.
var seats struct {
	sync.Mutex
	of map[int]chan bool
}

func seat(ctx context.Context, slots int) (leave func(), err error) {
	if slots <= 0 {
		return func() {}, nil
	}
	seats.Lock()
	if seats.of == nil {
		seats.of = map[int]chan bool{}
	}
	if seats.of[slots] == nil {
		seats.of[slots] = make(chan bool, slots)
	}
	room := seats.of[slots]
	seats.Unlock()
	select {
	case room <- true:
		return func() { <-room }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// piece computes piece i and writes its result, or its failure.
func (t *task) piece(ctx context.Context, s store, i int) error {
	kind := kinds[t.Kind]
	if kind == nil {
		return fmt.Errorf("this worker does not know the work %q; it is of another version", t.Kind)
	}
	var local any
	if t.Local != 0 {
		handed.Lock()
		h, ok := handed.of[t.Local]
		handed.Unlock()
		if !ok {
			return fmt.Errorf("the caller of the work has gone")
		}
		var stop func()
		ctx, stop = both(ctx, h.ctx)
		defer stop()
		local = h.value
	}
	leave, err := seat(ctx, t.Slots)
	if err != nil {
		return err
	}
	defer leave()
	name := t.name(i)
	if _, err := s.fs.Size(ctx, s.path(name+doneFile)); err == nil {
		return nil // another try has done it
	}
	if err := s.write(ctx, name+aliveFile, []byte("0")); err != nil {
		return err // without this file nobody would know which piece has killed the worker
	}
	beating, still := context.WithCancel(ctx)
	var beats sync.WaitGroup
	beats.Go(func() {
		for n := 1; ; n++ {
			select {
			case <-beating.Done():
				return
			case <-time.After(t.Beat):
				_ = s.write(beating, name+aliveFile, fmt.Appendf(nil, "%d", n)) // without it the driver tries the piece again
			}
		}
	})
	out, err := t.within(ctx, func(ctx context.Context) (out []byte, err error) {
		err = panics.Call(func() string { return t.Says[i] }, func() (err error) {
			out, err = kind(ctx, s, t, local, t.Args[i])
			return err
		})
		return out, err
	})
	still()
	beats.Wait()
	if err == nil {
		err = s.write(ctx, name+doneFile, out)
	}
	if err != nil && ctx.Err() == nil && s.write(ctx, name+failedFile, []byte(err.Error())) == nil {
		err = nil // the file tells the driver; an error would end the job, and the other pieces with it
	}
	s.remove(context.WithoutCancel(ctx), name+aliveFile)
	if err != nil {
		return fmt.Errorf("%s: %w", t.Says[i], err)
	}
	return nil
}

// within runs f, and gives it up a little after the limit of a piece: code of a user may hear of
// no context.
func (t *task) within(ctx context.Context, f func(context.Context) ([]byte, error)) ([]byte, error) {
	ctx, stop := context.WithTimeoutCause(ctx, t.Limit, fmt.Errorf("it took longer than the limit of %v; a Runner with a larger Limit gives it longer", t.Limit))
	defer stop()
	type result struct {
		out []byte
		err error
	}
	done := make(chan result, 1)
	go func() {
		out, err := f(ctx)
		done <- result{out, err}
	}()
	select {
	case r := <-done:
		return r.out, r.err
	case <-ctx.Done():
	}
	select {
	case r := <-done:
		return r.out, r.err
	case <-time.After(min(2*time.Second, t.Limit)):
		return nil, context.Cause(ctx)
	}
}

// both returns a context that ends when one of the two does.
func both(a, b context.Context) (context.Context, func()) {
	ctx, stop := context.WithCancelCause(a)
	free := context.AfterFunc(b, func() { stop(context.Cause(b)) })
	return ctx, func() { free(); stop(nil) }
}

// bundles is how many parts of a job Beam's embedded runner computes at the same time.
const bundles = 8

// jobsFor returns how many jobs it takes to use all processes, or all processors.
func jobsFor(processes int) int {
	if processes > 0 {
		return processes
	}
	return (runtime.GOMAXPROCS(0) + bundles - 1) / bundles
}
