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
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// Classifier describes a two-class problem and how to solve it. It is a value: every method
// returns a changed copy, so several descriptions can start from the same one, and two can
// be compared by ==. Wrong arguments are collected, and Fit reports them together.
type Classifier struct {
	machine
	c       float64
	nu      float64
	margin  margin
	weights *weights

	balanced bool // C is divided by the share of a point's class
}

// weights multiply C. They are never changed after they were made.
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
	enclosing
)

// Classify starts the description of a classifier for data with exactly two targets; the
// larger target is the positive class. For more classes, end the description with
// [Classifier.OneVsOne], OneVsRest or CrammerSinger. The defaults are the 1-norm soft
// margin with C = 1 and the kernel RBF(1/(d·Var X)), solved by the fastest method
// (fastest.Method) until m − M ≤ 1e-3. The data must not be changed afterwards.
func Classify(data *datasets.Dataset) Classifier {
	c := Classifier{machine: about("Classify", data), c: 1}
	c.method = fastest.Method{}
	return c
}

// OneClass starts the description of a one-class machine (Schölkopf et al. 2001). It learns
// the region where the points lie, ignoring their targets, and leaves a share ν of them
// outside; ν is 0.5 unless Nu sets it. f is positive inside and tends to −1 far away. The
// defaults of kernel and solver are those of [Classify].
func OneClass(data *datasets.Dataset) Classifier {
	c := Classify(data)
	c.margin, c.nu = oneClass, 0.5
	return c
}

// Kernel sets the kernel.
func (c Classifier) Kernel(k kernels.Kernel) Classifier { c.setKernel(k); return c }

// C sets the cost of margin errors, in (0, ∞). The 1-norm soft margin minimises ½‖w‖² + C Σ
// ξ, the 2-norm soft margin ½‖w‖² + (C/2) Σ ξ².
func (c Classifier) C(cost float64) Classifier {
	c.c = cost
	c.faults.Said("C", checkedCost("C", "C", cost, "say HardMargin() for the maximal margin classifier"))
	return c
}

// OneNorm chooses the 1-norm soft margin, the default: a slack ξ costs C ξ (Cristianini and
// Shawe-Taylor 2000, §7.1).
func (c Classifier) OneNorm() Classifier { return c.within("OneNorm", oneNorm) }

// TwoNorm chooses the 2-norm soft margin: a slack ξ costs (C/2) ξ². This adds 1/C to the
// diagonal of the kernel matrix (Cristianini and Shawe-Taylor 2000, Remark 7.10).
func (c Classifier) TwoNorm() Classifier { return c.within("TwoNorm", twoNorm) }

// HardMargin chooses the maximal margin classifier, which allows no slack. C and weights
// have no effect. Fit returns an error that wraps solvers.ErrUnbounded if no hyperplane in
// feature space separates the classes.
func (c Classifier) HardMargin() Classifier { return c.within("HardMargin", hard) }

// within sets the margin. An earlier choice of a margin no longer counts, and neither does
// its error.
func (c Classifier) within(setter string, margin margin) Classifier {
	if c.margin.alone() {
		c.faults.Said("margin", arguments.Wrong(setter, math.NaN(), "a one-class machine has the share ν of points outside, and no other margin; leave %s out", setter))
		return c
	}
	c.margin, c.nu = margin, 0
	c.faults.Said("margin", nil)
	return c
}

// Nu chooses the ν-SVC, which has ν in place of C: at most ν n points are margin errors,
// and at least ν n are support vectors. nu is in (0, 1] and below twice the share of the
// smaller class. Alpha is scaled as in LIBSVM, in [0, 1]. Divided by Certificate.Rho = ρ it
// becomes the α of the 1-norm soft margin with C = 1/ρ, and the fit's f is that machine's
// f. For [OneClass] and
// [Enclose], nu is the share of points that may be outside.
func (c Classifier) Nu(nu float64) Classifier {
	c.nu = nu
	if !c.margin.alone() {
		c.margin = nuSoft
	}
	c.faults.Said("margin", arguments.WrongIf(!(nu > 0 && nu <= 1), "Nu", nu, "ν is %v; it is a share of the points, in (0, 1]", nu))
	return c
}

