package gp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"pgregory.net/rapid"
)

func thinned(t *testing.T, p SparseProcess) *SparseFit {
	t.Helper()
	f, err := p.Fit(ctx)
	if err != nil {
		t.Fatalf("%v: %v", p, err)
	}
	return f
}

// TestSparseOfAll: through all its points, a sparse process is the exact one.
func TestSparseOfAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var x [][]float64
	var y []float64
	for range 40 {
		p := []float64{4 * rng.NormFloat64(), 4 * rng.NormFloat64()}
		x, y = append(x, p), append(y, 10+5*math.Sin(p[0])+rng.NormFloat64())
	}
	for _, p := range []Process{
		Regress(datasets.New(x, y)).Kernel(kernels.Scale(9, kernels.Matern32(2))).NoiseVariance(0.5),
		Regress(datasets.New(x, y)).NormaliseTargets().Kernel(kernels.Matern52(2)).NoiseVariance(0.1),
		Regress(datasets.New(x, y)).ZeroMean().Kernel(kernels.Scale(90, kernels.Exponential(2))).NoiseVariance(0.5),
	} {
		exact, f := testkit.FitOf(t, p), thinned(t, p.Inducing(40))
		want := certain(exact.LogMarginalLikelihood(ctx)).Value
		testkit.Near(t, "lower bound", f.Lower, want, 1e-5)
		testkit.Near(t, "upper bound", f.Upper, want, 1e-5)
		at := datasets.Rows{{0, 0}, {1, -2}, {30, 1}}
		b, err := f.Posterior(ctx, at)
		if err != nil {
			t.Fatal(err)
		}
		e := must(exact.Posterior(ctx, at))
		for i := range at {
			testkit.Near(t, "mean", b.Mean[i], e.Mean[i], 1e-6)
			testkit.Near(t, "variance", b.Variance[i], e.Variance[i], 1e-6)
		}
		testkit.Near(t, "noise", b.Noise, e.Noise, 1e-12)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// smoothKernel draws a kernel of points of two features that knows its derivatives by these.
func smoothKernel(t *rapid.T) kernels.Kernel {
	length := math.Exp(rapid.Float64Range(-1, 1).Draw(t, "ln length"))
	return rapid.SampledFrom([]kernels.Kernel{
		kernels.SquaredExponential(length), kernels.RBF(length), kernels.Matern32(length), kernels.Matern52(length),
		kernels.ARD(length, 1), kernels.ARDMatern32(1, length), kernels.ARDMatern52(length, 2),
		kernels.Sum(kernels.SquaredExponential(length), kernels.Linear()),
		kernels.Product(kernels.Matern52(length), kernels.Sum(kernels.Linear(), kernels.Constant(1))),
		kernels.Named("trend", kernels.Fixed(kernels.RBF(length))),
	}).Draw(t, "kernel")
}

// randomSparse draws a problem of n points, and m inducing points by either choice.
func randomSparse(t *rapid.T, k kernels.Kernel) (Process, SparseProcess) {
	n := rapid.IntRange(2, 50).Draw(t, "n")
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	var x [][]float64
	var y []float64
	for range n {
		p := []float64{rng.NormFloat64(), rng.NormFloat64()}
		x, y = append(x, p), append(y, math.Sin(2*p[0])+rng.NormFloat64())
	}
	noise := math.Exp(rapid.Float64Range(-5, 2).Draw(t, "ln noise"))
	p := Regress(datasets.New(x, y)).Kernel(kernels.ScaleKernel{C: math.Exp(rapid.Float64Range(-2, 2).Draw(t, "ln scale")), K: k}).NoiseVariance(noise)
	s := p.Inducing(rapid.IntRange(1, 20).Draw(t, "m"))
	if rapid.Bool().Draw(t, "k-means++") {
		s = s.By(KMeans, rapid.Uint64().Draw(t, "seed of k-means++"))
	}
	return p, s
}

// TestSparseBounds: the exact evidence is between the bounds on random problems, always; those of
// CGLB are never wider; and the gradient of either lower one is that by differences.
func TestSparseBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		length := math.Exp(rapid.Float64Range(-2, 1).Draw(t, "ln length"))
		k := kernels.Kernel(kernels.SquaredExponential(length))
		if rapid.Bool().Draw(t, "rough") {
			k = kernels.Matern32(length)
		}
		p, s := randomSparse(t, k)
		exact, err := p.Cholesky().Fit(ctx)
		if err != nil {
			t.Fatal(err)
		}
		e, err := exact.LogMarginalLikelihood(ctx)
		if err != nil {
			t.Fatal(err)
		}
		slack := 1e-9 * (1 + math.Abs(e.Value))
		var before *SparseFit
		for _, s := range []SparseProcess{s, s.CGLB()} {
			f, err := s.Fit(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if !(f.Lower <= e.Value+slack && e.Value <= f.Upper+slack) {
				t.Fatalf("%v: %v is not between %v and %v", s, e.Value, f.Lower, f.Upper)
			}
			if before != nil && !(before.Lower <= f.Lower+slack && f.Upper <= before.Upper+slack) {
				t.Fatalf("from %v to %v, but with CGLB from %v to %v", before.Lower, before.Upper, f.Lower, f.Upper)
			}
			before = f
			partials, err := f.task.hyperparameters()
			if err != nil {
				t.Fatal(err)
			}
			grad := make([]float64, len(partials))
			if err := f.gradient(ctx, grad); err != nil {
				t.Fatal(err)
			}
			for i := range grad {
				const h = 1e-4
				var side [2]float64
				for s := range side {
					var values []float64
					for _, p := range partials {
						values = append(values, p.Value)
					}
					values[i] *= math.Exp(h * float64(2*s-1))
					_, v, err := f.task.at(ctx, values, &keptFit{Inducing: f.Inducing})
					if err != nil {
						t.Fatal(err)
					}
					side[s] = v
				}
				if want := (side[1] - side[0]) / (2 * h); !(math.Abs(grad[i]-want) <= 1e-4*(1+math.Abs(want))) {
					t.Fatalf("%v: ∂/∂ ln %s is %v, by differences %v", s, partials[i].Name, grad[i], want)
				}
			}
		}
	})
}

