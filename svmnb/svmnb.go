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

import (
	"fmt"
	"strconv"
)

// ArgumentError says which argument of a fluent call is wrong.
type ArgumentError struct {
	Call   string  // the verb, such as "C" or "Predict"
	Row    int     // the offending row or entry, −1 when none is meant
	Column int     // the offending column, −1 when none is meant
	Value  float64 // the offending value, where there is one
	Msg    string  // what is wrong and what to do
}

func (e *ArgumentError) Error() string {
	s := "svmnb: " + e.Call
	if e.Row >= 0 {
		s += ": row " + strconv.Itoa(e.Row)
		if e.Column >= 0 {
			s += ", column " + strconv.Itoa(e.Column)
		}
	}
	return s + ": " + e.Msg
}

func wrong(call string, value float64, format string, args ...any) error {
	return &ArgumentError{Call: call, Row: -1, Column: -1, Value: value, Msg: fmt.Sprintf(format, args...)}
}
