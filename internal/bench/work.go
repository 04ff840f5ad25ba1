package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/svmnb/svmnb/datasets"
)

// work is one task that all competitors do.
type work struct {
	name  string
	data  func() (*datasets.Dataset, error) // nil: the job has a file already
	test  func() (*datasets.Dataset, error) // points to predict; nil for none
	job   job
	peers []string // competitors that can do it
	small bool     // takes milliseconds: twenty times as many runs
}

// The kinds of job.
const (
	classify = "classify" // C-SVC
	regress  = "regress"  // ε-SVR
	oneOne   = "one-vs-one"
	linear   = "linear" // hinge loss, with a regularised bias
	process  = "process"
	evidence = "evidence" // log marginal likelihood and gradient
	predict  = "predict"
)

// job describes what one process does. It is passed as JSON.
type job struct {
	Kind              string
	File, Test        string // in LIBSVM's format
	Features          int    // 0 means as many as the file has
	Sparse            bool   // the points stay sparse in memory
	C, Gamma, Epsilon float64
	Length, Noise     float64 // of a Gaussian process: length scale of exp(−‖x − z‖²/(2 Length²)), noise variance
	ARD               bool    // the kernel of kind evidence has a length scale for each feature
	Memory            int64   // bytes for kernel rows, 0 means the default
}

// answer is the result of a job.
type answer struct {
	Seconds   float64
	Reading   float64 // part of Seconds, if a process cannot separate the two
	Objective float64 // the minimum; y'A⁻¹y of a Gaussian process; for a prediction the number of positive points
	KKT       float64 // largest violation of the KKT conditions; ‖b − Ax‖/‖b‖ of a Gaussian process
	Peak      int64   // largest resident memory in bytes, including reading; 0 if the system does not provide it
	How       string  // the method that ran
}

// works lists the tasks of the races. Their names have the full sizes.
func works(quick bool) []work {
	n := func(full, small int) int {
		if quick {
			return small
		}
		return full
	}
	kernel, line := []string{"libsvm", "sklearn"}, []string{"liblinear"}
	libsvm, sklearn := []string{"libsvm"}, []string{"sklearn"}
	fixed := func(d *datasets.Dataset) func() (*datasets.Dataset, error) {
		return func() (*datasets.Dataset, error) { return d, d.Check() }
	}
	ink := func(n int, seed uint64) func() (*datasets.Dataset, error) {
		return func() (*datasets.Dataset, error) { return pen(n, seed), nil }
	}
	adult := from("a9a", n(0, 4000))
	friedman := func() (*datasets.Dataset, error) {
		d := datasets.Friedman1(n(20000, 2000), 1, 1)
		return rounded(d), d.Check()
	}
	drawings := n(10000, 1200)
	return []work{
		{"pen-10kx784", ink(drawings, 1), nil, job{Kind: classify, C: 10, Gamma: 0.02}, kernel, false},
		{"clouds-20kx50-C1", made(clouds, n(20000, 2000), 50), nil, job{Kind: classify, C: 1, Gamma: 0.02}, kernel, false},
		{"clouds-20kx50-C10", made(clouds, n(20000, 2000), 50), nil, job{Kind: classify, C: 10, Gamma: 0.02}, kernel, false},
		{"clouds-50kx20-C1", made(clouds, n(50000, 3000), 20), nil, job{Kind: classify, C: 1, Gamma: 0.05}, kernel, false},
		{"clouds-50kx20-C10", made(clouds, n(50000, 3000), 20), nil, job{Kind: classify, C: 10, Gamma: 0.05}, kernel, false},
		{"a9a-C1", adult, nil, job{Kind: classify, C: 1, Gamma: 0.01}, kernel, false},
		{"a9a-C10", adult, nil, job{Kind: classify, C: 10, Gamma: 0.05}, kernel, false},
		{"svr-abalone", from("abalone8.svm", 0), nil, job{Kind: regress, C: 1, Gamma: 0.125, Epsilon: 0.1}, kernel, false},
		{"svr-friedman-20kx10", friedman, nil, job{Kind: regress, C: 10, Gamma: 1, Epsilon: 0.1}, kernel, false},
		{"small-cancer", fixed(datasets.BreastCancer().Standardised()), nil, job{Kind: classify, C: 1, Gamma: 1. / 30}, kernel, true},
		{"small-digits3v5", fixed(datasets.Digits().Pair("5", "3")), nil, job{Kind: classify, C: 10, Gamma: 0.001}, kernel, true},
		{"small-iris", fixed(datasets.Iris().Pair("virginica", "versicolor")), nil, job{Kind: classify, C: 1, Gamma: 0.25}, kernel, true},
		{"ovo-digits", fixed(datasets.Digits()), nil, job{Kind: oneOne, C: 10, Gamma: 0.001}, kernel, false},
		{"linear-100kx50", made(plane, n(100000, 5000), 50), nil, job{Kind: linear, C: 1}, line, false},
		{"linear-a9a", adult, nil, job{Kind: linear, C: 1, Sparse: true}, line, false},
		{"gp-5000", made(waves, n(5000, 1000), 8), nil, job{Kind: process, Length: 1, Noise: 0.01}, sklearn, false},
		{"gp-10000", made(waves, n(10000, 1500), 8), nil, job{Kind: process, Length: 1, Noise: 0.01}, sklearn, false},
		{"gp-evidence-2000", made(waves, n(2000, 500), 8), nil, job{Kind: evidence, Length: 1, Noise: 0.01}, sklearn, false},
		{"gp-evidence-2000-ard", made(waves, n(2000, 500), 8), nil, job{Kind: evidence, Length: 1, Noise: 0.01, ARD: true}, sklearn, false},
		// With such a small C all points are support vectors for every competitor.
		{"predict-10kx784", ink(n(2000, 500), 2), ink(drawings, 3), job{Kind: predict, C: 1e-4, Gamma: 0.02}, libsvm, false},
	}
}

