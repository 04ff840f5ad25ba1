// Package blocks solves with large working sets on a kernel matrix that computes many values
// at once. Package fastest uses this method for most problems with more than some hundred
// points. Of package solvers it uses exported names only, as a method in a module of your own does.
// Its fast loops are in internal packages.
package blocks

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/svmnb/svmnb/internal/parallel"
	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/solvers"
)

// Decomposition uses working sets of many hundred points on a matrix with [solvers.Blocks]
// (Joachims 1999; Zanghirati and Zanni 2003; Wen et al. 2018, ThunderSVM). The kernel values
// among the points of the set are computed as a product of matrices. Second-order SMO in
// vector instructions solves the problem on these points; this is the inner run. Another
// product of matrices then updates F of all points, which takes most of the time. Some rules
// follow from these costs:
//
//   - Half of the set stays, because points that have just entered move again. The first
//     sets are small, because it is not known yet which points violate. From 50,000 points on,
//     violations are multiplied by random numbers before the largest are chosen. Otherwise
//     the hard problem of docs/performance.md takes up to half as many kernel values more.
//   - If more α are free than fit into a set, they would take turns for a long time. Once
//     at most 4096 variables are active, all of them form one set. From 50,000 points on, sets
//     grow to a quarter of the free α, and to 1/128 of the active variables, because each set
//     has to read all of these. As fewer variables are active, sets become smaller again.
//   - The inner run stops when its violation is a tenth of that of the whole problem, or
//     two or three tenths from 50,000 points on. One of its steps costs less than a
//     hundredth of a row, but it uses only one core. It keeps F in single precision as long as that
//     is precise enough for the violation.
//   - Points at a bound that are far from moving are left out, as in the shrinking of
//     [solvers.SMO], and their F is not updated. When the violation has fallen to 0.03 of
//     its value, their F is updated again, at the cost of a row for each α that has changed.
//     From 50,000 points on, the run goes on until the active variables meet the criterion, and
//     Solve updates F: it keeps the sums in double precision that it computes, so the certificate
//     costs little more at the end.
//   - From 50,000 points on, sets are chosen for a while from a part of the variables that may move, if
//     many may move but few α are free. The part has all free α and the largest violations. When the
//     next part is chosen, F of the variables outside is only estimated, from its changes at 3072 points
//     (parts.go).
//
// Kernel values are rounded to single precision, always in the same way. Up to
// eight kernel values may be summed in single precision; all other sums are in double precision. F is
// therefore that of a matrix that differs from K by at most 2⁻¹⁷ of its largest value, usually by far
// less, and drifts by at most 2⁻²⁰ of what the changes of α add to it. From 50,000 points on, Solve looks every 128 sets whether F has
// drifted too far, and computes it afresh in double precision if so. It does the same before a run is
// called converged. If the criterion is not met then, the run goes on with this F.
//
// Decomposition takes problems with a free bias, also with PerClass, in which every α has an
// upper bound or a ridge. If the matrix has no Blocks, [solvers.Decomposition] runs.
type Decomposition struct {
	// Size is the largest number of variables in a working set, at least 16. 0 means min(1024,
	// max(16, n/4)), and up to 4096 from 50,000 points on.
	Size int
}

// Name is "decomposition in blocks". Result.Method also gives the size.
func (Decomposition) Name() string { return "decomposition in blocks" }

// Choose implements solvers.Chooser.
func (m Decomposition) Choose(p *solvers.Problem) []solvers.Stage {
	if b, _ := solvers.BlocksOf(p.K); b == nil && !p.PerClass {
		return []solvers.Stage{{Method: solvers.Decomposition{Size: m.Size}}}
	}
	return []solvers.Stage{{Method: m}}
}

