// Package metrics compares predictions with the truth. The predictions may be classes
// ([NewConfusion]), scores ([NewROC], [NewPrecisionRecall]), probabilities ([LogLoss],
// [Brier]), real values ([RMSE] and others) or predictive distributions ([NLPD], [CRPS],
// [Coverage]). [Bootstrap] estimates how certain a metric is.
//
// Every function checks all of its input first. If a metric is not defined, such as the
// area under the ROC curve of one class, it returns an [*Error].
package metrics

import (
	"fmt"
	"math"
)

// Error says which argument of a metric is wrong, and where.
type Error struct {
	Metric string  // the function, such as "RMSE"
	Arg    string  // its argument, such as "truth"
	Row    int     // the wrong entry, counted from 0; −1 if none
	Column int     // the wrong column, counted from 0; −1 if none
	Value  float64 // the wrong value, if there is one
	Msg    string  // what is wrong and what to do
}

func (e *Error) Error() string {
	at := e.Arg
	if e.Row >= 0 {
		at += fmt.Sprintf("[%d]", e.Row)
	}
	if e.Column >= 0 {
		at += fmt.Sprintf("[%d]", e.Column)
	}
	return "metrics: " + e.Metric + ": " + at + ": " + e.Msg
}

func wrong(metric, arg string, row int, value float64, format string, args ...any) error {
	return &Error{metric, arg, row, -1, value, fmt.Sprintf(format, args...)}
}

// series is an argument of a metric.
type series struct {
	name   string
	values []float64
}

// check returns an error unless all series have the same length, at least 1, and finite
// values.
func check(metric string, all ...series) error {
	first := all[0]
	if len(first.values) == 0 {
		return wrong(metric, first.name, -1, 0, "there are no values; give at least one")
	}
	for _, s := range all {
		if len(s.values) != len(first.values) {
			return wrong(metric, s.name, -1, float64(len(s.values)), "there are %d values, and %d of %s; give as many", len(s.values), len(first.values), first.name)
		}
		for i, v := range s.values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return wrong(metric, s.name, i, v, "%v is not a finite number", v)
			}
		}
	}
	return nil
}
