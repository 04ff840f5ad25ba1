// Package gp has Gaussian processes (Rasmussen and Williams 2006), for real targets
//
//	fit := gp.Regress(datasets.Motorcycle()).
//		Kernel(kernels.Scale(2025, kernels.RBF(0.02))).NoiseVariance(484).MustFit()
//	fit.Show(gp.Posterior)
//
// and for classes:
//
//	fit := gp.Classify(datasets.Moons(100, 0.2, 1)).EP().Optimise().MustFit()
//	fit.Show(gp.Probability)
//
// [Process.Likelihood] is for outliers, counts and noise that depends on x, [Process.Inducing] for
// many points, and [Process.Outputs] for several targets.
//
// A description, such as [Process] or [Classifier], is a value; nothing is computed until Fit, MustFit
// or Keep.
package gp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers/linear"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/cells"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
)

// Process describes a Gaussian process for real targets, y = mean + f(x) + noise, where f
// has the covariance K(x, z), and how to solve its linear system A = K + σ²I (Rasmussen and
// Williams 2006; Cristianini and Shawe-Taylor 2000, §7.6). It is a value: every method
// returns a changed copy, so several descriptions can start from the same one, and two can
// be compared by ==. Wrong arguments are collected, and Fit reports them together.
type Process struct {
	data     *datasets.Dataset
	kernel   kernels.Kernel
	noise    float64 // σ²
	noisy    bool    // the noise was set
	noises   *[]float64
	hypers   *[]hyper // what is said of hyperparameters, in the order of their names; nil means nothing
	mean     mean
	scaled   bool // NormaliseTargets
	method   linear.Method
	named    bool // the method was set
	stop     linear.Criterion
	limit    int
	cache    int64
	live     bool
	learn    bool
	restarts int
	seed     uint64
	behind   *steps.Passage // the steps of the pipeline that ends in this process; otherwise nil
	faults   arguments.Faults
}

type mean int

const (
	constantMean mean = iota
	zeroMean
	linearMean
)

// mixedPoints is the number of points from which on the default is linear.Mixed, since the
// time for a factor matters.
const mixedPoints = 4096

// Regress starts the description of a Gaussian process for data with real targets. The
// defaults are:
//
//   - The mean of the targets is removed. Let v be their variance.
//   - The kernel is v times the squared exponential, whose length scale is half the median
//     distance between two points. The noise variance is v/10.
//   - Below 4,096 points the system is solved by Cholesky factorisation. From 4,096 points
//     on, the factor is in single precision and the solution is refined (linear.Mixed); the
//     exact factor is computed when variances or the evidence are first needed.
//   - If there is no memory for a factor, the system is solved by conjugate gradients with a
//     preconditioner (linear.CG{Rank: linear.AutoRank}), and results have bounds.
//
// The default hyperparameters are only a start: set Kernel and NoiseVariance, or let
// Optimise find them. The data must not be changed afterwards.
func Regress(data *datasets.Dataset) Process { return Process{}.about("Regress", data) }

// On returns p for other data, with the same kernel, noise and method. If no method was
// set, it takes the default for the new number of points. On makes it possible to learn
// hyperparameters from a part of the data and to use them for all:
//
//	part := gp.Regress(data.Select(rows)).Optimise().MustFit()
//	all := part.Description.On(data).MustFit()
func (p Process) On(data *datasets.Dataset) Process { return p.about("On", data) }

func (p Process) about(call string, data *datasets.Dataset) Process {
	p.data = data
	if data == nil {
		p.data = &datasets.Dataset{}
		p.faults.Said(call, arguments.Wrong(call, math.NaN(), "the data set is nil; give one of package datasets or datasets.New(x, y)"))
	}
	if p.noises != nil && len(*p.noises) != p.data.N() {
		p.faults.Said(call, arguments.Wrong(call, float64(len(*p.noises)), "there are %d variances of noise for %d points; say NoiseVariances again, or NoiseVariance", len(*p.noises), p.data.N()))
	}
	if !p.named {
		p.method = linear.Cholesky{}
		if len(p.data.X) >= mixedPoints {
			p.method = linear.Mixed{}
		}
	}
	return p
}

// described returns p. For the zero value it returns a Process whose error says that it has
// no data.
func (p Process) described() Process {
	if p.data == nil {
		return p.about("Regress", nil)
	}
	return p
}