// Accepts implements solvers.Accepter.
func (m Decomposition) Accepts(p *solvers.Problem) error {
	if m.Size < 0 || m.Size > 0 && m.Size < smallest {
		return &solvers.ProblemError{Field: "Decomposition.Size", Index: -1, Value: float64(m.Size), Msg: fmt.Sprintf("working sets of %d points are too small for blocks; give at least %d, or 0 for the default", m.Size, smallest)}
	}
	if b, _ := solvers.BlocksOf(p.K); b == nil {
		return fmt.Errorf("%w: the kernel matrix has no blocks; use solvers.Decomposition, or SMO", solvers.ErrUnsupported)
	}
	if p.FixedBias {
		return fmt.Errorf("%w: decomposition in blocks moves pairs along s'α = δ, and with a fixed bias there is no such constraint; use GradientAscent or PrimalDual", solvers.ErrUnsupported)
	}
	for i, u := range p.Upper {
		switch {
		case math.IsInf(u, 1) && (p.Ridge == nil || p.Ridge[i] == 0):
			return fmt.Errorf("%w: with an α that has neither an upper bound nor a ridge, single precision may see a maximum where there is none; use SMO", solvers.ErrUnsupported)
		case p.Ridge != nil && p.Ridge[i] > largestRidge:
			return fmt.Errorf("%w: a ridge of %g is too large for single precision; use SMO", solvers.ErrUnsupported, p.Ridge[i])
		}
	}
	return nil
}

// Start implements solvers.Method.
func (m Decomposition) Start(p *solvers.Problem, alpha []float64) (solvers.Stepper, error) {
	return m.StartAt(p, alpha, nil)
}

// StartAt implements solvers.WarmStarter.
func (m Decomposition) StartAt(p *solvers.Problem, alpha, f []float64) (solvers.Stepper, error) {
	if err := m.Accepts(p); err != nil {
		return nil, err
	}
	_, n := solvers.BlocksOf(p.K)
	return newEngine(p, m.Size, alpha, f, n >= many), nil
}

// Resume implements solvers.Resumer.
func (m Decomposition) Resume(p *solvers.Problem, alpha []float64, from *solvers.Saved) (solvers.Stepper, error) {
	n := len(alpha)
	f, keep := make([]float64, n), make([]int, 0, n)
	for v, value := range from.F[:min(n, len(from.F))] {
		if value == value {
			f[v], keep = float64(value), append(keep, v)
		}
	}
	some := len(keep) < n
	if some && (len(from.F) != n || len(from.Base) != n || len(from.BaseF) != n || len(keep) < 2) {
		return m.Start(p, alpha)
	}
	st, err := m.StartAt(p, alpha, f)
	if s, ok := st.(*engine); ok && some {
		copy(s.base, from.Base)
		for v, value := range from.BaseF {
			s.fBase[v] = float64(value)
		}
		s.leave(keep)
		s.ends()
		s.top, s.wide, s.best, s.focused = math.Inf(-1), from.Wide, s.violation(), from.Focused
	}
	return st, err
}

// save returns what Resume needs.
func (s *engine) save() *solvers.Saved {
	saved := &solvers.Saved{Alpha: slices.Clone(s.alpha), F: make([]float32, len(s.f))}
	for v, f := range s.f {
		if saved.F[v] = float32(f); s.stale[v] {
			saved.F[v] = float32(math.NaN())
		}
	}
	if s.partial() {
		saved.Base, saved.BaseF, saved.Wide, saved.Focused = slices.Clone(s.base), make([]float32, len(s.f)), s.wide, s.focused
		for v, f := range s.fBase {
			saved.BaseF[v] = float32(f)
		}
	}
	return saved
}

