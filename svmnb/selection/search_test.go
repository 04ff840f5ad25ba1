package selection

import (
	"bytes"
	"context"
	"encoding/json"
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
	"github.com/svmnb/svmnb/svmnb/gp"
	"github.com/svmnb/svmnb/svmnb/internal/learn"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"github.com/svmnb/svmnb/svmnb/transform"
	"pgregory.net/rapid"
)

// Whatever is dealt, every row is held out once each time, the parts differ by one
// row at most, also in each class, and the seed decides all.
func TestFoldsAreAPartition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(4, 80).Draw(t, "n")
		k, times := rapid.IntRange(2, min(n, 10)).Draw(t, "k"), rapid.IntRange(1, 3).Draw(t, "times")
		real := rapid.Bool().Draw(t, "real targets")
		x, y := make([][]float64, n), make([]float64, n)
		for i := range x {
			x[i] = []float64{float64(i)}
			y[i] = float64(rapid.IntRange(0, 2).Draw(t, "class"))
			if real {
				y[i] = float64(i*i) + 0.5
			}
		}
		data := datasets.New(x, y)
		seed := rapid.Uint64().Draw(t, "seed")
		stratified := Deal{k, times, true, seed}
		if slices.ContainsFunc(data.Counts(), func(c datasets.Count) bool { return c.N < 2 && len(data.Counts()) <= 10 }) {
			stratified.Stratified = false
		}
		for _, f := range []Deal{KFold(k, seed), stratified} {
			splits, err := f.Splits(data)
			if err != nil {
				t.Fatal(err)
			}
			again, _ := f.Splits(data)
			if !slices.EqualFunc(splits, again, func(a, b Split) bool { return slices.Equal(a.Test, b.Test) && slices.Equal(a.Train, b.Train) }) {
				t.Fatal("the seed does not decide")
			}
			if len(splits) != k*max(1, f.Times) {
				t.Fatalf("%v makes %d folds", f, len(splits))
			}
			for r := range max(1, f.Times) {
				held := map[int]int{}
				for _, s := range splits[r*k : (r+1)*k] {
					all := slices.Concat(s.Test, s.Train)
					slices.Sort(all)
					if !slices.Equal(all, testkit.Seq(n)) {
						t.Fatalf("%v and %v are no division of %d rows", s.Test, s.Train, n)
					}
					if len(s.Test) < n/k || len(s.Test) > (n+k-1)/k {
						t.Fatalf("%d of %d rows in one of %d parts", len(s.Test), n, k)
					}
					for _, i := range s.Test {
						held[i]++
					}
					for _, c := range data.Counts() {
						m := 0
						for _, i := range s.Test {
							if y[i] == c.Y {
								m++
							}
						}
						if f.Stratified && !real && (m < c.N/k || m > (c.N+k-1)/k) {
							t.Fatalf("%d of the %d points of a class in one of %d parts", m, c.N, k)
						}
					}
				}
				if len(held) != n {
					t.Fatalf("%d of %d rows are held out", len(held), n)
				}
			}
		}
	})
}

// Of real targets every k neighbours are in k parts, and no part has the least of all.
func TestStratifiedTargets(t *testing.T) {
	data := datasets.Sinc(200, 0.1, 1)
	splits, err := StratifiedKFold(5, 1).Splits(data)
	if err != nil {
		t.Fatal(err)
	}
	order := testkit.Seq(200)
	slices.SortStableFunc(order, func(a, b int) int {
		if data.Y[a] < data.Y[b] {
			return -1
		}
		return 1
	})
	mean := make([]float64, 5)
	for k, s := range splits {
		for q := range 40 {
			n := 0
			for _, i := range order[5*q : 5*q+5] {
				if slices.Contains(s.Test, i) {
					n++
				}
			}
			if n != 1 {
				t.Fatalf("part %d has %d of five neighbours", k, n)
			}
		}
		for _, i := range s.Test {
			mean[k] += data.Y[i] / 40
		}
	}
	if slices.IsSorted(mean) {
		t.Errorf("the means of the parts rise: %v", mean)
	}
}

// wrongFolds are a user's.
type wrongFolds []Split

func (wrongFolds) String() string                              { return "wrongFolds" }
func (f wrongFolds) Splits(*datasets.Dataset) ([]Split, error) { return f, nil }

