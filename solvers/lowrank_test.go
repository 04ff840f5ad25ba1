package solvers

import (
	"context"
	"math"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestProductForm looks at the residual of M x = b for a D from 1e-12 to 1e12: the
// product form keeps the digits, the Sherman–Morrison–Woodbury formula does not.
func TestProductForm(t *testing.T) {
	rng := newRand(9)
	x, y := points(rng, 40, 3, 0.5)
	p := SoftMargin(newGram(x, linear), y, fill(40, 1))
	q := &lowRank{}
	if err := q.approximate(context.Background(), p); err != nil {
		t.Fatal(err)
	}
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
	q.mul(b, want)
	for i := range b {
		if i != 5 {
			b[i] += d[i] * want[i]
		}
	}
	if ok, err := q.factor(context.Background(), d); !ok || err != nil {
		t.Fatal(ok, err)
	}
	residual := func(x []float64) float64 {
		worst, mx := 0.0, make([]float64, 40)
		q.mul(mx, x)
		for i := range x {
			if i != 5 {
				worst = max(worst, math.Abs(mx[i]+d[i]*x[i]-b[i])/(1+math.Abs(b[i])))
			}
		}
		return worst
	}
	got := append([]float64(nil), b...)
	q.solve(got)
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
		rng := newRand(uint64(n))
		columns := make([][]float64, r)
		for k := range columns {
			columns[k] = make([]float64, n)
			for i := range columns[k] {
				columns[k][i] = rng.NormFloat64()
			}
		}
		q, d := &lowRank{}, fill(n, 0.5)
		q.keep(columns, fill(n, 1), nil)
		if ok, err := q.factor(context.Background(), d); !ok || err != nil {
			t.Fatal(ok, err)
		}
		want, b := make([]float64, n), make([]float64, n)
		for i := range want {
			want[i] = rng.NormFloat64()
		}
		q.mul(b, want)
		axpy(b, d[0], want)
		var one []float64
		for _, threads := range []int{1, 2, 3} {
			runtime.GOMAXPROCS(threads)
			x := slices.Clone(b)
			q.solve(x)
			if threads == 1 {
				one = x
			}
			if !slices.Equal(x, one) {
				t.Errorf("n = %d: other bits on %d threads", n, threads)
			}
		}
		if far := distance(one, want); !(far <= 1e-9*norm(want)) {
			t.Errorf("n = %d: solve is off by %g of %g", n, far, norm(want))
		}
	}
}

// TestLowRank: the dual of the true K at the solution of the approximate problem
// is within 1e-3 at a rank near √n on a smooth kernel, comes nearer with the rank,
// is exact at full rank, and the certificate bounds what is missing.
func TestLowRank(t *testing.T) {
	const n = 400
	x, y := points(newRand(1), n, 5, 0.4)
	k := newGram(x, rbf(0.02))
	p := SoftMargin(k, y, fill(n, 1))
	want := solve(t, p, SMO{}, Settings{Stop: Gap{1e-10}}).Certificate.Dual
	last := math.Inf(1)
	for _, c := range []struct {
		rank int
		off  float64
	}{{20, 1e-3}, {60, 1e-5}, {n, 1e-9}} {
		r := solve(t, p, PrimalDual{Corrector: true, Rank: c.rank}, Settings{Stop: Gap{1e-9}})
		cert := r.Certificate
		off := 1 - cert.Dual/want
		if off > c.off || off < -1e-9 || off > last {
			t.Errorf("rank %d: W is off by %.2g", c.rank, off)
		}
		last = off
		if want-cert.Dual > cert.Gap*(1+1e-9)+1e-9 {
			t.Errorf("rank %d: W is off by %g, the certificate says %g", c.rank, want-cert.Dual, cert.Gap)
		}
		if exact := c.rank == n; exact != (r.Status == Converged) || !exact && r.Status != Exhausted {
			t.Errorf("rank %d: %v", c.rank, r.Status)
		}
		final := r.Trace.Points[len(r.Trace.Points)-1]
		if !near(final.Dual, cert.Dual, 1e-12) || !near(final.Gap, cert.Gap, 0.01) {
			t.Errorf("rank %d: the trace ends at W = %g, gap %g; the certificate has %g, %g", c.rank, final.Dual, final.Gap, cert.Dual, cert.Gap)
		}
	}
}

// TestLowRankRows: without samples between the first and the last point, only the
// pivots' rows and the passes of the answer are asked for, and a criterion that
// the answer meets is seen.
func TestLowRankRows(t *testing.T) {
	const n = 200
	x, y := points(newRand(1), n, 3, 0.4)
	k := newGram(x, rbf(0.02))
	p := SoftMargin(k, y, fill(n, 1))
	k.rows = 0
	r := solve(t, p, PrimalDual{Rank: 40}, Settings{Every: -1, Stop: Gap{1e-3}})
	if r.Status != Converged || r.Certificate.RelGap > 1e-3 {
		t.Errorf("%v with gap %g", r.Status, r.Certificate.RelGap)
	}
	if k.rows > 40+2*n {
		t.Errorf("%d rows", k.rows)
	}
	if r := solve(t, p, PrimalDual{Loss: 1e-4}, Settings{Stop: Gap{1e-9}}); !(r.Certificate.RelGap < 0.01) {
		t.Errorf("loss 1e-4: gap %g", r.Certificate.RelGap)
	}
}

// TestIncompleteCholesky: what is left is positive semi-definite, and its trace is
// at most the loss asked for.
func TestIncompleteCholesky(t *testing.T) {
	x, y := points(newRand(1), 60, 3, 0.4)
	p := SoftMargin(newGram(x, rbf(0.3)), y, fill(60, 1))
	for _, q := range []*lowRank{{rank: 10}, {loss: 0.05}, {rank: 30, loss: 0.01}, {}} {
		if err := q.approximate(context.Background(), p); err != nil {
			t.Fatal(err)
		}
		left := dense64(p)
		trace := 0.0
		for i := range 60 {
			for j := i; j < 60; j++ {
				v := left.At(i, j)
				for k := range q.r {
					v -= q.v[i*q.r+k] * q.v[j*q.r+k]
				}
				left.SetSym(i, j, v)
			}
			trace += left.At(i, i)
		}
		var eigen mat.EigenSym
		if !eigen.Factorize(left, false) || eigen.Values(nil)[0] < -1e-12 {
			t.Errorf("rank %d, loss %g: the smallest eigenvalue of what is left is %g", q.rank, q.loss, eigen.Values(nil)[0])
		}
		if q.loss > 0 && q.r > 45 {
			t.Errorf("loss %g takes %d columns", q.loss, q.r)
		}
		if q.rank > 0 && q.r > q.rank || q.rank == 0 && trace > q.loss*60+1e-9 {
			t.Errorf("rank %d, loss %g: %d columns leave %g of 60", q.rank, q.loss, q.r, trace)
		}
	}
}
