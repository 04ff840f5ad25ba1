package kernels_test

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/svmnb/svmnb/internal/toy"
	"github.com/svmnb/svmnb/kernels"
)

func namesOf(t interface {
	Helper()
	Fatal(args ...any)
}, k kernels.Kernel) (names []string, values []float64) {
	t.Helper()
	list, err := kernels.Hyperparameters(k)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range list {
		names, values = append(names, h.Name), append(values, h.Value)
	}
	return names, values
}

func TestHyperparameterNames(t *testing.T) {
	for _, c := range []struct {
		k    kernels.Kernel
		want string
	}{
		{kernels.RBF(0.5), "gamma"},
		{kernels.ARD(1, 2), "lengths[0] lengths[1]"},
		{kernels.Polynomial(3, 1, 0.5), "gamma coef0"},
		{kernels.Polynomial(3, 1, 0), "gamma"},
		{kernels.Sigmoid(1, -1), "gamma"},
		{kernels.Sigmoid(1, 1), "gamma coef0"},
		{kernels.Constant(0), ""},
		{kernels.Linear(), ""},
		{kernels.Intersection(), ""},
		{kernels.Precomputed(), ""},
		{kernels.GapWeighted(2, 0.5), ""},
		{kernels.Scale(2, kernels.Linear()), "Scale.c"},
		{kernels.ScaleKernel{C: 1, K: kernels.RBF(1)}, "Scale.c gamma"},
		{kernels.Scale(0, kernels.RBF(1)), ""},
		{kernels.Augmented(kernels.Linear(), 3), "Constant.c"},
		{kernels.Normalised(kernels.Columns(kernels.RBF(1), 0)), "gamma"},
		{kernels.Centred(kernels.Matern32(1), toy.Normal(1, 3, 1)), "length"},
		{kernels.SumKernel{A: kernels.RBF(1), B: kernels.SumKernel{A: kernels.RBF(1), B: kernels.RBF(1)}}, "RBF1.gamma RBF2.gamma RBF3.gamma"},
		{co2, "Scale1.c SquaredExponential1.length Scale2.c SquaredExponential2.length period Periodic.length " +
			"Scale3.c RationalQuadratic.length alpha Scale4.c SquaredExponential3.length"},
		{kernels.Fixed(kernels.RBF(1)), ""},
		{kernels.Fixed(kernels.Periodic(1, 2), "period"), "length"},
		{kernels.Fixed(kernels.Periodic(1, 2), "period", "Periodic.length"), ""},
		{kernels.Sum(kernels.Fixed(kernels.RBF(1)), kernels.RBF(2)), "gamma"},
		{kernels.Sum(kernels.Fixed(kernels.RBF(1)), kernels.RBF(2), kernels.RBF(3)), "RBF2.gamma RBF3.gamma"}, // as before the first was held
		{kernels.Sum(kernels.RBF(1), kernels.Fixed(kernels.Sum(kernels.RBF(2), kernels.RBF(3)), "RBF1.gamma")), "RBF1.gamma RBF3.gamma"},
		{kernels.Sum(kernels.Scale(0, kernels.RBF(1)), kernels.RBF(2), kernels.RBF(3)), "RBF2.gamma RBF3.gamma"},
		{kernels.Fixed(kernels.Sum(kernels.RBF(1), kernels.Scale(2, kernels.RBF(2))), "gamma"), "Scale.c"},
		{kernels.Sum(kernels.RBF(1), Multiquadric{2}), "RBF.gamma Multiquadric.gamma"},
		{kernels.Sum(kernels.ARD(1, 2), kernels.Columns(kernels.ARD(3), 1)), "ARD1.lengths[0] lengths[1] ARD2.lengths[0]"},
		{kernels.Named("f", kernels.RBF(1)), "f.gamma"},
		{kernels.Sum(kernels.Named("trend", kernels.Scale(2, kernels.RBF(1))), kernels.Named("season", kernels.Periodic(1, 2)), kernels.RBF(3)), "trend.c trend.gamma season.period season.length gamma"},
		{kernels.Named("f", kernels.Sum(kernels.Named("g", kernels.Sum(kernels.RBF(1), kernels.RBF(2))), kernels.RBF(3))), "g.RBF1.gamma g.RBF2.gamma f.gamma"},
		{kernels.Sum(kernels.Named("f", kernels.RBF(1)), kernels.Named("f", kernels.RBF(2))), "f.RBF1.gamma f.RBF2.gamma"},
		{kernels.Sum(kernels.Named("RBF", kernels.Matern32(1)), kernels.Named("RBF2", kernels.RBF(1)), kernels.RBF(2)), "RBF.length RBF2.RBF.gamma gamma"},
		{kernels.Fixed(kernels.Named("f", kernels.Periodic(1, 2)), "f.period"), "f.length"},
		{kernels.Named("f", kernels.Fixed(kernels.Periodic(1, 2), "period")), "f.length"},
	} {
		names, _ := namesOf(t, c.k)
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%v: %s, want %s", c.k, got, c.want)
		}
	}
}

