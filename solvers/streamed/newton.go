// Package streamed trains machines of two classes and regressions on points that are not all in memory: it reads
// them in passes, and its memory does not grow with their number.
package streamed

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/svmnb/svmnb/internal/chol"
	"github.com/svmnb/svmnb/internal/parallel"
	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/solvers"
)

// Points are points z of m columns and their labels or targets, which are made anew in each pass.
type Points interface {
	Columns() int // m
	// Pass calls do with all points in their order, some at a time: len(y) rows of m numbers
	// in z, and their labels ±1 or their targets. do may change z. It returns the error of do or of the points,
	// or context.Cause(ctx).
	Pass(ctx context.Context, do func(z, y []float64) error) error
}

// Problem is the primal problem of a machine f(z) = β·z + b:
//
//	minimise P(β, b) = ½ β'Mβ + Σ_i C_i loss(1 − y_i f(z_i)),
//
// with loss(t) = max(0, t) or, if Squared is set, ½max(0, t)². C_i depends on the class. With M
// = I it is a linear machine on the columns. With z the kernel values with m landmarks and M
// their kernel matrix it is the machine on Nyström's features (Williams and Seeger 2001).
//
// Its dual is to maximise D(α) = Σ α_i − ½‖Σ y_i α_i z_i‖² − ½ Σ α_i²/C_i (the last term only
// if Squared is set) over α ≥ 0 with Σ y_i α_i = 0 and, unless Squared is set, α_i ≤ C_i. The
// norm is that of M⁻¹.
//
// With Real set, y are real targets and the loss is that of t = |y_i − f(z_i)| − ε, with the side
// of f on which the point lies in place of its class. This is the same problem: a point above f has
// the label s = +1, one below s = −1, and t = p − s f(z_i) with p = s y_i − ε in place of 1, also in
// the dual's Σ p_i α_i. As ε ≥ 0, a point has a positive loss on one side at most.
type Problem struct {
	Points  Points
	Metric  [][]float64 // M, of which the lower half is read; nil means the identity
	Cost    [2]float64  // C of the points with y = −1 and y = +1, or below and above f
	Squared bool

	Real    bool
	Epsilon float64 // ε ≥ 0, half the width of the tube; only with Real
	Delta   float64 // δ > 0 makes loss(t) Huber's: t²/2δ for 0 < t ≤ δ, and t − δ/2 beyond; not with Squared
	Unit    float64 // what is a usual difference of two targets; 0 means 1
}

// at returns for a point at which f has a value the side on which it can have a loss, and t there.
func (p *Problem) at(y, f float64) (k int, t float64) {
	if p.Real {
		return side(y - f), math.Abs(y-f) - p.Epsilon
	}
	return side(y), 1 - y*f
}

// offset returns t for f = 0 on a side.
func (p *Problem) offset(y float64, k int) float64 {
	if !p.Real {
		return 1
	}
	if k == 0 {
		return -y - p.Epsilon
	}
	return y - p.Epsilon
}

// smooth reports whether the loss has no kink.
func (p *Problem) smooth() bool { return p.Squared || p.Delta > 0 }

func (p *Problem) unit() float64 {
	if p.Unit > 0 {
		return p.Unit
	}
	return 1
}

// Settings say where a run starts and when it stops.
type Settings struct {
	Gap       float64 // (P − D)/P at which to stop; 0 means 1e-3
	MaxPasses int     // 0 means 1000
	Start     *Result // of a similar problem, such as a sample of the points; nil means f = 0
	Width     float64 // over which the kink is rounded at first, in units of y·f or of Problem.Unit; 0 means that at the end of Start, or 2 without one

	// Observe is called after each pass, if it is not nil.
	Observe func(r *Result)
}

