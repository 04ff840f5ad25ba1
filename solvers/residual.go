package solvers

import (
	"context"
	"math"
	"slices"
)

// F returns the n values F_i = −s_i (Qα + p)_i. It computes them afresh from the kernel rows
// of the non-zero α, or from w if K is Features. In a regression it first takes the difference
// of the two multipliers of a point, because both may be large and nearly equal.
func (p *Problem) F(alpha []float64) []float64 {
	f, _ := p.residualUntil(context.Background(), alpha)
	return f
}

// FInBlocks is F for a method that uses [Blocks]. Such a method has no rows in memory, so F is
// computed in blocks, however small the problem.
func (p *Problem) FInBlocks(alpha []float64) []float64 {
	b, _ := BlocksOf(p.K)
	f, _ := p.residualBy(context.Background(), b, 0, alpha)
	return f
}

// residualUntil computes F. When ctx ends, it stops and returns false.
func (p *Problem) residualUntil(ctx context.Context, alpha []float64) ([]float64, bool) {
	b, _ := BlocksOf(p.K)
	return p.residualBy(ctx, b, bulk, alpha)
}

// bulk is the number of kernel values from which F is computed by products of matrices, even
// if some rows are in memory.
const bulk = 1 << 22

// residualBy does what residualUntil does. But if b is not nil, it computes F by products of
// matrices as soon as at least from kernel values are needed.
func (p *Problem) residualBy(ctx context.Context, b Blocks, from int, alpha []float64) ([]float64, bool) {
	f := p.withoutK(alpha)
	rows := p.K
	if points := PointsOf(p.K); points != nil {
		rows = points
	}
	n := rows.Dim()
	v := p.vectors(alpha, n)
	if x, ok := rows.(Features); ok {
		w := make([]float64, x.Columns())
		for k, j := range v.idx {
			x.Add(w, j, -v.coef[k])
		}
		for i := range n {
			g := x.Dot(i, w)
			for u := i; u < len(f); u += n {
				f[u] -= g
			}
		}
		return f, true
	}
	if b != nil && len(v.idx)*n >= from {
		_, ok := v.residual(ctx, p, b, nil, f, alpha)
		return f, ok
	}
	for k, j := range v.idx {
		if ctx.Err() != nil {
			return nil, false
		}
		row, c := rows.Row(j), v.coef[k]
		for from := 0; from < len(f); from += n {
			for i, kij := range row {
				f[from+i] += c * kij
			}
		}
	}
	return f, true
}

// residualFrom computes F by products of matrices, starting from the sums of an earlier call if
// few α have changed since. It returns false if ctx has ended before.
func (p *Problem) residualFrom(ctx context.Context, b Blocks, was *sums, alpha []float64) (f []float64, now *sums, ok bool) {
	f = p.withoutK(alpha)
	now, ok = p.vectors(alpha, b.Dim()).residual(ctx, p, b, was, f, alpha)
	return f, now, ok
}

// withoutK returns the part of F that has no kernel values.
func (p *Problem) withoutK(alpha []float64) []float64 {
	f := make([]float64, len(alpha))
	for i := range f {
		f[i] = -p.S[i]*p.P[i] - p.S[i]*p.ridge(i)*alpha[i]
	}
	return f
}

// sums has, for each point i, the sum of coef[j] K_ij over all points j. The error of sum[i] is
// at most slack[i]; it is 0 for a sum in double precision.
type sums struct{ coef, sum, slack []float64 }

// vectors divides the points into idx, those with s α ≠ 0, and others. coef has −s α for each
// point of idx. Variable v belongs to point v mod n.
type vectors struct {
	idx, others []int
	coef        []float64
}

func (p *Problem) vectors(alpha []float64, n int) vectors {
	sum := make([]float64, n)
	for i, a := range alpha {
		sum[i%n] -= p.S[i] * a
	}
	return divide(sum)
}

// divide makes the vectors of the points whose coefficients are given.
func divide(coef []float64) (v vectors) {
	count := 0
	for _, c := range coef {
		if c != 0 {
			count++
		}
	}
	v = vectors{make([]int, 0, count), make([]int, 0, len(coef)-count), make([]float64, 0, count)}
	for i, c := range coef {
		if c != 0 {
			v.idx, v.coef = append(v.idx, i), append(v.coef, c)
		} else {
			v.others = append(v.others, i)
		}
	}
	return v
}

// since returns the points whose coefficients differ from those of an earlier call, with the
// differences, and these sums. Without an earlier call, or if half of the coefficients have
// changed, it returns v and sums of zeros.
func (v vectors) since(was *sums, n int) (changed vectors, now *sums) {
	now = &sums{make([]float64, n), make([]float64, n), make([]float64, n)}
	for k, i := range v.idx {
		now.coef[i] = v.coef[k]
	}
	if was == nil {
		return v, now
	}
	step := make([]float64, n)
	for i, c := range now.coef {
		step[i] = c - was.coef[i]
	}
	if changed = divide(step); 2*len(changed.idx) > len(v.idx) {
		return v, now
	}
	copy(now.sum, was.sum)
	copy(now.slack, was.slack)
	return changed, now
}

