package bayesopt

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/cells"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/selection"
)

// Optimiser describes the search for the maximum or the minimum of a function that is dear to
// evaluate, in a box of d parameters; see [Maximise]. It is a value: every method returns a changed
// copy.
type Optimiser struct {
	f      func(x []float64) float64
	ranges []selection.Range
	n      int
	seed   uint64
	sign   float64 // 1 to maximise, −1 to minimise
}

// Maximise searches the maximum of f over d ranges, one for each parameter, by Bayesian
// optimisation with [Space]: it evaluates f at 2d + 2 points that are drawn at random, and then
// where a process that is fitted to all values expects the largest improvement.
//
//	found := bayesopt.Maximise(yield, selection.Range{Low: 20, High: 90}, selection.Range{Low: 0.1, High: 10, Log: true}).MustFit()
//	fmt.Println(found.X, found.Value)
//
// f may have noise. NaN stands for a value that could not be found, and counts as the worst. The
// default is 10 d + 10 evaluations, and the seed 0. Without ranges, with a wrong one, or without
// f, Fit returns an *ArgumentError or the error of [selection.Random].
func Maximise(f func(x []float64) float64, ranges ...selection.Range) Optimiser {
	return Optimiser{f: f, ranges: slices.Clone(ranges), n: 10*len(ranges) + 10, sign: 1}
}

// Minimise is [Maximise] for the minimum.
func Minimise(f func(x []float64) float64, ranges ...selection.Range) Optimiser {
	o := Maximise(f, ranges...)
	o.sign = -1
	return o
}

// Evaluations sets how often f is evaluated.
func (o Optimiser) Evaluations(n int) Optimiser { o.n = n; return o }

// Seed sets the seed of the first points.
func (o Optimiser) Seed(seed uint64) Optimiser { o.seed = seed; return o }

// verb returns the name of the function that made o.
func (o Optimiser) verb() string {
	if o.sign < 0 {
		return "Minimise"
	}
	return "Maximise"
}

// Optimum is what a search has found.
type Optimum struct {
	X     []float64 // the d parameters of the best value; nil if all were NaN
	Value float64   // the best value, NaN if all were

	Points [][]float64 // all n points, in the order of their evaluation
	Values []float64   // n values
	Next   []float64   // the point that would be evaluated next; nil after an interrupt

	of    Optimiser
	space Space
}

// Fit searches. When ctx ends early, Fit returns what was found until then, with an error that wraps
// context.Cause(ctx); an evaluation of f that has begun is completed. A panic of f is an error.
func (o Optimiser) Fit(ctx context.Context) (*Optimum, error) { return o.run(ctx, nil) }

// MustFit is Fit for a notebook cell. It shows the progress, and the interrupt button ends the search
// with what was found until then. An error is printed and ends the cell; outside a notebook it
// panics.
func (o Optimiser) MustFit() *Optimum {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	found, err := o.run(ctx, cells.Progress(time.Second))
	switch {
	case found == nil:
		cells.Must(err)
	case err != nil:
		cells.Warn(fmt.Sprintf("interrupted after %s; this is the best so far", say.Several(len(found.Values), "evaluation")))
	}
	return found
}

func (o Optimiser) run(ctx context.Context, show func(line string, last bool)) (found *Optimum, err error) {
	defer guard.Caught(&err)
	switch {
	case ctx == nil:
		return nil, arguments.Given(ctx, "Fit")
	case o.f == nil:
		return nil, arguments.Wrong(o.verb(), math.NaN(), "there is no function; give one, and a range for each parameter")
	case len(o.ranges) == 0:
		return nil, arguments.Wrong(o.verb(), 0, "there are no ranges; give one for each parameter, such as selection.Range{Low: 0, High: 1}")
	case o.n < 1:
		return nil, arguments.Wrong("Evaluations", float64(o.n), "the number of evaluations is %d; it must be at least 1", o.n)
	}
	ranges := map[string]selection.Range{}
	for j, r := range o.ranges {
		ranges[fmt.Sprintf("x%04d", j)] = r // the names are in the order of the parameters
	}
	t := &Optimum{Value: math.NaN(), of: o, space: Space{N: o.n, Ranges: ranges, Seed: o.seed, calm: true}}
	_, first, err := t.space.Settings()
	if err != nil {
		return nil, err
	}
	for len(t.Values) < o.n {
		x := t.next(ctx, first)
		if ctx.Err() != nil {
			return t, fmt.Errorf("svmnb: %s stopped after %s: %w", o.verb(), say.Several(len(t.Values), "evaluation"), context.Cause(ctx))
		}
		if x == nil { // all whole numbers were tried
			return t, nil
		}
		v := o.f(slices.Clone(x))
		t.Points, t.Values = append(t.Points, x), append(t.Values, v)
		if !math.IsNaN(v) && !(o.sign*v <= o.sign*t.Value) {
			t.X, t.Value = x, v
		}
		if show != nil {
			show(fmt.Sprintf("%s: %d of %s, best %s", o.verb(), len(t.Values), say.Several(o.n, "evaluation"), say.Signed(t.Value, 6)), len(t.Values) == o.n)
		}
	}
	t.space.N++
	t.Next = t.next(ctx, nil)
	return t, nil
}

