package svmnb

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/calibrate"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// Model is what predictions need of a fit, and nothing else: support vectors,
// coefficients, biases, the kernel, and the curves of probabilities. It has no
// training data, trace or certificate. [Save] and [Load] keep it in a file, and
// it is what goes to other programs and comes from them:
//
//	err := fit.Model().WriteLIBSVM(w)
//	model, err := svmnb.ReadLIBSVMModel(r, 0)
//
// Support vectors of sparse points are sparse.
//
// A Model never changes and may be used by several goroutines at a time.
type Model struct {
	kind     modelKind
	kernel   kernels.Kernel
	classes  []string
	targets  []float64 // of the classes
	line     float64   // of one class: f from −line on is on the line f = 0
	duels    [][2]int  // of each machine, as in multiTask
	curves   []curve   // of each machine; nil without probabilities
	machines []term
	process  *processModel // of a Gaussian process; else nil
	expanded               // of which the points, the basis and d are used
	before   *passage      // what points go through first; nil for none
}

type modelKind int

const (
	regressionModel modelKind = iota
	oneClassModel
	twoClassModel
	votesModel
	restModel
	jointModel
	processKind
)

var modelKinds = [...]string{"regression", "one class", "two classes", "one against one", "one against the rest", "Crammer–Singer", "Gaussian process"}

func (k modelKind) String() string { return modelKinds[k] }

// scheme is how several machines decide together.
func (k modelKind) scheme() scheme {
	switch k {
	case restModel:
		return oneVsRest
	case jointModel:
		return crammerSinger
	}
	return oneVsOne
}

// Modeler is a fit that has a [Model], nil where it is the zero value of its type: a *[Fit], *[MultiFit], *[RegressionFit],
// *[ProcessFit], *[Calibrated], *[PipeFit], or a *Model itself.
type Modeler interface{ Model() *Model }

// Model returns m.
func (m *Model) Model() *Model { return m }

// Model returns what predictions need of the fit. Its decision values are those of
// the fit, bit for bit.
func (f *Fit) Model() *Model {
	if f == nil || f.task == nil {
		return nil
	}
	m := (&Model{kind: twoClassModel, kernel: f.task.kernel, expanded: f.expanded, machines: []term{{coef: f.coef, b: f.b, w: f.w}}}).beyond(f.task.data)
	m.classes, m.duels = []string{f.task.negative, f.task.positive}, [][2]int{{1, 0}}
	if f.task.margin == oneClass {
		m.kind, m.targets, m.line = oneClassModel, []float64{-1, 1}, f.line
		return m
	}
	for _, c := range f.task.data.Counts() {
		m.targets = append(m.targets, c.Y)
	}
	return m
}

// Model returns what predictions need of the fit. Its decision values are those of
// the fit, bit for bit.
func (f *MultiFit) Model() *Model {
	if f == nil || f.task == nil {
		return nil
	}
	m := (&Model{kernel: f.task.base.kernel, classes: f.task.classes, duels: f.task.duels, machines: f.terms, expanded: f.points}).beyond(f.task.base.data)
	m.kind = [...]modelKind{oneVsOne: votesModel, oneVsRest: restModel, crammerSinger: jointModel}[f.task.scheme]
	if m.kind == jointModel {
		m.duels = allOthers(len(m.classes))
	}
	for _, c := range f.task.base.data.Counts() {
		m.targets = append(m.targets, c.Y)
	}
	return m
}

// allOthers are the duels of each of k classes with the rest.
func allOthers(k int) [][2]int {
	duels := make([][2]int, k)
	for i := range duels {
		duels[i] = [2]int{i, -1}
	}
	return duels
}

// Model returns what predictions need of the fit. Its values are those of the fit,
// bit for bit.
func (f *RegressionFit) Model() *Model {
	if f == nil || f.task == nil {
		return nil
	}
	return (&Model{kind: regressionModel, kernel: f.task.kernel, expanded: f.expanded, machines: []term{{coef: f.coef, b: f.b, w: f.w}}}).beyond(f.task.data)
}

// Model returns what predictions need of the fit and its probabilities. They are
// those of c, bit for bit.
func (c *Calibrated) Model() *Model {
	if c == nil || c.fit == nil {
		return nil
	}
	m := *c.fit.Model()
	m.curves = c.curves
	return &m
}

// beyond moves what points go through first, of a pipeline or of scaled data, from the
// expansion into m, which the caller owns.
func (m *Model) beyond(data *datasets.Dataset) *Model {
	m.before, m.expanded.behind = passageOf(m.expanded.behind, data), nil
	return m
}

