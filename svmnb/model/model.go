// Package model has models, which are what predictions need of a fit, and reads and writes
// them: as files of this library, of LIBSVM and of LIBLINEAR, as ONNX graphs and as Go
// source.
package model

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/calibrate"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/schemes"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
)

// Model is what predictions need of a fit: support vectors, coefficients, biases, the
// kernel, and the curves of probabilities. It has no training data, trace or certificate.
// [Save] and [Load] keep a model in a file; other methods and functions exchange it with
// other programs:
//
//	err := fit.Model().WriteLIBSVM(w)
//	model, err := model.ReadLIBSVM(r, 0)
//
// Support vectors are sparse if the training points were. A Model never changes, so several
// goroutines may use it at a time.
type Model struct{ of machines.Machines }

// Modeler is a fit that has a [Model]: a *svmnb.Fit, *svmnb.MultiFit, *svmnb.RegressionFit,
// *gp.Fit, *gp.ClassifierFit, *gp.LatentFit, *gp.SparseFit, *gp.NeighbourFit, *svmnb.Calibrated or
// *selection.PipeFit, or a *Model itself. The zero value of a fit returns nil.
type Modeler interface{ Model() *Model }

// Model returns m, so that a Model is a [Modeler].
func (m *Model) Model() *Model { return m }

// New returns the model of machines that were trained on data. The steps that transform
// points before the machines, from a pipeline or from scaled data, become a part of the
// model. New is for the packages that fit.
func New(m machines.Machines, data *datasets.Dataset) *Model {
	m.Before, m.Expansion.Behind = steps.PassageOf(m.Expansion.Behind, data), nil
	if b := m.Before; b != nil && b.Target != nil {
		m.Target, m.Before = b.Target, b.WithoutTarget()
	}
	return &Model{m}
}

// WithCurves returns the model with a curve of probabilities for each machine. It is for
// the packages that fit.
func (m *Model) WithCurves(curves []machines.Curve) *Model {
	if m.none() {
		return nil
	}
	own := *m
	own.of.Curves = curves
	return &own
}

// WithThreshold returns the model of two classes that predicts Classes()[1] for a point whose
// decision value, or for a model with probabilities whose probability of that class, is at
// least the threshold. It is for the packages that fit.
func (m *Model) WithThreshold(threshold float64) *Model {
	if m.none() {
		return nil
	}
	own := m.shared()
	own.of.Threshold = &threshold
	return own
}

// Inside returns the machines of the model, which must not be changed. It is for the
// packages that fit.
func (m *Model) Inside() *machines.Machines {
	if m == nil {
		return &machines.Machines{}
	}
	return &m.of
}

// Enter checks a user's points and transforms them for the machines. verb names the
// function that the user called, for errors. Enter is for the packages that fit.
func (m *Model) Enter(ctx context.Context, verb string, x datasets.Points) (points.Points, error) {
	if m.none() {
		return points.Points{}, arguments.NoFit(verb)
	}
	return m.enter(ctx, verb, points.From(x))
}

// Raw returns the model for points as they were measured: it transforms them as the
// training points were transformed. Only a model of scaled data, such as Standardised(),
// needs this: points do not say whether they are scaled, so the model refuses to predict
// before Raw or Transformed is called. The model of a pipeline always takes raw points.
func (m *Model) Raw() *Model {
	if m.none() {
		return nil
	}
	if m.of.Before == nil || m.of.Before.Open == 0 {
		return m
	}
	raw, own := *m.of.Before, m.shared()
	raw.Open, own.of.Before = 0, &raw
	return own
}

// Transformed returns the model for points that are already transformed: scaled as the
// training data were, and through the steps of the pipeline.
func (m *Model) Transformed() *Model {
	if m.none() {
		return nil
	}
	if m.of.Before == nil {
		return m
	}
	own := m.shared()
	own.of.Before = nil
	return own
}

// shared returns a copy of m. The copies share what a Gaussian process caches.
func (m *Model) shared() *Model { own := *m; return &own }

// enter checks a user's points and transforms them for the machines.
func (m *Model) enter(ctx context.Context, verb string, p points.Points) (points.Points, error) {
	if b := m.of.Before; b != nil {
		if b.Open > 0 {
			return p, arguments.Wrong(verb, math.NaN(), "the model was learnt from scaled data (%v), and points do not say whether they are scaled; say Raw() for the model of points as they were measured, or Transformed() for that of scaled ones", b)
		}
		var err error
		if p, err = b.Apply(ctx, verb, "model", p); err != nil {
			return p, err
		}
	}
	return p, m.of.Expansion.Check(verb, "model", p)
}

