package model_test

import (
	"bytes"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"github.com/svmnb/svmnb/svmnb/model"
)

// linearDecisions compares decision values with those that LIBLINEAR computes, of a
// regression for each column of the weights.
func linearDecisions(t *testing.T, name, program, model string, x, values [][]float64) {
	t.Helper()
	head, body, _ := strings.Cut(model, "\nw\n")
	keep := []string{"solver_type L2R_L2LOSS_SVR", "nr_class 2"}
	for line := range strings.Lines(head) {
		if strings.HasPrefix(line, "nr_feature") || strings.HasPrefix(line, "bias") {
			keep = append(keep, strings.TrimSpace(line))
		}
	}
	rows := strings.Split(strings.TrimSpace(body), "\n")
	for k := range strings.Fields(rows[0]) {
		text := strings.Join(keep, "\n") + "\nw\n"
		for _, row := range rows {
			text += strings.Fields(row)[k] + " \n"
		}
		for i, words := range predicted(t, program, text, x) {
			if v := float(t, words[0]); !(math.Abs(v-values[i][k]) <= 1e-6*(1+math.Abs(v))) {
				t.Errorf("%s: decision %d of point %d is %.12g, LIBLINEAR's %.12g", name, k, i, values[i][k], v)
				return
			}
		}
	}
}

func TestLIBLINEARReadsOurModels(t *testing.T) {
	predict := tool(t, "liblinear-predict", "liblinear-tools")
	written := 0
	for _, f := range modelledFits() {
		var text bytes.Buffer
		m := f.fit.Model()
		err := m.WriteLIBLINEAR(&text)
		if m.Inside().Terms[0].W == nil || m.Inside().Kind == machines.VotesKind && len(m.Inside().Classes) > 2 || m.Inside().Before != nil || strings.Contains(f.name, "logarithm") {
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
		f.values = signed(m, f.values)
		linearDecisions(t, f.name, predict, text.String(), f.x, f.values)
		for i, words := range predicted(t, predict, text.String(), f.x) {
			if f.names != nil && m.Inside().Targets[slices.Index(m.Inside().Classes, f.names[i])] != float(t, words[0]) {
				t.Errorf("%s: point %d is %s, LIBLINEAR says %s", f.name, i, f.names[i], words[0])
			}
		}
		back, err := model.ReadLIBLINEAR(&text)
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
				if !(math.Abs(v-f.values[i][k]) <= 1e-12*(1+math.Abs(v))) {
					t.Fatalf("%s: read back, decision %d of point %d is %v, want %v", f.name, k, i, v, f.values[i][k])
				}
			}
		}
	}
	if written < 5 {
		t.Errorf("%d models written", written)
	}
}