func TestFoldErrors(t *testing.T) {
	data := testkit.Moons()
	lonely := datasets.New([][]float64{{1}, {2}, {3}}, []float64{1, 1, -1})
	for _, c := range []struct {
		folds Folds
		data  *datasets.Dataset
		says  string
	}{
		{nil, data, "the folds are nil"},
		{KFold(1, 0), data, "1 fold for 200 points"},
		{KFold(201, 0), data, "201 folds for 200 points"},
		{Deal{K: 2, Times: -1}, data, "dealt -1 times"},
		{StratifiedKFold(2, 0), lonely, "class -1 has 1 point"},
		{wrongFolds{}, data, "holds nothing out"},
		{wrongFolds{{[]int{0, 1}, nil}}, data, "2 rows to learn from and 0 to hold out"},
		{wrongFolds{{[]int{0}, []int{200}}}, data, "row 200: fold 1 names this row of 200"},
		{wrongFolds{{[]int{0, 1}, []int{2}}, {[]int{0, 1}, []int{2, 1}}}, data, "row 1: fold 2 learns from this row and holds it out"},
		{LeaveOneOutFolds(), data.Select([]int{0}), "leaving one out needs 2"},
		{KFold(3, 0), datasets.New([][]float64{{1}, {math.NaN()}, {2}}, []float64{1, -1, 1}), "NaN"},
		{KFold(3, 0), datasets.New(nil, nil), "no points"},
	} {
		_, err := CrossValidate(context.Background(), svmnb.Classify(c.data), c.folds)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v, want %q", c.folds, err, c.says)
		}
	}
	if _, err := CrossValidate(context.Background(), nil, KFold(2, 1)); err == nil {
		t.Error("nil learner")
	}
	for _, f := range []Folds{KFold(5, 1), StratifiedKFold(5, 1), RepeatedKFold(5, 2, 1), LeaveOneOutFolds()} {
		if s := f.String(); !strings.HasSuffix(s, ")") {
			t.Error(s)
		}
	}
}

// Every score is that of the machine learnt by hand from the training rows.
func TestCrossValidateByHand(t *testing.T) {
	data := datasets.Iris()
	m := svmnb.Classify(data).Kernel(kernels.RBF(0.25)).SampleWeights(slices.Repeat([]float64{1, 2, 3}, 50)).OneVsOne()
	splits, err := StratifiedKFold(5, 2).Splits(data)
	if err != nil {
		t.Fatal(err)
	}
	v, err := CrossValidate(context.Background(), m, StratifiedKFold(5, 2))
	if err != nil {
		t.Fatal(err)
	}
	for k, s := range splits {
		w := make([]float64, len(s.Train))
		for j, i := range s.Train {
			w[j] = float64(i%3 + 1)
		}
		fit := testkit.FitOf(t, svmnb.Classify(data.Select(s.Train)).Kernel(kernels.RBF(0.25)).SampleWeights(w).OneVsOne())
		if a, err := fit.Accuracy(data.Select(s.Test)); err != nil || a != v.Scores[k] {
			t.Errorf("fold %d: %v, by hand %v (%v)", k+1, v.Scores[k], a, err)
		}
	}
	testkit.Near(t, "mean", v.Mean(), (v.Scores[0]+v.Scores[1]+v.Scores[2]+v.Scores[3]+v.Scores[4])/5, 1e-15)
	testkit.Says(t, "summary", v.Markdown(), "**accuracy**", "standard error", "StratifiedKFold(5, 2)")
	if mean, se := meanError([]float64{1, 2, 3, 4}); mean != 2.5 || math.Abs(se-math.Sqrt(5./3/4)) > 1e-15 {
		t.Errorf("%v ± %v", mean, se)
	}
}

