package svmnb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"github.com/svmnb/svmnb/svmnb/model"
	"pgregory.net/rapid"
)

// rare are two classes that overlap, with one positive point for four negative ones.
func rare(n int, seed uint64) *datasets.Dataset {
	d := datasets.Moons(2*n, 0.35, seed)
	var rows []int
	for i, y := range d.Y {
		if y < 0 || i%4 == 0 {
			rows = append(rows, i)
		}
	}
	return d.Select(rows)
}

var goals = []Goal{
	ForCost(1, 1), ForCost(1, 20), ForCost(20, 1), ForCost(0, 1), ForCost(1, 0), ForRecall(0.9), ForRecall(1), ForPrecision(0.7),
	ForFalsePositiveRate(0.05), ForFalsePositiveRate(0), ForF1(), ForBalancedAccuracy(), ForRecall(0.9).Folds(8, 3),
}

// tally counts what a threshold does to points with these scores.
func tally(truth []int, scores []float64, threshold float64) (right, wrong, positives, negatives float64) {
	for i, k := range truth {
		if k == 1 {
			positives++
		} else {
			negatives++
		}
		switch {
		case scores[i] >= threshold && k == 1:
			right++
		case scores[i] >= threshold:
			wrong++
		}
	}
	return right, wrong, positives, negatives
}

// wanted returns how good a threshold is for a goal, larger is better, by counting; −Inf if it
// does not keep a rate.
func wanted(g Goal, truth []int, scores []float64, threshold float64) float64 {
	right, wrong, positives, negatives := tally(truth, scores, threshold)
	const tie = 1e-6
	switch g.kind {
	case forCost:
		return -(g.falsePositive*wrong + g.falseNegative*(positives-right))
	case forF1:
		return 2 * right / (2*right + wrong + positives - right)
	case forBalancedAccuracy:
		return (right/positives + 1 - wrong/negatives) / 2
	case forRecall:
		if right/positives >= g.share {
			return -wrong + tie*right
		}
	case forPrecision:
		if right+wrong > 0 && right/(right+wrong) >= g.share {
			return right - tie*wrong
		}
	case forFalsePositiveRate:
		if wrong/negatives <= g.share {
			return right - tie*wrong
		}
	}
	return math.Inf(-1)
}

// No other threshold is better than the one that is chosen, whatever the scores.
func TestChosenThresholdIsBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 25).Draw(t, "n")
		e := &Evaluation{Classes: []string{"no", "yes"}, Truth: []int{0, 1}}
		for i := range n {
			if i >= 2 {
				e.Truth = append(e.Truth, rapid.IntRange(0, 1).Draw(t, "class"))
			}
			e.Scores = append(e.Scores, rapid.SampledFrom([]float64{-1, -0.5, 0, 0x1p-52, 1e-300, 0.5, 1, 1 + 0x1p-52, 1e10}).Draw(t, "score"))
		}
		g := rapid.SampledFrom(goals).Draw(t, "goal")
		counts, err := countTaken(e)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range counts {
			if right, wrong, _, _ := tally(e.Truth, e.Scores, c.threshold); right != float64(c.right) || wrong != float64(c.wrong) {
				t.Fatalf("%+v takes %v and %v", c, right, wrong)
			}
		}
		best := math.Inf(-1)
		tried := append(slices.Clone(e.Scores), math.Inf(1))
		for _, threshold := range tried {
			best = max(best, wanted(g, e.Truth, e.Scores, threshold))
		}
		chosen, err := g.choose(counts, 0)
		if err != nil {
			if g.kind != forPrecision || !math.IsInf(best, -1) {
				t.Fatalf("%v: %v, and %v can be had", g, err, best)
			}
			return
		}
		if got := wanted(g, e.Truth, e.Scores, counts[chosen].threshold); math.Abs(got-best) > 1e-9 {
			t.Fatalf("%v: %v at %v, the best is %v", g, got, counts[chosen].threshold, best)
		}
	})
}