// Result is a machine with bounds of its objective.
type Result struct {
	Beta []float64 // m coefficients
	Bias float64

	Primal float64 // P of the machine; +Inf before the first pass has ended
	Dual   float64 // D of the multipliers Alpha, a lower bound of every P
	Alpha  Multipliers

	Errors  int // points of the wrong side of f = 0; 0 for targets
	Points  int // points of a pass
	Support int // points with α > 0 in Alpha
	Passes  int // over the points, or with Indexed over them or those near the kink
	Status  solvers.Status
	Elapsed time.Duration

	width float64 // rC of the last pass
}

// Gap returns P − D, which bounds how far P is above the minimum.
func (r Result) Gap() float64 { return r.Primal - r.Dual }

// RelGap returns the gap as a share of P.
func (r Result) RelGap() float64 {
	if r.Primal == 0 {
		return 0
	}
	return r.Gap() / r.Primal
}

// Multipliers are n multipliers α as a rule that computes them from the points: they take no
// memory. α_i = Scale·t/r clipped to [0, C], with t = 1 − y_i f(z_i) and f of these Beta and
// Bias. The two values of Scale are for y = −1 and y = +1, and make Σ y_i α_i zero. For targets t =
// |y_i − f(z_i)| − ε, and the two sides of f take the place of the labels.
type Multipliers struct {
	Beta  []float64
	Bias  float64
	Scale [2]float64
	Width [2]float64 // r, for y = −1 and y = +1
	Most  [2]float64 // C, or +Inf if the loss is squared

	Sum   float64 // Σ α_i, or Σ p_i α_i for targets
	Norm2 float64 // ‖Σ y_i α_i z_i‖²
	Ridge float64 // Σ α_i²/C_i if the loss is squared, Σ δα_i²/C_i with Delta, otherwise 0

	// Image is M⁻¹ Σ y_i α_i z_i, the coefficients of the function that belongs to α.
	Image []float64

	of *Problem
}

// At returns α of a point with label y at which f = β·z + b of these multipliers has a value. For
// targets it is the α of the side of f on which y lies.
func (a *Multipliers) At(y, f float64) float64 {
	k, t := side(y), 1-y*f
	if a.of != nil {
		k, t = a.of.at(y, f)
	}
	return a.Scale[k] * min(max(0, t/a.Width[k]), a.Most[k])
}

// side returns the index of a class.
func side(y float64) int {
	if y > 0 {
		return 1
	}
	return 0
}

// Solve minimises P by Newton's method. The kink of the loss is rounded off: max(0, t) becomes
// h_r(t) = max over 0 ≤ α ≤ C of αt − ½rα², which is quadratic for 0 < t < rC. Then the
// objective P_r has a gradient and a Hessian,
//
//	α_i = t_i/r clipped to [0, C],  ∇P_r = (Mβ − Σ y_i α_i z_i, −Σ y_i α_i),
//	H = diag(M, 0) + Σ_J z̃_i z̃_i'/r,  z̃ = (z, 1),
//
// with J the points where 0 < t < rC (Mangasarian 2002; Keerthi and DeCoste 2005, §3). One pass
// computes P, P_r, the gradient, H and D of these α together. The α are feasible after those of
// one class are scaled such that Σ y_i α_i = 0, so each pass has a certificate. At the minimum
// of P_r the gap is r Σ_J α_i(C − α_i) at most, so r falls until the gap is small. The squared
// loss needs no rounding: its r is 1/C. Neither does Huber's, which is h_r with r = δ/C.
//
// A Newton step that does not lower P_r enough is shortened, at the cost of another pass. A
// start from a sample leaves four or five passes over all points. Each takes O(n m + |J|m²)
// operations besides making the points. Memory is about 8·5m² bytes beside the points. With
// points that are [Indexed], most steps make only the points near the kink and take O(m²) operations
// for each point that enters or leaves J; this takes 64 bytes more for each point. Sums have
// the same bits for any number of goroutines.
//
// When ctx ends, the result is the best machine so far, with an error that wraps
// context.Cause(ctx).
func Solve(ctx context.Context, p *Problem, s Settings) (*Result, error) {
	m := p.Points.Columns()
	n := &newton{p: p, m: m, began: time.Now(), gap: s.Gap, result: &Result{Beta: make([]float64, m), Primal: math.Inf(1), Status: solvers.Interrupted}}
	if n.gap == 0 {
		n.gap = 1e-3
	}
	if s.MaxPasses == 0 {
		s.MaxPasses = 1000
	}
	if err := n.factorMetric(ctx); err != nil {
		return nil, err
	}
	n.result.Alpha.Beta, n.result.Alpha.Image, n.result.Alpha.of = make([]float64, m), make([]float64, m), p
	for k := range 2 {
		n.result.Alpha.Width[k], n.result.Alpha.Most[k] = 1, p.Cost[k]
	}
	at := state{beta: make([]float64, m)}
	most := max(p.Cost[0], p.Cost[1])
	if !p.smooth() {
		at.r = 2 * p.unit() / most // all points are in J, or most
	}
	if s.Start != nil {
		copy(at.beta, s.Start.Beta)
		at.bias = s.Start.Bias
		copy(n.result.Beta, at.beta)
		n.result.Bias = at.bias
		if !p.smooth() && s.Start.width > 0 {
			at.r = s.Start.width / most
		}
	}
	if s.Width > 0 && !p.smooth() {
		at.r = s.Width * p.unit() / most
	}
	run := n.run
	if points, ok := p.Points.(Indexed); ok {
		run = newIndexed(n, points).run
	}
	err := run(ctx, at, s)
	n.result.Elapsed = time.Since(n.began)
	if err != nil {
		return n.result, fmt.Errorf("solvers: streamed Newton stopped after %d passes: %w", n.result.Passes, err)
	}
	return n.result, nil
}

