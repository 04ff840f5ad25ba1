package gp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/parallel"
	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers/linear"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/figure"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

var (
	// Posterior shows a Gaussian process of one feature: the mean with bands of two
	// standard deviations (of f and of new targets) and the observations. For a solver that
	// stopped early, it also shows how far the mean may be from the exact one.
	Posterior = PosteriorSamples(0, 0)

	// Bounds shows the lower and upper bounds of y'A⁻¹y at each iteration of an iterative
	// solver.
	Bounds = display.FigureOf("Bounds", func(f process) (*display.Chart, error) { return f.drawBounds() })

	// Evidence shows the log marginal likelihood over the first two hyperparameters, and
	// the paths of the optimiser.
	Evidence = EvidenceOver("", "")

	// Components shows the posterior of each term of a kernel that is a sum.
	Components = ComponentsNamed()

	// Relevance shows 1/ℓ for each feature of an ARD kernel, the largest first: the shorter
	// its length scale ℓ, the more the feature matters. Values can be compared where the
	// features have the same scale, as behind transform.Standardise.
	Relevance = display.FigureOf("Relevance", func(f process) (*display.Chart, error) { return f.drawRelevance() })
)

// process is implemented by *Fit only. Package variables are linked into every cell, and
// through this interface the figures link no code of Gaussian processes.
type process interface {
	drawBounds() (*display.Chart, error)
	drawEvidence(first, second string) (*display.Chart, error)
	drawComponents(names []string) (*display.Chart, error)
	drawRelevance() (*display.Chart, error)
}

// predicted is implemented by *Fit and by *Evaluation, which adds its test points.
type predicted interface {
	drawPosterior(v view) (*display.Chart, error)
}

// view says what a figure of the posterior shows. The zero value is that of [Posterior].
type view struct {
	samples   int // functions to draw, which seed determines
	seed      uint64
	chosen    bool // low and high were chosen; otherwise the data and the tests set the range
	low, high float64
	tests     []*datasets.Dataset
}

// PosteriorSamples is [Posterior] with count functions drawn from it; seed determines them.
func PosteriorSamples(count int, seed uint64) display.Figure {
	return display.FigureOf("Posterior", func(f predicted) (*display.Chart, error) {
		return f.drawPosterior(view{samples: count, seed: seed})
	})
}

// PosteriorOver is [Posterior] from low to high of the feature, which may lie beyond the
// data, with the points of test sets as marks of their own. Points outside the range are not
// drawn. The figure returns an *ArgumentError unless low < high, and for test sets that
// [Fit.Evaluate] refuses.
func PosteriorOver(low, high float64, tests ...*datasets.Dataset) display.Figure {
	tests = slices.Clone(tests)
	return display.FigureOf("Posterior", func(f predicted) (*display.Chart, error) {
		return f.drawPosterior(view{chosen: true, low: low, high: high, tests: tests})
	})
}

// EvidenceOver is [Evidence] over two hyperparameters, with names as of [Process.Bound].
func EvidenceOver(first, second string) display.Figure {
	return display.FigureOf("Evidence", func(f process) (*display.Chart, error) { return f.drawEvidence(first, second) })
}

// ComponentsNamed is [Components] with names for the terms of the kernel, such as "trend",
// "season". Terms that are kernels.Named have these names without it.
func ComponentsNamed(names ...string) display.Figure {
	names = slices.Clone(names)
	return display.FigureOf("Components", func(f process) (*display.Chart, error) { return f.drawComponents(names) })
}

// Show displays the given figures of the fit. Without figures it displays the summary and,
// if there is one feature, Posterior.
func (f *Fit) Show(figures ...display.Figure) {
	var usual []display.Figure
	if !f.none() && f.task.data.D() == 1 {
		usual = []display.Figure{Posterior}
	}
	display.ShowFit(f, figures, usual...)
}

// figurePoints is the number of points of a curve of a posterior, if they are cheap.
const figurePoints = 600

// figureWork limits the multiplications of a figure: a few tenths of a second.
const figureWork = 1_000_000_000

