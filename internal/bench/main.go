// Bench races svmnb against LIBSVM's svm-train and svm-predict, LIBLINEAR's train
// and scikit-learn on this machine:
//
//	go run ./internal/bench             everything, five processes each (an hour or two)
//	go run ./internal/bench -quick      small data, one process each (a minute)
//	go run ./internal/bench -only a9a   the work whose name matches
//	go run ./internal/bench -certain    stopping when labels are certain against the tolerance 1e-3
//	go run ./internal/bench -file F -c 10 -g 0.05
//	                                    data of your own in LIBSVM's format
//
// Competitors that are not installed are named and left out. docs/performance.md says what is
// timed and how. Seconds are medians. For each comparison a line
//
//	RATIO <work> <threads>t <peer> <value>
//
// is printed for programs to read. Its value is the competitor's seconds divided by ours.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/svmnb/svmnb/internal/simd"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == serve {
		if err := answerOne(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	quick := flags.Bool("quick", false, "small data, one process each: less than a minute")
	only := flags.String("only", "", "run the work whose name matches this regular `expression`")
	runs := flags.Int("runs", 0, "fresh processes of each competitor (default 5, quick 1)")
	threads := flags.String("threads", "1,2", "`numbers` of threads, the last one for the studies")
	peers := flags.String("peers", "libsvm,liblinear,sklearn", "`names` of the competitors")
	dir := flags.String("dir", "", "`folder` for the data that are written (default a temporary one)")
	limit := flags.Duration("limit", 15*time.Minute, "after which a process is ended and left out")
	file := flags.String("file", "", "race data of your own, a `file` in LIBSVM's format")
	c := flags.Float64("c", 1, "C, with -file")
	gamma := flags.Float64("g", 0, "gamma of exp(−gamma ‖x − z‖²), with -file (default 1/features)")
	epsilon := flags.Float64("p", -1, "epsilon of the tube, with -file: the data are a regression")
	labels := flags.Bool("certain", false, "compare stopping when labels are certain with the tolerance 1e-3 (a minute or two), and nothing else")
	flags.Parse(args)
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is no flag; see -help", flags.Arg(0))
	}
	if *labels {
		return certain(ctx, out)
	}
	pattern, err := regexp.Compile(*only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	b := bench{quick: *quick, runs: *runs, limit: *limit, dir: *dir, out: out}
	for s := range strings.SplitSeq(*threads, ",") {
		t, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || t < 1 {
			return fmt.Errorf("-threads: %q is not a number of threads, 1 or more", s)
		}
		b.threads = append(b.threads, t)
	}
	switch {
	case b.runs < 0:
		return fmt.Errorf("-runs is %d; it must be at least 1", b.runs)
	case b.runs == 0 && b.quick:
		b.runs = 1
	case b.runs == 0:
		b.runs = 5
	}
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	if b.dir == "" {
		if b.dir, err = os.MkdirTemp("", "svmnb-bench"); err != nil {
			return err
		}
		defer os.RemoveAll(b.dir)
	}
	works, studies := works(b.quick), studies(b.quick)
	if *file != "" {
		own, err := ownWork(*file, *c, *gamma, *epsilon)
		if err != nil {
			return err
		}
		works, studies = []work{own}, nil
	}
	fmt.Fprintf(b.out, "%s, %d cores, %s/%s, %s, %s, median of %d\n", processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), simd.Active(), b.runs)
	fmt.Fprintln(b.out, time.Now().UTC().Format("2006-01-02 15:04 UTC"))
	b.findPeers(ctx, *peers)
	if b.quick {
		fmt.Fprintln(b.out, "quick: a tenth of the points that the names of the works say, or fewer")
	}

	fmt.Fprintf(b.out, "\n"+rowFormat+"\n", "work", "t", "ours s", "peer", "peer s", "ratio", "objective", "against", "KKT", "MB", "how")
	ran := false
	for _, w := range works {
		if pattern.MatchString(w.name) {
			ran = true
			if err := b.race(ctx, w); err != nil {
				return err
			}
		}
	}
	for _, s := range studies {
		if pattern.MatchString(s.name) {
			ran = true
			if err := b.study(ctx, s); err != nil {
				return err
			}
		}
	}
	if !ran {
		return fmt.Errorf("-only %s matches no work", *only)
	}
	return nil
}

// processor returns the name of the processor, if Linux provides it.
func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	if m := regexp.MustCompile(`(?m)^model name\s*: (.*)$`).FindSubmatch(text); m != nil {
		return string(m[1])
	}
	return "a processor without a name"
}