// state is a machine and the width r of the rounded kink, in units of 1/α.
type state struct {
	beta []float64
	bias float64
	r    float64
}

// newton is the workspace of a run.
type newton struct {
	p      *Problem
	m      int
	began  time.Time
	gap    float64
	result *Result
	metric *chol.Panels[float64] // the Cholesky factor of M; nil for the identity

	curved curvature
	factor *chol.Panels[float64] // of the Hessian

	// seen gets y and f of consecutive points in a pass that leaves out the Hessian, if it is not nil.
	seen func(from int, y, f []float64)
}

// sums are what one pass computes.
type sums struct {
	loss, smooth float64 // Σ of the loss, and of the rounded loss, both times C
	n, wrong     int
	support      [2]int
	alpha        [2]float64 // Σ α, by class or side of f
	gain         [2]float64 // Σ p α, the same; Σ α unless y are targets
	square       [2]float64 // Σ rα², the same, if the loss has no kink
	image        [2][]float64

	slopes [len(rungs)]float64 // Σ y_i α_i(t) z̃_i·step at each rung
	length float64             // t of the step to this machine
	curve  float64             // step'M step

	quadratic float64 // β'Mβ
	metric    []float64
	gradient  []float64 // of P_r; the bias is last
	kink      float64   // Σ_J rα(C − α), the part of the gap that comes from rounding the kink
	residual  float64   // ½‖g‖² in the norm of M⁻¹, the part that comes from the gradient g
}

// rungs are shares of a step at which a pass also computes the slope of P_r along the step, so
// that a step that is too long costs one more pass and not one for each trial.
var rungs = [...]float64{1. / 4096, 1. / 1024, 1. / 256, 1. / 128, 1. / 64, 1. / 32, 1. / 16, 1. / 8, 3. / 16, 1. / 4, 3. / 8, 1. / 2, 5. / 8, 3. / 4, 7. / 8, 1}

// shorter returns the share of the step t·step that led to the machine of s at which P_r is
// smallest, as far as the rungs tell.
func (s *sums) shorter(step []float64) float64 {
	m := len(s.metric)
	ahead, curve := simd.Dot(s.metric, step[:m])*s.length, s.curve*s.length*s.length
	low, below := 0.0, math.NaN()
	for k, t := range rungs {
		slope := ahead - (1-t)*curve - s.slopes[k]*s.length
		if slope > 0 {
			switch {
			case k == 0:
				return t
			case below != below:
				return low
			}
			return low - below*(t-low)/(slope-below)
		}
		low, below = t, slope
	}
	return 0.5
}