// Raw returns the model that takes points as they were measured and does to them all
// that was done to the training points. A model of a pipeline is that already. A model
// of data that a scaler of package datasets has changed, such as Standardised(), is not:
// points do not say whether they are scaled, so it predicts nothing until Raw or
// Transformed has.
func (m *Model) Raw() *Model {
	if m.none() {
		return nil
	}
	if m.before == nil || m.before.open == 0 {
		return m
	}
	raw, own := *m.before, m.shared()
	raw.open, own.before = 0, &raw
	return own
}

// Transformed returns the model that takes points as its machines see them: scaled as
// the training data were, and through the steps of the pipeline.
func (m *Model) Transformed() *Model {
	if m.none() {
		return nil
	}
	if m.before == nil {
		return m
	}
	own := m.shared()
	own.before = nil
	return own
}

// shared is a copy of m. A process keeps what it has computed in one place.
func (m *Model) shared() *Model { own := *m; return &own }

// enter checks points of a caller and returns them as the machines want them.
func (m *Model) enter(ctx context.Context, verb string, p points) (points, error) {
	if b := m.before; b != nil {
		if b.open > 0 {
			return p, arguments.Wrong(verb, math.NaN(), "the model was learnt from scaled data (%v), and points do not say whether they are scaled; say Raw() for the model of points as they were measured, or Transformed() for that of scaled ones", b)
		}
		var err error
		if p, err = b.apply(ctx, verb, "model", p); err != nil {
			return p, err
		}
	}
	return p, m.check(verb, "model", p)
}

// bare refuses to leave steps out of a file that has no place for them.
func (m *Model) bare(format string) error {
	switch {
	case m.before == nil:
		return nil
	case m.before.open > 0:
		return modelError(format, 0, "the model was learnt from scaled data (%v); say Transformed() to write the model of scaled points, and scale them by the same numbers", m.before)
	}
	return modelError(format, 0, "the format has no place for the steps %v; say Transformed() to write the model behind them, and do them to the points by Transform of the pipeline", m.before)
}

// Kernel returns the kernel.
func (m *Model) Kernel() kernels.Kernel {
	if m.none() {
		return nil
	}
	return m.kernel
}

// D returns how many features a point has, before any steps.
func (m *Model) D() int {
	if m.none() {
		return 0
	}
	if m.before != nil {
		return m.before.d
	}
	return m.d
}

// SupportVectors returns how many points predictions need.
func (m *Model) SupportVectors() int {
	if m.none() {
		return 0
	}
	return m.x.n()
}

// Classes returns the names of the classes, in the order of the columns of
// Probabilities; nil for a regression.
func (m *Model) Classes() []string {
	if m.none() {
		return nil
	}
	return slices.Clone(m.classes)
}

// String says in a line what the model is.
func (m *Model) String() string {
	if m.none() {
		return arguments.NoFit("String").Error()
	}
	s := fmt.Sprintf("model of %v, %v, %d features, %d support vectors", m.kind, m.kernel, m.D(), m.x.n())
	if len(m.classes) > 0 && m.kind != oneClassModel {
		s += ", classes " + listed(m.classes)
	}
	if m.curves != nil {
		s += ", probabilities"
	}
	if m.before != nil {
		s += ", after " + m.before.String()
	}
	return s
}

// Decisions returns the values of all machines at the m points of x, m rows of
// them: one for a regression, one class or two, else as [MultiFit.Decisions]. The
// error is an *ArgumentError that names the first row of another length or with a
// value that is no finite number, or wraps a *kernels.DataError for a point outside
// the domain of the kernel.
func (m *Model) Decisions(x [][]float64) (_ [][]float64, err error) {
	defer caught(&err)
	return m.decisions("Decisions", written(x))
}

// DecisionsSparse is Decisions for sparse points, which are not written out; a model
// of points that are takes some of them at a time.
func (m *Model) DecisionsSparse(x datasets.CSR) (_ [][]float64, err error) {
	defer caught(&err)
	return m.decisions("DecisionsSparse", compressed(x))
}

func (m *Model) decisions(verb string, p points) ([][]float64, error) {
	if m.none() {
		return nil, arguments.NoFit(verb)
	}
	p, err := m.enter(context.Background(), verb, p)
	if err != nil {
		return nil, err
	}
	if m.process != nil {
		return m.means(p), nil
	}
	return m.terms(m.machines, p), nil
}

// Values returns f at the m points of x, of a model that has one machine: a
// regression's or a process's prediction in units of its targets, the decision value of one class
// or two. Errors are those of Decisions, and an *ArgumentError for several machines.
func (m *Model) Values(x [][]float64) (_ []float64, err error) {
	defer caught(&err)
	return m.value("Values", written(x))
}

// ValuesSparse is Values for sparse points; see DecisionsSparse.
func (m *Model) ValuesSparse(x datasets.CSR) (_ []float64, err error) {
	defer caught(&err)
	return m.value("ValuesSparse", compressed(x))
}

