package gp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"strings"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/points"
)

// Classifier describes a Gaussian process for classes (Rasmussen and Williams 2006, chapter 3)
// and how to approximate its posterior, which is not Gaussian. f has the mean 0 and the
// covariance K(x, z), and the probability of the positive class is σ(f(x)). Classifier is a
// value: every method returns a changed copy. Wrong arguments are collected, and Fit reports
// them together.
type Classifier struct {
	data     *datasets.Dataset
	kernel   kernels.Kernel
	way      way
	memory   int64
	learn    bool
	restarts int
	seed     uint64
	faults   arguments.Faults
}

// way is how the posterior is approximated.
type way int

const (
	byLaplace way = iota
	byEP
)

func (w way) String() string { return [...]string{"Laplace", "EP"}[w] }

// Classify starts the description of a Gaussian process for data with two classes or more. The
// larger target of two is the positive class. The defaults are Laplace's approximation and the
// kernel 4·exp(−γ‖x − z‖²), whose length scale is half the median distance between two points.
// These hyperparameters are only a start: set Kernel, or let Optimise find them. The data must
// not be changed afterwards.
func Classify(data *datasets.Dataset) Classifier {
	c := Classifier{data: data}
	if data == nil {
		c.data = &datasets.Dataset{}
		c.faults.Said("Classify", arguments.Wrong("Classify", math.NaN(), "the data set is nil; give one of package datasets or datasets.New(x, y)"))
	}
	return c
}

// Kernel sets the covariance of f. With more than two classes, each class has an f of its own,
// all with this covariance.
func (c Classifier) Kernel(k kernels.Kernel) Classifier {
	c.kernel = k
	c.faults.Said("Kernel", wrongKernel(k))
	return c
}

// Laplace chooses Laplace's approximation, the default: a Gaussian at the maximum of the
// posterior, with the curvature there (Rasmussen and Williams 2006, §3.4; for more than two
// classes §3.5). σ is the logistic function, for more classes softmax.
func (c Classifier) Laplace() Classifier { c.way = byLaplace; return c }

// EP chooses expectation propagation for two classes, whose Gaussian has nearly the right mean
// and variance at each point (Rasmussen and Williams 2006, §3.6, after Minka 2001). It is more
// accurate than Laplace's approximation and takes some times as long. σ is the cumulative
// normal distribution.
func (c Classifier) EP() Classifier { c.way = byEP; return c }

// Optimise makes Fit first find the hyperparameters of the kernel that maximise the
// approximate log marginal likelihood, by gradient ascent from those of the description
// (Rasmussen and Williams 2006, §5.5). Those in kernels.Fixed do not change, and the others by
// a factor of 10⁵ at most. After an interrupt, Fit returns the best so far, with an error that
// wraps context.Cause(ctx).
func (c Classifier) Optimise() Classifier { c.learn = true; return c }

// Restarts is Optimise with n more starts, at most 1000; see [Process.Restarts].
func (c Classifier) Restarts(n int, seed uint64) Classifier {
	c.learn, c.restarts, c.seed = true, n, seed
	c.faults.Said("Restarts", arguments.WrongIf(n < 0 || n > mostRestarts, "Restarts", float64(n), "the number is %d; it must be from 0 to %d", n, mostRestarts))
	return c
}

// Memory limits the bytes of the kernel matrix and its factors: 16n² for two classes, 16n² for
// each class if there are more. The default is Go's memory limit, or else 4 GiB. Fit returns an
// *ArgumentError if they do not suffice.
func (c Classifier) Memory(bytes int64) Classifier {
	c.memory = bytes
	c.faults.Said("Memory", arguments.WrongIf(bytes < 1, "Memory", float64(bytes), "the bound is %d bytes; it must be positive", bytes))
	return c
}

// String returns the Go expression of the description.
func (c Classifier) String() string {
	var s strings.Builder
	data := c.data
	if data == nil {
		data = &datasets.Dataset{}
	}
	fmt.Fprintf(&s, "gp.Classify(%s)", points.Name(data))
	if c.kernel != nil {
		fmt.Fprintf(&s, ".Kernel(%s)", c.kernel)
	}
	if c.way != byLaplace {
		fmt.Fprintf(&s, ".%v()", c.way)
	}
	if c.memory != 0 {
		fmt.Fprintf(&s, ".Memory(%d)", c.memory)
	}
	switch {
	case c.restarts > 0:
		fmt.Fprintf(&s, ".Restarts(%d, %d)", c.restarts, c.seed)
	case c.learn:
		s.WriteString(".Optimise()")
	}
	return s.String()
}

