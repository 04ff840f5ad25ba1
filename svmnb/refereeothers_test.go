package svmnb_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/model"
)

// fitsValues compares what a referee says of regressions with an accurate fit.
func fitsValues(t *testing.T, problem svmnb.Regressor, data *datasets.Dataset, unit float64, entries ...svmnb.Entry) *svmnb.Refereed {
	t.Helper()
	r, err := problem.Referee(t.Context(), entries...)
	if err != nil {
		t.Fatalf("%v: %v", problem, err)
	}
	truth, err := problem.Tol(1e-9 * unit).Fit(t.Context())
	if truth == nil {
		t.Fatal(err)
	}
	right, _ := truth.Predict(data)
	lower, upper, _ := truth.Bounds(data)
	c := truth.Certificate
	for k, e := range entries {
		v := r.Verdicts[k]
		values := must(e.Model.Model().Values(data))
		for i, f := range values {
			if room := max(right[i]-lower[i], upper[i]-right[i]); math.Abs(f-right[i]) > v.Off+room+1e-9*unit {
				t.Errorf("%s: value %d is %v from that of the optimum, and at most %v by the verdict", e.Name, i, math.Abs(f-right[i]), v.Off)
				break
			}
		}
		if off := 1e-8 * c.Primal; v.Primal < c.Dual-off || v.Bound > c.Primal+off || !(v.Off > 0) || math.IsInf(v.Off, 1) || v.Proof != nil {
			t.Errorf("%v, %s: %+v, and the optimum is %v", problem, e.Name, v, c.Dual)
		}
	}
	return r
}

// readAgain returns a model as a format has it.
func readAgain(t *testing.T, m *model.Model, write func(m *model.Model, w io.Writer) error, read func(r io.Reader) (*model.Model, error)) *model.Model {
	t.Helper()
	var text bytes.Buffer
	if err := write(m, &text); err != nil {
		t.Fatal(err)
	}
	return must(read(&text))
}

func libsvmOf(d int) func(r io.Reader) (*model.Model, error) {
	return func(r io.Reader) (*model.Model, error) { return model.ReadLIBSVM(r, d) }
}

// A regression of each loss is judged as its certificate judges it, from every format, and the
// bounds of its values hold, also with equal points and with a fixed bias.
func TestRefereeOfRegressions(t *testing.T) {
	for trial := range problems(2) {
		rng := rand.New(rand.NewPCG(uint64(trial), 81))
		data := datasets.Sinc(120, 0.2, uint64(trial))
		unit := math.Pow(10, 2*rng.Float64()-1)
		near := 1e-3 * unit
		if trial%2 == 1 { // equal points with other targets, whose coefficients a file does not tell apart
			for i := range 15 {
				data.X[i+20] = data.X[i+50]
			}
			near = 0.06 * unit
		}
		for i := range data.Y {
			data.Y[i] *= unit
		}
		for _, loss := range losses {
			for _, change := range []func(r svmnb.Regressor) svmnb.Regressor{
				func(r svmnb.Regressor) svmnb.Regressor { return r }, func(r svmnb.Regressor) svmnb.Regressor { return r.Augment(2) },
				func(r svmnb.Regressor) svmnb.Regressor { return r.FixedBias(0.1 * unit) },
			} {
				problem := change(loss.of(svmnb.Regress(data).Kernel(kernels.RBF(0.7)).C(3), unit))
				rough := must(problem.Tol(0.05 * unit).Fit(t.Context()))
				entries := []svmnb.Entry{{Name: "fit", Model: rough},
					{Name: "LIBSVM", Model: readAgain(t, rough.Model(), (*model.Model).WriteLIBSVM, libsvmOf(1))},
					{Name: "ONNX", Model: readAgain(t, rough.Model(), (*model.Model).WriteONNX, model.ReadONNX)}}
				r := fitsValues(t, problem, data, unit, entries...)
				for _, v := range r.Verdicts {
					// The bias of the fit is not quite that of its primal, equal points share
					// their coefficients better than the fit does, and a multiple of α may be better.
					c, first := rough.Certificate, r.Verdicts[0]
					if v.Primal < c.Primal*(1-1e-4) || v.Primal > c.Primal*1.02 || v.Dual < c.Dual-1e-4*c.Primal || v.Violation > c.MaxKKT+max(near, 0.02*unit) {
						t.Errorf("%v, %s: %+v, the certificate is %+v", problem, v.Name, v, c)
					}
					if math.Abs(v.Primal-first.Primal) > 1e-4*c.Primal || math.Abs(v.Dual-first.Dual) > 1e-4*c.Primal || math.Abs(v.Violation-first.Violation) > near {
						t.Errorf("%v: %+v, the fit itself %+v", problem, v, first)
					}
				}
				if text := r.Table().String(); !strings.Contains(text, "a value could change by") || strings.Contains(text, "labels") {
					t.Errorf("%s", text)
				}
				chart, err := svmnb.GapByMachine.Of(r)
				if err != nil {
					t.Fatal(err)
				}
				var page strings.Builder
				if err := display.HTML(&page, chart); err != nil || !strings.Contains(page.String(), "of the optimum's") {
					t.Errorf("the figure says nothing of values, %v", err)
				}
			}
		}
	}
}

