package svmnb_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/gp"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/play"
	"github.com/svmnb/svmnb/svmnb/selection"
)

// Each figure says in its title what the result of the run says, counted anew.
func TestRunFiguresSayTheFinding(t *testing.T) {
	fit := Moons().MustFit()
	chunked := Moons().Using(solvers.Chunking{Initial: 10, M: 15}).MustFit()
	regression := svmnb.Regress(datasets.Sinc(60, 0.1, 1)).MustFit()
	free, bound, ever, steps := 0, 0, map[int]bool{}, 0
	for _, sv := range fit.SupportVectors() {
		if sv.Bound {
			bound++
		} else {
			free++
		}
	}
	for _, p := range fit.Trace.Points {
		for _, i := range p.Working {
			ever[i] = true
		}
		if len(p.Working) > 0 {
			steps++
		}
	}
	largest := 0
	for _, p := range chunked.Trace.Points {
		largest = max(largest, len(p.Working))
	}
	number := func(v float64) string { return svmnbNumber(v) }
	for _, c := range []struct {
		figure display.Figure
		fit    any
		words  []string
	}{
		{svmnb.MarginWidth, fit, []string{"to 0.195;", "at the end " + number(float64(free)) + " free, " + say.Number(float64(bound)) + " at the bound"}},
		{svmnb.Effort, fit, []string{"% of the whole matrix; the cache answered "}},
		{svmnb.Chunks, fit, []string{"Working sets of 2 of 120 points; " + number(float64(free+bound)) + " support vectors"}},
		{svmnb.Chunks, chunked, []string{"Working sets of 10 to " + number(float64(largest)) + " of 120 points"}},
		{svmnb.WorkingSets, fit, []string{number(float64(len(ever))) + " of 120 points were ever in a working set", "of " + say.Number(float64(steps)) + " steps"}},
		{svmnb.Alphas, fit, []string{number(float64(120-free-bound)) + " of 120 α are 0, " + say.Number(float64(free)) + " are free, " + say.Number(float64(bound)) + " at the bound"}},
		{svmnb.Alphas, regression, []string{" of 120 α are 0, "}},
		{svmnb.WorkingSets, regression, []string{" of 120 multipliers were ever in a working set"}},
		{svmnb.KernelMatrix(), fit, []string{"on average within a class", "eigenvalues carry 99 % of the trace"}},
	} {
		chart, err := c.figure.Of(c.fit)
		if err != nil {
			t.Errorf("%v: %v", c.figure, err)
			continue
		}
		for _, w := range c.words {
			if text := chart.Title.Title + " · " + chart.Title.Subtitle; !strings.Contains(text, w) {
				t.Errorf("%v says %q, want %q in it", c.figure, text, w)
			}
		}
	}
	linear := svmnb.Classify(moonsData()).Kernel(kernels.Linear()).CoordinateDescent().MustFit()
	for _, c := range []struct {
		figure display.Figure
		fit    any
		want   string
	}{
		{svmnb.Effort, linear, "count no kernel value"},
		{svmnb.KernelMatrix(), regression, "KernelMatrix is no picture of a *svmnb.RegressionFit"},
		{svmnb.Alphas, gp.Regress(datasets.Sinc(20, 0.1, 1)).MustFit(), "Alphas is no picture"},
		{svmnb.MarginsOver(0, 0), fit, "give two different ones from 0 to 1"},
		{svmnb.MarginsOver(0, 2), fit, "give two different ones from 0 to 1"},
		{svmnb.MarginsOver(0, 1, 1, 2, 3), fit, "the point has 3 values and the data 2 features"},
		{svmnb.MarginsPCA(), svmnb.Classify(datasets.New([][]float64{{0}, {1}}, []float64{-1, 1})).MustFit(), "a plane needs two of each"},
		{svmnb.MarginsPCA(), regression, "MarginsPCA is no picture"},
	} {
		if _, err := c.figure.Of(c.fit); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v of a %T: error %v, want %q in it", c.figure, c.fit, err, c.want)
		}
	}
}

func moonsData() *datasets.Dataset { return datasets.Moons(60, 0.2, 7) }