// FixedBias fixes the bias at b0 instead of optimising it (Cristianini and Shawe-Taylor
// 2000, §7.2). The dual then has no equality constraint. GradientAscent and
// CoordinateDescent need this, while SMO cannot be used; the default solver handles both.
func (c Classifier) FixedBias(b0 float64) Classifier { c.fixBias(b0); return c }

// Augment adds the constant tau2 = τ² > 0 to the kernel and fixes the bias at 0, or at the
// b0 of FixedBias. The machine then has the bias b = τ² Σ α_i y_i, and its objective
// contains the penalty b²/2τ² (Cristianini and Shawe-Taylor 2000, Remark 7.4). A safe
// choice is kernels.Radius, which stands for max K(x, x). For the linear kernel, augmenting
// is the same as one more feature with the constant value τ, as in LIBLINEAR.
func (c Classifier) Augment(tau2 float64) Classifier { c.augment(tau2); return c }

// Balanced multiplies C for the points of each class by n/(k n_c), where n is the number of
// training points, k that of the classes and n_c that of the points of the class: the errors
// of every class then weigh the same together, however rare it is (King and Zeng 2001; as
// scikit-learn's class_weight="balanced"). ClassWeight and SampleWeights multiply C further.
// Folds are counted anew. For several classes, n_c and k are those of all data in every
// machine.
func (c Classifier) Balanced() Classifier { c.balanced = true; return c }

// ClassWeight multiplies C by weight, in (0, ∞), for the points of a class.
func (c Classifier) ClassWeight(class string, weight float64) Classifier {
	w := c.copyWeights()
	w.class = slices.DeleteFunc(w.class, func(cw classWeight) bool { return cw.class == class })
	w.class = append(w.class, classWeight{class, weight})
	slices.SortFunc(w.class, func(a, b classWeight) int { return strings.Compare(a.class, b.class) })
	c.weights = w
	c.faults.Said("ClassWeight "+class, arguments.WrongIf(!(weight > 0) || math.IsInf(weight, 1), "ClassWeight", weight, "the weight of class %q is %v; it must be a positive number", class, weight))
	return c
}

// SampleWeights multiplies C by a weight for each point, n values in [0, ∞), not all 0; nil
// removes the weights. A point of weight 0 takes no part, as if it were not in the data
// (LIBSVM): Alpha and the indices of the fit count the other points. With Nu, weights make ν a
// share of the weight in place of a share of the points, so a point of weight 2 counts as two
// (see [solvers.NuSoftMargin]). HardMargin has no weights except 0.
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

// SMO chooses sequential minimal optimisation with second-order selection.
func (c Classifier) SMO() Classifier { return c.Using(solvers.SMO{}) }

// PrimalDual chooses a primal–dual interior-point method: few iterations, each with of the
// order of n³ operations.
func (c Classifier) PrimalDual() Classifier { return c.Using(solvers.PrimalDual{}) }

// GradientAscent chooses gradient ascent on one α at a time (Cristianini and Shawe-Taylor
// 2000, Table 7.1). It needs a fixed bias. Unless the description fixes the bias, the
// kernel is augmented by max K(x, x); see Augment.
func (c Classifier) GradientAscent() Classifier { return c.Using(solvers.GradientAscent{}) }

// CoordinateDescent chooses dual coordinate descent for a linear machine. It updates w and
// needs no kernel rows. It needs a fixed bias: unless the description fixes the bias, a
// feature with the constant value 1 is added, as in LIBLINEAR.
func (c Classifier) CoordinateDescent() Classifier { return c.Using(solvers.CoordinateDescent{}) }

// Newton chooses Newton's method on the weights of a linear machine, at most 1000 of them.
// It takes few iterations for any n and C and is by far the fastest method if there are
// more points than features.
func (c Classifier) Newton() Classifier { return c.Using(solvers.Newton{}) }

