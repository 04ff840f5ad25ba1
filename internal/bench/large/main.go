// Large measures exact machines on up to a million points (docs/performance.md):
//
//	go run ./internal/bench/large -n 10000,30000,100000,300000,1000000
//	go run ./internal/bench/large -n 1000000 -c 10
//	go run ./internal/bench/large -n 1000000 -c 32 -gamma 0.4 -separation 1.5 -spread 0.1 -noise 0.2 -landmarks 2000
//
// The points come from eight normal clouds, of which every second one is a class. GOMAXPROCS sets
// the number of threads. Each line is written when its fit is done, and the last one says how the
// seconds and the kernel values grow with n. An interrupt ends a fit with what it has. With -keep,
// a fit goes on from the last checkpoint of a run that was killed. With -landmarks, the exact fit starts
// from a Nyström approximation. The seconds in its line include those of the approximation.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "large:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("large", flag.ContinueOnError)
	sizes := flags.String("n", "10000,30000,100000", "`numbers` of points, one fit each, in increasing order")
	d := flags.Int("d", 20, "features")
	c := flags.Float64("c", 1, "C")
	gamma := flags.Float64("gamma", 0, "γ of exp(−γ‖x − z‖²) (default 1/d)")
	separation := flags.Float64("separation", 3.7, "root mean square distance of two centres")
	spread := flags.Float64("spread", 1, "standard deviation of each feature of a cloud")
	noise := flags.Float64("noise", 0, "share of the labels that are turned around")
	seed := flags.Uint64("seed", 1, "of the points")
	tol := flags.Float64("tol", 1e-3, "largest violation M − m at the end")
	memory := flags.Int64("memory", 0, "`MiB` that the process should take, as GOMEMLIMIT says it; 0 means no limit")
	keep := flags.Bool("keep", false, "use Keep: a run that was killed goes on when the same command is given again")
	landmarks := flags.Int("landmarks", 0, "start from Nyström's approximation with so many `landmarks`; 0 means from α = 0")
	every := flags.Int("watch", 0, "print where the run is, after every `k` working sets; 0 means never")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *memory > 0 {
		debug.SetMemoryLimit(*memory << 20)
	}
	if *gamma == 0 {
		*gamma = 1 / float64(*d)
	}
	fmt.Fprintf(out, "C = %g, γ = %g, d = %d, separation %g, spread %g, noise %g, seed %d, %d threads, %s, %s\n", *c, *gamma, *d, *separation, *spread, *noise, *seed, runtime.GOMAXPROCS(0), simd.Active(), time.Now().UTC().Format("2006-01-02 15:04 UTC"))
	fmt.Fprintf(out, "%9s %9s %9s %6s %9s %7s %8s %8s %17s %9s  %s\n", "n", "seconds", "cpu s", "MB", "values", "rounds", "support", "free", "objective", "gap", "how")
	var logN, logSeconds, logValues []float64
	for text := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 16 {
			return fmt.Errorf("-n: %q is not a number of points, 16 or more", text)
		}
		data := clouds(n, *d, *separation, *spread, *noise, *seed)
		began, used := time.Now(), processorSeconds()
		learner := svmnb.Classify(data).Kernel(kernels.RBF(*gamma)).C(*c).Tol(*tol)
		if *every > 0 {
			learner = learner.Stop(watched{solvers.KKT{Tol: *tol}, out, *every})
		}
		var fit *svmnb.Fit
		switch {
		case *landmarks > 0:
			var rough *svmnb.ApproximateFit
			if rough, err = learner.Approximate(svmnb.Nystroem{Landmarks: *landmarks}).Fit(ctx); err == nil {
				fit, err = rough.Polish(ctx)
			}
		case *keep:
			fit = learner.Keep()
		default:
			fit, err = learner.Fit(ctx)
		}
		if fit == nil {
			return err
		}
		seconds, support := time.Since(began).Seconds(), 0
		for _, a := range fit.Alpha {
			if a > 0 {
				support++
			}
		}
		fmt.Fprintf(out, "%9d %9.2f %9.2f %6.0f %9.3g %7d %8d %8d %17.10g %9.2e  %s, %v\n", n, seconds, processorSeconds()-used, peak(), float64(fit.Evaluations), fit.Iterations, support, fit.Certificate.Free, -fit.Certificate.Dual, fit.Certificate.RelGap, fit.Method, fit.Status)
		if math.IsNaN(fit.Certificate.Gap) {
			fmt.Fprintln(out, "The interrupt left no time to update F of all points, so objective and gap are not known.")
		}
		if err != nil {
			return err
		}
		logN, logSeconds, logValues = append(logN, math.Log(float64(n))), append(logSeconds, math.Log(seconds)), append(logValues, math.Log(float64(fit.Evaluations)))
	}
	if len(logN) > 1 {
		_, time := stat.LinearRegression(logN, logSeconds, nil, false)
		_, values := stat.LinearRegression(logN, logValues, nil, false)
		last := len(logN) - 1
		fmt.Fprintf(out, "EXPONENT seconds %.3g, kernel values %.3g; between the last two %.3g and %.3g\n", time, values,
			(logSeconds[last]-logSeconds[last-1])/(logN[last]-logN[last-1]), (logValues[last]-logValues[last-1])/(logN[last]-logN[last-1]))
	}
	return nil
}