// Fit approximates the posterior, after finding the hyperparameters if Optimise was set. All
// errors of the description are returned together. When ctx ends early, the error wraps
// context.Cause(ctx), and the fit is nil unless Optimise has found something.
func (c Classifier) Fit(ctx context.Context) (*ClassifierFit, error) { return c.run(ctx, nil) }

func (c Classifier) run(ctx context.Context, show func(line string, last bool)) (_ *ClassifierFit, err error) {
	defer guard.Caught(&err)
	if err := arguments.Given(ctx, "Fit"); err != nil {
		return nil, err
	}
	t, err := c.prepare()
	if err != nil {
		return nil, err
	}
	t.show = show
	if t.learn {
		return t.optimise(ctx)
	}
	return t.solve(ctx)
}

// MustFit is Fit for a notebook cell. If Optimise takes more than a second, MustFit shows its
// progress in a line of the output. The interrupt button ends the run: MustFit then shows a
// warning and returns the fit so far. An error is printed and ends the cell; outside a notebook
// it panics.
func (c Classifier) MustFit() *ClassifierFit { return mustApproximate(c.run) }

// classTask is a checked Classifier with all defaults filled in.
type classTask struct {
	Classifier
	classes []string  // k names
	values  []float64 // their targets
	class   []int     // n indices of classes

	show func(line string, last bool) // may be nil
}

func (c Classifier) prepare() (*classTask, error) {
	if c.data == nil {
		c = Classify(nil)
	}
	if err := errors.Join(c.faults.Err(), c.data.Check()); err != nil {
		return nil, err
	}
	if c.data.Sparse != nil {
		return nil, arguments.Wrong("Classify", math.NaN(), "the points are sparse, and a process needs them written out; write them out by Dense() of the data set, or take svmnb.Classify(data)")
	}
	t := &classTask{Classifier: c}
	counts := c.data.Counts()
	if len(counts) != 2 || c.way == byEP {
		if len(counts) < 2 || c.way == byEP {
			if _, _, _, err := c.data.Binary(); err != nil {
				return nil, err
			}
		}
		if points.LookReal(c.data) {
			return nil, arguments.Wrong("Classify", float64(len(counts)), "there are %d different targets for %d points, which look like real values; those are for gp.Regress", len(counts), c.data.N())
		}
		if len(counts) > mostClasses {
			return nil, arguments.Wrong("Classify", float64(len(counts)), "there are %d different targets, and a process has at most %d classes; real targets are for gp.Regress", len(counts), mostClasses)
		}
	}
	at := map[float64]int{}
	for i, class := range counts {
		at[class.Y] = i
		t.classes, t.values = append(t.classes, class.Class), append(t.values, class.Y)
	}
	for _, y := range c.data.Y {
		t.class = append(t.class, at[y])
	}
	n, most := float64(len(t.class)), float64(c.memory)
	if c.memory == 0 {
		if most = 4 << 30; debug.SetMemoryLimit(-1) != math.MaxInt64 {
			most = float64(debug.SetMemoryLimit(-1))
		}
	}
	need := 16 * n * n
	if len(counts) > 2 {
		need *= float64(len(counts))
	}
	if need > most {
		return nil, arguments.Wrong("Classify", n, "the kernel matrix and its factors take %.3g GB for %d points, and may take %.3g: train on a part of the points, gp.Classify(data.Select(rows)), or raise Memory or GOMEMLIMIT", need/1e9, len(t.class), most/1e9)
	}
	if t.kernel == nil {
		t.kernel = kernels.ScaleKernel{C: 4, K: kernels.RBF(2 * kernels.GammaMedian(c.data.X))}
	}
	return t, nil
}

// mostClasses is the largest number of classes.
const mostClasses = 64

