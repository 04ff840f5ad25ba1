package solvers

import (
	"context"
	"fmt"
	"math"

	"github.com/svmnb/svmnb/internal/simd"
)

// SMO is sequential minimal optimisation (Platt 1998; CST §7.5; ST). Each step chooses a pair
// (i, j) by Selection and maximises W over its two α exactly, with all other α held. It solves
// every Problem with a free bias. With a fixed bias no pair is needed, and SMO reduces to
// coordinate ascent (CST Remark 7.16).
//
// With F_i = −s_i (Qα + p)_i, which is y_i − Σ_j α_j y_j K_ij for
// classification, a step moves s_iα_i up and s_jα_j down by t (ST's Δα form of
// CST Theorem 7.12; F_i − F_j is the book's E_j − E_i):
//
//	t = (F_i − F_j) / κ  clipped to the box,  κ = K_ii + K_jj − 2K_ij
//	F_k ← F_k − t (K_ik − K_jk)
type SMO struct {
	Selection Selection

	// Tol is the tolerance of the KKT conditions with which Platt and Simplified begin; 0
	// means 1e-3. When a full sweep finds no violation and the criterion is not met, they
	// divide it by ten.
	Tol float64

	// Seed is the seed of the random places where Platt's searches start.
	Seed uint64

	// PairsOnly restricts SecondOrder to steps on pairs. Otherwise one step moves all free α
	// at once after every 50 n steps (at least 1000); see face.go.
	PairsOnly bool

	// Shrinking leaves points at a bound out of the steps of SecondOrder and WorstPair while
	// they are far from moving; see shrinking.go.
	Shrinking bool
}

// Selection is the rule by which SMO chooses its pair.
type Selection int

const (
	// SecondOrder takes the i that violates most and the j that promises the
	// largest gain (F_i − F_j)²/κ (Fan, Chen and Lin 2005, WSS 2; ST).
	SecondOrder Selection = iota
	// WorstPair takes the pair that violates most: the i with the largest F in I_up and the j
	// with the smallest F in I_low (Keerthi et al. 2001, modification 2; WSS 1).
	WorstPair
	// Platt uses the two heuristics of CST §7.5.2; see platt.go.
	Platt
	// Simplified takes every pair in turn, as Wang's and Ng's notes do; see
	// simplified.go.
	Simplified
	// Keerthi1 and Keerthi2 are the two modifications of Platt's algorithm by
	// Keerthi et al. (2001); see keerthi.go.
	Keerthi1
	Keerthi2
)

var selectionNames = [...]string{"second order", "worst pair", "Platt", "simplified", "Keerthi 1", "Keerthi 2"}

func (s Selection) String() string { return nameOf("Selection", selectionNames[:], int(s)) }

// Name returns, for example, "SMO (second order)".
func (m SMO) Name() string {
	if m.Shrinking {
		return "SMO (" + m.Selection.String() + ", shrinking)"
	}
	return "SMO (" + m.Selection.String() + ")"
}

// Start implements Method. It refuses a fixed bias and an unknown Selection.
func (m SMO) Start(p *Problem, alpha []float64) (Stepper, error) {
	return m.StartAt(p, alpha, nil)
}

// WantsFeatures implements FeatureReader. Platt and Simplified gain from w, since they use
// single F_i.
func (m SMO) WantsFeatures(Shape) bool { return m.Selection == Platt || m.Selection == Simplified }

// Accepts implements Accepter. It refuses a fixed bias. With PerClass it also refuses a
// Selection that takes pairs across the classes.
func (m SMO) Accepts(p *Problem) error {
	switch {
	case p.FixedBias:
		return fmt.Errorf("%w: SMO moves pairs along s'α = δ, and with a fixed bias there is no such constraint; use GradientAscent or PrimalDual", ErrUnsupported)
	case !(m.Tol >= 0) || math.IsInf(m.Tol, 1):
		return &ProblemError{"SMO.Tol", -1, m.Tol, fmt.Sprintf("the tolerance is %g; it must be ≥ 0 (0 means 1e-3)", m.Tol)}
	case m.Selection < 0 || int(m.Selection) >= len(selectionNames):
		return fmt.Errorf("%w: there is no %v", ErrUnsupported, m.Selection)
	case m.Shrinking && m.Selection != SecondOrder && m.Selection != WorstPair:
		return fmt.Errorf("%w: shrinking compares with the worst pair, which the selection %v does not know; use SecondOrder or WorstPair", ErrUnsupported, m.Selection)
	case m.Shrinking && p.PerClass:
		return fmt.Errorf("%w: shrinking knows one worst pair, and ν-SVC has one in each class; leave Shrinking out", ErrUnsupported)
	case p.PerClass && m.Selection != SecondOrder && m.Selection != WorstPair:
		return fmt.Errorf("%w: the selection %v takes pairs across the classes, and ν-SVC has a sum to keep in each; use SecondOrder or WorstPair", ErrUnsupported, m.Selection)
	}
	return nil
}

