package selection_test

import (
	"bytes"
	"context"
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
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"github.com/svmnb/svmnb/svmnb/metrics"
	"github.com/svmnb/svmnb/svmnb/selection"
	"github.com/svmnb/svmnb/svmnb/transform"
)

// metricsOfClasses are the metrics of a search of classifiers.
var metricsOfClasses = []selection.Metric{
	selection.Accuracy, selection.BalancedAccuracy, selection.F1, selection.MCC, selection.AUC, selection.AveragePrecision, selection.LogLoss, selection.Brier,
}

// Every metric of classes ranks the settings of a search, of two classes and of more, and
// what is best is best by that metric.
func TestSearchByEveryMetric(t *testing.T) {
	two, three := datasets.Moons(60, 0.4, 1), datasets.Blobs(60, 3, 2, 1)
	for _, c := range []struct {
		data  *datasets.Dataset
		plain selection.Learner
	}{
		{two, svmnb.Classify(two).Kernel(kernels.RBF(1))},
		{three, svmnb.Classify(three).Kernel(kernels.RBF(1)).OneVsOne()},
	} {
		for _, m := range metricsOfClasses {
			l := selection.Calibrate(c.plain, svmnb.Platt{Folds: 3})
			fit, err := selection.Search(l, selection.Grid{"C": {0.01, 1, 100}}, selection.StratifiedKFold(3, 1)).By(m).Fit(t.Context())
			if err != nil {
				t.Fatalf("%s: %v", m.Name, err)
			}
			best := math.NaN()
			for _, trial := range fit.Trials {
				v := trial.Mean()
				if trial.Err != "" || math.IsNaN(v) {
					t.Errorf("%s of %v: %v, %s", m.Name, trial.Values, v, trial.Err)
				}
				if math.IsNaN(best) || m.Lower && v < best || !m.Lower && v > best {
					best = v
				}
			}
			if got, ok := fit.Best(); !ok || got.Mean() != best {
				t.Errorf("%s: the best has %v, want %v", m.Name, got.Mean(), best)
			}
			testkit.Says(t, m.Name, fit.Markdown(), m.Name)
		}
	}
}

// A metric that these predictions do not have says what to do.
func TestMetricsThatDoNotSuit(t *testing.T) {
	moons, iris, line := datasets.Moons(40, 0.2, 1), datasets.Iris(), datasets.Sinc(30, 0.1, 1)
	for _, c := range []struct {
		l      selection.Learner
		metric selection.Metric
		advice string
	}{
		{svmnb.Classify(moons), selection.LogLoss, "selection.Calibrate"},
		{svmnb.Classify(moons), selection.Brier, "selection.Calibrate"},
		{svmnb.Classify(iris).OneVsOne(), selection.AUC, "selection.Calibrate"},
		{svmnb.Classify(iris).OneVsOne(), selection.AveragePrecision, "selection.Calibrate"},
		{svmnb.Regress(line), selection.F1, "take RMSE"},
		{svmnb.Regress(line), selection.MCC, "take RMSE"},
		{svmnb.Regress(line), selection.LogLoss, "take RMSE"},
		{svmnb.Classify(moons), selection.RMSE, "take Accuracy"},
	} {
		_, err := selection.Search(c.l, selection.Grid{"C": {1}}, selection.KFold(3, 1)).By(c.metric).Fit(t.Context())
		if err == nil || !strings.Contains(err.Error(), c.advice) {
			t.Errorf("%s of %v: %v, want %q in it", c.metric.Name, c.l, err, c.advice)
		}
	}
	one := &selection.HeldOut{Classes: &svmnb.Evaluation{Classes: []string{"a", "b"}, Truth: []int{0, 0}, Predicted: []int{0, 1}, Scores: []float64{1, 2}}}
	for _, m := range []selection.Metric{selection.AUC, selection.AveragePrecision} {
		if _, err := m.Of(one); !errors.As(err, new(*metrics.Error)) {
			t.Errorf("%s of one class: %v", m.Name, err)
		}
	}
}

