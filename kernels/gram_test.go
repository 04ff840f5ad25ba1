package kernels_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/svmnb/svmnb/internal/toy"
	"github.com/svmnb/svmnb/kernels"
)

func mustGram(t interface {
	Helper()
	Fatal(...any)
}, k kernels.Kernel, x [][]float64, cacheBytes int64) *kernels.Gram {
	t.Helper()
	g, err := kernels.NewGram(k, x, cacheBytes)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}

// laplacian is a kernel without a fast tier, lopsided in its last bits.
type laplacian struct{ Gamma float64 }

func (k laplacian) Eval(x, z []float64) float64 {
	sum := x[0] / 3
	for i := range x {
		sum += math.Abs(x[i] - z[i])
	}
	return math.Exp(-k.Gamma * (sum - x[0]/3))
}
func (laplacian) Check() error   { return nil }
func (laplacian) String() string { return "laplacian()" }

// steep is radial without a loop of its own, and changes the kernel it embeds.
type steep struct{ kernels.GaussianKernel }

func (k steep) OfSquaredDistance(r2 float64) float64 { return math.Exp(-k.Gamma * math.Sqrt(r2)) }
func (k steep) Eval(x, z []float64) float64 {
	var r2 float64
	for i := range x {
		r2 += (x[i] - z[i]) * (x[i] - z[i])
	}
	return k.OfSquaredDistance(r2)
}

// affine is a function of x·z without a loop of its own, and embeds one that
// has.
type affine struct{ kernels.LinearKernel }

func (affine) OfDot(dot float64) float64   { return dot + 2 }
func (affine) Eval(x, z []float64) float64 { return kernels.Linear().Eval(x, z) + 2 }
func (affine) String() string              { return "affine()" }

// twice embeds a sum, and changes it.
type twice struct{ kernels.SumKernel }

func (k twice) Eval(x, z []float64) float64 { return 2 * k.SumKernel.Eval(x, z) }
func (twice) String() string                { return "twice()" }

func own() []kernels.Kernel {
	return []kernels.Kernel{laplacian{1}, steep{kernels.RBF(1)}, affine{}, twice{kernels.SumKernel{A: kernels.RBF(1), B: laplacian{1}}}}
}

// anyKernel is a kernel with the points to try it on.
type anyKernel struct {
	kernels.Kernel
	points func(x [][]float64) [][]float64
}

// all is every kernel of the table, some of a user's, and combinations of both.
func all() []anyKernel {
	same := func(x [][]float64) [][]float64 { return x }
	var ks []anyKernel
	for _, k := range own() {
		ks = append(ks, anyKernel{k, same},
			anyKernel{kernels.Sum(k, kernels.RBF(1), k), same},
			anyKernel{kernels.Scale(3, kernels.Product(kernels.Normalised(k), kernels.Linear())), same},
			anyKernel{kernels.Columns(kernels.Normalised(k), 1, 0), two},
			anyKernel{kernels.Centred(k, toy.Normal(3, 7, 2)), two})
	}
	for _, c := range table {
		if c.points == nil {
			c.points = same
		}
		ks = append(ks, anyKernel{c.k, c.points})
	}
	return ks
}

func TestUserKernels(t *testing.T) {
	x := toy.Normal(3, 20, 3)
	for _, k := range own() {
		for _, cache := range []int64{0, 1, kernels.NoCache} {
			g := mustGram(t, k, x, cache)
			b := kernels.Against(k, x)
			for i := range x {
				row, predicted := g.Row(i), b.Row(nil, x[i])
				for j := range x {
					near(t, k.String()+" in a Gram", row[j], k.Eval(x[i], x[j]), 1e-13)
					near(t, k.String()+" in a Basis", predicted[j], k.Eval(x[i], x[j]), 1e-13)
				}
			}
		}
	}
}

// store is a model of how rows are kept, for the count of evaluations.
type store interface{ evaluations(i int) int }

type denseModel struct {
	n    int
	done map[int]bool
}

func (m *denseModel) evaluations(i int) int {
	if m.done[i] {
		return 0
	}
	m.done[i] = true
	return m.n - len(m.done)
}

type lruModel struct {
	n, most int
	held    []int // the one used last at the end
}

func (m *lruModel) evaluations(i int) int {
	at := slices.Index(m.held, i)
	cost := 0
	switch {
	case at >= 0:
		m.held = slices.Delete(m.held, at, at+1)
	default:
		cost = m.n
		if len(m.held) == m.most {
			m.held = m.held[1:]
		}
	}
	m.held = append(m.held, i)
	return cost
}

type noneModel int

func (m noneModel) evaluations(int) int { return int(m) }

