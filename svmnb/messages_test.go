package svmnb

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/gp"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
)

// Features of very different spread are worth a hint, which recommends a pipeline; not
// where features are letters, places, counts or constant, or the kernel scales itself.
func TestHintsOfScale(t *testing.T) {
	said := func(fit *Fit) string {
		for _, hint := range fit.Hints() {
			if strings.Contains(hint, "The spread of") {
				return hint
			}
		}
		return ""
	}
	wine := datasets.Wine().OneVsRest("cultivar 2")
	for _, k := range []kernels.Kernel{nil, kernels.RBF(1e-4), kernels.Linear(), kernels.Laplacian(0.01), kernels.Sum(kernels.RBF(1e-4), kernels.Constant(1)), kernels.Normalised(kernels.Polynomial(2, 1e-6, 1))} {
		c := Classify(wine)
		if k != nil {
			c = c.Kernel(k)
		}
		if hint := said(testkit.FitOf(t, c.MaxIterations(50))); !strings.Contains(hint, "selection.Pipe(transform.Standardise()") || strings.Contains(hint, "Standardised()") {
			t.Errorf("%v: %q", k, hint)
		}
	}
	labels := make([]float64, 24)
	text := make([]string, len(labels))
	constant := make([][]float64, len(labels))
	matrix := make([][]float64, len(labels))
	for i := range labels {
		labels[i] = float64(i % 2)
		text[i] = strings.Repeat([]string{"ab", "ba"}[i%2], 1+i/2) + string(rune('c'+i))
		constant[i] = []float64{float64(i), 0.1, 1e17}
	}
	for i := range matrix {
		matrix[i] = make([]float64, len(labels))
		for j := range matrix[i] {
			matrix[i][j] = math.Exp(-math.Abs(float64(i-j))) * math.Exp(-float64(i+j))
		}
	}
	lengths := make([]float64, wine.D())
	for j := range lengths {
		lengths[j] = float64(1 + j)
	}
	for _, c := range []Classifier{
		Classify(datasets.New(kernels.Strings(60, text...), labels)).Kernel(kernels.Spectrum(2)),
		Classify(datasets.New(kernels.Strings(60, text...), labels)).Kernel(kernels.GapWeighted(2, 0.5)),
		Classify(datasets.New(kernels.Strings(60, text...), labels)).Kernel(kernels.Normalised(kernels.Spectrum(1))),
		Classify(datasets.New(kernels.Precomputed().Points(matrix), labels)).Kernel(kernels.Precomputed()),
		Classify(datasets.New(kernels.Precomputed().Points(matrix), labels)).Kernel(kernels.Scale(2, kernels.Precomputed())),
		Classify(datasets.New(constant, labels)).Kernel(kernels.RBF(1)),
		Classify(wine).Kernel(kernels.ChiSquared()),
		Classify(wine).Kernel(kernels.Intersection()),
		Classify(wine).Kernel(kernels.ARD(lengths...)),
		Classify(wine).Kernel(testkit.OwnKernel{Kernel: kernels.RBF(0.1)}),
		Classify(wine.Standardised()),
	} {
		fit, err := c.MaxIterations(200).Fit(context.Background())
		if err != nil {
			t.Fatalf("%v: %v", c, err)
		}
		if _, own := c.kernel.(testkit.OwnKernel); own {
			continue // has the text of another kernel, and is taken for it
		}
		if hint := said(fit); hint != "" {
			t.Errorf("%v: %s", c, hint)
		}
	}
	if d := deviation([][]float64{{1e300}, {-1e300}}, 0); math.Abs(d/1e300-1) > 1e-12 {
		t.Error("the spread of large values", d)
	}
}

// How a run ended is said in a sentence.
func TestHintsOfHowARunEnded(t *testing.T) {
	m := &machine{data: testkit.Measured(), kernel: kernels.ARD(1, 1, 1, 1, 1, 1, 1)}
	for status, want := range map[solvers.Status]string{
		solvers.IterationLimit: "reached its limit of iterations",
		solvers.TimeLimit:      "reached its limit of time",
		solvers.Exhausted:      "could take no further step",
	} {
		hints := m.hints(&solvers.Result{Status: status}, "C")
		if len(hints) != 1 || !strings.Contains(hints[0], want) || strings.Contains(hints[0], "ended by its") {
			t.Errorf("%v: %q", status, hints)
		}
	}
	if hints := m.hints(&solvers.Result{Status: solvers.Converged}, "C"); hints != nil {
		t.Error(hints)
	}
}

