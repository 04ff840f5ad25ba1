package solvers

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/svmnb/svmnb/internal/panics"
	"github.com/svmnb/svmnb/internal/rows"
	"github.com/svmnb/svmnb/internal/vec"
)

// CrammerSinger is the machine that learns all k classes at once (Crammer and
// Singer 2001): one w_m for each class m, and the class with the largest w_m·x
// wins. With e_im = 1 − [m = y_i] its primal is
//
//	minimise ½ Σ_m ‖w_m‖² + Σ_i C_i ξ_i,  w_{y_i}·x_i − w_m·x_i ≥ e_im − ξ_i  for all i, m,
//
// and its dual, in k variables for each point,
//
//	maximise −½ Σ_m Σ_ij α_im α_jm K_ij − Σ_im e_im α_im,
//	Σ_m α_im = 0,  α_im ≤ C_i for m = y_i, else α_im ≤ 0,  w_m = Σ_i α_im x_i.
//
// There is no bias; the kernel K + τ² adds one for each class. The dual has an equality for
// each point, so it is not the QP of this package. CrammerSinger is therefore no Method. It
// has a Solve and a Certify of its own, which use the same terms.
type CrammerSinger struct {
	K       Matrix    // n × n
	Y       []int     // n classes, 0 … Classes − 1
	Classes int       // k ≥ 2
	C       []float64 // n costs, in (0, ∞)
	Seed    uint64    // seed of the order in which points are visited
}

// Check returns a *ProblemError for the first thing that is wrong with p.
func (p *CrammerSinger) Check() error {
	bad := func(field string, i int, v float64, format string, args ...any) error {
		return &ProblemError{field, i, v, fmt.Sprintf(format, args...)}
	}
	switch {
	case p == nil || p.K == nil:
		return bad("K", -1, 0, "no kernel matrix")
	case p.K.Dim() == 0:
		return bad("K", -1, 0, "the kernel matrix has no rows; give at least one point")
	case p.Classes < 2:
		return bad("Classes", -1, float64(p.Classes), "is %d; give at least 2", p.Classes)
	case len(p.Y) != p.K.Dim():
		return bad("Y", -1, float64(len(p.Y)), "has %d entries, the kernel matrix has %d rows", len(p.Y), p.K.Dim())
	case len(p.C) != p.K.Dim():
		return bad("C", -1, float64(len(p.C)), "has %d entries, the kernel matrix has %d rows", len(p.C), p.K.Dim())
	}
	for i, v := range p.K.Diag() {
		switch {
		case !rows.Usable(v):
			return bad("K", i, v, "row %d, column %d "+rows.Unusable, i, i)
		case v < 0:
			return bad("K", i, v, "K(x, x) is negative, so this is not a kernel; use another")
		case p.Y[i] < 0 || p.Y[i] >= p.Classes:
			return bad("Y", i, float64(p.Y[i]), "is not a class; classes are numbered from 0 to %d", p.Classes-1)
		case !(p.C[i] > 0 && rows.Usable(p.C[i])):
			return bad("C", i, p.C[i], "must be a positive number, at most 1e100")
		}
	}
	return nil
}

// upper returns the upper bound of α_im.
func (p *CrammerSinger) upper(i, m int) float64 {
	if m == p.Y[i] {
		return p.C[i]
	}
	return 0
}

