package solvers

import (
	"fmt"
	"math"
	"slices"

	"github.com/svmnb/svmnb/internal/rows"
	"github.com/svmnb/svmnb/internal/vec"
)

// SoftMargin is the dual of the 1-norm soft margin, CST (7.1):
//
//	maximise Σα − ½ Σ α_i α_j y_i y_j K_ij,  0 ≤ α_i ≤ c_i,  y'α = 0.
//
// y and c have length n; y is ±1 and c_i > 0 is the cost of point i, which contains the
// weights of classes and samples.
func SoftMargin(k Matrix, y, c []float64) *Problem {
	n := k.Dim()
	return &Problem{K: k, S: y, P: fill(n, -1), Lower: make([]float64, n), Upper: c}
}

// SoftMargin2 is the dual of the 2-norm soft margin, whose primal is ½‖w‖² + ½ Σ c_i ξ_i². It
// is the hard margin on K + diag(1/c) (CST Remark 7.10). y and c have length n. The slack of
// point i is α_i / c_i. LIBLINEAR's L2 loss c Σ ξ² is this with 2c in place of c.
func SoftMargin2(k Matrix, y, c []float64) *Problem {
	p := HardMargin(k, y)
	p.Ridge = make([]float64, len(c))
	for i, ci := range c {
		p.Ridge[i] = 1 / ci
	}
	return p
}

// HardMargin is the dual of the maximal margin classifier: SoftMargin with
// C = ∞ (CST Remark 7.13).
func HardMargin(k Matrix, y []float64) *Problem {
	return SoftMargin(k, y, fill(k.Dim(), math.Inf(1)))
}

// WithFixedBias returns a copy of p whose bias is fixed at b0 instead of being optimised: the
// equality constraint is dropped and the objective gains b0 s'α (CST §7.2). With the kernel K
// + τ² and b0 = 0, the function has the bias τ² Σ α_i y_i. τ² = R² = max K_ii is a safe choice
// (CST Remark 7.4).
func (p *Problem) WithFixedBias(b0 float64) *Problem {
	q := *p
	q.FixedBias, q.Bias = true, b0
	return &q
}

// fixed returns the fixed bias, or 0 when the bias is free.
func (p *Problem) fixed() float64 {
	if p.FixedBias {
		return p.Bias
	}
	return 0
}

// ridge returns ridge_i, or 0 if there is no ridge.
func (p *Problem) ridge(i int) float64 {
	if p.Ridge == nil {
		return 0
	}
	return p.Ridge[i]
}

// diagonal returns K_ii + ridge_i in a new slice.
func (p *Problem) diagonal() []float64 {
	diag := slices.Clone(p.K.Diag())
	vec.Axpy(diag, 1, p.Ridge)
	return diag
}

func fill(n int, v float64) []float64 { return slices.Repeat([]float64{v}, n) }

