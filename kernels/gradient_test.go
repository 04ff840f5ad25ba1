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
		{kernels.RBF(0.5), "RBF.gamma"},
		{kernels.ARD(1, 2), "ARD.lengths[0] ARD.lengths[1]"},
		{kernels.Polynomial(3, 1, 0.5), "Polynomial.gamma Polynomial.coef0"},
		{kernels.Polynomial(3, 1, 0), "Polynomial.gamma"},
		{kernels.Sigmoid(1, -1), "Sigmoid.gamma"},
		{kernels.Sigmoid(1, 1), "Sigmoid.gamma Sigmoid.coef0"},
		{kernels.Constant(0), ""},
		{kernels.Linear(), ""},
		{kernels.Intersection(), ""},
		{kernels.Precomputed(), ""},
		{kernels.GapWeighted(2, 0.5), ""},
		{kernels.Scale(2, kernels.Linear()), "Scale.c"},
		{kernels.ScaleKernel{C: 1, K: kernels.RBF(1)}, "Scale.c Scale.RBF.gamma"},
		{kernels.Scale(0, kernels.RBF(1)), ""},
		{kernels.Augmented(kernels.Linear(), 3), "Sum.1.Constant.c"},
		{kernels.Normalised(kernels.Columns(kernels.RBF(1), 0)), "Normalised.Columns.RBF.gamma"},
		{kernels.Centred(kernels.Matern32(1), toy.Normal(1, 3, 1)), "Centred.Matern32.length"},
		{kernels.SumKernel{A: kernels.RBF(1), B: kernels.SumKernel{A: kernels.RBF(1), B: kernels.RBF(1)}}, "Sum.0.RBF.gamma Sum.1.Sum.0.RBF.gamma Sum.1.Sum.1.RBF.gamma"},
		{co2, "Sum.0.Scale.c Sum.0.Scale.SquaredExponential.length Sum.1.Scale.c Sum.1.Scale.Product.0.SquaredExponential.length Sum.1.Scale.Product.1.Periodic.period Sum.1.Scale.Product.1.Periodic.length " +
			"Sum.2.Scale.c Sum.2.Scale.RationalQuadratic.length Sum.2.Scale.RationalQuadratic.alpha Sum.3.Scale.c Sum.3.Scale.SquaredExponential.length"},
		{kernels.Fixed(kernels.RBF(1)), ""},
		{kernels.Fixed(kernels.Periodic(1, 2), "period"), "Fixed.Periodic.length"},
		{kernels.Fixed(kernels.Periodic(1, 2), "period", "Periodic.length"), ""},
		{kernels.Sum(kernels.Fixed(kernels.RBF(1)), kernels.RBF(2)), "Sum.1.RBF.gamma"},
		{kernels.Fixed(kernels.Sum(kernels.RBF(1), kernels.Scale(2, kernels.RBF(2))), "gamma"), "Fixed.Sum.1.Scale.c"},
		{kernels.Sum(kernels.RBF(1), Multiquadric{2}), "Sum.0.RBF.gamma Sum.1.Multiquadric.gamma"},
	} {
		names, _ := namesOf(t, c.k)
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%v: %s, want %s", c.k, got, c.want)
		}
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
		{kernels.RBF(1), []float64{0}, "RBF.gamma"},
		{kernels.RBF(1), []float64{-1}, "RBF.gamma"},
		{kernels.RBF(1), []float64{nan}, "RBF.gamma"},
		{kernels.Scale(2, kernels.RBF(1)), []float64{1, inf}, "Scale.RBF.gamma"},
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
	kinds := 17
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
		{kernels.Polynomial(2, 1, 1), [][]float64{{1}, {1.1e77}}, 1, -1, "Polynomial.gamma"}, // K is still finite
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
	// [{Sum.0.Scale.c 4} {Sum.0.Scale.SquaredExponential.length 2} {Sum.1.Fixed.Periodic.length 1.3}] <nil>
	// Sum(Scale(9, SquaredExponential(0.5)), Fixed(Periodic(1, 2), "period")) <nil>
	// kernels: WithHyperparameters: Sum.0.Scale.SquaredExponential.length = -1: want a finite number above 0
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