// rounded returns P_r.
func (s *sums) rounded() float64 { return s.quadratic/2 + s.smooth }

func (n *newton) run(ctx context.Context, at state, set Settings) error {
	now, err := n.pass(ctx, at, nil, 0)
	if err != nil {
		return err
	}
	step, next := make([]float64, n.m+1), state{beta: make([]float64, n.m)}
	for {
		if n.ends(set) {
			return nil
		}
		res := n.result
		decrement, err := n.direction(ctx, now, step)
		if err != nil {
			return err
		}
		if !(decrement > 1e-14*math.Abs(now.rounded())) && (n.p.smooth() || at.r < 1e-9*n.p.unit()/max(n.p.Cost[0], n.p.Cost[1])) {
			res.Status = solvers.Exhausted
			return nil
		}
		// The gap of a pass is that of rounding, which falls with r², and that of the gradient,
		// which Newton's steps reduce.
		before, r := now.rounded(), at.r
		if goal := 0.3 * n.gap * math.Abs(res.Primal); now.kink > goal && now.residual <= now.kink {
			r *= min(max(math.Sqrt(goal/now.kink), 0.3), 0.7)
			before = now.quadratic/2 + now.loss // P bounds all P_r
		}
		next.r = r
		for t := 1.0; ; {
			for j := range next.beta {
				next.beta[j] = at.beta[j] + t*step[j]
			}
			next.bias = at.bias + t*step[n.m]
			now, err = n.pass(ctx, next, step, t)
			if err != nil {
				return err
			}
			if now.rounded() <= before-1e-4*t*decrement || t < 1e-8 {
				break
			}
			if set.Observe != nil {
				set.Observe(res)
			}
			if res.Passes >= set.MaxPasses {
				break
			}
			t *= now.shorter(step)
		}
		at, next = next, at
	}
}

// ends tells the observer of the result, and reports whether the run is over.
func (n *newton) ends(set Settings) bool {
	res := n.result
	if set.Observe != nil {
		set.Observe(res)
	}
	switch {
	case res.Gap() <= n.gap*math.Abs(res.Primal):
		res.Status = solvers.Converged
	case res.Passes >= set.MaxPasses:
		res.Status = solvers.IterationLimit
	default:
		return false
	}
	return true
}

// factorMetric factors M.
func (n *newton) factorMetric(ctx context.Context) error {
	if n.p.Metric == nil {
		return nil
	}
	n.metric = chol.New[float64](n.m)
	for i, row := range n.p.Metric {
		n.metric.SetRow(i, row[:i+1])
	}
	pivot, err := n.metric.Factor(ctx)
	if err != nil {
		return context.Cause(ctx)
	}
	if pivot < n.m {
		return fmt.Errorf("solvers: the metric is not positive definite: row %d depends on those before it", pivot)
	}
	return nil
}

// times returns Mβ.
func (n *newton) times(beta []float64) []float64 {
	out := make([]float64, n.m)
	if n.p.Metric == nil {
		copy(out, beta)
		return out
	}
	for i, row := range n.p.Metric {
		out[i] += simd.Dot(row[:i+1], beta)
		simd.Axpy(beta[i], row[:i], out)
	}
	return out
}

