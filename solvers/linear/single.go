package linear

import (
	"context"
	"math"
	"slices"

	"github.com/svmnb/svmnb/internal/parallel"
	"github.com/svmnb/svmnb/internal/rows"
	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/internal/vec"
)

// single is K + E, K rounded to single precision, held for passes that take the time in
// which memory is read: the rows up to the end of the square on the diagonal, as K is
// symmetric, which is 2n² bytes.
type single struct {
	rows [][]float32

	// off ≥ ‖E‖₂. Every |E_ij| is at most 2⁻²⁴ |K_ij|, and no norm is above
	// Frobenius's.
	off float64

	width int         // of the share of a task, in rows
	parts [][]float64 // of each task and right-hand side: what it adds
}

const (
	square32 = 128  // rows of a square
	reach32  = 1024 // columns that such rows are multiplied with while they are in the second-level cache
	shares32 = 32   // tasks at most, whatever the cores, for the order of sums not to depend on them
)

// inSingle reads K and rounds it. Numbers that single precision has no room for make
// off infinite.
func (s *System) inSingle(ctx context.Context) (*single, error) {
	n := s.K.Dim()
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
	})
	for _, v := range sums {
		k.off += v
	}
	k.off = float64(0x1.001p-24*math.Sqrt(k.off)) + float64(n)*0x1p-149 // of what is below all normal numbers
	squares := (n + square32 - 1) / square32
	k.width = (squares + shares32 - 1) / shares32 * square32
	return k, err
}

// times sets y_j = (K + E) x_j + diag(noise) x_j, in double precision. When ctx ends y is
// not complete.
func (k *single) times(ctx context.Context, s *System, y, x [][]float64) error {
	n, q := len(k.rows), len(x)
	tasks := (n + k.width - 1) / k.width
	for len(k.parts) < tasks*q {
		k.parts = append(k.parts, make([]float64, n))
	}
	parallel.Do(tasks, q*n*n, func(t int) {
		t = tasks - 1 - t // the longest first
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

// add sets y to what rows from ≤ i < to, and what is symmetric to them, add.
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

// What follows from A + E in place of A, for every x, with r = b − Ax, g what the
// recursion has for it, s = x less the x for which g was computed afresh, θ the least
// noise and η = off:
//
//	r = g + Es,  2Q(x) = (what the recursion has for it) ± η‖s‖²,
//	√(r'A⁻¹r) ≤ √(g'A⁻¹g) + η‖s‖/√θ,
//	A + E ⪰ θ'I = (θ − η)I, or (1 − η/θ)P,  A ⪰ (1 − η/θ')(A + E).
//
// The last line is what Gauss and Radau start from, and by how much their bound of
// g'(A + E)⁻¹g grows for it to be one of g'A⁻¹g.

// singlePoints is from how many points on K in single precision is worth its memory.
const singlePoints = 4096

// Allow implements Holder: a quarter is for K. Probes, which want the coefficients of a
// run without a break, and whose many products take longer than to read K, go without.
func (c *cg) Allow(bytes float64) {
	n := float64(c.s.K.Dim())
	c.hold = !c.method.Double && !c.method.GibbsMacKay && !c.keep && c.theta > 0 && n >= singlePoints && 2*n*(n+square32) <= bytes/4
	c.opened = c.opened && !c.hold
}

// hold32 rounds K, unless E may be an eighth of the noise.
func (c *cg) hold32(ctx context.Context) error {
	k, err := c.s.inSingle(ctx)
	if c.hold = false; err != nil || !(8*k.off <= c.s.theta()) {
		return err
	}
	c.k = k
	for _, r := range c.runs {
		r.base = slices.Clone(r.x)
	}
	return nil
}

// times is what a pass does.
func (c *cg) times(ctx context.Context, y, x [][]float64) error {
	if c.k != nil {
		return c.k.times(ctx, c.s, y, x)
	}
	return c.s.times(ctx, y, x)
}

// least returns θ' of what passes multiply by.
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

// aside returns η‖s‖/√θ and η‖s‖².
func (c *cg) aside(r *cgRun) (far, apart float64) {
	return c.k.off * r.gone / math.Sqrt(c.s.theta()), c.k.off * r.gone * r.gone
}

// enclose returns the lower bound of a point, and what it may lack by the two upper ones.
func (c *cg) enclose(r *cgRun, skilling, radau float64) (lower, bySkilling, byRadau float64) {
	far, apart := c.aside(r)
	wider := func(energy float64) float64 { return math.Pow(math.Sqrt(energy)+far, 2) + 2*apart }
	return r.lower - apart, wider(skilling), wider(radau / (1 - c.k.off/(c.s.theta()-c.k.off)))
}

// resume starts a run again from a residual computed afresh. Where that is due by drifted
// it is at most a third of what it was the last time, as 8η ≤ θ; one that has not halved
// says that single precision leads nowhere.
func (c *cg) resume(r *cgRun, g []float64) {
	size := norm(g)
	c.refused = c.refused || c.drifted(r) && !(size <= r.steady/2)
	copy(r.g, g)
	copy(r.base, r.x)
	r.gone, r.steady, r.restarted = 0, size, true
	c.restart(r)
}

// drifted says that E may hide as much as g says. To ask in the norm of the bounds costs
// iterations, as each run starts again: with a preconditioner g is small there long before.
func (c *cg) drifted(r *cgRun) bool { return c.k.off*r.gone > norm(r.g) }

// replace computes the residuals afresh where one has drifted. Where single precision
// does not do, the runs go on from there in double.
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
		c.k = nil
		c.theta = c.least()
		for _, r := range c.runs {
			c.restart(r)
			r.steady = math.Inf(1)
		}
	}
	return nil
}