// TestSparseSlopes: the derivatives of either bound by the features of the inducing points are those
// by differences, for every kernel that knows its own.
func TestSparseSlopes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, s := randomSparse(t, smoothKernel(t))
		if rapid.Bool().Draw(t, "CGLB") {
			s = s.CGLB()
		}
		f, err := s.Fit(ctx)
		if err != nil {
			t.Fatal(err)
		}
		// Away from training points, where the bound for a rough kernel has a kink, and from each other.
		z := several(min(len(f.Inducing), 6), 2)
		for j := range z {
			for i, v := range f.Inducing[j] {
				z[j][i] = v + 0.3*math.Sin(float64(5*j+3*i+1))
			}
		}
		if f, err = f.task.throughPoints(ctx, z); err != nil {
			t.Fatal(err)
		}
		grad := make([]float64, 2*len(z))
		if err := f.gradientPoints(ctx, grad); err != nil {
			t.Fatal(err)
		}
		size := 0.0
		for _, g := range grad {
			size = max(size, math.Abs(g))
		}
		for k := range grad {
			const h = 1e-5
			var side [2]float64
			for s := range side {
				other := several(len(z), 2)
				for j := range z {
					copy(other[j], z[j])
				}
				other[k/2][k%2] += h * float64(2*s-1)
				g, err := f.task.throughPoints(ctx, other)
				if err != nil {
					t.Fatal(err)
				}
				side[s] = g.Lower
			}
			if want := (side[1] - side[0]) / (2 * h); !(math.Abs(grad[k]-want) <= 1e-3*(1+size)) {
				t.Fatalf("%v: ∂/∂z[%d][%d] is %v, by differences %v", s, k/2, k%2, grad[k], want)
			}
		}
	})
}

// TestSparseMonotone: with more points, each added to those before, the lower bound rises and the
// upper one falls.
func TestSparseMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, s := randomSparse(t, smoothKernel(t))
		f, err := s.Fit(ctx)
		if err != nil {
			t.Fatal(err)
		}
		lower, upper := math.Inf(-1), math.Inf(1)
		for m := 1; m <= len(f.Inducing); m++ {
			g, err := f.task.throughPoints(ctx, f.Inducing[:m])
			if err != nil {
				t.Fatal(err)
			}
			if slack := 1e-7 * (1 + math.Abs(g.Lower)); g.Lower < lower-slack || g.Upper > upper+slack {
				t.Fatalf("through %d points between %v and %v, through one less between %v and %v", m, g.Lower, g.Upper, lower, upper)
			}
			lower, upper = g.Lower, g.Upper
		}
	})
}

