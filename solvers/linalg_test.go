package solvers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/svmnb/svmnb/internal/simd"
)

// randomArray has entries of N(0, 1), and n on the diagonal.
func randomArray(seed uint64, n int) array[float64] {
	rng := newRand(seed)
	a := array[float64]{make([]float64, n*n), n}
	for i := range a.data {
		a.data[i] = rng.NormFloat64()
	}
	for i := range n {
		a.data[i*n+i] = float64(n)
	}
	return a
}

// TestMultiply holds products over the seams of their parts against gonum's.
func TestMultiply(t *testing.T) {
	for _, c := range []struct {
		rows, cols, depth int
		g                 simd.Gemm[float64]
	}{
		{1, 1, 1, simd.Gemm[float64]{}},
		{5, productSide + 3, 7, minus[float64](0)},
		{productSide + 40, 30, 9, simd.Gemm[float64]{Add: true}},
		{20, 11, productDepth + 5, simd.Gemm[float64]{}},
		{20, 11, productDepth + 5, minus[float64](0)},
		{productSide + 90, productSide + 90, 33, simd.Gemm[float64]{Add: true, Minus: true, Lower: true}},
		{productSide + 2, productSide + 2, productDepth + 1, simd.Gemm[float64]{Lower: true}},
	} {
		rng := newRand(uint64(c.rows))
		a, b, out := mat.NewDense(c.rows, c.depth, nil), mat.NewDense(c.cols, c.depth, nil), mat.NewDense(c.rows, c.cols, nil)
		for _, m := range []*mat.Dense{a, b, out} {
			m.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, m)
		}
		var want mat.Dense
		want.Mul(a, b.T())
		before := mat.DenseCopyOf(out)
		viewOf := func(m *mat.Dense) rectangle {
			r := m.RawMatrix()
			return rectangle{Data: r.Data, Rows: r.Rows, Cols: r.Cols, Stride: r.Stride}
		}
		if err := multiply(context.Background(), c.g, viewOf(out), viewOf(a), viewOf(b).T()); err != nil {
			t.Fatal(err)
		}
		for i := range c.rows {
			for j := range c.cols {
				v := want.At(i, j)
				if c.g.Minus {
					v = -v
				}
				if c.g.Add {
					v += before.At(i, j)
				}
				if c.g.Lower && j > i {
					v = before.At(i, j)
				}
				if math.Abs(out.At(i, j)-v) > 1e-11 {
					t.Fatalf("%+v: entry %d, %d is %g, want %g", c, i, j, out.At(i, j), v)
				}
			}
		}
	}
}

// TestDivide: XL⁻ᵀ and XL⁻¹ against substitution, one row at a time; nothing above
// the diagonal of L is read, and a row does not depend on the others.
func TestDivide(t *testing.T) {
	for _, n := range []int{1, 2, cell - 1, cell, cell + 1, 3*cell + 5, panel + 70} {
		l := randomArray(uint64(n), n)
		for i := range n {
			for j := i + 1; j < n; j++ {
				l.data[i*n+j] = math.NaN()
			}
		}
		f := &CholeskyFactor{n: n, l: l}
		for _, q := range []int{0, 1, 3, strip, strip + 1, 2*strip + 9} {
			rng := newRand(uint64(q))
			var x [][]float64
			for range q {
				v := make([]float64, n)
				for i := range v {
					v[i] = rng.NormFloat64()
				}
				x = append(x, v)
			}
			for name, c := range map[string]struct {
				all func(context.Context, [][]float64) error
				one func(dst, b []float64) []float64
			}{"Solve": {f.SolveAll, f.Solve}, "HalfSolve": {f.HalfSolveAll, f.HalfSolve}} {
				got, alone := make([][]float64, q), [][]float64{nil}
				for j, v := range x {
					got[j] = append([]float64(nil), v...)
				}
				if err := c.all(context.Background(), got); err != nil {
					t.Fatal(err)
				}
				for j, v := range x {
					if want := c.one(nil, v); !allNear(got[j], want, 1e-12) {
						t.Fatalf("%sAll, n = %d, q = %d: vector %d differs from %s", name, n, q, j, name)
					}
					if alone[0] = append(alone[0][:0], v...); j == q-1 {
						if err := c.all(context.Background(), alone); err != nil {
							t.Fatal(err)
						}
						for i, v := range alone[0] {
							if v != got[j][i] {
								t.Fatalf("%sAll, n = %d: a vector alone is another than with %d", name, n, q)
							}
						}
					}
				}
			}
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
		sol := mustSolve(t, s, b, Cholesky{}, SystemSettings{})
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

// swept is a Sweeper whose rows come from the last to the first.
type swept struct {
	*gram
	sweeps int
}

func (m *swept) Sweep(ctx context.Context, lower bool, do func(i int, row []float64)) error {
	m.sweeps++
	for i := m.Dim() - 1; i >= 0 && ctx.Err() == nil; i-- {
		row := append([]float64(nil), m.gram.Row(i)...)
		if lower {
			row = row[:i+1]
		}
		do(i, row)
		for j := range row {
			row[j] = math.NaN() // not to be kept
		}
	}
	return context.Cause(ctx)
}

// TestSweeper: every method finds the same by sweeps as by rows, and a bad row is
// named, the first of several.
func TestSweeper(t *testing.T) {
	for _, m := range []LinearMethod{Cholesky{}, Mixed{}, LU{}, GaussJordan{}, CG{}, CG{Rank: 5}, CG{GibbsMacKay: true}} {
		s, b := randomSystem(3, 60, 2)
		want := mustSolve(t, s, b, m, SystemSettings{})
		k := &swept{gram: s.K.(*gram)}
		got := mustSolve(t, &System{K: k, Noise: s.Noise}, b, m, SystemSettings{})
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
		k.k[40][7], k.k[7][40], k.k[50][20] = math.NaN(), math.NaN(), math.Inf(1)
		_, err := SolveSystem(context.Background(), &System{K: k, Noise: s.Noise}, b, m, SystemSettings{})
		var bad *ProblemError
		if !errors.As(err, &bad) || bad.Field != "K" || bad.Index != 7 && bad.Index != 40 {
			t.Errorf("%s: %v", m.Name(), err)
		}
	}
}

func ExampleCholeskyFactor_HalfSolveAll() {
	k := matrixOf([][]float64{{4, 2}, {2, 5}})
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
