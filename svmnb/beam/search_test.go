package beam

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/selection"
	"github.com/svmnb/svmnb/svmnb/transform"
)

var moons = datasets.Moons(120, 0.25, 3)

// moonsSearch is registered for worker processes.
func moonsSearch() selection.Searcher {
	return selection.Search(selection.Pipe(transform.Standardise(), svmnb.Classify(moons)),
		selection.Grid{"C": {0.5, 2, 8}, "gamma": {0.1, 1}}, selection.StratifiedKFold(3, 1)).By(selection.Accuracy, selection.F1)
}

func init() {
	RegisterSearch("moons", func() (selection.Searcher, error) { return moonsSearch(), nil })
}

// same compares two searches to the bit.
func same(t *testing.T, got, want *selection.SearchFit) {
	t.Helper()
	if len(got.Trials) != len(want.Trials) {
		t.Fatalf("%d trials, want %d", len(got.Trials), len(want.Trials))
	}
	bits := func(v []float64) (b []uint64) {
		for _, x := range v {
			b = append(b, math.Float64bits(x))
		}
		return b
	}
	for i, w := range want.Trials {
		g := got.Trials[i]
		if !slices.Equal(bits(g.Values), bits(w.Values)) || !slices.Equal(bits(g.Scores), bits(w.Scores)) || g.Points != w.Points {
			t.Errorf("trial %d: %+v, want %+v", i, g, w)
		}
		for m := range w.Also {
			if !slices.Equal(bits(g.Also[m]), bits(w.Also[m])) {
				t.Errorf("trial %d, metric %d: %v, want %v", i, m, g.Also[m], w.Also[m])
			}
		}
	}
}

// A search on Beam has the scores of a plain search, fold by fold and to the bit.
func TestSearch(t *testing.T) {
	for name, s := range map[string]selection.Searcher{
		"pipeline": moonsSearch(),
		"halving":  selection.Search(svmnb.Classify(moons), selection.Grid{"C": {0.5, 2, 8}, "gamma": {0.1, 1}}, selection.KFold(3, 1)).Halve(2),
		"several":  selection.Search(svmnb.Classify(datasets.Iris()).OneVsOne(), selection.Grid{"C": {1, 10}}, selection.StratifiedKFold(4, 2)),
		"targets":  selection.Search(svmnb.Regress(datasets.Sinc(60, 0.1, 2)), selection.Grid{"C": {1, 10}, "epsilon": {0.05, 0.2}}, selection.KFold(3, 1)),
	} {
		t.Run(name, func(t *testing.T) {
			want, err := s.Fit(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var seen []Progress
			got, err := s.On(Runner{Watch: func(p Progress) { seen = append(seen, p) }}).Fit(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			same(t, got, want)
			if len(seen) < 2 || seen[0].Done != 0 || seen[0].What != "search" {
				t.Errorf("the progress was %+v", seen)
			}
		})
	}
}

// The same in several processes.
func TestSearchInProcesses(t *testing.T) {
	want, err := moonsSearch().Fit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 2} {
		got, err := moonsSearch().On(Runner{Processes: n}.Named("moons")).Fit(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, want)
	}
}