// proves compares what a referee proves of several classes with an accurate fit, and returns how
// many proofs there are.
func proves(t *testing.T, problem, accurate svmnb.MultiClassifier, data *datasets.Dataset, entries ...svmnb.Entry) (r *svmnb.Refereed, proven int) {
	t.Helper()
	r, err := problem.Referee(t.Context(), entries...)
	if err != nil {
		t.Fatalf("%v: %v", problem, err)
	}
	truth, err := accurate.Fit(t.Context())
	if truth == nil {
		t.Fatal(err)
	}
	right, _ := truth.Predict(data)
	for k, e := range entries {
		v := r.Verdicts[k]
		names, _ := e.Model.Model().Predict(data)
		for i, proof := range v.Proof {
			if proof != 0 {
				if proven++; (names[i] == right[i]) != (proof > 0) {
					t.Errorf("%s: the proof of label %d is wrong", e.Name, i)
				}
			}
		}
		primal, bound := 0.0, 0.0
		for m, one := range v.Machines {
			c := truth.Machines()[m].Certificate
			if off := 1e-8 * c.Primal; one.Primal < c.Dual-off || one.Bound > c.Primal+off {
				t.Errorf("%s, %s: %+v, and the optimum is %v", e.Name, one.Name, one, c.Dual)
			}
			primal, bound = primal+one.Primal, bound+one.Bound
		}
		if len(v.Machines) != len(truth.Machines()) || v.Primal != primal || v.Bound != bound || v.Certain+v.Open+v.Different != data.N() {
			t.Errorf("%s: %+v", e.Name, v)
		}
	}
	return r, proven
}

// Machines of both schemes and in each format are judged alike, and every proof about a label is
// right.
func TestRefereeOfClasses(t *testing.T) {
	data := datasets.Blobs(150, 3, 2, 5)
	data.Classes = nil // LIBSVM's format names classes by their numbers
	base := svmnb.Classify(data).Kernel(kernels.RBF(0.4)).C(3)
	for scheme, problem := range schemesOf(base) {
		rough := schemesOf(base.Tol(0.05))[scheme].MustFit()
		entries := []svmnb.Entry{{Name: "fit", Model: rough}, {Name: "landmarks", Model: problem.Approximate(svmnb.Nystroem{Landmarks: 15}).MustFit()}}
		if scheme == 0 {
			entries = append(entries,
				svmnb.Entry{Name: "LIBSVM", Model: readAgain(t, rough.Model(), (*model.Model).WriteLIBSVM, libsvmOf(2))},
				svmnb.Entry{Name: "ONNX", Model: readAgain(t, rough.Model(), (*model.Model).WriteONNX, model.ReadONNX)})
		}
		r, proven := proves(t, problem, schemesOf(base.Tol(1e-9))[scheme], data, entries...)
		if proven < data.N() {
			t.Errorf("%d labels are proven", proven)
		}
		c := rough.Certificate()
		for k, v := range r.Verdicts {
			if k != 1 && (math.Abs(v.Gap()-c.Gap) > 1e-3*c.Primal || math.Abs(v.Violation-c.MaxKKT) > 1e-3) {
				t.Errorf("%s has the gap %v and the violation %v, the fit itself %v and %v", v.Name, v.Gap(), v.Violation, c.Gap, c.MaxKKT)
			}
		}
		if text := r.Table().String(); !strings.Contains(text, "fit: class 0 against") {
			t.Errorf("%s", text)
		}
		chart, err := svmnb.GapByMachine.Of(r)
		if err != nil {
			t.Fatal(err)
		}
		var page strings.Builder
		if err := display.HTML(&page, r, chart); err != nil || !strings.Contains(page.String(), "labels not proven") || regexp.MustCompile(`class \d is nearest`).MatchString(page.String()) {
			t.Errorf("the title is about a part of the machines, %v", err)
		}
	}
	// Weights of points, which a file does not have, are those of the description.
	heavy := base.Balanced().OneVsRest()
	if r, _ := proves(t, heavy, base.Balanced().Tol(1e-9).OneVsRest(), data, svmnb.Entry{Name: "fit", Model: heavy.MustFit()}); r.Verdicts[0].RelGap() > 0.01 {
		t.Errorf("%+v", r.Verdicts[0])
	}
}

