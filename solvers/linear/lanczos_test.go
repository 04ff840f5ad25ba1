package linear

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/svmnb/svmnb/internal/toy"
	"github.com/svmnb/svmnb/solvers"
)

// evidenceSystem is the covariance of n points on a line or in a plane, of a Gaussian
// process with noise 0.01.
func evidenceSystem(n, d int) *System {
	rng := toy.Rand(uint64(n))
	x, _ := toy.Points(rng, n, d, 0)
	return &System{toy.NewGram(x, toy.RBF(0.5)), fill(n, 0.01)}
}

// TestLogDet: within one per cent of Cholesky's and within four standard errors,
// inside the bounds, and the same for the same seed.
func TestLogDet(t *testing.T) {
	for _, n := range []int{50, 300} {
		for _, rank := range []int{0, 5, 20} {
			s := evidenceSystem(n, 2)
			f, err := Cholesky{}.Factor(context.Background(), s)
			if err != nil {
				t.Fatal(err)
			}
			truth := f.LogDet()
			p, err := Probe(context.Background(), s, CG{Rank: rank}, 60, 3, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			e := math.Abs(p.LogDet - truth)
			if !(e <= 0.01*math.Abs(truth)) || !(e <= 4*p.LogDetError+1e-6*math.Abs(truth)) {
				t.Errorf("n = %d, rank %d: %g ± %g, truth %g", n, rank, p.LogDet, p.LogDetError, truth)
			}
			if lo, hi := s.LogDetBounds(); !(lo <= truth && truth <= hi) {
				t.Errorf("n = %d: %g is not in [%g, %g]", n, truth, lo, hi)
			}
			if rank == 0 {
				value, standardError, err := LogDet(context.Background(), s, 60, 3)
				if value != p.LogDet || standardError != p.LogDetError || err != nil {
					t.Errorf("n = %d: LogDet has %g ± %g, Probe %g ± %g", n, value, standardError, p.LogDet, p.LogDetError)
				}
			}
		}
	}
}

// TestQuadrature: with the unit vectors for probes the quadrature has no random part,
// Σ_i e_i' ln(A) e_i = ln|A|. Wherever the runs end the two rules have it between them.
func TestQuadrature(t *testing.T) {
	const n = 30
	s := evidenceSystem(n, 1)
	b := make([][]float64, n)
	for i := range b {
		b[i] = make([]float64, n)
		b[i][i] = 1
	}
	f, err := Cholesky{}.Factor(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	truth := f.LogDet()
	for _, limit := range []int{1, 2, 3, 5, 8, 13, 1000} {
		_, st, err := solve(context.Background(), s, b, probing{}, Settings{Stop: Bounds{Rel: 1e-10}, MaxIterations: limit})
		if err != nil {
			t.Fatal(err)
		}
		above, below := 0.0, 0.0
		for j := range b {
			most, least := st.(*cg).runs[j].logarithm(s.theta())
			above, below = above+most, below+least
		}
		if slack := 1e-9 * math.Abs(truth); below > truth+slack || above < truth-slack {
			t.Errorf("after %d iterations ln|A| is between %.12g and %.12g, want %.12g", limit, below, above, truth)
		}
		if limit == 1000 && (!toy.Near(above, truth, 1e-6) || !toy.Near(below, truth, 1e-6)) {
			t.Errorf("between %.12g and %.12g, want %.12g", below, above, truth)
		}
	}
}

// TestTrace: tr(A⁻¹M) within four standard errors, which shrink with a preconditioner's
// help; rows of the estimated inverse amount to the same.
func TestTrace(t *testing.T) {
	const n = 120
	s := evidenceSystem(n, 2)
	f, err := Cholesky{}.Factor(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	inverse, err := f.Inverse(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, rank := range []int{0, 15} {
		p, err := Probe(context.Background(), s, CG{Rank: rank}, 40, 9, Settings{Stop: Bounds{Rel: 1e-8}})
		if err != nil {
			t.Fatal(err)
		}
		truth, byRows := 0.0, 0.0
		row := make([]float64, n)
		for i := range n {
			truth += inner(inverse[i], s.K.Row(i))
			byRows += inner(p.InverseRow(row, i), s.K.Row(i))
		}
		value, standardError := p.Trace(func(dst, v []float64) {
			for i := range dst {
				dst[i] = inner(s.K.Row(i), v)
			}
		})
		if math.Abs(value-truth) > 4*standardError || standardError > 0.05*truth || standardError == 0 {
			t.Errorf("rank %d: %g ± %g, truth %g", rank, value, standardError, truth)
		}
		if !toy.Near(byRows, value, 1e-9) {
			t.Errorf("rank %d: by rows %g, by probes %g", rank, byRows, value)
		}
	}
}

// TestTridiagonal holds eigenvalues and weights against gonum's eigenvectors.
func TestTridiagonal(t *testing.T) {
	rng := toy.Rand(5)
	for _, k := range []int{1, 2, 9, 40} {
		m := mat.NewSymDense(k, nil)
		diag, off, first := make([]float64, k), make([]float64, k-1), make([]float64, k)
		for i := range diag {
			diag[i] = rng.NormFloat64()
			m.SetSym(i, i, diag[i])
			if i > 0 {
				off[i-1] = rng.Float64()
				m.SetSym(i-1, i, off[i-1])
			}
		}
		var eigen mat.EigenSym
		eigen.Factorize(m, true)
		var v mat.Dense
		eigen.VectorsTo(&v)
		values := tridiagonal(diag, off, first)
		for i, want := range eigen.Values(nil) {
			if math.Abs(values[i]-want) > 1e-12 || math.Abs(first[i]-v.At(0, i)*v.At(0, i)) > 1e-12 {
				t.Errorf("k = %d: %g with %g, want %g with %g", k, values[i], first[i], want, v.At(0, i)*v.At(0, i))
			}
		}
	}
}

func TestProbeBadInput(t *testing.T) {
	ctx := context.Background()
	var bad *solvers.ProblemError
	s := evidenceSystem(20, 1)
	if _, err := Probe(ctx, s, CG{}, 1, 1, Settings{}); !errors.As(err, &bad) || bad.Field != "count" {
		t.Error(err)
	}
	if _, err := Probe(ctx, nil, CG{}, 5, 1, Settings{}); !errors.As(err, &bad) || bad.Field != "K" {
		t.Error(err)
	}
	if _, err := Probe(ctx, s, CG{Rank: -2}, 5, 1, Settings{}); !errors.As(err, &bad) || bad.Field != "CG.Rank" {
		t.Error(err)
	}
	s.Noise[3] = 0
	if v, _, err := LogDet(ctx, s, 5, 1); !errors.As(err, &bad) || bad.Field != "Noise" || !math.IsNaN(v) {
		t.Error(err)
	}
	s = evidenceSystem(20, 1)
	s.K.(*toy.Gram).K[7][2] = math.NaN()
	for _, rank := range []int{0, 20} {
		if _, err := Probe(ctx, s, CG{Rank: rank}, 5, 1, Settings{}); !errors.As(err, &bad) || bad.Field != "K" {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	s = evidenceSystem(200, 1)
	for _, rank := range []int{0, 5} {
		ctx, cancel := context.WithCancel(ctx)
		k := &watched{Matrix: s.K, end: func(row int) {
			if row == 300 {
				cancel()
			}
		}}
		p, err := Probe(ctx, &System{k, s.Noise}, CG{Rank: rank}, 5, 1, Settings{Stop: Bounds{Rel: 1e-13}})
		if !errors.Is(err, context.Canceled) || p == nil || math.IsNaN(p.LogDet) {
			t.Errorf("rank %d: %v", rank, err)
		}
		cancel()
		if _, err := Probe(ctx, s, CG{Rank: rank}, 5, 1, Settings{}); !errors.Is(err, context.Canceled) {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}
