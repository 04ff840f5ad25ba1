package stream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers/streamed"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/cells"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	columns "github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
	"github.com/svmnb/svmnb/svmnb/model"
)

// Fit is a machine that was trained on a source. Its bounds are those of the last passes:
// Primal is the objective of the machine, and Dual a lower bound of the optimum on the features.
type Fit struct {
	streamed.Result

	// Description is the Classifier that was fitted, all defaults filled in.
	Description Classifier

	task *task
}

// task is a checked description with what the first pass has found.
type task struct {
	Classifier
	head   datasets.Head
	count  [2]int     // points of each class
	target [2]float64 // of each class
	names  [2]string
	points *points
	sample *datasets.Dataset // of the points as they are read
	few    *datasets.Dataset // a sample whose size does not depend on the budget, for landmarks and the default kernel
	marks  [][]float64       // landmarks
	metric [][]float64
	cost   [2]float64
}

// Fit reads the source once to find its classes and to draw a sample, fits the machine to the
// sample in memory, and continues from there in passes over all rows ([streamed.Solve]).
//
// Errors are those of the description, those of the source, a *[datasets.ClassError] unless
// there are two classes, and a *[MemoryError]. If ctx ends, Fit returns the fit so far with an
// error that wraps context.Cause(ctx); before the first pass over all rows has ended, this is
// the machine of the sample, and its Primal is +Inf. During the first pass it returns no fit.
func (c Classifier) Fit(ctx context.Context) (_ *Fit, err error) {
	defer guard.Caught(&err)
	if err := arguments.Given(ctx, "Fit"); err != nil {
		return nil, err
	}
	fit, err := c.fit(ctx)
	if fit == nil {
		return nil, err
	}
	return fit, err
}

// MustFit is Fit for a notebook cell. It shows its progress. The interrupt button ends the fit:
// MustFit then shows a warning and returns the fit so far. An error is printed and ends the
// cell; outside a notebook it panics.
func (c Classifier) MustFit() *Fit {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	show := cells.Progress(time.Second)
	if in, own := lines(show), c.watch; in != nil {
		c.watch = func(p Progress) {
			in(p)
			if own != nil {
				own(p)
			}
		}
	}
	fit, err := c.Fit(ctx)
	switch {
	case fit == nil:
		cells.Must(err)
	case err != nil:
		cells.Warn(fmt.Sprintf("interrupted after %d passes and %v; this is the fit so far, its gap is %s", fit.Passes, say.Spell(fit.Elapsed), say.Percent(fit.RelGap())))
	case fit.Status.Early():
		cells.Warn(fmt.Sprintf("stopped early: %v after %d passes; the gap is %s", fit.Status, fit.Passes, say.Percent(fit.RelGap())))
	}
	if show != nil {
		show(fmt.Sprintf("%d passes in %s, gap %s", fit.Passes, say.Spell(fit.Elapsed), say.Percent(fit.RelGap())), true)
	}
	return fit
}

func (c Classifier) fit(ctx context.Context) (*Fit, error) {
	began := time.Now()
	t, err := c.prepare(ctx)
	if err != nil {
		return nil, err
	}
	problem := &streamed.Problem{Points: t.points, Metric: t.metric, Cost: t.cost, Squared: t.squared}
	settings := streamed.Settings{Gap: t.gap, MaxPasses: t.passes}
	if t.sample.N() < t.head.N {
		part := *t.points
		part.source, part.report = t.sample, nil
		share := float64(t.head.N) / float64(t.sample.N())
		p := &streamed.Problem{Points: &part, Metric: t.metric, Cost: [2]float64{share * t.cost[0], share * t.cost[1]}, Squared: t.squared}
		start, err := streamed.Solve(ctx, p, streamed.Settings{Gap: t.gap})
		if start == nil || err != nil && !errors.Is(err, context.Cause(ctx)) {
			return nil, fmt.Errorf("svmnb: %w", err)
		}
		if err != nil {
			// The bounds of the sample are none of the whole, and its α are too large.
			start.Primal, start.Dual, start.Points, start.Passes, start.Errors, start.Support = math.Inf(1), 0, 0, 0, 0, 0
			a := &start.Alpha
			a.Scale, a.Sum, a.Norm2, a.Ridge = [2]float64{}, 0, 0, 0
			return t.made(start, began), err
		}
		settings.Start = start
		t.points.z = part.z
	}
	report := t.points.report
	report.Doing = "fit"
	settings.Observe = func(r *streamed.Result) { report.RelGap = r.RelGap() }
	res, err := streamed.Solve(ctx, problem, settings)
	if res == nil {
		return nil, fmt.Errorf("svmnb: %w", err)
	}
	if err != nil && !errors.Is(err, context.Cause(ctx)) { // the source has failed
		return nil, err
	}
	return t.made(res, began), err
}

