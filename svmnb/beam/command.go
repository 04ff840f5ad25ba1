package beam

import (
	"context"
	"encoding/gob"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/letter"
	"github.com/svmnb/svmnb/svmnb/model"
	"github.com/svmnb/svmnb/svmnb/selection"
)

const usage = `svmnb-beam computes on Apache Beam.

  svmnb-beam [flags] train   -learner TEXT -model FILE [files]   learns from files, in blocks
  svmnb-beam [flags] certify -learner TEXT -model FILE [files]   bounds how far a model is from the optimum
  svmnb-beam [flags] predict -model FILE -out FOLDER [files]     writes predictions
  svmnb-beam [flags] worker  -listen ADDRESS                     serves worker processes to a cluster
  svmnb-beam [flags] cell                                        answers a notebook cell (package svmnb/remote)

Files are -files a.csv,b.csv with -format csv, libsvm or sparse, -dims N, -classes no,yes.
TEXT is a description, such as "Classify(data).Kernel(RBF(0.5)).C(10)".
Without flags, everything is computed in this process. The flags are:
`

// Command is the program svmnb-beam: it does what the arguments say and returns the exit code. A
// program of your own calls it, after it has registered searches and sources, to serve cells and
// clusters with them:
//
//	func main() { os.Exit(beam.Command(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
func Command(args []string, in io.Reader, out, messages io.Writer) int {
	Init()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := command(ctx, args, in, out, messages)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 2
	case err != nil:
		fmt.Fprintln(messages, err)
		return 1
	}
	return 0
}

func command(ctx context.Context, args []string, in io.Reader, out, messages io.Writer) error {
	var r Runner
	set := flag.NewFlagSet("svmnb-beam", flag.ContinueOnError)
	set.SetOutput(messages)
	set.Usage = func() { fmt.Fprint(messages, usage); set.PrintDefaults() }
	set.StringVar(&r.Dir, "dir", "", "folder for results and checkpoints, which all workers reach; none keeps no checkpoints")
	set.IntVar(&r.Processes, "processes", 0, "number of worker processes on this machine, or for each machine of the runner at -endpoint")
	set.StringVar(&r.Endpoint, "endpoint", "", "job server of Flink or Spark, such as localhost:8099")
	set.StringVar(&r.Workers, "workers", "", "address of the worker pool for -endpoint, as svmnb-beam worker serves it; none is a pool in this process")
	set.IntVar(&r.Parallelism, "parallelism", 0, "pieces that the runner at -endpoint computes at the same time; 0 is its default")
	set.IntVar(&r.Tries, "tries", 0, "how often a piece is tried (3)")
	set.DurationVar(&r.Idle, "idle", 0, "a job in which nothing happens for so long is ended and tried again (1m, or 3m with -endpoint)")
	set.DurationVar(&r.Limit, "limit", 0, "longest time of one piece (1h)")
	quietly := set.Bool("quiet", false, "show no progress")
	if err := set.Parse(args); err != nil {
		return err
	}
	if set.NArg() == 0 {
		set.Usage()
		return flag.ErrHelp
	}
	if !*quietly {
		r.Watch = func(p Progress) {
			fmt.Fprintf(messages, "\r\x1b[K%s: %d of %d pieces, %v", p.What, p.Done, p.All, p.Elapsed.Round(100*time.Millisecond))
			if p.Done == p.All {
				fmt.Fprintln(messages)
			}
		}
	}
	work := set.Arg(0)
	if work == "cell" {
		return r.cell(ctx, in, out)
	}
	sub := flag.NewFlagSet("svmnb-beam "+work, flag.ContinueOnError)
	sub.SetOutput(messages)
	listen := sub.String("listen", "localhost:50000", "address at which the runner asks for workers; whoever reaches it can start them")
	text := sub.String("learner", "", "description, such as \"Classify(data).Kernel(RBF(0.5)).C(10)\"")
	path := sub.String("model", "", "file of the model")
	folder := sub.String("out", "", "folder for the predictions")
	tol := sub.Float64("tol", 1e-3, "relative gap to reach")
	files := sub.String("files", "", "files of points, separated by commas")
	format := sub.String("format", "csv", "csv, libsvm or sparse")
	classes := sub.String("classes", "", "names of the classes in CSV, separated by commas, if they are no numbers")
	var f Files
	sub.IntVar(&f.Dims, "dims", 0, "number of features, for libsvm and sparse")
	sub.StringVar(&f.Table.Target, "target", "", "name of the column of the targets in CSV; the last one if not given")
	sub.Int64Var(&f.Bytes, "bytes", 0, "size of a block (16 MiB)")
	if err := sub.Parse(set.Args()[1:]); err != nil {
		return err
	}
	if sub.NArg() > 0 {
		return fmt.Errorf("svmnb-beam: %q is no flag", sub.Arg(0))
	}
	if work == "worker" {
		return Serve(ctx, *listen)
	}
	if *files != "" {
		f.Paths = strings.Split(*files, ",")
	}
	if *classes != "" {
		f.Classes = strings.Split(*classes, ",")
	}
	switch *format {
	case "csv":
	case "libsvm":
		f.Format = LIBSVM
	case "sparse":
		f.Format = SparseLIBSVM
	default:
		return fmt.Errorf("svmnb-beam: the format %q is none of csv, libsvm and sparse", *format)
	}
	if *path == "" {
		return fmt.Errorf("svmnb-beam: there is no -model")
	}
	switch work {
	case "train":
		l, err := readLearner(*text, &datasets.Dataset{})
		if err != nil {
			return err
		}
		fit, err := r.Train(ctx, f, wrapped{l}, *tol)
		if err != nil {
			return err
		}
		if err := model.Save(*path, fit); err != nil {
			return err
		}
		fmt.Fprintln(out, fit.Certificate)
		if !fit.Reached {
			return fmt.Errorf("svmnb-beam: the model is saved, but its gap has not reached %g", *tol)
		}
		return nil
	case "certify", "predict":
		m, err := model.Load(*path)
		if err != nil {
			return err
		}
		if work == "predict" {
			p, err := r.Predict(ctx, f, m, *folder)
			if err != nil {
				return err
			}
			if m.Classes() != nil {
				fmt.Fprintf(out, "%d points in %d files, %d of the predicted classes are the targets\n", p.N, len(p.Files), p.Right)
			} else {
				fmt.Fprintf(out, "%d points in %d files, RMSE %.6g\n", p.N, len(p.Files), p.RMSE)
			}
			return nil
		}
		l, err := readLearner(*text, &datasets.Dataset{})
		if err != nil {
			return err
		}
		c, err := r.Certify(ctx, f, wrapped{l}, m)
		if err == nil {
			fmt.Fprintln(out, c)
		}
		return err
	}
	return fmt.Errorf("svmnb-beam: there is no %q; say train, certify, predict, worker or cell", work)
}