// Leaving one out with folds is what the closed form of a process knows.
func TestLeaveOneOutOfAProcess(t *testing.T) {
	data := datasets.Motorcycle()
	p := gp.Regress(data).Kernel(kernels.Scale(2000, kernels.SquaredExponential(5))).NoiseVariance(484).ZeroMean()
	v, err := CrossValidate(context.Background(), p, LeaveOneOutFolds())
	if err != nil {
		t.Fatal(err)
	}
	fit, err := p.Fit(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	closed, err := fit.LeaveOneOut(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range v.Scores {
		testkit.Near(t, fmt.Sprint("NLPD of point ", i), s, -closed.LogDensity[i], 1e-8)
	}
}

func found(t testing.TB, s Searcher) *SearchFit {
	t.Helper()
	f, err := s.Fit(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Each score of a search is that of cross-validation at its point: warm starts and
// shared matrices change an answer no more than the tolerance does, which is small
// here; the number of workers changes nothing at all.
func TestSearchIsCrossValidation(t *testing.T) {
	folds := StratifiedKFold(3, 1)
	noisy := datasets.Moons(90, 0.3, 2)
	sinc := datasets.Sinc(60, 0.1, 1)
	for _, c := range []struct {
		l    Learner
		grid Grid
	}{
		{svmnb.Classify(noisy).Tol(1e-9), Grid{"C": {0.1, 1, 10}, "gamma": {0.5, 2}}},
		{svmnb.Classify(noisy).TwoNorm().Tol(1e-9), Grid{"C": {0.1, 10}, "gamma": {0.5, 2}}},
		{svmnb.Classify(noisy).ClassWeight("+1", 3).CoordinateDescent().Tol(1e-9), Grid{"C": {0.1, 1, 10}}},
		{svmnb.Classify(noisy), Grid{"nu": {0.2, 0.4}, "Gamma": {1}}},
		{Pipe(transform.Standardise(), transform.PCA(2), svmnb.Classify(datasets.Iris()).Tol(1e-9).OneVsOne()), Grid{"C": {1, 10}, "components": {1, 3}}},
		{Pipe(transform.MinMax(), svmnb.Classify(datasets.Iris()).Tol(1e-9).OneVsRest()), Grid{"c": {1, 10}, "ClassWeight.virginica": {1, 4}}},
		{svmnb.Classify(datasets.Iris()).Tol(1e-6).CrammerSinger(), Grid{"C": {0.1, 1}}},
		{svmnb.Regress(sinc).Tol(1e-9), Grid{"C": {1, 10}, "epsilon": {0.05, 0.2}, "gamma": {0.1, 1}}},
		{svmnb.Regress(sinc).Nu(0.5).Tol(1e-9), Grid{"C": {1, 10}, "nu": {0.3}}},
		{svmnb.Regress(sinc), Grid{"lambda": {0.01, 1}}},
		{gp.Regress(sinc).Kernel(kernels.Scale(1, kernels.RBF(1))), Grid{"gamma": {0.1, 1}, "NoiseVariance": {0.01, 0.1}}},
	} {
		one := found(t, Search(c.l, c.grid, folds).Workers(1))
		two := found(t, Search(c.l, c.grid, folds).Workers(3))
		if len(one.Trials) == 0 || one.Fitted != len(one.Trials)*3 {
			t.Fatalf("%v: %d fits of %d points", c.l, one.Fitted, len(one.Trials))
		}
		for i, trial := range one.Trials {
			if !slices.Equal(trial.Scores, two.Trials[i].Scores) || trial.Err != "" {
				t.Fatalf("%v at %s: %v by one worker, %v by three; %s", c.l, one.at(trial), trial.Scores, two.Trials[i].Scores, trial.Err)
			}
			l, err := one.learnerAt(trial.Values)
			if err != nil {
				t.Fatal(err)
			}
			v, err := CrossValidate(context.Background(), pipeOf(l), folds)
			if err != nil {
				t.Fatal(err)
			}
			for k, want := range v.Scores {
				testkit.Near(t, fmt.Sprintf("%v at %s, fold %d", c.l, one.at(trial), k+1), trial.Scores[k], want, 1e-5)
			}
		}
	}
}

// Warm starts along C pay, and their matrices are evaluated once.
func TestWarmStartsAlongC(t *testing.T) {
	data := datasets.BreastCancer().Standardised()
	w, cold, warm := &learn.Warmth{Bytes: kernels.DefaultCache}, 0, 0
	var last *svmnb.Fit
	for _, c := range Log2(-3, 9, 2) {
		l := svmnb.Classify(data).Kernel(kernels.RBF(0.03)).C(c).SMO()
		fit, err := l.Learning().Train(context.Background(), w)
		if err != nil {
			t.Fatal(err)
		}
		last = fit.Fit().(*svmnb.Fit)
		warm += last.Iterations
		alone := testkit.FitOf(t, l)
		cold += alone.Iterations
		testkit.Near(t, "W", last.Certificate.Dual, alone.Certificate.Dual, 1e-3*(1+alone.Certificate.Dual))
	}
	if warm > cold*9/10 {
		t.Errorf("%d iterations, from 0 %d", warm, cold)
	}
	if n := int64(data.N()); last.Evaluations > n*(n+1)/2 {
		t.Errorf("%d kernel values; the matrix has %d", last.Evaluations, n*(n+1)/2)
	}
}

// A search that is killed goes on from its file without learning a fold twice, also
// after a line that was cut, and with a grid that has grown.
func TestSearchResumes(t *testing.T) {
	data := datasets.Wine()
	file := filepath.Join(t.TempDir(), "wine.jsonl")
	grid := Grid{"C": {0.1, 1, 10}, "gamma": {0.01, 0.1}}
	describe := func(g Grid) Searcher {
		return Search(Pipe(transform.Standardise(), svmnb.Classify(data).Tol(1e-9).OneVsOne()), g, StratifiedKFold(4, 1)).File(file).Workers(2)
	}
	whole := found(t, describe(grid).File(""))

	ctx, kill := context.WithCancelCause(context.Background())
	enough := errors.New("enough")
	part, err := describe(grid).Watch(func(p SearchProgress) {
		if p.Done == 11 {
			kill(enough)
		}
	}).Fit(ctx)
	if !errors.Is(err, enough) || part == nil || part.Fitted < 11 || part.Fitted > 13 {
		t.Fatalf("%v, %v", part, err)
	}
	text, err := os.ReadFile(file)
	if err != nil || bytes.Count(text, []byte("\n")) != 1+part.Fitted {
		t.Fatalf("%d lines for %d folds (%v)", bytes.Count(text, []byte("\n")), part.Fitted, err)
	}
	// As a kill in the middle of a write leaves it: that fold is not known.
	cut := len(text) - 20
	if err := os.WriteFile(file, text[:cut], 0o644); err != nil {
		t.Fatal(err)
	}
	var calls []SearchProgress
	rest := found(t, describe(grid).Watch(func(p SearchProgress) { calls = append(calls, p) }))
	if rest.Fitted != 24-(part.Fitted-1) || rest.known() != part.Fitted-1 {
		t.Errorf("%d folds were learnt again after %d", rest.Fitted, part.Fitted)
	}
	if first, end := calls[0], calls[len(calls)-1]; first.Known != part.Fitted-1 || end.Done != 24 || end.All != 24 || len(calls) != rest.Fitted+1 {
		t.Errorf("%+v … %+v", first, end)
	}
	for i, trial := range rest.Trials {
		if !slices.Equal(trial.Scores, whole.Trials[i].Scores) {
			t.Errorf("%s: %v, in one go %v", rest.at(trial), trial.Scores, whole.Trials[i].Scores)
		}
	}
	if again := found(t, describe(grid)); again.Fitted != 0 || again.chosen != whole.chosen || again.known() != 24 {
		t.Errorf("%d folds learnt again, %d chosen", again.Fitted, again.chosen)
	}
	if more := found(t, describe(Grid{"C": {0.1, 1, 10}, "gamma": {0.01, 0.1, 1}})); more.Fitted != 12 {
		t.Errorf("a grown grid learns %d folds", more.Fitted)
	}
	// Each fold stands in the file once.
	text, _ = os.ReadFile(file)
	seen := map[string]bool{}
	for _, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n"))[1:] {
		key, _, ok := bytes.Cut(line, []byte(`,"score"`))
		if ok = ok && json.Valid(line); ok && seen[string(key)] {
			t.Errorf("%s twice", key)
		}
		seen[string(key)] = seen[string(key)] || ok
	}

	// The file of another search is refused, and left as it is.
	for _, other := range []Searcher{
		describe(grid).By(BalancedAccuracy),
		Search(Pipe(transform.MinMax(), svmnb.Classify(data).Tol(1e-9).OneVsOne()), grid, StratifiedKFold(4, 1)).File(file),
		Search(Pipe(transform.Standardise(), svmnb.Classify(data).Tol(1e-9).OneVsOne()), grid, StratifiedKFold(4, 2)).File(file),
		Search(Pipe(transform.Standardise(), svmnb.Classify(data.Shuffle(1)).Tol(1e-9).OneVsOne()), grid, StratifiedKFold(4, 1)).File(file),
	} {
		if _, err := other.Fit(context.Background()); err == nil || !strings.Contains(err.Error(), "is of another search") {
			t.Errorf("%v: %v", other, err)
		}
	}
	if after, _ := os.ReadFile(file); !bytes.Equal(after, text) {
		t.Error("a file that was refused has changed")
	}
	for _, c := range []struct{ text, says string }{
		{"notes\n", "is not the file of a search"},
		{`{"format":"svmnb search 99"}` + "\n", "is not the file of a search"},
	} {
		os.WriteFile(file, []byte(c.text), 0o644)
		if _, err := describe(grid).Fit(context.Background()); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v", c.text, err)
		}
	}
	// Killed in its first line, it begins anew.
	os.WriteFile(file, text[:bytes.IndexByte(text, '\n')], 0o644)
	if f := found(t, describe(grid)); f.Fitted != 24 {
		t.Errorf("%d folds", f.Fitted)
	}
	if _, err := describe(grid).File(t.TempDir()).Fit(context.Background()); err == nil {
		t.Error("a folder is no file")
	}
}

// FuzzSearchFile: whatever a file has after its header, a search reads it in bounded
// time, and what it does not understand it learns.
func FuzzSearchFile(f *testing.F) {
	f.Add([]byte(`{"at":{"C":1},"fold":0,"score":0.5}`+"\n"), true)
	f.Add([]byte(`{"at":{"C":1},"fold":-7,"score":1e999}`+"\n{{{\n\x00"), false)
	f.Add([]byte(`{"at":null,"fold":1e99,"error":"x"}`), true)
	data := testkit.Moons().Select(testkit.Seq(12))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, tail []byte, first bool) {
		file := filepath.Join(dir, "f.jsonl")
		os.Remove(file)
		s := Search(svmnb.Classify(data), Grid{"C": {1}}, KFold(2, 1)).File(file)
		key, err := searchKey(s, data)
		if err != nil {
			t.Fatal(err)
		}
		header := fmt.Sprintf(`{"format":%q,"key":%q}`+"\n", map[bool]string{true: searchFormat1, false: searchFormat}[first], key)
		os.WriteFile(file, append([]byte(header), tail...), 0o644)
		log, err := openLog(s, data)
		if err != nil {
			t.Fatal(err)
		}
		if !first && len(log.known) > 0 {
			t.Fatalf("a line without its checksum is believed: %q", tail)
		}
		known := len(log.known)
		if err := log.append([]string{"C"}, []float64{1}, 0, 0, []float64{0.5}, nil, ""); err != nil {
			t.Fatal(err)
		}
		log.close()
		if log, err = openLog(s, data); err != nil {
			t.Fatal(err)
		}
		defer log.close()
		if e, ok := log.find([]string{"C"}, []float64{1}, 0, 0, nil); !ok || e.score() != 0.5 || len(log.known) < known {
			t.Fatalf("after %q, what was added is %v, and %d entries of %d are left", tail, e, len(log.known), known)
		}
	})
}