// pass computes all sums at a machine, and updates the result. The machine is t·step away from
// the one before, or step is nil.
func (n *newton) pass(ctx context.Context, at state, step []float64, t float64) (*sums, error) {
	if n.seen == nil {
		n.curved.clear(n.m)
	}
	s := &sums{}
	s.image[0], s.image[1] = make([]float64, n.m), make([]float64, n.m)
	r, most := n.widths(at.r)
	var f, df, c []float64
	var sides []int
	if s.length = t; step != nil {
		s.curve = simd.Dot(n.times(step[:n.m]), step[:n.m])
	}
	var rows [2][][]float64
	var of [2][]float64
	err := n.p.Points.Pass(ctx, func(z, y []float64) error {
		count := len(y)
		if cap(f) < count {
			f, df, c, sides = make([]float64, count), make([]float64, count), make([]float64, count), make([]int, count)
		}
		f, df, c, sides = f[:count], df[:count], c[:count], sides[:count]
		const some = 64
		parallel.Do((count+some-1)/some, count*n.m, func(task int) {
			for i := task * some; i < min((task+1)*some, count); i++ {
				row := z[i*n.m : (i+1)*n.m]
				f[i] = simd.Dot(row, at.beta) + at.bias
				if step != nil {
					df[i] = simd.Dot(row, step[:n.m]) + step[n.m]
				}
			}
		})
		rows[0], rows[1], of[0], of[1] = rows[0][:0], rows[1][:0], of[0][:0], of[1][:0]
		switch {
		case step == nil:
		case n.p.Real:
			for i, y := range y {
				for at, share := range rungs {
					k, margin := n.p.at(y, f[i]-(1-share)*df[i]*t)
					s.slopes[at] += float64(2*k-1) * df[i] * min(max(0, margin/r[k]), most[k])
				}
			}
		default:
			for i, y := range y {
				k, margin, change := side(y), 1-y*f[i], y*df[i]*t
				for at, share := range rungs {
					s.slopes[at] += y * df[i] * min(max(0, (margin+(1-share)*change)/r[k]), most[k])
				}
			}
		}
		for i, y := range y {
			k, t := n.p.at(y, f[i])
			sides[i] = k
			if !n.p.Real && (f[i] < 0 && y > 0 || f[i] >= 0 && y < 0) {
				s.wrong++
			}
			if !(t > 0) {
				c[i] = 0
				if t != t {
					return fmt.Errorf("solvers: f is not a number at point %d", s.n+i)
				}
				continue
			}
			a := min(t/r[k], most[k])
			c[i] = a
			switch {
			case n.p.Squared:
				s.loss += n.p.Cost[k] * t * t / 2
				s.square[k] += a * a / n.p.Cost[k]
			case n.p.Delta > 0:
				s.loss += a*t - r[k]*a*a/2
				s.square[k] += r[k] * a * a
			default:
				s.loss += n.p.Cost[k] * t
				s.kink += (n.p.Cost[k] - a) * t
			}
			s.smooth += a*t - r[k]*a*a/2
			s.alpha[k] += a
			s.gain[k] += n.p.offset(y, k) * a
			s.support[k]++
			rows[k], of[k] = append(rows[k], z[i*n.m:(i+1)*n.m]), append(of[k], a)
		}
		for k := range rows {
			addRows(s.image[k], of[k], rows[k])
		}
		s.n += count
		if n.seen != nil {
			n.seen(s.n-count, y, f)
			return nil
		}
		for i, a := range c {
			if k := sides[i]; a > 0 && a < most[k] {
				n.curved.add(z[i*n.m:(i+1)*n.m], 1/r[k])
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if n.seen == nil {
		n.curved.flush()
	}
	if n.p.smooth() {
		s.smooth = s.loss
	}
	image := make([]float64, n.m)
	for j := range image {
		image[j] = s.image[1][j] - s.image[0][j]
	}
	n.slope(s, at.beta, image, s.alpha[1]-s.alpha[0])
	n.note(s, at, r, most)
	return s, nil
}

// widths returns the r of both sides, and their largest α, for the r of a state.
func (n *newton) widths(of float64) (r, most [2]float64) {
	for k, c := range n.p.Cost {
		r[k], most[k] = of, c
		switch {
		case n.p.Squared:
			r[k], most[k] = 1/c, math.Inf(1)
		case n.p.Delta > 0:
			r[k] = n.p.Delta / c
		}
	}
	return r, most
}

// slope computes the gradient of P_r from Σ y α z and Σ y α.
func (n *newton) slope(s *sums, beta, image []float64, bias float64) {
	s.metric = n.times(beta)
	s.quadratic = simd.Dot(s.metric, beta)
	s.gradient = make([]float64, n.m+1)
	for j := range s.metric {
		s.gradient[j] = s.metric[j] - image[j]
	}
	s.gradient[n.m] = -bias
	g := append([]float64(nil), s.gradient[:n.m]...)
	if n.metric != nil {
		n.metric.Forward(g)
	}
	s.residual = simd.Dot(g, g) / 2
}

// addRows adds Σ c[i]·rows[i] to sum.
func addRows(sum, c []float64, rows [][]float64) {
	m := len(sum)
	parts := max(1, min(runtime.GOMAXPROCS(0), m/64))
	parallel.Do(parts, len(rows)*m, func(part int) {
		from, to := part*m/parts, (part+1)*m/parts
		simd.AddRows(sum[from:to], c, rows, from)
	})
}

// curvature is the part of the Hessian that the points of J make.
type curvature struct {
	h      []float64 // Σ_J w z z', m × m, lower half
	column []float64 // Σ_J w z
	corner float64   // Σ_J w
	unit   float64   // by which all three are to be multiplied

	added, removed batch
	pack           simd.Panels[float64]
}

// batch are points √w z whose products are not yet in the Hessian.
type batch struct {
	z    []float64
	held int
}

// together is the number of points that one product of matrices takes.
const together = 768

func (c *curvature) clear(m int) {
	if c.h == nil {
		c.h, c.column = make([]float64, m*m), make([]float64, m)
	}
	clear(c.h)
	clear(c.column)
	c.corner, c.unit, c.added.held, c.removed.held = 0, 1, 0, 0
}

// add adds a point of weight w.
func (c *curvature) add(z []float64, w float64) {
	c.corner += w
	c.hold(&c.added, z, math.Sqrt(w), 1)
}

// remove takes a point of weight w out.
func (c *curvature) remove(z []float64, w float64) {
	c.corner -= w
	c.hold(&c.removed, z, math.Sqrt(w), -1)
}

func (c *curvature) hold(b *batch, z []float64, root, sign float64) {
	m := len(z)
	if b.z == nil {
		b.z = make([]float64, together*m)
	}
	row := b.z[b.held*m : (b.held+1)*m]
	for j, v := range z {
		row[j] = root * v
	}
	simd.Axpy(sign*root, row, c.column)
	if b.held++; b.held == together {
		c.flush()
	}
}

// flush brings the products of all points into the Hessian.
func (c *curvature) flush() {
	m := len(c.column)
	for _, b := range []*batch{&c.added, &c.removed} {
		if b.held == 0 {
			continue
		}
		a := simd.Matrix[float64]{Data: b.z[:b.held*m], Rows: b.held, Cols: m, Stride: m}
		c.pack.Pack(a, 0)
		simd.Gemm[float64]{Add: b == &c.added, Minus: b == &c.removed, Lower: true}.Do(simd.Matrix[float64]{Data: c.h, Rows: m, Cols: m, Stride: m}, a.T(), &c.pack)
		b.held = 0
	}
}

// dual returns the multipliers of a pass made feasible, and their D.
func (n *newton) dual(s *sums) (scale [2]float64, d float64, image []float64, norm2 float64) {
	least := min(s.alpha[0], s.alpha[1])
	for k := range scale {
		if s.alpha[k] > 0 {
			scale[k] = least / s.alpha[k]
		}
	}
	image = make([]float64, n.m)
	for j := range image {
		image[j] = scale[1]*s.image[1][j] - scale[0]*s.image[0][j]
	}
	solved := image
	if n.metric != nil {
		solved = append([]float64(nil), image...)
		n.metric.Forward(solved)
		norm2 = simd.Dot(solved, solved)
		n.metric.Backward(solved)
	} else {
		norm2 = simd.Dot(image, image)
	}
	sum := 2 * least
	if n.p.Real {
		sum = scale[0]*s.gain[0] + scale[1]*s.gain[1]
	}
	ridge := scale[0]*scale[0]*s.square[0] + scale[1]*scale[1]*s.square[1]
	// Of all multiples of α that are feasible the best is at the maximum of t·sum − ½t²(…).
	t := 1.0
	if q := norm2 + ridge; q > 0 && (n.p.Squared || sum < q) {
		t = max(0, sum) / q
	}
	for j := range solved {
		solved[j] *= t
	}
	scale[0], scale[1] = t*scale[0], t*scale[1]
	return scale, t*sum - t*t*(norm2+ridge)/2, solved, t * t * norm2
}

// note keeps the machine and the multipliers of a pass if they are better than the best.
func (n *newton) note(s *sums, at state, r, most [2]float64) {
	res := n.result
	res.Passes++
	res.Points = s.n
	res.width = at.r * max(n.p.Cost[0], n.p.Cost[1])
	if p := s.quadratic/2 + s.loss; p < res.Primal {
		res.Primal, res.Bias, res.Errors = p, at.bias, s.wrong
		copy(res.Beta, at.beta)
	}
	scale, d, image, norm2 := n.dual(s)
	if d <= res.Dual {
		return
	}
	res.Dual = d
	res.Support = 0
	for k := range scale {
		if scale[k] > 0 {
			res.Support += s.support[k]
		}
	}
	ridge := scale[0]*scale[0]*s.square[0] + scale[1]*scale[1]*s.square[1]
	res.Alpha = Multipliers{append(res.Alpha.Beta[:0], at.beta...), at.bias, scale, r, most, scale[0]*s.gain[0] + scale[1]*s.gain[1], norm2, ridge, image, n.p}
}

// direction sets step to the Newton step and returns the square of the Newton decrement.
func (n *newton) direction(ctx context.Context, s *sums, step []float64) (decrement float64, err error) {
	if n.factor == nil {
		n.factor = chol.New[float64](n.m + 1)
	}
	of := &n.curved
	row, trace := make([]float64, n.m+1), 0.0
	for i := range n.m {
		trace += of.unit * of.h[i*n.m+i]
		if n.p.Metric != nil {
			trace += n.p.Metric[i][i]
		} else {
			trace++
		}
	}
	corner := of.unit * of.corner
	if corner == 0 {
		corner = 1 // P_r is linear in b; a line search shortens the step
	}
	// M may be nearly singular, and rounding can then make a pivot negative. A multiple of the
	// identity shortens the step in the directions in which f hardly changes.
	for jitter := 0.0; ; jitter = max(10*jitter, 1e-15*trace/float64(n.m)) {
		n.factor.Reset(n.m + 1)
		for i := range n.m {
			for j, v := range of.h[i*n.m : i*n.m+i+1] {
				row[j] = of.unit * v
			}
			if n.p.Metric != nil {
				simd.Axpy(1, n.p.Metric[i][:i+1], row[:i+1])
			} else {
				row[i]++
			}
			row[i] += jitter
			n.factor.SetRow(i, row[:i+1])
		}
		for j, v := range of.column {
			row[j] = of.unit * v
		}
		row[n.m] = corner * (1 + 1e-12)
		n.factor.SetRow(n.m, row)
		pivot, err := n.factor.Factor(ctx)
		if err != nil {
			return 0, context.Cause(ctx)
		}
		if pivot == n.m+1 {
			break
		}
		if jitter > trace {
			return 0, fmt.Errorf("solvers: the Hessian has no factor: row %d", pivot)
		}
	}
	for j, g := range s.gradient {
		step[j] = -g
	}
	n.factor.Forward(step)
	n.factor.Backward(step)
	for j, v := range step {
		decrement -= v * s.gradient[j]
	}
	return decrement, nil
}
