package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"
)

// benchCells are the cells that the bench command times. Each run writes another number
// into the cell, so that the cell is compiled and linked again.
var benchCells = []struct {
	name, setup, code string
}{
	{"trivial", "", "%%%%\nfmt.Println(%d)"},
	{"chart", `import (
	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
)`, "%%%%\nsvmnb.Classify(datasets.Moons(200, 0.15, 42)).Kernel(kernels.RBF(0.5)).C(10).SMO().MustFit().Show(svmnb.Margins)\nfmt.Println(%d)"},
}

const (
	benchWarmUps = 3
	benchRuns    = 10
)

// bench prints the median time of cells that have run before, from the request until the
// kernel is idle again.
func bench(ctx context.Context, k *client, timeout time.Duration, out io.Writer) error {
	for _, cell := range benchCells {
		if cell.setup != "" {
			if _, err := timeCell(ctx, k, cell.setup+"\n%%\n", timeout); err != nil {
				return fmt.Errorf("%s: %w", cell.name, err)
			}
		}
		var times []time.Duration
		for i := range benchWarmUps + benchRuns {
			took, err := timeCell(ctx, k, fmt.Sprintf(cell.code, i), timeout)
			if err != nil {
				return fmt.Errorf("%s: %w", cell.name, err)
			}
			if i >= benchWarmUps {
				times = append(times, took)
			}
		}
		fmt.Fprintf(out, "cell %s median %.2f s\n", cell.name, median(times).Seconds())
	}
	return nil
}

func timeCell(ctx context.Context, k *client, source string, timeout time.Duration) (time.Duration, error) {
	start := time.Now()
	_, reason, err := ask(ctx, k, source, timeout)
	took := time.Since(start)
	if reason != "" {
		err = &failure{cell: 1, source: source, reason: reason}
	}
	return took, err
}

func median(times []time.Duration) time.Duration {
	times = slices.Sorted(slices.Values(times))
	n := len(times)
	return (times[(n-1)/2] + times[n/2]) / 2
}
