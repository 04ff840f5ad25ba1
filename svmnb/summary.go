package svmnb

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// Markdown says in words what was solved, how the run ended, how good the answer is and how
// it fits the training points, with at most two hints if something looks wrong.
func (f *Fit) Markdown() string {
	if f.none() {
		return arguments.NoFit("Markdown").Error()
	}
	t, c := f.task, f.Certificate
	s := say.NewSummary()
	s.Row("**problem**", "%s, %s against %s", t.data.Name, say.Class(t.positive), say.Class(t.negative))
	s.Row("points × features", "%d × %d", t.data.N(), t.data.D())
	s.Row("margin", "%s", t.marginText())
	s.Row("kernel", "%v", t.kernel)
	summariseRun(s, &f.Result, t.stop)
	s.Row("**result**", "%d support vectors: %d free, %d at the bound", c.Free+c.AtUpper, c.Free, c.AtUpper)
	width := "margin 1/‖w‖"
	switch t.margin {
	case oneClass:
		width = "distance ρ/‖w‖"
	case enclosing:
		width = "radius R"
	}
	s.Row("bias, "+width, "%s, %s", say.Signed(f.Bias, 6), say.Signed(f.Margin(), 6))
	rows, values := f.glance()
	wrong := f.errorsAt(rows, values)
	s.Row("training errors", "%d of %d (%s)%s", wrong, len(values), say.Percent(float64(wrong)/float64(len(values))), glanced(rows, t.data.N()))
	if stays := certainText(f.certainTraining()); stays != "" {
		s.Row("certain labels", "%s", stays)
	}
	s.Hints(f.Hints())
	return s.String()
}

// summariseRun says how a run ended and how good its answer is.
func summariseRun(s *say.Summary, r *solvers.Result, stop solvers.Criterion) {
	c := r.Certificate
	s.Row("**solver**", "%s, until %v", r.Method, stop)
	s.Row("status", "%s after %s, %s kernel values, %v", r.Status, say.Several(r.Iterations, "iteration"), say.Thousands(r.Evaluations), say.Spell(r.Elapsed))
	if math.IsNaN(c.Gap) {
		s.Row("**certificate**", "not known: %s", noTime)
		return
	}
	own := ""
	if c.Claimed {
		own = "; these figures are the solver's own, since the interrupt left no time to compute them afresh"
	}
	s.Row("**certificate**", "the answer is within %.3g of the optimum (%s of the primal)%s", c.Gap, say.Percent(c.RelGap), own)
	s.Row("dual, primal", "%s, %s", say.Signed(c.Dual, 9), say.Signed(c.Primal, 9))
	s.Row("largest KKT violation", "%.2g", c.MaxKKT)
}

// noTime says why the gap of an interrupted run is not known.
const noTime = "the interrupt left no time to update F of all points; Audit computes the gap"

func (t *task) marginText() string {
	s := ""
	switch t.margin {
	case hard:
		return "hard"
	case nuSoft:
		s = "ν soft, ν = " + say.Number(t.nu)
	case enclosing:
		s = "smallest ball, ν = " + say.Number(t.nu)
	case oneClass:
		s = "one class, ν = " + say.Number(t.nu)
	case twoNorm:
		s = "2-norm soft, C = " + say.Number(t.c)
	default:
		s = "1-norm soft, C = " + say.Number(t.c)
	}
	switch {
	case t.balanced:
		s += ", balanced"
	case t.weights != nil:
		s += ", weighted"
	}
	return s + t.biasWords()
}

func (m *machine) biasWords() string {
	switch {
	case m.tau2 != 0:
		return fmt.Sprintf(", bias by K + %.4g", m.tau2)
	case m.fixed:
		return ", bias fixed at " + say.Number(m.b0)
	}
	return ""
}

// Hints returns at most two suggestions, each with its reason, if something looks wrong.
// The more important one is first.
func (f *Fit) Hints() []string {
	if f.none() {
		return nil
	}
	t, c, n := f.task, f.Certificate, f.task.data.N()
	hints := t.hints(&f.Result, "C = "+say.Number(t.c)+", which makes the problem harder as it grows")
	add := func(format string, args ...any) { hints = append(hints, fmt.Sprintf(format, args...)) }
	rows, values := f.glance()
	if hint := f.swallowed(pick(t.y, rows), values); hint != "" {
		add("%s", hint)
	} else if t.margin == oneNorm && c.AtUpper > 0 && c.Free == 0 {
		add("Every support vector is at the bound C = %s, so errors cost too little for any point to hold the margin: try a larger C.", say.Number(t.c))
	} else if sv := c.Free + c.AtUpper; sv > 4*n/5 && n >= 20 && t.margin == oneNorm {
		add("%d of %d points are support vectors: the classes overlap widely here, or C or gamma does not suit the data.", sv, n)
	}
	return hints[:min(2, len(hints))]
}