// Where the features have names, a length of ARD has that of its feature.
func TestHyperparameterNamesOfFeatures(t *testing.T) {
	features := []string{"age", "income"}
	for _, c := range []struct {
		k    kernels.Kernel
		want string
	}{
		{kernels.ARD(1, 2), "age.length income.length"},
		{kernels.Scale(2, kernels.ARD(1, 2)), "Scale.c age.length income.length"},
		{kernels.Sum(kernels.Columns(kernels.ARD(2), 1), kernels.Named("rest", kernels.Columns(kernels.ARD(1, 2), 1, 0))), "income.length rest.income.length rest.age.length"},
		{kernels.Sum(kernels.ARD(1, 2), kernels.Columns(kernels.ARD(1), 0)), "ARD1.age.length income.length ARD2.age.length"},
		{kernels.Columns(kernels.ARD(1, 2), 0, 0), "Columns.ARD.lengths[0] Columns.ARD.lengths[1]"},
		{kernels.Columns(kernels.ARD(1), 2), "lengths[0]"}, // no such feature
		{kernels.Sum(kernels.Columns(kernels.RBF(2), 1), kernels.ARD(1, 2)), "gamma age.length income.length"},
	} {
		list, err := kernels.Hyperparameters(c.k, features...)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for i, h := range list {
			names = append(names, h.Name)
			if at, err := kernels.Lookup(c.k, h.Name, features...); at != i || err != nil {
				t.Errorf("%v: Lookup(%q) = %d, %v; want %d", c.k, h.Name, at, err, i)
			}
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%v: %s, want %s", c.k, got, c.want)
		}
	}
}

func TestLookup(t *testing.T) {
	for _, c := range []struct {
		k     kernels.Kernel
		name  string
		want  int
		words string // of the error
	}{
		{k: kernels.RBF(1), name: "gamma"},
		{k: kernels.RBF(1), name: "RBF.gamma"},
		{k: kernels.RBF(1), name: "RBF1.gamma"},
		{k: co2, name: "period", want: 4},
		{k: co2, name: "Sum.1.Scale.Product.1.Periodic.period", want: 4},
		{k: co2, name: "1.Scale.c", want: 2},
		{k: co2, name: "Scale2.c", want: 2},
		{k: co2, name: "0.SquaredExponential.length", want: 3},
		{k: kernels.Sum(kernels.Named("trend", kernels.Matern32(1)), kernels.Matern32(2)), name: "length", want: 1},
		{k: kernels.Sum(kernels.Named("trend", kernels.Matern32(1)), kernels.Matern32(2)), name: "trend.Matern32.length"},
		{k: kernels.Sum(kernels.Named("trend", kernels.Scale(2, kernels.RBF(1))), kernels.RBF(2)), name: "trend.Scale.RBF.gamma", want: 1},
		{k: kernels.RBF(-1), name: "gamma"},
		{k: kernels.ARD(1, 2), name: "lengths[1]", want: 1},
		{k: kernels.ARD(1, 2), name: "ARD.lengths[1]", want: 1},
		{k: kernels.Sum(kernels.RBF(1), kernels.RBF(2)), name: "gamma", want: -1, words: `"gamma" may be one of "RBF1.gamma", "RBF2.gamma": give one`},
		{k: kernels.Sum(kernels.RBF(1), kernels.RBF(2)), name: "length", want: -1, words: `no hyperparameter "length": there are "RBF1.gamma", "RBF2.gamma"`},
		{k: kernels.RBF(1), name: "amma", want: -1, words: `there are "gamma"`},
		{k: kernels.Linear(), name: "gamma", want: -1, words: "Linear() has none"},
		{k: nil, name: "gamma", want: -1, words: "nil"},
	} {
		if at, err := kernels.Lookup(c.k, c.name); at != c.want || (err == nil) != (c.words == "") || err != nil && !strings.Contains(err.Error(), c.words) {
			t.Errorf("Lookup(%v, %q) = %d, %v; want %d and %q", c.k, c.name, at, err, c.want, c.words)
		}
	}
}

