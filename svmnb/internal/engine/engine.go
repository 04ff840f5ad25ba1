// Package engine is the engine of living figures: pictures of a machine that trains again
// when a reader moves a point or a slider. It has kernels and solvers and nothing else, so
// that it is small enough to be sent to a page as WebAssembly (folder wasm). In a notebook,
// the same engine runs in the kernel.
//
// A [Machine] answers one [Question] after the other. It keeps the kernel matrix in
// between: when one point of n has moved, it computes n kernel values and not n².
package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/schemes"
)

// Task is what a machine learns.
type Task int

const (
	Classify  Task = iota // two classes, y = ±1, by the 1-norm soft margin
	Regress               // a real target, by ε-support-vector regression
	OneClass              // the region of the points, for which y is ignored
	Process               // a real target, by a Gaussian process
	TwoNorm               // two classes, y = ±1, by the 2-norm soft margin
	Nu                    // two classes, y = ±1, by ν-SVC; f is scaled so that its margins are ±1
	Hard                  // two classes, y = ±1, by the maximal margin, which has no C
	Squared               // a real target, by the quadratic ε-insensitive loss; with ε = 0 by ridge regression
	NuRegress             // a real target, by ν-SVR
	tasks
)

// labelled reports whether y is ±1.
func (t Task) labelled() bool { return t == Classify || t == TwoNorm || t == Nu || t == Hard }

// tube reports whether the multipliers are two for each point.
func (t Task) tube() bool { return t == Regress || t == Squared || t == NuRegress }

// bounded reports whether C is the upper bound of the multipliers.
func (t Task) bounded() bool { return t == Classify || t == Regress || t == NuRegress }

// Stop is the criterion by which a run ends.
type Stop int

const (
	UpLow  Stop = iota // m(α) − M(α) ≤ Tol
	KKT                // no Karush–Kuhn–Tucker condition is violated by more than Tol
	RelGap             // the gap divided by 1 + primal is at most Tol
	stops
)

// Question is one state of a figure: the points, the machine and what to draw of it.
type Question struct {
	Task    Task
	X       [][]float64 // n points of one or two features
	Y       []float64   // n labels ±1 or targets
	Kernel  kernels.Kernel
	Method  string  // one of [Methods]; a Gaussian process takes Cholesky's
	C       float64 // > 0; for OneClass and Nu ν in (0, 1), for Process the variance of the noise, which may be 0
	Epsilon float64 // half the width of the tube, for Regress and Squared; ν for NuRegress
	Stop    Stop
	Tol     float64 // of Stop; 0 means 1e-3

	// Cost has the cost of each point in place of C: n numbers > 0. For machines with ν they
	// are weights, and for Process the variances of the noise. nil means C for all.
	Cost []float64

	// Fixed fixes the bias at Bias. Tau2 > 0 is added to the kernel, which also fixes it;
	// [kernels.Radius] stands for max K(x, x).
	Fixed bool
	Bias  float64
	Tau2  float64

	// Classes ≥ 2 is for labels 0 … Classes − 1, which several machines of the task tell apart
	// as Scheme says. Otherwise it is 0.
	Classes int
	Scheme  schemes.Scheme

	ZeroMean, Scaled bool // of a Process: the mean is 0; the targets are scaled to the variance 1

	// Warm starts from the α before, and keeps the kernel matrix. It is for pictures while a
	// point is dragged. Otherwise the run is that of a program with the plain library.
	Warm  bool
	Limit time.Duration // 0 means none

	// Trace asks for the points of the run that were measured. If Moment is not negative,
	// the answer is α, F and the field after the measured point of that number.
	Trace  bool
	Moment int

	Xs, Ys  [2]float64 // first and last node of the grid; Ys is ignored with one feature
	Nx, Ny  int        // nodes of the grid; Ny is 1 with one feature
	Certain bool       // asks for Slack

	also [][]float64 // more points at which the field is wanted
}

// Answer is what a figure draws.
type Answer struct {
	Status      solvers.Status
	Iterations  int
	Evaluations int64
	Bias        float64
	Certificate solvers.Certificate
	Evidence    float64 // ln p(y) of a Gaussian process; otherwise NaN
	Epsilon     float64 // half the width of the tube

	// Alpha has n multipliers: for a regression β = α̂ − α, for Process (K + noise)⁻¹y. For
	// several classes it has one for each machine, those of a point together; NaN stands for a
	// point that takes no part.
	Alpha []float64
	F     []float64 // n values f(x_i); for several classes the predicted class
	Field []float64 // Ny·Nx values, rows from the bottom; for several classes by how much each class wins, one field after the other

	Values []float64 // for several classes, the decision values at the points, those of a point together
	SD     []float64 // the standard deviation of f on the grid, of a Gaussian process

	// Slack says for each node how far f may be from the optimum's value: where |f| is
	// larger, the label is that of the optimal machine. See slack.go.
	Slack []float64

	Trace []Sample
}

