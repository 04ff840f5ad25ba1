// Package gp has Gaussian process regression (Rasmussen and Williams 2006):
//
//	fit := gp.Regress(datasets.Motorcycle()).
//		Kernel(kernels.Scale(2025, kernels.RBF(0.02))).NoiseVariance(484).MustFit()
//	fit.Show(gp.Posterior)
//
// A description, [Process], is a value; nothing is computed until Fit, MustFit or Keep.
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

// Process describes a Gaussian process that explains real targets,
// y = mean + f(x) + noise with covariance K(x, z) of f (CST §7.6; Rasmussen and
// Williams 2006, cited as GPML), and how to solve its linear system
// A = K + σ²I. It is a value: every method returns a changed copy, so a base can
// be forked freely, and two of them can be compared with ==. Wrong arguments are
// collected and reported together by Fit.
type Process struct {
	data     *datasets.Dataset
	kernel   kernels.Kernel
	noise    float64 // σ²
	noisy    bool    // σ² has been said
	noises   *[]float64
	mean     mean
	method   linear.Method
	named    bool // the method has been said
	stop     linear.Criterion
	limit    int
	cache    int64
	live     bool
	learn    bool
	restarts int
	seed     uint64
	behind   *steps.Passage // the steps of the pipeline that this is the end of; else nil
	faults   arguments.Faults
}

type mean int

const (
	constantMean mean = iota
	zeroMean
	linearMean
)

// mixedPoints is from how many points on the time of a factor counts.
const mixedPoints = 4096

// Regress starts the description of a Gaussian process for data with
// real targets. Without further words the mean of the targets is removed, the
// kernel is v times the squared exponential of length scale half the median
// distance between two points, the noise variance v/10, where v is the variance
// of the targets, and the system is solved by Cholesky's factor, from 4,096 points
// on by one in single precision whose solution is refined (linear.Mixed); variances
// and the evidence then have the exact factor computed when they are first asked
// for. Of so many points that there is no memory for a factor the system is solved by
// conjugate gradients, and what follows from it is known between bounds. These are a place to start from: say Kernel and NoiseVariance, or let
// Optimise find them. The data must not be changed afterwards.
func Regress(data *datasets.Dataset) Process { return Process{}.about("Regress", data) }

// On is p for other data: the same kernel, noise and method, or the method that is the
// default for so many points where none was said. So what was learned from a part of the
// data is used for all of them,
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

// described is p, or what says that there is nothing to solve where p is a zero Process.
func (p Process) described() Process {
	if p.data == nil {
		return p.about("Regress", nil)
	}
	return p
}

// Kernel sets the covariance of f, in the units of the targets squared; the
// variance of f is a kernels.Scale away.
func (p Process) Kernel(k kernels.Kernel) Process {
	p.kernel = k
	err := arguments.WrongIf(k == nil, "Kernel", math.NaN(), "the kernel is nil; give one such as kernels.Scale(4, kernels.SquaredExponential(0.5))")
	if k != nil && k.Check() != nil {
		err = fmt.Errorf("svmnb: Kernel: %w", k.Check())
	}
	p.faults.Said("Kernel", err)
	return p
}

// NoiseVariance sets σ², the variance of the noise in each target, in the units
// of the targets squared. 0 is for targets without noise: it needs a direct
// method and a kernel matrix that is positive definite. It takes back what
// NoiseVariances said.
func (p Process) NoiseVariance(v float64) Process {
	p.noise, p.noisy, p.noises = v, true, nil
	p.faults.Said("noise", arguments.WrongIf(!(v >= 0) || math.IsInf(v, 1), "NoiseVariance", v, "the variance is %v; it must be a positive number, or 0 for targets without noise", v))
	return p
}

// NoiseVariances sets the variance of the noise of each target, n numbers ≥ 0.
// They are known then, and Optimise leaves them as they are.
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

// ConstantMean removes the mean of the targets before and adds it to every
// prediction, the default. It is taken for known: its own uncertainty is none of
// the variances.
func (p Process) ConstantMean() Process { p.mean = constantMean; return p }

// ZeroMean takes the targets as they are.
func (p Process) ZeroMean() Process { p.mean = zeroMean; return p }

// LinearMean models the mean as β_0 + β'x with nothing known of β beforehand;
// β is found by generalised least squares and its uncertainty is in the
// variances (GPML §2.7 in the limit of a vague prior). It needs a direct method.
func (p Process) LinearMean() Process { p.mean = linearMean; return p }

// Cholesky solves by A = LL', in n³/3 operations, the default below 4,096 points.
func (p Process) Cholesky() Process { return p.Using(linear.Cholesky{}) }

// CG solves by conjugate gradients (CST Table 7.3), in n² multiplications an
// iteration, with bounds that say how far the answer is from the exact one.
func (p Process) CG() Process { return p.Using(linear.CG{}) }

// WidrowHoff solves by the dual form of the Widrow–Hoff rule, one α at a time
// (CST §7.6).
func (p Process) WidrowHoff() Process { return p.Using(linear.WidrowHoff{}) }

// Using solves by any method, such as linear.CG{Rank: 20}.
func (p Process) Using(m linear.Method) Process {
	p.method, p.named = m, true
	p.faults.Said("Using", arguments.WrongIf(m == nil, "Using", math.NaN(), "the method is nil; give one such as linear.CG{}"))
	return p
}

// Tol stops an iterative method when it knows y'A⁻¹y to within tol, in nats: the
// log marginal likelihood is known to half of that then. The default is a
// millionth of y'A⁻¹y.
func (p Process) Tol(tol float64) Process {
	p.stop = linear.Bounds{Abs: tol}
	p.faults.Said("Stop", arguments.WrongIf(!(tol > 0) || math.IsInf(tol, 1), "Tol", tol, "the tolerance is %v; it must be a positive number", tol))
	return p
}