// What is chosen is what is predicted: by the fit with the threshold, by its model, and by
// the model that was written and read again.
func TestThreshold(t *testing.T) {
	ctx := context.Background()
	train, test := rare(120, 1), rare(200, 2)
	fit := testkit.FitOf(t, Classify(train).Kernel(kernels.RBF(1)).C(2))
	pair := testkit.FitOf(t, Classify(train).Kernel(kernels.RBF(1)).OneVsOne())
	rest := testkit.FitOf(t, Classify(train).Kernel(kernels.RBF(1)).OneVsRest())
	of := func(c *Calibrated, err error) *Calibrated {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	type chooser interface {
		Threshold(context.Context, Goal) (*Thresholded, error)
		model.Modeler
	}
	for name, c := range map[string]struct {
		fit    chooser
		scores func(x datasets.Points) []float64
	}{
		"decision values": {fit, func(x datasets.Points) []float64 { v, _ := fit.Values(x); return v }},
		"Platt":           {of(fit.Calibrate(ctx, Platt{})), nil},
		"isotonic":        {of(fit.Calibrate(ctx, Isotonic{})), nil},
		"Platt of a pair": {of(pair.Calibrate(ctx, Platt{})), nil},
		"Platt of a rest": {of(rest.Calibrate(ctx, Platt{})), nil},
	} {
		scores := c.scores
		if scores == nil {
			scores = func(x datasets.Points) []float64 {
				p, _ := c.fit.(*Calibrated).Probabilities(x)
				var s []float64
				for _, row := range p {
					s = append(s, row[1])
				}
				return s
			}
		}
		for _, g := range goals {
			if name != "decision values" && g.folds != 0 {
				continue
			}
			at, err := c.fit.Threshold(ctx, g)
			if err != nil {
				t.Fatalf("%s, %v: %v", name, g, err)
			}
			h := at.HeldOut()
			if len(h.Truth) != train.N() || h.Confusion().N() != train.N() {
				t.Fatalf("%s, %v: %d points held out", name, g, len(h.Truth))
			}
			best := math.Inf(-1)
			for _, s := range append(slices.Clone(h.Scores), math.Inf(1)) {
				best = max(best, wanted(g, h.Truth, h.Scores, s))
			}
			if got := wanted(g, h.Truth, h.Scores, at.Value); math.Abs(got-best) > 1e-9 || math.IsInf(got, 0) {
				t.Errorf("%s, %v: %v at %v, the best is %v", name, g, got, at.Value, best)
			}
			names, err := at.Predict(test)
			if err != nil {
				t.Fatal(err)
			}
			e, err := at.Evaluate(test)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "model")
			if err := model.Save(path, at.Model()); err != nil {
				t.Fatal(err)
			}
			loaded, err := model.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			own, err := at.Model().Predict(test)
			if err != nil {
				t.Fatal(err)
			}
			again, err := loaded.Predict(test)
			if err != nil || !slices.Equal(own, names) || !slices.Equal(again, names) {
				t.Errorf("%s, %v: the model predicts %v, %v", name, g, own, err)
			}
			for i, s := range scores(test) {
				if want := e.Classes[machines.SideFrom(s, at.Value)]; names[i] != want || e.Classes[e.Predicted[i]] != want {
					t.Errorf("%s, %v: %q at %v, the threshold is %v", name, g, names[i], s, at.Value)
				}
			}
			testkit.Says(t, name, at.Markdown(), "**threshold**", g.String(), "false positives", "held out")
			chart, err := Thresholds.Of(at)
			if err != nil || !(strings.Contains(chart.Title.Title, "at the threshold") || at.Value == at.usual && strings.Contains(chart.Title.Title, "No threshold is better")) || strings.Contains(chart.Title.Title, "NaN") {
				t.Errorf("%s, %v: %v", name, g, err)
			}
		}
	}
	careful, _ := fit.Threshold(ctx, ForCost(1, 20))
	bold, _ := fit.Threshold(ctx, ForCost(20, 1))
	if !(careful.Value < 0 && bold.Value > 0) {
		t.Errorf("a missed point that costs more has the threshold %v, one that costs less %v", careful.Value, bold.Value)
	}
}

