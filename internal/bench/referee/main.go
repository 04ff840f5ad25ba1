// Referee trains machines of other programs on generated data sets and on those of SVMNB_DATA, and
// says how far each is from the optimum (docs/referee.md):
//
//	go run ./internal/bench/referee -python ./venv/bin/python
//
// The programs are svm-train, liblinear-train (its own problem, without a kernel), scikit-learn,
// skl2onnx, scikit-learn-intelex, thundersvm and R's kernlab. One that is missing is skipped with a
// word. Each label about which a verdict proves something is compared with a fit to Tol(1e-10).
package main

import (
	"bytes"
	"context"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/model"
)

//go:embed machines.py
var machinesPy []byte

//go:embed kernlab.R
var kernlabR []byte

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "referee:", err)
		os.Exit(1)
	}
}

// set is a data set, with labels 0 and 1, and the parameters of its machines.
type set struct {
	data     *datasets.Dataset
	gamma, c float64
}

func run(ctx context.Context, out io.Writer) error {
	python := flag.String("python", "python3", "`program` with scikit-learn and others")
	count := flag.Int("sets", 30, "most data sets")
	most := flag.Int("most", 1500, "most points of a data set")
	flag.Parse()
	dir, err := os.MkdirTemp("", "referee")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Fprintln(out, "| data | n × d | C, γ | machine | relative gap | violation | could change | different | certain |\n|---|---|---|---|---|---|---|---|---|")
	total := tally{missing: map[string]bool{}}
	list := sets(*most)
	for _, s := range list[:min(*count, len(list))] {
		base := svmnb.Classify(s.data).Kernel(kernels.RBF(s.gamma)).C(s.c)
		fit, err := base.Fit(ctx)
		if err != nil {
			return err
		}
		entries := append(others(ctx, s, *python, dir, &total), svmnb.Entry{Name: "svmnb", Model: fit})
		if err := total.judge(ctx, out, s, base, fmt.Sprintf("%g, %.3g", s.c, s.gamma), entries); err != nil {
			return fmt.Errorf("%s: %w", s.data.Name, err)
		}
		if m := command(ctx, s, dir, &total, "liblinear-train", model.ReadLIBLINEAR, "-q", "-s", "3", "-B", "1", "-c", fmt.Sprint(s.c)); m != nil {
			linear := svmnb.Classify(s.data).Kernel(kernels.Linear()).C(s.c).Augment(1)
			if err := total.judge(ctx, out, s, linear, fmt.Sprintf("%g, linear", s.c), []svmnb.Entry{{Name: "liblinear-train", Model: m}}); err != nil {
				return fmt.Errorf("%s: %w", s.data.Name, err)
			}
		}
	}
	fmt.Fprintf(out, "\n%d machines; something is proven of %d labels, and %d of these proofs are wrong by Tol(1e-10)\n", total.machines, total.proven, total.wrong)
	for name := range total.missing {
		fmt.Fprintln(out, "missing:", name)
	}
	return nil
}

type tally struct {
	machines, proven, wrong int
	missing                 map[string]bool
}

// judge prints the verdicts and compares what they prove with an accurate fit.
func (t *tally) judge(ctx context.Context, out io.Writer, s set, problem svmnb.Classifier, parameters string, entries []svmnb.Entry) error {
	r, err := problem.Referee(ctx, entries...)
	if err != nil {
		return err
	}
	truth, err := problem.Tol(1e-10).Fit(ctx)
	if truth == nil {
		return err
	}
	right, err := truth.Predict(s.data)
	if err != nil {
		return err
	}
	for k, v := range r.Verdicts {
		if k >= len(entries) {
			break // the referee's own
		}
		names, err := entries[k].Model.Model().Predict(s.data)
		if err != nil {
			return err
		}
		t.machines++
		for i, proof := range v.Proof {
			if proof == 0 {
				continue
			}
			t.proven++
			if (names[i] == right[i]) != (proof > 0) {
				t.wrong++
			}
		}
		fmt.Fprintf(out, "| %s | %d × %d | %s | %s | %.2g | %.2g | %d | %d | %d |\n", s.data.Name, s.data.N(), s.data.D(), parameters, v.Name, v.RelGap(), v.Violation, v.Open, v.Different, v.Certain)
	}
	return nil
}