// bare returns an error if the model has steps and the file format has no place for them.
func (m *Model) bare(format string) error {
	switch err := m.fewer(format); {
	case err != nil:
		return err
	case m.of.Before == nil:
		return nil
	case m.of.Before.Open > 0:
		return modelError(format, 0, "the model was learnt from scaled data (%v); say Transformed() to write the model of scaled points, and scale them by the same numbers", m.of.Before)
	}
	return modelError(format, 0, "the format has no place for the steps %v; say Transformed() to write the model behind them, and do them to the points by Transform of the pipeline", m.of.Before)
}

// fewer returns an error if predictions need more of a Gaussian process than its mean.
func (m *Model) fewer(format string) error {
	if m.of.Kind < machines.ClassProcessKind {
		return nil
	}
	return modelError(format, 0, "the format has no place for a %v; take Save", m.of.Kind)
}

func (m *Model) Kernel() kernels.Kernel {
	if m.none() {
		return nil
	}
	return m.of.Kernel
}

// D returns the number of features of a point, before any steps.
func (m *Model) D() int {
	if m.none() {
		return 0
	}
	if m.of.Before != nil {
		return m.of.Before.D
	}
	return m.of.Expansion.D
}

// Columns returns the names and kinds of the columns of a raw point, without values; nil if
// the training points had no names. As Kinds of a datasets.TableReader they make a reader
// read a file as the training data were read.
func (m *Model) Columns() []datasets.Column {
	if m.none() || m.of.Before == nil {
		return nil
	}
	var list []datasets.Column
	for _, h := range m.of.Before.Columns {
		list = append(list, datasets.Column{Name: h.Name, Kind: h.Kind})
	}
	return list
}

// SupportVectors returns the number of support vectors, or of the points of a Gaussian
// process.
func (m *Model) SupportVectors() int {
	if m.none() {
		return 0
	}
	return m.of.Expansion.X.N()
}

// Classes returns the names of the classes, in the order of the columns of Probabilities;
// nil for a regression.
func (m *Model) Classes() []string {
	if m.none() {
		return nil
	}
	return slices.Clone(m.of.Classes)
}

// HasProbabilities reports whether the model is that of a fit after Calibrate.
func (m *Model) HasProbabilities() bool { return !m.none() && m.of.Curves != nil }

// String describes the model in one line.
func (m *Model) String() string {
	if m.none() {
		return arguments.NoFit("String").Error()
	}
	s := fmt.Sprintf("model of %v, %v, %d features, %d support vectors", m.of.Kind, m.of.Kernel, m.D(), m.of.Expansion.X.N())
	if len(m.of.Classes) > 0 && m.of.Kind != machines.OneClassKind {
		s += ", classes " + say.Listed(m.of.Classes)
	}
	if m.of.Curves != nil {
		s += ", probabilities"
	}
	if m.of.Threshold != nil {
		s += ", threshold " + say.Number(*m.of.Threshold)
	}
	if m.of.Before != nil {
		s += ", after " + m.of.Before.String()
	}
	if m.of.Target != nil {
		s += ", fitted to " + m.of.Target.String()
	}
	return s
}

// Decisions returns the values of all machines at m points, as m rows. A regression, one
// class and two classes have one value in a row, more classes as many as in
// svmnb.MultiFit.Decisions. The error is an *ArgumentError that names the first row with a
// wrong number of features or with NaN or infinity, or it wraps a *kernels.DataError for a
// point outside the domain of the kernel.
func (m *Model) Decisions(x datasets.Points) (_ [][]float64, err error) {
	defer guard.Caught(&err)
	return m.decisions("Decisions", points.From(x))
}

func (m *Model) decisions(verb string, p points.Points) ([][]float64, error) {
	if m.none() {
		return nil, arguments.NoFit(verb)
	}
	rows, ok := m.widened(verb, p)
	if !ok {
		p, err := m.enter(context.Background(), verb, p)
		if err != nil {
			return nil, err
		}
		if m.of.Process != nil {
			if rows, err = m.means(verb, p); err != nil {
				return nil, err
			}
		} else {
			rows = m.of.Expansion.Sums(m.of.Terms, p)
		}
	}
	if m.of.Target != nil {
		for _, row := range rows {
			row[0] = m.of.Target.Invert(row[0])
		}
	}
	return rows, nil
}

