package svmnb

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/calibrate"
	"github.com/svmnb/svmnb/svmnb/internal/cells"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
	"github.com/svmnb/svmnb/svmnb/model"
)

// Calibration is a way to turn decision values into probabilities: [Platt] or [Isotonic].
type Calibration interface {
	String() string
	plan() (folds int, seed uint64)
	curve(f []float64, positive []bool) machines.Curve
}

// Platt fits a sigmoid, P = 1/(1 + exp(A f + B)), to the decision values of held-out points
// (Platt 2000; computed as by Lin, Lin and Weng 2007).
type Platt struct {
	Folds int    // number of folds, from 2 to the number of points; 0 means 5
	Seed  uint64 // seed for the random folds
}

func (p Platt) String() string      { return "Platt's sigmoid" }
func (p Platt) plan() (int, uint64) { return p.Folds, p.Seed }
func (p Platt) curve(f []float64, positive []bool) machines.Curve {
	s, _ := calibrate.Platt(f, positive)
	return s
}

// Isotonic fits an increasing function of any shape to the decision values of held-out
// points (Zadrozny and Elkan 2002). It needs more points than Platt, hundreds in each
// class.
type Isotonic struct {
	Folds int    // number of folds, from 2 to the number of points; 0 means 5
	Seed  uint64 // seed for the random folds
}

func (p Isotonic) String() string      { return "isotonic regression" }
func (p Isotonic) plan() (int, uint64) { return p.Folds, p.Seed }
func (p Isotonic) curve(f []float64, positive []bool) machines.Curve {
	return calibrate.Isotonic(f, positive)
}

// Sigmoid is P = 1/(1 + exp(A f + B)).
type Sigmoid = calibrate.Sigmoid

// Calibrated is a fit with probabilities. It predicts the most probable class, which near a
// boundary may differ from the class that the fit predicts.
type Calibrated struct {
	how     Calibration
	folds   int
	classes []string
	words   string
	duels   [][2]int // the two classes of each decision value; −1 means all other classes
	curves  []machines.Curve
	values  decider
	here    decider        // values for points that the steps of a pipeline have transformed
	behind  *steps.Passage // the steps before the fit in a pipeline; otherwise nil
	raw     bool           // values are those of points before the steps
	fit     model.Modeler
	heldOut *Evaluation

	// The held-out points: their classes, folds and decision values.
	class []int
	fold  []int
	held  [][]float64

	suits func(ds *datasets.Dataset) error // returns an error unless ds is scaled as the training data
}

// decider checks points and returns their decision values. verb names the user's call in
// errors.
type decider func(verb string, p points.Points) ([][]float64, error)

// Calibrate trains the classifier again without each fold of the data in turn, with the
// same kernel, and fits the calibration to the decision values of the held-out points. The
// folds are stratified, so every class needs at least two points. When ctx ends early,
// Calibrate returns a calibration by the folds so far, or nil if these are not enough, with
// an error that wraps context.Cause(ctx).
func (f *Fit) Calibrate(ctx context.Context, how Calibration) (_ *Calibrated, err error) {
	defer guard.Caught(&err)
	if err := arguments.Given(ctx, "Calibrate"); err != nil {
		return nil, err
	}
	if f.none() {
		return nil, arguments.NoFit("Calibrate")
	}
	if f.task.margin.alone() {
		return nil, arguments.Wrong("Calibrate", math.NaN(), "a one-class machine has seen one class only, so it has no probabilities to learn; leave Calibrate out")
	}
	c := &Calibrated{how: how, classes: []string{f.task.negative, f.task.positive}, words: f.task.words(), duels: [][2]int{{1, 0}}, fit: f}
	of := func(at func(verb, learner string, p points.Points) ([]float64, error)) decider {
		return func(verb string, p points.Points) ([][]float64, error) {
			values, err := at(verb, "classifier", p)
			return machines.AsRows(values), err
		}
	}
	c.values, c.here, c.behind = of(f.expansion.At), of(f.expansion.Here), f.task.behind
	c.suits = func(ds *datasets.Dataset) error { return steps.Suits("Evaluate", f.task.behind, f.task.data, ds) }
	class := make([]int, len(f.task.y))
	for i, y := range f.task.y {
		class[i] = machines.SideOf(y)
	}
	base := f.Description
	return c.learn(ctx, class, func(rows []int) (decider, error) {
		fit, err := base.on(rows).Fit(ctx)
		if err != nil {
			return nil, err
		}
		return of(fit.expansion.Here), nil
	}, points.Of(base.data))
}

