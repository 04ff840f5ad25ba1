package svmnb

import (
	"math"
	"sync"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
)

// Fit is a solved classifier: f(x) = Σ_i α_i y_i K(x_i, x) + b, summed over the support
// vectors. It contains the solver's result with trace and certificate.
type Fit struct {
	solvers.Result

	// Description is the Classifier that was solved, all defaults filled in.
	Description Classifier

	task      *task
	expansion machines.Expansion // coefficients scale·α_i y_i
	scale     float64            // factor from α to the coefficients of f; 1 except for ν machines
	line      float64            // for one class, points with f ≥ −line are inside, since f = 0 only within the tolerance; otherwise 0

	// training returns f at the training points. It is computed at the first call, since it
	// takes long for many points.
	training func() []float64
	glance   func() (rows []int, values []float64) // f at the training points that a summary uses; nil rows mean all
}

func (t *task) fit(res *solvers.Result) *Fit {
	fit := &Fit{Result: *res, Description: t.Classifier, task: t, scale: 1}
	switch t.margin {
	case nuSoft:
		fit.scale = 1 / res.Certificate.Rho
	case oneClass:
		fit.scale = -1 / res.Certificate.Bias
	case enclosing:
		fit.scale = 2 / t.problem.Delta
	}
	if !(fit.scale > 0) || math.IsInf(fit.scale, 1) {
		fit.scale = 1 // ρ ≤ 0, as a run that was cut short may have it, defines no scale
	}
	if t.margin.alone() {
		fit.line = fit.scale*t.tolerance() + 1e-9 // 1e-9 allows for rounding; f at the origin is −1
	}
	fit.Bias = fit.scale * res.Certificate.Bias
	coef := make([]float64, len(res.Alpha))
	for i, a := range res.Alpha {
		fit.Bias += t.tau2 * a * t.y[i]
		coef[i] = fit.scale * a * t.y[i]
	}
	if t.margin == enclosing {
		fit.Bias += t.shift(coef)
	}
	fit.expansion = machines.NewExpansion(t.data, t.decided(), t.behind, coef, fit.Bias)
	fit.training = sync.OnceValue(func() []float64 {
		if glance(len(t.y), fit.expansion.Each()) != nil && res.F != nil && t.margin != enclosing {
			return decisions(t.problem, res, len(t.y), fit.scale)
		}
		return fit.expansion.Values(points.Of(t.data))
	})
	fit.glance = look(len(t.y), fit.expansion.Each(), fit.training, func(rows []int) []float64 { return fit.expansion.Values(points.Of(t.data).Some(rows)) })
	return fit
}

// Values returns f at m points, each with the d features of the training data. The error is
// an *ArgumentError that names the first row with a wrong number of features or with NaN or
// infinity, or it wraps a *kernels.DataError for a point outside the domain of the kernel.
func (f *Fit) Values(x datasets.Points) (_ []float64, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Values")
	}
	return f.expansion.At("Values", "classifier", points.From(x))
}

// Predict returns the class names of m points. Points with f = 0 belong to the positive
// class; for one class, points with f = 0 within the solver's tolerance are inside. Errors
// are those of Values.
func (f *Fit) Predict(x datasets.Points) (_ []string, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Predict")
	}
	values, err := f.expansion.At("Predict", "classifier", points.From(x))
	if err != nil {
		return nil, err
	}
	return f.names(values), nil
}

func (f *Fit) names(values []float64) []string {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = f.task.negative
		if f.side(v) == 1 {
			names[i] = f.task.positive
		}
	}
	return names
}

// side returns the class of a decision value: 0 for the negative class, 1 for the positive.
func (f *Fit) side(v float64) int { return machines.SideOf(v + f.line) }