// Using chooses any method, such as solvers.SMO{Selection: solvers.Platt}.
func (c Classifier) Using(m solvers.Method) Classifier { c.use(m); return c }

// Tol stops the solver when m(α) − M(α) ≤ tol, LIBSVM's criterion; the default is 1e-3.
func (c Classifier) Tol(tol float64) Classifier { c.setTol(tol); return c }

// Stop sets any stopping criterion, such as solvers.Any(solvers.Gap{Rel: 1e-6},
// solvers.Time{Max: time.Minute}).
func (c Classifier) Stop(criterion solvers.Criterion) Classifier { c.setStop(criterion); return c }

// MaxIterations stops the solver after n iterations; the default is max(10⁷, 100 n) for n
// points.
func (c Classifier) MaxIterations(n int) Classifier { c.setLimit(n); return c }

// Sample records every k-th iteration in the trace. The default records iterations at
// logarithmic intervals; −1 records only the first and the last.
func (c Classifier) Sample(k int) Classifier { c.setSample(k); return c }

// Memory limits the bytes for kernel rows; the default is 256 MiB. Rows that do not fit are
// computed again when they are needed.
func (c Classifier) Memory(bytes int64) Classifier { c.setMemory(bytes); return c }

// Live shows the run while it lasts, after its first tenth of a second: the objectives, the
// gap and the KKT violation, an estimate of the time left and, for two features, the
// boundary. The last state stays in the notebook. Outside a notebook, Live shows a line on
// standard error if that is a terminal.
func (c Classifier) Live() Classifier { c.live = true; return c }

