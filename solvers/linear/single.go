package linear

import (
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/svmnb/svmnb/internal/parallel"
	"github.com/svmnb/svmnb/internal/rows"
	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/internal/vec"
)

// single holds K + E, which is K rounded to single precision. A pass over it takes as long as
// reading it from memory. As K is symmetric, each row is stored only up to the end of its
// square on the diagonal, in 2n² bytes together.
type single struct {
	rows [][]float32

	// off ≥ ‖E‖₂. Every |E_ij| is at most 2⁻²⁴ |K_ij|, and the Frobenius norm is an upper
	// bound of ‖E‖₂.
	off float64

	width int         // number of rows of one task
	parts [][]float64 // for each task and right-hand side, its part of the product
}

const (
	square32 = 128  // rows of a square on the diagonal
	reach32  = 1024 // number of columns for which the entries of x and y stay in the second-level cache
	shares32 = 32   // largest number of tasks; independent of the cores, so that sums have the same order everywhere
)

// inSingle reads K and rounds it to single precision. If a number does not fit into single
// precision, the bound off of the result becomes infinite.
//
// The function tell hears which share of K is done.
func (s *System) inSingle(ctx context.Context, tell func(share float64)) (*single, error) {
	n := s.K.Dim()
	var done atomic.Int64
	var telling sync.Mutex
	k := &single{rows: make([][]float32, n)}
	for at := 0; at < n; at += square32 {
		end := min(at+square32, n)
		slab := make([]float32, (end-at)*end)
		for i := at; i < end; i++ {
			k.rows[i] = slab[(i-at)*end:][:end:end]
		}
	}
	sums := make([]float64, n)
	err := rows.Sweep(ctx, s.K, 1, func(i, _ int, rows [][]float64) {
		to, row := k.rows[i], rows[0]
		for j, v := range row {
			to[j] = float32(v)
		}
		for j := i / square32 * square32; j < i; j++ {
			k.rows[j][i] = to[j]
		}
		sums[i] = 2 * simd.Dot(to[:i+1], row)
		if values := done.Add(int64(i + 1)); telling.TryLock() {
			tell(min(1, 2*float64(values)/(float64(n)*float64(n))))
			telling.Unlock()
		}
	})
	for _, v := range sums {
		k.off += v
	}
	k.off = float64(0x1.001p-24*math.Sqrt(k.off)) + float64(n)*0x1p-149 // the second term is for numbers below the normal range
	squares := (n + square32 - 1) / square32
	k.width = (squares + shares32 - 1) / shares32 * square32
	return k, err
}