// engine is the workspace of one run.
type engine struct {
	p       *solvers.Problem
	k       solvers.Blocks
	n       int  // number of points; variable v is a multiplier of point v mod n
	large   bool // there are many points
	size    int  // largest size of a working set, which may grow; room is the limit for the next set
	room    int
	widest  int // largest size of a set of all active variables, and from many points on of any set
	alpha   []float64
	f       []float64 // F, up to date for the active variables only
	base    []float64 // α when F of all variables was last up to date
	fBase   []float64 // F at that time
	noRise  []float64 // −Inf for a variable that cannot rise, else 0; noFall: +Inf for one that cannot fall
	noFall  []float64
	active  []int // variables that are not left out
	on      []int // the points of the active variables; nil means all points
	end     [2]end
	reach   float64 // the largest |F| of the active variables
	free    int     // number of active variables with a free α
	top     float64 // the largest W that was computed from an up-to-date F
	level   int     // how many times in a row W did not exceed top
	best    float64 // the smallest violation since F of all variables was last up to date
	still   int     // steps since the violation last fell by a tenth
	wide    float64 // the violation at the last update of F of all variables, or at the start of a later part
	focused bool    // only a part of the variables is active for a while; see focus
	rough   *estimate
	part    progress // of the present part; its work includes the choice of the part
	parts   progress // of the parts since F of all variables was last up to date
	since   int      // kernel values of the sets since F of the active variables was computed afresh
	due     int      // the number of kernel values that the present part should take
	steps   int      // steps until points may be left out
	step    float64  // length of the last step
	order   []int    // the working set, the oldest variables first
	sets    int      // number of working sets so far
	set     []int    // the working set, sorted by group and index
	bound   [3]int   // set[bound[g]:bound[g+1]] is group g
	in      []bool   // for each variable, whether it is in the working set
	left    []bool   // for each variable, whether it is left out
	stale   []bool   // for each variable, whether its F is only estimated, or as it was when it was left out
	key     []float64
	chosen  []int
	points  []int // points of the working set, or points whose α has changed
	coef    []float64
	sum     []float64
	local   local // the problem on the working set
	values  []float32
	spare   []float32 // memory for the values among the next working set
	known   []int     // the points of values
	up, low []float64 // noRise and noFall of the working set

	rise, fall, diag []float32 // of the working set in single precision; see inSingle
}

// local is the problem on a working set: its α, F, and the diagonal of K with the ridge.
type local struct {
	solvers.Problem
	alpha, f, diag []float64
}

// end describes the variables that share a bias: all variables, or with PerClass those of one
// class. up is the largest F of those whose s α may rise, and low the smallest F of those
// whose s α may fall.
type end struct {
	i       int
	up, low float64
}

var none = end{-1, math.Inf(-1), math.Inf(1)}

const (
	stepsPerVariable = 100     // limit of an inner run, per variable
	fraction         = 0.03    // F of all variables is updated when the violation has fallen to this share
	rare             = 1e-4    // the same from many points on, where it costs a pass over all points for each support vector; the criterion is usually met before
	inner            = 0.1     // an inner run stops at this share of the violation. A smaller one takes more steps on one core and saves no rows
	loose            = 0.3     // the same from many points on, until the sets grow and many α are free: an eighth fewer kernel values
	tight            = 0.2     // the same from then on
	manyFree         = 16      // many α are free if at least 1/16 of the active variables have a free α
	many             = 50_000  // number of points from which Solve keeps the sums of an F computed afresh
	largest          = 1024    // default limit of the size of a working set
	smallest         = 16      // smallest size of a working set
	wide             = 4096    // largest working set of all active variables, or from many points on; its values take 64 MB
	perFree          = 4       // from many points on a set may grow to 1/4 of the number of free α,
	perActive        = 128     // and to 1/128 of that of active variables;
	fewActive        = 16      // later it has at most 1/16 of the active variables, as steps cost more than F then
	first            = 256     // size of the first set, most of whose points will not stay; it doubles with each set
	manySets         = 1024    // number of sets from which F of the active variables is computed afresh at times; see refresh
	between          = 256     // number of sets after which refresh asks whether that is worth it
	perRefresh       = 4       // it is if the sets since then have taken 4 times as many kernel values
	noise            = 0x1p-30 // share of the largest |F|; a smaller violation may be rounding
	patience         = 30      // steps without progress after which a small violation counts as rounding
	fall             = 1e-6    // share of W by which rounding may lower it
	period           = 8       // number of steps between two calls of shrink
	largestRidge     = 1e30    // a larger ridge does not fit into single precision
)