// String returns the Go expression of the description.
func (c Classifier) String() string {
	var s strings.Builder
	verb := "Classify"
	switch c.margin {
	case oneClass:
		verb = "OneClass"
	case enclosing:
		verb = "Enclose"
	}
	fmt.Fprintf(&s, "%s(%s)", verb, points.Name(c.data))
	if c.kernel != nil {
		fmt.Fprintf(&s, ".Kernel(%s)", c.kernel)
	}
	switch c.margin {
	case hard:
		s.WriteString(".HardMargin()")
	case nuSoft, oneClass, enclosing:
		fmt.Fprintf(&s, ".Nu(%s)", say.Number(c.nu))
	case twoNorm:
		s.WriteString(".TwoNorm()")
		fallthrough
	default:
		fmt.Fprintf(&s, ".C(%s)", say.Number(c.c))
	}
	s.WriteString(c.biasText())
	if c.balanced {
		s.WriteString(".Balanced()")
	}
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

// task is a checked Classifier with all defaults filled in, and its problem.
type task struct {
	Classifier
	y        []float64 // labels, ±1
	cost     []float64 // C for each point; the weight for ν machines
	negative string
	positive string
	k        solvers.Matrix // the kernel matrix, augmented if the description says so, or features
	problem  *solvers.Problem
	start    []float64   // the α of an update, or nil
	startF   []float64   // its F
	asking   *sync.Mutex // locks k after the run, since a matrix serves one goroutine at a time
}

// prepare checks the description, fills in defaults and builds the problem.
func (c Classifier) prepare() (*task, error) {
	c = c.taking()
	t := &task{Classifier: c, asking: new(sync.Mutex)}
	var err error
	if c.margin.alone() {
		t.negative, t.positive = oneClasses[0], oneClasses[1]
		t.y = slices.Repeat([]float64{1}, c.data.N())
		err = c.data.Check()
	} else {
		t.y, t.negative, t.positive, err = c.data.Binary()
		if many := (*datasets.ClassError)(nil); errors.As(err, &many) && c.data.Check() == nil && len(many.Classes) > 2 && !points.LookReal(c.data) {
			err = fmt.Errorf("%w; or learn all of them at once: end the description with OneVsOne(), OneVsRest() or CrammerSinger()", err)
		}
	}
	if err := errors.Join(c.faults.Err(), err); err != nil {
		return nil, err
	}
	t.fill()
	refusal := ""
	if c.margin == enclosing {
		refusal = "a run of Enclose cannot look at labels; stop by Tol and ask the fit's Certain"
	}
	if err := t.bindCertain(refusal); err != nil {
		return nil, err
	}
	t.cost = slices.Repeat([]float64{c.c}, len(t.y))
	if c.margin == nuSoft || c.margin.alone() {
		t.cost = slices.Repeat([]float64{1}, len(t.y)) // a ν machine has no C
	}
	if c.weighs() {
		if err := t.weigh(); err != nil {
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
		t.problem, err = solvers.NuSoftMargin(t.k, t.y, c.nu, t.cost...)
	case oneClass:
		t.problem, err = solvers.OneClass(t.k, c.nu, t.cost...)
	case enclosing:
		t.problem, err = solvers.Enclose(t.k, c.nu, t.cost...)
	default:
		t.problem = solvers.SoftMargin(t.k, t.y, t.cost)
	}
	if err != nil {
		return nil, fmt.Errorf("svmnb: %w", err)
	}
	if t.fixed {
		if c.margin == nuSoft || c.margin.alone() {
			return nil, arguments.Wrong("FixedBias", c.b0, "the bias of a ν machine is its multiplier and cannot be fixed; leave FixedBias, Augment and methods that need them out")
		}
		t.problem = t.problem.WithFixedBias(c.b0)
	}
	return t, nil
}

// matrix returns the kernel matrix, or the features if the method wants them.
func (c *Classifier) matrix() (solvers.Matrix, error) { return c.matrixOf(c.wantsFeatures()) }

func (c *Classifier) wantsFeatures() bool { return c.asFeatures(1, c.margin == nuSoft) }

// taking returns the description for the points that take part: those whose weight is not 0.
func (c Classifier) taking() Classifier {
	if c.weights == nil || len(c.weights.sample) != c.data.N() {
		return c // wrong weights are reported with all other mistakes
	}
	if rows := weighted(c.weights.sample); len(rows) > 0 {
		return c.on(rows)
	}
	return c
}

// weighs reports whether points have different weights.
func (c *Classifier) weighs() bool {
	return (c.weights != nil || c.balanced) && c.margin != hard
}

// weigh multiplies the cost of each point by its weights.
func (t *task) weigh() error {
	w := t.weights
	if w == nil {
		w = &weights{}
	}
	if t.margin.alone() && (t.balanced || len(w.class) > 0) {
		return arguments.Wrong("ClassWeight", math.NaN(), "a one-class machine has one class, whose weight changes nothing; leave ClassWeight and Balanced out")
	}
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
	if t.balanced {
		class := make([]int, len(t.y))
		for i, y := range t.y {
			class[i] = machines.SideOf(y)
		}
		balance(t.cost, class, 2)
	}
	return nil
}

// balance multiplies the cost of each point by n/(k n_c) for its class c.
func balance(cost []float64, class []int, k int) {
	count := make([]float64, k)
	for _, c := range class {
		count[c]++
	}
	for i, c := range class {
		cost[i] *= float64(len(class)) / (float64(k) * count[c])
	}
}

// Fit solves the problem. All errors of the description are returned together. When ctx
// ends early, Fit returns the fit so far with an error that wraps context.Cause(ctx).
// Reaching a limit is not an error; Status says it.
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
	res, err := t.machine.solveFrom(ctx, t.problem, t, nil, t.start, t.startF)
	if res == nil {
		return nil, err
	}
	return t.fit(res), err
}

// MustFit is Fit for a notebook cell. The interrupt button ends the run: MustFit then shows
// a warning and returns the fit so far. An error is printed and ends the cell; outside a
// notebook it panics.
func (c Classifier) MustFit() *Fit {
	t, err := c.prepare()
	if err != nil {
		cells.Must(err)
	}
	return t.fit(t.mustSolve(t.problem, t, nil))
}
