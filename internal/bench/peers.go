package main

import (
	"bufio"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A peer is a competitor that is installed.
type peer struct {
	name     string
	threaded bool // it can use more than one thread
	run      func(ctx context.Context, b *bench, j job, threads int) (answer, error)
}

//go:embed onejob.py
var sklearnScript string

// findPeers finds out which competitors are installed, and prints which are missing.
func (b *bench) findPeers(ctx context.Context, names string) {
	for name := range strings.SplitSeq(names, ",") {
		p, version, err := findPeer(ctx, strings.TrimSpace(name))
		if err != nil {
			fmt.Fprintf(b.out, "%s: NOT RUN: %v\n", name, err)
			continue
		}
		fmt.Fprintf(b.out, "%s: %s\n", p.name, version)
		b.peers = append(b.peers, p)
	}
}

func findPeer(ctx context.Context, name string) (p peer, version string, err error) {
	switch name {
	case "libsvm":
		train, err := look("libsvm-tools", "svm-train")
		if err != nil {
			return p, "", err
		}
		test, _ := look("libsvm-tools", "svm-predict")
		l := libsvm{train, test}
		return peer{name, false, l.run}, train + ", kernel cache of 1000 MB", nil
	case "liblinear":
		train, err := look("liblinear-tools", "liblinear-train", "train")
		if err != nil {
			return p, "", err
		}
		return peer{name, false, liblinear(train).run}, train, nil
	case "sklearn":
		for _, python := range []string{"python3", "/usr/bin/python3"} {
			out, err := exec.CommandContext(ctx, python, "-c", "import sklearn, numpy; print(sklearn.__version__, 'with numpy', numpy.__version__)").Output()
			if err == nil {
				return peer{name, true, func(ctx context.Context, b *bench, j job, threads int) (answer, error) {
					return b.ask(ctx, j, threads, python, "-W", "ignore", "-c", sklearnScript)
				}}, "scikit-learn " + strings.TrimSpace(string(out)), nil
			}
		}
		return p, "", errors.New("python3 cannot import sklearn (Debian: python3-sklearn)")
	}
	return p, "", errors.New("the competitors are libsvm, liblinear and sklearn")
}

func look(debian string, names ...string) (path string, err error) {
	for _, name := range names {
		if path, err = exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not installed (Debian: %s)", names[0], debian)
}

// libsvm has the paths of svm-train and svm-predict.
type libsvm struct{ train, predict string }

func (l libsvm) run(ctx context.Context, b *bench, j job, _ int) (answer, error) {
	args := []string{"-m", "1000", "-t", "2", "-c", number(j.C), "-g", number(j.Gamma)}
	switch j.Kind {
	case classify, oneOne, predict:
		args = append(args, "-s", "0")
	case regress:
		args = append(args, "-s", "3", "-p", number(j.Epsilon))
	default:
		return answer{}, fmt.Errorf("svm-train has no %s", j.Kind)
	}
	if j.Kind == predict {
		return l.runPredict(ctx, b, j, args)
	}
	return b.trainer(ctx, j, l.train, args, "nSV = ", "obj = ")
}

// runPredict times svm-predict with all support vectors and all points. It subtracts the time
// to read the model and, with a model of no vectors, the points.
func (l libsvm) runPredict(ctx context.Context, b *bench, j job, args []string) (a answer, err error) {
	if l.predict == "" {
		return a, errors.New("svm-predict is not installed (Debian: libsvm-tools)")
	}
	at := func(name string) string { return filepath.Join(b.dir, name) }
	full, empty, one, out := at("full.model"), at("empty.model"), at("one.test"), at("predicted")
	for _, tool := range []struct{ eps, model string }{{"1e-3", full}, {"1e9", empty}} {
		if err := exec.CommandContext(ctx, l.train, slices.Concat(args, []string{"-q", "-e", tool.eps, j.File, tool.model})...).Run(); err != nil {
			return a, err
		}
	}
	text, err := os.ReadFile(j.Test)
	if err != nil {
		return a, err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	if err := os.WriteFile(one, []byte(first+"\n"), 0o600); err != nil {
		return a, err
	}
	for _, part := range []struct {
		to          *float64
		test, model string
	}{{&a.Reading, j.Test, empty}, {&a.Reading, one, full}, {&a.Seconds, j.Test, full}} {
		began := time.Now()
		if err := exec.CommandContext(ctx, l.predict, part.test, part.model, out).Run(); err != nil {
			return a, fmt.Errorf("svm-predict: %w", err)
		}
		*part.to += time.Since(began).Seconds()
	}
	labels, err := os.ReadFile(out)
	for line := range strings.Lines(string(labels)) {
		if strings.TrimSpace(line) == "1" {
			a.Objective++
		}
	}
	a.How = "svm-predict"
	return a, err
}

// liblinear is the path of LIBLINEAR's train.
type liblinear string

func (l liblinear) run(ctx context.Context, b *bench, j job, _ int) (answer, error) {
	if j.Kind != linear {
		return answer{}, fmt.Errorf("LIBLINEAR has no %s", j.Kind)
	}
	return b.trainer(ctx, j, string(l), []string{"-s", "3", "-B", "1", "-c", number(j.C)}, "Objective value", "Objective value = ")
}

// trainer times a program from its start until it prints the line that follows the training.
// The time for reading the data is measured in runs with a tolerance of 0, which the program
// refuses as soon as it has read the data. Neither time includes writing the model.
func (b *bench) trainer(ctx context.Context, j job, name string, args []string, last, objective string) (a answer, err error) {
	ctx, cancel := context.WithTimeout(ctx, b.limit)
	defer cancel()
	model := filepath.Join(b.dir, "model")
	for _, run := range []struct {
		eps, until string
		to         *float64
	}{{"0", "eps <= 0", &a.Reading}, {"0", "eps <= 0", &a.Reading}, {"1e-3", last, &a.Seconds}} { // the first run warms up the caches
		cmd := exec.CommandContext(ctx, name, slices.Concat(args, []string{"-e", run.eps, j.File, model})...)
		out, err := cmd.StdoutPipe()
		if err != nil {
			return a, err
		}
		cmd.Stderr = cmd.Stdout
		began := time.Now()
		if err := cmd.Start(); err != nil {
			return a, err
		}
		*run.to = 0
		for in := bufio.NewScanner(out); in.Scan(); {
			if strings.Contains(in.Text(), run.until) {
				*run.to = time.Since(began).Seconds()
			}
			if _, after, found := strings.Cut(in.Text(), objective); found {
				word, _, _ := strings.Cut(after, ",")
				v, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
				if err != nil {
					return a, fmt.Errorf("%s: the objective %q is no number", name, word)
				}
				a.Objective += v
			}
		}
		if err := cmd.Wait(); err != nil && run.eps != "0" {
			return a, fmt.Errorf("%s: %w", name, cmp.Or(ctx.Err(), err))
		}
		if *run.to == 0 {
			return a, fmt.Errorf("%s has not printed %q", name, run.until)
		}
	}
	return a, nil
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
