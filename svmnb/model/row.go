package model

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/schemes"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
)

// Row predicts one raw row at a time, and takes no memory for that: a service makes one for
// each goroutine and uses it again and again.
//
//	row, err := m.NewRow()
//	row.Clear()
//	row.Number("age", 34)
//	row.Text("city", "Bern")
//	class, err := row.Class()
//
// Its answers equal those of the model's methods up to rounding. A value that is not set is
// missing. Columns are those of the table that the model was trained on; points without
// names have the columns x1, x2 and so on. One goroutine at a time may use a Row.
type Row struct {
	m       *Model
	program *steps.Program
	memory  *steps.Memory
	columns map[string]steps.Slot

	x, k     []float64   // the features, and their kernel values with the support vectors
	point    [][]float64 // x as the only one of some points
	values   []float64   // of the machines
	votes    []int
	probable []float64
	wrong    error // what a setter was given
}

// NewRow returns memory for predictions of single rows. The error is an *ArgumentError if
// the pipeline has a step of your own, or texts of more than 65,536 features.
func (m *Model) NewRow() (_ *Row, err error) {
	defer guard.Caught(&err)
	if m.none() {
		return nil, arguments.NoFit("NewRow")
	}
	before := m.of.Before
	if before == nil {
		before = &steps.Passage{D: m.of.Expansion.D}
	}
	if before.Open > 0 {
		return nil, arguments.Wrong("NewRow", math.NaN(), "the model was learnt from scaled data (%v), and points do not say whether they are scaled; say Raw() for the model of points as they were measured, or Transformed() for that of scaled ones", before)
	}
	if m.of.Kind >= machines.ClassProcessKind {
		if m.of.Kind == machines.NeighbourKind {
			return nil, arguments.Wrong("NewRow", math.NaN(), "a %v has no prediction row by row; say Values, gp.PosteriorOf or gp.IntervalOf of many points", m.of.Kind)
		}
		return nil, arguments.Wrong("NewRow", math.NaN(), "a %v predicts from its variances; say gp.ProbabilityOf or gp.IntervalOf", m.of.Kind)
	}
	program, err := before.Compile()
	if err != nil {
		return nil, err
	}
	r := &Row{m: m, program: program, memory: program.Memory(), columns: map[string]steps.Slot{}}
	for _, c := range program.Columns {
		r.columns[c.Name] = c
	}
	r.x, r.k = make([]float64, len(program.Out)), make([]float64, m.of.Expansion.X.N())
	r.values, r.votes, r.probable = make([]float64, len(m.of.Terms)), make([]int, len(m.of.Classes)), make([]float64, len(m.of.Classes))
	r.point = [][]float64{r.x}
	r.Clear()
	return r, nil
}

// Clear makes all values missing.
func (r *Row) Clear() {
	if r.none() {
		return
	}
	r.wrong = nil
	for _, c := range r.program.Columns {
		if c.Kind == datasets.Number || c.Kind == datasets.Time {
			r.memory.Numbers[c.At()] = math.NaN()
		} else {
			r.memory.Texts[c.At()] = ""
		}
	}
}

// slot returns the slot of a column of one of two kinds. A fault is told by the next
// prediction.
func (r *Row) slot(call, column string, kind, or datasets.Kind) (steps.Slot, bool) {
	if r.none() {
		return steps.Slot{}, false
	}
	c, ok := r.columns[column]
	switch {
	case !ok:
		r.fault(arguments.Wrong(call, math.NaN(), "there is no column %q; the columns are %s", column, r.names()))
	case c.Kind != kind && c.Kind != or:
		r.fault(arguments.Wrong(call, math.NaN(), "column %s is a %v", column, c.Kind))
		ok = false
	}
	return c, ok
}

func (r *Row) fault(err error) {
	if r.wrong == nil {
		r.wrong = err
	}
}

func (r *Row) names() string {
	var names []string
	for _, c := range r.program.Columns {
		names = append(names, c.Name)
	}
	return say.Listed(names)
}

// Number sets the value of a column of numbers; NaN makes it missing.
func (r *Row) Number(column string, v float64) {
	if c, ok := r.slot("Number", column, datasets.Number, datasets.Number); ok {
		r.memory.Numbers[c.At()] = v
	}
}

// Text sets the value of a column of categories or texts; "" makes it missing.
func (r *Row) Text(column, s string) {
	if c, ok := r.slot("Text", column, datasets.Category, datasets.Text); ok {
		r.memory.Texts[c.At()] = s
	}
}

// Time sets the value of a column of times.
func (r *Row) Time(column string, t time.Time) {
	if c, ok := r.slot("Time", column, datasets.Time, datasets.Time); ok {
		r.memory.Numbers[c.At()] = datasets.SecondsOf(t)
	}
}

// Numbers sets all columns of a model whose columns are numbers, in their order.
func (r *Row) Numbers(x ...float64) {
	if r.none() {
		return
	}
	if len(x) != len(r.program.Columns) {
		r.fault(arguments.Wrong("Numbers", float64(len(x)), "there are %s for %s", say.Several(len(x), "number"), say.Several(len(r.program.Columns), "column")))
		return
	}
	for j, c := range r.program.Columns {
		if c.Kind != datasets.Number {
			r.fault(arguments.Wrong("Numbers", math.NaN(), "column %s is a %v", c.Name, c.Kind))
			return
		}
		r.memory.Numbers[c.At()] = x[j]
	}
}

