package svmnb

import (
	"bufio"
	"bytes"
	"context"
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
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
)

// The objectives of the pairs, 45 distinct support vectors and 148 right are
// LIBSVM 3.37's.
func TestOneVsOneOnIris(t *testing.T) {
	data := datasets.Iris()
	fit := testkit.FitOf(t, Classify(data).Kernel(kernels.RBF(0.25)).Tol(1e-7).OneVsOne())
	for k, want := range []float64{2.403421, 1.945148, 21.377496} {
		testkit.Near(t, "W", fit.Machines()[k].Certificate.Dual, want, 1e-6)
	}
	c := fit.Certificate()
	testkit.Near(t, "sum of the duals", c.Dual, 2.403421+1.945148+21.377496, 1e-6)
	if c.Machines != 3 || c.WorstRelGap > 1e-6 || c.WorstGap > c.Gap || c.Worst == "" || math.Abs(c.Primal-c.Dual-c.Gap) > 1e-12 {
		t.Errorf("%+v", c)
	}
	if n := len(fit.SupportVectors()); n != 45 {
		t.Errorf("%d distinct support vectors, LIBSVM has 45", n)
	}
	accuracy, err := fit.Accuracy(data)
	if err != nil || accuracy != 148./150 || fit.TrainingErrors() != 2 {
		t.Errorf("accuracy %v (%v), %d training errors", accuracy, err, fit.TrainingErrors())
	}
	if !slices.Equal(fit.Classes(), []string{"setosa", "versicolor", "virginica"}) || fit.Status() != solvers.Converged || fit.Joint() != nil {
		t.Errorf("%v, %v", fit.Classes(), fit.Status())
	}
}

// Every decision value is its machine's, up to the order of a sum, however the
// machines share kernel values; and k machines against the rest are those of OneVsRest.
func TestDecisionsAreThoseOfTheMachines(t *testing.T) {
	data := datasets.Wine().Standardised()
	base := Classify(data).C(2)
	for _, m := range []MultiClassifier{base.OneVsOne(), base.OneVsRest(), base.Kernel(kernels.Linear()).OneVsOne(), base.Nu(0.2).OneVsOne(),
		base.GradientAscent().OneVsRest(), base.CoordinateDescent().OneVsRest(), base.TwoNorm().OneVsRest()} {
		fit := testkit.FitOf(t, m)
		values, err := fit.Decisions(datasets.Rows(data.X[:20]))
		if err != nil {
			t.Fatal(err)
		}
		for k, machine := range fit.Machines() {
			want, err := machine.Values(datasets.Rows(data.X[:20]))
			if err != nil {
				t.Fatal(err)
			}
			for i := range want {
				if !(math.Abs(values[i][k]-want[i]) <= 1e-12*(1+math.Abs(want[i]))) {
					t.Fatalf("%v: machine %d at point %d: %v, by itself %v", m, k, i, values[i][k], want[i])
				}
			}
		}
	}
	rest := testkit.FitOf(t, base.Tol(1e-8).OneVsRest())
	for k, class := range rest.Classes() {
		alone := testkit.FitOf(t, Classify(data.OneVsRest(class)).C(2).Tol(1e-8))
		testkit.Near(t, "W against the rest", rest.Machines()[k].Certificate.Dual, alone.Certificate.Dual, 1e-9)
	}
	values, _ := rest.Decisions(datasets.Rows(data.X))
	names, _ := rest.Predict(datasets.Rows(data.X))
	for i, v := range values {
		if names[i] != rest.Classes()[slices.Index(v, slices.Max(v))] {
			t.Fatalf("point %d: %v is not the largest of %v", i, names[i], v)
		}
	}
}