// The rule of one standard error takes the simplest point that is as good.
func TestOneStandardError(t *testing.T) {
	trials := []Trial{
		{Values: []float64{0.1, 1}, Scores: []float64{0.90, 0.92, 0.94}},
		{Values: []float64{0.1, 10}, Scores: []float64{0.91, 0.93, 0.95}}, // the best
		{Values: []float64{0.01, 0.1}, Scores: []float64{0.91, 0.92, 0.93}},
		{Values: []float64{0.01, 0.01}, Scores: []float64{0.5, 0.6, 0.7}},
		{Values: []float64{0.001, 0.1}, Scores: []float64{0.99, 0.99, math.NaN()}, Err: "fold 3: no"},
	}
	for _, c := range []struct {
		oneSE bool
		want  int
	}{{false, 1}, {true, 2}} {
		f := &SearchFit{Description: Searcher{oneSE: c.oneSE, learner: svmnb.Classify(testkit.Moons()).Learning(), space: Grid{"C": {1}}, folds: KFold(3, 1)}, Metric: Accuracy, Names: []string{"gamma", "C"}, Trials: trials, Folds: 3}
		f.choose()
		if f.best != 1 || f.chosen != c.want {
			t.Errorf("best %d, chosen %d, want 1 and %d", f.best, f.chosen, c.want)
		}
		testkit.Says(t, "table", f.Table().String(), "0.93", "fold 3: no")
		testkit.Says(t, "summary", f.Markdown(), "**chosen**", "points that cannot be learnt: 1")
	}
	// Lower is better for errors, and of equal ones the simplest is best.
	f := &SearchFit{Metric: RMSE, Names: []string{"epsilon", "C"}, Trials: []Trial{
		{Values: []float64{0.1, 5}, Scores: []float64{2, 2}}, {Values: []float64{0.1, 1}, Scores: []float64{1, 1}}, {Values: []float64{0.2, 1}, Scores: []float64{1, 1}}}}
	if f.choose(); f.best != 2 {
		t.Errorf("best %d", f.best)
	}
}