// Accuracy returns the share of the points of ds, in [0, 1], whose class is predicted
// correctly. It returns the errors of Values, and an error for a class that the training
// data did not have.
func (f *Fit) Accuracy(ds *datasets.Dataset) (_ float64, err error) {
	defer guard.Caught(&err)
	if err := ds.Check(); err != nil {
		return 0, err
	}
	if err := steps.Suits("Accuracy", f.task.behind, f.task.data, ds); err != nil {
		return 0, err
	}
	values, err := f.expansion.At("Accuracy", "classifier", points.Of(ds))
	if err != nil {
		return 0, err
	}
	right := 0
	for i, name := range f.names(values) {
		switch truth := ds.ClassName(ds.Y[i]); truth {
		case name:
			right++
		case f.task.negative, f.task.positive:
		default:
			return 0, unknownClass("Accuracy", i, ds, []string{f.task.negative, f.task.positive})
		}
	}
	return float64(right) / float64(len(values)), nil
}

// SupportVector is a training point with α > 0.
type SupportVector struct {
	Index int       // row in the training data
	X     []float64 // the point, d values, which must not be changed; nil for a sparse point
	Y     float64   // label, ±1
	Alpha float64   // in (0, C]; for ν machines in (0, 1]
	Bound bool      // α = C: the point is inside the margin, on the wrong side, or on the margin
	Slack float64   // ξ = max(0, 1 − y f(x)); for one class max(0, −f(x))
}

// SupportVectors returns the points with α > 0 in the order of the data. Slack needs f at
// all training points; see [Fit.TrainingErrors].
func (f *Fit) SupportVectors() []SupportVector {
	if f.none() {
		return nil
	}
	var sv []SupportVector
	values, rows := f.training(), points.Of(f.task.data)
	for i, a := range f.Alpha {
		if a != 0 {
			y := f.task.y[i]
			sv = append(sv, SupportVector{i, rows.Row(i), y, a, a >= f.task.problem.Upper[i], max(0, f.task.edge()-y*values[i])})
		}
	}
	return sv
}

// edge returns y f on the margin: 1, or 0 for one class.
func (t *task) edge() float64 {
	if t.margin.alone() {
		return 0
	}
	return 1
}

// Problem returns the quadratic programme that was solved. Its matrix serves one goroutine
// at a time.
func (f *Fit) Problem() *solvers.Problem {
	if f.none() {
		return nil
	}
	return f.task.problem
}

// Margin returns the geometric margin 1/‖w‖ in feature space; +Inf if w = 0. For one class it
// is the distance ρ/‖w‖ of the boundary from the origin, and for [Enclose] the radius of the ball. With Augment, the feature space
// includes the constant feature.
func (f *Fit) Margin() float64 {
	if f.none() {
		return math.NaN()
	}
	if f.task.margin == enclosing {
		return f.Radius()
	}
	return 1 / (f.scale * math.Sqrt(f.Certificate.Norm2))
}

// Weights returns w = Σ α_i y_i x_i, d values, for the linear kernel. For other kernels it
// returns an *ArgumentError, since their w is in feature space.
func (f *Fit) Weights() ([]float64, error) {
	if f.none() {
		return nil, arguments.NoFit("Weights")
	}
	return f.expansion.Normal(f.task.decided())
}

// TrainingErrors counts the training points whose predicted class is wrong, so it needs f at
// all n training points. For small fits f is computed from n·#SV kernel values. Where these are
// more than 10⁸, f follows from F of the result without kernel values. If the result has no F
// either, as after some interrupts, f is computed all the same, which takes minutes for a
// hundred thousand points.
func (f *Fit) TrainingErrors() int {
	if f.none() {
		return 0
	}
	return f.errorsAt(nil, f.training())
}

// errorsAt counts the errors among the given rows, where f has these values; nil rows mean
// all.
func (f *Fit) errorsAt(rows []int, values []float64) int {
	n := 0
	for i, y := range pick(f.task.y, rows) {
		if f.side(values[i]) != machines.SideOf(y) {
			n++
		}
	}
	return n
}
