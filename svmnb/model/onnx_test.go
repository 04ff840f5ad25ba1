package model_test

import (
	"bytes"
	"encoding/json"
	"errors"
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
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"github.com/svmnb/svmnb/svmnb/model"
	"github.com/svmnb/svmnb/svmnb/selection"
	"github.com/svmnb/svmnb/svmnb/transform"
)

// Which operator each model becomes; "" where there is none.
func onnxOperator(name string, m *model.Model) string {
	_, _, known := model.HasONNXKernel(m.Inside().Kernel)
	isotonic := strings.Contains(name, "isotonic")
	switch {
	case strings.Contains(name, "no nodes") || name == "linear process" || isotonic || !known || m.Inside().Kind == machines.RestKind && m.Inside().Terms[0].W == nil || m.Inside().Kind == machines.JointKind && (m.Inside().Terms[0].W == nil || m.Inside().Curves != nil):
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

// onnxCase is a graph, with what it has to answer.
type onnxCase struct {
	name  string
	m     *model.Model
	graph []byte
	x     [][]any          // points, or
	rows  map[string][]any // columns of a table by the names of inputs

	decisions, scores [][]float64 // as the graph has them
	names             []string
	ties              []float64 // how far each decision is from another label
}

type onnxAnswer struct {
	Op      string
	Y       []string
	Scores  [][]*float64
	Outputs []string
}

// onnxCases are all models for which there are nodes.
func onnxCases(t *testing.T) (cases []onnxCase) {
	add := func(name string, m *model.Model, points datasets.Points, refused bool) {
		t.Helper()
		c := onnxCase{name: name, m: m}
		var out bytes.Buffer
		if err := m.WriteONNX(&out); (err != nil) != refused {
			t.Errorf("%s: %v", name, err)
			return
		} else if err != nil {
			if !errors.As(err, new(*model.Error)) || out.Len() > 0 {
				t.Errorf("%s: %v, want a *Error and nothing written", name, err)
			}
			return
		}
		c.graph = out.Bytes()
		if table, ok := points.(*datasets.Table); ok {
			c.rows = onnxColumns(table)
		} else {
			x, _ := points.Unpack()
			c.x = withGaps(x)
		}
		c.answer(t, points)
		cases = append(cases, c)
	}
	for _, f := range modelledFits() {
		m := f.fit.Model()
		add(f.name, m, datasets.Rows(f.x), onnxOperator(f.name, m) == "")
	}
	numbered := datasets.New(testkit.Flowers().X, testkit.Flowers().Y) // classes 0, 1, 2: labels that are numbers
	add("numbers", testkit.FitOf(t, svmnb.Classify(numbered).Kernel(kernels.RBF(0.3)).OneVsOne()).Model(), datasets.Rows(numbered.X), false)
	for _, f := range tabledModels() {
		add(f.name, f.m, f.rows, strings.Contains(f.name, "no nodes"))
	}
	return cases
}

// answer computes what the graph has to answer.
func (c *onnxCase) answer(t *testing.T, x datasets.Points) {
	t.Helper()
	m := c.m.Inside()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
	}
	var err error
	c.decisions, err = c.m.Decisions(x)
	must(err)
	c.decisions = signed(c.m, c.decisions)
	c.scores = c.decisions
	c.ties = make([]float64, len(c.decisions))
	for i, row := range c.decisions {
		c.ties[i] = math.Inf(1)
		for k, v := range row {
			c.ties[i] = min(c.ties[i], math.Abs(v))
			for _, w := range row[:k] { // two classes that are as good
				if m.Kind == machines.RestKind || m.Kind == machines.JointKind {
					c.ties[i] = min(c.ties[i], math.Abs(v-w))
				}
			}
		}
	}
	if m.Classes == nil {
		return
	}
	plain := *c.m
	if m.Threshold == nil {
		plain.Inside().Curves = nil // the label is that of the decision values
	}
	c.names, err = plain.Predict(x)
	must(err)
	if m.Kind == machines.OneClassKind {
		c.names = nil
		c.scores = nil
		for _, row := range c.decisions {
			c.scores = append(c.scores, []float64{float64(2*machines.SideOf(row[0]) - 1)})
		}
		return
	}
	if c.m.Inside().Curves != nil {
		c.scores, err = c.m.Probabilities(x)
		must(err)
		for i, p := range c.scores {
			if m.Threshold != nil {
				c.ties[i] = math.Abs(p[1] - *m.Threshold)
			}
			if m.Kind == machines.TwoClassKind { // the positive class first
				c.scores[i] = []float64{p[1], p[0]}
			}
		}
	}
}

// onnxColumns are the columns of a table as inputs, with other names where outputs have these.
func onnxColumns(table *datasets.Table) map[string][]any {
	columns := map[string][]any{}
	for _, c := range table.Columns {
		name := c.Name
		if slices.Contains([]string{"label", "scores", "value"}, name) {
			name += "_"
		}
		for i := range c.N() {
			var v any
			switch {
			case c.Missing(i):
			case c.Kind == datasets.Number || c.Kind == datasets.Time:
				v = c.Values[i]
			default:
				v = strings.ToValidUTF8(c.Format(i), "?") // which JSON has only
			}
			columns[name] = append(columns[name], v)
		}
	}
	return columns
}

// onnxAsk runs a program of testdata that predicts by the graphs.
func onnxAsk(t *testing.T, python, program string, cases []onnxCase) (answers []onnxAnswer) {
	t.Helper()
	var asked []map[string]any
	for _, c := range cases {
		asked = append(asked, map[string]any{"Model": c.graph, "X": c.x, "Inputs": c.rows})
	}
	in, err := json.Marshal(asked)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "testdata/"+program)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), &stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	if err := json.Unmarshal(text, &answers); err != nil || len(answers) != len(cases) {
		t.Fatal(err, len(answers))
	}
	return answers
}

