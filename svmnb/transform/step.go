// Package transform has the steps of a pipeline, which change points before they are learnt
// from: scaling, missing values, categories, principal components, features of a kernel.
package transform

import "github.com/svmnb/svmnb/datasets"

// Part is a part of a selection.Pipeline: a [Step] or, at its end, a selection.Learner.
type Part interface{ String() string }

// Step is the immutable description of something that is done to points before they
// are learnt from. What it has to know of the data it learns in Fit, from training
// points alone: a pipeline inside of folds fits it anew without what is held out. An
// interrupt does not wait for Fit, nor for the Apply of the [Transform]: they run to their
// end beside what comes next, and what they return is dropped.
type Step interface {
	Part
	Fit(train *datasets.Dataset) (Transform, error)
}

// Transform is a fitted [Step]. Apply returns m new rows for the m rows of x, each
// of which depends on that row only; it changes neither x nor itself.
type Transform interface {
	Apply(x [][]float64) ([][]float64, error)
}

// SparseStep is a [Step] that sparse points can go through. Fit sees points written
// out, FitSparse those of the data set's Sparse.
type SparseStep interface {
	Step
	FitSparse(train *datasets.Dataset) (SparseTransform, error)
}

// SparseTransform is a fitted [SparseStep]. ApplySparse returns the m new points for
// the m of x, sparse or as rows: one of the two.
type SparseTransform interface {
	Transform
	ApplySparse(x datasets.CSR) (*datasets.CSR, [][]float64, error)
}

// Tunable is a [Step] with parameters that a selection.Search may set. With returns the step
// with another value; known is false for a name that it does not have.
type Tunable interface {
	Step
	With(name string, value float64) (step Step, known bool)
}
