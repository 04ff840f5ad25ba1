// Approximate measures approximations with their exact gap against the exact fit
// (docs/performance.md):
//
//	go run ./internal/bench/approximate -points 200000 -landmarks 2000
//
// It prints seconds, processor seconds and kernel values: of the approximation, of its cheap bound,
// of its certificate, of polishing, and of the exact fit from a cold start. The points are four
// overlapping normal clouds of each of two classes.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "approximate:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	n := flag.Int("points", 20_000, "n")
	d := flag.Int("columns", 20, "d")
	m := flag.Int("landmarks", 500, "m")
	by := flag.String("by", "Uniform", "Uniform, KMeans, Leverage or Greedy")
	parts := flag.Int("parts", 0, "parts in place of landmarks")
	sample := flag.Int("sample", 0, "points of a subsample in place of landmarks")
	gamma := flag.Float64("gamma", 0.05, "γ of exp(−γ‖x − z‖²)")
	c := flag.Float64("c", 1, "C")
	tol := flag.Float64("tol", 1e-3, "tolerance of the exact fits")
	cold := flag.Bool("cold", true, "also fit the exact machine from a cold start")
	polish := flag.Bool("polish", true, "also polish")
	bound := flag.Bool("bound", false, "also compute the cheap bound")
	flag.Parse()
	how := svmnb.Approximation(svmnb.Nystroem{Landmarks: *m, By: map[string]svmnb.Choice{"uniform": svmnb.Uniform, "kmeans": svmnb.KMeans, "leverage": svmnb.Leverage, "greedy": svmnb.Greedy}[strings.ToLower(*by)]})
	switch {
	case *parts > 0:
		how = svmnb.Parts{Number: *parts}
	case *sample > 0:
		how = svmnb.Subsample{Points: *sample}
	}
	data := clouds(*n, *d, 1)
	base := svmnb.Classify(data).Kernel(kernels.RBF(*gamma)).C(*c).Tol(*tol)
	fmt.Printf("%d × %d, γ = %g, C = %g, %v\n", *n, *d, *gamma, *c, how)
	var fit *svmnb.ApproximateFit
	err := timed("approximation", func() (string, error) {
		var err error
		fit, err = base.Approximate(how).Fit(ctx)
		return "", err
	})
	if err != nil {
		return err
	}
	if *bound {
		if err := timed("cheap bound", func() (string, error) {
			v, err := fit.Bound(ctx)
			return fmt.Sprint(v), err
		}); err != nil {
			return err
		}
	}
	best := math.Inf(1)
	if err := timed("certificate", func() (string, error) {
		v, err := fit.Certify(ctx)
		if err != nil {
			return "", err
		}
		best = v.Primal
		return fmt.Sprintf("%v; gap %.6g", v, v.Gap()), nil
	}); err != nil {
		return err
	}
	if *polish {
		if err := timed("polished", func() (string, error) {
			exact, err := fit.Polish(ctx)
			if err != nil {
				return "", err
			}
			return said(exact, best), nil
		}); err != nil {
			return err
		}
	}
	if *cold {
		return timed("exact, cold", func() (string, error) {
			exact, err := base.Fit(ctx)
			if err != nil {
				return "", err
			}
			return said(exact, best), nil
		})
	}
	return nil
}

// said describes an exact fit; best is the objective of the approximation.
func said(f *svmnb.Fit, best float64) string {
	return fmt.Sprintf("%d iterations, %.4g kernel values, %d support vectors, gap %.3g; the approximation's true gap %.6g", f.Iterations, float64(f.Evaluations), f.Certificate.Free+f.Certificate.AtUpper, f.Certificate.Gap, best-f.Certificate.Dual)
}

// timed runs a part and prints what it took.
func timed(what string, do func() (string, error)) error {
	before, began := used(), time.Now()
	text, err := do()
	fmt.Printf("%-14s %8.2f s %8.2f s of the processor  %s\n", what, time.Since(began).Seconds(), used()-before, text)
	return err
}

func used() float64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Sec) + float64(u.Utime.Usec)/1e6
}

// clouds has two classes of four overlapping normal clouds each, as those of internal/bench.
func clouds(n, d int, seed uint64) *datasets.Dataset {
	rng := rand.New(rand.NewPCG(seed, 1))
	centre := make([][]float64, 8)
	for k := range centre {
		centre[k] = make([]float64, d)
		for j := range centre[k] {
			centre[k][j] = 3 / math.Sqrt(2*float64(d)) * rng.NormFloat64()
		}
	}
	x, y, flat := make([][]float64, n), make([]float64, n), make([]float64, n*d)
	for i := range x {
		k := rng.IntN(8)
		x[i] = flat[i*d : (i+1)*d]
		for j := range x[i] {
			x[i][j] = centre[k][j] + rng.NormFloat64()
		}
		y[i] = float64(2*(k%2) - 1)
	}
	return &datasets.Dataset{Name: "clouds", X: x, Y: y}
}