// Machines run side by side and share rows; what they find does not depend on it,
// nor on the memory.
func TestMultiClassIsDeterministic(t *testing.T) {
	base := Classify(datasets.Wine().Standardised())
	for _, m := range []MultiClassifier{base.OneVsOne(), base.OneVsRest(), base.CrammerSinger()} {
		a, b := testkit.FitOf(t, m), testkit.FitOf(t, m)
		c := testkit.FitOf(t, MultiClassifier{m.base.Memory(4000), m.scheme})
		for k, r := range results(a) {
			if !slices.Equal(r.Alpha, results(b)[k].Alpha) || !slices.Equal(r.Alpha, results(c)[k].Alpha) {
				t.Errorf("%v: machine %d differs", m, k)
			}
		}
	}
	// The shared matrix is computed once: its n(n+1)/2 values at most.
	rest, n := testkit.FitOf(t, base.OneVsRest()), int64(178)
	total := int64(0)
	for _, r := range results(rest) {
		total += r.Evaluations
	}
	if total > n*(n+1)/2 || total < n {
		t.Errorf("%d kernel values for three machines on %d points", total, n)
	}
}

func results(f *MultiFit) (r []*solvers.Result) {
	f.each(func(_ string, one *solvers.Result) { r = append(r, one) })
	return r
}

// LIBLINEAR 2.50 with -s 4 -c 1 -B 1 finds 20.018230 on iris, without -B 22.450058.
func TestCrammerSingerFit(t *testing.T) {
	data := datasets.Iris()
	linear := Classify(data).Kernel(kernels.Linear()).Tol(1e-4)
	with, without := testkit.FitOf(t, linear.CrammerSinger()), testkit.FitOf(t, linear.FixedBias(0).CrammerSinger())
	testkit.Near(t, "W", with.Certificate().Dual, 20.018230, 1e-6)
	testkit.Near(t, "W without bias", without.Certificate().Dual, 22.450058, 1e-6)
	if c := with.Certificate(); c.Machines != 1 || c.WorstRelGap > 1e-4 || with.Machines() != nil || with.Joint() == nil {
		t.Errorf("%+v", c)
	}
	if a, err := with.Accuracy(data); err != nil || a < 0.97 {
		t.Errorf("accuracy %v, %v", a, err)
	}
	// The expansion is that of the multipliers, in the features and by the kernel.
	alpha := with.Joint().Alpha
	values, _ := with.Decisions(datasets.Rows(data.X[:3]))
	for i, v := range values {
		for m := range 3 {
			sum := 0.0
			for j, x := range data.X {
				dot := 1.0
				for l, u := range x {
					dot += u * data.X[i][l]
				}
				sum += alpha[3*j+m] * dot
			}
			testkit.Near(t, "f", v[m], sum, 1e-9)
		}
	}
	rbf := testkit.FitOf(t, Classify(data).CrammerSinger())
	if a, _ := rbf.Accuracy(data); a < 0.97 {
		t.Errorf("accuracy with RBF %v", a)
	}
}

// labels of any kind, and equal votes.
func TestLabelsAndTies(t *testing.T) {
	x := [][]float64{{0, 0}, {0, 1}, {4, 0}, {4, 1}, {0, 5}, {1, 5}}
	for _, test := range []struct {
		y     []float64
		names []string
		want  []string
	}{
		{[]float64{7, 7, -3, -3, 2.5, 2.5}, nil, []string{"-3", "2.5", "7"}},
		{[]float64{2, 2, 0, 0, 1, 1}, []string{"ä", "b|c", ""}, []string{"ä", "b|c", ""}},
	} {
		d := datasets.New(x, test.y)
		d.Classes = test.names
		for _, m := range []MultiClassifier{Classify(d).C(100).OneVsOne(), Classify(d).C(100).OneVsRest(), Classify(d).C(100).CrammerSinger()} {
			fit := testkit.FitOf(t, m)
			names, err := fit.Predict(datasets.Rows(x))
			if err != nil || !slices.Equal(fit.Classes(), test.want) {
				t.Fatalf("%v, %v", fit.Classes(), err)
			}
			for i, name := range names {
				if name != d.ClassName(test.y[i]) {
					t.Errorf("%v: point %d is %q", m, i, name)
				}
			}
		}
	}
	f := &MultiFit{task: &multiTask{classes: []string{"a", "b", "c"}, duels: [][2]int{{0, 1}, {0, 2}, {1, 2}}}}
	for _, test := range []struct {
		values []float64
		want   int
	}{
		{[]float64{1, -1, 1}, 0},  // one vote each: the first
		{[]float64{-1, -1, 1}, 1}, // b wins
		{[]float64{0, 0, 0}, 2},   // f = 0 is a vote for the second, as in LIBSVM
	} {
		if got := f.winner(test.values); got != test.want {
			t.Errorf("%v: class %d wins, want %d", test.values, got, test.want)
		}
	}
}