// ownWork returns the race on a file of the user.
func ownWork(file string, c, gamma, epsilon float64) (work, error) {
	d, err := datasets.LoadLIBSVM(file, 0)
	if err != nil {
		return work{}, err
	}
	gamma = cmp.Or(gamma, 1/float64(d.D()))
	if !(c > 0) || !(gamma > 0) {
		return work{}, fmt.Errorf("-c is %v and -g %v; both must be positive", c, gamma)
	}
	w := work{name: filepath.Base(file), job: job{Kind: classify, File: file, C: c, Gamma: gamma}, peers: []string{"libsvm", "sklearn"}, small: d.N() <= 1000}
	classes := map[float64]bool{}
	for _, y := range d.Y {
		classes[y] = true
	}
	switch {
	case epsilon >= 0:
		w.job.Kind, w.job.Epsilon = regress, epsilon
	case len(classes) < 2:
		return work{}, errors.New("-file: all targets are the same; a classifier needs two classes")
	case len(classes) > 1000:
		return work{}, fmt.Errorf("-file: the targets have %d values; say -p EPSILON if they are no classes", len(classes))
	case len(classes) > 2:
		w.job.Kind = oneOne
	}
	return w, nil
}

// write writes the data of the work to files, and puts their names into the job.
func (w *work) write(dir string) error {
	if w.data == nil {
		return nil
	}
	for _, part := range []struct {
		make func() (*datasets.Dataset, error)
		file *string
		end  string
	}{{w.data, &w.job.File, ".svm"}, {w.test, &w.job.Test, ".test"}} {
		if part.make == nil {
			continue
		}
		d, err := part.make()
		if err != nil {
			return err
		}
		w.job.Features = d.D()
		*part.file = filepath.Join(dir, w.name+part.end)
		if err := save(*part.file, d); err != nil {
			return err
		}
	}
	return nil
}

// made returns a function that makes n points of d features by the generator f.
func made(f func(n, d int, seed uint64) *datasets.Dataset, n, d int) func() (*datasets.Dataset, error) {
	return func() (*datasets.Dataset, error) { return f(n, d, 1), nil }
}