// Sample is a measured point of a run.
type Sample struct {
	Iteration int
	Gap, KKT  float64
	Primal    float64
	Dual      float64
}

// A Machine answers questions, each of which may start from what the one before has left.
// The zero value is ready. It is not safe for concurrent use.
type Machine struct {
	held  *held
	last  *solvers.Result // the last run, of question was
	was   Question
	start []float64  // α of the last run
	each  []*Machine // those of several classes
}

// methods are the solvers that a figure offers, the usual one first.
var methods = []struct {
	name   string
	method solvers.Method
}{
	{"SMO", solvers.SMO{}},
	{"SMO, worst pair", solvers.SMO{Selection: solvers.WorstPair}},
	{"conjugate SMO", solvers.ConjugateSMO{}},
	{"decomposition", solvers.Decomposition{}},
	{"chunking", solvers.Chunking{}},
	{"interior point", solvers.PrimalDual{}},
	{"gradient ascent", solvers.GradientAscent{}},
}

// Methods returns the names of the solvers for a task, the usual one first. fixed says that
// the bias is fixed.
func Methods(task Task, fixed bool) []string {
	var names []string
	for _, m := range methods {
		ascent, pairs := m.method == solvers.Method(solvers.GradientAscent{}), strings.HasPrefix(m.name, "SMO")
		switch {
		case task == Process:
		case fixed:
			if ascent || m.name == "interior point" {
				names = append(names, m.name)
			}
		case ascent, (task == Nu || task == NuRegress) && !pairs:
		default:
			names = append(names, m.name)
		}
	}
	if fixed {
		slices.Reverse(names)
	}
	return names
}

// Method returns the solver of a name. A regression has an SMO of its own.
func Method(name string, task Task) (solvers.Method, error) {
	for _, m := range methods {
		if m.name == name || name == "" {
			if (task == Regress || task == Squared) && m.method == solvers.Method(solvers.SMO{}) {
				return solvers.TubeSMO{}, nil
			}
			return m.method, nil
		}
	}
	return nil, fmt.Errorf("engine: there is no solver %q; choose one of %q", name, Methods(task, false))
}

// check returns what is wrong with a question, or nil.
func (q *Question) check() error {
	switch n := len(q.X); {
	case q.Task < Classify || q.Task >= tasks || q.Stop < UpLow || q.Stop >= stops:
		return fmt.Errorf("engine: there is no task %d that stops by criterion %d", q.Task, q.Stop)
	case n == 0:
		return errors.New("engine: there are no points; place some")
	case len(q.Y) != n:
		return fmt.Errorf("engine: %d points have %d labels; give each point one", n, len(q.Y))
	case q.Kernel == nil:
		return errors.New("engine: there is no kernel; give one such as RBF(1)")
	case q.Nx < 0 || q.Ny < 0 || q.Nx > 2000 || q.Ny > 2000:
		return fmt.Errorf("engine: a grid of %d × %d nodes cannot be drawn; choose at most 2000 each way", q.Nx, q.Ny)
	case len(q.Cost) > 0 && len(q.Cost) != n:
		return fmt.Errorf("engine: %d points have %d costs; give each point one", n, len(q.Cost))
	case q.Classes != 0 && (q.Classes < 2 || q.Classes > MostClasses || !q.Task.labelled()):
		return fmt.Errorf("engine: %d classes cannot be told apart; a figure has at most %d", q.Classes, MostClasses)
	case q.Tau2 != kernels.Radius && !(q.Tau2 >= 0):
		return fmt.Errorf("engine: τ² is %v; it must be a positive number", q.Tau2)
	case q.Task == Process && q.C == 0:
	case !(q.C > 0) || math.IsInf(q.C, 1):
		return fmt.Errorf("engine: C, ν or the noise is %v; it must be a positive number", q.C)
	}
	for i, x := range q.X {
		if len(x) != len(q.X[0]) || len(x) < 1 || len(x) > 2 {
			return fmt.Errorf("engine: point %d has %d features; a figure draws one or two, the same number for each point", i, len(x))
		}
	}
	for i, c := range q.Cost {
		if !(c > 0) {
			return fmt.Errorf("engine: the cost of point %d is %v; it must be a positive number", i, c)
		}
	}
	if q.Classes > 0 {
		return q.checkClasses()
	}
	if q.Task.labelled() {
		if !slices.Contains(q.Y, 1) || !slices.Contains(q.Y, -1) {
			return errors.New("engine: all points are of one class; give some the other label")
		}
		for i, y := range q.Y {
			if y != 1 && y != -1 {
				return fmt.Errorf("engine: the label of point %d is %v; it must be 1 or −1", i, y)
			}
		}
	}
	return nil
}

