package bayesopt

import (
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/selection"
)

// maximise runs a space on a function and returns the settings and their values.
func maximise(t *testing.T, s Space, f func(v []float64) float64) (tried [][]float64, scores []float64) {
	t.Helper()
	_, tried, err := s.Settings()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range tried {
		scores = append(scores, f(v))
	}
	for {
		v, err := s.Next(context.Background(), tried, scores)
		if err != nil {
			t.Fatal(err)
		}
		if v == nil {
			return tried, scores
		}
		tried, scores = append(tried, v), append(scores, f(v))
	}
}

// On the function of Branin, 30 settings come within 0.05 of the maximum −0.397887, where 30
// random ones are mostly a unit away.
func TestBranin(t *testing.T) {
	branin := func(v []float64) float64 {
		x, y := v[0], v[1]
		a := y - 5.1/(4*math.Pi*math.Pi)*x*x + 5/math.Pi*x - 6
		return -(a*a + 10*(1-1/(8*math.Pi))*math.Cos(x) + 10)
	}
	for seed := range uint64(4) {
		s := Space{N: 30, Ranges: map[string]selection.Range{"x": {Low: -5, High: 10}, "y": {Low: 0, High: 15}}, Seed: seed}
		tried, scores := maximise(t, s, branin)
		if best := slices.Max(scores); len(tried) != 30 || best < -0.397887-0.05 || best > -0.397887+1e-5 {
			t.Errorf("seed %d: best of %d settings %v", seed, len(tried), best)
		}
	}
}

// Settings stay in their ranges, are whole where these are, none is tried twice, failures do
// not stop the search, and a small set of whole numbers comes to its end.
func TestRanges(t *testing.T) {
	s := Space{N: 25, Ranges: map[string]selection.Range{"C": {Low: 0.1, High: 100, Log: true}, "degree": {Low: 1, High: 5, Whole: true}}, Seed: 2}
	names := s.names()
	tried, _ := maximise(t, s, func(v []float64) float64 {
		if v[0] == 3 {
			return math.NaN()
		}
		return v[0]
	})
	for _, v := range tried {
		if names[0] != "degree" || v[0] != math.Round(v[0]) || v[0] < 1 || v[0] > 5 || v[1] < 0.1 || v[1] > 100 {
			t.Errorf("setting %v of %v", v, names)
		}
	}
	whole := Space{N: 50, Ranges: map[string]selection.Range{"degree": {Low: 1, High: 6, Whole: true}}}
	tried, scores := maximise(t, whole, func(v []float64) float64 { return -(v[0] - 4) * (v[0] - 4) })
	if len(tried) > 10 || slices.Max(scores) != 0 {
		t.Errorf("%d settings of 6 whole numbers: %v", len(tried), tried)
	}
	for _, same := range []float64{1, math.NaN()} { // no score differs, or none is known
		if tried, _ := maximise(t, Space{N: 12, Ranges: s.Ranges}, func([]float64) float64 { return same }); len(tried) != 12 {
			t.Errorf("scores %v: %d settings", same, len(tried))
		}
	}
}

// A search by the process finds what a grid of many more settings finds, goes on from its
// file to the bit, and an empty space is an error.
func TestSearch(t *testing.T) {
	data := datasets.Moons(150, 0.25, 3)
	ranges := map[string]selection.Range{"C": {Low: 0.01, High: 1000, Log: true}, "gamma": {Low: 1e-3, High: 100, Log: true}}
	file := filepath.Join(t.TempDir(), "scores")
	search := func(n int) *selection.SearchFit {
		t.Helper()
		f, err := selection.Search(svmnb.Classify(data), Space{N: n, Ranges: ranges, Seed: 1}, selection.StratifiedKFold(5, 1)).File(file).Fit(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	search(15)
	f := search(25)
	whole, err := selection.Search(svmnb.Classify(data), Space{N: 25, Ranges: ranges, Seed: 1}, selection.StratifiedKFold(5, 1)).Fit(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if f.Fitted != 50 || len(f.Trials) != 25 {
		t.Errorf("%d folds were learnt after 15 settings of 25, of which there are %d", f.Fitted, len(f.Trials))
	}
	for i := range f.Trials {
		if !slices.Equal(f.Trials[i].Values, whole.Trials[i].Values) {
			t.Fatalf("setting %d is %v from the file, %v without", i, f.Trials[i].Values, whole.Trials[i].Values)
		}
	}
	grid, err := selection.Search(svmnb.Classify(data), selection.Grid{"C": selection.Log2(-5, 9, 1), "gamma": selection.Log2(-9, 6, 1)}, selection.StratifiedKFold(5, 1)).Fit(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	ours, _ := f.Best()
	theirs, _ := grid.Best()
	if ours.Mean() < theirs.Mean()-theirs.StandardError() {
		t.Errorf("25 settings reach %v, a grid of %d reaches %v", ours.Mean(), len(grid.Trials), theirs.Mean())
	}
	if _, err := selection.Search(svmnb.Classify(data), Space{}, selection.KFold(3, 1)).Fit(context.Background()); err == nil {
		t.Error("an empty space is no error")
	}
	if _, err := (Space{}).Next(context.Background(), nil, nil); err != nil {
		t.Error(err)
	}
	if _, err := (Space{N: 9, Ranges: ranges}).Next(context.Background(), [][]float64{{1}}, []float64{1}); err == nil {
		t.Error("a setting with a value too few is no error")
	}
}

// The expected improvement is the mean of max(0, f − best) over samples of f.
func TestExpectedImprovement(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, v := range [][3]float64{{0, 1, 0}, {1, 2, 0.5}, {-3, 1, 0}, {2, 0.1, 0}} {
		sum, n := 0.0, 400000
		for range n {
			sum += max(0, v[0]+v[1]*rng.NormFloat64()-v[2])
		}
		if got := ExpectedImprovement(v[0], v[1], v[2]); math.Abs(got-sum/float64(n)) > 0.01 {
			t.Errorf("mean %v, sd %v, best %v: %v, samples say %v", v[0], v[1], v[2], got, sum/float64(n))
		}
	}
	if ExpectedImprovement(1, 0, 3) != 0 || ExpectedImprovement(3, 0, 1) != 2 {
		t.Error("without uncertainty the improvement is max(0, f − best)")
	}
}
