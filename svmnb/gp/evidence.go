package gp

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"github.com/svmnb/svmnb/internal/parallel"
	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers/linear"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// Estimate is a number that may be exact, known between bounds, estimated by random probes,
// or both of the latter.
type Estimate struct {
	Value float64
	Error float64 // standard error of the mean over the probes; 0 without probes
	Width float64 // half the distance of the bounds, an error in addition to Error; 0 without bounds
}

// String writes the value and, after each ±, what kind of error it is.
func (e Estimate) String() string {
	if e.Error == 0 && e.Width == 0 {
		return say.Signed(e.Value, 9)
	}
	s := say.Signed(e.Value, 6)
	if e.Error == 0 || e.Width > e.Error/200 { // a smaller width would not change the digits that are shown
		s += fmt.Sprintf(" ± %.2g (bounds)", e.Width)
	}
	if e.Error != 0 {
		s += fmt.Sprintf(" ± %.2g (standard error)", e.Error)
	}
	return s
}

// Partial is the derivative of the log marginal likelihood with respect to one
// hyperparameter.
type Partial struct {
	Name     string   // as in kernels.Hyperparameters of the kernel and the features, or "noise"
	Value    float64  // the hyperparameter, > 0
	Gradient Estimate // ∂ ln p(y) / ∂ ln Value, in nats
}

// LogMarginalLikelihood returns, in nats,
//
//	ln p(y) = −½ y'A⁻¹y − ½ ln|A| − (n/2) ln 2π
//
// (Rasmussen and Williams 2006, eq. 2.30), where y are the targets minus the constant mean.
// With a linear mean it returns their eq. 2.45, without the constant factor of the vague
// prior of β.
//
// For a direct method the value is exact; it comes from the Cholesky factor. For an
// iterative method, y'A⁻¹y is the middle of its bounds, and ln|A| is estimated by
// stochastic Lanczos quadrature (Ubaru, Chen and Saad 2017). Error is then the standard
// error over the probes, and Width combines the bounds of y'A⁻¹y and of the quadrature.
//
// When ctx ends early, the error wraps context.Cause(ctx).
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

// unknown is the Estimate that is returned with an error.
var unknown = Estimate{Value: math.NaN(), Error: math.NaN(), Width: math.NaN()}

// evidence computes the log marginal likelihood from the factor of A.
func (f *Fit) evidence(factor *linear.CholeskyFactor) float64 {
	n := len(f.task.y)
	sum := vec.Dot(f.task.y, f.Alpha) + factor.LogDet()
	if f.trend != nil {
		sum += f.trend.logDet
		n -= len(f.trend.beta)
	}
	return -sum/2 - float64(n)/2*math.Log(2*math.Pi)
}

// Gradient returns the derivatives of the log marginal likelihood with respect to the
// logarithms of the kernel's hyperparameters and, last, of the noise variance if that is
// one positive number (Rasmussen and Williams 2006, eq. 5.9):
//
//	½ α'(∂A)α − ½ tr(A⁻¹ ∂A)
//
// For a direct method, Gradient computes A⁻¹ in n³ operations. From 1,000 points on it does so in
// single precision if the noise is not small beside the variance; a derivative then has an error of
// about 1e-8 n nats (see linear.CholeskyFactor.InverseLowerSingle). For an iterative method, it
// improves α if the fit stopped early, and estimates the trace by random probes (Hutchinson
// 1989), with their standard error. The error wraps that of kernels.Hyperparameters if the
// kernel has none, and context.Cause(ctx) when ctx ends early.
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

// hyperparameters returns those of the kernel, and the noise variance if it is one positive
// number.
func (t *processTask) hyperparameters() ([]Partial, error) {
	list, err := kernels.Hyperparameters(t.kernel, t.data.Features...)
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

// lookup returns the index among the hyperparameters of the one called name.
func (t *processTask) lookup(name string) (int, error) {
	if t.oneNoise() && name == "noise" {
		list, err := t.hyperparameters()
		return len(list) - 1, err
	}
	return kernels.Lookup(t.kernel, name, t.data.Features...)
}

// oneNoise reports whether the noise variance is one positive number, which then has a
// logarithm.
func (t *processTask) oneNoise() bool { return t.noises == nil && t.noise > 0 }

// gradient fills grad with the exact derivatives.
func (f *Fit) gradient(ctx context.Context, factor *linear.CholeskyFactor, grad []float64) error {
	inverse, err := f.precision(ctx, factor.InverseLowerSingle)
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
	const some = 64 // rows of weights that are computed together
	n := len(f.Alpha)
	weights, trace := several(min(some, n), n), 0.0
	done := k.Contract(own, func(i int) []float64 { // from the last row to the first
		at := (n - 1 - i) % some
		if at == 0 {
			err = parallel.For(ctx, runtime.GOMAXPROCS(0), min(some, i+1), func(_, r int) {
				a := f.Alpha[i-r]
				row := inverse(weights[r], i-r)
				for j, v := range row {
					row[j] = (a*f.Alpha[j] - v) / 2
				}
			})
		}
		if err != nil {
			return nil
		}
		trace += weights[at][i]
		return weights[at]
	})
	if done == nil {
		return fmt.Errorf("svmnb: Gradient: %w", context.Cause(ctx))
	}
	if f.task.oneNoise() {
		grad[len(grad)-1] = f.task.noise * trace
	}
	return nil
}

// precision returns a function that sets dst, of n numbers, to row i of A⁻¹ up to the diagonal, and
// returns it; with a linear mean, row i of P (see trend). The argument invert
// computes A⁻¹. Several goroutines may call the returned function.
func (f *Fit) precision(ctx context.Context, invert func(context.Context) (*linear.InverseLower, error)) (func(dst []float64, i int) []float64, error) {
	inverse, err := invert(ctx)
	if err != nil {
		return nil, fmt.Errorf("svmnb: the inverse: %w", err)
	}
	return func(dst []float64, i int) []float64 {
		row := inverse.Row(dst, i)
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

// LeaveOneOut has the predictions of each target from all other targets, with the
// hyperparameters and a constant mean of the fit to all targets (Rasmussen and Williams
// 2006, §5.4.2).
type LeaveOneOut struct {
	Mean     []float64 // n means of the targets: y_i − α_i/(A⁻¹)_ii
	Variance []float64 // n variances of the targets, noise included: 1/(A⁻¹)_ii

	// LogDensity is ln p(y_i | all other targets), n values in nats. Their sum is the log
	// pseudo-likelihood.
	LogDensity []float64
}

// LeaveOneOut predicts each target from the others by a formula, without further fits
// (Rasmussen and Williams 2006, eq. 5.12; with a linear mean, P replaces A⁻¹, Dubrule
// 1983). It needs a direct method and n³ operations. When ctx ends early, the error wraps
// context.Cause(ctx).
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
	inverse, err := f.precision(ctx, factor.InverseLower)
	if err != nil {
		return nil, err
	}
	n := len(f.Alpha)
	row := make([]float64, n)
	l := &LeaveOneOut{make([]float64, n), make([]float64, n), make([]float64, n)}
	for i, a := range f.Alpha {
		d := inverse(row, i)[i]
		rest, v := a/d, 1/d
		l.Mean[i], l.Variance[i] = f.task.value(f.task.seen[i]-rest), f.task.variance(v)
		l.LogDensity[i] = -math.Log(2*math.Pi*v)/2 - rest*rest/v/2
		if s := f.task.scale; s != nil {
			l.LogDensity[i] -= math.Log(s.Width)
		}
	}
	return l, nil
}

// RMSE returns the root mean squared error of Mean against the n targets y, in their units;
// NaN if there are not n.
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
