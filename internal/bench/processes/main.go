// Processes measures Gaussian processes of many points (docs/performance.md):
//
//	go run ./internal/bench/processes -neighbours 30 -points 1000000
//
// The points lie on the unit square, and the targets are a draw of a Matérn 3/2 process of length
// 0.1 by random frequencies, with noise of variance 0.01.
//
//	SVMNB_DATA=FOLDER go run ./internal/bench/processes -data kin40k
//
// learns a Matérn 3/2 kernel with a length for each feature from nine tenths of the points in the
// file uci/kin40k.csv.gz of the folder, whose last column is the target, and predicts the rest. With
// -fixed it learns nothing. With -least, the variance of the noise stays above a bound.
//
//	go run ./internal/bench/processes -exact 50000
//
// solves for so many points of eight features with fixed hyperparameters by conjugate gradients.
package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers/linear"
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
	reference := flag.Int("reference", 4000, "spatial points for which the exact process is the measure; 0 for none")
	data := flag.String("data", "", "`name` of data in SVMNB_DATA/uci: kin40k, pol or elevators")
	seed := flag.Uint64("seed", 1, "of the tenth of the data that is predicted")
	rows := flag.Int("rows", 0, "so many points of the data only; 0 for all")
	factor := flag.Float64("factor", 8, "GB that a factor for the variances may take")
	least := flag.Float64("least", 0, "least variance of the noise that is learned, where that of the targets is 1; 0 for no bound")
	fixed := flag.Bool("fixed", false, "do not learn from the data: take Matern32(2) and noise of variance 0.01")
	exact := flag.Int("exact", 0, "points of an exact process by conjugate gradients")
	flag.Parse()
	switch {
	case *neighbours > 0:
		return spatial(ctx, *n, *neighbours, *learn, *reference)
	case *data != "":
		return learned(ctx, *data, *rows, *seed, *factor, *least, *fixed)
	case *exact > 0:
		return solved(ctx, *exact)
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
	at := clock(time.Now())
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

// learned learns from nine tenths of the data and predicts the rest.
func learned(ctx context.Context, name string, rows int, seed uint64, factor, least float64, fixed bool) error {
	all, err := read(name)
	if err != nil {
		return err
	}
	order := rand.New(rand.NewPCG(seed, 0)).Perm(all.N())
	if rows > 0 {
		order = order[:min(rows, len(order))]
	}
	cut := len(order) * 9 / 10
	train, test := standardised(all.Select(order[:cut]), all.Select(order[cut:]))
	at := clock(time.Now())
	if fixed {
		return solvedFor(ctx, &at, gp.Regress(train).ZeroMean().Kernel(kernels.Matern32(2)), test)
	}
	lengths := make([]float64, train.D())
	for i := range lengths {
		lengths[i] = math.Sqrt(float64(train.D()))
	}
	p := gp.Regress(train).Kernel(kernels.ScaleKernel{C: 1, K: kernels.ARDMatern32(lengths...)}).NoiseVariance(0.1)
	if least > 0 {
		p = p.Bound("noise", least, 1)
	}
	began := time.Now()
	d := p.Using(linear.CG{Rank: linear.AutoRank}).Optimise()
	if cut <= 10_000 {
		d = p.Optimise()
	}
	fit, err := d.Fit(ctx)
	if err != nil {
		return err
	}
	o := fit.Optimisation
	at.say("learned from %d points: %d evaluations in %v; then %s, %d iterations in %v", cut, o.Evaluations, o.Elapsed.Round(time.Second), fit.Method, fit.Iterations, fit.Elapsed.Round(time.Second))
	for _, pt := range o.Ascents[o.Best].Path[max(0, len(o.Ascents[o.Best].Path)-14):] {
		fmt.Printf("%22s%.3g, slope %.2g\n", "", pt.Values, pt.Slope)
	}
	means, err := fit.Predict(test)
	if err != nil {
		return err
	}
	rmse, err := metrics.RMSE(test.Y, means)
	if err != nil {
		return err
	}
	at.say("RMSE %.4f of %d test points", rmse, test.N())
	exact, err := fit.Description.Cholesky().Memory(int64(factor * 1e9)).Fit(ctx)
	if err != nil {
		return err
	}
	l, err := exact.LogMarginalLikelihood(ctx)
	if err != nil {
		return err
	}
	at.say("Cholesky's factor: ln p(y) = %.2f", l.Value)
	b, err := exact.Posterior(ctx, test)
	if err != nil {
		return err
	}
	if err := judge(&at, name, test.Y, b); err != nil {
		return err
	}
	fmt.Printf("%8.1f s in all\n", time.Since(began).Seconds())
	return nil
}

// solved solves for n points of eight features with fixed hyperparameters.
func solved(ctx context.Context, n int) error {
	rng := rand.New(rand.NewPCG(1, 3))
	x, y := make([][]float64, n+1000), make([]float64, n+1000)
	for i := range x {
		y[i] = 0.1 * rng.NormFloat64()
		for j := range 8 {
			x[i] = append(x[i], 3*rng.Float64())
			y[i] += math.Sin(x[i][j]*float64(1+j%3)) / math.Sqrt(8)
		}
	}
	all := datasets.New(x, y)
	at := clock(time.Now())
	return solvedFor(ctx, &at, gp.Regress(all.Select(upTo(0, n))).Kernel(kernels.Scale(1, kernels.Matern32(2))), all.Select(upTo(n, n+1000)))
}

// solvedFor solves by conjugate gradients to a residual of 0.01 ‖y‖, and predicts the test points.
func solvedFor(ctx context.Context, at *clock, p gp.Process, test *datasets.Dataset) error {
	fit, err := p.NoiseVariance(0.01).Using(linear.CG{Rank: linear.AutoRank}).Stop(linear.Residual{Rel: 0.01}).Fit(ctx)
	if err != nil {
		return err
	}
	c := fit.Certificate
	at.say("%d points: %s, %v after %d iterations, %.3g kernel values; %.6g ≤ y'A⁻¹y ≤ %.6g", len(fit.Alpha), fit.Method, fit.Status, fit.Iterations, float64(fit.Evaluations), c.Lower, c.Upper)
	means, err := fit.Predict(test)
	if err != nil {
		return err
	}
	rmse, err := metrics.RMSE(test.Y, means)
	at.say("RMSE %.4f of %d test points", rmse, test.N())
	return err
}

func upTo(from, to int) []int {
	rows := make([]int, to-from)
	for i := range rows {
		rows[i] = from + i
	}
	return rows
}

// read reads uci/name.csv.gz in the folder SVMNB_DATA.
func read(name string) (*datasets.Dataset, error) {
	folder := os.Getenv("SVMNB_DATA")
	if folder == "" {
		return nil, fmt.Errorf("SVMNB_DATA names no folder with uci/%s.csv.gz", name)
	}
	file, err := os.Open(filepath.Join(folder, "uci", name+".csv.gz"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	var x [][]float64
	var y []float64
	for in := bufio.NewScanner(text); in.Scan(); {
		var row []float64
		for field := range strings.SplitSeq(in.Text(), ",") {
			v, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
			if err != nil {
				return nil, err
			}
			row = append(row, v)
		}
		x, y = append(x, row[:len(row)-1]), append(y, row[len(row)-1])
	}
	d := datasets.New(x, y)
	return d, d.Check()
}

// standardised returns both sets with features and targets of mean 0 and variance 1 in train.
func standardised(train, test *datasets.Dataset) (a, b *datasets.Dataset) {
	of := func(column func(d *datasets.Dataset, i int) *float64) {
		n, mean, variance := float64(train.N()), 0.0, 0.0
		for i := range train.N() {
			mean += *column(train, i) / n
		}
		for i := range train.N() {
			e := *column(train, i) - mean
			variance += e * e / n
		}
		if variance == 0 {
			variance = 1
		}
		for _, d := range []*datasets.Dataset{train, test} {
			for i := range d.N() {
				v := column(d, i)
				*v = (*v - mean) / math.Sqrt(variance)
			}
		}
	}
	for j := range train.D() {
		of(func(d *datasets.Dataset, i int) *float64 { return &d.X[i][j] })
	}
	of(func(d *datasets.Dataset, i int) *float64 { return &d.Y[i] })
	return train, test
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