func (t *task) made(res *streamed.Result, began time.Time) *Fit {
	fit := &Fit{Result: *res, Description: t.Classifier, task: t}
	fit.Elapsed = time.Since(began)
	t.sample, t.few = nil, nil // only the landmarks are needed
	return fit
}

// sizes of what a fit holds. Go's collector may let the heap grow to twice of it.
const (
	mostRows  = 1024 // of a block
	leastRows = 64
	perColumn = 200 // rows of the sample for each column
	fewRows   = 2000
)

// plan chooses how many rows a block and the sample have, within the budget.
func (c *Classifier) plan(h datasets.Head) (rows, sample int, err error) {
	m, d := int64(h.D), int64(h.D)
	if c.form != unset {
		m = int64(c.columns)
	}
	rows = mostRows
	needs := func(sample int) int64 {
		fixed := 4*m*m + 2*768*m + 2*m*d // metric, Hessian, factors; pending rows; landmarks
		return 2 * 8 * (fixed + (int64(sample)+min(int64(h.N), max(m, fewRows)))*(d+1) + int64(rows)*(3*(d+1)+m) + 4096*10)
	}
	budget := c.budget()
	least := int(min(int64(h.N), 2*m))
	for rows > leastRows && needs(least) > budget {
		rows /= 2
	}
	if need := needs(least); need > budget {
		advice := "raise it by Memory"
		if c.form != unset {
			advice += ", or take fewer columns"
		} else {
			advice += ", or take fewer features"
		}
		return 0, 0, &MemoryError{fmt.Sprintf("a machine of %d columns on points of %d features", m, d), need, budget, advice}
	}
	spare := (budget/16 - needs(0)/16) / (d + 1)
	return rows, int(min(int64(h.N), perColumn*m, max(spare, int64(least)))), nil
}

// prepare checks the description, makes the first pass and fills in the defaults.
func (c Classifier) prepare(ctx context.Context) (*task, error) {
	if err := c.faults.Err(); err != nil {
		return nil, err
	}
	if guard.IsNil(c.source) {
		return nil, arguments.Wrong("Classify", math.NaN(), "the source is nil; take one from its Open function and look at the error that comes with it")
	}
	if data, ok := c.source.(*datasets.Dataset); ok {
		if err := data.Check(); err != nil {
			return nil, err
		}
		if len(data.Scalings) > 0 {
			return nil, arguments.Wrong("Classify", math.NaN(), "the points of this data set are scaled; give them as they were measured, and say Standardise()")
		}
	}
	h := c.source.Head()
	if h.N < 2 || h.D < 1 {
		return nil, arguments.Wrong("Classify", float64(h.N), "the source has %d rows of %d features; at least two rows and one feature are needed", h.N, h.D)
	}
	if c.kernel == nil && c.form == unset {
		c.kernel = kernels.Linear()
	}
	if c.form == unset && c.kernel != kernels.Kernel(kernels.Linear()) {
		need := int64(math.Min(8*float64(h.N)*float64(h.N), math.MaxInt64/2))
		return nil, &MemoryError{fmt.Sprintf("the exact machine with %v has kernel values of all pairs of %s points: it", c.kernel, say.Thousands(int64(h.N))), need, c.budget(),
			"approximate the kernel by Nystroem(500) or RandomFeatures(1000), or load the data and say svmnb.Classify, which computes rows again and again"}
	}
	if c.form == nystroem && c.columns > h.N {
		return nil, arguments.Wrong("Nystroem", float64(c.columns), "%d landmarks are asked for of %d points; give at most as many", c.columns, h.N)
	}
	rows, sample, err := c.plan(h)
	if err != nil {
		return nil, err
	}
	c.gap = cmp.Or(c.gap, 1e-3)
	t := &task{Classifier: c, head: h, points: &points{source: c.source, rows: rows, report: newReporter(h.N, c.watch)}}
	if err := t.survey(ctx, sample); err != nil {
		return nil, err
	}
	t.cost = [2]float64{c.c, c.c}
	if c.balanced {
		for k, n := range t.count {
			t.cost[k] *= float64(h.N) / (2 * float64(n))
		}
	}
	return t, t.represent(ctx)
}

