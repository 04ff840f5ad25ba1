package svmnb

import (
	"fmt"
	"sync"

	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// glanceWork limits the kernel values, about a second of them, that a summary or a figure
// computes without being asked. f at all training points takes n·#SV kernel values, which
// is minutes for a hundred thousand points. Above the limit, summaries and figures use a
// part of the points and say so. Methods that users call for such values, such as
// TrainingErrors, have no limit.
const glanceWork = 100_000_000

// glance returns evenly spaced rows of n training points, few enough for glanceWork if f at
// one point takes so many kernel values. nil means all rows.
func glance(n, each int) []int {
	if each < 1 || n <= glanceWork/each {
		return nil
	}
	m := max(glanceWork/each, 1)
	rows := make([]int, m)
	for k := range rows {
		rows[k] = int(int64(k) * int64(n) / int64(m))
	}
	return rows
}

// glanced says, for a subtitle, how many points were used, if not all.
func glanced(rows []int, n int) string {
	if rows == nil {
		return ""
	}
	return fmt.Sprintf(" · at %s of %s training points, since f at all of them takes more than %s kernel values", say.Thousands(int64(len(rows))), say.Thousands(int64(n)), say.Thousands(glanceWork))
}

// look returns a function that computes values at the rows chosen by glance, once. It calls
// all if these are all rows, otherwise of.
func look[V any](n, each int, all func() []V, of func(rows []int) []V) func() ([]int, []V) {
	return sync.OnceValues(func() ([]int, []V) {
		rows := glance(n, each)
		if rows == nil {
			return nil, all()
		}
		return rows, of(rows)
	})
}

// decisions computes f at the n training points from F of the result, without kernel values.
// By the definition of F,
//
//	F_i = −s_i p_i − g_i − s_i ridge_i α_i,  g_i = Σ_j s_j α_j K_ij,
//
// so g follows from F, and f = scale·(g + b). If the method used kernel values in single
// precision, f has their rounding errors.
func decisions(p *solvers.Problem, res *solvers.Result, n int, scale float64) []float64 {
	f := make([]float64, n)
	for i := range f {
		g := -p.S[i]*p.P[i] - res.F[i]
		if p.Ridge != nil {
			g -= p.S[i] * p.Ridge[i] * res.Alpha[i]
		}
		f[i] = scale * (g + res.Certificate.Bias)
	}
	return f
}

// pick returns the values of these rows; nil means all.
func pick[T any](v []T, rows []int) []T {
	if rows == nil {
		return v
	}
	out := make([]T, len(rows))
	for k, i := range rows {
		out[k] = v[i]
	}
	return out
}

// violations returns the violations of the KKT conditions in the given rows, where f has
// these values; nil rows mean all.
func (f *Fit) violations(rows []int, values []float64) []float64 {
	p := f.task.problem
	if rows == nil {
		f.task.asking.Lock()
		defer f.task.asking.Unlock()
		return p.Violations(nil, f.Alpha, f.F) // computes F itself if it is nil
	}
	q := *p // Violations does not use K if F is given
	q.P, q.S, q.Lower, q.Upper, q.Ridge = pick(p.P, rows), pick(p.S, rows), pick(p.Lower, rows), pick(p.Upper, rows), nil
	return q.Violations(nil, pick(f.Alpha, rows), f.scores(rows, values))
}

// scores returns F in the given rows, where f has these values; nil rows mean all.
func (f *Fit) scores(rows []int, values []float64) []float64 {
	p, at := f.task.problem, make([]float64, len(values))
	for k, v := range values {
		i := k
		if rows != nil {
			i = rows[k]
		}
		at[k] = -p.S[i]*p.P[i] - (v/f.scale - f.Certificate.Bias)
		if p.Ridge != nil {
			at[k] -= p.S[i] * p.Ridge[i] * f.Alpha[i]
		}
	}
	return at
}

// replayCost returns how many kernel values and how many products it takes to update F at
// all n points along a trace.
func replayCost(points []solvers.Point, n int) (values, products int64) {
	asked := map[int]bool{}
	for _, pt := range points {
		products += int64(len(pt.Changed)) * int64(n)
		for _, i := range pt.Changed {
			asked[i] = true
		}
	}
	return int64(len(asked)) * int64(n), products
}

// tooLong is the error of a table or a figure that would need f at too many points.
func tooLong(call string, values int64, advice string) error {
	return arguments.Wrong(call, float64(values), "it asks for %s kernel values, and no more than %s are computed for a picture or a table; %s", say.Thousands(values), say.Thousands(glanceWork), advice)
}

// listable returns an error if a table of all n points would cost too much.
func listable(n, each int) error {
	if glance(n, each) == nil {
		return nil
	}
	return tooLong("Table", int64(n)*int64(each), "say Conditions() for the numbers, which takes its time")
}