// Calibrate is [Fit.Calibrate] for each of the machines. For OneVsOne, the probabilities of
// pairs are coupled (Wu, Lin and Weng 2004, second method). For OneVsRest, the
// probabilities of the classes are divided by their sum; so are those for CrammerSinger,
// where each class is calibrated by its lead over the strongest rival.
func (f *MultiFit) Calibrate(ctx context.Context, how Calibration) (_ *Calibrated, err error) {
	defer guard.Caught(&err)
	if err := arguments.Given(ctx, "Calibrate"); err != nil {
		return nil, err
	}
	if f.none() {
		return nil, arguments.NoFit("Calibrate")
	}
	c := &Calibrated{how: how, classes: f.task.classes, words: f.words(), duels: f.task.duels, fit: f}
	if f.joint != nil {
		for k := range f.task.classes {
			c.duels = append(c.duels, [2]int{k, -1})
		}
	}
	of := func(f *MultiFit, decisions decider) decider {
		return func(verb string, p points.Points) ([][]float64, error) {
			values, err := decisions(verb, p)
			if f.joint != nil {
				for i, v := range values {
					values[i] = f.leads(v)
				}
			}
			return values, err
		}
	}
	m := f.Description
	c.values, c.here, c.behind = of(f, f.decisions), of(f, f.here), m.base.behind
	c.suits = func(ds *datasets.Dataset) error { return steps.Suits("Evaluate", m.base.behind, m.base.data, ds) }
	return c.learn(ctx, f.task.class, func(rows []int) (decider, error) {
		fit, err := MultiClassifier{m.base.on(rows), m.scheme}.Fit(ctx)
		if err != nil {
			return nil, err
		}
		return of(fit, fit.here), nil
	}, points.Of(m.base.data))
}

// MustCalibrate is Calibrate for a notebook cell. The interrupt button ends it: it then
// shows a warning and returns a calibration by the folds so far. An error is printed and
// ends the cell; outside a notebook it panics.
func (f *Fit) MustCalibrate(how Calibration) *Calibrated {
	if f.none() {
		cells.Must(arguments.NoFit("MustCalibrate"))
	}
	return mustCalibrate(f.Calibrate, how)
}

// MustCalibrate is Calibrate for a notebook cell; see [Fit.MustCalibrate].
func (f *MultiFit) MustCalibrate(how Calibration) *Calibrated {
	if f.none() {
		cells.Must(arguments.NoFit("MustCalibrate"))
	}
	return mustCalibrate(f.Calibrate, how)
}

func mustCalibrate(calibrate func(context.Context, Calibration) (*Calibrated, error), how Calibration) *Calibrated {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	c, err := calibrate(ctx, how)
	switch {
	case c == nil:
		cells.Must(err)
	case err != nil:
		cells.Warn("interrupted; these are the probabilities of the folds so far: " + err.Error())
	}
	return c
}

// on returns the description for some rows of its data.
func (c Classifier) on(rows []int) Classifier {
	c.data = c.data.Select(rows)
	if c.weights != nil && c.weights.sample != nil {
		w := make([]float64, len(rows))
		for j, i := range rows {
			w[j] = c.weights.sample[i]
		}
		c.weights = &weights{c.weights.class, w}
	}
	return c
}

