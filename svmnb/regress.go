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

// Regressor describes a regression problem and how to solve it. Like [Classifier] it is a
// value: every method returns a changed copy, two of them can be compared by ==, and Fit
// reports wrong arguments together.
type Regressor struct {
	machine
	c       float64
	epsilon float64
	nu      float64
	lambda  float64
	tau     float64 // level of a quantile
	delta   float64 // Huber's δ
	loss    loss
	sample  *[]float64 // weights of the points, which multiply C; never changed after they were made
}

type loss int

const (
	linearLoss loss = iota
	quadraticLoss
	nuLoss
	ridge
	pinballLoss
	huberLoss
)

// Regress starts the description of a regression of the data's targets. The defaults are
// ε-support-vector regression with the linear loss C (|y − f(x)| − ε)₊ (Cristianini and
// Shawe-Taylor 2000, eq. 7.2), C = 1, ε = 0.1 in units of the targets, and the kernel
// RBF(1/(d·Var X)), solved by the fastest method (fastest.Method) until m − M ≤ 1e-3. The
// data must not be changed afterwards.
func Regress(data *datasets.Dataset) Regressor {
	r := Regressor{machine: about("Regress", data), c: 1, epsilon: 0.1}
	r.method = fastest.Method{}
	return r
}

// Kernel sets the kernel.
func (r Regressor) Kernel(k kernels.Kernel) Regressor { r.setKernel(k); return r }

// C sets the cost of errors outside the tube, in (0, ∞). With the slack ξ_i = (|y_i −
// f(x_i)| − ε)₊, the linear loss minimises ½‖w‖² + C Σ ξ, the quadratic loss ½‖w‖² + (C/2)
// Σ ξ².
func (r Regressor) C(cost float64) Regressor {
	r.c = cost
	r.faults.Said("C", checkedCost("C", "C", cost, "for a machine that fits every point, take Ridge with a small λ"))
	return r
}

// Epsilon sets the half-width ε ≥ 0 of the tube, in units of the targets. Smaller errors
// cost nothing, and points inside the tube are not support vectors. Epsilon has no effect
// with Ridge, Nu, Quantile and Huber.
func (r Regressor) Epsilon(epsilon float64) Regressor {
	r.epsilon = epsilon
	r.faults.Said("Epsilon", arguments.WrongIf(!(epsilon >= 0) || math.IsInf(epsilon, 1), "Epsilon", epsilon, "ε is %v; it is half the width of the tube in units of the targets, 0 or a positive number", epsilon))
	return r
}

// LinearLoss chooses the linear ε-insensitive loss, the default.
func (r Regressor) LinearLoss() Regressor { return r.losing(linearLoss, nil) }

// QuadraticLoss chooses the quadratic ε-insensitive loss (C/2) ξ². This adds 1/C to the
// diagonal of the kernel matrix (Cristianini and Shawe-Taylor 2000, §7.2).
func (r Regressor) QuadraticLoss() Regressor { return r.losing(quadraticLoss, nil) }

// losing sets the loss. An earlier choice of a loss no longer counts, and neither does its
// error.
func (r Regressor) losing(l loss, err error) Regressor {
	r.loss, r.nu, r.lambda, r.tau, r.delta = l, 0, 0, 0, 0
	r.faults.Said("loss", err)
	return r
}

// Nu chooses ν-SVR (Schölkopf et al. 2000), which has ν in place of ε. The tube becomes so
// wide that at most ν n points lie outside and at least ν n are support vectors; nu is in
// (0, 1]. The fit's Epsilon is the half-width that was found.
func (r Regressor) Nu(nu float64) Regressor {
	r = r.losing(nuLoss, arguments.WrongIf(!(nu > 0 && nu <= 1), "Nu", nu, "ν is %v; it is a share of the points, in (0, 1]", nu))
	r.nu = nu
	return r
}

// Ridge chooses kernel ridge regression, which minimises ½‖w‖² + Σ (y_i − f(x_i))² / 2λ
// with λ in (0, ∞). The solution is (K + λI)β = y − b, where a free bias b makes Σβ = 0.
// This is the quadratic loss with ε = 0 and C = 1/λ. f is also the posterior mean of a
// Gaussian process with the prior mean b and the noise variance λ. C and Epsilon have no
// effect.
func (r Regressor) Ridge(lambda float64) Regressor {
	r = r.losing(ridge, checkedCost("Ridge", "λ", lambda, "then f is constant; give a finite one"))
	r.lambda = lambda
	return r
}

// FixedBias fixes the bias at b0 instead of optimising it (Cristianini and Shawe-Taylor
// 2000, §7.2). The dual then has no constraint Σβ = 0. GradientAscent and CoordinateDescent
// need this, while SMO cannot be used.
func (r Regressor) FixedBias(b0 float64) Regressor { r.fixBias(b0); return r }

