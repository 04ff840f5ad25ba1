package selection_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/selection"
	"github.com/svmnb/svmnb/svmnb/transform"
)

// Many points, whose features are made some at a time, have the predictions of few.
func TestManyPointsThroughKernelFeatures(t *testing.T) {
	const n, few = 20_000, 5000
	train, many := datasets.Moons(200, 0.2, 1), datasets.Moons(n, 0.2, 2)
	train.Classes, many.Classes = nil, nil
	for name, fit := range map[string]*selection.PipeFit{
		"Nystroem":      selection.Pipe(transform.Standardise(), transform.Nystroem(kernels.RBF(1), 20, 1), svmnb.Classify(train)).MustFit(),
		"RandomFourier": selection.Pipe(transform.RandomFourier(1, 20, 1), svmnb.Classify(train)).MustFit(),
		"regression":    selection.Pipe(transform.Nystroem(kernels.RBF(1), 20, 1), svmnb.Regress(train)).MustFit(),
	} {
		values, err := fit.Values(many)
		if err != nil {
			t.Fatal(err)
		}
		model, err := fit.Model().Values(many)
		if err != nil {
			t.Fatal(err)
		}
		var one []float64
		wrong := 0
		for from := 0; from < n; from += few {
			part := &datasets.Dataset{Name: "part", X: many.X[from : from+few], Y: many.Y[from : from+few]}
			v, err := fit.Values(part)
			if err != nil {
				t.Fatal(err)
			}
			one = append(one, v...)
			if name != "regression" {
				e, err := fit.Evaluate(part)
				if err != nil {
					t.Fatal(err)
				}
				for i, k := range e.Truth {
					if e.Predicted[i] != k {
						wrong++
					}
				}
			}
		}
		if !slices.Equal(values, one) || !slices.Equal(model, one) {
			t.Errorf("%s: many points have other values than few", name)
		}
		if name == "regression" {
			before := slices.Clone(many.Y)
			score, err := fit.Score(many)
			sum := 0.0
			for i, v := range one {
				sum += (v - many.Y[i]) * (v - many.Y[i])
			}
			if err != nil || math.Abs(score-math.Sqrt(sum/n)) > 1e-12 || !slices.Equal(before, many.Y) {
				t.Errorf("score %v, want %v, %v", score, math.Sqrt(sum/n), err)
			}
			continue
		}
		e, err := fit.Evaluate(many)
		if err != nil || len(e.Truth) != n || len(e.Scores) != n || !slices.Equal(e.Scores, one) {
			t.Fatalf("%s: the evaluation has %d points, %v", name, len(e.Truth), err)
		}
		all := 0
		for i, k := range e.Truth {
			if e.Predicted[i] != k {
				all++
			}
		}
		if all != wrong {
			t.Errorf("%s: %d errors, in parts %d", name, all, wrong)
		}
		names, err := fit.Predict(many)
		if err != nil || len(names) != n || names[n-1] != e.Classes[e.Predicted[n-1]] {
			t.Errorf("%s: %d names, %v", name, len(names), err)
		}
		bad := &datasets.Dataset{Name: "bad", X: slices.Clone(many.X), Y: many.Y}
		bad.X[12_345] = []float64{1, math.NaN()}
		if _, err := fit.Values(bad); err == nil || !strings.Contains(err.Error(), "12345") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