// widened returns the decision values of many points whose features take more memory than they
// do: it makes these for some points at a time. ok is false for other points and after an error.
func (m *Model) widened(verb string, p points.Points) (rows [][]float64, ok bool) {
	b := m.of.Before
	if b == nil || b.Open > 0 || m.of.Process != nil || !b.Widens(p.N()) {
		return nil, false
	}
	err := b.Blocks(context.Background(), verb, "model", p, func(_ int, p points.Points) error {
		if err := m.of.Expansion.Check(verb, "model", p); err != nil {
			return err
		}
		rows = append(rows, m.of.Expansion.Sums(m.of.Terms, p)...)
		return nil
	})
	return rows, err == nil
}

// Scores returns a score of each class at m points, as m rows in the order of Classes, for a
// model of several machines; see svmnb.MultiFit.Scores. Errors are those of Decisions, and an
// *ArgumentError for a model of one machine, whose score is that of Values.
func (m *Model) Scores(x datasets.Points) (_ [][]float64, err error) {
	defer guard.Caught(&err)
	rows, err := m.decisions("Scores", points.From(x))
	if err != nil {
		return nil, err
	}
	switch m.of.Kind {
	case machines.VotesKind, machines.RestKind, machines.JointKind:
	default:
		return nil, arguments.Wrong("Scores", math.NaN(), "a model of %v has one value at each point; say Values", m.of.Kind)
	}
	for i, values := range rows {
		rows[i] = m.of.Kind.Scheme().Scores(len(m.of.Classes), m.of.Duels, values)
	}
	return rows, nil
}

// Values returns f at m points, for a model with one machine. These are predictions in
// units of the targets for a regression or a process, and decision values for one or two
// classes. Errors are those of Decisions, and an *ArgumentError if there are several
// machines.
func (m *Model) Values(x datasets.Points) (_ []float64, err error) {
	defer guard.Caught(&err)
	return m.value("Values", points.From(x))
}