// times sets y_j = (K + E) x_j + diag(noise) x_j, with sums in double precision. When ctx
// ends, y is incomplete.
func (k *single) times(ctx context.Context, s *System, y, x [][]float64) error {
	n, q := len(k.rows), len(x)
	tasks := (n + k.width - 1) / k.width
	for len(k.parts) < tasks*q {
		k.parts = append(k.parts, make([]float64, n))
	}
	parallel.Do(tasks, q*n*n, func(t int) {
		t = tasks - 1 - t // the longest tasks first
		if ctx.Err() == nil {
			k.add(k.parts[t*q:(t+1)*q], x, t*k.width, min((t+1)*k.width, n))
		}
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for j, v := range x {
		for i := range y[j] {
			y[j][i] = s.noise(i) * v[i]
		}
		for t := range tasks {
			end := min((t+1)*k.width, n)
			vec.Axpy(y[j], 1, k.parts[t*q+j][:end])
		}
	}
	return nil
}

// add sets y to a part of the product K x. This part comes from the rows i with from ≤ i < to,
// up to the diagonal, and by symmetry from the same entries as columns.
func (k *single) add(y, x [][]float64, from, to int) {
	for j := range y {
		clear(y[j][:to])
	}
	for at := from; at < to; at += square32 {
		rows := k.rows[at:min(at+square32, to)]
		for c := 0; c < at+len(rows); c += reach32 {
			end := min(c+reach32, at+len(rows))
			for j, v := range x {
				for r, row := range rows {
					y[j][at+r] += simd.Dot(row[c:end], v[c:])
				}
				if above := min(end, at); c < above {
					simd.AddRows(y[j][c:above], v[at:], rows, c)
				}
			}
		}
	}
}

// With A + E in place of A, the bounds change. Let r = b − Ax, g the residual of the
// recursion, s the difference of x and the x for which g was computed afresh, θ the least
// noise and η = off. Then for every x:
//
//	r = g + Es,  2Q(x) = (its value in the recursion) ± η‖s‖²,
//	√(r'A⁻¹r) ≤ √(g'A⁻¹g) + η‖s‖/√θ,
//	A + E ⪰ θ'I = (θ − η)I, or (1 − η/θ)P,  A ⪰ (1 − η/θ')(A + E).
//
// The last line gives θ', from which the Gauss–Radau bound starts. It also gives the factor by
// which the bound of g'(A + E)⁻¹g must be widened to bound g'A⁻¹g.

// singlePoints is the number of points from which K in single precision is worth its memory.
const singlePoints = 4096

// Allow implements Holder. K in single precision may take all of the bytes. Probes do
// without it: they need the coefficients of a run that never restarts, and their many products
// take longer than reading K.
func (c *cg) Allow(bytes float64) {
	n := float64(c.s.K.Dim())
	c.hold = !c.method.Double && !c.method.GibbsMacKay && !c.keep && c.theta > 0 && n >= singlePoints && 2*n*(n+square32) <= bytes
	if k, ok := c.s.K.(timer); ok && len(c.runs) >= manySides {
		inBlocks, _ := k.Times(context.Background(), nil, nil)
		c.hold = c.hold && !inBlocks
	}
	c.opened = c.opened && !c.hold
}

// manySides is the number of right-hand sides from which computing K anew in blocks, which are
// multiplied as matrices, is faster than reading K and multiplying one vector after the other.
const manySides = 24

// Preparing implements Preparer.
func (c *cg) Preparing(report func(stage string, share float64)) { c.report = report }

// prepared reports that a share of a stage is done.
func (c *cg) prepared(stage string, share float64) {
	if c.report != nil {
		c.report(stage, share)
	}
}

// hold32 makes k, unless E may exceed an eighth of the least noise and the method is not Rough.
func (c *cg) hold32(ctx context.Context) error {
	k, err := c.s.inSingle(ctx, func(share float64) { c.prepared("kernel matrix", share) })
	if c.hold = false; err != nil {
		return err
	}
	if !(8*k.off <= c.s.theta()) {
		if !c.method.Rough {
			return nil
		}
		c.rough, k.off = true, 0
	}
	c.k = k
	for _, r := range c.runs {
		r.base = slices.Clone(r.x)
	}
	return nil
}

// times multiplies the vectors of x in one pass, in single precision if k is set.
func (c *cg) times(ctx context.Context, y, x [][]float64) error {
	if c.k != nil {
		return c.k.times(ctx, c.s, y, x)
	}
	return c.s.Times(ctx, y, x)
}

// least returns θ', the θ for the matrix by which passes multiply.
func (c *cg) least() float64 {
	theta, off := c.s.theta(), 0.0
	if c.k != nil {
		off = c.k.off
	}
	if c.p != nil {
		return max(0, 1-off/theta-c.p.rounding)
	}
	return theta - off
}

// aside returns η‖s‖/√θ and η‖s‖², the terms by which E widens the bounds.
func (c *cg) aside(r *cgRun) (far, apart float64) {
	return c.k.off * r.gone / math.Sqrt(c.s.theta()), c.k.off * r.gone * r.gone
}

// enclose returns the lower bound of a point, and the two upper bounds of its distance to
// b'A⁻¹b.
func (c *cg) enclose(r *cgRun, skilling, radau float64) (lower, bySkilling, byRadau float64) {
	far, apart := c.aside(r)
	wider := func(energy float64) float64 { return math.Pow(math.Sqrt(energy)+far, 2) + 2*apart }
	return r.lower - apart, wider(skilling), wider(radau / (1 - c.k.off/(c.s.theta()-c.k.off)))
}

// resume restarts a run from a residual that was computed afresh. If the residual had drifted,
// its norm should now be at most a third of what it was at the last restart, as 8η ≤ θ. If it
// has not even halved, single precision does not suffice. A rough run has no η. Its residual is
// computed afresh when it seems small enough, and then has to be a tenth smaller than before.
func (c *cg) resume(r *cgRun, g []float64) {
	size := norm(g)
	c.refused = c.refused || c.drifted(r) && !(size <= r.steady/2) || c.rough && r.gone > 0 && !(size <= 0.9*r.steady)
	copy(r.g, g)
	copy(r.base, r.x)
	r.gone, r.steady, r.restarted = 0, size, true
	c.restart(r)
}

// drifted reports whether the error by E may be as large as g. The norm of the bounds would be
// a stricter test, but would cost iterations, since each run restarts: with a preconditioner,
// g is small in that norm much earlier.
func (c *cg) drifted(r *cgRun) bool { return c.k.off*r.gone > norm(r.g) }

// replace computes the residuals afresh if one has drifted. If single precision does not
// suffice, the runs continue in double precision.
func (c *cg) replace(ctx context.Context, busy func(j int) bool) error {
	due := c.refused
	for j, r := range c.runs {
		due = due || busy(j) && c.drifted(r)
	}
	if !due {
		return nil
	}
	if err := c.multiply(ctx, func(r *cgRun) { c.x, c.y = append(c.x, r.x), append(c.y, r.ax) }); err != nil {
		return err
	}
	for _, r := range c.runs {
		for i, b := range r.b {
			r.ax[i] = b - r.ax[i]
		}
		c.resume(r, r.ax)
	}
	if c.refused {
		c.k, c.rough = nil, false
		c.theta = c.least()
		for _, r := range c.runs {
			c.restart(r)
			r.steady = math.Inf(1)
		}
	}
	return nil
}
