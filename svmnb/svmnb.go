// Package svmnb describes a kernel machine in one chain of calls, solves it, certifies the
// answer and shows it in a notebook.
//
//	fit := svmnb.Classify(datasets.Moons(200, 0.15, 42)).
//		Kernel(kernels.RBF(0.5)).C(10).SMO().MustFit()
//	fit.Show(svmnb.Margins, svmnb.KKT, svmnb.Gap)
//
//	svmnb.Regress(datasets.Sinc(100, 0.1, 1)).
//		Kernel(kernels.RBF(1)).C(10).Epsilon(0.1).SMO().MustFit().Show()
//
// The chain names the data, the problem and the solver, and ends with Fit, MustFit, Keep or
// Show. Everything before the end is a description, a value that can be stored, copied,
// printed and compared. Nothing is computed before the end; see [Classifier] and
// [Regressor].
package svmnb

import "github.com/svmnb/svmnb/svmnb/internal/arguments"

// ArgumentError says which argument of a call is wrong. Call is the method or function,
// such as "C" or "Predict". Row and Column are the wrong entry, counted from 0; −1 means
// none. Value is the wrong value, if there is one. Msg says what is wrong and what to do.
type ArgumentError = arguments.Error
