package model

import (
	"math"
	"slices"

	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
)

// means returns the posterior means of a Gaussian process, as one column: the prior mean
// plus Σ_j α_j K(x_j, x).
func (m *Model) means(p points.Points) [][]float64 {
	t := m.of.Terms[0]
	out := slices.Repeat([]float64{t.B}, p.N())
	if trend := m.of.Process; trend.Beta != nil {
		var x []float64
		for i := range out {
			if x = p.Row(i); p.Sparse != nil {
				x = p.Sparse.Point(nil, i)
			}
			out[i] = trend.Trend(x)
		}
	}
	p.AddTimes([][]float64{out}, m.of.Expansion.Basis(), [][]float64{t.Coef})
	for i, v := range out {
		out[i] = m.of.Process.Value(v)
	}
	return machines.AsRows(out)
}

// inUnits returns m with coefficients and bias in units of the data, for formats that know no
// scaled targets. Predictions differ by rounding only.
func (m *Model) inUnits() *Model {
	p := m.of.Process
	if p == nil || p.Scale == nil {
		return m
	}
	own, t := m.shared(), m.of.Terms[0]
	own.of.Process = &machines.ProcessPart{Beta: p.Beta, Centre: p.Centre}
	coef := make([]float64, len(t.Coef))
	for i, c := range t.Coef {
		coef[i] = p.Scale.Width * c
	}
	own.of.Terms = []machines.Term{{Coef: coef, B: p.Scale.Invert(t.B)}}
	return own
}

// completeProcess checks the part of a model m that only Gaussian processes have, and
// returns what is wrong, or "".
func completeProcess(p *machines.ProcessPart, m *Model) string {
	n := m.of.Expansion.X.N()
	switch {
	case m.of.Expansion.X.Sparse != nil:
		return "the points of a process are not sparse"
	case n == 0:
		return "the process has no points"
	case p.Beta == nil && p.Centre != nil, p.Beta != nil && (len(p.Beta) != m.of.Expansion.D+1 || len(p.Centre) != m.of.Expansion.D):
		return "the linear mean has other features than the points"
	case !points.AllFinite(p.Beta) || !points.AllFinite(p.Centre) || !points.AllFinite(p.Noise):
		return "a number of the process is not finite"
	case len(p.Noise) > 1 && len(p.Noise) != n:
		return "want the variance of the noise for all points, or for each"
	case p.Scale != nil && !(p.Scale.Width > 0 && p.Scale.Width <= math.MaxFloat64 && math.Abs(p.Scale.Centre) <= math.MaxFloat64):
		return "the targets were scaled by a standard deviation that is not a positive number"
	case slices.ContainsFunc(p.Noise, func(v float64) bool { return v < 0 }):
		return "a variance is negative"
	}
	return ""
}
