package transform

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
)

// Scaling is a [Step] that scales every feature; see [Standardise] and [MinMax].
type Scaling struct {
	Low, High float64 // the new range of the training points; both 0 means mean 0 and standard deviation 1
}

// Standardise scales every feature to mean 0 and standard deviation 1 over the training
// points ([datasets.FitStandard]). A constant feature becomes 0.
func Standardise() Scaling { return Scaling{} }

// MinMax maps the range of every feature over the training points to [−1, 1], as the LIBSVM
// guide recommends. Other points may lie outside. Scaling{0, 1} maps to [0, 1].
func MinMax() Scaling { return Scaling{-1, 1} }

// String returns the call that makes the step.
func (s Scaling) String() string {
	if s == Standardise() {
		return "Standardise()"
	}
	return steps.RangeText(s.Low, s.High)
}

// Fit implements [Step].
func (s Scaling) Fit(train *datasets.Dataset) (Transform, error) {
	var of *datasets.Scaler
	var err error
	if s == Standardise() {
		of, err = datasets.FitStandard(train)
	} else {
		of, err = datasets.FitRange(train, s.Low, s.High)
	}
	return steps.Scaled{Of: of}, err
}

// MaxAbsScaling is a [SparseStep] that divides every feature by a constant; see [MaxAbs].
type MaxAbsScaling struct{}

// MaxAbs divides every feature by its largest |x| over the training points
// ([datasets.FitMaxAbs]). 0 stays 0, so sparse points stay sparse.
func MaxAbs() MaxAbsScaling { return MaxAbsScaling{} }

// String returns the call that makes the step.
func (MaxAbsScaling) String() string { return "MaxAbs()" }

// Fit implements [Step].
func (s MaxAbsScaling) Fit(train *datasets.Dataset) (Transform, error) { return s.FitSparse(train) }

// FitSparse implements [SparseStep].
func (MaxAbsScaling) FitSparse(train *datasets.Dataset) (SparseTransform, error) {
	of, err := datasets.FitMaxAbs(train)
	if err != nil {
		return nil, err
	}
	return steps.Scaled{Of: of}, nil
}

// Imputation is a [Step] that replaces missing values; see [Impute].
type Imputation struct {
	Median bool // replace by the median instead of the mean
}

// Impute replaces missing values (NaN) by the mean of the feature's other values in the
// training points. It should be the first step of a pipeline, since its output has no
// missing values. Fit returns an error if all values of a feature are missing.
func Impute() Imputation { return Imputation{} }

// String returns the call that makes the step.
func (s Imputation) String() string {
	if s.Median {
		return "Imputation{Median: true}"
	}
	return "Impute()"
}

// Fit implements [Step].
func (s Imputation) Fit(train *datasets.Dataset) (Transform, error) {
	if err := steps.CheckMissing(train); err != nil {
		return nil, err
	}
	if err := points.NeedsDense("Impute", train); err != nil {
		return nil, err
	}
	var t steps.Imputed
	for j := range train.D() {
		var values []float64
		for _, row := range train.X {
			if !math.IsNaN(row[j]) {
				values = append(values, row[j])
			}
		}
		if len(values) == 0 {
			return nil, arguments.At("Impute", -1, j, math.NaN(), "feature %s has no value in any training point; leave it out by Columns of the data set", train.FeatureName(j))
		}
		at := 0.0
		if s.Median {
			slices.Sort(values)
			m := len(values)
			at = values[(m-1)/2]/2 + values[m/2]/2
		} else {
			for k, v := range values {
				at += (v - at) / float64(k+1)
			}
		}
		if math.IsNaN(at) || math.IsInf(at, 0) {
			return nil, arguments.At("Impute", -1, j, at, "the values of feature %s are too large to be averaged; divide them by a power of ten", train.FeatureName(j))
		}
		t.By = append(t.By, at)
	}
	return t, nil
}

// Indicators is a [Step] that replaces a categorical feature by one feature for each of its
// values; see [OneHot].
type Indicators struct {
	columns string // such as "0, 3"; a slice could not be compared by ==
}

// OneHot replaces each of the given columns, counted from 0, by one feature for each value
// that it has in the training points, in increasing order. The new feature is 1 for points
// with that value and 0 for others. A value that does not occur in training gives 0 in all
// of them.
func OneHot(columns ...int) Indicators {
	return Indicators{strings.Trim(strings.ReplaceAll(fmt.Sprint(columns), " ", ", "), "[]")}
}

// String returns the call that makes the step.
func (s Indicators) String() string { return "OneHot(" + s.columns + ")" }

// Fit implements [Step].
func (s Indicators) Fit(train *datasets.Dataset) (Transform, error) {
	if err := steps.CheckMissing(train); err != nil {
		return nil, err
	}
	if err := points.NeedsDense("OneHot", train); err != nil {
		return nil, err
	}
	t := steps.Indicated{Values: make([][]float64, train.D())}
	for _, field := range strings.Split(s.columns, ", ") {
		j := -1
		if _, err := fmt.Sscan(field, &j); err != nil {
			return nil, arguments.Wrong("OneHot", math.NaN(), "no column is given; give the columns that are categories, counted from 0")
		}
		if j < 0 || j >= train.D() {
			return nil, arguments.Wrong("OneHot", float64(j), "there is no column %d; the points have columns 0 to %d", j, train.D()-1)
		}
		var values []float64
		for i, row := range train.X {
			if math.IsNaN(row[j]) || math.IsInf(row[j], 0) {
				return nil, arguments.At("OneHot", i, j, row[j], "the value is %v; a category is a finite number: say Impute() before", row[j])
			}
			values = append(values, row[j])
		}
		slices.Sort(values)
		values = slices.Compact(values)
		if len(values) > steps.MostValues {
			return nil, arguments.Wrong("OneHot", float64(len(values)), "column %d has %d different values, which looks like a measurement; a category has at most %d: leave the column as it is", j, len(values), steps.MostValues)
		}
		t.Values[j] = slices.Clip(values)
	}
	return t, nil
}
