package solvers

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/svmnb/svmnb/internal/toy"
)

// TestDense holds products and solutions against gonum's, with held coordinates
// and over the seams of the panels and bands of a factor.
func TestDense(t *testing.T) {
	for _, n := range []int{1, 2, 7, 40, 192, 195, 256, 552} {
		rng := toy.Rand(uint64(n))
		x, y := toy.Points(rng, n, 4, 0.3)
		p := SoftMargin2(toy.NewGram(x, toy.RBF(0.3)), y, fill(n, 20))
		q, err := newDense(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		m, d := dense64(p), make([]float64, n)
		v, want := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
		for i := range n {
			d[i] = rng.Float64()
			v.SetVec(i, rng.NormFloat64())
		}
		got := make([]float64, n)
		q.Mul(got, v.RawVector().Data)
		want.MulVec(m, v)
		for i, g := range got {
			if !toy.Near(g, want.AtVec(i), 1e-11) && math.Abs(g-want.AtVec(i)) > 1e-11 {
				t.Fatalf("n = %d: (Qx)_%d = %g, want %g", n, i, g, want.AtVec(i))
			}
		}
		for i := 0; i < n; i += 5 {
			if n > 2 {
				d[i] = math.Inf(1)
			}
		}
		for range 2 { // the factor must leave Q as it is
			if ok, err := q.Factor(context.Background(), d); !ok || err != nil {
				t.Fatal(n, ok, err)
			}
			sol := append([]float64(nil), v.RawVector().Data...)
			q.Solve(sol)
			q.Mul(got, sol)
			for i, s := range sol {
				if math.IsInf(d[i], 1) {
					if s != 0 {
						t.Fatalf("n = %d: held x_%d = %g", n, i, s)
					}
				} else if r := got[i] + d[i]*s - v.AtVec(i); math.Abs(r) > 1e-10 {
					t.Fatalf("n = %d: residual %g in row %d", n, r, i)
				}
			}
		}
		if d[n-1] = -100; n > 1 {
			if ok, err := q.Factor(context.Background(), d); ok || err != nil {
				t.Errorf("n = %d: an indefinite matrix was factored (%v)", n, err)
			}
		}
	}
}

// TestDenseEnds: reading K and factoring look at ctx.
func TestDenseEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	const n = 257
	x, y := toy.Points(toy.Rand(1), n, 2, 1)
	p := SoftMargin(toy.NewGram(x, toy.RBF(1)), y, fill(n, 1))
	if _, err := newDense(ctx, p); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	q, err := newDense(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := q.Factor(ctx, fill(n, 1)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	low := &approximation{}
	if _, err := low.of(ctx, p); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