// residual adds Σ coef K to f. For the vectors it does so in double precision, and computes
// each K_ij = K_ji once. For the others single precision often suffices: a point with α = 0
// whose F is on the right side of every b between m and M, by more than the rounding error of
// its F, adds exactly 0 to W, to the gap and to the violation.
func (v vectors) residual(ctx context.Context, p *Problem, b Blocks, was *sums, f, alpha []float64) (now *sums, ok bool) {
	changed, now := v.since(was, b.Dim())
	// exactly makes the sums at the points in on exact.
	exactly := func(on []int) error {
		known, open := on, []int(nil)
		if slices.ContainsFunc(on, func(i int) bool { return now.slack[i] != 0 }) {
			known = nil
			for _, i := range on {
				if now.slack[i] == 0 {
					known = append(known, i)
				} else {
					open = append(open, i)
				}
			}
		}
		at := make([]float64, max(len(known), len(open)))
		if len(known) > 0 {
			if err := b.AddTo(ctx, at[:len(known)], nil, known, changed.idx, changed.coef, true); err != nil {
				return err
			}
			for r, i := range known {
				now.sum[i] += at[r]
			}
		}
		if len(open) > 0 {
			clear(at)
			if err := b.AddTo(ctx, at[:len(open)], nil, open, v.idx, v.coef, true); err != nil {
				return err
			}
			for r, i := range open {
				now.sum[i], now.slack[i] = at[r], 0
			}
		}
		return nil
	}
	if exactly(v.idx) != nil {
		return nil, false
	}
	open := v.others
	if !p.PerClass && len(open) > 0 && (len(open) <= sample || v.mostlyClosed(ctx, p, b, changed, now, f, alpha)) {
		var err error
		if open, err = v.roughly(ctx, p, b, changed, now, v.others, f, alpha); err != nil {
			return nil, false
		}
	}
	if exactly(open) != nil {
		return nil, false
	}
	for u := range f {
		f[u] += now.sum[u%len(now.sum)]
	}
	return now, true
}

// sample is the number of points on which mostlyClosed tries single precision.
const sample = 512

// mostlyClosed reports whether single precision suffices for so many of the others that trying
// it on all of them pays. A value in single precision costs half as much as one in double
// precision, or a little less.
func (v vectors) mostlyClosed(ctx context.Context, p *Problem, b Blocks, changed vectors, now *sums, f, alpha []float64) bool {
	some := make([]int, sample)
	for k := range some {
		some[k] = v.others[k*len(v.others)/sample]
	}
	try := &sums{now.coef, slices.Clone(now.sum), slices.Clone(now.slack)}
	open, err := v.roughly(ctx, p, b, changed, try, some, f, alpha)
	return err == nil && 2*len(open) < sample
}

// roughly adds the change to the sums at the points on, which are others, in single precision.
// It returns those of them for which F must be exact; their sums stay as they were.
func (v vectors) roughly(ctx context.Context, p *Problem, b Blocks, changed vectors, now *sums, on []int, f, alpha []float64) (open []int, err error) {
	at, off := make([]float64, len(on)), make([]float64, len(on))
	if err := b.AddTo(ctx, at, off, on, changed.idx, changed.coef, false); err != nil {
		return nil, err
	}
	n := len(now.sum)
	low, high := unseen, unseen // the ranges with all F at the lower ends of their errors, and at the upper ends
	see := func(u int, sum, slack float64) {
		f, a := f[u]+sum, alpha[u]
		low.see(f-slack, p.CanRise(u, a), p.CanFall(u, a))
		high.see(f+slack, p.CanRise(u, a), p.CanFall(u, a))
	}
	for _, i := range v.idx {
		for u := i; u < len(f); u += n {
			see(u, now.sum[i], now.slack[i])
		}
	}
	for r, i := range on {
		for u := i; u < len(f); u += n {
			see(u, now.sum[i]+at[r], now.slack[i]+off[r])
		}
	}
	lowest, highest := math.Min(low.up, low.low), math.Max(high.up, high.low)
	isOpen := func(i int, sum, slack float64) bool {
		for u := i; u < len(f); u += n {
			f := f[u] + sum
			if alpha[u] != 0 || !(f+slack < lowest) && p.CanRise(u, 0) || !(f-slack > highest) && p.CanFall(u, 0) {
				return true
			}
		}
		return false
	}
	for r, i := range on {
		if sum, slack := now.sum[i]+at[r], now.slack[i]+off[r]; isOpen(i, sum, slack) {
			open = append(open, i)
		} else {
			now.sum[i], now.slack[i] = sum, slack
		}
	}
	return open, nil
}