func (m *Model) value(verb string, p points) ([]float64, error) {
	if m.none() {
		return nil, arguments.NoFit(verb)
	}
	if len(m.machines) != 1 {
		return nil, arguments.Wrong(verb, float64(len(m.machines)), "the model has %d machines; Decisions returns the values of all", len(m.machines))
	}
	rows, err := m.decisions(verb, p)
	if err != nil {
		return nil, err
	}
	values := make([]float64, len(rows))
	for i, row := range rows {
		values[i] = row[0]
	}
	return values, nil
}

// Predict returns the class names of the m points of x: with probabilities the
// most probable ones, as [Calibrated.Predict], else those of the decision values.
// Errors are those of Decisions, and an *ArgumentError for a regression.
func (m *Model) Predict(x [][]float64) (_ []string, err error) {
	defer caught(&err)
	return m.predict("Predict", written(x))
}

// PredictSparse is Predict for sparse points; see DecisionsSparse.
func (m *Model) PredictSparse(x datasets.CSR) (_ []string, err error) {
	defer caught(&err)
	return m.predict("PredictSparse", compressed(x))
}

func (m *Model) predict(verb string, p points) ([]string, error) {
	if m.none() {
		return nil, arguments.NoFit(verb)
	}
	if m.classes == nil {
		return nil, arguments.Wrong(verb, math.NaN(), "a %v has no classes; say Values", m.kind)
	}
	rows, err := m.decisions(verb, p)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = m.classes[m.winner(row)]
	}
	return names, nil
}

func (m *Model) winner(values []float64) int {
	switch {
	case m.curves != nil:
		p := m.probabilities(values)
		return slices.Index(p, slices.Max(p))
	case m.kind == oneClassModel || m.kind == twoClassModel:
		if values[0] >= -m.line {
			return 1
		}
		return 0
	}
	return m.kind.scheme().winner(len(m.classes), m.duels, values)
}

func (m *Model) probabilities(values []float64) []float64 {
	if m.kind == jointModel {
		values = crammerSinger.leads(len(m.classes), m.duels, values)
	}
	return probabilities(len(m.classes), m.duels, m.curves, values)
}

// Probabilities returns m × k probabilities of the m points of x, each row in the
// order of Classes and of sum 1. Errors are those of Decisions, and an
// *ArgumentError for a model without probabilities.
func (m *Model) Probabilities(x [][]float64) (_ [][]float64, err error) {
	defer caught(&err)
	return m.probable("Probabilities", written(x))
}

// ProbabilitiesSparse is Probabilities for sparse points; see DecisionsSparse.
func (m *Model) ProbabilitiesSparse(x datasets.CSR) (_ [][]float64, err error) {
	defer caught(&err)
	return m.probable("ProbabilitiesSparse", compressed(x))
}

func (m *Model) probable(verb string, p points) ([][]float64, error) {
	if m.none() {
		return nil, arguments.NoFit(verb)
	}
	if m.curves == nil {
		return nil, arguments.Wrong(verb, math.NaN(), "the model has no probabilities; take the model of a fit after Calibrate")
	}
	rows, err := m.decisions(verb, p)
	if err != nil {
		return nil, err
	}
	for i, values := range rows {
		rows[i] = m.probabilities(values)
	}
	return rows, nil
}

// ModelError says what is wrong with a model file, or why a model cannot be
// written in a format.
type ModelError struct {
	Format string // "svmnb", "LIBSVM", "LIBLINEAR", "Go"
	Line   int    // counted from 1; 0 when no line is to blame
	Msg    string // what is wrong and what to do
	Err    error  // the cause, when it is another error
}

func (e *ModelError) Error() string {
	s := "svmnb: " + e.Format + " model"
	if e.Line > 0 {
		s += fmt.Sprintf(", line %d", e.Line)
	}
	return s + ": " + e.Msg
}

// Unwrap returns the cause, such as a *kernels.ParamError.
func (e *ModelError) Unwrap() error { return e.Err }

func modelError(format string, line int, msg string, args ...any) *ModelError {
	return &ModelError{Format: format, Line: line, Msg: fmt.Sprintf(msg, args...)}
}

// modelCells bounds the dense numbers that a small file can ask for: 1 GiB.
const modelCells = 1 << 27

