package svmnb

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/schemes"
	"github.com/svmnb/svmnb/svmnb/model"
)

// ApproximateMultiClassifier describes machines that approximate those of a [MultiClassifier]. It
// is a value, as a MultiClassifier is.
type ApproximateMultiClassifier struct {
	of  MultiClassifier
	how Approximation
}

// Approximate approximates each machine of OneVsOne or OneVsRest; see [Classifier.Approximate].
// The numbers of landmarks, points or parts are those of each machine, or the number of its points
// if that is smaller. CrammerSinger has no approximation. Weights of classes, and Balanced, need
// OneVsOne.
func (m MultiClassifier) Approximate(how Approximation) ApproximateMultiClassifier {
	m.base.approximated(how)
	return ApproximateMultiClassifier{m, how}
}

// String returns the Go expression of the description.
func (a ApproximateMultiClassifier) String() string {
	return fmt.Sprintf("%v.Approximate(%s)", a.of, say.Literal(a.how))
}

// Fit trains the approximations one after the other. Errors of a machine name its classes. When
// ctx ends early, Fit returns an error that wraps context.Cause(ctx).
func (a ApproximateMultiClassifier) Fit(ctx context.Context) (_ *ApproximateMultiFit, err error) {
	defer guard.Caught(&err)
	if err := arguments.Given(ctx, "Fit"); err != nil {
		return nil, err
	}
	began := time.Now()
	t, err := a.of.ofMachines("Approximate")
	if err != nil {
		return nil, err
	}
	f := &ApproximateMultiFit{Description: a, task: t}
	for k := range t.duels {
		c, rows, err := t.duelTask(k)
		if err == nil {
			var fit *ApproximateFit
			if fit, err = c.approximation(ctx, a.how, t.share()); err == nil {
				f.machines, f.rows = append(f.machines, fit), append(f.rows, rows)
				continue
			}
		}
		return nil, fmt.Errorf("%s: %w", t.duelName(k), err)
	}
	f.Elapsed = time.Since(began)
	return f, nil
}

// MustFit is Fit for a notebook cell. The interrupt button ends it. An error is printed and ends
// the cell; outside a notebook it panics.
func (a ApproximateMultiClassifier) MustFit() *ApproximateMultiFit { return mustTrain(a.Fit) }

// approximation trains an approximation, whose kernel rows take so many bytes at most.
func (c Classifier) approximation(ctx context.Context, how Approximation, bytes int64) (*ApproximateFit, error) {
	a := ApproximateClassifier{c, how}
	if !guard.IsNil(how) {
		a.how = how.within(c.data.N())
	}
	t, err := a.prepare(bytes)
	if err != nil {
		return nil, err
	}
	return a.fit(ctx, t)
}

// ofMachines prepares a description whose machines are problems of two classes each.
func (m MultiClassifier) ofMachines(verb string) (*multiTask, error) {
	if m.scheme == schemes.CrammerSinger {
		return nil, arguments.Wrong(verb, math.NaN(), "Crammer and Singer's is one problem for all classes, not one for each machine; say OneVsOne() or OneVsRest()")
	}
	t, err := m.prepare()
	if err != nil {
		return nil, err
	}
	t.shared = nil
	return t, nil
}

// share returns how many bytes of kernel rows one of the machines may keep.
func (t *multiTask) share() int64 { return max(1, t.memory()/int64(len(t.duels))) }

// duelTask describes a machine with weights of classes in place of weights of points, and returns
// the rows of its points.
func (t *multiTask) duelTask(k int) (c Classifier, rows []int, err error) {
	c, rows = t.machine(t.duels[k])
	if c.weights == nil {
		return c, rows, nil
	}
	of, sample := [2]float64{}, c.weights.sample
	for j, w := range sample {
		side := machines.SideOf(c.data.Y[j])
		if of[side] != 0 && of[side] != w {
			return c, rows, arguments.Wrong("SampleWeights", w, "points of one side have different weights, and approximations have one for each; leave SampleWeights out, or say OneVsOne() for weights of classes")
		}
		of[side] = w
	}
	c.weights = &weights{class: []classWeight{{c.data.Classes[0], of[0]}, {c.data.Classes[1], of[1]}}}
	return c, rows, nil
}

