package svmnb

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/runs"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
	"github.com/svmnb/svmnb/svmnb/metrics"
)

// RegressionFit is a solved regression: f(x) = Σ_i β_i K(x_i, x) + b, summed over the
// support vectors. It contains the solver's result with trace and certificate. Alpha has 2n
// multipliers, two for each point: one for each side of the tube.
type RegressionFit struct {
	solvers.Result

	// Description is the Regressor that was solved, all defaults filled in.
	Description Regressor

	Beta    []float64 // n coefficients, positive for points above the tube
	Epsilon float64   // half-width of the tube, in units of the targets; for ν-SVR the one that was found

	task      *regression
	expansion machines.Expansion
	training  func() []float64                      // f at the training points, computed at the first call
	glance    func() (rows []int, values []float64) // f at the training points that a summary uses; nil rows mean all
}

func (t *regression) fit(res *solvers.Result) *RegressionFit {
	fit := &RegressionFit{Result: *res, Description: t.Regressor, Beta: solvers.Signed(res.Alpha), Epsilon: t.epsilon, task: t}
	if t.loss == nuLoss {
		fit.Epsilon = max(0, -res.Certificate.Rho)
	}
	fit.Bias = res.Certificate.Bias
	for _, b := range fit.Beta {
		fit.Bias += t.tau2 * b
	}
	fit.expansion = machines.NewExpansion(t.data, t.kernel, t.behind, fit.Beta, fit.Bias)
	fit.training = sync.OnceValue(func() []float64 {
		if glance(len(fit.Beta), fit.expansion.Each()) != nil && res.F != nil {
			return decisions(t.problem, res, len(fit.Beta), 1)
		}
		return fit.expansion.Values(points.Of(t.data))
	})
	fit.glance = look(len(fit.Beta), fit.expansion.Each(), fit.training, func(rows []int) []float64 { return fit.expansion.Values(points.Of(t.data).Some(rows)) })
	return fit
}

// Predict returns f at m points, each with the d features of the training data, in units of
// the targets. The error is an *ArgumentError that names the first row with a wrong number
// of features or with NaN or infinity, or it wraps a *kernels.DataError for a point outside
// the domain of the kernel.
func (f *RegressionFit) Predict(x datasets.Points) (_ []float64, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Predict")
	}
	return f.expansion.At("Predict", "regression", points.From(x))
}

// Problem returns the quadratic programme that was solved. Its matrix serves one goroutine
// at a time.
func (f *RegressionFit) Problem() *solvers.Problem {
	if f.none() {
		return nil
	}
	return f.task.problem
}

// RMSE returns the root mean squared error of f on ds, in units of the targets. It returns
// the errors of Predict, and an error if ds is not valid or was not scaled as the training
// data were.
func (f *RegressionFit) RMSE(ds *datasets.Dataset) (_ float64, err error) {
	defer guard.Caught(&err)
	square, err := f.squares("RMSE", ds)
	if err != nil {
		return 0, err
	}
	return math.Sqrt(square / float64(ds.N())), nil
}

// R2 returns the share of the variance of ds's targets that f explains. It is at most 1,
// and negative if the mean of the targets would predict better. It returns the errors of
// Predict, and an error if all targets are equal.
func (f *RegressionFit) R2(ds *datasets.Dataset) (_ float64, err error) {
	defer guard.Caught(&err)
	square, err := f.squares("R2", ds)
	if err != nil {
		return 0, err
	}
	all := variation(ds.Y)
	if all == 0 {
		return 0, arguments.Wrong("R2", ds.Y[0], "all targets are %v, so there is no variance to explain; take RMSE", ds.Y[0])
	}
	return 1 - square/all, nil
}

// squares returns the sum of the squared errors.
func (f *RegressionFit) squares(verb string, ds *datasets.Dataset) (float64, error) {
	if err := ds.Check(); err != nil {
		return 0, err
	}
	if err := errors.Join(steps.Suits(verb, f.task.behind, f.task.data, ds), steps.SameTargets(verb, f.task.data, ds)); err != nil {
		return 0, err
	}
	values, err := f.expansion.At(verb, "regression", points.Of(ds))
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for i, v := range values {
		sum += (ds.Y[i] - v) * (ds.Y[i] - v)
	}
	return sum, nil
}

// variation returns the sum of the squared distances from the mean. It is exactly 0 for
// equal values.
func variation(y []float64) float64 {
	mean, sum, equal := 0.0, 0.0, true
	for i, v := range y {
		mean += (v - mean) / float64(i+1)
		equal = equal && v == y[0]
	}
	if equal {
		return 0
	}
	for _, v := range y {
		sum += (v - mean) * (v - mean)
	}
	return sum
}

