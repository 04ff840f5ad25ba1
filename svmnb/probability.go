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

// Calibration is a way to turn decision values into probabilities: [Platt] or
// [Isotonic].
type Calibration interface {
	String() string
	plan() (folds int, seed uint64)
	curve(f []float64, positive []bool) machines.Curve
}

// Platt fits a sigmoid, P = 1/(1 + exp(A f + B)) (Platt 2000, in the form of Lin,
// Lin and Weng 2007), to decision values of points that were held out.
type Platt struct {
	Folds int    // how many parts are held out in turn, at most one for each point; 0 means 5
	Seed  uint64 // of the random parts
}

func (p Platt) String() string      { return "Platt's sigmoid" }
func (p Platt) plan() (int, uint64) { return p.Folds, p.Seed }
func (p Platt) curve(f []float64, positive []bool) machines.Curve {
	s, _ := calibrate.Platt(f, positive)
	return s
}

// Isotonic fits any increasing function to decision values of points that were
// held out (Zadrozny and Elkan 2002). It needs more points than Platt, hundreds of
// each class, and asks for no shape.
type Isotonic struct {
	Folds int    // how many parts are held out in turn, at most one for each point; 0 means 5
	Seed  uint64 // of the random parts
}

func (p Isotonic) String() string      { return "isotonic regression" }
func (p Isotonic) plan() (int, uint64) { return p.Folds, p.Seed }
func (p Isotonic) curve(f []float64, positive []bool) machines.Curve {
	return calibrate.Isotonic(f, positive)
}

// Sigmoid is P = 1/(1 + exp(A f + B)).
type Sigmoid = calibrate.Sigmoid

// Calibrated is a fit with probabilities. It predicts the most probable class,
// which near a boundary is not always the one of the fit.
type Calibrated struct {
	how     Calibration
	folds   int
	classes []string
	words   string
	duels   [][2]int // what each decision value tells apart; −1: all others
	curves  []machines.Curve
	values  decider
	fit     model.Modeler
	heldOut *Evaluation

	suits func(ds *datasets.Dataset) error // that they are scaled as the training data
}

// decider returns the decision values of points that it checks.
type decider func(verb string, p points.Points) ([][]float64, error)

// Calibrate learns the classifier again without each fold of the data in turn, with
// the same kernel, and fits how to the decision values of the points left out. The
// folds are stratified: every class needs two points. When ctx ends early, the curves of
// the folds that were done come with an error that wraps context.Cause(ctx), and nothing
// where none was.
func (f *Fit) Calibrate(ctx context.Context, how Calibration) (_ *Calibrated, err error) {
	defer guard.Caught(&err)
	if err := arguments.Given(ctx, "Calibrate"); err != nil {
		return nil, err
	}
	if f.none() {
		return nil, arguments.NoFit("Calibrate")
	}
	if f.task.margin == oneClass {
		return nil, arguments.Wrong("Calibrate", math.NaN(), "a one-class machine has seen one class only, so it has no probabilities to learn; leave Calibrate out")
	}
	c := &Calibrated{how: how, classes: []string{f.task.negative, f.task.positive}, words: f.task.words(), duels: [][2]int{{1, 0}}, fit: f}
	of := func(at func(verb, learner string, p points.Points) ([]float64, error)) decider {
		return func(verb string, p points.Points) ([][]float64, error) {
			values, err := at(verb, "classifier", p)
			return machines.AsRows(values), err
		}
	}
	c.values = of(f.expansion.At)
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

// Calibrate is that of [Fit], for each of the machines. The probabilities of pairs
// are coupled (Wu, Lin and Weng 2004, second method); those of classes against the
// rest, and of Crammer and Singer's classes by their lead over the strongest rival,
// are divided by their sum.
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
	c.values = of(f, f.decisions)
	m := f.Description
	c.suits = func(ds *datasets.Dataset) error { return steps.Suits("Evaluate", m.base.behind, m.base.data, ds) }
	return c.learn(ctx, f.task.class, func(rows []int) (decider, error) {
		fit, err := MultiClassifier{m.base.on(rows), m.scheme}.Fit(ctx)
		if err != nil {
			return nil, err
		}
		return of(fit, fit.here), nil
	}, points.Of(m.base.data))
}

// MustCalibrate is Calibrate for a notebook cell: the interrupt button leaves the curves of
// the folds so far, with a visible warning; an error is printed and ends the cell; outside
// a notebook it panics.
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

// on is the description for some rows of its data.
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

