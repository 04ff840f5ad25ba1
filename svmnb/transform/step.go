// Package transform has the steps of a pipeline, which transform points before training and
// prediction: scaling, missing values, categories, principal components, features of a
// kernel.
package transform

import (
	"context"
	"fmt"
	"math"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/panics"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
)

// Part is a part of a selection.Pipeline: a [Step] or, at the end, a selection.Learner.
type Part interface{ String() string }

// Step is the immutable description of a transformation of points. Fit computes what the
// transformation needs of the data, from training points only: within folds, a pipeline
// fits the step again without the held-out points. An interrupt does not wait for Fit or
// for Apply of the [Transform]; they go on in another goroutine, and their results are
// dropped.
type Step interface {
	Part
	Fit(train *datasets.Dataset) (Transform, error)
}

// Transform is a fitted [Step]. Apply returns m new rows for the m rows of x, each computed
// from its own row only. It changes neither x nor the Transform.
type Transform interface {
	Apply(x [][]float64) ([][]float64, error)
}

// SparseStep is a [Step] that can transform sparse points. Fit is called with dense points,
// FitSparse with sparse ones (the data set's field Sparse).
type SparseStep interface {
	Step
	FitSparse(train *datasets.Dataset) (SparseTransform, error)
}

// SparseTransform is a fitted [SparseStep]. ApplySparse returns m new points for the m
// points of x, either sparse or as dense rows.
type SparseTransform interface {
	Transform
	ApplySparse(x datasets.CSR) (*datasets.CSR, [][]float64, error)
}

// TableStep is a step for the named columns of a table, which may be of any kind. If it is
// also a [Step], Fit is for points without names.
type TableStep interface {
	Part
	FitTable(train *datasets.Dataset) (TableTransform, error) // the points of train are its Table
}

// TableTransform is a fitted [TableStep]. ApplyTable returns a table with the same number
// of rows, each computed from its own row only. It changes neither t nor the
// TableTransform.
type TableTransform interface {
	ApplyTable(t *datasets.Table) (*datasets.Table, error)
}

// Tunable is a step with parameters that a selection.Search can set. With returns the step
// with another value of a parameter; known is false if the step has no parameter of this
// name.
type Tunable interface {
	Part
	With(name string, value float64) (step Part, known bool)
}

// Fit fits a step to training points, as a pipeline does: a [TableStep] to the columns of a
// table, a [Step] to rows, a [SparseStep] to sparse points. If necessary it converts rows
// to a table, or a table of numbers to rows.
func Fit(ctx context.Context, step Part, train *datasets.Dataset) (steps.Fitted, error) {
	if err := arguments.Given(ctx, "Fit"); err != nil {
		return nil, err
	}
	if err := steps.CheckMissing(train); err != nil {
		return nil, err
	}
	return guard.UnlessDone(ctx, func() (_ steps.Fitted, err error) {
		defer panics.Recover(&err, func() string { return fmt.Sprintf("the step %v", step) })
		rows, forRows := step.(Step)
		if forTable, ok := step.(TableStep); ok && (train.Table != nil || !forRows) {
			p, err := steps.Of(train).AsTable()
			if err != nil {
				return nil, err
			}
			return forTable.FitTable(p.In(train))
		}
		if !forRows {
			return nil, arguments.Wrong("Pipe", math.NaN(), "%v, a %T, is no step", step, step)
		}
		p, err := steps.Of(train).AsNumbers()
		if err != nil {
			return nil, err
		}
		train := p.In(train)
		if train.Sparse == nil {
			return rows.Fit(train)
		}
		sparse, ok := step.(SparseStep)
		if !ok {
			return nil, arguments.Wrong("Pipe", math.NaN(), "the points are sparse, and the step needs them written out; write them out by Dense() of the data set, or take MaxAbs(), RandomFourier or Nystroem, which take sparse points")
		}
		return sparse.FitSparse(train)
	})
}

// tableOf returns the table to which a step is fitted.
func tableOf(call string, train *datasets.Dataset) (*datasets.Table, error) {
	if train == nil || train.Table == nil {
		return nil, arguments.Wrong(call, math.NaN(), "the training data are no table; a pipeline makes one of rows")
	}
	return train.Table, train.Table.Check()
}