// Residuals returns y − f(x) for the n training points. The first call computes f at all of
// them, by the rule that [Fit.TrainingErrors] describes.
func (f *RegressionFit) Residuals() []float64 {
	if f.none() {
		return nil
	}
	r := make([]float64, len(f.Beta))
	for i, v := range f.training() {
		r[i] = f.task.data.Y[i] - v
	}
	return r
}

// Weights returns w = Σ β_i x_i, d values, for the linear kernel. For other kernels it
// returns an *ArgumentError, since their w is in feature space.
func (f *RegressionFit) Weights() ([]float64, error) {
	if f.none() {
		return nil, arguments.NoFit("Weights")
	}
	return f.expansion.Normal(f.task.kernel)
}

// RegressionVector is a training point with β ≠ 0.
type RegressionVector struct {
	Index    int       // row in the training data
	X        []float64 // the point, d values, which must not be changed; nil for a sparse point
	Y        float64   // target
	Beta     float64   // in [−C, C]; positive above the tube, negative below
	Bound    bool      // |β| = C: the point is outside the tube or on its edge
	Residual float64   // y − f(x)
	Slack    float64   // ξ = max(0, |y − f(x)| − ε)
}

// SupportVectors returns the points with β ≠ 0 in the order of the data. It needs f at all
// training points; see [RegressionFit.Residuals].
func (f *RegressionFit) SupportVectors() []RegressionVector {
	if f.none() {
		return nil
	}
	var sv []RegressionVector
	residuals := f.Residuals()
	for i, b := range f.Beta {
		if b != 0 {
			sv = append(sv, RegressionVector{i, points.Of(f.task.data).Row(i), f.task.data.Y[i], b, f.task.bound(i, b), residuals[i], f.slack(residuals[i])})
		}
	}
	return sv
}

func (f *RegressionFit) slack(residual float64) float64 {
	return max(0, math.Abs(residual)-f.Epsilon)
}

// most returns the bound of |β_i| on the side of beta; the pinball loss has another one below f
// than above.
func (t *regression) most(i int, beta float64) float64 {
	if upper := t.problem.Upper; beta < 0 {
		return upper[len(upper)/2+i]
	}
	return t.problem.Upper[i]
}

func (t *regression) bound(i int, beta float64) bool { return math.Abs(beta) >= t.most(i, beta) }

// counts returns how many β are free and how many are at a bound.
func (f *RegressionFit) counts() (free, bound int) {
	for i, b := range f.Beta {
		switch {
		case b == 0:
		case f.task.bound(i, b):
			bound++
		default:
			free++
		}
	}
	return free, bound
}

// RegressionCondition is the KKT condition of one point of a regression.
type RegressionCondition struct {
	Index     int
	Y, Beta   float64
	Residual  float64 // y − f(x)
	Slack     float64 // ξ = max(0, |y − f(x)| − ε)
	State     string  // such as "β = 0", "0 < β < C" or "β = −C"
	Requires  string  // what the state requires of the residual r, such as "r = ε"
	Violation float64 // how far r is from it, ≥ 0
}

// RegressionConditions is the table of the KKT conditions of a fit, in the order of the
// data.
type RegressionConditions []RegressionCondition

// Conditions returns the table of the KKT conditions: for each training point the state of
// β, what it requires of the residual, and the violation. Violations are computed at the
// bias for which the largest one is smallest; the largest one is Certificate.MaxKKT.
// Conditions needs f at all training points; see [RegressionFit.Residuals].
func (f *RegressionFit) Conditions() RegressionConditions {
	if f.none() {
		return nil
	}
	t := f.task
	t.asking.Lock()
	violations := fold(t.problem.Violations(nil, f.Alpha, f.F), len(f.Beta)) // computes F itself if it is nil
	t.asking.Unlock()
	table := make(RegressionConditions, len(f.Beta))
	for i, r := range f.Residuals() {
		b := f.Beta[i]
		c := RegressionCondition{Index: i, Y: t.data.Y[i], Beta: b, Residual: r, Slack: f.slack(r), Violation: violations[i]}
		switch {
		case t.loss == ridge:
			c.State, c.Requires = "any", "r = λβ"
		case t.loss == pinballLoss && t.bound(i, b) && b > 0:
			c.State, c.Requires = "β = τC", "r ≥ 0"
		case t.loss == pinballLoss && t.bound(i, b):
			c.State, c.Requires = "β = −(1 − τ)C", "r ≤ 0"
		case t.loss == pinballLoss:
			c.State, c.Requires = "−(1 − τ)C < β < τC", "r = 0"
		case t.loss == huberLoss && t.bound(i, b) && b > 0:
			c.State, c.Requires = "β = C", "r ≥ δ"
		case t.loss == huberLoss && t.bound(i, b):
			c.State, c.Requires = "β = −C", "r ≤ −δ"
		case t.loss == huberLoss:
			c.State, c.Requires = "−C < β < C", "r = δβ/C"
		case b == 0:
			c.State, c.Requires = "β = 0", "|r| ≤ ε"
		case t.loss == quadraticLoss && b > 0:
			c.State, c.Requires = "β > 0", "r = ε + β/C"
		case t.loss == quadraticLoss:
			c.State, c.Requires = "β < 0", "r = −ε + β/C"
		case t.bound(i, b) && b > 0:
			c.State, c.Requires = "β = C", "r ≥ ε"
		case t.bound(i, b):
			c.State, c.Requires = "β = −C", "r ≤ −ε"
		case b > 0:
			c.State, c.Requires = "0 < β < C", "r = ε"
		default:
			c.State, c.Requires = "−C < β < 0", "r = −ε"
		}
		table[i] = c
	}
	return table
}

