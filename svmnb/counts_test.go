package svmnb_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers/linear"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/gp"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"github.com/svmnb/svmnb/svmnb/metrics"
	"github.com/svmnb/svmnb/svmnb/model"
	"github.com/svmnb/svmnb/svmnb/selection"
	"github.com/svmnb/svmnb/svmnb/transform"
)

// orNone is -1 for 0, where 0 is a default or a first column.
func orNone(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

// orHuge is an index or a length that is too much in place of those that are not.
func orHuge(n int) int {
	if n == 0 {
		return 1 << 31
	}
	return n
}

const libsvmOfDegree = "svm_type epsilon_svr\nkernel_type polynomial\ndegree %d\ngamma 1\ncoef0 0\nnr_class 2\ntotal_sv 1\nrho 0.5\nSV\n1 1:2\n"

// A count that comes from outside is bounded before memory or time is spent on it.
func TestCountsAreBounded(t *testing.T) {
	data := testkit.Moons().Select(testkit.Seq(30))
	wide, err := datasets.ReadLIBSVMSparse(strings.NewReader("1 2147483647:1\n-1 1:1\n1 5:1\n-1 7:2\n"), 0)
	if err != nil {
		t.Fatal(err)
	}
	long := datasets.New(kernels.Strings(0, strings.Repeat("ab", 40_000), strings.Repeat("ba", 40_000), strings.Repeat("aab", 27_000)), []float64{1, -1, 1})
	motorcycle := gp.Regress(datasets.Motorcycle()).Kernel(kernels.Scale(45*45, kernels.SquaredExponential(5))).NoiseVariance(22 * 22)
	fit, several, process := svmnb.Classify(data).MustFit(), svmnb.Classify(testkit.Third(datasets.Iris())).OneVsOne().MustFit(), testkit.FitOf(t, motorcycle)
	gram, err := kernels.NewGram(kernels.RBF(1), data.X, 0)
	if err != nil {
		t.Fatal(err)
	}
	system := &linear.System{K: gram, Noise: slices.Repeat([]float64{1}, data.N())}
	of := func(_ any, err error) error { return err }
	ctx := context.Background()
	for name, do := range map[string]func(n int) error{
		"RepeatedKFold, times": func(n int) error { return of(selection.RepeatedKFold(3, orNone(n), 1).Splits(data)) },
		"RepeatedKFold, k":     func(n int) error { return of(selection.RepeatedKFold(n, 2, 1).Splits(data)) },
		"KFold":                func(n int) error { return of(selection.KFold(n, 1).Splits(data)) },
		"StratifiedKFold":      func(n int) error { return of(selection.StratifiedKFold(n, 1).Splits(data)) },
		"Moons":                func(n int) error { return datasets.Moons(n, 0, 1).Check() },
		"Blobs, k":             func(n int) error { return datasets.Blobs(10, n, 1, 1).Check() },
		"Friedman1":            func(n int) error { return datasets.Friedman1(n, 0, 1).Check() },
		"Sinc":                 func(n int) error { return datasets.Sinc(n, 0, 1).Check() },
		"Circles":              func(n int) error { return datasets.Circles(n, 0, 1).Check() },
		"XOR":                  func(n int) error { return datasets.XOR(n, 0, 1).Check() },
		"Spirals":              func(n int) error { return datasets.Spirals(n, 0, 1).Check() },
		"Checkerboard":         func(n int) error { return datasets.Checkerboard(n, 4, 1).Check() },
		"Blobs":                func(n int) error { return datasets.Blobs(n, 2, 1, 1).Check() },
		"Friedman2":            func(n int) error { return datasets.Friedman2(n, 0, 1).Check() },
		"Friedman3":            func(n int) error { return datasets.Friedman3(n, 0, 1).Check() },
		"Checkerboard, cells":  func(n int) error { return datasets.Checkerboard(10, n, 1).Check() },
		"Frequencies, m":       func(n int) error { _, _, err := kernels.Frequencies(kernels.RBF(1), 2, n, 1); return err },
		"Frequencies, d":       func(n int) error { _, _, err := kernels.Frequencies(kernels.RBF(1), n, 1, 1); return err },
		"Bootstrap": func(n int) error {
			return of(metrics.Bootstrap{Replicates: orNone(n)}.Of(ctx, 5, func([]int) (float64, error) { return 1, nil }))
		},
		"Nystroem":      func(n int) error { return of(transform.Nystroem(nil, n, 1).Fit(data)) },
		"RandomFourier": func(n int) error { return of(transform.RandomFourier(1, n, 1).Fit(data)) },
		"PCA":           func(n int) error { return of(transform.PCA(n).Fit(data)) },
		"OneHot, column": func(n int) error {
			return of(transform.OneHot(orNone(n)).Fit(data))
		},
		"Calibrate, Platt":    func(n int) error { return of(fit.Calibrate(ctx, svmnb.Platt{Folds: orNone(n)})) },
		"Calibrate, isotonic": func(n int) error { return of(several.Calibrate(ctx, svmnb.Isotonic{Folds: orNone(n)})) },
		"Polynomial, degree":  func(n int) error { return kernels.Polynomial(n, 1, 0).Check() },
		"Polynomial, text":    func(n int) error { return of(kernels.Parse(fmt.Sprintf("Polynomial(%d, 1, 0)", n))) },
		"Polynomial, LIBSVM": func(n int) error {
			return of(model.ReadLIBSVM(strings.NewReader(fmt.Sprintf(libsvmOfDegree, n)), 0))
		},
		"Polynomial, model": func(n int) error {
			return of(model.Read(bytes.NewReader(testkit.Sealed(strings.Replace(testkit.SmallModel, "RBF(1)", fmt.Sprintf("Polynomial(%d, 1, 0)", n), 1)))))
		},
		"Polynomial, fit": func(n int) error { return of(svmnb.Classify(data).Kernel(kernels.Polynomial(n, 1, 0)).Fit(ctx)) },
		"Strings, width": func(n int) (err error) {
			defer func() { err, _ = recover().(error) }()
			kernels.Strings(orHuge(n), "ab")
			return nil
		},
		"Spectrum":             func(n int) error { return kernels.Spectrum(orHuge(n)).Check() },
		"GapWeighted":          func(n int) error { return kernels.GapWeighted(orHuge(n), 0.5).Check() },
		"GapWeighted, letters": func(int) error { return of(svmnb.Classify(long).Kernel(kernels.GapWeighted(60_000, 0.5)).Fit(ctx)) },
		"ReadLIBSVM, dims":     func(n int) error { return of(datasets.ReadLIBSVM(strings.NewReader("1 1:1\n"), orNone(n))) },
		"ReadLIBSVMSparse, dims": func(n int) error {
			return of(datasets.ReadLIBSVMSparse(strings.NewReader("1 1:1\n"), orNone(n)))
		},
		"ReadLIBSVM, index": func(n int) error {
			return of(datasets.ReadLIBSVM(strings.NewReader(fmt.Sprintf("1 %d:1\n", n)), 0))
		},
		"model.ReadLIBSVM, dims": func(n int) error {
			return of(model.ReadLIBSVM(strings.NewReader(fmt.Sprintf(libsvmOfDegree, 2)), orNone(n)))
		},
		"NewSparse": func(n int) error {
			return datasets.NewSparse(datasets.CSR{Start: []int{0, 1}, Index: []int32{0}, Value: []float64{1}, D: n}, []float64{1}).Dense().Check()
		},
		"Random, draws of a search": func(n int) error {
			return of(selection.Search(svmnb.Classify(data), selection.Random{N: n, Ranges: map[string]selection.Range{"C": {Low: 1, High: 2}}}, selection.KFold(2, 1)).Fit(ctx))
		},
		"Log2": func(n int) error {
			return of(selection.Search(svmnb.Classify(data), selection.Grid{"C": selection.Log2(0, float64(orHuge(n)), 1e-9)}, selection.KFold(2, 1)).Fit(ctx))
		},
		"ValidationCurve": func(n int) error {
			return of(selection.ValidationCurve(ctx, svmnb.Classify(data), selection.KFold(n, 1), "C", 1, 2))
		},
		"LearningCurve": func(n int) error {
			return of(selection.LearningCurve(ctx, svmnb.Classify(data), selection.KFold(2, 1), 2, n))
		},
		"MarginsOver": func(n int) error { return of(svmnb.MarginsOver(0, n).Of(fit)) },
		"PosteriorSamples": func(n int) error {
			return of(gp.PosteriorSamples(orNone(n), 1).Of(process))
		},
		"Restarts":                 func(n int) error { return of(motorcycle.Restarts(orNone(n), 1).Fit(ctx)) },
		"LogDet":                   func(n int) error { _, _, err := linear.LogDet(ctx, system, n, 1); return err },
		"Probe":                    func(n int) error { return of(linear.Probe(ctx, system, linear.CG{}, n, 1, linear.Settings{})) },
		"Select":                   func(n int) error { return data.Select([]int{orHuge(n)}).Check() },
		"Columns":                  func(n int) error { return data.Columns(orHuge(n)).Check() },
		"features, kernel":         func(int) error { return of(svmnb.Classify(wide).Memory(1 << 20).Fit(ctx)) },
		"features, linear kernel":  func(int) error { return of(svmnb.Classify(wide).Kernel(kernels.Linear()).Memory(1 << 20).Fit(ctx)) },
		"features, linear machine": func(int) error { return of(svmnb.Classify(wide).CoordinateDescent().Fit(ctx)) },
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