// reservoir is a sample without replacement of the rows that it is given (Vitter 1985, algorithm
// R).
type reservoir struct {
	data *datasets.Dataset
	rng  *rand.Rand
}

func newReservoir(h *datasets.Head, size int, seed, stream uint64) *reservoir {
	r := &reservoir{&datasets.Dataset{Name: h.Name, Y: make([]float64, size), X: make([][]float64, size)}, rand.New(rand.NewPCG(seed, stream))}
	flat := make([]float64, size*h.D)
	for i := range r.data.X {
		r.data.X[i] = flat[i*h.D : (i+1)*h.D : (i+1)*h.D]
	}
	return r
}

// take gives the reservoir row number n.
func (r *reservoir) take(n int, x []float64, y float64) {
	if n >= len(r.data.X) {
		n = r.rng.IntN(n + 1)
	}
	if n < len(r.data.X) {
		copy(r.data.X[n], x)
		r.data.Y[n] = y
	}
}

// survey reads all rows once: it counts the classes, draws samples, and computes means and
// deviations.
func (t *task) survey(ctx context.Context, size int) error {
	h, report := &t.head, t.points.report
	report.Doing = "first look"
	report.begin()
	some, few := newReservoir(h, size, t.seed, 0x5a3b1e), newReservoir(h, min(h.N, max(t.columns, fewRows)), t.seed, 0x1a2d)
	t.sample, t.few = some.data, few.data
	counts := map[float64]int{}
	mean, square := make([]float64, h.D), make([]float64, h.D)
	n := 0
	err := datasets.EachBlock(ctx, t.source, t.points.rows, func(b *datasets.Block) error {
		for i, row := range b.X {
			if counts[b.Y[i]]++; len(counts) > 20 {
				return &datasets.ClassError{Dataset: h.Name, Msg: "there are more than 20 different targets where two classes are needed"}
			}
			some.take(n, row, b.Y[i])
			few.take(n, row, b.Y[i])
			n++
		}
		if t.scaled { // Chan, Golub and LeVeque (1983), a block at a time
			before, added := float64(n-len(b.X)), float64(len(b.X))
			for j := range mean {
				m, s := 0.0, 0.0
				for _, row := range b.X {
					m += row[j]
				}
				m /= added
				for _, row := range b.X {
					s += (row[j] - m) * (row[j] - m)
				}
				delta := m - mean[j]
				mean[j] += delta * added / (before + added)
				square[j] += s + delta*delta*before*added/(before+added)
			}
		}
		report.at(n)
		return nil
	})
	if err != nil {
		return err
	}
	if n != h.N {
		return arguments.Wrong("Fit", float64(n), "the source gave %d rows and says that it has %d", n, h.N)
	}
	targets := make([]float64, 0, len(counts))
	var names []string
	for y := range counts {
		targets = append(targets, y)
	}
	slices.Sort(targets)
	of := &datasets.Dataset{Classes: h.Classes}
	for _, y := range targets {
		names = append(names, of.ClassName(y))
	}
	if len(targets) != 2 {
		return &datasets.ClassError{Dataset: h.Name, Classes: names, Msg: "there are " + strconv.Itoa(len(targets)) + " classes (" + say.Listed(names) + ") where two are needed"}
	}
	for k, y := range targets {
		t.target[k], t.count[k], t.names[k] = y, counts[y], names[k]
	}
	t.points.positive = targets[1]
	if t.scaled {
		s := &datasets.Scaler{Name: "standard", High: 1, Centre: mean, Width: square}
		for j, v := range square {
			s.Width[j] = math.Sqrt(v / float64(n))
		}
		t.points.scaler = s
	}
	return nil
}

// drawn returns m rows of the sample for landmarks, scaled.
func (t *task) drawn(m int) [][]float64 {
	rng := rand.New(rand.NewPCG(t.seed, 0x9a33a))
	x := make([][]float64, m)
	for k, i := range rng.Perm(t.few.N())[:m] {
		x[k] = slices.Clone(t.few.X[i])
		if t.points.scaler != nil {
			scale(t.points.scaler, x[k])
		}
	}
	return x
}

