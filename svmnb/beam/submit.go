package beam

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/harness"
	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/runnerlib"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"
)

// workerVariable tells a process of this program that it is a worker: its name, the address of
// the runner's control service and that of its logging service.
const workerVariable = "SVMNB_BEAM_WORKER"

// Init turns this process into a worker, and does not return, if a pool or Beam's boot program
// has started it as one. Otherwise it does nothing. Call it first in main, after the program has
// registered what it registers.
func Init() {
	if text := os.Getenv(workerVariable); text != "" {
		quiet()
		part := strings.Fields(text)
		if len(part) != 3 {
			fmt.Fprintf(os.Stderr, "svmnb: %s is %q, and has a name and two addresses\n", workerVariable, text)
			os.Exit(2)
		}
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin) // returns when the pool dies, which holds the other end
			os.Exit(1)
		}()
		err := harness.MainWithOptions(grpcx.WriteWorkerID(context.Background(), part[0]), part[2], part[1], harness.Options{})
		if err != nil {
			fmt.Fprintln(os.Stderr, "svmnb: the worker ends:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	for _, arg := range os.Args[1:] {
		if name, value, _ := strings.Cut(strings.TrimLeft(arg, "-"), "="); name == "worker" && value != "false" {
			flag.Parse()
			sdk.Init() // runs the worker and ends the process
		}
	}
}

// quiet initialises Beam without its messages. Errors come back as errors.
var quiet = sync.OnceFunc(func() {
	own := slog.Default()
	if !sdk.Initialized() {
		sdk.Init()
	}
	beamlog.SetLogger(silent{})
	slog.SetDefault(own)
})

type silent struct{}

func (silent) Log(context.Context, beamlog.Severity, int, string) {}

// embedded returns Beam's embedded runner, one for the process.
var embedded = sync.OnceValues(func() (jobpb.JobServiceClient, error) {
	own := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
	defer slog.SetDefault(own)
	return prism.CreateJobServer(context.Background(), prism.Options{})
})

// pipeline returns the pipeline that computes some pieces of a task.
func (r Runner) pipeline(s store, file string, pieces []int) *sdk.Pipeline {
	branches := 1
	if r.Endpoint == "" && r.Engine == "" {
		branches = min(bundles, 2*r.slots(), len(pieces)) // the embedded runner takes each as a bundle, and divides none
	}
	p, root := sdk.NewPipelineWithRoot()
	for b := range branches {
		var numbers []string
		for k := b; k < len(pieces); k += branches {
			numbers = append(numbers, strconv.Itoa(pieces[k]))
		}
		col := sdk.CreateList(root, numbers)
		if r.Endpoint != "" || r.Engine != "" {
			col = sdk.Reshuffle(root, col) // otherwise other runners leave all pieces to one worker
		}
		// The pieces have an output that nobody needs: while a bundle without output computes, the
		// embedded runner waits for it in a loop that never rests.
		sdk.ParDo0(root, &forget{}, sdk.Reshuffle(root, sdk.ParDo(root, &compute{Dir: s.dir, Task: file}, col)))
	}
	return p
}

var (
	errNoServer   = errors.New("no job server answers")
	errLostServer = errors.New("the job server has ended")
)

// job computes some pieces of a task by one job of the runner.
func (r Runner) job(ctx context.Context, s store, file string, pieces []int, words *lastWords) error {
	quiet()
	p := r.pipeline(s, file, pieces)
	if r.Engine != "" {
		_, err := sdk.Run(ctx, r.Engine, p)
		return err
	}
	workers := r.Workers
	if workers == "" {
		var stop context.CancelCauseFunc
		ctx, stop = context.WithCancelCause(ctx)
		defer stop(nil)
		pool, err := startPool("localhost:0", r.inside(), func(text string) {
			words.say(text)
			if r.Endpoint == "" {
				stop(fmt.Errorf("a worker died: %s", text)) // the embedded runner has no other, and may wait for ever
			}
		})
		if err != nil {
			return err
		}
		defer pool.stop()
		pool.mu.Lock()
		pool.begun = r.started
		pool.mu.Unlock()
		workers = pool.address()
	}
	var client jobpb.JobServiceClient
	var err error
	if r.Endpoint == "" {
		client, err = embedded()
	} else {
		conn, e := grpcx.Dial(ctx, r.Endpoint, min(20*time.Second, r.Idle))
		if e != nil {
			return fmt.Errorf("%w at %s; start it, or leave Endpoint out to compute on this machine: %w", errNoServer, r.Endpoint, e)
		}
		defer conn.Close()
		client = jobpb.NewJobServiceClient(conn)
	}
	if err != nil {
		return err
	}
	id, err := r.start(ctx, client, p, workers)
	if err != nil {
		return err
	}
	err = wait(ctx, client, id)
	if ctx.Err() != nil {
		late, stop := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer stop()
		_, _ = client.Cancel(late, &jobpb.CancelJobRequest{JobId: id}) // the job may have ended meanwhile
		return context.Cause(ctx)
	}
	return err
}