func TestWeReadLIBLINEARs(t *testing.T) {
	train, predict := tool(t, "liblinear-train", "liblinear-tools"), tool(t, "liblinear-predict", "liblinear-tools")
	moons, iris, cars := datasets.Moons(60, 0.2, 1), testkit.Flowers(), datasets.Cars()
	for _, test := range []struct {
		data    *datasets.Dataset
		options string
	}{
		{moons, "-s 0 -B 1"}, {moons, "-s 1"}, {moons, "-s 3 -B 2"}, {moons, "-s 4 -B 1"}, {moons, "-s 6"}, {moons, "-s 7 -B 1"}, {iris, "-s 2 -B 1"}, {iris, "-s 5"},
		{iris, "-s 4 -B 1"}, {iris, "-s 0 -B 1"}, {cars, "-s 11 -B 1"}, {cars, "-s 12"}, {cars, "-s 13 -B 10"},
	} {
		d := test.data
		name := d.Name + " " + test.options
		file := pointsFile(t, d.X, d.Y)
		run(t, train, append(strings.Fields(test.options), "-q", file, file+".model")...)
		text, err := os.ReadFile(file + ".model")
		if err != nil {
			t.Fatal(err)
		}
		m, err := model.ReadLIBLINEAR(bytes.NewReader(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		values, err := m.Decisions(datasets.Rows(d.X))
		if err != nil {
			t.Fatal(err)
		}
		linearDecisions(t, name, predict, string(text), d.X, values)
		var again bytes.Buffer
		if err := m.WriteLIBLINEAR(&again); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		linearDecisions(t, name+", written again", predict, again.String(), d.X, values)
		if m.Inside().Kind == machines.RegressionKind {
			continue
		}
		names, err := m.Predict(datasets.Rows(d.X))
		if err != nil {
			t.Fatal(err)
		}
		options := []string{}
		var p [][]float64
		if m.Inside().Curves != nil {
			options = []string{"-b", "1"}
			if p, err = m.Probabilities(datasets.Rows(d.X)); err != nil {
				t.Fatal(err)
			}
		}
		for _, file := range []string{string(text), again.String()} {
			for i, words := range predicted(t, predict, file, d.X, options...) {
				if names[i] != words[0] {
					t.Errorf("%s: point %d is %s, LIBLINEAR says %s", name, i, names[i], words[0])
				}
				for k, word := range words[1:] {
					if math.Abs(p[i][k]-float(t, word)) > 1e-5 { // six digits are printed
						t.Errorf("%s: probability %d of point %d is %v, LIBLINEAR says %s", name, k, i, p[i][k], word)
					}
				}
			}
		}
	}
}

const smallLIBLINEAR = "solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 2\nbias 2\nw\n0.5 \n-1 \n0.25 \n"

func TestReadLIBLINEARRefuses(t *testing.T) {
	m, err := model.ReadLIBLINEAR(strings.NewReader(smallLIBLINEAR))
	if err != nil {
		t.Fatal(err)
	}
	if v, err := m.Values(datasets.Rows{{2, 3}}); err != nil || v[0] != 1-3+0.5 {
		t.Errorf("f = %v, %v; want −1.5", v, err)
	}
	for _, test := range []struct {
		old, new string
		line     int
	}{
		{smallLIBLINEAR, "", 0}, {"L2R_LR", "ONECLASS_SVM", 6}, {"L2R_LR", "MCSVM_CS", 7}, {"nr_class 2", "nr_class 3", 6}, {"nr_class 2", "nr_class -2", 2},
		{"label 1 -1", "label 1 x", 3}, {"label 1 -1", "label 1 1", 0}, {"label 1 -1\n", "", 5}, {"nr_feature 2", "nr_feature 2000000000", 9}, {"nr_feature 2", "nr_feature 1", 9},
		{"nr_feature 2", "nr_feature 1 2", 4}, {"nr_feature 2", "nr_feature 99999999999", 4}, {"bias 2\n", "", 5}, {"bias 2", "bias NaN", 5}, {"bias 2", "bias -1", 9}, {"bias 2", "depth 2", 5},
		{"bias 2", "", 5}, {"w\n", "", 6}, {"-1 \n", "-1 2\n", 8}, {"-1 \n", "Inf \n", 8}, {"0.25 \n", "0.25", 9}, {"0.25 \n", "", 8}, {"0.25 \n", "0.25\n1\n", 10},
	} {
		if !strings.Contains(smallLIBLINEAR, test.old) {
			t.Fatalf("no %q", test.old)
		}
		m, err := model.ReadLIBLINEAR(strings.NewReader(strings.Replace(smallLIBLINEAR, test.old, test.new, 1)))
		model := (*model.Error)(nil)
		if m != nil || !errors.As(err, &model) {
			t.Errorf("%q for %q: %v, %v; want a *Error", test.new, test.old, m, err)
		} else if model.Line != test.line {
			t.Errorf("%q for %q: line %d, want %d: %v", test.new, test.old, model.Line, test.line, err)
		}
	}
	for cut := range smallLIBLINEAR {
		if m, err := model.ReadLIBLINEAR(strings.NewReader(smallLIBLINEAR[:cut])); err == nil {
			t.Errorf("the first %d bytes are %v", cut, m)
		}
	}
}

func FuzzReadLIBLINEAR(f *testing.F) {
	f.Add(smallLIBLINEAR)
	f.Add("solver_type MCSVM_CS\nnr_class 3\nlabel 1 2 3\nnr_feature 1\nbias -1\nw\n1 2 3 \n")
	f.Add("solver_type L2R_L2LOSS_SVR\nnr_class 2\nnr_feature 1\nbias 1\nw\n1 \n2 \n")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := model.ReadLIBLINEAR(strings.NewReader(text))
		if err != nil {
			if !errors.As(err, new(*model.Error)) {
				t.Fatalf("%T", err)
			}
			return
		}
		var out bytes.Buffer
		if err := m.WriteLIBLINEAR(&out); err != nil {
			return // a label that is no whole number
		}
		back, err := model.ReadLIBLINEAR(&out)
		if err != nil {
			t.Fatalf("written but not read: %v", err)
		}
		if m.D() != back.D() || len(m.Inside().Terms) != len(back.Inside().Terms) {
			t.Fatalf("%v became %v", m, back)
		}
	})
}