// Markdown returns the table, at most its first hundred rows.
func (c RegressionConditions) Markdown() string {
	var s strings.Builder
	s.WriteString("| i | y | β | r = y − f | ξ | state | requires | violation |\n|--:|--:|--:|--:|--:|:--|:--|--:|\n")
	for _, r := range c[:min(len(c), 100)] {
		fmt.Fprintf(&s, "| %d | %.4g | %.4g | %.4g | %.4g | %s | %s | %.1e |\n", r.Index, r.Y, r.Beta, r.Residual, r.Slack, r.State, say.Escaped(r.Requires), r.Violation)
	}
	if len(c) > 100 {
		fmt.Fprintf(&s, "\n%d more points.\n", len(c)-100)
	}
	return s.String()
}

// fold returns the larger of the two values of each point. It overwrites v.
func fold(v []float64, n int) []float64 {
	for i := n; i < len(v); i++ {
		v[i%n] = max(v[i%n], v[i])
	}
	return v[:n]
}

// Markdown says in words what was solved, how the run ended, how good the answer is and how
// it fits the training points, with at most two hints if something looks wrong.
func (f *RegressionFit) Markdown() string {
	if f.none() {
		return arguments.NoFit("Markdown").Error()
	}
	t := f.task
	free, bound := f.counts()
	s := say.NewSummary()
	s.Row("**problem**", "%s, regression", t.data.Name)
	s.Row("points × features", "%d × %d", t.data.N(), t.data.D())
	s.Row("loss", "%s", t.lossText())
	s.Row("kernel", "%s", say.Brief(t.kernel.String()))
	summariseRun(s, &f.Result, t.stop)
	switch t.loss {
	case ridge:
		s.Row("**result**", "every point carries f, as in any least squares")
	case pinballLoss:
		s.Row("**result**", "%s", f.sidedText())
	case huberLoss:
		s.Row("**result**", "%d of %s farther than δ from f, where the loss is linear", bound, say.Several(len(f.Beta), "point"))
	case quadraticLoss:
		s.Row("**result**", "%d support vectors: the points outside the tube", free)
	default:
		s.Row("**result**", "%d support vectors: %d free on the edge of the tube, %d at the bound outside it", free+bound, free, bound)
	}
	if t.loss == nuLoss {
		s.Row("tube", "ε = %s, found", say.Signed(f.Epsilon, 6))
	}
	s.Row("bias, ‖w‖", "%s, %s", say.Signed(f.Bias, 6), say.Signed(math.Sqrt(f.Certificate.Norm2), 6))
	square := 0.0
	rows, values := f.glance()
	y := pick(t.data.Y, rows)
	for i, v := range values {
		square += (y[i] - v) * (y[i] - v)
	}
	text := say.Signed(math.Sqrt(square/float64(len(y))), 4)
	if all := variation(y); all > 0 {
		text += fmt.Sprintf(", %s of the targets' variance explained", say.Percent(1-square/all))
	}
	if t.loss == pinballLoss {
		loss, _ := metrics.Pinball(y, values, t.tau) // the values are those of a fit
		s.Row("training pinball loss", "%s%s", say.Signed(loss, 4), glanced(rows, t.data.N()))
	} else {
		s.Row("training RMSE", "%s%s", text, glanced(rows, t.data.N()))
	}
	if far := f.farthest(); far != "" {
		s.Row("distance from the optimum", "%s", far)
	}
	s.Hints(f.Hints())
	return s.String()
}

func (t *regression) lossText() string {
	s := ""
	switch t.loss {
	case ridge:
		s = "squares, ridge λ = " + say.Number(t.lambda)
	case nuLoss:
		s = "ε-insensitive, ν = " + say.Number(t.nu) + ", C = " + say.Number(t.c)
	case pinballLoss:
		s = "pinball, τ = " + say.Number(t.tau) + ", C = " + say.Number(t.c)
	case huberLoss:
		s = "Huber's, δ = " + say.Number(t.delta) + ", C = " + say.Number(t.c)
	case quadraticLoss:
		s = "quadratic ε-insensitive, C = " + say.Number(t.c) + ", ε = " + say.Number(t.epsilon)
	default:
		s = "linear ε-insensitive, C = " + say.Number(t.c) + ", ε = " + say.Number(t.epsilon)
	}
	if t.sample != nil {
		s += ", weighted"
	}
	return s + t.biasWords()
}

