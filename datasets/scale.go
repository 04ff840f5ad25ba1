package datasets

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/svmnb/svmnb/internal/vec"
)

// Scaler maps every feature x to t = (x − Centre)/Width, and then t from [0, 1] to [Low,
// High]. Its numbers were fitted on training data. [Scaler.Apply] scales other data by the
// same numbers, so nothing is learnt from test data. A feature that was constant has Width 0
// and becomes Low.
type Scaler struct {
	Name      string    // "standard", "min–max" or "max-abs"
	Centre    []float64 // d means or minima; 0 for the max-abs scaler
	Width     []float64 // d standard deviations, ranges or largest |x|
	Low, High float64   // 0 and 1, except for the min–max scaler
}

// FitStandard fits a scaler that gives each feature mean 0 and standard deviation 1 over the
// training data (divided by n, not n − 1).
func FitStandard(train *Dataset) (*Scaler, error) {
	return fit(train, &Scaler{Name: "standard", Low: 0, High: 1}, vec.Moments)
}

// FitMinMax fits a scaler that maps the range of each feature over the training data to [−1,
// 1], as the LIBSVM guide does (Hsu, Chang and Lin). Other data may be outside this range.
func FitMinMax(train *Dataset) (*Scaler, error) { return FitRange(train, -1, 1) }

// FitRange is [FitMinMax] with another range, low < high.
func FitRange(train *Dataset, low, high float64) (*Scaler, error) {
	if err := train.Check(); err != nil {
		return nil, err
	}
	if !(low < high) || !finite(high-low) {
		return nil, train.fault(-1, -1, fmt.Sprintf("FitRange was given [%v, %v]; low must be less than high", low, high))
	}
	return fit(train, &Scaler{Name: "min–max", Low: low, High: high}, func(column []float64) (centre, width float64) {
		centre = slices.Min(column)
		return centre, slices.Max(column) - centre
	})
}

// FitMaxAbs fits a scaler that divides each feature by its largest |x| over the training data.
// It keeps zeros, so it suits sparse points. A feature that was 0 everywhere stays 0.
func FitMaxAbs(train *Dataset) (*Scaler, error) {
	if err := train.Check(); err != nil {
		return nil, err
	}
	s := &Scaler{Name: "max-abs", High: 1, Centre: make([]float64, train.D()), Width: make([]float64, train.D())}
	train.values(func(_, j int, v float64) bool {
		s.Width[j] = max(s.Width[j], math.Abs(v))
		return true
	})
	return s, nil
}

// fit sets Centre and Width of s to the results of measure, for each feature that is not
// constant.
func fit(train *Dataset, s *Scaler, measure func(column []float64) (centre, width float64)) (*Scaler, error) {
	if err := train.Check(); err != nil {
		return nil, err
	}
	if err := train.needsDense("the "+s.Name+" scaler", "moves 0 (FitMaxAbs does not)"); err != nil {
		return nil, err
	}
	s.Centre, s.Width = make([]float64, train.D()), make([]float64, train.D())
	column := make([]float64, train.N())
	for j := range s.Centre {
		constant := true
		for i, row := range train.X {
			column[i] = row[j]
			constant = constant && row[j] == column[0]
		}
		if constant {
			s.Centre[j] = column[0]
			continue
		}
		s.Centre[j], s.Width[j] = measure(column)
		if !finite(s.Centre[j]) || !finite(s.Width[j]) {
			return nil, train.fault(-1, j, "the values lie so far apart that their range overflows; divide them by a power of ten first")
		}
	}
	return s, nil
}

