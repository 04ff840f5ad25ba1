package svmnb

import (
	"fmt"
	"math"
	"strings"

	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// FunctionalMargin returns γ̂ = min y_i f(x_i) over the training points (Ng's CS229 notes,
// part V, §3). It is positive if all points are classified correctly, and 1 at the optimum
// of a hard margin. Multiplying w and b by a factor multiplies γ̂ by it. FunctionalMargin
// needs f at all training points; see [Fit.TrainingErrors].
func (f *Fit) FunctionalMargin() float64 {
	if f.none() {
		return math.NaN()
	}
	least := math.Inf(1)
	for i, v := range f.training() {
		least = min(least, f.task.y[i]*v)
	}
	return least
}

// GeometricMargin returns γ = γ̂/‖w‖. It is the distance in feature space from the boundary
// to the nearest training point or, if there are errors, minus the distance to the farthest
// point on its wrong side. It does not depend on the scale of w and b.
func (f *Fit) GeometricMargin() float64 {
	if f.none() {
		return math.NaN()
	}
	return f.FunctionalMargin() * f.Margin()
}

// RadiusMargin returns R²‖w‖² = R²/γ² with R² = max K(x, x) and γ = Margin. This quantity
// is in the bounds on the fat-shattering dimension (Cristianini and Shawe-Taylor 2000,
// Theorem 4.16 and Remark 7.4).
func (f *Fit) RadiusMargin() float64 {
	if f.none() {
		return math.NaN()
	}
	m := f.Margin()
	return points.Of(f.task.data).Radius2(f.task.kernel) / (m * m)
}

// BiasOfN returns b* = −½(max over y = −1 of g + min over y = +1 of g) with g = f − b,
// equation 11 of Ng's CS229 notes, part V: the bias midway between the classes. It is
// correct for a hard margin only. With points inside the margin it is wrong, which this
// function demonstrates. It needs f at all training points; see [Fit.TrainingErrors].
func (f *Fit) BiasOfN() float64 {
	if f.none() {
		return math.NaN()
	}
	highest, lowest := math.Inf(-1), math.Inf(1)
	for i, v := range f.training() {
		if g := v - f.Bias; f.task.y[i] < 0 {
			highest = max(highest, g)
		} else {
			lowest = min(lowest, g)
		}
	}
	return -(highest + lowest) / 2
}

// Condition is the KKT condition of one training point (Ng's CS229 notes, part V, eqs. 3–7
// and 14–16).
type Condition struct {
	Index     int
	Y, Alpha  float64
	YF        float64 // y f(x)
	Slack     float64 // ξ = max(0, 1 − y f(x)); for one class max(0, −f(x))
	State     string  // such as "α = 0", "0 < α < C" or "α = C"
	Requires  string  // what the state requires of y f, such as "y f ≥ 1"
	Violation float64 // how far y f is from it, ≥ 0; for ν machines in units of ρ f
}

// Conditions is the table of the KKT conditions of a fit, in the order of the data.
type Conditions []Condition

// Conditions returns the table of the KKT conditions: for each training point the state of
// α, what it requires of y f, and the violation. Violations are computed at the bias for
// which the largest one is smallest; the largest one is Certificate.MaxKKT. Conditions
// needs f at all training points; see [Fit.TrainingErrors].
func (f *Fit) Conditions() Conditions {
	if f.none() {
		return nil
	}
	t := f.task
	violations := f.violations(nil, nil)
	values := f.training()
	table := make(Conditions, len(f.Alpha))
	states := t.states()
	for i, a := range f.Alpha {
		c := Condition{Index: i, Y: t.y[i], Alpha: a, YF: t.y[i] * values[i], Slack: max(0, t.edge()-t.y[i]*values[i]), Violation: violations[i]}
		state := states[1]
		switch {
		case a == 0:
			state = states[0]
		case a >= t.problem.Upper[i]:
			state = states[2]
		}
		c.State, c.Requires = state[0], state[1]
		table[i] = c
	}
	return table
}

// states returns the three states of a multiplier (0, free, at its bound) in words, each
// with what it requires of y f.
func (t *task) states() [3][2]string {
	edge, top := say.Number(t.edge()), "C"
	if t.margin == nuSoft || t.margin.alone() {
		top = "1"
	}
	free := [2]string{"0 < α < " + top, "y f = " + edge}
	switch t.margin {
	case twoNorm:
		free = [2]string{"α > 0", "y f = 1 − α/C"}
	case hard:
		free = [2]string{"α > 0", "y f = 1"}
	}
	return [3][2]string{{"α = 0", "y f ≥ " + edge}, free, {"α = " + top, "y f ≤ " + edge}}
}

// Markdown returns the table, at most its first hundred rows.
func (c Conditions) Markdown() string {
	var s strings.Builder
	s.WriteString("| i | y | α | y f | ξ | state | requires | violation |\n|--:|--:|--:|--:|--:|:--|:--|--:|\n")
	for _, r := range c[:min(len(c), 100)] {
		fmt.Fprintf(&s, "| %d | %+g | %.4g | %.4f | %.4g | %s | %s | %.1e |\n", r.Index, r.Y, r.Alpha, r.YF, r.Slack, r.State, r.Requires, r.Violation)
	}
	if len(c) > 100 {
		fmt.Fprintf(&s, "\n%d more points.\n", len(c)-100)
	}
	return s.String()
}

// Uniqueness says which parts of a solution are unique. w, and with it g = f − b, always
// is, since ½‖w‖² is strictly convex.
type Uniqueness struct {
	Alpha bool // no change of the free α leaves the objective the same (Cristianini and Shawe-Taylor 2000, Remark 7.3)
	Bias  bool // b is unique: the bias is fixed, or there is a free vector, or m = M

	// Direction is a direction d along which α can change without changing the objective: n
	// values with s'd = 0 and K(s∘d) = 0. It is nil if Alpha is true.
	Direction []float64
}

// Unique says whether α and b are unique. α is not unique if the kernel matrix of the free
// vectors, bordered by the equality constraint, is singular: of two equal free points, only
// the sum of their α is determined. (Unique does not examine whether α at a bound could
// change too.) For each of the n_free free vectors it computes a kernel row and takes up to
// n_free² operations.
func (f *Fit) Unique() Uniqueness {
	if f.none() {
		return Uniqueness{}
	}
	t, c := f.task, f.Certificate
	u := Uniqueness{Alpha: true, Bias: c.Free > 0 || t.fixed}
	var free []int
	for i, a := range f.Alpha {
		if a > 0 && a < t.problem.Upper[i] {
			free = append(free, i)
		}
	}
	if !u.Bias {
		last := f.Trace.Points[len(f.Trace.Points)-1]
		u.Bias = math.Abs(last.Up-last.Low) <= 1e-9
	}
	t.asking.Lock()
	defer t.asking.Unlock()
	d := null(free, func(a int, row []float64) {
		k := t.k.Row(free[a])
		for b, j := range free {
			row[b] = k[j]
			if !t.problem.FixedBias {
				row[b]++ // K d = 0 and 1'd = 0 together are equivalent to (K + 11')d = 0
			}
		}
		if t.problem.Ridge != nil {
			row[a] += t.problem.Ridge[free[a]]
		}
	})
	if d == nil {
		return u
	}
	u.Alpha, u.Direction = false, make([]float64, len(f.Alpha))
	for a, i := range free {
		u.Direction[i] = t.y[i] * d[a]
	}
	return u
}

// null returns a null vector of a positive semi-definite matrix, or nil if the matrix is
// regular. row(a, into) writes the matrix's row a. The method is a pivoted Cholesky
// factorisation that ends at the first pivot of 0.
func null(at []int, row func(a int, into []float64)) []float64 {
	n := len(at)
	rest := make([]float64, n) // diagonal of the remaining matrix
	r := make([]float64, n)
	for a := range n {
		row(a, r)
		rest[a] = r[a]
	}
	largest := 0.0
	for _, v := range rest {
		largest = max(largest, v)
	}
	var l [][]float64 // columns of the factor
	var pivots []int
	done := make([]bool, n)
	for range n {
		p := -1
		for a := range n {
			if !done[a] && (p < 0 || rest[a] > rest[p]) {
				p = a
			}
		}
		if rest[p] <= 1e-12*largest {
			// Column p is a linear combination of the pivot columns: solve L'd = −L_p for
			// its coefficients.
			d := make([]float64, n)
			d[p] = 1
			for k := len(pivots) - 1; k >= 0; k-- {
				sum := l[k][p]
				for m := k + 1; m < len(pivots); m++ {
					sum += l[k][pivots[m]] * d[pivots[m]]
				}
				d[pivots[k]] = -sum / l[k][pivots[k]]
			}
			return d
		}
		row(p, r)
		column := make([]float64, n)
		root := math.Sqrt(rest[p])
		for a := range n {
			if done[a] {
				continue
			}
			v := r[a]
			for k := range l {
				v -= l[k][a] * l[k][p]
			}
			column[a] = v / root
		}
		column[p] = root
		for a := range n {
			if !done[a] {
				rest[a] -= column[a] * column[a]
			}
		}
		l, pivots, done[p] = append(l, column), append(pivots, p), true
	}
	return nil
}