// Kernel sets the covariance of f, in the units of the targets squared; see kernels.Scale
// for its variance.
func (p Process) Kernel(k kernels.Kernel) Process {
	p.kernel = k
	p.faults.Said("Kernel", wrongKernel(k))
	return p
}

// wrongKernel returns the error of a kernel that Kernel was given, or nil.
func wrongKernel(k kernels.Kernel) error {
	if k != nil && k.Check() != nil {
		return fmt.Errorf("svmnb: Kernel: %w", k.Check())
	}
	return arguments.WrongIf(k == nil, "Kernel", math.NaN(), "the kernel is nil; give one such as kernels.Scale(4, kernels.SquaredExponential(0.5))")
}

// NoiseVariance sets σ², the variance of the noise in each target, in the units of the
// targets squared. 0 means targets without noise; it needs a direct method and a positive
// definite kernel matrix. NoiseVariance replaces NoiseVariances.
func (p Process) NoiseVariance(v float64) Process {
	p.noise, p.noisy, p.noises = v, true, nil
	p.faults.Said("noise", arguments.WrongIf(!(v >= 0) || math.IsInf(v, 1), "NoiseVariance", v, "the variance is %v; it must be a positive number, or 0 for targets without noise", v))
	return p
}

// NoiseVariances sets the variance of the noise of each target, n numbers ≥ 0. Optimise
// does not change them.
func (p Process) NoiseVariances(v []float64) Process {
	p = p.described()
	own := slices.Clone(v)
	p.noise, p.noises, p.noisy = 0, &own, true
	err := arguments.WrongIf(len(v) != p.data.N(), "NoiseVariances", float64(len(v)), "%s for %s; give one for each", say.Several(len(v), "variance"), say.Several(p.data.N(), "point"))
	for i, s := range v {
		if err == nil && (!(s >= 0) || math.IsInf(s, 1)) {
			err = arguments.At("NoiseVariances", i, -1, s, "the variance is %v; it must be a positive number, or 0 for a target without noise", s)
		}
	}
	p.faults.Said("noise", err)
	return p
}

// ConstantMean subtracts the mean of the targets and adds it to every prediction. It is the
// default. The mean counts as known, so the variances do not contain its uncertainty.
func (p Process) ConstantMean() Process { p.mean = constantMean; return p }

// ZeroMean sets the prior mean to 0.
func (p Process) ZeroMean() Process { p.mean = zeroMean; return p }

// LinearMean sets the prior mean β_0 + β'x, with a vague prior for β. Generalised least
// squares finds β, and the variances contain its uncertainty (Rasmussen and Williams 2006,
// §2.7). LinearMean needs a direct method.
func (p Process) LinearMean() Process { p.mean = linearMean; return p }

// NormaliseTargets centres the targets and divides them by their standard deviation before
// the fit, as datasets.FitTarget does; targets that are all the same are only centred. This
// suits a kernel that knows nothing of the unit of the targets. Kernel, NoiseVariance, Tol,
// bounds and priors are then in units of the scaled targets, whose variance is 1, and so are
// the fields of the [Fit] and its log marginal likelihood. Predictions are in units of the
// data: means, variances, samples, LeaveOneOut, figures, and the values of a model.
func (p Process) NormaliseTargets() Process { p.scaled = true; return p }

// Cholesky chooses the factorisation A = LL', in n³/3 operations. It is the default below
// 4,096 points.
func (p Process) Cholesky() Process { return p.Using(linear.Cholesky{}) }

// CG chooses conjugate gradients (Cristianini and Shawe-Taylor 2000, Table 7.3), with n²
// multiplications in each iteration. The results have bounds for the distance to the exact
// ones.
func (p Process) CG() Process { return p.Using(linear.CG{}) }

// WidrowHoff chooses the dual form of the Widrow–Hoff rule, which updates one α at a time
// (Cristianini and Shawe-Taylor 2000, §7.6).
func (p Process) WidrowHoff() Process { return p.Using(linear.WidrowHoff{}) }

// Using chooses any method, such as linear.CG{Rank: 20}.
func (p Process) Using(m linear.Method) Process {
	p.method, p.named = m, true
	p.faults.Said("Using", arguments.WrongIf(m == nil, "Using", math.NaN(), "the method is nil; give one such as linear.CG{}"))
	return p
}