// StartAt implements WarmStarter.
func (m SMO) StartAt(p *Problem, alpha, f []float64) (Stepper, error) {
	if err := m.Accepts(p); err != nil {
		return nil, err
	}
	if m.Shrinking {
		return newShrinking(p, alpha, f, m), nil
	}
	w := pairsAt(p, alpha, f)
	switch {
	case p.PerClass:
		return newPerClass(w, m), nil
	case m.Selection == Platt:
		return newPlatt(w, m), nil
	case m.Selection == Simplified:
		return newSimplified(w, m), nil
	case m.Selection == Keerthi1 || m.Selection == Keerthi2:
		return newKeerthi(w, m), nil
	}
	return newGreedy(w, m), nil
}

// pairs is the workspace that all selections share: α, F and the exact solution for a pair.
type pairs struct {
	p       *Problem
	alpha   []float64
	f       []float64 // F, maintained
	diag    []float64 // K_ii + ridge_i
	last    float64   // length of the last step
	working [2]int
	moved   bool
}

// pairsAt prepares the workspace from alpha and its F. It computes F if f is nil.
func pairsAt(p *Problem, alpha, f []float64) pairs {
	if f == nil {
		f = p.F(alpha)
	}
	return pairs{p: p, alpha: alpha, f: f, diag: p.diagonal(), last: math.NaN()}
}

func (w *pairs) report(it *Iterate) {
	it.Alpha, it.F, it.Step = w.alpha, w.f, w.last
	if w.moved {
		it.Working = w.working[:]
	}
}

// Refresh implements Refresher.
func (w *pairs) Refresh(f []float64) { copy(w.f, f) }

func (w *pairs) rise(i int) float64 { return w.p.Rise(i, w.alpha[i]) }
func (w *pairs) fall(i int) float64 { return w.p.Fall(i, w.alpha[i]) }
func (w *pairs) free(i int) bool    { return w.alpha[i] > w.p.Lower[i] && w.alpha[i] < w.p.Upper[i] }

// pairStep returns the t that maximises slope·t − ½κt² over lo ≤ t ≤ hi, where lo ≤ 0 ≤ hi.
// For κ ≤ 0 (duplicate points, or a kernel that is not positive semi-definite) it returns the
// better end, or 0 if neither gains. If this end is infinite, so is the result.
func pairStep(slope, kappa, lo, hi float64) float64 {
	if kappa > 0 {
		return min(max(slope/kappa, lo), hi)
	}
	best, gain := 0.0, 0.0
	for _, t := range [2]float64{lo, hi} {
		mean := slope // mean of the derivative between 0 and t
		if kappa < 0 {
			mean -= kappa * t / 2
		}
		if g := t * mean; g > gain {
			best, gain = t, g
		}
	}
	return best
}

// curvature returns κ of the pair for a step of at most room. If κ is below its rounding
// error, it returns this error, which gives the longest step that surely ascends. It returns 0
// only if the step has no limit and there is no ridge: the dual is then unbounded.
func (w *pairs) curvature(i, j int, kij, room float64) float64 {
	sum := w.diag[i] + w.diag[j]
	kappa, noise := sum-2*kij, 4*0x1p-52*sum
	if math.Abs(kappa) > noise {
		return kappa
	}
	if math.IsInf(room, 0) && w.p.Ridge == nil {
		return 0
	}
	return noise
}

// solve moves s_iα_i up and s_jα_j down by the best t for the pair and returns t. The caller
// must still update F for the kernel rows. A step inside the box is not made if it is smaller
// than the relative size tiny (Platt's test) or too small to change the sum of the two α.
func (w *pairs) solve(i, j int, kij, tiny float64) (t float64, err error) {
	hi := min(w.rise(i), w.fall(j))
	lo := -min(w.fall(i), w.rise(j))
	slope, room := w.f[i]-w.f[j], hi
	if slope < 0 {
		room = lo
	}
	t = pairStep(slope, w.curvature(i, j, kij, room), lo, hi)
	switch {
	case t == 0:
		return 0, nil
	case math.IsInf(t, 0) || math.IsNaN(t):
		return 0, ErrUnbounded
	case t != lo && t != hi:
		sum := math.Abs(w.alpha[i]) + math.Abs(w.alpha[j])
		if math.Abs(t) <= tiny*(sum+tiny) || sum+t == sum {
			return 0, nil
		}
	}
	w.take(i, j, t)
	return t, nil
}

// take moves s_iα_i up and s_jα_j down by t, and updates F for their ridge.
func (w *pairs) take(i, j int, t float64) {
	w.move(i, t)
	w.move(j, -t)
	w.f[i] -= t * w.p.ridge(i)
	w.f[j] += t * w.p.ridge(j)
	w.working, w.moved, w.last = [2]int{i, j}, true, math.Abs(t)*math.Sqrt2
}