// solve approximates the posterior for the hyperparameters of the kernel.
func (t *classTask) solve(ctx context.Context) (*ClassifierFit, error) {
	began := time.Now()
	k, err := gramOf(ctx, t.kernel, t.data.X)
	if err != nil {
		return nil, err
	}
	f := &ClassifierFit{Description: t.Classifier, Classes: t.classes, task: t, points: kernels.Against(t.kernel, t.data.X)}
	f.Description.kernel, f.Description.learn, f.Description.restarts, f.Description.seed = t.kernel, false, 0, 0
	switch {
	case len(t.classes) > 2:
		f.approximation, err = softmaxLaplace(ctx, k, t.class, len(t.classes))
	case t.way == byEP:
		f.approximation, err = propagate(ctx, k, t.signs())
	default:
		y := t.signs()
		var q *gaussian
		if q, err = laplace(ctx, k, func(i int, f float64) density { return ofClass(y[i], f) }); err == nil {
			q.sigma, f.approximation = meanLogistic, q
		}
	}
	if err != nil {
		return nil, fmt.Errorf("svmnb: %v: %w", t.way, err)
	}
	f.ApproximationRun = f.approximation.how()
	f.Elapsed = time.Since(began)
	return f, nil
}

// signs returns the targets of two classes as ±1.
func (t *classTask) signs() []float64 {
	y := make([]float64, len(t.class))
	for i, c := range t.class {
		y[i] = float64(2*c - 1)
	}
	return y
}

// gramOf computes the n × n kernel matrix of points, all rows in memory.
func gramOf(ctx context.Context, kernel kernels.Kernel, x [][]float64) (*matrix, error) {
	n := len(x)
	g, err := kernels.NewGram(kernel, x, int64(8*n*n)+8)
	if err != nil {
		return nil, fmt.Errorf("svmnb: %w", err)
	}
	k := &matrix{diag: g.Diag(), rows: make([][]float64, n)}
	err = g.Sweep(ctx, 0, func(i, _ int, rows [][]float64) { k.rows[i] = rows[0] })
	if err != nil {
		return nil, fmt.Errorf("svmnb: the kernel matrix: %w", err)
	}
	for i, row := range k.rows {
		for j, v := range row {
			if v-v != 0 {
				return nil, arguments.At("Kernel", i, -1, v, "the kernel value of points %d and %d is %v: scale the features", i, j, v)
			}
		}
	}
	return k, nil
}

// hyperparameters returns those of the kernel.
func (t *classTask) hyperparameters() (all []Partial, _ error) {
	list, err := kernels.Hyperparameters(t.kernel, t.data.Features...)
	if err != nil {
		return nil, fmt.Errorf("svmnb: %w", err)
	}
	for _, h := range list {
		all = append(all, Partial{Name: h.Name, Value: h.Value})
	}
	return all, nil
}

// optimise finds the hyperparameters and solves for them.
func (t *classTask) optimise(ctx context.Context) (*ClassifierFit, error) {
	start, err := t.hyperparameters()
	if err != nil {
		return nil, err
	}
	l := &learning{start: start, restarts: t.restarts, seed: t.seed, objective: "ln p(y) ≈", show: t.show}
	for _, h := range start {
		l.said = append(l.said, hyper{name: h.Name, high: math.Inf(1)})
	}
	return maximise(ctx, l, &Optimisation{}, func(values, grad []float64) (*ClassifierFit, float64, error) {
		f, v, err := t.at(ctx, values, nil)
		if err != nil {
			return nil, 0, err
		}
		return f, v, f.gradient(ctx, grad)
	})
}

// at solves for other hyperparameters; a classifier has no inducing points.
func (t *classTask) at(ctx context.Context, values []float64, _ *keptFit) (*ClassifierFit, float64, error) {
	k, err := kernels.WithHyperparameters(t.kernel, values)
	if err != nil {
		return nil, 0, err
	}
	other := *t
	other.kernel = k
	f, err := other.solve(ctx)
	return f, f.LogMarginalLikelihood(), err
}

// ApproximationRun says how an approximation was found.
type ApproximationRun struct {
	Status     solvers.Status
	Iterations int // Newton steps, or sweeps over all points

	// Gap bounds how far the posterior density at f is from its maximum, in nats, for Laplace's
	// approximation: the difference of a primal and a dual objective, computed from f alone. It
	// is NaN for EP.
	Gap float64

	// Mismatch is the largest difference, over all points, of the mean of the approximation and
	// the mean that EP matches it with, in standard deviations, or of the two variances, in
	// relation to one of them. It is 0 for Laplace's approximation.
	Mismatch float64
}