func TestSpaces(t *testing.T) {
	if v := Log2(-1, 3, 2); !slices.Equal(v, []float64{0.5, 2, 8}) {
		t.Error(v)
	}
	if v := Log2(-5, 15, 2); len(v) != 11 || v[10] != 32768 {
		t.Error(v)
	}
	names, points, err := Grid{"C": {2, 1, 2}, "gamma": {3, 4}}.Settings()
	if err != nil || !slices.Equal(names, []string{"gamma", "C"}) || !slices.EqualFunc(points, [][]float64{{3, 1}, {3, 2}, {4, 1}, {4, 2}}, slices.Equal) {
		t.Errorf("%v %v %v", names, points, err)
	}
	r := Random{N: 400, Seed: 3, Ranges: map[string]Range{"C": {Low: 0.01, High: 100, Log: true}, "degree": {Low: 1, High: 4, Whole: true}, "coef0": {Low: 0, High: 2}}}
	names, points, err = r.Settings()
	if err != nil || !slices.Equal(names, []string{"coef0", "degree", "C"}) {
		t.Fatal(names, err)
	}
	below, mean := 0, 0.0
	for _, p := range points {
		if p[1] != math.Trunc(p[1]) || p[1] < 1 || p[1] > 4 || p[2] < 0.01*(1-1e-12) || p[2] > 100*(1+1e-12) {
			t.Fatal(p)
		}
		mean += p[0] / 400
		if p[2] < 1 {
			below++
		}
	}
	if below < 160 || below > 240 || math.Abs(mean-1) > 0.15 { // 4 σ
		t.Errorf("%d of 400 below the middle of the logarithms, mean of [0, 2] %v", below, mean)
	}
	r.N = 3
	if _, few, _ := r.Settings(); !slices.EqualFunc(few, points[:3], slices.Equal) {
		t.Errorf("%v, the first of more are %v", few, points[:3])
	}
	f := found(t, Search(svmnb.Classify(testkit.Moons()).Kernel(kernels.Polynomial(2, 1, 1)), r, KFold(2, 1)))
	if len(f.Trials) != 3 || f.chosen < 0 {
		t.Errorf("%v", f.Table().String())
	}
}

