package linear

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/internal/toy"
	"github.com/svmnb/svmnb/solvers"
)

// TestSubtractProduct holds products over the seams of their parts against gonum's.
func TestSubtractProduct(t *testing.T) {
	for _, c := range []struct{ rows, cols, depth int }{
		{1, 1, 1}, {5, productSide + 3, 7}, {productSide + 40, 30, 9}, {20, 11, panel}, {productSide + 2, productSide + 2, 33},
	} {
		rng := toy.Rand(uint64(c.rows))
		a, b, out := mat.NewDense(c.rows, c.depth, nil), mat.NewDense(c.depth, c.cols, nil), mat.NewDense(c.rows, c.cols, nil)
		for _, m := range []*mat.Dense{a, b, out} {
			m.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, m)
		}
		var want mat.Dense
		want.Mul(a, b)
		want.Sub(out, &want)
		viewOf := func(m *mat.Dense) rectangle {
			r := m.RawMatrix()
			return rectangle{Data: r.Data, Rows: r.Rows, Cols: r.Cols, Stride: r.Stride}
		}
		if err := subtractProduct(context.Background(), viewOf(out), viewOf(a), viewOf(b)); err != nil {
			t.Fatal(err)
		}
		if !mat.EqualApprox(out, &want, 1e-11) {
			t.Errorf("%+v: not the product that gonum finds", c)
		}
	}
}

// TestFactorThreads: factor, solutions and inverse have the same bits on every
// number of goroutines.
func TestFactorThreads(t *testing.T) {
	const n = 700
	s, b := randomSystem(5, n, 3)
	run := func(threads int) (all [][]float64) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
		sol := mustSolve(t, s, b, Cholesky{}, Settings{})
		inverse, err := sol.Factor.Inverse(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return append(append(all, sol.X...), inverse...)
	}
	one := run(1)
	for _, threads := range []int{2, 3} {
		for i, row := range run(threads) {
			for j, v := range row {
				if v != one[i][j] {
					t.Fatalf("%d goroutines: number %d, %d is %v, on one %v", threads, i, j, v, one[i][j])
				}
			}
		}
	}
}