// newEngine starts from alpha and its F. If f is nil, F is computed, from many points on in single
// precision, which takes half the time.
func newEngine(p *solvers.Problem, size int, alpha, f []float64, large bool) *engine {
	b, n := solvers.BlocksOf(p.K)
	m, outdated := len(alpha), f == nil && large
	switch {
	case outdated:
		f = p.FInBlocks(make([]float64, m)) // of α = 0, which takes no kernel values
	case f == nil:
		f = p.FInBlocks(alpha)
	}
	widest := size
	if size == 0 {
		size = min(largest, max(smallest, m/4&^7))
		if widest = size; size == largest {
			widest = wide
		}
	}
	size = min(size, m)
	s := &engine{
		p: p, k: b, n: n, large: large, size: size, room: min(size, first), widest: widest, alpha: alpha, f: f, base: make([]float64, m), fBase: make([]float64, m), step: math.NaN(),
		noRise: make([]float64, m), noFall: make([]float64, m), active: make([]int, m), in: make([]bool, m), left: make([]bool, m), stale: make([]bool, m),
		key: make([]float64, m), chosen: make([]int, m), sum: make([]float64, n),
		up: make([]float64, size), low: make([]float64, size),
	}
	for v := range alpha {
		s.mask(s.noRise, s.noFall, v, p, v, alpha[v])
	}
	if outdated {
		copy(s.fBase, f)
		s.leave(nil)
		s.catchUp(context.Background())
	} else {
		s.restore()
	}
	s.top = s.dual()
	return s
}

// Name implements Namer.
func (s *engine) Name() string {
	return fmt.Sprintf("decomposition (SMO (second order), q = %d, in blocks)", s.size)
}

// mask sets noRise[at] and noFall[at] for variable v of p, whose α is a.
func (*engine) mask(noRise, noFall []float64, at int, p *solvers.Problem, v int, a float64) {
	noRise[at], noFall[at] = 0, 0
	if !p.CanRise(v, a) {
		noRise[at] = math.Inf(-1)
	}
	if !p.CanFall(v, a) {
		noFall[at] = math.Inf(1)
	}
}

// restore makes all variables active. F must be up to date for all of them.
func (s *engine) restore() {
	s.activateAll()
	clear(s.left)
	clear(s.stale)
	s.on, s.steps, s.focused = nil, 0, false
	s.ends()
	s.wide = s.violation()
	s.best, s.still = s.wide, 0
}

func (s *engine) activateAll() {
	s.active = s.active[:len(s.alpha)]
	for v := range s.active {
		s.active[v] = v
	}
}

// group returns the index of the variable's group in end.
func (s *engine) group(v int) int {
	if s.p.PerClass && s.p.S[v] > 0 {
		return 1
	}
	return 0
}

// ends computes up and low of each group, and free, and reports whether F is finite.
func (s *engine) ends() bool {
	type part struct {
		end    [2]end
		reach  float64
		free   int
		finite bool
	}
	parts := make([]part, pieces(len(s.active)))
	share(len(s.active), func(k, from, to int) {
		p := part{end: [2]end{none, none}}
		e, sum := &p.end[0], 0.0
		for _, v := range s.active[from:to] {
			f, rise, fall := s.f[v], s.noRise[v], s.noFall[v]
			if s.p.PerClass {
				e = &p.end[s.group(v)]
			}
			if a := math.Abs(f); a > p.reach {
				p.reach = a
			}
			if up := f + rise; up > e.up {
				e.up = up
			}
			if low := f + fall; low < e.low {
				e.low = low
			}
			if rise == 0 && fall == 0 {
				p.free++
			}
			sum += f - f
		}
		p.finite = sum == 0 // otherwise some F is NaN or infinite
		parts[k] = p
	})
	finite := true
	s.end, s.reach, s.free = [2]end{none, none}, 0, 0
	for _, p := range parts {
		for g := range s.end {
			s.end[g].up, s.end[g].low = max(s.end[g].up, p.end[g].up), min(s.end[g].low, p.end[g].low)
		}
		s.reach, s.free, finite = max(s.reach, p.reach), s.free+p.free, finite && p.finite
	}
	return finite
}

// piece is the number of variables that a goroutine looks at together. Results do not depend on it.
var piece = 1 << 16

func pieces(n int) int { return (n + piece - 1) / piece }

// share calls do for the pieces of n variables, on several goroutines. Piece k has the variables i
// with from ≤ i < to.
func share(n int, do func(k, from, to int)) {
	_ = parallel.For(context.Background(), min(pieces(n), runtime.GOMAXPROCS(0)), pieces(n), func(_, k int) {
		do(k, k*piece, min((k+1)*piece, n))
	})
}