// Over its own two features a plane shows what Margins shows; over others its field is
// the decision function with the rest held, so that two planes through one point agree
// there, and that of the principal components has the points' own distances.
func TestMarginsOverPlanes(t *testing.T) {
	fit := Moons().MustFit()
	a, err := svmnb.Margins.Of(fit)
	if err != nil {
		t.Fatal(err)
	}
	b, err := svmnb.MarginsOver(0, 1).Of(fit)
	if err != nil {
		t.Fatal(err)
	}
	one, _ := json.Marshal(a.JSON())
	two, _ := json.Marshal(b.JSON())
	if string(one) != string(two) {
		t.Error("MarginsOver(0, 1) of two features is not Margins")
	}
	data := datasets.BreastCancer().Standardised()
	cancer := svmnb.Classify(data).Kernel(kernels.Linear()).C(1).MustFit()
	// Of the linear machine, the line f = 0 of a plane is where w says.
	w, err := cancer.Weights()
	if err != nil {
		t.Fatal(err)
	}
	at := data.X[5]
	chart, err := svmnb.MarginsOver(3, 7, at...).Of(cancer)
	if err != nil {
		t.Fatal(err)
	}
	rest := cancer.Bias
	for j, v := range at {
		if j != 3 && j != 7 {
			rest += w[j] * v
		}
	}
	extra := chart.Extra["svm"].(map[string]any)
	zero, box := extra["zero"].([][]int), extra["box"].(map[string]any)
	xs, ys, n := box["x"].([2]float64), box["y"].([2]float64), float64(box["n"].(int))
	if len(zero) == 0 {
		t.Fatal("no line f = 0 in the plane")
	}
	scale := math.Abs(w[3])*(xs[1]-xs[0]) + math.Abs(w[7])*(ys[1]-ys[0])
	for _, line := range zero {
		x, y := 0, 0
		for k := 0; k < len(line); k += 2 {
			x, y = x+line[k], y+line[k+1]
			f := rest + w[3]*(xs[0]+(xs[1]-xs[0])*float64(x)/n) + w[7]*(ys[0]+(ys[1]-ys[0])*float64(y)/n)
			if math.Abs(f) > 2e-3*scale {
				t.Fatalf("f is %v on the line f = 0", f)
			}
		}
	}
	if !strings.Contains(chart.Title.Subtitle, "a slice: colours are for points with the other 28 features as given; the training points lie off the slice") {
		t.Errorf("the subtitle is %q", chart.Title.Subtitle)
	}
	corners, err := svmnb.Margins.Of(svmnb.Classify(datasets.XOR(4, 0, 1)).Kernel(kernels.RBF(1)).MustFit())
	if err != nil || strings.Contains(fmt.Sprint(corners.Extra["xAxis"]), "(sd)") {
		t.Errorf("the corners of XOR count as standardised: %v", err)
	}
	// The unit of standardised features is one standard deviation, also of their weights.
	if x := chart.Extra["xAxis"]; !strings.Contains(fmt.Sprint(x), "mean area (sd)") {
		t.Errorf("the axis is %v", x)
	}
	weights, err := svmnb.Weights.Of(cancer)
	if err != nil || !strings.Contains(weights.Title.Subtitle, "change of f for one standard deviation of the feature") {
		t.Errorf("weights of standardised features: %v, %v", weights, err)
	}
	petals := svmnb.Classify(datasets.Moons(60, 0.2, 1)).Kernel(kernels.Linear()).MustFit()
	if weights, err = svmnb.Weights.Of(petals); err != nil || !strings.Contains(weights.Title.Subtitle, "change of f for one unit of the feature") {
		t.Errorf("weights of other features: %v, %v", weights, err)
	}
	iris := svmnb.Classify(datasets.Iris()).OneVsOne().MustFit()
	for _, c := range []struct {
		figure display.Figure
		words  string
	}{
		{svmnb.MarginsOver(2, 3), "at the medians sepal length (cm) = 5.8, sepal width (cm) = 3"},
		{svmnb.MarginsPCA(), "a projection: the plane has 97.8 % of the variance"}, // 92.46 + 5.31, R's prcomp(iris[, 1:4])
	} {
		chart, err := c.figure.Of(iris)
		if err != nil || !strings.Contains(chart.Title.Subtitle, c.words) {
			t.Errorf("%v: %v, %v; want %q", c.figure, chart, err, c.words)
		}
	}
}