// TestFactorEnds: what takes long looks at ctx, and says why it ended.
func TestFactorEnds(t *testing.T) {
	const n = 2 * panel
	s, _ := randomSystem(1, n, 1)
	f, err := Cholesky{}.Factor(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(gone)
	x := [][]float64{fill(n, 1)}
	if err := f.SolveAll(ctx, x); err != gone || x[0][0] != 1 {
		t.Error(err, x[0][0])
	}
	if err := f.HalfSolveAll(ctx, x); err != gone {
		t.Error(err)
	}
	if _, err := f.Inverse(ctx); err != gone {
		t.Error(err)
	}
	if _, err := (Cholesky{}).Factor(ctx, s); !errors.Is(err, gone) {
		t.Error(err)
	}
}

// eachLevel runs a test with the loops of each level of the machine.
func eachLevel(t *testing.T, test func(t *testing.T)) {
	defer simd.SetLevel(simd.Active())
	for l := range simd.Best() + 1 {
		simd.SetLevel(l)
		t.Run(l.String(), test)
	}
}

// swept is a Sweeper whose rows come from the last to the first.
type swept struct {
	*toy.Gram
	sweeps int
}

func (m *swept) Sweep(ctx context.Context, height int, do func(i, j int, rows [][]float64)) error {
	m.sweeps++
	for i := m.Dim() - 1; i >= 0 && ctx.Err() == nil; i-- {
		row := append([]float64(nil), m.Gram.Row(i)...)
		if height > 0 {
			row = row[:i+1]
		}
		do(i, 0, [][]float64{row})
		for j := range row {
			row[j] = math.NaN() // not to be kept
		}
	}
	return context.Cause(ctx)
}

// TestSweeper: every method finds the same by sweeps as by rows, and a bad row is
// named, the first of several.
func TestSweeper(t *testing.T) {
	for _, m := range []Method{Cholesky{}, Mixed{}, LU{}, GaussJordan{}, CG{}, CG{Rank: 5}, CG{GibbsMacKay: true}} {
		s, b := randomSystem(3, 60, 2)
		want := mustSolve(t, s, b, m, Settings{})
		k := &swept{Gram: s.K.(*toy.Gram)}
		got := mustSolve(t, &System{K: k, Noise: s.Noise}, b, m, Settings{})
		if k.sweeps < 2 {
			t.Errorf("%s: %d sweeps", m.Name(), k.sweeps)
		}
		for j, x := range got.X {
			for i, v := range x {
				if v != want.X[j][i] {
					t.Fatalf("%s: x_%d of %d is %v by sweeps, %v by rows", m.Name(), i, j, v, want.X[j][i])
				}
			}
		}
		k.K[40][7], k.K[7][40], k.K[50][20] = math.NaN(), math.NaN(), math.Inf(1)
		_, err := Solve(context.Background(), &System{K: k, Noise: s.Noise}, b, m, Settings{})
		var bad *solvers.ProblemError
		if !errors.As(err, &bad) || bad.Field != "K" || bad.Index != 7 && bad.Index != 40 {
			t.Errorf("%s: %v", m.Name(), err)
		}
	}
}

// sweptBlocks is a Sweeper whose blocks come from the last to the first, with what is
// above the diagonal as well.
type sweptBlocks struct {
	swept
	blocks int
}

func (m *sweptBlocks) Sweep(ctx context.Context, high int, do func(i, j int, rows [][]float64)) error {
	if high <= 1 {
		return m.swept.Sweep(ctx, high, do)
	}
	const wide = 37
	n := m.Dim()
	for i := (n - 1) / high * high; i >= 0; i -= high {
		end := min(i+high, n)
		for j := (end - 1) / wide * wide; j >= 0 && ctx.Err() == nil; j -= wide {
			var rows [][]float64
			for r := i; r < end; r++ {
				rows = append(rows, slices.Clone(m.Gram.Row(r)[j:min(j+wide, n)]))
			}
			m.blocks++
			do(i, j, rows)
			for _, row := range rows {
				for c := range row {
					row[c] = math.NaN() // not to be kept
				}
			}
		}
	}
	return context.Cause(ctx)
}

// TestSweepByBlocks: a factor is the same by blocks as by rows, and of several bad entries
// the first is named.
func TestSweepByBlocks(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for _, n := range []int{1, 7, 60, 200} {
			for _, m := range []Method{Cholesky{}, Mixed{}} {
				s, b := randomSystem(3, n, 2)
				want := mustSolve(t, s, b, m, Settings{})
				k := &sweptBlocks{swept: swept{Gram: s.K.(*toy.Gram)}}
				got := mustSolve(t, &System{K: k, Noise: s.Noise}, b, m, Settings{})
				if k.blocks == 0 {
					t.Errorf("%s: no blocks", m.Name())
				}
				for j, x := range got.X {
					for i, v := range x {
						if v != want.X[j][i] {
							t.Fatalf("n = %d, %s: x_%d of %d is %v by blocks, %v by rows", n, m.Name(), i, j, v, want.X[j][i])
						}
					}
				}
				if n < 60 {
					continue
				}
				for _, p := range [][2]int{{50, 20}, {49, 2}, {49, 48}} {
					k.K[p[0]][p[1]], k.K[p[1]][p[0]] = 1e101, 1e101
				}
				_, err := Solve(context.Background(), &System{K: k, Noise: s.Noise}, b, m, Settings{})
				var bad *solvers.ProblemError
				if !errors.As(err, &bad) || bad.Field != "K" || bad.Value != 1e101 {
					t.Errorf("%s: %v", m.Name(), err)
				}
			}
		}
	})
}

func ExampleCholeskyFactor_HalfSolveAll() {
	k := toy.MatrixOf([][]float64{{4, 2}, {2, 5}})
	f, err := Cholesky{}.Factor(context.Background(), &System{K: k})
	if err != nil {
		panic(err)
	}
	x := [][]float64{{4, 2}, {2, 5}} // two covariances k: k'A⁻¹k is ‖L⁻¹k‖²
	if err := f.HalfSolveAll(context.Background(), x); err != nil {
		panic(err)
	}
	fmt.Println(x)
	// Output: [[2 0] [1 2]]
}

// grid is a matrix in memory.
type grid [][]float64

func (g grid) Dim() int            { return len(g) }
func (g grid) Row(i int) []float64 { return g[i] }
func (g grid) Diag() []float64 {
	d := make([]float64, len(g))
	for i := range g {
		d[i] = g[i][i]
	}
	return d
}