// represent makes the features.
func (t *task) represent(context.Context) error {
	h := t.head
	if t.kernel == nil {
		t.kernel = kernels.RBF(kernels.GammaScale(t.drawn(t.few.N())))
	}
	switch t.form {
	case unset:
		t.points.of = columns.Plain(h.D)
	case fourier:
		omega, weight, err := kernels.Frequencies(t.kernel, h.D, t.columns/2, t.seed)
		if err != nil {
			return fmt.Errorf("svmnb: RandomFeatures: %w", err)
		}
		if len(omega) != t.columns/2 {
			return arguments.Wrong("RandomFeatures", float64(len(omega)), "%v is a sum, of which each term has its own frequencies; take Nystroem", t.kernel)
		}
		t.points.of = columns.NewWaves(omega, weight)
	case nystroem:
		m := t.columns
		t.marks = t.drawn(m)
		gram, err := kernels.NewGram(t.kernel, t.marks, kernels.NoCache)
		if err != nil {
			return fmt.Errorf("svmnb: Nystroem: %w", err)
		}
		// Landmarks that are nearly equal make their matrix singular. A little more on the
		// diagonal makes the objective larger and the approximated kernel smaller, so the
		// bounds remain bounds.
		mean := 0.0
		for _, v := range gram.Diag() {
			mean += v / float64(m)
		}
		t.metric = make([][]float64, m)
		for i := range t.metric {
			t.metric[i] = slices.Clone(gram.Row(i))
			t.metric[i][i] += 1e-9 * mean
		}
		t.points.of = columns.Landmarks{Basis: kernels.Against(t.kernel, t.marks)}
	}
	return nil
}

// none reports whether f is nil or the zero value.
func (f *Fit) none() bool { return f == nil || f.task == nil }

// Classes returns the names of the negative and of the positive class.
func (f *Fit) Classes() [2]string {
	if f.none() {
		return [2]string{}
	}
	return f.task.names
}

// Each computes f at all rows of a source, in one pass and in the memory of the fit. do gets
// consecutive values, which it must not keep: f is positive on the side of the positive class.
func (f *Fit) Each(ctx context.Context, source datasets.Source, do func(from int, values []float64) error) (err error) {
	defer guard.Caught(&err)
	if do == nil {
		return arguments.Wrong("Each", math.NaN(), "the function is nil")
	}
	values := []float64(nil)
	from := 0
	return f.over(ctx, "Each", source, func(v, _ []float64) error {
		values = append(values[:0], v...)
		from += len(v)
		return do(from-len(v), values)
	})
}

// over calls do with the values and the targets of all rows of a source.
func (f *Fit) over(ctx context.Context, call string, source datasets.Source, do func(values, targets []float64) error) error {
	if f.none() {
		return arguments.NoFit(call)
	}
	if err := arguments.Given(ctx, call); err != nil {
		return err
	}
	if guard.IsNil(source) {
		return arguments.Wrong(call, math.NaN(), "the source is nil; take one from its Open function and look at the error that comes with it")
	}
	if d := source.Head().D; d != f.task.head.D {
		return arguments.Wrong(call, float64(d), "the source has %s, the machine was trained on %d", say.Several(d, "feature"), f.task.head.D)
	}
	p := *f.task.points
	p.source, p.z = source, nil
	p.report = newReporter(source.Head().N, f.Description.watch)
	p.report.Doing = "prediction"
	m := p.Columns()
	z, values, targets := make([]float64, p.rows*m), make([]float64, p.rows), make([]float64, p.rows)
	p.report.begin()
	return datasets.EachBlock(ctx, source, p.rows, func(b *datasets.Block) error {
		n := copy(targets, b.Y)
		p.prepare(b)
		p.of.Values(z[:n*m], b.X)
		dots(values[:n], z, f.Beta, f.Bias)
		p.report.at(b.From + n)
		return do(values[:n], targets[:n])
	})
}

// Predict computes the class of each row of a source; do gets the names of consecutive rows.
func (f *Fit) Predict(ctx context.Context, source datasets.Source, do func(from int, names []string) error) error {
	var names []string
	if do == nil {
		return arguments.Wrong("Predict", math.NaN(), "the function is nil")
	}
	return f.Each(ctx, source, func(from int, values []float64) error {
		names = names[:0]
		for _, v := range values {
			names = append(names, f.task.names[machines.SideOf(v)])
		}
		return do(from, names)
	})
}

// Evaluation counts the predictions of a machine.
type Evaluation struct {
	Points    int
	Confusion [2][2]int // [true class][predicted class], 0 is the negative class
}

// Errors returns the number of wrong predictions.
func (e Evaluation) Errors() int { return e.Confusion[0][1] + e.Confusion[1][0] }