// worstOf returns the group with the largest violation.
func worstOf(e *[2]end) *end {
	if e[1].up-e[1].low > e[0].up-e[0].low {
		return &e[1]
	}
	return &e[0]
}

func (s *engine) violation() float64 { return worstOf(&s.end).up - worstOf(&s.end).low }

// spent reports whether the remaining violation is only rounding.
func (s *engine) spent() bool { return s.still > patience && s.best <= noise*s.reach }

func (s *engine) partial() bool { return len(s.active) < len(s.alpha) }

// Report implements Stepper.
func (s *engine) Report(it *solvers.Iterate) {
	e := worstOf(&s.end)
	it.Alpha, it.F, it.Step, it.Up, it.Low = s.alpha, s.f, s.step, e.up, e.low
	it.Active, it.Sweep, it.Single, it.Save = len(s.active), max(1, len(s.alpha)/s.size), true, s.save
	if s.partial() {
		it.F, it.Partial = nil, true
	}
	if !math.IsNaN(s.step) {
		it.Working = s.order
	}
}

func (s *engine) Refresh(f []float64) {
	copy(s.f, f)
	s.restore()
	s.top, s.level = s.dual(), 0
}

// Complete implements Completer.
func (s *engine) Complete(ctx context.Context) (f []float64, all bool) {
	return s.f, !s.partial() || s.catchUp(ctx)
}

// looked is the largest number of variables at which Drift computes F afresh.
const looked = 512

// Drift implements solvers.Drifter. It looks at active variables, but not at those whose F is an estimate. In a part,
// the violation is that of all variables at its start. An error that is the same in every F changes
// no violation, and with many points most of the error is the same, so half of the spread counts.
func (s *engine) Drift(ctx context.Context) (drift, violation float64) {
	coef := make([]float64, s.n)
	for v, a := range s.alpha {
		coef[v%s.n] -= s.p.S[v] * a
	}
	s.points, s.coef = s.points[:0], s.coef[:0]
	for i, c := range coef {
		if c != 0 {
			s.points, s.coef = append(s.points, i), append(s.coef, c)
		}
	}
	fresh := slices.DeleteFunc(slices.Clone(s.active), func(v int) bool { return s.stale[v] })
	some, on := make([]int, min(looked, len(fresh))), make([]int, 0, looked)
	for k := range some {
		some[k] = fresh[k*len(fresh)/len(some)]
		on = append(on, some[k]%s.n)
	}
	sum := make([]float64, len(on))
	if s.k.AddTo(ctx, sum, nil, on, s.points, s.coef, true) != nil {
		return math.Inf(1), s.violation()
	}
	least, most := math.Inf(1), math.Inf(-1)
	for k, v := range some {
		linear := s.p.P[v]
		if s.p.Ridge != nil {
			linear += s.p.Ridge[v] * s.alpha[v]
		}
		off := sum[k] - s.p.S[v]*linear - s.f[v]
		least, most = min(least, off), max(most, off)
	}
	drift = max(0, (most-least)/2)
	if s.focused {
		return drift, s.wide
	}
	return drift, s.violation()
}

// catchUp updates F of the variables that were left out. It reports false when ctx ends before
// it is done.
func (s *engine) catchUp(ctx context.Context) bool {
	s.changes()
	if !s.renew(ctx, s.stalePoints(nil), s.points, s.coef) {
		return false
	}
	s.restore()
	return true
}

// accumulate computes the change of F: it sets s.sum to Σ coef K over s.points, at the points
// of the list on. A nil list means all points.
func (s *engine) accumulate(ctx context.Context, on []int) bool {
	m := s.n
	if on != nil {
		m = len(on)
	}
	clear(s.sum[:m])
	s.part.taken += m * len(s.points)
	s.since += m * len(s.points)
	return s.k.AddTo(ctx, s.sum[:m], nil, on, s.points, s.coef, false) == nil
}