// watched prints every so many iterations of a run.
type watched struct {
	solvers.KKT
	out   io.Writer
	every int
}

func (w watched) Met(pt *solvers.Point, t *solvers.Trace) solvers.Status {
	if pt.Iteration%w.every == 0 {
		fmt.Fprintf(w.out, "%9d sets %9.1f s, violation %.3g", pt.Iteration, pt.Elapsed.Seconds(), pt.KKT)
		if pt.Active > 0 { // the solver often tells a criterion only what that criterion needs
			fmt.Fprintf(w.out, ", %.3g values, %d active, %d free", float64(pt.Evaluations), pt.Active, pt.Free)
		}
		fmt.Fprintln(w.out)
	}
	return w.KKT.Met(pt, t)
}

// clouds has n points of eight normal clouds; those of the second, the fourth … are the class +1.
func clouds(n, d int, separation, spread, noise float64, seed uint64) *datasets.Dataset {
	rng := rand.New(rand.NewPCG(seed, 1))
	var centres [8][]float64
	for k := range centres {
		centres[k] = make([]float64, d)
		for j := range centres[k] {
			centres[k][j] = separation / math.Sqrt(2*float64(d)) * rng.NormFloat64()
		}
	}
	all, x, y := make([]float64, n*d), make([][]float64, n), make([]float64, n)
	for i := range x {
		x[i] = all[i*d : (i+1)*d : (i+1)*d]
		k := rng.IntN(len(centres))
		for j := range x[i] {
			x[i][j] = math.Round((centres[k][j]+spread*rng.NormFloat64())*1e6) / 1e6
		}
		y[i] = float64(2*(k%2) - 1)
	}
	turn := rand.New(rand.NewPCG(seed, 7))
	for i := range y {
		if turn.Float64() < noise {
			y[i] = -y[i]
		}
	}
	return datasets.New(x, y)
}

// peak returns the largest memory of the process so far in megabytes, where the system tells.
func peak() float64 {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range bytes.Lines(status) {
		kB := 0.0
		if n, _ := fmt.Sscanf(string(line), "VmHWM: %f kB", &kB); n == 1 {
			return kB / 1024
		}
	}
	return math.NaN()
}

// processorSeconds returns the processor time of the process so far, of user and system on all
// cores, where the system tells.
func processorSeconds() float64 {
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return math.NaN()
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])) // from the state on, which is field 3
	total := 0.0
	for _, f := range fields[11:13] { // utime and stime
		ticks, err := strconv.ParseFloat(f, 64)
		if err != nil {
			return math.NaN()
		}
		total += ticks / 100
	}
	return total
}