// Solve maximises the dual by the sequential dual method (Keerthi, Sundararajan, Chang, Hsieh
// and Lin 2008). For one point after the other it finds the best k variables with all others
// held, in a new random order each epoch. An iteration is an epoch. If K is [Features], Solve
// keeps the w_m, and a visit costs k times the non-zeros of the point. With any other K it
// keeps all g_im = w_m·x_i + e_im. A point that changes then costs its kernel row and n
// operations for each class that changes.
//
// A point violates its optimality condition by
//
//	v_i = max_m g_im − min_m {g_im : α_im below its bound} ≥ 0.
//
// The criterion of s sees max v_i as Up − Low and as KKT; without one it is UpLow{1e-3}.
// Points that violate by little are left out for some epochs (shrinking). Result.Alpha has n·k
// values, the k values of each point together. Limits, interrupts and errors are those of the
// function [Solve]. There is no s.Start, and observers are given α alone.
func (p *CrammerSinger) Solve(ctx context.Context, s Settings) (_ *Result, err error) {
	defer panics.Recover(&err, func() string { return "the criterion or an observer of " + crammerSinger })
	if err := given(ctx, &s); err != nil {
		return nil, err
	}
	if err := p.Check(); err != nil {
		return nil, err
	}
	s.MaxIterations = cmp.Or(s.MaxIterations, 1_000_000)
	if s.Start != nil {
		return nil, fmt.Errorf("solvers: %s: %w: it takes no Start", crammerSinger, ErrUnsupported)
	}
	n, k := len(p.Y), p.Classes
	r := &joint{
		CrammerSinger: *p, began: time.Now(), alpha: make([]float64, n*k), recorder: newRecorder(n * k),
		b: make([]float64, k), next: make([]float64, k), d: make([]float64, 0, k), order: vec.Indices[int](n), size: n,
		rng: rand.New(rand.NewPCG(p.Seed, 0)), res: &Result{Method: crammerSinger}, observers: s.Observers,
	}
	r.trace.Sweep = 1
	if x, ok := p.K.(Features); ok {
		r.x, r.w = x, matrix(k, x.Columns())
	} else {
		r.rows = rows.Check(p.K, badRow)
		r.K, r.g = r.rows, matrix(k, n)
	}
	status, err := r.loop(ctx, s)
	if err != nil {
		return nil, err
	}
	res := r.res
	res.Alpha, res.Trace, res.Status, res.Elapsed, res.Evaluations = r.alpha, r.trace, status, time.Since(r.began), rows.Evaluations(p.K)
	res.Certificate = p.Certify(res.Alpha)
	if status == Interrupted {
		return res, fmt.Errorf("solvers: %s stopped after %d epochs: %w", crammerSinger, res.Iterations, context.Cause(ctx))
	}
	if w := res.Certificate.Dual; w-w != 0 || status == Exhausted && unproven(s.Stop, res.Certificate.RelGap) {
		return res, farOff(res, p.K)
	}
	return res, nil
}

const crammerSinger = "Crammer–Singer, sequential dual"

func matrix(rows, columns int) [][]float64 {
	m := make([][]float64, rows)
	for i := range m {
		m[i] = make([]float64, columns)
	}
	return m
}

// joint is the workspace of a run.
type joint struct {
	CrammerSinger
	recorder
	x      Features      // nil if K is not Features
	rows   *rows.Checked // K, if it is not Features
	w      [][]float64   // k × d, w_m
	g      [][]float64   // k × n, w_m·x_i, to which e_im is added when it is used
	alpha  []float64     // n·k
	b      []float64     // k values of the current point: first g_im, then B_m = g_im − K_ii α_im
	next   []float64     // k values: the new α_im of the current point
	d      []float64     // B_m of the other classes, in decreasing order
	order  []int         // a permutation; its first size entries are the points that are not left out
	size   int
	whole  bool    // the last epoch visited all points
	passed bool    // the last epoch skipped points that violate little
	worst  float64 // the largest violation in the last epoch
	goal   float64 // violation of the remaining points at which all are visited again
	left   int     // epochs until all points are visited again
	rng    *rand.Rand
	began  time.Time
	res    *Result

	observers []Observer
}