// The names of any kernel differ, and lead to their hyperparameters, alone and within a
// larger kernel.
func TestNamesLeadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := drawn(t, rapid.IntRange(0, 3).Draw(t, "depth"))
		if rapid.Bool().Draw(t, "named") {
			k = kernels.Sum(kernels.Named("f", k), drawn(t, 1))
		}
		list, err := kernels.Hyperparameters(k)
		if err != nil {
			t.Fatal(err)
		}
		for i, h := range list {
			if at, err := kernels.Lookup(k, h.Name); at != i || err != nil {
				t.Fatalf("%v: Lookup(%q) = %d, %v; want %d", k, h.Name, at, err, i)
			}
			held := kernels.Fixed(k, h.Name)
			if err := held.Check(); err != nil {
				t.Fatal(err)
			}
			for _, left := range held.Hyperparameters() {
				if left.Name == h.Name {
					t.Fatalf("%v holds %s, and still has it", held, h.Name)
				}
			}
		}
	})
}

// Time does not double with each kernel around another.
func TestDeepFixed(t *testing.T) {
	lengths := make([]float64, 40)
	for i := range lengths {
		lengths[i] = 1
	}
	var k kernels.Kernel = kernels.ARD(lengths...)
	for i := range len(lengths) - 1 {
		k = kernels.Fixed(k, fmt.Sprintf("lengths[%d]", i))
	}
	if names, _ := namesOf(t, k); !slices.Equal(names, []string{"lengths[39]"}) {
		t.Error(names)
	}
	if got, err := kernels.Parse(k.String()); err != nil || got != k {
		t.Errorf("Parse: %v, %v", got, err)
	}
}

func TestWithHyperparameters(t *testing.T) {
	_, values := namesOf(t, co2)
	values[4] = 12
	k, err := kernels.WithHyperparameters(co2, values)
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Replace(co2.String(), "Periodic(1, ", "Periodic(12, ", 1); k.String() != want {
		t.Errorf("%v, want %v", k, want)
	}

	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		k      kernels.Kernel
		values []float64
		param  string
	}{
		{kernels.RBF(1), nil, "len(values)"},
		{kernels.RBF(1), []float64{1, 2}, "len(values)"},
		{kernels.Linear(), []float64{1}, "len(values)"},
		{kernels.Fixed(kernels.RBF(1)), []float64{1}, "len(values)"},
		{kernels.RBF(1), []float64{0}, "gamma"},
		{kernels.RBF(1), []float64{-1}, "gamma"},
		{kernels.RBF(1), []float64{nan}, "gamma"},
		{kernels.Scale(2, kernels.RBF(1)), []float64{1, inf}, "gamma"},
		{kernels.GammaExponential(1, 2), []float64{1, 2.1}, "gamma"},
		{kernels.RBF(-1), []float64{1}, "gamma"},
	} {
		var e *kernels.ParamError
		if k, err := kernels.WithHyperparameters(c.k, c.values); !errors.As(err, &e) || e.Param != c.param || k != nil {
			t.Errorf("%v with %v: %v, %v, want a *ParamError for %s", c.k, c.values, k, err, c.param)
		}
	}
	if k, err := kernels.WithHyperparameters(kernels.Linear(), nil); err != nil || k != kernels.Linear() {
		t.Errorf("Linear() with nothing: %v, %v", k, err)
	}
}

// drawn is a random kernel of points of two features.
func drawn(t *rapid.T, depth int) kernels.Kernel {
	positive := func() float64 { return math.Exp(rapid.Float64Range(-1, 1).Draw(t, "ln θ")) }
	inner := func() kernels.Kernel { return drawn(t, depth-1) }
	kinds := 18
	if depth == 0 {
		kinds = 10
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return kernels.RBF(positive())
	case 1:
		return kernels.Linear()
	case 2:
		return kernels.Polynomial(2, positive(), positive())
	case 3:
		return kernels.ARD(positive(), positive())
	case 4:
		return kernels.Periodic(positive(), positive())
	case 5:
		return kernels.RationalQuadratic(positive(), positive())
	case 6:
		return kernels.Matern52(positive())
	case 7:
		return kernels.GammaExponential(positive(), 1.5)
	case 8:
		return kernels.Constant(positive())
	case 9:
		return Multiquadric{positive()}
	case 10, 11:
		return kernels.Sum(inner(), inner())
	case 12, 13:
		return kernels.Product(inner(), inner())
	case 14:
		return kernels.Scale(positive(), inner())
	case 15:
		return kernels.Fixed(inner())
	case 16:
		return kernels.Named("part", inner())
	}
	return kernels.Normalised(inner())
}