// cell answers a request of package svmnb/remote.
func (r Runner) cell(ctx context.Context, in io.Reader, out io.Writer) error {
	var mu sync.Mutex
	answers := gob.NewEncoder(out)
	answer := func(a letter.Answer) error {
		mu.Lock()
		defer mu.Unlock()
		return answers.Encode(a)
	}
	var req letter.Request
	err := gob.NewDecoder(in).Decode(&req)
	if err != nil {
		err = fmt.Errorf("the request of the cell cannot be read; are cell and program of the same version? %w", err)
	} else {
		r.Watch = func(p Progress) { _ = answer(letter.Answer{What: p.What, Done: p.Done, All: p.All}) } // a cell that has gone interrupts us
		if req.Fit {
			err = r.cellFit(ctx, req, answer)
		} else {
			err = r.cellSearch(ctx, req, answer)
		}
	}
	if err != nil {
		return answer(letter.Answer{Err: err.Error()})
	}
	return answer(letter.Answer{Over: true})
}

func (r Runner) cellSearch(ctx context.Context, req letter.Request, answer func(letter.Answer) error) error {
	t := searchText{Learner: req.Learner, Names: req.Names, Folds: req.Folds, Metrics: req.Metrics}
	s, err := t.over(req.Data)
	if err != nil {
		return err
	}
	w, err := s.Worker()
	if err != nil {
		return err
	}
	if w.Key() != req.Key {
		return fmt.Errorf("the search %v arrives as another one; are cell and program of the same version?", s)
	}
	var chains []selection.Chain
	for _, c := range req.Chains {
		chains = append(chains, selection.Chain{Fold: c.Fold, Points: c.Points, Values: c.Values})
	}
	return r.Chains(ctx, s, chains, func(lines []byte) error { return answer(letter.Answer{Lines: lines}) })
}

func (r Runner) cellFit(ctx context.Context, req letter.Request, answer func(letter.Answer) error) error {
	l, err := readLearner(req.Learner, req.Data)
	if err != nil {
		return err
	}
	fit, err := r.Train(ctx, Memory(req.Data, req.Blocks), wrapped{l}, req.Tol)
	if err != nil {
		return err
	}
	beta, err := fit.v.in(req.Data)
	if err != nil {
		return err
	}
	return answer(letter.Answer{Fit: &letter.Fit{Beta: beta, Costs: fit.c.C, Primal: fit.Primal, Dual: fit.Dual, Gap: fit.Gap, RelGap: fit.RelGap, Bias: fit.Bias, Rounds: len(fit.Rounds), Reached: fit.Reached}})
}