// A learning curve ends, and a validation curve passes, where CrossValidate says; the
// training side is what a fit says of its own points.
func TestScoreCurves(t *testing.T) {
	ctx := context.Background()
	l, folds := svmnb.Classify(datasets.Moons(60, 0.3, 2)).C(1), selection.StratifiedKFold(3, 1)
	want, err := selection.CrossValidate(ctx, l, folds)
	if err != nil {
		t.Fatal(err)
	}
	learning, err := selection.LearningCurve(ctx, l, folds)
	if err != nil {
		t.Fatal(err)
	}
	along, err := selection.ValidationCurve(ctx, l, folds, "C", 100, 1, 0.01, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := learning.HeldOut[len(learning.Xs)-1]; !slices.Equal(got, want.Scores) || learning.Xs[len(learning.Xs)-1] != 40 || len(learning.Xs) != 8 {
		t.Errorf("the learning curve ends at %v points with %v, want %v", learning.Xs, got, want.Scores)
	}
	if got := along.HeldOut[1]; !slices.Equal(got, want.Scores) || !slices.Equal(along.Xs, []float64{0.01, 1, 100}) {
		t.Errorf("along C = %v the scores at 1 are %v, want %v", along.Xs, got, want.Scores)
	}
	data := datasets.Moons(60, 0.3, 2)
	splits, err := folds.Splits(data)
	if err != nil {
		t.Fatal(err)
	}
	fit := svmnb.Classify(data.Select(splits[2].Train)).C(1).MustFit()
	right := 1 - float64(fit.TrainingErrors())/float64(len(splits[2].Train))
	if got := along.Train[1][2]; math.Abs(got-right) > 1e-12 {
		t.Errorf("the training score of fold 3 is %v, want %v", got, right)
	}
	for _, c := range []*selection.ScoreCurve{learning, along} {
		chart, err := c.Chart()
		if err != nil || !strings.Contains(chart.Title.Title, "on held-out points") {
			t.Errorf("%v, %v", chart, err)
		}
		if s := display.Table(c); s.Err() != nil || !strings.Contains(s.String(), "accuracy, held out") {
			t.Errorf("%v", s)
		}
	}
	real, err := selection.LearningCurve(ctx, svmnb.Regress(datasets.Sinc(40, 0.1, 1)), selection.KFold(4, 1), 10, 30)
	if err != nil || real.Metric.Name != "RMSE" || !(real.Train[0][0] > 0) {
		t.Errorf("of a regression: %+v, %v", real, err)
	}

	done, cancel := context.WithCancel(ctx)
	cancel()
	if c, err := selection.LearningCurve(done, l, folds); c == nil || !errors.Is(err, context.Canceled) || !math.IsNaN(c.HeldOut[0][0]) {
		t.Errorf("cancelled: %v, %v", c, err)
	} else if _, err := c.Chart(); err == nil {
		t.Error("a curve without a score was drawn")
	}
	for _, c := range []struct {
		of   func() (*selection.ScoreCurve, error)
		want string
	}{
		{func() (*selection.ScoreCurve, error) { return selection.LearningCurve(ctx, nil, folds) }, "the learner is nil"},
		{func() (*selection.ScoreCurve, error) { return selection.LearningCurve(ctx, l, nil) }, "the folds are nil"},
		{func() (*selection.ScoreCurve, error) { return selection.LearningCurve(ctx, l, folds, 10, 41) }, "from 1 to 40"},
		{func() (*selection.ScoreCurve, error) { return selection.LearningCurve(ctx, l, folds, 0, 4) }, "from 1 to 40"},
		{func() (*selection.ScoreCurve, error) { return selection.LearningCurve(ctx, l, folds, 4) }, "give two or more"},
		{func() (*selection.ScoreCurve, error) { return selection.LearningCurve(ctx, l.C(-1), folds, 4, 8) }, "C"},
		{func() (*selection.ScoreCurve, error) { return selection.ValidationCurve(ctx, l, folds, "C", 1) }, "two or more different values of C, and 1 was given"},
		{func() (*selection.ScoreCurve, error) { return selection.ValidationCurve(ctx, l, folds, "depth", 1, 2) }, `there is no parameter "depth"`},
		{func() (*selection.ScoreCurve, error) {
			return selection.ValidationCurve(ctx, l, folds, "C", -1, math.NaN())
		}, "C"},
	} {
		var argument *svmnb.ArgumentError
		if got, err := c.of(); got != nil || !errors.As(err, &argument) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want an *ArgumentError with %q", err, c.want)
		}
	}
}