// Tol stops an iterative method when its bounds of y'A⁻¹y are within tol, in nats. The
// error of the log marginal likelihood from this term is then at most half of tol. The
// default is 1e-6 of y'A⁻¹y.
func (p Process) Tol(tol float64) Process {
	p.stop = linear.Bounds{Abs: tol}
	p.faults.Said("Stop", arguments.WrongIf(!(tol > 0) || math.IsInf(tol, 1), "Tol", tol, "the tolerance is %v; it must be a positive number", tol))
	return p
}

// Stop sets any stopping criterion of an iterative method, such as linear.Residual{Rel:
// 1e-8}.
func (p Process) Stop(criterion linear.Criterion) Process {
	p.stop = criterion
	p.faults.Said("Stop", arguments.WrongIf(criterion == nil, "Stop", math.NaN(), "the criterion is nil; give one such as linear.Bounds{Rel: 1e-6}"))
	return p
}

// MaxIterations stops an iterative method after n iterations. The certificate then bounds
// the error.
func (p Process) MaxIterations(n int) Process {
	p.limit = n
	p.faults.Said("MaxIterations", arguments.WrongIf(n < 1, "MaxIterations", float64(n), "the limit is %d; it must be at least 1", n))
	return p
}

// Memory limits the bytes for kernel rows and, separately, those for the method. The
// defaults are 256 MiB for rows, and Go's memory limit or else 4 GiB for the method. An
// iterative method computes rows that do not fit again; CG may instead hold K in single
// precision, in 2n² bytes, by default in half of the memory that the machine has free. A direct method needs 4n² bytes, LU
// and GaussJordan 8n²; Fit returns a *linear.MemoryError if these exceed the limit.
func (p Process) Memory(bytes int64) Process {
	p.cache = bytes
	p.faults.Said("Memory", arguments.WrongIf(bytes < 1, "Memory", float64(bytes), "the bound is %d bytes; it must be positive", bytes))
	return p
}

// Optimise makes Fit first find the hyperparameters of the kernel and the noise variance
// that maximise the log marginal likelihood (Rasmussen and Williams 2006, §5.4), by
// gradient ascent from those of the description. Hyperparameters in kernels.Fixed, a noise
// variance of 0 and NoiseVariances do not change. [Process.Bound] keeps the others within
// bounds, and [Process.LogNormalPrior] and [Process.GammaPrior] say where to expect them.
//
// The ascent uses the Cholesky factor, n³ operations in each step and 8n² bytes, also if an
// iterative method solves the system afterwards. If that has more than 10,000 points, or no room
// for the factors, Optimise learns from at most 4,000 points by factors, and then from all in 8
// steps of stochastic gradient ascent (Wang et al. 2019): each solves one system for the targets
// and 8 probes, which estimate the traces of the gradient, and starts from the solutions of the
// step before. The evidence is then not computed. A step takes longer if the
// noise is small beside the kernel. If the targets have hardly any noise, give it a lower bound, such
// as a hundredth of their variance v: Bound("noise", 0.01*v, v).
//
// After an interrupt, Fit returns the process with the best hyperparameters so far, solved,
// and an error that wraps context.Cause(ctx). Before the first evaluation it returns the
// process as described, if that can be solved within a second.
func (p Process) Optimise() Process { p.learn = true; return p }

// Restarts is Optimise with n more starts, at most 1000. Each hyperparameter of a start is
// multiplied by a random factor between 1/10 and 10, which seed determines. Fit takes the
// best end of all ascents.
func (p Process) Restarts(n int, seed uint64) Process {
	p.learn, p.restarts, p.seed = true, n, seed
	p.faults.Said("Restarts", arguments.WrongIf(n < 0 || n > mostRestarts, "Restarts", float64(n), "the number is %d; it must be from 0 to %d", n, mostRestarts))
	return p
}

const mostRestarts = 1000

// Live shows the bounds of y'A⁻¹y while an iterative method runs; see
// svmnb.Classifier.Live. It shows nothing for a direct method, which has no iterations, nor
// for Optimise, whose progress MustFit shows.
func (p Process) Live() Process { p.live = true; return p }

// String returns the Go expression of the description.
func (p Process) String() string { return p.text(true) }

