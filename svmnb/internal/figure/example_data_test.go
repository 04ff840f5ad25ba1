package figure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/svmnb/svmnb/solvers"
)

// gram is an RBF kernel matrix.
type gram [][]float64

func (g gram) Dim() int            { return len(g) }
func (g gram) Row(i int) []float64 { return g[i] }
func (g gram) Diag() (d []float64) {
	for i := range g {
		d = append(d, g[i][i])
	}
	return d
}

func rbf(gamma float64, a, b []float64) float64 {
	s := 0.0
	for i := range a {
		s += (a[i] - b[i]) * (a[i] - b[i])
	}
	return math.Exp(-gamma * s)
}

// run is a classifier solved for real: two moons of n points.
type run struct {
	problem string
	x       [][]float64
	y       []float64
	c       float64
	k       gram
	gamma   float64
	p       *solvers.Problem
	res     *solvers.Result
}

func moons(t testing.TB, n int, gamma, c float64) *run {
	t.Helper()
	r := rand.New(rand.NewPCG(42, uint64(n)))
	s := &run{problem: fmt.Sprintf("RBF(%v), C = %v, SMO", gamma, c), c: c, gamma: gamma}
	for i := range n {
		a, y := math.Pi*r.Float64(), 1.0
		x := []float64{math.Cos(a), math.Sin(a)}
		if i%2 == 1 {
			x, y = []float64{1 - x[0], 0.5 - x[1]}, -1
		}
		for j := range x {
			x[j] += 0.2 * r.NormFloat64()
		}
		s.x, s.y = append(s.x, x), append(s.y, y)
	}
	cost := make([]float64, n)
	for i, a := range s.x {
		row := make([]float64, n)
		for j, b := range s.x {
			row[j] = rbf(gamma, a, b)
		}
		s.k, cost[i] = append(s.k, row), c
	}
	s.p = solvers.SoftMargin(s.k, s.y, cost)
	res, err := solvers.Solve(context.Background(), s.p, solvers.SMO{}, solvers.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	s.res = res
	return s
}

func (s *run) f(x []float64) float64 {
	v := s.res.Bias
	for i, a := range s.res.Alpha {
		if a != 0 {
			v += a * s.y[i] * rbf(s.gamma, s.x[i], x)
		}
	}
	return v
}

func (s *run) margins() MarginsData {
	d := MarginsData{Problem: s.problem, Margin: 1 / math.Sqrt(s.res.Certificate.Norm2), X: s.x, Y: s.y, Alpha: s.res.Alpha, Upper: s.p.Upper,
		Edge: 1, States: [3][2]string{{"α = 0", "y f ≥ 1"}, {"0 < α < C", "y f = 1"}, {"α = C", "y f ≤ 1"}},
		Xs: [2]float64{-1.9, 2.9}, Ys: [2]float64{-1.4, 1.9}}
	for i, x := range s.x {
		d.F = append(d.F, s.f(x))
		d.Violations = append(d.Violations, violation(s.y[i]*d.F[i], s.res.Alpha[i], s.c))
	}
	const nx, ny = 97, 67
	for i := range ny {
		row := make([]float64, nx)
		for j := range row {
			row[j] = s.f([]float64{d.Xs[0] + (d.Xs[1]-d.Xs[0])*float64(j)/(nx-1), d.Ys[0] + (d.Ys[1]-d.Ys[0])*float64(i)/(ny-1)})
		}
		d.Z = append(d.Z, row)
	}
	return d
}

func violation(yf, alpha, c float64) float64 {
	v := 0.0
	if alpha < c {
		v = max(v, 1-yf)
	}
	if alpha > 0 {
		v = max(v, yf-1)
	}
	return v
}

func (s *run) kkt() KKTData {
	d := KKTData{Problem: s.problem, Tol: 1e-3}
	for k, pt := range s.res.Trace.Points {
		alpha := s.res.Trace.AlphaAt(k)
		row := make([]float64, len(s.x))
		for i := range row {
			f := pt.Bias
			for j, a := range alpha {
				if a != 0 {
					f += a * s.y[j] * s.k[i][j]
				}
			}
			row[i] = violation(s.y[i]*f, alpha[i], s.c)
		}
		d.Iterations, d.Violations = append(d.Iterations, pt.Iteration), append(d.Violations, row)
	}
	return d
}

func (s *run) gap() GapData {
	last := s.res.Trace.Points[len(s.res.Trace.Points)-1]
	return GapData{Problem: s.problem, Points: s.res.Trace.Points, Tol: 1e-3 * (1 + math.Abs(last.Primal))}
}

func (s *run) scores() ScoresData {
	d := ScoresData{Problem: s.problem, Margin: 1 / math.Sqrt(s.res.Certificate.Norm2), Y: s.y, Free: s.res.Certificate.Free, Bound: s.res.Certificate.AtUpper}
	for _, x := range s.x {
		d.F = append(d.F, s.f(x))
	}
	return d
}

// counted is a matrix that computes each row once and counts.
type counted struct {
	gram
	seen map[int]bool
}

func (c *counted) Row(i int) []float64 { c.seen[i] = true; return c.gram[i] }
func (c *counted) Evaluations() int64  { return int64(len(c.gram) * (1 + len(c.seen))) }

// race solves the problem again by each of the methods.
func (s *run) race(t testing.TB, stop solvers.Criterion, methods ...solvers.Method) RaceData {
	t.Helper()
	d := RaceData{Problem: s.problem, Tol: 1e-3 * (1 + math.Abs(s.res.Certificate.Primal)), TolName: "0.1 % of 1 + primal"}
	for _, m := range methods {
		p := *s.p
		p.K = &counted{s.k, map[int]bool{}}
		res, err := solvers.Solve(context.Background(), &p, m, solvers.Settings{Stop: stop})
		if errors.Is(err, solvers.ErrUnsupported) {
			d.Runs = append(d.Runs, RaceRun{Name: m.Name(), Note: "refused"})
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		d.Runs = append(d.Runs, RaceRun{Name: m.Name(), Points: res.Trace.Points, Finished: res.Status == solvers.Converged})
	}
	return d
}

var everySMO = []solvers.Method{solvers.SMO{}, solvers.SMO{Selection: solvers.WorstPair}, solvers.ConjugateSMO{}, solvers.SMO{Selection: solvers.Platt},
	solvers.SMO{Selection: solvers.Keerthi1}, solvers.SMO{Selection: solvers.Keerthi2}, solvers.SMO{Selection: solvers.Simplified}, solvers.CoordinateDescent{}}

// racers are made-up runs that fall by a factor per iteration, each iteration
// of which costs a thousand times what it costs the one before it.
func racers(n int) RaceData {
	d := RaceData{Problem: "made up", Tol: 1e-3}
	for i := range n {
		r := RaceRun{Name: fmt.Sprintf("method %d", i+1), Finished: i != 2}
		cost := math.Pow(1000, float64(i))
		if i > 3 {
			cost = math.Pow(3, float64(i))
		}
		for k := range 400 {
			gap := 1e4 * math.Exp(-float64(k)/(5+4*float64(i)))
			if i == 1 && k < 50 {
				gap = math.NaN() // no margin yet
			}
			r.Points = append(r.Points, solvers.Point{Iteration: k, Gap: gap, Dual: -gap, Evaluations: int64(cost * float64(200+40*k)), Elapsed: time.Duration(cost * (1000 + 700*float64(k)))})
			if gap < 1e-4 || i == 2 && gap < 1 {
				break
			}
		}
		d.Runs = append(d.Runs, r)
	}
	return d
}