// compare holds an answer to the model. Labels may differ where a decision is so near a tie.
func (c *onnxCase) compare(t *testing.T, a onnxAnswer, tie, tol float64, scores bool) {
	t.Helper()
	if len(a.Scores) != len(c.scores) || len(a.Y) != len(c.names) {
		t.Errorf("%s: %d scores and %d labels, want %d and %d", c.name, len(a.Scores), len(a.Y), len(c.scores), len(c.names))
		return
	}
	for i, name := range c.names {
		if a.Y[i] != name && c.ties[i] > tie {
			t.Errorf("%s: row %d is %s, want %s; decision values %v", c.name, i, a.Y[i], name, c.decisions[i])
			return
		}
	}
	for i := 0; scores && i < len(a.Scores); i++ {
		var row []float64
		for _, v := range a.Scores[i] {
			if v == nil {
				row = append(row, math.NaN())
			} else {
				row = append(row, *v)
			}
		}
		want := c.scores[i]
		if c.m.Inside().Kind == machines.OneClassKind && c.ties[i] <= tie {
			continue // single precision may put a support vector on the other side
		}
		if onnxOperator(c.name, c.m) == "LinearClassifier" && len(want) == 1 {
			want = []float64{-want[0], want[0]}
		}
		if !testkit.NearRows([][]float64{row}, [][]float64{want}, tol) {
			t.Errorf("%s: row %d has %v, want %v", c.name, i, row, want)
			return
		}
	}
}

// onnxPrograms runs a test with testdata/onnx_predict.py, which predicts by the text of the
// operators and has Debian's python3-onnx parse and check the graphs, and with onnxruntime.
func onnxPrograms(t *testing.T, do func(t *testing.T, python, program string)) {
	t.Run("operators", func(t *testing.T) {
		const python = "/usr/bin/python3"
		if exec.Command(python, "-c", "import onnx, numpy").Run() != nil {
			t.Skip("no onnx for /usr/bin/python3 (Debian: python3-onnx)")
		}
		do(t, python, "onnx_predict.py")
	})
	t.Run("onnxruntime", func(t *testing.T) {
		folder := os.Getenv("SVMNB_ONNXRUNTIME")
		if folder == "" {
			t.Skip("SVMNB_ONNXRUNTIME does not name a virtual environment with onnxruntime; .ci/run makes one")
		}
		do(t, filepath.Join(folder, "bin", "python"), "onnxruntime_predict.py")
	})
}

func TestONNX(t *testing.T) {
	cases := onnxCases(t)
	seen := map[string]int{}
	for _, c := range cases {
		seen[onnxOperator(c.name, c.m)]++
	}
	for _, op := range []string{"SVMClassifier", "SVMRegressor", "LinearClassifier", "LinearRegressor"} {
		if seen[op] < 1 {
			t.Errorf("no %s among %v", op, seen)
		}
	}
	onnxPrograms(t, func(t *testing.T, python, program string) {
		for i, a := range onnxAsk(t, python, program, cases) {
			c, tie, tol, scores := cases[i], 1e-5, 2e-5, true
			if want := onnxOperator(c.name, c.m); a.Op != "" && a.Op != want {
				t.Errorf("%s: %s, want %s", c.name, a.Op, want)
			}
			if program == "onnxruntime_predict.py" { // which computes in float32
				tie, tol = 1e-4, 1e-4
				if c.m.Inside().Curves != nil {
					tol = 0.01 // it couples probabilities until they change by 0.005
				} else if c.m.Inside().Kind == machines.TwoClassKind && onnxOperator(c.name, c.m) == "SVMClassifier" {
					scores = false // whose sign is the runtime's
				}
			}
			c.compare(t, a, tie, tol, scores)
		}
	})
}

// Scores are NaN for a row that the model refuses: a number is missing that no step fills, or a
// level must be known.
func TestONNXRefusesRows(t *testing.T) {
	all := visitors(60).Present()
	for _, kernel := range []kernels.Kernel{kernels.RBF(0.1), kernels.Linear()} {
		fit := testkit.FitOf(t, selection.Pipe(transform.On("city").Do(transform.OneHot().Unknown(transform.IsError)), svmnb.Classify(all.Without("came", "said").Target("stays")).Kernel(kernel)))
		var out bytes.Buffer
		if err := fit.Model().WriteONNX(&out); err != nil {
			t.Fatal(err)
		}
		rows := map[string][]any{"age": {30, nil, 30, 30}, "city": {"Bern", "Bern", "Rom", nil}}
		onnxPrograms(t, func(t *testing.T, python, program string) {
			for i, scores := range onnxAsk(t, python, program, []onnxCase{{graph: out.Bytes(), rows: rows}})[0].Scores {
				for _, v := range scores {
					if refused := i == 1 || i == 2; (v == nil) != refused {
						t.Errorf("row %d of %v has %v", i, kernel, v)
					}
				}
			}
		})
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