func (m *Model) value(verb string, p points.Points) ([]float64, error) {
	if m.none() {
		return nil, arguments.NoFit(verb)
	}
	if m.of.Kind == machines.CountProcessKind {
		return nil, arguments.Wrong(verb, math.NaN(), "the mean count depends on the variance of f; say gp.PosteriorOf or gp.IntervalOf, or Decisions for f")
	}
	if m.of.Kind == machines.ClassProcessKind && len(m.of.Terms) != 1 {
		return nil, arguments.Wrong(verb, float64(len(m.of.Terms)), "the model has %d classes, each with an f of its own; say gp.ProbabilityOf, or Decisions for the means of f", len(m.of.Terms))
	}
	if len(m.of.Terms) != 1 {
		return nil, arguments.Wrong(verb, float64(len(m.of.Terms)), "the model has %d machines; Decisions returns the values of all", len(m.of.Terms))
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

// Predict returns the class names of m points: the most probable class if the model has
// probabilities (see svmnb.Calibrated.Predict), otherwise the class by the decision values. A
// model of a svmnb.Thresholded uses its threshold.
// Errors are those of Decisions, and an *ArgumentError for a regression.
func (m *Model) Predict(x datasets.Points) (_ []string, err error) {
	defer guard.Caught(&err)
	return m.predict("Predict", points.From(x))
}

func (m *Model) predict(verb string, p points.Points) ([]string, error) {
	if m.none() {
		return nil, arguments.NoFit(verb)
	}
	if m.of.Classes == nil {
		return nil, arguments.Wrong(verb, math.NaN(), "a %v has no classes; say Values", m.of.Kind)
	}
	if m.of.Kind == machines.ClassProcessKind && len(m.of.Classes) > 2 {
		return nil, arguments.Wrong(verb, float64(len(m.of.Classes)), "the most probable of the classes of a Gaussian process depends on their covariance; say gp.ProbabilityOf")
	}
	rows, err := m.decisions(verb, p)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = m.of.Classes[m.winner(row)]
	}
	return names, nil
}

func (m *Model) winner(values []float64) int {
	switch {
	case m.of.Threshold != nil && m.of.Curves != nil:
		return machines.SideFrom(m.probabilities(values)[1], *m.of.Threshold)
	case m.of.Threshold != nil:
		return machines.SideFrom(values[0], *m.of.Threshold)
	case m.of.Curves != nil:
		p := m.probabilities(values)
		return slices.Index(p, slices.Max(p))
	case m.of.Kind == machines.ClassProcessKind:
		if values[0] > 0 {
			return 1
		}
		return 0
	case m.of.Kind == machines.OneClassKind || m.of.Kind == machines.TwoClassKind:
		if values[0] >= -m.of.Line {
			return 1
		}
		return 0
	}
	return m.of.Kind.Scheme().Winner(len(m.of.Classes), m.of.Duels, values)
}

func (m *Model) probabilities(values []float64) []float64 {
	if m.of.Kind == machines.JointKind {
		values = schemes.CrammerSinger.Leads(len(m.of.Classes), m.of.Duels, values)
	}
	return machines.Probabilities(len(m.of.Classes), m.of.Duels, m.of.Curves, values)
}

// Probabilities returns the probabilities of the classes at m points, m rows in the order
// of Classes. Each row has the sum 1. Errors are those of Decisions, and an *ArgumentError
// for a model without probabilities.
func (m *Model) Probabilities(x datasets.Points) (_ [][]float64, err error) {
	defer guard.Caught(&err)
	return m.probable("Probabilities", points.From(x))
}

func (m *Model) probable(verb string, p points.Points) ([][]float64, error) {
	if m.none() {
		return nil, arguments.NoFit(verb)
	}
	if m.of.Curves == nil {
		if m.of.Kind == machines.ClassProcessKind {
			return nil, arguments.Wrong(verb, math.NaN(), "the probabilities of a Gaussian process take a factor of its matrix; say gp.ProbabilityOf")
		}
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

// Error says what is wrong with a model file, or why a format cannot hold a model.
type Error struct {
	Format string // such as "svmnb", "LIBSVM", "LIBLINEAR" or "Go"
	Line   int    // counted from 1; 0 if the error is not about a line
	Msg    string // what is wrong and what to do
	Err    error  // the cause, if it is another error
}

func (e *Error) Error() string {
	s := "svmnb: " + e.Format + " model"
	if e.Line > 0 {
		s += fmt.Sprintf(", line %d", e.Line)
	}
	return s + ": " + e.Msg
}

// Unwrap returns the cause, such as a *kernels.ParamError.
func (e *Error) Unwrap() error { return e.Err }

func modelError(format string, line int, msg string, args ...any) *Error {
	return &Error{Format: format, Line: line, Msg: fmt.Sprintf(msg, args...)}
}

// complete checks a model that was read, without trusting any of it, and computes the
// fields that the file does not have, such as the weights of linear machines.
func (m *Model) complete(format string) error {
	bad := func(msg string, args ...any) error { return modelError(format, 0, msg, args...) }
	count := 1
	switch k := len(m.of.Classes); m.of.Kind {
	case machines.RegressionKind, machines.ProcessKind, machines.CountProcessKind, machines.NeighbourKind:
		if k != 0 || len(m.of.Duels) != 0 || m.of.Curves != nil {
			return bad("a %v has no classes and no probabilities", m.of.Kind)
		}
	case machines.ClassProcessKind:
		if k < 2 || len(m.of.Duels) != 0 || m.of.Curves != nil {
			return bad("a %v has two classes or more, and its own probabilities", m.of.Kind)
		}
		if k > 2 {
			count = k
		}
	case machines.OneClassKind, machines.TwoClassKind:
		if k != 2 || !slices.Equal(m.of.Duels, [][2]int{{1, 0}}) || m.of.Kind == machines.OneClassKind && m.of.Curves != nil {
			return bad("the classes are not those of a model of %v", m.of.Kind)
		}
		if !(m.of.Line >= 0 && m.of.Line <= math.MaxFloat64) || m.of.Kind == machines.TwoClassKind && m.of.Line != 0 {
			return bad("the line of a model of %v is %v wide; it is a number ≥ 0, of two classes 0", m.of.Kind, m.of.Line)
		}
	default:
		if k < 2 || k > 1<<15 {
			return bad("there are %d classes", k)
		}
		want := schemes.AllOthers(k)
		if m.of.Kind == machines.VotesKind {
			want = schemes.AllPairs(k, len(m.of.Terms))
		}
		if count = len(want); count == 0 || !slices.Equal(m.of.Duels, want) {
			return bad("the machines are not those of %d classes, %v", k, m.of.Kind)
		}
	}
	if t := m.of.Threshold; t != nil && !(points.AllFinite([]float64{*t}) && len(m.of.Classes) == 2 && (m.of.Kind == machines.TwoClassKind || m.of.Curves != nil)) {
		return bad("a threshold is a finite number for a model of two classes that have one score")
	}
	if len(m.of.Terms) != count {
		return bad("there are %d machines; want %d", len(m.of.Terms), count)
	}
	seen := map[string]bool{}
	for _, name := range m.of.Classes {
		if seen[name] {
			return bad("two classes are called %s", say.Class(name))
		}
		seen[name] = true
	}
	if len(m.of.Targets) != len(m.of.Classes) || !points.AllFinite(m.of.Targets) {
		return bad("each class needs a target that is a finite number")
	}
	if m.of.Expansion.D < 1 || m.of.Expansion.D > machines.MostNumbers {
		return bad("there are %d features; want 1 to %d", m.of.Expansion.D, machines.MostNumbers)
	}
	if m.of.Kernel == nil {
		return bad("there is no kernel")
	}
	for i, x := range m.of.Expansion.X.X {
		if len(x) != m.of.Expansion.D {
			return bad("support vector %d has %d features; want %d", i, len(x), m.of.Expansion.D)
		}
	}
	if s := m.of.Expansion.X.Sparse; s != nil && (s.D != m.of.Expansion.D || len(s.Start) == 0) {
		return bad("the support vectors have %d features; want %d", s.D, m.of.Expansion.D)
	}
	if _, ok := m.of.Kernel.(kernels.Domain); ok && m.of.Expansion.X.Sparse != nil && m.of.Expansion.D > machines.MostNumbers/32 {
		return bad("%d features are too many for the kernel %v, which looks at points written out", m.of.Expansion.D, say.Brief(m.of.Kernel.String()))
	}
	var err error
	if m.of.Expansion.X.Sparse != nil {
		err = kernels.Against(m.of.Kernel, nil).CheckSparse(*m.of.Expansion.X.Sparse)
	} else {
		err = kernels.Against(m.of.Kernel, nil).Check(m.of.Expansion.X.X)
	}
	if err != nil {
		e := modelError(format, 0, "support vectors: %v", err)
		e.Err = err
		return e
	}
	m.of.Expansion.Basis, m.of.Expansion.Kernel = m.of.Expansion.X.Late(m.of.Kernel), m.of.Kernel
	for k := range m.of.Terms {
		t := &m.of.Terms[k]
		if len(t.Coef) != m.of.Expansion.X.N() || !points.AllFinite(t.Coef) || !points.AllFinite([]float64{t.B}) {
			return bad("machine %d: want a finite coefficient for each support vector, and a finite bias", k)
		}
	}
	if m.of.Curves != nil && len(m.of.Curves) != count {
		return bad("there are %d curves of probabilities for %d machines", len(m.of.Curves), count)
	}
	for k, c := range m.of.Curves {
		fine := false
		switch c := c.(type) {
		case calibrate.Sigmoid:
			fine = points.AllFinite([]float64{c.A, c.B})
		case calibrate.Steps:
			fine = len(c.X) > 0 && len(c.X) == len(c.P) && points.AllFinite(c.X) && slices.IsSorted(c.X) && slices.IsSorted(c.P) && c.P[0] >= 0 && c.P[len(c.P)-1] <= 1
			for i := 1; fine && i < len(c.X); i++ {
				fine = c.X[i-1] < c.X[i]
			}
		}
		if !fine {
			return bad("machine %d: the curve of probabilities is not one: its numbers must be finite, increasing and between 0 and 1", k)
		}
	}
	if (m.of.Process != nil) != (m.of.Kind >= machines.ProcessKind) {
		return bad("the kind is %v, and the numbers of a Gaussian process do not go with it, or are missing", m.of.Kind)
	}
	if m.of.Process != nil {
		if wrong := completeProcess(m.of.Process, m); wrong != "" {
			return bad("%s", wrong)
		}
		return nil // a process predicts by its kernel, so it needs no weights
	}
	if m.of.Kernel != kernels.Kernel(kernels.Linear()) {
		return nil
	}
	if m.of.Expansion.D > machines.MostNumbers/count {
		return bad("%d machines of %d features need more than 1 GiB", count, m.of.Expansion.D)
	}
	for k := range m.of.Terms {
		t := &m.of.Terms[k]
		t.W = make([]float64, m.of.Expansion.D)
		for j, c := range t.Coef {
			if c == 0 {
				continue
			}
			m.of.Expansion.X.Add(t.W, j, c)
		}
	}
	return nil
}

func (m *Model) none() bool { return m == nil || m.of.Kernel == nil || len(m.of.Terms) == 0 }
