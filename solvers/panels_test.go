package solvers

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/svmnb/svmnb/internal/simd"
)

// panelSizes go over the seams of tiles, panels and bands at every level.
var panelSizes = []int{1, 2, 7, 8, 23, 24, 25, 48, 50, 191, 192, 193, 300, 400}

// eachLevel runs a test with the loops of each level of the machine.
func eachLevel(t *testing.T, test func(t *testing.T)) {
	defer simd.SetLevel(simd.Active())
	for l := range simd.Best() + 1 {
		simd.SetLevel(l)
		t.Run(l.String(), test)
	}
}

// randomPanels is a lower triangle with entries of N(0, 1), and n on the diagonal.
func randomPanels(seed uint64, n int) (*panels[float64], *mat.TriDense) {
	rng := newRand(seed)
	p, m := newPanels[float64](n), mat.NewTriDense(n, mat.Lower, nil)
	for i := range n {
		for j := range i {
			m.SetTri(i, j, rng.NormFloat64())
		}
		m.SetTri(i, i, float64(n))
		p.setRow(i, mat.Row(nil, i, m))
	}
	return p, m
}

// TestLower: the factor against gonum's, in both precisions, and zeros above the
// diagonal.
func TestLower(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		testLower[float64](t, 1e-13)
		testLower[float32](t, 3e-5)
	})
}

func testLower[T simd.Float](t *testing.T, tolerance float64) {
	p := newPanels[T](500) // whose memory all take, some of them twice
	for _, n := range append([]int{400, 400, 0, 25}, panelSizes...) {
		p.reset(n)
		if n == 0 {
			if pivot, err := p.lower(context.Background()); pivot != 0 || err != nil {
				t.Errorf("nothing: pivot %d, %v", pivot, err)
			}
			continue
		}
		_, m := randomPanels(uint64(n), n)
		var a mat.SymDense
		a.SymOuterK(1/float64(n), m)
		for i := range n {
			p.setRow(i, mat.Row(nil, i, &a))
		}
		if pivot, err := p.lower(context.Background()); pivot != n || err != nil {
			t.Fatalf("n = %d: pivot %d, %v", n, pivot, err)
		}
		var want mat.Cholesky
		if !want.Factorize(&a) {
			t.Fatal("gonum finds no factor")
		}
		var l mat.TriDense
		want.LTo(&l)
		for i := range n {
			for j := range i + 1 {
				if math.Abs(float64(p.at(i, j))-l.At(i, j)) > tolerance*math.Sqrt(float64(n)) {
					t.Fatalf("n = %d: entry %d, %d is %g, want %g", n, i, j, p.at(i, j), l.At(i, j))
				}
			}
		}
		w := p.width()
		for i := range p.count() {
			square := p.column(i, i*w)
			for c := range w {
				for r, v := range square[c*w:][:c] {
					if v != 0 {
						t.Fatalf("n = %d: entry %d, %d, above the diagonal, is %g", n, i*w+r, i*w+c, v)
					}
				}
			}
		}
	}
}

// TestPivot: the row that is not positive is named wherever it stands, and its pivot
// stands on the diagonal.
func TestPivot(t *testing.T) {
	const n = 400
	for _, bad := range []int{0, 1, 7, 8, 24, 100, 191, 192, 255, 399} {
		for _, v := range []float64{-2, 0, math.NaN(), math.Inf(1)} {
			p := newPanels[float64](n)
			for i := range n {
				*p.entry(i, i) = 1
			}
			*p.entry(bad, bad) = v
			pivot, err := p.lower(context.Background())
			if got := p.at(bad, bad); pivot != bad || err != nil || got != v && !math.IsNaN(v) {
				t.Errorf("%g in row %d: pivot %d, %g, %v", v, bad, pivot, got, err)
			}
		}
	}
}

// TestDivide: L⁻¹ and L⁻ᵀ times vectors, one at a time and many, and L times one,
// against gonum's; a vector does not depend on those beside it.
func TestDivide(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for _, n := range panelSizes {
			p, m := randomPanels(uint64(n), n)
			f := &CholeskyFactor{n: n, l: p}
			for _, q := range []int{0, 1, 3, 24, 25, 97} {
				rng := newRand(uint64(q))
				x := mat.NewDense(max(1, q), n, nil)
				x.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, x)
				var half, whole, back mat.Dense
				if err := half.Solve(m, x.T()); err != nil {
					t.Fatal(err)
				}
				if err := whole.Solve(m.T(), &half); err != nil {
					t.Fatal(err)
				}
				back.Mul(m, &half)
				vectors := func() (v [][]float64) {
					for j := range q {
						v = append(v, mat.Row(nil, j, x))
					}
					return v
				}
				for name, c := range map[string]struct {
					want *mat.Dense
					all  func(context.Context, [][]float64) error
					one  func(dst, b []float64) []float64
				}{"Solve": {&whole, f.SolveAll, f.Solve}, "HalfSolve": {&half, f.HalfSolveAll, f.HalfSolve}} {
					got := vectors()
					if err := c.all(context.Background(), got); err != nil {
						t.Fatal(err)
					}
					for j, v := range vectors() {
						want := mat.Col(nil, j, c.want)
						if !allNear(got[j], want, 1e-11) {
							t.Fatalf("n = %d: %sAll of %d: vector %d differs from gonum's", n, name, q, j)
						}
						if !allNear(c.one(nil, v), want, 1e-11) {
							t.Fatalf("n = %d: %s of vector %d differs from gonum's", n, name, j)
						}
					}
					if q > 0 {
						alone := vectors()[q-1:]
						if err := c.all(context.Background(), alone); err != nil {
							t.Fatal(err)
						}
						for i, v := range alone[0] {
							if v != got[q-1][i] {
								t.Fatalf("n = %d: %sAll of a vector alone is another than with %d", n, name, q)
							}
						}
					}
				}
				if q == 1 {
					z := mat.Col(nil, 0, &half)
					if f.Multiply(z, z); !allNear(z, mat.Col(nil, 0, &back), 1e-11) {
						t.Fatalf("n = %d: Lz differs from gonum's", n)
					}
				}
			}
		}
	})
}

// TestInverseLower has the bits of Inverse, which is symmetric.
func TestInverseLower(t *testing.T) {
	for _, n := range panelSizes {
		p, _ := randomPanels(uint64(n), n)
		f := &CholeskyFactor{n: n, l: p}
		all, err := f.Inverse(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		lower, err := f.InverseLower(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			row := lower.Row(nil, i)
			if len(row) != i+1 || len(all[i]) != n {
				t.Fatalf("n = %d: row %d has %d and %d entries", n, i, len(row), len(all[i]))
			}
			for j, v := range row {
				if v != all[i][j] || v != all[j][i] {
					t.Fatalf("n = %d: entry %d, %d is %v, %v and %v", n, i, j, v, all[i][j], all[j][i])
				}
			}
		}
	}
}