// learn holds out each fold in turn and fits the curves. x are the n points and class their
// classes; fit trains on some rows.
func (c *Calibrated) learn(ctx context.Context, class []int, fit func(rows []int) (decider, error), x points.Points) (*Calibrated, error) {
	if c.how == nil {
		return nil, arguments.Wrong("Calibrate", math.NaN(), "the calibration is nil; give one such as svmnb.Platt{}")
	}
	var seed uint64
	c.folds, seed = c.how.plan()
	if c.folds == 0 {
		c.folds = 5
	}
	fold, err := deal("Calibrate", c.classes, class, c.folds, seed)
	if err != nil {
		return nil, err
	}
	values, done := make([][]float64, x.N()), 0
	var interrupted error
	for k := range c.folds {
		var in, out []int
		for i, f := range fold {
			if f == k {
				out = append(out, i)
			} else {
				in = append(in, i)
			}
		}
		if len(out) == 0 {
			continue
		}
		if ctx.Err() != nil {
			interrupted = fmt.Errorf("svmnb: Calibrate: after %d of %d folds: %w", done, c.folds, context.Cause(ctx))
			break
		}
		decide, err := fit(in)
		if err != nil && ctx.Err() == nil {
			return nil, fmt.Errorf("svmnb: Calibrate: without fold %d: %w", k+1, err)
		}
		var held [][]float64
		if err == nil {
			held, err = guard.UnlessDone(ctx, func() ([][]float64, error) { return decide("Calibrate", x.Some(out)) })
		}
		if err != nil && ctx.Err() != nil {
			interrupted = fmt.Errorf("svmnb: Calibrate: after %d of %d folds: %w", done, c.folds, err)
			break
		}
		if err != nil {
			return nil, fmt.Errorf("svmnb: Calibrate: fold %d: %w", k+1, err)
		}
		for j, i := range out {
			values[i] = held[j]
		}
		done++
	}
	if interrupted != nil && done == 0 {
		return nil, interrupted
	}
	if interrupted != nil { // the folds that are missing have no values
		var rows []int
		for i, v := range values {
			if v != nil {
				rows = append(rows, i)
			}
		}
		class, values, fold = pick(class, rows), pick(values, rows), pick(fold, rows)
	}
	c.class, c.fold, c.held = class, fold, values
	ok := false
	if c.curves, ok = c.fitCurves(func(int) bool { return true }); !ok && interrupted != nil {
		return nil, interrupted // the folds so far have points of one class only
	}
	folds := fmt.Sprint(c.folds)
	if interrupted != nil {
		folds = fmt.Sprintf("%d of %d", done, c.folds)
	}
	c.heldOut = &Evaluation{Of: fmt.Sprintf("%s · %v · held out in %s folds", c.words, c.how, folds), Classes: c.classes, Truth: class}
	c.heldOut.add(c, values)
	return c, interrupted
}

// fitCurves fits a curve for each machine to the held-out points for which in is true. It
// returns false if one of the two classes of a machine has no such point.
func (c *Calibrated) fitCurves(in func(i int) bool) (curves []machines.Curve, ok bool) {
	for m, duel := range c.duels {
		var f []float64
		var positive []bool
		for i, k := range c.class {
			if in(i) && (k == duel[0] || k == duel[1] || duel[1] < 0) {
				f, positive = append(f, c.held[i][m]), append(positive, k == duel[0])
			}
		}
		if !slices.Contains(positive, true) || !slices.Contains(positive, false) {
			return nil, false
		}
		curves = append(curves, c.how.curve(f, positive))
	}
	return curves, true
}

// deal assigns each point to one of the folds. The points of a class are shuffled and go to
// the folds in turn. call names the user's call in errors.
func deal(call string, classes []string, class []int, folds int, seed uint64) ([]int, error) {
	if folds < 2 || folds > len(class) {
		return nil, arguments.Wrong(call, float64(folds), "%s for %s; give at least 2 folds, and at most one for each point", say.Several(folds, "fold"), say.Several(len(class), "point"))
	}
	rng := rand.New(rand.NewPCG(seed, 0xf01d))
	fold, next := make([]int, len(class)), 0
	for k, name := range classes {
		var rows []int
		for i, v := range class {
			if v == k {
				rows = append(rows, i)
			}
		}
		if len(rows) < 2 {
			return nil, arguments.Wrong(call, float64(len(rows)), "class %s has %s; it needs 2, one to learn from and one to hold out", say.Class(name), say.Several(len(rows), "point"))
		}
		rng.Shuffle(len(rows), func(a, b int) { rows[a], rows[b] = rows[b], rows[a] })
		for _, i := range rows {
			fold[i] = next % folds
			next++
		}
	}
	return fold, nil
}

// probabilities returns the probabilities of the classes for the decision values of a
// point.
func (c *Calibrated) probabilities(values []float64) []float64 {
	return machines.Probabilities(len(c.classes), c.duels, c.curves, values)
}

// add appends the predictions for points with these decision values.
func (e *Evaluation) add(c *Calibrated, values [][]float64) {
	for _, v := range values {
		p := c.probabilities(v)
		e.Probabilities, e.Predicted = append(e.Probabilities, p), append(e.Predicted, slices.Index(p, slices.Max(p)))
		if len(p) == 2 {
			e.Scores = append(e.Scores, p[1])
		}
	}
}

