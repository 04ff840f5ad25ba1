// Package engine is the engine of living figures: pictures of a machine that trains again
// when a reader moves a point or a slider. It has kernels and solvers and nothing else, so
// that it is small enough to be sent to a page as WebAssembly (folder wasm). In a notebook,
// the same engine runs in the kernel.
//
// A [Machine] answers one [Question] after the other. It keeps the kernel matrix in
// between: when one point of n has moved, it computes n kernel values and not n².
package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
)

// Task is what a machine learns.
type Task int

const (
	Classify Task = iota // two classes, y = ±1, by the 1-norm soft margin
	Regress              // a real target, by ε-support-vector regression
	OneClass             // the region of the points, for which y is ignored
	Process              // a real target, by a Gaussian process
	TwoNorm              // two classes, y = ±1, by the 2-norm soft margin
	Nu                   // two classes, y = ±1, by ν-SVC; f is scaled so that its margins are ±1
)

// labelled reports whether y is ±1.
func (t Task) labelled() bool { return t == Classify || t == TwoNorm || t == Nu }

// Question is one state of a figure: the points, the machine and what to draw of it.
type Question struct {
	Task    Task
	X       [][]float64 // n points of one or two features
	Y       []float64   // n labels ±1 or targets
	Kernel  kernels.Kernel
	Method  string  // one of [Methods]; a Gaussian process takes Cholesky's
	C       float64 // > 0; for OneClass and Nu ν in (0, 1), for Process the variance of the noise
	Epsilon float64 // half the width of the tube, for Regress
	Tol     float64 // the solver stops when m(α) − M(α) ≤ Tol; 0 means 1e-3

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
}

// Answer is what a figure draws.
type Answer struct {
	Status      solvers.Status
	Iterations  int
	Evaluations int64
	Bias        float64
	Certificate solvers.Certificate
	Evidence    float64 // ln p(y) of a Gaussian process; otherwise NaN

	Alpha []float64 // n multipliers; for Regress β = α̂ − α, for Process (K + noise)⁻¹y
	F     []float64 // n values f(x_i)
	Field []float64 // Ny·Nx values, rows from the bottom
	SD    []float64 // the standard deviation of f on the grid, of a Gaussian process

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
	start []float64 // α of the last run
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
}

// Methods returns the names of the solvers, the usual one first.
func Methods() []string {
	var names []string
	for _, m := range methods {
		names = append(names, m.name)
	}
	return names
}

// Method returns the solver of a name. A regression has an SMO of its own.
func Method(name string, task Task) (solvers.Method, error) {
	for _, m := range methods {
		if m.name == name || name == "" {
			if task == Regress && m.method == solvers.Method(solvers.SMO{}) {
				return solvers.TubeSMO{}, nil
			}
			return m.method, nil
		}
	}
	return nil, fmt.Errorf("engine: there is no solver %q; choose one of %q", name, Methods())
}

