package solvers

import (
	"context"
	"math"
)

// F returns F_i = −s_i (Qα + p)_i, computed afresh from the rows of the non-zero α, or by
// way of w where K knows its factor. Of the two multipliers of a point of a tube the
// difference is taken first: they may be large and alike.
func (p *Problem) F(alpha []float64) []float64 {
	f, _ := p.residualUntil(context.Background(), alpha)
	return f
}

// FInBlocks is F for a method that asks K for [Blocks] and has no rows of it in memory.
func (p *Problem) FInBlocks(alpha []float64) []float64 {
	b, _ := BlocksOf(p.K)
	f, _ := p.residualBy(context.Background(), b, 0, alpha)
	return f
}

// residualUntil gives up, and returns false, when ctx ends.
func (p *Problem) residualUntil(ctx context.Context, alpha []float64) ([]float64, bool) {
	b, _ := BlocksOf(p.K)
	return p.residualBy(ctx, b, bulk, alpha)
}

// bulk is from how many kernel values on a residual is a product of matrices,
// though some rows may be held.
const bulk = 1 << 22

// residualBy is residualUntil that takes products of matrices from so many kernel
// values on, where there are blocks.
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

// vectors are the points with s α ≠ 0, its opposite, and the others. Variable v is
// of point v mod n.
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

// residual adds Σ coef K to f: in double precision, and among the vectors every
// K_ij = K_ji but once. A point with α = 0 whose F is on the right side of every b
// between m and M, by more than rounding to single precision can have moved it, adds
// exactly nothing to W, to the gap or to the violation: there single precision is
// enough.
func (v vectors) residual(ctx context.Context, p *Problem, b Blocks, f, alpha []float64) error {
	sum := make([]float64, b.Dim())
	// add adds the exact sum at the points on.
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

// open returns those of the other points whose F matters.
func (v vectors) open(p *Problem, f, sum, slack, alpha []float64) (open []int) {
	n := len(sum)
	low, high := unseen, unseen // with all F at their least and at their most
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
