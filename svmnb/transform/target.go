package transform

import (
	"math"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
)

// TargetScaling is a part of a pipeline that transforms the targets of a regression or a
// Gaussian process before training, and predictions back to the units of the data; see
// [LogTarget] and [StandardiseTarget]. A pipeline has at most one, at any place before the
// learner.
type TargetScaling struct {
	Log         bool
	Offset      float64 // added before the logarithm; see Shift
	Standardise bool    // mean 0 and standard deviation 1, after the logarithm
}

// LogTarget trains on the natural logarithm of the targets, for prices, durations and other
// positive quantities whose errors are relative:
//
//	selection.Pipe(transform.Encode(), transform.LogTarget(), svmnb.Regress(houses))
//
// Predictions are e^f. A regression then predicts the median, not the mean, of a target whose
// logarithm has symmetric noise. Parameters such as ε and the noise variance are those of
// logarithms. A target that is not positive is an error, unless [TargetScaling.Shift] makes it
// positive.
func LogTarget() TargetScaling { return TargetScaling{Log: true} }

// StandardiseTarget trains on targets with mean 0 and standard deviation 1, so that C and ε do
// not depend on the units of the targets. Constant targets are only centred. After LogTarget,
// write LogTarget().Standardised().
func StandardiseTarget() TargetScaling { return TargetScaling{Standardise: true} }

// Shift adds a number before the logarithm. LogTarget().Shift(1) is for counts, which may
// be 0.
func (s TargetScaling) Shift(by float64) TargetScaling { s.Offset = by; return s }

// Standardised also gives the logarithms mean 0 and standard deviation 1.
func (s TargetScaling) Standardised() TargetScaling { s.Standardise = true; return s }

// String returns the call that makes the part.
func (s TargetScaling) String() string {
	if !s.Log {
		return "StandardiseTarget()"
	}
	text := "LogTarget()"
	if s.Offset != 0 {
		text += ".Shift(" + say.Number(s.Offset) + ")"
	}
	if s.Standardise {
		text += ".Standardised()"
	}
	return text
}

// FitTarget returns the fitted transformation and the transformed targets. The error names the
// first target without a logarithm. It is for package selection.
func (s TargetScaling) FitTarget(train *datasets.Dataset) (*steps.TargetMap, []float64, error) {
	t := &steps.TargetMap{Log: s.Log, Shift: s.Offset, Width: 1}
	if err := steps.CheckMissing(train); err != nil {
		return nil, nil, err
	}
	if train.Classes != nil {
		return nil, nil, arguments.Wrong("Pipe", math.NaN(), "%v is for real targets, and the targets are classes; leave it out", s)
	}
	if math.IsNaN(s.Offset) || math.IsInf(s.Offset, 0) || !s.Log && s.Offset != 0 {
		return nil, nil, arguments.Wrong("Shift", s.Offset, "the shift is %v; it must be a finite number, and belongs to LogTarget", s.Offset)
	}
	y := make([]float64, len(train.Y))
	for i, v := range train.Y {
		if y[i] = t.Apply(v); math.IsNaN(y[i]) {
			return nil, nil, arguments.At("LogTarget", i, -1, v, "the target is %v, and only a positive number has a logarithm; add a number to all by Shift, such as LogTarget().Shift(1) for counts", v)
		}
	}
	if s.Standardise {
		scaler, err := datasets.FitTarget(&datasets.Dataset{Name: train.Name, X: make1(len(y)), Y: y})
		if err != nil {
			return nil, nil, err
		}
		if t.Centre = scaler.Centre; scaler.Width > 0 {
			t.Width = scaler.Width
		}
		for i, v := range train.Y {
			y[i] = t.Apply(v)
		}
	}
	return t, y, nil
}

// make1 returns n points with one feature, for a data set of which only targets matter.
func make1(n int) [][]float64 {
	x := make([][]float64, n)
	for i := range x {
		x[i] = []float64{0}
	}
	return x
}