// ApproximateMultiFit is an approximation of several machines. Each has a gap to the optimum of
// its exact machine.
type ApproximateMultiFit struct {
	// Description is the ApproximateMultiClassifier that was trained.
	Description ApproximateMultiClassifier
	Elapsed     time.Duration

	task     *multiTask
	machines []*ApproximateFit
	rows     [][]int // of the points of each machine
	verdict  *Verdict
}

func (f *ApproximateMultiFit) none() bool { return f == nil || f.task == nil }

// Machines returns the approximations, in the order of [MultiFit.Machines].
func (f *ApproximateMultiFit) Machines() []*ApproximateFit {
	if f.none() {
		return nil
	}
	return slices.Clone(f.machines)
}

// Decisions returns the decision values at m points; see [MultiFit.Decisions].
func (f *ApproximateMultiFit) Decisions(x datasets.Points) (_ [][]float64, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Decisions")
	}
	rows := make([][]float64, points.From(x).N())
	for _, m := range f.machines {
		values, err := m.Values(x)
		if err != nil {
			return nil, err
		}
		for i, v := range values {
			rows[i] = append(rows[i], v)
		}
	}
	return rows, nil
}

// winners returns the classes of m points, with their decision values.
func (f *ApproximateMultiFit) winners(x datasets.Points) (class []int, err error) {
	rows, err := f.Decisions(x)
	for _, values := range rows {
		class = append(class, f.task.scheme.Winner(len(f.task.classes), f.task.duels, values))
	}
	return class, err
}

// Predict returns the class names of m points; see [MultiFit.Predict].
func (f *ApproximateMultiFit) Predict(x datasets.Points) (_ []string, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Predict")
	}
	class, err := f.winners(x)
	if err != nil {
		return nil, err
	}
	return pick(f.task.classes, class), nil
}

// Bound encloses the exact optimum of each machine without kernel values of pairs of points; see
// [ApproximateFit.Bound]. The verdict has the sums over the machines, and Machines has those of
// each.
func (f *ApproximateMultiFit) Bound(ctx context.Context) (_ *Verdict, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Bound")
	}
	return f.each(func(m *ApproximateFit) (*Verdict, error) { return m.Bound(ctx) })
}

// Certify computes how far each machine is from its exact optimum; see [ApproximateFit.Certify].
// The verdict has the sums over the machines, and Machines has those of each.
func (f *ApproximateMultiFit) Certify(ctx context.Context) (_ *Verdict, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Certify")
	}
	v, err := f.each(func(m *ApproximateFit) (*Verdict, error) { return m.Certify(ctx) })
	f.verdict = v
	return v, err
}

func (f *ApproximateMultiFit) each(of func(*ApproximateFit) (*Verdict, error)) (*Verdict, error) {
	var list []Verdict
	for k, m := range f.machines {
		v, err := of(m)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.task.duelName(k), err)
		}
		one := *v
		one.Name = f.task.duelName(k)
		list = append(list, one)
	}
	total := together(f.Description.how.String(), list)
	total.Points, total.SupportVectors = f.task.base.data.N(), 0
	used := make([]bool, total.Points)
	for k, m := range f.machines {
		for j, c := range m.of.coef {
			used[f.rows[k][j]] = used[f.rows[k][j]] || c != 0
		}
	}
	total.SupportVectors = count(used)
	return &total, nil
}

// together returns the verdict of machines whose problems are independent: their objectives and
// bounds are added, and the largest violation is that of any machine.
func together(name string, list []Verdict) Verdict {
	v := Verdict{Name: name, Machines: list, Off: math.NaN()}
	for _, one := range list {
		v.Primal, v.Dual, v.Bound = v.Primal+one.Primal, v.Dual+one.Dual, v.Bound+one.Bound
		if v.Violation = max(v.Violation, one.Violation); math.IsNaN(one.Violation) {
			v.Violation = math.NaN()
		}
	}
	return v
}

