package solvers

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/svmnb/svmnb/internal/rows"
)

// replay is the largest number of changed α that a trace keeps; each takes 16 bytes.
const replay = 4 << 20

// recorder builds the trace of a run.
type recorder struct {
	trace   Trace
	last    []float64 // α at the last point
	kept    int       // number of changed α that the trace has
	changed []int     // scratch of add
	indices slab[int] // memory for the slices of the points
	values  slab[float64]
}

func newRecorder(n int) recorder {
	return recorder{trace: Trace{N: n}, last: make([]float64, n), changed: make([]int, 0, n)}
}

// add appends a point with the α that have changed since the point before. If the last point
// has the same iteration, the new one replaces it: F was computed afresh, or the step was
// interrupted.
func (r *recorder) add(measured *Point, alpha []float64) *Point {
	r.changed = r.changed[:0]
	last := r.last
	for i := 0; i < len(last); {
		if i+4 <= len(last) && [4]float64(alpha[i:]) == [4]float64(last[i:]) { // skips four α at once, as most have not changed
			i += 4
			continue
		}
		if alpha[i] != last[i] {
			r.changed, last[i] = append(r.changed, i), alpha[i]
		}
		i++
	}
	t, k := &r.trace, len(r.trace.Points)
	var before Point
	if k > 0 && t.Points[k-1].Iteration == measured.Iteration {
		k--
		before = t.Points[k]
	}
	if r.kept += len(r.changed); r.kept > replay && t.Cut == 0 && k > 0 {
		t.Cut = k
	}
	t.Points = append(t.Points[:k], *measured)
	pt := &t.Points[k]
	if t.Cut == 0 {
		pt.Changed = r.indices.join(before.Changed, r.changed)
		pt.Alpha = r.values.take(len(pt.Changed))
		copy(pt.Alpha, before.Alpha)
		for k, i := range r.changed {
			pt.Alpha[len(before.Alpha)+k] = last[i]
		}
	}
	return pt
}

// record appends a measured point to the trace and tells the observers.
func (r *run) record(measured *Point) {
	pt := r.add(measured, r.it.Alpha)
	pt.Working = r.indices.join(r.it.Working, nil)
	r.tell(r.judges, pt, theCriterion)
	r.tell(r.settings.Observers, pt, anObserver)
	r.next = r.it.Iteration + stride(r.settings.Every, r.it.Iteration)
}

// tell shows a point to observers.
func (r *run) tell(observers []Observer, pt *Point, whose code) {
	if len(observers) == 0 {
		return
	}
	r.within = whose
	seen := r.seen()
	for _, o := range observers {
		o(seen, pt)
	}
	r.within = theMethod
}

// stride returns the distance in iterations between recorded points; see Settings.Every.
func stride(every, iteration int) int {
	switch {
	case every < 0:
		return math.MaxInt / 2
	case every > 0:
		return every
	}
	return max(1, iteration/100)
}

// seen returns the iterate as observers see it, for the origin of the user's problem.
func (r *run) seen() *Iterate {
	it := r.it
	if !it.Partial && (it.F == nil || it.Rough) {
		it.F, it.Rough = r.known, false
	}
	if r.offset == nil {
		return &it
	}
	moved := r.p.moved(r.offset, r.it.Alpha)
	it.F = slices.Clone(it.F)
	for i := range it.F {
		it.F[i] -= moved
	}
	it.Up, it.Low, it.Bias = it.Up-moved, it.Low-moved, it.Bias-moved
	return &it
}

// slab allocates many short slices from a few large ones, which costs less.
type slab[T any] struct{ free []T }

func (s *slab[T]) take(n int) []T {
	if n == 0 {
		return nil
	}
	if n > len(s.free) {
		s.free = make([]T, max(n, 256))
	}
	taken := s.free[:n:n]
	s.free = s.free[n:]
	return taken
}