// TestOptimiseInducing: points that move give a bound above that of the chosen ones, with and without
// learning, and the figure has both places.
func TestOptimiseInducing(t *testing.T) {
	for _, p := range []SparseProcess{
		motorcycle().Inducing(8), motorcycle().Inducing(8).By(KMeans, 3), motorcycle().Inducing(8).CGLB(),
		motorcycle().Optimise().Inducing(8), motorcycle().Optimise().Inducing(6).CGLB(),
	} {
		rest, f := thinned(t, p), thinned(t, p.OptimiseInducing())
		if !(f.Lower > rest.Lower) || len(f.Chosen) != len(f.Inducing) || rest.Chosen != nil {
			t.Errorf("%v: %v after %v, from %v to %v", p, f.Lower, rest.Lower, f.Chosen, f.Inducing)
		}
		grad := make([]float64, len(f.Inducing))
		if err := f.gradientPoints(ctx, grad); err != nil {
			t.Fatal(err)
		}
		for j, g := range grad {
			if unit := f.task.units()[0]; math.Abs(g)*unit > 0.3 {
				t.Errorf("%v: the slope at point %d is %v in units of %v", p, j, g*unit, unit)
			}
		}
		chart, err := Posterior.Of(f)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(chart); !strings.Contains(got, "where they began") {
			t.Error("the figure has no place where the inducing points began")
		}
	}
	// A few points that move do as well as twice as many that stay.
	if few, many := thinned(t, motorcycle().Inducing(7).OptimiseInducing()), thinned(t, motorcycle().Inducing(9)); few.Lower < many.Lower {
		t.Errorf("7 points that moved reach %v, 9 that stayed %v", few.Lower, many.Lower)
	}
}

// TestSparseKMeans: the seed determines the points, which are different training points.
func TestSparseKMeans(t *testing.T) {
	p := Regress(datasets.Friedman1(300, 1, 2)).Inducing(25)
	first := thinned(t, p.By(KMeans, 1))
	if again := thinned(t, p.By(KMeans, 1)); !reflect.DeepEqual(first.Inducing, again.Inducing) || first.Lower != again.Lower {
		t.Error("one seed gives different points")
	}
	if other := thinned(t, p.By(KMeans, 2)); reflect.DeepEqual(first.Inducing, other.Inducing) {
		t.Error("another seed gives the same points")
	}
	seen := map[string]bool{}
	for _, z := range first.Inducing {
		if !slices.ContainsFunc(p.process.data.X, func(x []float64) bool { return slices.Equal(x, z) }) {
			t.Errorf("%v is no training point", z)
		}
		seen[fmt.Sprint(z)] = true
	}
	if len(seen) != 25 {
		t.Errorf("%d different points", len(seen))
	}
}

// TestCGLBLearns: with few inducing points, the noise that the bound of CGLB learns is nearer to that of
// the exact process than Titsias's, which is too large; and the mean of f is the exact one.
func TestCGLBLearns(t *testing.T) {
	p := motorcycle().Optimise()
	best := testkit.FitOf(t, p).Optimisation.End()
	var noise, bound [2]float64
	for i, s := range []SparseProcess{p.Inducing(6), p.Inducing(6).CGLB()} {
		end := thinned(t, s).Optimisation.End()
		noise[i], bound[i] = math.Log(end.Values[2]/best.Values[2]), end.Evidence
	}
	if !(0 < noise[1] && noise[1] < noise[0]/2 && bound[0] < bound[1] && bound[1] < best.Evidence) {
		t.Errorf("the noise is %v times e too large, the bounds are %v, the evidence %v", noise, bound, best.Evidence)
	}
	exact, f := testkit.FitOf(t, motorcycle()), thinned(t, motorcycle().Inducing(6).CGLB())
	at := datasets.Rows{{3}, {14}, {33}, {58}}
	want, got := must(exact.Predict(at)), must(f.Predict(at))
	for i := range at {
		testkit.Near(t, "mean", got[i], want[i], 1e-4)
	}
	rough := must(thinned(t, motorcycle().Inducing(6)).Predict(at))
	if math.Abs(rough[3]-want[3]) < 0.1 {
		t.Errorf("6 points give %v, the exact process %v: nothing is tested", rough, want)
	}
}

