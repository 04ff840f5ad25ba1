// Package metrics measures predictions against the truth: of classes
// ([NewConfusion]), of scores ([NewROC], [AveragePrecision]), of probabilities
// ([LogLoss], [Brier]), of real values ([RMSE] and others) and of predictive
// distributions ([NLPD], [CRPS], [Coverage]); and says how sure such a number is
// ([Bootstrap]).
//
// Every function looks at all of its input first. What has no value, such as the
// area under the ROC curve of one class, is an [*Error] and no number.
package metrics

import (
	"fmt"
	"math"
)

// Error says which argument of a metric is wrong, and where.
type Error struct {
	Metric string  // the function, such as "RMSE"
	Arg    string  // its argument, such as "truth"
	Row    int     // the offending entry, from 0; −1 when none is meant
	Column int     // the offending column, −1 when none is meant
	Value  float64 // the offending value, where there is one
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

// check returns an error unless all series have the same length, at least 1, and
// finite values.
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