// Weights of classes and points multiply C in every machine.
func TestMultiClassWeights(t *testing.T) {
	data := datasets.Iris()
	w := slices.Repeat([]float64{1}, data.N())
	for i := 50; i < 100; i++ {
		w[i] = 3
	}
	base := Classify(data).Tol(1e-8)
	for _, scheme := range []func(Classifier) MultiClassifier{Classifier.OneVsOne, Classifier.OneVsRest, Classifier.CrammerSinger} {
		byClass, byPoint := testkit.FitOf(t, scheme(base.ClassWeight("versicolor", 3))), testkit.FitOf(t, scheme(base.SampleWeights(w)))
		plain := testkit.FitOf(t, scheme(base))
		testkit.Near(t, "W", byClass.Certificate().Dual, byPoint.Certificate().Dual, 1e-10)
		if byClass.Certificate().Dual <= plain.Certificate().Dual {
			t.Error("a larger C does not raise W")
		}
	}
	pair := testkit.FitOf(t, Classify(data.Pair("versicolor", "virginica")).Kernel(kernels.RBF(kernels.GammaScale(data.X))).Tol(1e-8).ClassWeight("versicolor", 3))
	testkit.Near(t, "W of the pair", testkit.FitOf(t, base.ClassWeight("versicolor", 3).OneVsOne()).Machines()[2].Certificate.Dual, pair.Certificate.Dual, 1e-9)
}

