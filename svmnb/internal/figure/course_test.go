package figure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/solvers"
	"gonum.org/v1/gonum/mat"
)

// solved runs another method on the same problem, with a matrix that counts.
func (s *run) solved(t testing.TB, m solvers.Method) *solvers.Result {
	t.Helper()
	p := *s.p
	p.K = &counted{s.k, map[int]bool{}}
	res, err := solvers.Solve(context.Background(), &p, m, solvers.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func (s *run) up() []bool {
	up := make([]bool, len(s.y))
	for i, y := range s.y {
		up[i] = y > 0
	}
	return up
}

func (s *run) alphas() AlphasData {
	return AlphasData{Problem: s.problem, Up: s.up(), Alpha: s.res.Alpha, Upper: s.p.Upper}
}

// matrix is the kernel matrix of the first m points, by class.
func (s *run) matrix(m int) MatrixData {
	d := MatrixData{Problem: s.problem, Classes: []string{"class −1", "class +1"}, Of: len(s.x)}
	for class := range 2 {
		for i := range m {
			if s.y[i] > 0 == (class == 1) {
				d.Index, d.Class = append(d.Index, i), append(d.Class, class)
			}
		}
	}
	sym := mat.NewSymDense(m, nil)
	for a, i := range d.Index {
		row := make([]float64, m)
		for b, j := range d.Index {
			row[b] = s.k[i][j]
			sym.SetSym(a, b, row[b])
		}
		d.K = append(d.K, row)
	}
	var e mat.EigenSym
	e.Factorize(sym, false)
	d.Eigen = e.Values(nil)
	slices.Reverse(d.Eigen)
	return d
}

func validation() ValidationData {
	d := ValidationData{Problem: "made up", Metric: "accuracy", Name: "gamma", Percent: true, Log: true}
	for k := range 9 {
		x := math.Pow(4, float64(k)-4)
		d.Xs, d.Train, d.TrainSE = append(d.Xs, x), append(d.Train, 0.8+0.025*float64(k)), append(d.TrainSE, 0.004)
		d.HeldOut, d.HeldOutSE = append(d.HeldOut, 0.93-0.006*float64((k-5)*(k-5))), append(d.HeldOutSE, 0.012)
	}
	return d
}

func learning() ValidationData {
	d := ValidationData{Problem: "made up", Metric: "RMSE", Name: "training points", Lower: true, Learning: true}
	for k := range 6 {
		n := 20 * float64(k+1)
		d.Xs, d.Train, d.TrainSE = append(d.Xs, n), append(d.Train, 0.1-1/n), append(d.TrainSE, math.NaN())
		d.HeldOut, d.HeldOutSE = append(d.HeldOut, 0.1+2/n), append(d.HeldOutSE, 0.3/n)
	}
	return d
}

// courses are the figures of how a run went, of its matrix and of its scores.
func courses(t *testing.T) []*Chart {
	t.Helper()
	ok := must[*Chart](t)
	small, large := moons(t, 120, 1.2, 2), moons(t, 600, 2, 50)
	chunked, pieces := small.solved(t, solvers.Chunking{Initial: 10, M: 12}), large.solved(t, solvers.Decomposition{Size: 40})
	long := large.solved(t, solvers.SMO{})
	return []*Chart{
		ok(Growth(GrowthData{small.problem, small.res.Trace.Points})), ok(Growth(GrowthData{large.problem, large.res.Trace.Points})),
		ok(Effort(EffortData{small.problem, 120, small.solved(t, solvers.SMO{}).Trace.Points})), ok(Effort(EffortData{large.problem, 600, long.Trace.Points})),
		ok(Chunks(ChunksData{small.problem, "", 120, chunked.Trace.Points})), ok(Chunks(ChunksData{large.problem, "", 600, pieces.Trace.Points})),
		ok(Alphas(small.alphas())), ok(Alphas(large.alphas())),
		ok(WorkingSets(WorkingSetsData{Problem: small.problem, Up: small.up(), Points: small.res.Trace.Points})),
		ok(WorkingSets(WorkingSetsData{Problem: large.problem, Up: large.up(), Points: pieces.Trace.Points})),
		ok(Matrix(small.matrix(60))), ok(Matrix(large.matrix(MostMatrix))),
		ok(Validation(validation())), ok(Validation(learning())),
		ok(Rate(RateData{Problem: large.problem, Points: large.res.Trace.Points})),
	}
}

func TestCoursePictures(t *testing.T) {
	pictures(t, "courses", courses(t), []tip{
		{0, 0, 7, "iteration 7"}, {0, 0, 7, "margin"}, {2, 0, 5, "asked for"}, {4, 0, 1, "working set"}, {6, 1, 0, "point"},
		{8, 0, 3, "class −1"}, {8, 1, 0, "chosen "}, {10, 1, 4, "mean k within its class"}, {10, 2, 0, "eigenvalue 1"}, {12, 1, 3, "gamma = "},
	})
}

// Each figure has its finding, and its degenerate cases are drawn.
func TestCourseFigures(t *testing.T) {
	small, large := moons(t, 120, 1.2, 2), moons(t, 600, 2, 50)
	nan := math.NaN()
	one := []solvers.Point{{Iteration: 0, Margin: math.Inf(1)}, {Iteration: 1, Margin: 0.25, Free: 2, Working: []int{0, 1}, Evaluations: 4}}
	equal := MatrixData{Classes: []string{"a"}, Class: []int{0, 0}, Index: []int{3, 5}, Of: 2, K: [][]float64{{1, 1}, {1, 1}}, Eigen: []float64{2, 0}}
	indefinite := equal
	indefinite.K, indefinite.Eigen, indefinite.Class, indefinite.Classes = [][]float64{{0, 1}, {1, 0}}, []float64{1, -1}, []int{0, 1}, []string{"a", "b"}
	pair := ValidationData{Metric: "accuracy", Name: "C", Xs: []float64{1, 2}, Train: []float64{nan, nan}, TrainSE: []float64{nan, nan}, HeldOut: []float64{nan, 0.5}, HeldOutSE: []float64{nan, nan}, Percent: true}
	drawAll(t, []drawing{
		{"growth", func() (*Chart, error) { return Growth(GrowthData{small.problem, small.res.Trace.Points}) }, 15_000, "The margin shrank from 0.518 to 0.192; iterations 24 to 39 changed it by less than 1 %"},
		{"growth, long", func() (*Chart, error) { return Growth(GrowthData{"", large.res.Trace.Points}) }, 40_000, "The margin shrank from 0.44 to 0.0666; iterations 264 to 718 changed it by less than 1 % · at the end 19 free, 31 at the bound"},
		{"growth, one step", func() (*Chart, error) { return Growth(GrowthData{"", one}) }, 10_000, "The margin began and ended at 0.25, after 1 iteration · at the end 2 free, 0 at the bound"},
		{"effort", func() (*Chart, error) {
			return Effort(EffortData{"", 120, small.solved(t, solvers.SMO{}).Trace.Points})
		}, 15_000, "25.8 % of the whole matrix; the cache answered 60.8 %"},
		{"effort, one step", func() (*Chart, error) { return Effort(EffortData{"", 2, one}) }, 10_000, "4 kernel values computed, 100 % of the whole matrix; the cache answered 0 %"},
		{"effort, steps unknown", func() (*Chart, error) {
			return Effort(EffortData{"", 4, []solvers.Point{{Evaluations: 4}, {Iteration: 1, Evaluations: 8}}})
		}, 10_000, "8 kernel values computed, 50 % of the whole matrix · 1 iteration"},
		{"chunks", func() (*Chart, error) {
			return Chunks(ChunksData{"", "", 120, small.solved(t, solvers.Chunking{Initial: 10, M: 12}).Trace.Points})
		}, 10_000, "Working sets of 10 to 37 of 120 points, 29 at the end; 29 support vectors"},
		{"chunks, shrinking", func() (*Chart, error) {
			return Chunks(ChunksData{"", "multiplier", 9, []solvers.Point{{Iteration: 1, Working: []int{1, 2}, Free: 1, Active: 9}, {Iteration: 2, Working: []int{1, 2}, Active: 4}}})
		}, 10_000, "Working sets of 2 of 9 multipliers; 0 support vectors; the active set shrank to 4"},
		{"alphas", func() (*Chart, error) { return Alphas(small.alphas()) }, 10_000, "91 of 120 α are 0, 8 are free, 21 at the bound"},
		{"alphas, all 0", func() (*Chart, error) {
			return Alphas(AlphasData{Up: []bool{true}, Alpha: []float64{0}, Upper: []float64{math.Inf(1)}})
		}, 10_000, "1 of 1 α is 0, 0 are free, 0 at the bound"},
		{"alphas, bounds of their own", func() (*Chart, error) {
			return Alphas(AlphasData{Name: "β", Up: []bool{true, false, true}, Alpha: []float64{1, 1, 1}, Upper: []float64{1, 4, 2}})
		}, 10_000, "0 of 3 β are 0, 2 are free, 1 at the bound"},
		{"working sets", func() (*Chart, error) {
			return WorkingSets(WorkingSetsData{Up: small.up(), Points: small.res.Trace.Points})
		}, 15_000, "30 of 120 points were ever in a working set; point 5 the most often, in 9 of 39 steps"},
		{"working sets, long", func() (*Chart, error) {
			return WorkingSets(WorkingSetsData{Up: large.up(), Points: large.res.Trace.Points})
		}, 60_000, "of 718 iterations in the trace"},
		{"matrix", func() (*Chart, error) { return Matrix(small.matrix(60)) }, 20_000, "k is 0.4 on average within a class, 0.166 between; 15 of 60 eigenvalues carry 99 % of the trace · RBF(1.2), C = 2, SMO · 60 of 120 points"},
		{"matrix, large", func() (*Chart, error) { return Matrix(large.matrix(MostMatrix)) }, 30_000, "100 of 600 points"},
		{"matrix, equal points", func() (*Chart, error) { return Matrix(equal) }, 15_000, "1 of 2 eigenvalues carries 99 % of the trace"},
		{"matrix, indefinite", func() (*Chart, error) { return Matrix(indefinite) }, 15_000, "the least eigenvalue is −1: no Mercer kernel"},
		{"validation", func() (*Chart, error) { return Validation(validation()) }, 10_000, "Accuracy 93.0 ± 1.2 % on held-out points at gamma = 4, 92.5 % on the training points"},
		{"learning", func() (*Chart, error) { return Validation(learning()) }, 10_000, "RMSE 0.1167 ± 0.0025 on held-out points with 120 training points"},
		{"validation, one place known", func() (*Chart, error) { return Validation(pair) }, 10_000, "Accuracy 50.0 % on held-out points at C = 2"},
	})
}

// A run never computes more kernel values than were asked for.
func TestEffortAsksForWhatItComputes(t *testing.T) {
	small := moons(t, 120, 1.2, 2)
	svm := must[*Chart](t)(Effort(EffortData{"", 120, small.solved(t, solvers.SMO{}).Trace.Points})).Extra["svm"].(object)
	computed, asked := svm["y0"].(list), svm["y1"].(list)
	for k := range computed {
		if computed[k].(float64) > asked[k].(float64) {
			t.Fatalf("at place %d, %v are computed and %v asked for", k, computed[k], asked[k])
		}
	}
}

// The title names all points that were chosen most often, or says how many they are.
func TestFavouritesAreTied(t *testing.T) {
	for _, c := range []struct {
		often []float64
		want  string
	}{
		{[]float64{1, 3, 2}, "point 1 the most often, in 3"}, {[]float64{3, 1, 3}, "points 0 and 2 the most often, each in 3"},
		{[]float64{2, 2, 2, 1}, "3 of them the most often, each in 2"}, {[]float64{2, 2, 2}, "each equally often, in 2"}, {[]float64{0, 2}, "point 1 in 2"},
	} {
		points := []solvers.Point{}
		for i, n := range c.often {
			for range int(n) {
				points = append(points, solvers.Point{Iteration: len(points) + 1, Working: []int{i}})
			}
		}
		title := must[*Chart](t)(WorkingSets(WorkingSetsData{Up: make([]bool, len(c.often)), Points: points})).Title.Title
		if want := fmt.Sprintf("%s of %d steps", c.want, len(points)); !strings.HasSuffix(title, want) {
			t.Errorf("%q, want %q at its end", title, want)
		}
	}
}

func TestWrongCourseInput(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	good := []solvers.Point{{Iteration: 0}, {Iteration: 1, Margin: 1, Working: []int{0, 1}, Evaluations: 4}}
	backwards := []solvers.Point{{Iteration: 2, Margin: 1, Working: []int{0}, Evaluations: 4}, {Iteration: 1, Margin: 1, Working: []int{0}, Evaluations: 4}}
	growth := func(p []solvers.Point) error { _, err := Growth(GrowthData{Points: p}); return err }
	effort := func(n int, p []solvers.Point) error { _, err := Effort(EffortData{N: n, Points: p}); return err }
	chunks := func(p []solvers.Point) error { _, err := Chunks(ChunksData{N: 2, Points: p}); return err }
	working := func(n int, p []solvers.Point) error {
		_, err := WorkingSets(WorkingSetsData{Up: make([]bool, n), Points: p})
		return err
	}
	alphas := func(a, upper float64) error {
		_, err := Alphas(AlphasData{Up: []bool{true}, Alpha: []float64{a}, Upper: []float64{upper}})
		return err
	}
	matrix := func(change func(*MatrixData)) error {
		d := MatrixData{Classes: []string{"a", "b"}, Class: []int{0, 1}, Index: []int{0, 1}, Of: 2, K: [][]float64{{1, 0}, {0, 1}}, Eigen: []float64{1, 1}}
		change(&d)
		_, err := Matrix(d)
		return err
	}
	valid := func(change func(*ValidationData)) error {
		d := validation()
		change(&d)
		_, err := Validation(d)
		return err
	}
	for _, err := range []error{growth(good), effort(2, good), chunks(good), working(2, good), alphas(1, 2), matrix(func(*MatrixData) {}), valid(func(*ValidationData) {})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for k, test := range []struct {
		err   error
		field string
	}{
		{growth(nil), "Points"}, {growth(backwards), "Points[1].Iteration"}, {growth(good[:1]), "Points"},
		{growth([]solvers.Point{{Margin: 1e200}}), "margin at Points[0]"},
		{effort(0, good), "N"}, {effort(2, nil), "Points"}, {effort(2, good[:1]), "Points"}, {effort(2, backwards), "Points[1].Iteration"},
		{effort(2, []solvers.Point{{Evaluations: 4}, {Iteration: 1, Evaluations: 3}}), "Points[1].Evaluations"},
		{chunks(nil), "Points"}, {chunks(backwards), "Points[1].Iteration"}, {chunks([]solvers.Point{{Iteration: 1}}), "Points"},
		{working(2, nil), "Points"}, {working(2, backwards), "Points[1].Iteration"}, {working(1, good), "Points[1].Working"},
		{alphas(nan, 1), "Alpha[0]"}, {alphas(-1, 1), "Alpha[0]"}, {alphas(inf, 1), "Alpha[0]"}, {alphas(1, nan), "Upper[0]"},
		{matrix(func(d *MatrixData) { d.K = nil }), "K"}, {matrix(func(d *MatrixData) { d.K[1][0] = nan }), "K[1][0]"}, {matrix(func(d *MatrixData) { d.K[1][0] = inf }), "K[1][0]"},
		{matrix(func(d *MatrixData) { d.K[1] = nil }), "K[1]"}, {matrix(func(d *MatrixData) { d.Eigen[0] = nan }), "Eigen[0]"}, {matrix(func(d *MatrixData) { d.Eigen = nil }), "Eigen"},
		{matrix(func(d *MatrixData) { d.Class[0] = 1; d.Class[1] = 0 }), "Class[1]"}, {matrix(func(d *MatrixData) { d.Class[1] = 2 }), "Class[1]"}, {matrix(func(d *MatrixData) { d.Index = nil }), "Class"},
		{valid(func(d *ValidationData) { d.Train[2] = inf }), "Train[2]"}, {valid(func(d *ValidationData) { d.HeldOut = nil }), "HeldOut"}, {valid(func(d *ValidationData) { d.TrainSE[0] = -1 }), "TrainSE[0]"},
		{valid(func(d *ValidationData) { d.Xs[1] = nan }), "Xs[1]"}, {valid(func(d *ValidationData) { d.Xs[0] = 0 }), "Xs[0]"}, {valid(func(d *ValidationData) { d.Xs[1] = d.Xs[0] }), "Xs[1]"},
		{valid(func(d *ValidationData) {
			for i := range d.HeldOut {
				d.HeldOut[i] = nan
			}
		}), "HeldOut"},
	} {
		var bad *InputError
		if !errors.As(test.err, &bad) || bad.Field != test.field {
			t.Errorf("case %d: error %v, want an *InputError about %s", k, test.err, test.field)
		}
	}
}