// Set sets the row from a record such as JSON has: numbers, strings, booleans, times, and
// nil or no entry for a missing value. A string is read as a number or a time where the
// column has these. Entries that are no columns are ignored.
func (r *Row) Set(record map[string]any) {
	if r.none() {
		return
	}
	r.Clear()
	for name, v := range record {
		c, ok := r.columns[name]
		if !ok || v == nil {
			continue
		}
		if f, isFloat := v.(float64); isFloat && c.Kind == datasets.Number {
			r.memory.Numbers[c.At()] = f
			continue
		}
		one := datasets.TableOfRecords([]map[string]any{{name: v}}).As(c.Kind, name)
		switch {
		case one.Check() != nil:
			r.fault(arguments.Wrong("Set", math.NaN(), "column %s is a %v, and %v is none", name, c.Kind, v))
		case c.Kind == datasets.Number || c.Kind == datasets.Time:
			r.memory.Numbers[c.At()] = one.Columns[0].Values[0]
		default:
			r.memory.Texts[c.At()] = one.Columns[0].Format(0)
		}
	}
}

// decide computes the values of the machines.
func (r *Row) decide(call string) error {
	if r.none() {
		return arguments.NoFit(call)
	}
	if r.wrong != nil {
		return r.wrong
	}
	if err := r.program.Run(r.memory); err != nil {
		return err
	}
	for k, at := range r.program.Out {
		if r.x[k] = r.memory.Numbers[at]; r.x[k]-r.x[k] != 0 {
			return r.notFinite(call, k)
		}
	}
	e := &r.m.of.Expansion
	if k, ok := e.Kernel.(kernels.Domain); ok {
		if err := k.CheckPoints(r.point); err != nil {
			return err
		}
	}
	linear := r.m.of.Terms[0].W != nil
	if !linear {
		r.k = e.Basis().Row(r.k, r.x)
	}
	for i := range r.values {
		t := &r.m.of.Terms[i]
		if linear {
			r.values[i] = t.B + vec.Dot(t.W, r.x)
		} else {
			r.values[i] = t.B + vec.Dot(t.Coef, r.k)
		}
	}
	if p := r.m.of.Process; p != nil {
		if p.Beta != nil {
			r.values[0] += p.Trend(r.x)
		}
		r.values[0] = p.Value(r.values[0])
	}
	r.values[0] = r.m.of.Target.Invert(r.values[0])
	return nil
}

// notFinite names the column whose value is missing or infinite, or else the feature.
func (r *Row) notFinite(call string, feature int) error {
	for j, c := range r.program.Columns {
		if c.Kind != datasets.Number && c.Kind != datasets.Time {
			continue
		}
		if v := r.memory.Numbers[c.At()]; math.IsInf(v, 0) {
			return arguments.At(call, -1, j, v, "the value of column %s is %v; predictions need finite numbers", c.Name, v)
		} else if math.IsNaN(v) {
			return arguments.At(call, -1, j, v, "the value of column %s is missing, and no step fills it; set it, or train with transform.Impute() or transform.Encode()", c.Name)
		}
	}
	return arguments.At(call, -1, feature, r.x[feature], "feature %s is %v; predictions need finite numbers", strconv.Itoa(feature), r.x[feature])
}

// Value returns f of a model with one machine; see [Model.Values].
func (r *Row) Value() (float64, error) {
	if err := r.decide("Value"); err != nil {
		return 0, err
	}
	if len(r.values) != 1 {
		return 0, arguments.Wrong("Value", float64(len(r.values)), "the model has %d machines; say Class", len(r.values))
	}
	return r.values[0], nil
}

// Class returns the name of the class that the model predicts; see [Model.Predict].
func (r *Row) Class() (string, error) {
	if err := r.decide("Class"); err != nil {
		return "", err
	}
	if r.m.of.Classes == nil {
		return "", arguments.Wrong("Class", math.NaN(), "a %v has no classes; say Value", r.m.of.Kind)
	}
	return r.m.of.Classes[r.winner()], nil
}

func (r *Row) winner() int {
	of := &r.m.of
	switch {
	case of.Curves != nil && of.Threshold != nil:
		r.probabilities()
		return machines.SideFrom(r.probable[1], *of.Threshold)
	case of.Curves != nil:
		r.probabilities()
		return slices.Index(r.probable, slices.Max(r.probable))
	case of.Kind == machines.VotesKind:
		clear(r.votes)
		return schemes.Votes(r.votes, of.Duels, r.values)
	}
	return r.m.winner(r.values)
}

// Probabilities returns the probabilities of the classes, in the order of [Model.Classes].
// They are good until the next call. With more than two classes the call takes memory.
func (r *Row) Probabilities() ([]float64, error) {
	if err := r.decide("Probabilities"); err != nil {
		return nil, err
	}
	if r.m.of.Curves == nil {
		return nil, arguments.Wrong("Probabilities", math.NaN(), "the model has no probabilities; take the model of a fit after Calibrate")
	}
	r.probabilities()
	return r.probable, nil
}

func (r *Row) probabilities() {
	of := &r.m.of
	if len(of.Classes) == 2 && of.Duels[0][1] >= 0 && of.Kind != machines.JointKind {
		machines.Both(r.probable, of.Duels[0], of.Curves[0].At(r.values[0]))
		return
	}
	copy(r.probable, r.m.probabilities(r.values))
}

func (r *Row) none() bool { return r == nil || r.m.none() || r.program == nil }