// No point has a part in the machine that scores it.
func TestThresholdHoldsOut(t *testing.T) {
	data := rare(40, 3)
	fit := testkit.FitOf(t, Classify(data).Kernel(kernels.RBF(1)))
	at, err := fit.Threshold(context.Background(), ForF1().Folds(4, 9))
	if err != nil {
		t.Fatal(err)
	}
	class := make([]int, data.N())
	for i, y := range data.Y {
		class[i] = machines.SideOf(y)
	}
	fold, err := deal("Threshold", fit.Model().Classes(), class, 4, 9)
	if err != nil {
		t.Fatal(err)
	}
	var want []float64
	for k := range 4 {
		var in, out []int
		for i, f := range fold {
			if f == k {
				out = append(out, i)
			} else {
				in = append(in, i)
			}
		}
		values, _ := testkit.FitOf(t, Classify(data.Select(in)).Kernel(kernels.RBF(1))).Values(data.Select(out))
		want = append(want, values...)
	}
	if got := at.HeldOut().Scores; !testkit.NearRows([][]float64{got}, [][]float64{want}, 1e-12) {
		t.Errorf("scores %v, want %v", got, want)
	}
	// The curve of a fold is fitted without it too: a curve of all points would be another.
	c, err := fit.Calibrate(context.Background(), Platt{Folds: 3})
	if err != nil {
		t.Fatal(err)
	}
	with, err := c.Threshold(context.Background(), ForF1())
	if err != nil {
		t.Fatal(err)
	}
	if slices.Equal(slices.Sorted(slices.Values(with.HeldOut().Scores)), slices.Sorted(slices.Values(c.HeldOut().Scores))) {
		t.Error("the probabilities are those of a curve that was fitted to the points themselves")
	}
}