// Check returns a *ProblemError for the first thing that is wrong with p.
func (p *Problem) Check() error {
	bad := func(field string, i int, v float64, format string, args ...any) error {
		return &ProblemError{field, i, v, fmt.Sprintf(format, args...)}
	}
	if p == nil || p.K == nil {
		return bad("K", -1, 0, "no kernel matrix")
	}
	n := p.K.Dim()
	if n == 0 {
		return bad("K", -1, 0, "the kernel matrix has no rows; give at least one point")
	}
	for _, f := range []struct {
		name string
		v    []float64
		opt  bool
	}{{"S", p.S, false}, {"P", p.P, false}, {"Lower", p.Lower, false}, {"Upper", p.Upper, false}, {"Ridge", p.Ridge, true}} {
		if len(f.v) != n && !(f.opt && f.v == nil) {
			return bad(f.name, -1, 0, "has %d entries, the kernel matrix has %d rows", len(f.v), n)
		}
	}
	diag := p.K.Diag()
	if len(diag) != n {
		return bad("K", -1, 0, "the diagonal has %d entries, the kernel matrix has %d rows", len(diag), n)
	}
	for i := range n {
		switch {
		case !rows.Usable(diag[i]):
			return bad("K", i, diag[i], "row %d, column %d "+rows.Unusable, i, i)
		case p.S[i] != 1 && p.S[i] != -1:
			return bad("S", i, p.S[i], "labels are +1 or −1")
		case !rows.Usable(p.P[i]):
			return bad("P", i, p.P[i], rows.Unusable)
		case !rows.Usable(p.Lower[i]):
			return bad("Lower", i, p.Lower[i], rows.Unusable)
		case !(p.Upper[i] >= p.Lower[i]):
			return bad("Upper", i, p.Upper[i], "must be at least Lower[%d] = %g", i, p.Lower[i])
		case !rows.Usable(p.Upper[i]) && !math.IsInf(p.Upper[i], 1):
			return bad("Upper", i, p.Upper[i], "must be at most 1e100, or +Inf for a hard margin")
		case p.Ridge != nil && !(p.Ridge[i] >= 0 && rows.Usable(p.Ridge[i])):
			return bad("Ridge", i, p.Ridge[i], "must be a number from 0 to 1e100: for the 2-norm the cost 1/ridge is positive")
		}
	}
	if PointsOf(p.K) != nil {
		for i := range n / 2 {
			if width := p.P[i] + p.P[n/2+i]; width < 0 {
				return bad("P", i, p.P[i], "the tube of point %d is %g wide; ε must be ≥ 0", i, width)
			}
		}
	}
	if !rows.Usable(p.Delta) {
		return bad("Delta", -1, p.Delta, "%g "+rows.Unusable, p.Delta)
	}
	if !rows.Usable(p.Sum) {
		return bad("Sum", -1, p.Sum, "%g "+rows.Unusable, p.Sum)
	}
	if p.FixedBias && p.PerClass {
		return bad("PerClass", -1, 0, "the sums of the classes are the constraints of a free bias; leave FixedBias or PerClass out")
	}
	if p.FixedBias && !rows.Usable(p.Bias) {
		return bad("Bias", -1, p.Bias, "%g "+rows.Unusable, p.Bias)
	}
	return nil
}

// start returns a feasible α. It checks the given one. If given is nil, it takes the point of
// the box nearest to 0 and moves its coordinates in order until s'α = δ.
func (p *Problem) start(given []float64) ([]float64, error) {
	n := p.K.Dim()
	if given != nil {
		if len(given) != n {
			return nil, &ProblemError{"Start", -1, 0, fmt.Sprintf("has %d entries, the problem has %d", len(given), n)}
		}
		scale := math.Abs(p.Delta)
		for i, a := range given {
			if !(a >= p.Lower[i] && a <= p.Upper[i]) || math.IsInf(a, 0) {
				return nil, &ProblemError{"Start", i, a, fmt.Sprintf("lies outside its box [%g, %g]", p.Lower[i], p.Upper[i])}
			}
			scale += math.Abs(a)
		}
		if r := p.equality(given); r > 1e-10*scale {
			return nil, &ProblemError{"Start", -1, r, fmt.Sprintf("violates s'α = δ by %g", r)}
		}
		return slices.Clone(given), nil
	}
	alpha := make([]float64, n)
	for i := range alpha {
		alpha[i] = min(max(0, p.Lower[i]), p.Upper[i])
	}
	switch {
	case p.FixedBias:
		return alpha, nil
	case p.PerClass:
		if err := p.reach(alpha, "Sum", (p.Sum+p.Delta)/2, func(i int) bool { return p.S[i] > 0 }); err != nil {
			return nil, err
		}
		return alpha, p.reach(alpha, "Sum", (p.Delta-p.Sum)/2, func(i int) bool { return p.S[i] < 0 })
	}
	return alpha, p.reach(alpha, "Delta", p.Delta, func(int) bool { return true })
}