func TestSearchErrors(t *testing.T) {
	base := svmnb.Classify(testkit.Moons())
	folds, grid := KFold(2, 1), Grid{"C": {1}}
	sum := base.Kernel(kernels.Sum(kernels.RBF(1), kernels.RBF(2)))
	for _, c := range []struct {
		s    Searcher
		says string
	}{
		{Searcher{}, "the search is empty"},
		{Search(Pipeline{}, grid, folds), "there is no learner at the end"},
		{Search(base, nil, folds), "the space is nil"},
		{Search(base, grid, nil), "the folds are nil"},
		{Search(base, Grid{}, folds), "the grid has no parameters"},
		{Search(base, Grid{"C": {}}, folds), "C has 0 values"},
		{Search(base, Grid{"C": Log2(0, 10, 0)}, folds), "C has 0 values"},
		{Search(base, Grid{"C": make([]float64, 1), "c": {1}}, folds), "twice"},
		{Search(base, Grid{"C": Log2(0, 1, 1e-3), "gamma": Log2(0, 1, 1e-3)}, folds), "at most 100000 points"},
		{Search(base, Grid{"depth": {1}}, folds), `no parameter "depth"`},
		{Search(base.Kernel(kernels.Linear()), Grid{"gamma": {1}}, folds), "those of the kernel: none of Linear"},
		{Search(sum, Grid{"gamma": {1}}, folds), "RBF1.gamma"},
		{Search(base, Grid{"C": {-1, math.NaN()}}, folds), "C is"},
		{Search(base, Grid{"gamma": {-1}}, folds), "gamma"},
		{Search(base.HardMargin(), grid, folds), "has no C"},
		{Search(base.OneVsOne(), Grid{"nu": {2}}, folds), "ν is 2"},
		{Search(base.C(-1), Grid{"gamma": {1}}, folds), "C is -1"},
		{Search(base, grid, folds).Workers(0), "it must be at least 1"},
		{Search(base, grid, folds).By(Metric{}), "the metric has no function"},
		{Search(base, grid, folds).By(RMSE), "the RMSE is of real values"},
		{Search(svmnb.Regress(testkit.Moons()), grid, folds).By(Accuracy), "the accuracy is of classes"},
		{Search(svmnb.Regress(testkit.Moons()), grid, folds).By(NLPD), "only a Gaussian process"},
		{Search(svmnb.Regress(testkit.Moons()).Ridge(1), grid, folds), "search lambda"},
		{Search(base.Kernel(kernels.Polynomial(2, 1, 1)), Grid{"degree": {1.5}}, folds), "degree"},
		{Search(base, Random{}, folds), "0 points of 0 parameters"},
		{Search(base, Random{N: 1, Ranges: map[string]Range{"C": {Low: -1, High: 1, Log: true}}}, folds), "the range of C"},
		{Search(Pipe(transform.PCA(1), base), Grid{"components": {0.5, 9}}, folds), "components"},
		{Search(svmnb.Classify(datasets.Iris()), grid, folds), "3 classes"},
		{Search(Pipe(base, base), grid, folds), "with something after it"},
	} {
		_, err := c.s.Fit(context.Background())
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v, want %q", c.says, err, c.says)
		}
	}
	// One point that cannot be learnt does not end the others.
	f := found(t, Search(Pipe(transform.PCA(1), base), Grid{"components": {1, 9}}, folds))
	if f.chosen != 0 || f.Trials[1].Err == "" {
		t.Errorf("%v", f.Table().String())
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	f, err := Search(base, grid, folds).Fit(ctx)
	if !errors.Is(err, context.Canceled) || f == nil || f.chosen >= 0 {
		t.Errorf("%v, %v", f, err)
	}
	if _, err := f.Learner().Fit(context.Background()); err == nil || !strings.Contains(err.Error(), "no point has all its folds") {
		t.Error(err)
	}
	if _, err := Landscape.Of(f); err == nil {
		t.Error("a landscape of nothing")
	}
}

