package svmnb_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/model"
)

// agrees compares what a referee proves with an accurate fit, and returns how many proofs there
// are.
func agrees(t *testing.T, problem svmnb.Classifier, data *datasets.Dataset, entries ...svmnb.Entry) (r *svmnb.Refereed, proven int) {
	t.Helper()
	r, err := problem.Referee(t.Context(), entries...)
	if err != nil {
		t.Fatal(err)
	}
	truth, err := problem.Tol(1e-10).Fit(t.Context())
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
		optimum := truth.Certificate.Dual
		if v.Primal < optimum*(1-1e-9) || v.Bound > (optimum+truth.Certificate.Gap)*(1+1e-9) || v.Certain+v.Open+v.Different != data.N() {
			t.Errorf("%s: %v, and the optimum is %v", e.Name, v, optimum)
		}
	}
	return r, proven
}

// One machine in each format is judged alike, and every proof about a label is right.
func TestRefereeOfEachFormat(t *testing.T) {
	data := datasets.Moons(150, 0.3, 5)
	data.Classes = nil // LIBSVM's format names classes by their numbers
	problem := svmnb.Classify(data).Kernel(kernels.RBF(0.7)).C(3)
	rough := must(problem.Tol(0.05).Fit(t.Context()))
	entries := []svmnb.Entry{{Name: "fit", Model: rough}}
	read := func(name string, write func(*model.Model, *bytes.Buffer) error, read func(*bytes.Buffer) (*model.Model, error)) {
		var text bytes.Buffer
		if err := write(rough.Model(), &text); err != nil {
			t.Fatal(err)
		}
		m, err := read(&text)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, svmnb.Entry{Name: name, Model: m})
	}
	read("LIBSVM", func(m *model.Model, b *bytes.Buffer) error { return m.WriteLIBSVM(b) }, func(b *bytes.Buffer) (*model.Model, error) { return model.ReadLIBSVM(b, 2) })
	read("ONNX", func(m *model.Model, b *bytes.Buffer) error { return m.WriteONNX(b) }, func(b *bytes.Buffer) (*model.Model, error) { return model.ReadONNX(b) })
	entries = append(entries, svmnb.Entry{Name: "landmarks", Model: problem.Approximate(svmnb.Nystroem{Landmarks: 30}).MustFit()})
	r, proven := agrees(t, problem, data, entries...)
	if proven < 3*data.N() {
		t.Errorf("%d labels are proven", proven)
	}
	for _, v := range r.Verdicts[:3] {
		if math.Abs(v.Gap()-r.Verdicts[0].Gap()) > 1e-4*v.Primal || math.Abs(v.Violation-r.Verdicts[0].Violation) > 1e-3 {
			t.Errorf("%s has the gap %v and the violation %v, the fit itself %v and %v", v.Name, v.Gap(), v.Violation, r.Verdicts[0].Gap(), r.Verdicts[0].Violation)
		}
	}
	if c := rough.Certificate; math.Abs(r.Verdicts[0].Violation-c.MaxKKT) > 1e-6 {
		t.Errorf("violation %v, certificate %v", r.Verdicts[0].Violation, c.MaxKKT)
	}
	if text := r.Table().String(); !strings.Contains(text, "landmarks") {
		t.Errorf("%s", text)
	}
	if _, err := svmnb.GapByMachine.Of(r); err != nil {
		t.Error(err)
	}
	var page strings.Builder
	if err := display.HTML(&page, r); err != nil || !strings.Contains(page.String(), "nearest") {
		t.Errorf("%v", err)
	}
}