// reach moves the chosen α in order until the sum of their s_iα_i is goal.
func (p *Problem) reach(alpha []float64, field string, goal float64, chosen func(int) bool) error {
	sum := 0.0
	for i, a := range alpha {
		if chosen(i) {
			sum += p.S[i] * a
		}
	}
	for i := range alpha {
		if sum == goal {
			return nil
		}
		if chosen(i) {
			a := min(max(alpha[i]+p.S[i]*(goal-sum), p.Lower[i]), p.Upper[i])
			sum += p.S[i] * (a - alpha[i])
			alpha[i] = a
		}
	}
	if math.Abs(sum-goal) > 1e-10*(1+math.Abs(goal)) {
		return &ProblemError{field, -1, goal, fmt.Sprintf("s'α = %g cannot be reached inside the box; the nearest is %g", goal, sum)}
	}
	return nil
}

// equality returns |s'α − δ|, with PerClass the larger of |s'α − δ| and |Σα − Sum|, or 0 if
// there is no equality constraint.
func (p *Problem) equality(alpha []float64) float64 {
	if p.FixedBias {
		return 0
	}
	difference, sum := -p.Delta, -p.Sum
	for i, a := range alpha {
		difference += p.S[i] * a
		sum += a
	}
	if p.PerClass {
		return max(math.Abs(difference), math.Abs(sum))
	}
	return math.Abs(difference)
}

// CanRise reports whether s_i α_i may grow from α_i = a: membership of I_up (ST's I⁺).
func (p *Problem) CanRise(i int, a float64) bool {
	if p.S[i] > 0 {
		return a < p.Upper[i]
	}
	return a > p.Lower[i]
}

// CanFall reports whether s_i α_i may shrink from α_i = a: membership of I_low (ST's I⁻).
func (p *Problem) CanFall(i int, a float64) bool {
	if p.S[i] > 0 {
		return a > p.Lower[i]
	}
	return a < p.Upper[i]
}

// Rise returns how far s_i α_i can grow from α_i = a.
func (p *Problem) Rise(i int, a float64) float64 {
	if p.S[i] > 0 {
		return p.Upper[i] - a
	}
	return a - p.Lower[i]
}

// Fall returns how far s_i α_i can shrink from α_i = a.
func (p *Problem) Fall(i int, a float64) float64 {
	if p.S[i] > 0 {
		return a - p.Lower[i]
	}
	return p.Upper[i] - a
}

// Moved returns α_i = a after s_i α_i has grown by t. A result that equals a bound up to
// rounding is set to this bound. Otherwise a vector one rounding unit inside would count as
// free, and its F for the bias.
func (p *Problem) Moved(i int, a, t float64) float64 {
	d := p.S[i] * t
	slack := 4 * 0x1p-52 * (math.Abs(a) + math.Abs(d))
	switch moved := a + d; {
	case moved >= p.Upper[i]-slack:
		return p.Upper[i]
	case moved <= p.Lower[i]+slack:
		return p.Lower[i]
	default:
		return moved
	}
}

// hasBox reports whether every α has an upper bound, so that the dual has a maximum.
func (p *Problem) hasBox() bool {
	return !slices.ContainsFunc(p.Upper, func(u float64) bool { return math.IsInf(u, 1) })
}

// worst returns the largest violation of the KKT conditions. up is the largest F of the points
// whose s α can rise, and low the smallest F of those whose s α can fall. At the optimum up ≤
// b ≤ low. Here b is the fixed bias or, if the bias is free, the middle between low and up, at
// which the violation is smallest.
func (p *Problem) worst(up, low float64) float64 {
	if p.FixedBias {
		return max(up-p.Bias, p.Bias-low)
	}
	b := (&extent{up: up, low: low}).bias()
	return max(up-b, b-low)
}

// balanced reports whether α satisfies the equality constraint up to rounding.
func (p *Problem) balanced(alpha []float64) bool {
	scale := math.Abs(p.Delta)
	for _, a := range alpha {
		scale += math.Abs(a)
	}
	return p.equality(alpha) <= 1e-8*scale
}

// outside returns the index of the first variable that is outside its box by more than
// rounding, or −1.
func (p *Problem) outside(alpha []float64) int {
	scale := vec.MaxAbs(alpha)
	for i, a := range alpha {
		if a-a != 0 || a < p.Lower[i]-1e-8*scale || a > p.Upper[i]+1e-8*scale {
			return i
		}
	}
	return -1
}
