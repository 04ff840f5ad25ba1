package solvers

import (
	"context"
	"math"
	"testing"

	"github.com/svmnb/svmnb/internal/audit"
	"github.com/svmnb/svmnb/internal/toy"
)

// audited holds the certificate of a result to the audit, which takes nothing from the
// solvers but the numbers of the problem, and the status to what the audit finds. K is
// that of a problem which no method has seen, so that rows are not read from a cache.
func audited(t testing.TB, p *Problem, r *Result, stop Criterion) {
	t.Helper()
	report, err := auditOf(p, r)
	if err != nil {
		t.Fatal(err)
	}
	c := r.Certificate
	factor := float64(8 + len(r.Alpha))
	if err := report.Against(audit.Claims{Dual: c.Dual, Primal: c.Primal, Gap: c.Gap, Violation: c.MaxKKT, Norm2: c.Norm2}, factor); err != nil {
		t.Errorf("audit: %v", err)
	}
	if r.Status != Converged || stop == nil {
		return
	}
	// What a criterion sees, by the audit, and as good as rounding may make it.
	slack, point := factor*report.Rounding, factor*report.ViolationRounding
	seen := &Point{
		Gap: report.Gap - slack, Primal: report.Primal, Dual: report.Dual, KKT: report.Violation - point,
		Up: report.UpLow - point, Low: 0, RelGap: (report.Gap - slack) / (1 + math.Abs(report.Primal)),
	}
	if stop.Met(seen, &r.Trace) != Converged {
		t.Errorf("audit: the status is %v, but the criterion %v is not met: %+v", r.Status, stop, report)
	}
}

func auditOf(p *Problem, r *Result) (audit.Report, error) {
	k := p.K
	if points := PointsOf(k); points != nil {
		k = points
	}
	n := k.Dim()
	var row []float64
	last := -1
	value := func(i, j int) float64 {
		if j != last {
			row, last = k.Row(j), j
		}
		return row[i]
	}
	switch k := k.(type) {
	case *toy.Gram:
		value = func(i, j int) float64 { return k.K[j][i] } // which it does not count
	case *blocked:
		value = func(i, j int) float64 { return k.K[j][i] }
	}
	coef := make([]float64, n)
	for v, a := range r.Alpha {
		coef[v%n] += p.S[v] * a
	}
	sums, err := audit.OfKernel(context.Background(), n, [][]float64{coef}, value)
	if err != nil {
		return audit.Report{}, err
	}
	q := audit.Programme{S: p.S, P: p.P, Lower: p.Lower, Upper: p.Upper, Ridge: p.Ridge, Delta: p.Delta, PerClass: p.PerClass, Sum: p.Sum, FixedBias: p.FixedBias, Bias: p.Bias}
	return q.Of(r.Alpha, sums[0], r.Certificate.Bias, r.Certificate.Rho), nil
}
