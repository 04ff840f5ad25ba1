package solvers

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/svmnb/svmnb/internal/rows"
)

// replay is how many changed α the trace keeps, 16 bytes each.
const replay = 4 << 20

// recorder is a trace that grows.
type recorder struct {
	trace   Trace
	last    []float64 // α at the last point
	kept    int       // how many α the deltas have
	changed []int     // workspace of add
	indices slab[int] // of the points
	values  slab[float64]
}

func newRecorder(n int) recorder {
	return recorder{trace: Trace{N: n}, last: make([]float64, n), changed: make([]int, 0, n)}
}

// add appends a point with what has changed since the one before. A point that is measured
// again, with F afresh or after a step cut short, takes the place of the first measurement.
func (r *recorder) add(measured *Point, alpha []float64) *Point {
	r.changed = r.changed[:0]
	last := r.last
	for i := 0; i < len(last); {
		if i+4 <= len(last) && [4]float64(alpha[i:]) == [4]float64(last[i:]) { // as most are
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
	r.within = anObserver
	if len(r.settings.Observers) > 0 {
		seen := r.seen()
		for _, o := range r.settings.Observers {
			o(seen, pt)
		}
	}
	r.within = theMethod
	r.next = r.it.Iteration + stride(r.settings.Every, r.it.Iteration)
}

// stride is how many iterations the trace passes over, as in Settings.Every.
func stride(every, iteration int) int {
	switch {
	case every < 0:
		return math.MaxInt / 2
	case every > 0:
		return every
	}
	return max(1, iteration/100)
}

// seen is the iterate as observers see it, about the origin of the programme.
func (r *run) seen() *Iterate {
	if r.offset == nil {
		return &r.it
	}
	it, moved := r.it, r.p.moved(r.offset, r.it.Alpha)
	it.F = slices.Clone(it.F)
	for i := range it.F {
		it.F[i] -= moved
	}
	it.Up, it.Low, it.Bias = it.Up-moved, it.Low-moved, it.Bias-moved
	return &it
}

// slab is memory for many short slices, which costs less than one by one.
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
		return c.Complete(context.Background())
	}
	return r.p.F(r.it.Alpha)
}

// measure fills a point from the iterate in O(n).
func (r *run) measure(elapsed time.Duration) Point {
	it, p := &r.it, r.p
	if it.Partial {
		return r.unmeasured(elapsed)
	}
	f := r.f()
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

// moveBack gives what depends on the origin the value that it has about that of the
// programme.
func (r *run) moveBack(pt *Point, norm2 float64) {
	alpha := r.it.Alpha
	moved, sum := r.p.moved(r.offset, alpha), r.p.Delta
	pt.Bias, pt.Up, pt.Low = pt.Bias-moved, pt.Up-moved, pt.Low-moved
	if !r.p.balanced(alpha) { // of an iterate on its way the two differ in W too
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

// unmeasured is a point of an iterate whose F is not known for all points.
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
