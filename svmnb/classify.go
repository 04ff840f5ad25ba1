package svmnb

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/solvers/fastest"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/cells"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// Classifier describes a two-class problem and how to solve it. It is a value:
// every method returns a changed copy, so a base can be forked freely, and two
// of them can be compared with ==. Wrong arguments are collected and reported
// together by Fit.
type Classifier struct {
	machine
	c       float64
	nu      float64
	margin  margin
	weights *weights
}

// weights are costs relative to C. They are never changed once made.
type weights struct {
	class  []classWeight
	sample []float64
}

type classWeight struct {
	class  string
	weight float64
}

type margin int

const (
	oneNorm margin = iota
	twoNorm
	hard
	nuSoft
	oneClass
)

// Classify starts the description of a classifier for data with exactly two
// targets; the larger one is the positive class. For more of them say
// [Classifier.OneVsOne], OneVsRest or CrammerSinger at the end. Without further words it is
// the 1-norm soft margin with C = 1 and the kernel RBF(1/(d·Var X)), solved by
// the fastest method (fastest.Method) until m − M ≤ 1e-3. The data must not be changed afterwards.
func Classify(data *datasets.Dataset) Classifier {
	c := Classifier{machine: about("Classify", data), c: 1}
	c.method = fastest.Method{}
	return c
}

// OneClass starts the description of a one-class machine (Schölkopf et al.
// 2001): it learns where the points lie, whatever their targets, and leaves a
// share ν of them outside; ν is 0.5 unless Nu says otherwise. f is positive
// inside and −1 far away. The kernel and the solver are those of [Classify].
func OneClass(data *datasets.Dataset) Classifier {
	c := Classify(data)
	c.margin, c.nu = oneClass, 0.5
	return c
}

// Kernel sets the kernel.
func (c Classifier) Kernel(k kernels.Kernel) Classifier { c.setKernel(k); return c }

// C sets the cost of margin errors, in (0, ∞): the 1-norm soft margin minimises
// ½‖w‖² + C Σ ξ, the 2-norm ½‖w‖² + (C/2) Σ ξ².
func (c Classifier) C(cost float64) Classifier {
	c.c = cost
	c.faults.Said("C", checkedCost("C", "C", cost, "say HardMargin() for the maximal margin classifier"))
	return c
}

// OneNorm chooses the 1-norm soft margin, the default: slacks cost C ξ
// (CST §7.1).
func (c Classifier) OneNorm() Classifier { return c.within("OneNorm", oneNorm) }

// TwoNorm chooses the 2-norm soft margin: slacks cost (C/2) ξ², which adds 1/C
// to the diagonal of the kernel matrix (CST Remark 7.10).
func (c Classifier) TwoNorm() Classifier { return c.within("TwoNorm", twoNorm) }

// HardMargin chooses the maximal margin classifier: no slack at all. C and
// weights have no meaning then. Fit returns an error that wraps
// solvers.ErrUnbounded when no hyperplane of the feature space separates the
// classes.
func (c Classifier) HardMargin() Classifier { return c.within("HardMargin", hard) }

// within chooses a margin in place of what was said of it before.
func (c Classifier) within(word string, margin margin) Classifier {
	if c.margin == oneClass {
		c.faults.Said("margin", arguments.Wrong(word, math.NaN(), "a one-class machine has the share ν of points outside, and no other margin; leave %s out", word))
		return c
	}
	c.margin, c.nu = margin, 0
	c.faults.Said("margin", nil)
	return c
}

// Nu chooses the ν-SVC in place of C: at most ν n points are margin errors, at
// least ν n are support vectors; nu lies in (0, 1] and below twice the share of
// the smaller class. Alpha is then in LIBSVM's scaling, in [0, 1]; divided by
// Certificate.Rho it is that of the 1-norm soft margin with C = 1/ρ, whose f the
// fit has. For [OneClass], nu is the share of points that may be left outside.
func (c Classifier) Nu(nu float64) Classifier {
	c.nu = nu
	if c.margin != oneClass {
		c.margin = nuSoft
	}
	c.faults.Said("margin", arguments.WrongIf(!(nu > 0 && nu <= 1), "Nu", nu, "ν is %v; it is a share of the points, in (0, 1]", nu))
	return c
}

// FixedBias fixes the bias at b0 instead of optimising it (CST §7.2). The dual
// has no equality constraint then, which GradientAscent and CoordinateDescent
// need and SMO cannot use; the default takes a method that can.
func (c Classifier) FixedBias(b0 float64) Classifier { c.fixBias(b0); return c }

// Augment adds tau2 to the kernel and fixes the bias at 0, or where FixedBias
// has put it: the machine gains the bias τ² Σ α_i y_i and pays for it with its
// square over τ² (CST Remark 7.4). kernels.Radius stands for R² = max K(x, x),
// which is a safe choice. For the linear kernel τ is the pseudo-attribute of
// LIBLINEAR.
func (c Classifier) Augment(tau2 float64) Classifier { c.augment(tau2); return c }

