package beam

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/harness"
	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"google.golang.org/grpc"
)

// Serve serves worker processes of this program at an address such as ":50000", for a runner
// whose Runner has this address in Workers. It returns when ctx ends. A machine of a cluster
// runs one; whoever reaches the address can start workers, so it must not be open to others.
func Serve(ctx context.Context, address string) error {
	p, err := startPool(address, false, func(string) {})
	if err != nil {
		return fmt.Errorf("svmnb: Serve: %w", err)
	}
	<-ctx.Done()
	p.stop()
	return nil
}

// pool starts workers for a runner, which asks for them by Beam's protocol for external workers:
// further processes of this program, or goroutines of this one.
type pool struct {
	fnpb.UnimplementedBeamFnExternalWorkerPoolServer
	lis    net.Listener
	server *grpc.Server
	inside bool
	begun  func(pid int)      // for tests; may be nil
	died   func(words string) // called when a worker process has died by itself

	mu   sync.Mutex
	ends map[string]func() // how to end each worker; nil when the pool has stopped
	wait sync.WaitGroup
}

func startPool(address string, inside bool, died func(words string)) (*pool, error) {
	lis, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	p := &pool{lis: lis, server: grpc.NewServer(), inside: inside, died: died, ends: map[string]func(){}}
	fnpb.RegisterBeamFnExternalWorkerPoolServer(p.server, p)
	go func() { _ = p.server.Serve(lis) }() // ends by stop
	return p, nil
}

func (p *pool) address() string {
	return fmt.Sprintf("localhost:%d", p.lis.Addr().(*net.TCPAddr).Port)
}

// StartWorker implements Beam's protocol.
func (p *pool) StartWorker(_ context.Context, req *fnpb.StartWorkerRequest) (*fnpb.StartWorkerResponse, error) {
	id, control, logging := req.GetWorkerId(), req.GetControlEndpoint().GetUrl(), req.GetLoggingEndpoint().GetUrl()
	refuse := func(format string, args ...any) (*fnpb.StartWorkerResponse, error) {
		return &fnpb.StartWorkerResponse{Error: fmt.Sprintf(format, args...)}, nil
	}
	if id == "" || control == "" || logging == "" || strings.ContainsAny(id+control+logging, " \t\n\x00") {
		return refuse("the request for a worker has no name or no addresses: %q, %q, %q", id, control, logging)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.ends == nil:
		return refuse("the pool has stopped")
	case p.ends[id] != nil:
		return refuse("there is a worker %q already", id)
	}
	if p.inside {
		ctx, end := context.WithCancel(grpcx.WriteWorkerID(context.Background(), id))
		p.ends[id] = end
		p.wait.Go(func() { _ = harness.MainWithOptions(ctx, logging, control, harness.Options{}) }) // its errors reach the runner
		return &fnpb.StartWorkerResponse{}, nil
	}
	self, err := os.Executable()
	if err != nil {
		return refuse("%v", err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), workerVariable+"="+id+" "+control+" "+logging)
	tail := new(tail)
	cmd.Stderr = tail
	leash, err := cmd.StdinPipe() // it breaks when this process dies, and then the worker ends
	if err != nil {
		return refuse("%v", err)
	}
	if err := cmd.Start(); err != nil {
		return refuse("%v", err)
	}
	if p.begun != nil {
		p.begun(cmd.Process.Pid)
	}
	over := make(chan struct{})
	var ours atomic.Bool // whether we have ended it
	p.ends[id] = sync.OnceFunc(func() {
		ours.Store(true)
		_ = cmd.Process.Kill() // what a worker was doing is done again, so it needs no time to end
		<-over
	})
	p.wait.Go(func() {
		err := cmd.Wait()
		leash.Close()
		close(over)
		p.mu.Lock()
		delete(p.ends, id)
		p.mu.Unlock()
		// One that had an exit code has ended by itself, even if we came to end it a little later.
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && (!ours.Load() || exit.ExitCode() >= 0) {
			p.died(strings.TrimSpace(fmt.Sprintf("%v %s", err, tail)))
		}
	})
	return &fnpb.StartWorkerResponse{}, nil
}

// StopWorker implements Beam's protocol.
func (p *pool) StopWorker(_ context.Context, req *fnpb.StopWorkerRequest) (*fnpb.StopWorkerResponse, error) {
	p.mu.Lock()
	end := p.ends[req.GetWorkerId()]
	delete(p.ends, req.GetWorkerId())
	p.mu.Unlock()
	if end != nil {
		end()
	}
	return &fnpb.StopWorkerResponse{}, nil
}

// stop ends the pool and all its workers.
func (p *pool) stop() {
	p.mu.Lock()
	ends := p.ends
	p.ends = nil
	p.mu.Unlock()
	for _, end := range ends {
		end()
	}
	gone := make(chan struct{})
	go func() { p.wait.Wait(); close(gone) }()
	select {
	case <-gone:
	case <-time.After(2 * time.Second): // a worker in this process may hang in a user's code
	}
	p.server.Stop()
}

// tail keeps the end of what is written to it.
type tail struct {
	sync.Mutex
	text []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.Lock()
	defer t.Unlock()
	const most = 2000
	t.text = append(t.text, b...)
	if cut := len(t.text) - most; cut > 0 {
		t.text = append(t.text[:0], t.text[cut:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.Lock()
	defer t.Unlock()
	return string(t.text)
}

// lastWords is what a worker said before it died.
type lastWords struct {
	sync.Mutex
	text string
}

func (w *lastWords) say(text string) {
	w.Lock()
	defer w.Unlock()
	w.text = text
}

func (w *lastWords) String() string {
	w.Lock()
	defer w.Unlock()
	return w.text
}