// swallowed returns a hint if hardly any point is predicted as one of the two classes, though
// it has some; otherwise "". y are the labels of points and values their f.
func (f *Fit) swallowed(y, values []float64) string {
	t, n := f.task, len(y)
	var points, predicted [2]int
	for i, v := range values {
		points[machines.SideOf(y[i])]++
		predicted[f.side(v)]++
	}
	for k, name := range []string{t.negative, t.positive} {
		if t.margin.alone() || points[k] < 3 || 10*predicted[k] > points[k] {
			continue
		}
		s := fmt.Sprintf("%d of %d points are predicted as %s, which has %d: ", predicted[k], n, say.Class(name), points[k])
		if 5*points[k] < 2*n && !t.balanced && t.margin != hard {
			return s + "errors of a rare class weigh little. Balanced() makes those of both classes weigh the same, and Threshold chooses for a cost or a recall."
		}
		return s + "the machine does not tell the classes apart here. Try a larger C, or another gamma or kernel."
	}
	return ""
}

// hints returns the suggestions that any machine may need. cost names the parameter to
// lower if the solver did not converge.
func (m *machine) hints(r *solvers.Result, cost string) (hints []string) {
	add := func(format string, args ...any) { hints = append(hints, fmt.Sprintf(format, args...)) }
	switch gap := r.Certificate.Gap; r.Status {
	case solvers.IterationLimit:
		add("The solver reached its limit of iterations at most %.3g from the optimum: raise MaxIterations, loosen Tol, or lower %s.", gap, cost)
	case solvers.TimeLimit:
		add("The solver reached its limit of time at most %.3g from the optimum: allow more time, loosen Tol, or lower %s.", gap, cost)
	case solvers.Exhausted:
		add("The solver could take no further step at most %.3g from the optimum, since rounding hides what is left: loosen Tol, take another solver, or lower %s.", gap, cost)
	}
	if m.data.Sparse != nil {
		return hints // the other hints need dense points
	}
	if j, k, ratio := m.spread(); ratio > 30 && scalable(m.kernel) {
		add("The spread of feature %s is %.3g times that of %s, so distances see little else: let selection.Pipe(transform.Standardise(), …) scale the features, which then does the same to the points that it predicts.", m.data.FeatureName(j), ratio, m.data.FeatureName(k))
	}
	if k, ok := m.kernel.(interface{ OfSquaredDistance(float64) float64 }); ok && m.data.N() > 2 {
		typical, near := k.OfSquaredDistance(1/kernels.GammaMedian(m.data.X)), k.OfSquaredDistance(m.nearest())
		switch {
		case near < 1e-3*k.OfSquaredDistance(0):
			add("A point and its nearest neighbour have a kernel value of %.1g as a rule, so each point is alone and is learnt by heart: a smaller gamma, near %.2g, lets neighbours share.", near, kernels.GammaMedian(m.data.X))
		case typical > 0.999*k.OfSquaredDistance(0):
			add("Two typical points have a kernel value of %.4g of its largest, so the kernel hardly tells them apart: try a gamma near %.2g.", typical/k.OfSquaredDistance(0), kernels.GammaMedian(m.data.X))
		}
	}
	return hints
}

// nearestWork limits the multiplications of nearest.
const nearestWork = 10_000_000

// nearest returns the median of the squared distance from a point to its nearest neighbour,
// over a sample of at most a hundred points.
func (m *machine) nearest() float64 {
	x := m.data.X
	var r2 []float64
	asked := min(100, 1+nearestWork/(len(x)*m.data.D()))
	for i := 0; i < len(x); i += (len(x) + asked - 1) / asked {
		least := math.Inf(1)
		for j := range x {
			if j != i {
				least = min(least, vec.SquaredDistance(x[i], x[j]))
			}
		}
		r2 = append(r2, least)
	}
	slices.Sort(r2)
	return r2[len(r2)/2]
}

// spread returns the features with the largest and the smallest standard deviation,
// ignoring constant features, and the ratio of the two deviations; 1 if all features are
// constant.
func (m *machine) spread() (widest, narrowest int, ratio float64) {
	lo, hi := math.Inf(1), 0.0
	for j := range m.data.D() {
		sd := deviation(m.data.X, j)
		if sd > hi {
			widest, hi = j, sd
		}
		if sd > 0 && sd < lo {
			narrowest, lo = j, sd
		}
	}
	if hi == 0 {
		return 0, 0, 1
	}
	return widest, narrowest, hi / lo
}

// deviation returns the standard deviation of feature j. It is exactly 0 if all values are
// equal, in spite of the rounding of the mean, and 0 if the values are too large for a
// finite result.
func deviation(x [][]float64, j int) float64 {
	mean, largest, constant := 0.0, 0.0, true
	for i, p := range x {
		constant = constant && p[j] == x[0][j]
		mean += (p[j] - mean) / float64(i+1)
	}
	for _, p := range x {
		largest = max(largest, math.Abs(p[j]-mean))
	}
	if constant || largest == 0 || math.IsInf(largest, 0) {
		return 0
	}
	sum := 0.0
	for _, p := range x {
		t := (p[j] - mean) / largest
		sum += t * t
	}
	return largest * math.Sqrt(sum/float64(len(x)))
}

// scalable reports whether scaling the features may help this kernel. It cannot if features
// are letters, indices of a matrix or counts, or if the kernel has a length for each
// feature. For a user's own kernel the answer is false, since nothing is known of it.
func scalable(k kernels.Kernel) bool {
	text := k.String()
	for _, name := range []string{"Precomputed(", "ChiSquared(", "Intersection(", "ARD(", "Columns("} {
		if strings.Contains(text, name) {
			return false
		}
	}
	_, err := kernels.Parse(text)
	return err == nil && !points.OfStrings(text)
}
