package engine

import (
	"context"
	"math"
	"slices"

	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/solvers/linear"
)

// process answers a question about a Gaussian process (Rasmussen and Williams 2006, algorithm
// 2.1). Unless the question says otherwise its mean is that of the targets, y stands for the
// targets without it, and it is added to the answer, as package gp does. Gap of the certificate
// is the bound of ‖α − A⁻¹y‖²_A, and Primal and Dual are the bounds of y'A⁻¹y.
func process(ctx context.Context, q *Question) (*Answer, error) {
	k, err := kernels.NewGram(q.Kernel, q.X, 0)
	if err != nil {
		return nil, err
	}
	// The targets are y = width·z + average, and the system is that of z.
	average, width, centred := 0.0, 1.0, slices.Clone(q.Y)
	if q.Scaled {
		if average = q.Y[0]; slices.Min(q.Y) < slices.Max(q.Y) {
			average, width = vec.Moments(q.Y)
		}
	} else if !q.ZeroMean {
		for _, y := range q.Y {
			average += y / float64(len(q.Y))
		}
	}
	for i := range centred {
		centred[i] = (centred[i] - average) / width
	}
	s := &linear.System{K: k, Noise: q.costs()}
	r, err := linear.Solve(ctx, s, [][]float64{centred}, linear.Cholesky{Jitter: 1e-8 * (1 + slices.Max(k.Diag()))}, linear.Settings{})
	if err != nil {
		return nil, err
	}
	alpha, c := r.X[0], r.Certificates[0]
	a := &Answer{Status: r.Status, Iterations: r.Iterations, Evaluations: r.Evaluations, Bias: average, Alpha: alpha, Certificate: solvers.Certificate{Gap: c.Energy, Primal: c.Upper, Dual: c.Lower, MaxKKT: c.Residual}}
	fit := 0.0
	for i, y := range centred {
		fit += y * alpha[i]
	}
	a.Evidence = -0.5 * (fit + r.Factor.LogDet() + float64(len(q.Y))*math.Log(2*math.Pi))
	basis := kernels.Against(q.Kernel, q.X)
	row := make([]float64, len(q.X))
	mean := func(x []float64) float64 {
		basis.Row(row, x)
		f := 0.0
		for j, v := range row {
			f += alpha[j] * v
		}
		return average + width*f
	}
	for _, x := range q.X {
		a.F = append(a.F, mean(x))
	}
	for _, x := range grid(q) {
		a.Field = append(a.Field, mean(x))
		v := q.Kernel.Eval(x, x)
		for _, h := range r.Factor.HalfSolve(row, row) {
			v -= h * h
		}
		a.SD = append(a.SD, width*math.Sqrt(max(0, v)))
	}
	return a, nil
}
