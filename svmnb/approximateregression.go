package svmnb

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/model"
)

// ApproximateRegressor describes a machine that approximates that of a [Regressor]. It is a
// value, as a Regressor is.
type ApproximateRegressor struct {
	of  Regressor
	how Approximation
}

// Approximate approximates the machine, for data on which the exact one takes too long; see
// [Classifier.Approximate]. It is for a free bias and for every loss but that of Nu, without
// SampleWeights.
func (r Regressor) Approximate(how Approximation) ApproximateRegressor {
	r.approximated(how)
	return ApproximateRegressor{r, how}
}

// String returns the Go expression of the description.
func (a ApproximateRegressor) String() string {
	return fmt.Sprintf("%v.Approximate(%s)", a.of, say.Literal(a.how))
}

// Fit trains the approximation. When ctx ends early, Fit returns an error that wraps
// context.Cause(ctx).
func (a ApproximateRegressor) Fit(ctx context.Context) (_ *ApproximateRegressionFit, err error) {
	defer guard.Caught(&err)
	if err := arguments.Given(ctx, "Fit"); err != nil {
		return nil, err
	}
	t, err := a.of.prepare()
	if err != nil {
		return nil, err
	}
	switch {
	case t.loss == nuLoss:
		return nil, arguments.Wrong("Nu", t.nu, "ν-SVR finds the width of its tube, which the solvers of approximations cannot; leave Nu out and give that width by Epsilon, such as the Epsilon of a ν-SVR on a part of the data")
	case t.sample != nil:
		return nil, arguments.Wrong("SampleWeights", math.NaN(), "approximations have the same C for all points; leave SampleWeights out")
	}
	e := t.exact()
	if err := e.check(a.how); err != nil {
		return nil, err
	}
	core, elapsed, err := approximate(ctx, e, a.how)
	if err != nil {
		return nil, err
	}
	return &ApproximateRegressionFit{Description: a, Alpha: core.alpha, Elapsed: elapsed, task: t, approximation: core}, nil
}

// MustFit is Fit for a notebook cell. The interrupt button ends it. An error is printed and ends
// the cell; outside a notebook it panics.
func (a ApproximateRegressor) MustFit() *ApproximateRegressionFit { return mustTrain(a.Fit) }

func (t *regression) exact() *exactProblem {
	e := &exactProblem{machine: &t.machine, problem: t.problem, asking: &t.asking, y: t.data.Y, cost: [2]float64{t.c, t.c}, real: t}
	if t.loss == pinballLoss {
		e.cost = [2]float64{(1 - t.tau) * t.c, t.tau * t.c}
	}
	return e
}

// lossOf returns Σ C_i loss(y_i − f_i), for every loss but that of a ν-SVR.
func (t *regression) lossOf(f []float64) (total float64) {
	for i, v := range f {
		r := t.data.Y[i] - v
		size := math.Abs(r)
		loss := max(0, size-t.epsilon)
		switch t.loss {
		case quadraticLoss, ridge:
			loss *= loss / 2
		case pinballLoss:
			loss = max(t.tau*r, (t.tau-1)*r)
		case huberLoss:
			if loss = size - t.delta/2; size <= t.delta {
				loss = size * size / (2 * t.delta)
			}
		}
		total += t.cost[i] * loss
	}
	return total
}

// ApproximateRegressionFit is a trained approximation of a regression. Its f has a gap to the
// optimum of the exact machine, which [ApproximateRegressionFit.Bound] bounds cheaply and
// [ApproximateRegressionFit.Certify] computes.
type ApproximateRegressionFit struct {
	// Description is the ApproximateRegressor that was trained.
	Description ApproximateRegressor

	// Alpha has 2n multipliers, two for each point as those of a [RegressionFit], that are
	// feasible for the exact dual.
	Alpha   []float64
	Elapsed time.Duration

	*approximation
	task  *regression
	exact *RegressionFit // the exact machine of Alpha, after Bounds
}

func (f *ApproximateRegressionFit) none() bool { return f == nil || f.task == nil }

// Predict returns f at m points, in units of the targets; see [RegressionFit.Predict].
func (f *ApproximateRegressionFit) Predict(x datasets.Points) (_ []float64, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Predict")
	}
	return f.values("Predict", "regression", x, f.Model)
}

// Bound encloses the exact optimum without kernel values of pairs of points; see
// [ApproximateFit.Bound].
func (f *ApproximateRegressionFit) Bound(ctx context.Context) (_ *Verdict, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Bound")
	}
	return f.bound(ctx)
}

// Certify computes how far f is from the optimum of the exact machine, and improves Alpha; see
// [ApproximateFit.Certify].
func (f *ApproximateRegressionFit) Certify(ctx context.Context) (_ *Verdict, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Certify")
	}
	v, err := f.certify(ctx)
	f.Alpha = f.alpha
	return v, err
}

// Bounds returns bounds of f*, the regression at the exact optimum, at m points, in units of the
// targets; see [RegressionFit.Bounds]. The first call computes the exact machine of Alpha, which
// takes n kernel values for each support vector.
func (f *ApproximateRegressionFit) Bounds(x datasets.Points) (lower, upper []float64, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, nil, arguments.NoFit("Bounds")
	}
	if f.exact == nil {
		res, err := f.t.at(context.Background(), f.alpha)
		if err != nil {
			return nil, nil, err
		}
		f.exact = f.task.fit(res)
	}
	return f.exact.Bounds(x)
}

// Polish goes on from the multipliers of the approximation to the optimum of the exact machine,
// by the method and the criterion of the description.
func (f *ApproximateRegressionFit) Polish(ctx context.Context) (_ *RegressionFit, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Polish")
	}
	start, known := f.alpha, []float64(nil)
	if f.exact != nil {
		start, known = f.exact.Alpha, f.exact.F
	}
	res, err := f.polish(ctx, f.task, start, known)
	if res == nil {
		return nil, err
	}
	return f.task.fit(res), err
}

// Model returns what predictions need of the fit.
func (f *ApproximateRegressionFit) Model() *model.Model {
	if f.none() {
		return nil
	}
	return f.model(machines.Machines{Kind: machines.RegressionKind})
}

// Markdown says in words what was trained, and what its certificate says, if there is one.
func (f *ApproximateRegressionFit) Markdown() string {
	if f.none() {
		return arguments.NoFit("Markdown").Error()
	}
	return f.markdown(f.task.data.Name+", regression", "loss", f.task.lossText(), f.Elapsed)
}
