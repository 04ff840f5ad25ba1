package chol

import (
	"context"
	"math"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/internal/toy"
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
func randomPanels(seed uint64, n int) (*Panels[float64], *mat.TriDense) {
	rng := toy.Rand(seed)
	p, m := New[float64](n), mat.NewTriDense(n, mat.Lower, nil)
	for i := range n {
		for j := range i {
			m.SetTri(i, j, rng.NormFloat64())
		}
		m.SetTri(i, i, float64(n))
		p.SetRow(i, mat.Row(nil, i, m))
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
	p := New[T](500) // whose memory all take, some of them twice
	for _, n := range append([]int{400, 400, 0, 25}, panelSizes...) {
		p.Reset(n)
		if n == 0 {
			if pivot, err := p.Factor(context.Background()); pivot != 0 || err != nil {
				t.Errorf("nothing: pivot %d, %v", pivot, err)
			}
			continue
		}
		_, m := randomPanels(uint64(n), n)
		var a mat.SymDense
		a.SymOuterK(1/float64(n), m)
		for i := range n {
			p.SetRow(i, mat.Row(nil, i, &a))
		}
		if pivot, err := p.Factor(context.Background()); pivot != n || err != nil {
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
				if math.Abs(float64(p.At(i, j))-l.At(i, j)) > tolerance*math.Sqrt(float64(n)) {
					t.Fatalf("n = %d: entry %d, %d is %g, want %g", n, i, j, p.At(i, j), l.At(i, j))
				}
			}
		}
		w := p.Width()
		for i := range p.count() {
			square := p.Column(i, i*w)
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
			p := New[float64](n)
			for i := range n {
				*p.Entry(i, i) = 1
			}
			*p.Entry(bad, bad) = v
			pivot, err := p.Factor(context.Background())
			if got := p.At(bad, bad); pivot != bad || err != nil || got != v && !math.IsNaN(v) {
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
			for _, q := range []int{0, 1, 3, 24, 25, 97} {
				rng := toy.Rand(uint64(q))
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
					one  func(x []float64)
				}{
					"Solve":   {&whole, p.SolveAll, func(x []float64) { p.Forward(x); p.Backward(x) }},
					"Forward": {&half, p.ForwardAll, p.Forward},
				} {
					got := vectors()
					if err := c.all(context.Background(), got); err != nil {
						t.Fatal(err)
					}
					for j, v := range vectors() {
						want := mat.Col(nil, j, c.want)
						if !allNear(got[j], want, 1e-11) {
							t.Fatalf("n = %d: %sAll of %d: vector %d differs from gonum's", n, name, q, j)
						}
						if c.one(v); !allNear(v, want, 1e-11) {
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
					if p.Multiply(z); !allNear(z, mat.Col(nil, 0, &back), 1e-11) {
						t.Fatalf("n = %d: Lz differs from gonum's", n)
					}
				}
			}
		}
	})
}

// TestInverse: all rows have the bits of those up to the diagonal, and are symmetric.
func TestInverse(t *testing.T) {
	for _, n := range panelSizes {
		p, _ := randomPanels(uint64(n), n)
		lower, err := p.Inverse(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		all := lower.Dense()
		for i := range n {
			row := make([]float64, i+1)
			if lower.Row(row, i); len(all[i]) != n {
				t.Fatalf("n = %d: row %d has %d entries", n, i, len(all[i]))
			}
			for j, v := range row {
				if v != all[i][j] || v != all[j][i] {
					t.Fatalf("n = %d: entry %d, %d is %v, %v and %v", n, i, j, v, all[i][j], all[j][i])
				}
			}
		}
	}
}

// looked is a context that ends when it has been asked so often.
type looked struct {
	context.Context
	left atomic.Int64
}

func (e *looked) Err() error {
	if e.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestEnds: whoever waits for a panel when the rest ends does not wait on, neither for an
// interrupt nor for a pivot.
func TestEnds(t *testing.T) {
	const n = 700
	good := func() *Panels[float64] {
		p := New[float64](n)
		for i := range n {
			*p.Entry(i, i) = 1
		}
		return p
	}
	f := good()
	if pivot, err := f.Factor(context.Background()); pivot != n || err != nil {
		t.Fatal(pivot, err)
	}
	for left := range int64(40) {
		ctx := &looked{Context: context.Background()}
		ctx.left.Store(left)
		if _, err := good().Factor(ctx); err == nil && ctx.left.Load() < 0 {
			t.Errorf("a factor after %d looks", left)
		}
		ctx.left.Store(left)
		if _, err := f.Inverse(ctx); err == nil && ctx.left.Load() < 0 {
			t.Errorf("an inverse after %d looks", left)
		}
	}
	for bad := range n / 50 {
		p := good()
		*p.Entry(bad*50, bad*50) = -1
		if pivot, err := p.Factor(context.Background()); pivot != bad*50 || err != nil {
			t.Errorf("the pivot is in row %d, not %d: %v", bad*50, pivot, err)
		}
	}
}

// TestFresh: zeros to the last, wherever large pages begin and end.
func TestFresh(t *testing.T) {
	for _, n := range []int{0, 1, 1000, 1 << 18, 1<<18 + 1, 3 << 17, 1 << 19, 1<<19 + 511} {
		v := fresh[float64](n)
		if len(v) != n {
			t.Fatalf("%d of %d", len(v), n)
		}
		for i := range v {
			if v[i] != 0 {
				t.Fatalf("entry %d of %d is %v", i, n, v[i])
			}
			v[i] = 1
		}
	}
}