// line returns places of the only feature from low to high, also as rows for Posterior.
func (f *Fit) line(low, high float64) (xs []float64, rows [][]float64) {
	n := float64(len(f.Alpha))
	m := int(min(figurePoints, max(40, figureWork/(n*n*float64(f.Iterations)))))
	for i := range m {
		v := low + (high-low)*float64(i)/float64(m-1)
		xs, rows = append(xs, v), append(rows, []float64{v})
	}
	return xs, rows
}

// around returns a range from a little before the points of the only feature to a little
// after.
func around(x [][]float64) (low, high float64) {
	ends := figure.Around(x, 0)
	return ends[0], ends[1]
}

// words describes the problem and the method for a subtitle.
func (f *Fit) words() string { return f.task.words() + " · " + f.Method }

func (t *processTask) words() string {
	scaled := ""
	if t.scale != nil {
		scaled = ", targets scaled"
	}
	return fmt.Sprintf("%s%s · %s", t.data.Name, scaled, say.Brief(t.kernel.String()))
}

// early says that the solver stopped early, or returns "".
func (f *Fit) early() string {
	if !f.Status.Early() {
		return ""
	}
	return fmt.Sprintf("%s ended early, %s after %s", f.Method, f.Status, say.Iterations(f.Iterations))
}

func (f *Fit) oneFeature(figure string) error {
	if err := f.ready(context.Background(), figure); err != nil {
		return err
	}
	if d := f.task.data.D(); d != 1 {
		return fmt.Errorf("%s: the data have %d features; it draws functions of one", figure, d)
	}
	return nil
}

func (f *Fit) drawPosterior(v view) (*display.Chart, error) {
	if err := f.oneFeature("Posterior"); err != nil {
		return nil, err
	}
	if v.samples < 0 {
		return nil, arguments.Wrong("PosteriorSamples", float64(v.samples), "%d functions cannot be drawn; give 0 or more", v.samples)
	}
	t := f.task
	if v.chosen && !(v.low < v.high && !math.IsInf(v.high-v.low, 1)) {
		return nil, arguments.Wrong("PosteriorOver", v.low, "the range from %v to %v is empty or endless; give two numbers, the smaller one first", v.low, v.high)
	}
	tests := &datasets.Dataset{}
	for _, test := range v.tests {
		if err := f.task.suits("PosteriorOver", test); err != nil {
			return nil, err
		}
		x, err := points.Dense("PosteriorOver", test)
		if err == nil {
			err = f.check("PosteriorOver", x)
		}
		if err != nil {
			return nil, err
		}
		tests.X, tests.Y = append(tests.X, x...), append(tests.Y, test.Y...)
	}
	if !v.chosen {
		v.low, v.high = around(slices.Concat(t.data.X, tests.X))
	}
	ctx, stop := untilInterrupt()
	defer stop()
	xs, rows := f.line(v.low, v.high)
	b, err := f.posterior(ctx, rows)
	if err != nil {
		return nil, err
	}
	d := figure.PosteriorData{
		Problem: f.words(), Note: f.early(), Feature: t.data.FeatureName(0), Target: t.data.Target, Noise: b.Noise, Evidence: math.NaN(),
		X: points.Column(t.data.X, 0), Y: t.data.Y, TestX: points.Column(tests.X, 0), TestY: tests.Y, Xs: xs, Mean: b.Mean, SD: deviations(b.Variance, 0), MeanError: b.MeanError,
	}
	if e := f.cheapEvidence(); e.Error == 0 {
		d.Evidence = e.Value
	}
	if math.IsInf(f.Certificate.Energy, 1) { // with a noise of 0 there are no bounds
		d.MeanError = nil
	}
	if !math.IsNaN(b.Noise) {
		d.ObservationSD = deviations(b.Variance, b.Noise)
	}
	if v.samples > 0 {
		s, err := f.sample(ctx, rows, v.samples, v.seed)
		if err != nil {
			return nil, err
		}
		d.Samples = s.Values
	}
	return figure.Posterior(d)
}