func (r *joint) loop(ctx context.Context, s Settings) (Status, error) {
	highest, grew, refreshed, at := -math.MaxFloat64, 0, 0, 0
	far := false // the criterion is met, but W may be half of its maximum
	pt := r.measure()
	grow := func() {
		if pt.Dual > highest+4*0x1p-52*math.Abs(highest) {
			highest, grew = pt.Dual, r.res.Iterations
		}
	}
	for {
		sample := r.res.Iterations >= at
		if sample {
			if r.res.Iterations > 0 {
				pt = r.measure()
			}
			r.record(pt)
			at = r.res.Iterations + stride(s.Every, r.res.Iterations)
			grow()
		}
		status := s.Stop.Met(&pt, &r.trace)
		switch {
		case status != NotTerminated:
		case sample && r.res.Iterations-grew > patienceEpochs:
			status = Exhausted
		case r.res.Iterations >= s.MaxIterations:
			status = IterationLimit
		}
		if status == Converged { // rounding, or values from the middle of an epoch, must not pass for convergence
			if refreshed < 3 || far {
				refreshed++
				r.refresh()
			}
			pt = r.measure()
			status = s.Stop.Met(&pt, &r.trace)
			if far = status == Converged && unproven(s.Stop, pt.RelGap); far {
				status = NotTerminated
				if grow(); r.res.Iterations-grew > patienceEpochs {
					status = Exhausted
				}
			}
		}
		if status == NotTerminated {
			if r.size == len(r.order) && !math.IsNaN(pt.Dual) {
				r.worst = pt.KKT
			}
			moved, err := r.epoch(ctx)
			switch {
			case r.rows != nil && r.rows.Err() != nil:
				return status, r.rows.Err()
			case err != nil:
				status = Interrupted
			case !moved && r.whole && !r.passed:
				status = Exhausted
			default:
				r.res.Iterations++
				pt = r.unmeasured()
				continue
			}
		}
		r.record(r.measure())
		return status, nil
	}
}

// patienceEpochs is the number of epochs after which a run ends if the dual has not grown.
const patienceEpochs = 1000

// refresh computes w or g afresh from α, to remove rounding errors.
func (r *joint) refresh() {
	for _, v := range slices.Concat(r.w, r.g) {
		clear(v)
	}
	alpha := slices.Clone(r.alpha)
	clear(r.alpha)
	for i := range r.Y {
		copy(r.next, alpha[i*r.Classes:])
		r.move(i, r.alpha[i*r.Classes:][:r.Classes])
	}
}

// epoch visits the points that are not left out. It improves those whose violation is at least
// a tenth of the largest in the epoch before. After an epoch over all points, the others are
// left out. All points are visited again once the largest violation of the remaining ones has
// fallen to a tenth, or after twenty epochs.
func (r *joint) epoch(ctx context.Context) (moved bool, err error) {
	n := len(r.order)
	r.whole = r.size == n
	if r.whole {
		r.goal, r.left = r.worst/10, 20
	}
	from, worst, keep := r.worst/10, 0.0, 0
	r.passed = false
	r.rng.Shuffle(r.size, func(a, b int) { r.order[a], r.order[b] = r.order[b], r.order[a] })
	for count, i := range r.order[:r.size] {
		if count&15 == 0 && ctx.Err() != nil {
			return moved, ctx.Err()
		}
		alpha := r.alpha[i*r.Classes:][:r.Classes]
		for m := range r.b {
			r.b[m] = r.e(i, m) + r.dot(i, m)
		}
		v := r.violation(i, r.b, alpha)
		worst = max(worst, v)
		if v < from || v == 0 {
			r.passed = r.passed || v > 0
			continue
		}
		r.order[count], r.order[keep] = r.order[keep], i
		keep++
		a := r.K.Diag()[i]
		for m := range r.b {
			r.b[m] -= a * alpha[m]
		}
		r.best(i, a)
		if r.move(i, alpha) {
			moved = true
		}
		if r.rows != nil && r.rows.Err() != nil {
			return moved, nil
		}
	}
	r.worst = worst
	if r.left--; r.whole {
		r.size = keep
	} else if worst <= r.goal || r.left <= 0 || !moved {
		r.size = n
	}
	r.size = cmp.Or(r.size, n)
	return moved, nil
}