// Whatever the kernel, the memory and the order in which rows are asked for:
// rows have the bits of any other store, the last two stay valid, and the count
// is what the way of keeping rows says.
func gramProperty(t *rapid.T) {
	some := rapid.SampledFrom(all()).Draw(t, "kernel")
	k := some.Kernel
	n, d := rapid.IntRange(1, 40).Draw(t, "n"), rapid.IntRange(1, 9).Draw(t, "d")
	x := toy.Normal(rapid.Uint64().Draw(t, "seed"), n, d)
	for range rapid.IntRange(0, 3).Draw(t, "duplicates") {
		x[rapid.IntRange(0, n-1).Draw(t, "i")] = x[rapid.IntRange(0, n-1).Draw(t, "j")]
	}
	x = some.points(x)
	reference := mustGram(t, k, x, kernels.NoCache)
	want := make([][]float64, n)
	for i := range want {
		want[i] = slices.Clone(reference.Row(i))
	}
	for i := range n {
		for j := range i {
			if math.Float64bits(want[i][j]) != math.Float64bits(want[j][i]) {
				t.Fatalf("K(%d,%d) = %v, K(%d,%d) = %v", i, j, want[i][j], j, i, want[j][i])
			}
		}
	}

	rowBytes := 8 * n
	bytes := rapid.OneOf(
		rapid.SampledFrom([]int{kernels.NoCache, 0, 1, n*rowBytes - 1, n * rowBytes}),
		rapid.IntRange(1, n*rowBytes+1),
	).Draw(t, "bytes")
	var model store
	switch {
	case bytes < 0:
		model = noneModel(n)
	case bytes == 0, bytes >= n*rowBytes, n <= 2:
		model = &denseModel{n, map[int]bool{}}
	default:
		model = &lruModel{n: n, most: max(2, bytes/rowBytes)}
	}
	g := mustGram(t, k, x, int64(bytes))
	evaluations := n // the diagonal
	var last []float64
	lastIndex := -1
	for step, i := range rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 120).Draw(t, "rows") {
		row := g.Row(i)
		if !sameBits(row, want[i]) {
			t.Fatalf("step %d: row %d is %v, want %v", step, i, row, want[i])
		}
		if last != nil && !sameBits(last, want[lastIndex]) {
			t.Fatalf("step %d: row %d broke row %d, returned before it", step, i, lastIndex)
		}
		last, lastIndex = row, i
		evaluations += model.evaluations(i)
		if g.Evaluations() != int64(evaluations) {
			t.Fatalf("step %d, row %d: %d evaluations, want %d", step, i, g.Evaluations(), evaluations)
		}
	}
	for i, v := range g.Diag() {
		if math.Float64bits(v) != math.Float64bits(want[i][i]) {
			t.Fatalf("Diag()[%d] = %v, want %v", i, v, want[i][i])
		}
	}
}

func TestGramProperties(t *testing.T) { rapid.Check(t, gramProperty) }

func FuzzGram(f *testing.F) { f.Fuzz(rapid.MakeFuzz(gramProperty)) }

// More points than one block of a row, and a basis of them.
func TestLongRows(t *testing.T) {
	const n = 1100
	x := toy.Normal(5, n, 3)
	for _, c := range table {
		k, x := c.k, x
		if c.points != nil {
			x = c.points(x)
		}
		dense, none, basis := mustGram(t, k, x, 0), mustGram(t, k, x, kernels.NoCache), kernels.Against(k, x)
		for _, i := range []int{0, 700, n - 1, 512} {
			row := dense.Row(i)
			if !sameBits(row, none.Row(i)) || !sameBits(row, basis.Row(nil, x[i])) {
				t.Fatalf("%v: row %d differs between dense, re-evaluated and Basis", k, i)
			}
			for j := range row {
				if want := k.Eval(x[i], x[j]); math.Float64bits(row[j]) != math.Float64bits(want) {
					t.Fatalf("%v: entry (%d, %d) is %v, Eval gives %v", k, i, j, row[j], want)
				}
			}
		}
	}
}

func TestDenseCountsHalf(t *testing.T) {
	const n = 60
	g := mustGram(t, kernels.RBF(1), toy.Normal(1, n, 2), 0)
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(n) {
		g.Row(i)
		g.Row(i)
	}
	if got, want := g.Evaluations(), int64(n*(n+1)/2); got != want {
		t.Errorf("%d evaluations for all rows, want n(n+1)/2 = %d", got, want)
	}
}