func (s *slab[T]) join(a, b []T) []T {
	c := s.take(len(a) + len(b))
	copy(c[copy(c, a):], b)
	return c
}

// f returns F of all points.
func (r *run) f() []float64 {
	if r.it.F != nil && !r.it.Rough {
		return r.it.F
	}
	if c, ok := r.st.(Completer); ok {
		f, _ := c.Complete(context.Background())
		return f
	}
	return r.p.F(r.it.Alpha)
}

// measure makes a point of the current iterate in O(n).
func (r *run) measure(elapsed time.Duration) Point {
	it, p := &r.it, r.p
	if it.Partial {
		return r.unmeasured(elapsed)
	}
	f := r.f()
	r.known = f
	s := p.summarise(it.Alpha, f)
	pt := Point{
		Iteration: it.Iteration, Elapsed: elapsed, Dual: s.dual, KKT: s.kkt, Up: s.up, Low: s.low,
		Equality: s.equality, Margin: math.NaN(), Bias: s.bias, Step: it.Step,
		Free: s.free, Bound: s.atUpper, Active: it.Active, Evaluations: rows.Evaluations(r.given.K), Surrogate: it.Surrogate,
	}
	if s.norm2 > 0 {
		pt.Margin = 1 / math.Sqrt(s.norm2)
	}
	if p.isHard() {
		pt.Primal = p.hardPrimal(f, s.norm2)
		pt.Gap = pt.Primal - pt.Dual
	} else {
		pt.Gap = p.gapAt(it.Alpha, f, s.b)
		if !math.IsNaN(it.Bias) {
			if gap := p.gapAt(it.Alpha, f, biases{it.Bias, it.Bias}); gap < pt.Gap {
				pt.Gap, pt.Bias = gap, it.Bias
			}
		}
		pt.Primal = pt.Dual + pt.Gap
	}
	pt.RelGap = relative(pt.Gap, pt.Primal)
	if math.IsInf(pt.Primal, 1) {
		pt.Primal, pt.Gap, pt.RelGap = math.NaN(), math.NaN(), math.NaN()
	}
	if r.offset != nil {
		r.moveBack(&pt, s.norm2)
	}
	return pt
}

// moveBack converts the values of pt that depend on the origin from the centred problem to
// that of the user.
func (r *run) moveBack(pt *Point, norm2 float64) {
	alpha := r.it.Alpha
	moved, sum := r.p.moved(r.offset, alpha), r.p.Delta
	pt.Bias, pt.Up, pt.Low = pt.Bias-moved, pt.Up-moved, pt.Low-moved
	if !r.p.balanced(alpha) { // if s'α ≠ δ, the two problems also differ in W
		sum = 0
		for i, a := range alpha {
			sum += r.p.S[i] * a
		}
		more := (sum - r.p.Delta) * moved
		pt.Dual, pt.Primal = pt.Dual-more, pt.Primal-more
	}
	if norm2 += 2 * sum * moved; norm2 > 0 {
		pt.Margin = 1 / math.Sqrt(norm2)
	}
}

// unmeasured returns the point of an iterate whose F is not known for all points.
func (r *run) unmeasured(elapsed time.Duration) Point {
	it, nan := &r.it, math.NaN()
	pt := Point{
		Iteration: it.Iteration, Elapsed: elapsed, Primal: nan, Dual: nan, Gap: nan, RelGap: nan, KKT: r.p.worst(it.Up, it.Low), Up: it.Up, Low: it.Low,
		Equality: r.p.equality(it.Alpha), Margin: nan, Bias: (it.Up + it.Low) / 2, Step: it.Step, Active: it.Active, Evaluations: rows.Evaluations(r.given.K), Surrogate: nan,
	}
	for i, a := range it.Alpha {
		if a > r.p.Lower[i] {
			if a < r.p.Upper[i] {
				pt.Free++
			} else {
				pt.Bound++
			}
		}
	}
	if r.offset != nil {
		r.moveBack(&pt, nan)
	}
	return pt
}