// Machines of svm-train and liblinear-train, where these are installed.
func TestRefereeOfOtherPrograms(t *testing.T) {
	data := datasets.Moons(200, 0.25, 6)
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	var text bytes.Buffer
	if err := data.WriteLIBSVM(&text); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(program string, args ...string) []byte {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
		if text, err := exec.Command(program, append(args, in, out)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		return must(os.ReadFile(out))
	}
	same := &datasets.Dataset{Name: data.Name, X: data.X, Y: data.Y} // the files name classes by their numbers
	m := must(model.ReadLIBSVM(bytes.NewReader(run("svm-train", "-q", "-g", "0.7", "-c", "3", "-e", "0.1")), 2))
	r, proven := agrees(t, svmnb.Classify(same).Kernel(kernels.RBF(0.7)).C(3), same, svmnb.Entry{Name: "svm-train", Model: m})
	if v := r.Verdicts[0]; proven < 100 || v.RelGap() > 0.05 || v.RelGap() < 1e-6 || !(v.Violation < 0.11) {
		t.Errorf("svm-train: %d labels are proven, %+v", proven, v)
	}
	linear := must(model.ReadLIBLINEAR(bytes.NewReader(run("liblinear-train", "-q", "-s", "3", "-B", "1", "-c", "3"))))
	r, proven = agrees(t, svmnb.Classify(same).Kernel(kernels.Linear()).C(3).Augment(1), same, svmnb.Entry{Name: "liblinear-train", Model: linear})
	if v := r.Verdicts[0]; proven < 100 || v.RelGap() > 0.05 || !math.IsNaN(v.Violation) || len(r.Verdicts) != 2 {
		t.Errorf("liblinear-train: %d labels are proven, %+v", proven, r.Verdicts)
	}
}

// Equal points of both classes are told apart by their labels.
func TestRefereeOfEqualPoints(t *testing.T) {
	base := datasets.Moons(60, 0.3, 7)
	x, y := slices.Concat(base.X, base.X, base.X), slices.Concat(base.Y, base.Y, base.Y)
	for i := range 10 {
		y[i] = -y[i]
	}
	data := datasets.New(x, y)
	problem := svmnb.Classify(data).Kernel(kernels.RBF(1)).C(2)
	fit := problem.MustFit()
	r, _ := agrees(t, problem, data, svmnb.Entry{Name: "fit", Model: fit})
	if v := r.Verdicts[0]; math.IsNaN(v.Dual) || math.Abs(v.Gap()-fit.Certificate.Gap) > 1e-3*v.Primal {
		t.Errorf("%+v, certificate %+v", v, fit.Certificate)
	}
}

// A machine that is none of the problem is refused.
func TestRefereeErrors(t *testing.T) {
	data := datasets.Moons(50, 0.2, 4)
	problem := svmnb.Classify(data).Kernel(kernels.RBF(1))
	other := datasets.New(data.X, slices.Clone(data.Y))
	for i := range other.Y {
		other.Y[i] += 7
	}
	for want, entry := range map[string]svmnb.Entry{
		"the model is nil":     {Name: "a"},
		"the kernel of":        {Name: "a", Model: problem.Kernel(kernels.RBF(2)).MustFit()},
		"has 4 features":       {Name: "a", Model: svmnb.Classify(datasets.Iris().Pair("setosa", "virginica")).MustFit()},
		"machines of two":      {Name: "a", Model: svmnb.Regress(data).MustFit()},
		"classes of the model": {Name: "a", Model: svmnb.Classify(other).Kernel(kernels.RBF(1)).MustFit()},
	} {
		if _, err := problem.Referee(t.Context(), entry); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := problem.Referee(t.Context()); err == nil {
		t.Error("no machine is judged")
	}
	if _, err := problem.HardMargin().Referee(t.Context(), svmnb.Entry{Name: "a", Model: problem.MustFit()}); err == nil {
		t.Error("a hard margin is judged")
	}
}

func ExampleClassifier_Referee() {
	data := datasets.Moons(200, 0.2, 1)
	problem := svmnb.Classify(data).Kernel(kernels.RBF(0.5)).C(10)
	r, err := problem.Referee(context.Background(),
		svmnb.Entry{Name: "rough", Model: problem.Tol(0.1).MustFit()}, svmnb.Entry{Name: "usual", Model: problem.MustFit()})
	if err != nil {
		panic(err)
	}
	fmt.Println("the usual one is nearer:", r.Verdicts[1].Gap() < r.Verdicts[0].Gap())
	// Output:
	// the usual one is nearer: true
}