// written writes data in LIBSVM's format, trains a model by a program, and returns what it wrote.
func written(t *testing.T, data *datasets.Dataset, program string, args ...string) []byte {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s is not installed", program)
	}
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	var text bytes.Buffer
	if err := data.WriteLIBSVM(&text); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command(program, append(args, in, out)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return must(os.ReadFile(out))
}

// Regressions of svm-train and liblinear-train, where these are installed.
func TestRefereeOfRegressionsOfOtherPrograms(t *testing.T) {
	data := datasets.Sinc(150, 0.2, 6)
	t.Run("svm-train", func(t *testing.T) {
		m := must(model.ReadLIBSVM(bytes.NewReader(written(t, data, "svm-train", "-q", "-s", "3", "-g", "0.7", "-c", "3", "-p", "0.1", "-e", "0.1")), 1))
		r := fitsValues(t, svmnb.Regress(data).Kernel(kernels.RBF(0.7)).C(3).Epsilon(0.1), data, 1, svmnb.Entry{Name: "svm-train", Model: m})
		if v := r.Verdicts[0]; len(r.Verdicts) != 1 || v.RelGap() > 0.1 || v.RelGap() < 1e-6 || !(v.Violation < 0.11) {
			t.Errorf("%+v", r.Verdicts)
		}
	})
	for solver, of := range map[string]func(r svmnb.Regressor) svmnb.Regressor{
		"11": func(r svmnb.Regressor) svmnb.Regressor { return r.QuadraticLoss().C(6) }, "12": func(r svmnb.Regressor) svmnb.Regressor { return r.QuadraticLoss().C(6) },
		"13": func(r svmnb.Regressor) svmnb.Regressor { return r.C(3) },
	} {
		t.Run("liblinear-train -s "+solver, func(t *testing.T) {
			m := must(model.ReadLIBLINEAR(bytes.NewReader(written(t, data, "liblinear-train", "-q", "-s", solver, "-B", "1", "-c", "3", "-p", "0.1"))))
			problem := of(svmnb.Regress(data).Kernel(kernels.Linear()).Epsilon(0.1).Augment(1))
			r := fitsValues(t, problem, data, 1, svmnb.Entry{Name: "liblinear-train", Model: m})
			if v := r.Verdicts[0]; v.RelGap() > 0.05 || !math.IsNaN(v.Violation) || len(r.Verdicts) != 2 || !(r.Verdicts[1].RelGap() < 1e-5) {
				t.Errorf("%+v", r.Verdicts)
			}
		})
	}
}

// Machines of several classes of svm-train and liblinear-train, where these are installed.
func TestRefereeOfClassesOfOtherPrograms(t *testing.T) {
	iris := datasets.Iris()
	data := &datasets.Dataset{Name: iris.Name, X: iris.X, Y: iris.Y} // the files name classes by their numbers
	t.Run("svm-train", func(t *testing.T) {
		m := must(model.ReadLIBSVM(bytes.NewReader(written(t, data, "svm-train", "-q", "-g", "0.3", "-c", "3", "-e", "0.1")), 4))
		base := svmnb.Classify(data).Kernel(kernels.RBF(0.3)).C(3)
		r, proven := proves(t, base.OneVsOne(), base.Tol(1e-9).OneVsOne(), data, svmnb.Entry{Name: "svm-train", Model: m})
		if v := r.Verdicts[0]; len(r.Verdicts) != 1 || proven < 100 || v.RelGap() > 0.05 || v.RelGap() < 1e-6 || !(v.Violation < 0.11) {
			t.Errorf("%d labels are proven, %+v", proven, r.Verdicts)
		}
	})
	t.Run("liblinear-train", func(t *testing.T) {
		m := must(model.ReadLIBLINEAR(bytes.NewReader(written(t, data, "liblinear-train", "-q", "-s", "3", "-B", "1", "-c", "3"))))
		base := svmnb.Classify(data).Kernel(kernels.Linear()).C(3).Augment(1)
		r, proven := proves(t, base.OneVsRest(), base.Tol(1e-9).OneVsRest(), data, svmnb.Entry{Name: "liblinear-train", Model: m})
		if v := r.Verdicts[0]; len(r.Verdicts) != 2 || proven < 75 || v.RelGap() > 0.1 || !math.IsNaN(v.Violation) {
			t.Errorf("%d labels are proven, %+v", proven, r.Verdicts)
		}
	})
}

