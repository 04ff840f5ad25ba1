package svmnb

import (
	"context"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/metrics"
)

// orNone is -1 for 0, where 0 is a default or a first column.
func orNone(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

// A count that comes from outside is bounded before memory or time is spent on it.
func TestCountsAreBounded(t *testing.T) {
	data := moons().Select(seq(30))
	wide, err := datasets.ReadLIBSVMSparse(strings.NewReader("1 2147483647:1\n-1 1:1\n1 5:1\n-1 7:2\n"), 0)
	if err != nil {
		t.Fatal(err)
	}
	of := func(_ any, err error) error { return err }
	ctx := context.Background()
	for name, do := range map[string]func(n int) error{
		"RepeatedKFold, times": func(n int) error { return of(RepeatedKFold(3, orNone(n), 1).Splits(data)) },
		"RepeatedKFold, k":     func(n int) error { return of(RepeatedKFold(n, 2, 1).Splits(data)) },
		"KFold":                func(n int) error { return of(KFold(n, 1).Splits(data)) },
		"StratifiedKFold":      func(n int) error { return of(StratifiedKFold(n, 1).Splits(data)) },
		"Random": func(n int) error {
			_, _, err := Random{N: n, Ranges: map[string]Range{"C": {Low: 1, High: 2}}}.points()
			return err
		},
		"Moons":               func(n int) error { return datasets.Moons(n, 0, 1).Check() },
		"Blobs, k":            func(n int) error { return datasets.Blobs(10, n, 1, 1).Check() },
		"Friedman1":           func(n int) error { return datasets.Friedman1(n, 0, 1).Check() },
		"Sinc":                func(n int) error { return datasets.Sinc(n, 0, 1).Check() },
		"Checkerboard, cells": func(n int) error { return datasets.Checkerboard(10, n, 1).Check() },
		"Frequencies, m":      func(n int) error { _, _, err := kernels.Frequencies(kernels.RBF(1), 2, n, 1); return err },
		"Frequencies, d":      func(n int) error { _, _, err := kernels.Frequencies(kernels.RBF(1), n, 1, 1); return err },
		"Bootstrap": func(n int) error {
			return of(metrics.Bootstrap{Replicates: orNone(n)}.Of(ctx, 5, func([]int) (float64, error) { return 1, nil }))
		},
		"Nystroem":      func(n int) error { return of(Nystroem(nil, n, 1).Fit(data)) },
		"RandomFourier": func(n int) error { return of(RandomFourier(1, n, 1).Fit(data)) },
		"PCA":           func(n int) error { return of(PCA(n).Fit(data)) },
		"OneHot, column": func(n int) error {
			return of(OneHot(orNone(n)).Fit(data))
		},
		"features, kernel":         func(int) error { return of(Classify(wide).Memory(1 << 20).Fit(ctx)) },
		"features, linear kernel":  func(int) error { return of(Classify(wide).Kernel(kernels.Linear()).Memory(1 << 20).Fit(ctx)) },
		"features, linear machine": func(int) error { return of(Classify(wide).CoordinateDescent().Fit(ctx)) },
	} {
		for _, n := range []int{-1, 0, 1 << 31, math.MaxInt64 / 2, math.MaxInt64} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if do(n) == nil {
				t.Errorf("%s: %d is accepted", name, n)
			}
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > 1<<26 {
				t.Errorf("%s: %d has taken %d MiB before it was refused", name, n, took>>20)
			}
		}
	}
}
