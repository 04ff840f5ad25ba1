// Package svmnb describes a kernel machine in one fluent line, solves it,
// certifies the answer and shows it in a notebook.
//
//	fit := svmnb.Classify(datasets.Moons(200, 0.15, 42)).
//		Kernel(kernels.RBF(0.5)).C(10).SMO().MustFit()
//	fit.Show(svmnb.Margins, svmnb.KKT, svmnb.Gap)
//
//	svmnb.Regress(datasets.Sinc(100, 0.1, 1)).
//		Kernel(kernels.RBF(1)).C(10).Epsilon(0.1).SMO().MustFit().Show()
//
// The chain reads: data, problem, solver, terminal verb. Everything before the
// verb is a value: it can be stored, forked, printed and compared, and nothing
// is computed until Fit, MustFit or Keep; see [Classifier] and [Regressor].
package svmnb

import "github.com/svmnb/svmnb/svmnb/internal/arguments"

// ArgumentError says which argument of a fluent call is wrong: Call is the verb, such as
// "C" or "Predict"; Row and Column are the offending places, −1 when none is meant; Value
// is the offending value, where there is one; Msg says what is wrong and what to do.
type ArgumentError = arguments.Error
