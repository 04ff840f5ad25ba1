package solvers

import (
	"cmp"
	"context"
	"fmt"
	"math"
)

// Perceptron is Rosenblatt's perceptron in dual form with a kernel. It serves as a baseline:
// it separates the classes, but does not look for a large margin (N §7 names it; CST Remark
// 7.9). It visits the points in turn and counts for each how often it was on the wrong side,
//
//	if y_i Σ_j m_j y_j K_ij ≤ 0:  m_i ← m_i + 1,
//
// which is gradient descent on Σ max(0, −y_i f_i). (CST calls this loss the linear
// ε-insensitive one with ε = 0. That one is |y − f|, which has two sides; the hinge loss of
// the 1-norm soft margin is max(0, 1 − y_i f_i).) The run stops after an epoch without
// mistakes. If the classes are separable with margin γ through the origin and lie within
// radius R, there are at most (R/γ)² mistakes in all (Novikoff).
//
// The perceptron does not maximise W. It reports the best feasible multiple of its counts, α =
// t m with the t ≥ 0 that maximises W(t m) inside the box. This α describes the same
// hyperplane, and its gap says how far it is from the SVM. The gap does not go to zero and may
// even rise. The bias is fixed at 0. With the kernel K + R² the method is the perceptron with
// bias of CST chapter 2.
//
// An iteration is an epoch of n visits, one of each point.
type Perceptron struct {
	// Epochs is the largest number of epochs; 0 means 100. If no hyperplane separates the
	// classes, mistakes never end.
	Epochs int
}

// Name is "perceptron".
func (Perceptron) Name() string { return "perceptron" }

// Start implements Method. It takes the given α as the first counts. It refuses all problems
// other than classification with the bias fixed at 0.
func (m Perceptron) Start(p *Problem, alpha []float64) (Stepper, error) {
	if m.Epochs < 0 {
		return nil, &ProblemError{"Perceptron.Epochs", -1, float64(m.Epochs), fmt.Sprintf("is %d; it must be ≥ 0 (0 means 100)", m.Epochs)}
	}
	m.Epochs = cmp.Or(m.Epochs, 100)
	if !p.FixedBias || p.Bias != 0 {
		return nil, fmt.Errorf("%w: the perceptron's hyperplane goes through the origin; fix the bias at 0, with K + τ² in place of K if one is needed", ErrUnsupported)
	}
	for i := range p.P {
		if p.P[i] != -1 || p.Lower[i] != 0 {
			return nil, fmt.Errorf("%w: the perceptron classifies, and its dual has p = −1 and α ≥ 0 (SoftMargin, SoftMargin2, HardMargin)", ErrUnsupported)
		}
	}
	n := len(alpha)
	s := &perceptron{p: p, m: m, count: append([]float64(nil), alpha...), g: make([]float64, n), alpha: alpha, f: p.F(alpha), last: math.NaN()}
	for i, f := range s.f {
		s.g[i] = 1 - p.S[i]*f
	}
	s.scale()
	return s, nil
}

type perceptron struct {
	p     *Problem
	m     Perceptron
	count []float64 // m
	g     []float64 // (Qm)_i = y_i Σ_j m_j y_j K_ij, with the ridge
	alpha []float64 // t m
	f     []float64
	epoch int
	last  float64
	seen  extent // range of F
}

func (s *perceptron) Report(it *Iterate) {
	it.Alpha, it.F, it.Step, it.Up, it.Low, it.Sweep = s.alpha, s.f, s.last, s.seen.up, s.seen.low, 1
}

// Step is one epoch.
func (s *perceptron) Step(ctx context.Context) (done bool, err error) {
	p, mistakes := s.p, 0
	for i := range s.count {
		if s.g[i] > 0 || p.Upper[i] == 0 {
			continue
		}
		if mistakes%(1+0xffff/len(s.g)) == 0 && ctx.Err() != nil {
			s.scale()
			return false, ctx.Err()
		}
		mistakes++
		s.count[i]++
		for k, v := range p.K.Row(i) {
			s.g[k] += p.S[i] * p.S[k] * v
		}
		s.g[i] += p.ridge(i)
	}
	s.epoch++
	s.scale()
	return mistakes == 0 || s.epoch >= s.m.Epochs, nil
}

// scale sets α = t m and F, where t = Σm / m'Qm, or less if the box is smaller.
func (s *perceptron) scale() {
	sum, quad, room := 0.0, 0.0, math.Inf(1)
	for i, m := range s.count {
		if m > 0 {
			sum += m
			quad += m * s.g[i]
			room = min(room, s.p.Upper[i]/m)
		}
	}
	t := 0.0
	switch {
	case quad > 0:
		t = min(sum/quad, room)
	case !math.IsInf(room, 1):
		t = room
	}
	p, norm2 := s.p, 0.0
	s.seen = p.unseen()
	for i, m := range s.count {
		a := min(t*m, p.Upper[i])
		norm2 += (a - s.alpha[i]) * (a - s.alpha[i])
		s.alpha[i] = a
		s.f[i] = p.S[i] * (1 - t*s.g[i])
		s.seen.see(s.f[i], p.CanRise(i, a), p.CanFall(i, a))
	}
	s.last = math.Sqrt(norm2)
}