// Augment adds the constant tau2 = τ² > 0 to the kernel and fixes the bias at 0, or at the
// b0 of FixedBias. f then has the bias b = τ² Σβ, and the objective contains the penalty
// b²/2τ² (Cristianini and Shawe-Taylor 2000, Remark 7.4). kernels.Radius stands for max
// K(x, x).
func (r Regressor) Augment(tau2 float64) Regressor { r.augment(tau2); return r }

// SampleWeights multiplies C, or divides λ, by a weight for each point: n values in [0, ∞),
// not all 0; nil removes the weights. A point of weight 0 takes no part, as if it were not in
// the data: Alpha and the indices of the fit count the other points. With Nu, weights also make
// ν a share of the weight in place of a share of the points; see [solvers.NuTube].
func (r Regressor) SampleWeights(w []float64) Regressor {
	r.sample = nil
	if w != nil {
		w = slices.Clone(w)
		r.sample = &w
	}
	r.faults.Said("SampleWeights", r.checkedWeights(w))
	return r
}

// SMO chooses sequential minimal optimisation with second-order selection: solvers.TubeSMO,
// or solvers.SMO for ν-SVR.
func (r Regressor) SMO() Regressor { r.method = nil; r.faults.Said("Using", nil); return r }

// PrimalDual chooses a primal–dual interior-point method: few iterations, each with of the
// order of (2n)³ operations.
func (r Regressor) PrimalDual() Regressor { return r.Using(solvers.PrimalDual{}) }

// GradientAscent chooses gradient ascent on one multiplier at a time (Cristianini and
// Shawe-Taylor 2000, Table 7.1). It needs a fixed bias. Unless the description fixes the
// bias, the kernel is augmented by max K(x, x); see Augment.
func (r Regressor) GradientAscent() Regressor { return r.Using(solvers.GradientAscent{}) }

// CoordinateDescent chooses dual coordinate descent on β for a linear machine (Ho and Lin
// 2012). It updates w and needs no kernel rows. It needs a fixed bias: unless the
// description fixes the bias, a feature with the constant value 1 is added, as in
// LIBLINEAR.
func (r Regressor) CoordinateDescent() Regressor { return r.Using(solvers.CoordinateDescent{}) }

// Newton chooses Newton's method on the weights of a linear machine, at most 1000 of them.
// It is by far the fastest method if there are more points than weights.
func (r Regressor) Newton() Regressor { return r.Using(solvers.Newton{}) }

// Using chooses any method, such as solvers.TubeSMO{Step: solvers.Quadrants}.
func (r Regressor) Using(m solvers.Method) Regressor { r.use(m); return r }

// Tol stops the solver when m(α) − M(α) ≤ tol, LIBSVM's criterion, in units of the targets;
// the default is 1e-3.
func (r Regressor) Tol(tol float64) Regressor { r.setTol(tol); return r }

// Stop sets any stopping criterion, such as solvers.Any(solvers.Gap{Rel: 1e-6},
// solvers.Time{Max: time.Minute}).
func (r Regressor) Stop(criterion solvers.Criterion) Regressor { r.setStop(criterion); return r }

// MaxIterations stops the solver after n iterations; the default is max(10⁷, 200 n) for n
// points.
func (r Regressor) MaxIterations(n int) Regressor { r.setLimit(n); return r }

// Sample records every k-th iteration in the trace. The default records iterations at
// logarithmic intervals; −1 records only the first and the last.
func (r Regressor) Sample(k int) Regressor { r.setSample(k); return r }

// Memory limits the bytes for kernel rows; the default is 256 MiB.
func (r Regressor) Memory(bytes int64) Regressor { r.setMemory(bytes); return r }

// Live shows the run while it lasts; see [Classifier.Live].
func (r Regressor) Live() Regressor { r.live = true; return r }

// String returns the Go expression of the description.
func (r Regressor) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "Regress(%s)", points.Name(r.data))
	if r.kernel != nil {
		fmt.Fprintf(&s, ".Kernel(%s)", r.kernel)
	}
	switch r.loss {
	case ridge:
		fmt.Fprintf(&s, ".Ridge(%s)", say.Number(r.lambda))
	case nuLoss:
		fmt.Fprintf(&s, ".Nu(%s).C(%s)", say.Number(r.nu), say.Number(r.c))
	case pinballLoss:
		fmt.Fprintf(&s, ".Quantile(%s).C(%s)", say.Number(r.tau), say.Number(r.c))
	case huberLoss:
		fmt.Fprintf(&s, ".Huber(%s).C(%s)", say.Number(r.delta), say.Number(r.c))
	case quadraticLoss:
		s.WriteString(".QuadraticLoss()")
		fallthrough
	default:
		fmt.Fprintf(&s, ".C(%s).Epsilon(%s)", say.Number(r.c), say.Number(r.epsilon))
	}
	s.WriteString(r.biasText())
	if r.sample != nil {
		s.WriteString(".SampleWeights(…)")
	}
	if r.method == nil {
		r.method = r.smo()
	}
	s.WriteString(r.runText(r.smo()))
	return s.String()
}