func TestThresholdErrors(t *testing.T) {
	ctx, stop := context.WithCancelCause(context.Background())
	data := rare(40, 1)
	fit := testkit.FitOf(t, Classify(data))
	iris, err := testkit.FitOf(t, Classify(datasets.Iris()).OneVsOne()).Calibrate(ctx, Platt{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := fit.Calibrate(ctx, Platt{})
	if err != nil {
		t.Fatal(err)
	}
	noise := datasets.New([][]float64{{0}, {0}, {0}, {0}}, []float64{0, 1, 0, 1})
	single := datasets.New([][]float64{{0}, {1}, {2}}, []float64{0, 1, 0})
	nan := math.NaN()
	var none context.Context
	is := func(_ *Thresholded, err error) error { return err }
	for name, test := range map[string]struct {
		err  error
		call string
	}{
		"no goal":               {is(fit.Threshold(ctx, Goal{})), "Threshold"},
		"no goal, calibrated":   {is(c.Threshold(ctx, Goal{})), "Threshold"},
		"negative cost":         {is(fit.Threshold(ctx, ForCost(-1, 1))), "ForCost"},
		"no cost":               {is(fit.Threshold(ctx, ForCost(0, 0))), "ForCost"},
		"NaN cost":              {is(fit.Threshold(ctx, ForCost(1, nan))), "ForCost"},
		"infinite cost":         {is(fit.Threshold(ctx, ForCost(1, math.Inf(1)))), "ForCost"},
		"recall 0":              {is(fit.Threshold(ctx, ForRecall(0))), "ForRecall"},
		"recall 2":              {is(fit.Threshold(ctx, ForRecall(2))), "ForRecall"},
		"recall NaN":            {is(fit.Threshold(ctx, ForRecall(nan))), "ForRecall"},
		"precision 0":           {is(fit.Threshold(ctx, ForPrecision(0))), "ForPrecision"},
		"false positive rate 1": {is(fit.Threshold(ctx, ForFalsePositiveRate(1))), "ForFalsePositiveRate"},
		"one fold":              {is(fit.Threshold(ctx, ForF1().Folds(1, 0))), "Threshold"},
		"too many folds":        {is(fit.Threshold(ctx, ForF1().Folds(1000, 0))), "Threshold"},
		"folds of a calibrated": {is(c.Threshold(ctx, ForF1().Folds(3, 0))), "Threshold"},
		"out of reach":          {is(testkit.FitOf(t, Classify(noise)).Threshold(ctx, ForPrecision(1).Folds(2, 0))), "Threshold"},
		"a single point":        {is(testkit.FitOf(t, Classify(single)).Threshold(ctx, ForF1().Folds(2, 0))), "Threshold"},
		"one class":             {is(testkit.FitOf(t, OneClass(data)).Threshold(ctx, ForF1())), "Threshold"},
		"three classes":         {is(iris.Threshold(ctx, ForF1())), "Threshold"},
		"no context":            {is(fit.Threshold(none, ForF1())), "Threshold"},
		"no fit":                {is((*Fit)(nil).Threshold(ctx, ForF1())), "Threshold"},
		"no calibrated":         {is((&Calibrated{}).Threshold(ctx, ForF1())), "Threshold"},
	} {
		if !testkit.IsArgument(test.err, test.call) {
			t.Errorf("%s: %v, want an *ArgumentError of %s", name, test.err, test.call)
		}
	}
	why := errors.New("enough")
	stop(why)
	if at, err := fit.Threshold(ctx, ForF1()); at != nil || !errors.Is(err, why) {
		t.Errorf("stopped: %v, %v", at, err)
	}
}

// Formats without a place for a threshold get it in the bias: the class that they predict is
// that of the threshold. Those that would decide by probabilities refuse.
func TestThresholdInOtherFormats(t *testing.T) {
	ctx := context.Background()
	data := rare(60, 4)
	linear := testkit.FitOf(t, Classify(data).Kernel(kernels.Linear()))
	at, err := linear.Threshold(ctx, ForRecall(0.95))
	if err != nil {
		t.Fatal(err)
	}
	want, err := linear.Values(data)
	if err != nil {
		t.Fatal(err)
	}
	for format, c := range map[string]struct {
		write func(*model.Model, *bytes.Buffer) error
		read  func(*bytes.Buffer) (*model.Model, error)
	}{
		"LIBSVM":    {func(m *model.Model, b *bytes.Buffer) error { return m.WriteLIBSVM(b) }, func(b *bytes.Buffer) (*model.Model, error) { return model.ReadLIBSVM(b, 2) }},
		"LIBLINEAR": {func(m *model.Model, b *bytes.Buffer) error { return m.WriteLIBLINEAR(b) }, func(b *bytes.Buffer) (*model.Model, error) { return model.ReadLIBLINEAR(b) }},
	} {
		var b bytes.Buffer
		if err := c.write(at.Model(), &b); err != nil {
			t.Fatal(err)
		}
		m, err := c.read(&b)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := m.Decisions(data)
		if err != nil {
			t.Fatal(err)
		}
		sign := 1.0 // the class that is first in the file is the positive one
		if m.Classes()[m.Inside().Duels[0][0]] != "1" {
			sign = -1
		}
		for i, row := range rows {
			testkit.Near(t, fmt.Sprintf("%s, f of point %d", format, i), sign*row[0], want[i]-at.Value, 1e-9)
		}
		calibrated, err := linear.Calibrate(ctx, Platt{})
		if err != nil {
			t.Fatal(err)
		}
		probable, err := calibrated.Threshold(ctx, ForRecall(0.95))
		if err != nil {
			t.Fatal(err)
		}
		var refused *model.Error
		if err := c.write(probable.Model(), &b); !errors.As(err, &refused) || refused.Format != format {
			t.Errorf("%s of a threshold of probabilities: %v", format, err)
		}
	}
}
