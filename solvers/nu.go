package solvers

import (
	"context"
	"fmt"
	"math"
)

// NuSoftMargin is the dual of the ν-SVC (Schölkopf, Smola, Williamson and
// Bartlett 2000) in LIBSVM's scaling,
//
//	maximise −½ Σ α_i α_j y_i y_j K_ij,  0 ≤ α_i ≤ 1,  y'α = 0,  Σα = ν n,
//
// with ν in (0, 1]. y has n values ±1. At most ν n points are margin errors and at least ν n
// are support vectors. Points on the margin have y_i f_i = ρ, which is Certificate.Rho: α/ρ
// solves SoftMargin with C = 1/ρ, and (g + b)/ρ is the decision function. The error is a
// *ProblemError if ν exceeds 2 min(n₊, n₋)/n, since the smaller class could not reach its sum
// then.
//
// w are n positive weights of the points; without any, all are 1. Then α_i ≤ w_i and Σα = ν Σw,
// as in LIBSVM's variant with weights for instances: ν is a share of the weight, and a point of
// weight 2 counts as two equal points.
func NuSoftMargin(k Matrix, y []float64, nu float64, w ...float64) (*Problem, error) {
	n := k.Dim()
	w, all, err := weighed(n, nu, w)
	if err != nil {
		return nil, err
	}
	positive := 0.0
	for i, s := range y {
		if s > 0 {
			positive += w[i]
		}
	}
	if most := 2 * min(positive, all-positive) / all; nu > most {
		return nil, &ProblemError{"nu", -1, nu, fmt.Sprintf("ν is %g; with %g and %g points in the classes it can be %g at most", nu, positive, all-positive, most)}
	}
	return &Problem{K: k, S: y, P: make([]float64, n), Lower: make([]float64, n), Upper: w, PerClass: true, Sum: nu * all}, nil
}

// weighed returns the n weights of a ν machine, 1 unless they are given, and their sum.
func weighed(n int, nu float64, w []float64) (weights []float64, sum float64, err error) {
	if !(nu > 0 && nu <= 1) {
		return nil, 0, &ProblemError{"nu", -1, nu, fmt.Sprintf("ν is %g; it is a share of the points, in (0, 1]", nu)}
	}
	if len(w) == 0 {
		w = fill(n, 1)
	}
	if len(w) != n {
		return nil, 0, &ProblemError{"w", -1, 0, fmt.Sprintf("has %d weights, the kernel matrix has %d rows", len(w), n)}
	}
	for i, v := range w {
		if !(v > 0) {
			return nil, 0, &ProblemError{"w", i, v, "must be a positive number"}
		}
		sum += v
	}
	return w, sum, nil
}

// OneClass is the dual of the one-class machine (Schölkopf et al. 2001), which
// separates the points from the origin:
//
//	maximise −½ Σ α_i α_j K_ij,  0 ≤ α_i ≤ 1,  Σα = ν n.
//
// f = g + b is negative for at most ν n of the n points. The bias is b = −ρ. w are weights of
// the points; see NuSoftMargin.
func OneClass(k Matrix, nu float64, w ...float64) (*Problem, error) {
	n := k.Dim()
	w, all, err := weighed(n, nu, w)
	if err != nil {
		return nil, err
	}
	return &Problem{K: k, S: fill(n, 1), P: make([]float64, n), Lower: make([]float64, n), Upper: w, Delta: nu * all}, nil
}

// Enclose is the dual of support vector data description (Tax and Duin 2004): the smallest ball in
// feature space that leaves a share of at most ν of the points outside,
//
//	minimise R² + Σ ξ_i/νn,  ‖φ(x_i) − a‖² ≤ R² + ξ_i,  ξ_i ≥ 0,
//
// in the scaling of OneClass, with m = νn:
//
//	maximise ½m Σ α_i K_ii − ½ Σ α_i α_j K_ij,  0 ≤ α_i ≤ 1,  Σα = m.
//
// The centre is a = Σ α_i φ(x_i)/m, and R² − ‖φ(x) − a‖² = (2/m)(g(x) + b) − K(x, x). If all K_ii are
// equal, α is that of OneClass. w are weights of the points; see NuSoftMargin. With them m = νΣw.
func Enclose(k Matrix, nu float64, w ...float64) (*Problem, error) {
	p, err := OneClass(k, nu, w...)
	if err != nil {
		return nil, err
	}
	for i, v := range k.Diag() {
		if i < len(p.P) {
			p.P[i] = -p.Delta / 2 * v
		}
	}
	return p, nil
}

// perClass is SMO for a Problem with PerClass. A step keeps the sums of both classes if its
// two points are of one class, so each class has its worst pair. The pair that promises the
// larger gain is taken (LIBSVM's Solver_NU).
type perClass struct {
	pairs
	second  bool
	i, j    [2]int // the worst violating pair of each class
	up, low [2]float64
}

func newPerClass(w pairs, m SMO) *perClass {
	s := &perClass{pairs: w, second: m.Selection == SecondOrder}
	s.scan()
	return s
}

func (s *perClass) Report(it *Iterate) {
	s.report(it)
	c := s.worst()
	it.Up, it.Low = s.up[c], s.low[c]
}

func (s *perClass) Refresh(f []float64) {
	s.pairs.Refresh(f)
	s.scan()
}

// worst returns the class whose pair violates most.
func (s *perClass) worst() int {
	if s.up[0]-s.low[0] > s.up[1]-s.low[1] {
		return 0
	}
	return 1
}

func (s *perClass) scan() {
	s.i, s.j = [2]int{-1, -1}, [2]int{-1, -1}
	s.up, s.low = [2]float64{math.Inf(-1), math.Inf(-1)}, [2]float64{math.Inf(1), math.Inf(1)}
	for k, f := range s.f {
		c, a := s.p.class(k), s.alpha[k]
		if f >= s.up[c] && s.p.CanRise(k, a) {
			s.i[c], s.up[c] = k, f
		}
		if f < s.low[c] && s.p.CanFall(k, a) {
			s.j[c], s.low[c] = k, f
		}
	}
}

// Step optimises one pair.
func (s *perClass) Step(context.Context) (done bool, err error) {
	c := s.worst()
	if s.i[c] < 0 || s.j[c] < 0 || !(s.up[c] > s.low[c]) {
		return true, nil
	}
	i, j := s.i[c], s.j[c]
	if s.second {
		best := 0.0
		for c := range 2 {
			if s.i[c] < 0 {
				continue
			}
			if k, gain := s.partner(c); gain > best {
				i, j, best = s.i[c], k, gain
			}
		}
	}
	t, err := s.optimise(i, j, 0)
	if t == 0 && err == nil && j != s.j[c] { // the gain was lost to rounding; the worst pair may still move
		t, err = s.optimise(s.i[c], s.j[c], 0)
	}
	s.scan()
	return t == 0, err
}

// partner returns the j of class c that promises the largest gain together with the point i of
// this class.
func (s *perClass) partner(c int) (best int, gain float64) {
	i := s.i[c]
	ki := s.p.K.Row(i)
	best = s.j[c]
	for k, f := range s.f {
		d := s.up[c] - f
		if d <= 0 || s.p.class(k) != c || !s.p.CanFall(k, s.alpha[k]) {
			continue
		}
		kappa := s.diag[i] + s.diag[k] - 2*ki[k]
		if kappa <= 0 {
			kappa = 1e-12
		}
		if g := d * d / kappa; g >= gain {
			best, gain = k, g
		}
	}
	return best, gain
}