// smo returns the method that SMO chooses.
func (r *Regressor) smo() solvers.Method {
	if r.loss == nuLoss {
		return solvers.SMO{}
	}
	return solvers.TubeSMO{}
}

// regression is a checked Regressor with all defaults filled in, and its problem.
type regression struct {
	Regressor
	cost    []float64 // C for each point; 1/λ for ridge regression
	problem *solvers.Problem
	asking  sync.Mutex // locks the matrix after the run
}

// prepare checks the description, fills in defaults and builds the problem.
func (r Regressor) prepare() (*regression, error) {
	if err := errors.Join(r.faults.Err(), r.data.Check()); err != nil {
		return nil, err
	}
	r = r.taking()
	t := &regression{Regressor: r}
	t.fill()
	if err := t.bindCertain("a regression has no labels; stop by Tol or solvers.Gap"); err != nil {
		return nil, err
	}
	if t.method == nil {
		t.method = r.smo()
	}
	switch r.loss {
	case ridge:
		t.epsilon, t.c = 0, 1/r.lambda
	case pinballLoss, huberLoss:
		t.epsilon = 0
	}
	t.cost = slices.Repeat([]float64{t.c}, r.data.N())
	var weights []float64
	if r.sample != nil {
		weights = *r.sample
		for i, w := range weights {
			t.cost[i] *= w
		}
	}
	k, err := t.matrix()
	if err != nil {
		return nil, fmt.Errorf("svmnb: %w", err)
	}
	switch r.loss {
	case quadraticLoss, ridge:
		t.problem = solvers.Tube2(k, r.data.Y, t.cost, t.epsilon)
	case nuLoss:
		if t.problem, err = solvers.NuTube(k, r.data.Y, r.c, r.nu, weights...); err != nil {
			return nil, fmt.Errorf("svmnb: %w", err)
		}
	case pinballLoss:
		t.problem = solvers.Pinball(k, r.data.Y, t.cost, r.tau)
	case huberLoss:
		t.problem = solvers.HuberTube(k, r.data.Y, t.cost, r.delta)
	default:
		t.problem = solvers.Tube(k, r.data.Y, t.cost, r.epsilon)
	}
	if t.fixed {
		if r.loss == nuLoss {
			return nil, arguments.Wrong("FixedBias", r.b0, "the bias of a ν machine is its multiplier and cannot be fixed; leave FixedBias, Augment and methods that need them out")
		}
		t.problem = t.problem.WithFixedBias(r.b0)
	}
	return t, nil
}

// taking returns the description for the points that take part: those whose weight is not 0.
func (r Regressor) taking() Regressor {
	if r.sample == nil {
		return r
	}
	rows := weighted(*r.sample)
	if rows == nil {
		return r
	}
	return r.on(rows)
}

// on returns the description for some rows of its data.
func (r Regressor) on(rows []int) Regressor { return r.given(r.data.Select(rows), rows) }

// matrix returns the kernel matrix, or the features if the method wants them.
func (r *Regressor) matrix() (solvers.Matrix, error) {
	return r.matrixOf(r.asFeatures(2, r.loss == nuLoss))
}

// Fit solves the problem. All errors of the description are returned together. When ctx
// ends early, Fit returns the fit so far with an error that wraps context.Cause(ctx).
// Reaching a limit is not an error; Status says it.
func (r Regressor) Fit(ctx context.Context) (_ *RegressionFit, err error) {
	defer guard.Caught(&err)
	if err := arguments.Given(ctx, "Fit"); err != nil {
		return nil, err
	}
	t, err := r.prepare()
	if err != nil {
		return nil, err
	}
	res, err := t.solve(ctx, t.problem, t, nil)
	if res == nil {
		return nil, err
	}
	return t.fit(res), err
}

// MustFit is Fit for a notebook cell; see [Classifier.MustFit].
func (r Regressor) MustFit() *RegressionFit {
	t, err := r.prepare()
	if err != nil {
		cells.Must(err)
	}
	return t.fit(t.mustSolve(t.problem, t, nil))
}

// Keep is MustFit with a cache on disk; see [Classifier.Keep].
func (r Regressor) Keep() *RegressionFit {
	t, err := r.prepare()
	if err != nil {
		cells.Must(err)
	}
	return t.fit(t.keep(t.problem, t.key(), t))
}

func (t *regression) key() []byte {
	problem := fmt.Sprintf("Regress %d %v %v", t.loss, t.epsilon, t.nu)
	if t.loss == pinballLoss || t.loss == huberLoss {
		problem += fmt.Sprintf(" %v %v", t.tau, t.delta)
	}
	return t.machine.key(problem, t.data.Y, t.cost)
}