// Answer trains the machine of the question. An early stop, by Limit or the context, is no
// error: the answer has the gap that is left.
func (m *Machine) Answer(ctx context.Context, q Question) (*Answer, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	switch {
	case q.Task == Process:
		return process(ctx, &q)
	case q.Classes > 0 && q.Scheme == schemes.CrammerSinger:
		return joint(ctx, &q)
	case q.Classes > 0:
		return m.several(ctx, &q)
	}
	if !m.replays(&q) {
		if err := m.fit(ctx, &q); err != nil {
			return nil, err
		}
	}
	return m.draw(&q), nil
}

// replays reports whether the last run is the one of the question, with its trace.
func (m *Machine) replays(q *Question) bool {
	w := &m.was
	return q.Moment >= 0 && m.last != nil && w.Trace && w.Task == q.Task && w.Kernel.String() == q.Kernel.String() && w.Method == q.Method && w.C == q.C &&
		w.Epsilon == q.Epsilon && w.Stop == q.Stop && w.Tol == q.Tol && w.Fixed == q.Fixed && w.Bias == q.Bias && w.Tau2 == q.Tau2 &&
		slices.Equal(w.Cost, q.Cost) && slices.Equal(w.Y, q.Y) && slices.EqualFunc(w.X, q.X, slices.Equal)
}

// costs returns the cost of each point.
func (q *Question) costs() []float64 {
	if q.Cost != nil {
		return q.Cost
	}
	return slices.Repeat([]float64{q.C}, len(q.X))
}

// tau2 returns the constant that is added to the kernel.
func (q *Question) tau2() float64 {
	if q.Tau2 == kernels.Radius {
		return kernels.Radius2(q.Kernel, q.X)
	}
	return q.Tau2
}

// kernel returns the kernel of the matrix, with the constant.
func (q *Question) kernel() kernels.Kernel {
	if t := q.tau2(); t != 0 {
		return kernels.Augmented(q.Kernel, t)
	}
	return q.Kernel
}

// problem returns the quadratic programme of a question.
func problem(q *Question, k solvers.Matrix) (p *solvers.Problem, err error) {
	switch q.Task {
	case OneClass:
		p, err = solvers.OneClass(k, q.C, q.Cost...)
	case Nu:
		p, err = solvers.NuSoftMargin(k, q.Y, q.C, q.Cost...)
	case NuRegress:
		p, err = solvers.NuTube(k, q.Y, q.C, q.Epsilon, q.Cost...)
	case Regress:
		p = solvers.Tube(k, q.Y, q.costs(), q.Epsilon)
	case Squared:
		p = solvers.Tube2(k, q.Y, q.costs(), q.Epsilon)
	case TwoNorm:
		p = solvers.SoftMargin2(k, q.Y, q.costs())
	case Hard:
		p = solvers.HardMargin(k, q.Y)
	default:
		p = solvers.SoftMargin(k, q.Y, q.costs())
	}
	if err == nil && (q.Fixed || q.Tau2 != 0) {
		p = p.WithFixedBias(q.Bias)
	}
	return p, err
}

// stop returns the criterion of a question.
func (q *Question) stop() (c solvers.Criterion) {
	tol := cmp.Or(q.Tol, 1e-3)
	switch q.Stop {
	case KKT:
		c = solvers.KKT{Tol: tol}
	case RelGap:
		c = solvers.Gap{Rel: tol}
	default:
		c = solvers.UpLow{Tol: tol}
	}
	if q.Limit > 0 {
		c = solvers.Any(c, solvers.Time{Max: q.Limit})
	}
	return c
}

// every returns the spacing of the trace, which criteria of measured points need too.
func (q *Question) every() int {
	if q.Trace || q.Stop != UpLow {
		return 0
	}
	return -1
}