func TestMultiClassErrors(t *testing.T) {
	iris := Classify(datasets.Iris())
	real := datasets.New([][]float64{{1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}, {10}, {11}, {12}}, []float64{.1, .2, .3, .4, .5, .6, .7, .8, .9, 1, 1.1, 1.2})
	one := datasets.New([][]float64{{1}, {2}}, []float64{4, 4})
	nan := datasets.New([][]float64{{1}, {math.NaN()}, {2}}, []float64{0, 1, 2})
	for _, test := range []struct {
		m     MultiClassifier
		words string
	}{
		{Classify(nil).OneVsOne(), "nil"},
		{Classify(one).OneVsOne(), "all points are of class 4"},
		{Classify(real).OneVsRest(), "Regress"},
		{Classify(nan).CrammerSinger(), "row 1"},
		{iris.C(-1).OneVsOne(), "C is -1"},
		{iris.ClassWeight("rose", 2).OneVsOne(), `no class "rose"`},
		{iris.Nu(0.1).CrammerSinger(), "1-norm"},
		{iris.TwoNorm().CrammerSinger(), "1-norm"},
		{iris.Using(solvers.SMO{Selection: solvers.Simplified}).CrammerSinger(), "leave out which solver"},
		{iris.FixedBias(1).CrammerSinger(), "FixedBias(0)"},
		{OneClass(datasets.Iris()).OneVsOne(), "one class"},
		{iris.HardMargin().Kernel(kernels.Linear()).OneVsOne(), "versicolor against virginica"},
		{iris.HardMargin().Kernel(kernels.Linear()).OneVsRest(), "against the rest"}, // two of them, side by side: whichever is first
	} {
		fit, err := test.m.Fit(context.Background())
		if fit != nil || err == nil || !strings.Contains(err.Error(), test.words) {
			t.Errorf("%v: %v, want %q in it", test.m, err, test.words)
		}
		var a *ArgumentError
		var c *datasets.ClassError
		var d *datasets.Error
		if !errors.As(err, &a) && !errors.As(err, &c) && !errors.As(err, &d) && !errors.Is(err, solvers.ErrUnbounded) {
			t.Errorf("%v: %T has no type", test.m, err)
		}
	}
	_, err := iris.Fit(context.Background())
	var c *datasets.ClassError
	if !errors.As(err, &c) || !strings.Contains(err.Error(), "OneVsOne()") || !strings.Contains(err.Error(), "CrammerSinger()") {
		t.Errorf("three classes in Fit: %v", err)
	}
	fit := testkit.FitOf(t, iris.OneVsOne())
	var a *ArgumentError
	if _, err := fit.Predict(datasets.Rows{{1, 2, 3, 4}, {1, 2, 3}}); !errors.As(err, &a) || a.Row != 1 {
		t.Errorf("short row: %v", err)
	}
	if _, err := fit.Decisions(datasets.Rows{{1, 2, math.Inf(1), 4}}); !errors.As(err, &a) || a.Column != 2 {
		t.Errorf("infinite value: %v", err)
	}
	if _, err := fit.Accuracy(datasets.New([][]float64{{1, 2, 3, 4}}, []float64{9})); !errors.As(err, &a) || a.Row != 0 || a.Call != "Accuracy" {
		t.Errorf("unknown class: %v", err)
	}
}

// An interrupt returns every machine as far as it came, and predictions by them.
func TestMultiClassInterrupted(t *testing.T) {
	why := errors.New("enough")
	ctx, stop := context.WithCancelCause(context.Background())
	stop(why)
	base := Classify(datasets.Iris())
	for _, m := range []MultiClassifier{base.OneVsOne(), base.OneVsRest(), base.CrammerSinger()} {
		fit, err := m.Fit(ctx)
		if fit == nil || !errors.Is(err, why) || fit.Status() != solvers.Interrupted {
			t.Fatalf("%v: %v, %v", m, fit, err)
		}
		if _, err := fit.Predict(datasets.Rows(base.data.X[:2])); err != nil || !strings.Contains(fit.Markdown(), "interrupted") {
			t.Errorf("%v: %v\n%s", m, err, fit.Markdown())
		}
	}
	few := testkit.FitOf(t, base.MaxIterations(2).OneVsOne())
	if few.Status() != solvers.IterationLimit || len(few.Hints()) == 0 {
		t.Errorf("%v, %v", few.Status(), few.Hints())
	}
}

// Keep remembers each machine: the second time nothing is solved, and after one
// file is gone, one machine is.
func TestMultiClassKeep(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("SVMNB_CACHE", dir)
	base := Classify(datasets.Iris())
	for n, m := range []MultiClassifier{base.OneVsOne(), base.OneVsRest(), base.CrammerSinger()} {
		first := m.Keep()
		files, _ := filepath.Glob(filepath.Join(dir, "fits", "*.fit"))
		if want := []int{3, 6, 7}[n]; len(files) != want {
			t.Fatalf("%v: %d files, want %d", m, len(files), want)
		}
		again := m.Keep()
		for k, r := range results(again) {
			if r.Elapsed != results(first)[k].Elapsed || !slices.Equal(r.Alpha, results(first)[k].Alpha) {
				t.Errorf("%v: machine %d was solved again", m, k)
			}
		}
		a, _ := first.Decisions(datasets.Rows(base.data.X))
		b, _ := again.Decisions(datasets.Rows(base.data.X))
		for i := range a {
			if !slices.Equal(a[i], b[i]) {
				t.Fatalf("%v: other decisions", m)
			}
		}
	}
}

