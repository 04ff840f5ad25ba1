package svmnb

import (
	"fmt"
	"sync"

	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// glanceWork bounds the kernel values that a summary or a figure may ask for by itself:
// about a second of them. The decision values of all training points are as many as
// points times support vectors, minutes of them for a hundred thousand points. What
// would cost more looks at fewer points and says so; what is asked for by its name, such
// as TrainingErrors, is computed whatever it costs.
const glanceWork = 100_000_000

// glance returns the rows of the n training points that a summary or figure looks at, at
// even distances; nil for all. Each costs so many kernel values.
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

// glanced says which points were looked at, after what is said of all of them.
func glanced(rows []int, n int) string {
	if rows == nil {
		return ""
	}
	return fmt.Sprintf(" · at %s of %s training points, since f at all of them takes more than %s kernel values", say.Thousands(int64(len(rows))), say.Thousands(int64(n)), say.Thousands(glanceWork))
}

// look returns the rows of the n training points that are looked at, nil for all, and
// what a fit says of them; it is asked once.
func look[V any](n, each int, all func() []V, of func(rows []int) []V) func() ([]int, []V) {
	return sync.OnceValues(func() ([]int, []V) {
		rows := glance(n, each)
		if rows == nil {
			return nil, all()
		}
		return rows, of(rows)
	})
}

// pick returns the values of these rows; all for nil.
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

// violations are those of the rows that were looked at, by f at them.
func (f *Fit) violations(rows []int, values []float64) []float64 {
	p := f.task.problem
	if rows == nil {
		f.task.asking.Lock()
		defer f.task.asking.Unlock()
		return p.Violations(nil, f.Alpha, nil)
	}
	q := *p // whose K nobody asks
	q.P, q.S, q.Lower, q.Upper, q.Ridge = pick(p.P, rows), pick(p.S, rows), pick(p.Lower, rows), pick(p.Upper, rows), nil
	alpha, at := pick(f.Alpha, rows), make([]float64, len(rows))
	for k, i := range rows {
		g := values[k]/f.scale - f.Certificate.Bias
		at[k] = -p.S[i]*p.P[i] - g
		if p.Ridge != nil {
			at[k] -= p.S[i] * p.Ridge[i] * f.Alpha[i]
		}
	}
	return q.Violations(nil, alpha, at)
}

// replayCost is how many kernel values and how many products it takes to follow F at all
// points through a trace.
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

// tooLong refuses a table or a figure of all points of a large fit.
func tooLong(call string, values int64, advice string) error {
	return arguments.Wrong(call, float64(values), "it asks for %s kernel values, and no more than %s are computed for a picture or a table; %s", say.Thousands(values), say.Thousands(glanceWork), advice)
}

// listable refuses the table of a fit whose values at all points cost too much.
func listable(n, each int) error {
	if glance(n, each) == nil {
		return nil
	}
	return tooLong("Table", int64(n)*int64(each), "say Conditions() for the numbers, which takes its time")
}
