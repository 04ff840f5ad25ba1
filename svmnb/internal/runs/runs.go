// Package runs has what figures and tables of several packages show of a run.
package runs

import (
	"math"
	"slices"

	"github.com/svmnb/svmnb/solvers"
)

// Certified returns a result whose trace ends with the numbers of the certificate.
func Certified(r solvers.Result) *solvers.Result {
	c := r.Certificate
	points := slices.DeleteFunc(slices.Clone(r.Trace.Points), func(p solvers.Point) bool { return p.Iteration > r.Iterations })
	if k := len(points) - 1; k < 0 || points[k].Iteration < r.Iterations {
		nan := math.NaN()
		points = append(points, solvers.Point{Iteration: r.Iterations, Margin: nan, Step: nan, Surrogate: nan, Up: nan, Low: nan})
	}
	end := &points[len(points)-1]
	end.Elapsed, end.Evaluations, end.Primal, end.Dual, end.Gap, end.RelGap = r.Elapsed, r.Evaluations, c.Primal, c.Dual, c.Gap, c.RelGap
	end.KKT, end.Equality, end.Bias, end.Free, end.Bound = c.MaxKKT, c.Equality, c.Bias, c.Free, c.AtUpper
	if math.IsInf(c.Primal, 1) { // a trace writes NaN for a primal that is not known
		end.Primal, end.Gap, end.RelGap = math.NaN(), math.NaN(), math.NaN()
	}
	r.Trace.Points = points
	return &r
}

// GoodGap returns the gap at which an answer is good enough, or 0 if there is no primal
// value to compare with. The name labels this gap in figures if it is not the stopping
// criterion.
func GoodGap(stop solvers.Criterion, primal float64) (tol float64, name string) {
	scale := 1 + math.Abs(primal)
	if scale-scale != 0 {
		return 0, ""
	}
	if stop, ok := stop.(solvers.Gap); ok {
		return stop.Rel * scale, ""
	}
	return 1e-3 * scale, "0.1 % of 1 + primal"
}
