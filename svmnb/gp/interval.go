package gp

import (
	"context"
	"fmt"
	"math"

	"github.com/svmnb/svmnb/solvers/linear"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// EvidenceInterval has bounds of the log marginal likelihood, in nats, that hold always: there
// is no probability in them.
type EvidenceInterval struct {
	Lower, Upper float64

	FitLower, FitUpper       float64 // bounds of y'A⁻¹y, from the certificate of the fit
	LogDetLower, LogDetUpper float64 // bounds of ln|A|
	Rank                     int     // the number of points on which those of ln|A| rest

	// Halving is about how many points ln|A| would have to rest on, instead of Rank, for half the
	// distance of its bounds. It is 0 if the distance falls too slowly to say.
	Halving int
}

// String writes both ends, and what the interval rests on.
func (e EvidenceInterval) String() string {
	s := fmt.Sprintf("between %s and %s", say.Signed(e.Lower, 9), say.Signed(e.Upper, 9))
	if e.Halving > 0 {
		s += fmt.Sprintf(", ln|A| from %d points; about %d would halve its part", e.Rank, e.Halving)
	}
	return s
}

// EvidenceWithin returns bounds of the log marginal likelihood at any number of points n,
// without a factor of A. Those of y'A⁻¹y are in the certificate of the fit: the better it is
// solved, the closer they are. Those of ln|A| come from rank of the n points, which are chosen
// greedily by pivoted Cholesky (linear.System.LogDetWithin, after Artemev, Burt and van der Wilk
// 2021), in n·rank² operations. linear.AutoRank takes 2√n points. The lower end is the evidence
// of a sparse process with these points and a slightly better term for the fit.
//
// The LogMarginalLikelihood of an iterative method is an estimate by stochastic Lanczos quadrature
// with its standard error, to stand beside this interval.
//
// The interval is narrow if a few points nearly determine f, and wide if the noise is small. The
// error is an *ArgumentError for LinearMean or if there is no upper bound of y'A⁻¹y, a
// *solvers.ProblemError if a noise is 0, and wraps context.Cause(ctx) when ctx ends early.
func (f *Fit) EvidenceWithin(ctx context.Context, rank int) (_ *EvidenceInterval, err error) {
	defer guard.Caught(&err)
	if err := f.ready(ctx, "EvidenceWithin"); err != nil {
		return nil, err
	}
	c := f.Certificate
	switch {
	case f.trend != nil:
		return nil, arguments.Wrong("EvidenceWithin", math.NaN(), "a linear mean has an evidence of its own, for which there are no such bounds; ask for LogMarginalLikelihood, or use ConstantMean")
	case math.IsInf(c.Energy, 1):
		return nil, arguments.Wrong("EvidenceWithin", math.NaN(), "%s has no upper bound of y'A⁻¹y, as the noise is 0 or too small beside the kernel, or the run was interrupted before its first one; raise NoiseVariance", f.Method)
	}
	release, err := f.turn.Take(ctx)
	if err != nil {
		return nil, fmt.Errorf("svmnb: EvidenceWithin: %w", err)
	}
	defer release()
	b, err := f.system.LogDetWithin(ctx, rank)
	if err != nil {
		return nil, fmt.Errorf("svmnb: EvidenceWithin: %w", err)
	}
	rest := float64(len(f.Alpha)) * math.Log(2*math.Pi)
	return &EvidenceInterval{
		Lower: -(c.Upper + b.Upper + rest) / 2, Upper: -(c.Lower + b.Lower + rest) / 2,
		FitLower: c.Lower, FitUpper: c.Upper, LogDetLower: b.Lower, LogDetUpper: b.Upper,
		Rank: b.Rank, Halving: halving(b, len(f.Alpha)),
	}, nil
}

// halving extrapolates the distance of the bounds as a power of the number of points, which
// fits how the eigenvalues of most kernels fall, through the last half of the columns.
func halving(b *linear.LogDetInterval, n int) int {
	r := b.Rank
	width := func(k int) float64 { return math.Log1p(b.Traces[k] / float64(n)) }
	if r < 4 || !(width(r) > 0) {
		return 0
	}
	power := math.Log(width(r/2)/width(r)) / math.Log(float64(r)/float64(r/2))
	more := float64(r) * math.Pow(2, 1/power)
	if !(power > 0 && more <= float64(n)) {
		return 0
	}
	return int(math.Ceil(more))
}