func TestMultiClassifierIsAValue(t *testing.T) {
	base := Classify(datasets.Iris()).C(3)
	if base.OneVsOne() != base.OneVsOne() || base.OneVsOne() == base.OneVsRest() {
		t.Error("descriptions do not compare")
	}
	if s := base.CrammerSinger().String(); s != "Classify(iris).C(3).CrammerSinger()" {
		t.Error(s)
	}
}

// TestLIBSVMMultiClass compares predictions and decision values with svm-train and
// svm-predict where they are installed (Debian: libsvm-tools). It solves with kernel
// values in float32.
func TestLIBSVMMultiClass(t *testing.T) {
	train, err := exec.LookPath("svm-train")
	if err != nil {
		t.Skip("svm-train of LIBSVM is not installed (Debian: libsvm-tools)")
	}
	predict, err := exec.LookPath("svm-predict")
	if err != nil {
		t.Skip("svm-predict of LIBSVM is not installed (Debian: libsvm-tools)")
	}
	digits := datasets.Digits()
	var part []int
	for i := range 500 {
		part = append(part, i)
	}
	for _, test := range []struct {
		data     *datasets.Dataset
		gamma, c float64
		weighted bool // the second class, by 2.5
	}{
		{datasets.Wine().Standardised(), 0.1, 1, false},
		{datasets.Wine().Standardised(), 0.05, 0.3, true},
		{digits.Select(part), 0.001, 5, false},
	} {
		dir, d := t.TempDir(), test.data
		base := Classify(d).Kernel(kernels.RBF(test.gamma)).C(test.c).Tol(1e-9)
		options := []string{"-t", "2", "-g", fmt.Sprint(test.gamma), "-c", fmt.Sprint(test.c), "-e", "1e-9", "-h", "0", "-q"}
		if test.weighted {
			second := d.Counts()[1]
			base = base.ClassWeight(second.Class, 2.5)
			options = append(options, fmt.Sprintf("-w%v", second.Y), "2.5")
		}
		fit := testkit.FitOf(t, base.OneVsOne())
		names, err := fit.Predict(datasets.Rows(d.X))
		if err != nil {
			t.Fatal(err)
		}
		values, _ := fit.Decisions(datasets.Rows(d.X))
		var lines bytes.Buffer
		for i, row := range d.X {
			fmt.Fprint(&lines, d.Y[i])
			for j, v := range row {
				fmt.Fprintf(&lines, " %d:%.17g", j+1, v)
			}
			fmt.Fprintln(&lines)
		}
		file := filepath.Join(dir, "points")
		if err := os.WriteFile(file, lines.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(train, append(options, file, file+".model")...).CombinedOutput(); err != nil {
			t.Fatalf("svm-train: %v\n%s", err, out)
		}
		if out, err := exec.Command(predict, file, file+".model", file+".out").CombinedOutput(); err != nil {
			t.Fatalf("svm-predict: %v\n%s", err, out)
		}
		out, err := os.ReadFile(file + ".out")
		if err != nil {
			t.Fatal(err)
		}
		for i, word := range strings.Fields(string(out)) {
			if y, err := strconv.ParseFloat(word, 64); err != nil || d.ClassName(y) != names[i] {
				t.Errorf("%s: point %d is %s, LIBSVM says %s", d.Name, i, names[i], word)
			}
		}
		model, err := os.ReadFile(file + ".model")
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range libsvmDecisions(t, string(model), test.gamma, d.X) {
			for k, v := range row {
				if math.Abs(v-values[i][k]) > 1e-6*(1+math.Abs(v)) {
					t.Fatalf("%s: decision %d of point %d is %.9g, LIBSVM's %.9g", d.Name, k, i, values[i][k], v)
				}
			}
		}
	}
}

// libsvmDecisions computes the decision values of an RBF model file of LIBSVM, in
// its order of pairs, from the file alone.
func libsvmDecisions(t *testing.T, model string, gamma float64, x [][]float64) [][]float64 {
	t.Helper()
	head, body, _ := strings.Cut(model, "\nSV\n")
	numbers := func(s string) (v []float64) {
		for _, w := range strings.Fields(s) {
			n, err := strconv.ParseFloat(w, 64)
			if err != nil {
				t.Fatal(err)
			}
			v = append(v, n)
		}
		return v
	}
	var rho, count, label []float64
	for line := range strings.Lines(head) {
		switch key, rest, _ := strings.Cut(strings.TrimSpace(line), " "); key {
		case "rho":
			rho = numbers(rest)
		case "nr_sv":
			count = numbers(rest)
		case "label":
			label = numbers(rest)
		}
	}
	if !slices.IsSorted(label) {
		t.Fatalf("the classes come in another order, %v", label)
	}
	k := len(count)
	var class []int
	for c, n := range count {
		class = append(class, slices.Repeat([]int{c}, int(n))...)
	}
	var coef, sv [][]float64
	scanner := bufio.NewScanner(strings.NewReader(body))
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		words := strings.Fields(scanner.Text())
		coef = append(coef, numbers(strings.Join(words[:k-1], " ")))
		z := make([]float64, len(x[0]))
		for _, w := range words[k-1:] {
			j, v, _ := strings.Cut(w, ":")
			z[int(numbers(j)[0])-1] = numbers(v)[0]
		}
		sv = append(sv, z)
	}
	out := make([][]float64, len(x))
	for p, point := range x {
		values := make([]float64, len(sv))
		for s, z := range sv {
			r := 0.0
			for j, v := range z {
				r += (point[j] - v) * (point[j] - v)
			}
			values[s] = math.Exp(-gamma * r)
		}
		m := 0
		for i := range k {
			for j := i + 1; j < k; j++ {
				sum := -rho[m]
				for s, c := range class {
					switch c { // svm_predict_values: coef[j−1] of class i, coef[i] of class j
					case i:
						sum += coef[s][j-1] * values[s]
					case j:
						sum += coef[s][i] * values[s]
					}
				}
				out[p] = append(out[p], sum)
				m++
			}
		}
	}
	return out
}

