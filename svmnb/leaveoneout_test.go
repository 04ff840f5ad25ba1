package svmnb

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
)

// The bounds are above the errors that leaving each point out makes, and the span rule
// is near them: points that change their part make the difference.
func TestLeaveOneOutBounds(t *testing.T) {
	noisy := datasets.Moons(80, 0.35, 3)
	for _, c := range []Classifier{
		Classify(noisy).Kernel(kernels.RBF(1)).C(0.3),
		Classify(noisy).Kernel(kernels.RBF(1)).C(10),
		Classify(noisy).Kernel(kernels.Linear()).C(1),
		Classify(noisy).Kernel(kernels.RBF(2)).C(1).Augment(1).GradientAscent(),
		Classify(datasets.Moons(60, 0.1, 3)).Kernel(kernels.RBF(2)).HardMargin(),
		Classify(datasets.Iris().Pair("virginica", "versicolor")).Kernel(kernels.RBF(0.25)),
	} {
		c = c.Tol(1e-8)
		b, err := testkit.FitOf(t, c).LeaveOneOut()
		if err != nil {
			t.Fatal(err)
		}
		errors := 0.0
		for _, h := range leftOut(t, c.Learning()) {
			errors += (1 - h.Classes.(*Evaluation).Confusion().Accuracy()) / float64(c.data.N())
		}
		if b.XiAlpha < errors-1e-9 || b.SupportVectors < errors-1e-9 || b.XiAlpha > b.SupportVectors {
			t.Errorf("%v: %+v, errors %v", c, *b, errors)
		}
		if math.Abs(b.Span-errors) > 0.07 {
			t.Errorf("%v: span %v, errors %v", c, b.Span, errors)
		}
	}
	for _, c := range []Classifier{Classify(noisy).TwoNorm(), Classify(noisy).Nu(0.5), OneClass(noisy)} {
		if _, err := testkit.FitOf(t, c).LeaveOneOut(); !testkit.IsArgument(err, "LeaveOneOut") {
			t.Errorf("%v: %v", c, err)
		}
	}
	// No point is free: nothing but the bound knows the bias.
	b, err := testkit.FitOf(t, Classify(datasets.New([][]float64{{0}, {1}}, []float64{1, -1})).Kernel(kernels.RBF(1)).C(0.1)).LeaveOneOut()
	if err != nil || b.Span != 1 || b.SupportVectors != 1 {
		t.Errorf("%+v, %v", b, err)
	}
}

// Where no other point changes its part, f at a point that is left out falls by α S²
// exactly.
func TestSpanIsExactWhereNothingElseChanges(t *testing.T) {
	data := datasets.Moons(80, 0.35, 3)
	unchanged := [3]int{}
	for _, c := range []Classifier{Classify(data).Kernel(kernels.RBF(0.2)).C(5), Classify(data).Kernel(kernels.Linear()).C(0.5), Classify(data).Kernel(kernels.Linear()).C(20)} {
		c = c.Tol(1e-10)
		fit := testkit.FitOf(t, c)
		_, span, err := fit.leaveOneOut()
		if err != nil {
			t.Fatal(err)
		}
		part := func(f *Fit, i int) int {
			switch a := f.Alpha[i]; {
			case a == 0:
				return 0
			case a < c.c:
				return 1
			}
			return 2
		}
		for p := range fit.Alpha {
			rest := testkit.Without(testkit.Seq(80), p)
			left := testkit.FitOf(t, c.given(data.Select(rest), rest))
			same := true
			for j, i := range rest {
				same = same && part(left, j) == part(fit, i)
			}
			if !same {
				continue
			}
			unchanged[part(fit, p)]++
			got, _ := left.Values(datasets.Rows(data.X[p : p+1]))
			testkit.Near(t, fmt.Sprint("fall at point ", p), data.Y[p]*(fit.training()[p]-got[0]), fit.Alpha[p]*span[p], 1e-5)
		}
	}
	if unchanged[0] < 20 || unchanged[1] < 1 || unchanged[2] < 5 {
		t.Errorf("points whose loss changes no other: %v", unchanged)
	}
}

// The closed form is what learning without each point gives.
func TestLeaveOneOutOfRidge(t *testing.T) {
	data := datasets.Sinc(40, 0.2, 1)
	w := make([]float64, 40)
	for i := range w {
		w[i] = 1 + float64(i%3)
	}
	for _, r := range []Regressor{
		Regress(data).Kernel(kernels.RBF(0.3)).Ridge(0.1),
		Regress(data).Kernel(kernels.RBF(0.3)).Ridge(0.1).SampleWeights(w),
		Regress(data).Kernel(kernels.Linear()).Ridge(1).FixedBias(0.2).PrimalDual(),
		Regress(data).Kernel(kernels.RBF(0.3)).Ridge(0.1).Augment(2).PrimalDual(),
	} {
		r = r.Tol(1e-10)
		fit, err := r.Fit(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		residuals, err := fit.LeaveOneOut()
		if err != nil {
			t.Fatal(err)
		}
		for i, h := range leftOut(t, r.Learning()) {
			testkit.Near(t, fmt.Sprintf("%v, point %d", r, i), math.Abs(residuals[i]), math.Abs(h.Truth[0]-h.Predicted[0]), 1e-6)
		}
	}
	fit, err := Regress(data).Fit(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fit.LeaveOneOut(); !testkit.IsArgument(err, "LeaveOneOut") {
		t.Error(err)
	}
}

// leftOut is what is said of each point by a fit of all others.
func leftOut(t *testing.T, l learn.Learner) (all []*learn.HeldOut) {
	t.Helper()
	for i := range l.Data().N() {
		rest := testkit.Without(testkit.Seq(l.Data().N()), i)
		fit, err := l.With(l.Data().Select(rest), rest).Train(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		h, err := fit.HeldOut(context.Background(), l.Data().Select([]int{i}))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, h)
	}
	return all
}