// words describes the problem for a subtitle.
func (t *regression) words() string {
	return fmt.Sprintf("%s · %s, %s", t.data.Name, say.Brief(t.kernel.String()), t.lossText())
}

// Hints returns at most two suggestions, each with its reason, if something looks wrong.
// The more important one is first.
func (f *RegressionFit) Hints() []string {
	if f.none() {
		return nil
	}
	t, n := f.task, f.task.data.N()
	cost := "C = " + say.Number(t.c) + ", which makes the problem harder as it grows"
	if t.loss == ridge {
		cost = "1/λ = " + say.Number(t.c) + ", which makes the problem harder as it grows"
	}
	hints := t.hints(&f.Result, cost)
	add := func(format string, args ...any) { hints = append(hints, fmt.Sprintf(format, args...)) }
	free, bound := f.counts()
	spread := math.Sqrt(variation(t.data.Y) / float64(n))
	if len(t.data.Classes) > 0 {
		add("The targets are the numbers of classes (%s is %s), which a regression takes as amounts: svmnb.Classify tells the classes apart.", say.Class(t.data.ClassName(t.data.Y[0])), say.Number(t.data.Y[0]))
	}
	switch {
	case t.loss == pinballLoss && min(t.tau, 1-t.tau)*float64(n) < 5:
		add("Fewer than five points are expected beyond the %s quantile, so it follows single points: it needs more points, or a τ nearer to ½.", say.Percent(t.tau))
	case t.loss == ridge || t.loss == pinballLoss || t.loss == huberLoss || n < 3 || spread == 0:
	case free+bound == 0:
		add("All targets fit into a tube of ε = %s around a constant: try an ε below their standard deviation, %.3g.", say.Number(f.Epsilon), spread)
	case t.loss == linearLoss && free == 0:
		add("Every support vector is at the bound C = %s, so errors cost too little for f to follow the points: try a larger C.", say.Number(t.c))
	case free+bound > 4*n/5 && n >= 20 && t.loss != nuLoss:
		add("%d of %d points are support vectors, so the tube is narrower than the noise: an ε above %s, or near the RMSE, leaves fewer.", free+bound, n, say.Number(f.Epsilon))
	}
	return hints[:min(2, len(hints))]
}

func (f *RegressionFit) record() record {
	return record{runs.Certified(f.Result), f.task.problem, &f.task.asking, f.task.stop, f.task.words() + " · " + f.Method, len(f.Beta)}
}

// Tube shows the regression function of one feature with its tube, the points, the support
// vectors and the slacks. For more features it shows the predictions over the targets. For a
// quantile it shows the points on f and those beside it, and for Huber's loss those farther than
// δ from f.
var Tube = display.FigureOf("Tube", drawTube)

// Show displays the given figures of the fit. Without figures it displays the summary and
// Tube.
func (f *RegressionFit) Show(figures ...display.Figure) {
	display.ShowFit(f, figures, Tube)
}

// curveNodes is the number of places at which drawTube evaluates f.
const curveNodes = 600

func drawTube(f *RegressionFit) (*display.Chart, error) {
	t := f.task
	rows, values := f.glance()
	upper := make([]float64, len(f.Beta))
	for i, b := range f.Beta {
		upper[i] = t.most(i, b)
	}
	d := figure.TubeData{
		Problem: t.words() + glanced(rows, len(f.Beta)), Epsilon: f.Epsilon, Y: pick(t.data.Y, rows), F: values, Beta: pick(f.Beta, rows), Upper: pick(upper, rows), Target: t.data.Target,
		Tau: t.tau,
	}
	if t.loss == huberLoss {
		d.Epsilon, d.Huber = t.delta, true
	}
	if t.line() {
		d.Feature = t.data.FeatureName(0)
		at := figure.Around(t.data.X, 0)
		nodes := min(max(gridWork/max(len(f.expansion.Coef), 1), 100), curveNodes)
		grid := make([][]float64, nodes)
		for k := range grid {
			x := at[0] + (at[1]-at[0])*float64(k)/float64(nodes-1)
			grid[k], d.Xs = []float64{x}, append(d.Xs, x)
		}
		d.Fs = f.expansion.Values(points.Rows(grid))
		for _, x := range pick(t.data.X, rows) {
			d.X = append(d.X, x[0])
		}
	}
	return figure.Tube(d)
}
