package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb"
)

// certain compares the criterion of certain labels with the usual tolerance: iterations, kernel
// values and seconds, and how many training labels differ.
func certain(ctx context.Context, out io.Writer) error {
	type one struct {
		name     string
		data     func() (*datasets.Dataset, error)
		c, gamma float64
	}
	given := func(d *datasets.Dataset) func() (*datasets.Dataset, error) {
		return func() (*datasets.Dataset, error) { return d, nil }
	}
	sets := []one{
		{"moons 200", given(datasets.Moons(200, 0.15, 42)), 10, 0.5},
		{"moons 2000", given(datasets.Moons(2000, 0.3, 1)), 10, 1},
		{"breast cancer", given(datasets.BreastCancer().Standardised()), 1, 1.0 / 30},
		{"clouds 2000 × 20", given(clouds(2000, 20, 1)), 1, 0.05},
		{"pen 2000 × 784", given(pen(2000, 1)), 10, 0.02},
		{"pen 10000 × 784", given(pen(10000, 1)), 10, 0.02},
		{"a9a", from("a9a", 0), 1, 0.01},
	}
	fmt.Fprintf(out, "%-18s %-24s %10s %14s %9s %9s %9s\n", "data", "until", "iterations", "kernel values", "seconds", "certain", "other labels")
	for _, s := range sets {
		data, err := s.data()
		if errors.Is(err, errAbsent) {
			fmt.Fprintf(out, "%-18s %v\n", s.name, err)
			continue
		}
		if err != nil {
			return err
		}
		base := svmnb.Classify(data).Kernel(kernels.RBF(s.gamma)).C(s.c)
		var labels []string
		for _, stop := range []solvers.Criterion{solvers.UpLow{Tol: 1e-3}, svmnb.Certain(data, 0.9), svmnb.Certain(data, 0.95), svmnb.Certain(data, 0.99)} {
			fit, err := base.Stop(solvers.Any(stop, solvers.UpLow{Tol: 1e-3})).Fit(ctx)
			if err != nil {
				return err
			}
			got, err := fit.Predict(data)
			if err != nil {
				return err
			}
			if labels == nil {
				labels = got
			}
			sure, err := fit.Certain(data)
			if err != nil {
				return err
			}
			n, other := 0, 0
			for i, c := range sure {
				if c {
					n++
				}
				if got[i] != labels[i] {
					other++
				}
			}
			fmt.Fprintf(out, "%-18s %-24v %10d %14d %9.3f %8.1f%% %9d\n", s.name, stop, fit.Iterations, fit.Evaluations, fit.Elapsed.Seconds(), 100*float64(n)/float64(len(sure)), other)
		}
	}
	return nil
}