// Classes returns the names of the classes in the order of the columns of Probabilities.
func (c *Calibrated) Classes() []string {
	if c.none() {
		return nil
	}
	return slices.Clone(c.classes)
}

// Sigmoids returns A and B for each machine, in the order of Machines; nil unless the
// calibration is Platt's.
func (c *Calibrated) Sigmoids() []Sigmoid {
	if c.none() {
		return nil
	}
	var s []Sigmoid
	for _, curve := range c.curves {
		if one, ok := curve.(Sigmoid); ok {
			s = append(s, one)
		}
	}
	return s
}

// Raw returns the calibration of a fit inside a pipeline for the raw points that the pipeline
// takes, such as tables. That of any other fit it returns as it is.
func (c *Calibrated) Raw() *Calibrated {
	if c.none() || c.behind == nil {
		return c
	}
	raw := *c
	through := *c.behind
	through.Steps, through.Open = through.Steps[through.Open:], 0 // the pipeline's data have been scaled before
	raw.behind, raw.raw = nil, true
	raw.values = func(verb string, p points.Points) ([][]float64, error) {
		p, err := through.Apply(context.Background(), verb, "pipeline", p)
		if err != nil {
			return nil, err
		}
		return c.here(verb, p)
	}
	raw.suits = func(*datasets.Dataset) error { return nil }
	return &raw
}

// Probabilities returns the probabilities of the classes at m points, m rows in the order
// of Classes. Each row has the sum 1. Errors are those of [Fit.Values].
func (c *Calibrated) Probabilities(x datasets.Points) (_ [][]float64, err error) {
	defer guard.Caught(&err)
	if c.none() {
		return nil, arguments.NoFit("Probabilities")
	}
	values, err := c.values("Probabilities", points.From(x))
	if err != nil {
		return nil, err
	}
	out := make([][]float64, len(values))
	for i, v := range values {
		out[i] = c.probabilities(v)
	}
	return out, nil
}

// Predict returns the most probable class of each of m points.
func (c *Calibrated) Predict(x datasets.Points) (_ []string, err error) {
	defer guard.Caught(&err)
	if c.none() {
		return nil, arguments.NoFit("Predict")
	}
	p, err := c.Probabilities(x)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(p))
	for i, row := range p {
		names[i] = c.classes[slices.Index(row, slices.Max(row))]
	}
	return names, nil
}

// Evaluate compares the probabilities with the classes of ds. It returns the errors of
// Probabilities, and an error for a class that the training data did not have.
func (c *Calibrated) Evaluate(ds *datasets.Dataset) (_ *Evaluation, err error) {
	defer guard.Caught(&err)
	if c.none() {
		return nil, arguments.NoFit("Evaluate")
	}
	check := (*datasets.Dataset).Check
	if c.raw {
		check = steps.CheckMissing
	}
	if err := check(ds); err != nil {
		return nil, err
	}
	e, err := comparison("Evaluate", ds, fmt.Sprintf("%s · %v", c.words, c.how), c.classes...)
	if err != nil {
		return nil, err
	}
	if err := c.suits(ds); err != nil {
		return nil, err
	}
	values, err := c.values("Evaluate", points.Of(ds))
	if err != nil {
		return nil, err
	}
	e.add(c, values)
	return e, nil
}

// HeldOut evaluates the training points, each predicted by a machine that was trained
// without it. The curves of probabilities were fitted to these points, so the result is
// slightly too good for Platt, and possibly more so for Isotonic with few points.
func (c *Calibrated) HeldOut() *Evaluation {
	if c.none() {
		return nil
	}
	return c.heldOut
}

func (c *Calibrated) evaluation() (*Evaluation, error) { return c.heldOut, nil }

// Markdown returns the evaluation of the held-out points.
func (c *Calibrated) Markdown() string {
	if c.none() {
		return arguments.NoFit("Markdown").Error()
	}
	return c.heldOut.Markdown()
}

// Show displays the given figures of the held-out points. Without figures it displays their
// summary and the Reliability.
func (c *Calibrated) Show(figures ...display.Figure) {
	display.ShowFit(c, figures, Reliability)
}