// ClassWeight multiplies C for the points of a class by weight, in (0, ∞).
func (c Classifier) ClassWeight(class string, weight float64) Classifier {
	w := c.copyWeights()
	w.class = slices.DeleteFunc(w.class, func(cw classWeight) bool { return cw.class == class })
	w.class = append(w.class, classWeight{class, weight})
	slices.SortFunc(w.class, func(a, b classWeight) int { return strings.Compare(a.class, b.class) })
	c.weights = w
	c.faults.Said("ClassWeight "+class, arguments.WrongIf(!(weight > 0) || math.IsInf(weight, 1), "ClassWeight", weight, "the weight of class %q is %v; it must be a positive number", class, weight))
	return c
}

// SampleWeights multiplies C for each point, n values in (0, ∞); nil takes the
// weights back.
func (c Classifier) SampleWeights(w []float64) Classifier {
	n := c.copyWeights()
	n.sample = slices.Clone(w)
	c.weights = n
	c.faults.Said("SampleWeights", c.checkedWeights(w))
	return c
}

func (c Classifier) copyWeights() *weights {
	if c.weights == nil {
		return &weights{}
	}
	return &weights{slices.Clone(c.weights.class), c.weights.sample}
}

// SMO solves by sequential minimal optimisation with second-order selection.
func (c Classifier) SMO() Classifier { return c.Using(solvers.SMO{}) }

// PrimalDual solves by a primal–dual interior-point method, in few iterations of
// n³ work each.
func (c Classifier) PrimalDual() Classifier { return c.Using(solvers.PrimalDual{}) }

// GradientAscent solves by CST Table 7.1, one α at a time. The bias must be
// fixed for that: unless it is, the kernel is augmented by R².
func (c Classifier) GradientAscent() Classifier { return c.Using(solvers.GradientAscent{}) }

// CoordinateDescent solves a linear machine by dual coordinate descent, with w
// in place of kernel rows. The bias must be fixed for that: unless it is, a
// pseudo-attribute 1 carries it, as in LIBLINEAR.
func (c Classifier) CoordinateDescent() Classifier { return c.Using(solvers.CoordinateDescent{}) }

// Newton solves a linear machine by Newton's method among its weights: in few
// iterations whatever n and C, and by far the fastest where the points outnumber
// their features, of which it takes at most 1000.
func (c Classifier) Newton() Classifier { return c.Using(solvers.Newton{}) }

// Using solves by any method, such as solvers.SMO{Selection: solvers.Platt}.
func (c Classifier) Using(m solvers.Method) Classifier { c.use(m); return c }

// Tol stops when m(α) − M(α) ≤ tol, LIBSVM's criterion; the default is 1e-3.
func (c Classifier) Tol(tol float64) Classifier { c.setTol(tol); return c }

// Stop stops by any criterion, such as
// solvers.Any(solvers.Gap{Rel: 1e-6}, solvers.Time{Max: time.Minute}).
func (c Classifier) Stop(criterion solvers.Criterion) Classifier { c.setStop(criterion); return c }

// MaxIterations stops after n iterations; the default is max(10⁷, 100 n).
func (c Classifier) MaxIterations(n int) Classifier { c.setLimit(n); return c }

// Sample records every k-th iteration in the trace instead of log-spaced ones;
// −1 records only the first and the last.
func (c Classifier) Sample(k int) Classifier { c.setSample(k); return c }

// Memory bounds the bytes that kernel rows may take; the default is 256 MiB.
// Rows that do not fit are computed again when they are asked for.
func (c Classifier) Memory(bytes int64) Classifier { c.setMemory(bytes); return c }

// Live shows the run while it lasts, from the first tenth of a second on: the
// objectives, the gap and the KKT violation so far, about how long it will take,
// and for two features the boundary. The last state stays. Outside a notebook it
// is a line on a terminal's standard error.
func (c Classifier) Live() Classifier { c.live = true; return c }

// String gives the chain back.
func (c Classifier) String() string {
	var s strings.Builder
	verb := "Classify"
	if c.margin == oneClass {
		verb = "OneClass"
	}
	fmt.Fprintf(&s, "%s(%s)", verb, points.Name(c.data))
	if c.kernel != nil {
		fmt.Fprintf(&s, ".Kernel(%s)", c.kernel)
	}
	switch c.margin {
	case hard:
		s.WriteString(".HardMargin()")
	case nuSoft, oneClass:
		fmt.Fprintf(&s, ".Nu(%s)", say.Number(c.nu))
	case twoNorm:
		s.WriteString(".TwoNorm()")
		fallthrough
	default:
		fmt.Fprintf(&s, ".C(%s)", say.Number(c.c))
	}
	s.WriteString(c.biasText())
	if c.weights != nil {
		for _, w := range c.weights.class {
			fmt.Fprintf(&s, ".ClassWeight(%q, %s)", w.class, say.Number(w.weight))
		}
		if c.weights.sample != nil {
			s.WriteString(".SampleWeights(…)")
		}
	}
	s.WriteString(c.runText(solvers.SMO{}))
	return s.String()
}

