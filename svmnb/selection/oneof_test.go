package selection

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/transform"
)

// A search over alternatives has the scores of a search for each of them.
func TestOneOf(t *testing.T) {
	ctx := context.Background()
	data := datasets.Wine().OneVsRest("cultivar 2")
	scaled := Pipe(transform.Standardise(), svmnb.Classify(data).Kernel(kernels.RBF(0.1)))
	laplacian := svmnb.Classify(data).Kernel(kernels.Laplacian(0.1))
	linear := Pipe(transform.MinMax(), svmnb.Classify(data).Kernel(kernels.Linear()))
	space, folds := Grid{"C": {0.1, 10}, "gamma": {0.01, 0.1}}, StratifiedKFold(4, 1)
	choice := OneOf("machine", Alternative{"scaled RBF", scaled}, Alternative{"Laplacian", laplacian}, Alternative{"linear", linear})
	all, err := Search(choice, space, folds).File(filepath.Join(t.TempDir(), "search")).Fit(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(all.Names, []string{"machine", "gamma", "C"}) || len(all.Trials) != 12 {
		t.Fatal(all.Names, len(all.Trials))
	}
	for i, l := range []Learner{scaled, laplacian} {
		one, err := Search(l, space, folds).Fit(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for k, trial := range one.Trials {
			if got := all.Trials[4*i+k]; fmt.Sprint(got.Scores) != fmt.Sprint(trial.Scores) || got.Values[0] != float64(i+1) {
				t.Errorf("%v: %v; want %v", got.Values, got.Scores, trial.Scores)
			}
		}
	}
	for k := 8; k < 10; k++ { // the linear kernel has no gamma
		if fmt.Sprint(all.Trials[k].Scores) != fmt.Sprint(all.Trials[k+2].Scores) {
			t.Error(all.Trials[k], all.Trials[k+2])
		}
	}
	best, _ := all.Best()
	name := []string{"scaled RBF", "Laplacian", "linear"}[int(best.Values[0])-1]
	if text := all.Markdown(); !strings.Contains(text, "machine = "+name) || !strings.Contains(all.Table().String(), "Laplacian") {
		t.Error(text)
	}
	fit, err := all.Learner().Fit(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if score, err := fit.Score(data); err != nil || score < 0.95 {
		t.Error(score, err)
	}
	other := svmnb.Classify(datasets.Wine().OneVsRest("cultivar 3"))
	for _, c := range []struct {
		choice Alternatives
		space  Space
		want   string
	}{
		{OneOf("a"), space, "there are no alternatives"},
		{OneOf("a", Alternative{"nobody", nil}), space, `"nobody", has no learner`},
		{OneOf("a", Alternative{"x", scaled}, Alternative{"y", other}), space, "different data"},
		{choice, Grid{"degree": {2}}, `no parameter "degree"`},
		{choice, Grid{"machine": {4}}, `no parameter "machine"`},
	} {
		if _, err := Search(c.choice, c.space, folds).Fit(ctx); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v; want %q", c.choice, err, c.want)
		}
	}
}

// Cross-validation of a search scores points that the search has not seen: of labels that
// are drawn by lot it promises nothing, while the search itself finds a lucky setting.
func TestNestedCrossValidation(t *testing.T) {
	ctx := context.Background()
	data := datasets.Moons(80, 0.2, 1)
	lots := *data
	lots.Y = slices.Clone(data.Y)
	for i := range lots.Y {
		lots.Y[i] = float64(2*(i*i%7%2) - 1)
	}
	space := Grid{"C": {0.1, 1, 10, 100}, "gamma": {0.1, 1, 10, 100}}
	search := Search(svmnb.Classify(&lots).Kernel(kernels.RBF(1)), space, StratifiedKFold(4, 1))
	found, err := search.Fit(ctx)
	if err != nil {
		t.Fatal(err)
	}
	nested, err := CrossValidate(ctx, search, StratifiedKFold(4, 2))
	if err != nil {
		t.Fatal(err)
	}
	best, _ := found.Best()
	if !(nested.Mean() < best.Mean()) || len(nested.Scores) != 4 {
		t.Errorf("nested %v, best of the search %v", nested.Mean(), best.Mean())
	}
	good, err := CrossValidate(ctx, Search(svmnb.Classify(data).Kernel(kernels.RBF(1)), space, StratifiedKFold(4, 1)), StratifiedKFold(4, 2))
	if err != nil || good.Mean() < 0.9 {
		t.Error(good, err)
	}
	// By hand: a search on the training part of the first fold, its machine on the rest.
	splits, err := StratifiedKFold(4, 2).Splits(data)
	if err != nil {
		t.Fatal(err)
	}
	train, test := data.Select(splits[0].Train), data.Select(splits[0].Test)
	inner, err := Search(svmnb.Classify(train).Kernel(kernels.RBF(1)), space, StratifiedKFold(4, 1)).Fit(ctx)
	if err != nil {
		t.Fatal(err)
	}
	fit, err := inner.Learner().Fit(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if score, err := fit.Score(test); err != nil || score != good.Scores[0] {
		t.Errorf("by hand %v, nested %v, %v", score, good.Scores[0], err)
	}
	if _, err := CrossValidate(ctx, Searcher{}, KFold(2, 1)); err == nil {
		t.Error("an empty search is scored")
	}
}
