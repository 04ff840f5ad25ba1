package selection

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
)

// The other metrics of By are those that a search by them alone finds, also from a file, and a
// metric that is not defined does not reject a setting.
func TestEveryMetricAtOnce(t *testing.T) {
	data := testkit.Moons()
	grid := Grid{"C": {0.1, 10}, "gamma": {0.1, 1}}
	file := filepath.Join(t.TempDir(), "scores")
	search := Search(svmnb.Classify(data), grid, StratifiedKFold(4, 1)).File(file)
	all := found(t, search.By(Accuracy, F1, AUC, LogLoss))
	for m, metric := range []Metric{F1, AUC} {
		one := found(t, Search(svmnb.Classify(data), grid, StratifiedKFold(4, 1)).By(metric))
		for i, trial := range one.Trials {
			if !slices.Equal(all.Trials[i].Also[m], trial.Scores) {
				t.Errorf("%s of setting %d: %v beside accuracy, %v alone", metric.Name, i, all.Trials[i].Also[m], trial.Scores)
			}
		}
	}
	for i, trial := range all.Trials {
		if trial.Err != "" || !slices.ContainsFunc(trial.Also[2], math.IsNaN) {
			t.Errorf("setting %d has a log loss without probabilities, %v, or was rejected: %q", i, trial.Also[2], trial.Err)
		}
	}
	if s := all.Markdown(); !strings.Contains(s, "| F1 | ") || !strings.Contains(s, " AUC |") {
		t.Errorf("the summary lacks the other metrics:\n%s", s)
	}
	if again := found(t, search.By(Accuracy, F1, AUC, LogLoss)); again.Fitted != 0 || again.Trials[3].Also[1][2] != all.Trials[3].Also[1][2] {
		t.Errorf("%d folds were learnt again", again.Fitted)
	}
	if more := found(t, search.By(Accuracy, F1, MCC)); more.Fitted != 16 {
		t.Errorf("a metric that the file does not have: %d folds of 16 were learnt", more.Fitted)
	}
	if plain := found(t, search.By(Accuracy)); plain.Fitted != 0 || plain.Trials[0].Also != nil {
		t.Errorf("fewer metrics: %d folds were learnt again", plain.Fitted)
	}
	for _, wrong := range []Searcher{search.By(Accuracy, Metric{Name: "none"}), search.By(F1, F1), search.By(F1, MCC, MCC)} {
		if _, err := wrong.Fit(context.Background()); !errors.As(err, new(*svmnb.ArgumentError)) {
			t.Errorf("wrong metrics: %v", err)
		}
	}
}

// CrossValidate by several metrics has the scores of each alone.
func TestCrossValidateByMetrics(t *testing.T) {
	data, ctx := testkit.Moons(), context.Background()
	v, err := CrossValidate(ctx, svmnb.Classify(data), StratifiedKFold(3, 1), F1, Accuracy)
	if err != nil {
		t.Fatal(err)
	}
	own, err := CrossValidate(ctx, svmnb.Classify(data), StratifiedKFold(3, 1))
	if err != nil {
		t.Fatal(err)
	}
	if v.Metric.Name != "F1" || len(v.Scores) != 3 || !slices.Equal(v.Also[0], own.Scores) || !strings.Contains(v.Markdown(), "| accuracy |") {
		t.Errorf("%v\n%s", v, v.Markdown())
	}
	if _, err := CrossValidate(ctx, svmnb.Classify(data), KFold(3, 1), Metric{}); !errors.As(err, new(*svmnb.ArgumentError)) {
		t.Errorf("a metric without function: %v", err)
	}
}