// Of any expression: its own values make the same kernel, other values arrive in
// their places, and the contracted derivatives are the differences of what is
// contracted.
func TestDrawnGradients(t *testing.T) {
	x := append(toy.Normal(1, 6, 2), toy.Normal(1, 2, 2)...) // two points twice
	rapid.Check(t, func(t *rapid.T) {
		k := drawn(t, 3)
		names, values := namesOf(t, k)
		same, err := kernels.WithHyperparameters(k, values)
		if err != nil || same != k {
			t.Fatalf("%v with its own values: %v, %v", k, same, err)
		}
		slices.Sort(names)
		if len(slices.Compact(names)) != len(values) {
			t.Fatalf("%v has names that are not unique: %v", k, names)
		}
		weight := func(i, j int) float64 { return math.Cos(float64(3*i*j + i + j)) }
		total := func(k kernels.Kernel) (sum, size float64) {
			for i := range x {
				for j := range x {
					v := weight(i, j) * k.Eval(x[i], x[j])
					sum, size = sum+v, size+math.Abs(v)
				}
			}
			return sum, size
		}
		g, err := kernels.NewGradient(k, x)
		if err != nil {
			t.Fatal(err)
		}
		row := make([]float64, len(x))
		got := g.Contract(nil, func(i int) []float64 {
			for j := range row {
				row[j] = weight(i, j)
			}
			return row
		})
		if len(got) != len(values) {
			t.Fatalf("%d derivatives for %d hyperparameters", len(got), len(values))
		}
		_, size := total(k)
		for p := range values {
			const h = 2e-5
			moved := func(step float64) float64 {
				other := slices.Clone(values)
				other[p] *= math.Exp(step)
				with, err := kernels.WithHyperparameters(k, other)
				if err != nil {
					t.Fatal(err)
				}
				sum, _ := total(with)
				return sum
			}
			want := (moved(-2*h) - moved(2*h) + 8*(moved(h)-moved(-h))) / (12 * h)
			if !(math.Abs(got[p]-want) <= 1e-6*math.Abs(want)+1e-8*size) {
				t.Fatalf("%v, hyperparameter %d: %v, differences give %v", k, p, got[p], want)
			}
		}
	})
}

func TestContract(t *testing.T) {
	x := toy.Normal(2, 9, 2)
	g, err := kernels.NewGradient(co2, x)
	if err != nil {
		t.Fatal(err)
	}
	asked := make([]int, len(x))
	ones := slices.Repeat([]float64{1}, len(x))
	weights := func(i int) []float64 { asked[i]++; return ones }
	first := g.Contract(nil, weights)
	if slices.Min(asked) != 1 || slices.Max(asked) != 1 {
		t.Errorf("rows are asked for %v times, want each once", asked)
	}
	dst := slices.Repeat([]float64{math.NaN()}, 20)
	if again := g.Contract(dst, weights); !slices.Equal(first, again) || &again[0] != &dst[0] {
		t.Errorf("%v in new memory, %v in old", first, again)
	}
	// ∂/∂ln c of a term c·K is the term.
	var want float64
	for i := range x {
		for j := range x {
			want += 4 * kernels.SquaredExponential(3).Eval(x[i], x[j])
		}
	}
	near(t, "the derivative by the first scale", first[0], want, 1e-13)

	left := 4
	if got := g.Contract(nil, func(int) []float64 {
		if left--; left == 0 {
			return nil
		}
		return ones
	}); got != nil || left != 0 {
		t.Errorf("stopped by nil: %v, with %d rows left to ask", got, left)
	}

	func() {
		defer func() {
			var e *kernels.DataError
			if err, ok := recover().(error); !ok || !errors.As(err, &e) || e.Arg != "weights" || e.Row != 8 || e.Value != 3 {
				t.Errorf("a short row panics with %v, want a *DataError", err)
			}
		}()
		g.Contract(nil, func(int) []float64 { return ones[:3] })
	}()

	for _, k := range []kernels.Kernel{kernels.Linear(), kernels.Fixed(kernels.RBF(1)), kernels.Scale(0, kernels.RBF(1))} {
		g, err := kernels.NewGradient(k, x[:1])
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Contract(nil, func(int) []float64 { return ones[:1] }); got == nil || len(got) != 0 {
			t.Errorf("%v, with nothing to learn: %v", k, got)
		}
	}
}

