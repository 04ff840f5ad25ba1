package solvers

import (
	"context"
	"fmt"
	"math"

	"github.com/svmnb/svmnb/internal/vec"
)

// workingSet is what Chunking and Decomposition share: α and F of all points, and the problem
// on a few of them, the working set B, with the α of the others, N, held. This problem is a
// Problem as well,
//
//	minimise   ½ α_B'Q_BB α_B + p_B'α_B,  s_B'α_B = δ − s_N'α_N
//	with       p_B = p + Q_BN α_N = (Qα + p)_B − Q_BB α_B = −s_B F_B − Q_BB α_B
//
// ("a model for the residuum", ST), so any Method can solve it, even another Decomposition.
// Every working set contains the pair that violates most, which makes these methods converge
// (Lin 2001; Keerthi and Gilbert 2002; Chen, Fan and Lin 2006; CST §7.4 still says "no
// theoretical proof"). A step that would lower W is not made, so W rises from step to step.
type workingSet struct {
	p     *Problem
	inner Method
	alpha []float64 // α of all points
	f     []float64 // F of all points
	newF  []float64 // scratch: the next F
	flat2 float64   // the result of flatness

	i, j    int // the points that attain up and low; −1 if no point may rise or none may fall
	up, low float64
	step    float64 // length of the last step

	set   []int // the working set; slot k of sub is point set[k]
	in    []bool
	next  []int // the next working set
	chose []bool
	sub   Problem
	block block
	size  float64      // Σ|α|
	start []float64    // α_B
	own   [2][]float64 // α_B and F_B of the inner run
	it    Iterate      // the last report of the inner run

	rows         [2][]float64
	idx          []int
	coef         []float64
	holes, fresh []int
	key          []float64
	heap         []int
}

// newWorkingSet prepares a run. Before any computation it checks that inner accepts the
// problems on working sets.
func newWorkingSet(p *Problem, alpha, f []float64, inner Method) (*workingSet, error) {
	n := len(alpha)
	if f == nil {
		f = p.F(alpha)
	}
	w := &workingSet{
		p: p, inner: inner, alpha: alpha, f: f, step: math.NaN(), flat2: p.flatness(),
		newF: make([]float64, n), in: make([]bool, n), chose: make([]bool, n), key: make([]float64, n),
	}
	w.ends()
	if err := w.probe(); err != nil {
		return nil, err
	}
	return w, nil
}

// probe asks inner whether it accepts the problem of the worst pair, with p ≠ −1 and δ ≠ 0, as
// problems on working sets have them.
func (w *workingSet) probe() error {
	w.addPair()
	if err := w.settle(context.Background()); err != nil || len(w.set) == 0 {
		return err
	}
	w.pose()
	q := w.sub
	q.P, q.Delta = append([]float64(nil), q.P...), 0
	x := append([]float64(nil), w.start...)
	for k := range x {
		q.P[k] = q.P[k]*float64(k+2) - 0.5
		x[k] += min(float64(k+1), (q.Upper[k]-x[k])/2)
		if !q.FixedBias {
			q.Delta += q.S[k] * x[k]
		}
	}
	if _, err := w.inner.Start(&q, x); err != nil {
		return fmt.Errorf("inner method %s: %w", w.inner.Name(), err)
	}
	return nil
}

// Report implements Stepper.
func (w *workingSet) Report(it *Iterate) {
	it.Alpha, it.F, it.Step = w.alpha, w.f, w.step
	it.Up, it.Low, it.Sweep = w.up, w.low, max(1, len(w.alpha)/max(1, len(w.set)))
	if !math.IsNaN(w.step) {
		it.Working, it.Active = w.set, len(w.set)
	}
}

func (w *workingSet) Refresh(f []float64) {
	copy(w.f, f)
	w.ends()
}

// ends finds the pair that violates most or, with a fixed bias, the point that violates most
// on each side. Of equal values the later i and the earlier j are taken, as in SMO with
// WorstPair.
func (w *workingSet) ends() {
	w.i, w.j, w.up, w.low = -1, -1, math.Inf(-1), math.Inf(1)
	if w.p.FixedBias {
		w.up, w.low = w.bias(), w.bias()
	}
	for k, f := range w.f {
		a := w.alpha[k]
		if f >= w.up && w.p.CanRise(k, a) {
			w.i, w.up = k, f
		}
		if f < w.low && w.p.CanFall(k, a) {
			w.j, w.low = k, f
		}
	}
}

// begin starts the choice of the next working set; add, addPair and pick add points to it.
func (w *workingSet) begin() {
	for _, i := range w.next {
		w.chose[i] = false
	}
	w.next = w.next[:0]
}

func (w *workingSet) add(i int) {
	if i >= 0 && !w.chose[i] {
		w.chose[i] = true
		w.next = append(w.next, i)
	}
}

// addPair adds the pair that violates most.
func (w *workingSet) addPair() {
	w.add(w.i)
	w.add(w.j)
}