// next returns the point to evaluate: one of the first, or else that of the space.
func (t *Optimum) next(ctx context.Context, first [][]float64) []float64 {
	if k := len(t.Values); k < len(first) {
		return first[k]
	}
	x, err := t.space.Next(ctx, t.Points, t.scores())
	if err != nil && ctx.Err() == nil {
		panic(err) // guard.Caught makes it the error of Fit
	}
	return x
}

// scores returns the values, so that the largest is the best.
func (t *Optimum) scores() []float64 {
	s := make([]float64, len(t.Values))
	for i, v := range t.Values {
		s[i] = t.of.sign * v
	}
	return s
}

// Markdown says in words what was found.
func (t *Optimum) Markdown() string {
	if t == nil || t.of.f == nil {
		return arguments.NoneOf("optimum", "Fit")
	}
	s := say.NewSummary()
	s.Row("**problem**", "%s a function of %s", strings.ToLower(t.of.verb()), say.Several(len(t.of.ranges), "parameter"))
	s.Row("evaluations", "%d", len(t.Values))
	s.Row("**best value**", "%s", say.Signed(t.Value, 9))
	s.Row("at", "%s", fmt.Sprintf("%.6g", t.X))
	return s.String()
}

// Show displays the given figures. Without figures it displays the summary and, for one parameter,
// Acquisition.
func (t *Optimum) Show(figures ...display.Figure) {
	var usual []display.Figure
	if t != nil && len(t.of.ranges) == 1 {
		usual = []display.Figure{Acquisition}
	}
	display.ShowFit(t, figures, usual...)
}

// Acquisition shows why the next point of a search of one parameter was chosen: the process of all
// values, with a band of two standard deviations, above the expected improvement, whose largest value
// is at the next point.
var Acquisition = display.FigureOf("Acquisition", func(t *Optimum) (*display.Chart, error) { return t.draw() })

const acquisitionPoints = 400

func (t *Optimum) draw() (*display.Chart, error) {
	switch {
	case t == nil || t.of.f == nil:
		return nil, errors.New(arguments.NoneOf("optimum", "Fit"))
	case len(t.of.ranges) != 1:
		return nil, fmt.Errorf("the figure Acquisition: there are %d parameters; it draws functions of one", len(t.of.ranges))
	}
	ctx := context.Background()
	names := t.space.names()
	fit, _, err := t.space.model(ctx, names, t.Points, t.scores())
	if err != nil {
		return nil, err
	}
	if fit == nil {
		return nil, fmt.Errorf("the figure Acquisition: %d values are too few for a process", len(t.Values))
	}
	top, err := t.space.top(ctx, fit, names, t.Points)
	if err != nil {
		return nil, err
	}
	r := t.of.ranges[0]
	r.Whole = false
	d := figure.AcquisitionData{Problem: strings.ToLower(t.of.verb()), Log: r.Log, Minimum: t.of.sign < 0, Best: t.Value, Next: math.NaN()}
	if t.Next != nil {
		d.Next = t.Next[0]
	}
	var units [][]float64
	for i := range acquisitionPoints {
		u := float64(i) / (acquisitionPoints - 1)
		units, d.Xs = append(units, []float64{u}), append(d.Xs, value(r, u))
	}
	b, err := fit.Posterior(ctx, datasets.Rows(units))
	if err != nil {
		return nil, err
	}
	if d.Improvement, err = improvements(ctx, fit, units, top); err != nil {
		return nil, err
	}
	for i, m := range b.Mean {
		d.Mean, d.SD = append(d.Mean, t.of.sign*m), append(d.SD, math.Sqrt(b.Variance[i]))
	}
	for i, v := range t.Values {
		if !math.IsNaN(v) {
			d.X, d.Y = append(d.X, t.Points[i][0]), append(d.Y, v)
		}
	}
	return figure.Acquisition(d)
}
