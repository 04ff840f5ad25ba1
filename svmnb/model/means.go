package model

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
)

// means returns the posterior means of a Gaussian process, as one column: the prior mean
// plus Σ_j α_j K(x_j, x), or that given the nearest neighbours.
func (m *Model) means(verb string, p points.Points) ([][]float64, error) {
	switch m.of.Kind {
	case machines.ClassProcessKind:
		return m.of.Expansion.Sums(m.of.Terms, p), nil
	case machines.NeighbourKind:
		return m.nearMeans(verb, p)
	}
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
	return machines.AsRows(out), nil
}

// nearMeans returns the means given the nearest neighbours. The error is an *ArgumentError for a
// covariance matrix that is not positive definite, which only a file that was changed by hand has.
func (m *Model) nearMeans(verb string, p points.Points) ([][]float64, error) {
	ctx := context.Background()
	near, err := m.of.Neighbours(ctx)
	if err != nil {
		return nil, err
	}
	x := p.X
	if p.Sparse != nil {
		x = nil
		for i := range p.N() {
			x = append(x, p.Sparse.Point(nil, i))
		}
	}
	out, _, err := near.Posterior(ctx, x)
	if err != nil {
		return nil, arguments.Wrong(verb, math.NaN(), "%v: fit the process again, with a larger NoiseVariance", err)
	}
	for i, v := range out {
		out[i] = m.of.Process.Value(v + m.of.Terms[0].B)
	}
	return machines.AsRows(out), nil
}

// inUnits returns m with coefficients and bias in units of the data, for formats that know no
// scaled targets. A logarithm of the targets remains. Predictions differ by rounding only.
func (m *Model) inUnits() *Model {
	p, target := m.of.Process, m.of.Target
	if target == nil && (p == nil || p.Scale == nil) {
		return m
	}
	own, t := m.shared(), m.of.Terms[0]
	centre, width := 0.0, 1.0
	if p != nil {
		own.of.Process = &machines.ProcessPart{Beta: p.Beta, Centre: p.Centre}
		if p.Scale != nil {
			centre, width = p.Scale.Centre, p.Scale.Width
		}
	}
	if target != nil {
		centre, width = target.Centre+target.Width*centre, target.Width*width
		own.of.Target = nil
		if target.Log {
			own.of.Target = &steps.TargetMap{Log: true, Shift: target.Shift, Width: 1}
		}
	}
	scaled := func(v []float64) []float64 {
		if v == nil {
			return nil
		}
		out := make([]float64, len(v))
		for i, c := range v {
			out[i] = width * c
		}
		return out
	}
	t.Coef, t.W, t.B = scaled(t.Coef), scaled(t.W), centre+width*t.B
	if own.of.Terms = []machines.Term{t}; own.of.Process != nil {
		own.of.Process.Beta = scaled(own.of.Process.Beta)
		if own.of.Process.Beta != nil {
			own.of.Process.Beta[0] += centre
		}
	}
	return own
}

// noLogarithm returns an error if the machine predicts the logarithm of a target.
func (m *Model) noLogarithm(format string) error {
	if m.of.Target == nil {
		return nil
	}
	return modelError(format, 0, "the format has no place for %v; write Go or ONNX, or train without LogTarget", m.of.Target)
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
	case p.Approximation == nil && m.of.Kind != machines.ProcessKind:
		return "an approximate process has no approximation"
	case p.Approximation != nil:
		return completeApproximation(p, m)
	}
	return ""
}

// mostNear is the largest number of nearest neighbours, whose covariance matrix takes 1 GiB.
const mostNear = 16_000

// completeApproximation does it for an approximate process.
func completeApproximation(p *machines.ProcessPart, m *Model) string {
	a, n := p.Approximation, m.of.Expansion.X.N()
	switch near := m.of.Kind == machines.NeighbourKind; {
	case near != (a.Of == machines.NeighboursOf) || near != (a.Near != 0) || near != (a.Unit != nil):
		return "the approximation is another than that of the kind"
	case !near:
	case a.Near < 1 || a.Near > min(n, mostNear):
		return fmt.Sprintf("there are %d neighbours; want 1 to %d", a.Near, min(n, mostNear))
	case len(a.Unit) != m.of.Expansion.D || !points.AllFinite(a.Unit) || !(slices.Min(a.Unit) > 0):
		return "want a positive unit of distances for each feature"
	case p.Noise == nil || p.Beta != nil || a.Curve != nil || a.Second != nil || a.Square != nil:
		return "a process of nearest neighbours has a noise, and no numbers of other approximations"
	}
	if outputs := a.Of == machines.OutputsOf; outputs || a.Seen != nil || a.Output != 0 {
		if !outputs || m.of.Kind != machines.ProcessKind || p.Beta != nil || len(p.Noise) != 1 || a.Curve != nil || a.Second != nil || a.Jitter != 0 || a.Base != 0 || a.Noise != "" {
			return "one of several outputs has a noise, and no numbers of other approximations"
		}
		return completeOutputs(a, n)
	}
	if a.Noise != "" {
		if _, err := kernels.Parse(a.Noise); err != nil {
			return "the kernel of the noise: " + err.Error()
		}
	}
	square := make([]float64, 0, n)
	for i, row := range a.Square {
		if len(row) != i+1 {
			return "the matrix of the inducing points is not a lower triangle"
		}
		square = append(square, row...)
	}
	for _, v := range [][]float64{a.Curve, a.Second, square, {a.Jitter, a.Base}} {
		if !points.AllFinite(v) {
			return "a number of the approximation is not finite"
		}
	}
	second := n
	if a.Square != nil { // there may be other points after the inducing ones
		second = min(n, len(a.Square))
	}
	if p.Beta != nil || a.Curve != nil && len(a.Curve) != n || a.Second != nil && len(a.Second) != second || len(a.Square) > n || a.Jitter < 0 || a.Base < 0 {
		return "the approximation has other numbers than its points"
	}
	return ""
}

// completeOutputs does it for one of several outputs of n points.
func completeOutputs(a *machines.Approximation, n int) string {
	count := len(a.Seen)
	if count == 0 || len(a.Square) != count || a.Output < 0 || a.Output >= count {
		return fmt.Sprintf("there are %d outputs, covariances of %d and the model is of number %d", count, len(a.Square), a.Output)
	}
	values := 0
	for o, row := range a.Square {
		if len(row) != o+1 || !points.AllFinite(row) || row[o] < 0 {
			return "the covariances of the outputs are not a lower triangle of numbers"
		}
		last := -1
		for _, i := range a.Seen[o] {
			if i <= last || i >= n {
				return fmt.Sprintf("output %d was observed at point %d of %d; want increasing numbers from 0", o, i, n)
			}
			last = i
		}
		values += len(a.Seen[o])
	}
	if values > mostNear {
		return fmt.Sprintf("there are %d values, whose factor would take more than 1 GiB", values)
	}
	return ""
}