// TestSparseLearns: the learned bound comes near the learned evidence, and more inducing points
// come nearer.
func TestSparseLearns(t *testing.T) {
	best := testkit.FitOf(t, motorcycle().Optimise()).Optimisation.End().Evidence
	before := math.Inf(-1)
	for _, m := range []int{6, 12, 30} {
		f := thinned(t, motorcycle().Optimise().Inducing(m))
		o := f.Optimisation
		if o == nil || o.Ascents[o.Best].Status != solvers.Converged || f.Lower < o.Ascents[0].Path[0].Evidence {
			t.Fatalf("%d points: %+v", m, o)
		}
		if f.Lower > best+1e-6 || f.Lower < before || f.Upper < f.Lower {
			t.Errorf("%d points: between %v and %v, the best is %v, before %v", m, f.Lower, f.Upper, best, before)
		}
		before = f.Lower
		if md := f.Markdown(); !strings.Contains(md, "inducing point") || !strings.Contains(md, "is between") {
			t.Error(md)
		}
	}
	if best-before > 0.01 {
		t.Errorf("30 points lose %v", best-before)
	}
}

// TestSparseMany: 5,000 points through 60, with what a function of one feature needs.
func TestSparseMany(t *testing.T) {
	data := datasets.Sinc(5000, 0.1, 1)
	f := thinned(t, Regress(data).Kernel(kernels.SquaredExponential(1)).NoiseVariance(0.01).Inducing(60))
	if len(f.Inducing) > 60 || f.Upper-f.Lower > 1 {
		t.Errorf("%d points, between %v and %v", len(f.Inducing), f.Lower, f.Upper)
	}
	test := datasets.Sinc(200, 0, 2)
	mean, err := f.Predict(test)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range mean {
		testkit.Near(t, fmt.Sprint("f", test.X[i]), m, test.Y[i], 0.05)
	}
	chart, err := Posterior.Of(f)
	if err != nil || !strings.Contains(chart.Title.Subtitle, "inducing points") {
		t.Errorf("%v, %v", chart, err)
	}
}

func TestSparseRefuses(t *testing.T) {
	var argument *arguments.Error
	for name, p := range map[string]SparseProcess{
		"no points":    motorcycle().Inducing(0),
		"linear mean":  motorcycle().LinearMean().Inducing(3),
		"no noise":     motorcycle().NoiseVariance(0).Inducing(3),
		"noises":       motorcycle().NoiseVariances(make([]float64, 133)).Inducing(3),
		"zero value":   {},
		"wrong kernel": motorcycle().Kernel(nil).Inducing(3),
		"wrong choice": motorcycle().Inducing(3).By(7, 1),
		"rough kernel": motorcycle().Kernel(kernels.Exponential(1)).Inducing(3).OptimiseInducing(),
	} {
		if f, err := p.Fit(ctx); f != nil || !errors.As(err, &argument) {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
	f := thinned(t, motorcycle().Inducing(3))
	if _, err := f.Posterior(ctx, datasets.Rows{{1, 2}}); !errors.As(err, &argument) {
		t.Errorf("%v", err)
	}
	if _, err := PosteriorSamples(2, 1).Of(f); !errors.As(err, &argument) {
		t.Errorf("%v", err)
	}
	var none *SparseFit
	if _, err := none.Predict(datasets.Rows{{1}}); err == nil {
		t.Error("a fit that is nil")
	}
	ended, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	cancel(why)
	for _, p := range []SparseProcess{motorcycle().Inducing(5), motorcycle().Optimise().Inducing(5), motorcycle().Inducing(5).OptimiseInducing(), motorcycle().Inducing(5).By(KMeans, 1).CGLB()} {
		if f, err := p.Fit(ended); f != nil || !errors.Is(err, why) {
			t.Errorf("%v: %v, %v", p, f, err)
		}
	}
	if want := "gp.Regress(motorcycle).Kernel(Scale(2025, SquaredExponential(5))).NoiseVariance(484).Cholesky().Optimise().Inducing(5)"; motorcycle().Cholesky().Optimise().Inducing(5).String() != want {
		t.Errorf("%v", motorcycle().Cholesky().Optimise().Inducing(5))
	}
	if got := motorcycle().Inducing(5).By(KMeans, 3).OptimiseInducing().CGLB().String(); !strings.HasSuffix(got, ".Inducing(5).By(gp.KMeans, 3).OptimiseInducing().CGLB()") {
		t.Errorf("%v", got)
	}
}