// refresh computes F of the active variables from F at the last update of all variables, with kernel
// values in double precision, if that takes few values compared with the sets since then: the rounding
// errors of many sets add up.
func (s *engine) refresh(ctx context.Context) bool {
	s.changes()
	if s.since < perRefresh*len(s.on)*len(s.points) {
		return true
	}
	s.since = 0
	if !s.fromBase(ctx, s.on, true, s.points, s.coef, true) {
		return false
	}
	s.ends()
	return true
}

// Step optimises one working set.
func (s *engine) Step(ctx context.Context) (done bool, err error) {
	if s.partial() && s.large && s.violation() <= rare*s.wide && !s.spent() {
		return true, nil // the active variables are done; Solve computes F of all, and goes on if any violate
	}
	if s.partial() && (!s.large && s.violation() <= fraction*s.wide || s.spent()) {
		if !s.catchUp(ctx) {
			return false, ctx.Err()
		}
		s.steps = 2 // no shrinking in this step, so that the gap can be measured after it
	}
	if !(s.violation() > 0) || s.spent() {
		return true, nil
	}
	if s.steps--; s.steps <= 0 {
		s.steps = period
		if !s.focus() {
			s.shrink()
		}
	}
	if s.large && s.partial() && s.sets > manySets && s.sets%between == 0 && !s.refresh(ctx) {
		return false, ctx.Err()
	}
	s.choose()
	if !s.pose() {
		return false, s.blame()
	}
	stop := inner
	switch {
	case s.large && (s.size <= largest || manyFree*s.free < len(s.active)):
		stop = loose
	case s.large:
		stop = tight
	}
	s.solve(ctx, stop*s.violation())
	s.points, s.coef = s.points[:0], s.coef[:0]
	for k, v := range s.set {
		if d := s.local.alpha[k] - s.alpha[v]; d != 0 {
			s.points, s.coef = append(s.points, v%s.n), append(s.coef, -s.p.S[v]*d)
			s.part.gain += s.p.S[v] * d * s.f[v] / 2 // the other half is added when F has changed
		}
	}
	if len(s.points) == 0 {
		if s.partial() && s.catchUp(ctx) {
			return false, nil
		}
		return ctx.Err() == nil, ctx.Err()
	}
	if !s.accumulate(ctx, s.on) {
		return false, ctx.Err() // α and F are unchanged
	}
	for from := 0; from < len(s.f); from += s.n {
		f := s.f[from : from+s.n]
		if s.on == nil {
			vec.Axpy(f, 1, s.sum)
			continue
		}
		share(len(s.on), func(_, from, to int) {
			for r := from; r < to; r++ { // this also changes F of a left-out variable whose partner at the same point is active; catchUp corrects it
				f[s.on[r]] += s.sum[r]
			}
		})
	}
	s.step = math.Sqrt(vec.Dot(s.coef, s.coef))
	for k, v := range s.set {
		a := s.local.alpha[k]
		d := a - s.alpha[v]
		if s.p.Ridge != nil {
			s.f[v] -= s.p.S[v] * s.p.Ridge[v] * d
		}
		s.part.gain += s.p.S[v] * d * s.f[v] / 2
		s.alpha[v] = a
		s.mask(s.noRise, s.noFall, v, s.p, v, a)
	}
	if !s.ends() {
		return false, s.blame()
	}
	if s.still++; s.violation() < 0.9*s.best {
		s.best, s.still = s.violation(), 0
	}
	// This comes last, so that a criterion is asked about points that have been looked at.
	if (s.focused || s.rough != nil && s.partial()) && s.over() && !s.moveOn(ctx) && !s.catchUp(ctx) {
		return false, ctx.Err()
	}
	return !s.partial() && !s.climbs(), nil
}

// climbs reports whether W still grows. F must be up to date for all variables. In exact
// arithmetic W cannot fall.
func (s *engine) climbs() bool {
	w := s.dual()
	if w > s.top {
		s.top, s.level = w, 0
		return true
	}
	s.level++
	return s.level <= patience && s.top-w <= fall*math.Abs(s.top)
}

// dual computes W. F must be up to date for all variables.
func (s *engine) dual() float64 {
	w := 0.0
	for v, a := range s.alpha {
		if a != 0 {
			w += a * (s.p.S[v]*s.f[v] - s.p.P[v]) / 2
		}
	}
	return w
}

