package transform

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
)

// Chosen are the chosen columns of a table; see [On] and [OnKind].
type Chosen struct {
	names []string
	kind  datasets.Kind
}

// On chooses columns by name. Do says which steps are applied to them:
//
//	transform.On("age", "income").Do(transform.Impute(), transform.Standardise())
//
// The result of the steps takes the place of the first of these columns. All other columns
// stay as they are.
func On(names ...string) Chosen { return Chosen{names: names} }

// OnKind chooses all columns of a kind, such as datasets.Number.
func OnKind(kind datasets.Kind) Chosen { return Chosen{kind: kind} }

// Do returns the step that applies these steps, one after the other, to the chosen columns.
func (c Chosen) Do(steps ...Part) ColumnSteps { return ColumnSteps{c, steps} }

// ColumnSteps is a [TableStep] that applies steps to some columns; see [On].
type ColumnSteps struct {
	on    Chosen
	steps []Part
}

// String returns the call that makes the step.
func (s ColumnSteps) String() string {
	var list []string
	for _, step := range s.steps {
		list = append(list, step.String())
	}
	on := "On(" + steps.Quoted(s.on.names) + ")"
	if s.on.names == nil {
		on = fmt.Sprintf("OnKind(%v)", s.on.kind)
	}
	return on + ".Do(" + strings.Join(list, ", ") + ")"
}

// FitTable implements [TableStep].
func (s ColumnSteps) FitTable(train *datasets.Dataset) (TableTransform, error) {
	table, err := tableOf("On", train)
	if err != nil {
		return nil, err
	}
	t := steps.Chosen{Columns: s.on.names}
	if s.on.names == nil {
		for _, c := range table.Columns {
			if c.Kind == s.on.kind {
				t.Columns = append(t.Columns, c.Name)
			}
		}
	}
	if len(t.Columns) == 0 {
		return nil, arguments.Wrong("On", math.NaN(), "there is no column for %v; the columns are %s", s, steps.Quoted(table.Names()))
	}
	part := table.Only(t.Columns...)
	if err := part.Check(); err != nil {
		return nil, err
	}
	now := steps.Points{Points: points.Points{Table: part}}
	for _, step := range s.steps {
		fitted, err := Fit(context.Background(), step, now.In(train))
		if err == nil {
			now, err = steps.Through(context.Background(), now, fitted)
		}
		if err != nil {
			return nil, fmt.Errorf("%v: %w", step, err)
		}
		t.Steps = append(t.Steps, fitted)
	}
	_, err = t.Put(table, now)
	return t, err
}

// With implements [Tunable]. It sets the parameter of the first step that has it.
func (s ColumnSteps) With(name string, value float64) (Part, bool) {
	for i, step := range s.steps {
		if t, ok := step.(Tunable); ok {
			if changed, known := t.With(name, value); known {
				s.steps = slices.Clone(s.steps)
				s.steps[i] = changed
				return s, true
			}
		}
	}
	return s, false
}
