// Stream measures machines on data larger than memory (docs/large-data.md):
//
//	go run ./internal/bench/stream -write points.rows -rows 10000000
//	go run ./internal/bench/stream -read points.rows -landmarks 500 -test held-out.rows
//
// The points have d features that follow from five hidden ones by a linear map and a little
// noise, as correlated measurements do. The classes are those of a curved function of the hidden
// features, and overlap.
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
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/stream"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "stream:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	write := flag.String("write", "", "`file` to write")
	rows := flag.Int("rows", 1_000_000, "points to write")
	columns := flag.Int("columns", 100, "features to write")
	seed := flag.Uint64("seed", 1, "of the points to write")
	read := flag.String("read", "", "`file` to learn from")
	test := flag.String("test", "", "`file` to predict")
	landmarks := flag.Int("landmarks", 500, "m")
	gamma := flag.Float64("gamma", 0.015, "γ of exp(−γ‖x − z‖²)")
	c := flag.Float64("c", 1, "C")
	gap := flag.Float64("gap", 1e-3, "of the objective at which the fit stops")
	sample := flag.Int("sample", 4000, "support vectors that estimate the gap to the exact optimum; 0 for none")
	blocked := flag.Bool("blocked", false, "compute the gap to the exact optimum from all pairs of support vectors")
	bound := flag.Bool("bound", false, "bound the gap to the exact optimum by the diagonal of the residual")
	fourier := flag.Bool("fourier", false, "random features in place of landmarks")
	memory := flag.Int64("memory", 1<<30, "bytes")
	flag.Parse()
	if *write != "" {
		return datasets.SaveRows(ctx, *write, hidden{*rows, *columns, *seed}, datasets.Single)
	}
	source, err := datasets.OpenRows(*read)
	if err != nil {
		return err
	}
	began := time.Now()
	said := func(format string, args ...any) {
		fmt.Printf("%8.1f s %7.0f MB  %s\n", time.Since(began).Seconds(), peak(), fmt.Sprintf(format, args...))
	}
	last := time.Now()
	d := stream.Classify(source).Kernel(kernels.RBF(*gamma)).C(*c).Gap(*gap).Memory(*memory).Watch(func(p stream.Progress) {
		if p.Row == p.N {
			said("%s, pass %d: %.1f s, gap before %.3g", p.Doing, p.Pass, time.Since(last).Seconds(), p.RelGap)
			last = time.Now()
		}
	})
	if *fourier {
		d = d.RandomFeatures(*landmarks)
	} else {
		d = d.Nystroem(*landmarks)
	}
	fit, err := d.Fit(ctx)
	if fit == nil {
		return err
	}
	said("%v: P = %.6g, D = %.6g, gap %.3g, %d errors of %d, %d support vectors, %v", d, fit.Primal, fit.Dual, fit.RelGap(), fit.Errors, fit.Points, fit.Support, fit.Status)
	if err != nil {
		return err
	}
	if *test != "" {
		s, err := datasets.OpenRows(*test)
		if err != nil {
			return err
		}
		e, err := fit.Evaluate(ctx, s)
		if err != nil {
			return err
		}
		said("predicted %d: accuracy %.5f", e.Points, e.Accuracy())
	}
	show := func(e stream.Exactness, err error) error {
		if err != nil {
			return err
		}
		said("%s: %v; %.3g kernel values", e.Method, e, float64(e.KernelValues))
		return nil
	}
	if *sample > 0 {
		if err := show(fit.Sampled(ctx, *sample)); err != nil {
			return err
		}
	}
	if *bound {
		if err := show(fit.Bound(ctx)); err != nil {
			return err
		}
	}
	if *blocked {
		return show(fit.Blocked(ctx))
	}
	return nil
}

// hidden is a source that makes its points.
type hidden struct {
	n, d int
	seed uint64
}

func (h hidden) Head() datasets.Head { return datasets.Head{Name: "hidden", N: h.n, D: h.d} }

const hiddenFeatures = 5

func (h hidden) Open(context.Context) (datasets.BlockReader, error) {
	rng := rand.New(rand.NewPCG(7, 7)) // the same map for every seed of the points
	mix := make([][hiddenFeatures]float64, h.d)
	for j := range mix {
		for k := range mix[j] {
			mix[j][k] = rng.NormFloat64() / math.Sqrt(hiddenFeatures)
		}
	}
	return &making{h: h, mix: mix, rng: rand.New(rand.NewPCG(h.seed, 1))}, nil
}

type making struct {
	h   hidden
	mix [][hiddenFeatures]float64
	rng *rand.Rand
	at  int
}

func (m *making) Next(b *datasets.Block) error {
	if m.at == m.h.n {
		return io.EOF
	}
	b.From = m.at
	b.Resize(min(b.Room(), m.h.n-m.at))
	for i, row := range b.X {
		var s [hiddenFeatures]float64
		f := 0.0
		for k := range s {
			s[k] = m.rng.NormFloat64()
			f += math.Sin(1.5 * s[k])
		}
		f += 0.8 * s[0] * s[1]
		for j := range row {
			v := 0.03 * m.rng.NormFloat64()
			for k, w := range m.mix[j] {
				v += w * s[k]
			}
			row[j] = v
		}
		if b.Y[i] = -1; f+0.5*m.rng.NormFloat64() > 0 {
			b.Y[i] = 1
		}
	}
	m.at += len(b.X)
	return nil
}

func (m *making) Close() error { return nil }

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