// learn holds out each fold in turn, n points x of the given classes, and fits the
// curves.
func (c *Calibrated) learn(ctx context.Context, class []int, fit func(rows []int) (decider, error), x points.Points) (*Calibrated, error) {
	if c.how == nil {
		return nil, arguments.Wrong("Calibrate", math.NaN(), "the calibration is nil; give one such as svmnb.Platt{}")
	}
	var seed uint64
	c.folds, seed = c.how.plan()
	if c.folds == 0 {
		c.folds = 5
	}
	if c.folds < 2 || c.folds > x.N() {
		return nil, arguments.Wrong("Calibrate", float64(c.folds), "%s for %s; give at least 2 folds, and at most one for each point", say.Several(c.folds, "fold"), say.Several(x.N(), "point"))
	}
	fold, err := c.deal(class, seed)
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
	if interrupted != nil { // of some points nothing is known
		var rows []int
		for i, v := range values {
			if v != nil {
				rows = append(rows, i)
			}
		}
		class, values = pick(class, rows), pick(values, rows)
	}
	for m, duel := range c.duels {
		var f []float64
		var positive []bool
		for i, k := range class {
			if k == duel[0] || k == duel[1] || duel[1] < 0 {
				f, positive = append(f, values[i][m]), append(positive, k == duel[0])
			}
		}
		if interrupted != nil && (!slices.Contains(positive, true) || !slices.Contains(positive, false)) {
			return nil, interrupted // the folds that were done tell nothing of two classes
		}
		c.curves = append(c.curves, c.how.curve(f, positive))
	}
	folds := fmt.Sprint(c.folds)
	if interrupted != nil {
		folds = fmt.Sprintf("%d of %d", done, c.folds)
	}
	c.heldOut = &Evaluation{Of: fmt.Sprintf("%s · %v · held out in %s folds", c.words, c.how, folds), Classes: c.classes, Truth: class}
	c.heldOut.add(c, values)
	return c, interrupted
}

// deal gives each point its fold: the points of a class, shuffled, in turn.
func (c *Calibrated) deal(class []int, seed uint64) ([]int, error) {
	rng := rand.New(rand.NewPCG(seed, 0xf01d))
	fold, next := make([]int, len(class)), 0
	for k, name := range c.classes {
		var rows []int
		for i, v := range class {
			if v == k {
				rows = append(rows, i)
			}
		}
		if len(rows) < 2 {
			return nil, arguments.Wrong("Calibrate", float64(len(rows)), "class %s has %s; it needs 2, one to learn from and one to hold out", say.Class(name), say.Several(len(rows), "point"))
		}
		rng.Shuffle(len(rows), func(a, b int) { rows[a], rows[b] = rows[b], rows[a] })
		for _, i := range rows {
			fold[i] = next % c.folds
			next++
		}
	}
	return fold, nil
}

// probabilities of the classes, by the decision values of a point.
func (c *Calibrated) probabilities(values []float64) []float64 {
	return machines.Probabilities(len(c.classes), c.duels, c.curves, values)
}

// add appends what the decision values of points say.
func (e *Evaluation) add(c *Calibrated, values [][]float64) {
	for _, v := range values {
		p := c.probabilities(v)
		e.Probabilities, e.Predicted = append(e.Probabilities, p), append(e.Predicted, slices.Index(p, slices.Max(p)))
		if len(p) == 2 {
			e.Scores = append(e.Scores, p[1])
		}
	}
}

// Classes returns the names of the columns of Probabilities.
func (c *Calibrated) Classes() []string {
	if c.none() {
		return nil
	}
	return slices.Clone(c.classes)
}

// Sigmoids returns A and B of each machine, in the order of Machines; nil unless
// the calibration is Platt's.
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

// Probabilities returns m × k probabilities of the m points of x, each row in the
// order of Classes and of sum 1. Errors are those of Decision.
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

// Predict returns the most probable class of each of the m points of x.
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

// Evaluate compares the probabilities with the classes of ds. Errors are those of
// Probabilities, and of a class that the training data did not have.
func (c *Calibrated) Evaluate(ds *datasets.Dataset) (_ *Evaluation, err error) {
	defer guard.Caught(&err)
	if c.none() {
		return nil, arguments.NoFit("Evaluate")
	}
	e, err := newEvaluation("Evaluate", ds, fmt.Sprintf("%s · %v", c.words, c.how), c.classes...)
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

// HeldOut evaluates the training points, each by a machine that had not seen it.
// The curves have: with Platt's two numbers that flatters little, with isotonic
// regression of few points it may.
func (c *Calibrated) HeldOut() *Evaluation {
	if c.none() {
		return nil
	}
	return c.heldOut
}

func (c *Calibrated) evaluation() (*Evaluation, error) { return c.heldOut, nil }

// Markdown says how right the probabilities of held-out points are.
func (c *Calibrated) Markdown() string {
	if c.none() {
		return arguments.NoFit("Markdown").Error()
	}
	return c.heldOut.Markdown()
}

// Show displays the figures of the held-out points; without any, their summary in
// words and the Reliability.
func (c *Calibrated) Show(figures ...display.Figure) {
	display.ShowFit(c, figures, Reliability)
}
