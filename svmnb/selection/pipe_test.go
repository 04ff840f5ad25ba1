package selection

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/gp"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"github.com/svmnb/svmnb/svmnb/transform"
	"pgregory.net/rapid"
)

// A pipeline is what doing its steps by hand is, whatever it ends in.
func TestPipeIsItsStepsByHand(t *testing.T) {
	train, test := datasets.Wine().Split(0.7, 1)
	s, err := datasets.FitMinMax(train)
	if err != nil {
		t.Fatal(err)
	}
	fit := testkit.FitOf(t, Pipe(transform.MinMax(), svmnb.Classify(train).C(2).OneVsOne()))
	byHand := testkit.FitOf(t, svmnb.Classify(s.Apply(train)).C(2).OneVsOne())
	got, err := fit.Predict(datasets.Rows(test.X))
	if err != nil {
		t.Fatal(err)
	}
	want, err := byHand.Predict(datasets.Rows(s.Apply(test).X))
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, by hand %v (%v)", got, want, err)
	}
	accuracy, err := fit.Score(test)
	if a, _ := byHand.Accuracy(s.Apply(test)); err != nil || accuracy != a || a < 0.9 {
		t.Errorf("accuracy %v, by hand %v (%v)", accuracy, a, err)
	}
	if e, err := fit.Evaluate(test); err != nil || e.Confusion().Accuracy() != accuracy {
		t.Errorf("%v, %v", e, err)
	}
	if _, err := fit.Values(datasets.Rows(test.X)); err == nil || !strings.Contains(err.Error(), "say Predict") {
		t.Error(err)
	}

	cars := datasets.Diabetes()
	for _, l := range []Learner{svmnb.Regress(cars).C(100), svmnb.Regress(cars).Ridge(1), gp.Regress(cars)} {
		values, err := testkit.FitOf(t, Pipe(transform.Standardise(), l)).Values(datasets.Rows(cars.X[:5]))
		if err != nil {
			t.Fatal(err)
		}
		alone, err := l.Learning().With(cars.Standardised(), nil).Train(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		want, err := alone.HeldOut(context.Background(), cars.Standardised())
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range values { // a process sums in another order for means alone
			testkit.Near(t, fmt.Sprint(l), v, want.Predicted[i], 1e-12)
		}
	}
}

// spy is a step that keeps the points that it was fitted to.
type spy struct{ seen *[][]float64 }

func (spy) String() string { return "spy" }
func (s spy) Fit(train *datasets.Dataset) (transform.Transform, error) {
	*s.seen = append(*s.seen, train.X...)
	return s, nil
}
func (s spy) Apply(x [][]float64) ([][]float64, error) { return x, nil }