// Machines of scikit-learn, as JSON and by skl2onnx, where these are installed.
func TestRefereeOfScikitLearn(t *testing.T) {
	python := ""
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(name, "-c", "import sklearn").Run() == nil {
			python = name
			break
		}
	}
	if python == "" {
		t.Skip("no python3 has scikit-learn (Debian: python3-sklearn)")
	}
	iris, sinc := datasets.Iris(), datasets.Sinc(150, 0.2, 6)
	single := func(x [][]float64) [][]float64 { // as ONNX keeps them
		out := make([][]float64, len(x))
		for i, row := range x {
			for _, v := range row {
				out[i] = append(out[i], float64(float32(v)))
			}
		}
		return out
	}
	flowers := &datasets.Dataset{Name: iris.Name, X: single(iris.X), Y: iris.Y}
	curve := &datasets.Dataset{Name: sinc.Name, X: single(sinc.X), Y: sinc.Y}
	dir := t.TempDir()
	in := filepath.Join(dir, "in.json")
	if err := os.WriteFile(in, must(json.Marshal(map[string]any{"x": flowers.X, "y": flowers.Y, "u": curve.X, "v": curve.Y})), 0o600); err != nil {
		t.Fatal(err)
	}
	const script = `
import json, sys
import numpy as np
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR
d = {k: np.array(v) for k, v in json.load(open(sys.argv[1])).items()}
out = {}
def attributes(m, names):
    of = {n: np.asarray(getattr(m, n)).tolist() for n in names}
    return of
kernel = ["support_vectors_", "n_support_", "dual_coef_", "intercept_"]
y = d["y"].astype(int)
svc = SVC(C=3, gamma=0.3, tol=0.05).fit(d["x"], y)
out["SVC"] = dict(attributes(svc, kernel + ["classes_"]), kernel="rbf", gamma=0.3)
svr = SVR(C=3, gamma=0.7, epsilon=0.1, tol=0.05).fit(d["u"], d["v"])
out["SVR"] = dict(attributes(svr, kernel), kernel="rbf", gamma=0.7)
m = LinearSVC(C=3, loss="hinge", dual=True, max_iter=100000).fit(d["x"], y)
out["LinearSVC"] = attributes(m, ["coef_", "intercept_", "classes_"])
m = LinearSVR(C=3, epsilon=0.1, dual=True, max_iter=100000).fit(d["u"], d["v"])
out["LinearSVR"] = {"coef_": m.coef_.reshape(1, -1).tolist(), "intercept_": np.atleast_1d(m.intercept_).tolist()}
try:
    from skl2onnx import to_onnx
    for name, m, x in [("SVC", svc, d["x"]), ("SVR", svr, d["u"])]:
        out[name + " onnx"] = list(to_onnx(m, x[:1].astype(np.float32)).SerializeToString())
except ImportError:
    pass
json.dump(out, open(sys.argv[2], "w"))
`
	out := filepath.Join(dir, "out.json")
	if text, err := exec.Command(python, "-c", script, in, out).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	var made map[string]json.RawMessage
	if err := json.Unmarshal(must(os.ReadFile(out)), &made); err != nil {
		t.Fatal(err)
	}
	of := func(name string) []svmnb.Entry {
		entries := []svmnb.Entry{{Name: name, Model: must(model.ReadScikitLearn(bytes.NewReader(made[name])))}}
		if list := made[name+" onnx"]; list != nil {
			var numbers []int
			if err := json.Unmarshal(list, &numbers); err != nil {
				t.Fatal(err)
			}
			graph := make([]byte, len(numbers))
			for i, v := range numbers {
				graph[i] = byte(v)
			}
			entries = append(entries, svmnb.Entry{Name: "skl2onnx", Model: must(model.ReadONNX(bytes.NewReader(graph)))})
		} else {
			t.Logf("no skl2onnx for %s", name)
		}
		return entries
	}
	radial := svmnb.Classify(flowers).Kernel(kernels.RBF(0.3)).C(3)
	r, proven := proves(t, radial.OneVsOne(), radial.Tol(1e-9).OneVsOne(), flowers, of("SVC")...)
	for _, v := range r.Verdicts {
		if proven < 100*len(r.Verdicts) || v.RelGap() > 0.05 || !(v.Violation < 0.06) {
			t.Errorf("%d labels are proven, %+v", proven, v)
		}
	}
	for _, v := range fitsValues(t, svmnb.Regress(curve).Kernel(kernels.RBF(0.7)).C(3).Epsilon(0.1), curve, 1, of("SVR")...).Verdicts {
		if v.RelGap() > 0.1 || !(v.Violation < 0.06) {
			t.Errorf("%+v", v)
		}
	}
	linear := svmnb.Classify(flowers).Kernel(kernels.Linear()).C(3).Augment(1)
	if r, proven := proves(t, linear.OneVsRest(), linear.Tol(1e-9).OneVsRest(), flowers, of("LinearSVC")...); proven < 75 || len(r.Verdicts) != 2 {
		t.Errorf("%d labels are proven, %+v", proven, r.Verdicts)
	}
	if r := fitsValues(t, svmnb.Regress(curve).Kernel(kernels.Linear()).C(3).Epsilon(0.1).Augment(1), curve, 1, of("LinearSVR")...); r.Verdicts[0].RelGap() > 0.05 {
		t.Errorf("%+v", r.Verdicts[0])
	}
}

