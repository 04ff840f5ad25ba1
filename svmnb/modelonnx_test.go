package svmnb

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
)

// Which operator each model becomes; "" where there is none.
func onnxOperator(name string, m *Model) string {
	_, _, known := onnxKernel(m.kernel)
	isotonic := strings.Contains(name, "isotonic")
	switch {
	case strings.Contains(name, "no code") || name == "linear process" || isotonic || !known || m.kind == restModel && m.machines[0].w == nil || m.kind == jointModel && (m.machines[0].w == nil || m.curves != nil):
		return ""
	case m.classes == nil && m.machines[0].w != nil:
		return "LinearRegressor"
	case m.classes == nil || m.kind == oneClassModel:
		return "SVMRegressor"
	case m.machines[0].w != nil && m.curves == nil && m.kind != votesModel:
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
	numbered := datasets.New(flowers().X, flowers().Y) // classes 0, 1, 2: labels that are numbers
	fit, err := Classify(numbered).Kernel(kernels.RBF(0.3)).OneVsOne().Fit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	names, _ := fit.Predict(numbered.X)
	values, _ := fit.Decisions(numbered.X)
	fits = append(slices.Clone(fits), modelled{"numbers", fit, numbered.X, values, names})
	for _, f := range fits {
		m := f.fit.Model()
		var out bytes.Buffer
		if err := m.WriteONNX(&out); (err == nil) != (onnxOperator(f.name, m) != "") {
			t.Errorf("%s: %v", f.name, err)
		} else if err != nil {
			if !errors.As(err, new(*ModelError)) || out.Len() > 0 {
				t.Errorf("%s: %v, want a *ModelError and nothing written", f.name, err)
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
		rows, err := m.Decisions(f.x)
		if err != nil {
			t.Fatal(err)
		}
		for p, row := range a.Scores {
			want := rows[p]
			switch {
			case m.kind == oneClassModel:
				want = []float64{float64(2*sideOf(rows[p][0]) - 1)}
				if math.Abs(rows[p][0]) < 1e-5 {
					continue // single precision may put a support vector on the other side
				}
			case m.curves != nil && m.kind == twoClassModel: // the positive class first
				want = []float64{f.values[p][1], f.values[p][0]}
			case m.curves != nil:
				want = f.values[p]
			case a.Op == "LinearClassifier" && len(rows[p]) == 1:
				want = []float64{-rows[p][0], rows[p][0]}
			}
			if !nearRows([][]float64{row}, [][]float64{want}, 2e-5) {
				t.Errorf("%s: point %d has %v, want %v", f.name, p, row, want)
				break
			}
		}
		if m.classes == nil || m.kind == oneClassModel {
			continue
		}
		plain := *m
		plain.curves = nil // the label is that of the decision values
		want, _ := plain.Predict(f.x)
		wrong := 0
		for p, name := range a.Y {
			nearest := math.Inf(1) // a value of the other sign in single precision is another vote
			for _, v := range rows[p] {
				nearest = min(nearest, math.Abs(v))
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
	_, sparse := thinned(20, 4, 2, 1)
	huge := &Model{kind: regressionModel, kernel: kernels.RBF(1), machines: []term{{coef: []float64{1e39}}}}
	huge.x, huge.d = written([][]float64{{1}}), 1
	for says, m := range map[string]*Model{
		"sparse":                   mustFit(t, Classify(sparse)).Model(),
		"beyond the largest":       huge,
		"no kernel Laplacian(0.5)": mustFit(t, Classify(datasets.Moons(20, 0.1, 1)).Kernel(kernels.Laplacian(0.5))).Model(),
	} {
		var out bytes.Buffer
		if err := m.WriteONNX(&out); !errors.As(err, new(*ModelError)) || !strings.Contains(err.Error(), says) || out.Len() > 0 {
			t.Errorf("%v; want %q", err, says)
		}
	}
	var out bytes.Buffer
	if err := mustFit(t, Classify(sparse).CoordinateDescent()).Model().WriteONNX(&out); err != nil || out.Len() == 0 {
		t.Error("a linear machine of sparse points has its weights", err)
	}
}