// Statistics of steps never see what is held out: whatever the held-out points are,
// the fitted step and the machine behind it are the same, bit by bit, and a step is
// shown no row of them.
func TestStepsNeverSeeTheHeldOutFold(t *testing.T) {
	data := datasets.Wine()
	folds := StratifiedKFold(5, 3)
	splits, err := folds.Splits(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []transform.Step{transform.Standardise(), transform.MinMax(), transform.Impute(), transform.ImputeBy(transform.Median), transform.PCA(3), transform.Nystroem(nil, 20, 1), transform.KernelPCA(nil, 4), transform.RandomFourier(0, 30, 1)} {
		for k, s := range splits[:2] {
			poisoned := data.Select(testkit.Seq(data.N()))
			rng := rand.New(rand.NewPCG(1, uint64(k)))
			for _, i := range s.Test {
				for j := range poisoned.X[i] {
					poisoned.X[i][j] = 1e6 * rng.NormFloat64()
				}
			}
			var values [2][]float64
			for v, d := range []*datasets.Dataset{data, poisoned} {
				l := Pipe(step, svmnb.Classify(d).OneVsRest())
				fit, err := l.Learning().With(d.Select(s.Train), s.Train).Train(context.Background(), nil)
				if err != nil {
					t.Fatal(err)
				}
				x, err := fit.Fit().(*PipeFit).Transform(datasets.Rows(data.X[:4]))
				if err != nil {
					t.Fatal(err)
				}
				decisions, err := fit.Fit().(*PipeFit).Model().Decisions(datasets.Rows(data.X[:4]))
				if err != nil {
					t.Fatal(err)
				}
				values[v] = slices.Concat(slices.Concat(x...), slices.Concat(decisions...))
			}
			if !slices.Equal(values[0], values[1]) {
				t.Errorf("%v: what is held out in fold %d changes the fit", step, k+1)
			}
		}
	}
	for _, run := range []func(l Learner) error{
		func(l Learner) error { _, err := CrossValidate(context.Background(), l, folds); return err },
		func(l Learner) error {
			_, err := Search(l, Grid{"C": {1, 2}}, folds).Workers(1).Fit(context.Background())
			return err
		},
	} {
		var seen [][]float64
		if err := run(Pipe(spy{&seen}, svmnb.Classify(data).OneVsOne())); err != nil {
			t.Fatal(err)
		}
		for k, s := range splits {
			n := len(s.Train)
			if !slices.EqualFunc(seen[:n], data.Select(s.Train).X, slices.Equal) {
				t.Fatalf("in fold %d a step saw other rows than those to learn from", k+1)
			}
			seen = seen[n:]
		}
		if len(seen) != 0 {
			t.Errorf("steps were fitted to %d rows more than the folds have", len(seen))
		}
	}
}

// A planted leak: the targets are coin flips, so an honest score is near a half. A
// selection that has seen all points scores far above; in the pipe it cannot.
func TestPlantedLeakIsCaught(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	x, y := make([][]float64, 60), make([]float64, 60)
	for i := range x {
		x[i] = make([]float64, 2000)
		for j := range x[i] {
			x[i][j] = rng.NormFloat64()
		}
		y[i] = float64(2*(i%2) - 1)
	}
	data := datasets.New(x, y)
	leak, err := testkit.Strongest{K: 10}.Fit(data)
	if err != nil {
		t.Fatal(err)
	}
	seen, _ := leak.Apply(data.X)
	score := func(l Learner) float64 {
		v, err := CrossValidate(context.Background(), l, RepeatedKFold(5, 2, 1))
		if err != nil {
			t.Fatal(err)
		}
		return v.Mean()
	}
	planted := score(svmnb.Classify(datasets.New(seen, y)).Kernel(kernels.Linear()))
	honest := score(Pipe(testkit.Strongest{K: 10}, svmnb.Classify(data).Kernel(kernels.Linear())))
	if planted < 0.8 || honest > 0.65 {
		t.Errorf("selected by all points %.3f, want a leak above 0.8; inside the folds %.3f, want chance", planted, honest)
	}

	twice := datasets.New(slices.Concat(x, x), slices.Concat(y, y))
	v, err := CrossValidate(context.Background(), svmnb.Classify(twice), KFold(4, 1))
	if err != nil || v.Twins < 60 || len(v.Hints()) != 1 || !strings.Contains(v.Markdown(), "held-out points are among the training points") {
		t.Errorf("%d of %d points have a twin, %v (%v)", v.Twins, v.Points, v.Hints(), err)
	}
}

func TestImputeAndOneHot(t *testing.T) {
	gap := math.NaN()
	data := datasets.New([][]float64{{1, 7, gap}, {gap, 7, 4}, {3, 2, 6}, {2, 5, 8}}, []float64{1, -1, 1, -1})
	fit := testkit.FitOf(t, Pipe(transform.Impute(), transform.OneHot(1), svmnb.Classify(data)))
	got, err := fit.Transform(datasets.Rows{{gap, 5, 1}, {9, 3, gap}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]float64{{2, 0, 1, 0, 1}, {9, 0, 0, 0, 6}} {
		if !slices.Equal(got[i], want) {
			t.Errorf("row %d: %v, want %v", i, got[i], want)
		}
	}
	if x, err := testkit.FitOf(t, Pipe(transform.ImputeBy(transform.Median), svmnb.Classify(data))).Transform(datasets.Rows{{gap, gap, gap}}); err != nil || !slices.Equal(x[0], []float64{2, 6, 6}) {
		t.Errorf("medians %v (%v)", x, err)
	}
	if _, err := fit.Predict(datasets.Rows{{1, 2}}); err == nil || !strings.Contains(err.Error(), "row 0: the point has 2 features") {
		t.Error(err)
	}
}

// PCA by its definition: the components are orthonormal, those of the points have
// mean 0 and are uncorrelated, with falling variances that sum up to that of all.
func TestPCA(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(2, 30).Draw(t, "n"), rapid.IntRange(1, 8).Draw(t, "d")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		x, total := make([][]float64, n), 0.0
		for i := range x {
			for range d {
				x[i] = append(x[i], 100+rng.NormFloat64())
			}
		}
		data := datasets.New(x, make([]float64, n))
		k := min(n, d)
		fit, err := transform.PCA(k).Fit(data)
		if err != nil {
			t.Fatal(err)
		}
		p := fit.(steps.Projected)
		for j := range d {
			for i := range x {
				total += (x[i][j] - p.Mean[j]) * (x[i][j] - p.Mean[j])
			}
		}
		z, err := fit.Apply(x)
		if err != nil {
			t.Fatal(err)
		}
		explained, last := 0.0, math.Inf(1)
		for a := range k {
			for b := range a + 1 {
				of, cross := vec.Dot(p.Rows[a], p.Rows[b]), 0.0
				for i := range z {
					cross += z[i][a] * z[i][b]
				}
				switch {
				case a == b && (math.Abs(of-1) > 1e-12 || cross > last*(1+1e-9)+1e-9):
					t.Fatalf("component %d has length² %v and scatter %v after %v", a, of, cross, last)
				case a == b:
					last = cross
					explained += cross
				case math.Abs(of) > 1e-10 || math.Abs(cross) > 1e-9*(1+total):
					t.Fatalf("components %d and %d: %v, scatter %v", a, b, of, cross)
				}
			}
		}
		if math.Abs(explained-total) > 1e-9*(1+total) {
			t.Fatalf("the components explain %v of %v", explained, total)
		}
	})
	white, err := transform.PrincipalComponents{Components: 2, Whiten: true}.Fit(datasets.Wine())
	if err != nil {
		t.Fatal(err)
	}
	z, _ := white.Apply(datasets.Wine().X)
	for c := range 2 {
		sum := 0.0
		for _, row := range z {
			sum += row[c] * row[c] / 178
		}
		testkit.Near(t, "variance of a white component", sum, 1, 1e-10)
	}
}