// text is String, without the default method if that has no meaning.
func (p Process) text(method bool) string {
	var s strings.Builder
	fmt.Fprintf(&s, "gp.Regress(%s)", points.Name(p.data))
	if p.kernel != nil {
		fmt.Fprintf(&s, ".Kernel(%s)", p.kernel)
	}
	switch {
	case p.noises != nil:
		s.WriteString(".NoiseVariances(…)")
	case p.noisy:
		fmt.Fprintf(&s, ".NoiseVariance(%s)", say.Number(p.noise))
	}
	s.WriteString([...]string{"", ".ZeroMean()", ".LinearMean()"}[p.mean])
	if p.scaled {
		s.WriteString(".NormaliseTargets()")
	}
	switch {
	case !method && !p.named:
	case p.method == nil:
		s.WriteString(".Using(nil)")
	case p.method == linear.Method(linear.Cholesky{}):
		s.WriteString(".Cholesky()")
	case p.method == linear.Method(linear.CG{}):
		s.WriteString(".CG()")
	default:
		fmt.Fprintf(&s, ".Using(%s)", say.Literal(p.method))
	}
	switch stop := p.stop.(type) {
	case nil:
	case linear.Bounds:
		if stop.Rel == 0 {
			fmt.Fprintf(&s, ".Tol(%s)", say.Number(stop.Abs))
			break
		}
		fmt.Fprintf(&s, ".Stop(%s)", say.Literal(stop))
	default:
		fmt.Fprintf(&s, ".Stop(%s)", say.Literal(stop))
	}
	if p.limit != 0 {
		fmt.Fprintf(&s, ".MaxIterations(%d)", p.limit)
	}
	if p.cache != 0 {
		fmt.Fprintf(&s, ".Memory(%d)", p.cache)
	}
	for _, h := range p.said() {
		s.WriteString(h.String())
	}
	switch {
	case p.restarts > 0:
		fmt.Fprintf(&s, ".Restarts(%d, %d)", p.restarts, p.seed)
	case p.learn:
		s.WriteString(".Optimise()")
	}
	if p.live {
		s.WriteString(".Live()")
	}
	return s.String()
}

// processTask is a checked Process with all defaults filled in.
type processTask struct {
	Process
	scale  *datasets.TargetScaler // of NormaliseTargets; otherwise nil
	seen   []float64              // targets, scaled by scale
	y      []float64              // seen minus the constant mean
	offset float64                // the constant mean
	basis  [][]float64            // basis functions of a linear mean at the points, n values each; otherwise nil
	centre []float64              // d means of the features, which are subtracted in the basis functions

	show func(line string, last bool) // shows the progress of Optimise and of iterations; may be nil
}

