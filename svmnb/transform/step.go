// Package transform has the steps of a pipeline, which transform points before training and
// prediction: scaling, missing values, categories, principal components, features of a
// kernel.
package transform

import "github.com/svmnb/svmnb/datasets"

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

// Tunable is a [Step] with parameters that a selection.Search can set. With returns the
// step with another value of a parameter; known is false if the step has no parameter of
// this name.
type Tunable interface {
	Step
	With(name string, value float64) (step Step, known bool)
}