// A point of another length is said to be so in what it is made of.
func TestMessagesOfLength(t *testing.T) {
	p := kernels.Precomputed()
	matrix := [][]float64{{2, 0, 1, 0}, {0, 2, 0, 1}, {1, 0, 2, 0}, {0, 1, 0, 2}}
	places := testkit.FitOf(t, Classify(datasets.New(p.Points(matrix), []float64{0, 1, 0, 1})).Kernel(p))
	words := testkit.FitOf(t, Classify(datasets.New(kernels.Strings(6, "aba", "bcb", "abab", "cbcb"), []float64{0, 1, 0, 1})).Kernel(kernels.Spectrum(1)))
	one := testkit.FitOf(t, Classify(datasets.New([][]float64{{1}, {2}, {3}}, []float64{0, 1, 1})))
	process := gp.Regress(datasets.New(p.Points(matrix), []float64{1, 2, 3, 4})).Kernel(p).NoiseVariance(1).MustFit()
	for want, ask := range map[string]func() error{
		"the row has 3 kernel values, the classifier was trained on 4 points": func() error { _, err := places.Predict(datasets.Rows(p.NewPoints([][]float64{{1, 2, 3}}))); return err },
		"the row has 3 kernel values, the model was trained on 4 points": func() error {
			_, err := places.Model().Predict(datasets.Rows(p.NewPoints([][]float64{{1, 2, 3}})))
			return err
		},
		"the row has 4 values, and a point of Precomputed() is an index and": func() error { _, err := places.Predict(datasets.Rows(matrix)); return err },
		"svmnb: Predict: row 0: the point has 3 features":                    func() error { _, err := one.Predict(datasets.Rows{{1, 2, 3}}); return err },
		"the row has 1 kernel value, the process was trained on 4 points":    func() error { _, err := process.Predict(datasets.Rows(p.NewPoints([][]float64{{1}}))); return err },
		"Strings(": func() error { _, err := words.Predict(datasets.Rows(kernels.Strings(9, "ab"))); return err },
		"the point has 2 features, the classifier was trained on 1": func() error { _, err := one.Predict(datasets.Rows{{1, 2}}); return err },
		"the point has 1 feature, the step was":                     func() error { return steps.Wide("PCA", 0, []float64{1}, 2) },
	} {
		if err := ask(); !errors.As(err, new(*ArgumentError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

// A classifier of more than two classes is told how to learn them all, but not one of a class
// that is not there, nor one of real values.
func TestMessagesOfManyClasses(t *testing.T) {
	iris := datasets.Iris()
	for want, data := range map[string]*datasets.Dataset{
		"end the description with OneVsOne(), OneVsRest() or CrammerSinger()": iris,
		"the classes are setosa, versicolor, virginica":                       iris.Pair("setosa", "rose"),
		"real values are for regression":                                      datasets.Sinc(30, 0.1, 1),
	} {
		if _, err := Classify(data).Fit(context.Background()); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v; want %q at the end", err, want)
		}
	}
}

// Two classes have scores, also those of a calibrated fit, as the field says.
func TestScoresOfACalibratedFit(t *testing.T) {
	ctx := context.Background()
	moons := datasets.Moons(80, 0.3, 1)
	check := func(name string, e *Evaluation) {
		t.Helper()
		if len(e.Scores) != len(e.Truth) {
			t.Fatalf("%s: %d scores of %d points", name, len(e.Scores), len(e.Truth))
		}
		for i, p := range e.Probabilities {
			if e.Scores[i] != p[1] {
				t.Errorf("%s: score %v, probability %v", name, e.Scores[i], p[1])
			}
		}
		r, err := e.ROC()
		if err != nil || r.AUC < 0.7 {
			t.Errorf("%s: larger scores speak for the second class: %v, %v", name, r, err)
		}
	}
	for _, how := range []Calibration{Platt{}, Isotonic{}} {
		two, err := testkit.FitOf(t, Classify(moons)).Calibrate(ctx, how)
		if err != nil {
			t.Fatal(err)
		}
		check("two", two.HeldOut())
		e, err := two.Evaluate(moons)
		if err != nil {
			t.Fatal(err)
		}
		check("evaluated", e)
		for _, m := range []MultiClassifier{Classify(moons).OneVsOne(), Classify(moons).OneVsRest(), Classify(moons).CrammerSinger()} {
			c, err := testkit.FitOf(t, m).Calibrate(ctx, how)
			if err != nil {
				t.Fatal(err)
			}
			check(m.String(), c.HeldOut())
		}
	}
	iris, err := testkit.FitOf(t, Classify(datasets.Iris()).OneVsOne()).Calibrate(ctx, Platt{})
	if err != nil || iris.HeldOut().Scores != nil {
		t.Error("three classes have no scores", err)
	}
}

// A one-class machine has classes of its own; data of others are told how to be relabelled,
// and data that do as they are told are evaluated.
func TestOneClassSaysHowToRelabel(t *testing.T) {
	d := datasets.Moons(40, 0.1, 1)
	plain := datasets.New(d.X, d.Y) // targets of −1 and 1
	fit := testkit.FitOf(t, OneClass(plain).Nu(0.2))
	for name, ask := range map[string]func(*datasets.Dataset) error{
		"Evaluate": func(d *datasets.Dataset) error { _, err := fit.Evaluate(d); return err },
		"Accuracy": func(d *datasets.Dataset) error { _, err := fit.Accuracy(d); return err },
	} {
		if err := ask(plain); !errors.As(err, new(*ArgumentError)) || !strings.Contains(err.Error(), `Classes: []string{"outside", "inside"}`) {
			t.Errorf("%s: %v", name, err)
		}
		told := *plain
		told.Y = slices.Clone(plain.Y)
		for i := range told.Y {
			told.Y[i] = math.Copysign(1, float64(i%3)-0.5)
		}
		told.Classes = []string{"outside", "inside"}
		if err := ask(&told); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