func ExampleLearningCurve() {
	svm := svmnb.Classify(datasets.Moons(200, 0.2, 1)).C(1)
	curve, err := selection.LearningCurve(context.Background(), svm, selection.StratifiedKFold(5, 1), 10, 40, 160)
	if err != nil {
		panic(err)
	}
	display.Table([][]float64{curve.Xs}).Show()
	// Output:
	// 1 row × 4 columns
	// row  x1  x2   x3
	//   0  10  40  160
}

// A picture of points far from the origin has as many dots as that of the same points near
// it: their coordinates keep the digits that tell them apart.
func TestPicturesFarFromTheOrigin(t *testing.T) {
	moved := func(d *datasets.Dataset, by float64) *datasets.Dataset {
		e := *d
		e.X = make([][]float64, len(d.X))
		for i, row := range d.X {
			for _, v := range row {
				e.X[i] = append(e.X[i], v+by)
			}
		}
		return &e
	}
	chart := func(figure display.Figure) func(any) (*display.Chart, error) { return figure.Of }
	for name, c := range map[string]struct {
		fit  func(by float64) any
		draw func(fit any) (*display.Chart, error)
	}{
		"Margins": {func(by float64) any { return svmnb.Classify(moved(moonsData(), by)).Kernel(kernels.RBF(1)).MustFit() }, chart(svmnb.Margins)},
		"Regions": {func(by float64) any {
			return svmnb.Classify(moved(datasets.Iris().Columns(2, 3), by)).Kernel(kernels.RBF(1)).OneVsOne().MustFit()
		}, chart(svmnb.Regions)},
		"Replay": {func(by float64) any {
			return svmnb.Classify(moved(moonsData(), by)).Kernel(kernels.RBF(1)).SMO().MustFit()
		}, func(fit any) (*display.Chart, error) { return play.Replay(fit).Chart() }},
		"Tube": {func(by float64) any {
			return svmnb.Regress(moved(datasets.Sinc(40, 0.1, 1), by)).Kernel(kernels.RBF(1)).MustFit()
		}, chart(svmnb.Tube)},
		"Posterior": {func(by float64) any {
			return gp.Regress(moved(datasets.Sinc(40, 0.1, 1), by)).Kernel(kernels.RBF(1)).MustFit()
		}, chart(gp.Posterior)},
	} {
		dots := func(by float64) int {
			drawn, err := c.draw(c.fit(by))
			if err != nil {
				t.Fatalf("%s, moved by %g: %v", name, by, err)
			}
			text, err := json.Marshal(drawn.JSON())
			if err != nil {
				t.Fatal(err)
			}
			var option struct {
				Series []struct {
					Type string
					Data any
				}
			}
			if err := json.Unmarshal(text, &option); err != nil {
				t.Fatal(err)
			}
			places := map[[2]any]bool{}
			for _, s := range option.Series {
				items, _ := s.Data.([]any)
				for _, item := range items {
					if v, ok := item.([]any); ok && s.Type == "scatter" && len(v) > 1 {
						places[[2]any{v[0], v[1]}] = true
					}
				}
			}
			return len(places)
		}
		near := dots(0)
		if near < 30 {
			t.Errorf("%s: %d dots", name, near)
		}
		for _, by := range []float64{1e3, 1e6} {
			if far := dots(by); far < near {
				t.Errorf("%s: %d dots, and %d when the points are moved by %g", name, near, far, by)
			}
		}
	}
}
