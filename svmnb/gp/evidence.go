package gp

import (
	"context"
	"fmt"
	"math"

	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers/linear"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// Estimate is a number that is exact, or known between bounds, or estimated by random
// probes, or both of the last two.
type Estimate struct {
	Value float64
	Error float64 // standard error of the mean over the probes; 0 without probes
	Width float64 // half the width of the bounds: how far Value may be off besides; 0 without bounds
}

// String says of each ± what it is.
func (e Estimate) String() string {
	if e.Error == 0 && e.Width == 0 {
		return say.Signed(e.Value, 9)
	}
	s := say.Signed(e.Value, 6)
	if e.Error == 0 || e.Width > e.Error/200 { // less would not show in the digits of the other
		s += fmt.Sprintf(" ± %.2g (bounds)", e.Width)
	}
	if e.Error != 0 {
		s += fmt.Sprintf(" ± %.2g (standard error)", e.Error)
	}
	return s
}

// Partial is how the log marginal likelihood changes with one hyperparameter.
type Partial struct {
	Name     string   // as in kernels.Hyperparameters, or "noise"
	Value    float64  // the hyperparameter, > 0
	Gradient Estimate // ∂ ln p(y) / ∂ ln Value, in nats
}

// LogMarginalLikelihood returns
//
//	ln p(y) = −½ y'A⁻¹y − ½ ln|A| − (n/2) ln 2π
//
// in nats (GPML 2.30), y without its constant mean; with a linear mean GPML 2.45,
// in which the vague prior of β has no factor. A direct method knows it exactly,
// from Cholesky's factor. An iterative one takes y'A⁻¹y from the middle of its
// bounds and estimates ln|A| by stochastic Lanczos quadrature (Ubaru, Chen and
// Saad 2017): the standard error is that of the probes, and the bounds are those of
// y'A⁻¹y and of the quadrature together.
//
// When ctx ends early the error wraps context.Cause(ctx).
func (f *Fit) LogMarginalLikelihood(ctx context.Context) (_ Estimate, err error) {
	defer guard.Caught(&err)
	if err := f.ready(ctx, "LogMarginalLikelihood"); err != nil {
		return unknown, err
	}
	if !direct(f.task.method) {
		return f.estimate(ctx)
	}
	factor, err := f.factor(ctx)
	if err != nil {
		return unknown, fmt.Errorf("svmnb: LogMarginalLikelihood: %w", err)
	}
	return Estimate{Value: f.evidence(factor)}, nil
}

// unknown is the Estimate beside an error.
var unknown = Estimate{Value: math.NaN(), Error: math.NaN(), Width: math.NaN()}

// evidence is the log marginal likelihood by the factor of A.
func (f *Fit) evidence(factor *linear.CholeskyFactor) float64 {
	n := len(f.task.y)
	sum := vec.Dot(f.task.y, f.Alpha) + factor.LogDet()
	if f.trend != nil {
		sum += f.trend.logDet
		n -= len(f.trend.beta)
	}
	return -sum/2 - float64(n)/2*math.Log(2*math.Pi)
}

// Gradient returns the derivatives of the log marginal likelihood by the
// logarithms of the kernel's hyperparameters, and, last, of the noise variance
// where it is one positive number (GPML 5.9):
//
//	½ α'(∂A)α − ½ tr(A⁻¹ ∂A)
//
// A direct method computes A⁻¹ for that, n³ operations. An iterative one solves
// for α again where the fit stopped early, and estimates the trace by random probes
// (Hutchinson 1989, Skilling), whose standard error is given. The
// error wraps that of kernels.Hyperparameters for a kernel that has none, and
// context.Cause(ctx) when ctx ends early.
func (f *Fit) Gradient(ctx context.Context) (_ []Partial, err error) {
	defer guard.Caught(&err)
	if err := f.ready(ctx, "Gradient"); err != nil {
		return nil, err
	}
	partials, err := f.task.hyperparameters()
	if err != nil {
		return nil, err
	}
	if !direct(f.task.method) {
		return f.estimateGradient(ctx, partials)
	}
	factor, err := f.factor(ctx)
	if err != nil {
		return nil, fmt.Errorf("svmnb: Gradient: %w", err)
	}
	grad := make([]float64, len(partials))
	if err := f.gradient(ctx, factor, grad); err != nil {
		return nil, err
	}
	for i, g := range grad {
		partials[i].Gradient.Value = g
	}
	return partials, nil
}

// hyperparameters returns those of the kernel, and of the noise where it is one
// positive number.
func (t *processTask) hyperparameters() ([]Partial, error) {
	list, err := kernels.Hyperparameters(t.kernel)
	if err != nil {
		return nil, fmt.Errorf("svmnb: %w", err)
	}
	var partials []Partial
	for _, h := range list {
		partials = append(partials, Partial{Name: h.Name, Value: h.Value})
	}
	if t.oneNoise() {
		partials = append(partials, Partial{Name: "noise", Value: t.noise})
	}
	return partials, nil
}

// oneNoise reports whether the noise variance is one number that has a logarithm.
func (t *processTask) oneNoise() bool { return t.noises == nil && t.noise > 0 }

// gradient fills grad with the exact derivatives.
func (f *Fit) gradient(ctx context.Context, factor *linear.CholeskyFactor, grad []float64) error {
	inverse, err := f.precision(ctx, factor)
	if err != nil {
		return err
	}
	k, err := kernels.NewGradient(f.task.kernel, f.task.data.X)
	if err != nil {
		return fmt.Errorf("svmnb: %w", err)
	}
	own := grad
	if f.task.oneNoise() {
		own = grad[:len(grad)-1]
	}
	weights := make([]float64, len(f.Alpha))
	trace := 0.0
	done := k.Contract(own, func(i int) []float64 {
		if ctx.Err() != nil {
			return nil
		}
		for j, v := range inverse(i) {
			weights[j] = (f.Alpha[i]*f.Alpha[j] - v) / 2
		}
		trace += weights[i]
		return weights
	})
	if done == nil {
		return fmt.Errorf("svmnb: Gradient: %w", context.Cause(ctx))
	}
	if f.task.oneNoise() {
		grad[len(grad)-1] = f.task.noise * trace
	}
	return nil
}

// precision returns a function whose value is row i of A⁻¹ up to the diagonal, with a
// linear mean that of P, in the same memory each time.
func (f *Fit) precision(ctx context.Context, factor *linear.CholeskyFactor) (func(i int) []float64, error) {
	inverse, err := factor.InverseLower(ctx)
	if err != nil {
		return nil, fmt.Errorf("svmnb: the inverse: %w", err)
	}
	buffer := make([]float64, factor.N())
	return func(i int) []float64 {
		row := inverse.Row(buffer, i)
		if r := f.trend; r != nil {
			for a, s := range r.solved {
				c := 0.0
				for b, t := range r.solved {
					c += r.inverse[a][b] * t[i]
				}
				for j := range row {
					row[j] -= c * s[j]
				}
			}
		}
		return row
	}, nil
}

// LeaveOneOut is what the process says of each target when it has not seen it,
// the hyperparameters and a constant mean left as they are (GPML §5.4.2).
type LeaveOneOut struct {
	Mean     []float64 // n means of the targets: y_i − α_i/(A⁻¹)_ii
	Variance []float64 // n variances of the targets, noise included: 1/(A⁻¹)_ii

	// LogDensity is ln p(y_i) by the others, n values in nats; their sum is the
	// log pseudo-likelihood.
	LogDensity []float64
}

// LeaveOneOut predicts each target from the others in closed form (GPML 5.12),
// with P for A⁻¹ under a linear mean (Dubrule 1983). It needs a direct method and
// n³ operations. When ctx ends early the error wraps context.Cause(ctx).
func (f *Fit) LeaveOneOut(ctx context.Context) (_ *LeaveOneOut, err error) {
	defer guard.Caught(&err)
	if err := f.ready(ctx, "LeaveOneOut"); err != nil {
		return nil, err
	}
	if !direct(f.task.method) {
		return nil, arguments.Wrong("LeaveOneOut", math.NaN(), "%s does not know the diagonal of A⁻¹; use Cholesky", f.Method)
	}
	factor, err := f.factor(ctx)
	if err != nil {
		return nil, fmt.Errorf("svmnb: LeaveOneOut: %w", err)
	}
	inverse, err := f.precision(ctx, factor)
	if err != nil {
		return nil, err
	}
	n := len(f.Alpha)
	l := &LeaveOneOut{make([]float64, n), make([]float64, n), make([]float64, n)}
	for i, a := range f.Alpha {
		d := inverse(i)[i]
		rest, v := a/d, 1/d
		l.Mean[i], l.Variance[i] = f.task.data.Y[i]-rest, v
		l.LogDensity[i] = -math.Log(2*math.Pi*v)/2 - rest*rest/v/2
	}
	return l, nil
}

// RMSE returns the root of the mean squared error against the n targets y, in their
// units; NaN for another number of targets.
func (l *LeaveOneOut) RMSE(y []float64) float64 {
	if l == nil || len(y) != len(l.Mean) {
		return math.NaN()
	}
	sum := 0.0
	for i, m := range l.Mean {
		sum += (y[i] - m) * (y[i] - m)
	}
	return math.Sqrt(sum / float64(len(l.Mean)))
}