// check returns what is wrong with a question, or nil.
func (q *Question) check() error {
	switch n := len(q.X); {
	case q.Task < Classify || q.Task > Nu:
		return fmt.Errorf("engine: there is no task %d", q.Task)
	case n == 0:
		return errors.New("engine: there are no points; place some")
	case len(q.Y) != n:
		return fmt.Errorf("engine: %d points have %d labels; give each point one", n, len(q.Y))
	case q.Kernel == nil:
		return errors.New("engine: there is no kernel; give one such as RBF(1)")
	case q.Nx < 0 || q.Ny < 0 || q.Nx > 2000 || q.Ny > 2000:
		return fmt.Errorf("engine: a grid of %d × %d nodes cannot be drawn; choose at most 2000 each way", q.Nx, q.Ny)
	case !(q.C > 0) || math.IsInf(q.C, 1):
		return fmt.Errorf("engine: C, ν or the noise is %v; it must be a positive number", q.C)
	}
	for i, x := range q.X {
		if len(x) != len(q.X[0]) || len(x) < 1 || len(x) > 2 {
			return fmt.Errorf("engine: point %d has %d features; a figure draws one or two, the same number for each point", i, len(x))
		}
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
	if q.Task == Process {
		return process(ctx, &q)
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
		w.Epsilon == q.Epsilon && w.Tol == q.Tol && slices.Equal(w.Y, q.Y) && slices.EqualFunc(w.X, q.X, slices.Equal)
}

// problem returns the quadratic programme of a question.
func problem(q *Question, k solvers.Matrix) (*solvers.Problem, error) {
	c := slices.Repeat([]float64{q.C}, len(q.X))
	switch q.Task {
	case OneClass:
		return solvers.OneClass(k, q.C)
	case Nu:
		return solvers.NuSoftMargin(k, q.Y, q.C)
	case Regress:
		return solvers.Tube(k, q.Y, c, q.Epsilon), nil
	case TwoNorm:
		return solvers.SoftMargin2(k, q.Y, c), nil
	}
	return solvers.SoftMargin(k, q.Y, c), nil
}

func (m *Machine) fit(ctx context.Context, q *Question) error {
	how, err := Method(q.Method, q.Task)
	if err != nil {
		return err
	}
	var k solvers.Matrix
	var start []float64
	if q.Warm {
		m.held, err = m.held.follow(q.Kernel, q.X)
		k, start = m.held, m.warm(q)
	} else {
		k, err = kernels.NewGram(q.Kernel, q.X, 0)
	}
	if err != nil {
		return err
	}
	p, err := problem(q, k)
	if err != nil {
		return err
	}
	var stop solvers.Criterion = solvers.UpLow{Tol: q.Tol}
	if q.Tol == 0 {
		stop = solvers.UpLow{Tol: 1e-3}
	}
	if q.Limit > 0 {
		stop = solvers.Any(stop, solvers.Time{Max: q.Limit})
	}
	every := -1
	if q.Trace {
		every = 0
	}
	r, err := solvers.Solve(ctx, p, how, solvers.Settings{Start: start, Stop: stop, Every: every})
	if r == nil {
		m.last, m.start = nil, nil
		return err
	}
	m.last, m.start, m.was = r, r.Alpha, *q
	m.was.X, m.was.Y = nil, slices.Clone(q.Y)
	for _, x := range q.X {
		m.was.X = append(m.was.X, slices.Clone(x))
	}
	return nil
}

// warm returns the α of the run before, if it is feasible for the question or can be made
// so, and otherwise nil.
func (m *Machine) warm(q *Question) []float64 {
	w := &m.was
	if m.start == nil || w.Task != q.Task || len(w.X) != len(q.X) || (q.Task == OneClass || q.Task == Nu) && w.C != q.C || q.Task.labelled() && !slices.Equal(w.Y, q.Y) {
		return nil
	}
	a := slices.Clone(m.start)
	if q.C < w.C && q.Task != TwoNorm { // all are scaled, so that y'α stays 0
		for i := range a {
			a[i] = min(a[i]*(q.C/w.C), q.C)
		}
	}
	return a
}

// draw fills in an answer from the last run.
func (m *Machine) draw(q *Question) *Answer {
	r := m.last
	a := &Answer{Status: r.Status, Iterations: r.Iterations, Evaluations: r.Evaluations, Bias: r.Bias, Certificate: r.Certificate, Evidence: math.NaN()}
	alpha := r.Alpha
	t := &r.Trace
	if q.Trace && q.Task != Nu { // the scale of f is that of the end
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
	switch q.Task {
	case Classify, TwoNorm, Nu:
		scale := 1.0
		if rho := r.Certificate.Rho; q.Task == Nu && rho > 0 { // else, after an early stop, there is no scale
			scale = 1 / rho
		}
		a.Bias *= scale
		for i := range coef {
			coef[i] *= scale * q.Y[i]
		}
	case Regress:
		coef = solvers.Signed(alpha)
		alpha = coef
	}
	a.Alpha = slices.Clone(alpha)
	e := newExpansion(q.Kernel, q.X, coef, a.Bias)
	a.F = e.at(make([]float64, len(q.X)), q.X)
	a.Field = e.field(q)
	if q.Certain && q.Task == Classify {
		a.Slack = slack(q, a)
	}
	return a
}
