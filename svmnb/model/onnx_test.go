package model_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"github.com/svmnb/svmnb/svmnb/model"
)

// Which operator each model becomes; "" where there is none.
func onnxOperator(name string, m *model.Model) string {
	_, _, known := model.HasONNXKernel(m.Inside().Kernel)
	isotonic := strings.Contains(name, "isotonic")
	switch {
	case strings.Contains(name, "no code") || name == "linear process" || isotonic || !known || m.Inside().Kind == machines.RestKind && m.Inside().Terms[0].W == nil || m.Inside().Kind == machines.JointKind && (m.Inside().Terms[0].W == nil || m.Inside().Curves != nil):
		return ""
	case m.Inside().Classes == nil && m.Inside().Terms[0].W != nil:
		return "LinearRegressor"
	case m.Inside().Classes == nil || m.Inside().Kind == machines.OneClassKind:
		return "SVMRegressor"
	case m.Inside().Terms[0].W != nil && m.Inside().Curves == nil && m.Inside().Kind != machines.VotesKind:
		return "LinearClassifier"
	}
	return "SVMClassifier"
}

// TestONNX holds models to Debian's python3-onnx, which parses and checks the graphs,
// and to testdata/onnx_predict.py, which predicts by the operators' text.
func TestONNX(t *testing.T) {
	const python = "/usr/bin/python3"
	if exec.Command(python, "-c", "import onnx, numpy").Run() != nil {
		t.Skip("no onnx for /usr/bin/python3 (Debian: python3-onnx)")
	}
	type question struct {
		Model []byte
		X     [][]any
	}
	type answer struct {
		Op      string
		Y       []string
		Scores  [][]float64
		Outputs []string
	}
	var asked []question
	var models []modelled
	fits := modelledFits()
	numbered := datasets.New(testkit.Flowers().X, testkit.Flowers().Y) // classes 0, 1, 2: labels that are numbers
	fit, err := svmnb.Classify(numbered).Kernel(kernels.RBF(0.3)).OneVsOne().Fit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	names, _ := fit.Predict(datasets.Rows(numbered.X))
	values, _ := fit.Decisions(datasets.Rows(numbered.X))
	fits = append(slices.Clone(fits), modelled{"numbers", fit, numbered.X, values, names})
	for _, f := range fits {
		m := f.fit.Model()
		var out bytes.Buffer
		if err := m.WriteONNX(&out); (err == nil) != (onnxOperator(f.name, m) != "") {
			t.Errorf("%s: %v", f.name, err)
		} else if err != nil {
			if !errors.As(err, new(*model.Error)) || out.Len() > 0 {
				t.Errorf("%s: %v, want a *Error and nothing written", f.name, err)
			}
			continue
		}
		asked, models = append(asked, question{out.Bytes(), withGaps(f.x)}), append(models, f)
	}
	in, err := json.Marshal(asked)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "testdata/onnx_predict.py")
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), &stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	var answers []answer
	if err := json.Unmarshal(text, &answers); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for i, a := range answers {
		f := models[i]
		m := f.fit.Model()
		seen[a.Op]++
		if want := onnxOperator(f.name, m); a.Op != want {
			t.Errorf("%s: %s, want %s", f.name, a.Op, want)
		}
		rows, err := m.Decisions(datasets.Rows(f.x))
		if err != nil {
			t.Fatal(err)
		}
		rows = signed(m, rows)
		for p, row := range a.Scores {
			want := rows[p]
			switch {
			case m.Inside().Kind == machines.OneClassKind:
				want = []float64{float64(2*machines.SideOf(rows[p][0]) - 1)}
				if math.Abs(rows[p][0]) < 1e-5 {
					continue // single precision may put a support vector on the other side
				}
			case m.Inside().Curves != nil && m.Inside().Kind == machines.TwoClassKind: // the positive class first
				want = []float64{f.values[p][1], f.values[p][0]}
			case m.Inside().Curves != nil:
				want = f.values[p]
			case a.Op == "LinearClassifier" && len(rows[p]) == 1:
				want = []float64{-rows[p][0], rows[p][0]}
			}
			if !testkit.NearRows([][]float64{row}, [][]float64{want}, 2e-5) {
				t.Errorf("%s: point %d has %v, want %v", f.name, p, row, want)
				break
			}
		}
		if m.Inside().Classes == nil || m.Inside().Kind == machines.OneClassKind {
			continue
		}
		plain := *m
		plain.Inside().Curves = nil // the label is that of the decision values
		want, _ := plain.Predict(datasets.Rows(f.x))
		if m.Inside().Threshold != nil {
			want = f.names // or that of the threshold
		}
		wrong := 0
		for p, name := range a.Y {
			nearest := math.Inf(1) // a value of the other sign in single precision is another vote
			for _, v := range rows[p] {
				nearest = min(nearest, math.Abs(v))
			}
			if threshold := m.Inside().Threshold; threshold != nil && m.Inside().Curves != nil {
				nearest = math.Abs(f.values[p][1] - *threshold)
			}
			if name != want[p] && nearest > 1e-5 {
				wrong++
			}
		}
		if wrong > 0 || len(a.Y) != len(want) {
			t.Errorf("%s: %d of %d labels are others", f.name, wrong, len(want))
		}
	}
	for _, op := range []string{"SVMClassifier", "SVMRegressor", "LinearClassifier", "LinearRegressor"} {
		if seen[op] < 1 {
			t.Errorf("no %s among %v", op, seen)
		}
	}
}

// withGaps writes NaN, which JSON has not, as null.
func withGaps(x [][]float64) [][]any {
	out := make([][]any, len(x))
	for i, row := range x {
		for _, v := range row {
			if math.IsNaN(v) {
				out[i] = append(out[i], nil)
			} else {
				out[i] = append(out[i], v)
			}
		}
	}
	return out
}

func TestONNXRefuses(t *testing.T) {
	_, sparse := testkit.Thinned(20, 4, 2, 1)
	huge := model.Made(machines.Machines{Kind: machines.RegressionKind, Kernel: kernels.RBF(1), Terms: []machines.Term{{Coef: []float64{1e39}}}})
	huge.Inside().Expansion.X, huge.Inside().Expansion.D = points.Rows([][]float64{{1}}), 1
	for says, m := range map[string]*model.Model{
		"sparse":                   testkit.FitOf(t, svmnb.Classify(sparse)).Model(),
		"beyond the largest":       huge,
		"no kernel Laplacian(0.5)": testkit.FitOf(t, svmnb.Classify(datasets.Moons(20, 0.1, 1)).Kernel(kernels.Laplacian(0.5))).Model(),
	} {
		var out bytes.Buffer
		if err := m.WriteONNX(&out); !errors.As(err, new(*model.Error)) || !strings.Contains(err.Error(), says) || out.Len() > 0 {
			t.Errorf("%v; want %q", err, says)
		}
	}
	var out bytes.Buffer
	if err := testkit.FitOf(t, svmnb.Classify(sparse).CoordinateDescent()).Model().WriteONNX(&out); err != nil || out.Len() == 0 {
		t.Error("a linear machine of sparse points has its weights", err)
	}
}
