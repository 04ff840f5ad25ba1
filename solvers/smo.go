package solvers

import (
	"context"
	"fmt"
	"math"
)

// SMO is sequential minimal optimisation: the pair (i, j) that Selection
// chooses is optimised exactly, all other α kept (Platt 1998; CST §7.5; ST). It
// solves every Problem with a free bias; with a fixed bias no pair is needed
// and SMO reduces to coordinate ascent (CST Remark 7.16).
//
// With F_i = −s_i (Qα + p)_i, which is y_i − Σ_j α_j y_j K_ij for
// classification, a step moves s_iα_i up and s_jα_j down by t (ST's Δα form of
// CST Theorem 7.12; F_i − F_j is the book's E_j − E_i):
//
//	t = (F_i − F_j) / κ  clipped to the box,  κ = K_ii + K_jj − 2K_ij
//	F_k ← F_k − t (K_ik − K_jk)
type SMO struct {
	Selection Selection

	// Tol is the tolerance of the KKT conditions at which Platt and Simplified
	// begin; 0 means 1e-3. They tighten it tenfold whenever a full sweep finds
	// nothing to do and the run has not been stopped.
	Tol float64

	// Seed starts the random places of Platt's sweeps.
	Seed uint64
}

// Selection is the rule by which SMO chooses its pair.
type Selection int