func (p *CrammerSinger) e(i, m int) float64 {
	if m == p.Y[i] {
		return 0
	}
	return 1
}

// dot returns w_m·x_i.
func (r *joint) dot(i, m int) float64 {
	if r.x != nil {
		return r.x.Dot(i, r.w[m])
	}
	return r.g[m][i]
}

// violation returns v_i of point i, given its k values g_im and α_im.
func (p *CrammerSinger) violation(i int, g, alpha []float64) float64 {
	high, low := math.Inf(-1), math.Inf(1)
	for m, v := range g {
		high = max(high, v)
		if alpha[m] < p.upper(i, m) {
			low = min(low, v)
		}
	}
	return max(0, high-low) // low is finite: if all α_im were at their bounds, α_i = (C, 0, …, 0) would not sum to 0
}

// best sets next to the k variables of point i that minimise Σ_m ½ a α_m² + B_m α_m (Keerthi
// et al. §3), where a = K_ii: α_m = min(U_m, (β − B_m)/a), with the upper bounds U_m and the β
// that makes them sum to 0. While α_y is below its bound C, β depends only on differences of
// the B_m. At the bound, β makes the other α_m sum to −C. The two cases use separate sums,
// because a very large or very small C would lose digits in a common sum. If a C = 0, a case
// that the paper leaves out, the objective is linear, and the class of the largest B_m gets
// −C.
func (r *joint) best(i int, a float64) {
	c, y := r.C[i], r.Y[i]
	most := y
	for m, v := range r.b {
		if r.next[m] = 0; v > r.b[most] {
			most = m
		}
	}
	if a*c == 0 {
		r.next[y] += c
		r.next[most] -= c
		return
	}
	if most == y {
		return
	}
	r.d = r.d[:0]
	for m, v := range r.b {
		if m == y {
			continue
		}
		k := len(r.d)
		r.d = append(r.d, v)
		for ; k > 0 && r.d[k-1] < v; k-- { // keeps r.d in decreasing order
			r.d[k] = r.d[k-1]
		}
		r.d[k] = v
	}
	from, sum, beta := r.b[y], 0.0, 0.0 // from is subtracted from all B_m and from beta
	for k, v := range r.d {
		if v -= from; beta >= v {
			break
		}
		sum += v
		beta = sum / float64(k+2)
	}
	bound := beta >= a*c
	if bound {
		from, sum, beta = r.d[0], 0, math.Inf(-1)
		for k, v := range r.d {
			if v -= from; beta >= v {
				break
			}
			sum += v
			beta = (sum - a*c) / float64(k+1)
		}
	}
	rest := 0.0
	for m, v := range r.b {
		if m != y {
			r.next[m] = min(0, (beta-(v-from))/a)
			rest -= r.next[m]
		}
	}
	if r.next[y] = c; !bound {
		r.next[y] = min(c, rest)
	}
}

// move sets α_i to next and updates w or g.
func (r *joint) move(i int, alpha []float64) (moved bool) {
	var row []float64
	for m, a := range r.next {
		step := a - alpha[m]
		if step == 0 {
			continue
		}
		moved = true
		alpha[m] = a
		if r.x != nil {
			r.x.Add(r.w[m], i, step)
			continue
		}
		if row == nil {
			row = r.K.Row(i)
		}
		vec.Axpy(r.g[m], step, row)
	}
	return moved
}

// unmeasured returns the point of an epoch that is not sampled: the largest violation if the
// epoch visited all points, otherwise NaN.
func (r *joint) unmeasured() Point {
	nan := math.NaN()
	pt := Point{Iteration: r.res.Iterations, Elapsed: time.Since(r.began), Primal: nan, Dual: nan, Gap: nan, RelGap: nan,
		KKT: nan, Up: nan, Equality: nan, Margin: nan, Bias: nan, Step: nan, Surrogate: nan}
	if r.whole {
		pt.Up, pt.KKT = r.worst, r.worst
	}
	return pt
}