// optimise calls solve and then updates F with the two kernel rows.
func (w *pairs) optimise(i, j int, tiny float64) (t float64, err error) {
	ki := w.p.K.Row(i)
	t, err = w.solve(i, j, ki[j], tiny)
	if t == 0 || err != nil {
		return 0, err
	}
	kj, f := w.p.K.Row(j)[:len(ki)], w.f[:len(ki)]
	for k, v := range ki {
		f[k] -= t * (v - kj[k])
	}
	return t, nil
}

// move adds t to s_i α_i.
func (w *pairs) move(i int, t float64) { w.alpha[i] = w.p.Moved(i, w.alpha[i], t) }

// greedy is SMO with the worst violating pair or second-order information.
type greedy struct {
	pairs
	second  bool
	i, j    int     // the worst violating pair; −1 if no point can rise or none can fall
	up, low float64 // m and M of the current α

	// The search for the pair adds noRise or noFall to F. An entry is 0, but −Inf in noRise if
	// the point cannot rise and +Inf in noFall if it cannot fall.
	noRise, noFall []float64

	wide   face
	steps  int  // pair steps since the last face step
	every  int  // pair steps between two face steps; 0 means no face steps
	widely bool // the last step was a face step
}

func newGreedy(w pairs, m SMO) *greedy {
	n := len(w.alpha)
	s := &greedy{pairs: w, second: m.Selection == SecondOrder, noRise: make([]float64, n), noFall: make([]float64, n)}
	if s.second && !m.PairsOnly {
		s.every = max(1000, pairsPerFace*n)
	}
	for i := range n {
		s.sign(i)
	}
	s.scan()
	return s
}

// pairRule has the parts of a step that differ between greedy and tube.
type pairRule interface {
	sign(i int)                                        // updates noRise and noFall
	best(i, j int, kij float64) (t float64, err error) // moves the pair; see pairs.solve
	climb(ctx context.Context) (moved bool, err error) // makes a face step
}

func (s *greedy) sign(i int) {
	s.noRise[i], s.noFall[i] = 0, 0
	s.mask(i)
}

func (s *greedy) best(i, j int, kij float64) (t float64, err error) { return s.solve(i, j, kij, 0) }

func (s *greedy) climb(ctx context.Context) (moved bool, err error) {
	return s.wide.climb(ctx, &s.pairs)
}

// mask excludes point i from the search if it cannot rise or cannot fall.
func (s *greedy) mask(i int) {
	if !s.p.CanRise(i, s.alpha[i]) {
		s.noRise[i] = math.Inf(-1)
	}
	if !s.p.CanFall(i, s.alpha[i]) {
		s.noFall[i] = math.Inf(1)
	}
}

func (s *greedy) Report(it *Iterate) {
	s.report(it)
	it.Up, it.Low = s.up, s.low
	if s.widely {
		it.Working = s.wide.free
	}
}

func (s *greedy) Refresh(f []float64) {
	s.pairs.Refresh(f)
	s.scan()
}

// Step optimises one pair, or at times makes a face step. Then it finds the worst pair.
func (s *greedy) Step(ctx context.Context) (done bool, err error) { return s.step(ctx, s) }

func (s *greedy) step(ctx context.Context, by pairRule) (done bool, err error) {
	if !(s.up > s.low) || s.i < 0 || s.j < 0 {
		return true, nil
	}
	s.widely = false
	if s.steps++; s.steps == s.every {
		s.steps = 0
		if s.widely, err = by.climb(ctx); s.widely || err != nil {
			for i := range s.alpha {
				by.sign(i)
			}
			s.scan()
			return false, err
		}
	}
	i, j := s.i, s.j
	ki := s.p.K.Row(i)
	if s.second {
		j = s.partner(ki)
	}
	t, err := by.best(i, j, ki[j])
	if t == 0 && err == nil && j != s.j { // the gain was lost to rounding; the worst pair may still move
		j = s.j
		t, err = by.best(i, j, ki[j])
	}
	if t == 0 {
		return true, err
	}
	by.sign(i)
	by.sign(j)
	s.shift(ki, s.p.K.Row(j), t)
	return false, nil
}

// shift updates F for the step t with the rows ki and kj. In the same pass it finds m, M and
// the points that attain them. Of equal values the last i and the first j are taken, as in
// LIBSVM. SMO spends its time in this pass and in partner.
func (s *greedy) shift(ki, kj []float64, t float64) {
	s.i, s.j, s.up, s.low = simd.SMOPair(s.f, ki, kj, s.noRise, s.noFall, t)
}

// scan finds m and M without a change of F.
func (s *greedy) scan() { s.shift(s.diag, s.diag, 0) }

// partner returns the j that promises the largest gain (F_i − F_j)²/κ, given the row ki of i.
// Of equal gains the last j is taken, as in LIBSVM.
func (s *greedy) partner(ki []float64) int {
	if j, _ := simd.SMOPartner(s.f, s.noFall, ki, s.diag, s.up, s.diag[s.i], 1e-12); j >= 0 {
		return j
	}
	return s.j
}