// Names reach every kind of parameter, and leave the description as it was.
func TestParametersByName(t *testing.T) {
	base := svmnb.Classify(testkit.Moons()).Kernel(kernels.Polynomial(2, 1, 0))
	for _, c := range []struct {
		l    Learner
		name string
		v    float64
		want string
	}{
		{base, "C", 3, "C(3)"}, {base, "nu", 0.5, "Nu(0.5)"}, {base, "tau2", 4, "Augment(4)"}, {base, "tol", 0.1, "Tol(0.1)"},
		{base, "degree", 5, "Polynomial(5, 1, 0)"}, {base, "COEF0", 2, "Polynomial(2, 1, 2)"}, {base, "ClassWeight.1", 2, `ClassWeight("1", 2)`},
		{svmnb.Classify(testkit.Moons()), "gamma", 7, "RBF(7)"},
		{base.Kernel(kernels.Scale(3, kernels.RBF(1))), "gamma", 7, "Scale(3, RBF(7))"},
		{base.Kernel(kernels.ARD(1, 2)), "lengths[1]", 7, "ARD(1, 7)"},
		{base.Kernel(kernels.Sum(kernels.RBF(1), kernels.RBF(2))), "1.RBF.gamma", 7, "Sum(RBF(1), RBF(7))"},
		{base.Kernel(kernels.Sum(kernels.RBF(1), kernels.RBF(2))), "RBF2.gamma", 7, "Sum(RBF(1), RBF(7))"},
		{base.Kernel(kernels.Sum(kernels.Named("trend", kernels.Scale(2, kernels.SquaredExponential(1))), kernels.RBF(2))), "trend.length", 7, `Sum(Named("trend", Scale(2, SquaredExponential(7))), RBF(2))`},
		{base.Kernel(kernels.Sum(kernels.Named("trend", kernels.Scale(2, kernels.SquaredExponential(1))), kernels.RBF(2))), "trend.c", 7, `Sum(Named("trend", Scale(7, SquaredExponential(1))), RBF(2))`},
		{base.Kernel(kernels.SquaredExponential(1)), "SquaredExponential.length", 7, "SquaredExponential(7)"},
		{base.Kernel(kernels.Named("f", kernels.Polynomial(2, 1, 1))), "degree", 3, `Named("f", Polynomial(3, 1, 1))`},
		{svmnb.Regress(testkit.Moons()), "Epsilon", 0.3, "Epsilon(0.3)"}, {svmnb.Regress(testkit.Moons()), "lambda", 0.3, "Ridge(0.3)"}, {svmnb.Regress(testkit.Moons()), "nu", 0.3, "Nu(0.3)"},
		{gp.Regress(testkit.Moons()), "NoiseVariance", 0.3, "NoiseVariance(0.3)"},
		{Pipe(transform.Nystroem(nil, 3, 1), base.Kernel(kernels.Linear())), "gamma", 0.3, "Nystroem(RBF(0.3), 3, 1)"},
		{Pipe(transform.Nystroem(nil, 3, 1), base.Kernel(kernels.RBF(1))), "nystroem.gamma", 0.3, "Nystroem(RBF(0.3), 3, 1)"},
		{Pipe(transform.RandomFourier(1, 3, 1), base.Kernel(kernels.Linear())), "features", 9, "RandomFourier(1, 9, 1)"},
		{Pipe(transform.MinMax(), transform.PCA(1), base), "PCA.components", 2, "PCA(2)"},
	} {
		before := c.l.String()
		l, known := c.l.Learning().Set(c.name, c.v)
		if !known || l.Fault() != nil || !strings.Contains(l.String(), c.want) || c.l.String() != before {
			t.Errorf("%s of %v: %v, %v; want %s", c.name, before, l, l.Fault(), c.want)
		}
	}
}

