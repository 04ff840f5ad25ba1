package model_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"github.com/svmnb/svmnb/svmnb/model"
)

// tool returns the path of a program, or skips.
func tool(t *testing.T, name, debian string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed (Debian: %s)", name, debian)
	}
	return path
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}

// pointsFile writes points with their targets, 0 where there are none.
func pointsFile(t *testing.T, x [][]float64, y []float64) string {
	t.Helper()
	if y == nil {
		y = make([]float64, len(x))
	}
	var text bytes.Buffer
	if err := datasets.New(x, y).WriteLIBSVM(&text); err != nil {
		t.Fatal(err)
	}
	return textFile(t, text.String())
}

func textFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// predicted runs svm-predict or liblinear-predict and returns its lines of words,
// without the line that names the labels.
func predicted(t *testing.T, program, model string, x [][]float64, options ...string) [][]string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	run(t, program, append(options, pointsFile(t, x, nil), textFile(t, model), out)...)
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var lines [][]string
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "labels") {
			lines = append(lines, strings.Fields(line))
		}
	}
	if len(lines) != len(x) {
		t.Fatalf("%s predicts %d points of %d", program, len(lines), len(x))
	}
	return lines
}

func float(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// asRegressions makes of a LIBSVM classifier a regression for each of its machines,
// whose values svm-predict prints, as it does not those of a classifier.
func asRegressions(t *testing.T, model string) []string {
	t.Helper()
	head, body, _ := strings.Cut(model, "\nSV\n")
	var rest, rho, counts []string
	for line := range strings.Lines(head) {
		words := strings.Fields(line)
		switch words[0] {
		case "rho":
			rho = words[1:]
		case "nr_sv":
			counts = words[1:]
		case "kernel_type", "degree", "gamma", "coef0":
			rest = append(rest, strings.TrimSpace(line))
		}
	}
	if counts == nil {
		counts = []string{strconv.Itoa(strings.Count(body, "\n")), "0"}
	}
	var class []int
	for c, n := range counts {
		class = append(class, slices.Repeat([]int{c}, int(float(t, n)))...)
	}
	rows := strings.Split(strings.TrimSpace(body), "\n")
	var list []string
	for i := range counts {
		for j := i + 1; j < len(counts); j++ {
			var lines []string
			for s, row := range rows {
				words := strings.Fields(row)
				switch class[s] { // coef[j−1] of class i, coef[i] of class j
				case i:
					lines = append(lines, strings.Join(append([]string{words[j-1]}, words[len(counts)-1:]...), " "))
				case j:
					lines = append(lines, strings.Join(append([]string{words[i]}, words[len(counts)-1:]...), " "))
				}
			}
			list = append(list, fmt.Sprintf("svm_type epsilon_svr\n%s\nnr_class 2\ntotal_sv %d\nrho %s\nSV\n%s\n",
				strings.Join(rest, "\n"), len(lines), rho[len(list)], strings.Join(lines, "\n")))
		}
	}
	return list
}

// decisionsOf compares decision values with those that svm-predict computes.
func decisionsOf(t *testing.T, name, program, model string, x, values [][]float64) {
	t.Helper()
	for k, regression := range asRegressions(t, model) {
		for i, words := range predicted(t, program, regression, x) {
			if v := float(t, words[0]); !(math.Abs(v-values[i][k]) <= 1e-6*(1+math.Abs(v))) {
				t.Errorf("%s: decision %d of point %d is %.12g, svm-predict's %.12g", name, k, i, values[i][k], v)
				return
			}
		}
	}
}

// printed is how far svm-predict's probabilities may be from ours: it prints six
// digits, and it stops coupling at 0.005/k.
func printed(m *model.Model) float64 {
	if len(m.Inside().Classes) == 2 {
		return 1e-5
	}
	return 2e-3
}

// What LIBSVM does with a model of ours: the same decision values, classes and
// probabilities.
func TestLIBSVMReadsOurModels(t *testing.T) {
	predict := tool(t, "svm-predict", "libsvm-tools")
	written := 0
	digits, crash := datasets.Digits().Pair("3", "5"), datasets.Motorcycle()
	fits := append(slices.Clone(modelledFits()),
		modelled{name: "digits", fit: testkit.FitOf(t, svmnb.Classify(digits).Kernel(kernels.RBF(0.001)).C(10)), x: digits.X},
		modelled{name: "tube of a crash", fit: svmnb.Regress(crash).Kernel(kernels.RBF(0.01)).C(100).Epsilon(5).MustFit(), x: crash.X})
	for _, f := range fits {
		var text bytes.Buffer
		m := f.fit.Model()
		err := m.WriteLIBSVM(&text)
		_, known := model.HasLIBSVMKernel(m.Inside().Kernel)
		if m.Inside().Kind == machines.RestKind || m.Inside().Kind == machines.JointKind || strings.Contains(f.name, "isotonic") || f.name == "linear process" || !known || m.Inside().Threshold != nil && m.Inside().Curves != nil || m.Inside().Before != nil || strings.Contains(f.name, "logarithm") {
			if !errors.As(err, new(*model.Error)) || text.Len() > 0 {
				t.Errorf("%s: %v, want a *Error and nothing written", f.name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
			continue
		}
		written++
		want := fmt.Sprintf("\ntotal_sv %d\n", m.Inside().Expansion.X.N()) // each vector once, with its class
		if m.Inside().Kind == machines.TwoClassKind {
			positive := 0
			for _, c := range m.Inside().Terms[0].Coef {
				if c > 0 {
					positive++
				}
			}
			want += "*nr_sv " + fmt.Sprintf("%d %d", positive, m.Inside().Expansion.X.N()-positive)
		}
		for part := range strings.SplitSeq(want, "*") {
			if !strings.Contains(text.String(), part) {
				t.Errorf("%s: no %q in the file", f.name, part)
			}
		}
		values, err := m.Decisions(datasets.Rows(f.x))
		if err != nil {
			t.Fatal(err)
		}
		values = signed(m, values)
		decisionsOf(t, f.name, predict, text.String(), f.x, values)
		options := []string{}
		if m.Inside().Curves != nil {
			options = []string{"-b", "1"}
		}
		label := map[string]float64{}
		for k, name := range m.Inside().Classes {
			label[name] = m.Inside().Targets[k]
		}
		for i, words := range predicted(t, predict, text.String(), f.x, options...) {
			// What is on the line to the tolerance is inside for us; LIBSVM's file has no place for that.
			if onLine := m.Inside().Kind == machines.OneClassKind && math.Abs(values[i][0]) <= m.Inside().Line; f.names != nil && !onLine && label[f.names[i]] != float(t, words[0]) {
				t.Errorf("%s: point %d is %s, svm-predict says %s", f.name, i, f.names[i], words[0])
			}
			for k, word := range words[1:] {
				if m.Inside().Kind == machines.TwoClassKind {
					k = 1 - k // its first class is the positive one
				}
				if p := float(t, word); math.Abs(p-f.values[i][k]) > printed(m) {
					t.Errorf("%s: probability %d of point %d is %v, svm-predict says %v", f.name, k, i, f.values[i][k], p)
				}
			}
		}
		back, err := model.ReadLIBSVM(strings.NewReader(text.String()), m.Inside().Expansion.D)
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
			continue
		}
		again, err := back.Decisions(datasets.Rows(f.x))
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range again {
			for k, v := range row {
				if !(math.Abs(v-values[i][k]) <= 1e-12*(1+math.Abs(v))) {
					t.Fatalf("%s: read back, decision %d of point %d is %v, want %v", f.name, k, i, v, values[i][k])
				}
			}
		}
	}
	if written < 14 {
		t.Errorf("%d models written", written)
	}
}

// What we make of svm-train's models is what svm-predict makes of them.
func TestWeReadLIBSVMs(t *testing.T) {
	train, predict := tool(t, "svm-train", "libsvm-tools"), tool(t, "svm-predict", "libsvm-tools")
	sets := map[string]*datasets.Dataset{
		"moons": datasets.Moons(60, 0.2, 1), "iris": testkit.Flowers(), "wine": testkit.Unnoted(testkit.Third(datasets.Wine().Standardised())),
		"sinc": datasets.Sinc(50, 0.1, 1), "cars": datasets.Cars(),
	}
	if folder := os.Getenv("SVMNB_DATA"); folder != "" {
		d, err := datasets.LoadLIBSVM(filepath.Join(folder, "heart_scale"), 0)
		if err != nil {
			t.Fatal(err)
		}
		sets["heart"] = d
	}
	for _, test := range []struct{ data, options string }{
		{"moons", "-t 2 -g 0.7 -c 3"}, {"moons", "-t 0"}, {"moons", "-s 1 -t 1 -d 3 -g 0.5 -r 1 -n 0.3"}, {"moons", "-s 2 -t 2 -g 1 -n 0.2"},
		{"moons", "-t 3 -g 0.1 -r -0.5"}, {"moons", "-t 2 -b 1"}, {"iris", "-t 2 -b 1"}, {"wine", "-t 0"}, {"wine", "-s 1 -t 2 -n 0.1 -b 1"},
		{"sinc", "-s 3 -t 2 -g 1 -c 10"}, {"cars", "-s 3 -t 0 -b 1"}, {"sinc", "-s 4 -t 2 -g 1 -n 0.4"}, {"heart", "-t 2 -b 1"}, {"heart", "-s 3 -t 1 -d 2"},
	} {
		d := sets[test.data]
		if d == nil {
			continue
		}
		name := test.data + " " + test.options
		file := pointsFile(t, d.X, d.Y)
		run(t, train, append(strings.Fields(test.options), "-q", file, file+".model")...)
		text, err := os.ReadFile(file + ".model")
		if err != nil {
			t.Fatal(err)
		}
		m, err := model.ReadLIBSVM(bytes.NewReader(text), d.D())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		values, err := m.Decisions(datasets.Rows(d.X))
		if err != nil {
			t.Fatal(err)
		}
		decisionsOf(t, name, predict, string(text), d.X, values)
		if m.Inside().Kind == machines.RegressionKind {
			continue
		}
		options, p := []string{}, [][]float64{}
		if m.Inside().Curves != nil {
			options = []string{"-b", "1"}
			if p, err = m.Probabilities(datasets.Rows(d.X)); err != nil {
				t.Fatal(err)
			}
		}
		names, err := m.Predict(datasets.Rows(d.X))
		if err != nil {
			t.Fatal(err)
		}
		for i, words := range predicted(t, predict, string(text), d.X, options...) {
			want := words[0]
			if m.Inside().Kind == machines.OneClassKind {
				want = map[string]string{"1": "inside", "-1": "outside"}[want]
			}
			if names[i] != want {
				t.Errorf("%s: point %d is %s, svm-predict says %s", name, i, names[i], want)
			}
			for k, word := range words[1:] {
				if math.Abs(p[i][k]-float(t, word)) > printed(m) {
					t.Errorf("%s: probability %d of point %d is %v, svm-predict says %s", name, k, i, p[i][k], word)
				}
			}
		}
		var again bytes.Buffer
		if err := m.WriteLIBSVM(&again); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		decisionsOf(t, name+", written again", predict, again.String(), d.X, values)
	}
}

const smallLIBSVM = "svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho 0.25\nlabel 1 -1\nprobA -1\nprobB 0.1\nnr_sv 1 1\nSV\n0.5 1:1 3:2\n-0.5 2:-1\n"

func TestReadLIBSVMRefuses(t *testing.T) {
	m, err := model.ReadLIBSVM(strings.NewReader(smallLIBSVM), 0)
	if err != nil || m.D() != 3 || !slices.Equal(m.Classes(), []string{"1", "-1"}) {
		t.Fatal(m, err)
	}
	v, err := m.Values(datasets.Rows{{1, 0, 2}})
	if want := 0.5 - 0.5*math.Exp(-0.5*6) - 0.25; err != nil || math.Abs(v[0]-want) > 1e-15 {
		t.Errorf("f = %v, %v; want %v", v, err, want)
	}
	for _, test := range []struct {
		old, new string
		line     int
	}{
		{smallLIBSVM, "", 0}, {"c_svc", "tree", 11}, {"rbf", "precomputed", 11}, {"rbf", "", 2}, {"gamma 0.5", "gamma -1", 11}, {"gamma 0.5", "gamma NaN", 3},
		{"gamma 0.5", "gamma 1 2", 3}, {"gamma 0.5", "depth 3", 3}, {"nr_class 2", "nr_class 3", 11}, {"nr_class 2", "nr_class 4000000000", 4},
		{"total_sv 2", "total_sv 3", 11}, {"total_sv 2", "total_sv -2", 5}, {"total_sv 2\n", "", 10}, {"rho 0.25", "rho 0.25 1", 11}, {"rho 0.25", "rho x", 6},
		{"label 1 -1", "label 1 1", 0}, {"label 1 -1", "label 1", 11}, {"probA -1\n", "", 10}, {"nr_sv 1 1", "nr_sv 2 1", 11}, {"nr_sv 1 1", "nr_sv -1 3", 11},
		{"nr_sv 1 1", "nr_sv 0.5 1.5", 11}, {"SV\n", "", 11}, {"0.5 1:1", "1:1", 12}, {"0.5 1:1", "0.5 0:1", 12}, {"1:1 3:2", "3:1 1:2", 12}, {"1:1", "1:inf", 12},
		{"1:1", "1=1", 12}, {"3:2", "99999999999:2", 12}, {"3:2", "2000000000:2", 13}, {"-0.5 2:-1\n", "", 12}, {"-0.5 2:-1", "-0.5 2:-1\n-0.5 2:1", 14}, {"-0.5 2:-1", "\x00", 13},
	} {
		if !strings.Contains(smallLIBSVM, test.old) {
			t.Fatalf("no %q", test.old)
		}
		m, err := model.ReadLIBSVM(strings.NewReader(strings.Replace(smallLIBSVM, test.old, test.new, 1)), 0)
		model := (*model.Error)(nil)
		if m != nil || !errors.As(err, &model) {
			t.Errorf("%q for %q: %v, %v; want a *Error", test.new, test.old, m, err)
		} else if model.Line != test.line {
			t.Errorf("%q for %q: line %d, want %d: %v", test.new, test.old, model.Line, test.line, err)
		}
	}
	for _, dims := range []int{-1, 2, math.MaxInt} {
		if _, err := model.ReadLIBSVM(strings.NewReader(smallLIBSVM), dims); !errors.As(err, new(*model.Error)) {
			t.Errorf("dims %d: %v", dims, err)
		}
	}
	for cut := range smallLIBSVM {
		if m, err := model.ReadLIBSVM(strings.NewReader(smallLIBSVM[:cut]), 0); err == nil {
			t.Errorf("the first %d bytes are %v", cut, m)
		}
	}
}

// Labels of a million and more keep all their digits, for programs that read them as
// integers.
func TestLargeLabels(t *testing.T) {
	x := [][]float64{{0}, {1}, {2}, {3}}
	m := testkit.FitOf(t, svmnb.Classify(datasets.New(x, []float64{1e6, 1e6, 2.5e6, 2.5e6})).Kernel(kernels.Linear())).Model()
	var libsvm, liblinear bytes.Buffer
	if err := errors.Join(m.WriteLIBSVM(&libsvm), m.WriteLIBLINEAR(&liblinear)); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{libsvm.String(), liblinear.String()} {
		if !strings.Contains(text, "\nlabel 2500000 1000000\n") {
			t.Errorf("the labels are others:\n%s", text)
		}
	}
}

func TestWriteLIBSVMRefuses(t *testing.T) {
	x := [][]float64{{0}, {1}, {2}, {3}}
	halves := datasets.New(x, []float64{0.5, 0.5, 1, 1})
	var text bytes.Buffer
	if err := testkit.FitOf(t, svmnb.Classify(halves).Kernel(kernels.Linear())).Model().WriteLIBSVM(&text); !errors.As(err, new(*model.Error)) {
		t.Errorf("a label 0.5: %v", err)
	}
}

func FuzzReadLIBSVM(f *testing.F) {
	f.Add(smallLIBSVM)
	f.Add("svm_type epsilon_svr\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho 0.25\nSV\n1 1:2\n")
	f.Add("svm_type nu_svc\nkernel_type polynomial\ndegree 3\ngamma 1\ncoef0 0\nnr_class 3\ntotal_sv 3\nrho 1 2 3\nlabel 1 2 3\nnr_sv 1 1 1\nSV\n1 2 1:2\n-1 2 1:1\n-1 -1\n")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := model.ReadLIBSVM(strings.NewReader(text), 0)
		if err != nil {
			if !errors.As(err, new(*model.Error)) {
				t.Fatalf("%T", err)
			}
			return
		}
		var out bytes.Buffer
		if err := m.WriteLIBSVM(&out); err != nil {
			return // a label that is no whole number
		}
		if _, err := model.ReadLIBSVM(&out, m.D()); err != nil {
			t.Fatalf("written but not read: %v", err)
		}
	})
}