// measure returns the point of the trace for the current α.
func (r *joint) measure() Point {
	nan, c := math.NaN(), r.certify(r.alpha, r.dot)
	pt := Point{
		Iteration: r.res.Iterations, Elapsed: time.Since(r.began), Primal: c.Primal, Dual: c.Dual, Gap: c.Gap, RelGap: c.RelGap,
		KKT: c.MaxKKT, Up: c.MaxKKT, Equality: c.Equality, Margin: nan, Bias: nan, Step: nan, Free: c.Free, Bound: c.AtUpper,
		Active: r.size, Evaluations: rows.Evaluations(r.K), Surrogate: nan,
	}
	if c.Norm2 > 0 {
		pt.Margin = 1 / math.Sqrt(c.Norm2)
	}
	return pt
}

// record appends pt to the trace and tells the observers.
func (r *joint) record(pt Point) {
	added := r.add(&pt, r.alpha)
	for _, o := range r.observers {
		o(&Iterate{Iteration: pt.Iteration, Alpha: r.alpha, Sweep: 1}, added)
	}
}

// Certify computes the certificate of alpha, n·k values, from alpha alone. The
// gap is, with g_im = w_m·x_i + e_im,
//
//	Σ_i (C_i ξ_i + Σ_m α_im g_im),  ξ_i = max_m g_im − g_{i y_i},
//
// each term ≥ 0. MaxKKT is the largest v_i, Norm2 is Σ ‖w_m‖², Free and AtUpper
// count the points with 0 < α_{i y_i} < C_i and = C_i, Equality is the largest
// |Σ_m α_im|, Bound how far an α is above its bound.
func (p *CrammerSinger) Certify(alpha []float64) Certificate {
	n, k := len(p.Y), p.Classes
	g := matrix(k, n)
	x, linear := p.K.(Features)
	if linear {
		for m := range k {
			w := make([]float64, x.Columns())
			for i := range n {
				if a := alpha[i*k+m]; a != 0 {
					x.Add(w, i, a)
				}
			}
			for i := range n {
				g[m][i] = x.Dot(i, w)
			}
		}
	}
	for i := range n {
		var row []float64
		for m := range k {
			a := alpha[i*k+m]
			if linear || a == 0 {
				continue
			}
			if row == nil {
				row = p.K.Row(i)
			}
			vec.Axpy(g[m], a, row)
		}
	}
	return p.certify(alpha, func(i, m int) float64 { return g[m][i] })
}

func (p *CrammerSinger) certify(alpha []float64, dot func(i, m int) float64) Certificate {
	var c Certificate
	linear := 0.0 // accumulates Σ e_im α_im
	g := make([]float64, p.Classes)
	for i, y := range p.Y {
		a := alpha[i*p.Classes:][:p.Classes]
		high, sum, term := math.Inf(-1), 0.0, 0.0
		for m := range g {
			f := dot(i, m)
			g[m] = f + p.e(i, m)
			high = max(high, g[m])
			sum += a[m]
			c.Norm2 += a[m] * f
			linear += a[m] * p.e(i, m)
			c.Bound = max(c.Bound, a[m]-p.upper(i, m))
		}
		for m := range g { // subtracting g_iy first loses fewer digits
			term += a[m] * (g[m] - g[y])
		}
		c.Gap += p.C[i]*(high-g[y]) + term
		c.Equality = max(c.Equality, math.Abs(sum))
		c.MaxKKT = max(c.MaxKKT, p.violation(i, g, a))
		switch {
		case a[y] >= p.C[i]:
			c.AtUpper++
		case a[y] > 0:
			c.Free++
		}
	}
	c.Dual = -c.Norm2/2 - linear
	c.Primal = c.Dual + c.Gap
	c.BoxGap, c.RelGap = c.Gap, relative(c.Gap, c.Primal)
	return c
}