// Halving scores every setting with few points, chooses among those of the last round, whose
// scores are those of a plain search, goes on from its file and tells its progress.
func TestHalve(t *testing.T) {
	data := datasets.Moons(400, 0.25, 3)
	space := Random{27, map[string]Range{"C": {0.01, 1000, true, false}, "gamma": {1e-3, 100, true, false}}, 5}
	file := filepath.Join(t.TempDir(), "scores")
	var last SearchProgress
	search := Search(svmnb.Classify(data), space, StratifiedKFold(4, 1)).Halve(3).File(file).Watch(func(p SearchProgress) { last = p })
	f := found(t, search)
	rounds := map[int]int{}
	for _, trial := range f.Trials {
		rounds[trial.Points]++
	}
	if fmt.Sprint(rounds) != "map[0:3 33:18 100:6]" || f.Fitted != 4*(27+9+3) || last.Done != last.All || last.All != f.Fitted {
		t.Errorf("rounds %v, %d fits, progress %+v", rounds, f.Fitted, last)
	}
	plain := found(t, Search(svmnb.Classify(data), space, StratifiedKFold(4, 1)))
	for i, trial := range f.Trials {
		if trial.Points == 0 && !slices.EqualFunc(trial.Scores, plain.Trials[i].Scores, func(a, b float64) bool { return math.Abs(a-b) < 0.011 }) {
			t.Errorf("setting %d: %v after halving, %v plain", i, trial.Scores, plain.Trials[i].Scores)
		}
	}
	best, _ := f.Best()
	top, _ := plain.Best()
	if best.Points != 0 || best.Mean() < top.Mean()-top.StandardError() {
		t.Errorf("halving chose %v, the best is %v", best, top)
	}
	if s := f.Markdown(); !strings.Contains(s, "training points") || !strings.Contains(s, "dropped by Halve") {
		t.Error(s)
	}
	if again := found(t, search); again.Fitted != 0 || again.best != f.best {
		t.Errorf("%d folds were learnt again", again.Fitted)
	}
	for _, factor := range []float64{1, 0, -3, math.NaN(), math.Inf(1)} {
		if _, err := search.Halve(factor).Fit(context.Background()); !errors.As(err, new(*svmnb.ArgumentError)) {
			t.Errorf("Halve(%v): %v", factor, err)
		}
	}
}

// With few points or one setting there is one round only.
func TestHalveOfLittle(t *testing.T) {
	few := found(t, Search(svmnb.Classify(testkit.Moons().Select(testkit.Seq(24))), Grid{"C": {1, 2, 3, 4}}, KFold(2, 1)).Halve(2))
	one := found(t, Search(svmnb.Classify(testkit.Moons()), Grid{"C": {1}}, KFold(2, 1)).Halve(2))
	if few.Fitted != 8 || one.Fitted != 2 {
		t.Errorf("%d and %d folds", few.Fitted, one.Fitted)
	}
}

// Interrupted in an early round, the search has no best setting, and says so.
func TestHalveInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	space := Random{27, map[string]Range{"C": {0.01, 1000, true, false}}, 5}
	f, err := Search(svmnb.Classify(datasets.Moons(400, 0.25, 3)), space, StratifiedKFold(4, 1)).Halve(3).Workers(1).
		Watch(func(p SearchProgress) {
			if p.Done == 40 {
				stop()
			}
		}).Fit(ctx)
	if f == nil || !errors.Is(err, context.Canceled) {
		t.Fatal(f, err)
	}
	if _, ok := f.Best(); ok {
		t.Error("a setting of an early round is the best")
	}
	if s := f.Markdown(); s == "" {
		t.Error("no summary")
	}
}

// towards is a sequential space that walks to a larger C as long as the score grows.
type towards struct{ most int }

func (w towards) Settings() ([]string, [][]float64, error) {
	return []string{"C"}, [][]float64{{0.001}, {0.01}}, nil
}
func (w towards) String() string { return "towards" }
func (w towards) Len() int       { return w.most }
func (w towards) Next(_ context.Context, tried [][]float64, scores []float64) ([]float64, error) {
	switch n := len(tried); {
	case w.most == -1:
		return nil, os.ErrInvalid
	case w.most == -2:
		return []float64{1, 2}, nil
	case w.most == -3:
		panic("mine")
	case n == w.most || scores[n-1] < scores[n-2]:
		return nil, nil
	default:
		return []float64{10 * tried[n-1][0]}, nil
	}
}

// A space of one's own chooses each setting by the scores before, and its mistakes are told.
func TestSequential(t *testing.T) {
	search := func(most int) Searcher {
		return Search(svmnb.Classify(testkit.Moons()).Kernel(kernels.RBF(1)), towards{most}, KFold(3, 1))
	}
	f := found(t, search(5))
	if n := len(f.Trials); n < 3 || n > 5 || f.Trials[2].Values[0] != 0.1 {
		t.Errorf("trials %v", f.Trials)
	}
	for _, most := range []int{-1, -2, -3} {
		if _, err := search(most).Fit(context.Background()); err == nil {
			t.Errorf("mistake %d is not told", most)
		}
	}
	if _, err := search(5).Halve(2).Fit(context.Background()); !errors.As(err, new(*svmnb.ArgumentError)) {
		t.Errorf("Halve of a sequential space: %v", err)
	}
}
