package beam

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/bayesopt"
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
		"bayes":    selection.Search(svmnb.Classify(moons), bayesopt.Space{N: 9, Ranges: map[string]selection.Range{"C": {Low: 0.1, High: 10}, "gamma": {Low: 0.1, High: 10}}}, selection.KFold(3, 1)),
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

// The same in worker processes, which build a registered search or read one that is written down.
func TestSearchInProcesses(t *testing.T) {
	want, err := moonsSearch().Fit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 2} {
		got, err := moonsSearch().On(Runner{Processes: n}.Named("moons")).Fit(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, want)
	}
	for name, s := range written() {
		t.Run(name, func(t *testing.T) {
			want, err := s.Fit(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.On(Runner{Processes: 2}).Fit(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			same(t, got, want)
		})
	}
}

// written are searches that can be written down.
func written() map[string]selection.Searcher {
	odd := datasets.Moons(90, 0.25, 4)
	odd.Name = "two moons, \"odd\""
	grid := selection.Grid{"C": {0.5, 2}}
	return map[string]selection.Searcher{
		"pipeline": moonsSearch(),
		"several":  selection.Search(svmnb.Classify(datasets.Iris()).OneVsRest(), grid, selection.StratifiedKFold(3, 2)).By(selection.BalancedAccuracy),
		"weights":  selection.Search(svmnb.Classify(odd).Kernel(kernels.Sum(kernels.RBF(0.3), kernels.Linear())).Balanced().ClassWeight("-1", 2).Tol(1e-4), grid, selection.KFold(3, 2)),
		"targets":  selection.Search(selection.Pipe(transform.PCA(1), transform.LogTarget(), svmnb.Regress(datasets.Cars()).Epsilon(0.05).SMO()), grid, selection.KFold(3, 2)),
	}
}

type ownKernel struct{ kernels.Kernel }

func (ownKernel) String() string { return "mine(1)" }

// What cannot be written down is refused before anything starts.
func TestCannotBeWritten(t *testing.T) {
	grid, folds := selection.Grid{"C": {0.5, 2}}, selection.KFold(3, 1)
	for name, s := range map[string]selection.Searcher{
		"mine(1)":      selection.Search(svmnb.Classify(moons).Kernel(ownKernel{kernels.RBF(1)}), grid, folds),
		"weights":      selection.Search(svmnb.Classify(moons).SampleWeights(slices.Repeat([]float64{2}, moons.N())), grid, folds),
		"metric house": selection.Search(svmnb.Classify(moons), grid, folds).By(selection.Metric{Name: "house", Of: selection.Accuracy.Of}),
	} {
		_, err := s.On(Runner{Processes: 1}).Fit(t.Context())
		var wrong *svmnb.ArgumentError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), "RegisterSearch") {
			t.Errorf("%s: the error is %v", name, err)
		}
		if _, err := s.On(Runner{}).Fit(t.Context()); err != nil {
			t.Errorf("%s: in this process: %v", name, err)
		}
	}
	if _, err := moonsSearch().On(Runner{}.Named("suns")).Fit(t.Context()); err == nil || !strings.Contains(err.Error(), `"moons"`) {
		t.Errorf("a search that is not registered: %v", err)
	}
}

// A text that is no description is an error.
func FuzzRead(f *testing.F) {
	f.Add("Classify(data).C(1)")
	f.Add("Pipe(Standardise(), Classify(data).Kernel(RBF(0.5)).C(2).OneVsOne())")
	f.Add("Classify(data).MustFit()")
	f.Add("Regress(data).Kernel(Linear()")
	f.Add("KFold(3, 1).Splits(data)")
	f.Fuzz(func(t *testing.T, text string) {
		_, _ = readLearner(text, moons)
	})
}
