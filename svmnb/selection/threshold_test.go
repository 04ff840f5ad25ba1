package selection_test

import (
	"bytes"
	"context"
	"math"
	"slices"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"github.com/svmnb/svmnb/svmnb/selection"
	"github.com/svmnb/svmnb/svmnb/transform"
)

// The threshold of a pipeline is chosen by points that neither its steps nor its classifier
// have seen: features that only seem to matter do not help.
func TestThresholdOfAPipeline(t *testing.T) {
	ctx := context.Background()
	train, test := datasets.BreastCancer().Split(0.6, 1)
	fit := testkit.FitOf(t, selection.Pipe(transform.Standardise(), svmnb.Classify(train)))
	at, err := fit.Threshold(ctx, svmnb.ForRecall(0.99))
	if err != nil {
		t.Fatal(err)
	}
	names, err := at.Predict(test)
	if err != nil {
		t.Fatal(err)
	}
	values, _ := fit.Values(test)
	classes := fit.Model().Classes()
	own, err := at.Model().Predict(test)
	if err != nil || !slices.Equal(own, names) {
		t.Errorf("the model predicts %v, want %v: %v", own, names, err)
	}
	e, err := at.Evaluate(test)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range values {
		if want := classes[map[bool]int{true: 1}[v >= at.Value]]; names[i] != want || classes[e.Predicted[i]] != want {
			t.Errorf("%v: %q, want %q", v, names[i], want)
		}
	}
	if r := at.HeldOut().Confusion().Recall().PerClass[1]; r < 0.99 {
		t.Errorf("recall %v", r)
	}
	var code bytes.Buffer
	if err := at.Model().WriteGo(&code, "predictor"); err != nil || !bytes.Contains(code.Bytes(), []byte("Decisions(x)[0] >= ")) {
		t.Errorf("%v", err)
	}

	noise := datasets.Blobs(60, 2, 50, 1)
	for i := range noise.X { // 300 features that say nothing, of which the step keeps two
		row := make([]float64, 300)
		for j := range row {
			row[j] = math.Sin(float64(i*300+j) * 12.9898)
		}
		noise.X[i] = row
	}
	seems := testkit.FitOf(t, selection.Pipe(testkit.Strongest{K: 2}, svmnb.Classify(datasets.New(noise.X, noise.Y))))
	chance, err := seems.Threshold(ctx, svmnb.ForBalancedAccuracy())
	if err != nil {
		t.Fatal(err)
	}
	if r, err := chance.HeldOut().ROC(); err != nil || r.AUC > 0.7 {
		t.Errorf("held-out points have an area of %v under their ROC, by noise: %v", r.AUC, err)
	}
	for name, fit := range map[string]*selection.PipeFit{
		"regression": testkit.FitOf(t, selection.Pipe(svmnb.Regress(datasets.Sinc(30, 0.1, 1)))),
		"classes":    testkit.FitOf(t, selection.Pipe(svmnb.Classify(datasets.Iris()).OneVsOne())),
		"a pair":     testkit.FitOf(t, selection.Pipe(svmnb.Classify(train).OneVsOne())),
		"one class":  testkit.FitOf(t, selection.Pipe(svmnb.OneClass(train))),
		"none":       nil,
	} {
		if _, err := fit.Threshold(ctx, svmnb.ForF1()); !testkit.IsArgument(err, "Threshold") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := fit.Fit().(*svmnb.Fit).Threshold(ctx, svmnb.ForF1()); !testkit.IsArgument(err, "Threshold") {
		t.Errorf("the inside of a pipeline: %v", err)
	}
}