// pick adds the k points with the largest keys that are not chosen yet. Points with the key
// −Inf are excluded. Of equal keys the earlier points are taken.
func (w *workingSet) pick(k int) {
	h := w.heap[:0] // a heap of the k best so far, the worst of them first
	worse := func(a, b int) bool {
		return w.key[a] < w.key[b] || w.key[a] == w.key[b] && a > b
	}
	down := func(at int) {
		for {
			c := 2*at + 1
			if c >= len(h) {
				return
			}
			if c+1 < len(h) && worse(h[c+1], h[c]) {
				c++
			}
			if !worse(h[c], h[at]) {
				return
			}
			h[at], h[c] = h[c], h[at]
			at = c
		}
	}
	for i, v := range w.key {
		switch {
		case math.IsInf(v, -1) || w.chose[i]:
		case len(h) < k:
			h = append(h, i)
			if len(h) == k {
				for at := k/2 - 1; at >= 0; at-- {
					down(at)
				}
			}
		case k > 0 && v > w.key[h[0]]:
			h[0] = i
			down(0)
		}
	}
	for _, i := range h {
		w.add(i)
	}
	w.heap = h
}

// violations sets the keys to the violations of the KKT conditions at the bias midway between
// up and low, in units of y f. The key of a point without violation is −Inf.
func (w *workingSet) violations() {
	b := w.bias()
	for i, f := range w.f {
		v := 0.0
		if w.p.CanRise(i, w.alpha[i]) {
			v = f - b
		}
		if w.p.CanFall(i, w.alpha[i]) {
			v = max(v, b-f)
		}
		if !(v > 0) {
			v = math.Inf(-1)
		}
		w.key[i] = v
	}
}

func (w *workingSet) bias() float64 {
	if w.p.FixedBias {
		return w.p.Bias
	}
	return (w.up + w.low) / 2
}

// innerFraction is the fraction to which an inner run reduces the violation. A more accurate
// solution would be wasted on points that will change again.
const innerFraction = 0.1

// advance makes the chosen points the working set, solves the problem on it and takes over the
// solution. done reports that W has not grown.
func (w *workingSet) advance(ctx context.Context) (done bool, err error) {
	if err := w.settle(ctx); err != nil {
		for _, i := range w.set {
			w.in[i] = false
		}
		w.set = w.set[:0] // some of its rows are missing
		return false, err
	}
	w.pose()
	if err := w.solve(ctx, innerFraction*(w.up-w.low)); err != nil {
		if ctx.Err() != nil && w.it.Alpha != nil && w.gain() > 0 {
			soon, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
			defer cancel()
			return false, w.take(soon) // keeps the gain of this working set
		}
		return false, err
	}
	if !(w.gain() > 0) {
		return true, nil
	}
	return false, w.take(ctx)
}

// settle makes next the working set. A point that stays keeps its slot, so only the rows of
// new points are copied.
func (w *workingSet) settle(ctx context.Context) error {
	holes, fresh := w.holes[:0], w.fresh[:0]
	for k, i := range w.set {
		if !w.chose[i] {
			holes = append(holes, k)
			w.in[i] = false
		}
	}
	w.holes = holes
	for extra := len(w.set) - len(w.next); extra > 0; extra-- {
		hole, last := holes[len(holes)-1], len(w.set)-1
		holes = holes[:len(holes)-1]
		if hole != last {
			w.set[hole] = w.set[last]
			w.block.move(hole, len(w.set))
		}
		w.set = w.set[:last]
	}
	for _, i := range w.next {
		switch {
		case w.in[i]:
			continue
		case len(holes) > 0:
			fresh = append(fresh, holes[0])
			w.set[holes[0]] = i
			holes = holes[1:]
		default:
			fresh = append(fresh, len(w.set))
			w.set = append(w.set, i)
		}
		w.in[i] = true
	}
	w.block.resize(len(w.set))
	w.fresh, w.idx = fresh, w.idx[:0]
	for _, k := range fresh {
		w.idx = append(w.idx, w.set[k])
	}
	return w.eachTwo(ctx, w.idx, func(at int, rows [][]float64) {
		for t, row := range rows {
			w.block.put(fresh[at+t], row, w.set)
		}
	})
}

// eachTwo calls do with the rows of the points idx, in order and two at a time, since only the
// last two rows stay valid. In a call, rows[t] belongs to idx[at+t]. It stops when ctx ends.
func (w *workingSet) eachTwo(ctx context.Context, idx []int, do func(at int, rows [][]float64)) error {
	for at := 0; at < len(idx); at += 2 {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows := w.rows[:0]
		for _, i := range idx[at:min(at+2, len(idx))] {
			rows = append(rows, w.p.K.Row(i))
		}
		do(at, rows)
	}
	return nil
}