// shrink leaves out variables that are far from moving, if these are at least a quarter, or from
// many points on a tenth.
func (s *engine) shrink() {
	keep := s.near()
	most := 3 * len(s.active) / 4
	if s.large {
		most = 9 * len(s.active) / 10
	}
	if len(keep) < 2 || len(keep) > most {
		return
	}
	if !s.partial() {
		s.mark()
	}
	s.leave(keep)
}

// near returns the active variables that may move soon: all but those at a bound whose F is beyond
// both ends, on the side that keeps them at this bound.
func (s *engine) near() []int {
	keep := s.chosen[:0]
	for _, v := range s.active {
		f, e := s.f[v], &s.end[s.group(v)]
		if s.noRise[v] != 0 && f > e.up || s.noFall[v] != 0 && f < e.low {
			continue
		}
		keep = append(keep, v)
	}
	return keep
}

// mark keeps α and F, which must be up to date for all variables, for catchUp.
func (s *engine) mark() {
	copy(s.base, s.alpha)
	copy(s.fBase, s.f)
	s.wide = s.violation()
	s.due, s.part, s.parts = 0, progress{}, progress{}
}

// leave leaves out all variables but some.
func (s *engine) leave(keep []int) {
	for v := range s.left {
		s.left[v] = true
	}
	s.active = append(s.active[:0], keep...)
	for _, v := range s.active {
		s.left[v] = false
	}
	for v, left := range s.left {
		s.stale[v] = s.stale[v] || left
	}
	s.on = s.on[:0]
	for i := range s.n {
		if !s.left[i] || s.n < len(s.left) && !s.left[s.n+i] {
			s.on = append(s.on, i)
		}
	}
	s.order = slices.DeleteFunc(s.order, func(v int) bool {
		s.in[v] = s.in[v] && !s.left[v]
		return s.left[v]
	})
}

// choose fills the working set. Half of the last set stays, namely the variables that entered
// last. The rest is taken from both ends of F, as BothEnds does.
func (s *engine) choose() {
	s.sets++
	for _, v := range s.order {
		s.in[v] = false
	}
	if s.large && s.size < s.widest {
		for goal := max(s.free/perFree, len(s.active)/perActive); 2*s.size <= min(s.widest, goal); {
			s.size *= 2
		}
	}
	size := s.room
	s.room = min(2*s.room, s.size)
	for s.large && size > largest && fewActive*size > len(s.active) {
		size /= 2
	}
	if s.crowded() {
		size = len(s.active) &^ (simd.SingleLanes - 1)
	}
	stay := max(0, min(len(s.order), size/2, size-4)) // leaves room for the worst pair of each group
	s.order = append(s.order[:0], s.order[len(s.order)-stay:]...)
	for _, v := range s.order {
		s.in[v] = true
	}
	s.set = s.set[:0]
	for g := range s.groups() {
		e := &s.end[g]
		goal := len(s.order) + (size-len(s.order))/(s.groups()-g)
		s.take((goal-len(s.order))/2, g, s.noRise, 1, -e.low)
		s.take(goal-len(s.order), g, s.noFall, -1, e.up)
	}
	for g := range s.groups() {
		for _, v := range s.order {
			if s.group(v) == g {
				s.set = append(s.set, v)
			}
		}
		slices.Sort(s.set[s.bound[g]:]) // kernel rows are read in increasing order
		s.bound[g+1] = len(s.set)
	}
}

// crowded reports whether all active variables should form the next working set, because more
// α are free than fit into an ordinary set. With many points, sets grow instead.
func (s *engine) crowded() bool {
	return !s.large && len(s.active) <= s.widest && len(s.active) > s.size && s.free > s.size
}

func (s *engine) groups() int {
	if s.p.PerClass {
		return 2
	}
	return 1
}