func TestSearchShows(t *testing.T) {
	t.Setenv("SVMNB_CACHE", t.TempDir())
	s := Search(svmnb.Classify(testkit.Moons()), Grid{"C": {0.1, 1, 10}, "gamma": {0.1, 1, 10}}, StratifiedKFold(3, 1))
	f := s.Keep()
	if again := s.Keep(); again.Fitted != 0 || f.Fitted != 27 {
		t.Errorf("%d folds, then %d", f.Fitted, again.Fitted)
	}
	best, ok := f.Best()
	chosen, _ := f.Chosen()
	if !ok || !slices.Equal(best.Values, chosen.Values) || best.Mean() < 0.95 {
		t.Errorf("%v, %v", best, chosen)
	}
	testkit.Says(t, "summary", f.Markdown(), "**chosen**", "± ", "| gamma | C | accuracy | standard error |", "StratifiedKFold(3, 1)")
	one := found(t, Search(svmnb.Classify(testkit.Moons()), Grid{"C": {0.1, 1, 10, 100}}, KFold(3, 1)))
	single := found(t, Search(svmnb.Classify(testkit.Moons()), Grid{"C": {1}}, KFold(3, 1)))
	three := found(t, Search(svmnb.Classify(testkit.Moons()).Kernel(kernels.Polynomial(2, 1, 1)), Grid{"C": {1, 2}, "degree": {1, 2}, "gamma": {1, 2}}, KFold(3, 1)))
	for _, f := range []*SearchFit{f, one, single, three} {
		c, err := Landscape.Of(f)
		if err != nil {
			t.Fatal(err)
		}
		testkit.Says(t, "picture", c.Alt, "accuracy", "%")
	}
	if _, err := Landscape.Of(testkit.FitOf(t, svmnb.Classify(testkit.Moons()))); err == nil {
		t.Error("the landscape of a fit")
	}
	edge := found(t, Search(svmnb.Classify(testkit.Moons()), Grid{"gamma": {0.001, 0.01}}, KFold(3, 1)))
	if h := edge.Hints(); len(h) != 1 || !strings.Contains(h[0], "largest of the grid") {
		t.Errorf("%v", h)
	}
	if fit := f.Learner().MustFit(); fit.Description.String() != "Pipe("+fit.Description.last.String()+")" {
		t.Error(fit.Description)
	}
}