// Certain reports for each of m points whether the class that is predicted is that of the exact
// optimum of all machines; see [MultiFit.Certain]. The first call computes the exact machines of
// all multipliers; see [ApproximateFit.Bounds].
func (f *ApproximateMultiFit) Certain(x datasets.Points) (_ []bool, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Certain")
	}
	class, err := f.winners(x)
	if err != nil {
		return nil, err
	}
	lower, upper := make([][]float64, len(class)), make([][]float64, len(class))
	for _, m := range f.machines {
		l, u, err := m.Bounds(x)
		if err != nil {
			return nil, err
		}
		for i := range l {
			lower[i], upper[i] = append(lower[i], l[i]), append(upper[i], u[i])
		}
	}
	certain := make([]bool, len(class))
	for i, k := range class {
		certain[i] = f.task.scheme.Keeps(k, len(f.task.classes), f.task.duels, lower[i], upper[i])
	}
	return certain, nil
}

// Polish goes on from the multipliers of each machine to the optimum of its exact machine, by the
// method and the criterion of the description.
func (f *ApproximateMultiFit) Polish(ctx context.Context) (_ *MultiFit, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("Polish")
	}
	if err := arguments.Given(ctx, "Polish"); err != nil {
		return nil, err
	}
	began := time.Now()
	fits := make([]*Fit, len(f.machines))
	var interrupted error
	for k, m := range f.machines {
		fits[k], err = m.Polish(ctx)
		if err != nil {
			err = fmt.Errorf("%s: %w", f.task.duelName(k), err)
		}
		switch {
		case fits[k] == nil:
			return nil, err
		case err != nil && interrupted == nil:
			interrupted = err
		}
		if g, ok := m.task.k.(*kernels.Gram); ok {
			g.Release()
		}
	}
	return f.task.fit(fits, f.rows, time.Since(began)), interrupted
}

// Model returns what predictions need of the fit.
func (f *ApproximateMultiFit) Model() *model.Model {
	if f.none() {
		return nil
	}
	data := f.task.base.data
	coef, b := make([][]float64, len(f.machines)), make([]float64, len(f.machines))
	waves := &datasets.Dataset{Name: data.Name}
	for k, m := range f.machines {
		coef[k], b[k] = make([]float64, data.N()), m.of.expansion.B
		for j, c := range m.of.coef {
			coef[k][f.rows[k][j]] = c
		}
		waves.X, waves.Y = append(waves.X, m.of.expansion.W), append(waves.Y, 0)
	}
	first := f.machines[0].of
	if first.inSpace {
		return f.task.expand(coef, b).Model()
	}
	// All machines have the same waves, as these depend on the seed alone. Their weights are the
	// vectors of a linear machine.
	m := f.task.described()
	m.Kernel = first.expansion.Kernel
	m.Expansion = machines.NewExpansion(waves, m.Kernel, first.expansion.Behind, slices.Repeat([]float64{1}, len(b)), 0)
	for k, w := range waves.X {
		one := make([]float64, len(b))
		one[k] = 1
		m.Terms = append(m.Terms, machines.Term{Coef: one, B: b[k], W: w})
	}
	return model.New(m, waves)
}

// Markdown says in words what was trained, and what its certificate says, if there is one.
func (f *ApproximateMultiFit) Markdown() string {
	if f.none() {
		return arguments.NoFit("Markdown").Error()
	}
	t, s := f.task, say.NewSummary()
	s.Row("**problem**", "%s, %d classes: %s", t.base.data.Name, len(t.classes), say.Listed(t.classes))
	s.Row("points × features", "%d × %d", t.base.data.N(), t.base.data.D())
	s.Row("scheme", "%v, %s", t.scheme, say.Several(len(f.machines), "machine"))
	s.Row("margin", "%s", f.machines[0].task.marginText())
	s.Row("kernel", "%v", t.base.kernel)
	values := int64(0)
	for _, m := range f.machines {
		values += m.of.values
	}
	(&approximation{how: f.Description.how}).rows(s, f.Elapsed, values, f.verdict)
	return s.String()
}