// take adds variables of a group to the working set: those with the largest keys side·(F +
// mask) + from, as far as the keys are > 0, and at most count variables. From many points on, each key
// but the largest is multiplied by a random number first.
func (s *engine) take(count, group int, mask []float64, side, from float64) {
	keys, at, n := s.key, s.chosen, 0
	most := s.end[group].up - s.end[group].low
	counts := make([]int, pieces(len(s.active)))
	share(len(s.active), func(k, begin, end int) {
		n := begin
		for _, v := range s.active[begin:end] {
			key := float64(side*(s.f[v]+mask[v])) + from
			if key > 0 && !s.in[v] && (!s.p.PerClass || s.group(v) == group) {
				if s.large && key < most { // the worst pair always enters, so each set has a pair that can move
					key *= luck(v, s.sets)
				}
				keys[n], at[n] = key, v
				n++
			}
		}
		counts[k] = n - begin
	})
	for k, count := range counts {
		if begin := k * piece; begin > n {
			copy(keys[n:], keys[begin:][:count])
			copy(at[n:], at[begin:][:count])
		}
		n += count
	}
	if count < n {
		foremost(keys[:n], at[:n], count)
		n = count
	}
	for _, v := range at[:n] {
		s.in[v] = true
	}
	s.order = append(s.order, at[:n]...)
}

// luck returns a pseudorandom number u with 0 ≤ u < 1. It is a hash of the variable v and of the number of
// the working set (the last steps of SplitMix64, Steele et al. 2014). So a run is the same
// on any number of goroutines.
func luck(v, set int) float64 {
	h := uint64(v)<<32 + uint64(set) + 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return float64((h^h>>31)>>11) * 0x1p-53
}

// foremost moves the largest keys to the front, as many as count says, in any order, by
// quickselect (Hoare 1961). at is permuted in the same way.
func foremost(keys []float64, at []int, count int) {
	lo, hi := 0, len(keys)-1
	for lo < hi {
		pivot, i, j := keys[lo+(hi-lo)/2], lo, hi
		for i <= j {
			for keys[i] > pivot {
				i++
			}
			for keys[j] < pivot {
				j--
			}
			if i <= j {
				keys[i], keys[j] = keys[j], keys[i]
				at[i], at[j] = at[j], at[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case count <= j:
			hi = j
		case count >= i:
			lo = i
		default:
			return
		}
	}
}

// pose sets local to the problem on the working set: its α, F and K, with the ridge on the
// diagonal. It reports whether the diagonal is finite.
func (s *engine) pose() (finite bool) {
	p, w, m := s.p, &s.local, len(s.set)
	q := &w.Problem
	w.alpha, w.f, w.diag = w.alpha[:0], w.f[:0], w.diag[:0]
	q.S, q.Lower, q.Upper = q.S[:0], q.Lower[:0], q.Upper[:0]
	s.points = s.points[:0]
	for _, v := range s.set {
		w.alpha, w.f = append(w.alpha, s.alpha[v]), append(w.f, s.f[v])
		q.S, q.Lower, q.Upper = append(q.S, p.S[v]), append(q.Lower, p.Lower[v]), append(q.Upper, p.Upper[v])
		s.points = append(s.points, v%s.n)
	}
	if m > len(s.up) {
		s.up, s.low = make([]float64, m), make([]float64, m)
	}
	dst, was, known := s.spare, s.values, s.known
	if m > s.size && m*m > cap(dst) && m*m <= cap(was) { // avoids a second matrix of this size
		dst, known, s.values = was, nil, s.spare
	}
	if m*m > cap(dst) {
		side := max(m, s.size)
		dst = make([]float32, side*side)
	}
	dst = dst[:m*m]
	s.k.Among(dst, s.points, was, known)
	s.values, s.spare = dst, s.values
	s.known = append(s.known[:0], s.points...)
	finite = true
	for k, v := range s.set {
		kk := &s.values[k*m+k]
		if p.Ridge != nil {
			*kk += float32(p.Ridge[v])
		}
		w.diag = append(w.diag, float64(*kk))
		s.up[k], s.low[k] = s.noRise[v], s.noFall[v]
		finite = finite && *kk-*kk == 0
	}
	return finite
}

// blame looks for the kernel value that has made F infinite or NaN.
func (s *engine) blame() error {
	for _, i := range s.points {
		s.p.K.Row(i) // Row notes an error if a value is not finite
	}
	return &solvers.ProblemError{Field: "K", Index: -1, Value: math.NaN(), Msg: "kernel values leave the range of single precision; scale the features, or use SMO"}
}