// Apply returns the data scaled, and adds the scaler to their Scalings. If the data differ
// from the training data in the number of features, Check of the result returns an error.
func (s *Scaler) Apply(d *Dataset) *Dataset {
	if err := d.shape(); err != nil {
		return d.failed(err)
	}
	if d.D() != len(s.Centre) && d.N() > 0 {
		return d.failed(s.misfit(d.Name, d.D()))
	}
	if d.Sparse != nil && s.Name != "max-abs" {
		return d.failed(d.needsDense("the "+s.Name+" scaler", "moves 0 (FitMaxAbs does not)"))
	}
	out := d.clone()
	for _, row := range out.X {
		s.Scale(row)
	}
	if x := out.Sparse; x != nil {
		for p, j := range x.Index {
			x.Value[p] = s.feature(int(j), x.Value[p])
		}
	}
	out.Scalings = append(slices.Clip(out.Scalings), s.clone())
	return out
}

// clone returns a copy, so that the owner of s cannot change what a data set has recorded.
func (s *Scaler) clone() *Scaler {
	c := *s
	c.Centre, c.Width = slices.Clone(s.Centre), slices.Clone(s.Width)
	return &c
}

// columns returns the scaler of the given features only.
func (s *Scaler) columns(columns []int) *Scaler {
	c := *s
	c.Centre, c.Width = make([]float64, len(columns)), make([]float64, len(columns))
	for k, j := range columns {
		c.Centre[k], c.Width[k] = s.Centre[j], s.Width[j]
	}
	return &c
}

// Equal reports whether two scalers do the same to every point.
func (s *Scaler) Equal(other *Scaler) bool {
	return s.Name == other.Name && s.Low == other.Low && s.High == other.High &&
		slices.Equal(s.Centre, other.Centre) && slices.Equal(s.Width, other.Width)
}

// Check returns an error if s is not a valid scaler for d features. It needs d finite centres,
// d finite widths ≥ 0, and Low < High; the centres of a max-abs scaler must be 0.
func (s *Scaler) Check(d int) error {
	bad := func(column int, msg string) error {
		return &Error{Dataset: "scaler", Row: -1, Column: column, Feature: "x" + strconv.Itoa(column+1), Msg: msg}
	}
	switch {
	case s == nil:
		return bad(-1, "the scaler is nil; fit one, for example by FitStandard")
	case len(s.Centre) != d || len(s.Width) != d:
		return bad(-1, fmt.Sprintf("there are %d centres and %d widths for %d features; each feature needs one of each", len(s.Centre), len(s.Width), d))
	case !(s.Low < s.High) || !finite(s.High-s.Low):
		return bad(-1, fmt.Sprintf("the range is [%v, %v]; low must be less than high", s.Low, s.High))
	}
	for j := range s.Centre {
		if !finite(s.Centre[j]) || !finite(s.Width[j]) || s.Width[j] < 0 {
			return bad(j, fmt.Sprintf("the centre is %v and the width %v; both must be finite and the width not negative", s.Centre[j], s.Width[j]))
		}
		if s.Name == "max-abs" && (s.Centre[j] != 0 || s.Low != 0) {
			return bad(j, fmt.Sprintf("the centre is %v; the max-abs scaler leaves 0 where it is", s.Centre[j]))
		}
	}
	return nil
}

// shapeScalings checks the scalers that the data set has recorded.
func (d *Dataset) shapeScalings() error {
	for _, s := range d.Scalings {
		if err := s.Check(d.D()); err != nil && d.N() > 0 {
			return d.fault(-1, -1, "Scalings: "+err.Error())
		}
	}
	for _, s := range d.TargetScalings {
		if s == nil {
			return d.fault(-1, -1, "TargetScalings: a scaler is nil; leave it out")
		}
	}
	return nil
}

// Point returns one point of d features scaled, or an error if d differs from the training
// data.
func (s *Scaler) Point(x []float64) ([]float64, error) {
	if len(x) != len(s.Centre) {
		return nil, s.misfit("point", len(x))
	}
	x = slices.Clone(x)
	s.Scale(x)
	return x, nil
}

// Scale scales the d numbers of a point in place.
func (s *Scaler) Scale(row []float64) {
	for j, v := range row {
		row[j] = s.feature(j, v)
	}
}