// A learner with a calibration is its classifier with the calibration, within pipelines too.
func TestCalibrateLearner(t *testing.T) {
	ctx := context.Background()
	data := datasets.Moons(60, 0.3, 1)
	base := svmnb.Classify(data).Kernel(kernels.RBF(1))
	want, err := testkit.FitOf(t, base).Calibrate(ctx, svmnb.Platt{Folds: 4})
	if err != nil {
		t.Fatal(err)
	}
	p, _ := want.Probabilities(data)
	fit := testkit.FitOf(t, selection.Pipe(selection.Calibrate(base, svmnb.Platt{Folds: 4})))
	e, err := fit.Evaluate(data)
	if err != nil || !testkit.NearRows(e.Probabilities, p, 0) {
		t.Errorf("%v, want %v: %v", e.Probabilities, p, err)
	}
	if _, ok := fit.Fit().(*svmnb.Calibrated); !ok {
		t.Errorf("the fit is a %T", fit.Fit())
	}
	piped := testkit.FitOf(t, selection.Pipe(transform.Standardise(), selection.Calibrate(base, svmnb.Platt{Folds: 4})))
	at, err := piped.Threshold(ctx, svmnb.ForRecall(0.95).Folds(3, 0))
	if err != nil {
		t.Fatal(err)
	}
	names, err := at.Predict(data)
	if err != nil {
		t.Fatal(err)
	}
	model, err := at.Model().Probabilities(data)
	if err != nil || !(at.Value > 0 && at.Value < 1) || at.HeldOut().Probabilities == nil {
		t.Fatalf("threshold %v, %v", at.Value, err)
	}
	for i, row := range model {
		if want := at.Model().Classes()[map[bool]int{true: 1}[row[1] >= at.Value]]; names[i] != want {
			t.Errorf("probability %v: %q, want %q", row[1], names[i], want)
		}
	}
	shared, err := testkit.FitOf(t, selection.Pipe(transform.Standardise(), base)).Calibrate(ctx, svmnb.Platt{Folds: 4})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := shared.Threshold(ctx, svmnb.ForF1()); err != nil {
		t.Error(err)
	}
	if s := selection.Calibrate(base, svmnb.Platt{Folds: 4}).String(); !strings.Contains(s, "Calibrate(Classify(moons)") || !strings.Contains(s, "svmnb.Platt{Folds: 4}") {
		t.Error(s)
	}
	for name, l := range map[string]selection.Learner{
		"nil":        selection.Calibrate(nil, svmnb.Platt{}),
		"no curve":   selection.Calibrate(base, nil),
		"regression": selection.Calibrate(svmnb.Regress(data), svmnb.Platt{}),
		"pipeline":   selection.Calibrate(selection.Pipe(transform.Standardise(), base), svmnb.Platt{}),
		"twice":      selection.Calibrate(selection.Calibrate(base, svmnb.Platt{}), svmnb.Platt{}),
	} {
		if _, err := selection.Pipe(l).Fit(ctx); !testkit.IsArgument(err, "Calibrate") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The metrics are those of scikit-learn.
func TestMetricsOfScikitLearn(t *testing.T) {
	const python = "/usr/bin/python3"
	if exec.Command(python, "-c", "import sklearn").Run() != nil {
		t.Skip("no scikit-learn for /usr/bin/python3 (Debian: python3-sklearn)")
	}
	const program = `
import json, sys
import numpy as np
import sklearn.metrics as m
out = []
for d in json.load(sys.stdin):
    y, z, p = np.array(d["Truth"]), np.array(d["Predicted"]), np.array(d["Probabilities"])
    k = p.shape[1]
    score = p[:, 1] if k == 2 else p
    one = np.eye(k)[y]
    out.append({"accuracy": m.accuracy_score(y, z), "balanced accuracy": m.balanced_accuracy_score(y, z),
        "F1": m.f1_score(y, z, average="binary" if k == 2 else "macro"), "MCC": m.matthews_corrcoef(y, z),
        "AUC": m.roc_auc_score(y, score, multi_class="ovr"), "average precision": m.average_precision_score(y if k == 2 else one, score),
        "log loss": m.log_loss(y, p), "Brier score": float(((p - one) ** 2).sum(1).mean())})
json.dump(out, sys.stdout)`
	two, err := testkit.FitOf(t, svmnb.Classify(datasets.Moons(80, 0.5, 1))).Calibrate(t.Context(), svmnb.Platt{})
	if err != nil {
		t.Fatal(err)
	}
	three, err := testkit.FitOf(t, svmnb.Classify(datasets.Blobs(90, 3, 3, 2)).OneVsOne()).Calibrate(t.Context(), svmnb.Platt{})
	if err != nil {
		t.Fatal(err)
	}
	all := []*svmnb.Evaluation{two.HeldOut(), three.HeldOut()}
	in, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-W", "ignore", "-c", program)
	cmd.Stdin = bytes.NewReader(in)
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var want []map[string]float64
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	for i, e := range all {
		for _, m := range metricsOfClasses {
			v, err := m.Of(&selection.HeldOut{Classes: e})
			if err != nil {
				t.Errorf("%s: %v", m.Name, err)
			}
			testkit.Near(t, m.Name, v, want[i][m.Name], 1e-9)
		}
	}
	if len(want) != 2 || slices.ContainsFunc(metricsOfClasses, func(m selection.Metric) bool { _, ok := want[1][m.Name]; return !ok }) {
		t.Errorf("%v", want)
	}
}
