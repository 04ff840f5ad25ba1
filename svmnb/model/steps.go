package model

import (
	"context"
	"fmt"
	"slices"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/machines"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
)

// passageJSON is the steps before the machines, in a file of [Save].
type passageJSON struct {
	Features int          `json:"features"`       // of a raw point
	Open     int          `json:"open,omitempty"` // how many of the first steps are scalings of a data set
	Steps    []stepJSON   `json:"steps"`
	Columns  []columnJSON `json:"columns,omitempty"` // of a raw point; version 4
}

type columnJSON struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// stepJSON is one fitted step. Exactly one of its fields is set.
type stepJSON struct {
	Scaler   *scalerJSON    `json:"scaler,omitempty"`
	Impute   []float64      `json:"impute,omitempty"` // the replacement for missing values, for each feature
	Gaps     []int          `json:"gaps,omitempty"`   // features for which Impute adds an indicator
	OneHot   [][]float64    `json:"onehot,omitempty"` // the values of each feature that becomes several; null for one that stays
	PCA      *pcaJSON       `json:"pca,omitempty"`
	Nystroem *nystroemJSON  `json:"nystroem,omitempty"`
	Fourier  *fourierJSON   `json:"fourier,omitempty"`
	Columns  *perColumnJSON `json:"columns,omitempty"`
	On       *chosenJSON    `json:"on,omitempty"`
}

// perColumnJSON is a step that changes columns of a table one by one.
type perColumnJSON struct {
	Call string           `json:"call"`
	Ops  []steps.ColumnOp `json:"ops"`
}

// chosenJSON is the steps for some columns of a table.
type chosenJSON struct {
	Columns []string   `json:"columns"`
	Steps   []stepJSON `json:"steps"`
}

type scalerJSON struct {
	Name   string    `json:"name"`
	Centre []float64 `json:"centre"`
	Width  []float64 `json:"width"`
	Low    float64   `json:"low"`
	High   float64   `json:"high"`
}

type pcaJSON struct {
	Mean []float64   `json:"mean"`
	Rows [][]float64 `json:"rows"`
}

type nystroemJSON struct {
	Kernel  string      `json:"kernel"`
	Vectors [][]float64 `json:"vectors,omitempty"`
	Sparse  *sparseJSON `json:"sparse,omitempty"`
	U       [][]float64 `json:"u"`
	Shift   []float64   `json:"shift,omitempty"` // of kernel principal components; version 8
}

type fourierJSON struct {
	W [][]float64 `json:"w"`
	B []float64   `json:"b"`
}

// scalers are the names of the scalers of package datasets.
var scalers = []string{"standard", "min–max", "max-abs"}

// writePassage converts p for a file. It returns a *Error for a step that the format
// cannot hold.
func writePassage(p *steps.Passage) (*passageJSON, error) {
	out := &passageJSON{Features: p.D, Open: p.Open}
	for _, c := range p.Columns {
		out.Columns = append(out.Columns, columnJSON{c.Name, c.Kind.String()})
	}
	var err error
	out.Steps, err = writeSteps(p.Steps)
	return out, err
}

func writeSteps(list []steps.Fitted) (out []stepJSON, err error) {
	for i, t := range list {
		var s stepJSON
		switch t := t.(type) {
		case steps.Scaled:
			if !slices.Contains(scalers, t.Of.Name) {
				return nil, modelError("svmnb", 0, "step %d is a scaler called %.40q, which no reader knows; give it the Name of its kind: %q", i+1, t.Of.Name, scalers)
			}
			s.Scaler = &scalerJSON{t.Of.Name, t.Of.Centre, t.Of.Width, t.Of.Low, t.Of.High}
		case steps.Imputed:
			s.Impute, s.Gaps = t.By, t.Gaps
		case steps.Indicated:
			s.OneHot = t.Values
		case steps.Projected:
			s.PCA = &pcaJSON{t.Mean, t.Rows}
		case steps.NystroemMap:
			if err := storable(t.Kernel); err != nil {
				return nil, err
			}
			s.Nystroem = &nystroemJSON{Kernel: t.Kernel.String(), Vectors: t.Marks.X, U: t.U, Shift: t.Shift}
			if x := t.Marks.Sparse; x != nil {
				s.Nystroem.Sparse = &sparseJSON{x.Start, x.Index, x.Value}
			}
		case steps.FourierMap:
			s.Fourier = &fourierJSON{t.W, t.B}
		case steps.PerColumn:
			s.Columns = &perColumnJSON{t.Call, t.Ops}
		case steps.Chosen:
			s.On = &chosenJSON{Columns: t.Columns}
			if s.On.Steps, err = writeSteps(t.Steps); err != nil {
				return nil, err
			}
		default:
			return nil, modelError("svmnb", 0, "step %d, a %T, is your own, and the file has only the steps of package svmnb; say Transformed() to save the model behind the steps, and do them to the points yourself", i+1, t)
		}
		out = append(out, s)
	}
	return out, nil
}