// Once the first row has been computed a batch of them takes what its goroutines
// take, and a row no memory.
// Kernels with a length for each feature have exact sums of derivatives, also for points that are far from
// the origin, or many lengths from each other.
func TestContractCancels(t *testing.T) {
	const n = 60
	for _, far := range []float64{0, 1e3, 1e7} {
		for _, length := range []float64{1e-3, 0.02, 1, 1e4} {
			x := toy.Normal(7, n, 3)
			for i := range x {
				x[i][1] += far
				x[i][2] = x[i/2*2][2] * length // pairs that are near to each other
			}
			for _, k := range []kernels.Kernel{
				kernels.Scale(2, kernels.ARD(1, 1.5, length)), kernels.ARDMatern32(2, 1, length),
				kernels.Sum(kernels.ARDMatern52(1, length, 3), kernels.White()),
			} {
				k := k.(kernels.Differentiable)
				g, err := kernels.NewGradient(k, x)
				if err != nil {
					t.Fatal(err)
				}
				params := len(k.Hyperparameters())
				sum, size, grad := make([]float64, params), make([]float64, params), make([]float64, params)
				weight := func(i, j int) float64 { return math.Sin(float64(i*j + i + j)) }
				for i := range n {
					for j := range n {
						v := k.EvalGradient(grad, x[i], x[j])
						for p, d := range grad {
							sum[p] += weight(i, j) * d
							size[p] += math.Abs(d) + math.Abs(v)
						}
					}
				}
				row := make([]float64, n)
				for p, got := range g.Contract(nil, func(i int) []float64 {
					for j := range row {
						row[j] = weight(i, j)
					}
					return row
				}) {
					if !(math.Abs(got-sum[p]) <= 1e-11*size[p]) {
						t.Errorf("%v, far %g: derivative %d is %v, want %v", k, far, p, got, sum[p])
					}
				}
			}
		}
	}
}

func TestContractAllocates(t *testing.T) {
	k := kernels.Normalised(kernels.Sum(co2, kernels.Fixed(kernels.Periodic(1, 1), "period"), kernels.Columns(Multiquadric{1}, 0)))
	allocations := func(n int) float64 {
		g, err := kernels.NewGradient(k, toy.Normal(3, n, 1))
		if err != nil {
			t.Fatal(err)
		}
		dst, w := make([]float64, 20), make([]float64, n)
		return testing.AllocsPerRun(3, func() { g.Contract(dst, func(int) []float64 { return w }) })
	}
	if few, many := allocations(32), allocations(320); few > 8 || many > 10*few {
		t.Errorf("%v allocations for one batch of points, %v for ten", few, many)
	}
}

// TestContractThreads: the bits do not depend on how many goroutines there are.
func TestContractThreads(t *testing.T) {
	const n = 77
	weights := toy.Normal(5, n, n)
	for i, row := range weights {
		for j := range i {
			row[j] = weights[j][i]
		}
	}
	g, err := kernels.NewGradient(co2, toy.Normal(6, n, 1))
	if err != nil {
		t.Fatal(err)
	}
	run := func(threads int) []float64 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
		return g.Contract(nil, func(i int) []float64 { return weights[i] })
	}
	if one, three := run(1), run(3); !sameBits(one, three) {
		t.Errorf("%v on one goroutine, %v on three", one, three)
	}
}

func TestGradientOfBadData(t *testing.T) {
	for _, c := range []struct {
		k        kernels.Kernel
		x        [][]float64
		row, col int
		word     string
	}{
		{kernels.RBF(1), nil, -1, -1, "no points"},
		{kernels.RBF(1), [][]float64{{}}, 0, -1, "no features"},
		{kernels.RBF(1), [][]float64{{1, 2}, {3}}, 1, -1, "1 feature,"},
		{kernels.RBF(1), [][]float64{{1, 2}, {3, math.NaN()}}, 1, 1, "NaN"},
		{kernels.RBF(1), [][]float64{{1, math.Inf(-1)}}, 0, 1, "-Inf"},
		{kernels.Polynomial(2, 1, 1), [][]float64{{1}, {1e200}}, 1, -1, "scale"},
		{kernels.Polynomial(2, 1, 1), [][]float64{{1}, {1.1e77}}, 1, -1, "ln gamma"}, // K is still finite
	} {
		var e *kernels.DataError
		if _, err := kernels.NewGradient(c.k, c.x); !errors.As(err, &e) || e.Row != c.row || e.Col != c.col || !strings.Contains(err.Error(), c.word) {
			t.Errorf("NewGradient(%v, %v) = %v, want a *DataError with %q at %d, %d", c.k, c.x, err, c.word, c.row, c.col)
		}
	}

	defer debug.SetMemoryLimit(debug.SetMemoryLimit(30_000))
	var e *kernels.MemoryError
	if _, err := kernels.NewGradient(co2, toy.Normal(1, 500, 4)); !errors.As(err, &e) {
		t.Errorf("NewGradient in 30,000 bytes = %v, want a *MemoryError", err)
	}
}