// Columns that are shifted leave the differences, and so the kernel.
func TestShiftedColumns(t *testing.T) {
	const n, d = 80, 5
	x := toy.Normal(9, n, d)
	for i := range x {
		for k := range x[i] {
			x[i][k] = math.Round(x[i][k]*(1<<20)) / (1 << 20) // survives the shift without rounding
		}
	}
	x[7] = slices.Clone(x[3])
	x[8] = slices.Clone(x[3])
	x[8][0] += 1.0 / (1 << 20) // all but a duplicate
	for _, shift := range []float64{1000, 1e6} {
		shifted := make([][]float64, n)
		for i := range x {
			shifted[i] = make([]float64, d)
			for k := range x[i] {
				shifted[i][k] = x[i][k] + shift
			}
		}
		for _, gamma := range []float64{0.5, 1e6} {
			a, b := mustGram(t, kernels.RBF(gamma), x, 0), mustGram(t, kernels.RBF(gamma), shifted, 0)
			for i := range n {
				for j, want := range a.Row(i) {
					if got := b.Row(i)[j]; math.Abs(got-want) > 1e-9 {
						t.Fatalf("shift %v, gamma %v: K(%d,%d) = %v, want %v", shift, gamma, i, j, got, want)
					}
				}
			}
			if got := b.Row(3)[7]; got != 1 {
				t.Errorf("shift %v: K of duplicates = %v, want 1", shift, got)
			}
			near(t, "K of near points", b.Row(3)[8], math.Exp(-gamma*math.Pow(2, -40)), 1e-12)
		}
	}
}

func TestPointsAreCopied(t *testing.T) {
	for _, k := range []kernels.Kernel{kernels.RBF(1), laplacian{1}} {
		x := toy.Normal(2, 10, 3)
		at := slices.Clone(x[4])
		g, b := mustGram(t, k, x, 0), kernels.Against(k, x)
		want, wantAgainst := mustGram(t, k, x, 0).Row(4), b.Row(nil, at)
		for i := range x {
			x[i][0] = 77
		}
		if !sameBits(g.Row(4), want) || !sameBits(b.Row(nil, at), wantAgainst) {
			t.Errorf("%v: a change of x after the call changes rows", k)
		}
	}
}

func TestDataErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name     string
		k        kernels.Kernel
		x        [][]float64
		row, col int
		words    []string
	}{
		{"no points", kernels.Linear(), nil, -1, -1, []string{"no points"}},
		{"no features", kernels.Linear(), [][]float64{{}, {}}, 0, -1, []string{"x[0]", "no features"}},
		{"short row", kernels.Linear(), [][]float64{{1, 2}, {1, 2}, {3}}, 2, -1, []string{"x[2]", "1 feature,", "2"}},
		{"long row", kernels.Linear(), [][]float64{{1}, {1, 2}}, 1, -1, []string{"x[1]", "2 features"}},
		{"NaN", kernels.RBF(1), [][]float64{{1, 2}, {1, nan}}, 1, 1, []string{"x[1][1]", "NaN"}},
		{"Inf", kernels.RBF(1), [][]float64{{inf, 2}, {1, nan}}, 0, 0, []string{"x[0][0]", "+Inf"}},
		{"-Inf", laplacian{1}, [][]float64{{1, 2}, {-inf, 0}}, 1, 0, []string{"x[1][0]", "-Inf"}},
		{"linear overflows", kernels.Linear(), [][]float64{{1}, {1e200}}, 1, -1, []string{"x[1]", "+Inf", "scale"}},
		{"polynomial overflows", kernels.Polynomial(60, 1, 1), [][]float64{{1, 1}, {1, 1}, {900, 900}}, 2, -1, []string{"x[2]", "Polynomial(60, 1, 1)", "scale"}},
	} {
		g, err := kernels.NewGram(c.k, c.x, 0)
		var e *kernels.DataError
		if !errors.As(err, &e) || g != nil {
			t.Errorf("%s: NewGram = %v, %v, want a *DataError", c.name, g, err)
			continue
		}
		if e.Row != c.row || e.Col != c.col {
			t.Errorf("%s: at row %d, column %d, want %d, %d", c.name, e.Row, e.Col, c.row, c.col)
		}
		for _, word := range c.words {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%s: %q does not mention %q", c.name, err, word)
			}
		}
	}
}

// Distances that overflow are far, not wrong.
func TestFarPoints(t *testing.T) {
	x := [][]float64{{math.MaxFloat64, 0}, {-math.MaxFloat64, 0}, {1e200, 1}}
	g := mustGram(t, kernels.RBF(1e-300), x, 0)
	for i := range x {
		for j, v := range g.Row(i) {
			if want := map[bool]float64{true: 1}[i == j]; v != want {
				t.Errorf("K(%d,%d) = %v, want %v", i, j, v, want)
			}
		}
	}
}

func TestKernelErrors(t *testing.T) {
	var e *kernels.ParamError
	for _, k := range []kernels.Kernel{nil, kernels.RBF(-1)} {
		if g, err := kernels.NewGram(k, [][]float64{{1}}, 0); !errors.As(err, &e) || g != nil {
			t.Errorf("NewGram(%v) = %v, %v, want a *ParamError", k, g, err)
		}
	}
	if _, err := kernels.NewGram(nil, nil, 0); !strings.Contains(err.Error(), "nil") {
		t.Errorf("%q does not say that the kernel is nil", err)
	}
}

