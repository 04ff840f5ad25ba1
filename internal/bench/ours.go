package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/gp"
)

// serve is the argument that makes this binary the process that is timed.
const serve = "-serve-one-job"

// answerOne does the job that it reads from in, with the same calls as a notebook cell.
func answerOne(in io.Reader, out io.Writer) error {
	var j job
	if err := json.NewDecoder(in).Decode(&j); err != nil {
		return err
	}
	a, err := j.do(context.Background())
	if err != nil {
		return err
	}
	a.Peak = peak()
	return json.NewEncoder(out).Encode(a)
}

// do measures the time from the points in memory to the certified answer.
func (j job) do(ctx context.Context) (a answer, err error) {
	load := datasets.LoadLIBSVM
	if j.Sparse {
		load = datasets.LoadLIBSVMSparse
	}
	data, err := load(j.File, j.Features)
	if err != nil {
		return a, err
	}
	machine := func() svmnb.Classifier {
		c := svmnb.Classify(data).Kernel(kernels.RBF(j.Gamma)).C(j.C)
		if j.Memory != 0 {
			c = c.Memory(j.Memory)
		}
		return c
	}
	solved := func(began time.Time, r solvers.Result) answer {
		return answer{Seconds: time.Since(began).Seconds(), Objective: -r.Certificate.Dual, KKT: r.Certificate.MaxKKT, How: r.Method}
	}
	switch j.Kind {
	case classify, linear:
		began := time.Now()
		c := machine()
		if j.Kind == linear {
			c = svmnb.Classify(data).Kernel(kernels.Linear()).C(j.C).Augment(1).Newton()
		}
		fit, err := c.Fit(ctx)
		if err != nil {
			return a, err
		}
		return solved(began, fit.Result), nil
	case regress:
		began := time.Now()
		r := svmnb.Regress(data).Kernel(kernels.RBF(j.Gamma)).C(j.C).Epsilon(j.Epsilon)
		fit, err := r.Fit(ctx)
		if err != nil {
			return a, err
		}
		return solved(began, fit.Result), nil
	case oneOne:
		began := time.Now()
		fit, err := machine().OneVsOne().Fit(ctx)
		if err != nil {
			return a, err
		}
		seconds, c := time.Since(began).Seconds(), fit.Certificate()
		return answer{Seconds: seconds, Objective: -c.Dual, KKT: c.MaxKKT, How: fit.Machines()[0].Method}, nil
	case process:
		began := time.Now()
		fit, err := gp.Regress(data).ZeroMean().Kernel(kernels.SquaredExponential(j.Length)).NoiseVariance(j.Noise).Fit(ctx)
		if err != nil {
			return a, err
		}
		a = answer{Seconds: time.Since(began).Seconds(), How: fit.Method}
		norm := 0.0
		for i, y := range data.Y {
			a.Objective += y * fit.Alpha[i]
			norm = math.Hypot(norm, y)
		}
		a.KKT = fit.Certificate.Residual / norm
		return a, nil
	case evidence:
		began := time.Now()
		kernel := kernels.Kernel(kernels.SquaredExponential(j.Length))
		if j.ARD {
			kernel = kernels.ARD(slices.Repeat([]float64{j.Length}, data.D())...)
		}
		fit, err := gp.Regress(data).ZeroMean().Kernel(kernels.Scale(1, kernel)).NoiseVariance(j.Noise).Fit(ctx)
		if err != nil {
			return a, err
		}
		l, err := fit.LogMarginalLikelihood(ctx)
		if err != nil {
			return a, err
		}
		if _, err := fit.Gradient(ctx); err != nil {
			return a, err
		}
		return answer{Seconds: time.Since(began).Seconds(), Objective: -l.Value, How: fit.Method}, nil
	case predict:
		test, err := datasets.LoadLIBSVM(j.Test, j.Features)
		if err != nil {
			return a, err
		}
		fit, err := machine().Fit(ctx)
		if err != nil {
			return a, err
		}
		began := time.Now()
		values, err := fit.Values(datasets.Rows(test.X))
		if err != nil {
			return a, err
		}
		a = answer{Seconds: time.Since(began).Seconds(), How: fmt.Sprintf("%d support vectors", fit.Certificate.Free+fit.Certificate.AtUpper)}
		for _, f := range values {
			if f > 0 {
				a.Objective++
			}
		}
		return a, nil
	}
	return a, fmt.Errorf("%q is no kind of job", j.Kind)
}

// peak returns the largest resident memory of this process in bytes, if Linux provides it.
func peak() int64 {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		var kB int64
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kB); n == 1 {
			return kB << 10
		}
	}
	return 0
}

// ours runs the job in a fresh process of this binary.
func (b *bench) ours(ctx context.Context, j job, threads int) (answer, error) {
	return b.ask(ctx, j, threads, b.self, serve)
}

// ask runs a program that reads a job as JSON and prints its answer.
func (b *bench) ask(ctx context.Context, j job, threads int, name string, args ...string) (a answer, err error) {
	ctx, cancel := context.WithTimeout(ctx, b.limit)
	defer cancel()
	text, err := json.Marshal(j)
	if err != nil {
		return a, err
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = withThreads(threads)
	cmd.Stdin = bytes.NewReader(text)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	said, err := cmd.Output()
	if err != nil {
		return a, fmt.Errorf("%w: %s", err, lastLine(complaint.String()))
	}
	return a, json.Unmarshal(said, &a)
}

func withThreads(threads int) []string {
	env := os.Environ()
	for _, name := range []string{"GOMAXPROCS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"} {
		env = append(env, fmt.Sprintf("%s=%d", name, threads))
	}
	return env
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}