// others trains the machines of other programs with the Gaussian kernel.
func others(ctx context.Context, s set, python, dir string, t *tally) (entries []svmnb.Entry) {
	add := func(name string, m *model.Model) {
		if m != nil {
			entries = append(entries, svmnb.Entry{Name: name, Model: m})
		}
	}
	read := func(r io.Reader) (*model.Model, error) { return model.ReadLIBSVM(r, s.data.D()) }
	c, gamma := fmt.Sprint(s.c), strconv.FormatFloat(s.gamma, 'g', -1, 64)
	add("svm-train", command(ctx, s, dir, t, "svm-train", read, "-q", "-t", "2", "-g", gamma, "-c", c))
	points := filepath.Join(dir, "points.csv")
	var text bytes.Buffer
	for i, row := range s.data.X {
		text.WriteString(strconv.FormatFloat(s.data.Y[i], 'g', -1, 64))
		for _, v := range row {
			text.WriteString("," + strconv.FormatFloat(v, 'g', -1, 64))
		}
		text.WriteByte('\n')
	}
	if err := os.WriteFile(points, text.Bytes(), 0o600); err != nil {
		return entries
	}
	made := filepath.Join(dir, "made")
	os.RemoveAll(made)
	if err := os.Mkdir(made, 0o700); err != nil {
		return entries
	}
	for name, script := range map[string][]byte{python: machinesPy, "Rscript": kernlabR} {
		file := filepath.Join(dir, "script")
		if err := os.WriteFile(file, script, 0o600); err != nil {
			return entries
		}
		out, err := exec.CommandContext(ctx, name, file, points, gamma, c, made).CombinedOutput()
		if err != nil {
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			t.missing[fmt.Sprintf("%s: %v, %s", filepath.Base(name), err, lines[len(lines)-1])] = true
		}
		for line := range strings.Lines(string(out)) {
			if strings.HasPrefix(line, "missing ") {
				t.missing[strings.TrimSpace(line[8:])] = true
			}
		}
	}
	files, _ := filepath.Glob(filepath.Join(made, "*"))
	slices.Sort(files)
	for _, file := range files {
		kind := filepath.Ext(file)
		name := strings.TrimSuffix(filepath.Base(file), kind)
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		var m *model.Model
		switch kind {
		case ".json":
			m, err = model.ReadScikitLearn(bytes.NewReader(text))
		case ".onnx":
			m, err = model.ReadONNX(bytes.NewReader(text))
		default:
			m, err = read(bytes.NewReader(text))
		}
		if err != nil {
			t.missing[fmt.Sprintf("%s: %v", name, err)] = true
			continue
		}
		add(name, m)
	}
	return entries
}

// command runs a program that reads LIBSVM's format and writes a model; nil if it is missing.
func command(ctx context.Context, s set, dir string, t *tally, program string, read func(io.Reader) (*model.Model, error), args ...string) *model.Model {
	in, out := filepath.Join(dir, "points.libsvm"), filepath.Join(dir, "out.model")
	fail := func(err error) *model.Model {
		t.missing[fmt.Sprintf("%s: %v", program, err)] = true
		return nil
	}
	var text bytes.Buffer
	if err := s.data.WriteLIBSVM(&text); err != nil {
		return fail(err)
	}
	if err := os.WriteFile(in, text.Bytes(), 0o600); err != nil {
		return fail(err)
	}
	if err := exec.CommandContext(ctx, program, append(args, in, out)...).Run(); err != nil {
		return fail(err)
	}
	file, err := os.Open(out)
	if err != nil {
		return fail(err)
	}
	defer file.Close()
	m, err := read(file)
	if err != nil {
		return fail(err)
	}
	return m
}

// sets returns the files of SVMNB_DATA that have two classes, and generated data.
func sets(most int) (list []set) {
	add := func(name string, d *datasets.Dataset, c float64) {
		if d.N() > most {
			rows := make([]int, most)
			for k := range rows {
				rows[k] = k * d.N() / most
			}
			d = d.Select(rows)
		}
		y, _, _, err := d.Binary()
		if err != nil {
			return
		}
		labels := make([]float64, len(y))
		for i, v := range y {
			labels[i] = (v + 1) / 2
		}
		x := make([][]float64, d.N())
		for i := range x { // rounded, so that text and single precision keep them
			x[i] = make([]float64, d.D())
			for j, v := range d.X[i] {
				x[i][j] = float64(float32(math.Round(v*1e4) / 1e4))
			}
		}
		data := &datasets.Dataset{Name: name, X: x, Y: labels}
		list = append(list, set{data, 1 / float64(d.D()) / max(variance(x), 1e-9), c})
	}
	if folder := os.Getenv("SVMNB_DATA"); folder != "" {
		for _, name := range []string{"heart_scale", "svmguide1"} {
			file, err := os.Open(filepath.Join(folder, name))
			if err != nil {
				continue
			}
			d, err := datasets.ReadLIBSVM(file, 0)
			file.Close()
			if err == nil {
				add(name, d, 10)
			}
		}
	}
	add("iris", datasets.Iris().Pair("versicolor", "virginica"), 1)
	add("breast cancer", datasets.BreastCancer().Standardised(), 1)
	add("digits 3 and 5", datasets.Digits().Pair("3", "5"), 10)
	for k, c := range []float64{0.1, 1, 10, 100} {
		seed := uint64(k)
		add(fmt.Sprintf("moons %d", k), datasets.Moons(300+200*k, 0.15+0.05*float64(k), seed), c)
		add(fmt.Sprintf("circles %d", k), datasets.Circles(300+200*k, 0.1, seed), c)
		add(fmt.Sprintf("xor %d", k), datasets.XOR(300+200*k, 0.3, seed), c)
		add(fmt.Sprintf("spirals %d", k), datasets.Spirals(300+200*k, 0.1, seed), c)
		add(fmt.Sprintf("checkerboard %d", k), datasets.Checkerboard(400+200*k, 3+k, seed), c)
		add(fmt.Sprintf("blobs %d", k), datasets.Blobs(300+200*k, 2, 1.5, seed), c)
		add(fmt.Sprintf("blobs, narrow %d", k), datasets.Blobs(300+200*k, 2, 3, seed+9), c)
	}
	return list
}

func variance(x [][]float64) float64 {
	n, mean, square := 0.0, 0.0, 0.0
	for _, row := range x {
		for _, v := range row {
			n, mean, square = n+1, mean+v, square+v*v
		}
	}
	return square/n - mean*mean/n/n
}