func TestMemoryLimit(t *testing.T) {
	x := toy.Normal(1, 300, 10)
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(30_000))
	_, err := kernels.NewGram(kernels.RBF(1), x, 0)
	var e *kernels.MemoryError
	if !errors.As(err, &e) || e.N != 300 || e.D != 10 || e.Need != 36_000 || e.Limit != 30_000 {
		t.Fatalf("NewGram = %v, want a *MemoryError of 36000 bytes", err)
	}
	for _, word := range []string{"300 points", "36000 bytes", "30000", "GOMEMLIMIT", "part"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not mention %q", err, word)
		}
	}
}

func TestBasisOfNothing(t *testing.T) {
	b := kernels.Against(kernels.RBF(1), nil)
	if row := b.Row(nil, []float64{1, 2}); len(row) != 0 || b.Len() != 0 {
		t.Errorf("a row against nothing is %v", row)
	}
}

func TestBasisPanicsWithTheError(t *testing.T) {
	for name, c := range map[string]struct {
		call func()
		want string
	}{
		"ragged":        {func() { kernels.Against(kernels.RBF(1), [][]float64{{1}, {1, 2}}) }, "basis[1]"},
		"kernel":        {func() { kernels.Against(kernels.RBF(-1), nil) }, "gamma"},
		"another width": {func() { kernels.Against(kernels.RBF(1), [][]float64{{1}}).Row(nil, []float64{1, 2}) }, "2 features"},
	} {
		func() {
			defer func() {
				if err, ok := recover().(error); !ok || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: panics with %v, want an error with %q", name, err, c.want)
				}
			}()
			c.call()
		}()
	}
}

// Rows against a basis may be asked for side by side.
func TestBasisConcurrently(t *testing.T) {
	x := toy.Normal(1, 50, 3)
	k := kernels.Normalised(kernels.Sum(kernels.RBF(1), kernels.Product(kernels.Columns(kernels.Linear(), 0, 2), laplacian{1})))
	b := kernels.Against(k, x[:30])
	want := make([][]float64, len(x))
	for i := range x {
		want[i] = b.Row(nil, x[i])
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			row := make([]float64, 30)
			for step := range 2000 {
				if i := step % len(x); !sameBits(b.Row(row, x[i]), want[i]) {
					t.Errorf("row %d differs when others are computed beside it", i)
					return
				}
			}
		})
	}
	group.Wait()
}

// A solver's inner loop does not allocate, so neither do rows that are warm.
func TestRowsDoNotAllocate(t *testing.T) {
	const n = 100
	x := toy.Normal(1, n, 3)
	for _, k := range []kernels.Kernel{kernels.Linear(), kernels.Polynomial(2, 1, 1), kernels.RBF(1), laplacian{1},
		kernels.Sum(kernels.RBF(1), kernels.Sum(kernels.ARD(1, 2, 3), laplacian{1})),
		kernels.Normalised(kernels.Product(kernels.Linear(), kernels.Columns(kernels.Matern32(1), 2, 0))),
		kernels.Centred(kernels.Linear(), toy.Normal(2, 5, 3)),
	} {
		for name, cache := range map[string]int64{"dense": 0, "recent": 10 * 8 * n, "none": kernels.NoCache} {
			g := mustGram(t, k, x, cache)
			for i := range n {
				g.Row(i)
			}
			i := 0
			if got := testing.AllocsPerRun(200, func() { g.Row(i % n); i += 7 }); got != 0 {
				t.Errorf("%v, %s: %v allocations a row", k, name, got)
			}
		}
		b, dst := kernels.Against(k, x), make([]float64, n)
		if got := testing.AllocsPerRun(100, func() { b.Row(dst, x[0]) }); got != 0 {
			t.Errorf("%v: %v allocations a row against a basis", k, got)
		}
	}
}

// Matrices that get the memory of others have the rows that they would have alone.
func TestRelease(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{40, 37, 1, 40, 9, 40} {
		x := make([][]float64, n)
		for i := range x {
			x[i] = []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		}
		g, err := kernels.NewGram(kernels.RBF(0.5), x, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := n - 1; i >= 0; i -= 2 {
			for j, v := range g.Row(i) {
				if want := kernels.RBF(0.5).Eval(x[i], x[j]); v != want {
					t.Errorf("n = %d: K(%d, %d) is %v, want %v", n, i, j, v, want)
				}
			}
		}
		asked := g.Evaluations()
		if g.Release(); g.Evaluations() != asked || g.Dim() != n {
			t.Error("a released matrix has forgotten what it was")
		}
	}
}
