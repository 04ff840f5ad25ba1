package transform

import (
	"math"
	"slices"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
)

// Encoding is a [TableStep] that replaces all columns by numbers; see [Encode].
type Encoding struct{}

// Encode replaces every column by numbers, in the usual way for its kind, so that a learner
// can follow at once:
//
//   - A missing number is replaced by the median. Numbers are scaled to mean 0 and standard
//     deviation 1.
//   - A category becomes [OneHot] features. Levels with less than 1 % of the rows share a
//     feature.
//   - A time becomes the numbers of [Calendar]; the days since 1970 are scaled.
//   - A text becomes the [TfIdf] features of at most 1,000 words.
//   - If numbers or times are missing, a further feature says where.
//   - Columns with the same value in all training rows are removed.
func Encode() Encoding { return Encoding{} }

// String returns the call that makes the step.
func (Encoding) String() string { return "Encode()" }

const (
	encodedRare  = 0.01
	encodedWords = 1000
)

// FitTable implements [TableStep].
func (s Encoding) FitTable(train *datasets.Dataset) (TableTransform, error) {
	table, err := tableOf("Encode", train)
	if err != nil {
		return nil, err
	}
	t := steps.PerColumn{Call: s.String()}
	for _, c := range table.Columns {
		part := datasets.NewTable(c)
		do := func(step TableStep) error {
			of := *train
			of.Table = part
			fitted, err := step.FitTable(&of)
			if err != nil {
				return err
			}
			if part, err = fitted.ApplyTable(part); err != nil {
				return err
			}
			t.Ops = append(t.Ops, fitted.(steps.PerColumn).Ops...)
			return nil
		}
		if constant(c) {
			t.Ops = append(t.Ops, steps.ColumnOp{Column: c.Name, Drop: true})
			continue
		}
		var err error
		switch c.Kind {
		case datasets.Number:
			err = do(ImputeBy(Median).Indicate())
		case datasets.Time:
			if err = do(ImputeBy(Median).Indicate()); err == nil {
				err = do(Calendar())
			}
		case datasets.Category:
			err = do(OneHot().Rare(encodedRare).Unknown(IsOther))
		case datasets.Text:
			err = do(TfIdf(encodedWords))
		}
		if err != nil {
			return nil, err
		}
		for _, made := range part.Columns {
			if made.Name == c.Name && c.Kind == datasets.Number || made.Name == c.Name+" "+steps.Days {
				t.Ops = append(t.Ops, steps.ColumnOp{Column: made.Name, Scale: scaleOf(made.Values)})
			}
		}
	}
	if len(t.Ops) == 0 || !slices.ContainsFunc(t.Ops, func(op steps.ColumnOp) bool { return !op.Drop }) {
		return nil, arguments.Wrong("Encode", math.NaN(), "every column has the same value in all training rows, so there is nothing to learn from")
	}
	return t, nil
}

// constant reports whether a column has the same value in all rows, or no value.
func constant(c datasets.Column) bool {
	if c.Kind == datasets.Vector {
		return false
	}
	for i := range c.N() {
		if c.Format(i) != c.Format(0) {
			return false
		}
	}
	return true
}

// scaleOf returns the step that standardises these values; see [datasets.FitStandard].
func scaleOf(values []float64) *steps.Scale {
	x := make([][]float64, len(values))
	for i := range x {
		x[i] = values[i : i+1]
	}
	s, err := datasets.FitStandard(&datasets.Dataset{Name: "column", X: x, Y: make([]float64, len(x))})
	if err != nil || s.Width[0] == 0 {
		return &steps.Scale{Width: 1}
	}
	return &steps.Scale{Centre: s.Centre[0], Width: s.Width[0]}
}