// Accuracy returns the share of right predictions; NaN without points.
func (e Evaluation) Accuracy() float64 { return 1 - float64(e.Errors())/float64(e.Points) }

// Evaluate compares the predictions for a source with its targets, in one pass. The error is
// that of the source, or an *ArgumentError for a target that the training data did not have.
func (f *Fit) Evaluate(ctx context.Context, source datasets.Source) (_ Evaluation, err error) {
	defer guard.Caught(&err)
	var e Evaluation
	var of *datasets.Dataset
	if !guard.IsNil(source) {
		of = &datasets.Dataset{Classes: source.Head().Classes}
	}
	err = f.over(ctx, "Evaluate", source, func(values, targets []float64) error {
		for i, v := range values {
			k := slices.Index(f.task.target[:], targets[i])
			if of.Classes != nil || f.task.head.Classes != nil {
				k = slices.Index(f.task.names[:], of.ClassName(targets[i]))
			}
			if k < 0 {
				return arguments.At("Evaluate", e.Points, -1, targets[i], "the class %s was not in the training data, whose classes are %s", of.ClassName(targets[i]), say.Listed(f.task.names[:]))
			}
			e.Confusion[k][machines.SideOf(v)]++
			e.Points++
		}
		return nil
	})
	return e, err
}

// Model returns what predictions need of the fit: it predicts points in memory, and can be
// saved. Its values are those of the fit up to rounding.
func (f *Fit) Model() *model.Model {
	if f.none() {
		return nil
	}
	t := f.task
	data := &datasets.Dataset{Name: t.head.Name, Features: t.head.Features, Target: t.head.Target, Classes: t.head.Classes}
	raw := &datasets.Dataset{Name: t.head.Name, X: [][]float64{make([]float64, t.head.D)}, Y: []float64{0}, Features: t.head.Features}
	var before []steps.Fitted
	if t.points.scaler != nil {
		before = append(before, steps.Scaled{Of: t.points.scaler})
	}
	kernel, coef := t.kernel, []float64{1}
	switch t.form {
	case nystroem:
		data.X, coef = t.marks, f.Beta
	case fourier:
		wave, beta := steps.FourierOf(t.points.of.(*columns.Waves), f.Beta)
		before = append(before, wave)
		kernel, data.X, data.Features = kernels.Linear(), [][]float64{beta}, nil
	default:
		data.X = [][]float64{f.Beta}
	}
	data.Y = make([]float64, len(data.X))
	var behind *steps.Passage
	if before != nil {
		behind = steps.Raw(raw, before)
	}
	e := machines.NewExpansion(data, kernel, behind, coef, f.Bias)
	return model.New(machines.Machines{
		Kind: machines.TwoClassKind, Kernel: kernel, Expansion: e, Terms: []machines.Term{{Coef: e.Coef, B: e.B, W: e.W}},
		Classes: t.names[:], Duels: [][2]int{{1, 0}}, Targets: t.target[:],
	}, data)
}

// Markdown says in words what was solved and how good the answer is.
func (f *Fit) Markdown() string {
	if f.none() {
		return arguments.NoFit("Markdown").Error()
	}
	t, s := f.task, say.NewSummary()
	s.Row("**problem**", "%s, %s against %s", t.head.Name, say.Class(t.names[1]), say.Class(t.names[0]))
	s.Row("points × features", "%s × %d", say.Thousands(int64(t.head.N)), t.head.D)
	s.Row("kernel", "%v", t.kernel)
	switch t.form {
	case nystroem:
		s.Row("approximated by", "%d landmarks", t.columns)
	case fourier:
		s.Row("approximated by", "%d random features", t.columns)
	}
	s.Row("**solver**", "streamed Newton, until the gap is %s", say.Percent(t.gap))
	s.Row("status", "%s after %s over the source, %v", f.Status, passes(f.Passes), say.Spell(f.Elapsed))
	s.Row("**certificate**", "on the features the answer is within %s of the optimum", say.Percent(f.RelGap()))
	s.Row("dual, primal", "%s, %s", say.Signed(f.Dual, 9), say.Signed(f.Primal, 9))
	if f.Points > 0 {
		s.Row("training errors", "%s of %s (%s)", say.Thousands(int64(f.Errors)), say.Thousands(int64(f.Points)), say.Percent(float64(f.Errors)/float64(f.Points)))
	}
	return s.String()
}

func passes(n int) string {
	if n == 1 {
		return "1 pass"
	}
	return fmt.Sprintf("%d passes", n)
}
