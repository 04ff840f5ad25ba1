package gp

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/solvers/linear"
)

// CGLB makes the bounds of the evidence closer by conjugate gradients on all points (Artemev, Burt
// and van der Wilk 2021). With any v, r = y − Av, P = Q + σ²I and T = tr(K − Q),
//
//	ln p(y) ≥ −½(v'(y + r) + r'P⁻¹r) − ½ ln|P| − (n/2) ln(1 + T/nσ²) − (n/2) ln 2π.
//
// Conjugate gradients find the v of nearly the highest bound, which is never below that of Titsias.
// Titsias's bound prefers a noise that is too large, so hyperparameters that are learned by CGLB's
// bound are nearer to those of the exact process. The mean of f becomes that of the exact process, from all n
// points, to what conjugate gradients leave; the variance remains that of the inducing points.
//
// It costs n² operations for each iteration of conjugate gradients, and for the gradient n² times
// the number of hyperparameters. Memory bounds the bytes for K.
func (p SparseProcess) CGLB() SparseProcess { p.cglb = true; return p }

// conjugate is what CGLB adds to a SparseFit.
//
// Lower and its derivatives with v fixed have α = P⁻¹r and c = 1/(1 + T/nσ²) in place of those of
// Titsias's bound (see weigh), and one term more: with ∂A = ∂K + ∂σ²I,
//
//	½ v'∂A v + α'∂A v.
//
// As v is nearly the best one, it may count as fixed.
type conjugate struct {
	solved []float64 // v; nil without CGLB
	left   []float64 // P⁻¹r
}

// solvedTo returns the r'P⁻¹r, in nats, to which v is solved. The derivatives with v fixed err by about
// its root, times that of the condition of P⁻¹A.
func solvedTo(n int) float64 {
	if n < mixedPoints {
		return 1e-12
	}
	return 1e-6
}

// tighten solves for v and sets both bounds, the coefficients and the conjugate of f. rest is
// n ln 2π + ln|P|.
func (f *SparseFit) tighten(ctx context.Context, rest float64) error {
	t := *f.task.processTask
	t.method = linear.CG{Rank: linear.AutoRank}
	system, err := t.matrix()
	if err != nil {
		return err
	}
	n := len(t.y)
	enough := solvedTo(n)
	var v, r, left []float64
	known, upper := 0.0, 0.0
	set := linear.Settings{Memory: t.cache, Stop: linear.Bounds{Abs: enough, Rel: 1e-16}}
	for range 3 {
		if system.Criterion() != linear.Criterion(linear.Bounds{Rel: 1e-6}) { // there are no bounds
			set.Stop = linear.Residual{Rel: 1e-10}
		}
		sol, err := linear.Solve(ctx, system, [][]float64{t.y}, t.method, set)
		if err != nil {
			return t.explain(err)
		}
		v, r = sol.X[0], make([]float64, n)
		if err := system.Times(ctx, [][]float64{r}, [][]float64{v}); err != nil {
			return fmt.Errorf("svmnb: CGLB: %w", err)
		}
		known = 0
		for i, y := range t.y {
			r[i] = y - r[i]
			known += v[i] * (y + r[i])
		}
		left = f.against(r)
		// r'P⁻¹r may be much more than r'A⁻¹r, which the criterion bounds.
		rest := vec.Dot(r, left)
		if upper = known + rest; !(rest > enough) || sol.Status != solvers.Converged {
			break
		}
		set.Start, set.Stop = sol.X, linear.Bounds{Abs: enough * sol.Certificates[0].Energy / rest / 2, Rel: 1e-16}
	}
	most := f.against(t.y)
	if start := vec.Dot(t.y, most); !(upper < start) { // conjugate gradients did not get far
		v, r, left, known, upper = make([]float64, n), t.y, most, 0, start
	}
	f.solved, f.left = v, left
	f.Lower = -(upper + rest + float64(n)*math.Log1p(f.residual/(float64(n)*t.noise))) / 2
	f.Upper = min(f.Upper, -(known+rest)/2)
	sum := make([]float64, len(f.Inducing))
	for i, row := range f.v {
		vec.Axpy(sum, r[i]/t.noise, row)
	}
	f.means = kernels.Against(t.kernel, slices.Concat(f.Inducing, t.data.X))
	f.coef = slices.Concat(f.coefficients(f.factor.HalfSolve(sum, sum)), v)
	return nil
}

// gradientSolved adds the term of v to the derivatives of Lower.
func (f *SparseFit) gradientSolved(ctx context.Context, grad []float64) error {
	t := f.task
	k, err := kernels.NewGradient(t.kernel, t.data.X)
	if err != nil {
		return fmt.Errorf("svmnb: %w", err)
	}
	weights := make([]float64, len(t.y))
	more := k.Contract(nil, func(i int) []float64 {
		if ctx.Err() != nil {
			return nil
		}
		a, b := f.solved[i]+f.left[i], f.solved[i]
		for j, v := range f.solved { // ½(vv' + αv' + vα')
			weights[j] = (a*v + b*f.left[j]) / 2
		}
		return weights
	})
	if more == nil {
		return fmt.Errorf("svmnb: the gradient: %w", context.Cause(ctx))
	}
	vec.Axpy(grad[:len(more)], 1, more)
	grad[len(grad)-1] += t.noise * (vec.Dot(f.solved, f.solved)/2 + vec.Dot(f.left, f.solved))
	return nil
}