// deviations returns the square roots of the variances plus noise.
func deviations(variance []float64, noise float64) []float64 {
	sd := make([]float64, len(variance))
	for i, v := range variance {
		sd[i] = math.Sqrt(v + noise)
	}
	return sd
}

func (f *Fit) drawComponents(names []string) (*display.Chart, error) {
	if err := f.oneFeature("Components"); err != nil {
		return nil, err
	}
	if count := len(terms(whole(f.task.kernel))); len(names) != 0 && len(names) != count {
		return nil, fmt.Errorf("ComponentsNamed: there are %s for %s", say.Several(len(names), "name"), say.Several(count, "component"))
	}
	ctx, stop := untilInterrupt()
	defer stop()
	t := f.task
	xs, rows := f.line(around(t.data.X))
	b, err := f.posterior(ctx, rows)
	if err != nil {
		return nil, err
	}
	parts, err := f.components(ctx, rows)
	if err != nil {
		return nil, err
	}
	d := figure.ComponentsData{
		Problem: f.words(), Note: f.early(), Feature: t.data.FeatureName(0), Target: t.data.Target,
		X: points.Column(t.data.X, 0), Y: t.data.Y, Xs: xs, Mean: b.Mean, SD: deviations(b.Variance, 0),
	}
	for i, p := range parts {
		name := say.Brief(p.Kernel.String())
		if named, ok := p.Kernel.(kernels.NamedKernel); ok {
			name = named.Name
		}
		if len(names) != 0 {
			name = names[i]
		}
		d.Parts = append(d.Parts, figure.Component{Name: name, Mean: p.Mean, SD: deviations(p.Variance, 0)})
	}
	return figure.Components(d)
}

func (f *Fit) drawRelevance() (*display.Chart, error) {
	t := f.task
	numbered, err := kernels.Hyperparameters(t.kernel)
	if err != nil {
		return nil, err
	}
	named, err := t.hyperparameters()
	if err != nil {
		return nil, err
	}
	d := figure.WeightsData{Problem: f.words(), Note: "ℓ is the length scale of the feature", Measure: "relevance 1/ℓ"}
	for i, h := range numbered {
		if strings.Contains(h.Name, "lengths[") {
			d.Features, d.Values = append(d.Features, strings.TrimSuffix(named[i].Name, ".length")), append(d.Values, 1/h.Value)
		}
	}
	if len(d.Values) == 0 {
		return nil, fmt.Errorf("the figure Relevance: %v has no length scale for each feature; learn with kernels.ARD", t.kernel)
	}
	return figure.Weights(d)
}

// exactBounds is the largest n for which Bounds also draws the exact value.
const exactBounds = 1500

func (f *Fit) drawBounds() (*display.Chart, error) {
	if err := f.ready(context.Background(), "Bounds"); err != nil {
		return nil, err
	}
	if direct(f.task.method) {
		return nil, fmt.Errorf("the figure Bounds: %s has no iterations to draw; solve with CG()", f.Method)
	}
	d := f.task.boundsData(f.Trace)
	d.Problem = f.words()
	if len(f.Alpha) <= exactBounds {
		ctx, stop := untilInterrupt()
		defer stop()
		if factor, err := f.factor(ctx); err == nil {
			half := factor.HalfSolve(nil, f.task.y)
			d.Exact = vec.Dot(half, half)
		}
	}
	return figure.Bounds(d)
}