func (s *Scaler) feature(j int, v float64) float64 {
	if s.Width[j] == 0 && finite(v) { // a missing value stays missing
		return s.Low
	}
	return s.Low + float64((v-s.Centre[j])/s.Width[j]*(s.High-s.Low))
}

func (s *Scaler) misfit(name string, d int) error {
	return &Error{Dataset: name, Row: -1, Column: -1, Msg: fmt.Sprintf("the points have %s, the %s scaler was fitted on %d", plural(d, "feature", "features"), s.Name, len(s.Centre))}
}

// String describes the scaler in one line.
func (s *Scaler) String() string {
	if s.Name == "min–max" {
		return fmt.Sprintf("min–max scaler of %d features to [%v, %v]", len(s.Centre), s.Low, s.High)
	}
	return fmt.Sprintf("%s scaler of %d features", s.Name, len(s.Centre))
}

// Standardised returns the data with mean 0 and standard deviation 1 in every feature, for a
// look at a single set. A machine that learns from them expects all points to be scaled by the
// same numbers. To predict for other points, use selection.Pipe(transform.Standardise(), …),
// or fit a scaler on the training data by [FitStandard] and apply it to both.
func (d *Dataset) Standardised() *Dataset { return d.scaled(FitStandard) }

// Scaled returns the data with every feature mapped to [−1, 1], for a look at a single set. To
// predict for other points, see [Dataset.Standardised].
func (d *Dataset) Scaled() *Dataset { return d.scaled(FitMinMax) }

func (d *Dataset) scaled(fit func(*Dataset) (*Scaler, error)) *Dataset {
	s, err := fit(d)
	if err != nil {
		return d.failed(err)
	}
	return s.Apply(d)
}

// TargetScaler maps real targets by (y − Centre)/Width, and predictions back. Constant targets
// have Width 0 and become 0.
type TargetScaler struct {
	Centre float64 // mean of the training targets
	Width  float64 // their standard deviation
}

// FitTarget fits a scaler that gives the targets mean 0 and standard deviation 1 over the
// training data (divided by n, not n − 1). Targets that are classes are an error.
func FitTarget(train *Dataset) (*TargetScaler, error) {
	if err := train.Check(); err != nil {
		return nil, err
	}
	if err := train.needsReal(); err != nil {
		return nil, err
	}
	if slices.Min(train.Y) == slices.Max(train.Y) {
		return &TargetScaler{Centre: train.Y[0]}, nil
	}
	centre, width := vec.Moments(train.Y)
	if !finite(centre) || !finite(width) {
		return nil, train.fault(-1, -1, "the targets lie so far apart that their range overflows; divide them by a power of ten first")
	}
	return &TargetScaler{Centre: centre, Width: width}, nil
}

// Apply returns the data with their targets scaled, and adds the scaler to their
// TargetScalings. If the targets are classes, Check of the result returns an error.
func (s *TargetScaler) Apply(d *Dataset) *Dataset {
	if err := d.shape(); err != nil {
		return d.failed(err)
	}
	if err := d.needsReal(); err != nil {
		return d.failed(err)
	}
	out := d.clone()
	for i, y := range out.Y {
		out.Y[i] = 0
		if s.Width != 0 {
			out.Y[i] = (y - s.Centre) / s.Width
		}
	}
	noted := *s
	out.TargetScalings = append(slices.Clip(out.TargetScalings), &noted)
	return out
}

// Invert returns a scaled target or prediction in the units of the training targets. For a
// standard deviation multiply by Width instead, for a variance by Width².
func (s *TargetScaler) Invert(y float64) float64 { return s.Centre + float64(s.Width*y) }

// String describes the scaler in one line.
func (s *TargetScaler) String() string {
	return fmt.Sprintf("target scaler: mean %.4g, standard deviation %.4g", s.Centre, s.Width)
}

func (d *Dataset) needsReal() error {
	if d.Classes != nil {
		return d.classFault(d.Classes, "the targets are classes where real values are needed; scale the targets of a regression")
	}
	return nil
}
