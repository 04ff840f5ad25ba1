package solvers

import (
	"math"
	"testing"
)

// doubled is the kernel matrix of the 2n multipliers of ε-SVR, n for points
// above the tube and n for points below.
type doubled struct {
	Matrix
	row [2][]float64
	odd int
}

func (d *doubled) Dim() int { return 2 * d.Matrix.Dim() }
func (d *doubled) Diag() []float64 {
	return append(d.Matrix.Diag()[:d.Matrix.Dim():d.Matrix.Dim()], d.Matrix.Diag()...)
}
func (d *doubled) Row(i int) []float64 {
	n := d.Matrix.Dim()
	r, k := nextRow(&d.row, &d.odd, 2*n), d.Matrix.Row(i%n)
	copy(r, k)
	copy(r[n:], k)
	return r
}

// epsilonSVR is minimise ½ β'Kβ − y'β + ε Σ|β|, β = α̂ − α (CST 7.2), over 2n
// variables; above and below are the signs of ε for α̂ and for α.
func epsilonSVR(k Matrix, y []float64, c, epsilon, above, below float64) *Problem {
	n := len(y)
	p := &Problem{K: &doubled{Matrix: k}, S: append(fill(n, 1), fill(n, -1)...), P: make([]float64, 2*n), Lower: make([]float64, 2*n), Upper: fill(2*n, c)}
	for i, yi := range y {
		p.P[i], p.P[n+i] = above*epsilon-yi, below*epsilon+yi
	}
	return p
}

// LIBSVM 3.37's number (reference §C). ST prints ε Σ(α* − α) for ε Σ(α* + α):
// then Σ(α* − α) = 0 makes ε vanish from the problem, and with it the tube and
// the sparsity (erratum S4). β rises above the tube and falls below (C10).
func TestEpsilonSVR(t *testing.T) {
	x, y := heart(t)
	k := newGram(x, heartRBF)
	for _, m := range []Method{SMO{}, SMO{Selection: WorstPair}, ConjugateSMO{}, PrimalDual{}, Decomposition{}} {
		p := epsilonSVR(k, y, 1, 0.1, 1, 1)
		r := solve(t, p, m, Settings{Stop: All(UpLow{1e-6}, Gap{1e-9})})
		if math.Abs(r.Certificate.Dual-95.509975) > 1e-6*95.5 {
			t.Errorf("%s: W = %.9g, want 95.509975", m.Name(), r.Certificate.Dual)
		}
		vectors, bound := 0, 0
		f := p.residual(r.Alpha)
		for i := range y {
			beta := r.Alpha[i] - r.Alpha[len(y)+i]
			if beta != 0 {
				vectors++
			}
			if math.Abs(beta) >= 1 {
				bound++
			}
			// F of α̂ is y − g − ε, so the residual is F + ε − b.
			if rest := f[i] + 0.1 - r.Bias; beta > 0 && rest < 0.1-1e-4 || beta < 0 && rest > -0.1+1e-4 || beta == 0 && math.Abs(rest) > 0.1+1e-4 {
				t.Errorf("%s: point %d has β = %g and residual %g", m.Name(), i, beta, rest)
			}
		}
		if vectors < 199 || vectors > 201 || bound < 144 || bound > 146 {
			t.Errorf("%s: %d support vectors, %d at the bound, want 200 and 145", m.Name(), vectors, bound)
		}
	}
	printed := solve(t, epsilonSVR(k, y, 1, 0.1, 1, -1), SMO{}, Settings{Stop: UpLow{1e-6}})
	none := solve(t, epsilonSVR(k, y, 1, 0, 1, 1), SMO{}, Settings{Stop: UpLow{1e-6}})
	if math.Abs(printed.Certificate.Dual-none.Certificate.Dual) > 1e-4 {
		t.Errorf("as printed W = %.9g, without ε %.9g", printed.Certificate.Dual, none.Certificate.Dual)
	}
}
