package svmnb

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
)

// An evaluation of a regression has the predictions of the fit, and the measures of the fit
// are those of the evaluation.
func TestRegressionEvaluation(t *testing.T) {
	fit := testkit.FitOf(t, Regress(datasets.Sinc(60, 0.1, 1)).Kernel(kernels.RBF(0.3)).C(10))
	test := datasets.Sinc(80, 0.1, 2)
	e, err := fit.Evaluate(test)
	if err != nil {
		t.Fatal(err)
	}
	values, err := fit.Predict(test)
	if err != nil {
		t.Fatal(err)
	}
	square := 0.0
	for i, v := range values {
		if e.Predicted[i] != v || e.Truth[i] != test.Y[i] {
			t.Fatalf("point %d: %v of %v, want %v of %v", i, e.Predicted[i], e.Truth[i], v, test.Y[i])
		}
		square += (v - test.Y[i]) * (v - test.Y[i]) / float64(len(values))
	}
	testkit.Says(t, "the summary", e.Markdown(), "| **RMSE** | ", "R²", "[", "mean absolute error", "| points | 80 |")
	rmse, _ := fit.RMSE(test)
	testkit.Near(t, "RMSE", math.Sqrt(square), rmse, 1e-12)
	for _, c := range []struct {
		figure interface{ String() string }
		of     any
		words  string
	}{
		{Residuals, e, "intervals of 1 of 10 mean residuals do not contain 0"}, {Residuals, fit, "intervals of all 10 mean residuals contain 0"},
		{Predictions, e, "Predictions of 80 points"}, {Predictions, fit, "of the variance"},
		{Predictions, &RegressionEvaluation{Truth: []float64{1, 1}, Predicted: []float64{1, 2}}, "Predictions of 2 points have the RMSE 0.707"},
		{Residuals, &RegressionEvaluation{Truth: []float64{1}}, "Predicted has length 0"},
		{Residuals, &RegressionEvaluation{Truth: []float64{1}, Predicted: []float64{math.NaN()}}, "Predicted[0] is NaN"},
		{Residuals, testkit.FitOf(t, Classify(datasets.Moons(20, 0.1, 1))), "no picture"},
	} {
		draw := Residuals
		if c.figure.String() == "Predictions" {
			draw = Predictions
		}
		got := ""
		if chart, err := draw.Of(c.of); err != nil {
			got = err.Error()
		} else {
			got = chart.Title.Title
		}
		if !strings.Contains(got, c.words) {
			t.Errorf("%v of %T: %q, want %q in it", c.figure, c.of, got, c.words)
		}
	}
	// Of a quantile, the loss that was minimised comes first, and no measure of a mean.
	high := testkit.FitOf(t, Regress(datasets.Sinc(60, 0.1, 1)).Kernel(kernels.RBF(0.3)).C(10).Quantile(0.9))
	q, err := high.Evaluate(test)
	if err != nil {
		t.Fatal(err)
	}
	values, _ = high.Predict(test)
	loss, share := 0.0, 0
	for i, v := range values {
		r := test.Y[i] - v
		if loss += max(0.9*r, -0.1*r) / 80; r < 0 {
			share++
		}
	}
	text := q.Markdown()
	testkit.Says(t, "the summary of a quantile", text, fmt.Sprintf("| **pinball loss** | %s", say.Signed(loss, 4)), fmt.Sprintf("| share below the prediction, for 0.9 | %s", say.Signed(float64(share)/80, 4)))
	if strings.Contains(text, "RMSE") || strings.Contains(text, "R²") {
		t.Errorf("the summary of a quantile has measures of a mean:\n%s", text)
	}
	for _, draw := range []display.Figure{Residuals, Predictions} {
		chart, err := draw.Of(q)
		if want := fmt.Sprintf("%g %% of 80 points lie below the 90 %% quantile", 100*float64(share)/80); err != nil || !strings.HasPrefix(chart.Title.Title, want) {
			t.Errorf("%v: %q, want %q; %v", draw, chart.Title.Title, want, err)
		}
		if chart, err := draw.Of(high); err != nil || !strings.Contains(chart.Title.Title, "the 90 % quantile") {
			t.Errorf("%v of the training points: %v", draw, err)
		}
	}
	wide := datasets.New([][]float64{{1, 2}}, []float64{1})
	if _, err := fit.Evaluate(wide); !errors.As(err, new(*ArgumentError)) {
		t.Errorf("two features: %v", err)
	}
	if _, err := fit.Evaluate(nil); err == nil {
		t.Error("no data set, no error")
	}
	if _, err := (*RegressionFit)(nil).Evaluate(test); !testkit.IsArgument(err, "Evaluate") {
		t.Errorf("no fit: %v", err)
	}
}
