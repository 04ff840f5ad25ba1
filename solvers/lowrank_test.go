package solvers

import (
	"math"
	"testing"

	"github.com/svmnb/svmnb/internal/toy"
)

// TestLowRank: the dual of the true K at the solution of the approximate problem
// is within 1e-3 at a rank near √n on a smooth kernel, comes nearer with the rank,
// is exact at full rank, and the certificate bounds what is missing.
func TestLowRank(t *testing.T) {
	const n = 400
	x, y := toy.Points(toy.Rand(1), n, 5, 0.4)
	k := toy.NewGram(x, toy.RBF(0.02))
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
		if !toy.Near(final.Dual, cert.Dual, 1e-12) || !toy.Near(final.Gap, cert.Gap, 0.01) {
			t.Errorf("rank %d: the trace ends at W = %g, gap %g; the certificate has %g, %g", c.rank, final.Dual, final.Gap, cert.Dual, cert.Gap)
		}
	}
}

// TestLowRankRows: without samples between the first and the last point, only the
// pivots' rows and the passes of the answer are asked for, and a criterion that
// the answer meets is seen.
func TestLowRankRows(t *testing.T) {
	const n = 200
	x, y := toy.Points(toy.Rand(1), n, 3, 0.4)
	k := toy.NewGram(x, toy.RBF(0.02))
	p := SoftMargin(k, y, fill(n, 1))
	k.Rows = 0
	r := solve(t, p, PrimalDual{Rank: 40}, Settings{Every: -1, Stop: Gap{1e-3}})
	if r.Status != Converged || r.Certificate.RelGap > 1e-3 {
		t.Errorf("%v with gap %g", r.Status, r.Certificate.RelGap)
	}
	if k.Rows > 40+2*n {
		t.Errorf("%d rows", k.Rows)
	}
	if r := solve(t, p, PrimalDual{Loss: 1e-4}, Settings{Stop: Gap{1e-9}}); !(r.Certificate.RelGap < 0.01) {
		t.Errorf("loss 1e-4: gap %g", r.Certificate.RelGap)
	}
}