func ExampleHyperparameters() {
	k := kernels.Sum(
		kernels.Scale(4, kernels.SquaredExponential(2)),
		kernels.Fixed(kernels.Periodic(1, 1.3), "period"), // a year is a year
	)
	list, err := kernels.Hyperparameters(k)
	fmt.Println(list, err)
	k, err = kernels.WithHyperparameters(k, []float64{9, 0.5, 2})
	fmt.Println(k, err)
	_, err = kernels.WithHyperparameters(k, []float64{9, -1, 2})
	fmt.Println(err)
	// Output:
	// [{Scale.c 4} {SquaredExponential.length 2} {Periodic.length 1.3}] <nil>
	// Sum(Scale(9, SquaredExponential(0.5)), Fixed(Periodic(1, 2), "period")) <nil>
	// kernels: WithHyperparameters: SquaredExponential.length = -1: want a finite number above 0
}

// The slope of y'Ky by the logarithm of gamma: the weights are y_i y_j.
func ExampleGradient() {
	x, y := [][]float64{{0}, {1}}, []float64{1, -1}
	g, err := kernels.NewGradient(kernels.RBF(1), x)
	if err != nil {
		fmt.Println(err)
		return
	}
	row := make([]float64, len(y))
	slope := g.Contract(nil, func(i int) []float64 {
		for j := range y {
			row[j] = y[i] * y[j]
		}
		return row
	})
	fmt.Printf("%.4f, by hand %.4f\n", slope, 2*math.Exp(-1))
	// Output: [0.7358], by hand 0.7358
}

// TestContractWith: sums over a rectangle, and over points with themselves, are those of
// single derivatives.
func TestContractWith(t *testing.T) {
	z, _ := toy.Points(toy.Rand(1), 7, 3, 1)
	x, _ := toy.Points(toy.Rand(2), 70, 3, 1)
	for _, k := range []kernels.Kernel{kernels.RBF(0.3), kernels.Scale(2, kernels.Matern32(1.5)), kernels.Sum(kernels.ARD(0.5, 1, 2), kernels.Scale(3, kernels.Linear())), kernels.Product(kernels.Periodic(1, 2), kernels.RationalQuadratic(1, 2))} {
		g, err := kernels.NewGradient(k, z)
		if err != nil {
			t.Fatal(err)
		}
		list, _ := kernels.Hyperparameters(k)
		w := func(i int) []float64 {
			row := make([]float64, len(z))
			for j := range row {
				row[j] = math.Sin(float64(i + 5*j))
			}
			return row
		}
		own := make([]float64, len(x))
		for i := range own {
			own[i] = math.Cos(float64(i))
		}
		got := g.ContractWith(nil, x, own, w)
		const h = 1e-5
		for p := range list {
			var side [2]float64
			for s := range side {
				values := make([]float64, len(list))
				for q := range list {
					values[q] = list[q].Value
				}
				values[p] *= math.Exp(h * float64(2*s-1))
				other, err := kernels.WithHyperparameters(k, values)
				if err != nil {
					t.Fatal(err)
				}
				for i, a := range x {
					row := w(i)
					for j, b := range z {
						side[s] += row[j] * other.Eval(a, b)
					}
					side[s] += own[i] * other.Eval(a, a)
				}
			}
			if want := (side[1] - side[0]) / (2 * h); !(math.Abs(got[p]-want) <= 1e-6*(1+math.Abs(want))) {
				t.Errorf("%v: ∂/∂ ln %s = %v, by differences %v", k, list[p].Name, got[p], want)
			}
		}
		if g.ContractWith(nil, x, nil, func(int) []float64 { return nil }) != nil {
			t.Error("goes on after nil")
		}
	}
}