func (m *Machine) fit(ctx context.Context, q *Question) error {
	how, err := Method(q.Method, q.Task)
	if err != nil {
		return err
	}
	var k solvers.Matrix
	var start []float64
	if q.Warm {
		m.held, err = m.held.follow(q.kernel(), q.X)
		k, start = m.held, m.warm(q)
	} else {
		k, err = kernels.NewGram(q.kernel(), q.X, 0)
	}
	if err != nil {
		return err
	}
	p, err := problem(q, k)
	if err != nil {
		return err
	}
	r, err := solvers.Solve(ctx, p, how, solvers.Settings{Start: start, Stop: q.stop(), Every: q.every()})
	if r == nil || r.Status == solvers.Unbounded || r.Status == solvers.Inaccurate {
		m.last, m.start = nil, nil
		if errors.Is(err, solvers.ErrUnbounded) && q.Task == Hard {
			return errors.New("engine: no line in feature space separates the classes, so there is no maximal margin; move points, or choose another kernel")
		}
		return err
	}
	m.last, m.start, m.was = r, r.Alpha, *q
	m.was.X, m.was.Y, m.was.Cost = nil, slices.Clone(q.Y), slices.Clone(q.Cost)
	for _, x := range q.X {
		m.was.X = append(m.was.X, slices.Clone(x))
	}
	return nil
}

// warm returns the α of the run before, if it is feasible for the question or can be made
// so, and otherwise nil.
func (m *Machine) warm(q *Question) []float64 {
	w := &m.was
	fits := m.start != nil && w.Task == q.Task && len(w.X) == len(q.X) && w.Fixed == q.Fixed && w.Tau2 == q.Tau2 && (!q.Task.labelled() || slices.Equal(w.Y, q.Y))
	if q.Cost != nil || w.Cost != nil || !q.Task.bounded() && q.Task != TwoNorm && q.Task != Squared {
		fits = fits && slices.Equal(w.Cost, q.Cost) && w.C == q.C
	}
	if q.Task == NuRegress { // Σα is Cνn
		fits = fits && w.C == q.C && w.Epsilon == q.Epsilon
	}
	if !fits {
		return nil
	}
	a := slices.Clone(m.start)
	if q.C < w.C && q.Task.bounded() { // all are scaled, so that y'α stays 0
		for i := range a {
			a[i] = min(a[i]*(q.C/w.C), q.C)
		}
	}
	return a
}

// draw fills in an answer from the last run.
func (m *Machine) draw(q *Question) *Answer {
	r := m.last
	a := &Answer{Status: r.Status, Iterations: r.Iterations, Evaluations: r.Evaluations, Bias: r.Bias, Certificate: r.Certificate, Evidence: math.NaN(), Epsilon: q.Epsilon}
	alpha := r.Alpha
	t := &r.Trace
	if q.Trace && q.Task != Nu && q.Task != NuRegress { // the scale of f and the width of the tube are those of the end
		for _, p := range t.Points[:t.Replayable()] {
			a.Trace = append(a.Trace, Sample{p.Iteration, p.Gap, p.KKT, p.Primal, p.Dual})
		}
	}
	if k := q.Moment; k >= 0 && k < len(a.Trace)-1 {
		pt := t.Points[k]
		alpha, a.Bias, a.Iterations = t.AlphaAt(k), pt.Bias, pt.Iteration
		a.Certificate = solvers.Certificate{Dual: pt.Dual, Primal: pt.Primal, Gap: pt.Gap, RelGap: pt.RelGap, MaxKKT: pt.KKT, Equality: pt.Equality, Free: pt.Free, AtUpper: pt.Bound, Norm2: 1 / (pt.Margin * pt.Margin)}
	}
	coef := slices.Clone(alpha)
	switch {
	case q.Task.labelled():
		scale := 1.0
		if rho := r.Certificate.Rho; q.Task == Nu && rho > 0 { // else, after an early stop, there is no scale
			scale = 1 / rho
		}
		a.Bias *= scale
		for i := range coef {
			coef[i] *= scale * q.Y[i]
		}
	case q.Task.tube():
		coef = solvers.Signed(alpha)
		alpha = coef
		if q.Task == NuRegress {
			a.Epsilon = max(0, -r.Certificate.Rho)
		}
	}
	if t := q.tau2(); t != 0 {
		for _, c := range coef {
			a.Bias += t * c
		}
	}
	a.Alpha = slices.Clone(alpha)
	e := newExpansion(q.Kernel, q.X, coef, a.Bias)
	a.F = e.at(make([]float64, len(q.X)), q.X)
	a.Field = e.field(q)
	if q.Certain && q.Task == Classify && q.Cost == nil && !q.Fixed && q.Tau2 == 0 {
		a.Slack = slack(q, a)
	}
	return a
}