// A machine that is none of the problem is refused.
func TestRefereeOfOthersErrors(t *testing.T) {
	iris, sinc := datasets.Iris(), datasets.Sinc(50, 0.1, 1)
	classes := svmnb.Classify(iris).Kernel(kernels.RBF(0.3))
	two := svmnb.Classify(iris.Pair("setosa", "virginica")).Kernel(kernels.RBF(0.3)).MustFit()
	real := svmnb.Regress(sinc).Kernel(kernels.RBF(1))
	entry := func(m model.Modeler) svmnb.Entry { return svmnb.Entry{Name: "a", Model: m} }
	for want, call := range map[string]func() (*svmnb.Refereed, error){
		"with 3": func() (*svmnb.Refereed, error) { return classes.OneVsOne().Referee(t.Context(), entry(two)) },
		"the problem is one again": func() (*svmnb.Refereed, error) {
			return classes.OneVsOne().Referee(t.Context(), entry(classes.OneVsRest().MustFit()))
		},
		"say OneVsOne() or": func() (*svmnb.Refereed, error) { return classes.CrammerSinger().Referee(t.Context(), entry(two)) },
		"leave HardMargin": func() (*svmnb.Refereed, error) {
			return classes.HardMargin().OneVsOne().Referee(t.Context(), entry(classes.OneVsOne().MustFit()))
		},
		"no machine to judge":   func() (*svmnb.Refereed, error) { return classes.OneVsOne().Referee(t.Context()) },
		"judges regressions":    func() (*svmnb.Refereed, error) { return svmnb.Regress(iris).Referee(t.Context(), entry(two)) },
		"there is no machine":   func() (*svmnb.Refereed, error) { return real.Referee(t.Context()) },
		"that was found by Eps": func() (*svmnb.Refereed, error) { return real.Nu(0.5).Referee(t.Context(), entry(real.MustFit())) },
		"the kernel of the model": func() (*svmnb.Refereed, error) {
			return real.Referee(t.Context(), entry(real.Kernel(kernels.RBF(2)).MustFit()))
		},
		"the model is nil": func() (*svmnb.Refereed, error) { return real.Referee(t.Context(), svmnb.Entry{Name: "a"}) },
	} {
		if _, err := call(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func ExampleRegressor_Referee() {
	problem := svmnb.Regress(datasets.Sinc(100, 0.1, 1)).Kernel(kernels.RBF(0.5)).C(10)
	r, err := problem.Referee(context.Background(),
		svmnb.Entry{Name: "rough", Model: problem.Tol(0.1).MustFit()}, svmnb.Entry{Name: "usual", Model: problem.MustFit()})
	if err != nil {
		panic(err)
	}
	fmt.Println("the values of the usual one are nearer:", r.Verdicts[1].Off < r.Verdicts[0].Off)
	// Output: the values of the usual one are nearer: true
}

func ExampleMultiClassifier_Referee() {
	base := svmnb.Classify(datasets.Iris()).Kernel(kernels.RBF(0.3)).C(3)
	r, err := base.OneVsOne().Referee(context.Background(),
		svmnb.Entry{Name: "rough", Model: base.Tol(0.3).OneVsOne().MustFit()}, svmnb.Entry{Name: "usual", Model: base.OneVsOne().MustFit()})
	if err != nil {
		panic(err)
	}
	for k, usual := range r.Verdicts[1].Machines {
		fmt.Printf("%s: the usual one is nearer, %v\n", usual.Name, usual.Gap() < r.Verdicts[0].Machines[k].Gap())
	}
	// Output:
	// setosa against versicolor: the usual one is nearer, true
	// setosa against virginica: the usual one is nearer, true
	// versicolor against virginica: the usual one is nearer, true
}
