package chol

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/internal/toy"
)

// TestProductForm looks at the residual of M x = b for a D from 1e-12 to 1e12: the
// product form keeps the digits, the Sherman–Morrison–Woodbury formula does not.
func TestProductForm(t *testing.T) {
	rng := toy.Rand(9)
	columns, err := Pivoted(context.Background(), toy.NewGram(normal(rng, 40, 3), toy.Dot), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	q := NewLowRank(columns, signs(40), nil)
	if q.r != 3 {
		t.Fatalf("a linear kernel on three features has rank %d", q.r)
	}
	d, want, b := make([]float64, 40), make([]float64, 40), make([]float64, 40)
	for i := range d {
		d[i] = math.Pow(10, 24*rng.Float64()-12)
		want[i] = rng.NormFloat64()
	}
	d[5] = math.Inf(1)
	want[5] = 0
	q.Mul(b, want)
	for i := range b {
		if i != 5 {
			b[i] += d[i] * want[i]
		}
	}
	if ok, err := q.Factor(context.Background(), d); !ok || err != nil {
		t.Fatal(ok, err)
	}
	residual := func(x []float64) float64 {
		worst, mx := 0.0, make([]float64, 40)
		q.Mul(mx, x)
		for i := range x {
			if i != 5 {
				worst = max(worst, math.Abs(mx[i]+d[i]*x[i]-b[i])/(1+math.Abs(b[i])))
			}
		}
		return worst
	}
	got := append([]float64(nil), b...)
	q.Solve(got)
	if got[5] != 0 {
		t.Errorf("a held coordinate is %g", got[5])
	}
	if r := residual(got); r > 1e-9 {
		t.Errorf("product form: residual %g", r)
	}
	// D⁻¹b − D⁻¹V (I + V'D⁻¹V)⁻¹ V'D⁻¹b
	small, right := mat.NewDense(3, 3, nil), mat.NewVecDense(3, nil)
	for k := range 3 {
		small.Set(k, k, 1)
	}
	for i, di := range d {
		for k := range 3 {
			right.SetVec(k, right.AtVec(k)+q.v[3*i+k]*b[i]/di)
			for l := range 3 {
				small.Set(k, l, small.At(k, l)+q.v[3*i+k]*q.v[3*i+l]/di)
			}
		}
	}
	var c mat.VecDense
	_ = c.SolveVec(small, right)
	for i, di := range d {
		got[i] = b[i]
		for k := range 3 {
			got[i] -= q.v[3*i+k] * c.AtVec(k)
		}
		got[i] /= di
	}
	if r := residual(got); r < 1e-7 {
		t.Errorf("Woodbury has residual %g; then the product form is not worth its place", r)
	}
}

// TestPipe: solve has the same bits on however many goroutines, over the seams of blocks
// and columns, and undoes mul.
func TestPipe(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	const r = 200
	for _, n := range []int{1, 127, 300, 4001} {
		rng := toy.Rand(uint64(n))
		columns := make([][]float64, r)
		for k := range columns {
			columns[k] = make([]float64, n)
			for i := range columns[k] {
				columns[k][i] = rng.NormFloat64()
			}
		}
		q, d := NewLowRank(columns, signs(n), nil), make([]float64, n)
		for i := range d {
			d[i] = 0.5
		}
		if ok, err := q.Factor(context.Background(), d); !ok || err != nil {
			t.Fatal(ok, err)
		}
		want, b := make([]float64, n), make([]float64, n)
		for i := range want {
			want[i] = rng.NormFloat64()
		}
		q.Mul(b, want)
		simd.Axpy(d[0], want, b)
		var one []float64
		for _, threads := range []int{1, 2, 3} {
			runtime.GOMAXPROCS(threads)
			x := slices.Clone(b)
			q.Solve(x)
			if threads == 1 {
				one = x
			}
			if !slices.Equal(x, one) {
				t.Errorf("n = %d: other bits on %d threads", n, threads)
			}
		}
		if !allNear(one, want, 1e-9) {
			t.Errorf("n = %d: solve does not undo mul", n)
		}
	}
}

// TestIncompleteCholesky: what is left is positive semi-definite, and its trace is
// at most the loss asked for.
func TestIncompleteCholesky(t *testing.T) {
	const n = 60
	k := toy.NewGram(normal(toy.Rand(1), n, 3), toy.RBF(0.3))
	for _, c := range []struct {
		rank int
		loss float64
	}{{rank: 10}, {loss: 0.05}, {rank: 30, loss: 0.01}, {}} {
		columns, err := Pivoted(context.Background(), k, c.rank, c.loss)
		if err != nil {
			t.Fatal(err)
		}
		left := mat.NewSymDense(n, nil)
		trace := 0.0
		for i := range n {
			for j := i; j < n; j++ {
				v := k.K[i][j]
				for _, column := range columns {
					v -= column[i] * column[j]
				}
				left.SetSym(i, j, v)
			}
			trace += left.At(i, i)
		}
		var eigen mat.EigenSym
		if !eigen.Factorize(left, false) || eigen.Values(nil)[0] < -1e-12 {
			t.Errorf("rank %d, loss %g: the smallest eigenvalue of what is left is %g", c.rank, c.loss, eigen.Values(nil)[0])
		}
		if c.loss > 0 && len(columns) > 45 {
			t.Errorf("loss %g takes %d columns", c.loss, len(columns))
		}
		if c.rank > 0 && len(columns) > c.rank || c.rank == 0 && trace > c.loss*n+1e-9 {
			t.Errorf("rank %d, loss %g: %d columns leave %g of %d", c.rank, c.loss, len(columns), trace, n)
		}
	}
}

// TestPivotedEnds: a matrix that is not positive semi-definite is named by its row, and an
// interrupt says why.
func TestPivotedEnds(t *testing.T) {
	k := toy.MatrixOf([][]float64{{1, 2}, {2, 1}})
	var bad *IndefiniteError
	if _, err := Pivoted(context.Background(), k, 0, 0); !errors.As(err, &bad) || *bad != (IndefiniteError{1, -3}) {
		t.Error(err)
	}
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(gone)
	if _, err := Pivoted(ctx, k, 0, 0); err != gone {
		t.Error(err)
	}
	if ok, err := NewLowRank([][]float64{{1, 2}}, signs(2), nil).Factor(ctx, []float64{1, 1}); ok || err != gone {
		t.Error(ok, err)
	}
}

// normal draws n points with d coordinates of N(0, 1).
func normal(rng *rand.Rand, n, d int) (x [][]float64) {
	for range n {
		row := make([]float64, d)
		for j := range row {
			row[j] = rng.NormFloat64()
		}
		x = append(x, row)
	}
	return x
}

// signs are labels, +1 and −1 in turn.
func signs(n int) []float64 {
	s := make([]float64, n)
	for i := range s {
		s[i] = float64(1 - 2*(i%2))
	}
	return s
}

// allNear reports whether no component differs by more than tol of the largest.
func allNear(x, y []float64, tol float64) bool {
	size := 0.0
	for i := range x {
		size = max(size, math.Abs(x[i]), math.Abs(y[i]))
	}
	for i, v := range x {
		if !(math.Abs(v-y[i]) <= tol*size) {
			return false
		}
	}
	return len(x) == len(y)
}