// task is a Classifier whose words have been checked and turned into numbers.
type task struct {
	Classifier
	y        []float64 // ±1
	cost     []float64 // C per point; +Inf for the hard margin
	negative string
	positive string
	k        solvers.Matrix // of the kernel, augmented where the description says so
	problem  *solvers.Problem
	asking   *sync.Mutex // held by who asks k after the run: a matrix serves one goroutine at a time
}

// prepare checks everything and builds the problem.
func (c Classifier) prepare() (*task, error) {
	t := &task{Classifier: c, asking: new(sync.Mutex)}
	var err error
	if c.margin == oneClass {
		t.negative, t.positive = oneClasses[0], oneClasses[1]
		t.y = slices.Repeat([]float64{1}, c.data.N())
		err = c.data.Check()
	} else {
		t.y, t.negative, t.positive, err = c.data.Binary()
		if many := (*datasets.ClassError)(nil); errors.As(err, &many) && c.data.Check() == nil && len(many.Classes) > 2 && !looksReal(c.data) {
			err = fmt.Errorf("%w; or learn all of them at once: end the description with OneVsOne(), OneVsRest() or CrammerSinger()", err)
		}
	}
	if err := errors.Join(c.faults.Err(), err); err != nil {
		return nil, err
	}
	t.fill()
	t.cost = slices.Repeat([]float64{c.c}, len(t.y))
	if c.weights != nil && (c.margin == oneNorm || c.margin == twoNorm) {
		if err := c.weights.apply(t); err != nil {
			return nil, err
		}
	}
	if t.k, err = t.matrix(); err != nil {
		return nil, fmt.Errorf("svmnb: %w", err)
	}
	switch c.margin {
	case twoNorm:
		t.problem = solvers.SoftMargin2(t.k, t.y, t.cost)
	case hard:
		t.problem = solvers.HardMargin(t.k, t.y)
	case nuSoft:
		t.problem, err = solvers.NuSoftMargin(t.k, t.y, c.nu)
	case oneClass:
		t.problem, err = solvers.OneClass(t.k, c.nu)
	default:
		t.problem = solvers.SoftMargin(t.k, t.y, t.cost)
	}
	if err != nil {
		return nil, fmt.Errorf("svmnb: %w", err)
	}
	if t.fixed {
		if c.margin == nuSoft || c.margin == oneClass {
			return nil, arguments.Wrong("FixedBias", c.b0, "the bias of a ν machine is its multiplier and cannot be fixed; leave FixedBias, Augment and methods that need them out")
		}
		t.problem = t.problem.WithFixedBias(c.b0)
	}
	return t, nil
}

// matrix returns the kernel matrix, or the features.
func (c *Classifier) matrix() (solvers.Matrix, error) { return c.matrixOf(c.wantsFeatures()) }

func (c *Classifier) wantsFeatures() bool { return c.asFeatures(1, c.margin == nuSoft) }

func (w *weights) apply(t *task) error {
	for _, cw := range w.class {
		side := 0.0
		switch cw.class {
		case t.negative:
			side = -1
		case t.positive:
			side = 1
		default:
			return arguments.Wrong("ClassWeight", cw.weight, "there is no class %q; the classes are %q and %q", cw.class, t.negative, t.positive)
		}
		for i, y := range t.y {
			if y == side {
				t.cost[i] *= cw.weight
			}
		}
	}
	for i, v := range w.sample {
		t.cost[i] *= v
	}
	return nil
}

// Fit solves the problem. All errors of the description come back joined. When
// ctx ends early, Fit returns the partial fit with an error that wraps
// context.Cause(ctx); reaching a limit is no error but a Status.
func (c Classifier) Fit(ctx context.Context) (_ *Fit, err error) {
	defer guard.Caught(&err)
	if err := arguments.Given(ctx, "Fit"); err != nil {
		return nil, err
	}
	t, err := c.prepare()
	if err != nil {
		return nil, err
	}
	return t.solve(ctx)
}

func (t *task) solve(ctx context.Context) (*Fit, error) {
	res, err := t.machine.solve(ctx, t.problem, t)
	if res == nil {
		return nil, err
	}
	return t.fit(res), err
}

// MustFit is Fit for a notebook cell. The interrupt button ends the run and
// returns what there is, with a visible warning. An error is printed and ends
// the cell; outside a notebook it panics.
func (c Classifier) MustFit() *Fit {
	t, err := c.prepare()
	if err != nil {
		cells.Must(err)
	}
	return t.fit(t.mustSolve(t.problem, t))
}