// TestSharedMatricesAreCentred: machines that share a matrix work about the middle of the
// points, as those with one of their own do.
func TestSharedMatricesAreCentred(t *testing.T) {
	for _, far := range []float64{0, 1e3, 1e5, 1e7, -1e7} {
		near, away := datasets.Iris(), datasets.Iris()
		for i, row := range away.X {
			away.X[i] = slices.Clone(row)
			for j := range row {
				away.X[i][j] = math.Round(row[j]*16)/16 + far
			}
			near.X[i] = slices.Clone(row)
			for j := range row {
				near.X[i][j] = math.Round(row[j]*16) / 16 // so that the two differ by far exactly
			}
		}
		of := func(d *datasets.Dataset) *MultiFit {
			return testkit.FitOf(t, Classify(d).Kernel(kernels.Linear()).C(1).Tol(1e-6).Using(solvers.SMO{}).OneVsRest())
		}
		a, b := of(near), of(away)
		if a.task.shared == nil || b.task.shared == nil {
			t.Fatal("no matrix is shared")
		}
		if w, v := a.Certificate().Dual, b.Certificate().Dual; math.Abs(w-v) > 1e-5*w || b.Status() != solvers.Converged {
			t.Errorf("moved by %g: W = %.9g, unmoved %.9g; %v", far, v, w, b.Status())
		}
		evaluations := int64(0)
		for _, m := range b.Machines() {
			evaluations += m.Evaluations
		}
		if n := int64(away.N()); evaluations < n || evaluations > n*n+2*n {
			t.Errorf("moved by %g: %d kernel values", far, evaluations)
		}
	}
}
