package transform

import (
	"math"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
)

// Ranking is a [TableStep] that replaces a category by the number of its level; see
// [Ordinal].
type Ranking struct{}

// Ordinal replaces every category by the number of its level, counted from 0, in the order
// that the method Order of the table has set. A missing level stays missing. A level that
// does not occur in training is an error.
func Ordinal() Ranking { return Ranking{} }

// String returns the call that makes the step.
func (Ranking) String() string { return "Ordinal()" }

// FitTable implements [TableStep].
func (s Ranking) FitTable(train *datasets.Dataset) (TableTransform, error) {
	table, err := tableOf("Ordinal", train)
	if err != nil {
		return nil, err
	}
	t := steps.PerColumn{Call: s.String()}
	for _, c := range table.Columns {
		if c.Kind == datasets.Category {
			t.Ops = append(t.Ops, steps.ColumnOp{Column: c.Name, Ordinal: &steps.Ordinal{Levels: c.Levels}})
		}
	}
	if len(t.Ops) == 0 {
		return nil, arguments.Wrong("Ordinal", math.NaN(), "no column is a category; say As(datasets.Category, names...) of the table")
	}
	return t, nil
}
