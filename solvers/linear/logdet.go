package linear

import (
	"context"
	"fmt"
	"math"
)

// LogDetInterval has bounds of ln|A| that hold always, from r columns of the pivoted Cholesky
// factor of K.
type LogDetInterval struct {
	Lower, Upper float64
	Rank         int // r, the number of columns

	// Traces has, for each number of columns from 0 to r, Σ (K − LL')_ii/noise_i. The upper bound
	// follows from the last one.
	Traces []float64
}

// LogDetWithin bounds ln|A| from both sides in n r² operations and r rows of K, without a
// factor of A. rank is as in [CG.Rank], and must not be 0. With P = LL' + D, D = diag(noise),
// and R = K − LL' ⪰ 0,
//
//	ln|P| ≤ ln|A| ≤ ln|P| + n ln(1 + tr(D⁻¹R)/n).
//
// The lower bound holds since A ⪰ P. For the upper one, ln|A| − ln|P| = Σ ln(1 + λ_i), where λ_i
// ≥ 0 are the eigenvalues of P^-½RP^-½; ln is concave, and Σ λ_i = tr(P⁻¹R) ≤ tr(D⁻¹R) (Artemev,
// Burt and van der Wilk 2021, Theorem 1). If Σ ln A_ii, Hadamard's bound, is smaller, it is
// taken. Both ends are widened by what rounding may do.
//
// Every noise must be positive, and not so small that rounding of K hides it: otherwise the
// error is a *[solvers.ProblemError]. It wraps context.Cause(ctx) when ctx ends early.
func (s *System) LogDetWithin(ctx context.Context, rank int) (*LogDetInterval, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	n := s.K.Dim()
	rank = CG{Rank: rank}.rank(n)
	switch {
	case ctx == nil:
		return nil, errNoContext
	case rank < 1:
		return nil, wrong("rank", -1, float64(rank), "is %d; it must be positive, or AutoRank", rank)
	case s.theta() == 0:
		return nil, wrong("Noise", -1, 0, "is 0 somewhere, or so small beside K that rounding hides it; bounds of ln|A| need noise at every point")
	}
	q := s.checked()
	p, err := q.precondition(ctx, rank, func(string, float64) {})
	if bad := q.failed(); bad != nil {
		return nil, bad
	}
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("linear: bounds of ln|A|: %w", context.Cause(ctx))
	}
	if err != nil {
		return nil, err
	}
	b := &LogDetInterval{Rank: p.Rank(), Traces: make([]float64, p.Rank()+1)}
	hadamard := 0.0
	for i, k := range s.K.Diag() {
		left, noise := k, s.Noise[i]
		hadamard += math.Log(k + noise)
		b.Traces[0] += left / noise
		for c, v := range p.Row(i) {
			left -= v * v
			b.Traces[c+1] += max(0, left) / noise
		}
	}
	for _, d := range p.D() {
		b.Lower += math.Log(d)
	}
	// Rounding makes of R ⪰ 0 only R + ρD ⪰ 0, whose tr(D⁻¹·) is larger by ρn. The factors of |P|
	// have a relative error of ρ at most, and the sum of n logarithms one of n rounding units.
	rounding := p.rounding * float64(n)
	for _, v := range []float64{b.Lower, hadamard} {
		rounding += float64(n) * 0x1p-52 * math.Abs(v)
	}
	m := float64(n)
	b.Upper = min(hadamard, b.Lower+m*math.Log1p(b.Traces[b.Rank]/m+p.rounding)) + 2*rounding
	b.Lower += m*math.Log1p(-min(0.5, p.rounding)) - 2*rounding
	return b, nil
}