// The products of Nyström features are the kernel at the landmarks, and everywhere
// when all points are.
func TestNystroemIsTheKernelAtItsLandmarks(t *testing.T) {
	data, k := datasets.Moons(40, 0.2, 1), kernels.RBF(2)
	fit, err := transform.Nystroem(k, 40, 5).Fit(data)
	if err != nil {
		t.Fatal(err)
	}
	z, err := fit.Apply(data.X)
	if err != nil {
		t.Fatal(err)
	}
	for i := range z {
		for j := range z {
			if want := k.Eval(data.X[i], data.X[j]); math.Abs(vec.Dot(z[i], z[j])-want) > 1e-6 {
				t.Fatalf("%d, %d: %v, want %v", i, j, vec.Dot(z[i], z[j]), want)
			}
		}
	}
	few, err := transform.Nystroem(k, 10, 5).Fit(data)
	if err != nil {
		t.Fatal(err)
	}
	z, _ = few.Apply(data.X)
	for i, x := range data.X { // a projection is never longer
		if vec.Dot(z[i], z[i]) > k.Eval(x, x)+1e-9 {
			t.Errorf("point %d: %v", i, vec.Dot(z[i], z[i]))
		}
	}
}

// The error of random Fourier features falls as m^−½ (Rahimi and Recht 2007).
func TestRandomFourierErrorFalls(t *testing.T) {
	data, gamma := datasets.Moons(60, 0.2, 1), 1.5
	var errors []float64
	for _, m := range []int{64, 4096} {
		sum := 0.0
		for seed := range uint64(8) {
			fit, err := transform.RandomFourier(gamma, m, seed).Fit(data)
			if err != nil {
				t.Fatal(err)
			}
			z, err := fit.Apply(data.X)
			if err != nil {
				t.Fatal(err)
			}
			for i := range z {
				for j := range i {
					e := vec.Dot(z[i], z[j]) - kernels.RBF(gamma).Eval(data.X[i], data.X[j])
					sum += e * e
				}
			}
		}
		errors = append(errors, math.Sqrt(sum/(8*60*59/2)))
	}
	if slope := math.Log(errors[1]/errors[0]) / math.Log(64); math.Abs(slope+0.5) > 0.06 {
		t.Errorf("errors %v: slope %v, want −½", errors, slope)
	}
}

