package engine

import (
	"cmp"
	"math"
	"slices"
)

// slack returns for each node a bound of |f − f*|, where f* is the decision function of the
// optimal machine. It uses the duality gap alone.
//
// Let w be that of the run, P(w) the primal objective at the best bias for w, and w* the
// optimum. P is ½‖w‖² and a convex function, so P(w) ≥ P(w*) + ½‖w − w*‖². Since P(w) − P(w*)
// is at most the gap,
//
//	‖w − w*‖ ≤ r = √(2 gap)   and   |⟨w − w*, φ(x)⟩| ≤ r √K(x, x).
//
// The bias remains. An optimal bias for values g_i = ⟨w, φ(x_i)⟩ is one at which the slope of
// C Σ max(0, 1 − y_i(g_i + b)) changes its sign. The slope is a sum of steps at b = y_i − g_i.
// With w* in place of w each step moves by at most δ = r max √K(x_i, x_i). The optimal biases
// of w* are therefore within δ of the interval of those of w. This is a bound for problems
// whose costs are all C.
func slack(q *Question, a *Answer) []float64 {
	r := math.Sqrt(2 * max(0, a.Certificate.Gap))
	delta := 0.0
	for _, x := range q.X {
		delta = max(delta, r*math.Sqrt(max(0, q.Kernel.Eval(x, x))))
	}
	low, high := biases(q.Y, a.F, a.Bias)
	shift := delta + max(math.Abs(low-a.Bias), math.Abs(high-a.Bias))
	out := make([]float64, 0, q.Nx*q.Ny)
	for _, x := range grid(q) {
		out = append(out, r*math.Sqrt(max(0, q.Kernel.Eval(x, x)))+shift)
	}
	return out
}

// biases returns the interval of the biases that are best for the values f, which have the
// bias b: those at which the slope Σ_{y_i = −1, b > s_i} 1 − Σ_{y_i = 1, b < s_i} 1 with s_i =
// y_i − (f_i − b) is 0, or the one at which it changes its sign.
func biases(y, f []float64, b float64) (low, high float64) {
	type step struct{ at, y float64 }
	steps := make([]step, len(y))
	slope := 0 // left of all steps: each positive point pulls b up
	for i := range y {
		steps[i] = step{y[i] - (f[i] - b), y[i]}
		if y[i] > 0 {
			slope--
		}
	}
	slices.SortFunc(steps, func(s, t step) int { return cmp.Compare(s.at, t.at) })
	low, high = math.Inf(-1), math.Inf(1)
	for _, s := range steps {
		slope++ // a positive point has its margin, or a negative one loses it
		if slope >= 0 && math.IsInf(low, -1) {
			low = s.at
		}
		if slope > 0 {
			high = s.at
			break
		}
	}
	return low, high
}