// pose sets sub to the problem on the working set.
func (w *workingSet) pose() {
	p, q := w.p, &w.sub
	w.start = w.start[:0]
	q.S, q.P, q.Lower, q.Upper = q.S[:0], q.P[:0], q.Lower[:0], q.Upper[:0]
	for _, i := range w.set {
		w.start = append(w.start, w.alpha[i])
		q.S = append(q.S, p.S[i])
		q.P = append(q.P, -p.S[i]*w.f[i])
		q.Lower = append(q.Lower, p.Lower[i])
		q.Upper = append(q.Upper, p.Upper[i])
	}
	for k, a := range w.start {
		if a == 0 {
			continue
		}
		b := q.S[k] * a
		for t, v := range w.block.Row(k) {
			q.P[t] -= b * q.S[t] * v
		}
	}
	if p.Ridge != nil {
		q.Ridge = q.Ridge[:0]
		for k, i := range w.set {
			q.Ridge = append(q.Ridge, p.Ridge[i])
			q.P[k] -= p.Ridge[i] * w.start[k]
		}
	}
	q.K, q.FixedBias, q.Bias, q.Delta = &w.block, p.FixedBias, p.Bias, p.Delta
	w.size = 0
	for i, a := range w.alpha {
		w.size += math.Abs(a)
		if !w.in[i] {
			q.Delta -= p.S[i] * a
		}
	}
}

// solve runs the inner method on sub until its violation is at most tol or it cannot improve
// any more. Its last report is in w.it.
func (w *workingSet) solve(ctx context.Context, tol float64) error {
	w.it = Iterate{}
	w.own[0], w.own[1] = append(w.own[0][:0], w.start...), w.own[1][:0]
	for _, i := range w.set {
		w.own[1] = append(w.own[1], w.f[i])
	}
	st, err := startAt(w.inner, &w.sub, w.own[0], w.own[1])
	if err != nil {
		return err
	}
	limit := 1000 + 100*len(w.set)
	done, look := false, 0
	for k := 0; ; k++ {
		it := &w.it
		*it = Iterate{Iteration: k, Up: math.NaN(), Low: math.NaN(), Step: math.NaN()}
		st.Report(it)
		v := it.Up - it.Low
		if it.F == nil || math.IsNaN(v) { // the method does not know its violation: compute it at times
			v = math.Inf(1)
			if k >= look {
				f := it.F
				if f == nil {
					f = w.sub.F(it.Alpha)
				}
				s := w.sub.summarise(it.Alpha, f)
				v = s.up - s.low
				look = k + 1 + k/8
			}
		}
		if done || v <= tol && w.balanced() || k >= limit {
			return nil
		}
		if done, err = st.Step(ctx); err != nil {
			if ctx.Err() != nil {
				st.Report(it)
			}
			return err
		}
		if err := ctx.Err(); err != nil {
			st.Report(it)
			return err
		}
	}
}

// balanced reports whether the inner α satisfies the equality constraint up to rounding in
// s_N'α_N.
func (w *workingSet) balanced() bool {
	return w.sub.equality(w.it.Alpha) <= 1e-12*w.size+1e-8*l1(w.it.Alpha)
}

// gain returns by how much the inner solution raises W. It is the change of α times the mean
// of the gradients s (F − b) before and after, which is exact for a quadratic function. If the
// bias is free, any b gives the same value, and one near F loses least to rounding. It is −Inf
// for an α that violates the equality constraint.
func (w *workingSet) gain() float64 {
	if !w.balanced() {
		return math.Inf(-1)
	}
	b, f := w.bias(), w.it.F
	if f == nil {
		f = w.sub.F(w.it.Alpha)
	}
	sum := 0.0
	for k, i := range w.set {
		if d := w.it.Alpha[k] - w.start[k]; d != 0 {
			sum += w.sub.S[k] * d * ((w.f[i] - b) + (f[k] - b)) / 2
		}
	}
	return sum
}

// take sets α of the working set to the inner solution and updates F with the rows of the α
// that have changed. If ctx ends before, nothing has changed.
func (w *workingSet) take(ctx context.Context) error {
	w.idx, w.coef = w.idx[:0], w.coef[:0]
	for k, i := range w.set {
		if d := w.it.Alpha[k] - w.start[k]; d != 0 {
			w.idx, w.coef = append(w.idx, i), append(w.coef, w.p.S[i]*d)
		}
	}
	copy(w.newF, w.f)
	err := w.eachTwo(ctx, w.idx, func(at int, rows [][]float64) { subtract(w.newF, w.coef[at:], rows) })
	if err != nil {
		return err
	}
	for k, i := range w.idx {
		w.newF[i] -= w.coef[k] * w.p.ridge(i)
	}
	w.f, w.newF = w.newF, w.f
	for k, i := range w.set {
		w.alpha[i] = w.it.Alpha[k]
	}
	w.step = math.Sqrt(vec.Dot(w.coef, w.coef))
	w.ends()
	if w.flat2 > 0 && w.p.inseparable(w.alpha, w.p.summarise(w.alpha, w.f).norm2, w.flat2) {
		return ErrUnbounded
	}
	return nil
}

// subtract subtracts c_k rows[k] from f, for one or two rows.
func subtract(f, c []float64, rows [][]float64) {
	first := rows[0][:len(f)]
	if len(rows) == 1 {
		vec.Axpy(f, -c[0], first)
		return
	}
	second := rows[1][:len(f)]
	for i, v := range first {
		f[i] -= c[0]*v + c[1]*second[i]
	}
}