// Stop stops an iterative method by any criterion, such as
// linear.Residual{Rel: 1e-8}.
func (p Process) Stop(criterion linear.Criterion) Process {
	p.stop = criterion
	p.faults.Said("Stop", arguments.WrongIf(criterion == nil, "Stop", math.NaN(), "the criterion is nil; give one such as linear.Bounds{Rel: 1e-6}"))
	return p
}

// MaxIterations stops an iterative method after n iterations, and what it knows
// by then is bounded by the certificate.
func (p Process) MaxIterations(n int) Process {
	p.limit = n
	p.faults.Said("MaxIterations", arguments.WrongIf(n < 1, "MaxIterations", float64(n), "the limit is %d; it must be at least 1", n))
	return p
}

// Memory bounds the bytes that kernel rows may take and, apart from that, those of
// the method; the defaults are 256 MiB, and Go's memory limit or 4 GiB. An
// iterative method computes rows that do not fit again; a direct one needs 4n² bytes, LU
// and GaussJordan 8n², and is refused with a *linear.MemoryError when they are too many.
func (p Process) Memory(bytes int64) Process {
	p.cache = bytes
	p.faults.Said("Memory", arguments.WrongIf(bytes < 1, "Memory", float64(bytes), "the bound is %d bytes; it must be positive", bytes))
	return p
}

// Optimise lets Fit first find the hyperparameters of the kernel and the noise variance that
// maximise the log marginal likelihood (GPML §5.4), by gradient ascent from those that are
// set. Hyperparameters held by kernels.Fixed, a noise variance of 0 and NoiseVariances stay
// as they are.
//
// Whatever method solves the system afterwards, the ascent uses Cholesky's factor: n³
// operations for a step, and 8n² bytes. If there is no memory for that, learn from a part of
// the points and go on with [Process.On].
//
// An interrupt returns the process with the best hyperparameters so far, solved, with an
// error that wraps context.Cause. Before the first evaluation it returns the process as it
// was described, if that can be solved within a second.
func (p Process) Optimise() Process { p.learn = true; return p }

// Restarts is Optimise from n more starts, each hyperparameter multiplied by a
// factor between 1/10 and 10 drawn with the seed, 1000 at most. The best end counts.
func (p Process) Restarts(n int, seed uint64) Process {
	p.learn, p.restarts, p.seed = true, n, seed
	p.faults.Said("Restarts", arguments.WrongIf(n < 0 || n > mostRestarts, "Restarts", float64(n), "the number is %d; it must be from 0 to %d", n, mostRestarts))
	return p
}

const mostRestarts = 1000

// Live shows how an iterative method closes in on y'A⁻¹y from both sides while it
// runs; see svmnb.Classifier.Live. A direct method has no iterations, and the ascent of
// Optimise is not shown.
func (p Process) Live() Process { p.live = true; return p }

// String gives the chain back.
func (p Process) String() string {
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
	switch p.method {
	case nil:
		s.WriteString(".Using(nil)")
	case linear.Method(linear.Cholesky{}):
		s.WriteString(".Cholesky()")
	case linear.Method(linear.CG{}):
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

// processTask is a Process whose words have been checked and turned into numbers.
type processTask struct {
	Process
	y      []float64   // targets without the constant mean
	offset float64     // the constant mean
	basis  [][]float64 // functions of a linear mean at the points, each n values; nil without
	centre []float64   // d means of the features, which those functions are about
}

// prepare checks everything and fills in the defaults.
func (p Process) prepare() (*processTask, error) {
	p = p.described()
	if err := errors.Join(p.faults.Err(), p.data.Check()); err != nil {
		return nil, err
	}
	if p.data.Sparse != nil {
		return nil, arguments.Wrong("Regress", math.NaN(), "the points are sparse, and a process needs them written out; write them out by Dense() of the data set, or take svmnb.Regress(data).Ridge(λ), whose f is the mean of a process")
	}
	t := &processTask{Process: p, y: slices.Clone(p.data.Y)}
	if need := p.method.Memory(len(t.y), 1); !p.named && need > t.allowed() {
		if p.method = (linear.CG{}); p.mean == linearMean {
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
	if p.mean == constantMean {
		t.offset = average
		for i := range t.y {
			t.y[i] -= average
		}
	}
	if t.kernel == nil {
		t.kernel = kernels.ScaleKernel{C: variance, K: kernels.RBF(2 * kernels.GammaMedian(p.data.X))} // Scale drops a 1
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

// linear makes the basis functions 1 and x − x̄ of a linear mean. Without x̄ they
// span the same functions, and the determinant of their Gram matrix is the same.
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

// allowed returns how many bytes a factor may take: what Memory says, Go's limit, or 4 GiB.
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

// Fit solves the system, after the hyperparameters are found where Optimise asks
// for it. All errors of the description come back joined. When ctx ends early,
// Fit returns the fit so far with an error that wraps context.Cause(ctx), and no
// fit only where there is nothing yet; reaching a limit is no error but a
// Status. A matrix that is not positive definite is an error that says what to
// change.
func (p Process) Fit(ctx context.Context) (_ *Fit, err error) {
	defer guard.Caught(&err)
	if err := arguments.Given(ctx, "Fit"); err != nil {
		return nil, err
	}
	t, err := p.prepare()
	if err != nil {
		return nil, err
	}
	return t.fit(ctx)
}

// MustFit is Fit for a notebook cell. The interrupt button ends the run and
// returns what there is, with a visible warning. An error is printed and ends
// the cell; outside a notebook it panics.
func (p Process) MustFit() *Fit { return interruptible(p.Fit) }

// untilInterrupt is the context of what a cell waits for: it ends with the interrupt button.
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