// A factor that grows is that of the whole matrix, wherever its panels end, and the one before stays.
func TestExtended(t *testing.T) {
	ctx := context.Background()
	rng := toy.Rand(3)
	for _, n := range []int{0, 1, 7, 8, 23, 24, 200} {
		for _, m := range []int{1, 2, 9, 30} {
			var x [][]float64
			for range n + m {
				x = append(x, []float64{rng.NormFloat64(), rng.NormFloat64()})
			}
			at := func(i, j int) float64 {
				v := math.Exp(-math.Hypot(x[i][0]-x[j][0], x[i][1]-x[j][1]))
				if i == j {
					v += 0.01
				}
				return v
			}
			of := func(n int) *CholeskyFactor {
				if n == 0 {
					return &CholeskyFactor{}
				}
				a := make(grid, n)
				for i := range a {
					for j := range n {
						a[i] = append(a[i], at(i, j))
					}
				}
				f, err := Cholesky{}.Factor(ctx, &System{K: a})
				if err != nil {
					t.Fatal(err)
				}
				return f
			}
			var rows [][]float64
			for i := n; i < n+m; i++ {
				var row []float64
				for j := range i + 1 {
					row = append(row, at(i, j))
				}
				rows = append(rows, row)
			}
			small, whole := of(n), of(n+m)
			b := make([]float64, n+m)
			for i := range b {
				b[i] = rng.NormFloat64()
			}
			before := small.Solve(nil, b[:n])
			f, err := small.Extended(ctx, rows)
			if err != nil {
				t.Fatal(err)
			}
			got, want := f.Solve(nil, b), whole.Solve(nil, b)
			for i := range want {
				if math.Abs(got[i]-want[i]) > 1e-11*(1+math.Abs(want[i])) {
					t.Fatalf("%d and %d rows: x[%d] = %v, want %v", n, m, i, got[i], want[i])
				}
			}
			if math.Abs(f.LogDet()-whole.LogDet()) > 1e-11*(1+math.Abs(whole.LogDet())) {
				t.Errorf("%d and %d rows: ln|A| = %v, want %v", n, m, f.LogDet(), whole.LogDet())
			}
			if !slices.Equal(before, small.Solve(nil, b[:n])) {
				t.Error("the smaller factor has changed")
			}
			if n > 0 && m > 1 {
				rows[1] = append(slices.Clone(rows[0]), rows[0][n]-0.5) // the same point twice, with a smaller variance
				var indefinite *IndefiniteError
				if _, err := small.Extended(ctx, rows[:2]); !errors.As(err, &indefinite) || indefinite.Row != n+1 {
					t.Errorf("a row that makes it indefinite gives %v", err)
				}
			}
			rows[0] = rows[0][:n]
			if _, err := small.Extended(ctx, rows); err == nil {
				t.Error("a short row is no error")
			}
		}
	}
}

// The inverse in single precision has six digits, and is in double precision where it would have fewer.
func TestInverseLowerSingle(t *testing.T) {
	const n = fewSingle + 9 // the last panel is not full
	rng := toy.Rand(41)
	x, _ := toy.Points(rng, n, 2, 0.5)
	k := toy.NewGram(x, toy.RBF(0.5))
	for _, c := range []struct {
		noise  float64
		single bool
	}{{0.5, true}, {0.02, true}, {0.001, false}} {
		noise := make([]float64, n)
		for i := range noise {
			noise[i] = c.noise
		}
		f, err := Cholesky{}.Factor(t.Context(), &System{K: k, Noise: noise})
		if err != nil {
			t.Fatal(err)
		}
		want, err := f.InverseLower(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.InverseLowerSingle(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		a, b := make([]float64, n), make([]float64, n)
		most, off, sum, trace := 0.0, 0.0, 0.0, 0.0
		for i := range n {
			a, b = want.Row(a[:n], i), got.Row(b[:n], i)
			for j, v := range a {
				most, off = max(most, math.Abs(v)), max(off, math.Abs(b[j]-v))
			}
			sum, trace = sum+b[i]-a[i], trace+a[i]
		}
		if single := off != 0; single != c.single {
			t.Errorf("noise %g: single precision is %v", c.noise, single)
		}
		if off > 1e-5*most || math.Abs(sum) > 1e-6*trace {
			t.Errorf("noise %g: an entry is off by %g of %g, the trace by %g of %g", c.noise, off, most, sum, trace)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	noise := make([]float64, n)
	for i := range noise {
		noise[i] = 1
	}
	f, err := Cholesky{}.Factor(t.Context(), &System{K: k, Noise: noise})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.InverseLowerSingle(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if l, err := new(CholeskyFactor).InverseLowerSingle(t.Context()); err != nil || l.u != nil {
		t.Errorf("the zero factor: %v, %v", l, err)
	}
}