// start submits the pipeline and returns the name of its job.
func (r Runner) start(ctx context.Context, client jobpb.JobServiceClient, p *sdk.Pipeline, workers string) (string, error) {
	edges, _, err := p.Build()
	if err != nil {
		return "", err
	}
	env, err := graphx.CreateEnvironment(ctx, graphx.URNEnvExternal, func(context.Context) string { return workers })
	if err != nil {
		return "", err
	}
	proto, err := graphx.Marshal(edges, &graphx.Options{Environment: env})
	if err != nil {
		return "", err
	}
	// The protocol stages the worker's program. Pools have it already, so it is an empty file.
	program, err := os.CreateTemp("", "svmnb-beam-worker-")
	if err != nil {
		return "", err
	}
	program.Close()
	defer os.Remove(program.Name())
	if err := runnerlib.UpdateGoEnvironmentWorker(program.Name(), proto); err != nil {
		return "", err
	}
	options, err := r.options()
	if err != nil {
		return "", err
	}
	prepared, err := client.Prepare(ctx, &jobpb.PrepareJobRequest{Pipeline: proto, PipelineOptions: options, JobName: jobName()})
	if err != nil {
		return "", fmt.Errorf("%s is no job server of Beam, or refuses the pipeline: %w", cmp.Or(r.Endpoint, "the embedded runner"), err)
	}
	if r.Endpoint == "" {
		staging.Lock() // the embedded runner keeps the files of all jobs in one map, and does not lock it
		defer staging.Unlock()
	}
	late, stop := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second) // an interrupt would leave it writing
	defer stop()
	token, err := runnerlib.Stage(late, prepared.GetPreparationId(), prepared.GetArtifactStagingEndpoint().GetUrl(), program.Name(), prepared.GetStagingSessionToken())
	if err != nil {
		return "", err
	}
	return runnerlib.Submit(ctx, client, prepared.GetPreparationId(), token)
}

var staging sync.Mutex

var jobs struct {
	sync.Mutex
	last int
}

func jobName() string {
	jobs.Lock()
	defer jobs.Unlock()
	jobs.last++
	return fmt.Sprintf("svmnb-%d-%d", os.Getpid(), jobs.last)
}

// options returns the options of the job. Flink has no option of a job for retries of batches: its
// configuration says how often.
func (r Runner) options() (*structpb.Struct, error) {
	options, err := tools.OptionsToProto(runtime.RawOptionsWrapper{
		Options:     sdk.PipelineOptions.Export(),
		AppName:     "svmnb",
		Experiments: []string{"beam_fn_api"},
		Parallelism: r.Parallelism,
	})
	if err != nil {
		return nil, err
	}
	if r.Parallelism == 0 {
		delete(options.Fields, "beam:option:parallelism:v1")
	}
	if r.Endpoint != "" {
		options.Fields["beam:option:sdk_worker_parallelism:v1"] = structpb.NewNumberValue(float64(max(1, r.Processes)))
	}
	return options, nil
}

// wait returns when the job has ended, with its error.
func wait(ctx context.Context, client jobpb.JobServiceClient, id string) error {
	stream, err := client.GetMessageStream(ctx, &jobpb.JobMessagesRequest{JobId: id})
	if err != nil {
		return err
	}
	said, failed := "", false
	fault := func() error {
		if said == "" {
			said = "it gave no reason"
		}
		return fmt.Errorf("job %s failed: %s", id, said)
	}
	for {
		msg, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF) && failed:
			return fault()
		case errors.Is(err, io.EOF):
			return nil
		case status.Code(err) == codes.Unavailable:
			return fmt.Errorf("%w: %w", errLostServer, err)
		case err != nil:
			return err
		}
		if m := msg.GetMessageResponse(); m.GetImportance() >= jobpb.JobMessage_JOB_MESSAGE_ERROR {
			if said = m.GetMessageText(); failed {
				return fault()
			}
		}
		switch msg.GetStateResponse().GetState() {
		case jobpb.JobState_DONE:
			return nil
		case jobpb.JobState_CANCELLED:
			return errors.New("the job was cancelled")
		case jobpb.JobState_FAILED:
			if failed = true; said != "" {
				return fault()
			}
		}
	}
}
