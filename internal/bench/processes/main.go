// Processes measures Gaussian processes of many points (docs/performance.md):
//
//	go run ./internal/bench/processes -neighbours 30 -points 1000000
//
// The points lie on the unit square, and the targets are a draw of a Matérn 3/2 process of length
// 0.1 by random frequencies, with noise of variance 0.01.
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
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/gp"
	"github.com/svmnb/svmnb/svmnb/metrics"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "processes:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	neighbours := flag.Int("neighbours", 0, "nearest neighbours of spatial points")
	n := flag.Int("points", 100_000, "spatial points")
	learn := flag.Bool("learn", true, "learn the hyperparameters of spatial points")
	exact := flag.Int("exact", 4000, "points for which the exact process is the measure; 0 for none")
	flag.Parse()
	if *neighbours > 0 {
		return spatial(ctx, *n, *neighbours, *learn, *exact)
	}
	return fmt.Errorf("there is nothing to do; see -help")
}

// clock prints how long things took.
type clock time.Time

func (c *clock) say(format string, args ...any) {
	fmt.Printf("%8.1f s %7.0f MB  %s\n", time.Since(time.Time(*c)).Seconds(), peak(), fmt.Sprintf(format, args...))
	*c = clock(time.Now())
}

// field has n points on the unit square.
func field(n int, seed uint64) (*datasets.Dataset, error) {
	omega, _, err := kernels.Frequencies(kernels.Matern32(0.1), 2, 500, 1)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(1, 1)) // the function is the same for all seeds
	cosine, sine := make([]float64, len(omega)), make([]float64, len(omega))
	for j := range omega {
		cosine[j], sine[j] = rng.NormFloat64()/math.Sqrt(float64(len(omega))), rng.NormFloat64()/math.Sqrt(float64(len(omega)))
	}
	rng = rand.New(rand.NewPCG(seed, 2))
	x, y := make([][]float64, n), make([]float64, n)
	for i := range x {
		x[i] = []float64{rng.Float64(), rng.Float64()}
		y[i] = 0.1 * rng.NormFloat64()
		for j, w := range omega {
			s, c := math.Sincos(w[0]*x[i][0] + w[1]*x[i][1])
			y[i] += cosine[j]*c + sine[j]*s
		}
	}
	return datasets.New(x, y), nil
}

func spatial(ctx context.Context, n, m int, learn bool, exact int) error {
	var at clock
	at = clock(time.Now())
	train, err := field(n, 1)
	if err != nil {
		return err
	}
	test, err := field(10_000, 2)
	if err != nil {
		return err
	}
	at.say("made %d points", n)
	p := gp.Regress(train).Kernel(kernels.ScaleKernel{C: 0.5, K: kernels.Matern32(0.2)}).NoiseVariance(0.05)
	if !learn {
		p = p.Kernel(kernels.Matern32(0.1)).NoiseVariance(0.01)
	} else {
		p = p.Optimise()
	}
	fit, err := p.Neighbours(m).Fit(ctx)
	if err != nil {
		return err
	}
	at.say("fitted %v: ln p(y) = %.1f", fit.Description, fit.Evidence)
	if o := fit.Optimisation; o != nil {
		fmt.Printf("%22s%d evaluations in %v: %v\n", "", o.Evaluations, o.Elapsed.Round(time.Second), o.End().Values)
	}
	b, err := fit.Posterior(ctx, test)
	if err != nil {
		return err
	}
	if err := judge(&at, "neighbours", test.Y, b); err != nil {
		return err
	}
	if exact == 0 {
		return nil
	}
	rows := make([]int, min(exact, n))
	for i := range rows {
		rows[i] = i
	}
	part := gp.Regress(train.Select(rows)).Kernel(kernels.Scale(1, kernels.Matern32(0.1))).NoiseVariance(0.01)
	whole, err := part.Cholesky().Fit(ctx)
	if err != nil {
		return err
	}
	l, err := whole.LogMarginalLikelihood(ctx)
	if err != nil {
		return err
	}
	e, err := whole.Posterior(ctx, test)
	if err != nil {
		return err
	}
	at.say("the exact process of %d points: ln p(y) = %.3f", len(rows), l.Value)
	for _, m := range []int{10, 20, 30, 60, 120} {
		few, err := part.Neighbours(m).Fit(ctx)
		if err != nil {
			return err
		}
		b, err := few.Posterior(ctx, test)
		if err != nil {
			return err
		}
		sum, most := 0.0, 0.0
		for i := range b.Mean {
			z := (b.Mean[i] - e.Mean[i]) / math.Sqrt(e.Variance[i])
			sum, most = sum+z*z, max(most, math.Abs(z))
		}
		at.say("m = %d: ln p(y) is %+.3f from it; means differ by %.3f deviations of f (root mean square), %.2f at most", m, few.Evidence-l.Value, math.Sqrt(sum/float64(len(b.Mean))), most)
	}
	return nil
}

// judge prints how good predictions are.
func judge(at *clock, name string, y []float64, b *gp.Belief) error {
	var sd []float64
	for _, v := range b.Variance {
		sd = append(sd, math.Sqrt(v+b.Noise))
	}
	rmse, err := metrics.RMSE(y, b.Mean)
	if err != nil {
		return err
	}
	density, err := metrics.NLPD(y, b.Mean, sd)
	if err != nil {
		return err
	}
	low, high := b.Interval(0.95)
	covered, err := metrics.Coverage(y, low, high)
	at.say("%s: %d test points, RMSE %.4f, NLPD %.4f, %.1f %% in their 95 %% interval", name, len(y), rmse, density, 100*covered)
	return err
}

// peak returns the largest resident memory in MB, if Linux provides it.
func peak() float64 {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		var kB float64
		if n, _ := fmt.Sscanf(line, "VmHWM: %f kB", &kB); n == 1 {
			return kB / 1024
		}
	}
	return 0
}