// storable returns an error for kernels that a file cannot hold.
func storable(k kernels.Kernel) error {
	if read, err := kernels.Parse(k.String()); err != nil || read != k {
		e := modelError("svmnb", 0, "the kernel %v cannot be read back from its text; only kernels of package kernels can be saved, and no Centred one", say.Brief(k.String()))
		e.Err = err
		return e
	}
	return nil
}

// passage checks and converts the steps before machines with d features. It trusts nothing:
// all that a step needs is in the file, so memory grows only with the file.
func (p *passageJSON) passage(d int) (*steps.Passage, error) {
	const format = "svmnb"
	fail := func(i int, msg string, args ...any) (*steps.Passage, error) {
		return nil, modelError(format, 3, "step %d: %s", i+1, fmt.Sprintf(msg, args...))
	}
	switch {
	case p.Features < 1 || p.Features > machines.MostNumbers:
		return nil, modelError(format, 3, "raw points have %d features; want 1 to %d", p.Features, machines.MostNumbers)
	case len(p.Steps) == 0 || p.Open < 0 || p.Open > len(p.Steps):
		return nil, modelError(format, 3, "%d of %d steps are scalings of the data set", p.Open, len(p.Steps))
	}
	out := &steps.Passage{Open: p.Open, D: p.Features}
	if p.Columns != nil {
		return out, p.named(out, d)
	}
	now := p.Features
	for i, s := range p.Steps {
		t, next, err := s.transform(now)
		if err != nil {
			return fail(i, "%v", err)
		}
		if _, scales := t.(steps.Scaled); !scales && i < p.Open {
			return fail(i, "it is not a scaling of a data set")
		}
		out.Steps, now = append(out.Steps, t), next
	}
	if now != d {
		return nil, modelError(format, 3, "the steps make %d features and the machines have %d", now, d)
	}
	return out, nil
}

// named reads the steps of a passage whose columns have names. It applies each step to a
// row, to learn what columns the next step gets.
func (p *passageJSON) named(out *steps.Passage, d int) error {
	const format = "svmnb"
	if len(p.Columns) != p.Features {
		return modelError(format, 3, "raw points have %d features and %d columns", p.Features, len(p.Columns))
	}
	levels := map[string]string{} // the levels of ordinal categories
	for _, s := range p.Steps {
		s.ranked(levels)
	}
	var row []datasets.Column
	for _, c := range p.Columns {
		kind := datasets.Kind(slices.Index(kindNames, c.Kind))
		if kind < 0 {
			return modelError(format, 3, "the kind %.40q of column %.40q is not known", c.Kind, c.Name)
		}
		out.Columns = append(out.Columns, steps.Heading{Name: c.Name, Kind: kind})
		one := datasets.Column{Name: c.Name, Kind: kind}
		switch kind {
		case datasets.Category:
			one.Codes = []int32{-1}
			if level, ok := levels[c.Name]; ok {
				one.Codes, one.Levels = []int32{0}, []string{level}
			}
		case datasets.Text:
			one.Texts = []string{""}
		default:
			one.Values = []float64{0}
		}
		row = append(row, one)
	}
	now := steps.Of(&datasets.Dataset{Table: datasets.NewTable(row...)})
	if err := now.Table.Check(); err != nil {
		return modelError(format, 3, "columns: %v", err)
	}
	var err error
	if out.Steps, now, err = readSteps(p.Steps, now); err != nil {
		return modelError(format, 3, "%v", err)
	}
	for i := range p.Open {
		if _, scales := out.Steps[i].(steps.Scaled); !scales {
			return modelError(format, 3, "step %d is not a scaling of a data set", i+1)
		}
	}
	if now, err = now.AsNumbers(); err != nil {
		return modelError(format, 3, "%v", err)
	}
	if made := now.D(); made != d {
		return modelError(format, 3, "the steps make %d features and the machines have %d", made, d)
	}
	return nil
}

