package solvers

import (
	"context"
	"math"
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
	f := make([]float64, len(alpha))
	for i := range f {
		f[i] = -p.S[i]*p.P[i] - p.S[i]*p.ridge(i)*alpha[i]
	}
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
		return f, v.residual(ctx, p, b, f, alpha) == nil
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

// vectors divides the points into idx, those with s α ≠ 0, and others. coef has −s α for each
// point of idx. Variable v belongs to point v mod n.
type vectors struct {
	idx, others []int
	coef        []float64
}

func (p *Problem) vectors(alpha []float64, n int) (v vectors) {
	sum := make([]float64, n)
	for i, a := range alpha {
		sum[i%n] -= p.S[i] * a
	}
	count := 0
	for _, c := range sum {
		if c != 0 {
			count++
		}
	}
	v = vectors{make([]int, 0, count), make([]int, 0, n-count), make([]float64, 0, count)}
	for i, c := range sum {
		if c != 0 {
			v.idx, v.coef = append(v.idx, i), append(v.coef, c)
		} else {
			v.others = append(v.others, i)
		}
	}
	return v
}

// residual adds Σ coef K to f. For the vectors it does so in double precision, and computes
// each K_ij = K_ji once. For the others single precision often suffices: a point with α = 0
// whose F is on the right side of every b between m and M, by more than the rounding error of
// its F, adds exactly 0 to W, to the gap and to the violation.
func (v vectors) residual(ctx context.Context, p *Problem, b Blocks, f, alpha []float64) error {
	sum := make([]float64, b.Dim())
	// add sets sum to the exact sum at the points in on.
	add := func(on []int) error {
		if len(on) == 0 {
			return nil
		}
		at := make([]float64, len(on))
		err := b.AddTo(ctx, at, nil, on, v.idx, v.coef, true)
		for r, i := range on {
			sum[i] = at[r]
		}
		return err
	}
	if err := add(v.idx); err != nil {
		return err
	}
	open := v.others
	if !p.PerClass && len(open) > 0 {
		at, off, slack := make([]float64, len(open)), make([]float64, len(open)), make([]float64, len(sum))
		if err := b.AddTo(ctx, at, off, open, v.idx, v.coef, false); err != nil {
			return err
		}
		for r, i := range open {
			sum[i], slack[i] = at[r], off[r]
		}
		open = v.open(p, f, sum, slack, alpha)
	}
	if err := add(open); err != nil {
		return err
	}
	for u := range f {
		f[u] += sum[u%len(sum)]
	}
	return nil
}

// open returns the elements of v.others for which F must be exact.
func (v vectors) open(p *Problem, f, sum, slack, alpha []float64) (open []int) {
	n := len(sum)
	low, high := unseen, unseen // the ranges with all F at the lower ends of their errors, and at the upper ends
	for u, a := range alpha {
		at, off := f[u]+sum[u%n], slack[u%n]
		low.see(at-off, p.CanRise(u, a), p.CanFall(u, a))
		high.see(at+off, p.CanRise(u, a), p.CanFall(u, a))
	}
	lowest, highest := math.Min(low.up, low.low), math.Max(high.up, high.low)
	for _, i := range v.others {
		for u := i; u < len(f); u += n {
			at, off := f[u]+sum[i], slack[i]
			if alpha[u] != 0 || !(at+off < lowest) && p.CanRise(u, 0) || !(at-off > highest) && p.CanFall(u, 0) {
				open = append(open, i)
				break
			}
		}
	}
	return open
}