// boundsData returns what the trace knows of y'A⁻¹y.
func (t *processTask) boundsData(trace []linear.Point) figure.BoundsData {
	d := figure.BoundsData{Exact: math.NaN()}
	if stop, ok := t.criterion().(linear.Bounds); ok && len(trace) > 0 {
		if d.Tol = max(stop.Abs, stop.Rel*trace[len(trace)-1].Lower); math.IsNaN(d.Tol) {
			d.Tol = stop.Abs
		}
	}
	series := func(of func(pt *linear.Point) float64) []float64 {
		v, known := make([]float64, len(trace)), false
		for i := range trace {
			v[i] = of(&trace[i])
			known = known || !math.IsNaN(v[i])
		}
		if !known {
			return nil
		}
		return v
	}
	for _, pt := range trace {
		d.Iterations = append(d.Iterations, pt.Iteration)
	}
	d.Lower = series(func(pt *linear.Point) float64 { return pt.Lower })
	d.Skilling = series(func(pt *linear.Point) float64 { return pt.Skilling })
	d.Radau = series(func(pt *linear.Point) float64 { return pt.Radau })
	d.GibbsMacKay = series(func(pt *linear.Point) float64 { return pt.GibbsMacKay })
	d.Residual = series(func(pt *linear.Point) float64 { return pt.Residual / pt.Norm })
	return d
}

const (
	// evidenceWork is the largest number of multiplications for a fine grid of Evidence:
	// about half a second on two cores.
	evidenceWork = 1_500_000_000

	// evidenceMost is the largest number of multiplications for a coarse grid: a few
	// minutes.
	evidenceMost = 1e12

	coarse = 9 // nodes along each side of a coarse grid
)

func (f *Fit) drawEvidence(first, second string) (*display.Chart, error) {
	if err := f.ready(context.Background(), "Evidence"); err != nil {
		return nil, err
	}
	ctx, stop := untilInterrupt()
	defer stop()
	t := f.task
	all, err := t.hyperparameters()
	if err != nil {
		return nil, err
	}
	var names []string
	values := make([]float64, len(all))
	for i, p := range all {
		names, values[i] = append(names, p.Name), p.Value
	}
	if len(names) < 2 {
		return nil, errors.New("the figure Evidence: there are fewer than two hyperparameters to draw over; see kernels.Hyperparameters")
	}
	a, b := 0, 1
	if first != "" || second != "" {
		for i, name := range []string{first, second} {
			at, err := t.lookup(name)
			if err != nil {
				return nil, fmt.Errorf("the figure Evidence: %q does not name one hyperparameter; there are %s", name, say.Listed(names))
			}
			*[]*int{&a, &b}[i] = at
		}
	}
	if a == b {
		return nil, fmt.Errorf("the figure Evidence: %q and %q are one hyperparameter; there are %s", first, second, say.Listed(names))
	}
	d := figure.EvidenceData{Problem: f.words(), Names: [2]string{names[a], names[b]}}
	switch rest := len(names) - 2; {
	case rest == 1:
		d.Note = names[3-a-b] + " as fitted"
	case rest > 1:
		d.Note = fmt.Sprintf("the other %d hyperparameters as fitted", rest)
	}
	if t.hasPriors() {
		d.Note = strings.Join(slices.DeleteFunc([]string{d.Note, "without the priors"}, func(s string) bool { return s == "" }), ", ")
	}
	if o := f.Optimisation; o != nil {
		for _, way := range o.Ascents {
			var p figure.EvidencePath
			for _, pt := range way.Path {
				p.X, p.Y, p.Value = append(p.X, pt.Values[a]), append(p.Y, pt.Values[b]), append(p.Value, pt.Evidence)
			}
			d.Paths = append(d.Paths, p)
		}
	}
	span := func(i int, of func(p figure.EvidencePath) []float64) [2]float64 {
		ends := [2]float64{values[i] / 10, values[i] * 10}
		if f.Optimisation != nil { // include the path of the optimiser, as far as it is within a factor of 1000
			for _, v := range of(d.Paths[f.Optimisation.Best]) {
				ends[0] = min(ends[0], max(v/1.5, values[i]/1000))
				ends[1] = max(ends[1], min(v*1.5, values[i]*1000))
			}
		}
		return ends
	}
	d.Xs = span(a, func(p figure.EvidencePath) []float64 { return p.X })
	d.Ys = span(b, func(p figure.EvidencePath) []float64 { return p.Y })
	// A node takes a matrix of kernel values, about 80 multiplications each, and its
	// factor.
	n := float64(len(f.Alpha))
	cost := n*n*n/3 + 80*n*n
	if coarse*coarse*cost > evidenceMost {
		return nil, fmt.Errorf("the figure Evidence: it takes Cholesky's factor for each of %d points of a grid, %.2g multiplications for %d observations, and may take %.2g; draw it for a part of the data, fit.Description.On(data.Select(rows)).MustFit()", coarse*coarse, coarse*coarse*cost, len(f.Alpha), float64(evidenceMost))
	}
	side := int(min(smooth, max(coarse, math.Sqrt(evidenceWork/cost))))
	node := func(ends [2]float64, i int) float64 {
		return ends[0] * math.Pow(ends[1]/ends[0], float64(i)/float64(side-1))
	}
	d.Z = make([][]float64, side)
	_ = parallel.For(ctx, runtime.GOMAXPROCS(0), side, func(_, i int) {
		here := slices.Clone(values)
		for j := range side {
			here[a], here[b] = node(d.Xs, j), node(d.Ys, i)
			v, _, err := t.evaluate(ctx, nil, here)
			if err != nil {
				v = math.NaN() // A is not positive definite there
			}
			d.Z[i] = append(d.Z[i], v)
		}
	})
	if ctx.Err() != nil {
		return nil, fmt.Errorf("the figure Evidence was interrupted: %w", context.Cause(ctx))
	}
	lowest, everywhere := math.Inf(1), true
	for _, v := range slices.Concat(d.Z...) {
		everywhere = everywhere && v == v
		if v < lowest {
			lowest = v
		}
	}
	for _, row := range d.Z {
		for j, v := range row {
			if math.IsNaN(v) {
				row[j] = lowest
			}
		}
	}
	if side < smooth || everywhere { // a fine grid with holes has edges, next to which a spline would swing
		for i, row := range d.Z {
			d.Z[i] = refine(row)
		}
		d.Z = transpose(d.Z)
		for j, column := range d.Z {
			d.Z[j] = refine(column)
		}
		d.Z = transpose(d.Z)
	}
	return figure.Evidence(d)
}

