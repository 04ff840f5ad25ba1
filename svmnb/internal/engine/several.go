package engine

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/schemes"
)

// MostClasses is the largest number of classes, for which figures have colours.
const MostClasses = 8

// checkClasses returns what is wrong with the labels of several classes, or nil.
func (q *Question) checkClasses() error {
	count := make([]int, q.Classes)
	for i, y := range q.Y {
		if y != math.Trunc(y) || y < 0 || y >= float64(q.Classes) {
			return fmt.Errorf("engine: the label of point %d is %v; classes are numbered from 0 to %d", i, y, q.Classes-1)
		}
		count[int(y)]++
	}
	if k := slices.Index(count, 0); k >= 0 {
		return fmt.Errorf("engine: class %d of %d has no points; place some", k+1, q.Classes)
	}
	return nil
}

// several answers a question about several classes by a machine for each pair of them, or for
// each of them against the rest. The certificate is the sum of those of all machines; RelGap
// and MaxKKT are the largest.
func (m *Machine) several(ctx context.Context, q *Question) (*Answer, error) {
	k := q.Classes
	duels := schemes.AllOthers(k)
	if q.Scheme == schemes.OneVsOne {
		duels = schemes.AllPairs(k, k*(k-1)/2)
	}
	for len(m.each) < len(duels) {
		m.each = append(m.each, &Machine{})
	}
	n, nodes := len(q.X), max(q.Nx, 0)*max(q.Ny, 0)
	a := newSeveral(n, len(duels))
	fields := make([][]float64, len(duels))
	a.Certificate.MaxKKT, a.Certificate.RelGap = math.Inf(-1), math.Inf(-1)
	for d, duel := range duels {
		one, rows := q.duel(duel)
		one.Limit = q.Limit / time.Duration(len(duels))
		b, err := m.each[d].Answer(ctx, one)
		if err != nil {
			return nil, err
		}
		for j, i := range rows {
			a.Alpha[i*len(duels)+d] = b.Alpha[j]
		}
		fields[d] = b.Field[:nodes]
		for i, f := range b.Field[nodes:] {
			a.Values[i*len(duels)+d] = f
		}
		a.add(b)
	}
	q.decide(a, duels, func(d, node int) float64 { return fields[d][node] })
	return a, nil
}

func newSeveral(n, machines int) *Answer {
	return &Answer{Status: solvers.Converged, Evidence: math.NaN(), Alpha: slices.Repeat([]float64{math.NaN()}, n*machines), Values: make([]float64, n*machines)}
}

// add adds the run of one machine to those of all.
func (a *Answer) add(b *Answer) {
	if a.Status == solvers.Converged {
		a.Status = b.Status
	}
	a.Iterations, a.Evaluations = a.Iterations+b.Iterations, a.Evaluations+b.Evaluations
	s, c := &a.Certificate, b.Certificate
	s.Primal, s.Dual, s.Gap = s.Primal+c.Primal, s.Dual+c.Dual, s.Gap+c.Gap
	s.RelGap, s.MaxKKT = max(s.RelGap, c.RelGap), max(s.MaxKKT, c.MaxKKT)
	s.Free, s.AtUpper = s.Free+c.Free, s.AtUpper+c.AtUpper
}

// duel returns the question to the machine of a positive and a negative class; −1 means all
// others. rows are those of its points. Its field goes on to the n points.
func (q *Question) duel(duel [2]int) (one Question, rows []int) {
	one = *q
	one.Classes, one.Moment, one.Certain = 0, -1, false
	one.X, one.Y, one.Cost, one.also = nil, nil, nil, q.X
	for i, y := range q.Y {
		if c := int(y); c == duel[0] || c == duel[1] || duel[1] < 0 {
			rows, one.X = append(rows, i), append(one.X, q.X[i])
			side := -1.0
			if c == duel[0] {
				side = 1
			}
			one.Y = append(one.Y, side)
			if q.Cost != nil {
				one.Cost = append(one.Cost, q.Cost[i])
			}
		}
	}
	return one, rows
}

// decide fills in what all machines together predict at the points and on the grid.
func (q *Question) decide(a *Answer, duels [][2]int, field func(machine, node int) float64) {
	k, n, m, nodes := q.Classes, len(q.X), len(duels), max(q.Nx, 0)*max(q.Ny, 0)
	a.F = make([]float64, n)
	for i := range a.F {
		a.F[i] = float64(q.Scheme.Winner(k, duels, a.Values[i*m:(i+1)*m]))
	}
	a.Field = make([]float64, k*nodes)
	values := make([]float64, m)
	for node := range nodes {
		for d := range values {
			values[d] = field(d, node)
		}
		for c, lead := range q.Scheme.Leads(k, duels, values) {
			a.Field[c*nodes+node] = lead
		}
	}
}

// joint answers a question about several classes by the machine of Crammer and Singer, which
// has one α for each point and class. Its kernel is K + 1 unless the question says otherwise.
func joint(ctx context.Context, q *Question) (*Answer, error) {
	own := *q
	if !q.Fixed && q.Tau2 == 0 {
		own.Tau2 = 1
	}
	g, err := kernels.NewGram(own.kernel(), q.X, 0)
	if err != nil {
		return nil, err
	}
	n, k := len(q.X), q.Classes
	p := &solvers.CrammerSinger{K: g, Y: make([]int, n), Classes: k, C: q.costs()}
	for i, y := range q.Y {
		p.Y[i] = int(y)
	}
	r, err := p.Solve(ctx, solvers.Settings{Stop: q.stop(), Every: q.every()})
	if r == nil {
		return nil, err
	}
	a := newSeveral(n, k)
	a.Status, a.Iterations, a.Evaluations, a.Certificate = r.Status, r.Iterations, r.Evaluations, r.Certificate
	copy(a.Alpha, r.Alpha)
	own.also = q.X
	fields, tau2, nodes := make([][]float64, k), own.tau2(), max(q.Nx, 0)*max(q.Ny, 0)
	for c := range fields {
		coef, b := make([]float64, n), 0.0
		for i := range coef {
			coef[i] = r.Alpha[i*k+c]
			b += tau2 * coef[i]
		}
		all := newExpansion(q.Kernel, q.X, coef, b).field(&own)
		fields[c] = all[:nodes]
		for i, f := range all[nodes:] {
			a.Values[i*k+c] = f
		}
	}
	q.decide(a, schemes.AllOthers(k), func(c, node int) float64 { return fields[c][node] })
	return a, nil
}