// A linear machine behind many features is the kernel machine, nearly.
func TestFeaturesReplaceTheKernel(t *testing.T) {
	train, test := datasets.Moons(200, 0.15, 42), datasets.Moons(500, 0.15, 43)
	for _, step := range []transform.Step{transform.Nystroem(kernels.RBF(2), 60, 1), transform.RandomFourier(2, 400, 1)} {
		a, err := testkit.FitOf(t, Pipe(step, svmnb.Classify(train).C(10).CoordinateDescent())).Score(test)
		if err != nil || a < 0.97 {
			t.Errorf("%v: accuracy %v (%v)", step, a, err)
		}
	}
}

func TestPipeErrors(t *testing.T) {
	good, gap := datasets.Moons(20, 0.1, 1), datasets.New([][]float64{{1, math.NaN()}, {2, math.NaN()}}, []float64{1, -1})
	flat := datasets.New([][]float64{{1, 2}, {1, 2}, {1, 2}}, []float64{1, -1, 1})
	for _, c := range []struct {
		p    Pipeline
		says string
	}{
		{Pipeline{}, "there is no learner at the end"},
		{Pipe(), "there is no learner at the end"},
		{Pipe(transform.MinMax()), "there is no learner at the end"},
		{Pipe(nil, svmnb.Classify(good)), "neither a step nor a learner"},
		{Pipe(svmnb.Classify(good), transform.MinMax()), "part 1 is a learner with something after it"},
		{Pipe(transform.MinMax(), svmnb.Classify(nil)), "the data set is nil"},
		{Pipe(transform.MinMax(), svmnb.Classify(good).C(-1)), "C is -1"},
		{Pipe(transform.MinMax(), svmnb.Classify(gap)), "NaN"},
		{Pipe(svmnb.Classify(gap)), "NaN"},
		{Pipe(transform.Impute(), svmnb.Classify(gap)), "feature x2 has no value"},
		{Pipe(transform.Scaling{Low: 2, High: 1}, svmnb.Classify(good)), "low must be less than high"},
		{Pipe(transform.OneHot(), svmnb.Classify(good)), "no column is given"},
		{Pipe(transform.OneHot(7), svmnb.Classify(good)), "there is no column 7"},
		{Pipe(transform.OneHot(1), svmnb.Classify(gap)), "say Impute() before"},
		{Pipe(transform.PCA(0), svmnb.Classify(good)), "0 components"},
		{Pipe(transform.PCA(3), svmnb.Classify(good)), "3 components are asked for, of 20 training points of 2 features"},
		{Pipe(transform.PrincipalComponents{Components: 2, Whiten: true}, svmnb.Classify(flat)), "do not vary along component"},
		{Pipe(transform.Nystroem(nil, 21, 1), svmnb.Classify(good)), "21 landmarks are asked for of 20"},
		{Pipe(transform.Nystroem(kernels.RBF(-1), 2, 1), svmnb.Classify(good)), "gamma"},
		{Pipe(transform.RandomFourier(-1, 10, 1), svmnb.Classify(good)), "gamma is -1"},
		{Pipe(transform.RandomFourier(1, 0, 1), svmnb.Classify(good)), "0 features"},
		{Pipe(transform.RandomFourier(1, 1e9, 1), svmnb.Classify(good)), "1000000000 features are asked for, of 20 points"},
		{Pipe(transform.MinMax(), Pipeline{}), "there is no learner at the end"},
		{Pipe(transform.MinMax(), svmnb.Classifier{}), "nil"},
		{Pipe(halving{}, svmnb.Classify(good)), "it makes 10 rows of 20"},
	} {
		_, err := c.p.Fit(context.Background())
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v, want %q", c.p, err, c.says)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := Pipe(transform.MinMax(), svmnb.Classify(good)).Fit(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	// Constant features go through every scale.
	for _, s := range []transform.Step{transform.Standardise(), transform.MinMax()} {
		if x, err := testkit.FitOf(t, Pipe(s, svmnb.Classify(flat))).Transform(datasets.Rows(flat.X)); err != nil || slices.ContainsFunc(slices.Concat(x...), math.IsNaN) {
			t.Errorf("%v: %v (%v)", s, x, err)
		}
	}
}

// halving is a step that loses points.
type halving struct{}

func (halving) String() string                                     { return "halving" }
func (halving) Fit(*datasets.Dataset) (transform.Transform, error) { return halving{}, nil }
func (halving) Apply(x [][]float64) ([][]float64, error)           { return x[:len(x)/2], nil }

func TestPipeSaysWhatItIs(t *testing.T) {
	p := Pipe(Pipe(transform.Impute(), svmnb.Classify(testkit.Moons())).steps0(), transform.Scaling{Low: 0, High: 1}, transform.OneHot(0, 2), transform.PCA(3), transform.Nystroem(kernels.RBF(1), 5, 2), transform.RandomFourier(1, 9, 3), svmnb.Classify(testkit.Moons()))
	want := "Pipe(Impute(), Scaling{0, 1}, OneHot(0, 2), PCA(3), Nystroem(RBF(1), 5, 2), RandomFourier(1, 9, 3), " + svmnb.Classify(testkit.Moons()).String() + ")"
	if p.String() != want {
		t.Errorf("%v, want %v", p, want)
	}
	fit := testkit.FitOf(t, Pipe(transform.MinMax(), svmnb.Classify(testkit.Moons())))
	testkit.Says(t, "summary", fit.Markdown(), "Pipe(MinMax(), Classify(moons)", "support vectors")
	if _, ok := fit.Fit().(*svmnb.Fit); !ok {
		t.Errorf("%T", fit.Fit())
	}
	if _, err := svmnb.Margins.Of(fit.Fit()); err != nil {
		t.Error(err)
	}
}

// steps0 is the first step of a pipeline.
func (p Pipeline) steps0() transform.Step { return (*p.steps)[0].(transform.Step) }

// guide reads the first set of the LIBSVM guide, from the folder that SVMNB_DATA names.
func guide(t *testing.T) (train, test *datasets.Dataset) {
	t.Helper()
	dir := os.Getenv("SVMNB_DATA")
	if dir == "" {
		t.Skip("SVMNB_DATA names no folder with svmguide1 and svmguide1.t of the LIBSVM guide")
	}
	read := func(name string) *datasets.Dataset {
		data, err := datasets.LoadLIBSVM(filepath.Join(dir, name), 4)
		if errors.Is(err, os.ErrNotExist) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	return read("svmguide1"), read("svmguide1.t")
}

// The lab of the guide (Hsu, Chang and Lin, A practical guide to support vector
// classification, §1): 66.925 % raw, 96.15 % scaled, 96.875 % with C = γ = 2.
func TestLIBSVMGuide(t *testing.T) {
	train, test := guide(t)
	svc := svmnb.Classify(train).Kernel(kernels.RBF(0.25)).Using(solvers.SMO{})
	for _, c := range []struct {
		l    Learner
		want float64
	}{
		{svc, 0.66925},
		{Pipe(transform.MinMax(), svc), 0.9615},
		{Pipe(transform.MinMax(), svc.C(2).Kernel(kernels.RBF(2))), 0.96875},
	} {
		got, err := testkit.FitOf(t, Pipe(c.l)).Score(test)
		if err != nil || got != c.want {
			t.Errorf("%v: %v, the guide has %v (%v)", c.l, got, c.want, err)
		}
	}
	f, err := Search(Pipe(transform.MinMax(), svc), Grid{"C": Log2(-1, 3, 2), "gamma": Log2(-1, 3, 2)}, StratifiedKFold(5, 1)).Fit(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	got, err := testkit.FitOf(t, Pipe(f.Learner())).Score(test)
	if best, _ := f.Best(); err != nil || got < 0.9665 || best.Mean() < 0.965 {
		t.Errorf("the search takes %v, test accuracy %v (%v)", best, got, err)
	}
}