const (
	// SecondOrder takes the i that violates most and the j that promises the
	// largest gain (F_i − F_j)²/κ (Fan, Chen and Lin 2005, WSS 2; ST, whose
	// "arg min" and missing restriction to F_j < F_i are slips).
	SecondOrder Selection = iota
	// WorstPair takes the pair that violates most: i of the largest F in I_up, j
	// of the smallest F in I_low (Keerthi et al. 2001, modification 2; WSS 1).
	WorstPair
	// Platt takes the two heuristics of CST §7.5.2; see platt.go.
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

func (s Selection) String() string {
	if s < 0 || int(s) >= len(selectionNames) {
		return fmt.Sprintf("Selection(%d)", int(s))
	}
	return selectionNames[s]
}

// Name is "SMO (second order)" and the like.
func (m SMO) Name() string { return "SMO (" + m.Selection.String() + ")" }

// Start implements Method. It refuses a fixed bias and an unknown Selection.
func (m SMO) Start(p *Problem, alpha []float64) (Stepper, error) {
	if p.FixedBias {
		return nil, fmt.Errorf("%w: SMO moves pairs along s'α = δ, and with a fixed bias there is no such constraint; use GradientAscent", ErrUnsupported)
	}
	if !(m.Tol >= 0) || math.IsInf(m.Tol, 1) {
		return nil, &ProblemError{"SMO.Tol", -1, m.Tol, fmt.Sprintf("the tolerance is %g; it must be ≥ 0 (0 means 1e-3)", m.Tol)}
	}
	w := newPairs(p, alpha)
	switch m.Selection {
	case SecondOrder, WorstPair:
		s := &greedy{pairs: w, second: m.Selection == SecondOrder}
		s.choose()
		return s, nil
	case Platt:
		return newPlatt(w, m), nil
	case Simplified:
		return newSimplified(w, m), nil
	case Keerthi1, Keerthi2:
		return newKeerthi(w, m), nil
	}
	return nil, fmt.Errorf("%w: there is no %v", ErrUnsupported, m.Selection)
}

// pairs is the workspace that all selections share: α, F and the exact solution
// for two points.
type pairs struct {
	p       *Problem
	alpha   []float64
	f       []float64 // F, maintained
	diag    []float64 // K_ii + ridge_i
	last    float64   // length of the last step
	working [2]int
	moved   bool
}

func newPairs(p *Problem, alpha []float64) pairs {
	w := pairs{p: p, alpha: alpha, f: p.residual(alpha), diag: append([]float64(nil), p.K.Diag()...), last: math.NaN()}
	for i, d := range w.diag {
		if p.Ridge != nil {
			w.diag[i] = d + p.Ridge[i]
		}
	}
	return w
}

func (w *pairs) report(it *Iterate) {
	it.Alpha, it.F, it.Step = w.alpha, w.f, w.last
	if w.moved {
		it.Working = w.working[:]
	}
}

// refresh takes over an F computed afresh.
func (w *pairs) refresh(f []float64) { copy(w.f, f) }

// rise and fall are how far s_i α_i can move up and down.
func (w *pairs) rise(i int) float64 {
	if w.p.S[i] > 0 {
		return w.p.Upper[i] - w.alpha[i]
	}
	return w.alpha[i] - w.p.Lower[i]
}

func (w *pairs) fall(i int) float64 {
	if w.p.S[i] > 0 {
		return w.alpha[i] - w.p.Lower[i]
	}
	return w.p.Upper[i] - w.alpha[i]
}

// pairStep maximises slope·t − ½κt² over lo ≤ t ≤ hi, where lo ≤ 0 ≤ hi. For
// κ ≤ 0 (duplicates, kernels that are not positive semi-definite) the maximum
// is at an end: the better of the two, 0 if neither gains (CST Theorem 7.12
// divides by κ without a guard). hi may be +Inf, then so may the result.
func pairStep(slope, kappa, lo, hi float64) float64 {
	if kappa > 0 {
		return min(max(slope/kappa, lo), hi)
	}
	best, gain := 0.0, 0.0
	for _, t := range [2]float64{lo, hi} {
		if t != 0 {
			if g := t * (slope - kappa*t/2); g > gain {
				best, gain = t, g
			}
		}
	}
	return best
}

// optimise solves the two-point problem of (i, j), whose rows of K are given,
// and reports the step of s_iα_i that it has made. A step of which no α moves
// by more than relative tiny is not made (Platt's test; W compares with the
// KKT tolerance, in other units, and forgets to restore α_j).
func (w *pairs) optimise(i, j int, ki, kj []float64, tiny float64) (t float64, err error) {
	kappa := w.diag[i] + w.diag[j] - 2*ki[j]
	if noise := 4 * 0x1p-52 * (w.diag[i] + w.diag[j]); math.Abs(kappa) <= noise {
		kappa = 0
	}
	hi := min(w.rise(i), w.fall(j))
	lo := -min(w.fall(i), w.rise(j))
	t = pairStep(w.f[i]-w.f[j], kappa, lo, hi)
	if math.IsInf(t, 0) || math.IsNaN(t) {
		return 0, ErrUnbounded
	}
	if a := math.Abs(t); a == 0 || a <= tiny*(math.Abs(w.alpha[i])+math.Abs(w.alpha[j])+tiny) && t != hi && t != lo {
		return 0, nil
	}
	w.move(i, t)
	w.move(j, -t)
	for k, v := range ki {
		w.f[k] -= t * (v - kj[k])
	}
	if w.p.Ridge != nil {
		w.f[i] -= t * w.p.Ridge[i]
		w.f[j] += t * w.p.Ridge[j]
	}
	w.working, w.moved, w.last = [2]int{i, j}, true, math.Abs(t)*math.Sqrt2
	return t, nil
}

// move adds t to s_i α_i and lands exactly on a bound that it reaches.
func (w *pairs) move(i int, t float64) {
	d := w.p.S[i] * t
	switch {
	case d >= w.p.Upper[i]-w.alpha[i]:
		w.alpha[i] = w.p.Upper[i]
	case -d >= w.alpha[i]-w.p.Lower[i]:
		w.alpha[i] = w.p.Lower[i]
	default:
		w.alpha[i] += d
	}
}

// greedy is SMO with the worst violating pair or second-order information. The
// pair of the next step is chosen as soon as F is known, so that m and M are
// those of the current α.
type greedy struct {
	pairs
	second  bool
	i, j    int
	up, low float64
	ki      []float64
	steps   int
}

func (s *greedy) Report(it *Iterate) {
	s.report(it)
	it.Up, it.Low = s.up, s.low
}

func (s *greedy) refresh(f []float64) {
	s.pairs.refresh(f)
	s.choose()
}

func (s *greedy) Step(context.Context) (done bool, err error) {
	if s.i < 0 || s.j < 0 {
		return true, nil
	}
	t, err := s.optimise(s.i, s.j, s.ki, s.p.K.Row(s.j), 0)
	if err != nil || t == 0 {
		return true, err
	}
	s.choose()
	return false, nil
}

// choose finds m, M and the next pair. Among equals the later i and, by second
// order, the later j win, as in LIBSVM; the worst pair takes the earlier j. i or
// j is −1 when no pair violates.
func (s *greedy) choose() {
	p := s.p
	s.i, s.up = -1, math.Inf(-1)
	for k, f := range s.f {
		if f >= s.up && p.canRise(k, s.alpha[k]) {
			s.i, s.up = k, f
		}
	}
	s.j, s.low = -1, math.Inf(1)
	if s.i < 0 || !s.second {
		for k, f := range s.f {
			if f < s.low && p.canFall(k, s.alpha[k]) {
				s.j, s.low = k, f
			}
		}
		if s.i >= 0 && s.j >= 0 && s.up > s.low {
			s.ki = p.K.Row(s.i)
		} else {
			s.i = -1
		}
		return
	}
	s.ki = p.K.Row(s.i)
	best := math.Inf(-1)
	for k, f := range s.f {
		if !p.canFall(k, s.alpha[k]) {
			continue
		}
		s.low = min(s.low, f)
		if d := s.up - f; d > 0 {
			kappa := s.diag[s.i] + s.diag[k] - 2*s.ki[k]
			if kappa <= 0 {
				kappa = 1e-12
			}
			if gain := d * d / kappa; gain >= best {
				s.j, best = k, gain
			}
		}
	}
}