// smooth is the largest number of nodes along each side for which Evidence computes values.
// Between them a spline makes the contours look smooth.
const smooth = 31

// refine inserts three values between every two, by natural cubic spline interpolation. The
// second derivatives m solve m_{i−1} + 4m_i + m_{i+1} = 6(y_{i−1} − 2y_i + y_{i+1}) (de
// Boor 1978, chapter IV).
func refine(y []float64) []float64 {
	n := len(y)
	m, pivot := make([]float64, n), make([]float64, n)
	for i := 1; i < n-1; i++ {
		pivot[i], m[i] = 4, 6*(y[i-1]-2*y[i]+y[i+1])
		if i > 1 {
			pivot[i] -= 1 / pivot[i-1]
			m[i] -= m[i-1] / pivot[i-1]
		}
	}
	for i := n - 2; i > 0; i-- {
		m[i] = (m[i] - m[i+1]) / pivot[i]
	}
	fine := y[:1:1]
	for i := range n - 1 {
		for _, t := range []float64{0.25, 0.5, 0.75} {
			s := 1 - t
			fine = append(fine, s*y[i]+t*y[i+1]+((s*s*s-s)*m[i]+(t*t*t-t)*m[i+1])/6)
		}
		fine = append(fine, y[i+1])
	}
	return fine
}

func transpose(z [][]float64) [][]float64 {
	t := make([][]float64, len(z[0]))
	for _, row := range z {
		for j, v := range row {
			t[j] = append(t[j], v)
		}
	}
	return t
}

// EvidenceBounds shows the bounds of the log marginal likelihood of a [SparseFit] through more and
// more of its inducing points, in the order in which they were chosen.
var EvidenceBounds = display.FigureOf("EvidenceBounds", func(f bounded) (*display.Chart, error) { return f.drawEvidenceBounds() })

// bounded is implemented by *SparseFit only; see process.
type bounded interface {
	drawEvidenceBounds() (*display.Chart, error)
}