// complete checks a model that was read, whatever it says, and makes what follows
// from its numbers.
func (m *Model) complete(format string) error {
	bad := func(msg string, args ...any) error { return modelError(format, 0, msg, args...) }
	machines := 1
	switch k := len(m.classes); m.kind {
	case regressionModel, processKind:
		if k != 0 || len(m.duels) != 0 || m.curves != nil {
			return bad("a %v has no classes and no probabilities", m.kind)
		}
	case oneClassModel, twoClassModel:
		if k != 2 || !slices.Equal(m.duels, [][2]int{{1, 0}}) || m.kind == oneClassModel && m.curves != nil {
			return bad("the classes are not those of a model of %v", m.kind)
		}
		if !(m.line >= 0 && m.line <= math.MaxFloat64) || m.kind == twoClassModel && m.line != 0 {
			return bad("the line of a model of %v is %v wide; it is a number ≥ 0, of two classes 0", m.kind, m.line)
		}
	default:
		if k < 2 || k > 1<<15 {
			return bad("there are %d classes", k)
		}
		want := allOthers(k)
		if m.kind == votesModel {
			want = allPairs(k, len(m.machines))
		}
		if machines = len(want); machines == 0 || !slices.Equal(m.duels, want) {
			return bad("the machines are not those of %d classes, %v", k, m.kind)
		}
	}
	if len(m.machines) != machines {
		return bad("there are %d machines; want %d", len(m.machines), machines)
	}
	seen := map[string]bool{}
	for _, name := range m.classes {
		if seen[name] {
			return bad("two classes are called %s", say.Class(name))
		}
		seen[name] = true
	}
	if len(m.targets) != len(m.classes) || !allFinite(m.targets) {
		return bad("each class needs a target that is a finite number")
	}
	if m.d < 1 || m.d > modelCells {
		return bad("there are %d features; want 1 to %d", m.d, modelCells)
	}
	if m.kernel == nil {
		return bad("there is no kernel")
	}
	for i, x := range m.x.x {
		if len(x) != m.d {
			return bad("support vector %d has %d features; want %d", i, len(x), m.d)
		}
	}
	if s := m.x.sparse; s != nil && (s.D != m.d || len(s.Start) == 0) {
		return bad("the support vectors have %d features; want %d", s.D, m.d)
	}
	if _, ok := m.kernel.(kernels.Domain); ok && m.x.sparse != nil && m.d > modelCells/32 {
		return bad("%d features are too many for the kernel %v, which looks at points written out", m.d, say.Brief(m.kernel.String()))
	}
	var err error
	if m.x.sparse != nil {
		err = kernels.Against(m.kernel, nil).CheckSparse(*m.x.sparse)
	} else {
		err = kernels.Against(m.kernel, nil).Check(m.x.x)
	}
	if err != nil {
		e := modelError(format, 0, "support vectors: %v", err)
		e.Err = err
		return e
	}
	m.basis, m.expanded.kernel = m.x.late(m.kernel), m.kernel
	for k := range m.machines {
		t := &m.machines[k]
		if len(t.coef) != m.x.n() || !allFinite(t.coef) || !allFinite([]float64{t.b}) {
			return bad("machine %d: want a finite coefficient for each support vector, and a finite bias", k)
		}
	}
	if m.curves != nil && len(m.curves) != machines {
		return bad("there are %d curves of probabilities for %d machines", len(m.curves), machines)
	}
	for k, c := range m.curves {
		fine := false
		switch c := c.(type) {
		case Sigmoid:
			fine = allFinite([]float64{c.A, c.B})
		case calibrate.Steps:
			fine = len(c.X) > 0 && len(c.X) == len(c.P) && allFinite(c.X) && slices.IsSorted(c.X) && slices.IsSorted(c.P) && c.P[0] >= 0 && c.P[len(c.P)-1] <= 1
			for i := 1; fine && i < len(c.X); i++ {
				fine = c.X[i-1] < c.X[i]
			}
		}
		if !fine {
			return bad("machine %d: the curve of probabilities is not one: its numbers must be finite, increasing and between 0 and 1", k)
		}
	}
	if (m.process != nil) != (m.kind == processKind) {
		return bad("the kind is %v, and the numbers of a Gaussian process do not go with it, or are missing", m.kind)
	}
	if m.process != nil {
		if wrong := m.process.complete(m); wrong != "" {
			return bad("%s", wrong)
		}
		return nil // whose means are of the kernel, also of the linear one
	}
	if m.kernel != kernels.Kernel(kernels.Linear()) {
		return nil
	}
	if m.d > modelCells/machines {
		return bad("%d machines of %d features need more than 1 GiB", machines, m.d)
	}
	for k := range m.machines {
		t := &m.machines[k]
		t.w = make([]float64, m.d)
		for j, c := range t.coef {
			if c == 0 {
				continue
			}
			m.x.add(t.w, j, c)
		}
	}
	return nil
}

// allPairs are the duels of k classes, nil unless there are n of them.
func allPairs(k, n int) [][2]int {
	if n != k*(k-1)/2 {
		return nil
	}
	duels := make([][2]int, 0, n)
	for i := range k {
		for j := i + 1; j < k; j++ {
			duels = append(duels, [2]int{i, j})
		}
	}
	return duels
}

func allFinite(v []float64) bool {
	for _, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}