// prepare checks the description and fills in the defaults.
func (p Process) prepare() (*processTask, error) {
	p = p.described()
	if err := errors.Join(p.faults.Err(), p.data.Check()); err != nil {
		return nil, err
	}
	if p.data.Sparse != nil {
		return nil, arguments.Wrong("Regress", math.NaN(), "the points are sparse, and a process needs them written out; write them out by Dense() of the data set, or take svmnb.Regress(data).Ridge(λ), whose f is the mean of a process")
	}
	t := &processTask{Process: p, seen: p.data.Y}
	if p.scaled {
		if err := t.normalise(); err != nil {
			return nil, err
		}
	}
	t.y = slices.Clone(t.seen)
	if need := p.method.Memory(len(t.y), 1); !p.named && need > t.allowed() {
		p.method = linear.CG{Rank: linear.AutoRank}
		if p.method.Memory(len(t.y), 1) > t.allowed() {
			p.method = linear.CG{}
		}
		if p.mean == linearMean {
			return nil, arguments.Wrong("LinearMean", math.NaN(), "it takes a factor of A, %.3g GB for %d points, and may take %.3g: use ConstantMean, a part of the points by On(data.Select(rows)), or raise Memory or GOMEMLIMIT", need/1e9, len(t.y), t.allowed()/1e9)
		}
		t.method = p.method
	}
	n := float64(len(t.y))
	average, variance := 0.0, 0.0
	for _, v := range t.y {
		average += v / n
	}
	for _, v := range t.y {
		variance += (v - average) * (v - average) / n
	}
	if math.IsInf(average, 0) || math.IsInf(variance, 0) {
		return nil, arguments.Wrong("Regress", variance, "the targets are so large that their variance overflows; divide them by a power of ten")
	}
	if variance == 0 {
		variance = 1
	}
	if _, ok := p.kernel.(kernels.WithDerivativesKernel); ok && p.mean != zeroMean {
		return nil, arguments.Wrong("Kernel", math.NaN(), "values and derivatives have no common mean: subtract that of the values from them, and say ZeroMean")
	}
	if p.mean == constantMean {
		t.offset = average
		for i := range t.y {
			t.y[i] -= average
		}
	}
	if t.kernel == nil {
		t.kernel = kernels.ScaleKernel{C: variance, K: kernels.RBF(2 * kernels.GammaMedian(p.data.X))} // kernels.Scale would omit a factor of 1
	}
	if !t.noisy {
		t.noise, t.noisy = variance/10, true
	}
	if p.mean == linearMean {
		if !direct(p.method) {
			return nil, arguments.Wrong("LinearMean", math.NaN(), "%s stops early, and generalised least squares needs A⁻¹ to the last digit; use Cholesky, or ConstantMean", p.method.Name())
		}
		if err := t.linear(); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// linear makes the basis functions 1 and x − x̄ of a linear mean. Subtracting x̄ changes
// neither their span nor the determinant of their Gram matrix.
func (t *processTask) linear() error {
	n, d := t.data.N(), t.data.D()
	if n <= d+1 {
		return arguments.Wrong("LinearMean", float64(n), "%d points do not determine the %d coefficients of a linear mean; use ConstantMean", n, d+1)
	}
	t.basis = append(t.basis, slices.Repeat([]float64{1}, n))
	for j := range d {
		column, centre := make([]float64, n), 0.0
		for _, x := range t.data.X {
			centre += x[j] / float64(n)
		}
		for i, x := range t.data.X {
			column[i] = x[j] - centre
		}
		t.basis, t.centre = append(t.basis, column), append(t.centre, centre)
	}
	return nil
}

// allowed returns how many bytes a factor may take: the limit of Memory or of Go, or else 4
// GiB.
func (t *processTask) allowed() float64 {
	if t.cache > 0 {
		return float64(t.cache)
	}
	if limit := debug.SetMemoryLimit(-1); limit != math.MaxInt64 {
		return float64(limit)
	}
	return 4 << 30
}

// noiseVector returns the n variances of the noise.
func (t *processTask) noiseVector() []float64 {
	if t.noises != nil {
		return *t.noises
	}
	return slices.Repeat([]float64{t.noise}, len(t.y))
}

// Fit solves the system, after finding the hyperparameters if Optimise was set. All errors
// of the description are returned together. When ctx ends early, Fit returns the fit so
// far, or nil if there is none, with an error that wraps context.Cause(ctx). Reaching a
// limit is not an error; Status says it. If the matrix is not positive definite, the error
// says what to change.
func (p Process) Fit(ctx context.Context) (*Fit, error) { return p.run(ctx, nil) }

// run is Fit with a function that shows the progress; it may be nil.
func (p Process) run(ctx context.Context, show func(line string, last bool)) (_ *Fit, err error) {
	defer guard.Caught(&err)
	if err := arguments.Given(ctx, "Fit"); err != nil {
		return nil, err
	}
	t, err := p.prepare()
	if err != nil {
		return nil, err
	}
	t.show = show
	return t.fit(ctx)
}

// progressAfter is the time after which a cell shows the progress of Optimise.
const progressAfter = time.Second

// MustFit is Fit for a notebook cell. If Optimise or an iterative method takes more than a
// second, MustFit shows its progress in a line of the output, with a forecast of the time that
// is left. The interrupt button ends the run: MustFit then shows a
// warning and returns the fit so far. An error is printed and ends the cell; outside a
// notebook it panics.
func (p Process) MustFit() *Fit {
	return interruptible(func(ctx context.Context) (*Fit, error) { return p.run(ctx, cells.Progress(progressAfter)) })
}

// untilInterrupt returns a context that ends with the interrupt button.
func untilInterrupt() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt)
}

func interruptible(solve func(ctx context.Context) (*Fit, error)) *Fit {
	ctx, stop := untilInterrupt()
	defer stop()
	fit, err := solve(ctx)
	switch {
	case fit == nil:
		cells.Must(err)
	case err != nil:
		cells.Warn(fmt.Sprintf("interrupted after %v; this is the fit so far", fit.Elapsed.Round(time.Millisecond)))
	case fit.Status.Early():
		cells.Warn(fmt.Sprintf("stopped early: %v after %s; the residual ‖y − Aα‖ is %.3g", fit.Status, say.Iterations(fit.Iterations), fit.Certificate.Residual))
	}
	return fit
}
