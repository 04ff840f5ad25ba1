package transform

import (
	"github.com/svmnb/svmnb/datasets"
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