// kindNames are the names of the kinds of columns that a raw point may have.
var kindNames = []string{datasets.Number.String(), datasets.Category.String(), datasets.Time.String(), datasets.Text.String()}

// ranked records a level of each ordinal column.
func (s stepJSON) ranked(levels map[string]string) {
	if s.Columns != nil {
		for _, op := range s.Columns.Ops {
			if op.Ordinal != nil && len(op.Ordinal.Levels) > 0 {
				levels[op.Column] = op.Ordinal.Levels[0]
			}
		}
	}
	if s.On != nil {
		for _, inner := range s.On.Steps {
			inner.ranked(levels)
		}
	}
}

// readSteps reads steps. now is a row for the first of them; the result contains the row
// after the last.
func readSteps(list []stepJSON, now steps.Points) (out []steps.Fitted, _ steps.Points, err error) {
	for i, s := range list {
		var t steps.Fitted
		switch {
		case s.Columns != nil && s.kinds() == 1:
			t, err = s.Columns.step()
		case s.On != nil && s.kinds() == 1:
			t, err = s.On.step(now)
		default:
			if now, err = now.AsNumbers(); err == nil {
				t, _, err = s.transform(now.D())
			}
		}
		if err == nil {
			now, err = steps.Through(context.Background(), now, tolerant(t))
		}
		if err != nil {
			return nil, now, fmt.Errorf("step %d: %w", i+1, err)
		}
		out = append(out, t)
	}
	return out, now, nil
}

// tolerant returns the step without the refusal of unknown levels, since the row that shows
// how many features the steps make has no levels of the training data.
func tolerant(t steps.Fitted) steps.Fitted {
	switch t := t.(type) {
	case steps.PerColumn:
		t.Ops = slices.Clone(t.Ops)
		for i, op := range t.Ops {
			if op.OneHot != nil {
				known := *op.OneHot
				known.Unknown = steps.UnknownIsNone
				t.Ops[i].OneHot = &known
			}
		}
		return t
	case steps.Chosen:
		t.Steps = slices.Clone(t.Steps)
		for i, inner := range t.Steps {
			t.Steps[i] = tolerant(inner)
		}
		return t
	}
	return t
}

func (s *chosenJSON) step(now steps.Points) (steps.Fitted, error) {
	now, err := now.AsTable()
	if err != nil {
		return nil, err
	}
	part := now.Table.Only(s.Columns...)
	if err := part.Check(); err != nil {
		return nil, err
	}
	t := steps.Chosen{Columns: s.Columns}
	t.Steps, _, err = readSteps(s.Steps, steps.Of(&datasets.Dataset{Table: part}))
	return t, err
}

func (s *perColumnJSON) step() (steps.Fitted, error) {
	for _, op := range s.Ops {
		if err := op.Check(); err != nil {
			return nil, fmt.Errorf("column %.40q: %w", op.Column, err)
		}
	}
	return steps.PerColumn{Call: s.Call, Ops: s.Ops}, nil
}

// kinds returns how many fields of s are set.
func (s stepJSON) kinds() int {
	kinds := 0
	for _, is := range []bool{s.Scaler != nil, s.Impute != nil, s.OneHot != nil, s.PCA != nil, s.Nystroem != nil, s.Fourier != nil, s.Columns != nil, s.On != nil} {
		if is {
			kinds++
		}
	}
	return kinds
}

// transform converts the step for points with d features, and returns how many features it
// makes.
func (s stepJSON) transform(d int) (t steps.Fitted, next int, err error) {
	if kinds := s.kinds(); kinds != 1 {
		return nil, 0, fmt.Errorf("it is %d steps at once; want one", kinds)
	}
	if s.Columns != nil || s.On != nil {
		return nil, 0, fmt.Errorf("it is for columns, which have no names")
	}
	rectangle := func(rows [][]float64, columns int) error {
		if len(rows) == 0 {
			return fmt.Errorf("it makes no features")
		}
		for _, row := range rows {
			if len(row) != columns || !points.AllFinite(row) {
				return fmt.Errorf("want rows of %d finite numbers", columns)
			}
		}
		return nil
	}
	switch {
	case s.Scaler != nil:
		of := &datasets.Scaler{Name: s.Scaler.Name, Centre: s.Scaler.Centre, Width: s.Scaler.Width, Low: s.Scaler.Low, High: s.Scaler.High}
		if err := of.Check(d); err != nil {
			return nil, 0, err
		}
		if !slices.Contains(scalers, of.Name) {
			return nil, 0, fmt.Errorf("the scaler %.40q is not known", of.Name)
		}
		return steps.Scaled{Of: of}, d, nil
	case s.Impute != nil:
		for _, j := range s.Gaps {
			if j < 0 || j >= d {
				return nil, 0, fmt.Errorf("there is no feature %d", j)
			}
		}
		return steps.Imputed{By: s.Impute, Gaps: s.Gaps}, d + len(s.Gaps), rectangle([][]float64{s.Impute}, d)
	case s.OneHot != nil:
		if len(s.OneHot) != d {
			return nil, 0, fmt.Errorf("there are categories of %d features; want %d", len(s.OneHot), d)
		}
		for _, values := range s.OneHot {
			if values == nil {
				next++
				continue
			}
			next += len(values)
			if len(values) > steps.MostValues || !points.AllFinite(values) || !slices.IsSorted(values) {
				return nil, 0, fmt.Errorf("want at most %d values of a category, finite and in order", steps.MostValues)
			}
		}
		if next == 0 {
			return nil, 0, fmt.Errorf("it makes no features")
		}
		return steps.Indicated{Values: s.OneHot}, next, nil
	case s.PCA != nil:
		if err := rectangle([][]float64{s.PCA.Mean}, d); err != nil {
			return nil, 0, err
		}
		return steps.Projected{Mean: s.PCA.Mean, Rows: s.PCA.Rows}, len(s.PCA.Rows), rectangle(s.PCA.Rows, d)
	case s.Nystroem != nil:
		return s.Nystroem.transform(d, rectangle)
	}
	f := s.Fourier
	if len(f.B) != len(f.W) || !points.AllFinite(f.B) {
		return nil, 0, fmt.Errorf("there are %d phases of %d features; want a finite one for each", len(f.B), len(f.W))
	}
	return steps.FourierMap{W: f.W, B: f.B}, len(f.W), rectangle(f.W, d)
}

func (s *nystroemJSON) transform(d int, rectangle func(rows [][]float64, columns int) error) (steps.Fitted, int, error) {
	k, err := kernels.Parse(s.Kernel)
	if err != nil {
		return nil, 0, err
	}
	marks := points.Rows(s.Vectors)
	if s.Sparse != nil {
		if s.Vectors != nil {
			return nil, 0, fmt.Errorf("the landmarks are given twice")
		}
		marks = points.Points{Sparse: &kernels.CSR{Start: s.Sparse.Start, Index: s.Sparse.Index, Value: s.Sparse.Value, D: d}}
		if len(s.Sparse.Start) == 0 {
			return nil, 0, fmt.Errorf("there are no landmarks")
		}
		if _, ok := k.(kernels.Domain); ok && d > machines.MostNumbers/32 {
			return nil, 0, fmt.Errorf("%d features are too many for the kernel %v, which looks at points written out", d, say.Brief(k.String()))
		}
		err = kernels.Against(k, nil).CheckSparse(*marks.Sparse)
	} else {
		if err = rectangle(s.Vectors, d); err == nil {
			err = kernels.Against(k, nil).Check(s.Vectors)
		}
	}
	if err != nil {
		return nil, 0, fmt.Errorf("landmarks: %w", err)
	}
	if err := rectangle(s.U, marks.N()); err != nil {
		return nil, 0, err
	}
	if s.Shift != nil && (len(s.Shift) != len(s.U) || !points.AllFinite(s.Shift)) {
		return nil, 0, fmt.Errorf("there are %d shifts of %d components; want a finite one for each", len(s.Shift), len(s.U))
	}
	return steps.NystroemMap{Basis: marks.Basis(k), U: s.U, Shift: s.Shift, Marks: marks, Kernel: k}, len(s.U), nil
}

// shifted reports whether one of the steps is that of kernel principal components.
func shifted(list []stepJSON) bool {
	return slices.ContainsFunc(list, func(s stepJSON) bool {
		return s.Nystroem != nil && s.Nystroem.Shift != nil || s.On != nil && shifted(s.On.Steps)
	})
}
